//! A run keeps its time: whole suites, which say before they start what they need and what they did not reach; and passes over jobs,
//! whose visits are merged.

use blosc_bench::measure::{Plan, Setting};
use blosc_bench::result::{Row, Visit};
use blosc_bench::suite::SUITES;
use blosc_bench::suite::choice::Job;
use blosc_bench::suite::passes::{Effort, Passes};
use std::process::Command;
use std::time::{Duration, Instant};

#[test]
fn every_suite_keeps_a_short_time_and_has_rows() {
    let folder = std::env::temp_dir().join(format!("blosc-bench-time-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let out = folder.join("rows.jsonl");
    for suite in &SUITES {
        let mut command = Command::new(env!("CARGO_BIN_EXE_blosc-bench"));
        command.args(["run", "--suite", suite.name, "--time", "2", "--out"]).arg(&out);
        command.args(["--size", "64K", "--data", "ecg,elevation", "--codec", "lz4", "--level", "5"]);
        let begun = Instant::now();
        let done = command.output().unwrap();
        let took = begun.elapsed();
        let told = String::from_utf8_lossy(&done.stdout).into_owned();
        println!("{}: {took:?}", suite.name);
        assert!(done.status.success(), "{}: {told}{}", suite.name, String::from_utf8_lossy(&done.stderr));
        let results = blosc_bench::result::file::read(&out).unwrap();
        let timed = results.rows.iter().filter(|r| r.suite == suite.name && r.quartile_ns.is_some()).count();
        // Beside the time: the program starts, looks at the machine, and works through a debug build's longest visit.
        assert!(took.as_secs_f64() < 1.2 * 2.0 + 2.0, "{}: {took:?}", suite.name);
        assert!(timed > 0, "{}: {told}", suite.name);
        assert_eq!(results.complete, !told.contains("not reached in this time"), "{}: {told}", suite.name);
    }
    std::fs::remove_dir_all(folder).unwrap();
}

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
