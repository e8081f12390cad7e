//! [`PushDecoder`]: a chunk that arrives in pieces, decoded block by block in memory of the caller.
//!
//! ```text
//! pushed bytes --gathered--> memory: [ header | 1 start | dictionary | one compressed block ]   a chunk of one block
//!                                    [ the block decoded | A | B | R ] [ all block starts ]
//! header -> starts -> dictionary -> ( next -> block )* -> rest        each step has all of its bytes before it begins
//! ```
//! What has been gathered is read by the parsers of whole chunks, [`Header::parse`], [`Chunk`] and [`Streams`]: the
//! `Truncated` of each says how many bytes it lacks, and those are gathered next. The compressed block then is the only
//! one of a chunk with the same header, which the block decoder takes as any other.
#![deny(clippy::indexing_slicing, clippy::arithmetic_side_effects)]

use super::plain::copy_plain;
use super::push_state::{PushState, mix};
use super::reader::{ChunkReader, pad};
use super::{codec_work, max};
use crate::arch::level::Level;
use crate::arch::lz::window::WIDE_COPIES;
use crate::arch::out::Out;
use crate::chunk::blocks::Streams;
use crate::chunk::context::ChunkContext;
use crate::chunk::header::{EXTENDED_HEADER, FLAG_DONT_SPLIT, Header, SHORT_HEADER, Special, le_i32};
use crate::chunk::limits::Limits;
use crate::chunk::pipeline::Backward;
use crate::chunk::view::Chunk;
use crate::codec::context::DecodeContext;
use crate::error::{Error, Field};
use core::ops::Range;

/// Bytes after a compressed block that wide copies may read.
const SLACK: usize = if WIDE_COPIES { 32 } else { 0 };

/// Least length of the pieces of chunks without streams, whose block size says nothing about memory.
const SECTOR: usize = 512;

/// The answer to block starts that only a decoder of whole chunks can follow.
const OVERLAP: Error =
    Error::Unsupported("blocks that share bytes with each other or with the header: decode the whole chunk");

/// A decoded block of a chunk that is being pushed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Block<'a> {
    /// Number of the block; of a chunk without streams, of the piece.
    pub index: usize,
    /// Where its bytes lie in the decoded chunk.
    pub offset: usize,
    /// Its decoded bytes.
    pub bytes: &'a [u8],
}

/// What is to be done with the bytes that are gathered next.
#[derive(Clone, Copy)]
enum Phase {
    Header,
    /// The start of block `index`; `last` is the one before it.
    Starts {
        index: usize,
        last: usize,
    },
    Dictionary,
    /// The next block is to be looked for.
    Next,
    /// Block `index`, which starts at `start` in the chunk: `left` streams from `cursor` in memory on are not seen yet.
    Streams {
        index: usize,
        start: usize,
        cursor: usize,
        left: usize,
        neblock: usize,
    },
    /// A block of variable length, which ends at `end` in the chunk.
    Variable {
        index: usize,
        start: usize,
        end: usize,
    },
    /// Stored or special.
    Plain,
    Done,
    Failed(Error),
}

/// What a step came to.
enum Step {
    More,
    /// A block: its number, where it lies when decoded, and where it is in memory now.
    Block(usize, usize, Range<usize>),
    Done,
}

