//! [`FsDir`]: a directory of the file system.

use super::dir::{Directory, check_name};
use super::exchange::{link_tree, sync_all};
use super::lock::{Claim, Locking, Sidecar};
use super::new_file::{NewDir, NewFile, sweep, sweep_inside, sync_directory, temporary_of, temporary_path};
use super::path::{names, open_no_link};
use super::traits::{Fill, WriteAt};
use crate::error::{Error, IoError, IoKind};
use alloc::boxed::Box;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;
use std::fs::{File, OpenOptions, Permissions};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, OnceLock, PoisonError};

/// How deep the directories of a container lie in each other: a bcolz table has columns, which have chunks.
const DEPTH: u32 = 3;

/// A directory of the file system. Opened for writing, it is locked until the last clone is dropped.
#[derive(Clone, Debug)]
pub struct FsDir {
    path: PathBuf,
    root: Arc<Root>,
    /// The permissions of the files in it, which new ones get.
    mode: OnceLock<Option<Permissions>>,
}

/// What was opened, whichever directory inside it is meant.
#[derive(Debug)]
enum Root {
    /// For reading: the directory itself, to tell whether another has taken its place; none where it cannot be opened.
    Read(Option<(PathBuf, File)>),
    /// For writing, and what keeps other writers out meanwhile.
    Write(Mutex<Option<Claim>>),
}

