//! Whatever one fault does to a frame, what a repair makes of it opens, verifies and decodes, and holds every chunk whose
//! bytes the fault left alone; or nothing is made.

use crate::common::{Random, emulated};
use blosc_core::{Codec, Params};
use blosc_frame::b2nd::{Dtype, NdArray, Spec};
use blosc_frame::cframe::index::Entry;
use blosc_frame::io::MemDir;
use blosc_frame::repair::{Options, Order, Repaired, Substitute, repair, repair_dir};
use blosc_frame::schunk::{ChecksumState, RawChunk};
use blosc_frame::verify::Verdict;
use blosc_frame::{Error, Limits, SuperChunk};
use core::ops::Range;

/// A frame, and where each of its chunks lies.
struct Sample {
    name: &'static str,
    bytes: Vec<u8>,
    chunks: Vec<(Range<usize>, Vec<u8>)>,
}

/// Bytes that compress, each chunk in another way.
fn data(len: usize) -> Vec<u8> {
    let mut random = Random(5);
    (0..len / 4).flat_map(|i| ((i as u32) * 7 + (random.next() as u32 & 15)).to_le_bytes()).collect()
}

fn frame(checksums: bool) -> SuperChunk<'static> {
    let mut sc = SuperChunk::memory(&Params::new(4).codec(Codec::Lz4)).unwrap();
    sc.set_checksums(checksums);
    sc.set_chunksize(400).unwrap();
    sc.set_metalayer("m", b"\xc3").unwrap();
    sc.set_vlmetalayer("v", b"\xa2hi").unwrap();
    sc.append(&data(2300)).unwrap();
    sc
}

fn array() -> SuperChunk<'static> {
    let spec = Spec::new(&[30, 11], Dtype::parse("<i4").unwrap()).unwrap();
    let spec = spec.chunks(&[8, 6]).unwrap().blocks(&[4, 3]).unwrap();
    let frame = SuperChunk::memory(&spec.params().codec(Codec::Lz4)).unwrap();
    NdArray::from_slice(frame, &spec, &data(30 * 11 * 4)).unwrap().into_frame()
}

fn sample(name: &'static str, mut sc: SuperChunk<'_>) -> Sample {
    let bytes = sc.to_bytes().unwrap();
    let sc = SuperChunk::from_bytes(bytes.clone(), &Limits::DEFAULT).unwrap();
    let start = sc.header().header_len as usize;
    let chunks = (0..sc.nchunks()).map(|k| {
        let Some(Entry::Stored(offset)) = sc.entry(k) else { panic!("chunk {k} is not stored") };
        let at = start + offset as usize;
        let len = sc.chunk_header(k).unwrap().unwrap().cbytes as usize;
        (at..at + len, sc.read_chunk(k).unwrap())
    });
    let chunks = chunks.collect();
    Sample { name, bytes, chunks }
}

fn samples() -> [Sample; 3] {
    [sample("frame", frame(true)), sample("frame without checksums", frame(false)), sample("array", array())]
}

