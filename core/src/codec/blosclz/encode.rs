//! BloscLZ encoder: greedy, with one table of last positions.
//!
//! ```text
//! at each position p, stepping further apart where nothing matches:
//!   the last position with the same six bytes (five from level 6 on) is the match, extended back over
//!   pending literals and forward as far as it goes; a run of one byte that goes as far is preferred
//! a byte before the end of a match the search goes on with the smallest step
//! ```
//! Items of seven bytes or more without a filter that differ from the last one in their first byte are not searched: as
//! long as they do so, or in some bytes more, each is a match at the distance of an item.
//!
//! Runs are looked for by themselves because filtered data, bitshuffled data above all, is full of runs
//! inside longer periods: the table then knows only the last position that began with the same bytes, which
//! is often in the wrong half of a run.
//!
//! Streams that shrink little are only skimmed for matches of eight bytes or more, or given up ([`probe`](super::probe)).
//! There whether, where and how matches end is noise: no branch depends on their length, as each wrongly guessed one
//! costs as much as a dozen steps.

use super::emit::{instruction, literals};
use super::format::{FAR, REACH};
use super::probe::{self, Effort};
use crate::arch::lz::window::Window;
use crate::arch::out::Out;
use crate::arch::search::hash::hash_low;
use crate::arch::search::words::Words;
use crate::codec::dispatch::Content;
use crate::codec::matcher::{Positions, Table, WideTable};

/// Longest stream in bytes whose positions take 16 bits.
const NEAR: usize = 1 << 16;
/// Number of hash-table cells (power of two) for streams up to [`NEAR`].
const CELLS: usize = 1 << 14;
/// [`CELLS`] up to level 5: half the table fills half of a first-level cache and finds nearly as much.
const FEWER_CELLS: usize = 1 << 13;
/// [`CELLS`] for streams up to [`SHORT`]: a larger table takes as long to empty as such a stream to encode.
const FEW_CELLS: usize = 1 << 10;
/// Longest stream in bytes for [`FEW_CELLS`].
const SHORT: usize = 2048;
/// Number of hash-table cells for streams longer than [`NEAR`], whose positions take 32 bits.
const WIDE_CELLS: usize = 1 << 13;
/// Number of hash-table cells where only long matches are looked for: a quarter of a first-level cache.
const SKIM_CELLS: usize = 1 << 12;
/// Bytes of a long match, at least.
const LONG: usize = 8;
/// Shortest stream in bytes that is encoded.
const SHORTEST: usize = 16;
/// No match starts within this many bytes of the end.
const LAST_MATCH: usize = 12;
/// Bytes of the shortest match of the higher levels.
const SHORT_MATCH: usize = 5;
/// The [`Pace`] of level 9; of 8 and 7 it is one and two less.
const MOST_PATIENCE: u32 = 8;
/// Bytes of the shortest match that is worth the four bytes of the far form.
const FAR_MATCH: usize = 7;
/// Shortest stream in bytes that [`probe`] looks at first; shorter ones are encoded at once.
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
    encode_content(src, dst, level, Content::Any, work)
}

/// [`encode`], knowing what `src` is made of.
pub(crate) fn encode_content(
    src: &[u8],
    dst: &mut [u8],
    level: u8,
    content: Content,
    work: &mut [u8],
) -> Option<usize> {
    if src.len() < SHORTEST || src.len() > i32::MAX as usize {
        return None;
    }
    let effort = if src.len() < LEAST_TRIED { Effort::Search } else { probe::effort(src, level, work)? };
    match (effort, level) {
        (Effort::GiveUp, _) => None,
        (Effort::Skim, _) if src.len() <= NEAR => skim(src, dst, level, Table::<SKIM_CELLS>::new(work)?.0),
        (Effort::Skim, _) => skim(src, dst, level, WideTable::<SKIM_CELLS>::new(work)?),
        (Effort::Search, 0..=5) => match content {
            // Long enough for a match and a byte that differs.
            Content::Items(size) if size > 6 => {
                search::<FEWER_CELLS, 6, true>(src, dst, 6, size.into(), work)
            }
            _ => search::<FEWER_CELLS, 6, false>(src, dst, 6, 0, work),
        },
        (Effort::Search, _) => {
            let patience = u32::from(level).clamp(7, 9) + MOST_PATIENCE - 9;
            match content {
                Content::Items(size) if size > 6 => {
                    search::<CELLS, SHORT_MATCH, true>(src, dst, patience, size.into(), work)
                }
                _ => search::<CELLS, SHORT_MATCH, false>(src, dst, patience, 0, work),
            }
        }
    }
}

