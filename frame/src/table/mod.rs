//! Tables of python-blosc2 (`CTable`): a store whose columns lie under `_cols`, and whose `_valid_rows` says which rows
//! live. Rows that were deleted are left out. Batches of rows are Arrow's [`RecordBatch`], whether they come from a table,
//! go into one, or stand as text in a file.
//!
//! ```text
//! schema    which columns there are, from the description's JSON; their Arrow types
//! column    a stored column -> Arrow arrays; records: values of their own lengths
//! encode    Arrow arrays -> what a column stores, or why not; write: the files of a column
//! append    rows to a table in a folder; create: a new table there
//! values    MessagePack and JSON values -> Arrow arrays, exact or refused; exact: back, and between types
//! text      batches as CSV and JSON lines; lines: batches from them; infer: which types they have
//! ipc       batches as Arrow files, and from them; numpy: from and to the arrays of `.npz` files
//! ```
//!
//! # Example
//! ```
//! use blosc_frame::table::{Folder, Table, append, create, lines::TextReader};
//! # let folder = std::env::temp_dir().join(format!("blosc-table-{}", std::process::id()));
//! # std::fs::create_dir(&folder)?;
//! let text = "id,name\n1,one\n2,\n";
//! let open = || TextReader::new(Box::new(text.as_bytes()), true, 1 << 20);
//! let schema = blosc_frame::table::infer(&mut open()?)?;
//! create(&folder, &schema)?;
//! append(&folder, &mut open()?, 1 << 20)?;
//!
//! let place = Folder::read(&folder);
//! let mut table = Table::open(&place, 1 << 20)?;
//! let mut columns = table.columns(&place)?;
//! let batches: Vec<_> = table.batches(&mut columns, 0..2).collect::<Result<_, _>>()?;
//! assert_eq!((batches[0].num_rows(), batches[0].column(1).null_count()), (2, 1));
//! # std::fs::remove_dir_all(folder)?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! CSV and JSON are read and written here, not by `arrow-csv` and `arrow-json`: those take an empty text for a null, the
//! last of two values with one key, 1.5 for the integer 1, and write NaN as null.

mod append;
mod base64;
mod column;
mod create;
mod encode;
mod error;
mod exact;
mod infer;
pub mod ipc;
pub mod lines;
pub mod numpy;
mod place;
mod records;
mod schema;
pub mod text;
mod time;
mod values;
mod write;

#[cfg(test)]
mod tests;

pub use {arrow_array, arrow_schema};

pub use append::{Appending, append};
pub use column::ColumnReader;
pub use create::create;
pub use error::TableError;
pub use infer::infer;
pub use place::{Folder, Place};
pub use records::Records;
pub use schema::{Column, Kind, Schema};

use crate::b2nd::NdArray;
use crate::error::Error;
use crate::msgpack;
use crate::value::Value;
use alloc::format;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;
use arrow_array::{ArrayRef, RecordBatch};
use arrow_schema::Fields;
use core::ops::Range;

/// Bytes of rows decoded together, and the most rows.
pub(crate) const BATCH: u64 = 8 << 20;
const MOST_ROWS: u64 = 1 << 16;

/// What says which rows of a table live, without its extension.
pub const VALID: &str = "/_valid_rows";
/// What describes a table, without its extension.
pub const META: &str = "/_meta";

/// Result of everything here.
pub type Result<T> = core::result::Result<T, TableError>;

/// Rows that are to go into a table.
pub trait Rows {
    /// The names of their fields.
    fn names(&self) -> &[String];

    /// The next rows, which have these columns by their names; `None` at the end.
    ///
    /// # Errors
    /// What reading gives; values that are not of these types, by their place and column.
    fn next(&mut self, fields: &Fields) -> Result<Option<RecordBatch>>;

    /// What a row of the last batch is called, for messages: the line of the file, or the row, counted from 1.
    fn place(&self, row: usize) -> String;
}

/// A table.
pub struct Table {
    /// Its columns.
    pub schema: Schema,
    valid: NdArray<'static>,
    /// Rows that are stored.
    pub stored: u64,
    /// Rows that live.
    pub rows: u64,
    /// Where the last of them ends.
    pub last: u64,
    /// Most bytes of rows that are decoded.
    pub max_output: u64,
}

impl Table {
    /// Reads the schema, and counts the rows that live.
    ///
    /// # Errors
    /// A description that is damaged, or of a later version; more rows than `max_output`.
    pub fn open(place: &dyn Place, max_output: u64) -> Result<Table> {
        let schema = Schema::open(place)?;
        let valid = place::array(place, VALID)?;
        if valid.geometry().typesize() != 1 || valid.shape().len() != 1 {
            return Err(TableError::data(format!("{VALID}: one byte for each row expected")));
        }
        let stored = valid.shape().first().copied().unwrap_or(0);
        // A byte each, and what announces more than there can be would be counted for hours.
        check_output(stored, max_output)?;
        let mut table = Table { schema, valid, stored, rows: 0, last: 0, max_output };
        let mut at = 0;
        while at < stored {
            let lives = table.living(at, MOST_ROWS << 4)?;
            if let Some(last) = lives.iter().rposition(|lives| *lives) {
                table.last = at.saturating_add(last as u64).saturating_add(1);
            }
            at = at.saturating_add(lives.len() as u64);
            table.rows = table.rows.saturating_add(lives.iter().filter(|lives| **lives).count() as u64);
        }
        Ok(table)
    }

