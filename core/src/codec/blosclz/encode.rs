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
//! Streams that hardly shrink are given up early (`worthwhile`): where the head does not shrink enough, pieces
//! all over the stream are tried, since the rows of bitshuffled data are of all kinds, and one that does is
//! enough to go on. Higher levels give up less, level 9 never.

use super::emit::{instruction, literals};
use super::{FAR, REACH};
use crate::arch::copy::Window;
use crate::arch::out::Out;
use crate::arch::words::Words;
use crate::codec::matcher::{Table, WideTable, hash_low};

/// Of the table for streams up to 64 KiB.
const BITS: u32 = 14;
/// Of the table for longer ones, whose entries are twice as wide.
const WIDE_BITS: u32 = 13;
/// Streams shorter than this are not tried.
const SHORTEST: usize = 16;
/// No match starts within this many bytes of the end.
const LAST_MATCH: usize = 12;
/// The shortest match worth the four bytes of the far form.
const FAR_MATCH: usize = 7;
/// How much is tried at a time.
const PIECE: usize = 1 << 10;
/// From one piece that is tried to the next, unless that makes them more than [`MOST_PIECES`].
const SPACING: usize = 4 << 10;
/// How many pieces are tried at most.
const MOST_PIECES: usize = 32;
/// Streams shorter than this are encoded without asking.
const LEAST_TRIED: usize = 32 << 10;
/// Room for the output of a trial, whose last match may be long.
const TRIAL_ROOM: usize = 2 * PIECE;
const TABLE: usize = max(Table::<BITS>::BYTES, WideTable::<WIDE_BITS>::BYTES);

const fn max(a: usize, b: usize) -> usize {
    if a > b { a } else { b }
}

/// Bytes of scratch that [`encode`] needs.
pub const fn work_len(_level: u8, _src_len: usize) -> usize {
    TABLE + TRIAL_ROOM
}

/// Compresses `src` into one BloscLZ stream at the start of `dst` and returns its length; `level` is
/// 1 to 9: higher levels find more and give up less. `None` where it is not worth it or does not fit `dst`,
/// or `work` is shorter than [`work_len`], or `src` shorter than 16 bytes or longer than 2 GiB.
pub fn encode(src: &[u8], dst: &mut [u8], level: u8, work: &mut [u8]) -> Option<usize> {
    if src.len() < SHORTEST || src.len() > i32::MAX as usize {
        return None;
    }
    let (table, room) = work.split_at_mut_checked(TABLE)?;
    let room = room.get_mut(..TRIAL_ROOM)?;
    if src.len() <= 1 << 16 {
        let table = Table::<BITS>::new(table)?.0;
        by_level(src, dst, level, table, room)
    } else {
        let table = WideTable::<WIDE_BITS>::new(table)?;
        by_level(src, dst, level, table, room)
    }
}

/// Chooses how many bytes of a match the table finds.
fn by_level<T: Positions>(src: &[u8], dst: &mut [u8], level: u8, table: T, room: &mut [u8]) -> Option<usize> {
    let effort = Effort::of(level);
    if level < 6 {
        stream::<T, 6>(src, dst, effort, table, room)
    } else {
        stream::<T, 5>(src, dst, effort, table, room)
    }
}

/// What a level means.
#[derive(Clone, Copy)]
struct Effort {
    /// The step grows by one every `1 << patience` positions without a match.
    patience: u32,
    /// A stream that shrinks to more than so many hundredths is given up.
    most_percent: usize,
}

impl Effort {
    fn of(level: u8) -> Effort {
        let (patience, most_percent) = match level {
            0 | 1 => (6, 70),
            2 => (6, 78),
            3..=6 => (6, 83),
            7 => (6, 90),
            8 => (7, 95),
            _ => (8, 100),
        };
        Effort { patience, most_percent }
    }
}

/// A table of the last positions by the hash of `MIN` bytes.
trait Positions {
    /// Forgets everything.
    fn clear(&mut self);
    /// The last position before `p` whose word may begin like `word`; `p` replaces it.
    fn swap<const MIN: usize>(&mut self, word: u64, p: usize) -> usize;
}

