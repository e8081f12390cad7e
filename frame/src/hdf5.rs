//! Blosc in HDF5: the numbers that HDF5 stores with a dataset for a filter (`cd_values`), and the frames that are its chunks.
//!
//! ```text
//!     32001 (Blosc)                        32026 (Blosc2)
//! 0   revision of the filter: 2            revision of the filter: 1
//! 1   format of the chunks: 2              block size in bytes, 0 for automatic
//! 2   item size                            item size
//! 3   plain bytes of a chunk               plain bytes of a chunk
//! 4   level, 5 where it is missing         the same
//! 5   0 none, 1 shuffle, 2 bit shuffle     the same; 3 delta, 4 truncated precision
//! 6   codec: 0 blosclz … 5 zstd            the same
//! 7                                        number of dimensions, where there are two or more
//! 8…                                       shape of a chunk
//! ```
//! The user gives 4 to 6; the others are set when the dataset is made. A chunk of 32001 is a Blosc1 chunk, one of 32026 a frame
//! of one chunk, of an array where the filter knew the dimensions. Nothing here reads HDF5 files: filters and readers ask it.
#![deny(clippy::indexing_slicing, clippy::arithmetic_side_effects)]

use crate::b2nd::{NdArray, Selection};
use crate::error::Error;
use crate::limits::{Limits as FrameLimits, within};
use crate::schunk::SuperChunk;
use alloc::vec::Vec;
use blosc_core::{Codec, Filter, Limits, Params};

/// The filter whose chunks are Blosc1 chunks.
pub const BLOSC: u16 = 32001;
/// The filter whose chunks are frames.
pub const BLOSC2: u16 = 32026;

/// Filters before this one may add something to a chunk, such as a checksum.
const SLACK: u64 = 1 << 16;
/// Most dimensions that filter 32026 tells.
const MOST_DIMENSIONS: usize = 8;

/// The numbers as HDF5 hands them to a filter.
///
/// ```
/// use blosc_core::{Codec, Filter};
/// use blosc_frame::hdf5::CdValues;
///
/// let values = CdValues(&[2, 2, 8, 20_000, 5, 1, 1]);
/// assert_eq!((values.level(), values.filter(), values.codec()), (5, Ok(Filter::Shuffle), Ok(Codec::Lz4)));
/// assert_eq!(values.chunk(), Some(20_000));
/// ```
#[derive(Clone, Copy, Debug)]
pub struct CdValues<'a>(pub &'a [u32]);

/// What a dataset looks like.
#[derive(Clone, Debug)]
pub struct Layout {
    /// Bytes of an item; of an array type, of what it is an array of.
    pub item: u64,
    /// Plain bytes of a chunk.
    pub chunk: u64,
    /// Shape of a chunk.
    pub shape: Vec<u64>,
}

