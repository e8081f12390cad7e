//! [`Encoder`]: whole chunks, on one thread.
#![deny(clippy::indexing_slicing, clippy::arithmetic_side_effects)]

use super::plan::Plan;
use crate::arch::level::Level;
use crate::chunk::block_size;
use crate::chunk::context::ChunkContext;
use crate::chunk::params::Params;
use crate::codec::Codec;
use crate::codec::context::EncodeContext;
use crate::error::Error;

/// Encodes chunks with scratch memory of the caller. Never allocates after it has been made.
pub struct Encoder<'w> {
    pub(super) level: Level,
    pub(super) params: Params,
    pub(super) chunk_context: ChunkContext<'w>,
    pub(super) dictionary: &'w [u8],
    pub(super) work: &'w mut [u8],
    pub(super) context: EncodeContext,
}

impl<'w> Encoder<'w> {
    /// An encoder for chunks of up to `max_nbytes` bytes that runs `level`'s kernels and uses `work` as
    /// scratch ([`Plan::work_len_for`] bytes). Codec contexts of hosts are allocated here, nothing later.
    ///
    /// # Errors
    /// `Param` for a parameter that is not allowed, `CodecNotBuiltIn` for a codec this build cannot write.
    pub fn new(
        level: Level,
        params: &Params,
        max_nbytes: usize,
        work: &'w mut [u8],
    ) -> Result<Encoder<'w>, Error> {
        Encoder::with_dictionary(level, params, max_nbytes, &[], work)
    }

    /// An encoder whose chunks carry `dictionary` (at most 32 768 bytes; LZ4, LZ4HC or zstd).
    ///
    /// # Errors
    /// As [`new`](Self::new).
    pub fn with_dictionary(
        level: Level,
        params: &Params,
        max_nbytes: usize,
        dictionary: &'w [u8],
        work: &'w mut [u8],
    ) -> Result<Encoder<'w>, Error> {
        let max_block = block_size::blocksize(params, max_nbytes) as usize;
        Encoder::for_blocks(level, params, max_block, dictionary, work)
    }

    /// An encoder for blocks of up to `max_block` bytes: what [`encode_vl`](Self::encode_vl) needs.
    ///
    /// # Errors
    /// As [`new`](Self::new).
    pub fn for_blocks(
        level: Level,
        params: &Params,
        max_block: usize,
        dictionary: &'w [u8],
        work: &'w mut [u8],
    ) -> Result<Encoder<'w>, Error> {
        params.check()?;
        let context = context_for(params, max_block)?;
        Ok(Encoder {
            level,
            params: *params,
            chunk_context: ChunkContext::default(),
            dictionary,
            work,
            context,
        })
    }

    /// Sets what the chunks themselves do not say: the array around them, and codecs and filters of the caller.
    pub fn chunk_context(mut self, chunk_context: ChunkContext<'w>) -> Self {
        self.chunk_context = chunk_context;
        self
    }

    /// Encodes `src` into the start of `dst`; returns the chunk's length. `dst` of
    /// [`max_encoded_len`](crate::max_encoded_len) bytes is always enough.
    ///
    /// # Errors
    /// `Param`, `WorkTooSmall`, a filter that cannot run, or `OutputTooSmall` where `dst` cannot hold the chunk.
    pub fn encode(&mut self, src: &[u8], dst: &mut [u8]) -> Result<usize, Error> {
        let plan = Plan::new(&self.params, self.chunk_context, self.dictionary, src)?;
        plan.encode(self.level, self.work, &mut self.context, dst)
    }
}

/// A codec context for streams of up to `max_len` bytes.
pub(crate) fn context_for(params: &Params, max_len: usize) -> Result<EncodeContext, Error> {
    if params.level == 0 || params.codec == Codec::Ndlz || matches!(params.codec, Codec::Other(_)) {
        return Ok(EncodeContext::empty());
    }
    EncodeContext::for_codec(params.codec, params.level, max_len).ok_or(Error::CodecNotBuiltIn(params.codec))
}

impl Plan<'_> {
    /// Encodes every block on this thread; returns the chunk's length.
    ///
    /// # Errors
    /// As [`Encoder::encode`](crate::Encoder::encode).
    pub fn encode(
        &self,
        level: Level,
        work: &mut [u8],
        context: &mut EncodeContext,
        dst: &mut [u8],
    ) -> Result<usize, Error> {
        let most = context.max_len();
        if self.nblocks > 0 && self.blocksize() > most {
            return Err(Error::Param {
                name: "nbytes",
                value: self.src.len() as i64,
                allowed: "no more than the encoder was made for",
            });
        }
        let mut writer = self.writer(dst)?;
        if !writer.is_abandoned() {
            let mut blocks = self.block_encoder(level, work)?;
            let mut is_held = self.may_hold();
            for index in 0..self.nblocks() {
                let left = writer.left();
                let needed = self.max_block_len();
                let stored = self.block_src(index)?.len().saturating_add(4);
                // What is longer than this is not copied.
                let most = if is_held { left.min(stored.saturating_sub(1)) } else { left };
                let done = match writer.room(if self.ignores_room() { needed.min(left) } else { needed }) {
                    Some(room) => blocks.encode_within(index, room, most, context)?,
                    None => {
                        let (bytes, done) = blocks.encode_to_scratch(index, most, context)?;
                        writer.copy(bytes);
                        done
                    }
                };
                if is_held && done.len < stored {
                    is_held = false;
                    writer.store(index);
                }
                writer.advance(done);
                if writer.is_abandoned() {
                    break;
                }
            }
            if is_held && !writer.is_abandoned() {
                writer.store(self.nblocks());
            }
        }
        writer.finish()
    }
}
