//! Snappy encoder: greedy, with one table of last positions.
//!
//! ```text
//! at each position p, stepping further apart where nothing matches:
//!   the last position with the same four bytes, at most 65535 back, is the match, extended back over pending
//!   literals and forward as far as it goes
//! ```
//! Matches are written as copies of at most 64 bytes with a distance of two bytes, or of one where both fit.
#![deny(clippy::indexing_slicing, clippy::arithmetic_side_effects)]

use crate::arch::lz::window::Window;
use crate::arch::out::Out;
use crate::arch::search::hash::hash4;
use crate::arch::search::words::Words;
use crate::codec::error::CodecErrorKind;
use crate::codec::matcher::{Table, nearest};

/// Entries of the table, a power of two: they fill a first-level cache (docs/optimization-notes.md#snappy-search).
const CELLS: usize = 1 << 14;
const BITS: u32 = CELLS.trailing_zeros();
/// After `1 << PATIENCE` bytes without a match the search takes larger steps (docs/optimization-notes.md#snappy-search).
const PATIENCE: u32 = 5;
/// The farthest distance that two bytes hold.
const REACH: usize = 65_535;
/// The longest copy of one element.
const LONGEST: usize = 64;
/// The shortest match, and the shortest copy of the short form.
const SHORTEST: usize = 4;

/// Bytes of scratch that [`encode`] needs.
pub const WORK_LEN: usize = Table::<CELLS>::BYTES;

/// Compresses `src` into one stream at the start of `dst` and returns its length. `None` where it does not fit `dst`,
/// `work` is shorter than [`WORK_LEN`], or `src` is 4 GiB or longer.
pub fn encode(src: &[u8], dst: &mut [u8], work: &mut [u8]) -> Option<usize> {
    let mut out = Window::new(Out::from(dst), &[]);
    preamble(&mut out, u32::try_from(src.len()).ok()?).ok()?;
    let (mut table, _) = Table::<CELLS>::new(work)?;
    let mut anchor = 0usize;
    if let Some(words) = Words::new(src) {
        // The first position is in the table, which is all zero.
        let mut p = 1usize;
        while let Some(word) = words.get64(p) {
            let q = nearest::<true>(table.swap(hash4(word, BITS), p), p);
            let distance = p.wrapping_sub(q);
            let differ = words.load64(q) ^ word;
            // An entry that no position has reached yet leads to before the start.
            if differ as u32 != 0 || distance > REACH.min(p) {
                let step = (p.saturating_sub(anchor) >> PATIENCE).saturating_add(1);
                p = p.saturating_add(step);
                continue;
            }
            let forward = words.common_from(differ, q, p, src.len());
            let back = words.common_before(q, p, p.saturating_sub(anchor));
            literals(&mut out, src, anchor, p.saturating_sub(back)).ok()?;
            copies(&mut out, distance, forward.saturating_add(back)).ok()?;
            anchor = p.saturating_add(forward);
            p = anchor;
            // The position before the next one often begins the next match.
            let last = p.saturating_sub(1);
            if let Some(word) = words.get64(last) {
                table.swap(hash4(word, BITS), last);
            }
        }
    }
    literals(&mut out, src, anchor, src.len()).ok()?;
    Some(out.position())
}

fn preamble(out: &mut Window<'_>, mut len: u32) -> Result<(), CodecErrorKind> {
    while len >= 0x80 {
        out.push(len as u8 | 0x80)?;
        len >>= 7;
    }
    out.push(len as u8)
}

/// Writes `src[start..end]` as one literal, or nothing for no bytes.
#[inline(always)]
fn literals(out: &mut Window<'_>, src: &[u8], start: usize, end: usize) -> Result<(), CodecErrorKind> {
    let len = end.saturating_sub(start);
    let Some(less_one) = len.checked_sub(1) else { return Ok(()) };
    if less_one < 60 {
        out.push((less_one << 2) as u8)?;
    } else {
        // Bytes that the length takes, 1 to 4.
        let bytes = (less_one.ilog2() / 8).saturating_add(1);
        out.push((bytes.saturating_add(59) << 2) as u8)?;
        out.push_low(less_one as u64, bytes as usize)?;
    }
    out.literals(src, start, len)
}

/// Writes a match of `len` bytes, at least [`SHORTEST`].
#[inline(always)]
fn copies(out: &mut Window<'_>, distance: usize, mut len: usize) -> Result<(), CodecErrorKind> {
    let far = (distance as u64) << 8;
    while len > LONGEST {
        // What is left is at least the shortest copy of the short form.
        let part = LONGEST.min(len.saturating_sub(SHORTEST));
        out.push_low(2 | (part as u64).wrapping_sub(1) << 2 | far, 3)?;
        len = len.saturating_sub(part);
    }
    if len < 12 && distance < 2048 {
        let tag = 1 | (len as u64).wrapping_sub(4) << 2 | (distance as u64 >> 8) << 5;
        return out.push_low(tag | (distance as u64 & 0xff) << 8, 2);
    }
    out.push_low(2 | (len as u64).wrapping_sub(1) << 2 | far, 3)
}
