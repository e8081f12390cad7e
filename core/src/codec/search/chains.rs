//! Chains of all positions with the same hash, in caller memory.
//!
//! ```text
//! head[hash of four bytes]  u32: one more than the latest position with this hash
//! back[p mod 65536]         u16: how far before p the position before it with the same hash lies
//! ```
//! Positions are entered 512 ahead of the search, which keeps that loop small: a search begins with
//! `back[p]`, and needs no head.

use super::{Best, Match, RUN_END, Search, is_run};
use crate::arch::search::hash::hash4;
use crate::codec::history::History;

/// Bits of a hash of the largest table of heads (docs/optimization-notes.md#search-heads).
const MOST_BITS: u32 = 15;
/// Positions that are entered ahead of a search (docs/optimization-notes.md#search-ahead).
const AHEAD: usize = 512;
/// Positions between two looks at whether the input repeats itself, and the longest period that is seen
/// (docs/optimization-notes.md#search-repeats).
const PIECE: usize = 64;
/// Searches of this many steps choose between the chains of a match's bytes: in shorter ones the choice takes as long as it
/// saves (docs/optimization-notes.md#search-widest-step).
const MANY: u32 = 64;
/// Bytes, the last ones of a match, whose chains are compared (docs/optimization-notes.md#search-widest-step).
const COMPARED: usize = 64;
/// Farther than any match: what ends a chain.
const NOWHERE: u16 = u16::MAX;

pub(in crate::codec) struct Chains<'a, const DICT: bool> {
    history: History<'a, DICT>,
    head: &'a mut [[u8; 4]],
    /// Bits of the hashes.
    bits: u32,
    back: &'a mut [[u8; 2]],
    /// Positions below this are in the tables, or left out for good.
    entered: usize,
    /// The farthest distance. Links of the positions that far back may be those of positions that were entered since: where
    /// they lead is compared like any other place.
    reach: usize,
}

/// Bits of the hashes for `len` bytes.
const fn bits(len: usize) -> u32 {
    let enough = usize::BITS - len.leading_zeros() + 1;
    if enough < 8 {
        8
    } else if enough > MOST_BITS {
        MOST_BITS
    } else {
        enough
    }
}

/// Bytes of scratch for `src_len` bytes and `dict_len` before them.
pub(in crate::codec) const fn work_len(src_len: usize, dict_len: usize) -> usize {
    let len = src_len.saturating_add(dict_len);
    (4 << bits(len)) + 2 * window(len)
}

/// Positions that are told apart, at most.
const WINDOW: usize = 1 << 16;

/// Positions that are told apart.
const fn window(len: usize) -> usize {
    if len > WINDOW { WINDOW } else { len }
}

impl<'a, const DICT: bool> Chains<'a, DICT> {
    /// Empty chains. No match lies farther back than `reach`, which is below 65536.
    pub(in crate::codec) fn new(
        history: History<'a, DICT>,
        reach: usize,
        work: &'a mut [u8],
    ) -> Option<Self> {
        let bits = bits(history.end());
        let (head, back) = work.split_at_mut_checked(4 << bits)?;
        head.fill(0);
        let back = back.get_mut(..2 * window(history.end()))?;
        let (head, back) = (head.as_chunks_mut().0, back.as_chunks_mut().0);
        Some(Chains { history, head, bits, back, entered: 0, reach })
    }

    /// Enters every position below `end`, but for the insides of runs and of what repeats itself for long.
    #[inline(never)]
    fn enter_below(&mut self, end: usize) {
        let mut at = self.entered;
        while at < end {
            at = self.skip_period(at);
            let piece = (at + PIECE).min(end);
            let run;
            (at, run) = self.enter_piece(at, piece);
            if run {
                at = self.skip(at, 1, RUN_END);
            }
        }
        self.entered = at;
    }

    /// Enters positions from `at` up to `end`, or up to one that begins a run: where they end, and whether a run begins.
    #[inline(always)]
    fn enter_piece(&mut self, mut at: usize, end: usize) -> (usize, bool) {
        // In registers: for all that is known, what is stored in the tables might change `self`.
        let (history, bits) = (self.history, self.bits);
        let (head, back) = (&mut *self.head, &mut *self.back);
        while at < end {
            let word = history.word_at(at).unwrap_or(0);
            if let Some(head) = head.get_mut(hash4(word, bits))
                && let Some(link) = back.get_mut(at % WINDOW)
            {
                let before = u32::from_le_bytes(core::mem::replace(head, (at as u32 + 1).to_le_bytes()));
                let distance = (at as u32 + 1).wrapping_sub(before);
                *link = (distance.min(u32::from(NOWHERE)) as u16).to_le_bytes();
            }
            at += 1;
            if is_run(word) {
                return (at, true);
            }
        }
        (at, false)
    }

