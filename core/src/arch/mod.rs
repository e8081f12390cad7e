//! Everything that depends on the CPU, and every `unsafe` block of the crate.
//!
//! ```text
//! level/       Level: proof that the CPU and the system can run an instruction set
//! kernels      the kernel table and every other choice by level
//! scalar       the scalar forms of the kernels; planes, out, input: what kernels and decoders read and write
//! vector/      kernels by registers of any CPU; x86/, aarch64/, wasm32/: the registers
//! elementwise/ filters that work on each byte by itself, through the tokens of `pulp`
//! copy         copies by whole words; lz/: output window and pointer loops of the LZ decoders
//! search/      what LZ encoders read of their input: words, hashes, recent positions
//! entropy/     loops over bits: inflate, Huffman codes, and Adler-32
//! c/           the C zstd library
//! ```

#[cfg(all(target_arch = "aarch64", target_feature = "neon", target_endian = "little"))]
mod aarch64;
#[cfg(feature = "zstd-c")]
pub(crate) mod c {
    pub(crate) mod zstd;
}
pub(crate) mod copy;
pub(crate) mod elementwise;
#[cfg(any(feature = "blosclz", feature = "lz4", feature = "zlib", feature = "zstd"))]
pub(crate) mod entropy;
pub(crate) mod input;
pub(crate) mod kernels;
pub mod level;
pub(crate) mod lz;
pub(crate) mod out;
pub(crate) mod planes;
pub(crate) mod scalar;
pub(crate) mod search;
#[cfg(any(
    all(any(target_arch = "x86", target_arch = "x86_64"), target_feature = "sse2"),
    all(target_arch = "aarch64", target_feature = "neon", target_endian = "little"),
    all(target_arch = "wasm32", target_feature = "simd128")
))]
mod vector;
#[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
mod wasm32;
#[cfg(all(any(target_arch = "x86", target_arch = "x86_64"), target_feature = "sse2"))]
mod x86;

pub use kernels::{OPERATIONS, Operation};
