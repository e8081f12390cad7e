//! Every container into every other: the bytes stay, and so does what the target can hold.

use blosc_core::{Codec, Params, Pool};
use blosc_frame::any::{AnyRows, Kind, open_any, open_any_mut, open_raw};
use blosc_frame::b2nd::Dims;
use blosc_frame::blaze::MetaSyntax;
use blosc_frame::bloscpack::{Layout, Numpy, Options, Order};
use blosc_frame::convert::{Cut, Packing, Target, convert};
use blosc_frame::dtype::Dtype;
use blosc_frame::io::ReadAt;
use blosc_frame::npy::NpyHeader;
use blosc_frame::plain::{Plain, Uncompressed};
use blosc_frame::reversed::AxesReversed;
use blosc_frame::value::Value;
use blosc_frame::{IoError, Limits, Rows, SuperChunk};
use blosc_testkit::{Folder, emulated};
use std::cell::Cell;
use std::path::Path;

pub fn targets() -> Vec<(&'static str, Target)> {
    let packing = Packing::new(Params::new(1).codec(Codec::Zstd)).chunk(Some(960));
    let pack = |layout| Target::Bloscpack(Options { chunk_size: 1000, layout, ..Options::default() });
    vec![
        ("v3.blp", pack(Layout::V3)),
        ("mono.blp", pack(Layout::Mono)),
        ("bcolz", Target::Bcolz(packing)),
        ("blaze-json", Target::Blaze(packing, Some(3), MetaSyntax::Json)),
        ("blaze-yaml", Target::Blaze(packing, None, MetaSyntax::Yaml)),
        ("a.b2frame", Target::Cframe(packing)),
        ("sframe", Target::Sframe(packing)),
        ("a.b2nd", Target::B2nd(packing, Cut::default())),
        ("a.npy", Target::Npy),
    ]
}

pub fn bytes(input: &AnyRows) -> Vec<u8> {
    let mut out = vec![0; input.data.nbytes() as usize];
    input.data.read_plain(&mut Pool::new(1), 0, &mut out).unwrap();
    out
}

pub fn run(input: &AnyRows, target: &Target, path: &Path) -> (AnyRows, Vec<String>) {
    let notes = convert(input, &mut Pool::new(1), &mut Pool::new(1), target, path)
        .unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    (open_any(path, &Limits::default()).unwrap_or_else(|e| panic!("{}: {e}", path.display())), notes)
}

fn chain(name: &str, dtype: &str, shape: &[u64]) {
    let temp = Folder::new(name);
    let dtype = Dtype::parse(dtype).unwrap();
    let n = shape.iter().product::<u64>() * u64::from(dtype.itemsize());
    let data: Vec<u8> = (0..n).map(|i| (i / 7 % 251) as u8).collect();
    let raw = temp.path("raw");
    std::fs::write(&raw, &data).unwrap();
    let mut source = open_raw(&raw, Some(dtype.clone()), Some(shape.to_vec()), 1).unwrap();
    let metadata =
        Value::object([("unit", Value::text("K")), ("n", Value::List(vec![Value::int(1), Value::int(2)]))]);
    source.about.metadata = Some(metadata.clone());
    for (first, target) in targets() {
        let (one, notes) = run(&source, &target, &temp.path(first));
        assert!(bytes(&one) == data, "{name} -> {first}");
        let keeps_array = !matches!(target, Target::Cframe(_) | Target::Sframe(_));
        if keeps_array {
            assert_eq!(one.about.dtype.as_ref(), Some(&dtype), "{name} -> {first}");
            assert_eq!(one.about.shape.as_deref(), Some(shape), "{name} -> {first}");
        } else {
            assert!(notes.iter().any(|n| n == "dtype"), "{notes:?}");
        }
        match target {
            Target::Npy => assert!(notes.iter().any(|n| n == "metadata")),
            _ => assert_eq!(one.about.metadata.as_ref(), Some(&metadata), "{name} -> {first}"),
        }
        // Where an emulator is slow: byte order and pointers are the same whatever was read before.
        for (second, target) in targets().into_iter().take(if emulated() { 0 } else { usize::MAX }) {
            let path = temp.path(&format!("{first}-{second}"));
            let (two, _) = run(&one, &target, &path);
            assert!(bytes(&two) == data, "{name} -> {first} -> {second}");
        }
    }
}