    /// Which of the stored rows from `start` on live, of at most `most` of them.
    fn living(&mut self, start: u64, most: u64) -> Result<Vec<bool>> {
        let range = start..start.saturating_add(most).min(self.stored);
        let mut bytes =
            alloc::vec![0; usize::try_from(range.end.saturating_sub(start)).unwrap_or(usize::MAX)];
        self.valid.get_slice(&[range], &mut bytes).map_err(TableError::of(VALID))?;
        Ok(bytes.iter().map(|byte| *byte != 0).collect())
    }

    /// Opens all columns that are stored.
    ///
    /// # Errors
    /// As [`ColumnReader::open`].
    pub fn columns(&self, place: &dyn Place) -> Result<Vec<ColumnReader>> {
        self.schema.columns.iter().map(|column| ColumnReader::open(place, column, self.max_output)).collect()
    }

    /// The rows that live, of which `range` are wanted, batch by batch, in the columns given.
    pub fn batches<'t>(&'t mut self, columns: &'t mut [ColumnReader], range: Range<u64>) -> Batches<'t> {
        let row = columns.iter().fold(1u64, |n, column| n.saturating_add(column.row_nbytes()));
        let step = BATCH.checked_div(row).unwrap_or(1).clamp(1, MOST_ROWS);
        let fields: Fields = columns.iter().map(|column| column.field().clone()).collect();
        let schema = Arc::new(arrow_schema::Schema::new(fields));
        // Batches begin where blocks do, whose lengths are powers of two, mostly.
        let step = 1u64 << step.ilog2();
        Batches { table: self, columns, schema, range, row, step, at: 0, seen: 0, total: 0 }
    }

    /// What keeps the rows from being read, column by column; nothing where all can be read.
    pub fn verify(&mut self, place: &dyn Place) -> Vec<TableError> {
        let (columns, all, max) = (self.schema.columns.clone(), 0..self.rows, self.max_output);
        let read = columns.iter().map(|column| {
            let mut reader = [ColumnReader::open(place, column, max)?];
            self.batches(&mut reader, all.clone()).try_for_each(|batch| batch.map(drop))
        });
        read.filter_map(Result::err).collect()
    }
}

/// Batches of the rows of a table.
pub struct Batches<'t> {
    table: &'t mut Table,
    columns: &'t mut [ColumnReader],
    schema: Arc<arrow_schema::Schema>,
    range: Range<u64>,
    /// Bytes of a row, and rows decoded together.
    row: u64,
    step: u64,
    at: u64,
    seen: u64,
    total: u64,
}

impl Batches<'_> {
    /// The columns of every batch.
    pub fn schema(&self) -> &Arc<arrow_schema::Schema> {
        &self.schema
    }

    fn read(&mut self) -> Result<Option<RecordBatch>> {
        while self.at < self.table.stored && self.seen < self.range.end {
            let at = self.at;
            let mut lives = self.table.living(at, self.step)?;
            for lives in lives.iter_mut().filter(|lives| **lives) {
                *lives = self.range.contains(&self.seen);
                self.seen = self.seen.saturating_add(1);
            }
            self.at = at.saturating_add(self.step);
            let rows = lives.iter().filter(|lives| **lives).count();
            if rows > 0 {
                self.total = self.total.saturating_add((rows as u64).saturating_mul(self.row));
                check_output(self.total, self.table.max_output)?;
                let arrays = self.columns.iter_mut().map(|column| column.read(at, &lives));
                return batch(&self.schema, arrays.collect::<Result<_>>()?).map(Some);
            }
        }
        Ok(None)
    }
}

impl Iterator for Batches<'_> {
    type Item = Result<RecordBatch>;

    fn next(&mut self) -> Option<Self::Item> {
        self.read().transpose()
    }
}

/// A batch of these columns.
fn batch(schema: &Arc<arrow_schema::Schema>, arrays: Vec<ArrayRef>) -> Result<RecordBatch> {
    RecordBatch::try_new(Arc::clone(schema), arrays).map_err(TableError::data)
}

/// Refuses to decode more than the limit.
fn check_output(nbytes: u64, limit: u64) -> Result<()> {
    match nbytes > limit {
        true => Err(TableError::from(Error::Limit { what: "bytes of output", asked: nbytes, limit })),
        false => Ok(()),
    }
}

/// The variable-length metalayer `name` of a frame, as a value.
fn vlmeta(frame: &mut crate::SuperChunk<'_>, name: &str, about: &str) -> Result<Option<Value>> {
    let content = frame.vlmetalayer(name).map_err(TableError::of(about))?;
    // A list has an entry for each chunk.
    let value = content.map(|content| msgpack::to_value_within(&content, 1 << 24));
    value.transpose().map_err(TableError::of(about))
}
