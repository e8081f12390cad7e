//! Directories of Blaze: datasets in both syntaxes, whole and altered, and manifests of several folders.

use crate::{Files, Out, altered, data, dtype, files, with};
use blosc_core::{Params, Pool};
use blosc_frame::bcolz::FlatTree;
use blosc_frame::blaze::{self, Blaze, MetaSyntax};
use blosc_frame::bloscpack::Options;
use blosc_frame::io::MemDir;
use blosc_frame::rows::Rows;
use blosc_frame::value::Value;
use blosc_frame::{Error, Limits};

/// Datasets with some of their text replaced or some of their files missing.
pub fn datasets(out: &Out) -> Result<(), Error> {
    let mut pool = Pool::new(1);
    let mut bases = Vec::new();
    for (name, text, row, syntax) in [
        ("json", "<i4", &[][..], MetaSyntax::Json),
        ("yaml", "<i4", &[], MetaSyntax::Yaml),
        ("rows", ">f8", &[2u64][..], MetaSyntax::Yaml),
        ("nested", "[('a', '<i4'), ('b', [('c', '>f4'), ('d', '|S2')])]", &[], MetaSyntax::Json),
        ("nested-yaml", "[('a', '<i4'), ('b', [('c', '>f4'), ('d', '<U2')])]", &[], MetaSyntax::Yaml),
        ("wide", "|S300", &[], MetaSyntax::Json),
    ] {
        let dir = MemDir::new();
        let create = blaze::Create {
            row: row.to_vec(),
            chunklen: Some(5),
            superchunk: Some(2),
            syntax,
            attrs: Value::object([("note", Value::int(1)), ("list", Value::List(vec![Value::int(1)]))]),
            ..blaze::Create::new(&dtype(text))
        };
        let mut set = Blaze::create(&FlatTree::new(dir.clone()), &create, &Limits::DEFAULT)?.reserve(30);
        let width = set.row_nbytes() as usize;
        set.append(&mut pool, &data(23 * width))?;
        let files = files(&dir);
        out.tree(Some("blaze_open"), &format!("set-{name}"), &files);
        bases.push(files);
    }
    let [json, yaml, _, nested, ..] = &bases[..] else { return Ok(()) };
    let no_size = |files: &Files| {
        let mut files = files.clone();
        for (name, content) in &mut files {
            if name == "meta/storage" {
                let text = String::from_utf8(content.clone()).expect("a text");
                *content = text.replace("superchunksize", "other").into_bytes();
            }
        }
        files
    };
    for (name, files) in [("json", json), ("nested", nested)] {
        let unsized_files = no_size(files);
        out.tree(Some("blaze_open"), &format!("uncounted-{name}"), &unsized_files);
        let missing: Files =
            unsized_files.into_iter().filter(|(name, _)| !name.ends_with("__2__.bin")).collect();
        out.tree(Some("blaze_open"), &format!("uncounted-missing-{name}"), &missing);
    }
    let missing: Files = nested.iter().filter(|(name, _)| name != "data/a/__1__.bin").cloned().collect();
    out.tree(Some("blaze_open"), "uncounted-apart", &no_size(&missing));
    let empty = Options { params: Params::new(4).blosc1(true), ..Options::default() };
    let empty = empty.write(&mut pool, &Vec::new(), Vec::new())?;
    out.tree(Some("blaze_open"), "uncounted-empty", &no_size(&with(json, "data/__1__.bin", &empty)));
    for (name, base, from, to) in [
        ("big", yaml, "endianness: little", "endianness: big"),
        ("endless", yaml, "endianness: little", "endianness: middle"),
        ("fortran", yaml, "order: C", "order: F"),
        ("other-order", yaml, "order: C", "order: Z"),
        ("tiled", yaml, "chunkshape: (5,)", "chunkshape: (5, 2)"),
        ("chunk-number", yaml, "chunkshape: (5,)", "chunkshape: 5"),
        ("chunk-word", yaml, "chunkshape: (5,)", "chunkshape: x"),
        ("no-chunk", yaml, "chunkshape", "other"),
        ("none", yaml, "superchunksize: 2", "superchunksize: 0"),
        ("level", yaml, "level: 5", "level: x"),
        ("huge", json, "[23]", "[9223372036854775807]"),
        ("more", json, "[23]", "[29]"),
        ("fewer", json, "[23]", "[22]"),
        ("point", json, "[23]", "[23, 0]"),
        ("columns", nested, "[23]", "[23, 2]"),
        ("name", nested, "\"c\"", "\"__1__.bin\""),
        ("path", nested, "\"c\"", "\"..\""),
        ("long", json, "chunklen\": 5", "chunklen\": 9223372036854775807"),
        ("big-record", nested, "\"dtype\": {", "\"endianness\": \"big\", \"dtype\": {"),
        ("big-sub", json, "\"int32\"", "\"('<i4', (2,))\", \"endianness\": \"big\""),
        ("lists", nested, "\"dtype\"", "\"dflt\": [1, [2, 3]], \"dtype\""),
        ("maps", nested, "\"dtype\"", "\"dflt\": {\"a\": 1, \"b\": {\"c\": 2}}, \"dtype\""),
        ("attributes", json, "\"note\": 1", "\"note\": {\"value\": 1, \"type\": \"scalar\"}"),
    ] {
        out.tree(Some("blaze_open"), &format!("set-{name}"), &altered(base, from, to));
    }
    out.tree(Some("blaze_open"), "set-list", &with(json, "meta/attributes", b"[1, 2]"));
    out.tree(Some("blaze_open"), "set-extra", &with(yaml, "meta/other", b"1"));
    out.tree(
        Some("blaze_open"),
        "set-big",
        &altered(
            &altered(yaml, "endianness: little", "endianness: big"),
            "dtype: int32",
            "dtype: [[x, '<i4']]",
        ),
    );
    shards(out, json, nested);
    Ok(())
}

/// Files of a dataset in two folders, and the manifest that names them.
fn shards(out: &Out, json: &Files, nested: &Files) {
    let place = |files: &Files| -> Files {
        let moved = |(name, content): &(String, Vec<u8>)| {
            let node = if name.contains("__2__") || name.contains("__3__") { "node1" } else { "node0/x" };
            (format!("{node}/{name}"), content.clone())
        };
        files.iter().map(moved).collect()
    };
    for (name, files, manifest) in [
        (
            "two",
            json,
            r#"{"meta": "node0/x", "shards": [{"path": "node0/x", "first": 1, "last": 1}, {"path": "node1", "first": 2, "last": 3}]}"#,
        ),
        (
            "nested",
            nested,
            r#"{"meta": "node0/x", "shards": [{"path": "node0/x", "first": 1, "last": 1}, {"path": "./node1", "first": 2, "last": 3}]}"#,
        ),
        (
            "away",
            json,
            r#"{"meta": "node0/x", "shards": [{"path": "node0/x", "first": 1, "last": 1}, {"path": "node9", "first": 2, "last": 3}]}"#,
        ),
        ("outside", json, r#"{"meta": "../x", "shards": []}"#),
        (
            "overlap",
            json,
            r#"{"meta": "node0/x", "shards": [{"path": "node0/x", "first": 1, "last": 2}, {"path": "node1", "first": 2, "last": 3}]}"#,
        ),
        ("backwards", json, r#"{"meta": "node0/x", "shards": [{"path": "node0/x", "first": 3, "last": 2}]}"#),
    ] {
        out.tree(None, &format!("shards-{name}"), &with(&place(files), "a.json", manifest.as_bytes()));
        out.keep("blaze_open", &format!("manifest-{name}"), manifest.as_bytes());
    }
}
