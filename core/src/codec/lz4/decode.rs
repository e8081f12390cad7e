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
    let Room { out, len, wanted } = room;
    finish(input, Window::wanting(out, dict, wanted), 0, len, wanted)
}

/// Two blocks in less time than one after the other.
///
/// # Errors
/// What is wrong with either.
pub(crate) fn expand_two(inputs: [Input<'_>; 2], rooms: [Room<'_>; 2]) -> Result<(), CodecError> {
    let lens = [&rooms[0], &rooms[1]].map(|room| (room.len, room.wanted));
    let [mut a, mut b] = rooms.map(|room| Window::wanting(room.out, &[], room.wanted));
    let at = lz::lz4_by_turns([&mut a, &mut b], [&inputs[0], &inputs[1]]);
    finish(inputs[0], a, at[0], lens[0].0, lens[0].1)?;
    finish(inputs[1], b, at[1], lens[1].0, lens[1].1)
}

/// [`expand`] from the sequence at `at` on.
#[inline(always)]
fn finish(
    input: Input<'_>,
    mut window: Window<'_>,
    mut at: usize,
    len: usize,
    wanted: usize,
) -> Result<(), CodecError> {
    let src = input.exact();
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
