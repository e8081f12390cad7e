#![cfg_attr(all(feature = "std", feature = "classic"), doc = include_str!("../README.md"))]
#![cfg_attr(not(all(feature = "std", feature = "classic")), doc = "Containers of Blosc chunks.")]
//!
//! # Items
//!
//! | for | there are |
//! |---|---|
//! | whatever lies at a path | `open_any`, `open_any_mut`, and the module `any` |
//! | frames of chunks | `SuperChunk`; [`cframe`] reads them without an allocator |
//! | arrays | `NdArray`, in `b2nd` with selections and specifications; element types in `dtype` |
//! | rows of other containers | `Rows`, over `bloscpack`, `bcolz` and `blaze` |
//! | stores and tables | `Store`, `store`, `table` (features `store` and `table`) |
//! | copies, checks, advice | `convert` and `advise` take any container, `verify` and `repair` frames |
//! | where bytes come from and go to | [`io`] |
//! | bounds and errors | [`Limits`]; [`Error`] with the [`Structure`], field and offset, [`IoError`], `FileError` |
#![no_std]
#![forbid(unsafe_code)]
#![deny(clippy::missing_errors_doc)]
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
#[cfg(feature = "std")]
pub mod hdf5;
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
#[cfg(feature = "std")]
mod parallel;
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
#[doc(inline)]
pub use any::{open_any, open_any_mut};
#[cfg(feature = "alloc")]
#[doc(inline)]
pub use b2nd::NdArray;
#[cfg(feature = "std")]
#[doc(inline)]
pub use error::FileError;
#[doc(inline)]
pub use error::{Error, IoError, IoKind, Structure};
#[doc(inline)]
pub use limits::Limits;
#[cfg(feature = "alloc")]
#[doc(inline)]
pub use rows::Rows;
#[cfg(feature = "alloc")]
#[doc(inline)]
pub use schunk::SuperChunk;
#[cfg(feature = "store")]
#[doc(inline)]
pub use store::Store;

#[cfg(all(doctest, feature = "std"))]
#[doc = include_str!("../../README.md")]
pub mod readme_of_the_project {}
