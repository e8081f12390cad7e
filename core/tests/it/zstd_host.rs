//! The host contexts of zstd and zlib: round trips, reuse, limits.

use blosc_core::codec::context::{DecodeContext, EncodeContext};
use blosc_core::codec::dispatch::{encode_stream, encode_work_len};
use blosc_core::codec::{CodecErrorKind, zlib, zstd, zstd_c};
use blosc_core::{Codec, Out};
use blosc_testkit::Random;

/// Somewhat compressible bytes, the same everywhere.
fn data(len: usize, seed: u64) -> Vec<u8> {
    let mut random = Random(seed);
    let mut out = Vec::with_capacity(len + 64);
    while out.len() < len {
        let x = random.next();
        let n = (x >> 40) as usize % 40 + 1;
        match x & 3 {
            0 => out.extend(std::iter::repeat_n((x >> 8) as u8, n)),
            1 if out.len() > 100 => {
                let from = (x >> 20) as usize % (out.len() - 50);
                out.extend_from_within(from..from + n);
            }
            _ => out.extend((0..n).map(|i| ((x >> (i % 8 * 8)) as u8) & 31)),
        }
    }
    out.truncate(len);
    out
}

#[test]
fn every_level_and_size_round_trips_without_more_memory() {
    let sizes =
        [1, 5, 100, 1000, 16 << 10, (16 << 10) + 1, 100_000, 131_072, 131_073, 200_000, 262_144, 300_000];
    let whole = data(300_000, 1);
    // Levels 1, 5 and 9 where an emulator makes each take long.
    let apart = if std::env::var_os("BLOSC_EMULATED").is_some() { 4 } else { 1 };
    for codec in [Codec::Zlib, Codec::Zstd] {
        for level in (1..=9u8).step_by(apart) {
            let mut enc = EncodeContext::for_codec(codec, level, 300_000).unwrap();
            let mut dec = DecodeContext::for_codec(codec);
            let mut work = vec![0; zlib::DECODE_WORK_LEN];
            let mut tables = vec![0xAA; encode_work_len(codec, level, 300_000)];
            let mut encode = |src: &[u8], dst: &mut [u8]| {
                encode_stream(codec, level, src, dst, &[], &mut tables, &mut enc)
            };
            for size in sizes.into_iter().chain(sizes.into_iter().rev()) {
                let src = &whole[300_000 - size..];
                let mut dst = vec![0; size + 1000];
                let n = encode(src, &mut dst);
                let n = n.unwrap_or_else(|| panic!("{codec} level {level} size {size}"));
                let mut back = vec![0xAA; size];
                match codec {
                    Codec::Zstd => zstd_c::decode(&mut dec, &dst[..n], Out::from(&mut back[..]), &[]),
                    _ => zlib::decode(&dst[..n], Out::from(&mut back[..]), &mut work),
                }
                .unwrap_or_else(|e| panic!("{codec} level {level} size {size}: {e}"));
                assert!(back == src, "{codec} level {level} size {size}");
                // One byte less does not do, and the context is good for the next stream.
                assert_eq!(encode(src, &mut dst[..n - 1]), None, "{codec} level {level} size {size}");
            }
        }
    }
}

#[test]
fn a_large_context_serves_small_streams_for_ever() {
    let mut enc = EncodeContext::for_codec(Codec::Zstd, 5, 4 << 20).unwrap();
    let src = data(1000, 3);
    let mut first = [0; 2000];
    let n = zstd_c::encode(&mut enc, &src, &mut first, &[]).unwrap();
    for _ in 0..1000 {
        let mut dst = [0; 2000];
        assert_eq!(zstd_c::encode(&mut enc, &src, &mut dst, &[]), Some(n));
        assert_eq!(dst[..n], first[..n]);
    }
}

#[test]
fn dictionaries_are_trained_and_used() {
    let samples = data(200_000, 7).repeat(2);
    let sizes = vec![1000; 400];
    let dict = zstd_c::train_dictionary(&samples, &sizes, 4096).unwrap();
    assert_eq!(dict[..4], [0x37, 0xA4, 0x30, 0xEC]);
    assert!(dict.len() <= 4096);
    let raw = samples[5000..6000].to_vec();
    for level in [1, 5, 9] {
        let mut enc = EncodeContext::for_codec(Codec::Zstd, level, 200_000).unwrap();
        let mut dec = DecodeContext::for_codec(Codec::Zstd);
        for size in [10, 500, 5000, 60_000, 200_000] {
            for dict in [&dict, &raw] {
                let src = &samples[4000..4000 + size];
                let mut dst = vec![0; size + 1000];
                let n = zstd_c::encode(&mut enc, src, &mut dst, dict).unwrap();
                let mut back = vec![0; size];
                zstd_c::decode(&mut dec, &dst[..n], Out::from(&mut back[..]), dict).unwrap();
                assert!(back == src);
            }
        }
    }
    assert_eq!(zstd_c::train_dictionary(&[0; 10], &[1; 10], 1000), None);
    assert_eq!(zstd_c::train_dictionary(&[0; 10], &[100], 1000), None);
}

/// What both should refuse (RFC 8878, section 4.2.2): 470 literals of one bit in four streams, the first of which has
/// 115 bits for its 118. C zstd takes it. Found by fuzzing.
#[test]
fn our_own_zstd_refuses_huffman_streams_that_do_not_end_exactly() {
    let hex = "28b52ffd60e000750200661d1180100f000f000f009f7f0d63aa52b0621299a009244708fafb5c3ffc0eb27a5b7f46a8ce7752a2\
               fb196d3642c11ad0a744c59f28718f7fb0293bd4fcdb9c52939d3fe41d0100d69edb9a02";
    let src: Vec<u8> =
        (0..hex.len() / 2).map(|k| u8::from_str_radix(&hex[2 * k..2 * k + 2], 16).unwrap()).collect();
    let mut out = [0; 480];
    let mut dec = DecodeContext::for_codec(Codec::Zstd);
    let host = zstd_c::decode(&mut dec, &src, Out::from(&mut out[..]), &[]);
    eprintln!("C zstd: {host:?}");
    let mut work = vec![0; zstd::decode_work_len(out.len())];
    let own = zstd::decode(&src, Out::from(&mut out[..]), &[], &mut work);
    assert_eq!(own, Err(CodecErrorKind::Corrupt.at(7)));
}
