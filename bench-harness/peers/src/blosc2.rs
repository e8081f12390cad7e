//! `libblosc2`: compression and decompression contexts, special chunks, VL-blocks, filters.

mod containers;
mod contexts;
mod functions;

pub use containers::{Array, ArraySpec, Containers, Frame};
pub use contexts::{Compressor, Decompressor};

use self::functions::{Functions, RawCParams, RawStorage};
use crate::library::{Code, LoadError, c_len, function, open, text};
use std::ffi::c_void;
use std::path::Path;
use std::ptr::{null, null_mut};
use std::sync::Arc;

/// A loaded `libblosc2`; clones share it.
#[derive(Clone)]
pub struct Libblosc2(Arc<Functions>);

/// Parameters of a [`Compressor`], by the numbers of blosc2.h.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CParams {
    /// 0 blosclz, 1 lz4, 2 lz4hc, 4 zlib, 5 zstd, 32 ndlz.
    pub codec: u8,
    /// The codec's parameter byte.
    pub codec_meta: u8,
    /// 0 ..= 9.
    pub clevel: u8,
    /// Whether to train a dictionary.
    pub use_dict: bool,
    /// Item size in bytes.
    pub typesize: i32,
    /// Threads.
    pub nthreads: i16,
    /// Block size in bytes, 0 automatic.
    pub blocksize: i32,
    /// 1 always, 2 never, 3 auto, 4 forward-compatible.
    pub splitmode: i32,
    /// Filter ids in order of application.
    pub filters: [u8; 6],
    /// Their parameter bytes.
    pub filters_meta: [u8; 6],
}

impl Default for CParams {
    fn default() -> Self {
        CParams {
            codec: 0,
            codec_meta: 0,
            clevel: 5,
            use_dict: false,
            typesize: 8,
            nthreads: 1,
            blocksize: 0,
            splitmode: 4,
            filters: [0, 0, 0, 0, 0, 1],
            filters_meta: [0; 6],
        }
    }
}

impl CParams {
    fn raw(&self, schunk: *mut c_void) -> RawCParams {
        RawCParams {
            compcode: self.codec,
            compcode_meta: self.codec_meta,
            clevel: self.clevel,
            use_dict: self.use_dict.into(),
            typesize: self.typesize,
            nthreads: self.nthreads,
            blocksize: self.blocksize,
            splitmode: self.splitmode,
            schunk,
            filters: self.filters,
            filters_meta: self.filters_meta,
            prefilter: null(),
            preparams: null_mut(),
            tuner_params: null_mut(),
            tuner_id: 0,
            instr_codec: false,
            codec_params: null_mut(),
            filter_params: [null_mut(); 6],
        }
    }
}

/// A filter of the library by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kernel {
    /// Byte transposition.
    Shuffle,
    /// Its inverse.
    Unshuffle,
    /// Bit transposition.
    Bitshuffle,
    /// Its inverse.
    Bitunshuffle,
}

/// A chunk without streams.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Special<'a> {
    /// Zeros.
    Zeros,
    /// NaN of 4 or 8 bytes.
    Nan,
    /// Not initialised.
    Uninit,
    /// One value; its length must be the typesize.
    Value(&'a [u8]),
}

/// Most bytes a chunk is longer than its data, when compressed into a buffer of that size.
pub const OVERHEAD: usize = 32;

impl Libblosc2 {
    /// Loads the library at `path`.
    ///
    /// # Errors
    /// It cannot be loaded, or lacks a function of C-Blosc2 3.3.
    pub fn open(path: impl AsRef<Path>) -> Result<Libblosc2, LoadError> {
        let library = open(path.as_ref())?;
        let functions = Functions::load(library)?;
        let init: unsafe extern "C" fn() =
            // SAFETY: `void blosc2_init(void)`; the library is alive.
            unsafe { function(library, "blosc2_init")? };
        // SAFETY: it may be called any number of times; it registers the library's own plugins.
        unsafe { init() };
        Ok(Libblosc2(Arc::new(functions)))
    }

    /// The library that `BLOSC_LIBBLOSC2` names; `None` if it is not set.
    pub fn from_env() -> Option<Result<Libblosc2, LoadError>> {
        std::env::var_os("BLOSC_LIBBLOSC2").map(|path| Libblosc2::open(Path::new(&path)))
    }

    /// Its version, such as "3.3.5".
    pub fn version(&self) -> String {
        // SAFETY: the function takes nothing and returns a constant string.
        unsafe { text((self.0.get_version_string)()) }
    }

    /// What the library says a code means.
    pub fn describe(&self, code: Code) -> String {
        // SAFETY: the function returns a constant string for any code.
        unsafe { text((self.0.error_string)(code.0)) }
    }

