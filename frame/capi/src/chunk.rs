//! Bare chunks: what a header says, one-shot functions, special chunks.

use crate::abi::{CParams, DParams};
use crate::context::{Context, MAX_BUFFERSIZE, chunk_at};
use crate::error::*;
use crate::memory::{bytes, bytes_mut, put};
use blosc_core::chunk::special;
use core::ffi::{CStr, c_char, c_int, c_void};
use core::ptr;

/// Decoded size, size and block size as the first 16 bytes tell them.
pub fn sizes(head: &[u8]) -> Result<[i32; 3]> {
    let head: &[u8; 16] = head.first_chunk().ok_or(READ_BUFFER)?;
    // The three stand in the same bytes of both headers, and only 16 may be read here.
    let mut short = *head;
    short[2] &= !5;
    let header = blosc_core::Header::parse(&short)?;
    let block = if header.nbytes > 0 { header.blocksize.min(header.nbytes) } else { header.blocksize };
    Ok([size(header.nbytes as usize)?, size(header.cbytes as usize)?, size(block as usize)?])
}

#[unsafe(no_mangle)]
unsafe extern "C" fn blosc2_cbuffer_sizes(
    cbuffer: *const c_void,
    nbytes: *mut i32,
    cbytes: *mut i32,
    blocksize: *mut i32,
) -> c_int {
    // SAFETY: 16 readable bytes, as the interface says.
    let found = unsafe { bytes(cbuffer, 16) }.and_then(sizes);
    let [n, c, b] = found.unwrap_or_default();
    // SAFETY: null or writable, as the caller promises.
    unsafe {
        put(nbytes, n);
        put(cbytes, c);
        put(blocksize, b);
    }
    found.map_or_else(|code| code.0, |_| 0)
}

