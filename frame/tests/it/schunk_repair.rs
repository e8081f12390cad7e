//! Frames that were cut off, overwritten or lost their index are repaired as far as possible.

use crate::common;

use blosc_core::{Codec, Params};
use blosc_frame::error::{IoError, IoKind};
use blosc_frame::io::{DirFile, FaultDir, MemDir, Offset, ReadAt};
use blosc_frame::repair::{Order, Repaired, repair, repair_dir};
use blosc_frame::{Error, Limits, SuperChunk};
use common::Random;
use std::sync::atomic::{AtomicUsize, Ordering};

fn sample() -> (Vec<u8>, Vec<Vec<u8>>) {
    let mut random = Random(9);
    let mut sc = SuperChunk::memory(&Params::new(4).codec(Codec::Lz4)).unwrap();
    sc.set_chunksize(400).unwrap();
    sc.set_metalayer("m", b"\xc3").unwrap();
    sc.set_vlmetalayer("v", b"\xa2hi").unwrap();
    let data: Vec<u8> = (0..2000u32).flat_map(|i| (i * i).to_le_bytes()).collect();
    sc.append(&data).unwrap();
    sc.update(3, &random.bytes(400)).unwrap();
    let chunks = (0..sc.nchunks()).map(|k| sc.read_chunk(k).unwrap()).collect();
    (sc.into_bytes().unwrap(), chunks)
}

/// Repairs it in memory, behind other bytes, and as a file of which only parts are in memory.
fn mend(bytes: &[u8]) -> (Repaired, SuperChunk<'static>) {
    let file = File { bytes, largest: AtomicUsize::new(0) };
    let (of_file, sc) = repair(&file, &Limits::DEFAULT, SuperChunk::memory).unwrap();
    let (report, other) = repair(&bytes, &Limits::DEFAULT, SuperChunk::memory).unwrap();
    let other = other.into_bytes().unwrap();
    assert_eq!((of_file, sc.into_bytes().unwrap()), (report.clone(), other.clone()));
    let behind = [b"others", bytes].concat();
    let behind = Offset::new(&behind[..], 6).unwrap();
    assert_eq!(behind.as_slice(), Some(bytes));
    let (of_part, sc) = repair(&behind, &Limits::DEFAULT, SuperChunk::memory).unwrap();
    assert_eq!((of_part, sc.into_bytes().unwrap()), (report.clone(), other.clone()));
    let sc = SuperChunk::from_bytes(other, &Limits::DEFAULT).unwrap();
    (report, sc)
}

/// A file that notes the most bytes it was asked for at once.
struct File<'a> {
    bytes: &'a [u8],
    largest: AtomicUsize,
}

impl ReadAt for File<'_> {
    fn size(&self) -> Result<u64, IoError> {
        Ok(self.bytes.len() as u64)
    }

    fn read_at(&self, offset: u64, buf: &mut [u8]) -> Result<usize, IoError> {
        self.largest.fetch_max(buf.len(), Ordering::Relaxed);
        self.bytes.read_at(offset, buf)
    }
}

#[test]
fn an_intact_frame_is_copied() {
    let (frame, chunks) = sample();
    let (report, sc) = mend(&frame);
    assert_eq!((report.order, report.kept, report.lost.len()), (Order::Index, 20, 0));
    assert_eq!(sc.read_all().unwrap(), chunks.concat());
    assert_eq!(sc.metalayer("m"), Some(&b"\xc3"[..]));
    assert_eq!(sc.vlmetalayer("v").unwrap().unwrap(), b"\xa2hi");
}

#[test]
fn a_damaged_chunk_keeps_its_place() {
    let (mut frame, chunks) = sample();
    let at = 120 + 32 + 300;
    frame[at..at + 40].fill(0xee);
    let (report, sc) = mend(&frame);
    assert_eq!(report.order, Order::Index);
    assert!(!report.lost.is_empty() && report.lost.len() <= 2);
    for (k, chunk) in chunks.iter().enumerate() {
        let got = sc.read_chunk(k as u64).unwrap();
        let want = if report.lost.contains(&(k as u64)) { vec![0; 400] } else { chunk.clone() };
        assert_eq!(got, want, "chunk {k}");
    }
}