/// Decodes a chunk whose bytes are pushed in pieces of any size, in memory of the caller. Never allocates, but for the
/// context of C zstd with feature `zstd-c`.
///
/// Blocks come out in the order in which they arrive, each checked and decoded before any of it is handed out. The memory
/// decides what is taken: with room for all block starts (4 bytes each) blocks may lie in any order, as writers with
/// threads leave them; with less they must be in order, and a chunk whose blocks are not is refused with the size that it
/// needs.
///
/// | chunk | |
/// |---|---|
/// | Blosc1 and Blosc2, every codec and filter that is built in, dictionaries, instrumented | decoded by blocks |
/// | stored, special values | in pieces of the block size and of 512 bytes at least, or of what the memory holds |
/// | variable-length blocks | with room for the block starts |
/// | delta, several blocks | if the first block arrives first |
/// | lazy, written on a big-endian machine | refused, as by [`Chunk::parse`] |
/// | blocks that share bytes, a block size that C-Blosc2 did not round to whole items, a block that its codec made longer than the memory's room for one | refused |
///
/// ```
/// use blosc_core::{Level, PushDecoder};
/// # #[cfg(feature = "alloc")] {
/// # let data: Vec<u8> = (0..20_000u32).flat_map(u32::to_le_bytes).collect();
/// # let params = blosc_core::Params::new(4).codec(blosc_core::Codec::Lz4).shuffle().blocksize(Some(4096));
/// # let chunk = blosc_core::compress(&params, &data).unwrap();
/// # let mut flash = vec![0; data.len()];
/// // For blocks of at most 4096 bytes and items of at most 4, in order.
/// let mut memory = [0; PushDecoder::memory_max(4096, 4, 0)];
/// let mut decoder = PushDecoder::new(Level::SCALAR, &mut memory);
/// for mut piece in chunk.chunks(61) {                              // from a serial line, say
///     while let Some(block) = decoder.push(&mut piece)? {
///         flash[block.offset..][..block.bytes.len()].copy_from_slice(block.bytes);
///     }
/// }
/// assert!(decoder.is_done() && flash == data);
/// # }
/// # Ok::<(), blosc_core::Error>(())
/// ```
pub struct PushDecoder<'w> {
    level: Level,
    memory: &'w mut [u8],
    limits: Limits,
    chunk_context: ChunkContext<'w>,
    context: DecodeContext,
    phase: Phase,
    header: Option<Header>,
    /// Bytes gathered at the start of the memory, and how many the next step needs there.
    fill: usize,
    want: usize,
    /// Bytes of the chunk to be dropped before that.
    skip: usize,
    /// Offset in the chunk of the next byte to be pushed.
    at: usize,
    /// Where the compressed block starts in memory.
    base: usize,
    /// Where the first block and the block starts are kept in memory, each up to the next or the end.
    reference: usize,
    table: usize,
    /// Up to the last block that came out.
    state: PushState,
    /// Whether the prefix is complete.
    prefixed: bool,
}

