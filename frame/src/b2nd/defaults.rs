//! Default chunk and block shapes (docs/formats/b2nd.md §6).
//!
//! A shape and an item size give the same chunks on every machine, because the cache sizes are
//! fixed unless the caller passes others. With the caches of a machine they are what python-blosc2
//! chooses there.
#![deny(clippy::indexing_slicing, clippy::arithmetic_side_effects)]

use crate::shape::Dims;
use crate::shape::MAX_CHUNK_BYTES;

/// Cache sizes the shapes are made for, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Caches {
    /// Data cache of a core.
    pub l1: u64,
    /// Second level.
    pub l2: u64,
    /// Third level, 0 if unknown.
    pub l3: u64,
}

impl Caches {
    /// 32 KiB, 1 MiB, 32 MiB: used wherever the caller says nothing.
    pub const DEFAULT: Caches = Caches { l1: 32 << 10, l2: 1 << 20, l3: 32 << 20 };
}

impl Default for Caches {
    fn default() -> Caches {
        Caches::DEFAULT
    }
}

/// Chunk and block shape for an array of `shape` with items of `typesize` bytes. What the caller gives
/// is kept, as in python-blosc2: both as they are; blocks alone say how large blocks shall be.
///
/// ```
/// use blosc_frame::b2nd::{Caches, default_parts};
/// let (chunks, blocks) = default_parts(&[5000, 5000], 4, None, None, &Caches::DEFAULT);
/// assert_eq!((&chunks[..], &blocks[..]), (&[250, 5000][..], &[10, 5000][..]));
/// ```
pub fn default_parts(
    shape: &[u64],
    typesize: u32,
    chunks: Option<&[u32]>,
    blocks: Option<&[u32]>,
    caches: &Caches,
) -> (Dims<u32>, Dims<u32>) {
    let narrow = |d: Dims<u64>| d.map(|n| u32::try_from(n).unwrap_or(u32::MAX));
    let given = |d: &[u32]| Dims::new(d).unwrap_or_else(Dims::empty);
    if let (Some(c), Some(b)) = (chunks, blocks) {
        return (given(c), given(b));
    }
    let shape = Dims::new(shape).unwrap_or_else(Dims::empty);
    if chunks.is_none() && shape.contains(&0) {
        let parts = narrow(shape.map(|s| s.min(i32::MAX as u64)));
        return (parts, parts);
    }
    let t = u64::from(typesize.max(1));
    let ones = Dims::repeat(1u64, shape.len());
    let block_bytes = match blocks {
        Some(b) => b.iter().fold(t, |n, side| n.saturating_mul((*side).into())),
        None => {
            let m = if caches.l2 >= 2 << 20 { caches.l1.saturating_mul(4) } else { caches.l2 / 4 };
            m.max(32 << 10).max(t)
        }
    };
    let per = |bytes: u64| bytes.checked_div(t).unwrap_or(0);
    if let Some(c) = chunks {
        let chunk = given(c);
        return (chunk, narrow(fit(per(block_bytes), &chunk.map(u64::from), &ones)));
    }
    let block = fit(per(block_bytes), &shape, &ones);
    let chunk = fit(per(chunk_bytes(product(&block).saturating_mul(t), caches)), &shape, &block);
    let mut sides = chunk;
    for (axis, side) in sides.iter_mut().enumerate() {
        let whole = side.checked_next_multiple_of(block.at(axis).max(1)).unwrap_or(*side);
        *side = whole.min(shape.at(axis));
    }
    (narrow(sides), narrow(block))
}

fn product(d: &Dims<u64>) -> u64 {
    d.iter().fold(1, |n, side| n.saturating_mul(*side))
}

/// Bytes of a chunk whose blocks have `block` bytes.
fn chunk_bytes(block: u64, caches: &Caches) -> u64 {
    let mut k = block.saturating_mul(32);
    if k >= 64 << 20 {
        k = block;
    }
    if caches.l3 > 0 {
        if caches.l3 > caches.l2 {
            k = caches.l3;
        }
        k /= 4;
    }
    if caches.l2 > k {
        k = k.max(caches.l2 / 4);
    }
    k = k.clamp(4 << 20, MAX_CHUNK_BYTES.into()).max(block);
    k.checked_div(block).unwrap_or(0).saturating_mul(block)
}

