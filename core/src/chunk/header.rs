//! The chunk header (docs/formats/chunk.md §1): 16 bytes, or 32 where flag bits 0 and 2 are both set.
//!
//! ```text
//!  0 version    4..8   nbytes     16..22 filters        30 flags2  bit 0: variable-length blocks
//!  1 versionlz  8..12  blocksize  22     codec id       31 flags1  bit 0: dictionary
//!  2 flags      12..16 cbytes     23     codec meta                bit 1: big-endian writer
//!  3 typesize                     24..30 filter metas              bit 3: lazy
//!    bit 0 shuffle (short header)                                  bits 4-6: special value
//!    bit 1 stored                                                  bit 7: instrumented
//!    bit 2 bitshuffle (short)
//!    bit 3 delta (short)
//!    bit 4 do not split
//!    bits 5-7 codec format
//! ```
#![deny(clippy::indexing_slicing, clippy::arithmetic_side_effects)]

use crate::codec::Codec;
use crate::error::{Error, Field};
use crate::filter::{Filter, FilterSlot};

/// Length of the header that Blosc1 writes.
pub const SHORT_HEADER: usize = 16;
/// Length of the header that Blosc2 writes.
pub const EXTENDED_HEADER: usize = 32;
/// Largest block size, and largest repeated value, in bytes.
pub const MAX_BLOCKSIZE: u32 = 0x1FFF_F000;
/// Most bytes a writer puts in one chunk.
pub const MAX_NBYTES: usize = 0x7FFF_FFFF - EXTENDED_HEADER;

/// Whether all forms of chunks are built in.
pub(crate) const FORMATS: bool = cfg!(feature = "formats");

pub(crate) const FLAG_STORED: u8 = 0x02;
pub(crate) const FLAG_DELTA: u8 = 0x08;
pub(crate) const FLAG_DONT_SPLIT: u8 = 0x10;
pub(crate) const FLAGS_EXTENDED: u8 = 0x05;
pub(crate) const FLAGS1_DICTIONARY: u8 = 0x01;
pub(crate) const FLAGS1_BIG_ENDIAN: u8 = 0x02;
pub(crate) const FLAGS1_LAZY: u8 = 0x08;
pub(crate) const FLAGS1_INSTRUMENTED: u8 = 0x80;
pub(crate) const FLAGS2_VL: u8 = 0x01;

/// What a chunk without streams is filled with (§2.7).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Special {
    /// Zero bytes.
    Zeros,
    /// NaN of 4 or 8 bytes.
    Nan,
    /// One value repeated; it follows the header.
    Value,
    /// Never written by anyone; decodes to zeros here.
    Uninit,
}

/// A checked chunk header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Header {
    /// Format version, byte 0.
    pub version: u8,
    /// Version of the codec's stream format, byte 1.
    pub version_lz: u8,
    /// Flags as stored, byte 2.
    pub flags: u8,
    /// Item size as stored, 1 ..= 255 (wider items are recorded as 1).
    pub typesize: u8,
    /// Decoded size in bytes.
    pub nbytes: u32,
    /// Block size in bytes, clamped to `nbytes`; of a VL chunk the number of blocks.
    pub blocksize: u32,
    /// Size of the chunk, header included.
    pub cbytes: u32,
    /// The filter pipeline in the order it was applied.
    pub filters: [FilterSlot; 6],
    /// Codec of the streams.
    pub codec: Codec,
    /// Parameter byte of the codec.
    pub codec_meta: u8,
    /// Byte 30; 0 in a short header.
    pub flags2: u8,
    /// Byte 31; 0 in a short header.
    pub flags1: u8,
}

/// The answer to a chunk of a form that only feature `formats` reads.
pub(crate) const NOT_BUILT_IN: Error = Error::Unsupported("chunks of this form need feature `formats`");

#[inline]
pub(crate) fn le_i32(bytes: &[u8], offset: usize) -> Option<i32> {
    let word = bytes.get(offset..)?.first_chunk::<4>()?;
    Some(i32::from_le_bytes(*word))
}

/// A size field that must not be negative.
fn size_field(value: i32, field: Field, offset: usize) -> Result<u32, Error> {
    u32::try_from(value).map_err(|_| Error::Invalid { field, offset, value: i64::from(value) })
}

impl Header {
    /// Reads and checks the header at the start of `bytes`, which may hold only the header.
    ///
    /// # Errors
    /// `Truncated` if the header itself is not all there, `Invalid` for a field no chunk may have.
    /// Whether the rest of the chunk is there is for [`Chunk::parse`](super::Chunk::parse).
    pub fn parse(bytes: &[u8]) -> Result<Header, Error> {
        Header::read(bytes)
    }

