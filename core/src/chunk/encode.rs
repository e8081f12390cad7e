//! [`Encoder`] and [`Plan`]: writing chunks (format document §6.4).
//!
//! ```text
//! source block --filters--> A, B, … --one stream, or one per byte plane--> codec --> destination
//! each stream: all bytes equal -> run;  codec does not shrink it -> stored;  else coded
//! all streams zero runs -> special chunk of 32 bytes;  larger than the data -> stored chunk
//! ```
//! Blocks are independent. A [`Plan`] lets the caller encode them on its own executor, and a
//! [`ChunkWriter`] puts them together in order: the bytes are the same however it is done.
#![deny(clippy::indexing_slicing, clippy::arithmetic_side_effects)]

use super::header::{
    EXTENDED_HEADER, FLAG_DELTA, FLAG_DONT_SPLIT, FLAG_STORED, FLAGS_EXTENDED, FLAGS1_DICTIONARY, Header,
    MAX_NBYTES, SHORT_HEADER,
};
use super::params::{FilterSlot, Params};
use super::pipeline::Env;
use super::plugin::Surroundings;
use super::policy;
use crate::arch::level::Level;
use crate::codec::context::EncodeContext;
use crate::codec::{Codec, dispatch};
use crate::error::Error;
use crate::filter::Filter;

/// Most bytes a chunk of `nbytes` bytes can take: the extended header and the stored data.
pub const fn max_encoded_len(nbytes: usize) -> usize {
    nbytes.saturating_add(EXTENDED_HEADER)
}

/// Encodes chunks with scratch memory of the caller. Never allocates after it has been made.
pub struct Encoder<'w> {
    level: Level,
    params: Params,
    around: Surroundings<'w>,
    dictionary: &'w [u8],
    work: &'w mut [u8],
    context: EncodeContext,
}

impl<'w> Encoder<'w> {
    /// An encoder for chunks of up to `max_nbytes` bytes that runs `level`'s kernels and uses `work` as
    /// scratch ([`Plan::work_len_for`] bytes). Codec contexts of hosts are allocated here, nothing later.
    ///
    /// # Errors
    /// `Param` for a parameter that is not allowed, `CodecNotBuiltIn` for a codec this build cannot write.
    pub fn new(
        level: Level,
        params: &Params,
        max_nbytes: usize,
        work: &'w mut [u8],
    ) -> Result<Encoder<'w>, Error> {
        Encoder::with_dictionary(level, params, max_nbytes, &[], work)
    }

    /// An encoder whose chunks carry `dictionary` (at most 32 768 bytes; LZ4, LZ4HC or zstd).
    ///
    /// # Errors
    /// As [`new`](Self::new).
    pub fn with_dictionary(
        level: Level,
        params: &Params,
        max_nbytes: usize,
        dictionary: &'w [u8],
        work: &'w mut [u8],
    ) -> Result<Encoder<'w>, Error> {
        params.check()?;
        let context = context_for(params, policy::blocksize(params, max_nbytes) as usize)?;
        Ok(Encoder { level, params: *params, around: Surroundings::default(), dictionary, work, context })
    }

    /// Tells what the surroundings of the chunks know.
    pub fn surroundings(mut self, around: Surroundings<'w>) -> Self {
        self.around = around;
        self
    }

    /// Encodes `src` into the start of `dst`; returns the chunk's length. `dst` of
    /// [`max_encoded_len`] bytes is always enough.
    ///
    /// # Errors
    /// `Param`, `WorkTooSmall`, or `OutputTooSmall` where `dst` cannot hold the chunk.
    pub fn encode(&mut self, src: &[u8], dst: &mut [u8]) -> Result<usize, Error> {
        let plan = Plan::new(&self.params, self.around, self.dictionary, src)?;
        plan.encode(self.level, self.work, &mut self.context, dst)
    }
}

/// A codec context for streams of up to `max_len` bytes.
pub(crate) fn context_for(params: &Params, max_len: usize) -> Result<EncodeContext, Error> {
    if params.level == 0 || params.codec == Codec::Ndlz || matches!(params.codec, Codec::Other(_)) {
        return Ok(EncodeContext::empty());
    }
    EncodeContext::for_codec(params.codec, params.level, max_len).ok_or(Error::CodecNotBuiltIn(params.codec))
}

