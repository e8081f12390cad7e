//! What a sample of a stream tells of its matches: what share of it matches, for how long, and how often matches begin.
//!
//! ```text
//! at each position of some pieces that are spread evenly over the stream:
//!   the last position in the pieces with the same hash of four bytes: do four bytes match there, do eight?
//!   does a match begin, that is, does the distance differ from the one before?
//! ```

use crate::arch::search::hash::hash4;
use crate::arch::search::words::Words;

/// Pieces of the longest sample, and bytes of each (docs/optimization-notes.md#zlib-samples).
pub(super) const LONG: (usize, usize) = (4, 512);
/// Bits of the hashes: there is a cell for each position.
const BITS: u32 = (LONG.0 * LONG.1).ilog2();

/// Counts of positions.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sample {
    /// All that were looked at.
    pub(super) positions: usize,
    /// Positions whose next four bytes have been met before.
    pub(super) fours: usize,
    /// Positions whose next eight bytes have been met before.
    pub(super) eights: usize,
    /// Positions of `fours` at which a match begins.
    pub(super) starts: usize,
}

impl Sample {
    /// Looks at `pieces` pieces, two or more, of `piece` bytes each. `None` where `src` is shorter than a word.
    pub(super) fn of(src: &[u8], (pieces, piece): (usize, usize)) -> Option<Sample> {
        let words = Words::new(src)?;
        // Positions where a whole word begins, but for the last.
        let len = src.len() - size_of::<u64>();
        let piece = piece.min(len / pieces);
        let mut last = [0u32; 1 << BITS];
        let mut sample = Sample { positions: 0, fours: 0, eights: 0, starts: 0 };
        for at in 0..pieces {
            let start = (len - piece) / (pieces - 1) * at;
            let mut distance = 0;
            for p in start.max(1)..start + piece {
                let word = words.load64(p);
                let q = last.get_mut(hash4(word, BITS)).map_or(0, |cell| core::mem::replace(cell, p as u32));
                let differ = words.load64(q as usize) ^ word;
                let now = if differ as u32 == 0 { p - q as usize } else { 0 };
                let before = core::mem::replace(&mut distance, now);
                sample.fours += usize::from(distance > 0);
                sample.starts += usize::from(distance > 0 && distance != before);
                sample.eights += usize::from(differ == 0);
            }
            sample.positions += piece;
        }
        Some(sample)
    }
}
