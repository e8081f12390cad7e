//! [`Visit`]: what one visit to a case measured. Kept while a run lasts and not in files.

use crate::measure::stats::lower_quartile;

/// The rounds of one visit, and what the visit says of others in the same rounds.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Visit {
    /// Nanoseconds of one run, a number for each round.
    pub ns: Vec<f64>,
    /// Cycles or ticks of one run, a number for each round where the work ran on this thread alone.
    pub counts: Vec<f64>,
    /// Speed as a fraction of our copy's.
    pub copy: Option<f64>,
    /// Speed as a fraction of libc's memcpy.
    pub memcpy: Option<f64>,
    /// Speed as a multiple of the opponent's.
    pub peer: Option<f64>,
    /// Other programs used the machine at that time.
    pub loaded: bool,
}

impl Visit {
    /// Nanoseconds of one run: what disturbs a round only ever slows it, so the lower quartile says more than the median.
    pub fn figure(&self) -> Option<f64> {
        lower_quartile(&self.ns)
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
