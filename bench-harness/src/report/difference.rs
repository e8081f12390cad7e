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

#[cfg(test)]
mod tests {
    use super::super::cases::testing::results;
    use super::super::side_by_side::compare;
    use super::*;

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
}
