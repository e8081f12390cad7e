//! A dataset: one column, or the columns of a nested dtype as packed rows. How it is changed stands in `edit`.
#![deny(clippy::indexing_slicing, clippy::arithmetic_side_effects)]

mod edit;

use super::column::{Column, Part};
use super::storage::{
    MetaSyntax, Names, Storage, format, invalid, parse, plain_attributes, sizes_value, typed_attributes,
};
use super::superchunks::default_superchunk;
use crate::bcolz::{CParams, PENDING, Sizes, Tree, default_chunklen, zero_of};
use crate::dtype::Dtype;
use crate::error::{Error, IoKind, Structure};
use crate::limits::Limits;
use crate::packed::{self, ColumnRange};
use crate::plain::{Plain, check_range};
use crate::rows::Rows;
use crate::value::{TextLimits, Value};
use alloc::string::String;
use alloc::vec::Vec;
use blosc_core::Pool;
use core::ops::{Range, RangeInclusive};

/// How a new dataset is laid out.
#[derive(Clone, Debug)]
pub struct Create {
    /// One dtype or named columns.
    pub names: Names,
    /// Shape of a row; empty for one item per row. Only for a single column.
    pub row: Vec<u64>,
    /// Rows per chunk; chosen from `expectedlen` by default.
    pub chunklen: Option<u64>,
    /// Chunks per super-chunk file; about 64 MiB of data by default.
    pub superchunk: Option<u64>,
    /// Expected number of rows.
    pub expectedlen: u64,
    /// Compression.
    pub cparams: CParams,
    /// Fill value; zero of the dtype by default.
    pub dflt: Option<Value>,
    /// User attributes.
    pub attrs: Value,
    /// Syntax of the files in `meta/`.
    pub syntax: MetaSyntax,
}

impl Create {
    /// Rows of this dtype; a structured one becomes columns.
    pub fn new(dtype: &Dtype) -> Create {
        Create {
            names: Names::columns_of(dtype),
            row: Vec::new(),
            chunklen: None,
            superchunk: None,
            expectedlen: 0,
            cparams: CParams::default(),
            dflt: None,
            attrs: Value::Object(Vec::new()),
            syntax: MetaSyntax::Json,
        }
    }
}

/// A Blaze directory.
pub struct Blaze<T> {
    /// What can be rewritten as a whole; nothing where the super-chunks lie in shards.
    root: Option<T>,
    limits: Limits,
    meta: T,
    storage: Storage,
    sizes: Sizes,
    attrs: Value,
    syntax: MetaSyntax,
    columns: Vec<(Vec<String>, Column<T>)>,
    durable: bool,
    /// Just created: what `create` wrote does not lie on the disk for certain.
    fresh: bool,
}

/// Finds the super-chunks of the column at a path.
pub(super) type Find<'f, T> = dyn FnMut(&[String]) -> Result<Vec<Part<T>>, Error> + 'f;

fn read<T: Tree>(meta: &T, name: &'static str) -> Result<Option<(Value, MetaSyntax)>, Error> {
    match meta.read(name, TextLimits::JSON.bytes as u64) {
        Ok(text) => parse(&text, name).map(Some),
        Err(Error::Io(e)) if e.kind == IoKind::NotFound => Ok(None),
        Err(e) => Err(e),
    }
}

/// Walks from `data/` to the directory of a column.
pub(super) fn descend<T: Tree>(data: &T, path: &[String]) -> Result<Option<T>, Error> {
    let mut dir = None;
    for name in path {
        dir = Some(dir.as_ref().unwrap_or(data).enter(name)?);
    }
    Ok(dir)
}

impl<T: Tree + Clone> Blaze<T> {
    /// Opens the dataset in `root`.
    ///
    /// # Errors
    /// Malformed descriptors, unsupported layouts, names that leave the directory. Files of data are opened
    /// when they are read.
    pub fn open(root: &T, limits: &Limits) -> Result<Blaze<T>, Error> {
        let data = root.enter("data")?;
        let set = Blaze::open_parts(root, limits, &mut |path| {
            let dir = descend(&data, path)?.unwrap_or_else(|| data.clone());
            Ok(alloc::vec![Part { files: 1..=u64::MAX, dir }])
        })?;
        Ok(Blaze { root: Some(root.clone()), ..set })
    }

