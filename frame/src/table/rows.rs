//! [`Rows`]: rows that are to go into a table.

use super::error::{Result, TableError};
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;
use arrow_array::{ArrayRef, RecordBatch};
use arrow_schema::Fields;

/// Bytes of rows decoded together.
pub const BATCH: u64 = 8 << 20;

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

/// A batch of these columns.
pub fn batch(schema: &Arc<arrow_schema::Schema>, arrays: Vec<ArrayRef>) -> Result<RecordBatch> {
    RecordBatch::try_new(Arc::clone(schema), arrays).map_err(TableError::data)
}
