//! Comparisons of results files: `cmp`, `rank`, `diff`.

use super::table::{Table, figure, maybe, paragraph, size};
use crate::measure::stats::{Summary, geometric_mean};
use crate::result::file::Results;
use crate::result::{Key, Row};
use std::collections::BTreeMap;
use std::fmt::Write;

/// Rows of all files that belong to the same case, one place for each file.
fn cases<'a>(files: &'a [Results], filter: &str) -> BTreeMap<Key<'a>, Vec<Option<&'a Row>>> {
    let mut cases: BTreeMap<Key<'_>, Vec<Option<&Row>>> = BTreeMap::new();
    for (index, file) in files.iter().enumerate() {
        for row in file.rows.iter().filter(|r| r.median_ns.is_some() && matches(r, filter)) {
            let places = cases.entry(row.key()).or_insert_with(|| vec![None; files.len()]);
            if let Some(place) = places.get_mut(index) {
                *place = Some(row);
            }
        }
    }
    cases
}

/// Whether every word of `filter` is a word of the row's label or its suite.
pub fn matches(row: &Row, filter: &str) -> bool {
    let label = format!("{} {} {}", row.suite, row.engine, row.label());
    filter.split_whitespace().all(|word| label.split_whitespace().any(|l| l == word))
}

/// Cases in lines, files in columns: GB/s, and the ratio to the first file.
pub fn compare(files: &[Results], filter: &str, colour: bool) -> String {
    let mut out = String::new();
    let letter = |index: usize| char::from(b'A' + u8::try_from(index % 26).unwrap_or(0));
    for (index, file) in files.iter().enumerate() {
        let emulated = if file.machine.emulator.is_some() { "  (emulated: not a timing)" } else { "" };
        let _ = writeln!(out, "{}  {}  {}{emulated}", letter(index), file.machine.name, file.path.display());
    }
    let mut head = vec!["case, GB/s".to_string()];
    for index in 0..files.len() {
        head.push(letter(index).to_string());
        if index > 0 {
            head.push(format!("{}/A", letter(index)));
        }
    }
    let mut table = Table::new(&head.iter().map(String::as_str).collect::<Vec<_>>());
    let mut ratios: Vec<Vec<f64>> = vec![Vec::new(); files.len()];
    let cases = cases(files, filter);
    for places in cases.values().filter(|p| p.iter().flatten().count() >= files.len().min(2)) {
        let Some(any) = places.iter().flatten().next() else { continue };
        let mut cells = vec![any.label()];
        let first = places.first().copied().flatten().and_then(|r| r.gbps);
        for (index, place) in places.iter().enumerate() {
            let speed = place.and_then(|r| r.gbps);
            cells.push(maybe(speed));
            if index > 0 {
                let ratio = speed.zip(first).map(|(s, f)| s / f);
                let same = place.zip(places.first().copied().flatten()).and_then(|(r, f)| r.agrees(f));
                if let (Some(r), Some(list)) = (ratio, ratios.get_mut(index)) {
                    list.push(r);
                }
                cells.push(ratio.map_or("-".into(), |r| paint(r, colour && same != Some(true))));
            }
        }
        table.row(cells);
    }
    out.push('\n');
    out.push_str(&table.text());
    for (index, list) in ratios.iter().enumerate().skip(1) {
        if let Some(mean) = geometric_mean(list.iter().copied()) {
            let _ = writeln!(
                out,
                "geometric mean {}/A over {} cases: {}",
                letter(index),
                list.len(),
                figure(mean)
            );
        }
    }
    out
}

/// A ratio; in colour where it is more than noise.
fn paint(ratio: f64, colour: bool) -> String {
    let text = figure(ratio);
    match (colour, ratio >= 1.0) {
        (true, true) => format!("\x1b[32m{text}\x1b[0m"),
        (true, false) => format!("\x1b[31m{text}\x1b[0m"),
        _ => text,
    }
}

