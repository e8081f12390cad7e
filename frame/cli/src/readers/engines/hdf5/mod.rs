//! HDF5 files, by the crate `hdf5-pure`. It knows nothing of Blosc: chunks with a Blosc filter are read as they are
//! stored, and decoded here.
//!
//! ```text
//! types.rs     HDF5 datatype → NumPy dtype
//! filters.rs   filters 32001 and 32026, and those that may stand beside them
//! ```
//! Soft and external links are not followed.

mod filters;
mod types;

use super::grid::About;
use super::{DEPTH, Grid, MOST, Store};
use blosc_core::Pool;
use blosc_frame::io::{PathFile, ReadAt};
use filters::Pipeline;
use hdf5_pure::{Chunk, Dataset, File, FormatError, Group, Layout, Source};
use serde_json::{Value, json};
use std::collections::HashMap;
use std::sync::Arc;

/// Bytes of decoded chunks that are kept.
const KEPT: u64 = 64 << 20;
/// Bytes that a stored chunk may take beyond its decoded size: headers, and what did not compress.
const SLACK: u64 = 1 << 20;

/// An HDF5 file.
pub struct H5File {
    bytes: Bytes,
    file: File,
    max: u64,
}

/// The file's bytes, for the crate and for chunks that are decoded here.
#[derive(Clone)]
struct Bytes(Arc<PathFile>);

impl Source for Bytes {
    fn len(&self) -> u64 {
        self.0.size().unwrap_or(0)
    }

    fn read_at(&self, offset: u64, buf: &mut [u8]) -> Result<(), FormatError> {
        self.0.read_exact_at(offset, buf).map_err(|error| FormatError::Source(error.to_string()))
    }
}

/// Opens a file, and lists its datasets.
pub fn open(file: PathFile, max: u64) -> Result<(H5File, Vec<Value>), String> {
    let bytes = Bytes(Arc::new(file));
    let file = File::from_source(bytes.clone()).map_err(text)?;
    let mut entries = Vec::new();
    let mut groups = vec![(file.root(), String::new(), 0)];
    let mut seen = 0;
    while let Some((group, key, depth)) = groups.pop() {
        seen += 1;
        if entries.len() > MOST || seen > MOST {
            return Err("has too many groups and datasets to list".into());
        }
        if let Err(error) = list(&group, &key, depth, &mut entries, &mut groups) {
            let key = if key.is_empty() { "/" } else { &key };
            entries.push(json!({"key": key, "kind": "damaged group", "problem": error}));
        }
    }
    entries.sort_by_key(|entry| entry["key"].to_string());
    Ok((H5File { bytes, file, max }, entries))
}

fn list(
    group: &Group,
    key: &str,
    depth: usize,
    entries: &mut Vec<Value>,
    groups: &mut Vec<(Group, String, usize)>,
) -> Result<(), String> {
    for name in group.datasets().map_err(text)? {
        entries.push(json!({"key": format!("{key}/{name}"), "kind": "HDF5 dataset"}));
    }
    for name in group.groups().map_err(text)? {
        let inner = format!("{key}/{name}");
        match group.group(&name) {
            Ok(group) if depth < DEPTH => groups.push((group, inner, depth + 1)),
            Ok(_) => {
                entries.push(json!({"key": inner, "kind": "group", "problem": "is too deep to be listed"}))
            }
            Err(error) => {
                entries.push(json!({"key": inner, "kind": "damaged group", "problem": error.to_string()}));
            }
        }
    }
    Ok(())
}

/// What the crate says. The layouts of HDF5 1.4 and before, which PyTables 1 and 2 wrote, it does not read.
fn text(error: impl std::fmt::Display) -> String {
    let text = error.to_string();
    match text.contains("layout version") {
        true => format!("{text} (HDF5's h5repack writes such a file anew, in a form that is read)"),
        false => text,
    }
}

impl Store for H5File {
    fn array(&self, key: &str) -> Result<Box<dyn Grid>, String> {
        let dataset = self.file.dataset(key.trim_start_matches('/')).map_err(text)?;
        Ok(Box::new(H5Grid::new(dataset, self.bytes.clone(), self.max)?))
    }
}

