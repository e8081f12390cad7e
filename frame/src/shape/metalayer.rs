//! The `b2nd` metalayer and its predecessor `caterva` (docs/formats/b2nd.md §1).
//!
//! ```text
//! 97 | version | ndim
//! 90+ndim | ndim x (d3 i64)      shape
//! 90+ndim | ndim x (d2 i32)      chunk shape
//! 90+ndim | ndim x (d2 i32)      block shape
//! dtype_format | db i32 bytes    dtype                       (all integers big-endian)
//! ```
//!
//! It looks like MessagePack and is read by position: with 16 axes the array marker `90+16` is `a0`,
//! which MessagePack takes for an empty string. `caterva` begins with `95` and ends after the block
//! shape. Bytes after the dtype belong to nobody and are left alone.
#![deny(clippy::indexing_slicing, clippy::arithmetic_side_effects)]

use super::dims::{Dims, MAX_DIM};
use crate::error::{Error, Structure};
use alloc::vec::Vec;

/// Name of the metalayer that makes a frame an array.
pub const NAME: &str = "b2nd";
/// Name of its predecessor: read, never written.
pub const NAME_CATERVA: &str = "caterva";
/// Longest dtype text that is read, in bytes: real ones have tens.
pub const MAX_DTYPE: usize = 64 * 1024;

/// The names `docs/formats/b2nd.md` gives the parts.
mod field {
    pub(super) const MARKER: &str = "array marker";
    pub(super) const VERSION: &str = "version";
    pub(super) const NDIM: &str = "ndim";
    pub(super) const SHAPE: &str = "shape";
    pub(super) const CHUNKS: &str = "chunkshape";
    pub(super) const BLOCKS: &str = "blockshape";
    pub(super) const FORMAT: &str = "dtype_format";
    pub(super) const DTYPE: &str = "dtype";
}

fn invalid(field: &'static str, offset: usize, value: i64) -> Error {
    Error::Invalid { structure: Structure::B2nd, field, offset: offset as u64, value }
}

fn truncated(field: &'static str, offset: usize, needed: usize) -> Error {
    Error::Truncated { structure: Structure::B2nd, field, offset: offset as u64, needed: needed as u64 }
}

fn other_ndim(wanted: usize) -> Error {
    Error::Param { name: "ndim", value: wanted as i64, allowed: "the number of axes an array has is fixed" }
}

/// What the metalayer says. Only its syntax has been checked; whether the numbers make an array is
/// for [`Geometry`](crate::shape::Geometry).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Metalayer<'a> {
    /// Format version, 0 so far.
    pub version: u8,
    /// Items per axis, each below 2^63.
    pub shape: Dims<u64>,
    /// Items of a chunk per axis, each below 2^31.
    pub chunks: Dims<u32>,
    /// Items of a block per axis, each below 2^31.
    pub blocks: Dims<u32>,
    /// What kind of text `dtype` is, 0 = NumPy; `None` when the metalayer ends before it.
    pub dtype_format: Option<u8>,
    /// The dtype text as stored, empty when there is none.
    pub dtype: &'a [u8],
}

/// Walks the content by position; every read is checked.
struct Cursor<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Cursor<'a> {
    fn take(&mut self, field: &'static str, n: usize) -> Result<&'a [u8], Error> {
        let rest = self.bytes.get(self.at..).unwrap_or(&[]);
        match rest.split_at_checked(n) {
            Some((head, _)) => {
                self.at = self.at.saturating_add(n);
                Ok(head)
            }
            None => Err(truncated(field, self.at, n)),
        }
    }

    fn array<const N: usize>(&mut self, field: &'static str) -> Result<[u8; N], Error> {
        let offset = self.at;
        let bytes = self.take(field, N)?;
        bytes.try_into().map_err(|_| truncated(field, offset, N))
    }

    fn byte(&mut self, field: &'static str) -> Result<u8, Error> {
        Ok(u8::from_be_bytes(self.array(field)?))
    }

    fn marker(&mut self, field: &'static str, expected: u8) -> Result<(), Error> {
        let offset = self.at;
        let found = self.byte(field)?;
        if found == expected { Ok(()) } else { Err(invalid(field, offset, found.into())) }
    }

    fn done(&self) -> bool {
        self.at >= self.bytes.len()
    }
}

