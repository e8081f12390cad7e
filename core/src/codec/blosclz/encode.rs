//! BloscLZ encoder.

use super::{FAR, RUN};
use crate::arch::copy::Window;
use crate::arch::out::Out;
use crate::arch::words::Words;
use crate::codec::CodecErrorKind;
use crate::codec::matcher::{Table, hash4, nearest};

const BITS: u32 = 13;
/// The farthest distance writers use.
#[allow(dead_code)]
const REACH: usize = 73724;
/// Streams shorter than this are not tried.
const SHORTEST: usize = 16;
/// No match starts within this many bytes of the end.
const LAST_MATCH: usize = 12;

/// Bytes of scratch that [`encode`] needs.
pub const fn work_len(_level: u8, _src_len: usize) -> usize {
    Table::<BITS>::BYTES
}

/// Compresses `src` into one BloscLZ stream at the start of `dst` and returns its length; `level` is
/// 1 to 9. `None` where it does not fit `dst`, or `work` is shorter than [`work_len`].
pub fn encode(src: &[u8], dst: &mut [u8], level: u8, work: &mut [u8]) -> Option<usize> {
    if src.len() < SHORTEST || src.len() > i32::MAX as usize {
        return None;
    }
    let (mut table, _) = Table::<BITS>::new(work)?;
    let words = Words::new(src)?;
    let mut out = Window::new(Out::from(&mut *dst), &[]);
    let last_start = src.len() - LAST_MATCH;
    let (mut anchor, mut p) = (0, 1);
    let patience = u32::from(level.clamp(1, 9)) + 3;
    let mut tries = 1 << patience;
    while p <= last_start {
        let word = words.load64(p);
        let q = nearest::<true>(table.swap(hash4(word, BITS), p), p);
        let distance = p.wrapping_sub(q);
        if words.load32(q) != word as u32 {
            p += (tries >> patience) as usize;
            tries += 1;
            continue;
        }
        let len = 4 + words.common(p - distance + 4, p + 4, src.len() - 1);
        if distance >= FAR && len < 7 {
            p += 1;
            continue;
        }
        literals(&mut out, src, anchor, p).ok()?;
        emit(&mut out, distance, len).ok()?;
        p += len;
        anchor = p;
        tries = 1 << patience;
        table.swap(hash4(words.load64(p - 2), BITS), p - 2);
    }
    literals(&mut out, src, anchor, src.len()).ok()?;
    let len = out.position();
    let first = dst.first_mut()?;
    *first |= 0x20;
    Some(len)
}

/// Writes `src[from..to]` as literal runs.
#[inline(always)]
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
