//! Block sizes and levels for programs written for Blosc1.
//!
//! Block sizes are those of C-Blosc 1.21 (docs/formats/chunk.md §6.1). The chunks of the Rust API take Blosc2's, which are larger
//! at high levels; a program written for Blosc1 gets the blocks, and so the sizes, that it knows.

use blosc_core::{Codec, Params, Split};

/// The level of our encoders whose chunks are no larger in the mean than C-Blosc's at `level`. Our lowest levels trade
/// size for speed that Blosc1's users have not asked for. Measured by `core/capi/sizes`.
pub(super) fn level(codec: Codec, level: u8) -> u8 {
    match (codec, level) {
        (Codec::BloscLz, 1) => 2,
        (Codec::BloscLz, 2..) => 9,
        (Codec::Lz4Hc, 1..=2) => 3,
        (Codec::Zlib, 1..=2) => 3,
        (Codec::Zlib, 5..=6) => level + 1,
        (Codec::Zlib, 7..=8) => 9,
        _ => level,
    }
}

const KIB: usize = 1024;
/// A request below this is taken for this.
const LEAST: usize = 128;
/// The largest block, `BLOSC_MAX_BLOCKSIZE`.
const MOST: usize = (i32::MAX as usize - 255 * 4) / 3;
/// A stream of a split block has at least this many bytes.
const LEAST_STREAM: usize = 128;

/// Whether blocks of `blocksize` bytes are cut into one stream per byte of an item.
fn splits(params: &Params, blocksize: usize) -> bool {
    let wanted = match params.split {
        Split::Always => true,
        Split::Never => false,
        Split::Auto => matches!(params.codec, Codec::BloscLz | Codec::Snappy),
        _ => params.codec != Codec::Zstd,
    };
    let size = params.typesize as usize;
    wanted && size <= 16 && blocksize / size >= LEAST_STREAM
}

/// The block size for `nbytes` bytes, of which `asked` (0: none) is a hint; `None` for no bytes.
pub(super) fn blocksize(params: &Params, asked: usize, nbytes: usize) -> Option<u32> {
    let size = params.typesize as usize;
    let mut block = if asked > 0 { asked.clamp(LEAST, MOST) } else { automatic(params, nbytes) };
    if params.level > 0 && splits(params, block) {
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
