//! Tables and lists of python-blosc2: what comes out of them. The answers are those of python-blosc2 itself, which
//! `frame/tests/interop/tables.py` compares with, too.

use crate::common::{Folder, json};
use arrow_array::cast::AsArray;
use arrow_array::types::{Int16Type, Int32Type, Int64Type};
use arrow_array::{Array, RecordBatch};
use arrow_ipc::reader::FileReader;
use serde_json::Value;

fn wild(name: &str) -> String {
    format!("{}/../tests/fixtures/wild/{name}", env!("CARGO_MANIFEST_DIR"))
}

fn text(bytes: Vec<u8>) -> String {
    String::from_utf8(bytes).unwrap()
}

fn lines(bytes: Vec<u8>) -> Vec<Value> {
    text(bytes).lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// The only batch of an Arrow file.
fn batch(bytes: Vec<u8>) -> RecordBatch {
    let batches: Result<Vec<_>, _> =
        FileReader::try_new(std::io::Cursor::new(bytes), None).unwrap().collect();
    let [batch] = <[RecordBatch; 1]>::try_from(batches.unwrap()).unwrap();
    batch
}

/// The fields of row `k` of the table.
fn row(k: i64) -> Value {
    let quoted = |k: i64| format!("\"{k}\"");
    let hex: String = (0..k).map(|b| format!("{b:02x}")).collect();
    let mut row = serde_json::json!({
        "id": k, "flag": k % 2 == 1, "small": k, "x": k as f64 / 4.0, "y": k as f64 / 8.0,
        "z": [k as f64, 0.0 - k as f64], "word": format!("w{k}"), "raw": if k % 3 == 2 { "0061" } else { "" },
        "text": "ü,".repeat(k as usize), "free": quoted(k), "blob": hex, "kind": if k % 2 == 0 { "a" } else { "b" },
        "many": (0..k).collect::<Vec<_>>(), "words": ["p", k.to_string()], "quick": vec![k; k as usize],
        "any": [k, {"k": null}], "when": format!("2023-11-14T22:13:20.{k:03}Z"), "grid": [[k, k], [k, k]],
    });
    if k == 3 {
        let fields = row.as_object_mut().unwrap();
        for (name, value) in fields.iter_mut() {
            if !["id", "z", "word", "raw", "grid"].contains(&name.as_str()) {
                *value = Value::Null;
            }
        }
    }
    row
}

#[test]
fn json_lines_have_every_value_of_the_rows_that_live() {
    let folder = Folder::new("table-jsonl");
    for table in ["rows.b2z", "rows.b2frame"] {
        folder.run(&["decompress", &wild(table), "-o", "t.jsonl", "--force"]);
        let rows = lines(folder.read("t.jsonl"));
        // Row 1 was deleted.
        assert_eq!(rows, [0, 2, 3, 4, 5].map(row), "{table}");
        let named = ["slice", &wild(table), "--start", "-4", "--stop", "3", "--format", "jsonl", "-o", "-"];
        assert_eq!(lines(folder.run(&named)), [2, 3].map(row), "{table}");
    }
}

#[test]
fn info_tells_tables_in_frames_as_those_in_directories() {
    let folder = Folder::new("table-info");
    let about = |table: &str| json(&folder.run(&["info", &wild(table), "--json"]))["table"].clone();
    // The frame was written before its table was closed, with room for rows.
    for name in ["rows", "columns"] {
        assert_eq!(about("rows.b2frame")[name], about("rows.b2z")[name], "{name}");
    }
    assert_eq!(about("rows.b2z")["columns"].as_array().map(Vec::len), Some(18));
    let shown = text(folder.run(&["info", &wild("rows.b2frame")]));
    assert!(shown.starts_with("table of python-blosc2 in a b2e store: 5 rows, 1,048,576 stored"), "{shown}");
    assert!(
        shown.lines().any(|line| line.split_whitespace().eq(["column", "text", "utf8,", "nullable"])),
        "{shown}"
    );
}

#[test]
fn csv_tells_nulls_from_empty_text() {
    let folder = Folder::new("table-csv");
    let columns = ["id", "text", "flag", "when", "many", "z"];
    let words: Vec<&str> = columns.iter().flat_map(|name| ["--column", name]).collect();
    folder.run(&[&["convert", &wild("rows.b2z"), "-o", "t.csv"][..], &words].concat());
    let wanted = "id,text,flag,when,many,z\n\
        0,\"\",false,2023-11-14T22:13:20.000Z,[],0+0j\n\
        2,\"ü,ü,\",false,2023-11-14T22:13:20.002Z,\"[0,1]\",2-2j\n\
        3,,,,,3-3j\n\
        4,\"ü,ü,ü,ü,\",false,2023-11-14T22:13:20.004Z,\"[0,1,2,3]\",4-4j\n\
        5,\"ü,ü,ü,ü,ü,\",true,2023-11-14T22:13:20.005Z,\"[0,1,2,3,4]\",5-5j\n";
    assert_eq!(text(folder.read("t.csv")), wanted);
}

#[test]
fn arrow_files_have_types_and_validity() {
    let folder = Folder::new("table-arrow");
    let (status, said) = folder.fail(&["decompress", &wild("rows.b2z"), "-o", "t.arrow"]);
    assert!(status == 1 && said.contains("column z: Arrow has no complex numbers"), "{said}");
    assert!(!folder.path("t.arrow").exists());
    let said = folder.notice(&["decompress", &wild("rows.b2z"), "-o", "t.arrow", "--partial"]);
    assert!(said.contains("not kept: column z"), "{said}");
    let batch = batch(folder.read("t.arrow"));
    let column = |name: &str| batch.column_by_name(name).unwrap();
    let never = ["id", "word", "raw", "grid"];
    for (field, column) in batch.schema().fields().iter().zip(batch.columns()) {
        let nulls: Vec<usize> = (0..5).filter(|row| column.is_null(*row)).collect();
        let wanted: &[usize] = if never.contains(&field.name().as_str()) { &[] } else { &[2] };
        assert_eq!(nulls, wanted, "{}", field.name());
    }
    assert_eq!(column("id").as_primitive::<Int64Type>().values(), &[0, 2, 3, 4, 5]);
    let kinds = column("kind").as_dictionary::<Int32Type>();
    let kinds: Vec<_> = kinds.downcast_dict::<arrow_array::StringArray>().unwrap().into_iter().collect();
    assert_eq!(kinds, [Some("a"), Some("a"), None, Some("a"), Some("b")]);
    assert_eq!(column("text").as_string::<i32>().value(1), "ü,ü,");
    assert_eq!(column("blob").as_binary::<i32>().value(3), [0, 1, 2, 3]);
    assert_eq!(
        column("many").as_list::<i32>().value(4).as_primitive::<Int64Type>().values(),
        &[0, 1, 2, 3, 4]
    );
    assert_eq!(column("quick").as_list::<i32>().value(1).as_primitive::<Int32Type>().values(), &[2, 2]);
    let grid = column("grid").as_fixed_size_list().value(3);
    assert_eq!(grid.as_fixed_size_list().value(1).as_primitive::<Int16Type>().values(), &[4, 4]);
    assert_eq!(column("any").as_string::<i32>().value(1), r#"[2,{"k":null}]"#);
}

#[test]
fn npz_files_have_masks() {
    let folder = Folder::new("table-npz");
    let table = wild("rows.b2z");
    let (status, said) = folder.fail(&["decompress", &table, "-o", "t.npz"]);
    assert!(status == 1, "{said}");
    for name in ["many", "words", "quick", "any"] {
        assert!(said.contains(&format!("column {name}: ")), "{name}: {said}");
    }
    folder.run(&["decompress", &table, "-o", "t.npz", "--partial"]);
    folder.run(&["compress", "t.npz", "-o", "t"]);
    let bytes = |name: &str| folder.run(&["decompress", &format!("t/{name}.b2nd"), "-o", "-"]);
    let shown = |name: &str| json(&folder.run(&["info", &format!("t/{name}.b2nd"), "--json"]));
    for name in ["flag", "x", "text", "kind", "when", "blob"] {
        assert_eq!(bytes(&format!("{name}.mask")), [0, 0, 1, 0, 0], "{name}");
    }
    assert!(!folder.path("t/id.mask.b2nd").exists(), "no row of it can be null");
    assert_eq!(bytes("flag"), [0, 0, 0, 0, 1]);
    // The widest is "ü,ü,ü,ü,ü,".
    assert_eq!(
        (shown("text")["dtype"].as_str(), shown("kind")["dtype"].as_str()),
        (Some("<U10"), Some("<U1"))
    );
    assert_eq!(shown("when")["dtype"], "<M8[ms]");
    let nat: Vec<u8> = i64::MIN.to_le_bytes().to_vec();
    assert_eq!(bytes("when")[16..24], nat);
    assert_eq!(shown("grid")["shape"], serde_json::json!([5, 2, 2]));
}

#[test]
fn values_of_their_own_lengths_come_out() {
    let folder = Folder::new("records");
    for (name, called, wanted) in [
        ("objects.b2f", "ObjectArray", "{\"x\":1}\n[1,2,\"three\"]\n"),
        ("batches.b2b", "BatchArray", "1\n2\n3\n\"a\"\n"),
        ("lists.b2b", "ListArray", "[1,2]\nnull\n[]\n"),
    ] {
        let shown = text(folder.run(&["info", &wild(name)]));
        assert!(shown.contains(called), "{shown}");
        folder.run(&["decompress", &wild(name), "-o", "v.jsonl", "--force"]);
        assert_eq!(text(folder.read("v.jsonl")), wanted, "{name}");
    }
    folder.run(&["slice", &wild("batches.b2b"), "--start", "2", "-o", "s.jsonl"]);
    assert_eq!(text(folder.read("s.jsonl")), "3\n\"a\"\n");
    folder.run(&["decompress", &wild("lists.b2b"), "-o", "v.arrow"]);
    let batch = batch(folder.read("v.arrow"));
    let lists = batch.column(0).as_list::<i32>();
    assert_eq!(lists.value(0).as_primitive::<Int64Type>().values(), &[1, 2]);
    assert_eq!((lists.is_null(1), lists.is_null(2), lists.value(2).len()), (true, false, 0));
}

#[test]
fn what_cannot_be_done_is_said_before_anything_is_written() {
    let folder = Folder::new("table-refused");
    let (table, old) = (wild("rows.b2z"), wild("table.b2d"));
    let store = wild("store.b2z");
    for (words, status, wanted) in [
        (&["decompress", &table, "-o", "x"][..], 1, "a table: name a .csv, .jsonl, .arrow or .npz file"),
        (&["decompress", &table, "-o", "x.npy"], 2, "a table"),
        (&["decompress", &table, "--plain", "-o", "x"], 2, "a table has no bytes of its own"),
        (&["decompress", &table, "-o", "x.csv", "--column", "no"], 2, "has no no; it has id, flag"),
        (&["decompress", &table, "-o", "x.csv", "--column", "id", "--column", "id"], 2, "given twice"),
        (&["decompress", &store, "-o", "x.npz", "--column", "id"], 2, "no table"),
        (&["slice", &table, "-o", "x.csv", "--step", "2"], 2, "--step"),
        (&["decompress", &table, "-o", "x.csv", "--max-output", "100"], 1, "--max-output BYTES"),
        (&["convert", &table, "-o", "x.b2nd"], 2, "a table"),
    ] {
        let (found, said) = folder.fail(words);
        assert!(found == status && said.contains(wanted), "{words:?}: {found} {said}");
    }
    assert!(folder.names().is_empty(), "{:?}", folder.names());
    // A column that has fewer rows than live is damage.
    let copy = |from: &str, to: std::path::PathBuf| {
        std::fs::create_dir_all(to.parent().unwrap()).unwrap();
        std::fs::copy(from, to).unwrap();
    };
    for name in [
        "_meta.b2f",
        "_valid_rows.b2nd",
        "embed.b2e",
        "_cols/x.b2nd",
        "_cols/b.b2nd",
        "_cols/s.b2nd",
        "_cols/y.b2nd",
    ] {
        copy(&format!("{old}/{name}"), folder.path(&format!("t.b2d/{name}")));
    }
    folder.run(&["resize", "t.b2d/_cols/y.b2nd", "--shape", "50"]);
    let (status, said) = folder.fail(&["decompress", "t.b2d", "-o", "x.csv"]);
    assert!(status == 1 && said.contains("column y: has 50 rows, but row 99"), "{said}");
    assert!(!folder.path("x.csv").exists());
    folder.run(&["decompress", "t.b2d", "-o", "x.csv", "--column", "x"]);
    std::fs::remove_file(folder.path("t.b2d/_cols/y.b2nd")).unwrap();
    assert!(folder.fail(&["decompress", "t.b2d", "-o", "y.csv"]).1.contains("has no /_cols/y.b2nd"));
}

/// Each file by itself is sound, but the rows cannot be read: a column is too short, or not there.
#[test]
fn verify_says_whether_the_rows_of_a_table_can_be_read() {
    let folder = Folder::new("table-verify");
    for table in ["rows.b2z", "rows.b2frame", "dict.b2z", "plain.b2d", "table.b2d"] {
        assert_eq!(json(&folder.run(&["verify", &wild(table), "--json"]))["verdict"], "intact", "{table}");
    }
    copy_tree(wild("table.b2d").as_ref(), &folder.path("t.b2d"));
    let refused = |told: &str| {
        let (status, said) = folder.fail(&["verify", "t.b2d", "--json"]);
        assert!(status == 1 && said.contains(told), "{status} {said}");
        folder.fail(&["decompress", "t.b2d", "-o", "t.csv"]);
    };
    folder.run(&["resize", "t.b2d/_cols/b.b2nd", "--shape", "50"]);
    refused("column b: has 50 rows, but row 99 of the table lives");
    std::fs::remove_file(folder.path("t.b2d/_cols/b.b2nd")).unwrap();
    refused("has no /_cols/b.b2nd");
    std::fs::remove_file(folder.path("t.b2d/_valid_rows.b2nd")).unwrap();
    refused("has no /_valid_rows.b2nd");
}

pub fn copy_tree(from: &std::path::Path, to: &std::path::Path) {
    std::fs::create_dir(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        match entry.file_type().unwrap().is_dir() {
            true => copy_tree(&entry.path(), &to.join(entry.file_name())),
            false => drop(std::fs::copy(entry.path(), to.join(entry.file_name())).unwrap()),
        }
    }
}

#[test]
fn rows_are_appended_to_a_table() {
    let folder = Folder::new("table-append");
    copy_tree(wild("plain.b2d").as_ref(), &folder.path("t.b2d"));
    let rows = || text(folder.run(&["decompress", "t.b2d", "--format", "csv", "-o", "-"]));
    let old = "id,x,n,text,when\n0,0.0,0,ü0,1970-01-01T00:00:00\n1,0.5,1,,1970-01-02T00:00:00\n\
        3,1.5,3,ü3,1970-01-04T00:00:00\n";
    assert_eq!(rows(), old);
    // The first nulls of `x` and `when`, and fields in another order.
    folder.write(
        "a.csv",
        "text,id,when,x,n\r\n\"a,\"\"\n\",-5,2001-02-03T04:05:06,0.1,7\r\n,6,,,\n".as_bytes(),
    );
    folder.run(&["append", "t.b2d", "a.csv"]);
    folder.write("b.jsonl", b"{\"id\":7,\"x\":null,\"n\":8,\"text\":\"\",\"when\":5}\n");
    folder.run(&["append", "t.b2d", "b.jsonl"]);
    let new = "-5,0.1,7,\"a,\"\"\n\",2001-02-03T04:05:06\n6,,,,\n7,,8,\"\",1970-01-01T00:00:05\n";
    assert_eq!(rows(), format!("{old}{new}"));
    let shown = text(folder.run(&["info", "t.b2d"]));
    assert!(shown.starts_with("table of python-blosc2 in a b2d store: 6 rows, 7 stored"), "{shown}");
    folder.run(&["verify", "t.b2d"]);
    // What python-blosc2 goes by: the rows that live, and which indexes are out of date.
    let meta = |name: &str| folder.run(&["meta", "get", "--vl", "t.b2d/_meta.b2f", name]);
    let says = |name: &str, what: &[u8]| meta(name).windows(what.len()).any(|part| part == what);
    assert!(says("schema", b"\"n_rows\": 6"));
    // MessagePack has c3 for true and c2 for false.
    assert!(says("index_catalog", b"stale\xc3") && !says("index_catalog", b"stale\xc2"));
}

/// Each append exchanges the directory: the next must wait for it, and read the new one.
#[cfg(unix)]
#[test]
fn appends_at_the_same_time_lose_no_row() {
    let folder = Folder::new("table-append-parallel");
    copy_tree(wild("plain.b2d").as_ref(), &folder.path("t.b2d"));
    folder.write("a.csv", b"id,x,n,text,when\n5,,,,\n");
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| (0..5).for_each(|_| drop(folder.run(&["append", "t.b2d", "a.csv"]))));
        }
    });
    let rows = text(folder.run(&["decompress", "t.b2d", "--format", "csv", "-o", "-"]));
    assert_eq!(rows.lines().filter(|line| line.starts_with("5,")).count(), 20, "{rows}");
}

