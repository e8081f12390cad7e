//! Items of 16 bytes and more: windows of 16 byte planes, one lane of a register per item.
//!
//! ```text
//! for each tile of items that stays in the L1 cache
//!     for each window of 16 planes, the last one overlapping the one before
//!         for each block: 16 registers, lane l of register r is the window of item 16 l + r; transpose
//! ```
//! The last window splits only the planes that the one before has not, and joins only its last 8 if they are 8 or fewer.

use super::block::{block, join_lanes, load_planes, store_planes, transpose};
use super::planes::PlaneSource;
use super::registers::{Join, Split, Vector};
use super::staged::crowd;

/// Bytes of items that are worked on at a time.
const TILE: usize = 16 << 10;

/// Items of a tile: a multiple of the block.
#[inline(always)]
fn tile_items(stride: usize, block: usize) -> usize {
    (TILE / stride.max(1) / block).max(1) * block
}

/// Splits `n >= V::BLOCK` items of 16 bytes or more.
///
/// # Safety
/// The CPU; what the job says is readable and writable.
#[inline(always)]
pub(super) unsafe fn split<V: Vector>(job: Split) {
    let Split { width, stride, n, src, dst, pitch, .. } = job;
    let block = block::<V>(width);
    let tile = tile_items(stride, block);
    // 8 at a time stay in it, for which items are read, or written, twice.
    let crowded = crowd(pitch);
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
                    match next - c {
                        0 if crowded => split_window::<V, 0, 8>(from, stride, block, to, pitch),
                        0..4 => split_window::<V, 0, 16>(from, stride, block, to, pitch),
                        4..8 => split_window::<V, 4, 16>(from, stride, block, to, pitch),
                        8..12 => split_window::<V, 8, 16>(from, stride, block, to, pitch),
                        _ => split_window::<V, 12, 16>(from, stride, block, to, pitch),
                    }
                }
                i += block;
            }
            next += if crowded && next == c { 8 } else { 16 };
        }
        first += tile;
    }
}

/// Stores planes `FIRST..END` of a window of a block; the transposition of the others is left out.
///
/// # Safety
/// 16 bytes of each of `block` items, `stride` bytes apart from `from` on, are readable; planes `FIRST..END`, `pitch` bytes
/// apart from `to` on, have room for the block; the CPU has the instructions of `V`.
#[inline(always)]
unsafe fn split_window<V: Vector, const FIRST: usize, const END: usize>(
    from: *const u8,
    stride: usize,
    block: usize,
    to: *mut u8,
    pitch: usize,
) {
    // SAFETY: `split` calls it for a window and planes inside the block: 16 bytes of each item are readable, the
    // planes writable.
    unsafe {
        let a = load_window::<V>(from, stride);
        let b = if block > V::BYTES { load_window::<V>(from.add(V::BYTES * stride), stride) } else { a };
        store_planes::<V, 16, FIRST>(a, b, END, block, to.add(FIRST * pitch), pitch);
    }
}

/// The planes of a window of `V::BYTES` items.
///
/// # Safety
/// A window of `V::BYTES` items, `stride` bytes apart from `from` on, is readable; the CPU has the instructions of `V`.
#[inline(always)]
unsafe fn load_window<V: Vector>(from: *const u8, stride: usize) -> [V; 16] {
    // SAFETY: `split` and `split_window` call it for `V::BYTES` items, the last of which has 16 bytes from byte `c`
    // on.
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
pub(super) unsafe fn join<V: Vector, S: PlaneSource>(job: Join<S>) {
    let Join { width, stride, n, planes, dst, .. } = job;
    let block = V::BYTES;
    let tile = tile_items(stride, block);
    // SAFETY: there are 16 planes and more, and `n > 0`.
    let crowded = crowd(unsafe { planes.at(1, 0).addr().wrapping_sub(planes.at(0, 0).addr()) });
    let mut first = 0;
    while first < n {
        let end = (first + tile).min(n);
        let mut next = 0;
        while next < width {
            let c = next.min(width - 16);
            let mut i = first;
            while i < end {
                i = i.min(n - block);
                // SAFETY: byte `c` is at least 16 bytes before the end of the item; the block ends at or before item
                // `n`.
                unsafe {
                    let to = dst.add(i * stride + c);
                    if crowded && next == c {
                        store_half_window::<V, S>(planes, c, i, to, stride);
                    } else if next - c >= 8 {
                        store_half_window::<V, S>(planes, c + 8, i, to.add(8), stride);
                    } else {
                        store_window::<V, S>(planes, c, i, to, stride);
                    }
                }
                i += block;
            }
            next += if crowded && next == c { 8 } else { 16 };
        }
        first += tile;
    }
}

/// Stores the windows of `V::BYTES` items, which begin at plane `first` and byte `i`.
///
/// # Safety
/// The CPU; the planes have these bytes, the windows are writable.
#[inline(always)]
unsafe fn store_window<V: Vector, S: PlaneSource>(
    planes: S,
    first: usize,
    i: usize,
    mut to: *mut u8,
    stride: usize,
) {
    // SAFETY: by the contract 16 planes have these bytes, and the windows of `V::BYTES` items are writable.
    unsafe {
        let r = transpose::<V, 16>(load_planes::<V, 16, S>(planes, first, 16, i, false).0);
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
}

/// [`store_window`] of the last 8 planes of a window.
///
/// # Safety
/// As for [`store_window`], of 8 planes from `first` on.
#[inline(always)]
unsafe fn store_half_window<V: Vector, S: PlaneSource>(
    planes: S,
    first: usize,
    i: usize,
    mut to: *mut u8,
    stride: usize,
) {
    // SAFETY: by the contract 8 planes have these bytes, and the half windows of `V::BYTES` items are writable.
    unsafe {
        let r = join_lanes::<V, 8>(load_planes::<V, 8, S>(planes, first, 8, i, false).0);
        let mut l = 0;
        while l < V::LANES {
            let mut k = 0;
            while k < 8 {
                r[k].store_halves(l, to, to.wrapping_add(stride));
                to = to.wrapping_add(2 * stride);
                k += 1;
            }
            l += 1;
        }
    }
}
