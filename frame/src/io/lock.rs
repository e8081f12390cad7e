//! Locks: that of the operating system, which every opener for writing takes, and the sidecar lock
//! `<frame>.b2lock` of C-Blosc2 (docs/formats/cframe.md §13.1). Both are advisory: they keep out who asks for them.
//!
//! ```text
//! system    the file or directory itself is locked, so nothing is left behind and a process that dies lets go.
//!           A lock belongs to what was opened, not to its name: lock, then look whether the path still names
//!           that, else open again. Who replaces the file locks the new one before it gets the name.
//!           Where a lock would keep readers out (outside POSIX systems), `.NAME.lock` beside it is locked.
//!           A process that holds a lock would wait for itself: it is told so instead, also in another thread.
//! sidecar   bytes 0..8 unused; 8..16 generation, native order (a short file counts as 0): a writer adds 1
//!           before it changes anything
//! ```

use super::path::{names, open_no_link, parent};
use super::traits::{ReadAt, WriteAt};
use crate::error::{Error, IoError, IoKind};
use alloc::collections::BTreeSet;
use std::ffi::OsString;
use std::fs::{File, OpenOptions, TryLockError};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// How an opener for writing keeps other writers out. Readers are never kept waiting.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Locking {
    /// By a lock of the operating system on the file or directory; opening waits until other processes have let go, and
    /// fails with [`IoKind::Locked`] where this one has it.
    #[default]
    System,
    /// By that and the sidecar lock of C-Blosc2, for programs that use it; both are held until the writer is dropped.
    Sidecar,
    /// Not at all: for callers who keep writers apart by other means. A writer that finds another state than it opened
    /// still refuses, but two that write at the same moment can spoil the file.
    None,
}

/// What this process has locked for writing.
static HELD: Mutex<BTreeSet<Key>> = Mutex::new(BTreeSet::new());

/// The file itself, whatever its name.
#[cfg(unix)]
type Key = (u64, u64);
#[cfg(not(unix))]
type Key = PathBuf;

/// An exclusive lock of this process, until it is dropped.
#[derive(Debug)]
struct Lock {
    key: Key,
    /// Closed after [`HELD`] has forgotten it, and with it unlocked.
    file: File,
}

impl Lock {
    /// Waits for the lock while another process has it. `path` is where the file lies.
    ///
    /// # Errors
    /// [`IoKind::Locked`] where this process has it; those of the file system.
    fn take(file: File, path: &Path) -> Result<Lock, IoError> {
        let key = key(&file, path)?;
        let mut held = HELD.lock().unwrap_or_else(PoisonError::into_inner);
        if held.contains(&key) {
            return Err(IoKind::Locked.into());
        }
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::Error(error)) => return Err(refused(error)),
            Err(TryLockError::WouldBlock) => {
                drop(held);
                lock(&file)?;
                held = HELD.lock().unwrap_or_else(PoisonError::into_inner);
            }
        }
        held.insert(Key::clone(&key));
        Ok(Lock { key, file })
    }

    /// Goes over to another file at `path`, which is locked.
    fn pass_on(&mut self, file: &File, path: &Path) -> Result<(), IoError> {
        let (file, key) = (file.try_clone()?, key(file, path)?);
        HELD.lock().unwrap_or_else(PoisonError::into_inner).insert(Key::clone(&key));
        *self = Lock { key, file };
        Ok(())
    }
}

impl Drop for Lock {
    fn drop(&mut self) {
        HELD.lock().unwrap_or_else(PoisonError::into_inner).remove(&self.key);
    }
}

#[cfg(unix)]
fn key(file: &File, _: &Path) -> Result<Key, IoError> {
    use std::os::unix::fs::MetadataExt;
    let there = file.metadata()?;
    Ok((there.dev(), there.ino()))
}
#[cfg(not(unix))]
fn key(_: &File, path: &Path) -> Result<Key, IoError> {
    Ok(std::path::absolute(path)?)
}

/// The sidecar lock of a writer that holds it until it is dropped.
#[derive(Debug)]
pub(super) struct Sidecar {
    _lock: Lock,
}

impl Sidecar {
    /// Waits for the sidecar lock, if it is asked for.
    pub(super) fn of(path: &Path, locking: Locking) -> Result<Option<Sidecar>, IoError> {
        if locking != Locking::Sidecar {
            return Ok(None);
        }
        // No lock is left beside what does not exist.
        std::fs::metadata(path)?;
        let mut sidecar = SidecarLock::open_file(path)?;
        let lock = Lock::take(sidecar.file.try_clone()?, &sidecar_name(path))?;
        sidecar.announce()?;
        Ok(Some(Sidecar { _lock: lock }))
    }
}

/// The lock of the frame at `path`: `<path>.b2lock`, or `.b2lock` inside a directory.
fn sidecar_name(path: &Path) -> PathBuf {
    if path.is_dir() {
        return path.join(".b2lock");
    }
    let mut name = OsString::from(path);
    name.push(".b2lock");
    PathBuf::from(name)
}

/// What keeps other writers out of a file or directory until it is dropped.
#[derive(Debug)]
pub(super) struct Claim {
    /// The locked file or directory, or the locked file beside it.
    system: Lock,
    pub(super) sidecar: Option<Sidecar>,
}

