//! How bloscpack prints: prefixed lines, sizes, Python values.

use crate::printable::printable;
use blosc_frame::value::Value;
use std::fmt::{Display, Write};

/// Prints lines after the program's name.
pub struct Say {
    /// Whether to print what only `-v` shows.
    pub verbose: bool,
}

impl Say {
    /// A line that is always shown. A closed pipe is nobody's error.
    pub fn line(&self, text: impl Display) {
        let line = format!("blpk: {}\n", printable(&text.to_string()));
        let _ = std::io::Write::write_all(&mut std::io::stdout(), line.as_bytes());
    }
    /// A line for `-v`.
    pub fn more(&self, text: impl Display) {
        if self.verbose {
            self.line(text);
        }
    }
    /// An error; bloscpack prints those to standard output too.
    pub fn error(&self, text: impl Display) {
        self.line(format_args!("error: {text}"));
    }
}

/// `1.0M`, `295.75K`, `0B`: two decimals of the largest unit.
pub fn short(bytes: u64) -> String {
    let units = [("T", 1u64 << 40), ("G", 1 << 30), ("M", 1 << 20), ("K", 1 << 10), ("B", 1)];
    let Some((name, unit)) = units.into_iter().find(|(_, unit)| bytes >= *unit) else { return "0B".into() };
    let rounded = (bytes as f64 / unit as f64 * 100.0).round() / 100.0;
    format!("{rounded:?}{name}")
}

/// `1.0M (1048576B)`.
pub fn double(bytes: u64) -> String {
    format!("{} ({bytes}B)", short(bytes))
}

/// A size that may be unknown, which shows as -1.
pub fn maybe(bytes: Option<u64>) -> String {
    bytes.map_or_else(|| "-1".into(), double)
}

/// A chunk size: `max`, bytes, or a decimal number and one of B K M G T.
pub fn parse_size(text: &str) -> Result<i64, String> {
    if text == "max" {
        return Ok(blosc_frame::bloscpack::MAX_BUFFER.into());
    }
    let units =
        [('B', 1.0), ('K', 1024.0), ('M', 1_048_576.0), ('G', 1_073_741_824.0), ('T', 1_099_511_627_776.0)];
    let unit = units.into_iter().find(|(name, _)| text.ends_with(*name));
    let bad = || format!("invalid literal for int() with base 10: '{text}'");
    match unit {
        Some((name, unit)) => {
            let number: f64 = text.trim_end_matches(name).parse().map_err(|_| bad())?;
            Ok((number * unit) as i64)
        }
        None => text.parse().map_err(|_| bad()),
    }
}

/// What Python's `repr` prints for a value.
pub fn repr(value: &Value) -> String {
    let mut out = String::new();
    put(value, &mut out);
    out
}

/// What Python's `repr` prints for bytes.
pub fn repr_bytes(bytes: &[u8]) -> String {
    let quote = if bytes.contains(&b'\'') && !bytes.contains(&b'"') { '"' } else { '\'' };
    let mut out = format!("b{quote}");
    for &b in bytes {
        match b {
            b'\\' => out.push_str("\\\\"),
            b'\n' => out.push_str("\\n"),
            b'\r' => out.push_str("\\r"),
            b'\t' => out.push_str("\\t"),
            b if char::from(b) == quote => out.extend(['\\', quote]),
            0x20..0x7f => out.push(char::from(b)),
            b => {
                let _ = write!(out, "\\x{b:02x}");
            }
        }
    }
    out.push(quote);
    out
}

fn put(value: &Value, out: &mut String) {
    let list = |items: &[Value], out: &mut String| {
        for (i, item) in items.iter().enumerate() {
            out.push_str(if i > 0 { ", " } else { "" });
            put(item, out);
        }
    };
    match value {
        Value::Null => out.push_str("None"),
        Value::Bool(b) => out.push_str(if *b { "True" } else { "False" }),
        Value::Number(n) => out.push_str(match n.as_str() {
            "NaN" => "nan",
            "Infinity" => "inf",
            "-Infinity" => "-inf",
            n => n,
        }),
        Value::Text(s) => put_text(s, out),
        Value::List(items) | Value::Tuple(items) => {
            out.push('[');
            list(items, out);
            out.push(']');
        }
        Value::Object(pairs) => {
            out.push('{');
            for (i, (name, value)) in pairs.iter().enumerate() {
                out.push_str(if i > 0 { ", " } else { "" });
                put_text(name, out);
                out.push_str(": ");
                put(value, out);
            }
            out.push('}');
        }
    }
}

fn put_text(s: &str, out: &mut String) {
    let quote = if s.contains('\'') && !s.contains('"') { '"' } else { '\'' };
    out.push(quote);
    for c in s.chars() {
        match c {
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            c if c == quote => out.extend(['\\', c]),
            c if c.is_control() => {
                let _ = write!(out, "\\x{:02x}", u32::from(c));
            }
            c => out.push(c),
        }
    }
    out.push(quote);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_as_bloscpack_prints_them() {
        for (bytes, text) in [
            (0, "0B (0B)"),
            (17, "17.0B (17B)"),
            (1 << 20, "1.0M (1048576B)"),
            (302_848, "295.75K (302848B)"),
            (3_000_000, "2.86M (3000000B)"),
        ] {
            assert_eq!(double(bytes), text);
        }
        assert_eq!(parse_size("1.5K"), Ok(1536));
        assert_eq!(parse_size("max"), Ok(2_147_483_631));
        assert!(parse_size("12Q").is_err());
        assert_eq!(parse_size("-1"), Ok(-1));
    }

    #[test]
    fn values_as_python_prints_them() {
        let text = br#"{"a": [1, 2.5, null, true], "it's": "x\n'\""}"#;
        let value = Value::parse_json(text, &Default::default()).unwrap();
        assert_eq!(repr_bytes(b"PK\x03\n'"), "b\"PK\\x03\\n'\"");
        assert_eq!(repr(&value), r#"{'a': [1, 2.5, None, True], "it's": 'x\n\'"'}"#);
    }
}
