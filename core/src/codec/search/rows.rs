//! Rows of the last 16 positions with the same hash, in caller memory.
//!
//! ```text
//! row  16 bytes      the tags of its entries, newest first: eight more bits of the hash
//!      16 times u16  their positions modulo 65536
//!      16 bytes      unused: a row is a cache line
//! ```
//! All tags are compared at once: a search waits for one row and for what it finds, where a chain of positions waits for
//! each position before it knows the next. A new entry moves all others: what is stored where then depends on the hash
//! alone. Stores to a place that the row itself says hold up the loads of all later rows, in some runs of a program and not
//! in others: twice the time.

use super::{Best, Match, RUN_END, Search, is_run};
use crate::arch::search::hash::hash8;
use crate::arch::search::words::{equal16, push8, push16};
use crate::codec::history::History;

/// Positions in a row (docs/optimization-notes.md#search-rows).
const ENTRIES: usize = 16;
type Row = [u8; 64];

/// How many first and last positions are entered of a match longer than `LONG` whose distance is up to `SHORT`, all in bytes:
/// the others repeat the first, and each would cost a store to the same few rows (docs/optimization-notes.md#search-periods).
const TAIL: usize = 64;
const LONG: usize = 256;
const SHORT: usize = 64;
/// LZ4HC enters the last quarter of a match this long: the rest would crowd out positions that lead elsewhere, and what goes on
/// behind the match is found from that quarter (docs/optimization-notes.md#search-inside).
#[cfg(feature = "lz4")]
const INSIDE: usize = 16;
/// The farthest distance at which it does so, and the same in inputs longer than [`WINDOW`], of which what is far back soon is
/// out of reach (docs/optimization-notes.md#search-inside).
#[cfg(feature = "lz4")]
const FRESH: usize = 1 << 15;
#[cfg(feature = "lz4")]
const FRESH_IN_LONG: usize = 1 << 10;
const WINDOW: usize = 1 << 16;

/// The rows; no match lies farther back than `REACH`, which is below 65536.
pub(in crate::codec) struct Rows<'a, const DICT: bool, const REACH: usize> {
    history: History<'a, DICT>,
    rows: &'a mut [Row],
    /// Bits of a row number.
    bits: u32,
    /// Mask of the bytes of a word that are hashed.
    mask: u64,
    /// Positions below this are in the rows, or left out for good.
    entered: usize,
}

/// Bits of the number of a row for `len` bytes: there are one to two entries for each, up to the window's.
const fn bits(len: usize) -> u32 {
    let positions = usize::BITS - len.leading_zeros();
    let most = WINDOW.trailing_zeros();
    let positions = if positions > most { most } else { positions };
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
        Some(Rows { history, rows: rows.as_chunks_mut().0, bits, mask: low(4), entered: 0 })
    }

    /// Leaves out a long match, but for its first and last positions.
    #[inline(never)]
    fn leave_out_middle(&mut self, long: &Match) {
        let base = self.history.base();
        self.enter(base + long.start + TAIL);
        self.entered = self.entered.max(base + long.end() - TAIL);
    }

    /// Up to `steps` positions that may agree with what lies `later` bytes after offset `p`; `None` where there is none.
    #[inline(always)]
    fn candidates(&self, p: usize, later: usize, steps: u32) -> Option<Candidates<'_>> {
        let reference = self.history.base() + p + later;
        let (row, tag) = self.place(self.history.word(p + later));
        let (tags, positions) = self.rows.get(row)?.split_first_chunk::<ENTRIES>()?;
        let reach = REACH.min(reference - later);
        let positions = positions.first_chunk()?;
        let equal = equal16(tags, tag);
        (equal != 0).then_some(Candidates { equal, positions, reference: reference as u16, reach, steps })
    }

    /// The row and the tag of the low bytes of `word`.
    #[inline(always)]
    fn place(&self, word: u64) -> (usize, u8) {
        place(word & self.mask, self.bits)
    }
}

/// The row, out of `1 << bits`, and the tag of `word`.
#[inline(always)]
fn place(word: u64, bits: u32) -> (usize, u8) {
    let hash = hash8(word, bits + 8);
    (hash >> 8, hash as u8)
}

