//! bcolz directories: the vectors, random edits beside a plain vector, crashes, hostile names and texts.

use crate::containers;
use crate::containers::model;

use blosc_core::Pool;
use blosc_frame::bcolz::{CArray, CParams, CTable, Create, FlatTree, Tree as _};
use blosc_frame::dtype::Dtype;
use blosc_frame::io::{Directory, FaultDir, FsDir};
use blosc_frame::plain::Plain;
use blosc_frame::value::Value;
use blosc_frame::{Error, Limits, Rows};
use containers::{records, sha256};
use model::{Edit, Random, all, crash_points};

type Tree = FlatTree<FaultDir>;
use std::path::Path;

fn is_table(path: &Path) -> bool {
    path.join("__rootdirs__").exists()
}

#[test]
fn records_decode() {
    let (mut pool, limits) = (Pool::new(1), Limits::default());
    let mut seen = 0;
    for record in records("bcolz") {
        let root = FsDir::open(&record.path).unwrap();
        let name = &record.name;
        if is_table(&record.path) {
            let table = CTable::open(root, &limits).unwrap();
            let packed = all(&table, &mut pool).unwrap();
            if record.has("decoded_sha256") {
                assert_eq!(sha256(&packed), record.text("decoded_sha256"), "{name}");
            }
            let columns = record.get("columns").unwrap().as_object().unwrap();
            for (column, expected) in columns {
                let data = all(table.column(column).unwrap(), &mut pool).unwrap();
                let want = expected.get("decoded_sha256").and_then(Value::as_text).unwrap();
                assert_eq!(sha256(&data), want, "{name}/{column}");
            }
            assert_eq!(Some(table.attrs()), record.get("attrs"), "{name}");
            assert!(table.verify(&mut pool).unwrap().is_empty());
            let mut part = vec![0; 7.min(packed.len())];
            table.read_plain(&mut pool, 5, &mut part).unwrap();
            assert_eq!(part, packed[5..5 + part.len()]);
        } else {
            let column = CArray::open(root, &limits).unwrap();
            assert_eq!(sha256(&all(&column, &mut pool).unwrap()), record.text("decoded_sha256"), "{name}");
            assert!(column.verify(&mut pool).unwrap().is_empty());
            assert_eq!(column.storage().chunklen, record.number("chunklen").unwrap());
            // What bcolz wrote is what we would write.
            let text = std::fs::read_to_string(record.path.join("meta/storage")).unwrap();
            assert_eq!(format!("{}\n", column.storage().to_value().to_json()).trim(), text.trim(), "{name}");
        }
        seen += 1;
    }
    assert!(seen >= 5);
}

#[test]
fn files_of_the_document_are_written() {
    let mut pool = Pool::new(1);
    let dir = FaultDir::new();
    let attrs = Value::object([("t", Value::int(1))]);
    let create =
        Create { chunklen: Some(4), expectedlen: 7, attrs, ..Create::new(Dtype::parse("int16").unwrap()) };
    let mut column = CArray::create(FlatTree::new(dir.clone()), &create, &Limits::default()).unwrap();
    let data: Vec<u8> = (0..7i16).flat_map(i16::to_le_bytes).collect();
    column.append(&mut pool, &data).unwrap();
    let read = |name: &str| dir.read(name, 1 << 20).unwrap();
    let text = |name: &str| String::from_utf8(read(name)).unwrap();
    assert_eq!(text("meta!sizes"), "{\"shape\": [7], \"nbytes\": 14, \"cbytes\": 32}\n");
    assert_eq!(
        text("meta!storage"),
        "{\"dtype\": \"int16\", \"cparams\": {\"clevel\": 5, \"shuffle\": 1, \"cname\": \"lz4\", \"quantize\": 0}, \
         \"chunklen\": 4, \"expectedlen\": 7, \"dflt\": 0}\n"
    );
    assert_eq!(text("__attrs__"), "{\"t\": 1}\n");
    assert_eq!(read("data!__0.blp").len(), 40);
    assert_eq!(read("data!__1.blp").len(), 38);
    assert_eq!(read("data!__1.blp")[..16], *b"blpk\x01\0\0\0\x01\0\0\0\0\0\0\0");
}

