//! Chunks: the self-contained compressed unit (format document, all sections).
//!
//! STUB while the workspace is being raised: signatures are final in shape, bodies arrive next.

pub mod limits;
pub mod params;

use crate::arch::level::Level;
use crate::arch::out::Out;
use crate::codec::Codec;
use crate::error::Error;
use core::ops::Range;
use limits::Limits;
use params::{FilterSlot, Params};

/// What a chunk without streams is filled with (§2.7).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Special {
    /// Zero bytes.
    Zeros,
    /// NaN of 4 or 8 bytes.
    Nan,
    /// One value repeated.
    Value,
    /// Never written; decodes to zeros here.
    Uninit,
}

/// A validated chunk header (§1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    /// Format version.
    pub version: u8,
    /// Flags byte as stored.
    pub flags: u8,
    /// Item size as stored: 1 ..= 255.
    pub typesize: u8,
    /// Decoded size in bytes.
    pub nbytes: u32,
    /// Block size in bytes, clamped to `nbytes`; of a VL chunk the number of blocks.
    pub blocksize: u32,
    /// Size of the chunk, header included.
    pub cbytes: u32,
    /// The filter pipeline.
    pub filters: [FilterSlot; 6],
    /// The codec of the streams.
    pub codec: Codec,
    /// Parameter byte of the codec.
    pub codec_meta: u8,
    /// Byte 30 (0 in a short header).
    pub flags2: u8,
    /// Byte 31 (0 in a short header).
    pub flags1: u8,
}

impl Header {
    /// Reads and checks the header at the start of `bytes`, which may be longer or hold only the header.
    pub fn parse(bytes: &[u8]) -> Result<Header, Error> {
        let _ = bytes;
        unimplemented!()
    }
    /// 16 or 32.
    #[allow(clippy::len_without_is_empty)]
    pub fn len(&self) -> usize {
        if self.is_extended() { 32 } else { 16 }
    }
    /// Whether the header is the 32-byte form (§1.3).
    pub fn is_extended(&self) -> bool {
        self.flags & 5 == 5
    }
    /// Whether blocks have their own sizes (§2.8).
    pub fn is_vl(&self) -> bool {
        self.flags2 & 1 != 0
    }
    /// Whether the payload is the plain data (§2.5).
    pub fn is_stored(&self) -> bool {
        self.flags & 2 != 0
    }
    /// The kind of a special-value chunk.
    pub fn special(&self) -> Option<Special> {
        unimplemented!()
    }
    /// Number of blocks.
    pub fn nblocks(&self) -> usize {
        unimplemented!()
    }
}

/// A chunk whose header and offsets have been checked. Bytes after `cbytes` are ignored.
#[derive(Clone, Copy, Debug)]
pub struct Chunk<'a> {
    bytes: &'a [u8],
    header: Header,
}

impl<'a> Chunk<'a> {
    /// Checks header, block starts, dictionary and every stream offset, under the default limits.
    pub fn parse(bytes: &'a [u8]) -> Result<Chunk<'a>, Error> {
        Chunk::parse_with(bytes, &Limits::DEFAULT)
    }
    /// The same under the caller's limits.
    pub fn parse_with(bytes: &'a [u8], limits: &Limits) -> Result<Chunk<'a>, Error> {
        let _ = (bytes, limits);
        unimplemented!()
    }
    /// Checks the header only, so that a buffer of `cbytes` bytes in which just some blocks have been
    /// filled in can be read block by block: `decode_block` and `get_bytes` check what they touch.
    pub fn parse_partial(bytes: &'a [u8], limits: &Limits) -> Result<Chunk<'a>, Error> {
        let _ = (bytes, limits);
        unimplemented!()
    }
    /// The bytes `bytes[range]` of the chunk that hold block `index` (streams only; the header,
    /// table and dictionary are `0..prefix_len()`). Needs the prefix to be filled in.
    pub fn block_extent(&self, index: usize) -> Result<Range<usize>, Error> {
        let _ = index;
        unimplemented!()
    }
    /// Length of header, block starts and dictionary. Needs the dictionary's size word if there is one.
    pub fn prefix_len(&self) -> Result<usize, Error> {
        unimplemented!()
    }
    /// The header.
    pub fn header(&self) -> &Header {
        &self.header
    }
    /// The chunk's own bytes.
    pub fn bytes(&self) -> &'a [u8] {
        self.bytes
    }
    /// Decoded size.
    pub fn nbytes(&self) -> usize {
        self.header.nbytes as usize
    }
    /// Where block `index` lies in the decoded data.
    pub fn block_range(&self, index: usize) -> Result<Range<usize>, Error> {
        let _ = index;
        unimplemented!()
    }
}

/// What the surroundings of a chunk know and the chunk does not: needed by ndcell, ndmean,
/// bytedelta with meta 0, and NDLZ.
#[derive(Clone, Copy, Debug, Default)]
pub struct Surroundings<'a> {
    /// Typesize of the super-chunk, 0 if unknown.
    pub typesize: u32,
    /// Block shape of the array, empty if there is none.
    pub blockshape: &'a [u32],
}

/// Decodes chunks with scratch memory of the caller. Never allocates.
pub struct Decoder<'w> {
    level: Level,
    work: &'w mut [u8],
}

