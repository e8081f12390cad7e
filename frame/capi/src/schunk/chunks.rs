//! Whole chunks in and out.

use super::owned;
use crate::abi::Schunk;
use crate::context::parse;
use crate::error::*;
use crate::memory::{bytes, bytes_mut, copied, put, values};
use blosc_core::Special;
use core::ffi::{c_int, c_void};

#[unsafe(no_mangle)]
unsafe extern "C" fn blosc2_schunk_append_buffer(
    schunk: *mut Schunk,
    src: *const c_void,
    nbytes: i32,
) -> i64 {
    long(|| {
        // SAFETY: null or a super-chunk of this library; `nbytes` readable bytes.
        let (owned, src) = unsafe { (owned(schunk)?, bytes(src, nbytes.into())?) };
        let chunk = owned.compressed(src, owned.public.nchunks)?;
        append(owned, &chunk)
    })
}

/// Appends a chunk; returns the number of chunks.
pub fn append(owned: &mut super::Owned, chunk: &[u8]) -> Result<i64> {
    let k = owned.inner.frame.nchunks();
    insert(owned, k, chunk)
}

fn insert(owned: &mut super::Owned, k: u64, chunk: &[u8]) -> Result<i64> {
    let header = blosc_core::Header::parse(chunk)?;
    let count = owned.change(|inner| {
        inner.frame.insert_chunk(k, chunk)?;
        inner.cbytes += inner.stored_size(k);
        Ok(())
    })?;
    if k == 0 && !header.is_vl() {
        owned.public.blocksize = i32::try_from(header.blocksize).unwrap_or(0);
    }
    Ok(count)
}

/// The chunk at `chunk`, as long as its header says.
///
/// # Safety
/// It is readable that far.
unsafe fn whole<'a>(chunk: *const u8) -> Result<&'a [u8]> {
    // SAFETY: a chunk has a header.
    let [_, cbytes, _] = crate::chunk::sizes(unsafe { bytes(chunk.cast(), 16) }?)?;
    // SAFETY: as the caller promises.
    let whole = unsafe { bytes(chunk.cast(), cbytes.into()) }?;
    parse(whole)?;
    Ok(whole)
}

/// Takes the chunk over where it is not copied: the caller has given it away.
///
/// # Safety
/// `chunk` is from malloc where `copy` is not set.
unsafe fn taken(chunk: *mut u8, copy: bool, result: Result<i64>) -> Result<i64> {
    if !copy && result.is_ok() {
        // SAFETY: as the caller promises; its bytes are in the frame now.
        unsafe { crate::memory::release(chunk) };
    }
    result
}

