//! Making a dictionary from the data itself (docs/formats/chunk.md §6.5).
//!
//! ```text
//! samples = all blocks filtered, unsplit, back to back
//! K = streams (at least 8), sample = nbytes / K / 16, max = min(32768, nbytes / 20)
//! lz4, lz4hc: the first min(K * sample, max) bytes      zstd: trained on K samples
//! no dictionary if max < 256, sample = 0 or training fails
//! ```

use crate::arch::level::Level;
use crate::chunk::params::Params;
use crate::chunk::{ChunkContext, Plan};
use crate::codec::Codec;
use crate::error::Error;
use alloc::vec;
use alloc::vec::Vec;

const MAX_DICTIONARY: usize = 32_768;
const MIN_DICTIONARY: usize = 256;

/// The dictionary for `data`, empty where none is worth it.
pub(super) fn make(
    level: Level,
    params: &Params,
    chunk_context: ChunkContext<'_>,
    data: &[u8],
) -> Result<Vec<u8>, Error> {
    let plan = Plan::new(params, chunk_context, &[], data)?;
    let max = MAX_DICTIONARY.min(data.len() / 20);
    let streams = plan.stream_count().max(8);
    let sample = data.len() / streams / 16;
    if plan.nblocks() == 0 || max < MIN_DICTIONARY || sample == 0 {
        return Ok(Vec::new());
    }
    let mut samples = Vec::with_capacity(streams * sample);
    let mut work = vec![0; plan.work_len()];
    let mut blocks = plan.block_encoder(level, &mut work)?;
    for index in 0..plan.nblocks() {
        let missing = streams * sample - samples.len();
        if missing == 0 {
            break;
        }
        let filtered = blocks.filtered(index)?;
        samples.extend_from_slice(&filtered[..missing.min(filtered.len())]);
    }
    samples.truncate(samples.len() / sample * sample);
    let sizes = vec![sample; samples.len() / sample];
    Ok(from_samples(params, samples, &sizes, max))
}

/// The dictionary for variable-length blocks: one sample per block.
pub(super) fn make_vl(params: &Params, blocks: &[&[u8]], nbytes: usize) -> Vec<u8> {
    let max = MAX_DICTIONARY.min(nbytes / 20);
    if max < MIN_DICTIONARY || params.level == 0 {
        return Vec::new();
    }
    let sizes: Vec<usize> = blocks.iter().map(|b| b.len()).collect();
    from_samples(params, blocks.concat(), &sizes, max)
}

/// A dictionary of at most `max` bytes from samples that lie one after the other.
fn from_samples(params: &Params, mut samples: Vec<u8>, sizes: &[usize], max: usize) -> Vec<u8> {
    let _ = sizes;
    match params.codec {
        #[cfg(feature = "zstd-c")]
        Codec::Zstd => crate::codec::zstd_c::train_dictionary(&samples, sizes, max).unwrap_or_default(),
        Codec::Lz4 | Codec::Lz4Hc => {
            samples.truncate(max);
            samples
        }
        _ => Vec::new(),
    }
}
