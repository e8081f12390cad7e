//! A ctable: columns of equal length in one directory (docs/formats/bcolz.md §3).
//!
//! ```text
//! root/ __rootdirs__ {"names": ["x", "y"]}   __attrs__   x/ (a carray)   y/ (a carray)
//!
//! rows are added   __pending__ {"rows": number of rows that count} → chunk files of all columns, flushed
//!                  → __pending__ {"rows": N} → sizes of each → no __pending__
//! anything else    in a second directory with the same files, which then takes the place of the first (Tree::rewrite)
//! ```
//! Its decoded bytes are packed rows in column order. `__pending__` is a file of ours that bcolz does not look for: while
//! it is there, it says how many rows all columns have. It is heeded when the table is opened and settled by the next
//! edit. The first column, whose length bcolz believes, grows last. A table that others left with columns of different
//! length is refused by [`CTable::open`]; [`CTable::repair`] cuts it to the shortest.
#![deny(clippy::indexing_slicing, clippy::arithmetic_side_effects)]

use super::carray::{CArray, Create, read_attrs};
use super::descriptor::{default_item, invalid, read_json, write_json};
use super::tree::{Announced, PENDING, Tree, Uncounted, announce, check_column, check_columns, discard};
use crate::dtype::{Dtype, Field, Struct};
use crate::error::{Error, IoKind, Structure};
use crate::io::ReadAt;
use crate::limits::Limits;
use crate::packed::{self, ColumnRange, Strided};
use crate::plain::{Content, Piece, Plain, check_range};
use crate::rows::{Rows, count, growth};
use crate::value::Value;
use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;
use blosc_core::Pool;
use core::ops::Range;

/// Columns of equal length.
pub struct CTable<T> {
    root: T,
    columns: Vec<(String, CArray<T>)>,
    attrs: Value,
    limits: Limits,
    durable: bool,
    /// What `__pending__` says: rows were being added, and that stopped before its last step.
    pending: Announced,
}

impl<T: Tree> CTable<T> {
    /// Opens the table in `root`.
    ///
    /// # Errors
    /// Names that are not plain path components or occur twice; columns that cannot be opened or have
    /// different lengths.
    pub fn open(root: T, limits: &Limits) -> Result<CTable<T>, Error> {
        let table = CTable::open_ragged(root, limits)?;
        let rows = table.rows();
        for (_, column) in &table.columns {
            if column.rows() != rows {
                return invalid(
                    "rows (columns differ in length)",
                    i64::try_from(column.rows()).unwrap_or(i64::MAX),
                );
            }
        }
        Ok(table)
    }

    /// Opens a table whose columns may differ in length; only [`CTable::repair`] and the columns are of use.
    ///
    /// # Errors
    /// Malformed or missing descriptors of the table or a column; object dtypes.
    pub fn open_ragged(root: T, limits: &Limits) -> Result<CTable<T>, Error> {
        let (columns, pending) = read_columns(&root, limits)?;
        let attrs = read_attrs(&root)?;
        Ok(CTable { root, columns, attrs, limits: *limits, durable: true, pending })
    }

    /// Creates an empty table in the empty directory `root`.
    ///
    /// # Errors
    /// [`Error::Param`] for what a column cannot be; names that are not plain or not different; errors of the file system.
    pub fn create(
        root: T,
        columns: &[(String, Create)],
        attrs: Value,
        limits: &Limits,
    ) -> Result<CTable<T>, Error> {
        let names: Vec<String> = columns.iter().map(|(name, _)| name.clone()).collect();
        check_columns(&names)?;
        let mut made = Vec::new();
        for (name, create) in columns {
            made.push((name.clone(), CArray::create(root.make(name)?, create, limits)?));
        }
        // No edit of rows writes them again, so they wait for the disk here.
        write_json(&root, "__attrs__", &attrs, true)?;
        let table =
            CTable { root, columns: made, attrs, limits: *limits, durable: true, pending: Announced::No };
        table.write_names(&names)?;
        Ok(table)
    }

    /// Whether each step waits for the disk.
    pub fn durable(mut self, durable: bool) -> Self {
        self.durable = durable;
        self.columns = self.columns.into_iter().map(|(n, c)| (n, c.durable(durable))).collect();
        self
    }

    /// Sets the bytes of room left behind each chunk that is written.
    pub fn reserve(mut self, bytes: u32) -> Self {
        self.set_reserve(bytes);
        self
    }

    fn write_names(&self, names: &[String]) -> Result<(), Error> {
        let names = Value::List(names.iter().map(|n| Value::text(n.clone())).collect());
        write_json(&self.root, "__rootdirs__", &Value::object([("names", names)]), self.durable)
    }

