//! Boxes of items in an array: what runs of a C-order array they are, and how their axes are reversed.
//!
//! ```text
//! run of items in C order   →   boxes: one index of the outer axes, a range of one axis, all of the inner ones
//! box                       →   runs of items that follow each other in the array
//! axes reversed             out[i0, i1, .., ik] = in[ik, .., i1, i0]
//! ```
#![deny(clippy::indexing_slicing, clippy::arithmetic_side_effects)]

use crate::error::Error;
use alloc::vec::Vec;
use core::ops::Range;

/// Items of `shape` that one step along each axis skips.
pub(crate) fn strides(shape: &[u64]) -> Vec<u64> {
    let mut strides = alloc::vec![1u64; shape.len()];
    let mut stride = 1u64;
    for (slot, &side) in strides.iter_mut().zip(shape).rev() {
        *slot = stride;
        stride = stride.saturating_mul(side);
    }
    strides
}

/// The largest box that starts at item `at` and ends at or before `end`, and how many items it has.
pub(crate) fn next_box(shape: &[u64], strides: &[u64], at: u64, end: u64) -> (Vec<Range<u64>>, u64) {
    let left = end.saturating_sub(at);
    let whole = |&stride: &u64| at.checked_rem(stride) == Some(0) && stride <= left;
    let axis = strides.iter().position(whole).unwrap_or(0);
    let mut items = 1u64;
    let mut ranges = Vec::new();
    for (d, (&side, &stride)) in shape.iter().zip(strides).enumerate() {
        let index = at.checked_div(stride).unwrap_or(0).checked_rem(side).unwrap_or(0);
        ranges.push(match d.cmp(&axis) {
            core::cmp::Ordering::Less => index..index.saturating_add(1),
            core::cmp::Ordering::Greater => 0..side,
            core::cmp::Ordering::Equal => {
                let n = side.saturating_sub(index).min(left.checked_div(stride).unwrap_or(0)).max(1);
                items = n.saturating_mul(stride);
                index..index.saturating_add(n)
            }
        });
    }
    (ranges, items)
}

/// The runs of a box in a C-order array, all of `len` items.
pub(crate) struct Runs<'a> {
    ranges: &'a [Range<u64>],
    strides: Vec<u64>,
    /// Number of axes that are counted; those behind them are part of the run.
    outer: usize,
    /// Items of a run.
    pub len: u64,
}

impl<'a> Runs<'a> {
    /// The runs of the box `ranges` of an array of `shape`.
    pub fn new(shape: &[u64], ranges: &'a [Range<u64>]) -> Runs<'a> {
        let size = |range: &Range<u64>| range.end.saturating_sub(range.start);
        let (mut len, mut outer) = (1u64, ranges.len());
        for (range, &side) in ranges.iter().zip(shape).rev() {
            outer = outer.saturating_sub(1);
            len = len.saturating_mul(size(range));
            if size(range) != side {
                break;
            }
        }
        if ranges.iter().any(Range::is_empty) {
            len = 0;
        }
        Runs { ranges, strides: strides(shape), outer, len }
    }

    /// Items between the end of a run and the start of the next one; `None` when there is only one run.
    pub fn gap(&self) -> Option<u64> {
        let axes = self.ranges.iter().zip(&self.strides).take(self.outer).rev();
        let more = |(range, _): &(&Range<u64>, &u64)| range.end.saturating_sub(range.start) > 1;
        axes.into_iter().find(more).map(|(_, stride)| stride.saturating_sub(self.len))
    }

    /// Calls `take` with the first item of each run, in order.
    ///
    /// # Errors
    /// What `take` returns.
    pub fn each(&self, take: &mut dyn FnMut(u64) -> Result<(), Error>) -> Result<(), Error> {
        if self.len == 0 {
            return Ok(());
        }
        let mut index: Vec<u64> = self.ranges.iter().map(|range| range.start).collect();
        loop {
            let first = index
                .iter()
                .zip(&self.strides)
                .fold(0u64, |n, (&i, &stride)| n.saturating_add(i.saturating_mul(stride)));
            take(first)?;
            let mut axes = index.iter_mut().zip(self.ranges).take(self.outer).rev();
            loop {
                let Some((i, range)) = axes.next() else { return Ok(()) };
                *i = i.saturating_add(1);
                if *i < range.end {
                    break;
                }
                *i = range.start;
            }
        }
    }
}

/// Items along each side of the squares in which items are moved: the lines of memory of one square, read and
/// written, stay in the first-level cache.
const TILE: usize = 16;

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
    match item {
        1 => reverse(src, sides, dst, 1, copy_items::<1>),
        2 => reverse(src, sides, dst, 2, copy_items::<2>),
        4 => reverse(src, sides, dst, 4, copy_items::<4>),
        8 => reverse(src, sides, dst, 8, copy_items::<8>),
        16 => reverse(src, sides, dst, 16, copy_items::<16>),
        n => reverse(src, sides, dst, n, |dst, src, step| {
            for (to, from) in dst.chunks_exact_mut(n).zip(src.chunks(step.max(1))) {
                if let Some(from) = from.get(..n) {
                    to.copy_from_slice(from);
                }
            }
        }),
    }
}

/// Fills `dst` with items of `N` bytes that lie `step` bytes apart in `src`.
fn copy_items<const N: usize>(dst: &mut [u8], src: &[u8], step: usize) {
    for (to, from) in dst.as_chunks_mut::<N>().0.iter_mut().zip(src.chunks(step.max(1))) {
        if let Some(from) = from.first_chunk::<N>() {
            *to = *from;
        }
    }
}

