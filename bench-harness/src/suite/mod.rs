//! Suites: lists of jobs, each of which compares a few candidates over the same bytes.

pub mod choice;
pub mod chunks;
pub mod codecs;
pub mod files;
pub mod goals;
pub mod kernels;
pub mod latency;
pub mod levels;
pub mod passes;
pub mod quick;
pub mod ratio;
pub mod threads;
pub mod unlearn;

use choice::{Choice, Job};

/// A set of cases that is asked for by name.
pub struct Suite {
    /// What `--suite` calls it.
    pub name: &'static str,
    /// Whether `--suite all` includes it.
    pub in_all: bool,
    /// Its steps.
    pub jobs: for<'a> fn(&'a Choice) -> Vec<Job<'a>>,
}

/// All suites, in the order they run.
pub const SUITES: [Suite; 13] = [
    Suite { name: "kernels", in_all: true, jobs: |c| kernels::jobs("kernels", c) },
    Suite { name: "split", in_all: true, jobs: |c| kernels::jobs("split", c) },
    Suite { name: "codecs", in_all: true, jobs: codecs::jobs },
    Suite { name: "chunks", in_all: true, jobs: chunks::jobs },
    Suite { name: "frames", in_all: true, jobs: |c| files::frames("frames", c) },
    Suite { name: "arrays", in_all: true, jobs: |c| files::arrays("arrays", c) },
    Suite { name: "latency", in_all: true, jobs: latency::jobs },
    Suite { name: "threads", in_all: true, jobs: threads::jobs },
    Suite { name: "frame-files", in_all: false, jobs: |c| files::frames("frame-files", c) },
    Suite { name: "array-files", in_all: false, jobs: |c| files::arrays("array-files", c) },
    Suite { name: "containers", in_all: false, jobs: files::containers },
    Suite { name: "far", in_all: false, jobs: files::far },
    Suite { name: "goals", in_all: false, jobs: goals::jobs },
];
