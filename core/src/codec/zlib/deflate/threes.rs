//! Matches of three bytes, which the searches of LZ4HC know nothing of: one table of last positions.

use super::tokens::REACH;
use super::tokens::SHORTEST;
use crate::arch::search::hash::hash_low;
use crate::codec::history::History;
use crate::codec::matcher::nearest;
use crate::codec::search::Match;

/// Bits of the largest table's hashes: it has an entry for each position within reach.
const MOST_BITS: u32 = REACH.ilog2();

/// Bits of the hashes for `len` bytes: an entry for each, up to the window's.
const fn bits(len: usize) -> u32 {
    match usize::BITS - len.leading_zeros() {
        0..8 => 8,
        bits @ 8..MOST_BITS => bits,
        _ => MOST_BITS,
    }
}

/// Bytes of scratch for `src_len` bytes.
pub(super) const fn work_len(src_len: usize) -> usize {
    2 << bits(src_len)
}

/// Last positions modulo 65536, by three bytes.
pub(super) struct Threes<'a> {
    table: &'a mut [[u8; 2]],
    /// Bits of the hashes.
    bits: u32,
    /// Positions below this are in the table.
    entered: usize,
}

impl<'a> Threes<'a> {
    /// An empty table for `src_len` bytes at the start of `work`, and the rest.
    pub(super) fn new(src_len: usize, work: &'a mut [u8]) -> Option<(Self, &'a mut [u8])> {
        let (table, rest) = work.split_at_mut_checked(work_len(src_len))?;
        table.fill(0);
        Some((Threes { table: table.as_chunks_mut().0, bits: bits(src_len), entered: 0 }, rest))
    }

    /// The last position before `p` with the same three bytes.
    #[inline(always)]
    pub(super) fn last(&mut self, history: &History<'_, false>, p: usize) -> Match {
        let mut low = 0;
        while self.entered <= p {
            if let Some(cell) = self.table.get_mut(hash_low(history.word(self.entered), SHORTEST, self.bits))
            {
                low = u16::from_le_bytes(core::mem::replace(cell, (self.entered as u16).to_le_bytes()));
            }
            self.entered += 1;
        }
        let distance = p.wrapping_sub(nearest::<true>(low, p));
        let same = distance <= REACH.min(p) && (history.word(p - distance) ^ history.word(p)) << 40 == 0;
        Match { start: p, distance, len: if same { SHORTEST } else { 0 } }
    }
}

#[cfg(test)]
#[allow(clippy::indexing_slicing, clippy::arithmetic_side_effects)]
mod tests {
    use super::*;
    use alloc::{vec, vec::Vec};

    /// `abc` at both ends of `apart` bytes in which no three bytes are `abc`.
    #[test]
    fn the_last_three_bytes_are_found_within_reach_and_not_beyond() {
        for (apart, is_found) in [(3, true), (4, true), (4000, true), (REACH, true), (REACH + 1, false)] {
            let mut src = b"abc".to_vec();
            src.resize(apart, b'-');
            src.extend(b"abc.....");
            let (history, mut work) = (History::new(&src, &[]).unwrap(), vec![0xa5; work_len(src.len())]);
            let (mut threes, _) = Threes::new(src.len(), &mut work).unwrap();
            let found = threes.last(&history, apart);
            assert_eq!(
                (found.start, found.len),
                (apart, if is_found { SHORTEST } else { 0 }),
                "{apart} apart"
            );
            assert!(!is_found || found.distance == apart, "{apart} apart: {}", found.distance);
        }
    }

    /// Whatever another string under the same hash, or an old position, has left in the table.
    #[test]
    fn what_is_found_is_equal() {
        let mut random = blosc_testkit::Random(3);
        let mut next = || random.next() as u8;
        let src: Vec<u8> = (0..150_000).map(|_| next() >> 3).collect();
        let (history, mut work) = (History::new(&src, &[]).unwrap(), vec![0xa5; work_len(src.len())]);
        let (mut threes, _) = Threes::new(src.len(), &mut work).unwrap();
        let mut found = 0;
        for p in (0..src.len() - 8).step_by(3) {
            let last = threes.last(&history, p);
            if last.len > 0 {
                assert!((1..=REACH).contains(&last.distance), "{} back", last.distance);
                assert_eq!(src[p..p + 3], src[p - last.distance..][..3], "at {p}, {} back", last.distance);
                found += 1;
            }
        }
        assert!(found > 5000, "{found} of 50,000");
    }

    /// Nothing but three bytes repeats, each time before another one: all that is saved is theirs.
    #[test]
    fn levels_6_to_9_write_matches_of_three_bytes() {
        let mut random = blosc_testkit::Random(3);
        let mut next = || random.next() as u8;
        let words: Vec<[u8; 3]> = (0..24).map(|_| [next(), next(), next()]).collect();
        let src: Vec<u8> = (0..8000)
            .flat_map(|_| {
                let [a, b, c] = words[usize::from(next()) % words.len()];
                [a, b, c, next()]
            })
            .collect();
        let mut lens = (1..=9).map(|level| {
            let (mut coded, mut back) = (vec![0; src.len() + 1000], vec![0; src.len()]);
            let mut work = vec![0xa5; super::super::work_len(level, src.len())];
            let len = super::super::encode(&src, &mut coded, level, &mut work).unwrap();
            let mut work = vec![0xa5; crate::codec::zlib::DECODE_WORK_LEN];
            crate::codec::zlib::decode(&coded[..len], (&mut back[..]).into(), &mut work).unwrap();
            assert!(back == src, "level {level}");
            len
        });
        let least_without = lens.by_ref().take(5).min().unwrap();
        for (level, len) in (6..).zip(lens) {
            assert!(10 * len < 9 * least_without, "level {level}: {len} bytes, {least_without} without");
        }
    }
}
