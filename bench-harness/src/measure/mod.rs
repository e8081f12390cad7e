//! How a figure comes about.
//!
//! ```text
//! pass over all groups, several times, each time in another order:
//!     visit a group of contenders over the same bytes, with buffers and contexts of its own:
//!         first pass: check every contender's output; a wrong one is refused and never timed
//!         choose how often each runs inside one sample, so that the clock's grain vanishes
//!         repeat rounds until the plan's count or time is reached:
//!             time a fixed piece of arithmetic: rounds in which it is slow are dropped, and made up for
//!             move source and destination to other cache-line offsets (4 KiB aliasing averages out)
//!             time each contender once, beginning with another one each round; before long work over large
//!             buffers, have the caches write back what the one before has left in them; where data are to be met
//!             for the first time, let it work through other data first
//!         the visit's figure is the median of its rounds, its ratios those of samples of the SAME round
//! the row's figure is the median of its visits; its spread comes from how far they lie apart
//! ```
//! Ratios therefore compare neighbours in time: a machine that slows down slows both sides. Visits lie seconds
//! apart, so that their differences hold what a later run will meet as well: other memory pages, another
//! frequency, another neighbour. See [`spread`].

pub mod arena;
pub mod canary;
pub mod cycles;
pub mod probe;
pub mod spread;
pub mod stats;

use arena::Arena;
use canary::Canary;
use std::cell::RefCell;
use std::time::{Duration, Instant};

/// Reads from the first slice, writes to the second, returns how many bytes it wrote.
pub type Work<'a> = Box<dyn FnMut(&[u8], &mut [u8]) -> Result<usize, String> + 'a>;
/// Judges the bytes a contender wrote.
pub type Check<'a> = Box<dyn Fn(&[u8]) -> Result<(), String> + 'a>;

/// What is done before each sample, outside the clock.
pub type Before<'a> = Box<dyn FnMut() + 'a>;

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
    /// Done before each of its samples, which are then single runs that nothing warms up.
    pub before: Option<Before<'a>>,
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
    /// They keep no memory of their own: a long run needs no other before it to be timed.
    pub stateless: bool,
}

