//! [`Decoder`]: whole chunks and single blocks.
//!
//! ```text
//! chunk bytes --codec--> A --filters--> (B, A, …) --last filter--> destination
//! stored stream ------------------------^          constant block ---^
//! ```
//! Scratch: `A` holds a block as its streams expand to; the codec's tables and `B` share memory, as
//! they are never needed at once; `R` holds decoded block 0 where DELTA refers to it.
#![deny(clippy::indexing_slicing, clippy::arithmetic_side_effects)]

mod getitem;
mod in_place;
mod plain;
pub(super) mod push;
pub(super) mod push_state;
mod reader;

use super::context::ChunkContext;
use super::header::Header;
use super::pipeline::Backward;
use super::view::Chunk;
use crate::arch::level::Level;
use crate::arch::out::{Out, Room};
use crate::codec::context::DecodeContext;
use crate::codec::{Codec, dispatch};
use crate::error::Error;
#[cfg(feature = "alloc")]
pub(crate) use plain::copy_plain;
#[cfg(not(feature = "alloc"))]
use plain::copy_plain;
use reader::{ChunkReader, Scratch, pad};

/// Decodes chunks with scratch memory of the caller. Never allocates after it has been made.
pub struct Decoder<'w> {
    level: Level,
    work: &'w mut [u8],
    chunk_context: ChunkContext<'w>,
    context: DecodeContext,
}

const fn max(a: usize, b: usize) -> usize {
    if a > b { a } else { b }
}

/// Scratch bytes that the chunk's codec needs for a block of `block` bytes.
fn codec_work(header: &Header, block: usize) -> usize {
    match header.codec {
        Codec::BloscLz | Codec::Lz4 | Codec::Lz4Hc => 0,
        _ => dispatch::decode_work_len(block),
    }
}

