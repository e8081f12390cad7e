//! A chunk whose stored bytes changed and which still decodes: whatever reads all of it refuses it by its number,
//! in every kind of frame, unless the caller asked for it as it is.

use blosc_core::Params;
use blosc_frame::b2nd::{Dtype, NdArray, Selection, Spec};
use blosc_frame::cframe::header::FrameType;
use blosc_frame::cframe::index::Entry;
use blosc_frame::cframe::{CHECKSUMS_NAME, open_at};
use blosc_frame::io::{DirFile, Directory, MemDir};
use blosc_frame::schunk::RawChunk;
use blosc_frame::{Error, Limits, SuperChunk};
use std::io::Read;
use xxhash_rust::xxh3::{Xxh3Default, xxh3_64};

#[derive(Clone, Copy, Debug, PartialEq)]
enum Kind {
    Memory,
    File,
    Sparse,
}

const KINDS: [Kind; 3] = [Kind::Memory, Kind::File, Kind::Sparse];
const NAME: &str = "frame";
/// Bytes of a chunk.
const CHUNK: usize = 4000;

fn create(dir: &MemDir, kind: Kind, params: &Params) -> SuperChunk<'static> {
    match kind {
        Kind::Sparse => SuperChunk::create_dir(dir.clone(), params).unwrap(),
        _ => SuperChunk::create(DirFile::create(dir.clone(), NAME).unwrap(), params).unwrap(),
    }
}

fn open(dir: &MemDir, kind: Kind) -> SuperChunk<'static> {
    match kind {
        Kind::Memory => SuperChunk::from_bytes(dir.get(NAME).unwrap(), &Limits::DEFAULT).unwrap(),
        Kind::File => SuperChunk::open(DirFile::open(dir.clone(), NAME).unwrap(), &Limits::DEFAULT).unwrap(),
        Kind::Sparse => SuperChunk::open_dir(dir.clone(), &Limits::DEFAULT).unwrap(),
    }
}

/// The stored form of the items, so that any bit of them can change and all still decodes.
fn stored() -> Params {
    Params::new(4).level(0)
}

fn data(n: usize) -> Vec<u8> {
    (0..n as u32).flat_map(|i| i.wrapping_mul(2_654_435_761).to_le_bytes()).collect()
}

/// Changes the last byte of chunk `k`.
fn flip(dir: &MemDir, kind: Kind, k: u64) {
    let sc = open(dir, kind);
    let Some(Entry::Stored(entry)) = sc.entry(k) else { panic!("chunk {k} is not stored") };
    let last = sc.chunk_header(k).unwrap().unwrap().cbytes as usize - 1;
    let (name, at) = match kind {
        Kind::Sparse => (format!("{entry:08X}.chunk"), last),
        _ => (NAME.into(), sc.header().header_len as usize + entry as usize + last),
    };
    let mut bytes = dir.get(&name).unwrap();
    bytes[at] ^= 0x40;
    dir.put(&name, bytes);
}

fn names<T: std::fmt::Debug>(result: Result<T, Error>, k: u64) {
    let error = result.unwrap_err();
    assert!(matches!(error, Error::Checksum { chunk: Some(found), .. } if found == k), "{error:?}");
}

fn contents(dir: &MemDir) -> Vec<(String, Vec<u8>)> {
    let mut names = dir.list().unwrap();
    names.sort();
    names.into_iter().map(|name| (name.clone(), dir.get(&name).unwrap())).collect()
}

#[test]
fn every_read_of_a_whole_chunk_names_the_damaged_one() {
    for kind in KINDS {
        let dir = MemDir::new();
        let mut sc = create(&dir, kind, &stored());
        sc.set_chunksize(CHUNK as u32).unwrap();
        sc.append(&data(5 * CHUNK / 4)).unwrap();
        sc.commit().unwrap();
        drop(sc);
        flip(&dir, kind, 2);
        for threads in [1, 4] {
            let mut sc = open(&dir, kind);
            sc.set_threads(threads);
            let mut all = vec![0; 5 * CHUNK];
            names(sc.read_chunk(2), 2);
            names(sc.read_chunk_into(2, &mut all), 2);
            names(sc.raw_chunk(2, &mut Vec::new()).map(drop), 2);
            names(sc.read_all(), 2);
            names(sc.read_bytes(0..5 * CHUNK as u64, &mut all), 2);
            names(sc.read_items(1000..4000, &mut all), 2);
            names(sc.for_each_chunk(|_| Ok(())), 2);
            names(SuperChunk::memory(&stored()).unwrap().append_from(&sc), 2);
            names(SuperChunk::memory(&stored()).unwrap().recompress_from(&sc), 2);
            names(SuperChunk::memory(&stored()).unwrap().copy_from(&sc), 2);
            assert!(sc.reader().read_to_end(&mut Vec::new()).is_err());
            // A part of it takes all of it to be read from a file, and no more than that part from memory.
            let mut item = [0; 4];
            match kind {
                Kind::Memory => drop(sc.read_items(2001..2002, &mut item).unwrap()),
                _ => names(sc.read_items(2001..2002, &mut item), 2),
            }
            // The others are as they were.
            assert_eq!(sc.read_chunk(1).unwrap(), data(2 * CHUNK / 4)[CHUNK..]);
            sc.set_verify(false);
            assert_eq!(sc.read_all().unwrap().len(), 5 * CHUNK);
            assert_ne!(sc.read_chunk(2).unwrap(), data(3 * CHUNK / 4)[2 * CHUNK..]);
            assert_eq!(sc.for_each_chunk(|_| Ok(())), Ok(()));
            assert_eq!(sc.read_items(2001..2002, &mut item), Ok(4));
            // Verifying compares all the same.
            assert_eq!(sc.verify(|_| ()).unwrap().damage.len(), 1);
        }
    }
}

