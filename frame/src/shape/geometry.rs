//! [`Geometry`]: how an array is cut into chunks and blocks (docs/formats/b2nd.md §2).
//!
//! ```text
//! per axis:  grid       = ceil(s / c)          chunks of the array
//!            block_grid = ceil(c / b)          blocks of a chunk
//! chunk items = prod(block_grid * b)           every chunk is full size, edges are padded
//!
//! item x:    q = x / c ; r = x % c ; p = r / b ; e = r % b          (per axis)
//!            chunk = ravel(q, grid) ; block = ravel(p, block_grid) ; item = ravel(e, b)
//! ```
//! All products are checked here, once, in 64 bits; nothing that is built on a `Geometry` can divide
//! by zero or overflow.
#![deny(clippy::indexing_slicing, clippy::arithmetic_side_effects)]

use super::dims::{Dims, MAX_DIM};
use super::metalayer::{self, Metalayer};
use crate::error::{Error, Structure};

/// Largest chunk, in bytes: what the chunk format can hold.
pub const MAX_CHUNK_BYTES: u32 = i32::MAX as u32 - 32;
/// Most chunks of a frame (docs/formats/cframe.md §15).
pub const MAX_CHUNKS: u64 = 268_435_455;

/// Shapes that fit together. Immutable: a resize makes another.
///
/// ```
/// use blosc_frame::b2nd::Geometry;
/// let g = Geometry::new(&[3, 5], &[2, 3], &[1, 2], 1).unwrap();
/// assert_eq!((g.nchunks(), g.nblocks(), g.chunk_bytes()), (4, 4, 8));
/// assert_eq!(g.locate(&[0, 4]), Some((1, 0, 1)));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Geometry {
    typesize: u32,
    shape: Dims<u64>,
    chunks: Dims<u32>,
    blocks: Dims<u32>,
    grid: Dims<u64>,
    block_grid: Dims<u32>,
    nchunks: u64,
    nblocks: u32,
    block_items: u32,
    chunk_items: u32,
}

/// Product of all numbers, at most `max`.
fn product(numbers: impl Iterator<Item = u64>, max: u64) -> Option<u64> {
    let mut total = 1u64;
    let mut zero = false;
    for n in numbers {
        // A zero ends nothing: the other numbers must be bounded as well.
        zero |= n == 0;
        total = total.checked_mul(n.max(1)).filter(|t| *t <= max)?;
    }
    Some(if zero { 0 } else { total })
}

