//! LZ4 encoder: one table of last positions, a step that grows where nothing matches.

use crate::arch::copy::Window;
use crate::arch::out::Out;
use crate::codec::CodecErrorKind;
use crate::codec::matcher::{Table, common, hash4, load32};

const BITS: u32 = 12;
/// A block ends with this many literals.
pub(crate) const LAST_LITERALS: usize = 5;
/// No match starts within this many bytes of the end.
pub(crate) const LAST_MATCH: usize = 12;
/// The farthest distance.
pub(crate) const REACH: usize = 65535;

/// Bytes of scratch that [`encode`] needs for a block of `src_len` bytes.
pub const fn work_len(_src_len: usize) -> usize {
    Table::<BITS>::BYTES
}

/// Compresses `src` into one LZ4 block at the start of `dst` and returns its length.
///
/// `acceleration` is at least 1; larger is faster and bigger (Blosc: 10 - level). The decoder must be
/// given the same `dict`. `None` where the block does not fit `dst`, or `work` is shorter than
/// [`work_len`] or `src` longer than 2 GiB.
pub fn encode(src: &[u8], dst: &mut [u8], acceleration: u32, dict: &[u8], work: &mut [u8]) -> Option<usize> {
    let _ = dict;
    if src.len() > i32::MAX as usize {
        return None;
    }
    let (mut table, _) = Table::<BITS>::new(work)?;
    let mut out = Window::new(Out::from(dst), &[]);
    let mut anchor = 0;
    if src.len() > LAST_MATCH {
        let last_start = src.len() - LAST_MATCH;
        let match_end = src.len() - LAST_LITERALS;
        let mut p = 1;
        let mut tries = acceleration.max(1) << 6;
        while p < last_start {
            let word = load32(src, p);
            let q = table.swap(hash4(word, BITS), p as u32) as usize;
            if p - q > REACH || load32(src, q) != word {
                p += (tries >> 6) as usize;
                tries += 1;
                continue;
            }
            let back = backward(src, anchor, q, p);
            let (start, from) = (p - back, q - back);
            let len = back + 4 + common(src, q + 4, p + 4, match_end);
            sequence(&mut out, src, anchor, start, start - from, len).ok()?;
            p = start + len;
            anchor = p;
            table.swap(hash4(load32(src, p - 2), BITS), (p - 2) as u32);
            tries = acceleration.max(1) << 6;
        }
    }
    last_literals(&mut out, src, anchor).ok()?;
    Some(out.position())
}

/// How many bytes before `q` and `p` are equal, going back no further than `anchor`.
#[inline(always)]
pub(crate) fn backward(src: &[u8], anchor: usize, q: usize, p: usize) -> usize {
    let limit = q.min(p - anchor);
    let mut n = 0;
    while n < limit && src.get(q - n - 1) == src.get(p - n - 1) {
        n += 1;
    }
    n
}

/// Writes the literals `src[anchor..start]` and a match.
#[inline(always)]
pub(crate) fn sequence(
    out: &mut Window<'_>,
    src: &[u8],
    anchor: usize,
    start: usize,
    distance: usize,
    len: usize,
) -> Result<(), CodecErrorKind> {
    let literals = start - anchor;
    let more = len - 4;
    out.push(((literals.min(15) << 4) | more.min(15)) as u8)?;
    if literals >= 15 {
        extend(out, literals - 15)?;
    }
    out.literals(src, anchor, literals)?;
    out.push_low(distance as u32, 2)?;
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

#[inline]
fn extend(out: &mut Window<'_>, rest: usize) -> Result<(), CodecErrorKind> {
    out.fill(255, rest / 255)?;
    out.push((rest % 255) as u8)
}
