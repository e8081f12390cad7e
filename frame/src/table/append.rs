//! Rows appended to a table that lies in a folder.
//!
//! ```text
//! look at the table, or refuse it by name → fit the first rows to its columns, or refuse them
//! append to every column, batch by batch → mark indexes as out of date → `_valid_rows`
//! ```
//! The folder is a copy that no other process sees: it takes the place of the table when all is done.

use super::batches::Table;
use super::encode::{New, Takes};
use super::error::{Result, TableError};
use super::place::{self, Folder, META, VALID, vlmeta};
use super::rows::Rows;
use super::schema::{Column, Kind};
use super::write::{ColumnWriter, cut};
use crate::msgpack;
use crate::value::{TextLimits, Value};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use arrow_schema::Fields;
use std::path::Path;

/// A table that rows are appended to, and the first of them.
pub struct Appending<'r> {
    table: Table,
    rows: &'r mut dyn Rows,
    /// What each column takes.
    takes: Vec<Takes>,
    fields: Fields,
    /// Rows it has: what is stored behind them has never lived.
    end: u64,
    first: Option<(Vec<New>, u64)>,
}

impl<'r> Appending<'r> {
    /// Looks at the table and at the first of the rows; nothing is changed yet.
    ///
    /// # Errors
    /// A table that is not appended to, and rows that do not fit, by their names.
    pub fn new(table: Table, rows: &'r mut dyn Rows) -> Result<Appending<'r>> {
        let (takes, end) = appendable(&table)?;
        let names = rows.names();
        if let Some(name) = names.iter().find(|name| !takes.iter().any(|takes| takes.field.name() == *name)) {
            return Err(TableError::Data(format!("the table has no column {name}")));
        }
        if let Some(takes) = takes.iter().find(|takes| !names.contains(takes.field.name())) {
            return Err(TableError::Data(format!(
                "what is appended has no field for column {}",
                takes.field.name()
            )));
        }
        let fields = takes.iter().map(|takes| takes.field.clone()).collect();
        let mut appending = Appending { table, rows, takes, fields, end, first: None };
        appending.first = appending.next()?;
        Ok(appending)
    }

    /// Whether there is no row to append.
    pub fn is_empty(&self) -> bool {
        self.first.is_none()
    }

    /// The next rows, as the columns store them, and how many.
    fn next(&mut self) -> Result<Option<(Vec<New>, u64)>> {
        let Some(batch) = self.rows.next(&self.fields)? else { return Ok(None) };
        let encode = |(takes, array): (&Takes, &_)| {
            takes.encode(array).map_err(|wrong| {
                let (row, column) = (self.rows.place(wrong.row), takes.field.name());
                TableError::Data(format!("{row}, column {column}: {}", wrong.what))
            })
        };
        let new = self.takes.iter().zip(batch.columns()).map(encode).collect::<Result<_>>()?;
        Ok(Some((new, batch.num_rows() as u64)))
    }

    /// Appends the rows to the table in `folder`, which is a copy of the one looked at and seen by no other process.
    ///
    /// # Errors
    /// Errors of the files; rows that do not fit.
    pub fn run(mut self, folder: &Path) -> Result<u64> {
        let Some(mut batch) = self.first.take() else { return Ok(0) };
        let folder = Folder::private(folder);
        let columns = self.table.schema.columns.clone();
        let writers = columns.iter().map(|column| ColumnWriter::open(&folder, column, self.end));
        let mut writers: Vec<ColumnWriter<'_>> = writers.collect::<Result<_>>()?;
        let mut valid = place::array(&folder, VALID)?;
        cut(&mut valid, self.end).map_err(TableError::of(VALID))?;
        let mut total = 0u64;
        loop {
            for (writer, new) in writers.iter_mut().zip(batch.0) {
                writer.append(new)?;
            }
            let lives = alloc::vec![1; usize::try_from(batch.1).unwrap_or(0)];
            valid.append(0, &lives).map_err(TableError::of(VALID))?;
            total = total.saturating_add(batch.1);
            batch = match self.next()? {
                Some(next) => next,
                None => break,
            };
        }
        writers.into_iter().try_for_each(ColumnWriter::finish)?;
        describe(&folder, self.table.rows.saturating_add(total))?;
        valid.commit().map_err(TableError::of(VALID))?;
        Ok(total)
    }
}

/// Appends rows to the table in a folder that no other process sees; gives how many.
///
/// # Errors
/// As [`Appending::new`] and [`Appending::run`].
pub fn append(folder: &Path, rows: &mut dyn Rows, max_output: u64) -> Result<u64> {
    Appending::new(Table::open(Folder::private(folder), max_output)?, rows)?.run(folder)
}

/// Refuses a table whose rows are not appended to; gives what its columns take, and how many rows it has.
fn appendable(table: &Table) -> Result<(Vec<Takes>, u64)> {
    let mut wrong: Vec<String> = Vec::new();
    let (mut takes, mut rows) = (Vec::new(), Vec::new());
    if table.schema.columns.is_empty() {
        wrong.push("it has no columns".into());
    }
    for name in &table.schema.generated {
        wrong.push(format!("column {name} is generated from others"));
    }
    for column in &table.schema.columns {
        if let Kind::Unknown(kind) = &column.kind {
            wrong.push(format!("column {} is of kind {kind}", column.name));
            continue;
        }
        let reader = table.column(column)?;
        match Takes::of(column, &reader) {
            Err(why) => wrong.push(format!("column {} {why}", column.name)),
            Ok(taken) => {
                takes.push(taken);
                rows.push((column, reader.rows()));
            }
        }
    }
    if let Some(kind) = other_index(table)? {
        wrong.push(format!("it has an index of kind {kind}"));
    }
    if !wrong.is_empty() {
        return Err(TableError::Unable(format!("is not appended to: {}", wrong.join("; "))));
    }
    // Arrays may have room behind the last row that lives, or end there, while values of their own lengths keep rows that
    // were deleted, and are not cut.
    let listed = |column: &Column| column.kind.is_listed();
    let end = rows.iter().find(|(column, _)| listed(column)).map_or(table.last, |(_, count)| *count);
    let wrong = |(column, count): &&(&Column, u64)| *count < table.last || (listed(column) && *count != end);
    match rows.iter().find(wrong) {
        Some((column, count)) => {
            let text = format!("column {} has {count} rows, the table {}", column.name, end.max(table.last));
            Err(TableError::Data(format!("{text}: it was not closed by its writer")))
        }
        None => Ok((takes, end)),
    }
}

/// The kind of an index that is no summary, which python-blosc2 makes anew when the table is closed.
fn other_index(table: &Table) -> Result<Option<String>> {
    let catalog = vlmeta(&place::frame(table.place(), META, "b2f")?, "index_catalog", META)?;
    let kinds = catalog.as_ref().and_then(Value::as_object).unwrap_or_default().iter();
    let mut kinds = kinds.map(|(_, index)| index.get("kind").and_then(Value::as_text).unwrap_or("unknown"));
    Ok(kinds.find(|kind| *kind != "summary").map(Into::into))
}

/// Says in the description how many rows live, and that indexes are out of date, as python-blosc2 does when it appends.
fn describe(folder: &Folder, rows: u64) -> Result<()> {
    let mut frame = place::frame(folder, META, "b2f")?;
    let text = vlmeta(&frame, "schema", META)?;
    let text = text.as_ref().and_then(Value::as_text).unwrap_or("");
    let mut schema = Value::parse_json(text.as_bytes(), &TextLimits::JSON)
        .map_err(|error| TableError::Data(format!("{META}: schema: {error}")))?;
    schema.set("n_rows", Value::int(rows));
    let epoch = vlmeta(&frame, "value_epoch", META)?.and_then(|epoch| epoch.as_u64()).unwrap_or(0);
    let catalog = vlmeta(&frame, "index_catalog", META)?;
    let mut set = |name: &str, value: &Value| {
        frame.set_vlmetalayer(name, &msgpack::from_value(value)).map_err(TableError::of(META))
    };
    set("schema", &Value::text(schema.to_json()))?;
    set("value_epoch", &Value::int(epoch.saturating_add(1)))?;
    if let Some(Value::Object(mut indexes)) = catalog {
        for (_, index) in &mut indexes {
            index.set("stale", Value::Bool(true));
        }
        set("index_catalog", &Value::Object(indexes))?;
    }
    frame.commit().map_err(TableError::of(META))
}
