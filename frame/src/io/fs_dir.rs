//! [`FsDir`]: a directory of the file system.

use super::file::open_no_link;
use super::lock::{Claim, Locking, Sidecar};
use super::new_file::{NewFile, sweep, sweep_inside, sync_directory, temporary_path};
use super::{Directory, Fill, WriteAt, check_name};
use crate::error::{Error, IoError, IoKind};
use alloc::boxed::Box;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;
use std::fs::{File, OpenOptions};
use std::path::{Path, PathBuf};

/// How deep the directories of a container lie in each other: a bcolz table has columns, which have chunks.
const DEPTH: u32 = 3;

/// A directory of the file system. Opened for writing, it is locked until the last clone is dropped.
#[derive(Clone, Debug)]
pub struct FsDir {
    path: PathBuf,
    /// For writing alone, and what keeps other writers out meanwhile.
    write: Option<Arc<Option<Claim>>>,
}

impl FsDir {
    /// Opens an existing directory for reading only. It waits for no lock.
    ///
    /// # Errors
    /// [`IoKind::NotFound`] for what is no directory; errors of the file system.
    pub fn open(path: impl Into<PathBuf>) -> Result<FsDir, IoError> {
        let path = path.into();
        if std::fs::metadata(&path)?.is_dir() {
            Ok(FsDir { path, write: None })
        } else {
            Err(IoKind::NotFound.into())
        }
    }
    /// Opens an existing directory for reading and writing, and keeps other writers out until it is dropped. Removes
    /// the temporary files that dead writers left in it.
    ///
    /// # Errors
    /// As [`FsDir::open`]; [`IoKind::Locked`] where this process has it open for writing already; also where the file
    /// system knows no locks.
    pub fn open_rw(path: impl Into<PathBuf>) -> Result<FsDir, IoError> {
        FsDir::open_rw_with(path, Locking::System)
    }
    /// As [`FsDir::open_rw`], with another way to keep other writers out, or none.
    ///
    /// # Errors
    /// As [`FsDir::open`]; also where the file system knows no locks.
    pub fn open_rw_with(path: impl Into<PathBuf>, locking: Locking) -> Result<FsDir, IoError> {
        let mut dir = FsDir::open(path)?;
        let mut claim = None;
        if locking != Locking::None {
            let sidecar = Sidecar::of(&dir.path, locking)?;
            claim = Some(Claim::take(&dir.path, sidecar, || File::open(&dir.path))?.1);
            let _ = sweep(&dir.path);
            let _ = sweep_inside(&dir.path, DEPTH);
        }
        dir.write = Some(Arc::new(claim));
        Ok(dir)
    }
    /// Creates a new directory; fails if there is anything of that name. It is locked as by [`FsDir::open_rw`], where the
    /// file system knows locks.
    ///
    /// # Errors
    /// Those of the file system.
    pub fn create(path: impl Into<PathBuf>) -> Result<FsDir, IoError> {
        let path = path.into();
        std::fs::create_dir(&path)?;
        let opened = FsDir::open_rw(&path).or_else(|error| match error.kind {
            // Nobody else knows of it yet.
            IoKind::NoLocks => FsDir::open_rw_with(&path, Locking::None),
            _ => Err(error),
        });
        opened.inspect_err(|_| {
            let _ = std::fs::remove_dir(&path);
        })
    }
    /// Its path.
    pub fn path(&self) -> &Path {
        &self.path
    }
    fn join(&self, name: &str) -> Result<PathBuf, IoError> {
        check_name(name)?;
        Ok(self.path.join(name))
    }
    /// Opens a directory inside this one.
    pub fn subdirectory(&self, name: &str) -> Result<FsDir, IoError> {
        let path = self.join(name)?;
        if std::fs::symlink_metadata(&path)?.is_dir() {
            Ok(FsDir { path, ..self.clone() })
        } else {
            Err(IoKind::NotFound.into())
        }
    }
    /// Creates a directory inside this one.
    pub fn create_subdirectory(&self, name: &str) -> Result<FsDir, IoError> {
        let path = self.join_to_write(name)?;
        std::fs::create_dir(&path)?;
        Ok(FsDir { path, ..self.clone() })
    }
    fn claim(&self) -> Option<&Claim> {
        self.write.as_deref()?.as_ref()
    }
    fn join_to_write(&self, name: &str) -> Result<PathBuf, IoError> {
        if self.write.is_some() { self.join(name) } else { Err(IoKind::ReadOnly.into()) }
    }
}

