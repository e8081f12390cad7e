//! Replacing files and directories: one order for everything that does it, and no temporary file that stays.
//!
//! ```text
//! create .NAME.tmpPID-N beside NAME, locked   its name says whose it is, its lock that the owner lives
//! give it the permissions that NAME has       before anything is in it
//! write; flush it                             what is renamed is on the disk
//! rename it to NAME                           the step that shows
//! flush the directory                         and survives a power failure from here on
//! ```
//! The lock of a process goes with the process. Whoever writes to NAME next removes temporary files whose lock is
//! free ([`sweep`]); a live owner's are left alone, whatever its process number is.

use super::lock::is_without_locks;
use super::path::{follow_link, names, open_no_link, parent};
use crate::error::{IoError, IoKind};
use alloc::format;
use alloc::vec::Vec;
use std::ffi::{OsStr, OsString};
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

/// In a [`NewDir`], what its place held before, where a system cannot exchange the two in one step.
pub const OLD: &str = "old";

/// A file that appears at its path only when [`finish`](NewFile::finish) has been called, in one step that survives
/// a power failure. Dropped before, it leaves nothing behind.
#[derive(Debug)]
pub struct NewFile {
    file: File,
    temporary: PathBuf,
    path: PathBuf,
}

impl NewFile {
    /// Creates a temporary file beside `path`, with the permissions of the file that is there. Where `path` is a
    /// symbolic link, what it leads to will be replaced. Temporary files that dead processes left are removed.
    ///
    /// # Errors
    /// Errors of the file system; [`IoKind::Name`] for a path without a file name.
    pub fn create(path: &Path) -> Result<NewFile, IoError> {
        let path = follow_link(path)?;
        let _ = sweep(&path);
        NewFile::beside(path)
    }

    /// As [`NewFile::create`] for a path inside a directory of ours, where links are refused.
    pub(super) fn beside(path: PathBuf) -> Result<NewFile, IoError> {
        let there = match fs::symlink_metadata(&path) {
            Ok(there) if there.is_symlink() => return Err(IoKind::PermissionDenied.into()),
            Ok(there) => Some(there.permissions()),
            Err(e) if e.kind() == ErrorKind::NotFound => None,
            Err(e) => return Err(e.into()),
        };
        let mut options = OpenOptions::new();
        options.read(true).write(true).create_new(true);
        #[cfg(unix)]
        if let Some(there) = &there {
            use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
            options.mode(there.mode() & 0o777);
        }
        for number in 0..10_000 {
            let temporary = temporary_path(&path, number)?;
            let file = match options.open(&temporary) {
                Ok(file) => file,
                Err(e) if e.kind() == ErrorKind::AlreadyExists => continue,
                Err(e) => return Err(e.into()),
            };
            let new = NewFile { file, temporary, path: path.clone() };
            let file = &new.file;
            // Where the system has no locks, `sweep` takes no file for one that was left behind.
            if let Err(e) = file.lock()
                && !is_without_locks(&e)
            {
                return Err(e.into());
            }
            // Between the two steps it looked as if its owner had died.
            if !names(&new.temporary, file)? {
                continue;
            }
            if let Some(there) = there {
                file.set_permissions(there)?;
            }
            return Ok(new);
        }
        Err(IoKind::AlreadyExists.into())
    }

    /// The open file.
    ///
    /// # Errors
    /// None.
    pub fn file(&mut self) -> Result<&mut File, IoError> {
        Ok(&mut self.file)
    }
    /// Where it lies until it is finished.
    pub fn temporary(&self) -> &Path {
        &self.temporary
    }
    /// Where it will appear.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Flushes it, renames it into its place and flushes the directory. Gives back the open file, still locked.
    ///
    /// # Errors
    /// Errors of the file system. Then the path names what it named before, but for [`IoKind::NotConfirmed`].
    pub fn finish(self) -> Result<File, IoError> {
        let (file, folder) = self.rename()?;
        folder.confirm()?;
        Ok(file)
    }

    /// [`NewFile::finish`] but for the last step, which is [`Folder::confirm`].
    pub(super) fn rename(self) -> Result<(File, Folder), IoError> {
        let file = self.file.try_clone()?;
        file.sync_all()?;
        if !cfg!(unix) {
            // There a lock keeps others from reading.
            let _ = file.unlock();
        }
        let folder = Folder::open(parent(&self.path))?;
        fs::rename(&self.temporary, &self.path)?;
        Ok((file, folder))
    }
}