/// A dataset.
struct H5Grid {
    dataset: Dataset,
    bytes: Bytes,
    about: About,
    item: u64,
    max: u64,
    /// How chunks are decoded that are decoded here.
    blosc: Option<Blosc>,
}

struct Blosc {
    pipeline: Pipeline,
    pool: Pool,
    /// The chunks by the position of their first item.
    chunks: HashMap<Vec<u64>, Chunk>,
    fill: Result<Vec<u8>, String>,
    /// Decoded chunks, and their size.
    kept: HashMap<Vec<u64>, Vec<u8>>,
    size: u64,
}

impl H5Grid {
    fn new(dataset: Dataset, bytes: Bytes, max: u64) -> Result<H5Grid, String> {
        let shape = dataset.shape().map_err(text)?;
        let datatype = dataset.datatype().map_err(text)?;
        let mut dtype = types::dtype(&datatype);
        let name = types::name(&datatype, &dtype);
        let item = dataset.element_size().map_err(text)?;
        let layout = dataset.layout().map_err(text)?;
        let filters = dataset.filter_pipeline();
        let nbytes = shape.iter().fold(item, |n, side| n.saturating_mul(*side));
        let (chunks, stored) = match &layout {
            Layout::Chunked { chunk_shape, .. } => (Some(chunk_shape.clone()), Some(dataset.chunks())),
            _ => (None, None),
        };
        if layout == Layout::Virtual && dtype.is_ok() {
            dtype = Err("a virtual dataset, whose items lie in other files".into());
        }
        if let (Ok(_), Some(why)) = (&dtype, filters::unknown(&filters)) {
            dtype = Err(why);
        }
        let mut info = json!({
            "kind": "HDF5 dataset", "shape": shape, "dtype": name, "nbytes": nbytes,
            "layout": layout.to_string(),
        });
        let fields = info.as_object_mut().ok_or("no object")?;
        if let Some(chunks) = &chunks {
            fields.insert("chunks".into(), chunks.clone().into());
            fields.insert("typesize".into(), item.into());
        }
        if let Some(Ok(stored)) = &stored {
            fields.insert("nchunks".into(), stored.len().into());
            let cbytes = stored.iter().fold(0u64, |n, chunk| n.saturating_add(chunk.storage_size));
            fields.insert("cbytes".into(), cbytes.into());
        }
        filters::describe(&filters, fields);
        let blosc = match (filters.iter().any(|filter| filters::is_blosc(filter.id)), &dtype) {
            (true, Ok(_)) => match Pipeline::new(&filters, item) {
                Ok(pipeline) => {
                    let chunks = stored.ok_or("a filter without chunks")?.map_err(text)?;
                    let by_offset = |chunk: Chunk| (chunk.offset.clone(), chunk);
                    let fill = types::fill(&dataset, &datatype, item);
                    let chunks = chunks.into_iter().map(by_offset).collect();
                    Some(Blosc { pipeline, pool: Pool::new(1), chunks, fill, kept: HashMap::new(), size: 0 })
                }
                Err(why) => {
                    dtype = Err(why);
                    None
                }
            },
            _ => None,
        };
        if let (Err(why), fields) = (&dtype, fields) {
            fields.insert("problem".into(), why.clone().into());
        }
        let chunks = chunks.unwrap_or_else(|| shape.clone());
        let about = About { shape, chunks, dtype, info };
        Ok(H5Grid { dataset, bytes, about, item, max, blosc })
    }

