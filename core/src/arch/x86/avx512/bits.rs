//! Bit transposition by `gf2p8affineqb`.
//!
//! ```text
//! for each tile of items: split it into planes on the stack, every 8 items in reverse (typesize 1: the items are the plane)
//!     for each plane, 512 items at a time, in 8 registers
//!         every 8 bytes: transpose their 8x8 bits           the instruction takes the 8 bytes in reverse
//!         transpose the 8x8 bytes of every register         `byte_transposition`
//!         transpose the 8x8 units of 8 bytes                `Swap`: register b is now a line of the plane's row b
//! ```
//! The inverse goes the same way backwards.
//!
//! - Units are exchanged between registers by blends, which more ports execute than permutes of two registers, and within a
//!   register by a permute of one, of which half as many are needed (commit 45a9e7b0, Granite Rapids, `kernel_speed`).
//! - Long buffers take tiles of 1024 to 4096 items, so that 2 to 8 lines of one row are written one after the other: rows of
//!   blocks often share a set of the L1 cache, and a line that leaves it half written comes back (commit 63ee80e8, Zen 4).

use super::super::avx2;
use super::super::intrinsics::*;
use super::bytes::{join_pitched, split_planes};
use super::registers::{BLOCK, SPLIT_REVERSE, TileBuffer, Zmm, load, store, store_ahead};
use crate::arch::out::Out;
use crate::arch::planes::Stores;
use crate::arch::vector::{AMPLE, LONG, Pitched, crowded};
use core::mem::MaybeUninit;

/// Items of a tile: a line of each row.
const TILE: usize = 512;

/// Widest item whose bits are transposed here.
const WIDEST_BITS: usize = 16;

/// Most items of a long tile: eight lines of each row.
const MOST: usize = 8 * TILE;

/// Bytes of a [`TileBuffer`] for one tile: what short buffers take of the stack.
const LITTLE: usize = WIDEST_BITS * (TILE + 64);

/// What blends go by.
#[derive(Clone, Copy)]
pub(super) struct Swap([__mmask8; 3]);

impl Swap {
    #[inline(always)]
    pub(super) fn new() -> Swap {
        #[cfg_attr(miri, allow(unused_mut))]
        let mut masks = 0x00f0_ccaa_u32;
        // SAFETY: no instruction at all. Blends whose masks it knew the compiler would merge with the permutes around them, to
        // permutes of two registers.
        #[cfg(not(miri))]
        unsafe {
            core::arch::asm!("/* {0:e} */", inout(reg) masks, options(pure, nomem, nostack, preserves_flags));
        }
        Swap([masks as u8, (masks >> 8) as u8, (masks >> 16) as u8])
    }

    /// Unit `u` of register `r` from register `r ^ u`.
    #[inline(always)]
    pub(super) unsafe fn units(self, mut r: [Zmm; 8]) -> [Zmm; 8] {
        let mut round = 3;
        while round > 0 {
            round -= 1;
            let mask = self.0[round];
            let mut i = 0;
            while i < 8 {
                let k = i ^ (1 << round);
                if i < k {
                    // SAFETY: registers alone, of a CPU with AVX-512, as the row of the table proves.
                    (r[i], r[k]) = unsafe {
                        (_mm512_mask_blend_epi64(mask, r[i], r[k]), _mm512_mask_blend_epi64(mask, r[k], r[i]))
                    };
                }
                i += 1;
            }
        }
        r
    }
}

/// Unit `u` from unit `u ^ by`.
#[inline(always)]
pub(super) unsafe fn swap_units(z: Zmm, by: usize) -> Zmm {
    // SAFETY: registers alone, of a CPU with AVX-512, as the row of the table proves.
    unsafe {
        let units = _mm512_set_epi64(7, 6, 5, 4, 3, 2, 1, 0);
        _mm512_permutexvar_epi64(_mm512_xor_si512(units, _mm512_set1_epi64(by as i64)), z)
    }
}

