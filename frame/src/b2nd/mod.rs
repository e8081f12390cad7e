//! N-dimensional arrays on a frame: the `b2nd` metalayer (docs/formats/b2nd.md).
mod array;
mod cache;
pub mod carrier;
mod create;
mod defaults;
mod gather;
#[cfg(test)]
mod model;
mod read;
mod resize;
mod select;
mod show;
mod spec;
mod strided;
mod typed;
mod write;

pub use crate::dtype::Dtype;
pub use crate::shape::{Dims, Geometry, MAX_CHUNK_BYTES, MAX_CHUNKS, MAX_DIM, metalayer};
pub use array::{NdArray, Opaque};
pub use defaults::{Caches, default_parts};
pub use read::Region;
pub use select::{Selection, Take};
pub use show::show;
pub use spec::Spec;
pub use strided::transposed;
pub use typed::Element;