#[test]
fn a_damaged_last_chunk_is_not_encoded_anew() {
    for kind in KINDS {
        let dir = MemDir::new();
        let mut sc = create(&dir, kind, &stored());
        sc.set_chunksize(CHUNK as u32).unwrap();
        sc.append(&data(300 + CHUNK / 4)).unwrap();
        sc.commit().unwrap();
        drop(sc);
        flip(&dir, kind, 1);
        let before = contents(&dir);
        let mut sc = open(&dir, kind);
        names(sc.append(&data(1)), 1);
        names(sc.fill_special(blosc_core::Special::Zeros, 8000), 1);
        names(sc.fill_value(&[1; 4], 10), 1);
        assert!(!sc.is_dirty());
        drop(sc);
        assert_eq!(contents(&dir), before, "{kind:?}");
    }
}

/// A commit that moves every chunk, since the header grew, neither looks at them nor makes their checksums anew.
#[test]
fn damage_is_still_known_after_the_frame_was_written_anew() {
    for kind in [Kind::File, Kind::Sparse] {
        let dir = MemDir::new();
        let mut sc = create(&dir, kind, &stored());
        sc.set_chunksize(CHUNK as u32).unwrap();
        sc.append(&data(5 * CHUNK / 4)).unwrap();
        sc.commit().unwrap();
        drop(sc);
        flip(&dir, kind, 2);
        let mut sc = open(&dir, kind);
        sc.set_metalayer("long", &[0xc0; 3000]).unwrap();
        sc.commit().unwrap();
        drop(sc);
        let mut sc = open(&dir, kind);
        assert_eq!(sc.metalayer("long").map(<[u8]>::len), Some(3000));
        names(sc.read_chunk(2), 2);
        assert_eq!(sc.read_chunk(3).unwrap(), data(4 * CHUNK / 4)[3 * CHUNK..]);
        assert_eq!(sc.verify(|_| ()).unwrap().damage.len(), 1, "{kind:?}");
    }
}

#[test]
fn arrays_are_held_to_their_checksums_too() {
    for kind in KINDS {
        let dir = MemDir::new();
        let spec = Spec::new(&[40, 50], Dtype::parse("<u4").unwrap()).unwrap();
        let spec = spec.chunks(&[20, 50]).unwrap().blocks(&[5, 50]).unwrap();
        let params = stored();
        let mut nd = NdArray::from_slice(create(&dir, kind, &params), &spec, &data(2000)).unwrap();
        nd.commit().unwrap();
        drop(nd);
        flip(&dir, kind, 1);
        let mut nd = NdArray::open(open(&dir, kind)).unwrap();
        let before = contents(&dir);
        for threads in [1, 3] {
            nd.set_threads(threads);
            names(nd.get_all(), 1);
            names(nd.get_chunk(1).map(drop), 1);
            names(nd.for_each_block(1, |_, _| Ok(())), 1);
            names(nd.for_each_piece(1 << 20, |_| Ok(())), 1);
            names(nd.set_item(&[30, 3], &[0; 4]), 1);
            names(nd.set_slice(&[25..30, 0..50], &data(250)), 1);
            names(nd.append(0, &data(50)).and_then(|()| nd.set_item(&[39, 3], &[0; 4])), 1);
            nd = NdArray::open(open(&dir, kind)).unwrap();
        }
        assert_eq!(contents(&dir), before);
        assert_eq!(nd.get(&Selection::ranges(nd.shape(), &[0..20, 0..50]).unwrap()).unwrap(), data(1000));
        nd.frame_mut().set_verify(false);
        assert_eq!(nd.get_all().unwrap().len(), 8000);
    }
}

/// The checksums are part of the format: another implementation of XXH3 gives the same for chunks of every length.
#[test]
fn another_implementation_of_the_checksums_agrees() {
    let bytes: Vec<u8> = data(250_000);
    let mut sc = SuperChunk::memory(&Params::new(1).level(0)).unwrap();
    sc.set_metalayer("unit", b"\xa2mm").unwrap();
    let lens = (1..1200).chain([4095, 65_536, bytes.len()]);
    lens.clone().for_each(|len| sc.append_data(&bytes[..len]).unwrap());
    let frame = sc.to_bytes().unwrap();
    let mut buf = Vec::new();
    for (k, len) in (0..).zip(lens) {
        let expected = sc.chunk_checksum(k);
        let RawChunk::Stored(chunk) = sc.raw_chunk(k, &mut buf).unwrap() else {
            panic!("chunk {k} is not stored")
        };
        assert_eq!(expected, Some(xxh3_64(chunk)), "{len} bytes");
    }
    let opened = open_at(&frame, FrameType::Contiguous, &Limits::DEFAULT).unwrap();
    let (head, trailer) = (&opened.head, &opened.trailer);
    let mut other = Xxh3Default::new();
    [&head[..0x3e], &head[0x44..0x57], &opened.index, &trailer[..trailer.len() - 16]]
        .iter()
        .for_each(|part| other.update(part));
    assert_eq!(sc.fingerprint(), (3, other.digest128().to_be_bytes()));
    let table = opened.vlmetalayers().unwrap().get(CHECKSUMS_NAME).unwrap();
    let table = blosc_core::decompress(table).unwrap();
    // Behind 5 bytes of MessagePack and the magic.
    assert_eq!(table[13..21], xxh3_64(&head[0x57..]).to_le_bytes());
}
