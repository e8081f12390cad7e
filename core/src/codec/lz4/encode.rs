//! LZ4 encoder: one table of last positions, a step that grows where nothing matches.
//!
//! Blocks longer than the window have a table of positions of 32 bits, which tells at once what lies too far back.

use super::emit::{last_literals, sequence};
use super::{LAST_LITERALS, LAST_MATCH, REACH};
use crate::arch::copy::Window;
use crate::arch::out::Out;
use crate::arch::words::Words;
use crate::codec::dispatch::Used;
use crate::codec::history::History;
use crate::codec::matcher::{Positions, Table, WideTable, hash4, hash5};

/// Of the table for blocks up to 64 KiB.
const BITS: u32 = 13;
/// Of the table for longer ones, and for those with a dictionary.
const WIDE_BITS: u32 = 12;
/// How much of a dictionary is used, and how far apart its positions are entered.
const DICTIONARY: usize = 32 << 10;
const DICTIONARY_STEP: usize = 3;

/// Emptying the table for a shorter block takes longer than to tell earlier blocks' positions from its own.
const SHORT: usize = 2048;

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
    encode_next(src, dst, acceleration, dict, &mut Used::default(), work)
}

/// [`encode`] of one of several blocks. With the same `used` and untouched `work`, short ones need no empty table: their
/// positions begin where those of the block before end. The bytes are the same.
pub(crate) fn encode_next(
    src: &[u8],
    dst: &mut [u8],
    acceleration: u32,
    dict: &[u8],
    used: &mut Used,
    work: &mut [u8],
) -> Option<usize> {
    if src.len() > i32::MAX as usize {
        return None;
    }
    let before = core::mem::take(&mut used.0);
    let mut out = Window::new(Out::from(dst), &[]);
    let anchor = if src.len() <= LAST_MATCH {
        0
    } else if src.len() <= 1 << 16 && dict.is_empty() {
        let history = History::new(src, dict)?;
        if src.len() > SHORT {
            let mut table = Table::<BITS>::new(work)?.0;
            matches::<_, false, false, false>(src, &mut out, acceleration, &mut table, 0, &history)?
        } else {
            let is_kept = before > 0 && before + src.len() <= 1 << 16;
            let (mut table, shift) =
                if is_kept { (Table::<BITS>::kept(work)?, before) } else { (Table::<BITS>::new(work)?.0, 0) };
            used.0 = shift + src.len();
            matches::<_, false, false, true>(src, &mut out, acceleration, &mut table, shift, &history)?
        }
    } else {
        let mut table = WideTable::<WIDE_BITS>::new(work)?;
        if dict.is_empty() {
            let history = History::new(src, dict)?;
            matches::<_, true, false, false>(src, &mut out, acceleration, &mut table, 0, &history)?
        } else {
            let dict = dict.get(dict.len().saturating_sub(DICTIONARY)..)?;
            let history = History::<true>::new(src, dict)?;
            for at in (0..dict.len()).step_by(DICTIONARY_STEP) {
                if let Some(word) = history.word_at(at) {
                    table.swap(hash5(word, WIDE_BITS), at);
                }
            }
            matches::<_, true, true, false>(src, &mut out, acceleration, &mut table, 0, &history)?
        }
    };
    last_literals(&mut out, src, anchor).ok()?;
    Some(out.position())
}

/// Writes every sequence that has a match; returns where the last literals begin. `KEPT`: positions of this block begin
/// at `shift`, and the table may hold earlier ones.
fn matches<T: Positions, const FAR: bool, const DICT: bool, const KEPT: bool>(
    src: &[u8],
    out: &mut Window<'_>,
    acceleration: u32,
    table: &mut T,
    shift: usize,
    history: &History<'_, DICT>,
) -> Option<usize> {
    let shift = if KEPT { shift } else { 0 };
    // Blocks longer than the window hold more than a table of four-byte strings can tell apart.
    let hash = |word| if FAR { hash5(word, T::BITS) } else { hash4(word, T::BITS) };
    let base = history.base();
    // Of these every word may begin a match.
    let starts = Words::new(src.get(..src.len() - (LAST_MATCH - 8))?)?;
    let match_end = src.len() - LAST_LITERALS;
    let patience = acceleration.max(1) << 6;
    let (mut anchor, mut p) = (0, if DICT { 0 } else { 1 });
    if !DICT {
        table.swap(hash(starts.load64(0)), shift);
    }
    // The position of a match at `p`, whose word is `word`.
    let find = |table: &mut T, p: usize, word: u64| {
        let position = base + p;
        let at = table.swap(hash(word), position + shift).wrapping_sub(shift);
        if FAR && position.wrapping_sub(at) > REACH {
            return None;
        }
        // An entry of an earlier block lies nowhere. One of this block with these four bytes would have replaced it.
        let old = if DICT {
            history.word_at(at)?
        } else if KEPT {
            starts.get64(at)?
        } else {
            starts.load64(at)
        };
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
            table.swap(hash(starts.load64(p - 2)), base + p - 2 + shift);
            // The next match often begins at once.
            let Some(found) = find(table, p, word) else { break };
            at = found;
            len = 4 + history.common(at + 4, p + 4, match_end);
        }
        p += 1;
    }
    Some(anchor)
}

#[cfg(all(test, feature = "alloc"))]
mod tests {
    use super::*;
    use alloc::vec;

    #[test]
    fn blocks_after_each_other_are_the_same_bytes() {
        let (mut used, mut kept) = (Used::default(), vec![0xa5; work_len(0)]);
        let mut seed = 7u32;
        let mut next = |n: u32| {
            seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (seed >> 8) % n
        };
        // Most fit the table together many times; now and then a longer one empties it.
        for turn in 0..3000 {
            let len = if turn % 500 == 499 { 5000 } else { next(2100) as usize };
            let (kinds, words) = (1 + next(5), next(3));
            let block: vec::Vec<u8> = (0..len)
                .map(|i| if words > 0 && i % 16 > 4 { 0 } else { next(kinds) as u8 * (i % 7) as u8 })
                .collect();
            for acceleration in [1, 5, 9] {
                let (mut a, mut b) = (vec![0; len], vec![0; len]);
                let n = encode(&block, &mut a, acceleration, &[], &mut vec![0; work_len(len)]);
                let m = encode_next(&block, &mut b, acceleration, &[], &mut used, &mut kept);
                assert!(n == m && (n.is_none() || a == b), "block {turn} of {len} bytes, {acceleration}");
            }
        }
    }
}
