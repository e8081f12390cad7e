//! zstd by the C library, on hosts: all levels, dictionaries, reused contexts.

use super::content::Content;
use super::context::{DecodeContext, EncodeContext};
use super::zstd::levels;
pub use super::zstd::levels::library_level;
use crate::arch::out::Out;
use crate::codec::error::{CodecError, CodecErrorKind};
use crate::codec::id::Codec;
use alloc::vec::Vec;
use zstd_safe::zstd_sys::ZSTD_ErrorCode as E;

/// Fewer samples than this train nothing (docs/formats/chunk.md §6.5).
const MIN_SAMPLES: usize = 8;

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
    let tuning = levels::tuning(zstd.level(), src, content);
    zstd.encode(src, dst, dict, tuning)
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
        let around = |bits: u32| [1usize << bits, (1 << bits) + 1];
        let most = 300_000;
        let powers = [6, 12, 14, 15, 16, 17, 18].into_iter().flat_map(around);
        let lens: Vec<usize> = powers.chain([most]).collect();
        // An emulator takes long for what C does here.
        let emulated = std::env::var_os("BLOSC_EMULATED").is_some();
        for level in [1, 5, 6, 9] {
            let lens = &lens[..if emulated { 5 } else { [15, 8][usize::from(level == 9)] }];
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
}
