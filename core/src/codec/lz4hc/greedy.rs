//! Levels 1 and 2: two tables of last positions, by seven bytes and by four, and the first match found.
//!
//! ```text
//! at each position p, stepping further apart where nothing matches:
//!   the last position with the same seven bytes is the match; if there is none, or it is short, the last one with
//!   the same four where that is longer; a short one gives way to a longer one of seven at p + 1
//! ```

use crate::arch::copy::Window;
use crate::codec::history::History;
use crate::codec::lz4::emit::sequence;
use crate::codec::lz4::{LAST_LITERALS, LAST_MATCH, REACH};
use crate::codec::matcher::{Table, hash4, hash7, nearest};

/// Of each table.
const CELLS: usize = 1 << 14;
const BITS: u32 = CELLS.trailing_zeros();
/// After `1 << PATIENCE` bytes without a match the search takes larger steps.
const PATIENCE: u32 = 9;

/// A match this long is taken without a look at the next position.
const SHORT: usize = 12;

/// Bytes of scratch for the tables.
pub(super) const WORK_LEN: usize = 2 * Table::<CELLS>::BYTES;

/// Both tables; `WRAP`: positions may be 65536 or more.
struct Tables<'a, const WRAP: bool, const DICT: bool> {
    history: &'a History<'a, DICT>,
    sevens: Table<'a, CELLS>,
    fours: Table<'a, CELLS>,
}

impl<const WRAP: bool, const DICT: bool> Tables<'_, WRAP, DICT> {
    #[inline(always)]
    fn enter_seven(&mut self, position: usize) {
        if let Some(word) = self.history.word_at(position) {
            self.sevens.swap(hash7(word, BITS), position);
        }
    }

    #[inline(always)]
    fn enter_four(&mut self, position: usize) {
        if let Some(word) = self.history.word_at(position) {
            self.fours.swap(hash4(word, BITS), position);
        }
    }

    /// What `low` may stand for before offset `p`: the position, if it is within reach, and how far back it is.
    #[inline(always)]
    fn within(&self, low: u16, p: usize) -> Option<(usize, usize)> {
        let reference = self.history.base() + p;
        let at = nearest::<WRAP>(low, reference);
        let distance = reference.wrapping_sub(at);
        (at < reference && distance <= REACH).then_some((at, distance))
    }

    /// The last position with the same seven bytes as offset `p`, which replaces it: distance and length.
    #[inline(always)]
    fn seven(&mut self, p: usize, end: usize) -> Option<(usize, usize)> {
        let word = self.history.word(p);
        let low = self.sevens.swap(hash7(word, BITS), self.history.base() + p);
        let (at, distance) = self.within(low, p)?;
        let differ = self.history.word_at(at)? ^ word;
        (differ << 8 == 0).then(|| (distance, self.history.common_from(differ, at, p, end)))
    }

    /// The same with four.
    #[inline(always)]
    fn four(&mut self, p: usize, end: usize) -> Option<(usize, usize)> {
        let word = self.history.word(p);
        let low = self.fours.swap(hash4(word, BITS), self.history.base() + p);
        let (at, distance) = self.within(low, p)?;
        let differ = self.history.word_at(at)? ^ word;
        (differ as u32 == 0).then(|| (distance, self.history.common_from(differ, at, p, end)))
    }
}

/// The longer of two matches, given as distance and length; the first if they are equal.
#[inline(always)]
fn longer(first: Option<(usize, usize)>, second: Option<(usize, usize)>) -> Option<(usize, usize)> {
    match (first, second) {
        (Some((_, len)), Some((_, more))) if more > len => second,
        (None, _) => second,
        _ => first,
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
    let mut tables = Tables::<WRAP, DICT> { history, sevens, fours };
    let base = history.base();
    for position in 0..base {
        tables.enter_seven(position);
        tables.enter_four(position);
    }
    let last_start = src.len() - LAST_MATCH;
    let match_end = src.len() - LAST_LITERALS;
    let (mut anchor, mut p) = (0, 0);
    while p <= last_start {
        let mut found = tables.seven(p, match_end);
        if found.is_some_and(|(_, len)| len >= SHORT) {
            tables.enter_four(base + p);
        } else {
            found = longer(found, tables.four(p, match_end));
        }
        if found.is_some_and(|(_, len)| len < SHORT) && p < last_start {
            let later = longer(found, tables.seven(p + 1, match_end));
            if later != found {
                (found, p) = (later, p + 1);
            }
        }
        let Some((distance, len)) = found.filter(|(_, len)| *len >= 4) else {
            p += 1 + ((p - anchor) >> PATIENCE);
            continue;
        };
        let behind = history.common_before(base + p - distance, p, p - anchor);
        let (start, end) = (p - behind, p + len);
        sequence(out, src, anchor, start, distance, end - start).ok()?;
        (anchor, p) = (end, end);
        tables.enter_seven(base + start + 2);
        tables.enter_seven(base + end.saturating_sub(5));
        for position in [end - 3, end - 2, end - 1] {
            tables.enter_seven(base + position);
            tables.enter_four(base + position);
        }
    }
    Some(anchor)
}
