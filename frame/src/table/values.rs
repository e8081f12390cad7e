//! Values of MessagePack and JSON as Arrow arrays. What does not fit a type exactly is refused.

use super::error::{Made, Wrong};
use super::schema::{is_complex, is_json};
use super::time;
use crate::dtype::Unit;
use crate::value::{TextLimits, Value};
use alloc::format;
use alloc::string::{String, ToString};
use alloc::sync::Arc;
use alloc::vec::Vec;
use arrow_array::types::*;
use arrow_array::*;
use arrow_buffer::{NullBuffer, OffsetBuffer};
use arrow_schema::{ArrowError, DataType, Field, TimeUnit};

/// Most bytes of text, or entries of lists, in a column of a batch: offsets have 32 bits.
const MOST: usize = i32::MAX as usize;

/// Calls the macro `$with` with the Arrow type of the numbers that `$data_type` is.
macro_rules! of_numbers {
    ($data_type:expr, $with:ident, $otherwise:expr) => {
        match $data_type {
            DataType::Int8 => $with!(Int8Type),
            DataType::Int16 => $with!(Int16Type),
            DataType::Int32 => $with!(Int32Type),
            DataType::Int64 => $with!(Int64Type),
            DataType::UInt8 => $with!(UInt8Type),
            DataType::UInt16 => $with!(UInt16Type),
            DataType::UInt32 => $with!(UInt32Type),
            DataType::UInt64 => $with!(UInt64Type),
            DataType::Float16 => $with!(Float16Type),
            DataType::Float32 => $with!(Float32Type),
            DataType::Float64 => $with!(Float64Type),
            _ => $otherwise,
        }
    };
}
pub(super) use of_numbers;

/// Calls the macro `$with` with the Arrow type of the times that `$data_type` is.
macro_rules! of_times {
    ($data_type:expr, $with:ident, $otherwise:expr) => {
        match $data_type {
            DataType::Timestamp(TimeUnit::Second, _) => $with!(TimestampSecondType),
            DataType::Timestamp(TimeUnit::Millisecond, _) => $with!(TimestampMillisecondType),
            DataType::Timestamp(TimeUnit::Microsecond, _) => $with!(TimestampMicrosecondType),
            DataType::Timestamp(TimeUnit::Nanosecond, _) => $with!(TimestampNanosecondType),
            _ => $otherwise,
        }
    };
}
pub(super) use of_times;

/// How values are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// As a table stores them: bytes are bytes, times are counts.
    Stored,
    /// As JSON lines have them: bytes are hexadecimal digits, times are text or counts.
    Json,
    /// As CSV has them: everything is text.
    Csv,
}

/// The unit of Arrow's times.
pub fn unit(unit: TimeUnit) -> Unit {
    match unit {
        TimeUnit::Second => Unit::Second,
        TimeUnit::Millisecond => Unit::Milli,
        TimeUnit::Microsecond => Unit::Micro,
        TimeUnit::Nanosecond => Unit::Nano,
    }
}

/// A type, for people.
pub fn type_name(field: &Field) -> String {
    match field.data_type() {
        _ if is_json(field) => "JSON".into(),
        DataType::Utf8 | DataType::LargeUtf8 | DataType::Dictionary(..) => "text".into(),
        DataType::Binary => "text of hexadecimal digits, two for each byte".into(),
        DataType::Boolean => "truth value".into(),
        DataType::Timestamp(..) => "time".into(),
        _ if is_complex(field.data_type()) => "complex number".into(),
        DataType::List(_) | DataType::LargeList(_) | DataType::FixedSizeList(..) => "list".into(),
        DataType::Struct(_) => "object".into(),
        other => other.to_string().to_lowercase(),
    }
}

/// A value, for people.
fn shown(value: &Value) -> String {
    let text = value.to_json_compact();
    match text.char_indices().nth(60) {
        Some((end, _)) => format!("{}...", text.get(..end).unwrap_or("")),
        None => text,
    }
}

fn no(value: &Value, field: &Field) -> String {
    format!("{} is no {}", shown(value), type_name(field))
}

/// JSON text of a table: no name twice, and no half of a surrogate pair.
pub fn json(text: &str) -> Made<Value> {
    Value::parse_json_strict(text.as_bytes(), &TextLimits::JSON).map_err(|e| e.to_string())
}

/// Bytes, which MessagePack tells from text.
pub fn binary(bytes: &[u8]) -> Value {
    Value::object([("bin", Value::text(hex(bytes)))])
}

