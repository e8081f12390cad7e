//! Results and the files they are kept in.
//!
//! A results file is JSON lines. Each line is an object with `schema` (this module's [`SCHEMA`]) and
//! `kind`:
//! - `machine`, the first line: [`Machine`](crate::machine::Machine) in `machine`, the command line in
//!   `command`, seconds since 1970 in `started`;
//! - `row`: one case, see [`Row`];
//! - `end`, the last line: `complete` is false when the run was interrupted.
//!
//! Unknown fields are ignored, so that newer files can be read; a newer `schema` is refused. Older ones are read:
//! - schema 1: rows were measured in one visit and carry no `spread`; their `p10_ns` and `p90_ns` stand for it;
//! - schema 3: `quartile_ns` was called `median_ns`; `vs_copy` was the fraction of our widest copy loop;
//! - schema 2: figures were medians of visits, which were medians of rounds; a row was noisy where the machine was loaded,
//!   too.

pub mod file;
pub mod visit;

pub use visit::{COPIES, Visit};

use crate::measure::cycles::Unit;
use crate::measure::stats::{Summary, quantile_of};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Version of the row format. Raised when a field changes its meaning.
pub const SCHEMA: u32 = 4;
/// The oldest that is read.
pub const OLDEST: u32 = 1;

/// One measured case. Fields that do not apply to it are not written, see [`lean`].
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Row {
    /// Suite it belongs to: `kernels`, `split`, `codecs`, `chunks`, `latency`, `threads`, `far`, `goals` …
    pub suite: String,
    /// Who did it: `ours`, `copy`, `memcpy`, `libblosc2 3.3.5` …
    pub engine: String,
    /// What was done: `shuffle`, `compress`, `decompress`, `getitem` …
    pub op: String,
    /// Instruction set of our kernels.
    pub isa: String,
    /// Codec.
    pub codec: String,
    /// Filter.
    pub filter: String,
    /// Compression level.
    pub level: Option<u8>,
    /// Bytes of one item.
    pub typesize: usize,
    /// Uncompressed bytes one run processes.
    pub bytes: usize,
    /// Block size in bytes where it was chosen and not automatic.
    pub blocksize: Option<u32>,
    /// Threads.
    pub threads: usize,
    /// Whether other arrays were worked through before each sample, so that the CPU knew none of the branches by heart.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub once: bool,
    /// Name of the array; `random` for kernels, whose speed does not depend on it.
    pub data: String,
    /// Number of the goal in the performance page this row is about.
    pub goal: Option<u32>,

    /// The output was right. Rows that are not verified carry no time.
    pub verified: bool,
    /// Why it was refused.
    pub refused: Option<String>,
    /// Why the engine named here does not take part in this case; such a row carries no figure.
    pub left_out: Option<String>,
    /// False under an emulator: then the nanoseconds are not a timing.
    pub timing: bool,
    /// The spread of this row is wide: do not lean on it.
    pub noisy: bool,

    /// Samples taken, over all visits.
    pub rounds: usize,
    /// Runs inside one sample.
    pub iterations: u64,
    /// What each visit found, in nanoseconds of one run: a tenth of its rounds were faster.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub visits_ns: Vec<f64>,
    /// Nanoseconds of one run: the lower quartile of what the visits found. Older schemas call it a median.
    #[serde(alias = "median_ns")]
    pub quartile_ns: Option<f64>,
    /// How far another run may lie: between `quartile_ns / (1 + spread)` and `quartile_ns * (1 + spread)`, nineteen times
    /// of twenty. See [`crate::measure::spread`].
    pub spread: Option<f64>,
    /// Median absolute deviation over all rounds.
    pub mad_ns: Option<f64>,
    /// Fastest round.
    pub min_ns: Option<f64>,
    /// A tenth of the rounds were faster.
    pub p10_ns: Option<f64>,
    /// A tenth of the rounds were slower.
    pub p90_ns: Option<f64>,
    /// Uncompressed bytes per nanosecond, by `quartile_ns`; absent where a case is about waiting (`getitem`, `far`).
    pub gbps: Option<f64>,

    /// Uncompressed bytes per CPU cycle, of a real counter; on one thread.
    pub bytes_per_cycle: Option<f64>,
    /// Uncompressed bytes per tick of the time stamp, where there is no cycle counter: a clock, not cycles.
    pub bytes_per_tick: Option<f64>,

    /// Rounds of requests of which each waits for the one before, for one run.
    pub round_trips: Option<usize>,
    /// Requests in these rounds together.
    pub requests: Option<usize>,

    /// Compressed bytes.
    pub cbytes: Option<usize>,
    /// `bytes / cbytes`.
    pub ratio: Option<f64>,

    /// Speed as a fraction of the fastest copy in the same rounds.
    pub vs_copy: Option<f64>,
    /// Which copy was the fastest; our widest loop where older files do not say.
    pub copy: Option<String>,
    /// How far another run's fraction may lie, as [`Row::spread`].
    pub vs_copy_spread: Option<f64>,
    /// Speed as a fraction of libc's memcpy in the same rounds.
    pub vs_memcpy: Option<f64>,
    /// Name of the opponent in the same rounds.
    pub peer: Option<String>,
    /// Speed as a multiple of the opponent's.
    pub vs_peer: Option<f64>,
    /// How far another run's multiple may lie, as [`Row::spread`].
    pub vs_peer_spread: Option<f64>,
    /// Compressed size as a fraction of the opponent's.
    pub size_vs_peer: Option<f64>,

    /// What the figures come from, while a run lasts.
    #[serde(skip)]
    pub visits: Vec<Visit>,
}

