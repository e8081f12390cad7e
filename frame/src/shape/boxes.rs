//! Boxes of items in an array, and what runs of a C-order array they are.
//!
//! ```text
//! run of items in C order   →   boxes: one index of the outer axes, a range of one axis, all of the inner ones
//! box                       →   lines of runs of items that follow each other in the array
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

/// The runs of a box in a C-order array, all of `len` items. They lie in lines of `count` runs each, `step` items apart.
pub(crate) struct Runs<'a> {
    ranges: &'a [Range<u64>],
    strides: Vec<u64>,
    /// Number of axes along which lines are counted: those behind them are part of the line.
    outer: usize,
    /// Items of a run.
    pub len: u64,
    /// Runs of a line.
    pub count: u64,
    /// Items from the start of a run to that of the next one in the line.
    pub step: u64,
}

impl<'a> Runs<'a> {
    /// The runs of the box `ranges` of an array of `shape`.
    pub fn new(shape: &[u64], ranges: &'a [Range<u64>]) -> Runs<'a> {
        let size = |range: &Range<u64>| range.end.saturating_sub(range.start);
        let (mut len, mut counted) = (1u64, ranges.len());
        for (range, &side) in ranges.iter().zip(shape).rev() {
            counted = counted.saturating_sub(1);
            len = len.saturating_mul(size(range));
            if size(range) != side {
                break;
            }
        }
        if ranges.iter().any(Range::is_empty) {
            len = 0;
        }
        let strides = strides(shape);
        let axes = ranges.iter().zip(&strides).take(counted);
        let line = axes.enumerate().rfind(|(_, (range, _))| size(range) > 1);
        let (outer, count, step) = match line {
            Some((d, (range, &stride))) => (d, size(range), stride),
            None => (0, 1, len),
        };
        Runs { ranges, strides, outer, len, count, step }
    }

    /// Items between the end of a run and the start of the next one; `None` when there is only one run.
    pub fn gap(&self) -> Option<u64> {
        (self.count > 1).then(|| self.step.saturating_sub(self.len))
    }

    /// Calls `take` with the first item of each line, in order.
    ///
    /// # Errors
    /// What `take` returns.
    pub fn each_line(&self, take: &mut dyn FnMut(u64) -> Result<(), Error>) -> Result<(), Error> {
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
                    runs.each_line(&mut |first| {
                        let starts = (0..runs.count).map(|k| first + k * runs.step);
                        found.extend(starts.flat_map(|start| start..start + runs.len));
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
}
