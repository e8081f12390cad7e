//! Selections in and out of chunks that somebody else decodes and encodes: [`ChunkAccess`].
//!
//! ```text
//! read, for each chunk touched:
//!     it lies in the result as it is stored  -> decoded there
//!     most of its blocks are touched         -> decode it, copy the items out
//!     else, for each block touched           -> decode what its items span, or straight to the result; copy them out
//! write, for each chunk touched:
//!     not all of its items are given         -> decode it
//!     put the items into their blocks; encode
//! ```
//! Nothing here knows of a frame: [`NdArray`](super::NdArray) writes through it, and so does the C library, whose callers
//! bring codecs and filters of their own.
#![deny(clippy::indexing_slicing, clippy::arithmetic_side_effects)]

use super::room::fit;
use super::select::Selection;
use super::walk::{contiguous, gather, scatter};
use crate::error::Error;
use crate::shape::{Dims, Geometry};
use alloc::vec::Vec;
use core::ops::Range;

/// The chunks of an array, by their numbers.
pub trait ChunkAccess {
    /// What reading and writing them can give.
    type Error: From<Error>;

    /// Decodes bytes `range` of chunk `chunk` to `out`, which is as long.
    ///
    /// # Errors
    /// Errors of reading the chunk.
    fn read(&mut self, chunk: u64, range: Range<usize>, out: &mut [u8]) -> Result<(), Self::Error>;

    /// Makes chunk `chunk` one that holds exactly `data`.
    ///
    /// # Errors
    /// Errors of encoding and storing it.
    fn write(&mut self, chunk: u64, data: &[u8]) -> Result<(), Self::Error>;
}

/// Checks that a buffer of `len` bytes is a C-order array of `shape` that has room for the selection at its beginning.
fn check_buffer(
    geometry: &Geometry,
    selection: &Selection,
    shape: &[u64],
    len: usize,
) -> Result<Dims<u64>, Error> {
    let bytes = shape.iter().try_fold(u64::from(geometry.typesize()), |n, side| n.checked_mul(*side));
    let room = shape.len() == selection.shape().len()
        && shape.iter().zip(selection.shape().iter()).all(|(side, count)| count <= side);
    match Dims::new(shape) {
        Some(dims) if room && bytes.is_some_and(|bytes| bytes <= len as u64) => Ok(dims),
        _ => {
            let value = i64::try_from(len).unwrap_or(i64::MAX);
            Err(Error::Param {
                name: "bytes of a buffer",
                value,
                allowed: "its shape's; the selection fits in",
            })
        }
    }
}

impl Selection {
    /// The numbers of the chunks that hold selected items of an array of this geometry, in the order in which they are
    /// read: ascending.
    pub fn chunks(&self, geometry: &Geometry) -> Vec<u64> {
        let (mut walk, mut numbers) = (self.walk(geometry), Vec::new());
        while let Some(touched) = walk.next() {
            numbers.push(touched.chunk);
        }
        numbers
    }

    /// Reads the selected items of an array of this geometry to the beginning of `out`, a C-order array of `shape` items.
    ///
    /// # Errors
    /// `Param` for a buffer that is smaller than its shape, or than the selection along an axis; what `chunks` gives.
    pub fn read<C: ChunkAccess>(
        &self,
        geometry: &Geometry,
        chunks: &mut C,
        (out, shape): (&mut [u8], &[u64]),
    ) -> Result<(), C::Error> {
        let shape = check_buffer(geometry, self, shape, out.len())?;
        let (size, all) = (geometry.block_bytes() as usize, geometry.chunk_bytes() as usize);
        let mut buf = Vec::new();
        let mut walk = self.walk(geometry);
        while let Some(touched) = walk.next() {
            let whole = contiguous(&touched, geometry, &shape).filter(|place| place.len() == all);
            if let Some(place) = whole.and_then(|place| out.get_mut(place)) {
                chunks.read(touched.chunk, 0..all, place)?;
                continue;
            }
            if touched.nblocks().saturating_mul(2) > geometry.nblocks().into() {
                fit(&mut buf, all)?;
                chunks.read(touched.chunk, 0..all, &mut buf)?;
                gather(&touched, geometry, &shape, &buf, out);
                continue;
            }
            fit(&mut buf, size)?;
            for block in touched.blocks() {
                let start = (block.block as usize).saturating_mul(size);
                let within =
                    |part: &Range<usize>| start.saturating_add(part.start)..start.saturating_add(part.end);
                if let Some((from, to)) = block.dense(geometry, &shape)
                    && let Some(to) = out.get_mut(to)
                {
                    chunks.read(touched.chunk, within(&from), to)?;
                    continue;
                }
                let span = block.span(geometry);
                chunks.read(touched.chunk, within(&span), buf.get_mut(span.clone()).unwrap_or(&mut []))?;
                block.copies(geometry, &shape, |s| s.gather(&buf, out, 0));
            }
        }
        Ok(())
    }

