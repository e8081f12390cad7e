//! The YAML of the bcolz proposal: a subset, read from the events of a YAML parser.
//!
//! ```text
//! shape: (5000000000,)          # a tuple: a plain scalar in parentheses
//! dtype:
//!   col1: int8
//! compression:
//!   filters: [shuffle, truncate]
//! ```
//! Anchors, aliases, tags, merge keys, block scalars, tabs and second documents are refused.
#![deny(clippy::indexing_slicing, clippy::arithmetic_side_effects)]

use super::{TextError, TextLimits, Value, json, text};
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt::Write;
use saphyr_parser::{Event, Parser, ScalarStyle};

fn fail<T>(what: &'static str, offset: usize) -> Result<T, TextError> {
    Err(TextError { what, offset })
}

enum Open {
    List(Vec<Value>),
    /// Pairs, and the key that waits for its value.
    Map(Vec<(String, Value)>, Option<String>),
}

pub(super) fn parse(text: &[u8], limits: &TextLimits) -> Result<Value, TextError> {
    if text.len() > limits.bytes {
        return fail("the text is larger than the limit", limits.bytes);
    }
    let text = core::str::from_utf8(text).or_else(|e| fail("not UTF-8", e.valid_up_to()))?;
    if let Some(tab) = text.find('\t') {
        return fail("a tab", tab);
    }
    let mut stack: Vec<Open> = Vec::new();
    let mut done = None;
    let mut left = limits.values;
    for event in Parser::new_from_str(text) {
        let (event, span) = event.or_else(|e| fail("not YAML", e.marker().index()))?;
        let at = span.start.index();
        left = left.checked_sub(1).map_or_else(|| fail("more values than the limit", at), Ok)?;
        let value = match event {
            Event::Scalar(text, style, anchor, tag) => {
                refuse(anchor, tag.is_some(), at)?;
                scalar(&text, style, at)?
            }
            Event::SequenceStart(anchor, tag) => {
                refuse(anchor, tag.is_some(), at)?;
                deeper(&mut stack, Open::List(Vec::new()), limits, at)?;
                continue;
            }
            Event::MappingStart(anchor, tag) => {
                refuse(anchor, tag.is_some(), at)?;
                deeper(&mut stack, Open::Map(Vec::new(), None), limits, at)?;
                continue;
            }
            Event::SequenceEnd | Event::MappingEnd => match stack.pop() {
                Some(Open::List(items)) => Value::List(items),
                Some(Open::Map(pairs, None)) => Value::Object(pairs),
                _ => return fail("a key without a value", at),
            },
            Event::Alias(_) => return fail("an alias", at),
            Event::DocumentStart(_) if done.is_some() => return fail("a second document", at),
            _ => continue,
        };
        match stack.last_mut() {
            None => done = Some(value),
            Some(Open::List(items)) => items.push(value),
            Some(Open::Map(pairs, key)) => match key.take() {
                Some(key) => {
                    // The last of equal keys counts, in the place of the first.
                    match pairs.iter_mut().find(|(k, _)| *k == key) {
                        Some(slot) => slot.1 = value,
                        None => pairs.push((key, value)),
                    }
                }
                None => match value {
                    Value::Text(name) | Value::Number(name) if name != "<<" => *key = Some(name),
                    _ => return fail("a key that is not a plain name", at),
                },
            },
        }
    }
    Ok(done.unwrap_or(Value::Null))
}

fn deeper(stack: &mut Vec<Open>, level: Open, limits: &TextLimits, at: usize) -> Result<(), TextError> {
    if stack.len() as u64 >= u64::from(limits.depth) {
        return fail("nested too deeply", at);
    }
    stack.push(level);
    Ok(())
}

fn refuse(anchor: usize, tagged: bool, at: usize) -> Result<(), TextError> {
    if anchor != 0 {
        return fail("an anchor", at);
    }
    if tagged {
        return fail("a tag", at);
    }
    Ok(())
}

