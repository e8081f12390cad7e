//! What a chunk's header says: `blosc_cbuffer_*`.

use super::{OVERHEAD, settings};
use crate::memory::bytes;
use blosc_core::{Chunk, Header, Limits};
use core::ffi::{c_char, c_int, c_void};
use core::ptr;

/// The first 16 bytes at `cbuffer`.
///
/// # Safety
/// `cbuffer` is null or has 16 readable bytes.
unsafe fn head<'a>(cbuffer: *const c_void) -> Option<&'a [u8; OVERHEAD]> {
    // SAFETY: as the caller promises.
    unsafe { bytes(cbuffer, OVERHEAD) }.ok()?.first_chunk()
}

/// Writes where `place` points, if anywhere.
///
/// # Safety
/// `place` is null or writable.
unsafe fn put<T>(place: *mut T, value: T) {
    if !place.is_null() {
        // SAFETY: not null, and writable as the caller promises.
        unsafe { place.write(value) };
    }
}

/// Decoded size, size and block size, or zeros for what is not a chunk. Reads 16 bytes.
///
/// # Safety
/// `cbuffer` is null or has 16 readable bytes; the others are null or writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc_cbuffer_sizes(
    cbuffer: *const c_void,
    nbytes: *mut usize,
    cbytes: *mut usize,
    blocksize: *mut usize,
) {
    // SAFETY: as the caller promises.
    let head = unsafe { head(cbuffer) };
    // Sizes stand in the same bytes of both headers, and only 16 may be read here.
    let header = head.and_then(|h| {
        let mut short = *h;
        let [_, _, flags, ..] = &mut short;
        *flags &= !5;
        Header::parse(&short).ok().filter(|h| h.version <= MAX_VERSION)
    });
    let [n, c, b] = header.map_or([0; 3], |h| [h.nbytes, h.cbytes, h.blocksize].map(|v| v as usize));
    // SAFETY: as the caller promises.
    unsafe {
        put(nbytes, n);
        put(cbytes, c);
        put(blocksize, b);
    }
}

/// Newest format version.
const MAX_VERSION: u8 = 6;

/// 0 and the decoded size for a chunk of exactly `cbytes` bytes whose every stream lies in it; else -1 and 0.
///
/// # Safety
/// `cbuffer` is null or has `cbytes` readable bytes; `nbytes` is null or writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc_cbuffer_validate(
    cbuffer: *const c_void,
    cbytes: usize,
    nbytes: *mut usize,
) -> c_int {
    // SAFETY: as the caller promises.
    let bytes = unsafe { bytes(cbuffer, cbytes) };
    let chunk = bytes.ok().and_then(|b| Chunk::parse_with(b, &Limits::NONE).ok());
    let size = chunk.filter(|c| c.bytes().len() == cbytes).map(|c| c.nbytes());
    // SAFETY: as the caller promises.
    unsafe { put(nbytes, size.unwrap_or(0)) };
    if size.is_some() { 0 } else { -1 }
}

/// Type size, and which of `BLOSC_DOSHUFFLE`, `BLOSC_MEMCPYED`, `BLOSC_DOBITSHUFFLE` apply. Reads 16 bytes.
///
/// # Safety
/// As [`blosc_cbuffer_sizes`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc_cbuffer_metainfo(
    cbuffer: *const c_void,
    typesize: *mut usize,
    flags: *mut c_int,
) {
    // SAFETY: as the caller promises.
    let head = unsafe { head(cbuffer) };
    let (size, bits) = match head {
        Some(&[version, _, bits, size, ..]) if version <= MAX_VERSION => {
            (usize::from(size), c_int::from(bits & 7))
        }
        _ => (0, 0),
    };
    // SAFETY: as the caller promises.
    unsafe {
        put(typesize, size);
        put(flags, bits);
    }
}

/// Format version, and that of the codec's streams. Reads 2 bytes.
///
/// # Safety
/// As [`blosc_cbuffer_sizes`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc_cbuffer_versions(
    cbuffer: *const c_void,
    version: *mut c_int,
    compversion: *mut c_int,
) {
    // SAFETY: as the caller promises.
    let (v, c) = unsafe { head(cbuffer) }.map_or((0, 0), |&[v, c, ..]| (c_int::from(v), c_int::from(c)));
    // SAFETY: as the caller promises.
    unsafe {
        put(version, v);
        put(compversion, c);
    }
}

/// Library of the codec, or null for one that Blosc1 does not know. Reads 3 bytes.
///
/// # Safety
/// `cbuffer` is null or has 16 readable bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc_cbuffer_complib(cbuffer: *const c_void) -> *const c_char {
    // SAFETY: as the caller promises.
    let format = unsafe { head(cbuffer) }.map(|&[_, _, flags, ..]| flags >> 5);
    format.and_then(settings::library).map_or(ptr::null(), |name| name.as_ptr())
}
