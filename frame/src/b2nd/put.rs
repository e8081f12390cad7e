//! Items put into an array from a source that need not be in memory.
//!
//! ```text
//! for each box of whole chunks, of at most the bytes that are held at a time, in which items are to be set:
//!     read their values from the source; set them
//! ```
//! Each chunk is encoded once.
#![deny(clippy::indexing_slicing, clippy::arithmetic_side_effects)]

use super::array::ArrayOn;
use super::room::{SELECTED, fit};
use super::select::Selection;
use crate::error::{Error, IoKind};
use crate::plain::{MOST_HELD, Plain};
use crate::schunk::SuperChunk;
use alloc::vec::Vec;
use blosc_core::Pool;
use core::borrow::BorrowMut;
use core::ops::Range;

fn size(range: &Range<u64>) -> u64 {
    range.end.saturating_sub(range.start)
}

impl<'a, F: BorrowMut<SuperChunk<'a>>> ArrayOn<F> {
    /// Sets the box `ranges` to the items of `source`: those of a dense array of the box's shape, in C order. At most
    /// 64 MiB of them, or a chunk's, are in memory. `pool` decodes the source.
    ///
    /// # Errors
    /// `OutOfRange` for a box that is not inside the array, `Param` for a source of another size than the box, and
    /// errors of reading the source, of reading and writing chunks.
    pub fn set_from(
        &mut self,
        pool: &mut Pool,
        ranges: &[Range<u64>],
        source: &dyn Plain,
    ) -> Result<(), Error> {
        self.set_selection_from(pool, &Selection::ranges(self.shape(), ranges)?, source)
    }

    /// As [`ArrayOn::set_from`], of a selection. Where it has lists, the items of all indices of a list are in memory
    /// at once.
    ///
    /// # Errors
    /// As [`ArrayOn::set_from`].
    pub fn set_selection_from(
        &mut self,
        pool: &mut Pool,
        selection: &Selection,
        source: &dyn Plain,
    ) -> Result<(), Error> {
        self.set_pieces(MOST_HELD, pool, selection, source)
    }

    /// As [`ArrayOn::set_selection_from`], with at most `most` bytes in memory, or a chunk's.
    fn set_pieces(
        &mut self,
        most: u64,
        pool: &mut Pool,
        selection: &Selection,
        source: &dyn Plain,
    ) -> Result<(), Error> {
        let item = u64::from(self.layout.geometry.typesize());
        let (shape, chunks) = (*selection.shape(), *self.layout.geometry.chunks());
        if selection.items().saturating_mul(item) != source.nbytes() {
            let value = i64::try_from(source.nbytes()).unwrap_or(i64::MAX);
            return Err(Error::Param { name: "number of bytes", value, allowed: SELECTED });
        }
        if selection.items() == 0 {
            return Ok(());
        }
        let groups = selection.groups(most, &chunks, item);
        let (mut buf, mut starts) = (Vec::new(), alloc::vec![0u64; shape.len()]);
        loop {
            let piece = selection.chunk_box(&starts, &groups, &chunks);
            let bytes = piece.iter().fold(item, |n, range| n.saturating_mul(size(range)));
            fit(&mut buf, usize::try_from(bytes).map_err(|_| IoKind::OutOfMemory)?)?;
            source.read_box(pool, (&shape, item), &piece, &mut buf)?;
            self.set(&selection.part(&piece), &buf)?;
            let mut axes = starts.iter_mut().zip(&piece).zip(shape.iter()).rev();
            loop {
                let Some(((start, piece), side)) = axes.next() else { return Ok(()) };
                *start = piece.end;
                if *start < *side {
                    break;
                }
                *start = 0;
            }
        }
    }

    /// As [`ArrayOn::insert`], of the items of `source`. At most 64 MiB of them, or a chunk's, are in memory. `pool`
    /// decodes the source.
    ///
    /// # Errors
    /// As [`ArrayOn::insert`], and what reading the source gives.
    pub fn insert_from(
        &mut self,
        pool: &mut Pool,
        axis: usize,
        at: u64,
        source: &dyn Plain,
    ) -> Result<(), Error> {
        let rows = self.make_room(axis, at, source.nbytes())?;
        let mut ranges: Vec<Range<u64>> = self.shape().iter().map(|side| 0..*side).collect();
        if let Some(range) = ranges.get_mut(axis) {
            *range = at..at.saturating_add(rows);
        }
        match rows {
            0 => Ok(()),
            _ => self.set_from(pool, &ranges, source),
        }
    }
}

