//! Boxes of items: their numbers as the library has them, and their copies between buffers.

use super::Meta;
use crate::error::*;
use crate::memory::{bytes, bytes_mut, values};
use blosc_frame::b2nd::{Selection, copy_box};
use core::ffi::{c_int, c_void};

/// Numbers of items or places, none of which may be negative.
pub fn unsigned(list: &[i64]) -> Result<Vec<u64>> {
    list.iter().map(|&n| u64::try_from(n).map_err(|_| INVALID_PARAM)).collect()
}

/// How far it is from each number of `low` to that of `high`.
pub fn lengths(low: &[i64], high: &[i64]) -> Result<Vec<i64>> {
    low.iter().zip(high).map(|(a, b)| b.checked_sub(*a).ok_or(INVALID_PARAM)).collect()
}

/// Items `start` to `stop` of an array of this shape.
pub fn select(shape: &[u64], start: &[i64], stop: &[i64]) -> Result<Selection> {
    let ranges: Vec<_> = unsigned(start)?.into_iter().zip(unsigned(stop)?).map(|(a, b)| a..b).collect();
    if ranges.iter().zip(shape).any(|(range, side)| range.start > range.end || range.end > *side) {
        return Err(INVALID_PARAM);
    }
    Ok(Selection::ranges(shape, &ranges)?)
}

/// Numbers of the chunks that items `start` to `stop` lie in.
pub fn chunks_of(meta: &Meta, start: &[i64], stop: &[i64]) -> Result<Vec<i64>> {
    let geometry = meta.geometry(1)?;
    let list = select(geometry.shape(), start, stop)?.chunks(&geometry);
    Ok(list.into_iter().map(|k| i64::try_from(k).unwrap_or(-1)).collect())
}

#[unsafe(no_mangle)]
unsafe extern "C" fn b2nd_copy_buffer2(
    ndim: i8,
    itemsize: i32,
    src: *const c_void,
    src_pad_shape: *const i64,
    src_start: *const i64,
    src_stop: *const i64,
    dst: *mut c_void,
    dst_pad_shape: *const i64,
    dst_start: *const i64,
) -> c_int {
    int(|| {
        // SAFETY: `ndim` numbers at each; buffers as large as their shapes say, which do not overlap.
        unsafe {
            let n = i64::from(ndim);
            let (from_shape, from_at) = (values(src_pad_shape, n)?, values(src_start, n)?);
            let (to_shape, to_at) = (values(dst_pad_shape, n)?, values(dst_start, n)?);
            let stop = values(src_stop, n)?;
            let total = |shape: &[i64]| {
                let product = |p: i64, &k: &i64| if k < 0 { None } else { p.checked_mul(k) };
                shape.iter().try_fold(i64::from(itemsize), product).ok_or(INVALID_PARAM)
            };
            let from = bytes(src, total(from_shape)?)?;
            let to = bytes_mut(dst, total(to_shape)?)?;
            let len = lengths(from_at, stop)?;
            if len.iter().any(|&n| n <= 0) {
                return Ok(0);
            }
            let item = u32::try_from(itemsize).map_err(|_| INVALID_PARAM)?;
            let [len, from_shape, from_at] = [&len[..], from_shape, from_at].map(unsigned);
            let [to_shape, to_at] = [to_shape, to_at].map(unsigned);
            copy_box(item, &len?, (from, &from_shape?, &from_at?), (to, &to_shape?, &to_at?))?;
        }
        Ok(0)
    })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn b2nd_copy_buffer(
    ndim: i8,
    itemsize: u8,
    src: *const c_void,
    src_pad_shape: *const i64,
    src_start: *const i64,
    src_stop: *const i64,
    dst: *mut c_void,
    dst_pad_shape: *const i64,
    dst_start: *const i64,
) -> c_int {
    // SAFETY: as this function's own arguments.
    unsafe {
        b2nd_copy_buffer2(
            ndim,
            itemsize.into(),
            src,
            src_pad_shape,
            src_start,
            src_stop,
            dst,
            dst_pad_shape,
            dst_start,
        )
    }
}
