//! [`Chunk`]: a borrowed chunk whose header and offsets have been checked.
#![deny(clippy::indexing_slicing, clippy::arithmetic_side_effects)]

use super::blocks::{Streams, stream_count};
use super::header::{FLAGS1_BIG_ENDIAN, FORMATS, Header, NOT_BUILT_IN, Special, le_i32};
use super::limits::Limits;
use crate::error::{Error, Field};
use core::ops::Range;

/// Largest dictionary a chunk may carry.
const MAX_DICTIONARY: usize = 32_768;

/// A chunk whose header and offsets have been checked. Bytes after its `cbytes` are ignored.
///
/// ```
/// # #[cfg(feature = "alloc")] {
/// use blosc_core::{Chunk, Params};
/// let bytes = blosc_core::compress(&Params::new(4), &[7; 1000]).unwrap();
/// let chunk = Chunk::parse(&bytes).unwrap();
/// assert_eq!((chunk.nbytes(), chunk.header().typesize), (1000, 4));
/// # }
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Chunk<'a> {
    bytes: &'a [u8],
    header: Header,
    /// Number of blocks.
    blocks: usize,
    /// Streams of every block but a short last one.
    streams: usize,
    /// Decoded length of each; 0 where the block size is not a multiple of their number.
    neblock: usize,
}

