//! zstd by the C library, on hosts: all levels, dictionaries, reused contexts.

use super::context::{DecodeContext, EncodeContext};
use super::dispatch::Content;
pub(crate) use crate::arch::c::zstd::Tuning;
use crate::arch::out::Out;
use crate::codec::error::{CodecError, CodecErrorKind};
use crate::codec::id::Codec;
use alloc::vec::Vec;
use zstd_safe::zstd_sys::ZSTD_ErrorCode as E;

/// Fewer samples than this train nothing.
const MIN_SAMPLES: usize = 8;

/// zstd's own level for chunk level 1 ..= 9 (docs/formats/chunk.md §6.3): 1, 3, .. 15, and 22.
pub const fn library_level(level: u8) -> i32 {
    match level {
        0 => 1,
        1..=8 => 2 * level as i32 - 1,
        _ => 22,
    }
}

/// Expands all frames of `src` into exactly `out`. Never allocates, unless `context` was made for other
/// codecs only.
///
/// # Errors
/// A stream that C zstd refuses: damaged, of another length than `out`, or made with a dictionary that is not `dict`.
pub fn decode(
    context: &mut DecodeContext,
    src: &[u8],
    mut out: Out<'_>,
    dict: &[u8],
) -> Result<(), CodecError> {
    let end = src.len();
    context.prepare(Codec::Zstd);
    let Some(context) = &mut context.zstd else { return Err(CodecErrorKind::Work.at(0)) };
    match context.decode(src, &mut out, dict) {
        None => Err(CodecErrorKind::Dictionary.at(0)),
        Some(Ok(n)) if n == out.len() => Ok(()),
        Some(Ok(_)) => Err(CodecErrorKind::TooShort.at(end)),
        Some(Err(error)) => Err(match error {
            E::ZSTD_error_dstSize_tooSmall => CodecErrorKind::TooLong,
            E::ZSTD_error_srcSize_wrong => CodecErrorKind::Truncated,
            E::ZSTD_error_checksum_wrong => CodecErrorKind::Checksum,
            E::ZSTD_error_dictionary_wrong | E::ZSTD_error_dictionary_corrupted => CodecErrorKind::Dictionary,
            _ => CodecErrorKind::Corrupt,
        }
        .at(0)),
    }
}

/// Compresses `src` into the start of `dst` at the chunk level the context was made for; returns the size.
///
/// `None` when it does not fit, or when the context is not for zstd. Allocates only to digest a
/// dictionary that is not the one it used last.
pub fn encode(context: &mut EncodeContext, src: &[u8], dst: &mut [u8], dict: &[u8]) -> Option<usize> {
    encode_content(context, src, dst, dict, Content::Any)
}

/// [`encode`], knowing what `src` is made of.
pub(crate) fn encode_content(
    context: &mut EncodeContext,
    src: &[u8],
    dst: &mut [u8],
    dict: &[u8],
    content: Content,
) -> Option<usize> {
    let zstd = context.zstd.as_mut()?;
    let tuning = tuning(zstd.level(), src, content);
    zstd.encode(src, dst, dict, tuning)
}

