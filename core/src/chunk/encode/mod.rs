//! [`Encoder`] and [`Plan`]: writing chunks (docs/formats/chunk.md §6.4).
//!
//! ```text
//! source block --filters--> A, B, … --one stream, or one per byte plane--> codec --> destination
//! each stream: all bytes equal -> run;  codec does not shrink it -> stored;  else coded
//! all streams zero runs -> special chunk of 32 bytes;  larger than the data -> stored chunk
//! ```
//! Blocks are independent. A [`Plan`] lets the caller encode them on its own executor, and a
//! [`ChunkWriter`] puts them together in order: the bytes are the same however it is done.
#![deny(clippy::indexing_slicing, clippy::arithmetic_side_effects)]

mod block;
mod encoder;
mod plan;
mod streams;
mod vlblocks;
mod writer;

pub use block::BlockEncoder;
pub use encoder::Encoder;
#[cfg(feature = "alloc")]
pub(crate) use encoder::context_for;
pub use plan::{EncodedBlock, Plan};
pub use vlblocks::max_encoded_vl_len;
pub use writer::ChunkWriter;
#[cfg(feature = "std")]
pub(crate) use writer::{Appender, Progress, write_stored};

use super::header::EXTENDED_HEADER;

/// Most bytes a chunk of `nbytes` bytes can take: the extended header and the stored data.
pub const fn max_encoded_len(nbytes: usize) -> usize {
    nbytes.saturating_add(EXTENDED_HEADER)
}
