//! What an append reads: to open, each byte of header, index and trailer once; then the chunk that it fills up, and what
//! tells whether another writer was there.

use crate::common::hooked::{Hooked, Hooks};
use blosc_core::Params;
use blosc_frame::io::DirFile;
use blosc_frame::{Limits, SuperChunk};
use blosc_testkit::Random;
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Mutex;

const CHUNK: usize = 40_000;
const INDEX: &str = "chunks.b2frame";

/// Which bytes of the files of a directory are read.
#[derive(Default)]
struct Reads(Mutex<BTreeMap<String, Vec<Range<u64>>>>);

impl Hooks for Reads {
    fn read(&self, name: &str, bytes: Range<u64>) {
        self.0.lock().unwrap().entry(name.into()).or_default().push(bytes);
    }
}

type Watched = Hooked<Reads>;

/// The reads of a file since the last call.
fn reads(dir: &Watched, name: &str) -> Vec<Range<u64>> {
    dir.hooks.0.lock().unwrap().remove(name).unwrap_or_default()
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
    let dir = Watched::new(Reads::default());
    fill(SuperChunk::create(DirFile::create(dir.clone(), "frame").unwrap(), &Params::new(1)).unwrap());
    reads(&dir, "frame");
    let mut sc = SuperChunk::open(DirFile::open(dir.clone(), "frame").unwrap(), &Limits::DEFAULT).unwrap();
    let header = *sc.header();
    let [head, at, end] =
        [header.header_len.into(), u64::from(header.header_len) + header.cbytes, header.frame_len];
    let opening = reads(&dir, "frame");
    // The trailer's length stands in its last 23 bytes.
    assert_eq!(
        (times(&opening, 0..head), times(&opening, at..end - 23), times(&opening, end - 23..end)),
        (1, 1, 2)
    );
    assert_eq!(bytes(&opening), head + (end - at) + 23);
    assert!(opening.len() <= 4, "{opening:?}");
    sc.append(&[7; 100]).unwrap();
    sc.commit().unwrap();
    let append = reads(&dir, "frame");
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
    let dir = Watched::new(Reads::default());
    fill(SuperChunk::create_dir(dir.clone(), &Params::new(1)).unwrap());
    dir.hooks.0.lock().unwrap().clear();
    let mut sc = SuperChunk::open_dir(dir.clone(), &Limits::DEFAULT).unwrap();
    let (head, end) = (u64::from(sc.header().header_len), sc.header().frame_len);
    let opening = reads(&dir, INDEX);
    assert_eq!(
        (times(&opening, 0..head), times(&opening, head..end - 23), times(&opening, end - 23..end)),
        (1, 1, 2)
    );
    assert!(dir.hooks.0.lock().unwrap().is_empty(), "chunk files are not read to open the frame");
    sc.append(&[7; 100]).unwrap();
    sc.commit().unwrap();
    let append = reads(&dir, INDEX);
    println!("opening {opening:?}, append {append:?}");
    // The header is compared before the first write and before the commit; then, as an index may differ where its header
    // does not, all of it.
    assert_eq!((times(&append, 0..87), times(&append, 87..end)), (3, 1));
    // The header of the first chunk tells the kind of all; the last one is filled up.
    assert_eq!(bytes(&reads(&dir, "00000000.chunk")), 32);
    assert!(!reads(&dir, "00000064.chunk").is_empty());
    let others = dir.hooks.0.lock().unwrap().clone();
    assert!(others.is_empty(), "{others:?}");
}
