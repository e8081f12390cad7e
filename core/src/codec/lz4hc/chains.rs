//! Chains of positions with the same hash, in caller memory.
//!
//! ```text
//! head[hash of four bytes]  the latest position with this hash, modulo 65536
//! back[p mod 65536]         how far before p the position before it with the same hash lies; 0 ends the chain
//! ```
//! Of a run of one byte only the first position is entered, and the last three: a chain would otherwise lead
//! through nothing but the run. Runs are found by how they begin and by how they end.

use crate::codec::history::History;
use crate::codec::lz4::REACH;
use crate::codec::matcher::hash4;

/// Of the largest table of heads.
const MOST_BITS: u32 = 15;
/// A match this long is taken without looking for a longer one.
const ENOUGH: usize = 4096;
/// How many bytes of a match are asked for the chain that leads on.
const MOST_LATER: usize = 64;
/// How much of a dictionary is used.
pub(super) const DICTIONARY: usize = 32 << 10;
/// Shorter runs are found by how they begin.
const LONG_RUN: usize = 8;
/// Of matches longer than `LONG` with a distance up to `SHORT`, only this many last positions are entered.
const TAIL: usize = 64;
const LONG: usize = 256;
const SHORT: usize = 64;

/// A match: where in the input, how far back, and how long. No match is 0 long.
#[derive(Clone, Copy)]
pub(super) struct Match {
    pub(super) start: usize,
    pub(super) distance: usize,
    pub(super) len: usize,
}

impl Match {
    pub(super) fn end(&self) -> usize {
        self.start + self.len
    }
}

/// `WRAP`: positions may be 65536 or more.
pub(super) struct Chains<'a, const WRAP: bool, const DICT: bool> {
    pub(super) history: History<'a, DICT>,
    head: &'a mut [[u8; 2]],
    bits: u32,
    back: &'a mut [[u8; 2]],
    /// Positions below this are in the tables, or left out for good.
    entered: usize,
    thorough: bool,
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

impl<'a, const WRAP: bool, const DICT: bool> Chains<'a, WRAP, DICT> {
    /// Bytes of scratch it needs, whether there is a dictionary or not.
    pub(super) const fn work_len(src_len: usize) -> usize {
        let window = if src_len < DICTIONARY { src_len + DICTIONARY } else { 1 << 16 };
        (2 << MOST_BITS) + 2 * window
    }

    /// Empty chains, or chains of the dictionary's positions. `thorough`: see [`Effort`](super::parse::Effort).
    pub(super) fn new(history: History<'a, DICT>, thorough: bool, work: &'a mut [u8]) -> Option<Self> {
        let bits = bits(history.end());
        let (head, back) = work.split_at_mut_checked(2 << bits)?;
        head.fill(0);
        // Positions that are left out are never written, but may be asked for.
        let back = back.get_mut(..2 * history.end().min(1 << 16))?;
        back.fill(0);
        let (head, back) = (head.as_chunks_mut().0, back.as_chunks_mut().0);
        let mut made = Chains { history, head, bits, back, entered: 0, thorough };
        made.enter(made.history.base());
        Some(made)
    }

    /// Leaves out every position before offset `p` that is not entered yet.
    pub(super) fn leave_out(&mut self, p: usize) {
        self.entered = self.entered.max(self.history.base() + p);
    }

    /// Leaves out what a long match of a short period would only fill the chains with.
    pub(super) fn leave_out_periods(&mut self, taken: Match) {
        if taken.len > LONG && taken.distance <= SHORT {
            self.enter(self.history.base() + taken.start + TAIL);
            self.leave_out(taken.end() - TAIL);
        }
    }

    /// Enters every position below `end`, but for the insides of runs.
    #[inline(always)]
    fn enter(&mut self, end: usize) {
        while self.entered < end {
            let at = self.entered;
            if let Some(p) = at.checked_sub(self.history.base() + 1) {
                let word = self.history.word(p);
                if (word ^ (word >> 8)) as u32 == 0 {
                    let run = self.history.common(at - 1, p + 1, self.history.end() - self.history.base());
                    self.entered = at + run.max(4) - 3;
                    continue;
                }
            }
            if let Some(hash) = self.history.hash_at(at, self.bits)
                && let Some(head) = self.head.get_mut(hash)
            {
                let before = u16::from_le_bytes(core::mem::replace(head, (at as u16).to_le_bytes()));
                if let Some(cell) = self.back.get_mut(at & 0xffff) {
                    *cell = (at as u16).wrapping_sub(before).to_le_bytes();
                }
            }
            self.entered += 1;
        }
    }
}

