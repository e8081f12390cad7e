//! [`ChunkReader`]: what the blocks of one chunk have in common, and one block through codec and filters.
#![deny(clippy::indexing_slicing, clippy::arithmetic_side_effects)]

use crate::arch::input::Input;
use crate::arch::level::Level;
use crate::arch::lz::window::WIDE_COPIES;
use crate::arch::out::{Out, prefetch};
use crate::chunk::blocks::{Stream, Streams};
use crate::chunk::context::ChunkContext;
use crate::chunk::header::Header;
use crate::chunk::pipeline::{Backward, BlockLocation, Env, width};
use crate::chunk::view::Chunk;
use crate::codec::context::DecodeContext;
use crate::codec::destination::Destination;
use crate::codec::dispatch::{self, StreamError};
#[cfg(feature = "zfp")]
use crate::codec::zfp::{Floats, NEEDS};
use crate::error::Error;
use crate::filter::blocksplit::{self, Plane, Planes, Stores};
use crate::filter::{Filter, FilterError};
use core::ops::Range;

/// Most streams whose planes are joined without an intermediate copy. Each takes two or three words of stack, of
/// which small machines have little.
const MAX_JOINED: usize = if WIDE_COPIES { 32 } else { FEW };

/// Planes of the widest number.
const FEW: usize = 8;

/// Longest stored blocks that are fetched as a whole before a filter reads them in many places at once, which CPUs do not
/// foresee: they stay in the second cache. Chunks of more than two are taken to lie elsewhere.
const GATHERED: usize = 128 << 10;

/// The parts of the scratch memory.
pub(super) struct Scratch<'s> {
    /// One block as its streams expand to.
    pub a: &'s mut [u8],
    /// Codec tables, and another block.
    pub b: &'s mut [u8],
    /// Decoded block 0 where DELTA needs it.
    pub r: &'s mut [u8],
}

/// Extra bytes that let the planes of a split block lie apart; see [`pitch`].
pub(super) fn pad(block: usize) -> usize {
    if block < 4096 { 0 } else { block >> 3 }
}

/// Distance between the planes of a split block in scratch. Block sizes are powers of two, so planes
/// packed back to back would fall on the same few cache sets; one odd number of lines more and they
/// do not.
fn pitch(neblock: usize, count: usize, room: usize) -> usize {
    let lines = (neblock >> 6).saturating_add(1) | 1;
    let padded = lines.saturating_mul(64);
    if padded.saturating_mul(count) <= room { padded } else { neblock }
}

/// Everything about a chunk with streams that its blocks have in common.
pub(super) struct ChunkReader<'a> {
    pub chunk: Chunk<'a>,
    pub backward: Backward,
    level: Level,
    chunk_context: ChunkContext<'a>,
    stores: Stores,
    /// Whether every stream of a split block is a plane of a shuffle, which is not the caller's own.
    joins: bool,
}

