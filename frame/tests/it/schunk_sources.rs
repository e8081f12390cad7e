//! What a frame can be read from, and how little of it is read.

use crate::common;

use blosc_core::{Codec, Params, Special};
use blosc_frame::io::{Offset, ReadAt};
use blosc_frame::{IoError, IoKind, Limits, SuperChunk};
use common::Random;
use std::io::{Read, Seek, SeekFrom};
use std::ops::Range;
use std::sync::Mutex;

/// Anybody's own source: it tells what was read of it, and lends no slice.
struct Watched<'a> {
    bytes: &'a [u8],
    reads: &'a Mutex<Vec<Range<u64>>>,
}

impl ReadAt for Watched<'_> {
    fn size(&self) -> Result<u64, IoError> {
        self.bytes.size()
    }
    fn read_at(&self, offset: u64, buf: &mut [u8]) -> Result<usize, IoError> {
        let n = self.bytes.read_at(offset, buf)?;
        self.reads.lock().unwrap().push(offset..offset + n as u64);
        Ok(n)
    }
}

const BLOCK: usize = 64 << 10;
const CHUNK: usize = 1 << 20;

fn frame() -> (Vec<u8>, Vec<u8>) {
    let mut random = Random(9);
    // Half of each item is noise: blocks are a good deal smaller than decoded, and far from nothing.
    let data: Vec<u8> =
        (0..3 * CHUNK / 4).flat_map(|i| [random.next() as u8, 1, (i >> 12) as u8, 0]).collect();
    let mut sc = SuperChunk::memory(&Params::new(4).codec(Codec::Lz4).blocksize(Some(BLOCK as u32))).unwrap();
    sc.set_chunksize(CHUNK as u32).unwrap();
    sc.set_metalayer("m", b"\xc0").unwrap();
    sc.append(&data).unwrap();
    (sc.into_bytes().unwrap(), data)
}

fn total(reads: &Mutex<Vec<Range<u64>>>) -> u64 {
    reads.lock().unwrap().drain(..).map(|read| read.end - read.start).sum()
}

#[test]
fn opening_reads_header_index_and_trailer_and_ten_items_their_blocks() {
    let (frame, data) = frame();
    let before = 777;
    let file = [&vec![9; before][..], &frame, &[7; 100]].concat();
    let reads = Mutex::default();
    let source = Offset::new(Watched { bytes: &file, reads: &reads }, before as u64).unwrap();
    let sc = SuperChunk::open_read(source, &Limits::DEFAULT).unwrap();

    let base = before as u64;
    let head = base..base + u64::from(sc.header().header_len);
    let tail = base + u64::from(sc.header().header_len) + sc.header().cbytes..base + frame.len() as u64;
    for read in reads.lock().unwrap().iter() {
        let inside = |part: &Range<u64>| part.start <= read.start && read.end <= part.end;
        assert!(inside(&head) || inside(&tail), "{read:?} was read to open the frame");
    }
    assert!(total(&reads) < 2000);

    // One block of 48 and what says where it is.
    let mut ten = [0; 40];
    sc.read_items(300_000..300_010, &mut ten).unwrap();
    assert!(ten == data[1_200_000..1_200_040]);
    assert!(reads.lock().unwrap().iter().all(|r| r.start >= head.end && r.end <= tail.start));
    let read = total(&reads);
    assert!(read < 8192 + BLOCK as u64, "{read} bytes were read for ten items");
    // Two blocks of two chunks.
    let edge = (CHUNK / 4) as u64;
    sc.read_items(edge - 5..edge + 5, &mut ten).unwrap();
    assert!(ten == data[CHUNK - 20..CHUNK + 20]);
    let read = total(&reads);
    assert!(read < 2 * (8192 + BLOCK as u64), "{read} bytes were read for ten items of two chunks");
}

#[test]
fn every_source_gives_the_same() {
    let (frame, data) = frame();
    let path = std::env::temp_dir().join(format!("blosc-frame-sources-{}", std::process::id()));
    std::fs::write(&path, &frame).unwrap();
    let (file, reads) = (std::fs::File::open(&path).unwrap(), Mutex::default());
    let limits = Limits::DEFAULT;
    for mut sc in [
        SuperChunk::from_slice(&frame).unwrap(),
        SuperChunk::from_bytes(frame.clone(), &limits).unwrap(),
        SuperChunk::open_read(bytes::Bytes::from(frame.clone()), &limits).unwrap(),
        SuperChunk::open_read(file, &limits).unwrap(),
        SuperChunk::open_read(Watched { bytes: &frame, reads: &reads }, &limits).unwrap(),
        SuperChunk::open_read(Offset::new(&[b"xyz", &frame[..]].concat()[..], 3).unwrap(), &limits).unwrap(),
    ] {
        assert!(sc.read_all().unwrap() == data);
        for threads in [1, 2] {
            sc.set_threads(threads);
            let mut all = vec![1; data.len()];
            sc.read_bytes(0..data.len() as u64, &mut all).unwrap();
            assert!(all == data);
        }
        assert!(sc.chunks().map(Result::unwrap).collect::<Vec<_>>().concat() == data);
    }
    std::fs::remove_file(path).unwrap();
}

