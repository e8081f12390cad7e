//! [`FilePool`]: many files known by their paths, of which few are open at a time.

use super::traits::{Fill, Part, ReadAt, Refill, Store, WriteAt};
use crate::error::{Error, IoError, IoKind};
use alloc::sync::Arc;
use alloc::vec::Vec;
use std::fs::{File, Metadata, OpenOptions};
use std::path::{Path, PathBuf};
use std::sync::Mutex;

/// Files open at a time: a process may have 256 on some systems.
const MOST: usize = 64;

/// Handles of files, the one used last at the end.
type Handles = Mutex<Vec<(PathBuf, Arc<File>)>>;

/// Opens files again when they are needed, and closes those that were used longest ago.
///
/// A file must stay what it is: one that was exchanged for another in the meantime is an error, not read as if it were the
/// first. No lock is taken, and nothing is replaced in one step: what is written must be of no interest to others yet.
#[derive(Clone, Default)]
pub struct FilePool {
    handles: Arc<Handles>,
}

impl FilePool {
    /// An existing file.
    ///
    /// # Errors
    /// Errors of the file system.
    pub fn open(&self, path: &Path, write: bool) -> Result<PooledFile, IoError> {
        let path = std::path::absolute(path)?;
        let file = OpenOptions::new().read(true).write(write).open(&path)?;
        let identity = identity(&file.metadata()?);
        let pooled = PooledFile { path, write, identity, handles: Arc::clone(&self.handles) };
        pooled.keep(Arc::new(file));
        Ok(pooled)
    }
}

/// What tells a file from another one that has taken its name.
#[cfg(unix)]
fn identity(meta: &Metadata) -> (u64, u64) {
    use std::os::unix::fs::MetadataExt;
    (meta.dev(), meta.ino())
}

/// Elsewhere stable `std` does not tell, and an open file is not replaced so easily.
#[cfg(not(unix))]
fn identity(_: &Metadata) -> (u64, u64) {
    (0, 0)
}

/// A file of a [`FilePool`].
pub struct PooledFile {
    path: PathBuf,
    write: bool,
    identity: (u64, u64),
    handles: Arc<Handles>,
}

impl PooledFile {
    fn keep(&self, file: Arc<File>) {
        if let Ok(mut handles) = self.handles.lock() {
            handles.retain(|(path, _)| *path != self.path);
            if handles.len() >= MOST {
                handles.remove(0);
            }
            handles.push((self.path.clone(), file));
        }
    }

    /// The handle, opened again if it has been closed.
    fn file(&self) -> Result<Arc<File>, IoError> {
        if let Ok(mut handles) = self.handles.lock()
            && let Some(at) = handles.iter().rposition(|(path, _)| *path == self.path)
        {
            let handle = handles.remove(at);
            let file = Arc::clone(&handle.1);
            handles.push(handle);
            return Ok(file);
        }
        let file = OpenOptions::new().read(true).write(self.write).open(&self.path)?;
        if identity(&file.metadata()?) != self.identity {
            return Err(IoKind::NotFound.into());
        }
        let file = Arc::new(file);
        self.keep(Arc::clone(&file));
        Ok(file)
    }
}

impl Drop for PooledFile {
    fn drop(&mut self) {
        if let Ok(mut handles) = self.handles.lock() {
            handles.retain(|(path, _)| *path != self.path);
        }
    }
}

impl ReadAt for PooledFile {
    fn size(&self) -> Result<u64, IoError> {
        self.file()?.size()
    }
    fn read_at(&self, offset: u64, buf: &mut [u8]) -> Result<usize, IoError> {
        ReadAt::read_at(&*self.file()?, offset, buf)
    }
    fn read_ranges(&self, parts: &mut [Part<'_>]) -> Result<(), IoError> {
        self.file()?.read_ranges(parts)
    }
}

/// Has `change` act on a handle of its own: files are written through a `File` that is borrowed alone.
fn on(file: &File, change: impl FnOnce(&mut File) -> Result<(), IoError>) -> Result<(), IoError> {
    change(&mut file.try_clone()?)
}

impl WriteAt for PooledFile {
    fn write_at(&mut self, offset: u64, data: &[u8]) -> Result<(), IoError> {
        on(&*self.file()?, |file| WriteAt::write_at(file, offset, data))
    }
    fn truncate(&mut self, len: u64) -> Result<(), IoError> {
        on(&*self.file()?, |file| file.truncate(len))
    }
    /// Does nothing: who shows the file to others flushes it first, with all that lie beside it.
    fn sync(&mut self) -> Result<(), IoError> {
        Ok(())
    }
}

impl Store for PooledFile {
    fn replace(&mut self, fill: &mut Fill<'_>) -> Result<(), Error> {
        self.rewrite(&mut |_, new| fill(new))
    }
    fn rewrite(&mut self, fill: &mut Refill<'_>) -> Result<(), Error> {
        let mut new = Vec::new();
        fill(self, &mut new)?;
        self.truncate(0)?;
        Ok(self.write_at(0, &new)?)
    }
    fn is_shared(&self) -> bool {
        // Such files are written only where no other process reads them.
        false
    }
}
