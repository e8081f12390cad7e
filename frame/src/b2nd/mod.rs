//! N-dimensional arrays on a frame: the `b2nd` metalayer (docs/formats/b2nd.md).
mod array;
mod cache;
pub mod carrier;
mod create;
mod defaults;
mod dims;
pub mod dtype;
mod gather;
mod geometry;
pub mod metalayer;
#[cfg(test)]
mod model;
pub mod npy;
mod read;
mod resize;
mod select;
mod show;
mod spec;
mod strided;
mod typed;
mod write;

pub use array::{NdArray, Opaque};
pub use defaults::{Caches, default_parts};
pub use dims::{Dims, MAX_DIM};
pub use dtype::Dtype;
pub use geometry::{Geometry, MAX_CHUNK_BYTES, MAX_CHUNKS};
pub use read::Region;
pub use select::{Selection, Take};
pub use show::show;
pub use spec::Spec;
pub use strided::transposed;
pub use typed::Element;