/// ```text
/// for each index of the axes between the first and the last:
///     for each square of TILE x TILE items of first and last axis:
///         for each row of it: gather the items, which lie a row of `src` apart
/// ```
fn reverse(
    src: &[u8],
    sides: &[u64],
    dst: &mut [u8],
    item: usize,
    gather: impl Fn(&mut [u8], &[u8], usize),
) -> Result<(), Error> {
    let size = |n: u64| usize::try_from(n).map_err(|_| Error::OutOfMemory);
    let (Some((&first, rest)), false) = (sides.split_first(), dst.is_empty()) else {
        dst.copy_from_slice(src);
        return Ok(());
    };
    let Some((&last, middle)) = rest.split_last() else {
        dst.copy_from_slice(src);
        return Ok(());
    };
    let (first, last) = (size(first)?, size(last)?);
    // In `dst` axis d skips the product of the sides behind it, in `src` that of those before it.
    let to: Vec<u64> = strides(sides);
    let turned: Vec<u64> = sides.iter().rev().copied().collect();
    let from: Vec<u64> = strides(&turned).into_iter().rev().collect();
    let bytes = |stride: Option<&u64>| size(stride.copied().unwrap_or(1)).map(|n| n.saturating_mul(item));
    let (to_row, from_row) = (bytes(to.first())?, bytes(from.last())?);
    let ranges: Vec<Range<u64>> = middle.iter().map(|&side| 0..side).collect();
    let mut index: Vec<u64> = alloc::vec![0; middle.len()];
    loop {
        let base = |strides: &[u64]| {
            let inner = strides.iter().skip(1).zip(&index);
            size(inner.fold(0u64, |n, (&stride, &i)| n.saturating_add(stride.saturating_mul(i))))
        };
        let (to_base, from_base) = (base(&to)?.saturating_mul(item), base(&from)?.saturating_mul(item));
        for rows in (0..first).step_by(TILE) {
            for columns in (0..last).step_by(TILE) {
                let n = TILE.min(last.saturating_sub(columns)).saturating_mul(item);
                for row in rows..rows.saturating_add(TILE).min(first) {
                    let at = to_base
                        .saturating_add(row.saturating_mul(to_row))
                        .saturating_add(columns.saturating_mul(item));
                    let start = from_base
                        .saturating_add(row.saturating_mul(item))
                        .saturating_add(columns.saturating_mul(from_row));
                    let (Some(to), Some(from)) = (dst.get_mut(at..at.saturating_add(n)), src.get(start..))
                    else {
                        continue;
                    };
                    gather(to, from, from_row);
                }
            }
        }
        let mut axes = index.iter_mut().zip(&ranges).rev();
        loop {
            let Some((i, range)) = axes.next() else { return Ok(()) };
            *i = i.saturating_add(1);
            if *i < range.end {
                break;
            }
            *i = 0;
        }
    }
}

#[cfg(test)]
#[allow(clippy::indexing_slicing, clippy::arithmetic_side_effects)]
mod tests {
    use super::*;

    #[test]
    fn boxes_cover_every_run_in_order() {
        for shape in [&[4u64, 3, 5][..], &[60], &[1, 60], &[2, 1, 30]] {
            let strides = strides(shape);
            for start in 0..60 {
                for end in start + 1..=60 {
                    let (mut at, mut boxes) = (start, 0);
                    while at < end {
                        let (ranges, n) = next_box(shape, &strides, at, end);
                        let volume: u64 = ranges.iter().map(|r| r.end - r.start).product();
                        let first: u64 = ranges.iter().zip(&strides).map(|(r, s)| r.start * s).sum();
                        assert!(
                            volume == n && first == at && ranges.iter().zip(shape).all(|(r, &s)| r.end <= s)
                        );
                        at += n;
                        boxes += 1;
                    }
                    assert!(at == end && boxes <= 2 * shape.len());
                }
            }
        }
    }

    #[test]
    fn runs_cover_every_box_in_order() {
        let shape = [3u64, 4, 5];
        for a in 0..=3u64 {
            for b in 0..=4u64 {
                for c in 0..=5u64 {
                    let ranges = [a / 2..a, b / 3..b, c / 2..c];
                    let runs = Runs::new(&shape, &ranges);
                    let mut found = Vec::new();
                    runs.each(&mut |first| {
                        found.extend(first..first + runs.len);
                        Ok(())
                    })
                    .unwrap();
                    let mut want = Vec::new();
                    for i in ranges[0].clone() {
                        for j in ranges[1].clone() {
                            want.extend(ranges[2].clone().map(|k| (i * 4 + j) * 5 + k));
                        }
                    }
                    assert_eq!(found, want, "{ranges:?}");
                }
            }
        }
        assert_eq!(Runs::new(&shape, &[0..3, 1..2, 0..5]).gap(), Some(15));
        assert_eq!(Runs::new(&shape, &[1..3, 0..4, 0..5]).gap(), None);
    }

    #[test]
    fn axes_are_reversed_for_every_item_size_and_shape() {
        for item in [1usize, 2, 3, 4, 8, 16, 20] {
            for sides in [&[][..], &[7], &[3, 40], &[40, 3], &[35, 37], &[3, 4, 5], &[5, 1, 18, 2], &[0, 4]] {
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
