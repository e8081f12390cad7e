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

mod npz;

use super::choice::{Request, Verb, check_partial};
use super::{destination, store};
use crate::args::{Compress, Format, Input, Output};
use crate::cut::Cut;
use crate::failure::{Failure, Result};
use crate::limits::{max_by_size, size};
use crate::opened::{Contents, Holds, Opened};
use crate::output::{Sink, notice};
use crate::readers::rows_of_files;
use crate::readers::store::StoreReader;
use crate::readers::table::of_table;
use blosc_frame::table::arrow_array::{ArrayRef, RecordBatch};
use blosc_frame::table::arrow_schema::{Field, Schema};
use blosc_frame::table::ipc::{self, ArrowWriter};
use blosc_frame::table::text::TextWriter;
use blosc_frame::table::{self, Column, ColumnReader, Records, Table, TableError, numpy};
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
            Contents::Store(ref store) if store.store.is_table() && plain => {
                let text = "--plain: a table has no bytes of its own; name one of its leaves as STORE:/KEY";
                Err(Failure::Usage(format!("{}: {text}", store.path().display())))
            }
            _ if plain => Ok(Some(opened)),
            Contents::Store(ref store) if store.store.is_table() => {
                self.table(store, request(Holds::Table)?)?;
                Ok(None)
            }
            Contents::Frame(ref reader) if Records::are_in(&reader.frame) => {
                let format = request(Holds::Records)?;
                if !matches!(format, Format::Jsonl | Format::Arrow) {
                    return Ok(Some(opened));
                }
                let Contents::Frame(reader) = opened.what else { return Ok(None) };
                let about = self.input.input.display().to_string();
                let records = Records::new(&about, reader.frame)?;
                self.records(records, format).map(|()| None)
            }
            _ => Ok(Some(opened)),
        }
    }

    fn table(&self, store: &StoreReader, format: Format) -> Result<()> {
        let path = self.input.input.as_path();
        let table = store.store.table("").map_err(of_table(path))?;
        let range = self.cut.rows(table.rows)?;
        let mut source = Source { path, table, range };
        let (mut left_out, mut kept) = (Vec::new(), Vec::new());
        for column in chosen(&source.table, &self.input.column, path, &mut left_out)? {
            match cannot_hold(format, &column) {
                Some(why) => left_out.push(format!("column {}: {why}", column.name)),
                None => kept.push(column),
            }
        }
        let mut columns = source.table.columns_of(&kept).map_err(of_table(path))?;
        let mut members = Vec::new();
        if format == Format::Npz {
            members = npz::widths(&mut source, std::mem::take(&mut columns), &mut left_out)?;
        }
        if members.is_empty() && columns.is_empty() {
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
            Format::Npz => npz::write(&mut source, &members, &mut sink),
            _ => {
                let batches = source.table.batches(&mut columns, source.range.clone());
                let schema = batches.schema().clone();
                let text = match format {
                    Format::Csv => Text::Csv,
                    _ => Text::Json,
                };
                write(format, text, &schema, batches, &mut sink).map_err(of_table(path))
            }
        };
        sink.filled(done)?;
        sink.finish()
    }

    fn records(&self, mut records: Records, format: Format) -> Result<()> {
        let path = self.input.input.as_path();
        let range = self.cut.rows(records.rows())?;
        let field: Field = records.field().map_err(of_table(path))?;
        let schema = Schema::new(vec![field.clone()]);
        let mut sink = Sink::create(self.output)?;
        let done = write(format, Text::Bare, &schema, records.batches(&field, range), &mut sink);
        sink.filled(done.map_err(of_table(path)))?;
        sink.finish()
    }
}

/// How text stands on its lines.
enum Text {
    Csv,
    Json,
    /// Values that stand alone, and are no fields of a row.
    Bare,
}

/// Writes batches as text or as an Arrow file.
fn write(
    format: Format,
    text: Text,
    schema: &Schema,
    mut batches: impl Iterator<Item = std::result::Result<RecordBatch, TableError>>,
    sink: &mut Sink,
) -> std::result::Result<(), TableError> {
    if format == Format::Arrow {
        let mut writer = ArrowWriter::new(schema, sink)?;
        batches.try_for_each(|batch| writer.write(&batch?))?;
        return writer.finish();
    }
    let writer = match text {
        Text::Csv => TextWriter::csv(schema, sink)?,
        Text::Json => TextWriter::json(schema),
        Text::Bare => TextWriter::bare(),
    };
    batches.try_for_each(|batch| writer.write(&batch?, sink))
}

/// A table, and which of its rows are wanted.
struct Source<'s> {
    path: &'s Path,
    table: Table,
    range: Range<u64>,
}

impl Source<'_> {
    /// Number of rows that are wanted.
    fn rows(&self) -> u64 {
        self.range.end.saturating_sub(self.range.start)
    }

    fn column(&self, column: &Column) -> Result<ColumnReader> {
        self.table.column(column).map_err(of_table(self.path))
    }

    /// Hands all rows of one column to `take`, batch by batch.
    fn each(&mut self, column: ColumnReader, take: &mut dyn FnMut(&ArrayRef) -> Result<()>) -> Result<()> {
        for batch in self.table.batches(&mut [column], self.range.clone()) {
            take(batch.map_err(of_table(self.path))?.column(0))?;
        }
        Ok(())
    }
}

/// `blosc compress` of a file of rows: a store that is a table.
///
/// # Errors
/// Columns of types that tables do not have; rows that cannot be read; those of writing.
pub fn create(args: &Compress, format: Format) -> Result<()> {
    let input = args.input.as_path();
    if crate::paths::is_stream(input)? {
        return Err(Failure::Usage(format!(
            "{}: its types are looked for first, so it is read twice: write it to a file",
            input.display()
        )));
    }
    let max = max_by_size(size(input));
    let destination = destination(&args.output, format)?;
    let schema = rows_of_files::schema(input, max)?;
    let mut rows = rows_of_files::open(input, &[], max)?;
    store::write(&destination, format, |folder| {
        table::create(folder, &schema).map_err(of_table(input))?;
        table::append(folder, &mut *rows, u64::MAX).map(drop).map_err(of_table(input))
    })
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
    match (format, column.field()) {
        (_, Err(why)) => Some(why),
        (Format::Npz, _) if numpy::cannot_hold(column) => {
            Some(format!("{}: a .npz file holds no such items", column.type_name()))
        }
        (Format::Arrow, Ok(field)) => ipc::cannot_hold(&field).map(Into::into),
        _ => None,
    }
}
