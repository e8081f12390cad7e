//! The shape of an array and how it is cut: what the `b2nd` metalayer says (docs/formats/b2nd.md §2).
//!
//! Frames need this to decode a chunk whose filter works on the array's blocks, and `.npy` files have shapes, too,
//! so it lies below both.
mod boxes;
mod dims;
mod geometry;
pub mod metalayer;
pub mod tensor;
mod transpose;

pub(crate) use boxes::{Runs, next_box, strides};
pub use dims::{Dims, MAX_DIM};
pub use geometry::{Geometry, MAX_CHUNK_BYTES, MAX_CHUNKS};
pub(crate) use transpose::{copy_items, reverse_axes};
