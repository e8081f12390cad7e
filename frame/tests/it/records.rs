//! Every form of record into every container: a field has its values under its name, wherever it lies in the item.

use crate::convert::{bytes, run, targets};
use blosc_core::Pool;
use blosc_frame::any::{AnyRows, open_raw};
use blosc_frame::convert::{Target, convert};
use blosc_frame::dtype::{Dtype, Repack};
use blosc_testkit::Folder;
use std::collections::BTreeMap;

const FORMS: [(&str, &str); 14] = [
    ("packed", "[('a', '<i4'), ('s', '|S3'), ('p', '<f8', (2,))]"),
    ("padded", "{'names': ['a', 'b'], 'formats': ['u1', '<f8'], 'offsets': [1, 6], 'itemsize': 17}"),
    ("aligned", "{'names': ['a', 'b', 'c'], 'formats': ['u1', '<f8', '<i2'], 'aligned': True}"),
    ("permuted", "{'names': ['a', 'b'], 'formats': ['<i4', '<i4'], 'offsets': [4, 0], 'itemsize': 8}"),
    (
        "permuted and padded",
        "{'names': ['a', 'b'], 'formats': ['>i2', '<f8'], 'offsets': [9, 0], 'itemsize': 13}",
    ),
    ("overlapping", "{'names': ['a', 'b'], 'formats': ['<i4', '<i4'], 'offsets': [0, 2], 'itemsize': 6}"),
    ("overlapping, sizes add up", "{'names': ['a', 'b'], 'formats': ['<i4', '<i4'], 'offsets': [0, 2]}"),
    ("union", "{'names': ['x', 'y', 'all'], 'formats': ['<u2', '<u2', '<u4'], 'offsets': [0, 2, 0]}"),
    ("one field after a gap", "{'names': ['a'], 'formats': ['<i4'], 'offsets': [4], 'itemsize': 12}"),
    ("nested", "[('a', [('x', '<i2'), ('y', 'u1')]), ('b', '<f4')]"),
    (
        "nested, permuted inside",
        "[('a', {'names': ['x', 'y'], 'formats': ['<i2', 'u1'], 'offsets': [1, 0]}), ('b', '<f4')]",
    ),
    (
        "array of padded records",
        "[('n', 'u1'), ('a', {'names': ['x', 'y'], 'formats': ['u1', '<i2'], 'offsets': [3, 0], 'itemsize': 5}, (2, 2))]",
    ),
    ("titles", "[(('long name', 'a'), '<i4'), ('b', 'u1')]"),
    (
        "titles, permuted",
        "{'names': ['a', 'b'], 'formats': ['<i4', 'u1'], 'offsets': [1, 0], 'titles': ['long', None]}",
    ),
];

/// The bytes of every scalar of an item by its path.
fn by_name(dtype: &Dtype, item: &[u8], path: &str, values: &mut BTreeMap<String, Vec<u8>>) {
    match dtype {
        Dtype::Struct(record) => {
            for field in &record.fields {
                let at = field.offset as usize;
                let part = &item[at..at + field.dtype.itemsize() as usize];
                by_name(&field.dtype, part, &format!("{path}.{}", field.name), values);
            }
        }
        Dtype::Array { item: inner, .. } => {
            for (k, part) in item.chunks_exact(inner.itemsize() as usize).enumerate() {
                by_name(inner, part, &format!("{path}[{k}]"), values);
            }
        }
        Dtype::Scalar(scalar) => {
            values.insert(format!("{path}: {scalar}"), item.to_vec());
        }
    }
}

fn rows(dtype: &Dtype, data: &[u8]) -> Vec<BTreeMap<String, Vec<u8>>> {
    let rows = data.chunks_exact(dtype.itemsize() as usize).map(|item| {
        let mut values = BTreeMap::new();
        by_name(dtype, item, "", &mut values);
        values
    });
    rows.collect()
}

fn names(dtype: &Dtype) -> Vec<String> {
    match dtype {
        Dtype::Struct(record) => record.fields.iter().map(|field| field.name.clone()).collect(),
        _ => Vec::new(),
    }
}

