//! Frames that were cut off, overwritten or lost their index are repaired as far as possible.

mod common;

use blosc_core::{Codec, Params};
use blosc_frame::io::MemDir;
use blosc_frame::repair::{Order, repair, repair_dir};
use blosc_frame::{Limits, SuperChunk};
use common::Random;

fn sample() -> (Vec<u8>, Vec<Vec<u8>>) {
    let mut random = Random(9);
    let mut sc = SuperChunk::memory(&Params::new(4).codec(Codec::Lz4));
    sc.set_chunksize(400).unwrap();
    sc.set_metalayer("m", b"\xc3").unwrap();
    sc.set_vlmetalayer("v", b"\xa2hi").unwrap();
    let data: Vec<u8> = (0..2000u32).flat_map(|i| (i * i).to_le_bytes()).collect();
    sc.append(&data).unwrap();
    sc.update(3, &random.bytes(400)).unwrap();
    let chunks = (0..sc.nchunks()).map(|k| sc.read_chunk(k).unwrap()).collect();
    (sc.into_bytes().unwrap(), chunks)
}

fn mend(bytes: &[u8]) -> (blosc_frame::repair::Repaired, SuperChunk<'static>) {
    repair(&bytes, &Limits::DEFAULT, |params| Ok(SuperChunk::memory(params))).unwrap()
}

#[test]
fn an_intact_frame_is_copied() {
    let (frame, chunks) = sample();
    let (report, mut sc) = mend(&frame);
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
    let (report, mut sc) = mend(&frame);
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
        let (report, mut sc) = mend(&frame[..frame.len() - cut]);
        assert_eq!((report.order, report.missing), (Order::FoundIndex, 0), "cut {cut}");
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
    let (report, mut sc) = mend(&frame);
    assert!(!report.header);
    assert_eq!(report.order, Order::FoundIndex);
    assert_eq!(sc.read_all().unwrap(), chunks.concat());
}

#[test]
fn every_cut_is_survived() {
    let (frame, _) = sample();
    let mut last = 0;
    for len in (0..frame.len()).step_by(97) {
        let (report, mut sc) = mend(&frame[..len]);
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
    let made = |params: &Params| Ok(SuperChunk::memory(params));
    let (report, mut sc) = repair_dir(&dir, &Limits::DEFAULT, made).unwrap();
    assert_eq!((report.order, report.kept, report.header), (Order::Stored, 10, true));
    assert_eq!(sc.read_all().unwrap(), data);
}

/// NaN of a chunk are those of its own items: in a frame of other items they stay what they are. As an entry of the
/// frame's index they were read as others, or not at all.
#[test]
fn nan_chunks_keep_their_bytes_in_frames_of_other_items() {
    for (own, frame) in [(8, 3), (8, 4), (4, 8), (4, 1), (4, 4), (8, 8)] {
        let chunk = blosc_core::chunk::special::nans(own, 48).unwrap();
        let mut sc = SuperChunk::memory(&Params::new(frame));
        sc.append_chunk(&chunk).unwrap();
        let mut again = SuperChunk::from_bytes(sc.into_bytes().unwrap(), &Limits::DEFAULT).unwrap();
        assert_eq!(again.read_chunk(0), Ok(blosc_core::decompress(&chunk).unwrap()), "{own} in {frame}");
    }
}
