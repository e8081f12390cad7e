//! Chunks made and read with `Pool` and `compress`: whole, by blocks, with threads, with dictionaries.

use crate::chunk::decode;
use crate::common::{encoders, pool};
use blosc_core::{Chunk, ChunkContext, Codec, Decoder, Level, Params, Pool};
use blosc_testkit::Random;

/// Data with structure at several scales, the same on every machine.
fn sample(len: usize) -> Vec<u8> {
    let mut random = Random(1);
    let mut value = 1000u32;
    let mut data = Vec::with_capacity(len + 4);
    while data.len() < len {
        value = value.wrapping_add((random.next() >> 60) as u32);
        data.extend_from_slice(&value.to_le_bytes());
    }
    data.truncate(len);
    data
}

#[test]
fn round_trips_whatever_the_threads_and_levels() {
    for codec in encoders() {
        for len in [0, 1, 31, 32, 100, 4096, 40_001, 700_000] {
            let data = sample(len);
            for params in [
                Params::new(4).codec(codec).level(1),
                Params::new(4).codec(codec).level(5).bitshuffle(),
                Params::new(3).codec(codec).level(4).no_filter(),
                Params::new(8).codec(codec).level(3).blosc1(true),
            ] {
                let chunk = Pool::new(1).compress(&params, &data).unwrap();
                assert!(chunk.len() <= len + 32);
                assert_eq!(chunk, pool(3).compress(&params, &data).unwrap(), "threads change {params:?}");
                for level in Level::available() {
                    assert_eq!(chunk, Pool::new(1).level(level).compress(&params, &data).unwrap());
                }
                assert_eq!(decode(&chunk), data, "{params:?} {len}");
                let parsed = Chunk::parse(&chunk).unwrap();
                assert_eq!(pool(3).decompress(&parsed).unwrap(), data);
            }
        }
    }
}

/// A pool keeps scratch and contexts of codecs: chunks do not tell what it made before.
#[test]
fn what_a_pool_made_before_makes_no_difference() {
    let data = sample(40_000);
    let mut all = Vec::new();
    for (codec, level) in encoders().into_iter().flat_map(|codec| [(codec, 1), (codec, 6)]) {
        for block in [1 << 10, 32 << 10] {
            let params = Params::new(4).codec(codec).level(level).shuffle().blocksize(Some(block));
            all.push((params, Pool::new(1).compress(&params, &data).unwrap()));
        }
    }
    for (before, _) in &all {
        let mut pool = Pool::new(1);
        for (params, alone) in &all {
            pool.compress(before, &data[..2000]).unwrap();
            assert!(pool.compress(params, &data).unwrap() == *alone, "{params:?} after {before:?}");
            assert!(
                pool.decompress(&Chunk::parse(alone).unwrap()).unwrap() == data,
                "{params:?} after {before:?}"
            );
        }
    }
}

#[test]
fn vl_blocks_round_trip() {
    let (long, text) = (vec![b'a'; 83], sample(5000));
    let blocks: Vec<&[u8]> = vec![b"hello world", &long, b"x", &text];
    for codec in encoders() {
        for params in [
            Params::new(1).codec(codec).no_filter(),
            Params::new(4).codec(codec),
            Params::new(1).level(0),
            Params::new(3000).codec(codec),
        ] {
            let bytes = Pool::new(1).compress_vl(&params, Default::default(), &blocks).unwrap();
            let chunk = Chunk::parse(&bytes).unwrap();
            assert!(chunk.header().is_vl() && chunk.nblocks() == blocks.len());
            assert_eq!(decode(&bytes), blocks.concat(), "{params:?}");
            let mut pool = Pool::new(1);
            for (index, block) in blocks.iter().enumerate() {
                let mut out = vec![0; block.len()];
                assert_eq!(pool.decode_block(&chunk, Default::default(), index, &mut out), Ok(block.len()));
                assert_eq!(out, *block);
            }
        }
    }
    let empty = Pool::new(1).compress_vl(&Params::new(1), Default::default(), &[b"a", b""]);
    assert!(empty.unwrap_err().to_string().contains("at least one byte"));
    // Nor does a reader take blocks that add up to nothing.
    let mut some = Pool::new(1).compress_vl(&Params::new(1), Default::default(), &[b"a"]).unwrap();
    some[4..8].fill(0);
    assert!(Chunk::parse(&some).is_err());
}

