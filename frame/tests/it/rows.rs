//! One interface over all containers: the same random edits, on disk and in memory, beside a plain vector;
//! and what is left of tables when a crash stops an edit.

use crate::containers;
use crate::containers::model;

use blosc_core::{Params, Pool};
use blosc_frame::any::{open_any, open_any_mut, open_raw};
use blosc_frame::bcolz::{CArray, CTable, Create, FlatTree};
use blosc_frame::blaze::{self, Blaze, MetaSyntax};
use blosc_frame::bloscpack::{Bloscpack, Checksum, Layout, Options, PackRows, Spare};
use blosc_frame::convert::{Cut, Packing, Target, convert};
use blosc_frame::dtype::Dtype;
use blosc_frame::io::{Directory, FaultDir, MemDir};
use blosc_frame::plain::Plain;
use blosc_frame::value::Value;
use blosc_frame::{Error, Limits, Rows};
use blosc_testkit::emulated;
use model::{Edit, Random, all, crash_points};
use std::path::PathBuf;

fn random_edits(r: &mut Random, rows: &mut dyn Rows, model: &mut Vec<u8>, steps: usize, what: &str) {
    let mut pool = Pool::new(1);
    let row = rows.row_nbytes() as usize;
    for step in 0..steps {
        let n = (model.len() / row) as u64;
        let change = Edit::random(r, n, row, 60);
        change.make(rows, &mut pool).unwrap_or_else(|e| panic!("{what} step {step}: {e} {change:?}"));
        change.apply(model, row, &vec![0; row]);
        assert!(all(rows, &mut pool).unwrap() == *model, "{what} step {step}: {change:?}");
        // Any range by any other, and a part of the result.
        let n = (model.len() / row) as u64;
        let from = r.below(n + 1);
        let to = from + r.below(n - from + 1);
        let count = r.below(20) as usize;
        let new = r.bytes(count * row);
        rows.splice(&mut pool, from..to, &new).unwrap_or_else(|e| panic!("{what} step {step}: {e}"));
        model.splice(from as usize * row..to as usize * row, new.iter().copied());
        let n = rows.rows();
        let from = r.below(n + 1);
        let to = from + r.below(n - from + 1);
        let mut part = vec![0; (to - from) as usize * row];
        rows.read_rows(&mut pool, from..to, &mut part).unwrap();
        assert!(part == model[from as usize * row..to as usize * row], "{what} step {step}");
        assert!(rows.splice(&mut pool, n..n + 1, &new).is_err());
        assert!(rows.trim(&mut pool, n + 1).is_err());
    }
}

pub fn targets() -> Vec<(&'static str, Target)> {
    let packing = Packing::new(Params::new(1)).chunk(Some(600));
    let pack = |layout| Target::Bloscpack(Options { chunk_size: 1000, layout, ..Options::default() });
    let cut = Cut::default().shapes(Some(vec![7, 2]), Some(vec![3, 2]));
    vec![
        ("v3.blp", pack(Layout::V3)),
        ("mono.blp", pack(Layout::Mono)),
        ("bcolz", Target::Bcolz(packing)),
        ("blaze-json", Target::Blaze(packing, Some(3), MetaSyntax::Json)),
        ("blaze-yaml", Target::Blaze(packing, Some(2), MetaSyntax::Yaml)),
        ("a.b2nd", Target::B2nd(packing, cut)),
        ("a.b2frame", Target::Cframe(packing)),
        ("sframe", Target::Sframe(packing)),
    ]
}

