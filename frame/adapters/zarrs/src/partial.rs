//! [`Partial`]: byte ranges of a chunk, of which only the blocks that they touch are decoded.
//!
//! ```text
//! one range                       Pool::get_bytes: of a block, just the part that is asked for where its filter allows
//! more than half of the chunk     decode it as a whole, and copy
//! else, range after range         a block is decoded once as long as the ranges that touch it follow each other,
//!                                 as those of a box in C order do
//! ```

use crate::codec::{failed, parse, with_pool};
use blosc_core::{Chunk, ChunkContext, Error, Pool};
use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;
use zarrs::array::codec::api::{BytesPartialDecoderTraits, CodecError, CodecOptions};
use zarrs::array::{ArrayBytesRaw, BytesRepresentation};
use zarrs::storage::StorageError;
use zarrs::storage::byte_range::{ByteRange, ByteRangeIterator};

/// Reads parts of the chunk that `input` gives.
pub(crate) struct Partial {
    input: Arc<dyn BytesPartialDecoderTraits>,
    size: BytesRepresentation,
}

impl Partial {
    pub(crate) fn new(input: Arc<dyn BytesPartialDecoderTraits>, size: BytesRepresentation) -> Partial {
        Partial { input, size }
    }
}

impl BytesPartialDecoderTraits for Partial {
    fn exists(&self) -> Result<bool, StorageError> {
        self.input.exists()
    }

    fn size_held(&self) -> usize {
        self.input.size_held()
    }

    fn partial_decode_many(
        &self,
        ranges: ByteRangeIterator,
        options: &CodecOptions,
    ) -> Result<Option<Vec<ArrayBytesRaw<'_>>>, CodecError> {
        let Some(encoded) = self.input.decode(options)? else { return Ok(None) };
        let chunk = parse(&encoded, &self.size)?;
        let ranges = ranges.map(|range| within(range, chunk.nbytes())).collect::<Result<Vec<_>, _>>()?;
        let parts = with_pool(|pool| decode(pool, &chunk, &ranges))?;
        Ok(Some(parts.into_iter().map(Cow::Owned).collect()))
    }

    fn supports_partial_decode(&self) -> bool {
        true
    }
}

/// The positions of `range` in a chunk of `nbytes` bytes.
fn within(range: ByteRange, nbytes: usize) -> Result<Range<usize>, CodecError> {
    let len = nbytes as u64;
    let outside = |index: u64| failed(Error::OutOfRange { index, len });
    let (start, end) = match range {
        ByteRange::FromStart(start, None) => (start, len),
        ByteRange::FromStart(start, Some(count)) => (start, start.saturating_add(count)),
        ByteRange::Suffix(count) => (len.checked_sub(count).ok_or_else(|| outside(count))?, len),
    };
    match (usize::try_from(start), usize::try_from(end)) {
        (Ok(start), Ok(end)) if start <= end && end <= nbytes => Ok(start..end),
        _ => Err(outside(end.max(start))),
    }
}

fn decode(pool: &mut Pool, chunk: &Chunk<'_>, ranges: &[Range<usize>]) -> Result<Vec<Vec<u8>>, Error> {
    let get = |pool: &mut Pool, range: &Range<usize>| {
        let mut part = vec![0; range.len()];
        pool.get_bytes(chunk, ChunkContext::default(), range.clone(), &mut part)?;
        Ok(part)
    };
    let total: usize = ranges.iter().fold(0, |sum, range| sum.saturating_add(range.len()));
    let streams = chunk.header().has_streams();
    if ranges.len() < 2 || !streams || chunk.header().is_vl() {
        return ranges.iter().map(|range| get(pool, range)).collect();
    }
    if total > chunk.nbytes() / 2 {
        let whole = pool.decompress(chunk)?;
        return Ok(ranges
            .iter()
            .map(|range| whole.get(range.clone()).unwrap_or_default().to_vec())
            .collect());
    }
    let mut block =
        Block { size: (chunk.header().blocksize as usize).max(1), index: None, bytes: Vec::new() };
    ranges.iter().map(|range| block.read(pool, chunk, range)).collect()
}

/// The block decoded last.
struct Block {
    /// Bytes of every block but the last.
    size: usize,
    index: Option<usize>,
    bytes: Vec<u8>,
}

impl Block {
    fn read(&mut self, pool: &mut Pool, chunk: &Chunk<'_>, range: &Range<usize>) -> Result<Vec<u8>, Error> {
        let mut part = Vec::with_capacity(range.len());
        let mut at = range.start;
        while at < range.end {
            let index = at / self.size;
            if self.index != Some(index) {
                self.index = None;
                self.bytes.resize(self.size, 0);
                let len = pool.decode_block(chunk, ChunkContext::default(), index, &mut self.bytes)?;
                self.bytes.truncate(len);
                self.index = Some(index);
            }
            let start = index * self.size;
            let end = range.end.min(start + self.bytes.len());
            let beyond = Error::OutOfRange { index: at as u64, len: chunk.nbytes() as u64 };
            let bytes =
                self.bytes.get(at - start..end.saturating_sub(start)).filter(|bytes| !bytes.is_empty());
            part.extend_from_slice(bytes.ok_or(beyond)?);
            at = end;
        }
        Ok(part)
    }
}
