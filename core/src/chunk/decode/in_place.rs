//! Decoding a chunk over itself: one buffer holds the chunk at its end and the decoded bytes from its start on.
//!
//! ```text
//! 0                       at                            nbytes   nbytes + margin
//! |                       | header | block 0 | block 1 |  …      |     the chunk ends here
//! | decoded ---->         | <---- gathered block by block |
//! ```
//! Each compressed block is gathered before its decoded bytes are written, so block `i` may be written up to where it ended.
//! `at` must be at least the largest of `decoded end of i - compressed end of i`.
#![deny(clippy::indexing_slicing, clippy::arithmetic_side_effects)]

use super::push::PushDecoder;
use crate::arch::out::Out;
use crate::chunk::header::Special;
use crate::chunk::view::Chunk;
use crate::error::Error;

impl Chunk<'_> {
    /// By how many bytes the chunk must reach beyond the end of its decoded bytes to be decoded over itself: in a buffer of
    /// `nbytes + in_place_margin` bytes the chunk lies at the end. See [`PushDecoder::decode_in_place`].
    ///
    /// # Errors
    /// `Unsupported` where the blocks do not lie in order, as a writer with threads may leave them.
    pub fn in_place_margin(&self) -> Result<usize, Error> {
        let end = self.least_place()?.saturating_add(self.bytes().len());
        Ok(end.saturating_sub(self.nbytes()))
    }

    /// The first place in the buffer at which the chunk may start.
    fn least_place(&self) -> Result<usize, Error> {
        let header = self.header();
        if !header.has_streams() {
            return Ok(match header.special() {
                Some(Special::Value) => self.nbytes().saturating_sub(self.bytes().len()),
                Some(_) => self.nbytes().saturating_sub(header.header_len()),
                None => 0,
            });
        }
        let (mut end, mut decoded, mut least) = (self.prefix_len()?, 0usize, 0);
        for index in 0..self.nblocks() {
            let start = self.block_start(index)?;
            if start < end {
                return Err(Error::Unsupported(
                    "blocks out of order: the chunk cannot be decoded over itself",
                ));
            }
            end = self.block_end(index)?;
            decoded = decoded.saturating_add(self.block_len(index)?);
            least = least.max(decoded.saturating_sub(end));
        }
        Ok(least)
    }

    /// Where the last stream of block `index` ends.
    fn block_end(&self, index: usize) -> Result<usize, Error> {
        if self.header().is_vl() {
            let next = index.saturating_add(1);
            return if next < self.nblocks() { self.block_start(next) } else { Ok(self.bytes().len()) };
        }
        let mut streams = self.streams(index)?;
        while streams.next_stream()?.is_some() {}
        Ok(streams.offset())
    }
}

impl PushDecoder<'_> {
    /// Decodes the chunk that starts at byte `at` of `buffer` to the buffer's own start; returns the decoded size. Needs the
    /// decoder's memory, but no second buffer of the decoded size.
    ///
    /// # Errors
    /// Before anything is written: as [`Chunk::parse`] and [`Chunk::in_place_margin`], `Param` if the chunk starts too early,
    /// `OutputTooSmall`. After a corrupt stream the chunk is lost.
    ///
    /// ```
    /// use blosc_core::{Chunk, Level, PushDecoder};
    /// # #[cfg(feature = "alloc")] {
    /// # let data: Vec<u8> = (0..5000u32).flat_map(u32::to_le_bytes).collect();
    /// # let bytes = blosc_core::compress(&blosc_core::Params::new(4).blocksize(Some(4096)), &data).unwrap();
    /// let chunk = Chunk::parse(&bytes)?;
    /// let mut buffer = vec![0; chunk.nbytes() + chunk.in_place_margin()?];
    /// let at = buffer.len() - bytes.len();
    /// buffer[at..].copy_from_slice(&bytes);                         // received there
    ///
    /// let mut memory = [0; PushDecoder::memory_max(4096, 4, 0)];
    /// let n = PushDecoder::new(Level::SCALAR, &mut memory).decode_in_place(&mut buffer, at)?;
    /// assert_eq!(buffer[..n], data);
    /// # }
    /// # Ok::<(), blosc_core::Error>(())
    /// ```
    pub fn decode_in_place(mut self, buffer: &mut [u8], at: usize) -> Result<usize, Error> {
        let chunk = Chunk::parse_with(buffer.get(at..).unwrap_or(&[]), self.chunk_limits())?;
        let (needed, given, least) = (chunk.nbytes(), buffer.len(), chunk.least_place()?);
        if given < needed {
            return Err(Error::OutputTooSmall { needed, given });
        }
        if at < least {
            let allowed =
                "where the chunk ends at least `Chunk::in_place_margin` bytes after its decoded bytes";
            return Err(Error::Param { name: "start of the chunk", value: at as i64, allowed });
        }
        while !self.is_done() {
            let from = at.saturating_add(self.position());
            let bytes = buffer.get(from..).unwrap_or(&[]);
            let mut bytes = bytes.get(..self.needs()).unwrap_or(bytes);
            if let Some(block) = self.push(&mut bytes)?
                && let Some(place) = buffer.get_mut(block.offset..)
            {
                Out::from(place).copy_from(block.bytes);
            }
        }
        Ok(needed)
    }
}
