//! Chunks whose blocks have lengths of their own.

use crate::context::{Context, chunk_of, context, parse};
use crate::error::*;
use crate::memory::{bytes, bytes_mut, copied, put, release, values, zeros};
use blosc_core::Chunk;
use core::ffi::{c_int, c_void};

#[unsafe(no_mangle)]
unsafe extern "C" fn blosc2_vlcompress_ctx(
    ctx: *mut Context,
    srcs: *const *const c_void,
    srcsizes: *const i32,
    nblocks: i32,
    dest: *mut c_void,
    destsize: i32,
) -> c_int {
    int(|| {
        if nblocks <= 0 {
            return Err(INVALID_PARAM);
        }
        // SAFETY: a context; `nblocks` pointers and sizes; `destsize` writable bytes, as the caller promises.
        let (ctx, srcs, sizes, dest) = unsafe {
            let count = i64::from(nblocks);
            (context(ctx)?, values(srcs, count)?, values(srcsizes, count)?, bytes_mut(dest, destsize.into())?)
        };
        let mut blocks = Vec::with_capacity(srcs.len());
        for (&src, &len) in srcs.iter().zip(sizes) {
            if len <= 0 {
                return Err(INVALID_PARAM);
            }
            // SAFETY: as many bytes at each pointer as its size says, as the caller promises.
            blocks.push(unsafe { bytes(src, len.into()) }?);
        }
        let params = ctx.params(usize::MAX)?.blocksize(None);
        let chunk = ctx.with_compressing(dest.as_ptr().cast(), |pool, around| {
            Ok(pool.compress_vl(&params, around, &blocks)?)
        })?;
        match dest.get_mut(..chunk.len()) {
            Some(place) => place.copy_from_slice(&chunk),
            None => return Ok(0),
        }
        size(chunk.len())
    })
}

/// Block `index`, decoded.
fn block(ctx: &mut Context, chunk: &Chunk<'_>, index: usize) -> Result<Vec<u8>> {
    let mut out = zeros(chunk.block_range(index)?.len())?;
    let n = ctx.with(chunk, |pool, around| Ok(pool.decode_block(chunk, around, index, &mut out)?))?;
    out.truncate(n);
    Ok(out)
}

/// Hands block `nblock` of the chunk in `bytes` out.
///
/// # Safety
/// `dest` and `destsize` are null or writable.
pub unsafe fn block_out(
    ctx: &mut Context,
    bytes: &[u8],
    nblock: i32,
    dest: *mut *mut u8,
    destsize: *mut i32,
) -> Result<c_int> {
    if dest.is_null() || destsize.is_null() {
        return Err(NULL_POINTER);
    }
    let chunk = parse_vl(bytes)?;
    let index = usize::try_from(nblock).ok().filter(|&k| k < chunk.nblocks()).ok_or(INVALID_PARAM)?;
    let data = block(ctx, &chunk, index)?;
    // SAFETY: writable, as the caller promises: they are not null.
    unsafe {
        put(dest, copied(&data)?);
        put(destsize, size(data.len())?);
    }
    size(data.len())
}

/// The chunk of variable blocks in `src`.
fn parse_vl(src: &[u8]) -> Result<Chunk<'_>> {
    let chunk = parse(src)?;
    if chunk.header().is_vl() { Ok(chunk) } else { Err(INVALID_PARAM) }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn blosc2_vldecompress_ctx(
    ctx: *mut Context,
    src: *const c_void,
    srcsize: i32,
    dests: *mut *mut c_void,
    destsizes: *mut i32,
    maxblocks: i32,
) -> c_int {
    int(|| {
        // SAFETY: null or a context, as the caller promises.
        let ctx = unsafe { context(ctx) }?;
        // SAFETY: `srcsize` readable bytes, as the caller promises.
        let src = unsafe { chunk_of(ctx.dparams.schunk, src, srcsize) }?;
        let chunk = parse_vl(&src)?;
        let count = chunk.nblocks();
        if usize::try_from(maxblocks).map_or(true, |most| most < count)
            || dests.is_null()
            || destsizes.is_null()
        {
            return Err(INVALID_PARAM);
        }
        let mut made: Vec<(*mut u8, i32)> = Vec::with_capacity(count);
        for k in 0..count {
            let next = block(ctx, &chunk, k).and_then(|data| Ok((copied(&data)?, size(data.len())?)));
            match next {
                Ok(next) => made.push(next),
                Err(code) => {
                    for (ptr, _) in made {
                        // SAFETY: it comes from `copied`, and no caller has it yet.
                        unsafe { release(ptr) };
                    }
                    return Err(code);
                }
            }
        }
        for (k, (ptr, len)) in made.into_iter().enumerate() {
            // SAFETY: both arrays have `maxblocks` places, which are at least `count`.
            unsafe {
                dests.add(k).write(ptr.cast());
                destsizes.add(k).write(len);
            }
        }
        size(count)
    })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn blosc2_vldecompress_block_ctx(
    ctx: *mut Context,
    src: *const c_void,
    srcsize: i32,
    nblock: i32,
    dest: *mut *mut u8,
    destsize: *mut i32,
) -> c_int {
    int(|| {
        // SAFETY: null or a context, as the caller promises.
        let ctx = unsafe { context(ctx) }?;
        // SAFETY: `srcsize` readable bytes, as the caller promises.
        let src = unsafe { chunk_of(ctx.dparams.schunk, src, srcsize) }?;
        // SAFETY: null or writable, as the caller promises.
        unsafe { block_out(ctx, &src, nblock, dest, destsize) }
    })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn blosc2_vlchunk_get_nblocks(
    src: *const c_void,
    srcsize: i32,
    nblocks: *mut i32,
) -> c_int {
    int(|| {
        if nblocks.is_null() {
            return Err(NULL_POINTER);
        }
        // SAFETY: `srcsize` readable bytes, as the caller promises.
        let src = unsafe { bytes(src, srcsize.into()) }?;
        let header = blosc_core::Header::parse(src)?;
        if !header.is_vl() {
            return Err(INVALID_PARAM);
        }
        // SAFETY: null or writable, as the caller promises.
        unsafe { put(nblocks, size(header.nblocks())?) };
        Ok(0)
    })
}