impl<'w> Decoder<'w> {
    /// A decoder that runs `level`'s kernels and uses `work` as scratch ([`Decoder::work_len`] bytes).
    pub fn new(level: Level, work: &'w mut [u8]) -> Decoder<'w> {
        Decoder { level, work }
    }
    /// Scratch bytes needed for `header`'s chunk.
    pub fn work_len(header: &Header) -> usize {
        let _ = header;
        unimplemented!()
    }
    /// Tells what the surroundings know.
    pub fn surroundings(self, s: Surroundings<'w>) -> Self {
        let _ = s;
        self
    }
    /// Decodes all of `chunk` into the start of `out`; returns the decoded size.
    pub fn decode<'o>(&mut self, chunk: &Chunk<'_>, out: impl Into<Out<'o>>) -> Result<usize, Error> {
        let _ = (chunk, out.into(), self.level, &self.work);
        unimplemented!()
    }
    /// Decodes block `index`; returns its size.
    pub fn decode_block<'o>(
        &mut self,
        chunk: &Chunk<'_>,
        index: usize,
        out: impl Into<Out<'o>>,
    ) -> Result<usize, Error> {
        let _ = (chunk, index, out.into());
        unimplemented!()
    }
    /// Decodes items `range` (in units of the header's typesize); returns the bytes written.
    pub fn get_items<'o>(
        &mut self,
        chunk: &Chunk<'_>,
        range: Range<usize>,
        out: impl Into<Out<'o>>,
    ) -> Result<usize, Error> {
        let _ = (chunk, range, out.into());
        unimplemented!()
    }
    /// Decodes decoded bytes `range`, touching only the blocks it crosses.
    pub fn get_bytes<'o>(
        &mut self,
        chunk: &Chunk<'_>,
        range: Range<usize>,
        out: impl Into<Out<'o>>,
    ) -> Result<usize, Error> {
        let _ = (chunk, range, out.into());
        unimplemented!()
    }
}

/// Encodes chunks with scratch memory of the caller.
pub struct Encoder<'w> {
    level: Level,
    params: Params,
    work: &'w mut [u8],
}

/// Most bytes a chunk of `nbytes` can take: header and the stored data.
pub const fn max_encoded_len(nbytes: usize) -> usize {
    nbytes + 32
}

impl<'w> Encoder<'w> {
    /// An encoder; bad parameters are refused here.
    pub fn new(level: Level, params: &Params, work: &'w mut [u8]) -> Result<Encoder<'w>, Error> {
        Ok(Encoder { level, params: *params, work })
    }
    /// Scratch bytes needed to encode `nbytes` bytes with `params`.
    pub fn work_len(params: &Params, nbytes: usize) -> usize {
        let _ = (params, nbytes);
        unimplemented!()
    }
    /// Encodes `src` into the start of `dst`; returns the chunk's size, at most `max_encoded_len`.
    pub fn encode(&mut self, src: &[u8], dst: &mut [u8]) -> Result<usize, Error> {
        let _ = (src, dst, self.level, self.params, &self.work);
        unimplemented!()
    }
}
