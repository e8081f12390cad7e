//! Packed tensors: arrays to who reads them, and their description follows every edit or the edit is refused.

use blosc_core::{Params, Pool};
use blosc_frame::any::{Opened, open, open_any_mut, open_mut};
use blosc_frame::b2nd::NdArray;
use blosc_frame::plain::Plain;
use blosc_frame::tensor::{NAME, Tensor};
use blosc_frame::{Limits, Rows, SuperChunk};
use blosc_testkit::Folder;
use std::path::Path;

/// ("numpy", shape, "<i2") in the bytes of python-blosc2; sides below 128.
fn description(shape: &[u8]) -> Vec<u8> {
    let list = |n: usize| 0x90 | (n as u8 + 1);
    [b"\x94\xa9__tuple__\xa5numpy", &[list(shape.len())][..], b"\xa9__tuple__", shape, b"\xa3<i2"].concat()
}

/// A tensor in chunks of ten bytes.
fn make(path: &Path, shape: &[u8], items: &[u8]) {
    let _ = std::fs::remove_file(path);
    let file = blosc_frame::io::PathFile::create_new(path).unwrap();
    let mut frame = SuperChunk::create(file, &Params::new(2)).unwrap();
    frame.set_chunksize(10).unwrap();
    frame.set_vlmetalayer(NAME, &description(shape)).unwrap();
    frame.append(items).unwrap();
    frame.commit().unwrap();
}

fn tensor(path: &Path) -> Tensor<'static> {
    match open(path).unwrap() {
        Opened::Tensor(tensor) => *tensor,
        _ => panic!("{} is no tensor", path.display()),
    }
}

#[test]
fn the_shape_follows_every_edit() {
    let folder = Folder::new("tensors");
    let (path, mut pool) = (folder.path("t.b2frame"), Pool::new(1));
    for shape in [&[7u8][..], &[5, 3], &[4, 2, 3], &[0], &[0, 3]] {
        let row = shape[1..].iter().map(|n| usize::from(*n)).product::<usize>() * 2;
        let items: Vec<u8> = (0..usize::from(shape[0]) * row).map(|n| n as u8).collect();
        let new = vec![200u8; 2 * row];
        let rows = u64::from(shape[0]);
        type Edit = fn(&mut dyn Rows, &mut Pool, &Vec<u8>, u64) -> Result<(), blosc_frame::Error>;
        type Model = fn(&mut Vec<u8>, &[u8], usize);
        let edits: [(&str, u64, Edit, Model); 6] = [
            ("append", 0, |t, pool, new, _| t.append(pool, new), |model, new, _| model.extend(new)),
            (
                "insert",
                0,
                |t, pool, new, _| t.insert(pool, 0, new),
                |model, new, _| {
                    drop(model.splice(0..0, new.iter().copied()));
                },
            ),
            (
                "set",
                3,
                |t, pool, new, _| t.set(pool, 1, new),
                |model, new, row| {
                    drop(model.splice(row..3 * row, new.iter().copied()));
                },
            ),
            (
                "remove",
                3,
                |t, pool, _, _| t.remove(pool, 1..3),
                |model, _, row| drop(model.drain(row..3 * row)),
            ),
            ("trim", 1, |t, pool, _, rows| t.trim(pool, rows), |model, _, _| model.clear()),
            (
                "resize",
                0,
                |t, pool, _, rows| t.resize(pool, rows + 3),
                |model, _, row| {
                    model.resize(model.len() + 3 * row, 0);
                },
            ),
        ];
        for (name, _, edit, change) in edits.into_iter().filter(|(_, least, ..)| rows >= *least) {
            make(&path, shape, &items);
            let mut model = items.clone();
            let mut opened = open_mut(&path).unwrap().into_rows().unwrap();
            assert_eq!((opened.about.kind, opened.data.rows()), ("tensor", rows));
            edit(&mut *opened.data, &mut pool, &new, rows)
                .unwrap_or_else(|e| panic!("{name} {shape:?}: {e}"));
            change(&mut model, &new, row);
            drop(opened);
            let mut after = tensor(&path);
            assert_eq!(after.read().unwrap(), model, "{name} {shape:?}");
            assert_eq!(after.shape()[0], (model.len() / row) as u64, "{name} {shape:?}");
            assert_eq!(after.shape()[1..].len(), shape.len() - 1);
            assert_eq!(after.dtype().to_string(), "<i2");
        }
    }
}

