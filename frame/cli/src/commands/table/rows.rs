//! Rows as text: CSV (RFC 4180) with the names of the columns in its first line, or JSON lines, an object each.

use crate::failure::{Failure, Result};
use blosc_frame::value::{TextLimits, Value};
use std::path::Path;

/// What a field is, as far as its syntax tells.
#[derive(Clone, Debug, PartialEq)]
pub enum Field {
    Null,
    /// Text of CSV, which may be anything.
    Any(String),
    Text(String),
    Number(String),
    Bool(bool),
}

/// Rows, and the names of their fields.
#[derive(Debug, Default)]
pub struct Rows {
    pub names: Vec<String>,
    pub rows: Vec<Vec<Field>>,
}

/// Reads them, by the name of the file.
///
/// # Errors
/// Another name; text that is neither; rows with other fields than the first.
pub fn read(path: &Path, text: &[u8]) -> Result<Rows> {
    let extension = path.extension().map(|e| e.to_string_lossy().to_ascii_lowercase());
    let parse = match extension.as_deref() {
        Some("csv") => csv,
        Some("jsonl") => jsonl,
        _ => {
            let text = "the rows of a table are appended from a .csv or .jsonl file";
            return Err(Failure::Usage(format!("{}: {text}", path.display())));
        }
    };
    let text = str::from_utf8(text).map_err(|e| Failure::at(path, format!("is no UTF-8: {e}")))?;
    let rows = parse(text).map_err(|(line, what)| Failure::at(path, format!("row {line}: {what}")))?;
    for (k, name) in rows.names.iter().enumerate() {
        if rows.names.iter().take(k).any(|other| other == name) {
            return Err(Failure::at(path, format!("two fields are called {name:?}")));
        }
    }
    Ok(rows)
}

/// A row's number, from 1, and what is wrong with it.
type Wrong = (usize, String);

fn jsonl(text: &str) -> std::result::Result<Rows, Wrong> {
    let mut found = Rows::default();
    for (k, line) in text.lines().enumerate() {
        let wrong = |what: &str| (k + 1, what.to_string());
        let value =
            Value::parse_json(line.as_bytes(), &TextLimits::JSON).map_err(|e| wrong(&e.to_string()))?;
        let pairs = value.as_object().ok_or_else(|| wrong("no object"))?;
        if k == 0 {
            found.names = pairs.iter().map(|(name, _)| name.clone()).collect();
        }
        if pairs.len() != found.names.len() {
            return Err(wrong("has other fields than the first row"));
        }
        let field = |name: &String| match value.get(name) {
            None => Err(wrong(&format!("has no {name}"))),
            Some(Value::Null) => Ok(Field::Null),
            Some(Value::Bool(b)) => Ok(Field::Bool(*b)),
            Some(Value::Number(n)) => Ok(Field::Number(n.clone())),
            Some(Value::Text(text)) => Ok(Field::Text(text.clone())),
            Some(_) => Err(wrong(&format!("{name}: lists and objects are not appended"))),
        };
        found.rows.push(found.names.iter().map(field).collect::<std::result::Result<_, _>>()?);
    }
    Ok(found)
}

fn csv(text: &str) -> std::result::Result<Rows, Wrong> {
    let mut found = Rows::default();
    let mut rest = text;
    let mut line = 0;
    while !rest.is_empty() {
        line += 1;
        let mut fields = Vec::new();
        loop {
            let (field, after) = csv_field(rest).map_err(|what| (line, what.to_string()))?;
            fields.push(field);
            rest = after;
            match rest.strip_prefix(',') {
                Some(after) => rest = after,
                None => break,
            }
        }
        rest = rest.strip_prefix('\r').unwrap_or(rest);
        rest = match rest.strip_prefix('\n') {
            Some(after) => after,
            None if rest.is_empty() => rest,
            None => return Err((line, "something behind a field in quotes".into())),
        };
        if line == 1 {
            let name = |field: Field| match field {
                Field::Any(name) | Field::Text(name) => name,
                _ => String::new(),
            };
            found.names = fields.into_iter().map(name).collect();
        } else if fields.len() == found.names.len() {
            found.rows.push(fields);
        } else {
            return Err((line, format!("{} fields, but {} names", fields.len(), found.names.len())));
        }
    }
    Ok(found)
}

/// The first field, and what follows it.
fn csv_field(text: &str) -> std::result::Result<(Field, &str), &'static str> {
    let Some(mut rest) = text.strip_prefix('"') else {
        let end = text.find([',', '\n', '\r', '"']).unwrap_or(text.len());
        let (field, rest) = text.split_at(end);
        return match (rest.starts_with('"'), field.is_empty()) {
            (true, _) => Err("a quote within a field"),
            (_, true) => Ok((Field::Null, rest)),
            (_, false) => Ok((Field::Any(field.to_string()), rest)),
        };
    };
    let mut field = String::new();
    loop {
        let (part, after) = rest.split_once('"').ok_or("a quote that does not end")?;
        field.push_str(part);
        match after.strip_prefix('"') {
            Some(after) => {
                field.push('"');
                rest = after;
            }
            None => return Ok((Field::Any(field), after)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn csv_as_others_write_it() {
        let any = |text: &str| Field::Any(text.into());
        let rows = csv("a,b\r\n1,\"x,\"\"\n\"\n,\"\"").unwrap();
        assert_eq!(rows.names, ["a", "b"]);
        assert_eq!(rows.rows, [[any("1"), any("x,\"\n")], [Field::Null, any("")]]);
        for bad in ["a\n1,2\n", "a\n\"x", "a\n\"x\"y\n", "a\nx\"y\n"] {
            assert!(csv(bad).is_err(), "{bad:?}");
        }
    }

    #[test]
    fn json_lines_have_the_same_fields() {
        let rows = jsonl("{\"a\":1,\"b\":null}\n{\"b\":\"x\",\"a\":true}\n").unwrap();
        let one = Field::Number("1".into());
        assert_eq!(rows.rows, [[one, Field::Null], [Field::Bool(true), Field::Text("x".into())]]);
        for bad in ["1\n", "{\"a\":1}\n{\"b\":1}\n", "{\"a\":1}\n{}\n", "{\"a\":[]}\n"] {
            assert!(jsonl(bad).is_err(), "{bad:?}");
        }
    }
}
