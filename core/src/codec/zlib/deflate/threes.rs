//! Matches of three bytes, which the searches of LZ4HC know nothing of: one table of last positions.

use super::REACH;
use super::tokens::SHORTEST;
use crate::codec::history::History;
use crate::codec::matcher::{hash_low, nearest};
use crate::codec::search::Match;

const BITS: u32 = 12;

/// Last positions modulo 65536, by three bytes.
pub(super) struct Threes<'a> {
    table: &'a mut [[u8; 2]],
    /// Positions below this are in the table.
    entered: usize,
}

impl<'a> Threes<'a> {
    /// Bytes of scratch.
    pub(super) const BYTES: usize = 2 << BITS;

    /// An empty table at the start of `work`, and the rest.
    pub(super) fn new(work: &'a mut [u8]) -> Option<(Self, &'a mut [u8])> {
        let (table, rest) = work.split_at_mut_checked(Self::BYTES)?;
        table.fill(0);
        Some((Threes { table: table.as_chunks_mut().0, entered: 0 }, rest))
    }

    /// The last position before `p` with the same three bytes.
    #[inline(always)]
    pub(super) fn last(&mut self, history: &History<'_, false>, p: usize) -> Match {
        let mut low = 0;
        while self.entered <= p {
            if let Some(cell) = self.table.get_mut(hash_low(history.word(self.entered), SHORTEST, BITS)) {
                low = u16::from_le_bytes(core::mem::replace(cell, (self.entered as u16).to_le_bytes()));
            }
            self.entered += 1;
        }
        let distance = p.wrapping_sub(nearest::<true>(low, p));
        let same = distance <= REACH.min(p) && (history.word(p - distance) ^ history.word(p)) << 40 == 0;
        Match { start: p, distance, len: if same { SHORTEST } else { 0 } }
    }
}