    /// Opens a dataset whose super-chunks lie where `find` says, for each column's path.
    pub(super) fn open_parts(root: &T, limits: &Limits, find: &mut Find<'_, T>) -> Result<Blaze<T>, Error> {
        let meta = root.enter("meta")?;
        let Some((sizes, _)) = read(&meta, "sizes")? else { return invalid("meta/sizes (missing)", 0) };
        let sizes = Sizes::from_value(&sizes)?;
        let Some((storage, syntax)) = read(&meta, "storage")? else {
            return invalid("meta/storage (missing)", 0);
        };
        let storage = Storage::from_value(&storage, &sizes.shape)?;
        let attrs = read(&meta, "attributes")?.map_or(Value::Object(Vec::new()), |(attrs, _)| attrs);
        let nested = matches!(storage.names, Names::Columns(_));
        if nested && sizes.shape.len() > 1 {
            return invalid("shape (columns with more than one dimension)", 0);
        }
        let mut columns = Vec::new();
        for (path, dtype) in storage.names.leaves() {
            let column = Column::open(find(&path)?, &storage, dtype, &sizes.shape, limits)?;
            columns.push((path, column));
        }
        Ok(Blaze {
            root: None,
            limits: *limits,
            meta,
            storage,
            sizes,
            attrs,
            syntax,
            columns,
            durable: true,
            fresh: false,
        })
    }

    /// Creates an empty dataset in the empty directory `root`. This alone does not wait for the disk; the
    /// first durable edit does, for all of it.
    ///
    /// # Errors
    /// [`Error::Param`] for what a dataset cannot be; names that are not plain; errors of the file system.
    pub fn create(root: &T, create: &Create, limits: &Limits) -> Result<Blaze<T>, Error> {
        let leaves = create.names.leaves();
        let item = leaves.iter().fold(0u64, |n, (_, dtype)| n.saturating_add(dtype.itemsize().into()));
        let row = create.row.iter().try_fold(item, |n, &dim| n.checked_mul(dim)).unwrap_or(u64::MAX);
        let chunklen = create.chunklen.unwrap_or_else(|| default_chunklen(create.expectedlen, row.max(1)));
        let chunk = chunklen.saturating_mul(row).max(1);
        let superchunk = create.superchunk.unwrap_or_else(|| default_superchunk(chunk));
        let dflt = create.dflt.clone().unwrap_or_else(|| match &create.names {
            Names::One(dtype) => zero_of(dtype),
            Names::Columns(_) => Value::Null,
        });
        let storage = Storage {
            names: create.names.clone(),
            cparams: create.cparams.clone(),
            chunklen,
            superchunk: Some(superchunk),
            expectedlen: create.expectedlen,
            dflt,
        };
        storage.cparams.params(1)?;
        let shape: Vec<u64> = core::iter::once(0).chain(create.row.iter().copied()).collect();
        // Refuses what could not be opened again, before anything is written.
        Storage::from_value(&storage.to_value(&shape, create.syntax), &shape)?;
        let (data, meta) = (root.make("data")?, root.make("meta")?);
        let sizes = Sizes { shape, nbytes: 0, cbytes: 0 };
        let attrs = match create.syntax {
            MetaSyntax::Json => create.attrs.clone(),
            MetaSyntax::Yaml => typed_attributes(&create.attrs),
        };
        let put = |name: &str, value: &Value| write(&meta, name, value, create.syntax, false);
        put("storage", &storage.to_value(&sizes.shape, create.syntax))?;
        put("sizes", &sizes_value(&sizes, create.syntax))?;
        put("attributes", &attrs)?;
        for (path, _) in &leaves {
            let mut dir = data.clone();
            for name in path {
                dir = match dir.enter(name) {
                    Err(e) if e.kind == IoKind::NotFound => dir.make(name)?,
                    other => other?,
                };
            }
        }
        Ok(Blaze { fresh: true, ..Blaze::open(root, limits)? })
    }

    /// Whether each step waits for the disk; on unless a whole new dataset is being made.
    pub fn durable(mut self, durable: bool) -> Self {
        self.durable = durable;
        self.columns.iter_mut().for_each(|(_, column)| column.durable = durable);
        self
    }

