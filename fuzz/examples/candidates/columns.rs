//! Directories of bcolz: columns and tables, whole, altered, and with an edit that has not ended.

use crate::{Out, altered, data, dtype, files, with};
use blosc_core::Pool;
use blosc_frame::bcolz::{self, CArray, CTable, FlatTree};
use blosc_frame::io::MemDir;
use blosc_frame::rows::Rows;
use blosc_frame::value::Value;
use blosc_frame::{Error, Limits};

/// Columns of many dtypes with some of their text replaced, and a table with pending edits.
pub fn columns(out: &Out) -> Result<(), Error> {
    let mut pool = Pool::new(1);
    let mut base = Vec::new();
    for (name, text, row, dflt) in [
        ("i4", "<i4", &[][..], None),
        ("rows", ">f8", &[2u64, 3][..], None),
        ("bool", "|b1", &[], Some(Value::Bool(true))),
        ("text", "<U3", &[], Some(Value::text("é"))),
        ("big", ">U3", &[], Some(Value::text("é"))),
        ("f4", "<f4", &[], Some(Value::Number("0.1".into()))),
        ("void", "|V5", &[], None),
        ("date", "<M8[25s]", &[], None),
        (
            "record",
            "[('a', '<i4'), ('b', '<f4', (2,))]",
            &[],
            Some(Value::List(vec![Value::int(7), Value::int(2)])),
        ),
    ] {
        let dir = MemDir::new();
        let create = bcolz::Create {
            row: row.to_vec(),
            chunklen: Some(7),
            dflt,
            attrs: Value::object([("note", Value::int(1))]),
            ..bcolz::Create::new(dtype(text))
        };
        let mut column = CArray::create(FlatTree::new(dir.clone()), &create, &Limits::DEFAULT)?.reserve(30);
        let width = column.row_nbytes() as usize;
        column.append(&mut pool, &data(16 * width))?;
        let files = files(&dir);
        out.tree(Some("bcolz_open"), &format!("column-{name}"), &files);
        if name == "i4" {
            base = files;
        }
    }
    for (name, from, to) in [
        ("quantize", "\"quantize\": 0", "\"quantize\": 3"),
        ("level", "\"clevel\": 5", "\"clevel\": 12"),
        ("shuffle", "\"shuffle\": 1", "\"shuffle\": 7"),
        ("codec", "\"cname\": \"lz4\"", "\"cname\": \"x\""),
        ("number", "\"shape\": [16]", "\"shape\": 16"),
        ("many", "\"shape\": [16]", "\"shape\": [9223372036854775807]"),
        ("no-row", "\"shape\": [16]", "\"shape\": [16, 0]"),
        ("words", "\"shape\": [16]", "\"shape\": \"x\""),
        ("chunk", "\"chunklen\": 7", "\"chunklen\": 9223372036854775807"),
        ("object", "int32", "object"),
        ("fewer", "\"shape\": [16]", "\"shape\": [15]"),
        ("more", "\"shape\": [16]", "\"shape\": [22]"),
    ] {
        let compact = altered(&base, from, to);
        let spaced = altered(&base, &from.replace(": ", ":"), &to.replace(": ", ":"));
        let files = if compact == base { spaced } else { compact };
        out.tree(Some("bcolz_open"), &format!("column-{name}"), &files);
    }
    for (text, digits) in [("<f4", 3), (">f4", 3), ("<f8", 2), (">f8", 5), ("<i4", 2)] {
        let dir = MemDir::new();
        let cparams = bcolz::CParams { quantize: digits, ..bcolz::CParams::default() };
        let create = bcolz::Create { cparams, chunklen: Some(7), ..bcolz::Create::new(dtype(text)) };
        let mut column = CArray::create(FlatTree::new(dir.clone()), &create, &Limits::DEFAULT)?;
        let width = column.row_nbytes() as usize;
        column.append(&mut pool, &data(16 * width))?;
        out.tree(
            Some("bcolz_open"),
            &format!("quantized-{}", text.replace(['<', '>'], if text.starts_with('<') { "l" } else { "b" })),
            &files(&dir),
        );
    }
    let blaze = with(&base, "data/__1__.bin", b"blpk\x03");
    out.tree(Some("bcolz_open"), "both", &blaze);
    let dir = MemDir::new();
    let create = |text| bcolz::Create { chunklen: Some(6), ..bcolz::Create::new(dtype(text)) };
    let shaped =
        bcolz::Create { row: vec![2], attrs: Value::object([("of", Value::text("b"))]), ..create("<i2") };
    let columns = [("a".to_string(), create("<i4")), ("b".to_string(), shaped)];
    let attrs = Value::object([("note", Value::int(1))]);
    let mut table =
        CTable::create(FlatTree::new(dir.clone()), &columns, attrs, &Limits::DEFAULT)?.reserve(30);
    table.append(&mut pool, &data(13 * 8))?;
    let files = files(&dir);
    out.tree(Some("bcolz_open"), "table", &files);
    for (name, pending) in [
        ("rows", "{\"rows\": 10}"),
        ("renamed", "{\"rename\": [\"z\", \"b\"]}"),
        ("to-nothing", "{\"rename\": [\"z\", \"data\"]}"),
        ("nothing", "{\"rename\": [\"z\"]}"),
        ("odd", "{\"rename\": 3}"),
    ] {
        let files = with(&files, "__pending__", pending.as_bytes());
        let files = if name == "rows" { files } else { altered(&files, "[\"a\", \"b\"]", "[\"a\", \"z\"]") };
        out.tree(
            Some("bcolz_open"),
            &format!("pending-{name}"),
            &altered(&files, "\"a\",\"b\"", "\"a\",\"z\""),
        );
    }
    out.tree(
        Some("bcolz_open"),
        "ragged",
        &with(&files, "b/meta/sizes", b"{\"shape\": [9, 2], \"nbytes\": 36, \"cbytes\": 5}"),
    );
    out.tree(
        Some("bcolz_open"),
        "wide",
        &with(&files, "b/meta/sizes", b"{\"shape\": [0, 9999999999], \"nbytes\": 0, \"cbytes\": 5}"),
    );
    out.tree(
        Some("bcolz_open"),
        "twice",
        &with(&files, "__rootdirs__", b"{\"names\": [\"a\", \"a\"], \"dirs\": []}"),
    );
    out.tree(
        Some("bcolz_open"),
        "nameless",
        &with(&files, "__rootdirs__", b"{\"names\": [1], \"dirs\": []}"),
    );
    Ok(())
}