fn column(dir: &FaultDir, limits: &Limits) -> Result<CArray<Tree>, Error> {
    CArray::open(FlatTree::new(dir.clone()), limits)
}

fn random_create(r: &mut Random) -> Create {
    let dtype = ["<i4", "|u1", ">f8", "|S5", "<U3", "[('a', '<i2'), ('b', '|S3')]"][r.below(6) as usize];
    let cname = ["blosclz", "lz4", "lz4hc", "zlib", "zstd"][r.below(5) as usize].to_string();
    let cparams = CParams { clevel: r.below(10) as u8, shuffle: r.below(3) as u8, cname, quantize: 0 };
    Create {
        row: if r.below(3) == 0 { vec![2, 3] } else { vec![] },
        chunklen: Some(1 + r.below(40)),
        cparams,
        ..Create::new(Dtype::parse(dtype).unwrap())
    }
}

#[test]
fn random_edits_match_a_plain_vector() {
    let (mut pool, limits, mut r) = (Pool::new(1), Limits::default(), Random(11));
    let runs = if containers::long() { 600 } else { 40 };
    for run in 0..runs {
        let dir = FaultDir::new();
        let create = random_create(&mut r);
        let mut column = CArray::create(FlatTree::new(dir.clone()), &create, &limits).unwrap();
        let row = column.row_nbytes() as usize;
        let mut model = Vec::new();
        for step in 0..10 {
            let rows = (model.len() / row) as u64;
            let change = Edit::random(&mut r, rows, row, 60);
            change
                .make(&mut column, &mut pool)
                .unwrap_or_else(|e| panic!("run {run} step {step}: {e} {change:?}"));
            change.apply(&mut model, row, &vec![0; row]);
            assert!(all(&column, &mut pool).unwrap() == model, "run {run} step {step}: {change:?}");
            let again = self::column(&dir, &limits).unwrap();
            assert!(all(&again, &mut pool).unwrap() == model, "run {run} step {step}");
            assert!(again.verify(&mut pool).unwrap().is_empty());
        }
    }
}

/// At every crash the column has the old or the new rows.
#[test]
fn crashes_during_edits() {
    let (mut pool, limits, mut r) = (Pool::new(1), Limits::default(), Random(23));
    let mut points = 0;
    for run in 0..if containers::long() { 60 } else { 2 } {
        let dir = FaultDir::new();
        let create = Create { row: vec![], ..random_create(&mut r) };
        let mut base = CArray::create(FlatTree::new(dir.clone()), &create, &limits).unwrap();
        let n = r.below(90) as usize * base.row_nbytes() as usize;
        base.append(&mut pool, &r.bytes(n)).unwrap();
        points +=
            crash_points(&mut r, &dir, &format!("run {run}"), &|dir| Ok(Box::new(column(&dir, &limits)?)));
    }
    println!("{points} crash points");
}

fn table(r: &mut Random) -> (CTable<Tree>, FaultDir) {
    let dir = FaultDir::new();
    let columns: Vec<_> =
        ["id", "val", "tag"].map(|name| (name.to_string(), random_create(r))).into_iter().collect();
    let made =
        CTable::create(FlatTree::new(dir.clone()), &columns, Value::Object(vec![]), &Limits::default());
    (made.unwrap(), dir)
}

