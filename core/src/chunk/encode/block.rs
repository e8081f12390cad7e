//! [`BlockEncoder`]: one block through its filters and into its streams.
#![deny(clippy::indexing_slicing, clippy::arithmetic_side_effects)]

use super::plan::{EncodedBlock, Plan, lossy_before_delta};
use crate::arch::level::Level;
use crate::arch::out::Out;
use crate::chunk::pipeline::Backward;
use crate::codec::context::EncodeContext;
use crate::codec::dispatch;
use crate::error::Error;

/// Encodes single blocks of a [`Plan`].
pub struct BlockEncoder<'w> {
    plan: Plan<'w>,
    level: Level,
    a: &'w mut [u8],
    b: &'w mut [u8],
    c: &'w mut [u8],
    r: &'w mut [u8],
    codec: &'w mut [u8],
    lossy: bool,
}

impl<'a> Plan<'a> {
    /// What encodes single blocks of this chunk, with scratch of [`work_len`](Self::work_len) bytes.
    ///
    /// # Errors
    /// `WorkTooSmall`, or a filter that cannot run.
    pub fn block_encoder<'w>(&self, level: Level, work: &'w mut [u8]) -> Result<BlockEncoder<'w>, Error>
    where
        'a: 'w,
    {
        let short = Error::WorkTooSmall { needed: self.work_len(), given: work.len() };
        let block = self.blocksize();
        let (a, rest) = work.split_at_mut_checked(block).ok_or(short)?;
        let (b, rest) = rest.split_at_mut_checked(block).ok_or(short)?;
        let (c, rest) = rest.split_at_mut_checked(self.max_block_len()).ok_or(short)?;
        let lossy = lossy_before_delta(&self.params) && self.nblocks > 1;
        let (r, codec) = rest.split_at_mut_checked(if lossy { block } else { 0 }).ok_or(short)?;
        if codec.len() < dispatch::encode_work_len(self.params.codec, self.params.level, block) {
            return Err(short);
        }
        BlockEncoder::new(*self, level, [a, b, c, r, codec], lossy)
    }
}

impl<'w> BlockEncoder<'w> {
    /// `parts`: two blocks, one encoded block, one block if `lossy`, and the codec's tables.
    pub(super) fn new(
        plan: Plan<'w>,
        level: Level,
        parts: [&'w mut [u8]; 5],
        lossy: bool,
    ) -> Result<BlockEncoder<'w>, Error> {
        let [a, b, c, r, codec] = parts;
        let mut encoder = BlockEncoder { plan, level, a, b, c, r, codec, lossy };
        if lossy {
            encoder.make_reference()?;
        }
        Ok(encoder)
    }

    /// Decoded block 0, for DELTA after a lossy filter.
    fn make_reference(&mut self) -> Result<(), Error> {
        let src = self.plan.block_src(0)?;
        let slots = self.plan.slots();
        let env = self.plan.env(self.level, None);
        let filtered = env.forward_scratch(slots.as_slice(), src, self.a, self.b)?;
        let backward = Backward::of(&self.plan.header);
        let decoded = env.backward_scratch(backward.as_slice(), filtered, self.a, self.b, src.len())?;
        let decoded = decoded.bytes(self.a, self.b, src.len())?;
        Out::from(&mut *self.r).copy_from(decoded);
        Ok(())
    }

    /// Encodes block `index` into the start of `dst`, for which [`Plan::max_block_len`] bytes are always enough.
    ///
    /// # Errors
    /// `OutOfRange`, `OutputTooSmall`, or a filter that cannot run.
    pub fn encode(
        &mut self,
        index: usize,
        dst: &mut [u8],
        context: &mut EncodeContext,
    ) -> Result<EncodedBlock, Error> {
        let given = dst.len();
        let done = self.encode_within(index, dst, given, context)?;
        if done.len > given {
            return Err(Error::OutputTooSmall { needed: done.len, given });
        }
        Ok(done)
    }

    /// [`encode`](Self::encode), without copying a block that is its source as it is: whether it is, with what it came to.
    #[cfg(feature = "std")]
    pub(crate) fn encode_unless_stored(
        &mut self,
        index: usize,
        dst: &mut [u8],
        context: &mut EncodeContext,
    ) -> Result<(EncodedBlock, bool), Error> {
        if !self.plan.may_hold() {
            return Ok((self.encode(index, dst, context)?, false));
        }
        let stored = self.plan.block_src(index)?.len().saturating_add(4);
        // One byte is a run of itself, which takes as many bytes: it is written where blocks before it have shrunk.
        let most = if stored == 5 { dst.len() } else { stored.saturating_sub(1) };
        let block = self.encode_within(index, dst, most, context)?;
        Ok((block, block.len >= stored))
    }

    /// [`encode`](Self::encode); a block of more than `most` bytes, or that does not fit, is only known to be longer.
    pub(super) fn encode_within(
        &mut self,
        index: usize,
        dst: &mut [u8],
        most: usize,
        context: &mut EncodeContext,
    ) -> Result<EncodedBlock, Error> {
        let plan = self.plan;
        let codec = core::mem::take(&mut self.codec);
        let result = self
            .filtered(index)
            .and_then(|filtered| plan.encode_streams(filtered, codec, dst, most, context));
        self.codec = codec;
        result
    }

    /// Block `index` after its filters, as the codec will see it.
    ///
    /// # Errors
    /// `OutOfRange`, or a filter that cannot run.
    pub fn filtered(&mut self, index: usize) -> Result<&[u8], Error> {
        let src = self.plan.block_src(index)?;
        let reference = match (index, self.lossy) {
            (0, _) => None,
            (_, true) => Some(&*self.r),
            (_, false) => Some(self.plan.block_src(0)?),
        };
        let env = self.plan.env(self.level, reference);
        let slots = self.plan.slots();
        let filtered = env.forward_scratch(slots.as_slice(), src, self.a, self.b)?;
        filtered.bytes(self.a, self.b, src.len())
    }

    /// [`encode`](Self::encode) into scratch of its own; a block of more than `most` bytes is only known to be longer.
    pub(super) fn encode_to_scratch(
        &mut self,
        index: usize,
        most: usize,
        context: &mut EncodeContext,
    ) -> Result<(&[u8], EncodedBlock), Error> {
        let c = core::mem::take(&mut self.c);
        let done = self.encode_within(index, c, most, context);
        self.c = c;
        let done = done?;
        Ok((self.c.get(..done.len).unwrap_or(&[]), done))
    }
}
