//! Levels 1 and 2: one table of last positions, and the first match it finds, or a run.
//!
//! ```text
//! p = 1
//! while p is not too close to the end:
//!   q = table[hash of the six bytes at p];  table[hash] = p
//!   if the six bytes at p and q differ, or q is too far:  p += step, which grows;  continue
//!   taken = the match, or the run of one byte at p if that goes as far
//!   if it takes more bits than its literals:  p += 1;  continue
//!   extend taken backward over literals;  pass it on;  p = its end
//! ```

use super::blocks::Blocks;
use super::parse::LAST_MATCH;
use super::tokens::REACH;
use crate::arch::search::hash::hash_low;
use crate::arch::search::words::Words;
use crate::codec::matcher::nearest;
use crate::codec::search::Match;

/// Bits of the largest table's hashes (docs/optimization-notes.md#zlib-greedy).
const MOST_BITS: u32 = 14;
/// So many bytes of a match are looked up: shorter ones save little where literals have codes of their own
/// (docs/optimization-notes.md#zlib-greedy).
const LOOKED_UP: usize = 6;

/// Bits of the hashes for `len` bytes: there is an entry for each, up to a table of `most` bits.
pub(super) const fn bits(len: usize, most: u32) -> u32 {
    let bits = usize::BITS - len.saturating_sub(1).leading_zeros();
    if bits < 8 {
        8
    } else if bits < most {
        bits
    } else {
        most
    }
}

/// Bytes of scratch for the table.
pub(super) const fn work_len(src_len: usize) -> usize {
    2 << bits(src_len, MOST_BITS)
}

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
    let bits = bits(src.len(), MOST_BITS);
    work.fill(0);
    // Positions modulo 65536.
    let (table, _) = work.as_chunks_mut::<2>();
    let mut swap = |word: u64, p: usize| match table.get_mut(hash_low(word, LOOKED_UP, bits)) {
        Some(cell) => u16::from_le_bytes(core::mem::replace(cell, (p as u16).to_le_bytes())),
        None => 0,
    };
    let Some(until) = src.len().checked_sub(LAST_MATCH) else { return Some(()) };
    let mut p = 1;
    let mut tries = 1usize << patience;
    while p <= until {
        let word = words.load64(p);
        let q = nearest::<true>(swap(word, p), p);
        let distance = p.wrapping_sub(q);
        let differ = words.load64(q) ^ word;
        if q >= p || distance > REACH || differ << (64 - 8 * LOOKED_UP) != 0 {
            p += tries >> patience;
            tries += 1;
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
            blocks.pass(p)?;
            continue;
        }
        let behind = words.common_before(p - taken.distance, p, p - blocks.at());
        (taken.start, taken.len) = (p - behind, taken.len + behind);
        blocks.push(&taken)?;
        tries = 1 << patience;
        p = taken.end();
        swap(words.load64(p - 2), p - 2);
    }
    Some(())
}
