//! N-dimensional arrays on a frame: the `b2nd` metalayer (format document b2nd.md).
mod dims;
pub mod dtype;
pub mod metalayer;

pub use dims::{Dims, MAX_DIM};