impl<'w> Decoder<'w> {
    /// A decoder that runs `level`'s kernels and uses `work` as scratch ([`Decoder::work_len`] bytes).
    /// With feature `zstd-c` this allocates the C library's context; nothing later does.
    pub fn new(level: Level, work: &'w mut [u8]) -> Decoder<'w> {
        Decoder::with_context(level, work, DecodeContext::new())
    }

    /// A decoder that takes over codec contexts, those of an earlier decoder for instance.
    pub fn with_context(level: Level, work: &'w mut [u8], context: DecodeContext) -> Decoder<'w> {
        Decoder { level, work, chunk_context: ChunkContext::default(), context }
    }

    /// Gives the codec contexts back, for the next decoder.
    pub fn into_context(self) -> DecodeContext {
        self.context
    }

    /// Sets what the chunks themselves do not say: the array around them, and codecs and filters of the caller.
    pub fn chunk_context(mut self, chunk_context: ChunkContext<'w>) -> Self {
        self.chunk_context = chunk_context;
        self
    }

    /// Scratch bytes that are enough for every chunk whose blocks are at most `blocksize` bytes:
    /// three blocks and the codecs' tables.
    pub const fn work_max(blocksize: usize) -> usize {
        let b = max(blocksize, dispatch::decode_work_len(blocksize));
        blocksize.saturating_add(b).saturating_add(blocksize)
    }

    /// Scratch bytes for `chunk`; 0 if it has no streams.
    pub fn work_len(chunk: &Chunk<'_>) -> usize {
        let (a, b, r) = Self::parts(chunk, &Backward::of(chunk.header()));
        a.saturating_add(b).saturating_add(r)
    }

    /// Lengths of A, B and R.
    fn parts(chunk: &Chunk<'_>, backward: &Backward) -> (usize, usize, usize) {
        let header = chunk.header();
        if !header.has_streams() {
            return (0, 0, 0);
        }
        let block = chunk.largest_block();
        let delta = backward.has_delta() && !header.is_vl();
        let codec = codec_work(header, block);
        // Room to lay the planes of a split block apart, where the pipeline is a shuffle alone.
        let apart = if delta { 0 } else { block };
        (block.saturating_add(pad(block).min(apart)), max(block, codec), if delta { block } else { 0 })
    }

    fn scratch(&mut self, reader: &ChunkReader<'_>) -> Result<(Scratch<'_>, &mut DecodeContext), Error> {
        let (a, b, r) = Self::parts(&reader.chunk, &reader.backward);
        let needed = a.saturating_add(b).saturating_add(r);
        let short = Error::WorkTooSmall { needed, given: self.work.len() };
        let (a, rest) = self.work.split_at_mut_checked(a).ok_or(short)?;
        let (b, rest) = rest.split_at_mut_checked(b).ok_or(short)?;
        let (r, _) = rest.split_at_mut_checked(r).ok_or(short)?;
        Ok((Scratch { a, b, r }, &mut self.context))
    }

    fn reader<'a>(&self, chunk: &Chunk<'a>) -> ChunkReader<'a>
    where
        'w: 'a,
    {
        ChunkReader::new(chunk, self.level, &self.chunk_context)
    }

    /// Decodes all of `chunk` into the start of `out`; returns the decoded size.
    ///
    /// # Errors
    /// `OutputTooSmall`, `WorkTooSmall`, a codec or filter that is not built in, or a corrupt stream.
    /// After an error the destination holds bytes of this chunk or what it held before, nothing else.
    pub fn decode(&mut self, chunk: &Chunk<'_>, out: &mut (impl Room + ?Sized)) -> Result<usize, Error> {
        self.decode_masked(chunk, &[], out)
    }

    /// [`decode`](Self::decode), leaving out the blocks whose entry in `mask` is true: their bytes in
    /// `out` stay as they are (docs/formats/chunk.md §2.11). An empty mask leaves out nothing.
    ///
    /// # Errors
    /// `Param` if the mask's length is not the number of blocks; else as `decode`.
    pub fn decode_masked(
        &mut self,
        chunk: &Chunk<'_>,
        mask: &[bool],
        out: &mut (impl Room + ?Sized),
    ) -> Result<usize, Error> {
        let nbytes = chunk.nbytes();
        let mut out = out.room();
        let given = out.len();
        let mut out = out.get(0, nbytes).ok_or(Error::OutputTooSmall { needed: nbytes, given })?;
        if !mask.is_empty() && mask.len() != chunk.nblocks() {
            return Err(Error::Param {
                name: "mask length",
                value: mask.len() as i64,
                allowed: "exactly the number of blocks",
            });
        }
        if nbytes == 0 {
            return Ok(0);
        }
        if !chunk.header().has_streams() && mask.is_empty() {
            copy_plain(chunk, 0, out)?;
            return Ok(nbytes);
        }
        let reader = ChunkReader::new(chunk, self.level, &self.chunk_context);
        let (mut scratch, context) = self.scratch(&reader)?;
        let needs_first = reader.needs_first();
        if needs_first {
            reader.first_block(&mut scratch, context)?;
        }
        let mut at = 0usize;
        for index in 0..chunk.nblocks() {
            let len = reader.block_len(index)?;
            let mut place = out.get(at, len).ok_or(Error::OutputTooSmall { needed: nbytes, given })?;
            at = at.saturating_add(len);
            if mask.get(index) == Some(&true) {
                continue;
            }
            if !chunk.header().has_streams() {
                copy_plain(chunk, at.saturating_sub(len), place)?;
            } else if index == 0 && needs_first {
                place.copy_from(scratch.r);
            } else {
                let Scratch { a, b, r } = &mut scratch;
                reader.block(index, a, b, needs_first.then_some(&**r), context, place)?;
            }
        }
        Ok(nbytes)
    }

    /// Decodes block `index` into the start of `out`; returns its size.
    ///
    /// # Errors
    /// `OutOfRange`, and as [`decode`](Self::decode).
    pub fn decode_block(
        &mut self,
        chunk: &Chunk<'_>,
        index: usize,
        out: &mut (impl Room + ?Sized),
    ) -> Result<usize, Error> {
        let range = chunk.block_range(index)?;
        let len = range.len();
        let mut out = out.room();
        let given = out.len();
        let mut out = out.get(0, len).ok_or(Error::OutputTooSmall { needed: len, given })?;
        if !chunk.header().has_streams() {
            copy_plain(chunk, range.start, out)?;
            return Ok(len);
        }
        let reader = ChunkReader::new(chunk, self.level, &self.chunk_context);
        let (mut scratch, context) = self.scratch(&reader)?;
        let needs_first = reader.needs_first();
        if needs_first {
            reader.first_block(&mut scratch, context)?;
            if index == 0 {
                out.copy_from(scratch.r);
                return Ok(len);
            }
        }
        let Scratch { a, b, r } = &mut scratch;
        reader.block(index, a, b, needs_first.then_some(&**r), context, out)?;
        Ok(len)
    }
}

impl<'w> Decoder<'w> {
    /// The blocks of one chunk with streams, for callers that run them on an executor of their own:
    /// one decoder each, sharing the chunk. What blocks have in common (the first block, where DELTA
    /// refers to it) is decoded here, once.
    ///
    /// # Errors
    /// `Unsupported` for a chunk without streams; else as [`decode`](Self::decode).
    pub fn blocks<'d, 'a>(&'d mut self, chunk: &Chunk<'a>) -> Result<BlockDecoder<'d, 'a>, Error>
    where
        'w: 'a,
    {
        if !chunk.header().has_streams() {
            return Err(Error::Unsupported("a chunk without streams has no blocks to decode: use `decode`"));
        }
        let reader = self.reader(chunk);
        let (mut scratch, context) = self.scratch(&reader)?;
        let needs_first = reader.needs_first();
        if needs_first {
            reader.first_block(&mut scratch, context)?;
        }
        Ok(BlockDecoder { reader, scratch, context, needs_first })
    }
}

/// Decodes single blocks of one chunk; see [`Decoder::blocks`].
pub struct BlockDecoder<'d, 'a> {
    reader: ChunkReader<'a>,
    scratch: Scratch<'d>,
    context: &'d mut DecodeContext,
    needs_first: bool,
}

impl BlockDecoder<'_, '_> {
    /// Decoded size of block `index`.
    ///
    /// # Errors
    /// `OutOfRange`.
    pub fn block_len(&self, index: usize) -> Result<usize, Error> {
        self.reader.block_len(index)
    }

    /// Decodes block `index` into `out`, which has exactly its size.
    ///
    /// # Errors
    /// As [`Decoder::decode_block`].
    pub fn decode(&mut self, index: usize, mut out: Out<'_>) -> Result<(), Error> {
        let Scratch { a, b, r } = &mut self.scratch;
        if self.needs_first && index == 0 {
            out.copy_from(r);
            return Ok(());
        }
        self.reader.block(index, a, b, self.needs_first.then_some(&**r), self.context, out)
    }
}