fn scalar(text: &str, style: ScalarStyle, at: usize) -> Result<Value, TextError> {
    match style {
        ScalarStyle::SingleQuoted | ScalarStyle::DoubleQuoted => return Ok(Value::Text(text.into())),
        ScalarStyle::Plain => {}
        _ => return fail("a block scalar", at),
    }
    if let Some(inner) = text.strip_prefix('(').and_then(|t| t.strip_suffix(')')) {
        let mut items = Vec::new();
        for item in inner.trim().trim_end_matches(',').split(',').map(str::trim).filter(|s| !s.is_empty()) {
            match json::parse(item.as_bytes(), &TextLimits::YAML, json::Syntax::Json) {
                Ok(n @ Value::Number(_)) => items.push(n),
                _ => return fail("a tuple of something else than numbers", at),
            }
        }
        return Ok(Value::Tuple(items));
    }
    Ok(match text {
        "" | "~" | "null" | "Null" | "NULL" => Value::Null,
        "true" | "True" | "TRUE" => Value::Bool(true),
        "false" | "False" | "FALSE" => Value::Bool(false),
        ".nan" | ".NaN" | ".NAN" => Value::Number("NaN".into()),
        ".inf" | ".Inf" | ".INF" | "+.inf" => Value::Number("Infinity".into()),
        "-.inf" | "-.Inf" | "-.INF" => Value::Number("-Infinity".into()),
        _ => match json::parse(text.as_bytes(), &TextLimits::YAML, json::Syntax::Json) {
            Ok(n @ Value::Number(_)) => n,
            _ => Value::Text(text.into()),
        },
    })
}

pub(super) fn write(value: &Value) -> String {
    let mut out = String::new();
    match value {
        Value::Object(pairs) if !pairs.is_empty() => put_pairs(pairs, 0, &mut out),
        other => {
            put_inline(other, &mut out);
            out.push('\n');
        }
    }
    out
}

fn put_pairs(pairs: &[(String, Value)], indent: usize, out: &mut String) {
    for (name, value) in pairs {
        for _ in 0..indent {
            out.push(' ');
        }
        put_text(name, out);
        out.push(':');
        match value {
            Value::Object(pairs) if !pairs.is_empty() => {
                out.push('\n');
                put_pairs(pairs, indent.saturating_add(2), out);
            }
            other => {
                out.push(' ');
                put_inline(other, out);
                out.push('\n');
            }
        }
    }
}

/// Everything but block mappings on one line. Tuples of numbers only stand where no comma could split them.
fn put_inline(value: &Value, out: &mut String) {
    let joined = |items: &[Value], out: &mut String| {
        for (i, item) in items.iter().enumerate() {
            if i > 0 {
                out.push_str(", ");
            }
            put_inline(item, out);
        }
    };
    match value {
        Value::Tuple(items) => {
            out.push('(');
            joined(items, out);
            out.push_str(if items.len() == 1 { ",)" } else { ")" });
        }
        Value::List(items) => {
            out.push('[');
            let lists: Vec<Value> = items
                .iter()
                .map(|item| match item {
                    Value::Tuple(inner) => Value::List(inner.clone()),
                    other => other.clone(),
                })
                .collect();
            joined(&lists, out);
            out.push(']');
        }
        Value::Object(pairs) => {
            out.push('{');
            for (i, (name, value)) in pairs.iter().enumerate() {
                if i > 0 {
                    out.push_str(", ");
                }
                put_quoted(name, out);
                out.push_str(": ");
                put_inline(value, out);
            }
            out.push('}');
        }
        Value::Text(s) => put_text(s, out),
        Value::Number(n) => out.push_str(match n.as_str() {
            "NaN" => ".nan",
            "Infinity" => ".inf",
            "-Infinity" => "-.inf",
            n => n,
        }),
        Value::Null => out.push_str("null"),
        Value::Bool(b) => {
            // Writing to a String cannot fail.
            let _ = write!(out, "{b}");
        }
    }
}

