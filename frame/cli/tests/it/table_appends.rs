//! Rows appended to tables of python-blosc2, which `frame/tests/interop/tables.py` has python-blosc2 read, too.

use crate::common::Folder;
use serde_json::{Value, json};
use std::path::Path;

fn wild(name: &str) -> String {
    format!("{}/../tests/fixtures/wild/{name}", env!("CARGO_MANIFEST_DIR"))
}

fn lines(folder: &Folder, table: &str) -> Vec<Value> {
    let bytes = folder.run(&["decompress", table, "--format", "jsonl", "-o", "-"]);
    String::from_utf8(bytes).unwrap().lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// The members of a `.b2z` file as a directory.
fn unzip(from: &str, to: &Path) {
    let mut archive = zip::ZipArchive::new(std::fs::File::open(from).unwrap()).unwrap();
    archive.extract(to).unwrap();
}

/// The fields of row `k` of the tables in `tree.b2z`.
fn row(k: i64) -> Value {
    let hex: String = (0..k).map(|b| format!("{b:02x}")).collect();
    json!({
        "id": k, "kind": if k % 2 == 0 { "a" } else { "b" }, "text": "ü".repeat(k as usize), "free": k.to_string(), "blob": hex,
        "many": vec![k as f64 / 4.0; k as usize], "words": ["p", k.to_string()], "any": [k, {"k": null}],
        "when": format!("1970-01-01T00:00:00.{k:03}Z"), "grid": [[k, k], [k, k]],
    })
}

/// A row with nulls wherever they may be, and a text that the dictionary has not.
fn sparse(k: i64) -> Value {
    let mut row = row(k);
    for (name, value) in row.as_object_mut().unwrap() {
        match name.as_str() {
            "id" | "grid" => {}
            "kind" => *value = "new".into(),
            _ => *value = Value::Null,
        }
    }
    row
}

fn write_jsonl(folder: &Folder, name: &str, rows: &[Value]) {
    let text: String = rows.iter().map(|row| format!("{row}\n")).collect();
    folder.write(name, text.as_bytes());
}

#[test]
fn columns_of_every_length_in_stores_of_both_kinds() {
    let folder = Folder::new("append-lengths");
    unzip(&wild("tree.b2z"), &folder.path("s.b2d"));
    std::fs::copy(wild("tree.b2z"), folder.path("s.b2z")).unwrap();
    let new = [row(3), sparse(4), row(5)];
    write_jsonl(&folder, "a.jsonl", &new);
    for store in ["s.b2d", "s.b2z"] {
        for (table, old) in [("/g/t", 3), ("/none", 0)] {
            let name = format!("{store}:{table}");
            folder.run(&["append", &name, "a.jsonl"]);
            let mut wanted: Vec<Value> = (0..old).map(row).chain(new.clone()).collect();
            assert_eq!(lines(&folder, &name), wanted, "{name}");
            // What the rows become comes back in every form that holds all of them.
            folder.run(&["decompress", &name, "-o", "t.csv", "--force"]);
            folder.run(&["decompress", &name, "-o", "t.arrow", "--force"]);
            for file in ["t.csv", "t.arrow"] {
                folder.run(&["append", &name, file]);
                wanted.extend(wanted.clone());
                if file == "t.csv" {
                    assert_eq!(lines(&folder, &name), wanted, "{name} {file}");
                    folder.run(&["decompress", &name, "-o", "t.arrow", "--force"]);
                }
            }
            assert_eq!(lines(&folder, &name), wanted, "{name}");
        }
        // Nothing else has changed.
        let bytes = folder.run(&["decompress", &format!("{store}:/x"), "-o", "-"]);
        assert_eq!(bytes, [0i64, 1, 2].map(i64::to_le_bytes).concat());
        folder.run(&["verify", store]);
    }
    let names: Vec<String> = folder.names().into_iter().filter(|name| name.starts_with('.')).collect();
    assert!(names.is_empty(), "{names:?}");
}

#[test]
fn npz_files_have_a_member_or_a_field_for_each_column() {
    let folder = Folder::new("append-npz");
    super::tables::copy_tree(wild("plain.b2d").as_ref(), &folder.path("p.b2d"));
    let old = lines(&folder, "p.b2d");
    folder.run(&["decompress", "p.b2d", "-o", "p.npz"]);
    folder.run(&["append", "p.b2d", "p.npz"]);
    assert_eq!(lines(&folder, "p.b2d"), [old.clone(), old].concat());
    // One member whose items have fields: i4, f4, >i8, <U2 and times of milliseconds.
    let descr = "[('id', '<i4'), ('x', '<f4'), ('n', '>i8'), ('text', '<U2'), ('when', '<M8[ms]')]";
    let mut header = format!("{{'descr': {descr}, 'fortran_order': False, 'shape': (1,), }}");
    while (header.len() + 11) % 64 != 0 {
        header.push(' ');
    }
    header.push('\n');
    let npy = |when: i64| {
        let mut npy = b"\x93NUMPY\x01\x00".to_vec();
        npy.extend((header.len() as u16).to_le_bytes());
        npy.extend(header.as_bytes());
        npy.extend([&9i32.to_le_bytes()[..], &0.1f32.to_le_bytes(), &(-7i64).to_be_bytes()].concat());
        npy.extend("ü".chars().chain(['\0']).flat_map(|c| u32::from(c).to_le_bytes()));
        npy.extend(when.to_le_bytes());
        npy
    };
    let npz = |name: &str, members: &[(&str, Vec<u8>)]| {
        let mut archive = zip::ZipWriter::new(std::fs::File::create(folder.path(name)).unwrap());
        for (name, bytes) in members {
            archive.start_file(*name, zip::write::SimpleFileOptions::default()).unwrap();
            std::io::Write::write_all(&mut archive, bytes).unwrap();
        }
        archive.finish().unwrap();
    };
    npz("s.npz", &[("arr_0.npy", npy(5000))]);
    folder.run(&["append", "p.b2d", "s.npz"]);
    let wanted =
        json!({"id": 9, "x": f64::from(0.1f32), "n": -7, "text": "ü", "when": "1970-01-01T00:00:05"});
    assert_eq!(lines(&folder, "p.b2d").last(), Some(&wanted));
    npz("half.npz", &[("arr_0.npy", npy(5001))]);
    npz("two.npz", &[("id.npy", npy(0)), ("x.npy", npy(0))]);
    npz("text.npz", &[("id.txt", Vec::new())]);
    let mut cut = npy(0);
    cut.pop();
    npz("cut.npz", &[("arr_0.npy", cut)]);
    folder.write("no.npz", b"PK");
    for (file, wanted) in [
        ("half.npz", "column when: "),
        ("two.npz", "id: items of type"),
        ("text.npz", "id.txt is no array"),
        ("cut.npz", "longer or shorter than its header says"),
        ("no.npz", "no.npz"),
    ] {
        let (_, said) = folder.fail(&["append", "p.b2d", file]);
        assert!(said.contains(wanted), "{file}: {said}");
    }
    assert_eq!(lines(&folder, "p.b2d").last(), Some(&wanted));
}

#[test]
fn what_does_not_fit_is_refused_by_name() {
    let folder = Folder::new("append-lengths-refused");
    std::fs::copy(wild("tree.b2z"), folder.path("s.b2z")).unwrap();
    let before = folder.read("s.b2z");
    let fails = |rows: &[Value], wanted: &str| {
        write_jsonl(&folder, "a.jsonl", rows);
        let (_, said) = folder.fail(&["append", "s.b2z:/g/t", "a.jsonl"]);
        assert!(said.contains(wanted), "{said}");
    };
    for (column, value, wanted) in [
        ("words", json!(["long"]), "is longer than 3"),
        ("words", json!([1]), "1 is no text"),
        ("words", json!([null]), "null is no string"),
        ("many", json!(["x"]), "no float32"),
        ("many", json!(5), "column many: "),
        ("blob", json!("f"), "column blob: "),
        ("free", json!(1), "column free: "),
        ("grid", json!([[1, 2]]), "has not 2 entries"),
        ("grid", json!([[1, 2], [3, 40000]]), "column grid: "),
        ("grid", Value::Null, "null, and its schema allows no nulls"),
        ("when", json!("1970-01-01T00:00:00.000"), "column when: "),
    ] {
        let mut wrong = row(1);
        wrong[column] = value;
        fails(&[row(0), wrong], wanted);
    }
    // A row that is read after others have been written to the copy.
    let mut late = vec![row(0); 40_000];
    late.push(json!({"id": 1}));
    fails(&late, "line 40001: has other fields");
    assert!(folder.read("s.b2z") == before);
    for (table, wanted) in [
        ("rows.b2frame", "frames inside a frame"),
        ("rows.b2z", "column quick keeps its lists as Arrow streams"),
    ] {
        let (_, said) = folder.fail(&["append", &wild(table), "a.jsonl"]);
        assert!(said.contains(wanted), "{table}: {said}");
    }
    // An Arrow file whose footer asks for more than there is.
    folder.run(&["decompress", "s.b2z:/g/t", "-o", "t.arrow"]);
    let whole = folder.read("t.arrow");
    for at in (0..whole.len()).step_by(41) {
        let mut damaged = whole.clone();
        damaged[at] ^= 0xff;
        folder.write("d.arrow", &damaged);
        let (status, _, said) = folder.status(&["append", "s.b2z:/g/t", "d.arrow"], &[]);
        assert!(status <= 1 && !said.contains("panicked"), "byte {at}: {status} {said}");
    }
    lines(&folder, "s.b2z:/g/t");
}

/// python-blosc2 cuts arrays behind the last row that lives, and leaves texts and lists as they are.
#[test]
fn rows_that_were_deleted_at_the_end_stay_deleted() {
    let folder = Folder::new("append-deleted");
    super::tables::copy_tree(wild("plain.b2d").as_ref(), &folder.path("p.b2d"));
    unzip(&wild("tree.b2z"), &folder.path("s.b2d"));
    for (table, keep) in [("p.b2d", 2), ("s.b2d/g/t", 2)] {
        for array in ["_valid_rows", "_cols/id"] {
            folder.run(&["resize", &format!("{table}/{array}.b2nd"), "--shape", &keep.to_string()]);
        }
    }
    folder.run(&["resize", "s.b2d/g/t/_cols/text.b2nd", "--shape", "3"]);
    let old = lines(&folder, "p.b2d");
    folder.write("a.csv", b"id,x,n,text,when\n9,,,z,\n");
    folder.run(&["append", "p.b2d", "a.csv"]);
    let new = json!({"id": 9, "x": null, "n": null, "text": "z", "when": null});
    assert_eq!(lines(&folder, "p.b2d"), [old, vec![new]].concat());
    write_jsonl(&folder, "a.jsonl", &[row(7)]);
    folder.run(&["append", "s.b2d:/g/t", "a.jsonl"]);
    assert_eq!(lines(&folder, "s.b2d:/g/t"), [row(0), row(1), row(7)]);
    folder.run(&["verify", "s.b2d"]);
}

#[cfg(unix)]
#[test]
fn appends_to_a_zip_file_at_the_same_time_lose_no_row() {
    let folder = Folder::new("append-zip-parallel");
    std::fs::copy(wild("tree.b2z"), folder.path("s.b2z")).unwrap();
    write_jsonl(&folder, "a.jsonl", &[row(1)]);
    std::thread::scope(|scope| {
        for table in ["/g/t", "/none", "/g/t"] {
            let name = format!("s.b2z:{table}");
            let folder = &folder;
            scope.spawn(move || {
                (0..4).for_each(|_| drop(folder.run(&["append", &name, "a.jsonl", "--lock"])))
            });
        }
    });
    assert_eq!(lines(&folder, "s.b2z:/g/t").len(), 3 + 8);
    assert_eq!(lines(&folder, "s.b2z:/none").len(), 4);
}

/// Members of a zip file that would not lie in their folder, or that lie one over the other.
#[test]
fn hostile_stores_are_refused() {
    let folder = Folder::new("append-hostile");
    let whole = std::fs::read(wild("tree.b2z")).unwrap();
    write_jsonl(&folder, "a.jsonl", &[row(1)]);
    // Both copies of a name are exchanged: in the member and in the list at the end.
    let renamed = |from: &[u8], to: &[u8]| {
        let mut bytes = whole.clone();
        for at in 0..bytes.len() - from.len() {
            if bytes[at..].starts_with(from) {
                bytes[at..at + to.len()].copy_from_slice(to);
            }
        }
        bytes
    };
    for (from, to) in [(&b"g/t/_cols/id.b2nd"[..], &b"g/t/../../../i.b2"[..]), (b"x.b2nd", b"../b2d")] {
        folder.write("s.b2z", &renamed(from, to));
        let (status, _, said) = folder.status(&["append", "s.b2z:/g/t", "a.jsonl"], &[]);
        assert!(!said.contains("panicked") && (from == b"x.b2nd" || status == 1), "{status} {said}");
        assert_eq!(folder.names(), ["a.jsonl", "s.b2z"]);
    }
}

/// Nothing says how many rows such a table has.
#[test]
fn a_table_without_columns_is_named_as_such() {
    use blosc_frame::value::{TextLimits, Value};
    use blosc_frame::{Limits, SuperChunk, msgpack};
    let folder = Folder::new("no-columns");
    super::tables::copy_tree(wild("plain.b2d").as_ref(), &folder.path("p.b2d"));
    let file = blosc_frame::io::PathFile::open_rw(folder.path("p.b2d/_meta.b2f")).unwrap();
    let mut frame = SuperChunk::open(file, &Limits::DEFAULT).unwrap();
    let text = msgpack::to_value(&frame.vlmetalayer("schema").unwrap().unwrap()).unwrap();
    let mut schema = Value::parse_json(text.as_text().unwrap().as_bytes(), &TextLimits::JSON).unwrap();
    schema.set("columns", Value::List(Vec::new()));
    frame.set_vlmetalayer("schema", &msgpack::from_value(&Value::text(schema.to_json()))).unwrap();
    frame.commit().unwrap();
    drop(frame);
    let (_, said) = folder.fail(&["decompress", "p.b2d", "-o", "p.csv"]);
    assert!(said.contains("p.b2d: the table has no columns\n"), "{said}");
    folder.write("a.jsonl", b"{}\n");
    let before = folder.read("p.b2d/_valid_rows.b2nd");
    let (_, said) = folder.fail(&["append", "p.b2d", "a.jsonl"]);
    assert!(said.contains("is not appended to: it has no columns"), "{said}");
    assert_eq!(folder.read("p.b2d/_valid_rows.b2nd"), before);
}