/// `90 + ndim`: an array marker up to 15 axes, `a0` for 16.
const fn shape_marker(ndim: usize) -> u8 {
    0x90u8.saturating_add(if ndim > MAX_DIM { MAX_DIM as u8 } else { ndim as u8 })
}

fn parts(c: &mut Cursor<'_>, field: &'static str, ndim: usize) -> Result<Dims<u32>, Error> {
    c.marker(field, shape_marker(ndim))?;
    let mut dims = Dims::repeat(0u32, ndim);
    for slot in dims.iter_mut() {
        c.marker(field, 0xd2)?;
        let offset = c.at;
        let value = i32::from_be_bytes(c.array(field)?);
        *slot = u32::try_from(value).map_err(|_| invalid(field, offset, value.into()))?;
    }
    Ok(dims)
}

impl<'a> Metalayer<'a> {
    /// Reads the content of a `b2nd` or `caterva` metalayer.
    ///
    /// # Errors
    /// Everything §1 forbids, with the field and its offset: a truncated content, a wrong marker, a
    /// negative number, more than 16 axes, a dtype longer than [`MAX_DTYPE`].
    pub fn parse(bytes: &'a [u8]) -> Result<Metalayer<'a>, Error> {
        let mut c = Cursor { bytes, at: 0 };
        let first = c.byte(field::MARKER)?;
        if first != 0x97 && first != 0x95 {
            return Err(invalid(field::MARKER, 0, first.into()));
        }
        let version = c.byte(field::VERSION)?;
        if version > 127 {
            return Err(invalid(field::VERSION, 1, version.into()));
        }
        let ndim = usize::from(c.byte(field::NDIM)?);
        if ndim > MAX_DIM {
            return Err(invalid(field::NDIM, 2, ndim as i64));
        }
        c.marker(field::SHAPE, shape_marker(ndim))?;
        let mut shape = Dims::repeat(0u64, ndim);
        for slot in shape.iter_mut() {
            c.marker(field::SHAPE, 0xd3)?;
            let offset = c.at;
            let value = i64::from_be_bytes(c.array(field::SHAPE)?);
            *slot = u64::try_from(value).map_err(|_| invalid(field::SHAPE, offset, value))?;
        }
        let chunks = parts(&mut c, field::CHUNKS, ndim)?;
        let blocks = parts(&mut c, field::BLOCKS, ndim)?;
        let (mut dtype_format, mut dtype) = (None, &[][..]);
        if !c.done() {
            dtype_format = Some(c.byte(field::FORMAT)?);
            c.marker(field::DTYPE, 0xdb)?;
            let offset = c.at;
            let value = i32::from_be_bytes(c.array(field::DTYPE)?);
            let len = usize::try_from(value).ok().filter(|len| *len <= MAX_DTYPE).ok_or(invalid(
                field::DTYPE,
                offset,
                value.into(),
            ))?;
            dtype = c.take(field::DTYPE, len)?;
        }
        Ok(Metalayer { version, shape, chunks, blocks, dtype_format, dtype })
    }

    /// The content of a `b2nd` metalayer that says this: `12 + 19 ndim + len(dtype)` bytes, or
    /// without the dtype part when `dtype_format` is `None`.
    ///
    /// # Errors
    /// Shapes of different lengths, numbers beyond their fields, a dtype above [`MAX_DTYPE`].
    pub fn to_bytes(&self) -> Result<Vec<u8>, Error> {
        let ndim = self.shape.len();
        if self.chunks.len() != ndim || self.blocks.len() != ndim {
            return Err(other_ndim(self.chunks.len()));
        }
        let mut out = Vec::with_capacity(12usize.saturating_add(ndim.saturating_mul(19)));
        out.extend([0x97, self.version, u8::try_from(ndim).unwrap_or(u8::MAX), shape_marker(ndim)]);
        for s in self.shape.iter() {
            let value = i64::try_from(*s).map_err(|_| invalid(field::SHAPE, out.len(), i64::MAX))?;
            out.push(0xd3);
            out.extend(value.to_be_bytes());
        }
        for (field, dims) in [(field::CHUNKS, &self.chunks), (field::BLOCKS, &self.blocks)] {
            out.push(shape_marker(ndim));
            for n in dims.iter() {
                let value = i32::try_from(*n).map_err(|_| invalid(field, out.len(), (*n).into()))?;
                out.push(0xd2);
                out.extend(value.to_be_bytes());
            }
        }
        if let Some(format) = self.dtype_format {
            let len = i32::try_from(self.dtype.len())
                .ok()
                .filter(|_| self.dtype.len() <= MAX_DTYPE)
                .ok_or(invalid(field::DTYPE, out.len(), i64::MAX))?;
            out.extend([format, 0xdb]);
            out.extend(len.to_be_bytes());
            out.extend(self.dtype);
        }
        Ok(out)
    }
}

/// Writes another shape into the content of an existing metalayer, leaving every other byte, and so
/// its length, as it is.
///
/// # Errors
/// What [`Metalayer::parse`] refuses, and a shape of another number of axes.
pub fn patch_shape(content: &mut [u8], shape: &[u64]) -> Result<(), Error> {
    let found = Metalayer::parse(content)?.shape.len();
    if found != shape.len() {
        return Err(other_ndim(shape.len()));
    }
    // After 97, version, ndim and the array marker: ndim times d3 and eight bytes.
    let slots = content.get_mut(4..).unwrap_or(&mut []).chunks_exact_mut(9);
    for (axis, (slot, s)) in slots.zip(shape).enumerate() {
        let offset = axis.saturating_mul(9).saturating_add(5);
        let value = i64::try_from(*s).map_err(|_| invalid(field::SHAPE, offset, i64::MAX))?;
        if let Some((_, number)) = slot.split_first_mut() {
            number.copy_from_slice(&value.to_be_bytes());
        }
    }
    Ok(())
}

#[cfg(test)]
#[allow(clippy::indexing_slicing, clippy::arithmetic_side_effects)]
mod tests {
    use super::*;
    use alloc::vec;

