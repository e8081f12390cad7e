//! Every container into every other: the bytes stay, and so does what the target can hold.

use blosc_core::{Codec, Params, Pool};
use blosc_frame::Limits;
use blosc_frame::any::{Opened, open_any, open_raw};
use blosc_frame::blaze::MetaSyntax;
use blosc_frame::bloscpack::{Layout, Options};
use blosc_frame::convert::{Cut, Packing, Target, convert};
use blosc_frame::dtype::Dtype;
use blosc_frame::value::Value;
use blosc_testkit::Folder;
use std::path::Path;

fn targets() -> Vec<(&'static str, Target)> {
    let packing = Packing { params: Params::new(1).codec(Codec::Zstd), chunk: Some(960), reserve: 0 };
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

fn bytes(input: &Opened) -> Vec<u8> {
    let mut out = vec![0; input.data.nbytes() as usize];
    input.data.read_plain(&mut Pool::new(1), 0, &mut out).unwrap();
    out
}

fn run(input: &Opened, target: &Target, path: &Path) -> (Opened, Vec<String>) {
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
        for (second, target) in targets() {
            let path = temp.path(&format!("{first}-{second}"));
            let (two, _) = run(&one, &target, &path);
            assert!(bytes(&two) == data, "{name} -> {first} -> {second}");
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

#[test]
fn fortran_order_is_kept_or_told() {
    let temp = Folder::new("fortran");
    let raw = temp.path("raw");
    std::fs::write(&raw, (0..24u8).collect::<Vec<u8>>()).unwrap();
    let mut source = open_raw(&raw, Some(Dtype::parse("<i2").unwrap()), Some(vec![3, 4]), 1).unwrap();
    source.about.fortran = true;
    for (name, target) in targets() {
        let (one, notes) = run(&source, &target, &temp.path(name));
        assert_eq!(bytes(&one), (0..24).collect::<Vec<u8>>());
        let told = notes.iter().any(|n| n.contains("Fortran"));
        assert_ne!(one.about.fortran, told, "{name}: kept or told");
        if told && one.about.shape.is_some() {
            assert_eq!(one.about.shape.as_deref(), Some(&[4, 3][..]), "{name}");
        }
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
