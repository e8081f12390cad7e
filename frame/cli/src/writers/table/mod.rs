//! The rows of a table of python-blosc2 that live, in order: as CSV, JSON lines, an Arrow file, or the arrays of a
//! `.npz` file. So are the values of an `ObjectArray` or `BatchArray`, which are a table of one column.
//!
//! ```text
//! what        null            bytes            lists, structs, objects    complex numbers
//! CSV         empty field     hex              JSON in the field          1+2j
//! JSON lines  null            hex              JSON                       [1, 2]
//! Arrow       null            binary           lists, structs, JSON text  left out
//! .npz        NAME.mask true  S<longest>       left out                   as NumPy has it
//! ```
//! What the target cannot hold is found before anything is written.

mod arrow;
mod npz;
mod text;
pub mod time;

use super::choice::{Holds, Request, Verb};
use super::containers::check_partial;
use crate::args::{Format, Input, Output};
use crate::failure::{Failure, Result};
use crate::limits::{max_by_size, size};
use crate::open::{Opened, What};
use crate::output::{Sink, notice};
use crate::readers::Cut;
use crate::readers::store::StoreReader;
use crate::readers::table::cells::{Cells, Part};
use crate::readers::table::column::ColumnReader;
use crate::readers::table::records::Records;
use crate::readers::table::schema::{Column, Kind};
use crate::readers::table::{BATCH, Table};
use blosc_frame::msgpack;
use blosc_frame::value::Value;
use std::ops::Range;
use std::path::Path;

/// What is asked for.
pub struct Export<'a> {
    pub verb: Verb,
    pub input: &'a Input,
    pub output: &'a Output,
    pub cut: Cut<'a>,
    /// `--format`.
    pub format: Option<Format>,
    /// Whether to leave out what the output cannot hold.
    pub partial: bool,
}

impl Export<'_> {
    /// Writes the table or the values that were opened; gives back what is neither, and what is wanted as `plain`
    /// bytes.
    ///
    /// # Errors
    /// A format that holds no tables; columns that are not there, or that the format cannot hold; and what reading and
    /// writing give.
    pub fn run(&self, opened: Opened, plain: bool) -> Result<Option<Opened>> {
        let request = |holds| {
            let name = self.output.output.as_path();
            Request { verb: self.verb, holds, name, format: self.format }.format()
        };
        match opened.what {
            What::Store(ref store) if store.is_table() && plain => {
                let text = "--plain: a table has no bytes of its own; name one of its leaves as STORE:/KEY";
                Err(Failure::Usage(format!("{}: {text}", store.path().display())))
            }
            _ if plain => Ok(Some(opened)),
            What::Store(ref store) if store.is_table() => {
                self.table(store, request(Holds::Table)?)?;
                Ok(None)
            }
            What::Frame(ref reader) if Records::are_in(&reader.frame) => {
                let format = request(Holds::Records)?;
                if !matches!(format, Format::Jsonl | Format::Arrow) {
                    return Ok(Some(opened));
                }
                let What::Frame(reader) = opened.what else { return Ok(None) };
                self.records(Records::new(&self.input.input, reader.frame)?, format).map(|()| None)
            }
            _ => Ok(Some(opened)),
        }
    }

    fn max_output(&self) -> u64 {
        self.input.max_output.unwrap_or_else(|| max_by_size(size(&self.input.input)))
    }

    fn table(&self, store: &StoreReader, format: Format) -> Result<()> {
        let path = self.input.input.as_path();
        let mut table = Table::open(store, path, self.max_output())?;
        let range = self.cut.rows(table.rows)?;
        let mut left_out = Vec::new();
        let mut columns = Vec::new();
        for column in chosen(&table, &self.input.column, path, &mut left_out)? {
            match cannot_hold(format, &column) {
                Some(why) => left_out.push(format!("column {}: {why}", column.name)),
                None => columns.push(ColumnReader::open(store, &column, table.max_output)?),
            }
        }
        let mut widths = Vec::new();
        if format == Format::Npz {
            widths = npz::widths(store, &mut table, columns, &range, &mut left_out)?;
            columns = Vec::new();
        }
        if widths.is_empty() && columns.is_empty() {
            return Err(match left_out.is_empty() {
                true => Failure::at(path, "the table has no columns"),
                false => Failure::at(
                    &self.output.output,
                    format!("no column can be kept: {}", left_out.join("; ")),
                ),
            });
        }
        check_partial(&self.output.output, &left_out, self.partial)?;
        let mut sink = Sink::create(self.output)?;
        let done = match format {
            Format::Npz => npz::write(store, &mut table, &widths, &range, &mut sink),
            _ => {
                let names: Vec<Named> = columns.iter().map(Named::of).collect::<Result<_>>()?;
                let mut write = Writer::new(format, &names, &mut sink)?;
                table
                    .each_batch(&mut columns, &range, &mut |rows, parts| write.batch(rows, parts))
                    .and_then(|()| write.finish())
            }
        };
        sink.filled(done)?;
        sink.finish()
    }

    fn records(&self, mut records: Records, format: Format) -> Result<()> {
        let path = self.input.input.as_path();
        let range = self.cut.rows(records.rows())?;
        let column = described(&mut records)?;
        let data_type = match records.arrow_type()? {
            Some(data_type) => data_type,
            None => arrow::data_type(&column.spec).map_err(|why| Failure::at(path, why))?,
        };
        let names = [Named { column, data_type: Some(data_type), dictionary: None, bare: true }];
        let average = records.nbytes().checked_div(records.rows().max(1)).unwrap_or(0);
        let step =
            BATCH.checked_div(average.saturating_mul(16).saturating_add(32)).unwrap_or(1).clamp(1, 1 << 16);
        let mut sink = Sink::create(self.output)?;
        let done = Writer::new(format, &names, &mut sink).and_then(|mut write| {
            let mut values = Vec::new();
            let mut at = range.start;
            while at < range.end {
                let rows = step.min(range.end - at);
                records.each(at, &mut |value| {
                    values.push(value);
                    Ok((values.len() as u64) < rows)
                })?;
                at += rows;
                let values = std::mem::take(&mut values);
                let nulls = values.iter().map(|value| *value == Value::Null).collect();
                let part = Part { cells: Cells::Values(values), nulls: Some(nulls) };
                write.batch(rows as usize, &[part])?;
            }
            write.finish()
        });
        sink.filled(done)?;
        sink.finish()
    }
}

