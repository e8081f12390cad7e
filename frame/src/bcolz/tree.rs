//! [`Tree`]: directories inside directories, one plain name at a time, and files replaced in one step.

use crate::error::{Error, IoError, IoKind};
use crate::io::{Directory, FsDir};
use alloc::string::String;
use alloc::vec::Vec;

/// A directory that can hold directories. Names are single plain path components
/// ([`check_name`](crate::io::check_name)); no symbolic link is followed.
pub trait Tree: Directory + Sized {
    /// Opens a directory inside this one.
    fn enter(&self, name: &str) -> Result<Self, IoError>;
    /// Creates a directory inside this one; fails if there is anything of that name.
    fn make(&self, name: &str) -> Result<Self, IoError>;
    /// Removes a directory inside this one with all it holds.
    fn remove_tree(&self, name: &str) -> Result<(), IoError>;
}

impl Tree for FsDir {
    fn enter(&self, name: &str) -> Result<Self, IoError> {
        self.subdirectory(name)
    }
    fn make(&self, name: &str) -> Result<Self, IoError> {
        self.create_subdirectory(name)
    }
    fn remove_tree(&self, name: &str) -> Result<(), IoError> {
        let inner = self.subdirectory(name)?;
        Ok(std::fs::remove_dir_all(inner.path())?)
    }
}

/// Puts a file in place of whatever had its name, in one step. `durable` waits for the disk.
pub(crate) fn put<T: Tree>(dir: &T, name: &str, content: &[u8], durable: bool) -> Result<(), Error> {
    if durable {
        return dir.replace(name, &mut |file| Ok(file.write_at(0, content)?));
    }
    let (temp, mut file) = dir.create_temp(name)?;
    let written = file.write_at(0, content);
    drop(file);
    let moved = written.and_then(|()| dir.rename(&temp, name));
    Ok(moved.inspect_err(|_| {
        let _ = dir.remove(&temp);
    })?)
}

/// Reads a small file; `None` when there is none.
pub(super) fn get<T: Tree>(dir: &T, name: &str, limit: u64) -> Result<Option<Vec<u8>>, Error> {
    match dir.read(name, limit) {
        Ok(content) => Ok(Some(content)),
        Err(Error::Io(e)) if e.kind == IoKind::NotFound => Ok(None),
        Err(e) => Err(e),
    }
}

/// Removes a file that may not be there.
pub(super) fn discard<T: Tree>(dir: &T, name: &str) -> Result<(), Error> {
    match dir.remove(name) {
        Err(e) if e.kind != IoKind::NotFound => Err(e.into()),
        _ => Ok(()),
    }
}

/// Names a directory entry may not have because the layout uses them itself.
const TAKEN: [&str; 4] = ["data", "meta", "__attrs__", "__rootdirs__"];

/// Accepts the name of a column: one plain path component that the layout does not use itself.
///
/// # Errors
/// [`IoKind::Name`] for `..`, separators, drive letters, control characters, an empty name, and `data`,
/// `meta`, `__attrs__`, `__rootdirs__`.
pub fn check_column(name: &str) -> Result<(), IoError> {
    crate::io::check_name(name)?;
    if TAKEN.contains(&name) {
        return Err(IoKind::Name.into());
    }
    Ok(())
}

/// Checks the names of all columns; none may occur twice.
pub(super) fn check_columns(names: &[String]) -> Result<(), Error> {
    let mut seen = alloc::collections::BTreeSet::new();
    for name in names {
        check_column(name)?;
        if !seen.insert(name.as_str()) {
            return Err(Error::Param { name: "column", value: 0, allowed: "each name once" });
        }
    }
    Ok(())
}