impl<'w> PushDecoder<'w> {
    /// A decoder for one chunk, under the default limits. It takes `memory` for everything that it keeps:
    /// [`memory_max`](Self::memory_max) or [`memory_len`](Self::memory_len) bytes.
    pub fn new(level: Level, memory: &'w mut [u8]) -> PushDecoder<'w> {
        let end = memory.len();
        PushDecoder {
            level,
            memory,
            limits: Limits::DEFAULT,
            chunk_context: ChunkContext::default(),
            context: DecodeContext::empty(),
            phase: Phase::Header,
            header: None,
            fill: 0,
            want: SHORT_HEADER.min(end),
            skip: 0,
            at: 0,
            base: 0,
            reference: end,
            table: end,
            state: PushState::default(),
            prefixed: false,
        }
    }

    /// Sets what the chunk may cost.
    pub fn limits(mut self, limits: &Limits) -> Self {
        self.limits = *limits;
        self
    }

    pub(super) fn chunk_limits(&self) -> &Limits {
        &self.limits
    }

    /// Sets what the chunk itself does not say: the array around it, and codecs and filters of the caller.
    pub fn chunk_context(mut self, chunk_context: ChunkContext<'w>) -> Self {
        self.chunk_context = chunk_context;
        self
    }

    /// Bytes of memory that are enough for every chunk whose blocks are at most `blocksize` bytes and items at most
    /// `typesize`, beside its dictionary if it has one. `blocks` is how many it may have if they are in any order or of
    /// variable length, 0 if they are in order.
    pub const fn memory_max(blocksize: usize, typesize: usize, blocks: usize) -> usize {
        let streams = if typesize < 255 { typesize } else { 255 };
        let fixed = EXTENDED_HEADER.saturating_add(4).saturating_add(SLACK);
        let block = blocksize.saturating_mul(2).saturating_add(streams.saturating_mul(4));
        let work = super::Decoder::work_max(blocksize).saturating_add(blocks.saturating_mul(4));
        fixed.saturating_add(block).saturating_add(work)
    }

    /// Bytes of memory for the chunk with this header, beside its dictionary if it has one: the exact figure with all
    /// block starts. A chunk whose blocks are in order needs 4 bytes less for each. Blocks of variable length are taken to be as
    /// large as the chunk.
    pub fn memory_len(header: &Header) -> usize {
        if !header.has_streams() {
            let value = (header.cbytes as usize).saturating_sub(header.header_len());
            let value = if header.special() == Some(Special::Value) { value } else { 0 };
            return header.header_len().saturating_add(value).saturating_add(header.blocksize as usize);
        }
        let block = if header.is_vl() { header.nbytes } else { header.blocksize } as usize;
        let streams = Chunk::of(&[], *header).streams_per_block();
        let backward = Backward::of(header);
        let (a, b) = parts(header, &backward, block);
        let r = if needs_first(header, &backward) { header.blocksize as usize } else { 0 };
        [block, streams.saturating_mul(4), SLACK, block, a, b, r, header.nblocks().saturating_mul(4)]
            .into_iter()
            .fold(header.header_len().saturating_add(4), usize::saturating_add)
    }

    /// Offset in the chunk of the next byte to be pushed.
    pub fn position(&self) -> usize {
        self.at
    }

    /// How many bytes it takes before the next block can come out or the next thing can be checked, at least; 0 after the
    /// chunk's last byte, and while blocks wait for another [`push`](Self::push). More may be pushed at once.
    pub fn needs(&self) -> usize {
        self.skip.saturating_add(self.want.saturating_sub(self.fill))
    }

    /// Whether the whole chunk has been taken and all of its blocks have come out.
    pub fn is_done(&self) -> bool {
        matches!(self.phase, Phase::Done) && self.skip == 0
    }

    /// The header, once it has arrived and been checked.
    pub fn header(&self) -> Option<&Header> {
        self.header.as_ref()
    }

    /// Takes bytes from the front of `bytes` and returns the next block; `None` if it has taken all of them, or the chunk is at
    /// its end. So call it until it returns `None`.
    ///
    /// # Errors
    /// As [`Chunk::parse`] and [`Decoder::decode`](super::Decoder::decode), each as soon as the bytes that show it have
    /// arrived; `WorkTooSmall` and `Unsupported` for what the type's table says. Every later call gives the same error.
    pub fn push(&mut self, bytes: &mut &[u8]) -> Result<Option<Block<'_>>, Error> {
        // Most pieces complete nothing: what they come to takes little longer than copying them.
        let (index, offset, place) = loop {
            self.take(bytes);
            if self.needs() > 0 {
                return Ok(None);
            }
            match self.advance()? {
                Step::More => {}
                Step::Block(index, offset, place) => break (index, offset, place),
                Step::Done => return Ok(None),
            }
        };
        Ok(Some(Block { index, offset, bytes: self.memory.get(place).unwrap_or(&[]) }))
    }

    /// The next step, whose bytes have all been gathered.
    #[inline(never)]
    fn advance(&mut self) -> Result<Step, Error> {
        let step = self.step();
        match &step {
            Ok(Step::Block(_, _, place)) => {
                self.state.at = self.at as u32;
                self.state.blocks = self.state.blocks.saturating_add(1);
                self.state.offset = self.state.offset.saturating_add(place.len() as u32);
            }
            Err(error) => {
                self.phase = Phase::Failed(*error);
                (self.skip, self.want) = (0, self.fill);
            }
            _ => {}
        }
        step
    }

    /// The decoder's state after the last block that came out, to be stored where power failures do not reach. `None`
    /// until header, block starts and dictionary have arrived.
    pub fn state(&self) -> Option<PushState> {
        self.prefixed.then_some(self.state)
    }

    /// Goes on where the decoder that `state` is from stopped, in this run of the program or an earlier one. The prefix
    /// of the same chunk must have been pushed again, [`needs`](Self::needs) bytes at a time until [`state`](Self::state)
    /// is there, and nothing after it; go on from [`position`](Self::position).
    ///
    /// # Errors
    /// `Param` if the state is of another chunk, or bytes after the prefix have been pushed. `Unsupported` for a chunk with
    /// delta, whose blocks need the first one: push that as well before this is called.
    pub fn resume(&mut self, state: PushState) -> Result<(), Error> {
        let wrong =
            |value: u32, allowed| Err(Error::Param { name: "state", value: i64::from(value), allowed });
        let Some(header) = self.header.filter(|_| self.prefixed) else {
            return wrong(state.at, "a decoder that has got the prefix of the chunk");
        };
        if self.at != self.state.at as usize {
            return wrong(state.at, "a decoder that has got nothing after the prefix");
        }
        if state.check != self.state.check || state.at > header.cbytes || state.at < self.state.at {
            return wrong(state.check, "a state of the same chunk");
        }
        if self.keeps_first() && self.state.blocks == 0 && state.blocks > 0 {
            return Err(Error::Unsupported(
                "a chunk with delta goes on after its first block only: push that again as well",
            ));
        }
        self.phase = if header.has_streams() { Phase::Next } else { Phase::Plain };
        (self.at, self.state, self.skip) = (state.at as usize, state, 0);
        (self.fill, self.want) = (self.base, self.base);
        Ok(())
    }

