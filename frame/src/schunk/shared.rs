//! [`Shared`]: what several threads may use of a super-chunk at once, each with tools of its own; and a chunk that was
//! brought into memory with it, to be decoded.

use super::checksum::Checksums;
use super::index::Index;
use super::store::{ChunkStore, Located};
use crate::cframe::index::Entry;
use crate::error::Error;
use crate::io::Pieces;
use crate::limits::Limits;
use alloc::vec::Vec;
use blosc_core::{Chunk, ChunkContext, Header as ChunkHeader, Pool, Special};
use core::ops::Range;

/// The chunks of a frame, to be read.
#[derive(Clone, Copy)]
pub(crate) struct Shared<'s> {
    pub(super) store: &'s (dyn ChunkStore + Send + Sync + 's),
    /// What is read instead of the store, if anything.
    pub(super) pieces: Option<&'s Pieces>,
    pub(super) index: &'s Index,
    /// Whether chunks that are read whole are held to their checksums, where they are known.
    pub(super) verify: bool,
    pub(super) checksums: &'s Checksums,
    pub(super) limits: &'s Limits,
    pub(super) context: ChunkContext<'s>,
}

/// A chunk of which at least the blocks asked for lie in memory.
pub(crate) enum Loaded<'s> {
    /// One without stored bytes.
    Special(Special),
    Stored(Stored<'s>),
}

/// A stored chunk in memory.
#[derive(Clone, Copy)]
pub(crate) struct Stored<'s> {
    pub(crate) chunk: Chunk<'s>,
    context: ChunkContext<'s>,
    /// Its number.
    k: u64,
    /// Where it lies, for errors.
    pub(crate) at: u64,
}

/// What a chunk's codec and filters may ask about the frame around it.
pub(super) fn chunk_context(typesize: u32, blockshape: &[u32]) -> ChunkContext<'_> {
    ChunkContext { typesize, blockshape, ..ChunkContext::default() }
}

impl<'s> Shared<'s> {
    /// What readers of parts share: what lies in memory is not read whole for them.
    pub(super) fn for_parts(self) -> Shared<'s> {
        let in_memory = self.pieces.is_none() && self.store.as_slice().is_some();
        Shared { verify: self.verify && !in_memory, ..self }
    }

    /// These chunks, read from what was fetched of them, if that is what there is.
    pub(crate) fn over(self, pieces: Option<&'s Pieces>) -> Shared<'s> {
        Shared { pieces, ..self }
    }

    /// Where the bytes of a stored entry lie.
    pub(super) fn place(self, entry: u64) -> Result<Located<'s>, Error> {
        self.store.place(entry, self.pieces)
    }

    /// Reads the header of chunk `k`, if it is stored.
    pub(crate) fn head(self, k: u64) -> Result<Option<ChunkHeader>, Error> {
        match self.index.entry(k)? {
            Entry::Stored(entry) => self.place(entry)?.header(k).map(Some),
            Entry::Special(_) => Ok(None),
        }
    }

    /// Where the bytes of chunk `k` lie, whose entry this is; held to its checksum if all of it is read.
    pub(super) fn locate(self, k: u64, entry: u64) -> Result<Located<'s>, Error> {
        let sum = self.index.sum(k).filter(|_| self.verify);
        if self.verify {
            self.checksums.check_table()?;
        }
        Ok(self.place(entry)?.held_to(sum))
    }

    /// All of chunk `k`, borrowed where the frame lies in memory, else read into `buf`.
    pub(super) fn chunk<'b>(self, k: u64, buf: &'b mut Vec<u8>) -> Result<Loaded<'b>, Error>
    where
        's: 'b,
    {
        match self.index.entry(k)? {
            Entry::Special(kind) => Ok(Loaded::Special(kind)),
            Entry::Stored(entry) => self.whole(k, &self.locate(k, entry)?, buf),
        }
    }

    /// All of a chunk that has been found.
    pub(super) fn whole<'b>(
        self,
        k: u64,
        located: &Located<'s>,
        buf: &'b mut Vec<u8>,
    ) -> Result<Loaded<'b>, Error>
    where
        's: 'b,
    {
        let chunk = Chunk::parse_with(located.whole(k, self.limits, buf)?, &self.limits.chunk);
        Ok(self.loaded(k, located.at, chunk.map_err(Error::in_chunk(Some(k), located.at))?))
    }

    pub(super) fn loaded<'b>(self, k: u64, at: u64, chunk: Chunk<'b>) -> Loaded<'b>
    where
        's: 'b,
    {
        Loaded::Stored(Stored { chunk, context: self.context, k, at })
    }
}

impl Stored<'_> {
    fn failed(&self) -> impl Fn(blosc_core::Error) -> Error + Copy {
        Error::in_chunk(Some(self.k), self.at)
    }

    /// Decodes all of it into the start of `out`, which is part of an output of `whole` bytes; returns its size.
    pub(crate) fn decode(&self, pool: &mut Pool, out: &mut [u8], whole: usize) -> Result<usize, Error> {
        let context = ChunkContext { whole, ..self.context };
        pool.decompress_into(&self.chunk, context, out).map_err(self.failed())
    }

    /// Decodes a range of its bytes into the start of `out`.
    pub(crate) fn bytes(&self, pool: &mut Pool, range: Range<usize>, out: &mut [u8]) -> Result<usize, Error> {
        pool.get_bytes(&self.chunk, self.context, range, out).map_err(self.failed())
    }

    /// Decodes a block into the start of `out`; returns its size.
    pub(crate) fn block(&self, pool: &mut Pool, block: usize, out: &mut [u8]) -> Result<usize, Error> {
        pool.decode_block(&self.chunk, self.context, block, out).map_err(self.failed())
    }

    /// Decoded bytes of a block.
    pub(super) fn block_len(&self, block: usize) -> Result<usize, Error> {
        self.chunk.block_range(block).map(|range| range.len()).map_err(self.failed())
    }
}
