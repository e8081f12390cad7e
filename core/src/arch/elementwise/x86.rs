//! Registers of x86: SSE2, AVX2.

use super::registers::{Lanes, Registers, combine, registers};
use super::token::{Avx2, Sse2};
#[cfg(target_arch = "x86")]
use core::arch::x86::{__m128i, __m256i};
#[cfg(target_arch = "x86_64")]
use core::arch::x86_64::{__m128i, __m256i};

registers!(__m128i: [u8; 16], Sse2.sse2 { _mm_xor_si128 _mm_and_si128 _mm_add_epi8 _mm_sub_epi8 });

impl Lanes<16> for Sse2 {
    #[inline(always)]
    fn up<const BY: usize>(self, x: __m128i) -> __m128i {
        match BY {
            1 => self.sse2._mm_slli_si128::<1>(x),
            2 => self.sse2._mm_slli_si128::<2>(x),
            4 => self.sse2._mm_slli_si128::<4>(x),
            _ => self.sse2._mm_slli_si128::<8>(x),
        }
    }
    #[inline(always)]
    fn join<const W: usize, const OP: char>(self, x: __m128i) -> (__m128i, __m128i) {
        let sse2 = self.sse2;
        let last = match W {
            1 => {
                sse2._mm_shuffle_epi32::<0xFF>(sse2._mm_shufflehi_epi16::<0xFF>(sse2._mm_unpackhi_epi8(x, x)))
            }
            2 => sse2._mm_shuffle_epi32::<0xFF>(sse2._mm_shufflehi_epi16::<0xFF>(x)),
            _ => sse2._mm_shuffle_epi32::<0xFF>(x),
        };
        (x, last)
    }
}

registers!(__m256i: [u8; 32], Avx2.avx2 { _mm256_xor_si256 _mm256_and_si256 _mm256_add_epi8 _mm256_sub_epi8 });

impl Lanes<32> for Avx2 {
    #[inline(always)]
    fn up<const BY: usize>(self, x: __m256i) -> __m256i {
        match BY {
            1 => self.avx2._mm256_slli_si256::<1>(x),
            2 => self.avx2._mm256_slli_si256::<2>(x),
            4 => self.avx2._mm256_slli_si256::<4>(x),
            _ => self.avx2._mm256_slli_si256::<8>(x),
        }
    }
    #[inline(always)]
    fn join<const W: usize, const OP: char>(self, x: __m256i) -> (__m256i, __m256i) {
        let last = self.last::<W>(x);
        // The last word of the lower lane, in the upper lane only.
        let below = self.avx2._mm256_permute2x128_si256::<0x08>(last, last);
        let x = combine::<OP, 32, Self>(self, x, below);
        // Either has the last word of all in the upper lane; LLVM has worse instructions for the one with sums, and a
        // dependence on the register before for the other with XOR.
        let last = if OP == '+' { self.last::<W>(x) } else { combine::<OP, 32, Self>(self, last, below) };
        (x, self.avx2._mm256_permute2x128_si256::<0x11>(last, last))
    }
}

impl Avx2 {
    /// The last word of `W` bytes of each lane, in every place of the lane.
    #[inline(always)]
    fn last<const W: usize>(self, x: __m256i) -> __m256i {
        match W {
            1 => self.avx2._mm256_shuffle_epi8(x, self.load([15; 32])),
            2 => self.avx2._mm256_shuffle_epi8(x, pulp::cast([[14u8, 15]; 16])),
            _ => self.avx2._mm256_shuffle_epi32::<0xFF>(x),
        }
    }
}
