//! Passes over jobs: a run keeps its time, and what its visits found is merged.

use blosc_bench::measure::{Plan, Setting};
use blosc_bench::result::{Row, Visit};
use blosc_bench::suite::choice::Job;
use blosc_bench::suite::passes::{Effort, Passes};
use std::time::{Duration, Instant};

const SETTING: fn() -> Setting = || Setting { arch: pulp::Arch::new(), timing: true };

/// Jobs of 20 ms: more than fit are left out and counted, fewer are visited again, and a job that does not end by itself is
/// told to stop.
#[test]
fn a_run_keeps_its_time_and_what_it_has() {
    let nap = Duration::from_millis(20);
    let job = || {
        Job::new("nap", 0.0, move |_: &Setting, plan: &Plan, _: &dyn Fn() -> bool| {
            std::thread::sleep(nap);
            row(plan.visit as f64 + 1.0)
        })
    };
    let patient = || {
        Job::new("patient", 0.0, |_: &Setting, _: &Plan, stop: &dyn Fn() -> bool| {
            while !stop() {
                std::thread::sleep(Duration::from_millis(1));
            }
            row(1.0)
        })
    };
    for (jobs, unreached) in [
        ((0..100).map(|_| job()).collect::<Vec<_>>(), 75..100),
        ((0..3).map(|_| job()).collect(), 0..1),
        (vec![patient()], 0..1),
    ] {
        let (effort, few) = (Effort::within(Duration::from_millis(400), jobs.len()), jobs.len() == 3);
        let begun = Instant::now();
        let mut passes = Passes::new(jobs);
        passes.run(&effort, &SETTING(), &|| false, |_| (), |_, _| Ok(false)).unwrap();
        assert!(begun.elapsed() <= effort.time.mul_f64(1.2), "{:?}", begun.elapsed());
        assert!(unreached.contains(&passes.unreached()), "{}", passes.unreached());
        let rows = passes.rows();
        assert!(!rows.is_empty() && rows.iter().all(|r| r.quartile_ns.is_some()));
        assert!(!few || rows.iter().all(|r| r.visits_ns.len() == 5));
    }
}

fn row(ns: f64) -> Vec<Row> {
    let visits = vec![Visit { ns: vec![ns], ..Visit::default() }];
    vec![Row { suite: "s".into(), op: "o".into(), bytes: 64, verified: true, visits, ..Row::default() }]
}

#[test]
fn visits_are_merged_and_a_refused_case_never_carries_a_time() {
    let job = |ns: [f64; 3], refuse: Option<usize>| {
        Job::new("", 0.0, move |_: &Setting, plan: &Plan, _: &dyn Fn() -> bool| {
            let rows = row(ns.get(plan.visit).copied().unwrap_or(9.0)).into_iter();
            match refuse == Some(plan.visit) {
                false => rows.collect(),
                true => {
                    let wrong =
                        |r| Row { refused: Some("wrong".into()), verified: false, visits: vec![], ..r };
                    rows.map(wrong).collect()
                }
            }
        })
    };
    let jobs = vec![job([3.0, 1.0, 2.0], None), job([1.0; 3], Some(0)), job([1.0; 3], Some(1))];
    let effort = Effort { passes: 3, ..Effort::QUICK };
    let mut passes = Passes::new(jobs);
    passes.run(&effort, &SETTING(), &|| false, |_| (), |_, _| Ok(false)).unwrap();
    let rows = passes.rows();
    assert_eq!((rows[0].quartile_ns, rows[0].visits_ns.len(), rows[0].rounds), (Some(1.5), 3, 3));
    assert!(rows[1..].iter().all(|r| r.refused.is_some() && r.quartile_ns.is_none() && !r.verified));
}
