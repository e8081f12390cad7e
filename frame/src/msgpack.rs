//! MessagePack, as metalayers use it: to and from the [`Value`] that JSON and YAML share.
//!
//! What JSON cannot say is written as an object with one field: `{"bin": "hex"}`, `{"ext": [type, "hex"]}`; such
//! objects become bytes and extensions again. Keys that are not text are written as their JSON, and those that are
//! lists or maps as `{"msgpack": "hex"}`, the hex of their bytes: JSON within JSON within JSON grows exponentially.
#![deny(clippy::indexing_slicing, clippy::arithmetic_side_effects)]

use crate::error::{Error, Structure};
use crate::value::Value;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use rmp::Marker;

/// Deepest nesting that is read.
const DEPTH: u32 = 32;
/// Most values of any kind in one text.
const VALUES: u32 = 1 << 16;

struct Input<'a> {
    bytes: &'a [u8],
    at: usize,
    /// Most values, and how many of them are left.
    most: u32,
    values: u32,
}

impl<'a> Input<'a> {
    fn invalid(&self, field: &'static str, value: i64) -> Error {
        Error::Invalid { structure: Structure::Msgpack, field, offset: self.at as u64, value }
    }
    fn take(&mut self, n: u64) -> Result<&'a [u8], Error> {
        let rest = self.bytes.get(self.at..).unwrap_or(&[]);
        let part = usize::try_from(n).ok().and_then(|n| rest.get(..n)).ok_or(Error::Truncated {
            structure: Structure::Msgpack,
            field: "value",
            offset: self.at as u64,
            needed: n,
        })?;
        self.at = self.at.saturating_add(part.len());
        Ok(part)
    }
    fn array<const N: usize>(&mut self) -> Result<[u8; N], Error> {
        let bytes = self.take(N as u64)?;
        bytes.first_chunk().copied().ok_or(self.invalid("value", 0))
    }
    fn u8(&mut self) -> Result<u64, Error> {
        Ok(u64::from(u8::from_be_bytes(self.array()?)))
    }
    fn u16(&mut self) -> Result<u64, Error> {
        Ok(u64::from(u16::from_be_bytes(self.array()?)))
    }
    fn u32(&mut self) -> Result<u64, Error> {
        Ok(u64::from(u32::from_be_bytes(self.array()?)))
    }
    fn text(&mut self, n: u64) -> Result<Value, Error> {
        let bytes = self.take(n)?;
        match core::str::from_utf8(bytes) {
            Ok(text) => Ok(Value::text(text)),
            Err(_) => Ok(bin(bytes)),
        }
    }
    fn ext(&mut self, n: u64) -> Result<Value, Error> {
        let kind = i8::from_be_bytes(self.array()?);
        let bytes = self.take(n)?;
        Ok(one("ext", Value::List(alloc::vec![Value::int(kind), Value::text(hex(bytes))])))
    }
    fn list(&mut self, n: u64, depth: u32) -> Result<Value, Error> {
        (0..n).map(|_| self.value(depth)).collect::<Result<Vec<_>, _>>().map(Value::List)
    }
    fn map(&mut self, n: u64, depth: u32) -> Result<Value, Error> {
        let mut pairs: Vec<(String, Value)> = Vec::new();
        for _ in 0..n {
            let start = self.at;
            let key = match self.value(depth)? {
                Value::Text(key) => key,
                Value::List(_) => self.raw_key(start),
                Value::Object(pairs) if foreign(&pairs).is_none() => self.raw_key(start),
                other => other.to_json_compact(),
            };
            let value = self.value(depth)?;
            pairs.push((key, value));
        }
        Ok(Value::Object(pairs))
    }

    /// The bytes read since `start`, as a key.
    fn raw_key(&self, start: usize) -> String {
        one("msgpack", Value::text(hex(self.bytes.get(start..self.at).unwrap_or(&[])))).to_json_compact()
    }

    fn value(&mut self, depth: u32) -> Result<Value, Error> {
        let left = self.values.checked_sub(1);
        self.values = left.ok_or(Error::Capacity {
            what: "MessagePack values",
            asked: u64::from(self.most).saturating_add(1),
            most: u64::from(self.most),
        })?;
        let below = depth.checked_sub(1).ok_or(Error::Capacity {
            what: "levels of MessagePack nesting",
            asked: u64::from(DEPTH).saturating_add(1),
            most: u64::from(DEPTH),
        })?;
        let [marker] = self.array()?;
        Ok(match Marker::from_u8(marker) {
            Marker::Null => Value::Null,
            Marker::True => Value::Bool(true),
            Marker::False => Value::Bool(false),
            Marker::FixPos(n) => Value::int(n),
            Marker::FixNeg(n) => Value::int(n),
            Marker::U8 => Value::int(self.u8()?),
            Marker::U16 => Value::int(self.u16()?),
            Marker::U32 => Value::int(self.u32()?),
            Marker::U64 => Value::int(u64::from_be_bytes(self.array()?)),
            Marker::I8 => Value::int(i8::from_be_bytes(self.array()?)),
            Marker::I16 => Value::int(i16::from_be_bytes(self.array()?)),
            Marker::I32 => Value::int(i32::from_be_bytes(self.array()?)),
            Marker::I64 => Value::int(i64::from_be_bytes(self.array()?)),
            Marker::F32 => float(f64::from(f32::from_be_bytes(self.array()?))),
            Marker::F64 => float(f64::from_be_bytes(self.array()?)),
            Marker::FixStr(n) => self.text(u64::from(n))?,
            Marker::Str8 => self.u8().and_then(|n| self.text(n))?,
            Marker::Str16 => self.u16().and_then(|n| self.text(n))?,
            Marker::Str32 => self.u32().and_then(|n| self.text(n))?,
            Marker::Bin8 => self.u8().and_then(|n| self.take(n)).map(bin)?,
            Marker::Bin16 => self.u16().and_then(|n| self.take(n)).map(bin)?,
            Marker::Bin32 => self.u32().and_then(|n| self.take(n)).map(bin)?,
            Marker::FixArray(n) => self.list(u64::from(n), below)?,
            Marker::Array16 => self.u16().and_then(|n| self.list(n, below))?,
            Marker::Array32 => self.u32().and_then(|n| self.list(n, below))?,
            Marker::FixMap(n) => self.map(u64::from(n), below)?,
            Marker::Map16 => self.u16().and_then(|n| self.map(n, below))?,
            Marker::Map32 => self.u32().and_then(|n| self.map(n, below))?,
            Marker::FixExt1 => self.ext(1)?,
            Marker::FixExt2 => self.ext(2)?,
            Marker::FixExt4 => self.ext(4)?,
            Marker::FixExt8 => self.ext(8)?,
            Marker::FixExt16 => self.ext(16)?,
            Marker::Ext8 => self.u8().and_then(|n| self.ext(n))?,
            Marker::Ext16 => self.u16().and_then(|n| self.ext(n))?,
            Marker::Ext32 => self.u32().and_then(|n| self.ext(n))?,
            Marker::Reserved => return Err(self.invalid("marker", i64::from(marker))),
        })
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|b| format!("{b:02x}")).collect()
}

