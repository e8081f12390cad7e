//! Tables as Arrow files (the IPC file format), without compression.
//!
//! Dictionaries stay dictionaries, and arrays in rows become lists of fixed size. Objects, which have no schema, are
//! JSON text, marked as the extension type `arrow.json`.

use super::Named;
use super::text;
use crate::failure::{Failure, Result};
use crate::readers::table::cells::{Cells, Item, Part, bytes_of, item};
use crate::readers::table::schema::{Column, Kind};
use arrow_array::types::{
    Float16Type, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type,
    TimestampMicrosecondType, TimestampMillisecondType, TimestampNanosecondType, TimestampSecondType,
    UInt8Type, UInt16Type, UInt32Type, UInt64Type,
};
use arrow_array::{
    Array, ArrayRef, ArrowPrimitiveType, BinaryArray, BooleanArray, DictionaryArray, FixedSizeListArray,
    Int32Array, LargeListArray, LargeStringArray, ListArray, PrimitiveArray, RecordBatch, StringArray,
    StructArray,
};
use arrow_buffer::{NullBuffer, OffsetBuffer};
use arrow_ipc::writer::FileWriter;
use arrow_schema::{ArrowError, DataType, Field, Schema, TimeUnit};
use blosc_frame::dtype::{Dtype, Kind as Scalars, Scalar};
use blosc_frame::value::Value;
use std::io::Write;
use std::sync::Arc;

/// Most bytes of text, or entries of lists, in a column of a batch: offsets have 32 bits.
const MOST: usize = i32::MAX as usize;

/// Why an array was not made.
type Made<T = ArrayRef> = std::result::Result<T, String>;

/// The type of a column with this schema.
///
/// # Errors
/// Why there is none.
pub fn data_type(spec: &Value) -> Made<DataType> {
    let text = |name: &str| spec.get(name).and_then(Value::as_text);
    let kind = text("kind").unwrap_or("");
    Ok(match kind {
        "bool" => DataType::Boolean,
        "string" | "utf8" | "vlstring" | "object" => DataType::Utf8,
        "bytes" | "vlbytes" => DataType::Binary,
        "dictionary" => DataType::Dictionary(DataType::Int32.into(), DataType::Utf8.into()),
        "timestamp" => {
            let unit = match text("unit").unwrap_or("us") {
                "s" => TimeUnit::Second,
                "ms" => TimeUnit::Millisecond,
                "us" => TimeUnit::Microsecond,
                "ns" => TimeUnit::Nanosecond,
                other => return Err(format!("Arrow has no times in {other}")),
            };
            DataType::Timestamp(unit, text("timezone").map(Into::into))
        }
        "list" => DataType::List(Arc::new(Field::new("item", inner(spec.get("item"))?, true))),
        "struct" => {
            let fields = spec.get("fields").and_then(Value::as_list).unwrap_or_default();
            let field = |spec: &Value| {
                let name = spec.get("name").and_then(Value::as_text).ok_or("a field without a name")?;
                Ok(Field::new(name, inner(Some(spec))?, true))
            };
            DataType::Struct(fields.iter().map(field).collect::<Made<Vec<Field>>>()?.into())
        }
        "ndarray" => {
            let dtype = Dtype::parse(text("dtype_str").unwrap_or("")).map_err(|e| e.to_string())?;
            let Dtype::Scalar(scalar) = dtype else { return Err("Arrow has no such items".into()) };
            let shape = spec.get("item_shape").and_then(Value::as_list).unwrap_or_default();
            let mut data_type = scalar_type(&scalar)?;
            for side in shape.iter().rev() {
                let side = side.as_u64().and_then(|n| i32::try_from(n).ok()).filter(|n| *n > 0);
                let side = side.ok_or("Arrow has no arrays without items")?;
                data_type = DataType::FixedSizeList(Arc::new(Field::new("item", data_type, true)), side);
            }
            data_type
        }
        number => match Dtype::parse(number) {
            Ok(Dtype::Scalar(scalar)) => scalar_type(&scalar)?,
            _ => return Err(format!("Arrow has no type for {number}")),
        },
    })
}

/// The type of what lies in a list or struct.
fn inner(spec: Option<&Value>) -> Made<DataType> {
    let spec = spec.ok_or("a list without a type")?;
    match spec.get("kind").and_then(Value::as_text) {
        Some(kind @ ("object" | "dictionary" | "ndarray")) => Err(format!("{kind} in a list or struct")),
        _ => data_type(spec),
    }
}

