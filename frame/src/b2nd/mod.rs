//! N-dimensional arrays on a frame: the `b2nd` metalayer (docs/formats/b2nd.md).
mod array;
mod cache;
pub mod carrier;
mod create;
mod defaults;
#[cfg(feature = "ndarray")]
mod files;
mod from_arrays;
mod gather;
#[cfg(test)]
mod model;
mod pieces;
mod put;
mod read;
mod resize;
mod select;
mod show;
mod spec;
mod strided;
mod through;
mod typed;
mod walk;
mod write;

pub use crate::dtype::Dtype;
pub use crate::shape::{Dims, Geometry, MAX_CHUNK_BYTES, MAX_CHUNKS, MAX_DIM, metalayer};
pub use array::{NdArray, Opaque};
pub use defaults::{Caches, default_parts};
#[cfg(feature = "ndarray")]
pub use files::{read_b2nd, write_b2nd};
pub use read::Region;
pub use select::{Selection, Take};
pub use show::show;
pub use spec::Spec;
pub use strided::{copy_box, transposed};
pub use through::{ChunkAccess, read_flat};
pub use typed::Element;
