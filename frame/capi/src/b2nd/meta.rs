//! The metalayer `b2nd` (docs/formats/b2nd.md §1), as bytes of the caller's.

use crate::abi::MAX_DIM;
use crate::error::*;
use crate::memory::{hand_out, put, string, text, values};
use crate::shapes::{sides, unsigned};
use blosc_frame::b2nd::Dims;
use blosc_frame::b2nd::metalayer::Metalayer;
use core::ffi::{c_char, c_int};

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
            let meta = Metalayer {
                version: 0,
                shape: Dims::new(&unsigned(values(shape, n)?)?).ok_or(INVALID_PARAM)?,
                chunks: Dims::new(&sides(values(chunkshape, n)?)?).ok_or(INVALID_PARAM)?,
                blocks: Dims::new(&sides(values(blockshape, n)?)?).ok_or(INVALID_PARAM)?,
                dtype_format: Some(dtype_format as u8),
                dtype: if dtype.is_null() { "|u1" } else { text(dtype)? }.as_bytes(),
            };
            let content = meta.to_bytes()?;
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
            let meta = Metalayer::parse(content).map_err(|_| DATA)?;
            let axes = meta.shape.iter().zip(meta.chunks.iter()).zip(meta.blocks.iter());
            if axes.into_iter().any(|((&s, &c), &b)| (s > 0 && c == 0) || (c > 0 && b == 0)) {
                return Err(DATA);
            }
            let text = core::str::from_utf8(meta.dtype).map_err(|_| DATA)?;
            put(ndim, i8::try_from(meta.shape.len()).unwrap_or(0));
            // Each is positive as a signed number: the metalayer has them so.
            for k in 0..meta.shape.len() {
                put(shape.wrapping_add(k), meta.shape[k] as i64);
                put(chunkshape.wrapping_add(k), meta.chunks[k] as i32);
                put(blockshape.wrapping_add(k), meta.blocks[k] as i32);
            }
            put(dtype_format, meta.dtype_format.unwrap_or(0) as i8);
            if !dtype.is_null() {
                put(dtype, string(text)?);
            }
            size(content.len())
        }
    })
}
