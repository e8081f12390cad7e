//! Candidates for seeds that take the library to write: containers of every kind, whole and with something odd in
//! them.
//!
//! ```text
//! cargo run --example candidates --no-default-features FOLDER     # FOLDER/TARGET/NAME
//! ```
//! `minimise` runs it, and picks.

mod arrays;

use blosc_core::{Codec, Params, Pool, Special};
use blosc_frame::b2nd::{Dtype, NdArray, Spec};
use blosc_frame::bcolz::{self, CArray, CTable, FlatTree};
use blosc_frame::blaze::{self, Blaze, MetaSyntax};
use blosc_frame::bloscpack::{Checksum, Layout, Numpy, Options, Order};
use blosc_frame::io::{Directory, MemDir};
use blosc_frame::npy::NpyHeader;
use blosc_frame::rows::Rows;
use blosc_frame::value::Value;
use blosc_frame::{Error, Limits, SuperChunk};
use std::path::PathBuf;
use std::{env, fs};

type Files = Vec<(String, Vec<u8>)>;

struct Out(PathBuf);

impl Out {
    fn keep(&self, target: &str, name: &str, content: &[u8]) {
        let folder = self.0.join(target);
        fs::create_dir_all(&folder).expect("a folder for candidates");
        fs::write(folder.join(name), content).expect("a folder for candidates");
    }

    /// A directory, for the target that reads such and for the one that has them on a disk.
    fn tree(&self, target: Option<&str>, name: &str, files: &Files) {
        let packed: Vec<u8> = files.iter().flat_map(|(name, content)| file(name, content)).collect();
        if let Some(target) = target {
            self.keep(target, name, &packed);
        }
        // Two edits each: rows, where, room, kind.
        for (k, kinds) in [(0, 1), (2, 3), (4, 5), (6, 3), (3, 0)].into_iter().enumerate() {
            let choices = [5, k as u8, 1, kinds.0, 2, 1, 0, kinds.1];
            self.keep("any_path", &format!("{name}-{k}"), &[&choices[..], &packed].concat());
        }
    }
}

/// A file as `frames::files` reads it.
fn file(name: &str, content: &[u8]) -> Vec<u8> {
    let len = u16::try_from(content.len()).expect("a small file").to_le_bytes();
    [&[name.len() as u8], name.as_bytes(), &len, content].concat()
}

/// What lies in a tree laid flat.
fn files(dir: &MemDir) -> Files {
    let names = dir.list().expect("a directory in memory");
    let files = names.into_iter().filter(|name| !name.ends_with('!'));
    files.map(|name| (name.replace('!', "/"), dir.get(&name).expect("a file that is listed"))).collect()
}

fn dtype(text: &str) -> Dtype {
    Dtype::parse(text).expect("a dtype")
}

/// Bytes that compress in part.
fn data(len: usize) -> Vec<u8> {
    (0..len as u32).map(|k| if k % 2 == 0 { (k.wrapping_mul(0x9E37_79B9) >> 21) as u8 } else { 0 }).collect()
}

fn main() -> Result<(), Error> {
    let out = Out(env::args_os().nth(1).map(PathBuf::from).expect("a folder"));
    frames(&out)?;
    arrays::arrays(&out)?;
    packs(&out)?;
    columns(&out)?;
    datasets(&out)?;
    headers(&out)?;
    chunks(&out);
    choices(&out);
    Ok(())
}

