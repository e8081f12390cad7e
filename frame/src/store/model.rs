//! What a store is: its entries, where each lies, and how they are found and opened.

use super::embedded::{Embedded, Root, user_layers};
use super::zip;
use crate::error::{Error, FileError, IoKind, Structure};
use crate::io::{FilePool, FsDir, Shared};
#[cfg(feature = "table")]
use crate::io::{ReadAt, Together};
use crate::limits::Limits;
use crate::schunk::SuperChunk;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::sync::Arc;
use alloc::vec::Vec;
use std::path::{Path, PathBuf};

/// The file that is the root of a store.
pub const ROOT: &str = "embed.b2e";
/// What is called so in a group holds its attributes.
pub(super) const ATTRIBUTES: &str = "/__vlmeta__";
/// What says which rows of a table live: with [`META`], it makes a group a table.
pub const VALID_ROWS: &str = "/_valid_rows";
/// What describes a table.
pub const META: &str = "/_meta";

/// How a store lies on disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// A directory with a root.
    B2d,
    /// A zip file.
    B2z,
    /// A frame of frames.
    B2e,
    /// A directory of arrays without a root.
    Folder,
}

impl Form {
    /// What it is called.
    pub const fn name(self) -> &'static str {
        match self {
            Form::B2d => "b2d store",
            Form::B2z => "b2z store",
            Form::B2e => "b2e store",
            Form::Folder => "directory of arrays",
        }
    }
    /// Whether it is a directory.
    pub const fn is_directory(self) -> bool {
        matches!(self, Form::B2d | Form::Folder)
    }
}

/// What an entry is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Leaf {
    /// An array, by its extension or, where it is embedded, by its metalayer.
    Array,
    /// A frame, be it plain or with a value in each chunk.
    Frame,
    /// A frame with a batch of values in each chunk.
    Batches,
    /// A frame with frames in it: a store of its own.
    Frames,
    /// The root of this store.
    Root,
    /// The attributes of a group, which are the variable-length metalayers of a frame.
    Attributes,
    /// What the root says lies elsewhere: a remote array or store. It is not followed.
    Reference,
    /// A symbolic link, a device, a FIFO. It is not followed or read.
    Link,
    /// A file of others, which is no frame by its name.
    Foreign,
    /// An embedded frame that is not where the store says, or no frame.
    Damaged,
}

impl Leaf {
    /// What it is called.
    pub const fn name(self) -> &'static str {
        match self {
            Leaf::Array => "array",
            Leaf::Frame => "frame",
            Leaf::Batches => "batch array",
            Leaf::Frames => "embedded frames",
            Leaf::Root => "root of the store",
            Leaf::Attributes => "attributes",
            Leaf::Reference => "reference to what lies elsewhere",
            Leaf::Link => "link or device",
            Leaf::Foreign => "file that is no frame",
            Leaf::Damaged => "damaged frame",
        }
    }
    /// What the name of a file says; `None` for one that no store has.
    pub(super) fn of_name(name: &str) -> Option<Leaf> {
        Some(match name.rsplit_once('.')?.1 {
            "b2nd" => Leaf::Array,
            "b2f" if name.strip_suffix(".b2f").is_some_and(|key| key.ends_with(ATTRIBUTES)) => {
                Leaf::Attributes
            }
            "b2f" => Leaf::Frame,
            "b2b" => Leaf::Batches,
            "b2e" => Leaf::Frames,
            _ => return None,
        })
    }
    /// The extension of a file of it.
    pub(super) const fn extension(self) -> &'static str {
        match self {
            Leaf::Array => ".b2nd",
            Leaf::Batches => ".b2b",
            Leaf::Frames | Leaf::Root => ".b2e",
            _ => ".b2f",
        }
    }
}

/// Where an entry lies.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Place {
    /// A file, or the directory of a sparse frame.
    Path(PathBuf),
    /// A member of the zip file.
    Member(zip::Member),
    /// Bytes of what the root decodes to.
    Embedded {
        /// Where they start.
        offset: u64,
        /// How many they are.
        length: u64,
    },
    /// Elsewhere: what the store says of it.
    Elsewhere(String),
}

