//! Chunks byte by byte: the worked examples of `docs/formats/chunk.md`, and what headers are refused for.

use blosc_core::{
    Chunk, Codec, Decoder, Error, Field, Filter, Level, Limits, Special, UnknownName, chunk::special,
};

fn hex(text: &str) -> Vec<u8> {
    let digits: Vec<u8> = text.chars().filter_map(|c| c.to_digit(16)).map(|d| d as u8).collect();
    digits.chunks(2).map(|p| p[0] << 4 | p[1]).collect()
}

pub fn decode(bytes: &[u8]) -> Vec<u8> {
    let chunk = Chunk::parse(bytes).unwrap();
    let mut work = vec![0; Decoder::work_len(&chunk)];
    let mut out = vec![0xAA; chunk.nbytes()];
    let n = Decoder::new(Level::best(), &mut work).decode(&chunk, &mut out[..]).unwrap();
    assert_eq!(n, out.len());
    // The partial reads agree with the whole one.
    let mut decoder = Decoder::new(Level::SCALAR, &mut work);
    for (from, to) in [(0, n), (0, n / 2), (n / 3, n), (n / 3, n / 2), (n, n)] {
        let mut part = vec![0x55; to - from];
        assert_eq!(decoder.get_bytes(&chunk, from..to, &mut part[..]), Ok(to - from));
        assert_eq!(part, out[from..to], "bytes {from}..{to}");
    }
    out
}

