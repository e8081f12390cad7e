//! The first 87 bytes of a frame (docs/formats/cframe.md §2).
//!
//! ```text
//! 00 9e                 array of 14          39 d2 i32  chunk_size (0 variable, -1 not known)
//! 01 a8 b2frame\0       magic                3e d1 i16  compression thread hint
//! 0a d2 i32  header_len H                    41 d1 i16  decompression thread hint
//! 0f cf u64  frame_len F                     44 c2/c3   has_vlmetalayers
//! 18 a4 general, type, codec, other flags    45 d8      fixext16
//! 1d d3 i64  uncompressed_size               46 u8      filter slots used, at most 6
//! 26 d3 i64  compressed_size C               47 6 x u8  filter ids
//! 2f d2 i32  type_size                       4d u8 udcodec   4e u8 codec_meta
//! 34 d2 i32  block_size                      4f 6 x u8  filter metas   55 other_flags2   56 reserved
//! ```
#![deny(clippy::indexing_slicing, clippy::arithmetic_side_effects)]

use crate::error::{Error, Structure};
use blosc_core::{Codec, Filter, FilterSlot, Params, Split};

/// Length of the fixed part.
pub const FIXED_LEN: usize = 87;
/// Most chunks a frame may have: its index must stay under 2^31 bytes.
pub const MAX_CHUNKS: u64 = (1 << 28) - 1;
/// Most bytes one chunk may decode to.
pub const MAX_CHUNK_NBYTES: u32 = (1 << 31) - 33;

/// How the decoded sizes of a frame's chunks are declared (§3.4).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChunkSize {
    /// Every chunk decodes to this many bytes, the last one possibly to fewer.
    Fixed(u32),
    /// Each chunk has its own size.
    Variable,
    /// Not known yet: the frame never had a chunk.
    Unknown,
}

/// Whether the chunks lie in the same file or in files of their own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FrameType {
    /// One contiguous file.
    Contiguous,
    /// A directory; this is its index file.
    Sparse,
}

/// The fixed part of a frame header, checked. Fields that only hint at defaults are kept as stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Header {
    /// `H`: length of the header with its metalayers.
    pub header_len: u32,
    /// `F`: length of the frame.
    pub frame_len: u64,
    /// Format version, index width, variable and VL-block hints (§3.1).
    pub general_flags: u8,
    /// Contiguous or sparse.
    pub frame_type: FrameType,
    /// Codec id and level (§3.2).
    pub codec_flags: u8,
    /// Split mode (§3.3).
    pub other_flags: u8,
    /// Sum of the decoded chunk sizes.
    pub nbytes: u64,
    /// `C`: payload bytes, garbage included; of a sparse frame the sum of the chunk sizes.
    pub cbytes: u64,
    /// Item size; may exceed 255.
    pub typesize: u32,
    /// Block size for new chunks; 0 is automatic.
    pub blocksize: u32,
    /// How chunk sizes are declared.
    pub chunksize: ChunkSize,
    /// Thread hints for compression and decompression; ignored.
    pub threads: [i16; 2],
    /// Whether there were vlmetalayers; ignored.
    pub has_vlmetalayers: bool,
    /// Filter slots used, at most 6.
    pub filter_slots: u8,
    /// Filter ids.
    pub filters: [u8; 6],
    /// Codec id, in full.
    pub udcodec: u8,
    /// Codec parameter.
    pub codec_meta: u8,
    /// Filter parameters.
    pub filters_meta: [u8; 6],
    /// Bit 0: chunks are written with a dictionary.
    pub other_flags2: u8,
    /// Reserved byte 0x56.
    pub reserved: u8,
}

const MAGIC: &[u8; 10] = b"\x9e\xa8b2frame\0";

/// The type of the frame that a file begins with, be it damaged behind the name; `None` if it begins like none. The
/// first byte is not looked at: a frame whose first byte is damaged is one all the same.
#[cfg(all(feature = "std", feature = "classic"))]
pub(crate) fn frame_type(head: &[u8]) -> Option<FrameType> {
    let named = head.get(1..10) == MAGIC.get(1..);
    named.then(|| if head.get(0x1a) == Some(&1) { FrameType::Sparse } else { FrameType::Contiguous })
}

