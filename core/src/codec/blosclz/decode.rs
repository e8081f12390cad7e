//! BloscLZ decoder (docs/formats/chunk.md §4.1).

use super::format::{FAR, RUN};
use crate::arch::input::Input;
use crate::arch::lz::loops;
use crate::arch::lz::window::Window;
use crate::arch::out::Out;
use crate::codec::destination::Destination;
use crate::codec::error::{CodecError, CodecErrorKind};

/// Expands one BloscLZ stream, which must fill `out` exactly.
///
/// # Errors
/// The kind of damage and the offset in `src` of the instruction that shows it. What `out` then
/// holds comes from `src` or `out` itself.
pub fn decode(src: &[u8], out: Out<'_>) -> Result<(), CodecError> {
    expand(src.into(), out.into())
}

/// [`decode`], as far as is wanted.
pub(crate) fn expand(input: Input<'_>, room: Destination<'_>) -> Result<(), CodecError> {
    let src = input.exact();
    let Destination { out, len, wanted, level } = room;
    let mut window = Window::wanting(out, &[], wanted);
    let mut at = 0;
    let mut control = usize::from(next(src, &mut at)? & 31);
    loop {
        let instruction = at - 1;
        let fail = |kind: CodecErrorKind| kind.at(instruction);
        if control >= RUN {
            let (distance, len) = match_of(src, &mut at, control)?;
            window.copy_match(distance, len).map_err(fail)?;
        } else {
            let count = control + 1;
            if count > src.len().saturating_sub(at) {
                return Err(fail(CodecErrorKind::Truncated));
            }
            window.literals(input.with_slack(), at, count).map_err(fail)?;
            at += count;
            if at >= src.len() {
                break;
            }
        }
        at = loops::blosclz(&mut window, &input, at, level);
        if at > src.len() {
            return Err(CodecErrorKind::Truncated.at(src.len()));
        }
        if wanted < len && window.satisfied() {
            return Ok(());
        }
        control = usize::from(next(src, &mut at)?);
    }
    Destination::filled(window.position(), len).map_err(|kind| kind.at(at))
}

/// Distance and length of the match that `control` begins.
#[inline(always)]
fn match_of(src: &[u8], at: &mut usize, control: usize) -> Result<(usize, usize), CodecError> {
    let mut len = (control >> 5) + 2;
    if len == 9 {
        loop {
            let byte = next(src, at)?;
            // Far too much where the sum leaves `usize`.
            len = len.saturating_add(usize::from(byte));
            if byte != 255 {
                break;
            }
        }
    }
    let mut distance = ((control & 31) << 8) + usize::from(next(src, at)?) + 1;
    if distance == FAR {
        let high = usize::from(next(src, at)?);
        distance += (high << 8) + usize::from(next(src, at)?);
    }
    Ok((distance, len))
}

#[inline(always)]
fn next(src: &[u8], at: &mut usize) -> Result<u8, CodecError> {
    let byte = *src.get(*at).ok_or(CodecErrorKind::Truncated.at(*at))?;
    *at += 1;
    Ok(byte)
}
