//! Whether a stream is worth encoding: what its last eighth, quarter or half, or its head, would come to.
//!
//! ```text
//! level        1             2             3             4..=6         7..=9
//! region       n - n/8 ..    n - n/4 ..    n - n/4 ..    n - n/2 ..    0 ..
//! at most      4 KiB         8 KiB         16 KiB        16 KiB        16 KiB
//! it must be   1.98          1.48          1.19          1.19          1.14, 1.09, .98    times what it shrinks to
//! ```
//! A level tries its own region and then those of the levels below it, so that none gives up what a lower one
//! encodes. The bytes are counted as the reference encoder does (format document §4.3), which asks for 2, 1.5, 1.2,
//! 1.15, 1.1 and 1; less is asked here because the steps grow where there are no matches. So what is given up here is
//! what the reference gives up too, and costs less.

use super::FAR;
use crate::arch::words::Words;
use crate::codec::matcher::{Table, hash4};

/// Of the largest table.
const CELLS: usize = 1 << 14;
/// Bytes of scratch that [`worthwhile`] needs.
pub(super) const WORK: usize = Table::<CELLS>::BYTES;
/// So many positions without a match, and the step grows by one.
const PATIENCE: usize = 256;
/// No match starts within this many bytes of the end.
const LAST_MATCH: usize = 12;
/// From so many bytes on, a head that shrinks half as much again as it must is enough.
const CLEAR: usize = 2 << 10;

/// Whether `src` is worth encoding at `level`; `None` where `work` is shorter than [`WORK`].
pub(super) fn worthwhile(src: &[u8], level: u8, work: &mut [u8]) -> Option<bool> {
    let n = src.len();
    let head = match level {
        0..=6 => None,
        7 => Some(114),
        8 => Some(109),
        _ => Some(98),
    };
    if let Some(percent) = head
        && region::<CELLS>(src, n, percent, work)?
    {
        return Some(true);
    }
    if level >= 4 && region::<CELLS>(src, n / 2, 119, work)? {
        return Some(true);
    }
    if level >= 3 && region::<CELLS>(src, n / 4, 119, work)?
        || level == 2 && region::<{ CELLS / 2 }>(src, n / 4, 148, work)?
    {
        return Some(true);
    }
    region::<{ CELLS / 4 }>(src, n / 8, 198, work)
}

/// Whether the first `CELLS` of the last `len` bytes of `src` are at least `percent` hundredths of what they
/// shrink to.
fn region<const CELLS: usize>(src: &[u8], len: usize, percent: usize, work: &mut [u8]) -> Option<bool> {
    let region = src.get(src.len().checked_sub(len)?..)?;
    let region = region.get(..CELLS).unwrap_or(region);
    let mut table = Table::<CELLS>::new(work)?.0;
    Some(shrinks(region, percent, &mut table))
}

/// Counts what the matches of `src`, of seven bytes or more, of which all but one are copied, and the literals between
/// them take.
fn shrinks<const CELLS: usize>(src: &[u8], percent: usize, table: &mut Table<'_, CELLS>) -> bool {
    let (Some(words), Some(end)) = (Words::new(src), src.len().checked_sub(1)) else { return false };
    let Some(last_start) = src.len().checked_sub(LAST_MATCH + 1) else { return false };
    // With more than this it cannot become enough.
    let most = src.len() * 100 / percent;
    let (mut counted, mut p, mut anchor, mut tries) = (1, 1, 0, PATIENCE);
    let hash = |word| hash4(word, Table::<CELLS>::BITS);
    table.swap(hash(words.load64(0)), 0);
    while p <= last_start {
        let word = words.load64(p);
        let q = usize::from(table.swap(hash(word), p));
        let diff = words.load64(q) ^ word;
        // In one of the low seven bytes.
        if diff << 8 != 0 {
            p += tries / PATIENCE;
            tries += 1;
            continue;
        }
        let len = words.common_from(diff, q, p, end);
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
        (anchor, tries) = (p, PATIENCE);
    }
    let literals = p.min(src.len()) - anchor;
    (counted + literals + literals.div_ceil(32)) * percent <= p.min(src.len()) * 100
}