/// Choices that make containers with chunks so large that a reader of a file takes only some of their blocks: see
/// `shaped.rs`, which takes a byte for each.
fn choices(out: &Out) {
    let mut noise = (1u32..).map(|k| (k.wrapping_mul(0x9E37_79B9) >> 23) as u8);
    for codec in [0, 1, 4] {
        for (typesize, level, filter) in
            (0..6).flat_map(|t| (0..2).flat_map(move |l| (0..3).map(move |f| (t, l, f))))
        {
            let params = [codec, typesize, level, filter];
            let large = [205, 1, 0, 0, 1, 3, 9, 0];
            // One number of the header changed by nothing, all lengths right; then any changes.
            let same = [0, 0, 3, 1, 0, 3, 1, 1];
            let name = |kind| format!("{kind}-{codec}-{typesize}-{level}-{filter}");
            for target in ["frame_mutated", "sframe_mutated"] {
                let which: &[u8] = if target == "sframe_mutated" { &[1] } else { &[] };
                out.keep(target, &name("large"), &[&params[..], &large, which, &same].concat());
                for kind in ["odd", "odder"] {
                    let odd: Vec<u8> = noise.by_ref().take(14).collect();
                    out.keep(target, &name(kind), &[&params[..], &large, &[0], &odd].concat());
                }
            }
            for (dtype, sides) in [(0, &[1, 10][..]), (2, &[1, 10]), (2, &[2, 10, 10]), (1, &[3, 10, 5, 10])]
            {
                let same = [3, 9, 0, 3, 20, 1, 0, 3, 1, 1];
                let name = format!("{}-{}-{dtype}", name("large"), sides.len());
                out.keep("b2nd_mutated", &name, &[sides, &[dtype], &params[..], &same].concat());
            }
        }
    }
}

fn chunks(out: &Out) {
    let words = b"the quick brown fox jumps over the lazy dog while seven wizards box quietly; ";
    let text: Vec<u8> =
        (0..40_000usize).map(|k| words[(k * k / 977 + k) % words.len()] ^ (k % 11 == 3) as u8).collect();
    for (name, codec) in [("zstd", Codec::Zstd), ("lz4", Codec::Lz4), ("lz4hc", Codec::Lz4Hc)] {
        let params = Params::new(1).codec(codec).no_filter().dictionary(true).blocksize(Some(2000));
        let chunk = blosc_core::compress(&params, &text[..30_000]).expect("a chunk with a dictionary");
        out.keep("chunk_decode", &format!("dictionary-{name}"), &chunk);
        if let (Codec::Zstd, Some((dict, frame))) = (codec, dictionary(&chunk)) {
            // 2000 bytes: 250 << 3.
            out.keep("zstd_decode", "dictionary", &[&[250, 3][..], dict, frame].concat());
        }
    }
    // Kernels: 4096 items of each width, from a short piece.
    for typesize in [1, 2, 3, 4, 6, 8, 12, 16, 20, 31, 32] {
        for skew in [0, 16] {
            let piece: Vec<u8> = (0..150u32).map(|k| (k * k % 251) as u8).collect();
            out.keep(
                "kernel_twins",
                &format!("crowded-{typesize}-{skew}"),
                &[&[typesize, skew, 2, 252 + skew / 16], &piece[..]].concat(),
            );
        }
    }
    for typesize in [1, 2, 4, 8, 16] {
        for own in [0x01, 0x12, 0x13, 0x34, 0x02, 0x3f, 0xf9, 0x07, 0x10] {
            out.keep(
                "filters_pipeline",
                &format!("cells-{typesize}-{own}"),
                &[&[typesize, own][..], &data(240)].concat(),
            );
        }
    }
    let floats =
        [f32::NAN, f32::INFINITY, f32::NEG_INFINITY, 1.0, f32::from_bits(0x7F80_0001), 0.0, 2.5, -1.0];
    let wide = floats.map(f64::from);
    for (typesize, bytes) in [
        (4, floats.iter().flat_map(|x| x.to_le_bytes()).collect::<Vec<u8>>()),
        (8, wide.iter().flat_map(|x| x.to_le_bytes()).collect()),
    ] {
        for own in [0x02, 0x11, 0x12, 0x32] {
            out.keep(
                "filters_pipeline",
                &format!("means-{typesize}-{own}"),
                &[&[typesize, own][..], &bytes].concat(),
            );
        }
    }
}

