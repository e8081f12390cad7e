//! Batches of rows as Arrow files (the IPC file format) without compression, and from them.
//!
//! Dictionaries stay dictionaries, and arrays in rows are lists of fixed size. Objects, which have no schema, are JSON text,
//! marked as the extension type `arrow.json`. Complex numbers are not held.

use super::error::{Result, TableError};
use super::exact;
use super::rows::{self, Rows};
use super::schema::has_complex;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use arrow_array::RecordBatch;
use arrow_ipc::reader::{FileReader, read_footer_length};
use arrow_ipc::writer::FileWriter;
use arrow_schema::{ArrowError, Field, Fields, Schema, SchemaRef};
use std::fs::File;
use std::io::{BufReader, Read, Seek, SeekFrom, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Why an Arrow file does not hold values of this type, if it does not.
pub fn cannot_hold(field: &Field) -> Option<&'static str> {
    has_complex(field.data_type()).then_some("Arrow has no complex numbers")
}

/// Writes batches of rows to an Arrow file.
pub struct ArrowWriter<W: Write> {
    writer: FileWriter<W>,
}

fn failed(error: ArrowError) -> TableError {
    match error {
        ArrowError::IoError(_, error) => error.into(),
        error => TableError::Data(format!("Arrow file: {error}")),
    }
}

impl<W: Write> ArrowWriter<W> {
    /// Begins a file of batches with these columns.
    ///
    /// # Errors
    /// Errors of writing to `out`.
    pub fn new(schema: &Schema, out: W) -> Result<ArrowWriter<W>> {
        Ok(ArrowWriter { writer: FileWriter::try_new(out, schema).map_err(failed)? })
    }

    /// Writes rows.
    ///
    /// # Errors
    /// Errors of writing to `out`.
    pub fn write(&mut self, batch: &RecordBatch) -> Result<()> {
        self.writer.write(batch).map_err(failed)
    }

    /// Ends the file.
    ///
    /// # Errors
    /// Errors of writing to `out`.
    pub fn finish(mut self) -> Result<()> {
        self.writer.finish().map_err(failed)
    }
}

/// Most rows that are handed on together.
const ROWS: usize = 1 << 16;

/// The rows of an Arrow file.
pub struct ArrowReader {
    reader: FileReader<BufReader<File>>,
    schema: SchemaRef,
    names: Vec<String>,
    /// The batch of the file that is being read, and where in it.
    batch: Option<(RecordBatch, usize)>,
    /// Rows before those handed on last, and before those that come.
    last: u64,
    next: u64,
}

/// The crate for Arrow files stops at some damaged ones.
fn guarded<T>(work: impl FnOnce() -> core::result::Result<T, String>) -> Result<T> {
    let done = catch_unwind(AssertUnwindSafe(work))
        .unwrap_or_else(|_| Err("its parts contradict each other".into()));
    done.map_err(|what| TableError::Data(format!("no Arrow file that can be read: {what}")))
}

impl ArrowReader {
    /// Reads the schema.
    ///
    /// # Errors
    /// A file that is damaged, or no Arrow file (a stream is none); two columns of one name.
    pub fn new(mut file: File) -> Result<ArrowReader> {
        let reader = guarded(|| {
            check_sizes(&mut file)?;
            FileReader::try_new(BufReader::new(file), None).map_err(|e| e.to_string())
        })?;
        let schema = reader.schema();
        let names: Vec<String> = schema.fields().iter().map(|field| field.name().clone()).collect();
        for (k, name) in names.iter().enumerate() {
            if names.iter().take(k).any(|other| other == name) {
                return Err(TableError::Data(format!("two columns are called {name:?}")));
            }
        }
        Ok(ArrowReader { reader, schema, names, batch: None, last: 0, next: 0 })
    }

    /// The columns.
    pub fn schema(&self) -> &Schema {
        &self.schema
    }
}

/// The crate reserves memory for what the footer announces: that must be in the file.
fn check_sizes(file: &mut File) -> core::result::Result<(), String> {
    let text = |e: std::io::Error| e.to_string();
    let size = file.seek(SeekFrom::End(0)).map_err(text)?;
    let mut end = [0; 10];
    let at = size.checked_sub(10).ok_or("too short")?;
    file.seek(SeekFrom::Start(at)).and_then(|_| file.read_exact(&mut end)).map_err(text)?;
    let length = read_footer_length(end).map_err(|e| e.to_string())?;
    let start = at.checked_sub(length as u64).ok_or("its footer is longer than the file")?;
    let mut footer = alloc::vec![0; length];
    file.seek(SeekFrom::Start(start)).and_then(|_| file.read_exact(&mut footer)).map_err(text)?;
    let footer = arrow_ipc::root_as_footer(&footer).map_err(|e| e.to_string())?;
    let blocks = footer.recordBatches().into_iter().chain(footer.dictionaries()).flatten();
    for block in blocks {
        let parts = [block.offset(), block.metaDataLength().into(), block.bodyLength()];
        let end = parts.into_iter().try_fold(0u64, |sum, n| sum.checked_add(u64::try_from(n).ok()?));
        if end.is_none_or(|end| end > size) || block.metaDataLength() < 8 {
            return Err("its footer names parts that are not there".into());
        }
    }
    file.rewind().map_err(text)
}

impl Rows for ArrowReader {
    fn names(&self) -> &[String] {
        &self.names
    }

    fn next(&mut self, fields: &Fields) -> Result<Option<RecordBatch>> {
        loop {
            let Some((batch, at)) = &mut self.batch else {
                let next = guarded(|| self.reader.next().transpose().map_err(|e| e.to_string()))?;
                let Some(next) = next else { return Ok(None) };
                self.batch = Some((next, 0));
                continue;
            };
            let rows = batch.num_rows().saturating_sub(*at).min(ROWS);
            if rows == 0 {
                self.batch = None;
                continue;
            }
            let part = batch.slice(*at, rows);
            *at = at.saturating_add(rows);
            (self.last, self.next) = (self.next, self.next.saturating_add(rows as u64));
            let batch = rows::read_batch(fields, &|row| self.place(row), &mut |field| {
                let Some((at, from)) = self.schema.column_with_name(field.name()) else { return Ok(None) };
                guarded(|| Ok(exact::fit(part.column(at), from, field))).map(Some)
            });
            return batch.map(Some);
        }
    }

    fn place(&self, row: usize) -> String {
        format!("row {}", self.last.saturating_add(row as u64).saturating_add(1))
    }
}