#[unsafe(no_mangle)]
unsafe extern "C" fn blosc2_cbuffer_versions(
    cbuffer: *const c_void,
    version: *mut c_int,
    versionlz: *mut c_int,
) {
    // SAFETY: 2 readable bytes, as the interface says.
    if let Ok(&[v, lz]) = unsafe { bytes(cbuffer, 2) } {
        // SAFETY: null or writable, as the caller promises.
        unsafe {
            put(version, v.into());
            put(versionlz, lz.into());
        }
    }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn blosc2_cbuffer_complib(cbuffer: *const c_void) -> *const c_char {
    let name: Option<&CStr> = match
        // SAFETY: 3 readable bytes, as the interface says.
        unsafe { bytes(cbuffer, 3) }
    {
        Ok(&[_, _, flags]) => match flags >> 5 {
            0 => Some(c"BloscLZ"),
            1 => Some(c"LZ4"),
            3 => Some(c"Zlib"),
            4 => Some(c"Zstd"),
            _ => None,
        },
        _ => None,
    };
    name.map_or(ptr::null(), CStr::as_ptr)
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc1_cbuffer_validate(
    cbuffer: *const c_void,
    cbytes: usize,
    nbytes: *mut usize,
) -> c_int {
    let found = (|| {
        if cbytes < 16 {
            return Err(WRITE_BUFFER);
        }
        // SAFETY: `cbytes` readable bytes, as the caller promises.
        let [n, c, _] = sizes(unsafe { bytes(cbuffer, 16) }?)?;
        if usize::try_from(c) != Ok(cbytes) {
            return Err(INVALID_HEADER);
        }
        if n > MAX_BUFFERSIZE { Err(MEMORY_ALLOC) } else { Ok(n) }
    })();
    // SAFETY: null or writable, as the caller promises.
    unsafe { put(nbytes, found.ok().and_then(|n| usize::try_from(n).ok()).unwrap_or(0)) };
    found.map_or_else(|code| code.0, |_| 0)
}

#[unsafe(no_mangle)]
unsafe extern "C" fn blosc1_cbuffer_metainfo(
    cbuffer: *const c_void,
    typesize: *mut usize,
    flags: *mut c_int,
) {
    // SAFETY: 16 readable bytes, as the interface says.
    let head = unsafe { bytes(cbuffer, 16) }.ok().filter(|head| sizes(head).is_ok());
    let (t, f) = match head {
        Some(&[_, _, flags, typesize, ..]) => (usize::from(typesize), c_int::from(flags)),
        _ => (0, 0),
    };
    // SAFETY: null or writable, as the caller promises.
    unsafe {
        put(typesize, t);
        put(flags, f);
    }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn blosc1_cbuffer_sizes(
    cbuffer: *const c_void,
    nbytes: *mut usize,
    cbytes: *mut usize,
    blocksize: *mut usize,
) {
    // SAFETY: 16 readable bytes, as the interface says.
    let found = unsafe { bytes(cbuffer, 16) }.and_then(sizes).unwrap_or_default();
    let [n, c, b] = found.map(|v| usize::try_from(v).unwrap_or(0));
    // SAFETY: null or writable, as the caller promises.
    unsafe {
        put(nbytes, n);
        put(cbytes, c);
        put(blocksize, b);
    }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn blosc2_decompress(
    src: *const c_void,
    srcsize: i32,
    dest: *mut c_void,
    destsize: i32,
) -> c_int {
    int(|| {
        let dparams = DParams { nthreads: crate::runner::threads(), ..DParams::DEFAULT };
        // SAFETY: `srcsize` readable and `destsize` writable bytes that do not overlap; no pointer in the parameters, as the caller promises.
        let (mut ctx, src, dest) = unsafe {
            (Context::decompressing(dparams), chunk_at(src, srcsize)?, bytes_mut(dest, destsize.into())?)
        };
        size(ctx.decompress(src, dest)?)
    })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn blosc2_getitem(
    src: *const c_void,
    srcsize: i32,
    start: c_int,
    nitems: c_int,
    dest: *mut c_void,
    destsize: i32,
) -> c_int {
    // SAFETY: no pointer in the parameters.
    let mut ctx = unsafe { Context::decompressing(DParams::DEFAULT) };
    // SAFETY: as this function's own arguments.
    unsafe { crate::context::blosc2_getitem_ctx(&raw mut ctx, src, srcsize, start, nitems, dest, destsize) }
}

/// Writes a special chunk of `nbytes` bytes: header fields from `cparams`, kind and value from `make`.
fn special_chunk(
    cparams: &CParams,
    nbytes: i32,
    dest: &mut [u8],
    make: impl FnOnce(u32, usize, &mut [u8]) -> Result<usize>,
) -> Result<c_int> {
    let typesize = u32::try_from(cparams.typesize).ok().filter(|&size| size > 0).ok_or(INVALID_PARAM)?;
    let n = usize::try_from(nbytes).map_err(|_| INVALID_PARAM)?;
    if dest.len() < 32 || n % typesize as usize != 0 {
        return Err(DATA);
    }
    let len = make(typesize, n, dest)?;
    // The block size that is asked for, as chunks with data have it.
    if 0 < cparams.blocksize && cparams.blocksize <= nbytes {
        dest[8..12].copy_from_slice(&cparams.blocksize.to_le_bytes());
    }
    size(len)
}

fn head(made: core::result::Result<[u8; 32], blosc_core::Error>, dest: &mut [u8]) -> Result<usize> {
    let head = made.map_err(|_| DATA)?;
    dest.get_mut(..32).ok_or(DATA)?.copy_from_slice(&head);
    Ok(32)
}

#[unsafe(no_mangle)]
unsafe extern "C" fn blosc2_chunk_zeros(
    cparams: CParams,
    nbytes: i32,
    dest: *mut c_void,
    destsize: i32,
) -> c_int {
    int(|| {
        // SAFETY: `destsize` writable bytes, as the caller promises.
        let dest = unsafe { bytes_mut(dest, destsize.into()) }?;
        special_chunk(&cparams, nbytes, dest, |t, n, dest| head(special::zeros(t, n), dest))
    })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn blosc2_chunk_nans(
    cparams: CParams,
    nbytes: i32,
    dest: *mut c_void,
    destsize: i32,
) -> c_int {
    int(|| {
        // SAFETY: `destsize` writable bytes, as the caller promises.
        let dest = unsafe { bytes_mut(dest, destsize.into()) }?;
        special_chunk(&cparams, nbytes, dest, |t, n, dest| head(special::nans(t, n), dest))
    })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn blosc2_chunk_uninit(
    cparams: CParams,
    nbytes: i32,
    dest: *mut c_void,
    destsize: i32,
) -> c_int {
    int(|| {
        // SAFETY: `destsize` writable bytes, as the caller promises.
        let dest = unsafe { bytes_mut(dest, destsize.into()) }?;
        special_chunk(&cparams, nbytes, dest, |t, n, dest| head(special::uninit(t, n), dest))
    })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn blosc2_chunk_repeatval(
    cparams: CParams,
    nbytes: i32,
    dest: *mut c_void,
    destsize: i32,
    repeatval: *const c_void,
) -> c_int {
    int(|| {
        // SAFETY: `destsize` writable bytes, and a value of the typesize, as the caller promises.
        let (dest, value) =
            unsafe { (bytes_mut(dest, destsize.into())?, bytes(repeatval, cparams.typesize.into())?) };
        special_chunk(&cparams, nbytes, dest, |_, n, dest| {
            special::repeated(value, n, dest).map_err(|_| DATA)
        })
    })
}
