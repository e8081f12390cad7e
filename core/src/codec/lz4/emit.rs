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
    let token = ((literals.min(15) << 4) | more.min(15)) as u8;
    if literals < 15 {
        out.emit(token, src, anchor, literals, distance as u32, 2)?;
    } else {
        out.push(token)?;
        extend(out, literals - 15)?;
        out.literals(src, anchor, literals)?;
        out.push_low(distance as u32, 2)?;
    }
    if more >= 15 {
        extend(out, more - 15)?;
    }
    Ok(())
}

/// Writes the literals that end a block.
pub(crate) fn last_literals(out: &mut Window<'_>, src: &[u8], anchor: usize) -> Result<(), CodecErrorKind> {
    let literals = src.len() - anchor;
    out.push((literals.min(15) << 4) as u8)?;
    if literals >= 15 {
        extend(out, literals - 15)?;
    }
    out.literals(src, anchor, literals)
}

#[inline(always)]
fn extend(out: &mut Window<'_>, rest: usize) -> Result<(), CodecErrorKind> {
    if rest < 255 {
        return out.push(rest as u8);
    }
    out.fill(255, rest / 255)?;
    out.push((rest % 255) as u8)
}
