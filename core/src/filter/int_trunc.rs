//! INT_TRUNC (id 36, docs/formats/chunk.md §3.8): zero low bits of integers. Lossy, forward only.
//!
//! ```text
//! p = meta as i8, B = 8 * typesize bits, typesize 1, 2, 4 or 8
//! z = B - p if p >= 0, else -p          legal: z < B, so p is 1..=B or -1..=-(B-1)
//! each little-endian word is ANDed with !(2^z - 1); a partial word at the end is copied
//! ```
#![deny(clippy::indexing_slicing, clippy::arithmetic_side_effects)]

use super::{FilterError, mask};
use crate::arch::{level::Level, out::Out};

/// Whether `meta` is legal for items of `typesize` bytes; the number of bits it clears.
///
/// # Errors
/// The typesize is not 1, 2, 4 or 8, or no bit would be kept.
pub const fn cleared_bits(typesize: usize, meta: u8) -> Result<u8, FilterError> {
    let (bits, range) = match typesize {
        1 => (8, "meta must be 1 to 8, or -1 to -7 as a signed byte"),
        2 => (16, "meta must be 1 to 16, or -1 to -15 as a signed byte"),
        4 => (32, "meta must be 1 to 32, or -1 to -31 as a signed byte"),
        8 => (64, "meta must be 1 to 64, or -1 to -63 as a signed byte"),
        _ => return Err(FilterError("int_trunc works on integers: the typesize must be 1, 2, 4 or 8")),
    };
    match mask::cleared_bits(bits, meta) {
        Some(z) => Ok(z),
        None => Err(FilterError(range)),
    }
}

/// Zeroes the low bits of every integer of `src`.
///
/// # Errors
/// As [`cleared_bits`], or `src` and `out` differ in length.
pub fn forward(level: Level, typesize: usize, meta: u8, src: &[u8], out: Out<'_>) -> Result<(), FilterError> {
    mask::clear(level, typesize, cleared_bits(typesize, meta)?, src, out)
}
