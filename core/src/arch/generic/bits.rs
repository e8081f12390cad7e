//! Bit transposition: tiles of byte planes, then bits.
//!
//! ```text
//! one tile = 8 items per byte of a register, its planes on the stack (typesize 1: where they are)
//! for each plane: split it by 8, so that byte k of register m belongs to item 8 k + m
//!                 exchange register number and bit number: three rounds of swapped bit fields
//!                 register b is now the tile's part of the plane's row b
//! if the rows crowd a cache set: two planes of a longer tile at a time, so that 16 rows are written in turn
//! ```
//! With an 8x8 bit matrix instruction the bits are transposed where they lie and the split by 8 is
//! all that remains. Items of more than 16 bytes have their planes taken 16 at a time.

use super::block::{join_block, split_block};
use super::{Join, Pitched, Split, Vector};
use core::mem::MaybeUninit;

/// Most planes of a tile.
const PLANES: usize = 16;

/// Items of a tile of two planes.
const PAIR: usize = 2048;

/// Bytes of items that are read again for each two planes, from the L1 cache.
const PHASE: usize = 32 << 10;

/// Rows at a multiple of this distance crowd the same cache sets.
const SHARED: usize = 512;

/// Planes of a tile: 8 registers each, of at most 32 bytes.
#[repr(align(64))]
struct Tile(MaybeUninit<[u8; 2 * PAIR]>);
const _: () = assert!(PLANES * 8 * 32 <= 2 * PAIR);

/// Bit-transposes `items >= 8 * V::BYTES` items, a multiple of 8.
///
/// # Safety
/// The CPU; `items * typesize` bytes readable and writable.
#[inline(always)]
pub(in super::super) unsafe fn bitshuffle<V: Vector>(
    typesize: usize,
    items: usize,
    src: *const u8,
    dst: *mut u8,
) {
    let (n, row) = (8 * V::BYTES, items / 8);
    let mut tile = Tile(MaybeUninit::uninit());
    let planes = tile.0.as_mut_ptr().cast::<u8>();
    if row.is_multiple_of(SHARED) && items >= PAIR {
        // SAFETY: the caller's; two planes of `PAIR` items fit the tile.
        unsafe {
            match typesize {
                2 => return in_phases::<V, 2, 2>(items, src, dst, planes),
                4 => return in_phases::<V, 4, 4>(items, src, dst, planes),
                8 => return in_phases::<V, 8, 8>(items, src, dst, planes),
                16 => return in_phases::<V, 16, 16>(items, src, dst, planes),
                _ => {}
            }
        }
    }
    let mut i = 0;
    while i < items {
        // The last tile overlaps the one before.
        i = i.min(items - n);
        let mut next = 0;
        while next < typesize {
            let first = next.min(typesize.saturating_sub(PLANES));
            let width = typesize.min(PLANES);
            // SAFETY: tiles end at or before the last item; the planes fit the tile.
            unsafe {
                let src = src.add(i * typesize + first);
                let readable = (items - i) * typesize - first;
                if width == 1 {
                    plane_to_rows::<V>(src, dst.add(i / 8), row);
                } else {
                    V::call_split(Split { width, stride: typesize, n, src, readable, dst: planes, pitch: n });
                    let mut j = 0;
                    while j < width {
                        plane_to_rows::<V>(planes.add(j * n), dst.add(8 * (first + j) * row + i / 8), row);
                        j += 1;
                    }
                }
            }
            next += PLANES;
        }
        i += n;
    }
}

/// Bit-transposes `items >= PAIR` items of `W` bytes two planes at a time: rows at a multiple of
/// [`SHARED`] crowd the same cache sets, which hold no more than a few unfinished lines.
#[inline(always)]
unsafe fn in_phases<V: Vector, const W: usize, const P: usize>(
    items: usize,
    src: *const u8,
    dst: *mut u8,
    tile: *mut u8,
) {
    let mut from = 0;
    while from < items {
        let until = (from + PHASE / W).min(items);
        let phase = Phase { items, from, until, src, dst, tile };
        // SAFETY: the caller's.
        unsafe {
            phase.pair::<V, W, P, 0>();
            if W > 2 {
                phase.pair::<V, W, P, 2>();
            }
            if W > 4 {
                phase.pair::<V, W, P, 4>();
                phase.pair::<V, W, P, 6>();
            }
            if W > 8 {
                phase.pair::<V, W, P, 8>();
                phase.pair::<V, W, P, 10>();
                phase.pair::<V, W, P, 12>();
                phase.pair::<V, W, P, 14>();
            }
        }
        from = until;
    }
}

/// Items `from .. until` of all.
struct Phase {
    items: usize,
    from: usize,
    until: usize,
    src: *const u8,
    dst: *mut u8,
    tile: *mut u8,
}

