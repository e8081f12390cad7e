//! Tables as CSV (RFC 4180) and as JSON lines.
//!
//! A null is an empty field in CSV; an empty text is `""`. Floats have as few digits as they need to be read back;
//! `NaN` and infinities are written as Python's `csv` and `json` do.

use super::{Named, time};
use crate::failure::{Failure, Result};
use crate::readers::table::cells::{Cells, Item, Part, hex, item};
use blosc_frame::value::Value;
use std::fmt::Write as _;
use std::io::Write;

/// Writes batches of rows as text.
pub struct TextWriter<'a> {
    csv: bool,
    columns: &'a [Named],
    sink: &'a mut dyn Write,
    /// The names, as each line begins a value with them.
    names: Vec<String>,
}

impl<'a> TextWriter<'a> {
    /// Writes the head, which CSV has.
    pub fn new(csv: bool, columns: &'a [Named], sink: &'a mut dyn Write) -> Result<TextWriter<'a>> {
        let names: Vec<&str> = columns.iter().map(|column| column.column.name.as_str()).collect();
        if csv {
            let fields: Vec<String> = names.iter().map(|name| quoted(name)).collect();
            writeln!(sink, "{}", fields.join(","))?;
        }
        let names = names.iter().map(|name| json_text(name)).collect();
        Ok(TextWriter { csv, columns, sink, names })
    }

    /// Writes rows, a line each.
    ///
    /// # Errors
    /// Items of a type that has no text.
    pub fn batch(&mut self, rows: usize, parts: &[Part]) -> Result<()> {
        let bare = !self.csv && self.columns.iter().any(|column| column.bare);
        let mut line = String::new();
        for row in 0..rows {
            line.clear();
            for (k, part) in parts.iter().enumerate() {
                let column = self.columns.get(k).map_or("", |column| column.column.name.as_str());
                if !self.csv && !bare {
                    line.push(if k == 0 { '{' } else { ',' });
                    line.push_str(self.names.get(k).map_or("", String::as_str));
                    line.push(':');
                } else if k > 0 {
                    line.push(',');
                }
                let zone = self.columns.get(k).map_or("", Named::zone);
                let written = match self.csv {
                    true => csv(part, row, zone, &mut line),
                    false => json(part, row, zone, &mut line),
                };
                written.ok_or_else(|| Failure::Unable(format!("column {column}: its items have no text")))?;
            }
            line.push_str(if self.csv || bare { "\n" } else { "}\n" });
            self.sink.write_all(line.as_bytes())?;
        }
        Ok(())
    }
}

/// A field with quotes where it needs them.
fn quoted(text: &str) -> String {
    // Spaces at the ends are cut off by some readers.
    let plain = !text.is_empty() && text.trim() == text && !text.contains([',', '"', '\n', '\r']);
    if plain { text.to_string() } else { format!("\"{}\"", text.replace('"', "\"\"")) }
}

/// Text as JSON has it.
fn json_text(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

/// What a cell is, of those that are no items.
fn simple<'a>(cells: &'a Cells, row: usize) -> Option<std::borrow::Cow<'a, str>> {
    Some(match cells {
        Cells::Text(texts) => texts.get(row)?.into(),
        Cells::Codes { codes, values } => values.get(usize::try_from(*codes.get(row)?).ok()?)?.into(),
        Cells::Bytes(bytes) => hex(bytes.get(row)?).into(),
        _ => return None,
    })
}

fn csv(part: &Part, row: usize, zone: &str, line: &mut String) -> Option<()> {
    if part.is_null(row) {
        return Some(());
    }
    match &part.cells {
        Cells::Items { scalar, shape, bytes } if shape.is_empty() => {
            match item(scalar, bytes.chunks_exact(scalar.size.max(1) as usize).nth(row)?)? {
                Item::Text(text) => line.push_str(&quoted(&text)),
                Item::Bytes(bytes) if bytes.is_empty() => line.push_str("\"\""),
                other => plain(&other, zone, line)?,
            }
        }
        Cells::Items { .. } | Cells::Values(_) => {
            let mut text = String::new();
            json(part, row, zone, &mut text)?;
            line.push_str(&quoted(&text));
        }
        cells => line.push_str(&quoted(&simple(cells, row)?)),
    }
    Some(())
}

