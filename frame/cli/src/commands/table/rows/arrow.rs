//! Rows of Arrow files (IPC, not a stream).

use super::{Field, Row, Source};
use crate::failure::{Failure, Result};
use crate::readers::engines::guarded;
use crate::readers::table::from_arrow;
use arrow_array::RecordBatch;
use arrow_ipc::reader::{FileReader, read_footer_length};
use std::fs::File;
use std::io::{BufReader, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

/// A file, and the batch that is being read.
struct Arrow {
    path: PathBuf,
    reader: FileReader<BufReader<File>>,
    batch: Option<(RecordBatch, usize)>,
    /// Which columns hold JSON as text.
    json: Vec<bool>,
}

/// Opens a file, and reads the names of its columns.
pub fn open(path: &Path) -> Result<(Vec<String>, Box<dyn Source>)> {
    let wrong = |what: String| Failure::at(path, format!("no Arrow file that can be read: {what}"));
    let mut file = File::open(path).map_err(Failure::io(path))?;
    let reader = guarded(|| {
        check_sizes(&mut file)?;
        FileReader::try_new(BufReader::new(file), None).map_err(|e| e.to_string())
    })
    .map_err(wrong)?;
    let is_json = |field: &std::sync::Arc<arrow_schema::Field>| {
        field.metadata().get("ARROW:extension:name").is_some_and(|name| name == "arrow.json")
    };
    let json = reader.schema().fields().iter().map(is_json).collect();
    let names = reader.schema().fields().iter().map(|field| field.name().clone()).collect();
    Ok((names, Box::new(Arrow { path: path.to_path_buf(), reader, batch: None, json })))
}

/// The crate reserves memory for what the footer announces: that must be in the file.
fn check_sizes(file: &mut File) -> std::result::Result<(), String> {
    let text = |e: std::io::Error| e.to_string();
    let size = file.seek(SeekFrom::End(0)).map_err(text)?;
    let mut end = [0; 10];
    let at = size.checked_sub(10).ok_or("too short")?;
    file.seek(SeekFrom::Start(at)).and_then(|_| file.read_exact(&mut end)).map_err(text)?;
    let length = read_footer_length(end).map_err(|e| e.to_string())?;
    let start = at.checked_sub(length as u64).ok_or("its footer is longer than the file")?;
    let mut footer = vec![0; length];
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

impl Source for Arrow {
    fn rows(&mut self, most: usize) -> Result<Vec<Row>> {
        let wrong = |what| Failure::at(&self.path, what);
        loop {
            if let Some((batch, at)) = &mut self.batch
                && *at < batch.num_rows()
            {
                let end = at.saturating_add(most).min(batch.num_rows());
                let columns = || batch.columns().iter().zip(&self.json);
                let fields = |row| -> std::result::Result<Row, String> {
                    columns().map(|(column, json)| field(column, row, *json)).collect()
                };
                let rows = guarded(|| (*at..end).map(fields).collect()).map_err(wrong)?;
                *at = end;
                return Ok(rows);
            }
            let next = guarded(|| self.reader.next().transpose().map_err(|e| e.to_string()));
            match next.map_err(wrong)? {
                Some(batch) => self.batch = Some((batch, 0)),
                None => return Ok(Vec::new()),
            }
        }
    }
}

/// One field.
fn field(column: &dyn arrow_array::Array, row: usize, json: bool) -> std::result::Result<Field, String> {
    if let Some((count, unit, utc)) = from_arrow::time(column, row) {
        return Ok(Field::Time(count, unit, Some(utc)));
    }
    if let Some(bytes) = from_arrow::bytes(column, row) {
        return Ok(Field::Bytes(bytes.to_vec()));
    }
    if let Some(x) = from_arrow::single(column, row) {
        return Ok(Field::Number(format!("{:?}", f64::from(x))));
    }
    match Field::of_json(&from_arrow::value(column, row, from_arrow::DEPTH)?) {
        Field::Text(text) if json => Ok(Field::Any(text)),
        field => Ok(field),
    }
}
