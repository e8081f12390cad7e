//! BloscLZ encoder: greedy, with one table of last positions.
//!
//! ```text
//! if the probe says that the stream shrinks too little: skim it or give it up, as the level says
//! p = 1, anchor = 0
//! while p is not too close to the end:
//!   q = table[hash of the string at p];  table[hash] = p
//!   if the strings at p and q differ:  p += step, which grows;  continue
//!   end = where the bytes from p and q on begin to differ
//!   if the byte before p begins a run that goes as far:  the match is that run, at distance 1
//!   if the match needs the far form and is shorter than seven bytes:  p += 1;  continue
//!   start = p, moved back over equal bytes that are still literals
//!   write literals anchor..start and the match start..end;  anchor = end
//!   p = end - 1, with the smallest step
//! write literals anchor..
//! ```
//! A skim is the same loop with strings of eight bytes and large steps.
//!
//! - Runs are looked for by themselves because filtered data, bitshuffled data above all, is full of runs inside longer
//!   periods. The table knows only the last position of a string, which is often in the wrong half of a run.
//! - In a skim whether, where and how matches end is noise, so no branch depends on their length: a wrongly predicted
//!   branch costs as much as a dozen steps.

use super::emit::{instruction, literals};
use super::format::{FAR, LAST_MATCH, REACH, SHORTEST};
use super::levels::{self, Parameters, SKIMS_ALL, StringLength};
use super::probe;
use crate::arch::lz::window::Window;
use crate::arch::out::Out;
use crate::arch::search::hash::hash_low;
use crate::arch::search::words::Words;
use crate::codec::matcher::{Positions, Table, WideTable};

/// Longest stream in bytes whose positions take 16 bits.
const NEAR: usize = 1 << 16;
/// Number of hash-table cells (power of two): half of a first-level cache for streams up to [`NEAR`]
/// (docs/optimization-notes.md#blosclz-table).
const CELLS: usize = 1 << 13;
/// [`CELLS`] for streams up to [`SHORT`] bytes: a larger table takes as long to empty as such a stream to encode
/// (docs/optimization-notes.md#blosclz-short).
const FEW_CELLS: usize = 1 << 10;
const SHORT: usize = 2048;
/// Number of hash-table cells of a skim: a quarter of a first-level cache (docs/optimization-notes.md#blosclz-skim).
const SKIM_CELLS: usize = 1 << 12;
/// Bytes of the strings that a skim looks up (docs/optimization-notes.md#blosclz-skim).
const SKIM_STRING: usize = 8;
/// A skim's step grows by one every `1 << SKIM_PATIENCE` positions without a match
/// (docs/optimization-notes.md#blosclz-skim-patience).
const SKIM_PATIENCE: u32 = 3;
/// Bytes of the shortest match that is worth the four bytes of the far form (docs/optimization-notes.md#blosclz-far).
const FAR_MATCH: usize = 7;
/// Shortest stream in bytes that [`probe`] looks at first (docs/optimization-notes.md#blosclz-least-probed).
const LEAST_PROBED: usize = 4 << 10;
const WORK: usize = max(probe::WORK, max(Table::<CELLS>::BYTES, WideTable::<CELLS>::BYTES));

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
    let Parameters { probe, skim_step, string, patience } = levels::of(level);
    if src.len() < LEAST_PROBED || probe::shrinks(src, &probe, work)? {
        let pace = Pace { patience, first: 1 };
        return match string {
            StringLength::Five => search::<5>(src, dst, pace, work),
            StringLength::Six => search::<6>(src, dst, pace, work),
        };
    }
    let mut lower = (1..level).map(|lower| probe::shrinks(src, &levels::of(lower).probe, work) == Some(true));
    if level < SKIMS_ALL && !lower.any(|shrinks| shrinks) {
        return None;
    }
    let pace = Pace { patience: SKIM_PATIENCE, first: skim_step };
    if src.len() <= NEAR {
        stream::<_, SKIM_STRING>(src, dst, pace, Table::<SKIM_CELLS>::new(work)?.0)
    } else {
        stream::<_, SKIM_STRING>(src, dst, pace, WideTable::<SKIM_CELLS>::new(work)?)
    }
}

/// One stream, with the table for its length.
fn search<const STRING: usize>(src: &[u8], dst: &mut [u8], pace: Pace, work: &mut [u8]) -> Option<usize> {
    if src.len() <= SHORT {
        stream::<_, STRING>(src, dst, pace, Table::<FEW_CELLS>::new(work)?.0)
    } else if src.len() <= NEAR {
        stream::<_, STRING>(src, dst, pace, Table::<CELLS>::new(work)?.0)
    } else {
        stream::<_, STRING>(src, dst, pace, WideTable::<CELLS>::new(work)?)
    }
}

/// How the step between positions grows while none matches.
#[derive(Clone, Copy)]
struct Pace {
    /// By one every `1 << patience` positions.
    patience: u32,
    /// Where it begins.
    first: usize,
}

/// One stream, with an empty table; `None` where it does not fit. Strings of `STRING` bytes are looked up.
fn stream<T: Positions, const STRING: usize>(
    src: &[u8],
    dst: &mut [u8],
    pace: Pace,
    mut table: T,
) -> Option<usize> {
    let words = Words::new(src)?;
    let mut out = Window::new(Out::from(&mut *dst), &[]);
    let anchor = matches::<T, STRING>(&words, src, &mut out, &mut table, pace)?;
    literals(&mut out, src, anchor, src.len()).ok()?;
    let len = out.position();
    *dst.first_mut()? |= 0x20;
    Some(len)
}

/// Writes everything up to the end of the last match; returns where that is.
#[inline(always)]
fn matches<T: Positions, const STRING: usize>(
    words: &Words<'_>,
    src: &[u8],
    out: &mut Window<'_>,
    table: &mut T,
    Pace { patience, first }: Pace,
) -> Option<usize> {
    let last_start = src.len() - LAST_MATCH;
    let match_end = src.len() - 1;
    let is_skim = STRING == SKIM_STRING;
    // Only streams longer than the format reaches can have such a candidate.
    let too_far = |distance: usize| src.len() > REACH && distance > REACH;
    let (mut p, mut anchor) = (1usize, 0usize);
    let first = first << patience;
    let mut tries = first;
    while p <= last_start {
        let word = words.load64(p);
        let q = table.swap(hash_low(word, STRING, T::BITS), p);
        let diff = words.load64(q) ^ word;
        if diff << (64 - 8 * STRING) != 0 || too_far(p - q) {
            p += tries >> patience;
            tries += 1;
            continue;
        }
        let mut end = if is_skim || diff == 0 {
            p + words.common_any(q, p, match_end)
        } else {
            // Within the word, which ends before `match_end`.
            p + (diff.trailing_zeros() / 8) as usize
        };
        let mut distance = p - q;
        // What was found a byte before the end of the last match begins there.
        let mut start = p.max(anchor);
        if is_skim || words.load64(start - 1) == words.load64(start) {
            let run_end = start + words.common_any(start - 1, start, match_end);
            if run_end + 1 >= end {
                (distance, end) = (1, run_end);
            }
        }
        if distance >= FAR && end - start < FAR_MATCH {
            p += 1;
            continue;
        }
        // How long the loop above went on says whether there are literals: the CPU predicts this branch.
        if start > anchor {
            start -= words.common_before(start - distance, start, start - anchor);
        }
        instruction(out, src, anchor, start, distance, end - start).ok()?;
        anchor = end;
        // The next match often begins at once, and strings that span the end of this one are found again.
        p = end - 1;
        tries = first;
    }
    Some(anchor)
}
