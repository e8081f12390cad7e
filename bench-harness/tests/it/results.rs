//! Results files are read as they were written, and malformed ones refused. Contributed ones follow the schema, were measured
//! soundly, and stand on the page beside them.

use blosc_bench::data::corpus::REAL;
use blosc_bench::instructions::{Count, differences, format, parse};
use blosc_bench::machine::Machine;
use blosc_bench::measure::stats::{Summary, geometric_mean};
use blosc_bench::report::agreement::agreement;
use blosc_bench::report::difference::difference;
use blosc_bench::report::html::page;
use blosc_bench::report::paired::paired;
use blosc_bench::report::side_by_side::compare;
use blosc_bench::result::Row;
use blosc_bench::result::file::{Results, Writer, comparable, contributable, join, read};
use std::path::{Path, PathBuf};

#[test]
fn contributed_results_follow_the_schema_and_are_on_the_page() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("results");
    let files = std::fs::read_dir(&folder).unwrap().map(|e| e.unwrap().path());
    let files = files.filter(|p| p.extension().is_some_and(|e| e == "jsonl"));
    let records: Vec<Results> = files.map(|path| read(&path).unwrap()).collect();
    let page = std::fs::read_to_string(folder.join("index.html")).unwrap();
    for record in &records {
        assert_eq!(contributable(record), Ok(()), "{}", record.path.display());
        let name = format!("<h1>{}</h1>", record.machine.name);
        assert!(
            page.contains(&name),
            "{name}: blosc-bench report bench-harness/results -o bench-harness/results/index.html"
        );
    }
    assert_eq!(comparable(&records), Ok(()));
    let loaded = |busy| {
        let mut other = records[0].clone();
        (other.machine.busy_cpus_most, other.machine.commit) = (Some(busy), "b".into());
        other
    };
    assert!(contributable(&loaded(2.0)).is_err_and(|why| why.contains("others used 2.00 CPUs")));
    assert!(contributable(&loaded(0.3)).is_ok() && comparable(&[records[0].clone(), loaded(0.3)]).is_err());
}

fn file(name: &str, text: &str) -> PathBuf {
    let path = std::env::temp_dir().join(format!("blosc-bench-{}-{name}", std::process::id()));
    std::fs::write(&path, text).unwrap();
    path
}

#[test]
fn written_files_are_read_back() {
    let path = file("back", "");
    let machine = Machine::detect();
    let mut writer = Writer::create(&path, &machine, "test").unwrap();
    let (verified, quartile_ns) = (true, Some(12.5));
    let row = Row { verified, quartile_ns, ..Row::plain("kernels", "ours", "shuffle", 4, 0) };
    writer.row(&Row { quartile_ns: Some(99.0), ..row.clone() }).unwrap();
    writer.finish(std::slice::from_ref(&row), true, &machine).unwrap();
    let read = read(&path).unwrap();
    assert_eq!((read.rows, read.complete, read.machine), (vec![row], true, machine));
    std::fs::remove_file(path).unwrap();
}

#[test]
fn pieces_are_joined_and_nothing_counts_twice() {
    let piece = |op: &str, commit: &str| {
        let machine = Machine { commit: commit.into(), ..Machine::default() };
        let rows = vec![Row { op: op.into(), ..Row::default() }];
        let (path, command) = (PathBuf::from(op), format!("run {op}"));
        Results { path, machine, command, started: 0, rows, complete: true }
    };
    let whole = join(vec![piece("a", "1"), piece("b", "1")]).unwrap();
    assert_eq!((whole.rows.len(), whole.command.as_str()), (2, "run a; run b"));
    assert!(join(vec![piece("a", "1"), piece("b", "2")]).is_err());
    assert!(join(vec![piece("a", "1"), piece("a", "1")]).is_err());
    assert!(join(vec![piece("a", "1"), Results { complete: false, ..piece("b", "1") }]).is_err());
}