fn invalid(field: &'static str, offset: u64, value: i64) -> Error {
    Error::Invalid { structure: Structure::FrameHeader, field, offset, value }
}

/// Reads fields one after the other, checking each marker byte.
struct Fields<'a> {
    bytes: &'a [u8; FIXED_LEN],
    at: usize,
}

impl Fields<'_> {
    fn take<const N: usize>(&mut self, field: &'static str) -> Result<[u8; N], Error> {
        let rest = self.bytes.get(self.at..).and_then(|rest| rest.first_chunk::<N>());
        let value = rest.ok_or(invalid(field, self.at as u64, 0))?;
        self.at = self.at.saturating_add(N);
        Ok(*value)
    }
    fn marker(&mut self, marker: u8, field: &'static str) -> Result<(), Error> {
        let at = self.at as u64;
        let [found] = self.take(field)?;
        if found == marker { Ok(()) } else { Err(invalid(field, at, i64::from(found))) }
    }
    fn u8(&mut self, field: &'static str) -> Result<u8, Error> {
        let [value] = self.take(field)?;
        Ok(value)
    }
    fn i16(&mut self, field: &'static str) -> Result<i16, Error> {
        self.marker(0xd1, field)?;
        Ok(i16::from_be_bytes(self.take(field)?))
    }
    fn i32(&mut self, field: &'static str) -> Result<i32, Error> {
        self.marker(0xd2, field)?;
        Ok(i32::from_be_bytes(self.take(field)?))
    }
    /// A signed 32-bit field that must not be negative.
    fn u31(&mut self, field: &'static str) -> Result<u32, Error> {
        let at = self.at as u64;
        let value = self.i32(field)?;
        u32::try_from(value).map_err(|_| invalid(field, at, i64::from(value)))
    }
    /// A 64-bit field that must not be negative.
    fn u63(&mut self, marker: u8, field: &'static str) -> Result<u64, Error> {
        let at = self.at as u64;
        self.marker(marker, field)?;
        let value = i64::from_be_bytes(self.take(field)?);
        u64::try_from(value).map_err(|_| invalid(field, at, value))
    }
}

impl Header {
    /// Reads and checks the fixed part.
    ///
    /// # Errors
    /// [`Error::Invalid`] with the field and its offset.
    pub fn parse(bytes: &[u8; FIXED_LEN]) -> Result<Header, Error> {
        let mut f = Fields { bytes, at: 0 };
        let magic: [u8; 10] = f.take("magic")?;
        if let Some(at) = magic.iter().zip(MAGIC).position(|(a, b)| a != b) {
            return Err(invalid("magic", at as u64, magic.get(at).copied().unwrap_or(0).into()));
        }
        let header_len = f.u31("header_len")?;
        let frame_len = f.u63(0xcf, "frame_len")?;
        f.marker(0xa4, "flags marker")?;
        let [general_flags, frame_type, codec_flags, other_flags] = f.take("flags")?;
        let nbytes = f.u63(0xd3, "uncompressed_size")?;
        let cbytes = f.u63(0xd3, "compressed_size")?;
        let typesize = f.u31("type_size")?;
        let blocksize = f.u31("block_size")?;
        let chunksize = f.i32("chunk_size")?;
        let threads = [f.i16("compression threads")?, f.i16("decompression threads")?];
        let has_vlmetalayers = match f.u8("has_vlmetalayers")? {
            0xc2 => false,
            0xc3 => true,
            other => return Err(invalid("has_vlmetalayers", 0x44, i64::from(other))),
        };
        f.marker(0xd8, "filter area marker")?;
        let header = Header {
            header_len,
            frame_len,
            general_flags,
            frame_type: match frame_type {
                0 => FrameType::Contiguous,
                1 => FrameType::Sparse,
                other => return Err(invalid("frame_type", 0x1a, i64::from(other))),
            },
            codec_flags,
            other_flags,
            nbytes,
            cbytes,
            typesize,
            blocksize,
            chunksize: match chunksize {
                0 => ChunkSize::Variable,
                -1 if nbytes == 0 => ChunkSize::Unknown,
                c => {
                    ChunkSize::Fixed(u32::try_from(c).map_err(|_| invalid("chunk_size", 0x39, i64::from(c)))?)
                }
            },
            threads,
            has_vlmetalayers,
            filter_slots: f.u8("filter slots")?,
            filters: f.take("filters")?,
            udcodec: f.u8("udcodec")?,
            codec_meta: f.u8("codec_meta")?,
            filters_meta: f.take("filter metas")?,
            other_flags2: f.u8("other_flags2")?,
            reserved: f.u8("reserved")?,
        };
        header.check()?;
        Ok(header)
    }

