//! `cmp`: the cases of several files, side by side.

use super::cases::{cases, letter};
use super::table::{self, Table, figure};
use crate::measure::stats::geometric_mean;
use crate::result::file::Results;
use std::fmt::Write;

/// Cases in lines, files in columns: GB/s, and the ratio to the first file.
pub fn compare(files: &[Results], filter: &str, colour: bool) -> String {
    let mut out = String::new();
    for (index, file) in files.iter().enumerate() {
        let emulated = if file.machine.emulator.is_some() { "  (emulated: not a timing)" } else { "" };
        let _ = writeln!(out, "{}  {}  {}{emulated}", letter(index), file.machine.name, file.path.display());
    }
    let builds = files.iter().map(|f| &f.machine.commit).collect::<std::collections::BTreeSet<_>>();
    if builds.len() > 1 {
        let list = files.iter().map(|f| f.machine.commit.as_str()).collect::<Vec<_>>().join(", ");
        out.push_str(&table::paragraph(&format!(
            "Different commits: {list}. Ratios compare programs as well as machines."
        )));
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
            cells.push(speed.map_or("-".into(), table::speed));
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
