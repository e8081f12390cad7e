//! New rows: of CSV, JSON lines, Arrow and `.npz` files, batch by batch.
//!
//! ```text
//! text     CSV and JSON lines, line by line
//! arrow    record batches of an Arrow file
//! npz      members that are columns, or one whose items have fields
//! ```

mod arrow;
mod npz;
mod text;

use crate::failure::{Failure, Result};
use crate::readers::table::cells::Item;
use blosc_frame::dtype::Unit;
use blosc_frame::value::Value;
use std::path::{Path, PathBuf};

/// Fields that are in memory at a time, and bytes of text.
const FIELDS: usize = 1 << 18;
const BYTES: usize = 16 << 20;

/// What a field is, as far as its file tells.
#[derive(Clone, Debug, PartialEq)]
pub enum Field {
    Null,
    /// Text of CSV, which may be anything.
    Any(String),
    Text(String),
    Number(String),
    Bool(bool),
    Bytes(Vec<u8>),
    /// A list or an object.
    Nested(Value),
    /// A count of units since 1970, and whether it is UTC, where that is known.
    Time(i64, Unit, Option<bool>),
}

impl Field {
    /// The field that is this JSON.
    pub fn of_json(value: &Value) -> Field {
        match value {
            Value::Null => Field::Null,
            Value::Bool(b) => Field::Bool(*b),
            Value::Number(n) => Field::Number(n.clone()),
            Value::Text(text) => Field::Text(text.clone()),
            nested => Field::Nested(nested.clone()),
        }
    }

    /// The field that is this item. A float of 32 bits becomes the number that it is, not one that is printed alike.
    fn of_item(item: Item) -> Field {
        match item {
            Item::Bool(b) => Field::Bool(b),
            Item::Int(n) => Field::Number(n.to_string()),
            Item::Uint(n) => Field::Number(n.to_string()),
            Item::Single(x) => Field::Number(format!("{:?}", f64::from(x))),
            Item::Float(x) => Field::Number(format!("{x:?}")),
            Item::Complex(re, im) => {
                Field::Nested(Value::List([re, im].map(|x| Value::Number(format!("{x:?}"))).to_vec()))
            }
            Item::Text(text) => Field::Text(text),
            Item::Bytes(bytes) => Field::Bytes(bytes),
            Item::Time(i64::MIN, _) => Field::Null,
            Item::Time(count, unit) => Field::Time(count, unit, None),
        }
    }
}

/// A row.
pub type Row = Vec<Field>;

/// Where rows come from.
trait Source {
    /// At most `most` rows more; none at the end.
    fn rows(&mut self, most: usize) -> Result<Vec<Row>>;
}

/// The rows of a file.
pub struct Rows {
    path: PathBuf,
    /// The names of their fields.
    pub names: Vec<String>,
    source: Box<dyn Source>,
}

impl Rows {
    /// Opens a file by its name. `columns` are those of the table, and `max` is the most bytes of one line or one batch.
    ///
    /// # Errors
    /// Another name; a file that is damaged; two fields of one name.
    pub fn open(path: &Path, columns: &[&str], max: u64) -> Result<Rows> {
        let extension = path.extension().map(|e| e.to_string_lossy().to_ascii_lowercase());
        let (names, source): (Vec<String>, Box<dyn Source>) = match extension.as_deref() {
            Some(kind @ ("csv" | "jsonl")) => text::open(path, kind == "csv", max)?,
            Some("arrow") => arrow::open(path)?,
            Some("npz") => npz::open(path, columns, max)?,
            _ => {
                let text = "the rows of a table are appended from a .csv, .jsonl, .arrow or .npz file";
                return Err(Failure::Usage(format!("{}: {text}", path.display())));
            }
        };
        for (k, name) in names.iter().enumerate() {
            if names.iter().take(k).any(|other| other == name) {
                return Err(Failure::at(path, format!("two fields are called {name:?}")));
            }
        }
        Ok(Rows { path: path.to_path_buf(), names, source })
    }

    /// The file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Some rows more; none at the end.
    ///
    /// # Errors
    /// Those of the file.
    pub fn next(&mut self) -> Result<Vec<Row>> {
        self.source.rows(FIELDS.checked_div(self.names.len()).unwrap_or(FIELDS).max(1))
    }
}
