//! Transposition: the axes of a dense array in reverse order, which turns C order into Fortran order and back.
//!
//! ```text
//! out[i0, i1, .., ik] = in[ik, .., i1, i0]
//!
//! axes of one item are left out
//! for each part of the first and the last axis that, with all axes between, stays in the cache:
//!     for each index of the axes between:
//!         first or last axis short    for each index of the short one: copy items along the other one
//!         else                        for each square whose sides are a cache line: transpose it
//!
//! first and last axis together a few items only: for each stretch of the longest axis between:
//!     for each index of the others: copy items along the stretch
//! ```
//! `in` is contiguous along the first axis and `out` along the last one. A square reads and writes whole cache lines,
//! so a line is fetched once, also where rows lie a power of two apart and share a few sets of the cache. Inside a
//! square, items of 1, 2 and 4 bytes are transposed in 64-bit words: see [`transpose_words`].
#![deny(clippy::indexing_slicing, clippy::arithmetic_side_effects)]

use crate::error::Error;
use alloc::vec::Vec;

/// Bytes of a cache line.
const LINE: usize = 64;

/// Words of a cache line.
const WORDS: usize = LINE / 8;

/// Items along the sides of a square whose items are no parts of words.
const WIDE: usize = 16;

/// Bytes in each array of what is transposed together: the second-level cache holds both, and its address translation
/// the pages they lie in.
const CACHED: usize = 512 << 10;

/// Most items that are copied along the long axis before the next index of the short one: they stay in the first-level
/// cache.
const STRETCH: usize = 8192;

/// An axis: number of items, and bytes from one item to the next in each of the two arrays.
#[derive(Clone, Copy)]
struct Axis {
    n: usize,
    to: usize,
    from: usize,
}

/// Copies `src`, a dense array whose shape is `sides` reversed, to `dst`, which gets the shape `sides`: the axes
/// of one are those of the other in reverse order. Items have `item` bytes.
///
/// # Errors
/// `Param` where a buffer is not as long as the shape demands.
pub(crate) fn reverse_axes(src: &[u8], sides: &[u64], item: usize, dst: &mut [u8]) -> Result<(), Error> {
    let bytes = sides.iter().try_fold(item as u64, |n, &side| n.checked_mul(side));
    if bytes != Some(src.len() as u64) || src.len() != dst.len() {
        let value = i64::try_from(src.len()).unwrap_or(i64::MAX);
        return Err(Error::Param { name: "length", value, allowed: "that of the shape" });
    }
    if dst.is_empty() {
        return Ok(());
    }
    let axes = axes(sides, item);
    let Some((&first, rest)) = axes.split_first() else {
        dst.copy_from_slice(src);
        return Ok(());
    };
    let Some((&last, middle)) = rest.split_last() else {
        dst.copy_from_slice(src);
        return Ok(());
    };
    let few = first.n.saturating_mul(last.n) < LINE;
    let longest = middle.iter().enumerate().max_by_key(|(_, axis)| axis.n).filter(|_| few);
    if let Some((d, &long)) = longest {
        let mut others = axes.clone();
        others.remove(d.saturating_add(1));
        let plane = first.n.saturating_mul(last.n).saturating_mul(item);
        for stretch in long.parts(CACHED.checked_div(plane).unwrap_or(1).clamp(1, STRETCH)) {
            each_index(&others, (dst, src), &mut |dst, src| {
                let (Some(to), Some(from)) = (dst.get_mut(stretch.to..), src.get(stretch.from..)) else {
                    return;
                };
                copy_items(item, (to, long.to), (from, long.from), stretch.n);
            });
        }
        return Ok(());
    }
    let between = middle.iter().fold(1usize, |n, axis| n.saturating_mul(axis.n));
    let (rows, columns) = parts(first.n, last.n, between, item);
    for right in last.parts(columns) {
        for top in first.parts(rows) {
            let (first, last) = (Axis { n: top.n, ..first }, Axis { n: right.n, ..last });
            let (to, from) = (top.to.saturating_add(right.to), top.from.saturating_add(right.from));
            let (Some(dst), Some(src)) = (dst.get_mut(to..), src.get(from..)) else { continue };
            each_index(middle, (dst, src), &mut |dst, src| match first.n.min(last.n) < side(item) {
                true => short(item, (dst, src), first, last),
                false => plane(item, (dst, src), first, last),
            });
        }
    }
    Ok(())
}