#[test]
fn uninitialised_destinations_are_filled() {
    use core::mem::MaybeUninit;
    let data = sample(100_000);
    let bytes = blosc_core::compress(&Params::new(4), &data).unwrap();
    let chunk = Chunk::parse(&bytes).unwrap();
    let mut work = vec![0; Decoder::work_len(&chunk)];
    let mut out: Vec<MaybeUninit<u8>> = vec![MaybeUninit::uninit(); data.len()];
    Decoder::new(Level::best(), &mut work).decode(&chunk, &mut out[..]).unwrap();
    // SAFETY: decoding succeeded, so every byte has been written.
    let out: Vec<u8> = out.iter().map(|b| unsafe { b.assume_init() }).collect();
    assert_eq!(out, data);
}

#[test]
fn dictionaries_are_made_and_used() {
    let text: Vec<u8> =
        (0..4000u32).flat_map(|i| format!("record {i}: value={} ", i * 7 % 13).into_bytes()).collect();
    for codec in encoders() {
        let params = Params::new(1).codec(codec).no_filter().blocksize(Some(4096)).dictionary(true);
        match codec {
            Codec::Lz4 | Codec::Lz4Hc | Codec::Zstd => {
                let bytes = blosc_core::compress(&params, &text).unwrap();
                assert!(!Chunk::parse(&bytes).unwrap().dictionary().unwrap().is_empty(), "{codec}");
                assert_eq!(decode(&bytes), text, "{codec}");
            }
            _ => assert!(blosc_core::compress(&params, &text).is_err()),
        }
    }
}

#[test]
fn dictionaries_serve_variable_length_blocks() {
    let lines: Vec<Vec<u8>> = (0..300u32)
        .map(|i| format!("record {i}: value={}, colour=pale blue; ", i * 7 % 13).repeat(1 + i as usize % 4))
        .map(String::into_bytes)
        .collect();
    let blocks: Vec<&[u8]> = lines.iter().map(Vec::as_slice).collect();
    for codec in encoders().into_iter().filter(|c| matches!(c, Codec::Lz4 | Codec::Lz4Hc | Codec::Zstd)) {
        let plain = Params::new(1).codec(codec).no_filter();
        let [without, with] = [plain, plain.dictionary(true)]
            .map(|p| Pool::new(1).compress_vl(&p, Default::default(), &blocks).unwrap());
        let chunk = Chunk::parse(&with).unwrap();
        assert!(chunk.header().is_vl() && chunk.header().has_dictionary(), "{codec}");
        assert!(with.len() < without.len(), "{codec}: {} of {}", with.len(), without.len());
        assert_eq!(decode(&with), blocks.concat(), "{codec}");
        for (index, block) in blocks.iter().enumerate() {
            let mut out = vec![0; block.len()];
            let n = Pool::new(1).decode_block(&chunk, Default::default(), index, &mut out);
            assert!(n == Ok(block.len()) && out == *block, "{codec}, block {index}");
        }
    }
}

/// A chunk that is part of a large output is written past the caches: the same bytes, wherever the output begins.
#[test]
fn parts_of_large_outputs_are_the_same_bytes() {
    let mut pool = Pool::new(1);
    for typesize in [1u32, 2, 3, 4, 6, 8, 12, 16, 17, 24] {
        let t = typesize as usize;
        // Blocks of 64 items, of a power of two, and a remainder of an item and a bit.
        let data: Vec<u8> = (0..4200 * t + t / 2).map(|i| ((i / t / 5) >> (i % t * 3 % 13)) as u8).collect();
        for params in
            [Params::new(typesize), Params::new(typesize).shuffle(), Params::new(typesize).bitshuffle()]
        {
            for block in [64 * typesize, 1024 * typesize, 4200 * typesize] {
                let chunk =
                    pool.compress(&params.codec(Codec::BloscLz).blocksize(Some(block)), &data).unwrap();
                let chunk = Chunk::parse(&chunk).unwrap();
                let around = ChunkContext { whole: 1 << 31, ..ChunkContext::default() };
                for level in Level::available() {
                    for start in [0, 1, 7, 32, 63] {
                        let mut work = vec![0xA5; Decoder::work_len(&chunk)];
                        let mut out = vec![0x5A; start + data.len() + 64];
                        let here = &mut out[start..start + data.len()];
                        let n = Decoder::new(level, &mut work).chunk_context(around).decode(&chunk, here);
                        assert_eq!(n, Ok(data.len()));
                        let context = format!("{level:?} {params:?} {block} {start}");
                        assert!(out[start..start + data.len()] == data, "{context}");
                        assert!(
                            out[..start].iter().chain(&out[start + data.len()..]).all(|b| *b == 0x5A),
                            "{context}"
                        );
                    }
                }
            }
        }
    }
}