/// Engines (and levels of ours) by the geometric mean of how far each is from the fastest of its case.
pub fn rank(files: &[Results], filter: &str) -> String {
    type Field = (String, String, String, [usize; 6], String, usize);
    let mut fields: BTreeMap<Field, Vec<(String, f64)>> = BTreeMap::new();
    for (index, file) in files.iter().enumerate() {
        for r in file.rows.iter().filter(|r| matches(r, filter)) {
            let Some(ns) = r.median_ns else { continue };
            let who = if r.isa.is_empty() { r.engine.clone() } else { format!("{} {}", r.engine, r.isa) };
            let (suite, op, _, _, codec, filter, numbers, data) = r.key();
            let what = format!("{suite} {op}");
            let field = (what, codec.into(), filter.into(), numbers, data.into(), index);
            fields.entry(field).or_default().push((who, ns));
        }
    }
    let mut scores: BTreeMap<String, Vec<f64>> = BTreeMap::new();
    for field in fields.values().filter(|f| f.len() > 1) {
        let best = field.iter().map(|(_, ns)| *ns).fold(f64::INFINITY, f64::min);
        for (who, ns) in field {
            scores.entry(who.clone()).or_default().push(ns / best);
        }
    }
    let mut lines: Vec<(f64, String, usize)> = scores
        .into_iter()
        .filter_map(|(who, list)| Some((geometric_mean(list.iter().copied())?, who, list.len())))
        .collect();
    lines.sort_by(|a, b| a.0.total_cmp(&b.0));
    let mut table = Table::new(&["engine", "times the fastest", "cases"]);
    for (mean, who, count) in lines {
        table.row(vec![who, format!("{mean:.2}"), count.to_string()]);
    }
    format!(
        "{}{}",
        table.text(),
        paragraph(
            "Geometric means over the cases that at least two ran. Engines that ran different cases cannot be \
             compared by this number, and no mean says which is best for your data."
        )
    )
}

/// What `diff` found.
pub struct Difference {
    /// The table and its summary.
    pub text: String,
    /// Cases that both files have.
    pub cases: usize,
    /// Those of them whose times agree within their spread.
    pub agree: usize,
    /// Those that became slower.
    pub slower: usize,
}

/// The second file against the first. Two times agree when the printed range of one holds the median of the other.
/// Those that do not are faster or slower if they moved by more than `threshold`, and against the copy measured
/// beside them as well: where the copy moved alike, it was the machine.
pub fn difference(files: &[Results; 2], threshold: f64, filter: &str) -> Difference {
    let [old, new] = files;
    let cases = cases(files, filter);
    let mut table = Table::new(&["case", "old", "±%", "new", "±%", "new/old speed"]);
    let (mut total, mut agree, mut slower, mut faster) = (0usize, 0usize, 0usize, 0usize);
    let mut spreads = Vec::new();
    for places in cases.values() {
        let [Some(o), Some(n)] = places.as_slice() else { continue };
        let (Some(a), Some(b), Some(same)) = (o.median_ns, n.median_ns, o.agrees(n)) else { continue };
        total += 1;
        spreads.extend(n.spread);
        if same {
            agree += 1;
            continue;
        }
        if (b / a).max(a / b) <= 1.0 + threshold || fractions_agree(o, n, threshold) {
            continue;
        }
        if b > a {
            slower += 1
        } else {
            faster += 1
        }
        let percent = |r: &Row| r.spread.map_or("-".into(), |s| figure(100.0 * s));
        let ns = |r: &Row| super::table::duration(r.median_ns.unwrap_or(0.0));
        table.row(vec![n.label(), ns(o), percent(o), ns(n), percent(n), figure(a / b)]);
    }
    let mut text = if table.is_empty() { String::new() } else { table.text() };
    let share = if total > 0 { 100.0 * agree as f64 / total as f64 } else { 0.0 };
    let _ = writeln!(text, "{agree} of {total} rows agree within the printed spread ({share:.1} %)");
    text.push_str(&paragraph(&format!(
        "{faster} faster, {slower} slower; {} moved by less than {} %, or as the copy beside them did",
        total - agree - faster - slower,
        figure(threshold * 100.0)
    )));
    text.extend(spread_line(spreads));
    if old.machine.name != new.machine.name {
        text.push_str(&paragraph(&format!(
            "Different machines: {}, {}.",
            old.machine.name, new.machine.name
        )));
    }
    Difference { text, cases: total, agree, slower }
}

