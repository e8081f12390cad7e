//! Rows as text, Arrow files and arrays that become tables, and come back; files as other programs write them.

use crate::common::{Folder, json};
use arrow_array::types::*;
use arrow_array::*;
use arrow_schema::{DataType, Field, Schema};
use serde_json::Value;
use std::sync::Arc;

fn lines(folder: &Folder, table: &str) -> String {
    String::from_utf8(folder.run(&["decompress", table, "--format", "jsonl", "-o", "-"])).unwrap()
}

/// Columns of every type that a table can be made with: extremes, and a null in row 3.
fn columns(nested: bool) -> Vec<(Field, ArrayRef)> {
    let mut all: Vec<(Field, ArrayRef)> = Vec::new();
    let mut add = |name: &str, array: ArrayRef| {
        let field = Field::new(name, array.data_type().clone(), true);
        all.push((field, array));
    };
    macro_rules! ints {
        ($($name:literal $array:ty, $native:ty;)*) => {
            $(add($name, Arc::new(<$array>::from_iter([
                Some(<$native>::MIN), Some(<$native>::MAX), Some(0), None, Some(1), Some(<$native>::MAX - 1),
            ])));)*
        };
    }
    ints! { "i8" Int8Array, i8; "i16" Int16Array, i16; "i32" Int32Array, i32; "i64" Int64Array, i64;
    "u8" UInt8Array, u8; "u16" UInt16Array, u16; "u32" UInt32Array, u32; "u64" UInt64Array, u64; }
    macro_rules! floats {
        ($($name:literal $array:ty, $native:ident;)*) => {
            $(add($name, Arc::new(<$array>::from_iter([
                Some($native::MIN), Some($native::MAX), Some(-0.0), None, Some($native::NAN), Some($native::INFINITY),
            ])));
            add(concat!($name, "b"), Arc::new(<$array>::from_iter([
                Some($native::NEG_INFINITY), Some($native::MIN_POSITIVE), Some(0.1), None, Some(1e-30), Some(3.0),
            ])));)*
        };
    }
    floats! { "f32" Float32Array, f32; "f64" Float64Array, f64; }
    add(
        "bool",
        Arc::new(BooleanArray::from(vec![
            Some(true),
            Some(false),
            Some(true),
            None,
            Some(false),
            Some(true),
        ])),
    );
    let texts =
        [Some(""), Some("a,\"b\"\n\r\nc"), Some(" x "), None, Some("ü漢\u{10ffff}\u{1}"), Some("null")];
    add("text", Arc::new(StringArray::from_iter(texts)));
    add("kind", Arc::new(DictionaryArray::<Int32Type>::from_iter(texts)));
    let bytes: [Option<&[u8]>; 6] = [Some(b""), Some(b"\0\xff"), Some(b"a"), None, Some(b"ab"), Some(b"\n")];
    add("bytes", Arc::new(BinaryArray::from_iter(bytes)));
    let counts = [Some(i64::MIN + 1), Some(i64::MAX), Some(0), None, Some(-1), Some(1)];
    for zone in [None, Some("UTC")] {
        let end = zone.unwrap_or("");
        let zoned = |array: &dyn Fn() -> ArrayRef| array();
        add(
            &format!("s{end}"),
            zoned(&|| Arc::new(TimestampSecondArray::from_iter(counts).with_timezone_opt(zone))),
        );
        add(
            &format!("ms{end}"),
            zoned(&|| Arc::new(TimestampMillisecondArray::from_iter(counts).with_timezone_opt(zone))),
        );
        add(
            &format!("us{end}"),
            zoned(&|| Arc::new(TimestampMicrosecondArray::from_iter(counts).with_timezone_opt(zone))),
        );
        add(
            &format!("ns{end}"),
            zoned(&|| Arc::new(TimestampNanosecondArray::from_iter(counts).with_timezone_opt(zone))),
        );
    }
    if nested {
        let lists = [
            Some(vec![Some(i64::MIN), Some(i64::MAX)]),
            Some(vec![]),
            Some(vec![None]),
            None,
            Some(vec![Some(0)]),
            Some(vec![]),
        ];
        add("ints", Arc::new(ListArray::from_iter_primitive::<Int64Type, _, _>(lists)));
        let lists = [
            Some(vec![Some(f64::NAN), Some(-0.0)]),
            Some(vec![]),
            Some(vec![None]),
            None,
            Some(vec![Some(f64::INFINITY)]),
            None,
        ];
        add("floats", Arc::new(ListArray::from_iter_primitive::<Float64Type, _, _>(lists)));
        let any =
            [Some("{\"a\":[1,null,\"\\u00fc\"]}"), Some("1"), Some("\"x\""), None, Some("true"), Some("[]")];
        let marks = [("ARROW:extension:name".to_string(), "arrow.json".to_string())];
        all.push((
            Field::new("any", DataType::Utf8, true).with_metadata(marks.into()),
            Arc::new(StringArray::from_iter(any)),
        ));
    }
    let items = Float32Array::from_iter_values((0..12).map(|k| k as f32 / 8.0));
    let grid = FixedSizeListArray::new(
        Arc::new(Field::new("item", DataType::Float32, false)),
        2,
        Arc::new(items),
        None,
    );
    all.push((Field::new("grid", grid.data_type().clone(), false), Arc::new(grid)));
    all
}

