//! Rows from CSV (RFC 4180) with the names of the columns in its first line, and from JSON lines, an object each.
//!
//! A byte order mark at the beginning and empty lines at the end are taken, and the first column without a name that pandas
//! writes, if it counts the rows from 0. Rows are called by the line of the file in which they begin, of which the first is 1.

use super::error::{Result, TableError};
use super::rows::{self, Rows};
use super::values::{self, Form, json};
use crate::error::Error;
use crate::value::Value;
use alloc::boxed::Box;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use arrow_array::RecordBatch;
use arrow_schema::Fields;
use std::io::{BufRead, Read};

/// Fields that are in memory at a time, and bytes of text.
const FIELDS: usize = 1 << 18;
const BYTES: usize = 16 << 20;

/// Lines of a file.
struct Lines {
    file: Box<dyn BufRead>,
    /// Lines that have been read.
    read: u64,
    /// The line in which the last row begins.
    line: u64,
    /// Most bytes of a row.
    max: u64,
}

/// What is wrong with a row.
type Wrong<T> = core::result::Result<T, String>;

impl Lines {
    /// The text of the next row, without the end of its line. With `quotes` a line that ends within quotes goes on in the
    /// next.
    fn next(&mut self, quotes: bool) -> Result<Option<String>> {
        let (mut text, mut open) = (Vec::new(), false);
        self.line = self.read.saturating_add(1);
        loop {
            let start = text.len();
            let left = self.max.saturating_sub(start as u64).saturating_add(1);
            let read = (&mut self.file).take(left).read_until(b'\n', &mut text)?;
            if text.len() as u64 > self.max {
                let error =
                    Error::Limit { what: "bytes of a row", asked: text.len() as u64, limit: self.max };
                return Err(TableError::Frame { about: format!("line {}", self.line), error });
            }
            self.read = self.read.saturating_add(u64::from(read > 0));
            let odd = text.get(start..).unwrap_or_default().iter().filter(|c| **c == b'"').count() % 2 == 1;
            open = quotes && (open ^ odd);
            if !open || read == 0 {
                break;
            }
        }
        if text.is_empty() {
            return Ok(None);
        }
        if text.last() == Some(&b'\n') {
            text.pop();
            if text.last() == Some(&b'\r') {
                text.pop();
            }
        }
        if self.line == 1 && text.starts_with(b"\xef\xbb\xbf") {
            text.drain(..3);
        }
        String::from_utf8(text).map(Some).map_err(|e| self.wrong(format!("is no UTF-8: {e}")))
    }

    fn wrong(&self, what: impl core::fmt::Display) -> TableError {
        TableError::Data(format!("line {}: {what}", self.line))
    }
}

/// A file of rows as text.
pub struct TextReader {
    lines: Lines,
    csv: bool,
    names: Vec<String>,
    /// Whether the first column counts the rows, and has no name.
    index: bool,
    rows: u64,
    /// The first row of JSON lines, which was read for its names.
    first: Option<(u64, Vec<Value>)>,
    /// The line of each row of the last batch.
    places: Vec<u64>,
}

impl TextReader {
    /// Reads the names of the fields. A row has at most `max` bytes.
    ///
    /// # Errors
    /// Two fields of one name; a first line that is none of such a file.
    pub fn new(file: Box<dyn BufRead>, csv: bool, max: u64) -> Result<TextReader> {
        let lines = Lines { file, read: 0, line: 0, max };
        let mut text = TextReader {
            lines,
            csv,
            names: Vec::new(),
            index: false,
            rows: 0,
            first: None,
            places: Vec::new(),
        };
        if let Some(line) = text.lines.next(csv)? {
            let read = match csv {
                true => csv_row(&line).map(|fields| text.names = fields.into_iter().map(name).collect()),
                false => object(&line).map(|pairs| {
                    let (names, row) = pairs.into_iter().unzip();
                    text.names = names;
                    text.first = Some((text.lines.line, row));
                }),
            };
            read.map_err(|what| text.lines.wrong(what))?;
        }
        text.index = csv && text.names.len() > 1 && text.names.first().is_some_and(String::is_empty);
        text.names.drain(..usize::from(text.index));
        for (k, name) in text.names.iter().enumerate() {
            if text.names.iter().take(k).any(|other| other == name) {
                return Err(text.lines.wrong(format!("two fields are called {name:?}")));
            }
        }
        Ok(text)
    }