/// What needs no quotes in CSV.
fn plain(item: &Item, zone: &str, line: &mut String) -> Option<()> {
    match item {
        Item::Bool(b) => write!(line, "{b}"),
        Item::Int(n) => write!(line, "{n}"),
        Item::Uint(n) => write!(line, "{n}"),
        // The shortest digits that read back.
        Item::Single(x) => write!(line, "{x:?}"),
        Item::Float(x) => write!(line, "{x:?}"),
        Item::Complex(re, im) => write!(line, "{re}{im:+}j"),
        Item::Bytes(bytes) => write!(line, "{}", hex(bytes)),
        Item::Time(n, unit) => write!(line, "{}{zone}", time::text(*n, *unit)?),
        Item::Text(text) => write!(line, "{text}"),
    }
    .ok()
}

fn json(part: &Part, row: usize, zone: &str, line: &mut String) -> Option<()> {
    if part.is_null(row) {
        line.push_str("null");
        return Some(());
    }
    match &part.cells {
        Cells::Items { scalar, shape, bytes } => {
            let count = shape.iter().fold(1usize, |n, side| n.saturating_mul(*side as usize));
            let size = scalar.size.max(1) as usize;
            let row = match count {
                0 => &[],
                _ => bytes.chunks_exact(size.saturating_mul(count)).nth(row)?,
            };
            let mut items = row.chunks_exact(size).map(|bytes| item(scalar, bytes));
            nested(shape, &mut || json_item(&items.next()??, zone), line)
        }
        Cells::Values(values) => {
            line.push_str(&value(values.get(row)?));
            Some(())
        }
        cells => {
            line.push_str(&json_text(&simple(cells, row)?));
            Some(())
        }
    }
}

/// The items of a row, in lists as its shape has it.
fn nested(shape: &[u32], next: &mut dyn FnMut() -> Option<String>, line: &mut String) -> Option<()> {
    let Some((first, rest)) = shape.split_first() else {
        line.push_str(&next()?);
        return Some(());
    };
    line.push('[');
    for k in 0..*first {
        if k > 0 {
            line.push(',');
        }
        nested(rest, next, line)?;
    }
    line.push(']');
    Some(())
}

fn json_item(item: &Item, zone: &str) -> Option<String> {
    Some(match item {
        Item::Single(x) if x.is_finite() => format!("{x:?}"),
        Item::Single(x) => special(f64::from(*x)),
        Item::Float(x) if x.is_finite() => format!("{x:?}"),
        Item::Float(x) => special(*x),
        Item::Complex(re, im) => {
            let parts = [re, im].map(|x| if x.is_finite() { format!("{x:?}") } else { special(*x) });
            format!("[{}]", parts.join(","))
        }
        Item::Text(text) => json_text(text),
        Item::Bytes(bytes) => format!("\"{}\"", hex(bytes)),
        Item::Time(n, unit) => json_text(&format!("{}{zone}", time::text(*n, *unit)?)),
        Item::Bool(_) | Item::Int(_) | Item::Uint(_) => {
            let mut text = String::new();
            plain(item, zone, &mut text)?;
            text
        }
    })
}

/// What JSON has no number for, as Python writes it.
fn special(x: f64) -> String {
    match x {
        x if x.is_nan() => "NaN",
        x if x > 0.0 => "Infinity",
        _ => "-Infinity",
    }
    .to_string()
}

/// A MessagePack value as JSON; bytes and extensions are `{"bin": "hex"}` and `{"ext": [type, "hex"]}`.
pub fn value(value: &Value) -> String {
    value.to_json_compact()
}

#[cfg(test)]
mod tests {
    use super::*;
    use blosc_frame::dtype::Dtype;

    #[test]
    fn fields_are_quoted_where_they_must_be() {
        for (text, wanted) in
            [("a", "a"), ("", "\"\""), ("a,b", "\"a,b\""), ("\"", "\"\"\"\""), (" a", "\" a\"")]
        {
            assert_eq!(quoted(text), wanted);
        }
    }

    #[test]
    fn items_in_lists_and_numbers_json_has_not() {
        let Dtype::Scalar(scalar) = Dtype::parse("<f4").unwrap() else { return };
        let bytes = [0.1f32, f32::NAN, f32::INFINITY, -1e30].iter().flat_map(|x| x.to_le_bytes()).collect();
        let part = Part { cells: Cells::Items { scalar, shape: vec![2, 2], bytes }, nulls: None };
        let mut line = String::new();
        json(&part, 0, "", &mut line).unwrap();
        assert_eq!(line, "[[0.1,NaN],[Infinity,-1e30]]");
        line.clear();
        csv(&part, 0, "", &mut line).unwrap();
        assert_eq!(line, "\"[[0.1,NaN],[Infinity,-1e30]]\"");
    }
}
