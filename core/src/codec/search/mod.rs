//! [`Search`]: the longest match out of what a table of earlier positions offers, for LZ4HC and zlib.
//!
//! ```text
//! widest(p, low, longer): the longest match across offset p that begins at or after `low` and is longer than `longer`
//!   enter all positions before p into the table
//!   if a run of one byte begins or goes on at p:  look across the run, see below
//!   for each of up to `steps` earlier positions that the table offers for the bytes at p:
//!     unless the four bytes agree in which a longer match must end:  next
//!     extend forward, and backward as far as `low`;  keep the longest
//!
//! across a run:
//!   inside it, the match at distance 1
//!   what the table offers for the last three bytes of the run: an earlier run that ends like this one, and is as long
//!   if the run begins at p and nothing is longer than it: what the table offers for its first bytes
//! ```
//! Inside a run every position looks like the one before, so of a run only the first position is entered, and the last
//! [`RUN_END`]. [`rows`] and [`chains`] are the two tables.
//!
//! - Without a dictionary the bytes around p are loaded once for all candidates (`PrefetchedWords`, `Lookahead`), and whether a
//!   candidate is longer decides no branch: lengths are not predictable, and few candidates are longer (commit 02f48861:
//!   1.05 to 1.12 times as fast).

pub(super) mod chains;
pub(super) mod rows;

use crate::arch::search::lookahead::{Lookahead, PrefetchedWords};
use crate::codec::history::History;
use core::hint::select_unpredictable;

/// Bytes of a match that ends every search: a longer one would save little (docs/optimization-notes.md#search-enough).
const ENOUGH: usize = 4096;
/// How many positions at the end of a run are entered: those whose four bytes go past it.
pub(in crate::codec) const RUN_END: usize = 3;

/// How far a search goes, by the level.
pub(in crate::codec) struct Effort {
    /// Earlier positions that are compared at most.
    pub(in crate::codec) steps: u32,
    /// Bytes of a match that is taken without looking for a longer one.
    pub(in crate::codec) enough: usize,
    /// After `1 << patience` bytes without a match the search takes larger steps.
    pub(in crate::codec) patience: u32,
}

/// A match: where in the input, how far back, and how long. No match is 0 long.
#[derive(Clone, Copy)]
pub(in crate::codec) struct Match {
    pub(in crate::codec) start: usize,
    pub(in crate::codec) distance: usize,
    pub(in crate::codec) len: usize,
}

impl Match {
    pub(in crate::codec) fn end(&self) -> usize {
        self.start + self.len
    }
}

/// Whether the five low bytes of `word` are the same, so that a run begins there.
#[inline(always)]
pub(in crate::codec) fn is_run(word: u64) -> bool {
    (word ^ (word >> 8)) as u32 == 0
}

/// A table of earlier positions.
pub(in crate::codec) trait Search<'a, const DICT: bool> {
    /// What is searched.
    fn history(&self) -> &History<'a, DICT>;

    /// Enters every position before `position`, and perhaps later ones.
    fn enter(&mut self, position: usize);

    /// Enters positions up to `position`, if the table must know them for a search that begins there.
    fn enter_ahead(&mut self, position: usize);

    /// Offers up to `steps` earlier positions that may agree with what lies at the offset of `best`: to wider matches, or to
    /// longer ones that begin there.
    fn offer_here<const WIDER: bool>(&self, best: &mut Best, end: usize, steps: u32);

    /// Offers to wider matches up to `steps` earlier positions that may agree with what lies `later` bytes after the offset
    /// of `best`, which is aimed.
    fn offer_to(&self, best: &mut Best, later: usize, end: usize, steps: u32);

    /// From now on matches of `bytes` bytes and more are looked for; shorter ones may be missed.
    #[cfg(feature = "zlib")]
    fn look_for(&mut self, bytes: usize);

    /// Leaves out what `taken` would only fill the table with.
    #[cfg(feature = "zlib")]
    fn leave_out(&mut self, taken: &Match);

    /// Leaves out what lies inside `found`, taken or not: the table knows where it comes from.
    #[cfg(feature = "lz4")]
    fn leave_out_inside(&mut self, found: &Match);

    /// The longest match that begins at offset `p` and ends at or before `end`, out of up to `steps` positions.
    #[cfg(feature = "lz4")]
    #[inline(always)]
    fn longest(&mut self, p: usize, end: usize, steps: u32) -> Match {
        self.widest::<false>(p, p, 0, end, steps)
    }

    /// The longest match across offset `p` that begins at or after `low`, ends at or before `end` and is longer than
    /// `longer`, out of up to `steps` positions.
    #[cfg(feature = "lz4")]
    #[inline(never)]
    fn wider(&mut self, p: usize, low: usize, longer: usize, end: usize, steps: u32) -> Match {
        self.widest::<true>(p, low, longer, end, steps)
    }

    /// What [`longest`](Self::longest) and, with `WIDER`, where `low` may be before `p`, [`wider`](Self::wider) search for.
    #[inline(always)]
    fn widest<const WIDER: bool>(
        &mut self,
        p: usize,
        low: usize,
        longer: usize,
        end: usize,
        steps: u32,
    ) -> Match {
        self.enter(self.history().base() + p);
        let word = self.history().word(p) as u32;
        if word == word.rotate_left(8) {
            return self.across_run(p, low, longer, end, steps);
        }
        let mut best = Best::new(p, low, longer);
        self.offer_here::<WIDER>(&mut best, end, steps);
        best.found()
    }

    /// [`wider`](Self::wider) where a run of one byte begins or goes on at `p`.
    #[inline(never)]
    fn across_run(&mut self, p: usize, low: usize, longer: usize, end: usize, steps: u32) -> Match {
        let base = self.history().base();
        let run = 1 + self.history().common(base + p, p + 1, end);
        let inside = p > 0 && self.history().word(p - 1) as u8 == self.history().word(p) as u8;
        self.enter_ahead(base + p + run);
        let mut best = Best::new(p, low, longer);
        best.aim(self.history());
        if inside {
            best.offer::<true, DICT>(self.history(), 1, end);
        }
        // An earlier run that ends like this one, and is as long.
        if p + run < end {
            self.offer_to(&mut best, run - RUN_END, end, steps);
        }
        if !inside && best.longest <= run {
            self.offer_to(&mut best, 0, end, steps);
        }
        best.found()
    }
}

