//! AVX2: registers of two lanes, byte table; with GFNI also an 8x8 bit matrix transposition.

use super::intrinsics::*;
use super::sse2::ssse3;
use super::store_halves;
use crate::arch::level::detect::executes_512_in_halves;
use crate::arch::out::Out;
use crate::arch::planes::{Planes, Stores};
use crate::arch::vector::{self, Each, Join, Pitched, Split, Table, Vector};

/// A 32-byte register, of a CPU with or without GFNI.
#[derive(Clone, Copy)]
pub(super) struct Ymm<const GFNI: bool>(__m256i);

/// `v`, for byte shuffles that the compiler must not merge with the interleaves before or after: of two byte shuffles and the
/// two interleaves of their results it would make four byte shuffles and two blends.
///
/// # Safety
/// The CPU.
#[inline]
#[target_feature(enable = "avx2")]
#[cfg_attr(miri, allow(unused_mut))]
unsafe fn alone(mut v: __m256i) -> __m256i {
    // SAFETY: no instruction at all.
    #[cfg(not(miri))]
    unsafe {
        core::arch::asm!("/* {0} */", inout(ymm_reg) v, options(pure, nomem, nostack, preserves_flags));
    }
    v
}

impl<const GFNI: bool> Ymm<GFNI> {
    #[inline(always)]
    unsafe fn lane(self, l: usize) -> __m128i {
        // SAFETY: condition of the trait: the CPU has the instruction.
        unsafe { if l == 0 { _mm256_castsi256_si128(self.0) } else { _mm256_extracti128_si256::<1>(self.0) } }
    }
}

impl<const GFNI: bool> Vector for Ymm<GFNI> {
    const LANES: usize = 2;
    const BLOCK: usize = 64;
    const TABLE: bool = true;
    const BITS: bool = GFNI;

