//! [`Limits`]: how much a caller lets a chunk cost before anything is decoded.

/// Limits every parse and decode is held to. The defaults are safe for hostile input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
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
}

impl Default for Limits {
    fn default() -> Self {
        Limits::DEFAULT
    }
}
