//! [`Tree`]: directories inside directories, one plain name at a time, and files replaced in one step.

use crate::error::{Error, IoError, IoKind};
use crate::io::{Directory, FsDir, WriteAt, check_name};
use alloc::boxed::Box;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

/// A directory that can hold directories. Names are single plain path components
/// ([`check_name`](crate::io::check_name)); no symbolic link is followed.
pub trait Tree: Directory + Sized {
    /// Opens a directory inside this one.
    ///
    /// # Errors
    /// [`IoKind::NotFound`] when there is none; a name that is not plain.
    fn enter(&self, name: &str) -> Result<Self, IoError>;
    /// Creates a directory inside this one; fails if there is anything of that name.
    ///
    /// # Errors
    /// [`IoKind::AlreadyExists`]; a name that is not plain.
    fn make(&self, name: &str) -> Result<Self, IoError>;
    /// Removes a directory inside this one with all it holds.
    ///
    /// # Errors
    /// [`IoKind::NotFound`] when there is none; errors of the file system.
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

/// A tree of directories laid flat in one directory: `data!__0.blp` is `__0.blp` in `data`, and an empty
/// file `data!` stands for `data` itself. With [`MemDir`](crate::io::MemDir) a container lives in memory.
#[derive(Clone)]
pub struct FlatTree<D> {
    dir: D,
    prefix: String,
}

impl<D: Directory + Clone> FlatTree<D> {
    /// The root of the tree in `dir`.
    pub fn new(dir: D) -> FlatTree<D> {
        FlatTree { dir, prefix: String::new() }
    }

    fn full(&self, name: &str) -> Result<String, IoError> {
        check_name(name)?;
        if name.contains('!') {
            return Err(IoKind::Name.into());
        }
        Ok(format!("{}{name}", self.prefix))
    }

    fn marker(&self, name: &str) -> Result<String, IoError> {
        Ok(self.full(name)? + "!")
    }
}

impl<D: Directory + Clone> Directory for FlatTree<D> {
    fn open(&self, name: &str, write: bool) -> Result<Box<dyn WriteAt + Send + Sync>, IoError> {
        self.dir.open(&self.full(name)?, write)
    }
    fn create(&self, name: &str) -> Result<Box<dyn WriteAt + Send + Sync>, IoError> {
        self.dir.create(&self.full(name)?)
    }
    fn rename(&self, from: &str, to: &str) -> Result<(), IoError> {
        let (from, to) = (self.full(from)?, self.full(to)?);
        if self.dir.contains(&from)? {
            return self.dir.rename(&from, &to);
        }
        let inside = format!("{from}!");
        let names = self.dir.list()?;
        // The marker last: until then the directory is found under its old name.
        let files = names.iter().filter(|n| n.starts_with(&inside) && **n != inside);
        for name in files.chain([&inside]) {
            self.dir.rename(name, &name.replacen(&from, &to, 1))?;
        }
        Ok(())
    }
    fn remove(&self, name: &str) -> Result<(), IoError> {
        self.dir.remove(&self.full(name)?)
    }
    fn list(&self) -> Result<Vec<String>, IoError> {
        let all = self.dir.list()?;
        // Neither the marker of this directory nor what lies in directories inside it.
        let inside = all.iter().filter_map(|n| n.strip_prefix(&self.prefix));
        Ok(inside.filter(|n| !n.is_empty() && !n.contains('!')).map(String::from).collect())
    }
    fn sync(&self) -> Result<(), IoError> {
        self.dir.sync()
    }
}

impl<D: Directory + Clone> Tree for FlatTree<D> {
    fn enter(&self, name: &str) -> Result<Self, IoError> {
        let prefix = self.marker(name)?;
        match self.dir.contains(&prefix)? {
            true => Ok(FlatTree { dir: self.dir.clone(), prefix }),
            false => Err(IoKind::NotFound.into()),
        }
    }
    fn make(&self, name: &str) -> Result<Self, IoError> {
        let prefix = self.marker(name)?;
        self.dir.create(&prefix)?;
        Ok(FlatTree { dir: self.dir.clone(), prefix })
    }
    fn remove_tree(&self, name: &str) -> Result<(), IoError> {
        let marker = self.marker(name)?;
        self.dir.list()?.iter().filter(|n| n.starts_with(&marker)).try_for_each(|n| self.dir.remove(n))
    }
}

/// Puts a file in place of whatever had its name, in one step. `durable` waits for the disk.
pub(crate) fn put<T: Tree>(dir: &T, name: &str, content: &[u8], durable: bool) -> Result<(), Error> {
    if durable {
        return dir.replace(name, &mut |file| Ok(file.write_at(0, content)?)).map_err(Error::of_a_part);
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
pub(crate) fn discard<T: Tree>(dir: &T, name: &str) -> Result<(), Error> {
    match dir.remove(name) {
        Err(e) if e.kind != IoKind::NotFound => Err(e.into()),
        _ => Ok(()),
    }
}

/// Removes what writers that died left in a directory: files under temporary names, and those that `surplus` names.
/// For who holds the lock: a writer at work has such files, too.
pub(crate) fn sweep<T: Tree>(dir: &T, surplus: &dyn Fn(&str) -> bool) -> Result<(), Error> {
    let unfinished = |name: &str| {
        let number = name.rsplit_once(".tmp").map(|(_, number)| number);
        number.is_some_and(|n| !n.is_empty() && n.bytes().all(|b| b.is_ascii_digit()))
    };
    dir.list()?
        .iter()
        .filter(|name| unfinished(name) || surplus(name))
        .try_for_each(|name| discard(dir, name))
}

/// What a table says about an edit of all its columns that is under way.
pub(super) const PENDING: &str = "__pending__";

/// Names a directory entry may not have because the layout uses them itself.
const TAKEN: [&str; 5] = ["data", "meta", "__attrs__", "__rootdirs__", PENDING];

/// Accepts the name of a column: one plain path component that the layout does not use itself.
///
/// # Errors
/// [`IoKind::Name`] for `..`, separators, drive letters, control characters, an empty name, and `data`,
/// `meta`, `__attrs__`, `__rootdirs__`, `__pending__`.
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
