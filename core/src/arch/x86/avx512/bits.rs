//! Bit transposition: tiles of 512 items, 8 lines of each plane; every 8 bytes transposed by `gf2p8affineqb`, then split as
//! items of 8 bytes. The instruction wants those 8 bytes in reverse; the permutes see to it.

use super::super::avx2;
use super::super::intrinsics::*;
use super::bytes::{join_pitched, split_planes, store_planes};
use super::eights::{Swap, byte_transposition, swap_units};
use super::registers::{BLOCK, INDICES, SPLIT_REVERSE, TileBuffer, WIDEST, Zmm, load, store, store_ahead};
use crate::arch::level::detect::executes_512_in_halves;
use crate::arch::out::Out;
use crate::arch::planes::Stores;
use crate::arch::vector::{AMPLE, LONG, Pitched, half_empty};
use core::mem::MaybeUninit;
use core::ops::Range;

/// Items of a tile: a line of each row.
const TILE: usize = 512;

/// Widest item whose bits are transposed here.
const WIDEST_BITS: usize = 16;

/// Most items whose rows are read or written together, eight lines of each. Of rows that crowd a cache set some lines are
/// always on their way; only if these belong to several sets do they not evict each other.
const LINES: usize = 8 * TILE;

/// TileBuffer for a tile, the stack that short buffers take.
const LITTLE: usize = WIDEST_BITS * (TILE + 64);

/// Whether more than `ways` of the rows of items of `width` bytes share a set of a cache whose ways are pages: as where a row
/// is a page, and in blocks of a power of two also where the items have 6 or 12 bytes.
fn crowded(width: usize, row: usize, ways: usize) -> bool {
    let near = |r: usize| row.wrapping_mul(r).wrapping_add(64) % 4096 <= 2 * 64;
    (0..8 * width.min(WIDEST_BITS)).filter(|&r| near(r)).count() > ways
}

/// Byte `k` of every 8 becomes their bits `k`, the last byte's first.
///
/// # Safety
/// The CPU has AVX-512 F and GFNI.
#[inline(always)]
unsafe fn bits_8x8(z: Zmm) -> Zmm {
    // SAFETY: by the contract the CPU has these instructions.
    unsafe { _mm512_gf2p8affine_epi64_epi8::<0>(_mm512_set1_epi64(0x8040_2010_0804_0201_u64 as i64), z) }
}

/// One plane of a tile to a line of each of its 8 rows. Every 8 bytes are in reverse, or will be.
#[inline(always)]
unsafe fn plane_to_rows<const REVERSE: bool>(plane: *const u8, rows: *mut u8, row: usize, swap: Swap) {
    // SAFETY: by the contract 512 bytes of the plane and a line of each row are there.
    unsafe {
        let backwards = _mm512_set4_epi32(0x08090a0b, 0x0c0d0e0f, 0x00010203, 0x04050607);
        let mut r = [backwards; 8];
        let mut g = 0;
        while g < 8 {
            r[g] = load(plane.add(64 * g));
            if REVERSE {
                r[g] = _mm512_shuffle_epi8(r[g], backwards);
            }
            r[g] = _mm512_permutexvar_epi8(byte_transposition(g), bits_8x8(r[g]));
            g += 1;
        }
        let r = swap.units(r);
        let mut to = rows;
        let mut b = 0;
        while b < 8 {
            store_ahead::<{ 2 * BLOCK - 1 }>(to, swap_units(r[b], b));
            to = to.wrapping_add(row);
            b += 1;
        }
    }
}

/// The inverse of [`plane_to_rows`].
///
/// # Safety
/// A line at each of 8 rows, `row` bytes apart from `rows` on, is readable, and 512 bytes at `plane` are writable; the CPU
/// has AVX-512 F, BW, VL, VBMI and GFNI.
#[inline(always)]
unsafe fn rows_to_plane(rows: *const u8, row: usize, plane: *mut u8, swap: Swap) {
    // SAFETY: by the contract a line of each row and 512 bytes of the plane are there.
    unsafe {
        let mut r = [load(rows); 8];
        let mut from = rows;
        let mut b = 0;
        while b < 8 {
            // In reverse, as the bit transposition wants it.
            r[7 - b] = swap_units(load(from), 7 - b);
            from = from.wrapping_add(row);
            b += 1;
        }
        let r = swap.units(r);
        let mut g = 0;
        while g < 8 {
            store(plane.add(64 * g), bits_8x8(_mm512_permutexvar_epi8(byte_transposition(8 * g), r[g])));
            g += 1;
        }
    }
}

