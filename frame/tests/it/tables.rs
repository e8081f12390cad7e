//! Tables beside a model: JSON values that another crate reads and compares. What is appended in any pieces is read back, whole and in
//! parts, by way of Arrow files and of a store's group; schemas and rows that do not fit are refused by name.

use crate::common::Folder;
use crate::far::Remote;
use blosc_frame::io::ReadAt;
use blosc_frame::store::{Form, Store};
use blosc_frame::table::arrow_array::{ArrayRef, Int64Array, RecordBatch, StringArray};
use blosc_frame::table::arrow_schema::{DataType, Field, Schema, TimeUnit};
use blosc_frame::table::ipc::{ArrowReader, ArrowWriter, cannot_hold};
use blosc_frame::table::lines::TextReader;
use blosc_frame::table::text::TextWriter;
use blosc_frame::table::{Table, append, create};
use blosc_frame::{Limits, SuperChunk};
use blosc_testkit::Random;
use serde_json::{Value, json};
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

const MOST: u64 = 1 << 28;

fn fixed(item: DataType, count: i32) -> DataType {
    DataType::FixedSizeList(Arc::new(Field::new("item", item, false)), count)
}

fn list(item: DataType) -> DataType {
    DataType::List(Arc::new(Field::new("item", item, true)))
}

fn complex() -> DataType {
    DataType::FixedSizeList(Arc::new(Field::new("complex", DataType::Float64, false)), 2)
}

/// A column of each kind that a new table can have.
fn schema() -> Schema {
    let time = DataType::Timestamp(TimeUnit::Millisecond, Some("UTC".into()));
    let object = [("ARROW:extension:name".to_string(), "arrow.json".to_string())];
    let names = DataType::Dictionary(DataType::Int32.into(), DataType::Utf8.into());
    Schema::new(vec![
        Field::new("id", DataType::Int64, false),
        Field::new("small", DataType::UInt8, true),
        Field::new("x", DataType::Float64, true),
        Field::new("y", DataType::Float32, false),
        Field::new("flag", DataType::Boolean, true),
        Field::new("name", DataType::Utf8, true),
        Field::new("when", time, true),
        Field::new("pair", fixed(DataType::Int32, 2), false),
        Field::new("grid", fixed(fixed(DataType::Float64, 3), 2), false),
        Field::new("deep.tags", list(DataType::Utf8), true),
        Field::new("counts", list(DataType::Int16), false),
        Field::new("any", DataType::Utf8, true).with_metadata(object.into()),
        Field::new("kind", names, true),
    ])
}

fn row(random: &mut Random, id: usize) -> Value {
    let number = |random: &mut Random| random.below(4000) as f64 / 4.0 - 500.0;
    let words = ["", "a", "Übermut", "two words", "\"quoted\",\n", "0"];
    let word = words[random.below(words.len())];
    let (second, thousandth) = (random.below(60), random.below(999) + 1);
    let x = number(random) + 0.125;
    let grid: Vec<Vec<f64>> = (0..2).map(|_| (0..3).map(|_| number(random) + 0.0625).collect()).collect();
    let tags: Vec<&str> = words.iter().copied().take(random.below(4)).collect();
    let counts: Vec<i64> = (0..random.below(5)).map(|n| n as i64 * 100 - 150).collect();
    let mut row = json!({
        "id": id as i64 - 3,
        "small": random.below(256),
        "x": x,
        "y": number(random) + 0.125,
        "flag": random.below(2) == 0,
        "name": word,
        "when": format!("2020-02-29T12:34:{second:02}.{thousandth:03}Z"),
        "pair": [i32::MIN, id],
        "grid": grid,
        "deep.tags": tags,
        "counts": counts,
        "any": {"n": id, "list": [null, true, word]},
        "kind": word,
    });
    for field in schema().fields().iter().filter(|field| field.is_nullable()) {
        if random.below(7) == 0 {
            row[field.name()] = Value::Null;
        }
    }
    row
}