    fn hex(text: &str) -> Vec<u8> {
        let digits: Vec<u8> = text.bytes().filter(u8::is_ascii_hexdigit).collect();
        digits.chunks(2).map(|p| u8::from_str_radix(core::str::from_utf8(p).unwrap(), 16).unwrap()).collect()
    }

    /// §9.1: 3x5 uint8, chunks (2, 3), blocks (1, 2).
    const EXAMPLE_1: &str = "97000292d30000000000000003d3000000000000000592d200000002d200000003\
                             92d200000001d20000000200db000000037c7531";

    #[test]
    fn documents_first_example() {
        let bytes = hex(EXAMPLE_1);
        assert_eq!(bytes.len(), 53);
        let m = Metalayer::parse(&bytes).unwrap();
        assert_eq!((m.version, m.dtype_format, m.dtype), (0, Some(0), &b"|u1"[..]));
        assert_eq!((&m.shape[..], &m.chunks[..], &m.blocks[..]), (&[3, 5][..], &[2, 3][..], &[1, 2][..]));
        assert_eq!(m.to_bytes().unwrap(), bytes);
    }

    #[test]
    fn documents_scalar_example() {
        let bytes = hex("97000090909000db000000033c6638");
        let m = Metalayer::parse(&bytes).unwrap();
        assert!(m.shape.is_empty());
        assert_eq!(m.dtype, b"<f8");
        assert_eq!(m.to_bytes().unwrap(), bytes);
    }

