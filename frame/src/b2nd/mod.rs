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
mod kept;
mod layout;
#[cfg(test)]
mod model;
mod pieces;
mod put;
mod read;
mod resize;
mod room;
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
pub use array::{ArrayOn, ArrayView, NdArray};
pub use cache::Cache;
pub use defaults::{Caches, default_parts};
#[cfg(feature = "ndarray")]
pub use files::{read_b2nd, write_b2nd};
pub use layout::{Layout, Opaque};
pub use read::Region;
pub use select::{Selection, Take};
pub use show::show;
pub use spec::Spec;
pub use strided::copy_box;
pub use through::{ChunkAccess, copy_between, read_flat};
pub use typed::Element;
