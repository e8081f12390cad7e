#![doc = include_str!("../README.md")]
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
#[cfg(feature = "alloc")]
pub mod conv;
pub mod error;
pub mod filter;

pub use arch::level::{Isa, Level};
pub use arch::out::Out;
pub use chunk::limits::Limits;
pub use chunk::params::{FilterSlot, Params, Split};
pub use chunk::{Chunk, Decoder, Encoder, Header, Special, Surroundings, max_encoded_len};
pub use codec::Codec;
#[cfg(feature = "alloc")]
pub use conv::{Pool, compress, decompress};
pub use error::{CodecError, Error, Field};
pub use filter::Filter;
