//! Code that is compiled twice on x86-64: for every CPU, and for those with BMI1, BMI2, LZCNT and SSSE3. Their
//! three-operand shifts are worth a third in the bit-by-bit loops of the entropy decoders, and a byte shuffle
//! repeats the short periods of LZ matches.
//!
//! Which one runs is the [`Level`]'s choice: from [`Isa::Avx2`](crate::arch::level::Isa::Avx2) on it proves these instructions. Without the feature `std`
//! only the plain code is there, so that firmware does not hold each loop twice.

#[cfg(all(feature = "std", target_arch = "x86_64"))]
use crate::arch::kernels;
use crate::arch::level::Level;

/// A loop to compile twice. `run` and what it calls must be `#[inline(always)]`, or the instructions do not
/// reach it.
pub(crate) trait Kernel {
    type Output;
    /// `BEST`: compiled for all these instructions.
    fn run<const BEST: bool>(self) -> Self::Output;
}

/// Runs `kernel` with the best bit instructions that `level` allows.
#[inline(always)]
pub(crate) fn run<K: Kernel>(level: Level, kernel: K) -> K::Output {
    #[cfg(all(feature = "std", target_arch = "x86_64"))]
    if kernels::has_bit_instructions(level) {
        // SAFETY: the level proves all four.
        return unsafe { with_bmi(kernel) };
    }
    let _ = level;
    kernel.run::<false>()
}

/// # Safety
/// The CPU must have BMI1, BMI2, LZCNT and SSSE3.
#[cfg(all(feature = "std", target_arch = "x86_64"))]
#[target_feature(enable = "bmi1,bmi2,lzcnt,ssse3")]
unsafe fn with_bmi<K: Kernel>(kernel: K) -> K::Output {
    kernel.run::<true>()
}

/// The `n` lowest bits of `word`, at most 31.
#[cfg(feature = "zstd")]
#[inline(always)]
pub(crate) fn low_bits<const BEST: bool>(word: u64, n: u32) -> u32 {
    #[cfg(all(feature = "std", target_arch = "x86_64"))]
    if BEST {
        // SAFETY: only kernels that `with_bmi` runs are compiled with `BEST`.
        return unsafe { core::arch::x86_64::_bzhi_u32(word as u32, n) };
    }
    word as u32 & 1u32.wrapping_shl(n).wrapping_sub(1)
}
