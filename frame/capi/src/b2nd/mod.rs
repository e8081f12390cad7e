//! `b2nd_array_t`: a super-chunk whose chunks are the parts of an array.
//!
//! ```text
//! array.rs    the structure, and sessions on it                context.rs  what a new array is to be
//! meta.rs     the metalayer `b2nd` as C writes and reads it     create.rs   new arrays, copies
//! slices.rs   slices in and out, selections, boxes of buffers   frames.rs   opening, saving
//! edit.rs     resize, append, insert, delete, views
//! ```

mod array;
mod context;
mod create;
mod edit;
mod frames;
mod meta;
mod slices;

#[cfg(any(test, feature = "calls"))]
pub use {array::Array, context::NdContext};
