//! Values as JSON text, as Python's `json` module writes it.
#![deny(clippy::indexing_slicing, clippy::arithmetic_side_effects)]

use super::Value;
use alloc::string::String;
use core::fmt::Write;

pub(super) fn write(value: &Value, comma: &str, colon: &str) -> String {
    let mut out = String::new();
    put(value, comma, colon, &mut out);
    out
}

fn put(value: &Value, comma: &str, colon: &str, out: &mut String) {
    match value {
        Value::Null => out.push_str("null"),
        Value::Bool(b) => out.push_str(if *b { "true" } else { "false" }),
        Value::Number(n) => out.push_str(n),
        Value::Text(s) => put_string(s, out),
        Value::List(items) | Value::Tuple(items) => {
            out.push('[');
            for (i, item) in items.iter().enumerate() {
                if i > 0 {
                    out.push_str(comma);
                }
                put(item, comma, colon, out);
            }
            out.push(']');
        }
        Value::Object(pairs) => {
            out.push('{');
            for (i, (name, value)) in pairs.iter().enumerate() {
                if i > 0 {
                    out.push_str(comma);
                }
                put_string(name, out);
                out.push_str(colon);
                put(value, comma, colon, out);
            }
            out.push('}');
        }
    }
}

pub(super) fn put_string(s: &str, out: &mut String) {
    put_quoted(s, out, |c, out| {
        let mut units = [0u16; 2];
        for unit in c.encode_utf16(&mut units) {
            // Writing to a String cannot fail.
            let _ = write!(out, "\\u{unit:04x}");
        }
    });
}

/// Text in quotes; what is not ASCII as `escape` has it.
pub(crate) fn put_quoted(s: &str, out: &mut String, escape: fn(char, &mut String)) {
    out.push('"');
    for c in s.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '\u{8}' => out.push_str("\\b"),
            '\u{c}' => out.push_str("\\f"),
            ' '..='\u{7f}' => out.push(c),
            c => escape(c, out),
        }
    }
    out.push('"');
}
