//! AVX-512 without byte permutes (VBMI) and bit matrices (GFNI), as in Skylake-SP and Cascade Lake: registers of four lanes,
//! byte table.

use super::avx2;
use super::intrinsics::*;
use super::store_halves;
use crate::arch::level::detect::executes_512_in_halves;
use crate::arch::out::Out;
use crate::arch::planes::{Planes, Stores};
use crate::arch::vector::{self, Each, Join, Kernel, Pitched, Split, Table, Vector};

/// A 64-byte register.
#[derive(Clone, Copy)]
pub(super) struct Lanes4(__m512i);

/// Bits that the third operand names come from the first, others from the second: for [`_mm512_ternarylogic_epi64`].
const CHOOSE: i32 = 0b1110_0100;

impl Lanes4 {
    #[inline(always)]
    unsafe fn lane(self, l: usize) -> __m128i {
        // SAFETY: condition of the trait: the CPU has the instruction.
        unsafe {
            match l {
                0 => _mm512_castsi512_si128(self.0),
                1 => _mm512_extracti32x4_epi32::<1>(self.0),
                2 => _mm512_extracti32x4_epi32::<2>(self.0),
                _ => _mm512_extracti32x4_epi32::<3>(self.0),
            }
        }
    }
}

impl Vector for Lanes4 {
    const LANES: usize = 4;
    const BLOCK: usize = 64;
    const TABLE: bool = true;

    // With more than 8 planes the compiler keeps the registers in memory.
    #[inline(always)]
    fn leaves(kernel: Kernel, width: usize) -> bool {
        kernel != Kernel::Bits && (width > 8 || executes_512_in_halves())
    }

