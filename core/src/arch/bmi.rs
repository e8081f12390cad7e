//! The same code compiled twice on x86-64: for every CPU, and for those with BMI1, BMI2 and LZCNT, whose
//! three-operand shifts are worth a third in the bit-by-bit loops of the entropy decoders.
//!
//! These instructions use general registers only, so no [`Level`](super::level::Level) forbids them. Without
//! the feature `std` only the plain code is there.

/// A loop to compile twice. `run` and what it calls must be `#[inline(always)]`, or the instructions do not
/// reach it.
pub(crate) trait Kernel {
    type Output;
    fn run(self) -> Self::Output;
}

/// Runs `kernel` with the best bit instructions of this CPU.
#[inline(always)]
pub(crate) fn run<K: Kernel>(kernel: K) -> K::Output {
    #[cfg(all(feature = "std", target_arch = "x86_64"))]
    if std::arch::is_x86_feature_detected!("bmi1")
        && std::arch::is_x86_feature_detected!("bmi2")
        && std::arch::is_x86_feature_detected!("lzcnt")
    {
        // SAFETY: the CPU has just been found to have all three.
        return unsafe { with_bmi(kernel) };
    }
    kernel.run()
}

/// # Safety
/// The CPU must have BMI1, BMI2 and LZCNT.
#[cfg(all(feature = "std", target_arch = "x86_64"))]
#[target_feature(enable = "bmi1,bmi2,lzcnt")]
unsafe fn with_bmi<K: Kernel>(kernel: K) -> K::Output {
    kernel.run()
}
