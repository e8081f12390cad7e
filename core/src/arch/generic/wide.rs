//! Items of 16 bytes and more: windows of 16 byte planes, one lane of a register per item.
//!
//! ```text
//! for each tile of items that stays in the L1 cache
//!     for each window of 16 planes, the last one overlapping the one before
//!         for each block: 16 registers, lane l of register r is the window of item 16 l + r; transpose
//! ```

use super::block::{block, load_planes, store_planes, transpose};
use super::{Join, Source, Split, Vector};

/// Bytes of items that are worked on at a time.
const TILE: usize = 16 << 10;

/// Items of a tile: a multiple of the block.
#[inline(always)]
fn tile_items<V: Vector>(stride: usize) -> usize {
    (TILE / stride.max(1) / V::BLOCK).max(1) * V::BLOCK
}

/// Splits `n >= V::BLOCK` items of 16 bytes or more.
///
/// # Safety
/// The CPU; what the job says is readable and writable.
#[inline(always)]
pub(super) unsafe fn split<V: Vector>(job: Split) {
    let Split { width, stride, n, src, dst, pitch, .. } = job;
    let (tile, block) = (tile_items::<V>(stride), block::<V>(width));
    let mut first = 0;
    while first < n {
        let end = (first + tile).min(n);
        let mut next = 0;
        while next < width {
            let c = next.min(width - 16);
            let mut i = first;
            while i < end {
                // The last block overlaps the one before.
                i = i.min(n - block);
                // SAFETY: 16 bytes from byte `c` are inside the item; the block ends at or before item `n`.
                unsafe {
                    let from = src.add(i * stride + c);
                    let to = dst.add(c * pitch + i);
                    let a = load_window::<V>(from, stride);
                    let b = if block > V::BYTES {
                        load_window::<V>(from.add(V::BYTES * stride), stride)
                    } else {
                        a
                    };
                    store_planes(a, b, 16, block, to, pitch);
                }
                i += block;
            }
            next += 16;
        }
        first += tile;
    }
}

/// The planes of a window of `V::BYTES` items.
#[inline(always)]
unsafe fn load_window<V: Vector>(from: *const u8, stride: usize) -> [V; 16] {
    // SAFETY: the caller's.
    unsafe {
        let mut r = [V::load_lanes(from, 16 * stride); 16];
        let mut from = from;
        let mut k = 1;
        while k < 16 {
            from = from.add(stride);
            r[k] = V::load_lanes(from, 16 * stride);
            k += 1;
        }
        transpose::<V, 16>(r)
    }
}

/// Joins `n >= V::BLOCK` items of 16 bytes or more.
///
/// # Safety
/// The CPU; what the job says is readable and writable.
#[inline(always)]
pub(super) unsafe fn join<V: Vector, S: Source>(job: Join<S>) {
    let Join { width, stride, n, planes, dst, .. } = job;
    let tile = tile_items::<V>(stride);
    let mut first = 0;
    while first < n {
        let end = (first + tile).min(n);
        let mut next = 0;
        while next < width {
            let c = next.min(width - 16);
            let mut i = first;
            while i < end {
                i = i.min(n - V::BYTES);
                // SAFETY: as above, the other way.
                unsafe {
                    let r = transpose::<V, 16>(load_planes::<V, 16, S>(planes, c, 16, i, false).0);
                    let mut to = dst.add(i * stride + c);
                    let mut l = 0;
                    while l < V::LANES {
                        let mut k = 0;
                        while k < 16 {
                            r[k].store_lane(l, to);
                            to = to.wrapping_add(stride);
                            k += 1;
                        }
                        l += 1;
                    }
                }
                i += V::BYTES;
            }
            next += 16;
        }
        first += tile;
    }
}