impl<'a> Chunk<'a> {
    /// Checks the header, the block starts, the dictionary and every stream's place, under the
    /// default limits. Afterwards no operation fails for a structural reason.
    ///
    /// # Errors
    /// The first thing found wrong, with its field and offset.
    pub fn parse(bytes: &'a [u8]) -> Result<Chunk<'a>, Error> {
        Chunk::parse_with(bytes, &Limits::DEFAULT)
    }

    /// [`parse`](Self::parse) under the caller's limits.
    ///
    /// # Errors
    /// As [`parse`](Self::parse); `Limit` where the chunk would cost more than `limits` allow.
    // Its second chunk, read with the rounded size, is off the stack before anything is decoded.
    #[cfg_attr(feature = "formats", inline(never))]
    pub fn parse_with(bytes: &'a [u8], limits: &Limits) -> Result<Chunk<'a>, Error> {
        // Checked where the caller wants it: a header is many small fields, and each copy of one just made waits for
        // all of them to reach the cache.
        let mut parsed = Chunk::read(bytes, limits);
        if let Ok(chunk) = &parsed {
            let better = match chunk.unrounded() {
                0 => None,
                _ if !FORMATS => Some(Err(NOT_BUILT_IN)),
                _ => chunk.rounded().map(Ok),
            };
            if let Some(better) = better {
                parsed = better;
            } else if let Err(e) = chunk.check_streams() {
                parsed = Err(e);
            }
        }
        parsed
    }

    /// Checks the header and its agreement with `bytes` only, so that a buffer of `cbytes` bytes in
    /// which just some blocks have been filled in can be read block by block; every operation
    /// checks what it touches.
    ///
    /// # Errors
    /// The first thing found wrong with the header or with the length of `bytes`; `Limit` as for
    /// [`parse_with`](Self::parse_with).
    pub fn parse_partial(bytes: &'a [u8], limits: &Limits) -> Result<Chunk<'a>, Error> {
        Chunk::read(bytes, limits)
    }

    #[inline(always)]
    fn read(bytes: &'a [u8], limits: &Limits) -> Result<Chunk<'a>, Error> {
        let header = Header::read(bytes)?;
        Chunk::check(&header, limits)?;
        let cbytes = header.cbytes as usize;
        let short = Error::Truncated { field: Field::Cbytes, offset: 12, needed: cbytes };
        Ok(Chunk::of(bytes.get(..cbytes).ok_or(short)?, header))
    }

    /// Checks what can be known before the rest of the chunk is there.
    #[inline(always)]
    pub(super) fn check(header: &Header, limits: &Limits) -> Result<(), Error> {
        if header.is_lazy() {
            return Err(Error::Invalid { field: Field::Flags1, offset: 31, value: i64::from(header.flags1) });
        }
        if header.flags1 & FLAGS1_BIG_ENDIAN != 0 {
            return Err(Error::BigEndian);
        }
        limits.check(header)?;
        let stored = header.header_len().saturating_add(header.nbytes as usize);
        if header.is_stored() && header.cbytes as usize != stored {
            return Err(Error::Invalid { field: Field::Cbytes, offset: 12, value: i64::from(header.cbytes) });
        }
        let table = header.nblocks().saturating_mul(4);
        if header.has_streams() && header.header_len().saturating_add(table) > header.cbytes as usize {
            let offset = header.header_len();
            return Err(Error::Truncated { field: Field::BlockStarts, offset, needed: table });
        }
        Ok(())
    }

    /// The divisions that every block needs, done once.
    #[inline(always)]
    pub(super) fn of(bytes: &'a [u8], header: Header) -> Chunk<'a> {
        let streams = stream_count(&header, false);
        let neblock = if streams == 1 {
            header.blocksize as usize
        } else {
            let (size, count) = (header.blocksize, streams as u32);
            if size.checked_rem(count) == Some(0) { size.checked_div(count).unwrap_or(0) as usize } else { 0 }
        };
        Chunk { bytes, header, blocks: header.nblocks(), streams, neblock }
    }

    /// Every block's every stream lies in the chunk.
    fn check_streams(&self) -> Result<(), Error> {
        if !self.header.has_streams() {
            return Ok(());
        }
        self.dictionary()?;
        if self.header.is_vl() {
            return self.check_vl();
        }
        for index in 0..self.blocks {
            let mut streams = self.streams(index)?;
            while streams.next_stream()?.is_some() {}
        }
        Ok(())
    }

    #[cold]
    fn check_vl(&self) -> Result<(), Error> {
        let mut total = 0u64;
        let mut last = self.prefix_len()?.saturating_sub(1);
        for index in 0..self.blocks {
            let start = self.block_start(index)?;
            if start <= last {
                return Err(self.bad_start(index, start));
            }
            last = start;
            total = total.saturating_add(self.vl_block(index)?.0 as u64);
        }
        if total != u64::from(self.header.nbytes) {
            return Err(Error::Invalid {
                field: Field::Nbytes,
                offset: 4,
                value: i64::from(self.header.nbytes),
            });
        }
        Ok(())
    }

    /// By how many bytes the block size exceeds a multiple of the typesize, where that is suspicious.
    #[inline(always)] // where nothing is pushed, it is called once
    pub(super) fn unrounded(&self) -> u32 {
        let h = &self.header;
        let s = u32::from(h.typesize);
        let plain = h.has_streams() && !h.is_vl() && h.is_extended() && h.blocksize > s;
        // A split block whose size is no multiple has no stream length.
        let whole = self.streams > 1 && self.neblock > 0;
        if plain && !whole { h.blocksize.checked_rem(s).unwrap_or(0) } else { 0 }
    }

    /// C-Blosc2 3.x cuts blocks at a multiple of the typesize but may store the block size it was
    /// asked for (docs/formats/chunk.md, appendix B1), and then cannot read its own chunk. No other writer is known to store
    /// such a size, so a chunk that is whole when read with the rounded size is read so.
    #[cold]
    fn rounded(&self) -> Option<Chunk<'a>> {
        let (h, excess) = (self.header, self.unrounded());
        let header = Header { blocksize: h.blocksize.checked_sub(excess)?, ..h };
        let chunk = Chunk::of(self.bytes, header);
        if chunk.table_end() > self.bytes.len() {
            return None;
        }
        chunk.check_streams().ok()?;
        // Every writer puts its first block right after the table, whose length tells the number of blocks.
        let first = (0..chunk.blocks).filter_map(|i| chunk.block_start(i).ok()).min();
        (first == chunk.prefix_len().ok()).then_some(chunk)
    }

    /// The header.
    #[inline]
    pub fn header(&self) -> &Header {
        &self.header
    }

    /// The chunk's own bytes, `cbytes` of them.
    #[inline]
    pub fn bytes(&self) -> &'a [u8] {
        self.bytes
    }

    /// Decoded size in bytes.
    #[inline]
    pub fn nbytes(&self) -> usize {
        self.header.nbytes as usize
    }

    /// Number of blocks.
    #[inline]
    pub fn nblocks(&self) -> usize {
        self.blocks
    }

    pub(super) fn table_end(&self) -> usize {
        self.header.header_len().saturating_add(self.blocks.saturating_mul(4))
    }

    /// Length of header, block starts and dictionary: what must be at hand before any block is read.
    ///
    /// # Errors
    /// If the dictionary's size word is not there or not allowed.
    pub fn prefix_len(&self) -> Result<usize, Error> {
        if !self.header.has_streams() {
            return Ok(self.header.header_len());
        }
        let table_end = self.table_end();
        if !self.header.has_dictionary() {
            return Ok(table_end);
        }
        let size = le_i32(self.bytes, table_end).ok_or(Error::Truncated {
            field: Field::Dictionary,
            offset: table_end,
            needed: 4,
        })?;
        match usize::try_from(size) {
            Ok(len @ 1..=MAX_DICTIONARY) => Ok(table_end.saturating_add(4).saturating_add(len)),
            _ => Err(Error::Invalid { field: Field::Dictionary, offset: table_end, value: i64::from(size) }),
        }
    }

    /// The dictionary's bytes, empty if there is none.
    ///
    /// # Errors
    /// `Truncated` where the chunk ends before the dictionary does, `Invalid` for a length that is not allowed.
    pub fn dictionary(&self) -> Result<&'a [u8], Error> {
        if !self.header.has_dictionary() {
            return Ok(&[]);
        }
        let start = self.table_end().saturating_add(4);
        let end = self.prefix_len()?;
        self.bytes.get(start..end).ok_or(Error::Truncated {
            field: Field::Dictionary,
            offset: start,
            needed: end.saturating_sub(start),
        })
    }

    /// The plain bytes of a stored chunk.
    pub(crate) fn stored_bytes(&self) -> Result<&'a [u8], Error> {
        let start = self.header.header_len();
        self.bytes.get(start..).and_then(|b| b.get(..self.nbytes())).ok_or(Error::Truncated {
            field: Field::StoredBytes,
            offset: start,
            needed: self.nbytes(),
        })
    }

    /// The value of a repeated-value chunk.
    pub(crate) fn repeated_value(&self) -> &'a [u8] {
        match self.header.special() {
            Some(Special::Value) => self.bytes.get(self.header.header_len()..).unwrap_or(&[]),
            Some(Special::Nan) if self.header.typesize == 4 => &[0, 0, 0xC0, 0x7F],
            Some(Special::Nan) => &[0, 0, 0, 0, 0, 0, 0xF8, 0x7F],
            _ => &[0],
        }
    }

