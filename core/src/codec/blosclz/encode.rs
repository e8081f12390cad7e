//! BloscLZ encoder: greedy, with one table of last positions.
//!
//! ```text
//! at each position p, stepping further apart where nothing matches:
//!   the last position with the same six bytes (five from level 6 on) is the match, extended back over
//!   pending literals and forward as far as it goes; a run of one byte that goes as far is preferred
//! where a match ends: is there another at once, or a run?
//! ```
//! Runs are looked for by themselves because filtered data, bitshuffled data above all, is full of runs
//! inside longer periods: the table then knows only the last position that began with the same bytes, which
//! is often in the wrong half of a run.
//!
//! Streams that hardly shrink are given up without that ([`probe`](super::probe)).

use super::emit::{instruction, literals};
use super::{FAR, REACH, probe};
use crate::arch::copy::Window;
use crate::arch::out::Out;
use crate::arch::words::Words;
use crate::codec::matcher::{Positions, Table, WideTable, hash_low};

/// Of the table for streams up to 64 KiB.
const CELLS: usize = 1 << 14;
/// Of the table for longer ones, whose entries are twice as wide.
const WIDE_CELLS: usize = 1 << 13;
/// Streams shorter than this are not tried.
const SHORTEST: usize = 16;
/// No match starts within this many bytes of the end.
const LAST_MATCH: usize = 12;
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
    if src.len() >= LEAST_TRIED && !probe::worthwhile(src, level, work)? {
        return None;
    }
    if src.len() <= 1 << 16 {
        by_level(src, dst, level, Table::<CELLS>::new(work)?.0)
    } else {
        by_level(src, dst, level, WideTable::<WIDE_CELLS>::new(work)?)
    }
}

/// Chooses how many bytes of a match the table finds, and how patiently: the step grows by one every
/// `1 << patience` positions without a match.
fn by_level<T: Positions>(src: &[u8], dst: &mut [u8], level: u8, table: T) -> Option<usize> {
    match level {
        0..=5 => stream::<T, 6>(src, dst, 6, table),
        6 | 7 => stream::<T, 5>(src, dst, 6, table),
        8 => stream::<T, 5>(src, dst, 7, table),
        _ => stream::<T, 5>(src, dst, 8, table),
    }
}

/// One stream, with an empty table; `None` where it does not fit.
fn stream<T: Positions, const MIN: usize>(
    src: &[u8],
    dst: &mut [u8],
    patience: u32,
    mut table: T,
) -> Option<usize> {
    let words = Words::new(src)?;
    let mut out = Window::new(Out::from(&mut *dst), &[]);
    let anchor = matches::<T, MIN>(&words, src, &mut out, &mut table, patience)?;
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
    patience: u32,
) -> Option<usize> {
    let until = src.len() - LAST_MATCH;
    let match_end = src.len() - 1;
    let (mut p, mut anchor) = (1, 0);
    let differ = |diff: u64| diff << (64 - 8 * MIN) != 0;
    // Only streams longer than the format reaches can have such a candidate.
    let too_far = |distance: usize| src.len() > REACH && distance > REACH;
    let mut tries = 1usize << patience;
    while p <= until {
        let word = words.load64(p);
        let q = table.swap(hash_low(word, MIN, T::BITS), p);
        let diff = words.load64(q) ^ word;
        if differ(diff) || too_far(p - q) {
            p += tries >> patience;
            tries += 1;
            continue;
        }
        let (mut distance, mut len) = (p - q, words.common_from(diff, q, p, match_end));
        if distance != 1 && words.load64(p - 1) == word {
            let run = words.common(p - 1, p, match_end);
            if run + 1 >= len {
                (distance, len) = (1, run);
            }
        }
        if distance >= FAR && len < FAR_MATCH {
            p += 1;
            continue;
        }
        let back = words.common_before(p - distance, p, p - anchor);
        (p, len) = (p - back, len + back);
        tries = 1 << patience;
        loop {
            instruction(out, src, anchor, p, distance, len).ok()?;
            p += len;
            anchor = p;
            if p > until {
                break;
            }
            let word = words.load64(p - 1);
            let q = table.swap(hash_low(word, MIN, T::BITS), p - 1);
            let diff = words.load64(q) ^ word;
            let found = !differ(diff) && !too_far(p - 1 - q);
            if found {
                distance = p - 1 - q;
                len = words.common_from(diff, q, p - 1, match_end) - 1;
            }
            if words.load64(p) == word {
                let run = words.common(p - 1, p, match_end);
                if !found || run + 1 >= len {
                    (distance, len) = (1, run);
                }
            } else if !found || (distance >= FAR && len < FAR_MATCH) {
                break;
            }
        }
    }
    Some(anchor)
}
