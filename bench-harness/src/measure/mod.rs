//! How a figure comes about.
//!
//! ```text
//! pass over all comparisons, several times, each time in another order:
//!     visit a comparison of candidates over the same bytes, with contexts of its own:
//!         first pass: check every candidate's output; a wrong one is refused and never timed
//!         choose how often each runs inside one sample, so that the clock's grain vanishes
//!         repeat rounds until the plan's count or time is reached:
//!             time a fixed piece of arithmetic: rounds in which it is slow are dropped, and made up for
//!             move source and destination to other cache-line offsets (4 KiB aliasing shows in some rounds only)
//!             time each candidate once, beginning with another one each round; before long work over large
//!             buffers, have the caches write back what the one before has left in them; where data are to be met
//!             for the first time, let it work through other data first
//!         the visit's figure is that of its fastest tenth of rounds: what disturbs a round only ever slows it
//! the row's figure is the lower quartile of its visits; its spread comes from how far they lie apart
//! the row's ratios are those of such figures of candidates of the SAME visits
//! ```
//! Ratios therefore compare neighbours in time: a machine that slows down slows both sides. Visits lie seconds
//! apart, each in another part of memory, so that their differences hold what a later run will meet as well: another
//! frequency, another neighbour, other pages. See [`spread`] and [`arena`].
//!
//! Why quartiles and tenths: five runs of the quick suite on a virtual machine (AMD Zen 4, KVM, 2 CPUs) were evaluated in
//! all ways. Ratios of neighbours agreed within 3 % in 80 % of pairs of runs by medians of medians, in 90 % by these.

pub mod arena;
pub mod canary;
pub mod candidate;
pub mod check;
pub mod comparison;
pub mod cycles;
pub mod probe;
pub mod rounds;
pub mod spread;
pub mod stats;

use std::time::Duration;

/// The facts every row shares.
#[derive(Clone, Copy, Debug)]
pub struct Setting {
    /// Widest vectors for the probes.
    pub arch: pulp::Arch,
    /// False under an emulator.
    pub timing: bool,
}

/// How much effort a visit to a comparison is worth, and which visit it is.
#[derive(Clone, Copy, Debug)]
pub struct Plan {
    /// Rounds at least, whatever the time.
    pub min_rounds: usize,
    /// Rounds at most.
    pub max_rounds: usize,
    /// Time of one sample; a run that takes longer is a sample by itself.
    pub sample: Duration,
    /// Time for all rounds of one visit.
    pub budget: Duration,
    /// How many visits there were before.
    pub visit: usize,
    /// Whether outputs are judged first: at the first visit, and wherever one was wrong.
    pub verify: bool,
}

impl Plan {
    /// The plan of the quick run, which makes many visits.
    pub const QUICK: Plan = Plan {
        min_rounds: 2,
        max_rounds: 15,
        sample: Duration::from_micros(100),
        budget: Duration::from_millis(12),
        visit: 0,
        verify: true,
    };

    /// For figures to share, with `budget` for each visit to a comparison.
    pub fn careful(budget: Duration) -> Plan {
        Plan { max_rounds: 51, sample: Duration::from_micros(300), budget, ..Plan::QUICK }
    }
}
