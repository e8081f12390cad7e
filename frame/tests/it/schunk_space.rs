//! Room is used again: however long a frame is edited, its file stays within a bound of what its parts take.

use crate::common::{Model, Random, compare, edit, emulated, params};

use blosc_core::{Params, Pool};
use blosc_frame::b2nd::{Dtype, NdArray, Spec};
use blosc_frame::bloscpack::Options;
use blosc_frame::cframe::index::Entry;
use blosc_frame::io::{DirFile, MemDir};
use blosc_frame::schunk::ChecksumState;
use blosc_frame::{Limits, SuperChunk};
use std::collections::BTreeMap;

const NAME: &str = "frame";

fn open(dir: &MemDir) -> SuperChunk<'static> {
    SuperChunk::open(DirFile::open(dir.clone(), NAME).unwrap(), &Limits::DEFAULT).unwrap()
}

fn create(dir: &MemDir, params: &Params) -> SuperChunk<'static> {
    SuperChunk::create(DirFile::create(dir.clone(), NAME).unwrap(), params).unwrap()
}

/// Bytes of the file; of all that the frame refers to; of its largest chunk; of its index and trailer.
fn sizes(dir: &MemDir) -> [u64; 4] {
    let (sc, file) = (open(dir), dir.get(NAME).unwrap().len() as u64);
    let mut chunks = BTreeMap::new();
    for k in 0..sc.nchunks() {
        if let Some(Entry::Stored(at)) = sc.entry(k) {
            chunks.insert(at, u64::from(sc.chunk_header(k).unwrap().unwrap().cbytes));
        }
    }
    let header = sc.header();
    let payload = if header.nbytes == 0 { 0 } else { header.cbytes };
    let rest = header.frame_len - u64::from(header.header_len) - payload;
    let used = u64::from(header.header_len) + rest + chunks.values().sum::<u64>();
    [file, used, chunks.values().copied().max().unwrap_or(0), rest]
}

/// The bound that the documentation of `commit` gives.
fn hold(dir: &MemDir, what: &str) {
    let [file, used, largest, rest] = sizes(dir);
    assert!(file <= used + used / 2 + 2 * largest + rest, "{what}: {file} of {used}, {largest}, {rest}");
}

/// Each of several places that are free is used before the file grows, whichever was used first.
#[test]
fn every_free_place_is_used_before_the_file_grows() {
    let dir = MemDir::new();
    let mut sc = create(&dir, &Params::new(4).level(0));
    sc.set_chunksize(4000).unwrap();
    let chunk = |k: u32| (0..1000).flat_map(|n| (n * k + k).to_le_bytes()).collect::<Vec<u8>>();
    (0..12).for_each(|k| sc.append(&chunk(k)).unwrap());
    sc.commit().unwrap();
    for gone in [9, 6, 3] {
        sc.delete(gone).unwrap();
    }
    sc.commit().unwrap();
    let before = sizes(&dir)[0];
    (12..15).for_each(|k| sc.append(&chunk(k)).unwrap());
    sc.commit().unwrap();
    assert!(sizes(&dir)[0] < before + 1000, "{} of {before}", sizes(&dir)[0]);
    let left = [0, 1, 2, 4, 5, 7, 8, 10, 11, 12, 13, 14].map(chunk).concat();
    assert_eq!(open(&dir).read_all().unwrap(), left);
}

#[test]
fn random_edits_stay_within_the_bound_and_compact_leaves_no_room() {
    let histories = if emulated() { 2 } else { 60 };
    for seed in 0..histories {
        let mut random = Random(seed ^ 0x5eed);
        let params = params(&mut random);
        let typesize = params.typesize as usize;
        let mut model =
            Model { chunksize: (1 + random.below(4000 / typesize + 2)) * typesize, ..Model::default() };
        let dir = MemDir::new();
        let mut sc = create(&dir, &params);
        sc.set_checksums(seed % 3 > 0);
        let _ = sc.set_chunksize(model.chunksize as u32);
        for step in 0..120 {
            for _ in 0..1 + random.below(3) {
                edit(&mut random, &mut sc, &mut model).unwrap();
            }
            sc.commit().unwrap();
            hold(&dir, &format!("seed {seed} step {step}"));
            // A handle knows more about the room than what the next one finds.
            if random.below(2) == 0 {
                sc = open(&dir);
                let _ = sc.set_chunksize(model.chunksize as u32);
            }
            if step % 16 == 0 {
                compare(&mut sc, &model, &mut random).unwrap();
            }
        }
        compare(&mut open(&dir), &model, &mut random).unwrap();
        sc.compact().unwrap();
        let [file, used, ..] = sizes(&dir);
        assert_eq!(file, used, "seed {seed}");
        assert_eq!(open(&dir).verify(|_| ()).unwrap().garbage, 0);
        compare(&mut open(&dir), &model, &mut random).unwrap();
    }
}

