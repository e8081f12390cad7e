//! Selections in pieces, so that what is read or set may be larger than memory.
//!
//! ```text
//! read    a piece is a run of the result in C order: one index of the outer axes, a range of one axis, all of the inner
//!         ones. The range ends where a chunk ends, else where a block does: what it holds is decoded once
//! set     a piece is a box of the result that is some whole chunks of the array: each is encoded once
//! ```
#![deny(clippy::indexing_slicing, clippy::arithmetic_side_effects)]

use super::array::ArrayOn;
use super::room::fit;
use super::select::{Order, Selection, ordinal};
use crate::error::{Error, IoKind};
use crate::schunk::SuperChunk;
use crate::shape::{next_box, strides};
use alloc::vec::Vec;
use core::borrow::BorrowMut;
use core::ops::Range;

/// How many times the bytes asked for a piece may have where that saves decoding blocks more than once.
const STRETCH: u64 = 4;

/// The index that is the `k`-th smallest of a run.
fn index(low: u64, step: u64, k: u64) -> u64 {
    low.saturating_add(step.saturating_mul(k))
}

impl Order {
    /// The last place in `range`, behind its start, at which the items of another chunk or block begin, whose length is
    /// `side`; of `count` places. None where there is no such place.
    fn last_border(&self, count: u64, range: &Range<u64>, side: u64) -> Option<u64> {
        let Order::Run { low, step, down } = *self else { return None };
        let side = side.max(1);
        let chunk_of = |k| index(low, step, k).checked_div(side).unwrap_or(0);
        let place = match down {
            true => {
                let next = chunk_of(count.saturating_sub(1).saturating_sub(range.end)).saturating_add(1);
                count.saturating_sub(ordinal(low, step, next.saturating_mul(side)))
            }
            false => ordinal(low, step, chunk_of(range.end).saturating_mul(side)),
        };
        (place > range.start).then_some(place)
    }

    /// The place behind those that lie in the same chunk as `start`, of `count` places. All indices of a list are
    /// taken for one chunk.
    fn chunk_end(&self, count: u64, start: u64, side: u64) -> u64 {
        let Order::Run { low, step, down } = *self else { return count };
        let side = side.max(1);
        let chunk_of = |k| index(low, step, k).checked_div(side).unwrap_or(0);
        let end = match down {
            true => {
                let chunk = chunk_of(count.saturating_sub(1).saturating_sub(start));
                count.saturating_sub(ordinal(low, step, chunk.saturating_mul(side)))
            }
            false => ordinal(low, step, chunk_of(start).saturating_add(1).saturating_mul(side)),
        };
        end.clamp(start.saturating_add(1), count)
    }

    /// Most places that lie in one chunk or block.
    fn most_inside(&self, count: u64, side: u64) -> u64 {
        match self {
            Order::Run { step, .. } => side.div_ceil((*step).max(1)).min(count),
            Order::List(_) => count,
        }
    }
}

impl Selection {
    /// What goes to the box `ranges` of the result.
    pub(super) fn part(&self, ranges: &[Range<u64>]) -> Selection {
        let mut part = self.clone();
        part.items = 1;
        let axes = part.axes.iter_mut().zip(part.counts.iter_mut()).zip(ranges);
        for ((order, count), range) in axes {
            match order {
                Order::Run { low, step, down } => {
                    let first = if *down { count.saturating_sub(range.end) } else { range.start };
                    *low = index(*low, *step, first);
                }
                Order::List(sorted) => {
                    sorted.retain(|(_, place)| range.contains(place));
                    sorted.iter_mut().for_each(|(_, place)| *place = place.saturating_sub(range.start));
                }
            }
            *count = range.end.saturating_sub(range.start);
            part.items = part.items.saturating_mul(*count);
        }
        part
    }

