//! [`Scratch`]: what a thread decodes and encodes with, kept from chunk to chunk.

use crate::arch::level::Level;
use crate::chunk::params::Params;
use crate::chunk::{Chunk, ChunkContext, Decoder, Plan, context_for};
use crate::codec::Codec;
use crate::codec::context::{DecodeContext, EncodeContext};
use crate::error::Error;
use alloc::vec;
use alloc::vec::Vec;

/// Scratch memory and codec contexts of one thread.
#[derive(Default)]
pub(super) struct Scratch {
    decode: Option<DecodeContext>,
    encode: Option<(EncodeContext, Codec, u8)>,
    pub work: Vec<u8>,
}

impl Scratch {
    /// What encodes the blocks of `plan`.
    pub fn for_plan(
        &mut self,
        params: &Params,
        plan: &Plan<'_>,
    ) -> Result<(&mut [u8], &mut EncodeContext), Error> {
        let made = match self.encode.take() {
            Some(kept)
                if (kept.1, kept.2) == (params.codec, params.level)
                    && kept.0.max_len() >= plan.blocksize() =>
            {
                kept
            }
            _ => (context_for(params, plan.blocksize())?, params.codec, params.level),
        };
        grow(&mut self.work, plan.work_len());
        Ok((&mut self.work, &mut self.encode.insert(made).0))
    }

    /// Runs `run` with a decoder for `chunk`; once more where that finds too little scratch memory.
    pub fn with_decoder<T>(
        &mut self,
        level: Level,
        chunk: &Chunk<'_>,
        chunk_context: ChunkContext<'_>,
        mut run: impl FnMut(&mut Decoder<'_>) -> Result<T, Error>,
    ) -> Result<T, Error> {
        let codec = chunk.header().codec;
        // Contexts are large: they are not moved about for codecs that need none.
        let needed = chunk.header().has_streams() && DecodeContext::serves(codec);
        let kept = if needed { self.decode.take() } else { None };
        let mut context = kept.unwrap_or_else(DecodeContext::empty);
        if needed {
            context.prepare(codec);
        }
        loop {
            let mut decoder =
                Decoder::with_context(level, &mut self.work, context).chunk_context(chunk_context);
            let result = run(&mut decoder);
            context = decoder.into_context();
            // How much scratch a chunk needs is found out only where the last one's is not enough.
            if matches!(result, Err(Error::WorkTooSmall { .. }))
                && grow(&mut self.work, Decoder::work_len(chunk))
            {
                continue;
            }
            if needed {
                self.decode = Some(context);
            }
            return result;
        }
    }
}

/// Makes `memory` at least `len` bytes long: zeros take its place, of which the system finds a page when it is first touched.
/// Tells whether it was shorter.
pub(super) fn grow(memory: &mut Vec<u8>, len: usize) -> bool {
    let shorter = memory.len() < len;
    if shorter {
        // Never both at once.
        *memory = Vec::new();
        *memory = vec![0; len];
    }
    shorter
}
