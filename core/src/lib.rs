#![cfg_attr(all(feature = "std", feature = "codecs"), doc = include_str!("../README.md"))]
#![cfg_attr(
    not(all(feature = "std", feature = "codecs")),
    doc = "Blosc1 and Blosc2 chunks without an allocator."
)]
#![no_std]
#![cfg_attr(docsrs, feature(doc_cfg))]
#![deny(clippy::alloc_instead_of_core, clippy::std_instead_of_core)]

#[cfg(feature = "alloc")]
extern crate alloc;
#[cfg(feature = "std")]
extern crate std;

pub mod arch;
pub mod chunk;
pub mod codec;
pub mod error;
pub mod filter;
mod names;
#[cfg(feature = "alloc")]
pub mod pool;

pub use arch::level::{Isa, Level};
pub use arch::out::{Out, Room};
pub use chunk::limits::Limits;
pub use chunk::params::{FilterSlot, Params, Split};
pub use chunk::{
    Chunk, ChunkContext, Decoder, Encoder, Header, Plan, PushDecoder, PushState, Special, max_encoded_len,
};
pub use codec::Codec;
pub use error::{CodecError, Error, Field};
pub use filter::Filter;
pub use names::UnknownName;
#[cfg(feature = "std")]
pub use pool::Runner;
#[cfg(feature = "alloc")]
pub use pool::{Pool, compress, decompress, decompress_into};
