//! Arrow arrays as what a column stores, or why not.

use super::base64;
use super::column::{ColumnReader, trimmed};
use super::exact;
use super::schema::{Column, Kind, Nulls};
use super::values::{self, Form, Made, Wrong, of_numbers, of_times};
use crate::dtype::{Kind as Scalars, Scalar};
use crate::value::Value;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use arrow_array::cast::AsArray;
use arrow_array::types::*;
use arrow_array::{Array, ArrayRef};
use arrow_schema::{DataType, Field, TimeUnit};

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

/// The value that stands for null.
pub enum Sentinel {
    /// Any item that is no number.
    Nan(Scalar),
    /// This item, or text.
    Bytes(Vec<u8>, Option<Scalar>),
}

/// A float of 4 or 8 bytes.
fn float(scalar: &Scalar, item: &[u8]) -> Option<f64> {
    match scalar.kind {
        Scalars::Float if scalar.size == 4 => {
            item.try_into().ok().map(|item| f32::from_le_bytes(item).into())
        }
        Scalars::Float if scalar.size == 8 => item.try_into().ok().map(f64::from_le_bytes),
        _ => None,
    }
}

impl Sentinel {
    /// The value that stands for null in a column, if one does; `scalar` is the type of its items.
    pub fn of(column: &Column, scalar: Option<Scalar>) -> Made<Option<Sentinel>> {
        let Nulls::Sentinel(value) = &column.nulls else { return Ok(None) };
        let none =
            || format!("{} stands for null, which is no {}", value.to_json_compact(), column.type_name());
        let count = || value.as_i64().ok_or_else(none);
        let bytes = match (scalar, &column.kind) {
            _ if column.type_name() == "ndarray" => {
                return Err("arrays in place of nulls are not known".into());
            }
            (_, Kind::Bool) => [u8::try_from(count()?).map_err(|_| none())?].to_vec(),
            (_, Kind::Timestamp { .. }) => count()?.to_le_bytes().to_vec(),
            (None, _) => value.as_text().ok_or_else(none)?.as_bytes().to_vec(),
            (Some(scalar), _) => {
                let value = match (scalar.kind, value) {
                    (Scalars::Bytes, value) => {
                        let encoded = value.get("base64").and_then(Value::as_text);
                        let bytes = match encoded {
                            Some(text) => base64::decode(text),
                            None => value.as_text().map(|text| text.as_bytes().to_vec()),
                        };
                        values::binary(trimmed(&bytes.ok_or_else(none)?))
                    }
                    (_, value) => value.clone(),
                };
                let field = column.field()?;
                let one = values::array(&[Some(&value)], &field, Form::Stored)?;
                let bytes = items(&one, &scalar).map_err(|wrong| wrong.what)?;
                if float(&scalar, &bytes).is_some_and(f64::is_nan) {
                    return Ok(Some(Sentinel::Nan(scalar)));
                }
                bytes
            }
        };
        Ok(Some(Sentinel::Bytes(bytes, scalar)))
    }

    /// Whether an item or text is that value.
    pub fn is(&self, item: &[u8]) -> bool {
        match self {
            Sentinel::Nan(scalar) => float(scalar, item).is_some_and(f64::is_nan),
            Sentinel::Bytes(bytes, scalar) => {
                let floats = scalar.and_then(|scalar| float(&scalar, item).zip(float(&scalar, bytes)));
                item == bytes || floats.is_some_and(|(a, b)| a == b)
            }
        }
    }

    /// The item or text.
    fn bytes(&self) -> Vec<u8> {
        match self {
            Sentinel::Nan(scalar) if scalar.size == 4 => f32::NAN.to_le_bytes().to_vec(),
            Sentinel::Nan(_) => f64::NAN.to_le_bytes().to_vec(),
            Sentinel::Bytes(bytes, _) => bytes.clone(),
        }
    }
}

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

/// All items of an array, as items of this type; those of null rows may be anything.
pub fn items(array: &ArrayRef, scalar: &Scalar) -> Result<Vec<u8>, Wrong> {
    macro_rules! numbers {
        ($type:ty) => {
            Ok(array.as_primitive::<$type>().values().iter().flat_map(|item| item.to_le_bytes()).collect())
        };
    }
    let size = scalar.size as usize;
    let padded = |row: usize, item: Option<Vec<u8>>| -> Result<Vec<u8>, Wrong> {
        let mut item = item.unwrap_or_default();
        if item.len() > size {
            return Err(Wrong { row, what: format!("longer than the {size} bytes of its items") });
        }
        item.resize(size, 0);
        Ok(item)
    };
    let ends_in_zero =
        |row: usize| Wrong { row, what: "ends with a zero, which is padding here".to_string() };
    match array.data_type() {
        DataType::FixedSizeList(..) => {
            let list = array.as_fixed_size_list();
            let part = match (scalar.kind, list.value_type()) {
                (Scalars::Complex, DataType::Float32 | DataType::Float64) => {
                    Scalar { kind: Scalars::Float, size: scalar.size / 2, ..*scalar }
                }
                _ => *scalar,
            };
            items(list.values(), &part)
        }
        DataType::Boolean => Ok(array.as_boolean().values().iter().map(u8::from).collect()),
        DataType::Utf8 => {
            let mut all = Vec::new();
            for (row, text) in array.as_string::<i32>().iter().enumerate() {
                if text.is_some_and(|text| text.ends_with('\0')) {
                    return Err(ends_in_zero(row));
                }
                let chars = text.map(|text| text.chars().flat_map(|c| u32::from(c).to_le_bytes()).collect());
                all.extend(padded(row, chars)?);
            }
            Ok(all)
        }
        DataType::Binary => {
            let mut all = Vec::new();
            for (row, bytes) in array.as_binary::<i32>().iter().enumerate() {
                if bytes.is_some_and(|bytes| bytes.last() == Some(&0)) {
                    return Err(ends_in_zero(row));
                }
                all.extend(padded(row, bytes.map(<[u8]>::to_vec))?);
            }
            Ok(all)
        }
        other => of_numbers!(
            other,
            numbers,
            of_times!(other, numbers, Err(Wrong { row: 0, what: format!("items are no {other}") }))
        ),
    }
}
