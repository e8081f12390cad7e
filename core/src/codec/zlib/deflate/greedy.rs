//! Levels 1 and 2: one table of last positions, and the first match it finds, or a run.

use super::REACH;
use super::tokens::Blocks;
use crate::arch::words::Words;
use crate::codec::matcher::{Table, hash_low, nearest};
use crate::codec::search::Match;

const BITS: u32 = 14;
/// So many bytes of a match are looked up. Shorter ones save little where literals have codes of their own.
const LOOKED_UP: usize = 6;
/// No match begins within this many bytes of the end.
const LAST_MATCH: usize = 12;
/// The largest step.
const LARGEST: usize = 16;

/// Bytes of scratch for the table.
pub(super) const WORK_LEN: usize = Table::<BITS>::BYTES;

/// Passes on every match; `None` where the stream does not fit. The step grows by one every `1 << patience` positions
/// without a match.
#[inline(never)]
pub(super) fn matches(
    src: &[u8],
    words: &Words<'_>,
    patience: u32,
    work: &mut [u8],
    blocks: &mut Blocks<'_>,
) -> Option<()> {
    let mut table = Table::<BITS>::new(work)?.0;
    let Some(until) = src.len().checked_sub(LAST_MATCH) else { return Some(()) };
    let mut p = 1;
    let mut tries = 1usize << patience;
    while p <= until {
        let word = words.load64(p);
        let q = nearest::<true>(table.swap(hash_low(word, LOOKED_UP, BITS), p), p);
        let distance = p.wrapping_sub(q);
        let differ = words.load64(q) ^ word;
        if q >= p || distance > REACH || differ << (64 - 8 * LOOKED_UP) != 0 {
            p += tries >> patience;
            tries += usize::from(tries >> patience < LARGEST);
            blocks.pass(p)?;
            continue;
        }
        let mut taken = Match { start: p, distance, len: words.common_from(differ, q, p, src.len()) };
        if distance != 1 && words.load64(p - 1) == word {
            let run = words.common(p - 1, p, src.len());
            if run + 1 >= taken.len {
                taken = Match { distance: 1, len: run, ..taken };
            }
        }
        if !blocks.worth(&taken) {
            p += 1;
            continue;
        }
        let behind = words.common_before(p - taken.distance, p, p - blocks.at());
        (taken.start, taken.len) = (p - behind, taken.len + behind);
        blocks.push(&taken)?;
        tries = 1 << patience;
        p = taken.end();
        table.swap(hash_low(words.load64(p - 2), LOOKED_UP, BITS), p - 2);
    }
    Some(())
}