#[test]
fn malformed_files_are_refused_with_the_line() {
    let machine = r#"{"kind":"machine","schema":1,"command":"","started":0,"machine":{}}"#;
    let cases = [
        ("", "empty"),
        ("{", "line 1: not a results line"),
        (r#"{"kind":"end","schema":1,"complete":true,"seconds":1}"#, "line 1: the first line"),
        (&format!("{machine}\n{machine}"), "line 2: a second machine"),
        (&format!("{machine}\n{}", r#"{"kind":"row","schema":9}"#), "line 2: schema 9"),
        (&format!("{machine}\n{}", r#"{"kind":"row","schema":1}"#), "line 2: a row needs"),
        (&format!("{machine}\n{}", r#"{"kind":"rowe","schema":1}"#), "line 2: not a results line"),
        (
            &format!(
                "{machine}\n{}",
                r#"{"kind":"row","schema":4,"suite":"a","engine":"b","op":"c","data":"d","typesize":1,"threads":1,"round_trips":2}"#
            ),
            "line 2: a round trip has a request",
        ),
        (
            &format!(
                "{machine}\n{}",
                r#"{"kind":"row","schema":1,"suite":"a","engine":"b","op":"c","data":"d","typesize":1,"threads":1,"median_ns":4}"#
            ),
            "line 2: a row that is not verified",
        ),
    ];
    for (i, (text, told)) in cases.iter().enumerate() {
        let path = file(&format!("bad{i}"), text);
        let error = read(&path).unwrap_err();
        assert!(error.contains(told), "{error}");
        assert_eq!(error.lines().count(), 1);
        std::fs::remove_file(path).unwrap();
    }
}

/// A case for each time.
fn results(times: &[f64]) -> Results {
    let row = |(index, ns): (usize, &f64)| Row {
        verified: true,
        quartile_ns: Some(*ns),
        spread: Some(0.02),
        gbps: Some(4096.0 / ns),
        vs_copy: Some(50.0 / ns),
        vs_copy_spread: Some(0.02),
        ..Row::plain("kernels", "ours", "shuffle", index + 1, 4096)
    };
    Results {
        path: "x".into(),
        machine: Machine::default(),
        command: String::new(),
        started: 0,
        rows: times.iter().enumerate().map(row).collect(),
        complete: true,
    }
}

#[test]
fn only_what_exceeds_noise_and_threshold_counts_as_slower() {
    let found = difference(&[results(&[100.0; 4]), results(&[101.0, 103.0, 130.0, 70.0])], 0.05, "");
    assert_eq!((found.cases, found.agree, found.slower), (4, 1, 1));
    assert!(found.text.contains("1 of 4 rows agree within the printed spread (25.0 %)"), "{}", found.text);
    assert!(found.text.contains("1 faster, 1 slower; 1 moved by less than 5.00 %"), "{}", found.text);
}

#[test]
fn what_moves_like_the_copy_beside_it_is_the_machine() {
    let (old, mut new) = (results(&[100.0]), results(&[130.0]));
    new.rows[0].vs_copy = old.rows[0].vs_copy;
    let found = difference(&[old, new], 0.05, "");
    assert_eq!((found.agree, found.slower), (0, 0));
}

#[test]
fn rows_of_the_first_schema_have_a_range_too() {
    let [mut old, new] = [results(&[100.0]), results(&[103.0])];
    (old.rows[0].spread, old.rows[0].p10_ns, old.rows[0].p90_ns) = (None, Some(96.0), Some(104.0));
    assert_eq!(difference(&[old, new], 0.05, "").agree, 1);
}

/// A large array was verbatim copies once, other bytes than those it is now.
#[test]
fn rows_on_verbatim_copies_do_not_compare_with_reordered_ones() {
    let camera = REAL.iter().find(|r| r.name == "camera").unwrap().array();
    let [mut old, mut new] = [results(&[100.0]), results(&[100.0])];
    old.rows[0].data = "camera*1024".into();
    new.rows[0].data = camera.sized(64 << 20).name;
    assert!(compare(&[old.clone(), new.clone()], "", false).lines().all(|l| !l.contains("camera")));
    assert_eq!(difference(&[old, new], 0.05, "").cases, 0);
}

#[test]
fn each_row_has_an_interval_and_a_verdict() {
    // Turns in which the whole machine is slower by half say nothing of the ratios.
    let turns = |times: [f64; 4], wobble: f64| -> Vec<Results> {
        let factor = |turn: i32| if turn % 2 == 0 { 1.0 } else { 1.5 };
        let noise = |turn: i32| if turn % 3 == 0 { 1.0 + wobble } else { 1.0 };
        (0..6)
            .map(|t| results(&[times[0], times[1], times[2], times[3] * noise(t)].map(|ns| ns * factor(t))))
            .collect()
    };
    let old = turns([100.0; 4], 0.0);
    let none = |_: &Row| None;
    let found = paired([&old, &turns([100.0, 120.0, 80.0, 100.0], 0.8)], 0.05, "", none);
    let verdicts: Vec<&str> =
        found.text.lines().skip(2).take(4).filter_map(|l| l.split(' ').next_back()).collect();
    assert_eq!((verdicts, found.slower), (vec!["same", "slower", "faster", "unsure"], 1), "{}", found.text);
    let same = paired([&old, &old], 0.05, "", |r| (r.typesize > 1).then_some(0.5));
    let beside: Vec<&str> =
        same.text.lines().skip(2).take(4).filter_map(|l| l.split(' ').next_back()).collect();
    assert_eq!(beside, ["-", "0.50", "0.50", "0.50"], "{}", same.text);
    assert!(same.text.contains("0 slower, 0 faster, 4 the same") && same.cases == 4, "{}", same.text);
    assert_eq!(paired([&old[..1], &old[..1]], 0.05, "", none).cases, 0);
}

#[test]
fn a_move_of_more_than_the_tolerance_is_told() {
    let base = parse("# x\n  1.0000 shuffle avx2 ts 4\n  2.0 b\n").unwrap();
    let mut now = base.clone();
    now[0].per_byte = 1.019;
    assert!(differences(&base, &now, 0.02).is_empty());
    now[0].per_byte = 1.021;
    assert_eq!(differences(&base, &now, 0.02).len(), 1);
    now[1].per_byte = 2.5;
    assert_eq!(differences(&base, &now, 0.02).len(), 2);
    let chunk = parse("2.0 compress lz4 none noise_f4").unwrap();
    let worse = |per_byte| differences(&chunk, &[Count { per_byte, ..chunk[0].clone() }], 0.02).len();
    assert_eq!([worse(0.1), worse(2.39), worse(2.41)], [0, 0, 1]);
    let two = [chunk.clone(), parse("1.0 decompress lz4 none noise_f4").unwrap()].concat();
    assert_eq!(
        differences(&two, &chunk, 0.02),
        ["decompress lz4 none noise_f4: in the baseline, not counted"]
    );
    now[1].per_byte = 2.0;
    now[0].name = "shuffle avx512 ts 4".into();
    assert_eq!(differences(&base, &now, 0.02).len(), 1);
    assert_eq!(parse(&format(&base)).unwrap(), base);
    assert!(parse("x y").is_err());
    now[0].estimates = vec![("neoverse-n1".into(), 0.25), ("neoverse-v2".into(), 0.125)];
    assert_eq!(parse(&format(&now)).unwrap()[0].estimates, now[0].estimates);
}

#[test]
fn order_statistics() {
    let s = Summary::of(&[5.0, 1.0, 2.0, 3.0, 100.0]).unwrap();
    assert_eq!((s.median, s.mad, s.min, s.count), (3.0, 2.0, 1.0, 5));
    assert!(Summary::of(&[]).is_none());
    assert_eq!(geometric_mean([1.0, 4.0]), Some(2.0));
    assert_eq!(geometric_mean([]), None);
}

#[test]
fn names_on_the_page_are_escaped_and_it_needs_nothing_else() {
    let mut file = Results { command: "a < b".into(), ..results(&[]) };
    file.machine.name = "<script>\"&".into();
    let page = page(&[file.clone(), file]);
    assert!(!page.contains("<script>") && page.contains("&lt;script&gt;&quot;&amp;"));
    assert!(!page.contains("http:") && !page.contains("https:"));
}

#[test]
fn only_equal_builds_are_compared_on_the_page() {
    let machine = |commit: &str| {
        let mut file = results(&[100.0; 8]);
        file.machine.commit = commit.into();
        file.machine.levels = vec!["avx2".into()];
        for row in &mut file.rows {
            (row.isa, row.bytes) = ("avx2".into(), 256 << 10);
        }
        file
    };
    // The section of all machines comes before that of the first.
    let overview = |files: &[Results]| page(files).split("<header").next().unwrap().to_string();
    let both = overview(&[machine("a"), machine("a")]);
    assert!(both.contains("side by side") && both.contains("of a copy") && !both.contains("Not compared"));
    let apart = overview(&[machine("a"), machine("b")]);
    assert!(apart.contains("Not compared") && !apart.contains("<table>"));
}

#[test]
fn pairs_of_runs_are_counted() {
    let mut runs = [results(&[100.0, 50.0]), results(&[104.0, 52.0]), results(&[100.0, 54.0])];
    for run in &mut runs {
        run.rows.iter_mut().for_each(|r| r.typesize = 4);
        run.rows[1].isa = "avx2".into();
    }
    runs[1].machine.busy_cpus_most = Some(1.3);
    assert!(agreement(&runs).loaded == [2] && agreement(&runs).text().contains("during runs 2:"));
    let all = agreement(&runs).groups.last().cloned().unwrap();
    // Row 1: 4, 0 and 4 % apart. Row 2: 4, 8 and 3.8 %. Their ratios: 2, 2 and 1.85.
    let (copy, ratio) = (all.vs_copy.unwrap(), all.neighbours.unwrap());
    assert_eq!((copy.pairs, copy.agree), (6, 5));
    assert_eq!((ratio.pairs, ratio.agree), (3, 1));
    assert!(!agreement(&runs).good() && agreement(&[runs[0].clone(), runs[0].clone()]).good());
}
