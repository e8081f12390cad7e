//! [`Tree`]: directories inside directories, one plain name at a time, and files replaced in one step.

use crate::error::{Error, IoError, IoKind, Structure};
use crate::io::{Directory, FsDir, WriteAt, check_name};
use crate::value::{TextLimits, Value};
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
    /// Has `edit` make the next state of this directory, which is the root of a container, in a second one with the same
    /// files; then that takes its place in one step that survives a power failure. Files that are there must be replaced
    /// or removed, not written to, and nothing need be flushed.
    ///
    /// # Errors
    /// What `edit` returns, and errors of the file system. Then all is as it was, unless only the last flush failed.
    fn rewrite(&self, edit: impl FnOnce(Self) -> Result<(), Error>) -> Result<(), Error>;
}

impl Tree for FsDir {
    fn rewrite(&self, edit: impl FnOnce(Self) -> Result<(), Error>) -> Result<(), Error> {
        FsDir::rewrite(self, edit)
    }
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
///
/// After [`Tree::rewrite`] the tree is what lies in the directory that the file `~` names: `~1!data!__0.blp`.
#[derive(Clone)]
pub struct FlatTree<D> {
    dir: D,
    /// The directory with the next state, where it is being made.
    draft: Option<String>,
    prefix: String,
}

/// Names the directory that the tree is in.
const CURRENT: &str = "~";

impl<D: Directory + Clone> FlatTree<D> {
    /// The root of the tree in `dir`.
    pub fn new(dir: D) -> FlatTree<D> {
        FlatTree { dir, draft: None, prefix: String::new() }
    }

    fn root(&self) -> Result<String, IoError> {
        match (&self.draft, self.dir.read(CURRENT, 64)) {
            (Some(draft), _) => Ok(draft.clone()),
            (None, Ok(name)) => String::from_utf8(name).map_err(|_| IoKind::Name.into()),
            (None, Err(Error::Io(e))) if e.kind != IoKind::NotFound => Err(e),
            (None, Err(_)) => Ok(String::new()),
        }
    }

    fn full(&self, name: &str) -> Result<String, IoError> {
        check_name(name)?;
        if name.contains(['!', '~']) {
            return Err(IoKind::Name.into());
        }
        Ok(format!("{}{}{name}", self.root()?, self.prefix))
    }

    fn marker(&self, name: &str) -> Result<String, IoError> {
        Ok(self.full(name)? + "!")
    }

    fn inside(&self, name: &str) -> FlatTree<D> {
        FlatTree { prefix: format!("{}{name}!", self.prefix), ..self.clone() }
    }

