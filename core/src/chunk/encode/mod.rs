//! [`Encoder`] and [`Plan`]: writing chunks (docs/formats/chunk.md §6.4).
//!
//! ```text
//! source block --filters--> A, B, … --one stream, or one per byte plane--> codec --> destination
//! each stream: all bytes equal -> run;  codec does not shrink it -> stored;  else coded
//! all streams zero runs -> special chunk of 32 bytes;  larger than the data -> stored chunk
//! ```
//! Blocks are independent. A [`Plan`] lets the caller encode them on its own executor, and a
//! [`ChunkWriter`] puts them together in order: the bytes are the same however it is done.
#![deny(clippy::indexing_slicing, clippy::arithmetic_side_effects)]

mod block;
mod plan;
mod streams;
mod vlblocks;
mod writer;

pub use block::{BlockEncoder, EncodedBlock};
pub use plan::Plan;
pub use vlblocks::max_encoded_vl_len;
pub use writer::ChunkWriter;
#[cfg(feature = "std")]
pub(crate) use writer::{Appender, Progress, write_stored};

use super::header::EXTENDED_HEADER;
use super::params::Params;
use super::plugin::Surroundings;
use super::policy;
use crate::arch::level::Level;
use crate::codec::Codec;
use crate::codec::context::EncodeContext;
use crate::error::Error;

/// Most bytes a chunk of `nbytes` bytes can take: the extended header and the stored data.
pub const fn max_encoded_len(nbytes: usize) -> usize {
    nbytes.saturating_add(EXTENDED_HEADER)
}

/// Encodes chunks with scratch memory of the caller. Never allocates after it has been made.
pub struct Encoder<'w> {
    level: Level,
    params: Params,
    around: Surroundings<'w>,
    dictionary: &'w [u8],
    work: &'w mut [u8],
    context: EncodeContext,
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
        let max_block = policy::blocksize(params, max_nbytes) as usize;
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
        Ok(Encoder { level, params: *params, around: Surroundings::default(), dictionary, work, context })
    }

    /// Tells what the surroundings of the chunks know.
    pub fn surroundings(mut self, around: Surroundings<'w>) -> Self {
        self.around = around;
        self
    }

    /// Encodes `src` into the start of `dst`; returns the chunk's length. `dst` of
    /// [`max_encoded_len`] bytes is always enough.
    ///
    /// # Errors
    /// `Param`, `WorkTooSmall`, or `OutputTooSmall` where `dst` cannot hold the chunk.
    pub fn encode(&mut self, src: &[u8], dst: &mut [u8]) -> Result<usize, Error> {
        let plan = Plan::new(&self.params, self.around, self.dictionary, src)?;
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
