//! Data for the codec tests: a small generator and buffers of many kinds, the same on every machine.
#![allow(dead_code, unused_imports)] // examples use a part of it

use blosc_core::Codec;
#[cfg(feature = "alloc")]
use blosc_core::Pool;
pub use blosc_testkit::{Random as Rng, count, emulated};

/// Codecs that this build writes.
pub fn encoders() -> Vec<Codec> {
    let all = [Codec::BloscLz, Codec::Lz4, Codec::Lz4Hc, Codec::Zlib, Codec::Zstd];
    all.into_iter().filter(|&codec| encodes(codec)).collect()
}

/// Whether this build writes streams of `codec`.
pub fn encodes(codec: Codec) -> bool {
    match codec {
        Codec::BloscLz => cfg!(feature = "blosclz"),
        Codec::Lz4 | Codec::Lz4Hc => cfg!(feature = "lz4"),
        Codec::Zlib => cfg!(feature = "zlib"),
        Codec::Zstd => cfg!(feature = "zstd-c"),
        other => panic!("whether {other} is written is not known here"),
    }
}

/// A pool of the caller's threads, which work on chunks that are too small for a thread to be started.
#[cfg(feature = "alloc")]
pub fn pool(threads: usize) -> Pool {
    #[cfg(feature = "std")]
    {
        struct Scoped;
        impl blosc_core::Runner for Scoped {
            fn run(&self, jobs: usize, job: &(dyn Fn(usize) + Sync)) {
                std::thread::scope(|scope| {
                    (0..jobs).for_each(|number| drop(scope.spawn(move || job(number))))
                });
            }
        }
        Pool::new(threads).runner(Some(&Scoped))
    }
    #[cfg(not(feature = "std"))]
    Pool::new(threads)
}

/// Named buffers of `len` bytes: from constant to random, with the shapes filters leave behind.
pub fn kinds(len: usize) -> Vec<(&'static str, Vec<u8>)> {
    let mut rng = Rng::new(42);
    let words: Vec<Vec<u8>> =
        (0..200).map(|_| (0..1 + rng.below(9)).map(|_| b'a' + rng.below(26) as u8).collect()).collect();
    let mut text = Vec::new();
    while text.len() < len {
        let i = rng.below(200) * rng.below(200) / 200;
        text.extend_from_slice(&words[i]);
        text.push(b' ');
    }
    text.truncate(len);
    let random = (0..len).map(|_| rng.next() as u8).collect();
    let skewed = (0..len).map(|_| (rng.next() as u8 & rng.next() as u8 & rng.next() as u8) % 50).collect();
    let floats: Vec<u8> =
        (0..len / 4 + 1).flat_map(|i| ((i as f32 * 0.01).sin() * 100.0).to_le_bytes()).take(len).collect();
    let planes: Vec<u8> = (0..4).flat_map(|p| floats.iter().copied().skip(p).step_by(4)).take(len).collect();
    let integers =
        (0..len / 8 + 1).flat_map(|i| (i as u64 * 3 + 1_700_000_000).to_le_bytes()).take(len).collect();
    let mut runs = Vec::new();
    while runs.len() < len {
        let (n, byte) = (1 + rng.below(100), rng.below(4) as u8 * 17);
        runs.extend(std::iter::repeat_n(byte, n));
    }
    runs.truncate(len);
    let periodic = (0..len).map(|i| (i % 7 * 31 + i / 1000) as u8).collect();
    let zeros = vec![0; len];
    let mut mixed = Vec::new();
    while mixed.len() < len {
        let n = 1 + rng.below(5000);
        match rng.below(4) {
            0 => mixed.extend(std::iter::repeat_n(7, n)),
            1 => mixed.extend((0..n).map(|_| rng.next() as u8)),
            2 if mixed.len() > 10 => {
                let from = rng.below(mixed.len());
                let n = n.min(mixed.len() - from);
                mixed.extend_from_within(from..from + n);
            }
            _ => mixed.extend((0..n).map(|_| rng.next() as u8 & 15)),
        }
    }
    mixed.truncate(len);
    vec![
        ("zeros", zeros),
        ("runs", runs),
        ("periodic", periodic),
        ("text", text),
        ("floats", floats),
        ("planes", planes),
        ("integers", integers),
        ("skewed", skewed),
        ("mixed", mixed),
        ("random", random),
    ]
}
