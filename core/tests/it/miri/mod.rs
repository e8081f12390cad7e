//! Small inputs through every pointer loop: what Miri can execute in minutes, and ordinary tests elsewhere.
//!
//! ```text
//! codecs      encode, decode into exactly as much memory, decode damaged and cut streams
//! loops       LZ4 and BloscLZ streams made for each loop of the decoders, at two alignments
//! kernels     split, join and bit transposition of every level, sources and destinations on the heap to the byte
//! vectors     the small fixtures, whole and damaged
//! chunks      codec x filter, threads, dictionaries, variable-length blocks, uninitialised destinations
//! push        chunks in pieces, in exactly the memory that they need, and over themselves
//! ```
//! Sources and destinations are boxed slices of exactly the length that the format gives them, so that Miri sees a read or
//! write of one byte too many. `.ci/miri` says how Miri is called.

mod chunks;
mod kernels;
mod loops;
mod push;

use crate::common::Rng;
use blosc_core::Out;
use blosc_core::codec::{blosclz, lz4, lz4hc, ndlz, snappy, zlib, zstd};

/// Damaged streams of each length and level.
const DAMAGES: usize = if cfg!(miri) { 2 } else { 40 };

/// Literals, runs, near and far repetitions, and bytes of few values.
fn mixed(seed: u64, len: usize) -> Vec<u8> {
    let mut rng = Rng::new(seed + 7);
    let mut v: Vec<u8> = Vec::new();
    while v.len() < len {
        let most = if rng.below(6) == 0 { 300 } else { 30 };
        let n = rng.below(most) + 1;
        match rng.below(4) {
            0 => (0..n).for_each(|_| v.push(rng.next() as u8)),
            1 if !v.is_empty() => {
                let d = rng.below(v.len().min(40)) + 1;
                (0..n).for_each(|_| v.push(v[v.len() - d]));
            }
            2 if !v.is_empty() => {
                let d = rng.below(v.len()) + 1;
                (0..n).for_each(|_| v.push(v[v.len() - d]));
            }
            _ => (0..n).for_each(|_| v.push(rng.below(3) as u8)),
        }
    }
    v.truncate(len);
    v
}

/// A copy on the heap with not a byte more.
fn exact(v: &[u8]) -> Box<[u8]> {
    v.to_vec().into_boxed_slice()
}
const LENS: [usize; 6] = [0, 1, 16, 100, 333, 1400];

type Encode<'a> = &'a dyn Fn(&[u8], &mut [u8]) -> Option<usize>;
type Decode<'a> = &'a dyn Fn(&[u8], &mut [u8]) -> bool;

/// Decodes into exactly as much memory, from exactly as much.
fn lz(encode: Encode, decode: Decode, seed: u64) {
    let mut rng = Rng::new(seed);
    for len in LENS {
        let src = exact(&mixed(seed + len as u64, len));
        let mut dst = vec![0; len + len / 16 + 64].into_boxed_slice();
        let Some(n) = encode(&src, &mut dst) else { continue };
        let stream = exact(&dst[..n]);
        let mut out = vec![0x5a; len].into_boxed_slice();
        assert!(decode(&stream, &mut out) && out == src);
        for _ in 0..DAMAGES {
            let mut bad = stream.clone();
            if n > 0 {
                for _ in 0..=rng.below(2) {
                    let at = rng.below(n);
                    bad[at] = [rng.next() as u8, 255, 0, bad[at] ^ 1][rng.below(4)];
                }
            }
            let mut out = vec![0x5a; len].into_boxed_slice();
            decode(&bad, &mut out);
            let cut = exact(&stream[..rng.below(n + 1)]);
            decode(&cut, &mut out);
        }
    }
}

#[test]
fn codec_blosclz() {
    for level in [1, 5, 9] {
        lz(
            &|s, d| {
                let mut w = vec![0xa5; blosclz::work_len(level, s.len())];
                blosclz::encode(s, d, level, &mut w)
            },
            &|s, o| blosclz::decode(s, Out::from(o)).is_ok(),
            level.into(),
        );
    }
}

#[test]
fn codec_lz4() {
    for level in [1u32, 5, 9] {
        lz(
            &|s, d| {
                let mut w = vec![0xa5; lz4::work_len(s.len())];
                lz4::encode(s, d, 10 - level, &[], &mut w)
            },
            &|s, o| lz4::decode(s, Out::from(o), &[]).is_ok(),
            level.into(),
        );
    }
}

