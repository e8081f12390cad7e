//! [`Kind`]: what a path holds. This is the one place that decides it.
//!
//! ```text
//! directory  chunks.b2frame → sparse frame    embed.b2e → store    .zgroup … → Zarr
//!            bcolz or Blaze, by `bcolz::flavour`                  a .b2nd inside → arrays
//! file       the bytes it begins with: those of the formats' own modules, and of a few formats of others
//!            a chunk header that fits into the file → chunk        else → unknown
//! ```
//! A file's name and extension decide nothing.

use crate::bcolz::{Flavour, flavour};
use crate::bloscpack;
use crate::cframe::header::{FrameType, frame_type};
use crate::error::{Error, IoError, IoKind, Structure};
use crate::io::{Directory, FsDir, Locking, Offset, PathFile, ReadAt, ReadOnly, Shared, Store};
use crate::limits::Limits;
use crate::npy;
use crate::schunk::SuperChunk;
use alloc::boxed::Box;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec;
use blosc_core::Header as ChunkHeader;
use std::path::{Path, PathBuf};

/// What is stored under a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Kind {
    /// A contiguous frame; an array if its metalayers say so.
    Frame,
    /// A directory of chunk files with an index; likewise.
    SparseFrame,
    /// The index in that directory, by itself.
    SparseIndex,
    /// A bloscpack file.
    Bloscpack,
    /// A bcolz directory: a column or a table.
    Bcolz(Flavour),
    /// A Blaze directory.
    Blaze,
    /// A manifest of the shards of a Blaze dataset.
    Shards,
    /// A NumPy file.
    Npy,
    /// A bare chunk.
    Chunk,
    /// A zip archive: a `.b2z` store, a `.npz` file, or something else.
    Zip,
    /// A directory that is a store of python-blosc2 (`.b2d`).
    Store,
    /// A directory with arrays in it.
    Arrays,
    /// A directory that is nothing of these.
    Directory,
    /// A Zarr store, or a file with its metadata.
    Zarr,
    /// An HDF5 file.
    Hdf5,
    /// A file that is nothing of these, but another known format: its name.
    Foreign(&'static str),
    /// A file that begins like nothing known here.
    Unknown,
}

/// Bytes that tell what a file is. A manifest of shards may name a long path before its first shard.
pub const HEAD: usize = 4096;

/// First bytes of formats that are taken for Blosc data by mistake.
const FOREIGN: [(&[u8], &str); 8] = [
    (b"CDF", "NetCDF"),
    (b"PAR1", "Parquet"),
    (b"ARROW1", "Arrow"),
    (b"\x1f\x8b\x08", "gzip"),
    (b"BZh", "bzip2"),
    (b"\xfd7zXZ\0", "xz"),
    (b"\x28\xb5\x2f\xfd", "zstd"),
    (b"\x04\x22\x4d\x18", "LZ4"),
];

impl Kind {
    /// The kind of a file that begins with `head` and has `len` bytes, where that is known. Up to [`HEAD`] bytes
    /// are looked at.
    pub fn of_head(head: &[u8], len: Option<u64>) -> Kind {
        let has = |text: &[u8]| head.windows(text.len()).any(|window| window == text);
        match frame_type(head) {
            Some(FrameType::Contiguous) => return Kind::Frame,
            Some(FrameType::Sparse) => return Kind::SparseIndex,
            None => {}
        }
        if head.starts_with(&bloscpack::MAGIC) {
            return Kind::Bloscpack;
        }
        if head.starts_with(npy::MAGIC) {
            return Kind::Npy;
        }
        // A local file, or the directory of an archive without files.
        if head.starts_with(b"PK\x03\x04") || head.starts_with(b"PK\x05\x06") {
            return Kind::Zip;
        }
        if head.starts_with(b"\x89HDF\r\n\x1a\n") {
            return Kind::Hdf5;
        }
        if let Some((_, name)) = FOREIGN.iter().find(|(magic, _)| head.starts_with(magic)) {
            return Kind::Foreign(name);
        }
        if head.starts_with(b"{") && has(b"\"shards\"") {
            return Kind::Shards;
        }
        if head.starts_with(b"{") && has(b"\"zarr_format\"") {
            return Kind::Zarr;
        }
        match ChunkHeader::parse(head) {
            // Plain items can look like the other fields, not like the size of the file they are in.
            Ok(header) if header.version <= 5 && len.is_none_or(|len| u64::from(header.cbytes) <= len) => {
                Kind::Chunk
            }
            _ => Kind::Unknown,
        }
    }

