//! Metadata values as MessagePack, the form vlmetalayers have.
#![deny(clippy::indexing_slicing, clippy::arithmetic_side_effects)]

use crate::value::Value;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use rmp::Marker;

/// Deepest nesting that is read.
const DEPTH: u32 = 64;

/// The value as MessagePack.
pub(crate) fn write(value: &Value) -> Vec<u8> {
    let mut out = Vec::new();
    put(value, &mut out);
    out
}

fn head(out: &mut Vec<u8>, len: usize, short: u8, most: usize, wide: [u8; 2]) {
    let [two, four] = wide;
    match (u8::try_from(len), u16::try_from(len)) {
        (Ok(n), _) if len < most => out.push(short | n),
        (_, Ok(n)) => {
            out.push(two);
            out.extend_from_slice(&n.to_be_bytes());
        }
        _ => {
            out.push(four);
            out.extend_from_slice(&u32::try_from(len).unwrap_or(u32::MAX).to_be_bytes());
        }
    }
}

fn put(value: &Value, out: &mut Vec<u8>) {
    match value {
        Value::Null => out.push(0xc0),
        Value::Bool(b) => out.push(if *b { 0xc3 } else { 0xc2 }),
        Value::Number(text) => match (value.as_i64(), value.as_u64(), value.as_f64()) {
            // Writing to memory cannot fail.
            (Some(n), _, _) => drop(rmp::encode::write_sint(out, n)),
            (_, Some(n), _) => drop(rmp::encode::write_uint(out, n)),
            (_, _, Some(n)) => drop(rmp::encode::write_f64(out, n)),
            _ => put(&Value::Text(text.clone()), out),
        },
        Value::Text(s) => {
            head(out, s.len(), 0xa0, 32, [0xda, 0xdb]);
            out.extend_from_slice(s.as_bytes());
        }
        Value::List(items) | Value::Tuple(items) => {
            head(out, items.len(), 0x90, 16, [0xdc, 0xdd]);
            items.iter().for_each(|item| put(item, out));
        }
        Value::Object(pairs) => {
            head(out, pairs.len(), 0x80, 16, [0xde, 0xdf]);
            for (name, value) in pairs {
                put(&Value::Text(name.clone()), out);
                put(value, out);
            }
        }
    }
}

/// The value of a whole MessagePack text; `None` for what has no counterpart, such as bytes.
pub(crate) fn read(bytes: &[u8]) -> Option<Value> {
    let mut rest = bytes;
    let value = take(&mut rest, DEPTH)?;
    rest.is_empty().then_some(value)
}

fn split<'a>(rest: &mut &'a [u8], n: usize) -> Option<&'a [u8]> {
    let (now, after) = rest.split_at_checked(n)?;
    *rest = after;
    Some(now)
}

fn number(rest: &mut &[u8], n: usize) -> Option<u64> {
    Some(split(rest, n)?.iter().fold(0u64, |v, &b| v.wrapping_shl(8) | u64::from(b)))
}

fn take(rest: &mut &[u8], depth: u32) -> Option<Value> {
    let marker = Marker::from_u8(*split(rest, 1)?.first()?);
    let unsigned = |n: u64| Some(Value::int(n));
    let signed = |n: i64| Some(Value::int(n));
    match marker {
        Marker::Null => Some(Value::Null),
        Marker::True => Some(Value::Bool(true)),
        Marker::False => Some(Value::Bool(false)),
        Marker::FixPos(n) => unsigned(n.into()),
        Marker::FixNeg(n) => signed(n.into()),
        Marker::U8 => unsigned(number(rest, 1)?),
        Marker::U16 => unsigned(number(rest, 2)?),
        Marker::U32 => unsigned(number(rest, 4)?),
        Marker::U64 => unsigned(number(rest, 8)?),
        Marker::I8 => signed((number(rest, 1)? as u8 as i8).into()),
        Marker::I16 => signed((number(rest, 2)? as u16 as i16).into()),
        Marker::I32 => signed((number(rest, 4)? as u32 as i32).into()),
        Marker::I64 => signed(number(rest, 8)? as i64),
        Marker::F32 => Some(float(f32::from_bits(number(rest, 4)? as u32).into())),
        Marker::F64 => Some(float(f64::from_bits(number(rest, 8)?))),
        Marker::FixStr(n) => text(rest, n.into()),
        Marker::Str8 => sized(rest, 1, text),
        Marker::Str16 => sized(rest, 2, text),
        Marker::Str32 => sized(rest, 4, text),
        Marker::FixArray(n) => list(rest, n.into(), depth),
        Marker::Array16 => sized(rest, 2, |rest, n| list(rest, n, depth)),
        Marker::Array32 => sized(rest, 4, |rest, n| list(rest, n, depth)),
        Marker::FixMap(n) => map(rest, n.into(), depth),
        Marker::Map16 => sized(rest, 2, |rest, n| map(rest, n, depth)),
        Marker::Map32 => sized(rest, 4, |rest, n| map(rest, n, depth)),
        _ => None,
    }
}

fn float(x: f64) -> Value {
    let words = if x.is_nan() {
        "NaN".to_string()
    } else if x.is_infinite() {
        String::from(if x > 0.0 { "Infinity" } else { "-Infinity" })
    } else {
        alloc::format!("{x:?}")
    };
    Value::Number(words)
}

fn sized(rest: &mut &[u8], width: usize, take: impl Fn(&mut &[u8], usize) -> Option<Value>) -> Option<Value> {
    let n = usize::try_from(number(rest, width)?).ok()?;
    take(rest, n)
}

fn text(rest: &mut &[u8], n: usize) -> Option<Value> {
    core::str::from_utf8(split(rest, n)?).ok().map(Value::text)
}

fn list(rest: &mut &[u8], n: usize, depth: u32) -> Option<Value> {
    let deeper = depth.checked_sub(1)?;
    // Every item takes a byte: a count beyond that is a lie.
    if n > rest.len() {
        return None;
    }
    (0..n).map(|_| take(rest, deeper)).collect::<Option<Vec<_>>>().map(Value::List)
}

fn map(rest: &mut &[u8], n: usize, depth: u32) -> Option<Value> {
    let deeper = depth.checked_sub(1)?;
    if n > rest.len() {
        return None;
    }
    let pair = |_| match take(rest, deeper)? {
        Value::Text(name) => Some((name, take(rest, deeper)?)),
        _ => None,
    };
    (0..n).map(pair).collect::<Option<Vec<_>>>().map(Value::Object)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::value::TextLimits;

    #[test]
    fn values_come_back() {
        let text = r#"{"a": [1, -1, 300, -40000, 18446744073709551615, 1.5, null, true], "b": {"c": "é"}, "d": NaN}"#;
        let value = Value::parse_json(text.as_bytes(), &TextLimits::JSON).unwrap();
        assert_eq!(read(&write(&value)), Some(value));
        let long = Value::List((0..70_000).map(Value::int).collect());
        assert_eq!(read(&write(&long)), Some(long));
        assert_eq!(read(b"\xdd\xff\xff\xff\xff"), None);
        assert_eq!(read(b"\xc4\x01x"), None);
        assert_eq!(read(b"\xc0\xc0"), None);
    }
}