    #[cold]
    fn no_block(&self, index: usize) -> Error {
        Error::OutOfRange { index: index as u64, len: self.nblocks() as u64 }
    }

    #[cold]
    fn no_shape(&self) -> Error {
        Error::Invalid { field: Field::Blocksize, offset: 8, value: i64::from(self.header.blocksize) }
    }

    #[cold]
    fn bad_start(&self, index: usize, value: usize) -> Error {
        let offset = self.header.header_len().saturating_add(index.saturating_mul(4));
        Error::Invalid { field: Field::BlockStarts, offset, value: value as i64 }
    }

    /// Offset in the chunk of block `index`.
    #[inline]
    pub(super) fn block_start(&self, index: usize) -> Result<usize, Error> {
        if index >= self.nblocks() {
            return Err(self.no_block(index));
        }
        let at = self.header.header_len().saturating_add(index.saturating_mul(4));
        let start = le_i32(self.bytes, at).ok_or(Error::Truncated {
            field: Field::BlockStarts,
            offset: at,
            needed: 4,
        })?;
        match usize::try_from(start) {
            Ok(start) if start > 0 && start < self.bytes.len() => Ok(start),
            _ => Err(Error::Invalid { field: Field::BlockStarts, offset: at, value: i64::from(start) }),
        }
    }