fn unhex(text: &str) -> Option<Vec<u8>> {
    let digit = |c: u8| match c {
        b'0'..=b'9' => Some(c.wrapping_sub(b'0')),
        b'a'..=b'f' => Some(c.wrapping_sub(b'a').wrapping_add(10)),
        _ => None,
    };
    let (pairs, rest) = text.as_bytes().as_chunks();
    rest.is_empty().then_some(pairs)?.iter().map(|[a, b]| Some(digit(*a)? << 4 | digit(*b)?)).collect()
}

/// The bytes, and the type if they are an extension, of the object that stands for them.
fn foreign(pairs: &[(String, Value)]) -> Option<(Option<i8>, Vec<u8>)> {
    match pairs {
        [(name, Value::Text(bytes))] if name == "bin" => Some((None, unhex(bytes)?)),
        [(name, Value::List(parts))] if name == "ext" => match &parts[..] {
            [Value::Number(kind), Value::Text(bytes)] => Some((Some(kind.parse().ok()?), unhex(bytes)?)),
            _ => None,
        },
        _ => None,
    }
}

fn one(name: &str, value: Value) -> Value {
    Value::Object(alloc::vec![(name.into(), value)])
}

fn bin(bytes: &[u8]) -> Value {
    one("bin", Value::text(hex(bytes)))
}

fn float(x: f64) -> Value {
    Value::Number(match () {
        () if x.is_nan() => "NaN".into(),
        () if x == f64::INFINITY => "Infinity".into(),
        () if x == f64::NEG_INFINITY => "-Infinity".into(),
        // Rust prints the shortest digits that read back; a point keeps it a float.
        () => format!("{x:?}"),
    })
}

