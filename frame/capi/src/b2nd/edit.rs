//! Shapes: resize, append, insert, delete, and views of fewer or more dimensions.

use super::array::{Array, Whole, array, changing, wrap};
use crate::error::*;
use crate::memory::{bytes, needed, put, values};
use crate::shapes::unsigned;
use blosc_frame::Error;
use blosc_frame::b2nd::ArrayView;
use core::ffi::{c_int, c_void};

/// Runs `edit` on the array as `blosc-frame` has it, and takes over its new shape.
fn change(
    array: &mut Whole,
    edit: impl FnOnce(&mut ArrayView<'_, 'static>) -> core::result::Result<(), Error>,
) -> Result<()> {
    if array.is_view() {
        return Err(INVALID_PARAM);
    }
    let owned = array.schunk()?;
    owned.change(|inner| {
        edit(&mut ArrayView::open(&mut inner.frame)?)?;
        inner.recount();
        Ok(())
    })?;
    owned.sync_meta()?;
    array.follow()?;
    Ok(())
}

/// Changes the shape at the ends of its axes.
pub fn resize(array: &mut Whole, shape: &[u64]) -> Result<()> {
    change(array, |nd| nd.resize(shape))
}

#[unsafe(no_mangle)]
unsafe extern "C" fn b2nd_resize(dst: *mut Array, new_shape: *const i64, start: *const i64) -> c_int {
    let edit = |dst: &mut Whole| {
        let n = i64::from(dst.ndim);
        // SAFETY: as many numbers as the array has dimensions, or null for `start`, as the caller promises.
        unsafe {
            let shape = unsigned(values(new_shape, n)?)?;
            if start.is_null() {
                resize(dst, &shape)?;
            } else {
                let start = unsigned(values(start, n)?)?;
                change(dst, |nd| nd.resize_at(&shape, &start))?;
            }
        }
        Ok(0)
    };
    // SAFETY: null or an array of this library, as the caller promises.
    int(|| unsafe { changing(dst, edit) })
}

fn axis_of(array: &Whole, axis: i8) -> Result<usize> {
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
    // SAFETY: null or an array of this library; `buffersize` readable bytes, as the caller promises.
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
    // SAFETY: null or an array of this library; `buffersize` readable bytes, as the caller promises.
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
    let edit = |dst: &mut Whole| {
        let axis = axis_of(dst, axis)?;
        let number = |n: i64| u64::try_from(n).map_err(|_| INVALID_PARAM);
        let (at, len) = (number(delete_start)?, number(delete_len)?);
        change(dst, |nd| nd.delete(axis, at..at.saturating_add(len))).map(|()| 0)
    };
    // SAFETY: null or an array of this library, as the caller promises.
    int(|| unsafe { changing(dst, edit) })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn b2nd_squeeze(src: *mut Array, view: *mut *mut Array) -> c_int {
    int(|| {
        // SAFETY: null or an array of this library; null or writable, as the caller promises.
        unsafe {
            let (src, view) = (array(src)?, needed(view)?);
            let sides = src.sides().iter().zip(src.layout().geometry().chunks().iter());
            let gone: Vec<bool> = sides.map(|sides| sides == (&1, &1)).collect();
            put(view, wrap(src.sc, src.layout().without_axes(&gone)?, true)?);
        }
        Ok(0)
    })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn b2nd_squeeze_index(src: *mut Array, view: *mut *mut Array, index: *const u8) -> c_int {
    int(|| {
        // SAFETY: null or an array of this library, with a boolean of C for each dimension; null or writable, as the caller promises.
        unsafe {
            let (src, view) = (array(src)?, needed(view)?);
            let gone: Vec<bool> = values(index, src.ndim.into())?.iter().map(|&gone| gone != 0).collect();
            let layout = src.layout().without_axes(&gone).map_err(|_| INVALID_INDEX)?;
            put(view, wrap(src.sc, layout, true)?);
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
        // SAFETY: null or an array of this library; a boolean of C for each of `final_dims`; null or writable, as the caller promises.
        unsafe {
            let (src, view) = (array(src)?, needed(view)?);
            let added: Vec<bool> = values(axis, final_dims.into())?.iter().map(|&new| new != 0).collect();
            put(view, wrap(src.sc, src.layout().with_axes(&added)?, true)?);
        }
        Ok(0)
    })
}