#[test]
fn tables_take_packed_rows() {
    let (mut pool, limits, mut r) = (Pool::new(1), Limits::default(), Random(99));
    for _ in 0..10 {
        let (mut table, dir) = table(&mut r);
        let row = table.row_nbytes() as usize;
        let mut model = r.bytes(row * 150);
        table.append(&mut pool, &model).unwrap();
        let more = r.bytes(row * 33);
        table.append(&mut pool, &more).unwrap();
        model.extend(&more);
        table.set(&mut pool, 7, &more).unwrap();
        model[7 * row..40 * row].copy_from_slice(&more);
        table.remove(&mut pool, 3..50).unwrap();
        model.drain(3 * row..50 * row);
        table.trim(&mut pool, 10).unwrap();
        model.truncate(model.len() - 10 * row);
        assert!(all(&table, &mut pool).unwrap() == model);
        let again = CTable::open(FlatTree::new(dir), &limits).unwrap();
        assert!(all(&again, &mut pool).unwrap() == model);
        assert!(table.append(&mut pool, &vec![0u8; row + 1]).is_err());
        assert_eq!(table.dtype().unwrap().itemsize() as usize, row);
    }
}

#[test]
fn columns_are_added_removed_and_renamed() {
    let (mut pool, limits, mut r) = (Pool::new(1), Limits::default(), Random(5));
    let (mut table, dir) = table(&mut r);
    let row = table.row_nbytes() as usize;
    table.append(&mut pool, &r.bytes(row * 20)).unwrap();
    let create = Create::new(Dtype::parse("<i4").unwrap());
    for bad in [
        "..",
        "../../evil",
        "a/b",
        "a\\b",
        "",
        "C:x",
        "data",
        "meta",
        "__attrs__",
        "__rootdirs__",
        "x\0",
        "id",
    ] {
        assert!(table.add_column(&mut pool, bad, &create, &[0u8; 80].as_slice()).is_err(), "{bad:?}");
        assert!(table.rename_column("id", bad).is_err(), "{bad:?}");
    }
    assert!(table.add_column(&mut pool, "short", &create, &[0u8; 76].as_slice()).is_err());
    assert!(FlatTree::new(dir.clone()).enter("short").is_err(), "nothing is left behind");
    let data: Vec<u8> = (0..80).collect();
    table.add_column(&mut pool, "new", &create, &data).unwrap();
    table.rename_column("new", "newer").unwrap();
    table.remove_column("val").unwrap();
    assert!(table.remove_column("val").is_err());
    let table = CTable::open(FlatTree::new(dir), &limits).unwrap();
    assert_eq!(table.columns().map(|(n, _)| n).collect::<Vec<_>>(), ["id", "tag", "newer"]);
    assert_eq!(all(table.column("newer").unwrap(), &mut pool).unwrap(), data);
}

/// At every crash a table has the columns that it had or those that it gets.
#[test]
fn crashes_while_columns_are_changed() {
    let (limits, mut r, mut points) = (Limits::default(), Random(17), 0);
    let (mut made, dir) = table(&mut r);
    let rows = r.bytes(made.row_nbytes() as usize * 60);
    made.append(&mut Pool::new(1), &rows).unwrap();
    let open = |dir| CTable::open(FlatTree::new(dir), &limits);
    type Change<'c> = (&'c str, &'c dyn Fn(&mut CTable<Tree>) -> Result<(), Error>);
    let create = Create { chunklen: Some(7), ..Create::new(Dtype::parse("<i2").unwrap()) };
    let changes: [Change<'_>; 4] = [
        ("add", &|table| table.add_column(&mut Pool::new(1), "new", &create, &vec![3u8; 120])),
        ("remove", &|table| table.remove_column("val")),
        ("rename", &|table| table.rename_column("id", "key")),
        ("repair", &|table| table.settle(&mut Pool::new(1), 41)),
    ];
    for (what, change) in changes {
        let read = |dir| {
            let table = open(dir)?;
            let columns =
                table.columns().map(|(name, column)| Ok((name.to_string(), all(column, &mut Pool::new(1))?)));
            columns.collect::<Result<Vec<_>, Error>>()
        };
        points += model::crashes(&dir, what, &|dir| change(&mut open(dir)?), &read, &mut |_, _| ());
    }
    println!("{points} crash points");
}

