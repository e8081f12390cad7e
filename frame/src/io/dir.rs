//! [`Directory`]: a flat set of named files, the form of sparse frames and bcolz arrays.

use super::traits::{Fill, ReadAt, Refill, Store, WriteAt};
use crate::error::{Error, IoError, IoKind};
use crate::limits::{resize, within};
use alloc::boxed::Box;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

/// A flat set of named files. Every implementation refuses names that fail [`check_name`], so that
/// nothing read from a file can reach outside the directory.
///
/// # Errors
/// Every method gives what the system says, and [`IoKind::Name`] for a name that is refused.
#[allow(clippy::missing_errors_doc, reason = "the trait says it for all of its methods")]
pub trait Directory {
    /// Opens an existing file; `write` asks for a handle that can be written.
    fn open(&self, name: &str, write: bool) -> Result<Box<dyn WriteAt + Send + Sync>, IoError>;
    /// Creates a new, empty file; fails with [`IoKind::AlreadyExists`] if there is one.
    fn create(&self, name: &str) -> Result<Box<dyn WriteAt + Send + Sync>, IoError>;
    /// Renames a file over whatever `to` was, in one atomic step.
    fn rename(&self, from: &str, to: &str) -> Result<(), IoError>;
    /// Removes a file.
    fn remove(&self, name: &str) -> Result<(), IoError>;
    /// The names of the files, in no order; names that are not UTF-8 are left out.
    fn list(&self) -> Result<Vec<String>, IoError>;
    /// Returns when all creations, renames and removals so far will survive a power failure.
    fn sync(&self) -> Result<(), IoError>;
    /// Returns when these files, and all names of the directory, will survive a power failure.
    fn sync_files(&self, names: &[String]) -> Result<(), IoError> {
        names.iter().try_for_each(|name| self.open(name, true)?.sync())?;
        self.sync()
    }

    /// Whether there is a file of this name.
    fn contains(&self, name: &str) -> Result<bool, IoError> {
        match self.open(name, false) {
            Ok(_) => Ok(true),
            Err(e) if e.kind == IoKind::NotFound => Ok(false),
            Err(e) => Err(e),
        }
    }
    /// Reads a whole file of at most `limit` bytes.
    fn read(&self, name: &str, limit: u64) -> Result<Vec<u8>, Error> {
        let file = self.open(name, false)?;
        let size = file.size()?;
        within("bytes of a file", size, limit)?;
        let mut content = Vec::new();
        resize(&mut content, size)?;
        file.read_exact_at(0, &mut content)?;
        Ok(content)
    }
    /// Reads whole files, each as [`Directory::read`] does: one after the other, unless the directory can ask for several
    /// at once.
    fn read_files(&self, names: &[String], limit: u64) -> Vec<Result<Vec<u8>, Error>> {
        names.iter().map(|name| self.read(name, limit)).collect()
    }
    /// Whether a request takes so long that readers ask for all files they need in one call of [`Directory::read_files`].
    fn is_far(&self) -> bool {
        false
    }
    /// Writes a new file and flushes it; a failure removes it again.
    fn write_new(&self, name: &str, content: &[u8]) -> Result<(), IoError> {
        let mut file = self.create(name)?;
        let written = file.write_at(0, content).and_then(|()| file.sync());
        drop(file);
        written.inspect_err(|_| {
            let _ = self.remove(name);
        })
    }
    /// Replaces the file `name` by what `fill` writes: temporary file, flush, rename, directory flush. A failure
    /// removes the temporary file. Where files have permissions, the new one gets the old one's.
    fn replace(&self, name: &str, fill: &mut Fill<'_>) -> Result<(), Error> {
        let (temp, mut file) = self.create_temp(name)?;
        let written = fill(&mut file).and_then(|()| Ok(file.sync()?));
        drop(file);
        let moved = written.and_then(|()| Ok(self.rename(&temp, name)?));
        moved.inspect_err(|_| {
            let _ = self.remove(&temp);
        })?;
        Ok(self.sync().map_err(IoError::not_confirmed)?)
    }
    /// Creates a file whose name nobody else uses, beside `name`.
    fn create_temp(&self, name: &str) -> Result<(String, Box<dyn WriteAt + Send + Sync>), IoError> {
        for number in 0..10_000u32 {
            let temp = format!("{name}.tmp{number}");
            match self.create(&temp) {
                Ok(file) => return Ok((temp, file)),
                Err(e) if e.kind == IoKind::AlreadyExists => {}
                Err(e) => return Err(e),
            }
        }
        Err(IoKind::AlreadyExists.into())
    }
    /// Whether the directory's path, if it has one, still stands for what was opened.
    fn is_current(&self) -> Result<bool, IoError> {
        Ok(true)
    }
    /// Whether other writers are kept out, so that files that nothing refers to are those of dead ones.
    fn is_locked(&self) -> bool {
        false
    }
}