    /// The run of the result that starts at item `at` and has about `most` items; and how many it has.
    fn run(&self, at: u64, most: u64, chunks: &[u32], blocks: &[u32]) -> (Vec<Range<u64>>, u64) {
        let strides = strides(&self.counts);
        let axes = || self.axes.iter().zip(self.counts.iter()).zip(&strides);
        // Whole rows of blocks along the first axis where that is not much more.
        let rows = axes().zip(blocks).find(|(((_, count), _), _)| **count > 1);
        let rows = rows.map_or(0, |(((order, count), stride), side)| {
            order.most_inside(*count, (*side).into()).saturating_mul(*stride)
        });
        let most = if rows <= most.saturating_mul(STRETCH) { most.max(rows) } else { most };
        let (mut ranges, mut n) =
            next_box(&self.counts, &strides, at, self.items.min(at.saturating_add(most)));
        // Inner axes are whole, and outer ones have one index.
        let cut = ranges.iter_mut().zip(axes()).zip(chunks.iter().zip(blocks));
        let cut = cut.filter(|((range, ((_, count), _)), _)| range.end < **count && range.end > range.start);
        if let Some(((range, ((order, count), stride)), (chunk, block))) = cut.last()
            && n == stride.saturating_mul(range.end.saturating_sub(range.start))
        {
            let border = |side: &u32| order.last_border(*count, range, (*side).into());
            if let Some(end) = border(chunk).or_else(|| border(block)) {
                range.end = end;
                n = stride.saturating_mul(end.saturating_sub(range.start));
            }
        }
        (ranges, n)
    }

    /// Chunks along each axis that are set together in at most `most` bytes, of the last axes first.
    pub(super) fn groups(&self, most: u64, chunks: &[u32], item: u64) -> Vec<u64> {
        let inside: Vec<u64> = self
            .axes
            .iter()
            .zip(self.counts.iter())
            .zip(chunks)
            .map(|((order, count), side)| order.most_inside(*count, (*side).into()).max(1))
            .collect();
        let volume = inside.iter().fold(item, |n, side| n.saturating_mul(*side));
        let mut left = most.checked_div(volume).unwrap_or(1).max(1);
        let mut groups: Vec<u64> = Vec::new();
        for (count, inside) in self.counts.iter().zip(&inside).rev() {
            // A run may begin and end inside a chunk.
            let all = count.div_ceil(*inside).saturating_add(1);
            let n = left.min(all).max(1);
            left = left.checked_div(n).unwrap_or(1).max(1);
            groups.push(n);
        }
        groups.reverse();
        groups
    }

    /// The box of the result that starts at `starts` and lies in these numbers of chunks.
    pub(super) fn chunk_box(&self, starts: &[u64], groups: &[u64], chunks: &[u32]) -> Vec<Range<u64>> {
        let axes = self.axes.iter().zip(self.counts.iter()).zip(chunks);
        let axes = axes.zip(starts.iter().zip(groups));
        axes.map(|(((order, count), side), (start, group))| {
            let mut end = *start;
            for _ in 0..*group {
                if end < *count {
                    end = order.chunk_end(*count, end, (*side).into());
                }
            }
            *start..end
        })
        .collect()
    }
}

impl<'a, F: BorrowMut<SuperChunk<'a>>> ArrayOn<F> {
    /// Hands the selected items, in C order of the selection's shape, to `f` in pieces of about `piece` bytes: at most
    /// four times as many where that keeps blocks from being decoded again, and at least an item.
    ///
    /// # Errors
    /// What `f` returns, and errors of reading chunks.
    pub fn for_each_piece_of(
        &mut self,
        selection: &Selection,
        piece: u64,
        mut f: impl FnMut(&[u8]) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let item = u64::from(self.layout.geometry.typesize());
        let most = piece.checked_div(item).unwrap_or(1).max(1);
        let (chunks, blocks) = (*self.layout.geometry.chunks(), *self.layout.geometry.blocks());
        let (mut at, mut buf) = (0u64, Vec::new());
        while at < selection.items {
            let (ranges, n) = selection.run(at, most, &chunks, &blocks);
            fit(&mut buf, usize::try_from(n.saturating_mul(item)).map_err(|_| IoKind::OutOfMemory)?)?;
            self.get_into(&selection.part(&ranges), &mut buf)?;
            f(&buf)?;
            at = at.saturating_add(n);
        }
        Ok(())
    }