/// A shape of at most about `n` items that divides `shape` well, not below `least` on any axis; the last
/// axes are filled first.
fn fit(n: u64, shape: &Dims<u64>, least: &Dims<u64>) -> Dims<u64> {
    let mut result = Dims::repeat(1u64, shape.len());
    let mut left = n;
    for (axis, side) in result.iter_mut().enumerate().rev() {
        if left <= 1 {
            break;
        }
        let (s, lo) = (shape.at(axis), least.at(axis));
        let divides = |x: u64| s.checked_rem(x) == Some(0);
        let mut x = s.max(lo);
        if x <= left {
            if !divides(x) {
                x = nearest_divisor(s, x);
            }
        } else {
            x = left.max(lo);
            let y = if divides(x) { x } else { divisor_below(s, x) };
            if x / 2 < y && y < x.saturating_mul(2) {
                x = y;
            }
        }
        *side = x.max(1);
        left = left.checked_div(x).unwrap_or(left);
    }
    result
}

/// The largest divisor of `a` that is at most `b`.
fn divisor_below(a: u64, b: u64) -> u64 {
    (1..=b).rev().find(|d| a.checked_rem(*d) == Some(0)).unwrap_or(1)
}

/// The divisor of `a` closest to `b`, or below it when `a` is large.
fn nearest_divisor(a: u64, b: u64) -> u64 {
    if a > 100_000 {
        return divisor_below(a, b);
    }
    let mut best = a;
    let mut distance = u64::MAX;
    for i in (1..=a.isqrt()).filter(|i| a.checked_rem(*i) == Some(0)) {
        for divisor in [i, a.checked_div(i).unwrap_or(a)] {
            if divisor.abs_diff(b) < distance {
                best = divisor;
                distance = divisor.abs_diff(b);
            }
        }
    }
    best
}

#[cfg(test)]
#[allow(clippy::indexing_slicing, clippy::arithmetic_side_effects)]
mod tests {
    use super::*;

    fn parts(shape: &[u64], t: u32) -> (alloc::vec::Vec<u32>, alloc::vec::Vec<u32>) {
        let (c, b) = default_parts(shape, t, None, None, &Caches::DEFAULT);
        (c.to_vec(), b.to_vec())
    }

    #[test]
    fn documents_examples() {
        assert_eq!(parts(&[10_000_000], 8), ([1_000_000].into(), [31_250].into()));
        assert_eq!(parts(&[5000, 5000], 4), ([250, 5000].into(), [10, 5000].into()));
    }

    #[test]
    fn as_python_blosc2() {
        let table = include_str!("../../tests/fixtures/default_parts.txt");
        for line in table.lines().filter(|line| !line.starts_with('#')) {
            let words: alloc::vec::Vec<&str> = line.split(' ').collect();
            let dims = |k: usize| words[k].split(',').map(|n| n.parse::<u64>().unwrap());
            let shape: alloc::vec::Vec<u64> = dims(0).collect();
            let (c, b) = parts(&shape, words[1].parse().unwrap());
            assert!(c.into_iter().map(u64::from).eq(dims(2)), "{line}: chunks");
            assert!(b.into_iter().map(u64::from).eq(dims(3)), "{line}: blocks");
        }
    }

    #[test]
    fn degenerate_shapes() {
        assert_eq!(parts(&[], 8), ([].into(), [].into()));
        assert_eq!(parts(&[0, 5], 8), ([0, 5].into(), [0, 5].into()));
        assert_eq!(parts(&[70, 7], 4), ([70, 7].into(), [70, 7].into()));
        let (c, b) = default_parts(&[100, 100], 4, Some(&[10, 10]), None, &Caches::DEFAULT);
        assert_eq!((&c[..], &b[..]), (&[10, 10][..], &[10, 10][..]));
    }

    #[test]
    fn always_makes_a_geometry() {
        let mut random = blosc_testkit::Random(1);
        let mut next = |n: u64| random.next() % n;
        for _ in 0..500 {
            let ndim = next(6) as usize;
            let shape: alloc::vec::Vec<u64> =
                (0..ndim).map(|_| [1, 2, 7, 97, 1000, 100_003][next(6) as usize] + next(3)).collect();
            let t = [1, 2, 4, 8, 16, 300, 70_000][next(7) as usize];
            let (c, b) = default_parts(&shape, t, None, None, &Caches::DEFAULT);
            assert!(c.iter().zip(b.iter()).all(|(c, b)| b <= c && *b > 0), "{shape:?} {t}: {c:?} {b:?}");
            match super::super::Geometry::new(&shape, &c, &b, t) {
                Ok(_) => {}
                // Only arrays beyond the format's own limits may fail.
                Err(e) => assert!(
                    shape.iter().map(|s| *s as u128).product::<u128>() * t as u128 > 1 << 44,
                    "{shape:?} {t}: {c:?} {b:?}: {e}"
                ),
            }
        }
    }
}