/// Where zstd's own parameters of a level are not the best for streams of chunks: outputs as small in less time.
fn tuning(library_level: i32, src: &[u8], content: Content) -> Tuning {
    const LEVEL_1: i32 = self::library_level(1);
    const LEVEL_5: i32 = self::library_level(5);
    const LEVEL_6: i32 = self::library_level(6);
    const LEVEL_7: i32 = self::library_level(7);
    const LEVEL_8: i32 = self::library_level(8);
    const LEVEL_9: i32 = self::library_level(9);
    let own = Tuning::default();
    let planes = content.is_planes();
    let plane = match library_level {
        LEVEL_6 | LEVEL_7 => unlike_planes(src, content, 4 << 10),
        // Longer streams that repeat themselves come out a percent larger.
        LEVEL_9 if src.len() > 64 << 10 => 0,
        LEVEL_8 | LEVEL_9 => unlike_planes(src, content, 8 << 10),
        _ => 0,
    };
    match library_level {
        // Four cells for each byte: planes do with one or two, which stay in the first-level cache.
        LEVEL_1 if planes && (4097..=SMALL).contains(&src.len()) => Tuning { hash_log: 13, ..own },
        // Chains instead of binary trees. Planes of bits lose by it.
        LEVEL_5 if src.len() <= SMALL && content != Content::BitPlanes && !repeats(src) => {
            Tuning { strategy: Tuning::LAZY2, search_log: if src.len() > 4096 { 6 } else { 0 }, ..own }
        }
        // Rows that the second-level cache holds, and that need not be cleared in vain.
        LEVEL_5 if planes && (SMALL + 1..=256 << 10).contains(&src.len()) => {
            let hash_log = match (src.len(), content == Content::BitPlanes) {
                (..=0x8000, _) | (0x8001..=0x1_0000, true) => 15,
                (0x8001..=0x1_0000, false) | (_, true) => 16,
                _ => 17,
            };
            Tuning { hash_log, ..own }
        }
        // Each plane by codes of its own. Chains instead of binary trees, or trees of what is near.
        LEVEL_6 | LEVEL_7 | LEVEL_8 if plane > 0 => {
            let cut = Tuning { max_block: plane, ..own };
            match library_level {
                _ if !(SMALL + 1..=64 << 10).contains(&src.len()) => cut,
                LEVEL_6 => Tuning { strategy: Tuning::LAZY2, hash_log: 15, ..cut },
                LEVEL_7 => Tuning { hash_log: 15, chain_log: 13, ..cut },
                _ => Tuning { hash_log: 15, chain_log: 15, ..cut },
            }
        }
        // Longer matches are taken as they come, instead of being priced at each of their lengths. Planes of bits
        // of regular data lose several percent by it.
        LEVEL_9 if plane > 0 => Tuning { target_length: 192, max_block: plane, ..own },
        LEVEL_9 if matches!(content, Content::BytePlanes(_)) => Tuning { target_length: 320, ..own },
        LEVEL_9 if !planes => Tuning { target_length: 512, ..own },
        _ => own,
    }
}

/// The length of the planes of bytes of `src` where it has several of `least` bytes or more, which are unlike enough for codes of
/// their own; else 0.
fn unlike_planes(src: &[u8], content: Content, least: usize) -> i32 {
    const SAMPLES: usize = 128;
    let Content::BytePlanes(count @ 2..) = content else { return 0 };
    let plane = src.len() / count;
    if !(least..=MAX_PLANE).contains(&plane) {
        return 0;
    }
    let mut before = [0i32; 32];
    let mut unlike = 0;
    for (number, plane) in src.chunks_exact(plane).enumerate() {
        let mut now = [0i32; 32];
        for byte in plane.iter().step_by(plane.len() / SAMPLES).take(SAMPLES) {
            if let Some(cell) = now.get_mut(usize::from(byte >> 3)) {
                *cell += 1;
            }
        }
        if number > 0 {
            unlike += before.iter().zip(&now).map(|(b, n)| (b - n).abs()).sum::<i32>();
        }
        before = now;
    }
    let most = 2 * SAMPLES as i32 * (count as i32 - 1);
    // A stream that repeats itself has few literals: Huffman codes for each plane gain nothing there.
    if 8 * unlike >= most && !repeats(src) { plane as i32 } else { 0 }
}

/// Longer planes than zstd's blocks are cut anyway.
const MAX_PLANE: usize = 128 << 10;

/// The longest stream of zstd's smallest set of parameters.
const SMALL: usize = 16 << 10;

/// Whether most of `src` seems to be runs or to come again every 256 bytes, as planes of evenly rising integers do.
/// Binary trees pass over long matches, chains enter each of their bytes.
fn repeats(src: &[u8]) -> bool {
    const PROBES: usize = 16;
    let Some(room) = src.len().checked_sub(256 + 8) else { return false };
    let word = |at: usize| src.get(at..at + 8);
    let found = (0..PROBES)
        .map(|probe| probe * room / PROBES)
        .filter(|&at| word(at) == word(at + 1) || word(at) == word(at + 256))
        .count();
    found >= PROBES - 1
}

