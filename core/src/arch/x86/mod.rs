//! x86 kernels. Blocks too short for a level's registers are left to the level below.

pub(super) mod avx2;
pub(super) mod avx512;
pub(super) mod avx512bw;
pub(super) mod sse2;

#[cfg(target_arch = "x86")]
use core::arch::x86 as intrinsics;
#[cfg(target_arch = "x86_64")]
use core::arch::x86_64 as intrinsics;

/// Stores the first 8 bytes of `v` at `p` and the last 8 at `q`, each at any address.
///
/// The upper half is written as an unaligned number, because `_mm_storeh_pd` writes through its pointer as if it were a
/// multiple of 8, which an item of an odd size is not. The instruction is the same (`movhps`).
///
/// # Safety
/// 8 bytes are writable at `p` and at `q`. The CPU has SSE2.
#[inline(always)]
unsafe fn store_halves(v: intrinsics::__m128i, p: *mut u8, q: *mut u8) {
    use intrinsics::{_mm_castsi128_pd, _mm_cvtsd_f64, _mm_storel_epi64, _mm_unpackhi_epi64};
    // SAFETY: 8 bytes are writable at both; `_mm_storel_epi64` writes 8 bytes at any address.
    unsafe {
        _mm_storel_epi64(p.cast(), v);
        let high = _mm_cvtsd_f64(_mm_castsi128_pd(_mm_unpackhi_epi64(v, v)));
        q.cast::<f64>().write_unaligned(high);
    }
}
