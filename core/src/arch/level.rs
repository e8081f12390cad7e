//! [`Level`]: proof that this CPU, and its operating system, can run an instruction set.

/// Name of an instruction set that kernels exist for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Isa {
    /// Plain Rust: the specification every other kernel is tested against.
    Scalar,
    /// x86 SSE2.
    Sse2,
    /// x86 AVX2.
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

/// Proof that kernels of one [`Isa`] may run here. Passed by value to every operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Level(Isa);

impl Level {
    /// No SIMD: what a kernel uses before, or instead of, saving vector registers.
    pub const SCALAR: Level = Level(Isa::Scalar);

    /// The best level of this machine, detected once and cached.
    pub fn best() -> Level {
        Level::SCALAR
    }

    /// Every level this machine can run, slowest first.
    pub fn available() -> impl Iterator<Item = Level> {
        core::iter::once(Level::SCALAR)
    }

    /// The level for `isa`, if this machine can run it.
    pub fn new(isa: Isa) -> Option<Level> {
        Level::available().find(|l| l.0 == isa)
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
