//! Blaze directories: both syntaxes, the proposal's own files, random edits, crashes, shards, hostile texts.

use crate::containers;
use crate::containers::model;

use blosc_core::Pool;
use blosc_frame::bcolz::{CParams, FlatTree};
use blosc_frame::blaze::{Blaze, Create, MetaSyntax, Shard, Shards};
use blosc_frame::bloscpack::{Bloscpack, Layout};
use blosc_frame::dtype::Dtype;
use blosc_frame::io::{Directory, FaultDir, FsDir};
use blosc_frame::plain::Plain;
use blosc_frame::value::Value;
use blosc_frame::{Error, Limits, Rows};
use model::{Edit, Random, all, crash_points};
use std::collections::BTreeMap;

type Tree = FlatTree<FaultDir>;

fn open(dir: &FaultDir) -> Result<Blaze<Tree>, Error> {
    Blaze::open(&FlatTree::new(dir.clone()), &Limits::default())
}

const NESTED: &str = "[('a', '<i4'), ('b', [('c', '>f8'), ('d', '|S3')])]";

fn random_create(r: &mut Random) -> Create {
    let dtype = ["<i4", "|u1", ">f8", "|S5", NESTED][r.below(5) as usize];
    let cname = ["blosclz", "lz4", "zlib", "zstd"][r.below(4) as usize].to_string();
    Create {
        row: if r.below(3) == 0 && dtype != NESTED { vec![2, 3] } else { vec![] },
        chunklen: Some(1 + r.below(20)),
        superchunk: Some(1 + r.below(4)),
        cparams: CParams { clevel: r.below(10) as u8, shuffle: r.below(3) as u8, cname, quantize: 0 },
        syntax: [MetaSyntax::Json, MetaSyntax::Yaml][r.below(2) as usize],
        attrs: Value::object([
            ("t", Value::Number("11.5".into())),
            ("ids", Value::List(vec![Value::int(1)])),
        ]),
        ..Create::new(&Dtype::parse(dtype).unwrap())
    }
}

#[test]
fn random_edits_match_a_plain_vector() {
    let (mut pool, limits, mut r) = (Pool::new(1), Limits::default(), Random(31));
    let runs = if containers::long() { 500 } else { 40 };
    for run in 0..runs {
        let dir = FaultDir::new();
        let create = random_create(&mut r);
        let mut set = Blaze::create(&FlatTree::new(dir.clone()), &create, &limits).unwrap();
        let row = set.row_nbytes() as usize;
        let mut model = Vec::new();
        for step in 0..8 {
            let change = Edit::random(&mut r, (model.len() / row) as u64, row, 70);
            change
                .make(&mut set, &mut pool)
                .unwrap_or_else(|e| panic!("run {run} step {step}: {e} {change:?}"));
            change.apply(&mut model, row, &vec![0; row]);
            let again = open(&dir).unwrap();
            assert!(all(&again, &mut pool).unwrap() == model, "run {run} step {step}: {change:?} {create:?}");
            assert!(all(&set, &mut pool).unwrap() == model, "run {run} step {step}: {change:?}");
            assert!(again.verify(&mut pool, true).unwrap().is_empty());
            assert_eq!(again.attrs().get("t"), create.attrs.get("t"));
            assert_eq!(again.syntax(), create.syntax);
            assert_eq!(again.sizes().nbytes, model.len() as u64);
        }
    }
}

#[test]
fn crashes_during_edits() {
    let (mut pool, limits, mut r) = (Pool::new(1), Limits::default(), Random(71));
    let mut points = 0;
    for run in 0..if containers::long() { 40 } else { 2 } {
        let dir = FaultDir::new();
        let create = Create { row: vec![], ..random_create(&mut r) };
        let mut base = Blaze::create(&FlatTree::new(dir.clone()), &create, &limits).unwrap();
        let n = r.below(80) as usize * base.row_nbytes() as usize;
        base.append(&mut pool, &r.bytes(n)).unwrap();
        points += crash_points(&mut r, &dir, &format!("run {run}"), &|dir| Ok(Box::new(open(&dir)?)));
    }
    println!("{points} crash points");
}

