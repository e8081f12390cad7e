//! One stream: a run, codec output, or the bytes themselves (docs/formats/chunk.md §2.4).
#![deny(clippy::indexing_slicing, clippy::arithmetic_side_effects)]

use super::plan::{EncodedBlock, Plan};
use crate::arch::out::Out;
use crate::codec::Codec;
use crate::codec::content::Content;
use crate::codec::context::EncodeContext;
use crate::codec::dispatch;
#[cfg(feature = "zfp")]
use crate::codec::zfp::{Floats, NEEDS};
use crate::error::Error;

/// Writes the streams of one block.
pub(super) struct StreamWriter<'p, 'd> {
    plan: &'p Plan<'p>,
    dst: &'d mut [u8],
    most: usize,
    at: usize,
    zeros: bool,
    content: Content,
}

impl<'p, 'd> StreamWriter<'p, 'd> {
    /// A block whose first stream goes to the start of `dst`. One of more than `most` bytes, or that does not fit `dst`,
    /// is of no use: then it is only known to be longer. `content` is what its streams are made of.
    pub(super) fn new(
        plan: &'p Plan<'p>,
        dst: &'d mut [u8],
        most: usize,
        content: Content,
    ) -> StreamWriter<'p, 'd> {
        StreamWriter { plan, dst, most, at: 0, zeros: true, content }
    }

    /// Whether the block is longer than is of use.
    pub(super) fn is_too_long(&self) -> bool {
        self.at > self.most
    }

    /// What has been written.
    pub(super) fn finish(self) -> EncodedBlock {
        EncodedBlock { len: self.at, zeros: self.zeros }
    }

    /// Encodes the next stream.
    pub(super) fn push(
        &mut self,
        stream: &[u8],
        work: &mut [u8],
        context: &mut EncodeContext,
    ) -> Result<(), Error> {
        let longest = self.at.saturating_add(4).saturating_add(stream.len());
        let room = self.dst.get_mut(self.at..).unwrap_or_default();
        let Some((word, body)) = room.split_first_chunk_mut::<4>() else {
            self.at = longest;
            return Ok(());
        };
        if !self.plan.params.blosc1
            && let Some(value) = run_of(stream)
        {
            *word = i32::from(value).wrapping_neg().to_le_bytes();
            self.at = self.at.saturating_add(4);
            if value != 0 {
                self.zeros = false;
                if let Some(token) = body.first_mut() {
                    *token = 1;
                }
                self.at = self.at.saturating_add(1);
            }
            return Ok(());
        }
        self.zeros = false;
        // A stream as long as its data means "stored", so codec output must be shorter.
        let limit = stream.len().saturating_sub(1).min(body.len());
        let coded = match body.get_mut(..limit) {
            Some(to) if limit > 0 => self.plan.compress(stream, to, self.content, work, context)?,
            _ => None,
        };
        let len = match coded {
            Some(len) if len > 0 && len < stream.len() => len,
            _ => {
                if longest <= self.most
                    && let Some(body) = body.get_mut(..stream.len())
                {
                    Out::from(body).copy_from(stream);
                }
                stream.len()
            }
        };
        *word = (len as u32).to_le_bytes();
        self.at = self.at.saturating_add(4).saturating_add(len);
        Ok(())
    }
}

impl Plan<'_> {
    /// Cuts a filtered block into its streams and encodes each, until they are longer than `most` bytes.
    pub(super) fn encode_streams(
        &self,
        filtered: &[u8],
        work: &mut [u8],
        dst: &mut [u8],
        most: usize,
        context: &mut EncodeContext,
    ) -> Result<EncodedBlock, Error> {
        let leftover = filtered.len() < self.blocksize();
        let count = if leftover { 1 } else { self.streams.max(1) };
        let neblock = filtered.len().checked_div(count).unwrap_or(0).max(1);
        let mut streams = StreamWriter::new(self, dst, most, self.content(count));
        for stream in filtered.chunks(neblock) {
            streams.push(stream, work, context)?;
            if streams.is_too_long() {
                break;
            }
        }
        Ok(streams.finish())
    }

    /// One stream through the codec; `None` where it does not fit `dst`. `content`: what it is.
    pub(super) fn compress(
        &self,
        src: &[u8],
        dst: &mut [u8],
        content: Content,
        work: &mut [u8],
        context: &mut EncodeContext,
    ) -> Result<Option<usize>, Error> {
        let (codec, meta, level) = (self.params.codec, self.params.codec_meta, self.params.level);
        if let Some(user) = self.chunk_context.codec(codec.id()) {
            return Ok(user.encode(meta, level, src, dst));
        }
        #[cfg(feature = "plugins")]
        if codec == Codec::Ndlz {
            return Ok(crate::codec::ndlz::encode(src, dst, meta, self.chunk_context.blockshape, work));
        }
        #[cfg(feature = "zfp")]
        if codec.is_zfp() {
            let shape = self.chunk_context.blockshape;
            let floats = Floats::of(self.params.typesize, shape, src.len());
            let refused = Error::Param { name: "codec", value: i64::from(codec.id()), allowed: NEEDS };
            return Ok(floats.ok_or(refused)?.encode(codec, meta, src, dst));
        }
        if matches!(codec, Codec::Other(_)) {
            return Err(Error::CodecNotBuiltIn(codec));
        }
        Ok(dispatch::encode_stream_of(codec, level, src, dst, self.dictionary, content, work, context))
    }
}

/// The value of every byte of `stream`, if they are all the same.
fn run_of(stream: &[u8]) -> Option<u8> {
    let (&value, rest) = stream.split_first()?;
    // Equal to its own shift by one byte; the first differing piece ends it.
    let previous = stream.get(..rest.len())?;
    (rest == previous).then_some(value)
}
