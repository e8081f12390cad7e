//! Items whose planes crowd a cache set: planes are put where they do not first.

use super::super::intrinsics::*;
use super::bytes::{join_pitched, split_planes};
use super::registers::{BLOCK, SPLIT, TileBuffer, WIDEST, Zmm, load, store};
use crate::arch::vector::{AMPLE, Pitched};
use core::mem::MaybeUninit;

/// Items whose planes are staged, eight lines of each.
const STAGED: usize = 512;

/// Fewest items for which that is worth it.
pub(super) const MANY: usize = 8 * STAGED;

/// Splits `n >= MANY` items of up to 32 bytes whose planes crowd a cache set. They are put where they do not first, and
/// from there several lines of one plane after the other to where they belong: lines in a row are fetched ahead.
///
/// # Safety
/// `n * width` bytes at `src` are readable, and for each of `width` planes `j` `n` bytes at `dst + j * pitch` are writable; the
/// CPU has AVX-512 F, BW, VL and VBMI. `n >= STAGED`.
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi")]
pub(super) unsafe fn split_crowded(width: usize, n: usize, src: *const u8, dst: *mut u8, pitch: usize) {
    const APART: usize = STAGED + 64;
    let mut room = TileBuffer::<{ WIDEST * APART }>(MaybeUninit::uninit());
    let stage = room.0.as_mut_ptr().cast::<u8>();
    let mut i = 0;
    // SAFETY: tiles end at or before item `n`, the last one overlapping the one before; a tile's planes have room.
    unsafe {
        while i < n {
            i = i.min(n - STAGED);
            split_planes(width, STAGED, src.add(i * width), stage, APART, SPLIT);
            let (mut from, mut to) = (stage.cast_const(), dst.add(i));
            for _ in 0..width {
                let mut lines: [Zmm; STAGED / BLOCK] = [_mm512_setzero_si512(); STAGED / BLOCK];
                let mut k = 0;
                while k < lines.len() {
                    lines[k] = load(from.add(k * BLOCK));
                    k += 1;
                }
                k = 0;
                while k < lines.len() {
                    store(to.add(k * BLOCK), lines[k]);
                    k += 1;
                }
                from = from.wrapping_add(APART);
                to = to.wrapping_add(pitch);
            }
            i += STAGED;
        }
    }
}

/// Joins items of 17 to 32 bytes, [`LONG`] bytes of them or more, whose planes crowd a cache set: several lines of each are put
/// where they do not first.
///
/// # Safety
/// `width` planes of `n` bytes are readable, and `n * width` bytes at `dst` writable; the CPU has AVX-512 F, BW, VL and VBMI.
/// `n * width >= LONG`.
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi")]
pub(super) unsafe fn join_crowded(width: usize, n: usize, planes: Pitched, dst: *mut u8) {
    let mut room = TileBuffer::<AMPLE>(MaybeUninit::uninit());
    let base = room.0.as_mut_ptr().cast::<u8>();
    // In pairs of lines: of single ones the compiler makes a call of the library's copy.
    let tile = (AMPLE / width.max(1) - 64) / (2 * BLOCK) * (2 * BLOCK);
    let pitch = tile + 64;
    let mut i = 0;
    // SAFETY: tiles end at or before the last item, the last one overlapping the one before; they have room.
    unsafe {
        while i < n {
            i = i.min(n - tile);
            let (mut from, mut to) = (planes.base.add(i), base);
            let mut j = 0;
            while j < width {
                let mut k = 0;
                while k < tile {
                    let (a, b) = (load(from.add(k)), load(from.add(k + BLOCK)));
                    store(to.add(k), a);
                    store(to.add(k + BLOCK), b);
                    k += 2 * BLOCK;
                }
                from = from.wrapping_add(planes.pitch);
                to = to.wrapping_add(pitch);
                j += 1;
            }
            join_pitched(width, tile, Pitched { base, pitch }, dst.add(i * width), false);
            i += tile;
        }
    }
}