impl CdValues<'_> {
    fn get(&self, number: usize) -> Option<u32> {
        self.0.get(number).copied()
    }

    /// Plain bytes of a chunk, where that is known.
    pub fn chunk(&self) -> Option<u64> {
        self.get(3).filter(|&size| size > 0).map(u64::from)
    }

    /// The most bytes that a stored chunk of `stored` bytes may decode to: the file's word is a limit, not a promise.
    pub fn limit(&self, stored: usize) -> u64 {
        self.chunk().map_or(Limits::plausible(stored), |size| size.saturating_add(SLACK))
    }

    /// Refuses a decoded chunk that is shorter than HDF5 will read.
    ///
    /// # Errors
    /// [`Error::Param`].
    pub fn check(&self, nbytes: u64) -> Result<(), Error> {
        let shorter = Error::param("bytes of a chunk", nbytes as i64, "those of the dataset's chunks");
        if self.chunk().is_some_and(|size| nbytes < size) { Err(shorter) } else { Ok(()) }
    }

    /// How many dimensions the array in a chunk has; 1 where the numbers do not say.
    pub fn dimensions(&self) -> u32 {
        self.get(7).unwrap_or(1).clamp(1, MOST_DIMENSIONS as u32)
    }

    /// Block size and item size in bytes.
    pub fn sizes(&self) -> (Option<u32>, u32) {
        (self.get(1).filter(|&size| size > 0), self.get(2).unwrap_or(1).max(1))
    }

    /// Shape of a chunk, if it is one of `nbytes` bytes with two dimensions or more.
    pub fn shape(&self, item: u32, nbytes: usize) -> Option<Vec<u32>> {
        let dimensions = self.get(7).and_then(|n| usize::try_from(n).ok())?;
        if !(2..=MOST_DIMENSIONS).contains(&dimensions) {
            return None;
        }
        let shape = self.0.get(8..)?.get(..dimensions)?;
        let volume = shape.iter().try_fold(u64::from(item), |n, &dim| n.checked_mul(dim.into()))?;
        (volume == nbytes as u64).then(|| shape.to_vec())
    }

    /// The level.
    pub fn level(&self) -> u32 {
        self.get(4).unwrap_or(5)
    }

    /// The filter.
    ///
    /// # Errors
    /// Its number, where no filter has it.
    pub fn filter(&self) -> Result<Filter, u32> {
        let number = self.get(5).unwrap_or(1);
        u8::try_from(number).ok().filter(|id| *id <= 4).map(Filter::from_id).ok_or(number)
    }

    /// The codec.
    ///
    /// # Errors
    /// Its number, where no codec has it.
    pub fn codec(&self) -> Result<Codec, u32> {
        let number = self.get(6).unwrap_or(0);
        u8::try_from(number).ok().filter(|id| *id <= 5).map(Codec::from_id).ok_or(number)
    }

    /// The parameters that the user asks for, for items of `typesize` bytes. HDF5 has no place for the bits of a truncated
    /// precision, and Blosc1 none for delta.
    ///
    /// # Errors
    /// [`Error::Param`] for a level, filter or codec that filter `id` does not have.
    pub fn params(&self, id: u16, typesize: u32) -> Result<Params, Error> {
        let level = u8::try_from(self.level()).ok().filter(|level| *level <= 9);
        let level = level.ok_or(Error::param("level", self.level().into(), "0 to 9"))?;
        let codec = self.codec().map_err(|n| Error::param("codec", n.into(), "0 (blosclz) to 5 (zstd)"))?;
        let params = Params::new(typesize).codec(codec).level(level);
        match self.filter() {
            Ok(Filter::None) => Ok(params.no_filter()),
            Ok(Filter::Shuffle) => Ok(params.shuffle()),
            Ok(Filter::BitShuffle) => Ok(params.bitshuffle()),
            Ok(Filter::Delta) if id == BLOSC2 => Ok(params.no_filter().slot(5, Filter::Delta, 0)),
            _ => {
                let allowed = if id == BLOSC2 { "0 to 3" } else { "0, 1 and 2" };
                Err(Error::param("filter", self.get(5).unwrap_or(1).into(), allowed))
            }
        }
    }
}

/// `given`, with `defaults` for what is missing in it.
fn completed(given: &[u32], defaults: &[u32]) -> Vec<u32> {
    let rest = defaults.get(given.len()..).unwrap_or_default();
    [given, rest].concat()
}

fn clamped(size: u64) -> u32 {
    u32::try_from(size).unwrap_or(u32::MAX)
}

/// The numbers of a new dataset with filter 32001.
pub fn new_blosc1(given: &[u32], layout: &Layout) -> Vec<u32> {
    let mut values = completed(given, &[0; 4]);
    // Blosc1 has one byte for the item size; what is larger is not shuffled.
    let item = if layout.item > 255 { 1 } else { clamped(layout.item) };
    values.splice(..4, [2, 2, item, clamped(layout.chunk)]);
    values
}

/// The numbers of a new dataset with filter 32026.
pub fn new_blosc2(given: &[u32], layout: &Layout) -> Vec<u32> {
    let dimensions = layout.shape.len();
    let several = (2..=MOST_DIMENSIONS).contains(&dimensions);
    let mut values = completed(given, if several { &[0, 0, 0, 0, 5, 1, 0] } else { &[0; 4] });
    let blocksize = values.get(1).copied().unwrap_or(0);
    values.splice(..4, [1, blocksize, clamped(layout.item), clamped(layout.chunk)]);
    if several {
        values.truncate(7);
        values.push(clamped(dimensions as u64));
        values.extend(layout.shape.iter().map(|&dim| clamped(dim)));
    }
    values
}

