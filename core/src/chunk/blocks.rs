//! A block's streams (docs/formats/chunk.md §2.3, §2.4): how many there are, and what each one holds.
#![deny(clippy::indexing_slicing, clippy::arithmetic_side_effects)]

use super::header::{FLAG_DONT_SPLIT, Header, le_i32};
use crate::error::{Error, Field};

/// Streams a block of `len` bytes is stored in. `leftover`: it is the short last block.
#[inline(always)] // a header that something points to must lie in memory before the chunk chunk_context it is made
pub(crate) fn stream_count(header: &Header, leftover: bool) -> usize {
    if header.is_vl() || header.flags & FLAG_DONT_SPLIT != 0 || leftover {
        return 1;
    }
    let s = u32::from(header.typesize);
    // Blosc up to 1.10 has no "don't split" bit and decides by sizes alone; C-Blosc2 cannot read those.
    let old_rule = !header.is_extended()
        && header.version <= 2
        && (s > 16 || header.blocksize.checked_div(s).is_none_or(|n| n < 128));
    if old_rule { 1 } else { s as usize }
}

/// One stream of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stream<'a> {
    /// Every byte has this value; nothing is stored.
    Run(u8),
    /// The bytes themselves.
    Stored(&'a [u8]),
    /// Codec output, which must expand to the stream's length.
    Coded(&'a [u8]),
}

/// The streams of one block, in order, read from the chunk's bytes.
#[derive(Clone, Copy, Debug)]
pub struct Streams<'a> {
    bytes: &'a [u8],
    at: usize,
    left: usize,
    neblock: usize,
}

impl<'a> Streams<'a> {
    /// `count` streams of `neblock` decoded bytes each, the first one's size word at `at`.
    pub(crate) fn new(bytes: &'a [u8], at: usize, count: usize, neblock: usize) -> Streams<'a> {
        Streams { bytes, at, left: count, neblock }
    }

    /// Decoded length of every stream.
    #[inline]
    pub fn stream_len(&self) -> usize {
        self.neblock
    }

    /// Streams not read yet.
    #[inline]
    pub fn remaining(&self) -> usize {
        self.left
    }

    /// Offset of the next stream in the chunk.
    #[inline]
    pub fn offset(&self) -> usize {
        self.at
    }

    /// The next stream, or `None` after the last.
    ///
    /// # Errors
    /// `Truncated` where the stream leaves the chunk, `Invalid` for a size or token that is not allowed.
    #[inline]
    pub fn next_stream(&mut self) -> Result<Option<Stream<'a>>, Error> {
        let Some(left) = self.left.checked_sub(1) else { return Ok(None) };
        let at = self.at;
        let size = le_i32(self.bytes, at).ok_or(Error::Truncated {
            field: Field::StreamSize,
            offset: at,
            needed: 4,
        })?;
        let body = at.saturating_add(4);
        let (stream, end) = if size > 0 {
            let len = size as usize;
            let end = body.saturating_add(len);
            let bytes = self.bytes.get(body..end).ok_or(Error::Truncated {
                field: Field::Stream,
                offset: body,
                needed: len,
            })?;
            (if len == self.neblock { Stream::Stored(bytes) } else { Stream::Coded(bytes) }, end)
        } else if size == 0 {
            (Stream::Run(0), body)
        } else {
            let value = u8::try_from(size.unsigned_abs()).map_err(|_| Error::Invalid {
                field: Field::StreamSize,
                offset: at,
                value: i64::from(size),
            })?;
            let token = *self.bytes.get(body).ok_or(Error::Truncated {
                field: Field::RunToken,
                offset: body,
                needed: 1,
            })?;
            if token & 1 == 0 {
                return Err(Error::Invalid { field: Field::RunToken, offset: body, value: i64::from(token) });
            }
            (Stream::Run(value), body.saturating_add(1))
        };
        self.at = end;
        self.left = left;
        Ok(Some(stream))
    }
}