    /// The kind of a directory.
    ///
    /// # Errors
    /// One that cannot be read, or that has the files of two kinds.
    pub fn of_directory(path: impl AsRef<Path>) -> Result<Kind, Error> {
        let path = path.as_ref();
        let has = |name: &str| path.join(name).is_file();
        if has("embed.b2e") {
            return Ok(Kind::Store);
        }
        if has("chunks.b2frame") {
            return Ok(Kind::SparseFrame);
        }
        if let Some(flavour) = flavour(&FsDir::open(path)?)? {
            return Ok(if flavour == Flavour::Blaze { Kind::Blaze } else { Kind::Bcolz(flavour) });
        }
        if [".zarray", ".zgroup", "zarr.json"].into_iter().any(has) {
            return Ok(Kind::Zarr);
        }
        let array = |entry: std::fs::DirEntry| entry.path().extension().is_some_and(|e| e == "b2nd");
        Ok(if std::fs::read_dir(path)?.flatten().any(array) { Kind::Arrays } else { Kind::Directory })
    }

    /// What to do with what cannot be opened here; `None` for what can.
    pub fn advice(self) -> Option<String> {
        let foreign =
            |name: &str, how: &str| Some(alloc::format!("{name} data, and no Blosc container: {how}"));
        match self {
            Kind::Hdf5 => foreign(
                "HDF5",
                "read its data sets with a `blosc` command that has the feature hdf5, with h5py or h5dump",
            ),
            Kind::Zarr => foreign(
                "Zarr",
                "read the directory with a `blosc` command that has the feature zarr, or with zarr; its chunk files can be named one by one",
            ),
            Kind::Foreign(name @ "NetCDF") => foreign(name, "read its data sets with h5py or h5dump"),
            Kind::Foreign(name @ ("Parquet" | "Arrow")) => foreign(name, "read it with pyarrow"),
            Kind::Foreign(name) => foreign(name, "unpack it first"),
            Kind::SparseIndex => Some("the index of a sparse frame: name the directory it is in".into()),
            Kind::Directory => {
                let what =
                    "a directory, but neither a sparse frame nor a bcolz or Blaze root, nor are arrays in it";
                Some(what.into())
            }
            Kind::Unknown => {
                let what = "no frame or array, and no whole chunk, bloscpack or NumPy file";
                Some(alloc::format!("{what}; if it was a frame, `blosc repair` saves what is left of it"))
            }
            _ => None,
        }
    }
}

/// A file of this system, or bytes that lie elsewhere and are only read: an object of an object store, a part of memory.
pub enum Source {
    /// A file, which may be open for writing, too.
    File(PathFile),
    /// Anything else that can be read.
    Other(Shared),
}

impl Source {
    /// The file, where it is one.
    pub fn file(&self) -> Option<&PathFile> {
        match self {
            Source::File(file) => Some(file),
            Source::Other(_) => None,
        }
    }

    /// Another reader of the bytes, which takes no lock.
    ///
    /// # Errors
    /// Errors of the system, which may have no handles left.
    pub fn reader(&self) -> Result<Shared, IoError> {
        Ok(match self {
            Source::File(file) => Arc::new(file.file().try_clone()?),
            Source::Other(bytes) => bytes.clone(),
        })
    }

    /// The bytes as a store. Only a file that was opened for writing can be changed.
    pub fn into_store(self) -> Box<dyn Store + Send + Sync> {
        match self {
            Source::File(file) => Box::new(file),
            Source::Other(bytes) => Box::new(ReadOnly(bytes)),
        }
    }

    fn bytes(&self) -> &(dyn ReadAt + Send + Sync) {
        match self {
            Source::File(file) => file,
            Source::Other(bytes) => &**bytes,
        }
    }
}

impl ReadAt for Source {
    crate::io::forward_read!(this => this.bytes());
}

impl From<PathFile> for Source {
    fn from(file: PathFile) -> Source {
        Source::File(file)
    }
}

impl core::fmt::Debug for Source {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self {
            Source::File(file) => core::fmt::Debug::fmt(file, f),
            Source::Other(_) => f.write_str("Source::Other"),
        }
    }
}

/// A directory that lies elsewhere, such as the objects of a store whose names begin alike.
struct Elsewhere(Box<dyn Directory + Send + Sync>);

impl core::fmt::Debug for Elsewhere {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str("Elsewhere")
    }
}

