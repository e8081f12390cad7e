//! A carray: one column in a directory (docs/formats/bcolz.md §2). `edit.rs` changes it.
//!
//! ```text
//! root/ __attrs__   data/__0.blp … __k.blp   meta/sizes   meta/storage
//! full = rows div chunklen    files __0 … __(full−1), chunklen rows each
//! left = rows mod chunklen    file __full, at least `left` rows of the unfinished chunk
//! ```
//! The rows come from `sizes` alone: files beyond them are leftovers of trims and unfinished appends, and
//! are not read. `edit.rs` says how each change is made in one step.
#![deny(clippy::indexing_slicing, clippy::arithmetic_side_effects)]

mod edit;

use super::descriptor::{
    CParams, Geometry, Sizes, Storage, default_chunklen, invalid, read_json, write_json, zero_of,
};
use super::tree::Tree;
use crate::bloscpack::{ChunkSizes, Header, Layout};
use crate::dtype::Dtype;
use crate::error::{Error, IoKind, Structure};
use crate::limits::{Limits, resize};
use crate::plain::{Plain, check_range, over_chunks, side_by_side};
use crate::rows::Rows;
use crate::value::Value;
use alloc::format;
use alloc::vec::Vec;
use blosc_core::{Chunk, ChunkContext, Pool};
use core::ops::Range;

/// Length of the header of a chunk file.
const FILE_HEADER: u64 = 16;

/// How a new column is laid out.
#[derive(Clone, Debug)]
pub struct Create {
    /// Type of the items.
    pub dtype: Dtype,
    /// Shape of a row; empty for one item per row.
    pub row: Vec<u64>,
    /// Rows per chunk; by default what bcolz chooses for `expectedlen`.
    pub chunklen: Option<u64>,
    /// Expected number of rows.
    pub expectedlen: u64,
    /// Compression.
    pub cparams: CParams,
    /// Fill value; by default zero of the dtype.
    pub dflt: Option<Value>,
    /// User attributes.
    pub attrs: Value,
}

impl Create {
    /// Rows of one item of this type.
    pub fn new(dtype: Dtype) -> Create {
        Create {
            dtype,
            row: Vec::new(),
            chunklen: None,
            expectedlen: 0,
            cparams: CParams::default(),
            dflt: None,
            attrs: Value::Object(Vec::new()),
        }
    }
}

/// One column in a directory.
pub struct CArray<T> {
    root: T,
    /// Copy tools drop empty directories: without rows it may be missing.
    data: Option<T>,
    meta: T,
    storage: Storage,
    sizes: Sizes,
    attrs: Value,
    geometry: Geometry,
    limits: Limits,
    /// Bytes of room behind each chunk, for programs that change them in place (§6).
    reserve: u32,
    /// Whether every step waits for the disk.
    durable: bool,
    /// Just created: what `create` wrote does not lie on the disk for certain.
    fresh: bool,
}

/// A chunk read from its file.
struct Loaded {
    file: Vec<u8>,
    i: u64,
    nbytes: u64,
    ctbytes: u64,
}

impl Loaded {
    /// Decodes bytes `range` of it into `out`.
    fn decode(
        &self,
        pool: &mut Pool,
        limits: &Limits,
        range: Range<usize>,
        out: &mut [u8],
    ) -> Result<(), Error> {
        let name = Error::in_chunk(Some(self.i), FILE_HEADER);
        let limits = limits.for_size(self.file.len() as u64).chunk;
        let chunk = Chunk::parse_with(self.file.get(16..).unwrap_or_default(), &limits).map_err(name)?;
        match range.start == 0 && range.end as u64 == self.nbytes {
            true => pool.decompress_into(&chunk, ChunkContext::default(), out),
            false => pool.get_bytes(&chunk, ChunkContext::default(), range, out),
        }
        .map(drop)
        .map_err(name)
    }
}