    /// Drops and gathers.
    #[inline]
    fn take(&mut self, bytes: &mut &[u8]) {
        let dropped = self.skip.min(bytes.len());
        let rest = bytes.get(dropped..).unwrap_or(&[]);
        self.skip = self.skip.saturating_sub(dropped);
        let room = if self.skip > 0 { None } else { self.memory.get_mut(self.fill..self.want) };
        let copied = room.map_or(0, |room| Out::from(room).copy_from(rest));
        *bytes = rest.get(copied..).unwrap_or(&[]);
        self.fill = self.fill.saturating_add(copied);
        self.at = self.at.saturating_add(dropped).saturating_add(copied);
    }

    /// Has bytes gathered up to `want` in memory, which is the end of what lies before `room` is left for others.
    fn gather(&mut self, want: usize, others: usize) -> Result<Step, Error> {
        let needed = want.saturating_add(others);
        if needed > self.reference {
            let behind = self.memory.len().saturating_sub(self.reference);
            return Err(Error::WorkTooSmall {
                needed: needed.saturating_add(behind),
                given: self.memory.len(),
            });
        }
        self.want = want;
        Ok(Step::More)
    }

    fn step(&mut self) -> Result<Step, Error> {
        match self.phase {
            Phase::Failed(error) => return Err(error),
            Phase::Done => return Ok(Step::Done),
            _ => {}
        }
        let Some(header) = self.header else { return self.read_header() };
        match self.phase {
            Phase::Starts { index, last } => self.start(&header, index, last),
            Phase::Dictionary => self.dictionary(&header),
            Phase::Next => self.next(&header),
            Phase::Streams { index, start, cursor, left, neblock } => {
                self.streams(&header, index, start, cursor, left, neblock)
            }
            Phase::Variable { index, start, end } => self.variable(&header, index, start, end),
            _ => self.plain(&header),
        }
    }

    fn read_header(&mut self) -> Result<Step, Error> {
        let header = match Header::parse(self.memory.get(..self.fill).unwrap_or(&[])) {
            Ok(header) => header,
            Err(Error::Truncated { needed, .. }) if needed > self.fill => return self.gather(needed, 0),
            Err(error) => return Err(error),
        };
        let (len, end) = (header.header_len(), self.memory.len());
        let chunk = Chunk::of(&[], header);
        Chunk::check(&header, &self.limits)?;
        if chunk.unrounded() != 0 {
            return Err(Error::Unsupported(
                "a block size that is no multiple of the item size: decode the whole chunk",
            ));
        }
        self.header = Some(header);
        self.context.prepare(header.codec);
        let words = self.memory.get(..len).unwrap_or(&[]).as_chunks().0;
        self.state.check = words.iter().fold(0, |check, word| mix(check, u32::from_le_bytes(*word)));
        self.state.seen = self.state.check;
        if !header.has_streams() {
            self.phase = Phase::Plain;
            self.base = match header.special() {
                Some(Special::Value) => header.cbytes as usize,
                _ => len,
            };
            return self.gather(self.base, 1);
        }
        let needed = PushDecoder::memory_len(&header);
        let table = header.nblocks().saturating_mul(4);
        // The blocks' own sizes are not known yet.
        let needed = if header.is_vl() { len.saturating_add(table) } else { needed };
        if needed <= end {
            self.table = end.saturating_sub(table);
        } else if header.is_vl() || needed.saturating_sub(table) > end {
            return Err(Error::WorkTooSmall { needed, given: end });
        }
        self.reference = self.table;
        if needs_first(&header, &Backward::of(&header)) {
            self.reference = self.table.saturating_sub(header.blocksize as usize);
        }
        self.phase = Phase::Starts { index: 0, last: chunk.table_end().saturating_sub(1) };
        self.gather(len.saturating_add(4), 0)
    }