impl Directory for FsDir {
    /// Symbolic links are refused: they could lead outside the directory.
    fn open(&self, name: &str, write: bool) -> Result<Box<dyn WriteAt + Send + Sync>, IoError> {
        let path = if write { self.join_to_write(name)? } else { self.join(name)? };
        Ok(Box::new(open_no_link(&path, write, || ())?))
    }
    fn create(&self, name: &str) -> Result<Box<dyn WriteAt + Send + Sync>, IoError> {
        let path = self.join_to_write(name)?;
        Ok(Box::new(OpenOptions::new().read(true).write(true).create_new(true).open(path)?))
    }
    fn rename(&self, from: &str, to: &str) -> Result<(), IoError> {
        Ok(std::fs::rename(self.join_to_write(from)?, self.join_to_write(to)?)?)
    }
    fn remove(&self, name: &str) -> Result<(), IoError> {
        Ok(std::fs::remove_file(self.join_to_write(name)?)?)
    }
    fn list(&self) -> Result<Vec<String>, IoError> {
        let mut names = Vec::new();
        for entry in std::fs::read_dir(&self.path)? {
            if let Ok(name) = entry?.file_name().into_string() {
                names.push(name);
            }
        }
        Ok(names)
    }
    fn sync(&self) -> Result<(), IoError> {
        sync_directory(&self.path)
    }
    fn replace(&self, name: &str, fill: &mut Fill<'_>) -> Result<(), Error> {
        let mut new = NewFile::beside(self.join_to_write(name)?)?;
        fill(new.file()?)?;
        new.finish()?;
        Ok(())
    }
    /// For files that need not survive a power failure; the next writer sweeps those that stay.
    fn create_temp(&self, name: &str) -> Result<(String, Box<dyn WriteAt + Send + Sync>), IoError> {
        let path = self.join_to_write(name)?;
        for number in 0..10_000 {
            let temp =
                temporary_path(&path, number)?.file_name().map(|name| name.to_string_lossy().into_owned());
            let temp = temp.ok_or(IoKind::Name)?;
            match self.create(&temp) {
                Ok(file) => return Ok((temp, file)),
                Err(e) if e.kind == IoKind::AlreadyExists => {}
                Err(e) => return Err(e),
            }
        }
        Err(IoKind::AlreadyExists.into())
    }
    fn is_current(&self) -> Result<bool, IoError> {
        self.claim().map_or(Ok(true), |claim| claim.names(&self.path))
    }
    fn is_locked(&self) -> bool {
        self.claim().is_some()
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn a_replaced_file_keeps_its_permissions() {
        let path = std::env::temp_dir().join(alloc::format!("blosc-frame-mode-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&path);
        let dir = FsDir::create(&path).unwrap();
        let mode = |name: &str| std::fs::metadata(path.join(name)).unwrap().permissions().mode() & 0o7777;
        for wanted in [0o600, 0o664, 0o640] {
            std::fs::write(path.join("index"), b"old").unwrap();
            std::fs::set_permissions(path.join("index"), std::fs::Permissions::from_mode(wanted)).unwrap();
            let mut seen = Vec::new();
            dir.replace("index", &mut |file| {
                // Before anything is in it.
                seen.extend(dir.list()?.iter().filter(|name| *name != "index").map(|name| mode(name)));
                Ok(file.write_at(0, b"new")?)
            })
            .unwrap();
            assert_eq!((mode("index"), seen), (wanted, Vec::from([wanted])));
            assert_eq!(std::fs::read(path.join("index")).unwrap(), b"new");
        }
        // A new one is like any new file.
        std::fs::write(path.join("plain"), b"").unwrap();
        dir.replace("fresh", &mut |file| Ok(file.write_at(0, b"new")?)).unwrap();
        assert_eq!(mode("fresh"), mode("plain"));
        std::fs::remove_dir_all(&path).unwrap();
    }
}
