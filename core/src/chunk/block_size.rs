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
pub const fn splits(params: &Params, blocksize: u64) -> bool {
    let t = params.typesize as u64;
    let per_plane = match blocksize.checked_div(t) {
        Some(items) => items,
        None => 0,
    };
    if params.blosc1 {
        let wanted = match params.split {
            Split::Always => true,
            Split::Never => false,
            Split::Auto => matches!(params.codec, Codec::BloscLz | Codec::Snappy),
            Split::ForwardCompat => !matches!(params.codec, Codec::Zstd),
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
            codec && shuffled(params) && t <= 16 && per_plane >= 32
        }
    }
}

const fn shuffled(params: &Params) -> bool {
    let (mut found, mut slots) = (false, params.filters.as_slice());
    while let [slot, rest @ ..] = slots {
        found |= matches!(slot.filter, Filter::Shuffle);
        slots = rest;
    }
    found
}

const fn min(a: u64, b: u64) -> u64 {
    if a < b { a } else { b }
}

const fn max(a: u64, b: u64) -> u64 {
    if a > b { a } else { b }
}

/// Block size in bytes for a chunk of `nbytes` bytes: the one asked for, or the automatic choice,
/// a multiple of the typesize wherever it is larger than that.
pub const fn blocksize(params: &Params, nbytes: usize) -> u32 {
    let total = nbytes as u64;
    let most = MAX_BLOCKSIZE as u64;
    let t = max(params.typesize as u64, 1);
    if total < t {
        let asked = match params.blocksize {
            Some(asked) => asked as u64,
            None => total,
        };
        return min(max(min(asked, total), 1), most) as u32;
    }
    let bs = match params.blocksize {
        Some(asked) => asked as u64,
        None => automatic(params, total),
    };
    let bs = min(max(min(bs, total), 1), most);
    match bs.checked_rem(t) {
        Some(rest) if bs > t => bs.saturating_sub(rest) as u32,
        _ => bs as u32,
    }
}

const fn automatic(params: &Params, total: u64) -> u64 {
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
        bs = min(max(plane.saturating_mul(params.typesize as u64), 32 * KIB), 4096 * KIB);
    }
    bs
}