/// A leaf, or something else that lies in a store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Its key and, where it is a file, the extension of that.
    pub(super) name: String,
    /// Bytes of the name that are the key.
    key: usize,
    pub(super) leaf: Leaf,
    pub(super) place: Place,
}

impl Entry {
    pub(super) fn new(name: String, leaf: Leaf, place: Place) -> Entry {
        let file = matches!(place, Place::Path(_) | Place::Member(_)) && leaf != Leaf::Foreign;
        let stem = name.rsplit_once('.').map(|(stem, _)| stem.len()).filter(|_| file);
        let key = stem.unwrap_or(name.len());
        Entry { name, key, leaf, place }
    }
    /// Its key, which begins with a slash.
    pub fn key(&self) -> &str {
        self.name.get(..self.key).unwrap_or(&self.name)
    }
    /// Its key with the extension of its file, where it has one.
    pub fn name(&self) -> &str {
        &self.name
    }
    /// The extension of its file, without the dot; empty where it has none.
    pub fn extension(&self) -> &str {
        self.name.get(self.key..).unwrap_or("").trim_start_matches('.')
    }
    /// What it is.
    pub fn leaf(&self) -> Leaf {
        self.leaf
    }
    /// Where it lies.
    pub fn place(&self) -> &Place {
        &self.place
    }
    /// Whether it is data of its own: no part of how the store is made.
    pub fn is_data(&self) -> bool {
        !matches!(self.leaf, Leaf::Attributes | Leaf::Root)
    }
}

/// What all groups of a store have in common.
pub(super) struct Common {
    pub(super) path: PathBuf,
    pub(super) form: Form,
    pub(super) limits: Limits,
    /// The zip file.
    pub(super) file: Option<Shared>,
    pub(super) root: Option<Arc<Root>>,
    /// The files of a directory, of which few are open at a time.
    pub(super) pool: FilePool,
}

/// A store, or a group of one.
#[derive(Clone)]
pub struct Store {
    pub(super) shared: Arc<Common>,
    /// The key of the group; empty for all of it.
    pub(super) prefix: String,
    /// Sorted by their keys.
    pub(super) entries: Vec<Entry>,
    /// Keys of the groups in it, sorted; those that hold nothing, too.
    pub(super) groups: Vec<String>,
    /// Keys of the groups that are tables, sorted; `""` is all of it.
    pub(super) tables: Vec<String>,
    /// How its frames are read.
    pub(super) reading: Reading,
}

/// How the frames of a store are read.
#[derive(Clone, Copy)]
pub(super) struct Reading {
    threads: usize,
    verify: bool,
}

impl Default for Reading {
    fn default() -> Reading {
        Reading { threads: 1, verify: true }
    }
}

/// What lies under `group`, without it; `None` for what does not.
pub(super) fn under<'k>(key: &'k str, group: &str) -> Option<&'k str> {
    key.strip_prefix(group).filter(|rest| rest.starts_with('/'))
}

impl Store {
    /// The path that it was opened by.
    pub fn path(&self) -> &Path {
        &self.shared.path
    }

    /// This store over a source of its own in which what several readers miss is fetched together; `None` where it lies in no
    /// file that is far.
    #[cfg(feature = "table")]
    pub(crate) fn together(&self) -> Result<Option<(Store, Arc<Together>)>, Error> {
        let Common { path, form, limits, file, root, .. } = &*self.shared;
        let Some(file) = file.as_ref().filter(|file| file.is_far()) else { return Ok(None) };
        let together = Arc::new(Together::new(file.clone())?);
        let (file, pool): (Shared, _) = (together.clone(), FilePool::default());
        let (path, root) = (path.clone(), root.clone());
        let shared = Common { path, form: *form, limits: *limits, file: Some(file), root, pool };
        Ok(Some((Store { shared: Arc::new(shared), ..self.clone() }, together)))
    }

    /// What its frames, and reading all of it, are held to.
    pub fn limits(&self) -> &Limits {
        &self.shared.limits
    }

