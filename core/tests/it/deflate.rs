//! The crate's own zlib encoder: round trips through our decoder and zlib-rs, room, sizes.

use crate::common;

use blosc_core::codec::zlib::{self, deflate};
use common::{Rng, count, emulated, kinds};

/// Stands for [`deflate::encode_quick`] among the levels.
const QUICK: u8 = 0;
const FIRST: u8 = if cfg!(feature = "std") { QUICK } else { 1 };

/// The stream of `src`, written to exactly `room` bytes.
fn packed(src: &[u8], level: u8, room: usize, scratch: u8) -> Option<Vec<u8>> {
    let work_len = match level {
        #[cfg(feature = "std")]
        QUICK => deflate::quick_work_len(src.len()),
        _ => deflate::work_len(level, src.len()),
    };
    let (mut work, mut dst) = (vec![scratch; work_len], vec![0xEE; room + 32]);
    let len = match level {
        #[cfg(feature = "std")]
        QUICK => deflate::encode_quick(src, &mut dst[..room], &mut work),
        _ => deflate::encode(src, &mut dst[..room], level, &mut work),
    };
    assert!(dst[room..].iter().all(|b| *b == 0xEE), "wrote behind the destination");
    len.map(|len| dst[..len].to_vec())
}

fn unpacked(stream: &[u8], len: usize) -> Vec<u8> {
    let mut out = vec![0; len];
    zlib::decode(stream, (&mut out[..]).into(), &mut vec![0; zlib::DECODE_WORK_LEN]).expect("our own stream");
    out
}

/// Enough for a stream that does not shrink: the fixed codes, which are all that [`QUICK`] has, are of nine bits at most.
fn ample(len: usize, level: u8) -> usize {
    let more = if level == QUICK { 8 } else { 1000 };
    len + len / more + 64
}

/// Writes `src` at `level` whatever the scratch held, to room that just suffices, and to none that does not.
fn holds(name: &str, src: &[u8], level: u8) -> usize {
    let stream = packed(src, level, ample(src.len(), level), 0).expect("there is room");
    assert!(unpacked(&stream, src.len()) == src, "{name} level {level} len {}", src.len());
    assert_eq!(
        packed(src, level, stream.len(), 0xFF).as_ref(),
        Some(&stream),
        "{name} level {level}: scratch or room"
    );
    assert_eq!(packed(src, level, stream.len() - 1, 0x55), None, "{name} level {level}: too little room");
    #[cfg(feature = "std")]
    {
        let mut out = vec![0; src.len()];
        let (got, code) = zlib_rs::decompress_slice(&mut out, &stream, zlib_rs::InflateConfig::default());
        assert!(code == zlib_rs::ReturnCode::Ok && got == src, "{name} level {level}: zlib-rs {code:?}");
    }
    stream.len()
}

#[test]
fn every_level_and_kind_of_data() {
    // More than two windows at least.
    for (name, data) in kinds(if emulated() { 70 << 10 } else { 300 << 10 }) {
        for level in FIRST..=9 {
            holds(name, &data, level);
        }
    }
}

#[test]
fn every_short_length() {
    for (name, data) in kinds(300) {
        for len in 0..data.len() {
            holds(name, &data[..len], FIRST + (len % 9) as u8);
        }
    }
}

/// Lengths around the longest match, distances around the window, and histograms that make long codes.
#[test]
fn limits_of_the_format() {
    let mut rng = Rng::new(11);
    let noise: Vec<u8> = (0..70_000).map(|_| rng.next() as u8).collect();
    for level in [FIRST, 1, 3, 5, 6, 9] {
        for run in (255..=264).chain([515, 516, 517, 518, 519, 775]) {
            let src = [&noise[..40], &vec![7; run], &noise[..40]].concat();
            holds("run", &src, level);
        }
        for distance in [32766, 32767, 32768, 32769, 65535, 65536, 65537] {
            let src = [&noise[..distance], &noise[..300]].concat();
            holds("distance", &src, level);
        }
        // Fibonacci's numbers: without a limit the rarest of these bytes would have codes of 22 bits.
        let (mut a, mut b, mut src) = (1usize, 1usize, Vec::new());
        for symbol in 0..23u8 {
            src.extend((0..a).map(|_| symbol));
            (a, b) = (b, a + b);
        }
        for at in 0..src.len() {
            src.swap(at, rng.below(at + 1));
        }
        holds("rare", &src, level);
    }
}

/// Four symbols at random, as in sequences of bases: matches everywhere, few of which are worth their bits.
#[test]
fn megabytes_of_matches_that_save_nothing() {
    let mut rng = Rng::new(3);
    let len = if emulated() { 1 << 20 } else { 9 << 20 };
    let bases: Vec<u8> = (0..len).map(|_| b"ACGT"[rng.below(4)]).collect();
    for level in [1, 3] {
        let len = holds("bases", &bases, level);
        assert!(len < bases.len() * 29 / 100, "level {level}: {len} bytes");
    }
}

/// Several blocks whose codes have nothing in common, and one that is longer than a stored block.
#[test]
fn blocks_end_where_the_data_changes() {
    let mut rng = Rng::new(5);
    let noise: Vec<u8> = (0..200_000).map(|_| rng.next() as u8).collect();
    let low: Vec<u8> = noise.iter().map(|b| b & 7).collect();
    let high: Vec<u8> = noise.iter().rev().map(|b| 0xF8 | b & 7).collect();
    for level in (1..=9).step_by(if emulated() { 4 } else { 1 }) {
        // Three bits a byte in both halves; with one code for both they would take four.
        let both = holds("halves", &[&low[..], &high[..]].concat(), level);
        assert!(both < 2 * 200_000 * 13 / 32, "level {level}: {both} bytes");
        let stored = holds("noise", &noise, level);
        assert!(stored <= 200_000 + 128, "level {level}: {stored} bytes");
    }
}

#[test]
fn random_mixtures() {
    for n in 0..count(20_000) {
        let mut rng = Rng::new(n as u64);
        let pieces = kinds(1 + rng.below(3000));
        let mut src = Vec::new();
        for _ in 0..1 + rng.below(4) {
            src.extend_from_slice(&pieces[rng.below(pieces.len())].1);
        }
        holds("mixture", &src, 1 + rng.below(9) as u8);
    }
}

/// Scratch that is too short is refused.
#[test]
fn scratch_too_short() {
    for level in 1..=9 {
        let mut work = vec![0; deflate::work_len(level, 1000) - 1];
        assert_eq!(deflate::encode(&[1; 1000], &mut [0; 2000], level, &mut work), None);
    }
}

/// On planes our streams are not larger than zlib-rs's at the same level.
#[cfg(feature = "std")]
#[test]
fn no_larger_than_zlib_rs_on_planes() {
    let data = kinds(256 << 10);
    let planes = &data.iter().find(|(name, _)| *name == "planes").expect("a kind of data").1;
    for level in 1..=9 {
        let mut dst = vec![0; ample(planes.len(), level)];
        let config = zlib_rs::DeflateConfig { level: level.into(), ..Default::default() };
        let theirs = zlib_rs::compress_slice(&mut dst, planes, config).0.len();
        let ours = packed(planes, level, ample(planes.len(), level), 0).expect("there is room").len();
        assert!(100 * ours <= 101 * theirs, "level {level}: {ours} bytes, zlib-rs {theirs}");
    }
}