impl Geometry {
    /// Checks that the shapes make an array of items of `typesize` bytes.
    ///
    /// # Errors
    /// `Invalid` with the field and the place of the number in the metalayer: shapes of different
    /// lengths, a zero chunk or block side on an axis with items, sizes beyond the format's limits.
    pub fn new(shape: &[u64], chunks: &[u32], blocks: &[u32], typesize: u32) -> Result<Geometry, Error> {
        let ndim = shape.len();
        let place = |start: usize, each: usize, axis: usize| axis.saturating_mul(each).saturating_add(start);
        let after_shape = place(4, 9, ndim);
        let offsets = [5, after_shape.saturating_add(2), place(after_shape.saturating_add(3), 5, ndim)];
        let invalid = |which: usize, axis: usize, value: u64| Error::Invalid {
            structure: Structure::B2nd,
            field: ["shape", "chunkshape", "blockshape"].get(which).copied().unwrap_or(""),
            offset: place(offsets.get(which).copied().unwrap_or(0), if which == 0 { 9 } else { 5 }, axis)
                as u64,
            value: i64::try_from(value).unwrap_or(i64::MAX),
        };
        if ndim > MAX_DIM {
            return Err(Error::Param { name: "ndim", value: ndim as i64, allowed: "0 to 16" });
        }
        if chunks.len() != ndim || blocks.len() != ndim {
            return Err(Error::Param {
                name: "chunks and blocks",
                value: chunks.len() as i64,
                allowed: "as many numbers as the shape has",
            });
        }
        if typesize == 0 || typesize > MAX_CHUNK_BYTES {
            return Err(Error::Param { name: "typesize", value: typesize.into(), allowed: "1 to 2^31-33" });
        }
        let mut g = Geometry {
            typesize,
            shape: Dims::new(shape).unwrap_or_else(Dims::empty),
            chunks: Dims::new(chunks).unwrap_or_else(Dims::empty),
            blocks: Dims::new(blocks).unwrap_or_else(Dims::empty),
            grid: Dims::empty(),
            block_grid: Dims::empty(),
            nchunks: 0,
            nblocks: 0,
            block_items: 0,
            chunk_items: 0,
        };
        for (axis, ((s, c), b)) in shape.iter().zip(chunks).zip(blocks).enumerate() {
            if *c == 0 && *s != 0 {
                return Err(invalid(1, axis, 0));
            }
            if *b == 0 && (*s != 0 || *c != 0) {
                return Err(invalid(2, axis, 0));
            }
            // Zero sides only remain where there is nothing to divide.
            let _ = g.grid.push(s.div_ceil((*c).max(1).into()));
            let _ = g.block_grid.push(c.div_ceil((*b).max(1)));
        }
        let typesize64 = u64::from(typesize);
        let i63 = u64::try_from(i64::MAX).unwrap_or(u64::MAX);
        product(shape.iter().copied().chain([typesize64]), i63).ok_or(invalid(0, 0, g.shape.at(0)))?;
        g.nchunks =
            product(g.grid.iter().copied(), MAX_CHUNKS).ok_or(invalid(1, 0, g.chunks.at(0).into()))?;
        let max = u64::from(MAX_CHUNK_BYTES);
        let narrow = |n: Option<u64>| n.and_then(|n| u32::try_from(n).ok());
        let sides = |d: &Dims<u32>| d.map(u64::from);
        narrow(product(sides(&g.chunks).iter().copied(), max)).ok_or(invalid(1, 0, g.chunks.at(0).into()))?;
        let too_large = invalid(2, 0, g.blocks.at(0).into());
        g.block_items =
            narrow(product(sides(&g.blocks).iter().copied().chain([typesize64]), max)).ok_or(too_large)?;
        g.block_items = g.block_items.checked_div(typesize).unwrap_or(0);
        g.nblocks = narrow(product(sides(&g.block_grid).iter().copied(), max)).ok_or(too_large)?;
        let all = [g.nblocks.into(), g.block_items.into(), typesize64];
        let bytes = narrow(product(all.into_iter(), max)).ok_or(too_large)?;
        g.chunk_items = bytes.checked_div(typesize).unwrap_or(0);
        Ok(g)
    }

    /// [`Geometry::new`] for numbers that a caller asks for, who knows nothing of a metalayer.
    ///
    /// # Errors
    /// [`Error::Param`] for all that [`Geometry::new`] refuses.
    pub fn asked(shape: &[u64], chunks: &[u32], blocks: &[u32], typesize: u32) -> Result<Geometry, Error> {
        Geometry::new(shape, chunks, blocks, typesize).map_err(|error| {
            let Error::Invalid { structure: Structure::B2nd, field, value, .. } = error else { return error };
            let (name, allowed) = match (field, value) {
                ("shape", _) => ("shape", "at most 2^63-1 bytes of items"),
                ("chunkshape", 0) => ("chunks", "1 or more on an axis with items"),
                ("chunkshape", _) => (
                    "chunks",
                    "chunks of at most 2^31-33 bytes, and of a size that makes at most 268435455 of them",
                ),
                (_, 0) => ("blocks", "1 or more on an axis with items"),
                _ => ("blocks", "blocks, and chunks filled up to whole blocks, of at most 2^31-33 bytes"),
            };
            Error::Param { name, value, allowed }
        })
    }

    /// The geometry a metalayer describes, with the item size of the frame: the dtype has no say.
    ///
    /// # Errors
    /// As [`Geometry::new`].
    pub fn of(meta: &Metalayer<'_>, typesize: u32) -> Result<Geometry, Error> {
        if typesize == 0 || typesize > MAX_CHUNK_BYTES {
            return Err(Error::Invalid {
                structure: Structure::FrameHeader,
                field: "type_size",
                offset: 0x2f,
                value: typesize.into(),
            });
        }
        Geometry::new(&meta.shape, &meta.chunks, &meta.blocks, typesize)
    }