fn scalar_type(scalar: &Scalar) -> Made<DataType> {
    Ok(match (scalar.kind, scalar.size) {
        (Scalars::Bool, _) => DataType::Boolean,
        (Scalars::Int, 1) => DataType::Int8,
        (Scalars::Int, 2) => DataType::Int16,
        (Scalars::Int, 4) => DataType::Int32,
        (Scalars::Int, 8) => DataType::Int64,
        (Scalars::Uint, 1) => DataType::UInt8,
        (Scalars::Uint, 2) => DataType::UInt16,
        (Scalars::Uint, 4) => DataType::UInt32,
        (Scalars::Uint, 8) => DataType::UInt64,
        (Scalars::Float, 2) => DataType::Float16,
        (Scalars::Float, 4) => DataType::Float32,
        (Scalars::Float, 8) => DataType::Float64,
        (Scalars::Unicode, _) => DataType::Utf8,
        (Scalars::Bytes, _) => DataType::Binary,
        (Scalars::Complex, _) => return Err("Arrow has no complex numbers".into()),
        _ => return Err("Arrow has no such items".into()),
    })
}

/// Writes batches of rows to an Arrow file.
pub struct ArrowWriter<'a> {
    columns: &'a [Named],
    schema: Arc<Schema>,
    writer: FileWriter<&'a mut dyn Write>,
}

impl<'a> ArrowWriter<'a> {
    pub fn new(columns: &'a [Named], sink: &'a mut dyn Write) -> Result<ArrowWriter<'a>> {
        let field = |column: &Named| {
            let data_type = column.data_type.clone().unwrap_or(DataType::Null);
            let Column { name, kind, .. } = &column.column;
            let listed = matches!(kind, Kind::Nested(_) | Kind::Object | Kind::VlString | Kind::VlBytes);
            let field = Field::new(name, data_type, listed || column.column.is_nullable());
            match *kind == Kind::Object && *field.data_type() == DataType::Utf8 {
                true => field.with_metadata(
                    [("ARROW:extension:name", "arrow.json"), ("ARROW:extension:metadata", "")]
                        .map(|(name, value)| (name.to_string(), value.to_string()))
                        .into(),
                ),
                false => field,
            }
        };
        let schema = Arc::new(Schema::new(columns.iter().map(field).collect::<Vec<_>>()));
        let writer = FileWriter::try_new(sink, &schema).map_err(failed)?;
        Ok(ArrowWriter { columns, schema, writer })
    }

    /// Writes rows.
    ///
    /// # Errors
    /// Values that are not what the schema says.
    pub fn batch(&mut self, rows: usize, parts: &[Part]) -> Result<()> {
        let mut arrays = Vec::new();
        for (column, part) in self.columns.iter().zip(parts) {
            let made = array(part, column);
            let made =
                made.map_err(|what| Failure::Data(format!("column {}: {what}", column.column.name)))?;
            if made.len() != rows {
                return Err(Failure::Data(format!("column {}: rows are missing", column.column.name)));
            }
            arrays.push(made);
        }
        let batch = RecordBatch::try_new(Arc::clone(&self.schema), arrays).map_err(failed)?;
        self.writer.write(&batch).map_err(failed)
    }

    pub fn finish(mut self) -> Result<()> {
        self.writer.finish().map_err(failed)
    }
}

fn failed(error: ArrowError) -> Failure {
    match error {
        ArrowError::IoError(_, error) => error.into(),
        error => Failure::Data(format!("Arrow file: {error}")),
    }
}

/// The texts of a dictionary.
pub fn texts(values: &[String]) -> Result<ArrayRef> {
    strings(&values.iter().map(|text| Some(text.as_str())).collect::<Vec<_>>()).map_err(Failure::Data)
}

fn strings(texts: &[Option<&str>]) -> Made {
    let total = texts.iter().flatten().fold(0usize, |n, text| n.saturating_add(text.len()));
    if total > MOST {
        return Err(format!("{total} bytes of text in a batch of rows"));
    }
    Ok(Arc::new(StringArray::from_iter(texts.iter().copied())))
}

