//! The engine that ships as a Python program speaks the protocol and is checked like every other. Needs a
//! Python with the package blosc2: the environment variable `BLOSC_PYTHON`.

use blosc_bench::engine::Filters;
use blosc_bench::engine::external::External;
use blosc_bench::measure::{Plan, Setting};
use blosc_bench::suite::choice::Choice;
use blosc_bench::suite::chunks;
use blosc_core::Codec;
use std::rc::Rc;

#[test]
fn python_blosc2_is_timed_by_itself_and_verified_by_us() {
    let Some(python) = std::env::var_os("BLOSC_PYTHON") else {
        println!("skipped: BLOSC_PYTHON names no Python with the package blosc2");
        return;
    };
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/engines/python_blosc2.py");
    let engine = External::start(&format!("{} {script}", python.to_string_lossy())).unwrap();
    let choice = Choice {
        data: blosc_bench::data::corpus::REAL.iter().map(|r| r.array()).take(2).collect(),
        codecs: vec![Codec::Lz4, Codec::Zstd],
        filters: vec![Filters::Shuffle],
        levels: vec![5],
        engines: vec![Rc::new(engine)],
        ..Choice::default()
    };
    let setting = Setting { arch: pulp::Arch::new(), timing: true };
    let rows: Vec<_> = chunks::jobs(&choice)
        .into_iter()
        .flat_map(|mut job| (job.run)(&setting, &Plan::QUICK, &|| false))
        .collect();
    let theirs: Vec<_> = rows.iter().filter(|r| r.engine.starts_with("python-blosc2")).collect();
    assert_eq!(theirs.len(), 2 * 2 * 2);
    for row in &theirs {
        assert!(row.verified && row.quartile_ns.is_some_and(|ns| ns > 1000.0), "{:?}", row.refused);
    }
    assert!(rows.iter().filter(|r| r.engine == "ours").all(|r| r.vs_peer.is_some_and(|x| x > 0.0)));
}

#[test]
fn a_program_that_is_not_an_engine_is_refused_in_one_line() {
    for command in ["true", "cat", "no-such-program-anywhere", ""] {
        let Err(why) = External::start(command) else { panic!("{command} was taken for an engine") };
        assert_eq!(why.lines().count(), 1, "{why}");
    }
}
