//! [`Plan`]: how one chunk will be laid out.
#![deny(clippy::indexing_slicing, clippy::arithmetic_side_effects)]

use crate::arch::level::Level;
use crate::chunk::block_size;
use crate::chunk::context::ChunkContext;
use crate::chunk::header::{
    EXTENDED_HEADER, FLAG_DELTA, FLAG_DONT_SPLIT, FLAGS_EXTENDED, FLAGS1_DICTIONARY, Header, MAX_NBYTES,
    SHORT_HEADER,
};
use crate::chunk::params::{FilterSlot, Params};
use crate::chunk::pipeline::{Env, width};
use crate::codec::content::Content;
use crate::codec::{Codec, dispatch};
use crate::error::Error;
use crate::filter::Filter;
use crate::filter::blocksplit::Stores;

/// What encoding one block came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EncodedBlock {
    /// Bytes written.
    pub len: usize,
    /// Whether every stream is a run of zeros.
    pub zeros: bool,
}

/// How one chunk will be laid out: made from the parameters and the data, it encodes nothing yet.
#[derive(Clone, Copy)]
pub struct Plan<'a> {
    pub(super) params: Params,
    pub(super) chunk_context: ChunkContext<'a>,
    pub(super) dictionary: &'a [u8],
    pub(super) src: &'a [u8],
    pub(super) header: Header,
    /// Blocks to encode; 0 if the chunk is stored.
    pub(super) nblocks: usize,
    /// Streams of a full block.
    pub(super) streams: usize,
}

