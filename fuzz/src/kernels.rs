//! Kernels: every level of this machine against the scalar form.

use crate::resources::allow;
use blosc_core::filter::blocksplit::{Plane, Planes, Stores, join, split};
use blosc_core::filter::{
    FilterError, bitshuffle, bytedelta, delta, int_trunc, ndcell, ndmean, shuffle, trunc_prec,
};
use blosc_core::{Isa, Level};

/// Most bytes that kernels are tried on.
const LARGEST: usize = 300_000;

/// Shuffle, bitshuffle, split and join, any typesize, misaligned, with guard bytes.
pub fn twins(data: &[u8]) {
    let Some((&[typesize, skew, constants, repeat], piece)) = data.split_first_chunk() else { return };
    let (typesize, skew) = (usize::from(typesize).max(1), usize::from(skew % 64));
    // Large ones are cut where the planes of their bytes lie so that they crowd the same sets of the cache.
    let (turns, crowded) = (usize::from(repeat % 20 + 1), 4096 * typesize);
    let turns = if repeat >= 250 { 100 * turns } else { turns };
    let src: Vec<u8> = piece.iter().copied().cycle().take((piece.len() * turns).min(LARGEST)).collect();
    allow(16 * src.len());
    let mut src = src.get(skew.min(src.len())..).unwrap_or(&[]);
    if src.len() >= crowded {
        src = &src[..src.len() / crowded * crowded];
    }
    let n = src.len();
    type Op = fn(Level, usize, &[u8], &mut [u8]) -> bool;
    let pairs: [(Op, Op); 2] = [
        (
            |l, t, s, d| shuffle::shuffle(l, t, s, d).is_ok(),
            |l, t, s, d| shuffle::unshuffle(l, t, s, d).is_ok(),
        ),
        (
            |l, t, s, d| bitshuffle::bitshuffle(l, t, s, d).is_ok(),
            |l, t, s, d| bitshuffle::bitunshuffle(l, t, s, d).is_ok(),
        ),
    ];
    let guarded = |op: Op, level, src: &[u8]| {
        let mut out = vec![0xEE; n + skew + 64];
        assert!(op(level, typesize, src, &mut out[skew..skew + n]));
        assert!(out[..skew].iter().chain(&out[skew + n..]).all(|&b| b == 0xEE), "wrote outside");
        out[skew..skew + n].to_vec()
    };
    for (forward, backward) in pairs {
        let expected = guarded(forward, Level::SCALAR, src);
        for level in Level::available() {
            assert!(guarded(forward, level, src) == expected, "{level:?} forward, typesize {typesize}");
            assert!(guarded(backward, level, &expected) == src, "{level:?} backward, typesize {typesize}");
        }
    }
    for level in Level::available() {
        let isa = level.isa();
        assert_eq!((Level::new(isa), isa.to_string().parse()), (Some(level), Ok(isa)));
    }
    assert!("sse1".parse::<Isa>().is_err_and(|unknown| unknown.to_string().ends_with("simd128")));
    // What does not fit is refused.
    let mut long = vec![0; n + 1];
    for (forward, backward) in pairs {
        assert!(![forward, backward].iter().any(|op| op(Level::best(), typesize, src, &mut long)));
    }
    assert!(delta::forward(Level::best(), typesize, src, None, (&mut long[..]).into()).is_err());
    let items = n / typesize;
    let pitch = items + skew;
    if items > 0 && typesize > 1 {
        assert!(split(Level::best(), typesize, src, &mut long[..], items - 1).is_err());
    }
    assert!(join(Level::best(), typesize, Planes::Each(&[]), &mut long[..], Stores::Cached).is_err());
    let mut expected = vec![0; pitch * typesize];
    split(Level::SCALAR, typesize, src, &mut expected[..], pitch).expect("room for every plane");
    let planes: Vec<Plane<'_>> = (0..typesize)
        .map(|j| match constants >> (j % 8) & 1 {
            0 => Plane::Bytes(&expected[j * pitch..][..items]),
            _ => Plane::Constant(j as u8),
        })
        .collect();
    let mut joined = vec![0; items * typesize];
    join(Level::SCALAR, typesize, Planes::Each(&planes), &mut joined[..], Stores::Cached)
        .expect("whole planes");
    for level in Level::available() {
        let mut out = vec![0; pitch * typesize];
        split(level, typesize, src, &mut out[..], pitch).expect("room for every plane");
        assert!(out == expected, "{level:?} split, width {typesize}");
        for stores in [Stores::Cached, Stores::Streaming] {
            let mut out = vec![0xEE; items * typesize + 64];
            join(level, typesize, Planes::Each(&planes), &mut out[..items * typesize], stores)
                .expect("whole planes");
            assert!(out[..joined.len()] == joined && out[joined.len()..].iter().all(|&b| b == 0xEE));
        }
    }
}