impl FsDir {
    /// Opens an existing directory for reading only. It waits for no lock.
    ///
    /// # Errors
    /// [`IoKind::NotFound`] for what is no directory; errors of the file system.
    pub fn open(path: impl AsRef<Path>) -> Result<FsDir, IoError> {
        let path = path.as_ref().to_path_buf();
        check_directory(&path)?;
        let handle = if cfg!(unix) { File::open(&path).ok() } else { None };
        Ok(FsDir::at(path.clone(), Root::Read(handle.map(|handle| (path, handle)))))
    }
    /// Opens an existing directory for reading and writing, and keeps other writers out until it is dropped. Removes
    /// the temporary files that dead writers left in it.
    ///
    /// # Errors
    /// As [`FsDir::open`]; [`IoKind::Locked`] where this process has it open for writing already; also where the file
    /// system knows no locks.
    pub fn open_rw(path: impl AsRef<Path>) -> Result<FsDir, IoError> {
        FsDir::open_rw_with(path, Locking::System)
    }
    /// As [`FsDir::open_rw`], with another way to keep other writers out, or none.
    ///
    /// # Errors
    /// As [`FsDir::open`]; also where the file system knows no locks.
    pub fn open_rw_with(path: impl AsRef<Path>, locking: Locking) -> Result<FsDir, IoError> {
        let path = path.as_ref().to_path_buf();
        check_directory(&path)?;
        let mut claim = None;
        if locking != Locking::None {
            let sidecar = Sidecar::of(&path, locking)?;
            claim = Some(Claim::take(&path, sidecar, || File::open(&path))?.1);
            let _ = sweep(&path);
            let _ = sweep_inside(&path, DEPTH);
        }
        Ok(FsDir::at(path, Root::Write(Mutex::new(claim))))
    }
    fn at(path: PathBuf, root: Root) -> FsDir {
        FsDir { path, root: Arc::new(root), mode: OnceLock::new() }
    }
    /// Creates a new directory; fails if there is anything of that name. It is locked as by [`FsDir::open_rw`], where the
    /// file system knows locks.
    ///
    /// # Errors
    /// Errors of the file system.
    pub fn create(path: impl AsRef<Path>) -> Result<FsDir, IoError> {
        let path = path.as_ref().to_path_buf();
        std::fs::create_dir(&path)?;
        let opened = FsDir::open_rw(&path).or_else(|error| match error.kind {
            // No other process can have opened it yet.
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
    fn inside(&self, path: PathBuf) -> FsDir {
        FsDir { path, root: self.root.clone(), mode: OnceLock::new() }
    }
    /// Opens a directory inside this one.
    ///
    /// # Errors
    /// A name that is no plain component, and errors of the file system.
    pub fn subdirectory(&self, name: &str) -> Result<FsDir, IoError> {
        let path = self.join(name)?;
        if std::fs::symlink_metadata(&path)?.is_dir() {
            Ok(self.inside(path))
        } else {
            Err(IoKind::NotFound.into())
        }
    }
    /// Creates a directory inside this one.
    ///
    /// # Errors
    /// A name that is no plain component, and errors of the file system.
    pub fn create_subdirectory(&self, name: &str) -> Result<FsDir, IoError> {
        let path = self.join_to_write(name)?;
        std::fs::create_dir(&path)?;
        Ok(self.inside(path))
    }
    /// Has `edit` make the next state of the directory in a second one with the same files, which then changes places
    /// with it in one step. Files that are there must be replaced or removed, not written to.
    ///
    /// # Errors
    /// What `edit` returns; those of the file system. Then all is as it was, but for [`IoKind::NotConfirmed`].
    pub fn rewrite(&self, edit: impl FnOnce(FsDir) -> Result<(), Error>) -> Result<(), Error> {
        let Root::Write(claim) = &*self.root else { return Err(IoKind::ReadOnly.into()) };
        let temporary = NewDir::create(&self.path)?;
        let new = temporary.path().join("new");
        link_tree(temporary.place(), &new)?;
        edit(FsDir::at(new.clone(), Root::Write(Mutex::new(None)))).map_err(Error::of_a_part)?;
        let mut claim = claim.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(claim) = claim.as_mut().filter(|_| cfg!(unix)) else { return Ok(temporary.finish(&new)?) };
        // No other process has opened it yet, and from the exchange on it keeps others out.
        let handle = File::open(&new).map_err(IoError::from)?;
        handle.lock().map_err(IoError::from)?;
        let done = temporary.finish(&new);
        if names(&self.path, &handle).map_err(IoError::from)? {
            claim.pass_on(&handle, &self.path)?;
        }
        Ok(done?)
    }
    fn join_to_write(&self, name: &str) -> Result<PathBuf, IoError> {
        if matches!(*self.root, Root::Write(_)) { self.join(name) } else { Err(IoKind::ReadOnly.into()) }
    }
    /// Gives a new file the permissions of those beside it.
    fn like_others(&self, file: &File, name: &Path) -> Result<(), IoError> {
        let other = || {
            let mut entries = std::fs::read_dir(&self.path).ok()?.filter_map(Result::ok);
            let other = |entry: &std::fs::DirEntry| {
                let temporary = entry.file_name().to_str().and_then(temporary_of).is_some();
                !temporary && *name != *entry.path() && entry.file_type().is_ok_and(|kind| kind.is_file())
            };
            Some(entries.find(other)?.metadata().ok()?.permissions())
        };
        let Some(mode) = self.mode.get_or_init(other) else { return Ok(()) };
        if cfg!(unix) && file.metadata()?.permissions() != *mode {
            file.set_permissions(mode.clone())?;
        }
        Ok(())
    }
}

/// Refuses what is no directory. What stood there before a writer died while it replaced that is put back.
fn check_directory(path: &Path) -> Result<(), IoError> {
    let mut there = std::fs::metadata(path);
    if there.is_err() && sweep(path).is_ok_and(|any| any) {
        there = std::fs::metadata(path);
    }
    if there?.is_dir() { Ok(()) } else { Err(IoKind::NotFound.into()) }
}

impl Directory for FsDir {
    /// Symbolic links are refused: they could lead outside the directory.
    fn open(&self, name: &str, write: bool) -> Result<Box<dyn WriteAt + Send + Sync>, IoError> {
        let path = if write { self.join_to_write(name)? } else { self.join(name)? };
        let file = open_no_link(&path, write, || ());
        if let Root::Read(Some((path, handle))) = &*self.root
            && !names(path, handle)?
        {
            return Err(IoKind::Changed.into());
        }
        Ok(Box::new(file?))
    }
    fn create(&self, name: &str) -> Result<Box<dyn WriteAt + Send + Sync>, IoError> {
        let path = self.join_to_write(name)?;
        let file = OpenOptions::new().read(true).write(true).create_new(true).open(&path)?;
        self.like_others(&file, &path).inspect_err(|_| {
            let _ = std::fs::remove_file(&path);
        })?;
        Ok(Box::new(file))
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
    fn sync_files(&self, names: &[String]) -> Result<(), IoError> {
        let mut paths = names.iter().map(|name| self.join(name)).collect::<Result<Vec<_>, _>>()?;
        paths.push(self.path.clone());
        sync_all(&paths)
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
        match &*self.root {
            Root::Write(claim) => {
                let claim = claim.lock().unwrap_or_else(PoisonError::into_inner);
                claim.as_ref().map_or(Ok(true), |claim| claim.names(&self.path))
            }
            Root::Read(_) => Ok(true),
        }
    }
    fn is_locked(&self) -> bool {
        let Root::Write(claim) = &*self.root else { return false };
        claim.lock().unwrap_or_else(PoisonError::into_inner).is_some()
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn a_new_file_gets_the_permissions_of_those_beside_it() {
        let path = std::env::temp_dir().join(alloc::format!("blosc-frame-beside-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&path);
        let mode = |name: &str| std::fs::metadata(path.join(name)).unwrap().permissions().mode() & 0o7777;
        std::fs::create_dir(&path).unwrap();
        FsDir::open_rw(&path).unwrap().create("first").unwrap();
        for wanted in [0o600, 0o664] {
            std::fs::set_permissions(path.join("first"), Permissions::from_mode(wanted)).unwrap();
            let dir = FsDir::open_rw(&path).unwrap();
            dir.create("second").unwrap();
            assert_eq!(mode("second"), wanted);
            let new = |dir: FsDir| Ok(dir.create("third").map(drop)?);
            dir.rewrite(new).unwrap();
            assert_eq!((mode("third"), mode("first")), (wanted, wanted));
            dir.remove("second").unwrap();
            dir.remove("third").unwrap();
        }
        std::fs::remove_dir_all(&path).unwrap();
    }

    /// The exchange keeps what others put there, the permissions of directories and the lock; who reads the directory is
    /// told that it is another one.
    #[test]
    fn a_rewritten_directory_is_locked_and_readers_are_told() {
        let place = std::env::temp_dir().join(alloc::format!("blosc-frame-rewrite-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&place);
        let path = place.join("dir");
        std::fs::create_dir_all(path.join("in")).unwrap();
        std::fs::set_permissions(path.join("in"), Permissions::from_mode(0o750)).unwrap();
        for name in ["a", "b", "in/c"] {
            std::fs::write(path.join(name), name).unwrap();
        }
        std::os::unix::fs::symlink("nowhere", path.join("link")).unwrap();
        std::os::unix::fs::symlink(&path, place.join("name")).unwrap();
        let reader = FsDir::open(&path).unwrap();
        assert_eq!(reader.read("a", 9).unwrap(), b"a");
        let writer = FsDir::open_rw(place.join("name")).unwrap();
        let failed = writer.rewrite(|dir| {
            dir.remove("a")?;
            Err(IoKind::Injected.into())
        });
        assert_eq!(failed, Err(IoKind::Injected.into()));
        assert_eq!(reader.read("a", 9).unwrap(), b"a");
        writer
            .rewrite(|dir| {
                dir.remove("a")?;
                dir.write_new("a", b"new")?;
                Ok(dir.remove("b")?)
            })
            .unwrap();
        assert_eq!(writer.read("a", 9).unwrap(), b"new");
        assert!(!writer.contains("b").unwrap() && writer.is_locked() && writer.is_current().unwrap());
        assert_eq!(FsDir::open_rw(&path).unwrap_err().kind, IoKind::Locked);
        assert_eq!(std::fs::read(path.join("in/c")).unwrap(), b"in/c");
        assert_eq!(std::fs::metadata(path.join("in")).unwrap().permissions().mode() & 0o777, 0o750);
        assert_eq!(std::fs::read_link(path.join("link")).unwrap(), Path::new("nowhere"));
        assert!(matches!(reader.read("a", 9), Err(Error::Io(IoError { kind: IoKind::Changed, .. }))));
        drop(writer);
        FsDir::open_rw(&path).unwrap();
        assert_eq!(std::fs::read_dir(&place).unwrap().count(), 2, "nothing is left beside it");
        std::fs::remove_dir_all(&place).unwrap();
    }

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
