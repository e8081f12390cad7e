//! Eight registers of eight units of eight bytes transposed by blends, which more ports take than permutes, and permutes of one
//! register, which are half of those of two or less.
//!
//! ```text
//! register r, unit u   from register c, unit d
//! permute each         r, c ^ r  now holds  r, c           any other order within the register at the same cost
//! blend, three rounds  r, u      now holds  r ^ u, u       that is column r of row r ^ u
//! permute each         r, u      now holds  u, r
//! ```

use super::super::intrinsics::*;
use super::registers::{AHEAD, BLOCK, PHASE, Zmm, load, store_ahead};
use core::ops::Range;

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
    ///
    /// # Safety
    /// The CPU has AVX-512 F, BW, VL and VBMI.
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
                    // SAFETY: by the contract the CPU has these instructions.
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
///
/// # Safety
/// The CPU has AVX-512 F, BW, VL and VBMI.
#[inline(always)]
pub(super) unsafe fn swap_units(z: Zmm, by: usize) -> Zmm {
    // SAFETY: by the contract the CPU has these instructions.
    unsafe {
        let units = _mm512_set_epi64(7, 6, 5, 4, 3, 2, 1, 0);
        _mm512_permutexvar_epi64(_mm512_xor_si512(units, _mm512_set1_epi64(by as i64)), z)
    }
}

/// Indices: byte `b` of unit `u` from byte `u` of unit `b`, each exchanged with the one at the distance `by`.
#[inline(always)]
pub(super) unsafe fn byte_transposition(by: usize) -> Zmm {
    // SAFETY: by the contract the CPU has these instructions.
    unsafe {
        let units = _mm512_set_epi64(7, 6, 5, 4, 3, 2, 1, 0);
        let bytes = _mm512_set1_epi64(0x3830_2820_1810_0800);
        let units = _mm512_or_si512(units, _mm512_slli_epi64::<8>(units));
        let units = _mm512_or_si512(units, _mm512_slli_epi64::<16>(units));
        let units = _mm512_or_si512(units, _mm512_slli_epi64::<32>(units));
        _mm512_xor_si512(_mm512_or_si512(bytes, units), _mm512_set1_epi8(by as i8))
    }
}

/// Items of 17 to this many bytes are split by eights: of wider ones the loads of so few bytes that are of use cost more.
pub(super) const WIDEST: usize = 20;

/// Splits `n >= BLOCK` items of 17 to [`WIDEST`] bytes, 8 planes at a time, whatever shares a cache set.
///
/// # Safety
/// `n * width` bytes at `src` are readable, and for each of `width` planes `j` `n` bytes at `dst + j * pitch` are writable; the
/// CPU has AVX-512 F, BW, VL and VBMI. `n >= BLOCK`.
#[inline(always)]
pub(super) unsafe fn split(width: usize, n: usize, src: *const u8, dst: *mut u8, pitch: usize) {
    let tile = PHASE / width.max(1) / BLOCK * BLOCK;
    let mut first = 0;
    while first < n {
        let items = first..(first + tile).min(n);
        let mut next = 0;
        while next < width {
            let plane = next.min(width - 8);
            let job = Eight { width, plane, from: next - plane };
            // SAFETY: `items` ends at or before `n`, and the eight planes are among the item's: `plane + 8 <= width`.
            unsafe {
                // The items of one load are 64 bytes from the first one's first plane to the last one's last.
                if width <= 18 {
                    job.split::<2>(n, items.clone(), src, dst, pitch);
                } else {
                    job.split::<3>(n, items.clone(), src, dst, pitch);
                }
            }
            next += 8;
        }
        first += tile;
    }
}

/// Eight planes of items.
struct Eight {
    /// Bytes of an item.
    width: usize,
    /// The first of the planes.
    plane: usize,
    /// How many of them are stored already.
    from: usize,
}

impl Eight {
    /// Splits the items `items` of `n`, by `LOADS` loads for every eight of them.
    ///
    /// # Safety
    /// `n * width` bytes at `src` are readable, and for each of `width` planes `j` `n` bytes at `dst + j * pitch` are
    /// writable; the CPU has AVX-512 F, BW, VL and VBMI. `n >= BLOCK`.
    #[inline(always)]
    unsafe fn split<const LOADS: usize>(
        &self,
        n: usize,
        items: Range<usize>,
        src: *const u8,
        dst: *mut u8,
        pitch: usize,
    ) {
        let &Eight { width, plane, from } = self;
        let swap = Swap::new();
        let each = 8usize.div_ceil(LOADS);
        // Bytes of eight items within their loads; and of the last eight, whose loads begin earlier so that they do not
        // reach beyond the block.
        let (mut at, mut last_at, mut starts) = ([0; 8], [0; 8], [0; LOADS]);
        let mut i = 0;
        while i < 8 {
            let begin = (56 + i / each * each) * width + plane;
            let start = begin.min(BLOCK * width - 64);
            starts[i / each] = start;
            at[i] = (i % each * width) as u8;
            last_at[i] = at[i].wrapping_add((begin - start) as u8);
            i += 1;
        }
        // SAFETY: blocks end at or before item `n`, and loads with them; the stores are to planes of the item.
        unsafe {
            let planes = _mm512_set_epi64(7, 6, 5, 4, 3, 2, 1, 0);
            let planes = _mm512_shuffle_epi8(planes, _mm512_set4_epi32(0x0808_0808, 0x0808_0808, 0, 0));
            let mut index = [planes; 8];
            let mut g = 0;
            while g < 8 {
                let at = _mm512_set1_epi64(i64::from_le_bytes(if g < 7 { at } else { last_at }));
                index[g] = _mm512_add_epi8(at, _mm512_xor_si512(planes, _mm512_set1_epi8(g as i8)));
                g += 1;
            }
            let mut next = items.start;
            while next < items.end {
                let i = next.min(n - BLOCK);
                let block = src.add(i * width);
                let mut group = block.wrapping_add(plane);
                let mut r = index;
                let mut g = 0;
                while g < 8 {
                    let mut part = 0;
                    while part < LOADS {
                        let bytes = load(if g < 7 { group } else { block.add(starts[part]) });
                        // The load's items, and those of the loads after it.
                        let mask = (0xff_u64 << (part * each) & 0xff) * 0x0101_0101_0101_0101;
                        r[g] = _mm512_mask_permutexvar_epi8(r[g], mask, index[g], bytes);
                        group = group.wrapping_add(each.min(8 - part * each) * width);
                        part += 1;
                    }
                    g += 1;
                }
                let r = swap.units(r);
                let mut to = dst.wrapping_add(i + (plane + from) * pitch);
                let mut j = 0;
                while j < 8 {
                    if j >= from {
                        store_ahead::<AHEAD>(to, swap_units(r[j], j));
                        to = to.wrapping_add(pitch);
                    }
                    j += 1;
                }
                next += BLOCK;
            }
        }
    }
}