#[test]
fn a_frame_without_its_last_bytes_keeps_its_index() {
    let (frame, chunks) = sample();
    for cut in [1, 20] {
        let (report, sc) = mend(&frame[..frame.len() - cut]);
        assert_eq!((report.order, report.missing), (Order::Index, 0), "cut {cut}");
        assert_eq!(sc.read_all().unwrap(), chunks.concat());
    }
}

#[test]
fn a_cut_frame_keeps_the_chunks_before_the_cut() {
    let (frame, _) = sample();
    let (report, sc) = mend(&frame[..frame.len() / 2]);
    assert_eq!(report.order, Order::Stored);
    assert!(report.kept >= 5 && report.missing > 0 && report.kept + report.missing == 20);
    assert_eq!(sc.metalayer("m"), Some(&b"\xc3"[..]));
}

#[test]
fn a_frame_without_its_header_is_searched() {
    let (mut frame, chunks) = sample();
    frame[..60].fill(0);
    let (report, sc) = mend(&frame);
    assert!(!report.header);
    assert_eq!(report.order, Order::FoundIndex);
    assert_eq!(sc.read_all().unwrap(), chunks.concat());
}

#[test]
fn every_cut_is_survived() {
    let (frame, _) = sample();
    let mut last = 0;
    for len in (0..frame.len()).step_by(97) {
        if let Err(error) = repair(&&frame[..len], &Limits::DEFAULT, SuperChunk::memory) {
            assert_eq!((error, last), (Error::NothingKept, 0), "cut at {len}");
            continue;
        }
        let (report, sc) = mend(&frame[..len]);
        assert!(sc.read_all().is_ok());
        assert!(report.kept >= last || report.order != Order::Stored);
        last = report.kept;
    }
}

#[test]
fn a_sparse_frame_without_its_index() {
    let dir = MemDir::new();
    let mut sc = SuperChunk::create_dir(dir.clone(), &Params::new(4)).unwrap();
    sc.set_chunksize(400).unwrap();
    let data: Vec<u8> = (0..1000u32).flat_map(|i| (i * i).to_le_bytes()).collect();
    sc.append(&data).unwrap();
    sc.commit().unwrap();
    let mut index = dir.get("chunks.b2frame").unwrap();
    index.truncate(150);
    dir.put("chunks.b2frame", index);
    let made = SuperChunk::memory;
    let (report, sc) = repair_dir(&dir, &Limits::DEFAULT, made).unwrap();
    assert_eq!((report.order, report.kept, report.header), (Order::Stored, 10, true));
    assert_eq!(sc.read_all().unwrap(), data);
}

/// Chunks lie across the ends of what is read at once, with things between them that only look like chunks. Each such
/// thing was taken for one as long as the file goes on.
#[test]
fn a_large_file_is_searched_in_pieces() {
    let mut random = Random(3);
    let params = Params::new(4).codec(Codec::Lz4);
    let mut noise = |len: usize| (0..len).map(|_| random.next() as u8).collect::<Vec<_>>();
    let (mut file, mut plain) = (noise(100_000), Vec::new());
    for k in 0..40 {
        let data: Vec<u8> = noise(250 * (1 + k % 30)).iter().flat_map(|byte| [1, 0, 0, *byte]).collect();
        file.extend(blosc_core::compress(&params, &data).unwrap());
        plain.extend(data);
        let mut lie = blosc_core::compress(&params, &plain).unwrap();
        lie[4..8].copy_from_slice(&2_000_000u32.to_le_bytes());
        lie[12..16].copy_from_slice(&900_000u32.to_le_bytes());
        file.extend(if k % 2 == 0 { lie[..40].to_vec() } else { noise(70_000) });
    }
    let (report, sc) = mend(&file);
    assert_eq!((report.order, report.kept), (Order::Stored, 40));
    assert_eq!(sc.read_all().unwrap(), plain);
    let file = File { bytes: &file, largest: AtomicUsize::new(0) };
    repair(&file, &Limits::DEFAULT, SuperChunk::memory).unwrap();
    assert!(file.largest.into_inner() <= 1 << 18);
}