/// The dictionary of a chunk, and its first stream.
fn dictionary(chunk: &[u8]) -> Option<(&[u8], &[u8])> {
    let word = |at: usize| Some(u32::from_le_bytes(*chunk.get(at..)?.first_chunk()?) as usize);
    let (nbytes, blocksize) = (word(4)?, word(8)?);
    let at = 32 + 4 * nbytes.div_ceil(blocksize);
    let dict = chunk.get(at + 4..)?.get(..word(at)?)?;
    let start = word(32)?;
    Some((dict, chunk.get(start + 4..)?.get(..word(start)?)?))
}

fn headers(out: &Out) -> Result<(), Error> {
    for (name, text, shape, fortran) in [
        ("i4", "<i4", &[3u64, 4][..], false),
        ("fortran", ">f8", &[2, 2], true),
        ("one", "|b1", &[], false),
        ("record", "[('a', '<i4'), ('b', '<f8', (2,))]", &[3], false),
    ] {
        let dtype = dtype(text);
        let shape = *Spec::new(shape, dtype.clone())?.geometry().shape();
        let header = NpyHeader { dtype, fortran, shape };
        let bytes = header.to_bytes()?;
        out.keep("dtype", &format!("npy-{name}"), &bytes);
        let body = data(header.nbytes().unwrap_or(0) as usize);
        out.tree(None, &format!("npy-{name}"), &vec![("a.npy".into(), [&bytes[..], &body].concat())]);
    }
    for (name, head, text) in [
        (
            "v2",
            &b"\x93NUMPY\x02\x00\x40\x00\x00\x00"[..],
            "{'descr': '<i4', 'fortran_order': False, 'shape': (1,), }        \n",
        ),
        (
            "v3",
            b"\x93NUMPY\x03\x00\x40\x00\x00\x00",
            "{'descr': [('\u{e9}', '<i4')], 'fortran_order': False, 'shape': (), }\n",
        ),
        ("v9", b"\x93NUMPY\x09\x00\x40\x00\x00\x00", ""),
        ("long", b"\x93NUMPY\x02\x00\xff\xff\xff\x7f", ""),
        ("cut", b"\x93NUMPY\x01", ""),
        ("short", b"\x93NUMPY\x01\x00\x40", ""),
        ("latin", b"\x93NUMPY\x03\x00\x02\x00\x00\x00\xff\xff", ""),
        ("order", b"\x93NUMPY\x01\x00\x30\x00", "{'descr': '<i4', 'fortran_order': 1, 'shape': ()}"),
        ("shape", b"\x93NUMPY\x01\x00\x30\x00", "{'descr':'<i4','fortran_order':False,'shape':1} "),
        ("side", b"\x93NUMPY\x01\x00\x33\x00", "{'descr':'<i4','fortran_order':False,'shape':(-1,)} "),
        (
            "huge",
            b"\x93NUMPY\x01\x00\x58\x00",
            "{'descr':'<i4','fortran_order':False,'shape':(9000000000000000000,9000000000000000000)}  ",
        ),
        (
            "axes",
            b"\x93NUMPY\x01\x00\x5e\x00",
            "{'descr':'<i4','fortran_order':False,'shape':(1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1)} ",
        ),
    ] {
        let bytes = [head, text.as_bytes()].concat();
        out.keep("dtype", &format!("npy-{name}"), &bytes);
        out.tree(None, &format!("npy-{name}"), &vec![("a.npy".into(), bytes)]);
    }
    for text in [
        "('<i4', (2, 3))",
        "[('a', ('<i4', (2,))), ('b', '<c16')]",
        "{'names': ['a'], 'formats': ['<i4'], 'titles': ['t'], 'aligned': True}",
        "{'names': ['a', 'b'], 'formats': ['<U2', '<c8'], 'titles': ['t', None], 'offsets': [0, 8], 'itemsize': 16, 'aligned': True}",
        "{'a': ('<i4', 0), 'b': ('<U3', 4, 'title')}",
        "{'a': ('<i4', 0, None)}",
        "{'a': ('<i4', 0, 7)}",
        "{1: ('<i4', 0)}",
        "[(1, '<i4')]",
        "{'names': ['a'], 'formats': ['<i4'], 'aligned': 3}",
        "{'names': [1], 'formats': ['<i4']}",
        "g",
        "O",
        "<i3",
        "<q9",
        "{'names': ['a', 'b', 'c'], 'formats': ['<U1', ('<i2', (3,)), {'names': ['x'], 'formats': ['<c16'], 'aligned': True}], 'aligned': True}",
        "[('a', '<i4'), ('a', '<i4')]",
        "{'names': ['a', 'b'], 'formats': ['u1', [('x', 'u1'), ('y', '<i4')]], 'offsets': [0, 4], 'itemsize': 12, 'aligned': True}",
        "{'names': ['a', 'b'], 'formats': ['u1', ([('x', 'u1'), ('y', '<i4')], (2,))], 'aligned': True}",
        "[('a', 'u1'), ('b', {'names': ['x', 'y'], 'formats': ['u1', '<i4'], 'offsets': [0, 4], 'itemsize': 8, 'aligned': True})]",
        "{'names': ['a'], 'formats': [{'x': ('<i4', 1)}], 'aligned': True}",
        "{'names': ['a'], 'formats': ['<i4'], 'itemsize': 5, 'aligned': True}",
        "{'names': ['b', 'a'], 'formats': ['<i4', '<i4'], 'offsets': [4, 0]}",
        "[[('a', '<i4')]]",
    ] {
        out.keep(
            "dtype",
            &format!("text-{:08x}", text.bytes().fold(7u32, |h, b| h.wrapping_mul(31) ^ u32::from(b))),
            text.as_bytes(),
        );
    }
    let deep = format!("{}'<i4'{}", "[('a', ".repeat(40), ")]".repeat(40));
    out.keep("dtype", "deep", deep.as_bytes());
    out.keep("dtype", "long", " ".repeat(70_000).as_bytes());
    Ok(())
}