/// How one chunk will be laid out: made from the parameters and the data, it encodes nothing yet.
#[derive(Clone, Copy)]
pub struct Plan<'a> {
    params: Params,
    around: Surroundings<'a>,
    dictionary: &'a [u8],
    src: &'a [u8],
    header: Header,
    /// Blocks to encode; 0 if the chunk is stored.
    nblocks: usize,
    /// Streams of a full block.
    streams: usize,
}

/// What encoding one block came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EncodedBlock {
    /// Bytes written.
    pub len: usize,
    /// Whether every stream is a run of zeros.
    pub zeros: bool,
}

impl<'a> Plan<'a> {
    /// A plan for one chunk of `src`.
    ///
    /// # Errors
    /// `Param` for parameters that are not allowed or do not fit the data.
    pub fn new(
        params: &Params,
        around: Surroundings<'a>,
        dictionary: &'a [u8],
        src: &'a [u8],
    ) -> Result<Plan<'a>, Error> {
        params.check()?;
        if src.len() > MAX_NBYTES {
            return Err(Error::Param {
                name: "nbytes",
                value: src.len() as i64,
                allowed: "at most 2147483615 bytes in a chunk; use several chunks",
            });
        }
        if let Some(asked) = params.blocksize
            && asked as usize > src.len()
            && !src.is_empty()
        {
            return Err(Error::Param {
                name: "blocksize",
                value: i64::from(asked),
                allowed: "at most the size of the chunk",
            });
        }
        if !dictionary.is_empty() {
            if !matches!(params.codec, Codec::Lz4 | Codec::Lz4Hc | Codec::Zstd)
                || params.blosc1
                || params.level == 0
            {
                return Err(Error::Param {
                    name: "dictionary",
                    value: dictionary.len() as i64,
                    allowed: "codecs lz4, lz4hc and zstd, level 1 or more, not for Blosc1",
                });
            }
            if dictionary.len() > 32_768 {
                return Err(Error::Param {
                    name: "dictionary",
                    value: dictionary.len() as i64,
                    allowed: "at most 32768 bytes",
                });
            }
        }
        let blocksize = policy::blocksize(params, src.len());
        let split = policy::splits(params, u64::from(blocksize));
        let header = header_of(params, src.len(), blocksize, split, !dictionary.is_empty());
        let mut plan = Plan {
            params: *params,
            around,
            dictionary,
            src,
            header,
            nblocks: src.len().div_ceil((blocksize as usize).max(1)),
            streams: if split { usize::from(header.typesize) } else { 1 },
        };
        let least = if params.blosc1 { 128 } else { 32 };
        if params.level == 0 || src.len() < least || plan.prefix_len() >= plan.stored_len() {
            plan.nblocks = 0;
        }
        Ok(plan)
    }

    /// Blocks to encode; 0 for a chunk that will be stored.
    pub fn nblocks(&self) -> usize {
        self.nblocks
    }

    /// Block size in bytes.
    pub fn blocksize(&self) -> usize {
        self.header.blocksize as usize
    }

    /// Most bytes one encoded block can take.
    pub fn max_block_len(&self) -> usize {
        self.blocksize().saturating_add(self.streams.max(1).saturating_mul(4)).saturating_add(4)
    }

    /// Scratch bytes a [`BlockEncoder`] of this plan needs.
    pub fn work_len(&self) -> usize {
        Plan::work_len_for(&self.params, self.src.len())
    }

    /// Scratch bytes needed to encode `nbytes` bytes with `params`.
    pub fn work_len_for(params: &Params, nbytes: usize) -> usize {
        let block = policy::blocksize(params, nbytes) as usize;
        let codec = dispatch::encode_work_len(params.codec, params.level, block);
        let reference = if lossy_before_delta(params) { block } else { 0 };
        block.saturating_mul(3).saturating_add(256 * 4 + 8).saturating_add(reference).saturating_add(codec)
    }

    fn header_len(&self) -> usize {
        if self.params.blosc1 { SHORT_HEADER } else { EXTENDED_HEADER }
    }

    fn stored_len(&self) -> usize {
        self.header_len().saturating_add(self.src.len())
    }

    /// Header, block starts and dictionary.
    fn prefix_len(&self) -> usize {
        let dictionary = if self.dictionary.is_empty() { 0 } else { self.dictionary.len().saturating_add(4) };
        self.header_len().saturating_add(self.nblocks.saturating_mul(4)).saturating_add(dictionary)
    }

    /// Encodes every block on this thread; returns the chunk's length.
    ///
    /// # Errors
    /// As [`Encoder::encode`].
    pub fn encode(
        &self,
        level: Level,
        work: &mut [u8],
        context: &mut EncodeContext,
        dst: &mut [u8],
    ) -> Result<usize, Error> {
        let most = context.max_len();
        if self.nblocks > 0 && self.blocksize() > most {
            return Err(Error::Param {
                name: "nbytes",
                value: self.src.len() as i64,
                allowed: "no more than the encoder was made for",
            });
        }
        let mut writer = self.writer(dst)?;
        if !writer.is_abandoned() {
            let mut blocks = self.block_encoder(level, work)?;
            for index in 0..self.nblocks() {
                let done = match writer.room(self.max_block_len()) {
                    Some(room) => blocks.encode(index, room, context)?,
                    None => {
                        let (bytes, done) = blocks.encode_to_scratch(index, context)?;
                        writer.copy(bytes);
                        done
                    }
                };
                writer.advance(done);
                if writer.is_abandoned() {
                    break;
                }
            }
        }
        writer.finish()
    }

    /// What puts the blocks of this chunk together in `dst`.
    ///
    /// # Errors
    /// `OutputTooSmall` if `dst` cannot even hold a header.
    pub fn writer<'d>(&self, dst: &'d mut [u8]) -> Result<ChunkWriter<'d>, Error>
    where
        'a: 'd,
    {
        if dst.len() < EXTENDED_HEADER {
            return Err(Error::OutputTooSmall { needed: EXTENDED_HEADER, given: dst.len() });
        }
        let limit = dst.len().min(self.stored_len());
        let cursor = self.prefix_len();
        let abandoned = self.nblocks == 0 || cursor > limit;
        Ok(ChunkWriter { plan: *self, dst, limit, cursor, next: 0, zeros: true, abandoned })
    }

    /// What encodes single blocks of this chunk, with scratch of [`work_len`](Self::work_len) bytes.
    ///
    /// # Errors
    /// `WorkTooSmall`, or a filter that cannot run.
    pub fn block_encoder<'w>(&self, level: Level, work: &'w mut [u8]) -> Result<BlockEncoder<'w>, Error>
    where
        'a: 'w,
    {
        let short = Error::WorkTooSmall { needed: self.work_len(), given: work.len() };
        let block = self.blocksize();
        let (a, rest) = work.split_at_mut_checked(block).ok_or(short)?;
        let (b, rest) = rest.split_at_mut_checked(block).ok_or(short)?;
        let (c, rest) = rest.split_at_mut_checked(self.max_block_len()).ok_or(short)?;
        let lossy = lossy_before_delta(&self.params) && self.nblocks > 1;
        let (r, codec) = rest.split_at_mut_checked(if lossy { block } else { 0 }).ok_or(short)?;
        let mut encoder = BlockEncoder { plan: *self, level, a, b, c, r, codec, lossy };
        if lossy {
            encoder.make_reference()?;
        }
        Ok(encoder)
    }

    fn block_src(&self, index: usize) -> Result<&'a [u8], Error> {
        let start = index.saturating_mul(self.blocksize());
        let end = start.saturating_add(self.blocksize()).min(self.src.len());
        self.src.get(start..end).ok_or(Error::OutOfRange { index: index as u64, len: self.nblocks as u64 })
    }

    fn env<'e>(&self, level: Level, reference: Option<&'e [u8]>) -> Env<'e>
    where
        'a: 'e,
    {
        let (typesize, version2) = (self.header.typesize, self.params.blosc1);
        Env { level, typesize, version2, around: self.around, reference }
    }

    /// Streams of a full block, added up over the chunk.
    #[cfg(feature = "alloc")]
    pub(crate) fn stream_count(&self) -> usize {
        self.nblocks.saturating_mul(self.streams)
    }

    /// Cuts a filtered block into its streams and encodes each.
    fn encode_streams(
        &self,
        filtered: &[u8],
        work: &mut [u8],
        dst: &mut [u8],
        context: &mut EncodeContext,
    ) -> Result<EncodedBlock, Error> {
        let leftover = filtered.len() < self.blocksize();
        let count = if leftover { 1 } else { self.streams.max(1) };
        let neblock = filtered.len().checked_div(count).unwrap_or(0).max(1);
        let mut streams = StreamWriter { plan: self, dst, at: 0, zeros: true };
        for stream in filtered.chunks(neblock) {
            streams.push(stream, work, context)?;
        }
        Ok(EncodedBlock { len: streams.at, zeros: streams.zeros })
    }

    fn slots(&self) -> Slots {
        Slots::of(&self.params)
    }
}

