//! Frames with holes, and what takes several pieces to read.

use blosc_core::Params;
use blosc_frame::cframe::header::FrameType;
use blosc_frame::cframe::trailer::TAIL_LEN;
use blosc_frame::cframe::{Opened, open_at};
use blosc_frame::error::{Error, IoError};
use blosc_frame::io::ReadAt;
use blosc_frame::{Limits, SuperChunk};
use blosc_testkit::Random;
use std::sync::atomic::{AtomicU64, Ordering};

const HUGE: u64 = 1 << 40;
/// Most that is asked for at once.
const PIECE: u64 = 1 << 20;

/// A file with holes: bytes at some places, zeros elsewhere. Notes how much of it is read, and keeps what is
/// asked for at once small.
struct Holes {
    size: u64,
    parts: Vec<(u64, Vec<u8>)>,
    read: AtomicU64,
}

impl Holes {
    fn new(size: u64, parts: Vec<(u64, Vec<u8>)>) -> Holes {
        Holes { size, parts, read: 0.into() }
    }
    fn read(&self) -> u64 {
        self.read.load(Ordering::Relaxed)
    }
}

impl ReadAt for Holes {
    fn size(&self) -> Result<u64, IoError> {
        Ok(self.size)
    }
    fn read_at(&self, offset: u64, buf: &mut [u8]) -> Result<usize, IoError> {
        assert!(buf.len() as u64 <= PIECE, "{} bytes at once", buf.len());
        self.read.fetch_add(buf.len() as u64, Ordering::Relaxed);
        buf.fill(0);
        for (start, bytes) in &self.parts {
            for (at, byte) in (*start..).zip(bytes) {
                if let Some(to) = at.checked_sub(offset).and_then(|at| buf.get_mut(at as usize)) {
                    *to = *byte;
                }
            }
        }
        Ok(buf.len())
    }
}

/// A frame of two chunks in pieces: header, chunks, index, trailer.
fn pieces() -> [Vec<u8>; 4] {
    let mut writer = SuperChunk::memory(&Params::new(4)).unwrap();
    writer.append_data(&[1; 400]).unwrap();
    writer.append_data(&[2; 400]).unwrap();
    let frame = writer.into_bytes().unwrap();
    let opened = open_at(&frame, FrameType::Contiguous, &Limits::DEFAULT).unwrap();
    let index_at = opened.header.index_at().unwrap() as usize;
    let head = opened.head.len();
    [opened.head, frame[head..index_at].to_vec(), opened.index, opened.trailer]
}

fn open(source: &Holes) -> Result<Opened, Error> {
    open_at(source, FrameType::Contiguous, &Limits::DEFAULT)
}

/// The pieces with holes of these lengths between index and trailer, and inside the trailer before its tail.
fn spread(gap: u64, inside: u64) -> Holes {
    let [mut head, payload, index, mut trailer] = pieces();
    let at = [head.len() as u64, (head.len() + payload.len()) as u64];
    let trailer_at = at[1] + index.len() as u64 + gap;
    let size = trailer_at + trailer.len() as u64 + inside;
    head[0x10..0x18].copy_from_slice(&size.to_be_bytes());
    let mut tail = trailer.split_off(trailer.len() - TAIL_LEN);
    tail[1..5].copy_from_slice(&((size - trailer_at) as u32).to_be_bytes());
    let (trailer, tail) = ((trailer_at, trailer), (size - TAIL_LEN as u64, tail));
    Holes::new(size, Vec::from([(0, head), (at[0], payload), (at[1], index), trailer, tail]))
}

#[test]
fn a_hole_between_index_and_trailer_is_not_read() {
    let source = spread(1 << 30, 0);
    let opened = open(&source).unwrap();
    assert_eq!(opened.nchunks, 2);
    assert!(source.read() <= 3 * PIECE, "{}", source.read());
    // One larger than any chunk can be.
    let error = open(&spread(HUGE, 0)).unwrap_err();
    assert!(matches!(error, Error::Invalid { field: "compressed_size", .. }), "{error}");
}

#[test]
fn a_trailer_of_gigabytes_is_refused_by_the_limit() {
    let source = spread(0, 4_000_000_000);
    let error = open(&source).unwrap_err();
    assert!(matches!(error, Error::Limit { what: "bytes of the frame's trailer", .. }), "{error}");
    assert!(source.read() <= 2 * PIECE, "{}", source.read());
    // Within the limit it is read, and in pieces.
    assert_eq!(open(&spread(0, 20_000_000)).unwrap().nchunks, 2);
}

