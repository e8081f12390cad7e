//! Where promises end: parts of rows, rows that are not there, containers that were made small or empty, a frame
//! before its first commit, metalayers at their limits.

use crate::rows::targets;

use blosc_core::{Params, Pool};
use blosc_frame::any::{open_any, open_any_mut, open_raw};
use blosc_frame::b2nd::{ArrayView, NdArray, Spec};
use blosc_frame::bloscpack::{Numpy, Options, Order, PackRows};
use blosc_frame::convert::convert;
use blosc_frame::dtype::Dtype;
use blosc_frame::io::{Directory, MemDir};
use blosc_frame::plain::Plain;
use blosc_frame::{Error, Limits, Rows, SuperChunk};
use std::path::{Path, PathBuf};

struct Place(PathBuf);

impl Place {
    fn new(name: &str) -> Place {
        let place = std::env::temp_dir().join(format!("blosc-edges-{name}-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&place);
        std::fs::create_dir_all(&place).unwrap();
        Place(place)
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn content(path: &Path) -> Vec<u8> {
    let opened = open_any(path, &Limits::DEFAULT).unwrap();
    let mut all = vec![0; opened.data.nbytes() as usize];
    opened.data.read_plain(&mut Pool::new(1), 0, &mut all).unwrap();
    all
}

type Verb = fn(&mut dyn Rows, &mut Pool, &Vec<u8>) -> Result<(), Error>;

/// What takes new rows, at a row that is there and at one that is not.
const TAKES: [(&str, Verb, Verb); 4] = [
    ("append", |rows, pool, data| rows.append(pool, data), |rows, pool, _| rows.trim(pool, u64::MAX)),
    (
        "insert",
        |rows, pool, data| rows.insert(pool, 3, data),
        |rows, pool, data| rows.insert(pool, u64::MAX, data),
    ),
    ("set", |rows, pool, data| rows.set(pool, 3, data), |rows, pool, data| rows.set(pool, u64::MAX, data)),
    (
        "splice",
        |rows, pool, data| rows.splice(pool, 2..4, data),
        |rows, pool, _| rows.remove(pool, 3..u64::MAX),
    ),
];

#[test]
fn every_container_refuses_parts_of_rows_and_rows_that_are_not_there() {
    let place = Place::new("parts");
    std::fs::write(place.0.join("raw"), (0..=251).collect::<Vec<u8>>()).unwrap();
    let dtype = Dtype::parse("<i2").unwrap();
    let raw = open_raw(place.0.join("raw"), Some(dtype), Some(vec![42, 3]), 1).unwrap();
    let mut cells = 0;
    for (name, target) in targets() {
        let path = place.0.join(name);
        convert(&raw, &mut Pool::new(1), &mut Pool::new(1), &target, &path).unwrap();
        let before = content(&path);
        for (verb, part, nowhere) in TAKES {
            let mut opened = open_any_mut(&path, &Limits::DEFAULT).unwrap();
            let (rows, pool) = (&mut *opened.data, &mut Pool::new(1));
            let whole = rows.row_nbytes() as usize;
            let refused = part(rows, pool, &vec![7; whole + 1]).unwrap_err();
            assert!(matches!(refused, Error::Param { .. }), "{name} {verb}: {refused:?}");
            let refused = nowhere(rows, pool, &vec![7; whole]).unwrap_err();
            assert!(matches!(refused, Error::OutOfRange { .. }), "{name} {verb}: {refused:?}");
            drop(opened);
            assert!(content(&path) == before, "{name} {verb}");
            cells += 2;
        }
    }
    println!("parts of rows, and rows that are not there: {cells} cells, all refused");
}

/// Such files are made of plain bytes. They are read whole; a change would put what follows out of step.
#[test]
fn what_ends_with_a_part_of_an_item_is_read_but_not_changed() {
    let (pool, bytes) = (&mut Pool::new(1), (0..21).collect::<Vec<u8>>());
    let place = Place::new("tails");
    let mut frame =
        SuperChunk::create(blosc_frame::io::PathFile::create(place.0.join("f")).unwrap(), &Params::new(4))
            .unwrap();
    frame.append(&bytes).unwrap();
    frame.commit().unwrap();
    drop(frame);
    let options = Options { chunk_size: 16, params: Params::new(4), ..Options::default() };
    let file = options.write(pool, &bytes, Vec::new()).unwrap();
    std::fs::write(place.0.join("p"), file).unwrap();
    for name in ["f", "p"] {
        let path = place.0.join(name);
        assert!(content(&path) == bytes, "{name}");
        for (verb, takes, _) in TAKES {
            let mut opened = open_any_mut(&path, &Limits::DEFAULT).unwrap();
            for data in [vec![7; 5], vec![7; 4]] {
                let refused = takes(&mut *opened.data, pool, &data).unwrap_err();
                let expected = matches!(refused, Error::Unsupported { .. } | Error::Param { .. });
                assert!(expected, "{name} {verb} {}: {refused:?}", data.len());
            }
            let refused = opened.data.trim(pool, 1).unwrap_err();
            assert!(matches!(refused, Error::Unsupported { .. }), "{name} trim: {refused:?}");
            drop(opened);
            assert!(content(&path) == bytes, "{name} {verb}");
        }
        // The part goes when the number of rows is said.
        let mut opened = open_any_mut(&path, &Limits::DEFAULT).unwrap();
        opened.data.resize(pool, 5).unwrap();
        opened.data.append(pool, &vec![9; 4]).unwrap();
        drop(opened);
        assert!(content(&path) == [&bytes[..20], &[9; 4]].concat(), "{name}");
    }
}

#[test]
fn bloscpack_files_grow_beyond_their_table() {
    let pool = &mut Pool::new(1);
    let options = Options { chunk_size: 40, params: Params::new(4), ..Options::default() };
    let mut expected = vec![1; 40];
    let file = options.write(pool, &expected, Vec::new()).unwrap();
    let mut rows = PackRows::open(file, &Limits::DEFAULT).unwrap();
    for value in 0..150 {
        rows.append(pool, &vec![value; 40]).unwrap();
        expected.extend([value; 40]);
    }
    assert_eq!(rows.pack().nchunks(), 151);
    assert!(rows.pack().read_all(pool).unwrap() == expected);
}

#[test]
fn rows_without_items_are_read_and_not_changed() {
    let pool = &mut Pool::new(1);
    for shape in [[4, 0], [0, 0]] {
        let numpy = Numpy { dtype: Dtype::parse("<f4").unwrap(), shape: shape.to_vec(), order: Order::C };
        let options = Options { params: Params::new(4), ..Options::default() }.numpy(&numpy).unwrap();
        let file = options.write(pool, &Vec::new(), Vec::new()).unwrap();
        let verbs: [(&str, Verb); 7] = [
            ("append", |rows, pool, data| rows.append(pool, data)),
            ("insert", |rows, pool, data| rows.insert(pool, 0, data)),
            ("set", |rows, pool, data| rows.set(pool, 0, data)),
            ("set in place", |rows, pool, data| rows.set_in_place(pool, 0, data)),
            ("remove", |rows, pool, _| rows.remove(pool, 0..0)),
            ("trim", |rows, pool, _| rows.trim(pool, 0)),
            ("resize", |rows, pool, _| rows.resize(pool, 9)),
        ];
        for (verb, change) in verbs {
            let mut rows = PackRows::open(file.clone(), &Limits::DEFAULT).unwrap();
            let refused = change(&mut rows, pool, &Vec::new());
            assert!(matches!(refused, Err(Error::Unsupported { .. })), "{verb} {shape:?}: {refused:?}");
            assert!(rows.pack().read_all(pool).unwrap().is_empty(), "{verb}");
            assert_eq!(rows.numpy().unwrap().shape, shape, "{verb}");
        }
    }
}

fn array(shape: &[u64]) -> NdArray<'static> {
    let spec = Spec::new(shape, Dtype::parse("<f4").unwrap()).unwrap();
    let frame = SuperChunk::memory(&spec.params()).unwrap();
    let items = shape.iter().product::<u64>() as usize;
    let mut nd = NdArray::from_slice(frame, &spec, &vec![5; items * 4]).unwrap();
    nd.commit().unwrap();
    nd
}

fn reopened(nd: NdArray<'static>) -> NdArray<'static> {
    NdArray::open(SuperChunk::from_bytes(nd.into_frame().into_bytes().unwrap(), &Limits::DEFAULT).unwrap())
        .unwrap()
}

#[test]
fn arrays_without_items_grow() {
    // Made without items along an axis, or shrunk to that, with and without a commit in between.
    for (made, axis) in
        [(&[0, 100][..], 0), (&[0], 0), (&[3, 0], 1), (&[2, 0, 5], 1), (&[4, 100], 0), (&[9], 0)]
    {
        for between in 0..3 {
            let mut nd = array(made);
            let mut shape = made.to_vec();
            shape[axis] = 0;
            nd.resize(&shape).unwrap();
            if between > 0 {
                nd.commit().unwrap();
            }
            if between > 1 {
                nd = reopened(nd);
            }
            let row = (shape.iter().enumerate().filter(|(d, _)| *d != axis).map(|(_, n)| *n).product::<u64>())
                as usize;
            nd.insert(axis, 0, &vec![1; row * 4 * 3]).unwrap();
            nd.commit().unwrap();
            nd.append(axis, &vec![2; row * 4]).unwrap();
            nd.commit().unwrap();
            nd = reopened(nd);
            shape[axis] = 4;
            assert_eq!(nd.shape()[..], shape[..], "{made:?}");
            let sum: u64 = nd.get_all().unwrap().iter().map(|byte| u64::from(*byte)).sum();
            assert_eq!(sum, (row * 4 * 5) as u64, "{made:?} {between}");
            let parts = (nd.geometry().chunk_bytes(), nd.frame().params().blocksize);
            assert_eq!(parts.1, Some(nd.geometry().block_bytes()), "{made:?}");
            assert!(parts.0 > 0);
        }
    }
    // All items at once, by another shape.
    let mut nd = array(&[0, 0]);
    nd.resize(&[5, 6]).unwrap();
    nd.commit().unwrap();
    assert_eq!(reopened(nd).get_all().unwrap(), [0; 120]);
}

#[test]
fn axes_grow_and_shrink_at_an_index_inside_them() {
    let spec = Spec::new(&[4, 6], Dtype::parse("|u1").unwrap()).unwrap();
    let spec = spec.chunks(&[2, 3]).unwrap().blocks(&[1, 2]).unwrap();
    let data: Vec<u8> = (1..=24).collect();
    for (shape, start, allowed) in [
        ([6, 6], [2, 6], true),
        ([4, 3], [0, 0], true),
        ([5, 6], [4, 0], true),
        ([2, 9], [2, 3], true),
        ([3, 6], [3, 0], true),
        ([4, 6], [9, 9], true),
        // Not whole chunks, not where one begins, behind the end.
        ([5, 6], [2, 0], false),
        ([6, 6], [1, 0], false),
        ([4, 3], [0, 1], false),
        ([6, 6], [5, 0], false),
    ] {
        let mut nd = NdArray::from_slice(SuperChunk::memory(&spec.params()).unwrap(), &spec, &data).unwrap();
        let done = ArrayView::open(nd.frame_mut()).unwrap().resize_at(&shape, &start);
        assert_eq!(done.is_ok(), allowed, "{shape:?} at {start:?}: {done:?}");
        let nd = reopened(nd);
        // The old index of each new one; none for what has come.
        let axis = |d: usize| {
            let (old, new, at) = ([4u64, 6][d], shape[d], start[d]);
            let mut from: Vec<Option<u64>> = (0..old).map(Some).collect();
            match new > old {
                _ if !allowed || new == old => {}
                true => drop(from.splice(at as usize..at as usize, (old..new).map(|_| None))),
                false => drop(from.drain(at as usize..(at + old - new) as usize)),
            }
            from
        };
        let item =
            |i: &Option<u64>, j: &Option<u64>| i.zip(*j).map_or(0, |(i, j)| data[(i * 6 + j) as usize]);
        let (rows, columns) = (axis(0), axis(1));
        let want: Vec<u8> = rows.iter().flat_map(|i| columns.iter().map(move |j| item(i, j))).collect();
        assert_eq!(nd.shape()[..], [rows.len() as u64, columns.len() as u64], "{shape:?} at {start:?}");
        assert_eq!(nd.get_all().unwrap(), want, "{shape:?} at {start:?}");
    }
    assert!(array(&[3, 3]).resize_at(&[3], &[0]).is_err());
}

#[test]
fn what_is_discarded_before_the_first_commit_is_gone() {
    let dir = MemDir::new();
    let frames = [
        SuperChunk::memory(&Params::new(4)).unwrap(),
        SuperChunk::create_dir(dir.clone(), &Params::new(4)).unwrap(),
    ];
    for mut frame in frames {
        frame.append(&[1; 4000]).unwrap();
        frame.set_metalayer("a", &[1]).unwrap();
        frame.set_vlmetalayer("b", &[2]).unwrap();
        frame.discard().unwrap();
        let left = (
            frame.nchunks(),
            frame.nbytes(),
            frame.metalayer_names().count(),
            frame.vlmetalayer_names().count(),
        );
        assert_eq!(left, (0, 0, 0, 0), "sparse {}", frame.is_sparse());
        frame.append(&[3; 8]).unwrap();
        frame.commit().unwrap();
        assert_eq!(frame.read_all().unwrap(), [3; 8]);
        let report = frame.verify(|_| ());
        assert!(report.is_ok(), "sparse {}", frame.is_sparse());
        if !frame.is_sparse() {
            let bytes = frame.into_bytes().unwrap();
            let again = SuperChunk::from_bytes(bytes, &Limits::DEFAULT).unwrap();
            assert_eq!(again.read_all().unwrap(), [3; 8]);
        }
    }
    assert_eq!(dir.list().unwrap().len(), 2, "an index and one chunk");
}

#[test]
fn a_metalayer_above_the_limit_is_not_written() {
    let mut frame = SuperChunk::memory(&Params::new(1)).unwrap();
    frame.set_limits(&Limits::DEFAULT.metalayer(100));
    let refused = [frame.set_metalayer("a", &[0; 101]), frame.set_vlmetalayer("a", &[0; 101])];
    for refused in refused {
        assert!(matches!(refused, Err(Error::Limit { limit: 100, asked: 101, .. })), "{refused:?}");
    }
    frame.set_metalayer("a", &[0; 100]).unwrap();
    frame.set_vlmetalayer("a", &[0; 100]).unwrap();
}

#[test]
fn the_last_vlmetalayer_does_not_drop_the_checksums() {
    let mut frame = SuperChunk::memory(&Params::new(1)).unwrap();
    frame.append(&[1; 100]).unwrap();
    for n in 0..15 {
        frame.set_vlmetalayer(&n.to_string(), &[n]).unwrap();
    }
    let refused = frame.set_vlmetalayer("15", &[0]).unwrap_err();
    assert!(matches!(refused, Error::Capacity { asked: 16, most: 15, .. }), "{refused:?}");
    frame.set_vlmetalayer("3", &[9]).unwrap();
    frame.commit().unwrap();
    assert!(frame.chunk_checksum(0).is_some() && !frame.checksums_left_out());
    // Whoever wants the room has to say so.
    frame.set_checksums(false);
    frame.set_vlmetalayer("15", &[0]).unwrap();
    frame.commit().unwrap();
}

/// New content from pieces of the old and of sources.
mod content {
    use blosc_core::Pool;
    use blosc_frame::Error;
    use blosc_frame::io::ReadAt;
    use blosc_frame::plain::{Content, Piece, Plain};

    struct Bytes(Vec<u8>);
    impl Plain for Bytes {
        fn nbytes(&self) -> u64 {
            self.0.len() as u64
        }
        fn read_plain(&self, _: &mut Pool, at: u64, out: &mut [u8]) -> Result<(), Error> {
            Ok(self.0.read_exact_at(at, out)?)
        }
    }

    #[test]
    fn pieces_come_in_order_from_any_position() {
        let old = Bytes((0..20).collect());
        let new: &[u8] = &[100, 101, 102];
        let pieces = vec![Piece::New(&new, 1..3), Piece::Fill(&[7, 8], 5)];
        let content = Content::splice(20, 4..10, pieces).unwrap();
        let want = [0, 1, 2, 3, 101, 102, 7, 8, 7, 8, 7, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19];
        assert_eq!((content.nbytes(), content.changed()), (21, 4..21));
        for at in 0..want.len() {
            for end in at..want.len() {
                let mut out = vec![0; end - at];
                content.read(&mut Pool::new(1), &old, at as u64, &mut out).unwrap();
                assert_eq!(out, want[at..end]);
            }
        }
        assert!(content.read(&mut Pool::new(1), &old, 20, &mut [0; 2]).is_err());
        assert!(Content::splice(20, 4..21, Vec::new()).is_err());
    }
}