/// Step by step, with `CELLS` where the stream is neither short nor long.
fn search<const CELLS: usize, const MIN: usize, const ITEMS: bool>(
    src: &[u8],
    dst: &mut [u8],
    patience: u32,
    item: usize,
    work: &mut [u8],
) -> Option<usize> {
    let pace = Pace { patience, first: 1, item };
    if src.len() <= SHORT {
        stream::<_, MIN, ITEMS>(src, dst, pace, Table::<FEW_CELLS>::new(work)?.0)
    } else if src.len() <= NEAR {
        stream::<_, MIN, ITEMS>(src, dst, pace, Table::<CELLS>::new(work)?.0)
    } else {
        stream::<_, MIN, ITEMS>(src, dst, pace, WideTable::<WIDE_CELLS>::new(work)?)
    }
}

/// For long matches only, which need not be met at their first byte, and past noise in large steps.
fn skim<T: Positions>(src: &[u8], dst: &mut [u8], level: u8, table: T) -> Option<usize> {
    let first = if level <= 6 { 16 } else { 8 };
    stream::<T, LONG, false>(src, dst, Pace { patience: 3, first, item: 0 }, table)
}

/// How the step between positions grows while none matches.
#[derive(Clone, Copy)]
struct Pace {
    /// By one every `1 << patience` positions.
    patience: u32,
    /// Where it begins.
    first: usize,
    /// How long an item is, if `ITEMS`.
    item: usize,
}

/// One stream, with an empty table; `None` where it does not fit.
fn stream<T: Positions, const MIN: usize, const ITEMS: bool>(
    src: &[u8],
    dst: &mut [u8],
    pace: Pace,
    mut table: T,
) -> Option<usize> {
    let words = Words::new(src)?;
    let mut out = Window::new(Out::from(&mut *dst), &[]);
    let anchor = matches::<T, MIN, ITEMS>(&words, src, &mut out, &mut table, pace)?;
    literals(&mut out, src, anchor, src.len()).ok()?;
    let len = out.position();
    *dst.first_mut()? |= 0x20;
    Some(len)
}

/// Writes everything up to the end of the last match; returns where that is.
#[inline(always)]
fn matches<T: Positions, const MIN: usize, const ITEMS: bool>(
    words: &Words<'_>,
    src: &[u8],
    out: &mut Window<'_>,
    table: &mut T,
    Pace { patience, first, item }: Pace,
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
        'written: {
            // How long the loop above went on says whether there are literals: the CPU predicts this branch.
            if start > anchor {
                start -= words.common_before(start - distance, start, start - anchor);
                // All of an item but its first byte is as in the last one: often the next is like that too, and is not searched.
                if ITEMS && shape(end - anchor, distance, start - anchor) == shape(item, item, 1) {
                    end = items::<T, MIN>(words, src, out, table, (anchor, end), item)?;
                    break 'written;
                }
            }
            instruction(out, src, anchor, start, distance, end - start).ok()?;
        }
        anchor = end;
        // The next match often begins at once, and strings that span the end of this one are found again.
        p = end - 1;
        // At the most patient, single matches in noise do not begin the small steps again.
        tries = if MIN == SHORT_MATCH && patience == MOST_PATIENCE { first.max(tries / 2) } else { first };
    }
    Some(anchor)
}

