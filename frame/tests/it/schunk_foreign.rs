//! Fields of other writers' frames that mean nothing to us are shown and survive edits; and what verifying says
//! of a frame that a writer without checksums has changed.

use blosc_core::Params;
use blosc_frame::io::{Directory, MemDir};
use blosc_frame::schunk::ChecksumState;
use blosc_frame::verify::Verdict;
use blosc_frame::{Limits, SuperChunk};

const INDEX: &str = "chunks.b2frame";

/// Where each odd field lies, and what it is set to. The fingerprint and its type end the frame.
fn odd(frame: &mut [u8]) {
    frame[0x1c] |= 0xa4;
    frame[0x3f..0x41].copy_from_slice(&7i16.to_be_bytes());
    frame[0x42..0x44].copy_from_slice(&9i16.to_be_bytes());
    frame[0x55] |= 0x40;
    frame[0x56] = 0x5a;
    let end = frame.len();
    frame[end - 17] = 2;
    frame[end - 16..].copy_from_slice(b"0123456789abcdef");
}

fn is_odd(sc: &SuperChunk<'_>, when: &str) {
    let h = sc.header();
    assert_eq!((h.other_flags & 0xfc, h.other_flags2 & 0xfe), (0xa4, 0x40), "{when}");
    assert_eq!((h.threads, h.reserved), ([7, 9], 0x5a), "{when}");
    assert_eq!(sc.fingerprint(), (2, *b"0123456789abcdef"), "{when}");
    assert_eq!(sc.checksum_state(), ChecksumState::Other(2), "{when}");
}

fn fill(sc: &mut SuperChunk<'_>) {
    sc.set_checksums(false);
    sc.set_chunksize(400).unwrap();
    sc.set_metalayer("m", b"\xc0").unwrap();
    sc.append(&(0..2000).map(|i| ((i * i) >> 3) as u8).collect::<Vec<_>>()).unwrap();
    sc.commit().unwrap();
}

/// Every kind of change, each committed and looked at again.
fn edits(open: impl Fn() -> SuperChunk<'static>, keep: impl Fn(SuperChunk<'static>)) {
    type Edit = fn(&mut SuperChunk<'_>);
    let all: [(&str, Edit); 9] = [
        ("append", |sc| sc.append(&[3; 500]).unwrap()),
        ("insert", |sc| sc.insert(1, &[4; 400]).unwrap()),
        ("update", |sc| sc.update(0, &[5; 400]).unwrap()),
        ("delete", |sc| sc.delete(2).unwrap()),
        ("reorder", |sc| sc.reorder(&(0..sc.nchunks()).rev().collect::<Vec<_>>()).unwrap()),
        ("vlmetalayer", |sc| sc.set_vlmetalayer("v", b"\xc0").unwrap()),
        ("metalayer", |sc| sc.set_metalayer("m", b"\xc3").unwrap()),
        ("longer metalayer", |sc| sc.set_metalayer("m", &[7; 600]).unwrap()),
        ("compact", |sc| assert!(sc.compact().unwrap().after > 0)),
    ];
    is_odd(&open(), "as it came");
    for (name, edit) in all {
        let mut sc = open();
        edit(&mut sc);
        sc.commit().unwrap();
        is_odd(&sc, name);
        keep(sc);
        is_odd(&open(), name);
    }
}

#[test]
fn odd_fields_survive_every_edit() {
    let mut sc = SuperChunk::memory(&Params::new(4)).unwrap();
    fill(&mut sc);
    let mut frame = sc.into_bytes().unwrap();
    odd(&mut frame);
    let frame = std::cell::RefCell::new(frame);
    edits(
        || SuperChunk::from_bytes(frame.borrow().clone(), &Limits::DEFAULT).unwrap(),
        |sc| *frame.borrow_mut() = sc.into_bytes().unwrap(),
    );

    let dir = MemDir::new();
    fill(&mut SuperChunk::create_dir(dir.clone(), &Params::new(4)).unwrap());
    let mut index = dir.get(INDEX).unwrap();
    odd(&mut index);
    dir.put(INDEX, index);
    edits(|| SuperChunk::open_dir(dir.clone(), &Limits::DEFAULT).unwrap(), drop);
    assert!(dir.contains(INDEX).unwrap());
}

#[test]
fn a_writer_without_checksums_is_neither_damage_nor_intact() {
    let mut sc = SuperChunk::memory(&Params::new(4)).unwrap();
    sc.set_chunksize(400).unwrap();
    sc.append(&[1; 1000]).unwrap();
    let mut frame = sc.into_bytes().unwrap();
    assert_eq!(SuperChunk::from_slice(&frame).unwrap().verify(|_| {}).unwrap().verdict(), Verdict::Intact);
    // What C-Blosc2 leaves of a fingerprint when it writes a trailer.
    let end = frame.len();
    frame[end - 17..].fill(0);
    let mut sc = SuperChunk::from_slice(&frame).unwrap();
    assert_eq!(sc.verify(|_| {}).unwrap().verdict(), Verdict::Foreign);
    assert_eq!(sc.checksum_state(), ChecksumState::Foreign);
}

/// Swaps the last letter of a name for a byte that is not UTF-8.
fn spoil(frame: &mut [u8], name: &[u8]) {
    let at = frame.windows(name.len()).position(|w| w == name).unwrap();
    frame[at + name.len() - 1] = 0xff;
}

#[test]
fn names_that_are_not_utf8_are_found_as_they_are_shown() {
    let mut sc = SuperChunk::memory(&Params::new(1)).unwrap();
    sc.set_checksums(false);
    sc.set_metalayer("mm", b"1").unwrap();
    sc.set_vlmetalayer("vv", b"2").unwrap();
    let mut frame = sc.into_bytes().unwrap();
    spoil(&mut frame, b"mm");
    spoil(&mut frame, b"vv");
    let mut sc = SuperChunk::from_bytes(frame.clone(), &Limits::DEFAULT).unwrap();
    let (m, v) = (sc.metalayer_names().next().unwrap(), sc.vlmetalayer_names().next().unwrap());
    assert_eq!((&*m, &*v), ("m\u{fffd}", "v\u{fffd}"));
    assert_eq!(sc.metalayer(&m), Some(&b"1"[..]));
    assert_eq!(sc.vlmetalayer(&v), Ok(Some(b"2".to_vec())));
    assert_eq!(sc.verify(|_| ()).unwrap().damage, []);
    // The chunk that is its content says it is longer.
    let chunk = sc.vlmetalayer_chunk(&v).unwrap().to_vec();
    let at = frame.windows(chunk.len()).position(|w| w == chunk).unwrap();
    frame[at + 12] ^= 0x40;
    let mut bad = SuperChunk::from_bytes(frame, &Limits::DEFAULT).unwrap();
    assert_eq!(bad.verify(|_| ()).unwrap().damage.len(), 1);
    assert!(sc.remove_metalayer(&m) && sc.remove_vlmetalayer(&v));
    assert_eq!(sc.metalayer_names().count() + sc.vlmetalayer_names().count(), 0);
}
