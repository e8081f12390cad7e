//! A JSON report as lines for people: `name  value`, nested objects indented.

use serde_json::Value;
use std::io::{self, Write};

/// Writes the object `report`.
pub fn write(report: &Value, out: &mut impl Write) -> io::Result<()> {
    fields(report, 0, out)
}

fn fields(value: &Value, indent: usize, out: &mut impl Write) -> io::Result<()> {
    let Value::Object(map) = value else { return writeln!(out, "{value}") };
    let width = map.keys().map(String::len).max().unwrap_or(0);
    for (name, value) in map {
        match value {
            Value::Object(inner) if !inner.is_empty() => {
                writeln!(out, "{:indent$}{name}", "")?;
                fields(value, indent + 2, out)?;
            }
            Value::Array(items) if items.iter().any(Value::is_object) => {
                writeln!(out, "{:indent$}{name}", "")?;
                for item in items {
                    writeln!(out, "{:indent$}  {}", "", line(item))?;
                }
            }
            // Rows below each other.
            Value::Array(items) if name == "preview" => {
                for (n, item) in items.iter().enumerate() {
                    let name = if n == 0 { name } else { "" };
                    writeln!(out, "{:indent$}{name:width$}  {}", "", line(item))?;
                }
            }
            _ => writeln!(out, "{:indent$}{name:width$}  {}", "", line(value))?,
        }
    }
    Ok(())
}

fn line(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Null => "-".into(),
        Value::Number(n) if n.is_f64() => format!("{:.3}", n.as_f64().unwrap_or(0.0)),
        Value::Object(map) => {
            map.iter().map(|(k, v)| format!("{k} {}", line(v))).collect::<Vec<_>>().join("  ")
        }
        Value::Array(items) => items.iter().map(line).collect::<Vec<_>>().join(", "),
        other => other.to_string(),
    }
}

/// A picture of how the blocks of an array tile its chunks: its last two axes, a character cell per block.
pub fn tiles(report: &Value) -> Vec<String> {
    const MOST: usize = 24;
    let sides = |name: &str| -> Vec<u64> {
        let list = report.get(name).and_then(Value::as_array);
        list.map_or_else(Vec::new, |v| v.iter().filter_map(Value::as_u64).collect())
    };
    let (shape, chunks, blocks) = (sides("shape"), sides("chunks"), sides("blocks"));
    let last = |v: &[u64], n: usize| v.len().checked_sub(n).and_then(|k| v.get(k).copied()).unwrap_or(1);
    if shape.is_empty() || shape.contains(&0) || chunks.contains(&0) || blocks.contains(&0) {
        return Vec::new();
    }
    // Where blocks begin along an axis, and whether a chunk begins there too.
    let cells = |n: usize| -> Vec<bool> {
        let (s, c, b) = (last(&shape, n), last(&chunks, n), last(&blocks, n));
        let per_chunk = c.div_ceil(b);
        (0..s.div_ceil(c).saturating_mul(per_chunk)).take(MOST + 1).map(|k| k % per_chunk == 0).collect()
    };
    let (rows, columns) = (cells(2), cells(1));
    let line = |cross: &dyn Fn(bool) -> char, bar: char| -> String {
        let mut text: String =
            columns.iter().take(MOST).flat_map(|chunk| [cross(*chunk), bar, bar]).collect();
        text.push(if columns.len() > MOST { '…' } else { cross(true) });
        text
    };
    let mut lines = vec![String::from("blocks (─│) in chunks (═║), last two axes")];
    for chunk in rows.iter().take(MOST) {
        let bar = if *chunk { '═' } else { '─' };
        lines.push(line(&|edge| if edge || *chunk { '╬' } else { '┼' }, bar));
        lines.push(line(&|edge| if edge { '║' } else { '│' }, ' '));
    }
    lines.push(if rows.len() > MOST { "…".into() } else { line(&|_| '╬', '═') });
    lines
}
