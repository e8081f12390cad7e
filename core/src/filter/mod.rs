//! Filters: one file each; the scalar form there is the specification (docs/formats/chunk.md §3).
//!
//! Every filter is a pair `forward(..)`/`backward(..)` from a source slice to an [`Out`]
//! of the same length. Nothing allocates; a bad meta byte or typesize is an error, never a panic.

pub mod bitshuffle;
pub mod blocksplit;
#[cfg(feature = "plugins")]
pub mod bytedelta;
#[cfg(feature = "plugins")]
mod cells;
pub mod delta;
#[cfg(feature = "plugins")]
pub mod int_trunc;
mod mask;
#[cfg(feature = "plugins")]
pub mod ndcell;
#[cfg(feature = "plugins")]
pub mod ndmean;
pub mod shuffle;
pub mod trunc_prec;

use crate::arch::out::Out;

/// A filter by its registered id.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Filter {
    /// Id 0: the slot is unused.
    None,
    /// Id 1: byte transposition.
    Shuffle,
    /// Id 2: bit transposition.
    BitShuffle,
    /// Id 3: XOR with a reference block.
    Delta,
    /// Id 4: zero low mantissa bits (lossy).
    TruncPrec,
    /// Id 32: gather n-dimensional cells.
    NdCell,
    /// Id 33: replace n-dimensional cells by their mean (lossy).
    NdMean,
    /// Id 34: the defective first edition of [`Filter::ByteDelta`]; read only.
    ByteDeltaV1,
    /// Id 35: byte differences within each plane.
    ByteDelta,
    /// Id 36: zero low integer bits (lossy).
    IntTrunc,
    /// Any other id.
    Other(u8),
}

impl Filter {
    /// The filter with this registered id.
    pub const fn from_id(id: u8) -> Filter {
        match id {
            0 => Filter::None,
            1 => Filter::Shuffle,
            2 => Filter::BitShuffle,
            3 => Filter::Delta,
            4 => Filter::TruncPrec,
            32 => Filter::NdCell,
            33 => Filter::NdMean,
            34 => Filter::ByteDeltaV1,
            35 => Filter::ByteDelta,
            36 => Filter::IntTrunc,
            id => Filter::Other(id),
        }
    }

    /// The registered id.
    pub const fn id(self) -> u8 {
        match self {
            Filter::None => 0,
            Filter::Shuffle => 1,
            Filter::BitShuffle => 2,
            Filter::Delta => 3,
            Filter::TruncPrec => 4,
            Filter::NdCell => 32,
            Filter::NdMean => 33,
            Filter::ByteDeltaV1 => 34,
            Filter::ByteDelta => 35,
            Filter::IntTrunc => 36,
            Filter::Other(id) => id,
        }
    }

    /// The registered name.
    pub const fn name(self) -> &'static str {
        match self {
            Filter::None => "none",
            Filter::Shuffle => "shuffle",
            Filter::BitShuffle => "bitshuffle",
            Filter::Delta => "delta",
            Filter::TruncPrec => "trunc_prec",
            Filter::NdCell => "ndcell",
            Filter::NdMean => "ndmean",
            Filter::ByteDeltaV1 => "bytedelta (first edition)",
            Filter::ByteDelta => "bytedelta",
            Filter::IntTrunc => "int_trunc",
            Filter::Other(_) => "unknown",
        }
    }
}

/// A filter that cannot run: what is wrong, for people.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FilterError(pub &'static str);

/// The whole words of `w` bytes in `src`, and the rest.
fn split_words(src: &[u8], w: usize) -> (&[u8], &[u8]) {
    let tail = src.len().checked_rem(w).unwrap_or(0);
    src.split_at_checked(src.len().saturating_sub(tail)).unwrap_or((src, &[]))
}

/// Every filter maps n bytes to n bytes.
fn check_lengths(src: &[u8], out: &Out<'_>) -> Result<(), FilterError> {
    if src.len() == out.len() {
        return Ok(());
    }
    Err(FilterError("source and destination differ in length"))
}

/// One slot of the filter pipeline.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct FilterSlot {
    /// The filter.
    pub filter: Filter,
    /// Its parameter byte.
    pub meta: u8,
}

impl FilterSlot {
    /// An unused slot.
    pub const NONE: FilterSlot = FilterSlot::new(Filter::None, 0);

    /// A filter with its parameter byte.
    pub const fn new(filter: Filter, meta: u8) -> FilterSlot {
        FilterSlot { filter, meta }
    }

    /// A pipeline of one filter without a parameter: it goes to the last slot, where every writer stores it.
    pub(crate) const fn alone(filter: Filter) -> [FilterSlot; 6] {
        let mut slots = [FilterSlot::NONE; 6];
        slots[5] = FilterSlot::new(filter, 0);
        slots
    }
}
