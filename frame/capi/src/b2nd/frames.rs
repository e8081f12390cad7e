//! Arrays in frames: opening, saving, refreshing.

use super::array::{Array, array, stored, wrap};
use crate::abi::Schunk;
use crate::error::*;
use crate::memory::{needed, put};
use crate::schunk::{self, owned};
use core::ffi::{c_char, c_int};
use core::ptr;

/// An array around a super-chunk with the metalayer; the super-chunk becomes the array's.
fn around(sc: *mut Schunk) -> Result<*mut Array> {
    // SAFETY: just opened, or a super-chunk of this library that the caller gives away.
    let layout = stored(unsafe { owned(sc) }?)?;
    wrap(sc, layout, false)
}

/// As [`around`]; a super-chunk that is no array is freed.
fn opened(sc: *mut Schunk) -> Result<*mut Array> {
    // SAFETY: just made, and not handed out.
    around(sc).inspect_err(|_| unsafe { _ = schunk::blosc2_schunk_free(sc) })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn b2nd_from_schunk(sc: *mut Schunk, array: *mut *mut Array) -> c_int {
    int(|| {
        let (sc, array) = (needed(sc)?, needed(array)?);
        // SAFETY: writable, as the caller promises.
        unsafe { put(array, around(sc)?) };
        Ok(0)
    })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn b2nd_open(urlpath: *const c_char, array: *mut *mut Array) -> c_int {
    // SAFETY: as this function's own arguments.
    unsafe { b2nd_open_offset(urlpath, array, 0) }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn b2nd_open_offset(urlpath: *const c_char, array: *mut *mut Array, offset: i64) -> c_int {
    int(|| {
        // SAFETY: null or a string; null or writable, as the caller promises.
        unsafe { put(needed(array)?, opened(schunk::open(urlpath, offset, ptr::null())?)?) };
        Ok(0)
    })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn b2nd_from_cframe(
    cframe: *mut u8,
    cframe_len: i64,
    _copy: bool,
    array: *mut *mut Array,
) -> c_int {
    int(|| {
        // SAFETY: `cframe_len` readable bytes; null or writable.
        unsafe { put(needed(array)?, opened(schunk::from_buffer(cframe, cframe_len)?)?) };
        Ok(0)
    })
}

/// Runs `body` on the array's super-chunk; for a view, on a copy with the shapes of the view.
///
/// # Safety
/// `src` is null or an array of this library.
unsafe fn with_frame<T>(src: *const Array, body: impl FnOnce(*mut Schunk) -> Result<T>) -> Result<T> {
    // SAFETY: as the caller promises; the copy is freed once.
    unsafe {
        let src = array(src)?;
        if !src.is_view() {
            return body(src.sc);
        }
        let content = src.layout().to_bytes()?;
        let copy = schunk::in_memory(schunk::reading(src.sc, schunk::frame_bytes)?)?;
        let done = schunk::changing(copy, |owned| Ok(owned.inner.frame.set_metalayer("b2nd", &content)?))
            .and_then(|()| body(copy));
        schunk::blosc2_schunk_free(copy);
        done
    }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn b2nd_to_cframe(
    src: *const Array,
    cframe: *mut *mut u8,
    cframe_len: *mut i64,
    needs_free: *mut bool,
) -> c_int {
    // SAFETY: null or an array of this library; null or writable, as the caller promises.
    int(|| unsafe {
        let len = with_frame(src, |sc| schunk::frame_out(sc, cframe, needs_free))?;
        put(cframe_len, len);
        Ok(0)
    })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn b2nd_save(src: *const Array, urlpath: *const c_char) -> c_int {
    // SAFETY: null or an array of this library; null or a string, as the caller promises.
    int(|| unsafe { with_frame(src, |sc| schunk::save(sc, urlpath)).map(|_| 0) })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn b2nd_save_append(src: *const Array, urlpath: *const c_char) -> i64 {
    // SAFETY: null or an array of this library; null or a string, as the caller promises.
    long(|| unsafe { with_frame(src, |sc| schunk::save_append(sc, urlpath)) })
}

fn listed(sides: &[impl ToString]) -> String {
    sides.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
}

#[unsafe(no_mangle)]
unsafe extern "C" fn b2nd_print_meta(src: *const Array) -> c_int {
    int(|| {
        // SAFETY: null or an array of this library, as the caller promises.
        let layout = unsafe { array(src) }?.layout();
        let cut = layout.geometry();
        println!("b2nd metalayer parameters:\n Ndim:       {}", cut.ndim());
        println!(" shape:      {}\n chunkshape: {}", listed(cut.shape()), listed(cut.chunks()));
        println!(" dtype: {}\n blockshape: {}", layout.dtype_text(), listed(cut.blocks()));
        Ok(0)
    })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn b2nd_refresh(src: *mut Array) -> c_int {
    int(|| {
        // SAFETY: null or an array of this library, as the caller promises.
        let src = unsafe { array(src) }?;
        // SAFETY: the array's own super-chunk.
        let refreshed = unsafe { schunk::refresh(src.sc) };
        if refreshed < 0 {
            return Err(Code(refreshed));
        }
        Ok(c_int::from(src.follow()?))
    })
}
