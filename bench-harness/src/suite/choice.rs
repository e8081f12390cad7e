//! [`Choice`]: what to run. [`Job`]: a step of it.

use super::unlearn::OtherArrays;
use crate::data::Data;
use crate::engine::crates::Crate;
use crate::engine::{Engine, Filters};
use crate::measure::{Plan, Setting};
use crate::result::Row;
use blosc_core::{Codec, Level};
use std::rc::Rc;

/// Item sizes of kernels: the common ones, and two odd ones.
pub const TYPESIZES: [usize; 7] = [1, 2, 3, 4, 8, 12, 16];
/// 16 KiB, 256 KiB, 4 MiB and 64 MiB: inside L1, L2 and L3 of most machines, and in none.
pub const SIZES: [usize; 4] = [16 << 10, 256 << 10, 4 << 20, 64 << 20];
/// Codecs that are written.
pub const CODECS: [Codec; 5] = [Codec::BloscLz, Codec::Lz4, Codec::Lz4Hc, Codec::Zlib, Codec::Zstd];
/// Filters that are compared.
pub const FILTERS: [Filters; 4] = Filters::ALL;
/// Compression levels that are compared.
pub const LEVELS: [u8; 3] = [1, 5, 9];

/// What to run, as chosen on the command line.
#[derive(Clone)]
pub struct Choice {
    /// Kernel levels.
    pub isas: Vec<Level>,
    /// Item sizes of kernel suites.
    pub typesizes: Vec<usize>,
    /// Sizes in bytes of kernel suites.
    pub sizes: Vec<usize>,
    /// Arrays for chunk suites.
    pub data: Vec<Data>,
    /// Sizes they are cut or continued to; empty for their own.
    pub array_sizes: Vec<usize>,
    /// Kernel levels of chunk suites.
    pub chunk_isas: Vec<Level>,
    /// Codecs of chunk suites.
    pub codecs: Vec<Codec>,
    /// Filters of chunk suites.
    pub filters: Vec<Filters>,
    /// Compression levels of chunk suites.
    pub levels: Vec<u8>,
    /// Block size of chunk suites, or automatic.
    pub blocksize: Option<u32>,
    /// Numbers of threads of the suites `threads`, `frame-files` and `array-files`.
    pub threads: Vec<usize>,
    /// Opponents; the first is the one ratios are given against.
    pub engines: Vec<Rc<dyn Engine>>,
    /// Codec crates of the suite `codecs`.
    pub crates: Vec<Crate>,
    /// Measure as if data were met for the first time, in the suites `chunks` and `latency`; `goals` always does.
    pub once: bool,
    /// What is worked through for that.
    pub others: OtherArrays,
    /// Goals of the suite `goals` by number; empty for all.
    pub goals: Vec<u32>,
    /// Test only: flip a byte of every result of ours.
    pub corrupt: bool,
}

impl Choice {
    /// What is worked through before each sample of a suite that measures data as if met for the first time.
    pub fn others_of(&self, suite: &str) -> Option<&OtherArrays> {
        (self.once || suite == "goals").then_some(&self.others)
    }
}

impl Default for Choice {
    /// What the suites take if nothing is said.
    fn default() -> Choice {
        Choice {
            isas: Level::available().collect(),
            typesizes: TYPESIZES.to_vec(),
            sizes: SIZES.to_vec(),
            data: crate::data::everything(),
            array_sizes: Vec::new(),
            chunk_isas: vec![Level::best()],
            codecs: CODECS.to_vec(),
            filters: FILTERS.to_vec(),
            levels: LEVELS.to_vec(),
            blocksize: None,
            threads: doubling(),
            engines: Vec::new(),
            crates: Vec::new(),
            once: false,
            others: OtherArrays::default(),
            goals: Vec::new(),
            corrupt: cfg!(feature = "corrupt-one-byte"),
        }
    }
}

/// One visit: measures and returns rows; the last argument says whether to stop early.
type Run<'a> = Box<dyn FnMut(&Setting, &Plan, &dyn Fn() -> bool) -> Vec<Row> + 'a>;

/// One step of a run.
pub struct Job<'a> {
    /// Shown while it runs.
    pub label: String,
    /// Seconds that a visit takes at the least, roughly: so much is said before a run starts.
    pub least: f64,
    /// Does it.
    pub run: Run<'a>,
}

/// Runs of each candidate in the shortest visit: two to be judged, one to see how long it takes, two rounds.
const LEAST_RUNS: f64 = 5.0;

impl<'a> Job<'a> {
    /// A job of which a run of all its candidates takes about `seconds`; see [`seconds`].
    pub fn new(
        label: impl Into<String>,
        seconds: f64,
        run: impl FnMut(&Setting, &Plan, &dyn Fn() -> bool) -> Vec<Row> + 'a,
    ) -> Job<'a> {
        Job { label: label.into(), least: LEAST_RUNS * seconds, run: Box::new(run) }
    }
}

/// Seconds that `times` runs take over `bytes` bytes of items, where a CPU of 2022 writes and reads `gbps` of them.
pub fn seconds(bytes: usize, times: usize, gbps: f64) -> f64 {
    bytes as f64 * times as f64 / gbps / 1e9
}

/// GB/s at which chunks of a codec are written and read, one after the other.
pub fn pace(codec: Codec, level: u8) -> f64 {
    match codec {
        Codec::BloscLz | Codec::Lz4 => 0.6,
        Codec::Zstd if level < 9 => 0.15,
        _ => 0.03,
    }
}

/// 1, 2, 4 … and the number of CPUs.
fn doubling() -> Vec<usize> {
    let cpus = std::thread::available_parallelism().map_or(1, usize::from);
    let mut counts: Vec<usize> =
        std::iter::successors(Some(1), |n| Some(n * 2)).take_while(|n| *n < cpus).collect();
    counts.push(cpus);
    counts
}
