//! Bloscpack (`.blp`) files: every layout since 2012 read, checked, appended to and written.
//!
//! ```text
//! v0, v1 : header  chunk chunk …
//! v2     : header  [offsets]  (chunk [digest]) …
//! mono   : header  [bare JSON] [offsets]  (chunk [digest]) …
//! v3     : header  [metadata section] [offsets + spare offsets]  (chunk [digest]) …
//! ```
//! All integers are little-endian. Chunks are Blosc1 chunks; each digest covers the compressed chunk.
//!
//! # Example
//! ```no_run
//! # use blosc_frame::{bloscpack::{Bloscpack, Options}, Limits};
//! # use blosc_core::Pool;
//! # fn main() -> Result<(), blosc_frame::Error> {
//! let mut pool = Pool::new(1);
//! let file = Options::default().write(&mut pool, &b"some bytes".as_slice(), Vec::new())?;
//! let pack = Bloscpack::open(file, &Limits::default())?;
//! assert_eq!(pack.read_all(&mut pool)?, b"some bytes");
//! # Ok(()) }
//! ```

mod checksum;
mod edit;
mod header;
mod index;
mod metadata;
mod numpy;
mod reader;
mod rows;
#[cfg(feature = "std")]
mod stream;
mod verify;
mod writer;

pub use checksum::{Checksum, Digest};
pub use edit::Edit;
pub use header::{Header, Layout, MAGIC, MAX_BUFFER};
#[cfg(feature = "std")]
pub(crate) use index::ChunkSizes;
pub use metadata::{MetaCodec, MetaHeader, MetaOptions, MetaRoom};
#[cfg(feature = "std")]
pub(crate) use numpy::parse_dtype;
pub use numpy::{Numpy, Order};
pub use reader::Bloscpack;
#[cfg(feature = "std")]
pub(crate) use reader::Stored;
pub use rows::PackRows;
#[cfg(feature = "std")]
pub use stream::StreamReader;
pub use verify::Report;
#[cfg(feature = "std")]
pub(crate) use writer::encode_chunk;
pub use writer::{Options, Spare, Writer};
