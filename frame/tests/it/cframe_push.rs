//! Chunks of frames that arrive in pieces, and frames that are verified without an allocator.

use blosc_core::{Codec, Level, Params, PushDecoder};
use blosc_frame::cframe::header::Header;
use blosc_frame::cframe::index::Entry;
use blosc_frame::cframe::view::View;
use blosc_frame::{Error, Limits, Structure, SuperChunk};
use blosc_testkit::Random;
use std::path::Path;

/// Header, and what lies after the chunks.
fn ends(frame: &[u8]) -> (&[u8], &[u8]) {
    let header = Header::parse(frame.first_chunk().unwrap()).unwrap();
    let len = header.frame_len as usize;
    (&frame[..header.header_len as usize], &frame[header.index_at().unwrap() as usize..len])
}

/// Chunk `k` of a frame, pushed in pieces of `size`; what came out counts only if it is done.
fn pushed(view: &View<'_>, frame: &[u8], k: u64, size: usize) -> Result<Vec<u8>, Error> {
    let mut memory = vec![0x5A; 1 << 20];
    let mut chunk = view.push_chunk(k, Level::best(), &mut memory)?;
    let mut out = Vec::new();
    while !chunk.is_done() {
        let at = chunk.position() as usize;
        let len = if chunk.needs() == 0 { 0 } else { size };
        let mut piece = frame.get(at..).map_or(&[][..], |rest| &rest[..len.min(rest.len())]);
        let whole = piece.len();
        while let Some(block) = chunk.push(&mut piece)? {
            out.resize(out.len().max(block.offset + block.bytes.len()), 0);
            out[block.offset..][..block.bytes.len()].copy_from_slice(block.bytes);
        }
        if whole == 0 && chunk.needs() > 0 {
            // The frame ends before the chunk does.
            return Err(Error::OutOfMemory);
        }
    }
    assert_eq!(chunk.decoded(), out.len());
    Ok(out)
}

#[test]
fn frames_of_other_writers_come_in_pieces() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/frames");
    let (mut chunks, mut frames) = (0, 0);
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let bytes = std::fs::read(&path).unwrap_or_default();
        let Ok(view) = View::open(&bytes, &Limits::DEFAULT) else { continue };
        let (head, rest) = ends(&bytes);
        let apart = View::open_apart(head, rest, &Limits::DEFAULT).unwrap();
        assert!(matches!(apart.verified(), Err(Error::Unsupported { .. })), "no checksums of ours");
        assert!(View::open_apart(head, &rest[1..], &Limits::DEFAULT).is_err());
        for k in 0..view.nchunks() {
            let (mut work, mut out) = (vec![0; 1 << 20], vec![0; 1 << 20]);
            let whole = view.decode_chunk(k, Level::best(), &mut work, &mut out).map(|n| &out[..n]);
            let there = pushed(&apart, &bytes, k, 61);
            match (whole, there) {
                (Ok(whole), Ok(there)) => assert!(whole == there, "{}, chunk {k}", path.display()),
                (_, Err(Error::Chunk { .. })) | (Err(_), Err(_)) => continue,
                (whole, there) => panic!("{}, chunk {k}: {whole:?}, {there:?}", path.display()),
            }
            chunks += 1;
        }
        frames += 1;
    }
    assert!(frames > 5 && chunks > 20, "{frames} frames, {chunks} chunks");
}

/// A small frame with a metalayer, ordinary chunks and a special one.
fn sample() -> (Vec<u8>, Vec<u8>) {
    let params = Params::new(4).codec(Codec::Lz4).shuffle().blocksize(Some(512));
    let mut writer = SuperChunk::memory(&params).unwrap();
    writer.set_metalayer("board", &[0xa2, b'm', b'3']).unwrap();
    let mut image: Vec<u8> = (0..900u32).flat_map(|n| (n * n / 7).to_le_bytes()).collect();
    image[1024..2048].fill(0);
    for part in image.chunks(1024) {
        writer.append(part).unwrap();
    }
    (writer.into_bytes().unwrap(), image)
}

