//! Batches of rows as CSV (RFC 4180) and as JSON lines.
//!
//! A null is an empty field in CSV; an empty text is `""`. Floats have as few digits as they need to be read back;
//! `NaN` and infinities are written as Python's `csv` and `json` do.

use super::error::{Made, Result, TableError};
use super::schema::{is_complex, is_json};
use super::time;
use super::values::{of_times, unit};
use crate::value::text::put_quoted;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use arrow_array::cast::AsArray;
use arrow_array::types::*;
use arrow_array::{Array, RecordBatch};
use arrow_schema::{DataType, Field, Schema, TimeUnit};
use core::fmt::{Debug, Write as _};
use std::io::Write;

/// Writes batches of rows as text, a line each.
pub struct TextWriter {
    csv: bool,
    /// The names, as each line begins a value with them; none where values stand alone.
    names: Option<Vec<String>>,
}

impl TextWriter {
    /// Writes the names, which CSV has in its first line.
    ///
    /// # Errors
    /// Errors of writing to `out`.
    pub fn csv(schema: &Schema, out: &mut dyn Write) -> Result<TextWriter> {
        let names: Vec<String> = schema.fields().iter().map(|field| quoted(field.name())).collect();
        writeln!(out, "{}", names.join(","))?;
        Ok(TextWriter { csv: true, names: None })
    }

    /// Writes an object for each row.
    pub fn json(schema: &Schema) -> TextWriter {
        let name = |field: &alloc::sync::Arc<Field>| json_text(field.name()) + ":";
        TextWriter { csv: false, names: Some(schema.fields().iter().map(name).collect()) }
    }

    /// Writes the values of one column as they are.
    pub fn bare() -> TextWriter {
        TextWriter { csv: false, names: None }
    }

    /// Writes rows.
    ///
    /// # Errors
    /// Values of a type that has no text, by the name of their column; those of `out`.
    pub fn write(&self, batch: &RecordBatch, out: &mut dyn Write) -> Result<()> {
        let schema = batch.schema();
        let mut columns = Vec::new();
        for (field, column) in schema.fields().iter().zip(batch.columns()) {
            let texts = Texts::of(column, field, self.csv);
            columns
                .push(texts.map_err(|what| TableError::Unable(format!("column {}: {what}", field.name())))?);
        }
        let mut lines = String::new();
        for row in 0..batch.num_rows() {
            for (k, texts) in columns.iter().enumerate() {
                if let Some(names) = &self.names {
                    lines.push(if k == 0 { '{' } else { ',' });
                    lines.push_str(names.get(k).map_or("", String::as_str));
                } else if k > 0 {
                    lines.push(',');
                }
                lines.push_str(texts.row(row));
            }
            lines.push_str(if self.names.is_some() { "}\n" } else { "\n" });
            if lines.len() > 1 << 16 {
                out.write_all(lines.as_bytes())?;
                lines.clear();
            }
        }
        Ok(out.write_all(lines.as_bytes())?)
    }
}

/// Whether a text needs quotes in CSV. Spaces at the ends are cut off by some readers.
fn needs_quotes(text: &str) -> bool {
    text.is_empty() || text.trim() != text || text.contains([',', '"', '\n', '\r'])
}

/// A field with quotes where it needs them.
fn quoted(text: &str) -> String {
    if needs_quotes(text) { format!("\"{}\"", text.replace('"', "\"\"")) } else { text.to_string() }
}

/// Text as JSON has it.
fn json_text(text: &str) -> String {
    let mut out = String::new();
    put_json(text, &mut out);
    out
}

fn put_json(text: &str, out: &mut String) {
    put_quoted(text, out, |c, out| match c {
        // Only control characters must not stand for themselves.
        '\0'..=' ' => out.push_str(&format!("\\u{:04x}", u32::from(c))),
        c => out.push(c),
    });
}

fn put_text(text: &str, csv: bool, out: &mut String) {
    match csv {
        false => put_json(text, out),
        true if needs_quotes(text) => out.push_str(&quoted(text)),
        true => out.push_str(text),
    }
}

/// A float with the shortest digits that read back; JSON has words that Python writes for what is no number.
fn put_float(shown: &dyn Debug, finite: bool, csv: bool, out: &mut String) {
    let start = out.len();
    // Writing to a String cannot fail.
    let _ = write!(out, "{shown:?}");
    if !finite && !csv {
        let word = out.split_off(start).replace("inf", "Infinity");
        out.push_str(&word);
    }
}