#[test]
fn what_would_break_it_is_refused_by_name() {
    let folder = Folder::new("tensors");
    let (path, mut pool) = (folder.path("t.b2frame"), Pool::new(1));
    // One item has no rows, and rows without items cannot be counted.
    for (shape, items) in [(&[][..], 2usize), (&[3, 0], 0)] {
        make(&path, shape, &vec![7; items]);
        let before = folder.read("t.b2frame");
        let mut opened = open_any_mut(&path, &Limits::DEFAULT).unwrap();
        let error = opened.data.append(&mut pool, &vec![0u8; 2]).unwrap_err();
        assert!(error.to_string().contains("packed tensor"), "{error}");
        assert!(opened.data.resize(&mut pool, 9).is_err());
        drop(opened);
        assert_eq!(folder.read("t.b2frame"), before);
    }
    // Chunks by themselves, and parts of rows.
    make(&path, &[5, 3], &[7; 30]);
    let before = folder.read("t.b2frame");
    let mut frame = SuperChunk::open_path_mut(&path).unwrap();
    frame.append(&[1; 6]).unwrap();
    assert!(frame.commit().unwrap_err().to_string().contains("bytes of a packed tensor"));
    drop(frame);
    let mut opened = open_any_mut(&path, &Limits::DEFAULT).unwrap();
    assert!(opened.data.append(&mut pool, &vec![0u8; 4]).is_err());
    drop(opened);
    assert_eq!(folder.read("t.b2frame"), before);
    // A description that says something else makes a plain frame, and a conversion says that it is lost.
    make(&path, &[5, 4], &[7; 30]);
    let Opened::Frame(frame) = open(&path).unwrap() else { panic!("a tensor of 40 bytes in 30") };
    let rows = Opened::Frame(frame).into_rows().unwrap();
    assert!(rows.about.left_out.iter().any(|what| what.contains(NAME)), "{:?}", rows.about.left_out);
    assert_eq!(rows.data.nbytes(), 30);
}

#[test]
fn a_path_is_opened_in_one_call_and_named_in_errors() {
    let folder = Folder::new("tensors");
    let path = folder.path("t.b2frame");
    let missing = |error: String| assert!(error.contains(path.to_str().unwrap()), "{error}");
    missing(open(&path).err().unwrap().to_string());
    missing(open_mut(&path).err().unwrap().to_string());
    missing(SuperChunk::open_path(&path).err().unwrap().to_string());
    missing(SuperChunk::open_path_mut(&path).err().unwrap().to_string());
    missing(NdArray::open_path(&path).err().unwrap().to_string());
    missing(blosc_frame::io::PathFile::open(&path).err().unwrap().to_string());
    make(&path, &[5, 3], &[7; 30]);
    assert_eq!(SuperChunk::open_path(&path).unwrap().nbytes(), 30);
    missing(NdArray::open_path_mut(&path).err().unwrap().to_string());
    folder.write("t.b2frame", b"no frame");
    missing(open(&path).err().unwrap().to_string());
}

/// Arrays whose axes are stored in the other order.
mod reversed {
    use blosc_frame::io::ReadAt;
    use blosc_frame::plain::Uncompressed;
    use blosc_frame::reversed::AxesReversed;

    #[test]
    fn every_range_of_every_shape_is_read_in_c_order() {
        for shape in [&[3u64, 4][..], &[4, 3, 5], &[1, 7], &[7, 1], &[6], &[2, 3, 1, 4], &[]] {
            for item in [1u32, 3, 8] {
                let items: u64 = shape.iter().product();
                let bytes: Vec<u8> = (0..items * u64::from(item)).map(|i| (i % 251) as u8).collect();
                let turned: Vec<u64> = shape.iter().rev().copied().collect();
                let strides = |shape: &[u64]| -> Vec<u64> {
                    (1..=shape.len()).map(|i| shape[i..].iter().product()).collect()
                };
                let (to, from) = (strides(shape), strides(&turned));
                let mut want = vec![0; bytes.len()];
                for i in 0..items {
                    let index = to.iter().zip(shape).map(|(stride, side)| i / stride % side);
                    let j: u64 = index.zip(from.iter().rev()).map(|(index, stride)| index * stride).sum();
                    let (i, j, t) = (i as usize * item as usize, j as usize * item as usize, item as usize);
                    want[i..i + t].copy_from_slice(&bytes[j..j + t]);
                }
                let n = bytes.len();
                let array = AxesReversed::new(Uncompressed::new(bytes, 0, n as u64), shape, item).unwrap();
                for at in 0..n {
                    for end in at..=n {
                        let mut out = vec![0; end - at];
                        array.read_exact_at(at as u64, &mut out).unwrap();
                        assert_eq!(out, want[at..end], "{shape:?} of {item}: {at}..{end}");
                    }
                }
            }
        }
        assert!(AxesReversed::new(Uncompressed::new(&b"abc"[..], 0, 3), &[2, 2], 1).is_err());
    }
}
