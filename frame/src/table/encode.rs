//! Arrow arrays as what a column stores, or why not.

use super::bytes::items;
use super::column::ColumnReader;
use super::error::{Made, Wrong};
use super::exact;
use super::schema::{Column, Kind, Nulls};
use super::sentinel::Sentinel;
use super::values;
use crate::dtype::Scalar;
use crate::value::Value;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef};
use arrow_schema::{DataType, Field};

/// What the schema of a column may say; anything else may be a constraint that is not checked here.
const KNOWN: [&str; 18] = [
    "name",
    "kind",
    "nullable",
    "null_value",
    "null_storage",
    "default",
    "max_length",
    "unit",
    "timezone",
    "index_type",
    "value_type",
    "ordered",
    "null_code",
    "serializer",
    "batch_rows",
    "storage",
    "item_shape",
    "dtype_str",
];

/// What the schema of an entry of lists may say.
const KNOWN_INSIDE: [&str; 7] =
    ["kind", "nullable", "max_length", "item", "storage", "serializer", "batch_rows"];

/// What a column takes.
pub struct Takes {
    /// Its name, and the type of what is appended.
    pub field: Field,
    /// Items of one type, and how many to a row; `None` of text and of values of their own lengths.
    items: Option<(Scalar, usize)>,
    sentinel: Option<Sentinel>,
    column: Column,
}

/// New rows of a column.
#[derive(Default)]
pub struct New {
    /// Items, or text.
    pub bytes: Vec<u8>,
    /// Where each text ends in `bytes`.
    pub ends: Vec<usize>,
    /// Values of their own lengths.
    pub values: Vec<Value>,
    /// Which rows are null.
    pub nulls: Vec<bool>,
}

impl Takes {
    /// What a column takes, or why nothing is appended to it.
    pub fn of(column: &Column, reader: &ColumnReader) -> Made<Takes> {
        let fields = column.spec.as_object().unwrap_or_default();
        let list = matches!(column.kind, Kind::Nested(_));
        let known = |name: &str| KNOWN.contains(&name) || (list && name == "item");
        if let Some((constraint, _)) = fields.iter().find(|(name, _)| !known(name)) {
            return Err(format!("has {constraint:?}, which is not checked here"));
        }
        if reader.is_arrow() {
            return Err("keeps its lists as Arrow streams".into());
        }
        if reader.is_big_endian() {
            return Err("has items in big-endian order".into());
        }
        let mut field = reader.field().clone().with_nullable(true);
        match &column.kind {
            Kind::Dictionary { .. } if column.spec.get("ordered").and_then(Value::as_bool) == Some(true) => {
                return Err("has a dictionary in an order".into());
            }
            Kind::Dictionary { .. } => field = field.with_data_type(DataType::Utf8),
            Kind::Nested(spec) => {
                unknown(spec, &["name", "default"]).map_or(Ok(()), |what| Err(format!("has {what}")))?
            }
            _ => {}
        }
        let count = |shape: &[u32]| shape.iter().fold(1usize, |n, side| n.saturating_mul(*side as usize));
        let items = reader.items().map(|(scalar, shape)| (scalar, count(shape)));
        let sentinel = Sentinel::of(column, items.map(|(scalar, _)| scalar))?;
        Ok(Takes { field, items, sentinel, column: column.clone() })
    }

