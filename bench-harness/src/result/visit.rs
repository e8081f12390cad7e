//! [`Visit`]: what one visit to a case measured. Kept while a run lasts and not in files.

use crate::measure::stats::quantile_of;

/// Copies that stand beside the work: our widest loop, libc's memcpy, and for large buffers a copy past the caches.
pub const COPIES: [&str; 3] = ["copy", "memcpy", "stream"];

/// Part of a visit's rounds that are faster than its figure.
const FASTEST: f64 = 0.1;

/// The rounds of one visit, and what the visit says of others in the same rounds.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Visit {
    /// Nanoseconds of one run, a number for each round.
    pub ns: Vec<f64>,
    /// Cycles or ticks of one run, a number for each round where the work ran on this thread alone.
    pub counts: Vec<f64>,
    /// Nanoseconds of each of the [`COPIES`] in the same rounds.
    pub copies: [Option<f64>; COPIES.len()],
    /// Nanoseconds of the opponent.
    pub peer: Option<f64>,
    /// Other programs used the machine at that time.
    pub loaded: bool,
}

impl Visit {
    /// Nanoseconds of one run: what disturbs a round only ever slows it, so the fastest tenth says more than the median.
    pub fn figure(&self) -> Option<f64> {
        quantile_of(&self.ns, FASTEST)
    }

    /// Cycles or ticks of one run.
    pub fn count(&self) -> Option<f64> {
        quantile_of(&self.counts, FASTEST)
    }

    /// Forgets the rounds.
    pub fn clear(&mut self) {
        self.ns.clear();
        self.counts.clear();
    }

    /// Drops the rounds that are not wanted.
    pub fn keep(&mut self, wanted: &[bool]) {
        for numbers in [&mut self.ns, &mut self.counts] {
            let mut wanted = wanted.iter();
            numbers.retain(|_| *wanted.next().unwrap_or(&true));
        }
    }
}
