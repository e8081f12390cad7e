//! [`RecentPositions`]: the input of an LZ encoder and where its strings have been seen last.

use crate::arch::search::hash::{hash_low, hash4};
use crate::arch::search::words::Words;

/// An input, and a table of the positions in it of some strings.
///
/// No cell holds but what was entered, and so none has to be compared with the end of the input before it is followed.
///
/// `BITS` is the size of the table where it is known beforehand, which saves its register in loops; else 0.
pub struct RecentPositions<'a, const BITS: u32> {
    words: Words<'a>,
    /// Positions at which words begin, none after [`last`](Self::last). There are `1 << bits`.
    cells: &'a mut [[u8; 2]],
    bits: u32,
    /// The last position that may be looked up yet, at which a word begins.
    last: usize,
}

impl<'a, const BITS: u32> RecentPositions<'a, BITS> {
    /// The most bytes of an input whose positions fit the cells.
    pub const LONGEST: usize = 1 << 16;

    /// The table of `1 << bits` cells, at most 65536, at the start of `work`, where every string has been seen at 0.
    /// `None` where `work` or `bytes` is too short, or `bytes` too long, or `bits` not what is known of them.
    pub fn new(bytes: &'a [u8], work: &'a mut [u8], bits: u32) -> Option<Self> {
        if bytes.len() > Self::LONGEST || !(1..=16).contains(&bits) || BITS > 0 && bits != BITS {
            return None;
        }
        let cells = work.as_chunks_mut().0.get_mut(..1 << bits)?;
        cells.fill([0; 2]);
        Some(RecentPositions { words: Words::new(bytes)?, cells, bits, last: 0 })
    }

    /// Forgets every position.
    pub fn empty(&mut self) {
        self.cells.fill([0; 2]);
    }

    /// From now on every word of the first `until` bytes may be looked up. `None` where the input is shorter, or `until` is
    /// less than before.
    #[inline(always)]
    pub fn extend(&mut self, until: usize) -> Option<()> {
        let last = self.words.starts_before(until)?;
        if last < self.last {
            return None;
        }
        self.last = last;
        Some(())
    }

    /// Where the `MIN` bytes at `p` have been seen last, or others, and the bits in which the words there differ; now they
    /// are seen at `p`. `None` where `p` may not be looked up. `MIN` is 4 to 8.
    #[inline(always)]
    pub fn look_up<const MIN: usize>(&mut self, p: usize) -> Option<(usize, u64)> {
        if p > self.last {
            return None;
        }
        // SAFETY: a word begins at `last` and so at what is not after it: `p`, and what any cell holds.
        unsafe {
            let word = self.words.load64_unchecked(p);
            let at = usize::from(u16::from_le_bytes(core::mem::replace(
                self.cell::<MIN>(word),
                (p as u16).to_le_bytes(),
            )));
            Some((at, word ^ self.words.load64_unchecked(at)))
        }
    }

    /// Now the `MIN` bytes at `p` have been seen there, if it may be looked up.
    #[inline(always)]
    pub fn enter<const MIN: usize>(&mut self, p: usize) {
        if p <= self.last {
            // SAFETY: a word begins at `last` and so at `p`.
            unsafe { *self.cell::<MIN>(self.words.load64_unchecked(p)) = (p as u16).to_le_bytes() };
        }
    }

    #[inline(always)]
    fn cell<const MIN: usize>(&mut self, word: u64) -> &mut [u8; 2] {
        let bits = if BITS > 0 { BITS } else { self.bits };
        let hash = if MIN == 4 { hash4(word, bits) } else { hash_low(word, MIN, bits) };
        // SAFETY: a hash has `bits` bits, and there are as many cells as such numbers.
        unsafe { self.cells.get_unchecked_mut(hash) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec;

    #[test]
    fn only_words_inside_are_looked_up() {
        let bytes: vec::Vec<u8> = (0..40).map(|i| i % 16).collect();
        let mut work = vec![0xa5; 2 << 10];
        assert!(RecentPositions::<0>::new(&bytes[..7], &mut work, 10).is_none(), "no word");
        assert!(RecentPositions::<0>::new(&bytes, &mut work[1..], 10).is_none(), "too little scratch");
        assert!(
            RecentPositions::<0>::new(&bytes, &mut work, 0).is_none()
                && RecentPositions::<0>::new(&bytes, &mut work, 17).is_none()
        );
        assert!(
            RecentPositions::<0>::new(&vec![0; RecentPositions::<0>::LONGEST + 1], &mut work, 10).is_none(),
            "positions of 17 bits"
        );
        assert!(RecentPositions::<9>::new(&bytes, &mut work, 10).is_none(), "another size");
        let mut recent = RecentPositions::<10>::new(&bytes, &mut work, 10).unwrap();
        assert_eq!(recent.look_up::<4>(0), Some((0, 0)));
        assert_eq!(recent.look_up::<4>(1), None, "only what it is extended to");
        assert_eq!((recent.extend(7), recent.extend(41)), (None, None));
        assert_eq!(recent.extend(30), Some(()));
        assert_eq!(recent.extend(29), None, "what has been entered stays inside");
        recent.enter::<4>(6);
        assert_eq!(recent.look_up::<4>(22), Some((6, 0)));
        assert_eq!(recent.look_up::<4>(23), None);
        recent.enter::<4>(23);
        assert_eq!(recent.extend(40), Some(()));
        let (at, differ) = recent.look_up::<4>(23).unwrap();
        assert!(at != 23 && at <= 22, "not entered before");
        assert_eq!(differ, recent.words.load64(23) ^ recent.words.load64(at));
        assert_eq!((recent.look_up::<4>(32).unwrap().0, recent.look_up::<4>(33)), (0, None));
        recent.empty();
        assert_eq!(recent.look_up::<4>(22).unwrap().0, 0);
    }

    #[test]
    fn every_hash_has_a_cell() {
        let bytes: vec::Vec<u8> = (0..5000u32).map(|i| (i.wrapping_mul(2_654_435_761) >> 24) as u8).collect();
        for bits in 1..=16 {
            let mut work = vec![0; 2 << bits];
            let mut recent = RecentPositions::<0>::new(&bytes, &mut work, bits).unwrap();
            recent.extend(bytes.len()).unwrap();
            for p in 0..bytes.len() - 7 {
                recent.enter::<4>(p);
                assert_eq!(recent.look_up::<4>(p), Some((p, 0)));
                assert!(recent.look_up::<6>(p).unwrap().0 <= p);
            }
        }
    }
}