    /// After many positions with the same short distance, the end of what repeats itself.
    #[inline(always)]
    fn skip_period(&mut self, at: usize) -> usize {
        let Some(before) = at.checked_sub(PIECE) else { return at };
        let distance = self.step(at - 1);
        if distance <= PIECE && distance == self.step(before) && distance == self.step(before + PIECE / 2) {
            return self.skip(at, distance, PIECE);
        }
        at
    }

    /// Leaves out what repeats the `distance` bytes before `at`, but for the last `keep`: each position is linked to what
    /// it repeats, and no chain leads there.
    #[inline(never)]
    fn skip(&mut self, at: usize, distance: usize, keep: usize) -> usize {
        let base = self.history.base();
        let Some(p) = at.checked_sub(base) else { return at };
        let equal = self.history.common(at - distance, p, self.history.end() - base);
        let end = at + equal.saturating_sub(keep);
        for position in at..end {
            self.link(position, distance as u16);
        }
        end
    }

    #[inline(always)]
    fn link(&mut self, position: usize, distance: u16) {
        if let Some(cell) = self.back.get_mut(position % WINDOW) {
            *cell = distance.to_le_bytes();
        }
    }

    /// How far before `position` the next one of its chain lies.
    #[inline(always)]
    fn step(&self, position: usize) -> usize {
        usize::from(self.back.get(position % WINDOW).map_or(NOWHERE, |cell| u16::from_le_bytes(*cell)))
    }

    /// Which of the last [`COMPARED`] of `len` bytes from `position` on has the widest step before it: a longer match is on
    /// all of their chains, and there fewer positions come before it.
    #[inline(never)]
    fn widest_step(&self, position: usize, len: usize) -> usize {
        let last = len.min(self.entered - position).saturating_sub(3);
        let (mut chosen, mut widest) = (0, self.step(position));
        for later in last.saturating_sub(COMPARED).max(1)..last {
            let step = self.step(position + later);
            if step > widest {
                (chosen, widest) = (later, step);
            }
        }
        chosen
    }

    /// Offers up to `steps` positions of the chain of the byte `later` bytes after the offset of `best`, which is aimed.
    /// Among many steps those of matches that begin at the offset are on the chain that promises most.
    #[inline(always)]
    fn follow<const WIDER: bool>(&self, best: &mut Best, mut later: usize, end: usize, steps: u32) {
        let reference = self.history.base() + best.p;
        let reach = self.reach.min(reference);
        let chooses = !WIDER && steps >= MANY;
        if chooses && best.longest > 3 {
            later = self.widest_step(reference, best.longest + 1);
        }
        let mut at = reference + later;
        for _ in 0..steps {
            at = at.wrapping_sub(self.step(at));
            let distance = (reference + later).wrapping_sub(at);
            let before = best.longest;
            if distance > reach || !best.offer::<WIDER, DICT>(&self.history, distance, end) {
                return;
            }
            if chooses && best.longest > before {
                later = self.widest_step(reference - distance, best.longest);
                at = reference + later - distance;
            }
        }
    }
}

impl<'a, const DICT: bool> Search<'a, DICT> for Chains<'a, DICT> {
    #[inline(always)]
    fn history(&self) -> &History<'a, DICT> {
        &self.history
    }

    #[inline(always)]
    fn enter(&mut self, position: usize) {
        if position >= self.entered {
            self.enter_below((position + AHEAD).min(self.history.end()));
        }
    }

    #[inline(always)]
    fn enter_ahead(&mut self, position: usize) {
        self.enter(position);
    }

    #[inline(always)]
    fn offer_here<const WIDER: bool>(&self, best: &mut Best, end: usize, steps: u32) {
        let reference = self.history.base() + best.p;
        let reach = self.reach.min(reference);
        // Often there is none at all.
        if self.step(reference) > reach {
            return;
        }
        if !WIDER {
            best.aim(&self.history);
            return self.follow::<false>(best, 0, end, steps);
        }
        let Some(around) = best.around(&self.history, end) else {
            best.aim(&self.history);
            return self.offer_to(best, 0, end, steps);
        };
        let mut at = reference;
        for _ in 0..steps {
            at = at.wrapping_sub(self.step(at));
            let distance = reference.wrapping_sub(at);
            if distance > reach || !best.offer_across(&self.history, &around, distance, end) {
                return;
            }
        }
    }

    #[inline(always)]
    fn offer_to(&self, best: &mut Best, later: usize, end: usize, steps: u32) {
        self.follow::<true>(best, later, end, steps);
    }

    /// Nothing: all positions are in the same chains.
    #[cfg(feature = "zlib")]
    fn look_for(&mut self, _: usize) {}

    /// Nothing: what repeats itself was left out when it was entered.
    #[cfg(feature = "zlib")]
    fn leave_out(&mut self, _: &Match) {}

    /// Nothing: the inside was entered ahead.
    #[cfg(feature = "lz4")]
    fn leave_out_inside(&mut self, _: &Match) {}
}
