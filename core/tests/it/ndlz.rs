//! NDLZ: every token by hand, round trips, and streams that lie (CVE-2024-3203, CVE-2024-3204).

use blosc_core::Out;
use blosc_core::codec::{CodecError, CodecErrorKind, ndlz};
use proptest::prelude::*;

fn header(rows: i32, columns: i32) -> Vec<u8> {
    [&[2u8][..], &rows.to_le_bytes(), &columns.to_le_bytes()].concat()
}

fn decode(stream: &[u8], len: usize, meta: u8) -> Result<Vec<u8>, CodecError> {
    let mut memory = vec![0xA5; len + 32];
    let result = ndlz::decode(stream, Out::from(&mut memory[16..16 + len]), meta);
    assert!(memory[..16].iter().chain(&memory[16 + len..]).all(|&b| b == 0xA5), "strays");
    result.map(|()| memory[16..16 + len].to_vec())
}

fn encode(src: &[u8], meta: u8, shape: &[u32]) -> Option<Vec<u8>> {
    let (mut dst, mut work) = (vec![0; src.len() + 64], vec![0xFF; ndlz::WORK_LEN]);
    let len = ndlz::encode(src, &mut dst, meta, shape, &mut work)?;
    dst.truncate(len);
    Some(dst)
}

/// The literal cell 0..16, then a cell made by `record`; both side by side in 4 rows of 8.
fn second_cell(record: &[u8]) -> Result<Vec<u8>, CodecError> {
    let literal: Vec<u8> = [0].into_iter().chain(0..16).collect();
    let out = decode(&[&header(4, 8), &literal[..], record].concat(), 32, 4)?;
    Ok(out.chunks(8).flat_map(|row| row[4..].to_vec()).collect())
}

#[test]
fn the_tokens_of_side_4() {
    // The literals start 16 bytes before the second token.
    let rows = |r: [u8; 4]| r.iter().flat_map(|r| (0..4).map(move |i| r * 4 + i)).collect::<Vec<u8>>();
    assert_eq!(second_cell(&[0x40, 9]).unwrap(), [9; 16]);
    assert_eq!(second_cell(&[0xC0, 16, 0]).unwrap(), rows([0, 1, 2, 3]));
    let one = [100, 101, 102, 103];
    for (token, literal_row) in [(0xE0, 0), (0xE8, 3), (0xF0, 2), (0xFF, 1)] {
        let mut want: Vec<Vec<u8>> = rows([0, 1, 2, 3])[..12].chunks(4).map(<[u8]>::to_vec).collect();
        want.insert(literal_row, one.to_vec());
        assert_eq!(second_cell(&[&[token, 16, 0], &one[..]].concat()).unwrap(), want.concat());
    }
    let two = [100, 101, 102, 103, 104, 105, 106, 107];
    for (token, [i, j]) in
        [(0x80, [2, 3]), (0x88, [0, 1]), (0x90, [0, 2]), (0x98, [0, 3]), (0xB0, [1, 2]), (0xB8, [1, 3])]
    {
        let got = second_cell(&[&[token, 16, 0], &two[..]].concat()).unwrap();
        assert_eq!([&got[4 * i..4 * i + 4], &got[4 * j..4 * j + 4]].concat(), rows([0, 1, 2, 3])[..8]);
        let rest: Vec<u8> =
            (0..4).filter(|r| ![i, j].contains(r)).flat_map(|r| got[4 * r..4 * r + 4].to_vec()).collect();
        assert_eq!(rest, two);
    }
    assert_eq!(second_cell(&[0x28, 8, 0, 16, 0]).unwrap(), rows([2, 3, 0, 1]));
    assert_eq!(second_cell(&[0x30, 8, 0, 16, 0]).unwrap(), rows([2, 0, 3, 1]));
    assert_eq!(second_cell(&[0x38, 8, 0, 16, 0]).unwrap(), rows([2, 0, 1, 3]));
}

#[test]
fn the_tokens_of_side_8() {
    let literal: Vec<u8> = [0].into_iter().chain(0..64).collect();
    for (token, count) in [(0xA8, 3), (0x88, 2)] {
        for row in 0..=8 - count {
            let rest: Vec<u8> = (0..8 * (8 - count) as u8).map(|b| 100 + b).collect();
            let record = [&[token + row as u8, 64, 0], &rest[..]].concat();
            let out = decode(&[&header(8, 16), &literal[..], &record].concat(), 128, 8).unwrap();
            let got: Vec<u8> = out.chunks(16).flat_map(|row| row[8..].to_vec()).collect();
            assert!(got[8 * row..8 * (row + count)].iter().copied().eq(0..8 * count as u8));
            assert_eq!([&got[..8 * row], &got[8 * (row + count)..]].concat(), rest);
        }
        let too_far = [&header(8, 16), &literal[..], &[token + 9 - count as u8, 64, 0], &[0; 48]].concat();
        assert_eq!(decode(&too_far, 128, 8).unwrap_err().kind, CodecErrorKind::Corrupt);
    }
}