fn put_hex(bytes: &[u8], csv: bool, out: &mut String) {
    let quote = !csv || bytes.is_empty();
    out.push_str(if quote { "\"" } else { "" });
    for byte in bytes {
        for digit in [byte >> 4, byte & 15] {
            out.push(char::from_digit(digit.into(), 16).unwrap_or('0'));
        }
    }
    out.push_str(if quote { "\"" } else { "" });
}

/// The texts of a column, one behind the other.
struct Texts {
    text: String,
    ends: Vec<usize>,
}

impl Texts {
    fn row(&self, row: usize) -> &str {
        let start = row.checked_sub(1).and_then(|before| self.ends.get(before)).copied().unwrap_or(0);
        self.ends.get(row).and_then(|end| self.text.get(start..*end)).unwrap_or("")
    }

    /// The texts of rows, by `put`; a null is what the form has for it.
    fn each(array: &dyn Array, csv: bool, mut put: impl FnMut(usize, &mut String)) -> Texts {
        let (mut text, mut ends) = (String::new(), Vec::with_capacity(array.len()));
        for row in 0..array.len() {
            match array.is_null(row) {
                true => text.push_str(if csv { "" } else { "null" }),
                false => put(row, &mut text),
            }
            ends.push(text.len());
        }
        Texts { text, ends }
    }

    fn of(array: &dyn Array, field: &Field, csv: bool) -> Made<Texts> {
        macro_rules! ints {
            ($type:ty) => {{
                let values = array.as_primitive::<$type>().values();
                Texts::each(array, csv, |row, out| {
                    let _ = write!(out, "{}", values[row]);
                })
            }};
        }
        macro_rules! floats {
            ($type:ty) => {{
                let values = array.as_primitive::<$type>().values();
                Texts::each(array, csv, |row, out| put_float(&values[row], values[row].is_finite(), csv, out))
            }};
        }
        macro_rules! counts {
            ($type:ty) => {
                array.as_primitive::<$type>().values()
            };
        }
        Ok(match array.data_type() {
            DataType::Boolean => {
                let values = array.as_boolean();
                Texts::each(array, csv, |row, out| {
                    out.push_str(if values.value(row) { "true" } else { "false" })
                })
            }
            DataType::Int8 => ints!(Int8Type),
            DataType::Int16 => ints!(Int16Type),
            DataType::Int32 => ints!(Int32Type),
            DataType::Int64 => ints!(Int64Type),
            DataType::UInt8 => ints!(UInt8Type),
            DataType::UInt16 => ints!(UInt16Type),
            DataType::UInt32 => ints!(UInt32Type),
            DataType::UInt64 => ints!(UInt64Type),
            DataType::Float16 => {
                let values = array.as_primitive::<Float16Type>().values();
                Texts::each(array, csv, |row, out| {
                    put_float(&values[row].to_f32(), values[row].is_finite(), csv, out)
                })
            }
            DataType::Float32 => floats!(Float32Type),
            DataType::Float64 => floats!(Float64Type),
            DataType::Timestamp(in_units, zone) => {
                let counts = of_times!(array.data_type(), counts, return Err("no unit of time".into()));
                let quote = if csv { "" } else { "\"" };
                Texts::each(array, csv, |row, out| {
                    let text = time::zoned(counts[row], unit(*in_units), zone.is_some());
                    let _ = write!(out, "{quote}{text}{quote}");
                })
            }
            DataType::Utf8 if is_json(field) && !csv => {
                let texts = array.as_string::<i32>();
                Texts::each(array, csv, |row, out| out.push_str(texts.value(row)))
            }
            DataType::Utf8 => {
                let texts = array.as_string::<i32>();
                Texts::each(array, csv, |row, out| put_text(texts.value(row), csv, out))
            }
            DataType::LargeUtf8 => {
                let texts = array.as_string::<i64>();
                Texts::each(array, csv, |row, out| put_text(texts.value(row), csv, out))
            }
            DataType::Binary => {
                let values = array.as_binary::<i32>();
                Texts::each(array, csv, |row, out| put_hex(values.value(row), csv, out))
            }
            DataType::LargeBinary => {
                let values = array.as_binary::<i64>();
                Texts::each(array, csv, |row, out| put_hex(values.value(row), csv, out))
            }
            DataType::Dictionary(_, _) => Texts::dictionary(array, csv)?,
            _ => Texts::nested(array, csv)?,
        })
    }

    fn dictionary(array: &dyn Array, csv: bool) -> Made<Texts> {
        // Where all rows are null there may be no text.
        let dictionary =
            array.as_dictionary_opt::<Int32Type>().ok_or("a dictionary whose keys have not 32 bits")?;
        let texts = dictionary.values().as_string_opt::<i32>().ok_or("a dictionary of what is no text")?;
        let keys = dictionary.keys().values();
        Ok(Texts::each(array, csv, |row, out| put_text(texts.value(keys[row] as usize), csv, out)))
    }