/// File size against that of the same frame written at once.
fn growth(dir: &MemDir) -> f64 {
    let file = dir.get(NAME).unwrap().len() as f64;
    let mut sc = open(dir);
    sc.compact().unwrap();
    file / dir.get(NAME).unwrap().len() as f64
}

#[test]
fn many_small_appends_rewrite_the_last_chunk_in_two_places() {
    let dir = MemDir::new();
    let mut random = Random(7);
    create(&dir, &Params::new(1)).commit().unwrap();
    let mut worst: f64 = 0.0;
    for n in 0..200 {
        let mut sc = open(&dir);
        sc.append(&random.bytes(1000)).unwrap();
        sc.commit().unwrap();
        hold(&dir, &format!("append {n}"));
        let [file, used, ..] = sizes(&dir);
        worst = worst.max(file as f64 / used as f64);
    }
    println!("200 appends of 1,000 bytes: {worst:.2} at most, {:.2} in the end", growth(&dir));
}

#[test]
fn setting_rows_and_appending_rows_of_an_array() {
    let dir = MemDir::new();
    let mut random = Random(8);
    let spec = Spec::new(&[40, 300], Dtype::parse("<f4").unwrap()).unwrap();
    let spec = spec.chunks(&[10, 300]).unwrap().blocks(&[2, 300]).unwrap();
    let data = random.bytes(40 * 1200);
    NdArray::from_slice(create(&dir, &spec.params()), &spec, &data).unwrap().commit().unwrap();
    for n in 0..200u64 {
        let mut nd = NdArray::open(open(&dir)).unwrap();
        let row = random.below(40) as u64;
        nd.set_slice(&[row..row + 1, 0..300], &random.bytes(1200)).unwrap();
        nd.commit().unwrap();
        hold(&dir, &format!("set {n}"));
    }
    let set = growth(&dir);
    for n in 0..200 {
        let mut nd = NdArray::open(open(&dir)).unwrap();
        nd.append(0, &random.bytes(1200)).unwrap();
        nd.commit().unwrap();
        hold(&dir, &format!("append {n}"));
    }
    println!("200 sets of a row: {set:.2}; 200 appends of a row: {:.2}", growth(&dir));
}

#[test]
fn a_metalayer_set_again_and_again_in_a_frame_of_many_chunks() {
    let dir = MemDir::new();
    let mut sc = create(&dir, &Params::new(4));
    sc.set_chunksize(100).unwrap();
    let data: Vec<u8> = (0..500_000u32).flat_map(|i| i.wrapping_mul(2_654_435_761).to_le_bytes()).collect();
    sc.append(&data).unwrap();
    sc.commit().unwrap();
    drop(sc);
    let before = dir.get(NAME).unwrap().len();
    for n in 0..50u8 {
        let mut sc = open(&dir);
        sc.set_vlmetalayer("n", &[n; 10]).unwrap();
        sc.commit().unwrap();
        hold(&dir, &format!("set {n}"));
    }
    let after = dir.get(NAME).unwrap().len();
    println!("50 times `meta set`, 20,000 chunks: {before} -> {after} bytes");
    let [_, _, _, rest] = sizes(&dir);
    assert!(after as u64 <= before as u64 + rest + rest / 2);
}

/// Both ways along both axes, whole chunks and parts of them, with items set between.
#[test]
fn resizing_an_array() {
    let dir = MemDir::new();
    let mut random = Random(9);
    let spec = Spec::new(&[40, 300], Dtype::parse("<f4").unwrap()).unwrap();
    let spec = spec.chunks(&[10, 100]).unwrap().blocks(&[2, 100]).unwrap();
    let data = random.bytes(40 * 1200);
    NdArray::from_slice(create(&dir, &spec.params()), &spec, &data).unwrap().commit().unwrap();
    let mut worst: f64 = 0.0;
    for n in 0..200 {
        let mut nd = NdArray::open(open(&dir)).unwrap();
        let shape = [1 + random.below(60) as u64, 1 + random.below(400) as u64];
        nd.resize(&shape).unwrap();
        nd.commit().unwrap();
        hold(&dir, &format!("resize {n} to {shape:?}"));
        let row = random.below(shape[0] as usize) as u64;
        let mut nd = NdArray::open(open(&dir)).unwrap();
        nd.set_slice(&[row..row + 1, 0..shape[1]], &random.bytes(4 * shape[1] as usize)).unwrap();
        nd.commit().unwrap();
        hold(&dir, &format!("row {row} after resize {n} to {shape:?}"));
        let [file, used, ..] = sizes(&dir);
        worst = worst.max(file as f64 / used as f64);
    }
    println!("200 resizes and rows: {worst:.2} at most, {:.2} in the end", growth(&dir));
}