    /// Checks the start of block `index`, and keeps it if there is room.
    fn start(&mut self, header: &Header, index: usize, last: usize) -> Result<Step, Error> {
        let slot = header.header_len();
        let value = le_i32(self.memory, slot).unwrap_or(0);
        let offset = slot.saturating_add(index.saturating_mul(4));
        let start = usize::try_from(value).unwrap_or(0);
        if start == 0 || start >= header.cbytes as usize || (header.is_vl() && start <= last) {
            return Err(Error::Invalid { field: Field::BlockStarts, offset, value: i64::from(value) });
        }
        if start < slot.saturating_add(header.nblocks().saturating_mul(4)) {
            return Err(OVERLAP);
        }
        let mut next = last.max(start);
        if self.keeps_starts() {
            let entry = self.table.saturating_add(index.saturating_mul(4));
            if let Some(place) = self.memory.get_mut(entry..entry.saturating_add(4)) {
                Out::from(place).copy_from(&value.to_le_bytes());
            }
            if self.keeps_first() {
                next = if index == 0 { start } else { last };
                if index > 0 && start < next {
                    return Err(Error::Unsupported(
                        "delta in a chunk whose first block does not lie first: decode the whole chunk",
                    ));
                }
            }
        } else if start <= last {
            return Err(Error::WorkTooSmall { needed: Self::memory_len(header), given: self.memory.len() });
        }
        self.state.check = mix(self.state.check, start as u32);
        let index = index.saturating_add(1);
        self.phase = Phase::Starts { index, last: next };
        if index < header.nblocks() {
            self.fill = slot;
            return Ok(Step::More);
        }
        if header.has_dictionary() {
            self.phase = Phase::Dictionary;
            return Ok(Step::More);
        }
        self.prefix_ends(header, slot.saturating_add(4));
        Ok(Step::More)
    }

    fn dictionary(&mut self, header: &Header) -> Result<Step, Error> {
        let one = Chunk::of(self.memory.get(..self.fill).unwrap_or(&[]), one(header, 0));
        let moves = one.table_end()..header.header_len().saturating_add(header.nblocks().saturating_mul(4));
        match one.dictionary() {
            Ok(_) => {
                let base = one.prefix_len()?;
                self.prefix_ends(header, base);
                Ok(Step::More)
            }
            Err(error) => self.lacking(header, error, &moves, false),
        }
    }

    /// The compressed blocks are gathered from `base` on, which is what the one start of each says.
    fn prefix_ends(&mut self, header: &Header, base: usize) {
        self.base = base;
        if let Some(slot) = self.memory.get_mut(header.header_len()..) {
            Out::from(slot).copy_from(&(base as u32).to_le_bytes());
        }
        self.phase = Phase::Next;
        self.prefixed = true;
        self.state.at = self.at as u32;
    }

    /// Has the bytes gathered that `error` lacks, if the chunk has them, and with them those of the size word `after` them.
    fn lacking(
        &mut self,
        header: &Header,
        error: Error,
        moves: &Range<usize>,
        after: bool,
    ) -> Result<Step, Error> {
        let placed = moved(error, moves);
        match (error, placed) {
            (Error::Truncated { offset, needed, .. }, Error::Truncated { offset: place, .. })
                if place.saturating_add(needed) <= header.cbytes as usize =>
            {
                let left = (header.cbytes as usize).saturating_sub(place).saturating_sub(needed);
                let word = if after && left >= 4 { 4 } else { 0 };
                self.gather(offset.saturating_add(needed).saturating_add(word), 0)
            }
            _ => Err(placed),
        }
    }

    /// Whether blocks after the first refer to it.
    fn keeps_first(&self) -> bool {
        self.reference < self.table
    }

    fn keeps_starts(&self) -> bool {
        self.table < self.memory.len()
    }

    fn kept_start(&self, index: usize) -> Option<usize> {
        let entry = self.table.saturating_add(index.saturating_mul(4));
        le_i32(self.memory, entry).and_then(|start| usize::try_from(start).ok())
    }

