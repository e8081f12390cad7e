//! `blosc append` to a table of python-blosc2: rows from CSV or JSON lines.
//!
//! ```text
//! read the rows and fit each field to its column, or refuse by name
//! copy the directory → append to every column → mark indexes as out of date → `_valid_rows` → exchange the directories
//! ```
//! A table is never seen with columns of different lengths. Only tables in directories, whose columns are numbers, texts
//! and times, are appended to.

mod fields;
mod rows;

use crate::args::{Append, Input, Output, Run};
use crate::failure::{Failure, Result, failure};
use crate::limits::{max_by_size, size};
use crate::open::{Intent, What, open};
use crate::output::{Destination, Shape};
use crate::readers::store::{META, StoreReader, VALID};
use crate::readers::table::Table;
use crate::readers::table::column::ColumnReader;
use crate::readers::table::schema::{Column, Kind, Nulls};
use crate::writers::read_plain;
use blosc_core::Params;
use blosc_frame::SuperChunk;
use blosc_frame::b2nd::{NdArray, Spec};
use blosc_frame::dtype::{Dtype, Scalar};
use blosc_frame::io::FsDir;
use blosc_frame::msgpack;
use blosc_frame::value::{TextLimits, Value};
use fields::New;
use std::fs::{self, File};
use std::path::Path;

/// What a column's schema may say; anything else may be a constraint that is not checked here.
const KNOWN: [&str; 9] =
    ["name", "kind", "nullable", "null_value", "null_storage", "default", "max_length", "unit", "timezone"];

/// `blosc append` to a table.
///
/// # Errors
/// A table that is not appended to, and rows that do not fit, by their names; nothing has been changed then.
pub fn append(args: &Append) -> Result<()> {
    let path = args.frame.as_path();
    if args.plain || args.axis.is_some() || args.reserve != 0 {
        return Err(Failure::Usage(
            "--plain, --axis, --reserve: say nothing about the rows of a table".into(),
        ));
    }
    if !path.is_dir() {
        let text = "only tables in directories (.b2d), alone, are appended to";
        return Err(Failure::Unable(format!("{}: {text}", path.display())));
    }
    let max = args.access.max_output.unwrap_or_else(|| max_by_size(size(path)));
    // Other writers wait until the directories have been exchanged, and then read the new one.
    let input = args.access.input(path, &Run { threads: args.threads, isa: None });
    let _lock = FsDir::open_rw_with(path, input.locking()).map_err(|e| failure(path)(e.into()))?;
    let opened = open(&input, Intent::Read)?;
    let What::Store(store) = &opened.what else {
        return Err(Failure::Unable(format!("{}: is no table any more", path.display())));
    };
    let table = Table::open(store, path, max)?;
    let items = appendable(store, &table, path)?;
    let text = read_plain(&args.input, max)?;
    let rows = rows::read(&args.input, &text)?;
    let columns: Vec<(&Column, Option<Scalar>)> = table.schema.columns.iter().zip(items).collect();
    let new = fields::fit(&args.input, &rows, &columns)?;
    let count = rows.rows.len() as u64;
    if count == 0 {
        return Ok(());
    }
    let output = Output { output: path.to_path_buf(), force: true };
    Destination::of(&output, Shape::Directory)?.made(|copy| {
        copy_tree(path, copy)?;
        for ((column, _), new) in columns.iter().zip(&new) {
            append_column(copy, column, new, table.stored)?;
        }
        describe(copy, table.rows.saturating_add(count))?;
        let mut valid = array(copy, VALID)?;
        valid.append(0, &vec![1; rows.rows.len()]).map_err(failure(path))?;
        valid.commit().map_err(failure(path))
    })
}

