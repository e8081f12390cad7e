//! Every choice by [`Level`]: the kernel table, and what levels allow the loops outside it. No other file asks a level which
//! it is; a test reads the source for that.
//!
//! The table has one row per operation and instruction set. A level without a row of its own runs the best row that it implies;
//! the first is the scalar form, which is the operation's specification. Tests and benchmarks walk [`OPERATIONS`] times [`Level::available`].

#[cfg(all(target_arch = "aarch64", target_feature = "neon", target_endian = "little"))]
use super::aarch64;
use super::level::{ElementRegisters, Isa, Level};
use super::out::Out;
use super::planes::{Planes, Stores};
use super::scalar;
#[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
use super::wasm32;
#[cfg(all(any(target_arch = "x86", target_arch = "x86_64"), target_feature = "sse2"))]
use super::x86;

/// An operation of the kernel table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Operation {
    /// Name of the operation.
    pub name: &'static str,
    /// Instruction sets of this build that have a kernel of their own; `Scalar` always has one.
    pub isas: &'static [Isa],
}

/// For each level the best of `rows` that it implies.
const fn nearest(rows: &[Isa]) -> [Isa; Isa::ALL.len()] {
    let mut found = [Isa::Scalar; Isa::ALL.len()];
    let mut level = 0;
    while level < found.len() {
        let mut row = 0;
        while row < rows.len() {
            if Isa::ALL[level].implies(rows[row]) && rows[row] as usize >= found[level] as usize {
                found[level] = rows[row];
            }
            row += 1;
        }
        level += 1;
    }
    found
}

