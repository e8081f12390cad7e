//! The metalayer `b2nd` (docs/formats/b2nd.md §1).

use crate::abi::MAX_DIM;
use crate::error::*;
use crate::memory::{hand_out, put, string, text, values};
use crate::schunk::Owned;
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
    /// That of a super-chunk, also under its name of old.
    pub fn of(owned: &Owned) -> Result<Meta> {
        let frame = &owned.inner.frame;
        let content = frame.metalayer("b2nd").or_else(|| frame.metalayer("caterva"));
        let mut meta = Meta::parse(content.ok_or(METALAYER_NOT_FOUND)?)?;
        if meta.dtype.is_empty() {
            meta.dtype = format!("|S{}", owned.public.typesize);
        }
        // Numbers of items that do not fit are refused here, sizes in bytes where a buffer is made.
        meta.bytes(1)?;
        Ok(meta)
    }

    /// Reads the content of the metalayer.
    pub fn parse(content: &[u8]) -> Result<Meta> {
        let mut rest = content;
        let mut take = |n: usize| -> Result<&[u8]> {
            let (now, later) = rest.split_at_checked(n).ok_or(DATA)?;
            rest = later;
            Ok(now)
        };
        let ndim = usize::from(take(3)?[2]);
        if ndim > MAX_DIM {
            return Err(DATA);
        }
        let mut numbers = |width: usize| -> Result<Vec<i64>> {
            take(1)?;
            let mut list = Vec::with_capacity(ndim);
            for _ in 0..ndim {
                let bytes = &take(width + 1)?[1..];
                list.push(match <[u8; 8]>::try_from(bytes) {
                    Ok(eight) => i64::from_be_bytes(eight),
                    Err(_) => i32::from_be_bytes(bytes.try_into().map_err(|_| DATA)?).into(),
                });
            }
            if list.iter().any(|&n| n < 0) { Err(DATA) } else { Ok(list) }
        };
        let narrow = |list: Vec<i64>| list.into_iter().map(|n| i32::try_from(n).unwrap_or(0)).collect();
        let (shape, chunkshape, blockshape) = (numbers(8)?, narrow(numbers(4)?), narrow(numbers(4)?));
        let (mut dtype, mut dtype_format) = (String::new(), 0);
        if !rest.is_empty() {
            dtype_format = rest[0] as i8;
            let len = rest.get(2..6).ok_or(DATA)?;
            let len = i32::from_be_bytes(len.try_into().map_err(|_| DATA)?);
            let bytes = usize::try_from(len).ok().and_then(|len| rest.get(6..)?.get(..len)).ok_or(DATA)?;
            dtype = String::from_utf8(bytes.to_vec()).map_err(|_| DATA)?;
        }
        let meta = Meta { shape, chunkshape, blockshape, dtype, dtype_format };
        let axes = meta.shape.iter().zip(&meta.chunkshape).zip(&meta.blockshape);
        if axes.into_iter().any(|((&s, &c), &b)| (s > 0 && c == 0) || (c > 0 && b == 0)) {
            return Err(DATA);
        }
        Ok(meta)
    }

    /// The content of the metalayer.
    pub fn content(&self) -> Vec<u8> {
        let ndim = u8::try_from(self.shape.len()).unwrap_or(0);
        let mut out = vec![0x97, 0, ndim, 0x90 + ndim];
        for n in &self.shape {
            out.push(0xd3);
            out.extend(n.to_be_bytes());
        }
        for list in [&self.chunkshape, &self.blockshape] {
            out.push(0x90 + ndim);
            for n in list {
                out.push(0xd2);
                out.extend(n.to_be_bytes());
            }
        }
        out.push(self.dtype_format as u8);
        out.push(0xdb);
        out.extend(u32::try_from(self.dtype.len()).unwrap_or(0).to_be_bytes());
        out.extend(self.dtype.as_bytes());
        out
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
            let content = meta.content();
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
        let content = meta.content();
        assert_eq!(content.len(), 12 + 19 * 2 + 3);
        assert_eq!(Meta::parse(&content), Ok(meta));
        for n in 0..content.len() {
            let _ = Meta::parse(&content[..n]);
        }
        assert!(Meta::parse(&content[..40]).is_err());
    }
}
