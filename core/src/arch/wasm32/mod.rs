//! wasm32 kernels.

pub(super) mod simd128;