    /// Names and columns in order.
    pub fn columns(&self) -> impl Iterator<Item = (&str, &CArray<T>)> {
        self.columns.iter().map(|(name, column)| (name.as_str(), column))
    }

    /// One column.
    ///
    /// # Errors
    /// [`Error::NoSuchName`].
    pub fn column(&self, name: &str) -> Result<&CArray<T>, Error> {
        let found = self.columns.iter().find(|(n, _)| n == name).map(|(_, column)| column);
        found.ok_or(Error::NoSuchName { what: "column" })
    }

    /// User attributes of the table.
    pub fn attrs(&self) -> &Value {
        &self.attrs
    }

    /// The dtype of a packed row.
    ///
    /// # Errors
    /// A row larger than an item may be.
    pub fn dtype(&self) -> Result<Dtype, Error> {
        let mut fields = Vec::new();
        let mut offset = 0u32;
        let too_large =
            Error::Unsupported { structure: Structure::Bcolz, what: "a row larger than an item may be" };
        for (name, column) in &self.columns {
            let shape = column.shape().get(1..).unwrap_or_default();
            let dims: Option<Vec<u32>> = shape.iter().map(|&n| u32::try_from(n).ok()).collect();
            let base = column.storage().dtype.clone();
            let dtype = match dims {
                Some(dims) if dims.is_empty() => Some(base),
                Some(dims) => Dtype::array(base, dims),
                None => None,
            };
            let dtype = dtype.ok_or(too_large)?;
            let next = offset.checked_add(dtype.itemsize()).ok_or(too_large)?;
            fields.push(Field { name: name.clone(), title: None, offset, dtype });
            offset = next;
        }
        Ok(Dtype::Struct(Struct { fields, itemsize: offset, aligned: false }))
    }

    fn column_ranges(&self) -> Vec<ColumnRange> {
        packed::column_ranges(self.columns.iter().map(|(_, column)| column.row_nbytes()))
    }

    /// Before an edit of rows: completes what a writer left that died, and refuses rows that somebody else left.
    fn check_edit(&mut self, pool: &mut Pool) -> Result<(), Error> {
        if self.pending != Announced::No {
            self.columns.iter().try_for_each(|(_, column)| column.write_sizes())?;
        }
        for (_, column) in &self.columns {
            // What is said of the table is said of each column.
            let said =
                if self.pending == Announced::No { Announced::No } else { Announced::Rows(column.rows()) };
            column.check_edit(pool, said)?;
        }
        discard(&self.root, PENDING)?;
        self.pending = Announced::No;
        Ok(())
    }

