//! A fixed piece of arithmetic, timed beside every round: when it runs slower than it did moments ago, the core
//! does not belong to us alone (a neighbour on the same core, a hypervisor, a frequency that collapses), and what is
//! timed at that moment says little about the work.

use std::collections::VecDeque;
use std::hint::black_box;
use std::time::Instant;

/// A round whose canary is slower than this, relative to the best of late, is disturbed. A drift of the frequency by
/// some percent is not: it moves the yardsticks of the same round as well.
const SLOWER: f64 = 1.25;
/// How many readings "of late" are: a machine that throttles for good is not disturbed for ever.
const MEMORY: usize = 400;

/// Readings of late, in nanoseconds.
#[derive(Default)]
pub struct Canary {
    readings: VecDeque<f64>,
}

impl Canary {
    /// Runs it once; whether it was as fast as of late.
    pub fn calm(&mut self) -> bool {
        let start = Instant::now();
        work();
        let now = start.elapsed().as_nanos() as f64;
        if self.readings.len() == MEMORY {
            self.readings.pop_front();
        }
        self.readings.push_back(now);
        let best = self.readings.iter().copied().fold(f64::INFINITY, f64::min);
        now <= best * SLOWER
    }
}

/// Some microseconds of independent multiplications: more than one program on a core slows these most.
fn work() {
    let mut lanes = [1u64, 3, 5, 7, 11, 13, 17, 19];
    for _ in 0..black_box(2000) {
        for lane in &mut lanes {
            *lane = lane.wrapping_mul(0x2545_F491_4F6C_DD1D) ^ (*lane >> 29);
        }
    }
    black_box(lanes);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_best_of_late_is_calm() {
        let mut canary = Canary::default();
        assert!(canary.calm(), "the first reading is the best so far");
        for _ in 0..2 * MEMORY {
            canary.calm();
        }
        assert_eq!(canary.readings.len(), MEMORY);
        canary.readings.iter_mut().for_each(|r| *r = 1.0);
        assert!(!canary.calm(), "nothing runs this in a nanosecond");
    }
}
