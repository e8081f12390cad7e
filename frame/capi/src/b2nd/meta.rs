//! The metalayer `b2nd` (docs/formats/b2nd.md §1).

use super::boxes::unsigned;
use crate::abi::MAX_DIM;
use crate::error::*;
use crate::memory::{hand_out, put, string, text, values};
use crate::schunk::Owned;
use blosc_frame::b2nd::metalayer::Metalayer;
use blosc_frame::b2nd::{Dims, Geometry, MAX_CHUNK_BYTES};
use core::ffi::{c_char, c_int};

/// Shapes and item type of an array.
#[derive(Clone, Debug, PartialEq)]
pub struct Meta {
    pub shape: Vec<i64>,
    pub chunkshape: Vec<i32>,
    pub blockshape: Vec<i32>,
    pub dtype: String,
    pub dtype_format: i8,
}

impl Meta {
    /// The metalayer of a super-chunk, also under its name of old.
    pub fn of(owned: &Owned) -> Result<Meta> {
        let frame = &owned.inner.frame;
        let content = frame.metalayer("b2nd").or_else(|| frame.metalayer("caterva"));
        let mut meta = Meta::parse(content.ok_or(METALAYER_NOT_FOUND)?)?;
        if meta.dtype.is_empty() {
            meta.dtype = format!("|S{}", owned.public.typesize);
        }
        // Numbers of items that do not fit are refused here, sizes in bytes where a buffer is made.
        meta.geometry(1)?;
        Ok(meta)
    }

    /// Reads the content of the metalayer.
    pub fn parse(content: &[u8]) -> Result<Meta> {
        let meta = Metalayer::parse(content).map_err(|_| DATA)?;
        let narrow = |list: &[u32]| list.iter().map(|&n| i32::try_from(n).unwrap_or(0)).collect::<Vec<_>>();
        let (chunkshape, blockshape) = (narrow(&meta.chunks), narrow(&meta.blocks));
        let axes = meta.shape.iter().zip(&chunkshape).zip(&blockshape);
        if axes.into_iter().any(|((&s, &c), &b)| (s > 0 && c == 0) || (c > 0 && b == 0)) {
            return Err(DATA);
        }
        Ok(Meta {
            shape: meta.shape.iter().map(|&n| i64::try_from(n).unwrap_or(i64::MAX)).collect(),
            chunkshape,
            blockshape,
            dtype: String::from_utf8(meta.dtype.to_vec()).map_err(|_| DATA)?,
            dtype_format: meta.dtype_format.unwrap_or(0) as i8,
        })
    }

    fn parts(&self) -> Result<[Vec<u32>; 2]> {
        let wide =
            |list: &[i32]| list.iter().map(|&n| u32::try_from(n)).collect::<core::result::Result<_, _>>();
        Ok([
            wide(&self.chunkshape).map_err(|_| INVALID_PARAM)?,
            wide(&self.blockshape).map_err(|_| INVALID_PARAM)?,
        ])
    }

    /// The content of the metalayer.
    pub fn content(&self) -> Result<Vec<u8>> {
        let ([chunks, blocks], shape) = (self.parts()?, unsigned(&self.shape)?);
        let meta = Metalayer {
            version: 0,
            shape: Dims::new(&shape).ok_or(INVALID_PARAM)?,
            chunks: Dims::new(&chunks).ok_or(INVALID_PARAM)?,
            blocks: Dims::new(&blocks).ok_or(INVALID_PARAM)?,
            dtype_format: Some(self.dtype_format as u8),
            dtype: self.dtype.as_bytes(),
        };
        Ok(meta.to_bytes()?)
    }

    /// How the array is cut, of items of `size` bytes. With the padding of its chunks it must have a number of items that
    /// the interface can tell.
    pub fn geometry(&self, size: usize) -> Result<Geometry> {
        let ([chunks, blocks], shape) = (self.parts()?, unsigned(&self.shape)?);
        let up = |n: u64, unit: u32| match unit {
            0 => 0,
            unit => u128::from(n.div_ceil(unit.into())) * u128::from(unit),
        };
        let padded = shape.iter().zip(&chunks).fold(1u128, |n, (&s, &c)| n.saturating_mul(up(s, c)));
        let sides = chunks.iter().zip(&blocks);
        let chunk = sides.fold(size as u128, |n, (&c, &b)| n.saturating_mul(up(c.into(), b)));
        if padded > i64::MAX as u128 {
            return Err(INVALID_PARAM);
        }
        if chunk > u128::from(MAX_CHUNK_BYTES) {
            return Err(MAX_BUFSIZE_EXCEEDED);
        }
        let size = u32::try_from(size).map_err(|_| INVALID_PARAM)?;
        Geometry::new(&shape, &chunks, &blocks, size).map_err(|_| INVALID_PARAM)
    }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn b2nd_serialize_meta(
    ndim: i8,
    shape: *const i64,
    chunkshape: *const i32,
    blockshape: *const i32,
    dtype: *const c_char,
    dtype_format: i8,
    smeta: *mut *mut u8,
) -> c_int {
    int(|| {
        if !(0..=MAX_DIM as i8).contains(&ndim) {
            return Err(INVALID_PARAM);
        }
        // SAFETY: `ndim` numbers at each; null or a string; null or writable.
        unsafe {
            let n = i64::from(ndim);
            let dtype = if dtype.is_null() { "|u1" } else { text(dtype)? }.to_owned();
            let meta = Meta {
                shape: values(shape, n)?.to_vec(),
                chunkshape: values(chunkshape, n)?.to_vec(),
                blockshape: values(blockshape, n)?.to_vec(),
                dtype,
                dtype_format,
            };
            let content = meta.content()?;
            hand_out(smeta, &content)?;
            size(content.len())
        }
    })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn b2nd_deserialize_meta(
    smeta: *const u8,
    smeta_len: i32,
    ndim: *mut i8,
    shape: *mut i64,
    chunkshape: *mut i32,
    blockshape: *mut i32,
    dtype: *mut *mut c_char,
    dtype_format: *mut i8,
) -> c_int {
    int(|| {
        // SAFETY: `smeta_len` readable bytes; room for as many numbers as dimensions at each; null or writable.
        unsafe {
            let content = crate::memory::bytes(smeta.cast(), smeta_len.into())?;
            let meta = Meta::parse(content)?;
            put(ndim, i8::try_from(meta.shape.len()).unwrap_or(0));
            for k in 0..meta.shape.len() {
                put(shape.wrapping_add(k), meta.shape[k]);
                put(chunkshape.wrapping_add(k), meta.chunkshape[k]);
                put(blockshape.wrapping_add(k), meta.blockshape[k]);
            }
            put(dtype_format, meta.dtype_format);
            if !dtype.is_null() {
                put(dtype, string(&meta.dtype)?);
            }
            size(content.len())
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read() {
        let meta = Meta {
            shape: vec![10, 1 << 40],
            chunkshape: vec![5, 7],
            blockshape: vec![2, 7],
            dtype: "<f8".into(),
            dtype_format: 0,
        };
        let content = meta.content().unwrap();
        assert_eq!(content.len(), 12 + 19 * 2 + 3);
        assert_eq!(Meta::parse(&content), Ok(meta));
        for n in 0..content.len() {
            let _ = Meta::parse(&content[..n]);
        }
        assert!(Meta::parse(&content[..40]).is_err());
    }
}