/// Whether a lossy filter runs somewhere before DELTA: what readers XOR with is then not the data as
/// it came but what is left of it.
fn lossy_before_delta(params: &Params) -> bool {
    let lossy = |f: Filter| matches!(f, Filter::TruncPrec | Filter::IntTrunc | Filter::NdMean);
    params.filters.iter().any(|s| s.filter == Filter::Delta) && params.filters.iter().any(|s| lossy(s.filter))
}

/// The active slots in order.
#[derive(Clone, Copy)]
struct Slots {
    slots: [(u8, FilterSlot); 6],
    len: usize,
}

impl Slots {
    fn of(params: &Params) -> Slots {
        let mut list = Slots { slots: [(0, FilterSlot::NONE); 6], len: 0 };
        for (number, slot) in (0u8..6).zip(params.filters) {
            if slot.filter != Filter::None
                && let Some(place) = list.slots.get_mut(list.len)
            {
                *place = (number, slot);
                list.len = list.len.saturating_add(1);
            }
        }
        list
    }

    fn as_slice(&self) -> &[(u8, FilterSlot)] {
        self.slots.get(..self.len).unwrap_or(&[])
    }
}

fn header_of(params: &Params, nbytes: usize, blocksize: u32, split: bool, dictionary: bool) -> Header {
    let has = |filter| params.filters.iter().any(|s| s.filter == filter);
    let format = match params.codec {
        Codec::BloscLz => 0,
        Codec::Lz4 | Codec::Lz4Hc => 1,
        Codec::Snappy => 2,
        Codec::Zlib => 3,
        Codec::Zstd => 4,
        _ => 6,
    };
    let mut flags = format << 5 | if split { 0 } else { FLAG_DONT_SPLIT };
    if params.blosc1 {
        flags |= u8::from(has(Filter::Shuffle)) | u8::from(has(Filter::BitShuffle)) << 2;
    } else {
        flags |= FLAGS_EXTENDED | if has(Filter::Delta) { FLAG_DELTA } else { 0 };
    }
    Header {
        version: if params.blosc1 { 2 } else { 5 },
        version_lz: 1,
        flags,
        typesize: u8::try_from(params.typesize).unwrap_or(1),
        nbytes: u32::try_from(nbytes).unwrap_or(0),
        blocksize,
        cbytes: 0,
        filters: params.filters,
        codec: params.codec,
        codec_meta: params.codec_meta,
        flags2: 0,
        flags1: if dictionary { FLAGS1_DICTIONARY } else { 0 },
    }
}

