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
