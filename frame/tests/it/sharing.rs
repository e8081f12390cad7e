//! One open frame or array, read by many threads at once.

use crate::common::{Folder, emulated};
use blosc_core::{Codec, Params, Special};
use blosc_frame::b2nd::{Dtype, NdArray, Selection, Spec};
use blosc_frame::schunk::RawChunk;
use blosc_frame::{Limits, SuperChunk};
use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::Path;
use std::sync::RwLock;

const READERS: usize = 16;

const fn shared<T: Send + Sync>() {}
const _: () = shared::<SuperChunk<'static>>();
const _: () = shared::<NdArray<'static>>();

/// Runs `read` with its number on every reader; all of them begin together.
fn together(read: impl Fn(u64) + Sync) {
    let start = std::sync::Barrier::new(READERS);
    std::thread::scope(|scope| {
        for n in 0..READERS as u64 {
            let (start, read) = (&start, &read);
            scope.spawn(move || {
                start.wait();
                read(n);
            });
        }
    });
}

fn rounds() -> u64 {
    if emulated() { 2 } else { 40 }
}

const SHAPE: [u64; 3] = [40, 30, 8];

fn spec(codec: Codec) -> Spec {
    let spec = Spec::new(&SHAPE, Dtype::parse("<u2").unwrap()).unwrap();
    let spec = spec.params_from(&Params::new(2).codec(codec).level(3).shuffle());
    spec.chunks(&[16, 16, 8]).unwrap().blocks(&[8, 8, 8]).unwrap()
}

fn items(factor: u32) -> Vec<u8> {
    (0..40 * 30 * 8u32).flat_map(|i| ((i * factor) as u16).to_le_bytes()).collect()
}

fn write(path: &Path, spec: &Spec, data: &[u8]) {
    let file = SuperChunk::create(File::create_new(path).unwrap(), &spec.params()).unwrap();
    NdArray::from_slice(file, spec, data).unwrap().commit().unwrap();
}

/// Reads boxes, rows, items and chunks, the same blocks as the others and other ones.
fn read_array(nd: &NdArray<'_>, data: &[u8], n: u64) {
    let at = |i: u64, j: u64| ((i * 30 + j) * 8 * 2) as usize;
    for round in 0..rounds() {
        let (i, j) = ((n / 2 + round * 7) % 40, (round / 3 + n * 5) % 30);
        let row = nd.get(&Selection::ranges(&SHAPE, &[i..i + 1, j..j + 1, 0..8]).unwrap()).unwrap();
        assert_eq!(row, data[at(i, j)..][..16]);
        let mut item = [0; 2];
        nd.get_item(&[i, j, 3], &mut item).unwrap();
        assert_eq!(item, data[at(i, j) + 6..][..2]);
        assert_eq!(
            nd.get_flat(&[(i * 30 + j) * 8, 5]).unwrap(),
            [&data[at(i, j)..][..2], &data[10..12]].concat()
        );
        let mut rows = vec![0; 2 * 30 * 16];
        nd.get_slice(&[i.min(38)..i.min(38) + 2, 0..30, 0..8], &mut rows).unwrap();
        assert_eq!(rows, data[at(i.min(38), 0)..][..rows.len()]);
        if round % 8 == n % 8 {
            assert_eq!(nd.get_all().unwrap(), data);
        }
    }
}

#[test]
fn sixteen_threads_read_one_array() {
    let folder = Folder::new("sharing-arrays");
    for (codec, threads) in [(Codec::Lz4, 1), (Codec::Zstd, 1), (Codec::Zstd, 3)] {
        let (spec, data) = (spec(codec), items(3));
        let path = folder.path(&format!("{codec}{threads}.b2nd"));
        write(&path, &spec, &data);
        let bytes = std::fs::read(&path).unwrap();
        for mut nd in [
            NdArray::open_path(&path).unwrap(),
            NdArray::open(SuperChunk::from_bytes(bytes, &Limits::DEFAULT).unwrap()).unwrap(),
        ] {
            nd.set_threads(threads);
            together(|n| read_array(&nd, &data, n));
        }
    }
}

/// What the first reader finds out, all of them have: sizes of variable chunks are not in the frame.
#[test]
fn sixteen_threads_read_one_frame() {
    let mut sc = SuperChunk::memory(&Params::new(4).codec(Codec::Lz4).shuffle()).unwrap();
    let mut data = Vec::new();
    for len in (1..200usize).map(|n| n % 13 * 40) {
        data.extend((0..len).map(|i| (i / 5) as u8));
        if len > 0 || !data.is_empty() {
            sc.append_data(&data[data.len() - len..]).unwrap();
        }
    }
    sc.set_vlmetalayer("note", b"\xa2hi").unwrap();
    let bytes = sc.into_bytes().unwrap();
    for _ in 0..rounds() / 2 {
        let sc = SuperChunk::from_slice(&bytes).unwrap();
        together(|n| {
            let (len, mut buf) = (data.len() as u64, Vec::new());
            let (start, mut part) = (len / 20 * n, [0; 77]);
            sc.read_bytes(start..start + 77, &mut part).unwrap();
            assert_eq!(part, data[start as usize..][..77]);
            let mut reader = sc.reader();
            reader.seek(SeekFrom::Start(start)).unwrap();
            reader.read_exact(&mut part).unwrap();
            assert_eq!(part, data[start as usize..][..77]);
            for k in (0..sc.nchunks()).skip(n as usize).step_by(READERS) {
                let chunk = sc.read_chunk(k).unwrap();
                assert_eq!(chunk.len(), sc.chunk_nbytes(k).unwrap() as usize);
                assert!(matches!(sc.raw_chunk(k, &mut buf), Ok(RawChunk::Stored(raw)) if raw.len() >= 32));
            }
            assert_eq!(sc.vlmetalayer("note").unwrap().unwrap(), b"\xa2hi");
            assert_eq!(sc.read_all().unwrap(), data);
        });
    }
    let mut zeros = SuperChunk::memory(&Params::new(4)).unwrap();
    zeros.set_chunksize(400).unwrap();
    zeros.fill_special(Special::Zeros, 4000).unwrap();
    together(|n| assert_eq!(zeros.read_chunk(n % 10).unwrap(), [0; 400]));
}

/// Readers share a handle behind a lock that only a refresh takes alone.
#[test]
fn readers_see_what_another_writer_committed_after_a_refresh() {
    let folder = Folder::new("sharing-refresh");
    let path = folder.path("a.b2nd");
    write(&path, &spec(Codec::Zstd), &items(3));
    let open = RwLock::new(NdArray::open_path(&path).unwrap());
    together(|n| read_array(&open.read().unwrap(), &items(3), n));
    let (mut writer, mut grown) = (NdArray::open_path_mut(&path).unwrap(), items(7));
    writer.set_slice(&SHAPE.map(|side| 0..side), &grown).unwrap();
    grown.extend_from_slice(&items(9)[..2 * 30 * 16]);
    writer.append(0, &grown[items(7).len()..]).unwrap();
    writer.commit().unwrap();
    drop(writer);
    // One of the readers looks, all of them see it.
    together(|n| {
        if n == 5 {
            assert!(open.write().unwrap().refresh().unwrap());
        }
        while open.read().unwrap().shape()[0] == 40 {
            std::thread::yield_now();
        }
        let nd = open.read().unwrap();
        assert_eq!(nd.get_all().unwrap(), grown);
        let mut item = [0; 2];
        nd.get_item(&[41, 29, 7], &mut item).unwrap();
        assert_eq!(item, grown[grown.len() - 2..]);
    });
    assert!(!open.write().unwrap().refresh().unwrap());
}