/// Bytes as hexadecimal digits.
pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The bytes that pairs of hexadecimal digits say.
fn unhex(text: &str) -> Option<Vec<u8>> {
    let (pairs, rest) = text.as_bytes().as_chunks::<2>();
    let digit = |c: u8| char::from(c).to_digit(16);
    let byte = |[a, b]: &[u8; 2]| u8::try_from(digit(*a)? << 4 | digit(*b)?).ok();
    rest.is_empty().then_some(pairs)?.iter().map(byte).collect()
}

/// The bytes of a value that stands for bytes.
fn bytes_of(value: &Value, form: Form) -> Option<Vec<u8>> {
    match value {
        Value::Text(text) if form != Form::Stored => unhex(text),
        value => {
            let [(name, Value::Text(text))] = value.as_object()? else { return None };
            (name == "bin").then(|| unhex(text))?
        }
    }
}

/// A column of rows.
///
/// # Errors
/// The first row whose value is not of the type.
pub fn rows(values: &[Value], field: &Field, form: Form) -> Result<ArrayRef, Wrong> {
    let all: Vec<Option<&Value>> = values.iter().map(Some).collect();
    array(&all, field, form).map_err(|what| {
        let alone = all.iter().enumerate().map(|(row, value)| (row, array(&[*value], field, form)));
        let first = alone.filter_map(|(row, made)| made.err().map(|what| Wrong { row, what })).next();
        first.unwrap_or(Wrong { row: 0, what })
    })
}

/// Values of a type; nil is null.
///
/// # Errors
/// A value that is not of the type.
pub fn array(values: &[Option<&Value>], field: &Field, form: Form) -> Made {
    // Between quotes CSV has an empty text, which is no number.
    let texts = matches!(field.data_type(), DataType::Utf8 | DataType::LargeUtf8 | DataType::Binary);
    let absent = |value: &&Value| match value {
        Value::Null => true,
        Value::Text(text) => form == Form::Csv && !texts && text.is_empty(),
        _ => false,
    };
    let values: Vec<Option<&Value>> = values.iter().map(|value| value.filter(|v| !absent(v))).collect();
    if form == Form::Csv && field.data_type().is_nested() && !is_complex(field.data_type()) {
        let parse = |value: &Option<&Value>| match value {
            Some(Value::Text(text)) => {
                json(text).map_err(|what| format!("{}: {what}", shown(&Value::text(text))))
            }
            _ => Ok(Value::Null),
        };
        let parsed = values.iter().map(parse).collect::<Made<Vec<Value>>>()?;
        let parsed: Vec<Option<&Value>> =
            parsed.iter().map(|value| Some(value).filter(|v| **v != Value::Null)).collect();
        return nested(&parsed, field, Form::Json);
    }
    nested(&values, field, form)
}

/// What each value becomes.
fn each<T>(
    values: &[Option<&Value>],
    field: &Field,
    of: impl Fn(&Value) -> Option<T>,
) -> Made<Vec<Option<T>>> {
    let one = |value: &Option<&Value>| match value {
        Some(value) => of(value).map(Some).ok_or_else(|| no(value, field)),
        None => Ok(None),
    };
    values.iter().map(one).collect()
}

fn error(error: ArrowError) -> String {
    error.to_string()
}

/// The entries of all lists, one behind the other, and how many each has.
fn entries<'v>(
    values: &[Option<&'v Value>],
    field: &Field,
    inner: &Field,
) -> Made<(Vec<Option<&'v Value>>, Vec<usize>)> {
    let (mut all, mut sizes) = (Vec::new(), Vec::new());
    for value in values {
        let items = value.map(|value| value.as_list().ok_or_else(|| no(value, field))).transpose()?;
        let items = items.unwrap_or_default();
        if !inner.is_nullable() && items.contains(&Value::Null) {
            return Err(no(&Value::Null, inner));
        }
        sizes.push(items.len());
        all.extend(items.iter().map(Some));
    }
    match all.len() > MOST {
        true => Err(format!("{} entries of lists in a batch of rows", all.len())),
        false => Ok((all, sizes)),
    }
}

/// Which values are there.
fn valid(values: &[Option<&Value>]) -> Option<NullBuffer> {
    Some(values.iter().map(Option::is_some).collect::<Vec<bool>>().into())
}