    /// Hands the array's bytes, in C order, to `f` in pieces, as [`ArrayOn::for_each_piece_of`] does.
    ///
    /// # Errors
    /// What `f` returns, and errors of reading chunks.
    pub fn for_each_piece(
        &mut self,
        piece: u64,
        f: impl FnMut(&[u8]) -> Result<(), Error>,
    ) -> Result<(), Error> {
        self.for_each_piece_of(&Selection::all(self.shape()), piece, f)
    }
}

#[cfg(test)]
#[allow(clippy::indexing_slicing, clippy::arithmetic_side_effects)]
mod tests {
    use super::*;
    use crate::b2nd::{Dtype, NdArray, Spec, Take};

    /// Whatever a piece holds, the pieces are the whole.
    #[test]
    fn pieces_of_a_selection_make_the_whole() {
        let spec = Spec::new(&[9, 7, 4], Dtype::parse("<u2").unwrap()).unwrap();
        let spec = spec.chunks(&[4, 3, 4]).unwrap().blocks(&[2, 2, 2]).unwrap();
        let items: Vec<u8> = (0..9 * 7 * 4u16).flat_map(u16::to_le_bytes).collect();
        let mut nd = NdArray::from_slice(SuperChunk::memory(&spec.params()).unwrap(), &spec, &items).unwrap();
        let run = |start, step, count| Take::Run { start, step, count };
        for takes in [
            [run(0, 1, 9), run(0, 1, 7), run(0, 1, 4)],
            [run(8, -1, 9), run(6, -2, 4), run(3, -1, 4)],
            [run(1, 3, 3), run(2, 1, 5), run(0, 2, 2)],
            [run(7, -3, 3), run(0, 5, 2), run(2, 1, 1)],
            [Take::List(alloc::vec![3, 0, 8, 3]), run(6, -1, 7), run(0, 1, 4)],
            [run(0, 1, 9), run(3, 1, 0), run(0, 1, 4)],
        ] {
            let selection = Selection::new(nd.shape(), &takes).unwrap();
            let want = nd.get(&selection).unwrap();
            for piece in [1, 2, 6, 8, 30, 56, 57, 100, 1000] {
                let (mut got, mut longest) = (Vec::new(), 0);
                let kept = nd.for_each_piece_of(&selection, piece, |bytes| {
                    longest = longest.max(bytes.len() as u64);
                    got.extend_from_slice(bytes);
                    Ok(())
                });
                kept.unwrap();
                assert_eq!(got, want, "{takes:?} in {piece}");
                assert!(longest <= 4 * piece.max(2), "{takes:?} in {piece}: {longest}");
            }
        }
    }

    /// Where pieces end inside an axis, they end where chunks do if these fit, else where blocks do.
    #[test]
    fn pieces_end_with_chunks_or_blocks() {
        let (order, up) = (|down| Order::Run { low: 1, step: 2, down }, 0..7);
        // Indices 1 3 5 7 9 11 13 15 in chunks of 4: borders before places 2, 4 and 6.
        assert_eq!(order(false).last_border(8, &up, 4), Some(6));
        assert_eq!(order(false).last_border(8, &(6..7), 4), None);
        // Backwards, 15 13 11 9 7 5 3 1.
        assert_eq!(order(true).last_border(8, &up, 4), Some(6));
        assert_eq!(order(true).last_border(8, &(0..5), 4), Some(4));
        assert_eq!(order(true).chunk_end(8, 0, 4), 2);
        assert_eq!(order(false).chunk_end(8, 3, 4), 4);
    }
}
