//! N-dimensional arrays on a frame: the `b2nd` metalayer (format document b2nd.md).
#![allow(dead_code)] // until arrays can be written

mod array;
mod defaults;
mod dims;
pub mod dtype;
mod geometry;
pub mod metalayer;
#[cfg(test)]
mod model;
pub mod npy;
mod read;
mod select;
mod strided;

pub use array::{NdArray, Opaque};
pub use defaults::{Caches, default_parts};
pub use dims::{Dims, MAX_DIM};
pub use dtype::Dtype;
pub use geometry::{Geometry, MAX_CHUNK_BYTES, MAX_CHUNKS};
pub use read::Region;
pub use select::{Selection, Take};