impl Drop for NewFile {
    fn drop(&mut self) {
        if names(&self.temporary, &self.file).unwrap_or(true) {
            let _ = fs::remove_file(&self.temporary);
        }
    }
}

/// A private directory beside a path, to make something in. Dropped, it goes with all that is in it.
#[derive(Debug)]
pub struct NewDir {
    temporary: PathBuf,
    place: PathBuf,
    /// Locked, as a sign that the owner lives.
    handle: Option<File>,
}

impl NewDir {
    /// Creates a temporary directory beside `path`, or beside what it leads to as a symbolic link. Temporary files that
    /// dead processes left are removed, and what stood at `path` before one died while it was being replaced is put
    /// back.
    ///
    /// # Errors
    /// Errors of the file system; [`IoKind::Name`] for a path without a file name.
    pub fn create(path: &Path) -> Result<NewDir, IoError> {
        let place = follow_link(path)?;
        let _ = sweep(&place);
        for number in 0..10_000 {
            let temporary = temporary_path(&place, number)?;
            match create_private(&temporary) {
                Ok(()) => {}
                Err(e) if e.kind() == ErrorKind::AlreadyExists => continue,
                Err(e) => return Err(e.into()),
            }
            let mut new = NewDir { temporary, place: place.clone(), handle: None };
            if !cfg!(unix) {
                return Ok(new);
            }
            let handle = match File::open(&new.temporary) {
                Err(e) if e.kind() == ErrorKind::NotFound => continue,
                handle => handle?,
            };
            match handle.lock() {
                // Between the two steps it looked as if its owner had died.
                Ok(()) if !names(&new.temporary, &handle)? => continue,
                Err(e) if !is_without_locks(&e) => return Err(e.into()),
                _ => {}
            }
            new.handle = Some(handle);
            return Ok(new);
        }
        Err(IoKind::AlreadyExists.into())
    }

    /// Where it lies.
    pub fn path(&self) -> &Path {
        &self.temporary
    }

    /// The path it was made for.
    pub fn place(&self) -> &Path {
        &self.place
    }

    /// Leaves it where it is, for a person to look into.
    pub fn keep(self) -> PathBuf {
        core::mem::take(&mut core::mem::ManuallyDrop::new(self).temporary)
    }
}

impl Drop for NewDir {
    fn drop(&mut self) {
        // The process may be out of descriptors.
        self.handle = None;
        let _ = fs::remove_dir_all(&self.temporary).or_else(|_| remove_level_by_level(&self.temporary));
    }
}

/// Removes a directory with one descriptor open at a time, and without any where nothing is in it.
fn remove_level_by_level(path: &Path) -> std::io::Result<()> {
    if fs::remove_dir(path).is_ok() {
        return Ok(());
    }
    let entries = fs::read_dir(path)?.collect::<std::io::Result<Vec<_>>>()?;
    for entry in entries {
        match entry.file_type()?.is_dir() {
            true => remove_level_by_level(&entry.path())?,
            false => fs::remove_file(entry.path())?,
        }
    }
    fs::remove_dir(path)
}

#[cfg(unix)]
fn create_private(path: &Path) -> std::io::Result<()> {
    use std::os::unix::fs::DirBuilderExt;
    fs::DirBuilder::new().mode(0o700).create(path)
}
#[cfg(not(unix))]
fn create_private(path: &Path) -> std::io::Result<()> {
    fs::create_dir(path)
}

/// `.NAME.tmpPID-N`: whose it is, by path and process.
pub(super) fn temporary_path(path: &Path, number: u32) -> Result<PathBuf, IoError> {
    let mut temporary = temporary_beginning(path)?.into_os_string();
    temporary.push(format!("{number}"));
    Ok(temporary.into())
}

/// `.NAME.tmpPID-`: how the temporary files begin by which this process replaces `path`.
///
/// # Errors
/// [`IoKind::Name`] for a path without a file name.
pub fn temporary_beginning(path: &Path) -> Result<PathBuf, IoError> {
    let mut temporary = OsString::from(".");
    temporary.push(short_name(path.file_name().ok_or(IoKind::Name)?));
    temporary.push(format!(".tmp{}-", std::process::id()));
    Ok(parent(path).join(temporary))
}

/// A file name, or what stands for one that leaves no room for more: its beginning, and a checksum of all of it.
fn short_name(name: &OsStr) -> OsString {
    // File systems take 255 bytes; a process has at most 10 digits, the number beside it 4.
    let most = 255 - ".".len() - ".tmp-".len() - 10 - 4;
    if name.len() <= most {
        return name.into();
    }
    let sum = twox_hash::XxHash3_64::oneshot(name.as_encoded_bytes());
    let mut short = name.to_string_lossy().into_owned();
    while short.len() > most - 17 {
        short.pop();
    }
    format!("{short}~{sum:016x}").into()
}