    /// Whether the file is CSV.
    pub(super) fn form(&self) -> Form {
        if self.csv { Form::Csv } else { Form::Json }
    }

    /// The next rows, as columns of values; none at the end.
    pub(super) fn values(&mut self) -> Result<Vec<Vec<Value>>> {
        let mut columns: Vec<Vec<Value>> = self.names.iter().map(|_| Vec::new()).collect();
        let most = FIELDS.checked_div(self.names.len()).unwrap_or(FIELDS).max(1);
        self.places.clear();
        let (mut bytes, mut empty) = (0usize, None);
        while self.places.len() < most && bytes < BYTES {
            let (line, row) = match self.first.take() {
                Some(first) => first,
                None => {
                    let Some(text) = self.lines.next(self.csv)? else { break };
                    bytes = bytes.saturating_add(text.len()).saturating_add(1);
                    // A column alone has nothing where it is null.
                    if text.trim().is_empty() && !(self.csv && self.names.len() == 1 && !self.index) {
                        empty.get_or_insert(self.lines.line);
                        continue;
                    }
                    if let Some(line) = empty {
                        return Err(TableError::Data(format!("line {line}: is empty, and rows follow")));
                    }
                    let row = if self.csv { self.csv(&text) } else { self.json(&text) };
                    (self.lines.line, row.map_err(|what| self.lines.wrong(what))?)
                }
            };
            self.places.push(line);
            self.rows = self.rows.saturating_add(1);
            for (column, value) in columns.iter_mut().zip(row) {
                column.push(value);
            }
        }
        Ok(columns)
    }

    fn csv(&self, line: &str) -> Wrong<Vec<Value>> {
        let mut fields = csv_row(line)?;
        let wanted = self.names.len().saturating_add(usize::from(self.index));
        if fields.len() != wanted {
            return Err(format!("{} fields, but {wanted} names", fields.len()));
        }
        if self.index {
            let first = fields.remove(0);
            if first.as_text() != Some(self.rows.to_string().as_str()) {
                return Err("the first column has no name, and does not count the rows from 0".into());
            }
        }
        Ok(fields)
    }

    fn json(&self, line: &str) -> Wrong<Vec<Value>> {
        let mut pairs = object(line)?;
        if pairs.len() != self.names.len() {
            return Err("has other fields than the first row".into());
        }
        // Mostly in the same order.
        if pairs.iter().zip(&self.names).all(|((name, _), wanted)| name == wanted) {
            return Ok(pairs.into_iter().map(|(_, value)| value).collect());
        }
        let find = |name: &String| {
            let found = pairs.iter_mut().find(|(other, _)| other == name);
            found.map(|(_, value)| core::mem::replace(value, Value::Null)).ok_or(format!("has no {name}"))
        };
        self.names.iter().map(find).collect()
    }
}

impl Rows for TextReader {
    fn names(&self) -> &[String] {
        &self.names
    }

    fn next(&mut self, fields: &Fields) -> Result<Option<RecordBatch>> {
        let form = self.form();
        let columns = self.values()?;
        if self.places.is_empty() {
            return Ok(None);
        }
        rows::read_batch(fields, &|row| self.place(row), &mut |field| {
            let column = self.names.iter().position(|name| name == field.name());
            Ok(column.and_then(|at| columns.get(at)).map(|column| values::rows(column, field, form)))
        })
        .map(Some)
    }

    fn place(&self, row: usize) -> String {
        format!("line {}", self.places.get(row).copied().unwrap_or(0))
    }
}

fn name(field: Value) -> String {
    field.as_text().unwrap_or_default().to_string()
}

