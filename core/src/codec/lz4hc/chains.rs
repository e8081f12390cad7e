//! Chains of positions with the same hash, in caller memory.

use crate::codec::history::History;
use crate::codec::lz4::REACH;
use crate::codec::matcher::{Table, hash4, nearest};

const BITS: u32 = 15;
/// A match this long is taken without looking for a longer one.
const ENOUGH: usize = 1024;
/// How many earlier runs are looked at.
const MOST_RUNS: u32 = 32;
/// How much of a dictionary is used.
pub(super) const DICTIONARY: usize = 32 << 10;
/// From this length on a run of one byte is looked up by its end.
const RUN: usize = 8;
/// Of matches longer than `LONG` with a distance up to `SHORT`, only this many last positions are entered.
const TAIL: usize = 64;
const LONG: usize = 256;
const SHORT: usize = 64;

/// A match: how far back, and how long. No match is 0 long.
#[derive(Clone, Copy)]
pub(super) struct Match {
    pub(super) distance: usize,
    pub(super) len: usize,
}

/// `WRAP`: positions may be 65536 or more.
pub(super) struct Chains<'a, const WRAP: bool, const DICT: bool> {
    pub(super) history: History<'a, DICT>,
    pub(super) level: u8,
    head: Table<'a, BITS>,
    prev: &'a mut [[u8; 2]],
    /// Positions below this are in the tables.
    entered: usize,
    steps: u32,
}

impl<'a, const WRAP: bool, const DICT: bool> Chains<'a, WRAP, DICT> {
    /// Bytes of scratch it needs, whether there is a dictionary or not.
    pub(super) const fn work_len(src_len: usize) -> usize {
        let window = if src_len < DICTIONARY { src_len + DICTIONARY } else { 1 << 16 };
        Table::<BITS>::BYTES + 2 * window
    }

    /// Empty chains, or chains of the dictionary's positions.
    pub(super) fn new(history: History<'a, DICT>, level: u8, work: &'a mut [u8]) -> Option<Self> {
        let (head, work) = Table::<BITS>::new(work)?;
        let steps = match level {
            0..=2 => 12,
            3 => 16,
            4 => 20,
            5 => 24,
            6 => 40,
            7 => 72,
            8 => 144,
            _ => 320,
        };
        // Positions that are skipped are never written, but may be read where a run is followed back.
        work.fill(0);
        let mut made = Chains { history, level, head, prev: work.as_chunks_mut().0, entered: 0, steps };
        made.enter(made.history.base());
        Some(made)
    }

    /// Enters every position below `end`.
    #[inline(always)]
    fn enter(&mut self, end: usize) {
        while self.entered < end {
            let at = self.entered;
            if let Some(hash) = self.history.hash_at(at, BITS) {
                let before = self.head.swap(hash, at);
                if let Some(cell) = self.prev.get_mut(at & 0xffff) {
                    *cell = before.to_le_bytes();
                }
            }
            self.entered += 1;
        }
    }

    /// Leaves out what a long match of a short period would only fill the chains with.
    pub(super) fn skip(&mut self, taken: Match, end: usize) {
        if taken.len > LONG && taken.distance <= SHORT {
            self.enter(end + self.history.base() - taken.len + TAIL);
            self.entered = self.entered.max(end + self.history.base() - TAIL);
        }
    }

    /// A match for the run of `run` bytes that begins at `p` in an earlier run as long. One of distance 1 would
    /// have to leave out its first byte.
    fn run_as_long(&mut self, p: usize, run: usize, end: usize) -> Match {
        self.enter(self.history.base() + p);
        let history = &self.history;
        let reference = history.base() + p;
        let mut low = self.head.get(hash4(history.word(p), BITS));
        let mut last = self.entered.max(reference);
        for _ in 0..self.steps.min(MOST_RUNS) {
            let at = nearest::<WRAP>(low, last);
            if at >= last || (at < reference && reference - at > REACH) {
                break;
            }
            last = at;
            if at < reference {
                let missing = run - history.common(at, p, p + run);
                last -= history.common_before(at, p + run, missing);
                let distance = reference - last;
                let len = history.common(last, p, end);
                if len >= run && distance <= REACH {
                    return Match { distance, len };
                }
            }
            let Some(cell) = self.prev.get(last & 0xffff) else { break };
            low = u16::from_le_bytes(*cell);
        }
        Match { distance: 0, len: 0 }
    }

    /// The longest match at `p` that is longer than `best`, ending at or before `end`.
    #[inline]
    pub(super) fn longest(&mut self, p: usize, mut best: usize, end: usize) -> Match {
        let base = self.history.base();
        let mut found = Match { distance: 0, len: 0 };
        best = best.max(3);
        if p + best >= end {
            return found;
        }
        let word = self.history.word(p);
        // Inside a run the chain leads through nothing but the run itself. Other runs as long as this one
        // are found by how they end.
        let mut pivot = 0;
        if p > 0 && word == word.rotate_left(8) {
            let run = 1 + self.history.common(base + p, p + 1, end);
            if run > best {
                found = if self.history.word(p - 1) & 0xff == word & 0xff {
                    Match { distance: 1, len: run }
                } else {
                    self.run_as_long(p, run, end)
                };
                best = best.max(found.len);
            }
            if run >= RUN && p + run < end {
                pivot = run - 3;
            }
        }
        self.enter(base + p);
        let history = &self.history;
        let reference = base + p + pivot;
        let mut low = self.head.get(hash4(history.word(p + pivot), BITS));
        // A match that was extended back leaves later positions than this in the chains.
        let mut last = self.entered.max(reference);
        for _ in 0..self.steps {
            let at = nearest::<WRAP>(low, last);
            let distance = reference.wrapping_sub(at);
            if at >= last || (at < reference && distance > REACH) {
                break;
            }
            last = at;
            let Some(cell) = self.prev.get(at & 0xffff) else { break };
            low = u16::from_le_bytes(*cell);
            if at >= reference {
                continue;
            }
            let Some(from) = at.checked_sub(pivot) else { break };
            // What is longer than the best also agrees where the best ends.
            if p + best >= end {
                break;
            }
            if let Some(tail) = history.word_at(from + best - 3)
                && tail as u32 != history.word(p + best - 3) as u32
            {
                continue;
            }
            let len = history.common(from, p, end);
            if len > best {
                (best, found) = (len, Match { distance, len });
                if len >= ENOUGH {
                    break;
                }
            }
        }
        found
    }
}
