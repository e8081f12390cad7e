//! The command on bloscpack files, bcolz and Blaze directories, from outside.

mod fortran;

use crate::inputs::tree;
use std::path::PathBuf;
use std::process::{Command, Output};
use tempfile::TempDir;

struct Place(TempDir);

impl Place {
    fn new() -> Place {
        Place(TempDir::new().unwrap())
    }
    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }
    fn run(&self, words: &str) -> Output {
        let words = words.split_whitespace();
        Command::new(env!("CARGO_BIN_EXE_blosc")).args(words).current_dir(self.0.path()).output().unwrap()
    }
    /// Runs a command that must succeed; returns what it prints.
    fn ok(&self, words: &str) -> Vec<u8> {
        let out = self.run(words);
        assert!(out.status.success(), "{words}: {}", String::from_utf8_lossy(&out.stderr));
        out.stdout
    }
    /// Runs a command that must fail with a message; returns that.
    fn fails(&self, words: &str) -> String {
        let out = self.run(words);
        let text = String::from_utf8_lossy(&out.stderr).into_owned();
        assert!(matches!(out.status.code(), Some(1 | 2)) && text.starts_with("blosc: "), "{words}: {text:?}");
        assert!(!text.contains("panicked"), "{words}: {text}");
        text
    }
    fn write(&self, name: &str, content: &[u8]) {
        std::fs::write(self.path(name), content).unwrap();
    }
    fn info(&self, name: &str) -> serde_json::Value {
        serde_json::from_slice(&self.ok(&format!("info {name} --json"))).unwrap()
    }
}

fn numbers(range: std::ops::Range<i32>) -> Vec<u8> {
    range.flat_map(i32::to_le_bytes).collect()
}

fn npy(name: &str, descr: &str, shape: &str, items: &[u8], place: &Place) {
    let text = format!("{{'descr': {descr}, 'fortran_order': False, 'shape': {shape}, }}");
    let pad = (64 - (10 + text.len() + 1) % 64) % 64;
    let mut file = b"\x93NUMPY\x01\x00".to_vec();
    file.extend(((text.len() + pad + 1) as u16).to_le_bytes());
    file.extend(text.bytes().chain(std::iter::repeat_n(b' ', pad)).chain(*b"\n"));
    file.extend(items);
    place.write(name, &file);
}

/// Titles of fields, which bcolz and Blaze do not keep, are not left out without a word.
#[test]
fn titles_of_fields_are_left_out_where_that_is_asked_for() {
    let place = Place::new();
    npy("t.npy", "[(('Title', 'a'), '<i4')]", "(2,)", &numbers(0..2), &place);
    for words in ["compress t.npy -o t.bcolz", "convert t.npy -o t --format blaze"] {
        assert!(place.fails(words).contains("title"), "{words}");
        place.ok(&format!("{words} --partial"));
    }
    place.ok("compress t.npy -o t.blp");
    place.ok("decompress t.blp -o back.npy");
    assert!(place.ok("info back.npy").windows(5).any(|text| text == b"Title"));
}

/// How each kind of container is made from the file `raw`, and its name.
const KINDS: [(&str, &str); 4] = [
    ("x.blp", "--typesize 4 --chunksize 400 --max-app 50"),
    ("column", "--format bcolz --dtype <i4 --chunksize 400"),
    ("set", "--format blaze --dtype <i4 --chunksize 400 --superchunk 3"),
    ("yaml", "--format blaze --dtype <i4 --chunksize 400 --meta yaml"),
];

