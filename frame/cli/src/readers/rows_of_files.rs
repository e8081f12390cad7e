//! Rows that go into tables: of CSV, JSON lines, Arrow and `.npz` files.

use super::engines::guarded;
use crate::failure::{Failure, Result};
use crate::readers::table::of_table;
use crate::streams::{open_plain, unnamed};
use blosc_frame::io::ReadAt;
use blosc_frame::table::arrow_array::RecordBatch;
use blosc_frame::table::arrow_schema::{Fields, Schema};
use blosc_frame::table::ipc::ArrowReader;
use blosc_frame::table::lines::TextReader;
use blosc_frame::table::numpy::{Member, NpzReader};
use blosc_frame::table::{Rows, TableError, infer};
use std::fs::File;
use std::io::{BufReader, Read};
use std::path::{Path, PathBuf};
use zip::ZipArchive;

/// Rows, and the file that messages name.
struct Named<R> {
    path: PathBuf,
    rows: R,
}

impl<R: Rows> Rows for Named<R> {
    fn names(&self) -> &[String] {
        self.rows.names()
    }

    fn next(&mut self, fields: &Fields) -> std::result::Result<Option<RecordBatch>, TableError> {
        let rows = &mut self.rows;
        // A decoder that stops says nothing by itself.
        let read = guarded(|| Ok(rows.next(fields))).map_err(TableError::Data);
        read.and_then(|read| read).map_err(|error| Failure::from(error).about(self.path.display()).into())
    }

    fn place(&self, row: usize) -> String {
        format!("{}: {}", self.path.display(), self.rows.place(row))
    }
}

/// What a file of rows is, from its name: its extension, if rows are read from such files.
pub fn kind(path: &Path) -> Option<String> {
    let extension = path.extension().map(|e| e.to_string_lossy().to_ascii_lowercase());
    extension.filter(|kind| matches!(kind.as_str(), "csv" | "jsonl" | "arrow" | "npz"))
}

/// Opens a file of rows by its name. `columns` are those of the table, and `max` is the most bytes of a row of text or of
/// unpacked arrays.
///
/// # Errors
/// Another name; a file that is damaged; two fields of one name.
pub fn open(path: &Path, columns: &[String], max: u64) -> Result<Box<dyn Rows>> {
    let path_of = path.to_path_buf();
    Ok(match kind(path).as_deref() {
        Some(kind @ ("csv" | "jsonl")) => {
            Box::new(Named { path: path_of, rows: text(path, kind == "csv", max)? })
        }
        Some("arrow") => Box::new(Named { path: path_of, rows: arrow(path)? }),
        Some(_) => {
            let rows = NpzReader::new(members(path, max)?, columns).map_err(of_table(path))?;
            Box::new(Named { path: path_of, rows })
        }
        None => {
            let text = "the rows of a table are appended from a .csv, .jsonl, .arrow or .npz file";
            return Err(Failure::Usage(format!("{}: {text}", path.display())));
        }
    })
}

/// The columns of a new table for the rows of a file.
///
/// # Errors
/// As [`open`].
pub fn schema(path: &Path, max: u64) -> Result<Schema> {
    match kind(path).as_deref() {
        Some("arrow") => Ok(arrow(path)?.schema().clone()),
        kind => infer(&mut text(path, kind == Some("csv"), max)?).map_err(of_table(path)),
    }
}

fn text(path: &Path, csv: bool, max: u64) -> Result<TextReader> {
    let file = BufReader::with_capacity(1 << 16, open_plain(path)?.0);
    TextReader::new(Box::new(file), csv, max).map_err(of_table(path))
}

fn arrow(path: &Path) -> Result<ArrowReader> {
    let file = File::open(path).map_err(Failure::io(path))?;
    let read = guarded(|| Ok(ArrowReader::new(file))).map_err(|what| Failure::at(path, what))?;
    read.map_err(of_table(path))
}

/// Unpacks the members of a `.npz` file.
fn members(path: &Path, max: u64) -> Result<Vec<Member>> {
    let wrong = |what: String| Failure::at(path, what);
    let file = File::open(path).map_err(Failure::io(path))?;
    let mut archive = ZipArchive::new(file).map_err(|e| wrong(e.to_string()))?;
    let (mut members, mut left) = (Vec::new(), max);
    for k in 0..archive.len() {
        let member = archive.by_index(k).map_err(|e| wrong(e.to_string()))?;
        let name = member.name().map_err(|e| wrong(e.to_string()))?.into_owned();
        let file = unnamed(&mut member.take(left.saturating_add(1)), path)?;
        let size = file.size()?;
        left = left
            .checked_sub(size)
            .ok_or_else(|| wrong(format!("holds more than {max} bytes (--max-output BYTES)")))?;
        members.push(Member::new(&name, Box::new(file)).map_err(of_table(path))?);
    }
    Ok(members)
}
