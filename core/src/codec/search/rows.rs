//! Rows of the last 16 positions with the same hash, in caller memory.
//!
//! ```text
//! row  1 byte        where its newest entry is; older ones follow, round the end
//!      15 bytes      unused: a row is a cache line
//!      16 bytes      the tags of its entries: eight more bits of the hash
//!      16 times u16  their positions modulo 65536
//! ```
//! All tags are compared at once: a search waits for one row and for what it finds, where a chain of positions waits for
//! each position before it knows the next.

use super::{Best, Match, RUN_END, Search, is_run};
use crate::arch::words::equal16;
use crate::codec::history::History;
use crate::codec::matcher::hash_shifted;

const ENTRIES: usize = 16;
/// Where in a row the tags and the positions begin.
const TAGS: usize = 16;
const POSITIONS: usize = 32;
type Row = [u8; 64];

/// Of matches longer than `LONG` with a distance up to `SHORT`, only this many last positions are entered.
const TAIL: usize = 64;
const LONG: usize = 256;
const SHORT: usize = 64;

/// The rows; no match lies farther back than `REACH`, which is below 65536.
pub(in crate::codec) struct Rows<'a, const DICT: bool, const REACH: usize> {
    history: History<'a, DICT>,
    rows: &'a mut [Row],
    /// Of the number of a row.
    bits: u32,
    /// Leaves those bytes of a word that are hashed.
    shift: u32,
    /// Positions below this are in the rows, or left out for good.
    entered: usize,
}

/// Bits of the number of a row for `len` bytes: there are one to two entries for each, up to the window's.
const fn bits(len: usize) -> u32 {
    let positions = usize::BITS - len.leading_zeros();
    let positions = if positions > 16 { 16 } else { positions };
    positions.saturating_sub(ENTRIES.trailing_zeros())
}

/// Bytes of scratch for `src_len` bytes and `dict_len` before them.
pub(in crate::codec) const fn work_len(src_len: usize, dict_len: usize) -> usize {
    // The first row begins a cache line.
    (size_of::<Row>() << bits(src_len.saturating_add(dict_len))) + size_of::<Row>()
}

impl<'a, const DICT: bool, const REACH: usize> Rows<'a, DICT, REACH> {
    /// Empty rows.
    pub(in crate::codec) fn new(history: History<'a, DICT>, work: &'a mut [u8]) -> Option<Self> {
        let bits = bits(history.end());
        let skip = work.as_ptr().align_offset(size_of::<Row>()).min(work.len());
        let rows = work.get_mut(skip..)?.get_mut(..size_of::<Row>() << bits)?;
        rows.fill(0);
        Some(Rows { history, rows: rows.as_chunks_mut().0, bits, shift: 32, entered: 0 })
    }

    /// The row and the tag of the low four bytes of `word`.
    #[inline(always)]
    fn place(&self, word: u64) -> (usize, u8) {
        let hash = hash_shifted(word << (self.shift & 63), self.bits + 8);
        (hash >> 8, hash as u8)
    }

    /// Leaves out the run that the last position entered begins, up to its end.
    #[inline(never)]
    fn skip_run(&mut self) {
        let (at, base) = (self.entered, self.history.base());
        if let Some(p) = at.checked_sub(base) {
            let equal = self.history.common(at - 1, p, self.history.end() - base);
            self.entered = at + equal.saturating_sub(RUN_END);
        }
    }
}

/// Where the newest entry of a row is.
#[inline(always)]
fn newest(row: &Row) -> usize {
    usize::from(row.first().copied().unwrap_or(0)) % ENTRIES
}

/// Makes `position` the newest entry of `row`.
#[inline(always)]
fn push(row: &mut Row, tag: u8, position: usize) {
    let slot = newest(row).wrapping_sub(1) % ENTRIES;
    if let Some(newest) = row.first_mut() {
        *newest = slot as u8;
    }
    if let Some(cell) = row.get_mut(TAGS + slot) {
        *cell = tag;
    }
    if let Some(cell) = row.get_mut(POSITIONS + 2 * slot..).and_then(|row| row.first_chunk_mut()) {
        *cell = (position as u16).to_le_bytes();
    }
}

impl<'a, const DICT: bool, const REACH: usize> Search<'a, DICT> for Rows<'a, DICT, REACH> {
    #[inline(always)]
    fn history(&self) -> &History<'a, DICT> {
        &self.history
    }

    #[inline(always)]
    fn enter(&mut self, position: usize) {
        while self.entered < position {
            let word = self.history.word_at(self.entered).unwrap_or(0);
            let (row, tag) = self.place(word);
            if let Some(row) = self.rows.get_mut(row) {
                push(row, tag, self.entered);
            }
            self.entered += 1;
            if is_run(word) {
                self.skip_run();
            }
        }
    }

    /// Nothing: a search finds its row by what it looks for.
    #[inline(always)]
    fn enter_ahead(&mut self, _: usize) {}

    #[inline(always)]
    fn offer_to<const WIDER: bool>(&self, best: &mut Best, later: usize, end: usize, mut steps: u32) {
        let reference = self.history.base() + best.p + later;
        let reach = REACH.min(reference - later);
        let (row, tag) = self.place(self.history.word(best.p + later));
        let Some(row) = self.rows.get(row) else { return };
        let (newest, tags) = (newest(row), row.get(TAGS..).and_then(|row| row.first_chunk()));
        let equal = tags.map_or(0, |tags| equal16(tags, tag));
        // The lowest bit stands for the newest entry, the next for the one before.
        let mut equal = (equal | equal << ENTRIES) >> newest & 0xffff;
        while equal != 0 && steps > 0 {
            let slot = (newest + equal.trailing_zeros() as usize) % ENTRIES;
            equal &= equal - 1;
            let position = row.get(POSITIONS + 2 * slot..).and_then(|row| row.first_chunk());
            let position = position.map_or(0, |cell| u16::from_le_bytes(*cell));
            let distance = usize::from((reference as u16).wrapping_sub(position));
            if distance.wrapping_sub(1) >= reach {
                continue;
            }
            if !best.offer::<WIDER, DICT>(&self.history, distance, end) {
                return;
            }
            steps -= 1;
        }
    }

    #[cfg(feature = "zlib")]
    #[inline(always)]
    fn look_for(&mut self, bytes: usize) {
        self.shift = 64 - 8 * bytes.clamp(4, 8) as u32;
    }

    fn leave_out(&mut self, taken: Match) {
        if taken.len > LONG && taken.distance <= SHORT {
            let base = self.history.base();
            self.enter(base + taken.start + TAIL);
            self.entered = self.entered.max(base + taken.end() - TAIL);
        }
    }
}
