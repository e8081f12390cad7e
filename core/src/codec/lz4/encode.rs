//! LZ4 encoder: one table of last positions, a step that grows where nothing matches.

use super::emit::{last_literals, sequence};
use super::{LAST_LITERALS, LAST_MATCH, REACH};
use crate::arch::copy::Window;
use crate::arch::out::Out;
use crate::arch::words::Words;
use crate::codec::matcher::{Table, hash4, hash5, nearest};

const BITS: u32 = 13;

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
    let anchor = if src.len() <= LAST_MATCH {
        0
    } else if src.len() <= 1 << 16 {
        matches::<false>(src, &mut out, acceleration, &mut table)?
    } else {
        matches::<true>(src, &mut out, acceleration, &mut table)?
    };
    last_literals(&mut out, src, anchor).ok()?;
    Some(out.position())
}

/// Writes every sequence that has a match; returns where the last literals begin.
fn matches<const FAR: bool>(
    src: &[u8],
    out: &mut Window<'_>,
    acceleration: u32,
    table: &mut Table<'_, BITS>,
) -> Option<usize> {
    let words = Words::new(src)?;
    // Blocks longer than the window hold more than a table of four-byte strings can tell apart.
    let hash = |word: u64| if FAR { hash5(word, BITS) } else { hash4(word, BITS) };
    let last_start = src.len() - LAST_MATCH;
    let match_end = src.len() - LAST_LITERALS;
    let patience = acceleration.max(1) << 6;
    let (mut anchor, mut p) = (0, 1);
    table.swap(hash(words.load64(0)), 0);
    'next: while p <= last_start {
        let (mut step, mut tries) = (1, patience);
        let mut q;
        loop {
            let word = words.load64(p);
            q = nearest::<FAR>(table.swap(hash(word), p), p);
            if words.load32(q) == word as u32 && (!FAR || p - q <= REACH) {
                break;
            }
            p += step;
            step = (tries >> 6) as usize;
            tries += 1;
            if p > last_start {
                break 'next;
            }
        }
        let back = words.common_before(q, p, p - anchor);
        let mut len = back + 4 + words.common(q + 4, p + 4, match_end);
        (q, p) = (q - back, p - back);
        loop {
            sequence(out, src, anchor, p, p - q, len).ok()?;
            p += len;
            anchor = p;
            if p > last_start {
                break 'next;
            }
            table.swap(hash(words.load64(p - 2)), p - 2);
            // The next match often begins at once.
            let word = words.load64(p);
            q = nearest::<FAR>(table.swap(hash(word), p), p);
            if words.load32(q) != word as u32 || (FAR && p - q > REACH) {
                break;
            }
            len = 4 + words.common(q + 4, p + 4, match_end);
        }
        p += 1;
    }
    Some(anchor)
}