/// A file or directory, its kind, and the handle it was looked at with: nothing is opened twice.
#[derive(Debug)]
#[non_exhaustive]
pub struct Found {
    /// What it is.
    pub kind: Kind,
    /// Its path.
    pub path: PathBuf,
    /// The open file, or other bytes; `None` for a directory.
    pub file: Option<Source>,
    /// Where the data starts in the file.
    pub offset: u64,
    /// Whether it shall be changed, and how other writers are kept out meanwhile.
    pub write: Option<Locking>,
    elsewhere: Option<Elsewhere>,
}

impl Found {
    /// Looks at what is at byte `offset` of the file `path`, or at a directory. A file that shall be changed is
    /// opened for writing, too.
    ///
    /// # Errors
    /// What opening and reading give; [`Error::Param`] for an offset in a directory or behind the end of a file.
    pub fn at(path: impl AsRef<Path>, offset: u64, write: Option<Locking>) -> Result<Found, Error> {
        let path = path.as_ref();
        if !path.is_dir() {
            let file = match write {
                Some(locking) => PathFile::open_rw_with(path, locking)?,
                None => PathFile::open(path)?,
            };
            return Ok(Found { write, ..Found::of(path, file, offset)? });
        }
        if offset != 0 {
            return Err(no_offset(offset, "0 for a directory"));
        }
        let kind = Kind::of_directory(path)?;
        Ok(Found { kind, path: path.to_path_buf(), file: None, offset, write, elsewhere: None })
    }

    /// A directory that lies elsewhere, which `path` names in messages: a sparse frame, which is only read. Nothing is asked
    /// of it yet.
    pub fn in_directory(path: impl AsRef<Path>, directory: impl Directory + Send + Sync + 'static) -> Found {
        let (path, elsewhere) = (path.as_ref().to_path_buf(), Some(Elsewhere(Box::new(directory))));
        Found { kind: Kind::SparseFrame, path, file: None, offset: 0, write: None, elsewhere }
    }

    /// Opens the frame that was found; for writing if it shall be changed.
    ///
    /// # Errors
    /// As [`SuperChunk::open_read`]; of a directory that lies elsewhere and is no sparse frame, that no other is read there.
    pub fn frame(mut self, limits: &Limits) -> Result<SuperChunk<'static>, Error> {
        if let Some(Elsewhere(directory)) = self.elsewhere.take() {
            return SuperChunk::open_dir(directory, limits).map_err(|error| match error {
                Error::Io(IoError { kind: IoKind::NotFound, .. }) => only_sparse(),
                error => error,
            });
        }
        match self.file {
            None => SuperChunk::open_dir(self.directory()?, limits),
            Some(file) if self.write.is_some() => SuperChunk::open(file.into_store(), limits),
            Some(file) => SuperChunk::open_read(Offset::new(file, self.offset)?, limits),
        }
    }

    /// The directory that was found, opened for writing if it shall be changed: then only one handle can be had at a time.
    ///
    /// # Errors
    /// Where there is none, or no longer.
    pub fn directory(&self) -> Result<FsDir, Error> {
        match self.write {
            _ if self.elsewhere.is_some() => Err(only_sparse()),
            Some(locking) => Ok(FsDir::open_rw_with(&self.path, locking)?),
            None => Ok(FsDir::open(&self.path)?),
        }
    }

    /// Looks at what is at byte `offset` of an open file, or of other bytes, which `path` names in messages.
    ///
    /// # Errors
    /// What reading gives; [`Error::Param`] for an offset behind the end.
    pub fn of(path: impl AsRef<Path>, file: impl Into<Source>, offset: u64) -> Result<Found, Error> {
        let (path, file) = (path.as_ref(), file.into());
        let Some(len) = file.size()?.checked_sub(offset) else {
            return Err(no_offset(offset, "at most the size of the file"));
        };
        let mut head = vec![0; usize::try_from(len.min(HEAD as u64)).unwrap_or(HEAD)];
        file.read_exact_at(offset, &mut head)?;
        let kind = Kind::of_head(&head, Some(len));
        let path = path.to_path_buf();
        Ok(Found { kind, path, file: Some(file), offset, write: None, elsewhere: None })
    }
}

/// The answer to what is no sparse frame in a directory that lies elsewhere.
fn only_sparse() -> Error {
    let what = "reading a directory elsewhere that is no sparse frame (it has no chunks.b2frame; a store is read as one .b2z \
                file)";
    Error::Unsupported { structure: Structure::Directory, what }
}

pub(crate) fn no_offset(offset: u64, allowed: &'static str) -> Error {
    Error::Param { name: "offset", value: i64::try_from(offset).unwrap_or(i64::MAX), allowed }
}
