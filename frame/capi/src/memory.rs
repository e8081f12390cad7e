//! From pointers and lengths to slices, and memory that callers release with C's `free`.

use crate::error::{INVALID_PARAM, MEMORY_ALLOC, NULL_POINTER, Result};
use core::ffi::{CStr, c_char, c_void};
use core::{ptr, slice};

unsafe extern "C" {
    fn malloc(size: usize) -> *mut c_void;
    fn free(ptr: *mut c_void);
}

/// `n` as a number of values that memory can hold: `isize::MAX` bytes at most, as the language asks of any slice.
fn count<T>(n: i64) -> Result<usize> {
    let most = isize::MAX as usize / size_of::<T>().max(1);
    usize::try_from(n).ok().filter(|&n| n <= most).ok_or(INVALID_PARAM)
}

/// The `len` bytes at `ptr`, which may be null if there are none.
///
/// # Safety
/// `len` bytes at `ptr` are readable and stay unchanged for `'a`.
pub unsafe fn bytes<'a>(ptr: *const c_void, len: i64) -> Result<&'a [u8]> {
    let len = count::<u8>(len)?;
    if len == 0 {
        return Ok(&[]);
    }
    if ptr.is_null() {
        return Err(NULL_POINTER);
    }
    // SAFETY: not null, not longer than `isize::MAX` by `count`, readable as the caller promises.
    Ok(unsafe { slice::from_raw_parts(ptr.cast(), len) })
}

/// The `len` writable bytes at `ptr`. Bytes that C never wrote count as having some value: the library does not read
/// them, and the compiler cannot see whether they were written, as they come through a C interface.
///
/// # Safety
/// `len` bytes at `ptr` are writable, and no other reference to them lives, for `'a`.
pub unsafe fn bytes_mut<'a>(ptr: *mut c_void, len: i64) -> Result<&'a mut [u8]> {
    let len = count::<u8>(len)?;
    if len == 0 {
        return Ok(&mut []);
    }
    if ptr.is_null() {
        return Err(NULL_POINTER);
    }
    // SAFETY: not null, not longer than `isize::MAX` by `count`, writable and unshared as the caller promises.
    Ok(unsafe { slice::from_raw_parts_mut(ptr.cast(), len) })
}

/// `count` values at `ptr`.
///
/// # Safety
/// They are readable, aligned, and stay unchanged for `'a`.
pub unsafe fn values<'a, T>(ptr: *const T, count: i64) -> Result<&'a [T]> {
    let count = self::count::<T>(count)?;
    if count == 0 {
        return Ok(&[]);
    }
    if ptr.is_null() {
        return Err(NULL_POINTER);
    }
    // SAFETY: not null, not longer than `isize::MAX` by `count`, readable as the caller promises.
    Ok(unsafe { slice::from_raw_parts(ptr, count) })
}

/// The string at `ptr`, which must be UTF-8.
///
/// # Safety
/// `ptr` is null or a string that stays unchanged for `'a`.
pub unsafe fn text<'a>(ptr: *const c_char) -> Result<&'a str> {
    if ptr.is_null() {
        return Err(NULL_POINTER);
    }
    // SAFETY: a string, as the caller promises.
    unsafe { CStr::from_ptr(ptr) }.to_str().map_err(|_| INVALID_PARAM)
}

/// What follows `file:///`, or `path` as it is. C-Blosc2 counts the third slash to the prefix: the rest may be relative.
pub fn plain_path(path: &str) -> &str {
    path.strip_prefix("file:///").unwrap_or(path)
}

/// Writes where `place` points, if anywhere.
///
/// # Safety
/// `place` is null or writable.
pub unsafe fn put<T>(place: *mut T, value: T) {
    if !place.is_null() {
        // SAFETY: not null, and writable as the caller promises.
        unsafe { place.write(value) };
    }
}

/// Where a result is to be written, which must not be null.
pub fn needed<T>(place: *mut T) -> Result<*mut T> {
    if place.is_null() { Err(NULL_POINTER) } else { Ok(place) }
}

/// Puts a copy of `bytes`, which `free` takes back, where `place` points, if anywhere.
///
/// # Safety
/// `place` is null or writable.
pub unsafe fn hand_out<T>(place: *mut *mut T, bytes: &[u8]) -> Result<()> {
    if !place.is_null() {
        // SAFETY: not null, and writable as the caller promises.
        unsafe { place.write(copied(bytes)?.cast()) };
    }
    Ok(())
}

/// A vector of `len` zeros, or an error where memory is short: callers ask for any length.
pub fn zeros(len: usize) -> Result<Vec<u8>> {
    let mut new = Vec::new();
    new.try_reserve_exact(len).map_err(|_| MEMORY_ALLOC)?;
    new.resize(len, 0);
    Ok(new)
}

/// Room for `len` bytes that `free` takes back.
pub fn allocate(len: usize) -> Result<*mut u8> {
    // SAFETY: `malloc` takes any length; 0 is asked for as 1, so that null means that memory is short.
    let ptr = unsafe { malloc(len.max(1)) };
    if ptr.is_null() { Err(MEMORY_ALLOC) } else { Ok(ptr.cast()) }
}

/// A copy of `bytes` that `free` takes back.
pub fn copied(bytes: &[u8]) -> Result<*mut u8> {
    let ptr = allocate(bytes.len())?;
    // SAFETY: `ptr` is fresh and has room for `bytes.len()` bytes.
    unsafe { ptr::copy_nonoverlapping(bytes.as_ptr(), ptr, bytes.len()) };
    Ok(ptr)
}

/// A copy of `text` as a C string that `free` takes back.
pub fn string(text: &str) -> Result<*mut c_char> {
    let mut bytes = text.as_bytes().to_vec();
    bytes.push(0);
    Ok(copied(&bytes)?.cast())
}

/// Gives memory of `malloc` back.
///
/// # Safety
/// `ptr` is null or came from `malloc` and was not freed.
pub unsafe fn release<T>(ptr: *mut T) {
    // SAFETY: as the caller promises.
    unsafe { free(ptr.cast()) };
}
