//! Results and the files they are kept in.
//!
//! A results file is JSON lines. Each line is an object with `schema` (this module's [`SCHEMA`]) and
//! `kind`:
//! - `machine`, the first line: [`Machine`](crate::machine::Machine) in `machine`, the command line in
//!   `command`, seconds since 1970 in `started`;
//! - `row`: one case, see [`Row`];
//! - `end`, the last line: `complete` is false when the run was interrupted.
//!
//! Unknown fields are ignored, so that newer files can be read; a newer `schema` is refused. Files of schema 1, whose
//! rows were measured in one visit and carry no `spread`, are read: their `p10_ns` and `p90_ns` stand for it.

pub mod file;

use crate::measure::cycles::Unit;
use crate::measure::stats::Summary;
use serde::{Deserialize, Serialize};

/// Version of the row format. Raised when a field changes its meaning.
pub const SCHEMA: u32 = 2;
/// The oldest that is read.
pub const OLDEST: u32 = 1;

/// One measured case. Absent fields do not apply to it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Row {
    /// Suite it belongs to: `kernels`, `split`, `codecs`, `chunks`, `latency`, `threads`, `goals` …
    pub suite: String,
    /// Who did it: `ours`, `copy`, `memcpy`, `libblosc2 3.3.5` …
    pub engine: String,
    /// What was done: `shuffle`, `compress`, `decompress`, `getitem` …
    pub op: String,
    /// Instruction set of our kernels.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub isa: String,
    /// Codec.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub codec: String,
    /// Filter.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub filter: String,
    /// Compression level.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub level: Option<u8>,
    /// Bytes of one item.
    pub typesize: usize,
    /// Uncompressed bytes one run processes.
    pub bytes: usize,
    /// Block size in bytes where it was chosen and not automatic.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub blocksize: Option<u32>,
    /// Threads.
    pub threads: usize,
    /// Whether other arrays were worked through before each sample, so that the CPU knew none of the branches by heart.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub once: bool,
    /// Name of the array; `random` for kernels, whose speed does not depend on it.
    pub data: String,
    /// Number of the goal in the performance page this row is about.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub goal: Option<u32>,

    /// The output was right. Rows that are not verified carry no time.
    pub verified: bool,
    /// Why it was refused.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub refused: Option<String>,
    /// Why the engine named here does not take part in this case; such a row carries no figure.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub left_out: Option<String>,
    /// False under an emulator: then the nanoseconds are not a timing.
    pub timing: bool,
    /// The spread is too wide, or the machine was loaded: do not lean on this row.
    pub noisy: bool,

    /// Samples taken, over all visits.
    pub rounds: usize,
    /// Runs inside one sample.
    pub iterations: u64,
    /// Median of each visit, in nanoseconds of one run.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub visits_ns: Vec<f64>,
    /// Nanoseconds of one run: median of the visits' medians.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub median_ns: Option<f64>,
    /// How far another run may lie: between `median_ns / (1 + spread)` and `median_ns * (1 + spread)`, nineteen times
    /// of twenty. See [`crate::measure::spread`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub spread: Option<f64>,
    /// Median absolute deviation over all rounds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mad_ns: Option<f64>,
    /// Fastest round.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub min_ns: Option<f64>,
    /// A tenth of the rounds were faster.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub p10_ns: Option<f64>,
    /// A tenth of the rounds were slower.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub p90_ns: Option<f64>,
    /// Uncompressed bytes per nanosecond, by the median; absent where a case is about waiting (`getitem`).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gbps: Option<f64>,

    /// Uncompressed bytes per CPU cycle, of a real counter; on one thread.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bytes_per_cycle: Option<f64>,
    /// Uncompressed bytes per tick of the time stamp, where there is no cycle counter: a clock, not cycles.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bytes_per_tick: Option<f64>,

    /// Compressed bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cbytes: Option<usize>,
    /// `bytes / cbytes`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ratio: Option<f64>,

    /// Speed as a fraction of our widest copy loop in the same rounds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub vs_copy: Option<f64>,
    /// How far another run's fraction may lie, as [`Row::spread`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub vs_copy_spread: Option<f64>,
    /// Speed as a fraction of libc's memcpy in the same rounds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub vs_memcpy: Option<f64>,
    /// Speed as a fraction of a loop that only reads.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub vs_read: Option<f64>,
    /// Speed as a fraction of a loop that only writes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub vs_write: Option<f64>,
    /// Name of the opponent in the same rounds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub peer: Option<String>,
    /// Speed as a multiple of the opponent's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub vs_peer: Option<f64>,
    /// How far another run's multiple may lie, as [`Row::spread`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub vs_peer_spread: Option<f64>,
    /// Compressed size as a fraction of the opponent's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub size_vs_peer: Option<f64>,

    /// What the figures come from, while a run lasts.
    #[serde(skip)]
    pub samples: Samples,
}

/// What identifies a case across runs and machines.
pub type Key<'a> = (&'a str, &'a str, &'a str, &'a str, &'a str, &'a str, [usize; 6], &'a str);