/// How many bytes a match takes with the literals before it, its distance, and how many of these bytes are literals, to be
/// compared as one number, because each of these alone is not predictable. Different ones do not look the same if one of them takes less
/// than 64 KiB.
#[inline(always)]
fn shape(taken: usize, distance: usize, literals: usize) -> u64 {
    taken as u64 | (distance as u64) << 31 | (literals as u64) << 48
}

/// Writes a match of all but the first byte of the item from `anchor` to `end`, and one for every following item that is as
/// the last one from there on; returns where the last match ends.
#[inline(never)]
fn items<T: Positions, const MIN: usize>(
    words: &Words<'_>,
    src: &[u8],
    out: &mut Window<'_>,
    table: &mut T,
    (mut anchor, mut end): (usize, usize),
    item: usize,
) -> Option<usize> {
    let until = src.len() - LAST_MATCH;
    let (mut p, mut start) = (anchor + 1, anchor + 1);
    loop {
        instruction(out, src, anchor, start, item, end - start).ok()?;
        (anchor, p) = (end, p + item);
        let word = words.load64(p);
        let diff = words.load64(p - item) ^ word;
        // Longer ones end anywhere.
        if p > until || diff << (64 - 8 * MIN) != 0 || diff == 0 {
            return Some(anchor);
        }
        table.swap(hash_low(word, MIN, T::BITS), p);
        end = p + (diff.trailing_zeros() / 8) as usize;
        start = p - words.common_before(p - item, p, p - anchor);
    }
}

#[cfg(all(test, feature = "alloc"))]
mod tests {
    use super::*;
    use alloc::{vec, vec::Vec};

    /// Counters whose low bytes change, in items of `size` bytes, with a jump now and then.
    fn counters(size: usize, len: usize) -> Vec<u8> {
        let (mut seed, mut level) = (1u32, 0u64);
        let mut next = || {
            seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            seed >> 16
        };
        let mut src = Vec::new();
        while src.len() < len {
            let gap = if next() % 64 == 0 { 1_000_000 } else { 40 };
            level = level.wrapping_add(1 + u64::from(next() % gap));
            let item = level.to_le_bytes().into_iter().chain(core::iter::repeat(7)).take(size);
            src.extend(item);
        }
        src.truncate(len);
        src
    }

    #[test]
    fn items_are_read_back_and_as_small_as_by_searching_for_them() {
        let lens = [16, 31, 300, 1000, 4096, 20_001, 1 << 16, 100_000];
        for (size, level) in
            [1, 2, 6, 7, 8, 9, 12, 16, 255].into_iter().flat_map(|size| [(size, 5), (size, 9)])
        {
            for len in lens {
                let src = counters(size, len);
                let (mut dst, mut back) = (vec![0; len], vec![0; len]);
                let mut encoded = |content| {
                    let n = encode_content(&src, &mut dst, level, content, &mut vec![0xa5; WORK])?;
                    back.fill(0);
                    super::super::decode(&dst[..n], Out::from(&mut back[..])).expect("our own stream");
                    assert!(back == src, "{size} {level} {len}");
                    Some(n)
                };
                let [any, items] = [Content::Any, Content::Items(size as u8)].map(&mut encoded);
                assert_eq!(any.is_some(), items.is_some(), "{size} {level} {len}");
                let (any, items) = (any.unwrap_or(0), items.unwrap_or(0));
                assert!(items <= any + any / 64 + 8, "{size} {level} {len}: {items} for {any}");
                // Nor is anything written past the room.
                if items > 4 {
                    let (content, work) = (Content::Items(size as u8), &mut vec![0; WORK]);
                    assert_eq!(encode_content(&src, &mut dst[..items - 4], level, content, work), None);
                }
            }
        }
    }
}