/// Indices: byte `b` of unit `u` from byte `u` of unit `b`, each exchanged with the one at the distance `by`.
#[inline(always)]
pub(super) unsafe fn byte_transposition(by: usize) -> Zmm {
    // SAFETY: registers alone, of a CPU with AVX-512, as the row of the table proves.
    unsafe {
        let units = _mm512_set_epi64(7, 6, 5, 4, 3, 2, 1, 0);
        let bytes = _mm512_set1_epi64(0x3830_2820_1810_0800);
        let units = _mm512_or_si512(units, _mm512_slli_epi64::<8>(units));
        let units = _mm512_or_si512(units, _mm512_slli_epi64::<16>(units));
        let units = _mm512_or_si512(units, _mm512_slli_epi64::<32>(units));
        _mm512_xor_si512(_mm512_or_si512(bytes, units), _mm512_set1_epi8(by as i8))
    }
}

/// Byte `k` of every 8 becomes their bits `k`, the last byte's first.
#[inline(always)]
unsafe fn bits_8x8(z: Zmm) -> Zmm {
    // SAFETY: registers alone, of a CPU with GFNI and AVX-512, as the row of the table proves.
    unsafe { _mm512_gf2p8affine_epi64_epi8::<0>(_mm512_set1_epi64(0x8040_2010_0804_0201_u64 as i64), z) }
}

/// One plane of a tile to a line of each of its 8 rows. Every 8 bytes are in reverse, or will be.
#[inline(always)]
unsafe fn plane_to_rows<const REVERSE: bool>(plane: *const u8, rows: *mut u8, row: usize, swap: Swap) {
    // SAFETY: by the contract a tile is readable at `plane`, and a line writable at each of 8 rows.
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
#[inline(always)]
unsafe fn rows_to_plane(rows: *const u8, row: usize, plane: *mut u8, swap: Swap) {
    // SAFETY: by the contract a line is readable at each of 8 rows, and a tile writable at `plane`.
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

/// Items of a tile of which `room` bytes hold the planes.
fn long_tile(room: usize, typesize: usize) -> usize {
    (room / typesize.max(1) - 64).min(MOST) / TILE * TILE
}

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

#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,gfni")]
unsafe fn bitunshuffle_tiles<const ROOM: usize>(typesize: usize, items: usize, src: *const u8, dst: *mut u8) {
    let (row, swap) = (items / 8, Swap::new());
    let mut room = TileBuffer::<ROOM>(MaybeUninit::uninit());
    let base = room.0.as_mut_ptr().cast::<u8>();
    let long = long_tile(ROOM, typesize);
    let mut i = 0;
    // SAFETY: tiles end at or before the last item, the last one overlapping the one before; `long_tile` leaves the
    // planes their room.
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
pub(in crate::arch) unsafe fn bitshuffle(typesize: usize, src: &[u8], mut out: Out<'_>) {
    let items = src.len().checked_div(typesize).unwrap_or(0);
    // SAFETY: the row states the lengths and proves the CPU; there is at least a tile of items, or another row is
    // called.
    unsafe {
        if items < TILE || typesize > WIDEST_BITS {
            return avx2::gfni::bitshuffle(typesize, src, out);
        }
        let ample = src.len() >= LONG && typesize > 1;
        let kernel = if ample { bitshuffle_tiles::<AMPLE> } else { bitshuffle_tiles::<LITTLE> };
        kernel(typesize, items, src.as_ptr(), out.as_mut_ptr());
    }
}

/// Row of the kernel table.
pub(in crate::arch) unsafe fn bitunshuffle(typesize: usize, src: &[u8], mut out: Out<'_>, stores: Stores) {
    let items = src.len().checked_div(typesize).unwrap_or(0);
    // SAFETY: the row states the lengths and proves the CPU; there is at least a tile of items, or another row is
    // called.
    unsafe {
        if items < TILE || typesize > WIDEST_BITS {
            return avx2::gfni::bitunshuffle(typesize, src, out, stores);
        }
        let ample = src.len() >= LONG && crowded(typesize, items / 8, 7);
        let kernel = if ample { bitunshuffle_tiles::<AMPLE> } else { bitunshuffle_tiles::<LITTLE> };
        kernel(typesize, items, src.as_ptr(), out.as_mut_ptr());
    }
}
