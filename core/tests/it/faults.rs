//! A chunk that is compressed touches no more memory than its own bytes and a mebibyte of scratch, whatever room its worst case
//! would take: counted in pages that the system had to find for this thread.

use crate::common::encodes;
use blosc_core::{Codec, Params, Pool};
use blosc_testkit::Random;

const MIB: usize = 1 << 20;

/// Pages found for this thread so far.
fn faults() -> usize {
    // SAFETY: a structure of integers may be all zeros.
    let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
    // SAFETY: `usage` lives across the call, which fills it in.
    let done = unsafe { libc::getrusage(libc::RUSAGE_THREAD, &mut usage) };
    assert_eq!(done, 0);
    usize::try_from(usage.ru_minflt).unwrap()
}

#[test]
fn no_worst_case_is_touched() {
    let len = 96 * MIB;
    let mut random = Random(3);
    let noise = (0..len / 8).flat_map(|_| random.next().to_le_bytes()).collect::<Vec<u8>>();
    let runs = (0..len).map(|i| (i / 4096) as u8).collect::<Vec<u8>>();
    // Written, so that reading it finds no new page: memory that is asked for as zeros is not there yet.
    let mut zeros = std::hint::black_box(vec![1; len]);
    zeros.fill(0);
    let mut pool = Pool::new(1);
    for codec in [Codec::BloscLz, Codec::Lz4, Codec::Zstd].into_iter().filter(|&codec| encodes(codec)) {
        let params = Params::new(4).codec(codec).level(1).shuffle();
        // The pool's scratch memory is there by now.
        let _ = pool.compress(&params, &noise[..MIB]).unwrap();
        for (name, data) in [("zeros", &zeros), ("runs", &runs), ("noise", &noise)] {
            let before = faults();
            let chunk = pool.compress(&params, data).unwrap();
            let touched = (faults() - before) * 4096;
            println!("{codec} {name}: {touched} bytes touched, {} result", chunk.len());
            assert!(touched <= chunk.len() + MIB, "{codec} {name}: {touched} for {} bytes", chunk.len());
            assert!(chunk.capacity() <= chunk.len() + MIB, "{codec} {name}: {} reserved", chunk.capacity());
        }
    }
}