    /// Looks for the block that starts at or after this position.
    fn next(&mut self, header: &Header) -> Result<Step, Error> {
        let (done, count) = (self.state.blocks as usize, header.nblocks());
        (self.fill, self.want) = (self.base, self.base);
        if done >= count {
            self.skip = (header.cbytes as usize).saturating_sub(self.at);
            self.phase = Phase::Done;
            return Ok(Step::More);
        }
        let (mut index, mut start) = (done, self.at);
        if self.keeps_starts() {
            // Most blocks are in order.
            if self.kept_start(done) != Some(start) {
                let starts = (0..count).filter_map(|index| Some((self.kept_start(index)?, index)));
                (start, index) = starts.filter(|(start, _)| *start >= self.at).min().ok_or(OVERLAP)?;
            }
        } else {
            let seen = mix(self.state.seen, start as u32);
            if done.saturating_add(1) == count && seen != self.state.check {
                return Err(Error::Unsupported(
                    "bytes between blocks: give the decoder room for the block starts",
                ));
            }
        }
        self.skip = start.saturating_sub(self.at);
        if header.is_vl() {
            let end = self.kept_start(index.saturating_add(1)).filter(|_| index.saturating_add(1) < count);
            self.phase = Phase::Variable { index, start, end: end.unwrap_or(header.cbytes as usize) };
        } else {
            let (left, neblock) = Chunk::of(&[], one(header, block_len(header, index))).shape()?;
            self.phase = Phase::Streams { index, start, cursor: self.base, left, neblock };
        }
        self.gather(self.base.saturating_add(4), 0)
    }

    /// Walks over the streams of a block as far as they have arrived.
    fn streams(
        &mut self,
        header: &Header,
        index: usize,
        start: usize,
        cursor: usize,
        left: usize,
        neblock: usize,
    ) -> Result<Step, Error> {
        let mut streams = Streams::new(self.memory.get(..self.fill).unwrap_or(&[]), cursor, left, neblock);
        loop {
            match streams.next_stream() {
                Ok(Some(_)) => {}
                Ok(None) => return self.decode(header, index, start, block_len(header, index)),
                Err(error) => {
                    let (cursor, left) = (streams.offset(), streams.remaining());
                    self.phase = Phase::Streams { index, start, cursor, left, neblock };
                    return self.lacking(header, error, &(self.base..start), left > 1);
                }
            }
        }
    }

    fn variable(&mut self, header: &Header, index: usize, start: usize, end: usize) -> Result<Step, Error> {
        let want = self.base.saturating_add(end.saturating_sub(start));
        let size = le_i32(self.memory, self.base).unwrap_or(0);
        let left = header.nbytes.saturating_sub(self.state.offset);
        let len = u32::try_from(size).unwrap_or(0);
        if len == 0 || len > left {
            return Err(Error::Invalid { field: Field::VlBlockSize, offset: start, value: i64::from(size) });
        }
        if want <= self.base.saturating_add(4) {
            let offset = header.header_len().saturating_add(index.saturating_mul(4));
            return Err(Error::Invalid { field: Field::BlockStarts, offset, value: start as i64 });
        }
        if index.saturating_add(1) == header.nblocks() && len != left {
            return Err(Error::Invalid { field: Field::Nbytes, offset: 4, value: i64::from(header.nbytes) });
        }
        if self.fill < want {
            return self.gather(want, 0);
        }
        self.decode(header, index, start, len as usize)
    }

    /// Decodes the block that has been gathered.
    fn decode(&mut self, header: &Header, index: usize, start: usize, len: usize) -> Result<Step, Error> {
        let backward = Backward::of(header);
        let (a, b) = parts(header, &backward, len);
        let slack = if header.is_vl() { 0 } else { SLACK };
        let needed = [slack, len, a, b].into_iter().fold(0, usize::saturating_add);
        self.gather(self.fill, needed)?;
        let (one, out_at) = (one(header, len), self.fill.saturating_add(slack));
        let short = Error::WorkTooSmall { needed, given: self.memory.len() };
        let refers = self.keeps_first();
        let (front, keep) = self.memory.split_at_mut_checked(self.reference).ok_or(short)?;
        let (input, rest) = front.split_at_mut_checked(out_at).ok_or(short)?;
        let (out, rest) = rest.split_at_mut_checked(len).ok_or(short)?;
        let (a, rest) = rest.split_at_mut_checked(a).ok_or(short)?;
        let (b, _) = rest.split_at_mut_checked(b).ok_or(short)?;
        let reader = ChunkReader::with(&Chunk::of(input, one), backward, self.level, &self.chunk_context);
        let reference = keep.get(..header.blocksize as usize).filter(|_| refers && index > 0);
        reader
            .block(0, a, b, reference, &mut self.context, Out::from(&mut *out))
            .map_err(|error| moved(error, &(self.base..start)))?;
        if refers && index == 0 {
            Out::from(keep).split_at(len).0.copy_from(out);
        }
        self.state.seen = mix(self.state.seen, start as u32);
        let offset = if header.is_vl() {
            self.state.offset as usize
        } else {
            index.saturating_mul(header.blocksize as usize)
        };
        self.phase = Phase::Next;
        (self.want, self.fill) = (self.base, self.base);
        Ok(Step::Block(index, offset, out_at..out_at.saturating_add(len)))
    }