    /// Sets the bytes of room at the end of each chunk that is written.
    pub fn reserve(mut self, bytes: u32) -> Self {
        self.set_reserve(bytes);
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

    /// What `meta/sizes` says.
    pub fn sizes(&self) -> &Sizes {
        &self.sizes
    }

    /// The user's attributes, plain values also where the file has them typed.
    pub fn attrs(&self) -> Value {
        plain_attributes(&self.attrs)
    }

    /// The user's attributes as the file has them.
    pub fn typed_attrs(&self) -> &Value {
        &self.attrs
    }

    /// What of `meta/` has a meaning that only whoever wrote it knows: names of further files, and the types
    /// that were written down for attributes. Edits leave them as they are.
    ///
    /// # Errors
    /// Errors of the file system.
    pub fn extras(&self) -> Result<Vec<String>, Error> {
        let known = |name: &str| matches!(name, "" | "sizes" | "storage" | "attributes" | PENDING);
        let names = self.meta.list()?;
        let mut extras: Vec<String> =
            names.iter().filter(|n| !known(n)).map(|n| alloc::format!("meta/{n}")).collect();
        extras.sort();
        if self.syntax == MetaSyntax::Yaml && typed_attributes(&self.attrs()) != self.attrs {
            extras.push("the written types of attributes".into());
        }
        Ok(extras)
    }

    /// Replaces the user's attributes; the YAML syntax types those that are plain.
    ///
    /// # Errors
    /// Errors of the file system.
    pub fn set_attrs(&mut self, attrs: &Value) -> Result<(), Error> {
        let attrs = match self.syntax {
            MetaSyntax::Json => attrs.clone(),
            MetaSyntax::Yaml => typed_attributes(attrs),
        };
        write(&self.meta, "attributes", &attrs, self.syntax, self.durable)?;
        self.attrs = attrs;
        Ok(())
    }

    /// The rows that super-chunk files `files`, counted from 1, hold; reading those opens no other file.
    ///
    /// # Errors
    /// As [`Column::rows_of_files`]; [`Error::Unsupported`] where the columns are cut differently.
    pub fn rows_of_files(&self, files: RangeInclusive<u64>) -> Result<Range<u64>, Error> {
        let mut found = None;
        for (_, column) in &self.columns {
            let rows = column.rows_of_files(files.clone())?;
            if found.replace(rows.clone()).is_some_and(|before| before != rows) {
                let what = "super-chunks of columns that are cut differently (name one column)";
                return Err(Error::Unsupported { structure: Structure::Blaze, what });
            }
        }
        found.ok_or(Error::OutOfRange { what: "super-chunk", index: *files.end(), len: 0 })
    }

    /// The syntax of the files in `meta/`.
    pub fn syntax(&self) -> MetaSyntax {
        self.syntax
    }

    /// Columns and their paths; a single column has an empty one.
    pub fn columns(&self) -> impl Iterator<Item = (&[String], &Column<T>)> {
        self.columns.iter().map(|(path, column)| (path.as_slice(), column))
    }

    /// The column at a path, its names joined by dots.
    ///
    /// # Errors
    /// [`Error::NoSuchName`].
    pub fn column(&self, path: &str) -> Result<&Column<T>, Error> {
        let found = self.columns.iter().find(|(names, _)| names.join(".") == path);
        found.map(|(_, column)| column).ok_or(Error::NoSuchName { what: "column" })
    }

    fn column_ranges(&self) -> Vec<ColumnRange> {
        packed::column_ranges(self.columns.iter().map(|(_, column)| column.row))
    }

    /// Checks every super-chunk of every column: checksums, and with `decode` the compressed streams too.
    ///
    /// # Errors
    /// Only what keeps a directory from being read at all.
    pub fn verify(&self, pool: &mut Pool, decode: bool) -> Result<Vec<(String, u64, Error)>, Error> {
        let mut damaged = Vec::new();
        for (path, column) in &self.columns {
            damaged.extend(
                column.verify(pool, decode)?.into_iter().map(|(k, error)| (path.join("."), k, error)),
            );
        }
        Ok(damaged)
    }
}

fn write<T: Tree>(
    meta: &T,
    name: &str,
    value: &Value,
    syntax: MetaSyntax,
    durable: bool,
) -> Result<(), Error> {
    crate::bcolz::put(meta, name, format(value, syntax).as_bytes(), durable)
}

impl<T: Tree + Clone> Plain for Blaze<T> {
    fn nbytes(&self) -> u64 {
        self.rows().saturating_mul(self.row_nbytes())
    }

    fn read_plain(&self, pool: &mut Pool, at: u64, out: &mut [u8]) -> Result<(), Error> {
        check_range(at, out.len(), self.nbytes())?;
        if let [(_, column)] = self.columns.as_slice() {
            return column.read_plain(pool, at, out);
        }
        let columns: Vec<&dyn Plain> = self.columns.iter().map(|(_, column)| column as &dyn Plain).collect();
        packed::read(&columns, &self.column_ranges(), self.row_nbytes(), pool, at, out)
    }

    fn chunk_nbytes(&self) -> u64 {
        self.storage.chunklen.saturating_mul(self.row_nbytes()).max(1)
    }
}
