//! The Blaze directory: the chunked persistent format that was proposed for bcolz and Blaze, never shipped.
//!
//! ```text
//! root/ meta/  sizes  storage  [attributes]              JSON, or the YAML of the bcolz proposal
//!       data/  __1__.bin  __2__.bin …                    super-chunks: bloscpack files of many chunks
//!         or   data/<column>/__1__.bin …                 one directory per column of a nested dtype
//! ```
//! Chunks are counted through the files in order; all are full but the last one. Any file can be missing as
//! long as nothing of it is read, so a worker that holds some super-chunks can read those by themselves;
//! [`Shards`] puts super-chunks from several directories together.

mod column;
mod dataset;
mod shards;
mod storage;
mod superchunks;

pub use column::Column;
pub use dataset::{Blaze, Create};
pub use shards::{Shard, Shards};
pub use storage::{MetaSyntax, Names, Storage};
