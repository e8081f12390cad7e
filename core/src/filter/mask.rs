//! Clearing low bits of little-endian words: what trunc_prec and int_trunc have in common.
#![deny(clippy::indexing_slicing, clippy::arithmetic_side_effects)]

use super::{FilterError, check_lengths, split_words};
use crate::arch::elementwise;
use crate::arch::{level::Level, out::Out};

/// The number of low bits that meta byte `meta` (an i8) clears of `bits`: all but `meta` of them if
/// it is positive, else `-meta`. `None` if that leaves the range 0..bits.
pub(super) const fn cleared_bits(bits: u8, meta: u8) -> Option<u8> {
    let p = meta.cast_signed();
    let cleared = if p >= 0 { bits.checked_sub(p.unsigned_abs()) } else { Some(p.unsigned_abs()) };
    match cleared {
        Some(z) if z < bits => Some(z),
        _ => None,
    }
}

/// Clears the `cleared` low bits of every word of `typesize` bytes (1, 2, 4 or 8); a partial word at
/// the end is copied.
pub(super) fn clear(
    level: Level,
    typesize: usize,
    cleared: u8,
    src: &[u8],
    out: Out<'_>,
) -> Result<(), FilterError> {
    check_lengths(src, &out)?;
    // The bytes of a word, over and over.
    let mask = u64::MAX.checked_shl(u32::from(cleared)).unwrap_or(0);
    let mask = match typesize {
        1 => (mask & 0xFF).wrapping_mul(0x0101_0101_0101_0101),
        2 => (mask & 0xFFFF).wrapping_mul(0x0001_0001_0001_0001),
        4 => (mask & 0xFFFF_FFFF).wrapping_mul(0x0000_0001_0000_0001),
        _ => mask,
    };
    let (words, tail) = split_words(src, typesize);
    let (body, mut rest) = out.split_at(words.len());
    elementwise::and(level, words, mask, body);
    rest.copy_from(tail);
    Ok(())
}