/// Bit-transposes `items >= LINES` items of `width` bytes, `COUNT` planes at a time, their rows by `SPAN / 512` lines at once.
/// The planes of `OUTER` items are worked out, in halves of `R`, before those of the next.
///
/// # Safety
/// As for [`bitshuffle_tiles`], with `items >= SPAN`; `room` has `COUNT` planes of `SPAN + 64` bytes, and `2 * R >= width >=
/// R`.
#[inline(always)]
unsafe fn bitshuffle_in_phases<const R: usize, const COUNT: usize, const SPAN: usize, const OUTER: usize>(
    width: usize,
    items: usize,
    src: *const u8,
    dst: *mut u8,
    room: *mut u8,
) {
    // SAFETY: the buffers and the CPU are those of the contract, and `span` ends at or before item `items`.
    unsafe {
        let (index, swap) = (INDICES[width.min(WIDEST)][SPLIT_REVERSE].load(), Swap::new());
        let mut first = 0;
        while first < items {
            let job =
                BitPhase { width, items, span: first..(first + OUTER).min(items), src, dst, room, swap };
            job.half::<R, COUNT, SPAN>(0, index[0]);
            job.half::<R, COUNT, SPAN>(1, index[1]);
            first += OUTER;
        }
    }
}

/// The items `span` of all.
struct BitPhase {
    width: usize,
    items: usize,
    span: Range<usize>,
    src: *const u8,
    dst: *mut u8,
    room: *mut u8,
    swap: Swap,
}

impl BitPhase {
    /// The first or last `R` planes, `COUNT` or twice as many; those of both halves are left to the first.
    ///
    /// # Safety
    /// The fields are what [`bitshuffle_in_phases`] asks for; `index` is that of the half.
    #[inline(always)]
    unsafe fn half<const R: usize, const COUNT: usize, const SPAN: usize>(&self, half: usize, index: Zmm) {
        let (plane, from) = (half * (self.width - R), half * (2 * R - self.width));
        // SAFETY: the conditions are those of `turn`; `range` names planes of this half, `COUNT` of each turn.
        unsafe {
            if from < COUNT {
                self.turn::<R, COUNT, SPAN, 0>(plane, index, from..COUNT);
            }
            if R > COUNT {
                self.turn::<R, COUNT, SPAN, 1>(plane, index, from.max(COUNT)..R);
            }
        }
    }

    /// The planes `range` of a half, which begins with plane `plane`; see [`store_planes`].
    ///
    /// # Safety
    /// The fields are what [`bitshuffle_in_phases`] asks for; `range` lies within `COUNT * TURN..COUNT * (TURN + 1)`.
    #[inline(always)]
    unsafe fn turn<const R: usize, const COUNT: usize, const SPAN: usize, const TURN: usize>(
        &self,
        plane: usize,
        index: Zmm,
        range: Range<usize>,
    ) {
        let &BitPhase { width, items, ref span, src, dst, room, swap } = self;
        let row = items / 8;
        let mut t = span.start;
        while t < span.end {
            t = t.min(items - SPAN);
            // SAFETY: ends at or before the last item, overlapping what was before; the planes have room.
            unsafe {
                let mut i = 0;
                while i < SPAN {
                    let planes = room.wrapping_add(i).wrapping_sub(COUNT * TURN * (SPAN + 64));
                    store_planes::<R, COUNT, TURN>(
                        width,
                        src.add((t + i) * width),
                        planes,
                        SPAN + 64,
                        index,
                        range.clone(),
                    );
                    i += BLOCK;
                }
                for j in range.clone() {
                    let rows = dst.add(8 * (plane + j) * row + t / 8);
                    let mut k = 0;
                    while k < SPAN {
                        plane_to_rows::<false>(
                            room.add((j - COUNT * TURN) * (SPAN + 64) + k),
                            rows.add(k / 8),
                            row,
                            swap,
                        );
                        k += TILE;
                    }
                }
            }
            t += SPAN;
        }
    }
}

