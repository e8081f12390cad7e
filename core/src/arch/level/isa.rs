//! [`Isa`]: one row for each instruction set. Its names, what it stands for and what it implies are here and nowhere else.

use core::fmt;
use core::str::FromStr;

/// Registers that the element-wise filters are done in.
#[derive(Clone, Copy)]
#[allow(dead_code)] // Builds without registers do not ask.
pub(in crate::arch) enum ElementRegisters {
    Plain,
    Sse2,
    Avx2,
    Neon,
    Simd128,
}

/// A row of the table of levels.
struct Row {
    name: &'static str,
    title: &'static str,
    aliases: &'static [&'static str],
    features: &'static [&'static str],
    registers: ElementRegisters,
}

/// Writes [`Isa`] and its rows: name, title, other names, features, registers of element-wise filters.
macro_rules! levels {
    ($($(#[$doc:meta])* $isa:ident = $name:literal $title:literal $aliases:expr, $registers:ident, $features:expr;)*) => {
        /// Name of an instruction set that kernels exist for, slowest first.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[non_exhaustive]
        pub enum Isa { $($(#[$doc])* $isa,)* }

        impl Isa {
            /// Every name, whether or not this machine, or even this build, can run it.
            pub const ALL: [Isa; [$($name),*].len()] = [$(Isa::$isa),*];

            const fn row(self) -> &'static Row {
                match self {
                    $(Isa::$isa => &Row {
                        name: $name,
                        title: $title,
                        aliases: &$aliases,
                        features: &$features,
                        registers: ElementRegisters::$registers,
                    },)*
                }
            }
        }
    };
}

// A level implies every other whose features are among its own. The best of a machine is the last whose features it has.
levels! {
    /// Plain Rust, the specification that every other kernel is tested against: no instructions but those that the
    /// compiler may use anywhere in programs for the target.
    Scalar = "scalar" "scalar" [], Plain, [];
    /// x86 SSE2.
    Sse2 = "sse2" "SSE2" [], Sse2, ["sse2"];
    /// x86 SSSE3: every x86-64 CPU since about 2011.
    Ssse3 = "ssse3" "SSSE3" [], Sse2, ["sse2", "ssse3"];
    /// x86 AVX2 with BMI1, BMI2 and LZCNT: every CPU with AVX2 has them, but a hypervisor may hide them.
    Avx2 = "avx2" "AVX2" [], Avx2, ["sse2", "ssse3", "avx2", "bmi1", "bmi2", "lzcnt"];
    /// x86 AVX-512 F/BW/VL without VBMI and GFNI: Skylake-SP and Cascade Lake. CPUs of [`Avx2Gfni`](Self::Avx2Gfni) need
    /// not have it.
    Avx512Bw = "avx512bw" "AVX-512BW" [], Avx2,
        ["sse2", "ssse3", "avx2", "bmi1", "bmi2", "lzcnt", "avx512f", "avx512bw", "avx512vl"];
    /// x86 AVX2 + GFNI.
    Avx2Gfni = "avx2-gfni" "AVX2+GFNI" ["gfni"], Avx2,
        ["sse2", "ssse3", "avx2", "bmi1", "bmi2", "lzcnt", "gfni"];
    /// x86 AVX-512 F/BW/VL/VBMI + GFNI.
    Avx512 = "avx512" "AVX-512 VBMI" ["avx512vbmi"], Avx2,
        ["sse2", "ssse3", "avx2", "bmi1", "bmi2", "lzcnt", "gfni", "avx512f", "avx512bw", "avx512vl", "avx512vbmi"];
    /// aarch64 NEON.
    Neon = "neon" "NEON" [], Neon, ["neon"];
    /// wasm simd128.
    Simd128 = "simd128" "wasm simd128" [], Simd128, ["simd128"];
}

impl Isa {
    /// The name as users type it.
    ///
    /// ```
    /// use blosc_core::Isa;
    /// assert_eq!(Isa::Avx2Gfni.name(), "avx2-gfni");
    /// ```
    pub const fn name(self) -> &'static str {
        self.row().name
    }

    /// The name as people write it.
    ///
    /// ```
    /// use blosc_core::Isa;
    /// assert_eq!(Isa::Avx2Gfni.title(), "AVX2+GFNI");
    /// ```
    pub const fn title(self) -> &'static str {
        self.row().title
    }

    /// Other names that users may type.
    pub const fn aliases(self) -> &'static [&'static str] {
        self.row().aliases
    }

    /// The CPU features, by their names in Rust, that a [`Level`](super::Level) of this instruction set proves.
    ///
    /// ```
    /// use blosc_core::Isa;
    /// assert!(Isa::Avx2.features().contains(&"bmi2"));
    /// ```
    pub const fn features(self) -> &'static [&'static str] {
        self.row().features
    }

    /// Whether every CPU with this instruction set has the other one, too.
    ///
    /// ```
    /// use blosc_core::Isa;
    /// assert!(Isa::Avx512.implies(Isa::Avx2Gfni) && !Isa::Avx2Gfni.implies(Isa::Avx512Bw));
    /// ```
    pub const fn implies(self, other: Isa) -> bool {
        self.proves(other.features())
    }

    /// Whether a level of this instruction set proves all of these features.
    pub(in crate::arch) const fn proves(self, features: &[&str]) -> bool {
        let (own, mut rest) = (self.features(), features);
        while let [feature, others @ ..] = rest {
            if !contains(own, feature) {
                return false;
            }
            rest = others;
        }
        true
    }

    /// The registers of element-wise filters.
    #[allow(dead_code)] // Builds without registers do not ask.
    #[inline(always)]
    pub(in crate::arch) const fn element_registers(self) -> ElementRegisters {
        self.row().registers
    }

    /// The inverse of [`Isa::name`] and [`Isa::aliases`].
    pub fn from_name(name: &str) -> Option<Isa> {
        Isa::ALL.into_iter().find(|isa| isa.name() == name || isa.aliases().contains(&name))
    }
}

/// Whether `name` is in the list, for the compiler too.
const fn contains(list: &[&str], name: &str) -> bool {
    let mut rest = list;
    while let [first, others @ ..] = rest {
        if equal(first.as_bytes(), name.as_bytes()) {
            return true;
        }
        rest = others;
    }
    false
}

const fn equal(mut a: &[u8], mut b: &[u8]) -> bool {
    while let ([x, more_a @ ..], [y, more_b @ ..]) = (a, b) {
        if *x != *y {
            return false;
        }
        (a, b) = (more_a, more_b);
    }
    a.is_empty() && b.is_empty()
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