/// Reads `bytes` as exactly one MessagePack value.
///
/// # Errors
/// Anything else, and values that are nested too deeply or too many.
///
/// ```
/// let value = blosc_frame::msgpack::to_value(&[0x81, 0xa1, b'a', 0x92, 1, 0xc0])?;
/// assert_eq!(value.to_json_compact(), r#"{"a":[1,null]}"#);
/// # Ok::<(), blosc_frame::Error>(())
/// ```
pub fn to_value(bytes: &[u8]) -> Result<Value, Error> {
    to_value_within(bytes, VALUES)
}

/// As [`to_value`], of at most `most` values: data may be larger than metadata.
///
/// # Errors
/// As [`to_value`].
pub fn to_value_within(bytes: &[u8], most: u32) -> Result<Value, Error> {
    let mut input = Input { bytes, at: 0, most, values: most };
    let value = input.value(DEPTH)?;
    if input.at != bytes.len() {
        return Err(input.invalid("end", bytes.len() as i64));
    }
    Ok(value)
}

/// The entries of a MessagePack list, decoded one by one.
///
/// ```
/// use blosc_frame::msgpack::Entries;
/// let entries: Result<Vec<_>, _> = Entries::new(&[0x92, 1, 0xc0], 100)?.collect();
/// assert_eq!(entries?.len(), 2);
/// # Ok::<(), blosc_frame::Error>(())
/// ```
pub struct Entries<'a> {
    input: Input<'a>,
    left: u64,
}

impl<'a> Entries<'a> {
    /// Reads the head of the list that `bytes` is. Each entry may consist of at most `most` values.
    ///
    /// # Errors
    /// Anything but a list.
    pub fn new(bytes: &'a [u8], most: u32) -> Result<Entries<'a>, Error> {
        let mut input = Input { bytes, at: 0, most, values: most };
        let [marker] = input.array()?;
        let left = match Marker::from_u8(marker) {
            Marker::FixArray(n) => u64::from(n),
            Marker::Array16 => input.u16()?,
            Marker::Array32 => input.u32()?,
            _ => return Err(input.invalid("list", i64::from(marker))),
        };
        Ok(Entries { input, left })
    }
}

impl Iterator for Entries<'_> {
    type Item = Result<Value, Error>;

    /// The next entry. Bytes behind the last one are an error.
    fn next(&mut self) -> Option<Self::Item> {
        let (end, input) = (self.input.bytes.len(), &mut self.input);
        let Some(left) = self.left.checked_sub(1) else {
            let rest = input.at != end;
            let error = input.invalid("end", end as i64);
            input.at = end;
            return rest.then_some(Err(error));
        };
        input.values = input.most;
        let value = input.value(DEPTH);
        // Nothing follows an error.
        (self.left, input.at) = if value.is_ok() { (left, input.at) } else { (0, end) };
        Some(value)
    }
}

/// Writes a value as MessagePack, each part in its shortest form. `{"bin": "hex"}` and `{"ext": [type, "hex"]}`, in
/// lower-case digits as [`to_value`] gives them, become bytes and extensions.
pub fn from_value(value: &Value) -> Vec<u8> {
    let mut out = Vec::new();
    write(value, &mut out);
    out
}

/// Writing to a vector cannot fail; `rmp` does not know that.
fn write(value: &Value, out: &mut Vec<u8>) {
    use rmp::encode as e;
    let count = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
    let mut buffer = e::ByteBuf::new();
    let _ = match value {
        Value::Null => e::write_nil(&mut buffer).is_ok(),
        Value::Bool(b) => e::write_bool(&mut buffer, *b).is_ok(),
        Value::Number(text) => match (text.parse::<i64>(), text.parse::<u64>()) {
            (Ok(n), _) => e::write_sint(&mut buffer, n).is_ok(),
            (_, Ok(n)) => e::write_uint(&mut buffer, n).is_ok(),
            _ => {
                let x = match text.as_str() {
                    "Infinity" => f64::INFINITY,
                    "-Infinity" => f64::NEG_INFINITY,
                    other => other.parse().unwrap_or(f64::NAN),
                };
                e::write_f64(&mut buffer, x).is_ok()
            }
        },
        Value::Text(text) => e::write_str(&mut buffer, text).is_ok(),
        Value::List(items) | Value::Tuple(items) => {
            let done = e::write_array_len(&mut buffer, count(items.len())).is_ok();
            out.append(buffer.as_mut_vec());
            items.iter().for_each(|item| write(item, out));
            done
        }
        Value::Object(pairs) => {
            let foreign = foreign(pairs);
            let done = match &foreign {
                Some((None, bytes)) => e::write_bin(&mut buffer, bytes).is_ok(),
                Some((Some(kind), bytes)) => {
                    let done = e::write_ext_meta(&mut buffer, count(bytes.len()), *kind).is_ok();
                    buffer.as_mut_vec().extend_from_slice(bytes);
                    done
                }
                None => e::write_map_len(&mut buffer, count(pairs.len())).is_ok(),
            };
            out.append(buffer.as_mut_vec());
            for (name, item) in pairs.iter().filter(|_| foreign.is_none()) {
                write(&Value::text(name.as_str()), out);
                write(item, out);
            }
            done
        }
    };
    out.append(buffer.as_mut_vec());
}