    /// [`parse`](Self::parse), in place: single bytes that are copied by vectors soon after they have been written
    /// must reach the cache first.
    #[inline(always)]
    pub(super) fn read(bytes: &[u8]) -> Result<Header, Error> {
        let short = bytes.first_chunk::<SHORT_HEADER>().ok_or(Error::Truncated {
            field: Field::Header,
            offset: 0,
            needed: SHORT_HEADER,
        })?;
        let [version, version_lz, flags, typesize, n0, n1, n2, n3, b0, b1, b2, b3, c0, c1, c2, c3] = *short;
        let nbytes = i32::from_le_bytes([n0, n1, n2, n3]);
        let blocksize = i32::from_le_bytes([b0, b1, b2, b3]);
        let cbytes = i32::from_le_bytes([c0, c1, c2, c3]);
        let nbytes = size_field(nbytes, Field::Nbytes, 4)?;
        let cbytes = size_field(cbytes, Field::Cbytes, 12)?;
        let blocksize = size_field(blocksize, Field::Blocksize, 8)?;
        let invalid = |field, offset, value: u32| Error::Invalid { field, offset, value: i64::from(value) };
        let extended = flags & FLAGS_EXTENDED == FLAGS_EXTENDED;
        let least = if extended { EXTENDED_HEADER } else { SHORT_HEADER };
        if (cbytes as usize) < least {
            return Err(invalid(Field::Cbytes, 12, cbytes));
        }
        if blocksize == 0 || blocksize > MAX_BLOCKSIZE {
            return Err(invalid(Field::Blocksize, 8, blocksize));
        }
        if typesize == 0 {
            return Err(invalid(Field::Typesize, 3, 0));
        }
        let mut header = Header {
            version,
            version_lz,
            flags,
            typesize,
            nbytes,
            blocksize,
            cbytes,
            filters: short_filters(flags),
            codec: codec_of(flags, None),
            codec_meta: 0,
            flags2: 0,
            flags1: 0,
        };
        if extended {
            header.extend(bytes)?;
        }
        if !header.is_vl() && nbytes > 0 && blocksize > nbytes {
            header.blocksize = nbytes;
        }
        Ok(header)
    }

    /// Bytes 16..32 and the checks that need them.
    #[inline(always)]
    fn extend(&mut self, bytes: &[u8]) -> Result<(), Error> {
        let full = bytes.first_chunk::<EXTENDED_HEADER>().ok_or(Error::Truncated {
            field: Field::Header,
            offset: 0,
            needed: EXTENDED_HEADER,
        })?;
        let [.., f0, f1, f2, f3, f4, f5, codec, meta, m0, m1, m2, m3, m4, m5, flags2, flags1] = *full;
        let slot = |id, meta| FilterSlot::new(Filter::from_id(id), meta);
        self.filters = [FilterSlot::NONE; 6];
        // Most chunks use the last slot only.
        if f0 | f1 | f2 | f3 | f4 | m0 | m1 | m2 | m3 | m4 != 0 {
            self.filters = first_filters([(f0, m0), (f1, m1), (f2, m2), (f3, m3), (f4, m4)]);
        }
        if let Some(last) = self.filters.last_mut() {
            *last = slot(f5, m5);
        }
        self.codec = codec_of(self.flags, Some(codec));
        self.codec_meta = meta;
        self.flags1 = flags1;
        self.flags2 = flags2;
        if self.version == 3 {
            // Five slots only, and a reserved byte its writers did not initialise (§1.4).
            let [a, b, c, d, e, _] = self.filters;
            self.filters = [a, b, c, d, e, FilterSlot::NONE];
            self.flags2 = 0;
        }
        if !FORMATS && (self.flags1 & FLAGS1_DICTIONARY != 0 || self.flags2 & FLAGS2_VL != 0) {
            return Err(NOT_BUILT_IN);
        }
        let bad = |field, offset, value: u32| Err(Error::Invalid { field, offset, value: i64::from(value) });
        let kind = u32::from(flags1 >> 4 & 7);
        if kind > 4 || (self.is_vl() && kind != 0) {
            return bad(Field::Flags1, 31, u32::from(flags1));
        }
        if kind == 3 {
            let width = self.cbytes.saturating_sub(EXTENDED_HEADER as u32);
            if width == 0
                || width > MAX_BLOCKSIZE
                || width > self.nbytes
                || self.nbytes.checked_rem(width) != Some(0)
            {
                return bad(Field::RepeatedValue, EXTENDED_HEADER, width);
            }
        } else if matches!(kind, 2 | 4) && self.nbytes.checked_rem(u32::from(self.typesize)) != Some(0) {
            return bad(Field::Nbytes, 4, self.nbytes);
        }
        if kind == 2 && !matches!(self.typesize, 4 | 8) {
            return bad(Field::Typesize, 3, u32::from(self.typesize));
        }
        if self.version > 6 && self.flags2 & 0xFE != 0 {
            return bad(Field::Version, 0, u32::from(self.version));
        }
        if self.is_vl() && self.is_stored() {
            return bad(Field::Flags, 2, u32::from(self.flags));
        }
        // Blocks of their own sizes are not empty.
        if self.is_vl() && self.nbytes == 0 && self.cbytes as usize > EXTENDED_HEADER {
            return bad(Field::Nbytes, 4, 0);
        }
        Ok(())
    }

