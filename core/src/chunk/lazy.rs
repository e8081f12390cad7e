//! Lazy chunks: what C-Blosc2 keeps in memory of a chunk in a file (docs/formats/chunk.md §2.9).
//!
//! ```text
//! header (32, flags1 bit 3 set) | block starts: nblocks × i32 | nchunk: i32 | offset: i64 | block csizes: nblocks × i32
//! ```
//! They are never stored. [`LazyChunk::parse`] reads one, so that its blocks can be fetched from the
//! file it came from.
#![deny(clippy::indexing_slicing, clippy::arithmetic_side_effects)]

use super::header::{FLAGS1_LAZY, Header, le_i32};
use super::limits::Limits;
use crate::error::{Error, Field};

/// A parsed lazy chunk.
#[derive(Clone, Copy, Debug)]
pub struct LazyChunk<'a> {
    bytes: &'a [u8],
    header: Header,
    trailer: usize,
    offset: i64,
}

impl<'a> LazyChunk<'a> {
    /// Checks header and trailer.
    ///
    /// # Errors
    /// `Invalid` for a chunk without the lazy bit or a trailer that cannot be, `Truncated`, `Limit`.
    pub fn parse(bytes: &'a [u8], limits: &Limits) -> Result<LazyChunk<'a>, Error> {
        let header = Header::parse(bytes)?;
        if !header.is_lazy() || header.special().is_some() {
            return Err(Error::Invalid { field: Field::Flags1, offset: 31, value: i64::from(header.flags1) });
        }
        limits.check(&header)?;
        let table = header.nblocks().saturating_mul(4);
        let trailer = header.header_len().saturating_add(table);
        let needed = table.saturating_add(12);
        let cut = Error::Truncated { field: Field::LazyTrailer, offset: trailer, needed };
        if bytes.len() < trailer.saturating_add(needed) {
            return Err(cut);
        }
        let offset = bytes.get(trailer.saturating_add(4)..).and_then(|b| b.first_chunk::<8>()).ok_or(cut)?;
        let offset = i64::from_le_bytes(*offset);
        if offset < 0 {
            return Err(Error::Invalid {
                field: Field::LazyTrailer,
                offset: trailer.saturating_add(4),
                value: offset,
            });
        }
        Ok(LazyChunk { bytes, header, trailer, offset })
    }

    /// The header as it stands in the file, without the lazy bit.
    pub fn header(&self) -> Header {
        Header { flags1: self.header.flags1 & !FLAGS1_LAZY, ..self.header }
    }

    /// Index of the chunk in its super-chunk, or number of its file in a sparse frame.
    pub fn nchunk(&self) -> i32 {
        le_i32(self.bytes, self.trailer).unwrap_or(0)
    }

    /// Where the chunk starts, counted from the start of the frame.
    pub fn offset(&self) -> u64 {
        self.offset.unsigned_abs()
    }

    /// Which bytes of the stored chunk hold block `index`.
    ///
    /// # Errors
    /// `OutOfRange`, or `Invalid` for an offset or size outside the chunk.
    pub fn block_extent(&self, index: usize) -> Result<core::ops::Range<usize>, Error> {
        if index >= self.header.nblocks() {
            return Err(Error::OutOfRange { index: index as u64, len: self.header.nblocks() as u64 });
        }
        let entry = index.saturating_mul(4);
        let size_at = self.trailer.saturating_add(12).saturating_add(entry);
        let size = le_i32(self.bytes, size_at).unwrap_or(-1);
        let invalid = |value: i32| Error::Invalid {
            field: Field::LazyTrailer,
            offset: size_at,
            value: i64::from(value),
        };
        let len = usize::try_from(size).map_err(|_| invalid(size))?;
        let start = if self.header.is_stored() {
            self.header.header_len().saturating_add(index.saturating_mul(self.header.blocksize as usize))
        } else {
            let start = le_i32(self.bytes, self.header.header_len().saturating_add(entry)).unwrap_or(-1);
            usize::try_from(start).map_err(|_| invalid(start))?
        };
        let end = start.saturating_add(len);
        if len == 0 || end > self.header.cbytes as usize {
            return Err(invalid(size));
        }
        Ok(start..end)
    }
}
