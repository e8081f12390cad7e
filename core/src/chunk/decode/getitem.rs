//! Partial reads: items and byte ranges, touching only the blocks they cross (docs/formats/chunk.md §7).
#![deny(clippy::indexing_slicing, clippy::arithmetic_side_effects)]

use super::Decoder;
use super::plain::copy_plain;
use super::reader::{ChunkReader, Scratch};
use crate::arch::out::Room;
use crate::chunk::view::Chunk;
use crate::error::Error;
use core::ops::Range;

impl Decoder<'_> {
    /// Decodes items `range`, counted in units of the header's typesize; returns the bytes written.
    ///
    /// # Errors
    /// `OutOfRange` if the range leaves the chunk or runs backwards; else as [`decode`](Self::decode).
    pub fn get_items(
        &mut self,
        chunk: &Chunk<'_>,
        range: Range<usize>,
        out: &mut (impl Room + ?Sized),
    ) -> Result<usize, Error> {
        let size = usize::from(chunk.header().typesize);
        let items = chunk.nbytes().checked_div(size).unwrap_or(0);
        let outside = |index: usize| Error::OutOfRange { index: index as u64, len: items as u64 };
        let start = range.start.checked_mul(size).ok_or(outside(range.start))?;
        let end = range.end.checked_mul(size).ok_or(outside(range.end))?;
        if range.start > range.end || range.end > items {
            return Err(outside(range.start.max(range.end)));
        }
        self.get_bytes(chunk, start..end, out)
    }

    /// Decodes the decoded bytes `range`; returns how many there are. The result is exactly that part
    /// of a full decode, whatever the filters.
    ///
    /// # Errors
    /// As [`get_items`](Self::get_items).
    pub fn get_bytes(
        &mut self,
        chunk: &Chunk<'_>,
        range: Range<usize>,
        out: &mut (impl Room + ?Sized),
    ) -> Result<usize, Error> {
        let outside =
            Error::OutOfRange { index: range.start.max(range.end) as u64, len: chunk.nbytes() as u64 };
        if range.end > chunk.nbytes() {
            return Err(outside);
        }
        let len = range.end.checked_sub(range.start).ok_or(outside)?;
        let mut out = out.room();
        let given = out.len();
        let mut out = out.get(0, len).ok_or(Error::OutputTooSmall { needed: len, given })?;
        if len == 0 {
            return Ok(0);
        }
        if !chunk.header().has_streams() {
            copy_plain(chunk, range.start, out)?;
            return Ok(len);
        }
        let reader = self.reader(chunk);
        let (mut scratch, context) = self.scratch(&reader)?;
        let needs_first = reader.needs_first();
        if needs_first {
            reader.first_block(&mut scratch, context)?;
        }
        let (mut index, mut block_start) = first_block_of(&reader, range.start)?;
        let mut done = 0usize;
        while done < len {
            let block_len = reader.block_len(index)?;
            let block_end = block_start.saturating_add(block_len);
            let from = range.start.max(block_start).saturating_sub(block_start);
            let to = range.end.min(block_end).saturating_sub(block_start);
            let mut place = out.get(done, to.saturating_sub(from)).ok_or(outside)?;
            done = done.saturating_add(place.len());
            let Scratch { a, b, r } = &mut scratch;
            if index == 0 && needs_first {
                place.copy_from(r.get(from..to).ok_or(outside)?);
            } else {
                let reference = needs_first.then_some(&**r);
                if place.len() == block_len {
                    reader.block(index, a, b, reference, context, place)?;
                } else {
                    reader.part(index, from..to, a, b, reference, context, place)?;
                }
            }
            index = index.saturating_add(1);
            block_start = block_end;
        }
        Ok(len)
    }
}

/// The block that decoded byte `at` lies in, and where that block starts.
fn first_block_of(reader: &ChunkReader<'_>, at: usize) -> Result<(usize, usize), Error> {
    if !reader.header().is_vl() {
        let blocksize = reader.header().blocksize as usize;
        let index = at.checked_div(blocksize).unwrap_or(0);
        return Ok((index, index.saturating_mul(blocksize)));
    }
    let (mut index, mut start) = (0usize, 0usize);
    loop {
        let next = start.saturating_add(reader.block_len(index)?);
        if next > at {
            return Ok((index, start));
        }
        start = next;
        index = index.saturating_add(1);
    }
}
