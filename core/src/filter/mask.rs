//! Clearing low bits of little-endian words: what trunc_prec and int_trunc have in common.
#![deny(clippy::indexing_slicing, clippy::arithmetic_side_effects)]

use super::{FilterError, check_lengths};
use crate::arch::elementwise::{self, And};
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
    let mask = u64::MAX.checked_shl(u32::from(cleared)).unwrap_or(0).to_le_bytes();
    match typesize {
        1 => elementwise::vectorized(level, And::<1>(src, mask, out)),
        2 => elementwise::vectorized(level, And::<2>(src, mask, out)),
        4 => elementwise::vectorized(level, And::<4>(src, mask, out)),
        _ => elementwise::vectorized(level, And::<8>(src, mask, out)),
    }
    Ok(())
}
