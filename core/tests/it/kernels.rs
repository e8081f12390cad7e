//! Every kernel of the table equals its scalar form, whatever the length, alignment or item size.

use blosc_core::filter::FilterError;
use blosc_core::filter::bitshuffle::{bitshuffle, bitunshuffle};
use blosc_core::filter::blocksplit::{Plane, Planes, Stores, join, split};
use blosc_core::filter::shuffle::{shuffle, unshuffle};
use blosc_core::{Isa, Level};
use blosc_testkit::{Random, long};
use std::collections::BTreeSet;

type Filter = fn(Level, usize, &[u8], &mut [u8]) -> Result<(), FilterError>;

/// Forward and inverse pairs.
const PAIRS: [(&str, Filter, Filter); 2] = [
    ("shuffle", |l, w, s, o| shuffle(l, w, s, o), |l, w, s, o| unshuffle(l, w, s, o)),
    ("bitshuffle", |l, w, s, o| bitshuffle(l, w, s, o), |l, w, s, o| bitunshuffle(l, w, s, o)),
];

const WIDTHS: [usize; 30] = [
    1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 31, 32, 33,
    48, 255,
];

const GUARD: u8 = 0xa5;

/// Levels of this machine; says which ones it lacks.
fn levels() -> Vec<Level> {
    for isa in Isa::ALL {
        if Level::new(isa).is_none() {
            println!("skipped: no {}", isa.name());
        }
    }
    Level::available().collect()
}

/// Lengths 0 ..= 4100: all of them, or those near vector and tile edges for this width and some others.
fn lengths(width: usize, random: &mut Random) -> Vec<usize> {
    if long() {
        return (0..=4100).collect();
    }
    let mut some = BTreeSet::new();
    for items in [0, 1, 7, 8, 15, 16, 17, 31, 32, 33, 63, 64, 65, 127, 128, 129, 256, 257, 512, 513, 520] {
        some.extend([0, 1, width - 1].map(|extra| items * width + extra).into_iter().filter(|&l| l <= 4100));
    }
    some.extend((0..24).map(|_| random.below(4101)));
    some.insert(4100);
    some.into_iter().collect()
}

/// Runs `kernel` from an unaligned source to an unaligned destination between guard bytes.
fn run(kernel: impl FnOnce(&[u8], &mut [u8]), src: &[u8], out_len: usize, skew: (usize, usize)) -> Vec<u8> {
    let mut from = vec![GUARD; skew.0];
    from.extend_from_slice(src);
    let mut to = vec![GUARD; skew.1 + out_len + 65];
    kernel(&from[skew.0..], &mut to[skew.1..][..out_len]);
    assert!(to[..skew.1].iter().all(|&b| b == GUARD), "wrote before the destination");
    assert!(to[skew.1 + out_len..].iter().all(|&b| b == GUARD), "wrote after the destination");
    to[skew.1..][..out_len].to_vec()
}

/// Bochs before version 3 answers `gf2p8affineqb` with the complement of each byte: `.ci/avx512` says so.
fn gfni_is_broken() -> bool {
    std::env::var_os("BLOSC_GFNI").is_some_and(|v| v == "broken")
}

fn pair_equals_scalar(width: usize, src: &[u8], levels: &[Level], skew: (usize, usize)) {
    for (name, forward, backward) in PAIRS {
        let want = run(|s, o| forward(Level::SCALAR, width, s, o).unwrap(), src, src.len(), (0, 0));
        for &level in levels {
            if name == "bitshuffle" && matches!(level.isa(), Isa::Avx2Gfni | Isa::Avx512) && gfni_is_broken()
            {
                continue;
            }
            let case = format!("{name} width {width} length {} {level:?} skew {skew:?}", src.len());
            let got = run(|s, o| forward(level, width, s, o).unwrap(), src, src.len(), skew);
            assert!(got == want, "{case}: forward differs at {:?}", differ(&got, &want));
            let back = run(|s, o| backward(level, width, s, o).unwrap(), &got, src.len(), skew);
            assert!(back == src, "{case}: backward differs at {:?}", differ(&back, src));
        }
    }
}

