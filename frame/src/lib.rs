#![cfg_attr(all(feature = "std", feature = "classic"), doc = include_str!("../README.md"))]
#![cfg_attr(not(all(feature = "std", feature = "classic")), doc = "Containers of Blosc chunks.")]
#![no_std]
#![forbid(unsafe_code)]
#![cfg_attr(docsrs, feature(doc_cfg))]

#[cfg(feature = "alloc")]
extern crate alloc;
#[cfg(feature = "std")]
extern crate std;

#[cfg(feature = "advise")]
pub mod advise;
#[cfg(all(feature = "std", feature = "classic"))]
pub mod any;
#[cfg(feature = "alloc")]
pub mod b2nd;
#[cfg(all(feature = "std", feature = "classic"))]
pub mod bcolz;
#[cfg(all(feature = "std", feature = "classic"))]
pub mod blaze;
#[cfg(feature = "classic")]
pub mod bloscpack;
pub mod cframe;
#[cfg(all(feature = "std", feature = "classic"))]
pub mod convert;
#[cfg(feature = "alloc")]
pub mod dtype;
pub mod error;
pub mod io;
#[cfg(all(feature = "std", feature = "classic"))]
mod kind;
pub mod limits;
#[cfg(feature = "alloc")]
pub mod msgpack;
#[cfg(feature = "alloc")]
pub mod npy;
#[cfg(all(feature = "std", feature = "classic"))]
mod packed;
#[cfg(feature = "alloc")]
pub mod plain;
#[cfg(feature = "alloc")]
pub mod repair;
#[cfg(feature = "alloc")]
pub mod reversed;
#[cfg(feature = "alloc")]
pub mod rows;
#[cfg(feature = "alloc")]
pub mod schunk;
#[cfg(feature = "alloc")]
pub mod shape;
#[cfg(feature = "alloc")]
mod spare;
#[cfg(feature = "store")]
pub mod store;
#[cfg(feature = "table")]
pub mod table;
#[cfg(feature = "alloc")]
pub mod tensor;
#[cfg(feature = "alloc")]
pub mod value;
#[cfg(feature = "alloc")]
pub mod verify;

#[cfg(all(feature = "std", feature = "classic"))]
pub use any::{open_any, open_any_mut};
#[cfg(feature = "std")]
pub use error::FileError;
pub use error::{Error, IoError, IoKind, Structure};
pub use limits::Limits;
#[cfg(feature = "alloc")]
pub use rows::Rows;
#[cfg(feature = "alloc")]
pub use schunk::SuperChunk;
#[cfg(feature = "store")]
pub use store::Store;

#[cfg(all(doctest, feature = "std"))]
#[doc = include_str!("../../README.md")]
pub mod readme_of_the_project {}
