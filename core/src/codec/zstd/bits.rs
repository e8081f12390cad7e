//! Bits of a zstd stream that is read backwards: from the highest bit of its last byte down (RFC 8878 §4).
//!
//! ```text
//! first byte ...  [ 8 bytes in `word` ] already read ... last byte = 0 .. 0 1 b b b
//!                   ^ low   high ^                      the highest 1 only marks the end
//! ```

use crate::arch::entropy::bit_instructions;
use crate::codec::error::CodecErrorKind;

/// A backward reader that holds at least 56 bits after each [`refill`](BackBits::refill), as far as there
/// are so many.
#[derive(Clone, Copy)]
pub(super) struct BackBits<'a> {
    /// The bytes up to and with those in `word`.
    src: &'a [u8],
    /// The last 8 bytes of `src`, or all of it.
    word: u64,
    /// Its low bits that have not been read; below 0, wrapped, once more has been read than there was.
    left: u32,
}

impl<'a> BackBits<'a> {
    /// A reader of all of `src`, whose last byte must hold the end mark.
    ///
    /// # Errors
    /// `Corrupt` where the last byte holds no end mark.
    #[inline(always)]
    pub fn new(src: &'a [u8]) -> Result<Self, CodecErrorKind> {
        let last = src.last().copied().unwrap_or(0);
        if last == 0 {
            return Err(CodecErrorKind::Corrupt);
        }
        let (word, bytes) = match src.last_chunk::<8>() {
            Some(word) => (u64::from_le_bytes(*word), 8),
            None => (src.iter().rev().fold(0, |word, &byte| (word << 8) | u64::from(byte)), src.len() as u32),
        };
        let left = (bytes << 3).wrapping_sub(last.leading_zeros()).wrapping_sub(1);
        Ok(BackBits { src, word, left })
    }

    /// Tops up to at least 57 bits, or all there are.
    #[inline(always)]
    pub fn refill(&mut self) {
        let used = 64u32.wrapping_sub(self.left);
        // `used` is at most 64: only in the last 8 bytes can more be taken than there is.
        if self.src.len() >= 16 {
            let bytes = (used >> 3 & 15) as usize;
            self.src = self.src.get(..self.src.len().wrapping_sub(bytes)).unwrap_or(&[]);
            self.word = self.src.last_chunk::<8>().map_or(0, |word| u64::from_le_bytes(*word));
            self.left = self.left.wrapping_add(used & 0x78);
        } else if self.src.len() > 8 {
            *self = self.refilled_near_end(used);
        }
    }

    /// By value, so that a reader need not have an address and stays in registers.
    #[cold]
    #[inline(never)]
    fn refilled_near_end(mut self, used: u32) -> Self {
        let bytes = (used as usize >> 3).min(self.src.len().saturating_sub(8));
        self.src = self.src.get(..self.src.len().wrapping_sub(bytes)).unwrap_or(&[]);
        self.word = self.src.last_chunk::<8>().map_or(0, |word| u64::from_le_bytes(*word));
        self.left = self.left.wrapping_add((bytes as u32) << 3);
        self
    }

    /// The next `n` bits (0 ..= 31), which have been refilled before.
    #[inline(always)]
    pub fn take<const BEST: bool>(&mut self, n: u32) -> u32 {
        self.left = self.left.wrapping_sub(n);
        bit_instructions::low_bits::<BEST>(self.word.wrapping_shr(self.left), n)
    }

    /// A reader of `src` of which `used` bits have been read, at most 64.
    #[inline(always)]
    pub fn resume(src: &'a [u8], used: u32) -> Self {
        let word = src.last_chunk::<8>().map_or(0, |word| u64::from_le_bytes(*word));
        BackBits { src, word, left: 64u32.wrapping_sub(used) }
    }

    /// The next `N` bits without taking them; zeros where there are none.
    #[inline(always)]
    pub fn peek<const N: u32>(&self) -> usize {
        let bits = if self.left >= N {
            self.word.wrapping_shr(self.left.wrapping_sub(N))
        } else {
            self.word << const { N }.wrapping_sub(self.left)
        };
        bits as usize & const { (1 << N) - 1 }
    }

    /// Drops `n` bits.
    #[inline(always)]
    pub fn skip(&mut self, n: u32) {
        self.left = self.left.wrapping_sub(n);
    }

    /// Whether more bits have been taken than there were.
    pub fn is_overdrawn(&self) -> bool {
        self.left > 64
    }

    /// Whether exactly all bits have been taken.
    pub fn is_finished(&self) -> bool {
        self.left == 0 && self.src.len() <= 8
    }
}