    /// A box of a dataset that the crate decodes, which reads whole rows.
    fn read_rows(&self, start: &[u64], shape: &[u64]) -> Result<Vec<u8>, String> {
        let whole = &self.about.shape;
        let (Some(first), Some(rows)) = (start.first(), shape.first()) else {
            return self.dataset.read_raw().map_err(text);
        };
        let row = whole.iter().skip(1).fold(self.item, |n, side| n.saturating_mul(*side));
        let nbytes = row.saturating_mul(*rows);
        if nbytes > self.max {
            return Err(format!(
                "rows of {nbytes} bytes, above the limit of {} (--max-output BYTES)",
                self.max
            ));
        }
        let data = self.dataset.read_raw_rows(*first, *rows).map_err(text)?;
        if shape.get(1..) == whole.get(1..) {
            return Ok(data);
        }
        let mut outer = whole.clone();
        let mut from = start.to_vec();
        if let (Some(outer), Some(from)) = (outer.first_mut(), from.first_mut()) {
            (*outer, *from) = (*rows, 0);
        }
        let mut out = crate::readers::boxes::Room::new(shape, self.item)?;
        out.copy(&vec![0; shape.len()], &data, &outer, &from, shape)?;
        Ok(out.bytes)
    }
}

impl Grid for H5Grid {
    fn about(&self) -> &About {
        &self.about
    }

    fn read(&mut self, start: &[u64], shape: &[u64]) -> Result<Vec<u8>, String> {
        let Some(blosc) = &mut self.blosc else { return self.read_rows(start, shape) };
        let sides = &self.about.chunks;
        let mut out = crate::readers::boxes::Room::new(shape, self.item)?;
        crate::readers::boxes::each_chunk(start, shape, sides, &mut |chunk| {
            blosc.load(chunk, sides, self.item, &self.bytes)?;
            let data = blosc.kept.get(chunk).ok_or("a chunk is gone")?;
            // The part of the box that lies in this chunk.
            let low: Vec<u64> = start.iter().zip(chunk).map(|(a, b)| *a.max(b)).collect();
            let ends = start.iter().zip(shape).zip(chunk.iter().zip(sides));
            let end = ends.map(|((s, n), (c, m))| s.saturating_add(*n).min(c.saturating_add(*m)));
            let part: Vec<u64> = end.zip(&low).map(|(end, low)| end.saturating_sub(*low)).collect();
            let to: Vec<u64> = low.iter().zip(start).map(|(low, start)| low - start).collect();
            let from: Vec<u64> = low.iter().zip(chunk).map(|(low, chunk)| low - chunk).collect();
            out.copy(&to, data, sides, &from, &part)
        })?;
        Ok(out.bytes)
    }
}

impl Blosc {
    /// Decodes the chunk that begins at `first`, if it is not there.
    fn load(&mut self, first: &[u64], sides: &[u64], item: u64, bytes: &Bytes) -> Result<(), String> {
        if self.kept.contains_key(first) {
            return Ok(());
        }
        let nbytes = sides.iter().try_fold(item, |n, side| n.checked_mul(*side));
        let nbytes = nbytes.filter(|n| *n <= u64::from(u32::MAX)).ok_or("chunks of more than 4 GiB")?;
        let data = match self.chunks.get(first) {
            None => {
                let fill = self.fill.as_ref().map_err(String::clone)?;
                fill.repeat(usize::try_from(nbytes / item.max(1)).unwrap_or(usize::MAX))
            }
            Some(chunk) => {
                let place = format!("chunk at {first:?}");
                if chunk.storage_size > nbytes.saturating_mul(2).saturating_add(SLACK) {
                    return Err(format!(
                        "{place}: {} stored bytes for {nbytes} of items",
                        chunk.storage_size
                    ));
                }
                let end = chunk.address.checked_add(chunk.storage_size);
                if end.is_none_or(|end| end > bytes.len()) {
                    return Err(format!("{place}: lies beyond the end of the file"));
                }
                let mut stored = vec![0; usize::try_from(chunk.storage_size).unwrap_or(usize::MAX)];
                bytes.read_at(chunk.address, &mut stored).map_err(text)?;
                self.pipeline
                    .decode(&mut self.pool, stored, chunk.filter_mask, nbytes)
                    .map_err(|error| format!("{place}: {error}"))?
            }
        };
        if self.size.saturating_add(nbytes) > KEPT {
            self.kept.clear();
            self.size = 0;
        }
        self.size = self.size.saturating_add(nbytes);
        self.kept.insert(first.to_vec(), data);
        Ok(())
    }
}