    fn nested(array: &dyn Array, csv: bool) -> Made<Texts> {
        let complex = csv && is_complex(array.data_type());
        let joined = |texts: &Texts, range: core::ops::Range<usize>, out: &mut String| {
            out.push('[');
            for (k, entry) in range.enumerate() {
                out.push_str(if k > 0 { "," } else { "" });
                out.push_str(texts.row(entry));
            }
            out.push(']');
        };
        let texts = match array.data_type() {
            DataType::FixedSizeList(inner, count) => {
                let list = array.as_fixed_size_list();
                let (texts, count) =
                    (Texts::of(list.values(), inner, complex)?, usize::try_from(*count).unwrap_or(0));
                Texts::each(array, false, |row, out| match complex {
                    true => {
                        let [re, im] = [row * 2, row * 2 + 1].map(|part| texts.row(part));
                        let plus = if im.starts_with('-') { "" } else { "+" };
                        let [re, im] = [re, im].map(|part| part.strip_suffix(".0").unwrap_or(part));
                        let _ = write!(out, "{re}{plus}{im}j");
                    }
                    false => joined(&texts, row * count..row * count + count, out),
                })
            }
            DataType::List(inner) => {
                let list = array.as_list::<i32>();
                let (texts, ends) = (Texts::of(list.values(), inner, false)?, list.offsets());
                Texts::each(array, false, |row, out| {
                    joined(&texts, ends[row] as usize..ends[row + 1] as usize, out)
                })
            }
            DataType::LargeList(inner) => {
                let list = array.as_list::<i64>();
                let (texts, ends) = (Texts::of(list.values(), inner, false)?, list.offsets());
                Texts::each(array, false, |row, out| {
                    joined(&texts, ends[row] as usize..ends[row + 1] as usize, out)
                })
            }
            DataType::Struct(fields) => {
                let columns = fields.iter().zip(array.as_struct().columns());
                let columns = columns
                    .map(|(field, column)| Ok((json_text(field.name()), Texts::of(column, field, false)?)));
                let columns = columns.collect::<Made<Vec<(String, Texts)>>>()?;
                Texts::each(array, false, |row, out| {
                    out.push('{');
                    for (k, (name, texts)) in columns.iter().enumerate() {
                        let _ = write!(out, "{}{name}:{}", if k > 0 { "," } else { "" }, texts.row(row));
                    }
                    out.push('}');
                })
            }
            other => return Err(format!("values of type {other} have no text")),
        };
        // JSON in a field, or nothing for null.
        match csv {
            true => Ok(Texts::each(array, true, |row, out| put_text(texts.row(row), true, out))),
            false => Ok(texts),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dtype::Dtype;
    use crate::table::bytes::array_of;
    use crate::table::schema::{lists, scalar_type};
    use arrow_array::DictionaryArray;

    #[test]
    fn fields_are_quoted_where_they_must_be() {
        for (text, wanted) in
            [("a", "a"), ("", "\"\""), ("a,b", "\"a,b\""), ("\"", "\"\"\"\""), (" a", "\" a\"")]
        {
            assert_eq!(quoted(text), wanted);
        }
        assert_eq!(json_text("ü\"\u{1}\n"), "\"ü\\\"\\u0001\\n\"");
    }

    #[test]
    fn a_dictionary_without_texts_is_all_null() {
        let array = DictionaryArray::<Int32Type>::from_iter([None::<&str>, None]);
        let field = Field::new("x", array.data_type().clone(), true);
        for (csv, wanted) in [(true, ""), (false, "null")] {
            assert_eq!(Texts::of(&array, &field, csv).unwrap().row(1), wanted);
        }
    }

    #[test]
    fn items_in_lists_and_numbers_json_has_not() {
        let Dtype::Scalar(scalar) = Dtype::parse("<f4").unwrap() else { return };
        let bytes = [0.1f32, f32::NAN, f32::INFINITY, -1e30].iter().flat_map(|x| x.to_le_bytes()).collect();
        let field = Field::new("x", lists(scalar_type(&scalar).unwrap(), &[2, 2]).unwrap(), false);
        let array = array_of(bytes, &scalar, &[2, 2], field.data_type(), None).unwrap();
        assert_eq!(Texts::of(&array, &field, false).unwrap().row(0), "[[0.1,NaN],[Infinity,-1e30]]");
        assert_eq!(Texts::of(&array, &field, true).unwrap().row(0), "\"[[0.1,NaN],[Infinity,-1e30]]\"");
    }
}