impl<T: Tree> CArray<T> {
    /// Opens the column in `root`.
    ///
    /// # Errors
    /// Malformed or missing descriptors; object dtypes; sizes that overflow or exceed what a chunk holds.
    pub fn open(root: T, limits: &Limits) -> Result<CArray<T>, Error> {
        let meta = root.enter("meta")?;
        let storage = Storage::read(&meta)?;
        let sizes = Sizes::read(&meta)?;
        let data = match root.enter("data") {
            Err(e) if e.kind == IoKind::NotFound && sizes.rows() == 0 => None,
            other => Some(other?),
        };
        let attrs = read_attrs(&root)?;
        let geometry = Geometry::new(&storage.dtype, &sizes.shape, storage.chunklen)?;
        Ok(CArray {
            root,
            data,
            meta,
            storage,
            sizes,
            attrs,
            geometry,
            limits: *limits,
            reserve: 0,
            durable: true,
            fresh: false,
        })
    }

    /// Creates an empty column in the empty directory `root`. This alone does not wait for the disk; the
    /// first durable edit does, for all of it.
    ///
    /// # Errors
    /// [`Error::Param`] for what a column cannot be; errors of the file system.
    pub fn create(root: T, create: &Create, limits: &Limits) -> Result<CArray<T>, Error> {
        let mut shape = alloc::vec![0];
        shape.extend_from_slice(&create.row);
        let atom = Geometry::new(&create.dtype, &shape, 1)?.atom;
        let chunklen = create.chunklen.unwrap_or_else(|| default_chunklen(create.expectedlen, atom));
        let geometry = Geometry::new(&create.dtype, &shape, chunklen)?;
        let storage = Storage {
            dtype: create.dtype.clone(),
            cparams: create.cparams.clone(),
            chunklen,
            expectedlen: create.expectedlen,
            dflt: create.dflt.clone().unwrap_or_else(|| zero_of(&create.dtype)),
        };
        storage.cparams.params(storage.typesize())?;
        root.make("data")?;
        let meta = root.make("meta")?;
        let sizes = Sizes { shape, nbytes: 0, cbytes: geometry.chunk };
        write_json(&meta, "storage", &storage.to_value(), false)?;
        write_json(&meta, "sizes", &sizes.to_value(), false)?;
        write_json(&root, "__attrs__", &create.attrs, false)?;
        Ok(CArray { fresh: true, ..CArray::open(root, limits)? })
    }

    /// Sets the bytes of room left behind each chunk that is written.
    pub fn reserve(mut self, bytes: u32) -> Self {
        self.set_reserve(bytes);
        self
    }

    /// Whether each file waits for the disk before the next step; on unless a whole new container is
    /// being made.
    pub fn durable(mut self, durable: bool) -> Self {
        self.durable = durable;
        self
    }

    /// What `meta/storage` says.
    pub fn storage(&self) -> &Storage {
        &self.storage
    }

    /// Rows, then the shape of a row.
    pub fn shape(&self) -> &[u64] {
        &self.sizes.shape
    }

    /// What `meta/sizes` says; its byte counts are informational.
    pub fn sizes(&self) -> &Sizes {
        &self.sizes
    }

    /// User attributes.
    pub fn attrs(&self) -> &Value {
        &self.attrs
    }

    /// Replaces the user attributes.
    ///
    /// # Errors
    /// Errors of the file system.
    pub fn set_attrs(&mut self, attrs: Value) -> Result<(), Error> {
        write_json(&self.root, "__attrs__", &attrs, self.durable)?;
        self.attrs = attrs;
        Ok(())
    }

    /// Number of chunk files the rows need.
    pub fn nchunks(&self) -> u64 {
        self.rows().div_ceil(self.storage.chunklen.max(1))
    }

    /// Decoded bytes of chunk `i` that count.
    fn chunk_len(&self, i: u64) -> u64 {
        self.nbytes().saturating_sub(i.saturating_mul(self.geometry.chunk)).min(self.geometry.chunk)
    }

    fn data(&self) -> Result<&T, Error> {
        self.data.as_ref().ok_or(IoKind::NotFound.into())
    }