/// The longest match seen so far.
pub(in crate::codec) struct Best {
    /// The offset that matches lie across.
    pub(in crate::codec) p: usize,
    /// Where they may begin.
    low: usize,
    pub(in crate::codec) longest: usize,
    /// Where the next longer match must agree: how far after `p`, and its four bytes.
    probe: usize,
    wanted: u32,
    /// How far back the longest lies, and how far before `p` it begins; 0 where none was found.
    distance: usize,
    behind: usize,
}

impl Best {
    /// None: the first must be longer than `longer`, and than three bytes.
    #[inline(always)]
    fn new(p: usize, low: usize, longer: usize) -> Self {
        Best { p, low, longest: longer.max(3), probe: 0, wanted: 0, distance: 0, behind: 0 }
    }

    #[inline(always)]
    fn found(&self) -> Match {
        let len = if self.distance > 0 { self.longest } else { 0 };
        Match { start: self.p - self.behind, distance: self.distance, len }
    }

    /// What [`offer`](Self::offer) must be told once.
    #[inline(always)]
    fn aim<const DICT: bool>(&mut self, history: &History<'_, DICT>) {
        self.probe = (self.low + self.longest - 3).saturating_sub(self.p);
        self.wanted = history.word(self.p + self.probe) as u32;
    }

    /// Looks at the match at this distance, and with `WIDER` at what lies before it; whether it is worth looking on.
    #[inline(always)]
    pub(in crate::codec) fn offer<const WIDER: bool, const DICT: bool>(
        &mut self,
        history: &History<'_, DICT>,
        distance: usize,
        end: usize,
    ) -> bool {
        let position = history.base() + self.p - distance;
        match history.word_at(position + self.probe) {
            Some(word) if word as u32 != self.wanted => return true,
            _ => {}
        }
        let (ahead, behind) = if WIDER {
            both_ways(history, position, self.p, self.low, end)
        } else {
            (history.common_any(position, self.p, end), 0)
        };
        if ahead >= 3 && ahead + behind > self.longest {
            (self.longest, self.distance, self.behind) = (ahead + behind, distance, behind);
            self.aim(history);
        }
        self.longest < ENOUGH && self.p + ahead < end
    }

    /// What lies around the offset, if no match that ends within three bytes of it is longer than the longest.
    #[inline(always)]
    fn around<'a, const DICT: bool>(
        &self,
        history: &History<'a, DICT>,
        end: usize,
    ) -> Option<PrefetchedWords<'a>> {
        let most = self.p - self.low;
        if most + 2 > self.longest { None } else { history.around(self.p, most, end) }
    }

    /// [`offer`](Self::offer) of wider matches, without a branch on their length unless it is great: the length is not
    /// predictable, and few are longer than the longest so far.
    #[inline(always)]
    fn offer_across<const DICT: bool>(
        &mut self,
        history: &History<'_, DICT>,
        around: &PrefetchedWords<'_>,
        distance: usize,
        end: usize,
    ) -> bool {
        // Only without a dictionary is there anything to compare with: positions are offsets then.
        debug_assert_eq!(history.base(), 0);
        let position = self.p - distance;
        if let Some((ahead, behind)) = around.common(position) {
            self.improve(distance, ahead, behind);
            return true;
        }
        let (ahead, behind) = both_ways(history, position, self.p, self.low, end);
        self.improve(distance, ahead, behind);
        self.longest < ENOUGH && self.p + ahead < end
    }

    /// Offers matches that begin at the offset.
    #[inline(always)]
    fn offer_ahead<const DICT: bool>(
        &mut self,
        history: &History<'_, DICT>,
        from: &Lookahead<'_>,
        distance: usize,
        end: usize,
    ) -> bool {
        // Only without a dictionary is there anything to compare with: positions are offsets then.
        debug_assert_eq!(history.base(), 0);
        let position = self.p - distance;
        if let Some(ahead) = from.common(position) {
            self.improve(distance, ahead, 0);
            return true;
        }
        let ahead = history.common_any(position, self.p, end);
        self.improve(distance, ahead, 0);
        self.longest < ENOUGH && self.p + ahead < end
    }

    /// Takes a match that is longer.
    #[inline(always)]
    fn improve(&mut self, distance: usize, ahead: usize, behind: usize) {
        let len = ahead + behind;
        let longer = len > self.longest;
        self.distance = select_unpredictable(longer, distance, self.distance);
        self.behind = select_unpredictable(longer, behind, self.behind);
        self.longest = self.longest.max(len);
    }
}

/// How many bytes from `position` and from offset `p` on are equal, and before both, but not before `low`.
#[inline(never)]
fn both_ways<const DICT: bool>(
    history: &History<'_, DICT>,
    position: usize,
    p: usize,
    low: usize,
    end: usize,
) -> (usize, usize) {
    (history.common_any(position, p, end), history.common_before(position, p, p - low))
}