/// Super-chunks with more rows than the descriptor counts are told of and stay, until somebody says what becomes of them.
#[test]
fn rows_that_do_not_count_are_left_alone() {
    let (mut pool, limits) = (Pool::new(1), Limits::default());
    let dtype = Dtype::parse("[('a', '<i4'), ('b', '|u1')]").unwrap();
    let create = Create { chunklen: Some(10), superchunk: Some(3), ..Create::new(&dtype) };
    let data: Vec<u8> = (0..500).map(|n| n as u8).collect();
    // Files of both columns.
    for (counted, rows, files) in [(30, 70, 6), (25, 75, 6), (95, 5, 0), (100, 0, 0)] {
        let dir = FaultDir::new();
        let mut made = Blaze::create(&FlatTree::new(dir.clone()), &create, &limits).unwrap();
        made.append(&mut pool, &data).unwrap();
        let sizes = String::from_utf8(dir.read("meta!sizes", 1 << 20).unwrap()).unwrap();
        dir.remove("meta!sizes").unwrap();
        dir.write_new("meta!sizes", sizes.replacen("100", &counted.to_string(), 1).as_bytes()).unwrap();
        let found = open(&dir).unwrap().uncounted().unwrap();
        assert_eq!((found.rows, found.files), (rows, files), "{counted} count");
        let before = containers::model::files(&dir);
        for edit in Edit::each(&mut Random(3), counted, 5, 20).iter().filter(|_| found.any()) {
            let refused = edit.make(&mut open(&dir).unwrap(), &mut pool);
            assert!(matches!(refused, Err(Error::Unsupported { .. })), "{edit:?}");
            assert!(containers::model::files(&dir) == before, "{edit:?}");
        }
        let copy = FaultDir::from_files(before);
        open(&copy).unwrap().settle(&mut pool, counted + rows).unwrap();
        assert!(all(&open(&copy).unwrap(), &mut pool).unwrap() == data);
        open(&dir).unwrap().settle(&mut pool, counted).unwrap();
        assert!(!open(&dir).unwrap().uncounted().unwrap().any());
        open(&dir).unwrap().append(&mut pool, &vec![9; 5]).unwrap();
        let want = [&data[..counted as usize * 5], &[9; 5]].concat();
        assert!(all(&open(&dir).unwrap(), &mut pool).unwrap() == want);
    }
}

fn files(pairs: &[(&str, &str)]) -> FaultDir {
    let fixed = [("data!", ""), ("meta!", "")];
    FaultDir::from_files(fixed.iter().chain(pairs).map(|(n, c)| (n.to_string(), c.as_bytes().to_vec())))
}

