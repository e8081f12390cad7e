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
    /// Speed ratio that the geometric mean of its rows should reach.
    pub due: f64,
    /// Which rows of the goal it is about.
    pub rows: fn(&Row) -> bool,
}

const fn goal(number: u32, against: Against, due: f64, text: &'static str) -> Goal {
    Goal { number, text, against, due, rows: |_| true }
}

fn by_avx2(row: &Row) -> bool {
    row.isa == "avx2" || row.isa == "avx2-gfni"
}

fn by_gfni(row: &Row) -> bool {
    row.isa == "avx2-gfni" || row.isa == "avx512"
}

/// The goals that can be measured on this machine. Times ("at most half") are given as speeds ("twice").
/// Number 16 counts instructions of NEON kernels; the README says how.
pub const GOALS: [Goal; 20] = [
    goal(1, Against::Memcpy, 0.98, "(un)shuffle ts 2, 4"),
    Goal { rows: by_avx2, ..goal(3, Against::Memcpy, 0.55, "(un)shuffle ts 2-32, AVX2") },
    Goal { rows: |r| !by_avx2(r), ..goal(3, Against::Memcpy, 0.85, "(un)shuffle ts 2-32") },
    Goal { rows: |r| !by_gfni(r), ..goal(4, Against::Memcpy, 0.25, "bitshuffle ts 1-8, AVX2") },
    Goal { rows: by_gfni, ..goal(4, Against::Memcpy, 0.70, "bitshuffle ts 1-8, GFNI") },
    Goal { rows: |r| !by_gfni(r), ..goal(5, Against::Memcpy, 0.25, "bitunshuffle 1-8, AVX2") },
    Goal { rows: by_gfni, ..goal(5, Against::Memcpy, 0.70, "bitunshuffle 1-8, GFNI") },
    Goal { rows: |r| r.filter != "none before", ..goal(7, Against::Peer, 1.3, "LZ4 decode, filtered") },
    Goal { rows: |r| r.filter == "none before", ..goal(7, Against::Peer, 1.1, "LZ4 decode, unfiltered") },
    goal(8, Against::Peer, 1.4, "BloscLZ decode"),
    goal(9, Against::Peer, 2.5, "BloscLZ encode, l5"),
    goal(10, Against::Peer, 1.6, "decompress 64M shuffle"),
    goal(11, Against::Peer, 2.3, "decompress 2M bitshuf"),
    goal(12, Against::Peer, 1.8, "compress 64M"),
    goal(13, Against::Peer, 8.0, "one item of 1M"),
    goal(14, Against::Peer, 1.5, "4K round trip"),
    goal(15, Against::Peer, 1.6, "2 threads vs 1, 64M"),
    Goal {
        rows: |r| r.op == "compress" && r.codec == "zstd",
        ..goal(17, Against::Peer, 1.2, "zstd compress")
    },
    Goal {
        rows: |r| r.op == "compress" && r.codec == "zlib",
        ..goal(17, Against::Peer, 1.2, "zlib compress")
    },
    Goal { rows: |r| r.op == "decompress", ..goal(17, Against::Peer, 1.25, "zstd, zlib decompress") },
];

/// What no single array should fall below, as a fraction of the opponent's speed.
const FLOOR: f64 = 0.5;

/// What no single output should exceed, in sizes of the opponent's.
const LARGEST: f64 = 1.03;

/// Each goal's mean and worst ratio, how many rows fall below half the speed of an opponent, and whether it is met: the mean
/// reaches what is due, no row falls below half, no output is more than 3 % larger, and outputs are not larger in the mean.
pub fn table(rows: &[Row]) -> Table {
    let head = ["#  goal", "vs", "due", "worst", "mean", "best", "rows", "<.5", "size", "met"];
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
        let sizes_fit = biggest <= LARGEST && geometric_mean(sizes.iter().copied()).is_none_or(|m| m <= 1.0);
        let peer = g.against == Against::Peer;
        let met = mean >= g.due && (!peer || below == 0) && sizes_fit;
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
