//! AVX-512 with VBMI: byte planes by two-register byte permutes.
//!
//! ```text
//! w = item width, P = w rounded up to a power of two, R = P / 2, one block = 64 items = R groups
//! split  group g, 128 / P items, is 65 to 128 bytes: its first and its last 64 bytes in two registers
//!        permute them to R planes of 128 / P bytes, once for the first R planes, once for the last R
//!        transpose the R registers of R units: register j is now plane j of the block
//! join   the same backwards; a group is stored as its first and its last 64 bytes
//!        of 17 to 24 bytes: out of the first 16 and the last 8 planes, two groups in each register of these
//! ```
//! Nothing beyond a block is read or written, and every plane is stored by whole lines. Items of more
//! than 32 bytes are left to AVX2.

use super::avx2;
use crate::arch::level::detect::executes_512_in_halves;
use crate::arch::out::Out;
use crate::arch::planes::{Planes, Stores};
use crate::arch::vector::{LONG, Pitched, Split, Table, crowded};
use bytes::{join_each, join_pitched, split_planes};
use registers::{BLOCK, PHASE, SHARED, SPLIT, WIDEST};

mod bits;
mod bytes;
mod eights;
mod halves;
mod registers;
mod staged;
#[cfg(test)]
mod tests;
pub(in crate::arch) use bits::{bitshuffle, bitunshuffle};

/// Row of the kernel table.
///
/// # Safety
/// The CPU is one of the level that has this row; `src` is whole items of `width` bytes, and `out` has their planes, `pitch`
/// bytes apart.
pub(in crate::arch) unsafe fn split(width: usize, src: &[u8], mut out: Out<'_>, pitch: usize) {
    let n = src.len().checked_div(width).unwrap_or(0);
    // SAFETY: the planes have room by the contract, and at least a block of items is left to AVX-512.
    unsafe {
        // Two ports take shuffles of 256 bits, one those of 512; from the L1 cache alone that is what counts.
        let small = width > eights::WIDEST && src.len() <= PHASE && !executes_512_in_halves();
        if n < BLOCK || width > WIDEST || small {
            return avx2::split(width, src, out, pitch);
        }
        if crowded(width, n, pitch) && executes_512_in_halves() {
            let (readable, src, dst) = (src.len(), src.as_ptr(), out.as_mut_ptr());
            return staged::split_crowded(Split { width, stride: width, n, src, readable, dst, pitch });
        }
        split_planes(width, n, src.as_ptr(), out.as_mut_ptr(), pitch, SPLIT);
    }
}

/// Row of the kernel table.
///
/// # Safety
/// The CPU is one of the level that has this row; `out` is whole items of `width` bytes, and `planes` has as many bytes of each
/// plane.
pub(in crate::arch) unsafe fn join(width: usize, planes: Planes<'_>, mut out: Out<'_>, stores: Stores) {
    let n = out.len().checked_div(width).unwrap_or(0);
    let stream = stores == Stores::Streaming;
    // SAFETY: the planes are as long as the contract says, and at least a block of items is left to AVX-512.
    unsafe {
        // Registers of 256 bits are as fast at these where those of 512 are executed in halves, and faster from the L1 cache.
        if n < BLOCK || width > WIDEST || (matches!(width, 2 | 4) && executes_512_in_halves()) {
            return avx2::join(width, planes, out, stores);
        }
        match planes {
            Planes::Pitched { bytes, pitch } => {
                let (planes, dst) = (Pitched { base: bytes.as_ptr(), pitch }, out.as_mut_ptr());
                if width >= 16 && pitch.is_multiple_of(SHARED) && out.len() >= LONG && !stream {
                    return staged::join_crowded(width, n, planes, dst);
                }
                join_pitched(width, n, planes, dst, stream);
            }
            Planes::Each(list) => join_each(width, n, Table::new(list).source(), out.as_mut_ptr(), stream),
        }
    }
}