    /// Length of the header itself, 16 or 32.
    #[inline]
    pub const fn header_len(&self) -> usize {
        if self.is_extended() { EXTENDED_HEADER } else { SHORT_HEADER }
    }

    /// Whether the header is the 32-byte form (§1.3).
    #[inline]
    pub const fn is_extended(&self) -> bool {
        self.flags & FLAGS_EXTENDED == FLAGS_EXTENDED
    }

    /// Whether blocks have sizes of their own (§2.8).
    #[inline]
    pub const fn is_vl(&self) -> bool {
        FORMATS && self.flags2 & FLAGS2_VL != 0
    }

    /// Whether the payload is the plain data (§2.5). A special kind wins over this.
    #[inline]
    pub const fn is_stored(&self) -> bool {
        self.flags & FLAG_STORED != 0
    }

    /// Whether this is a lazy chunk, which exists in memory only (§2.9).
    #[inline]
    pub const fn is_lazy(&self) -> bool {
        self.flags1 & FLAGS1_LAZY != 0
    }

    /// Whether the streams hold measurements, which no filter is undone on (§2.10).
    #[inline]
    pub const fn is_instrumented(&self) -> bool {
        self.flags1 & FLAGS1_INSTRUMENTED != 0
    }

    /// Whether a dictionary section follows the block starts (§2.6).
    #[inline]
    pub const fn has_dictionary(&self) -> bool {
        FORMATS
            && self.flags1 & FLAGS1_DICTIONARY != 0
            && !self.is_stored()
            && self.special().is_none()
            && self.nbytes > 0
    }

    /// The kind of a special-value chunk.
    #[inline]
    pub const fn special(&self) -> Option<Special> {
        match self.flags1 >> 4 & 7 {
            1 => Some(Special::Zeros),
            2 => Some(Special::Nan),
            3 => Some(Special::Value),
            4 => Some(Special::Uninit),
            _ => None,
        }
    }

    /// Number of blocks; 0 for an empty chunk.
    #[inline]
    pub const fn nblocks(&self) -> usize {
        if self.nbytes == 0 {
            0
        } else if self.is_vl() {
            self.blocksize as usize
        } else {
            self.nbytes.div_ceil(if self.blocksize == 0 { 1 } else { self.blocksize }) as usize
        }
    }

    /// Whether data is decoded from streams: not empty, special or stored.
    #[inline]
    pub const fn has_streams(&self) -> bool {
        self.nbytes > 0 && self.special().is_none() && !self.is_stored()
    }

    /// The header's bytes; the first [`header_len`](Self::header_len) of them count.
    pub(crate) fn write(&self) -> [u8; EXTENDED_HEADER] {
        let n = self.nbytes.to_le_bytes();
        let b = self.blocksize.to_le_bytes();
        let c = self.cbytes.to_le_bytes();
        let [fa, fb, fc, fd, fe, ff] = self.filters;
        [
            self.version,
            self.version_lz,
            self.flags,
            self.typesize,
            n[0],
            n[1],
            n[2],
            n[3],
            b[0],
            b[1],
            b[2],
            b[3],
            c[0],
            c[1],
            c[2],
            c[3],
            fa.filter.id(),
            fb.filter.id(),
            fc.filter.id(),
            fd.filter.id(),
            fe.filter.id(),
            ff.filter.id(),
            self.codec.id(),
            self.codec_meta,
            fa.meta,
            fb.meta,
            fc.meta,
            fd.meta,
            fe.meta,
            ff.meta,
            self.flags2,
            self.flags1,
        ]
    }
}

/// The first five slots of an extended header by id and parameter byte.
#[inline(never)]
fn first_filters(slots: [(u8, u8); 5]) -> [FilterSlot; 6] {
    let [a, b, c, d, e] = slots.map(|(id, meta)| FilterSlot::new(Filter::from_id(id), meta));
    [a, b, c, d, e, FilterSlot::NONE]
}

/// The pipeline a short header implies.
fn short_filters(flags: u8) -> [FilterSlot; 6] {
    let none = FilterSlot::NONE;
    let delta = if flags & FLAG_DELTA != 0 { FilterSlot::new(Filter::Delta, 0) } else { none };
    let last = if flags & 1 != 0 {
        FilterSlot::new(Filter::Shuffle, 0)
    } else if flags & 4 != 0 {
        FilterSlot::new(Filter::BitShuffle, 0)
    } else {
        none
    };
    [none, none, none, none, delta, last]
}

/// The codec of the format field of `flags` (§1.2); formats that have no decoder become names of their own.
const fn codec_of(flags: u8, id: Option<u8>) -> Codec {
    match (flags >> 5, id) {
        (0, _) => Codec::BloscLz,
        (1, Some(2)) => Codec::Lz4Hc,
        (1, _) => Codec::Lz4,
        (2, _) => Codec::Snappy,
        (3, _) => Codec::Zlib,
        (4, _) => Codec::Zstd,
        (5, _) => Codec::LIZARD,
        (6, Some(id @ 32..)) => Codec::from_id(id),
        (6, _) => Codec::INVALID,
        _ => Codec::UNDEFINED,
    }
}
