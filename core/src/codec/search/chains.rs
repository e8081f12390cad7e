//! Chains of all positions with the same hash, in caller memory.
//!
//! ```text
//! head[hash of four bytes]  u32: one more than the latest position with this hash
//! back[p mod 65536]         u16: how far before p the position before it with the same hash lies
//! ```
//! Positions are entered some thousand ahead of the search, which keeps that loop small: a search begins with
//! `back[p]`, and needs no head.

use super::{Best, Match, RUN_END, Search, is_run};
use crate::arch::search::hash::hash4;
use crate::codec::history::History;

/// Of the largest table of heads.
const MOST_BITS: u32 = 15;
/// How many bytes of a match are asked for the chain that leads on.
const MOST_LATER: usize = 64;
/// How far ahead positions are entered.
const AHEAD: usize = 512;
/// A chain with a step wider than this is that of few positions.
const FEW: usize = 1 << 12;
/// Positions between two looks at whether the input repeats itself, and the longest period that is seen.
const PIECE: usize = 64;
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
    /// Whether chains of later bytes of a match are followed.
    thorough: bool,
    /// And that of the byte behind it, where it is that of few positions.
    behind: bool,
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
        thorough: bool,
        behind: bool,
        work: &'a mut [u8],
    ) -> Option<Self> {
        let bits = bits(history.end());
        let (head, back) = work.split_at_mut_checked(4 << bits)?;
        head.fill(0);
        let back = back.get_mut(..2 * window(history.end()))?;
        let (head, back) = (head.as_chunks_mut().0, back.as_chunks_mut().0);
        Some(Chains { history, head, bits, back, entered: 0, reach, thorough, behind })
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

    /// Which of the `len` bytes from `position` on has the widest step before it, out of the last [`MOST_LATER`].
    #[inline(never)]
    fn widest_step(&self, position: usize, len: usize) -> usize {
        let last = len.min(self.entered - position).saturating_sub(3);
        let (mut chosen, mut widest) = (0, self.step(position));
        for later in last.saturating_sub(MOST_LATER).max(1)..last {
            let step = self.step(position + later);
            if step > widest {
                (chosen, widest) = (later, step);
            }
        }
        chosen
    }

    /// How to look on after a match of `len` bytes was found: from which distance, on the chain of which later byte.
    #[inline(never)]
    fn onward(&self, position: usize, distance: usize, len: usize) -> (usize, usize) {
        // A longer one also has the byte after these. Where few others have the last four, their chain is the shortest. Of
        // the positions of runs not all are entered.
        let last = len - 3;
        let word = self.history.word_at(position + last).unwrap_or(0) as u32;
        let few = self.behind && position + last < self.entered && word != word.rotate_left(8);
        if few && self.step(position + last) > distance.max(FEW) {
            return (0, last);
        }
        (distance, self.widest_step(position - distance, len))
    }

    /// Offers what begins at the offset of `best`.
    #[inline(always)]
    fn offer_longer(&self, best: &mut Best, end: usize, steps: u32) {
        let reference = self.history.base() + best.p;
        let reach = self.reach.min(reference);
        // A longer match than a known one also lies on the chains of later bytes: the one with the widest step is taken.
        let known = self.thorough && best.longest > 3;
        let mut chain = reference + if known { self.widest_step(reference, best.longest + 1) } else { 0 };
        // Where the chain leads, at its own byte.
        let mut at = chain;
        for _ in 0..steps {
            at = at.wrapping_sub(self.step(at));
            let distance = chain.wrapping_sub(at);
            if distance > reach {
                return;
            }
            let before = best.longest;
            if !best.offer::<false, DICT>(&self.history, distance, end) {
                return;
            }
            if self.thorough && best.longest > before {
                let (distance, later) = self.onward(reference, distance, best.longest);
                chain = reference + later;
                at = chain - distance;
                if distance == 0 {
                    best.aim_at_start(&self.history);
                }
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
            return self.offer_longer(best, end, steps);
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
        let reference = self.history.base() + best.p + later;
        let reach = self.reach.min(reference - later);
        let mut at = reference;
        for _ in 0..steps {
            at = at.wrapping_sub(self.step(at));
            let distance = reference.wrapping_sub(at);
            if distance > reach || !best.offer::<true, DICT>(&self.history, distance, end) {
                return;
            }
        }
    }

    /// Nothing: all positions are in the same chains.
    #[cfg(feature = "zlib")]
    fn look_for(&mut self, _: usize) {}

    /// Nothing: what repeats itself was left out when it was entered.
    #[cfg(feature = "zlib")]
    fn leave_out(&mut self, _: Match) {}

    /// Nothing: the inside was entered ahead.
    #[cfg(feature = "lz4")]
    fn leave_out_inside(&mut self, _: &Match) {}
}
