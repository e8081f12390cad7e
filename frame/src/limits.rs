//! [`Limits`]: how much a container may cost before anything of it is allocated.

use crate::error::Error;
#[cfg(feature = "alloc")]
use alloc::vec::Vec;

/// An error if `asked` is above a limit.
pub(crate) fn within(what: &'static str, asked: u64, limit: u64) -> Result<(), Error> {
    if asked > limit { Err(Error::Limit { what, asked, limit }) } else { Ok(()) }
}

/// Makes `buf` exactly `len` bytes long, with zeros behind what is in it, or reports that memory is short.
#[cfg(feature = "alloc")]
pub(crate) fn resize(buf: &mut Vec<u8>, len: impl TryInto<usize>) -> Result<(), Error> {
    let len = len.try_into().map_err(|_| Error::OutOfMemory)?;
    buf.try_reserve(len.saturating_sub(buf.len())).map_err(|_| Error::OutOfMemory)?;
    buf.resize(len, 0);
    Ok(())
}

/// Limits every open, read and edit is held to. The defaults are safe for hostile input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
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
    /// Most bytes a call that returns all decoded data may return. A call that decodes all of a container and holds only
    /// a part of it at a time (verify, repair, convert) may decode as much, or [`Limits::expansion`] times the bytes of
    /// the container if that is more. Default 16 GiB.
    pub output: u64,
    /// Most bytes that a chunk may decode to, however small its container is. Default 256 MiB.
    pub memory: u64,
    /// Decoded bytes that are allowed for each byte of a container: of one chunk in a frame, a bloscpack file or the file
    /// of a bcolz chunk, where that is more than [`Limits::memory`]; of all chunks, where it is more than
    /// [`Limits::output`]. Default 256: a file of some hundred bytes may hold one chunk of 2 GiB of zeros.
    pub expansion: u64,
    /// Most files, members and embedded frames of a store. Default 2^17.
    pub entries: u64,
}

/// What a call may still decode.
#[cfg(feature = "alloc")]
pub(crate) struct Budget {
    left: u64,
    limit: u64,
}

#[cfg(feature = "alloc")]
impl Budget {
    /// An error if these decoded bytes are more than what is left.
    pub(crate) fn spend(&mut self, bytes: u64) -> Result<(), Error> {
        let (what, limit) = ("decoded bytes", self.limit);
        let asked = limit.saturating_sub(self.left).saturating_add(bytes);
        self.left = self.left.checked_sub(bytes).ok_or(Error::Limit { what, asked, limit })?;
        Ok(())
    }
}

impl Limits {
    /// These limits for the chunks of a container of `size` bytes.
    #[cfg(feature = "alloc")]
    pub(crate) fn for_size(&self, size: u64) -> Limits {
        let most = size.saturating_mul(self.expansion).max(self.memory);
        self.chunk(self.chunk.output(self.chunk.output.min(most)))
    }

    /// Most bytes that a single call may decode of a container of `size` bytes, of which it holds only a part at a time.
    #[cfg(feature = "alloc")]
    pub(crate) fn most(&self, size: u64) -> u64 {
        size.saturating_mul(self.expansion).max(self.output)
    }

    /// What one call may decode of a container of `size` bytes, of which it holds only a part at a time.
    #[cfg(feature = "alloc")]
    pub(crate) fn budget(&self, size: u64) -> Budget {
        let limit = self.most(size);
        Budget { left: limit, limit }
    }

    /// An error if a chunk that decodes to this many bytes is above the limit.
    pub(crate) fn check_chunk(&self, bytes: u64) -> Result<(), Error> {
        within("bytes of a chunk", bytes, self.chunk.output)
    }

    /// An error if a chunk decodes to more bytes than the limit, or takes more than one of that size does.
    #[cfg(feature = "alloc")]
    pub(crate) fn check_stored(&self, header: &blosc_core::Header) -> Result<(), Error> {
        const AROUND: u32 = 64 << 10;
        self.check_chunk(header.nbytes.max(header.cbytes.saturating_sub(AROUND)).into())
    }

    /// The defaults.
    pub const DEFAULT: Limits = Limits {
        chunk: blosc_core::Limits::DEFAULT,
        chunks: 1 << 24,
        index_expansion: 1 << 16,
        metalayer: 1 << 26,
        metalayers: 1 << 28,
        output: 1 << 34,
        memory: 1 << 28,
        expansion: 256,
        entries: 1 << 17,
    };
    /// Nothing is refused for its size; for input that is trusted.
    pub const NONE: Limits = Limits {
        chunk: blosc_core::Limits::NONE,
        chunks: u64::MAX,
        index_expansion: u64::MAX,
        metalayer: u64::MAX,
        metalayers: u64::MAX,
        output: u64::MAX,
        memory: u64::MAX,
        expansion: u64::MAX,
        entries: u64::MAX,
    };

    /// Sets the limits of each chunk.
    pub const fn chunk(mut self, limits: blosc_core::Limits) -> Limits {
        self.chunk = limits;
        self
    }

    /// Sets the most chunks of a container.
    pub const fn chunks(mut self, chunks: u64) -> Limits {
        self.chunks = chunks;
        self
    }

    /// Sets the most index bytes per stored byte of an index above 1 MiB.
    pub const fn index_expansion(mut self, factor: u64) -> Limits {
        self.index_expansion = factor;
        self
    }

    /// Sets the most bytes of one metalayer.
    pub const fn metalayer(mut self, bytes: u64) -> Limits {
        self.metalayer = bytes;
        self
    }

    /// Sets the most bytes of a frame's header and trailer.
    pub const fn metalayers(mut self, bytes: u64) -> Limits {
        self.metalayers = bytes;
        self
    }

    /// Sets the most bytes that a call may return or decode, see [`Limits::output`].
    pub const fn output(mut self, bytes: u64) -> Limits {
        self.output = bytes;
        self
    }

    /// Sets the most bytes that a chunk may decode to, however small its container is.
    pub const fn memory(mut self, bytes: u64) -> Limits {
        self.memory = bytes;
        self
    }

    /// Sets the decoded bytes that are allowed for each byte of a container.
    pub const fn expansion(mut self, factor: u64) -> Limits {
        self.expansion = factor;
        self
    }

    /// Sets the most entries of a store.
    pub const fn entries(mut self, entries: u64) -> Limits {
        self.entries = entries;
        self
    }
}

impl Default for Limits {
    fn default() -> Self {
        Limits::DEFAULT
    }
}