#[test]
fn every_container_on_disk_is_edited_alike() {
    let place = std::env::temp_dir().join(format!("blosc-rows-{}", std::process::id()));
    let _ = std::fs::remove_dir_all(&place);
    std::fs::create_dir_all(&place).unwrap();
    let (mut r, limits) = (Random(8), Limits::default());
    let data = r.bytes(150 * 6);
    std::fs::write(place.join("raw"), &data).unwrap();
    let raw = open_raw(place.join("raw"), Some(Dtype::parse("<i2").unwrap()), Some(vec![150, 3]), 1).unwrap();
    let steps = if containers::long() { 100 } else { 6 };
    for (name, target) in targets() {
        let path = place.join(name);
        convert(&raw, &mut Pool::new(1), &mut Pool::new(1), &target, &path).unwrap();
        let mut model = data.clone();
        let mut opened = open_any_mut(&path, &limits).unwrap();
        if name == "v3.blp" {
            // A table without spare entries refuses what does not fit.
            opened.data.resize(&mut Pool::new(1), 10).unwrap();
            model.truncate(60);
        }
        random_edits(&mut r, &mut *opened.data, &mut model, steps, name);
        drop(opened);
        let again = open_any(&path, &limits).unwrap();
        assert!(all(&*again.data, &mut Pool::new(1)).unwrap() == model, "{name}");
        if let Some(shape) = &again.about.shape {
            assert_eq!(shape[0] * 6, model.len() as u64, "{name}");
        }
    }
    let mut closed = open_any(place.join("v3.blp"), &limits).unwrap();
    assert!(closed.data.append(&mut Pool::new(1), &vec![0u8; 6]).is_err(), "opened for reading only");
    std::fs::remove_dir_all(place).unwrap();
}

/// As many bytes as are worth several threads: they read what one thread reads, whole and from any byte on. Where two chunks
/// are damaged, they name the first as one thread does, and all before it is read.
#[test]
fn threads_read_what_one_thread_reads() {
    let place = std::env::temp_dir().join(format!("blosc-rows-threads-{}", std::process::id()));
    let _ = std::fs::remove_dir_all(&place);
    std::fs::create_dir_all(&place).unwrap();
    let mut r = Random(12);
    let data: Vec<u8> = (0..1_300_000u32).flat_map(|i| (i / 7 + r.below(9) as u32).to_le_bytes()).collect();
    std::fs::write(place.join("raw"), &data).unwrap();
    let raw = open_raw(place.join("raw"), Some(Dtype::parse("<i4").unwrap()), None, 1).unwrap();
    let packing = Packing::new(Params::new(4)).chunk(Some(40_000));
    let options = Options { chunk_size: 40_000, params: Params::new(4), ..Options::default() };
    let plain = Options { checksum: Checksum::None, ..options.clone() };
    let blaze = Target::Blaze(packing, Some(5), MetaSyntax::Json);
    // What of which file is damaged.
    for (name, target, damaged) in [
        ("a.blp", Target::Bloscpack(options), &[("", 2), ("", 3)][..]),
        ("plain.blp", Target::Bloscpack(plain), &[("", 2), ("", 3)]),
        (
            "bcolz",
            Target::Bcolz(packing),
            &[("data/__60.blp", 2), ("data/__61.blp", 0), ("data/__90.blp", 3)],
        ),
        ("blaze", blaze, &[("data/__9__.bin", 2), ("data/__20__.bin", 3)]),
        ("a.b2frame", Target::Cframe(packing), &[("", 2)]),
    ] {
        let path = place.join(name);
        convert(&raw, &mut Pool::new(1), &mut Pool::new(3), &target, &path).unwrap();
        let read = |threads: usize, from: usize| {
            let (opened, mut out) =
                (open_any(&path, &Limits::default()).unwrap(), vec![0xEE; data.len() - from]);
            (opened.data.read_plain(&mut Pool::new(threads), from as u64, &mut out), out)
        };
        for (from, threads) in
            [0, 39_999, 40_000, 777_777].into_iter().flat_map(|at| [(at, 1), (at, 2), (at, 4)])
        {
            let (done, out) = read(threads, from);
            assert!(done.is_ok() && out == data[from..], "{name}, {threads} threads from {from}: {done:?}");
        }
        for (file, part) in damaged {
            let file = if file.is_empty() { path.clone() } else { path.join(file) };
            let mut bytes = std::fs::read(&file).unwrap();
            let at = bytes.len() * part / 4;
            match name {
                // A file of bcolz has no checksum.
                "bcolz" => bytes.truncate(at),
                // Nor has this one: the header of a chunk, which is read before any is decoded.
                "plain.blp" => {
                    let pack = Bloscpack::open(&bytes[..], &Limits::default()).unwrap();
                    let at = pack.chunk_offset(30 * *part as u64).unwrap() as usize;
                    bytes[at..][..16].fill(0xEE);
                }
                _ => bytes[at..][..40].fill(0xEE),
            }
            if *part == 0 {
                std::fs::remove_file(&file).unwrap()
            } else {
                std::fs::write(&file, bytes).unwrap()
            }
        }
        let (first, out) = read(1, 0);
        let first = first.unwrap_err();
        let same = out.iter().zip(&data).take_while(|(a, b)| a == b).count() / 40_000 * 40_000;
        assert!((20 * 40_000..100 * 40_000).contains(&same), "{name}: {same} bytes before {first}");
        for threads in [2, 4] {
            let (error, out) = read(threads, 0);
            assert_eq!(error.unwrap_err(), first, "{name}, {threads} threads");
            assert!(name == "a.b2frame" || out[..same] == data[..same], "{name}, {threads} threads");
        }
    }
    std::fs::remove_dir_all(place).unwrap();
}

