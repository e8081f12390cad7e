//! Where the keys of a store lie: the files of a directory.

use std::fs::File;
use std::io::{ErrorKind, Read, Seek, SeekFrom};
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;
use zarrs::storage::byte_range::ByteRangeIterator;
use zarrs::storage::{Bytes, MaybeBytesIterator, ReadableStorageTraits, StorageError, StoreKey};

/// The files of a store.
pub struct Files {
    root: PathBuf,
    max: u64,
}

impl Files {
    pub fn new(root: &Path, max: u64) -> Files {
        Files { root: root.to_path_buf(), max }
    }

    /// The path of a key, which must lie in the store.
    fn path(&self, key: &str) -> Result<PathBuf, String> {
        match Path::new(key).components().all(|part| matches!(part, Component::Normal(_))) {
            true => Ok(self.root.join(key)),
            false => Err(format!("{key:?} is no key of the store")),
        }
    }

    /// What lies under a key, unless it takes more than `most` bytes.
    pub fn read(&self, key: &str, most: u64) -> Result<Option<Vec<u8>>, String> {
        let file = match File::open(self.path(key)?) {
            Ok(file) => file,
            Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
                return Ok(None);
            }
            Err(error) => return Err(format!("{key}: {error}")),
        };
        let size = file.metadata().map_err(|error| format!("{key}: {error}"))?.len();
        if size > most {
            return Err(format!("{key} takes {size} bytes, above the limit of {most}"));
        }
        let mut bytes = Vec::new();
        file.take(most).read_to_end(&mut bytes).map_err(|error| format!("{key}: {error}"))?;
        Ok(Some(bytes))
    }

    /// The names of the folders in a folder, sorted. Links are not followed.
    pub fn folders(&self, key: &str) -> Result<Vec<String>, String> {
        let entries = std::fs::read_dir(self.path(key)?).map_err(|error| format!("{key}: {error}"))?;
        let mut names = Vec::new();
        for entry in entries {
            let entry = entry.map_err(|error| format!("{key}: {error}"))?;
            if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                names.push(entry.file_name().to_string_lossy().into_owned());
            }
        }
        names.sort();
        Ok(names)
    }

    /// Bytes that the chunks of an array take.
    pub fn size(&self, key: &str) -> u64 {
        let Ok(folder) = self.path(key) else { return 0 };
        let metadata = [".zarray", ".zattrs", "zarr.json"];
        let sizes = metadata.map(|name| std::fs::metadata(folder.join(name)).map_or(0, |file| file.len()));
        crate::limits::size(&folder).saturating_sub(sizes.iter().sum())
    }
}

fn failed(error: std::io::Error) -> StorageError {
    StorageError::IOError(Arc::new(error))
}

impl ReadableStorageTraits for Files {
    fn get_partial_many<'a>(
        &'a self,
        key: &StoreKey,
        ranges: ByteRangeIterator<'a>,
    ) -> Result<MaybeBytesIterator<'a>, StorageError> {
        let mut file = match File::open(self.path(key.as_str()).map_err(StorageError::Other)?) {
            Ok(file) => file,
            Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
                return Ok(None);
            }
            Err(error) => return Err(failed(error)),
        };
        let size = file.metadata().map_err(failed)?.len();
        let max = self.max;
        Ok(Some(Box::new(ranges.map(move |range| {
            // A range that does not lie in the file is one that the index of a shard got wrong.
            let (start, end) = match range {
                zarrs::storage::byte_range::ByteRange::FromStart(start, len) => {
                    (start, len.map_or(size, |len| start.saturating_add(len)))
                }
                zarrs::storage::byte_range::ByteRange::Suffix(len) => (size.saturating_sub(len), size),
            };
            if start > end || end > size || end - start > max {
                return Err(StorageError::Other(format!("bytes {start}..{end} of a file of {size}")));
            }
            file.seek(SeekFrom::Start(start)).map_err(failed)?;
            let mut bytes = Vec::new();
            (&mut file).take(end - start).read_to_end(&mut bytes).map_err(failed)?;
            Ok(Bytes::from(bytes))
        }))))
    }

    fn size_key(&self, key: &StoreKey) -> Result<Option<u64>, StorageError> {
        match std::fs::metadata(self.path(key.as_str()).map_err(StorageError::Other)?) {
            Ok(file) => Ok(file.is_file().then_some(file.len())),
            Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => Ok(None),
            Err(error) => Err(failed(error)),
        }
    }

    fn supports_get_partial(&self) -> bool {
        true
    }
}
