//! BloscLZ encoder: greedy, with one table of last positions.
//!
//! ```text
//! at each position p, stepping further apart where nothing matches:
//!   the last position with the same six bytes (five from level 6 on) is the match, extended back over
//!   pending literals and forward as far as it goes; a run of one byte that goes as far is preferred
//! a byte before the end of a match the search goes on with the smallest step
//! ```
//! Runs are looked for by themselves because filtered data, bitshuffled data above all, is full of runs
//! inside longer periods: the table then knows only the last position that began with the same bytes, which
//! is often in the wrong half of a run.
//!
//! Streams that hardly shrink are only skimmed for matches of eight bytes or more, or given up ([`probe`](super::probe)).
//! There whether, where and how matches end is noise: no branch depends on their length, as each wrongly guessed one
//! costs as much as a dozen steps.

use super::emit::{instruction, literals};
use super::probe::{self, Effort};
use super::{FAR, REACH};
use crate::arch::copy::Window;
use crate::arch::out::Out;
use crate::arch::words::Words;
use crate::codec::matcher::{Positions, Table, WideTable, hash_low};

/// What positions of 16 bits can tell apart.
const NEAR: usize = 1 << 16;
/// Of the table for streams up to [`NEAR`].
const CELLS: usize = 1 << 14;
/// The same up to level 5: what it finds less is little, and it fills but half of a first-level cache.
const FEWER_CELLS: usize = 1 << 13;
/// Of the table for streams up to [`SHORT`], which are encoded in the time that it takes to empty a larger one.
const FEW_CELLS: usize = 1 << 10;
const SHORT: usize = 2048;
/// Of the table for longer ones, whose entries are twice as wide.
const WIDE_CELLS: usize = 1 << 13;
/// Of the table for long matches, which leaves a first-level cache its room.
const SKIM_CELLS: usize = 1 << 12;
/// What is a long match.
const LONG: usize = 8;
/// Streams shorter than this are not tried.
const SHORTEST: usize = 16;
/// No match starts within this many bytes of the end.
const LAST_MATCH: usize = 12;
/// The shortest match of the higher levels.
const SHORT_MATCH: usize = 5;
/// The [`Pace`] of level 9; of 8 and 7 it is one and two less.
const MOST_PATIENCE: u32 = 8;
/// The shortest match worth the four bytes of the far form.
const FAR_MATCH: usize = 7;
/// Streams shorter than this are encoded without asking.
const LEAST_TRIED: usize = 4 << 10;
const WORK: usize = max(probe::WORK, max(Table::<CELLS>::BYTES, WideTable::<WIDE_CELLS>::BYTES));

const fn max(a: usize, b: usize) -> usize {
    if a > b { a } else { b }
}

/// Bytes of scratch that [`encode`] needs.
pub const fn work_len(_level: u8, _src_len: usize) -> usize {
    WORK
}

/// Compresses `src` into one BloscLZ stream at the start of `dst` and returns its length; `level` is
/// 1 to 9: higher levels find more and give up less. `None` where it is not worth it or does not fit `dst`,
/// or `work` is shorter than [`work_len`], or `src` shorter than 16 bytes or longer than 2 GiB.
pub fn encode(src: &[u8], dst: &mut [u8], level: u8, work: &mut [u8]) -> Option<usize> {
    if src.len() < SHORTEST || src.len() > i32::MAX as usize {
        return None;
    }
    let effort = if src.len() < LEAST_TRIED { Effort::Search } else { probe::effort(src, level, work)? };
    match (effort, level) {
        (Effort::GiveUp, _) => None,
        (Effort::Skim, _) if src.len() <= NEAR => skim(src, dst, level, Table::<SKIM_CELLS>::new(work)?.0),
        (Effort::Skim, _) => skim(src, dst, level, WideTable::<SKIM_CELLS>::new(work)?),
        (Effort::Search, 0..=5) => search::<FEWER_CELLS, 6>(src, dst, 6, work),
        (Effort::Search, _) => {
            search::<CELLS, SHORT_MATCH>(src, dst, u32::from(level).clamp(7, 9) + MOST_PATIENCE - 9, work)
        }
    }
}

