//! The crate's own zstd decoder against C zstd, and against damage.

use blosc_core::codec::zstd::{self, decode_work_len};
use blosc_core::error::{CodecError, CodecErrorKind};

fn ours_with(src: &[u8], len: usize, dict: &[u8]) -> Result<Vec<u8>, CodecError> {
    let mut out = vec![0xA5; len + 16];
    let mut work = vec![0x5A; decode_work_len(len) + 1];
    // Odd alignment, dirty scratch, guard bytes on both sides.
    let result = zstd::decode(src, (&mut out[8..8 + len]).into(), dict, &mut work[1..]);
    assert!(out[..8].iter().chain(&out[8 + len..]).all(|&b| b == 0xA5), "wrote outside the output");
    result?;
    Ok(out[8..8 + len].to_vec())
}

fn ours(src: &[u8], len: usize) -> Result<Vec<u8>, CodecErrorKind> {
    ours_with(src, len, &[]).map_err(|e| e.kind)
}

#[test]
fn hand_made_frames() {
    // Single segment of 5 bytes, one raw block.
    let raw = [0x28, 0xB5, 0x2F, 0xFD, 0x20, 5, 0x29, 0, 0, b'h', b'e', b'l', b'l', b'o'];
    assert_eq!(ours(&raw, 5).unwrap(), b"hello");
    assert_eq!(ours(&raw, 4), Err(CodecErrorKind::TooLong));
    assert_eq!(ours(&raw, 6), Err(CodecErrorKind::TooShort));
    for n in 0..raw.len() {
        assert!(ours(&raw[..n], 5).is_err(), "{n}");
    }
    // A window, no content size, two blocks: 3 raw bytes, then 'x' 200 times.
    let rle = [0x28, 0xB5, 0x2F, 0xFD, 0, 0, 0x18, 0, 0, 1, 2, 3, 0x43, 6, 0, b'x'];
    let mut expected = vec![1, 2, 3];
    expected.extend([b'x'; 200]);
    assert_eq!(ours(&rle, 203).unwrap(), expected);
    // Skippable frames before, between and after.
    let skip = [0x5A, 0x2A, 0x4D, 0x18, 3, 0, 0, 0, 9, 9, 9];
    let all = [&skip[..], &raw, &skip, &skip, &rle, &skip].concat();
    expected.splice(0..0, *b"hello");
    assert_eq!(ours(&all, 208).unwrap(), expected);
    // Rubbish behind; no frame at all; reserved bit; reserved block type; block larger than its window.
    assert_eq!(ours(&[&raw[..], &[1, 2, 3, 4]].concat(), 5), Err(CodecErrorKind::TrailingBytes));
    assert_eq!(ours(b"not zstd", 5), Err(CodecErrorKind::Corrupt));
    let with = |at: usize, byte: u8| {
        let mut bad = raw;
        bad[at] = byte;
        ours(&bad, 5)
    };
    assert_eq!(with(4, 0x28), Err(CodecErrorKind::Corrupt));
    assert_eq!(with(6, 0x2F), Err(CodecErrorKind::Corrupt));
    assert_eq!(with(6, 0x31), Err(CodecErrorKind::Corrupt));
    // A dictionary that is not there.
    let needs = [0x28, 0xB5, 0x2F, 0xFD, 0x21, 7, 1, 0x09, 0, 0, b'a'];
    assert_eq!(ours(&needs, 1), Err(CodecErrorKind::Dictionary));
    assert_eq!(ours(&[], 0).unwrap(), b"");
    assert_eq!(
        zstd::decode(&raw, (&mut [0; 5]).into(), &[], &mut [0; 100]).map_err(|e| e.kind),
        Err(CodecErrorKind::Work)
    );
    assert!(decode_work_len(usize::MAX) <= (32 << 10) + (128 << 10));
}

#[cfg(feature = "zstd-c")]
mod against_c {
    use super::*;
    use crate::common::{Rng, count, emulated, kinds};
    use zstd_safe::{CCtx, CParameter, DCtx};

    fn pack(data: &[u8], level: i32, checksum: bool) -> Vec<u8> {
        let mut dst = Vec::with_capacity(zstd_safe::compress_bound(data.len()));
        let mut context = CCtx::create();
        context.set_parameter(CParameter::CompressionLevel(level)).unwrap();
        context.set_parameter(CParameter::ChecksumFlag(checksum)).unwrap();
        context.compress2(&mut dst, data).unwrap();
        dst
    }

    #[test]
    fn every_level_and_kind_of_data() {
        let mut rng = Rng::new(1);
        for (name, data) in kinds(300 << 10) {
            let levels = (-7..=22).chain([-100, -100_000]);
            // What takes long is C's compressing.
            for level in levels.filter(|&l| l != 0 && (l % 3 == 0 || !emulated())) {
                let len = if level % 4 == 3 { data.len() } else { rng.below(data.len()) };
                let packed = pack(&data[..len], level, level & 1 == 0);
                let back = ours_with(&packed, len, &[]);
                assert!(
                    back.as_deref() == Ok(&data[..len]),
                    "{name} level {level} len {len}: {:?}",
                    back.err()
                );
                if level & 1 == 0 {
                    let mut bad = packed;
                    *bad.last_mut().unwrap() ^= 1;
                    assert_eq!(ours(&bad, len), Err(CodecErrorKind::Checksum));
                }
            }
        }
    }