/// A part of an axis: number of items, and where it starts in the two arrays.
struct Part {
    n: usize,
    to: usize,
    from: usize,
}

impl Axis {
    /// Parts of `most` items, and what is left.
    fn parts(self, most: usize) -> impl Iterator<Item = Part> {
        (0..self.n).step_by(most.max(1)).map(move |start| Part {
            n: most.min(self.n.saturating_sub(start)),
            to: start.saturating_mul(self.to),
            from: start.saturating_mul(self.from),
        })
    }
}

/// Items of the first and the last axis that are transposed together, with `between` items of the other axes for each:
/// whole squares, as many on both sides unless one of them is short.
fn parts(first: usize, last: usize, between: usize, item: usize) -> (usize, usize) {
    let squares = |n: usize| n.saturating_sub(n.checked_rem(side(item)).unwrap_or(0)).max(side(item));
    let items = CACHED.checked_div(item.saturating_mul(between)).unwrap_or(1);
    let both = squares(items.isqrt());
    let rows = first.min(squares(items.checked_div(last.min(both)).unwrap_or(1)));
    (rows, last.min(squares(items.checked_div(rows).unwrap_or(1))))
}

/// The axes of more than one item, in the order of `sides`.
fn axes(sides: &[u64], item: usize) -> Vec<Axis> {
    let side = |n: &u64| usize::try_from(*n).unwrap_or(usize::MAX);
    let mut axes: Vec<Axis> = Vec::new();
    let mut from = item;
    for n in sides.iter().map(side).filter(|n| *n > 1) {
        axes.push(Axis { n, to: 0, from });
        from = from.saturating_mul(n);
    }
    let mut to = item;
    for axis in axes.iter_mut().rev() {
        axis.to = to;
        to = to.saturating_mul(axis.n);
    }
    axes
}

/// Calls `f` with what follows each index of `axes` in both arrays.
fn each_index(axes: &[Axis], (dst, src): (&mut [u8], &[u8]), f: &mut dyn FnMut(&mut [u8], &[u8])) {
    let mut index = alloc::vec![0usize; axes.len()];
    let (mut to, mut from) = (0usize, 0usize);
    loop {
        if let (Some(dst), Some(src)) = (dst.get_mut(to..), src.get(from..)) {
            f(dst, src);
        }
        let mut counted = index.iter_mut().zip(axes).rev();
        loop {
            let Some((i, axis)) = counted.next() else { return };
            *i = i.saturating_add(1);
            (to, from) = (to.saturating_add(axis.to), from.saturating_add(axis.from));
            if *i < axis.n {
                break;
            }
            *i = 0;
            to = to.saturating_sub(axis.n.saturating_mul(axis.to));
            from = from.saturating_sub(axis.n.saturating_mul(axis.from));
        }
    }
}

/// A plane of which one axis is short.
fn short(item: usize, (dst, src): (&mut [u8], &[u8]), first: Axis, last: Axis) {
    let (short, long) = if first.n <= last.n { (first, last) } else { (last, first) };
    // Items that lie far apart take a line and a page each: fewer of them stay in the cache.
    let stretch = CACHED.checked_div(long.to.max(long.from)).unwrap_or(1).clamp(WIDE, STRETCH);
    for stretch in long.parts(stretch) {
        for index in short.parts(1) {
            let to = dst.get_mut(stretch.to.saturating_add(index.to)..);
            let from = src.get(stretch.from.saturating_add(index.from)..);
            if let (Some(to), Some(from)) = (to, from) {
                copy_items(item, (to, long.to), (from, long.from), stretch.n);
            }
        }
    }
}

/// Items along the sides of a square.
fn side(item: usize) -> usize {
    match item {
        1 | 2 | 4 => LINE.checked_div(item).unwrap_or(1),
        _ => WIDE,
    }
}