/// Encodes single blocks of a [`Plan`].
pub struct BlockEncoder<'w> {
    plan: Plan<'w>,
    level: Level,
    a: &'w mut [u8],
    b: &'w mut [u8],
    c: &'w mut [u8],
    r: &'w mut [u8],
    codec: &'w mut [u8],
    lossy: bool,
}

impl<'w> BlockEncoder<'w> {
    /// Decoded block 0, for DELTA after a lossy filter.
    fn make_reference(&mut self) -> Result<(), Error> {
        let src = self.plan.block_src(0)?;
        let slots = self.plan.slots();
        let env = self.plan.env(self.level, None);
        let filtered = env.forward_scratch(slots.as_slice(), src, self.a, self.b)?;
        let backward = super::pipeline::Backward::of(&self.plan.header);
        let decoded = env.backward_scratch(backward.as_slice(), filtered, self.a, self.b, src.len())?;
        let decoded = decoded.bytes(self.a, self.b, src.len())?;
        for (to, from) in self.r.iter_mut().zip(decoded) {
            *to = *from;
        }
        Ok(())
    }

    /// Encodes block `index` into the start of `dst`, which must have [`Plan::max_block_len`] bytes.
    ///
    /// # Errors
    /// `OutOfRange`, `OutputTooSmall`, or a filter that cannot run.
    pub fn encode(
        &mut self,
        index: usize,
        dst: &mut [u8],
        context: &mut EncodeContext,
    ) -> Result<EncodedBlock, Error> {
        let plan = self.plan;
        let codec = core::mem::take(&mut self.codec);
        let result =
            self.filtered(index).and_then(|filtered| plan.encode_streams(filtered, codec, dst, context));
        self.codec = codec;
        result
    }