/// Writes one operation's dispatcher and its row list. A row is left out of builds for other CPUs.
macro_rules! kernels {
    ($($(#[$doc:meta])* fn $name:ident($($arg:ident: $ty:ty),*) = $scalar:path {
        x86 { $($x_isa:ident => $x:path),* }
        aarch64 { $($a_isa:ident => $a:path),* }
        wasm32 { $($w_isa:ident => $w:path),* }
    })*) => {
        /// The kernel table: every operation and the instruction sets it has kernels for.
        pub const OPERATIONS: &[Operation] = &[$(Operation { name: stringify!($name), isas: rows::$name }),*];

        #[allow(non_upper_case_globals)]
        mod rows {
            use super::Isa;
            $(pub(super) const $name: &[Isa] = &[
                Isa::Scalar,
                $(#[cfg(all(any(target_arch = "x86", target_arch = "x86_64"), target_feature = "sse2"))] Isa::$x_isa,)*
                $(#[cfg(all(target_arch = "aarch64", target_feature = "neon", target_endian = "little"))] Isa::$a_isa,)*
                $(#[cfg(all(target_arch = "wasm32", target_feature = "simd128"))] Isa::$w_isa,)*
            ];)*
        }
        $(
            $(#[$doc])*
            #[inline]
            pub(crate) fn $name(level: Level, $($arg: $ty),*) {
                const NEAREST: [Isa; Isa::ALL.len()] = nearest(rows::$name);
                let nearest = NEAREST.get(level.isa() as usize).copied().unwrap_or(Isa::Scalar);
                let kernel: unsafe fn($($ty),*) = match nearest {
                    $(#[cfg(all(any(target_arch = "x86", target_arch = "x86_64"), target_feature = "sse2"))]
                    Isa::$x_isa => $x,)*
                    $(#[cfg(all(target_arch = "aarch64", target_feature = "neon", target_endian = "little"))]
                    Isa::$a_isa => $a,)*
                    $(#[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
                    Isa::$w_isa => $w,)*
                    _ => $scalar,
                };
                // SAFETY: a `Level` proves the CPU and system, the caller the lengths (stated at each row).
                unsafe { kernel($($arg),*) }
            }
        )*
    };
}

kernels! {
    /// `n = src.len() / width` items apart: `width > 1`, `n > 0`, `src.len() = n * width`,
    /// `pitch >= n`, `out.len() = (width - 1) * pitch + n`.
    fn split(width: usize, src: &[u8], out: Out<'_>, pitch: usize) = scalar::split {
        x86 { Sse2 => x86::sse2::split, Ssse3 => x86::sse2::ssse3::split, Avx2 => x86::avx2::split, Avx512Bw => x86::avx512bw::split, Avx2Gfni => x86::avx2::split, Avx512 => x86::avx512::split }
        aarch64 { Neon => aarch64::neon::split }
        wasm32 { Simd128 => wasm32::simd128::split }
    }
    /// `n = out.len() / width` items together: `width > 1`, `n > 0`, `out.len() = n * width`, and
    /// `planes` has `width` planes of at least `n` bytes.
    fn join(width: usize, planes: Planes<'_>, out: Out<'_>, stores: Stores) = scalar::join {
        x86 { Sse2 => x86::sse2::join, Ssse3 => x86::sse2::ssse3::join, Avx2 => x86::avx2::join, Avx512Bw => x86::avx512bw::join, Avx2Gfni => x86::avx2::join, Avx512 => x86::avx512::join }
        aarch64 { Neon => aarch64::neon::join }
        wasm32 { Simd128 => wasm32::simd128::join }
    }
    /// `src.len() = out.len()`, a positive multiple of `8 * typesize`.
    fn bitshuffle(typesize: usize, src: &[u8], out: Out<'_>) = scalar::bitshuffle {
        x86 { Sse2 => x86::sse2::bitshuffle, Ssse3 => x86::sse2::ssse3::bitshuffle, Avx2 => x86::avx2::bitshuffle, Avx512Bw => x86::avx512bw::bitshuffle, Avx2Gfni => x86::avx2::gfni::bitshuffle, Avx512 => x86::avx512::bitshuffle }
        aarch64 { Neon => aarch64::neon::bitshuffle }
        wasm32 { Simd128 => wasm32::simd128::bitshuffle }
    }
    /// `src.len() = out.len()`, a positive multiple of `8 * typesize`.
    fn bitunshuffle(typesize: usize, src: &[u8], out: Out<'_>, stores: Stores) = scalar::bitunshuffle {
        x86 { Sse2 => x86::sse2::bitunshuffle, Ssse3 => x86::sse2::ssse3::bitunshuffle, Avx2 => x86::avx2::bitunshuffle, Avx512Bw => x86::avx512bw::bitunshuffle, Avx2Gfni => x86::avx2::gfni::bitunshuffle, Avx512 => x86::avx512::bitunshuffle }
        aarch64 { Neon => aarch64::neon::bitunshuffle }
        wasm32 { Simd128 => wasm32::simd128::bitunshuffle }
    }
}

/// The levels that prove `features`, as bits.
#[allow(dead_code)] // Builds without registers do not ask.
const fn proving(features: &[&str]) -> usize {
    let (mut levels, mut at) = (0, 0);
    while at < Isa::ALL.len() {
        if Isa::ALL[at].proves(features) {
            levels |= 1 << at;
        }
        at += 1;
    }
    levels
}

/// Whether `level` proves BMI1, BMI2, LZCNT and SSSE3: for the loops of decoders and encoders that are compiled twice.
#[cfg(all(
    feature = "std",
    target_arch = "x86_64",
    any(feature = "blosclz", feature = "lz4", feature = "zlib", feature = "zstd")
))]
#[inline(always)]
pub(in crate::arch) fn has_bit_instructions(level: Level) -> bool {
    const LEVELS: usize = proving(&["bmi1", "bmi2", "lzcnt", "ssse3"]);
    LEVELS & 1 << level.isa() as usize != 0
}

/// Whether `level` proves AVX2: for Adler-32.
#[cfg(all(feature = "zlib", target_arch = "x86_64", target_feature = "sse2"))]
#[inline(always)]
pub(in crate::arch) fn has_avx2(level: Level) -> bool {
    const LEVELS: usize = proving(&["avx2"]);
    LEVELS & 1 << level.isa() as usize != 0
}

/// Whether `level` proves AVX-512 with VBMI: for the LZ4 sequences by registers of 64 bytes.
#[cfg(all(feature = "std", target_arch = "x86_64", any(feature = "blosclz", feature = "lz4")))]
#[inline(always)]
pub(in crate::arch) fn has_avx512(level: Level) -> bool {
    const LEVELS: usize =
        proving(&["avx512f", "avx512bw", "avx512vl", "avx512vbmi", "bmi1", "bmi2", "lzcnt"]);
    LEVELS & 1 << level.isa() as usize != 0
}

/// The registers that `level` proves.
#[allow(dead_code)] // Builds without registers do not ask.
#[inline(always)]
pub(in crate::arch) fn element_registers(level: Level) -> ElementRegisters {
    level.isa().element_registers()
}