impl Row {
    /// The case's identity. Engine versions are left out (`libblosc2 3.3.5` is `libblosc2`).
    pub fn key(&self) -> Key<'_> {
        let level = self.level.map_or(usize::MAX, usize::from);
        let block = self.blocksize.map_or(0, |b| b as usize);
        let numbers = [self.typesize, self.bytes, self.threads, level, block, usize::from(self.once)];
        let engine = self.engine.split(' ').next().unwrap_or_default();
        (&self.suite, &self.op, engine, &self.isa, &self.codec, &self.filter, numbers, &self.data)
    }

    /// The case in words, for tables.
    pub fn label(&self) -> String {
        let mut out = String::new();
        let mut word = |w: &str| {
            if !w.is_empty() {
                if !out.is_empty() {
                    out.push(' ');
                }
                out.push_str(w);
            }
        };
        word(&self.op);
        if self.engine != "ours" {
            word(&self.engine);
        }
        word(&self.isa);
        word(&self.codec);
        word(&self.filter);
        word(&self.level.map_or(String::new(), |l| format!("l{l}")));
        word(&format!("ts{}", self.typesize));
        word(&crate::report::table::size(self.bytes));
        if self.threads != 1 {
            word(&format!("{}thr", self.threads));
        }
        if self.data != "random" {
            word(&self.data);
        }
        out
    }

    /// Where the median of another run is expected to lie, in nanoseconds.
    pub fn range(&self) -> Option<(f64, f64)> {
        let median = self.median_ns?;
        match self.spread {
            Some(spread) => Some((median / (1.0 + spread), median * (1.0 + spread))),
            None => Some((self.p10_ns.unwrap_or(median), self.p90_ns.unwrap_or(median))),
        }
    }

    /// Whether two runs of a case agree: the range of one holds the median of the other. `None` without times.
    pub fn agrees(&self, other: &Row) -> Option<bool> {
        let holds = |a: &Row, b: &Row| {
            let ((low, high), ns) = (a.range()?, b.median_ns?);
            Some((low..=high).contains(&ns))
        };
        Some(holds(self, other)? || holds(other, self)?)
    }

    /// Fills in the figures from the samples. What lies between the visits is [`settle`](crate::measure::spread::settle).
    pub fn settle(&mut self) {
        let Some(all) = Summary::of(&self.samples.ns.concat()) else { return };
        self.visits_ns = medians(&self.samples.ns).into_iter().map(round3).collect();
        let Some(median) = middle(&self.samples.ns) else { return };
        self.rounds = all.count;
        self.median_ns = Some(round3(median));
        self.mad_ns = Some(round3(all.mad));
        self.min_ns = Some(round3(all.min));
        self.p10_ns = Some(round3(all.p10));
        self.p90_ns = Some(round3(all.p90));
        // One item out of a chunk: the chunk's bytes a second would be a boast.
        let streams = median > 0.0 && self.op != "getitem";
        self.gbps = streams.then(|| round3(self.bytes as f64 / median));
        let bytes = self.bytes as f64;
        let counted = self.threads == 1 && self.gbps.is_some();
        let speed = middle(&self.samples.counts).filter(|n| counted && *n > 0.0).map(|n| round3(bytes / n));
        match Unit::here() {
            Unit::Cycles => self.bytes_per_cycle = speed,
            Unit::Ticks => self.bytes_per_tick = speed,
            Unit::Absent => {}
        }
        let middle = |visits: &[Vec<f64>]| middle(visits).map(round3);
        self.vs_copy = middle(&self.samples.copy);
        self.vs_memcpy = middle(&self.samples.memcpy);
        self.vs_read = middle(&self.samples.read);
        self.vs_write = middle(&self.samples.write);
        self.vs_peer = middle(&self.samples.peer);
    }

    /// Takes in what another visit to the same case measured. One that was refused once stays so.
    pub fn merge(&mut self, visit: Row) {
        if self.refused.is_some() || self.left_out.is_some() {
            return;
        }
        if visit.refused.is_some() {
            *self = visit;
            return;
        }
        self.iterations = self.iterations.max(visit.iterations);
        self.samples.append(visit.samples);
    }
}

/// Numbers in the order they were measured, a list for each visit.
pub type Visits = Vec<Vec<f64>>;

/// What the visits to a case measured, a number a round. Kept while a run lasts and not in files.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Samples {
    /// Nanoseconds of one run.
    pub ns: Visits,
    /// Cycles or ticks of one run.
    pub counts: Visits,
    /// Speed as a fraction of our copy's in the same round.
    pub copy: Visits,
    /// The same of libc's memcpy.
    pub memcpy: Visits,
    /// The same of a loop that only reads.
    pub read: Visits,
    /// The same of a loop that only writes.
    pub write: Visits,
    /// Speed as a multiple of the opponent's.
    pub peer: Visits,
    /// How many visits were disturbed: others used the machine, or it ran slowly.
    pub disturbed: usize,
}

impl Samples {
    fn append(&mut self, other: Samples) {
        let Samples { ns, counts, copy, memcpy, read, write, peer, disturbed } = other;
        self.ns.extend(ns);
        self.counts.extend(counts);
        self.copy.extend(copy);
        self.memcpy.extend(memcpy);
        self.read.extend(read);
        self.write.extend(write);
        self.peer.extend(peer);
        self.disturbed += disturbed;
    }
}

/// The median of each visit.
pub fn medians(visits: &[Vec<f64>]) -> Vec<f64> {
    visits.iter().filter_map(|v| Summary::of(v)).map(|s| s.median).collect()
}

/// The median of the visits' medians.
fn middle(visits: &[Vec<f64>]) -> Option<f64> {
    Summary::of(&medians(visits)).map(|s| s.median)
}

/// Keeps five significant digits: more would be noise, and the files stay small.
pub fn round3(x: f64) -> f64 {
    if x == 0.0 || !x.is_finite() {
        return x;
    }
    let scale = 10f64.powi(4 - x.abs().log10().floor() as i32);
    (x * scale).round() / scale
}
