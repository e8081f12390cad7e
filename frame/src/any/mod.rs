//! [`open`]: whatever a path holds, as the type that knows it best; and [`open_any`]: as rows, behind one interface.
//!
//! [`Kind`] says which containers there are and how they are told apart.
//!
//! Decoded bytes, of arrays the items in C order of their shape however they are stored, are read at any position,
//! and changed row by row where [`open_any_mut`] opened them:
//! see [`Rows`](crate::Rows). Only the chunks or super-chunks touched are written anew.
//!
//! # Example
//! ```no_run
//! # use blosc_frame::{any::open_any_mut, Limits, Rows};
//! # use blosc_core::Pool;
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let mut opened = open_any_mut("old.blp", &Limits::default())?;
//! opened.data.append(&mut Pool::new(1), &b"sixteen bytes ..".as_slice())?;
//! # Ok(()) }
//! ```

mod array;
mod frame;
mod opened;
mod rows;

pub use crate::kind::{Found, HEAD, Kind, Source};
pub use opened::{Opened, open, open_mut};
pub use rows::{About, AnyRows, Container, of_raw, open_raw};

use crate::error::{Error, FileError};
use crate::io::Locking;
use crate::limits::Limits;
use crate::schunk::SuperChunk;
use std::path::Path;

/// Opens a container for reading, by what its first bytes or files say.
///
/// # Errors
/// [`Error::Unsupported`] for a path that is none, see [`open_raw`], and for a store. The error names the path.
pub fn open_any(path: impl AsRef<Path>, limits: &Limits) -> Result<AnyRows, FileError> {
    open_any_at(path, 0, limits)
}

/// [`open_any`] for a frame, bloscpack or NumPy file that starts at byte `offset` of a larger file.
///
/// # Errors
/// Also [`Error::Param`] if something else is there and `offset` is not 0.
pub fn open_any_at(path: impl AsRef<Path>, offset: u64, limits: &Limits) -> Result<AnyRows, FileError> {
    open_at(path.as_ref(), offset, limits, None)
}

fn open_at(path: &Path, offset: u64, limits: &Limits, write: Option<Locking>) -> Result<AnyRows, FileError> {
    let opened = Found::at(path, offset, write).and_then(|found| open_found(found, limits, false));
    opened.map_err(FileError::at(path))
}

/// Opens a container to change it, too, and keeps other writers out until it is dropped.
///
/// # Errors
/// As [`open_any`], and as [`PathFile::open_rw`](crate::io::PathFile::open_rw).
pub fn open_any_mut(path: impl AsRef<Path>, limits: &Limits) -> Result<AnyRows, FileError> {
    open_any_mut_with(path, limits, Locking::System)
}

/// As [`open_any_mut`], with another way to keep other writers out, or none.
///
/// # Errors
/// As [`open_any`], and as [`PathFile::open_rw`](crate::io::PathFile::open_rw).
pub fn open_any_mut_with(
    path: impl AsRef<Path>,
    limits: &Limits,
    locking: Locking,
) -> Result<AnyRows, FileError> {
    open_at(path.as_ref(), 0, limits, Some(locking))
}

/// Opens what was found. A file that was opened for writing can be changed; `anywhere` allows a manifest of shards to name directories outside its own.
///
/// # Errors
/// [`Error::Unsupported`] for a kind that has no rows here, [`Error::Param`] for an offset where none can be; damage and limits.
pub fn open_found(found: Found, limits: &Limits, anywhere: bool) -> Result<AnyRows, Error> {
    match found.kind {
        Kind::Directory => Err(rows::unknown()),
        _ => Opened::of(found, limits, anywhere)?.into_rows(),
    }
}

/// A frame, a tensor or an array as rows.
///
/// # Errors
/// Metalayers that contradict the frame.
pub fn of_frame(frame: SuperChunk<'static>) -> Result<AnyRows, Error> {
    Opened::of_frame(frame)?.into_rows()
}
