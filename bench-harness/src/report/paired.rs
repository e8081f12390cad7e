//! `diff --paired`: two programs by turns, and an interval for each ratio. See `METHOD.md`.

use super::cases::cases;
use super::mean::percent;
use super::table::{Table, figure, maybe, paragraph};
use crate::measure::spread::interval;
use crate::measure::stats::Summary;
use crate::result::{Row, file::Results};

/// What the turns say.
pub struct Paired {
    /// A line for each case, and a summary.
    pub text: String,
    /// Cases that both programs ran in two turns at least.
    pub cases: usize,
    /// Cases that became slower.
    pub slower: usize,
}

/// The runs of two programs, turn by turn. A case is slower or faster where its interval lies beyond 1 and its mean moved by more
/// than `threshold`; the same where the interval lies within the threshold; else the turns cannot tell. `instructions` are those of
/// the new program as a part of the old one's, where they are known: they stand beside the times and decide nothing.
pub fn paired(
    [old, new]: [&[Results]; 2],
    threshold: f64,
    filter: &str,
    instructions: impl Fn(&Row) -> Option<f64>,
) -> Paired {
    let (old, new) = (cases(old, filter), cases(new, filter));
    let ratios = |key, before: &[Option<&Row>]| -> Option<Vec<f64>> {
        let turns = before.iter().zip(new.get(key)?).filter_map(|(o, n)| o.zip(*n));
        Some(turns.filter_map(|(o, n)| Some((o.quartile_ns? / n.quartile_ns?).ln())).collect())
    };
    let found: Vec<(&Row, Vec<f64>)> = old
        .iter()
        .filter_map(|(key, rows)| Some((*rows.iter().flatten().next()?, ratios(key, rows)?)))
        .filter(|(_, logs)| logs.len() > 1)
        .collect();
    let variances: Vec<f64> = found.iter().filter_map(|(_, logs)| Some(interval(logs, 0.0)?.1)).collect();
    let typical = Summary::of(&variances).map_or(0.0, |s| s.median);
    let counted = found.iter().any(|(row, _)| instructions(row).is_some());
    let head = ["case", "new/old speed", "±%", "verdict", "instructions"];
    let mut table = Table::new(&head[..if counted { 5 } else { 4 }]);
    let (mut slower, mut faster, mut unsure, mut widths) = (0, 0, 0, Vec::new());
    for (row, logs) in &found {
        let Some((mean, _, half)) = interval(logs, typical) else { continue };
        let beyond = mean.abs() > half && mean.exp_m1().abs() > threshold;
        let verdict = match (beyond, mean < 0.0) {
            (true, true) => "slower",
            (true, false) => "faster",
            _ if mean.abs() + half > threshold.ln_1p() => "unsure",
            _ => "same",
        };
        slower += usize::from(verdict == "slower");
        faster += usize::from(verdict == "faster");
        unsure += usize::from(verdict == "unsure");
        widths.push(half.exp_m1());
        let cells = [figure(mean.exp()), percent(half.exp_m1()), verdict.to_string()];
        let beside = counted.then(|| maybe(instructions(row)));
        table.row([row.label()].into_iter().chain(cells).chain(beside).collect());
    }
    let width = Summary::of(&widths).map_or_else(|| "-".into(), |s| percent(s.median));
    let same = found.len() - slower - faster - unsure;
    let told = format!(
        "{slower} slower, {faster} faster, {same} the same, {unsure} unsure at {} %; intervals of ±{width} % in the middle",
        figure(100.0 * threshold)
    );
    Paired { text: table.text() + &paragraph(&told), cases: found.len(), slower }
}
