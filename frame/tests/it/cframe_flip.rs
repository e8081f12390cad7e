//! Every byte of checksummed frames changed in turn: verifying notices whatever changes the meaning.

use crate::common;

use blosc_core::{Codec, Params, Special};
use blosc_frame::io::{Directory, MemDir};
use blosc_frame::verify::Verdict;
use blosc_frame::{Limits, SuperChunk};
use common::{Random, emulated};

/// Everything a reader is told: chunks, metalayers, parameters.
fn meaning(sc: &mut SuperChunk<'_>) -> Option<Vec<u8>> {
    let mut all = format!("{:?} {:?}", sc.params(), sc.chunksize()).into_bytes();
    for name in sc.metalayer_names().collect::<Vec<_>>() {
        all.extend(name.bytes());
        all.extend(sc.metalayer(&name)?);
    }
    for name in sc.vlmetalayer_names().collect::<Vec<_>>() {
        all.extend(name.bytes());
        all.extend(sc.vlmetalayer(&name).ok()??);
    }
    for k in 0..sc.nchunks() {
        let chunk = sc.read_chunk(k).ok()?;
        all.extend((chunk.len() as u64).to_le_bytes());
        all.extend(chunk);
    }
    Some(all)
}

fn intact(sc: &mut SuperChunk<'_>) -> bool {
    sc.verify(|_| {}).is_ok_and(|report| report.verdict() == Verdict::Intact)
}

fn frames() -> Vec<Vec<u8>> {
    let mut random = Random(5);
    let mut frames = Vec::new();
    for codec in [Codec::Lz4, Codec::Zstd] {
        let mut sc = SuperChunk::memory(&Params::new(4).codec(codec)).unwrap();
        sc.set_chunksize(400).unwrap();
        sc.set_metalayer("meta", b"\x93\x01\x02\x03").unwrap();
        sc.set_vlmetalayer("vl", b"\xa5hello").unwrap();
        sc.append(&random.bytes(900)).unwrap();
        sc.fill_special(Special::Nan, 700).unwrap();
        sc.append_data(&random.bytes(123)).unwrap();
        frames.push(sc.to_bytes().unwrap());
        sc.delete(1).unwrap();
        sc.insert(0, &random.bytes(64)).unwrap();
        frames.push(sc.into_bytes().unwrap());
    }
    let mut empty = SuperChunk::memory(&Params::new(8)).unwrap();
    empty.set_metalayer("only", b"\xc0").unwrap();
    frames.push(empty.into_bytes().unwrap());
    frames
}

#[test]
fn every_byte_of_contiguous_frames() {
    let (mut tried, mut changed) = (0, 0);
    for frame in frames() {
        let mut sc = SuperChunk::from_slice(&frame).unwrap();
        assert!(intact(&mut sc), "{:?}", sc.verify(|_| {}));
        let original = meaning(&mut sc).unwrap();
        for at in (0..frame.len()).step_by(if emulated() { 17 } else { 1 }) {
            for flip in [0x01, 0x80, 0xff] {
                let mut bad = frame.clone();
                bad[at] ^= flip;
                let Ok(mut sc) = SuperChunk::from_slice(&bad) else { continue };
                tried += 1;
                let same = meaning(&mut sc).as_ref() == Some(&original);
                changed += usize::from(!same);
                assert!(same || !intact(&mut sc), "byte {at} ^ {flip:#x} changes the meaning unnoticed");
            }
        }
    }
    println!("{tried} changed frames opened, {changed} with another meaning, all of them noticed");
}

#[test]
fn every_byte_of_a_sparse_frame() {
    let mut random = Random(6);
    let dir = MemDir::new();
    let mut sc = SuperChunk::create_dir(dir.clone(), &Params::new(4)).unwrap();
    sc.set_chunksize(200).unwrap();
    sc.set_vlmetalayer("vl", b"\xa5hello").unwrap();
    sc.append(&random.bytes(500)).unwrap();
    sc.commit().unwrap();
    assert!(intact(&mut sc));
    let original = meaning(&mut sc).unwrap();
    for name in &dir.list().unwrap() {
        let content = dir.get(name).unwrap();
        for at in 0..content.len() {
            let mut bad = content.clone();
            bad[at] ^= 0x10;
            dir.put(name, bad);
            if let Ok(mut sc) = SuperChunk::open_dir(dir.clone(), &Limits::DEFAULT) {
                let same = meaning(&mut sc).as_ref() == Some(&original);
                assert!(same || !intact(&mut sc), "{name} byte {at}");
            }
        }
        dir.put(name, content);
    }
}
