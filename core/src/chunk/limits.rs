//! [`Limits`]: how much a caller lets a chunk cost before anything is decoded.

use super::header::Header;
use crate::error::Error;

/// Limits every parse and decode is held to. The defaults are safe for hostile input.
///
/// ```
/// use blosc_core::{Chunk, Error, Limits};
///
/// // 32 bytes that announce a gigabyte of zeros.
/// let zeros = blosc_core::chunk::special::zeros(4, 1 << 30)?;
/// let limits = Limits::DEFAULT.output(1 << 20);
/// assert!(matches!(Chunk::parse_with(&zeros, &limits), Err(Error::Limit { .. })));
/// # Ok::<(), Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Limits {
    /// Most bytes one chunk may decode to. Default 1 GiB.
    pub output: u64,
    /// Most blocks one chunk may have. Default 2^24.
    pub blocks: u32,
    /// Most bytes of output per byte of chunk. Default: no limit, since a chunk of zeros is
    /// legitimately 32 bytes; `output` bounds it.
    pub expansion: u64,
}

impl Limits {
    /// The defaults.
    pub const DEFAULT: Limits = Limits { output: 1 << 30, blocks: 1 << 24, expansion: u64::MAX };
    /// Nothing is refused for its size; for input that is trusted.
    pub const NONE: Limits = Limits { output: u64::MAX, blocks: u32::MAX, expansion: u64::MAX };

    /// Sets the most bytes that a chunk may decode to.
    pub const fn output(mut self, bytes: u64) -> Limits {
        self.output = bytes;
        self
    }

    /// Sets the most blocks that a chunk may have.
    pub const fn blocks(mut self, blocks: u32) -> Limits {
        self.blocks = blocks;
        self
    }

    /// Sets the most bytes of output per byte of chunk.
    pub const fn expansion(mut self, factor: u64) -> Limits {
        self.expansion = factor;
        self
    }

    /// The most bytes that a stored chunk of `stored` bytes is believed to decode to where nothing but its header says it:
    /// 256 MiB, or 256 times what is stored.
    pub const fn plausible(stored: usize) -> u64 {
        let many = (stored as u64).saturating_mul(256);
        if many > 256 << 20 { many } else { 256 << 20 }
    }

    /// Refuses a chunk that would cost more than these limits allow.
    ///
    /// # Errors
    /// `Limit` with what is asked for, how much of it, and the limit.
    #[inline]
    pub fn check(&self, header: &Header) -> Result<(), Error> {
        let nbytes = u64::from(header.nbytes);
        let over = |what, asked, limit| Err(Error::Limit { what, asked, limit });
        if nbytes > self.output {
            return over("decoded size of the chunk in bytes", nbytes, self.output);
        }
        if header.has_streams() && header.nblocks() as u64 > u64::from(self.blocks) {
            return over("blocks in the chunk", header.nblocks() as u64, u64::from(self.blocks));
        }
        if nbytes > u64::from(header.cbytes).saturating_mul(self.expansion) {
            return over("decoded bytes per byte of chunk", nbytes, self.expansion);
        }
        Ok(())
    }
}

impl Default for Limits {
    fn default() -> Self {
        Limits::DEFAULT
    }
}