/// What identifies a case across runs and machines.
pub type Key<'a> = (&'a str, &'a str, &'a str, &'a str, &'a str, &'a str, [usize; 6], &'a str);

impl Row {
    /// The fixed part of a row about random bytes, on one thread.
    pub fn plain(suite: &str, engine: &str, op: &str, typesize: usize, bytes: usize) -> Row {
        let [suite, engine, op, data] = [suite, engine, op, "random"].map(String::from);
        Row { suite, engine, op, data, typesize, bytes, threads: 1, ..Row::default() }
    }

    /// The case's identity. Engine versions are left out (`libblosc2 3.3.5` is `libblosc2`).
    pub fn key(&self) -> Key<'_> {
        let level = self.level.map_or(usize::MAX, usize::from);
        let block = self.blocksize.map_or(0, |b| b as usize);
        let numbers = [self.typesize, self.bytes, self.threads, level, block, usize::from(self.once)];
        let engine = self.engine.split(' ').next().unwrap_or_default();
        (&self.suite, &self.op, engine, &self.isa, &self.codec, &self.filter, numbers, &self.data)
    }

    /// What rows have in common that are compared with each other: they differ in who did it, and on how many threads.
    pub fn contest(&self) -> (&str, usize, &str, &str, Option<u8>, &str) {
        (&self.op, self.typesize, &self.codec, &self.filter, self.level, &self.data)
    }

    /// Whether it is about writing compressed bytes, of which there may be more or fewer.
    pub fn packs(&self) -> bool {
        matches!(self.op.as_str(), "compress" | "encode")
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
        let median = self.quartile_ns?;
        match self.spread {
            Some(spread) => Some((median / (1.0 + spread), median * (1.0 + spread))),
            None => Some((self.p10_ns.unwrap_or(median), self.p90_ns.unwrap_or(median))),
        }
    }

    /// Whether two runs of a case agree: the range of one holds the median of the other. `None` without times.
    pub fn agrees(&self, other: &Row) -> Option<bool> {
        let holds = |a: &Row, b: &Row| {
            let ((low, high), ns) = (a.range()?, b.quartile_ns?);
            Some((low..=high).contains(&ns))
        };
        Some(holds(self, other)? || holds(other, self)?)
    }

    /// What the visits found of one quantity. Those made while other programs used the machine count only where there are
    /// too few others.
    pub fn found(&self, quantity: impl Fn(&Visit) -> Option<f64>) -> Vec<f64> {
        let calm = self.visits.iter().filter(|v| !v.loaded).count() >= ENOUGH;
        self.visits.iter().filter(|v| !calm || !v.loaded).filter_map(quantity).collect()
    }

    /// Fills in the figures from the visits. What lies between them is [`settle`](crate::measure::spread::settle).
    pub fn settle(&mut self) {
        let rounds: Vec<f64> = self.visits.iter().flat_map(|v| v.ns.iter().copied()).collect();
        let visits = self.found(Visit::figure);
        let (Some(all), Some(figure)) = (Summary::of(&rounds), quantile_of(&visits, QUIET)) else { return };
        self.visits_ns = visits.into_iter().map(round3).collect();
        self.rounds = all.count;
        self.quartile_ns = Some(round3(figure));
        self.mad_ns = Some(round3(all.mad));
        self.min_ns = Some(round3(all.min));
        self.p10_ns = Some(round3(all.p10));
        self.p90_ns = Some(round3(all.p90));
        let bytes = self.bytes as f64;
        // One item out of a chunk: the chunk's bytes a second would be a boast. What waits is no stream either.
        let streams = figure > 0.0 && self.op != "getitem" && self.suite != "far";
        self.gbps = streams.then(|| round3(bytes / figure));
        let low = |row: &Row, of: &dyn Fn(&Visit) -> Option<f64>| quantile_of(&row.found(of), QUIET);
        let counted = self.threads == 1 && self.gbps.is_some();
        let counts = low(self, &Visit::count).filter(|n| counted && *n > 0.0);
        let speed = counts.map(|n| round3(bytes / n));
        match Unit::here() {
            Unit::Cycles => self.bytes_per_cycle = speed,
            Unit::Ticks => self.bytes_per_tick = speed,
            Unit::Absent => {}
        }
        let copies = [0, 1, 2].map(|which: usize| low(self, &|v| v.copies[which]));
        let fastest = copies.iter().zip(COPIES).filter_map(|(ns, name)| Some(((*ns)?, name)));
        let fastest = fastest.min_by(|a, b| a.0.total_cmp(&b.0));
        self.vs_copy = fastest.map(|(copy, _)| round3(copy / figure));
        self.copy = fastest.map(|(_, name)| name.to_string());
        self.vs_memcpy = copies[1].map(|copy| round3(copy / figure));
        self.vs_peer = low(self, &|v| v.peer).map(|peer| round3(peer / figure));
    }

    /// What a visit found of the copy that the row is compared with.
    pub fn copy_in(&self, visit: &Visit) -> Option<f64> {
        let which = COPIES.iter().position(|name| Some(*name) == self.copy.as_deref())?;
        visit.copies.get(which).copied().flatten()
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
        self.visits.extend(visit.visits);
    }
}

/// Part of the visits that are faster than the row's figure: neighbours, and places in memory that suit it badly, only slow a
/// visit. Lower still would be a matter of luck.
const QUIET: f64 = 0.25;
/// This many calm visits say enough.
const ENOUGH: usize = 3;

/// As JSON, without the fields of the value and of what it holds that are absent or empty.
pub fn lean(value: &impl Serialize) -> Result<Value, String> {
    fn clear(value: &mut Value) {
        if let Value::Object(fields) = value {
            fields.values_mut().for_each(clear);
            fields.retain(|_, v| !v.is_null() && *v != Value::String(String::new()));
        }
    }
    let mut value = serde_json::to_value(value).map_err(|e| e.to_string())?;
    clear(&mut value);
    Ok(value)
}

/// Keeps five significant digits: more would be noise, and the files stay small.
pub fn round3(x: f64) -> f64 {
    if x == 0.0 || !x.is_finite() {
        return x;
    }
    let scale = 10f64.powi(4 - x.abs().log10().floor() as i32);
    (x * scale).round() / scale
}
