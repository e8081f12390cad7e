//! Whole chunks in and out.

use super::owned::{Inner, Owned};
use super::session::{changing, reading};
use crate::abi::Schunk;
use crate::context::parse;
use crate::error::*;
use crate::lazy::{beginning, made};
use crate::memory::{bytes, bytes_mut, hand_out, put, values};
use blosc_core::Special;
use blosc_frame::cframe::index::Entry;
use core::ffi::{c_int, c_void};

/// The number of a chunk that is there.
fn number(owned: &Owned, nchunk: i64) -> Result<u64> {
    u64::try_from(nchunk).ok().filter(|&k| k < owned.inner.frame.nchunks()).ok_or(INVALID_PARAM)
}

impl Inner {
    /// Chunk `k` as a lazy chunk, where it can be one. Special chunks and chunks in memory cannot; neither can those of a
    /// handle that locks, which may keep changes back, nor those behind functions of the caller's.
    pub fn lazy_chunk(&self, k: u64) -> Result<Option<Vec<u8>>> {
        let stored = &*self.storage;
        let Some(Entry::Stored(entry)) = self.frame.entry(k) else { return Ok(None) };
        if !self.is_stored || stored.io.id > 1 || self.session.lock.is_some() {
            return Ok(None);
        }
        let sparse = self.frame.is_sparse();
        let offset = if sparse { entry } else { entry.saturating_add(self.frame.header().header_len.into()) };
        let Some((header, head, file)) = beginning(&stored.storage, offset)? else { return Ok(None) };
        // A chunk whose end is missing is refused here, as it would be if it were read.
        let start = if sparse { 0 } else { offset };
        if file.metadata().map_err(|_| FILE_READ)?.len() < start.saturating_add(header.cbytes.into()) {
            return Err(FILE_READ);
        }
        let nchunk = i32::try_from(if sparse { entry } else { k }).map_err(|_| INVALID_INDEX)?;
        made(&header, &head, nchunk, offset).map(Some)
    }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn blosc2_schunk_append_buffer(
    schunk: *mut Schunk,
    src: *const c_void,
    nbytes: i32,
) -> i64 {
    // SAFETY: null or a super-chunk of this library; `nbytes` readable bytes, as the caller promises.
    long(|| unsafe {
        let src = bytes(src, nbytes.into())?;
        changing(schunk, |owned| {
            let chunk = owned.compressed(src, owned.public.nchunks)?;
            append(owned, &chunk)
        })
    })
}

/// Appends a chunk; returns the number of chunks.
pub fn append(owned: &mut Owned, chunk: &[u8]) -> Result<i64> {
    let k = owned.inner.frame.nchunks();
    insert(owned, k, chunk)
}

fn insert(owned: &mut Owned, k: u64, chunk: &[u8]) -> Result<i64> {
    owned.declare_chunksize()?;
    owned.change_from(k, |inner| {
        inner.frame.insert_chunk(k, chunk)?;
        inner.cbytes += inner.stored_size(k);
        Ok(())
    })
}

/// The chunk at `chunk`, as long as its header says.
///
/// # Safety
/// It is readable that far.
unsafe fn whole<'a>(chunk: *const u8) -> Result<&'a [u8]> {
    // SAFETY: the caller promises a chunk, which has a header.
    let [_, cbytes, _] = crate::chunk::sizes(unsafe { bytes(chunk.cast(), 16) }?)?;
    // SAFETY: as the caller promises.
    let whole = unsafe { bytes(chunk.cast(), cbytes.into()) }?;
    parse(whole)?;
    Ok(whole)
}

/// Runs `edit` with a chunk of the caller's, which is taken over where it is not copied: the caller has given it away.
///
/// # Safety
/// `schunk` is null or a super-chunk of this library, and `chunk` a whole chunk, from malloc where `copy` is not set.
unsafe fn with_chunk(
    schunk: *mut Schunk,
    chunk: *mut u8,
    copy: bool,
    edit: impl FnOnce(&mut Owned, &[u8]) -> Result<i64>,
) -> i64 {
    // SAFETY: as the caller promises; the bytes are in the frame by the time that they are released.
    long(|| unsafe {
        let whole = whole(chunk)?;
        let count = changing(schunk, |owned| edit(owned, whole))?;
        if !copy {
            crate::memory::release(chunk);
        }
        Ok(count)
    })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn blosc2_schunk_append_chunk(schunk: *mut Schunk, chunk: *mut u8, copy: bool) -> i64 {
    // SAFETY: as this function's own arguments.
    unsafe { with_chunk(schunk, chunk, copy, append) }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn blosc2_schunk_insert_chunk(
    schunk: *mut Schunk,
    nchunk: i64,
    chunk: *mut u8,
    copy: bool,
) -> i64 {
    let edit = |owned: &mut Owned, chunk: &[u8]| {
        let most = owned.inner.frame.nchunks();
        let k = u64::try_from(nchunk).ok().filter(|&k| k <= most).ok_or(INVALID_PARAM)?;
        insert(owned, k, chunk).map_err(|_| CHUNK_INSERT)
    };
    // SAFETY: as this function's own arguments.
    unsafe { with_chunk(schunk, chunk, copy, edit) }
}

/// Replaces chunk `k`.
pub fn update(owned: &mut Owned, k: u64, chunk: &[u8]) -> Result<i64> {
    if k >= owned.inner.frame.nchunks() {
        return Err(INVALID_PARAM);
    }
    owned.change_from(k, |inner| {
        inner.cbytes -= inner.stored_size(k);
        let done = inner.frame.update_chunk(k, chunk);
        inner.cbytes += inner.stored_size(k);
        Ok(done?)
    })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn blosc2_schunk_update_chunk(
    schunk: *mut Schunk,
    nchunk: i64,
    chunk: *mut u8,
    copy: bool,
) -> i64 {
    let edit = |owned: &mut Owned, chunk: &[u8]| {
        let k = number(owned, nchunk)?;
        update(owned, k, chunk).map_err(|_| CHUNK_UPDATE)
    };
    // SAFETY: as this function's own arguments.
    unsafe { with_chunk(schunk, chunk, copy, edit) }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn blosc2_schunk_delete_chunk(schunk: *mut Schunk, nchunk: i64) -> i64 {
    let edit = |owned: &mut Owned| {
        let k = number(owned, nchunk)?;
        owned.change_from(k, |inner| {
            let size = inner.stored_size(k);
            inner.frame.delete(k)?;
            inner.cbytes -= size;
            Ok(())
        })
    };
    // SAFETY: null or a super-chunk of this library, as the caller promises.
    long(|| unsafe { changing(schunk, edit) })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn blosc2_schunk_reorder_offsets(schunk: *mut Schunk, offsets_order: *const i64) -> c_int {
    // SAFETY: null or a super-chunk of this library, as the caller promises.
    let known = unsafe { schunk.as_ref() }.map_or(0, |schunk| schunk.nchunks);
    let edit = |owned: &mut Owned| {
        // Another handle may have added chunks since the caller has seen how many there are.
        if owned.public.nchunks != known {
            return Err(INVALID_PARAM);
        }
        // SAFETY: as many numbers as there are chunks, as the caller promises.
        let order = unsafe { values(offsets_order, known) }?;
        let order: Result<Vec<u64>> = order.iter().map(|&k| number(owned, k).map_err(|_| DATA)).collect();
        let order = order?;
        owned.change(|inner| Ok(inner.frame.reorder(&order)?))?;
        Ok(0)
    };
    // SAFETY: null or a super-chunk of this library, as the caller promises.
    int(|| unsafe { changing(schunk, edit) })
}

/// Hands a chunk out as bytes from malloc; returns how many.
///
/// # Safety
/// `schunk` is null or a super-chunk of this library; the others are null or writable.
unsafe fn chunk_out(
    schunk: *mut Schunk,
    nchunk: i64,
    chunk: *mut *mut u8,
    needs_free: *mut bool,
    read: impl FnOnce(&Inner, u64) -> Result<Vec<u8>>,
) -> c_int {
    // SAFETY: as the caller promises.
    int(|| unsafe {
        put(needs_free, false);
        let bytes = reading(schunk, |owned| {
            let k = number(owned, nchunk)?;
            read(&mut owned.inner, k)
        })?;
        hand_out(chunk, &bytes)?;
        put(needs_free, true);
        size(bytes.len())
    })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn blosc2_schunk_get_chunk(
    schunk: *mut Schunk,
    nchunk: i64,
    chunk: *mut *mut u8,
    needs_free: *mut bool,
) -> c_int {
    // SAFETY: as this function's own arguments.
    unsafe { chunk_out(schunk, nchunk, chunk, needs_free, Inner::chunk) }
}

/// A chunk of a frame in a file without its blocks. Other chunks are given whole: they serve wherever lazy ones do.
#[unsafe(no_mangle)]
unsafe extern "C" fn blosc2_schunk_get_lazychunk(
    schunk: *mut Schunk,
    nchunk: i64,
    chunk: *mut *mut u8,
    needs_free: *mut bool,
) -> c_int {
    let read = |inner: &Inner, k| match inner.lazy_chunk(k)? {
        Some(lazy) => Ok(lazy),
        None => inner.chunk(k),
    };
    // SAFETY: as this function's own arguments.
    unsafe { chunk_out(schunk, nchunk, chunk, needs_free, read) }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn blosc2_schunk_decompress_chunk(
    schunk: *mut Schunk,
    nchunk: i64,
    dest: *mut c_void,
    nbytes: i32,
) -> c_int {
    // SAFETY: null or a super-chunk of this library; `nbytes` writable bytes, as the caller promises.
    int(|| unsafe {
        let dest = bytes_mut(dest, nbytes.into())?;
        reading(schunk, |owned| {
            let k = number(owned, nchunk)?;
            let chunk = owned.inner.chunk(k)?;
            owned.public.current_nchunk = nchunk;
            size(owned.dctx()?.decompress(&chunk, dest)?)
        })
    })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn blosc2_schunk_get_vlblock(
    schunk: *mut Schunk,
    nchunk: i64,
    nblock: i32,
    dest: *mut *mut u8,
    destsize: *mut i32,
) -> c_int {
    // SAFETY: null or a super-chunk of this library; null or writable, as the caller promises.
    int(|| unsafe {
        reading(schunk, |owned| {
            let k = number(owned, nchunk)?;
            let bytes = owned.inner.chunk(k)?;
            crate::vl::block_out(owned.dctx()?, &bytes, nblock, dest, destsize)
        })
    })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn blosc2_schunk_fill_special(
    schunk: *mut Schunk,
    nitems: i64,
    special_value: c_int,
    chunksize: i32,
) -> i64 {
    // SAFETY: null or a super-chunk of this library, as the caller promises.
    long(|| unsafe { changing(schunk, |owned| fill_special(owned, nitems, special_value, chunksize)) })
}

/// Makes an empty super-chunk one of `nitems` special items.
pub fn fill_special(owned: &mut Owned, nitems: i64, special_value: c_int, chunksize: i32) -> Result<i64> {
    let kind = match special_value {
        1 => Special::Zeros,
        2 => Special::Nan,
        4 => Special::Uninit,
        _ => return Err(SCHUNK_SPECIAL),
    };
    if nitems == 0 {
        return Ok(0);
    }
    let nbytes = nitems.checked_mul(owned.public.typesize.into()).ok_or(SCHUNK_SPECIAL)?;
    let nbytes = u64::try_from(nbytes).map_err(|_| SCHUNK_SPECIAL)?;
    let chunksize = u32::try_from(chunksize).ok().filter(|&n| n > 0).ok_or(SCHUNK_SPECIAL)?;
    if owned.inner.frame.nbytes() > 0 {
        return Err(SCHUNK_SPECIAL);
    }
    owned.change(|inner| {
        inner.frame.set_chunksize(chunksize)?;
        Ok(inner.frame.fill_special(kind, nbytes)?)
    })
}
