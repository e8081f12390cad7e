//! [`Params`]: everything that can be chosen when a chunk is written.

use super::header::MAX_BLOCKSIZE;
use crate::codec::Codec;
use crate::error::Error;
use crate::filter::{self, Filter, FilterError};

pub use crate::filter::FilterSlot;

/// When a block is stored as one stream per byte plane (docs/formats/chunk.md §6.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Split {
    /// Mode 1: split every full block.
    Always,
    /// Mode 2: never split.
    Never,
    /// Mode 3: split where it pays.
    Auto,
    /// Mode 4: as `Auto`; the default of every Blosc2 writer.
    #[default]
    ForwardCompat,
}

impl Split {
    /// The mode with this number, 1 to 4.
    pub const fn from_mode(mode: u8) -> Option<Split> {
        match mode {
            1 => Some(Split::Always),
            2 => Some(Split::Never),
            3 => Some(Split::Auto),
            4 => Some(Split::ForwardCompat),
            _ => None,
        }
    }

    /// The number of the mode, 1 to 4.
    pub const fn mode(self) -> u8 {
        match self {
            Split::Always => 1,
            Split::Never => 2,
            Split::Auto => 3,
            Split::ForwardCompat => 4,
        }
    }
}

/// Parameters of the chunks an [`Encoder`](crate::Encoder) writes.
///
/// ```
/// use blosc_core::{Codec, Filter, Params};
///
/// let params = Params::new(8).codec(Codec::Zstd).level(7).no_filter().slot(4, Filter::Delta, 0).slot(5, Filter::Shuffle, 0);
/// assert!(params.check().is_ok());
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Params {
    /// Item size in bytes, 1 ..= 536 866 816.
    pub typesize: u32,
    /// Codec of the streams.
    pub codec: Codec,
    /// Parameter byte of the codec.
    pub codec_meta: u8,
    /// 0 (store) ..= 9 (smallest).
    pub level: u8,
    /// Filters in the order they are applied.
    pub filters: [FilterSlot; 6],
    /// Stream splitting.
    pub split: Split,
    /// Block size in bytes, or `None` for the documented automatic choice. One above the size of the data is lowered to it.
    pub blocksize: Option<u32>,
    /// Train and embed a dictionary.
    pub dictionary: bool,
    /// Write the 16-byte header that Blosc1 reads.
    pub blosc1: bool,
}

impl Params {
    /// BloscLZ, level 5, shuffle: the defaults of the Blosc2 C library.
    pub const fn new(typesize: u32) -> Params {
        Params {
            typesize,
            codec: Codec::BloscLz,
            codec_meta: 0,
            level: 5,
            filters: FilterSlot::alone(Filter::Shuffle),
            split: Split::ForwardCompat,
            blocksize: None,
            dictionary: false,
            blosc1: false,
        }
    }

    /// Sets the item size in bytes.
    pub const fn typesize(mut self, typesize: u32) -> Params {
        self.typesize = typesize;
        self
    }

    /// Sets the codec.
    pub const fn codec(mut self, codec: Codec) -> Params {
        self.codec = codec;
        self
    }

    /// Sets the parameter byte of the codec, such as the cell side of NDLZ.
    pub const fn codec_meta(mut self, meta: u8) -> Params {
        self.codec_meta = meta;
        self
    }

    /// Sets the level, 0 ..= 9.
    pub const fn level(mut self, level: u8) -> Params {
        self.level = level;
        self
    }

    /// Sets all six filter slots.
    pub const fn filters(mut self, filters: [FilterSlot; 6]) -> Params {
        self.filters = filters;
        self
    }

    /// Byte shuffle alone.
    pub const fn shuffle(mut self) -> Params {
        self.filters = FilterSlot::alone(Filter::Shuffle);
        self
    }

    /// Bit shuffle alone.
    pub const fn bitshuffle(mut self) -> Params {
        self.filters = FilterSlot::alone(Filter::BitShuffle);
        self
    }

    /// No filter.
    pub const fn no_filter(mut self) -> Params {
        self.filters = [FilterSlot::NONE; 6];
        self
    }

    /// Sets the block size; `None` is automatic.
    pub const fn blocksize(mut self, blocksize: Option<u32>) -> Params {
        self.blocksize = blocksize;
        self
    }

    /// Sets the split mode.
    pub const fn split(mut self, split: Split) -> Params {
        self.split = split;
        self
    }

    /// Sets one filter slot, 0 ..= 5; other numbers change nothing.
    pub const fn slot(mut self, number: usize, filter: Filter, meta: u8) -> Params {
        if number < self.filters.len() {
            self.filters[number] = FilterSlot::new(filter, meta);
        }
        self
    }

    /// Embeds a dictionary made from the data (codecs LZ4, LZ4HC and zstd).
    pub const fn dictionary(mut self, dictionary: bool) -> Params {
        self.dictionary = dictionary;
        self
    }

    /// Writes the 16-byte header and the subset of the format that Blosc1 reads (§6.6).
    pub const fn blosc1(mut self, blosc1: bool) -> Params {
        self.blosc1 = blosc1;
        self
    }

    /// These parameters for a chunk of only `nbytes` bytes, such as the last of a file: a block
    /// size larger than that is lowered to it.
    pub fn fit(mut self, nbytes: usize) -> Params {
        if let Some(asked) = self.blocksize
            && asked as usize > nbytes
        {
            self.blocksize = u32::try_from(nbytes.max(1)).ok();
        }
        self
    }