#[test]
fn example_stored() {
    let bytes =
        hex("05 01 07 04 0c 00 00 00 0c 00 00 00 2c 00 00 00 00 00 00 00 00 01 01 00 00 00 00 00 00 00 00 00
                     01 02 03 04 05 06 07 08 09 0a 0b 0c");
    assert_eq!(decode(&bytes), (1..=12).collect::<Vec<u8>>());
}

#[test]
fn example_runs_in_two_blocks() {
    let bytes =
        hex("05 01 05 02 80 00 00 00 40 00 00 00 3c 00 00 00 00 00 00 00 00 01 00 00 00 00 00 00 00 00 00 00
                     28 00 00 00 32 00 00 00 fe ff ff ff 01 ff ff ff ff 01 fe ff ff ff 01 ff ff ff ff 01");
    assert_eq!(decode(&bytes), [2, 1].repeat(64));
}

#[test]
fn example_special_values() {
    let zeros = hex(
        "05 01 85 04 00 10 00 00 00 10 00 00 20 00 00 00 00 00 00 00 00 01 05 00 00 00 00 00 00 00 00 10",
    );
    assert_eq!(decode(&zeros), vec![0; 4096]);
    let nan = hex(
        "05 01 05 08 20 00 00 00 20 00 00 00 20 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 20",
    );
    assert_eq!(decode(&nan), f64::from_bits(0x7ff8 << 48).to_le_bytes().repeat(4));
    let value =
        hex("05 01 05 0a 1e 00 00 00 1e 00 00 00 2a 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 30
                     30 31 32 33 34 35 36 37 38 39");
    assert_eq!(decode(&value), b"0123456789".repeat(3));
}

#[test]
#[cfg(feature = "lz4")]
fn example_shuffled_lz4() {
    let bytes =
        hex("05 01 25 04 80 00 00 00 80 00 00 00 54 00 00 00 00 00 00 00 00 01 01 00 00 00 00 00 00 00 00 00
        24 00 00 00 20 00 00 00 00 03 06 09 0c 0f 12 15 18 1b 1e 21 24 27 2a 2d 30 33 36 39 3c 3f 42 45
        48 4b 4e 51 54 57 5a 5d 00 00 00 00 00 00 00 00 00 00 00 00");
    assert_eq!(decode(&bytes), (0..32u32).flat_map(|i| (3 * i).to_le_bytes()).collect::<Vec<u8>>());
}

#[test]
#[cfg(feature = "zlib")]
fn example_blosc1_zlib() {
    let bytes =
        hex("02 01 61 02 90 01 00 00 90 01 00 00 7d 00 00 00 14 00 00 00 55 00 00 00 78 da 0d c1 87 02 81 50
        00 00 c0 67 67 93 44 46 91 99 dd ff ff 9c bb 0b 21 84 06 4d 5a b4 e9 d0 a5 47 44 9f 01 43 46 8c
        99 30 65 c6 9c 98 05 09 4b 52 56 ac c9 d8 b0 65 c7 9e 9c 82 03 47 4a 4e 9c b9 70 e5 c6 9d 8a 07
        4f 5e bc f9 f0 e5 47 cd 1f f9 de 13 25 0c 00 00 00 78 da 63 60 18 1e 00 00 00 c8 00 01");
    assert_eq!(decode(&bytes), (0..200u16).flat_map(|i| (i / 4).to_le_bytes()).collect::<Vec<u8>>());
}

#[test]
fn constructors_decode_to_what_they_say() {
    assert_eq!(decode(&special::zeros(8, 80).unwrap()), vec![0; 80]);
    assert_eq!(decode(&special::nans(4, 8).unwrap()), [0, 0, 0xC0, 0x7F, 0, 0, 0xC0, 0x7F]);
    assert_eq!(decode(&special::uninit(4, 8).unwrap()), [0; 8]);
    let mut chunk = [0; 64];
    let len = special::repeated(b"abc", 30, &mut chunk).unwrap();
    assert_eq!(decode(&chunk[..len]), b"abc".repeat(10));
    assert_eq!(Chunk::parse(&chunk[..len]).unwrap().header().special(), Some(Special::Value));
    assert!(special::zeros(3, 10).is_err() && special::nans(2, 10).is_err());
}

#[test]
fn a_small_chunk_that_claims_much_is_refused() {
    let mut chunk = special::zeros(1, 2_000_000_000).unwrap();
    assert!(matches!(Chunk::parse(&chunk), Err(Error::Limit { asked: 2_000_000_000, .. })));
    assert!(Chunk::parse_with(&chunk, &Limits::NONE).is_ok());
    chunk[31] |= 2;
    assert_eq!(Chunk::parse_with(&chunk, &Limits::NONE).unwrap_err(), Error::BigEndian);
}

#[test]
fn errors_name_field_and_offset() {
    let good = special::zeros(4, 400).unwrap();
    let change = |at: usize, value: u8| {
        let mut bytes = good;
        bytes[at] = value;
        Chunk::parse(&bytes).unwrap_err()
    };
    assert_eq!(change(3, 0), Error::Invalid { field: Field::Typesize, offset: 3, value: 0 });
    assert_eq!(change(7, 0x80), Error::Invalid { field: Field::Nbytes, offset: 4, value: -2147483248 });
    assert_eq!(change(12, 31), Error::Invalid { field: Field::Cbytes, offset: 12, value: 31 });
    assert_eq!(change(31, 0x50), Error::Invalid { field: Field::Flags1, offset: 31, value: 0x50 });
    assert!(matches!(Chunk::parse(&good[..20]), Err(Error::Truncated { field: Field::Header, .. })));
}

/// C-Blosc2 may store a block size that it did not use (docs/formats/chunk.md, appendix B1): its blocks are whole items. In a
/// chunk of Blosc1, whose blocks need not be, the size is what it says.
#[cfg(feature = "lz4")]
#[test]
fn a_block_size_within_an_item_is_rounded_down_unless_blosc1_wrote_it() {
    let data: Vec<u8> = (0..700).map(|i| (i / 50) as u8).collect();
    // Format and flags: LZ4 of format 1, blocks of one stream or of seven; the rest of an extended header: no filter, LZ4.
    let extended = [0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0];
    for (head, rest, used, streams) in [
        ([2, 1, 1 << 5 | 1 << 4, 7], &[][..], 143, 1),
        ([5, 1, 1 << 5 | 1 << 4 | 5, 7], &extended[..], 140, 1),
        ([5, 1, 1 << 5 | 5, 7], &extended[..], 140, 7),
    ] {
        let (mut starts, mut blocks) = (Vec::new(), Vec::new());
        for block in data.chunks(used) {
            starts.extend(((16 + rest.len() + 5 * 4 + blocks.len()) as u32).to_le_bytes());
            for stream in block.chunks(used / streams) {
                let stored = lz4_flex::block::compress(stream);
                // As long as the stream itself would mean that it is stored.
                assert_ne!(stored.len(), stream.len());
                blocks.extend((stored.len() as u32).to_le_bytes());
                blocks.extend(stored);
            }
        }
        let mut chunk = head.to_vec();
        for field in [700, 143, 16 + rest.len() + starts.len() + blocks.len()] {
            chunk.extend((field as u32).to_le_bytes());
        }
        let chunk = [&chunk, rest, &starts, &blocks].concat();
        if used == 143 || cfg!(feature = "formats") {
            assert_eq!(decode(&chunk), data, "blocks of {used} in {streams} streams");
        } else {
            assert!(matches!(Chunk::parse(&chunk), Err(Error::Unsupported(_))));
        }
    }
}

#[test]
fn a_name_is_read_back() {
    for id in 0..=255 {
        let (codec, filter) = (Codec::from_id(id), Filter::from_id(id));
        match codec {
            Codec::Other(_) if !codec.is_zfp() => {
                assert_eq!(codec.name().parse::<Codec>(), Err(UnknownName))
            }
            _ => assert_eq!(codec.name().parse(), Ok(codec)),
        }
        match filter {
            Filter::Other(_) | Filter::ByteDeltaV1 => assert!(filter.name().parse::<Filter>().is_err()),
            _ => assert_eq!(filter.name().parse(), Ok(filter)),
        }
    }
}
