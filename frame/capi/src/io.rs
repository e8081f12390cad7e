//! Back ends of files: the registry of the caller's, and the two of the library for callers to build on.

use crate::abi::{IoCb, StdioFile, StdioMmap};
use crate::error::{NULL_POINTER, PLUGIN_IO, Result, int};
use crate::memory::{allocate, release};
use blosc_frame::{IoError, IoKind};
use core::ffi::{CStr, c_char, c_int, c_long, c_void};
use core::ptr;
use std::ffi::CString;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

/// The first id of back ends that are not the library's.
const FIRST_ID: u8 = 160;

/// The registered back ends. Callers may keep the pointers that `blosc2_get_io_cb` gives, so none is ever moved.
static BACK_ENDS: Mutex<Vec<&'static IoCb>> = Mutex::new(Vec::new());

/// A registered back end with the parameters of one frame.
#[derive(Clone, Copy)]
pub struct BackEnd {
    functions: &'static IoCb,
    params: *mut c_void,
}

// SAFETY: the pointer is only handed to the caller's functions, which the interface calls from any thread.
unsafe impl Send for BackEnd {}
// SAFETY: the interface allows the functions to be called with the same parameters from several threads.
unsafe impl Sync for BackEnd {}

/// An open file of a back end; it is closed when it is dropped.
pub struct Stream {
    functions: &'static IoCb,
    stream: *mut c_void,
}

impl BackEnd {
    /// The back end `id`, if it is registered.
    pub fn of(id: u8, params: *mut c_void) -> Result<BackEnd> {
        let list = BACK_ENDS.lock().unwrap_or_else(PoisonError::into_inner);
        let functions = list.iter().find(|known| known.id == id).copied().ok_or(PLUGIN_IO)?;
        Ok(BackEnd { functions, params })
    }

    pub fn open(&self, path: &Path, mode: &CStr) -> core::result::Result<Stream, IoError> {
        let path = path.to_str().and_then(|path| CString::new(path).ok()).ok_or(IoKind::Name)?;
        let open = self.functions.open.ok_or(IoKind::Other)?;
        // SAFETY: the caller's function, with strings and the parameters that it registered them for.
        let stream = unsafe { open(path.as_ptr(), mode.as_ptr(), self.params) };
        if stream.is_null() {
            Err(IoKind::NotFound.into())
        } else {
            Ok(Stream { functions: self.functions, stream })
        }
    }
}

impl Stream {
    pub fn size(&self) -> core::result::Result<u64, IoError> {
        let size = self.functions.size.ok_or(IoKind::Other)?;
        // SAFETY: the caller's function on a stream that its `open` returned.
        u64::try_from(unsafe { size(self.stream) }).map_err(|_| IoKind::Other.into())
    }

    /// Fills `buf` with what lies at `position`.
    pub fn read(&self, position: u64, buf: &mut [u8]) -> core::result::Result<(), IoError> {
        if buf.is_empty() {
            return Ok(());
        }
        let read = self.functions.read.ok_or(IoKind::Other)?;
        let (len, position) = (buf.len() as i64, i64::try_from(position).map_err(|_| IoKind::UnexpectedEnd)?);
        let own = buf.as_mut_ptr().cast::<c_void>();
        let mut place = if self.functions.is_allocation_necessary { own } else { ptr::null_mut() };
        // SAFETY: the caller's function on its stream, with room for `len` bytes or a place for its own pointer.
        let n = unsafe { read(&raw mut place, 1, len, position, self.stream) };
        if n != len || place.is_null() {
            return Err(IoKind::UnexpectedEnd.into());
        }
        if place != own {
            // SAFETY: the back end says that `len` bytes lie there, and they are not those of `buf`.
            unsafe { ptr::copy_nonoverlapping(place.cast_const().cast(), buf.as_mut_ptr(), buf.len()) };
        }
        Ok(())
    }

    pub fn write(&self, position: u64, data: &[u8]) -> core::result::Result<(), IoError> {
        let write = self.functions.write.ok_or(IoKind::Other)?;
        let (len, position) = (data.len() as i64, i64::try_from(position).map_err(|_| IoKind::NoSpace)?);
        // SAFETY: the caller's function on its stream, with `len` readable bytes.
        let n = unsafe { write(data.as_ptr().cast(), 1, len, position, self.stream) };
        if n == len { Ok(()) } else { Err(IoKind::NoSpace.into()) }
    }

    pub fn truncate(&self, len: u64) -> core::result::Result<(), IoError> {
        let truncate = self.functions.truncate.ok_or(IoKind::Other)?;
        let len = i64::try_from(len).map_err(|_| IoKind::NoSpace)?;
        // SAFETY: the caller's function on a stream that its `open` returned.
        if unsafe { truncate(self.stream, len) } == 0 { Ok(()) } else { Err(IoKind::Other.into()) }
    }
}

