//! `diff`: a new run against an old one.

use super::cases::{cases, spread_line};
use super::table::{Table, duration, figure, paragraph};
use crate::result::Row;
use crate::result::file::Results;
use std::fmt::Write;

/// What `diff` found.
pub struct Difference {
    /// The table and its summary.
    pub text: String,
    /// Cases that both files have.
    pub cases: usize,
    /// Cases whose times agree within their spread.
    pub agree: usize,
    /// Cases that became slower.
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
    for places in cases.values() {
        let [Some(o), Some(n)] = places.as_slice() else { continue };
        let (Some(a), Some(b), Some(same)) = (o.quartile_ns, n.quartile_ns, o.agrees(n)) else { continue };
        total += 1;
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
        let ns = |r: &Row| duration(r.quartile_ns.unwrap_or(0.0));
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
    text.extend(spread_line(&new.rows).map(|line| paragraph(&line)));
    if old.machine.name != new.machine.name {
        text.push_str(&paragraph(&format!(
            "Different machines: {}, {}.",
            old.machine.name, new.machine.name
        )));
    }
    Difference { text, cases: total, agree, slower }
}

fn fractions_agree(a: &Row, b: &Row, threshold: f64) -> bool {
    let Some((x, y)) = a.vs_copy.zip(b.vs_copy) else { return false };
    let spread = a.vs_copy_spread.unwrap_or(0.0).max(b.vs_copy_spread.unwrap_or(0.0));
    (x / y).max(y / x) <= 1.0 + spread.max(threshold)
}
