//! Codecs by themselves: each decoder on any bytes, each encoder against its decoder.

use crate::primed::twice;
use crate::resources::allow;
use blosc_core::codec::context::DecodeContext;
use blosc_core::codec::dispatch::{decode_stream, decode_work_len};
use blosc_core::codec::{blosclz, lz4, lz4hc, ndlz, snappy, zlib, zstd};
use blosc_core::{Codec, Out};

/// Output size from the first two bytes: small sizes often, up to 256 KiB.
fn sized(data: &[u8]) -> Option<(usize, &[u8])> {
    let ([a, b], rest) = data.split_first_chunk()?;
    Some((usize::from(*a) << (b % 11), rest))
}

/// Decodes with guard bytes around the destination, which a success must have written whole, whatever it and `work` bytes of
/// scratch held.
fn guarded(len: usize, work: usize, decode: impl Fn(Out<'_>, &mut [u8]) -> bool) {
    twice(|before| {
        let (mut out, mut work) = (before.bytes(len + 128), before.bytes(work));
        let ok = decode((&mut out[64..64 + len]).into(), &mut work);
        let (head, tail) = (&out[..64], &out[64 + len..]);
        assert!(head.iter().chain(tail).all(|&b| b == before.fill), "wrote outside the destination");
        ok.then(|| out[64..64 + len].to_vec())
    });
}

/// BloscLZ.
pub fn blosclz_decode(data: &[u8]) {
    let Some((len, src)) = sized(data) else { return };
    guarded(len, 0, |out, _| blosclz::decode(src, out).is_ok());
}

/// LZ4 without and with a dictionary.
pub fn lz4_decode(data: &[u8]) {
    let Some((len, src)) = sized(data) else { return };
    guarded(len, 0, |out, _| lz4::decode(src, out, &[]).is_ok());
    guarded(len, 0, |out, _| lz4::decode(src, out, b"the quick brown fox jumps over the lazy dog").is_ok());
}

/// What [`decode_stream`] makes of a stream: with the codec of the `host`, or with ours.
fn dispatched(codec: Codec, len: usize, src: &[u8], dict: &[u8], host: bool) -> Option<Vec<u8>> {
    twice(|before| {
        let (mut out, mut work) = (before.bytes(len), before.bytes(decode_work_len(len)));
        let mut context = if host { before.context() } else { DecodeContext::empty() };
        let done = decode_stream(codec, 0, src, (&mut out[..]).into(), dict, &mut work, &mut context);
        done.is_ok().then_some(out)
    })
}

/// A zlib stream decoded by zlib-rs.
fn by_zlib_rs(len: usize, src: &[u8]) -> Option<Vec<u8>> {
    let mut out = vec![0x5A; len];
    let (written, code) = zlib_rs::decompress_slice(&mut out, src, zlib_rs::InflateConfig::default());
    (code == zlib_rs::ReturnCode::Ok && written.len() == len).then_some(out)
}

/// Inflate: ours and zlib-rs take the same streams.
pub fn zlib_decode(data: &[u8]) {
    let Some((len, src)) = sized(data) else { return };
    guarded(len, zlib::DECODE_WORK_LEN, |out, work| zlib::decode(src, out, work).is_ok());
    let ours = dispatched(Codec::Zlib, len, src, &[], false);
    assert!(ours == by_zlib_rs(len, src));
}

/// zstd; what stands in front of the first frame is a dictionary, with tables or without. What ours takes, the host's
/// takes too.
pub fn zstd_decode(data: &[u8]) {
    const FRAME: [u8; 4] = [0x28, 0xB5, 0x2F, 0xFD];
    let Some((len, src)) = sized(data) else { return };
    let first = src.windows(4).position(|word| word == FRAME).unwrap_or(0);
    let (dict, src) = src.split_at(first);
    guarded(len, zstd::decode_work_len(len), |out, work| zstd::decode(src, out, dict, work).is_ok());
    if let Some(ours) = dispatched(Codec::Zstd, len, src, dict, false) {
        let theirs = dispatched(Codec::Zstd, len, src, dict, true);
        assert!(theirs == Some(ours));
    }
}

/// Snappy.
pub fn snappy_decode(data: &[u8]) {
    let Some((len, src)) = sized(data) else { return };
    guarded(len, 0, |out, _| snappy::decode(src, out).is_ok());
}

/// NDLZ with both cell sides.
pub fn ndlz_decode(data: &[u8]) {
    let Some((len, src)) = sized(data) else { return };
    for side in [4, 8] {
        guarded(len, 0, |out, _| ndlz::decode(src, out, side).is_ok());
    }
}

/// Every encoder that needs no allocator, against its decoder.
pub fn roundtrip(data: &[u8]) {
    let Some((&[level, repeat, room], piece)) = data.split_first_chunk() else { return };
    cells(piece, repeat);
    let src: Vec<u8> =
        piece.iter().copied().cycle().take(piece.len() * usize::from(repeat % 60 + 1)).collect();
    allow(8 * src.len() + (4 << 20));
    let level = level % 9 + 1;
    let mut dst = vec![0; src.len().saturating_sub(usize::from(room % 8)) + 16];
    let mut out = vec![0; src.len()];
    let mut work = vec![0x77; blosclz::work_len(level, src.len())];
    if let Some(n) = blosclz::encode(&src, &mut dst, level, &mut work) {
        blosclz::decode(&dst[..n], (&mut out[..]).into()).expect("our own stream");
        assert!(out == src, "blosclz level {level}");
    }
    deflated(&src, &dst, level);
    let mut work = vec![0x77; lz4::work_len(src.len()).max(lz4hc::work_len(level, src.len()))];
    for hc in [false, true] {
        let mut encode = || match hc {
            true => lz4hc::encode(&src, &mut dst, level, &[], &mut work),
            false => lz4::encode(&src, &mut dst, u32::from(10 - level), &[], &mut work),
        };
        let Some(n) = encode() else { continue };
        assert_eq!(encode(), Some(n), "encoding depends on what the scratch held");
        lz4::decode(&dst[..n], (&mut out[..]).into(), &[]).expect("our own stream");
        assert!(out == src, "lz4 hc {hc} level {level}");
    }
}

/// Our own zlib encoder, which builds without `std` have: what it writes, our decoder and zlib-rs read.
fn deflated(src: &[u8], room: &[u8], level: u8) {
    let Some(stream) = twice(|before| {
        let (mut dst, mut work) = (room.to_vec(), before.bytes(zlib::deflate::work_len(level, src.len())));
        zlib::deflate::encode(src, &mut dst, level, &mut work).map(|n| dst[..n].to_vec())
    }) else {
        return;
    };
    let ours = dispatched(Codec::Zlib, src.len(), &stream, &[], false);
    for out in [ours, by_zlib_rs(src.len(), &stream)] {
        assert!(out.as_deref() == Some(src), "zlib level {level}");
    }
}

/// NDLZ on a block of cells: planes of bytes of any two sides.
fn cells(data: &[u8], sides: u8) {
    let wide = usize::from(sides % 24).max(1);
    let shape = [(data.len() / wide) as u32, wide as u32];
    let data = &data[..data.len() / wide * wide];
    for side in [4, 8] {
        let (mut dst, mut work) = (vec![0; 2 * data.len() + 64], vec![0x77; ndlz::WORK_LEN]);
        let Some(n) = ndlz::encode(data, &mut dst, side, &shape, &mut work) else { continue };
        let mut out = vec![0xA5; data.len()];
        ndlz::decode(&dst[..n], (&mut out[..]).into(), side).expect("our own stream");
        assert!(out == data, "ndlz of {shape:?} in cells of {side}");
    }
}