    #[inline(always)]
    unsafe fn load(p: *const u8) -> Self {
        // SAFETY: conditions of the trait: these bytes may be read or written, and the CPU has the instruction.
        unsafe { Ymm(_mm256_loadu_si256(p.cast())) }
    }
    #[inline(always)]
    unsafe fn store(self, p: *mut u8) {
        // SAFETY: conditions of the trait: these bytes may be read or written, and the CPU has the instruction.
        unsafe { _mm256_storeu_si256(p.cast(), self.0) }
    }
    // Miri has no stores past the cache: the ordinary ones of the trait serve there.
    #[cfg(not(miri))]
    #[inline(always)]
    unsafe fn stream(self, p: *mut u8) {
        // SAFETY: conditions of the trait: these bytes may be read or written, and the CPU has the instruction.
        unsafe { _mm256_stream_si256(p.cast(), self.0) }
    }
    #[cfg(not(miri))]
    #[inline(always)]
    unsafe fn fence() {
        // SAFETY: every CPU with these registers has the instruction.
        unsafe { _mm_sfence() }
    }
    // AMD CPUs with units of 256 bits fetch rows by themselves: the hints cost them a seventh.
    #[inline(always)]
    fn wants_prefetch() -> bool {
        !executes_512_in_halves()
    }
    #[inline(always)]
    unsafe fn prefetch(p: *const u8) {
        // SAFETY: SSE; nothing is too far for a hint.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(p.cast()) }
    }
    #[inline(always)]
    unsafe fn load_lanes(p: *const u8, stride: usize) -> Self {
        // SAFETY: conditions of the trait: these bytes may be read or written, and the CPU has the instruction.
        unsafe {
            let low = _mm256_castsi128_si256(_mm_loadu_si128(p.cast()));
            Ymm(_mm256_inserti128_si256::<1>(low, _mm_loadu_si128(p.add(stride).cast())))
        }
    }
    #[inline(always)]
    unsafe fn store_lane(self, l: usize, p: *mut u8) {
        // SAFETY: conditions of the trait: these bytes may be read or written, and the CPU has the instruction.
        unsafe { _mm_storeu_si128(p.cast(), self.lane(l)) }
    }
    #[inline(always)]
    unsafe fn store_halves(self, l: usize, p: *mut u8, q: *mut u8) {
        // SAFETY: conditions of the trait: 8 bytes may be written at each, and the CPU has AVX2, which includes SSE2.
        unsafe { store_halves(self.lane(l), p, q) }
    }
    #[inline(always)]
    unsafe fn pair_lanes(a: Self, b: Self) -> (Self, Self) {
        // SAFETY: condition of the trait: the CPU has the instruction.
        unsafe {
            (
                Ymm(_mm256_permute2x128_si256::<0x20>(a.0, b.0)),
                Ymm(_mm256_permute2x128_si256::<0x31>(a.0, b.0)),
            )
        }
    }
    #[inline(always)]
    unsafe fn zip<const UNIT: usize>(a: Self, b: Self) -> (Self, Self) {
        let (a, b) = (a.0, b.0);
        // SAFETY: condition of the trait: the CPU has the instruction.
        let (low, high) = unsafe {
            match UNIT {
                1 => (_mm256_unpacklo_epi8(a, b), _mm256_unpackhi_epi8(a, b)),
                2 => (_mm256_unpacklo_epi16(a, b), _mm256_unpackhi_epi16(a, b)),
                4 => (_mm256_unpacklo_epi32(a, b), _mm256_unpackhi_epi32(a, b)),
                _ => (_mm256_unpacklo_epi64(a, b), _mm256_unpackhi_epi64(a, b)),
            }
        };
        (Ymm(low), Ymm(high))
    }
    #[inline(always)]
    unsafe fn table(self, table: &'static [u8; 16]) -> Self {
        // SAFETY: condition of the trait: the CPU has the instruction. The table is 16 bytes.
        unsafe {
            let table = _mm256_broadcastsi128_si256(_mm_loadu_si128(table.as_ptr().cast()));
            Ymm(alone(_mm256_shuffle_epi8(alone(self.0), table)))
        }
    }
    #[inline(always)]
    unsafe fn swap_bits<const SHIFT: i32>(a: Self, b: Self) -> (Self, Self) {
        // SAFETY: condition of the trait: the CPU has the instruction.
        unsafe {
            let low = _mm256_set1_epi8((0xff / ((1 << SHIFT) + 1)) as u8 as i8);
            let differ = _mm256_and_si256(_mm256_xor_si256(_mm256_srli_epi16::<SHIFT>(a.0), b.0), low);
            let moved = _mm256_slli_epi16::<SHIFT>(differ);
            (Ymm(_mm256_xor_si256(a.0, moved)), Ymm(_mm256_xor_si256(b.0, differ)))
        }
    }
    #[inline(always)]
    unsafe fn bits_8x8(self) -> Self {
        // SAFETY: called with GFNI only. Byte k of the result has, as bit i, bit k of byte 7 - i.
        unsafe {
            Ymm(_mm256_gf2p8affine_epi64_epi8::<0>(
                _mm256_set1_epi64x(0x8040_2010_0804_0201_u64 as i64),
                self.0,
            ))
        }
    }
    #[inline(always)]
    unsafe fn reverse_bits(self) -> Self {
        // SAFETY: called with GFNI only.
        unsafe {
            Ymm(_mm256_gf2p8affine_epi64_epi8::<0>(
                self.0,
                _mm256_set1_epi64x(0x8040_2010_0804_0201_u64 as i64),
            ))
        }
    }
    vector::calls!();
}

vector::rows!(bytes Ymm<false>, "avx2", ssse3);
vector::rows!(bits Ymm<false>, "avx2", ssse3);

/// What GFNI changes: the bit operations.
pub(in crate::arch) mod gfni {
    use super::{Out, Stores, Ymm, ssse3, vector};
    use crate::arch::vector::Vector;

    vector::rows!(bits Ymm<true>, "avx2,gfni", ssse3);
}
