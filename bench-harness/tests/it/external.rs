//! The engine that ships as a Python program speaks the protocol and is checked like every other. Needs a
//! Python with the package blosc2: the environment variable `BLOSC_PYTHON`.

use blosc_bench::engine::Filters;
use blosc_bench::engine::external::External;
use blosc_bench::measure::{Plan, Setting};
use blosc_bench::result::Row;
use blosc_bench::suite::choice::Choice;
use blosc_bench::suite::chunks;
use blosc_core::Codec;
use std::rc::Rc;

/// Rows of this library and an engine: some real arrays, LZ4 and Zstandard after a shuffle.
fn measured(engine: External, arrays: usize) -> Vec<Row> {
    let choice = Choice {
        data: blosc_bench::data::corpus::REAL.iter().map(|r| r.array()).take(arrays).collect(),
        codecs: vec![Codec::Lz4, Codec::Zstd],
        filters: vec![Filters::Shuffle],
        levels: vec![5],
        engines: vec![Rc::new(engine)],
        ..Choice::default()
    };
    let setting = Setting { arch: pulp::Arch::new(), timing: true };
    let jobs = chunks::jobs(&choice).into_iter();
    jobs.flat_map(|mut job| (job.run)(&setting, &Plan::QUICK, &|| false)).collect()
}

#[test]
fn python_blosc2_is_timed_by_itself_and_verified_by_us() {
    let Some(python) = std::env::var_os("BLOSC_PYTHON") else {
        println!("skipped: BLOSC_PYTHON names no Python with the package blosc2");
        return;
    };
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/engines/python_blosc2.py");
    let engine = External::start(&format!("{} {script}", python.to_string_lossy())).unwrap();
    let rows = measured(engine, 2);
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

/// Its chunks are zlib's streams, which no Blosc reads; with `lost` bytes less in them than there should be.
fn own_format(lost: usize) -> Option<External> {
    let engines = concat!(env!("CARGO_MANIFEST_DIR"), "/engines");
    let script = format!(
        "import sys, zlib\nsys.path.insert(0, {engines:?})\nfrom protocol import serve\n\
         write = lambda data: zlib.compress(data[{lost}:], 1)\n\
         serve('zlib 1 own', lambda command, _: write if command == 'compress' else zlib.decompress)\n"
    );
    let path = std::env::temp_dir().join(format!("blosc-bench-own-{lost}-{}.py", std::process::id()));
    std::fs::write(&path, script).unwrap();
    let started = External::start(&format!("python3 -B {}", path.display()));
    std::fs::remove_file(path).unwrap();
    started.ok()
}

#[test]
fn an_engine_with_a_format_of_its_own_is_judged_by_what_it_reads() {
    let (Some(right), Some(wrong)) = (own_format(0), own_format(1)) else {
        println!("skipped: no python3");
        return;
    };
    let theirs = |engine| {
        let rows = measured(engine, 1).into_iter().filter(|r| r.engine == "zlib 1").collect::<Vec<_>>();
        assert_eq!(rows.len(), 2 * 2, "both directions of two codecs");
        rows
    };
    let timed = |r: &Row| r.verified && r.quartile_ns.is_some() && r.ratio.is_some_and(|x| x > 1.0);
    let rows = theirs(right);
    assert!(rows.iter().all(timed), "{:?}", rows.iter().map(|r| &r.refused).collect::<Vec<_>>());
    assert!(theirs(wrong).iter().all(|r| r.refused.is_some() && r.quartile_ns.is_none()));
}