/// Refuses a table whose rows are not appended to; gives the types of its columns of items.
fn appendable(store: &StoreReader, table: &Table, path: &Path) -> Result<Vec<Option<Scalar>>> {
    let mut wrong: Vec<String> = Vec::new();
    let mut items = Vec::new();
    for name in &table.schema.generated {
        wrong.push(format!("column {name} is generated from others"));
    }
    for column in &table.schema.columns {
        let name = &column.name;
        if !matches!(column.kind, Kind::Items | Kind::Bool | Kind::Timestamp { .. } | Kind::Utf8) {
            wrong.push(format!("column {name} is of kind {}", column.type_name()));
            continue;
        }
        let fields = column.spec.as_object().unwrap_or_default();
        if let Some((constraint, _)) = fields.iter().find(|(name, _)| !KNOWN.contains(&name.as_str())) {
            wrong.push(format!("column {name} has {constraint:?}, which is not checked here"));
            continue;
        }
        let reader = ColumnReader::open(store, column, table.max_output)?;
        if reader.rows() != table.stored {
            let text = format!("column {name} has {} rows, the table {}", reader.rows(), table.stored);
            return Err(Failure::at(path, format!("{text}: it was not closed by its writer")));
        }
        let scalar = reader.stored_items();
        if scalar.is_some_and(|scalar| !fields::is_known(&scalar)) {
            wrong.push(format!("column {name} has items of kind {}", column.type_name()));
        }
        items.push(scalar);
    }
    if let Some(kind) = other_index(store)? {
        wrong.push(format!("it has an index of kind {kind}"));
    }
    match wrong.is_empty() {
        true => Ok(items),
        false => {
            Err(Failure::Unable(format!("{}: is not appended to: {}", path.display(), wrong.join("; "))))
        }
    }
}

/// The kind of an index that is no summary, which python-blosc2 makes anew when the table is closed.
fn other_index(store: &StoreReader) -> Result<Option<String>> {
    let mut opened = store.exact(META, "b2f", Intent::Inspect)?;
    let What::Frame(reader) = &mut opened.what else { return Ok(None) };
    let content = reader.frame.vlmetalayer("index_catalog").map_err(failure(store.path()))?;
    let catalog =
        content.map(|content| msgpack::to_value(&content)).transpose().map_err(failure(store.path()))?;
    let kinds = catalog.as_ref().and_then(Value::as_object).unwrap_or_default().iter();
    let mut kinds = kinds.map(|(_, index)| index.get("kind").and_then(Value::as_text).unwrap_or("unknown"));
    Ok(kinds.find(|kind| *kind != "summary").map(str::to_string))
}

/// Copies a directory. Links are not followed.
fn copy_tree(from: &Path, to: &Path) -> Result<()> {
    fs::create_dir(to).map_err(|e| Failure::at(to, e))?;
    for entry in fs::read_dir(from).map_err(|e| Failure::at(from, e))? {
        let entry = entry.map_err(|e| Failure::at(from, e))?;
        let (path, to) = (entry.path(), to.join(entry.file_name()));
        let kind = entry.file_type().map_err(|e| Failure::at(&path, e))?;
        if kind.is_dir() {
            copy_tree(&path, &to)?;
        } else if kind.is_file() {
            fs::copy(&path, &to).map_err(|e| Failure::at(&path, e))?;
        } else {
            return Err(Failure::at(&path, "is no file and no directory, and is not copied"));
        }
    }
    Ok(())
}

/// The array at a key of the table in `folder`, to be changed.
fn array(folder: &Path, stem: &str) -> Result<NdArray<'static>> {
    let path = folder.join(format!("{}.b2nd", stem.trim_start_matches('/')));
    match open(&Input::whole(&path, None, &Run::default()), Intent::Change)?.what {
        What::Array(reader) => Ok(reader.nd),
        _ => Err(Failure::at(&path, "an array expected")),
    }
}