/// The element-wise filters, forward and back, every level against the scalar form.
pub fn pipeline(data: &[u8]) {
    let Some((&[typesize, own], src)) = data.split_first_chunk() else { return };
    let typesize = usize::from(typesize).max(1);
    let reference: Vec<u8> = src.iter().map(|b| b.rotate_left(3)).collect();
    let reference = (own & 1 == 0).then_some(&reference[..]);
    let mut expected: Option<[Vec<u8>; 2]> = None;
    for level in Level::available() {
        let (mut a, mut b, mut back) = (vec![0; src.len()], vec![0; src.len()], vec![0; src.len()]);
        delta::forward(level, typesize, src, reference, (&mut a[..]).into()).expect("equal lengths");
        delta::backward(level, typesize, &a, reference, (&mut back[..]).into()).expect("equal lengths");
        assert!(back == src, "{level:?} delta");
        bytedelta::forward(level, typesize, src, (&mut b[..]).into()).expect("equal lengths");
        bytedelta::backward(level, typesize, &b, (&mut back[..]).into()).expect("equal lengths");
        assert!(back == src, "{level:?} bytedelta");
        match &expected {
            None => expected = Some([a, b]),
            Some(expected) => assert!(*expected == [a, b], "{level:?} differs from scalar"),
        }
    }
    cells(typesize as u32, own, src);
    truncated(typesize, own, src);
}

/// Items of a block in cells and back.
fn cells(typesize: u32, side: u8, src: &[u8]) {
    let (wide, side) = (u32::from(side >> 4) + 1, side & 15);
    let high = (src.len() / typesize as usize) as u32 / wide;
    let src = &src[..(high * wide * typesize) as usize];
    for shape in [&[high, wide][..], &[high * wide], &[1, high, wide, 1]] {
        let (mut there, mut back) = (vec![0; src.len()], vec![0xA5; src.len()]);
        if ndcell::forward(typesize, shape, side, src, (&mut there[..]).into()).is_ok() {
            ndcell::backward(typesize, shape, side, &there, (&mut back[..]).into()).expect("our own cells");
            assert!(back == src, "cells of {side} in {shape:?}");
        }
        if ndmean::forward(typesize, shape, side, src, (&mut there[..]).into()).is_ok() {
            ndmean::backward(typesize, shape, side, &there, (&mut back[..]).into()).expect("our own cells");
            // The mean of one item is the item.
            assert!(side != 1 || typesize != 4 || same_floats(&back, src));
        }
    }
}

/// Whether these are the same numbers, whatever kind of NaN.
fn same_floats(a: &[u8], b: &[u8]) -> bool {
    let [a, b] = [a, b].map(|bytes| bytes.as_chunks().0.iter().map(|word| f32::from_le_bytes(*word)));
    a.zip(b).all(|(a, b)| a == b || (a.is_nan() && b.is_nan()))
}

/// Cutting low bits clears some and changes no others, the same at every level.
fn truncated(typesize: usize, meta: u8, src: &[u8]) {
    type Cut = fn(Level, usize, u8, &[u8], blosc_core::Out<'_>) -> Result<(), FilterError>;
    for cut in [trunc_prec::forward as Cut, int_trunc::forward] {
        let mut expected: Option<Vec<u8>> = None;
        for level in Level::available() {
            let mut out = vec![0xA5; src.len()];
            if cut(level, typesize, meta, src, (&mut out[..]).into()).is_err() {
                assert!(expected.is_none(), "{level:?} refuses what others take");
                continue;
            }
            assert!(out.iter().zip(src).all(|(new, old)| new & !old == 0), "{level:?} sets bits");
            assert!(*expected.get_or_insert_with(|| out.clone()) == out, "{level:?} differs from scalar");
        }
    }
}
