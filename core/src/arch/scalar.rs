//! The scalar forms of the operations in the kernel table. Their specification, with an example, stands at the head of
//! [`blocksplit`](crate::filter::blocksplit) and [`bitshuffle`](crate::filter::bitshuffle); tests hold every kernel to
//! what these functions write. Kernels leave to them what is shorter than their registers.

use super::out::Out;
use super::planes::{Plane, Planes, Stores};

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

/// [`split`](crate::filter::blocksplit::split) as specified, one plane after the other. Not part of the kernels that leave odd ends to it.
#[inline(never)]
pub fn split(width: usize, src: &[u8], mut out: Out<'_>, pitch: usize) {
    let n = src.len().checked_div(width).unwrap_or(0);
    for j in 0..width {
        // Not `step_by`: some compilers make a call for each byte of it.
        let plane =
            src.get(j..).unwrap_or_default().chunks(width).map(|rest| rest.first().copied().unwrap_or(0));
        if let Some(mut room) = out.get(j.wrapping_mul(pitch), n) {
            room.scatter(0, 1, plane);
        }
    }
}

/// [`join`](crate::filter::blocksplit::join) as specified, one plane after the other. Not part of the kernels either.
#[inline(never)]
pub fn join(width: usize, planes: Planes<'_>, mut out: Out<'_>, _: Stores) {
    let n = out.len().checked_div(width).unwrap_or(0);
    for j in 0..width {
        if let Some(plane) = planes.get(j, n) {
            place(width, j, plane, &mut out);
        }
    }
}

/// [`bitshuffle`](crate::filter::bitshuffle::bitshuffle) as specified; the length of `src` is a multiple of `8 * typesize`.
#[inline(never)]
pub fn bitshuffle(typesize: usize, src: &[u8], mut out: Out<'_>) {
    let row = src.len().checked_div(typesize).unwrap_or(0) / 8;
    for j in 0..typesize {
        let mut items = src.get(j..).unwrap_or_default().iter().step_by(typesize);
        for k in 0..row {
            let mut matrix = 0;
            for m in 0..8 {
                matrix |= u64::from(items.next().copied().unwrap_or(0)) << (8 * m);
            }
            out.scatter(8 * j * row + k, row, transpose_8x8(matrix).to_le_bytes().into_iter());
        }
    }
}

/// [`bitunshuffle`](crate::filter::bitshuffle::bitunshuffle) as specified; the length of `src` is a multiple of `8 * typesize`.
#[inline(never)]
pub fn bitunshuffle(typesize: usize, src: &[u8], mut out: Out<'_>, _: Stores) {
    let row = src.len().checked_div(typesize).unwrap_or(0) / 8;
    for j in 0..typesize {
        for k in 0..row {
            let mut matrix = 0;
            for b in 0..8 {
                matrix |= u64::from(src.get((8 * j + b) * row + k).copied().unwrap_or(0)) << (8 * b);
            }
            let items = transpose_8x8(matrix).to_le_bytes().into_iter();
            // `scatter` ends with the iterator: eight items.
            out.scatter(8 * k * typesize + j, typesize, items);
        }
    }
}

/// Transposes eight bytes seen as rows of eight bits: bit `b` of byte `m` becomes bit `m` of byte `b`.
#[inline]
pub const fn transpose_8x8(mut x: u64) -> u64 {
    // Swap the two off-diagonal quarters at each scale: single bits, 2x2 and 4x4 squares.
    let mut t = (x ^ (x >> 7)) & 0x00aa_00aa_00aa_00aa;
    x ^= t ^ (t << 7);
    t = (x ^ (x >> 14)) & 0x0000_cccc_0000_cccc;
    x ^= t ^ (t << 14);
    t = (x ^ (x >> 28)) & 0x0000_0000_f0f0_f0f0;
    x ^ t ^ (t << 28)
}
