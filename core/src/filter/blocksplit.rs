//! Block split and join: the byte planes of a block, apart and together again (docs/formats/chunk.md §2.3, §3.2).
//!
//! ```text
//! split:  for j in 0..w, i in 0..n:  out[j * pitch + i] = src[i * w + j]     n = len / w
//! join:   for j in 0..w, i in 0..n:  out[i * w + j] = plane_j[i]
//! ```
//! A split is a shuffle whose planes need not touch. Blocks have power-of-two sizes, so planes that
//! touch begin at the same cache set; a `pitch` of `n` plus a line or two keeps them apart.
//! A join takes planes from one buffer with a pitch, or each from its own place, and a plane
//! that is one byte over and over (a run or zero stream) need not exist in memory.

use super::FilterError;
use crate::arch::kernels;
use crate::arch::level::Level;
use crate::arch::out::Out;

pub use crate::arch::planes::{Plane, Planes, Stores};
pub use crate::arch::scalar::{join as join_scalar, place, split as split_scalar};

/// Byte plane `j` of `src` goes to `out[j * pitch..]`, for each of the `width` bytes of an item.
/// Returns the length of a plane, `src.len() / width`; trailing bytes of `src` are not copied.
///
/// # Errors
/// `width` is 0, `pitch` is less than the length of a plane, or `out` ends before the last plane does.
///
/// ```
/// use blosc_core::{Level, filter::blocksplit::split};
/// let mut planes = *b"________";
/// assert_eq!(split(Level::best(), 2, b"aAbBcC", &mut planes, 5), Ok(3));
/// assert_eq!(&planes, b"abc__ABC");
/// ```
pub fn split<'o>(
    level: Level,
    width: usize,
    src: &[u8],
    out: impl Into<Out<'o>>,
    pitch: usize,
) -> Result<usize, FilterError> {
    let n = src.len().checked_div(width).ok_or(WIDTH)?;
    let src = src.get(..n * width).ok_or(WIDTH)?;
    let mut out = out.into();
    let room = (width - 1).checked_mul(pitch).and_then(|last| last.checked_add(n)).ok_or(ROOM)?;
    if pitch < n && width > 1 {
        return Err(FilterError("planes overlap: the pitch is less than their length"));
    }
    let mut out = out.get(0, room).ok_or(ROOM)?;
    if width == 1 {
        out.copy_from(src);
    } else if n > 0 {
        kernels::split(level, width, src, out, pitch);
    }
    Ok(n)
}

/// The inverse of [`split`]: fills `out` with items of `width` bytes taken from `planes`.
/// Returns the length of a plane, `out.len() / width`; trailing bytes of `out` are not written.
///
/// # Errors
/// `width` is 0, or a plane is missing or too short.
///
/// ```
/// use blosc_core::{Level, filter::blocksplit::{Plane, Planes, Stores, join}};
/// let mut items = [0; 6];
/// let planes = [Plane::Bytes(b"abc"), Plane::Constant(b'-')];
/// assert_eq!(join(Level::best(), 2, Planes::Each(&planes), &mut items, Stores::Cached), Ok(3));
/// assert_eq!(&items, b"a-b-c-");
/// ```
pub fn join<'o>(
    level: Level,
    width: usize,
    planes: Planes<'_>,
    out: impl Into<Out<'o>>,
    stores: Stores,
) -> Result<usize, FilterError> {
    let mut out = out.into();
    let n = out.len().checked_div(width).ok_or(WIDTH)?;
    let mut out = out.get(0, n * width).ok_or(ROOM)?;
    if (0..width).any(|j| planes.get(j, n).is_none()) {
        return Err(FilterError("a byte plane is missing or shorter than the items need"));
    }
    if n == 0 {
        return Ok(0);
    }
    match planes.get(0, n) {
        Some(Plane::Bytes(bytes)) if width == 1 => {
            out.copy_from(bytes);
        }
        Some(Plane::Constant(byte)) if width == 1 => out.fill(byte),
        _ => kernels::join(level, width, planes, out, stores),
    }
    Ok(n)
}

const WIDTH: FilterError = FilterError("the item width is zero");
const ROOM: FilterError = FilterError("the destination is too short");
