//! Where the files of a table lie.

use super::error::{Result, TableError};
use crate::b2nd::{NdArray, carrier};
use crate::error::{Error, IoError, IoKind};
use crate::io::FilePool;
use crate::limits::Limits;
use crate::msgpack;
use crate::schunk::SuperChunk;
use crate::store::Store;
use crate::value::Value;
use alloc::format;
use std::path::{Path, PathBuf};

/// What says which rows of a table live, and what describes a table, without their extensions.
pub use crate::store::{META, VALID_ROWS as VALID};

/// What holds the files of a table: a store, or a directory that is being made.
pub trait Place: Send + Sync {
    /// The frame at a key, such as `/_cols/x`, whose extension is kept apart; `None` if there is none.
    ///
    /// # Errors
    /// A frame that cannot be opened.
    fn frame(&self, key: &str, extension: &str) -> Result<Option<SuperChunk<'static>>>;
}

impl Place for Store {
    /// Placeholders are refused: their items are no data.
    fn frame(&self, key: &str, extension: &str) -> Result<Option<SuperChunk<'static>>> {
        let Some(entry) = self.find(key, extension) else { return Ok(None) };
        let about = format!("{key}.{extension}");
        let frame = Store::frame(self, entry).map_err(|error| TableError::of(&about)(error.error))?;
        match carrier::of(&frame).map_err(TableError::of(&about))? {
            Some(carrier) if carrier.is_placeholder() => Err(TableError::Data(format!("{about}: {carrier}"))),
            _ => Ok(Some(frame)),
        }
    }
}

/// The frame at a key, which must be there.
pub(super) fn frame(place: &dyn Place, key: &str, extension: &str) -> Result<SuperChunk<'static>> {
    place.frame(key, extension)?.ok_or_else(|| TableError::data(format!("has no {key}.{extension}")))
}

/// The array at a key.
pub(super) fn array(place: &dyn Place, key: &str) -> Result<NdArray<'static>> {
    let frame = frame(place, key, "b2nd")?;
    let threads = frame.threads();
    let mut nd = NdArray::open(frame).map_err(TableError::of(key))?;
    nd.set_threads(threads);
    Ok(nd)
}

/// Refuses to decode more than the limit.
pub(super) fn check_output(nbytes: u64, limit: u64) -> Result<()> {
    match nbytes > limit {
        true => Err(TableError::from(Error::Limit { what: "bytes of output", asked: nbytes, limit })),
        false => Ok(()),
    }
}

/// The variable-length metalayer `name` of a frame, as a value.
pub(super) fn vlmeta(frame: &SuperChunk<'_>, name: &str, about: &str) -> Result<Option<Value>> {
    let content = frame.vlmetalayer(name).map_err(TableError::of(about))?;
    // A list has an entry for each chunk.
    let value = content.map(|content| msgpack::to_value_within(&content, 1 << 24));
    value.transpose().map_err(TableError::of(about))
}

/// A directory that holds the files of a table, which are changed; no other process sees it. However many columns it has,
/// few files are open at a time.
pub struct Folder {
    path: PathBuf,
    pool: FilePool,
}

impl Folder {
    /// A directory that no other process sees.
    pub(super) fn private(path: &Path) -> Folder {
        Folder { path: path.to_path_buf(), pool: FilePool::default() }
    }

    /// The path of what lies at a key.
    pub(super) fn path_of(&self, key: &str, extension: &str) -> PathBuf {
        self.path.join(format!("{}.{extension}", key.trim_start_matches('/')))
    }

    /// Whether there is a file at a key.
    pub(super) fn has(&self, key: &str, extension: &str) -> bool {
        self.path_of(key, extension).is_file()
    }

    /// A new file at a key.
    ///
    /// # Errors
    /// Errors of the file system, also where there is one.
    pub(super) fn create(
        &self,
        key: &str,
        extension: &str,
        params: &blosc_core::Params,
    ) -> Result<SuperChunk<'static>> {
        let path = self.path_of(key, extension);
        let new = || -> core::result::Result<_, Error> {
            let folder = path.parent().unwrap_or(Path::new(""));
            std::fs::create_dir_all(folder).map_err(IoError::from)?;
            std::fs::File::options().write(true).create_new(true).open(&path).map_err(IoError::from)?;
            SuperChunk::create(self.pool.open(&path, true)?, params)
        };
        new().map_err(TableError::of(key))
    }
}

impl Place for Folder {
    fn frame(&self, key: &str, extension: &str) -> Result<Option<SuperChunk<'static>>> {
        let path = self.path_of(key, extension);
        let opened = match self.pool.open(&path, true) {
            Err(IoError { kind: IoKind::NotFound, .. }) => return Ok(None),
            Err(error) => Err(error.into()),
            Ok(file) => SuperChunk::open(file, &Limits::DEFAULT),
        };
        opened.map(Some).map_err(TableError::of(key))
    }
}
