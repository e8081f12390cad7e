//! Items as they are stored, in little-endian order, as Arrow arrays, and back.

use super::error::{Made, Wrong};
use super::values::{self, of_numbers, of_times};
use crate::dtype::{ByteOrder, Kind as Scalars, Scalar};
use alloc::format;
use alloc::string::{String, ToString};
use alloc::sync::Arc;
use alloc::vec::Vec;
use arrow_array::cast::AsArray;
use arrow_array::types::*;
use arrow_array::{Array, ArrayRef, ArrowPrimitiveType, BooleanArray, FixedSizeListArray, PrimitiveArray};
use arrow_buffer::NullBuffer;
use arrow_schema::{DataType, TimeUnit};

/// Turns items into little-endian order.
pub fn to_little_endian(scalar: &Scalar, bytes: &mut [u8]) {
    if scalar.order != ByteOrder::Big {
        return;
    }
    let unit = match scalar.kind {
        Scalars::Complex => scalar.size / 2,
        Scalars::Unicode => 4,
        _ => scalar.size,
    };
    bytes.chunks_exact_mut(unit.max(1) as usize).for_each(<[u8]>::reverse);
}

/// An array of items of a fixed size, in rows of this shape; rows that are not `valid` are null.
///
/// # Errors
/// Items that are no text, or no truth value; more than an array holds.
pub fn array_of(
    bytes: Vec<u8>,
    scalar: &Scalar,
    shape: &[u32],
    data_type: &DataType,
    valid: Option<NullBuffer>,
) -> Made {
    if let DataType::FixedSizeList(inner, count) = data_type {
        let (item, shape) = match shape.split_first() {
            Some((_, shape)) => (*scalar, shape),
            // Complex numbers.
            None => (Scalar { kind: Scalars::Float, size: scalar.size / 2, ..*scalar }, shape),
        };
        let made = array_of(bytes, &item, shape, inner.data_type(), None)?;
        let made = FixedSizeListArray::try_new(Arc::clone(inner), *count, made, valid);
        return Ok(Arc::new(made.map_err(|e| e.to_string())?));
    }
    macro_rules! numbers {
        ($type:ty) => {{
            let items = bytes.as_chunks().0.iter();
            let items = items.map(|item| <$type as ArrowPrimitiveType>::Native::from_le_bytes(*item));
            let array = PrimitiveArray::<$type>::new(items.collect::<Vec<_>>().into(), valid);
            Arc::new(array.with_data_type(data_type.clone()))
        }};
    }
    let size = scalar.size.max(1) as usize;
    let is_valid = |row: usize| valid.as_ref().is_none_or(|valid| valid.is_valid(row));
    let rows = || bytes.chunks_exact(size).enumerate();
    Ok(match data_type {
        DataType::Boolean => {
            if let Some((_, item)) = rows().find(|(row, item)| is_valid(*row) && !matches!(item, [0 | 1])) {
                return Err(format!("{}, which is no truth value", item.first().copied().unwrap_or(0)));
            }
            Arc::new(BooleanArray::new(
                bytes.iter().map(|byte| *byte == 1).collect::<Vec<bool>>().into(),
                valid,
            ))
        }
        DataType::Utf8 => {
            let text = |(row, item): (usize, &[u8])| match is_valid(row) {
                true => unicode(item)
                    .map(Some)
                    .ok_or_else(|| format!("row {row} of a batch has a character that is none")),
                false => Ok(None),
            };
            values::strings(&rows().map(text).collect::<Made<Vec<_>>>()?)?
        }
        DataType::Binary => values::binaries(
            &rows().map(|(row, item)| is_valid(row).then_some(trimmed(item))).collect::<Vec<_>>(),
        )?,
        _ => of_numbers!(
            data_type,
            numbers,
            of_times!(data_type, numbers, return Err(format!("items are no {data_type}")))
        ),
    })
}

/// Bytes without the zeros that pad them.
pub fn trimmed(bytes: &[u8]) -> &[u8] {
    let end = bytes.iter().rposition(|byte| *byte != 0).map_or(0, |last| last.saturating_add(1));
    bytes.get(..end).unwrap_or(bytes)
}

/// UCS-4 characters without the zeros that pad them.
fn unicode(bytes: &[u8]) -> Option<String> {
    let (chars, rest) = bytes.as_chunks::<4>();
    let codes: Vec<u32> = chars.iter().map(|c| u32::from_le_bytes(*c)).collect();
    let end = codes.iter().rposition(|code| *code != 0).map_or(0, |last| last.saturating_add(1));
    rest.is_empty().then_some(codes.iter().take(end))?.map(|code| char::from_u32(*code)).collect()
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

#[cfg(test)]
mod tests {
    use super::super::exact;
    use super::super::schema::scalar_type;
    use super::*;
    use crate::dtype::Dtype;
    use crate::value::Value;

    #[test]
    fn items_that_are_none_are_refused() {
        let scalar = |dtype: &str| match Dtype::parse(dtype).unwrap() {
            Dtype::Scalar(scalar) => scalar,
            _ => unreachable!(),
        };
        let made = |dtype: &str, bytes: &[u8]| {
            let scalar = scalar(dtype);
            array_of(bytes.to_vec(), &scalar, &[], &scalar_type(&scalar)?, None)
        };
        assert!(made("<U1", &[0, 0xd8, 0, 0]).is_err(), "a surrogate is no character");
        assert!(made("|b1", &[2]).is_err());
        assert!(made("|V2", b"ab").is_err());
        let texts = made("<U2", b"a\0\0\0\xfc\0\0\0").unwrap();
        assert_eq!(exact::stored(&texts, 0), Ok(Value::text("aü")));
        let bytes = made("|S3", b"\0a\0").unwrap();
        assert_eq!(exact::stored(&bytes, 0), Ok(values::binary(b"\0a")));
    }
}
