//! [`Filters`]: the filters that are worth a trial, for `advise` and for the benchmarks.

use alloc::format;
use alloc::string::String;
use blosc_core::{Filter, FilterSlot, Params};

/// Which filters a chunk goes through.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Filters {
    /// No filter.
    None,
    /// Byte shuffle.
    Shuffle,
    /// Bit shuffle.
    BitShuffle,
    /// Byte shuffle, then the differences of neighbouring bytes in each plane.
    ShuffleByteDelta,
}

impl Filters {
    /// All of them.
    pub const ALL: [Filters; 4] =
        [Filters::None, Filters::Shuffle, Filters::BitShuffle, Filters::ShuffleByteDelta];

    /// Its name in results and on the command line of the benchmarks.
    pub fn name(self) -> &'static str {
        match self {
            Filters::None => "none",
            Filters::Shuffle => "shuffle",
            Filters::BitShuffle => "bitshuffle",
            Filters::ShuffleByteDelta => "shuffle+bytedelta",
        }
    }

    /// As the option `--filters` of the command `blosc` has it, for items of this many bytes.
    pub fn option(self, typesize: u32) -> String {
        match self {
            Filters::ShuffleByteDelta => format!("shuffle,bytedelta:{}", u8::try_from(typesize).unwrap_or(0)),
            _ => self.name().into(),
        }
    }

    /// Whether it reorders anything in items of this many bytes.
    pub fn suits(self, typesize: usize) -> bool {
        typesize > 1 || matches!(self, Filters::None | Filters::BitShuffle)
    }

    /// Whether it is tried on items of this many bytes: differences are of one plane for each byte, up to 255.
    pub(super) fn is_tried(self, typesize: u32) -> bool {
        self.suits(typesize as usize) && (self != Filters::ShuffleByteDelta || typesize < 256)
    }

    /// The filter slots of a chunk.
    pub fn slots(self, typesize: usize) -> [FilterSlot; 6] {
        let params = Params::new(u32::try_from(typesize).unwrap_or(1).max(1));
        match self {
            Filters::None => params.no_filter(),
            Filters::Shuffle => params,
            Filters::BitShuffle => params.bitshuffle(),
            // Its parameter is the number of planes.
            Filters::ShuffleByteDelta => params.no_filter().slot(4, Filter::Shuffle, 0).slot(
                5,
                Filter::ByteDelta,
                u8::try_from(typesize).unwrap_or(0),
            ),
        }
        .filters
    }
}