fn nested(values: &[Option<&Value>], field: &Field, form: Form) -> Made {
    macro_rules! list {
        ($type:ty, $inner:expr) => {{
            let (all, sizes) = entries(values, field, $inner)?;
            let made = array(&all, $inner, form)?;
            let offsets = OffsetBuffer::from_lengths(sizes);
            Arc::new(<$type>::try_new(Arc::clone($inner), offsets, made, valid(values)).map_err(error)?)
        }};
    }
    Ok(match field.data_type() {
        DataType::List(inner) => list!(ListArray, inner),
        DataType::LargeList(inner) => list!(LargeListArray, inner),
        DataType::FixedSizeList(inner, count) => fixed(values, field, inner, *count, form)?,
        DataType::Struct(fields) => {
            for value in values.iter().flatten() {
                let pairs = value.as_object().ok_or_else(|| no(value, field))?;
                if let Some((name, _)) = pairs.iter().find(|(name, _)| fields.find(name).is_none()) {
                    return Err(format!("{} has a field {name} that its type has not", shown(value)));
                }
            }
            let column = |field: &Arc<Field>| {
                let column: Vec<_> =
                    values.iter().map(|value| value.and_then(|value| value.get(field.name()))).collect();
                array(&column, field, form)
            };
            let columns = fields.iter().map(column).collect::<Made<Vec<_>>>()?;
            Arc::new(StructArray::try_new(fields.clone(), columns, valid(values)).map_err(error)?)
        }
        _ => flat(values, field, form)?,
    })
}

/// Lists of one length.
fn fixed(values: &[Option<&Value>], field: &Field, inner: &Arc<Field>, count: i32, form: Form) -> Made {
    let (size, complex) = (usize::try_from(count).unwrap_or(0), is_complex(field.data_type()));
    let mut texts = Vec::new();
    for value in values {
        texts.push(match value {
            Some(value @ Value::Text(text)) if complex => {
                Some(complex_of(text).ok_or_else(|| no(value, field))?)
            }
            _ => None,
        });
    }
    let values: Vec<_> = values.iter().zip(&texts).map(|(value, text)| text.as_ref().or(*value)).collect();
    if let Some(value) =
        values.iter().flatten().find(|value| value.as_list().is_some_and(|list| list.len() != size))
    {
        return Err(format!("{} has not {size} entries, as all lists have here", shown(value)));
    }
    let (found, _) = entries(&values, field, inner)?;
    let (mut found, mut all) = (found.into_iter(), Vec::new());
    for value in &values {
        match value {
            Some(_) => all.extend(found.by_ref().take(size)),
            None => all.extend(core::iter::repeat_n(None, size)),
        }
    }
    let made = array(&all, inner, form)?;
    Ok(Arc::new(FixedSizeListArray::try_new(Arc::clone(inner), count, made, valid(&values)).map_err(error)?))
}

/// The two parts of a number such as `1+2j`, as a list.
fn complex_of(text: &str) -> Option<Value> {
    let text = text.strip_suffix('j')?;
    // The sign between the parts is no sign of an exponent.
    let bytes = text.as_bytes();
    let at = (1..bytes.len()).rev().find(|k| {
        let before = k.checked_sub(1).and_then(|k| bytes.get(k));
        matches!(bytes.get(*k), Some(b'+' | b'-')) && !matches!(before, Some(b'e' | b'E'))
    })?;
    let (re, im) = text.split_at_checked(at)?;
    let part = |text: &str| float_of(text).map(|x| number(&x));
    Some(Value::List([part(re)?, part(im.strip_prefix('+').unwrap_or(im))?].to_vec()))
}

/// A float as the library's values write it.
pub fn number(x: &f64) -> Value {
    Value::Number(format!("{x:?}").replace("inf", "Infinity"))
}

/// The float that a text says; digits do not say infinity.
pub fn float_of(text: &str) -> Option<f64> {
    let x: f64 = text.parse().ok()?;
    (x.is_finite() || !text.bytes().any(|c| c.is_ascii_digit())).then_some(x)
}

/// As [`float_of`], rounded once.
fn single_of(text: &str) -> Option<f32> {
    let x: f32 = text.parse().ok()?;
    (x.is_finite() || !text.bytes().any(|c| c.is_ascii_digit())).then_some(x)
}

/// The integer that a text says, with a fraction of zeros or without one.
fn int_of(text: &str) -> Option<i128> {
    text.parse().ok().or_else(|| {
        let x = float_of(text)?;
        // Doubles tell neighbours apart up to here.
        (x.fract() == 0.0 && x.abs() <= 9_007_199_254_740_992.0).then_some(x as i128)
    })
}

/// The truth value that a text says.
pub fn bool_of(text: &str) -> Option<bool> {
    match text {
        "true" | "True" | "TRUE" | "1" => Some(true),
        "false" | "False" | "FALSE" | "0" => Some(false),
        _ => None,
    }
}

