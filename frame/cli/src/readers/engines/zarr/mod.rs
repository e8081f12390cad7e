//! Zarr stores of versions 2 and 3, by the crate `zarrs` with a Blosc codec of ours.
//!
//! ```text
//! metadata.rs   .zarray and zarr.json → what `info` says
//! codec.rs      the codec `blosc`
//! files.rs      where the keys of a store lie
//! ```

mod codec;
mod files;
mod metadata;
mod numcodecs;

use super::grid::About;
use super::{DEPTH, Grid, MOST, Store};
use blosc_frame::io::PathFile;
use files::Files;
use metadata::{Description, Node};
use serde_json::{Value, json};
use std::path::Path;
use std::sync::Arc;
use zarrs::array::codec::api::CodecOptions;
use zarrs::array::{Array, ArrayBytes, ArrayMetadata, ArraySubset};

/// A Zarr group or array.
pub struct ZarrStore {
    files: Arc<Files>,
    threads: usize,
}

impl ZarrStore {
    /// The store in a directory. Files of it that take more than `max` bytes are refused.
    pub fn directory(path: &Path, max: u64, threads: usize) -> ZarrStore {
        codec::register();
        ZarrStore { files: Arc::new(Files::directory(path, max)), threads }
    }

    /// The store in a zip file.
    ///
    /// # Errors
    /// A zip file that is damaged, or has compressed members.
    pub fn zip(file: PathFile, max: u64, threads: usize) -> Result<ZarrStore, String> {
        codec::register();
        Ok(ZarrStore { files: Arc::new(Files::zip(file, max)?), threads })
    }

    /// Whether the store is one array.
    pub fn is_array(&self) -> bool {
        matches!(metadata::read(&self.files, ""), Ok(Some(Node::Array(_))))
    }

    /// The arrays in a group, and in those below it.
    pub fn list(&self) -> Result<Vec<Value>, String> {
        let mut entries = Vec::new();
        let mut groups = vec![(String::new(), 0)];
        let mut seen = 0;
        while let Some((group, depth)) = groups.pop() {
            for name in self.files.folders(&group)? {
                seen += 1;
                if seen > MOST {
                    return Err("has too many groups and arrays to list".into());
                }
                let inner = if group.is_empty() { name } else { format!("{group}/{name}") };
                let key = format!("/{inner}");
                match metadata::read(&self.files, &inner) {
                    Ok(Some(Node::Array(_))) => entries.push(json!({"key": key, "kind": "Zarr array"})),
                    Ok(Some(Node::Group)) if depth < DEPTH => groups.push((inner, depth + 1)),
                    Ok(Some(Node::Group)) => {
                        entries.push(
                            json!({"key": key, "kind": "group", "problem": "is too deep to be listed"}),
                        );
                    }
                    // Chunks of an array that an older version left, or files of something else.
                    Ok(None) => {}
                    Err(why) => entries.push(json!({"key": key, "kind": "damaged metadata", "problem": why})),
                }
            }
        }
        entries.sort_by_key(|entry| entry["key"].to_string());
        Ok(entries)
    }
}

impl Store for ZarrStore {
    fn array(&self, key: &str) -> Result<Box<dyn Grid>, String> {
        let key = key.trim_start_matches('/');
        let Some(Node::Array(metadata)) = metadata::read(&self.files, key)? else {
            return Err("no array".into());
        };
        let Description { shape, chunks, mut dtype, mut info } = metadata::describe(&metadata)?;
        let fields = info.as_object_mut().ok_or("no object")?;
        fields.insert("cbytes".into(), self.files.size(key).into());
        let mut array = None;
        if let Ok(known) = &dtype {
            match self.open(key, metadata::known_to_zarrs(metadata, known)) {
                Ok(opened) if opened.data_type().fixed_size() == usize::try_from(known.itemsize()).ok() => {
                    array = Some(opened);
                }
                Ok(opened) => dtype = Err(format!("data type {} is not read", opened.data_type())),
                Err(why) => dtype = Err(why),
            }
        }
        if let Err(why) = &dtype {
            fields.insert("problem".into(), why.clone().into());
        }
        Ok(Box::new(ZarrGrid { array, about: About { shape, chunks, dtype, info } }))
    }
}

impl ZarrStore {
    fn open(&self, key: &str, metadata: Value) -> Result<Array<Files>, String> {
        let metadata: ArrayMetadata = serde_json::from_value(metadata).map_err(|error| error.to_string())?;
        let mut array = Array::new_with_metadata(self.files.clone(), &format!("/{key}"), metadata)
            .map_err(|error| error.to_string())?;
        if self.threads > 0 {
            array.set_codec_options(CodecOptions::default().with_concurrent_target(self.threads));
        }
        Ok(array)
    }
}

/// An array.
struct ZarrGrid {
    /// `None` where the crate cannot read it.
    array: Option<Array<Files>>,
    about: About,
}

impl Grid for ZarrGrid {
    fn about(&self) -> &About {
        &self.about
    }

    fn read(&mut self, start: &[u64], shape: &[u64]) -> Result<Vec<u8>, String> {
        let array = self.array.as_ref().ok_or("cannot be read")?;
        let subset = ArraySubset::new_with_start_shape(start.to_vec(), shape.to_vec());
        let subset = subset.map_err(|error| error.to_string())?;
        let bytes: ArrayBytes<'static> =
            array.retrieve_array_subset(&subset).map_err(|error| error.to_string())?;
        bytes.into_fixed().map(|bytes| bytes.into_owned()).map_err(|error| error.to_string())
    }
}
