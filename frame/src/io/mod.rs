//! Where the bytes of a container lie.
//!
//! | trait | is | implemented by |
//! |---|---|---|
//! | [`ReadAt`] | bytes that can be read at any position | `[u8]`, `Vec<u8>`, `Bytes`, [`std::fs::File`], [`Pieces`]; [`Offset`] and [`Far`] around another |
//! | [`WriteAt`] | … and written, cut and flushed | `Vec<u8>`, `File`, and each [`Store`] |
//! | [`Store`] | … and replaced as a whole in one atomic step | `Vec<u8>`, [`PathFile`], [`PooledFile`], [`DirFile`]; `File` and [`ReadOnly`] refuse |
//! | [`Directory`] | a flat set of named files | [`FsDir`], [`MemDir`], [`FaultDir`] |
//!
//! Positions are never part of the state, so reading needs only `&self` and threads can share a source.
//! A caller's memory map or flash region is a `&[u8]`; anything else (an HTTP range reader) implements
//! [`ReadAt`] in ten lines. Where a request takes milliseconds, [`ReadAt::is_far`] says so, or [`Far`] around the source:
//! then readers ask for all they need at once. [`Pieces`] hold what was fetched by somebody else, in asynchronous code.

#[cfg(feature = "alloc")]
mod dir;
#[cfg(feature = "std")]
mod exchange;
#[cfg(feature = "std")]
mod fault;
#[cfg(feature = "std")]
mod file;
#[cfg(feature = "std")]
mod fs_dir;
#[cfg(feature = "std")]
mod lock;
#[cfg(feature = "alloc")]
mod memory;
#[cfg(feature = "std")]
mod new_file;
mod offset;
#[cfg(feature = "std")]
mod path;
#[cfg(feature = "alloc")]
mod pieces;
#[cfg(feature = "std")]
mod pool;
pub(crate) mod traits;

#[cfg(feature = "alloc")]
pub use dir::{DirFile, Directory, check_name};
#[cfg(feature = "std")]
pub use exchange::{keep_permissions, sync_tree};
#[cfg(feature = "std")]
pub use fault::FaultDir;
#[cfg(feature = "std")]
pub use file::PathFile;
#[cfg(feature = "std")]
pub use fs_dir::FsDir;
#[cfg(feature = "std")]
pub use lock::{Held, Locking, SidecarLock};
#[cfg(feature = "std")]
pub use memory::MemDir;
#[cfg(feature = "store")]
pub(crate) use new_file::temporary_of;
#[cfg(feature = "std")]
pub use new_file::{NewDir, NewFile, OLD, strays, sweep, sync_directory, temporary_beginning};
pub use offset::{Far, Offset, ReadOnly};
#[cfg(all(feature = "std", feature = "classic"))]
pub(crate) use path::parent;
#[cfg(feature = "alloc")]
pub use pieces::Pieces;
#[cfg(feature = "table")]
pub(crate) use pieces::Together;
#[cfg(feature = "std")]
pub use pool::{FilePool, PooledFile};
#[cfg(feature = "alloc")]
pub use traits::Shared;
#[cfg(feature = "alloc")]
pub(crate) use traits::filled;
#[cfg(all(feature = "std", feature = "classic"))]
pub(crate) use traits::forward_read;
pub use traits::{Fill, Part, ReadAt, Refill, Store, WriteAt};
