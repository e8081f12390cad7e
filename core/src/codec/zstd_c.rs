//! zstd by the C library, on hosts: all levels, dictionaries, reused contexts.

use super::context::{DecodeContext, EncodeContext};
use super::{Codec, CodecError, CodecErrorKind};
use crate::arch::out::Out;
use alloc::vec::Vec;
use zstd_safe::zstd_sys::ZSTD_ErrorCode as E;

/// Fewer samples than this train nothing.
const MIN_SAMPLES: usize = 8;

/// zstd's own level for chunk level 1 ..= 9 (format document §6.3): 1, 3, .. 15, and 22.
pub const fn library_level(level: u8) -> i32 {
    match level {
        0 => 1,
        1..=8 => 2 * level as i32 - 1,
        _ => 22,
    }
}

/// Expands all frames of `src` into exactly `out`. Never allocates, unless `context` was made for other
/// codecs only.
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

/// Compresses `src` into the start of `dst` at the level the context was made for; returns the size.
///
/// `None` when it does not fit, or when the context is not for zstd. Allocates only to digest a
/// dictionary that is not the one it used last.
pub fn encode(context: &mut EncodeContext, src: &[u8], dst: &mut [u8], dict: &[u8]) -> Option<usize> {
    context.zstd.as_mut()?.encode(src, dst, dict)
}

/// Trains a dictionary of at most `max` bytes from samples that lie one after the other in `samples`
/// (format document §6.5). `None` when the samples yield none. Allocates.
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
