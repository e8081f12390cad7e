//! Frames by their paths, in one call.

use super::SuperChunk;
use crate::error::{Error, FileError};
use crate::io::{FsDir, PathFile};
use crate::limits::Limits;
use std::path::Path;

impl SuperChunk<'static> {
    /// Opens the frame in the file or directory `path` for reading, under the default limits.
    ///
    /// ```no_run
    /// use blosc_frame::SuperChunk;
    /// let mut days = SuperChunk::open_path_mut("days.b2frame")?;
    /// days.append(&[0; 800])?;
    /// days.commit()?;
    /// assert_eq!(SuperChunk::open_path("days.b2frame")?.nbytes() % 800, 0);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// What is no frame, or is damaged; errors of the file system. They name the path.
    pub fn open_path(path: impl AsRef<Path>) -> Result<SuperChunk<'static>, FileError> {
        let (path, limits) = (path.as_ref(), &Limits::DEFAULT);
        match path.is_dir() {
            true => FsDir::open(path).map_err(Error::from).and_then(|dir| SuperChunk::open_dir(dir, limits)),
            false => SuperChunk::open_read(PathFile::open(path)?, limits),
        }
        .map_err(FileError::at(path))
    }

    /// As [`SuperChunk::open_path`], to change it, too: other writers are kept out until it is dropped.
    ///
    /// # Errors
    /// As [`SuperChunk::open_path`], and for files that may not be written.
    pub fn open_path_mut(path: impl AsRef<Path>) -> Result<SuperChunk<'static>, FileError> {
        let (path, limits) = (path.as_ref(), &Limits::DEFAULT);
        match path.is_dir() {
            true => {
                FsDir::open_rw(path).map_err(Error::from).and_then(|dir| SuperChunk::open_dir(dir, limits))
            }
            false => SuperChunk::open(PathFile::open_rw(path)?, limits),
        }
        .map_err(FileError::at(path))
    }
}