    fn check(&self) -> Result<(), Error> {
        if self.general_flags & 0x0f > 3 {
            return Err(invalid("format version", 0x19, i64::from(self.general_flags & 0x0f)));
        }
        if self.general_flags & 0x30 != 0x10 {
            return Err(Error::Unsupported {
                structure: Structure::Index,
                what: match self.general_flags >> 4 & 3 {
                    0 => "an index of 32-bit offsets",
                    2 => "an index of 128-bit offsets",
                    _ => "an index of 256-bit offsets",
                },
            });
        }
        if (self.header_len as usize) < FIXED_LEN || u64::from(self.header_len) > self.frame_len {
            return Err(invalid("header_len", 0x0a, i64::from(self.header_len)));
        }
        if self.frame_len < 132 {
            return Err(invalid("frame_len", 0x0f, self.frame_len as i64));
        }
        if self.typesize == 0 {
            return Err(invalid("type_size", 0x2f, 0));
        }
        if self.filter_slots > 6 {
            return Err(invalid("filter slots", 0x46, i64::from(self.filter_slots)));
        }
        if let ChunkSize::Fixed(c) = self.chunksize
            && self.nbytes.div_ceil(u64::from(c.max(1))) > MAX_CHUNKS
        {
            return Err(invalid("uncompressed_size", 0x1d, self.nbytes as i64));
        }
        Ok(())
    }

    /// The fixed part as bytes; [`Header::parse`] gives the same header back.
    pub fn encode(&self) -> [u8; FIXED_LEN] {
        let chunksize = match self.chunksize {
            ChunkSize::Fixed(c) => c as i32,
            ChunkSize::Variable => 0,
            ChunkSize::Unknown => -1,
        };
        let mut out = [0; FIXED_LEN];
        let parts: [(&[u8], &[u8]); 15] = [
            (MAGIC, &[]),
            (&[0xd2], &self.header_len.to_be_bytes()),
            (&[0xcf], &self.frame_len.to_be_bytes()),
            (&[0xa4], &[self.general_flags, self.frame_type as u8, self.codec_flags, self.other_flags]),
            (&[0xd3], &self.nbytes.to_be_bytes()),
            (&[0xd3], &self.cbytes.to_be_bytes()),
            (&[0xd2], &self.typesize.to_be_bytes()),
            (&[0xd2], &self.blocksize.to_be_bytes()),
            (&[0xd2], &chunksize.to_be_bytes()),
            (&[0xd1], &self.threads[0].to_be_bytes()),
            (&[0xd1], &self.threads[1].to_be_bytes()),
            (if self.has_vlmetalayers { &[0xc3] } else { &[0xc2] }, &[]),
            (&[0xd8], &[self.filter_slots]),
            (&self.filters, &[self.udcodec, self.codec_meta]),
            (&self.filters_meta, &[self.other_flags2, self.reserved]),
        ];
        let bytes = parts.into_iter().flat_map(|(marker, value)| marker.iter().chain(value));
        for (to, from) in out.iter_mut().zip(bytes) {
            *to = *from;
        }
        out
    }