fn object(line: &str) -> Wrong<Vec<(String, Value)>> {
    match json(line.trim_end())? {
        Value::Object(pairs) => Ok(pairs),
        _ => Err("no object".into()),
    }
}

/// The fields of a line, or of several with a field that has ends of lines. A field that is empty without quotes is null.
fn csv_row(line: &str) -> Wrong<Vec<Value>> {
    let (mut fields, mut rest) = (Vec::new(), line);
    loop {
        let (field, after) = csv_field(rest)?;
        fields.push(field);
        match after.strip_prefix(',') {
            Some(after) => rest = after,
            None if after.is_empty() => return Ok(fields),
            None => return Err("something behind a field in quotes".into()),
        }
    }
}

/// The first field, and what follows it.
fn csv_field(text: &str) -> core::result::Result<(Value, &str), &'static str> {
    let Some(mut rest) = text.strip_prefix('"') else {
        let end = text.find([',', '"']).unwrap_or(text.len());
        let (field, rest) = text.split_at(end);
        return match (rest.starts_with('"'), field.is_empty()) {
            (true, _) => Err("a quote within a field"),
            (_, true) => Ok((Value::Null, rest)),
            (_, false) => Ok((Value::text(field), rest)),
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
            None => return Ok((Value::Text(field), after)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &'static str, csv: bool) -> Result<Vec<Vec<Value>>> {
        TextReader::new(Box::new(text.as_bytes()), csv, 1 << 20)?.values()
    }

    #[test]
    fn csv_as_others_write_it() {
        let text = Value::text;
        assert_eq!(csv_row("1,\"x,\"\"\n\"").unwrap(), [text("1"), text("x,\"\n")]);
        assert_eq!(csv_row(",\"\"").unwrap(), [Value::Null, text("")]);
        for bad in ["\"x", "\"x\"y", "x\"y"] {
            assert!(csv_row(bad).is_err(), "{bad:?}");
        }
        let wanted = [[text("1"), Value::Null], [text("x"), text("y")]];
        for file in [
            "a,b\n1,x\n,y\n",
            "\u{feff}a,b\r\n1,x\r\n,y\r\n\r\n",
            "\u{feff}\"a\",b\n1,x\n,\"y\"",
            ",a,b\n0,1,x\n1,,y\n\n\n",
        ] {
            assert_eq!(read(file, true).unwrap(), wanted, "{file:?}");
        }
        // A column alone is null where its line is empty.
        assert_eq!(read("a\n1\n\n", true).unwrap(), [[text("1"), Value::Null]]);
        for (file, wanted) in [
            ("a,b\n1\n", "line 2: 1 fields"),
            ("a,b\n\"\n\n\",1\n2\n", "line 5: 1 fields"),
            ("a,b\n1,2\n\n3,4\n", "line 3: is empty"),
            (",a\n5,1\n", "line 2: the first column has no name"),
            ("a,a\n1,2\n", "line 1: two fields are called \"a\""),
        ] {
            assert!(read(file, true).unwrap_err().to_string().starts_with(wanted), "{file:?}");
        }
    }

    #[test]
    fn json_lines_have_the_same_fields() {
        let first = "{\"a\":1,\"b\":null}\n";
        let lines = |more: &str| {
            let file = alloc::string::String::from(first) + more;
            TextReader::new(Box::new(std::io::Cursor::new(file)), false, 1 << 20).unwrap().values()
        };
        let wanted = [[Value::int(1), Value::Bool(true)], [Value::Null, Value::text("x")]];
        assert_eq!(lines("{\"b\":\"x\",\"a\":true}\r\n \n").unwrap(), wanted);
        for bad in [
            "1\n",
            "{\"a\":1,\"c\":1}\n",
            "{}\n",
            "{\"a\":1}",
            "{\"a\":1,\"a\":1}",
            "{\"a\":\"\\ud800\",\"b\":1}",
        ] {
            assert!(lines(bad).unwrap_err().to_string().starts_with("line 2: "), "{bad:?}");
        }
    }
}
