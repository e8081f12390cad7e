//! Whether something else uses the machine while cases are timed: all CPUs' work less this program's.

use super::linux;
use std::time::{Duration, Instant};

/// While others do more work than this, in CPUs, a visit is loaded; less shows in the spread if it matters.
pub const TOLERATED: f64 = 0.5;
/// Shorter spans hold too few of the kernel's ticks to judge by.
const SPAN: Duration = Duration::from_millis(200);

/// Looks at the machine from time to time.
pub struct Watch {
    since: Option<Reading>,
    loaded: bool,
    /// The most work of others seen in a span, in CPUs.
    pub most: f64,
}

struct Reading {
    at: Instant,
    all: linux::CpuTimes,
    own: u64,
}

impl Reading {
    fn now() -> Option<Reading> {
        Some(Reading { at: Instant::now(), all: linux::cpu_times()?, own: linux::own_ticks()? })
    }
}

impl Watch {
    /// Begins; `busy` is what others did just before.
    pub fn new(busy: Option<f64>) -> Watch {
        let most = busy.unwrap_or(0.0);
        Watch { since: Reading::now(), loaded: most > TOLERATED, most }
    }

    /// Whether others used the machine since the last look (or, if that is too short ago, at that time).
    pub fn loaded(&mut self) -> bool {
        let due = self.since.as_ref().is_some_and(|r| r.at.elapsed() >= SPAN);
        if due && let (Some(before), Some(now)) = (self.since.take(), Reading::now()) {
            let own = now.own.saturating_sub(before.own);
            if let Some(others) = linux::busy_between(&before.all, &now.all, own) {
                self.loaded = others > TOLERATED;
                self.most = self.most.max(others);
            }
            self.since = Some(now);
        }
        self.loaded
    }
}
