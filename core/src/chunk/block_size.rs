//! Block size and stream splitting as the Blosc2 writers choose them (docs/formats/chunk.md §6.1, §6.2).
//!
//! All cache figures are fixed, so that the same data gives the same chunk on every machine.
#![deny(clippy::indexing_slicing, clippy::arithmetic_side_effects)]

use super::header::MAX_BLOCKSIZE;
use super::params::{Params, Split};
use crate::codec::Codec;
use crate::filter::Filter;

const KIB: u64 = 1024;
/// Size of a first-level cache.
const L1: u64 = 32 * KIB;

/// Codecs that gain from larger blocks.
const fn high_ratio(codec: Codec) -> bool {
    matches!(codec, Codec::Lz4Hc | Codec::Zlib | Codec::Zstd)
}

/// Whether `params` split blocks of `blocksize` bytes into one stream per byte plane.
pub fn splits(params: &Params, blocksize: u64) -> bool {
    let t = u64::from(params.typesize);
    let per_plane = blocksize.checked_div(t).unwrap_or(0);
    let shuffled = params.filters.iter().any(|s| s.filter == Filter::Shuffle);
    if params.blosc1 {
        let wanted = match params.split {
            Split::Always => true,
            Split::Never => false,
            Split::Auto => matches!(params.codec, Codec::BloscLz | Codec::Snappy),
            Split::ForwardCompat => params.codec != Codec::Zstd,
        };
        return wanted && t <= 16 && per_plane >= 128;
    }
    // ZFP takes a block as one array.
    match params.split {
        _ if cfg!(feature = "zfp") && params.codec.is_zfp() => false,
        // A block shorter than an item has no planes.
        Split::Always => t <= 255 && per_plane >= 1,
        Split::Never => false,
        Split::Auto | Split::ForwardCompat => {
            let codec = match params.codec {
                Codec::BloscLz | Codec::Lz4 => true,
                Codec::Zstd => params.level <= 5,
                _ => false,
            };
            codec && shuffled && t <= 16 && per_plane >= 32
        }
    }
}

/// Block size in bytes for a chunk of `nbytes` bytes: the one asked for, or the automatic choice,
/// a multiple of the typesize wherever it is larger than that.
pub fn blocksize(params: &Params, nbytes: usize) -> u32 {
    let total = nbytes as u64;
    let t = u64::from(params.typesize).max(1);
    if total < t {
        let asked = params.blocksize.map_or(total, u64::from);
        return u32::try_from(asked.min(total).max(1)).unwrap_or(MAX_BLOCKSIZE);
    }
    let mut bs = match params.blocksize {
        Some(asked) => u64::from(asked),
        None => automatic(params, total),
    };
    bs = bs.min(total).clamp(1, u64::from(MAX_BLOCKSIZE));
    if bs > t {
        bs = bs.saturating_sub(bs.checked_rem(t).unwrap_or(0));
    }
    u32::try_from(bs).unwrap_or(MAX_BLOCKSIZE)
}

fn automatic(params: &Params, total: u64) -> u64 {
    let mut bs = total;
    if total >= L1 {
        let hr = high_ratio(params.codec);
        let base = if hr { L1 << 1 } else { L1 };
        bs = match params.level {
            0 => base >> 2,
            1 => base >> 1,
            2 => base,
            3 => base << 1,
            4 | 5 => base << 2,
            6..=8 => base << 3,
            _ => base << if hr { 4 } else { 3 },
        };
    }
    if params.level > 0 && splits(params, total) {
        let plane = match params.level {
            1..=3 => 32 * KIB,
            4..=6 => 64 * KIB,
            7 => 128 * KIB,
            8 => 256 * KIB,
            _ => 512 * KIB,
        };
        bs = plane.saturating_mul(u64::from(params.typesize)).clamp(32 * KIB, 4096 * KIB);
    }
    bs
}
