//! The Snappy reader on streams made by hand and by a small writer, and on damage.

use blosc_core::codec::snappy;
use blosc_core::error::CodecErrorKind;

use crate::common;
use common::{Rng, count, kinds};

fn ours(src: &[u8], len: usize) -> Result<Vec<u8>, CodecErrorKind> {
    let mut out = vec![0xA5; len + 16];
    let result = snappy::decode(src, (&mut out[8..8 + len]).into());
    assert!(out[..8].iter().chain(&out[8 + len..]).all(|&b| b == 0xA5), "wrote outside the output");
    result.map_err(|e| e.kind)?;
    Ok(out[8..8 + len].to_vec())
}

fn leb128(mut n: usize) -> Vec<u8> {
    let mut out = vec![];
    while n > 0x7f {
        out.push(n as u8 | 0x80);
        n >>= 7;
    }
    out.push(n as u8);
    out
}

/// A stream that uses every kind of element, chosen at random among those that fit, and what it means.
fn random_stream(rng: &mut Rng, data: &[u8]) -> (Vec<u8>, Vec<u8>) {
    let (mut body, mut plain) = (vec![], vec![]);
    for _ in 0..1 + rng.below(60) {
        let kind = if plain.is_empty() { 0 } else { rng.below(4) };
        if kind == 0 {
            let len = match rng.below(3) {
                0 => 1 + rng.below(60),
                1 => 1 + rng.below(256),
                _ => 1 + rng.below(3000),
            };
            let n = len - 1;
            match rng.below(5) {
                0 if n < 60 => body.push((n << 2) as u8),
                1 if n < 1 << 8 => body.extend([60 << 2, n as u8]),
                2 => body.extend([61 << 2, n as u8, (n >> 8) as u8]),
                3 => body.extend([62 << 2, n as u8, (n >> 8) as u8, 0]),
                _ => body.extend([63 << 2, n as u8, (n >> 8) as u8, 0, 0]),
            }
            body.extend_from_slice(&data[..len]);
            plain.extend_from_slice(&data[..len]);
            continue;
        }
        let distance = 1 + rng.below(plain.len());
        let len = if kind == 1 && distance < 2048 {
            let len = 4 + rng.below(8);
            body.extend([1 | ((len - 4) << 2) as u8 | (distance >> 8 << 5) as u8, distance as u8]);
            len
        } else {
            let len = 1 + rng.below(64);
            let tag = ((len - 1) << 2) as u8;
            match distance {
                ..=0xffff if kind < 3 => body.extend([tag | 2, distance as u8, (distance >> 8) as u8]),
                _ => {
                    body.push(tag | 3);
                    body.extend((distance as u32).to_le_bytes());
                }
            }
            len
        };
        for _ in 0..len {
            plain.push(plain[plain.len() - distance]);
        }
    }
    let mut stream = leb128(plain.len());
    stream.extend(body);
    (stream, plain)
}

#[test]
fn hand_made_streams() {
    // Literal "abc", 9 bytes from 3 back, in each of the forms.
    for copy in [&[1 | 5 << 2, 3][..], &[2 | 8 << 2, 3, 0], &[3 | 8 << 2, 3, 0, 0, 0]] {
        let stream = [&[12, 2 << 2, b'a', b'b', b'c'], copy].concat();
        assert_eq!(ours(&stream, 12).unwrap(), b"abcabcabcabc");
        assert_eq!(ours(&stream, 11), Err(CodecErrorKind::TooLong));
        assert_eq!(ours(&stream, 13), Err(CodecErrorKind::TooShort));
        for n in 0..stream.len() {
            assert!(ours(&stream[..n], 12).is_err());
        }
        assert_eq!(ours(&[&stream[..], &[0, b'x']].concat(), 12), Err(CodecErrorKind::TooLong));
    }
    assert_eq!(ours(&[4, 1, 1], 4), Err(CodecErrorKind::Distance));
    assert_eq!(ours(&[5, 0, b'a', 1, 0], 5), Err(CodecErrorKind::Distance));
    assert_eq!(ours(&[5, 0, b'a', 1, 2], 5), Err(CodecErrorKind::Distance));
    assert_eq!(ours(&[0], 0).unwrap(), b"");
    assert_eq!(ours(&[], 0), Err(CodecErrorKind::Truncated));
    // Length preambles: padded, of more than 32 bits, of more than 5 bytes.
    assert_eq!(ours(&[0x81, 0, 0, b'a'], 1).unwrap(), b"a");
    assert_eq!(ours(&[0xff, 0xff, 0xff, 0xff, 0x1f], 1), Err(CodecErrorKind::Corrupt));
    assert_eq!(ours(&[0x80, 0x80, 0x80, 0x80, 0x80, 0], 0), Err(CodecErrorKind::Corrupt));
    assert_eq!(ours(&[1, 63 << 2, 0xff, 0xff, 0xff, 0xff], 1), Err(CodecErrorKind::Truncated));
}

#[test]
fn every_element_at_random_and_damaged() {
    let mut rng = Rng::new(9);
    let kinds = kinds(5000);
    for _ in 0..count(5000) {
        let (_, data) = &kinds[rng.below(kinds.len())];
        let (stream, plain) = random_stream(&mut rng, data);
        assert!(ours(&stream, plain.len()).as_deref() == Ok(&plain[..]));
        let mut bad = stream.clone();
        let at = rng.below(bad.len());
        bad[at] ^= 1 << rng.below(8);
        let _ = ours(&bad, plain.len());
        assert!(ours(&stream[..rng.below(stream.len())], plain.len()).is_err());
    }
}

#[test]
fn what_is_encoded_is_read_back() {
    let mut rng = Rng::new(11);
    let mut shrunk = 0;
    for len in [0, 1, 7, 8, 9, 60, 61, 64, 100, 257, 5000, 65_535, 65_536, 65_537, 70_001, 200_000] {
        for (name, data) in kinds(len) {
            let (mut dst, mut work) = (vec![0; len + len / 6 + 40], vec![0xa5; snappy::WORK_LEN]);
            let n = snappy::encode(&data, &mut dst, &mut work).expect("there is room");
            assert!(ours(&dst[..n], data.len()).as_deref() == Ok(&data[..]), "{name} {len}");
            shrunk += usize::from(n < data.len() / 2);
            // Nothing is written past the room, and what does not fit is no stream.
            let room = rng.below(n);
            assert_eq!(snappy::encode(&data, &mut dst[..room], &mut work), None, "{name} {len}");
            assert_eq!(snappy::encode(&data, &mut dst, &mut work[1..]), None, "{name} {len}");
        }
    }
    assert!(shrunk > 20, "{shrunk}");
}

#[cfg(feature = "alloc")]
#[test]
fn chunks_of_blosc1_take_it_and_others_do_not() {
    use blosc_core::{Codec, Params, Pool};
    let data: Vec<u8> = (0..9000u32).flat_map(u32::to_le_bytes).collect();
    let params = Params::new(4).codec(Codec::Snappy);
    let chunk = Pool::new(1).compress(&params.blosc1(true), &data).expect("Blosc1 knows Snappy");
    assert!(chunk.len() < data.len() / 4 && chunk[2] >> 5 == 2);
    assert_eq!(
        Pool::new(1).decompress(&blosc_core::Chunk::parse(&chunk).expect("our own")).expect("our own"),
        data
    );
    assert!(Pool::new(1).compress(&params, &data).is_err());
}