impl Claim {
    /// Opens what `path` names and locks it. Gives the open file, too.
    pub(super) fn take(
        path: &Path,
        sidecar: Option<Sidecar>,
        open: impl Fn() -> std::io::Result<File>,
    ) -> Result<(File, Claim), IoError> {
        if !cfg!(unix) {
            let mut name = OsString::from(".");
            name.push(path.file_name().ok_or(IoKind::Name)?);
            name.push(".lock");
            let name = parent(path).join(name);
            let system = Lock::take(open_or_create(&name)?, &name)?;
            return Ok((open()?, Claim { system, sidecar }));
        }
        loop {
            let file = open()?;
            let system = Lock::take(file.try_clone()?, path)?;
            // Meanwhile the one before may have put another file in its place.
            if names(path, &file)? {
                return Ok((file, Claim { system, sidecar }));
            }
        }
    }

    /// Goes over to `file`, which is locked and has taken the place of what was locked before.
    pub(super) fn pass_on(&mut self, file: &File, path: &Path) -> Result<(), IoError> {
        if cfg!(unix) { self.system.pass_on(file, path) } else { Ok(()) }
    }

    /// Whether `path` still names what is locked.
    pub(super) fn names(&self, path: &Path) -> Result<bool, IoError> {
        Ok(names(path, &self.system.file)?)
    }
}

/// Waits for the exclusive lock.
fn lock(file: &File) -> Result<(), IoError> {
    loop {
        match file.lock() {
            Err(e) if e.kind() == ErrorKind::Interrupted => {}
            result => return result.map_err(refused),
        }
    }
}

/// The number of ENOLCK, which `std` has no kind for: what NFS without a lock daemon says.
const NO_LOCKS: i32 = if cfg!(any(target_os = "linux", target_os = "android")) { 37 } else { 77 };

/// Whether the file system knows no locks, as some network mounts.
pub(super) fn is_without_locks(error: &std::io::Error) -> bool {
    error.kind() == ErrorKind::Unsupported || (cfg!(unix) && error.raw_os_error() == Some(NO_LOCKS))
}

/// Why a lock cannot be had.
fn refused(error: std::io::Error) -> IoError {
    match is_without_locks(&error) {
        true => IoError { kind: IoKind::NoLocks, os: error.raw_os_error() },
        false => error.into(),
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
    /// Errors of the file system; [`IoKind::LockFile`] for a link, a directory, and where it is not permitted.
    pub fn open(path: &Path) -> Result<SidecarLock, Error> {
        Ok(SidecarLock::open_file(path)?)
    }

    fn open_file(path: &Path) -> Result<SidecarLock, IoError> {
        let file = open_or_create(&sidecar_name(path)).map_err(|error| match error.kind {
            IoKind::PermissionDenied | IoKind::AlreadyExists => IoKind::LockFile.into(),
            _ => error,
        })?;
        Ok(SidecarLock { file, seen: 0 })
    }

    fn generation(&self) -> Result<u64, IoError> {
        let mut bytes = [0; 8];
        match self.file.read_exact_at(8, &mut bytes) {
            Ok(()) => Ok(u64::from_ne_bytes(bytes)),
            Err(error) if error.kind == IoKind::UnexpectedEnd => Ok(0),
            Err(error) => Err(error),
        }
    }

    /// Waits until no writer holds the lock, and holds it for reading.
    ///
    /// # Errors
    /// [`Error::Invalid`] for a lock file of another form, and errors of the file system.
    pub fn read(&mut self) -> Result<Held<'_>, Error> {
        let changed = self.acquire(false)?;
        Ok(Held { lock: self, changed })
    }

    /// Waits until no handle holds the lock, holds it for writing, and announces a change.
    ///
    /// # Errors
    /// Errors of the file system.
    pub fn write(&mut self) -> Result<Held<'_>, Error> {
        let changed = self.acquire(true)?;
        Ok(Held { lock: self, changed })
    }

    /// As [`read`](Self::read) or [`write`](Self::write), but the lock is held until [`release`](Self::release): for
    /// callers whose unlocking is a call of its own. Tells whether another handle has changed the frame.
    ///
    /// # Errors
    /// Errors of the file system.
    pub fn acquire(&mut self, write: bool) -> Result<bool, Error> {
        let held = match write {
            true => lock(&self.file).and_then(|()| self.announce()),
            false => self.lock_shared(),
        };
        held.map_err(|error| {
            let _ = self.file.unlock();
            error.into()
        })
    }

    /// Lets go of what [`acquire`](Self::acquire) holds.
    ///
    /// # Errors
    /// Errors of the file system.
    pub fn release(&self) -> Result<(), Error> {
        Ok(self.file.unlock().map_err(IoError::from)?)
    }

    /// Tells whether there was a change since this handle last held the lock.
    fn lock_shared(&mut self) -> Result<bool, IoError> {
        self.file.lock_shared().map_err(refused)?;
        let found = self.generation()?;
        let changed = found != self.seen;
        self.seen = found;
        Ok(changed)
    }

    /// Tells whether there was a change since this handle last held the lock.
    fn announce(&mut self) -> Result<bool, IoError> {
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
