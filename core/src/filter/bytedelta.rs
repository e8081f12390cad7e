//! BYTEDELTA (id 35, docs/formats/chunk.md §3.7): differences of neighbouring bytes within each plane.
//!
//! ```text
//! w = meta, or the typesize of the super-chunk where meta is 0        n = len / w
//! +-- n bytes --+-- n bytes --+ ... w planes ... +-- len - n*w bytes, copied --+
//! in each plane, mod 256:  forward  y[i] = x[i] - x[i-1], x[-1] = 0     backward = running sum
//! ```
//! Meant to follow a shuffle of the same width, but independent of it.
//!
//! Id 34, the first edition, was written by SIMD code that starts a second chain at index
//! `16 * (n / 16)` of every plane. It is only read here ([`backward_v1`]).
#![deny(clippy::indexing_slicing, clippy::arithmetic_side_effects)]

use super::{FilterError, check_lengths};
use crate::arch::elementwise;
use crate::arch::{level::Level, out::Out};

/// The plane count for a meta byte: `meta`, or the super-chunk's typesize where that is 0.
///
/// # Errors
/// Both are 0 (or the typesize is not known, which is the same).
pub const fn width(meta: u8, typesize: u32) -> Result<usize, FilterError> {
    match (meta, typesize) {
        (0, 0) => Err(FilterError("meta is 0, so it needs the typesize of a super-chunk around the chunk")),
        (0, t) => Ok(t as usize),
        (m, _) => Ok(m as usize),
    }
}

/// Encodes one block of `width` planes.
///
/// # Errors
/// `src` and `out` differ in length, or `width` is 0.
pub fn forward(level: Level, width: usize, src: &[u8], out: Out<'_>) -> Result<(), FilterError> {
    planes(width, src, out, |plane, out| differences(level, plane, out))
}

/// Decodes one block of `width` planes.
///
/// # Errors
/// As [`forward`].
pub fn backward(level: Level, width: usize, src: &[u8], out: Out<'_>) -> Result<(), FilterError> {
    planes(width, src, out, |plane, out| sums(level, plane, out))
}

/// Decodes one block of the first edition (id 34).
///
/// # Errors
/// As [`forward`].
pub fn backward_v1(level: Level, width: usize, src: &[u8], out: Out<'_>) -> Result<(), FilterError> {
    planes(width, src, out, |plane, out| {
        let (body, rest) = plane.split_at_checked(plane.len() & !15).unwrap_or((plane, &[]));
        let (body_out, rest_out) = out.split_at(body.len());
        sums(level, body, body_out);
        sums(level, rest, rest_out);
    })
}

/// Hands each plane and its place to `each`; copies what follows the last plane.
fn planes(
    width: usize,
    mut src: &[u8],
    mut out: Out<'_>,
    mut each: impl FnMut(&[u8], Out<'_>),
) -> Result<(), FilterError> {
    check_lengths(src, &out)?;
    let n = src.len().checked_div(width).ok_or(FilterError("the width is 0"))?;
    // Fewer bytes than planes: n = 0, and everything is tail.
    if n != 0 {
        for _ in 0..width {
            let Some((plane, rest)) = src.split_at_checked(n) else { break };
            let (place, rest_out) = out.split_at(n);
            each(plane, place);
            (src, out) = (rest, rest_out);
        }
    }
    out.copy_from(src);
    Ok(())
}

fn differences(level: Level, plane: &[u8], out: Out<'_>) {
    let (first, next) = plane.split_at_checked(1).unwrap_or((plane, &[]));
    let (mut start, rest) = out.split_at(first.len());
    start.copy_from(first);
    elementwise::zip::<'-'>(level, next, plane, rest);
}

fn sums(level: Level, plane: &[u8], mut out: Out<'_>) {
    let (done, [mut sum]) = elementwise::scan::<1, '+'>(level, plane, &mut out);
    elementwise::map(plane.get(done..).unwrap_or(&[]), out.split_at(done).1, |[difference]| {
        sum = sum.wrapping_add(difference);
        [sum]
    });
}