/// New rows are filled with the same value in every container that has one; the others say that they have none.
#[test]
fn fill_values_are_kept_or_named() {
    let temp = Folder::new("fill-values");
    std::fs::write(temp.path("raw"), [1; 40]).unwrap();
    let mut source = open_raw(temp.path("raw"), Some(Dtype::parse("<i4").unwrap()), None, 4).unwrap();
    source.about.fill = Some(Value::int(7));
    for (name, target) in targets() {
        let (made, notes) = run(&source, &target, &temp.path(name));
        let named = notes.iter().any(|note| note == "the fill value of new rows");
        let keeps = matches!(target, Target::Bcolz(_) | Target::Blaze(..));
        assert_eq!((made.about.fill, named), (source.about.fill.clone().filter(|_| keeps), !keeps), "{name}");
    }
}

/// The filter of the input's parameters reaches every container that has it.
#[test]
fn filters_are_kept() {
    let temp = Folder::new("filters");
    std::fs::write(temp.path("raw"), vec![7; 4000]).unwrap();
    let source = open_raw(temp.path("raw"), Some(Dtype::parse("<i4").unwrap()), None, 4).unwrap();
    let params = [Params::new(4).no_filter(), Params::new(4).shuffle(), Params::new(4).bitshuffle()];
    for (k, params) in params.into_iter().enumerate() {
        let packing = Packing::new(params);
        let targets = [
            ("bcolz", Target::Bcolz(packing)),
            ("blaze", Target::Blaze(packing, None, MetaSyntax::Json)),
            ("b2frame", Target::Cframe(packing)),
            ("b2nd", Target::B2nd(packing, Cut::default())),
        ];
        for (name, target) in targets {
            let (output, _) = run(&source, &target, &temp.path(&format!("{k}.{name}")));
            let filters = |params: &Params| params.filters.map(|slot| slot.filter);
            assert_eq!(filters(&output.about.params.unwrap()), filters(&params), "{name}");
        }
    }
}

#[test]
fn one_dimension() {
    chain("one", "<f4", &[777]);
}

#[test]
fn three_dimensions() {
    chain("three", ">i2", &[20, 3, 5]);
}

#[test]
fn records() {
    chain("records", "[('a', '<i4'), ('s', '|S3'), ('p', '<f8', (2,))]", &[100]);
}

#[test]
fn nothing_at_all() {
    chain("empty", "<i4", &[0]);
}

/// Items of `shape` in C order and in Fortran order, two bytes each.
fn both_orders(shape: &[u64]) -> (Vec<u8>, Vec<u8>) {
    let items = shape.iter().product::<u64>();
    let item = |i: u64| (i as u16).wrapping_mul(7919).to_le_bytes();
    let c = (0..items).flat_map(item).collect();
    let fortran = (0..items).flat_map(|mut k| {
        // The first index counts fastest.
        let mut index = Vec::new();
        for &side in shape {
            index.push(k % side);
            k /= side;
        }
        item(index.iter().zip(shape).fold(0, |n, (i, side)| n * side + i))
    });
    (c, fortran.collect())
}

/// A Fortran-order array in a file of each kind that can hold one.
fn fortran_files(temp: &Folder, shape: &[u64]) -> Vec<u8> {
    let (c, fortran) = both_orders(shape);
    let dtype = Dtype::parse("<i2").unwrap();
    let header = NpyHeader { dtype: dtype.clone(), fortran: true, shape: Dims::new(shape).unwrap() };
    let npy = [header.to_bytes().unwrap(), fortran.clone()].concat();
    std::fs::write(temp.path("F.npy"), npy).unwrap();
    let numpy = Numpy { dtype, shape: shape.to_vec(), order: Order::F };
    for (name, layout) in [("F.blp", Layout::V3), ("F-mono.blp", Layout::Mono)] {
        let options = Options { chunk_size: 1000, layout, ..Options::default() }.numpy(&numpy).unwrap();
        let file = options.write(&mut Pool::new(1), &fortran, Vec::new()).unwrap();
        std::fs::write(temp.path(name), file).unwrap();
    }
    c
}

