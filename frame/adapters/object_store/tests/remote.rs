//! Arrays behind a server of HTTP on loopback, which does as it should or one thing wrong.
#![cfg(feature = "remote")]

use blosc_frame::b2nd::{Element, NdArray, Selection, Spec};
use blosc_frame::io::{Directory, MemDir, ReadAt};
use blosc_frame::{Error, IoKind, Limits, SuperChunk};
use blosc_object_store::{Remote, RemoteDir};
use blosc_testkit::http::{Fault, Server};
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// A square array of stored numbers in chunks of 20 KB, as a frame; and its items.
fn array() -> (Vec<u8>, Vec<i32>) {
    let items: Vec<i32> = (0..300 * 300).map(|n: i32| n.wrapping_mul(-1_640_531_527)).collect();
    let spec = Spec::new(&[300, 300], i32::dtype()).unwrap().chunks(&[71, 71]).unwrap();
    let spec = spec.params_from(&blosc_core::Params::new(4).level(0));
    let bytes: Vec<u8> = items.iter().flat_map(|item| item.to_le_bytes()).collect();
    let array = NdArray::from_slice(SuperChunk::memory(&spec.params()).unwrap(), &spec, &bytes).unwrap();
    (array.into_frame().into_bytes().unwrap(), items)
}

fn open(remote: &Arc<Remote>) -> NdArray<'static> {
    NdArray::open(SuperChunk::open_read(remote.clone(), &Limits::default()).unwrap()).unwrap()
}

#[test]
fn an_array_is_read_in_few_requests() {
    let (frame, items) = array();
    let (server, url) = Server::start(Fault::None, "a/b.b2nd", &frame);
    let remote = Arc::new(Remote::open(&url).unwrap());
    assert!(remote.is_far() && remote.size() == Ok(frame.len() as u64));
    let array = open(&remote);
    // Both ends, which opening takes from memory.
    assert_eq!(server.requests.load(Ordering::Relaxed), 2);
    let selection = Selection::ranges(array.shape(), &[140..145, 10..300]).unwrap();
    let part: Vec<i32> = array
        .get(&selection)
        .unwrap()
        .chunks_exact(4)
        .map(|b| i32::from_le_bytes(b.try_into().unwrap()))
        .collect();
    let want: Vec<i32> = (140..145).flat_map(|row| items[row * 300 + 10..(row + 1) * 300].to_vec()).collect();
    assert_eq!(part, want);
    assert!(remote.cause().is_none());
    assert!(matches!(Remote::open(&url.replace("b.b2nd", "c")), Err(blosc_object_store::Error::Store(_))));
    for wrong in ["a.b2nd", "ftp://host/a", "https://host"] {
        assert!(Remote::open(wrong).is_err(), "{wrong}");
    }
}

#[test]
fn a_sparse_frame_takes_a_request_for_each_chunk_file() {
    let (_, items) = array();
    let bytes: Vec<u8> = items.iter().flat_map(|item| item.to_le_bytes()).collect();
    let files = MemDir::new();
    let mut frame = SuperChunk::create_dir(files.clone(), &blosc_core::Params::new(4)).unwrap();
    frame.set_chunksize(20_000).unwrap();
    frame.append(&bytes).and_then(|()| frame.commit()).unwrap();
    let objects =
        files.list().unwrap().into_iter().map(|name| (format!("a/b/{name}"), files.get(&name).unwrap()));
    let (server, root) = Server::of(Fault::None, objects.collect());
    let dir = RemoteDir::open(&format!("{root}a/b/")).unwrap();
    assert!(dir.open("../b/chunks.b2frame", false).is_err() && dir.open("chunks.b2frame", true).is_err());
    let frame = SuperChunk::open_dir(dir, &Limits::default()).unwrap();
    server.requests.store(0, Ordering::Relaxed);
    let mut part = [0; 50_000];
    frame.read_bytes(30_000..80_000, &mut part).unwrap();
    assert!(part == bytes[30_000..80_000]);
    assert_eq!(server.requests.swap(0, Ordering::Relaxed), 3, "three chunk files");
    assert!(frame.read_all().unwrap() == bytes);
    assert_eq!(server.requests.load(Ordering::Relaxed), 18, "all of them");
    let nowhere = RemoteDir::open(&format!("{root}a/c")).unwrap();
    assert!(SuperChunk::open_dir(nowhere, &Limits::default()).is_err());
}

#[test]
fn what_a_server_does_wrong_is_an_error() {
    let (frame, _) = array();
    for fault in [Fault::IgnoresRanges, Fault::CutsShort, Fault::Fails] {
        let (_, url) = Server::start(fault, "a/b.b2nd", &frame);
        let error = Remote::open(&url).map(drop).unwrap_err();
        println!("{fault:?}: {error}");
        assert!(matches!(
            error,
            blosc_object_store::Error::Store(_) | blosc_object_store::Error::Short { .. }
        ));
    }
    let (server, url) = Server::start(Fault::Changes, "a/b.b2nd", &frame);
    let remote = Arc::new(Remote::open(&url).unwrap());
    let array = open(&remote);
    server.changed.store(true, Ordering::Relaxed);
    let selection = Selection::ranges(array.shape(), &[140..145, 10..300]).unwrap();
    assert_eq!(array.get(&selection).map(drop), Err(Error::from(IoKind::Changed)));
    assert!(matches!(remote.cause(), Some(blosc_object_store::Error::Replaced)));
}