#[cfg(test)]
#[allow(clippy::indexing_slicing, clippy::arithmetic_side_effects)]
mod tests {
    use super::*;
    use crate::b2nd::{Dtype, NdArray, Spec, Take};
    use crate::plain::Uncompressed;

    /// Whatever is held at a time, the array is as if all had been set at once; and each chunk is written once.
    #[test]
    fn pieces_make_the_whole() {
        let spec = Spec::new(&[5, 7, 4], Dtype::parse("<u2").unwrap()).unwrap();
        let spec = spec.chunks(&[2, 3, 4]).unwrap().blocks(&[1, 2, 2]).unwrap();
        let old: Vec<u8> = (0..280).map(|i| (i % 251) as u8).collect();
        let new = || NdArray::from_slice(SuperChunk::memory(&spec.params()).unwrap(), &spec, &old).unwrap();
        let all = |nd: &mut NdArray<'_>| {
            let mut out = alloc::vec![0; usize::try_from(nd.geometry().nbytes()).unwrap()];
            let ranges: Vec<Range<u64>> = nd.shape().iter().map(|side| 0..*side).collect();
            nd.get_slice(&ranges, &mut out).unwrap();
            out
        };
        let pool = &mut Pool::new(1);
        for ranges in [[0..5, 0..7, 0..4], [1..4, 2..7, 1..3], [3..3, 0..7, 0..4], [4..5, 6..7, 3..4]] {
            let bytes = 2 * ranges.iter().map(size).product::<u64>();
            let data: Vec<u8> = (0..bytes).map(|i| 255 - (i % 250) as u8).collect();
            let mut want = new();
            want.set_slice(&ranges, &data).unwrap();
            for most in [1, 100, 1000] {
                let mut nd = new();
                let source = Uncompressed::new(&data[..], 0, bytes);
                let selection = Selection::ranges(nd.shape(), &ranges).unwrap();
                nd.set_pieces(most, pool, &selection, &source).unwrap();
                assert_eq!(all(&mut nd), all(&mut want), "{ranges:?} {most}");
            }
            let short = Uncompressed::new(&data[..], 0, bytes.saturating_sub(2));
            assert_eq!(new().set_from(pool, &ranges, &short).is_err(), bytes > 0);
        }
        let run = |start, step, count| Take::Run { start, step, count };
        for takes in [
            [run(4, -1, 5), run(6, -2, 4), run(3, -1, 4)],
            [run(0, 3, 2), run(1, 2, 3), run(1, 2, 2)],
            [run(1, 1, 3), Take::List(alloc::vec![6, 0, 3]), run(2, -2, 2)],
        ] {
            let selection = Selection::new(&[5, 7, 4], &takes).unwrap();
            let data: Vec<u8> = (0..2 * selection.items()).map(|i| 255 - (i % 250) as u8).collect();
            let mut want = new();
            want.set(&selection, &data).unwrap();
            for most in [1, 20, 100, 1000] {
                let mut nd = new();
                let source = Uncompressed::new(&data[..], 0, data.len() as u64);
                nd.set_pieces(most, pool, &selection, &source).unwrap();
                assert_eq!(all(&mut nd), all(&mut want), "{takes:?} {most}");
            }
        }
        for (axis, at) in [(0, 5), (0, 2), (1, 3), (2, 4), (2, 0)] {
            let row: usize = 280 / [5, 7, 4][axis];
            let data: Vec<u8> = (0..3 * row).map(|i| 255 - (i % 250) as u8).collect();
            let (mut nd, mut want) = (new(), new());
            want.insert(axis, at, &data).unwrap();
            nd.insert_from(pool, axis, at, &Uncompressed::new(&data[..], 0, data.len() as u64)).unwrap();
            assert_eq!(all(&mut nd), all(&mut want), "{axis} {at}");
            assert!(nd.insert_from(pool, axis, 99, &Uncompressed::new(&data[..], 0, row as u64)).is_err());
        }
    }
}
