//! LZ4 decoder.

use crate::arch::copy::Window;
use crate::arch::out::Out;
use crate::codec::{CodecError, CodecErrorKind};

/// Expands one LZ4 block, which must fill `out` exactly; distances may reach back into `dict`.
///
/// # Errors
/// The kind of damage and the offset in `src` of the sequence that shows it. What `out` then holds
/// comes from `src`, `dict` or `out` itself.
pub fn decode(src: &[u8], out: Out<'_>, dict: &[u8]) -> Result<(), CodecError> {
    let mut window = Window::new(out, dict);
    let mut at = 0;
    loop {
        // Far from the end, neither length goes on: one look at the input is enough.
        if let Some((token, head, distance)) = short_sequence(src, at) {
            let (count, len) = (usize::from(token >> 4), usize::from(token & 15));
            if len < 15 && window.short_sequence(head, count, distance, len + 4) {
                at += count + 3;
                continue;
            }
        }
        let token = next(src, &mut at)?;
        let mut count = usize::from(token >> 4);
        if count == 15 {
            count = extended(src, &mut at, count)?;
        }
        window.literals(src, at, count).map_err(|kind| kind.at(at))?;
        at += count;
        if at >= src.len() {
            break;
        }
        let distance = u16::from_le_bytes([next(src, &mut at)?, next(src, &mut at)?]);
        let len = match token & 15 {
            15 => extended(src, &mut at, 19)?,
            short => usize::from(short) + 4,
        };
        window.copy_match(usize::from(distance), len).map_err(|kind| kind.at(at))?;
    }
    if window.remaining() == 0 { Ok(()) } else { Err(CodecErrorKind::TooShort.at(at)) }
}

/// Token, 16 bytes after it and distance of a sequence with less than 15 literals.
#[inline(always)]
fn short_sequence(src: &[u8], at: usize) -> Option<(u8, &[u8; 16], usize)> {
    let [token, rest @ ..] = src.get(at..)?.first_chunk::<17>()?;
    if *token >= 0xf0 {
        return None;
    }
    let distance = rest.get(usize::from(token >> 4)..)?.first_chunk()?;
    Some((*token, rest, usize::from(u16::from_le_bytes(*distance))))
}

#[inline(always)]
fn next(src: &[u8], at: &mut usize) -> Result<u8, CodecError> {
    let byte = *src.get(*at).ok_or(CodecErrorKind::Truncated.at(*at))?;
    *at += 1;
    Ok(byte)
}

/// `len` and the bytes that continue it. Stays far enough below `usize::MAX` to add to.
#[inline(always)]
fn extended(src: &[u8], at: &mut usize, mut len: usize) -> Result<usize, CodecError> {
    loop {
        let byte = next(src, at)?;
        len += usize::from(byte);
        if byte != 255 {
            return Ok(len);
        }
        if len > usize::MAX / 4 {
            return Err(CodecErrorKind::TooLong.at(*at));
        }
    }
}