/// The entries of a row that are to be looked at.
struct Candidates<'r> {
    /// A bit for each entry with the right tag.
    equal: u32,
    positions: &'r [u8; 2 * ENTRIES],
    /// The position modulo 65536 from which distances count.
    reference: u16,
    reach: usize,
    /// How many more may be looked at.
    steps: u32,
}

impl Candidates<'_> {
    /// The distance of the next one within reach.
    #[inline(always)]
    fn next(&mut self) -> Option<usize> {
        while self.equal != 0 && self.steps > 0 {
            let entry = self.equal.trailing_zeros() as usize % ENTRIES;
            self.equal &= self.equal - 1;
            let position =
                self.positions.as_chunks().0.get(entry).map_or(0, |cell| u16::from_le_bytes(*cell));
            let distance = usize::from(self.reference.wrapping_sub(position));
            if distance.wrapping_sub(1) < self.reach {
                self.steps -= 1;
                return Some(distance);
            }
        }
        None
    }
}

/// The low `bytes` bytes of a word, at most 8. Few as they are, every bit of a hash depends on each of them: they stand low.
const fn low(bytes: usize) -> u64 {
    u64::MAX >> (64 - 8 * bytes)
}

/// Where the run that the position before `at` begins has its end, or `at`.
#[inline(never)]
fn after_run<const DICT: bool>(history: &History<'_, DICT>, at: usize) -> usize {
    let base = history.base();
    let Some(p) = at.checked_sub(base) else { return at };
    at + history.common(at - 1, p, history.end() - base).saturating_sub(RUN_END)
}

/// Tags, and positions.
#[inline(always)]
fn parts(row: &mut Row) -> Option<(&mut [u8; ENTRIES], &mut [u8; 2 * ENTRIES])> {
    let (tags, rest) = row.split_first_chunk_mut()?;
    Some((tags, rest.first_chunk_mut()?))
}

impl<'a, const DICT: bool, const REACH: usize> Search<'a, DICT> for Rows<'a, DICT, REACH> {
    #[inline(always)]
    fn history(&self) -> &History<'a, DICT> {
        &self.history
    }

    #[inline(always)]
    fn enter(&mut self, position: usize) {
        // In registers: for all that is known, what is stored in a row might change `self`.
        let (history, mask, bits, mut at) = (self.history, self.mask, self.bits, self.entered);
        let rows = &mut *self.rows;
        while at < position {
            let word = history.word_at(at).unwrap_or(0);
            let (row, tag) = place(word & mask, bits);
            if let Some((tags, positions)) = rows.get_mut(row).and_then(parts) {
                push8(tags, tag);
                push16(positions, at as u16);
            }
            at += 1;
            if is_run(word) {
                at = after_run(&self.history, at);
            }
        }
        self.entered = at;
    }

    /// Nothing: a search finds its row by what it looks for.
    #[inline(always)]
    fn enter_ahead(&mut self, _: usize) {}

    #[inline(always)]
    fn offer_here<const WIDER: bool>(&self, best: &mut Best, end: usize, steps: u32) {
        let Some(mut candidates) = self.candidates(best.p, 0, steps) else { return };
        let history = &self.history;
        if WIDER {
            if let Some(around) = best.around(history, end) {
                while let Some(distance) = candidates.next()
                    && best.offer_across(history, &around, distance, end)
                {}
                return;
            }
        } else if let Some(ahead) = history.ahead(best.p, end) {
            while let Some(distance) = candidates.next()
                && best.offer_ahead(history, &ahead, distance, end)
            {}
            return;
        }
        best.aim(history);
        while let Some(distance) = candidates.next()
            && best.offer::<WIDER, DICT>(history, distance, end)
        {}
    }

    #[inline(always)]
    fn offer_to(&self, best: &mut Best, later: usize, end: usize, steps: u32) {
        let Some(mut candidates) = self.candidates(best.p, later, steps) else { return };
        while let Some(distance) = candidates.next()
            && best.offer::<true, DICT>(&self.history, distance, end)
        {}
    }

    #[cfg(feature = "zlib")]
    #[inline(always)]
    fn look_for(&mut self, bytes: usize) {
        self.mask = low(bytes.clamp(4, 8));
    }

    #[cfg(feature = "zlib")]
    #[inline(always)]
    fn leave_out(&mut self, found: &Match) {
        if found.len > LONG && found.distance <= SHORT {
            self.leave_out_middle(found);
        }
    }

    #[cfg(feature = "lz4")]
    #[inline(always)]
    fn leave_out_inside(&mut self, found: &Match) {
        let fresh = if self.history.end() > WINDOW { FRESH_IN_LONG } else { FRESH };
        if found.len < INSIDE || found.distance > fresh {
            return;
        }
        if found.len <= LONG {
            self.entered = self.entered.max(self.history.base() + found.end() - found.len / 4);
        } else if found.distance <= SHORT || found.distance >= found.len {
            self.leave_out_middle(found);
        }
    }
}

