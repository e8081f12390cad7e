//! [`Decoder`]: whole chunks and single blocks.
//!
//! ```text
//! chunk bytes --codec--> A --filters--> (B, A, …) --last filter--> destination
//! stored stream ------------------------^          constant block ---^
//! ```
//! Scratch: `A` holds a block as its streams expand to; the codec's tables and `B` share memory, as
//! they are never needed at once; `R` holds decoded block 0 where DELTA refers to it.
#![deny(clippy::indexing_slicing, clippy::arithmetic_side_effects)]

use super::blocks::Stream;
use super::header::{Header, Special};
use super::pipeline::{Backward, Env, Source, width};
use super::plugin::Surroundings;
use super::view::Chunk;
use crate::arch::level::Level;
use crate::arch::out::Out;
use crate::codec::Codec;
use crate::codec::context::DecodeContext;
use crate::codec::dispatch::{self, StreamError};
use crate::error::Error;
use crate::filter::blocksplit::{self, Plane, Planes, Stores};
use crate::filter::{Filter, FilterError};
use core::ops::Range;

/// Most streams whose planes are joined without an intermediate copy.
const MAX_JOINED: usize = 32;

/// Decodes chunks with scratch memory of the caller. Never allocates after it has been made.
pub struct Decoder<'w> {
    pub(super) level: Level,
    pub(super) work: &'w mut [u8],
    pub(super) around: Surroundings<'w>,
    pub(super) context: DecodeContext,
}

/// The parts of the scratch memory.
pub(super) struct Scratch<'s> {
    /// One block as its streams expand to.
    pub a: &'s mut [u8],
    /// Codec tables, and another block.
    pub b: &'s mut [u8],
    /// Decoded block 0 where DELTA needs it.
    pub r: &'s mut [u8],
}

const fn max(a: usize, b: usize) -> usize {
    if a > b { a } else { b }
}

impl<'w> Decoder<'w> {
    /// A decoder that runs `level`'s kernels and uses `work` as scratch ([`Decoder::work_len`] bytes).
    /// With feature `zstd-c` this allocates the C library's context; nothing later does.
    pub fn new(level: Level, work: &'w mut [u8]) -> Decoder<'w> {
        Decoder::with_context(level, work, DecodeContext::new())
    }

    /// A decoder around codec contexts that exist already.
    pub fn with_context(level: Level, work: &'w mut [u8], context: DecodeContext) -> Decoder<'w> {
        Decoder { level, work, around: Surroundings::default(), context }
    }

    /// Gives the codec contexts back, for the next decoder.
    pub fn into_context(self) -> DecodeContext {
        self.context
    }

    /// Tells what the surroundings of the chunks know.
    pub fn surroundings(mut self, around: Surroundings<'w>) -> Self {
        self.around = around;
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
        let (a, b, r) = Self::parts(chunk);
        a.saturating_add(b).saturating_add(r)
    }

    /// Lengths of A, B and R.
    fn parts(chunk: &Chunk<'_>) -> (usize, usize, usize) {
        let header = chunk.header();
        if !header.has_streams() {
            return (0, 0, 0);
        }
        let block = chunk.largest_block();
        let backward = Backward::of(header);
        let delta = backward.has_delta() && !header.is_vl();
        let codec =
            if header.codec == Codec::BloscLz || header.codec == Codec::Lz4 || header.codec == Codec::Lz4Hc {
                0
            } else {
                dispatch::decode_work_len(block)
            };
        // Room to lay the planes of a split block apart, where the pipeline is a shuffle alone.
        let apart = if delta { 0 } else { block };
        (block.saturating_add(pad(block).min(apart)), max(block, codec), if delta { block } else { 0 })
    }

    pub(super) fn scratch(&mut self, chunk: &Chunk<'_>) -> Result<(Scratch<'_>, &mut DecodeContext), Error> {
        let (a, b, r) = Self::parts(chunk);
        let needed = a.saturating_add(b).saturating_add(r);
        let short = Error::WorkTooSmall { needed, given: self.work.len() };
        let (a, rest) = self.work.split_at_mut_checked(a).ok_or(short)?;
        let (b, rest) = rest.split_at_mut_checked(b).ok_or(short)?;
        let (r, _) = rest.split_at_mut_checked(r).ok_or(short)?;
        Ok((Scratch { a, b, r }, &mut self.context))
    }

    pub(super) fn job<'a>(&self, chunk: &Chunk<'a>) -> Result<Job<'a>, Error>
    where
        'w: 'a,
    {
        Job::new(chunk, self.level, self.around)
    }

    /// Decodes all of `chunk` into the start of `out`; returns the decoded size.
    ///
    /// # Errors
    /// `OutputTooSmall`, `WorkTooSmall`, a codec or filter that is not built in, or a corrupt stream.
    /// After an error the destination holds bytes of this chunk or what it held before, nothing else.
    pub fn decode<'o>(&mut self, chunk: &Chunk<'_>, out: impl Into<Out<'o>>) -> Result<usize, Error> {
        self.decode_masked(chunk, &[], out)
    }

