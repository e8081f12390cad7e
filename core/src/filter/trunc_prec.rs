//! TRUNC_PREC (id 4, docs/formats/chunk.md §3.5): zero low mantissa bits of floats. Lossy, forward only.
//!
//! ```text
//! p = meta as i8, M = 23 mantissa bits (typesize 4) or 52 (typesize 8)
//! z = M - p if p >= 0, else -p          legal: z < M, so p is 1..=M or -1..=-(M-1)
//! each little-endian word is ANDed with !(2^z - 1); a partial word at the end is copied
//! ```
#![deny(clippy::indexing_slicing, clippy::arithmetic_side_effects)]

use super::{FilterError, mask};
use crate::arch::{level::Level, out::Out};

/// Whether `meta` is legal for items of `typesize` bytes; the number of bits it clears.
///
/// # Errors
/// The typesize is not 4 or 8, or no bit or all of the mantissa would be kept.
pub const fn cleared_bits(typesize: usize, meta: u8) -> Result<u8, FilterError> {
    let mantissa = match typesize {
        4 => 23,
        8 => 52,
        _ => return Err(FilterError("trunc_prec works on floats: the typesize must be 4 or 8")),
    };
    match mask::cleared_bits(mantissa, meta) {
        Some(z) => Ok(z),
        None if mantissa == 23 => Err(FilterError("meta must be 1 to 23, or -1 to -22 as a signed byte")),
        None => Err(FilterError("meta must be 1 to 52, or -1 to -51 as a signed byte")),
    }
}

/// Zeroes the low mantissa bits of every float of `src`.
///
/// # Errors
/// As [`cleared_bits`], or `src` and `out` differ in length.
pub fn forward(level: Level, typesize: usize, meta: u8, src: &[u8], out: Out<'_>) -> Result<(), FilterError> {
    mask::clear(level, typesize, cleared_bits(typesize, meta)?, src, out)
}