#[test]
fn fortran_order_is_transposed() {
    for shape in [&[30u64, 40][..], &[5, 6, 7], &[1, 900], &[900, 1], &[11]] {
        let temp = Folder::new(&format!("fortran-{}-{}", shape.len(), shape[0]));
        let c = fortran_files(&temp, shape);
        for file in ["F.npy", "F.blp", "F-mono.blp"] {
            let source = open_any(temp.path(file), &Limits::default()).unwrap();
            assert_eq!(source.about.shape.as_deref(), Some(shape), "{file}");
            assert!(bytes(&source) == c, "{file} {shape:?}");
            for (name, target) in targets() {
                let (one, notes) = run(&source, &target, &temp.path(&format!("{file}-{name}")));
                assert!(bytes(&one) == c, "{file} -> {name} {shape:?}");
                assert!(!notes.iter().any(|n| n.contains("Fortran")), "{notes:?}");
                if let Some(got) = one.about.shape.as_deref() {
                    assert!(
                        got == shape || !matches!(target, Target::B2nd(..) | Target::Npy),
                        "{file} -> {name}"
                    );
                }
            }
        }
    }
}

#[test]
fn edits_of_fortran_order_are_those_of_rows() {
    let temp = Folder::new("fortran-edits");
    let shape = [30u64, 4, 10];
    let (row, mut pool) = (4 * 10 * 2, Pool::new(1));
    for file in ["F.blp", "F-mono.blp"] {
        type Change =
            (&'static str, fn(&mut dyn Rows, &mut Pool, &Vec<u8>), fn(&mut Vec<u8>, usize, Vec<u8>));
        let changes: [Change; 5] = [
            (
                "set",
                |rows, pool, new| rows.set(pool, 3, new).unwrap(),
                |model, row, new| {
                    model[3 * row..5 * row].copy_from_slice(&new);
                },
            ),
            ("append", |rows, pool, new| rows.append(pool, new).unwrap(), |model, _, new| model.extend(new)),
            (
                "insert",
                |rows, pool, new| rows.insert(pool, 7, new).unwrap(),
                |model, row, new| {
                    model.splice(7 * row..7 * row, new);
                },
            ),
            (
                "remove",
                |rows, pool, _| rows.remove(pool, 2..9).unwrap(),
                |model, row, _| {
                    model.drain(2 * row..9 * row);
                },
            ),
            (
                "resize",
                |rows, pool, _| rows.resize(pool, 41).unwrap(),
                |model, row, _| {
                    model.resize(41 * row, 0);
                },
            ),
        ];
        for (name, change, apply) in changes {
            let mut model = fortran_files(&temp, &shape);
            let new: Vec<u8> = (0..2 * row as u32).map(|i| (i * 3 % 251) as u8).collect();
            {
                let mut opened = open_any_mut(temp.path(file), &Limits::default()).unwrap();
                let before = std::fs::read(temp.path(file)).unwrap();
                assert!(opened.data.set_in_place(&mut pool, 0, &new).is_err(), "{file}");
                assert_eq!(std::fs::read(temp.path(file)).unwrap(), before);
                change(&mut *opened.data, &mut pool, &new);
                apply(&mut model, row, new.clone());
                assert!(bytes(&opened) == model, "{file} {name}, the handle");
            }
            let again = open_any(temp.path(file), &Limits::default()).unwrap();
            assert!(bytes(&again) == model, "{file} {name}");
            assert_eq!(again.about.shape, Some(vec![(model.len() / row) as u64, 4, 10]), "{file} {name}");
        }
    }
}

/// However a reader asks, a transposed file is read in pages and in few pieces, never as a whole.
#[test]
fn transposing_reads_about_as_much_as_there_is() {
    struct Counted(Vec<u8>, Cell<(u64, u64)>);
    impl ReadAt for Counted {
        fn size(&self) -> Result<u64, IoError> {
            Ok(self.0.len() as u64)
        }
        fn read_at(&self, offset: u64, buf: &mut [u8]) -> Result<usize, IoError> {
            let (calls, bytes) = self.1.get();
            self.1.set((calls + 1, bytes + buf.len() as u64));
            self.0.read_at(offset, buf)
        }
    }
    for (rows, columns) in [(3000u64, 3000u64), (3, 3_000_000), (3_000_000, 3), (1, 9_000_000)] {
        let nbytes = rows * columns * 2;
        let source = Counted(vec![1; nbytes as usize], Cell::default());
        let array = AxesReversed::new(Uncompressed::new(&source, 0, nbytes), &[rows, columns], 2).unwrap();
        let mut out = vec![0; array.chunk_nbytes().min(nbytes) as usize];
        let mut at = 0;
        while at < nbytes {
            let n = (nbytes - at).min(out.len() as u64) as usize;
            array.read_plain(&mut Pool::new(1), at, &mut out[..n]).unwrap();
            at += n as u64;
        }
        let (calls, bytes) = source.1.get();
        assert!(
            bytes <= 3 * nbytes && calls <= nbytes / 1000,
            "{rows} x {columns}: {calls} reads, {bytes} bytes"
        );
    }
}

#[test]
fn a_path_that_is_taken_stays_as_it_is() {
    let temp = Folder::new("taken");
    let raw = temp.path("raw");
    std::fs::write(&raw, b"12345678").unwrap();
    let source = open_raw(&raw, None, None, 1).unwrap();
    for (name, target) in targets() {
        let path = temp.path(name);
        std::fs::write(&path, b"mine").unwrap();
        let done = convert(&source, &mut Pool::new(1), &mut Pool::new(1), &target, &path);
        assert!(done.is_err(), "{name}");
        assert_eq!(std::fs::read(&path).unwrap(), b"mine", "{name}");
    }
}

/// A filter that bcolz and Blaze have is not lost on the way there.
#[test]
fn bcolz_and_blaze_get_the_filter_that_is_asked_for() {
    let temp = Folder::new("convert-filters");
    let raw = temp.path("raw");
    std::fs::write(&raw, [1, 0, 0, 0].repeat(1000)).unwrap();
    let source = open_raw(&raw, Some(Dtype::parse("<i4").unwrap()), None, 4).unwrap();
    let params = [Params::new(4).no_filter(), Params::new(4).shuffle(), Params::new(4).bitshuffle()];
    for (shuffle, params) in params.into_iter().enumerate() {
        let packing = Packing::new(params);
        let targets = [Target::Bcolz(packing), Target::Blaze(packing, None, MetaSyntax::Json)];
        for (n, target) in targets.iter().enumerate() {
            let (new, _) = run(&source, target, &temp.path(&format!("{n}{shuffle}")));
            assert_eq!(new.about.params.unwrap().filters, params.filters, "{target:?}");
        }
    }
}

/// Every format is told by its beginning, and by nothing that any bytes could begin with.
#[test]
fn files_are_what_they_begin_with() {
    let chunk = blosc_core::compress(&blosc_core::Params::new(4), &[7; 400]).unwrap();
    let frame = SuperChunk::memory(&blosc_core::Params::new(1)).unwrap().to_bytes().unwrap();
    let cases: [(&[u8], Kind); 14] = [
        (&frame, Kind::Frame),
        (&chunk, Kind::Chunk),
        (&chunk[..chunk.len() - 1], Kind::Unknown),
        (b"blpk\x03", Kind::Bloscpack),
        (b"\x93NUMPY\x01\0", Kind::Npy),
        (b"PK\x03\x04\x14", Kind::Zip),
        (b"PK\x05\x06", Kind::Zip),
        (b"\x89HDF\r\n\x1a\n\0", Kind::Hdf5),
        (b"PAR1", Kind::Foreign("Parquet")),
        (b"\x1f\x8b\x08", Kind::Foreign("gzip")),
        (b"{\"zarr_format\": 2}", Kind::Zarr),
        (b"{\"meta\": \"a\", \"shards\": []}", Kind::Shards),
        (b"{\"a\": 1}", Kind::Unknown),
        (b"", Kind::Unknown),
    ];
    for (head, kind) in cases {
        assert_eq!(Kind::of_head(head, Some(head.len() as u64)), kind, "{head:?}");
        assert_eq!(kind.advice().is_some(), {
            matches!(kind, Kind::Foreign(_) | Kind::Hdf5 | Kind::Zarr | Kind::Unknown)
        });
    }
    let mut damaged = frame.clone();
    damaged[0] = 0;
    assert_eq!(Kind::of_head(&damaged, None), Kind::Frame);
}