impl<'a> ChunkReader<'a> {
    // Nothing fails here: a `Result` would be made elsewhere, and then copied.
    pub(super) fn new<'s: 'a>(
        chunk: &Chunk<'a>,
        level: Level,
        chunk_context: &ChunkContext<'s>,
    ) -> ChunkReader<'a> {
        ChunkReader::with(chunk, Backward::of(chunk.header()), level, chunk_context)
    }

    /// [`new`](Self::new), where `backward` is known.
    pub(super) fn with<'s: 'a>(
        chunk: &Chunk<'a>,
        backward: Backward,
        level: Level,
        chunk_context: &ChunkContext<'s>,
    ) -> ChunkReader<'a> {
        let stores = Stores::for_len(chunk.nbytes().max(chunk_context.whole));
        let joins = chunk_context.filter(1).is_none() && streams_are_planes(chunk, &backward);
        ChunkReader { chunk: *chunk, backward, level, chunk_context: *chunk_context, stores, joins }
    }

    #[inline]
    pub(super) fn header(&self) -> &Header {
        self.chunk.header()
    }

    /// Whether blocks after the first need it decoded.
    #[inline]
    pub(super) fn needs_first(&self) -> bool {
        self.header().has_streams()
            && self.backward.has_delta()
            && !self.header().is_vl()
            && self.chunk.nblocks() > 1
    }

    #[inline]
    pub(super) fn block_len(&self, index: usize) -> Result<usize, Error> {
        self.chunk.block_len(index)
    }

    pub(super) fn env<'e>(&self, reference: Option<&'e [u8]>) -> Env<'e>
    where
        'a: 'e,
    {
        let header = self.header();
        Env {
            level: self.level,
            typesize: header.typesize,
            version2: header.version == 2,
            chunk_context: self.chunk_context,
            reference,
            stores: self.stores,
        }
    }

    /// Destination in `a` for a stream of `len` bytes at `at`, with what follows it.
    fn room<'r>(
        &self,
        a: &'r mut [u8],
        at: usize,
        len: usize,
        wanted: usize,
    ) -> Result<Destination<'r>, Error> {
        let (needed, given) = (at.saturating_add(len), a.len());
        let rest = a.get_mut(at..).filter(|rest| rest.len() >= len);
        Ok(Destination::new(
            rest.ok_or(Error::WorkTooSmall { needed, given })?.into(),
            len,
            wanted,
            self.level,
        ))
    }

    /// Decodes block 0 into `scratch.r`.
    pub(super) fn first_block(
        &self,
        scratch: &mut Scratch<'_>,
        context: &mut DecodeContext,
    ) -> Result<(), Error> {
        let len = self.block_len(0)?;
        let given = scratch.r.len();
        let r = scratch.r.get_mut(..len).ok_or(Error::WorkTooSmall { needed: len, given })?;
        self.block(0, scratch.a, scratch.b, None, context, r.into())
    }

    /// Expands one coded stream whose size word is at `offset`, at least as far as is wanted.
    fn expand(
        &self,
        src: &[u8],
        offset: usize,
        work: &mut [u8],
        context: &mut DecodeContext,
        room: Destination<'_>,
    ) -> Result<(), Error> {
        let (codec, meta) = (self.header().codec, self.header().codec_meta);
        let corrupt = |error| Error::Codec { codec, offset, error };
        if let Some(user) = self.chunk_context.codec(codec.id()) {
            return user.decode(meta, src, room.exact().zeroed()).map_err(corrupt);
        }
        #[cfg(feature = "zfp")]
        if codec.is_zfp() {
            let out = room.exact().zeroed();
            let (typesize, shape) = (self.header().typesize.into(), self.chunk_context.blockshape);
            let floats = Floats::of(typesize, shape, out.len()).ok_or(Error::Unsupported(NEEDS))?;
            return floats.decode(codec, meta, src, out).map_err(corrupt);
        }
        // What follows the stream in the chunk may be read too.
        let input = match self.chunk.bytes().get(offset.saturating_add(4)..) {
            Some(bytes) if bytes.len() >= src.len() => Input::new(bytes, src.len()),
            _ => src.into(),
        };
        let dictionary = self.chunk.dictionary()?;
        dispatch::expand_stream(codec, meta, input, room, dictionary, work, context).map_err(|e| match e {
            StreamError::Corrupt(error) => corrupt(error),
            StreamError::NotBuiltIn => Error::CodecNotBuiltIn(codec),
        })
    }

    /// Decodes block `index` into `out`, which has exactly its length.
    pub(super) fn block(
        &self,
        index: usize,
        a: &mut [u8],
        b: &mut [u8],
        reference: Option<&[u8]>,
        context: &mut DecodeContext,
        mut out: Out<'_>,
    ) -> Result<(), Error> {
        let slots = self.backward.as_slice();
        let len = out.len();
        if self.stores == Stores::Streaming {
            out.look_up_pages();
        }
        if slots.is_empty() {
            return self.unfiltered(index, b, context, out);
        }
        if let Some(streams) = self.planes(index)? {
            return self.join(streams, 0..len, a, b, context, out);
        }
        let source = match self.expanded(index, len, a, b, context)? {
            Expanded::Constant(value) => {
                if slots.iter().all(|(_, s)| keeps_constant(s.filter, value)) {
                    out.fill(value);
                    return Ok(());
                }
                let given = a.len();
                a.get_mut(..len).ok_or(Error::WorkTooSmall { needed: len, given })?.fill(value);
                BlockLocation::A
            }
            Expanded::Bytes(bytes) => BlockLocation::Bytes(bytes),
            Expanded::InA => BlockLocation::A,
        };
        self.env(reference).backward_all(slots, source, a, b, out)
    }

    /// The block's streams expanded side by side, before any filter is undone; at least the first `wanted`
    /// bytes.
    fn expanded(
        &self,
        index: usize,
        wanted: usize,
        a: &mut [u8],
        b: &mut [u8],
        context: &mut DecodeContext,
    ) -> Result<Expanded<'a>, Error> {
        if self.header().is_vl() {
            let (len, payload) = self.chunk.vl_block(index)?;
            if payload.len() == len {
                return Ok(Expanded::Bytes(payload));
            }
            let room = self.room(a, 0, len, wanted)?;
            let offset = self.chunk.block_extent(index)?.start;
            self.expand(payload, offset, b, context, room)?;
            return Ok(Expanded::InA);
        }
        let mut streams = self.chunk.streams(index)?;
        let single = streams.remaining() == 1;
        let neblock = streams.stream_len();
        let mut at = 0usize;
        loop {
            let offset = streams.offset();
            let Some(stream) = streams.next_stream()? else { return Ok(Expanded::InA) };
            if at >= wanted {
                return Ok(Expanded::InA);
            }
            if single {
                match stream {
                    Stream::Run(value) => return Ok(Expanded::Constant(value)),
                    Stream::Stored(bytes) => {
                        let far = self.chunk.bytes().len() > 2 * GATHERED;
                        if far && self.header().typesize > 1 && bytes.len() <= GATHERED {
                            prefetch(bytes);
                        }
                        return Ok(Expanded::Bytes(bytes));
                    }
                    Stream::Coded(_) => {}
                }
            }
            let room = self.room(a, at, neblock, wanted.saturating_sub(at))?;
            self.stream(stream, offset, b, context, room)?;
            at = at.saturating_add(neblock);
        }
    }

    /// One stream in full, whatever its kind.
    fn stream(
        &self,
        stream: Stream<'_>,
        offset: usize,
        work: &mut [u8],
        context: &mut DecodeContext,
        room: Destination<'_>,
    ) -> Result<(), Error> {
        match stream {
            Stream::Run(value) => room.exact().fill(value),
            Stream::Stored(bytes) => {
                room.exact().copy_from(bytes);
            }
            Stream::Coded(bytes) => self.expand(bytes, offset, work, context, room)?,
        }
        Ok(())
    }

    /// A block without filters: the streams are the data.
    fn unfiltered(
        &self,
        index: usize,
        work: &mut [u8],
        context: &mut DecodeContext,
        mut out: Out<'_>,
    ) -> Result<(), Error> {
        if self.header().is_vl() {
            let (_, payload) = self.chunk.vl_block(index)?;
            if payload.len() == out.len() {
                out.copy_from(payload);
                return Ok(());
            }
            let offset = self.chunk.block_extent(index)?.start;
            let len = out.len();
            return self.expand(payload, offset, work, context, Destination::new(out, len, len, self.level));
        }
        let mut streams = self.chunk.streams(index)?;
        let neblock = streams.stream_len();
        let (mut at, total) = (0usize, out.len());
        loop {
            let offset = streams.offset();
            let Some(stream) = streams.next_stream()? else { return Ok(()) };
            // Streams are expanded in order: what overruns one is overwritten by the next.
            let rest = out.get(at, total.saturating_sub(at));
            let rest = rest.ok_or(Error::OutputTooSmall { needed: total, given: total })?;
            self.stream(stream, offset, work, context, Destination::new(rest, neblock, neblock, self.level))?;
            at = at.saturating_add(neblock);
        }
    }

    /// The streams of the block, if each is a plane.
    fn planes(&self, index: usize) -> Result<Option<Streams<'a>>, Error> {
        if !self.joins {
            return Ok(None);
        }
        Ok(Some(self.chunk.streams(index)?).filter(|streams| streams.remaining() > 1))
    }

    /// Decoded bytes `part` of block `index` into `out`, which has exactly that length.
    #[allow(clippy::too_many_arguments)] // the scratch pieces are borrowed one by one
    pub(super) fn part(
        &self,
        index: usize,
        part: Range<usize>,
        a: &mut [u8],
        b: &mut [u8],
        reference: Option<&[u8]>,
        context: &mut DecodeContext,
        mut out: Out<'_>,
    ) -> Result<(), Error> {
        let block_len = self.block_len(index)?;
        let outside = Error::OutOfRange { index: part.end as u64, len: block_len as u64 };
        if let Some(streams) = self.planes(index)? {
            let ts = usize::from(self.header().typesize);
            let items = part.start.checked_div(ts).unwrap_or(0)..part.end.div_ceil(ts.max(1));
            let whole = items.start.saturating_mul(ts)..items.end.saturating_mul(ts);
            if whole == part {
                return self.join(streams, part, a, b, context, out);
            }
        }
        let slots = self.backward.as_slice();
        // Without filters nothing after the part matters.
        let wanted = if slots.is_empty() { part.end } else { block_len };
        let source = match self.expanded(index, wanted, a, b, context)? {
            Expanded::Constant(value) => {
                let given = a.len();
                a.get_mut(..block_len).ok_or(Error::WorkTooSmall { needed: block_len, given })?.fill(value);
                BlockLocation::A
            }
            Expanded::Bytes(bytes) => BlockLocation::Bytes(bytes),
            Expanded::InA => BlockLocation::A,
        };
        let decoded = self.env(reference).backward_scratch(slots, source, a, b, block_len)?;
        out.copy_from(decoded.bytes(a, b, block_len)?.get(part).ok_or(outside)?);
        Ok(())
    }

    /// Decoded bytes `part`, whole items, of a split block under a shuffle alone: every stream is one
    /// byte plane. Stored planes are read in place and constant ones are never written out; only
    /// coded planes pass through scratch.
    fn join(
        &self,
        streams: Streams<'_>,
        part: Range<usize>,
        a: &mut [u8],
        b: &mut [u8],
        context: &mut DecodeContext,
        out: Out<'_>,
    ) -> Result<(), Error> {
        // The whole of a longer list would be written before each block.
        if MAX_JOINED > FEW && streams.remaining() > FEW {
            self.joined::<MAX_JOINED>(streams, part, a, b, context, out)
        } else {
            self.joined::<FEW>(streams, part, a, b, context, out)
        }
    }

    /// [`join`](Self::join) of at most `MOST` planes.
    #[inline(never)] // its list of planes is not on the stack while other blocks are expanded
    fn joined<const MOST: usize>(
        &self,
        mut streams: Streams<'_>,
        part: Range<usize>,
        a: &mut [u8],
        b: &mut [u8],
        context: &mut DecodeContext,
        out: Out<'_>,
    ) -> Result<(), Error> {
        let (count, neblock) = (streams.remaining(), streams.stream_len());
        let items = part.start.checked_div(count).unwrap_or(0)..part.end.checked_div(count).unwrap_or(0);
        let outside = Error::OutOfRange { index: items.end as u64, len: neblock as u64 };
        let mut planes = [Plane::Constant(0); MOST];
        let given = a.len();
        let pitch = pitch(neblock, count, given);
        let mut free = a;
        for plane in planes.iter_mut().take(count) {
            let offset = streams.offset();
            let Some(stream) = streams.next_stream()? else { break };
            *plane = match stream {
                Stream::Run(value) => Plane::Constant(value),
                Stream::Stored(bytes) => Plane::Bytes(bytes.get(items.clone()).ok_or(outside)?),
                Stream::Coded(bytes) => {
                    let take = pitch.min(free.len());
                    let (room, rest) =
                        core::mem::take(&mut free).split_at_mut_checked(take).unwrap_or_default();
                    free = rest;
                    let needed = pitch.saturating_mul(count);
                    if room.len() < neblock {
                        return Err(Error::WorkTooSmall { needed, given });
                    }
                    self.expand(
                        bytes,
                        offset,
                        b,
                        context,
                        Destination::new((&mut *room).into(), neblock, items.end, self.level),
                    )?;
                    Plane::Bytes(room.get(items.clone()).ok_or(outside)?)
                }
            };
        }
        let planes = Planes::Each(planes.get(..count).unwrap_or(&[]));
        blocksplit::join(self.level, count, planes, out, self.stores)
            .map_err(|FilterError(reason)| Error::FilterParam { id: 1, meta: 0, reason })?;
        Ok(())
    }
}

