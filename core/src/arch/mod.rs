//! Everything that depends on the CPU, and every `unsafe` block of the crate.
pub mod copy;
pub(crate) mod elementwise;
#[cfg(any(feature = "zstd-c", all(feature = "std", feature = "zlib")))]
pub(crate) mod ffi;
pub mod level;
pub mod out;
