//! Every bloscpack record of the vectors decodes to what its manifest says, whole and in parts.

use crate::containers;

use blosc_core::Pool;
use blosc_frame::bloscpack::{Bloscpack, Header, Layout, StreamReader};
use blosc_frame::plain::Plain;
use blosc_frame::{Error, Limits};
use blosc_testkit::emulated;
use containers::{Record, records, sha256};

fn open(record: &Record) -> Bloscpack<Vec<u8>> {
    let bytes = std::fs::read(&record.path).unwrap();
    Bloscpack::open(bytes, &Limits::default()).unwrap_or_else(|e| panic!("{}: {e}", record.name))
}

#[test]
fn records_decode_whole_and_in_parts() {
    let mut pool = Pool::new(1);
    let mut seen = 0;
    for record in records("bloscpack") {
        let pack = open(&record);
        let name = &record.name;
        let all = pack.read_all(&mut pool).unwrap_or_else(|e| panic!("{name}: {e}"));
        assert_eq!(sha256(&all), record.text("decoded_sha256"), "{name}");
        for (at, len) in [(0, 1), (1, 1), (0, all.len()), (all.len() / 3, all.len() / 2), (all.len(), 0)] {
            if at + len <= all.len() {
                let mut part = vec![0; len];
                pack.read_plain(&mut pool, at as u64, &mut part).unwrap();
                assert_eq!(part, all[at..at + len], "{name} {at}+{len}");
            }
        }
        let layout = match record.text("layout") {
            "v0" => Layout::V0,
            "v1" => Layout::V1,
            "v2" => Layout::V2,
            "draft" => Layout::Mono,
            _ => Layout::V3,
        };
        assert_eq!(pack.header().layout, layout, "{name}");
        assert_eq!(pack.metadata().map(containers::sorted), record.metadata(), "{name}");
        assert!(pack.verify(&mut pool, true).unwrap().is_intact(), "{name}");
        assert_eq!(pack.numpy().unwrap().is_some(), record.has("numpy"), "{name}");
        let file = std::fs::File::open(&record.path).unwrap();
        let mut stream = StreamReader::open(file, &Limits::default()).unwrap();
        let (mut chunk, mut streamed) = (Vec::new(), Vec::new());
        while stream.next_chunk(&mut pool, &mut chunk).unwrap_or_else(|e| panic!("{name}: {e}")) {
            streamed.extend_from_slice(&chunk);
        }
        assert!(streamed == all, "{name}: streaming differs");
        seen += 1;
    }
    assert!(seen >= 10, "only {seen} records");
}

/// Cut anywhere, a file is refused, or (behind its last chunk) still whole.
#[test]
fn truncation_at_every_byte_is_noticed() {
    let mut pool = Pool::new(1);
    for record in records("bloscpack") {
        let bytes = std::fs::read(&record.path).unwrap();
        let all = open(&record).read_all(&mut pool).unwrap();
        let streaming = open(&record).header().nchunks.is_none();
        let step = match bytes.len() {
            len if emulated() => 1 + len / 40,
            6001.. if !containers::long() => 97,
            _ => 1,
        };
        for len in (0..bytes.len()).step_by(step) {
            let read = Bloscpack::open(bytes[..len].to_vec(), &Limits::default())
                .and_then(|p| p.read_all(&mut pool));
            match read {
                Err(_) => {}
                Ok(got) if streaming => assert!(all.starts_with(&got), "{} cut at {len}", record.name),
                Ok(got) => assert!(got == all, "{} cut at {len}", record.name),
            }
        }
    }
}

/// Every byte changed, several ways: an error, or data that no checksum protects.
#[test]
fn mutations_give_errors_or_unprotected_changes() {
    let mut pool = Pool::new(1);
    let limits = Limits::default().output(1 << 24);
    for record in records("bloscpack") {
        let bytes = std::fs::read(&record.path).unwrap();
        let whole = open(&record);
        let all = whole.read_all(&mut pool).unwrap();
        let protected = whole.header().checksum.digest_len() > 0 && whole.header().nchunks.is_some();
        let places = if emulated() { 40 } else { 400 };
        let step = if containers::long() { 1 } else { 1 + bytes.len() / places };
        for at in (0..bytes.len()).step_by(step) {
            for flip in [0x01, 0x80, 0xff] {
                let mut bad = bytes.clone();
                bad[at] ^= flip;
                let read = Bloscpack::open(bad, &limits).and_then(|p| p.read_all(&mut pool));
                if let Ok(got) = read
                    && protected
                    && at >= 32
                {
                    assert!(got == all, "{} byte {at} ^ {flip:#x}: changed silently", record.name);
                }
            }
        }
    }
}

#[test]
fn absurd_counts_are_refused_before_allocation() {
    let mut header =
        *b"blpk\x03\x01\x01\x08\0\0\x10\0\0\0\x10\0\xff\xff\xff\xff\xff\xff\xff\x7f\0\0\0\0\0\0\0\0";
    let open = |h: &[u8]| Bloscpack::open(h.to_vec(), &Limits::default()).map(drop);
    assert!(matches!(open(&header), Err(Error::Invalid { field: "nchunks", .. })));
    header[16..24].copy_from_slice(&1i64.to_le_bytes());
    header[24..32].copy_from_slice(&i64::MAX.to_le_bytes());
    assert!(open(&header).is_err());
    header[16..24].copy_from_slice(&(-2i64).to_le_bytes());
    assert!(matches!(open(&header), Err(Error::Invalid { field: "nchunks", value: -2, .. })));
}

/// The rules of docs/formats/bloscpack.md, §9, for headers of 32 bytes that say that there is metadata.
#[test]
fn a_header_with_metadata_is_told_from_its_layouts() {
    let json = b"{\"dtype\"";
    let (mono, v3, size, app) = (Ok(Layout::Mono), Ok(Layout::V3), Err("meta-size"), Err("max-app-chunks"));
    for (version, meta_size, reserved, magic, len, want) in [
        (3, 16, 0, json, Some(200), mono),
        (2, 16, 0, json, Some(200), mono),
        (3, 168, 0, json, Some(200), mono),
        (2, i32::MAX, 0, json, None, mono),
        (2, 16, 0, b"JSON\0\0\0\0", Some(200), mono),
        (3, 16, 0, b"JSON\0\0\0\0", Some(200), v3),
        (3, 169, 0, json, Some(200), v3),
        (3, 0, 0, json, Some(200), v3),
        (3, 16, 1, json, Some(200), v3),
        (3, -5, -1, json, Some(200), app),
        (2, 169, 0, json, Some(200), size),
        (2, 0, 0, json, Some(200), size),
        (2, -5, 0, json, Some(200), size),
        (2, 16, 1, json, Some(200), size),
    ] {
        let mut head =
            [&b"blpk\0\x02\x01\x01\x10\0\0\0\x04\0\0\0\x02\0\0\0\0\0\0\0"[..], &[0; 8], magic].concat();
        head[4] = version;
        head[24..28].copy_from_slice(&i32::to_le_bytes(meta_size));
        head[28..32].copy_from_slice(&i32::to_le_bytes(reserved));
        let found = Header::detect(&head, len).map(|header| header.layout).map_err(|error| match error {
            Error::Invalid { field, .. } => field,
            other => panic!("{other}"),
        });
        assert_eq!(found, want, "{version} {meta_size} {reserved} {len:?}");
    }
}