    /// What filters and codecs get to know about an array: the typesize in `params`, and the shape of a block.
    ///
    /// # Errors
    /// The library refuses them, or there are more than 8 dimensions.
    pub fn array(&self, params: &CParams, blockshape: &[i32]) -> Result<ArrayShape, Code> {
        let mut cparams = params.raw(null_mut());
        let mut storage = RawStorage {
            contiguous: false,
            urlpath: null_mut(),
            cparams: &mut cparams,
            dparams: null_mut(),
            io: null_mut(),
        };
        // SAFETY: `storage` and what it points to live through the call, which copies them.
        let pointer = unsafe { (self.0.schunk_new)(&mut storage) };
        if pointer.is_null() {
            return Err(Code::REFUSED);
        }
        let array = ArrayShape(Arc::new(SuperChunk { lib: self.clone(), pointer }));
        let mut content = b2nd_metalayer(blockshape)?;
        let len = c_len(content.len())?;
        // SAFETY: the super-chunk was just made; name and content live through the call, which copies them.
        let added = unsafe { (self.0.meta_add)(pointer, c"b2nd".as_ptr(), content.as_mut_ptr(), len) };
        if added < 0 { Err(Code(added)) } else { Ok(array) }
    }

    /// Writes a chunk without streams that stands for `nbytes` bytes.
    ///
    /// # Errors
    /// The library's code, or refused where a value is not one item long.
    pub fn special(
        &self,
        params: &CParams,
        kind: Special<'_>,
        nbytes: usize,
        dst: &mut [u8],
    ) -> Result<usize, Code> {
        let (raw, nbytes, room) = (params.raw(null_mut()), c_len(nbytes)?, c_len(dst.len())?);
        let to: *mut c_void = dst.as_mut_ptr().cast();
        let f = &*self.0;
        // SAFETY: `dst` is valid for `room` bytes, and a value has the `typesize` bytes that are read.
        let returned = unsafe {
            match kind {
                Special::Zeros => (f.chunk_zeros)(raw, nbytes, to, room),
                Special::Nan => (f.chunk_nans)(raw, nbytes, to, room),
                Special::Uninit => (f.chunk_uninit)(raw, nbytes, to, room),
                Special::Value(value) if c_len(value.len())? == params.typesize => {
                    (f.chunk_repeatval)(raw, nbytes, to, room, value.as_ptr().cast())
                }
                Special::Value(_) => return Err(Code::REFUSED),
            }
        };
        Code::size(returned, dst.len())
    }

    /// Runs one of the library's own filters over `src`; `dst` must have its length.
    ///
    /// # Errors
    /// The library's code, or refused for different lengths or a typesize of 0.
    pub fn kernel(&self, kernel: Kernel, typesize: i32, src: &[u8], dst: &mut [u8]) -> Result<(), Code> {
        if src.len() != dst.len() || typesize < 1 {
            return Err(Code::REFUSED);
        }
        let run = match kernel {
            Kernel::Shuffle => self.0.shuffle,
            Kernel::Unshuffle => self.0.unshuffle,
            Kernel::Bitshuffle => self.0.bitshuffle,
            Kernel::Bitunshuffle => self.0.bitunshuffle,
        };
        // SAFETY: both buffers are valid for the length given and do not overlap.
        let returned =
            unsafe { run(typesize, c_len(src.len())?, src.as_ptr().cast(), dst.as_mut_ptr().cast()) };
        if returned < 0 { Err(Code(returned)) } else { Ok(()) }
    }
}

/// The content of the metalayer "b2nd" for an array of one block: 7 fields, no names.
fn b2nd_metalayer(blockshape: &[i32]) -> Result<Vec<u8>, Code> {
    let ndim = u8::try_from(blockshape.len()).ok().filter(|n| (1..=8).contains(n)).ok_or(Code::REFUSED)?;
    let mut content = vec![0x97, 0, ndim, 0x90 + ndim];
    for &extent in blockshape {
        content.push(0xD3);
        content.extend(i64::from(extent).to_be_bytes());
    }
    for _ in ["chunk", "block"] {
        content.push(0x90 + ndim);
        for &extent in blockshape {
            content.push(0xD2);
            content.extend(extent.to_be_bytes());
        }
    }
    let dtype = b"|u1";
    content.extend([0, 0xDB, 0, 0, 0, dtype.len() as u8]);
    content.extend(dtype);
    Ok(content)
}

struct SuperChunk {
    lib: Libblosc2,
    pointer: *mut c_void,
}

// SAFETY: after `array` has made it, contexts only read it, and it may be freed by any thread.
unsafe impl Send for SuperChunk {}
// SAFETY: a shared `SuperChunk` gives out its pointer only, and contexts only read what it points to.
unsafe impl Sync for SuperChunk {}

impl Drop for SuperChunk {
    fn drop(&mut self) {
        // SAFETY: made by `schunk_new`, freed once.
        unsafe { (self.lib.0.schunk_free)(self.pointer) };
    }
}

/// The shape of an array's blocks, in the form the library wants it.
#[derive(Clone)]
pub struct ArrayShape(Arc<SuperChunk>);
