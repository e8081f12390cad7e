//! Arrow streams of one column, as `BatchArray` keeps lists: their values.

use arrow_array::cast::AsArray;
use arrow_array::types::{
    Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type, UInt8Type, UInt16Type, UInt32Type,
    UInt64Type,
};
use arrow_array::{Array, ArrowPrimitiveType};
use arrow_ipc::reader::StreamReader;
use arrow_schema::DataType;
use blosc_frame::value::Value;
use std::collections::VecDeque;
use std::fmt::Debug;

/// Deepest lists within lists.
const DEPTH: u32 = 32;

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

/// One row.
fn value(array: &dyn Array, row: usize, depth: u32) -> Result<Value, String> {
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
