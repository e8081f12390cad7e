//! Figures as they are shown: a mean over rows, with the spread of that very quantity.

use super::table::figure;
use crate::measure::spread::WIDE;
use crate::measure::stats::geometric_mean;
use crate::result::Row;

/// A quantity of a row, and how far another run's may lie.
#[derive(Clone, Copy)]
pub struct Quantity {
    value: fn(&Row) -> Option<f64>,
    spread: fn(&Row) -> Option<f64>,
    /// Rows share what scatters, such as the copy that all of a comparison are divided by: a mean of them scatters as much.
    shared: bool,
}

/// GB/s.
pub const SPEED: Quantity = Quantity { value: |r| r.gbps, spread: |r| r.spread, shared: false };
/// Nanoseconds.
pub const TIME: Quantity = Quantity { value: |r| r.quartile_ns, spread: |r| r.spread, shared: false };
/// Speed as a fraction of the fastest copy.
pub const VS_COPY: Quantity = Quantity { value: |r| r.vs_copy, spread: |r| r.vs_copy_spread, shared: true };
/// Speed as a multiple of the opponent's.
pub const VS_PEER: Quantity = Quantity { value: |r| r.vs_peer, spread: |r| r.vs_peer_spread, shared: false };
/// Uncompressed bytes for each compressed one.
pub const RATIO: Quantity = Quantity { value: |r| r.ratio, spread: |_| None, shared: false };
/// GB/s of the fastest copy of the same size.
pub const COPY: Quantity =
    Quantity { value: |r| Some(r.gbps? / r.vs_copy?), spread: |_| None, shared: false };

/// A geometric mean over rows, and how far another run's may lie.
pub struct Mean {
    /// The mean.
    pub value: f64,
    /// Its spread, where the rows have any.
    pub spread: Option<f64>,
}

impl Mean {
    /// The mean of a quantity; `None` without numbers.
    pub fn of(rows: &[&Row], of: Quantity) -> Option<Mean> {
        let rows: Vec<&&Row> = rows.iter().filter(|r| (of.value)(r).is_some()).collect();
        let value = geometric_mean(rows.iter().filter_map(|r| (of.value)(r)))?;
        let squares: Vec<f64> = rows.iter().filter_map(|r| Some((of.spread)(r)?.ln_1p().powi(2))).collect();
        let (sum, count) = (squares.iter().sum::<f64>(), squares.len() as f64);
        // Scatter of single rows averages out where each has its own.
        let spread = if of.shared { (sum / count).sqrt() } else { sum.sqrt() / count };
        Some(Mean { value, spread: (count > 0.0).then(|| spread.exp_m1()) })
    }

    /// This mean as a multiple of another one.
    pub fn over(&self, other: &Mean) -> Mean {
        let log = |m: &Mean| m.spread.map(f64::ln_1p);
        let spread = log(self).zip(log(other)).map(|(a, b)| a.hypot(b).exp_m1());
        Mean { value: self.value / other.value, spread }
    }

    /// Whether the spread of what is shown is wide.
    pub fn noisy(&self) -> bool {
        self.spread.is_some_and(|s| s > WIDE)
    }

    /// Before a noisy figure stands `~`.
    pub fn text(&self, value: impl Fn(f64) -> String) -> String {
        format!("{}{}", if self.noisy() { "~" } else { "" }, value(self.value))
    }

    /// ` ±1.8 %`, or nothing.
    pub fn around(&self) -> String {
        self.spread.map_or(String::new(), |s| format!(" ±{} %", percent(s)))
    }

    /// `1.52 ±1.8 %`.
    pub fn whole(&self) -> String {
        self.text(figure) + &self.around()
    }
}

/// A spread in percent, of two digits.
pub fn percent(spread: f64) -> String {
    let percent = 100.0 * spread;
    match percent {
        p if p >= 999.5 => ">999".into(),
        p if p >= 9.95 => format!("{p:.0}"),
        p => format!("{p:.1}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn means_of_many_rows_scatter_less_and_each_quantity_has_its_own_spread() {
        let row = Row {
            gbps: Some(2.0),
            spread: Some(0.10),
            vs_copy: Some(0.5),
            vs_copy_spread: Some(0.2),
            ..Row::default()
        };
        let mean = |n: usize, of| Mean::of(&vec![&row; n], of).unwrap();
        assert!((mean(1, SPEED).spread.unwrap() - 0.10).abs() < 1e-9 && !mean(4, SPEED).noisy());
        assert!((mean(4, SPEED).spread.unwrap() - 0.05).abs() < 0.003);
        // All four are divided by one copy.
        assert!((mean(4, VS_COPY).spread.unwrap() - 0.2).abs() < 1e-9);
        assert_eq!(
            (mean(4, VS_COPY).whole().as_str(), mean(1, SPEED).over(&mean(1, SPEED)).value),
            ("~0.50 ±20 %", 1.0)
        );
        assert!(Mean::of(&[&row], VS_PEER).is_none());
    }
}