/// How much effort a visit to a group is worth, and which visit it is.
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
    /// For a first look.
    pub const QUICK: Plan = Plan {
        min_rounds: 1,
        max_rounds: 3,
        sample: Duration::from_micros(100),
        budget: Duration::from_millis(10),
        visit: 0,
        verify: true,
    };

    /// For figures to share, with `budget` for each visit to a group.
    pub fn careful(budget: Duration) -> Plan {
        Plan { min_rounds: 2, max_rounds: 51, sample: Duration::from_micros(300), budget, ..Plan::QUICK }
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
    fn new(contender: &Contender<'_>, plan: &Plan) -> Outcome {
        Outcome {
            role: contender.role,
            id: contender.id,
            written: 0,
            iterations: 1,
            samples: Ok(Vec::with_capacity(plan.max_rounds)),
            counts: Vec::new(),
            disturbed: false,
        }
    }

    fn forget(&mut self) {
        self.counts.clear();
        self.samples.iter_mut().for_each(Vec::clear);
    }

    /// How many times faster this one was than `other`, round by round.
    pub fn speed_against(&self, other: &Outcome) -> Vec<f64> {
        let (Ok(mine), Ok(theirs)) = (&self.samples, &other.samples) else { return Vec::new() };
        mine.iter().zip(theirs).map(|(m, t)| t / m).collect()
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
    let mut outcomes: Vec<Outcome> = group.contenders.iter().map(|c| Outcome::new(c, plan)).collect();
    let mut rounds: Vec<bool> = Vec::with_capacity(plan.max_rounds);
    let started = Instant::now();
    if plan.verify {
        for (contender, outcome) in group.contenders.iter_mut().zip(&mut outcomes) {
            if stop() {
                return Vec::new();
            }
            judge(contender, outcome, &mut arena);
        }
    }
    // Where every run is a sample by itself, the look at how long they take is the first round.
    let (long, calm) = look(group, &mut outcomes, &mut arena, plan);
    if long && group.stateless {
        rounds.push(calm);
    } else {
        outcomes.iter_mut().for_each(Outcome::forget);
    }
    while rounds.len() < plan.max_rounds {
        let (taken, quiet) = (started.elapsed(), rounds.iter().filter(|calm| **calm).count());
        let patient = quiet < plan.min_rounds && taken < plan.budget * PATIENCE;
        if stop() || (rounds.len() >= plan.min_rounds && taken > plan.budget && !patient) {
            break;
        }
        arena.place(rounds.len());
        let calm = round(group, &mut outcomes, &mut arena, rounds.len());
        rounds.push(calm);
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

/// Times each contender once, beginning with another one each round; whether the machine was calm.
fn round(group: &mut Group<'_>, outcomes: &mut [Outcome], arena: &mut Arena, round: usize) -> bool {
    let calm = || CANARY.with_borrow_mut(Canary::calm);
    let n = group.contenders.len();
    let before = calm();
    for turn in 0..n {
        let which = (turn + round) % n.max(1);
        if let (Some(c), Some(o)) = (group.contenders.get_mut(which), outcomes.get_mut(which)) {
            sample(c, o, arena);
        }
    }
    before && calm()
}

/// Drops the numbers whose places are not wanted.
fn keep(numbers: &mut Vec<f64>, wanted: impl Fn(usize) -> bool) {
    let mut index = 0;
    numbers.retain(|_| {
        index += 1;
        wanted(index - 1)
    });
}

/// From this size on a contender is judged at one placement: smaller sizes have shown what depends on that.
const ONE_PLACE: usize = 16 << 20;

/// Runs a contender at two placements and asks its judge.
fn judge(contender: &mut Contender<'_>, outcome: &mut Outcome, arena: &mut Arena) {
    let Some(check) = &contender.check else { return };
    let places = if arena.split().1.len() < ONE_PLACE { 2 } else { 1 };
    for place in 0..places {
        arena.place(place);
        arena.spoil();
        let (src, dst) = arena.split();
        let judged = (contender.work)(src, dst).and_then(|written| {
            outcome.written = written;
            check(arena.written(written).ok_or("wrote more than its destination holds")?)
        });
        if let Err(why) = judged {
            outcome.samples = Err(why);
            return;
        }
    }
}

/// Times one run of each (the first after verification, so that code and memory are warm) and chooses how many make a
/// sample. Whether each is a sample by itself, and the machine was calm.
fn look(group: &mut Group<'_>, outcomes: &mut [Outcome], arena: &mut Arena, plan: &Plan) -> (bool, bool) {
    let calm = round(group, outcomes, arena, plan.visit);
    let mut long = true;
    for (contender, outcome) in group.contenders.iter_mut().zip(outcomes) {
        let Some(first) = outcome.samples.as_ref().ok().and_then(|s| s.first().copied()) else { continue };
        let wanted = plan.sample.as_nanos() as f64;
        if first >= wanted || contender.before.is_some() {
            continue;
        }
        long = false;
        let one = if contender.timer.is_some() {
            first.max(100.0)
        } else {
            again(contender, arena, plan.sample / 4)
        };
        outcome.iterations = ((wanted / one.max(1.0)) as u64).clamp(1, 1 << 24);
    }
    (long, calm)
}

/// Nanoseconds of a run, over some of them.
fn again(contender: &mut Contender<'_>, arena: &mut Arena, time: Duration) -> f64 {
    let (src, dst) = arena.split();
    let start = Instant::now();
    let mut runs = 0u32;
    while runs == 0 || (start.elapsed() < time && runs < 1 << 20) {
        let _ = (contender.work)(src, dst);
        runs += 1;
    }
    start.elapsed().as_nanos() as f64 / f64::from(runs)
}

fn sample(contender: &mut Contender<'_>, outcome: &mut Outcome, arena: &mut Arena) {
    let Ok(samples) = &mut outcome.samples else { return };
    if let Some(timer) = &mut contender.timer {
        match timer(outcome.iterations) {
            Ok(ns) => samples.push(ns / outcome.iterations as f64),
            Err(why) => outcome.samples = Err(why),
        }
        return;
    }
    let large = arena.is_large();
    let (src, dst) = arena.split();
    // Short work starts warm; long work evicts its own warmth anyway.
    if let Some(before) = &mut contender.before {
        before();
    } else if outcome.iterations > 1 {
        let _ = (contender.work)(src, dst);
    } else if large {
        arena::wash_caches();
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
                before: None,
                check: Some(check(source.clone())),
            })
            .collect();
        let mut group = Group { source: &source, room: 5000, bytes: 5000, contenders, stateless: true };
        let out = measure(&mut group, &Plan::QUICK, &|| false);
        assert!(out[0].samples.as_ref().is_ok_and(|s| !s.is_empty() && s.iter().all(|ns| *ns > 0.0)));
        assert_eq!(out[0].written, 5000);
        assert_eq!(out[1].samples, Err("differs".into()));
        assert!(out[1].speed_against(&out[0]).is_empty());
    }

    #[test]
    fn a_stop_keeps_what_is_done() {
        let source = vec![1; 64];
        let work = copy(false);
        let contenders =
            vec![Contender { role: Role::Subject, id: 0, work, timer: None, before: None, check: None }];
        let mut group = Group { source: &source, room: 64, bytes: 64, contenders, stateless: true };
        let out = measure(&mut group, &Plan::QUICK, &|| true);
        assert!(out.is_empty());
    }
}