impl Phase {
    /// Planes `J` and `J + 1`. The compiler drops the others from the split.
    #[inline(always)]
    unsafe fn pair<V: Vector, const W: usize, const P: usize, const J: usize>(&self) {
        let row = self.items / 8;
        let mut t = self.from;
        while t < self.until {
            t = t.min(self.items - PAIR);
            // SAFETY: the caller's; the tile holds two planes of `PAIR` items.
            unsafe {
                let mut i = 0;
                while i < PAIR {
                    let planes = split_block::<V, W, P, false>(self.src.add((t + i) * W));
                    planes[J % P].store(self.tile.add(i));
                    planes[(J + 1) % P].store(self.tile.add(PAIR + i));
                    i += V::BYTES;
                }
                let rows = self.dst.add(8 * J * row + t / 8);
                let mut j = 0;
                while j < 2 {
                    let mut i = 0;
                    while i < PAIR {
                        plane_to_rows::<V>(self.tile.add(j * PAIR + i), rows.add(8 * j * row + i / 8), row);
                        i += 8 * V::BYTES;
                    }
                    j += 1;
                }
            }
            t += PAIR;
        }
    }
}

/// The inverse of [`bitshuffle`].
///
/// # Safety
/// The CPU; `items * typesize` bytes readable and writable.
#[inline(always)]
pub(in super::super) unsafe fn bitunshuffle<V: Vector>(
    typesize: usize,
    items: usize,
    src: *const u8,
    dst: *mut u8,
) {
    let (n, row) = (8 * V::BYTES, items / 8);
    let mut tile = Tile(MaybeUninit::uninit());
    let base = tile.0.as_mut_ptr().cast::<u8>();
    let planes = Pitched { base, pitch: n };
    let mut i = 0;
    while i < items {
        i = i.min(items - n);
        let mut next = 0;
        while next < typesize {
            let first = next.min(typesize.saturating_sub(PLANES));
            let width = typesize.min(PLANES);
            // SAFETY: as above.
            unsafe {
                let dst = dst.add(i * typesize + first);
                let writable = (items - i) * typesize - first;
                if width == 1 {
                    rows_to_plane::<V>(src.add(i / 8), row, dst);
                } else {
                    let mut j = 0;
                    while j < width {
                        rows_to_plane::<V>(src.add(8 * (first + j) * row + i / 8), row, base.add(j * n));
                        j += 1;
                    }
                    V::call_join(Join { width, stride: typesize, n, planes, dst, writable, stream: false });
                }
            }
            next += PLANES;
        }
        i += n;
    }
}

/// `8 * V::BYTES` bytes of one plane to `V::BYTES` bytes of each of its 8 rows.
#[inline(always)]
unsafe fn plane_to_rows<V: Vector>(plane: *const u8, rows: *mut u8, row: usize) {
    // SAFETY: the caller's.
    unsafe {
        let r = if V::BITS {
            split_block::<V, 8, 8, true>(plane)
        } else {
            swap_register_and_bit(split_block::<V, 8, 8, false>(plane))
        };
        let mut b = 0;
        while b < 8 {
            r[b].store(rows.add(b * row));
            b += 1;
        }
    }
}

/// The inverse of [`plane_to_rows`].
#[inline(always)]
unsafe fn rows_to_plane<V: Vector>(rows: *const u8, row: usize, plane: *mut u8) {
    // SAFETY: the caller's.
    unsafe {
        let mut r = [V::load(rows); 8];
        let mut b = 0;
        while b < 8 {
            // The 8x8 instruction wants its bytes in reverse.
            r[if V::BITS { 7 - b } else { b }] = V::load(rows.add(b * row));
            b += 1;
        }
        if V::BITS {
            join_block::<V, 8, 8, true>(r, plane, false);
        } else {
            join_block::<V, 8, 8, false>(swap_register_and_bit(r), plane, false);
        }
    }
}

/// Bit `b` of register `m` becomes bit `m` of register `b`, in every byte.
#[inline(always)]
unsafe fn swap_register_and_bit<V: Vector>(mut r: [V; 8]) -> [V; 8] {
    // SAFETY: the caller's CPU.
    unsafe {
        let mut m = 0;
        while m < 4 {
            (r[m], r[m + 4]) = V::swap_bits::<4>(r[m], r[m + 4]);
            m += 1;
        }
        let mut m = 0;
        while m < 2 {
            (r[m], r[m + 2]) = V::swap_bits::<2>(r[m], r[m + 2]);
            (r[m + 4], r[m + 6]) = V::swap_bits::<2>(r[m + 4], r[m + 6]);
            m += 1;
        }
        let mut m = 0;
        while m < 8 {
            (r[m], r[m + 1]) = V::swap_bits::<1>(r[m], r[m + 1]);
            m += 2;
        }
    }
    r
}