/// A chunk of 16 MiB in a few bytes: what edits it is held to the limits, as what reads it is.
#[test]
fn edits_are_held_to_the_limits() {
    let place = Place::new();
    place.write("raw", &vec![0; 16 << 20]);
    place.write("one", &numbers(7..8));
    for (name, options) in [
        ("x.blp", "--typesize 4 --chunksize 16M"),
        ("column", "--format bcolz --dtype <i4 --chunksize 16M"),
        ("set", "--format blaze --dtype <i4 --chunksize 16M"),
    ] {
        place.ok(&format!("compress raw -o {name} {options}"));
        let edits = [
            format!("set {name} one --start 10 --stop 11"),
            format!("insert {name} one --at 3"),
            format!("delete {name} --start 3 --stop 4"),
            format!("trim {name} 3"),
            format!("resize {name} --shape 100"),
        ];
        let before = tree(&place.path("."));
        for edit in &edits {
            // Where chunks lie in files of their own, rows are cut off without looking at what stays.
            if name != "x.blp" && (edit.starts_with("trim") || edit.starts_with("resize")) {
                continue;
            }
            let text = place.fails(&format!("{edit} --max-output 1M"));
            assert!(text.contains("--max-output"), "{edit}: {text}");
            assert_eq!(tree(&place.path(".")), before, "{edit}");
        }
        assert!(place.fails(&format!("append {name} one --offset 3")).contains("--offset"), "{name}");
        for edit in &edits {
            place.ok(&format!("{edit} --max-output none"));
        }
    }
}

#[test]
fn rows_are_changed_in_every_container() {
    let place = Place::new();
    place.write("raw", &numbers(0..1000));
    place.write("more", &numbers(5000..5150));
    for (name, options) in KINDS {
        place.ok(&format!("compress raw -o {name} {options}"));
        let mut model = numbers(0..1000);
        let check = |model: &[u8], what: &str| {
            assert!(place.ok(&format!("decompress {name} -o -")) == model, "{name} after {what}");
            place.ok(&format!("verify {name}"));
            assert_eq!(place.info(name)["nbytes"], model.len(), "{name} after {what}");
        };
        check(&model, "compress");
        place.ok(&format!("append {name} more"));
        model.extend(numbers(5000..5150));
        check(&model, "append");
        place.ok(&format!("set {name} more --start 33"));
        model[132..732].copy_from_slice(&numbers(5000..5150));
        check(&model, "set");
        place.ok(&format!("insert {name} more --at 990"));
        model.splice(3960..3960, numbers(5000..5150));
        check(&model, "insert");
        place.ok(&format!("delete {name} --start 10 --stop 500"));
        model.drain(40..2000);
        check(&model, "delete");
        place.ok(&format!("trim {name} 7"));
        model.truncate(model.len() - 28);
        check(&model, "trim");
        place.ok(&format!("resize {name} --shape 900"));
        model.resize(3600, 0);
        check(&model, "growth");
        place.ok(&format!("resize {name} --shape 150"));
        model.truncate(600);
        check(&model, "shrinking");
        assert_eq!(place.ok(&format!("slice {name} -o - --start 3 --stop 8")), model[12..32]);
        for bad in [
            "trim NAME 151",
            "delete NAME --start 0 --stop 151",
            "set NAME more --start 100",
            "append NAME nowhere",
        ] {
            place.fails(&bad.replace("NAME", name));
        }
        place.fails(&format!("set {name} more --start 0 --stop 7"));
        place.fails(&format!("set {name} more --step 2"));
        place.fails(&format!("insert {name} more --at 151"));
        check(&model, "what was refused");
    }
    place.write("odd", &[1, 2, 3]);
    for name in ["column", "set"] {
        assert!(place.fails(&format!("append {name} odd")).contains("whole rows"));
    }
}

#[test]
fn items_of_another_type_are_refused() {
    let place = Place::new();
    npy("a.npy", "'<i4'", "(10, 3)", &numbers(0..30), &place);
    npy("rows.npy", "'<i4'", "(2, 3)", &numbers(30..36), &place);
    npy("type.npy", "'<f4'", "(2, 3)", &numbers(30..36), &place);
    npy("shape.npy", "'<i4'", "(3, 2)", &numbers(30..36), &place);
    for format in ["bloscpack", "bcolz", "blaze"] {
        place.ok(&format!("compress a.npy -o {format} --format {format}"));
        place.ok(&format!("append {format} rows.npy"));
        assert_eq!(place.info(format)["shape"], serde_json::json!([12, 3]), "{format}");
        assert!(place.fails(&format!("append {format} type.npy")).contains("items of <f4"));
        assert!(place.fails(&format!("append {format} shape.npy")).contains("rows of shape"));
        assert_eq!(place.ok(&format!("decompress {format} -o -")), numbers(0..36));
    }
}

