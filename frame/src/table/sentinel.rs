//! [`Sentinel`]: the value of a column that stands for null.

use super::base64;
use super::bytes::{items, trimmed};
use super::error::Made;
use super::schema::{Column, Kind, Nulls};
use super::values::{self, Form};
use crate::dtype::{Kind as Scalars, Scalar};
use crate::value::Value;
use alloc::format;
use alloc::vec::Vec;

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
    pub fn bytes(&self) -> Vec<u8> {
        match self {
            Sentinel::Nan(scalar) if scalar.size == 4 => f32::NAN.to_le_bytes().to_vec(),
            Sentinel::Nan(_) => f64::NAN.to_le_bytes().to_vec(),
            Sentinel::Bytes(bytes, _) => bytes.clone(),
        }
    }
}
