//! Rows as text: CSV (RFC 4180) with the names of the columns in its first line, or JSON lines, an object each.

use super::{BYTES, Field, Row, Source};
use crate::failure::{Failure, Result};
use crate::writers::open_plain;
use blosc_frame::value::{TextLimits, Value};
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

/// Lines of a file.
struct Lines {
    path: PathBuf,
    file: Box<dyn BufRead>,
    /// Rows so far, the first line of CSV included.
    row: usize,
    /// Most bytes of a row.
    max: u64,
}

/// What is wrong with a row.
type Wrong = String;

impl Lines {
    /// The text of the next row. With `quotes` a line that ends within quotes goes on in the next.
    fn next(&mut self, quotes: bool) -> Result<Option<String>> {
        let (mut text, mut whole) = (Vec::new(), false);
        self.row += 1;
        while !whole {
            let left = self.max.saturating_sub(text.len() as u64).saturating_add(1);
            let read =
                (&mut self.file).take(left).read_until(b'\n', &mut text).map_err(Failure::io(&self.path))?;
            if text.len() as u64 > self.max {
                return Err(self.wrong(&format!("more than {} bytes (--max-output BYTES)", self.max)));
            }
            whole = read == 0 || !quotes || text.iter().filter(|c| **c == b'"').count() % 2 == 0;
        }
        if text.is_empty() {
            return Ok(None);
        }
        String::from_utf8(text).map(Some).map_err(|e| self.wrong(&format!("is no UTF-8: {e}")))
    }

    fn wrong(&self, what: &str) -> Failure {
        Failure::at(&self.path, format!("row {}: {what}", self.row))
    }
}

/// A file of rows as text.
struct Text {
    lines: Lines,
    csv: bool,
    names: Vec<String>,
    /// The first row of JSON lines, which was read for its names.
    first: Option<Row>,
}

/// Opens a file of rows as text, and reads the names of their fields.
pub fn open(path: &Path, csv: bool, max: u64) -> Result<(Vec<String>, Box<dyn Source>)> {
    let file = Box::new(BufReader::with_capacity(1 << 16, open_plain(path)?.0));
    let mut text = Text {
        lines: Lines { path: path.to_path_buf(), file, row: 0, max },
        csv,
        names: Vec::new(),
        first: None,
    };
    if let Some(line) = text.lines.next(csv)? {
        let read = match csv {
            true => csv_row(&line).map(|fields| text.names = fields.into_iter().map(name).collect()),
            false => json_names(&line).and_then(|names| {
                text.first = Some(json_row(&line, &names)?);
                text.names = names;
                Ok(())
            }),
        };
        read.map_err(|what| text.lines.wrong(&what))?;
    }
    Ok((text.names.clone(), Box::new(text)))
}

impl Source for Text {
    fn rows(&mut self, most: usize) -> Result<Vec<Row>> {
        let mut rows: Vec<Row> = self.first.take().into_iter().collect();
        let mut bytes = 0usize;
        while rows.len() < most && bytes < BYTES {
            let Some(line) = self.lines.next(self.csv)? else { break };
            bytes = bytes.saturating_add(line.len());
            let row = match self.csv {
                false => json_row(&line, &self.names),
                true => csv_row(&line).and_then(|fields| match fields.len() == self.names.len() {
                    true => Ok(fields),
                    false => Err(format!("{} fields, but {} names", fields.len(), self.names.len())),
                }),
            };
            rows.push(row.map_err(|what| self.lines.wrong(&what))?);
        }
        Ok(rows)
    }
}

fn name(field: Field) -> String {
    match field {
        Field::Any(name) => name,
        _ => String::new(),
    }
}

fn json(line: &str) -> std::result::Result<Value, Wrong> {
    let value =
        Value::parse_json(line.trim_end().as_bytes(), &TextLimits::JSON).map_err(|e| e.to_string())?;
    if value.as_object().is_none() {
        return Err("no object".into());
    }
    Ok(value)
}

fn json_names(line: &str) -> std::result::Result<Vec<String>, Wrong> {
    Ok(json(line)?.as_object().unwrap_or_default().iter().map(|(name, _)| name.clone()).collect())
}

fn json_row(line: &str, names: &[String]) -> std::result::Result<Row, Wrong> {
    let value = json(line)?;
    if value.as_object().map_or(0, <[_]>::len) != names.len() {
        return Err("has other fields than the first row".into());
    }
    let field = |name: &String| value.get(name).map(Field::of_json).ok_or(format!("has no {name}"));
    names.iter().map(field).collect()
}

/// The fields of a line, or of several with a field that has ends of lines.
fn csv_row(line: &str) -> std::result::Result<Row, Wrong> {
    let (mut fields, mut rest) = (Vec::new(), line);
    loop {
        let (field, after) = csv_field(rest)?;
        fields.push(field);
        match after.strip_prefix(',') {
            Some(after) => rest = after,
            None => {
                return match after.trim_start_matches('\r').trim_start_matches('\n') {
                    "" => Ok(fields),
                    _ => Err("something behind a field in quotes".into()),
                };
            }
        }
    }
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
        assert_eq!(csv_row("1,\"x,\"\"\n\"\r\n").unwrap(), [any("1"), any("x,\"\n")]);
        assert_eq!(csv_row(",\"\"").unwrap(), [Field::Null, any("")]);
        for bad in ["\"x", "\"x\"y\n", "x\"y\n"] {
            assert!(csv_row(bad).is_err(), "{bad:?}");
        }
    }

    #[test]
    fn json_lines_have_the_same_fields() {
        let names = json_names("{\"a\":1,\"b\":null}\n").unwrap();
        let row = |line: &str| json_row(line, &names);
        assert_eq!(row("{\"a\":1,\"b\":null}\r\n").unwrap(), [Field::Number("1".into()), Field::Null]);
        assert_eq!(row("{\"b\":\"x\",\"a\":true}").unwrap(), [Field::Bool(true), Field::Text("x".into())]);
        for bad in ["1\n", "{\"a\":1,\"c\":1}\n", "{}\n", "{\"a\":1}"] {
            assert!(row(bad).is_err(), "{bad:?}");
        }
    }
}
