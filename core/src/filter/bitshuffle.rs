//! BITSHUFFLE (id 2, docs/formats/chunk.md §3.3): bit transposition.
//!
//! ```text
//! N = items rounded down to a multiple of 8, row = N / 8
//! for each byte j and bit b of an item, each group k of 8 items:
//!     out[(8 j + b) * row + k] bit m = in[(8 k + m) * typesize + j] bit b       m in 0..8
//! out[N * typesize ..] = in[N * typesize ..]
//! ```
//! Bit 0 is the least significant one. So: the byte planes of a shuffle, and each 8 bytes of a
//! plane, seen as an 8x8 bit matrix, transposed and dealt out to the plane's 8 rows.
//!
//! Vector kernels put the planes of some items on the stack: less than 12 KiB of it for buffers below 64 KiB (14 KiB by AVX-512
//! without VBMI), less than 22 KiB for longer ones. [`Level::SCALAR`](crate::Level::SCALAR) puts none there.

use super::FilterError;
use super::blocksplit::Stores;
use crate::arch::kernels;
use crate::arch::level::Level;
use crate::arch::out::Out;

pub use crate::arch::scalar::{
    bitshuffle as bitshuffle_scalar, bitunshuffle as bitunshuffle_scalar, transpose_8x8,
};

/// Whether a block of `len` bytes in a version-2 chunk (§3.3) is bit-shuffled at all: the old rule
/// leaves blocks alone whose number of items is not a multiple of 8.
///
/// ```
/// use blosc_core::filter::bitshuffle::version2_applies;
/// assert!(version2_applies(64, 4) && version2_applies(3, 4) && !version2_applies(36, 4));
/// ```
pub const fn version2_applies(len: usize, typesize: usize) -> bool {
    match len.checked_div(typesize) {
        Some(items) => items % 8 == 0,
        None => false,
    }
}

/// Transposes the bits of `src` into `out`, which has the same length.
///
/// # Errors
/// The lengths differ, or `typesize` is 0.
///
/// ```
/// use blosc_core::{Level, filter::bitshuffle::bitshuffle};
/// let mut out = [0; 9];
/// bitshuffle(Level::best(), 1, &[1, 0, 0, 0, 0x80, 0, 0, 3, 255], &mut out)?;
/// assert_eq!(out, [0x81, 0x80, 0, 0, 0, 0, 0, 0x10, 255]);
/// # Ok::<(), blosc_core::filter::FilterError>(())
/// ```
pub fn bitshuffle<'o>(
    level: Level,
    typesize: usize,
    src: &[u8],
    out: impl Into<Out<'o>>,
) -> Result<(), FilterError> {
    let (bits, room) = checked_parts(typesize, src, out.into())?;
    if !bits.is_empty() {
        kernels::bitshuffle(level, typesize, bits, room);
    }
    Ok(())
}

/// The inverse of [`bitshuffle`].
///
/// # Errors
/// The lengths differ, or `typesize` is 0.
pub fn bitunshuffle<'o>(
    level: Level,
    typesize: usize,
    src: &[u8],
    out: impl Into<Out<'o>>,
) -> Result<(), FilterError> {
    bitunshuffle_by(level, typesize, src, out.into(), Stores::for_len(src.len()))
}

/// [`bitunshuffle`] of a part of a destination, for all of which `stores` are chosen.
pub(crate) fn bitunshuffle_by(
    level: Level,
    typesize: usize,
    src: &[u8],
    out: Out<'_>,
    stores: Stores,
) -> Result<(), FilterError> {
    let (bits, room) = checked_parts(typesize, src, out)?;
    if !bits.is_empty() {
        kernels::bitunshuffle(level, typesize, bits, room, stores);
    }
    Ok(())
}

/// Checks the lengths, copies the tail, and gives the part that is transposed on both sides.
fn checked_parts<'s, 'o>(
    typesize: usize,
    src: &'s [u8],
    out: Out<'o>,
) -> Result<(&'s [u8], Out<'o>), FilterError> {
    if src.len() != out.len() {
        return Err(FilterError("source and destination differ in length"));
    }
    let items = src.len().checked_div(typesize).ok_or(FilterError("the item width is zero"))?;
    let (bits, tail) = src.split_at_checked((items & !7) * typesize).unwrap_or((src, &[]));
    let (room, mut rest) = out.split_at(bits.len());
    rest.copy_from(tail);
    Ok((bits, room))
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec;
    use alloc::vec::Vec;

    /// Tiles end in the middle of a line, and two kinds of stores meet there.
    #[test]
    fn streamed_items_are_those_that_go_into_the_cache_wherever_they_lie() {
        for (typesize, items) in [1usize, 2, 3, 4, 8, 16, 24].into_iter().flat_map(|t| [(t, 520), (t, 5000)])
        {
            let src: Vec<u8> = (0..items * typesize).map(|i| (i.wrapping_mul(i * 7) >> 3) as u8).collect();
            let mut want = vec![0; src.len()];
            bitunshuffle(Level::SCALAR, typesize, &src, &mut want[..]).unwrap();
            for level in Level::available() {
                for skew in 0..64 {
                    let mut out = vec![0xEE; src.len() + 128];
                    let room = Out::from(&mut out[skew..][..src.len()]);
                    bitunshuffle_by(level, typesize, &src, room, Stores::Streaming).unwrap();
                    let (before, rest) = out.split_at(skew);
                    let (back, after) = rest.split_at(src.len());
                    assert!(back == want, "{level:?} {items} items of {typesize} at {skew}");
                    assert!(before.iter().chain(after).all(|b| *b == 0xEE));
                }
            }
        }
    }
}
