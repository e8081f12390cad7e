//! Every suite reaches the page and the terminal, a new one by itself, and no label of a chart meets another.

use blosc_bench::machine::Machine;
use blosc_bench::report::goals::{memory_note, table};
use blosc_bench::report::table::{Table, figure, size, speed, speed_unit};
use blosc_bench::report::{console, html};
use blosc_bench::result::Row;
use blosc_bench::result::file::Results;
use blosc_bench::suite::SUITES;

/// Two lines of each suite, here and by an opponent.
fn synthetic() -> Results {
    let suites = SUITES.iter().map(|s| s.name).chain(["a-suite-of-tomorrow"]);
    let mut rows = Vec::new();
    for suite in suites {
        for (op, threads, ours) in [("compress", 1, true), ("decompress", 2, true), ("compress", 1, false)] {
            rows.push(Row {
                suite: suite.into(),
                engine: if ours { "ours" } else { "libblosc2 3.3.5" }.into(),
                op: op.into(),
                isa: if ours { "avx2" } else { "" }.into(),
                codec: "lz4".into(),
                filter: "shuffle".into(),
                level: Some(5),
                typesize: 4,
                threads,
                bytes: 1 << 18,
                data: "elevation".into(),
                goal: (suite == "goals").then_some(9),
                verified: true,
                quartile_ns: Some(1e5),
                gbps: Some(2.62),
                ratio: Some(1.5),
                spread: Some(0.02),
                vs_copy: ours.then_some(0.5),
                vs_copy_spread: ours.then_some(0.3),
                copy: Some("memcpy".into()),
                peer: ours.then(|| "libblosc2 3.3.5".into()),
                vs_peer: ours.then_some(1.25),
                vs_peer_spread: ours.then_some(0.04),
                ..Row::default()
            });
        }
    }
    let machine =
        Machine { name: "a CPU".into(), levels: vec!["scalar".into(), "avx2".into()], ..Machine::default() };
    Results { path: "x".into(), machine, command: "quick".into(), started: 0, rows, complete: true }
}

#[test]
fn every_suite_has_a_section_on_the_page_and_the_terminal() {
    let file = synthetic();
    let page = html::page(std::slice::from_ref(&file));
    let told = console::summary(&file.machine, &file.rows);
    let suites = SUITES.iter().map(|s| s.name).chain(["a-suite-of-tomorrow"]);
    for suite in suites {
        let mark = format!("<section class=\"suite-{suite}\">");
        let at = page.find(&mark).unwrap_or_else(|| panic!("{suite} has no section"));
        let body = &page[at + mark.len()..];
        let body = &body[..body.find("</section>").unwrap()];
        assert!(body.contains("<td>") || body.contains("<svg"), "{suite}: {body}");
    }
    for title in
        ["SIMD level", "split", "Codecs by", "Chunks", "Frames in files", "Latency", "Threads", "tomorrow"]
    {
        assert!(told.contains(title), "{title}: {told}");
    }
    // What is shown has its own spread: 2 % of the time, 4 % against the opponent, and 30 % of the copy, which is noisy.
    assert!(page.contains("1.25 ±4.0 %") && page.contains("~0.50 ±30 % of a copy (memcpy)"), "{page}");
    assert!(told.lines().all(|l| l.chars().count() <= 80), "{told}");
}