/// How wide spreads are, in a line.
pub fn spread_line(spreads: Vec<f64>) -> Option<String> {
    let s = Summary::of(&spreads)?;
    Some(format!(
        "Spread: ±{} % in the middle, at most ±{} % for nine of ten rows\n",
        figure(100.0 * s.median),
        figure(100.0 * s.p90)
    ))
}

fn fractions_agree(a: &Row, b: &Row, threshold: f64) -> bool {
    let Some((x, y)) = a.vs_copy.zip(b.vs_copy) else { return false };
    let spread = a.vs_copy_spread.unwrap_or(0.0).max(b.vs_copy_spread.unwrap_or(0.0));
    (x / y).max(y / x) <= 1.0 + spread.max(threshold)
}

/// One line for each row, with every number.
pub fn csv(file: &Results) -> String {
    let head = "suite,engine,op,isa,codec,filter,level,typesize,bytes,blocksize,threads,data,verified,timing,noisy,\
                rounds,iterations,visits,median_ns,spread,mad_ns,min_ns,p10_ns,p90_ns,gbps,bytes_per_cycle,bytes_per_tick,cbytes,ratio,vs_copy,vs_copy_spread,vs_memcpy,\
                vs_read,vs_write,peer,vs_peer,vs_peer_spread,size_vs_peer,refused,left_out\n";
    let mut out = String::from(head);
    let number = |x: Option<f64>| x.map_or(String::new(), |x| x.to_string());
    for r in &file.rows {
        let cells = [
            quoted(&r.suite),
            quoted(&r.engine),
            quoted(&r.op),
            quoted(&r.isa),
            quoted(&r.codec),
            quoted(&r.filter),
            r.level.map_or(String::new(), |l| l.to_string()),
            r.typesize.to_string(),
            r.bytes.to_string(),
            r.blocksize.map_or(String::new(), |b| b.to_string()),
            r.threads.to_string(),
            quoted(&r.data),
            r.verified.to_string(),
            r.timing.to_string(),
            r.noisy.to_string(),
            r.rounds.to_string(),
            r.iterations.to_string(),
            r.visits_ns.len().to_string(),
            number(r.median_ns),
            number(r.spread),
            number(r.mad_ns),
            number(r.min_ns),
            number(r.p10_ns),
            number(r.p90_ns),
            number(r.gbps),
            number(r.bytes_per_cycle),
            number(r.bytes_per_tick),
            r.cbytes.map_or(String::new(), |c| c.to_string()),
            number(r.ratio),
            number(r.vs_copy),
            number(r.vs_copy_spread),
            number(r.vs_memcpy),
            number(r.vs_read),
            number(r.vs_write),
            quoted(r.peer.as_deref().unwrap_or_default()),
            number(r.vs_peer),
            number(r.vs_peer_spread),
            number(r.size_vs_peer),
            quoted(r.refused.as_deref().unwrap_or_default()),
            quoted(r.left_out.as_deref().unwrap_or_default()),
        ];
        out.push_str(&cells.join(","));
        out.push('\n');
    }
    out
}

fn quoted(text: &str) -> String {
    if text.contains([',', '"', '\n']) { format!("\"{}\"", text.replace('"', "\"\"")) } else { text.into() }
}

