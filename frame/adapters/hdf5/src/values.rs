//! The numbers that HDF5 stores with a dataset for a filter (`cd_values`).
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
//! The user gives 4 to 6; the others are set when the dataset is made.

use blosc_core::{Codec, Params};

/// A chunk that decodes to no more than this is decoded where nothing says its size.
const ALWAYS: u64 = 256 << 20;
/// Above [`ALWAYS`], such a chunk may decode to this many times its own size.
const EXPANSION: u64 = 256;
/// Filters before this one may add something to a chunk, such as a checksum.
const SLACK: u64 = 1 << 16;
/// Most dimensions of a b2nd array.
const MOST_DIMENSIONS: usize = 8;

/// The numbers as HDF5 hands them to a filter.
pub struct Values<'a>(pub &'a [u32]);

/// What a dataset looks like.
pub struct Layout {
    /// Bytes of an item; of an array type, of what it is an array of.
    pub item: u64,
    /// Plain bytes of a chunk.
    pub chunk: u64,
    /// Shape of a chunk.
    pub shape: Vec<u64>,
}

impl Values<'_> {
    fn get(&self, number: usize) -> Option<u32> {
        self.0.get(number).copied()
    }

    /// Plain bytes of a chunk, where that is known.
    pub fn chunk(&self) -> Option<u64> {
        self.get(3).filter(|&size| size > 0).map(u64::from)
    }

    /// The most bytes that a stored chunk of `stored` bytes may decode to: the file's word is a limit, not a promise.
    pub fn limit(&self, stored: usize) -> u64 {
        match self.chunk() {
            Some(size) => size + SLACK,
            None => (stored as u64).saturating_mul(EXPANSION).max(ALWAYS),
        }
    }

    /// The most bytes that the chunk of a b2nd array with `limit` bytes of items may have. It is padded to whole blocks,
    /// each side to less than twice its length.
    pub fn padded(&self, limit: u64) -> u64 {
        let dimensions = self.get(7).unwrap_or(1).clamp(1, MOST_DIMENSIONS as u32);
        limit.saturating_mul(1 << dimensions)
    }

    /// Refuses a decoded chunk that is shorter than HDF5 will read.
    pub fn check(&self, nbytes: u64) -> Result<(), String> {
        match self.chunk() {
            Some(size) if nbytes < size => {
                Err(format!("a chunk of {nbytes} bytes where the dataset has {size}"))
            }
            _ => Ok(()),
        }
    }

    /// Block size and item size.
    pub fn sizes(&self) -> (Option<u32>, u32) {
        (self.get(1).filter(|&size| size > 0), self.get(2).unwrap_or(1).max(1))
    }

    /// Shape of a chunk, if it is one of `nbytes` bytes with two dimensions or more.
    pub fn shape(&self, item: u32, nbytes: usize) -> Option<Vec<u32>> {
        let dimensions = self.get(7).and_then(|n| usize::try_from(n).ok())?;
        if !(2..=MOST_DIMENSIONS).contains(&dimensions) {
            return None;
        }
        let shape = self.0.get(8..8 + dimensions)?;
        let volume = shape.iter().try_fold(u64::from(item), |n, &dim| n.checked_mul(dim.into()))?;
        (volume == nbytes as u64).then(|| shape.to_vec())
    }

    /// Level and codec, and the number of the filter, which differs between the two.
    pub fn params(&self, typesize: u32) -> Result<(Params, u32), String> {
        let level = self.get(4).unwrap_or(5);
        let level = u8::try_from(level).ok().filter(|&level| level <= 9);
        let level = level.ok_or_else(|| format!("level {}: 0 to 9 are allowed", self.get(4).unwrap_or(5)))?;
        let codec = match self.get(6).unwrap_or(0) {
            0 => Codec::BloscLz,
            1 => Codec::Lz4,
            2 => Codec::Lz4Hc,
            3 => Codec::Snappy,
            4 => Codec::Zlib,
            5 => Codec::Zstd,
            other => return Err(format!("codec {other}: 0 (blosclz) to 5 (zstd) are known")),
        };
        Ok((Params::new(typesize).codec(codec).level(level), self.get(5).unwrap_or(1)))
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
pub fn local_blosc1(given: &[u32], layout: &Layout) -> Vec<u32> {
    let mut values = completed(given, &[0; 4]);
    // Blosc1 has one byte for the item size; what is larger is not shuffled.
    let item = if layout.item > 255 { 1 } else { clamped(layout.item) };
    values.splice(..4, [2, 2, item, clamped(layout.chunk)]);
    values
}

/// The numbers of a new dataset with filter 32026.
pub fn local_blosc2(given: &[u32], layout: &Layout) -> Vec<u32> {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_new_datasets() {
        let layout = |item, shape: &[u64]| Layout {
            item,
            chunk: item * shape.iter().product::<u64>(),
            shape: shape.to_vec(),
        };
        // As hdf5plugin 7.1 and PyTables 3.11 set them.
        assert_eq!(local_blosc1(&[0, 0, 0, 0, 5, 1, 1], &layout(8, &[50, 50])), [2, 2, 8, 20000, 5, 1, 1]);
        assert_eq!(local_blosc1(&[], &layout(300, &[10])), [2, 2, 1, 3000]);
        assert_eq!(
            local_blosc2(&[0, 0, 0, 0, 5, 1, 0], &layout(8, &[50, 50])),
            [1, 0, 8, 20000, 5, 1, 0, 2, 50, 50]
        );
        assert_eq!(
            local_blosc2(&[0, 24000, 0, 0, 5, 2, 1], &layout(8, &[3000])),
            [1, 24000, 8, 24000, 5, 2, 1]
        );
        assert_eq!(local_blosc2(&[], &layout(4, &[2, 3])), [1, 0, 4, 24, 5, 1, 0, 2, 2, 3]);
        // A dataset that is copied has the numbers of the old one, and perhaps chunks of another shape.
        let old = local_blosc2(&[], &layout(4, &[2, 3]));
        assert_eq!(local_blosc2(&old, &layout(4, &[5, 5])), [1, 0, 4, 100, 5, 1, 0, 2, 5, 5]);
    }

    #[test]
    fn a_shape_must_be_that_of_the_chunk() {
        let values = [1, 0, 8, 20000, 5, 1, 0, 2, 50, 50];
        assert_eq!(Values(&values).shape(8, 20000), Some(vec![50, 50]));
        assert_eq!(Values(&values).shape(8, 19992), None);
        assert_eq!(Values(&values[..9]).shape(8, 20000), None);
        let huge = [1, 0, 8, 8, 5, 1, 0, 3, u32::MAX, u32::MAX, u32::MAX];
        assert_eq!(Values(&huge).shape(8, 8), None);
    }

    #[test]
    fn the_limit_is_the_chunk_of_the_dataset() {
        // Where the numbers do not say its size, it is what is stored that bounds it.
        assert_eq!(Values(&[]).limit(10), ALWAYS);
        assert_eq!(Values(&[1, 0, 8, 0]).limit(1 << 24), 1 << 32);
        assert_eq!(Values(&[1, 0, 8, 1 << 30]).limit(10), (1 << 30) + SLACK);
        assert_eq!(Values(&[1, 0, 8, 1 << 30, 5, 1, 0, 2, 1 << 14, 1 << 13]).padded(10), 40);
        assert_eq!(Values(&[1, 0, 8, 8, 5, 1, 0, u32::MAX]).padded(u64::MAX), u64::MAX);
    }
}
