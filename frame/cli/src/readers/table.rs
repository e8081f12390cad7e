//! Tables of python-blosc2 in the stores that the command opens: what they are, and whether their rows can be read.

use super::store::StoreReader;
use crate::failure::{Failure, Result};
use blosc_frame::table::{Column, TableError};
use serde_json::json;
use std::path::Path;

impl From<TableError> for Failure {
    fn from(error: TableError) -> Self {
        match error {
            TableError::Unable(text) => Failure::Unable(text),
            TableError::Frame { about, error } if about.is_empty() => error.into(),
            TableError::Frame { about, error } => Failure::from(error).about(about),
            TableError::Io(error) => error.into(),
            other => Failure::Data(other.to_string()),
        }
    }
}

impl From<Failure> for TableError {
    fn from(failure: Failure) -> Self {
        match failure {
            Failure::Unable(text) => TableError::Unable(text),
            other => TableError::Data(other.to_string()),
        }
    }
}

/// Names the file that an error is about, unless it is about what is written.
pub fn of_table(path: &Path) -> impl Fn(TableError) -> Failure + '_ {
    move |error| match error {
        TableError::Io(error) => error.into(),
        error => Failure::from(error).about(path.display()),
    }
}

/// What there is to say of a store, and of the table that it may be.
pub fn info(store: &StoreReader) -> Result<serde_json::Value> {
    let mut info = store.info()?;
    if let (Some(about), Some(fields)) = (about(store), info.as_object_mut()) {
        fields.insert("table".into(), about);
    }
    Ok(info)
}

/// What there is to say of the table that a store is. What cannot be read is for `verify` to report.
pub fn about(store: &StoreReader) -> Option<serde_json::Value> {
    if !store.store.is_table() {
        return None;
    }
    let table = store.store.table("").ok()?;
    let column = |column: &Column| json!({"name": column.name, "type": column.type_name(), "nullable": column.is_nullable()});
    let columns: Vec<_> = table.schema.columns.iter().map(column).collect();
    Some(json!({"rows": table.rows, "stored_rows": table.stored, "columns": columns}))
}
