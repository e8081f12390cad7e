//! How a figure comes about.
//!
//! ```text
//! for each group of contenders over the same bytes:
//!     check every contender's output; a wrong one is refused and never timed
//!     choose how often each runs inside one sample, so that the clock's grain vanishes
//!     repeat rounds until the plan's count or time is reached:
//!         time a fixed piece of arithmetic: rounds in which it is slow are dropped, and made up for
//!         move source and destination to other cache-line offsets (4 KiB aliasing averages out)
//!         time each contender once, beginning with another one each round
//!     median, spread, and ratios of samples of the SAME round
//! ```
//! Ratios therefore compare neighbours in time: a machine that slows down slows both sides.

pub mod arena;
pub mod canary;
pub mod cycles;
pub mod probe;
pub mod stats;

use arena::Arena;
use canary::Canary;
use stats::Summary;
use std::cell::RefCell;
use std::time::{Duration, Instant};

/// Reads from the first slice, writes to the second, returns how many bytes it wrote.
pub type Work<'a> = Box<dyn FnMut(&[u8], &mut [u8]) -> Result<usize, String> + 'a>;
/// Judges the bytes a contender wrote.
pub type Check<'a> = Box<dyn Fn(&[u8]) -> Result<(), String> + 'a>;

/// Runs the work so many times and returns the nanoseconds of all runs together, by a clock of its own.
pub type Timer<'a> = Box<dyn FnMut(u64) -> Result<f64, String> + 'a>;

/// What a contender is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// It gets a row of its own.
    Subject,
    /// The opponent that subjects are compared with.
    Peer,
    /// Our widest copy loop.
    Copy,
    /// libc's memcpy.
    Memcpy,
    /// Reads every byte.
    Read,
    /// Writes every byte.
    Write,
}

/// One thing to time.
pub struct Contender<'a> {
    /// What it is for.
    pub role: Role,
    /// Which of the caller's cases it is.
    pub id: usize,
    /// The work.
    pub work: Work<'a>,
    /// Its own clock, if it runs elsewhere.
    pub timer: Option<Timer<'a>>,
    /// The judge; `None` only for probes, which write nothing worth reading.
    pub check: Option<Check<'a>>,
}

/// Contenders over the same bytes, compared with each other.
pub struct Group<'a> {
    /// What all of them read (a contender may ignore it and read its own).
    pub source: &'a [u8],
    /// Room for what they write.
    pub room: usize,
    /// Bytes one run is said to process.
    pub bytes: usize,
    /// Who runs.
    pub contenders: Vec<Contender<'a>>,
}

/// How much effort a group is worth.
#[derive(Clone, Copy, Debug)]
pub struct Plan {
    /// Rounds at least, whatever the time.
    pub min_rounds: usize,
    /// Rounds at most.
    pub max_rounds: usize,
    /// Time of one sample; a run that takes longer is a sample by itself.
    pub sample: Duration,
    /// Time for all rounds of one group.
    pub budget: Duration,
}

impl Plan {
    /// For a first look: noise of some percent.
    pub const QUICK: Plan = Plan {
        min_rounds: 3,
        max_rounds: 11,
        sample: Duration::from_micros(100),
        budget: Duration::from_millis(70),
    };

    /// For figures to share, with `budget` for each group.
    pub fn careful(budget: Duration) -> Plan {
        Plan { min_rounds: 7, max_rounds: 201, sample: Duration::from_micros(300), budget }
    }
}

/// What came out for one contender.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// The contender's role.
    pub role: Role,
    /// The caller's case.
    pub id: usize,
    /// Bytes it wrote.
    pub written: usize,
    /// Runs inside one sample.
    pub iterations: u64,
    /// Nanoseconds of one run, one number per round; or why it was refused.
    pub samples: Result<Vec<f64>, String>,
    /// Cycles or ticks of one run, one number per round where the work ran on this thread alone.
    pub counts: Vec<f64>,
    /// Too few rounds were calm, so all were kept.
    pub disturbed: bool,
}

