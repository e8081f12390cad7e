//! Arrays of others: what python-blosc2 writes besides plain ones (`fixtures/wild`), the predecessor's, old data
//! beyond the shape, as many dimensions as there can be, dtypes that nobody can read.

use blosc_core::Params;
use blosc_frame::b2nd::carrier::{self, Carrier, ObjectKind};
use blosc_frame::b2nd::metalayer::{Metalayer, NAME, NAME_CATERVA, patch_shape};
use blosc_frame::b2nd::{Dims, Dtype, Geometry, NdArray, Selection, Spec, Take};
use blosc_frame::io::FsDir;
use blosc_frame::{Error, Limits, SuperChunk};
use std::fs::File;
use std::path::PathBuf;
use std::time::{Duration, Instant};

fn wild(name: &str) -> SuperChunk<'static> {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/wild").join(name);
    SuperChunk::open_read(File::open(path).unwrap(), &Limits::DEFAULT).unwrap()
}

#[test]
fn what_is_no_plain_array_is_named() {
    for (name, wanted, placeholder) in [
        ("data.b2nd", None, false),
        ("lazyexpr.b2nd", Some(Carrier::Object(ObjectKind::LazyExpr)), true),
        ("lazyudf.b2nd", Some(Carrier::LazyArray), true),
        ("c2array.b2nd", Some(Carrier::Object(ObjectKind::C2Array)), true),
        ("proxy.b2nd", Some(Carrier::Proxy), true),
        ("objects.b2f", Some(Carrier::ObjectArray), false),
        ("batches.b2b", Some(Carrier::BatchArray), false),
        ("tensor.b2frame", Some(Carrier::PackedTensor), false),
        ("embed.b2e", Some(Carrier::EmbedStore), false),
        ("store.b2d/embed.b2e", Some(Carrier::Store), false),
    ] {
        let frame = wild(name);
        let found = carrier::of(&frame).unwrap();
        assert_eq!(found, wanted, "{name}");
        assert_eq!(found.is_some_and(|found| found.is_placeholder()), placeholder, "{name}");
        // Shape and metadata stay readable.
        if name.ends_with(".b2nd") {
            let nd = NdArray::open(frame).unwrap();
            assert_eq!(nd.dtype().to_string(), "<f8", "{name}");
        }
    }
    let leaf = NdArray::open(wild("store.b2d/deep/b.b2nd")).unwrap();
    assert_eq!(leaf.shape()[..], [3, 4]);
    assert_eq!(leaf.read::<u16>().unwrap(), (0..12).collect::<Vec<u16>>());
}

/// A frame of these chunks whose metalayer `name` is `content`.
fn frame(name: &str, content: &[u8], typesize: u32, chunks: &[&[u8]]) -> SuperChunk<'static> {
    let mut frame =
        SuperChunk::memory(&Params::new(typesize).shuffle().blocksize(Some(chunks[0].len() as u32))).unwrap();
    frame.set_metalayer(name, content).unwrap();
    frame.set_chunksize(chunks[0].len() as u32).unwrap();
    chunks.iter().for_each(|chunk| frame.append_data(chunk).unwrap());
    SuperChunk::from_bytes(frame.into_bytes().unwrap(), &Limits::DEFAULT).unwrap()
}

fn meta<'a>(shape: &[u64], chunks: &[u32], dtype: Option<&'a [u8]>) -> Metalayer<'a> {
    let geometry = Geometry::new(shape, chunks, chunks, 2).unwrap();
    let dtype_format = dtype.map(|_| 0);
    Metalayer { dtype_format, ..geometry.metalayer(dtype.unwrap_or_default()) }
}

#[test]
fn arrays_of_the_predecessor_are_read_and_changed() {
    let (a, b): (Vec<u8>, Vec<u8>) = ((0..8).collect(), (8..16).collect());
    let mut content = meta(&[4, 2], &[2, 2], None).to_bytes().unwrap();
    content[0] = 0x95;
    let mut nd = NdArray::open(frame(NAME_CATERVA, &content, 2, &[&a, &b])).unwrap();
    assert!(nd.is_caterva() && nd.opaque().is_some());
    assert_eq!(nd.dtype().to_string(), "|S2");
    assert_eq!(nd.get_all().unwrap(), (0..16).collect::<Vec<u8>>());
    nd.resize(&[5, 2]).unwrap();
    nd.set_slice(&[4..5, 0..2], &[7; 4]).unwrap();
    let again = SuperChunk::from_bytes(nd.into_frame().into_bytes().unwrap(), &Limits::DEFAULT).unwrap();
    let nd = NdArray::open(again).unwrap();
    assert!(nd.is_caterva());
    assert_eq!(nd.get_all().unwrap(), [&(0..16).collect::<Vec<u8>>()[..], &[7; 4]].concat());
}

