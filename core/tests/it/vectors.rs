//! Chunks written by the C libraries: the compact subset in `tests/fixtures` always, the full set where
//! `BLOSC_VECTORS` names it.

use crate::support;

use blosc_core::chunk::lazy::LazyChunk;
use blosc_core::filter::{bitshuffle, shuffle};
use blosc_core::{Chunk, Decoder, Level, Limits, Out, Special};
use serde_json::Value;
use support::{Vectors, chunk_context, decode, guarded, number, sha256, text};

#[test]
fn chunks_decode_to_what_went_in() {
    for set in Vectors::all() {
        let mut count = 0;
        for record in set.of_kind(&["chunk", "blosc1"]) {
            whole_chunk(record, &set.read(record));
            count += 1;
        }
        eprintln!("{}: {count} chunks", set.root.display());
        assert!(count > 50);
    }
}

fn whole_chunk(record: &Value, bytes: &[u8]) {
    let name = text(record, "file");
    let chunk = Chunk::parse(bytes).unwrap_or_else(|e| panic!("{name}: {e}"));
    check_header(record, &chunk);
    let around = chunk_context(record);
    let levels: Vec<Level> = Level::available().collect();
    let data = decode(Level::SCALAR, &chunk, around).unwrap_or_else(|e| panic!("{name}: {e}"));
    if record["uninit"] == true {
        assert!(data.len() == number(record, "nbytes") && data.iter().all(|&b| b == 0), "{name}");
    } else {
        assert_eq!(sha256(&data), text(record, "decoded_sha256"), "{name}");
    }
    for &level in &levels {
        assert_eq!(decode(level, &chunk, around).unwrap(), data, "{name} at {level:?}");
    }
    let mut threaded = vec![0xDD; data.len()];
    crate::common::pool(3).decompress_into(&chunk, around, &mut threaded).unwrap();
    assert_eq!(threaded, data, "{name} with threads");

    let mut work = vec![0; Decoder::work_len(&chunk)];
    let mut decoder = Decoder::new(Level::best(), &mut work).chunk_context(around);
    for index in 0..chunk.nblocks() {
        let range = chunk.block_range(index).unwrap();
        let block = guarded(range.len(), |out| decoder.decode_block(&chunk, index, out)).unwrap();
        assert_eq!(block, data[range], "{name}, block {index}");
    }
    let size = number(record, "header_typesize");
    for slice in record["slices"].as_array().into_iter().flatten() {
        let (start, stop) = (number(slice, "start"), number(slice, "stop"));
        let items =
            guarded((stop - start) * size, |out| decoder.get_items(&chunk, start..stop, out)).unwrap();
        assert_eq!(items, data[start * size..stop * size], "{name} {start}..{stop}");
        if record["uninit"] != true {
            assert_eq!(sha256(&items), text(slice, "sha256"), "{name} {start}..{stop}");
        }
    }
}

fn check_header(record: &Value, chunk: &Chunk<'_>) {
    let (header, name) = (chunk.header(), text(record, "file"));
    let fields = [
        ("format_version", usize::from(header.version)),
        ("flags", usize::from(header.flags)),
        ("header_typesize", usize::from(header.typesize)),
        ("nbytes", header.nbytes as usize),
        ("cbytes", header.cbytes as usize),
    ];
    for (field, found) in fields {
        assert_eq!(found, number(record, field), "{name}: {field}");
    }
    let special = match header.special() {
        None => "",
        Some(Special::Zeros) => "zero",
        Some(Special::Nan) => "nan",
        Some(Special::Value) => "value",
        Some(Special::Uninit) => "uninit",
        Some(other) => panic!("{name}: special chunk of the unknown kind {other:?}"),
    };
    assert_eq!(special, text(record, "special"), "{name}");
}

#[test]
fn vl_chunks_decode_whole_and_block_by_block() {
    for set in Vectors::all() {
        let mut count = 0;
        for record in set.of_kind(&["chunk-vl"]) {
            let (name, bytes) = (text(record, "file"), set.read(record));
            let chunk = Chunk::parse(&bytes).unwrap_or_else(|e| panic!("{name}: {e}"));
            check_header(record, &chunk);
            let around = chunk_context(record);
            for level in Level::available() {
                let data = decode(level, &chunk, around).unwrap_or_else(|e| panic!("{name}: {e}"));
                assert_eq!(sha256(&data), text(record, "decoded_sha256"), "{name}");
            }
            let (sizes, hashes) = (&record["vl_block_sizes"], &record["vl_block_sha256"]);
            assert_eq!(sizes.as_array().map(Vec::len), Some(chunk.nblocks()), "{name}");
            let mut work = vec![0; Decoder::work_len(&chunk)];
            let mut decoder = Decoder::new(Level::best(), &mut work).chunk_context(around);
            for index in 0..chunk.nblocks() {
                let range = chunk.block_range(index).unwrap();
                assert_eq!(Some(range.len() as u64), sizes[index].as_u64(), "{name}, block {index}");
                let block = guarded(range.len(), |out| decoder.decode_block(&chunk, index, out)).unwrap();
                assert_eq!(Some(sha256(&block).as_str()), hashes[index].as_str(), "{name}, block {index}");
            }
            count += 1;
        }
        eprintln!("{}: {count} chunks of VL-blocks", set.root.display());
        assert!(count > 3);
    }
}