/// Decodes a stored chunk of filter 32026, of `most` bytes at most, into what `room` gives for its number of bytes. The chunk of
/// an array is padded to whole blocks, each of its `dimensions` to less than twice its length.
///
/// # Errors
/// What is no frame, or one of more bytes, or damaged; those of `room`.
pub fn decode_frame<B: AsMut<[u8]>>(
    data: &[u8],
    most: u64,
    dimensions: u32,
    room: impl FnOnce(u64) -> Result<B, Error>,
) -> Result<B, Error> {
    let chunk = Limits::DEFAULT.output(most.saturating_mul(2u64.saturating_pow(dimensions)));
    // What bounds the size is the dataset, so the size of the frame need not.
    let limits = FrameLimits::DEFAULT.output(most).chunk(chunk).chunks(1 << 16).expansion(u64::MAX);
    let frame = SuperChunk::open_read(data, &limits)?;
    let bounded = |nbytes| within("decoded bytes of a chunk", nbytes, most).and_then(|()| room(nbytes));
    if frame.metalayer("b2nd").is_none() {
        let mut out = bounded(frame.nbytes())?;
        frame.read_bytes(0..frame.nbytes(), out.as_mut())?;
        return Ok(out);
    }
    let array = NdArray::open(frame)?;
    let mut out = bounded(array.geometry().nbytes())?;
    array.get_into(&Selection::all(array.shape()), out.as_mut())?;
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec;

    #[test]
    fn numbers_of_new_datasets() {
        let layout = |item, shape: &[u64]| Layout {
            item,
            chunk: item * shape.iter().product::<u64>(),
            shape: shape.to_vec(),
        };
        // As hdf5plugin 7.1 and PyTables 3.11 set them.
        assert_eq!(new_blosc1(&[0, 0, 0, 0, 5, 1, 1], &layout(8, &[50, 50])), [2, 2, 8, 20000, 5, 1, 1]);
        assert_eq!(new_blosc1(&[], &layout(300, &[10])), [2, 2, 1, 3000]);
        assert_eq!(
            new_blosc2(&[0, 0, 0, 0, 5, 1, 0], &layout(8, &[50, 50])),
            [1, 0, 8, 20000, 5, 1, 0, 2, 50, 50]
        );
        assert_eq!(
            new_blosc2(&[0, 24000, 0, 0, 5, 2, 1], &layout(8, &[3000])),
            [1, 24000, 8, 24000, 5, 2, 1]
        );
        assert_eq!(new_blosc2(&[], &layout(4, &[2, 3])), [1, 0, 4, 24, 5, 1, 0, 2, 2, 3]);
        // A dataset that is copied has the numbers of the old one, and perhaps chunks of another shape.
        let old = new_blosc2(&[], &layout(4, &[2, 3]));
        assert_eq!(new_blosc2(&old, &layout(4, &[5, 5])), [1, 0, 4, 100, 5, 1, 0, 2, 5, 5]);
    }

    #[test]
    fn a_shape_must_be_that_of_the_chunk() {
        let values = [1, 0, 8, 20000, 5, 1, 0, 2, 50, 50];
        assert_eq!(CdValues(&values).shape(8, 20000), Some(vec![50, 50]));
        assert_eq!(CdValues(&values).shape(8, 19992), None);
        assert_eq!(CdValues(&values[..9]).shape(8, 20000), None);
        let huge = [1, 0, 8, 8, 5, 1, 0, 3, u32::MAX, u32::MAX, u32::MAX];
        assert_eq!(CdValues(&huge).shape(8, 8), None);
    }

    #[test]
    fn the_limit_is_the_chunk_of_the_dataset() {
        // Where the numbers do not say its size, it is what is stored that bounds it.
        assert_eq!(CdValues(&[]).limit(10), Limits::plausible(10));
        assert_eq!(CdValues(&[1, 0, 8, 0]).limit(1 << 24), 1 << 32);
        assert_eq!(CdValues(&[1, 0, 8, 1 << 30]).limit(10), (1 << 30) + SLACK);
        assert_eq!(CdValues(&[1, 0, 8, 1 << 30, 5, 1, 0, 2, 1 << 14, 1 << 13]).dimensions(), 2);
        assert_eq!(CdValues(&[1, 0, 8, 8, 5, 1, 0, u32::MAX]).dimensions(), 8);
    }
}