fn differ(a: &[u8], b: &[u8]) -> Option<usize> {
    a.iter().zip(b).position(|(a, b)| a != b)
}

#[test]
fn filters_equal_scalar_at_small_lengths() {
    let levels = levels();
    let mut random = Random(1);
    let data = random.noise(4100);
    for width in WIDTHS {
        for len in lengths(width, &mut random) {
            let skew = (random.below(65), random.below(65));
            pair_equals_scalar(width, &data[4100 - len..], &levels, skew);
        }
    }
}

#[test]
fn filters_equal_scalar_at_large_lengths() {
    let levels = levels();
    let mut random = Random(2);
    for _ in 0..if long() { 400 } else { 24 } {
        let width = WIDTHS[random.below(WIDTHS.len())];
        let len = random.below(600_000);
        let src = random.noise(len);
        let skew = (random.below(65), random.below(65));
        pair_equals_scalar(width, &src, &levels, skew);
    }
}

/// Sizes at which planes and rows share cache sets, so that kernels go through them in phases.
#[test]
fn filters_equal_scalar_at_block_sizes() {
    let levels = levels();
    let mut random = Random(3);
    for width in [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 14, 15, 16, 17, 24, 32] {
        // The last two: 128 and 96 KiB, a power of two and three quarters of it.
        for items in [2048, 4096, 12288, 20480, (1 << 17) / width, (3 << 15) / width] {
            let tail = random.below(2) * 3;
            let src = random.noise(items * width + tail);
            let skew = (random.below(65), random.below(65));
            pair_equals_scalar(width, &src, &levels, skew);
        }
    }
}

#[test]
fn split_and_join_equal_scalar() {
    let levels = levels();
    let mut random = Random(4);
    for width in WIDTHS {
        for round in 0..if long() { 200 } else { 12 } {
            let n = random.below(if round % 4 == 0 { 3000 } else { 200 });
            let pitch = n + random.below(130);
            let src = random.noise(n * width);
            let room = (width - 1) * pitch + n;
            let skew = (random.below(65), random.below(65));
            let mut want = vec![GUARD; room];
            split(Level::SCALAR, width, &src, &mut want[..], pitch).unwrap();

            // Some planes become constants; the items they stand for change with them.
            let planes: Vec<Plane> = (0..width)
                .map(|j| match random.below(3) {
                    0 => Plane::Constant(random.below(256) as u8),
                    _ => Plane::Bytes(&want[j * pitch..][..n]),
                })
                .collect();
            let items = |i: usize| match planes[i % width] {
                Plane::Constant(byte) => byte,
                Plane::Bytes(_) => src[i],
            };
            let mixed: Vec<u8> = (0..src.len()).map(items).collect();

            for &level in &levels {
                let case = format!("width {width} n {n} pitch {pitch} {level:?}");
                let apart = run(
                    |s, o| {
                        o.fill(GUARD);
                        assert_eq!(split(level, width, s, o, pitch), Ok(n));
                    },
                    &src,
                    room,
                    skew,
                );
                assert!(apart == want, "split {case}: differs at {:?}", differ(&apart, &want));
                for stores in [Stores::Cached, Stores::Streaming] {
                    let pitched = |s: &[u8], o: &mut [u8]| {
                        let planes = Planes::Pitched { bytes: s, pitch };
                        assert_eq!(join(level, width, planes, o, stores), Ok(n));
                    };
                    let back = run(pitched, &want, src.len(), skew);
                    assert!(back == src, "join {case} {stores:?}: differs at {:?}", differ(&back, &src));
                    let each = |_: &[u8], o: &mut [u8]| {
                        assert_eq!(join(level, width, Planes::Each(&planes), o, stores), Ok(n));
                    };
                    let back = run(each, &[], src.len(), skew);
                    assert!(back == mixed, "join each {case} {stores:?}: {:?}", differ(&back, &mixed));
                }
            }
        }
    }
}

