//! Arrays in stores that other programs write: Zarr (feature `zarr`) and HDF5 (feature `hdf5`).
//!
//! ```text
//! zarr.rs, hdf5.rs   what lies in a store, and the arrays in it, each a Grid
//! grid.rs            a Grid as `slice`, `decompress` and `verify` read it: piece by piece
//! ```

mod grid;
#[cfg(feature = "hdf5")]
mod hdf5;
#[cfg(feature = "zarr")]
mod zarr;

pub use grid::{Grid, GridReader, guarded};

use crate::access::Intent;
use crate::args::Input;
use crate::failure::{Failure, Result};
use blosc_frame::any::{Found, Kind};
use blosc_frame::io::PathFile;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

/// Most arrays and deepest groups listed.
const MOST: usize = 100_000;
const DEPTH: usize = 32;

/// A store that arrays are opened in by their keys.
trait Store {
    /// The array under `key`, which begins with a slash.
    fn array(&self, key: &str) -> std::result::Result<Box<dyn Grid>, String>;
}

/// A store of several arrays.
pub struct Tree {
    /// How it was asked for.
    pub input: Input,
    /// What it is called.
    pub kind: &'static str,
    store: Box<dyn Store>,
    /// What it holds, sorted by key.
    pub entries: Vec<Value>,
}

/// What a path of another program holds.
#[cfg_attr(not(any(feature = "zarr", feature = "hdf5")), expect(dead_code))]
pub enum Foreign {
    /// Several arrays.
    Store(Tree),
    /// One array of Zarr; an HDF5 file is always a store.
    #[cfg_attr(all(feature = "hdf5", not(feature = "zarr")), expect(dead_code))]
    Array(GridReader),
}

/// Whether this build reads that kind.
pub fn reads(kind: Kind) -> bool {
    (cfg!(feature = "zarr") && kind == Kind::Zarr) || (cfg!(feature = "hdf5") && kind == Kind::Hdf5)
}

/// Refuses to change a store.
fn check_intent(path: &Path, intent: Intent) -> Result<()> {
    match intent {
        Intent::Inspect | Intent::Read => Ok(()),
        Intent::Maintain | Intent::Change => {
            let text = "Zarr stores and HDF5 files are read here, not changed";
            Err(Failure::Unable(format!("{}: {text}", path.display())))
        }
    }
}

/// Opens a store of a kind that [`reads`] has told; `max` is the most bytes that it may decode to.
///
/// # Errors
/// What opening gives, and every intent to write.
#[cfg_attr(not(any(feature = "zarr", feature = "hdf5")), expect(unused_variables))]
pub fn open(found: Found, input: &Input, intent: Intent, max: u64) -> Result<Foreign> {
    let path = input.input.as_path();
    check_intent(path, intent)?;
    match found.kind {
        #[cfg(feature = "hdf5")]
        Kind::Hdf5 => {
            let file = local(found, path)?;
            let (store, entries) = guarded(|| hdf5::open(file, max)).map_err(unable(path, "HDF5"))?;
            Ok(Foreign::Store(Tree {
                input: input.clone(),
                kind: "HDF5 file",
                store: Box::new(store),
                entries,
            }))
        }
        #[cfg(feature = "zarr")]
        Kind::Zarr if found.file.is_some() => {
            Err(Failure::at(path, "the metadata of a Zarr store: name the directory it is in"))
        }
        #[cfg(feature = "zarr")]
        Kind::Zarr => open_zarr(zarr::ZarrStore::directory(path, max, input.run.threads), input, intent, max),
        _ => Err(Failure::at(path, "is no store of another program")),
    }
}

/// The file of this system that was found: other crates read these formats.
#[cfg(any(feature = "zarr", feature = "hdf5"))]
fn local(found: Found, path: &Path) -> Result<PathFile> {
    match found.file {
        Some(blosc_frame::any::Source::File(file)) => Ok(file),
        _ => Err(Failure::at(path, "Zarr stores and HDF5 files are read from files of this system only")),
    }
}

