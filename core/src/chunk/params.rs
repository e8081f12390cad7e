//! [`Params`]: everything that can be chosen when a chunk is written.

use crate::codec::Codec;
use crate::filter::Filter;

/// When a block is stored as one stream per byte plane (format document §6.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
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

/// One slot of the filter pipeline.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FilterSlot {
    /// The filter.
    pub filter: Filter,
    /// Its parameter byte.
    pub meta: u8,
}

impl FilterSlot {
    /// An unused slot.
    pub const NONE: FilterSlot = FilterSlot { filter: Filter::None, meta: 0 };
}

/// Parameters of the chunks an [`Encoder`](crate::Encoder) writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
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
    /// Block size in bytes, or `None` for the documented automatic choice.
    pub blocksize: Option<u32>,
    /// Train and embed a dictionary.
    pub dictionary: bool,
    /// Write the 16-byte header that Blosc1 reads.
    pub blosc1: bool,
}

impl Params {
    /// BloscLZ, level 5, shuffle: the defaults of the Blosc2 C library.
    pub const fn new(typesize: u32) -> Params {
        let mut filters = [FilterSlot::NONE; 6];
        filters[5] = FilterSlot { filter: Filter::Shuffle, meta: 0 };
        Params {
            typesize,
            codec: Codec::BloscLz,
            codec_meta: 0,
            level: 5,
            filters,
            split: Split::ForwardCompat,
            blocksize: None,
            dictionary: false,
            blosc1: false,
        }
    }

    /// Sets the codec.
    pub const fn codec(mut self, codec: Codec) -> Params {
        self.codec = codec;
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
        self.filters = [FilterSlot::NONE; 6];
        self.filters[5] = FilterSlot { filter: Filter::Shuffle, meta: 0 };
        self
    }

    /// Bit shuffle alone.
    pub const fn bitshuffle(mut self) -> Params {
        self.filters = [FilterSlot::NONE; 6];
        self.filters[5] = FilterSlot { filter: Filter::BitShuffle, meta: 0 };
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
}
