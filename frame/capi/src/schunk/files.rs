//! Frames in files and buffers.

use super::access::Access;
use super::lock::{is_locking, locked};
use super::new::{Asked, Kept, blosc2_schunk_free, create, limits, open_frame, plain, wrap};
use super::owned::{Owned, owned};
use super::session::{changing, reading};
use crate::abi::{CParams, DParams, Io, Schunk, Storage};
use crate::error::*;
use crate::memory::{bytes, copied, hand_out, needed, plain_path, put, text, zeros};
use blosc_core::Params;
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
fn existing(kept: Kept, urlpath: Option<String>, io: Option<Io>) -> Result<*mut Schunk> {
    let frame = &kept.frame;
    let contiguous = !frame.is_sparse();
    let storage = Storage {
        contiguous,
        urlpath: ptr::null_mut(),
        cparams: &mut params_of(frame),
        dparams: &mut DParams { ..DParams::DEFAULT },
        io: ptr::null_mut(),
    };
    // SAFETY: the pointers are to values that live as long as this call.
    let mut asked = Asked { urlpath, ..unsafe { Asked::of(&raw const storage) }? };
    asked.io = io.unwrap_or(asked.io);
    let mut cbytes = i64::try_from(frame.header().cbytes).unwrap_or(i64::MAX);
    let first = if frame.nchunks() > 0 { frame.chunk_header(0)? } else { None };
    if frame.nchunks() == 0 {
        cbytes = 0;
    }
    let schunk = wrap(kept, asked, cbytes)?;
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
    let (urlpath, io) = unsafe { (text(urlpath)?, io.as_ref()) };
    let path = plain_path(urlpath);
    // SAFETY: as the caller promises of `io` and what it points to.
    let (access, locking) = unsafe { (io.map_or(Ok(Access::Files), |io| Access::of(io))?, is_locking(io)) };
    // The lock is held until the first chunk and the metalayers have been read, too.
    let (schunk, lock) = locked(path, locking, false, || {
        existing(open_frame(path, offset, access)?, Some(urlpath.to_owned()), io.copied())
    })?;
    // SAFETY: just made, and not handed out.
    unsafe { owned(schunk) }?.inner.session.lock = lock;
    Ok(schunk)
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
    in_memory(unsafe { bytes(cframe.cast_const().cast(), len) }?.to_vec())
}

/// A super-chunk in memory from a frame.
pub fn in_memory(bytes: Vec<u8>) -> Result<*mut Schunk> {
    let frame = SuperChunk::from_bytes(bytes, &limits())?;
    existing(Kept { frame, is_stored: false, lock: None }, None, None)
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
    let frame = &mut owned.inner.frame;
    if owned.inner.storage.urlpath.is_some() {
        let mut copy = plain(SuperChunk::memory(&Params::new(frame.typesize()))?);
        copy.copy_from(frame)?;
        return Ok(copy.to_bytes()?);
    }
    // A frame in memory is put in order for it.
    owned.inner.data.changed_from(0);
    Ok(owned.inner.frame.to_bytes()?)
}

/// Hands the frame out as bytes from malloc; returns how many.
///
/// # Safety
/// `schunk` is null or a super-chunk of this library; the others are null or writable.
pub unsafe fn frame_out(schunk: *mut Schunk, cframe: *mut *mut u8, needs_free: *mut bool) -> Result<i64> {
    // SAFETY: as the caller promises.
    unsafe {
        let frame = reading(schunk, frame_bytes)?;
        hand_out(cframe, &frame)?;
        put(needs_free, true);
        i64::try_from(frame.len()).map_err(|_| MAX_BUFSIZE_EXCEEDED)
    }
}

/// Writes the frame as a file of its own; returns its length.
///
/// # Safety
/// `schunk` is null or a super-chunk of this library, `urlpath` null or a string.
pub unsafe fn save(schunk: *mut Schunk, urlpath: *const c_char) -> Result<i64> {
    // SAFETY: as the caller promises.
    let (frame, path) = unsafe { (reading(schunk, frame_bytes)?, plain_path(text(urlpath)?)) };
    std::fs::write(path, &frame).map_err(|_| FILE_WRITE)?;
    i64::try_from(frame.len()).map_err(|_| MAX_BUFSIZE_EXCEEDED)
}

/// Writes the frame behind what the file holds; returns where.
///
/// # Safety
/// As [`save`].
pub unsafe fn save_append(schunk: *mut Schunk, urlpath: *const c_char) -> Result<i64> {
    // SAFETY: as the caller promises.
    let (frame, path) = unsafe { (reading(schunk, frame_bytes)?, plain_path(text(urlpath)?)) };
    let mut file = OpenOptions::new().append(true).create(true).open(path).map_err(|_| FILE_OPEN)?;
    let at = file.seek(SeekFrom::End(0)).map_err(|_| FILE_READ)?;
    file.write_all(&frame).map_err(|_| FILE_WRITE)?;
    i64::try_from(at).map_err(|_| MAX_BUFSIZE_EXCEEDED)
}

