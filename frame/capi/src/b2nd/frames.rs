//! Arrays in frames: opening, saving, refreshing.

use super::{Array, Meta, array, wrap};
use crate::abi::Schunk;
use crate::error::*;
use crate::memory::{copied, put, text};
use crate::schunk::{self, owned};
use core::ffi::{c_char, c_int};
use core::ptr;

/// An array around a super-chunk with the metalayer; the super-chunk becomes the array's.
fn around(sc: *mut Schunk) -> Result<*mut Array> {
    // SAFETY: just opened, or a super-chunk of this library that the caller gives away.
    let owned = unsafe { owned(sc) }?;
    let content = owned.inner.frame.metalayer("b2nd").or_else(|| owned.inner.frame.metalayer("caterva"));
    let mut meta = Meta::parse(content.ok_or(METALAYER_NOT_FOUND)?)?;
    if meta.dtype.is_empty() {
        meta.dtype = format!("|S{}", owned.public.typesize);
    }
    wrap(sc, &meta, false)
}

/// As [`around`]; a super-chunk that is no array is freed.
fn opened(sc: *mut Schunk) -> Result<*mut Array> {
    // SAFETY: just made, and not handed out.
    around(sc).inspect_err(|_| unsafe { _ = schunk::blosc2_schunk_free(sc) })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn b2nd_from_schunk(sc: *mut Schunk, array: *mut *mut Array) -> c_int {
    int(|| {
        if sc.is_null() {
            return Err(NULL_POINTER);
        }
        // SAFETY: null or writable.
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
        // SAFETY: null or a string; null or writable.
        unsafe { put(array, opened(schunk::open(urlpath, offset, ptr::null())?)?) };
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
        unsafe { put(array, opened(schunk::from_buffer(cframe, cframe_len)?)?) };
        Ok(0)
    })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn b2nd_to_cframe(
    src: *const Array,
    cframe: *mut *mut u8,
    cframe_len: *mut i64,
    needs_free: *mut bool,
) -> c_int {
    int(|| {
        // SAFETY: null or an array of this library; null or writable.
        unsafe {
            let frame = schunk::frame_bytes(array(src)?.schunk()?)?;
            put(cframe, copied(&frame)?);
            put(cframe_len, i64::try_from(frame.len()).map_err(|_| MAX_BUFSIZE_EXCEEDED)?);
            put(needs_free, true);
        }
        Ok(0)
    })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn b2nd_save(src: *const Array, urlpath: *const c_char) -> c_int {
    int(|| {
        // SAFETY: null or an array of this library; null or a string.
        let (frame, path) = unsafe { (schunk::frame_bytes(array(src)?.schunk()?)?, text(urlpath)?) };
        std::fs::write(schunk::plain_path(path), frame).map_err(|_| FILE_WRITE)?;
        Ok(0)
    })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn b2nd_save_append(src: *const Array, urlpath: *const c_char) -> i64 {
    long(|| {
        // SAFETY: null or an array of this library; null or a string.
        let (owned, path) = unsafe { (array(src)?.schunk()?, text(urlpath)?) };
        schunk::append_file(owned, schunk::plain_path(path))
    })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn b2nd_print_meta(src: *const Array) -> c_int {
    int(|| {
        // SAFETY: null or an array of this library.
        let meta = unsafe { array(src) }?.meta()?;
        println!("b2nd metalayer parameters:\n Ndim:       {}", meta.shape.len());
        println!(" shape:      {:?}\n Chunkshape: {:?}", meta.shape, meta.chunkshape);
        println!(" dtype:      {}\n Blockshape: {:?}", meta.dtype, meta.blockshape);
        Ok(0)
    })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn b2nd_refresh(src: *mut Array) -> c_int {
    int(|| {
        // SAFETY: null or an array of this library.
        let src = unsafe { array(src) }?;
        // SAFETY: the array's own super-chunk.
        let changed = unsafe { schunk::refresh(src.sc) };
        if changed > 0 {
            src.reload()?;
        }
        if changed < 0 { Err(Code(changed)) } else { Ok(changed) }
    })
}