fn write_arrow(folder: &Folder, name: &str, columns: Vec<(Field, ArrayRef)>, rows: usize) {
    let (fields, arrays): (Vec<Field>, Vec<ArrayRef>) = columns.into_iter().unzip();
    let schema = Arc::new(Schema::new(fields));
    let batch = RecordBatch::try_new(Arc::clone(&schema), arrays).unwrap().slice(0, rows);
    let file = std::fs::File::create(folder.path(name)).unwrap();
    let mut writer = arrow_ipc::writer::FileWriter::try_new(file, &schema).unwrap();
    writer.write(&batch).unwrap();
    writer.finish().unwrap();
}

/// Types x forms: every value of a table comes back from what it is written as.
#[test]
fn what_is_written_is_read() {
    let folder = Folder::new("table-round");
    for (nested, store) in [(false, "b2d"), (true, "b2z")] {
        let name = |what: &str| format!("{what}{nested}.{store}");
        write_arrow(&folder, "all.arrow", columns(nested), 6);
        write_arrow(&folder, "none.arrow", columns(nested), 0);
        folder.run(&["compress", "all.arrow", "-o", &name("all")]);
        folder.run(&["verify", &name("all")]);
        let wanted = lines(&folder, &name("all"));
        assert_eq!(wanted.lines().count(), 6);
        let extreme = "\"ns\":\"1677-09-21T00:12:43.145224193\"";
        assert!(
            wanted.contains(extreme) && wanted.contains("-0.0") && wanted.contains("18446744073709551615"),
            "{wanted}"
        );
        for form in ["csv", "jsonl", "arrow", "npz"] {
            if nested && form == "npz" {
                continue;
            }
            let (file, table) = (format!("rows.{form}"), name(form));
            folder.run(&["decompress", &name("all"), "-o", &file, "--force"]);
            folder.run(&["compress", "none.arrow", "-o", &table]);
            folder.run(&["append", &table, &file]);
            folder.run(&["append", &table, &file]);
            assert_eq!(lines(&folder, &table), wanted.repeat(2), "{table}");
            folder.run(&["verify", &table]);
        }
    }
}

