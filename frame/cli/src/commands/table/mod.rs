//! `blosc append` to a table of python-blosc2: rows from CSV, JSON lines, Arrow or `.npz` files.
//!
//! ```text
//! lock the store → look at the table, or refuse it by name → fit the first rows to its columns, or refuse them
//! copy the table → append to every column, batch by batch → mark indexes as out of date → `_valid_rows`
//! exchange: a directory with its copy, a zip file with one that has the copy's files
//! ```
//! A table is never seen with columns of different lengths, and a failure leaves it as it was.
//!
//! ```text
//! rows      fields of new rows, batch by batch
//! fields    fields as what a column stores; values: those of columns of variable length
//! columns   the files of a column
//! ```

mod columns;
mod fields;
mod rows;
mod values;

use crate::access;
use crate::args::{Append, Input, Run};
use crate::failure::{Failure, Result, failure};
use crate::limits::{max_by_size, size};
use crate::open::{Intent, What, leaf, open};
use crate::output::Destination;
use crate::readers::store::{META, StoreReader, VALID};
use crate::readers::table::Table;
use crate::readers::table::column::ColumnReader;
use crate::readers::table::records::Serializer;
use crate::readers::table::schema::{Column, Kind};
use crate::writers::store::Exchange;
use blosc_frame::SuperChunk;
use blosc_frame::io::{FsDir, PathFile};
use blosc_frame::msgpack;
use blosc_frame::value::{TextLimits, Value};
use columns::{ColumnWriter, array, cut, path_of};
use fields::{New, Takes, fit};
use rows::{Row, Rows};
use std::fs;
use std::path::Path;

/// What a column's schema may say; anything else may be a constraint that is not checked here.
const KNOWN: [&str; 18] = [
    "name",
    "kind",
    "nullable",
    "null_value",
    "null_storage",
    "default",
    "max_length",
    "unit",
    "timezone",
    "index_type",
    "value_type",
    "ordered",
    "null_code",
    "serializer",
    "batch_rows",
    "storage",
    "item_shape",
    "dtype_str",
];

/// A table that rows are appended to.
struct Appending {
    table: Table,
    /// What each column takes.
    takes: Vec<Takes>,
    /// Rows it has: what is stored behind them has never lived.
    rows: u64,
    source: Rows,
    /// For each column, which field of a row is its.
    fields: Vec<usize>,
}

/// `blosc append` to a table.
///
/// # Errors
/// A table that is not appended to, and rows that do not fit, by their names; nothing has been changed then.
pub fn append(args: &Append) -> Result<()> {
    let given = args.frame.as_path();
    if args.plain || args.axis.is_some() || args.reserve != 0 {
        return Err(Failure::Usage(
            "--plain, --axis, --reserve: say nothing about the rows of a table".into(),
        ));
    }
    let (path, key) = leaf(given).unwrap_or_else(|| (given.to_path_buf(), String::new()));
    let input = args.access.input(&path, &Run { threads: args.threads, isa: None });
    // Other writers wait until the new state is in its place, and then read that.
    let _sidecar = access::lock(&path, input.lock, true)?;
    let locked = |e: blosc_frame::IoError| failure(&path)(e.into());
    if path.is_dir() {
        let _lock = FsDir::open_rw_with(&path, input.locking()).map_err(locked)?;
        let mut appending = Appending::new(args, given)?;
        let Some(first) = appending.first()? else { return Ok(()) };
        let folder = path.join(key.trim_start_matches('/'));
        return Destination::replacing(&folder)?.made(|copy| {
            copy_tree(&folder, copy)?;
            appending.run(copy, first)
        });
    }
    let _lock = PathFile::open_rw_with(&path, input.locking()).map_err(locked)?;
    let mut appending = Appending::new(args, given)?;
    let Some(first) = appending.first()? else { return Ok(()) };
    let destination = Destination::replacing(&path)?;
    let temp = destination.folder()?;
    let folder = temp.path().join("table");
    let prefix = format!("{}/", key.trim_start_matches('/'));
    let exchange = Exchange::unpack(&path, prefix.trim_start_matches('/'), &folder)?;
    appending.run(&folder, first).map_err(Failure::of_a_part)?;
    destination.file(|file| exchange.pack(&folder, file))
}