#[test]
fn changes_in_place_keep_every_file_as_large_as_it_was() {
    let place = Place::new();
    place.write("raw", &numbers(0..2000));
    place.write("few", &numbers(-10..0));
    let noise: Vec<u8> = (0..4000u64).map(|i| (i.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40) as u8).collect();
    place.write("noise", &noise);
    for (name, options) in KINDS {
        place.ok(&format!("compress raw -o {name} {} --reserve 200", options.replace("400", "4000")));
        let path = place.path(name);
        let files = || tree(&path);
        let sizes = || {
            files()
                .into_iter()
                .filter(|(p, _)| !p.ends_with("sizes"))
                .map(|(p, f)| (p, f.len()))
                .collect::<Vec<_>>()
        };
        let before = sizes();
        place.ok(&format!("set {name} few --start 995 --in-place"));
        let mut model = numbers(0..2000);
        model[995 * 4..1005 * 4].copy_from_slice(&numbers(-10..0));
        assert!(place.ok(&format!("decompress {name} -o -")) == model, "{name}");
        assert_eq!(sizes(), before, "{name}");
        place.ok(&format!("verify {name}"));
        let before = files();
        place.fails(&format!("set {name} noise --start 800 --in-place"));
        assert!(files() == before, "{name}: a change that did not fit left its traces");
        place.ok(&format!("set {name} few --start 0 --reserve 64"));
        model[..40].copy_from_slice(&numbers(-10..0));
        assert!(place.ok(&format!("decompress {name} -o -")) == model, "{name}");
    }
}

#[test]
fn columns_come_go_and_are_renamed() {
    let place = Place::new();
    let rows: Vec<u8> = (0..50i32)
        .flat_map(|i| [i.to_le_bytes().as_slice(), &(f64::from(i)).to_le_bytes()].concat())
        .collect();
    npy("t.npy", "[('a', '<i4'), ('b', '<f8')]", "(50,)", &rows, &place);
    place.ok("compress t.npy -o table --format bcolz");
    place.write("new", &numbers(100..150));
    npy("wide.npy", "'<i2'", "(50, 2)", &[7; 200], &place);
    place.ok("column add table c new --dtype <i4");
    place.ok("column add table w wide.npy");
    place.ok("column mv table c number");
    assert_eq!(place.ok("decompress table -o - --column number"), numbers(100..150));
    assert_eq!(place.ok("slice table -o - --column number --start 3 --stop 5"), numbers(103..105));
    assert_eq!(place.ok("decompress table -o - --column w"), [7; 200]);
    let packed = place.ok("slice table -o - --start 1 --stop 2");
    assert_eq!(packed, [rows[12..24].to_vec(), numbers(101..102), vec![7; 4]].concat());
    place.ok("column rm table w");
    assert!(!place.path("table/w").exists());
    let before = tree(&place.path("table"));
    for name in
        ["..", "../evil", "/evil", "a/b", "data", "meta", "__attrs__", "__rootdirs__", "__pending__", "a"]
    {
        place.fails(&format!("column add table {name} new --dtype <i4"));
        place.fails(&format!("column mv table b {name}"));
    }
    place.fails("column rm table w");
    place.fails("column rm table ..");
    place.fails("column add table short raw --dtype <i4");
    place.fails("column add table c new --dtype object");
    place.fails("column add table c new");
    place.fails("decompress table -o - --column w");
    assert!(tree(&place.path("table")) == before);
    assert!(!place.path("evil").exists());
    place.write("raw", &numbers(0..9));
    place.ok("compress raw -o column --format bcolz");
    assert!(place.fails("column rm column a").contains("not a bcolz table"));
}

