//! What LZ encoders read of their input.

pub(crate) mod hash;
#[cfg(any(feature = "lz4", feature = "zlib"))]
pub(crate) mod lookahead;
#[cfg(feature = "lz4")]
pub(crate) mod recent;
pub(crate) mod words;