/// Streamed stores want aligned places: every way to lie beside them, for runs of about one block of any level. One
/// block of 64 items off a line of the cache once never ended at AVX-512.
#[test]
fn streaming_ends_wherever_the_destination_lies() {
    let src: Vec<u8> = (0..16 * 200).map(|i| (i * 7 % 251) as u8).collect();
    for width in [2, 4, 8, 16] {
        for n in [16, 31, 32, 33, 63, 64, 65, 66, 79, 80, 127, 128, 129, 191, 192, 193] {
            let (src, mut planes) = (&src[..n * width], vec![0; n * width]);
            split(Level::SCALAR, width, src, &mut planes[..], n).unwrap();
            for level in Level::available() {
                for skew in 0..64 {
                    let mut out = vec![GUARD; src.len() + 128];
                    let pitched = Planes::Pitched { bytes: &planes, pitch: n };
                    join(level, width, pitched, &mut out[skew..][..src.len()], Stores::Streaming).unwrap();
                    let (before, rest) = out.split_at(skew);
                    let (items, after) = rest.split_at(src.len());
                    assert!(items == src, "{level:?} {n} items of {width} at {skew}");
                    assert!(before.iter().chain(after).all(|b| *b == GUARD));
                }
            }
        }
    }
}

#[test]
fn wrong_lengths_are_errors() {
    let mut out = [0u8; 12];
    for level in Level::available() {
        assert!(shuffle(level, 4, &[0; 11], &mut out).is_err());
        assert!(unshuffle(level, 4, &[0; 13], &mut out).is_err());
        assert!(bitshuffle(level, 0, &[0; 12], &mut out).is_err());
        assert!(bitunshuffle(level, 1, &[0; 13], &mut out).is_err());
        assert!(split(level, 0, &[0; 12], &mut out, 3).is_err());
        assert!(split(level, 4, &[0; 12], &mut out, 2).is_err());
        assert!(split(level, 4, &[0; 12], &mut out, 4).is_err());
        assert!(split(level, 4, &[0; 12], &mut out, usize::MAX).is_err());
        let short = Planes::Pitched { bytes: &[0; 11], pitch: 3 };
        assert!(join(level, 4, short, &mut out, Stores::Cached).is_err());
        let far = Planes::Pitched { bytes: &[0; 11], pitch: usize::MAX };
        assert!(join(level, 4, far, &mut out, Stores::Cached).is_err());
        assert!(join(level, 4, Planes::Each(&[Plane::Constant(1); 3]), &mut out, Stores::Cached).is_err());
        assert!(join(level, 0, Planes::Each(&[]), &mut out, Stores::Cached).is_err());
        // Width 0 of a shuffle is "no items": a copy.
        shuffle(level, 0, b"twelve bytes", &mut out).unwrap();
        assert_eq!(&out, b"twelve bytes");
    }
}

/// The worked example 9.4 of `docs/formats/chunk.md`: 33 items of two bytes.
#[test]
fn bitshuffle_of_the_format_document() {
    let src: Vec<u8> = (0..33u16).flat_map(u16::to_le_bytes).collect();
    let mut want = vec![0u8; 66];
    want[..4].fill(0xaa);
    want[4..8].fill(0xcc);
    want[8..12].fill(0xf0);
    want[12..16].copy_from_slice(&[0, 0xff, 0, 0xff]);
    want[16..20].copy_from_slice(&[0, 0, 0xff, 0xff]);
    want[64] = 0x20;
    for level in Level::available() {
        let mut out = vec![0u8; 66];
        bitshuffle(level, 2, &src, &mut out[..]).unwrap();
        assert_eq!(out, want, "{level:?}");
    }
}

#[test]
fn names_of_instruction_sets_are_read_back() {
    for isa in Isa::ALL {
        assert_eq!(isa.name().parse(), Ok(isa));
    }
    assert_eq!("AVX2".parse::<Isa>().unwrap_err().to_string().split(' ').next(), Some("unknown"));
}
