//! Items of 16 bytes and more: windows of 16 byte planes, one lane of a register per item.
//!
//! ```text
//! for each tile of items that stays in the L1 cache
//!     for each window of 16 planes, the last one overlapping the one before
//!         for each block: 16 registers, lane l of register r is the window of item 16 l + r; transpose
//! ```
//! Of the last window only the planes that the one before has not are split, and if they are 8 or fewer, only the last 8 joined.
//!
//! 16 planes are more than a set of the L1 cache holds. Where they crowd, registers shorter than a line go by way of [`Lines`].

use super::block::{block, join_lanes, load_planes, store_planes, transpose};
use super::planes::{Pitched, PlaneSource};
use super::registers::{Join, LINE, Split, Vector};
use core::mem::MaybeUninit;

/// Bytes of items that are worked on at a time.
const TILE: usize = 16 << 10;

/// A line of each of 16 planes.
#[repr(align(64))]
struct Lines(MaybeUninit<[u8; 16 * LINE]>);

impl Lines {
    /// Items of which planes fill the lines.
    const ITEMS: usize = LINE;

    const fn new() -> Lines {
        Lines(MaybeUninit::uninit())
    }

    /// Whether planes of `n` items are to be gathered: at this distance they share a set of the L1 cache, or two.
    #[inline(always)]
    fn suit<V: Vector>(pitch: usize, n: usize) -> bool {
        V::GATHERS && n >= Self::ITEMS && pitch.wrapping_add(LINE) % 4096 <= 2 * LINE
    }

    /// The planes that lie here.
    #[inline(always)]
    fn planes(&mut self) -> Pitched {
        Pitched { base: self.0.as_mut_ptr().cast(), pitch: LINE }
    }

    /// Stores them to `dst` and at every `pitch` from there.
    ///
    /// # Safety
    /// The CPU; those lines are writable.
    #[inline(always)]
    unsafe fn store<V: Vector>(&mut self, mut dst: *mut u8, pitch: usize) {
        let lines = self.planes();
        let mut j = 0;
        while j < 16 {
            // SAFETY: by the contract a line is writable at `dst`, and the lines here have been filled by the caller.
            unsafe { copy_line::<V>(lines.at(j, 0), dst) };
            dst = dst.wrapping_add(pitch);
            j += 1;
        }
    }

    /// Loads 16 planes from `first` on, from byte `i` on.
    ///
    /// # Safety
    /// The CPU; the planes have these bytes.
    #[inline(always)]
    unsafe fn load<V: Vector, S: PlaneSource>(&mut self, planes: S, first: usize, i: usize) {
        let lines = self.planes();
        let mut j = 0;
        while j < 16 {
            // SAFETY: by the contract the planes have a line from byte `i` on; there is a line for each of 16 planes
            // here.
            unsafe { copy_line::<V>(planes.at(first + j, i), lines.at(j, 0).cast_mut()) };
            j += 1;
        }
    }
}

/// Copies a line of a cache; neither need begin one.
///
/// # Safety
/// The CPU; `LINE` bytes are readable at `from` and writable at `to`.
#[inline(always)]
unsafe fn copy_line<V: Vector>(from: *const u8, to: *mut u8) {
    let mut k = 0;
    while k < LINE {
        // SAFETY: by the contract `LINE` bytes are readable at `from` and writable at `to`, and `k + V::BYTES` is at
        // most `LINE`.
        unsafe { V::load(from.add(k)).store(to.add(k)) };
        k += V::BYTES;
    }
}

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
    // Two registers of a plane are a line already.
    let gathers = V::LANES == 1 && Lines::suit::<V>(pitch, n);
    let block = if gathers { Lines::ITEMS } else { block::<V>(width) };
    let tile = tile_items(stride, block);
    let mut lines = Lines::new();
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
                    if gathers {
                        let mut k = 0;
                        while k < Lines::ITEMS {
                            let a = load_window::<V>(from.add(k * stride), stride);
                            store_planes::<V, 16, 0>(
                                a,
                                a,
                                16,
                                V::BYTES,
                                lines.planes().base.cast_mut().add(k),
                                LINE,
                            );
                            k += V::BYTES;
                        }
                        lines.store::<V>(to, pitch);
                        i += block;
                        continue;
                    }
                    match next - c {
                        0..4 => split_window::<V, 0>(from, stride, block, to, pitch),
                        4..8 => split_window::<V, 4>(from, stride, block, to, pitch),
                        8..12 => split_window::<V, 8>(from, stride, block, to, pitch),
                        _ => split_window::<V, 12>(from, stride, block, to, pitch),
                    }
                }
                i += block;
            }
            next += 16;
        }
        first += tile;
    }
}

/// Stores the planes of a window of a block from plane `FIRST` on; the transposition of those before it is left out.
///
/// # Safety
/// 16 bytes of each of `block` items, `stride` bytes apart from `from` on, are readable; planes `FIRST..16`, `pitch` bytes
/// apart from `to` on, have room for the block; the CPU has the instructions of `V`.
#[inline(always)]
unsafe fn split_window<V: Vector, const FIRST: usize>(
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
        store_planes::<V, 16, FIRST>(a, b, 16, block, to.add(FIRST * pitch), pitch);
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
    // SAFETY: there are 16 planes and more, and `n > 0`.
    let pitch = unsafe { planes.at(1, 0).addr().wrapping_sub(planes.at(0, 0).addr()) };
    let gathers = Lines::suit::<V>(pitch, n);
    let block = if gathers { Lines::ITEMS } else { V::BYTES };
    let tile = tile_items(stride, block);
    let mut lines = Lines::new();
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
                    if gathers {
                        lines.load::<V, S>(planes, c, i);
                        let mut k = 0;
                        while k < Lines::ITEMS {
                            store_window::<V, _>(lines.planes(), 0, k, to.add(k * stride), stride);
                            k += V::BYTES;
                        }
                    } else if next - c >= 8 {
                        store_half_window::<V, S>(planes, c + 8, i, to.add(8), stride);
                    } else {
                        store_window::<V, S>(planes, c, i, to, stride);
                    }
                }
                i += block;
            }
            next += 16;
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
