//! Frames and arrays in files, read and written by the library itself.

use super::functions::{RawDParams, RawStorage};
use super::{CParams, Libblosc2};
use crate::library::{Code, LoadError, c_len, function};
use std::ffi::{CString, c_char, c_int, c_void};
use std::path::Path;
use std::ptr::{null, null_mut};
use std::sync::Arc;

/// `blosc2_schunk` of blosc2.h, up to the field that is used here.
#[repr(C)]
struct RawSuperChunk {
    version_to_splitmode: [u8; 5],
    typesize: i32,
    blocksize: i32,
    chunksize: i32,
    flags2: u8,
    use_dict: u8,
    filters: [u8; 6],
    filters_meta: [u8; 6],
    nchunks: i64,
    current_nchunk: i64,
    nbytes: i64,
    cbytes: i64,
    data: *mut *mut u8,
    data_len: usize,
    storage: *mut c_void,
    frame: *mut c_void,
    cctx: *mut c_void,
    dctx: *mut c_void,
}

/// `b2nd_array_t` of b2nd.h, up to the field that is used here.
#[repr(C)]
struct RawArray {
    sc: *mut RawSuperChunk,
}

type Slice = unsafe extern "C" fn(
    *const RawArray,
    start: *const i64,
    stop: *const i64,
    buffer: *mut c_void,
    shape: *const i64,
    size: i64,
) -> c_int;
type CreateContext = unsafe extern "C" fn(
    *const RawStorage,
    ndim: i8,
    shape: *const i64,
    chunks: *const i32,
    blocks: *const i32,
    dtype: *const c_char,
    dtype_format: i8,
    metalayers: *const c_void,
    nmetalayers: i32,
) -> *mut c_void;

struct Functions {
    schunk_open: unsafe extern "C" fn(*const c_char) -> *mut RawSuperChunk,
    schunk_append_buffer: unsafe extern "C" fn(*mut c_void, *const c_void, i32) -> i64,
    schunk_decompress_chunk: unsafe extern "C" fn(*mut RawSuperChunk, i64, *mut c_void, i32) -> c_int,
    b2nd_open: unsafe extern "C" fn(*const c_char, *mut *mut RawArray) -> c_int,
    b2nd_free: unsafe extern "C" fn(*mut RawArray) -> c_int,
    b2nd_get_slice_cbuffer: Slice,
    b2nd_create_ctx: CreateContext,
    b2nd_free_ctx: unsafe extern "C" fn(*mut c_void) -> c_int,
    b2nd_from_cbuffer:
        unsafe extern "C" fn(*mut c_void, *mut *mut RawArray, *const c_void, size: i64) -> c_int,
}

/// The library's frames and arrays.
#[derive(Clone)]
pub struct Containers {
    lib: Libblosc2,
    functions: Arc<Functions>,
}

/// Shape, chunks, blocks and NumPy type of an array to be written.
#[derive(Clone, Debug)]
pub struct ArraySpec<'a> {
    /// Items per axis.
    pub shape: &'a [i64],
    /// Items of a chunk per axis.
    pub chunks: &'a [i32],
    /// Items of a block per axis.
    pub blocks: &'a [i32],
    /// Such as `<f4`.
    pub dtype: &'a str,
}

fn c_path(path: &Path) -> Result<CString, Code> {
    CString::new(path.as_os_str().as_encoded_bytes()).map_err(|_| Code::REFUSED)
}

impl Libblosc2 {
    /// Its functions for files.
    ///
    /// # Errors
    /// The library lacks one of them.
    pub fn containers(&self) -> Result<Containers, LoadError> {
        let library = &self.0.library;
        // SAFETY: the types are those of blosc2.h and b2nd.h 3.3; the library is kept beside the functions.
        let functions = unsafe {
            Functions {
                schunk_open: function(library, "blosc2_schunk_open")?,
                schunk_append_buffer: function(library, "blosc2_schunk_append_buffer")?,
                schunk_decompress_chunk: function(library, "blosc2_schunk_decompress_chunk")?,
                b2nd_open: function(library, "b2nd_open")?,
                b2nd_free: function(library, "b2nd_free")?,
                b2nd_get_slice_cbuffer: function(library, "b2nd_get_slice_cbuffer")?,
                b2nd_create_ctx: function(library, "b2nd_create_ctx")?,
                b2nd_free_ctx: function(library, "b2nd_free_ctx")?,
                b2nd_from_cbuffer: function(library, "b2nd_from_cbuffer")?,
            }
        };
        Ok(Containers { lib: self.clone(), functions: Arc::new(functions) })
    }
}