/// # Safety
/// As for [`bitshuffle_tiles`], with `items >= LINES`.
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,gfni")]
unsafe fn bitshuffle_crowded(typesize: usize, items: usize, src: *const u8, dst: *mut u8) {
    let mut room = TileBuffer::<{ 2 * (LINES + 64) }>(MaybeUninit::uninit());
    let room = room.0.as_mut_ptr().cast::<u8>();
    // SAFETY: the conditions are those of this function; two planes of `LINES` items, or four of half as many, have room.
    unsafe {
        match typesize {
            2 => bitshuffle_in_phases::<1, 1, { LINES / 2 }, LINES>(typesize, items, src, dst, room),
            3 | 4 => bitshuffle_in_phases::<2, 2, LINES, LINES>(typesize, items, src, dst, room),
            5..=8 => bitshuffle_in_phases::<4, 2, LINES, LINES>(typesize, items, src, dst, room),
            _ => bitshuffle_in_phases::<8, 4, { LINES / 2 }, { LINES / 2 }>(typesize, items, src, dst, room),
        }
    }
}

/// [`bitshuffle_crowded`] for items of 8 bytes and more, a half of the planes at a time: nothing is worked out twice.
///
/// # Safety
/// As for [`bitshuffle_tiles`], with `items >= LINES` and `typesize >= 8`.
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,gfni")]
unsafe fn bitshuffle_by_halves(typesize: usize, items: usize, src: *const u8, dst: *mut u8) {
    let mut room = TileBuffer::<AMPLE>(MaybeUninit::uninit());
    let room = room.0.as_mut_ptr().cast::<u8>();
    // SAFETY: the conditions are those of this function; four planes of `LINES` items, or eight of half as many, have room.
    unsafe {
        if typesize == 8 {
            bitshuffle_in_phases::<4, 4, LINES, LINES>(typesize, items, src, dst, room);
        } else {
            bitshuffle_in_phases::<8, 8, { LINES / 2 }, { LINES / 2 }>(typesize, items, src, dst, room);
        }
    }
}

/// Items of a tile of which `room` bytes hold the planes.
fn long_tile(room: usize, typesize: usize) -> usize {
    (room / typesize.max(1) - 64).min(LINES) / TILE * TILE
}

/// # Safety
/// `items * typesize` bytes are readable at `src` and writable at `dst`; `items` is a multiple of 8, and at least `TILE`; the
/// CPU has AVX-512 F, BW, VL, VBMI and GFNI.
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,gfni")]
unsafe fn bitshuffle_tiles<const ROOM: usize>(typesize: usize, items: usize, src: *const u8, dst: *mut u8) {
    let (row, swap) = (items / 8, Swap::new());
    let mut room = TileBuffer::<ROOM>(MaybeUninit::uninit());
    let planes = room.0.as_mut_ptr().cast::<u8>();
    let long = if ROOM > LITTLE { long_tile(ROOM, typesize) } else { TILE };
    let mut i = 0;
    // SAFETY: tiles end at or before the last item, the last one overlapping the one before; the planes have room.
    unsafe {
        while i < items {
            let tile = if typesize > 1 && items - i >= long { long } else { TILE };
            let pitch = if ROOM > LITTLE { tile + 64 } else { TILE };
            i = i.min(items - tile);
            let from = src.add(i * typesize);
            if typesize == 1 {
                plane_to_rows::<true>(from, dst.add(i / 8), row, swap);
            } else {
                split_planes(typesize, tile, from, planes, pitch, SPLIT_REVERSE);
                let mut j = 0;
                while j < typesize {
                    let (plane, rows) = (planes.add(j * pitch), dst.add(8 * j * row + i / 8));
                    let mut k = 0;
                    while k < tile {
                        plane_to_rows::<false>(plane.add(k), rows.add(k / 8), row, swap);
                        k += TILE;
                    }
                    j += 1;
                }
            }
            i += tile;
        }
    }
}

