//! Cycles of the work that is timed: from the CPU's own counter where the system permits one, else time-stamp
//! ticks, which are a clock and are called ticks everywhere.

use blosc_peers::counter::{self, Cycles};
use std::time::{Duration, Instant};

thread_local! {
    /// A counter counts the thread that opened it.
    static COUNTER: Option<Cycles> = Cycles::open();
}

/// What [`now`] counts on this machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// Cycles of this thread's core, in user mode.
    Cycles,
    /// Ticks of a constant-rate time stamp.
    Ticks,
    /// Nothing.
    Absent,
}

impl Unit {
    /// The one of this machine.
    pub fn here() -> Unit {
        match (COUNTER.with(Option::is_some), counter::ticks()) {
            (true, _) => Unit::Cycles,
            (false, Some(_)) => Unit::Ticks,
            (false, None) => Unit::Absent,
        }
    }

    /// What the machine record says of it.
    pub fn describe(self) -> &'static str {
        match self {
            Unit::Cycles => "CPU cycles in user mode (perf_event_open)",
            Unit::Ticks => "no cycle counter permitted: time-stamp ticks",
            Unit::Absent => "absent",
        }
    }
}

/// The count now, in this machine's [`Unit`].
pub fn now() -> Option<u64> {
    COUNTER.with(|c| c.as_ref().map_or_else(counter::ticks, Cycles::read))
}

/// Time-stamp ticks a microsecond, measured against the clock for some milliseconds.
pub fn tick_mhz() -> Option<f64> {
    let (start, before) = (Instant::now(), counter::ticks()?);
    while start.elapsed() < Duration::from_millis(20) {
        std::hint::spin_loop();
    }
    let (elapsed, after) = (start.elapsed(), counter::ticks()?);
    Some(after.checked_sub(before)? as f64 / (elapsed.as_nanos() as f64 / 1000.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_have_a_rate_and_a_name() {
        assert_eq!(Unit::here() == Unit::Absent, now().is_none());
        match tick_mhz() {
            Some(mhz) => assert!((1.0..20_000.0).contains(&mhz), "{mhz}"),
            None => println!("skipped: no time stamp here"),
        }
    }
}