#[test]
fn files_become_tables() {
    let folder = Folder::new("table-made");
    let csv = "id,x,flag,name,when,code\n1,0.5,true,\"a,b\",2001-02-03 04:05:06,007\n2,,false,,2001-02-03T04:05:06.5,12\n";
    folder.write("a.csv", csv.as_bytes());
    let jsonl = "{\"id\":1,\"l\":[1,null],\"o\":{\"k\":\"\\u00fc\"}}\n{\"id\":-2,\"l\":null,\"o\":[1]}\n";
    folder.write("b.jsonl", jsonl.as_bytes());
    folder.write("none.csv", b"a,b\n");
    let types = |table: &str| {
        let columns = json(&folder.run(&["info", table, "--json"]))["table"]["columns"].clone();
        columns
            .as_array()
            .unwrap()
            .iter()
            .map(|column| column["type"].as_str().unwrap().to_string())
            .collect::<Vec<_>>()
    };
    for store in ["b2d", "b2z"] {
        let table = |name: &str| format!("{name}.{store}");
        folder.run(&["compress", "a.csv", "-o", &table("a")]);
        assert_eq!(types(&table("a")), ["int64", "float64", "bool", "utf8", "timestamp", "utf8"]);
        let rows: Vec<Value> =
            lines(&folder, &table("a")).lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        assert_eq!(
            rows[1],
            serde_json::json!({
                "id": 2, "x": null, "flag": false, "name": null, "when": "2001-02-03T04:05:06.500", "code": "12",
            })
        );
        folder.run(&["append", &table("a"), "a.csv"]);
        assert_eq!(lines(&folder, &table("a")).lines().count(), 4);
        folder.run(&["compress", "b.jsonl", "-o", &table("b")]);
        assert_eq!(
            (types(&table("b")), lines(&folder, &table("b"))),
            (["int64", "list", "object"].map(String::from).to_vec(), jsonl.into())
        );
        folder.run(&["compress", "none.csv", "-o", &table("none")]);
        assert_eq!(lines(&folder, &table("none")), "");
        for table in ["a", "b", "none"].map(table) {
            folder.run(&["verify", &table]);
        }
        let (_, said) = folder.fail(&["compress", "a.csv", "-o", &table("a")]);
        assert!(said.contains("exists; --force replaces it"), "{said}");
    }
    // Nothing is left of what could not be made.
    let before = folder.names();
    folder.write("a.jsonl", b"{\"a\":1}\n{\"a\":1,\"a\":2}\n");
    folder.write("b.csv", b"a..b,c\n1,2\n");
    for (words, wanted) in [
        (&["compress", "a.jsonl", "-o", "x.b2d"][..], "line 2: an object has two values of one name"),
        (&["compress", "b.csv", "-o", "x.b2z"], "column a..b: its name"),
        (
            &["compress", "a.csv", "-o", "x.b2d", "--codec", "zstd"],
            "--codec: does not apply to the columns of a table",
        ),
    ] {
        let (_, said) = folder.fail(words);
        assert!(said.contains(wanted), "{said}");
    }
    let left: Vec<String> = folder
        .names()
        .into_iter()
        .filter(|n| !before.contains(n) && n != "a.jsonl" && n != "b.csv")
        .collect();
    assert!(left.is_empty(), "{left:?}");
}

#[test]
fn files_of_other_programs_are_taken() {
    let folder = Folder::new("table-others");
    folder.write("t.csv", b"id,x,flag,name,when\n1,0.5,true,a,2001-02-03T04:05:06\n");
    for (k, (program, text)) in [
        (
            "Excel",
            "\u{feff}id,x,flag,name,when\r\n7,0.5,TRUE,\"a \"\"b\"\"\",2001-02-03 04:05:06\r\n8,,FALSE,,\r\n",
        ),
        (
            "pandas",
            ",id,x,flag,name,when\n0,7.0,0.5,True,\"a \"\"b\"\"\",2001-02-03 04:05:06\n1,8.0,,False,,\n",
        ),
        (
            "pandas without an index",
            "id,x,flag,name,when\n7,0.5,True,\"a \"\"b\"\"\",2001-02-03\n8,,False,,\n",
        ),
        ("DuckDB", "id,x,flag,name,when\n7,0.5,true,\"a \"\"b\"\"\",2001-02-03 04:05:06\n8,,false,,\n\n"),
    ]
    .into_iter()
    .enumerate()
    {
        let table = format!("t{k}.b2d");
        folder.run(&["compress", "t.csv", "-o", &table]);
        folder.write("new.csv", text.as_bytes());
        folder.run(&["append", &table, "new.csv"]);
        let all = lines(&folder, &table);
        let time = if program.ends_with("index") { "00:00:00" } else { "04:05:06" };
        let wanted = format!(
            "{{\"id\":7,\"x\":0.5,\"flag\":true,\"name\":\"a \\\"b\\\"\",\"when\":\"2001-02-03T{time}\"}}\n\
             {{\"id\":8,\"x\":null,\"flag\":false,\"name\":null,\"when\":null}}\n"
        );
        assert_eq!(all.split_once('\n').unwrap().1, wanted, "{program}");
    }
}