/// What the name of a temporary file says it will be: `NAME` of `.NAME.tmpPID-N`.
pub(crate) fn temporary_of(name: &str) -> Option<&str> {
    let (owner, number) = name.strip_prefix('.')?.rsplit_once(".tmp")?;
    let (process, count) = number.split_once('-')?;
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    (digits(process) && digits(count) && !owner.is_empty()).then_some(owner)
}

/// Temporary files and directories for `path` that dead processes left beside it.
///
/// # Errors
/// Errors of reading the directory that `path` is in.
pub fn strays(path: &Path) -> Result<Vec<PathBuf>, IoError> {
    let Some(short) = path.file_name().map(short_name) else { return Ok(Vec::new()) };
    let mut found = Vec::new();
    for entry in fs::read_dir(parent(path))? {
        let entry = entry?;
        let ours = |entry: &str| temporary_of(entry).is_some_and(|owner| *owner == *short);
        if entry.file_name().to_str().is_some_and(ours) && abandoned(&entry.path()).is_some() {
            found.push(entry.path());
        }
    }
    Ok(found)
}

/// The temporary file at `path`, locked, if its owner is dead.
fn abandoned(path: &Path) -> Option<File> {
    let file = match fs::symlink_metadata(path).ok()? {
        there if there.is_dir() => File::open(path).ok()?,
        _ => open_no_link(path, false, || ()).ok()?,
    };
    match file.try_lock() {
        Ok(()) => names(path, &file).ok()?.then_some(file),
        Err(TryLockError::WouldBlock | TryLockError::Error(_)) => None,
    }
}

/// Removes the temporary files and directories for `path` that dead processes left beside it, and puts back what
/// stood at `path` where one of them died while it was being replaced. Tells whether there were any.
///
/// # Errors
/// Errors of reading the directory that `path` is in. What cannot be removed stays.
pub fn sweep(path: &Path) -> Result<bool, IoError> {
    let strays = strays(path)?;
    for stray in &strays {
        remove_stray(stray, Some(path));
    }
    Ok(!strays.is_empty())
}

/// As [`sweep`] for whatever has been written in the directory `folder` and, down to `depth`, in those inside it.
pub(super) fn sweep_inside(folder: &Path, depth: u32) -> Result<(), IoError> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        if entry.file_name().to_str().and_then(temporary_of).is_some() {
            remove_stray(&entry.path(), None);
        } else if let Some(depth) = depth.checked_sub(1)
            && entry.file_type()?.is_dir()
        {
            sweep_inside(&entry.path(), depth)?;
        }
    }
    Ok(())
}

fn remove_stray(stray: &Path, path: Option<&Path>) {
    // Held meanwhile, so that two of those who sweep do not meet.
    let Some(_held) = abandoned(stray) else { return };
    if !fs::symlink_metadata(stray).is_ok_and(|there| there.is_dir()) {
        let _ = fs::remove_file(stray);
        return;
    }
    let old = stray.join(OLD);
    if let Some(path) = path
        && fs::symlink_metadata(&old).is_ok()
        && fs::symlink_metadata(path).is_err_and(|e| e.kind() == ErrorKind::NotFound)
        && fs::rename(&old, path).is_err()
    {
        return;
    }
    let _ = fs::remove_dir_all(stray);
}

/// A directory whose names are about to change. It is opened before they do, so that nothing but the flush can fail
/// afterwards. Only POSIX systems can flush a directory; Windows orders renames by itself.
pub(super) struct Folder(Option<File>);

impl Folder {
    pub(super) fn open(path: &Path) -> Result<Folder, IoError> {
        Ok(Folder(if cfg!(unix) { Some(File::open(path)?) } else { None }))
    }

    pub(super) fn sync(&self) -> Result<(), IoError> {
        Ok(self.0.as_ref().map_or(Ok(()), File::sync_all)?)
    }

    /// [`Folder::sync`] once a name in it stands for something new.
    pub(super) fn confirm(&self) -> Result<(), IoError> {
        self.sync().map_err(IoError::not_confirmed)
    }
}

/// Returns when the names in a directory will survive a power failure.
///
/// # Errors
/// Errors of the file system.
pub fn sync_directory(path: &Path) -> Result<(), IoError> {
    Folder::open(path)?.sync()
}