fn source(folder: &Folder, dtype: &Dtype, shape: &[u64]) -> (AnyRows, Vec<u8>) {
    let n = shape.iter().product::<u64>() * u64::from(dtype.itemsize());
    let data: Vec<u8> = (0..n).map(|i| (i * 37 % 251) as u8).collect();
    std::fs::write(folder.path("raw"), &data).unwrap();
    (open_raw(folder.path("raw"), Some(dtype.clone()), Some(shape.to_vec()), 1).unwrap(), data)
}

#[test]
fn fields_are_taken_where_they_lie() {
    for (form, text) in FORMS {
        let dtype = Dtype::parse(text).unwrap();
        // Rows of records, and rows of rows of them: a bcolz table and a bcolz column.
        for shape in [vec![211], vec![30, 7]] {
            let folder = Folder::new("records");
            let (input, data) = source(&folder, &dtype, &shape);
            let want = rows(&dtype, &data);
            for (name, target) in targets() {
                if matches!(target, Target::Blaze(..)) && shape.len() > 1 {
                    // Rows of several items are one column, and records are several.
                    let pools = (&mut Pool::new(1), &mut Pool::new(1));
                    let error = convert(&input, pools.0, pools.1, &target, folder.path(name)).unwrap_err();
                    assert!(error.to_string().contains("columns with more than one dimension"), "{error}");
                    continue;
                }
                let (output, notes) = run(&input, &target, &folder.path(name));
                let cell = format!("{form} {shape:?} -> {name}");
                if matches!(target, Target::Cframe(_) | Target::Sframe(_)) {
                    assert_eq!(bytes(&output), data, "{cell}");
                    assert!(notes.iter().any(|note| note == "dtype"), "{cell}: {notes:?}");
                    continue;
                }
                let stored = output.about.dtype.clone().unwrap();
                assert_eq!(rows(&stored, &bytes(&output)), want, "{cell}: {stored}");
                assert_eq!(names(&stored), names(&dtype), "{cell}: {stored}");
                assert_eq!(output.about.shape.as_deref(), Some(&*shape), "{cell}");
                match target {
                    Target::B2nd(..) => {
                        assert_eq!((&stored, bytes(&output)), (&dtype, data.clone()), "{cell}")
                    }
                    Target::Bcolz(_) | Target::Blaze(..) if form.starts_with("titles") => {
                        let told = notes.iter().any(|note| note.contains("title") || note.contains("nested"));
                        assert!(told, "{cell}: {notes:?}");
                    }
                    _ => {}
                }
            }
        }
    }
}

/// What a header can say stays as it is; a plan is no larger than its dtype's text.
#[test]
fn packing_is_for_targets_that_need_it() {
    for (form, text) in FORMS {
        let dtype = Dtype::parse(text).unwrap();
        let told = dtype.to_descr().is_ok();
        assert_eq!(Repack::of_descr(&dtype).unwrap().is_none(), told, "{form}");
        if let Some(repack) = Repack::of(&dtype).unwrap() {
            assert_eq!(repack.unpacked() as u32, dtype.itemsize(), "{form}");
            assert!(Repack::of(repack.dtype()).unwrap().is_none(), "{form}");
        }
    }
    let wide = "{'names': ['a', 'b'], 'formats': ['|V2000000000', '|V2000000000'], 'offsets': [0, 0]}";
    assert!(Repack::of(&Dtype::parse(wide).unwrap()).is_err());
    let many = "[('a', {'names': ['x'], 'formats': ['u1'], 'offsets': [1]}, (1000000000,))]";
    assert_eq!(Repack::of(&Dtype::parse(many).unwrap()).unwrap().unwrap().packed(), 1_000_000_000);
    let unnamed = "{'names': [''], 'formats': ['u1'], 'offsets': [1]}";
    assert!(Repack::of_descr(&Dtype::parse(unnamed).unwrap()).is_err());
}