    /// Removes all files whose names begin so.
    fn remove_all(&self, beginning: &str) -> Result<(), IoError> {
        let names = self.dir.list()?;
        names.iter().filter(|n| n.starts_with(beginning)).try_for_each(|n| self.dir.remove(n))
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
        let (all, beginning) = (self.dir.list()?, self.root()? + &self.prefix);
        // Neither the marker of this directory nor what lies in directories inside it.
        let inside = all.iter().filter_map(|n| n.strip_prefix(&beginning));
        Ok(inside.filter(|n| !n.is_empty() && !n.contains(['!', '~'])).map(String::from).collect())
    }
    fn sync(&self) -> Result<(), IoError> {
        self.dir.sync()
    }
}

impl<D: Directory + Clone> Tree for FlatTree<D> {
    fn enter(&self, name: &str) -> Result<Self, IoError> {
        match self.dir.contains(&self.marker(name)?)? {
            true => Ok(self.inside(name)),
            false => Err(IoKind::NotFound.into()),
        }
    }
    fn make(&self, name: &str) -> Result<Self, IoError> {
        self.dir.create(&self.marker(name)?)?;
        Ok(self.inside(name))
    }
    fn remove_tree(&self, name: &str) -> Result<(), IoError> {
        self.remove_all(&self.marker(name)?)
    }
    fn rewrite(&self, edit: impl FnOnce(Self) -> Result<(), Error>) -> Result<(), Error> {
        let old = self.root()?;
        let number = old.trim_matches(['~', '!']).parse::<u64>().unwrap_or(0).wrapping_add(1);
        let new = format!("~{number}!");
        self.remove_all(&new)?;
        let of_old = |n: &&String| n.starts_with(&old) && !(old.is_empty() && n.starts_with('~'));
        let names = self.dir.list()?;
        for name in names.iter().filter(of_old) {
            let content = self.dir.read(name, u64::MAX)?;
            self.dir.create(&name.replacen(&old, &new, 1))?.write_at(0, &content)?;
        }
        edit(FlatTree { draft: Some(new.clone()), ..self.clone() })?;
        let mut made = self.dir.list()?;
        made.retain(|name| name.starts_with(&new));
        self.dir.sync_files(&made)?;
        self.dir.replace(CURRENT, &mut |file| Ok(file.write_at(0, new.as_bytes())?))?;
        // What stays of the old state is only garbage.
        for name in names.iter().filter(of_old) {
            let _ = self.dir.remove(name);
        }
        Ok(())
    }
}

/// Puts a file in place of whatever had its name: `durable` in one step that waits for the disk, else in a directory that no reader has opened.
pub(crate) fn put<T: Tree>(dir: &T, name: &str, content: &[u8], durable: bool) -> Result<(), Error> {
    if durable {
        return dir.replace(name, &mut |file| Ok(file.write_at(0, content)?)).map_err(Error::of_a_part);
    }
    // Some file systems flush what is renamed over another file: 70,000 of them take 100 s.
    discard(dir, name)?;
    Ok(dir.create(name)?.write_at(0, content)?)
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

/// Writes a small file beside the descriptors that says how many rows count while rows are being added, whatever else is
/// on disk: that is of the writer who put it there. Without it, it is of another program.
pub(crate) fn announce<T: Tree>(dir: &T, rows: u64, durable: bool) -> Result<(), Error> {
    let what = Value::object([("rows", Value::int(rows))]);
    put(dir, PENDING, alloc::format!("{}\n", what.to_json()).as_bytes(), durable)
}

/// What a writer left that died while it added rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Announced {
    /// Nothing: there was none.
    No,
    /// How many rows count.
    Rows(u64),
    /// Nothing that can be read: a power failure came before any row was added.
    Torn,
}

impl Announced {
    /// Reads the file that [`announce`] writes.
    pub(crate) fn read<T: Tree>(dir: &T) -> Result<Announced, Error> {
        let Some(text) = get(dir, PENDING, TextLimits::JSON.bytes as u64)? else { return Ok(Announced::No) };
        let value = Value::parse_json(&text, &TextLimits::JSON).ok();
        let rows = value.and_then(|value| value.get("rows")?.as_u64());
        Ok(rows.map_or(Announced::Torn, Announced::Rows))
    }

    /// Whether more than these rows, which are those that count, are of the writer that died.
    pub(crate) fn is_of(self, rows: u64) -> bool {
        matches!(self, Announced::Torn) || self == Announced::Rows(rows)
    }
}

/// Why an edit of rows is refused.
pub(crate) const fn uncounted(structure: Structure) -> Error {
    let what = "changing rows while there are more on disk than meta/sizes counts, as a writer leaves that was not closed \
        (`compact --strays take` counts them, `--strays drop` removes them)";
    Error::Unsupported { structure, what }
}

/// What is on disk beside the rows that count.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Uncounted {
    /// Rows that follow on the last one that counts.
    pub rows: u64,
    /// Files of chunks that hold none of the rows that count.
    pub files: u64,
}

impl Uncounted {
    /// The state of columns whose rows belong together: the rows that all of them have, and all files.
    pub(crate) fn of_all(columns: Vec<Uncounted>) -> Uncounted {
        let rows = columns.iter().map(|found| found.rows).min().unwrap_or(0);
        let files = columns.iter().fold(0u64, |n, found| n.saturating_add(found.files));
        // Rows that some columns have and others have not are no rows, but something all the same.
        let some = rows == 0 && columns.iter().any(Uncounted::any);
        Uncounted { rows, files: files.max(some.into()) }
    }

    /// Whether there is anything.
    pub fn any(&self) -> bool {
        *self != Uncounted::default()
    }
}

/// The name of the file that [`announce`] writes.
pub(crate) const PENDING: &str = "__pending__";

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
