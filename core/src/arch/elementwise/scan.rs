//! Running XOR of words and running sum of bytes, a register at a time.
//!
//! ```text
//! x = 16 bytes               x = x op (x << W bytes), again with 2W, 4W, 8W: a running result inside
//! out = x op carry           carry = carry op last word of x, in every word
//! ```
//! The carry waits for one operation per register only. (Words of 8 bytes run along as fast in a plain loop.) A register of two lanes does each by itself and
//! then hands the last word of the lower to the upper.

use crate::arch::level::Level;
use crate::arch::out::Out;

/// What runs along: XOR of words of `W` bytes, or the sum of bytes (`SUM`, with `W` = 1).
///
/// Works on whole registers from the start of `src` and returns how many bytes those were, and the last
/// word written, for the caller to go on from.
#[inline]
pub(crate) fn scan<const W: usize, const SUM: bool>(
    level: Level,
    src: &[u8],
    out: &mut Out<'_>,
) -> (usize, [u8; W]) {
    const { assert!(matches!(W, 1 | 2 | 4) && (!SUM || W == 1)) };
    let len = src.len().min(out.len());
    let (src, dst) = (src.as_ptr(), out.as_mut_ptr());
    // SAFETY: `len` bytes are readable and writable; the `Level` proves the CPU.
    unsafe { kernel::run::<W, SUM>(level, src, dst, len) }
}

#[cfg(all(any(target_arch = "x86", target_arch = "x86_64"), target_feature = "sse2"))]
mod kernel {
    #[cfg(target_arch = "x86")]
    use core::arch::x86::*;
    #[cfg(target_arch = "x86_64")]
    use core::arch::x86_64::*;

    use crate::arch::level::{Isa, Level};

    /// # Safety
    /// `len` bytes are readable at `src` and writable at `dst`.
    #[inline]
    pub(super) unsafe fn run<const W: usize, const SUM: bool>(
        level: Level,
        src: *const u8,
        dst: *mut u8,
        len: usize,
    ) -> (usize, [u8; W]) {
        // SAFETY: the caller's memory; the level proves the CPU.
        unsafe {
            match level.isa() {
                Isa::Sse2 => sse2::<W, SUM>(src, dst, len),
                Isa::Avx2 | Isa::Avx2Gfni | Isa::Avx512 => avx2::<W, SUM>(src, dst, len),
                _ => (0, [0; W]),
            }
        }
    }

    /// # Safety
    /// As [`run`].
    #[target_feature(enable = "sse2")]
    unsafe fn sse2<const W: usize, const SUM: bool>(
        src: *const u8,
        dst: *mut u8,
        len: usize,
    ) -> (usize, [u8; W]) {
        let op = |a, b| if SUM { _mm_add_epi8(a, b) } else { _mm_xor_si128(a, b) };
        let mut carry = _mm_setzero_si128();
        let mut at = 0;
        while len - at >= 16 {
            // SAFETY: 16 bytes from `at` are inside both.
            let mut x = unsafe { _mm_loadu_si128(src.add(at).cast()) };
            if W <= 1 {
                x = op(x, _mm_slli_si128::<1>(x));
            }
            if W <= 2 {
                x = op(x, _mm_slli_si128::<2>(x));
            }
            x = op(x, _mm_slli_si128::<4>(x));
            x = op(x, _mm_slli_si128::<8>(x));
            // SAFETY: as above.
            unsafe { _mm_storeu_si128(dst.add(at).cast(), op(x, carry)) };
            let last = match W {
                1 => _mm_shuffle_epi32::<0xFF>(_mm_shufflehi_epi16::<0xFF>(_mm_unpackhi_epi8(x, x))),
                2 => _mm_shuffle_epi32::<0xFF>(_mm_shufflehi_epi16::<0xFF>(x)),
                _ => _mm_shuffle_epi32::<0xFF>(x),
            };
            carry = op(carry, last);
            at += 16;
        }
        let mut word = [0; W];
        let mut bytes = [0u8; 16];
        // SAFETY: 16 bytes of a local.
        unsafe { _mm_storeu_si128(bytes.as_mut_ptr().cast(), carry) };
        word.iter_mut().zip(bytes).for_each(|(to, from)| *to = from);
        (at, word)
    }