impl Appending {
    /// Looks at the table and at the names of the fields.
    ///
    /// # Errors
    /// That rows are not appended to the table; columns without fields, and fields without columns.
    fn new(args: &Append, given: &Path) -> Result<Appending> {
        let max = args.access.max_output.unwrap_or_else(|| max_by_size(size(given)));
        let opened = open(&Input::whole(given, Some(max), &Run::default()), Intent::Read)?;
        let What::Store(store) = &opened.what else {
            return Err(Failure::Unable(format!("{}: is no table any more", given.display())));
        };
        if !store.lies_in_files() {
            let text =
                "only tables whose columns are files of their own, in .b2d and .b2z stores, are appended to";
            return Err(Failure::Unable(format!("{}: {text}", given.display())));
        }
        let table = Table::open(store, given, max)?;
        let (takes, rows) = appendable(store, &table, given)?;
        let names: Vec<&str> = table.schema.columns.iter().map(|column| column.name.as_str()).collect();
        let source = Rows::open(&args.input, &names, max)?;
        let wrong = |what: String| Failure::at(&args.input, what);
        if let Some(name) = source.names.iter().find(|name| !names.contains(&name.as_str())) {
            return Err(wrong(format!("the table has no column {name}")));
        }
        let field = |name: &&str| {
            let field = source.names.iter().position(|field| field == name);
            field.ok_or_else(|| wrong(format!("has no field for column {name}")))
        };
        let fields = names.iter().map(field).collect::<Result<_>>()?;
        Ok(Appending { table, takes, rows, source, fields })
    }

    /// The first batch of rows, fitted to the columns; none if there is no row.
    fn first(&mut self) -> Result<Option<(Vec<New>, u64)>> {
        let rows = self.source.next()?;
        if rows.is_empty() { Ok(None) } else { self.fitted(&rows, 1).map(Some) }
    }

    /// Rows, the first of which is number `first` of its file, fitted to each column; and how many.
    fn fitted(&self, rows: &[Row], first: u64) -> Result<(Vec<New>, u64)> {
        let columns = self.table.schema.columns.iter().zip(&self.takes).zip(&self.fields);
        let new = columns.map(|((column, takes), field)| fit(rows, first, *field, column, takes));
        let new = new.collect::<std::result::Result<_, _>>();
        Ok((new.map_err(|what| Failure::at(self.source.path(), what))?, rows.len() as u64))
    }

    /// Appends the rows to the table in `folder`, which no other process sees.
    fn run(&mut self, folder: &Path, first: (Vec<New>, u64)) -> Result<()> {
        let columns = self.table.schema.columns.clone();
        let mut writers: Vec<ColumnWriter<'_>> = columns
            .iter()
            .map(|column| ColumnWriter::open(folder, column, self.rows))
            .collect::<Result<_>>()?;
        let mut valid = array(folder, VALID)?;
        cut(&mut valid, self.rows).map_err(failure(folder))?;
        let (mut batch, mut total) = (first, 0u64);
        while batch.1 > 0 {
            for (writer, new) in writers.iter_mut().zip(batch.0) {
                writer.append(new)?;
            }
            let lives = vec![1; usize::try_from(batch.1).unwrap_or(0)];
            valid.append(0, &lives).map_err(failure(folder))?;
            total = total.saturating_add(batch.1);
            let rows = self.source.next()?;
            batch = self.fitted(&rows, total.saturating_add(1))?;
        }
        writers.into_iter().try_for_each(ColumnWriter::finish)?;
        describe(folder, self.table.rows.saturating_add(total))?;
        valid.commit().map_err(failure(folder))
    }
}