    /// Block `index` after its filters, as the codec will see it.
    ///
    /// # Errors
    /// `OutOfRange`, or a filter that cannot run.
    pub fn filtered(&mut self, index: usize) -> Result<&[u8], Error> {
        let src = self.plan.block_src(index)?;
        let reference = match (index, self.lossy) {
            (0, _) => None,
            (_, true) => Some(&*self.r),
            (_, false) => Some(self.plan.block_src(0)?),
        };
        let env = self.plan.env(self.level, reference);
        let slots = self.plan.slots();
        let filtered = env.forward_scratch(slots.as_slice(), src, self.a, self.b)?;
        filtered.bytes(self.a, self.b, src.len())
    }

    /// [`encode`](Self::encode) into scratch of its own.
    pub(crate) fn encode_to_scratch(
        &mut self,
        index: usize,
        context: &mut EncodeContext,
    ) -> Result<(&[u8], EncodedBlock), Error> {
        let c = core::mem::take(&mut self.c);
        let done = self.encode(index, c, context);
        self.c = c;
        let done = done?;
        Ok((self.c.get(..done.len).unwrap_or(&[]), done))
    }
}

/// Writes the streams of one block.
struct StreamWriter<'p, 'd> {
    plan: &'p Plan<'p>,
    dst: &'d mut [u8],
    at: usize,
    zeros: bool,
}

impl StreamWriter<'_, '_> {
    fn push(&mut self, stream: &[u8], work: &mut [u8], context: &mut EncodeContext) -> Result<(), Error> {
        let given = self.dst.len();
        let needed = self.at.saturating_add(4).saturating_add(stream.len());
        let small = Error::OutputTooSmall { needed, given };
        let room = self.dst.get_mut(self.at..needed).ok_or(small)?;
        let (word, body) = room.split_first_chunk_mut::<4>().ok_or(small)?;
        if !self.plan.params.blosc1
            && let Some(value) = run_of(stream)
        {
            *word = i32::from(value).wrapping_neg().to_le_bytes();
            self.at = self.at.saturating_add(4);
            if value != 0 {
                self.zeros = false;
                if let Some(token) = body.first_mut() {
                    *token = 1;
                }
                self.at = self.at.saturating_add(1);
            }
            return Ok(());
        }
        self.zeros = false;
        // A stream as long as its data means "stored", so codec output must be shorter.
        let limit = stream.len().saturating_sub(1);
        let coded = match body.get_mut(..limit) {
            Some(to) if limit > 0 => self.plan.compress(stream, to, work, context)?,
            _ => None,
        };
        let len = match coded {
            Some(len) if len > 0 && len < stream.len() => len,
            _ => {
                for (to, from) in body.iter_mut().zip(stream) {
                    *to = *from;
                }
                stream.len()
            }
        };
        *word = (len as u32).to_le_bytes();
        self.at = self.at.saturating_add(4).saturating_add(len);
        Ok(())
    }
}

impl Plan<'_> {
    fn compress(
        &self,
        src: &[u8],
        dst: &mut [u8],
        work: &mut [u8],
        context: &mut EncodeContext,
    ) -> Result<Option<usize>, Error> {
        let (codec, meta, level) = (self.params.codec, self.params.codec_meta, self.params.level);
        if let Some(user) = self.around.codec(codec.id()) {
            return Ok(user.encode(meta, level, src, dst));
        }
        #[cfg(feature = "plugins")]
        if codec == Codec::Ndlz {
            return Ok(crate::codec::ndlz::encode(src, dst, meta, self.around.blockshape, work));
        }
        if matches!(codec, Codec::Other(_)) {
            return Err(Error::CodecNotBuiltIn(codec));
        }
        Ok(dispatch::encode_stream(codec, level, src, dst, self.dictionary, work, context))
    }
}