    #[test]
    fn every_short_length() {
        for (name, data) in kinds(500) {
            for len in 0..data.len() {
                for level in [-5, 1, 19] {
                    let packed = pack(&data[..len], level, false);
                    let back = ours_with(&packed, len, &[]);
                    assert_eq!(back.as_deref(), Ok(&data[..len]), "{name} {len} level {level}");
                }
            }
        }
    }

    #[test]
    fn frames_one_after_the_other() {
        let mut rng = Rng::new(3);
        let kinds = kinds(40_000);
        for _ in 0..count(300) {
            let (mut packed, mut plain) = (vec![], vec![]);
            for _ in 0..1 + rng.below(5) {
                let (_, data) = &kinds[rng.below(kinds.len())];
                let part = &data[..rng.below(data.len())];
                packed.extend(pack(part, 1 + rng.below(12) as i32, rng.below(2) == 0));
                plain.extend_from_slice(part);
            }
            assert!(ours(&packed, plain.len()).as_deref() == Ok(&plain[..]));
        }
    }

    #[test]
    fn dictionaries() {
        let mut rng = Rng::new(4);
        let mut samples = vec![];
        let mut sizes = vec![];
        for (_, data) in kinds(30_000).into_iter().filter(|(name, _)| *name != "random") {
            for piece in data.chunks(1000) {
                samples.extend_from_slice(piece);
                sizes.push(piece.len());
            }
        }
        let mut trained = Vec::with_capacity(16 << 10);
        let head = 140;
        zstd_safe::train_from_buffer(&mut trained, &samples, &sizes).unwrap();
        assert_eq!(trained[..4], [0x37, 0xA4, 0x30, 0xEC]);
        for dict in [&trained[..], &samples[5000..9000], &samples[..8]] {
            for _ in 0..count(1000) {
                let most = if rng.below(10) == 0 { 100_000 } else { 4000 };
                let len = rng.below(most);
                let from = rng.below(samples.len() - len);
                let data = &samples[from..from + len];
                let level = [1, 3, 9, 15, 19][rng.below(5)];
                let mut packed = Vec::with_capacity(zstd_safe::compress_bound(len));
                CCtx::create().compress_using_dict(&mut packed, data, dict, level).unwrap();
                let back = ours_with(&packed, len, dict);
                assert!(back.as_deref() == Ok(data), "level {level} len {len}: {:?}", back.err());
                // Without it: refused, or wrong distances; with the id in the frame always refused.
                if dict.len() == trained.len() && len > 0 {
                    assert_eq!(ours(&packed, len), Err(CodecErrorKind::Dictionary));
                }
            }
        }
        // Damaged dictionaries do not panic.
        let data = &samples[3000..6000];
        let mut packed = Vec::with_capacity(8000);
        CCtx::create().compress_using_dict(&mut packed, data, &trained, 3).unwrap();
        for n in 0..trained.len() {
            let _ = ours_with(&packed, data.len(), &trained[..n]);
        }
        for _ in 0..count(5000) {
            let mut bad = trained.clone();
            let at = rng.below(head);
            bad[at] ^= 1 << rng.below(8);
            let _ = ours_with(&packed, data.len(), &bad);
        }
    }

    /// Truncated and damaged streams: what both accept is the same, and we accept nothing that C refuses.
    #[test]
    fn damage() {
        let mut rng = Rng::new(2);
        let mut context = DCtx::create();
        let (mut both, mut we_only, mut c_only) = (0, vec![], vec![]);
        for (name, data) in kinds(3000) {
            for level in [-5, 1, 5, 19] {
                let packed = pack(&data, level, false);
                for n in 0..packed.len() {
                    assert!(ours(&packed[..n], data.len()).is_err(), "{name} cut at {n}");
                }
                for round in 0..count(4000) {
                    let mut bad = packed.clone();
                    for _ in 0..1 + rng.below(3) {
                        let at = rng.below(bad.len().min(8 + round));
                        bad[at] ^= 1 << rng.below(8);
                    }
                    let mut theirs = Vec::with_capacity(data.len());
                    let verdict = context.decompress(&mut theirs, &bad);
                    let verdict = verdict.is_ok() && theirs.len() == data.len();
                    match (ours(&bad, data.len()), verdict) {
                        (Ok(a), true) => {
                            assert!(a == theirs, "{name} level {level}: {bad:?}");
                            both += 1;
                        }
                        (Err(_), false) => {}
                        (Ok(_), false) => we_only.push((name, level)),
                        (Err(e), true) => c_only.push((name, level, e)),
                    }
                }
            }
        }
        println!("accepted by both {both}, by ours only {}, by C only {}", we_only.len(), c_only.len());
        assert_eq!(we_only.first(), None);
        // C zstd 1.5.7 does not check that four Huffman streams end where their literals do; RFC 8878
        // (§4.2.2) calls a stream that is not exactly used up corrupt, and so do we.
        assert_eq!(c_only.iter().find(|c| c.2 != CodecErrorKind::Corrupt), None);
    }
}