/// Whether the members of a zip file are those of a Zarr store.
pub fn is_zarr(file: &PathFile) -> bool {
    let archive = zip::ZipArchive::new(file.file());
    let names = ["zarr.json", ".zgroup", ".zarray"];
    archive.is_ok_and(|archive| archive.file_names().flatten().any(|name| names.contains(&&*name)))
}

/// Opens a zip file that [`is_zarr`].
///
/// # Errors
/// As [`open`]; of a Zarr store without the feature what to do instead.
#[cfg_attr(not(feature = "zarr"), expect(unused_variables))]
pub fn open_zip(found: Found, input: &Input, intent: Intent, max: u64) -> Result<Foreign> {
    let path = input.input.as_path();
    if !input.column.is_empty() {
        return Err(Failure::Usage(format!("--column: {} is no table", path.display())));
    }
    #[cfg(feature = "zarr")]
    {
        let file = local(found, path)?;
        let store = guarded(|| zarr::ZarrStore::zip(file, max, input.run.threads));
        open_zarr(store.map_err(unable(path, "Zarr"))?, input, intent, max)
    }
    #[cfg(not(feature = "zarr"))]
    {
        let how = "read it with a `blosc` command that has the feature zarr, or with zarr";
        Err(Failure::Unable(format!("{}: a Zarr store in a zip file: {how}", path.display())))
    }
}

#[cfg(feature = "zarr")]
fn open_zarr(store: zarr::ZarrStore, input: &Input, intent: Intent, max: u64) -> Result<Foreign> {
    let path = input.input.as_path();
    check_intent(path, intent)?;
    if store.is_array() {
        let grid = guarded(|| store.array("/")).map_err(unable(path, "Zarr"))?;
        return Ok(Foreign::Array(GridReader::new(path, grid, max).with(intent)?));
    }
    let entries = guarded(|| store.list()).map_err(unable(path, "Zarr"))?;
    Ok(Foreign::Store(Tree { input: input.clone(), kind: "Zarr group", store: Box::new(store), entries }))
}

/// Names the file and its format in an error of another crate.
fn unable<'p>(path: &'p Path, format: &'p str) -> impl Fn(String) -> Failure + 'p {
    // The crates do not tell what is damaged from what they do not read.
    move |text| Failure::Unable(format!("{}: {format} data that cannot be read: {text}", path.display()))
}

/// The key of an entry.
pub fn key(entry: &Value) -> &str {
    entry["key"].as_str().unwrap_or("")
}

impl Tree {
    /// What it holds.
    pub fn info(&self) -> Value {
        json!({"kind": self.kind, "entries": self.entries})
    }

    /// The answer to reading all of it as one.
    pub fn many(&self) -> Failure {
        let how = format!(
            "{}: {}, several arrays: `blosc ls` lists them; name one of them as STORE:/KEY, or decompress all of them \
             to a .npz file",
            self.input.input.display(),
            self.kind
        );
        Failure::Data(how)
    }

    /// The array that is called `wanted`.
    pub fn leaf(&self, wanted: &str, intent: Intent) -> Result<GridReader> {
        let path = &self.input.input;
        let entry = self.entries.iter().find(|entry| key(entry) == wanted);
        let entry = entry
            .ok_or_else(|| Failure::at(path, format!("has no array {wanted}; `blosc ls` lists them")))?;
        self.open(entry)?.with(intent)
    }

    /// Opens the array that `entry` names.
    pub fn open(&self, entry: &Value) -> Result<GridReader> {
        let key = key(entry);
        let path = PathBuf::from(format!("{}:{key}", self.input.input.display()));
        if let Some(problem) = entry["problem"].as_str() {
            return Err(Failure::Unable(format!("{}: {problem}", path.display())));
        }
        let max = self
            .input
            .max_output
            .unwrap_or_else(|| crate::limits::max_by_size(crate::limits::size(&self.input.input)));
        let grid = guarded(|| self.store.array(key)).map_err(unable(&path, self.kind))?;
        Ok(GridReader::new(&path, grid, max))
    }
}
