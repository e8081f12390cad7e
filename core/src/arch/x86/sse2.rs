//! SSE2: registers of one lane; with SSSE3 also a byte table.

use super::intrinsics::*;
use super::{sse2, store_halves};
use crate::arch::out::Out;
use crate::arch::planes::{Planes, Stores};
use crate::arch::scalar;
use crate::arch::vector::{self, Each, Join, Kernel, Pitched, Split, Table, Vector};

/// A 16-byte register, of a CPU with or without SSSE3.
#[derive(Clone, Copy)]
pub(super) struct Xmm<const SSSE3: bool>(__m128i);

impl<const SSSE3: bool> Vector for Xmm<SSSE3> {
    const LANES: usize = 1;
    const BLOCK: usize = 16;
    const TABLE: bool = SSSE3;
    // It stores a quarter of a line at a time.
    const STAGED: usize = 8;

    // Where a table saves rounds, or there is no other way to store items.
    #[inline(always)]
    fn leaves(kernel: Kernel, width: usize) -> bool {
        SSSE3
            && match kernel {
                Kernel::Split => !matches!(width, 3 | 4),
                Kernel::Join | Kernel::Bits => !matches!(width, 3 | 5 | 6 | 7),
            }
    }

    #[inline(always)]
    unsafe fn load(p: *const u8) -> Self {
        // SAFETY: conditions of the trait: these bytes may be read or written, and the CPU has the instruction.
        unsafe { Xmm(_mm_loadu_si128(p.cast())) }
    }
    #[inline(always)]
    unsafe fn store(self, p: *mut u8) {
        // SAFETY: conditions of the trait: these bytes may be read or written, and the CPU has the instruction.
        unsafe { _mm_storeu_si128(p.cast(), self.0) }
    }
    // Miri has no stores past the cache: the ordinary ones of the trait serve there.
    #[cfg(not(miri))]
    #[inline(always)]
    unsafe fn stream(self, p: *mut u8) {
        // SAFETY: conditions of the trait: these bytes may be read or written, and the CPU has the instruction.
        unsafe { _mm_stream_si128(p.cast(), self.0) }
    }
    #[cfg(not(miri))]
    #[inline(always)]
    unsafe fn fence() {
        // SAFETY: every CPU with these registers has the instruction.
        unsafe { _mm_sfence() }
    }
    #[inline(always)]
    unsafe fn store_halves(self, _l: usize, p: *mut u8, q: *mut u8) {
        // SAFETY: conditions of the trait: 8 bytes may be written at each, and the CPU has SSE2.
        unsafe { store_halves(self.0, p, q) }
    }
    #[inline(always)]
    unsafe fn zip<const UNIT: usize>(a: Self, b: Self) -> (Self, Self) {
        let (a, b) = (a.0, b.0);
        // SAFETY: condition of the trait: the CPU has the instruction.
        let (low, high) = unsafe {
            match UNIT {
                1 => (_mm_unpacklo_epi8(a, b), _mm_unpackhi_epi8(a, b)),
                2 => (_mm_unpacklo_epi16(a, b), _mm_unpackhi_epi16(a, b)),
                4 => (_mm_unpacklo_epi32(a, b), _mm_unpackhi_epi32(a, b)),
                _ => (_mm_unpacklo_epi64(a, b), _mm_unpackhi_epi64(a, b)),
            }
        };
        (Xmm(low), Xmm(high))
    }
    #[inline(always)]
    unsafe fn table(self, table: &'static [u8; 16]) -> Self {
        if !SSSE3 {
            return self;
        }
        // SAFETY: condition of the trait: the CPU has the instruction. The table is 16 bytes.
        unsafe { Xmm(_mm_shuffle_epi8(self.0, _mm_loadu_si128(table.as_ptr().cast()))) }
    }
    #[inline(always)]
    unsafe fn swap_bits<const SHIFT: i32>(a: Self, b: Self) -> (Self, Self) {
        // SAFETY: condition of the trait: the CPU has the instruction.
        unsafe {
            let low = _mm_set1_epi8((0xff / ((1 << SHIFT) + 1)) as u8 as i8);
            let differ = _mm_and_si128(_mm_xor_si128(_mm_srli_epi16::<SHIFT>(a.0), b.0), low);
            let moved = _mm_slli_epi16::<SHIFT>(differ);
            (Xmm(_mm_xor_si128(a.0, moved)), Xmm(_mm_xor_si128(b.0, differ)))
        }
    }
    #[inline(always)]
    unsafe fn call_split(job: Split) {
        // SAFETY: conditions of the trait: these bytes may be read or written, and the CPU has the instruction.
        unsafe {
            if SSSE3 && !Self::leaves(Kernel::Split, job.width) {
                ssse3::split_job(job)
            } else {
                split_job(job)
            }
        }
    }
    #[inline(always)]
    unsafe fn call_join(job: Join<Pitched>) {
        // SAFETY: conditions of the trait: these bytes may be read or written, and the CPU has the instruction.
        unsafe { if SSSE3 { ssse3::join_pitched(job) } else { join_pitched(job) } }
    }
}

vector::rows!(bytes Xmm<false>, "sse2", scalar);
vector::rows!(bits Xmm<false>, "sse2", scalar);

/// What a byte table changes: all but items of a power of two of bytes, which it only shortens.
pub(in crate::arch) mod ssse3 {
    use super::{Each, Join, Out, Pitched, Planes, Split, Stores, Table, Xmm, sse2, vector};
    use crate::arch::vector::Vector;

    vector::rows!(bytes Xmm<true>, "ssse3", sse2);
    vector::rows!(bits Xmm<true>, "ssse3", sse2);
}