/// The value of every byte of `stream`, if they are all the same.
fn run_of(stream: &[u8]) -> Option<u8> {
    let (&value, rest) = stream.split_first()?;
    // Equal to its own shift by one byte; the first differing piece ends it.
    let previous = stream.get(..rest.len())?;
    (rest == previous).then_some(value)
}

/// Puts encoded blocks together in order.
pub struct ChunkWriter<'d> {
    plan: Plan<'d>,
    dst: &'d mut [u8],
    limit: usize,
    cursor: usize,
    next: usize,
    zeros: bool,
    abandoned: bool,
}

impl ChunkWriter<'_> {
    /// Where the next block goes, if there are still `needed` bytes.
    pub fn room(&mut self, needed: usize) -> Option<&mut [u8]> {
        let end = self.cursor.checked_add(needed)?;
        if self.abandoned || end > self.limit { None } else { self.dst.get_mut(self.cursor..end) }
    }

    /// Copies an encoded block to where the next one goes; one that does not fit is dropped, and
    /// [`advance`](Self::advance) then gives the chunk up.
    pub fn copy(&mut self, block: &[u8]) {
        if let Some(room) = self.room(block.len()) {
            for (to, from) in room.iter_mut().zip(block) {
                *to = *from;
            }
        }
    }

    /// Notes that the next block has been written.
    pub fn advance(&mut self, block: EncodedBlock) {
        let entry = self.plan.header_len().saturating_add(self.next.saturating_mul(4));
        let end = self.cursor.saturating_add(block.len);
        if self.abandoned || end > self.limit {
            self.abandoned = true;
            return;
        }
        if let Some(word) = self.dst.get_mut(entry..).and_then(|d| d.first_chunk_mut::<4>()) {
            *word = (self.cursor as u32).to_le_bytes();
        }
        self.cursor = end;
        self.next = self.next.saturating_add(1);
        self.zeros &= block.zeros;
    }

    /// Whether the chunk will be stored, so that no more blocks are needed.
    pub fn is_abandoned(&self) -> bool {
        self.abandoned
    }

    /// Writes the header; returns the chunk's length.
    ///
    /// # Errors
    /// `OutputTooSmall` if neither the blocks nor the plain data fit.
    pub fn finish(mut self) -> Result<usize, Error> {
        let plan = self.plan;
        let mut header = plan.header;
        let header_len = plan.header_len();
        let whole_items = plan.src.len().checked_rem(plan.params.typesize as usize) == Some(0);
        let len = if self.abandoned {
            let len = plan.stored_len();
            let small = Error::OutputTooSmall { needed: len, given: self.dst.len() };
            let body = self.dst.get_mut(header_len..len).ok_or(small)?;
            for (to, from) in body.iter_mut().zip(plan.src) {
                *to = *from;
            }
            header.flags = (header.flags & FLAGS_EXTENDED) | FLAG_STORED;
            header.flags1 = 0;
            len
        } else if self.zeros && whole_items && plan.dictionary.is_empty() && !plan.params.blosc1 {
            header.flags1 = 1 << 4;
            header_len
        } else {
            self.write_dictionary();
            self.cursor
        };
        header.cbytes = u32::try_from(len).unwrap_or(u32::MAX);
        let given = self.dst.len();
        let head =
            self.dst.get_mut(..header_len).ok_or(Error::OutputTooSmall { needed: header_len, given })?;
        for (to, from) in head.iter_mut().zip(header.write()) {
            *to = from;
        }
        Ok(len)
    }

    fn write_dictionary(&mut self) {
        let plan = self.plan;
        if plan.dictionary.is_empty() {
            return;
        }
        let at = plan.header_len().saturating_add(plan.nblocks.saturating_mul(4));
        let size = (plan.dictionary.len() as u32).to_le_bytes();
        if let Some(place) = self.dst.get_mut(at..) {
            for (to, from) in place.iter_mut().zip(size.iter().chain(plan.dictionary)) {
                *to = *from;
            }
        }
    }
}
