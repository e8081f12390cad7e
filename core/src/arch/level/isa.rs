//! [`Isa`]: the names of instruction sets, and what each stands for.

use core::fmt;
use core::str::FromStr;

/// Name of an instruction set that kernels exist for, each including the ones above it of its family.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Isa {
    /// Plain Rust, the specification that every other kernel is tested against: no instructions but those that the
    /// compiler may use anywhere in programs for the target.
    Scalar,
    /// x86 SSE2.
    Sse2,
    /// x86 SSSE3: every x86-64 CPU since about 2011.
    Ssse3,
    /// x86 AVX2 with BMI1, BMI2 and LZCNT: every CPU with AVX2 has them, but a hypervisor may hide them.
    Avx2,
    /// x86 AVX-512 F/BW/VL without VBMI and GFNI: Skylake-SP and Cascade Lake. CPUs of [`Avx2Gfni`](Self::Avx2Gfni) need
    /// not have it.
    Avx512Bw,
    /// x86 AVX2 + GFNI.
    Avx2Gfni,
    /// x86 AVX-512 F/BW/VL/VBMI + GFNI.
    Avx512,
    /// aarch64 NEON.
    Neon,
    /// wasm simd128.
    Simd128,
}

impl Isa {
    /// Every name, whether or not this machine, or even this build, can run it.
    pub const ALL: [Isa; 9] = [
        Isa::Scalar,
        Isa::Sse2,
        Isa::Ssse3,
        Isa::Avx2,
        Isa::Avx512Bw,
        Isa::Avx2Gfni,
        Isa::Avx512,
        Isa::Neon,
        Isa::Simd128,
    ];

    /// The name as users type it.
    ///
    /// ```
    /// use blosc_core::Isa;
    /// assert_eq!(Isa::Avx2Gfni.name(), "avx2-gfni");
    /// ```
    pub const fn name(self) -> &'static str {
        match self {
            Isa::Scalar => "scalar",
            Isa::Sse2 => "sse2",
            Isa::Ssse3 => "ssse3",
            Isa::Avx2 => "avx2",
            Isa::Avx512Bw => "avx512bw",
            Isa::Avx2Gfni => "avx2-gfni",
            Isa::Avx512 => "avx512",
            Isa::Neon => "neon",
            Isa::Simd128 => "simd128",
        }
    }

    /// The CPU features, by their names in Rust, that a [`Level`](super::Level) of this instruction set proves.
    ///
    /// ```
    /// use blosc_core::Isa;
    /// assert!(Isa::Avx2.features().contains(&"bmi2"));
    /// ```
    pub const fn features(self) -> &'static [&'static str] {
        // Each x86 set is the start of the next, but for `Avx512Bw`.
        const X86: &[&str] = &[
            "sse2",
            "ssse3",
            "avx2",
            "bmi1",
            "bmi2",
            "lzcnt",
            "gfni",
            "avx512f",
            "avx512bw",
            "avx512vl",
            "avx512vbmi",
        ];
        match self {
            Isa::Scalar => &[],
            Isa::Sse2 => X86.split_at(1).0,
            Isa::Ssse3 => X86.split_at(2).0,
            Isa::Avx2 => X86.split_at(6).0,
            Isa::Avx512Bw => {
                &["sse2", "ssse3", "avx2", "bmi1", "bmi2", "lzcnt", "avx512f", "avx512bw", "avx512vl"]
            }
            Isa::Avx2Gfni => X86.split_at(7).0,
            Isa::Avx512 => X86,
            Isa::Neon => &["neon"],
            Isa::Simd128 => &["simd128"],
        }
    }

    /// The inverse of [`Isa::name`].
    pub fn from_name(name: &str) -> Option<Isa> {
        Isa::ALL.into_iter().find(|isa| isa.name() == name)
    }
}

impl fmt::Display for Isa {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// No instruction set has this name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnknownIsa;

impl fmt::Display for UnknownIsa {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("unknown instruction set; known are")?;
        Isa::ALL.iter().try_for_each(|isa| write!(f, " {isa}"))
    }
}

impl core::error::Error for UnknownIsa {}

impl FromStr for Isa {
    type Err = UnknownIsa;
    fn from_str(name: &str) -> Result<Isa, UnknownIsa> {
        Isa::from_name(name).ok_or(UnknownIsa)
    }
}
