//! Chunks brought into memory without being decoded, for callers that decode blocks themselves.

use super::SuperChunk;
use super::read::{READ_WHOLE, around, load_blocks};
use crate::cframe::index::Entry;
use crate::error::Error;
use blosc_core::{Chunk, Special, Surroundings};

/// A chunk of which at least the blocks asked for lie in memory.
pub(crate) enum Loaded<'s> {
    /// One without stored bytes.
    Special(Special),
    /// A stored one.
    Stored {
        chunk: Chunk<'s>,
        around: Surroundings<'s>,
        /// Where it lies, for errors.
        at: u64,
    },
}

impl SuperChunk<'_> {
    /// Reads as much of chunk `k` as its blocks `blocks` need. `count` is how many these are.
    pub(crate) fn load_chunk(
        &mut self,
        k: u64,
        blocks: impl Iterator<Item = usize>,
        count: u64,
    ) -> Result<Loaded<'_>, Error> {
        let entry = match self.raw_entry(k)? {
            Entry::Stored(entry) => entry,
            Entry::Special(kind) => return Ok(Loaded::Special(kind)),
        };
        let located = self.place.locate(entry)?;
        let at = located.at;
        let in_chunk = |error| Error::Chunk { chunk: Some(k), offset: at, error };
        let around = around(self.header.typesize, &self.blockshape);
        let chunk = if located.slice().is_some() {
            Chunk::parse_with(located.whole(k, &self.limits, &mut self.scratch)?, &self.limits.chunk)
        } else {
            let header = located.header(k)?;
            // Many blocks are read faster in one go.
            let few = count.saturating_mul(2) < header.nblocks() as u64;
            if few && u64::from(header.cbytes) > READ_WHOLE && !header.is_vl() {
                let chunk = load_blocks(&located, k, &header, blocks, &self.limits.chunk, &mut self.scratch)?;
                return Ok(Loaded::Stored { chunk, around, at });
            }
            Chunk::parse_with(located.whole(k, &self.limits, &mut self.scratch)?, &self.limits.chunk)
        };
        Ok(Loaded::Stored { chunk: chunk.map_err(in_chunk)?, around, at })
    }
}
