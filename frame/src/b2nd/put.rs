//! Items put into an array from a source that need not be in memory.
//!
//! ```text
//! for each box of whole chunks, of at most the bytes that are held at a time, which crosses the part to be set:
//!     read its items from the source; set them
//! ```
//! Each chunk is encoded once.
#![deny(clippy::indexing_slicing, clippy::arithmetic_side_effects)]

use super::array::NdArray;
use super::read::fit;
use crate::error::{Error, IoKind};
use crate::plain::{MOST_HELD, Plain};
use alloc::vec::Vec;
use blosc_core::Pool;
use core::ops::Range;

fn size(range: &Range<u64>) -> u64 {
    range.end.saturating_sub(range.start)
}

impl NdArray<'_> {
    /// Sets the box `ranges` to the items of `source`: those of a dense array of the box's shape, in C order. At most
    /// 64 MiB of them, or a chunk's, are in memory. `pool` decodes the source.
    ///
    /// # Errors
    /// `OutOfRange` for a box that is not inside the array, `Param` for a source of another size than the box, and
    /// whatever reading the source and the chunks can give.
    pub fn set_from(
        &mut self,
        pool: &mut Pool,
        ranges: &[Range<u64>],
        source: &dyn Plain,
    ) -> Result<(), Error> {
        self.set_pieces(MOST_HELD, pool, ranges, source)
    }

    /// As [`NdArray::set_from`], with at most `most` bytes in memory, or a chunk's.
    fn set_pieces(
        &mut self,
        most: u64,
        pool: &mut Pool,
        ranges: &[Range<u64>],
        source: &dyn Plain,
    ) -> Result<(), Error> {
        let item = u64::from(self.geometry.typesize());
        let shape: Vec<u64> = ranges.iter().map(size).collect();
        if shape.iter().fold(item, |n, side| n.saturating_mul(*side)) != source.nbytes() {
            let value = i64::try_from(source.nbytes()).unwrap_or(i64::MAX);
            let allowed = "as many as the shape and the item size demand";
            return Err(Error::Param { name: "number of bytes", value, allowed });
        }
        let steps = self.steps(most, &shape);
        let (mut buf, mut starts) = (Vec::new(), ranges.iter().map(|r| r.start).collect::<Vec<u64>>());
        if shape.contains(&0) {
            return Ok(());
        }
        loop {
            let ends = starts.iter().zip(&steps).zip(ranges);
            let piece: Vec<Range<u64>> = ends
                .map(|((&start, &step), range)| {
                    let end = start.checked_div(step).unwrap_or(0).saturating_add(1).saturating_mul(step);
                    start..end.min(range.end)
                })
                .collect();
            let bytes = piece.iter().fold(item, |n, range| n.saturating_mul(size(range)));
            fit(&mut buf, usize::try_from(bytes).map_err(|_| IoKind::OutOfMemory)?)?;
            let inside: Vec<Range<u64>> = piece
                .iter()
                .zip(ranges)
                .map(|(r, all)| r.start.saturating_sub(all.start)..r.end.saturating_sub(all.start))
                .collect();
            source.read_box(pool, (&shape, item), &inside, &mut buf)?;
            self.set_slice(&piece, &buf)?;
            let mut axes = starts.iter_mut().zip(&piece).zip(ranges).rev();
            loop {
                let Some(((start, piece), range)) = axes.next() else { return Ok(()) };
                *start = piece.end;
                if *start < range.end {
                    break;
                }
                *start = range.start;
            }
        }
    }

    /// As [`NdArray::insert`], of the items of `source`. At most 64 MiB of them, or a chunk's, are in memory. `pool`
    /// decodes the source.
    ///
    /// # Errors
    /// As [`NdArray::insert`], and what reading the source gives.
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

    /// Items along each axis that are set at a time in a box of `shape`: whole chunks, of the last axes first.
    fn steps(&self, most: u64, shape: &[u64]) -> Vec<u64> {
        let chunks = self.geometry.chunks();
        let volume =
            chunks.iter().fold(u64::from(self.geometry.typesize()), |n, c| n.saturating_mul((*c).into()));
        let mut left = most.checked_div(volume).unwrap_or(1).max(1);
        let axes = chunks.iter().zip(shape).rev();
        let mut steps: Vec<u64> = axes
            .map(|(&chunk, &side)| {
                let chunk = u64::from(chunk).max(1);
                let n = left.min(side.div_ceil(chunk).saturating_add(1)).max(1);
                left = left.checked_div(n).unwrap_or(1).max(1);
                chunk.saturating_mul(n)
            })
            .collect();
        steps.reverse();
        steps
    }
}

#[cfg(test)]
#[allow(clippy::indexing_slicing, clippy::arithmetic_side_effects)]
mod tests {
    use super::*;
    use crate::SuperChunk;
    use crate::b2nd::{Dtype, Spec};
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
                nd.set_pieces(most, pool, &ranges, &source).unwrap();
                assert_eq!(all(&mut nd), all(&mut want), "{ranges:?} {most}");
            }
            let short = Uncompressed::new(&data[..], 0, bytes.saturating_sub(2));
            assert_eq!(new().set_from(pool, &ranges, &short).is_err(), bytes > 0);
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
