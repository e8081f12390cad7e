//! `rank`: engines and levels by how far each is from the fastest.

use super::cases::{letter, matches};
use super::table::{Table, paragraph};
use crate::measure::stats::geometric_mean;
use crate::result::file::Results;
use std::collections::BTreeMap;

/// Engines (and levels of ours) by the geometric mean of how far each is from the fastest of its case. Those of another
/// machine are other engines: their cases never meet.
pub fn rank(files: &[Results], filter: &str) -> String {
    let mut out = String::new();
    for (index, file) in files.iter().enumerate() {
        if files.len() > 1 {
            out.push_str(&format!("{}  {}  {}\n", letter(index), file.machine.name, file.path.display()));
        }
        out.push_str(&ranked(file, filter));
        out.push('\n');
    }
    out + &paragraph(
        "Geometric means over the cases that at least two ran. Engines that ran different cases cannot be \
         compared by this number, and no mean says which is best for your data.",
    )
}

fn ranked(file: &Results, filter: &str) -> String {
    let mut cases: BTreeMap<_, Vec<(String, f64)>> = BTreeMap::new();
    for r in file.rows.iter().filter(|r| matches(r, filter)) {
        let Some(ns) = r.median_ns else { continue };
        let who = if r.isa.is_empty() { r.engine.clone() } else { format!("{} {}", r.engine, r.isa) };
        let (suite, op, _, _, codec, filter, numbers, data) = r.key();
        cases.entry((suite, op, codec, filter, numbers, data)).or_default().push((who, ns));
    }
    let mut scores: BTreeMap<&str, Vec<f64>> = BTreeMap::new();
    for case in cases.values().filter(|case| case.len() > 1) {
        let best = case.iter().map(|(_, ns)| *ns).fold(f64::INFINITY, f64::min);
        for (who, ns) in case {
            scores.entry(who).or_default().push(ns / best);
        }
    }
    if scores.is_empty() {
        return paragraph(
            "Nothing to rank: no case was run by two engines or at two levels. Measure with an opponent, such as \
             `blosc-bench quick --engine libblosc2`, or with `--isa all`.",
        );
    }
    let mean = |(who, list): (&str, Vec<f64>)| {
        Some((geometric_mean(list.iter().copied())?, who.to_string(), list.len()))
    };
    let mut lines: Vec<(f64, String, usize)> = scores.into_iter().filter_map(mean).collect();
    lines.sort_by(|a, b| a.0.total_cmp(&b.0));
    let mut table = Table::new(&["engine", "times the fastest", "cases"]);
    for (mean, who, count) in lines {
        table.row(vec![who, format!("{mean:.2}"), count.to_string()]);
    }
    table.text()
}

#[cfg(test)]
mod tests {
    use super::super::cases::testing::results;
    use super::super::side_by_side::compare;
    use super::*;

    #[test]
    fn a_filter_chooses_by_words() {
        let files = [results(&[100.0, 100.0]), results(&[100.0, 50.0])];
        let text = compare(&files, "ts2", false);
        assert!(text.contains("over 1 cases: 2.00") && !text.contains("ts1"), "{text}");
    }

    #[test]
    fn machines_are_kept_apart_and_a_lonely_engine_is_told_what_to_do() {
        let lonely = rank(&[results(&[100.0])], "");
        assert!(lonely.contains("--engine libblosc2") && !lonely.contains("times the fastest"), "{lonely}");
        // Each machine has its own fastest: the second is twice as slow, and its best engine stands at 1.00 all the same.
        let machine = |ns: f64, name: &str| {
            let mut file = results(&[ns, 2.0 * ns]);
            file.machine.name = name.into();
            file.rows[1].typesize = 1;
            file.rows[1].isa = "slow".into();
            file
        };
        let text = rank(&[machine(100.0, "first"), machine(200.0, "second")], "");
        assert!(text.contains("A  first") && text.contains("B  second"), "{text}");
        assert_eq!((text.matches(" 1.00").count(), text.matches(" 2.00").count()), (2, 2), "{text}");
    }
}
