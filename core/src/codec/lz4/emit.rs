//! LZ4 sequences as bytes.

use crate::arch::copy::Window;
use crate::codec::CodecErrorKind;

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
    let token = u32::from(token(literals, more));
    // Whether a length needs a byte more nobody could foretell: no branch depends on it.
    let head = token | (literals.wrapping_sub(15) as u32) << 8;
    let tail = distance as u32 | (more.wrapping_sub(15) as u32) << 16;
    let (head_len, tail_len) = (1 + usize::from(literals >= 15), 2 + usize::from(more >= 15));
    if more < 15 + 255 && out.emit_short(head, head_len, src, anchor, literals, tail, tail_len) {
        return Ok(());
    }
    out.aside(move |out| long_sequence(out, src, anchor, literals, distance, more))
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
    out.push_low(distance as u32, 2)?;
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