/// Values of a type that holds no others; there is no nil.
fn flat(values: &[Option<&Value>], field: &Field, form: Form) -> Made {
    let digits = |value: &Value| match value {
        Value::Number(text) => Some(text.clone()),
        Value::Text(text) if form == Form::Csv => Some(text.clone()),
        _ => None,
    };
    let data_type = field.data_type();
    macro_rules! ints {
        ($type:ty) => {
            Arc::new(PrimitiveArray::<$type>::from_iter(each(values, field, |value| {
                int_of(&digits(value)?)?.try_into().ok()
            })?))
        };
    }
    macro_rules! times {
        ($type:ty) => {{
            let one = |value: &Option<&Value>| match value {
                Some(value) => time_of(value, field, form).map(Some),
                None => Ok(None),
            };
            let counts = values.iter().map(one).collect::<Made<Vec<_>>>()?;
            Arc::new(PrimitiveArray::<$type>::from_iter(counts).with_data_type(data_type.clone()))
        }};
    }
    Ok(match data_type {
        DataType::Boolean => Arc::new(BooleanArray::from(each(values, field, |value| match value {
            Value::Bool(b) => Some(*b),
            Value::Text(text) if form == Form::Csv => bool_of(text),
            _ => None,
        })?)),
        DataType::Int8 => ints!(Int8Type),
        DataType::Int16 => ints!(Int16Type),
        DataType::Int32 => ints!(Int32Type),
        DataType::Int64 => ints!(Int64Type),
        DataType::UInt8 => ints!(UInt8Type),
        DataType::UInt16 => ints!(UInt16Type),
        DataType::UInt32 => ints!(UInt32Type),
        DataType::UInt64 => ints!(UInt64Type),
        DataType::Float16 => Arc::new(Float16Array::from_iter(each(values, field, |value| {
            let x = float_of(&digits(value)?)?;
            let half = <Float16Type as ArrowPrimitiveType>::Native::from_f64(x);
            (half.is_finite() || !x.is_finite()).then_some(half)
        })?)),
        DataType::Float32 => {
            Arc::new(Float32Array::from_iter(each(values, field, |value| single_of(&digits(value)?))?))
        }
        DataType::Float64 => {
            Arc::new(Float64Array::from_iter(each(values, field, |value| float_of(&digits(value)?))?))
        }
        DataType::Timestamp(..) => of_times!(data_type, times, return Err("no unit of time".into())),
        DataType::Utf8 if is_json(field) => strings(&each(values, field, |value| match value {
            Value::Text(text) if form == Form::Csv => json(text).ok().map(|value| value.to_json_compact()),
            value => Some(value.to_json_compact()),
        })?)?,
        DataType::Utf8 => strings(&texts_of(values, field)?)?,
        DataType::LargeUtf8 => Arc::new(LargeStringArray::from(texts_of(values, field)?)),
        DataType::Binary => binaries(&each(values, field, |value| bytes_of(value, form))?)?,
        other => return Err(format!("values of type {other} are not written")),
    })
}

/// The texts of values that are such.
fn texts_of<'v>(values: &[Option<&'v Value>], field: &Field) -> Made<Vec<Option<&'v str>>> {
    let one = |value: &Option<&'v Value>| match value {
        Some(value) => value.as_text().map(Some).ok_or_else(|| no(value, field)),
        None => Ok(None),
    };
    values.iter().map(one).collect()
}

/// The count of units that a value says.
fn time_of(value: &Value, field: &Field, form: Form) -> Made<i64> {
    let DataType::Timestamp(in_units, zone) = field.data_type() else { return Err(no(value, field)) };
    match value {
        Value::Text(text) => time::count(text, unit(*in_units), zone.is_some())
            .map_err(|why| format!("{} {why}", shown(value))),
        Value::Number(_) if form != Form::Csv => value.as_i64().ok_or_else(|| no(value, field)),
        _ => Err(no(value, field)),
    }
}

/// Texts of a batch.
pub fn strings<T: AsRef<str>>(texts: &[Option<T>]) -> Made {
    let total = texts.iter().flatten().fold(0usize, |n, text| n.saturating_add(text.as_ref().len()));
    match total > MOST {
        true => Err(format!("{total} bytes of text in a batch of rows")),
        false => Ok(Arc::new(StringArray::from_iter(texts.iter().map(|text| text.as_ref())))),
    }
}

/// Bytes of a batch.
pub fn binaries<T: AsRef<[u8]>>(bytes: &[Option<T>]) -> Made {
    let total = bytes.iter().flatten().fold(0usize, |n, bytes| n.saturating_add(bytes.as_ref().len()));
    match total > MOST {
        true => Err(format!("{total} bytes in a batch of rows")),
        false => Ok(Arc::new(BinaryArray::from_iter(bytes.iter().map(|bytes| bytes.as_ref())))),
    }
}