/// NaN of a chunk are those of its own items: in a frame of other items they stay what they are. As an entry of the
/// frame's index they were read as others, or not at all.
#[test]
fn nan_chunks_keep_their_bytes_in_frames_of_other_items() {
    for (own, frame) in [(8, 3), (8, 4), (4, 8), (4, 1), (4, 4), (8, 8)] {
        let chunk = blosc_core::chunk::special::nans(own, 48).unwrap();
        let mut sc = SuperChunk::memory(&Params::new(frame)).unwrap();
        sc.append_chunk(&chunk).unwrap();
        let again = SuperChunk::from_bytes(sc.into_bytes().unwrap(), &Limits::DEFAULT).unwrap();
        assert_eq!(again.read_chunk(0), Ok(blosc_core::decompress(&chunk).unwrap()), "{own} in {frame}");
    }
}

/// A full disk ends the repair: the chunk that cannot be written is not the one that is damaged.
#[test]
fn a_repair_that_cannot_write_fails_and_loses_nothing() {
    let (frame, _) = sample();
    let sparse = MemDir::new();
    let mut sc = SuperChunk::create_dir(sparse.clone(), &Params::new(4)).unwrap();
    sc.copy_from(&SuperChunk::from_slice(&frame).unwrap()).unwrap();
    sc.commit().unwrap();
    let mut failed = 0;
    for stop in 0.. {
        let dir = FaultDir::new();
        let target = DirFile::create(dir.clone(), "new").unwrap();
        dir.stop_after(stop);
        let made = |params: &Params| SuperChunk::create(target, params);
        let whole = match stop % 2 {
            0 => repair(&&frame[..], &Limits::DEFAULT, made),
            _ => repair_dir(&sparse, &Limits::DEFAULT, made),
        };
        match whole {
            Err(error) => assert!(
                error.is_in_force() || error == IoKind::Injected.into(),
                "stopped after {stop}: {error}"
            ),
            Ok((report, _)) => {
                assert_eq!((report.kept, report.lost), (20, Vec::new()), "stopped after {stop}");
                break;
            }
        }
        failed += 1;
    }
    assert!(failed > 20, "each chunk is a write");
}

/// What is too large for the limits is no damage, and the result is read under the caller's limits, too.
#[test]
fn the_limits_of_a_repair_end_it_and_hold_for_its_result() {
    let (frame, _) = sample();
    let mut limits = Limits::DEFAULT.output(1 << 20);
    limits.chunk.output = 400;
    let make = SuperChunk::memory;
    let (report, sc) = repair(&&frame[..], &limits, make).unwrap();
    assert_eq!((report.kept, *sc.limits()), (20, limits));
    limits.chunk.output = 399;
    let refused = repair(&&frame[..], &limits, make).map(drop);
    assert!(matches!(refused, Err(Error::Limit { .. })), "{refused:?}");
    // Chunks of different sizes, of which one is too large.
    let mut sc = SuperChunk::memory(&Params::new(4)).unwrap();
    sc.append_data(&[1, 2, 3, 4]).unwrap();
    sc.append_data(&(0..100u32).flat_map(u32::to_le_bytes).collect::<Vec<_>>()).unwrap();
    let frame = sc.into_bytes().unwrap();
    let refused = repair(&&frame[..], &limits, make).map(drop);
    assert!(refused.is_err(), "{refused:?}");
}