    /// Decodes chunks of its frames by up to `threads` threads: see [`SuperChunk::set_threads`].
    pub fn set_threads(&mut self, threads: usize) {
        self.reading.threads = threads;
    }

    /// Whether chunks of its frames are compared with their checksums: see [`SuperChunk::set_verify`].
    pub fn set_verify(&mut self, on: bool) {
        self.reading.verify = on;
    }

    /// How it lies on disk.
    pub fn form(&self) -> Form {
        self.shared.form
    }

    /// The key of the group that this is; empty for a whole store.
    pub fn prefix(&self) -> &str {
        &self.prefix
    }

    /// What messages call it: `PATH`, or `PATH:KEY`.
    pub fn name(&self) -> PathBuf {
        self.named("")
    }

    pub(super) fn named(&self, key: &str) -> PathBuf {
        match format!("{}{key}", self.prefix) {
            key if key.is_empty() => self.shared.path.clone(),
            key => PathBuf::from(format!("{}:{key}", self.shared.path.display())),
        }
    }

    pub(super) fn at(&self, entry: &Entry) -> impl Fn(Error) -> FileError + use<> {
        FileError::at(self.named(entry.name()))
    }

    /// All that lies in it, sorted by key: how the store is made, and what belongs to others, too.
    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// The keys of the groups in it, sorted.
    pub fn groups(&self) -> &[String] {
        &self.groups
    }

    /// The keys of its groups that are tables, sorted; `""` is all of it.
    pub fn tables(&self) -> &[String] {
        &self.tables
    }

    /// Whether all of it is one table.
    pub fn is_table(&self) -> bool {
        self.tables.iter().any(String::is_empty)
    }

    /// Whether an entry is a part of a table.
    pub fn in_table(&self, entry: &Entry) -> bool {
        let key = entry.key();
        let mut ends = key.match_indices('/').map(|(at, _)| at);
        ends.any(|at| key.get(..at).is_some_and(|group| self.has_table(group)))
    }

    /// Whether the group is a table.
    pub fn has_table(&self, group: &str) -> bool {
        self.tables.binary_search_by(|table| table.as_str().cmp(group)).is_ok()
    }

    /// The entries of a key: more than one where files differ in their extensions alone.
    fn all(&self, key: &str) -> &[Entry] {
        let start = self.entries.partition_point(|entry| entry.key() < key);
        let rest = self.entries.get(start..).unwrap_or_default();
        let count = rest.partition_point(|entry| entry.key() == key);
        rest.get(..count).unwrap_or_default()
    }

    /// The entry of a key, which may end in the extension of its file.
    pub fn get(&self, key: &str) -> Option<&Entry> {
        let by_name = || {
            let (stem, _) = key.rsplit_once('.')?;
            self.all(stem).iter().find(|entry| entry.name == key)
        };
        self.all(key).first().or_else(by_name)
    }

    /// The entry of a key whose file, unless it is embedded, has this extension.
    pub fn find(&self, key: &str, extension: &str) -> Option<&Entry> {
        let fits = |entry: &&Entry| match entry.place {
            Place::Path(_) | Place::Member(_) => entry.extension() == extension,
            _ => true,
        };
        self.all(key).iter().find(fits)
    }

    /// The group of a key as a store of its own, whose keys begin there; `None` if there is no such group.
    pub fn group(&self, key: &str) -> Option<Store> {
        let key = key.trim_end_matches('/');
        if key.is_empty() {
            return Some(self.clone());
        }
        self.groups.binary_search_by(|group| group.as_str().cmp(key)).ok()?;
        let mut entries = Vec::new();
        for entry in &self.entries {
            if let Some(rest) = under(&entry.name, key) {
                let (name, cut) = (rest.to_string(), entry.name.len().saturating_sub(rest.len()));
                entries.push(Entry { name, key: entry.key.saturating_sub(cut), ..entry.clone() });
            }
        }
        let inside = |keys: &[String]| keys.iter().filter_map(|k| under(k, key)).map(String::from).collect();
        let mut tables: Vec<String> = inside(&self.tables);
        if self.has_table(key) {
            tables.insert(0, String::new());
        }
        Some(Store {
            shared: self.shared.clone(),
            prefix: format!("{}{key}", self.prefix),
            entries,
            groups: inside(&self.groups),
            tables,
            reading: self.reading,
        })
    }

