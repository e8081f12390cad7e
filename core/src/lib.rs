#![cfg_attr(all(feature = "std", feature = "codecs"), doc = include_str!("../README.md"))]
#![cfg_attr(
    not(all(feature = "std", feature = "codecs")),
    doc = "Blosc1 and Blosc2 chunks without an allocator."
)]
//!
//! # Items
//!
//! | for | there are |
//! |---|---|
//! | whole buffers on a host | [`Params`] and the functions `compress`, `decompress`, `decompress_into`; `Pool` keeps threads and memory |
//! | reading chunks | [`Chunk`] checks one, [`Decoder`] decodes it or parts of it, [`PushDecoder`] takes it in pieces; [`Header`], [`Special`], [`Limits`] |
//! | writing chunks | [`Encoder`], [`Plan`] (what memory it takes), [`max_encoded_len`]; [`chunk::ChunkWriter`], [`chunk::special`] |
//! | codecs and filters | [`Codec`], [`Filter`], [`FilterSlot`], [`Split`]; each alone in [`codec`] and [`filter`]; your own by [`chunk::plugin`] |
//! | kernels | [`Level`], [`Isa`]; the table of them is [`arch::OPERATIONS`] |
//! | errors | [`Error`], which names the [`Field`] and its offset; [`CodecError`], [`UnknownName`] |
#![no_std]
#![cfg_attr(docsrs, feature(doc_cfg))]
#![deny(clippy::missing_errors_doc)]
#![deny(clippy::alloc_instead_of_core, clippy::std_instead_of_core)]

#[cfg(any(test, feature = "alloc"))]
extern crate alloc;
#[cfg(any(test, feature = "std"))]
extern crate std;

pub mod arch;
pub mod chunk;
pub mod codec;
pub mod error;
pub mod filter;
mod names;
#[cfg(feature = "alloc")]
pub mod pool;

#[doc(inline)]
pub use arch::level::{Isa, Level};
#[doc(inline)]
pub use arch::out::{Out, Room};
#[doc(inline)]
pub use chunk::limits::Limits;
#[doc(inline)]
pub use chunk::params::{FilterSlot, Params, Split};
#[doc(inline)]
pub use chunk::{
    Chunk, ChunkContext, Decoder, Encoder, Header, Plan, PushDecoder, PushState, Special, max_encoded_len,
};
#[doc(inline)]
pub use codec::Codec;
#[doc(inline)]
pub use error::{CodecError, Error, Field};
#[doc(inline)]
pub use filter::Filter;
#[doc(inline)]
pub use names::UnknownName;
#[cfg(feature = "std")]
#[doc(inline)]
pub use pool::Runner;
#[cfg(feature = "alloc")]
#[doc(inline)]
pub use pool::{Pool, compress, decompress, decompress_into};
