//! Tables of python-blosc2 (`CTable`): a store whose columns lie under `_cols`, and whose `_valid_rows` says which rows
//! live. Rows that were deleted are not handed out.

use super::store::{StoreReader, key};
use crate::failure::{Failure, Result, failure};
use crate::open::{Intent, Opened, What, open_found, unnamed_of};
use blosc_frame::any::Found;
use blosc_frame::b2nd::Dims;
use blosc_frame::npy::NpyHeader;
use serde_json::Value;
use std::io::Write;
use std::path::Path;

/// What says which rows live.
pub const VALID: &str = "/_valid_rows.b2nd";
/// What describes the table.
pub const META: &str = "/_meta.b2f";
/// Where the columns lie.
const COLUMNS: &str = "/_cols/";
/// Bytes of rows looked at together.
const PIECE: u64 = 4 << 20;

/// Whether each row lives.
pub fn living(store: &StoreReader) -> Result<Vec<bool>> {
    let mut rows = Vec::new();
    let mut opened = store.leaf(VALID, Intent::Read)?;
    let items = opened.reader()?.items();
    if items.size != 1 || items.shape.len() != 1 {
        return Err(Failure::Data(format!("{VALID}: one byte for each row expected")));
    }
    opened.reader()?.read(None, &mut rows, &|_| {})?;
    Ok(rows.iter().map(|row| *row != 0).collect())
}

/// Hands the rows of every column that live to `f`, with the column's name.
pub fn each_column(store: &StoreReader, f: &mut dyn FnMut(&str, &mut Opened) -> Result<()>) -> Result<()> {
    let living = living(store)?;
    for entry in &store.entries {
        let column = key(entry).strip_prefix(COLUMNS).and_then(|name| name.strip_suffix(".b2nd"));
        if let Some(name) = column {
            let mut opened = store.open(entry, Intent::Read)?;
            f(name, &mut rows_that_live(store, name, &mut opened, &living)?)?;
        }
    }
    Ok(())
}

/// A column without the rows that were deleted, kept in a file without a name.
fn rows_that_live(store: &StoreReader, name: &str, column: &mut Opened, living: &[bool]) -> Result<Opened> {
    let path = Path::new(name);
    let items = column.reader()?.items();
    let (rows, row) = (items.rows(), items.row().max(1));
    if items.shape.is_empty() || rows != living.len() as u64 {
        let text = format!("has {rows} rows, but the table has {}", living.len());
        return Err(Failure::at(path, text));
    }
    let mut shape = items.shape.clone();
    shape[0] = living.iter().filter(|lives| **lives).count() as u64;
    let (Some(dtype), Some(shape)) = (items.dtype, Dims::new(&shape)) else {
        return Err(Failure::at(path, "the type of its items is not known"));
    };
    let header = NpyHeader { dtype, fortran: false, shape }.to_bytes()?;
    let file = unnamed_of(path, &mut |file| {
        file.write_all(&header)?;
        let step = PIECE.checked_div(row).unwrap_or(1).max(1);
        let (mut at, mut piece) = (0u64, Vec::new());
        while at < rows {
            let end = at.saturating_add(step).min(rows);
            piece.clear();
            column.reader()?.read(Some(at..end), &mut piece, &|_| {})?;
            let lives = living.iter().skip(usize::try_from(at).unwrap_or(usize::MAX));
            let items = piece.chunks_exact(row as usize).zip(lives);
            let living: Vec<_> = items.filter(|(_, lives)| **lives).map(|(item, _)| item).collect();
            file.write_all(&living.concat())?;
            at = end;
        }
        Ok(())
    })?;
    let found = Found::of(path, file, 0).map_err(failure(path))?;
    open_found(found, &store.whole(), Intent::Read, None)
}

/// What the columns as arrays lack.
pub fn left_out(store: &StoreReader) -> Result<Vec<String>> {
    let mut left_out = Vec::new();
    for entry in &store.entries {
        let key = key(entry);
        if key.starts_with(COLUMNS) && !key.ends_with(".b2nd") {
            left_out.push(format!("column {key} ({})", entry["kind"].as_str().unwrap_or("")));
        }
    }
    let mut opened = store.leaf(META, Intent::Inspect)?;
    let schema = match &mut opened.what {
        What::Frame(reader) => reader.frame.vlmetalayer("schema").map_err(failure(Path::new(META)))?,
        _ => None,
    };
    let text = schema.and_then(|content| blosc_frame::msgpack::to_value(&content).ok());
    let schema = text.as_ref().and_then(|value| value.as_text()).unwrap_or("{}");
    let schema: Value = serde_json::from_str(schema).unwrap_or_default();
    for column in schema["columns"].as_array().into_iter().flatten() {
        let null = |(name, value): (&String, &Value)| {
            name.contains("null") && !value.is_null() && *value != Value::Bool(false)
        };
        if column.as_object().is_some_and(|fields| fields.iter().any(null)) {
            let name = column["name"].as_str().unwrap_or("");
            left_out.push(format!("which items of column {name} are null"));
        }
    }
    Ok(left_out)
}
