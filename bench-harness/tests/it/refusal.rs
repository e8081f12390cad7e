//! Nothing wrong is ever timed: with one byte of every result flipped, every case of ours is refused.

use blosc_bench::data::generate::random_bytes;
use blosc_bench::engine::Filters;
use blosc_bench::measure::arena::Arena;
use blosc_bench::measure::candidate::{Candidate, Work};
use blosc_bench::measure::check::expect;
use blosc_bench::measure::rounds::visit;
use blosc_bench::measure::{Plan, Setting};
use blosc_bench::result::Row;
use blosc_bench::suite::choice::Choice;
use blosc_bench::suite::{chunks, kernels, quick};
use blosc_core::Codec;

fn run(corrupt: bool) -> Vec<Row> {
    let data = blosc_bench::data::corpus::REAL.iter().map(|r| r.array()).take(3).collect();
    let choice = Choice {
        typesizes: vec![1, 3, 8],
        sizes: vec![1000, 16 << 10],
        data,
        array_sizes: vec![20_000],
        codecs: vec![Codec::BloscLz, Codec::Lz4],
        filters: vec![Filters::Shuffle, Filters::BitShuffle],
        levels: vec![5],
        corrupt,
        ..Choice::default()
    };
    let setting = Setting { arch: pulp::Arch::new(), timing: true };
    let mut jobs = kernels::jobs("kernels", &choice);
    jobs.extend(kernels::jobs("split", &choice));
    jobs.extend(chunks::jobs(&choice));
    jobs.into_iter().flat_map(|mut job| (job.run)(&setting, &Plan::QUICK, &|| false)).collect()
}

#[test]
fn a_wrong_kernel_or_codec_is_never_timed() {
    let rows = run(true);
    let ours: Vec<&Row> = rows.iter().filter(|r| r.engine == "ours").collect();
    assert!(ours.len() > 40);
    for row in ours {
        assert!(!row.verified && row.quartile_ns.is_none() && row.gbps.is_none(), "{}", row.label());
        assert!(row.refused.as_ref().is_some_and(|why| why.starts_with("wrong")), "{:?}", row.refused);
    }
}

/// Nothing else lets a wrong kernel into the quick run.
#[test]
fn the_quick_run_refuses_too() {
    let choice = Choice { corrupt: true, ..Choice::default() };
    let setting = Setting { arch: pulp::Arch::new(), timing: true };
    let plan = Plan { max_rounds: 1, min_rounds: 1, ..Plan::QUICK };
    let mut jobs = quick::jobs(&choice);
    jobs.retain(|job| job.label != "kernels, 64M");
    let rows: Vec<Row> = jobs.into_iter().flat_map(|mut job| (job.run)(&setting, &plan, &|| false)).collect();
    let ours: Vec<&Row> = rows.iter().filter(|r| r.engine == "ours").collect();
    assert!(ours.len() > 200, "{}", ours.len());
    let accepted: Vec<String> = ours.iter().filter(|r| r.refused.is_none()).map(|r| r.label()).collect();
    // Another distance in a chunk may lead to the same bytes: such a chunk is right.
    assert!(accepted.len() < 5 && accepted.iter().all(|l| l.starts_with("compress")), "{accepted:?}");
}

#[test]
fn right_ones_are_timed() {
    for row in run(false) {
        assert!(
            row.verified && row.quartile_ns.is_some_and(|ns| ns > 0.0),
            "{}: {:?}",
            row.label(),
            row.refused
        );
        assert!(row.engine != "ours" || row.vs_copy.is_some_and(|x| x > 0.0));
    }
}

fn copy(flip: bool) -> Work<'static> {
    Box::new(move |src, dst| {
        dst[..src.len()].copy_from_slice(src);
        dst[src.len() / 2] ^= u8::from(flip);
        Ok(src.len())
    })
}

#[test]
fn a_wrong_candidate_is_refused_and_the_right_one_timed() {
    let source = random_bytes(5000);
    let candidate = |flip| Candidate::new(Row::default(), copy(flip), expect(&source));
    let mut both = [candidate(false), candidate(true)];
    let mut arena = Arena::new(&source, 5000, 0).unwrap();
    visit(&mut both, &mut arena, true, &Plan::QUICK, &|| false);
    assert!(both[0].visit.ns.len() > 1 && both[0].visit.ns.iter().all(|ns| *ns > 0.0));
    assert_eq!((both[0].written, &both[0].row.refused), (5000, &None));
    assert!(both[1].visit.ns.is_empty() && both[1].row.refused.is_some());
}

#[test]
fn a_stop_keeps_what_is_done() {
    let source = vec![1; 64];
    let mut one = [Candidate::new(Row::default(), copy(false), expect(&source))];
    visit(&mut one, &mut Arena::new(&source, 64, 0).unwrap(), true, &Plan::QUICK, &|| true);
    assert!(one[0].visit.ns.is_empty());
}
