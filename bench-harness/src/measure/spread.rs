//! How far apart two runs may lie: the spread that stands beside every figure.
//!
//! A machine changes within seconds (its frequency, its neighbours, the memory pages a process gets), so the rounds of
//! one visit say little about another run. The visits to a case lie spread over the run and say more:
//!
//! ```text
//! x_i  logarithm of what visit i found, one of n;  m  their median
//! d_i  m - x_i of the visits that are faster than m
//! s2   sum of d_i squared / ((n - 1.5) / 2)
//! v    (4 * typical s2 of the suite + (n - 1) / 2 * s2) / (4 + (n - 1) / 2)
//! h    t * sqrt(2) * 1.36 * sqrt(v / n)                spread = e^h - 1
//! ```
//! Only the faster half counts, since the figure is the lower quartile: a neighbour that slows every third visit does not
//! move it. Few visits tell their own spread badly, so that of a typical case counts like four more (a moderated variance).
//! `t` is Student's, two-sided 95 % with 4 + (n - 1) / 2 degrees of freedom; the square root of two, because two runs are
//! compared; 1.36, because a quartile scatters that much more than a mean. So another run on the same machine, in the
//! same state, should lie between `figure / (1 + spread)` and `figure * (1 + spread)` nineteen times of twenty.

use super::stats::Summary;
use crate::result::{Row, Visit, round3};
use std::collections::BTreeMap;

/// A typical case counts like this many degrees of freedom.
const PRIOR: f64 = 4.0;
/// Standard deviation of a lower quartile, in those of a mean of the same normal numbers.
const QUARTILE: f64 = 1.3626;
/// What has a wider spread is marked noisy.
pub const WIDE: f64 = 0.10;

/// Variance of the logarithms of what the faster half of the visits found; `None` for fewer than two.
fn variance(visits: &[f64]) -> Option<f64> {
    let logs: Vec<f64> = visits.iter().map(|x| x.ln()).collect();
    let middle = Summary::of(&logs)?.median;
    let below = logs.iter().map(|x| middle - x).filter(|d| *d > 0.0);
    let half = (visits.len() as f64 - 1.5) / 2.0;
    (visits.len() > 1).then(|| below.map(|d| d * d).sum::<f64>() / half)
}

/// The spread of a figure of this many visits with this variance, where `typical` is usual.
fn spread(visits: usize, variance: Option<f64>, typical: f64) -> f64 {
    let known = variance.map_or(0.0, |_| (visits as f64 - 1.0) / 2.0);
    let freedom = PRIOR + known;
    let v = (PRIOR * typical + known * variance.unwrap_or(0.0)) / freedom;
    (student(freedom) * (2.0 * v / visits.max(1) as f64).sqrt() * QUARTILE).exp_m1()
}

/// Mean of the logarithms of ratios, their variance, and how far the true mean may lie to either side, nineteen times of twenty,
/// where a variance of `typical` is usual. `None` for fewer than two.
pub fn interval(logs: &[f64], typical: f64) -> Option<(f64, f64, f64)> {
    let count = logs.len() as f64;
    let mean = logs.iter().sum::<f64>() / count;
    let known = count - 1.0;
    let variance = logs.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / known;
    let v = (PRIOR * typical + known * variance) / (PRIOR + known);
    (logs.len() > 1).then(|| (mean, variance, student(PRIOR + known) * (v / count).sqrt()))
}

/// Student's t, two-sided 95 %, to half a percent for four degrees of freedom and more.
fn student(freedom: f64) -> f64 {
    let z = 1.959_964;
    let z3 = (z * z * z + z) / 4.0;
    let z5 = (5.0 * f64::powi(z, 5) + 16.0 * f64::powi(z, 3) + 3.0 * z) / 96.0;
    let z7 = (3.0 * f64::powi(z, 7) + 19.0 * f64::powi(z, 5) + 17.0 * f64::powi(z, 3) - 15.0 * z) / 384.0;
    z + z3 / freedom + z5 / (freedom * freedom) + z7 / (freedom * freedom * freedom)
}

/// The quantities of a row that have a spread: what the visits found, and where the spread goes.
type Figure = (fn(&Row, &Visit) -> Option<f64>, fn(&mut Row) -> &mut Option<f64>);