/// Each commit writes a longer index and a longer table of checksums than the one before.
#[test]
fn a_growing_table_of_checksums() {
    let (dir, mut random) = (MemDir::new(), Random(11));
    let mut sc = create(&dir, &Params::new(1));
    sc.set_chunksize(100).unwrap();
    sc.commit().unwrap();
    let mut worst: f64 = 0.0;
    let chunks = if emulated() { 200 } else { 2000 };
    for n in 0..chunks {
        sc = if n % 2 == 0 { open(&dir) } else { sc };
        sc.append(&random.bytes(100)).unwrap();
        sc.commit().unwrap();
        if n % 7 == 0 {
            hold(&dir, &format!("chunk {n}"));
            let [file, used, ..] = sizes(&dir);
            worst = worst.max(file as f64 / used as f64);
        }
    }
    hold(&dir, "the last chunk");
    assert_eq!((sc.nchunks(), sc.checksum_state()), (chunks, ChecksumState::Present));
    println!("{chunks} chunks with checksums: {worst:.2} at most, {:.2} in the end", growth(&dir));
}

/// Metalayers of the header and of the trailer that change their length.
#[test]
fn metalayers_of_changing_length() {
    let (dir, mut random) = (MemDir::new(), Random(12));
    let mut sc = create(&dir, &Params::new(1));
    sc.set_chunksize(1000).unwrap();
    sc.append(&random.bytes(20_000)).unwrap();
    sc.commit().unwrap();
    for n in 0..100 {
        let mut sc = open(&dir);
        let content = random.bytes(n * 37 % 5000);
        match n % 2 {
            0 => sc.set_metalayer("m", &content).unwrap(),
            _ => sc.set_vlmetalayer("v", &content).unwrap(),
        }
        sc.commit().unwrap();
        hold(&dir, &format!("metalayer {n}"));
    }
    println!("100 metalayers of changing length: {:.2}", growth(&dir));
}

/// Chunks that entries share keep their bytes until the last of these entries is gone.
#[test]
fn a_shared_chunk_is_not_written_over() {
    let dir = MemDir::new();
    let mut random = Random(10);
    let mut sc = create(&dir, &Params::new(1));
    sc.set_chunksize(1000).unwrap();
    sc.append(&random.bytes(4000)).unwrap();
    sc.set_checksums(false);
    sc.commit().unwrap();
    // Entries 0 and 1 the same: the index is stored raw when it is this short.
    let [one, two] = [0, 1].map(|k| match sc.entry(k) {
        Some(Entry::Stored(at)) => at,
        other => panic!("{other:?}"),
    });
    drop(sc);
    let mut frame = dir.get(NAME).unwrap();
    let mut planes = Vec::new();
    let opened = blosc_frame::cframe::open_at(
        &frame,
        blosc_frame::cframe::header::FrameType::Contiguous,
        &Limits::DEFAULT,
    )
    .unwrap();
    planes.extend(blosc_core::decompress(&opened.index).unwrap());
    assert_eq!((one, two), (0, u64::from_le_bytes(planes[8..16].try_into().unwrap())));
    planes[8..16].copy_from_slice(&one.to_le_bytes());
    let index = blosc_core::compress(&Params::new(8).level(0), &planes).unwrap();
    let at = frame.len() - opened.trailer.len() - opened.index.len();
    frame.truncate(at);
    frame.extend(&index);
    frame.extend(&opened.trailer);
    let len = frame.len() as u64;
    frame[0x10..0x18].copy_from_slice(&len.to_be_bytes());
    dir.put(NAME, frame);
    let shared = open(&dir).read_chunk(0).unwrap();
    assert_eq!(open(&dir).read_chunk(1).unwrap(), shared);
    for _ in 0..4 {
        let mut sc = open(&dir);
        let data = random.bytes(1000);
        sc.update(0, &data).unwrap();
        sc.commit().unwrap();
        sc.update(3, &random.bytes(1000)).unwrap();
        sc.commit().unwrap();
        let sc = open(&dir);
        assert_eq!((sc.read_chunk(0).unwrap(), sc.read_chunk(1).unwrap()), (data, shared.clone()));
    }
}

/// What the worst case of a chunk needs is reserved once for a writer, not again for each chunk.
#[test]
fn writers_reserve_the_worst_case_once() {
    let data: Vec<u8> = (0..10 << 18).flat_map(|i: u32| (i / 9).to_le_bytes()).collect();
    let size = 1 << 20;
    let mut sc = SuperChunk::memory(&Params::new(4)).unwrap();
    let append = || data.chunks(size).try_for_each(|chunk| sc.append_data(chunk));
    let (used, done) = blosc_testkit::memory::used(append);
    assert!(done.is_ok() && (size..3 * size).contains(&used.total), "a frame: {used:?}");
    let options = Options { params: Params::new(4), chunk_size: size as u32, ..Options::default() };
    let write = || options.write(&mut Pool::new(1), &data, Vec::new());
    let (used, file) = blosc_testkit::memory::used(write);
    // The data is read into memory a chunk at a time as well.
    let within = 2 * size..4 * size;
    assert!(file.unwrap().len() < size && within.contains(&used.total), "bloscpack: {used:?}");
}