    #[inline(always)]
    unsafe fn load(p: *const u8) -> Self {
        // SAFETY: conditions of the trait: these bytes may be read or written, and the CPU has the instruction.
        unsafe { Lanes4(_mm512_loadu_si512(p.cast())) }
    }
    #[inline(always)]
    unsafe fn store(self, p: *mut u8) {
        // SAFETY: conditions of the trait: these bytes may be read or written, and the CPU has the instruction.
        unsafe { _mm512_storeu_si512(p.cast(), self.0) }
    }
    #[inline(always)]
    unsafe fn stream(self, p: *mut u8) {
        // SAFETY: conditions of the trait: these bytes may be read or written, and the CPU has the instruction.
        unsafe { _mm512_stream_si512(p.cast(), self.0) }
    }
    #[inline(always)]
    unsafe fn fence() {
        // SAFETY: every CPU with these registers has the instruction.
        unsafe { _mm_sfence() }
    }
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
            let lane = |l: usize| _mm_loadu_si128(p.add(l * stride).cast());
            let low = _mm256_inserti128_si256::<1>(_mm256_castsi128_si256(lane(0)), lane(1));
            let high = _mm256_inserti128_si256::<1>(_mm256_castsi128_si256(lane(2)), lane(3));
            Lanes4(_mm512_inserti64x4::<1>(_mm512_castsi256_si512(low), high))
        }
    }
    #[inline(always)]
    unsafe fn store_lane(self, l: usize, p: *mut u8) {
        // SAFETY: conditions of the trait: these bytes may be read or written, and the CPU has the instruction.
        unsafe { _mm_storeu_si128(p.cast(), self.lane(l)) }
    }
    #[inline(always)]
    unsafe fn store_halves(self, l: usize, p: *mut u8, q: *mut u8) {
        // SAFETY: conditions of the trait: 8 bytes may be written at each, and the CPU has SSE2.
        unsafe { store_halves(self.lane(l), p, q) }
    }
    #[inline(always)]
    unsafe fn pair_lanes(a: Self, b: Self) -> (Self, Self) {
        // SAFETY: condition of the trait: the CPU has the instruction.
        unsafe {
            let low = _mm512_set_epi64(11, 10, 3, 2, 9, 8, 1, 0);
            let high = _mm512_set_epi64(15, 14, 7, 6, 13, 12, 5, 4);
            (
                Lanes4(_mm512_permutex2var_epi64(a.0, low, b.0)),
                Lanes4(_mm512_permutex2var_epi64(a.0, high, b.0)),
            )
        }
    }
    #[inline(always)]
    unsafe fn transpose_lanes([a, b, c, d]: [Self; 4]) -> [Self; 4] {
        // SAFETY: condition of the trait: the CPU has the instruction.
        unsafe {
            let even = |x, y| _mm512_shuffle_i64x2::<0b10_00_10_00>(x, y);
            let odd = |x, y| _mm512_shuffle_i64x2::<0b11_01_11_01>(x, y);
            let (ab, cd) = (even(a.0, b.0), even(c.0, d.0));
            let (ab_odd, cd_odd) = (odd(a.0, b.0), odd(c.0, d.0));
            [even(ab, cd), even(ab_odd, cd_odd), odd(ab, cd), odd(ab_odd, cd_odd)].map(Lanes4)
        }
    }
    #[inline(always)]
    unsafe fn zip<const UNIT: usize>(a: Self, b: Self) -> (Self, Self) {
        let (a, b) = (a.0, b.0);
        // SAFETY: condition of the trait: the CPU has the instruction.
        let (low, high) = unsafe {
            match UNIT {
                1 => (_mm512_unpacklo_epi8(a, b), _mm512_unpackhi_epi8(a, b)),
                2 => (_mm512_unpacklo_epi16(a, b), _mm512_unpackhi_epi16(a, b)),
                4 => (_mm512_unpacklo_epi32(a, b), _mm512_unpackhi_epi32(a, b)),
                _ => (_mm512_unpacklo_epi64(a, b), _mm512_unpackhi_epi64(a, b)),
            }
        };
        (Lanes4(low), Lanes4(high))
    }
    #[inline(always)]
    unsafe fn table(self, table: &'static [u8; 16]) -> Self {
        // SAFETY: condition of the trait: the CPU has the instruction. The table is 16 bytes.
        unsafe {
            let table = _mm512_broadcast_i32x4(_mm_loadu_si128(table.as_ptr().cast()));
            Lanes4(_mm512_shuffle_epi8(self.0, table))
        }
    }
    #[inline(always)]
    unsafe fn swap_bits<const SHIFT: i32>(a: Self, b: Self) -> (Self, Self) {
        // SAFETY: condition of the trait: the CPU has the instruction.
        unsafe {
            let low = _mm512_set1_epi8((0xff / ((1 << SHIFT) + 1)) as u8 as i8);
            let (up, down) = (
                _mm512_sll_epi16(b.0, _mm_cvtsi32_si128(SHIFT)),
                _mm512_srl_epi16(a.0, _mm_cvtsi32_si128(SHIFT)),
            );
            (
                Lanes4(_mm512_ternarylogic_epi64::<CHOOSE>(a.0, up, low)),
                Lanes4(_mm512_ternarylogic_epi64::<CHOOSE>(down, b.0, low)),
            )
        }
    }
    #[inline(always)]
    unsafe fn call_split(job: Split) {
        // SAFETY: conditions of the trait: these bytes may be read or written, and the CPU has the instruction.
        unsafe { if Self::leaves(Kernel::Split, job.width) { avx2::split_job(job) } else { split_job(job) } }
    }
    #[inline(always)]
    unsafe fn call_join(job: Join<Pitched>) {
        // SAFETY: conditions of the trait: these bytes may be read or written, and the CPU has the instruction.
        unsafe {
            if Self::leaves(Kernel::Join, job.width) { avx2::join_pitched(job) } else { join_pitched(job) }
        }
    }
}

vector::rows!(bytes Lanes4, "avx512f,avx512bw,avx512vl", avx2);
vector::rows!(bits Lanes4, "avx512f,avx512bw,avx512vl", avx2);
