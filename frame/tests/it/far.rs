//! Sources of which each request takes long: how many rounds of requests opening and reading take.

use crate::common;

use blosc_core::{Codec, Params};
use blosc_frame::io::{Part, ReadAt};
use blosc_frame::{IoError, Limits, SuperChunk};
use common::Random;
use std::ops::Range;
use std::sync::Mutex;

/// A far source that counts: each entry is a round trip, with the ranges that were asked for at once.
#[derive(Default)]
struct Remote {
    bytes: Vec<u8>,
    rounds: Mutex<Vec<Vec<Range<u64>>>>,
}

impl Remote {
    fn new(bytes: Vec<u8>) -> Remote {
        Remote { bytes, rounds: Mutex::default() }
    }
    /// The rounds since the last call, and the bytes that they brought.
    fn taken(&self) -> (Vec<Vec<Range<u64>>>, u64) {
        let rounds = std::mem::take(&mut *self.rounds.lock().unwrap());
        let bytes = rounds.iter().flatten().map(|range| range.end - range.start).sum();
        (rounds, bytes)
    }
}

impl ReadAt for Remote {
    fn size(&self) -> Result<u64, IoError> {
        Ok(self.bytes.len() as u64)
    }
    fn read_at(&self, offset: u64, buf: &mut [u8]) -> Result<usize, IoError> {
        let n = self.bytes.read_at(offset, buf)?;
        self.rounds.lock().unwrap().push(std::iter::once(offset..offset + n as u64).collect());
        Ok(n)
    }
    fn read_ranges(&self, parts: &mut [Part<'_>]) -> Result<(), IoError> {
        let ranges = parts.iter().map(|(offset, buf)| *offset..*offset + buf.len() as u64).collect();
        self.rounds.lock().unwrap().push(ranges);
        self.bytes.read_ranges(parts)
    }
    fn is_far(&self) -> bool {
        true
    }
}

fn noise(len: usize) -> Vec<u8> {
    let mut random = Random(3);
    (0..len).map(|i| if i % 4 == 0 { random.next() as u8 } else { (i >> 10) as u8 }).collect()
}

/// A frame of `chunks` chunks of `size` bytes, and what is in them.
fn frame(chunks: usize, size: usize, vlmeta: usize) -> (Vec<u8>, Vec<u8>) {
    let data = noise(chunks * size);
    let mut sc = SuperChunk::memory(&Params::new(4).codec(Codec::Lz4)).unwrap();
    sc.set_chunksize(size as u32).unwrap();
    sc.append(&data).unwrap();
    if vlmeta > 0 {
        sc.set_vlmetalayer("long", &noise(vlmeta)).unwrap();
    }
    (sc.into_bytes().unwrap(), data)
}

#[test]
fn opening_takes_one_round_and_another_where_the_ends_are_long() {
    // Chunks, and bytes of each; bytes of a vlmetalayer; most rounds.
    for (chunks, size, vlmeta, most) in
        [(1, 100, 0, 1), (3, 1 << 20, 0, 1), (2000, 16, 0, 1), (40_000, 16, 0, 2), (2, 100, 1 << 20, 2)]
    {
        let (frame, data) = frame(chunks, size, vlmeta);
        let remote = Remote::new(frame);
        let sc = SuperChunk::open_read(&remote, &Limits::DEFAULT).unwrap();
        let (rounds, bytes) = remote.taken();
        assert!(rounds.len() <= most, "{chunks} chunks of {size}: {rounds:?}");
        let ends = (128u64 << 10).min(remote.bytes.len() as u64);
        assert!(bytes == ends || rounds.len() > 1, "{bytes} bytes");
        assert!(sc.nchunks() == chunks as u64 && sc.nbytes() == data.len() as u64);
    }
    // An empty source, and one that is cut, say the same as near ones.
    let (frame, _) = frame(3, 1 << 20, 0);
    for cut in [0, 50, 100, frame.len() - 1] {
        let far = SuperChunk::open_read(Remote::new(frame[..cut].into()), &Limits::DEFAULT).err();
        assert_eq!(far, SuperChunk::open_read(&frame[..cut], &Limits::DEFAULT).err());
        assert!(far.is_some());
    }
}