/// Whether a shuffle is the whole pipeline and every stream of a split block is one of its planes.
fn streams_are_planes(chunk: &Chunk<'_>, backward: &Backward) -> bool {
    let [(_, slot)] = backward.as_slice() else { return false };
    let count = chunk.streams_per_block();
    let same = count > 1 && count == width(*slot, chunk.header().typesize);
    slot.filter == Filter::Shuffle && same && count <= MAX_JOINED
}

impl Chunk<'_> {
    /// Whether every [stream](Chunk::streams) of block `index` is one byte plane of its items: stream `s`
    /// holds byte `s` of each. To decode some items, [`Decoder::get_bytes`](super::Decoder::get_bytes) then
    /// looks at no other places of streams that are stored, so nothing else of those need be in memory.
    ///
    /// # Errors
    /// As [`Chunk::streams`].
    pub fn streams_are_planes(&self, index: usize) -> Result<bool, Error> {
        let split = self.streams(index)?.remaining() > 1;
        Ok(split && streams_are_planes(self, &Backward::of(self.header())))
    }
}

/// What the streams of a block came to.
enum Expanded<'a> {
    /// One value throughout.
    Constant(u8),
    /// Bytes of the chunk itself.
    Bytes(&'a [u8]),
    /// Buffer A.
    InA,
}

/// Whether undoing `filter` on a block of nothing but `value` leaves it so.
fn keeps_constant(filter: Filter, value: u8) -> bool {
    match filter {
        Filter::Shuffle => true,
        Filter::BitShuffle => matches!(value, 0 | 255),
        _ => false,
    }
}
