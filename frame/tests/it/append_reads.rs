//! What an append reads: to open, each byte of header, index and trailer once; then the chunk that it fills up, and what
//! tells whether another writer was there.

use blosc_core::Params;
use blosc_frame::io::{DirFile, Directory, MemDir, ReadAt, WriteAt};
use blosc_frame::{IoError, Limits, SuperChunk};
use blosc_testkit::Random;
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::{Arc, Mutex};

const CHUNK: usize = 40_000;
const INDEX: &str = "chunks.b2frame";

/// A directory that notes which bytes of its files are read.
#[derive(Clone, Default)]
struct Watched {
    dir: MemDir,
    reads: Arc<Mutex<BTreeMap<String, Vec<Range<u64>>>>>,
}

struct WatchedFile {
    file: Box<dyn WriteAt + Send + Sync>,
    name: String,
    dir: Watched,
}

impl Watched {
    fn file(
        &self,
        name: &str,
        file: Result<Box<dyn WriteAt + Send + Sync>, IoError>,
    ) -> Result<Box<dyn WriteAt + Send + Sync>, IoError> {
        Ok(Box::new(WatchedFile { file: file?, name: name.into(), dir: self.clone() }))
    }

    /// The reads of a file since the last call.
    fn reads(&self, name: &str) -> Vec<Range<u64>> {
        self.reads.lock().unwrap().remove(name).unwrap_or_default()
    }
}

impl Directory for Watched {
    fn open(&self, name: &str, write: bool) -> Result<Box<dyn WriteAt + Send + Sync>, IoError> {
        self.file(name, self.dir.open(name, write))
    }
    fn create(&self, name: &str) -> Result<Box<dyn WriteAt + Send + Sync>, IoError> {
        self.file(name, self.dir.create(name))
    }
    fn rename(&self, from: &str, to: &str) -> Result<(), IoError> {
        self.dir.rename(from, to)
    }
    fn remove(&self, name: &str) -> Result<(), IoError> {
        self.dir.remove(name)
    }
    fn list(&self) -> Result<Vec<String>, IoError> {
        self.dir.list()
    }
    fn sync(&self) -> Result<(), IoError> {
        self.dir.sync()
    }
}

impl ReadAt for WatchedFile {
    fn size(&self) -> Result<u64, IoError> {
        self.file.size()
    }
    fn read_at(&self, offset: u64, buf: &mut [u8]) -> Result<usize, IoError> {
        let n = self.file.read_at(offset, buf)?;
        let mut reads = self.dir.reads.lock().unwrap();
        reads.entry(self.name.clone()).or_default().push(offset..offset + n as u64);
        Ok(n)
    }
}

impl WriteAt for WatchedFile {
    fn write_at(&mut self, offset: u64, data: &[u8]) -> Result<(), IoError> {
        self.file.write_at(offset, data)
    }
    fn truncate(&mut self, len: u64) -> Result<(), IoError> {
        self.file.truncate(len)
    }
    fn sync(&mut self) -> Result<(), IoError> {
        self.file.sync()
    }
}

/// A frame of 100 chunks and a half.
fn fill(mut sc: SuperChunk<'_>) {
    sc.set_chunksize(CHUNK as u32).unwrap();
    sc.set_metalayer("unit", b"\xa2mm").unwrap();
    sc.append(&Random(1).bytes(100 * CHUNK + CHUNK / 2)).unwrap();
    sc.commit().unwrap();
}

/// How often each byte of `part` was read, which must be the same for all.
fn times(reads: &[Range<u64>], part: Range<u64>) -> usize {
    let of = |at: u64| reads.iter().filter(|read| read.contains(&at)).count();
    let first = of(part.start);
    part.for_each(|at| assert_eq!(of(at), first, "byte {at}"));
    first
}

fn bytes(reads: &[Range<u64>]) -> u64 {
    reads.iter().map(|read| read.end - read.start).sum()
}

#[test]
fn of_a_contiguous_frame() {
    let dir = Watched::default();
    fill(SuperChunk::create(DirFile::create(dir.clone(), "frame").unwrap(), &Params::new(1)).unwrap());
    dir.reads("frame");
    let mut sc = SuperChunk::open(DirFile::open(dir.clone(), "frame").unwrap(), &Limits::DEFAULT).unwrap();
    let header = *sc.header();
    let [head, at, end] =
        [header.header_len.into(), u64::from(header.header_len) + header.cbytes, header.frame_len];
    let opening = dir.reads("frame");
    // The trailer's length stands in its last 23 bytes.
    assert_eq!(
        (times(&opening, 0..head), times(&opening, at..end - 23), times(&opening, end - 23..end)),
        (1, 1, 2)
    );
    assert_eq!(bytes(&opening), head + (end - at) + 23);
    assert!(opening.len() <= 4, "{opening:?}");
    sc.append(&[7; 100]).unwrap();
    sc.commit().unwrap();
    let append = dir.reads("frame");
    println!("opening {opening:?}, append {append:?}");
    // The first bytes of the header tell of other writers: before the first write, and before the commit.
    assert_eq!((times(&append, 0..87), times(&append, 87..head), times(&append, at..end)), (2, 0, 0));
    // The last chunk, and headers of chunks behind which there may be room.
    let last = u64::from(sc.chunk_header(100).unwrap().unwrap().cbytes);
    assert!(bytes(&append) < 2 * 87 + last + 3 * 4096, "{append:?}");
    assert!(append.len() < 10, "{append:?}");
}

#[test]
fn of_a_sparse_frame() {
    let dir = Watched::default();
    fill(SuperChunk::create_dir(dir.clone(), &Params::new(1)).unwrap());
    dir.reads.lock().unwrap().clear();
    let mut sc = SuperChunk::open_dir(dir.clone(), &Limits::DEFAULT).unwrap();
    let (head, end) = (u64::from(sc.header().header_len), sc.header().frame_len);
    let opening = dir.reads(INDEX);
    assert_eq!(
        (times(&opening, 0..head), times(&opening, head..end - 23), times(&opening, end - 23..end)),
        (1, 1, 2)
    );
    assert!(dir.reads.lock().unwrap().is_empty(), "chunk files are not read to open the frame");
    sc.append(&[7; 100]).unwrap();
    sc.commit().unwrap();
    let append = dir.reads(INDEX);
    println!("opening {opening:?}, append {append:?}");
    // An index may differ where its header does not: all of it is compared, before the first write and before the commit.
    assert_eq!(times(&append, 0..end), 2);
    // The header of the first chunk tells the kind of all; the last one is filled up.
    assert_eq!(bytes(&dir.reads("00000000.chunk")), 32);
    assert!(!dir.reads("00000064.chunk").is_empty());
    let others = dir.reads.lock().unwrap().clone();
    assert!(others.is_empty(), "{others:?}");
}