#[test]
fn a_manifest_opens_super_chunks_wherever_they_are() {
    let place = Place::new();
    place.write("raw", &numbers(0..1000));
    place.ok("compress raw -o one --format blaze --dtype <i4 --chunksize 400 --superchunk 2");
    std::fs::create_dir_all(place.path("two/data")).unwrap();
    for k in 4..=5 {
        let name = format!("data/__{k}__.bin");
        std::fs::rename(place.path("one").join(&name), place.path("two").join(&name)).unwrap();
    }
    let manifest = r#"{"meta": "one", "shards": [{"path": "one", "first": 1, "last": 3}, {"path": "two", "first": 4, "last": 5}]}"#;
    place.write("all.json", manifest.as_bytes());
    assert_eq!(place.ok("decompress all.json -o -"), numbers(0..1000));
    assert_eq!(place.info("all.json")["rows_per_superchunk"], 200);
    assert_eq!(place.ok("slice all.json -o - --superchunks 3-4"), numbers(400..800));
    place.ok("verify all.json");
    place.ok("verify all.json --quick");
    place.ok("convert all.json -o back.blp");
    assert_eq!(place.ok("decompress back.blp -o -"), numbers(0..1000));
    // Each part by itself, without the other.
    assert_eq!(place.ok("slice one -o - --superchunks 2"), numbers(200..400));
    assert!(place.fails("slice one -o - --superchunks 4").contains("super-chunk"));
    place.fails("slice one -o - --superchunks 6");
    place.fails("slice one -o - --superchunks 3-2");
    // Where nothing tells how many chunks a file has, a file is still read by itself.
    let storage = place.path("one/meta/storage");
    let text = std::fs::read_to_string(&storage).unwrap();
    std::fs::write(&storage, text.replace(", \"superchunksize\": 2", "")).unwrap();
    place.write("two.json", br#"{"meta": "one", "shards": [{"path": "two", "first": 4, "last": 5}]}"#);
    assert_eq!(place.ok("slice two.json -o - --superchunks 5"), numbers(800..1000));
    place.fails("slice two.json -o - --start 0 --stop 1");
    for bad in
        [r#"{"meta": "../x", "shards": []}"#, r#"{"meta": "/tmp", "shards": []}"#, "{", r#"{"meta": 1}"#]
    {
        place.write("bad.json", bad.as_bytes());
        place.fails("info bad.json");
    }
    let outside = place.path("two");
    let absolute = manifest.replace("\"path\": \"two\"", &format!("\"path\": \"{}\"", outside.display()));
    place.write("abs.json", absolute.as_bytes());
    place.fails("decompress abs.json -o -");
    assert_eq!(place.ok("decompress abs.json -o - --anywhere"), numbers(0..1000));
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink(&outside, place.path("link")).unwrap();
        place.write("link.json", manifest.replace("\"path\": \"two\"", "\"path\": \"link\"").as_bytes());
        place.fails("decompress link.json -o -");
    }
}

#[test]
fn every_format_converts_to_every_other() {
    let place = Place::new();
    let data = numbers(0..600);
    npy("a.npy", "'<i4'", "(100, 6)", &data, &place);
    let targets = [
        ("npy", "npy", true),
        ("blp", "bloscpack", true),
        ("bcolz", "bcolz", true),
        ("blaze", "blaze", true),
        ("b2frame", "b2frame", false),
        ("sframe", "sframe", false),
        ("b2nd", "b2nd", true),
    ];
    for (from, format, _) in targets {
        place.ok(&format!("convert a.npy -o one.{from} --format {format} --partial"));
    }
    for (from, _, knows) in targets {
        for (to, format, keeps) in targets {
            let name = format!("{from}-to.{to}");
            let words = format!("convert one.{from} -o {name} --format {format}");
            if !knows && to == "npy" {
                assert!(place.fails(&words).contains("without dtype and shape"), "{from} to {to}");
                continue;
            }
            if knows && !keeps {
                // What would be lost is listed, and lost only if that is asked for.
                let text = place.fails(&words);
                assert!(
                    text.contains("--partial") && text.contains("not kept: dtype; shape"),
                    "{from} to {to}: {text}"
                );
                assert!(!place.path(&name).exists(), "{name}");
            }
            // From array to array nothing is lost.
            let partial = if (from, to) == ("b2nd", "b2nd") { "" } else { "--partial" };
            let out = place.run(&format!("{words} {partial}"));
            let notes = String::from_utf8_lossy(&out.stderr).into_owned();
            assert!(out.status.success(), "{from} to {to}: {notes}");
            if to != "npy" {
                assert!(place.ok(&format!("decompress {name} -o -")) == data, "{from} to {to}");
            }
            if knows && keeps && to != "npy" {
                assert_eq!(place.info(&name)["shape"], serde_json::json!([100, 6]), "{from} to {to}");
            }
            if knows && !keeps {
                assert!(
                    notes.contains("not kept: dtype") && notes.contains("not kept: shape"),
                    "{from} to {to}: {notes}"
                );
            }
        }
    }
    assert_eq!(
        std::fs::read(place.path("b2nd-to.npy")).unwrap(),
        std::fs::read(place.path("a.npy")).unwrap()
    );
    assert!(place.fails("convert one.blp -o nameless").contains("--format"));
}

#[test]
fn what_no_other_container_holds_is_told() {
    let place = Place::new();
    place.write("raw", &numbers(0..100));
    place.ok("compress raw -o set --format blaze --dtype <i4 --meta yaml");
    place.write("set/meta/index", b"kept as it is");
    place.write("set/meta/attributes", b"t:\n  value: 23.5\n  type: scalar\n  dtype: float32\n");
    place.ok("append set raw");
    assert_eq!(std::fs::read(place.path("set/meta/index")).unwrap(), b"kept as it is");
    assert!(place.fails("convert set -o x.blp").contains("meta/index"));
    let out = place.run("convert set -o x.blp --partial");
    let notes = String::from_utf8_lossy(&out.stderr).into_owned();
    assert!(out.status.success() && notes.contains("not kept: meta/index"), "{notes}");
    assert!(notes.contains("not kept: the written types of attributes"), "{notes}");
    assert_eq!(place.info("x.blp")["metadata"]["attributes"]["t"], 23.5);
}

/// A size in `meta/sizes` that is wrong keeps nothing from being read; `verify` tells.
#[test]
fn sizes_that_are_not_those_of_the_data_are_told() {
    let place = Place::new();
    place.write("raw", &numbers(0..1000));
    for (name, options) in [("column", "--format bcolz"), ("set", "--format blaze")] {
        place.ok(&format!("compress raw -o {name} --dtype <i4 {options}"));
        let sizes = place.path(name).join("meta/sizes");
        let text = std::fs::read_to_string(&sizes).unwrap();
        std::fs::write(&sizes, text.replace("\"nbytes\": 4000", "\"nbytes\": 92")).unwrap();
        assert_eq!(place.ok(&format!("decompress {name} -o -")), numbers(0..1000));
        let report: serde_json::Value =
            serde_json::from_slice(&place.ok(&format!("verify {name} --json"))).unwrap();
        assert_eq!(report["ok"], true);
        let notes = report["notes"][0].as_str().unwrap_or_default();
        assert!(notes.contains("92 bytes, there are 4000"), "{report}");
    }
}

#[test]
fn damage_is_an_error_and_nothing_is_left_behind() {
    let place = Place::new();
    place.write("raw", &numbers(0..1000));
    for (name, options) in KINDS {
        place.ok(&format!("compress raw -o {name} {options}"));
        let path = place.path(name);
        let file = match name {
            "column" => path.join("data/__4.blp"),
            "set" | "yaml" => path.join("data/__1__.bin"),
            _ => path.clone(),
        };
        let good = std::fs::read(&file).unwrap();
        std::fs::write(&file, &good[..good.len() - 20]).unwrap();
        place.fails(&format!("decompress {name} -o out"));
        place.fails(&format!("verify {name}"));
        assert!(!place.path("out").exists(), "{name}");
        std::fs::write(&file, &good).unwrap();
        place.ok(&format!("verify {name}"));
    }
    // The old checksum is looked at before anything is built upon the chunk.
    let path = place.path("x.blp");
    let mut bad = std::fs::read(&path).unwrap();
    let last = bad.len() - 10;
    bad[last] ^= 1;
    std::fs::write(&path, &bad).unwrap();
    place.fails("append x.blp raw");
    assert!(std::fs::read(&path).unwrap() == bad);
    assert!(place.fails("verify x.blp --quick").contains("damaged"));
}

#[test]
fn tables_left_ragged_are_refused_until_they_are_cut() {
    let place = Place::new();
    npy("t.npy", "[('a', '<i4'), ('b', '<i4')]", "(50,)", &numbers(0..100), &place);
    place.ok("compress t.npy -o table --format bcolz");
    place.ok("trim table/b 5");
    assert!(place.fails("info table").contains("differ in length"));
    place.ok("trim --ragged table 0");
    assert_eq!(place.info("table")["rows"], 45);
    assert_eq!(place.ok("decompress table -o -"), numbers(0..90));
}
