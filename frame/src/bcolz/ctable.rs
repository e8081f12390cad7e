//! A ctable: columns of equal length in one directory (docs/formats/bcolz.md §3).
//!
//! ```text
//! root/ __rootdirs__ {"names": ["x", "y"]}   __attrs__   x/ (a carray)   y/ (a carray)
//!
//! append, resize:  chunk files of all columns → __pending__ {"rows": N} → sizes of each → no __pending__
//! rename a column: __pending__ {"rename": ["x", "z"]} → x/ becomes z/ → __rootdirs__ → no __pending__
//! ```
//! Its decoded bytes are packed rows in column order. Columns change together: `__pending__`, a file of ours
//! that bcolz does not look for, says what they have in common where a crash came between two of them; it
//! is heeded when the table is opened and settled by the next edit. The first column, whose length bcolz
//! believes, grows last and shrinks first. A table that others left with columns of different length is
//! refused by [`CTable::open`]; [`CTable::repair`] cuts it to the shortest.
#![deny(clippy::indexing_slicing, clippy::arithmetic_side_effects)]

use super::carray::{CArray, Create, growth, read_attrs};
use super::descriptor::{Sizes, default_item, invalid, read_json, write_json};
use super::tree::{PENDING, Tree, check_column, check_columns, discard};
use crate::dtype::{Dtype, Field, Struct};
use crate::error::{Error, IoKind, Structure};
use crate::io::ReadAt;
use crate::limits::Limits;
use crate::packed::{self, ColumnRange, Strided};
use crate::plain::{Piece, Plain, check_range};
use crate::rows::{Rows, count};
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
    /// Whether `__pending__` is there: an edit stopped before its last step.
    pending: bool,
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
        let Some(dirs) = read_json(&root, "__rootdirs__")? else {
            return invalid("__rootdirs__ (missing)", 0);
        };
        let names = dirs.get("names").and_then(Value::as_list);
        let names: Option<Vec<String>> =
            names.and_then(|names| names.iter().map(|n| n.as_text().map(String::from)).collect());
        let Some(names) = names else { return invalid("names", 0) };
        check_columns(&names)?;
        let attrs = read_attrs(&root)?;
        let pending = read_json(&root, PENDING)?;
        let mut columns = Vec::new();
        for name in names {
            let (name, dir) = match root.enter(&name) {
                Err(e) if e.kind == IoKind::NotFound => {
                    // Renamed already, while `__rootdirs__` still has the old name.
                    let to = pending.as_ref().and_then(|p| new_name(p, &name)).ok_or(e)?;
                    let dir = root.enter(&to)?;
                    (to, dir)
                }
                other => (name, other?),
            };
            columns.push((name, CArray::open(dir, limits)?));
        }
        if let Some(rows) = pending.as_ref().and_then(|p| p.get("rows")).and_then(Value::as_u64) {
            columns.iter_mut().for_each(|(_, column)| column.assume_rows(rows));
        }
        let pending = pending.is_some();
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
        let table = CTable { root, columns: made, attrs, limits: *limits, durable: true, pending: false };
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

    /// Says what is about to happen to all columns.
    fn announce(&mut self, what: &Value) -> Result<(), Error> {
        write_json(&self.root, PENDING, what, self.durable)?;
        self.pending = true;
        Ok(())
    }

    fn announced(&mut self) -> Result<(), Error> {
        discard(&self.root, PENDING)?;
        self.pending = false;
        Ok(())
    }

    /// Completes an edit that a crash stopped.
    fn complete_pending(&mut self) -> Result<(), Error> {
        if !self.pending {
            return Ok(());
        }
        self.columns.iter().try_for_each(|(_, column)| column.write_sizes())?;
        let names: Vec<String> = self.columns.iter().map(|(n, _)| n.clone()).collect();
        self.write_names(&names)?;
        self.announced()
    }

    /// Makes what the columns prepared count, for all of them or none.
    fn commit(&mut self, sizes: Vec<Sizes>) -> Result<(), Error> {
        let Some(rows) = sizes.first().map(Sizes::rows) else { return Ok(()) };
        let before = self.rows();
        let several = rows != before && sizes.len() > 1;
        if several {
            self.announce(&Value::object([("rows", Value::int(rows))]))?;
        }
        let mut all: Vec<_> = self.columns.iter_mut().map(|(_, column)| column).zip(sizes).collect();
        if rows > before {
            all.reverse();
        }
        all.into_iter().try_for_each(|(column, sizes)| column.commit(sizes))?;
        if several { self.announced() } else { Ok(()) }
    }

    /// Cuts all columns to the length of the shortest; returns that length.
    ///
    /// # Errors
    /// A chunk that is cut and damaged; errors of the file system.
    pub fn repair(&mut self, pool: &mut Pool) -> Result<u64, Error> {
        self.complete_pending()?;
        let rows = self.columns.iter().map(|(_, column)| column.rows()).min().unwrap_or(0);
        for (_, column) in &mut self.columns {
            column.resize(pool, rows)?;
        }
        Ok(rows)
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
        check_column(name)?;
        if self.columns.iter().any(|(n, _)| n == name) {
            return Err(IoKind::AlreadyExists.into());
        }
        self.complete_pending()?;
        let made = self.root.make(name)?;
        let added = CArray::create(made, create, &self.limits).and_then(|column| {
            let mut column = column.durable(self.durable);
            column.append(pool, data)?;
            let (rows, want) = (column.rows(), self.rows());
            if rows != want && !self.columns.is_empty() {
                return Err(Error::OutOfRange { what: "row", index: rows, len: want });
            }
            Ok(column)
        });
        let names = self.columns.iter().map(|(n, _)| n.clone()).chain([name.into()]).collect::<Vec<_>>();
        let column =
            added.and_then(|column| self.write_names(&names).map(|()| column)).inspect_err(|_| {
                let _ = self.root.remove_tree(name);
            })?;
        self.columns.push((name.into(), column));
        Ok(())
    }

    /// Removes a column and its data.
    ///
    /// # Errors
    /// [`Error::NoSuchName`]; errors of the file system.
    pub fn remove_column(&mut self, name: &str) -> Result<(), Error> {
        self.column(name)?;
        self.complete_pending()?;
        let names: Vec<String> = self.columns.iter().map(|(n, _)| n.clone()).filter(|n| n != name).collect();
        self.write_names(&names)?;
        self.columns.retain(|(n, _)| n != name);
        Ok(self.root.remove_tree(name)?)
    }

    /// Gives a column another name.
    ///
    /// # Errors
    /// [`Error::NoSuchName`]; a new name that is taken or not a plain path component; errors of the file system.
    pub fn rename_column(&mut self, name: &str, to: &str) -> Result<(), Error> {
        check_column(to)?;
        self.column(name)?;
        if self.columns.iter().any(|(n, _)| n == to) || self.root.enter(to).is_ok() {
            return Err(IoKind::AlreadyExists.into());
        }
        self.complete_pending()?;
        let new = |n: &String| if n == name { String::from(to) } else { n.clone() };
        let names: Vec<String> = self.columns.iter().map(|(n, _)| new(n)).collect();
        self.announce(&Value::object([("rename", Value::List(vec![Value::text(name), Value::text(to)]))]))?;
        self.root.rename(name, to)?;
        self.root.sync()?;
        self.write_names(&names)?;
        self.announced()?;
        let moved = CArray::open(self.root.enter(to)?, &self.limits)?.durable(self.durable);
        if let Some(slot) = self.columns.iter_mut().find(|(n, _)| n == name) {
            *slot = (to.into(), moved);
        }
        Ok(())
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

/// What a column is called after the renaming that was announced.
fn new_name(pending: &Value, name: &str) -> Option<String> {
    match pending.get("rename")?.as_list()? {
        [from, to] if from.as_text() == Some(name) => {
            let to = to.as_text()?;
            check_column(to).ok().map(|()| to.into())
        }
        _ => None,
    }
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
        self.complete_pending()?;
        let column_ranges = self.column_ranges();
        let mut sizes = Vec::new();
        for ((_, column), place) in self.columns.iter_mut().zip(&column_ranges) {
            let source = Strided { data, row, range: *place, rows: count };
            let pieces = vec![Piece::New(&source, 0..count.saturating_mul(place.len))];
            let range = rows.start.saturating_mul(place.len)..rows.end.saturating_mul(place.len);
            sizes.push(column.prepare(pool, range, pieces)?);
        }
        self.commit(sizes)
    }

    fn resize(&mut self, pool: &mut Pool, rows: u64) -> Result<(), Error> {
        self.complete_pending()?;
        let mut sizes = Vec::new();
        for (_, column) in &mut self.columns {
            column.check_growth(rows)?;
            let (range, more) = growth(column.nbytes(), column.row_nbytes(), rows)?;
            let item = default_item(&column.storage().dtype, &column.storage().dflt);
            sizes.push(column.prepare(pool, range, vec![Piece::Fill(&item, more)])?);
        }
        self.commit(sizes)
    }

    fn set_reserve(&mut self, bytes: u32) {
        self.columns.iter_mut().for_each(|(_, column)| column.set_reserve(bytes));
    }

    fn set_in_place(&mut self, pool: &mut Pool, row: u64, data: &dyn ReadAt) -> Result<(), Error> {
        let bytes = self.row_nbytes();
        let rows = count(bytes, data)?;
        self.complete_pending()?;
        let column_ranges = self.column_ranges();
        let mut all = Vec::new();
        for ((_, column), place) in self.columns.iter().zip(column_ranges) {
            all.push(column.fit(pool, row, &Strided { data, row: bytes, range: place, rows })?);
        }
        self.columns.iter_mut().zip(all).try_for_each(|((_, column), fitting)| column.put_fitting(fitting))
    }
}
