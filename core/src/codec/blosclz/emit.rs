//! BloscLZ instructions as bytes.

use super::{FAR, RUN};
use crate::arch::copy::Window;
use crate::codec::CodecErrorKind;

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
    let near = (distance - 1).min(FAR - 1);
    let count = start - anchor;
    if len < 9 && distance < FAR {
        let code = (((len - 2) << 5) | (near >> 8) | ((near & 255) << 8)) as u32;
        if count.wrapping_sub(1) < RUN {
            return out.emit((count - 1) as u32, 1, src, anchor, count, code, 2);
        }
        literals(out, src, anchor, start)?;
        return out.push_low(code, 2);
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
