//! [`Level`]: proof that this CPU, and its operating system, can run an instruction set.

use super::detect;
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
    pub const ALL: [Isa; 8] =
        [Isa::Scalar, Isa::Sse2, Isa::Ssse3, Isa::Avx2, Isa::Avx2Gfni, Isa::Avx512, Isa::Neon, Isa::Simd128];

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
            Isa::Avx2Gfni => "avx2-gfni",
            Isa::Avx512 => "avx512",
            Isa::Neon => "neon",
            Isa::Simd128 => "simd128",
        }
    }

    /// The CPU features, by their names in Rust, that a [`Level`] of this instruction set proves.
    ///
    /// ```
    /// use blosc_core::Isa;
    /// assert!(Isa::Avx2.features().contains(&"bmi2"));
    /// ```
    pub const fn features(self) -> &'static [&'static str] {
        // Each x86 set is the start of the next.
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

/// Proof that kernels of one [`Isa`] may run here. Passed by value to every operation.
///
/// ```
/// use blosc_core::{Isa, Level};
/// assert!(Level::available().any(|level| level == Level::best()));
/// assert_eq!(Level::new(Isa::Scalar), Some(Level::SCALAR));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Level(Isa);

impl Level {
    /// No instruction set beyond the target's own: what an operating system kernel, which is compiled for a target without
    /// vector registers, uses before, or instead of, saving them.
    pub const SCALAR: Level = Level(Isa::Scalar);

    /// The best level of this machine, detected once and cached.
    pub fn best() -> Level {
        Level(detect::best())
    }

    /// What an operation may use that was not told: on hosts all that there is, else nothing that an operating system
    /// kernel does not save.
    pub(crate) fn usual() -> Level {
        if cfg!(feature = "std") { Level::best() } else { Level::SCALAR }
    }

    /// Every level this machine can run, slowest first.
    pub fn available() -> impl Iterator<Item = Level> {
        let best = detect::best();
        Isa::ALL.into_iter().filter(move |&isa| detect::implies(best, isa)).map(Level)
    }

    /// The level for `isa`, if this machine can run it.
    pub fn new(isa: Isa) -> Option<Level> {
        detect::implies(detect::best(), isa).then_some(Level(isa))
    }

    /// The level for `isa`, unchecked.
    ///
    /// # Safety
    /// The CPU must implement `isa` and its vector registers must be enabled and saved.
    pub const unsafe fn assume(isa: Isa) -> Level {
        Level(isa)
    }

    /// Which instruction set this is.
    pub const fn isa(self) -> Isa {
        self.0
    }
}