fn frames(out: &Out) -> Result<(), Error> {
    let params = Params::new(4).shuffle();
    let mut plain = SuperChunk::memory(&params);
    plain.set_chunksize(400)?;
    plain.append(&data(1000))?;
    plain.set_vlmetalayer("note", b"\xa5hello")?;
    plain.set_vlmetalayer("raw", b"\xc1")?;
    plain.set_metalayer("mine", b"\x07")?;
    let bytes = plain.into_bytes()?;
    out.tree(None, "frame", &vec![("a.b2frame".into(), bytes.clone())]);
    out.tree(None, "frame-behind", &vec![("a.b2frame".into(), [b"abc", &bytes[..]].concat())]);
    let mut empty = SuperChunk::memory(&params);
    out.tree(None, "frame-empty", &vec![("a.b2frame".into(), empty.to_bytes()?)]);
    let mut variable = SuperChunk::memory(&params);
    variable.append_data(&data(40))?;
    variable.append_data(&data(400))?;
    variable.append_data(&data(80))?;
    out.tree(None, "frame-variable", &vec![("a.b2frame".into(), variable.into_bytes()?)]);
    let dir = MemDir::new();
    let mut sparse = SuperChunk::create_dir(dir.clone(), &params)?;
    sparse.set_chunksize(400)?;
    sparse.append(&data(1000))?;
    sparse.commit()?;
    drop(sparse);
    out.tree(Some("sframe_open"), "sparse", &files(&dir));
    for name in [
        "b2o",
        "b2embed",
        "b2dict",
        "b2tree",
        "b2remote_store",
        "LazyArray",
        "proxy-source",
        "listarray",
        "ctable_varlen_scalar",
        "vlarray",
        "batcharray",
        "__pack_tensor__",
    ] {
        let contents: &[&[u8]] = if name == "b2o" {
            &[b"lazyexpr", b"lazyudf", b"c2array", b"remote_array", b"?"]
        } else {
            &[b"?"]
        };
        for content in contents {
            let mut carrier = SuperChunk::memory(&params);
            carrier.append_data(&data(40))?;
            match name {
                "__pack_tensor__" => carrier.set_vlmetalayer(name, content)?,
                _ => carrier.set_metalayer(name, content)?,
            }
            out.keep("frame_open", &format!("carrier-{name}-{}", content.len()), &carrier.into_bytes()?);
        }
    }
    // So large that two threads share it, and stored in few bytes.
    let zstd = Params::new(4).codec(Codec::Zstd);
    let mut large = SuperChunk::memory(&zstd);
    large.set_chunksize(300_000)?;
    large.append(&vec![7; 1_400_000])?;
    out.keep("frame_open", "large", &large.into_bytes()?);
    let mut zeros = SuperChunk::memory(&zstd);
    zeros.set_chunksize(300_000)?;
    zeros.fill_special(Special::Zeros, 1_400_000)?;
    out.keep("frame_open", "zeros", &zeros.into_bytes()?);
    for (name, shape, chunks, blocks, text) in [
        ("plane", &[6u64, 7][..], &[4u32, 3][..], &[2u32, 3][..], "<i4"),
        ("line", &[40], &[16], &[8], "|u1"),
        ("cube", &[3, 4, 5], &[2, 2, 5], &[1, 2, 3], ">f8"),
        ("nothing", &[0, 4], &[1, 4], &[1, 4], "<i4"),
        ("point", &[], &[], &[], "<i4"),
    ] {
        let spec = Spec::new(shape, dtype(text))?.chunks(chunks)?.blocks(blocks)?;
        let n = spec.geometry().nbytes() as usize;
        let array = NdArray::from_slice(SuperChunk::memory(&spec.params()), &spec, &data(n))?;
        let bytes = array.into_frame().into_bytes()?;
        out.keep("b2nd_open", &format!("array-{name}"), &bytes);
        out.tree(None, &format!("array-{name}"), &vec![("a.b2nd".into(), bytes)]);
    }
    for (name, shape, chunks, blocks) in [
        ("rows", &[1200u64, 1200][..], &[400u32, 1200][..], &[40u32, 1200][..]),
        ("tiles", &[1200, 1200], &[1200, 1200], &[300, 300]),
        ("apart", &[1200, 1200], &[300, 600], &[100, 200]),
    ] {
        let spec = Spec::new(shape, dtype("|u1"))?.params_from(&zstd).chunks(chunks)?.blocks(blocks)?;
        let all: Vec<u8> = (0..1_440_000).map(|k| (k % 600 == 0) as u8).collect();
        let array = NdArray::from_slice(SuperChunk::memory(&spec.params()), &spec, &all)?;
        out.keep("b2nd_open", &format!("large-{name}"), &array.into_frame().into_bytes()?);
    }
    Ok(())
}

