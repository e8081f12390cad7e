//! The project's numbered speed goals, and how rows of the suite `goals` meet them.

use super::table::{Table, figure};
use crate::measure::stats::geometric_mean;
use crate::result::Row;

/// What is compared with what.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Against {
    /// libc's memcpy of the same size.
    Memcpy,
    /// The opponent.
    Peer,
}

/// One goal, or one half of one.
pub struct Goal {
    /// Number in the list of goals.
    pub number: u32,
    /// What it says.
    pub text: &'static str,
    /// The yardstick.
    pub against: Against,
    /// Speed ratio that is due.
    pub due: f64,
    /// Speed ratio hoped for.
    pub moonshot: f64,
    /// Which rows of the goal it is about.
    pub rows: fn(&Row) -> bool,
}

const fn goal(number: u32, against: Against, due: f64, moonshot: f64, text: &'static str) -> Goal {
    Goal { number, text, against, due, moonshot, rows: |_| true }
}

/// The goals that can be measured on this machine. Times ("at most half") are given as speeds ("twice").
/// Number 16 counts instructions of NEON kernels; the README says how.
pub const GOALS: [Goal; 18] = [
    goal(1, Against::Memcpy, 0.95, 1.0, "(un)shuffle ts 2, 4"),
    Goal { rows: |r| r.typesize == 8, ..goal(2, Against::Memcpy, 0.70, 0.90, "shuffle ts 8") },
    Goal { rows: |r| r.typesize == 16, ..goal(2, Against::Memcpy, 0.50, 0.80, "shuffle ts 16") },
    goal(3, Against::Memcpy, 0.5, 0.9, "(un)shuffle ts 2 to 32"),
    goal(4, Against::Memcpy, 0.40, 0.65, "bitshuffle ts 1 to 8"),
    goal(5, Against::Memcpy, 0.45, 0.75, "bitunshuffle ts 1 to 8"),
    goal(6, Against::Peer, 2.0, 4.0, "bit(un)shuffle, AVX2"),
    goal(7, Against::Peer, 1.0, 1.3, "LZ4 decode, filtered"),
    goal(8, Against::Peer, 1.3, 2.0, "BloscLZ decode"),
    goal(9, Against::Peer, 1.4, 4.0, "BloscLZ encode, l5"),
    goal(10, Against::Peer, 1.5, 2.0, "decompress 64M shuffle"),
    goal(11, Against::Peer, 3.0, 4.0, "decompress 2M bitshuf"),
    goal(12, Against::Peer, 1.3, 2.0, "compress 64M"),
    goal(13, Against::Peer, 2.0, 10.0, "one item of 1M"),
    goal(14, Against::Peer, 1.0, 2.0, "4K round trip"),
    goal(15, Against::Peer, 1.9, 2.0, "2 threads vs 1, 64M"),
    Goal { rows: |r| r.op == "compress", ..goal(17, Against::Peer, 1.0, 1.2, "zstd, zlib compress") },
    Goal { rows: |r| r.op == "decompress", ..goal(17, Against::Peer, 1.0, 1.2, "zstd, zlib decompress") },
];

/// No array may fall below this fraction of the opponent's speed, whatever a goal says.
const FLOOR: f64 = 0.9;

/// Each goal's mean and worst ratio, how many rows fall below .9 of an opponent, and whether the worst reaches what is
/// due, with no output more than 1 % larger, nor larger in the mean.
pub fn table(rows: &[Row]) -> Table {
    let head = ["#  goal", "vs", "due", "worst", "mean", "best", "rows", "<.9", "size", "met"];
    let mut table = Table::new(&head);
    for g in &GOALS {
        let of = |r: &&Row| r.goal == Some(g.number) && r.engine == "ours" && (g.rows)(r);
        let value = |r: &Row| if g.against == Against::Memcpy { r.vs_memcpy } else { r.vs_peer };
        let values: Vec<f64> = rows.iter().filter(of).filter_map(value).collect();
        let Some(mean) = geometric_mean(values.iter().copied()) else { continue };
        let worst = values.iter().copied().fold(f64::INFINITY, f64::min);
        let best = values.iter().copied().fold(0.0, f64::max);
        let below = values.iter().filter(|v| **v < FLOOR).count();
        let sizes: Vec<f64> = rows.iter().filter(of).filter_map(|r| r.size_vs_peer).collect();
        let biggest = sizes.iter().copied().fold(0.0, f64::max);
        let sizes_fit = biggest <= 1.01 && geometric_mean(sizes.iter().copied()).is_none_or(|m| m <= 1.0);
        let met = worst >= g.due && sizes_fit;
        let peer = g.against == Against::Peer;
        table.row(vec![
            format!("{:<2} {}", g.number, g.text),
            if peer { "peer".into() } else { "memcpy".into() },
            figure(g.due),
            figure(worst),
            figure(mean),
            figure(best),
            values.len().to_string(),
            if peer { below.to_string() } else { "-".into() },
            if sizes.is_empty() { "-".into() } else { format!("{biggest:.3}") },
            if met { "yes".into() } else { "no".into() },
        ]);
    }
    table
}

/// What stands below the table: how much two threads gain where memory alone sets the speed.
pub fn memory_note(rows: &[Row]) -> Option<String> {
    let two = rows.iter().find(|r| r.goal == Some(15) && r.engine == "memcpy" && r.threads == 2)?;
    let scale = figure(two.vs_peer?);
    Some(format!("Goal 15: memcpy of 64 MiB scales by {scale} with two threads on this machine."))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(vs_peer: f64, size: f64) -> Row {
        let (vs_peer, size_vs_peer) = (Some(vs_peer), Some(size));
        Row { goal: Some(9), engine: "ours".into(), vs_peer, size_vs_peer, ..Row::default() }
    }

    /// Cells of the one goal in these rows: worst, mean, rows below .9, met.
    fn judged(rows: &[Row]) -> Vec<String> {
        let (_, lines) = table(rows).cells();
        [3, 4, 7, 9].iter().map(|c| lines[0][*c].clone()).collect()
    }

    #[test]
    fn the_worst_case_decides() {
        assert_eq!(judged(&[row(2.0, 0.9), row(1.4, 0.9)]), ["1.40", "1.67", "0", "yes"]);
        assert_eq!(judged(&[row(4.0, 0.9), row(0.8, 0.9)]), ["0.80", "1.79", "1", "no"]);
    }

    /// A copy is no row of the goal: it stands below the table.
    #[test]
    fn what_memory_allows_is_told_apart() {
        let ours = Row { goal: Some(15), threads: 2, ..row(1.5, 1.0) };
        let copy = Row { engine: "memcpy".into(), vs_peer: Some(1.25), ..ours.clone() };
        assert_eq!(memory_note(std::slice::from_ref(&ours)), None);
        let rows = [ours, copy];
        assert_eq!(table(&rows).cells().1[0][6], "1");
        assert!(memory_note(&rows).unwrap().contains("scales by 1.25"));
    }

    #[test]
    fn larger_output_is_never_fine() {
        for (sizes, met) in [([1.02, 0.5], "no"), ([1.005, 0.999], "no"), ([1.005, 0.99], "yes")] {
            assert_eq!(judged(&sizes.map(|size| row(2.0, size)))[3], met);
        }
    }
}
