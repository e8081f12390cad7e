//! Arrow arrays as values, and as arrays of another type.

use super::error::{Made, Wrong};
use super::schema::is_json;
use super::time;
use super::values::{Form, binary, json, number, of_times, rows, unit};
use crate::value::Value;
use alloc::format;
use alloc::sync::Arc;
use alloc::vec::Vec;
use arrow_array::cast::AsArray;
use arrow_array::types::*;
use arrow_array::{Array, ArrayRef};
use arrow_schema::{DataType, Field, TimeUnit};

/// Deepest lists within lists.
const DEPTH: u32 = 32;

/// The array of `to` whose values are those of `array`.
///
/// # Errors
/// The first row whose value is not of the type.
pub fn fit(array: &ArrayRef, from: &Field, to: &Field) -> Result<ArrayRef, Wrong> {
    if array.data_type() == to.data_type() && is_json(from) == is_json(to) {
        return Ok(Arc::clone(array));
    }
    let one = |row: usize| {
        let found = value(array, row, DEPTH, Form::Json).and_then(|value| match &value {
            Value::Text(text) if is_json(from) => json(text),
            _ => Ok(value),
        });
        found.map_err(|what| Wrong { row, what })
    };
    rows(&(0..array.len()).map(one).collect::<Result<Vec<_>, _>>()?, to, Form::Json)
}

/// The value in a row of an array.
///
/// # Errors
/// Values of a type that is not known here; lists in lists, too deep.
fn value(array: &dyn Array, row: usize, depth: u32, form: Form) -> Made<Value> {
    let unknown = || format!("Arrow values of type {} are not read", array.data_type());
    if array.is_null(row) {
        return Ok(Value::Null);
    }
    let below = depth.checked_sub(1).ok_or("lists in lists, too deep")?;
    let list = |items: &dyn Array| -> Made<Value> {
        (0..items.len()).map(|k| value(items, k, below, form)).collect::<Made<_>>().map(Value::List)
    };
    macro_rules! ints {
        ($type:ty) => {
            Value::int(array.as_primitive_opt::<$type>().ok_or_else(unknown)?.value(row))
        };
    }
    macro_rules! times {
        ($type:ty) => {
            array.as_primitive_opt::<$type>().ok_or_else(unknown)?.value(row)
        };
    }
    Ok(match array.data_type() {
        DataType::Boolean => Value::Bool(array.as_boolean_opt().ok_or_else(unknown)?.value(row)),
        DataType::Int8 => ints!(Int8Type),
        DataType::Int16 => ints!(Int16Type),
        DataType::Int32 => ints!(Int32Type),
        DataType::Int64 => ints!(Int64Type),
        DataType::UInt8 => ints!(UInt8Type),
        DataType::UInt16 => ints!(UInt16Type),
        DataType::UInt32 => ints!(UInt32Type),
        DataType::UInt64 => ints!(UInt64Type),
        // A float of 32 bits becomes the number that it is, not one that is printed alike.
        DataType::Float16 => {
            number(&array.as_primitive_opt::<Float16Type>().ok_or_else(unknown)?.value(row).to_f64())
        }
        DataType::Float32 => {
            number(&array.as_primitive_opt::<Float32Type>().ok_or_else(unknown)?.value(row).into())
        }
        DataType::Float64 => number(&array.as_primitive_opt::<Float64Type>().ok_or_else(unknown)?.value(row)),
        DataType::Timestamp(in_units, zone) => {
            let count = of_times!(array.data_type(), times, return Err(unknown()));
            match form {
                Form::Stored => Value::int(count),
                _ => Value::Text(time::zoned(count, unit(*in_units), zone.is_some())),
            }
        }
        DataType::Utf8 => Value::text(array.as_string_opt::<i32>().ok_or_else(unknown)?.value(row)),
        DataType::LargeUtf8 => Value::text(array.as_string_opt::<i64>().ok_or_else(unknown)?.value(row)),
        DataType::Utf8View => Value::text(array.as_string_view_opt().ok_or_else(unknown)?.value(row)),
        DataType::Binary => binary(array.as_binary_opt::<i32>().ok_or_else(unknown)?.value(row)),
        DataType::LargeBinary => binary(array.as_binary_opt::<i64>().ok_or_else(unknown)?.value(row)),
        DataType::FixedSizeBinary(_) => {
            binary(array.as_fixed_size_binary_opt().ok_or_else(unknown)?.value(row))
        }
        DataType::Dictionary(_, _) => {
            let dictionary = array.as_any_dictionary_opt().ok_or_else(unknown)?;
            let key = value(dictionary.keys(), row, below, form)?
                .as_u64()
                .and_then(|key| usize::try_from(key).ok());
            return value(dictionary.values(), key.ok_or_else(unknown)?, below, form);
        }
        DataType::List(_) => return list(&array.as_list_opt::<i32>().ok_or_else(unknown)?.value(row)),
        DataType::LargeList(_) => return list(&array.as_list_opt::<i64>().ok_or_else(unknown)?.value(row)),
        DataType::FixedSizeList(..) => {
            return list(&array.as_fixed_size_list_opt().ok_or_else(unknown)?.value(row));
        }
        DataType::Struct(fields) => {
            let columns = array.as_struct_opt().ok_or_else(unknown)?.columns();
            let pair = |(field, column): (&Arc<Field>, &ArrayRef)| {
                Ok((field.name().clone(), value(column, row, below, form)?))
            };
            return fields.iter().zip(columns).map(pair).collect::<Made<_>>().map(Value::Object);
        }
        _ => return Err(unknown()),
    })
}

/// The value in a row of an array, as a table stores it.
///
/// # Errors
/// Values of a type that is not known here.
pub fn stored(array: &dyn Array, row: usize) -> Made<Value> {
    value(array, row, DEPTH, Form::Stored)
}