/// Trains a dictionary of at most `max` bytes from samples that lie one after the other in `samples`
/// (docs/formats/chunk.md §6.5). `None` when the samples yield none. Allocates.
pub fn train_dictionary(samples: &[u8], sizes: &[usize], max: usize) -> Option<Vec<u8>> {
    let total = sizes.iter().try_fold(0usize, |sum, &n| sum.checked_add(n))?;
    let samples = samples.get(..total)?;
    // zstd 1.5.7 divides by zero where the three quarters of the samples that it trains on hold less
    // than its 8-byte window.
    let half = sizes.get(..sizes.len() / 2)?;
    if sizes.len() < MIN_SAMPLES || half.iter().sum::<usize>() < 64 {
        return None;
    }
    let mut dict = Vec::new();
    dict.try_reserve_exact(max).ok()?;
    zstd_safe::train_from_buffer(&mut dict, samples, sizes).ok()?;
    Some(dict)
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec;

    /// Bytes that rise in steps, runs among them; each quarter has a fourth of the values of the one before.
    fn rising(len: usize, step: usize) -> Vec<u8> {
        let value = |i: usize| i.wrapping_mul(step).wrapping_add(i / 1000 * (i % 7)) as u8;
        (0..len).map(|i| value(i) >> (i / len.div_ceil(4) * 2)).collect()
    }

    #[test]
    fn what_a_context_did_before_changes_no_byte() {
        let contents = [Content::Any, Content::BytePlanes(1), Content::BytePlanes(4), Content::BitPlanes];
        let lens =
            [64, 4096, 4097, SMALL, SMALL + 1, 1 << 15, 1 << 16, (1 << 16) + 1, 1 << 17, 1 << 18, 300_000];
        let most = 300_000;
        // An emulator takes long for what C does here.
        let emulated = std::env::var_os("BLOSC_EMULATED").is_some();
        for level in [1, 5, 6, 7, 8, 9] {
            let lens = &lens[..if level == 9 || emulated { 7 } else { lens.len() }];
            let mut used = EncodeContext::for_codec(Codec::Zstd, level, most).unwrap();
            let mut decoder = DecodeContext::for_codec(Codec::Zstd);
            for (len, content, step) in lens
                .iter()
                .chain(lens.iter().rev())
                .flat_map(|&len| contents.map(|content| (len, content)))
                .flat_map(|(len, content)| [(len, content, 1), (len, content, 40_503)])
            {
                let src = rising(len, step);
                let [mut one, mut other] = [vec![0; len + 1000], vec![0; len + 1000]];
                // Nor does a frame that was not ended.
                assert_eq!(encode_content(&mut used, &src, &mut one[..9], &[], content), None);
                let n = encode_content(&mut used, &src, &mut one, &[], content).unwrap();
                let mut fresh = EncodeContext::for_codec(Codec::Zstd, level, most).unwrap();
                let again = encode_content(&mut fresh, &src, &mut other, &[], content);
                assert!(again == Some(n) && one[..n] == other[..n], "{level} {len} {content:?}");
                let mut back = vec![0xAA; len];
                decode(&mut decoder, &one[..n], Out::from(&mut back[..]), &[]).unwrap();
                assert!(back == src, "{level} {len} {content:?}");
            }
        }
    }

    #[test]
    fn planes_of_unlike_bytes_have_codes_of_their_own() {
        let (unlike, even) = (rising(1 << 16, 40_503), vec![[3u8, 77, 9, 200]; 1 << 14].concat());
        for (src, content, wanted) in [
            (&unlike[..], Content::BytePlanes(4), 1 << 14),
            (&unlike[..1 << 14], Content::BytePlanes(4), 0),
            (&unlike[..], Content::BytePlanes(32), 0),
            (&unlike[..], Content::BytePlanes(1), 0),
            (&unlike[..], Content::BitPlanes, 0),
            (&unlike[..], Content::Any, 0),
            (&even[..], Content::BytePlanes(4), 0),
            (&[], Content::BytePlanes(4), 0),
        ] {
            assert_eq!(unlike_planes(src, content, 8 << 10), wanted, "{} {content:?}", src.len());
        }
    }

    #[test]
    fn runs_and_what_comes_again_after_256_bytes_repeat() {
        let noise: Vec<u8> = (0..4096u32).map(|i| (i.wrapping_mul(2_654_435_761) >> 13) as u8).collect();
        let mut half = vec![7; 4096];
        half[2048..].copy_from_slice(&noise[..2048]);
        for (src, wanted) in [
            (vec![7; 4096], true),
            ((0..4096).map(|i| i as u8).collect(), true),
            ((0..4096).map(|i| (i >> 8) as u8).collect(), true),
            (vec![7; 263], false),
            (half, false),
            (noise, false),
        ] {
            assert_eq!(repeats(&src), wanted, "{:?}", &src[..4]);
        }
    }
}