#[test]
fn lazy_chunks_read_their_blocks_from_the_frame() {
    for set in Vectors::all() {
        let mut count = 0;
        for record in set.of_kind(&["chunk-lazy"]) {
            let (name, bytes) = (text(record, "file"), set.read(record));
            Chunk::parse(&bytes).expect_err("a lazy chunk is no chunk by itself");
            assert_eq!(bytes.len(), number(record, "stored_len"), "{name}");
            let lazy = LazyChunk::parse(&bytes, &Limits::DEFAULT).unwrap_or_else(|e| panic!("{name}: {e}"));
            assert_eq!(lazy.nchunk(), number(record, "nchunk") as i32, "{name}");
            let frame_name = text(record, "lazy_of");
            let frame = std::fs::read(set.root.join(frame_name)).unwrap();
            let frame_record = set.records.iter().find(|r| text(r, "file") == frame_name);
            let start = frame_record.and_then(|r| r["offset"].as_u64()).unwrap_or(0) + lazy.offset();
            let stored = &frame[start as usize..][..lazy.header().cbytes as usize];

            // Only what the trailer points at is copied: what is left out stays zero.
            let mut partial = vec![0; stored.len()];
            let blocks: Vec<_> =
                (0..lazy.header().nblocks()).map(|i| lazy.block_extent(i).unwrap()).collect();
            let prefix = blocks.iter().map(|b| b.start).min().unwrap();
            partial[..prefix].copy_from_slice(&stored[..prefix]);
            for block in &blocks {
                partial[block.clone()].copy_from_slice(&stored[block.clone()]);
            }
            let chunk = Chunk::parse_partial(&partial, &Limits::DEFAULT).unwrap();
            let mut work = vec![0; Decoder::work_len(&chunk)];
            let mut around = chunk_context(record);
            around.typesize = u32::from(chunk.header().typesize);
            let mut decoder = Decoder::new(Level::best(), &mut work).chunk_context(around);
            let mut data = Vec::new();
            for index in 0..chunk.nblocks() {
                let len = chunk.block_range(index).unwrap().len();
                data.extend(guarded(len, |out| decoder.decode_block(&chunk, index, out)).unwrap());
            }
            assert_eq!(sha256(&data), text(record, "decoded_sha256"), "{name}");
            count += 1;
        }
        eprintln!("{}: {count} lazy chunks", set.root.display());
        assert!(count > 3);
    }
}

#[test]
fn filters_give_the_bytes_of_the_c_library() {
    for set in Vectors::all() {
        for record in set.of_kind(&["raw-shuffle", "raw-bitshuffle"]) {
            let gzip = set.read(record);
            // No optional fields in these headers: 10 bytes, deflate data, 8 bytes of checksum and length.
            assert_eq!(gzip[..3], [0x1F, 0x8B, 8]);
            let skip =
                10 + if gzip[3] & 8 != 0 { 1 + gzip[10..].iter().position(|&b| b == 0).unwrap() } else { 0 };
            let filtered = miniz_oxide::inflate::decompress_to_vec(&gzip[skip..]).unwrap();
            assert_eq!(sha256(&filtered), text(record, "filtered_sha256"));
            let source: Vec<u8> = (0..1_000_000i32).flat_map(i32::to_le_bytes).collect();
            assert_eq!(sha256(&source), text(record, "decoded_sha256"));
            for level in Level::available() {
                let (mut there, mut back) = (vec![0; source.len()], vec![0; source.len()]);
                if text(record, "kind") == "raw-shuffle" {
                    shuffle::shuffle(level, 4, &source, Out::from(&mut there[..])).unwrap();
                    shuffle::unshuffle(level, 4, &filtered, Out::from(&mut back[..])).unwrap();
                } else {
                    bitshuffle::bitshuffle(level, 4, &source, Out::from(&mut there[..])).unwrap();
                    bitshuffle::bitunshuffle(level, 4, &filtered, Out::from(&mut back[..])).unwrap();
                }
                assert!(there == filtered && back == source, "{level:?}");
            }
        }
    }
}

#[test]
fn malformed_chunks_are_errors_or_right() {
    for set in Vectors::all() {
        let (mut refused, mut right, mut refused_by_us_alone) = (0, 0, Vec::new());
        for record in set.of_kind(&["malformed-chunk"]) {
            let (name, bytes) = (text(record, "file"), set.read(record));
            let expected = text(record, "c_outcome").strip_prefix("ok:");
            let base = set.records.iter().find(|r| r["file"] == record["base"]);
            let base_hash = base.map_or(text(record, "base_decoded_sha256"), |r| text(r, "decoded_sha256"));
            // No super-chunk around these: meta 0 of bytedelta is then an error.
            let around = chunk_context(&Value::Null);
            let outcome = Chunk::parse(&bytes)
                .and_then(|chunk| decode(Level::best(), &chunk, around).map(|data| (chunk, data)));
            match outcome {
                Err(_) => {
                    refused += 1;
                    if expected.is_some() {
                        refused_by_us_alone.push(name);
                    }
                }
                Ok((chunk, data)) => {
                    let hash = sha256(&data);
                    // The C writer's defect B1 of docs/formats/chunk.md, which its reader cannot undo but ours does; that what comes
                    // out is what went in is shown by the differential test.
                    let recovered = text(record, "mutation").starts_with("c_writer_blocksize_not_multiple");
                    let is_right = Some(&hash[..]) == expected || hash == base_hash || recovered;
                    assert!(is_right, "{name}: wrong bytes");
                    assert_eq!(decode(Level::SCALAR, &chunk, around).unwrap(), data, "{name}");
                    right += 1;
                }
            }
        }
        eprintln!(
            "{}: {refused} malformed chunks refused, {right} decoded; refused though C decodes them: {refused_by_us_alone:?}",
            set.root.display()
        );
        assert!(refused > 10 && right > 3);
    }
}
