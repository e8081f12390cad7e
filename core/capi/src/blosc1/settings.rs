//! The settings of the process, and what can be asked about compressors.

use super::{MAX_THREADS, compressor};
use blosc_core::Codec;
use core::ffi::{CStr, c_char, c_int};
use core::ptr;
use core::sync::atomic::{AtomicI32, AtomicU8, AtomicUsize, Ordering::Relaxed};

static THREADS: AtomicI32 = AtomicI32::new(1);
static CODEC: AtomicU8 = AtomicU8::new(0);
static BLOCKSIZE: AtomicUsize = AtomicUsize::new(0);
static SPLIT: AtomicU8 = AtomicU8::new(4);

/// The API version that this layer follows, then this library's own.
const VERSION: &CStr = match CStr::from_bytes_with_nul(
    concat!("1.21.7 (blosc-core ", env!("CARGO_PKG_VERSION"), ")\0").as_bytes(),
) {
    Ok(text) => text,
    Err(_) => c"1.21.7",
};

pub(super) fn codec() -> Codec {
    Codec::from_id(CODEC.load(Relaxed))
}

pub(super) fn blocksize() -> usize {
    BLOCKSIZE.load(Relaxed)
}

pub(super) fn split() -> u8 {
    SPLIT.load(Relaxed)
}

/// Name and library of compressor `code`, and the library's code.
fn named(code: c_int) -> Option<(&'static CStr, &'static CStr, c_int)> {
    Some(match code {
        0 => (c"blosclz", c"BloscLZ", 0),
        1 => (c"lz4", c"LZ4", 1),
        2 => (c"lz4hc", c"LZ4", 1),
        3 => (c"snappy", c"Snappy", 2),
        4 => (c"zlib", c"Zlib", 3),
        5 => (c"zstd", c"Zstd", 4),
        _ => return None,
    })
}

/// Library of the stream format in a chunk's flags.
pub(super) fn library(format: u8) -> Option<&'static CStr> {
    (0..=5).filter_map(named).find(|(_, _, code)| *code == c_int::from(format)).map(|(_, library, _)| library)
}

/// Nothing has to be prepared.
#[unsafe(no_mangle)]
pub extern "C" fn blosc_init() {}

/// Nothing has to be released.
#[unsafe(no_mangle)]
pub extern "C" fn blosc_destroy() {}

/// Nothing is kept between calls.
#[unsafe(no_mangle)]
pub extern "C" fn blosc_free_resources() -> c_int {
    0
}

/// Threads that [`blosc_compress`](super::blosc_compress) and its inverse use.
#[unsafe(no_mangle)]
pub extern "C" fn blosc_get_nthreads() -> c_int {
    THREADS.load(Relaxed)
}

/// Sets the number of threads, 1 to 256; returns the number before.
#[unsafe(no_mangle)]
pub extern "C" fn blosc_set_nthreads(nthreads: c_int) -> c_int {
    THREADS.swap(nthreads.clamp(1, MAX_THREADS), Relaxed)
}

/// Name of the compressor that [`blosc_compress`](super::blosc_compress) uses.
#[unsafe(no_mangle)]
pub extern "C" fn blosc_get_compressor() -> *const c_char {
    named(c_int::from(CODEC.load(Relaxed))).map_or(ptr::null(), |(name, _, _)| name.as_ptr())
}

/// Sets the compressor; returns its code, or -1 for one that is unknown.
///
/// # Safety
/// `compname` is null or a string.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc_set_compressor(compname: *const c_char) -> c_int {
    // SAFETY: as the caller promises.
    let code = unsafe { blosc_compname_to_compcode(compname) };
    if let Ok(id) = u8::try_from(code) {
        CODEC.store(id, Relaxed);
    }
    code
}

/// Code of a compressor's name, or -1.
///
/// # Safety
/// `compname` is null or a string.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc_compname_to_compcode(compname: *const c_char) -> c_int {
    if compname.is_null() {
        return -1;
    }
    // SAFETY: a string, as the caller promises.
    compressor(unsafe { CStr::from_ptr(compname) }).map_or(-1, |codec| c_int::from(codec.id()))
}

/// Name of a compressor's code; returns the code, or -1 if there is none.
///
/// # Safety
/// `compname` is null or writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc_compcode_to_compname(compcode: c_int, compname: *mut *const c_char) -> c_int {
    let name = named(compcode).map(|(name, _, _)| name);
    if !compname.is_null() {
        // SAFETY: not null, and writable as the caller promises.
        unsafe { compname.write(name.map_or(ptr::null(), CStr::as_ptr)) };
    }
    if name.is_some() { compcode } else { -1 }
}

/// The compressors.
#[unsafe(no_mangle)]
pub extern "C" fn blosc_list_compressors() -> *const c_char {
    c"blosclz,lz4,lz4hc,snappy,zlib,zstd".as_ptr()
}

/// `"1.21.7 (blosc-core …)"`.
#[unsafe(no_mangle)]
pub extern "C" fn blosc_get_version_string() -> *const c_char {
    VERSION.as_ptr()
}

/// Name and version of a compressor's library, each to be freed with `free`; returns its code, or -1.
///
/// # Safety
/// `compname` is null or a string; `complib` and `version` are null or writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc_get_complib_info(
    compname: *const c_char,
    complib: *mut *mut c_char,
    version: *mut *mut c_char,
) -> c_int {
    unsafe extern "C" {
        fn strdup(text: *const c_char) -> *mut c_char;
    }
    // SAFETY: as the caller promises.
    let code = unsafe { blosc_compname_to_compcode(compname) };
    let found = if code < 0 { None } else { named(code) };
    let texts = [(complib, found.map(|(_, library, _)| library)), (version, found.map(|_| VERSION))];
    for (place, text) in texts {
        if !place.is_null() {
            // SAFETY: `text` is a string, and `place` is writable as the caller promises.
            unsafe { place.write(text.map_or(ptr::null_mut(), |text| strdup(text.as_ptr()))) };
        }
    }
    found.map_or(-1, |(_, _, library)| library)
}

/// The block size asked for; 0 is automatic.
#[unsafe(no_mangle)]
pub extern "C" fn blosc_get_blocksize() -> c_int {
    c_int::try_from(blocksize()).unwrap_or(c_int::MAX)
}

/// Asks for a block size; 0 is automatic.
#[unsafe(no_mangle)]
pub extern "C" fn blosc_set_blocksize(blocksize: usize) {
    BLOCKSIZE.store(blocksize, Relaxed);
}

/// Sets the split mode, 1 to 4; other numbers change nothing.
#[unsafe(no_mangle)]
pub extern "C" fn blosc_set_splitmode(splitmode: c_int) {
    if let Ok(mode @ 1..=4) = u8::try_from(splitmode) {
        SPLIT.store(mode, Relaxed);
    }
}
