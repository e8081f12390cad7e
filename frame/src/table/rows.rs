//! [`Rows`]: rows that are to go into a table.

use super::error::{Result, TableError, Wrong};
use alloc::format;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;
use arrow_array::{ArrayRef, RecordBatch};
use arrow_schema::{Field, Fields, Schema};

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

/// A column that was made, or the row that does not fit; `None` where the rows have no field of its name.
type Made = Option<core::result::Result<ArrayRef, Wrong>>;

/// The next batch of a reader of rows. `array` makes a column. A row that is wrong is told by its
/// `place`.
///
/// # Errors
/// A column without a field, a row that does not fit, and errors of `array`.
pub fn read_batch(
    fields: &Fields,
    place: &dyn Fn(usize) -> String,
    array: &mut dyn FnMut(&Field) -> Result<Made>,
) -> Result<RecordBatch> {
    let column = |field: &Arc<Field>| {
        let name = field.name();
        let made =
            array(field)?.ok_or_else(|| TableError::data(format!("has no field for column {name}")))?;
        made.map_err(|wrong| TableError::Data(format!("{}, column {name}: {}", place(wrong.row), wrong.what)))
    };
    let arrays = fields.iter().map(column).collect::<Result<_>>()?;
    batch(&Arc::new(Schema::new(fields.clone())), arrays)
}

/// A batch of these columns.
pub fn batch(schema: &Arc<Schema>, arrays: Vec<ArrayRef>) -> Result<RecordBatch> {
    RecordBatch::try_new(Arc::clone(schema), arrays).map_err(TableError::data)
}