/// Refuses a table whose rows are not appended to; gives what its columns take, and how many rows it has.
fn appendable(store: &StoreReader, table: &Table, path: &Path) -> Result<(Vec<Takes>, u64)> {
    let mut wrong: Vec<String> = Vec::new();
    let (mut takes, mut rows) = (Vec::new(), Vec::new());
    if table.schema.columns.is_empty() {
        wrong.push("it has no columns".into());
    }
    for name in &table.schema.generated {
        wrong.push(format!("column {name} is generated from others"));
    }
    for column in &table.schema.columns {
        let reader = match column.kind {
            Kind::Unknown(_) => Err(format!("is of kind {}", column.type_name())),
            _ => Ok(ColumnReader::open(store, column, table.max_output)?),
        };
        match reader.and_then(|mut reader| Ok((taken(column, &mut reader)?, reader.rows()))) {
            Err(why) => wrong.push(format!("column {} {why}", column.name)),
            Ok((taken, count)) => {
                takes.push(taken);
                rows.push((column, count));
            }
        }
    }
    if let Some(kind) = other_index(store)? {
        wrong.push(format!("it has an index of kind {kind}"));
    }
    if !wrong.is_empty() {
        return Err(Failure::Unable(format!("{}: is not appended to: {}", path.display(), wrong.join("; "))));
    }
    // Arrays may have room behind the last row that lives, or end there, while values of their own lengths keep rows that
    // were deleted, and are not cut.
    let batches = |column: &Column| column.extension() == "b2b";
    let end = rows.iter().find(|(column, _)| batches(column)).map_or(table.last, |(_, count)| *count);
    let wrong = |(column, count): &&(&Column, u64)| *count < table.last || (batches(column) && *count != end);
    if let Some((column, count)) = rows.iter().find(wrong) {
        let text = format!("column {} has {count} rows, the table {}", column.name, end.max(table.last));
        return Err(Failure::at(path, format!("{text}: it was not closed by its writer")));
    }
    Ok((takes, end))
}

/// What a column takes, or why nothing is appended to it.
fn taken(column: &Column, reader: &mut ColumnReader) -> std::result::Result<Takes, String> {
    let fields = column.spec.as_object().unwrap_or_default();
    let list = matches!(column.kind, Kind::Nested(_));
    if let Some((constraint, _)) =
        fields.iter().find(|(name, _)| !(KNOWN.contains(&name.as_str()) || list && name == "item"))
    {
        return Err(format!("has {constraint:?}, which is not checked here"));
    }
    if reader.serializer() == Some(Serializer::Arrow) {
        return Err("keeps its lists as Arrow streams".into());
    }
    match &column.kind {
        Kind::Items | Kind::Bool | Kind::Timestamp { .. } => match (reader.stored_items(), reader.items()) {
            (Some(scalar), Some((_, shape))) if fields::is_known(&scalar) => {
                Ok(Takes::Items(scalar, shape.to_vec()))
            }
            _ => Err(format!("has items of kind {}", column.type_name())),
        },
        Kind::Utf8 => Ok(Takes::Text),
        Kind::Dictionary { .. } if column.spec.get("ordered").and_then(Value::as_bool) == Some(true) => {
            Err("has a dictionary in an order".into())
        }
        Kind::Dictionary { .. } => Ok(Takes::Text),
        Kind::Nested(spec) => match values::unknown(&without_name(spec)) {
            Some(what) => Err(format!("has {what}")),
            None => Ok(Takes::Values),
        },
        Kind::VlString | Kind::VlBytes | Kind::Object => Ok(Takes::Values),
        Kind::Unknown(kind) => Err(format!("is of kind {kind}")),
    }
}

/// The schema of a column as that of an item.
fn without_name(spec: &Value) -> Value {
    let fields = spec.as_object().unwrap_or_default().iter();
    Value::Object(fields.filter(|(name, _)| name != "name" && name != "default").cloned().collect())
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

/// Says in the description how many rows live, and that indexes are out of date, as python-blosc2 does when it appends.
fn describe(folder: &Path, rows: u64) -> Result<()> {
    let path = path_of(folder, META, "b2f");
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
