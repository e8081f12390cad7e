//! Bits of a zstd stream that is read backwards: from the highest bit of its last byte down (RFC 8878 §4).
//!
//! ```text
//! first byte ... last byte = 0 .. 0 1 b b b
//!                                     ^ next bits; the highest 1 only marks the end
//! ```

use crate::codec::CodecErrorKind;

/// A backward reader that holds at least 56 bits after each [`refill`](BackBits::refill).
#[derive(Clone, Copy)]
pub(super) struct BackBits<'a> {
    /// Bytes not loaded yet.
    src: &'a [u8],
    /// The `held` high bits are next; those below are what the next load will bring, or zero.
    bits: u64,
    held: u32,
    /// Zero bytes loaded after the first byte of the stream was.
    invented: u32,
}

impl<'a> BackBits<'a> {
    /// A reader of all of `src`, whose last byte must hold the end mark.
    pub fn new(src: &'a [u8]) -> Result<Self, CodecErrorKind> {
        let last = src.last().copied().unwrap_or(0);
        if last == 0 {
            return Err(CodecErrorKind::Corrupt);
        }
        let mut reader = BackBits { src, bits: 0, held: 0, invented: 0 };
        reader.refill();
        reader.skip(last.leading_zeros().wrapping_add(1));
        Ok(reader)
    }

    /// Whether the next refill takes the fast way.
    #[inline(always)]
    pub fn is_far(&self) -> bool {
        self.src.len() >= 8
    }

    /// Tops up to at least 56 bits; past the end of the stream with zeros.
    #[inline(always)]
    pub fn refill(&mut self) {
        if let Some(word) = self.src.last_chunk::<8>() {
            self.bits |= u64::from_le_bytes(*word) >> (self.held & 63);
            let bytes = (63 ^ (self.held & 63)) as usize >> 3;
            self.src = self.src.get(..self.src.len().wrapping_sub(bytes)).unwrap_or(&[]);
            self.held |= 56;
        } else {
            self.refill_near_end();
        }
    }

    #[cold]
    #[inline(never)]
    fn refill_near_end(&mut self) {
        while self.held < 56 {
            let byte = match self.src.split_last() {
                Some((&last, rest)) => {
                    self.src = rest;
                    last
                }
                None => {
                    self.invented = self.invented.wrapping_add(1);
                    0
                }
            };
            self.bits |= (u64::from(byte) << 56) >> self.held;
            self.held = self.held.wrapping_add(8);
        }
    }

    /// The next `N` bits (1 ..= 32), without taking them.
    #[inline(always)]
    pub fn peek<const N: u32>(&self) -> usize {
        (self.bits >> const { 64 - N }) as usize
    }

    /// Drops `n` bits, which have been refilled before.
    #[inline(always)]
    pub fn skip(&mut self, n: u32) {
        self.bits <<= n & 63;
        self.held = self.held.wrapping_sub(n & 63);
    }

    /// The next `n` bits (0 ..= 32), which have been refilled before.
    #[inline(always)]
    pub fn take(&mut self, n: u32) -> u32 {
        let value = (self.bits >> 1) >> (63 ^ (n & 63));
        self.skip(n);
        value as u32
    }

    /// Whether more bits have been taken than there were.
    pub fn is_overdrawn(&self) -> bool {
        self.held < self.invented.saturating_mul(8)
    }

    /// Whether exactly all bits have been taken.
    pub fn is_finished(&self) -> bool {
        self.src.is_empty() && self.held == self.invented.saturating_mul(8)
    }
}
