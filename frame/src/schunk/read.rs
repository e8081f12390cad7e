//! Reading: whole chunks, ranges of bytes or items, single blocks. Only what is needed is read.

use super::SuperChunk;
use super::load::{Wanted, load_blocks, tells_blocks};
use super::place::resize;
use super::sizes::{self, Sizes};
use crate::cframe::index::Entry;
use crate::cframe::view::fill_special;
use crate::error::{Error, IoKind, Structure};
use alloc::vec::Vec;
use blosc_core::{Chunk, ChunkContext, Header as ChunkHeader, Special};
use core::ops::Range;

/// Chunks below this size are read whole even when only some blocks are wanted.
pub(super) const READ_WHOLE: u64 = 64 << 10;

/// A chunk as it is stored.
#[derive(Clone, Copy, Debug)]
pub enum RawChunk<'s> {
    /// Its bytes.
    Stored(&'s [u8]),
    /// A special chunk of this many bytes.
    Special(Special, u32),
}

impl SuperChunk<'_> {
    pub(super) fn raw_entry(&self, k: u64) -> Result<Entry, Error> {
        super::shared::entry(&self.entries, k)
    }

    /// Where chunk `k` starts in the frame, or in its file, for errors.
    pub(crate) fn stored_at(&self, k: u64) -> u64 {
        match self.entry(k) {
            Some(Entry::Stored(entry)) => self.place.locate(entry).map_or(0, |located| located.at),
            _ => 0,
        }
    }

    /// Decoded size of chunk `k`, in bytes. Reads the chunk's header where the frame does not tell.
    pub fn chunk_nbytes(&mut self, k: u64) -> Result<u32, Error> {
        if self.sizes.len_of(k).is_none() && matches!(self.sizes, Sizes::Unread { .. }) {
            if let Entry::Stored(entry) = self.raw_entry(k)? {
                return Ok(self.place.locate(entry)?.header(k)?.nbytes);
            }
            self.read_sizes()?;
        }
        self.known_len(k)
    }

    fn known_len(&self, k: u64) -> Result<u32, Error> {
        self.raw_entry(k)?;
        self.sizes.len_of(k).ok_or(Error::Unsupported {
            structure: Structure::Index,
            what: "a special chunk in a frame of variable chunks (its size is lost)",
        })
    }

    /// The header of chunk `k`; `None` if it is a special chunk without bytes.
    pub fn chunk_header(&self, k: u64) -> Result<Option<ChunkHeader>, Error> {
        match self.raw_entry(k)? {
            Entry::Stored(entry) => Ok(Some(self.place.locate(entry)?.header(k)?)),
            Entry::Special(_) => Ok(None),
        }
    }

    /// Reads every chunk's header, to know its size.
    pub(super) fn read_sizes(&mut self) -> Result<(), Error> {
        if matches!(self.sizes, Sizes::Each { .. }) {
            return Ok(());
        }
        let count = usize::try_from(self.entries.len()).map_err(|_| IoKind::NoSpace)?;
        let mut lens = Vec::new();
        lens.try_reserve_exact(count).map_err(|_| IoKind::NoSpace)?;
        // Millions of entries may be the same: one look at their chunk is enough.
        let mut last = None;
        for k in 0..self.entries.len() {
            lens.push(match self.raw_entry(k)? {
                Entry::Stored(entry) => match last {
                    Some((same, len)) if same == entry => Some(len),
                    _ => {
                        let len = self.place.locate(entry)?.header(k)?.nbytes;
                        last = Some((entry, len));
                        Some(len)
                    }
                },
                Entry::Special(_) => self.sizes.len_of(k),
            });
        }
        let total = self.sizes.total();
        self.sizes = sizes::collect(lens.into_iter(), total).ok_or(Error::Invalid {
            structure: Structure::FrameHeader,
            field: "uncompressed_size (not the sum of the chunks)",
            offset: 0x1d,
            value: total as i64,
        })?;
        Ok(())
    }

    /// Chunk `k` as it is stored, borrowed where the frame lies in memory.
    pub fn raw_chunk(&mut self, k: u64) -> Result<RawChunk<'_>, Error> {
        match self.raw_entry(k)? {
            Entry::Stored(entry) => {
                let located = self.place.locate(entry)?.held_to(self.hashes.held(k));
                Ok(RawChunk::Stored(located.whole(k, &self.limits, &mut self.scratch)?))
            }
            Entry::Special(kind) => Ok(RawChunk::Special(kind, self.chunk_nbytes(k)?)),
        }
    }

    /// Decodes chunk `k` into a new vector.
    pub fn read_chunk(&mut self, k: u64) -> Result<Vec<u8>, Error> {
        let len = u64::from(self.chunk_nbytes(k)?);
        let limit = self.limits.chunk.output;
        if len > limit {
            return Err(Error::Limit { what: "bytes of a chunk", asked: len, limit });
        }
        let mut out = Vec::new();
        let len = usize::try_from(len).map_err(|_| IoKind::NoSpace)?;
        // A chunk's own header may disagree with the frame's; the chunk is right (docs/formats/cframe.md §3.4).
        if let Entry::Stored(entry) = self.raw_entry(k)? {
            let located = self.place.locate(entry)?.held_to(self.hashes.held(k));
            let at = located.at;
            let bytes = located.whole(k, &self.limits, &mut self.scratch)?;
            let in_chunk = |error| Error::Chunk { chunk: Some(k), offset: at, error };
            let chunk = Chunk::parse_with(bytes, &self.limits.chunk).map_err(in_chunk)?;
            resize(&mut out, chunk.nbytes())?;
            let around = around(self.header.typesize, &self.blockshape);
            self.pool.decompress_into(&chunk, around, &mut out).map_err(in_chunk)?;
            self.note_len(k, out.len())?;
            return Ok(out);
        }
        resize(&mut out, len)?;
        self.read_chunk_into(k, &mut out)?;
        Ok(out)
    }

    /// Decodes chunk `k` into the start of `out`; returns its size.
    pub fn read_chunk_into(&mut self, k: u64, out: &mut [u8]) -> Result<usize, Error> {
        self.read_chunk_of(k, out, 0)
    }

    /// As [`read_chunk_into`](Self::read_chunk_into), where `out` is part of an output of `whole` bytes.
    fn read_chunk_of(&mut self, k: u64, out: &mut [u8], whole: usize) -> Result<usize, Error> {
        match self.raw_entry(k)? {
            Entry::Stored(entry) => {
                let located = self.place.locate(entry)?.held_to(self.hashes.held(k));
                let at = located.at;
                let bytes = located.whole(k, &self.limits, &mut self.scratch)?;
                let in_chunk = |error| Error::Chunk { chunk: Some(k), offset: at, error };
                let chunk = Chunk::parse_with(bytes, &self.limits.chunk).map_err(in_chunk)?;
                let around = ChunkContext { whole, ..around(self.header.typesize, &self.blockshape) };
                let n = self.pool.decompress_into(&chunk, around, out).map_err(in_chunk)?;
                self.note_len(k, n)?;
                Ok(n)
            }
            Entry::Special(kind) => {
                let len = self.chunk_nbytes(k)? as usize;
                let given = out.len() as u64;
                let out = out.get_mut(..len).ok_or(Error::OutputTooSmall { needed: len as u64, given })?;
                fill_special(kind, self.header.typesize, 0, out)?;
                Ok(len)
            }
        }
    }

    /// A chunk whose size differs from the declared one makes the frame one of variable chunks, if the
    /// sum is still right (a reorder in the C library leaves such frames).
    fn note_len(&mut self, k: u64, len: usize) -> Result<(), Error> {
        match self.sizes.len_of(k) {
            Some(expected) if expected as usize != len => self.read_sizes(),
            _ => Ok(()),
        }
    }

    /// Decodes bytes `range` of chunk `k` into the start of `out`. Reads only the blocks it crosses.
    pub fn read_chunk_bytes(&mut self, k: u64, range: Range<usize>, out: &mut [u8]) -> Result<usize, Error> {
        if let Entry::Special(_) = self.raw_entry(k)? {
            let (len, index) = (u64::from(self.chunk_nbytes(k)?), range.end as u64);
            if range.start > range.end || index > len {
                return Err(Error::OutOfRange { what: "byte", index, len });
            }
        }
        let (n, len) = self.read_chunk_part(k, range, out)?;
        if let Some(len) = len {
            self.note_len(k, len)?;
        }
        Ok(n)
    }

    /// [`Self::read_chunk_bytes`] for callers who know what the chunks' sizes should be, whatever the frame's header
    /// says of their sum. Gives the bytes written, and the size of a chunk that is stored.
    pub(crate) fn read_chunk_part(
        &mut self,
        k: u64,
        range: Range<usize>,
        out: &mut [u8],
    ) -> Result<(usize, Option<usize>), Error> {
        let needed = range.len();
        let given = out.len() as u64;
        let out = out.get_mut(..needed).ok_or(Error::OutputTooSmall { needed: needed as u64, given })?;
        match self.raw_entry(k)? {
            Entry::Special(kind) => {
                fill_special(kind, self.header.typesize, range.start, out)?;
                Ok((needed, None))
            }
            Entry::Stored(entry) => {
                let located = self.place.locate(entry)?.held_if_read(self.hashes.held(k));
                let at = located.at;
                let in_chunk = |error| Error::Chunk { chunk: Some(k), offset: at, error };
                let (header, known) = located.head(k, &mut self.scratch)?;
                let around = around(self.header.typesize, &self.blockshape);
                let lazy = tells_blocks(&header)
                    && u64::from(header.cbytes) > READ_WHOLE
                    && needed < header.nbytes as usize / 2
                    && located.slice().is_none();
                let chunk = if lazy {
                    let size = (header.blocksize as usize).max(1);
                    let blocks = (range.start / size..range.end.div_ceil(size)).map(|block| {
                        let start = block.saturating_mul(size);
                        let end = range.end.saturating_sub(start).min(size);
                        Wanted { block, part: range.start.saturating_sub(start)..end }
                    });
                    load_blocks(&located, k, (&header, known), blocks, &self.limits.chunk, &mut self.scratch)?
                } else {
                    let bytes = located.whole(k, &self.limits, &mut self.scratch)?;
                    Chunk::parse_with(bytes, &self.limits.chunk).map_err(in_chunk)?
                };
                let n = self.pool.get_bytes(&chunk, around, range, out).map_err(in_chunk)?;
                Ok((n, Some(header.nbytes as usize)))
            }
        }
    }

    /// Decodes some blocks of chunk `k` and hands each to `take` with its number, in the order given.
    /// Reads only those blocks. A special chunk has one block: all of it. Blocks are as long as the chunk's streams are,
    /// which in some files of C-Blosc2 is another size than the header's (docs/formats/chunk.md, appendix B1).
    pub fn read_blocks(
        &mut self,
        k: u64,
        blocks: &[usize],
        mut take: impl FnMut(usize, &[u8]) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let Entry::Stored(entry) = self.raw_entry(k)? else {
            let whole = self.read_chunk(k)?;
            return blocks.iter().try_for_each(|block| match block {
                0 => take(0, &whole),
                n => Err(Error::OutOfRange { what: "block", index: *n as u64, len: 1 }),
            });
        };
        let located = self.place.locate(entry)?.held_if_read(self.hashes.held(k));
        let at = located.at;
        let in_chunk = |error| Error::Chunk { chunk: Some(k), offset: at, error };
        let (header, known) = located.head(k, &mut self.scratch)?;
        let around = around(self.header.typesize, &self.blockshape);
        let lazy =
            tells_blocks(&header) && u64::from(header.cbytes) > READ_WHOLE && located.slice().is_none();
        let chunk = if lazy {
            let wanted = blocks.iter().map(|block| Wanted { block: *block, part: 0..usize::MAX });
            load_blocks(&located, k, (&header, known), wanted, &self.limits.chunk, &mut self.scratch)?
        } else {
            let bytes = located.whole(k, &self.limits, &mut self.scratch)?;
            Chunk::parse_with(bytes, &self.limits.chunk).map_err(in_chunk)?
        };
        let mut out = Vec::new();
        for block in blocks.iter().copied() {
            let range = chunk.block_range(block).map_err(in_chunk)?;
            resize(&mut out, range.len())?;
            let n = self.pool.decode_block(&chunk, around, block, &mut out).map_err(in_chunk)?;
            take(block, out.get(..n).unwrap_or(&[]))?;
        }
        Ok(())
    }

    /// Decodes bytes `range` of the whole super-chunk into the start of `out`; returns how many.
    pub fn read_bytes(&mut self, range: Range<u64>, out: &mut [u8]) -> Result<usize, Error> {
        let total = self.nbytes();
        if range.start > range.end || range.end > total {
            return Err(Error::OutOfRange { what: "byte", index: range.end, len: total });
        }
        let needed = range.end.saturating_sub(range.start);
        let too_small = Error::OutputTooSmall { needed, given: out.len() as u64 };
        let needed = usize::try_from(needed).map_err(|_| too_small)?;
        let mut out = out.get_mut(..needed).ok_or(too_small)?;
        if matches!(self.sizes, Sizes::Unread { .. }) && needed > 0 {
            self.read_sizes()?;
        }
        let mut at = range.start;
        while !out.is_empty() {
            #[cfg(feature = "std")]
            if let Some(len) = self.whole_chunks(at, out.len()) {
                let (now, rest) =
                    core::mem::take(&mut out).split_at_mut_checked(len.0).ok_or(IoKind::UnexpectedEnd)?;
                if !self.read_side_by_side(at.checked_div(len.1 as u64).unwrap_or(0), len.1, now)? {
                    self.read_sizes()?;
                    return self.retry(at, range.end, now, rest).map(|_| needed);
                }
                out = rest;
                at = at.saturating_add(len.0 as u64);
                continue;
            }
            let (k, span) =
                self.sizes.find(at).ok_or(Error::OutOfRange { what: "byte", index: at, len: total })?;
            let stop = span.end.min(range.end);
            let within = at.saturating_sub(span.start) as usize..stop.saturating_sub(span.start) as usize;
            let len = within.len();
            let (now, rest) =
                core::mem::take(&mut out).split_at_mut_checked(len).ok_or(IoKind::UnexpectedEnd)?;
            let regular = matches!(self.sizes, Sizes::Regular { .. });
            let expected = span.end.saturating_sub(span.start) as usize;
            let result = if within == (0..expected) {
                self.read_whole_expected(k, expected, now, needed)
            } else {
                self.read_chunk_bytes(k, within, now).map(|_| ())
            };
            // Sizes turned out to differ from what the header declares: start this chunk again.
            if regular && matches!(self.sizes, Sizes::Each { .. }) {
                return self.retry(at, range.end, now, rest).map(|_| needed);
            }
            result?;
            out = rest;
            at = stop;
        }
        Ok(needed)
    }

    /// How many of `len` bytes from `at` on are whole chunks worth several threads, and their size.
    #[cfg(feature = "std")]
    fn whole_chunks(&self, at: u64, len: usize) -> Option<(usize, usize)> {
        let Sizes::Regular { chunk, .. } = self.sizes else { return None };
        let size = chunk as usize;
        let whole = len.checked_sub(len.checked_rem(size)?)?;
        let codec = self.params().codec;
        let many = self.threads > 1 && whole > size && super::parallel::worth(codec, whole as u64);
        (many && chunk <= super::stream::MAX_AHEAD && at.is_multiple_of(chunk.into()))
            .then_some((whole, size))
    }

    /// Decodes all of chunk `k`, which must have the size its place implies, as part of `whole` bytes.
    fn read_whole_expected(
        &mut self,
        k: u64,
        expected: usize,
        out: &mut [u8],
        whole: usize,
    ) -> Result<(), Error> {
        if let Entry::Stored(entry) = self.raw_entry(k)? {
            let found = self.place.locate(entry)?.header(k)?.nbytes as usize;
            if found != expected {
                return self.note_len(k, found);
            }
        }
        self.read_chunk_of(k, out, whole).map(|_| ())
    }

    /// Reads on from `at` now that every chunk's size is known.
    fn retry(&mut self, at: u64, end: u64, now: &mut [u8], rest: &mut [u8]) -> Result<(), Error> {
        let middle = at.saturating_add(now.len() as u64);
        self.read_bytes(at..middle, now)?;
        self.read_bytes(middle..end, rest)?;
        Ok(())
    }

    /// Decodes items `range` of the whole super-chunk (items of the frame's typesize) into the start
    /// of `out`; returns the bytes written. Reads only the blocks the range crosses.
    pub fn read_items(&mut self, range: Range<u64>, out: &mut [u8]) -> Result<usize, Error> {
        let len = self.nitems();
        let typesize = u64::from(self.typesize());
        if range.start > range.end || range.end > len {
            return Err(Error::OutOfRange { what: "item", index: range.end, len });
        }
        self.read_bytes(range.start.saturating_mul(typesize)..range.end.saturating_mul(typesize), out)
    }

    /// Decodes everything into a new vector, within the limits.
    pub fn read_all(&mut self) -> Result<Vec<u8>, Error> {
        let mut out = Vec::new();
        let limit = self.limits.output;
        for k in 0..self.nchunks() {
            let asked = (out.len() as u64).saturating_add(u64::from(self.chunk_nbytes(k)?));
            if asked > limit {
                return Err(Error::Limit { what: "bytes of output", asked, limit });
            }
            let chunk = self.read_chunk(k)?;
            out.try_reserve(chunk.len()).map_err(|_| IoKind::NoSpace)?;
            out.extend_from_slice(&chunk);
        }
        Ok(out)
    }

    /// Decodes the chunks one after the other.
    pub fn chunks(&mut self) -> impl Iterator<Item = Result<Vec<u8>, Error>> {
        (0..self.nchunks()).map(|k| self.read_chunk(k))
    }
}

/// What a chunk's codec and filters may ask about the frame around it.
pub(super) fn around(typesize: u32, blockshape: &[u32]) -> ChunkContext<'_> {
    ChunkContext { typesize, blockshape, ..ChunkContext::default() }
}
