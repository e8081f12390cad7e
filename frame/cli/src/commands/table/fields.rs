//! Fields of new rows as what their columns store, or refused.

use super::rows::{Field, Row};
use super::values::{binary, fitted};
use crate::readers::table::cells::{trimmed, unhex};
use crate::readers::table::column::is_null_value;
use crate::readers::table::schema::{Column, Kind, Nulls};
use crate::writers::table::time;
use blosc_frame::dtype::{ByteOrder, Kind as Scalars, Scalar};
use blosc_frame::value::{TextLimits, Value};

/// What a column takes.
#[derive(Clone, Debug, PartialEq)]
pub enum Takes {
    /// Items of one type, of this shape in each row.
    Items(Scalar, Vec<u32>),
    Text,
    /// Values of their own lengths.
    Values,
}

/// New rows of a column.
#[derive(Default)]
pub struct New {
    /// Items, or text.
    pub bytes: Vec<u8>,
    /// Where each text ends in `bytes`.
    pub ends: Vec<usize>,
    pub values: Vec<Value>,
    pub nulls: Vec<bool>,
}

/// Whether items of this type are appended.
pub fn is_known(scalar: &Scalar) -> bool {
    use Scalars::{Bool, Bytes, Datetime, Float, Int, Uint, Unicode};
    let sizes = match scalar.kind {
        Float => scalar.size == 4 || scalar.size == 8,
        Int | Uint | Bool | Datetime { .. } | Bytes | Unicode => true,
        _ => false,
    };
    sizes && scalar.order != ByteOrder::Big
}

/// Fits rows, the first of which is number `first` of its file, to a column, whose field is at `at` in each.
///
/// # Errors
/// A field that does not fit, by its row.
pub fn fit(rows: &[Row], first: u64, at: usize, column: &Column, takes: &Takes) -> Result<New, String> {
    let mut new = New::default();
    for (k, row) in (first..).zip(rows) {
        let field = row.get(at).unwrap_or(&Field::Null);
        push(&mut new, field, column, takes)
            .map_err(|what| format!("row {k}, column {}: {what}", column.name))?;
    }
    Ok(new)
}

/// Appends a field.
fn push(new: &mut New, field: &Field, column: &Column, takes: &Takes) -> Result<(), String> {
    let null = *field == Field::Null;
    new.nulls.push(null);
    if null && column.nulls == Nulls::None {
        return Err("null, and its schema allows no nulls".into());
    }
    let scalar = match takes {
        Takes::Values => {
            let value = if null { Value::Null } else { value_of(field, column)? };
            new.values.push(value);
            return Ok(());
        }
        Takes::Items(_, shape) if !shape.is_empty() => return push_grid(new, field, column, takes),
        Takes::Items(scalar, _) => Some(scalar),
        Takes::Text => None,
    };
    let bytes = match (&column.nulls, null) {
        // A code that no text has.
        (Nulls::None | Nulls::Native, true) => Vec::new(),
        (Nulls::Sentinel(value), true) => {
            // Written as the value is.
            let field = match (value.as_text(), &column.kind) {
                (Some(text), _) => Field::Any(text.to_string()),
                (None, Kind::Bool) => {
                    new.bytes
                        .push(value.as_u64().and_then(|n| u8::try_from(n).ok()).ok_or("no value for null")?);
                    return Ok(());
                }
                (None, Kind::Timestamp { .. }) => {
                    new.bytes.extend(value.as_i64().ok_or("no value for null")?.to_le_bytes());
                    return Ok(());
                }
                _ => Field::Number(value.to_json_compact()),
            };
            bytes_of(&field, column, scalar)?
        }
        (Nulls::Mask, true) => vec![0; scalar.map_or(0, |scalar| scalar.size as usize)],
        (nulls, false) => {
            let bytes = bytes_of(field, column, scalar)?;
            if let Nulls::Sentinel(value) = nulls
                && is_null_value(&bytes, column, scalar, value)
            {
                return Err("is the value that stands for null here".into());
            }
            bytes
        }
    };
    new.bytes.extend_from_slice(&bytes);
    if scalar.is_none() {
        new.ends.push(new.bytes.len());
    }
    Ok(())
}

/// Appends a field that is an array: lists in lists.
fn push_grid(new: &mut New, field: &Field, column: &Column, takes: &Takes) -> Result<(), String> {
    let Takes::Items(scalar, shape) = takes else { return Ok(()) };
    let flat = Takes::Items(*scalar, Vec::new());
    let nested = match field {
        Field::Nested(value) => value.clone(),
        Field::Any(text) => json(text)?,
        _ => return Err(format!("{field:?} is no list")),
    };
    let mut items = New::default();
    let mut level = vec![&nested];
    for side in shape {
        let mut inner = Vec::new();
        for value in level {
            let list = value.as_list().filter(|list| list.len() as u64 == u64::from(*side));
            inner.extend(list.ok_or_else(|| format!("its rows are arrays of shape {shape:?}"))?);
        }
        level = inner;
    }
    // No item of it is null by itself.
    let plain = Column { nulls: Nulls::None, ..column.clone() };
    for value in level {
        push(&mut items, &Field::of_json(value), &plain, &flat)?;
    }
    new.bytes.extend_from_slice(&items.bytes);
    Ok(())
}