    /// [`decode`](Self::decode), leaving out the blocks whose entry in `mask` is true: their bytes in
    /// `out` stay as they are (§2.11). An empty mask leaves out nothing.
    ///
    /// # Errors
    /// `Param` if the mask's length is not the number of blocks; else as `decode`.
    pub fn decode_masked<'o>(
        &mut self,
        chunk: &Chunk<'_>,
        mask: &[bool],
        out: impl Into<Out<'o>>,
    ) -> Result<usize, Error> {
        let nbytes = chunk.nbytes();
        let mut out: Out<'_> = out.into();
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
        let job = Job::new(chunk, self.level, self.around)?;
        let (mut scratch, context) = self.scratch(chunk)?;
        let needs_first = job.needs_first();
        if needs_first {
            job.first_block(&mut scratch, context)?;
        }
        let mut at = 0usize;
        for index in 0..chunk.nblocks() {
            let len = job.block_len(index)?;
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
                job.block(index, a, b, needs_first.then_some(&**r), context, place)?;
            }
        }
        Ok(nbytes)
    }

    /// Decodes block `index` into the start of `out`; returns its size.
    ///
    /// # Errors
    /// `OutOfRange`, and as [`decode`](Self::decode).
    pub fn decode_block<'o>(
        &mut self,
        chunk: &Chunk<'_>,
        index: usize,
        out: impl Into<Out<'o>>,
    ) -> Result<usize, Error> {
        let range = chunk.block_range(index)?;
        let len = range.len();
        let mut out: Out<'_> = out.into();
        let given = out.len();
        let mut out = out.get(0, len).ok_or(Error::OutputTooSmall { needed: len, given })?;
        if !chunk.header().has_streams() {
            copy_plain(chunk, range.start, out)?;
            return Ok(len);
        }
        let job = Job::new(chunk, self.level, self.around)?;
        let (mut scratch, context) = self.scratch(chunk)?;
        let needs_first = job.needs_first();
        if needs_first {
            job.first_block(&mut scratch, context)?;
            if index == 0 {
                out.copy_from(scratch.r);
                return Ok(len);
            }
        }
        let Scratch { a, b, r } = &mut scratch;
        job.block(index, a, b, needs_first.then_some(&**r), context, out)?;
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
        let job = self.job(chunk)?;
        let (mut scratch, context) = self.scratch(chunk)?;
        let needs_first = job.needs_first();
        if needs_first {
            job.first_block(&mut scratch, context)?;
        }
        Ok(BlockDecoder { job, scratch, context, needs_first })
    }
}

/// Decodes single blocks of one chunk; see [`Decoder::blocks`].
pub struct BlockDecoder<'d, 'a> {
    job: Job<'a>,
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
        self.job.block_len(index)
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
        self.job.block(index, a, b, self.needs_first.then_some(&**r), self.context, out)
    }
}

/// Decoded bytes from `start` on of a chunk without streams: stored or special.
pub(super) fn copy_plain(chunk: &Chunk<'_>, start: usize, mut out: Out<'_>) -> Result<(), Error> {
    match chunk.header().special() {
        Some(Special::Zeros | Special::Uninit) => out.fill(0),
        Some(Special::Nan | Special::Value) => fill_repeated(chunk.repeated_value(), start, out),
        None => {
            let end = start.saturating_add(out.len());
            let bytes = chunk.stored_bytes()?.get(start..end);
            out.copy_from(bytes.ok_or(Error::OutOfRange { index: end as u64, len: chunk.nbytes() as u64 })?);
        }
    }
    Ok(())
}