impl Containers {
    /// Opens a frame: a file, or a directory.
    ///
    /// # Errors
    /// The library refuses it.
    pub fn open_frame(&self, path: &Path, threads: i16) -> Result<Frame, Code> {
        let path = c_path(path)?;
        // SAFETY: the path is a C string that lives through the call.
        let pointer = unsafe { (self.functions.schunk_open)(path.as_ptr()) };
        if pointer.is_null() {
            return Err(Code::REFUSED);
        }
        self.set_threads(pointer, threads);
        Ok(Frame { all: self.clone(), pointer })
    }

    /// Opens an array.
    ///
    /// # Errors
    /// The library's code.
    pub fn open_array(&self, path: &Path, threads: i16) -> Result<Array, Code> {
        let path = c_path(path)?;
        let mut pointer = null_mut();
        // SAFETY: the path is a C string that lives through the call, which stores an array of its own.
        let code = unsafe { (self.functions.b2nd_open)(path.as_ptr(), &mut pointer) };
        if code < 0 || pointer.is_null() {
            return Err(Code(code));
        }
        // SAFETY: the library returned an array; its first field is the super-chunk.
        self.set_threads(unsafe { (*pointer).sc }, threads);
        Ok(Array { all: self.clone(), pointer })
    }

    /// What python-blosc2 does with `dparams`: another decompression context takes the place of the first.
    fn set_threads(&self, pointer: *mut RawSuperChunk, nthreads: i16) {
        let f = &*self.lib.0;
        let schunk = pointer.cast();
        let params = RawDParams { nthreads, schunk, postfilter: null(), postparams: null_mut(), typesize: 0 };
        // SAFETY: `pointer` is an open super-chunk laid out as in blosc2.h; the new context replaces the old
        // one, which nothing else refers to.
        unsafe {
            let made = (f.create_dctx)(params);
            if !made.is_null() {
                (f.free_ctx)((*pointer).dctx);
                (*pointer).dctx = made;
            }
        }
    }

    /// Writes a new frame file of chunks that hold `data`, `chunksize` bytes each.
    ///
    /// # Errors
    /// The library's code.
    pub fn write_frame(
        &self,
        path: &Path,
        params: &CParams,
        data: &[u8],
        chunksize: usize,
    ) -> Result<(), Code> {
        let path = c_path(path)?;
        let (mut cparams, f) = (params.raw(null_mut()), &*self.lib.0);
        let mut storage = RawStorage {
            contiguous: true,
            urlpath: path.as_ptr().cast_mut(),
            cparams: &mut cparams,
            dparams: null_mut(),
            io: null_mut(),
        };
        // SAFETY: `storage` and what it points to live through the call, which copies them.
        let schunk = unsafe { (f.schunk_new)(&mut storage) };
        if schunk.is_null() {
            return Err(Code::REFUSED);
        }
        let mut result = Ok(());
        for piece in data.chunks(chunksize.max(1)) {
            let len = c_len(piece.len())?;
            // SAFETY: the super-chunk is open and the piece is valid for its length.
            let n = unsafe { (self.functions.schunk_append_buffer)(schunk, piece.as_ptr().cast(), len) };
            if n < 0 {
                result = Err(Code(i32::try_from(n).unwrap_or(-1)));
                break;
            }
        }
        // SAFETY: made above, freed once.
        unsafe { (f.schunk_free)(schunk) };
        result
    }