    #[test]
    fn sixteen_axes_have_an_odd_marker() {
        let m = Metalayer {
            version: 0,
            shape: Dims::repeat(2, 16),
            chunks: Dims::repeat(1, 16),
            blocks: Dims::repeat(1, 16),
            dtype_format: Some(0),
            dtype: b"<f4",
        };
        let bytes = m.to_bytes().unwrap();
        assert_eq!(bytes.len(), 319);
        assert_eq!(&bytes[..13], hex("970010a0d30000000000000002"));
        assert_eq!(Metalayer::parse(&bytes).unwrap(), m);
    }

    #[test]
    fn caterva_and_missing_dtype() {
        let mut bytes = hex(EXAMPLE_1);
        bytes.truncate(53 - 9);
        let m = Metalayer::parse(&bytes).unwrap();
        assert_eq!((m.dtype_format, m.dtype), (None, &[][..]));
        assert_eq!(m.to_bytes().unwrap(), bytes);
        let mut caterva = bytes.clone();
        caterva[0] = 0x95;
        assert_eq!(Metalayer::parse(&caterva).unwrap(), m);
    }

    #[test]
    fn every_truncation_is_an_error() {
        let bytes = hex(EXAMPLE_1);
        for n in (0..44).chain(45..bytes.len()) {
            assert!(matches!(Metalayer::parse(&bytes[..n]), Err(Error::Truncated { .. })), "{n}");
        }
    }

    #[test]
    fn lies_are_named() {
        let good = hex(EXAMPLE_1);
        let with = |at: usize, value: &[u8]| {
            let mut b = good.clone();
            b[at..at + value.len()].copy_from_slice(value);
            Metalayer::parse(&b).err()
        };
        let invalid = |field, offset, value| Some(super::invalid(field, offset, value));
        assert_eq!(with(2, &[17]), invalid(field::NDIM, 2, 17));
        assert_eq!(with(2, &[200]), invalid(field::NDIM, 2, 200));
        assert_eq!(with(1, &[128]), invalid(field::VERSION, 1, 128));
        assert_eq!(with(5, &[0xff; 8]), invalid(field::SHAPE, 5, -1));
        assert_eq!(with(24, &[0xff; 4]), invalid(field::CHUNKS, 24, -1));
        assert_eq!(with(35, &[0x80, 0, 0, 0]), invalid(field::BLOCKS, 35, i32::MIN.into()));
        assert_eq!(with(46, &[0xff; 4]), invalid(field::DTYPE, 46, -1));
        assert_eq!(with(46, &[0, 0, 0, 4]), Some(truncated(field::DTYPE, 50, 4)));
        assert_eq!(with(0, &[0xc0]), invalid(field::MARKER, 0, 0xc0));
        assert_eq!(with(2, &[1]), invalid(field::SHAPE, 3, 0x92));
    }

    #[test]
    fn a_megabyte_of_dtype_is_refused() {
        let mut bytes = hex(EXAMPLE_1);
        bytes.truncate(46);
        bytes.extend(1_000_000i32.to_be_bytes());
        bytes.extend(vec![b'['; 1_000_000]);
        assert!(matches!(Metalayer::parse(&bytes), Err(Error::Invalid { value: 1_000_000, .. })));
    }

    #[test]
    fn patching_touches_the_shape_only() {
        let mut bytes = hex(EXAMPLE_1);
        bytes.extend(b"tail");
        patch_shape(&mut bytes, &[7, 1 << 40]).unwrap();
        let m = Metalayer::parse(&bytes).unwrap();
        assert_eq!((&m.shape[..], &m.chunks[..], m.dtype), (&[7, 1 << 40][..], &[2, 3][..], &b"|u1"[..]));
        assert!(bytes.ends_with(b"tail"));
        assert_eq!(patch_shape(&mut bytes, &[7]), Err(other_ndim(1)));
    }
}
