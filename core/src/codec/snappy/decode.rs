//! Snappy decoder.
#![deny(clippy::indexing_slicing, clippy::arithmetic_side_effects)]

use crate::arch::lz::window::Window;
use crate::arch::out::Out;
use crate::codec::error::{CodecError, CodecErrorKind};

/// Expands `src` into exactly `out`; its length preamble must say just that.
///
/// # Errors
/// What is wrong with the stream, and where: it ends early, goes on after its end, refers to bytes before its start, or does
/// not have the length of `out`.
#[inline(never)] // its stack is not the other codecs'
pub fn decode(src: &[u8], out: Out<'_>) -> Result<(), CodecError> {
    let mut at = 0;
    let claimed = preamble(src, &mut at).map_err(|kind| kind.at(at))?;
    if claimed != out.len() {
        let kind = if claimed > out.len() { CodecErrorKind::TooLong } else { CodecErrorKind::TooShort };
        return Err(kind.at(0));
    }
    let mut window = Window::new(out, &[]);
    while at < src.len() {
        let start = at;
        element(src, &mut at, &mut window).map_err(|kind| kind.at(start))?;
    }
    if window.remaining() == 0 { Ok(()) } else { Err(CodecErrorKind::TooShort.at(at)) }
}

fn preamble(src: &[u8], at: &mut usize) -> Result<usize, CodecErrorKind> {
    let mut value = 0u64;
    for shift in [0, 7, 14, 21, 28] {
        let byte = le(src, at, 1)?;
        value |= u64::from(byte & 0x7f) << shift;
        if byte < 0x80 {
            let value = u32::try_from(value).map_err(|_| CodecErrorKind::Corrupt)?;
            return usize::try_from(value).map_err(|_| CodecErrorKind::TooLong);
        }
    }
    Err(CodecErrorKind::Corrupt)
}

/// The next `n` (at most 4) bytes as a little-endian number.
#[inline(always)]
fn le(src: &[u8], at: &mut usize, n: usize) -> Result<u32, CodecErrorKind> {
    let rest = src.get(*at..).ok_or(CodecErrorKind::Truncated)?;
    let bytes = rest.get(..n).ok_or(CodecErrorKind::Truncated)?;
    *at = at.saturating_add(n);
    Ok(bytes.iter().rev().fold(0, |value, &byte| value << 8 | u32::from(byte)))
}

fn element(src: &[u8], at: &mut usize, window: &mut Window<'_>) -> Result<(), CodecErrorKind> {
    let tag = le(src, at, 1)?;
    let upper = tag as usize >> 2;
    if tag & 3 == 0 {
        let minus_one = match upper {
            0..=59 => upper,
            _ => le(src, at, upper.saturating_sub(59))? as usize,
        };
        // No input holds 2^32 literals; where `usize` has 32 bits the sum shows it first.
        let len = minus_one.checked_add(1).ok_or(CodecErrorKind::Truncated)?;
        window.literals(src, *at, len)?;
        *at = at.saturating_add(len);
        return Ok(());
    }
    let (len, distance) = match tag & 3 {
        1 => ((upper & 7).saturating_add(4), (tag >> 5) << 8 | le(src, at, 1)?),
        2 => (upper.saturating_add(1), le(src, at, 2)?),
        _ => (upper.saturating_add(1), le(src, at, 4)?),
    };
    window.copy_match(distance as usize, len)
}
