//! [`SuperChunk`]: a sequence of chunks that together hold one long array of items, stored as a
//! contiguous or sparse frame, in memory or on disk. One API for all four.
//!
//! ```
//! use blosc_core::Params;
//! use blosc_frame::SuperChunk;
//!
//! let mut sc = SuperChunk::memory(&Params::new(4))?;
//! sc.set_chunksize(400)?;
//! sc.append(&[1; 1000])?;                     // two chunks of 400 bytes and one of 200
//! sc.set_vlmetalayer("note", b"\xa2hi")?;
//! let frame = sc.into_bytes()?;
//!
//! let sc = SuperChunk::from_slice(&frame)?;
//! let mut ten = [0; 40];
//! sc.read_items(95..105, &mut ten)?;          // crosses from chunk 0 to chunk 1
//! assert_eq!((sc.nchunks(), ten), (3, [1; 40]));
//! # Ok::<(), blosc_frame::Error>(())
//! ```
//! Changes gather in memory and behind the end of the frame; [`SuperChunk::commit`] makes all of them
//! visible in one atomic step. Without it the frame on disk stays what it was.

mod append;
mod checksum;
mod commit;
mod contiguous;
mod copy;
mod draft;
mod edit;
mod fill;
mod index;
mod load;
mod meta;
mod metalayers;
mod once;
mod plan;
mod put;
mod read;
mod shared;
mod sizes;
mod sparse;
mod store;
#[cfg(feature = "std")]
mod stream;
mod superchunk;

pub use checksum::ChecksumState;
pub use copy::Compacted;
#[cfg(all(feature = "std", feature = "classic"))]
pub(crate) use index::Index;
pub(crate) use load::{Wanted, has_blocks_of};
pub(crate) use once::Once;
pub use plan::Plan;
pub(crate) use plan::{Ahead, Part, Wish};
pub use read::RawChunk;
pub(crate) use shared::{Loaded, Shared, Stored};
pub(crate) use sparse::INDEX_NAME;
#[cfg(feature = "std")]
pub use stream::{Reader, Writer};
pub use superchunk::{DEFAULT_CHUNKSIZE, SuperChunk};