impl Drop for Stream {
    fn drop(&mut self) {
        if let Some(close) = self.functions.close {
            // SAFETY: the caller's function on a stream that its `open` returned, once.
            unsafe { close(self.stream) };
        }
    }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn blosc2_register_io_cb(io: *const IoCb) -> c_int {
    int(|| {
        // SAFETY: null or a valid structure, as the interface says.
        let io = unsafe { io.as_ref() }.ok_or(NULL_POINTER)?;
        if io.id < FIRST_ID {
            return Err(PLUGIN_IO);
        }
        let mut list = BACK_ENDS.lock().unwrap_or_else(PoisonError::into_inner);
        if list.iter().all(|known| known.id != io.id) {
            list.push(Box::leak(Box::new(*io)));
        }
        Ok(0)
    })
}

/// The functions of the back end `id`; null if there is none.
#[unsafe(no_mangle)]
extern "C" fn blosc2_get_io_cb(id: u8) -> *const IoCb {
    match id {
        0 => &raw const FILES,
        1 => &raw const MAPS,
        _ => BackEnd::of(id, ptr::null_mut()).map_or(ptr::null(), |found| ptr::from_ref(found.functions)),
    }
}

static FILES: IoCb = IoCb {
    id: 0,
    name: c"filesystem".as_ptr().cast_mut(),
    is_allocation_necessary: true,
    open: Some(blosc2_stdio_open),
    close: Some(blosc2_stdio_close),
    size: Some(blosc2_stdio_size),
    write: Some(blosc2_stdio_write),
    read: Some(blosc2_stdio_read),
    truncate: Some(blosc2_stdio_truncate),
    destroy: Some(blosc2_stdio_destroy),
};

static MAPS: IoCb = IoCb {
    id: 1,
    name: c"filesystem_mmap".as_ptr().cast_mut(),
    is_allocation_necessary: false,
    open: Some(blosc2_stdio_mmap_open),
    close: Some(blosc2_stdio_mmap_close),
    size: Some(blosc2_stdio_mmap_size),
    write: Some(blosc2_stdio_mmap_write),
    read: Some(blosc2_stdio_mmap_read),
    truncate: Some(blosc2_stdio_mmap_truncate),
    destroy: Some(blosc2_stdio_mmap_destroy),
};

unsafe extern "C" {
    fn fopen(path: *const c_char, mode: *const c_char) -> *mut c_void;
    fn fclose(file: *mut c_void) -> c_int;
    fn fseek(file: *mut c_void, offset: c_long, whence: c_int) -> c_int;
    fn ftell(file: *mut c_void) -> c_long;
    fn fread(place: *mut c_void, size: usize, count: usize, file: *mut c_void) -> usize;
    fn fwrite(place: *const c_void, size: usize, count: usize, file: *mut c_void) -> usize;
    fn fflush(file: *mut c_void) -> c_int;
    fn fileno(file: *mut c_void) -> c_int;
    fn ftruncate(fd: c_int, len: i64) -> c_int;
}

const SEEK_SET: c_int = 0;
const SEEK_END: c_int = 2;

/// The `FILE *` in `stream`, if there is one.
///
/// # Safety
/// `stream` is null or a `blosc2_stdio_file`.
unsafe fn file_of(stream: *mut c_void) -> Option<*mut c_void> {
    // SAFETY: null or valid, as the caller promises.
    let file = unsafe { stream.cast::<StdioFile>().as_ref() }?.file;
    (!file.is_null()).then_some(file)
}

/// How many bytes `nitems` items take, if that is a length.
fn length(size: i64, nitems: i64, position: i64) -> Option<usize> {
    let bytes = size.checked_mul(nitems)?;
    position.checked_add(bytes)?;
    if size < 0 || nitems < 0 || position < 0 { None } else { usize::try_from(bytes).ok() }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn blosc2_stdio_open(
    urlpath: *const c_char,
    mode: *const c_char,
    _params: *mut c_void,
) -> *mut c_void {
    if urlpath.is_null() || mode.is_null() {
        return ptr::null_mut();
    }
    let Ok(place) = allocate(size_of::<StdioFile>()) else { return ptr::null_mut() };
    let place = place.cast::<StdioFile>();
    // SAFETY: two strings; `place` is fresh memory of malloc, given back if there is no file.
    unsafe {
        let file = fopen(urlpath, mode);
        if file.is_null() {
            release(place);
            return ptr::null_mut();
        }
        place.write(StdioFile { file });
    }
    place.cast()
}

#[unsafe(no_mangle)]
unsafe extern "C" fn blosc2_stdio_close(stream: *mut c_void) -> c_int {
    // SAFETY: null or what `blosc2_stdio_open` returned, given back once.
    unsafe {
        let Some(file) = file_of(stream) else { return -1 };
        let closed = fclose(file);
        release(stream);
        closed
    }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn blosc2_stdio_size(stream: *mut c_void) -> i64 {
    // SAFETY: null or an open file, as the caller promises.
    unsafe {
        let Some(file) = file_of(stream) else { return -1 };
        let before = ftell(file);
        if before < 0 || fseek(file, 0, SEEK_END) != 0 {
            return -1;
        }
        let size = ftell(file);
        if fseek(file, before, SEEK_SET) == 0 { size } else { -1 }
    }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn blosc2_stdio_write(
    ptr: *const c_void,
    size: i64,
    nitems: i64,
    position: i64,
    stream: *mut c_void,
) -> i64 {
    // SAFETY: null or an open file; `size * nitems` readable bytes at `ptr`, as the caller promises.
    unsafe {
        let (Some(file), Some(len)) = (file_of(stream), length(size, nitems, position)) else { return 0 };
        if ptr.is_null() || len == 0 || fseek(file, position, SEEK_SET) != 0 {
            return 0;
        }
        // `nitems` fits: the product with `size`, which is not 0, does.
        fwrite(ptr, size as usize, nitems as usize, file) as i64
    }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn blosc2_stdio_read(
    ptr: *mut *mut c_void,
    size: i64,
    nitems: i64,
    position: i64,
    stream: *mut c_void,
) -> i64 {
    // SAFETY: null or an open file; null or a pointer to room for `size * nitems` bytes, as the caller promises.
    unsafe {
        let (Some(file), Some(len)) = (file_of(stream), length(size, nitems, position)) else { return 0 };
        if ptr.is_null() || (*ptr).is_null() || len == 0 || fseek(file, position, SEEK_SET) != 0 {
            return 0;
        }
        fread(*ptr, size as usize, nitems as usize, file) as i64
    }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn blosc2_stdio_truncate(stream: *mut c_void, size: i64) -> c_int {
    // SAFETY: null or an open file, as the caller promises.
    unsafe {
        match file_of(stream) {
            Some(file) if size >= 0 && fflush(file) == 0 => ftruncate(fileno(file), size),
            _ => -1,
        }
    }
}

#[unsafe(no_mangle)]
extern "C" fn blosc2_stdio_destroy(_params: *mut c_void) -> c_int {
    0
}

/// No map is made here: the library itself reads and writes files of this kind by ordinary calls.
#[unsafe(no_mangle)]
extern "C" fn blosc2_stdio_mmap_open(
    _urlpath: *const c_char,
    _mode: *const c_char,
    _params: *mut c_void,
) -> *mut c_void {
    ptr::null_mut()
}

#[unsafe(no_mangle)]
extern "C" fn blosc2_stdio_mmap_close(_stream: *mut c_void) -> c_int {
    0
}

/// Where `len` bytes at `position` of the map lie, if they are in the file.
///
/// # Safety
/// `stream` is null or a valid map.
unsafe fn mapped(stream: *mut c_void, position: i64, len: Option<usize>) -> Option<*mut c_char> {
    // SAFETY: null or valid, as the caller promises.
    let map = unsafe { stream.cast::<StdioMmap>().as_ref() }?;
    let position = usize::try_from(position).ok()?;
    let end = position.checked_add(len?)?;
    if map.addr.is_null() || end > map.file_size || end > map.mapping_size {
        return None;
    }
    Some(map.addr.wrapping_add(position))
}

#[unsafe(no_mangle)]
unsafe extern "C" fn blosc2_stdio_mmap_size(stream: *mut c_void) -> i64 {
    // SAFETY: null or a valid structure, as the caller promises.
    let map = unsafe { stream.cast::<StdioMmap>().as_ref() };
    map.and_then(|map| i64::try_from(map.file_size).ok()).unwrap_or(-1)
}

#[unsafe(no_mangle)]
unsafe extern "C" fn blosc2_stdio_mmap_write(
    ptr: *const c_void,
    size: i64,
    nitems: i64,
    position: i64,
    stream: *mut c_void,
) -> i64 {
    let len = length(size, nitems, position);
    // SAFETY: null or a valid map; `size * nitems` readable bytes at `ptr`, which are not in the map, as the caller promises.
    unsafe {
        let (Some(place), Some(len)) = (mapped(stream, position, len), len) else { return 0 };
        if ptr.is_null() {
            return 0;
        }
        ptr::copy_nonoverlapping(ptr.cast::<c_char>(), place, len);
    }
    nitems
}

#[unsafe(no_mangle)]
unsafe extern "C" fn blosc2_stdio_mmap_read(
    ptr: *mut *mut c_void,
    size: i64,
    nitems: i64,
    position: i64,
    stream: *mut c_void,
) -> i64 {
    if ptr.is_null() {
        return 0;
    }
    // SAFETY: null or a valid map; `ptr` is writable, as the caller promises.
    unsafe {
        let found = mapped(stream, position, length(size, nitems, position));
        ptr.write(found.map_or(ptr::null_mut(), |place| place.cast()));
        if found.is_some() { nitems } else { 0 }
    }
}

#[unsafe(no_mangle)]
extern "C" fn blosc2_stdio_mmap_truncate(_stream: *mut c_void, _size: i64) -> c_int {
    PLUGIN_IO.0
}

#[unsafe(no_mangle)]
extern "C" fn blosc2_stdio_mmap_destroy(_params: *mut c_void) -> c_int {
    -1
}
