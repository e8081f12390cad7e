//! What this CPU *and its operating system* can run, found without `std`.
//!
//! ```text
//! x86      CPUID(1).ecx: SSSE3, OSXSAVE and AVX, XGETBV(0) & 0x06 = 0x06 (0xe6 for AVX-512), CPUID(7),
//!          CPUID(0x80000001).ecx: LZCNT
//! aarch64  NEON is part of the target, or there are no NEON kernels in the build
//! wasm32   simd128 likewise
//! ```
//! CPUID traps under virtualisation (10 us), hence the cache.
//!
//! AMD says in CPUID(0x8000001a).eax how wide the registers are that its vector units work on: bit 2 for 256 bits, bit 3 for
//! 512. Zen 4, and Zen 5 in laptops, execute AVX-512 in halves: [`executes_512_in_halves`].

use super::isa::Isa;

/// Whether a machine whose best level is `best` also runs `isa`.
pub(in crate::arch) fn implies(best: Isa, isa: Isa) -> bool {
    let of_x86 = |isa| (Isa::Sse2..=Isa::Avx512).contains(&isa);
    let beside = best == Isa::Avx2Gfni && isa == Isa::Avx512Bw;
    isa == Isa::Scalar || isa == best || (of_x86(best) && of_x86(isa) && isa < best && !beside)
}

#[cfg(all(any(target_arch = "x86", target_arch = "x86_64"), target_feature = "sse2"))]
pub(in crate::arch) use x86::{best, executes_512_in_halves};

/// The best level of this build.
#[cfg(not(all(any(target_arch = "x86", target_arch = "x86_64"), target_feature = "sse2")))]
pub(in crate::arch) fn best() -> Isa {
    if cfg!(all(target_arch = "aarch64", target_feature = "neon", target_endian = "little")) {
        Isa::Neon
    } else if cfg!(all(target_arch = "wasm32", target_feature = "simd128")) {
        Isa::Simd128
    } else {
        Isa::Scalar
    }
}

#[cfg(all(any(target_arch = "x86", target_arch = "x86_64"), target_feature = "sse2"))]
mod x86 {
    use super::super::isa::Isa;
    #[cfg(target_arch = "x86")]
    use core::arch::x86::{__cpuid, __cpuid_count, _xgetbv};
    #[cfg(target_arch = "x86_64")]
    use core::arch::x86_64::{__cpuid, __cpuid_count, _xgetbv};
    use core::sync::atomic::{AtomicU8, Ordering};

    const UNKNOWN: u8 = u8::MAX;
    static BEST: AtomicU8 = AtomicU8::new(UNKNOWN);
    static HALVES: AtomicU8 = AtomicU8::new(UNKNOWN);

    /// The best level of this machine, asked of the CPU once.
    pub(in crate::arch) fn best() -> Isa {
        let cached = BEST.load(Ordering::Relaxed);
        if let Some(&isa) = Isa::ALL.get(usize::from(cached)) {
            return isa;
        }
        let isa = if cfg!(miri) { compiled_for() } else { detect() };
        BEST.store(isa as u8, Ordering::Relaxed);
        isa
    }

    /// Whether this is a CPU of AMD whose vector units are of 256 bits: it executes instructions on 512 as two, and gains
    /// nothing where others do by wider registers. Asked of the CPU once; says nothing of whether it has such instructions.
    pub(in crate::arch) fn executes_512_in_halves() -> bool {
        match HALVES.load(Ordering::Relaxed) {
            UNKNOWN => {
                let halves = !cfg!(miri) && detect_512_in_halves();
                HALVES.store(halves.into(), Ordering::Relaxed);
                halves
            }
            cached => cached != 0,
        }
    }

    #[cold]
    // CPUID became a safe function after the oldest supported compiler.
    #[allow(unused_unsafe)]
    fn detect_512_in_halves() -> bool {
        const WIDTHS: u32 = 0x8000_001a;
        const FP256: u32 = 1 << 2;
        const FP512: u32 = 1 << 3;
        // SAFETY: every CPU with SSE2 has CPUID, and its first extended leaf says which ones there are.
        let eax = unsafe { if __cpuid(0x8000_0000).eax < WIDTHS { 0 } else { __cpuid(WIDTHS).eax } };
        eax & (FP256 | FP512) == FP256
    }

