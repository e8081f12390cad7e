//! Tables of python-blosc2 (`CTable`): a store whose columns lie under `_cols`, and whose `_valid_rows` says which rows
//! live. Rows that were deleted are not handed out.
//!
//! ```text
//! schema    what columns there are, from the description's JSON
//! column    rows of a column: arrays, texts between offsets, dictionaries; records and from_arrow: lists and objects
//! cells     what the rows become
//! ```

pub mod base64;
pub mod cells;
pub mod column;
pub mod from_arrow;
pub mod records;
pub mod schema;

use super::store::{META, StoreReader, VALID};
use crate::failure::{Failure, Findings, Result, failure};
use crate::limits::{check_output, max_by_size, size};
use crate::open::{Intent, What};
use blosc_frame::b2nd::NdArray;
use blosc_frame::msgpack;
use blosc_frame::value::Value;
use cells::Part;
use column::ColumnReader;
use schema::Schema;
use serde_json::json;
use std::ops::Range;
use std::path::{Path, PathBuf};

/// Bytes of rows decoded together, and the most rows.
pub const BATCH: u64 = 8 << 20;
const MOST_ROWS: u64 = 1 << 16;

/// A table.
pub struct Table {
    path: PathBuf,
    pub schema: Schema,
    valid: NdArray<'static>,
    /// Rows that are stored.
    pub stored: u64,
    /// Rows that live.
    pub rows: u64,
    /// Where the last of them ends.
    pub last: u64,
    pub max_output: u64,
}

impl Table {
    /// Reads the schema, and counts the rows that live.
    ///
    /// # Errors
    /// A description that is damaged, or of a later version; more rows than the limit.
    pub fn open(store: &StoreReader, path: &Path, max_output: u64) -> Result<Table> {
        let schema = schema(store, path)?;
        let What::Array(valid) = store.exact(VALID, "b2nd", Intent::Read)?.what else {
            return Err(Failure::at(path, format!("{VALID}: an array expected")));
        };
        let valid = valid.nd;
        if valid.geometry().typesize() != 1 || valid.shape().len() != 1 {
            return Err(Failure::at(path, format!("{VALID}: one byte for each row expected")));
        }
        let stored = valid.shape().first().copied().unwrap_or(0);
        // A byte each, and what announces more than there can be would be counted for hours.
        check_output(path, stored, max_output)?;
        let mut table =
            Table { path: path.to_path_buf(), schema, valid, stored, rows: 0, last: 0, max_output };
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
        let mut bytes = vec![0; usize::try_from(range.end.saturating_sub(start)).unwrap_or(usize::MAX)];
        self.valid.get_slice(&[range], &mut bytes).map_err(failure(&self.path))?;
        Ok(bytes.iter().map(|byte| *byte != 0).collect())
    }

    /// Hands the rows that live, of which `range` are wanted, batch by batch to `take`, a part for each column.
    ///
    /// # Errors
    /// What reading gives, more bytes than the limit, and what `take` gives.
    pub fn each_batch(
        &mut self,
        columns: &mut [ColumnReader],
        range: &Range<u64>,
        take: &mut dyn FnMut(usize, &[Part]) -> Result<()>,
    ) -> Result<()> {
        let row = columns.iter().fold(1u64, |n, column| n.saturating_add(column.row_nbytes()));
        let step = BATCH.checked_div(row).unwrap_or(1).clamp(1, MOST_ROWS);
        // Batches that begin where blocks do: blocks are powers of two, mostly.
        let step = 1u64 << step.ilog2();
        let (mut at, mut seen, mut total) = (0u64, 0u64, 0u64);
        while at < self.stored && seen < range.end {
            let mut lives = self.living(at, step)?;
            for lives in lives.iter_mut().filter(|lives| **lives) {
                *lives = range.contains(&seen);
                seen = seen.saturating_add(1);
            }
            let rows = lives.iter().filter(|lives| **lives).count();
            if rows > 0 {
                total = total.saturating_add((rows as u64).saturating_mul(row));
                check_output(&self.path, total, self.max_output)?;
                let parts =
                    columns.iter_mut().map(|column| column.read(at, &lives)).collect::<Result<Vec<_>>>()?;
                take(rows, &parts)?;
            }
            at = at.saturating_add(step);
        }
        Ok(())
    }
}

/// What there is to say of a store, and of the table that it may be.
pub fn info(store: &StoreReader) -> serde_json::Value {
    let mut info = store.info();
    if let (Some(about), Some(fields)) = (about(store), info.as_object_mut()) {
        fields.insert("table".into(), about);
    }
    info
}

/// What there is to say of the table that a store is. What cannot be read is for `verify` to report.
pub fn about(store: &StoreReader) -> Option<serde_json::Value> {
    if !store.is_table() {
        return None;
    }
    let max = store.whole().max_output.unwrap_or_else(|| max_by_size(size(store.path())));
    let table = Table::open(store, store.path(), max).ok()?;
    let column = |column: &schema::Column| json!({"name": column.name, "type": column.type_name(), "nullable": column.is_nullable()});
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
    match store.described() {
        Ok(groups) => {
            for (group, store) in groups {
                match verify_rows(&store) {
                    Ok(failures) => failures.into_iter().for_each(|failure| tell(group, failure)),
                    Err(failure) => tell(group, failure),
                }
            }
        }
        Err(failure) => tell("", failure),
    }
    found
}

/// What keeps the rows of the table that `store` is from being read, column by column; nothing if it is no table.
fn verify_rows(store: &StoreReader) -> Result<Vec<Failure>> {
    let path = store.path();
    if !store.is_table() && schema(store, path).is_err() {
        return Ok(Vec::new());
    }
    let max = store.whole().max_output.unwrap_or_else(|| max_by_size(size(path)));
    let mut table = Table::open(store, path, max)?;
    let (columns, all) = (table.schema.columns.clone(), 0..table.rows);
    let read = columns.iter().map(|column| {
        let mut reader = [ColumnReader::open(store, column, max)?];
        table.each_batch(&mut reader, &all, &mut |_, _| Ok(()))
    });
    Ok(read.filter_map(Result::err).collect())
}

/// The schema of the table in `store`.
fn schema(store: &StoreReader, path: &Path) -> Result<Schema> {
    let mut opened = store.exact(META, "b2f", Intent::Inspect)?;
    let What::Frame(reader) = &mut opened.what else {
        return Err(Failure::at(path, format!("{META}: a frame expected")));
    };
    let mut text = |name: &str| -> Result<Option<String>> {
        let content = reader.frame.vlmetalayer(name).map_err(failure(path))?;
        let value = content.map(|content| msgpack::to_value(&content)).transpose().map_err(failure(path))?;
        Ok(value.map(|value: Value| match value {
            Value::Text(text) => text,
            other => other.to_json_compact(),
        }))
    };
    match (text("kind")?.as_deref(), text("version")?.as_deref()) {
        (Some("ctable"), Some("1")) => {}
        (kind, version) => {
            let text =
                format!("{META}: kind {kind:?} version {version:?}, but a ctable of version 1 is known");
            return Err(Failure::Unable(format!("{}: {text}", path.display())));
        }
    }
    let schema = text("schema")?.ok_or_else(|| Failure::at(path, format!("{META}: has no schema")))?;
    Schema::parse(&schema).map_err(|what| Failure::at(path, format!("{META}: schema: {what}")))
}
