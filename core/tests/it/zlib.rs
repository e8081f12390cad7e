//! The crate's own inflate against zlib-rs, and against damage.

use blosc_core::codec::zlib::{self, DECODE_WORK_LEN};
use blosc_core::error::CodecErrorKind;

use crate::common;

fn ours(src: &[u8], len: usize) -> Result<Vec<u8>, CodecErrorKind> {
    let mut out = vec![0xA5; len + 16];
    let mut work = vec![0x5A; DECODE_WORK_LEN + 1];
    // Odd alignment, dirty scratch, guard bytes on both sides.
    let result = zlib::decode(src, (&mut out[8..8 + len]).into(), &mut work[1..]);
    assert!(out[..8].iter().chain(&out[8 + len..]).all(|&b| b == 0xA5), "wrote outside the output");
    result.map_err(|e| e.kind)?;
    Ok(out[8..8 + len].to_vec())
}

#[test]
fn hand_made_streams() {
    // Written by zlib: "hello hello hello hello\n", fixed codes.
    let fixed = [
        0x78, 0x9c, 0xcb, 0x48, 0xcd, 0xc9, 0xc9, 0x57, 0xc8, 0x40, 0x27, 0xb9, 0x00, 0x70, 0xbe, 0x08, 0xbb,
    ];
    assert_eq!(ours(&fixed, 24).unwrap(), b"hello hello hello hello\n");
    assert_eq!(ours(&fixed, 23), Err(CodecErrorKind::TooLong));
    assert_eq!(ours(&fixed, 25), Err(CodecErrorKind::TooShort));
    let mut tail = fixed.to_vec();
    tail.extend([1, 2, 3]);
    assert_eq!(ours(&tail, 24).unwrap(), b"hello hello hello hello\n");
    for n in 0..fixed.len() {
        assert!(ours(&fixed[..n], 24).is_err(), "{n}");
    }
    // Stored blocks, the first of them empty.
    let stored =
        [0x78, 1, 0, 0, 0, 0xff, 0xff, 1, 3, 0, 0xfc, 0xff, b'a', b'b', b'c', 0x02, 0x4d, 0x01, 0x27];
    assert_eq!(ours(&stored, 3).unwrap(), b"abc");
    let mut bad = stored;
    bad[18] ^= 1;
    assert_eq!(ours(&bad, 3), Err(CodecErrorKind::Checksum));
    bad[9] ^= 1;
    assert_eq!(ours(&bad, 3), Err(CodecErrorKind::Corrupt));
    // Header: method, sum, dictionary.
    assert_eq!(ours(&[0x79, 0x9c], 1), Err(CodecErrorKind::Corrupt));
    assert_eq!(ours(&[0x78, 0x9d], 1), Err(CodecErrorKind::Corrupt));
    assert_eq!(ours(&[0x78, 0xbb, 0, 0, 0, 0], 1), Err(CodecErrorKind::Dictionary));
    // Block type 3; a distance before the first byte.
    assert_eq!(ours(&[0x78, 0x9c, 7], 1), Err(CodecErrorKind::Corrupt));
    assert_eq!(ours(&[0x78, 0x9c, 0x03, 0x02, 0, 0, 0], 3), Err(CodecErrorKind::Distance));
    // Empty.
    assert_eq!(ours(&[0x78, 0x9c, 3, 0, 0, 0, 0, 1], 0).unwrap(), b"");
    assert_eq!(
        zlib::decode(&fixed, (&mut [0; 24]).into(), &mut [0; 100]).map_err(|e| e.kind),
        Err(CodecErrorKind::Work)
    );
}

/// One block of fixed codes, written symbol by symbol, and what it stands for.
#[derive(Default)]
struct Fixed {
    bits: Vec<bool>,
    plain: Vec<u8>,
}

impl Fixed {
    fn new() -> Fixed {
        Fixed { bits: vec![true, true, false], plain: vec![] }
    }

    fn bits(&mut self, value: usize, n: usize) {
        self.bits.extend((0..n).map(|i| value >> i & 1 == 1));
    }

    fn symbol(&mut self, sym: usize) {
        let (code, n) = match sym {
            0..144 => (0x30 + sym, 8),
            144..256 => (0x190 + sym - 144, 9),
            256..280 => (sym - 256, 7),
            _ => (0xC0 + sym - 280, 8),
        };
        self.bits.extend((0..n).rev().map(|i| code >> i & 1 == 1));
    }

    fn literal(&mut self, byte: u8) {
        self.symbol(byte.into());
        self.plain.push(byte);
    }

    /// The number of a length or distance among classes of which each pair (for lengths, each four) has twice the
    /// width of the one before; what is left goes into extra bits.
    fn class(value: usize, group: usize) -> (usize, usize, usize) {
        let (mut base, mut class) = (0, 0);
        loop {
            let extra = (class / group).saturating_sub(1);
            if value < base + (1 << extra) {
                return (class, value - base, extra);
            }
            (base, class) = (base + (1 << extra), class + 1);
        }
    }

    fn copy(&mut self, distance: usize, len: usize) {
        let (class, rest, extra) = if len == 258 { (28, 0, 0) } else { Self::class(len - 3, 4) };
        self.symbol(257 + class);
        self.bits(rest, extra);
        let (class, rest, extra) = Self::class(distance - 1, 2);
        self.bits.extend((0..5).rev().map(|i| class >> i & 1 == 1));
        self.bits(rest, extra);
        for _ in 0..len {
            self.plain.push(self.plain[self.plain.len() - distance]);
        }
    }

