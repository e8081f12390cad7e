//! Names, defaults, clocks, files and index arithmetic.

use crate::abi::{CParams, DParams, Io, StdioMmap, Storage, Timestamp};
use crate::blosc1::{id, name};
use crate::codec::{FIRST_ID, library_of};
use crate::error::*;
use crate::memory::{bytes, bytes_mut, hand_out, put, text, values};
use crate::runner::{self, ThreadsCallback};
use blosc_core::{Level, filter};
use core::ffi::{CStr, c_char, c_int, c_void};
use core::ptr;
use std::time::{SystemTime, UNIX_EPOCH};
use std::{fs, path::Path};

/// The version of the C library whose interface this is.
const VERSION: &CStr = c"3.3.5";

#[unsafe(no_mangle)]
extern "C" fn blosc2_init() {}

#[unsafe(no_mangle)]
extern "C" fn blosc2_destroy() {}

#[unsafe(no_mangle)]
extern "C" fn blosc2_free_resources() -> c_int {
    0
}

#[unsafe(no_mangle)]
extern "C" fn blosc2_get_version_string() -> *const c_char {
    VERSION.as_ptr()
}

#[unsafe(no_mangle)]
extern "C" fn blosc2_list_compressors() -> *const c_char {
    c"blosclz,lz4,lz4hc,zlib,zstd".as_ptr()
}

/// Contexts that are made from now on run the blocks of a chunk on the caller's threads; null: on threads of their own.
#[unsafe(no_mangle)]
extern "C" fn blosc2_set_threads_callback(callback: Option<ThreadsCallback>, data: *mut c_void) {
    runner::set(callback, data);
}

#[unsafe(no_mangle)]
unsafe extern "C" fn blosc2_compname_to_compcode(compname: *const c_char) -> c_int {
    // SAFETY: null or a string, as the caller promises.
    int(|| Ok(id(unsafe { text(compname) }?).ok_or(NOT_FOUND).map_err(|_| FAILURE)?.into()))
}