#[test]
fn blocks_that_lie_in_each_other_are_read_as_from_memory() {
    // Block 1 starts inside the stored stream of block 0, where four zero bytes say "a run of zeros".
    const STORED: [usize; 3] = [0, 2, 3];
    let mut random = Random(11);
    let mut blocks: Vec<Vec<u8>> =
        (0..4).map(|_| (0..BLOCK).map(|_| random.next() as u8 | 1).collect()).collect();
    let inside = 1000;
    blocks[0][inside..inside + 4].fill(0);
    blocks[1].fill(0);
    let (len, record) = (BLOCK as u32, BLOCK + 4);
    let cbytes = 48 + STORED.len() * record;
    let mut chunk = vec![5, 1, 0x15, 1];
    chunk.extend([4 * len, len, cbytes as u32].into_iter().flat_map(u32::to_le_bytes));
    chunk.resize(32, 0);
    let starts = [48, 48 + 4 + inside, 48 + record, 48 + 2 * record];
    chunk.extend(starts.into_iter().flat_map(|at| (at as u32).to_le_bytes()));
    for block in STORED {
        chunk.extend(len.to_le_bytes());
        chunk.extend(&blocks[block]);
    }
    let mut sc = SuperChunk::memory(&Params::new(1).no_filter()).unwrap();
    sc.append_chunk(&chunk).unwrap();
    let (frame, data) = (sc.into_bytes().unwrap(), blocks.concat());
    assert!(SuperChunk::from_slice(&frame).unwrap().read_all().unwrap() == data);
    let reads = Mutex::default();
    let sc = SuperChunk::open_read(Watched { bytes: &frame, reads: &reads }, &Limits::DEFAULT).unwrap();
    for start in [10_000, BLOCK - 50, 10] {
        let mut out = [0; 100];
        sc.read_items(start as u64..start as u64 + 100, &mut out).unwrap();
        assert!(out == data[start..start + 100], "from byte {start}");
    }
}

/// A source that cannot be read in the hundred bytes from `from` on.
struct Damaged {
    bytes: Vec<u8>,
    from: u64,
}

impl ReadAt for Damaged {
    fn size(&self) -> Result<u64, IoError> {
        self.bytes.size()
    }
    fn read_at(&self, offset: u64, buf: &mut [u8]) -> Result<usize, IoError> {
        let inside = (self.from..self.from + 100).contains(&offset);
        if inside { Err(IoKind::Other.into()) } else { self.bytes.read_at(offset, buf) }
    }
}

#[test]
fn a_reader_says_again_what_it_could_not_read() {
    let mut sc = SuperChunk::memory(&Params::new(1).no_filter().level(0)).unwrap();
    sc.set_chunksize(1000).unwrap();
    sc.append(&[7; 3000]).unwrap();
    let bytes = sc.into_bytes().unwrap();
    let first = SuperChunk::from_slice(&bytes).unwrap().header().header_len.into();
    let sc = SuperChunk::open_read(Damaged { bytes, from: first }, &Limits::DEFAULT).unwrap();
    let mut reader = sc.reader();
    let mut out = [0; 10];
    for _ in 0..2 {
        assert!(reader.read(&mut out).is_err(), "{out:?} was read");
    }
    reader.seek(SeekFrom::Start(1000)).unwrap();
    assert_eq!((reader.read(&mut out).unwrap(), out), (10, [7; 10]));
}

#[test]
fn a_reader_keeps_to_the_limits() {
    let mut sc = SuperChunk::memory(&Params::new(1)).unwrap();
    sc.set_chunksize(1 << 30).unwrap();
    sc.fill_special(Special::Zeros, 1 << 30).unwrap();
    let bytes = sc.into_bytes().unwrap();
    let mut limits = Limits::DEFAULT;
    limits.chunk.output = 1 << 20;
    let sc = SuperChunk::open_read(&bytes[..], &limits).unwrap();
    assert!(sc.reader().read(&mut [0]).is_err());
}