    /// Checks everything that can be checked without the data.
    ///
    /// # Errors
    /// `Param` or `FilterParam`, with what is allowed.
    pub fn check(&self) -> Result<(), Error> {
        let bad = |name, value: i64, allowed| Err(Error::Param { name, value, allowed });
        if self.typesize == 0 || self.typesize > MAX_BLOCKSIZE {
            return bad("typesize", i64::from(self.typesize), "1 to 536866816 bytes");
        }
        if self.level > 9 {
            return bad("level", i64::from(self.level), "0 (store) to 9 (smallest)");
        }
        if let Some(b) = self.blocksize
            && (b == 0 || b > MAX_BLOCKSIZE)
        {
            return bad("blocksize", i64::from(b), "1 to 536866816 bytes");
        }
        let takes_dictionary = matches!(self.codec, Codec::Lz4 | Codec::Lz4Hc | Codec::Zstd);
        if self.dictionary && (!takes_dictionary || self.level == 0 || self.blosc1) {
            return bad("dictionary", 1, "codecs lz4, lz4hc and zstd, level 1 or more, not for Blosc1");
        }
        if (self.codec == Codec::Snappy && !self.blosc1) || matches!(self.codec, Codec::Other(..=31)) {
            return bad(
                "codec",
                i64::from(self.codec.id()),
                "one that can be written; this one can only be read",
            );
        }
        if self.codec == Codec::Ndlz && !matches!(self.codec_meta, 4 | 8) {
            return bad("codec meta", i64::from(self.codec_meta), "4 or 8 for ndlz");
        }
        #[cfg(feature = "zfp")]
        self.check_zfp()?;
        for (number, slot) in (0u8..6).zip(self.filters) {
            self.check_slot(number, slot)?;
        }
        if self.blosc1 { self.check_blosc1() } else { Ok(()) }
    }

    fn check_slot(&self, number: u8, slot: FilterSlot) -> Result<(), Error> {
        let typesize = if self.typesize > 255 { 1 } else { self.typesize as usize };
        let meta = slot.meta;
        let fault = match slot.filter {
            Filter::TruncPrec => filter::trunc_prec::cleared_bits(typesize, meta).err(),
            #[cfg(not(feature = "plugins"))]
            Filter::NdCell | Filter::NdMean | Filter::ByteDelta | Filter::IntTrunc => {
                return Err(Error::FilterUnknown { id: slot.filter.id(), slot: number });
            }
            #[cfg(feature = "plugins")]
            Filter::IntTrunc => filter::int_trunc::cleared_bits(typesize, meta).err(),
            Filter::ByteDeltaV1 => Some(FilterError("the defective first edition is never written; use 35")),
            #[cfg(feature = "plugins")]
            Filter::NdCell if meta == 0 => Some(FilterError("the cell side must be 1 or more")),
            #[cfg(feature = "plugins")]
            Filter::NdMean if !(1..=127).contains(&meta) || !matches!(typesize, 4 | 8) => {
                Some(FilterError("the cell side must be 1 to 127 and the typesize 4 or 8"))
            }
            Filter::Other(id @ 5..=159) => return Err(Error::FilterUnknown { id, slot: number }),
            _ => None,
        };
        match fault {
            Some(FilterError(reason)) => Err(Error::FilterParam { id: slot.filter.id(), meta, reason }),
            None => Ok(()),
        }
    }

    /// ZFP takes floats: after another filter the bytes are none, and an error of 1 in them is any error in the numbers.
    #[cfg(feature = "zfp")]
    fn check_zfp(&self) -> Result<(), Error> {
        if !self.codec.is_zfp() {
            return Ok(());
        }
        let bad = |name, value: i64, allowed| Err(Error::Param { name, value, allowed });
        if !matches!(self.typesize, 4 | 8) {
            return bad("typesize", i64::from(self.typesize), "4 or 8 for ZFP, which takes floats");
        }
        if self.codec == Codec::ZFP_RATE && !matches!(self.codec_meta, 1..=100) {
            return bad(
                "codec meta",
                i64::from(self.codec_meta),
                "1 to 100 for zfp_rate: percent of the size",
            );
        }
        let other = self.filters.iter().find(|s| !matches!(s.filter, Filter::None | Filter::TruncPrec));
        match other {
            Some(slot) => bad("filters", i64::from(slot.filter.id()), "none or trunc_prec before ZFP"),
            None => Ok(()),
        }
    }

    fn check_blosc1(&self) -> Result<(), Error> {
        let bad = |name, value: i64, allowed| Err(Error::Param { name, value, allowed });
        if self.typesize > 255 {
            return bad("typesize", i64::from(self.typesize), "1 to 255 bytes for Blosc1");
        }
        if let Some(b) = self.blocksize
            && b > (i32::MAX as u32 - 1020) / 3
        {
            return bad("blocksize", i64::from(b), "at most 715827542 bytes for Blosc1");
        }
        if !matches!(self.codec.id(), 0..=5) {
            return bad(
                "codec",
                i64::from(self.codec.id()),
                "blosclz, lz4, lz4hc, snappy, zlib or zstd for Blosc1",
            );
        }
        let mut active = self.filters.iter().filter(|s| s.filter != Filter::None);
        let first = active.next();
        let plain =
            first.is_none_or(|s| matches!(s.filter, Filter::Shuffle | Filter::BitShuffle) && s.meta == 0);
        if !plain || active.next().is_some() {
            let id = first.map_or(0, |s| s.filter.id());
            return bad("filters", i64::from(id), "shuffle or bitshuffle with meta 0, or none, for Blosc1");
        }
        Ok(())
    }
}