#[test]
fn lying_streams_are_refused() {
    let kind = |stream: &[u8], len| decode(stream, len, 4).unwrap_err().kind;
    assert_eq!(kind(&[2, 0, 0, 0, 0, 0, 0, 0], 16), CodecErrorKind::Truncated);
    assert_eq!(kind(&header(-1, -16), 16), CodecErrorKind::Corrupt);
    assert_eq!(kind(&header(i32::MAX, i32::MAX), 16), CodecErrorKind::TooLong);
    assert_eq!(kind(&header(1 << 16, 1 << 16), 16), CodecErrorKind::TooLong);
    assert_eq!(kind(&header(0, i32::MAX), 16), CodecErrorKind::TooShort);
    assert_eq!(kind(&[3, 4, 0, 0, 0, 4, 0, 0, 0, 0x40, 1], 16), CodecErrorKind::Corrupt);
    assert_eq!(decode(&header(i32::MAX, 0), 0, 4).unwrap(), Vec::<u8>::new());
    assert_eq!(decode(&header(4, 4), 16, 5).unwrap_err().kind, CodecErrorKind::Corrupt);
    // Offsets before the stream, past its end, and cells cut short.
    assert_eq!(second_cell(&[0xC0, 27, 0]).unwrap_err().kind, CodecErrorKind::Distance);
    assert_eq!(second_cell(&[0xC0, 1, 0]).unwrap_err().kind, CodecErrorKind::Truncated);
    assert_eq!(second_cell(&[0xC0, 1]).unwrap_err().kind, CodecErrorKind::Truncated);
    assert_eq!(second_cell(&[0, 1, 2, 3]).unwrap_err().kind, CodecErrorKind::Truncated);
    assert_eq!(second_cell(&[]).unwrap_err().kind, CodecErrorKind::Truncated);
    for bad in [0x01, 0x20, 0x27, 0x41, 0x81, 0xA0, 0xC1, 0xDF] {
        assert_eq!(second_cell(&[bad; 16]).unwrap_err().kind, CodecErrorKind::Corrupt, "{bad:#x}");
    }
    // A row token on a border cell.
    let border = [&header(3, 4)[..], &[0xE0, 4, 0, 1, 2, 3, 4]].concat();
    assert_eq!(kind(&border, 12), CodecErrorKind::Corrupt);
}

#[test]
fn unsuitable_parameters_do_not_encode() {
    let src = [7; 16];
    assert!(encode(&src, 4, &[4, 4]).is_some());
    assert!(encode(&src, 5, &[4, 4]).is_none());
    assert!(encode(&src, 4, &[16]).is_none());
    assert!(encode(&src, 4, &[4, 5]).is_none());
    assert!(encode(&[], 4, &[0, 0]).is_none());
    assert!(ndlz::encode(&src, &mut [0; 10], 4, &[4, 4], &mut [0; ndlz::WORK_LEN]).is_none());
    assert!(ndlz::encode(&src, &mut [0; 64], 4, &[4, 4], &mut [0; ndlz::WORK_LEN - 1]).is_none());
}

/// A tiled picture with some noise: whole-cell, row and literal records all occur.
fn picture(rows: u32, columns: u32, seed: u32) -> Vec<u8> {
    let mut random = blosc_testkit::Random(seed.into());
    (0..rows * columns)
        .map(|i| {
            let (r, c) = (i / columns, i % columns);
            let noise = if (r / 4 + c / 4 + seed).is_multiple_of(5) { random.below(32) as u32 } else { 0 };
            ((r % (4 + seed % 3)) * 16 + c % (8 + seed % 5) + noise) as u8
        })
        .collect()
}

#[test]
fn repeated_cells_shrink() {
    for side in [4, 8] {
        let src = picture(64, 96, 0);
        let stream = encode(&src, side, &[64, 96]).unwrap();
        assert!(4 * stream.len() < 3 * src.len(), "side {side}: {} of {}", stream.len(), src.len());
        assert_eq!(decode(&stream, src.len(), side).unwrap(), src);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn round_trips(rows in 1u32..70, columns in 1u32..70, seed in any::<u32>(), side in prop::sample::select(vec![4u8, 8])) {
        let src = picture(rows, columns, seed % 1000);
        let stream = encode(&src, side, &[rows, columns]);
        if let Some(stream) = stream {
            prop_assert_eq!(decode(&stream, src.len(), side).unwrap(), src);
        }
    }

    #[test]
    fn damage_never_panics(seed in any::<u32>(), at in 0usize..400, value in any::<u8>(), cut in 0usize..400, side in prop::sample::select(vec![4u8, 8])) {
        let src = picture(20, 22, seed % 1000);
        let mut stream = encode(&src, side, &[20, 22]).unwrap_or_default();
        if let Some(byte) = stream.get_mut(at) {
            *byte = value;
        }
        stream.truncate(stream.len().saturating_sub(cut));
        let _ = decode(&stream, src.len(), side);
    }
}
