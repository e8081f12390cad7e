//! Rows of a column, decoded.

use arrow_array::types::{ArrowPrimitiveType, Float16Type};
use blosc_frame::dtype::{ByteOrder, Kind, Scalar, Unit};
use blosc_frame::value::Value;
use std::rc::Rc;

/// Values of rows that live.
#[derive(Clone, Debug)]
pub enum Cells {
    /// Items of one type, in little-endian order; `shape` of them to a row.
    Items {
        scalar: Scalar,
        shape: Vec<u32>,
        bytes: Vec<u8>,
    },
    /// Numbers of texts.
    Codes {
        codes: Vec<i32>,
        values: Rc<Vec<String>>,
    },
    Text(Vec<String>),
    Bytes(Vec<Vec<u8>>),
    Values(Vec<Value>),
}

/// A column's part of a batch of rows.
pub struct Part {
    pub cells: Cells,
    /// Which rows are null; `None` where none can be.
    pub nulls: Option<Vec<bool>>,
}

impl Part {
    /// Whether a row is null.
    pub fn is_null(&self, row: usize) -> bool {
        self.nulls.as_ref().is_some_and(|nulls| nulls.get(row).copied().unwrap_or(false))
    }
}

/// One item.
#[derive(Clone, Debug, PartialEq)]
pub enum Item {
    Bool(bool),
    Int(i64),
    Uint(u64),
    /// A float of 32 bits or less, to be printed with as few digits as it needs.
    Single(f32),
    Float(f64),
    Complex(f64, f64),
    Text(String),
    Bytes(Vec<u8>),
    /// A count of these units since 1970.
    Time(i64, Unit),
}

/// The item that little-endian `bytes` are; `None` for a type that has no values here.
pub fn item(scalar: &Scalar, bytes: &[u8]) -> Option<Item> {
    let wide = |bytes: &[u8]| {
        let mut wide = [0; 8];
        wide.get_mut(..bytes.len())?.copy_from_slice(bytes);
        Some(u64::from_le_bytes(wide))
    };
    let single = |bytes: &[u8]| Some(f32::from_le_bytes(bytes.try_into().ok()?));
    let double = |bytes: &[u8]| Some(f64::from_le_bytes(bytes.try_into().ok()?));
    Some(match (scalar.kind, bytes.len()) {
        (Kind::Bool, 1) => Item::Bool(bytes != [0]),
        (Kind::Int, n @ 1..=8) => {
            let unused = 64 - 8 * n as u32;
            Item::Int((wide(bytes)? << unused) as i64 >> unused)
        }
        (Kind::Uint, 1..=8) => Item::Uint(wide(bytes)?),
        (Kind::Float, 2) => {
            let half = <Float16Type as ArrowPrimitiveType>::Native::from_bits(wide(bytes)? as u16);
            Item::Single(half.to_f32())
        }
        (Kind::Float, 4) => Item::Single(single(bytes)?),
        (Kind::Float, 8) => Item::Float(double(bytes)?),
        (Kind::Complex, 8) => {
            let (re, im) = bytes.split_at_checked(4)?;
            Item::Complex(single(re)?.into(), single(im)?.into())
        }
        (Kind::Complex, 16) => {
            let (re, im) = bytes.split_at_checked(8)?;
            Item::Complex(double(re)?, double(im)?)
        }
        (Kind::Unicode, _) => Item::Text(unicode(bytes)?),
        (Kind::Bytes, _) => Item::Bytes(trimmed(bytes).to_vec()),
        (Kind::Datetime { unit, count: 1 }, 8) => Item::Time(wide(bytes)? as i64, unit),
        _ => return None,
    })
}

/// Turns items as they are stored into the little-endian order that [`item`] reads.
pub fn to_little_endian(scalar: &Scalar, bytes: &mut [u8]) {
    if scalar.order != ByteOrder::Big {
        return;
    }
    let unit = match scalar.kind {
        Kind::Complex => scalar.size / 2,
        Kind::Unicode => 4,
        _ => scalar.size,
    };
    bytes.chunks_exact_mut(unit.max(1) as usize).for_each(<[u8]>::reverse);
}

/// Bytes without the zeros that pad them.
pub fn trimmed(bytes: &[u8]) -> &[u8] {
    let end = bytes.iter().rposition(|byte| *byte != 0).map_or(0, |last| last + 1);
    bytes.get(..end).unwrap_or(bytes)
}

/// UCS-4 characters without the zeros that pad them.
fn unicode(bytes: &[u8]) -> Option<String> {
    let (chars, rest) = bytes.as_chunks::<4>();
    let codes: Vec<u32> = chars.iter().map(|c| u32::from_le_bytes(*c)).collect();
    let end = codes.iter().rposition(|code| *code != 0).map_or(0, |last| last + 1);
    rest.is_empty().then_some(codes.iter().take(end))?.map(|code| char::from_u32(*code)).collect()
}

/// The bytes of a value that stands for bytes.
pub fn bytes_of(value: &Value) -> Option<Vec<u8>> {
    let [(name, Value::Text(hex))] = value.as_object()? else { return None };
    (name == "bin").then(|| unhex(hex))?
}

/// Bytes as hexadecimal digits.
pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The bytes that pairs of hexadecimal digits say.
pub fn unhex(text: &str) -> Option<Vec<u8>> {
    let (pairs, rest) = text.as_bytes().as_chunks::<2>();
    let digit = |c: u8| char::from(c).to_digit(16);
    let byte = |[a, b]: &[u8; 2]| u8::try_from(digit(*a)? << 4 | digit(*b)?).ok();
    rest.is_empty().then_some(pairs)?.iter().map(byte).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use blosc_frame::dtype::Dtype;

    #[test]
    fn items_of_every_kind() {
        let item = |dtype: &str, bytes: &[u8]| match Dtype::parse(dtype).unwrap() {
            Dtype::Scalar(scalar) => item(&scalar, bytes),
            _ => None,
        };
        assert_eq!(item("<i2", &[0xfe, 0xff]), Some(Item::Int(-2)));
        assert_eq!(item("<u8", &[0xff; 8]), Some(Item::Uint(u64::MAX)));
        assert_eq!(item("<f2", &[0, 0x3e]), Some(Item::Single(1.5)));
        assert_eq!(item("<U3", b"a\0\0\0\xfc\0\0\0\0\0\0\0"), Some(Item::Text("aü".into())));
        assert_eq!(item("<U1", &[0, 0xd8, 0, 0]), None, "a surrogate is no character");
        assert_eq!(item("|S3", b"\0a\0"), Some(Item::Bytes(b"\0a".to_vec())));
        assert_eq!(item("|V2", b"ab"), None);
        assert_eq!(unhex(&hex(&[0, 0xab])), Some(vec![0, 0xab]));
        assert_eq!((unhex("a"), unhex("zz")), (None, None));
    }
}