/// Plain where nothing can be misread, in JSON's quotes otherwise.
fn put_text(s: &str, out: &mut String) {
    let word = s.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && s.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
        && matches!(scalar(s, ScalarStyle::Plain, 0), Ok(Value::Text(_)))
        && !matches!(s.to_ascii_lowercase().as_str(), "yes" | "no" | "on" | "off" | "y" | "n");
    if word {
        out.push_str(s);
    } else {
        put_quoted(s, out);
    }
}

/// As JSON does, but that YAML knows no pairs of UTF-16.
fn put_quoted(s: &str, out: &mut String) {
    text::put_quoted(s, out, |c, out| {
        // Writing to a String cannot fail.
        let _ = write!(out, "\\U{:08x}", u32::from(c));
    });
}

#[cfg(test)]
#[allow(clippy::indexing_slicing, clippy::arithmetic_side_effects)]
mod tests {
    use super::*;

    fn yaml(s: &str) -> Result<Value, TextError> {
        Value::parse_yaml(s.as_bytes(), &TextLimits::YAML)
    }

    #[test]
    fn text_beyond_ascii_reads_back() {
        let text = Value::object([("h\u{e9}", Value::text("\u{1f600} \u{7f} \u{85} \u{2028} \u{feff}"))]);
        assert_eq!(yaml(&text.to_yaml()), Ok(text));
    }

    #[test]
    fn files_of_the_proposal() {
        let sizes = yaml("shape: (5000000000,)\nnbytes: 5000000000\ncbytes: 24328038\n").unwrap();
        assert_eq!(sizes.to_json(), r#"{"shape": [5000000000], "nbytes": 5000000000, "cbytes": 24328038}"#);
        let storage = "dtype:\n  col1: int8\n  col2: float32\nchunkshape: (30, 20)\nsuperchunksize: 10    # max.\n\
                       endianness: big\norder: C\ncompression:\n  library: blosclz\n  level: 5\n  filters: [shuffle, truncate]\n";
        let storage = yaml(storage).unwrap();
        assert_eq!(storage.get("chunkshape"), Some(&Value::Tuple([Value::int(30), Value::int(20)].into())));
        assert_eq!(
            storage.get("compression").unwrap().to_json(),
            r#"{"library": "blosclz", "level": 5, "filters": ["shuffle", "truncate"]}"#
        );
        let attributes = "temperature:\n  value: 23.5\n  type: scalar\n  dtype: float32\nids:\n  value: [1,3,6,10]\n  type: array\n";
        assert_eq!(
            yaml(attributes).unwrap().get("ids").unwrap().get("value").unwrap().as_list().unwrap().len(),
            4
        );
        for v in [sizes, storage] {
            assert_eq!(yaml(&v.to_yaml()).unwrap(), v);
        }
    }

    #[test]
    fn odd_texts_survive() {
        let v = Value::object([
            ("no", Value::text("yes")),
            ("a b", Value::text("#x: [")),
            (
                "c",
                Value::List(
                    [Value::text("1"), Value::Null, Value::Bool(true), Value::Number("NaN".into())].into(),
                ),
            ),
            ("d", Value::Object(Vec::new())),
            ("e", Value::object([("f", Value::List([Value::object([("g", Value::text("é\n"))])].into()))])),
            ("h", Value::text("")),
        ]);
        let text = v.to_yaml();
        assert_eq!(yaml(&text).unwrap(), v, "{text}");
    }

    #[test]
    fn the_rest_of_yaml_is_refused() {
        for s in [
            "a: &x 1",
            "a: *x",
            "a: !!int 1",
            "<<: {a: 1}",
            "a: |\n  text\n",
            "a: >\n  text\n",
            "\ta: 1",
            "a: 1\n---\nb: 2\n",
            "? [a]\n: 1",
            "a: (x, y)",
            "a: [1",
            "a: &x [*x, *x]",
        ] {
            assert!(yaml(s).is_err(), "{s}");
        }
        let deep = "[".repeat(17) + &"]".repeat(17);
        assert_eq!(yaml(&deep).unwrap_err().what, "nested too deeply");
    }
}
