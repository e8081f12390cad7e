//! Values of Arrow arrays; and Arrow streams of one column, as `BatchArray` keeps lists.

use arrow_array::cast::AsArray;
use arrow_array::types::{
    Float16Type, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type,
    TimestampMicrosecondType, TimestampMillisecondType, TimestampNanosecondType, TimestampSecondType,
    UInt8Type, UInt16Type, UInt32Type, UInt64Type,
};
use arrow_array::{Array, ArrowPrimitiveType};
use arrow_ipc::reader::StreamReader;
use arrow_schema::{DataType, TimeUnit};
use blosc_frame::dtype::Unit;
use blosc_frame::value::Value;
use std::collections::VecDeque;
use std::fmt::Debug;

/// Deepest lists within lists.
pub const DEPTH: u32 = 32;

/// The rows of the only column of a stream.
///
/// # Errors
/// A stream that is damaged, has other columns, or values that are not known here.
pub fn column(stream: &[u8]) -> Result<VecDeque<Value>, String> {
    let reader = StreamReader::try_new(stream, None).map_err(|e| e.to_string())?;
    let mut rows = VecDeque::new();
    for batch in reader {
        let batch = batch.map_err(|e| e.to_string())?;
        let [column] = batch.columns() else { return Err("an Arrow stream of one column expected".into()) };
        for row in 0..column.len() {
            rows.push_back(value(column, row, DEPTH)?);
        }
    }
    Ok(rows)
}

fn number<T: ArrowPrimitiveType>(array: &dyn Array, row: usize) -> Option<T::Native> {
    Some(array.as_primitive_opt::<T>()?.value(row))
}

/// Floats as the library's values write them.
fn float(text: &dyn Debug) -> Value {
    Value::Number(format!("{text:?}").replace("inf", "Infinity"))
}

/// The time in a row of an array of times: a count of units since 1970, and whether it is UTC. `None` where it is no time.
pub fn time(array: &dyn Array, row: usize) -> Option<(i64, Unit, bool)> {
    if array.is_null(row) {
        return None;
    }
    let (count, unit, zone) = match array.data_type() {
        DataType::Timestamp(TimeUnit::Second, zone) => {
            (number::<TimestampSecondType>(array, row)?, Unit::Second, zone)
        }
        DataType::Timestamp(TimeUnit::Millisecond, zone) => {
            (number::<TimestampMillisecondType>(array, row)?, Unit::Milli, zone)
        }
        DataType::Timestamp(TimeUnit::Microsecond, zone) => {
            (number::<TimestampMicrosecondType>(array, row)?, Unit::Micro, zone)
        }
        DataType::Timestamp(TimeUnit::Nanosecond, zone) => {
            (number::<TimestampNanosecondType>(array, row)?, Unit::Nano, zone)
        }
        _ => return None,
    };
    Some((count, unit, zone.is_some()))
}

/// The bytes in a row of an array of bytes.
pub fn bytes(array: &dyn Array, row: usize) -> Option<&[u8]> {
    if array.is_null(row) {
        return None;
    }
    match array.data_type() {
        DataType::Binary => Some(array.as_binary_opt::<i32>()?.value(row)),
        DataType::LargeBinary => Some(array.as_binary_opt::<i64>()?.value(row)),
        DataType::FixedSizeBinary(_) => Some(array.as_fixed_size_binary_opt()?.value(row)),
        _ => None,
    }
}

/// The float in a row of an array of floats of 32 bits or less.
pub fn single(array: &dyn Array, row: usize) -> Option<f32> {
    match array.data_type() {
        _ if array.is_null(row) => None,
        DataType::Float16 => number::<Float16Type>(array, row).map(|x| x.to_f32()),
        DataType::Float32 => number::<Float32Type>(array, row),
        _ => None,
    }
}

/// One row.
///
/// # Errors
/// Values of a type that is not known here.
pub fn value(array: &dyn Array, row: usize, depth: u32) -> Result<Value, String> {
    let unknown = || format!("Arrow values of type {} are not read", array.data_type());
    if array.is_null(row) {
        return Ok(Value::Null);
    }
    let below = depth.checked_sub(1).ok_or("lists in lists, too deep")?;
    let list = |items: &dyn Array| -> Result<Value, String> {
        (0..items.len()).map(|k| value(items, k, below)).collect::<Result<_, _>>().map(Value::List)
    };
    let found = match array.data_type() {
        DataType::Null => Some(Value::Null),
        DataType::Boolean => array.as_boolean_opt().map(|a| Value::Bool(a.value(row))),
        DataType::Int8 => number::<Int8Type>(array, row).map(Value::int),
        DataType::Int16 => number::<Int16Type>(array, row).map(Value::int),
        DataType::Int32 => number::<Int32Type>(array, row).map(Value::int),
        DataType::Int64 => number::<Int64Type>(array, row).map(Value::int),
        DataType::UInt8 => number::<UInt8Type>(array, row).map(Value::int),
        DataType::UInt16 => number::<UInt16Type>(array, row).map(Value::int),
        DataType::UInt32 => number::<UInt32Type>(array, row).map(Value::int),
        DataType::UInt64 => number::<UInt64Type>(array, row).map(Value::int),
        DataType::Float32 => number::<Float32Type>(array, row).map(|x| float(&x)),
        DataType::Float64 => number::<Float64Type>(array, row).map(|x| float(&x)),
        DataType::Utf8 => array.as_string_opt::<i32>().map(|a| Value::text(a.value(row))),
        DataType::LargeUtf8 => array.as_string_opt::<i64>().map(|a| Value::text(a.value(row))),
        DataType::Binary => array.as_binary_opt::<i32>().map(|a| binary(a.value(row))),
        DataType::LargeBinary => array.as_binary_opt::<i64>().map(|a| binary(a.value(row))),
        DataType::Dictionary(_, _) => {
            let dictionary = array.as_any_dictionary_opt().ok_or_else(unknown)?;
            let key = dictionary.normalized_keys().get(row).copied().ok_or_else(unknown)?;
            return value(dictionary.values(), key, below);
        }
        DataType::List(_) => {
            return list(&array.as_list_opt::<i32>().ok_or_else(unknown)?.value(row));
        }
        DataType::LargeList(_) => {
            return list(&array.as_list_opt::<i64>().ok_or_else(unknown)?.value(row));
        }
        DataType::FixedSizeList(_, _) => {
            return list(&array.as_fixed_size_list_opt().ok_or_else(unknown)?.value(row));
        }
        DataType::Struct(fields) => {
            let columns = array.as_struct_opt().ok_or_else(unknown)?.columns();
            let pair =
                |(field, column): (&std::sync::Arc<arrow_schema::Field>, &std::sync::Arc<dyn Array>)| {
                    Ok((field.name().clone(), value(column, row, below)?))
                };
            return fields.iter().zip(columns).map(pair).collect::<Result<_, _>>().map(Value::Object);
        }
        _ => None,
    };
    found.ok_or_else(unknown)
}

/// Bytes, as MessagePack's are shown.
fn binary(bytes: &[u8]) -> Value {
    Value::object([("bin", Value::text(super::cells::hex(bytes)))])
}