    /// The rows of an array of the type of `field` as they are stored.
    ///
    /// # Errors
    /// The first row that does not fit.
    pub fn encode(&self, array: &ArrayRef) -> Result<New, Wrong> {
        let nulls: Vec<bool> = (0..array.len()).map(|row| array.is_null(row)).collect();
        let mut new = New { nulls, ..New::default() };
        let null = new.nulls.iter().position(|null| *null);
        if let (Nulls::None, Some(row)) = (&self.column.nulls, null) {
            return Err(Wrong { row, what: "null, and its schema allows no nulls".into() });
        }
        if self.column.kind.is_listed() {
            for row in 0..array.len() {
                let wrong = |what| Wrong { row, what };
                new.values.push(self.value(array, row).map_err(wrong)?);
            }
            return Ok(new);
        }
        let absent = self.sentinel.as_ref().map(Sentinel::bytes).unwrap_or_default();
        let Some((scalar, count)) = self.items else {
            let texts = array.as_string::<i32>();
            for (row, text) in texts.iter().enumerate() {
                self.check(row, text.map(str::as_bytes))?;
                limited(&self.column.spec, text.map_or(0, |text| text.chars().count()))
                    .map_err(|what| Wrong { row, what })?;
                new.bytes.extend_from_slice(text.map_or(absent.as_slice(), str::as_bytes));
                new.ends.push(new.bytes.len());
            }
            return Ok(new);
        };
        new.bytes = items(array, &scalar)
            .map_err(|wrong| Wrong { row: wrong.row.checked_div(count.max(1)).unwrap_or(0), ..wrong })?;
        let size = count.saturating_mul(scalar.size as usize);
        for (row, (item, null)) in new.bytes.chunks_exact_mut(size.max(1)).zip(&new.nulls).enumerate() {
            match null {
                true if absent.len() == item.len() => item.copy_from_slice(&absent),
                true => item.fill(0),
                false => self.check(row, Some(item))?,
            }
        }
        Ok(new)
    }

    /// Refuses the value that would read as null.
    fn check(&self, row: usize, bytes: Option<&[u8]>) -> Result<(), Wrong> {
        match (&self.sentinel, bytes) {
            (Some(sentinel), Some(bytes)) if sentinel.is(bytes) => {
                Err(Wrong { row, what: "is the value that stands for null here".into() })
            }
            _ => Ok(()),
        }
    }

    /// The value of its own length in a row.
    fn value(&self, array: &ArrayRef, row: usize) -> Made<Value> {
        let value = exact::stored(array, row)?;
        match (&self.column.kind, &value) {
            (_, Value::Null) => Ok(Value::Null),
            (Kind::Object, Value::Text(text)) => values::json(text),
            // Arrow has no such lists: JSON stands for them.
            (Kind::Nested(_), Value::Text(_)) => Err("is JSON, of which no list is made".into()),
            _ => checked(&self.column.spec, &value).map(|()| value),
        }
    }
}

/// What of an item's schema is not known here, if anything; `more` may be said, too.
fn unknown(spec: &Value, more: &[&str]) -> Option<String> {
    let fields = spec.as_object().unwrap_or_default();
    let known = |name: &str| KNOWN_INSIDE.contains(&name) || more.contains(&name);
    if let Some((name, _)) = fields.iter().find(|(name, _)| !known(name)) {
        return Some(format!("{name:?}, which is not checked here"));
    }
    let kind = spec.get("kind").and_then(Value::as_text).unwrap_or("");
    match (kind, spec.get("item")) {
        ("list", Some(item)) => unknown(item, &[]),
        ("bool" | "string" | "utf8" | "vlstring" | "bytes" | "vlbytes", None) => None,
        ("float32" | "float64", None) => None,
        (kind, None) if kind.starts_with("int") || kind.starts_with("uint") => None,
        (kind, _) => Some(format!("items of kind {kind}")),
    }
}

/// Refuses a text that is longer than its schema says.
fn limited(spec: &Value, length: usize) -> Made<()> {
    match spec.get("max_length").and_then(Value::as_u64) {
        Some(most) if length as u64 > most => {
            Err(format!("{length} characters or bytes, which is longer than {most}"))
        }
        _ => Ok(()),
    }
}

/// Refuses what the types in Arrow do not tell: nulls in lists, and lengths.
fn checked(spec: &Value, value: &Value) -> Made<()> {
    let may_be_null = |spec: &Value| spec.get("nullable").and_then(Value::as_bool) == Some(true);
    match (value, spec.get("item")) {
        (Value::Null, _) if !may_be_null(spec) => {
            Err(format!("null is no {}", spec.get("kind").and_then(Value::as_text).unwrap_or("value")))
        }
        (Value::List(entries), Some(item)) => entries.iter().try_for_each(|entry| checked(item, entry)),
        (Value::Text(text), _) => limited(spec, text.chars().count()),
        (Value::Object(_), _) => {
            limited(spec, value.get("bin").and_then(Value::as_text).map_or(0, |hex| hex.len() / 2))
        }
        _ => Ok(()),
    }
}
