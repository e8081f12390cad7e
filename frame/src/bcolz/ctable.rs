//! A ctable: columns of equal length in one directory (format document §3).
//!
//! ```text
//! root/ __rootdirs__ {"names": ["x", "y"]}   __attrs__   x/ (a carray)   y/ (a carray)
//! ```
//! Its decoded bytes are packed rows in column order. Columns change together: the chunk files of all of
//! them first, then the `sizes` of each; a crash between two of those leaves columns of different length,
//! which [`CTable::open`] reports and [`CTable::repair`] cuts to the shortest.
#![deny(clippy::indexing_slicing, clippy::arithmetic_side_effects)]

use super::carray::{CArray, Create, read_attrs};
use super::descriptor::{default_item, invalid, read_json, write_json};
use super::tree::{Tree, check_column, check_columns};
use crate::b2nd::dtype::{Dtype, Field, Struct};
use crate::error::{Error, IoKind, Structure};
use crate::io::ReadAt;
use crate::limits::Limits;
use crate::packed::{self, Place, Strided};
use crate::plain::{Piece, Plain, check_range};
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
        let mut columns = Vec::new();
        for name in names {
            let column = CArray::open(root.enter(&name)?, limits)?;
            columns.push((name, column));
        }
        Ok(CTable { root, columns, attrs, limits: *limits, durable: true })
    }

    /// Creates an empty table in the empty directory `root`.
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
        write_json(&root, "__attrs__", &attrs, false)?;
        let table = CTable { root, columns: made, attrs, limits: *limits, durable: true };
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
        self.columns = self.columns.into_iter().map(|(n, c)| (n, c.reserve(bytes))).collect();
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

    /// Number of rows.
    pub fn rows(&self) -> u64 {
        self.columns.first().map_or(0, |(_, column)| column.rows())
    }

    /// Bytes of a packed row.
    pub fn row_nbytes(&self) -> u64 {
        self.columns.iter().fold(0, |n, (_, column)| n.saturating_add(column.row_nbytes()))
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

    fn places(&self) -> Vec<Place> {
        packed::places(self.columns.iter().map(|(_, column)| column.row_nbytes()))
    }

    /// Adds packed rows at the end.
    pub fn append(&mut self, pool: &mut Pool, data: &dyn ReadAt) -> Result<(), Error> {
        let rows = self.rows();
        self.splice(pool, rows..rows, data)
    }

    /// Overwrites packed rows from `row` on.
    pub fn set(&mut self, pool: &mut Pool, row: u64, data: &dyn ReadAt) -> Result<(), Error> {
        let n = data.size()?.checked_div(self.row_nbytes()).unwrap_or(0);
        self.splice(pool, row..row.saturating_add(n), data)
    }

    /// Removes rows; those behind them move up.
    pub fn remove(&mut self, pool: &mut Pool, rows: Range<u64>) -> Result<(), Error> {
        self.splice(pool, rows, &[0u8; 0].as_slice())
    }

    /// Takes `rows` rows off the end.
    pub fn trim(&mut self, pool: &mut Pool, rows: u64) -> Result<(), Error> {
        match self.rows().checked_sub(rows) {
            Some(left) => self.resize(pool, left),
            None => Err(Error::OutOfRange { what: "row", index: rows, len: self.rows() }),
        }
    }

    /// Replaces rows by packed rows.
    pub fn splice(&mut self, pool: &mut Pool, rows: Range<u64>, data: &dyn ReadAt) -> Result<(), Error> {
        let (size, row) = (data.size()?, self.row_nbytes());
        let Some(count) = size.checked_div(row).filter(|n| n.checked_mul(row) == Some(size)) else {
            let value = i64::try_from(size).unwrap_or(i64::MAX);
            return Err(Error::Param { name: "bytes", value, allowed: "whole rows" });
        };
        let places = self.places();
        let mut sizes = Vec::new();
        for ((_, column), place) in self.columns.iter_mut().zip(&places) {
            let source = Strided { data, row, place: *place, rows: count };
            let pieces = vec![Piece::New(&source, 0..count.saturating_mul(place.len))];
            let range = rows.start.saturating_mul(place.len)..rows.end.saturating_mul(place.len);
            sizes.push(column.prepare(pool, range, pieces)?);
        }
        for ((_, column), sizes) in self.columns.iter_mut().zip(sizes) {
            column.commit(sizes)?;
        }
        Ok(())
    }

    /// Cuts rows off the end or adds rows of the columns' default values.
    pub fn resize(&mut self, pool: &mut Pool, rows: u64) -> Result<(), Error> {
        let mut sizes = Vec::new();
        for (_, column) in &mut self.columns {
            let (atom, old) = (column.row_nbytes(), column.nbytes());
            let Some(new) = rows.checked_mul(atom) else {
                return invalid("rows", i64::try_from(rows).unwrap_or(i64::MAX));
            };
            let item = default_item(&column.storage().dtype, &column.storage().dflt);
            let pieces = match new.checked_sub(old) {
                Some(more) if more > 0 => vec![Piece::Fill(&item, more)],
                _ => Vec::new(),
            };
            sizes.push(column.prepare(pool, new.min(old)..old, pieces)?);
        }
        for ((_, column), sizes) in self.columns.iter_mut().zip(sizes) {
            column.commit(sizes)?;
        }
        Ok(())
    }

    /// Cuts all columns to the length of the shortest; returns that length.
    pub fn repair(&mut self, pool: &mut Pool) -> Result<u64, Error> {
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
    pub fn remove_column(&mut self, name: &str) -> Result<(), Error> {
        self.column(name)?;
        let names: Vec<String> = self.columns.iter().map(|(n, _)| n.clone()).filter(|n| n != name).collect();
        self.write_names(&names)?;
        self.columns.retain(|(n, _)| n != name);
        Ok(self.root.remove_tree(name)?)
    }

    /// Gives a column another name.
    pub fn rename_column(&mut self, name: &str, to: &str) -> Result<(), Error> {
        check_column(to)?;
        self.column(name)?;
        if self.columns.iter().any(|(n, _)| n == to) || self.root.enter(to).is_ok() {
            return Err(IoKind::AlreadyExists.into());
        }
        self.root.rename(name, to)?;
        let new = |n: &String| if n == name { String::from(to) } else { n.clone() };
        let names: Vec<String> = self.columns.iter().map(|(n, _)| new(n)).collect();
        self.write_names(&names).inspect_err(|_| {
            let _ = self.root.rename(to, name);
        })?;
        let moved = CArray::open(self.root.enter(to)?, &self.limits)?.durable(self.durable);
        if let Some(slot) = self.columns.iter_mut().find(|(n, _)| n == name) {
            *slot = (to.into(), moved);
        }
        Ok(())
    }

    /// Checks every chunk of every column.
    pub fn verify(&self, pool: &mut Pool) -> Result<Vec<(String, u64, Error)>, Error> {
        let mut damaged = Vec::new();
        for (name, column) in &self.columns {
            let found = column.verify(pool)?;
            damaged.extend(found.into_iter().map(|(i, error)| (name.clone(), i, error)));
        }
        Ok(damaged)
    }
}

impl<T: Tree> Plain for CTable<T> {
    fn nbytes(&self) -> u64 {
        self.rows().saturating_mul(self.row_nbytes())
    }

    fn read_plain(&self, pool: &mut Pool, at: u64, out: &mut [u8]) -> Result<(), Error> {
        check_range(at, out.len(), self.nbytes())?;
        let columns: Vec<&dyn Plain> = self.columns.iter().map(|(_, column)| column as &dyn Plain).collect();
        packed::read(&columns, &self.places(), self.row_nbytes(), pool, at, out)
    }

    fn chunk_nbytes(&self) -> u64 {
        // As many rows as the first column has in a chunk, but never an absurd amount of memory.
        let rows = self.columns.first().map_or(1, |(_, column)| column.storage().chunklen);
        let row = self.row_nbytes().max(1);
        rows.saturating_mul(row).min(row.max((1u64 << 22).checked_div(row).unwrap_or(1).saturating_mul(row)))
    }
}