#[test]
fn rows_that_do_not_fit_change_nothing() {
    let folder = Folder::new("table-append-refused");
    copy_tree(wild("plain.b2d").as_ref(), &folder.path("t.b2d"));
    let before = folder.run(&["decompress", "t.b2d", "--format", "jsonl", "-o", "-"]);
    let head = "id,x,n,text,when\n";
    for (name, rows, wanted) in [
        ("a.csv", "id,x,n,text\n1,,,\n".to_string(), "has no field for column when"),
        ("a.csv", "id,x,n,text,when,more\n1,,,,,\n".to_string(), "the table has no column more"),
        (
            "a.csv",
            format!("{head}1,,,,\n,,,,\n"),
            "a.csv: line 3, column id: null, and its schema allows no nulls",
        ),
        ("a.csv", format!("{head}40000,,,,\n"), "line 2, column id: "),
        ("a.csv", format!("{head}1.5,,,,\n"), "column id: "),
        ("a.csv", format!("{head}1,,-1,,\n"), "column n: is the value that stands for null"),
        ("a.csv", format!("{head}1,,,,2001-02-30T00:00:00\n"), "column when: "),
        ("a.csv", format!("{head}1,,,\n"), "line 2: 4 fields, but 5 names"),
        ("a.jsonl", "{\"id\":\"1\",\"x\":0,\"n\":0,\"text\":\"\",\"when\":0}\n".to_string(), "column id: "),
        ("a.txt", String::new(), ".csv, .jsonl, .arrow or .npz"),
    ] {
        folder.write(name, rows.as_bytes());
        let (_, said) = folder.fail(&["append", "t.b2d", name]);
        assert!(said.contains(wanted), "{rows:?}: {said}");
    }
    folder.write("a.csv", b"id\n1\n");
    for (table, wanted) in [("rows.b2frame", "frames inside a frame"), ("store.b2d", "cannot be changed")] {
        let (_, said) = folder.fail(&["append", &wild(table), "a.csv"]);
        assert!(said.contains(wanted), "{table}: {said}");
    }
    assert_eq!(folder.run(&["decompress", "t.b2d", "--format", "jsonl", "-o", "-"]), before);
    // Left open by its writer.
    folder.run(&["resize", "t.b2d/_cols/x.b2nd", "--shape", "2"]);
    folder.write("a.csv", format!("{head}1,,,,\n").as_bytes());
    assert!(folder.fail(&["append", "t.b2d", "a.csv"]).1.contains("column x has 2 rows, the table 4"));
}
