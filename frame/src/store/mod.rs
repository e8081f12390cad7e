//! Stores: several arrays and frames under one path, by their keys (docs/formats/b2nd.md §7).
//!
//! ```text
//! x.b2d      a directory: a frame for each leaf, `g/a.b2nd` for the key /g/a; the root `embed.b2e` holds small ones
//! x.b2z      the same files in a zip file, whose members are stored
//! x.b2e      frames inside one frame, one behind the other
//! folder     a directory of arrays without a root
//! ```
//! [`Store::open`] lists what is there: each leaf, what only refers to something elsewhere, and files of others, so that
//! whoever copies a store knows what it holds. Nothing is decoded, unpickled or followed for that. A leaf is opened as the
//! frame that it is ([`Store::frame`]); all of them become another form of store by [`Store::save`].
//!
//! # Example
//! ```
//! use blosc_core::Params;
//! use blosc_frame::store::{Form, Store};
//! use blosc_frame::SuperChunk;
//! # let folder = std::env::temp_dir().join(format!("blosc-store-{}", std::process::id()));
//! # std::fs::create_dir(&folder)?;
//! # let path = folder.join("run.b2d");
//! let mut store = Store::create(&path, Form::B2d)?;
//! let mut frame = SuperChunk::memory(&Params::new(4))?;
//! frame.append(&[7; 4000])?;
//! store.put("/g/counts", &mut frame)?;
//!
//! // The same in one file.
//! store.save(&folder.join("run.b2z"), Form::B2z)?;
//! let store = Store::open(folder.join("run.b2z"))?;
//! for entry in store.entries() {
//!     println!("{}: {}", entry.key(), entry.leaf().name());
//! }
//! let mut counts = store.get("/g/counts").map(|entry| store.frame(entry)).transpose()?.unwrap();
//! assert_eq!(counts.read_all()?, [7; 4000]);
//! # std::fs::remove_dir_all(folder)?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod embedded;
mod list;
mod put;
mod save;
pub mod zip;

pub use embedded::is_root;

use crate::error::{Error, FileError, IoKind, Structure};
use crate::io::{FsDir, PathFile, ReadAt};
use crate::limits::Limits;
use crate::schunk::SuperChunk;
use crate::value::Value;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::sync::Arc;
use alloc::vec::Vec;
use embedded::{Embedded, Root};
use std::fs::File;
use std::path::{Path, PathBuf};

/// The file that is the root of a store.
pub const ROOT: &str = "embed.b2e";
/// What is called so in a group holds its attributes.
const ATTRIBUTES: &str = "/__vlmeta__";
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
    /// A symbolic link. It is not followed.
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
            Leaf::Link => "symbolic link",
            Leaf::Foreign => "file that is no frame",
            Leaf::Damaged => "damaged frame",
        }
    }
    /// What the name of a file says; `None` for one that no store has.
    fn of_name(name: &str) -> Option<Leaf> {
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
    const fn extension(self) -> &'static str {
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
    name: String,
    /// Bytes of the name that are the key.
    key: usize,
    leaf: Leaf,
    place: Place,
}

impl Entry {
    fn new(name: String, leaf: Leaf, place: Place) -> Entry {
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
struct Shared {
    path: PathBuf,
    form: Form,
    limits: Limits,
    /// The zip file.
    file: Option<Arc<File>>,
    root: Option<Arc<Root>>,
}

/// A store, or a group of one.
#[derive(Clone)]
pub struct Store {
    shared: Arc<Shared>,
    /// The key of the group; empty for all of it.
    prefix: String,
    /// Sorted by their keys.
    entries: Vec<Entry>,
    /// Keys of the groups in it, sorted; those that hold nothing, too.
    groups: Vec<String>,
    /// Keys of the groups that are tables, sorted; `""` is all of it.
    tables: Vec<String>,
}

/// What lies under `group`, without it; `None` for what does not.
fn under<'k>(key: &'k str, group: &str) -> Option<&'k str> {
    key.strip_prefix(group).filter(|rest| rest.starts_with('/'))
}

impl Store {
    /// Opens a store: a directory, a zip file, or a frame of frames. See [`Store::open_with`].
    ///
    /// # Errors
    /// What is no store; what reading gives; more entries than the limits.
    pub fn open(path: impl AsRef<Path>) -> Result<Store, FileError> {
        Store::open_with(path, &Limits::default())
    }

    /// [`Store::open`] within other limits. They hold for the frames in it, too.
    ///
    /// # Errors
    /// As [`Store::open`].
    pub fn open_with(path: impl AsRef<Path>, limits: &Limits) -> Result<Store, FileError> {
        let path = path.as_ref();
        let opened = match path.is_dir() {
            true => list::directory(path, limits),
            false => PathFile::open(path)
                .map_err(Error::from)
                .and_then(|file| Store::of_file(path, file.file().try_clone()?, limits)),
        };
        opened.map_err(FileError::at(path))
    }