#[cfg(all(test, feature = "classic"))]
mod tests {
    use super::*;
    use crate::value::TextLimits;

    #[test]
    fn json_survives_both_ways() {
        for text in [
            r#"{"a":[1,-2,300,70000,5000000000,-129,18446744073709551615],"b":null,"c":true,"d":1.5}"#,
            r#"[]"#,
            r#""text""#,
            r#"[NaN,Infinity,-Infinity]"#,
        ] {
            let value = Value::parse_json(text.as_bytes(), &TextLimits::JSON).unwrap();
            assert_eq!(to_value(&from_value(&value)).unwrap().to_json_compact(), text);
        }
    }

    #[test]
    fn bytes_and_extensions_survive_both_ways() {
        for raw in [
            &[0xc4, 2, 0xab, 0x01][..],
            &[0xc4, 0],
            &[0xd4, 0xff, 7],
            &[0xc7, 3, 5, 1, 2, 3],
            &[0x81, 0xa1, b'k', 0xc4, 1, 9],
        ] {
            assert_eq!(from_value(&to_value(raw).unwrap()), raw);
        }
        // Text that is no UTF-8 is bytes.
        assert_eq!(to_value(&[0xa1, 0xff]).unwrap().to_json_compact(), r#"{"bin":"ff"}"#);
    }

    #[test]
    fn keys_that_are_no_text() {
        for (raw, json) in [
            (&[0x81, 7, 1][..], r#"{"7":1}"#),
            (&[0x81, 0xc0, 1], r#"{"null":1}"#),
            (&[0x81, 0xc4, 1, 0xaa, 1], r#"{"{\"bin\":\"aa\"}":1}"#),
            (&[0x81, 0x92, 1, 2, 1], r#"{"{\"msgpack\":\"920102\"}":1}"#),
            (&[0x81, 0x81, 1, 2, 1], r#"{"{\"msgpack\":\"810102\"}":1}"#),
        ] {
            assert_eq!(to_value(raw).unwrap().to_json_compact(), json);
        }
    }

    #[test]
    fn keys_within_keys_stay_small() {
        let mut raw = alloc::vec![1];
        for _ in 0..30 {
            raw = [&[0x81][..], &raw[..], &[0]].concat();
        }
        let json = to_value(&raw).unwrap().to_json_compact();
        assert!(json.len() < 4 * raw.len() + 100, "{} bytes", json.len());
    }

    #[test]
    fn entries_come_one_by_one() {
        let entries = |bytes: &[u8]| -> Result<Vec<Value>, Error> { Entries::new(bytes, 2)?.collect() };
        assert_eq!(entries(&[0x92, 1, 0xa1, b'x']).unwrap(), [Value::int(1), Value::text("x")]);
        // Each entry has the limit for itself.
        assert!(entries(&[0x92, 0x91, 1, 0x91, 2]).is_ok());
        assert!(entries(&[0x91, 0x92, 1, 2]).is_err());
        for bad in [&[][..], &[1], &[0x92, 1], &[0x91, 1, 2], &[0xdd, 0xff, 0xff, 0xff, 0xff, 1]] {
            assert!(entries(bad).is_err(), "{bad:?}");
            // An iterator that has failed ends.
            assert!(Entries::new(bad, 2).map_or(0, Iterator::count) < 5, "{bad:?}");
        }
    }

    #[test]
    fn bombs_and_rests_are_refused() {
        assert!(to_value(&[0x91; 100_000]).is_err());
        assert!(to_value(&[0xdd, 0xff, 0xff, 0xff, 0xff]).is_err());
        assert!(to_value(&[0xc6, 0xff, 0xff, 0xff, 0xff, 0]).is_err());
        assert!(to_value(&[1, 2]).is_err());
        assert!(to_value(&[]).is_err());
        assert!(to_value(&[0xc1]).is_err());
    }
}
