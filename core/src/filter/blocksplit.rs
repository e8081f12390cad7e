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
use crate::arch::{self, level::Level, out::Out};

/// One byte plane, input of a [`join`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Plane<'a> {
    /// Its bytes: at least one per item.
    Bytes(&'a [u8]),
    /// The same byte for every item.
    Constant(u8),
}

/// The byte planes of a block, input of a [`join`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Planes<'a> {
    /// Plane `j` begins at `bytes[j * pitch]`.
    Pitched {
        /// All planes; the last one need not be as long as the pitch.
        bytes: &'a [u8],
        /// Distance from one plane to the next, in bytes.
        pitch: usize,
    },
    /// Each plane by itself; planes beyond the width are ignored.
    Each(&'a [Plane<'a>]),
}

impl<'a> Planes<'a> {
    /// The first `n` bytes of plane `j`, if there are that many.
    #[inline]
    pub fn get(&self, j: usize, n: usize) -> Option<Plane<'a>> {
        match *self {
            Planes::Pitched { bytes, pitch } => {
                bytes.get(j.checked_mul(pitch)?..)?.get(..n).map(Plane::Bytes)
            }
            Planes::Each(planes) => match *planes.get(j)? {
                Plane::Bytes(bytes) => bytes.get(..n).map(Plane::Bytes),
                constant => Some(constant),
            },
        }
    }
}

/// How a kernel writes a destination it will not read again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stores {
    /// Into the cache, as usual.
    Cached,
    /// Past the cache where the level can: for destinations too large to stay in it.
    Streaming,
}

impl Stores {
    /// Destinations from this size on are better not cached.
    pub const STREAMING_FROM: usize = 32 << 20;

    /// What suits a destination of `len` bytes, counted over all the calls that fill it.
    pub const fn for_len(len: usize) -> Stores {
        if len >= Stores::STREAMING_FROM { Stores::Streaming } else { Stores::Cached }
    }
}

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
        arch::split(level, width, src, out, pitch);
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
        _ => arch::join(level, width, planes, out, stores),
    }
    Ok(n)
}

/// Puts one plane in its place among items of `width` bytes: `out[i * width + j] = plane[i]`.
///
/// A join in single steps, for callers with room for one plane only. Stops where `out` or
/// the plane ends.
pub fn place(width: usize, j: usize, plane: Plane<'_>, out: &mut Out<'_>) {
    match plane {
        Plane::Bytes(bytes) => out.scatter(j, width, bytes.iter().copied()),
        Plane::Constant(byte) => out.scatter(j, width, core::iter::repeat(byte)),
    }
}

/// [`split`] as specified, one plane after the other. Not part of the kernels that leave odd ends to it.
#[inline(never)]
pub fn split_scalar(width: usize, src: &[u8], mut out: Out<'_>, pitch: usize) {
    let n = src.len().checked_div(width).unwrap_or(0);
    for j in 0..width {
        // Not `step_by`: whether its loop is a call for each byte is up to the compiler's mood.
        let plane =
            src.get(j..).unwrap_or_default().chunks(width).map(|rest| rest.first().copied().unwrap_or(0));
        if let Some(mut room) = out.get(j.wrapping_mul(pitch), n) {
            room.scatter(0, 1, plane);
        }
    }
}

/// [`join`] as specified, one plane after the other. Not part of the kernels either.
#[inline(never)]
pub fn join_scalar(width: usize, planes: Planes<'_>, mut out: Out<'_>, _: Stores) {
    let n = out.len().checked_div(width).unwrap_or(0);
    for j in 0..width {
        if let Some(plane) = planes.get(j, n) {
            place(width, j, plane, &mut out);
        }
    }
}

const WIDTH: FilterError = FilterError("the item width is zero");
const ROOM: FilterError = FilterError("the destination is too short");
