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
use super::Zmm;

/// What blends go by.
#[derive(Clone, Copy)]
pub(super) struct Swap([__mmask8; 3]);

impl Swap {
    #[inline(always)]
    pub(super) fn new() -> Swap {
        let mut masks = 0x00f0_ccaa_u32;
        // SAFETY: no instruction at all. Blends whose masks it knew the compiler would merge with the permutes around them, to
        // permutes of two registers.
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
                    // SAFETY: the caller's CPU.
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
    // SAFETY: the caller's CPU.
    unsafe {
        let units = _mm512_set_epi64(7, 6, 5, 4, 3, 2, 1, 0);
        _mm512_permutexvar_epi64(_mm512_xor_si512(units, _mm512_set1_epi64(by as i64)), z)
    }
}

/// Indices: byte `b` of unit `u` from byte `u` of unit `b`, each exchanged with the one at the distance `by`.
#[inline(always)]
pub(super) unsafe fn deal(by: usize) -> Zmm {
    // SAFETY: the caller's CPU.
    unsafe {
        let units = _mm512_set_epi64(7, 6, 5, 4, 3, 2, 1, 0);
        let bytes = _mm512_set1_epi64(0x3830_2820_1810_0800);
        let units = _mm512_or_si512(units, _mm512_slli_epi64::<8>(units));
        let units = _mm512_or_si512(units, _mm512_slli_epi64::<16>(units));
        let units = _mm512_or_si512(units, _mm512_slli_epi64::<32>(units));
        _mm512_xor_si512(_mm512_or_si512(bytes, units), _mm512_set1_epi8(by as i8))
    }
}
