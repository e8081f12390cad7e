//! A dataset: one column, or the columns of a nested dtype as packed rows.
//!
//! ```text
//! rows are added    meta/__pending__ says how many count; super-chunk files, each by a rename; `sizes`, from which the
//!                   number of rows comes, by a rename; no __pending__
//! one file is set   by a rename
//! anything else     in a second directory with the same files, which then takes the place of the first (Tree::rewrite)
//! ```
//! Each is undone or done, wherever it stops. What lies in shards is only added to, or set in one file.
#![deny(clippy::indexing_slicing, clippy::arithmetic_side_effects)]

use super::column::{Column, Part};
use super::storage::{
    MetaSyntax, Names, Storage, dflt_of, format, invalid, parse, plain_attributes, sizes_value,
    typed_attributes,
};
use super::superchunks::default_superchunk;
use crate::bcolz::{
    Announced, CParams, PENDING, Sizes, Tree, Uncounted, announce, default_chunklen, default_item, discard,
    growth, uncounted, zero_of,
};
use crate::dtype::Dtype;
use crate::error::{Error, IoKind, Structure};
use crate::io::ReadAt;
use crate::limits::Limits;
use crate::packed::{self, ColumnRange, Strided};
use crate::plain::{Content, Piece, Plain, check_range};
use crate::rows::{Rows, count};
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

    /// Before an edit: an error if another writer was here since this handle last read or wrote the dataset; refuses rows
    /// that somebody else left, and removes what a writer left that died.
    fn check_edit(&self, pool: &mut Pool) -> Result<(), Error> {
        let found = read(&self.meta, "sizes")?.map(|(sizes, _)| Sizes::from_value(&sizes)).transpose()?;
        if found.as_ref() != Some(&self.sizes) {
            return Err(Error::Changed { what: "meta/sizes; open the dataset again, then edit" });
        }
        if Announced::read(&self.meta)?.is_of(self.rows()) {
            return self.tidy(pool);
        }
        if self.beside()?.any() { Err(uncounted(Structure::Blaze)) } else { Ok(()) }
    }

    /// What lies in the directory beside the rows that count: as many rows as all columns have, and all files. Of a writer
    /// that is at work, or died while it added rows, this knows nothing.
    ///
    /// # Errors
    /// Errors of the file system.
    pub fn uncounted(&self) -> Result<Uncounted, Error> {
        match Announced::read(&self.meta)?.is_of(self.rows()) {
            true => Ok(Uncounted::default()),
            false => self.beside(),
        }
    }

    fn beside(&self) -> Result<Uncounted, Error> {
        let all = self.columns.iter().map(|(_, column)| column.beside());
        Ok(Uncounted::of_all(all.collect::<Result<_, _>>()?))
    }

    /// Removes what lies in the directory beside the rows that count.
    fn tidy(&self, pool: &mut Pool) -> Result<(), Error> {
        self.columns.iter().try_for_each(|(_, column)| column.tidy(pool))?;
        discard(&self.meta, PENDING)
    }

    /// Has `rows` rows count, of those that are on disk, and removes the others.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] for more rows than are there; super-chunks that are damaged.
    pub fn settle(&mut self, pool: &mut Pool, rows: u64) -> Result<(), Error> {
        let most = self.rows().saturating_add(self.beside()?.rows);
        if rows > most {
            return Err(Error::OutOfRange { what: "row", index: rows, len: most });
        }
        self.columns.iter().try_for_each(|(_, column)| column.check_growth(rows))?;
        let limits = self.limits;
        self.whole()?.rewrite(|dir| {
            Blaze::open(&dir, &limits)?.durable(false).commit(rows)?;
            // With those rows it may have more files.
            let new = Blaze::open(&dir, &limits)?.durable(false);
            match new.verify(pool, true)?.pop() {
                Some((_, _, error)) => Err(error),
                None => new.tidy(pool),
            }
        })?;
        self.reload()
    }

    fn whole(&self) -> Result<&T, Error> {
        let why = "the dataset lies in several directories, where rows can only be added, or set in one file; convert it";
        self.root.as_ref().ok_or(Error::NotAtomic { why })
    }

    /// Opens what the directory holds now.
    fn reload(&mut self) -> Result<(), Error> {
        let mut new = Blaze::open(self.whole()?, &self.limits)?.durable(self.durable);
        for ((_, new), (_, old)) in new.columns.iter_mut().zip(&self.columns) {
            new.reserve = old.reserve;
        }
        *self = new;
        Ok(())
    }

    /// Makes new content of the columns, one for each, in one step.
    fn change(&mut self, pool: &mut Pool, rows: u64, contents: &[Content<'_>]) -> Result<(), Error> {
        let all = || self.columns.iter().map(|(_, column)| column).zip(contents);
        let adds = all().all(|(column, content)| content.changed().start >= column.nbytes());
        let one = self.columns.len() == 1 && all().all(|(column, content)| column.in_one_file(content));
        if adds || one || all().all(|(_, content)| content.changed().is_empty()) {
            if self.durable && !one {
                announce(&self.meta, self.rows(), false)?;
            }
            all().try_for_each(|(column, content)| column.prepare(pool, content, column))?;
            let done = self.commit(rows);
            // Where rows were set, they are there; how many bytes they take is told for information only.
            return if adds { done } else { Ok(()) };
        }
        let limits = self.limits;
        self.whole()?.rewrite(|dir| {
            let mut new = Blaze::open(&dir, &limits)?.durable(false);
            for (((_, new), (_, old)), content) in new.columns.iter_mut().zip(&self.columns).zip(contents) {
                new.reserve = old.reserve;
                new.prepare(pool, content, old)?;
            }
            new.commit(rows)?;
            new.tidy(pool)
        })?;
        self.reload()
    }

    /// Makes the new number of rows count.
    fn commit(&mut self, rows: u64) -> Result<(), Error> {
        if let Some(first) = self.sizes.shape.first_mut() {
            *first = rows;
        }
        self.sizes.nbytes = rows.saturating_mul(self.row_nbytes());
        self.sizes.cbytes =
            self.columns.iter().fold(0, |n, (_, column)| n.saturating_add(column.stored_bytes(rows)));
        if self.durable && self.fresh {
            let storage = self.storage.to_value(&self.sizes.shape, self.syntax);
            write(&self.meta, "storage", &storage, self.syntax, true)?;
            write(&self.meta, "attributes", &self.attrs, self.syntax, true)?;
            self.fresh = false;
        }
        write(&self.meta, "sizes", &sizes_value(&self.sizes, self.syntax), self.syntax, self.durable)?;
        self.columns.iter_mut().for_each(|(_, column)| column.rows = rows);
        // Where it stays, it says how many rows there were.
        let _ = discard(&self.meta, PENDING);
        Ok(())
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

impl<T: Tree + Clone> Rows for Blaze<T> {
    fn row_nbytes(&self) -> u64 {
        self.columns.iter().fold(0, |n, (_, column)| n.saturating_add(column.row))
    }

    fn rows(&self) -> u64 {
        self.sizes.rows()
    }

    fn splice(&mut self, pool: &mut Pool, rows: Range<u64>, data: &dyn ReadAt) -> Result<(), Error> {
        self.check_edit(pool)?;
        let row = self.row_nbytes();
        let count = count(row, data)?;
        let column_ranges = self.column_ranges();
        let strided = |range: &ColumnRange| Strided { data, row, range: *range, rows: count };
        let sources: Vec<_> = column_ranges.iter().map(strided).collect();
        let mut contents = Vec::new();
        for (((_, column), place), source) in self.columns.iter().zip(&column_ranges).zip(&sources) {
            let pieces = alloc::vec![Piece::New(source, 0..count.saturating_mul(place.len))];
            let range = rows.start.saturating_mul(place.len)..rows.end.saturating_mul(place.len);
            contents.push(Content::splice(column.nbytes(), range, pieces)?);
        }
        let gone = rows.end.saturating_sub(rows.start);
        self.change(pool, self.rows().saturating_sub(gone).saturating_add(count), &contents)
    }

    fn resize(&mut self, pool: &mut Pool, rows: u64) -> Result<(), Error> {
        self.check_edit(pool)?;
        let (mut items, mut ranges) = (Vec::new(), Vec::new());
        for (path, column) in &self.columns {
            column.check_growth(rows)?;
            ranges.push(growth(column.nbytes(), column.row, rows)?);
            items.push(default_item(&column.dtype, dflt_of(&self.storage.names, &self.storage.dflt, path)));
        }
        let mut contents = Vec::new();
        for (((_, column), (range, more)), item) in self.columns.iter().zip(ranges).zip(&items) {
            contents.push(Content::splice(column.nbytes(), range, alloc::vec![Piece::Fill(item, more)])?);
        }
        self.change(pool, rows, &contents)
    }

    fn set_reserve(&mut self, bytes: u32) {
        self.columns.iter_mut().for_each(|(_, column)| column.reserve = bytes);
    }

    fn set_in_place(&mut self, pool: &mut Pool, row: u64, data: &dyn ReadAt) -> Result<(), Error> {
        let bytes = self.row_nbytes();
        let rows = count(bytes, data)?;
        let column_ranges = self.column_ranges();
        // All of them must fit before any is written.
        for only_try in [true, false] {
            for ((_, column), &place) in self.columns.iter_mut().zip(&column_ranges) {
                let source = Strided { data, row: bytes, range: place, rows };
                column.set_in_place(pool, row.saturating_mul(place.len), &source, only_try)?;
            }
        }
        Ok(())
    }
}
