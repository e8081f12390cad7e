//! Codecs: a file or folder each, and the registry of their ids (docs/formats/chunk.md §2.12–2.13).
//!
//! Every decoder has the shape `decode(src, out, ..) -> Result<(), CodecError>`: it must fill `out`
//! exactly, read nothing outside `src`, and allocate nothing. Every encoder has the shape
//! `encode(src, dst, .., work) -> Option<usize>`: `None` means "does not fit `dst`", and the caller
//! stores the bytes.

#[cfg(feature = "blosclz")]
pub mod blosclz;
pub(crate) mod content;
pub mod context;
pub(crate) mod destination;
pub mod dispatch;
pub(crate) mod error;
#[cfg(any(feature = "lz4", feature = "zlib"))]
mod history;
mod id;
#[cfg(feature = "lz4")]
pub mod lz4;
#[cfg(feature = "lz4")]
pub mod lz4hc;
#[cfg(any(feature = "blosclz", feature = "lz4", feature = "snappy", feature = "zlib"))]
pub(crate) mod matcher;
#[cfg(feature = "plugins")]
pub mod ndlz;
#[cfg(all(feature = "std", feature = "zlib"))]
mod sample;
#[cfg(any(feature = "lz4", feature = "zlib"))]
mod search;
#[cfg(feature = "snappy")]
pub mod snappy;
#[cfg(feature = "zfp")]
pub(crate) mod zfp;
#[cfg(feature = "zlib")]
pub mod zlib;
#[cfg(all(feature = "std", feature = "zlib"))]
mod zlib_host;
#[cfg(feature = "zstd")]
pub mod zstd;
#[cfg(feature = "zstd-c")]
pub mod zstd_c;

pub use dispatch::decode_work_len;
pub use error::{CodecError, CodecErrorKind};
pub use id::Codec;
