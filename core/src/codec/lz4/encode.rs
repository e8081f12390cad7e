//! LZ4 encoder: one table of last positions, a step that grows where nothing matches.
//!
//! Blocks longer than the window have a table of positions of 32 bits, which tells at once what lies too far back.

use super::emit::{last_literals, sequence};
use super::{LAST_LITERALS, LAST_MATCH, REACH};
use crate::arch::copy::Window;
use crate::arch::out::Out;
use crate::arch::words::Words;
use crate::codec::history::History;
use crate::codec::matcher::{Positions, Table, WideTable, hash4, hash5};

/// Of the table for blocks up to 64 KiB.
const BITS: u32 = 13;
/// Of the table for longer ones, and for those with a dictionary.
const WIDE_BITS: u32 = 12;
/// How much of a dictionary is used, and how far apart its positions are entered.
const DICTIONARY: usize = 32 << 10;
const DICTIONARY_STEP: usize = 3;

/// Bytes of scratch that [`encode`] needs for a block of `src_len` bytes.
pub const fn work_len(_src_len: usize) -> usize {
    WideTable::<WIDE_BITS>::BYTES
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
    let mut out = Window::new(Out::from(dst), &[]);
    let anchor = if src.len() <= LAST_MATCH {
        0
    } else if src.len() <= 1 << 16 && dict.is_empty() {
        let mut table = Table::<BITS>::new(work)?.0;
        matches::<_, false, false>(src, &mut out, acceleration, &mut table, &History::new(src, dict)?)?
    } else {
        let mut table = WideTable::<WIDE_BITS>::new(work)?;
        if dict.is_empty() {
            matches::<_, true, false>(src, &mut out, acceleration, &mut table, &History::new(src, dict)?)?
        } else {
            let dict = dict.get(dict.len().saturating_sub(DICTIONARY)..)?;
            let history = History::<true>::new(src, dict)?;
            for at in (0..dict.len()).step_by(DICTIONARY_STEP) {
                if let Some(word) = history.word_at(at) {
                    table.swap(hash5(word, WIDE_BITS), at);
                }
            }
            matches::<_, true, true>(src, &mut out, acceleration, &mut table, &history)?
        }
    };
    last_literals(&mut out, src, anchor).ok()?;
    Some(out.position())
}

/// Writes every sequence that has a match; returns where the last literals begin.
fn matches<T: Positions, const FAR: bool, const DICT: bool>(
    src: &[u8],
    out: &mut Window<'_>,
    acceleration: u32,
    table: &mut T,
    history: &History<'_, DICT>,
) -> Option<usize> {
    // Blocks longer than the window hold more than a table of four-byte strings can tell apart.
    let hash = |word| if FAR { hash5(word, T::BITS) } else { hash4(word, T::BITS) };
    let base = history.base();
    // Of these every word may begin a match.
    let starts = Words::new(src.get(..src.len() - (LAST_MATCH - 8))?)?;
    let match_end = src.len() - LAST_LITERALS;
    let patience = acceleration.max(1) << 6;
    let (mut anchor, mut p) = (0, if DICT { 0 } else { 1 });
    if !DICT {
        table.swap(hash(starts.load64(0)), 0);
    }
    // The position of a match at `p`, whose word is `word`.
    let find = |table: &mut T, p: usize, word: u64| {
        let position = base + p;
        let at = table.swap(hash(word), position);
        if FAR && position.wrapping_sub(at) > REACH {
            return None;
        }
        let old = if DICT { history.word_at(at)? } else { starts.load64(at) };
        // Without a dictionary every entry is below `position`: each was written on the way there.
        (old as u32 == word as u32 && (!DICT || at < position)).then_some(at)
    };
    'all: loop {
        let (mut step, mut tries) = (1, patience);
        let mut at = loop {
            let Some(word) = starts.get64(p) else { break 'all };
            if let Some(found) = find(table, p, word) {
                break found;
            }
            p += step;
            step = (tries >> 6) as usize;
            tries += 1;
        };
        let back = history.common_before(at, p, p - anchor);
        let mut len = back + 4 + history.common(at + 4, p + 4, match_end);
        (at, p) = (at - back, p - back);
        loop {
            sequence(out, src, anchor, p, base + p - at, len).ok()?;
            p += len;
            anchor = p;
            let Some(word) = starts.get64(p) else { break 'all };
            table.swap(hash(starts.load64(p - 2)), base + p - 2);
            // The next match often begins at once.
            let Some(found) = find(table, p, word) else { break };
            at = found;
            len = 4 + history.common(at + 4, p + 4, match_end);
        }
        p += 1;
    }
    Some(anchor)
}
