//! Bits of a deflate stream, lowest bit of the first byte first.
#![deny(clippy::indexing_slicing, clippy::arithmetic_side_effects)]

use crate::codec::error::CodecErrorKind;

/// A reader that holds 56 to 63 bits after each [`refill`](BitReader::refill).
#[derive(Clone, Copy)]
pub(crate) struct BitReader<'a> {
    src: &'a [u8],
    /// Next byte to load; may run past the end, where zeros are read.
    at: usize,
    /// The low `held` bits are next; those above are what the next load will bring, or zero.
    bits: u64,
    held: u32,
}

impl<'a> BitReader<'a> {
    pub fn new(src: &'a [u8]) -> Self {
        BitReader { src, at: 0, bits: 0, held: 0 }
    }

    /// Tops up to at least 56 bits.
    ///
    /// # Errors
    /// `Truncated` once bits have been used that the stream does not have.
    #[inline(always)]
    pub fn refill(&mut self) -> Result<(), CodecErrorKind> {
        if let Some(word) = self.src.get(self.at..).and_then(|s| s.first_chunk::<8>()) {
            self.bits |= u64::from_le_bytes(*word) << (self.held & 63);
            self.at = self.at.wrapping_add((63 ^ (self.held & 63)) as usize >> 3);
            self.held |= 56;
            Ok(())
        } else {
            self.refill_near_end()
        }
    }

    #[cold]
    #[inline(never)]
    fn refill_near_end(&mut self) -> Result<(), CodecErrorKind> {
        while self.held < 56 {
            // More than a full buffer of bits that do not exist: some have been used.
            if self.at > self.src.len().saturating_add(8) {
                return Err(CodecErrorKind::Truncated);
            }
            let byte = self.src.get(self.at).copied().unwrap_or(0);
            self.bits |= u64::from(byte) << self.held;
            self.at = self.at.wrapping_add(1);
            self.held = self.held.wrapping_add(8);
        }
        Ok(())
    }

    /// The bits held, next one lowest.
    #[inline(always)]
    pub fn peek(&self) -> u64 {
        self.bits
    }

    /// Drops `n` bits, which have been refilled before.
    #[inline(always)]
    pub fn skip(&mut self, n: u32) {
        self.bits >>= n & 63;
        self.held = self.held.wrapping_sub(n & 63);
    }

    /// The next `n < 32` bits, which have been refilled before.
    #[inline(always)]
    pub fn take(&mut self, n: u32) -> u32 {
        let value = self.bits as u32 & ((1u32 << (n & 31)).wrapping_sub(1));
        self.skip(n);
        value
    }

    /// Drops the rest of the current byte and returns the offset of the next one; the reader starts
    /// over wherever [`seek`](BitReader::seek) puts it.
    ///
    /// # Errors
    /// `Truncated` where the next byte lies after the end of the stream.
    pub fn byte_position(&mut self) -> Result<usize, CodecErrorKind> {
        let at = self.at.wrapping_sub(self.held as usize >> 3);
        if at > self.src.len() { Err(CodecErrorKind::Truncated) } else { Ok(at) }
    }

    /// Continues at byte `at`.
    pub fn seek(&mut self, at: usize) {
        *self = BitReader { src: self.src, at, bits: 0, held: 0 };
    }

    /// Where the reader is: offset of the next byte to load, the bits held and their number.
    #[inline(always)]
    pub fn place(&self) -> (usize, u64, u32) {
        (self.at, self.bits, self.held)
    }

    /// Continues at a place that follows from an earlier one.
    #[inline(always)]
    pub fn resume(&mut self, (at, bits, held): (usize, u64, u32)) {
        *self = BitReader { src: self.src, at, bits, held };
    }

    /// The number of bits held.
    #[inline(always)]
    pub fn held(&self) -> u32 {
        self.held
    }

    /// The bytes read from.
    #[inline(always)]
    pub fn src(&self) -> &'a [u8] {
        self.src
    }
}
