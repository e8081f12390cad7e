//! The oracles can fail: each bound on resources, and the one on stale memory, on a target that is made to break that bound alone.

use blosc_frame::io::ReadAt;
use blosc_fuzz::primed::twice;
use blosc_fuzz::resources::{Bounds, Counted, Tally, allow, within, within_bounds};
use std::hint::black_box;
use std::panic::catch_unwind;
use std::time::Duration;

/// Whether it fails, and by which bound.
fn fails(target: impl FnOnce() + std::panic::UnwindSafe, bound: &str) {
    let panic = catch_unwind(target).expect_err("a bound that does not hold anything");
    let text = panic.downcast_ref::<String>().cloned();
    let text =
        text.or(panic.downcast_ref::<&str>().map(ToString::to_string)).expect("an assertion's message");
    assert!(text.contains(bound), "{text}");
}

const LEN: usize = 1000;

fn room() -> usize {
    Bounds::DEFAULT.memory + Bounds::DEFAULT.memory_per_byte * LEN
}

#[test]
fn memory_held_is_bounded() {
    let hold = |bytes: usize| drop(black_box(vec![1u8; bytes]));
    within(LEN, || hold(room()));
    within(LEN, || (allow(100_000), hold(room() + 100_000)).1);
    fails(|| within(LEN, || hold(room() + 1)), "bytes of memory");
    // What an earlier run was allowed, or held, does not count.
    fails(|| within(LEN, || hold(room() + 1)), "bytes of memory");
}

#[test]
fn growing_in_place_counts_as_holding() {
    let grow = || {
        let mut all = Vec::new();
        (0..=room() / 1000).for_each(|_| all.extend_from_slice(black_box(&[1; 1000])));
        black_box(&all);
    };
    fails(|| within(LEN, grow), "bytes of memory");
}

#[test]
fn memory_turned_over_is_bounded() {
    // Never much at a time; but once for each byte of input, as a parser does that copies what it has at each step.
    let step = |_| drop(black_box(vec![0u8; room() / 2]));
    within(LEN, || (0..100).for_each(step));
    fails(|| within(LEN, || (0..LEN).for_each(step)), "allocated in all");
}

/// Linear and quadratic work on the same input, under the same bounds in small: a target may take some time, and
/// some for each byte, and no more.
#[test]
fn time_that_grows_faster_than_the_input_fails() {
    let bounds = Bounds {
        time: Duration::from_millis(100),
        time_per_byte: Duration::from_nanos(100),
        ..Bounds::DEFAULT
    };
    let input = vec![1u8; 100_000];
    let sum = |bytes: &[u8]| bytes.iter().fold(0u64, |n, b| black_box(n + u64::from(*b)));
    let linear = || _ = black_box(sum(&input));
    let quadratic = || (0..input.len()).for_each(|k| _ = black_box(sum(&input[k..])));
    within_bounds(&bounds, input.len(), linear);
    fails(|| within_bounds(&bounds, input.len(), quadratic), "of CPU time");
    // Nor is a shorter input let off: it has 3 ms for its bytes.
    let short = &input[..30_000];
    let quadratic = || (0..short.len()).for_each(|k| _ = black_box(sum(&short[k..])));
    fails(|| within_bounds(&bounds, short.len(), quadratic), "of CPU time");
}

#[test]
fn sleeping_is_not_work() {
    let bounds = Bounds { time: Duration::from_millis(5), ..Bounds::DEFAULT };
    within_bounds(&bounds, 0, || std::thread::sleep(Duration::from_millis(50)));
}

#[test]
fn bytes_read_are_bounded() {
    let (data, tally) = ([7; 500], Tally::default());
    let source = Counted { data: &data, most: 10, tally: &tally };
    let mut buffer = [0; 500];
    let mut read_all = || {
        let mut at = 0;
        while at < data.len() {
            at += source.read_at(at as u64, &mut buffer).expect("a source in memory");
        }
    };
    read_all();
    source.check(1);
    (0..3).for_each(|_| read_all());
    fails(std::panic::AssertUnwindSafe(|| source.check(2)), "bytes read of");
}

#[test]
fn reads_of_few_bytes_are_bounded() {
    let (data, tally) = ([7; 500], Tally::default());
    let source = Counted { data: &data, most: 100, tally: &tally };
    for at in 0..500 {
        source.read_at(at, &mut [0]).expect("a source in memory");
    }
    fails(std::panic::AssertUnwindSafe(|| source.check(1)), "reads of 500 bytes");
}

#[test]
fn what_memory_held_before_shows() {
    fails(|| drop(twice(|before| before.bytes(3))), "what memory held before");
    // A decoder that answers with what it decoded the time before, as a context that keeps a dictionary may.
    let mut kept = 0;
    let mut stale = || twice(|_| std::mem::replace(&mut kept, 1));
    fails(std::panic::AssertUnwindSafe(|| _ = stale()), "what memory held before");
    assert_eq!(twice(|before| before.bytes(3).len()), 3);
}