/// A plane of two longer axes.
fn plane(item: usize, (dst, src): (&mut [u8], &[u8]), first: Axis, last: Axis) {
    for right in last.parts(side(item)) {
        for top in first.parts(side(item)) {
            let to = dst.get_mut(top.to.saturating_add(right.to)..);
            let from = src.get(top.from.saturating_add(right.from)..);
            if let (Some(to), Some(from)) = (to, from) {
                square(item, (to, first.to, top.n), (from, last.from, right.n));
            }
        }
    }
}

/// A square, or what there is of it at the end of an axis: `rows` rows of `dst`, which lie `to` bytes apart, from
/// `columns` rows of `src`, which lie `from` bytes apart.
fn square(
    item: usize,
    (dst, to, rows): (&mut [u8], usize, usize),
    (src, from, columns): (&[u8], usize, usize),
) {
    match (item, rows == columns && rows == side(item)) {
        (1, true) => square_of_words::<8>(dst, to, src, from),
        (2, true) => square_of_words::<4>(dst, to, src, from),
        (4, true) => square_of_words::<2>(dst, to, src, from),
        _ => {
            for (row, line) in dst.chunks_mut(to.max(1)).take(rows).enumerate() {
                let items = src.get(row.saturating_mul(item)..).unwrap_or_default();
                copy_items(item, (line, item), (items, from), columns);
            }
        }
    }
}

/// A whole square, whose sides are a cache line; `K` items make a word. Rows lie `to` bytes apart in `dst` and
/// `from` bytes in `src`.
fn square_of_words<const K: usize>(dst: &mut [u8], to: usize, src: &[u8], from: usize) {
    let mut turned = [[[0u64; WORDS]; K]; WORDS];
    let mut lines = src.chunks(from.max(1));
    for group in 0..WORDS {
        let mut rows = [[0u64; WORDS]; K];
        for row in &mut rows {
            let Some(line) = lines.next().and_then(|line| line.first_chunk::<LINE>()) else { return };
            for (word, bytes) in row.iter_mut().zip(line.as_chunks::<8>().0) {
                *word = u64::from_le_bytes(*bytes);
            }
        }
        transpose_words(&mut rows);
        for (row, i) in rows.iter().zip(0..K) {
            for (word, lines) in row.iter().zip(&mut turned) {
                if let Some(slot) = lines.get_mut(i).and_then(|line| line.get_mut(group)) {
                    *slot = *word;
                }
            }
        }
    }
    for (line, words) in dst.chunks_mut(to.max(1)).zip(turned.as_flattened()) {
        let Some(line) = line.first_chunk_mut::<LINE>() else { return };
        for (bytes, word) in line.as_chunks_mut::<8>().0.iter_mut().zip(words) {
            *bytes = word.to_le_bytes();
        }
    }
}

/// Transposes `K` x `K` items in each column of words: item `j` of row `i` becomes item `i` of row `j`.
///
/// ```text
/// for half in K/2, K/4 .. 1:
///     rows i and i + half, for each i without the bit half:
///         exchange the upper items of each group of 2 half of row i with the lower ones of row i + half
/// ```
#[inline]
// Bounds are constants, which the compiler checks; loops over them become vectors.
#[allow(clippy::indexing_slicing, clippy::arithmetic_side_effects, clippy::needless_range_loop)]
fn transpose_words<const K: usize>(rows: &mut [[u64; WORDS]; K]) {
    let (mut half, mut bits) = (K / 2, 32);
    while half > 0 {
        let mask = u64::MAX / ((1 << bits) + 1);
        for i in (0..K).filter(|i| i & half == 0) {
            for w in 0..WORDS {
                let (a, b) = (rows[i][w], rows[i + half][w]);
                let other = ((a >> bits) ^ b) & mask;
                rows[i][w] = a ^ (other << bits);
                rows[i + half][w] = b ^ other;
            }
        }
        half /= 2;
        bits /= 2;
    }
}