#[unsafe(no_mangle)]
unsafe extern "C" fn blosc2_schunk_to_buffer(
    schunk: *mut Schunk,
    cframe: *mut *mut u8,
    needs_free: *mut bool,
) -> i64 {
    // SAFETY: as this function's own arguments.
    long(|| unsafe { frame_out(schunk, cframe, needs_free) })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn blosc2_schunk_to_file(schunk: *mut Schunk, urlpath: *const c_char) -> i64 {
    // SAFETY: as this function's own arguments.
    long(|| unsafe { save(schunk, urlpath) })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn blosc2_schunk_append_file(schunk: *mut Schunk, urlpath: *const c_char) -> i64 {
    // SAFETY: as this function's own arguments.
    long(|| unsafe { save_append(schunk, urlpath) })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn blosc2_schunk_frame_len(schunk: *mut Schunk) -> i64 {
    // SAFETY: null or a super-chunk of this library, as the caller promises.
    long(|| unsafe {
        let frame = reading(schunk, frame_bytes)?;
        i64::try_from(frame.len()).map_err(|_| MAX_BUFSIZE_EXCEEDED)
    })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn blosc2_frame_get_offsets(schunk: *mut Schunk) -> *mut i64 {
    let list = |owned: &mut Owned| {
        let frame = &owned.inner.frame;
        let raw: Vec<u8> = (0..frame.nchunks())
            .flat_map(|k| frame.entry(k).and_then(|entry| entry.to_raw()).unwrap_or(-1).to_ne_bytes())
            .collect();
        Ok(copied(&raw)?.cast())
    };
    // SAFETY: null or a super-chunk of this library, as the caller promises.
    pointer(|| unsafe { reading(schunk, list) })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn blosc2_schunk_copy(schunk: *mut Schunk, storage: *const Storage) -> *mut Schunk {
    pointer(|| {
        // SAFETY: null or a super-chunk of this library; null or a valid structure, as the caller promises.
        let (from, mut asked) = unsafe { (owned(schunk)?, Asked::of(storage)?) };
        // SAFETY: null or a valid structure, as the interface asks.
        if unsafe { storage.as_ref() }.is_none_or(|storage| storage.cparams.is_null()) {
            asked = asked.with_cparams(params_of(&from.inner.frame));
        }
        if asked.cparams.typesize != from.public.typesize {
            return Err(SCHUNK_COPY);
        }
        let copy = create(asked)?;
        // SAFETY: two different super-chunks: `copy` has just been made.
        let done = unsafe { reading(schunk, |from| changing(copy, |to| copy_into(from, to))) };
        if let Err(code) = done {
            // SAFETY: just made, and not handed out.
            unsafe { blosc2_schunk_free(copy) };
            return Err(code);
        }
        Ok(copy)
    })
}

fn copy_into(from: &mut Owned, to: &mut Owned) -> Result<()> {
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
            let mut data = zeros(header.nbytes as usize)?;
            from.dctx()?.decompress(&chunk, &mut data)?;
            chunk = to.compressed(&data, i64::try_from(k).unwrap_or(-1))?;
        }
        to.inner.frame.append_chunk(&chunk)?;
        to.inner.cbytes += to.inner.stored_size(k);
    }
    to.copy_vlmeta(from)
}

impl Owned {
    /// Takes over the variable-length metalayers of `from`.
    pub fn copy_vlmeta(&mut self, from: &mut Owned) -> Result<()> {
        let names: Vec<String> = from.inner.frame.vlmetalayer_names().collect();
        for name in &names {
            let content = from.inner.frame.vlmetalayer(name)?.unwrap_or_default();
            self.inner.frame.set_vlmetalayer(name, &content)?;
        }
        self.sync();
        self.sync_meta()
    }
}

/// A copy of `value` that callers free.
fn handed_out<T>(value: T) -> Result<*mut T> {
    let place = crate::memory::allocate(size_of::<T>())?.cast::<T>();
    // SAFETY: fresh memory of malloc, which suits any alignment.
    unsafe { place.write(value) };
    Ok(place)
}

#[unsafe(no_mangle)]
unsafe extern "C" fn blosc2_schunk_get_cparams(schunk: *mut Schunk, cparams: *mut *mut CParams) -> c_int {
    // SAFETY: null or a super-chunk of this library; null or writable, as the caller promises.
    int(|| unsafe {
        put(needed(cparams)?, handed_out(owned(schunk)?.cctx()?.cparams)?);
        Ok(0)
    })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn blosc2_schunk_get_dparams(schunk: *mut Schunk, dparams: *mut *mut DParams) -> c_int {
    // SAFETY: null or a super-chunk of this library; null or writable, as the caller promises.
    int(|| unsafe {
        put(needed(dparams)?, handed_out(owned(schunk)?.dctx()?.dparams)?);
        Ok(0)
    })
}
