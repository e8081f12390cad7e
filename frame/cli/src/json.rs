//! Values of the library as JSON for `info`.

use blosc_frame::msgpack;
use blosc_frame::value::Value as Meta;
use serde_json::{Value, json};

/// A metadata value; the words JSON lacks become text.
pub fn json(value: &Meta) -> Value {
    match value {
        Meta::Null => Value::Null,
        Meta::Bool(b) => (*b).into(),
        Meta::Number(n) => serde_json::from_str(n).unwrap_or_else(|_| n.clone().into()),
        Meta::Text(s) => s.clone().into(),
        Meta::List(items) | Meta::Tuple(items) => items.iter().map(json).collect::<Vec<_>>().into(),
        Meta::Object(pairs) => Value::Object(pairs.iter().map(|(k, v)| (k.clone(), json(v))).collect()),
    }
}

/// Bytes as hexadecimal digits.
pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|b| format!("{b:02x}")).collect()
}

/// Hexadecimal digits as bytes.
pub fn from_hex(text: &str) -> Option<Vec<u8>> {
    let digits: Vec<u32> = text.chars().map(|c| c.to_digit(16)).collect::<Option<_>>()?;
    let (pairs, rest) = digits.as_chunks::<2>();
    rest.is_empty().then(|| pairs.iter().map(|[high, low]| (high << 4 | low) as u8).collect())
}

/// A metalayer's content: its bytes, and its value where it is MessagePack.
pub fn metalayer(content: &[u8]) -> Value {
    match msgpack::to_value(content) {
        Ok(value) => json!({"hex": hex(content), "value": json(&value)}),
        Err(_) => json!({"hex": hex(content)}),
    }
}

/// A size in the largest unit that it reaches.
pub fn bytes(n: u64) -> String {
    let units = [("GiB", 1u64 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)];
    match units.into_iter().find(|(_, unit)| n >= *unit) {
        Some((name, unit)) => format!("{:.2} {name}", n as f64 / unit as f64),
        None => format!("{n} bytes"),
    }
}