#[test]
fn old_data_of_others_is_not_shown() {
    // As the reference leaves it after 6 -> 3: the chunks hold what was there.
    let mut content = meta(&[6], &[4], Some(b"<i2")).to_bytes().unwrap();
    patch_shape(&mut content, &[3]).unwrap();
    let old = [1, 0, 2, 0, 3, 0, 4, 0];
    let mut nd = NdArray::open(frame(NAME, &content, 2, &[&old])).unwrap();
    assert_eq!(nd.read::<i16>().unwrap(), [1, 2, 3]);
    nd.resize(&[6]).unwrap();
    assert_eq!(nd.read::<i16>().unwrap(), [1, 2, 3, 0, 0, 0]);
}

#[test]
fn every_number_of_dimensions() {
    for ndim in 0..=16usize {
        let shape: Vec<u64> = (0..ndim).map(|d| if d % 5 == 0 { 3 } else { 1 + (d as u64 % 2) }).collect();
        let chunks: Vec<u32> = shape.iter().map(|s| (*s as u32).min(2)).collect();
        let spec = Spec::new(&shape, Dtype::parse("<u4").unwrap()).unwrap();
        let spec = spec.chunks(&chunks).unwrap().blocks(&vec![1; ndim]).unwrap();
        let items = spec.geometry().items();
        let data: Vec<u8> = (0..items as u32).flat_map(u32::to_le_bytes).collect();
        let folder = std::env::temp_dir().join(format!("blosc-b2nd-ndim-{ndim}-{}", std::process::id()));
        let dir = FsDir::create(&folder).unwrap();
        for sparse in [false, true] {
            let frame = match sparse {
                false => SuperChunk::memory(&spec.params()).unwrap(),
                true => SuperChunk::create_dir(dir.clone(), &spec.params()).unwrap(),
            };
            let mut nd = NdArray::from_slice(frame, &spec, &data).unwrap();
            nd.commit().unwrap();
            let again = match sparse {
                false => SuperChunk::from_bytes(nd.into_frame().into_bytes().unwrap(), &Limits::DEFAULT),
                true => SuperChunk::open_dir(dir.clone(), &Limits::DEFAULT),
            };
            let mut nd = NdArray::open(again.unwrap()).unwrap();
            assert_eq!(nd.shape()[..], shape);
            assert_eq!(nd.get_all().unwrap(), data, "{ndim}");
            let backwards: Vec<Take> =
                shape.iter().map(|s| Take::Run { start: s - 1, step: -1, count: *s }).collect();
            let turned = nd.read_selection::<u32>(&Selection::new(&shape, &backwards).unwrap()).unwrap();
            assert!(turned.into_iter().rev().eq(0..items as u32), "{ndim}");
            assert_eq!(nd.expand_dims(0).is_ok(), ndim < 16);
            if ndim == 16 {
                let mut longer = shape.clone();
                longer[15] += 1;
                nd.resize(&longer).unwrap();
                nd.resize(&shape).unwrap();
                assert_eq!(nd.get_all().unwrap(), data);
            }
        }
        std::fs::remove_dir_all(&folder).unwrap();
    }
    assert!(Dims::new(&[1u64; 17]).is_none() && Spec::new(&[1; 17], Dtype::parse("u1").unwrap()).is_err());
}

#[test]
fn partitions_that_do_not_fit_the_shape_are_refused_by_name() {
    let spec = || Spec::new(&[30, 0, 7], Dtype::parse("<i4").unwrap()).unwrap();
    assert!(spec().chunks(&[8, 0, 4]).unwrap().blocks(&[3, 0, 3]).is_ok());
    for (given, value) in [(&[8, 4][..], 2), (&[8, 1, 4, 1], 4), (&[8, 1, 0], 0), (&[0, 0, 4], 0), (&[], 0)] {
        let refused = [("chunks", spec().chunks(given)), ("blocks", spec().blocks(given))];
        for (part, refused) in refused {
            let Err(Error::Param { name, value: found, .. }) = refused else { panic!("{part} {given:?}") };
            assert_eq!((name, found), (part, value), "{given:?}");
        }
    }
}

#[test]
fn hostile_dtypes_cost_nothing() {
    let data = [1, 0, 2, 0];
    let start = Instant::now();
    // Short enough for a metalayer: the items stay readable as bytes.
    for text in
        ["[".repeat(10_000), "(".repeat(60_000), "{'a': ".repeat(10_000), "object".into(), "<i8".into()]
    {
        let content = meta(&[2], &[2], Some(text.as_bytes())).to_bytes().unwrap();
        let nd = NdArray::open(frame(NAME, &content, 2, &[&data])).unwrap();
        assert!(nd.opaque().is_some(), "{}", &text[..6]);
        assert_eq!((nd.dtype().to_string(), nd.get_all().unwrap()), ("|V2".into(), data.to_vec()));
        assert!(nd.read::<i16>().is_err());
    }
    assert!(meta(&[2], &[2], Some(&vec![b'['; 1 << 20])).to_bytes().is_err());
    assert!(start.elapsed() < Duration::from_secs(5), "{:?}", start.elapsed());
}

/// Selections of chunks that lie anywhere, from and to buffers.
mod buffers {
    use blosc_frame::Error;
    use blosc_frame::b2nd::{ChunkAccess, Geometry, Selection, Take, copy_between, read_flat};
    use std::ops::Range;