    /// The attributes of a group, `""` being the root: names and contents, which are MessagePack where python-blosc2 wrote
    /// them. None where it has no attributes.
    ///
    /// # Errors
    /// Attributes that are damaged.
    pub fn attributes(&self, group: &str) -> Result<Vec<(String, Vec<u8>)>, FileError> {
        let Some(entry) = self.attributes_of(group) else { return Ok(Vec::new()) };
        let frame = self.frame(entry)?;
        user_layers(&frame).map_err(self.at(entry))
    }

    /// The frame that holds the attributes of a group.
    pub fn attributes_of(&self, group: &str) -> Option<&Entry> {
        let key = format!("{}{ATTRIBUTES}", group.trim_end_matches('/'));
        self.all(&key).iter().find(|entry| entry.leaf == Leaf::Attributes)
    }

    /// Opens a leaf for reading. To change one that is a file, open that by its path.
    ///
    /// # Errors
    /// What is no frame, by what it is; what opening a frame gives. The path in the error is `STORE:/KEY`.
    pub fn frame(&self, entry: &Entry) -> Result<SuperChunk<'static>, FileError> {
        self.open_frame(entry).map_err(self.at(entry))
    }

    pub(super) fn open_frame(&self, entry: &Entry) -> Result<SuperChunk<'static>, Error> {
        let mut frame = self.open_unprepared(entry)?;
        frame.set_threads(self.reading.threads);
        frame.set_verify(self.reading.verify);
        Ok(frame)
    }

    fn open_unprepared(&self, entry: &Entry) -> Result<SuperChunk<'static>, Error> {
        let limits = &self.shared.limits;
        let unsupported = |what| Error::Unsupported { structure: Structure::Store, what };
        match (&entry.place, entry.leaf) {
            (_, Leaf::Foreign) => Err(unsupported("reading a file that is no frame")),
            (_, Leaf::Damaged) => Err(IoKind::Damaged.into()),
            (Place::Elsewhere(_), _) => Err(unsupported("following a reference to what lies elsewhere")),
            (Place::Path(path), _) if path.is_dir() => SuperChunk::open_dir(FsDir::open(path)?, limits),
            (Place::Path(path), _) => SuperChunk::open_read(self.shared.pool.open(path, false)?, limits),
            (Place::Member(member), _) => SuperChunk::open_read(self.content(member)?, limits),
            (Place::Embedded { offset, length }, _) => {
                let frame = self.embedded(*offset, *length)?;
                let opened = SuperChunk::open_read(frame.clone(), limits);
                opened.map_err(|error| frame.cause().unwrap_or(error))
            }
        }
    }

    pub(super) fn content(&self, member: &zip::Member) -> Result<zip::Content, Error> {
        let file = self.shared.file.as_ref().ok_or(IoKind::NotFound)?;
        member.open(file, &self.shared.limits)
    }

    pub(super) fn embedded(&self, offset: u64, length: u64) -> Result<Embedded, Error> {
        let root = self.shared.root.as_ref().ok_or(IoKind::NotFound)?;
        Ok(Embedded::new(root.clone(), offset, length))
    }

    /// Where a member of the zip file begins, if it lies there as it is.
    pub fn offset(&self, entry: &Entry) -> Option<u64> {
        match (&entry.place, &self.shared.file) {
            (Place::Member(member), Some(file)) => member.offset(file),
            _ => None,
        }
    }

    /// Has `read` use the frame that everything is embedded in; `None` where there is none.
    pub fn with_root<T>(&self, read: impl FnOnce(&mut SuperChunk<'static>) -> T) -> Option<T> {
        Some(self.shared.root.as_ref()?.with(read))
    }
}