#[test]
fn codec_lz4_dict() {
    let dict = exact(&mixed(99, 700));
    for len in [100, 1000] {
        let mut src = dict[100..400].to_vec();
        src.extend(mixed(3, len));
        src.extend(&dict[500..]);
        let mut w = vec![0; lz4::work_len(src.len() + dict.len()).max(lz4::work_len(src.len()))];
        let mut dst = vec![0; src.len() + 100];
        let n = lz4::encode(&src, &mut dst, 1, &dict, &mut w).unwrap();
        let mut out = vec![0; src.len()].into_boxed_slice();
        lz4::decode(&exact(&dst[..n]), Out::from(&mut out[..]), &dict).unwrap();
        assert_eq!(&out[..], &src[..]);
    }
}

#[test]
fn codec_lz4hc() {
    for level in [1u8, 5, 9] {
        lz(
            &|s, d| {
                let mut w = vec![0xa5; lz4hc::work_len(level, s.len())];
                lz4hc::encode(s, d, level, &[], &mut w)
            },
            &|s, o| lz4::decode(s, Out::from(o), &[]).is_ok(),
            level.into(),
        );
    }
}

#[test]
fn codec_zlib() {
    // Zlib takes Miri longest.
    for level in if cfg!(miri) { &[6u8][..] } else { &[1, 3, 6, 9][..] }.iter().copied() {
        lz(
            &|s, d| {
                let mut w = vec![0xa5; zlib::deflate::work_len(level, s.len())];
                zlib::deflate::encode(s, d, level, &mut w)
            },
            &|s, o| zlib::decode(s, Out::from(o), &mut vec![0; zlib::DECODE_WORK_LEN]).is_ok(),
            level.into(),
        );
    }
}

#[test]
fn codec_zlib_quick() {
    lz(
        &|s, d| {
            let mut w = vec![0xa5; zlib::deflate::quick_work_len(s.len())];
            zlib::deflate::encode_quick(s, d, &mut w)
        },
        &|s, o| zlib::decode(s, Out::from(o), &mut vec![0; zlib::DECODE_WORK_LEN]).is_ok(),
        3,
    );
}

#[test]
fn codec_ndlz() {
    for (meta, shape) in [(4u8, [8u32, 12]), (8, [24, 17])] {
        let len = (shape[0] * shape[1]) as usize;
        let src = exact(&mixed(5, len));
        let mut dst = vec![0; len + 64];
        let mut w = vec![0xff; ndlz::WORK_LEN];
        if let Some(n) = ndlz::encode(&src, &mut dst, meta, &shape, &mut w) {
            let mut out = vec![0; len].into_boxed_slice();
            ndlz::decode(&exact(&dst[..n]), Out::from(&mut out[..]), meta).unwrap();
            assert_eq!(out, src);
            let mut rng = Rng::new(4);
            for _ in 0..20 {
                let mut bad = exact(&dst[..n]);
                let at = rng.below(n);
                bad[at] = rng.next() as u8;
                let _ = ndlz::decode(&bad, Out::from(&mut out[..]), meta);
            }
        }
    }
}

#[test]
fn codec_snappy_damage() {
    let mut rng = Rng::new(9);
    for _ in 0..30 {
        let len = rng.below(300);
        let mut s = vec![len as u8 & 0x7f | if len > 127 { 128 } else { 0 }];
        if len > 127 {
            s.push((len >> 7) as u8);
        }
        for _ in 0..rng.below(30) {
            match rng.below(3) {
                0 => {
                    let n = 1 + rng.below(20);
                    s.push(((n - 1) << 2) as u8);
                    s.extend((0..n).map(|_| rng.next() as u8));
                }
                1 => {
                    s.push(1 | (rng.below(8) << 2) as u8);
                    s.push(rng.below(60) as u8);
                }
                _ => {
                    s.push(2 | (rng.below(64) << 2) as u8);
                    s.push(rng.below(90) as u8);
                    s.push(0);
                }
            }
        }
        let mut out = vec![0; len].into_boxed_slice();
        let _ = snappy::decode(&exact(&s), Out::from(&mut out[..]));
    }
}

#[test]
fn zstd_own_decoder() {
    let raw = [0x28, 0xB5, 0x2F, 0xFD, 0x20, 5, 0x29, 0, 0, b'h', b'e', b'l', b'l', b'o'];
    let mut out = vec![0; 5].into_boxed_slice();
    zstd::decode(&raw, Out::from(&mut out[..]), &[], &mut vec![0; zstd::decode_work_len(5) + 1][1..])
        .unwrap();
}