    fn finish(mut self) -> (Vec<u8>, Vec<u8>) {
        self.symbol(256);
        let byte = |bits: &[bool]| bits.iter().rev().fold(0, |byte, &bit| byte << 1 | u8::from(bit));
        let mut stream = vec![0x78, 0x9c];
        stream.extend(self.bits.chunks(8).map(byte));
        stream.extend(zlib::adler32(&self.plain).to_be_bytes());
        (stream, self.plain)
    }
}

/// Near and far from both ends, where the loop that checks everything takes turns with the one that does not.
#[test]
fn matches_of_every_distance_and_length() {
    for distance in (1..=64).chain([255, 256, 257, 1000]) {
        // Every third has all lengths of what a vector leaves over.
        for len in (3..=258).step_by(if common::emulated() { 3 } else { 1 }) {
            for (before, after) in [(0, 0), (40, 0), (0, 700), (40, len % 350)] {
                let mut block = Fixed::new();
                (0..distance + before).for_each(|i| block.literal((i * 37 % 251) as u8));
                block.copy(distance, len);
                (0..after).for_each(|i| block.literal((i * 11 % 253) as u8));
                block.copy(distance, 258);
                let (stream, plain) = block.finish();
                assert!(ours(&stream, plain.len()) == Ok(plain), "{distance} {len} {before} {after}");
            }
        }
    }
    // One more than there is to copy from.
    for distance in [2, 17, 33, 600] {
        let mut block = Fixed::new();
        (0..distance).for_each(|i| block.literal(i as u8));
        block.copy(distance, 9);
        (0..700).for_each(|i| block.literal(i as u8));
        let mut short = Fixed::new();
        // These bits come after one literal less.
        short.bits.extend(&block.bits[3 + 8..]);
        short.plain = block.plain[1..].to_vec();
        let (stream, plain) = short.finish();
        assert_eq!(ours(&stream, plain.len()), Err(CodecErrorKind::Distance), "{distance}");
    }
}

#[test]
fn adler_of_known_data() {
    assert_eq!(zlib::adler32(b""), 1);
    assert_eq!(zlib::adler32(b"Wikipedia"), 0x11E6_0398);
    let all = vec![0xff; 1 << 20];
    let (mut a, mut b) = (1u32, 0u32);
    for (n, &byte) in all.iter().enumerate() {
        if n % 77_777 == 0 {
            assert_eq!(zlib::adler32(&all[..n]), b << 16 | a);
        }
        a = (a + u32::from(byte)) % 65521;
        b = (b + a) % 65521;
    }
}

#[cfg(feature = "std")]
mod against_zlib_rs {
    use super::*;
    use crate::common::{Rng, count, emulated, kinds};
    use zlib_rs::{DeflateConfig, InflateConfig, ReturnCode, Strategy};
    use zlib_rs::{compress_bound, compress_slice, decompress_slice};

    fn deflate(data: &[u8], level: i32, strategy: Strategy) -> Vec<u8> {
        let mut dst = vec![0; compress_bound(data.len())];
        let config = DeflateConfig { level, strategy, ..DeflateConfig::default() };
        let (out, code) = compress_slice(&mut dst, data, config);
        assert_eq!(code, ReturnCode::Ok);
        out.to_vec()
    }

    #[test]
    fn every_level_strategy_and_kind_of_data() {
        let mut rng = Rng::new(1);
        for (name, data) in kinds(if emulated() { 70 << 10 } else { 300 << 10 }) {
            for level in 0..=9 {
                let strategies = [
                    Strategy::Default,
                    Strategy::Filtered,
                    Strategy::HuffmanOnly,
                    Strategy::Rle,
                    Strategy::Fixed,
                ];
                for (i, strategy) in strategies.into_iter().enumerate() {
                    let len = match i {
                        0 => data.len(),
                        _ => rng.below(20_000),
                    };
                    let part = &data[..len];
                    let packed = deflate(part, level, strategy);
                    assert!(
                        ours(&packed, len).as_deref() == Ok(part),
                        "{name} level {level} strategy {i} len {len}"
                    );
                }
            }
        }
    }

    #[test]
    fn every_short_length() {
        for (name, data) in kinds(400) {
            for len in 0..data.len() {
                let packed = deflate(&data[..len], 6, Strategy::Default);
                assert_eq!(ours(&packed, len).as_deref(), Ok(&data[..len]), "{name} {len}");
            }
        }
    }

    /// Truncated and damaged streams: an error, or what zlib-rs makes of them.
    #[test]
    fn damage() {
        let mut rng = Rng::new(2);
        // The second is long enough for the loop over the middles of blocks.
        for (name, data) in kinds(3000).into_iter().chain(kinds(12_000)) {
            for strategy in [Strategy::Default, Strategy::Fixed, Strategy::HuffmanOnly] {
                let packed = deflate(&data, 6, strategy);
                for n in (0..packed.len()).step_by(data.len() / if emulated() { 500 } else { 3000 }) {
                    assert!(ours(&packed[..n], data.len()).is_err(), "{name} cut at {n}");
                }
                for round in 0..count(2000) {
                    let mut bad = packed.clone();
                    for _ in 0..1 + rng.below(3) {
                        let at = rng.below(bad.len().min(1 + round * data.len() / 3000));
                        bad[at] ^= 1 << rng.below(8);
                    }
                    // Mend the checksum, so that what changed is what decides.
                    let mut theirs = vec![0; data.len()];
                    let (theirs, code) = decompress_slice(&mut theirs, &bad, InflateConfig::default());
                    match (ours(&bad, data.len()), code == ReturnCode::Ok && theirs.len() == data.len()) {
                        (Ok(a), true) => assert!(a == theirs),
                        (Err(_), false) => {}
                        (a, _) => panic!("{name}: ours {:?}, zlib-rs {code:?}: {bad:?}", a.err()),
                    }
                }
            }
        }
    }
}
