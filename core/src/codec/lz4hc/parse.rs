//! Which matches to take, from level 3 on: a match gives way to wider ones that begin under it.
//!
//! ```text
//! taken     ........======================
//! next              ..........=========================          the widest across the end of `taken`
//! third                             .......=======================    and across the end of `next`
//! ```
//! If `third` leaves no room for a match between it and `taken`, it takes the place of `next`. If `next` begins
//! too soon to leave a match of `taken`, `taken` is dropped, at once if both begin together. Else `taken` is written up to
//! where `next` begins.

use crate::arch::lz::window::Window;
use crate::codec::lz4::emit::sequence;
use crate::codec::lz4::{LAST_LITERALS, LAST_MATCH};
use crate::codec::search::{Effort, Match, Search};

/// The shortest match.
const SHORTEST: usize = 4;
/// What must be left of a match that gives way (docs/optimization-notes.md#lz4hc-least).
const LEAST: usize = 3;
/// The longest match whose length needs no byte of its own, and how much longer each such byte makes it.
const CHEAP: usize = 18;
const DEARER: usize = 255;
impl Match {
    /// Leaves to `taken`, which begins earlier, the bytes under both that cost `taken` nothing. It still begins
    /// at or before `last_start`.
    fn give_way(&mut self, taken: &Match, last_start: usize) {
        let costly = self.start.saturating_sub(taken.start + CHEAP);
        let free = taken.start + CHEAP + costly.next_multiple_of(DEARER);
        self.begin_at(taken.end().min(free).min(self.end() - SHORTEST).min(last_start));
    }

    /// Leaves out what lies before `start`.
    fn begin_at(&mut self, start: usize) {
        let later = start.saturating_sub(self.start);
        (self.start, self.len) = (self.start + later, self.len.saturating_sub(later));
    }
}

/// Writes every sequence that has a match; returns where the last literals begin.
pub(super) fn sequences<'a, S: Search<'a, DICT>, const DICT: bool>(
    src: &[u8],
    out: &mut Window<'_>,
    mut search: S,
    effort: &Effort,
) -> Option<usize> {
    let last_start = src.len() - LAST_MATCH;
    let match_end = src.len() - LAST_LITERALS;
    let (mut anchor, mut p) = (0, 0);
    while p <= last_start {
        let mut taken = search.longest(p, match_end, effort.steps);
        if taken.len == 0 {
            p += 1 + ((p - anchor) >> effort.patience);
            continue;
        }
        let from = search.history().base() + p - taken.distance;
        let behind = search.history().common_before(from, p, p - anchor);
        (taken.start, taken.len) = (p - behind, taken.len + behind);
        let mut wider = |taken: Match, p: usize| {
            search.leave_out_inside(&taken);
            if taken.len >= effort.enough || p > last_start {
                return Match { len: 0, ..taken };
            }
            search.wider(p, taken.start, taken.len, match_end, effort.steps)
        };
        let mut next = wider(taken, taken.end() - 2);
        while next.len > 0 {
            let mut too_soon = next.start < taken.start + LEAST;
            if !too_soon {
                next.give_way(&taken, last_start);
                too_soon = next.start < taken.start + SHORTEST;
            }
            let third = wider(next, next.end() - if too_soon { 2 } else { 3 });
            let room = taken.len + if too_soon { next.start } else { taken.start };
            if third.len > 0 && third.start < room && next.start > taken.start {
                next = third;
                continue;
            }
            if !too_soon {
                if third.len > 0 && third.start < taken.end() + LEAST {
                    next.begin_at(taken.end());
                }
                taken.len = taken.len.min(next.start - taken.start);
                sequence(out, src, anchor, taken.start, taken.distance, taken.len).ok()?;
                anchor = taken.end();
                if next.len < SHORTEST {
                    (taken, next) = (third, wider(third, third.end() - 2));
                    continue;
                }
            }
            (taken, next) = (next, third);
        }
        sequence(out, src, anchor, taken.start, taken.distance, taken.len).ok()?;
        (anchor, p) = (taken.end(), taken.end());
    }
    Some(anchor)
}

#[cfg(test)]
#[allow(clippy::arithmetic_side_effects)]
mod tests {
    use super::*;

    /// Where `next` begins after it gave way to 400 bytes from 0 on.
    fn given_way(start: usize, len: usize) -> usize {
        let taken = Match { start: 0, distance: 1, len: 400 };
        let mut next = Match { start, distance: 2, len };
        next.give_way(&taken, 1 << 16);
        assert_eq!(next.end(), start + len, "{start} {len}");
        next.start
    }

    /// As much as lengths hold that take no byte more than what `taken` keeps anyway.
    #[test]
    fn what_costs_nothing_is_left_to_the_match_before() {
        for (start, begins) in
            [(4, CHEAP), (CHEAP, CHEAP), (CHEAP + 1, CHEAP + DEARER), (CHEAP + DEARER, CHEAP + DEARER)]
        {
            assert_eq!(given_way(start, 1000), begins, "{start}");
        }
        assert_eq!(given_way(CHEAP + DEARER + 1, 1000), 400, "not more than it has");
        assert_eq!(given_way(5, 10), 15 - SHORTEST, "the shortest match is left");
    }
}