fn binaries(bytes: &[Option<&[u8]>]) -> Made {
    let total = bytes.iter().flatten().fold(0usize, |n, bytes| n.saturating_add(bytes.len()));
    if total > MOST {
        return Err(format!("{total} bytes in a batch of rows"));
    }
    Ok(Arc::new(BinaryArray::from_iter(bytes.iter().copied())))
}

/// Which rows are valid; `None` where all are.
fn valid(nulls: Option<&Vec<bool>>) -> Option<NullBuffer> {
    let nulls = nulls.filter(|nulls| nulls.contains(&true))?;
    Some(nulls.iter().map(|null| !null).collect::<Vec<bool>>().into())
}

/// A column of a batch.
fn array(part: &Part, column: &Named) -> Made {
    let some = |row: usize| !part.is_null(row);
    let data_type = column.data_type.as_ref().ok_or("no type")?;
    match &part.cells {
        Cells::Items { scalar, shape, bytes } => items(scalar, shape, bytes, part, data_type),
        Cells::Codes { codes, .. } => {
            let keys = codes.iter().enumerate().map(|(row, code)| some(row).then_some(*code));
            let values = column.dictionary.clone().ok_or("no dictionary")?;
            let array = DictionaryArray::try_new(Int32Array::from_iter(keys), values);
            Ok(Arc::new(array.map_err(|e| e.to_string())?))
        }
        Cells::Text(texts) => {
            let rows = texts.iter().enumerate().map(|(row, text)| some(row).then_some(text.as_str()));
            strings(&rows.collect::<Vec<_>>())
        }
        Cells::Bytes(bytes) => {
            let rows = bytes.iter().enumerate().map(|(row, bytes)| some(row).then_some(bytes.as_slice()));
            binaries(&rows.collect::<Vec<_>>())
        }
        Cells::Values(values) if column.column.kind == Kind::Object && *data_type == DataType::Utf8 => {
            let rows: Vec<Option<String>> =
                values.iter().enumerate().map(|(row, value)| some(row).then(|| text::value(value))).collect();
            strings(&rows.iter().map(Option::as_deref).collect::<Vec<_>>())
        }
        Cells::Values(values) => {
            let rows = values.iter().enumerate().map(|(row, value)| some(row).then_some(value));
            nested(&rows.collect::<Vec<_>>(), data_type)
        }
    }
}