    /// Where the index chunk starts, if there is one.
    ///
    /// # Errors
    /// [`Error::Invalid`] for lengths whose sum does not fit.
    pub fn index_at(&self) -> Result<u64, Error> {
        match self.frame_type {
            FrameType::Contiguous => u64::from(self.header_len).checked_add(self.cbytes).ok_or(invalid(
                "compressed_size",
                0x26,
                self.cbytes as i64,
            )),
            FrameType::Sparse => Ok(u64::from(self.header_len)),
        }
    }

    /// The number of chunks, where the header alone tells it.
    pub fn nchunks(&self) -> Option<u64> {
        match self.chunksize {
            _ if self.nbytes == 0 => Some(0),
            ChunkSize::Fixed(c) => Some(self.nbytes.div_ceil(u64::from(c.max(1)))),
            _ => None,
        }
    }

    /// Codec of new chunks.
    pub fn codec(&self) -> Codec {
        match self.codec_flags & 0x0f {
            6 => Codec::from_id(self.udcodec),
            id => Codec::from_id(id),
        }
    }

    /// Compression level of new chunks.
    pub fn level(&self) -> u8 {
        self.codec_flags >> 4
    }

    /// Parameters of new chunks. Unknown codecs and filters are passed on as they are.
    pub fn params(&self) -> Params {
        let slots = self.filters.into_iter().zip(self.filters_meta).take(usize::from(self.filter_slots));
        let mut filters = [FilterSlot::NONE; 6];
        for (slot, (id, meta)) in filters.iter_mut().zip(slots) {
            *slot = FilterSlot::new(Filter::from_id(id), meta);
        }
        Params::new(self.typesize)
            .codec(self.codec())
            .codec_meta(self.codec_meta)
            .level(self.level().min(9))
            .filters(filters)
            .split(Split::from_mode((self.other_flags & 3).saturating_add(1)).unwrap_or_default())
            .blocksize((self.blocksize > 0).then_some(self.blocksize))
            .dictionary(self.other_flags2 & 1 != 0)
    }

    /// The header of an empty frame whose new chunks are made with `params`.
    pub fn new(frame_type: FrameType, params: &Params) -> Header {
        let mut header = Header {
            header_len: 97,
            frame_len: 132,
            general_flags: 0x12,
            frame_type,
            codec_flags: 0,
            other_flags: 0,
            nbytes: 0,
            cbytes: 0,
            typesize: params.typesize,
            blocksize: 0,
            chunksize: ChunkSize::Unknown,
            threads: [1, 1],
            has_vlmetalayers: false,
            filter_slots: 6,
            filters: [0; 6],
            udcodec: 0,
            codec_meta: 0,
            filters_meta: [0; 6],
            other_flags2: 0,
            reserved: 0,
        };
        header.set_params(params);
        header
    }

    /// Makes `params` the parameters of new chunks.
    pub fn set_params(&mut self, params: &Params) {
        let id = params.codec.id();
        self.codec_flags = id.min(6) | params.level << 4;
        self.udcodec = id;
        self.codec_meta = params.codec_meta;
        // The two bits hold the number of the mode less one.
        self.other_flags = self.other_flags & !3 | params.split.mode().saturating_sub(1) & 3;
        self.typesize = params.typesize;
        self.blocksize = params.blocksize.unwrap_or(0);
        self.filter_slots = 6;
        self.filters = params.filters.map(|slot| slot.filter.id());
        self.filters_meta = params.filters.map(|slot| slot.meta);
        self.other_flags2 = self.other_flags2 & !1 | u8::from(params.dictionary);
    }

    /// Brings the format version and the variable and VL-block hints in line with the chunks (§3.1).
    pub fn set_kind(&mut self, vl_blocks: bool) {
        let variable = self.chunksize == ChunkSize::Variable;
        let version = if variable || vl_blocks { 3 } else { 2 };
        self.general_flags = version | 0x10 | u8::from(variable) << 6 | u8::from(vl_blocks) << 7;
    }
}
