//! Chunks of variable-length blocks (docs/formats/chunk.md §2.8): version 6, block count in the block size
//! field, and before each block its decoded size.
//!
//! ```text
//! header | block starts | [dictionary] | size: i32, payload | size: i32, payload | …
//! payload as long as the block: the bytes themselves; shorter: one codec stream
//! ```
#![deny(clippy::indexing_slicing, clippy::arithmetic_side_effects)]

use super::encoder::Encoder;
use super::plan::Plan;
use crate::arch::out::Out;
use crate::chunk::header::{EXTENDED_HEADER, FLAG_DONT_SPLIT, FLAGS2_VL, MAX_NBYTES};
use crate::chunk::params::Params;
use crate::chunk::pipeline::Env;
use crate::codec::dispatch;
use crate::error::Error;

/// Most bytes a chunk of `nblocks` variable-length blocks of `nbytes` bytes in all can take.
pub const fn max_encoded_vl_len(nbytes: usize, nblocks: usize) -> usize {
    nbytes.saturating_add(nblocks.saturating_mul(8)).saturating_add(EXTENDED_HEADER)
}

impl Encoder<'_> {
    /// Encodes `blocks`, each of at least one byte, into one chunk; returns its length.
    /// `dst` of [`max_encoded_vl_len`] bytes is always enough.
    ///
    /// # Errors
    /// `Param` for an empty block, no block, too much data or Blosc1; `WorkTooSmall` if the encoder was
    /// made for less than the longest block; `OutputTooSmall`.
    pub fn encode_vl(&mut self, blocks: &[&[u8]], dst: &mut [u8]) -> Result<usize, Error> {
        let bad = |name, value: usize, allowed| Err(Error::Param { name, value: value as i64, allowed });
        let nbytes = blocks.iter().fold(0usize, |sum, b| sum.saturating_add(b.len()));
        let longest = blocks.iter().map(|b| b.len()).max().unwrap_or(0);
        if self.params.blosc1 {
            return bad("blosc1", 1, "off: Blosc1 has no variable-length blocks");
        }
        if blocks.is_empty() || blocks.iter().any(|b| b.is_empty()) {
            return bad("block length", 0, "at least one block, of at least one byte each");
        }
        if nbytes > MAX_NBYTES || blocks.len() > MAX_NBYTES >> 3 {
            return bad("nbytes", nbytes, "at most 2147483615 bytes in a chunk; use several chunks");
        }
        if longest > self.context.max_len() {
            return bad("block length", longest, "no more than the encoder was made for");
        }
        let params = Params { blocksize: None, ..self.params };
        let plan = Plan::new(&params, self.chunk_context, self.dictionary, &[])?;
        let mut header = plan.header;
        header.version = 6;
        header.flags |= FLAG_DONT_SPLIT;
        header.flags2 = FLAGS2_VL;
        header.nbytes = u32::try_from(nbytes).unwrap_or(0);
        header.blocksize = u32::try_from(blocks.len()).unwrap_or(0);
        let given = dst.len();
        let mut cursor = plan.prefix_of(blocks.len());
        for (index, block) in blocks.iter().enumerate() {
            let small = Error::OutputTooSmall { needed: max_encoded_vl_len(nbytes, blocks.len()), given };
            let end = cursor.saturating_add(4).saturating_add(block.len());
            let room = dst.get_mut(cursor..end).ok_or(small)?;
            let len = self.vl_block(&plan, block, room)?;
            let entry = EXTENDED_HEADER.saturating_add(index.saturating_mul(4));
            let word = dst.get_mut(entry..).and_then(|d| d.first_chunk_mut::<4>()).ok_or(small)?;
            *word = (cursor as u32).to_le_bytes();
            cursor = cursor.saturating_add(len);
        }
        plan.write_dictionary(blocks.len(), dst);
        header.cbytes = u32::try_from(cursor).unwrap_or(u32::MAX);
        for (to, from) in dst.iter_mut().zip(header.write()) {
            *to = from;
        }
        Ok(cursor)
    }

    /// One block: its size, then the payload. `room` fits the size and the plain bytes.
    fn vl_block(&mut self, plan: &Plan<'_>, block: &[u8], room: &mut [u8]) -> Result<usize, Error> {
        let (name, level) = (plan.params.codec, plan.params.level);
        let tables = if level == 0 { 0 } else { dispatch::encode_work_len(name, level, block.len()) };
        let needed = block.len().saturating_mul(2).saturating_add(tables);
        let short = Error::WorkTooSmall { needed, given: self.work.len() };
        let (a, rest) = self.work.split_at_mut_checked(block.len()).ok_or(short)?;
        let (b, codec) = rest.split_at_mut_checked(block.len()).ok_or(short)?;
        if codec.len() < tables {
            return Err(short);
        }
        let env: Env<'_> = plan.env(self.level, None);
        let slots = plan.slots();
        let filtered = env.forward_scratch(slots.as_slice(), block, a, b)?.bytes(a, b, block.len())?;
        let (word, body) = room.split_first_chunk_mut::<4>().ok_or(short)?;
        *word = (block.len() as u32).to_le_bytes();
        let limit = block.len().saturating_sub(1);
        let coded = match body.get_mut(..limit) {
            Some(to) if limit > 0 && plan.params.level > 0 => {
                plan.compress(filtered, to, plan.content(1), codec, &mut self.context)?
            }
            _ => None,
        };
        let len = match coded {
            Some(len) if len > 0 && len < block.len() => len,
            _ => {
                Out::from(body).copy_from(filtered);
                block.len()
            }
        };
        Ok(len.saturating_add(4))
    }
}