    fn load(&self, i: u64) -> Result<Loaded, Error> {
        let file = match self.data()?.open(&chunk_name(i), false) {
            Err(e) if e.kind == IoKind::NotFound => {
                return Err(Error::Missing { structure: Structure::Bcolz, what: "chunk", number: i });
            }
            other => other?,
        };
        let size = file.size()?;
        // A chunk never takes more than its data and its header; room behind it is not read.
        let most = self.geometry.chunk.saturating_add(FILE_HEADER.saturating_add(16));
        let mut bytes = Vec::new();
        resize(&mut bytes, size.min(most))?;
        file.read_exact_at(0, &mut bytes)?;
        let header = Header::detect(&bytes, Some(size))?;
        if header.layout != Layout::V1 || header.nchunks != Some(1) {
            return invalid("header of a chunk file", i64::try_from(i).unwrap_or(i64::MAX));
        }
        let room = size.saturating_sub(FILE_HEADER);
        let (nbytes, ctbytes) = ChunkSizes::at(&bytes, FILE_HEADER, room)?;
        let need = self.chunk_len(i);
        let last = i.saturating_add(1) >= self.nchunks();
        let whole = nbytes.checked_rem(self.geometry.atom) == Some(0) && nbytes <= self.geometry.chunk;
        if !whole || nbytes < need || (!last && nbytes != need) {
            return Err(Error::Invalid {
                structure: Structure::Bcolz,
                field: "nbytes of a chunk",
                offset: i,
                value: i64::try_from(nbytes).unwrap_or(i64::MAX),
            });
        }
        Ok(Loaded { file: bytes, i, nbytes, ctbytes })
    }

    /// Checks every chunk file and decodes it; returns the numbers of those that are damaged.
    ///
    /// # Errors
    /// Only what keeps the directory from being read at all.
    pub fn verify(&self, pool: &mut Pool) -> Result<Vec<(u64, Error)>, Error> {
        let mut damaged = Vec::new();
        let mut plain = Vec::new();
        for i in 0..self.nchunks() {
            let n = usize::try_from(self.chunk_len(i)).map_err(|_| IoKind::OutOfMemory)?;
            // The file is checked before room for its data is made.
            let checked = self.load(i).and_then(|loaded| {
                plain.resize(n, 0);
                loaded.decode(pool, &self.limits, 0..n, &mut plain)
            });
            match checked {
                Err(error @ Error::Missing { .. }) => {
                    // A count that lies would go on like this for ever.
                    damaged.push((i, error));
                    break;
                }
                Err(error) => damaged.push((i, error)),
                Ok(()) => {}
            }
        }
        Ok(damaged)
    }
}

impl<T: Tree> Plain for CArray<T> {
    fn nbytes(&self) -> u64 {
        self.sizes.rows().saturating_mul(self.geometry.atom)
    }
    fn read_plain(&self, pool: &mut Pool, at: u64, out: &mut [u8]) -> Result<(), Error> {
        check_range(at, out.len(), self.nbytes())?;
        let (all, limits) = ((out.len(), self.geometry.chunk), &self.limits);
        let parts = over_chunks(self.geometry.chunk, at, out)
            .map(|(i, range, out)| self.load(i).map(|loaded| (loaded, range, out)));
        side_by_side(pool, all, parts, |pool, (loaded, range, out)| loaded.decode(pool, limits, range, out))
    }
    fn chunk_nbytes(&self) -> u64 {
        self.geometry.chunk
    }
}

fn chunk_name(i: u64) -> alloc::string::String {
    format!("__{i}.blp")
}

/// The number in the name of a chunk file.
fn chunk_number(name: &str) -> Option<u64> {
    let i = name.strip_prefix("__")?.strip_suffix(".blp")?.parse().ok()?;
    (chunk_name(i) == name).then_some(i)
}

/// The user attributes; an empty file is what bcolz leaves when a value could not be stored.
pub(super) fn read_attrs<T: Tree>(root: &T) -> Result<Value, Error> {
    match read_json(root, "__attrs__") {
        Ok(Some(value)) => Ok(value),
        Ok(None) => Ok(Value::Object(Vec::new())),
        Err(Error::Text { error, .. }) if error.what.starts_with("the file is empty") => {
            Ok(Value::Object(Vec::new()))
        }
        Err(error) => Err(error),
    }
}
