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