#[test]
fn a_trailer_that_begins_in_a_hole_is_not_read_to_its_end() {
    let mut source = spread(0, 100_000_000);
    source.parts.retain(|(_, bytes)| !bytes.starts_with(&[0x94]));
    let error = open(&source).unwrap_err();
    assert!(matches!(error, Error::Invalid { field: "array of 4", .. }), "{error}");
    assert!(source.read() <= 2 * PIECE, "{}", source.read());
}

#[test]
fn an_index_longer_than_its_entries_is_not_read() {
    // Two entries in a chunk of a gigabyte.
    let mut source = spread(1 << 30, 0);
    source.parts[2].1[12..16].copy_from_slice(&(1u32 << 30).to_le_bytes());
    let at = source.parts[2].0 + 12;
    let error = open(&source).unwrap_err();
    assert!(matches!(error, Error::Invalid { field: "cbytes", offset, .. } if offset == at), "{error}");
    assert!(source.read() <= 2 * PIECE, "{}", source.read());
}

#[test]
fn a_header_of_gigabytes_is_refused_by_the_limit() {
    let [mut head, ..] = pieces();
    head[0x0b..0x0f].copy_from_slice(&0x7fff_ffffu32.to_be_bytes());
    head[0x10..0x18].copy_from_slice(&HUGE.to_be_bytes());
    let source = Holes::new(HUGE, Vec::from([(0, head)]));
    let error = open(&source).unwrap_err();
    assert!(matches!(error, Error::Limit { what: "bytes of the frame's header", .. }), "{error}");
    assert!(source.read() < PIECE);
}

#[test]
fn contents_that_lie_over_each_other_are_counted_each() {
    let mut writer = SuperChunk::memory(&Params::new(4)).unwrap();
    for name in ["a", "b", "c"] {
        writer.set_metalayer(name, &[7; 1000]).unwrap();
    }
    let frame = writer.into_bytes().unwrap();
    let open = |metalayers| {
        let limits = Limits::DEFAULT.metalayers(metalayers);
        open_at(&frame, FrameType::Contiguous, &limits).map(drop)
    };
    assert_eq!(open(4000), Ok(()));
    assert!(matches!(open(2000), Err(Error::Limit { what: "bytes of the frame's header", .. })));
    // In a header that has room for one content, the others are the first again.
    let mut writer = SuperChunk::memory(&Params::new(4)).unwrap();
    writer.set_metalayer("a", &[7; 1000]).unwrap();
    writer.set_metalayer("b", &[]).unwrap();
    writer.set_metalayer("c", &[]).unwrap();
    let mut frame = writer.into_bytes().unwrap();
    let offset = |name| frame.windows(3).position(|w| w == [0xa1, name, 0xd2]).unwrap() + 3;
    let [first, others @ ..] = [b'a', b'b', b'c'].map(offset);
    for other in others {
        frame.copy_within(first..first + 4, other);
    }
    let open = |most| open_at(&frame, FrameType::Contiguous, &Limits::DEFAULT.metalayers(most)).map(drop);
    assert_eq!(open(3000), Ok(()));
    let error = open(2500).unwrap_err();
    assert!(matches!(error, Error::Limit { what: "bytes of all metalayers", asked: 3000, .. }), "{error}");
}

/// An index, a header and a trailer that all take several pieces.
#[test]
fn what_takes_several_pieces_is_put_together() {
    let mut writer = SuperChunk::memory(&Params::new(1)).unwrap();
    writer.set_metalayer("m", &Random(1).noise(9_000_000)).unwrap();
    writer.set_vlmetalayer("v", &Random(2).noise(9_000_000)).unwrap();
    writer.set_chunksize(400).unwrap();
    writer.append(&[5; 4_000]).unwrap();
    let frame = writer.into_bytes().unwrap();
    let opened = open_at(&frame, FrameType::Contiguous, &Limits::DEFAULT).unwrap();
    let index_at = opened.header.index_at().unwrap() as usize;
    assert_eq!(opened.head, frame[..opened.head.len()]);
    assert_eq!([opened.index, opened.trailer].concat(), frame[index_at..]);
}
