//! LZ4 decoder.

use crate::arch::input::Input;
use crate::arch::lz::loops;
use crate::arch::lz::window::Window;
use crate::arch::out::Out;
use crate::codec::destination::Destination;
use crate::codec::error::{CodecError, CodecErrorKind};

/// Expands one LZ4 block, which must fill `out` exactly; distances may reach back into `dict`.
///
/// # Errors
/// The kind of damage and the offset in `src` of the sequence that shows it. What `out` then holds
/// comes from `src`, `dict` or `out` itself.
pub fn decode(src: &[u8], out: Out<'_>, dict: &[u8]) -> Result<(), CodecError> {
    expand(src.into(), out.into(), dict)
}

/// [`decode`], as far as is wanted.
pub(crate) fn expand(input: Input<'_>, room: Destination<'_>, dict: &[u8]) -> Result<(), CodecError> {
    let src = input.exact();
    let Destination { out, len, wanted, level } = room;
    let mut window = Window::wanting(out, dict, wanted);
    let mut at = 0;
    loop {
        at = loops::lz4(&mut window, &input, at, level);
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
    Destination::filled(window.position(), len).map_err(|kind| kind.at(at))
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Level;
    use alloc::vec;
    use alloc::vec::Vec;

    /// What comes out at a level, in memory of which the stream has only a part.
    fn decoded(level: Level, bytes: &[u8], stream: usize, len: usize) -> (Result<(), CodecError>, Vec<u8>) {
        let mut out = vec![0x55; len + 300];
        let room = Destination::new(Out::from(&mut out[..]), len, len, level);
        let result = expand(Input::new(bytes, stream), room, &[]);
        out.truncate(len);
        (result, out)
    }

    #[test]
    fn damage_is_found_in_the_same_place_at_every_level() {
        let mut seed = 3u32;
        let mut next = |n: u32| {
            seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (seed >> 8) % n
        };
        for turn in 0..400 {
            // Long and short sequences that mix.
            let mut stream = Vec::new();
            let mut len = 0;
            for _ in 0..80 {
                let (count, more) = (next(40) as usize, next(300) as usize);
                let (count, more) =
                    if next(2) == 0 { (count % 15, more % 15) } else { (count.max(15), more.max(15)) };
                stream.push((count.min(15) << 4 | more.min(15)) as u8);
                stream.extend(count.checked_sub(15).map(|n| n as u8));
                stream.extend((0..count).map(|_| next(256) as u8));
                len += count + more + 4;
                let most = (len - more - 3).min(if next(2) == 0 { 9 } else { 200 }) as u32;
                stream.extend((1 + next(most.max(2) - 1) as u16).to_le_bytes());
                if let Some(rest) = more.checked_sub(15) {
                    stream.extend(core::iter::repeat_n(255, rest / 255));
                    stream.push((rest % 255) as u8);
                }
            }
            stream.extend([5 << 4, 1, 2, 3, 4, 5]);
            len += 5;
            let whole = stream.len();
            stream.extend([0xee; 200]);
            if turn > 0 {
                let at = next(whole as u32) as usize;
                stream[at] = if next(4) == 0 { 255 } else { next(256) as u8 };
            }
            let stream_len = if turn % 3 == 2 { next(whole as u32) as usize } else { whole };
            let len = if turn % 5 == 4 { len - next(40) as usize } else { len };
            let (want, bytes) = decoded(Level::SCALAR, &stream, stream_len, len);
            assert!(turn > 0 || want.is_ok(), "{want:?}");
            for level in Level::available() {
                let (result, out) = decoded(level, &stream, stream_len, len);
                assert_eq!(result, want, "{level:?}, turn {turn}");
                assert!(result.is_err() || out == bytes, "{level:?}, turn {turn}");
            }
        }
    }
}
