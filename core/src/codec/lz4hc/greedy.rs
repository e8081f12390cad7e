//! Levels 1 and 2: two tables of last positions, by seven bytes and by four, and the first match found.
//!
//! ```text
//! at each position p, stepping further apart where nothing matches:
//!   the last position with the same seven bytes is the match; if there is none, the last one with the same four;
//!   a short one gives way to a longer one of seven at p + 1
//! ```

use crate::arch::lz::window::Window;
use crate::arch::search::hash::{hash4, hash7};
use crate::arch::search::words::Words;
use crate::codec::history::History;
use crate::codec::lz4::emit::{bare_match, sequence};
use crate::codec::lz4::{LAST_LITERALS, LAST_MATCH, REACH};
use crate::codec::matcher::{Table, nearest};

/// Cells of each table (docs/optimization-notes.md#lz4hc-greedy).
const CELLS: usize = 1 << 14;
const BITS: u32 = CELLS.trailing_zeros();
/// After `1 << PATIENCE` bytes without a match the search takes larger steps (docs/optimization-notes.md#lz4hc-greedy).
const PATIENCE: u32 = 9;
/// A match this long is taken without a look at the next position (docs/optimization-notes.md#lz4hc-greedy).
const SHORT: usize = 12;

/// Bytes of scratch for the tables.
pub(super) const WORK_LEN: usize = 2 * Table::<CELLS>::BYTES;

/// Both tables; `WRAP`: positions may be 65536 or more.
struct Tables<'a, const WRAP: bool, const DICT: bool> {
    history: &'a History<'a, DICT>,
    /// Bytes of which every word may begin a match.
    starts: Words<'a>,
    /// Bytes that may be in a match.
    ends: Words<'a>,
    sevens: Table<'a, CELLS>,
    fours: Table<'a, CELLS>,
}

impl<const WRAP: bool, const DICT: bool> Tables<'_, WRAP, DICT> {
    /// Enters a position where `word` lies.
    #[inline(always)]
    fn enter_seven(&mut self, position: usize, word: u64) {
        self.sevens.swap(hash7(word, BITS), position);
    }

    #[inline(always)]
    fn enter_four(&mut self, position: usize, word: u64) {
        self.fours.swap(hash4(word, BITS), position);
    }

    /// Where the entry `low` leads from offset `p`, where `word` lies, if the `N` low bits of both words are equal: the
    /// position, and in which bits the words differ.
    #[inline(always)]
    fn equal<const N: u32>(&self, low: u16, p: usize, word: u64) -> Option<(usize, u64)> {
        let reference = self.history.base() + p;
        let at = nearest::<WRAP>(low, reference);
        let differ = word ^ if DICT { self.history.word_at(at)? } else { self.starts.load64(at) };
        // Every entry is below `reference`: each was written on the way there.
        let is_near = !WRAP || reference.wrapping_sub(at) <= REACH;
        (differ << (64 - N) == 0 && is_near).then_some((at, differ))
    }

    /// The last position with the same seven bytes as offset `p`, where `word` lies, which replaces it: position and length.
    #[inline(always)]
    fn seven(&mut self, p: usize, word: u64, end: usize) -> Option<(usize, usize)> {
        let low = self.sevens.swap(hash7(word, BITS), self.history.base() + p);
        let (at, differ) = self.equal::<56>(low, p, word)?;
        // Lengths often repeat: a CPU that predicts this branch goes on without waiting for the bytes.
        if differ != 0 {
            return Some((at, 7));
        }
        if DICT {
            return Some((at, self.history.common_from(differ, at, p, end)));
        }
        Some((at, self.ends.end_of_common(at + 8, p + 8) - p))
    }

    /// Looks up four bytes.
    #[inline(always)]
    fn four(&mut self, p: usize, word: u64, end: usize) -> Option<(usize, usize)> {
        let low = self.fours.swap(hash4(word, BITS), self.history.base() + p);
        let (at, differ) = self.equal::<32>(low, p, word)?;
        Some((at, self.history.common_from(differ, at, p, end)))
    }

    /// The first match at or after offset `p`, where literals begin at `anchor`: its offset, its position and its length.
    #[inline(always)]
    fn next(&mut self, mut p: usize, anchor: usize, end: usize) -> Option<(usize, usize, usize)> {
        let (at, len) = loop {
            let word = self.starts.get64(p)?;
            if let Some(found) = self.seven(p, word, end) {
                self.enter_four(self.history.base() + p, word);
                break found;
            }
            if let Some(found) = self.four(p, word, end) {
                break found;
            }
            p += 1 + ((p - anchor) >> PATIENCE);
        };
        if len < SHORT
            && let Some(word) = self.starts.get64(p + 1)
            && let Some((other, more)) = self.seven(p + 1, word, end)
            && more > len
        {
            return Some((p + 1, other, more));
        }
        Some((p, at, len))
    }
}

/// Writes every sequence that has a match; returns where the last literals begin.
pub(super) fn sequences<const WRAP: bool, const DICT: bool>(
    src: &[u8],
    out: &mut Window<'_>,
    history: &History<'_, DICT>,
    work: &mut [u8],
) -> Option<usize> {
    let (sevens, work) = Table::new(work)?;
    let fours = Table::new(work)?.0;
    let match_end = src.len() - LAST_LITERALS;
    let starts = Words::new(src.get(..src.len() - LAST_MATCH + 8)?)?;
    let ends = Words::new(src.get(..match_end)?)?;
    let mut tables = Tables::<WRAP, DICT> { history, starts, ends, sevens, fours };
    let base = history.base();
    for position in 0..base {
        if let Some(word) = history.word_at(position) {
            tables.enter_seven(position, word);
            tables.enter_four(position, word);
        }
    }
    // The first position is in the tables, which are all zero.
    let (mut anchor, mut p) = (0, usize::from(!DICT));
    loop {
        let Some((found, at, len)) = tables.next(p, anchor, match_end) else { return Some(anchor) };
        p = found;
        let distance = base + p - at;
        let end = p + len;
        let mut start = p;
        if p == anchor {
            bare_match(out, distance, len).ok()?;
        } else {
            start -= if DICT {
                history.common_before(at, p, p - anchor)
            } else {
                starts.common_before(at, p, p - anchor)
            };
            sequence(out, src, anchor, start, distance, end - start).ok()?;
        }
        (anchor, p) = (end, end);
        for offset in [start + 2, end.saturating_sub(5)] {
            tables.enter_seven(base + offset, starts.load64(offset));
        }
        // Where these leave the words nothing is looked up any more.
        let tail = starts.load64(end - 3);
        for later in 0..3 {
            let offset = end - 3 + later;
            tables.enter_seven(base + offset, starts.load64(offset));
            tables.enter_four(base + offset, tail >> (8 * later));
        }
    }
}