impl<'a> Plan<'a> {
    /// A plan for one chunk of `src`.
    ///
    /// # Errors
    /// `Param` for parameters that are not allowed or do not fit the data.
    pub fn new(
        params: &Params,
        chunk_context: ChunkContext<'a>,
        dictionary: &'a [u8],
        src: &'a [u8],
    ) -> Result<Plan<'a>, Error> {
        params.check()?;
        let zfp = cfg!(feature = "zfp") && params.codec.is_zfp();
        if !zfp && matches!(params.codec, Codec::Other(id) if chunk_context.codec(id).is_none()) {
            return Err(Error::CodecNotBuiltIn(params.codec));
        }
        if src.len() > MAX_NBYTES {
            return Err(Error::Param {
                name: "nbytes",
                value: src.len() as i64,
                allowed: "at most 2147483615 bytes in a chunk; use several chunks",
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
        let blocksize = block_size::blocksize(params, src.len());
        let split = block_size::splits(params, u64::from(blocksize));
        let header = header_of(params, src.len(), blocksize, split, !dictionary.is_empty());
        let mut plan = Plan {
            params: *params,
            chunk_context,
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

    /// Scratch bytes a [`BlockEncoder`](super::BlockEncoder) of this plan needs.
    pub fn work_len(&self) -> usize {
        Plan::work_len_for(&self.params, self.src.len())
    }

    /// Scratch bytes needed to encode `nbytes` bytes with `params`: a `const fn`, for static memory.
    pub const fn work_len_for(params: &Params, nbytes: usize) -> usize {
        let block = block_size::blocksize(params, nbytes) as usize;
        let codec = dispatch::encode_work_len(params.codec, params.level, block);
        let reference = if lossy_before_delta(params) { block } else { 0 };
        block.saturating_mul(3).saturating_add(256 * 4 + 8).saturating_add(reference).saturating_add(codec)
    }

    /// What the streams are made of, where a block has `streams` of them: planes if the last filter that moves bytes or bits has
    /// made them.
    pub(super) fn content(&self, streams: usize) -> Content {
        let made = |slot: &FilterSlot| match slot.filter {
            Filter::Shuffle => match width(*slot, self.header.typesize) {
                0 | 1 => None,
                width => Some(Content::BytePlanes(width.div_ceil(streams.max(1)))),
            },
            Filter::BitShuffle => Some(Content::BitPlanes),
            _ => None,
        };
        self.params.filters.iter().rev().find_map(made).unwrap_or(Content::Any)
    }

    pub(super) fn header_len(&self) -> usize {
        if self.params.blosc1 { SHORT_HEADER } else { EXTENDED_HEADER }
    }

    pub(super) fn stored_len(&self) -> usize {
        self.header_len().saturating_add(self.src.len())
    }

    /// Header, block starts and dictionary.
    pub(super) fn prefix_len(&self) -> usize {
        self.prefix_of(self.nblocks)
    }

    /// Bytes before the blocks in a chunk of `nblocks` blocks.
    pub(super) fn prefix_of(&self, nblocks: usize) -> usize {
        let dictionary = if self.dictionary.is_empty() { 0 } else { self.dictionary.len().saturating_add(4) };
        self.header_len().saturating_add(nblocks.saturating_mul(4)).saturating_add(dictionary)
    }

    /// Puts the dictionary behind the block starts of `nblocks` blocks.
    pub(super) fn write_dictionary(&self, nblocks: usize, dst: &mut [u8]) {
        if self.dictionary.is_empty() {
            return;
        }
        let at = self.header_len().saturating_add(nblocks.saturating_mul(4));
        let size = (self.dictionary.len() as u32).to_le_bytes();
        if let Some(place) = dst.get_mut(at..) {
            for (to, from) in place.iter_mut().zip(size.iter().chain(self.dictionary)) {
                *to = *from;
            }
        }
    }

    /// Whether a block that the codec does not shrink is its source. As long as there are only such ones the chunk is likely
    /// to be stored whole, and they need not be copied before one that shrinks.
    pub(super) fn may_hold(&self) -> bool {
        self.streams <= 1 && self.slots().as_slice().is_empty()
    }

    /// Whether the codec writes the same bytes in any room that they fit, so that a block may be tried in what is left.
    pub(super) fn ignores_room(&self) -> bool {
        let ours = matches!(self.params.codec, Codec::BloscLz | Codec::Lz4 | Codec::Lz4Hc);
        ours && self.chunk_context.codec(self.params.codec.id()).is_none()
    }

    pub(crate) fn block_src(&self, index: usize) -> Result<&'a [u8], Error> {
        let start = index.saturating_mul(self.blocksize());
        let end = start.saturating_add(self.blocksize()).min(self.src.len());
        self.src.get(start..end).ok_or(Error::OutOfRange { index: index as u64, len: self.nblocks as u64 })
    }

    pub(super) fn env<'e>(&self, level: Level, reference: Option<&'e [u8]>) -> Env<'e>
    where
        'a: 'e,
    {
        let (typesize, version2) = (self.header.typesize, self.params.blosc1);
        Env {
            level,
            typesize,
            version2,
            chunk_context: self.chunk_context,
            reference,
            stores: Stores::Cached,
        }
    }

    /// Streams of a full block, added up over the chunk.
    #[cfg(feature = "alloc")]
    pub(crate) fn stream_count(&self) -> usize {
        self.nblocks.saturating_mul(self.streams)
    }

    pub(super) fn slots(&self) -> Slots {
        Slots::of(&self.params)
    }
}

/// Whether a lossy filter runs somewhere before DELTA: what readers XOR with is then not the data as
/// it came but what is left of it.
pub(super) const fn lossy_before_delta(params: &Params) -> bool {
    let (mut lossy, mut delta, mut slots) = (false, false, params.filters.as_slice());
    while let [slot, rest @ ..] = slots {
        lossy |= matches!(slot.filter, Filter::TruncPrec | Filter::IntTrunc | Filter::NdMean);
        delta |= matches!(slot.filter, Filter::Delta);
        slots = rest;
    }
    lossy && delta
}

/// The active slots in order.
#[derive(Clone, Copy)]
pub(super) struct Slots {
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

    pub(super) fn as_slice(&self) -> &[(u8, FilterSlot)] {
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
