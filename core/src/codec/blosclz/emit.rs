//! BloscLZ instructions as bytes.

use super::format::{FAR, RUN};
use crate::arch::lz::window::Window;
use crate::codec::error::CodecErrorKind;

/// Writes the literals `src[anchor..start]` and a match.
#[inline(always)]
pub(super) fn instruction(
    out: &mut Window<'_>,
    src: &[u8],
    anchor: usize,
    start: usize,
    distance: usize,
    len: usize,
) -> Result<(), CodecErrorKind> {
    let count = start - anchor;
    let near = (distance - 1).min(FAR - 1);
    let (high, low) = (near >> 8, near & 255);
    if len < 9 + 255 && count <= RUN {
        // Which forms these are is not predictable, so no branch depends on it.
        let (is_long, is_far) = (len >= 9, distance >= FAR);
        let rest =
            low as u64 | if is_far { u64::from(((distance - FAR) as u16).swap_bytes()) << 8 } else { 0 };
        let rest = if is_long { (len - 9) as u64 | rest << 8 } else { rest };
        let code = (((len - 2).min(7) << 5) | high) as u64 | rest << 8;
        let code_len = 2 + usize::from(is_long) + 2 * usize::from(is_far);
        if count == 0 {
            return out.push_low(code, code_len);
        }
        return out.emit((count - 1) as u32, 1, src, anchor, count, code, code_len);
    }
    literals(out, src, anchor, start)?;
    emit(out, distance, len)
}

/// Writes `src[from..to]` as literal runs.
pub(super) fn literals(
    out: &mut Window<'_>,
    src: &[u8],
    mut from: usize,
    to: usize,
) -> Result<(), CodecErrorKind> {
    while from < to {
        let len = (to - from).min(RUN);
        out.push((len - 1) as u8)?;
        out.literals(src, from, len)?;
        from += len;
    }
    Ok(())
}

/// Writes a match.
#[inline(always)]
fn emit(out: &mut Window<'_>, distance: usize, len: usize) -> Result<(), CodecErrorKind> {
    let near = (distance - 1).min(FAR - 1);
    let (high, low) = (near >> 8, near & 255);
    if len < 9 {
        out.push((((len - 2) << 5) | high) as u8)?;
    } else {
        out.push((7 << 5 | high) as u8)?;
        out.fill(255, (len - 9) / 255)?;
        out.push(((len - 9) % 255) as u8)?;
    }
    out.push(low as u8)?;
    if distance >= FAR {
        let far = distance - FAR;
        out.push((far >> 8) as u8)?;
        out.push(far as u8)?;
    }
    Ok(())
}
