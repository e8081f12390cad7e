//! Shapes: resize, append, insert, delete, and views of fewer or more dimensions.

use super::{Array, Meta, array, changing, wrap};
use crate::error::*;
use crate::memory::{bytes, needed, put, values, zeros};
use blosc_core::Params;
use blosc_frame::SuperChunk;
use blosc_frame::b2nd::NdArray;
use core::ffi::{c_int, c_void};
use core::mem;

/// Runs `edit` on the array as `blosc-frame` has it, and takes over its new shape.
fn change(
    array: &mut Array,
    edit: impl FnOnce(&mut NdArray<'static>) -> core::result::Result<(), blosc_frame::Error>,
) -> Result<()> {
    if array.is_view() {
        return Err(INVALID_PARAM);
    }
    let owned = array.schunk()?;
    owned.change(|inner| {
        // The frame is lent to the array; an error of `open` would lose it, so what that checks is checked before.
        NdArray::check(&inner.frame)?;
        let frame = mem::replace(&mut inner.frame, SuperChunk::memory(&Params::new(1))?);
        let mut nd = NdArray::open(frame)?;
        let done = edit(&mut nd);
        inner.frame = nd.into_frame();
        done?;
        inner.recount();
        Ok(())
    })?;
    owned.sync_meta()?;
    array.follow()?;
    Ok(())
}

/// Changes the shape at the ends of its axes.
pub fn resize(array: &mut Array, shape: &[i64]) -> Result<()> {
    let shape: core::result::Result<Vec<u64>, _> = shape.iter().map(|&n| u64::try_from(n)).collect();
    let shape = shape.map_err(|_| INVALID_PARAM)?;
    change(array, |nd| nd.resize(&shape))
}

/// Changes the shape at the places `start` of its axes.
fn resize_at(dst: &mut Array, shape: &[i64], start: &[i64]) -> Result<()> {
    let old = dst.meta()?;
    if shape.iter().any(|&n| n < 0) {
        return Err(INVALID_PARAM);
    }
    for (axis, (&new, &at)) in shape.iter().zip(start).enumerate() {
        let before = old.shape[axis];
        let grows = new > before;
        // Inside an axis only whole chunks come and go.
        let unit = i64::from(old.chunkshape[axis]);
        let end = if grows { before } else { new };
        if new != before
            && (at < 0 || at > end || (at != end && (at % unit != 0 || (new - before) % unit != 0)))
        {
            return Err(INVALID_PARAM);
        }
    }
    for (axis, (&new, &at)) in shape.iter().zip(start).enumerate() {
        let before = dst.meta()?.shape[axis];
        let at = u64::try_from(at).map_err(|_| INVALID_PARAM)?;
        if new < before {
            let gone = u64::try_from(before - new).map_err(|_| INVALID_PARAM)?;
            change(dst, |nd| nd.delete(axis, at..at + gone))?;
        } else if new > before {
            let meta = dst.meta()?;
            let size = i64::from(dst.schunk()?.public.typesize);
            let mut others = meta.shape.iter().enumerate().filter(|(k, _)| *k != axis);
            let row = others.try_fold(size, |row, (_, &n)| row.checked_mul(n));
            let bytes = row.and_then(|row| row.checked_mul(new - before)).ok_or(INVALID_PARAM)?;
            let zeros = zeros(usize::try_from(bytes).map_err(|_| INVALID_PARAM)?)?;
            change(dst, |nd| nd.insert(axis, at, &zeros))?;
        }
    }
    Ok(())
}

#[unsafe(no_mangle)]
unsafe extern "C" fn b2nd_resize(dst: *mut Array, new_shape: *const i64, start: *const i64) -> c_int {
    let edit = |dst: &mut Array| {
        let n = i64::from(dst.ndim);
        // SAFETY: as many numbers as the array has dimensions, or null for `start`.
        unsafe {
            let shape = values(new_shape, n)?;
            if start.is_null() { resize(dst, shape)? } else { resize_at(dst, shape, values(start, n)?)? }
        }
        Ok(0)
    };
    // SAFETY: null or an array of this library.
    int(|| unsafe { changing(dst, edit) })
}

fn axis_of(array: &Array, axis: i8) -> Result<usize> {
    usize::try_from(axis).ok().filter(|_| axis < array.ndim).ok_or(INVALID_PARAM)
}

#[unsafe(no_mangle)]
unsafe extern "C" fn b2nd_insert(
    dst: *mut Array,
    buffer: *const c_void,
    buffersize: i64,
    axis: i8,
    insert_start: i64,
) -> c_int {
    // SAFETY: null or an array of this library; `buffersize` readable bytes.
    int(|| unsafe {
        let data = bytes(buffer, buffersize)?;
        let at = u64::try_from(insert_start).map_err(|_| INVALID_PARAM)?;
        changing(dst, |dst| {
            let axis = axis_of(dst, axis)?;
            change(dst, |nd| nd.insert(axis, at, data)).map(|()| 0)
        })
    })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn b2nd_append(dst: *mut Array, buffer: *const c_void, buffersize: i64, axis: i8) -> c_int {
    // SAFETY: null or an array of this library; `buffersize` readable bytes.
    int(|| unsafe {
        let data = bytes(buffer, buffersize)?;
        changing(dst, |dst| {
            let axis = axis_of(dst, axis)?;
            change(dst, |nd| nd.append(axis, data)).map(|()| 0)
        })
    })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn b2nd_delete(dst: *mut Array, axis: i8, delete_start: i64, delete_len: i64) -> c_int {
    let edit = |dst: &mut Array| {
        let axis = axis_of(dst, axis)?;
        let number = |n: i64| u64::try_from(n).map_err(|_| INVALID_PARAM);
        let (at, len) = (number(delete_start)?, number(delete_len)?);
        change(dst, |nd| nd.delete(axis, at..at + len)).map(|()| 0)
    };
    // SAFETY: null or an array of this library.
    int(|| unsafe { changing(dst, edit) })
}

/// A view of `src` without the axes that `gone` picks.
fn squeezed(src: &Array, gone: impl Fn(usize) -> bool) -> Result<*mut Array> {
    let meta = src.meta()?;
    let keep: Vec<usize> = (0..meta.shape.len()).filter(|&k| !gone(k)).collect();
    let view = Meta {
        shape: keep.iter().map(|&k| meta.shape[k]).collect(),
        chunkshape: keep.iter().map(|&k| meta.chunkshape[k]).collect(),
        blockshape: keep.iter().map(|&k| meta.blockshape[k]).collect(),
        ..meta
    };
    wrap(src.sc, &view, true)
}

#[unsafe(no_mangle)]
unsafe extern "C" fn b2nd_squeeze(src: *mut Array, view: *mut *mut Array) -> c_int {
    int(|| {
        // SAFETY: null or an array of this library; null or writable.
        unsafe {
            let (src, view) = (array(src)?, needed(view)?);
            put(view, squeezed(src, |k| src.shape[k] == 1 && src.chunkshape[k] == 1)?);
        }
        Ok(0)
    })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn b2nd_squeeze_index(src: *mut Array, view: *mut *mut Array, index: *const u8) -> c_int {
    int(|| {
        // SAFETY: null or an array of this library, with a boolean of C for each dimension; null or writable.
        unsafe {
            let (src, view) = (array(src)?, needed(view)?);
            let index = values(index, src.ndim.into())?;
            if index
                .iter()
                .enumerate()
                .any(|(k, &gone)| gone != 0 && (src.shape[k] != 1 || src.chunkshape[k] != 1))
            {
                return Err(INVALID_INDEX);
            }
            put(view, squeezed(src, |k| index[k] != 0)?);
        }
        Ok(0)
    })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn b2nd_expand_dims(
    src: *const Array,
    view: *mut *mut Array,
    axis: *const u8,
    final_dims: u8,
) -> c_int {
    int(|| {
        // SAFETY: null or an array of this library; a boolean of C for each of `final_dims`; null or writable.
        unsafe {
            let (src, view) = (array(src)?, needed(view)?);
            let added = values(axis, final_dims.into())?;
            let meta = src.meta()?;
            let kept = added.iter().filter(|&&new| new == 0).count();
            if kept != meta.shape.len() || usize::from(final_dims) > crate::abi::MAX_DIM {
                return Err(INVALID_PARAM);
            }
            let mut old = 0..kept;
            let mut wider =
                Meta { shape: Vec::new(), chunkshape: Vec::new(), blockshape: Vec::new(), ..meta.clone() };
            for &new in added {
                let from = if new == 0 { old.next() } else { None };
                wider.shape.push(from.map_or(1, |k| meta.shape[k]));
                wider.chunkshape.push(from.map_or(1, |k| meta.chunkshape[k]));
                wider.blockshape.push(from.map_or(1, |k| meta.blockshape[k]));
            }
            put(view, wrap(src.sc, &wider, true)?);
        }
        Ok(0)
    })
}
