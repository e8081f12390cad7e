//! Chunks brought into memory without being decoded, for callers that decode blocks themselves.

use super::SuperChunk;
use super::place::{Located, at_least};
use super::read::{READ_WHOLE, around};
use crate::cframe::index::Entry;
use crate::error::{Error, IoKind};
use alloc::vec::Vec;
use blosc_core::chunk::{Stream, Streams};
use blosc_core::{Chunk, Header as ChunkHeader, Special, Surroundings};
use core::ops::Range;

/// Streams that may be short are read in pieces of this size.
const PIECE: usize = 4096;

/// A block, and which of its decoded bytes will be asked for.
pub(crate) struct Wanted {
    pub(crate) block: usize,
    pub(crate) part: Range<usize>,
}

/// A chunk of which at least the blocks asked for lie in memory.
pub(crate) enum Loaded<'s> {
    /// One without stored bytes.
    Special(Special),
    /// A stored one.
    Stored {
        chunk: Chunk<'s>,
        around: Surroundings<'s>,
        /// Where it lies, for errors.
        at: u64,
    },
}

impl SuperChunk<'_> {
    /// Reads as much of chunk `k` as the wanted parts of its blocks need. `count` is how many these are.
    pub(crate) fn load_chunk(
        &mut self,
        k: u64,
        blocks: impl Iterator<Item = Wanted>,
        count: u64,
    ) -> Result<Loaded<'_>, Error> {
        let entry = match self.raw_entry(k)? {
            Entry::Stored(entry) => entry,
            Entry::Special(kind) => return Ok(Loaded::Special(kind)),
        };
        let located = self.place.locate(entry)?;
        let at = located.at;
        let in_chunk = |error| Error::Chunk { chunk: Some(k), offset: at, error };
        let around = around(self.header.typesize, &self.blockshape);
        let chunk = if located.slice().is_some() {
            Chunk::parse_with(located.whole(k, &self.limits, &mut self.scratch)?, &self.limits.chunk)
        } else {
            let header = located.header(k)?;
            // Many blocks are read faster in one go.
            let few = count.saturating_mul(2) < header.nblocks() as u64;
            if few && u64::from(header.cbytes) > READ_WHOLE && !header.is_vl() {
                let chunk = load_blocks(&located, k, &header, blocks, &self.limits.chunk, &mut self.scratch)?;
                return Ok(Loaded::Stored { chunk, around, at });
            }
            Chunk::parse_with(located.whole(k, &self.limits, &mut self.scratch)?, &self.limits.chunk)
        };
        Ok(Loaded::Stored { chunk: chunk.map_err(in_chunk)?, around, at })
    }
}

/// Reads the parts of a chunk that the wanted blocks need into a buffer as long as the chunk.
pub(super) fn load_blocks<'b>(
    located: &Located<'_>,
    k: u64,
    header: &ChunkHeader,
    blocks: impl Iterator<Item = Wanted>,
    limits: &blosc_core::Limits,
    buf: &'b mut Vec<u8>,
) -> Result<Chunk<'b>, Error> {
    let in_chunk = |error| Error::Chunk { chunk: Some(k), offset: located.at, error };
    if u64::from(header.nbytes) > limits.output {
        let asked = u64::from(header.nbytes);
        return Err(Error::Limit { what: "bytes of a chunk", asked, limit: limits.output });
    }
    // What is not read is left over from another chunk and never looked at.
    let buf = at_least(buf, header.cbytes as usize)?;
    let read = |buf: &mut [u8], range: Range<usize>| {
        let target = buf.get_mut(range.clone()).ok_or(IoKind::UnexpectedEnd)?;
        located.read(range.start as u64, target)
    };
    // Header, block starts and the size word of a dictionary; then the dictionary itself.
    let table = header.header_len().saturating_add(header.nblocks().saturating_mul(4)).saturating_add(4);
    let table = if !header.has_streams() { header.header_len() } else { table.min(header.cbytes as usize) };
    read(buf, 0..table)?;
    let prefix = Chunk::parse_partial(buf, limits).and_then(|chunk| chunk.prefix_len()).map_err(in_chunk)?;
    if prefix > table {
        read(buf, table..prefix)?;
    }
    for Wanted { block, part } in blocks {
        let chunk = Chunk::parse_partial(buf, limits).map_err(in_chunk)?;
        let extent = chunk.block_extent(block).map_err(in_chunk)?;
        let few = part.len() < chunk.block_range(block).map_err(in_chunk)?.len() / 4;
        if few && header.has_streams() && chunk.streams_are_planes(block).map_err(in_chunk)? {
            load_planes(buf, block, part, extent.end, limits, read, in_chunk)?;
        } else {
            read(buf, extent)?;
        }
    }
    Chunk::parse_partial(buf, limits).map_err(in_chunk)
}

/// Reads of a block whose streams are byte planes what the decoded bytes `part` need: of stored streams
/// the places of these items, of the others all.
fn load_planes(
    buf: &mut [u8],
    block: usize,
    part: Range<usize>,
    end: usize,
    limits: &blosc_core::Limits,
    read: impl Fn(&mut [u8], Range<usize>) -> Result<(), Error>,
    in_chunk: impl Fn(blosc_core::Error) -> Error,
) -> Result<(), Error> {
    // Everything that lies before this place and will be looked at has been read.
    let mut known = 0;
    for number in 0usize.. {
        let rest = streams_from(buf, block, number, limits).map_err(&in_chunk)?;
        let (at, count) = (rest.offset(), number.saturating_add(rest.remaining()));
        if rest.remaining() == 0 {
            break;
        }
        // The size word and a run's token, and with them what may be all of a short stream.
        let head = at.saturating_add(5);
        if head > known {
            known = at.saturating_add(PIECE).min(end).max(head).min(buf.len());
            read(buf, at..known)?;
        }
        let mut rest = streams_from(buf, block, number, limits).map_err(&in_chunk)?;
        let wanted = match rest.next_stream().map_err(&in_chunk)? {
            Some(Stream::Stored(_)) => {
                let item = |byte: usize| at.saturating_add(4).saturating_add(byte);
                item(part.start.checked_div(count).unwrap_or(0))..item(part.end.div_ceil(count.max(1)))
            }
            _ => at..rest.offset(),
        };
        if wanted.end > known {
            read(buf, wanted.start.max(known)..wanted.end)?;
            known = wanted.end;
        }
    }
    Ok(())
}

/// The streams of a block from number `number` on.
fn streams_from<'b>(
    buf: &'b [u8],
    block: usize,
    number: usize,
    limits: &blosc_core::Limits,
) -> Result<Streams<'b>, blosc_core::Error> {
    let mut streams = Chunk::parse_partial(buf, limits)?.streams(block)?;
    for _ in 0..number {
        streams.next_stream()?;
    }
    Ok(streams)
}
