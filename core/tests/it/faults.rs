//! A chunk that is compressed touches no more memory than its own bytes and a mebibyte of scratch, whatever room its worst case
//! would take: counted in pages that the system had to find for this thread.

use crate::common::encodes;
use blosc_core::{Chunk, ChunkContext, Codec, Params, Pool, Runner, max_encoded_len};
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

/// The caller's threads, which work one after the other on this one, so that their pages are counted.
struct OneByOne;

impl Runner for OneByOne {
    fn run(&self, jobs: usize, job: &(dyn Fn(usize) + Sync)) {
        (0..jobs).for_each(job);
    }
}

/// Bytes that a chunk of `data` touches, made and read back into memory that is there, after one like it.
fn touched_again(params: &Params, data: &[u8]) -> usize {
    let mut pool = Pool::new(4).runner(Some(&OneByOne));
    let [mut room, mut back] = [vec![1; max_encoded_len(data.len())], vec![1; data.len()]];
    let mut before = 0;
    for _ in 0..2 {
        before = faults();
        let len = pool.compress_into(params, ChunkContext::default(), data, &mut room).unwrap();
        let chunk = Chunk::parse(&room[..len]).unwrap();
        assert!(chunk.nblocks() > 1 && chunk.header().has_streams());
        pool.decompress_into(&chunk, ChunkContext::default(), &mut back).unwrap();
        assert!(back == data);
    }
    (faults() - before) * 4096
}

#[test]
fn threads_find_the_scratch_memory_of_the_chunk_before() {
    let few = (0..8 * MIB).map(|i| (i / 4096) as u8 ^ (i as u8 & 3)).collect::<Vec<u8>>();
    for codec in [Codec::BloscLz, Codec::Lz4, Codec::Zlib, Codec::Zstd].into_iter().filter(|&c| encodes(c)) {
        let params = Params::new(4).codec(codec).level(1).shuffle().blocksize(Some(MIB as u32));
        let touched = touched_again(&params, &few);
        println!("{codec}: {touched} bytes touched");
        assert!(touched < MIB / 4, "{codec}: {touched}");
    }
    // Blocks that are this large leave nothing behind.
    if encodes(Codec::Lz4) {
        let large = (24 * MIB) as u32;
        let params = Params::new(4).codec(Codec::Lz4).level(1).shuffle().blocksize(Some(large));
        let many = (0..30 * MIB).map(|i| (i / 4096) as u8).collect::<Vec<u8>>();
        let touched = touched_again(&params, &many);
        assert!(touched > 24 * MIB, "{touched}");
    }
}