    /// These chunks and blocks under another shape.
    ///
    /// # Errors
    /// As [`Geometry::new`].
    pub fn with_shape(&self, shape: &[u64]) -> Result<Geometry, Error> {
        Geometry::asked(shape, &self.chunks, &self.blocks, self.typesize)
    }

    /// The metalayer that says this.
    pub fn metalayer<'a>(&self, dtype: &'a [u8]) -> metalayer::Metalayer<'a> {
        Metalayer {
            version: 0,
            shape: self.shape,
            chunks: self.chunks,
            blocks: self.blocks,
            dtype_format: Some(0),
            dtype,
        }
    }

    /// Number of axes.
    pub fn ndim(&self) -> usize {
        self.shape.len()
    }
    /// Bytes of an item.
    pub fn typesize(&self) -> u32 {
        self.typesize
    }
    /// Items per axis.
    pub fn shape(&self) -> &Dims<u64> {
        &self.shape
    }
    /// Items of a chunk per axis.
    pub fn chunks(&self) -> &Dims<u32> {
        &self.chunks
    }
    /// Items of a block per axis.
    pub fn blocks(&self) -> &Dims<u32> {
        &self.blocks
    }
    /// Chunks per axis.
    pub fn grid(&self) -> &Dims<u64> {
        &self.grid
    }
    /// Blocks of a chunk per axis.
    pub fn block_grid(&self) -> &Dims<u32> {
        &self.block_grid
    }
    /// Chunks of the array.
    pub fn nchunks(&self) -> u64 {
        self.nchunks
    }
    /// Blocks of a chunk.
    pub fn nblocks(&self) -> u32 {
        self.nblocks
    }
    /// Items of the array.
    pub fn items(&self) -> u64 {
        self.shape.iter().fold(1, |n, s| n.saturating_mul(*s))
    }
    /// Bytes of the array, without padding.
    pub fn nbytes(&self) -> u64 {
        self.items().saturating_mul(self.typesize.into())
    }
    /// Bytes of a decoded chunk, padding included.
    pub fn chunk_bytes(&self) -> u32 {
        self.chunk_items.saturating_mul(self.typesize)
    }
    /// Bytes of a decoded block.
    pub fn block_bytes(&self) -> u32 {
        self.block_items.saturating_mul(self.typesize)
    }

    /// Chunk, block in the chunk and item in the block where `index` lies; `None` outside the array.
    pub fn locate(&self, index: &[u64]) -> Option<(u64, u32, u32)> {
        if index.len() != self.ndim() {
            return None;
        }
        let (mut chunk, mut block, mut item) = (0u64, 0u32, 0u32);
        for (axis, x) in index.iter().enumerate() {
            let (c, b) = (self.chunks.at(axis), self.blocks.at(axis));
            if *x >= self.shape.at(axis) {
                return None;
            }
            let r = u32::try_from(x.checked_rem(c.into())?).ok()?;
            chunk = chunk.checked_mul(self.grid.at(axis))?.checked_add(x.checked_div(c.into())?)?;
            block = block.checked_mul(self.block_grid.at(axis))?.checked_add(r.checked_div(b)?)?;
            item = item.checked_mul(b)?.checked_add(r.checked_rem(b)?)?;
        }
        Some((chunk, block, item))
    }

    /// Position in the grid of chunk `chunk`.
    pub fn chunk_position(&self, chunk: u64) -> Dims<u64> {
        let mut position = self.grid;
        let mut rest = chunk;
        for n in position.iter_mut().rev() {
            let side = (*n).max(1);
            *n = rest.checked_rem(side).unwrap_or(0);
            rest = rest.checked_div(side).unwrap_or(0);
        }
        position
    }

    /// The part of the array that chunk `chunk` holds: first index and number of items per axis.
    pub fn chunk_region(&self, chunk: u64) -> (Dims<u64>, Dims<u64>) {
        let mut start = self.chunk_position(chunk);
        let mut count = self.shape;
        for (axis, (x, n)) in start.iter_mut().zip(count.iter_mut()).enumerate() {
            let c = u64::from(self.chunks.at(axis));
            *x = x.saturating_mul(c);
            *n = n.saturating_sub(*x).min(c);
        }
        (start, count)
    }
}