/// Accepts a single plain path component: not empty, not `.` or `..`, at most 255 bytes, and without
/// separators, colons, NUL or other control characters.
///
/// # Errors
/// [`IoKind::Name`].
pub fn check_name(name: &str) -> Result<(), IoError> {
    let bad = |b: u8| b < 0x20 || matches!(b, b'/' | b'\\' | b':');
    if name.is_empty() || name == "." || name == ".." || name.len() > 255 || name.bytes().any(bad) {
        return Err(IoKind::Name.into());
    }
    Ok(())
}

impl<D: Directory + ?Sized> Directory for Box<D> {
    super::traits::forward! {
        self => (**self);
        fn open(name: &str, write: bool) -> Result<Box<dyn WriteAt + Send + Sync>, IoError>;
        fn create(name: &str) -> Result<Box<dyn WriteAt + Send + Sync>, IoError>;
        fn rename(from: &str, to: &str) -> Result<(), IoError>;
        fn remove(name: &str) -> Result<(), IoError>;
        fn list() -> Result<Vec<String>, IoError>;
        fn sync() -> Result<(), IoError>;
        fn sync_files(names: &[String]) -> Result<(), IoError>;
        fn read_files(names: &[String], limit: u64) -> Vec<Result<Vec<u8>, Error>>;
        fn replace(name: &str, fill: &mut Fill<'_>) -> Result<(), Error>;
        fn create_temp(name: &str) -> Result<(String, Box<dyn WriteAt + Send + Sync>), IoError>;
        fn is_current() -> Result<bool, IoError>;
        fn is_locked() -> bool;
        fn is_far() -> bool;
    }
}

/// One file of a directory as a [`Store`]: replaced by temporary file and rename.
pub struct DirFile<D: Directory> {
    dir: D,
    name: String,
    file: Box<dyn WriteAt + Send + Sync>,
    /// Whether the file's name may still be lost in a power failure.
    new: bool,
}

impl<D: Directory> DirFile<D> {
    /// Opens an existing file.
    ///
    /// # Errors
    /// Errors of the directory, such as a file that is not there.
    pub fn open(dir: D, name: &str) -> Result<DirFile<D>, IoError> {
        let file = dir.open(name, true)?;
        Ok(DirFile { dir, name: name.into(), file, new: false })
    }
    /// Creates a new file.
    ///
    /// # Errors
    /// Errors of the directory, such as a file that is there.
    pub fn create(dir: D, name: &str) -> Result<DirFile<D>, IoError> {
        let file = dir.create(name)?;
        Ok(DirFile { dir, name: name.into(), file, new: true })
    }
}

impl<D: Directory> ReadAt for DirFile<D> {
    super::traits::forward_read!(this => &*this.file);
}

impl<D: Directory> WriteAt for DirFile<D> {
    fn write_at(&mut self, offset: u64, data: &[u8]) -> Result<(), IoError> {
        self.file.write_at(offset, data)
    }
    fn truncate(&mut self, len: u64) -> Result<(), IoError> {
        self.file.truncate(len)
    }
    fn sync(&mut self) -> Result<(), IoError> {
        self.file.sync()?;
        if self.new {
            self.dir.sync()?;
            self.new = false;
        }
        Ok(())
    }
}

impl<D: Directory> Store for DirFile<D> {
    fn replace(&mut self, fill: &mut Fill<'_>) -> Result<(), Error> {
        self.rewrite(&mut |_, new| fill(new))
    }
    fn rewrite(&mut self, fill: &mut Refill<'_>) -> Result<(), Error> {
        let old = &self.file;
        let replaced = self.dir.replace(&self.name, &mut |new| fill(old, new));
        if replaced.as_ref().map_or_else(Error::is_in_force, |()| true) {
            self.file = self.dir.open(&self.name, true)?;
        }
        replaced
    }
}
