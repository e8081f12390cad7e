//! N-dimensional arrays on a frame: the `b2nd` metalayer (format document b2nd.md).
mod defaults;
mod dims;
pub mod dtype;
mod geometry;
pub mod metalayer;
#[cfg(test)]
mod model;
pub mod npy;
#[allow(dead_code)] // until arrays are read through them
mod select;
#[allow(dead_code)]
mod strided;

pub use defaults::{Caches, default_parts};
pub use dims::{Dims, MAX_DIM};
pub use geometry::{Geometry, MAX_CHUNK_BYTES, MAX_CHUNKS};
pub use select::{Selection, Take};
