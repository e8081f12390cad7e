//! Chunks in the place of C-Blosc's: [`Params::c_blosc`].
//!
//! Block sizes are those of C-Blosc 1.21 (docs/formats/chunk.md §6.1), where the automatic choice of this crate is that of C-Blosc2:
//! its blocks are larger at high levels and smaller where they are split. Levels are those of our encoders whose chunks are no larger.
#![deny(clippy::indexing_slicing)]

use super::block_size::splits;
use super::params::Params;
use crate::codec::Codec;

const KIB: usize = 1024;
/// A request below this is taken for this.
const LEAST: usize = 128;
/// The largest block, `BLOSC_MAX_BLOCKSIZE`.
const MOST: usize = (i32::MAX as usize - 255 * 4) / 3;

impl Params {
    /// These parameters as C-Blosc 1.21 takes them, for one chunk of `nbytes` bytes: with Blosc1's header, its block size and its
    /// splitting, at a level whose chunks are no larger than C-Blosc's at the level asked for.
    ///
    /// A codec that is put in the place of C-Blosc (`libblosc.so.1`, HDF5's filter 32001, the codecs `blosc` of Zarr and numcodecs) writes
    /// its chunks by this, so that files do not grow by the change.
    ///
    /// ```
    /// use blosc_core::{Codec, Params};
    ///
    /// let asked = Params::new(4).codec(Codec::Lz4).level(5);
    /// assert_eq!(asked.c_blosc(10 << 20).blocksize, Some(512 << 10));
    /// assert_eq!(asked.c_blosc(1000).blocksize, Some(1000));
    /// ```
    pub fn c_blosc(self, nbytes: usize) -> Params {
        let params = self.blosc1(true);
        let blocksize = blocksize(&params, nbytes);
        params.blocksize(blocksize).level(level(params.codec, params.level))
    }
}

/// The level of our encoders whose chunks are no larger in the mean than C-Blosc's at `level`. Our lowest levels trade
/// size for speed that users of C-Blosc have not asked for. Measured by `core/capi/sizes`.
fn level(codec: Codec, level: u8) -> u8 {
    match (codec, level) {
        (Codec::BloscLz, 1..=2) => level + 1,
        (Codec::BloscLz, 3..) => 9,
        (Codec::Lz4, 6) => 8,
        (Codec::Lz4, 7..=8) => 9,
        // What LZ4 before 1.10 writes at these levels, which C-Blosc may be linked with.
        (Codec::Lz4Hc, 1..=2) => 3,
        (Codec::Zlib, 1..=2) => 3,
        (Codec::Zlib, 3 | 5..=8) => level + 1,
        _ => level,
    }
}

/// The block size for `nbytes` bytes, of which the one asked for is a hint; `None` for no bytes.
fn blocksize(params: &Params, nbytes: usize) -> Option<u32> {
    let size = params.typesize as usize;
    let mut block = match params.blocksize {
        Some(asked) => (asked as usize).clamp(LEAST, MOST),
        None => automatic(params, nbytes),
    };
    if params.level > 0 && splits(params, block as u64) {
        block = (block.min(256 * KIB) * size).clamp(64 * KIB, 1024 * KIB);
    }
    block = block.min(nbytes);
    if block > size {
        block -= block % size;
    }
    u32::try_from(block).ok().filter(|&block| block > 0)
}

fn automatic(params: &Params, nbytes: usize) -> usize {
    if nbytes < 32 * KIB {
        return nbytes;
    }
    let slow = matches!(params.codec, Codec::Lz4Hc | Codec::Zlib | Codec::Zstd);
    let base = if slow { 64 * KIB } else { 32 * KIB };
    match params.level {
        0 => base / 4,
        1 => base / 2,
        2 => base,
        3 => base * 2,
        4 | 5 => base * 4,
        6..=8 => base * 8,
        _ if slow => base * 16,
        _ => base * 8,
    }
}