/// The only column of values that stand alone, from what they say of themselves.
fn described(records: &mut Records) -> Result<Column> {
    let frame = records.frame();
    let list = frame.metalayer("listarray").and_then(|meta| msgpack::to_value(meta).ok());
    let scalar = frame.metalayer("ctable_varlen_scalar").and_then(|meta| msgpack::to_value(meta).ok());
    let kind = scalar.as_ref().and_then(|meta| meta.get("py_type")).and_then(Value::as_text);
    let mut spec = match (list, kind) {
        (Some(spec), _) => spec,
        (_, Some("str")) => Value::object([("kind", Value::text("vlstring"))]),
        (_, Some("bytes")) => Value::object([("kind", Value::text("vlbytes"))]),
        _ => Value::object([("kind", Value::text("object"))]),
    };
    // Values standing alone are rows without a name.
    spec.set("name", Value::text("value"));
    spec.set("nullable", Value::Bool(true));
    Column::new(&spec).ok_or_else(|| Failure::Data("what its values are cannot be told".into()))
}

/// The columns asked for, or all; what is not stored goes to `left_out`.
fn chosen(table: &Table, names: &[String], path: &Path, left_out: &mut Vec<String>) -> Result<Vec<Column>> {
    let schema = &table.schema;
    let mut columns = Vec::new();
    if names.is_empty() {
        columns.extend(schema.columns.iter().cloned());
        left_out
            .extend(schema.computed.iter().map(|name| format!("column {name}: computed, and not evaluated")));
    }
    for (k, name) in names.iter().enumerate() {
        if names.iter().take(k).any(|other| other == name) {
            return Err(Failure::Usage(format!("--column {name}: given twice")));
        }
        if schema.computed.contains(name) {
            return Err(Failure::at(path, format!("column {name} is computed, and not evaluated here")));
        }
        let column = schema.columns.iter().find(|column| column.name == *name);
        columns.push(column.cloned().ok_or_else(|| {
            let all: Vec<&str> = schema.columns.iter().map(|column| column.name.as_str()).collect();
            Failure::Usage(format!("--column: {} has no {name}; it has {}", path.display(), all.join(", ")))
        })?);
    }
    for name in schema.stale.iter().filter(|name| columns.iter().any(|column| column.name == **name)) {
        notice(format_args!("{}: column {name} is out of date by what the table says", path.display()));
    }
    Ok(columns)
}

/// Why a format holds no such column, as far as the schema tells.
fn cannot_hold(format: Format, column: &Column) -> Option<String> {
    match (format, &column.kind) {
        (_, Kind::Unknown(kind)) => Some(format!("its kind {kind} is not known")),
        (Format::Npz, Kind::Nested(_) | Kind::Object) => {
            Some(format!("{}: a .npz file holds no such items", column.type_name()))
        }
        (Format::Arrow, _) => arrow::data_type(&column.spec).err(),
        _ => None,
    }
}

/// A column as it is written.
struct Named {
    column: Column,
    /// Its type in an Arrow file.
    data_type: Option<arrow_schema::DataType>,
    dictionary: Option<arrow_array::ArrayRef>,
    /// Whether its values stand alone, and are no fields of a row.
    bare: bool,
}

impl Named {
    /// What follows its times: those of a time zone are kept in UTC.
    fn zone(&self) -> &'static str {
        match &self.column.kind {
            Kind::Timestamp { timezone: Some(_), .. } => "Z",
            _ => "",
        }
    }

    fn of(reader: &ColumnReader) -> Result<Named> {
        let dictionary = reader.dictionary().map(|values| arrow::texts(values)).transpose()?;
        let data_type = arrow::data_type(&reader.column.spec).ok();
        Ok(Named { column: reader.column.clone(), data_type, dictionary, bare: false })
    }
}

/// What writes batches of rows.
enum Writer<'a> {
    Text(text::TextWriter<'a>),
    Arrow(Box<arrow::ArrowWriter<'a>>),
}

impl<'a> Writer<'a> {
    fn new(format: Format, columns: &'a [Named], sink: &'a mut Sink) -> Result<Writer<'a>> {
        Ok(match format {
            Format::Arrow => Writer::Arrow(Box::new(arrow::ArrowWriter::new(columns, sink)?)),
            _ => Writer::Text(text::TextWriter::new(format == Format::Csv, columns, sink)?),
        })
    }

    fn batch(&mut self, rows: usize, parts: &[Part]) -> Result<()> {
        match self {
            Writer::Text(writer) => writer.batch(rows, parts),
            Writer::Arrow(writer) => writer.batch(rows, parts),
        }
    }

    fn finish(self) -> Result<()> {
        match self {
            Writer::Text(_) => Ok(()),
            Writer::Arrow(writer) => writer.finish(),
        }
    }
}

/// Rows that are wanted of those that live.
type Rows = Range<u64>;