/// Step by step, with `CELLS` where the stream is neither short nor long.
fn search<const CELLS: usize, const MIN: usize>(
    src: &[u8],
    dst: &mut [u8],
    patience: u32,
    work: &mut [u8],
) -> Option<usize> {
    let pace = Pace { patience, first: 1 };
    if src.len() <= SHORT {
        stream::<_, MIN>(src, dst, pace, Table::<FEW_CELLS>::new(work)?.0)
    } else if src.len() <= NEAR {
        stream::<_, MIN>(src, dst, pace, Table::<CELLS>::new(work)?.0)
    } else {
        stream::<_, MIN>(src, dst, pace, WideTable::<WIDE_CELLS>::new(work)?)
    }
}

/// For long matches only, which need not be met at their first byte, and past noise in large steps.
fn skim<T: Positions>(src: &[u8], dst: &mut [u8], level: u8, table: T) -> Option<usize> {
    let first = if level <= 6 { 16 } else { 8 };
    stream::<T, LONG>(src, dst, Pace { patience: 3, first }, table)
}

/// How the step between positions grows while none matches.
#[derive(Clone, Copy)]
struct Pace {
    /// By one every `1 << patience` positions.
    patience: u32,
    /// Where it begins.
    first: usize,
}

/// One stream, with an empty table; `None` where it does not fit.
fn stream<T: Positions, const MIN: usize>(
    src: &[u8],
    dst: &mut [u8],
    pace: Pace,
    mut table: T,
) -> Option<usize> {
    let words = Words::new(src)?;
    let mut out = Window::new(Out::from(&mut *dst), &[]);
    let anchor = matches::<T, MIN>(&words, src, &mut out, &mut table, pace)?;
    literals(&mut out, src, anchor, src.len()).ok()?;
    let len = out.position();
    *dst.first_mut()? |= 0x20;
    Some(len)
}

/// Writes everything up to the end of the last match; returns where that is.
#[inline(always)]
fn matches<T: Positions, const MIN: usize>(
    words: &Words<'_>,
    src: &[u8],
    out: &mut Window<'_>,
    table: &mut T,
    Pace { patience, first }: Pace,
) -> Option<usize> {
    let until = src.len() - LAST_MATCH;
    let match_end = src.len() - 1;
    let (mut p, mut anchor) = (1usize, 0usize);
    let differ = |diff: u64| diff << (64 - 8 * MIN) != 0;
    // Only streams longer than the format reaches can have such a candidate.
    let too_far = |distance: usize| src.len() > REACH && distance > REACH;
    let first = first << patience;
    let mut tries = first;
    while p <= until {
        let word = words.load64(p);
        let q = table.swap(hash_low(word, MIN, T::BITS), p);
        let diff = words.load64(q) ^ word;
        if differ(diff) || too_far(p - q) {
            p += tries >> patience;
            tries += 1;
            continue;
        }
        let mut end = if MIN == LONG || diff == 0 {
            p + words.common_any(q, p, match_end)
        } else {
            // Within the word, which ends before `match_end`.
            p + (diff.trailing_zeros() / 8) as usize
        };
        let mut distance = p - q;
        // What was found a byte before the end of the last match begins there.
        let mut start = p.max(anchor);
        if MIN == LONG || words.load64(start - 1) == words.load64(start) {
            let run_end = start + words.common_any(start - 1, start, match_end);
            if run_end + 1 >= end {
                (distance, end) = (1, run_end);
            }
        }
        if distance >= FAR && end - start < FAR_MATCH {
            p += 1;
            continue;
        }
        // How long the loop above went on says whether there are literals: such a branch is foretold.
        if start > anchor {
            start -= words.common_before(start - distance, start, start - anchor);
        }
        instruction(out, src, anchor, start, distance, end - start).ok()?;
        anchor = end;
        // The next match often begins at once, and strings that span the end of this one are found again.
        p = end - 1;
        // At the most patient, single matches in noise do not begin the small steps again.
        tries = if MIN == SHORT_MATCH && patience == MOST_PATIENCE { first.max(tries / 2) } else { first };
    }
    Some(anchor)
}