    /// # Safety
    /// As [`run`], and the CPU has AVX2.
    #[target_feature(enable = "avx2")]
    unsafe fn avx2<const W: usize, const SUM: bool>(
        src: *const u8,
        dst: *mut u8,
        len: usize,
    ) -> (usize, [u8; W]) {
        let op = |a, b| if SUM { _mm256_add_epi8(a, b) } else { _mm256_xor_si256(a, b) };
        let last_of_lane = |x| match W {
            1 => _mm256_shuffle_epi8(x, _mm256_set1_epi8(15)),
            2 => _mm256_shuffle_epi8(x, _mm256_set1_epi16(0x0F0E)),
            _ => _mm256_shuffle_epi32::<0xFF>(x),
        };
        let mut carry = _mm256_setzero_si256();
        let mut at = 0;
        while len - at >= 32 {
            // SAFETY: 32 bytes from `at` are inside both.
            let mut x = unsafe { _mm256_loadu_si256(src.add(at).cast()) };
            if W <= 1 {
                x = op(x, _mm256_slli_si256::<1>(x));
            }
            if W <= 2 {
                x = op(x, _mm256_slli_si256::<2>(x));
            }
            x = op(x, _mm256_slli_si256::<4>(x));
            x = op(x, _mm256_slli_si256::<8>(x));
            // The last word of the lower lane, in the upper lane only.
            let last = last_of_lane(x);
            x = op(x, _mm256_permute2x128_si256::<0x08>(last, last));
            // SAFETY: as above.
            unsafe { _mm256_storeu_si256(dst.add(at).cast(), op(x, carry)) };
            let total = last_of_lane(x);
            carry = op(carry, _mm256_permute2x128_si256::<0x11>(total, total));
            at += 32;
        }
        let mut word = [0; W];
        let mut bytes = [0u8; 32];
        // SAFETY: 32 bytes of a local.
        unsafe { _mm256_storeu_si256(bytes.as_mut_ptr().cast(), carry) };
        word.iter_mut().zip(bytes).for_each(|(to, from)| *to = from);
        (at, word)
    }
}

#[cfg(all(target_arch = "aarch64", target_feature = "neon", target_endian = "little"))]
mod kernel {
    use crate::arch::level::{Isa, Level};
    use core::arch::aarch64::*;

    /// # Safety
    /// `len` bytes are readable at `src` and writable at `dst`.
    #[inline]
    pub(super) unsafe fn run<const W: usize, const SUM: bool>(
        level: Level,
        src: *const u8,
        dst: *mut u8,
        len: usize,
    ) -> (usize, [u8; W]) {
        match level.isa() {
            // SAFETY: the caller's memory; the level proves the CPU.
            Isa::Neon => unsafe { neon::<W, SUM>(src, dst, len) },
            _ => (0, [0; W]),
        }
    }

    /// # Safety
    /// As [`run`].
    #[target_feature(enable = "neon")]
    unsafe fn neon<const W: usize, const SUM: bool>(
        src: *const u8,
        dst: *mut u8,
        len: usize,
    ) -> (usize, [u8; W]) {
        let op = |a, b| if SUM { vaddq_u8(a, b) } else { veorq_u8(a, b) };
        let zero = vdupq_n_u8(0);
        let mut carry = zero;
        let mut at = 0;
        while len - at >= 16 {
            // SAFETY: 16 bytes from `at` are inside both; a byte vector has no alignment.
            let mut x = unsafe { vld1q_u8(src.add(at)) };
            if W <= 1 {
                x = op(x, vextq_u8::<15>(zero, x));
            }
            if W <= 2 {
                x = op(x, vextq_u8::<14>(zero, x));
            }
            x = op(x, vextq_u8::<12>(zero, x));
            x = op(x, vextq_u8::<8>(zero, x));
            // SAFETY: as above.
            unsafe { vst1q_u8(dst.add(at), op(x, carry)) };
            let last = match W {
                1 => vdupq_laneq_u8::<15>(x),
                2 => vreinterpretq_u8_u16(vdupq_laneq_u16::<7>(vreinterpretq_u16_u8(x))),
                _ => vreinterpretq_u8_u32(vdupq_laneq_u32::<3>(vreinterpretq_u32_u8(x))),
            };
            carry = op(carry, last);
            at += 16;
        }
        let mut word = [0; W];
        let mut bytes = [0u8; 16];
        // SAFETY: 16 bytes of a local.
        unsafe { vst1q_u8(bytes.as_mut_ptr(), carry) };
        word.iter_mut().zip(bytes).for_each(|(to, from)| *to = from);
        (at, word)
    }
}

#[cfg(not(any(
    all(any(target_arch = "x86", target_arch = "x86_64"), target_feature = "sse2"),
    all(target_arch = "aarch64", target_feature = "neon", target_endian = "little")
)))]
mod kernel {
    use crate::arch::level::Level;

    /// No registers to work on: nothing is done.
    ///
    /// # Safety
    /// None needed.
    #[inline(always)]
    pub(super) unsafe fn run<const W: usize, const SUM: bool>(
        _: Level,
        _: *const u8,
        _: *mut u8,
        _: usize,
    ) -> (usize, [u8; W]) {
        (0, [0; W])
    }
}
