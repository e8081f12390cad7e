//! Fields of new rows as items of a column, or refused.

use super::rows::{Field, Rows};
use crate::failure::{Failure, Result};
use crate::readers::table::cells::{trimmed, unhex};
use crate::readers::table::column::is_null_value;
use crate::readers::table::schema::{Column, Kind, Nulls};
use crate::writers::table::time;
use blosc_frame::dtype::{ByteOrder, Kind as Scalars, Scalar};
use std::path::Path;

/// New rows of a column.
#[derive(Default)]
pub struct New {
    /// Items, or text.
    pub bytes: Vec<u8>,
    /// Where each text ends in `bytes`.
    pub ends: Vec<usize>,
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

/// Fits rows to the columns of a table.
///
/// # Errors
/// A column without a field, a field without a column, and a field that does not fit, by their names.
pub fn fit(path: &Path, rows: &Rows, columns: &[(&Column, Option<Scalar>)]) -> Result<Vec<New>> {
    let wrong = |what: String| Failure::at(path, what);
    if let Some(name) = rows.names.iter().find(|name| columns.iter().all(|(column, _)| column.name != **name))
    {
        return Err(wrong(format!("the table has no column {name}")));
    }
    let mut all = Vec::new();
    for (column, scalar) in columns {
        let field = rows.names.iter().position(|name| *name == column.name);
        let field = field.ok_or_else(|| wrong(format!("has no field for column {}", column.name)))?;
        let mut new = New::default();
        for (k, row) in rows.rows.iter().enumerate() {
            let field = row.get(field).unwrap_or(&Field::Null);
            push(&mut new, field, column, scalar.as_ref())
                .map_err(|what| wrong(format!("row {}, column {}: {what}", k + 1, column.name)))?;
        }
        all.push(new);
    }
    Ok(all)
}

/// Appends a field.
fn push(
    new: &mut New,
    field: &Field,
    column: &Column,
    scalar: Option<&Scalar>,
) -> std::result::Result<(), String> {
    let null = *field == Field::Null;
    new.nulls.push(null);
    let bytes = match (&column.nulls, null) {
        (Nulls::None | Nulls::Native, true) => return Err("null, and its schema allows no nulls".into()),
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

/// The item that a field says.
fn bytes_of(field: &Field, column: &Column, scalar: Option<&Scalar>) -> std::result::Result<Vec<u8>, String> {
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
            let bytes = text.and_then(unhex).ok_or_else(no)?;
            if trimmed(&bytes).len() != bytes.len() {
                return Err("ends with a zero, which is padding here".into());
            }
            padded(bytes)
        }
        _ => Err(no()),
    }
}