/// Items of a fixed size.
fn items(scalar: &Scalar, shape: &[u32], bytes: &[u8], part: &Part, data_type: &DataType) -> Made {
    // Nulls are whole rows.
    let nulls = if shape.is_empty() { valid(part.nulls.as_ref()) } else { None };
    macro_rules! numbers {
        ($type:ty) => {{
            let (items, _) = bytes.as_chunks();
            let items = items.iter().map(|item| <$type as ArrowPrimitiveType>::Native::from_le_bytes(*item));
            Arc::new(PrimitiveArray::<$type>::new(items.collect::<Vec<_>>().into(), nulls))
        }};
    }
    macro_rules! times {
        ($type:ty, $zone:expr) => {{
            let (items, _) = bytes.as_chunks();
            let items = items.iter().map(|item| i64::from_le_bytes(*item)).collect::<Vec<_>>();
            Arc::new(PrimitiveArray::<$type>::new(items.into(), nulls).with_timezone_opt($zone.clone()))
        }};
    }
    let mut leaf = data_type;
    while let DataType::FixedSizeList(field, _) = leaf {
        leaf = field.data_type();
    }
    let size = scalar.size.max(1) as usize;
    let rows = || bytes.chunks_exact(size).enumerate();
    let is_valid = |row: usize| !shape.is_empty() || !part.is_null(row);
    let mut array: ArrayRef = match (leaf, size) {
        (DataType::Boolean, 1) => Arc::new(BooleanArray::new(
            bytes.iter().map(|byte| *byte != 0).collect::<Vec<bool>>().into(),
            nulls,
        )),
        (DataType::Int8, 1) => numbers!(Int8Type),
        (DataType::Int16, 2) => numbers!(Int16Type),
        (DataType::Int32, 4) => numbers!(Int32Type),
        (DataType::Int64, 8) => numbers!(Int64Type),
        (DataType::UInt8, 1) => numbers!(UInt8Type),
        (DataType::UInt16, 2) => numbers!(UInt16Type),
        (DataType::UInt32, 4) => numbers!(UInt32Type),
        (DataType::UInt64, 8) => numbers!(UInt64Type),
        (DataType::Float16, 2) => numbers!(Float16Type),
        (DataType::Float32, 4) => numbers!(Float32Type),
        (DataType::Float64, 8) => numbers!(Float64Type),
        (DataType::Timestamp(TimeUnit::Second, zone), 8) => times!(TimestampSecondType, zone),
        (DataType::Timestamp(TimeUnit::Millisecond, zone), 8) => times!(TimestampMillisecondType, zone),
        (DataType::Timestamp(TimeUnit::Microsecond, zone), 8) => times!(TimestampMicrosecondType, zone),
        (DataType::Timestamp(TimeUnit::Nanosecond, zone), 8) => times!(TimestampNanosecondType, zone),
        (DataType::Utf8 | DataType::Binary, _) => {
            let mut found: Vec<Option<Vec<u8>>> = Vec::new();
            for (row, bytes) in rows() {
                found.push(match item(scalar, bytes) {
                    _ if !is_valid(row) => None,
                    Some(Item::Text(text)) => Some(text.into_bytes()),
                    Some(Item::Bytes(bytes)) => Some(bytes),
                    _ => return Err("text that is none".into()),
                });
            }
            let bytes: Vec<Option<&[u8]>> = found.iter().map(Option::as_deref).collect();
            match leaf {
                DataType::Binary => binaries(&bytes)?,
                _ => {
                    let texts: std::result::Result<Vec<Option<&str>>, _> =
                        bytes.iter().map(|bytes| bytes.map(str::from_utf8).transpose()).collect();
                    strings(&texts.map_err(|e| e.to_string())?)?
                }
            }
        }
        _ => return Err(format!("items of {size} bytes are no {leaf}")),
    };
    for (k, side) in shape.iter().enumerate().rev() {
        let side = i32::try_from(*side).map_err(|_| "rows are too large")?;
        let nulls = if k == 0 { valid(part.nulls.as_ref()) } else { None };
        let field = Arc::new(Field::new("item", array.data_type().clone(), true));
        array = Arc::new(FixedSizeListArray::try_new(field, side, array, nulls).map_err(|e| e.to_string())?);
    }
    Ok(array)
}

/// Numbers from values.
fn numbers<T: ArrowPrimitiveType>(
    values: &[Option<&Value>],
    number: impl Fn(&Value) -> Option<T::Native>,
) -> Made<PrimitiveArray<T>> {
    let one = |value: &Option<&Value>| match value {
        Some(value) => number(value).map(Some).ok_or_else(|| not(value, &T::DATA_TYPE)),
        None => Ok(None),
    };
    Ok(PrimitiveArray::from_iter(values.iter().map(one).collect::<Made<Vec<_>>>()?))
}

/// What is said of a value of another type.
fn not(value: &Value, data_type: &DataType) -> String {
    let text: String = text::value(value).chars().take(40).collect();
    format!("{text} is no {data_type}")
}

/// Values of a type; nil is null.
fn nested(values: &[Option<&Value>], data_type: &DataType) -> Made {
    let values: Vec<Option<&Value>> =
        values.iter().map(|value| value.filter(|v| **v != Value::Null)).collect();
    let values = values.as_slice();
    let list = |sizes: &mut Vec<usize>| -> Made<(Vec<Option<&Value>>, Option<NullBuffer>)> {
        let mut entries = Vec::new();
        for value in values {
            let items =
                value.map(|value| value.as_list().ok_or_else(|| not(value, data_type))).transpose()?;
            sizes.push(items.map_or(0, <[Value]>::len));
            entries.extend(items.unwrap_or_default().iter().map(Some));
        }
        match entries.len() > MOST {
            true => Err(format!("{} entries of lists in a batch of rows", entries.len())),
            false => Ok((entries, Some(values.iter().map(Option::is_some).collect::<Vec<bool>>().into()))),
        }
    };
    let mut sizes = Vec::new();
    let error = |e: ArrowError| e.to_string();
    Ok(match data_type {
        DataType::List(field) => {
            let (entries, valid) = list(&mut sizes)?;
            let entries = nested(&entries, field.data_type())?;
            let offsets = OffsetBuffer::from_lengths(sizes);
            Arc::new(ListArray::try_new(Arc::clone(field), offsets, entries, valid).map_err(error)?)
        }
        DataType::LargeList(field) => {
            let (entries, valid) = list(&mut sizes)?;
            let entries = nested(&entries, field.data_type())?;
            let offsets = OffsetBuffer::from_lengths(sizes);
            Arc::new(LargeListArray::try_new(Arc::clone(field), offsets, entries, valid).map_err(error)?)
        }
        DataType::Struct(fields) => {
            if let Some(value) = values.iter().flatten().find(|value| value.as_object().is_none()) {
                return Err(not(value, data_type));
            }
            let column = |field: &Arc<Field>| {
                let column: Vec<Option<&Value>> =
                    values.iter().map(|value| value.and_then(|value| value.get(field.name()))).collect();
                nested(&column, field.data_type())
            };
            let columns = fields.iter().map(column).collect::<Made<Vec<_>>>()?;
            let valid: NullBuffer = values.iter().map(Option::is_some).collect::<Vec<bool>>().into();
            Arc::new(StructArray::try_new(fields.clone(), columns, Some(valid)).map_err(error)?)
        }
        _ => flat(values, data_type)?,
    })
}

