//! Tokens of `pulp`: values of no size that prove that the CPU has certain instructions. With one at hand, intrinsics are
//! safe to call.
//!
//! Tokens are made here and nowhere else, from a [`Level`], and each names what the detection of that level has tested
//! and nothing more. (`pulp`'s `V3` stands for FMA and BMI as well.) Its own detection is never used: without `std` it
//! does not ask whether the system saves the registers.

use super::registers::{Lanes, Work};
use crate::arch::kernels;
use crate::arch::level::ElementRegisters;
use crate::arch::level::Level;
use pulp::NullaryFnOnce;

#[cfg(target_arch = "aarch64")]
use pulp::aarch64::Neon;
#[cfg(target_arch = "wasm32")]
use pulp::wasm::Simd128;

#[cfg(any(target_arch = "x86", target_arch = "x86_64"))]
pulp::simd_type! {
    pub(super) struct Sse2 {
        pub sse2: "sse2",
    }
    pub(super) struct Avx2 {
        pub avx2: "avx2",
    }
}

/// Does `work` with the registers of `level`, compiled for its instructions.
#[inline]
pub(super) fn run<W: Work>(level: Level, work: W) -> W::Output {
    macro_rules! with {
        ($token:ty, $bytes:literal) => {{
            // SAFETY: the level proves that the CPU has what the token names, and that the system saves its registers.
            let token = unsafe { <$token>::new_unchecked() };
            token.vectorize(With::<W, $token, $bytes>(work, token))
        }};
    }
    match kernels::element_registers(level) {
        #[cfg(any(target_arch = "x86", target_arch = "x86_64"))]
        ElementRegisters::Sse2 => with!(Sse2, 16),
        #[cfg(any(target_arch = "x86", target_arch = "x86_64"))]
        ElementRegisters::Avx2 => with!(Avx2, 32),
        #[cfg(target_arch = "aarch64")]
        ElementRegisters::Neon => with!(Neon, 16),
        #[cfg(target_arch = "wasm32")]
        ElementRegisters::Simd128 => with!(Simd128, 16),
        _ => work.plain(),
    }
}

/// Work and the token to do it with. (A closure would not be sure to be inlined where the instructions are enabled.)
struct With<W, T, const N: usize>(W, T);

impl<W: Work, T: Lanes<N>, const N: usize> NullaryFnOnce for With<W, T, N> {
    type Output = W::Output;

    #[inline(always)]
    fn call(self) -> W::Output {
        self.0.run(self.1)
    }
}