/// Fills `out` with `value` over and over, beginning `start` bytes into the repetition.
fn fill_repeated(value: &[u8], start: usize, mut out: Out<'_>) {
    if let [byte] = value {
        return out.fill(*byte);
    }
    let (mut at, mut skip) = (0usize, start.checked_rem(value.len()).unwrap_or(0));
    while let Some(mut place) = out.get(at, out.len().saturating_sub(at)) {
        let copied = place.copy_from(value.get(skip..).unwrap_or(&[]));
        if copied == 0 {
            return;
        }
        at = at.saturating_add(copied);
        skip = 0;
    }
}

/// Extra bytes that let the planes of a split block lie apart; see [`pitch`].
fn pad(block: usize) -> usize {
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
pub(super) struct Job<'a> {
    pub chunk: Chunk<'a>,
    pub backward: Backward,
    pub dictionary: &'a [u8],
    level: Level,
    around: Surroundings<'a>,
    stores: Stores,
}

impl<'a> Job<'a> {
    pub(super) fn new<'s: 'a>(
        chunk: &Chunk<'a>,
        level: Level,
        around: Surroundings<'s>,
    ) -> Result<Job<'a>, Error> {
        let backward = Backward::of(chunk.header());
        let stores = Stores::for_len(chunk.nbytes());
        Ok(Job { chunk: *chunk, backward, dictionary: chunk.dictionary()?, level, around, stores })
    }

    pub(super) fn header(&self) -> &Header {
        self.chunk.header()
    }

    /// Whether blocks after the first need it decoded.
    pub(super) fn needs_first(&self) -> bool {
        self.header().has_streams()
            && self.backward.has_delta()
            && !self.header().is_vl()
            && self.chunk.nblocks() > 1
    }

    pub(super) fn block_len(&self, index: usize) -> Result<usize, Error> {
        if self.header().is_vl() && self.header().has_streams() {
            Ok(self.chunk.vl_block(index)?.0)
        } else {
            Ok(self.chunk.block_range(index)?.len())
        }
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
            around: self.around,
            reference,
        }
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

    /// Expands one coded stream found at `offset`.
    pub(super) fn expand(
        &self,
        src: &[u8],
        offset: usize,
        work: &mut [u8],
        context: &mut DecodeContext,
        out: Out<'_>,
    ) -> Result<(), Error> {
        let (codec, meta) = (self.header().codec, self.header().codec_meta);
        let corrupt = |error| Error::Codec { codec, offset, error };
        if let Some(user) = self.around.codec(codec.id()) {
            return user.decode(meta, src, out.zeroed()).map_err(corrupt);
        }
        dispatch::decode_stream(codec, meta, src, out, self.dictionary, work, context).map_err(|e| match e {
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
        if slots.is_empty() {
            return self.unfiltered(index, b, context, out);
        }
        if self.streams_are_planes(index)? {
            return self.joined(index, 0..len, a, b, context, out);
        }
        let source = match self.expanded(index, a, b, context)? {
            Expanded::Constant(value) => {
                if slots.iter().all(|(_, s)| keeps_constant(s.filter, value)) {
                    out.fill(value);
                    return Ok(());
                }
                let given = a.len();
                a.get_mut(..len).ok_or(Error::WorkTooSmall { needed: len, given })?.fill(value);
                Source::A
            }
            Expanded::Bytes(bytes) => Source::Bytes(bytes),
            Expanded::InA => Source::A,
        };
        self.env(reference).backward_all(slots, source, a, b, out)
    }

    /// The block's streams expanded side by side, before any filter is undone.
    fn expanded(
        &self,
        index: usize,
        a: &mut [u8],
        b: &mut [u8],
        context: &mut DecodeContext,
    ) -> Result<Expanded<'a>, Error> {
        let given = a.len();
        if self.header().is_vl() {
            let (len, payload) = self.chunk.vl_block(index)?;
            if payload.len() == len {
                return Ok(Expanded::Bytes(payload));
            }
            let to = a.get_mut(..len).ok_or(Error::WorkTooSmall { needed: len, given })?;
            let offset = self.chunk.block_extent(index)?.start;
            self.expand(payload, offset, b, context, to.into())?;
            return Ok(Expanded::InA);
        }
        let mut streams = self.chunk.streams(index)?;
        let single = streams.remaining() == 1;
        let neblock = streams.stream_len();
        let mut at = 0usize;
        loop {
            let offset = streams.offset();
            let Some(stream) = streams.next_stream()? else { return Ok(Expanded::InA) };
            if single {
                match stream {
                    Stream::Run(value) => return Ok(Expanded::Constant(value)),
                    Stream::Stored(bytes) => return Ok(Expanded::Bytes(bytes)),
                    Stream::Coded(_) => {}
                }
            }
            let end = at.saturating_add(neblock);
            let to = a.get_mut(at..end).ok_or(Error::WorkTooSmall { needed: end, given })?;
            self.stream(stream, offset, b, context, to.into())?;
            at = end;
        }
    }

    /// One stream in full, whatever its kind.
    fn stream(
        &self,
        stream: Stream<'_>,
        offset: usize,
        work: &mut [u8],
        context: &mut DecodeContext,
        mut to: Out<'_>,
    ) -> Result<(), Error> {
        match stream {
            Stream::Run(value) => to.fill(value),
            Stream::Stored(bytes) => {
                to.copy_from(bytes);
            }
            Stream::Coded(bytes) => self.expand(bytes, offset, work, context, to)?,
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
            return self.expand(payload, offset, work, context, out);
        }
        let mut streams = self.chunk.streams(index)?;
        let neblock = streams.stream_len();
        let (mut at, total) = (0usize, out.len());
        loop {
            let offset = streams.offset();
            let Some(stream) = streams.next_stream()? else { return Ok(()) };
            let to = out.get(at, neblock).ok_or(Error::OutputTooSmall { needed: total, given: total })?;
            self.stream(stream, offset, work, context, to)?;
            at = at.saturating_add(neblock);
        }
    }

    /// Whether a shuffle is the whole pipeline and every stream of the block is one of its planes.
    fn streams_are_planes(&self, index: usize) -> Result<bool, Error> {
        let [(_, slot)] = self.backward.as_slice() else { return Ok(false) };
        if slot.filter != Filter::Shuffle || self.header().is_vl() || self.around.filter(1).is_some() {
            return Ok(false);
        }
        let count = self.chunk.streams(index)?.remaining();
        Ok(count > 1 && count == width(*slot, self.header().typesize) && count <= MAX_JOINED)
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
        if self.streams_are_planes(index)? {
            let ts = usize::from(self.header().typesize);
            let items = part.start.checked_div(ts).unwrap_or(0)..part.end.div_ceil(ts.max(1));
            let whole = items.start.saturating_mul(ts)..items.end.saturating_mul(ts);
            if whole == part {
                return self.joined(index, part, a, b, context, out);
            }
        }
        let slots = self.backward.as_slice();
        let source = match self.expanded(index, a, b, context)? {
            Expanded::Constant(value) => {
                let given = a.len();
                a.get_mut(..block_len).ok_or(Error::WorkTooSmall { needed: block_len, given })?.fill(value);
                Source::A
            }
            Expanded::Bytes(bytes) => Source::Bytes(bytes),
            Expanded::InA => Source::A,
        };
        let decoded = self.env(reference).backward_scratch(slots, source, a, b, block_len)?;
        out.copy_from(decoded.bytes(a, b, block_len)?.get(part).ok_or(outside)?);
        Ok(())
    }

    /// Decoded bytes `part`, whole items, of a split block under a shuffle alone: every stream is one
    /// byte plane. Stored planes are read in place and constant ones are never written out; only
    /// coded planes pass through scratch.
    fn joined(
        &self,
        index: usize,
        part: Range<usize>,
        a: &mut [u8],
        b: &mut [u8],
        context: &mut DecodeContext,
        out: Out<'_>,
    ) -> Result<(), Error> {
        let mut streams = self.chunk.streams(index)?;
        let (count, neblock) = (streams.remaining(), streams.stream_len());
        let items = part.start.checked_div(count).unwrap_or(0)..part.end.checked_div(count).unwrap_or(0);
        let outside = Error::OutOfRange { index: items.end as u64, len: neblock as u64 };
        let mut planes = [Plane::Constant(0); MAX_JOINED];
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
                    let room = room.get_mut(..neblock).ok_or(Error::WorkTooSmall { needed, given })?;
                    self.expand(bytes, offset, b, context, (&mut *room).into())?;
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