#[test]
fn every_flipped_bit_is_found_before_it_counts() {
    let (frame, image) = sample();
    let read = |frame: &[u8], size: usize| -> Result<Vec<u8>, Error> {
        let (head, rest) = (ends(&frame_ends_of(frame)?).0.to_vec(), ends(&frame_ends_of(frame)?).1.to_vec());
        let view = View::open_apart(&head, &rest, &Limits::DEFAULT)?.verified()?;
        let mut out = Vec::new();
        for k in 0..view.nchunks() {
            out.extend(pushed(&view, frame, k, size)?);
        }
        Ok(out)
    };
    for size in [1, 7, 64, 4096] {
        assert!(read(&frame, size).unwrap() == image);
    }
    // Free room between the chunks means nothing.
    let view = View::open(&frame, &Limits::DEFAULT).unwrap();
    let mut means: Vec<bool> = (0..frame.len() as u64)
        .map(|at| !(u64::from(view.header().header_len)..view.header().index_at().unwrap()).contains(&at))
        .collect();
    for k in 0..view.nchunks() {
        if let Entry::Stored(offset) = view.entry(k, Level::best(), &mut vec![0; 1 << 16]).unwrap() {
            let at = view.header().header_len as usize + offset as usize;
            let cbytes = blosc_core::Header::parse(&frame[at..]).unwrap().cbytes as usize;
            means[at..at + cbytes].fill(true);
        }
    }
    // Nor do thread hints.
    means[0x3e..0x44].fill(false);
    assert!(means.iter().filter(|means| **means).count() > 1000);
    let mut random = Random(5);
    let (mut refused, mut sums) = (0, 0);
    for at in 0..frame.len() {
        let mut flipped = frame.clone();
        flipped[at] ^= 1 << random.below(8);
        let whole = View::open(&flipped, &Limits::DEFAULT).and_then(View::verified).and_then(|view| {
            let (mut work, mut out, mut all) = (vec![0; 1 << 16], vec![0; 1 << 16], Vec::new());
            for k in 0..view.nchunks() {
                let n = view.decode_chunk(k, Level::best(), &mut work, &mut out)?;
                all.extend(&out[..n]);
            }
            Ok(all)
        });
        for (how, answer) in [("whole", whole), ("in pieces", read(&flipped, 64))] {
            match answer {
                Ok(out) => assert!(out == image && !means[at], "byte {at} of {}, {how}", frame.len()),
                Err(Error::Checksum { .. }) => sums += 1,
                Err(_) => refused += 1,
            }
        }
    }
    assert!(sums > refused, "{sums} by checksum, {refused} otherwise");
}

/// The bytes, if header and end can be found in them at all.
fn frame_ends_of(frame: &[u8]) -> Result<Vec<u8>, Error> {
    let header = Header::parse(frame.first_chunk().unwrap())?;
    let (at, end, head) = (header.index_at()?, header.frame_len, u64::from(header.header_len));
    let fits = end <= frame.len() as u64 && at <= end && head <= end;
    if fits { Ok(frame.to_vec()) } else { Err(Error::OutOfMemory) }
}

#[test]
fn a_chunk_goes_on_unless_it_is_to_be_verified() {
    let (frame, image) = sample();
    let (head, rest) = ends(&frame);
    let view = View::open_apart(head, rest, &Limits::DEFAULT).unwrap();
    let mut memory = [0; PushDecoder::memory_max(512, 4, 4)];
    let mut chunk = view.push_chunk(0, Level::SCALAR, &mut memory).unwrap();
    let mut piece = &frame[chunk.position() as usize..];
    chunk.push(&mut piece).unwrap().unwrap();
    let state = chunk.state().unwrap();
    let prefix = |view: View<'_>| {
        let mut memory = [0; PushDecoder::memory_max(512, 4, 4)];
        let mut chunk = view.push_chunk(0, Level::SCALAR, &mut memory).unwrap();
        while chunk.state().is_none() {
            let mut piece = &frame[chunk.position() as usize..][..chunk.needs()];
            chunk.push(&mut piece).unwrap();
        }
        chunk.resume(state)?;
        let mut piece = &frame[chunk.position() as usize..];
        let block = chunk.push(&mut piece)?.unwrap();
        assert_eq!(block.bytes, &image[512..1024]);
        Ok(())
    };
    prefix(view).unwrap();
    let answer: Result<(), Error> = prefix(view.verified().unwrap());
    assert!(matches!(answer, Err(Error::Unsupported { structure: Structure::Checksums, .. })), "{answer:?}");
}
