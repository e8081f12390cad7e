//! What this CPU *and its operating system* can run, found without `std`.
//!
//! ```text
//! x86      words of CPUID and XCR0 -> features -> the last level in `Isa::ALL` all of whose features are there
//! aarch64  NEON is part of the target, or there are no NEON kernels in the build
//! wasm32   simd128 likewise
//! ```
//! CPUID traps under virtualisation (10 us), hence the cache.
//!
//! AMD says in CPUID(0x8000001a).eax how wide the registers are that its vector units work on: bit 2 for 256 bits, bit 3 for
//! 512. Zen 4, and Zen 5 in laptops, execute AVX-512 in halves: [`executes_512_in_halves`].

#[cfg(all(any(target_arch = "x86", target_arch = "x86_64"), target_feature = "sse2"))]
pub(in crate::arch) use x86::{best, executes_512_in_halves};

/// The best level of this build.
#[cfg(not(all(any(target_arch = "x86", target_arch = "x86_64"), target_feature = "sse2")))]
pub(in crate::arch) fn best() -> super::isa::Isa {
    use super::isa::Isa;
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
        let isa = if cfg!(miri) { compiled_for() } else { Words::of_this_cpu().best() };
        BEST.store(isa as u8, Ordering::Relaxed);
        isa
    }

    /// Whether this is a CPU of AMD whose vector units are of 256 bits: it executes instructions on 512 as two, and gains
    /// nothing where others do by wider registers. Asked of the CPU once; says nothing of whether it has such instructions.
    pub(in crate::arch) fn executes_512_in_halves() -> bool {
        match HALVES.load(Ordering::Relaxed) {
            UNKNOWN => {
                let halves = !cfg!(miri) && Words::of_this_cpu().executes_512_in_halves();
                HALVES.store(halves.into(), Ordering::Relaxed);
                halves
            }
            cached => cached != 0,
        }
    }

    /// The words that say what a CPU and its operating system can do; 0 where there is no such leaf or register.
    #[derive(Clone, Copy, Default, Debug)]
    struct Words {
        /// CPUID(1).ecx.
        basic: u32,
        /// CPUID(7, 0).ebx and .ecx.
        structured: [u32; 2],
        /// CPUID(0x80000001).ecx.
        extended: u32,
        /// CPUID(0x8000001a).eax.
        widths: u32,
        /// XGETBV(0): register sets that the operating system saves.
        saved: u64,
    }

    impl Words {
        const OSXSAVE: u32 = 1 << 27;

        #[cold]
        // CPUID became a safe function after the oldest supported compiler.
        #[allow(unused_unsafe)]
        fn of_this_cpu() -> Words {
            const STRUCTURED: u32 = 7;
            const EXTENDED: u32 = 0x8000_0001;
            const WIDTHS: u32 = 0x8000_001a;
            // SAFETY: every CPU with SSE2 has CPUID; leaf 0 and the first extended one say which others there are, and XGETBV
            // may be executed where OSXSAVE is set.
            unsafe {
                let (leaves, basic) = (__cpuid(0).eax, __cpuid(1).ecx);
                let extended_leaves = __cpuid(0x8000_0000).eax;
                let structured = if leaves < STRUCTURED {
                    [0; 2]
                } else {
                    let seven = __cpuid_count(STRUCTURED, 0);
                    [seven.ebx, seven.ecx]
                };
                Words {
                    basic,
                    structured,
                    extended: if extended_leaves < EXTENDED { 0 } else { __cpuid(EXTENDED).ecx },
                    widths: if extended_leaves < WIDTHS { 0 } else { __cpuid(WIDTHS).eax },
                    saved: if basic & Words::OSXSAVE == 0 { 0 } else { saved_by_os() },
                }
            }
        }

        /// Whether there is a feature of this name in Rust, and its registers are saved.
        fn has(&self, feature: &str) -> bool {
            const AVX: u32 = 1 << 28;
            const YMM: u64 = 0x06;
            const ZMM: u64 = 0xe6;
            let bit = |word: u32, n: u32| word & 1 << n != 0;
            let [b, c] = self.structured;
            let ymm = self.basic & (AVX | Words::OSXSAVE) == AVX | Words::OSXSAVE && self.saved & YMM == YMM;
            let zmm = ymm && self.saved & ZMM == ZMM;
            match feature {
                "sse2" => true,
                "ssse3" => bit(self.basic, 9),
                "bmi1" => bit(b, 3),
                "avx2" => ymm && bit(b, 5),
                "bmi2" => bit(b, 8),
                "lzcnt" => bit(self.extended, 5),
                "gfni" => bit(c, 8),
                "avx512f" => zmm && bit(b, 16),
                "avx512bw" => zmm && bit(b, 30),
                "avx512vl" => zmm && bit(b, 31),
                "avx512vbmi" => zmm && bit(c, 1),
                _ => false,
            }
        }

        /// The best level.
        fn best(&self) -> Isa {
            let has_all = |isa: &Isa| isa.features().iter().all(|feature| self.has(feature));
            Isa::ALL.into_iter().rev().find(has_all).unwrap_or(Isa::Scalar)
        }

        fn executes_512_in_halves(&self) -> bool {
            const FP256: u32 = 1 << 2;
            const FP512: u32 = 1 << 3;
            self.widths & (FP256 | FP512) == FP256
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
        use super::{Isa, Words};

        #[test]
        fn cached_values_name_themselves() {
            for (at, isa) in Isa::ALL.into_iter().enumerate() {
                assert_eq!(isa as usize, at);
            }
            // Found, then cached.
            for _ in 0..if cfg!(miri) { 0 } else { 2 } {
                assert_eq!(super::best(), Words::of_this_cpu().best());
                assert_eq!(super::executes_512_in_halves(), Words::of_this_cpu().executes_512_in_halves());
            }
        }

        /// CPUID(1).ecx, CPUID(7).ebx and .ecx, CPUID(0x80000001).ecx, XCR0 of CPUs as sold, under a system that saves all
        /// they have.
        const CPUS: [(&str, [u32; 4], u64, Isa); 9] = [
            ("Xeon 5150, Core", [0x0004_e3bd, 0, 0, 0x0000_0001], 0, Isa::Ssse3),
            ("Opteron 2218, K8", [0x0000_2001, 0, 0, 0x0000_001f], 0, Isa::Sse2),
            ("Core i7-2600K, Sandy Bridge", [0x1fba_e3ff, 0, 0, 0x0000_0001], 0x07, Isa::Ssse3),
            ("Core i7-4650U, Haswell", [0x7fda_fbbf, 0x0000_27ab, 0, 0x0000_0021], 0x07, Isa::Avx2),
            ("Xeon, Cascade Lake", [0x7ffe_fbff, 0xd39f_fffb, 0x0808, 0x0121], 0x2e7, Isa::Avx512Bw),
            (
                "Core i9-12900K, Alder Lake",
                [0x7ffa_fbff, 0x239c_a7eb, 0x98c0_27ac, 0x0121],
                0x207,
                Isa::Avx2Gfni,
            ),
            ("EPYC 7763, Zen 3", [0x7ef8_320b, 0x219c_97a9, 0x0040_069c, 0x75c2_37ff], 0x207, Isa::Avx2),
            ("EPYC, Zen 3, KVM", [0xfffa_3203, 0x219c_07ab, 0x0040_0684, 0x0040_03f3], 0x07, Isa::Avx2),
            ("Ryzen 9, Zen 4", [0xfed8_320b, 0xf1bf_97a9, 0x0040_5fce, 0x75c2_37ff], 0xe7, Isa::Avx512),
        ];

        fn cpu([basic, b, c, extended]: [u32; 4], saved: u64) -> Words {
            Words { basic, structured: [b, c], extended, saved, widths: 0 }
        }

        #[test]
        fn cpus_have_the_levels_that_they_were_sold_with() {
            for (name, words, saved, best) in CPUS {
                assert_eq!(cpu(words, saved).best(), best, "{name}");
            }
        }

        /// What a hypervisor hides, and registers that the system does not save, take away every level that needs them and no other.
        #[test]
        fn what_is_masked_is_not_there() {
            let (_, words, saved, _) = CPUS[8];
            // Word, bit, the best level that is left.
            let masked = [
                (0, 9, Isa::Sse2),      // SSSE3
                (0, 27, Isa::Ssse3),    // OSXSAVE
                (0, 28, Isa::Ssse3),    // AVX
                (1, 3, Isa::Ssse3),     // BMI1
                (1, 5, Isa::Ssse3),     // AVX2
                (1, 8, Isa::Ssse3),     // BMI2
                (1, 16, Isa::Avx2Gfni), // AVX-512 F
                (1, 30, Isa::Avx2Gfni), // AVX-512 BW
                (1, 31, Isa::Avx2Gfni), // AVX-512 VL
                (2, 1, Isa::Avx2Gfni),  // AVX-512 VBMI
                (2, 8, Isa::Avx512Bw),  // GFNI
                (3, 5, Isa::Ssse3),     // LZCNT
            ];
            for (word, bit) in (0..4).flat_map(|word| (0..32).map(move |bit| (word, bit))) {
                let mut words = words;
                words[word] &= !(1 << bit);
                let known = masked.iter().find(|m| (m.0, m.1) == (word, bit));
                assert_eq!(cpu(words, saved).best(), known.map_or(Isa::Avx512, |m| m.2), "{word} {bit}");
            }
            for saved in 0..=0xff_u64 {
                let best = match (saved & 0x06, saved & 0xe0) {
                    (0x06, 0xe0) => Isa::Avx512,
                    (0x06, _) => Isa::Avx2Gfni,
                    _ => Isa::Ssse3,
                };
                assert_eq!(cpu(words, saved).best(), best, "XCR0 {saved:#x}");
            }
        }

        #[test]
        fn only_units_of_256_bits_execute_512_in_halves() {
            for (widths, halves) in [(0, false), (0x2, false), (0x6, true), (0xa, false), (0xe, false)] {
                assert_eq!(
                    Words { widths, ..Words::default() }.executes_512_in_halves(),
                    halves,
                    "{widths:#x}"
                );
            }
        }

        /// Each feature that a level names is one that can be there, and the standard library has found the same.
        #[test]
        fn features_are_those_that_the_standard_library_finds() {
            let all = cpu([u32::MAX; 4], u64::MAX);
            let x86 = || Isa::ALL.into_iter().filter(|isa| isa.implies(Isa::Sse2));
            for feature in x86().flat_map(|isa| isa.features()) {
                assert!(all.has(feature), "{feature} is never found");
            }
            #[cfg(all(feature = "std", not(miri)))]
            {
                let here = Words::of_this_cpu();
                macro_rules! compare {
                    ($($feature:tt)*) => {{
                        let compared = [$($feature),*];
                        assert!(x86().flat_map(|isa| isa.features()).all(|f| compared.contains(f)), "compare! has only {compared:?}");
                        $(assert_eq!(here.has($feature), std::arch::is_x86_feature_detected!($feature), $feature);)*
                    }};
                }
                compare!("sse2" "ssse3" "avx2" "bmi1" "bmi2" "lzcnt" "gfni" "avx512f" "avx512bw" "avx512vl" "avx512vbmi");
            }
        }
    }
}