/// Copies `n` items of `item` bytes; in each buffer they lie the number of bytes beside it apart.
pub(crate) fn copy_items(item: usize, to: (&mut [u8], usize), from: (&[u8], usize), n: usize) {
    match item {
        1 => copy::<1>(to, from, n),
        2 => copy::<2>(to, from, n),
        4 => copy::<4>(to, from, n),
        8 => copy::<8>(to, from, n),
        16 => copy::<16>(to, from, n),
        _ => {
            let items = to.0.chunks_mut(to.1.max(1)).zip(from.0.chunks(from.1.max(1))).take(n);
            for (to, from) in items {
                if let (Some(to), Some(from)) = (to.get_mut(..item), from.get(..item)) {
                    to.copy_from_slice(from);
                }
            }
        }
    }
}

fn copy<const N: usize>((dst, to): (&mut [u8], usize), (src, from): (&[u8], usize), n: usize) {
    // Constant steps are the compiler's to vectorise.
    match (to == N, from.checked_div(N).filter(|_| from.is_multiple_of(N))) {
        (true, Some(2)) => return every::<N, 2>(dst, src, n),
        (true, Some(3)) => return every::<N, 3>(dst, src, n),
        (true, Some(4)) => return every::<N, 4>(dst, src, n),
        _ => {}
    }
    for (to, from) in dst.chunks_mut(to.max(1)).zip(src.chunks(from.max(1))).take(n) {
        if let (Some(to), Some(from)) = (to.first_chunk_mut::<N>(), from.first_chunk::<N>()) {
            *to = *from;
        }
    }
}

/// Copies each `STEP`th item of `src`.
fn every<const N: usize, const STEP: usize>(dst: &mut [u8], src: &[u8], n: usize) {
    let items = src.as_chunks::<N>().0.chunks(STEP);
    for (to, from) in dst.as_chunks_mut::<N>().0.iter_mut().zip(items).take(n) {
        if let Some(from) = from.first() {
            *to = *from;
        }
    }
}

#[cfg(test)]
#[allow(clippy::indexing_slicing, clippy::arithmetic_side_effects)]
mod tests {
    use super::*;
    use crate::shape::strides;

    #[test]
    fn axes_are_reversed_for_every_item_size_and_shape() {
        let shapes: [&[u64]; 24] = [
            &[],
            &[7],
            &[1],
            &[3, 40],
            &[40, 3],
            &[35, 37],
            &[64, 64],
            &[130, 200],
            &[70, 2, 66],
            &[3, 4, 5],
            &[3, 90, 2],
            &[2, 3, 50, 3],
            &[5, 1, 18, 2],
            &[1, 9, 1],
            &[2, 8200],
            &[8200, 2],
            &[8195, 4],
            &[3, 8195],
            &[9, 1, 4, 9],
            &[7, 30, 9],
            &[2, 9000, 3],
            &[70, 5, 3, 3],
            &[800, 800],
            &[0, 4],
        ];
        let items = [1usize, 2, 3, 4, 8, 16, 20];
        for item in items.into_iter().step_by(if blosc_testkit::emulated() { 3 } else { 1 }) {
            for sides in shapes {
                let items: usize = sides.iter().product::<u64>() as usize;
                let src: Vec<u8> = (0..items * item).map(|i| (i * 7 % 251) as u8).collect();
                let mut dst = alloc::vec![0; src.len()];
                reverse_axes(&src, sides, item, &mut dst).unwrap();
                let to = strides(sides);
                let turned: Vec<u64> = sides.iter().rev().copied().collect();
                let from: Vec<u64> = strides(&turned).into_iter().rev().collect();
                for i in 0..items as u64 {
                    let index = to.iter().zip(sides).map(|(stride, side)| i / stride % side);
                    let j: u64 = index.zip(&from).map(|(index, stride)| index * stride).sum();
                    let (i, j) = (i as usize * item, j as usize * item);
                    assert_eq!(dst[i..i + item], src[j..j + item], "{sides:?} of {item}");
                }
            }
        }
        assert!(reverse_axes(&[0; 5], &[2, 3], 1, &mut [0; 5]).is_err());
    }
}
