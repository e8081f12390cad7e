//! BloscLZ encoder: greedy, with two tables of last positions.
//!
//! ```text
//! at each position p, stepping further apart where nothing matches:
//!   the last position with the same eight bytes, or else with the same four, is the match,
//!   extended back over pending literals and forward as far as it goes
//! ```
//! Bitshuffled data is full of runs inside longer periods: there the last four equal bytes are nearly
//! always those of the wrong half of a run, which the table of eight-byte strings tells apart.

use super::{FAR, RUN};
use crate::arch::copy::Window;
use crate::arch::out::Out;
use crate::arch::words::Words;
use crate::codec::CodecErrorKind;
use crate::codec::matcher::{Table, hash4, hash8, nearest};

const SHORT_BITS: u32 = 13;
const LONG_BITS: u32 = 13;
/// Streams shorter than this are not tried.
const SHORTEST: usize = 16;
/// No match starts within this many bytes of the end.
const LAST_MATCH: usize = 12;
/// The shortest match worth the four bytes of the far form.
const FAR_MATCH: usize = 7;

/// Bytes of scratch that [`encode`] needs.
pub const fn work_len(_level: u8, _src_len: usize) -> usize {
    Table::<SHORT_BITS>::BYTES + Table::<LONG_BITS>::BYTES
}

/// Compresses `src` into one BloscLZ stream at the start of `dst` and returns its length; `level` is
/// 1 to 9: higher levels are slower to skip where nothing matches. `None` where it does not fit `dst`,
/// or `work` is shorter than [`work_len`], or `src` shorter than 16 bytes or longer than 2 GiB.
pub fn encode(src: &[u8], dst: &mut [u8], level: u8, work: &mut [u8]) -> Option<usize> {
    if src.len() < SHORTEST || src.len() > i32::MAX as usize {
        return None;
    }
    let (short, work) = Table::<SHORT_BITS>::new(work)?;
    let (long, _) = Table::<LONG_BITS>::new(work)?;
    let mut out = Window::new(Out::from(&mut *dst), &[]);
    let anchor = if src.len() <= 1 << 16 {
        matches::<false>(src, &mut out, level, short, long)?
    } else {
        matches::<true>(src, &mut out, level, short, long)?
    };
    literals(&mut out, src, anchor, src.len()).ok()?;
    let len = out.position();
    *dst.first_mut()? |= 0x20;
    Some(len)
}

/// Writes everything up to the end of the last match; returns where that is.
fn matches<const WRAP: bool>(
    src: &[u8],
    out: &mut Window<'_>,
    level: u8,
    mut short: Table<'_, SHORT_BITS>,
    mut long: Table<'_, LONG_BITS>,
) -> Option<usize> {
    let words = Words::new(src)?;
    let (last_start, match_end) = (src.len() - LAST_MATCH, src.len() - 1);
    let patience = u32::from(level.clamp(1, 9)) / 2 + 4;
    let (mut anchor, mut p) = (0, 1);
    let mut tries = 1 << patience;
    while p <= last_start {
        let word = words.load64(p);
        let far = nearest::<WRAP>(long.swap(hash8(word, LONG_BITS), p), p);
        let near = nearest::<WRAP>(short.swap(hash4(word, SHORT_BITS), p), p);
        let (q, known) = if words.load64(far) == word {
            (far, 8)
        } else if words.load32(near) == word as u32 {
            (near, 4)
        } else {
            p += (tries >> patience) as usize;
            tries += 1;
            continue;
        };
        let back = words.common_before(q, p, p - anchor);
        let mut len = back + known + words.common(q + known, p + known, match_end);
        let mut distance = p - q;
        p -= back;
        if distance >= FAR && len < FAR_MATCH {
            p += back + 1;
            continue;
        }
        tries = 1 << patience;
        loop {
            instruction(out, src, anchor, p, distance, len).ok()?;
            p += len;
            anchor = p;
            if p > last_start {
                break;
            }
            // What begins where a match ends often ended and began like that before.
            let word = words.load64(p - 1);
            let q = nearest::<WRAP>(short.swap(hash4(word, SHORT_BITS), p - 1), p - 1);
            if words.load32(q) != word as u32 {
                break;
            }
            len = 3 + words.common(q + 4, p + 3, match_end);
            distance = p - 1 - q;
            if len < 4 || (distance >= FAR && len < FAR_MATCH) {
                break;
            }
        }
    }
    Some(anchor)
}

/// Writes the literals `src[anchor..start]` and a match.
#[inline(always)]
fn instruction(
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
            return out.emit((count - 1) as u8, src, anchor, count, code, 2);
        }
        literals(out, src, anchor, start)?;
        return out.push_low(code, 2);
    }
    literals(out, src, anchor, start)?;
    emit(out, distance, len)
}

/// Writes `src[from..to]` as literal runs.
fn literals(out: &mut Window<'_>, src: &[u8], mut from: usize, to: usize) -> Result<(), CodecErrorKind> {
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
