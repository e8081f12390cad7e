//! Chunks brought into memory without being decoded, for callers that decode blocks themselves.

use super::shared::{Loaded, Shared};
use super::store::{Located, at_least};
use crate::cframe::index::Entry;
use crate::error::{Error, IoKind};
use alloc::vec::Vec;
use blosc_core::chunk::{Stream, Streams};
use blosc_core::{Chunk, Filter, Header as ChunkHeader};
use core::ops::Range;

/// Chunks below this size are read whole even when only some blocks are wanted.
const READ_WHOLE: u64 = 64 << 10;

/// Streams that may be short are read in pieces of this size.
const PIECE: usize = 1024;

/// A block, and which of its decoded bytes will be asked for.
pub(crate) struct Wanted {
    pub(crate) block: usize,
    pub(crate) part: Range<usize>,
}

impl<'s> Shared<'s> {
    /// Reads as much of chunk `k` as some parts of its blocks need, to `buf` unless the frame lies in memory. `wanted`
    /// tells which, and of how many blocks, from the chunk's header.
    pub(crate) fn load<'b, W: Iterator<Item = Wanted>>(
        self,
        k: u64,
        wanted: impl FnOnce(&ChunkHeader) -> (W, u64),
        buf: &'b mut Vec<u8>,
    ) -> Result<Loaded<'b>, Error>
    where
        's: 'b,
    {
        let located = match self.index.entry(k)? {
            Entry::Stored(entry) => self.locate(k, entry)?,
            Entry::Special(kind) => return Ok(Loaded::Special(kind)),
        };
        let (header, known) = located.head(k, buf)?;
        let (blocks, count) = wanted(&header);
        let in_memory = located.slice().is_some();
        if !in_memory && tells_blocks(&header) && worth_parts(&header, count) {
            self.limits.check_stored(&header)?;
            // Planes take a read each; what was fetched is there, or is fetched, as whole blocks.
            let planes = self.pieces.is_none();
            let chunk = load_blocks(&located, k, (&header, known, planes), blocks, &self.limits.chunk, buf)?;
            return Ok(self.loaded(k, located.at, chunk));
        }
        let read_whole = !in_memory || count >= header.nblocks() as u64;
        self.whole(k, &if read_whole { located } else { located.held_to(None) }, buf)
    }
}

/// Whether the blocks have this size; otherwise a chunk's blocks are not those of its array.
pub(crate) fn has_blocks_of(header: &ChunkHeader, size: u32) -> bool {
    !header.is_vl() && header.blocksize == size
}

/// Whether a header tells where the blocks are cut: not those of variable length, nor where the block size is no
/// multiple of the typesize, as then only all streams tell whether it was rounded
/// (docs/formats/chunk.md, appendix B1).
fn tells_blocks(header: &ChunkHeader) -> bool {
    !header.is_vl() && header.blocksize.checked_rem(header.typesize.into()).unwrap_or(0) == 0
}

/// Whether reading `count` blocks one by one is less work than reading the whole chunk: a read costs about
/// as much as copying some thousand bytes.
fn worth_parts(header: &ChunkHeader, count: u64) -> bool {
    let (all, cbytes) = ((header.nblocks() as u64).max(1), u64::from(header.cbytes));
    let spared = cbytes.checked_div(all).unwrap_or(0).saturating_mul(all.saturating_sub(count));
    const READ: u64 = 4096;
    // Where a block ends takes a look at all the others.
    let looks = count.saturating_mul(all);
    cbytes > READ_WHOLE && spared > count.saturating_mul(READ) && looks < 1 << 18
}

/// Reads the parts of a chunk that the wanted blocks need into a buffer as long as the chunk, the first `known`
/// bytes of which have been read, with `planes` of them only those that are needed. Blocks that have not been fetched are
/// all tried, so that [`Pieces`](crate::io::Pieces) note them all.
fn load_blocks<'b>(
    located: &Located<'_>,
    k: u64,
    (header, known, planes): (&ChunkHeader, usize, bool),
    blocks: impl Iterator<Item = Wanted>,
    limits: &blosc_core::Limits,
    buf: &'b mut Vec<u8>,
) -> Result<Chunk<'b>, Error> {
    let in_chunk = Error::in_chunk(Some(k), located.at);
    // What is not read is left over from another chunk and never looked at.
    let buf = at_least(buf, header.cbytes as usize)?;
    let read = |buf: &mut [u8], range: Range<usize>| {
        let target = buf.get_mut(range.clone()).ok_or(IoKind::UnexpectedEnd)?;
        located.read(range.start as u64, target)
    };
    // Header, block starts and the size word of a dictionary; then the dictionary itself.
    let table = header.header_len().saturating_add(header.nblocks().saturating_mul(4)).saturating_add(4);
    let table = if !header.has_streams() { header.header_len() } else { table.min(header.cbytes as usize) };
    if table > known {
        read(buf, known..table)?;
    }
    let prefix = Chunk::parse_partial(buf, limits).and_then(|chunk| chunk.prefix_len()).map_err(in_chunk)?;
    let known = known.max(table);
    let mut missed = Ok(());
    let mut try_read = |buf: &mut [u8], range: Range<usize>| match read(buf, range) {
        Err(error) if error == IoKind::NotFetched.into() => {
            missed = Err(error);
            Ok(false)
        }
        done => done.map(|()| true),
    };
    if prefix > known {
        try_read(buf, known..prefix)?;
    }
    // What the other blocks' differences are from.
    let delta = header.has_streams() && header.filters.iter().any(|slot| slot.filter == Filter::Delta);
    let first = delta.then_some(Wanted { block: 0, part: 0..usize::MAX });
    for Wanted { block, part } in first.into_iter().chain(blocks) {
        let chunk = Chunk::parse_partial(buf, limits).map_err(in_chunk)?;
        let extent = chunk.block_extent(block).map_err(in_chunk)?;
        let few = planes && part.len() < chunk.block_range(block).map_err(in_chunk)?.len() / 4;
        if few && header.has_streams() && chunk.streams_are_planes(block).map_err(in_chunk)? {
            load_planes(buf, block, part, extent.end, limits, read, in_chunk)?;
            continue;
        }
        let end = extent.end;
        let there = try_read(buf, extent)?;
        let chunk = Chunk::parse_partial(buf, limits).map_err(in_chunk)?;
        if there && header.has_streams() && !ends_by(&chunk, block, end) {
            // Its streams reach into what follows. No writer lays them so; only the whole chunk tells what they are.
            let all = 0..buf.len();
            read(buf, all)?;
            return Chunk::parse_with(buf, limits).map_err(in_chunk);
        }
    }
    missed?;
    Chunk::parse_partial(buf, limits).map_err(in_chunk)
}

/// Whether all streams of a block end at byte `end` of the chunk or before, up to which the block has been read.
fn ends_by(chunk: &Chunk<'_>, block: usize, end: usize) -> bool {
    let Ok(mut streams) = chunk.streams(block) else { return false };
    while let Ok(stream) = streams.next_stream() {
        if streams.offset() > end {
            return false;
        }
        if stream.is_none() {
            return true;
        }
    }
    false
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
