//! Whether a stream is worth a search: what a part of it would come to.
//!
//! ```text
//! region = the last 1/divisor of the stream, of that the first `most` bytes
//! at each position p of the region, stepping further apart where nothing matches:
//!   the last position with the same seven bytes is a match; count what it takes, and the literals before it
//!   stop once the count is too high, or so low after 2 KiB that it cannot rise too far
//! the stream is searched if region * 100 >= count * percent
//! ```
//! The bytes are counted as the reference encoder does (docs/formats/chunk.md §4.3). Streams that are refused are often
//! mixed, bit planes above all: long matches here, noise there. The levels that skim them for long matches
//! lose little by a wrong answer, so the estimate may be rough and the steps may grow.

use super::format::{FAR, LAST_MATCH};
use super::levels::Probe;
use crate::arch::search::hash::hash4;
use crate::arch::search::words::Words;
use crate::codec::matcher::Table;

/// Number of hash-table cells: few, because they are emptied for every stream and an estimate need not be exact
/// (docs/optimization-notes.md#blosclz-probe).
const CELLS: usize = 1 << 12;
/// Bytes of scratch that [`shrinks`] needs.
pub(super) const WORK: usize = Table::<CELLS>::BYTES;
/// Bytes after which a region that shrinks half as much again as it must is accepted
/// (docs/optimization-notes.md#blosclz-clear).
const CLEAR: usize = 2 << 10;

/// Whether `src` shrinks as far as `probe` asks; `None` where `work` is shorter than [`WORK`].
pub(super) fn shrinks(src: &[u8], probe: &Probe, work: &mut [u8]) -> Option<bool> {
    let region = src.get(src.len() - src.len() / probe.divisor..)?;
    let region = region.get(..probe.most).unwrap_or(region);
    Some(region_shrinks(region, probe, &mut Table::new(work)?.0))
}

/// Whether all of `region` is at least `percent` hundredths of what it shrinks to.
fn region_shrinks(region: &[u8], probe: &Probe, table: &mut Table<'_, CELLS>) -> bool {
    let &Probe { percent, patience, .. } = probe;
    let first = 1 << patience;
    let (Some(words), Some(end)) = (Words::new(region), region.len().checked_sub(1)) else { return false };
    let Some(last_start) = region.len().checked_sub(LAST_MATCH + 1) else { return false };
    // With more than this it cannot become enough.
    let most = region.len() * 100 / percent;
    let (mut counted, mut p, mut anchor, mut tries) = (1, 1, 0, first);
    let hash = |word| hash4(word, Table::<CELLS>::BITS);
    table.swap(hash(words.load64(0)), 0);
    while p <= last_start {
        let word = words.load64(p);
        let q = usize::from(table.swap(hash(word), p));
        let diff = words.load64(q) ^ word;
        // In one of the low seven bytes.
        if diff << 8 != 0 {
            p += tries >> patience;
            tries += 1;
            continue;
        }
        let len = words.common_any(q, p, end);
        counted += literals_take(p - anchor) + if p - q < FAR { 2 } else { 4 };
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
        (anchor, tries) = (p, first);
    }
    let seen = p.min(region.len());
    (counted + literals_take(seen - anchor)) * percent <= seen * 100
}

/// Bytes that `count` literals take.
fn literals_take(count: usize) -> usize {
    count + count.div_ceil(32)
}