    /// The next piece of a chunk without streams.
    fn plain(&mut self, header: &Header) -> Result<Step, Error> {
        if !self.prefixed {
            (self.prefixed, self.state.at) = (true, self.at as u32);
        }
        let offset = self.state.offset as usize;
        let left = (header.nbytes as usize).saturating_sub(offset);
        let stored = header.special().is_none();
        if left == 0 {
            (self.fill, self.want) = (self.base, self.base);
            self.skip = (header.cbytes as usize).saturating_sub(self.at);
            self.phase = Phase::Done;
            return Ok(Step::More);
        }
        let room = self.memory.len().saturating_sub(self.base);
        let most = 1usize.wrapping_shl(room.checked_ilog2().unwrap_or(0));
        let piece = (header.blocksize as usize).max(SECTOR).min(most).min(left);
        let end = self.base.saturating_add(piece);
        if stored && self.fill < end {
            return self.gather(end, 0);
        }
        let (front, rest) = self.memory.split_at_mut_checked(self.base).unwrap_or_default();
        if !stored && let Some(out) = rest.get_mut(..piece) {
            copy_plain(&Chunk::of(front, *header), offset, out.into())?;
        }
        (self.fill, self.want) = (self.base, self.base);
        Ok(Step::Block(self.state.blocks as usize, offset, self.base..end))
    }
}

/// Decoded length of block `index` of a chunk whose blocks have one size.
fn block_len(header: &Header, index: usize) -> usize {
    let from = index.saturating_mul(header.blocksize as usize);
    (header.nbytes as usize).saturating_sub(from).min(header.blocksize as usize)
}

/// The header of a chunk that has one block only, of `len` bytes.
fn one(header: &Header, len: usize) -> Header {
    let len = len.max(1) as u32;
    // A last block that is shorter than the others is not split.
    let leftover = if len < header.blocksize && !header.is_vl() { FLAG_DONT_SPLIT } else { 0 };
    let blocksize = if header.is_vl() { 1 } else { len };
    Header { nbytes: len, blocksize, flags: header.flags | leftover, ..*header }
}

/// `error` with its offset in the chunk. Bytes that lie in memory from `moved.start` on are those from `moved.end` on in the
/// chunk.
fn moved(error: Error, moved: &Range<usize>) -> Error {
    let place = |at: usize| match at.checked_sub(moved.start) {
        Some(after) => moved.end.saturating_add(after),
        None => at,
    };
    match error {
        Error::Truncated { field, offset, needed } => {
            Error::Truncated { field, offset: place(offset), needed }
        }
        Error::Invalid { field, offset, value } => Error::Invalid { field, offset: place(offset), value },
        Error::Codec { codec, offset, error } => Error::Codec { codec, offset: place(offset), error },
        other => other,
    }
}

/// Whether blocks after the first refer to it.
fn needs_first(header: &Header, backward: &Backward) -> bool {
    !header.is_vl() && header.nblocks() > 1 && backward.has_delta()
}

/// Lengths of A and B for a block of `len` bytes that is decoded whole.
fn parts(header: &Header, backward: &Backward, len: usize) -> (usize, usize) {
    let codec = codec_work(header, len);
    match backward.as_slice() {
        [] => (0, codec),
        [_] if !backward.has_delta() => (len.saturating_add(pad(len)), codec),
        slots => (len.saturating_add(pad(len)), if slots.len() > 1 { max(len, codec) } else { codec }),
    }
}