/// The machine and the chosen rows as Markdown.
pub fn markdown(file: &Results, filter: &str) -> String {
    let mut out = format!("{}, `{}`\n\n", file.machine.name, file.command.trim());
    let cycles = file.rows.iter().any(|r| r.bytes_per_cycle.is_some());
    let per = if cycles { "bytes/cycle" } else { "bytes/tick" };
    let mut table = Table::new(&["case", "time", "spread", "GB/s", per, "of a copy", "ratio", "against"]);
    for r in file.rows.iter().filter(|r| r.median_ns.is_some() && matches(r, filter)) {
        table.row(vec![
            r.label(),
            r.median_ns.map_or("-".into(), super::table::duration),
            r.spread.map_or("-".into(), |s| format!("±{} %", figure(100.0 * s))),
            maybe(r.gbps),
            maybe(r.bytes_per_cycle.or(r.bytes_per_tick)),
            maybe(r.vs_copy),
            maybe(r.ratio),
            r.peer.as_ref().map_or("-".into(), |p| format!("{} x {p}", maybe(r.vs_peer))),
        ]);
    }
    out.push_str(&table.markdown());
    out
}

/// The short table that stands in the project's README: kernels of the best level at 256 KiB, and chunks at
/// level 5.
pub fn readme(file: &Results) -> String {
    let best = file.machine.levels.last().cloned().unwrap_or_default();
    let mut out = format!(
        "Measured on {}, {}, commit {}, by `{}`; GB/s, and the fraction of a copy of the same size.\n\n",
        file.machine.name,
        file.machine.rustc.split(' ').take(2).collect::<Vec<_>>().join(" "),
        file.machine.commit,
        file.command.trim()
    );
    let typesizes = [1, 2, 4, 8, 16];
    let mut head = vec![format!("{best}, {}", size(256 << 10))];
    head.extend(typesizes.iter().map(|t| format!("{t} bytes")));
    let mut table = Table::new(&head.iter().map(String::as_str).collect::<Vec<_>>());
    for op in ["shuffle", "unshuffle", "bitshuffle", "bitunshuffle"] {
        let cell = |t: usize| {
            let fits = |r: &&Row| {
                r.suite == "kernels" && r.op == op && r.typesize == t && r.isa == best && r.bytes == 256 << 10
            };
            let row = file.rows.iter().find(fits);
            row.map_or("-".into(), |r| format!("{} ({})", maybe(r.gbps), maybe(r.vs_copy)))
        };
        table.row([vec![op.to_string()], typesizes.iter().map(|t| cell(*t)).collect()].concat());
    }
    out.push_str(&table.markdown());
    out.push('\n');
    let chunks = super::console::chunk_table(&file.rows);
    if !chunks.is_empty() {
        out.push_str("Chunks, geometric means over the real arrays; GB/s of uncompressed bytes.\n\n");
        out.push_str(&chunks.markdown());
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::Machine;

    fn results(times: &[f64]) -> Results {
        let row = |(index, ns): (usize, &f64)| Row {
            suite: "kernels".into(),
            engine: "ours".into(),
            op: "shuffle".into(),
            typesize: index + 1,
            threads: 1,
            bytes: 4096,
            data: "random".into(),
            verified: true,
            median_ns: Some(*ns),
            spread: Some(0.02),
            gbps: Some(4096.0 / ns),
            vs_copy: Some(50.0 / ns),
            vs_copy_spread: Some(0.02),
            ..Row::default()
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
        assert!(
            found.text.contains("1 of 4 rows agree within the printed spread (25.0 %)"),
            "{}",
            found.text
        );
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
        let camera = crate::data::corpus::REAL.iter().find(|r| r.name == "camera").unwrap().array();
        let [mut old, mut new] = [results(&[100.0]), results(&[100.0])];
        old.rows[0].data = "camera*1024".into();
        new.rows[0].data = camera.sized(64 << 20).name;
        assert!(compare(&[old.clone(), new.clone()], "", false).lines().all(|l| !l.contains("camera")));
        assert_eq!(difference(&[old, new], 0.05, "").cases, 0);
    }

    #[test]
    fn a_filter_chooses_by_words() {
        let files = [results(&[100.0, 100.0]), results(&[100.0, 50.0])];
        let text = compare(&files, "ts2", false);
        assert!(text.contains("over 1 cases: 2.00") && !text.contains("ts1"), "{text}");
        assert!(rank(&files, "").contains("Geometric means over the cases"));
    }
}
