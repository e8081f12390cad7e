//! x86 kernels. Blocks too short for a level's registers are left to the level below.

pub(super) mod avx2;
pub(super) mod avx512;
pub(super) mod sse2;

#[cfg(target_arch = "x86")]
use core::arch::x86 as intrinsics;
#[cfg(target_arch = "x86_64")]
use core::arch::x86_64 as intrinsics;