#[test]
fn the_verdict_is_three_lines() {
    let mut file = synthetic();
    for (isa, gbps) in [("sse2", 2.0), ("avx2", 3.0), ("scalar", 0.5)] {
        let row = Row {
            suite: "kernels".into(),
            isa: isa.into(),
            gbps: Some(gbps),
            peer: None,
            ..file.rows[0].clone()
        };
        file.rows.push(Row { op: "shuffle".into(), ..row });
    }
    let told = console::verdict(&file.machine, &file.rows);
    let lines: Vec<&str> = told.lines().collect();
    assert_eq!(lines.len(), 3, "{told}");
    assert!(lines[0].starts_with("Fastest level: avx2, 1.50 ±2.8 % times sse2, 6.00 times scalar"), "{told}");
    assert!(lines[1].contains("of a copy; chunks 1.25 ±2.8 % times libblosc2 3.3.5"), "{told}");
    assert!(lines[2].contains("±30 % (nine of ten); nothing else ran"), "{told}");
    file.machine.busy_cpus_most = Some(2.0);
    file.rows.iter_mut().for_each(|r| r.peer = None);
    file.rows.iter_mut().for_each(|r| r.vs_peer = None);
    let told = console::verdict(&file.machine, &file.rows);
    assert!(
        told.contains("no opponent: pip install blosc2") && told.contains("others used 2.00 CPUs"),
        "{told}"
    );
    assert!(told.lines().all(|l| l.chars().count() <= 80), "{told}");
}

/// A row of the suite `goals`, which the mean decides.
fn goal(vs_peer: f64, size: f64) -> Row {
    let (vs_peer, size_vs_peer) = (Some(vs_peer), Some(size));
    Row { goal: Some(9), engine: "ours".into(), vs_peer, size_vs_peer, ..Row::default() }
}

/// Cells of the one goal in these rows: worst, mean, rows below .5, met.
fn judged(rows: &[Row]) -> Vec<String> {
    let (_, lines) = table(rows).cells();
    [3, 4, 7, 9].iter().map(|c| lines[0][*c].clone()).collect()
}

#[test]
fn the_mean_decides_and_no_row_is_below_half() {
    assert_eq!(judged(&[goal(4.0, 0.9), goal(1.6, 0.9)]), ["1.60", "2.53", "0", "yes"]);
    assert_eq!(judged(&[goal(4.0, 0.9), goal(1.5, 0.9)]), ["1.50", "2.45", "0", "no"]);
    assert_eq!(judged(&[goal(20.0, 0.9), goal(0.4, 0.9)]), ["0.40", "2.83", "1", "no"]);
}

/// A copy is no row of the goal: it stands below the table.
#[test]
fn what_memory_allows_is_told_apart() {
    let ours = Row { goal: Some(15), threads: 2, ..goal(1.5, 1.0) };
    let copy = Row { engine: "memcpy".into(), vs_peer: Some(1.25), ..ours.clone() };
    assert_eq!(memory_note(std::slice::from_ref(&ours)), None);
    let rows = [ours, copy];
    assert_eq!(table(&rows).cells().1[0][6], "1");
    assert!(memory_note(&rows).unwrap().contains("scales by 1.25"));
}

#[test]
fn larger_output_is_never_fine() {
    for (sizes, met) in [([1.04, 0.5], "no"), ([1.005, 0.999], "no"), ([1.02, 0.97], "yes")] {
        assert_eq!(judged(&sizes.map(|size| goal(3.0, size)))[3], met);
    }
}

#[test]
fn long_names_go_on_in_a_second_line() {
    let mut t = Table::new(&["case", "GB/s"]);
    t.row(vec![["decompress"; 9].join(" "), "1.00".into()]);
    let text = t.text();
    assert!(text.lines().all(|l| l.len() <= 80), "{text}");
    assert!(text.lines().any(|l| l.starts_with("  decompress") && l.ends_with("1.00")), "{text}");
}

#[test]
fn slow_and_small_figures_keep_their_digits() {
    assert_eq!([speed(0.1), speed(0.0822), speed_unit(0.0822)], ["0.10", "82.2M", "82.2 MB/s"]);
    assert_eq!([figure(0.98), figure(0.0613), figure(0.00444)], ["0.98", "0.061", "0.0044"]);
}

#[test]
fn columns_line_up() {
    let mut t = Table::new(&["name", "x"]);
    t.row(vec!["a".into(), "1.00".into()]);
    assert_eq!(t.text(), "name     x\n----------\na     1.00\n");
    assert_eq!(t.markdown(), "| name | x |\n| --- | --: |\n| a | 1.00 |\n");
    assert_eq!((size(65536).as_str(), size(100).as_str(), figure(3.7).as_str()), ("64K", "100", "3.70"));
}
