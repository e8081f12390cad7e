//! [`Limits`]: how much a container may cost before anything of it is allocated.

/// Limits every open, read and edit is held to. The defaults are safe for hostile input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Limits of each chunk.
    pub chunk: blosc_core::Limits,
    /// Most chunks a container may have. Default 2^24 (an index of 128 MiB).
    pub chunks: u64,
    /// Most index bytes per stored byte of the index, for indexes above 1 MiB: an index of 2^28
    /// entries in 40 bytes is refused. Default 65 536.
    pub index_expansion: u64,
    /// Most bytes of one metalayer, stored and decoded. Default 64 MiB.
    pub metalayer: u64,
    /// Most bytes of a frame's header with its metalayers, and of its trailer beside the table of checksums,
    /// which may take 8 bytes for each chunk: a file with holes has room for 2 and 4 GiB. Default 256 MiB.
    pub metalayers: u64,
    /// Most bytes a call that returns all decoded data may return. Default 16 GiB.
    pub output: u64,
}

impl Limits {
    /// The defaults.
    pub const DEFAULT: Limits = Limits {
        chunk: blosc_core::Limits::DEFAULT,
        chunks: 1 << 24,
        index_expansion: 1 << 16,
        metalayer: 1 << 26,
        metalayers: 1 << 28,
        output: 1 << 34,
    };
    /// Nothing is refused for its size; for input that is trusted.
    pub const NONE: Limits = Limits {
        chunk: blosc_core::Limits::NONE,
        chunks: u64::MAX,
        index_expansion: u64::MAX,
        metalayer: u64::MAX,
        metalayers: u64::MAX,
        output: u64::MAX,
    };
}

impl Default for Limits {
    fn default() -> Self {
        Limits::DEFAULT
    }
}
