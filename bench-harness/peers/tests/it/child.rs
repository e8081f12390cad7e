//! The library in another process: same answers as here, and a crash is one more kind of answer.

use crate::support;

use blosc_peers::CParams;
use blosc_peers::child::{Answer, Remote};
use support::{Case, blosc2};

#[test]
fn answers_are_those_of_the_library_itself() {
    let Some(lib) = blosc2() else { return };
    let mut remote = Remote::new(env!("CARGO_BIN_EXE_blosc-oracle"));
    for seed in 0..20 {
        let case = Case::random(seed);
        let params = CParams { nthreads: 1, ..case.params };
        let mut chunk = vec![0; case.data.len() + 32];
        let here = lib.compressor(&params).unwrap().compress(&case.data, &mut chunk);
        let there = remote.encode(&params, &case.data).unwrap();
        let Ok(len) = here else {
            assert!(matches!(there, Answer::Refused(_)), "seed {seed}: {there:?}");
            continue;
        };
        chunk.truncate(len);
        let Answer::Done(bytes) = there else { panic!("seed {seed}: {there:?}") };
        assert!(bytes == chunk, "seed {seed}");
        let mut out = vec![0; case.data.len()];
        let here = lib.decompressor(1).unwrap().decompress(&chunk, &mut out);
        match (here, remote.decode(&chunk, out.len() as u32).unwrap()) {
            (Ok(n), Answer::Done(bytes)) => assert!(bytes == out[..n], "seed {seed}"),
            (Ok(_), Answer::Gaps { .. }) => {}
            (Err(code), there) => assert_eq!(there, Answer::Refused(code), "seed {seed}"),
            (Ok(_), there) => panic!("seed {seed}: {there:?}"),
        }
    }
}

#[test]
fn a_process_that_dies_is_a_crash_and_is_started_again() {
    // A program that answers nothing and ends at once stands for one that crashes.
    let mut remote = Remote::new("true");
    for _ in 0..2 {
        assert!(matches!(remote.decode(&[0; 32], 10), Ok(Answer::Crashed(_))));
    }
    assert!(Remote::new("no such program").decode(&[], 0).is_err());
}

#[test]
fn a_restarted_process_answers_again() {
    // `cat` says back what it is asked: for these nine bytes that is an answer of one byte.
    let mut remote = Remote::new("cat");
    for _ in 0..3 {
        assert_eq!(remote.decode(&[], 1 << 24).unwrap(), Answer::Done(vec![0]));
        remote.restart();
        remote.restart();
    }
}
