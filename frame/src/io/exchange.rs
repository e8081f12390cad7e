//! Directories that change as a whole: the next state is made beside the old one and changes places with it.
//!
//! ```text
//! create .NAME.tmpPID-N beside NAME, locked     a NewDir; its name says whose it is, its lock that the owner lives
//! link every file of NAME into new/ inside it   a copy where the file system knows no links
//! change new/                                   files are replaced, never written where they are: they are NAME's, too
//! flush new/                                    one flush for all where there are many
//! exchange new/ and NAME                        the step that shows; or two renames, and the next opener takes the first
//! flush the directory that NAME is in           one back if the second did not come
//! remove .NAME.tmpPID-N                         with the old state in it
//! ```

use super::new_file::{Folder, NewDir, OLD, sync_directory};
use super::path::parent;
use crate::error::{IoError, IoKind};
use alloc::vec::Vec;
use std::fs::{self, Metadata, OpenOptions};
use std::path::{Path, PathBuf};

/// With more files than these, all of the file system is flushed at once. Each flush of a file takes about a
/// millisecond (70,000 files: 72 s, and 2 s at once), and what other programs have written may take long, too.
const MANY: usize = 256;

impl NewDir {
    /// Makes `new`, a file or directory in this one, appear at the path that it was made for. A directory that is there
    /// changes places with it in one step. Where the system cannot do that, it is put aside first: whoever opens the path
    /// next puts it back if the second step did not come.
    ///
    /// # Errors
    /// Errors of the file system. Then the path names what it named before, but for [`IoKind::NotConfirmed`].
    pub fn finish(self, new: &Path) -> Result<(), IoError> {
        sync_tree(new)?;
        let place = &self.place().to_path_buf();
        let folder = Folder::open(parent(place))?;
        if !place.is_dir() {
            fs::rename(new, place)?;
        } else if exchange(new, place).is_err() {
            let old = self.path().join(OLD);
            fs::rename(place, &old)?;
            if let Err(error) = fs::rename(new, place) {
                if fs::rename(&old, place).is_err() {
                    self.keep();
                }
                return Err(error.into());
            }
        }
        folder.confirm()
    }
}

/// Has two directories change places.
#[cfg(any(target_os = "linux", target_os = "android", target_vendor = "apple"))]
fn exchange(a: &Path, b: &Path) -> std::io::Result<()> {
    use rustix::fs::{CWD, RenameFlags, renameat_with};
    Ok(renameat_with(CWD, a, CWD, b, RenameFlags::EXCHANGE)?)
}

/// Other systems cannot.
#[cfg(not(any(target_os = "linux", target_os = "android", target_vendor = "apple")))]
fn exchange(_: &Path, _: &Path) -> std::io::Result<()> {
    Err(std::io::ErrorKind::Unsupported.into())
}

/// Makes the new directory `to` a second one with the files of `from`: what is replaced or removed in one stays as it is in
/// the other.
///
/// # Errors
/// Errors of the file system; [`IoKind::Other`] for what is no file, directory or symbolic link.
pub(super) fn link_tree(from: &Path, to: &Path) -> Result<(), IoError> {
    fs::create_dir(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let (old, new, kind) = (entry.path(), to.join(entry.file_name()), entry.file_type()?);
        if kind.is_dir() {
            link_tree(&old, &new)?;
        } else if kind.is_symlink() {
            copy_link(&old, &new)?;
        } else if !kind.is_file() {
            return Err(IoKind::Other.into());
        } else if fs::hard_link(&old, &new).is_err() {
            fs::copy(&old, &new)?;
        }
    }
    keep_permissions(to, &fs::metadata(from)?)
}

#[cfg(unix)]
fn copy_link(old: &Path, new: &Path) -> Result<(), IoError> {
    Ok(std::os::unix::fs::symlink(fs::read_link(old)?, new)?)
}
/// A second name of the link itself.
#[cfg(not(unix))]
fn copy_link(old: &Path, new: &Path) -> Result<(), IoError> {
    Ok(fs::hard_link(old, new)?)
}

/// Gives `new` the permissions and, where we may, the owner of what it is about to replace.
///
/// # Errors
/// Errors of the file system.
pub fn keep_permissions(new: &Path, old: &Metadata) -> Result<(), IoError> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::{MetadataExt, chown};
        // Only root may give files away; the permissions below are kept all the same.
        let _ = chown(new, Some(old.uid()), Some(old.gid()));
    }
    Ok(fs::set_permissions(new, old.permissions())?)
}

/// Returns when a file, or a directory with all that is in it, will survive a power failure. Files in it that have a second
/// name are those of a state before, which was flushed.
///
/// # Errors
/// Errors of the file system.
pub fn sync_tree(path: &Path) -> Result<(), IoError> {
    let mut all = Vec::new();
    collect(path, &mut all)?;
    sync_all(&all)
}

/// The files and directories to flush, directories after what is in them.
fn collect(path: &Path, all: &mut Vec<PathBuf>) -> Result<(), IoError> {
    let there = fs::symlink_metadata(path)?;
    if there.is_dir() {
        for entry in fs::read_dir(path)? {
            collect(&entry?.path(), all)?;
        }
    } else if !there.is_file() || has_second_name(&there) {
        return Ok(());
    }
    all.push(path.to_path_buf());
    Ok(())
}

#[cfg(unix)]
fn has_second_name(file: &Metadata) -> bool {
    std::os::unix::fs::MetadataExt::nlink(file) > 1
}
#[cfg(not(unix))]
fn has_second_name(_: &Metadata) -> bool {
    false
}

/// Returns when these files and directories of one file system will survive a power failure.
pub(super) fn sync_all(paths: &[PathBuf]) -> Result<(), IoError> {
    if let Some(last) = paths.last().filter(|_| paths.len() > MANY)
        && sync_file_system(last)?
    {
        return Ok(());
    }
    paths.iter().try_for_each(|path| match fs::symlink_metadata(path)?.is_dir() {
        true => sync_directory(path),
        // Windows flushes only what is open for writing.
        false => Ok(OpenOptions::new().read(true).write(!cfg!(unix)).open(path)?.sync_all()?),
    })
}

/// Flushes everything that was written to the file system that `path` is on; tells whether it can be asked for that.
#[cfg(any(target_os = "linux", target_os = "android"))]
fn sync_file_system(path: &Path) -> Result<bool, IoError> {
    rustix::fs::syncfs(fs::File::open(path)?).map_err(std::io::Error::from)?;
    Ok(true)
}
#[cfg(not(any(target_os = "linux", target_os = "android")))]
fn sync_file_system(_: &Path) -> Result<bool, IoError> {
    Ok(false)
}