    #[cold]
    // CPUID became a safe function after the oldest supported compiler.
    #[allow(unused_unsafe)]
    fn detect() -> Isa {
        const SSSE3: u32 = 1 << 9;
        const OSXSAVE_AVX: u32 = 1 << 27 | 1 << 28;
        const BMI1_AVX2_BMI2: u32 = 1 << 3 | 1 << 5 | 1 << 8;
        const EXTENDED: u32 = 0x8000_0001;
        const LZCNT: u32 = 1 << 5;
        const AVX512_F_BW_VL: u32 = 1 << 16 | 1 << 30 | 1 << 31;
        const VBMI: u32 = 1 << 1;
        const GFNI: u32 = 1 << 8;
        const YMM: u64 = 0x06;
        const ZMM: u64 = 0xe6;

        // SAFETY: every CPU with SSE2 has CPUID.
        let (leaves, one) = unsafe { (__cpuid(0).eax, __cpuid(1)) };
        if one.ecx & SSSE3 == 0 {
            return Isa::Sse2;
        }
        if leaves < 7 || one.ecx & OSXSAVE_AVX != OSXSAVE_AVX {
            return Isa::Ssse3;
        }
        // SAFETY: leaf 7 exists, and OSXSAVE says that XGETBV may be executed.
        let (seven, saved) = unsafe { (__cpuid_count(7, 0), saved_by_os()) };
        // SAFETY: the first extended leaf says which ones there are.
        let more = unsafe { if __cpuid(0x8000_0000).eax < EXTENDED { 0 } else { __cpuid(EXTENDED).ecx } };
        let has = |word: u32, bits: u32| word & bits == bits;
        if !has(seven.ebx, BMI1_AVX2_BMI2) || !has(more, LZCNT) || saved & YMM != YMM {
            return Isa::Ssse3;
        }
        let wide = has(seven.ebx, AVX512_F_BW_VL) && saved & ZMM == ZMM;
        match (has(seven.ecx, GFNI), wide) {
            (false, false) => Isa::Avx2,
            (false, true) => Isa::Avx512Bw,
            (true, true) if has(seven.ecx, VBMI) => Isa::Avx512,
            (true, _) => Isa::Avx2Gfni,
        }
    }

    /// The level that this code was compiled for. Miri has no CPUID and executes what its target has; the permutes of
    /// AVX-512 VBMI are not among the instructions that it knows.
    fn compiled_for() -> Isa {
        if cfg!(not(target_feature = "ssse3")) {
            Isa::Sse2
        } else if cfg!(not(target_feature = "avx2")) {
            Isa::Ssse3
        } else if cfg!(not(target_feature = "gfni")) {
            Isa::Avx2
        } else {
            Isa::Avx2Gfni
        }
    }

    /// Register sets that the operating system saves (XCR0).
    ///
    /// # Safety
    /// CPUID must report OSXSAVE.
    #[target_feature(enable = "xsave")]
    unsafe fn saved_by_os() -> u64 {
        // SAFETY: the caller saw OSXSAVE, so XCR0 exists and may be read.
        unsafe { _xgetbv(0) }
    }

    #[cfg(test)]
    mod tests {
        #[test]
        fn cached_values_name_themselves() {
            for (at, isa) in super::Isa::ALL.into_iter().enumerate() {
                assert_eq!(isa as usize, at);
            }
            assert_eq!(super::best(), super::detect());
            assert_eq!(super::executes_512_in_halves(), super::detect_512_in_halves());
        }

        /// What levels say that they prove, the standard library has found by itself.
        #[cfg(feature = "std")]
        #[test]
        fn levels_prove_their_features() {
            macro_rules! detected {
                ($name:expr, $($feature:tt)*) => {
                    match $name {
                        $($feature => std::arch::is_x86_feature_detected!($feature),)*
                        name => panic!("{name} is not among those that this test asks for"),
                    }
                };
            }
            for level in crate::Level::available() {
                for &name in level.isa().features() {
                    let is_there = detected!(name, "sse2" "ssse3" "avx2" "bmi1" "bmi2" "lzcnt" "gfni" "avx512f"
                        "avx512bw" "avx512vl" "avx512vbmi");
                    assert!(is_there, "{level:?} proves {name}, which this CPU does not have");
                }
            }
        }
    }
}