/// Appends to the files of a column.
fn append_column(folder: &Path, column: &Column, new: &New, stored: u64) -> Result<()> {
    let stem = column.stem();
    let what = |error| failure(Path::new(&column.name))(error);
    let mut nd = array(folder, &stem)?;
    match column.kind == Kind::Utf8 {
        false => nd.append(0, &new.bytes).map_err(what)?,
        true => {
            let mut last = [0; 8];
            nd.get_item(&[stored], &mut last).map_err(what)?;
            let start = i64::from_le_bytes(last);
            let mut bytes = array(folder, &format!("{stem}.utf8"))?;
            // Without text there is a byte that nothing refers to.
            bytes.resize(&[u64::try_from(start).unwrap_or(0)]).map_err(what)?;
            bytes.append(0, &new.bytes).map_err(what)?;
            if bytes.shape().iter().all(|len| *len == 0) {
                bytes.resize(&[1]).map_err(what)?;
            }
            bytes.commit().map_err(what)?;
            let ends = new.ends.iter().map(|end| start.saturating_add(*end as i64).to_le_bytes());
            nd.append(0, &ends.collect::<Vec<_>>().concat()).map_err(what)?;
        }
    }
    nd.commit().map_err(what)?;
    if column.nulls != Nulls::Mask {
        return Ok(());
    }
    let valid: Vec<u8> = new.nulls.iter().map(|null| u8::from(!null)).collect();
    let stem = format!("{stem}.notnull");
    let path = folder.join(format!("{}.b2nd", stem.trim_start_matches('/')));
    if path.exists() {
        let mut mask = array(folder, &stem)?;
        mask.append(0, &valid).map_err(what)?;
        mask.commit().map_err(what)?;
    } else if new.nulls.contains(&true) {
        // The first nulls of the column.
        let file = File::options().read(true).write(true).create_new(true).open(&path);
        let frame =
            SuperChunk::create(file.map_err(|e| Failure::at(&path, e))?, &Params::new(1)).map_err(what)?;
        let spec = Spec::new(&[stored], Dtype::parse("|b1").unwrap_or(Dtype::opaque(1))).map_err(what)?;
        let mut mask = NdArray::full(frame, &spec, &[1]).map_err(what)?;
        mask.append(0, &valid).map_err(what)?;
        mask.commit().map_err(what)?;
    }
    Ok(())
}

/// Says in the description how many rows live, and that indexes are out of date, as python-blosc2 does when it appends.
fn describe(folder: &Path, rows: u64) -> Result<()> {
    let path = folder.join(format!("{}.b2f", META.trim_start_matches('/')));
    let mut opened = open(&Input::whole(&path, None, &Run::default()), Intent::Maintain)?;
    let What::Frame(reader) = &mut opened.what else { return Err(Failure::at(&path, "a frame expected")) };
    let frame = &mut reader.frame;
    let value = |frame: &mut SuperChunk<'static>, name: &str| -> Result<Option<Value>> {
        let content = frame.vlmetalayer(name).map_err(failure(&path))?;
        content.map(|content| msgpack::to_value(&content)).transpose().map_err(failure(&path))
    };
    let text = value(frame, "schema")?;
    let text = text.as_ref().and_then(Value::as_text).unwrap_or("");
    let mut schema = Value::parse_json(text.as_bytes(), &TextLimits::JSON)
        .map_err(|error| Failure::at(&path, format!("schema: {error}")))?;
    schema.set("n_rows", Value::int(rows));
    let epoch = value(frame, "value_epoch")?.and_then(|epoch| epoch.as_u64()).unwrap_or(0);
    let catalog = value(frame, "index_catalog")?;
    let mut set = |name: &str, value: &Value| {
        frame.set_vlmetalayer(name, &msgpack::from_value(value)).map_err(failure(&path))
    };
    set("schema", &Value::text(schema.to_json()))?;
    set("value_epoch", &Value::int(epoch.saturating_add(1)))?;
    if let Some(Value::Object(mut indexes)) = catalog {
        for (_, index) in &mut indexes {
            index.set("stale", Value::Bool(true));
        }
        set("index_catalog", &Value::Object(indexes))?;
    }
    frame.commit().map_err(failure(&path))
}