fn lines(rows: &[Value]) -> TextReader {
    let text: String = rows.iter().map(|row| format!("{row}\n")).collect();
    TextReader::new(Box::new(std::io::Cursor::new(text)), false, MOST).unwrap()
}

/// The rows of a table in a range, as the other crate reads their text.
fn read(table: &mut Table, range: Range<u64>) -> Vec<Value> {
    let (mut columns, mut text) = (table.columns().unwrap(), Vec::new());
    assert!(columns.iter().all(|column| column.rows() >= table.rows));
    for batch in table.batches(&mut columns, range) {
        let batch = batch.unwrap();
        TextWriter::json(&batch.schema()).write(&batch, &mut text).unwrap();
    }
    let text = String::from_utf8(text).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn check(mut table: Table, model: &[Value], random: &mut Random) {
    assert_eq!((table.rows, table.last), (model.len() as u64, model.len() as u64));
    assert!(table.verify().is_empty());
    assert_eq!(read(&mut table, 0..model.len() as u64), model);
    for _ in 0..2 {
        let start = random.below(model.len() + 1);
        let end = start + random.below(model.len() + 1 - start);
        let found = read(&mut table, start as u64..end as u64);
        assert_eq!(found, model[start..end], "{start}..{end}");
    }
}

fn folder_in(folder: &Folder, name: &str) -> std::path::PathBuf {
    let path = folder.path(name);
    std::fs::create_dir(&path).unwrap();
    path
}

fn table(path: &Path) -> Table {
    Store::open(path).unwrap().table("").unwrap()
}

#[test]
fn rows_of_every_kind_come_back_whatever_way_they_go() {
    let (folder, mut random, mut model) = (Folder::new("tables-model"), Random::new(57), Vec::new());
    let path = folder_in(&folder, "t.b2d");
    create(&path, &schema()).unwrap();
    check(table(&path), &model, &mut random);
    for count in [1, 2, 60, 1, 20] {
        let new: Vec<Value> = (0..count).map(|k| row(&mut random, model.len() + k)).collect();
        assert_eq!(append(&path, &mut lines(&new), MOST).unwrap(), count as u64);
        model.extend(new);
        check(table(&path), &model, &mut random);
    }

    // An Arrow file of them makes a table of the same rows.
    let (arrow, again) = (folder.path("rows.arrow"), folder_in(&folder, "again.b2d"));
    let mut found = table(&path);
    let mut columns = found.columns().unwrap();
    let fields: Vec<Field> = columns.iter().map(|column| column.field().clone()).collect();
    let file = std::fs::File::create(&arrow).unwrap();
    let mut writer = ArrowWriter::new(&Schema::new(fields), file).unwrap();
    let all = 0..found.rows;
    found.batches(&mut columns, all).for_each(|batch| writer.write(&batch.unwrap()).unwrap());
    writer.finish().unwrap();
    let mut reader = ArrowReader::new(std::fs::File::open(&arrow).unwrap()).unwrap();
    create(&again, reader.schema()).unwrap();
    assert_eq!(append(&again, &mut reader, MOST).unwrap(), model.len() as u64);
    check(table(&again), &model, &mut random);

    // A store that the table is a group of tells its parts from other leaves.
    let outer = folder_in(&folder, "outer.b2d");
    Store::open(&path).unwrap().save(&outer.join("t"), Form::Folder).unwrap();
    for other in ["leaf.b2frame", "t2.b2frame"] {
        std::fs::copy(path.join("_meta.b2f"), outer.join(other)).unwrap();
    }
    let outer = Store::open(&outer).unwrap();
    assert_eq!(outer.tables(), ["/t"]);
    for (group, expected) in [("/t", true), ("/t2", false), ("/t/_cols", false), ("", false), ("t", false)] {
        assert_eq!(outer.has_table(group), expected, "{group:?}");
    }
    assert!(outer.entries().len() > schema().fields().len());
    for entry in outer.entries() {
        assert_eq!(outer.in_table(entry), entry.key().starts_with("/t/"), "{}", entry.key());
    }
    check(outer.table("/t").unwrap(), &model, &mut random);
}

/// The table at `path` as a zip file that is far.
fn far(path: &Path) -> (Arc<Remote>, Store) {
    let zip = path.with_extension("b2z");
    Store::open(path).unwrap().save(&zip, Form::B2z).unwrap();
    let remote = Arc::new(Remote::new(std::fs::read(&zip).unwrap()));
    let store = Store::of_file(&zip, remote.clone(), &Limits::DEFAULT).unwrap();
    (remote, store)
}

#[test]
fn a_far_table_reads_as_a_near_one() {
    let (folder, mut random) = (Folder::new("tables-far"), Random::new(58));
    let path = folder_in(&folder, "t.b2d");
    create(&path, &schema()).unwrap();
    let model: Vec<Value> = (0..300).map(|k| row(&mut random, k)).collect();
    append(&path, &mut lines(&model), MOST).unwrap();
    let (_, store) = far(&path);
    check(store.table("").unwrap(), &model, &mut random);
    // What is damaged is an error, as of a near one, and no loop.
    let zip = path.with_extension("b2z");
    let file = std::fs::read(&zip).unwrap();
    for at in (0..file.len()).step_by(file.len() / 60) {
        let mut damaged = file.clone();
        damaged[at..(at + 40).min(file.len())].fill(0xee);
        let errors = |store: Result<Store, blosc_frame::Error>| {
            let mut table = store.ok()?.table("").ok()?;
            Some(table.verify().iter().map(ToString::to_string).collect::<Vec<_>>())
        };
        let near = errors(Store::of_file(&zip, damaged.clone(), &Limits::DEFAULT));
        assert_eq!(errors(Store::of_file(&zip, Remote::new(damaged), &Limits::DEFAULT)), near, "{at}");
    }
}

/// However many columns and chunks there are, a slice takes as many rounds as one column of one chunk.
#[test]
fn columns_of_a_far_table_are_fetched_together() {
    let mut all = Vec::new();
    for (columns, rows) in [(1, 40_000), (9, 40_000), (2, 300_000)] {
        let (folder, mut random) = (Folder::new("tables-rounds"), Random::new(59));
        let path = folder_in(&folder, "t.b2d");
        let ints = (0..columns).map(|k| Field::new(format!("c{k}"), DataType::Int64, false));
        let schema = Schema::new(ints.chain([Field::new("name", DataType::Utf8, true)]).collect::<Vec<_>>());
        create(&path, &schema).unwrap();
        let numbers: Vec<i64> = (0..rows).map(|_| random.next() as i64).collect();
        let names = numbers.iter().map(|n| (n % 9 != 0).then(|| format!("{n:x}")));
        let ints: ArrayRef = Arc::new(Int64Array::from(numbers.clone()));
        let mut arrays = vec![ints; columns];
        arrays.push(Arc::new(StringArray::from_iter(names.collect::<Vec<_>>())));
        let batch = RecordBatch::try_new(Arc::new(schema.clone()), arrays).unwrap();
        let file = folder.path("rows.arrow");
        let mut writer = ArrowWriter::new(&schema, std::fs::File::create(&file).unwrap()).unwrap();
        writer.write(&batch).and_then(|()| writer.finish()).unwrap();
        append(&path, &mut ArrowReader::new(std::fs::File::open(&file).unwrap()).unwrap(), MOST).unwrap();
        let (remote, store) = far(&path);
        remote.taken();
        let mut found = store.table("").unwrap();
        let opened = remote.taken().0.len();
        let mut readers = found.columns().unwrap();
        let columns_opened = remote.taken().0.len();
        let from = rows as u64 / 2;
        let mut sliced = Vec::new();
        for range in [from..from + 3, 5..rows as u64 / 2 + 7] {
            let mut at = range.start as usize;
            for part in found.batches(&mut readers, range.clone()) {
                let part = part.unwrap();
                assert!((0..=columns).all(|k| part.column(k) == &batch.column(k).slice(at, part.num_rows())));
                at += part.num_rows();
            }
            assert_eq!(at as u64, range.end, "all rows came");
            let (rounds, bytes) = remote.taken();
            assert!(bytes < remote.size().unwrap(), "{bytes} bytes");
            sliced.push(rounds.len());
        }
        println!("{columns} columns, {rows} rows: {opened}, {columns_opened}, {sliced:?} rounds");
        assert!(opened <= 6 && columns_opened <= 6 && sliced.iter().all(|rounds| *rounds <= 4), "{sliced:?}");
        all.push((opened, columns_opened, sliced[0]));
    }
    // With more chunks a part of them is not in what opening fetched, so that a slice may take the four rounds above.
    assert!(all[0] == all[1], "{all:?}");
}

#[test]
fn schemas_that_tables_do_not_have_are_refused_by_name_and_nothing_is_made() {
    let time = DataType::Timestamp(TimeUnit::Second, None);
    let cases = [
        (Field::new("c", fixed(DataType::Int32, 2), true), "column c: "),
        (Field::new("c", complex(), false), "column c: "),
        (Field::new("c", fixed(DataType::Utf8, 2), false), "column c: "),
        (Field::new("c", list(time), true), "column c: lists of Timestamp"),
        (Field::new("c", list(fixed(DataType::Int8, 2)), true), "column c: "),
        (Field::new("c", DataType::Float16, true), "column c: Float16 is not stored"),
        (Field::new("c", DataType::Date32, true), "column c: Date32 is not stored"),
        (
            Field::new("c", DataType::Dictionary(DataType::Int32.into(), DataType::Int64.into()), true),
            "column c: Dictionary(Int32, Int64) is not stored",
        ),
        (Field::new("c..d", DataType::Int8, true), "column c..d: its name cannot be that of a file"),
        (Field::new("", DataType::Int8, true), "its name cannot be that of a file"),
    ];
    let folder = Folder::new("tables-schemas");
    let path = folder_in(&folder, "t.b2d");
    let none = Schema::new(Vec::<Field>::new());
    assert!(create(&path, &none).unwrap_err().to_string().contains("without columns"));
    for (field, text) in cases {
        let good = Field::new("good", DataType::Int8, false);
        let error = create(&path, &Schema::new(vec![good, field.clone()])).unwrap_err().to_string();
        assert!(error.contains(text), "{field}: {error}");
        assert_eq!(std::fs::read_dir(&path).unwrap().count(), 0, "{field}");
    }
}

/// A value stands for null in a column where its type has such a value, and another is refused by name.
#[test]
fn values_that_stand_for_null_are_those_of_the_type() {
    let folder = Folder::new("tables-sentinels");
    let path = folder_in(&folder, "t.b2d");
    let fields = [("n", DataType::Int8), ("x", DataType::Float64), ("pair", fixed(DataType::Int8, 2))];
    let fields = fields.map(|(name, of)| Field::new(name, of, false));
    create(&path, &Schema::new(fields.to_vec())).unwrap();
    let rows = [json!({"n": -1, "x": 2.5, "pair": [1, 2]}), json!({"n": 1, "x": 0.0, "pair": [3, 4]})];
    append(&path, &mut lines(&rows), MOST).unwrap();
    let says = |column: usize, value: Value| {
        let mut meta = SuperChunk::open_path_mut(path.join("_meta.b2f")).unwrap();
        let stored = meta.vlmetalayer("schema").unwrap().unwrap();
        let start = stored.iter().position(|byte| *byte == b'{').unwrap();
        let mut schema: Value = serde_json::from_slice(&stored[start..]).unwrap();
        for (k, spec) in schema["columns"].as_array_mut().unwrap().iter_mut().enumerate() {
            spec["null_value"] = if k == column { value.clone() } else { Value::Null };
        }
        let text = schema.to_string();
        let string = [&[0xdb][..], &(text.len() as u32).to_be_bytes(), text.as_bytes()].concat();
        meta.set_vlmetalayer("schema", &string).unwrap();
        meta.commit().unwrap();
        let mut table = table(&path);
        let problem = table.verify().first().map(ToString::to_string).unwrap_or_default();
        (problem.is_empty().then(|| read(&mut table, 0..2)), problem)
    };
    let mut null = rows.clone();
    null[0]["n"] = Value::Null;
    assert_eq!(says(0, json!(-1)).0.unwrap(), null);
    assert_eq!(says(0, json!(7)).0.unwrap(), rows);
    let mut null = rows.clone();
    null[1]["x"] = Value::Null;
    assert_eq!(says(1, json!(0.0)).0.unwrap(), null);
    for (column, value, why) in [
        (0, json!(300), "300"),
        (0, json!("NA"), "NA"),
        (2, json!([1, 2]), "arrays in place of nulls"),
        (2, json!(1), "arrays in place of nulls"),
    ] {
        let (read, problem) = says(column, value.clone());
        assert!(read.is_none() && problem.contains(why), "{value}: {problem}");
    }
}

#[test]
fn rows_that_do_not_fit_are_refused_by_line_and_column() {
    let (folder, mut random) = (Folder::new("tables-rows"), Random::new(5));
    let path = folder_in(&folder, "t.b2d");
    create(&path, &schema()).unwrap();
    let cases = [
        ("id", json!(null)),
        ("id", json!(1.5)),
        ("id", json!(9_223_372_036_854_775_808u64)),
        ("small", json!(256)),
        ("small", json!(-1)),
        ("y", json!("text")),
        ("flag", json!(2)),
        ("when", json!("2020-02-30T00:00:00Z")),
        ("pair", json!([1])),
        ("pair", json!([1, 2, 3])),
        ("pair", json!(null)),
        ("grid", json!([[1.0, 2.0, 3.0]])),
        ("counts", json!([40000])),
        ("counts", json!(null)),
        ("name", json!(3)),
        ("kind", json!(["a"])),
    ];
    for (column, value) in cases {
        let mut rows = vec![row(&mut random, 0), row(&mut random, 1)];
        rows[1][column] = value.clone();
        let error = append(&path, &mut lines(&rows), MOST).unwrap_err().to_string();
        assert!(error.contains("line 2") && error.contains(column), "{column} = {value}: {error}");
        check(table(&path), &[], &mut random);
    }
    let mut unknown = row(&mut random, 0);
    unknown["more"] = json!(1);
    let mut without = row(&mut random, 0);
    without.as_object_mut().unwrap().remove("pair");
    for (row, text) in [(unknown, "more"), (without, "pair")] {
        let error = append(&path, &mut lines(&[row]), MOST).unwrap_err().to_string();
        assert!(error.contains(text), "{text}: {error}");
    }
}

/// Lists that python-blosc2 stored as Arrow streams are read, and not appended to.
#[test]
fn lists_in_arrow_streams_are_not_appended_to() {
    let folder = Folder::new("tables-arrow");
    let (source, path) = (Path::new(env!("CARGO_MANIFEST_DIR")), folder.path("t.b2d"));
    Store::open(source.join("tests/fixtures/wild/rows.b2z")).unwrap().save(&path, Form::B2d).unwrap();
    let error = append(&path, &mut lines(&[json!({"quick": [1]})]), MOST).unwrap_err().to_string();
    assert!(error.contains("column quick keeps its lists as Arrow streams"), "{error}");
}

#[test]
fn arrow_files_hold_all_but_complex_numbers() {
    for (data_type, holds) in [
        (complex(), false),
        (fixed(complex(), 3), false),
        (fixed(DataType::Float64, 2), true),
        (DataType::Float64, true),
        (list(DataType::Utf8), true),
    ] {
        assert_eq!(cannot_hold(&Field::new("c", data_type.clone(), false)).is_none(), holds, "{data_type}");
    }
}
