//! SHUFFLE (id 1, docs/formats/chunk.md §3.2): byte transposition.
//!
//! ```text
//! n = len / w
//! for j in 0..w, i in 0..n:  out[j * n + i] = src[i * w + j]
//! out[n * w ..] = src[n * w ..]
//! ```
//! A [split](super::blocksplit) whose planes follow each other, plus the tail. Width 1 is a copy.

use super::FilterError;
use super::blocksplit::{Planes, Stores, join, split};
use crate::arch::{level::Level, out::Out};

/// Shuffles `src` into `out`, which has the same length; `width` is the item size in bytes.
///
/// # Errors
/// The lengths differ.
///
/// ```
/// use blosc_core::{Level, filter::shuffle::shuffle};
/// let mut out = [0; 7];
/// shuffle(Level::best(), 2, b"aAbBcC.", &mut out)?;
/// assert_eq!(&out, b"abcABC.");
/// # Ok::<(), blosc_core::filter::FilterError>(())
/// ```
pub fn shuffle<'o>(
    level: Level,
    width: usize,
    src: &[u8],
    out: impl Into<Out<'o>>,
) -> Result<(), FilterError> {
    let (width, n, items, mut out) = checked_parts(width, src, out.into())?;
    if let (Some(tail), Some(mut rest)) = (src.get(items..), out.get(items, src.len() - items)) {
        rest.copy_from(tail);
    }
    split(level, width, src.get(..items).unwrap_or(src), out, n)?;
    Ok(())
}

/// The inverse of [`shuffle`].
///
/// # Errors
/// The lengths differ.
pub fn unshuffle<'o>(
    level: Level,
    width: usize,
    src: &[u8],
    out: impl Into<Out<'o>>,
) -> Result<(), FilterError> {
    unshuffle_by(level, width, src, out.into(), Stores::for_len(src.len()))
}

/// [`unshuffle`] of a part of a destination, for all of which `stores` are chosen.
pub(crate) fn unshuffle_by(
    level: Level,
    width: usize,
    src: &[u8],
    out: Out<'_>,
    stores: Stores,
) -> Result<(), FilterError> {
    let (width, n, items, out) = checked_parts(width, src, out)?;
    let (room, mut rest) = out.split_at(items);
    rest.copy_from(src.get(items..).unwrap_or_default());
    join(level, width, Planes::Pitched { bytes: src, pitch: n }, room, stores)?;
    Ok(())
}

/// Checks the lengths: the width with 0 read as 1, the number of items, their bytes, and `out`.
fn checked_parts<'o>(
    width: usize,
    src: &[u8],
    out: Out<'o>,
) -> Result<(usize, usize, usize, Out<'o>), FilterError> {
    if src.len() != out.len() {
        return Err(FilterError("source and destination differ in length"));
    }
    let width = width.max(1);
    let n = src.len() / width;
    Ok((width, n, n * width, out))
}