#[cfg(all(test, feature = "lz4"))]
#[allow(clippy::indexing_slicing, clippy::arithmetic_side_effects)]
mod tests {
    use super::*;
    use alloc::{vec, vec::Vec};

    /// What the rows of these tests reach.
    const FAR: usize = 65535;

    impl Rows<'_, false, FAR> {
        fn holds(&mut self, position: usize) -> bool {
            let (row, tag) = self.place(self.history.word(position));
            let (tags, positions) = parts(&mut self.rows[row]).unwrap();
            let cells = positions.as_chunks::<2>().0;
            tags.iter().zip(cells).any(|(t, cell)| *t == tag && u16::from_le_bytes(*cell) == position as u16)
        }
    }

    /// Which bytes of `found` are in the rows once all positions up to its end are entered or left out.
    fn entered(src: &[u8], found: Match) -> Vec<usize> {
        let mut work = vec![0; work_len(src.len(), 0)];
        let history = History::<false>::new(src, &[]).unwrap();
        let mut rows = Rows::<false, FAR>::new(history, &mut work).unwrap();
        rows.enter(found.start);
        rows.leave_out_inside(&found);
        rows.enter(found.end());
        (0..found.len).filter(|later| rows.holds(found.start + later)).collect()
    }

    /// `len` bytes in which no four are met twice, after as many in which they are met first.
    fn twice(len: usize) -> Vec<u8> {
        let once = (0..len as u32).flat_map(|i| i.wrapping_mul(2_654_435_761).to_le_bytes()).take(len);
        let mut src: Vec<u8> = once.collect();
        src.extend_from_within(..);
        src.extend([0; 16]);
        src
    }

    #[test]
    fn of_what_matches_only_the_end_is_entered() {
        let found = |len| Match { start: 1024, distance: 1024, len };
        let src = twice(1024);
        assert_eq!(entered(&src, found(INSIDE - 1)), (0..INSIDE - 1).collect::<Vec<_>>(), "short ones whole");
        for len in [INSIDE, INSIDE + 3, 100, LONG] {
            assert_eq!(entered(&src, found(len)), (len - len / 4..len).collect::<Vec<_>>(), "{len}");
        }
        let both = |len: usize| (0..TAIL).chain(len - TAIL..len).collect::<Vec<_>>();
        for len in [LONG + 1, 1000] {
            assert_eq!(entered(&src, found(len)), both(len), "{len}");
        }
    }

    #[test]
    fn what_matches_far_back_is_entered() {
        for (src, fresh) in [(twice(FRESH - 100), FRESH), (twice(FRESH), FRESH_IN_LONG)] {
            let found = |distance| Match { start: src.len() - 216, distance, len: 100 };
            assert_eq!(entered(&src, found(fresh)), (75..100).collect::<Vec<_>>(), "{fresh}");
            assert_eq!(entered(&src, found(fresh + 1)), (0..100).collect::<Vec<_>>(), "{fresh}");
        }
    }

    /// Long matches that overlap: what repeats itself at a short distance is left out, at a long one it is not.
    #[test]
    fn of_what_overlaps_only_short_periods_are_left_out() {
        let period = |distance: usize| -> Vec<u8> {
            let once = twice(distance);
            once[..distance].iter().copied().cycle().take(distance + LONG + 200).collect()
        };
        let found = |distance| Match { start: distance, distance, len: LONG + 100 };
        let left = entered(&period(SHORT), found(SHORT));
        assert!(!left.contains(&TAIL) && left.contains(&(LONG + 99)), "{left:?}");
        // The first periods have left all but the last sixteen entries of a row.
        let whole = entered(&period(SHORT + 1), found(SHORT + 1));
        assert!((2 * TAIL..LONG + 100).all(|later| whole.contains(&later)), "{whole:?}");
    }
}