#[unsafe(no_mangle)]
unsafe extern "C" fn blosc2_compcode_to_compname(compcode: c_int, compname: *mut *const c_char) -> c_int {
    let found = name(compcode);
    // SAFETY: null or writable, as the caller promises.
    unsafe { put(compname, found.map_or(ptr::null(), CStr::as_ptr)) };
    if found.is_some() { compcode } else { -1 }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn blosc2_get_complib_info(
    compname: *const c_char,
    complib: *mut *mut c_char,
    version: *mut *mut c_char,
) -> c_int {
    int(|| {
        // SAFETY: null or a string, as the caller promises.
        let id = id(unsafe { text(compname) }?).ok_or(FAILURE)?;
        let (library, code) = match id {
            0 => (c"BloscLZ", 0),
            1 | 2 => (c"LZ4", 1),
            4 => (c"Zlib", 3),
            5 => (c"Zstd", 4),
            // A plugin counts as a library of its own, and the caller says which one a registered codec belongs to.
            _ => (name(id.into()).ok_or(FAILURE)?, library_of(id).unwrap_or(id)),
        };
        let ours = concat!("blosc-core ", env!("CARGO_PKG_VERSION"), "\0");
        let version_text = if id < FIRST_ID { ours } else { "unknown\0" };
        // SAFETY: null or writable, as the caller promises.
        unsafe {
            hand_out(complib, library.to_bytes_with_nul())?;
            hand_out(version, version_text.as_bytes())?;
        }
        Ok(code.into())
    })
}

#[unsafe(no_mangle)]
extern "C" fn blosc2_get_blosc2_cparams_defaults() -> CParams {
    CParams::DEFAULT
}

#[unsafe(no_mangle)]
extern "C" fn blosc2_get_blosc2_dparams_defaults() -> DParams {
    DParams::DEFAULT
}

#[unsafe(no_mangle)]
extern "C" fn blosc2_get_blosc2_storage_defaults() -> Storage {
    let null = ptr::null_mut();
    Storage {
        contiguous: false,
        urlpath: null,
        cparams: ptr::null_mut(),
        dparams: ptr::null_mut(),
        io: ptr::null_mut(),
    }
}

#[unsafe(no_mangle)]
extern "C" fn blosc2_get_blosc2_io_defaults() -> Io {
    Io { id: 0, name: c"filesystem".as_ptr(), params: ptr::null_mut() }
}

#[unsafe(no_mangle)]
extern "C" fn blosc2_get_blosc2_stdio_mmap_defaults() -> StdioMmap {
    StdioMmap {
        mode: c"r".as_ptr(),
        initial_mapping_size: 1 << 30,
        needs_free: false,
        addr: ptr::null_mut(),
        urlpath: ptr::null_mut(),
        file_size: 0,
        mapping_size: 0,
        is_memory_only: false,
        file: ptr::null_mut(),
        fd: -1,
        access_flags: -1,
        map_flags: -1,
    }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn blosc_set_timestamp(timestamp: *mut Timestamp) {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let seconds = i64::try_from(now.as_secs()).unwrap_or(i64::MAX);
    // SAFETY: null or writable, as the caller promises.
    unsafe { put(timestamp, Timestamp { seconds, nanoseconds: now.subsec_nanos().into() }) };
}

#[unsafe(no_mangle)]
extern "C" fn blosc_elapsed_nsecs(start: Timestamp, end: Timestamp) -> f64 {
    (end.seconds as f64 - start.seconds as f64) * 1e9 + (end.nanoseconds as f64 - start.nanoseconds as f64)
}

#[unsafe(no_mangle)]
extern "C" fn blosc_elapsed_secs(start: Timestamp, end: Timestamp) -> f64 {
    blosc_elapsed_nsecs(start, end) * 1e-9
}

fn removed(result: std::io::Result<()>) -> Result<c_int> {
    result.map(|()| 0).map_err(|_| FILE_REMOVE)
}

#[unsafe(no_mangle)]
unsafe extern "C" fn blosc2_remove_dir(path: *const c_char) -> c_int {
    int(|| {
        // SAFETY: null or a string, as the caller promises.
        let path = Path::new(unsafe { text(path) }?);
        // Only what a sparse frame consists of is removed: a directory that holds directories stays as it is.
        let entries = fs::read_dir(path).map_err(|_| NOT_FOUND)?;
        let files: std::io::Result<Vec<_>> = entries.collect();
        let files = files.map_err(|_| FILE_REMOVE)?;
        if files.iter().any(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir())) {
            return Err(FILE_REMOVE);
        }
        for file in files {
            removed(fs::remove_file(file.path()))?;
        }
        removed(fs::remove_dir(path))
    })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn blosc2_remove_urlpath(path: *const c_char) -> c_int {
    // SAFETY: null or a string, as the caller promises.
    let directory = unsafe { text(path) }.is_ok_and(|path| Path::new(path).is_dir());
    if directory {
        // SAFETY: `path` is a string: `text` has read it.
        return unsafe { blosc2_remove_dir(path) };
    }
    int(|| {
        // SAFETY: null or a string, as the caller promises; `text` tells them apart.
        let path = Path::new(unsafe { text(path) }?);
        let mut lock = path.as_os_str().to_owned();
        lock.push(".b2lock");
        _ = fs::remove_file(lock);
        // What is not there need not be removed.
        if path.symlink_metadata().is_err() { Ok(0) } else { removed(fs::remove_file(path)) }
    })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn blosc2_rename_urlpath(old_urlpath: *const c_char, new_path: *const c_char) -> c_int {
    int(|| {
        // SAFETY: null or strings, as the caller promises.
        let (old, new) = unsafe { (text(old_urlpath)?, text(new_path)?) };
        fs::rename(old, new).map(|()| 0).map_err(|_| FAILURE)
    })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn blosc2_unidim_to_multidim(ndim: u8, shape: *const i64, i: i64, index: *mut i64) {
    // SAFETY: `ndim` sizes.
    let Ok(shape) = (unsafe { values(shape, ndim.into()) }) else { return };
    if index.is_null() {
        return;
    }
    let mut rest = i;
    for (axis, &len) in shape.iter().enumerate().rev() {
        let len = len.max(1);
        // SAFETY: room for `ndim` numbers, as the caller promises.
        unsafe { index.add(axis).write(rest % len) };
        rest /= len;
    }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn blosc2_multidim_to_unidim(
    index: *const i64,
    ndim: i8,
    strides: *const i64,
    i: *mut i64,
) {
    // SAFETY: `ndim` numbers at both.
    let Ok((index, strides)) =
        (unsafe { values(index, ndim.into()).and_then(|index| Ok((index, values(strides, ndim.into())?))) })
    else {
        return;
    };
    let sum = index.iter().zip(strides).fold(0i64, |sum, (a, b)| sum.wrapping_add(a.wrapping_mul(*b)));
    // SAFETY: null or writable, as the caller promises.
    unsafe { put(i, sum) };
}

type Kernel = fn(usize, &[u8], &mut [u8]) -> core::result::Result<(), filter::FilterError>;

/// # Safety
/// `blocksize` bytes are readable at `src` and writable at `dest`; they do not overlap.
unsafe fn raw_filter(
    typesize: i32,
    blocksize: i32,
    src: *const c_void,
    dest: *mut c_void,
    kernel: Kernel,
) -> i32 {
    int(|| {
        if !(1..=256).contains(&typesize) || blocksize < 0 {
            return Err(INVALID_PARAM);
        }
        // SAFETY: as the caller promises.
        let (src, dest) = unsafe { (bytes(src, blocksize.into())?, bytes_mut(dest, blocksize.into())?) };
        kernel(typesize as usize, src, dest).map_err(|_| INVALID_PARAM)?;
        Ok(blocksize)
    })
}

macro_rules! raw_filters {
    ($($name:ident: $kernel:expr;)+) => {$(
        #[unsafe(no_mangle)]
        unsafe extern "C" fn $name(typesize: i32, blocksize: i32, src: *const c_void, dest: *mut c_void) -> i32 {
            // SAFETY: as this function's own arguments.
            unsafe { raw_filter(typesize, blocksize, src, dest, $kernel) }
        }
    )+};
}

raw_filters! {
    blosc2_shuffle: |t, src, dest| filter::shuffle::shuffle(Level::best(), t, src, dest);
    blosc2_unshuffle: |t, src, dest| filter::shuffle::unshuffle(Level::best(), t, src, dest);
    blosc2_bitshuffle: |t, src, dest| filter::bitshuffle::bitshuffle(Level::best(), t, src, dest);
    blosc2_bitunshuffle: |t, src, dest| filter::bitshuffle::bitunshuffle(Level::best(), t, src, dest);
}