    /// Chunks in memory, as they are decoded.
    struct Memory(Vec<Vec<u8>>);

    impl ChunkAccess for Memory {
        type Error = Error;
        fn read(&mut self, chunk: u64, range: Range<usize>, out: &mut [u8]) -> Result<(), Error> {
            out.copy_from_slice(&self.0[chunk as usize][range]);
            Ok(())
        }
        fn write(&mut self, chunk: u64, data: &[u8]) -> Result<(), Error> {
            self.0[chunk as usize] = data.to_vec();
            Ok(())
        }
    }

    fn run(start: u64, step: i64, count: u64) -> Take {
        Take::Run { start, step, count }
    }

    /// What is written is read again, from buffers that are larger than the selection as well.
    #[test]
    fn selections_go_in_and_out_of_buffers_with_room() {
        let geometry = Geometry::new(&[7, 10], &[4, 5], &[2, 5], 2).unwrap();
        let new = || Memory(vec![vec![0; geometry.chunk_bytes() as usize]; geometry.nchunks() as usize]);
        let all: Vec<u8> = (0..140).map(|i| i as u8 + 1).collect();
        let selections = [
            [run(0, 1, 7), run(0, 1, 10)],
            [run(2, 1, 3), run(3, 1, 4)],
            [run(6, -2, 4), Take::List(vec![9, 0, 0, 4])],
            [run(0, 1, 4), run(5, 1, 5)],
            [run(3, 1, 0), run(5, 1, 5)],
        ];
        for takes in selections {
            let mut memory = new();
            let whole = Selection::all(&[7, 10]);
            whole.write(&geometry, &mut memory, (&all, &[7, 10]), true).unwrap();
            let selection = Selection::new(&[7, 10], &takes).unwrap();
            let [rows, columns] = *selection.shape().first_chunk::<2>().unwrap();
            for (more, shape) in [(0, [rows, columns]), (3, [rows + 1, columns + 3])] {
                let mut out = vec![0xEE; (shape[0] * shape[1] * 2) as usize];
                selection.read(&geometry, &mut memory, (&mut out, &shape)).unwrap();
                let index = |take: &Take, k: u64| match take {
                    Take::Run { start, step, .. } => start.wrapping_add_signed(*step * k as i64),
                    Take::List(list) => list[k as usize],
                };
                for i in 0..rows {
                    for j in 0..columns + more {
                        let from =
                            ((index(&takes[0], i) * 10 + index(&takes[1], j.min(columns - 1))) * 2) as usize;
                        let want = if j < columns { &all[from..from + 2] } else { &[0xEE; 2] };
                        let at = ((i * shape[1] + j) * 2) as usize;
                        assert_eq!(out[at..at + 2], *want, "{takes:?} {i} {j}");
                    }
                }
                let mut other = new();
                whole.write(&geometry, &mut other, (&[0; 140], &[7, 10]), true).unwrap();
                selection.write(&geometry, &mut other, (&out, &shape), false).unwrap();
                let mut again = vec![0xEE; out.len()];
                selection.read(&geometry, &mut other, (&mut again, &shape)).unwrap();
                assert_eq!(again, out, "{takes:?}");
                let wide = [rows, columns + 99];
                assert_eq!(selection.read(&geometry, &mut other, (&mut again, &wide)).is_err(), rows > 0);
            }
        }
        let mut memory = new();
        Selection::all(&[7, 10]).write(&geometry, &mut memory, (&all, &[7, 10]), true).unwrap();
        let mut out = [0; 8];
        read_flat(&geometry, &mut memory, &[69, 0, 35, 0], &mut out).unwrap();
        assert_eq!(out, [139, 140, 1, 2, 71, 72, 1, 2]);
        assert!(read_flat(&geometry, &mut memory, &[70], &mut out[..2]).is_err());
        assert_eq!(Selection::ranges(&[7, 10], &[3..5, 0..5]).unwrap().chunks(&geometry), [0, 2]);
        // A box of one array to another that is cut otherwise.
        let other = Geometry::new(&[6, 8], &[5, 3], &[2, 3], 2).unwrap();
        let mut to = Memory(vec![vec![0; other.chunk_bytes() as usize]; other.nchunks() as usize]);
        let place = [1, 2];
        copy_between(&[4, 6], (&geometry, &mut memory, &[3, 4]), (&other, &mut to, &place), false).unwrap();
        let mut got = vec![0; 96];
        Selection::all(&[6, 8]).read(&other, &mut to, (&mut got, &[6, 8])).unwrap();
        for (n, item) in got.chunks(2).enumerate() {
            let (i, j) = (n / 8, n % 8);
            let from = ((i + 2) * 10 + j + 2) * 2;
            let want = if (1..5).contains(&i) && j >= 2 { &all[from..from + 2] } else { &[0; 2] };
            assert_eq!(item, want, "{i} {j}");
        }
        let beyond =
            copy_between(&[4, 7], (&geometry, &mut memory, &[3, 4]), (&other, &mut to, &place), false);
        assert!(beyond.is_err());
    }
}
