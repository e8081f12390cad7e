//! Tables of python-blosc2 in the stores that the command opens: what they are, and whether their rows can be read.

use super::store::StoreReader;
use crate::failure::{Failure, Findings, Result};
use blosc_frame::table::{Column, Schema, TableError};
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

/// Verifies every entry of a store by itself, and the tables in it by their rows: each column is there, and has all rows
/// that live.
pub fn verify(store: &StoreReader, progress: &dyn Fn(u64)) -> Findings {
    let mut found = store.verify(progress);
    let mut tell = |group: &str, failure: Failure| {
        let list = if let Failure::Unable(_) = failure { &mut found.unchecked } else { &mut found.damage };
        list.push(if group.is_empty() { failure.to_string() } else { format!("{group}: {failure}") });
    };
    for (group, store) in store.described() {
        match verify_rows(&store) {
            Ok(failures) => failures.into_iter().for_each(|failure| tell(&group, failure)),
            Err(failure) => tell(&group, failure),
        }
    }
    found
}

/// What keeps the rows of the table that `store` is from being read, column by column; nothing if it is no table.
fn verify_rows(store: &StoreReader) -> Result<Vec<Failure>> {
    if !store.store.is_table() && Schema::open(&store.store).is_err() {
        return Ok(Vec::new());
    }
    Ok(store.store.table("")?.verify().into_iter().map(Failure::from).collect())
}
