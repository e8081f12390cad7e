//! Types as values of metadata: the text of a type, or the fields of a record as nested lists.

use super::types::{Dtype, DtypeError};
use crate::value::Value;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

impl Dtype {
    /// The type that a value of JSON or MessagePack describes: the text of a type, or the `descr` of a record, whose
    /// tuples are lists.
    ///
    /// # Errors
    /// As [`Dtype::parse_descr`], and for a value that is neither text nor list.
    pub fn from_value(value: &Value) -> Result<Dtype, DtypeError> {
        match value {
            Value::Text(text) => Dtype::parse_descr(text),
            Value::List(_) | Value::Tuple(_) => Dtype::parse_descr(&literal(value)),
            _ => Err(DtypeError::Unknown { offset: 0 }),
        }
    }
}

/// Nested lists as the literal they stand for: fields are tuples, records lists of fields.
fn literal(dtype: &Value) -> String {
    let join = |items: Vec<String>| items.join(", ");
    match dtype {
        Value::List(fields) | Value::Tuple(fields) => {
            let field = |field: &Value| match field.as_list() {
                Some([name, dtype, rest @ ..]) => {
                    let mut parts = alloc::vec![tuple(name), literal(dtype)];
                    parts.extend(rest.iter().map(tuple));
                    format!("({})", join(parts))
                }
                _ => field.to_json_compact(),
            };
            format!("[{}]", join(fields.iter().map(field).collect()))
        }
        other => quote(other),
    }
}

/// A name, a title and name, or a shape.
fn tuple(value: &Value) -> String {
    match value.as_list() {
        Some(items) => {
            let parts: String = items.iter().map(|item| format!("{},", quote(item))).collect();
            format!("({parts})")
        }
        None => quote(value),
    }
}

fn quote(value: &Value) -> String {
    match value {
        Value::Text(s) => format!("'{}'", s.replace('\\', "\\\\").replace('\'', "\\'")),
        other => other.to_json_compact(),
    }
}