#[unsafe(no_mangle)]
unsafe extern "C" fn blosc2_schunk_append_chunk(schunk: *mut Schunk, chunk: *mut u8, copy: bool) -> i64 {
    long(|| {
        // SAFETY: null or a super-chunk of this library, and a whole chunk.
        unsafe { taken(chunk, copy, append(owned(schunk)?, whole(chunk)?)) }
    })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn blosc2_schunk_insert_chunk(
    schunk: *mut Schunk,
    nchunk: i64,
    chunk: *mut u8,
    copy: bool,
) -> i64 {
    long(|| {
        let k = u64::try_from(nchunk).map_err(|_| CHUNK_INSERT)?;
        // SAFETY: null or a super-chunk of this library, and a whole chunk.
        unsafe { taken(chunk, copy, insert(owned(schunk)?, k, whole(chunk)?).map_err(|_| CHUNK_INSERT)) }
    })
}

/// Replaces chunk `k`.
pub fn update(owned: &mut super::Owned, k: u64, chunk: &[u8]) -> Result<i64> {
    if k >= owned.inner.frame.nchunks() {
        return Err(INVALID_PARAM);
    }
    owned.change(|inner| {
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
    long(|| {
        let k = u64::try_from(nchunk).map_err(|_| CHUNK_UPDATE)?;
        // SAFETY: null or a super-chunk of this library, and a whole chunk.
        unsafe { taken(chunk, copy, update(owned(schunk)?, k, whole(chunk)?).map_err(|_| CHUNK_UPDATE)) }
    })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn blosc2_schunk_delete_chunk(schunk: *mut Schunk, nchunk: i64) -> i64 {
    long(|| {
        // SAFETY: null or a super-chunk of this library.
        let owned = unsafe { owned(schunk) }?;
        let k =
            u64::try_from(nchunk).ok().filter(|&k| k < owned.inner.frame.nchunks()).ok_or(INVALID_PARAM)?;
        owned.change(|inner| {
            let size = inner.stored_size(k);
            inner.frame.delete(k)?;
            inner.cbytes -= size;
            Ok(())
        })
    })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn blosc2_schunk_reorder_offsets(schunk: *mut Schunk, offsets_order: *const i64) -> c_int {
    int(|| {
        // SAFETY: null or a super-chunk of this library, with as many numbers as it has chunks.
        let (owned, order) = unsafe {
            let owned = owned(schunk)?;
            let count = owned.public.nchunks;
            (owned, values(offsets_order, count)?)
        };
        let order: core::result::Result<Vec<u64>, _> = order.iter().map(|&k| u64::try_from(k)).collect();
        let order = order.map_err(|_| INVALID_INDEX)?;
        owned.change(|inner| Ok(inner.frame.reorder(&order)?))?;
        Ok(0)
    })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn blosc2_schunk_get_chunk(
    schunk: *mut Schunk,
    nchunk: i64,
    chunk: *mut *mut u8,
    needs_free: *mut bool,
) -> c_int {
    int(|| {
        // SAFETY: null or a super-chunk of this library.
        let owned = unsafe { owned(schunk) }?;
        let bytes = owned.inner.chunk(u64::try_from(nchunk).map_err(|_| INVALID_PARAM)?)?;
        // SAFETY: null or writable.
        unsafe {
            put(chunk, copied(&bytes)?);
            put(needs_free, true);
        }
        size(bytes.len())
    })
}

/// A whole chunk serves wherever one does that is read block by block.
#[unsafe(no_mangle)]
unsafe extern "C" fn blosc2_schunk_get_lazychunk(
    schunk: *mut Schunk,
    nchunk: i64,
    chunk: *mut *mut u8,
    needs_free: *mut bool,
) -> c_int {
    // SAFETY: as this function's own arguments.
    unsafe { blosc2_schunk_get_chunk(schunk, nchunk, chunk, needs_free) }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn blosc2_schunk_decompress_chunk(
    schunk: *mut Schunk,
    nchunk: i64,
    dest: *mut c_void,
    nbytes: i32,
) -> c_int {
    int(|| {
        // SAFETY: null or a super-chunk of this library; `nbytes` writable bytes.
        let (owned, dest) = unsafe { (owned(schunk)?, bytes_mut(dest, nbytes.into())?) };
        let chunk = owned.inner.chunk(u64::try_from(nchunk).map_err(|_| INVALID_PARAM)?)?;
        let ctx = owned.dctx()?;
        ctx.nchunk = nchunk;
        size(ctx.decompress(&chunk, dest)?)
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
    int(|| {
        // SAFETY: null or a super-chunk of this library.
        let owned = unsafe { owned(schunk) }?;
        let bytes = owned.inner.chunk(u64::try_from(nchunk).map_err(|_| INVALID_PARAM)?)?;
        let chunk = crate::vl::parse_vl(&bytes)?;
        let index = usize::try_from(nblock).ok().filter(|&k| k < chunk.nblocks()).ok_or(INVALID_PARAM)?;
        let data = crate::vl::block(owned.dctx()?, &chunk, index)?;
        // SAFETY: null or writable.
        unsafe {
            put(dest, copied(&data)?);
            put(destsize, size(data.len())?);
        }
        size(data.len())
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc2_schunk_fill_special(
    schunk: *mut Schunk,
    nitems: i64,
    special_value: c_int,
    chunksize: i32,
) -> i64 {
    long(|| {
        // SAFETY: null or a super-chunk of this library.
        let owned = unsafe { owned(schunk) }?;
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
    })
}
