//! One visit: judges candidates, then times them in rounds.

use super::arena::{self, Arena};
use super::canary::Canary;
use super::candidate::Candidate;
use super::{Plan, cycles};
use std::cell::RefCell;
use std::time::{Duration, Instant};

thread_local! {
    static CANARY: RefCell<Canary> = RefCell::default();
}

/// How many times its budget a visit may take where rounds are disturbed.
const PATIENCE: u32 = 3;

/// From this size on a candidate is judged at one placement: smaller sizes have shown what depends on that.
const ONE_PLACE: usize = 16 << 20;

/// Verifies, then times, and leaves what was found in the candidates. `stateless` ones keep no memory between runs: a long
/// run needs no other before it to be timed. `stop` ends the rounds early; what was measured until then is kept.
pub fn visit(
    candidates: &mut [Candidate<'_>],
    arena: &mut Arena,
    stateless: bool,
    plan: &Plan,
    stop: &dyn Fn() -> bool,
) {
    let mut rounds: Vec<bool> = Vec::with_capacity(plan.max_rounds);
    let started = Instant::now();
    if plan.verify {
        for candidate in candidates.iter_mut() {
            if stop() {
                return;
            }
            judge(candidate, arena);
        }
    }
    // Where every run is a sample by itself, the look at how long they take is the first round.
    let (long, calm) = look(candidates, arena, plan);
    if long && stateless {
        rounds.push(calm);
    } else {
        candidates.iter_mut().for_each(|c| c.visit.clear());
    }
    while rounds.len() < plan.max_rounds {
        let (taken, quiet) = (started.elapsed(), rounds.iter().filter(|calm| **calm).count());
        let patient = quiet < plan.min_rounds && taken < plan.budget * PATIENCE;
        if stop() || (rounds.len() >= plan.min_rounds && taken > plan.budget && !patient) {
            break;
        }
        arena.place(rounds.len());
        let calm = round(candidates, arena, rounds.len());
        rounds.push(calm);
    }
    // Too few calm rounds: all are kept.
    if rounds.iter().filter(|calm| **calm).count() >= plan.min_rounds {
        candidates.iter_mut().for_each(|c| c.visit.keep(&rounds));
    }
}

/// Times each candidate once, beginning with another one each round; whether the machine was calm.
fn round(candidates: &mut [Candidate<'_>], arena: &mut Arena, round: usize) -> bool {
    let calm = || CANARY.with_borrow_mut(Canary::calm);
    let before = calm();
    let first = round % candidates.len().max(1);
    let (last, next) = candidates.split_at_mut(first);
    next.iter_mut().chain(last).for_each(|candidate| sample(candidate, arena));
    before && calm()
}

/// Runs a candidate at two placements and asks its judge.
fn judge(candidate: &mut Candidate<'_>, arena: &mut Arena) {
    let Some(check) = &candidate.check else { return };
    let places = if arena.split().1.len() < ONE_PLACE { 2 } else { 1 };
    for place in 0..places {
        arena.place(place);
        arena.overwrite();
        let (src, dst) = arena.split();
        let judged = (candidate.work)(src, dst).and_then(|written| {
            candidate.written = written;
            check(arena.written(written).ok_or("wrote more than its destination holds")?)
        });
        if let Err(why) = judged {
            return candidate.refuse(why);
        }
    }
}

/// Times one run of each (the first after verification, so that code and memory are warm) and chooses how many make a
/// sample. Whether each is a sample by itself, and the machine was calm.
fn look(candidates: &mut [Candidate<'_>], arena: &mut Arena, plan: &Plan) -> (bool, bool) {
    let calm = round(candidates, arena, plan.visit);
    let mut long = true;
    for candidate in candidates.iter_mut().filter(|c| c.runs()) {
        let Some(first) = candidate.visit.ns.first().copied() else { continue };
        let wanted = plan.sample.as_nanos() as f64;
        if first >= wanted || candidate.before.is_some() {
            continue;
        }
        long = false;
        let one = match candidate.timer {
            Some(_) => first.max(100.0),
            None => again(candidate, arena, plan.sample / 4),
        };
        candidate.row.iterations = ((wanted / one.max(1.0)) as u64).clamp(1, 1 << 24);
    }
    (long, calm)
}

/// Nanoseconds of a run, over some of them.
fn again(candidate: &mut Candidate<'_>, arena: &mut Arena, time: Duration) -> f64 {
    let (src, dst) = arena.split();
    let start = Instant::now();
    let mut runs = 0u32;
    while runs == 0 || (start.elapsed() < time && runs < 1 << 20) {
        let _ = (candidate.work)(src, dst);
        runs += 1;
    }
    start.elapsed().as_nanos() as f64 / f64::from(runs)
}

fn sample(candidate: &mut Candidate<'_>, arena: &mut Arena) {
    if !candidate.runs() {
        return;
    }
    let iterations = candidate.row.iterations;
    if let Some(timer) = &mut candidate.timer {
        match timer(iterations) {
            Ok(ns) => candidate.visit.ns.push(ns / iterations as f64),
            Err(why) => candidate.refuse(why),
        }
        return;
    }
    let large = arena.is_large();
    let (src, dst) = arena.split();
    // Short work starts warm; long work evicts its own warmth anyway.
    if let Some(before) = &mut candidate.before {
        before();
    } else if iterations > 1 {
        let _ = (candidate.work)(src, dst);
    } else if large {
        arena::wash_caches();
    }
    let before = cycles::now();
    let start = Instant::now();
    for _ in 0..iterations {
        std::hint::black_box((candidate.work)(std::hint::black_box(src), std::hint::black_box(dst))).ok();
    }
    let ns = start.elapsed().as_nanos() as f64;
    let count = cycles::now().zip(before).and_then(|(after, before)| after.checked_sub(before));
    candidate.visit.ns.push(ns / iterations as f64);
    candidate.visit.counts.extend(count.map(|n| n as f64 / iterations as f64));
}