/// What must hold of a repair, after a fault that left these chunks alone.
fn check(what: &str, done: Result<(Repaired, SuperChunk<'_>), Error>, whole: &[&Vec<u8>]) {
    let (report, mut out) = match done {
        Ok(done) => done,
        Err(error) => {
            // The name of a codec or a filter that is damaged is one that is not known.
            let nothing = error == Error::NothingKept && whole.is_empty();
            assert!(nothing || error.leaves_open(), "{what}: {error:?}");
            return;
        }
    };
    let bytes = out.to_bytes().unwrap();
    let mut out = SuperChunk::from_bytes(bytes, &Limits::DEFAULT).unwrap();
    let verified = out.verify(|_| {}).unwrap();
    assert_eq!(verified.verdict(), Verdict::Intact, "{what}: {verified:?}");
    let chunks: Vec<_> = out.chunks().collect::<Result<_, _>>().unwrap();
    let mut rest = chunks.iter();
    for chunk in whole {
        assert!(rest.any(|found| found == *chunk), "{what}: a whole chunk is not there: {report:?}");
    }
    for k in &report.lost {
        assert!(chunks[*k as usize].iter().all(|byte| *byte == 0), "{what}: chunk {k}");
    }
    if out.metalayer("b2nd").is_some() {
        let array = NdArray::open(out).unwrap();
        let mut items = vec![0; array.geometry().nbytes() as usize];
        let all: Vec<_> = array.shape().iter().map(|side| 0..*side).collect();
        array.get_slice(&all, &mut items).unwrap();
    }
}

/// Each of `len` bytes; emulated, every seventh.
fn each(len: usize) -> impl Iterator<Item = usize> {
    (0..len).step_by(if emulated() { 7 } else { 1 })
}

#[test]
fn a_cut_anywhere() {
    for Sample { name, bytes, chunks } in samples() {
        for len in each(bytes.len()) {
            let whole: Vec<_> = chunks.iter().filter(|(at, _)| at.end <= len).map(|(_, c)| c).collect();
            let done = repair(&&bytes[..len], &Limits::DEFAULT, SuperChunk::memory);
            if let Ok((report, _)) = &done {
                // The last bytes are only a length and a fingerprint.
                assert!(!report.is_complete() || len + 24 > bytes.len(), "{name} cut at {len}");
            }
            check(&format!("{name} cut at {len}"), done, &whole);
        }
    }
}

#[test]
fn a_flip_anywhere() {
    for Sample { name, bytes, chunks } in samples() {
        for at in each(bytes.len()) {
            let mut damaged = bytes.clone();
            damaged[at] ^= 1 << (at % 8);
            let whole: Vec<_> =
                chunks.iter().filter(|(place, _)| !place.contains(&at)).map(|(_, c)| c).collect();
            let done = repair(&damaged.as_slice(), &Limits::DEFAULT, SuperChunk::memory);
            check(&format!("{name}, byte {at}"), done, &whole);
        }
    }
}

#[test]
fn a_cut_or_a_flip_anywhere_in_a_sparse_frame() {
    for Sample { name, bytes, .. } in samples() {
        let dir = MemDir::new();
        let from = SuperChunk::from_slice(&bytes).unwrap();
        let mut sc = SuperChunk::create_dir(dir.clone(), &Params::new(4)).unwrap();
        sc.copy_from(&from).unwrap();
        sc.commit().unwrap();
        let chunks: Vec<_> = from.chunks().collect::<Result<_, _>>().unwrap();
        let index = dir.get("chunks.b2frame").unwrap();
        for at in each(index.len()) {
            let mut damaged = index.clone();
            damaged[at] ^= 1 << (at % 8);
            for damaged in [damaged, index[..at].to_vec()] {
                dir.put("chunks.b2frame", damaged);
                let done = repair_dir(&dir, &Limits::DEFAULT, SuperChunk::memory);
                check(
                    &format!("sparse {name}, byte {at} of the index"),
                    done,
                    &chunks.iter().collect::<Vec<_>>(),
                );
            }
        }
        dir.put("chunks.b2frame", index);
        let file = dir.get("00000001.chunk").unwrap();
        let whole: Vec<_> = chunks.iter().enumerate().filter(|(k, _)| *k != 1).map(|(_, c)| c).collect();
        for at in each(file.len()) {
            let mut damaged = file.clone();
            damaged[at] ^= 1 << (at % 8);
            for damaged in [damaged, file[..at].to_vec()] {
                dir.put("00000001.chunk", damaged);
                let done = repair_dir(&dir, &Limits::DEFAULT, SuperChunk::memory);
                check(&format!("sparse {name}, byte {at} of a chunk"), done, &whole);
            }
        }
    }
}

/// The lost rows of an array are those of its lost chunks, and what takes their place is what was asked for.
#[test]
fn what_is_lost_is_told_and_filled() {
    let Sample { bytes, chunks, .. } = sample("array", array());
    // Two chunks side by side: chunk 2 holds rows 8 to 15 and columns 0 to 5.
    let mut damaged = bytes.clone();
    damaged[chunks[2].0.start + 40] ^= 0xff;
    let options = || Options::from(&Limits::DEFAULT);
    let (report, out) = repair(&damaged.as_slice(), options(), SuperChunk::memory).unwrap();
    assert_eq!(
        (report.lost.as_slice(), report.gone.as_slice(), report.is_complete()),
        (&[2][..], &[std::ops::Range { start: 8, end: 16 }][..], false)
    );
    let array = NdArray::open(out).unwrap();
    let mut row = [1; 44];
    array.get_slice(&[8..9, 0..11], &mut row).unwrap();
    assert_eq!(row[..24], [0; 24]);
    assert_ne!(row[24..], [0; 20]);
    let item = options().substitute(Substitute::Item(vec![1, 2, 3, 4]));
    let (_, out) = repair(&damaged.as_slice(), item, SuperChunk::memory).unwrap();
    assert_eq!(out.read_chunk(2).unwrap(), [1, 2, 3, 4].repeat(48));
    let nan = options().substitute(Substitute::Nan);
    let (_, out) = repair(&damaged.as_slice(), nan, SuperChunk::memory).unwrap();
    assert_eq!(out.read_chunk(2).unwrap(), f32::NAN.to_le_bytes().repeat(48));
    let wrong = options().substitute(Substitute::Item(vec![1, 2, 3]));
    assert!(matches!(repair(&damaged.as_slice(), wrong, SuperChunk::memory), Err(Error::Param { .. })));
}

/// A chunk whose codec or filter is not built in, or that a big-endian machine wrote, is no damaged one.
#[test]
fn what_cannot_be_decoded_is_copied() {
    for (what, place, value) in [("codec", 22, 250), ("filter", 16, 201), ("big-endian", 31, 0x02)] {
        for checksums in [true, false] {
            let Sample { mut bytes, chunks, .. } = sample("", frame(false));
            for k in [1, 2] {
                let chunk = &mut bytes[chunks[k].0.clone()];
                match what {
                    "codec" => (chunk[2], chunk[place]) = (chunk[2] & 0x1f | 6 << 5, value),
                    "filter" => chunk[place] = value,
                    _ => chunk[place] |= value,
                }
            }
            let chunk = bytes[chunks[1].0.clone()].to_vec();
            let mut foreign = SuperChunk::from_bytes(bytes, &Limits::DEFAULT).unwrap();
            foreign.set_checksums(checksums);
            foreign.compact().unwrap();
            let bytes = foreign.into_bytes().unwrap();
            let verdict = SuperChunk::from_slice(&bytes).unwrap().verify(|_| {}).unwrap().verdict();
            assert_eq!(verdict, Verdict::CannotTell, "{what}");
            // As it is, and searched for its chunks.
            for cut in [0, 30] {
                let cut = &bytes[..bytes.len() - cut];
                let (report, mut out) = repair(&cut, &Limits::DEFAULT, SuperChunk::memory).unwrap();
                assert_eq!((report.kept, report.unchecked, report.lost.len()), (6, 2, 0), "{what}");
                let mut buf = Vec::new();
                let RawChunk::Stored(copy) = out.raw_chunk(1, &mut buf).unwrap() else { panic!("{what}") };
                assert_eq!(copy, chunk, "{what}");
                assert_eq!(out.verify(|_| {}).unwrap().verdict(), Verdict::CannotTell, "{what}");
            }
        }
    }
}

/// One chunk that nothing else is like is not copied on its word: a bit of a name may have changed.
#[test]
fn a_single_chunk_of_an_unknown_filter_ends_the_repair() {
    let Sample { mut bytes, chunks, .. } = sample("", frame(false));
    bytes[chunks[1].0.start + 16] = 201;
    let done = repair(&bytes.as_slice(), &Limits::DEFAULT, SuperChunk::memory).map(drop);
    assert!(done.as_ref().is_err_and(|error| error.to_string().contains("201")), "{done:?}");
}

/// An index that names one chunk many times: it is written, decoded and checked once.
#[test]
fn shared_chunks_stay_shared() {
    let mut sc = SuperChunk::memory(&Params::new(4).codec(Codec::Lz4)).unwrap();
    sc.set_chunksize(1 << 20).unwrap();
    let chunk = blosc_core::compress(&Params::new(4).codec(Codec::Lz4), &data(1 << 20)).unwrap();
    let n = 300;
    sc.append_chunk(&chunk).unwrap();
    for _ in 1..n {
        sc.append_chunk(&[]).unwrap_err();
    }
    let one = sc.into_bytes().unwrap();
    let bytes = shared(&one, &chunk, n);
    let limits = Limits::DEFAULT.output(3 << 20).expansion(0);
    let mut sc = SuperChunk::open(bytes.clone(), &limits).unwrap();
    assert_eq!((sc.nchunks(), sc.nbytes()), (n, n << 20));
    assert_eq!(sc.verify(|_| {}).unwrap().verdict(), Verdict::Readable);
    sc.set_checksums(true);
    sc.compact().unwrap();
    assert_eq!(sc.verify(|_| {}).unwrap().verdict(), Verdict::Intact);
    assert!(sc.container_bytes().unwrap() < bytes.len() as u64 + n * 16 + 1000);
    let (report, out) = repair(&bytes.as_slice(), &limits, SuperChunk::memory).unwrap();
    assert_eq!((report.kept, report.is_complete()), (n, true));
    assert!(out.container_bytes().unwrap() < bytes.len() as u64 + n * 16 + 1000);
    let dir = MemDir::new();
    let mut sparse = SuperChunk::create_dir(dir.clone(), &Params::new(4)).unwrap();
    sparse.copy_from(&SuperChunk::from_slice(&bytes).unwrap()).unwrap();
    sparse.commit().unwrap();
    sparse.compact().unwrap();
    assert!(sparse.container_bytes().unwrap() < bytes.len() as u64 + n * 16 + 1000);
    sparse.set_limits(&limits);
    assert_eq!(sparse.verify(|_| {}).unwrap().verdict(), Verdict::Intact);
    // Reading all of it is another thing.
    assert!(matches!(sparse.read_all(), Err(Error::Limit { .. })));
    let recompressed = SuperChunk::memory(&Params::new(4)).unwrap().recompress_from(&sparse);
    assert!(matches!(recompressed, Err(Error::Limit { .. })));
}

/// The frame of one chunk, whose index names it `n` times.
fn shared(one: &[u8], chunk: &[u8], n: u64) -> Vec<u8> {
    let at = one.windows(chunk.len()).position(|window| window == chunk).unwrap();
    let (head, rest) = (&one[..at], &one[at + chunk.len()..]);
    let old = u32::from_le_bytes(rest[12..16].try_into().unwrap()) as usize;
    let index = blosc_core::compress(&Params::new(8), &vec![0; n as usize * 8]).unwrap();
    let mut trailer = vec![0x94, 1, 0x93, 0xcd, 0, 6, 0xde, 0, 0, 0xdc, 0, 0, 0xce, 0, 0, 0, 35, 0xd8, 0];
    trailer.extend([0; 16]);
    assert!(rest.len() > old);
    let mut bytes = [head, chunk, &index, &trailer].concat();
    let len = bytes.len() as u64;
    bytes[16..24].copy_from_slice(&len.to_be_bytes());
    bytes[30..38].copy_from_slice(&(n << 20).to_be_bytes());
    bytes
}

/// Everything that decodes all of a frame is held to the limits.
#[test]
fn limits_bind_what_decodes_all_of_a_frame() {
    let bytes = frame(true).into_bytes().unwrap();
    for (limit, refused) in [(2300, false), (2299, true)] {
        let limits = Limits::DEFAULT.output(limit).expansion(0);
        let open = || SuperChunk::open(bytes.clone(), &limits).unwrap();
        let mut new = SuperChunk::memory(&Params::new(4)).unwrap();
        let calls = [
            ("read_all", open().read_all().map(drop)),
            ("verify", open().verify(|_| {}).map(drop)),
            ("recompress_from", new.recompress_from(&open())),
            ("repair", repair(&bytes.as_slice(), &limits, SuperChunk::memory).map(drop)),
        ];
        for (what, done) in calls {
            assert_eq!(
                matches!(done, Err(Error::Limit { limit: l, .. }) if l == limit),
                refused,
                "{what}: {done:?}"
            );
            assert_eq!(done.is_err(), refused, "{what}: {done:?}");
        }
    }
    // A larger container may be decoded as far as its own size allows.
    let limits = Limits::DEFAULT.output(1);
    assert!(SuperChunk::open(bytes, &limits).unwrap().verify(|_| {}).is_ok());
}

/// What only looks like a chunk, and would end behind the file, costs nothing of the budget.
#[test]
fn forged_headers_do_not_use_up_the_budget() {
    let mut bytes = frame(true).into_bytes().unwrap();
    let len = bytes.len();
    bytes.truncate(len - 5);
    let stored = blosc_core::compress(&Params::new(1).level(0).no_filter(), &[3; 5000]).unwrap();
    for _ in 0..20 {
        bytes.extend(&stored[..32]);
    }
    let limits = Limits::DEFAULT.output(20_000).expansion(0);
    let (report, out) = repair(&bytes.as_slice(), &limits, SuperChunk::memory).unwrap();
    assert_eq!((report.kept, report.order), (6, Order::Index));
    assert_eq!(out.vlmetalayer("v").unwrap().as_deref(), Some(&b"\xa2hi"[..]));
}

/// The table of checksums: its earlier form is read, one that is not known is told, one that is damaged refuses.
#[test]
fn tables_of_checksums_protect_or_are_missed_aloud() {
    let bytes = frame(true).into_bytes().unwrap();
    let at = bytes.windows(4).position(|window| window == b"XXH3").unwrap();
    let state = |bytes: &[u8]| SuperChunk::from_slice(bytes).unwrap().checksum_state();
    let verdict = |bytes: &[u8]| SuperChunk::from_slice(bytes).unwrap().verify(|_| {}).unwrap().verdict();
    assert_eq!((state(&bytes), verdict(&bytes)), (ChecksumState::Present, Verdict::Intact));
    let mut unknown = bytes.clone();
    unknown[at + 4] = 9;
    assert_eq!((state(&unknown), verdict(&unknown)), (ChecksumState::UnknownForm, Verdict::CannotTell));
    let sc = SuperChunk::from_slice(&unknown).unwrap();
    assert!(sc.unchecked().is_some());
    assert!(sc.read_all().is_ok());
    // Marker, length, kind, count.
    for place in [at - 5, at - 1, at, at + 3, at + 7, at + 16, at + 20] {
        let mut damaged = bytes.clone();
        damaged[place] ^= 0x40;
        assert_eq!(verdict(&damaged), Verdict::Damaged, "byte {place}");
        if state(&damaged) != ChecksumState::Damaged {
            panic!("byte {place}: {:?}", state(&damaged));
        }
        let mut sc = SuperChunk::open(damaged.clone(), &Limits::DEFAULT).unwrap();
        let refused =
            Error::Checksum { structure: blosc_frame::error::Structure::Checksums, chunk: None, offset: 0 };
        let is = |error: Option<Error>| matches!((error, refused), (Some(Error::Checksum { structure: a, .. }), Error::Checksum { structure: b, .. }) if a == b);
        assert!(is(sc.read_chunk(0).err()) && is(sc.read_all().err()), "byte {place}");
        assert!(is(sc.append(&[1; 4]).err()) && is(sc.compact().err()), "byte {place}");
        sc.set_verify(false);
        assert_eq!(sc.read_all().unwrap(), data(2300));
        let (report, mut out) = repair(&damaged.as_slice(), &Limits::DEFAULT, SuperChunk::memory).unwrap();
        assert_eq!((report.kept, report.lost.len()), (6, 0));
        assert_eq!(out.verify(|_| {}).unwrap().verdict(), Verdict::Intact);
    }
    // The checksum of a chunk: that chunk is refused.
    let mut damaged = bytes.clone();
    damaged[at + 33] ^= 1;
    let sc = SuperChunk::from_slice(&damaged).unwrap();
    assert!(matches!(sc.read_chunk(0), Err(Error::Checksum { chunk: Some(0), .. })));
    assert!(sc.read_chunk(1).is_ok());
}

/// The form that tables of checksums had first: one bit of the chunk has changed since.
#[test]
fn the_earlier_form_of_the_table_is_read() {
    let bytes = include_bytes!("../fixtures/wild/earlier_checksums.b2frame");
    let mut sc = SuperChunk::open(bytes.to_vec(), &Limits::DEFAULT).unwrap();
    assert_eq!(sc.checksum_state(), ChecksumState::Present);
    assert!(matches!(sc.read_chunk(0), Err(Error::Checksum { chunk: Some(0), .. })));
    let report = sc.verify(|_| {}).unwrap();
    assert!(report.metalayers_covered && report.damage.len() == 1, "{report:?}");
    assert_eq!((report.damage[0].chunk, report.verdict()), (Some(0), Verdict::Damaged));
    assert_eq!(repair(&&bytes[..], &Limits::DEFAULT, SuperChunk::memory).map(drop), Err(Error::NothingKept));
}