#[test]
fn every_container_in_memory_is_edited_alike() {
    let (mut r, limits, mut pool) = (Random(9), Limits::default(), Pool::new(1));
    let dtype = || Dtype::parse("<i4").unwrap();
    let root = || FlatTree::new(MemDir::new());
    let steps = if containers::long() { 200 } else { 10 };
    let create = Create { chunklen: Some(9), ..Create::new(dtype()) };
    let columns = ["a", "b"].map(|name| (name.to_string(), create.clone()));
    let options = Options { chunk_size: 100, params: Params::new(4), ..Options::default() };
    let file = options.write(&mut pool, &vec![0u8; 900], Vec::new()).unwrap();
    let blaze = blaze::Create { chunklen: Some(9), superchunk: Some(2), ..blaze::Create::new(&dtype()) };
    let mut all: Vec<(&str, Box<dyn Rows>)> = vec![
        ("bloscpack", Box::new(PackRows::open(file, &limits).unwrap())),
        ("column", Box::new(CArray::create(root(), &create, &limits).unwrap())),
        ("table", Box::new(CTable::create(root(), &columns, Value::Object(vec![]), &limits).unwrap())),
        ("blaze", Box::new(Blaze::create(&root(), &blaze, &limits).unwrap())),
    ];
    for (name, rows) in &mut all {
        let mut model = vec![0; rows.nbytes() as usize];
        random_edits(&mut r, &mut **rows, &mut model, steps, name);
    }
}

/// Datasets of the Blaze document, whose storage has no superchunksize: files of any number of chunks.
#[test]
fn super_chunks_of_unwritten_size_are_changed() {
    let (mut r, limits, mut pool) = (Random(10), Limits::default(), Pool::new(1));
    for run in 0..if containers::long() { 200 } else { 12 } {
        let dir = MemDir::new();
        let create = blaze::Create {
            chunklen: Some(10),
            superchunk: Some(1 + r.below(4)),
            ..blaze::Create::new(&Dtype::parse("|u1").unwrap())
        };
        let root = FlatTree::new(dir.clone());
        let n = r.below(150) as usize;
        let mut model = r.bytes(n);
        Blaze::create(&root, &create, &limits).unwrap().append(&mut pool, &model).unwrap();
        let storage = String::from_utf8(dir.get("meta!storage").unwrap()).unwrap();
        let cut = storage.find(", \"superchunksize\"").unwrap();
        dir.put("meta!storage", format!("{}}}\n", &storage[..cut]).into_bytes());
        for step in 0..4 {
            let mut set = Blaze::open(&root, &limits).unwrap();
            assert_eq!(set.storage().superchunk, None);
            random_edits(&mut r, &mut set, &mut model, 1, &format!("run {run} step {step}"));
            assert!(set.verify(&mut pool, true).unwrap().is_empty());
        }
    }
}

