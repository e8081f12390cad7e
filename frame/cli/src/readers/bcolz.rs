//! What `info` and `verify` say of bcolz directories.

use crate::args::Input;
use crate::failure::{Failure, Findings, failure};
use crate::json::json as value;
use crate::limits::limits;
use blosc_core::Pool;
use blosc_frame::any::{AnyRows, Found, open_found};
use blosc_frame::bcolz::{CArray, CTable, Uncounted, numpy_name};
use blosc_frame::io::{Directory, FsDir};
use blosc_frame::plain::Plain;
use blosc_frame::{Error, Rows};
use serde_json::{Value, json};
use std::path::Path;

/// What `info` says of a column.
pub fn column_info(column: &CArray<FsDir>, path: &Path) -> Result<Value, Error> {
    let mut info = json!({"kind": "bcolz", "layout": "carray"});
    if let (Value::Object(info), Value::Object(more)) = (&mut info, details(column, path)) {
        info.extend(more);
    }
    tell(&mut info, column.uncounted()?);
    Ok(info)
}

/// What there is on disk that the descriptors do not count.
pub(super) fn uncounted(found: Uncounted) -> Option<String> {
    let Uncounted { rows, files } = found;
    found.any().then(|| {
        format!("{rows} rows more than meta/sizes counts are on disk, and {files} files of such rows")
    })
}

/// Adds that to a report.
pub(super) fn tell(info: &mut Value, found: Uncounted) {
    if let (Some(info), Some(text)) = (info.as_object_mut(), uncounted(found)) {
        info.insert("uncounted".into(), text.into());
    }
}

/// What a column's descriptors say, which count its last chunk as full and plain, and how long its chunk files are.
fn details(column: &CArray<FsDir>, path: &Path) -> Value {
    let storage = column.storage();
    let files = path.join("data").read_dir().into_iter().flatten().flatten();
    let stored: u64 = files.filter_map(|file| file.metadata().ok()).map(|file| file.len()).sum();
    json!({
        "dtype": numpy_name(&storage.dtype), "shape": column.shape(), "nbytes": column.nbytes(),
        "cbytes": column.sizes().cbytes, "stored_bytes": stored, "chunklen": storage.chunklen,
        "expectedlen": storage.expectedlen, "nchunks": column.nchunks(), "codec": storage.cparams.cname,
        "level": storage.cparams.clevel, "shuffle": storage.cparams.shuffle, "quantize": storage.cparams.quantize,
        "dflt": value(&storage.dflt), "attributes": value(column.attrs()),
    })
}

/// What a table's descriptors say.
pub fn table_info(table: &CTable<FsDir>, path: &Path) -> Result<Value, Error> {
    let columns = table.columns().map(|(name, column)| (name.into(), details(column, &path.join(name))));
    let mut info = json!({
        "kind": "bcolz", "layout": "ctable", "rows": table.rows(), "nbytes": table.nbytes(),
        "row_nbytes": table.row_nbytes(), "dtype": table.dtype()?.to_string(),
        "attributes": value(table.attrs()), "columns": Value::Object(columns.collect()),
    });
    tell(&mut info, table.uncounted()?);
    Ok(info)
}

/// What contradicts the data although nothing needs it: the number of bytes in `meta/sizes`.
pub(super) fn note(name: &str, told: u64, nbytes: u64) -> Option<String> {
    (told != nbytes).then(|| format!("{name}: sizes says {told} bytes, there are {nbytes}"))
}

fn report(nbytes: u64, notes: &[String]) -> Findings {
    let checksums = "bcolz stores none; chunks are decoded";
    Findings::new(json!({"kind": "bcolz", "nbytes": nbytes, "checksums": checksums, "notes": notes}))
}

/// Decodes every chunk of a column.
pub fn verify_column(column: &CArray<FsDir>, pool: &mut Pool) -> Result<Findings, Error> {
    let notes = note("column", column.sizes().nbytes, column.nbytes());
    let notes: Vec<_> = notes.into_iter().chain(uncounted(column.uncounted()?)).collect();
    let mut found = report(column.nbytes(), &notes);
    for (i, error) in column.verify(pool)? {
        found.add(format_args!("chunk {i}: "), &error);
    }
    Ok(found)
}

/// Decodes every chunk of a table.
pub fn verify_table(table: &CTable<FsDir>, pool: &mut Pool) -> Result<Findings, Error> {
    let told = table.columns().map(|(name, column)| (name, column.sizes().nbytes, column.nbytes()));
    let notes = told.filter_map(|(name, told, nbytes)| note(name, told, nbytes));
    let notes: Vec<_> = notes.chain(uncounted(table.uncounted()?)).collect();
    let mut found = report(table.nbytes(), &notes);
    for (name, i, error) in table.verify(pool)? {
        found.add(format_args!("column {name}, chunk {i}: "), &error);
    }
    Ok(found)
}

/// A name that a table gives to two columns.
fn named_twice(root: &FsDir) -> Option<String> {
    let told: Value = serde_json::from_slice(&root.read("__rootdirs__", 1 << 20).ok()?).ok()?;
    let mut names: Vec<&str> = told["names"].as_array()?.iter().filter_map(Value::as_str).collect();
    names.sort_unstable();
    names.windows(2).find(|pair| pair[0] == pair[1]).map(|pair| pair[0].into())
}

/// The column that is asked for of a table that cannot be opened as a whole.
///
/// # Errors
/// Without one, names the column that is to blame.
pub fn damaged_table(input: &Input, max: u64, error: Error) -> Result<AnyRows, Failure> {
    let path = input.input.as_path();
    let root = FsDir::open(path).map_err(|e| failure(path)(e.into()))?;
    if let Some(name) = input.column.first() {
        let column = root.subdirectory(name).map_err(|e| failure(&path.join(name))(e.into()))?;
        let found = Found::at(column.path(), 0, None);
        return found
            .and_then(|found| open_found(found, &limits(max), false))
            .map_err(failure(column.path()));
    }
    if let Some(name) = named_twice(&root) {
        return Err(Failure::at(path, format!("column {name}: __rootdirs__ names it twice")));
    }
    let mut names = root.list()?;
    names.sort();
    for name in names {
        if let Ok(column) = root.subdirectory(&name)
            && let Err(error) = CArray::open(column, &limits(max))
        {
            let others = "the other columns can be read, each by --column NAME";
            let text = format!("{}: column {name}: {error}; {others}", path.display());
            return Err(match error.leaves_open() {
                true => Failure::Unable(text),
                false => Failure::Data(text),
            });
        }
    }
    Err(failure(path)(error))
}
