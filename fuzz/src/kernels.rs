//! Kernels: every level of this machine against the scalar form.

use crate::resources::allow;
use blosc_core::Level;
use blosc_core::filter::blocksplit::{Plane, Planes, Stores, join, split};
use blosc_core::filter::{bitshuffle, bytedelta, delta, shuffle};

/// Shuffle, bitshuffle, split and join, any typesize, misaligned, with guard bytes.
pub fn twins(data: &[u8]) {
    let Some((&[typesize, skew, constants, repeat], piece)) = data.split_first_chunk() else { return };
    let (typesize, skew) = (usize::from(typesize).max(1), usize::from(skew % 64));
    let src: Vec<u8> =
        piece.iter().copied().cycle().take(piece.len() * usize::from(repeat % 20 + 1)).collect();
    allow(16 * src.len());
    let src = src.get(skew.min(src.len())..).unwrap_or(&[]);
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
    let items = n / typesize;
    let pitch = items + skew;
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
}