/// Appends to tables, and trims of them, change all columns or none, whenever a crash comes.
#[test]
fn crashes_during_edits_of_tables() {
    let (mut pool, limits, mut r) = (Pool::new(1), Limits::default(), Random(65));
    let mut points = 0;
    for run in 0..if containers::long() { 30 } else { 1 } {
        let dir = FaultDir::new();
        let columns = ["a", "b", "c"].map(|name| {
            let dtype = Dtype::parse(["<i4", "|S3", "<f8"][r.below(3) as usize]).unwrap();
            (name.to_string(), Create { chunklen: Some(2 + r.below(20)), ..Create::new(dtype) })
        });
        let root = FlatTree::new(dir.clone());
        let mut table = CTable::create(root, &columns, Value::Object(vec![]), &limits).unwrap();
        let n = r.below(40) as usize * table.row_nbytes() as usize;
        table.append(&mut pool, &r.bytes(n)).unwrap();
        points += crash_points(&mut r, &dir, &format!("run {run}"), &|dir| {
            Ok(Box::new(CTable::open(FlatTree::new(dir), &limits)?))
        });
    }
    println!("{points} crash points");
}

/// What can be cut or changed of a directory container, file by file.
fn hostile(name: &str, base: &MemDir, names: &[String], read: &dyn Fn(MemDir) -> Result<Vec<u8>, Error>) {
    let good = read(base.clone()).unwrap();
    let step = if emulated() { 7 } else { 1 };
    let copy = || {
        let dir = MemDir::new();
        names.iter().for_each(|n| dir.put(n, base.get(n).unwrap()));
        dir
    };
    for file in names.iter().filter(|n| !n.ends_with('!')) {
        let content = base.get(file).unwrap();
        for cut in (0..content.len()).step_by(step) {
            let dir = copy();
            dir.put(file, content[..cut].to_vec());
            if let Ok(got) = read(dir) {
                let plain = file.contains("data!");
                assert!(got == good || !plain, "{name}: {file} cut at {cut}");
            }
        }
        for at in (0..content.len()).step_by(step) {
            for flip in [0x01, 0x10, 0x80, 0xff] {
                let dir = copy();
                let mut bad = content.clone();
                bad[at] ^= flip;
                dir.put(file, bad);
                if let Ok(got) = read(dir) {
                    assert!(got.len() <= 1 << 20);
                    // Super-chunks have checksums; the chunk files of bcolz have none.
                    let guarded = file.ends_with(".bin") && at >= 32;
                    assert!(got == good || !guarded, "{name}: {file} byte {at} ^ {flip:#x}");
                }
            }
        }
    }
}

