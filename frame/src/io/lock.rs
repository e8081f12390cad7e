//! The sidecar lock `<frame>.b2lock` of C-Blosc2 (docs/formats/cframe.md §13.1). Advisory: it helps only where
//! every program that opens the frame uses it.
//!
//! ```text
//! 0  8 bytes unused
//! 8  u64 generation, native order (a short file counts as 0); a writer adds 1 before it changes anything
//! ```

use super::{ReadAt, WriteAt};
use crate::error::{Error, IoError};
use std::ffi::OsString;
use std::fs::{File, OpenOptions};
use std::path::Path;

/// An open sidecar lock. The file stays when it is closed; it holds no data.
#[derive(Debug)]
pub struct SidecarLock {
    file: File,
    /// The generation this handle has last seen.
    seen: u64,
}

/// A lock being held; dropping it lets go.
#[derive(Debug)]
pub struct Held<'l> {
    lock: &'l SidecarLock,
    /// Whether another handle has changed the frame since this one last held the lock: it should then
    /// [`refresh`](crate::SuperChunk::refresh).
    pub changed: bool,
}

impl SidecarLock {
    /// Opens or creates the lock of the frame at `path`: `<path>.b2lock`, or `.b2lock` inside a
    /// directory.
    pub fn open(path: &Path) -> Result<SidecarLock, Error> {
        let name = if path.is_dir() {
            path.join(".b2lock")
        } else {
            let mut name = OsString::from(path);
            name.push(".b2lock");
            name.into()
        };
        let file = OpenOptions::new().read(true).write(true).create(true).truncate(false).open(name)?;
        Ok(SidecarLock { file, seen: 0 })
    }

    fn generation(&self) -> Result<u64, IoError> {
        let mut bytes = [0; 8];
        match self.file.read_exact_at(8, &mut bytes) {
            Ok(()) => Ok(u64::from_ne_bytes(bytes)),
            Err(error) if error.kind == crate::error::IoKind::UnexpectedEnd => Ok(0),
            Err(error) => Err(error),
        }
    }

    /// Waits until no writer holds the lock, and holds it for reading.
    pub fn read(&mut self) -> Result<Held<'_>, Error> {
        self.file.lock_shared()?;
        let found = self.generation().inspect_err(|_| {
            let _ = self.file.unlock();
        })?;
        let changed = found != self.seen;
        self.seen = found;
        Ok(Held { lock: self, changed })
    }

    /// Waits until nobody holds the lock, holds it for writing, and announces a change.
    pub fn write(&mut self) -> Result<Held<'_>, Error> {
        self.file.lock()?;
        let announce = |lock: &mut SidecarLock| {
            let found = lock.generation()?;
            WriteAt::write_at(&mut lock.file, 8, &found.wrapping_add(1).to_ne_bytes())?;
            let changed = found != lock.seen;
            lock.seen = found.wrapping_add(1);
            Ok::<bool, IoError>(changed)
        };
        match announce(self) {
            Ok(changed) => Ok(Held { lock: self, changed }),
            Err(error) => {
                let _ = self.file.unlock();
                Err(error.into())
            }
        }
    }
}

impl Drop for Held<'_> {
    fn drop(&mut self) {
        let _ = self.lock.file.unlock();
    }
}