impl Outcome {
    /// Median and spread, if it was timed.
    pub fn summary(&self) -> Option<Summary> {
        Summary::of(self.samples.as_deref().ok()?)
    }

    /// How many times faster this one was than `other`, round by round.
    pub fn speed_against(&self, other: &Outcome) -> Option<Summary> {
        let (mine, theirs) = (self.samples.as_ref().ok()?, other.samples.as_ref().ok()?);
        let ratios: Vec<f64> = mine.iter().zip(theirs).map(|(m, t)| t / m).collect();
        Summary::of(&ratios)
    }
}

thread_local! {
    static CANARY: RefCell<Canary> = RefCell::default();
}

/// How many times its budget a group may take where rounds are disturbed.
const PATIENCE: u32 = 3;

/// Verifies, then times. `stop` ends the rounds early; what was measured until then is kept.
pub fn measure(group: &mut Group<'_>, plan: &Plan, stop: &dyn Fn() -> bool) -> Vec<Outcome> {
    let mut arena = Arena::new(group.source, group.room);
    let mut outcomes: Vec<Outcome> = Vec::with_capacity(group.contenders.len());
    for contender in &mut group.contenders {
        if stop() {
            return outcomes;
        }
        outcomes.push(admit(contender, &mut arena, plan));
    }
    let started = Instant::now();
    let n = group.contenders.len();
    let calm = || CANARY.with_borrow_mut(Canary::calm);
    let mut rounds: Vec<bool> = Vec::with_capacity(plan.max_rounds);
    for round in 0..plan.max_rounds {
        let (taken, quiet) = (started.elapsed(), rounds.iter().filter(|calm| **calm).count());
        let patient = quiet < plan.min_rounds && taken < plan.budget * PATIENCE;
        if stop() || (round >= plan.min_rounds && taken > plan.budget && !patient) {
            break;
        }
        let before = calm();
        arena.place(round);
        for turn in 0..n {
            let which = (turn + round) % n;
            if let (Some(c), Some(o)) = (group.contenders.get_mut(which), outcomes.get_mut(which)) {
                sample(c, o, &mut arena, plan);
            }
        }
        rounds.push(before && calm());
    }
    let enough = rounds.iter().filter(|calm| **calm).count() >= plan.min_rounds;
    for outcome in &mut outcomes {
        outcome.disturbed = !enough;
        if enough {
            let calm = |index: usize| rounds.get(index).is_none_or(|calm| *calm);
            keep(&mut outcome.counts, calm);
            outcome.samples.iter_mut().for_each(|samples| keep(samples, calm));
        }
    }
    outcomes
}

/// Drops the numbers whose places are not wanted.
fn keep(numbers: &mut Vec<f64>, wanted: impl Fn(usize) -> bool) {
    let mut index = 0;
    numbers.retain(|_| {
        index += 1;
        wanted(index - 1)
    });
}

