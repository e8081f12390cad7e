//! `libblosc` (Blosc 1.x): its context-free functions, which keep no global state.

use crate::library::{Code, LoadError, function, open, text};
use std::ffi::{CString, c_char, c_int, c_void};
use std::path::Path;

type CompressCtx = unsafe extern "C" fn(
    clevel: c_int,
    doshuffle: c_int,
    typesize: usize,
    nbytes: usize,
    src: *const c_void,
    dest: *mut c_void,
    destsize: usize,
    compressor: *const c_char,
    blocksize: usize,
    nthreads: c_int,
) -> c_int;
type DecompressCtx =
    unsafe extern "C" fn(src: *const c_void, dest: *mut c_void, destsize: usize, nthreads: c_int) -> c_int;
type GetItem =
    unsafe extern "C" fn(src: *const c_void, start: c_int, nitems: c_int, dest: *mut c_void) -> c_int;
type Validate = unsafe extern "C" fn(src: *const c_void, cbytes: usize, nbytes: *mut usize) -> c_int;
type Version = unsafe extern "C" fn() -> *const c_char;

/// Most bytes Blosc adds to data it cannot compress.
const OVERHEAD: usize = 16;

/// A loaded `libblosc`.
pub struct Libblosc {
    compress: CompressCtx,
    decompress: DecompressCtx,
    getitem: GetItem,
    validate: Validate,
    version: Version,
}

impl Libblosc {
    /// Loads the library at `path`.
    ///
    /// # Errors
    /// It cannot be loaded, or is not Blosc 1.
    pub fn open(path: impl AsRef<Path>) -> Result<Libblosc, LoadError> {
        let library = open(path.as_ref())?;
        // SAFETY: the types are those of blosc.h 1.21; a library is never unloaded.
        unsafe {
            Ok(Libblosc {
                compress: function(library, "blosc_compress_ctx")?,
                decompress: function(library, "blosc_decompress_ctx")?,
                getitem: function(library, "blosc_getitem")?,
                validate: function(library, "blosc_cbuffer_validate")?,
                version: function(library, "blosc_get_version_string")?,
            })
        }
    }

    /// The library that `BLOSC_LIBBLOSC` names; `None` if it is not set.
    pub fn from_env() -> Option<Result<Libblosc, LoadError>> {
        std::env::var_os("BLOSC_LIBBLOSC").map(|path| Libblosc::open(Path::new(&path)))
    }

    /// Its version, such as "1.21.7.dev".
    pub fn version(&self) -> String {
        // SAFETY: the function takes nothing and returns a constant string.
        unsafe { text((self.version)()) }
    }

    /// Compresses `src` into `dst` with one thread. `filter` is 0 none, 1 shuffle, 2 bitshuffle; `blocksize` 0 is
    /// automatic; `codec` is "blosclz", "lz4", "lz4hc", "zlib", "zstd" or "snappy".
    ///
    /// # Errors
    /// The library's code; 0 if the result does not fit.
    pub fn compress(
        &self,
        (codec, clevel): (&str, i32),
        filter: i32,
        typesize: usize,
        blocksize: usize,
        src: &[u8],
        dst: &mut [u8],
    ) -> Result<usize, Code> {
        let codec = CString::new(codec).map_err(|_| Code::REFUSED)?;
        // SAFETY: both buffers are valid for the lengths given; the codec name is a C string.
        let returned = unsafe {
            (self.compress)(
                clevel,
                filter,
                typesize,
                src.len(),
                src.as_ptr().cast(),
                dst.as_mut_ptr().cast(),
                dst.len(),
                codec.as_ptr(),
                blocksize,
                1,
            )
        };
        if returned == 0 { Err(Code(0)) } else { Code::size(returned, dst.len()) }
    }

    /// Room that is always enough for [`Libblosc::compress`].
    pub fn max_compressed(nbytes: usize) -> usize {
        nbytes + OVERHEAD
    }

    /// Decompresses `chunk` with one thread; returns the size.
    ///
    /// # Errors
    /// The library's code, or [`Code::REFUSED`] where the chunk claims more bytes than it has.
    pub fn decompress(&self, chunk: &[u8], dst: &mut [u8]) -> Result<usize, Code> {
        self.check(chunk)?;
        // SAFETY: the header's size, by which the library bounds its reads, was checked; `dst` is
        // valid for its length.
        let returned =
            unsafe { (self.decompress)(chunk.as_ptr().cast(), dst.as_mut_ptr().cast(), dst.len(), 1) };
        Code::size(returned, dst.len())
    }

    /// Items `start..start + count` of `chunk`; returns the bytes copied.
    ///
    /// # Errors
    /// As [`Libblosc::decompress`]; also refused if `dst` is too small for the items.
    pub fn getitem(&self, chunk: &[u8], start: i32, count: i32, dst: &mut [u8]) -> Result<usize, Code> {
        self.check(chunk)?;
        let typesize = usize::from(*chunk.get(3).ok_or(Code::REFUSED)?);
        let need = usize::try_from(count).ok().and_then(|n| n.checked_mul(typesize));
        if need.is_none_or(|need| need > dst.len()) {
            return Err(Code::REFUSED);
        }
        // SAFETY: as for `decompress`; `dst` holds the items asked for.
        let returned =
            unsafe { (self.getitem)(chunk.as_ptr().cast(), start, count, dst.as_mut_ptr().cast()) };
        Code::size(returned, dst.len())
    }

    /// That the header is sound and its size is the buffer's.
    fn check(&self, chunk: &[u8]) -> Result<(), Code> {
        let mut nbytes = 0;
        // SAFETY: the function reads the header of a buffer of the length given, and checks that length.
        let returned = unsafe { (self.validate)(chunk.as_ptr().cast(), chunk.len(), &mut nbytes) };
        if returned == 0 { Ok(()) } else { Err(Code(returned)) }
    }
}