const FIGURES: [Figure; 3] = [
    (|_, v| v.figure(), |r| &mut r.spread),
    (|r, v| Some(r.copy_in(v)? / v.figure()?), |r| &mut r.vs_copy_spread),
    (|_, v| Some(v.peer? / v.figure()?), |r| &mut r.vs_peer_spread),
];

/// Fills in the spreads of a run's rows, and marks those that are noisy.
pub fn settle(rows: &mut [Row]) {
    for (quantity, place) in FIGURES {
        let mut suites: BTreeMap<String, Vec<f64>> = BTreeMap::new();
        for row in rows.iter() {
            suites.entry(row.suite.clone()).or_default().extend(variance(&row.found(|v| quantity(row, v))));
        }
        for row in rows.iter_mut() {
            let found = row.found(|v| quantity(row, v));
            let typical = suites.get(&row.suite).and_then(|list| Summary::of(list)).map(|s| s.median);
            let Some(typical) = typical.filter(|_| !found.is_empty()) else { continue };
            *place(row) = Some(round3(spread(found.len(), variance(&found), typical)));
        }
    }
    for row in rows.iter_mut().filter(|r| r.quartile_ns.is_some()) {
        // One visit knows nothing of others: then the middle half of its rounds must lie within a sixth of the median.
        let narrow =
            || row.mad_ns.zip(row.quartile_ns).is_some_and(|(mad, ns)| mad <= 0.08 * ns) && row.rounds > 2;
        row.noisy = row.spread.map_or_else(|| !narrow(), |s| s > WIDE);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::generate::random_bytes;

    #[test]
    fn students_t_is_the_tabulated_one() {
        for (freedom, table) in [(4.0, 2.776), (5.0, 2.571), (7.0, 2.365), (10.0, 2.228), (30.0, 2.042)] {
            assert!((student(freedom) / table - 1.0).abs() < 0.006, "{freedom}: {}", student(freedom));
        }
    }

    #[test]
    fn slow_visits_do_not_widen_it_and_fast_ones_do() {
        let of = |visits: &[f64]| variance(visits).map(f64::sqrt).unwrap();
        let calm = of(&[1.00, 1.01, 0.99, 1.01, 1.0]);
        assert!(of(&[1.00, 1.01, 0.99, 1.5, 1.5]) < 4.0 * calm);
        assert!(of(&[1.00, 1.01, 0.7, 1.01, 0.72, 1.0, 1.0]) > 10.0 * calm);
        assert_eq!(variance(&[1.0]), None);
    }

    /// Rows of visits that scatter by some percent, each by another: the share whose next run lies within the spread.
    fn covered(visits: usize) -> f64 {
        let bytes = random_bytes(4000 * visits * 8);
        let mut noise = bytes.as_chunks::<2>().0.iter().map(|b| f64::from(u16::from_le_bytes(*b)) / 65536.0);
        // A sum of four uniform numbers is nearly normal.
        let mut normal = || noise.by_ref().take(4).sum::<f64>() - 2.0;
        let mut run = |scatter: f64| {
            let mut row = Row { suite: "s".into(), ..Row::default() };
            let visit = |_| Visit { ns: vec![100.0 * (scatter * normal()).exp()], ..Visit::default() };
            row.visits = (0..visits).map(visit).collect();
            row.settle();
            row
        };
        let scatters = (0..2000).map(|i| 0.01 + 0.02 * f64::from(i % 5));
        let (mut first, second): (Vec<Row>, Vec<Row>) = scatters.map(|s| (run(s), run(s))).unzip();
        settle(&mut first);
        let hit = first.iter().zip(&second).filter(|(a, b)| {
            let (low, high) = a.range().unwrap();
            b.quartile_ns.is_some_and(|ns| (low..=high).contains(&ns))
        });
        hit.count() as f64 / first.len() as f64
    }

    #[test]
    fn nineteen_of_twenty_lie_within_it() {
        for visits in [3, 4, 7, 30] {
            let share = covered(visits);
            assert!((0.90..=0.99).contains(&share), "{visits} visits: {share}");
        }
    }
}
