//! Frames in files and buffers.

use super::{Asked, Owned, limits, open_frame, owned, plain_path, wrap};
use crate::abi::{CParams, DParams, Io, Schunk, Storage};
use crate::error::*;
use crate::memory::{bytes, copied, put, release, text};
use blosc_frame::SuperChunk;
use core::ffi::{c_char, c_int};
use core::ptr;
use std::fs::OpenOptions;
use std::io::{Seek, SeekFrom, Write};

/// The parameters that a frame's header tells.
pub fn params_of(frame: &SuperChunk<'_>) -> CParams {
    let p = frame.params();
    let mut c = CParams {
        compcode: p.codec.id(),
        compcode_meta: p.codec_meta,
        clevel: p.level,
        use_dict: c_int::from(p.dictionary),
        typesize: i32::try_from(p.typesize).unwrap_or(i32::MAX),
        blocksize: p.blocksize.map_or(0, |size| i32::try_from(size).unwrap_or(0)),
        splitmode: p.split.mode().into(),
        ..CParams::DEFAULT
    };
    for (k, slot) in p.filters.iter().enumerate() {
        c.filters[k] = slot.filter.id();
        c.filters_meta[k] = slot.meta;
    }
    c
}

/// A super-chunk around a frame that exists.
fn existing(
    frame: SuperChunk<'static>,
    urlpath: Option<String>,
    contiguous: bool,
    is_stored: bool,
) -> Result<*mut Schunk> {
    let storage = Storage {
        contiguous,
        urlpath: ptr::null_mut(),
        cparams: &mut params_of(&frame),
        dparams: &mut DParams { ..DParams::DEFAULT },
        io: ptr::null_mut(),
    };
    // SAFETY: the pointers are to values that live as long as this call.
    let asked = Asked { urlpath, ..unsafe { Asked::of(&raw const storage) }? };
    let mut cbytes = i64::try_from(frame.header().cbytes).unwrap_or(i64::MAX);
    let first = if frame.nchunks() > 0 { frame.chunk_header(0)? } else { None };
    if frame.nchunks() == 0 {
        cbytes = 0;
    }
    let schunk = wrap(frame, asked, is_stored, cbytes)?;
    if let Some(header) = first.filter(|header| !header.is_vl()) {
        // SAFETY: just made.
        unsafe { (*schunk).blocksize = i32::try_from(header.blocksize).unwrap_or(0) };
    }
    Ok(schunk)
}

/// Opens a frame.
///
/// # Safety
/// `urlpath` is null or a string; `io` is null or valid.
pub unsafe fn open(urlpath: *const c_char, offset: i64, io: *const Io) -> Result<*mut Schunk> {
    // SAFETY: as the caller promises.
    let (path, mode) =
        unsafe { (plain_path(text(urlpath)?), io.as_ref().map_or(Ok(None), |io| super::mode_of(io))?) };
    let (frame, is_stored) = open_frame(path, offset, mode.as_deref())?;
    let contiguous = !frame.is_sparse();
    existing(frame, Some(path.to_owned()), contiguous, is_stored)
}