    /// Makes new content of the columns, one for each, in one step.
    fn change(&mut self, pool: &mut Pool, contents: &[Content<'_>]) -> Result<(), Error> {
        let adds = |(column, content): (&CArray<T>, &Content<'_>)| content.changed().start >= column.nbytes();
        if !self.columns.iter().map(|(_, column)| column).zip(contents).all(adds) {
            return self.rewrite(|new, old| {
                for (((_, new), (_, old)), content) in new.columns.iter_mut().zip(&old.columns).zip(contents)
                {
                    let sizes = new.prepare(pool, content, old)?;
                    new.commit(sizes)?;
                    new.tidy(pool)?;
                }
                Ok(())
            });
        }
        if self.durable {
            announce(&self.root, self.rows(), false)?;
            self.pending = Announced::Rows(self.rows());
        }
        let mut all = Vec::new();
        for ((_, column), content) in self.columns.iter().zip(contents) {
            all.push(column.prepare(pool, content, column)?);
        }
        if let (true, Some(sizes)) = (self.durable, all.first()) {
            announce(&self.root, sizes.rows(), true)?;
            self.pending = Announced::Rows(sizes.rows());
        }
        for ((_, column), sizes) in self.columns.iter_mut().zip(all).rev() {
            column.commit(sizes)?;
        }
        discard(&self.root, PENDING)?;
        self.pending = Announced::No;
        Ok(())
    }

    /// Has `edit` change a second table that has the files of this one, which then takes its place.
    fn rewrite(&mut self, edit: impl FnOnce(&mut Self, &Self) -> Result<(), Error>) -> Result<(), Error> {
        let (old, limits) = (&*self, self.limits);
        old.root.rewrite(|dir| {
            let mut new = CTable::open_ragged(dir, &limits)?.durable(false);
            for ((_, new), (_, old)) in new.columns.iter_mut().zip(&old.columns) {
                new.prepare_like(old)?;
            }
            edit(&mut new, old)
        })?;
        self.reload()
    }

    /// Opens what the directory holds now.
    fn reload(&mut self) -> Result<(), Error> {
        let (mut columns, pending) = read_columns(&self.root, &self.limits)?;
        for ((_, new), (_, old)) in columns.iter_mut().zip(&self.columns) {
            new.prepare_like(old)?;
        }
        self.columns = columns.into_iter().map(|(n, c)| (n, c.durable(self.durable))).collect();
        self.pending = pending;
        Ok(())
    }

    /// Cuts all columns to the length of the shortest; returns that length.
    ///
    /// # Errors
    /// A chunk that is cut and damaged; errors of the file system.
    pub fn repair(&mut self, pool: &mut Pool) -> Result<u64, Error> {
        let rows = self.columns.iter().map(|(_, column)| column.rows()).min().unwrap_or(0);
        self.settle(pool, rows)?;
        Ok(rows)
    }

    /// What lies in the directories of the columns beside the rows that count: as many rows as all of them have, and all
    /// files. Of a writer that is at work, or died while it added rows, this knows nothing.
    ///
    /// # Errors
    /// Errors of the file system.
    pub fn uncounted(&self) -> Result<Uncounted, Error> {
        if self.pending != Announced::No {
            return Ok(Uncounted::default());
        }
        let all = self.columns.iter().map(|(_, column)| column.beside());
        Ok(Uncounted::of_all(all.collect::<Result<_, _>>()?))
    }

    /// Has `rows` rows count, of those that all columns have on disk, and removes the others.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] for more rows than are there; chunks that are damaged.
    pub fn settle(&mut self, pool: &mut Pool, rows: u64) -> Result<(), Error> {
        self.rewrite(|new, _| {
            new.columns.iter_mut().try_for_each(|(_, column)| column.settle_here(pool, rows))?;
            discard(&new.root, PENDING)
        })
    }

    fn names(&self) -> Vec<String> {
        self.columns.iter().map(|(name, _)| name.clone()).collect()
    }

    /// Adds a column filled with `data`, one row for each row of the table.
    ///
    /// # Errors
    /// A name that is taken or not a plain path component; another number of rows. Nothing is left behind.
    pub fn add_column(
        &mut self,
        pool: &mut Pool,
        name: &str,
        create: &Create,
        data: &dyn ReadAt,
    ) -> Result<(), Error> {
        self.check_new_name(name)?;
        self.check_edit(pool)?;
        self.rewrite(|new, old| {
            let mut column = CArray::create(new.root.make(name)?, create, &old.limits)?.durable(false);
            column.append(pool, data)?;
            let (rows, want) = (column.rows(), old.rows());
            if rows != want && !old.columns.is_empty() {
                return Err(Error::OutOfRange { what: "row", index: rows, len: want });
            }
            new.write_names(&[old.names(), vec![name.into()]].concat())
        })
    }

    /// Removes a column and its data.
    ///
    /// # Errors
    /// [`Error::NoSuchName`]; errors of the file system.
    pub fn remove_column(&mut self, name: &str) -> Result<(), Error> {
        self.column(name)?;
        self.rewrite(|new, old| {
            new.write_names(&old.names().into_iter().filter(|n| n != name).collect::<Vec<_>>())?;
            Ok(new.root.remove_tree(name)?)
        })
    }

    /// Gives a column another name.
    ///
    /// # Errors
    /// [`Error::NoSuchName`]; a new name that is taken or not a plain path component; errors of the file system.
    pub fn rename_column(&mut self, name: &str, to: &str) -> Result<(), Error> {
        self.column(name)?;
        self.check_new_name(to)?;
        self.rewrite(|new, old| {
            new.root.rename(name, to)?;
            let new_name = |n: String| if n == name { String::from(to) } else { n };
            new.write_names(&old.names().into_iter().map(new_name).collect::<Vec<_>>())
        })
    }

    fn check_new_name(&self, name: &str) -> Result<(), Error> {
        check_column(name)?;
        match self.columns.iter().any(|(n, _)| n == name) || self.root.enter(name).is_ok() {
            true => Err(IoKind::AlreadyExists.into()),
            false => Ok(()),
        }
    }

    /// Checks every chunk of every column.
    ///
    /// # Errors
    /// Only what keeps a directory from being read at all.
    pub fn verify(&self, pool: &mut Pool) -> Result<Vec<(String, u64, Error)>, Error> {
        let mut damaged = Vec::new();
        for (name, column) in &self.columns {
            let found = column.verify(pool)?;
            damaged.extend(found.into_iter().map(|(i, error)| (name.clone(), i, error)));
        }
        Ok(damaged)
    }
}

/// Opens the columns, in order.
#[allow(clippy::type_complexity, reason = "the fields of a table")]
fn read_columns<T: Tree>(root: &T, limits: &Limits) -> Result<(Vec<(String, CArray<T>)>, Announced), Error> {
    let Some(dirs) = read_json(root, "__rootdirs__")? else { return invalid("__rootdirs__ (missing)", 0) };
    let names = dirs.get("names").and_then(Value::as_list);
    let names: Option<Vec<String>> =
        names.and_then(|names| names.iter().map(|n| n.as_text().map(String::from)).collect());
    let Some(names) = names else { return invalid("names", 0) };
    check_columns(&names)?;
    let pending = Announced::read(root)?;
    let mut columns = Vec::new();
    for name in names {
        let mut column = CArray::open(root.enter(&name)?, limits)?;
        if let Announced::Rows(rows) = pending {
            column.assume_rows(rows);
        }
        columns.push((name, column));
    }
    Ok((columns, pending))
}

impl<T: Tree> Plain for CTable<T> {
    fn nbytes(&self) -> u64 {
        self.rows().saturating_mul(self.row_nbytes())
    }

    fn read_plain(&self, pool: &mut Pool, at: u64, out: &mut [u8]) -> Result<(), Error> {
        check_range(at, out.len(), self.nbytes())?;
        let columns: Vec<&dyn Plain> = self.columns.iter().map(|(_, column)| column as &dyn Plain).collect();
        packed::read(&columns, &self.column_ranges(), self.row_nbytes(), pool, at, out)
    }

    fn chunk_nbytes(&self) -> u64 {
        // As many rows as the first column has in a chunk, but never an absurd amount of memory.
        let rows = self.columns.first().map_or(1, |(_, column)| column.storage().chunklen);
        let row = self.row_nbytes().max(1);
        rows.saturating_mul(row).min(row.max((1u64 << 22).checked_div(row).unwrap_or(1).saturating_mul(row)))
    }
}

impl<T: Tree> Rows for CTable<T> {
    fn row_nbytes(&self) -> u64 {
        self.columns.iter().fold(0, |n, (_, column)| n.saturating_add(column.row_nbytes()))
    }

    fn rows(&self) -> u64 {
        self.columns.first().map_or(0, |(_, column)| column.rows())
    }

    fn splice(&mut self, pool: &mut Pool, rows: Range<u64>, data: &dyn ReadAt) -> Result<(), Error> {
        let row = self.row_nbytes();
        let count = count(row, data)?;
        self.check_edit(pool)?;
        let column_ranges = self.column_ranges();
        let strided = |range: &ColumnRange| Strided { data, row, range: *range, rows: count };
        let sources: Vec<_> = column_ranges.iter().map(strided).collect();
        let mut contents = Vec::new();
        for (((_, column), place), source) in self.columns.iter().zip(&column_ranges).zip(&sources) {
            let pieces = vec![Piece::New(source, 0..count.saturating_mul(place.len))];
            let range = rows.start.saturating_mul(place.len)..rows.end.saturating_mul(place.len);
            contents.push(Content::splice(column.nbytes(), range, pieces)?);
        }
        self.change(pool, &contents)
    }

    fn resize(&mut self, pool: &mut Pool, rows: u64) -> Result<(), Error> {
        self.check_edit(pool)?;
        let (mut items, mut ranges) = (Vec::new(), Vec::new());
        for (_, column) in &self.columns {
            column.check_growth(rows)?;
            ranges.push(growth(column.nbytes(), column.row_nbytes(), rows)?);
            items.push(default_item(&column.storage().dtype, &column.storage().dflt));
        }
        let mut contents = Vec::new();
        for (((_, column), (range, more)), item) in self.columns.iter().zip(ranges).zip(&items) {
            contents.push(Content::splice(column.nbytes(), range, vec![Piece::Fill(item, more)])?);
        }
        self.change(pool, &contents)
    }

    fn set_reserve(&mut self, bytes: u32) {
        self.columns.iter_mut().for_each(|(_, column)| column.set_reserve(bytes));
    }

    fn set_in_place(&mut self, pool: &mut Pool, row: u64, data: &dyn ReadAt) -> Result<(), Error> {
        let bytes = self.row_nbytes();
        let rows = count(bytes, data)?;
        self.check_edit(pool)?;
        let column_ranges = self.column_ranges();
        let mut all = Vec::new();
        for ((_, column), place) in self.columns.iter().zip(column_ranges) {
            all.push(column.fit(pool, row, &Strided { data, row: bytes, range: place, rows })?);
        }
        self.columns.iter_mut().zip(all).try_for_each(|((_, column), fitting)| column.put_fitting(fitting))
    }
}
