//! LZ4 sequences as bytes.

use crate::arch::lz::window::Window;
use crate::codec::error::CodecErrorKind;

/// Writes the literals `src[anchor..start]` and a match of at least four bytes.
#[inline(always)]
pub(crate) fn sequence(
    out: &mut Window<'_>,
    src: &[u8],
    anchor: usize,
    start: usize,
    distance: usize,
    len: usize,
) -> Result<(), CodecErrorKind> {
    let (literals, more) = (start - anchor, len - 4);
    if more < 15 + 255 {
        // Whether the match's length needs a byte more is not predictable, so no branch depends on it.
        let (tail, tail_len) =
            (distance as u64 | (more.wrapping_sub(15) as u64) << 16, 2 + usize::from(more >= 15));
        let of_match = more.min(15) as u32;
        let written = if literals < 15 {
            let head = (literals as u32) << 4 | of_match;
            out.emit_short::<16>(head, 1, src, anchor, literals, tail, tail_len)
        } else {
            let head = 0xf0 | of_match | (literals as u32 - 15) << 8;
            out.emit_short::<32>(head, 2, src, anchor, literals, tail, tail_len)
        };
        if written {
            return Ok(());
        }
    }
    out.cold_path(move |out| long_sequence(out, src, anchor, literals, distance, more))
}

/// [`sequence`] without literals.
#[inline(always)]
pub(crate) fn bare_match(out: &mut Window<'_>, distance: usize, len: usize) -> Result<(), CodecErrorKind> {
    let more = len - 4;
    if more < 15 + 255 {
        let word = u64::from(token(0, more)) | (distance as u64) << 8 | (more.wrapping_sub(15) as u64) << 24;
        if out.push_short(word, 3 + usize::from(more >= 15)) {
            return Ok(());
        }
    }
    out.cold_path(move |out| long_sequence(out, &[], 0, 0, distance, more))
}

/// [`sequence`] of any lengths.
#[inline(never)]
fn long_sequence(
    out: &mut Window<'_>,
    src: &[u8],
    anchor: usize,
    literals: usize,
    distance: usize,
    more: usize,
) -> Result<(), CodecErrorKind> {
    out.push(token(literals, more))?;
    extend(out, literals)?;
    out.literals(src, anchor, literals)?;
    out.push_low(distance as u64, 2)?;
    extend(out, more)
}

/// Both lengths, as far as they fit.
#[inline(always)]
fn token(literals: usize, more: usize) -> u8 {
    ((literals.min(15) << 4) | more.min(15)) as u8
}

/// Writes the literals that end a block.
pub(crate) fn last_literals(out: &mut Window<'_>, src: &[u8], anchor: usize) -> Result<(), CodecErrorKind> {
    let literals = src.len() - anchor;
    out.push(token(literals, 0))?;
    extend(out, literals)?;
    out.literals(src, anchor, literals)
}

/// Writes what of a length does not fit the token.
#[inline]
fn extend(out: &mut Window<'_>, len: usize) -> Result<(), CodecErrorKind> {
    let Some(rest) = len.checked_sub(15) else { return Ok(()) };
    if rest >= 255 {
        out.fill(255, rest / 255)?;
    }
    out.push((rest % 255) as u8)
}