    /// Writes a new array file.
    ///
    /// # Errors
    /// The library's code, or refused where the numbers of axes differ.
    pub fn write_array(
        &self,
        path: &Path,
        params: &CParams,
        spec: &ArraySpec<'_>,
        data: &[u8],
    ) -> Result<(), Code> {
        let ndim = i8::try_from(spec.shape.len()).ok().filter(|n| *n <= 8).ok_or(Code::REFUSED)?;
        let items: i64 = spec.shape.iter().product();
        let size = i64::try_from(data.len()).map_err(|_| Code::REFUSED)?;
        let fits = spec.chunks.len() == spec.shape.len() && spec.blocks.len() == spec.shape.len();
        if !fits || items.checked_mul(params.typesize.into()) != Some(size) {
            return Err(Code::REFUSED);
        }
        let path = c_path(path)?;
        let dtype = CString::new(spec.dtype).map_err(|_| Code::REFUSED)?;
        let mut cparams = params.raw(null_mut());
        let mut dparams = RawDParams {
            nthreads: params.nthreads,
            schunk: null_mut(),
            postfilter: null(),
            postparams: null_mut(),
            typesize: 0,
        };
        let storage = RawStorage {
            contiguous: true,
            urlpath: path.as_ptr().cast_mut(),
            cparams: &mut cparams,
            dparams: &mut dparams,
            io: null_mut(),
        };
        let f = &*self.functions;
        // SAFETY: every list has `ndim` numbers, everything lives through the call, which copies it.
        let context = unsafe {
            (f.b2nd_create_ctx)(
                &storage,
                ndim,
                spec.shape.as_ptr(),
                spec.chunks.as_ptr(),
                spec.blocks.as_ptr(),
                dtype.as_ptr(),
                0,
                null(),
                0,
            )
        };
        if context.is_null() {
            return Err(Code::REFUSED);
        }
        let mut array = null_mut();
        // SAFETY: the context was just made; `data` is valid for `size` bytes, all that the shape demands.
        let code = unsafe { (f.b2nd_from_cbuffer)(context, &mut array, data.as_ptr().cast(), size) };
        // SAFETY: both were made above and are freed once.
        unsafe {
            if !array.is_null() {
                (f.b2nd_free)(array);
            }
            (f.b2nd_free_ctx)(context);
        }
        if code < 0 { Err(Code(code)) } else { Ok(()) }
    }
}

/// An open frame.
pub struct Frame {
    all: Containers,
    pointer: *mut RawSuperChunk,
}

impl Frame {
    /// Number of chunks.
    pub fn nchunks(&self) -> i64 {
        // SAFETY: the pointer is an open super-chunk.
        unsafe { (*self.pointer).nchunks }
    }

    /// Decodes all chunks behind each other into `dst`; returns the bytes.
    ///
    /// # Errors
    /// The library's code.
    pub fn read_all(&mut self, dst: &mut [u8]) -> Result<usize, Code> {
        let mut at = 0;
        for k in 0..self.nchunks() {
            let rest = dst.get_mut(at..).ok_or(Code::REFUSED)?;
            let room = i32::try_from(rest.len()).unwrap_or(i32::MAX);
            let to = rest.as_mut_ptr().cast();
            // SAFETY: the super-chunk is open and `rest` is valid for `room` bytes.
            let n = unsafe { (self.all.functions.schunk_decompress_chunk)(self.pointer, k, to, room) };
            at += Code::size(n, rest.len())?;
        }
        Ok(at)
    }
}

impl Drop for Frame {
    fn drop(&mut self) {
        // SAFETY: opened by the library, freed once.
        unsafe { (self.all.lib.0.schunk_free)(self.pointer.cast()) };
    }
}

/// An open array.
pub struct Array {
    all: Containers,
    pointer: *mut RawArray,
}

impl Array {
    /// The box from `start` to `stop`, in C order, into `dst`.
    ///
    /// # Errors
    /// The library's code, or refused for a box of other than `dst.len() / typesize` items.
    pub fn slice(
        &mut self,
        typesize: usize,
        start: &[i64],
        stop: &[i64],
        dst: &mut [u8],
    ) -> Result<usize, Code> {
        let shape: Vec<i64> = start.iter().zip(stop).map(|(a, b)| b - a).collect();
        let size = i64::try_from(dst.len()).map_err(|_| Code::REFUSED)?;
        let items: i64 = shape.iter().product();
        if start.len() != stop.len() || i64::try_from(typesize).map(|t| t * items) != Ok(size) {
            return Err(Code::REFUSED);
        }
        let to = dst.as_mut_ptr().cast();
        // SAFETY: the array is open; the lists have as many numbers as the caller's array has axes, and `dst`
        // is valid for the bytes of the box.
        let code = unsafe {
            (self.all.functions.b2nd_get_slice_cbuffer)(
                self.pointer,
                start.as_ptr(),
                stop.as_ptr(),
                to,
                shape.as_ptr(),
                size,
            )
        };
        if code < 0 { Err(Code(code)) } else { Ok(dst.len()) }
    }
}

impl Drop for Array {
    fn drop(&mut self) {
        // SAFETY: opened by the library, freed once.
        unsafe { (self.all.functions.b2nd_free)(self.pointer) };
    }
}
