//! What the LZ encoders share: words read from anywhere, tables of positions, match lengths.
//!
//! Words are little-endian whatever the machine, so that the same positions are found, and the same
//! bytes written, everywhere.

/// The four bytes at `at` as a little-endian word; 0 where they leave `src`.
#[inline(always)]
pub(super) fn load32(src: &[u8], at: usize) -> u32 {
    match src.get(at..).and_then(|s| s.first_chunk()) {
        Some(word) => u32::from_le_bytes(*word),
        None => 0,
    }
}

/// How many bytes from `a` and from `b` on are equal, reading none at or after `end`.
#[inline(always)]
pub(super) fn common(src: &[u8], a: usize, b: usize, end: usize) -> usize {
    let (Some(mut x), Some(mut y)) = (src.get(a..end), src.get(b..end)) else { return 0 };
    let mut n = 0;
    while let (Some((p, xs)), Some((q, ys))) = (x.split_first_chunk::<8>(), y.split_first_chunk::<8>()) {
        let differ = u64::from_le_bytes(*p) ^ u64::from_le_bytes(*q);
        if differ != 0 {
            return n + (differ.trailing_zeros() / 8) as usize;
        }
        (x, y) = (xs, ys);
        n += 8;
    }
    n + x.iter().zip(y).take_while(|(p, q)| p == q).count()
}

/// A table of positions in caller memory, all zero at first.
pub(super) struct Table<'a, const BITS: u32>(&'a mut [[u8; 4]]);

impl<'a, const BITS: u32> Table<'a, BITS> {
    /// Bytes it needs.
    pub(super) const BYTES: usize = 4 << BITS;

    /// The table at the start of `work`, and the rest; `None` where `work` is too short.
    #[inline]
    pub(super) fn new(work: &'a mut [u8]) -> Option<(Self, &'a mut [u8])> {
        let (head, rest) = work.split_at_mut_checked(Self::BYTES)?;
        head.fill(0);
        Some((Table(head.as_chunks_mut().0), rest))
    }

    /// The position stored under `hash`, which `position` replaces.
    #[inline(always)]
    pub(super) fn swap(&mut self, hash: u32, position: u32) -> u32 {
        match self.0.get_mut(hash as usize) {
            Some(cell) => u32::from_le_bytes(core::mem::replace(cell, position.to_le_bytes())),
            None => 0,
        }
    }
}

/// Multiplicative hash of four bytes, to `bits` bits.
#[inline(always)]
pub(super) fn hash4(word: u32, bits: u32) -> u32 {
    word.wrapping_mul(2_654_435_761) >> (32 - bits)
}