/// Rows that no descriptor counts are told of and stay, until somebody says what becomes of them.
#[test]
fn rows_that_do_not_count_are_left_alone() {
    let (mut pool, limits) = (Pool::new(1), Limits::default());
    let create = Create { chunklen: Some(10), ..Create::new(Dtype::parse("<i4").unwrap()) };
    let data: Vec<u8> = (0..400).map(|n| n as u8).collect();
    // Rows that count, and what bcolz leaves that was not closed: its descriptor is older than its chunks.
    for (counted, rows, files) in [(30, 70, 7), (25, 75, 7), (100, 0, 0), (0, 100, 10)] {
        let dir = FaultDir::new();
        let mut made = CArray::create(FlatTree::new(dir.clone()), &create, &limits).unwrap();
        made.append(&mut pool, &data).unwrap();
        dir.remove("meta!sizes").unwrap();
        let sizes = format!("{{\"shape\": [{counted}], \"nbytes\": {}, \"cbytes\": 0}}\n", counted * 4);
        dir.write_new("meta!sizes", sizes.as_bytes()).unwrap();
        let open = || column(&dir, &limits).unwrap();
        let found = open().uncounted().unwrap();
        assert_eq!((found.rows, found.files), (rows, files), "{counted} count");
        let before = model::files(&dir);
        for edit in model::Edit::each(&mut Random(3), counted, 4, 20).iter().filter(|_| found.any()) {
            assert!(matches!(edit.make(&mut open(), &mut pool), Err(Error::Unsupported { .. })), "{edit:?}");
            assert!(model::files(&dir) == before, "{edit:?}");
        }
        let copy = FaultDir::from_files(before);
        let mut taken = column(&copy, &limits).unwrap();
        taken.settle(&mut pool, counted + rows).unwrap();
        assert!(all(&column(&copy, &limits).unwrap(), &mut pool).unwrap() == data);
        let mut dropped = open();
        dropped.settle(&mut pool, counted).unwrap();
        assert!(!open().uncounted().unwrap().any());
        open().append(&mut pool, &vec![9; 4]).unwrap();
        let want = [&data[..counted as usize * 4], &[9; 4]].concat();
        assert!(all(&open(), &mut pool).unwrap() == want);
    }
}

/// `set_reserve` leaves room behind each chunk, and `set_in_place` writes into it, or says that it does not suffice.
#[test]
fn rows_are_set_within_the_room_of_their_chunks() {
    let (mut pool, limits, mut r) = (Pool::new(1), Limits::default(), Random(8));
    let create = Create { chunklen: Some(100), ..Create::new(Dtype::parse("<i4").unwrap()) };
    let lengths = |dir: &FaultDir| {
        let of = |(name, content): (String, Vec<u8>)| (name.ends_with(".blp"), content.len());
        model::files(dir).into_iter().map(of).filter(|(chunk, _)| *chunk).map(|(_, n)| n).collect::<Vec<_>>()
    };
    let plain = vec![0; 1000];
    let [bare, roomy] = [0, 300].map(|reserve| {
        let dir = FaultDir::new();
        let mut made = CArray::create(FlatTree::new(dir.clone()), &create, &limits).unwrap();
        made.set_reserve(reserve);
        made.append(&mut pool, &plain).unwrap();
        dir
    });
    let with_room: Vec<usize> = lengths(&bare).iter().map(|n| n + 300).collect();
    assert_eq!(lengths(&roomy), with_room);
    let mut noise = r.bytes(0);
    noise.extend((0..200u32).map(|n| (n.wrapping_mul(2_654_435_761) >> 13) as u8));
    let mut rows = column(&roomy, &limits).unwrap();
    rows.set_in_place(&mut pool, 90, &noise).unwrap();
    let mut want = plain.clone();
    want[360..560].copy_from_slice(&noise);
    assert!(all(&column(&roomy, &limits).unwrap(), &mut pool).unwrap() == want);
    assert_eq!(lengths(&roomy), with_room);
    let before = model::files(&bare);
    let refused = column(&bare, &limits).unwrap().set_in_place(&mut pool, 90, &noise);
    assert!(matches!(refused, Err(Error::OutputTooSmall { .. })), "{refused:?}");
    assert!(model::files(&bare) == before);
}