/// Values of a type that holds no others; there is no nil.
fn flat(values: &[Option<&Value>], data_type: &DataType) -> Made {
    macro_rules! ints {
        ($type:ty, $from:ident) => {
            Arc::new(numbers::<$type>(values, |value| value.$from()?.try_into().ok())?)
        };
    }
    macro_rules! times {
        ($type:ty, $zone:expr) => {
            Arc::new(numbers::<$type>(values, Value::as_i64)?.with_timezone_opt($zone.clone()))
        };
    }
    Ok(match data_type {
        DataType::Boolean => {
            let one = |value: &Option<&Value>| match value {
                Some(Value::Bool(b)) => Ok(Some(*b)),
                Some(value) => Err(not(value, data_type)),
                None => Ok(None),
            };
            Arc::new(BooleanArray::from(values.iter().map(one).collect::<Made<Vec<_>>>()?))
        }
        DataType::Int8 => ints!(Int8Type, as_i64),
        DataType::Int16 => ints!(Int16Type, as_i64),
        DataType::Int32 => ints!(Int32Type, as_i64),
        DataType::Int64 => ints!(Int64Type, as_i64),
        DataType::UInt8 => ints!(UInt8Type, as_u64),
        DataType::UInt16 => ints!(UInt16Type, as_u64),
        DataType::UInt32 => ints!(UInt32Type, as_u64),
        DataType::UInt64 => ints!(UInt64Type, as_u64),
        DataType::Float32 => Arc::new(numbers::<Float32Type>(values, |value| Some(value.as_f64()? as f32))?),
        DataType::Float64 => Arc::new(numbers::<Float64Type>(values, Value::as_f64)?),
        DataType::Timestamp(TimeUnit::Second, zone) => times!(TimestampSecondType, zone),
        DataType::Timestamp(TimeUnit::Millisecond, zone) => times!(TimestampMillisecondType, zone),
        DataType::Timestamp(TimeUnit::Microsecond, zone) => times!(TimestampMicrosecondType, zone),
        DataType::Timestamp(TimeUnit::Nanosecond, zone) => times!(TimestampNanosecondType, zone),
        DataType::Utf8 | DataType::LargeUtf8 => {
            let one = |value: &Option<&'_ Value>| match value {
                Some(value) => {
                    value.as_text().map(str::to_string).map(Some).ok_or_else(|| not(value, data_type))
                }
                None => Ok(None),
            };
            let texts = values.iter().map(one).collect::<Made<Vec<Option<String>>>>()?;
            match data_type {
                DataType::LargeUtf8 => Arc::new(LargeStringArray::from(texts)),
                _ => strings(&texts.iter().map(Option::as_deref).collect::<Vec<_>>())?,
            }
        }
        DataType::Binary => {
            let one = |value: &Option<&'_ Value>| match value {
                Some(value) => bytes_of(value).map(Some).ok_or_else(|| not(value, data_type)),
                None => Ok(None),
            };
            let bytes = values.iter().map(one).collect::<Made<Vec<Option<Vec<u8>>>>>()?;
            binaries(&bytes.iter().map(Option::as_deref).collect::<Vec<_>>())?
        }
        other => return Err(format!("values of type {other} are not written")),
    })
}
