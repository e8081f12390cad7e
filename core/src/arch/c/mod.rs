//! C libraries.

pub(crate) mod zstd;