/// Runs a contender at two placements, asks its judge, and chooses the iterations of a sample.
fn admit(contender: &mut Contender<'_>, arena: &mut Arena, plan: &Plan) -> Outcome {
    let mut outcome = Outcome {
        role: contender.role,
        id: contender.id,
        written: 0,
        iterations: 1,
        samples: Ok(Vec::with_capacity(plan.max_rounds)),
        counts: Vec::with_capacity(plan.max_rounds),
        disturbed: false,
    };
    let mut fastest = Duration::MAX;
    let placements = if contender.check.is_some() { 2 } else { 1 };
    for placement in 0..placements {
        arena.place(placement);
        arena.spoil();
        let (src, dst) = arena.split();
        let start = Instant::now();
        let result = (contender.work)(src, dst);
        fastest = fastest.min(start.elapsed());
        let judged = result.and_then(|written| {
            outcome.written = written;
            match (&contender.check, arena.written(written)) {
                (Some(check), Some(bytes)) => check(bytes),
                (None, _) => Ok(()),
                (_, None) => Err("wrote more than its destination holds".into()),
            }
        });
        if let Err(why) = judged {
            outcome.samples = Err(why);
            return outcome;
        }
    }
    if let Some(timer) = &mut contender.timer {
        let one = timer(1).unwrap_or(f64::MAX).max(100.0);
        outcome.iterations = ((plan.sample.as_nanos() as f64 / one) as u64).clamp(1, 1 << 16);
    } else if fastest < plan.sample {
        // A second look without page faults and cold code, then the count that fills a sample.
        let (src, dst) = arena.split();
        let start = Instant::now();
        let mut runs = 0u32;
        while runs == 0 || (start.elapsed() < plan.sample / 4 && runs < 1 << 20) {
            let _ = (contender.work)(src, dst);
            runs += 1;
        }
        let one = (start.elapsed().as_nanos() / u128::from(runs)).max(1);
        outcome.iterations = u64::try_from(plan.sample.as_nanos() / one).unwrap_or(1).clamp(1, 1 << 24);
    }
    outcome
}

fn sample(contender: &mut Contender<'_>, outcome: &mut Outcome, arena: &mut Arena, plan: &Plan) {
    let Ok(samples) = &mut outcome.samples else { return };
    if let Some(timer) = &mut contender.timer {
        match timer(outcome.iterations) {
            Ok(ns) => samples.push(ns / outcome.iterations as f64),
            Err(why) => outcome.samples = Err(why),
        }
        return;
    }
    let (src, dst) = arena.split();
    // Short work starts warm; long work (main memory) evicts its own warmth anyway.
    if outcome.iterations > 1 || samples.is_empty() || plan.sample.as_micros() > 200 {
        let _ = (contender.work)(src, dst);
    }
    let before = cycles::now();
    let start = Instant::now();
    for _ in 0..outcome.iterations {
        std::hint::black_box((contender.work)(std::hint::black_box(src), std::hint::black_box(dst))).ok();
    }
    let ns = start.elapsed().as_nanos() as f64;
    let count = cycles::now().zip(before).and_then(|(after, before)| after.checked_sub(before));
    samples.push(ns / outcome.iterations as f64);
    outcome.counts.extend(count.map(|n| n as f64 / outcome.iterations as f64));
}

#[cfg(test)]
mod tests {
    use super::*;

    fn copy(flip: bool) -> Work<'static> {
        Box::new(move |src, dst| {
            dst[..src.len()].copy_from_slice(src);
            dst[src.len() / 2] ^= u8::from(flip);
            Ok(src.len())
        })
    }

    #[test]
    fn a_wrong_contender_is_refused_and_the_right_one_timed() {
        let source = crate::data::generate::random_bytes(5000);
        let check = |expect: Vec<u8>| -> Check<'static> {
            Box::new(move |got| if got == expect { Ok(()) } else { Err("differs".into()) })
        };
        let contenders = [false, true]
            .into_iter()
            .enumerate()
            .map(|(id, flip)| Contender {
                role: Role::Subject,
                id,
                work: copy(flip),
                timer: None,
                check: Some(check(source.clone())),
            })
            .collect();
        let mut group = Group { source: &source, room: 5000, bytes: 5000, contenders };
        let out = measure(&mut group, &Plan::QUICK, &|| false);
        assert!(out[0].summary().is_some_and(|s| s.median > 0.0));
        assert_eq!(out[0].written, 5000);
        assert_eq!(out[1].samples, Err("differs".into()));
        assert!(out[1].speed_against(&out[0]).is_none());
    }

    #[test]
    fn a_stop_keeps_what_is_done() {
        let source = vec![1; 64];
        let work = copy(false);
        let contenders = vec![Contender { role: Role::Subject, id: 0, work, timer: None, check: None }];
        let mut group = Group { source: &source, room: 64, bytes: 64, contenders };
        let out = measure(&mut group, &Plan::QUICK, &|| true);
        assert!(out.is_empty());
    }
}
