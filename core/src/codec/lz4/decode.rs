//! LZ4 decoder.

use crate::arch::copy::Window;
use crate::arch::lz;
use crate::arch::out::Out;
use crate::codec::room::{Input, Room};
use crate::codec::{CodecError, CodecErrorKind};

/// Expands one LZ4 block, which must fill `out` exactly; distances may reach back into `dict`.
///
/// # Errors
/// The kind of damage and the offset in `src` of the sequence that shows it. What `out` then holds
/// comes from `src`, `dict` or `out` itself.
pub fn decode(src: &[u8], out: Out<'_>, dict: &[u8]) -> Result<(), CodecError> {
    expand(src.into(), out.into(), dict)
}

/// [`decode`], as far as is wanted.
pub(crate) fn expand(input: Input<'_>, room: Room<'_>, dict: &[u8]) -> Result<(), CodecError> {
    let src = input.exact();
    let Room { out, len, wanted } = room;
    let mut window = Window::wanting(out, dict, wanted);
    let mut at = 0;
    loop {
        at = lz::lz4(&mut window, &input, at);
        if at > src.len() {
            return Err(CodecErrorKind::Truncated.at(src.len()));
        }
        if wanted < len && window.satisfied() {
            return Ok(());
        }
        let sequence = at;
        let fail = |kind: CodecErrorKind| kind.at(sequence);
        let token = next(src, &mut at)?;
        let mut count = usize::from(token >> 4);
        if count == 15 {
            count = extended(src, &mut at, count)?;
        }
        if count > src.len().saturating_sub(at) {
            return Err(fail(CodecErrorKind::Truncated));
        }
        window.literals(input.with_slack(), at, count).map_err(fail)?;
        at += count;
        if at >= src.len() {
            break;
        }
        let distance = u16::from_le_bytes([next(src, &mut at)?, next(src, &mut at)?]);
        let len = match token & 15 {
            15 => extended(src, &mut at, 19)?,
            short => usize::from(short) + 4,
        };
        window.copy_match(usize::from(distance), len).map_err(fail)?;
    }
    Room::filled(window.position(), len).map_err(|kind| kind.at(at))
}

#[inline(always)]
fn next(src: &[u8], at: &mut usize) -> Result<u8, CodecError> {
    let byte = *src.get(*at).ok_or(CodecErrorKind::Truncated.at(*at))?;
    *at += 1;
    Ok(byte)
}

/// `len` and the bytes that continue it, far too much where the sum leaves `usize`.
#[inline(always)]
fn extended(src: &[u8], at: &mut usize, mut len: usize) -> Result<usize, CodecError> {
    loop {
        let byte = next(src, at)?;
        len = len.saturating_add(usize::from(byte));
        if byte != 255 {
            return Ok(len);
        }
    }
}
