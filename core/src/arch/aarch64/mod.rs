//! aarch64 kernels.

pub(super) mod neon;