/// The super-chunk of `docs/formats/bcolz.md` (§9.4) under the metadata of each proposal.
#[test]
fn texts_of_the_proposals_are_read() {
    let hex = "626c706b0301010110000000040000000200000000000000000000000000000030000000000000005400000000000000\
               020113011000000010000000200000000001020304050607\
               08090a0b0c0d0e0fd0003e0b0201130104000000040000001400000010111213\
               7a007003";
    let digits: Vec<u8> = hex.chars().filter_map(|c| c.to_digit(16)).map(|d| d as u8).collect();
    let file: Vec<u8> = digits.chunks(2).map(|p| p[0] << 4 | p[1]).collect();
    let mut pool = Pool::new(1);
    for (sizes, storage) in [
        (
            r#"{"shape": [20], "nbytes": 20, "cbytes": 17316745}"#,
            r#"{"dtype": "int8", "cparams": {"shuffle": true, "clevel": 5}, "chunklen": 16, "dflt": 0, "expectedlen": 10000000}"#,
        ),
        ("{'shape': [20], 'nbytes': 20, 'cbytes': 1}", "{'dtype': 'int8', 'chunklen': 16, 'others': []}"),
        (
            "shape: (20,)\nnbytes: 20\ncbytes: 24328038\n",
            "dtype: int8\nchunkshape: (16,)\nsuperchunksize: 10    # max. number of chunks in a single file\n\
             endianness: big    # default: little\norder: C\ncompression:\n  library: blosclz\n  level: 5\n\
             \x20 filters: [shuffle, truncate]    # order matters\n",
        ),
    ] {
        let dir = files(&[("meta!sizes", sizes), ("meta!storage", storage), ("meta!index", "kept as it is")]);
        dir.write_new("data!__1__.bin", &file).unwrap();
        let attrs = "temperature:\n  value: 23.5\n  type: scalar\n  dtype: float32\nids:\n  value: [1,3,6,10]\n  type: array\n  dtype: int32\n";
        dir.write_new("meta!attributes", attrs.as_bytes()).unwrap();
        let set = open(&dir).unwrap();
        assert_eq!(all(&set, &mut pool).unwrap(), (0..20).collect::<Vec<u8>>());
        assert_eq!(set.attrs().to_json(), r#"{"temperature": 23.5, "ids": [1, 3, 6, 10]}"#);
        assert_eq!(dir.read("meta!index", 100).unwrap(), b"kept as it is");
    }
}

#[test]
fn what_has_no_defined_meaning_is_refused() {
    let good = "dtype: <i4\nchunkshape: (16,)\n";
    let open_with = |shape: &str, storage: &str| {
        open(&files(&[("meta!sizes", &format!("shape: {shape}\n")), ("meta!storage", storage)])).map(drop)
    };
    open_with("(0,)", good).unwrap();
    for (shape, storage) in [
        ("(0, 40)", "dtype: <i4\nchunkshape: (30, 20)\n"),
        ("(0, 40)", "dtype: <i4\nchunkshape: (30, 40)\norder: F\n"),
        ("(0,)", "dtype: object\nchunkshape: (16,)\n"),
        ("(0,)", "dtype: &x <i4\nchunkshape: (16,)\n"),
        ("(0,)", "dtype: <i4\nchunkshape: (0,)\n"),
        ("(0,)", "dtype: <i4\nchunkshape: (16,)\nsuperchunksize: 0\n"),
        ("(0,)", "dtype: <i4\n"),
        ("(0,)", "dtype: {'..': int8}\nchunkshape: (16,)\n"),
        ("(0,)", "dtype: {a/b: int8}\nchunkshape: (16,)\n"),
        ("(-1,)", good),
        ("(9223372036854775807,)", good),
    ] {
        assert!(open_with(shape, storage).is_err(), "{shape} {storage}");
    }
}

#[test]
fn superchunks_are_bloscpack_files() {
    let (mut pool, limits) = (Pool::new(1), Limits::default());
    let dir = FaultDir::new();
    let create =
        Create { chunklen: Some(16), superchunk: Some(3), ..Create::new(&Dtype::parse("|i1").unwrap()) };
    let mut set = Blaze::create(&FlatTree::new(dir.clone()), &create, &limits).unwrap();
    let data: Vec<u8> = (0..100).collect();
    set.append(&mut pool, &data).unwrap();
    let mut joined = Vec::new();
    for k in 1..=3 {
        let pack =
            Bloscpack::open(dir.read(&format!("data!__{k}__.bin"), 1 << 20).unwrap(), &limits).unwrap();
        let h = pack.header();
        assert_eq!((h.layout, h.max_app, h.chunk_size, h.metadata), (Layout::V3, 0, Some(16), false));
        joined.extend(pack.read_all(&mut pool).unwrap());
    }
    assert_eq!(joined, data);
    let rows = set.rows_of_files(2..=2).unwrap();
    assert_eq!(rows, 48..96);
}

/// The files of a dataset of `rows` bytes, four in a chunk and four chunks in a file.
fn of_bytes(pool: &mut Pool, rows: u8) -> BTreeMap<String, Vec<u8>> {
    let (dir, dtype) = (FaultDir::new(), Dtype::parse("|u1").unwrap());
    let create = Create { chunklen: Some(4), superchunk: Some(4), ..Create::new(&dtype) };
    let mut set = Blaze::create(&FlatTree::new(dir.clone()), &create, &Limits::default()).unwrap();
    set.append(pool, &(0..rows).collect::<Vec<u8>>()).unwrap();
    dir.crash(0).into_iter().collect()
}

/// What the rows need and is not there is damage, though each file is sound by itself; what no row needs is none.
#[test]
fn verify_says_whether_the_rows_can_be_read() {
    let mut pool = Pool::new(1);
    let (long, short) = (of_bytes(&mut pool, 32), of_bytes(&mut pool, 24));
    let (second, sizes) = ("data!__2__.bin", "meta!sizes");
    let mut missing = long.clone();
    missing.insert(second.into(), short[second].clone());
    let mut damaged = long;
    *damaged.get_mut(second).and_then(|file| file.last_mut()).unwrap() ^= 1;
    for files in [&missing, &damaged] {
        let set = open(&FaultDir::from_files(files.clone())).unwrap();
        assert!(set.read_plain(&mut pool, 0, &mut [0; 32]).is_err());
        for decode in [false, true] {
            let found = set.verify(&mut pool, decode).unwrap();
            assert!(matches!(found.as_slice(), [(name, 2, _)] if name.is_empty()), "{found:?}");
        }
    }
    // 24 rows need neither the chunks that are missing nor the one that is damaged.
    for mut files in [missing, damaged] {
        files.insert(sizes.into(), short[sizes].clone());
        let set = open(&FaultDir::from_files(files)).unwrap();
        assert_eq!(all(&set, &mut pool).unwrap(), (0..24).collect::<Vec<u8>>());
        assert_eq!(set.verify(&mut pool, true).unwrap(), []);
    }
}

#[test]
fn changes_in_place_stay_in_their_room() {
    let (mut pool, limits) = (Pool::new(1), Limits::default());
    let dir = FaultDir::new();
    let create =
        Create { chunklen: Some(500), superchunk: Some(2), ..Create::new(&Dtype::parse("<i4").unwrap()) };
    let mut set = Blaze::create(&FlatTree::new(dir.clone()), &create, &limits).unwrap().reserve(300);
    let mut model = vec![1u8; 8000];
    set.append(&mut pool, &model).unwrap();
    let before: Vec<usize> =
        (1..=2).map(|k| dir.read(&format!("data!__{k}__.bin"), 1 << 20).unwrap().len()).collect();
    let new: Vec<u8> = (0..40).collect();
    set.set_in_place(&mut pool, 998, &new).unwrap();
    model[998 * 4..998 * 4 + 40].copy_from_slice(&new);
    assert_eq!(all(&set, &mut pool).unwrap(), model);
    let after: Vec<usize> =
        (1..=2).map(|k| dir.read(&format!("data!__{k}__.bin"), 1 << 20).unwrap().len()).collect();
    assert_eq!(before, after);
}

#[test]
fn shards_are_opened_from_a_manifest() {
    let (mut pool, limits) = (Pool::new(1), Limits::default());
    let base = std::env::temp_dir().join(format!("blosc-blaze-shards-{}", std::process::id()));
    std::fs::create_dir_all(base.join("node1/data")).unwrap();
    let root = FsDir::create(base.join("node0")).unwrap();
    let create =
        Create { chunklen: Some(10), superchunk: Some(2), ..Create::new(&Dtype::parse("<i4").unwrap()) };
    let data: Vec<u8> = (0..400u32).map(|i| i as u8).collect();
    Blaze::create(&root, &create, &limits).unwrap().append(&mut pool, &data).unwrap();
    for k in 3..=5 {
        let name = format!("data/__{k}__.bin");
        std::fs::rename(base.join("node0").join(&name), base.join("node1").join(&name)).unwrap();
    }
    let shard = |path: &str, first, last| Shard { path: path.into(), first, last };
    let manifest = Shards { meta: "node0".into(), shards: vec![shard("node0", 1, 2), shard("node1", 3, 5)] };
    let manifest = Shards::parse(manifest.to_json().as_bytes(), false).unwrap();
    assert_eq!(all(&manifest.open(&base, &limits).unwrap(), &mut pool).unwrap(), data);
    // A worker that has only its own shard reads its own rows.
    let alone = Shards { shards: vec![shard("node1", 3, 5)], ..manifest };
    let set = alone.open(&base, &limits).unwrap();
    let mut part = vec![0; 100];
    set.read_plain(&mut pool, 200, &mut part).unwrap();
    assert_eq!(part, data[200..300]);
    assert!(matches!(set.read_plain(&mut pool, 0, &mut part), Err(Error::Missing { number: 1, .. })));
    for bad in [r#"{"meta": "../x", "shards": []}"#, r#"{"meta": "/x", "shards": []}"#, r#"{"shards": []}"#] {
        assert!(Shards::parse(bad.as_bytes(), false).is_err(), "{bad}");
    }
    std::fs::remove_dir_all(base).unwrap();
}
