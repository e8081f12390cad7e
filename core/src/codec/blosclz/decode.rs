//! BloscLZ decoder (format document §4.1).

use super::FAR;
use crate::arch::copy::Window;
use crate::arch::out::Out;
use crate::codec::{CodecError, CodecErrorKind};

/// Expands one BloscLZ stream, which must fill `out` exactly.
///
/// # Errors
/// The kind of damage and the offset in `src` of the instruction that shows it. What `out` then
/// holds comes from `src` or `out` itself.
pub fn decode(src: &[u8], out: Out<'_>) -> Result<(), CodecError> {
    let mut window = Window::new(out, &[]);
    let mut at = 0;
    let mut control = usize::from(next(src, &mut at).map_err(|kind| kind.at(0))? & 31);
    loop {
        let instruction = at - 1;
        let fail = |kind: CodecErrorKind| kind.at(instruction);
        if control < 32 {
            let len = control + 1;
            window.literals(src, at, len).map_err(fail)?;
            at += len;
            if at >= src.len() {
                break;
            }
        } else {
            let mut len = (control >> 5) + 2;
            if control >> 5 == 7 {
                len = extended(src, &mut at, len).map_err(fail)?;
            }
            let low = usize::from(next(src, &mut at).map_err(fail)?);
            let mut distance = ((control & 31) << 8) + low + 1;
            if distance == FAR {
                let high = usize::from(next(src, &mut at).map_err(fail)?);
                distance += (high << 8) + usize::from(next(src, &mut at).map_err(fail)?);
            }
            window.copy_match(distance, len).map_err(fail)?;
        }
        control = usize::from(next(src, &mut at).map_err(fail)?);
    }
    if window.remaining() == 0 { Ok(()) } else { Err(CodecErrorKind::TooShort.at(at)) }
}

#[inline(always)]
fn next(src: &[u8], at: &mut usize) -> Result<u8, CodecErrorKind> {
    let byte = *src.get(*at).ok_or(CodecErrorKind::Truncated)?;
    *at += 1;
    Ok(byte)
}

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