    /// Sets the selected items of an array of this geometry to those at the beginning of `data`, a C-order array of `shape`
    /// items. Of an index that is listed twice the last value stays. Items of chunks that are `new` need not be read.
    ///
    /// # Errors
    /// As [`Selection::read`].
    pub fn write<C: ChunkAccess>(
        &self,
        geometry: &Geometry,
        chunks: &mut C,
        (data, shape): (&[u8], &[u64]),
        new: bool,
    ) -> Result<(), C::Error> {
        let shape = check_buffer(geometry, self, shape, data.len())?;
        let mut buf = Vec::new();
        let mut walk = self.walk(geometry);
        while let Some(touched) = walk.next() {
            let (start, count) = geometry.chunk_region(touched.chunk);
            let all = geometry.chunk_bytes() as usize;
            // Data that lies as the chunk shall be is encoded from there.
            if let Some(place) = contiguous(&touched, geometry, &shape).filter(|place| place.len() == all)
                && let Some(chunk) = data.get(place)
            {
                chunks.write(touched.chunk, chunk)?;
                continue;
            }
            fit(&mut buf, all)?;
            if new || self.covers(&start, &count) {
                buf.fill(0);
            } else {
                chunks.read(touched.chunk, 0..all, &mut buf)?;
            }
            scatter(&touched, geometry, &shape, data, &mut buf);
            chunks.write(touched.chunk, &buf)?;
        }
        Ok(())
    }
}

/// Copies a box of `shape` items from one array to another, each given as `(geometry, chunks, where the box begins)`, a chunk
/// of the target at a time. Items of chunks that are `new` need not be read.
///
/// # Errors
/// A box that is not inside both arrays, and what the chunks give.
pub fn copy_between<S: ChunkAccess, T: ChunkAccess<Error = S::Error>>(
    shape: &[u64],
    (from, source, start): (&Geometry, &mut S, &[u64]),
    (to, target, at): (&Geometry, &mut T, &[u64]),
    new: bool,
) -> Result<(), S::Error> {
    let ranges = |at: &[u64], shape: &[u64]| -> Vec<Range<u64>> {
        at.iter().zip(shape).map(|(at, n)| *at..at.saturating_add(*n)).collect()
    };
    let whole = ranges(at, shape);
    let mut items = Vec::new();
    for chunk in Selection::ranges(to.shape(), &whole)?.chunks(to) {
        let (first, count) = to.chunk_region(chunk);
        let chunk = ranges(&first, &count);
        let both = whole.iter().zip(&chunk).map(|(a, b)| a.start.max(b.start)..a.end.min(b.end));
        let both: Vec<Range<u64>> = both.collect();
        let sides: Vec<u64> = both.iter().map(|range| range.end.saturating_sub(range.start)).collect();
        let skipped = both.iter().zip(at).map(|(range, at)| range.start.saturating_sub(*at));
        let place: Vec<u64> = skipped.zip(start).map(|(n, start)| start.saturating_add(n)).collect();
        let bytes = sides.iter().fold(u64::from(from.typesize()), |n, side| n.saturating_mul(*side));
        fit(&mut items, usize::try_from(bytes).map_err(|_| Error::OutOfMemory)?)?;
        let part = Selection::ranges(from.shape(), &ranges(&place, &sides))?;
        part.read(from, source, (&mut items, &sides))?;
        Selection::ranges(to.shape(), &both)?.write(to, target, (&items, &sides), new)?;
    }
    Ok(())
}

/// `(chunk, byte in the chunk, number in the list)` of positions of the flattened array, sorted.
///
/// # Errors
/// `OutOfRange` for a position outside the array.
pub(super) fn addresses(geometry: &Geometry, positions: &[u64]) -> Result<Vec<(u64, usize, usize)>, Error> {
    let mut places = Vec::new();
    places.try_reserve_exact(positions.len()).map_err(|_| Error::OutOfMemory)?;
    let len = geometry.items();
    for (n, position) in positions.iter().enumerate() {
        let mut index = *geometry.shape();
        let mut rest = *position;
        for side in index.iter_mut().rev() {
            let s = (*side).max(1);
            *side = rest.checked_rem(s).unwrap_or(0);
            rest = rest.checked_div(s).unwrap_or(0);
        }
        let outside = Error::OutOfRange { what: "item", index: *position, len };
        let (chunk, block, item) = geometry.locate(&index).filter(|_| *position < len).ok_or(outside)?;
        // Both below 2^31: the geometry bounds the bytes of a chunk.
        let block = block.saturating_mul(geometry.block_bytes()) as usize;
        places.push((chunk, block.saturating_add(item.saturating_mul(geometry.typesize()) as usize), n));
    }
    places.sort_unstable();
    Ok(places)
}

/// Reads the items at these positions of the flattened array (C order) to `out`, in their order, repeats allowed. Each
/// block is decoded once.
///
/// # Errors
/// `OutOfRange` for a position outside the array, `Param` for an `out` of another size, and what `chunks` gives.
pub fn read_flat<C: ChunkAccess>(
    geometry: &Geometry,
    chunks: &mut C,
    positions: &[u64],
    out: &mut [u8],
) -> Result<(), C::Error> {
    let t = geometry.typesize() as usize;
    super::room::check_len((positions.len() as u64).saturating_mul(t as u64), out.len())?;
    let size = (geometry.block_bytes() as usize).max(1);
    let number = |at: usize| at.checked_div(size).unwrap_or(0);
    let mut span = Vec::new();
    for same in addresses(geometry, positions)?.chunk_by(|a, b| (a.0, number(a.1)) == (b.0, number(b.1))) {
        let [(chunk, first, _), ..] = same else { continue };
        let end = same.last().map_or(0, |(_, at, _)| at.saturating_add(t));
        // No more than from the first of them to the last: the block's padding may be damaged.
        fit(&mut span, end.saturating_sub(*first))?;
        chunks.read(*chunk, *first..end, &mut span)?;
        for (_, at, place) in same {
            let (from, place) = (at.saturating_sub(*first), place.saturating_mul(t));
            let to = out.get_mut(place..place.saturating_add(t));
            if let (Some(to), Some(from)) = (to, span.get(from..from.saturating_add(t))) {
                to.copy_from_slice(from);
            }
        }
    }
    Ok(())
}