    /// A store in an open file, which `path` names in messages.
    ///
    /// # Errors
    /// As [`Store::open`].
    pub fn of_file(path: &Path, file: File, limits: &Limits) -> Result<Store, Error> {
        let mut head = [0; 4];
        let len = file.read_at(0, &mut head)?;
        match head.get(..len) {
            Some(b"PK\x03\x04" | b"PK\x05\x06") => list::zip(path, file, limits),
            _ => Store::of_frame(path, SuperChunk::open_read(file, limits)?),
        }
    }

    /// A store in a frame, which `path` names in messages.
    ///
    /// # Errors
    /// [`Error::Unsupported`] for a frame that is not the root of a store.
    pub fn of_frame(path: &Path, frame: SuperChunk<'static>) -> Result<Store, Error> {
        if !is_root(&frame) {
            return Err(Error::Unsupported { structure: Structure::Store, what: "a frame without frames in it" });
        }
        let limits = *frame.limits();
        list::finished(path, Form::B2e, &limits, None, Some(frame), Vec::new(), Vec::new())
    }

    /// Creates a store without leaves at a path where nothing is yet.
    ///
    /// # Errors
    /// [`IoKind::AlreadyExists`]; those of the file system.
    pub fn create(path: impl AsRef<Path>, form: Form) -> Result<Store, FileError> {
        let path = path.as_ref();
        save::empty(path, form).map_err(FileError::at(path))?;
        Store::open(path)
    }

    /// The path that it was opened by.
    pub fn path(&self) -> &Path {
        &self.shared.path
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

    fn named(&self, key: &str) -> PathBuf {
        match format!("{}{key}", self.prefix) {
            key if key.is_empty() => self.shared.path.clone(),
            key => PathBuf::from(format!("{}:{key}", self.shared.path.display())),
        }
    }

    fn at(&self, entry: &Entry) -> impl Fn(Error) -> FileError + use<> {
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
        })
    }

    /// The attributes of a group, `""` being the root: names and contents, which are MessagePack where python-blosc2 wrote
    /// them. None where it has no attributes.
    ///
    /// # Errors
    /// Attributes that are damaged.
    pub fn attributes(&self, group: &str) -> Result<Vec<(String, Vec<u8>)>, FileError> {
        let Some(entry) = self.attributes_of(group) else { return Ok(Vec::new()) };
        let mut frame = self.frame(entry)?;
        embedded::user_layers(&mut frame).map_err(self.at(entry))
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

    fn open_frame(&self, entry: &Entry) -> Result<SuperChunk<'static>, Error> {
        let limits = &self.shared.limits;
        let unsupported = |what| Error::Unsupported { structure: Structure::Store, what };
        match (&entry.place, entry.leaf) {
            (_, Leaf::Foreign) => Err(unsupported("reading a file that is no frame")),
            (_, Leaf::Damaged) => Err(IoKind::Damaged.into()),
            (Place::Elsewhere(_), _) => Err(unsupported("following a reference to what lies elsewhere")),
            (Place::Path(path), _) if path.is_dir() => SuperChunk::open_dir(FsDir::open(path)?, limits),
            (Place::Path(path), _) => SuperChunk::open_read(PathFile::open(path)?, limits),
            (Place::Member(member), _) => SuperChunk::open_read(self.content(member)?, limits),
            (Place::Embedded { offset, length }, _) => {
                let frame = self.embedded(*offset, *length)?;
                let opened = SuperChunk::open_read(frame.clone(), limits);
                opened.map_err(|error| frame.cause().unwrap_or(error))
            }
        }
    }

    fn content(&self, member: &zip::Member) -> Result<zip::Content, Error> {
        let file = self.shared.file.as_ref().ok_or(IoKind::NotFound)?;
        member.open(file, &self.shared.limits)
    }

    fn embedded(&self, offset: u64, length: u64) -> Result<Embedded, Error> {
        let root = self.shared.root.as_ref().ok_or(IoKind::NotFound)?;
        Ok(Embedded::new(root.clone(), offset, length))
    }

    /// Checks what no frame of a zip file checks itself: the CRC-32 of a member.
    ///
    /// # Errors
    /// [`Error::Checksum`]; what reading gives.
    pub fn check(&self, entry: &Entry) -> Result<(), FileError> {
        match entry.place {
            Place::Member(_) => save::copy(self, entry, &mut std::io::sink()).map_err(self.at(entry)),
            _ => Ok(()),
        }
    }

    /// Has `read` use the frame that everything is embedded in; `None` where there is none.
    pub fn with_root<T>(&self, read: impl FnOnce(&mut SuperChunk<'static>) -> T) -> Option<T> {
        Some(self.shared.root.as_ref()?.with(read))
    }
}

/// A map of MessagePack in a variable-length metalayer; empty where there is none.
fn map_of(frame: &mut SuperChunk<'_>, name: &str) -> Result<Vec<(String, Value)>, Error> {
    let Some(content) = frame.vlmetalayer(name)? else { return Ok(Vec::new()) };
    let most = u32::try_from(frame.limits().entries.saturating_mul(8)).unwrap_or(u32::MAX);
    match crate::msgpack::to_value_within(&content, most)? {
        Value::Object(pairs) => Ok(pairs),
        _ => Err(Error::Invalid { structure: Structure::Store, field: "map of the root", offset: 0, value: 0 }),
    }
}