fn json(text: &str) -> Result<Value, String> {
    Value::parse_json(text.as_bytes(), &TextLimits::JSON).map_err(|e| format!("{text:?} is no JSON: {e}"))
}

/// The value of its own length that a field says.
fn value_of(field: &Field, column: &Column) -> Result<Value, String> {
    let no = || format!("{field:?} is no {}", column.type_name());
    let text = match field {
        Field::Any(text) | Field::Text(text) => Some(text.as_str()),
        _ => None,
    };
    match (&column.kind, field) {
        (Kind::VlString, _) => text.map(Value::text).ok_or_else(no),
        (Kind::VlBytes, Field::Bytes(bytes)) => Ok(binary(bytes)),
        (Kind::VlBytes, _) => text.and_then(unhex).map(|bytes| binary(&bytes)).ok_or_else(no),
        (Kind::Nested(spec), Field::Nested(value)) => fitted(spec, value),
        (Kind::Nested(spec), Field::Any(text)) => fitted(spec, &json(text)?),
        (Kind::Object, Field::Any(text)) => json(text),
        (Kind::Object, Field::Bool(b)) => Ok(Value::Bool(*b)),
        (Kind::Object, Field::Number(n)) => Ok(Value::Number(n.clone())),
        (Kind::Object, Field::Text(text)) => Ok(Value::text(text)),
        (Kind::Object, Field::Bytes(bytes)) => Ok(binary(bytes)),
        (Kind::Object, Field::Nested(value)) => Ok(value.clone()),
        _ => Err(no()),
    }
}

/// The item that a field says.
fn bytes_of(field: &Field, column: &Column, scalar: Option<&Scalar>) -> Result<Vec<u8>, String> {
    let kind = column.type_name();
    let no = || format!("{field:?} is no {kind}");
    let text = match field {
        Field::Any(text) | Field::Text(text) => Some(text.as_str()),
        _ => None,
    };
    let number = match field {
        Field::Any(text) | Field::Number(text) => Some(text.as_str()),
        _ => None,
    };
    let Some(scalar) = scalar else { return Ok(text.ok_or_else(no)?.as_bytes().to_vec()) };
    let size = scalar.size as usize;
    let padded = |mut bytes: Vec<u8>| {
        if bytes.len() > size {
            return Err(format!("longer than the {size} bytes of its items"));
        }
        bytes.resize(size, 0);
        Ok(bytes)
    };
    let low = |bytes: [u8; 8]| bytes.get(..size).map(<[u8]>::to_vec).ok_or_else(no);
    match (&column.kind, scalar.kind) {
        (Kind::Bool, _) => match (field, text) {
            (Field::Bool(b), _) => Ok(vec![u8::from(*b)]),
            (Field::Any(_), Some("true" | "True" | "1")) => Ok(vec![1]),
            (Field::Any(_), Some("false" | "False" | "0")) => Ok(vec![0]),
            _ => Err(no()),
        },
        (Kind::Timestamp { timezone, .. }, Scalars::Datetime { unit, .. }) => {
            let count = match field {
                Field::Number(text) => text.parse().ok(),
                Field::Time(_, _, Some(utc)) if *utc != timezone.is_some() => {
                    let text =
                        if *utc { "has a time zone, and its column has none" } else { "has no time zone" };
                    return Err(format!("a time that {text}"));
                }
                Field::Time(count, from, _) => time::converted(*count, *from, unit),
                _ => text.and_then(|text| time::count(text, unit, timezone.is_some())),
            };
            low(count.filter(|count| *count != i64::MIN).ok_or_else(no)?.to_le_bytes())
        }
        (_, Scalars::Int) => {
            let n: i64 = number.and_then(|text| text.parse().ok()).ok_or_else(no)?;
            let unused = 64u32.saturating_sub(8 * scalar.size);
            if (n << unused) >> unused != n {
                return Err(no());
            }
            low(n.to_le_bytes())
        }
        (_, Scalars::Uint) => {
            let n: u64 = number.and_then(|text| text.parse().ok()).ok_or_else(no)?;
            let unused = 64u32.saturating_sub(8 * scalar.size);
            if (n << unused) >> unused != n {
                return Err(no());
            }
            low(n.to_le_bytes())
        }
        (_, Scalars::Float) if size == 4 => {
            let x: f32 = number.and_then(|text| text.parse().ok()).ok_or_else(no)?;
            Ok(x.to_le_bytes().to_vec())
        }
        (_, Scalars::Float) => {
            let x: f64 = number.and_then(|text| text.parse().ok()).ok_or_else(no)?;
            low(x.to_le_bytes())
        }
        (_, Scalars::Unicode) => {
            let text = text.ok_or_else(no)?;
            if text.ends_with('\0') {
                return Err("ends with a zero, which is padding here".into());
            }
            padded(text.chars().flat_map(|c| u32::from(c).to_le_bytes()).collect())
        }
        (_, Scalars::Bytes) => {
            let bytes = match field {
                Field::Bytes(bytes) => bytes.clone(),
                _ => text.and_then(unhex).ok_or_else(no)?,
            };
            if trimmed(&bytes).len() != bytes.len() {
                return Err("ends with a zero, which is padding here".into());
            }
            padded(bytes)
        }
        _ => Err(no()),
    }
}