/// For streams up to 64 KiB.
impl Positions for Table<'_, BITS> {
    fn clear(&mut self) {
        Table::clear(self);
    }

    #[inline(always)]
    fn swap<const MIN: usize>(&mut self, word: u64, p: usize) -> usize {
        usize::from(Table::swap(self, hash_low(word, MIN, BITS), p))
    }
}

/// For longer ones.
impl Positions for WideTable<'_, WIDE_BITS> {
    fn clear(&mut self) {
        WideTable::clear(self);
    }

    #[inline(always)]
    fn swap<const MIN: usize>(&mut self, word: u64, p: usize) -> usize {
        WideTable::swap(self, hash_low(word, MIN, WIDE_BITS), p)
    }
}

/// Where an encoder is in its input.
struct Cursor {
    /// The position to look at next.
    p: usize,
    /// Where the last match ended.
    anchor: usize,
}

impl Cursor {
    const START: Cursor = Cursor { p: 1, anchor: 0 };

    /// Whether what is encoded since `start`, with its pending literals, is at most `percent` hundredths of it.
    fn at_most(&self, percent: usize, start: usize, out: &Window<'_>) -> bool {
        let pending = self.p.saturating_sub(self.anchor);
        (out.position() + pending + pending / 32) * 100 <= (self.p - start) * percent
    }
}

/// One stream, with an empty table; `None` where it is given up or does not fit.
fn stream<T: Positions, const MIN: usize>(
    src: &[u8],
    dst: &mut [u8],
    effort: Effort,
    mut table: T,
    room: &mut [u8],
) -> Option<usize> {
    let words = Words::new(src)?;
    let mut out = Window::new(Out::from(&mut *dst), &[]);
    let mut cursor = Cursor::START;
    let last_start = src.len() - LAST_MATCH;
    if src.len() >= LEAST_TRIED && effort.most_percent < 100 {
        matches::<T, MIN>(&words, src, &mut out, &mut table, &mut cursor, effort.patience, PIECE)?;
        if !cursor.at_most(effort.most_percent, 0, &out) {
            if !worthwhile::<T, MIN>(&words, src, effort, &mut table, room) {
                return None;
            }
            table.clear();
            (out, cursor) = (Window::new(Out::from(&mut *dst), &[]), Cursor::START);
        }
    }
    matches::<T, MIN>(&words, src, &mut out, &mut table, &mut cursor, effort.patience, last_start)?;
    literals(&mut out, src, cursor.anchor, src.len()).ok()?;
    let len = out.position();
    *dst.first_mut()? |= 0x20;
    Some(len)
}

/// Whether any of several pieces of `src` shrinks enough; the first one, at its start, is in the table.
fn worthwhile<T: Positions, const MIN: usize>(
    words: &Words<'_>,
    src: &[u8],
    effort: Effort,
    table: &mut T,
    room: &mut [u8],
) -> bool {
    let spacing = (src.len() / MOST_PIECES).max(SPACING);
    let mut start = spacing;
    while start + PIECE < src.len() {
        let mut out = Window::new(Out::from(&mut *room), &[]);
        let mut cursor = Cursor { p: start, anchor: start };
        let end = start + PIECE;
        if matches::<T, MIN>(words, src, &mut out, table, &mut cursor, effort.patience, end).is_some()
            && cursor.at_most(effort.most_percent, start, &out)
        {
            return true;
        }
        start += spacing;
    }
    false
}

/// Writes everything up to the end of the last match that starts at or before `until`.
#[inline(always)]
fn matches<T: Positions, const MIN: usize>(
    words: &Words<'_>,
    src: &[u8],
    out: &mut Window<'_>,
    table: &mut T,
    cursor: &mut Cursor,
    patience: u32,
    until: usize,
) -> Option<()> {
    let match_end = src.len() - 1;
    let (mut p, mut anchor) = (cursor.p, cursor.anchor);
    let differ = |diff: u64| diff << (64 - 8 * MIN) != 0;
    // Only streams longer than the format reaches can have such a candidate.
    let too_far = |distance: usize| src.len() > REACH && distance > REACH;
    let mut tries = 1usize << patience;
    while p <= until {
        let word = words.load64(p);
        let q = table.swap::<MIN>(word, p);
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
            let q = table.swap::<MIN>(word, p - 1);
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
    *cursor = Cursor { p, anchor };
    Some(())
}