#[cfg(test)]
#[allow(clippy::indexing_slicing, clippy::arithmetic_side_effects)]
mod tests {
    use super::*;

    #[test]
    fn documents_first_example() {
        let g = Geometry::new(&[3, 5], &[2, 3], &[1, 2], 1).unwrap();
        assert_eq!((&g.grid()[..], &g.block_grid()[..]), (&[2, 2][..], &[2, 2][..]));
        assert_eq!((g.chunk_bytes(), g.block_bytes(), g.nbytes()), (8, 2, 15));
        // Values 1..=15 in C order; chunk 0 holds 01 02 | 03 00 | 06 07 | 08 00.
        assert_eq!(g.locate(&[0, 2]), Some((0, 1, 0)));
        assert_eq!(g.locate(&[1, 1]), Some((0, 2, 1)));
        assert_eq!(g.locate(&[2, 4]), Some((3, 0, 1)));
        assert_eq!(g.locate(&[3, 0]), None);
        assert_eq!(g.locate(&[0]), None);
        let (start, count) = g.chunk_region(3);
        assert_eq!((&start[..], &count[..]), (&[2, 3][..], &[1, 2][..]));
    }

    #[test]
    fn scalars_and_empty_arrays() {
        let g = Geometry::new(&[], &[], &[], 8).unwrap();
        assert_eq!((g.nchunks(), g.nblocks(), g.chunk_bytes(), g.items()), (1, 1, 8, 1));
        assert_eq!(g.locate(&[]), Some((0, 0, 0)));
        for (s, c, b) in [([0, 5], [0, 5], [0, 5]), ([3, 0], [2, 0], [1, 0]), ([0, 5], [4, 5], [2, 5])] {
            let g = Geometry::new(&s, &c, &b, 8).unwrap();
            assert_eq!((g.nchunks(), g.nbytes()), (0, 0));
        }
    }

    #[test]
    fn lies_are_errors() {
        for (s, c, b, t) in [
            (&[3u64][..], &[0u32][..], &[1u32][..], 1u32),
            (&[3], &[2], &[0], 1),
            (&[0], &[2], &[0], 1),
            (&[3], &[2], &[1], 0),
            (&[3], &[2, 2], &[1], 1),
            (&[3], &[2], &[1, 1], 1),
            (&[1 << 62, 2], &[1 << 15, 1 << 15], &[1, 1], 1),
            (&[1 << 62], &[1 << 20], &[1], 8),
            (&[1 << 40], &[1], &[1], 1),
            (&[1 << 20, 1 << 20], &[1 << 16, 1 << 16], &[1, 1], 1),
            (&[8, 8], &[8, 8], &[65536, 65536], 1),
            (&[1 << 30], &[1 << 30], &[1 << 20], 8),
            (&[7], &[1], &[i32::MAX as u32], 2),
            (&[0, 1 << 62, 1 << 62], &[1, 1, 1], &[1, 1, 1], 1),
            (&[1; 17], &[1; 17], &[1; 17], 1),
            (&[1 << 16; 16], &[1; 16], &[1; 16], 1),
            (&[2; 16], &[2; 16], &[1 << 16; 16], 1),
        ] {
            assert!(Geometry::new(s, c, b, t).is_err(), "{s:?} {c:?} {b:?} {t}");
        }
        let e = Geometry::new(&[3, 3], &[2, 0], &[1, 1], 1).unwrap_err();
        // 97 00 02 92 | d3 3 d3 3 | 92 d2 2 d2 0: the second number is at byte 29.
        assert!(matches!(e, Error::Invalid { field: "chunkshape", offset: 29, value: 0, .. }), "{e:?}");
    }
}