#[test]
fn what_text_would_lose_is_refused_by_line_and_column() {
    let folder = Folder::new("table-refusals");
    let first = "{\"id\":1,\"x\":0.5,\"name\":\"a\",\"l\":[1],\"o\":{}}";
    folder.write("t.jsonl", format!("{first}\n").as_bytes());
    folder.run(&["compress", "t.jsonl", "-o", "t.b2d"]);
    folder.write("w.csv", b"when,utc,n\n2001-02-03T04:05:06,2001-02-03T04:05:06Z,1\n");
    folder.run(&["compress", "w.csv", "-o", "w.b2d"]);
    let csv = "when,utc,n\n";
    for (table, file, text, wanted) in [
        (
            "t.b2d",
            "a.jsonl",
            format!("{first}\n{{\"id\":1,\"x\":0.5,\"name\":\"\\ud800\",\"l\":[],\"o\":1}}\n"),
            "line 2: half of a surrogate pair",
        ),
        (
            "t.b2d",
            "a.jsonl",
            format!("{first}\n\n{{\"id\":1,\"id\":2}}\n"),
            "line 2: is empty, and rows follow",
        ),
        ("t.b2d", "a.jsonl", "{\"id\":1,\"id\":1}\n".into(), "line 1: an object has two values of one name"),
        (
            "t.b2d",
            "a.jsonl",
            first.replace("{}", "{\"k\":1,\"k\":1}"),
            "line 1: an object has two values of one name",
        ),
        ("t.b2d", "a.jsonl", first.replace(":1,", ":1.5,"), "line 1, column id: 1.5 is no int64"),
        ("t.b2d", "a.jsonl", first.replace("0.5", "1e999"), "line 1, column x: 1e999 is no float64"),
        ("t.b2d", "a.jsonl", first.replace("[1]", "[\"1\"]"), "line 1, column l: \"1\" is no int64"),
        (
            "w.b2d",
            "a.csv",
            format!("{csv}2001-02-03T04:05:06Z,2001-02-03T04:05:06Z,1\n"),
            "line 2, column when: \"2001-02-03T04:05:06Z\" has a time zone, and its column has none",
        ),
        (
            "w.b2d",
            "a.csv",
            format!("{csv},\"2001-02-03 04:05:06\",1\n"),
            "column utc: \"2001-02-03 04:05:06\" has no time zone",
        ),
        (
            "w.b2d",
            "a.csv",
            format!("{csv},,1\n2001-02-03T04:05:06.5,,1\n"),
            "line 3, column when: \"2001-02-03T04:05:06.5\" is finer than the unit of its column, s",
        ),
        ("w.b2d", "a.csv", format!("{csv},,x\n"), "line 2, column n: \"x\" is no int64"),
        (
            "w.b2d",
            "a.csv",
            format!("{csv},,9223372036854775808\n"),
            "line 2, column n: \"9223372036854775808\" is no int64",
        ),
        ("w.b2d", "a.csv", "when,utc,n,when\n,,1,\n".into(), "line 1: two fields are called \"when\""),
    ] {
        folder.write(file, text.as_bytes());
        let before = lines(&folder, table);
        let (status, said) = folder.fail(&["append", table, file]);
        assert!(status == 1 && said.contains(wanted), "{text}: {said}");
        for form in ["Any(", "Text(", "Number(", "Some(", "Null"] {
            assert!(!said.contains(form), "{said}");
        }
        assert_eq!(lines(&folder, table), before);
    }
    // Offsets and spaces are taken.
    folder.write("a.csv", format!("{csv}2001-02-03 04:05:06,2001-02-03 05:05:06+01:00,1.0\n").as_bytes());
    folder.run(&["append", "w.b2d", "a.csv"]);
    let all = lines(&folder, "w.b2d");
    assert_eq!(
        all,
        "{\"when\":\"2001-02-03T04:05:06\",\"utc\":\"2001-02-03T04:05:06Z\",\"n\":1}\n".repeat(2)
    );
}

/// A process has 1,024 descriptors, or fewer.
#[cfg(unix)]
#[test]
fn tables_of_many_columns_need_few_descriptors() {
    let folder = Folder::new("table-wide");
    let names: Vec<String> = (0..60).map(|k| format!("c{k}")).collect();
    let row = |k: usize| {
        (0..60)
            .map(|c| if c % 7 == k % 7 { String::new() } else { (k * c).to_string() })
            .collect::<Vec<_>>()
            .join(",")
    };
    let file: String = [names.join(","), row(0), row(1)].map(|line| line + "\n").concat();
    folder.write("w.csv", file.as_bytes());
    let few = |words: &[&str]| {
        let command = "ulimit -n 90; exec \"$0\" \"$@\"";
        let run = std::process::Command::new("sh")
            .current_dir(folder.path(""))
            .args(["-c", command, env!("CARGO_BIN_EXE_blosc")])
            .args(words)
            .output();
        let run = run.unwrap();
        assert!(run.status.success(), "{words:?}: {}", String::from_utf8_lossy(&run.stderr));
    };
    for table in ["w.b2d", "w.b2z"] {
        few(&["compress", "w.csv", "-o", table]);
        few(&["append", table, "w.csv"]);
        few(&["decompress", table, "-o", "x.csv", "--force"]);
        few(&["verify", table]);
        let wanted: String =
            [names.join(","), row(0), row(1), row(0), row(1)].map(|line| line + "\n").concat();
        assert!(String::from_utf8(folder.read("x.csv")).unwrap() == wanted);
    }
}