#[test]
fn directories_cut_and_changed_at_every_byte() {
    let (mut pool, mut r) = (Pool::new(1), Random(12));
    let limits = Limits::default().output(1 << 20);
    let attrs =
        || Value::object([("t", Value::Number("11.5".into())), ("l", Value::List(vec![Value::int(3)]))]);
    let dtype = Dtype::parse("[('a', '<i4'), ('b', '|S3')]").unwrap();
    for syntax in [MetaSyntax::Json, MetaSyntax::Yaml] {
        let dir = MemDir::new();
        let create = blaze::Create {
            chunklen: Some(8),
            superchunk: Some(2),
            attrs: attrs(),
            syntax,
            ..blaze::Create::new(&dtype)
        };
        let rows = r.bytes(7 * 30);
        Blaze::create(&FlatTree::new(dir.clone()), &create, &limits)
            .unwrap()
            .append(&mut pool, &rows)
            .unwrap();
        let names = dir.list().unwrap();
        hostile(&format!("{syntax:?}"), &dir, &names, &|dir| {
            let set = Blaze::open(&FlatTree::new(dir), &limits)?;
            if set.nbytes() > 1 << 16 {
                return Ok(Vec::new());
            }
            let mut pool = Pool::new(1);
            let _ = (set.verify(&mut pool, true), set.attrs());
            all(&set, &mut pool)
        });
    }
    let dir = MemDir::new();
    let columns = [("a", "<i4"), ("b", "|S3")].map(|(name, dtype)| {
        (name.to_string(), Create { chunklen: Some(8), ..Create::new(Dtype::parse(dtype).unwrap()) })
    });
    let mut table = CTable::create(FlatTree::new(dir.clone()), &columns, attrs(), &limits).unwrap();
    table.append(&mut pool, &r.bytes(7 * 30)).unwrap();
    dir.put("__pending__", br#"{"rows": 30}"#.to_vec());
    let names = dir.list().unwrap();
    hostile("bcolz", &dir, &names, &|dir| {
        let table = CTable::open(FlatTree::new(dir), &limits)?;
        if table.nbytes() > 1 << 16 {
            return Ok(Vec::new());
        }
        let mut pool = Pool::new(1);
        let _ = table.verify(&mut pool);
        all(&table, &mut pool)
    });
}

/// A conversion of an array of one long row stays within bounded memory and keeps every item.
#[test]
fn arrays_of_long_rows_are_converted_piece_by_piece() {
    let place: PathBuf = std::env::temp_dir().join(format!("blosc-rows-wide-{}", std::process::id()));
    let _ = std::fs::remove_dir_all(&place);
    std::fs::create_dir_all(&place).unwrap();
    // A row of chunks above 64 MiB is written chunk by chunk.
    let shape = vec![3, 12_000_000];
    let data: Vec<u8> = (0..36_000_000u32).map(|i| (i / 1000) as u8).flat_map(|b| [b, 0]).collect();
    std::fs::write(place.join("raw"), &data).unwrap();
    let raw =
        open_raw(place.join("raw"), Some(Dtype::parse("<i2").unwrap()), Some(shape.clone()), 1).unwrap();
    let packing = Packing::new(Params::new(2).level(1));
    let cut = Cut::default().shapes(Some(vec![3, 500_000]), Some(vec![3, 5000]));
    let (mut a, mut b) = (Pool::new(1), Pool::new(1));
    convert(&raw, &mut a, &mut b, &Target::B2nd(packing, cut), place.join("x.b2nd")).unwrap();
    let nd = open_any(place.join("x.b2nd"), &Limits::default()).unwrap();
    assert_eq!(nd.about.shape, Some(shape));
    assert!(nd.data.chunk_nbytes() <= 64 << 20);
    convert(&nd, &mut a, &mut b, &Target::Npy, place.join("x.npy")).unwrap();
    let npy = std::fs::read(place.join("x.npy")).unwrap();
    assert!(npy.ends_with(&data));
    std::fs::remove_dir_all(place).unwrap();
}

/// Bytes of a file, or of all files below a directory.
fn taken(path: &std::path::Path) -> u64 {
    match path.is_dir() {
        true => std::fs::read_dir(path).unwrap().map(|entry| taken(&entry.unwrap().path())).sum(),
        false => std::fs::metadata(path).unwrap().len(),
    }
}

/// After any edits a container takes at most 1.5 times what a new one of the same rows takes, and two chunks.
#[test]
fn edits_leave_nothing_behind() {
    let place = std::env::temp_dir().join(format!("blosc-rows-growth-{}", std::process::id()));
    let _ = std::fs::remove_dir_all(&place);
    std::fs::create_dir_all(&place).unwrap();
    let (limits, mut r, mut pool) = (Limits::default(), Random(21), Pool::new(1));
    let (row, chunk) = (6usize, 600u64);
    let packing = Packing::new(Params::new(1)).chunk(Some(chunk));
    let pack = |layout| {
        let spare = Spare::Chunks(300);
        Target::Bloscpack(Options { chunk_size: 600, layout, spare, ..Options::default() })
    };
    let targets = [
        ("v3.blp", pack(Layout::V3)),
        ("mono.blp", pack(Layout::Mono)),
        ("bcolz", Target::Bcolz(packing)),
        ("blaze", Target::Blaze(packing, Some(40), MetaSyntax::Json)),
    ];
    let data: Vec<u8> = (0..4000 * row).map(|_| r.next() as u8).collect();
    std::fs::write(place.join("raw"), &data).unwrap();
    let raw =
        open_raw(place.join("raw"), Some(Dtype::parse("<i2").unwrap()), Some(vec![4000, 3]), 1).unwrap();
    for (name, target) in targets {
        let path = place.join(name);
        convert(&raw, &mut Pool::new(1), &mut Pool::new(1), &target, &path).unwrap();
        for step in 0..if containers::long() {
            300
        } else if emulated() {
            10
        } else {
            40
        } {
            let mut opened = open_any_mut(&path, &limits).unwrap();
            let rows = opened.data.rows();
            let change = match r.below(8) {
                0 => Edit::Resize(1 + r.below(4000)),
                1 => Edit::Resize(1),
                _ if step == 0 => Edit::Resize(1),
                _ => Edit::random(&mut r, rows, row, 300),
            };
            // A bloscpack file that was emptied takes its chunk size from what is appended first.
            let change = match change {
                Edit::Resize(0) | Edit::Remove(0, _) => Edit::Resize(1),
                change => change,
            };
            change
                .make(&mut *opened.data, &mut pool)
                .unwrap_or_else(|e| panic!("{name} {step}: {e} {change:?}"));
            drop(opened);
            let (now, fresh) = (open_any(&path, &limits).unwrap(), place.join("fresh"));
            convert(&now, &mut Pool::new(1), &mut Pool::new(1), &target, &fresh).unwrap();
            let (has, live) = (taken(&path), taken(&fresh));
            assert!(
                2 * has <= 3 * live + 4 * (chunk + 16),
                "{name} {step}: {has} bytes for {live}: {change:?}"
            );
            let _ = std::fs::remove_file(&fresh);
            let _ = std::fs::remove_dir_all(&fresh);
        }
    }
    std::fs::remove_dir_all(place).unwrap();
}

/// What a writer left that died goes with the next edit; what others left stays, and rows that do not count keep edits
/// away.
#[test]
fn what_others_leave_in_a_directory_stays() {
    let place = std::env::temp_dir().join(format!("blosc-rows-strays-{}", std::process::id()));
    let _ = std::fs::remove_dir_all(&place);
    std::fs::create_dir_all(&place).unwrap();
    std::fs::write(place.join("raw"), vec![7; 6000]).unwrap();
    let raw = open_raw(place.join("raw"), None, None, 1).unwrap();
    let packing = Packing::new(Params::new(1)).chunk(Some(600));
    let cases = [
        ("bcolz", Target::Bcolz(packing), "data/__12.blp", "__pending__"),
        ("blaze", Target::Blaze(packing, Some(4), MetaSyntax::Json), "data/__4__.bin", "meta/__pending__"),
    ];
    for (name, target, stray, pending) in cases {
        let path = place.join(name);
        convert(&raw, &mut Pool::new(1), &mut Pool::new(1), &target, &path).unwrap();
        let kept = ["data/notes.tmp7", "data/notes", "data/__1.blp.tmp0", "meta/sizes.bak", "inner/file"];
        std::fs::create_dir(path.join("inner")).unwrap();
        for file in kept.iter().chain([&stray]) {
            std::fs::write(path.join(file), b"left").unwrap();
        }
        let append = || {
            let mut opened = open_any_mut(&path, &Limits::default()).unwrap();
            opened.data.append(&mut Pool::new(1), &vec![8u8; 10])
        };
        assert!(append().is_err(), "{name}: a file of chunks that nobody announced");
        assert!(path.join(stray).exists(), "{name}");
        std::fs::write(path.join(pending), b"{\"rows\": 6000}").unwrap();
        append().unwrap();
        assert!(!path.join(stray).exists() && !path.join(pending).exists(), "{name}");
        let mut opened = open_any_mut(&path, &Limits::default()).unwrap();
        opened.data.remove(&mut Pool::new(1), 0..10).unwrap();
        opened.data.append(&mut Pool::new(1), &vec![9u8; 10]).unwrap();
        assert!(kept.iter().all(|file| std::fs::read(path.join(file)).unwrap() == b"left"), "{name}");
        drop(opened);
        let again = open_any(&path, &Limits::default()).unwrap();
        let want = [vec![7; 5990], vec![8; 10], vec![9; 10]].concat();
        assert_eq!(all(&*again.data, &mut Pool::new(1)).unwrap(), want);
    }
    std::fs::remove_dir_all(place).unwrap();
}