fn packs(out: &Out) -> Result<(), Error> {
    let mut pool = Pool::new(1);
    let numpy = |text: &str, shape: &[u64], order| Numpy { dtype: dtype(text), shape: shape.to_vec(), order };
    let base = Options { chunk_size: 64, reserve: 20, ..Options::default() };
    let with = |metadata: Value| Options { metadata: Some(metadata), ..base.clone() };
    let text = |text: &str| Value::text(text);
    let about = |dtype: Value, shape: Value, order: &str| {
        Value::object([
            ("dtype", dtype),
            ("shape", shape),
            ("order", text(order)),
            ("container", text("numpy")),
        ])
    };
    let list = |items: Vec<Value>| Value::List(items);
    let field = |name: Value, kind: Value| list(vec![name, kind]);
    let shape = || list(vec![Value::int(3), Value::int(4)]);
    for (name, options) in [
        ("plain", base.clone()),
        ("v1", Options { layout: Layout::V1, offsets: false, checksum: Checksum::None, ..base.clone() }),
        ("v2", Options { layout: Layout::V2, checksum: Checksum::Sha512, ..base.clone() }),
        ("mono", Options { layout: Layout::Mono, ..base.clone() }),
        ("c", base.clone().numpy(&numpy("<i4", &[10, 4], Order::C))?),
        ("fortran", base.clone().numpy(&numpy("<i4", &[10, 4], Order::F))?),
        ("item", base.clone().numpy(&numpy("<i4", &[], Order::C))?),
        ("other", with(Value::object([("attributes", Value::object([("a", Value::int(1))]))]))),
        (
            "both",
            with(Value::object([
                ("dtype", text("'<i4'")),
                ("shape", shape()),
                ("order", text("C")),
                ("container", text("numpy")),
                ("attributes", text("x")),
            ])),
        ),
        (
            "lists",
            with(about(
                list(vec![field(text("a"), text("<i4")), field(text("b'"), text("<f8"))]),
                shape(),
                "C",
            )),
        ),
        (
            "title",
            with(about(list(vec![field(list(vec![text("t"), text("n")]), text("<i4"))]), shape(), "C")),
        ),
        (
            "nested",
            with(about(
                list(vec![field(text("a"), list(vec![field(text("x"), text(">c8"))]))]),
                shape(),
                "C",
            )),
        ),
        (
            "sub",
            with(about(
                list(vec![list(vec![text("a"), text("<i4"), list(vec![Value::int(2)])])]),
                shape(),
                "C",
            )),
        ),
        ("no-field", with(about(list(vec![Value::int(1)]), shape(), "C"))),
        ("no-dtype", with(about(Value::int(1), shape(), "C"))),
        ("order", with(about(text("'<i4'"), shape(), "Z"))),
        ("shape", with(about(text("'<i4'"), text("x"), "C"))),
        ("object", with(about(text("'O'"), shape(), "C"))),
        ("machine", with(about(text("'g'"), shape(), "C"))),
        ("size", with(about(text("'<i3'"), shape(), "C"))),
        (
            "deep",
            with(about(text(&format!("{}'<i4'{}", "[('a', ".repeat(40), ")]".repeat(40))), shape(), "C")),
        ),
        ("long", with(about(text(&" ".repeat(66_000)), shape(), "C"))),
        ("layout", with(about(text("{'names': ['a'], 'formats': ['<i8'], 'itemsize': 4}"), shape(), "C"))),
        ("unknown", with(about(text("'<q9'"), shape(), "C"))),
        ("missing", with(Value::object([("container", text("numpy"))]))),
    ] {
        let file = options.write(&mut pool, &data(if name == "item" { 4 } else { 160 }), Vec::new())?;
        out.keep("bloscpack_open", &format!("pack-{name}"), &file);
        if file.len() < 3000 {
            out.tree(None, &format!("pack-{name}"), &vec![("a.blp".into(), file)]);
        }
    }
    Ok(())
}

/// Files with a piece of text in some of them replaced.
fn altered(files: &Files, from: &str, to: &str) -> Files {
    let change = |content: &[u8]| match std::str::from_utf8(content) {
        Ok(text) => text.replace(from, to).into_bytes(),
        Err(_) => content.to_vec(),
    };
    files.iter().map(|(name, content)| (name.clone(), change(content))).collect()
}

fn with(files: &Files, name: &str, content: &[u8]) -> Files {
    let others = files.iter().filter(|(other, _)| other != name).cloned();
    others.chain([(name.to_string(), content.to_vec())]).collect()
}

fn columns(out: &Out) -> Result<(), Error> {
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

fn datasets(out: &Out) -> Result<(), Error> {
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
