//! Where the keys of a store lie: the files of a directory, or the members of a zip file.

use blosc_frame::io::{PathFile, ReadAt};
use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::ErrorKind;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;
use zarrs::storage::byte_range::ByteRangeIterator;
use zarrs::storage::{Bytes, MaybeBytesIterator, ReadableStorageTraits, StorageError, StoreKey};
use zip::{CompressionMethod, ZipArchive};

/// The files of a store.
pub struct Files {
    root: Root,
    max: u64,
}

enum Root {
    Folder(PathBuf),
    /// A zip file, and where each member lies in it: offset and size.
    Zip(PathFile, BTreeMap<String, (u64, u64)>),
}

/// What lies under a key.
struct Part<'a> {
    file: Box<dyn ReadAt + 'a>,
    start: u64,
    size: u64,
}

impl Part<'_> {
    /// Some of its bytes, which must be there.
    fn read(&self, from: u64, len: u64) -> Result<Vec<u8>, std::io::Error> {
        let mut bytes = vec![0; usize::try_from(len).unwrap_or(usize::MAX)];
        let read = self.file.read_exact_at(self.start.saturating_add(from), &mut bytes);
        read.map(|()| bytes).map_err(std::io::Error::other)
    }
}

/// Metadata, which are no chunks.
const METADATA: [&str; 3] = [".zarray", ".zattrs", "zarr.json"];

impl Files {
    /// Those in a directory. Files of more than `max` bytes are not read.
    pub fn directory(root: &Path, max: u64) -> Files {
        Files { root: Root::Folder(root.to_path_buf()), max }
    }

    /// Those in a zip file.
    ///
    /// # Errors
    /// A zip file that is damaged, or has members that are compressed: a part of one is not found without the rest.
    pub fn zip(file: PathFile, max: u64) -> Result<Files, String> {
        let mut archive = ZipArchive::new(file.file()).map_err(|error| error.to_string())?;
        let mut members = BTreeMap::new();
        for k in 0..archive.len() {
            let member = archive.by_index_raw(k).map_err(|error| error.to_string())?;
            let name = member.name().map_err(|error| error.to_string())?.into_owned();
            if member.is_dir() {
                continue;
            }
            let stored = member.compression() == CompressionMethod::Stored;
            let Some(start) = member.data_start().filter(|_| stored) else {
                return Err(format!(
                    "{name} is deflated, as zarr writes no members; unpack the file, and name the directory"
                ));
            };
            members.insert(name, (start, member.size()));
        }
        drop(archive);
        Ok(Files { root: Root::Zip(file, members), max })
    }

    /// What lies under a key, which must lie in the store.
    fn open(&self, key: &str) -> Result<Option<Part<'_>>, String> {
        if !Path::new(key).components().all(|part| matches!(part, Component::Normal(_))) {
            return Err(format!("{key:?} is no key of the store"));
        }
        let failed = |error: std::io::Error| format!("{key}: {error}");
        let folder = match &self.root {
            Root::Folder(folder) => folder,
            Root::Zip(file, members) => {
                let part =
                    |(start, size): &(u64, u64)| Part { file: Box::new(file), start: *start, size: *size };
                return Ok(members.get(key).map(part));
            }
        };
        match File::open(folder.join(key)) {
            Ok(file) => {
                let about = file.metadata().map_err(failed)?;
                let size = about.len();
                Ok(about.is_file().then(|| Part { file: Box::new(file), start: 0, size }))
            }
            Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => Ok(None),
            Err(error) => Err(failed(error)),
        }
    }

    /// What lies under a key, unless it takes more than `most` bytes.
    pub fn read(&self, key: &str, most: u64) -> Result<Option<Vec<u8>>, String> {
        let Some(part) = self.open(key)? else { return Ok(None) };
        if part.size > most {
            return Err(format!("{key} takes {} bytes, above the limit of {most}", part.size));
        }
        part.read(0, part.size).map(Some).map_err(|error| format!("{key}: {error}"))
    }

    /// The names of the folders in a folder, sorted. Links are not followed.
    pub fn folders(&self, key: &str) -> Result<Vec<String>, String> {
        let folder = match &self.root {
            Root::Folder(root) => root.join(key),
            Root::Zip(_, members) => {
                let prefix = if key.is_empty() { String::new() } else { format!("{key}/") };
                let inside = members.keys().filter_map(|name| name.strip_prefix(&prefix)?.split_once('/'));
                let names: BTreeSet<&str> =
                    inside.map(|(name, _)| name).filter(|name| !name.is_empty()).collect();
                return Ok(names.into_iter().map(str::to_string).collect());
            }
        };
        let entries = std::fs::read_dir(folder).map_err(|error| format!("{key}: {error}"))?;
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
        let folder = match &self.root {
            Root::Folder(root) => root.join(key),
            Root::Zip(_, members) => {
                let prefix = if key.is_empty() { String::new() } else { format!("{key}/") };
                let inside = |(name, (_, size)): (&String, &(u64, u64))| {
                    let rest = name.strip_prefix(&prefix)?;
                    (!METADATA.contains(&rest)).then_some(*size)
                };
                return members.iter().filter_map(inside).fold(0, u64::saturating_add);
            }
        };
        let sizes = METADATA.map(|name| std::fs::metadata(folder.join(name)).map_or(0, |file| file.len()));
        crate::limits::size(&folder).saturating_sub(sizes.iter().sum())
    }
}

impl ReadableStorageTraits for Files {
    fn get_partial_many<'a>(
        &'a self,
        key: &StoreKey,
        ranges: ByteRangeIterator<'a>,
    ) -> Result<MaybeBytesIterator<'a>, StorageError> {
        let Some(part) = self.open(key.as_str()).map_err(StorageError::Other)? else { return Ok(None) };
        let (size, max) = (part.size, self.max);
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
            part.read(start, end - start).map(Bytes::from).map_err(|e| StorageError::IOError(Arc::new(e)))
        }))))
    }

    fn size_key(&self, key: &StoreKey) -> Result<Option<u64>, StorageError> {
        Ok(self.open(key.as_str()).map_err(StorageError::Other)?.map(|part| part.size))
    }

    fn supports_get_partial(&self) -> bool {
        true
    }
}
