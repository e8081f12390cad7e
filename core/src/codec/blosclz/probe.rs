//! How much work a stream is worth: what its last eighth, quarter or half, or its head, would come to.
//!
//! ```text
//! level        1             2             3             4..=6         7..=9
//! region       n - n/8 ..    n - n/4 ..    n - n/4 ..    n - n/2 ..    0 ..
//! at most      4 KiB         8 KiB         16 KiB        16 KiB        16 KiB
//! it must be   1.98          1.48          1.19          1.19          1.14, 1.09, .97    times what it shrinks to
//! ```
//! The bytes are counted as the reference encoder does (docs/formats/chunk.md §4.3), which asks for
//! 2, 1.5, 1.2, 1.15, 1.1 and 1, and gives up what does not shrink so far.
//! Such streams are often mixed, bit planes above all: long matches here,
//! noise there. From level 4 on they are skimmed for long matches, in less time than the reference takes to give them
//! up; below, only those that a lower level would encode, so that none gives up what a lower one encodes. The answer
//! need seldom be exact, therefore, and the steps grow where there are no matches.

use super::format::FAR;
use crate::arch::search::hash::hash4;
use crate::arch::search::words::Words;
use crate::codec::matcher::Table;

/// Number of hash-table cells: few, because they are emptied for every region and an estimate need not be exact.
const CELLS: usize = 1 << 12;
/// Bytes of scratch that [`effort`] needs.
pub(super) const WORK: usize = Table::<CELLS>::BYTES;
/// Positions without a match after which the step grows by one.
const PATIENCE: usize = 64;
/// [`PATIENCE`] at levels 4 to 7. A stream that is refused there is skimmed and shrinks nearly as far, and a longer look would
/// take half the time of many streams.
const LESS_PATIENCE: usize = 32;
/// [`PATIENCE`] at levels 2 and 3. Most streams that are refused there are given up, so there is time to be exact.
const MORE_PATIENCE: usize = 256;
/// No match starts within this many bytes of the end.
const LAST_MATCH: usize = 12;
/// Bytes after which a region that shrinks half as much again as it must is accepted.
const CLEAR: usize = 2 << 10;

/// How a stream is best encoded.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Effort {
    /// Not at all.
    GiveUp,
    /// For long matches only: it shrinks little, or only in places.
    Skim,
    /// For every match.
    Search,
}

/// How `src` is best encoded at `level`; `None` where `work` is shorter than [`WORK`].
pub(super) fn effort(src: &[u8], level: u8, work: &mut [u8]) -> Option<Effort> {
    if shrinks_at(src, level, work)? {
        return Some(Effort::Search);
    }
    // Below level 4 the reference's answer comes too soon to look for more than a lower level would encode.
    let skimmed = match level {
        0 | 1 => false,
        2 => shrinks_at(src, 1, work)?,
        3 => shrinks_at(src, 2, work)? || shrinks_at(src, 1, work)?,
        _ => true,
    };
    Some(if skimmed { Effort::Skim } else { Effort::GiveUp })
}

/// Whether the region of `level` shrinks by as much as it must.
fn shrinks_at(src: &[u8], level: u8, work: &mut [u8]) -> Option<bool> {
    let n = src.len();
    let (len, most, percent, patience) = match level {
        0 | 1 => (n / 8, 4 << 10, 198, PATIENCE),
        2 => (n / 4, 8 << 10, 148, MORE_PATIENCE),
        3 => (n / 4, 16 << 10, 119, MORE_PATIENCE),
        4..=6 => (n / 2, 16 << 10, 119, LESS_PATIENCE),
        7 => (n, 16 << 10, 114, LESS_PATIENCE),
        8 => (n, 16 << 10, 109, PATIENCE),
        _ => (n, 16 << 10, 97, PATIENCE),
    };
    let region = src.get(n - len..)?;
    let region = region.get(..most).unwrap_or(region);
    Some(shrinks(region, percent, patience, &mut Table::new(work)?.0))
}

/// Whether `src` is at least `percent` hundredths of what it shrinks to.
///
/// Counts what the matches, of seven bytes or more, of which all but one are copied, and the literals between
/// them take.
fn shrinks(src: &[u8], percent: usize, patience: usize, table: &mut Table<'_, CELLS>) -> bool {
    let (Some(words), Some(end)) = (Words::new(src), src.len().checked_sub(1)) else { return false };
    let Some(last_start) = src.len().checked_sub(LAST_MATCH + 1) else { return false };
    // With more than this it cannot become enough.
    let most = src.len() * 100 / percent;
    let (mut counted, mut p, mut anchor, mut tries) = (1, 1, 0, patience);
    let hash = |word| hash4(word, Table::<CELLS>::BITS);
    table.swap(hash(words.load64(0)), 0);
    while p <= last_start {
        let word = words.load64(p);
        let q = usize::from(table.swap(hash(word), p));
        let diff = words.load64(q) ^ word;
        // In one of the low seven bytes.
        if diff << 8 != 0 {
            p += tries / patience;
            tries += 1;
            continue;
        }
        let len = words.common_any(q, p, end);
        let literals = p - anchor;
        counted += literals + literals.div_ceil(32) + if p - q < FAR { 2 } else { 4 };
        if len >= 10 {
            counted += 1 + (len - 10) / 255;
        }
        p += len - 1;
        if counted > most {
            return false;
        }
        if p >= CLEAR && p * 100 >= counted * (percent + percent / 2) {
            return true;
        }
        table.swap(hash(words.load64(p - 2)), p - 2);
        (anchor, tries) = (p, patience);
    }
    let literals = p.min(src.len()) - anchor;
    (counted + literals + literals.div_ceil(32)) * percent <= p.min(src.len()) * 100
}