/// # Safety
/// `items * typesize` bytes are readable at `src` and writable at `dst`; `items` is a multiple of 8, and at least `TILE`; the
/// CPU has AVX-512 F, BW, VL, VBMI and GFNI.
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,gfni")]
unsafe fn bitunshuffle_tiles<const ROOM: usize>(typesize: usize, items: usize, src: *const u8, dst: *mut u8) {
    let (row, swap) = (items / 8, Swap::new());
    let mut room = TileBuffer::<ROOM>(MaybeUninit::uninit());
    let base = room.0.as_mut_ptr().cast::<u8>();
    let long = long_tile(ROOM, typesize);
    let mut i = 0;
    // SAFETY: by the contract of `bitunshuffle_items` both buffers hold `items` items and the CPU has the instructions; `pitch`
    // and `tile` are chosen so that `room` holds the planes of a tile.
    unsafe {
        while i < items {
            let tile = if typesize > 1 && items - i >= long { long } else { TILE };
            let pitch = tile + 64;
            i = i.min(items - tile);
            let to = dst.add(i * typesize);
            if typesize == 1 {
                rows_to_plane(src.add(i / 8), row, to, swap);
            } else {
                let mut j = 0;
                while j < typesize {
                    let mut k = 0;
                    while k < tile {
                        rows_to_plane(src.add(8 * j * row + (i + k) / 8), row, base.add(j * pitch + k), swap);
                        k += TILE;
                    }
                    j += 1;
                }
                join_pitched(typesize, tile, Pitched { base, pitch }, to, false);
            }
            i += tile;
        }
    }
}

/// Row of the kernel table.
///
/// # Safety
/// The CPU is one of the level that has this row, and `out` is as long as `src`, whole items in multiples of 8.
pub(in crate::arch) unsafe fn bitshuffle(typesize: usize, src: &[u8], mut out: Out<'_>) {
    let items = src.len().checked_div(typesize).unwrap_or(0);
    // SAFETY: the buffers are as long as the contract says, and at least a tile of items is left to AVX-512.
    unsafe {
        if items < TILE || half_empty(items) || typesize > WIDEST_BITS {
            return avx2::gfni::bitshuffle(typesize, src, out);
        }
        let long = src.len() >= LONG && typesize > 1;
        let phases = long && items >= LINES && crowded(typesize, items / 8, 8);
        let kernel = if phases && !executes_512_in_halves() {
            bitshuffle_crowded
        } else if phases && typesize >= 8 {
            bitshuffle_by_halves
        } else if long && executes_512_in_halves() {
            bitshuffle_tiles::<AMPLE>
        } else {
            bitshuffle_tiles::<LITTLE>
        };
        kernel(typesize, items, src.as_ptr(), out.as_mut_ptr());
    }
}

/// Row of the kernel table.
///
/// # Safety
/// The CPU is one of the level that has this row, and `out` is as long as `src`, whole items in multiples of 8.
pub(in crate::arch) unsafe fn bitunshuffle(typesize: usize, src: &[u8], mut out: Out<'_>, stores: Stores) {
    let items = src.len().checked_div(typesize).unwrap_or(0);
    // SAFETY: the buffers are as long as the contract says, and at least a tile of items is left to AVX-512.
    unsafe {
        if items < TILE || half_empty(items) || typesize > WIDEST_BITS {
            return avx2::gfni::bitunshuffle(typesize, src, out, stores);
        }
        let ample = src.len() >= LONG && crowded(typesize, items / 8, 7);
        let kernel = if ample { bitunshuffle_tiles::<AMPLE> } else { bitunshuffle_tiles::<LITTLE> };
        kernel(typesize, items, src.as_ptr(), out.as_mut_ptr());
    }
}

#[cfg(test)]
type Kernel = unsafe fn(usize, usize, *const u8, *mut u8);

/// Kernels of which CPUs choose one, and from which width to which each is for.
#[cfg(test)]
pub(super) const VARIANTS: [(Kernel, usize, usize); 4] = [
    (bitshuffle_crowded, 2, WIDEST_BITS),
    (bitshuffle_by_halves, 8, WIDEST_BITS),
    (bitshuffle_tiles::<AMPLE>, 2, WIDEST_BITS),
    (bitshuffle_tiles::<LITTLE>, 2, WIDEST_BITS),
];