    /// Which bytes of the chunk hold block `index`. Blocks may lie in any order: a block ends where
    /// the next one in the chunk begins. Needs header and block starts only, and takes time
    /// proportional to the number of blocks.
    ///
    /// # Errors
    /// `OutOfRange` for a block that the chunk does not have, `Truncated` or `Invalid` where its start is not
    /// in the chunk.
    pub fn block_extent(&self, index: usize) -> Result<Range<usize>, Error> {
        if !self.header.has_streams() {
            let range = self.block_range(index)?;
            let base = if self.header.is_stored() { self.header.header_len() } else { 0 };
            return if self.header.special().is_some() {
                Ok(0..self.bytes.len())
            } else {
                Ok(base.saturating_add(range.start)..base.saturating_add(range.end))
            };
        }
        let start = self.block_start(index)?;
        let end = (0..self.nblocks())
            .filter_map(|i| self.block_start(i).ok())
            .filter(|&s| s > start)
            .min()
            .unwrap_or(self.bytes.len());
        Ok(start..end)
    }

    /// Decoded size of block `index`.
    #[inline]
    pub(crate) fn block_len(&self, index: usize) -> Result<usize, Error> {
        if index >= self.nblocks() {
            return Err(self.no_block(index));
        }
        if self.header.is_vl() {
            return Ok(self.vl_block(index)?.0);
        }
        let blocksize = self.header.blocksize as usize;
        Ok(self.nbytes().saturating_sub(index.saturating_mul(blocksize)).min(blocksize))
    }

    /// Where block `index` lies in the decoded data. For VL chunks this adds up the sizes of the
    /// blocks before it.
    ///
    /// # Errors
    /// `OutOfRange` for a block that the chunk does not have; what is wrong with the sizes of variable-length blocks.
    pub fn block_range(&self, index: usize) -> Result<Range<usize>, Error> {
        let len = self.block_len(index)?;
        let mut start = index.saturating_mul(self.header.blocksize as usize);
        if self.header.is_vl() {
            start = 0;
            for i in 0..index {
                start = start.saturating_add(self.vl_block(i)?.0);
            }
        }
        Ok(start..start.saturating_add(len))
    }

    /// The streams of block `index` of an ordinary chunk.
    ///
    /// # Errors
    /// `OutOfRange` for a block that the chunk does not have; what is wrong with where it begins.
    #[inline]
    pub fn streams(&self, index: usize) -> Result<Streams<'a>, Error> {
        let len = self.block_len(index)?;
        let leftover = len < self.header.blocksize as usize;
        let (count, neblock) = if leftover { (1, len) } else { (self.streams, self.neblock) };
        if neblock == 0 {
            return Err(self.no_shape());
        }
        Ok(Streams::new(self.bytes, self.block_start(index)?, count, neblock))
    }

    /// Number of streams of the first block, and the decoded length of each.
    pub(super) fn shape(&self) -> Result<(usize, usize), Error> {
        if self.neblock == 0 {
            return Err(self.no_shape());
        }
        Ok((self.streams, self.neblock))
    }

    /// Streams of every block but a short last one, which has one.
    pub(crate) fn streams_per_block(&self) -> usize {
        self.streams
    }

    /// Decoded size and payload of VL block `index` (docs/formats/chunk.md §2.8).
    pub(crate) fn vl_block(&self, index: usize) -> Result<(usize, &'a [u8]), Error> {
        let start = self.block_start(index)?;
        let end = match index.checked_add(1) {
            Some(next) if next < self.nblocks() => self.block_start(next)?,
            _ => self.bytes.len(),
        };
        let size = le_i32(self.bytes, start).ok_or(Error::Truncated {
            field: Field::VlBlockSize,
            offset: start,
            needed: 4,
        })?;
        let payload = self.bytes.get(start.saturating_add(4)..end).unwrap_or(&[]);
        if payload.is_empty() {
            return Err(self.bad_start(index, start));
        }
        match usize::try_from(size) {
            Ok(len) if len > 0 && len <= self.nbytes() => Ok((len, payload)),
            _ => Err(Error::Invalid { field: Field::VlBlockSize, offset: start, value: i64::from(size) }),
        }
    }

    /// Decoded size of the largest block.
    #[inline]
    pub(crate) fn largest_block(&self) -> usize {
        if self.header.is_vl() {
            (0..self.nblocks()).filter_map(|i| self.vl_block(i).ok()).map(|(len, _)| len).max().unwrap_or(0)
        } else {
            self.header.blocksize as usize
        }
    }
}