#[unsafe(no_mangle)]
unsafe extern "C" fn blosc2_schunk_open(urlpath: *const c_char) -> *mut Schunk {
    // SAFETY: as this function's own argument.
    pointer(|| unsafe { open(urlpath, 0, ptr::null()) })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn blosc2_schunk_open_offset(urlpath: *const c_char, offset: i64) -> *mut Schunk {
    // SAFETY: as this function's own argument.
    pointer(|| unsafe { open(urlpath, offset, ptr::null()) })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn blosc2_schunk_open_udio(urlpath: *const c_char, udio: *const Io) -> *mut Schunk {
    // SAFETY: as this function's own arguments.
    pointer(|| unsafe { open(urlpath, 0, udio) })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn blosc2_schunk_open_offset_udio(
    urlpath: *const c_char,
    offset: i64,
    udio: *const Io,
) -> *mut Schunk {
    // SAFETY: as this function's own arguments.
    pointer(|| unsafe { open(urlpath, offset, udio) })
}

/// A super-chunk in memory from the frame in `cframe`, which is copied.
///
/// # Safety
/// `len` bytes at `cframe` are readable.
pub unsafe fn from_buffer(cframe: *mut u8, len: i64) -> Result<*mut Schunk> {
    // SAFETY: as the caller promises.
    let bytes = unsafe { bytes(cframe.cast_const().cast(), len) }?.to_vec();
    existing(SuperChunk::from_bytes(bytes, &limits())?, None, true, false)
}

#[unsafe(no_mangle)]
unsafe extern "C" fn blosc2_schunk_from_buffer(cframe: *mut u8, len: i64, _copy: bool) -> *mut Schunk {
    // SAFETY: as this function's own arguments.
    pointer(|| unsafe { from_buffer(cframe, len) })
}

/// No effect: a frame in a buffer is copied, and the buffer stays the caller's.
#[unsafe(no_mangle)]
extern "C" fn blosc2_schunk_avoid_cframe_free(_schunk: *mut Schunk, _avoid_cframe_free: bool) {}

/// The frame as bytes.
pub fn frame_bytes(owned: &mut Owned) -> Result<Vec<u8>> {
    Ok(owned.inner.frame.to_bytes()?)
}

#[unsafe(no_mangle)]
unsafe extern "C" fn blosc2_schunk_to_buffer(
    schunk: *mut Schunk,
    cframe: *mut *mut u8,
    needs_free: *mut bool,
) -> i64 {
    long(|| {
        // SAFETY: null or a super-chunk of this library.
        let frame = frame_bytes(unsafe { owned(schunk) }?)?;
        // SAFETY: null or writable.
        unsafe {
            put(cframe, copied(&frame)?);
            put(needs_free, true);
        }
        i64::try_from(frame.len()).map_err(|_| MAX_BUFSIZE_EXCEEDED)
    })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn blosc2_schunk_to_file(schunk: *mut Schunk, urlpath: *const c_char) -> i64 {
    long(|| {
        // SAFETY: null or a super-chunk; null or a string.
        let (frame, path) = unsafe { (frame_bytes(owned(schunk)?)?, plain_path(text(urlpath)?)) };
        std::fs::write(path, &frame).map_err(|_| FILE_WRITE)?;
        i64::try_from(frame.len()).map_err(|_| MAX_BUFSIZE_EXCEEDED)
    })
}

/// Writes the frame behind what the file holds; returns where.
pub fn append_file(owned: &mut Owned, path: &str) -> Result<i64> {
    let frame = frame_bytes(owned)?;
    let mut file = OpenOptions::new().append(true).create(true).open(path).map_err(|_| FILE_OPEN)?;
    let at = file.seek(SeekFrom::End(0)).map_err(|_| FILE_READ)?;
    file.write_all(&frame).map_err(|_| FILE_WRITE)?;
    i64::try_from(at).map_err(|_| MAX_BUFSIZE_EXCEEDED)
}

#[unsafe(no_mangle)]
unsafe extern "C" fn blosc2_schunk_append_file(schunk: *mut Schunk, urlpath: *const c_char) -> i64 {
    // SAFETY: null or a super-chunk; null or a string.
    long(|| append_file(unsafe { owned(schunk) }?, plain_path(unsafe { text(urlpath) }?)))
}

#[unsafe(no_mangle)]
unsafe extern "C" fn blosc2_schunk_frame_len(schunk: *mut Schunk) -> i64 {
    long(|| {
        // SAFETY: null or a super-chunk of this library.
        let owned = unsafe { owned(schunk) }?;
        i64::try_from(frame_bytes(owned)?.len()).map_err(|_| MAX_BUFSIZE_EXCEEDED)
    })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn blosc2_frame_get_offsets(schunk: *mut Schunk) -> *mut i64 {
    pointer(|| {
        // SAFETY: null or a super-chunk of this library.
        let frame = &unsafe { owned(schunk) }?.inner.frame;
        let raw: Vec<u8> = (0..frame.nchunks())
            .flat_map(|k| frame.entry(k).and_then(|entry| entry.to_raw()).unwrap_or(-1).to_ne_bytes())
            .collect();
        Ok(copied(&raw)?.cast())
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc2_schunk_refresh(schunk: *mut Schunk) -> c_int {
    int(|| {
        // SAFETY: null or a super-chunk of this library.
        let owned = unsafe { owned(schunk) }?;
        if owned.inner.is_stored && owned.inner.frame.refresh()? {
            owned.inner.cbytes = i64::try_from(owned.inner.frame.header().cbytes).unwrap_or(i64::MAX);
            owned.public.change_tick += 1;
            owned.sync_meta()?;
            owned.sync();
            return Ok(1);
        }
        Ok(0)
    })
}

/// Nothing is locked, as C-Blosc2 does without its option `locking`.
#[unsafe(no_mangle)]
extern "C" fn blosc2_schunk_lock(_schunk: *mut Schunk) -> c_int {
    0
}

/// The inverse of [`blosc2_schunk_lock`].
#[unsafe(no_mangle)]
extern "C" fn blosc2_schunk_unlock(_schunk: *mut Schunk) -> c_int {
    0
}

#[unsafe(no_mangle)]
unsafe extern "C" fn blosc2_schunk_copy(schunk: *mut Schunk, storage: *const Storage) -> *mut Schunk {
    pointer(|| {
        // SAFETY: null or a super-chunk of this library; null or a valid structure.
        let (from, asked) = unsafe { (owned(schunk)?, Asked::of(storage)?) };
        if asked.cparams.typesize != from.public.typesize {
            return Err(SCHUNK_COPY);
        }
        // SAFETY: null or a valid structure, as the interface asks.
        let given = unsafe { storage.as_ref() }.is_some_and(|storage| !storage.cparams.is_null());
        let asked = if given { asked } else { asked.with_cparams(params_of(&from.inner.frame)) };
        let copy = super::create(asked)?;
        let done = copy_into(from, copy);
        if let Err(code) = done {
            // SAFETY: just made, and not handed out.
            unsafe { super::blosc2_schunk_free(copy) };
            return Err(code);
        }
        Ok(copy)
    })
}

fn copy_into(from: &mut Owned, copy: *mut Schunk) -> Result<()> {
    // SAFETY: a super-chunk just made, and not `from`.
    let to = unsafe { owned(copy) }?;
    let names: Vec<String> = from.inner.frame.metalayer_names().collect();
    for name in &names {
        let content = from.inner.frame.metalayer(name).unwrap_or(&[]).to_vec();
        to.inner.frame.set_metalayer(name, &content)?;
    }
    to.sync_meta()?;
    let same = params_of(&from.inner.frame).filters == to.public.filters
        && from.public.compcode == to.public.compcode
        && from.public.clevel == to.public.clevel
        && from.public.blocksize == to.public.blocksize;
    for k in 0..from.inner.frame.nchunks() {
        let mut chunk = from.inner.chunk(k)?;
        let header = blosc_core::Header::parse(&chunk)?;
        if !same && header.special().is_none() && !header.is_vl() {
            let mut data = vec![0; header.nbytes as usize];
            from.dctx()?.decompress(&chunk, &mut data)?;
            chunk = to.compressed(&data, i64::try_from(k).unwrap_or(-1))?;
        }
        to.inner.frame.append_chunk(&chunk)?;
        to.inner.cbytes += to.inner.stored_size(k);
    }
    let names: Vec<String> = from.inner.frame.vlmetalayer_names().collect();
    for name in &names {
        let content = from.inner.frame.vlmetalayer(name)?.unwrap_or_default();
        to.inner.frame.set_vlmetalayer(name, &content)?;
    }
    to.change(|_| Ok(()))?;
    to.sync_meta()
}

#[unsafe(no_mangle)]
unsafe extern "C" fn blosc2_schunk_get_cparams(schunk: *mut Schunk, cparams: *mut *mut CParams) -> c_int {
    int(|| {
        // SAFETY: null or a super-chunk of this library; null or writable.
        unsafe {
            let copy = crate::memory::allocate(size_of::<CParams>())?.cast::<CParams>();
            match owned(schunk) {
                Ok(owned) => copy.write(owned.cctx()?.cparams),
                Err(code) => {
                    release(copy);
                    return Err(code);
                }
            }
            put(cparams, copy);
        }
        Ok(0)
    })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn blosc2_schunk_get_dparams(schunk: *mut Schunk, dparams: *mut *mut DParams) -> c_int {
    int(|| {
        // SAFETY: null or a super-chunk of this library; null or writable.
        unsafe {
            let found = owned(schunk)?.dctx()?.dparams;
            let copy = crate::memory::allocate(size_of::<DParams>())?.cast::<DParams>();
            copy.write(found);
            put(dparams, copy);
        }
        Ok(0)
    })
}
