//! LZ4 encoder: one table of last positions, a step that grows where nothing matches.

use super::emit::{last_literals, sequence};
use super::{LAST_LITERALS, LAST_MATCH, REACH};
use crate::arch::copy::Window;
use crate::arch::out::Out;
use crate::codec::history::History;
use crate::codec::matcher::{Table, hash4, hash5, nearest};

const BITS: u32 = 13;
/// How much of a dictionary is used, and how far apart its positions are entered.
const DICTIONARY: usize = 32 << 10;
const DICTIONARY_STEP: usize = 3;

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
    if src.len() > i32::MAX as usize {
        return None;
    }
    let (mut table, _) = Table::<BITS>::new(work)?;
    let mut out = Window::new(Out::from(dst), &[]);
    let anchor = if src.len() <= LAST_MATCH {
        0
    } else if !dict.is_empty() {
        let dict = dict.get(dict.len().saturating_sub(DICTIONARY)..)?;
        let history = History::<true>::new(src, dict)?;
        for at in (0..dict.len()).step_by(DICTIONARY_STEP) {
            if let Some(word) = history.word_at(at) {
                table.swap(hash5(word, BITS), at);
            }
        }
        matches::<true, true>(src, &mut out, acceleration, &mut table, &history)?
    } else if src.len() <= 1 << 16 {
        matches::<false, false>(src, &mut out, acceleration, &mut table, &History::new(src, dict)?)?
    } else {
        matches::<true, false>(src, &mut out, acceleration, &mut table, &History::new(src, dict)?)?
    };
    last_literals(&mut out, src, anchor).ok()?;
    Some(out.position())
}

/// Writes every sequence that has a match; returns where the last literals begin.
fn matches<const FAR: bool, const DICT: bool>(
    src: &[u8],
    out: &mut Window<'_>,
    acceleration: u32,
    table: &mut Table<'_, BITS>,
    history: &History<'_, DICT>,
) -> Option<usize> {
    let base = history.base();
    // Blocks longer than the window hold more than a table of four-byte strings can tell apart.
    let hash = |word: u64| if FAR { hash5(word, BITS) } else { hash4(word, BITS) };
    let last_start = src.len() - LAST_MATCH;
    let match_end = src.len() - LAST_LITERALS;
    let patience = acceleration.max(1) << 6;
    let (mut anchor, mut p) = (0, if DICT { 0 } else { 1 });
    if !DICT {
        table.swap(hash(history.word(0)), 0);
    }
    // The position of a match at `p`, whose word is `word`.
    let mut find = |p: usize, word: u64| {
        let position = base + p;
        let at = nearest::<FAR>(table.swap(hash(word), position), position);
        let found =
            history.word_at(at)? as u32 == word as u32 && (!FAR || position.wrapping_sub(at) <= REACH);
        (found && at < position).then_some(at)
    };
    'next: while p <= last_start {
        let (mut step, mut tries) = (1, patience);
        let mut at;
        loop {
            if let Some(found) = find(p, history.word(p)) {
                at = found;
                break;
            }
            p += step;
            step = (tries >> 6) as usize;
            tries += 1;
            if p > last_start {
                break 'next;
            }
        }
        let back = history.common_before(at, p, p - anchor);
        let mut len = back + 4 + history.common(at + 4, p + 4, match_end);
        (at, p) = (at - back, p - back);
        loop {
            sequence(out, src, anchor, p, base + p - at, len).ok()?;
            p += len;
            anchor = p;
            if p > last_start {
                break 'next;
            }
            let _ = find(p - 2, history.word(p - 2));
            // The next match often begins at once.
            let Some(found) = find(p, history.word(p)) else { break };
            at = found;
            len = 4 + history.common(at + 4, p + 4, match_end);
        }
        p += 1;
    }
    Some(anchor)
}