impl<const WRAP: bool, const DICT: bool> Chains<'_, WRAP, DICT> {
    /// The longest match across offset `p` that begins at or after `low`, ends at or before `end` and is longer
    /// than `longer`. Chains are followed for `steps` positions.
    #[inline]
    pub(super) fn widest(&mut self, p: usize, low: usize, longer: usize, end: usize, steps: u32) -> Match {
        let base = self.history.base();
        self.enter(base + p);
        let mut best = Best::new(&self.history, p, low, longer.max(3), end);
        let (word, before) = (self.history.word(p), self.history.word(p.wrapping_sub(1)));
        if word as u32 == (word as u32).rotate_left(8) {
            let run = 1 + self.history.common(base + p, p + 1, end);
            let inside = p > 0 && before as u8 == word as u8;
            if inside {
                best.offer(1);
            }
            // An earlier run that ends like this one, and is as long.
            if p + run < end && (inside || run >= LONG_RUN) {
                self.follow(p + run - 3, steps, |distance| {
                    (distance <= base + p && best.offer(distance)).then_some(0)
                });
            }
            if inside || best.longest > run {
                return best.found;
            }
        }
        self.follow(p, steps, |distance| {
            let before = best.longest;
            if !best.offer(distance) {
                return None;
            }
            // What matches longer also lies on the chains of later bytes: the one with the widest step leads on.
            let grown = self.thorough && low == p && best.longest > before;
            Some(if grown { self.widest_step(base + p - distance, best.longest.min(distance)) } else { 0 })
        });
        best.found
    }

    /// Visits the earlier positions of the chain of offset `p` by their distances, until `visit` has had enough.
    /// It may instead choose the chain of a later offset, which is followed where it is not 0.
    #[inline(always)]
    fn follow(&self, p: usize, steps: u32, mut visit: impl FnMut(usize) -> Option<usize>) {
        let reference = self.history.base() + p;
        // Of an offset that has been entered already, the chain leads on from there.
        let step = if reference < self.entered {
            self.step(reference)
        } else {
            let head = self.head.get(hash4(self.history.word(p), self.bits));
            let low = head.map_or(0, |cell| u16::from_le_bytes(*cell));
            usize::from((reference as u16).wrapping_sub(low))
        };
        let (mut distance, mut step) = (0, step);
        let mut later = 0;
        for _ in 0..steps {
            distance += step;
            if step == 0 || distance > REACH.min(reference) {
                return;
            }
            match visit(distance) {
                None => return,
                Some(0) => {}
                Some(chosen) => later = chosen,
            }
            step = self.step(reference + later - distance);
        }
    }

    /// Which of the `len` bytes from `position` on has the widest step before it.
    fn widest_step(&self, position: usize, len: usize) -> usize {
        let (mut chosen, mut widest) = (0, self.step(position));
        for later in 1..len.min(MOST_LATER).saturating_sub(3) {
            let step = self.step(position + later);
            if step > widest {
                (chosen, widest) = (later, step);
            }
        }
        chosen
    }

    /// How far before `position` the next one of its chain lies; 0 if there is none, or it was left out.
    #[inline(always)]
    fn step(&self, position: usize) -> usize {
        self.back.get(position & 0xffff).map_or(0, |cell| usize::from(u16::from_le_bytes(*cell)))
    }
}

/// The longest match seen so far.
struct Best<'h, 'a, const DICT: bool> {
    history: &'h History<'a, DICT>,
    p: usize,
    low: usize,
    end: usize,
    longest: usize,
    /// Where the next longer match must agree: an offset, and its four bytes.
    probe: usize,
    wanted: u32,
    found: Match,
}

impl<'h, 'a, const DICT: bool> Best<'h, 'a, DICT> {
    #[inline(always)]
    fn new(history: &'h History<'a, DICT>, p: usize, low: usize, longest: usize, end: usize) -> Self {
        let found = Match { start: p, distance: 0, len: 0 };
        let mut best = Best { history, p, low, end, longest, probe: 0, wanted: 0, found };
        best.aim();
        best
    }

    #[inline(always)]
    fn aim(&mut self) {
        self.probe = self.p.max(self.low + self.longest - 3);
        self.wanted = self.history.word(self.probe) as u32;
    }

    /// Looks at the match at this distance; whether it is worth looking on.
    #[inline(always)]
    fn offer(&mut self, distance: usize) -> bool {
        let position = self.history.base() + self.p - distance;
        match self.history.word_at(position + (self.probe - self.p)) {
            Some(word) if word as u32 != self.wanted => return true,
            _ => {}
        }
        let ahead = self.history.common(position, self.p, self.end);
        let behind = self.history.common_before(position, self.p, self.p - self.low);
        if ahead >= 3 && ahead + behind > self.longest {
            self.longest = ahead + behind;
            self.found = Match { start: self.p - behind, distance, len: self.longest };
            self.aim();
        }
        self.longest < ENOUGH && self.p + ahead < self.end
    }
}