#[test]
fn hostile_descriptors_are_refused() {
    let (limits, good_sizes) = (Limits::default(), r#"{"shape": [7], "nbytes": 28, "cbytes": 0}"#);
    let good = r#"{"dtype": "int32", "cparams": {"clevel": 5, "shuffle": 1}, "chunklen": 4, "expectedlen": 7, "dflt": 0}"#;
    let open = |storage: &str, sizes: &str| {
        let files = [
            ("data!", ""),
            ("meta!", ""),
            ("meta!storage", storage),
            ("meta!sizes", sizes),
            ("__attrs__", ""),
        ];
        let dir = FaultDir::from_files(files.map(|(n, c)| (n.to_string(), c.as_bytes().to_vec())));
        column(&dir, &limits).map(drop)
    };
    open(good, good_sizes).unwrap();
    for bad in [
        good.replace("int32", "object"),
        good.replace("\"chunklen\": 4", "\"chunklen\": 0"),
        good.replace("\"chunklen\": 4", "\"chunklen\": -4"),
        good.replace("\"chunklen\": 4", "\"chunklen\": 4611686018427387904"),
        good.replace("int32", "__import__('os').system('x')"),
        String::new(),
        good[..20].to_string(),
    ] {
        assert!(open(&bad, good_sizes).is_err(), "{bad}");
    }
    for bad in [
        "",
        "[]",
        r#"{"shape": [-1]}"#,
        r#"{"shape": ["a"]}"#,
        r#"{"shape": [9223372036854775807, 8]}"#,
        r#"{"shape": [1, 0]}"#,
    ] {
        assert!(open(good, bad).is_err(), "{bad}");
    }
}

#[test]
fn missing_and_damaged_chunk_files() {
    let (mut pool, limits) = (Pool::new(1), Limits::default());
    let dir = FaultDir::new();
    let create = Create { chunklen: Some(10), ..Create::new(Dtype::parse("<i4").unwrap()) };
    let mut made = CArray::create(FlatTree::new(dir.clone()), &create, &limits).unwrap();
    made.append(&mut pool, &vec![3u8; 200]).unwrap();
    let file = dir.read("data!__2.blp", 1 << 20).unwrap();
    for cut in 0..file.len() {
        dir.remove("data!__2.blp").unwrap();
        dir.write_new("data!__2.blp", &file[..cut]).unwrap();
        assert!(all(&column(&dir, &limits).unwrap(), &mut pool).is_err(), "cut at {cut}");
    }
    dir.remove("data!__2.blp").unwrap();
    let damaged = column(&dir, &limits).unwrap().verify(&mut pool).unwrap();
    assert!(matches!(damaged[..], [(2, Error::Missing { number: 2, .. })]), "{damaged:?}");
}

#[cfg(unix)]
#[test]
fn links_do_not_lead_out() {
    let (mut pool, limits) = (Pool::new(1), Limits::default());
    let temp = std::env::temp_dir().join(format!("blosc-bcolz-links-{}", std::process::id()));
    std::fs::create_dir_all(&temp).unwrap();
    let root = FsDir::create(temp.join("c")).unwrap();
    let create = Create { chunklen: Some(4), ..Create::new(Dtype::parse("<i4").unwrap()) };
    CArray::create(root.clone(), &create, &limits).unwrap().append(&mut pool, &vec![1u8; 32]).unwrap();
    let chunk = temp.join("c/data/__1.blp");
    std::fs::rename(&chunk, temp.join("outside")).unwrap();
    std::os::unix::fs::symlink(temp.join("outside"), &chunk).unwrap();
    assert!(all(&CArray::open(root, &limits).unwrap(), &mut pool).is_err());
    std::fs::rename(temp.join("c/data"), temp.join("data")).unwrap();
    std::os::unix::fs::symlink(temp.join("data"), temp.join("c/data")).unwrap();
    assert!(CArray::open(FsDir::open(temp.join("c")).unwrap(), &limits).is_err());
    std::fs::remove_dir_all(temp).unwrap();
}
