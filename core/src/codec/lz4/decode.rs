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
        let sequence = at;
        let fail = |kind: CodecErrorKind| kind.at(sequence);
        let token = next(src, &mut at).map_err(fail)?;
        let mut len = usize::from(token >> 4);
        if len == 15 {
            len = extended(src, &mut at, len).map_err(fail)?;
        }
        window.literals(src, at, len).map_err(fail)?;
        at += len;
        if at >= src.len() {
            break;
        }
        let distance =
            u16::from_le_bytes([next(src, &mut at).map_err(fail)?, next(src, &mut at).map_err(fail)?]);
        let mut len = usize::from(token & 15);
        if len == 15 {
            len = extended(src, &mut at, len).map_err(fail)?;
        }
        window.copy_match(usize::from(distance), len + 4).map_err(fail)?;
    }
    if window.remaining() == 0 { Ok(()) } else { Err(CodecErrorKind::TooShort.at(at)) }
}

#[inline(always)]
fn next(src: &[u8], at: &mut usize) -> Result<u8, CodecErrorKind> {
    let byte = *src.get(*at).ok_or(CodecErrorKind::Truncated)?;
    *at += 1;
    Ok(byte)
}

/// A length that goes on: at most `isize::MAX / 2`, so that adding to it cannot overflow.
#[inline]
fn extended(src: &[u8], at: &mut usize, mut len: usize) -> Result<usize, CodecErrorKind> {
    loop {
        let byte = next(src, at)?;
        len += usize::from(byte);
        if byte != 255 {
            return Ok(len);
        }
        if len > usize::MAX / 4 {
            return Err(CodecErrorKind::TooLong);
        }
    }
}
