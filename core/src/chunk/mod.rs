//! Chunks: the self-contained compressed unit of Blosc (docs/formats/chunk.md, all sections).
//!
//! ```text
//! +--------+-----------------+--------------+---------+---------+---
//! | header | block starts    | [dictionary] | block 0 | block 1 | …     ordinary
//! | 16/32  | nblocks × i32   | i32 + bytes  | streams | streams |
//! +--------+-----------------+--------------+---------+---------+---
//! | header | the plain bytes |                                        stored
//! | header | [value]         |                                        special: zeros, NaN, value, uninit
//! +--------+-----------------+
//! stream = size: i32, then   0: zeros | -v: token byte 1, a run of v | n: n raw bytes | less: codec output
//! ```
//! [`Chunk::parse`] checks every offset once; [`Decoder`] and [`Encoder`] do the work in scratch
//! memory of the caller.

mod block_size;
mod blocks;
mod c_blosc;
mod context;
mod decode;
mod encode;
mod header;
pub mod lazy;
pub mod limits;
pub mod params;
mod pipeline;
pub mod plugin;
pub mod special;
mod view;

pub use blocks::{Stream, Streams};
pub use context::ChunkContext;
#[cfg(feature = "alloc")]
pub(crate) use decode::copy_plain;
pub use decode::push::{Block, PushDecoder};
pub use decode::push_state::PushState;
pub use decode::{BlockDecoder, Decoder};
#[cfg(feature = "alloc")]
pub(crate) use encode::context_for;
#[cfg(feature = "std")]
pub(crate) use encode::{Appender, Progress, write_stored};
pub use encode::{
    BlockEncoder, ChunkWriter, EncodedBlock, Encoder, Plan, max_encoded_len, max_encoded_vl_len,
};
pub use header::{EXTENDED_HEADER, Header, MAX_BLOCKSIZE, MAX_NBYTES, SHORT_HEADER, Special};
pub use view::Chunk;
