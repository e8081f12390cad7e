//! [`Source`]: where a container lies that is opened by what its bytes say.

use super::{PathFile, ReadAt, ReadOnly, Store};
use crate::error::IoError;
use alloc::boxed::Box;
use alloc::sync::Arc;
use core::fmt;

/// Bytes that several readers share.
pub type Shared = Arc<dyn ReadAt + Send + Sync>;

/// A file of this system, or bytes that lie elsewhere and are only read: an object of an object store, a part of memory.
pub enum Source {
    /// A file, which may be open for writing, too.
    File(PathFile),
    /// Anything else that can be read.
    Other(Shared),
}

impl Source {
    /// The file, where it is one.
    pub fn file(&self) -> Option<&PathFile> {
        match self {
            Source::File(file) => Some(file),
            Source::Other(_) => None,
        }
    }

    /// Another reader of the bytes, which takes no lock.
    ///
    /// # Errors
    /// Errors of the system, which may have no handles left.
    pub fn reader(&self) -> Result<Shared, IoError> {
        Ok(match self {
            Source::File(file) => Arc::new(file.file().try_clone()?),
            Source::Other(bytes) => bytes.clone(),
        })
    }

    /// The bytes as a store. Only a file that was opened for writing can be changed.
    pub fn into_store(self) -> Box<dyn Store + Send + Sync> {
        match self {
            Source::File(file) => Box::new(file),
            Source::Other(bytes) => Box::new(ReadOnly(bytes)),
        }
    }

    fn bytes(&self) -> &(dyn ReadAt + Send + Sync) {
        match self {
            Source::File(file) => file,
            Source::Other(bytes) => &**bytes,
        }
    }
}

impl ReadAt for Source {
    super::forward_read!(this => this.bytes());
}

impl From<PathFile> for Source {
    fn from(file: PathFile) -> Source {
        Source::File(file)
    }
}

impl fmt::Debug for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Source::File(file) => file.fmt(f),
            Source::Other(_) => f.write_str("Source::Other"),
        }
    }
}
