//! Locks: that of the operating system, which every opener for writing takes, and the sidecar lock
//! `<frame>.b2lock` of C-Blosc2 (docs/formats/cframe.md §13.1). Both are advisory: they keep out who asks for them.
//!
//! ```text
//! system    the file or directory itself is locked, so nothing is left behind and a process that dies lets go.
//!           A lock belongs to what was opened, not to its name: lock, then look whether the path still names
//!           that, else open again. Who replaces the file locks the new one before it gets the name.
//!           Where a lock would keep readers out (outside POSIX systems), `.NAME.lock` beside it is locked.
//! sidecar   bytes 0..8 unused; 8..16 generation, native order (a short file counts as 0): a writer adds 1
//!           before it changes anything
//! ```

use super::file::{names, open_no_link};
use super::new_file::parent;
use super::{ReadAt, WriteAt};
use crate::error::{Error, IoError, IoKind};
use std::ffi::OsString;
use std::fs::{File, OpenOptions};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

/// How an opener for writing keeps other writers out. Readers are never kept waiting.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Locking {
    /// By a lock of the operating system on the file or directory; opening waits until it is free.
    #[default]
    System,
    /// By that and the sidecar lock of C-Blosc2, for programs that use it; both are held until the writer is dropped.
    Sidecar,
    /// Not at all: for callers who keep writers apart by other means. A writer that finds another state than it opened
    /// still refuses, but two that write at the same moment can spoil the file.
    None,
}

/// The sidecar lock of a writer that holds it until it is dropped.
#[derive(Debug)]
pub(super) struct Sidecar {
    _lock: SidecarLock,
}

impl Sidecar {
    /// Waits for the sidecar lock, if it is asked for.
    pub(super) fn of(path: &Path, locking: Locking) -> Result<Option<Sidecar>, IoError> {
        if locking != Locking::Sidecar {
            return Ok(None);
        }
        // No lock is left beside what does not exist.
        std::fs::metadata(path)?;
        let mut lock = SidecarLock::open_file(path)?;
        lock.lock_and_announce()?;
        Ok(Some(Sidecar { _lock: lock }))
    }
}

/// What keeps other writers out of a file or directory until it is dropped.
#[derive(Debug)]
pub(super) struct Claim {
    /// The locked file or directory, or the locked file beside it.
    system: File,
    pub(super) sidecar: Option<Sidecar>,
}

impl Claim {
    /// Opens what `path` names and locks it. Gives the open file, too.
    pub(super) fn take(
        path: &Path,
        sidecar: Option<Sidecar>,
        open: impl Fn() -> std::io::Result<File>,
    ) -> Result<(File, Claim), IoError> {
        loop {
            let (file, system) = match cfg!(unix) {
                true => {
                    let file = open()?;
                    (file.try_clone()?, file)
                }
                false => {
                    let mut name = OsString::from(".");
                    name.push(path.file_name().ok_or(IoKind::Name)?);
                    name.push(".lock");
                    let system = open_or_create(&parent(path).join(name))?;
                    lock(&system)?;
                    return Ok((open()?, Claim { system, sidecar }));
                }
            };
            lock(&system)?;
            // Meanwhile the one before may have put another file in its place.
            if names(path, &system)? {
                return Ok((file, Claim { system, sidecar }));
            }
        }
    }

    /// Goes over to `file`, which is locked and has taken the place of what was locked before.
    pub(super) fn pass_on(&mut self, file: &File) -> Result<(), IoError> {
        if cfg!(unix) {
            self.system = file.try_clone()?;
        }
        Ok(())
    }

    /// Whether `path` still names what is locked.
    pub(super) fn names(&self, path: &Path) -> Result<bool, IoError> {
        Ok(names(path, &self.system)?)
    }
}

/// Waits for the exclusive lock.
fn lock(file: &File) -> Result<(), IoError> {
    loop {
        match file.lock() {
            Err(e) if e.kind() == ErrorKind::Interrupted => {}
            result => return Ok(result?),
        }
    }
}

/// Opens a file that is no symbolic link, or creates it: a link would have us write where it leads to.
fn open_or_create(path: &Path) -> Result<File, IoError> {
    loop {
        match open_no_link(path, true, || ()) {
            Err(e) if e.kind == IoKind::NotFound => {}
            result => return result,
        }
        match OpenOptions::new().read(true).write(true).create_new(true).open(path) {
            // Another one was first; or it is neither file nor link.
            Err(e) if e.kind() == ErrorKind::AlreadyExists && is_file(path) => {}
            result => return Ok(result?),
        }
    }
}

fn is_file(path: &Path) -> bool {
    std::fs::symlink_metadata(path).is_ok_and(|there| there.is_file())
}

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
    /// directory. A symbolic link in its place is not followed.
    ///
    /// # Errors
    /// Those of the file system; [`IoKind::PermissionDenied`] for a link.
    pub fn open(path: &Path) -> Result<SidecarLock, Error> {
        Ok(SidecarLock::open_file(path)?)
    }

    fn open_file(path: &Path) -> Result<SidecarLock, IoError> {
        let name = if path.is_dir() {
            path.join(".b2lock")
        } else {
            let mut name = OsString::from(path);
            name.push(".b2lock");
            PathBuf::from(name)
        };
        Ok(SidecarLock { file: open_or_create(&name)?, seen: 0 })
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
        let changed = self.acquire(false)?;
        Ok(Held { lock: self, changed })
    }

    /// Waits until no handle holds the lock, holds it for writing, and announces a change.
    ///
    /// # Errors
    /// Those of the file system.
    pub fn write(&mut self) -> Result<Held<'_>, Error> {
        let changed = self.acquire(true)?;
        Ok(Held { lock: self, changed })
    }

    /// As [`read`](Self::read) or [`write`](Self::write), but the lock is held until [`release`](Self::release): for
    /// callers whose unlocking is a call of its own. Tells whether another handle has changed the frame.
    ///
    /// # Errors
    /// Those of the file system.
    pub fn acquire(&mut self, write: bool) -> Result<bool, Error> {
        let held = if write { self.lock_and_announce() } else { self.lock_shared() };
        held.map_err(|error| {
            let _ = self.file.unlock();
            error.into()
        })
    }

    /// Lets go of what [`acquire`](Self::acquire) holds.
    ///
    /// # Errors
    /// Those of the file system.
    pub fn release(&self) -> Result<(), Error> {
        Ok(self.file.unlock().map_err(IoError::from)?)
    }

    /// Tells whether there was a change since this handle last held the lock.
    fn lock_shared(&mut self) -> Result<bool, IoError> {
        self.file.lock_shared()?;
        let found = self.generation()?;
        let changed = found != self.seen;
        self.seen = found;
        Ok(changed)
    }

    /// Tells whether there was a change since this handle last held the lock.
    fn lock_and_announce(&mut self) -> Result<bool, IoError> {
        lock(&self.file)?;
        let found = self.generation()?;
        WriteAt::write_at(&mut self.file, 8, &found.wrapping_add(1).to_ne_bytes())?;
        let changed = found != self.seen;
        self.seen = found.wrapping_add(1);
        Ok(changed)
    }
}

impl Drop for Held<'_> {
    fn drop(&mut self) {
        let _ = self.lock.file.unlock();
    }
}
