//! `libblosc2`: compression and decompression contexts, special chunks, VL-blocks, filters.

mod containers;

pub use containers::{Array, ArraySpec, Containers, Frame};

use crate::library::{Code, LoadError, c_len, function, open, text};
use std::ffi::{c_char, c_int, c_void};
use std::path::Path;
use std::ptr::{null, null_mut};
use std::sync::Arc;

/// `blosc2_cparams` of blosc2.h.
#[repr(C)]
struct RawCParams {
    compcode: u8,
    compcode_meta: u8,
    clevel: u8,
    use_dict: c_int,
    typesize: i32,
    nthreads: i16,
    blocksize: i32,
    splitmode: i32,
    schunk: *mut c_void,
    filters: [u8; 6],
    filters_meta: [u8; 6],
    prefilter: *const c_void,
    preparams: *mut c_void,
    tuner_params: *mut c_void,
    tuner_id: c_int,
    instr_codec: bool,
    codec_params: *mut c_void,
    filter_params: [*mut c_void; 6],
}

/// `blosc2_dparams` of blosc2.h.
#[repr(C)]
struct RawDParams {
    nthreads: i16,
    schunk: *mut c_void,
    postfilter: *const c_void,
    postparams: *mut c_void,
    typesize: i32,
}

/// `blosc2_storage` of blosc2.h.
#[repr(C)]
struct RawStorage {
    contiguous: bool,
    urlpath: *mut c_char,
    cparams: *mut RawCParams,
    dparams: *mut RawDParams,
    io: *mut c_void,
}

type Void = *const c_void;
type Filter = unsafe extern "C" fn(typesize: i32, blocksize: i32, src: Void, dest: *mut c_void) -> i32;
type Fill = unsafe extern "C" fn(RawCParams, nbytes: i32, dest: *mut c_void, destsize: i32) -> c_int;
type Convert = unsafe extern "C" fn(*mut c_void, src: Void, i32, dest: *mut c_void, i32) -> c_int;
type GetItem =
    unsafe extern "C" fn(*mut c_void, src: Void, i32, start: c_int, count: c_int, *mut c_void, i32) -> c_int;
type MetaAdd = unsafe extern "C" fn(*mut c_void, name: *const c_char, content: *mut u8, i32) -> c_int;

/// The functions used, by their names without the prefix `blosc2_`.
struct Functions {
    create_cctx: unsafe extern "C" fn(RawCParams) -> *mut c_void,
    create_dctx: unsafe extern "C" fn(RawDParams) -> *mut c_void,
    free_ctx: unsafe extern "C" fn(*mut c_void),
    compress_ctx: Convert,
    decompress_ctx: Convert,
    getitem_ctx: GetItem,
    set_maskout: unsafe extern "C" fn(*mut c_void, *mut bool, c_int) -> c_int,
    vlcompress_ctx: unsafe extern "C" fn(
        *mut c_void,
        *const Void,
        sizes: *const i32,
        count: i32,
        *mut c_void,
        i32,
    ) -> c_int,
    vldecompress_block_ctx:
        unsafe extern "C" fn(*mut c_void, src: Void, i32, index: i32, *mut *mut u8, *mut i32) -> c_int,
    chunk_zeros: Fill,
    chunk_nans: Fill,
    chunk_uninit: Fill,
    chunk_repeatval: unsafe extern "C" fn(RawCParams, i32, dest: *mut c_void, i32, value: Void) -> c_int,
    shuffle: Filter,
    unshuffle: Filter,
    bitshuffle: Filter,
    bitunshuffle: Filter,
    get_version_string: unsafe extern "C" fn() -> *const c_char,
    error_string: unsafe extern "C" fn(c_int) -> *const c_char,
    schunk_new: unsafe extern "C" fn(*mut RawStorage) -> *mut c_void,
    schunk_free: unsafe extern "C" fn(*mut c_void) -> c_int,
    meta_add: MetaAdd,
    /// Keeps the functions above callable.
    library: &'static libloading::Library,
}

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

/// A destination shorter than this is swapped for one with this much room behind it.
const SLACK: usize = 4096;

impl Libblosc2 {
    /// Loads the library at `path`.
    ///
    /// # Errors
    /// It cannot be loaded, or lacks a function of C-Blosc2 3.3.
    pub fn open(path: impl AsRef<Path>) -> Result<Libblosc2, LoadError> {
        let library = open(path.as_ref())?;
        // SAFETY: the types are those of blosc2.h 3.3; a library is never unloaded.
        let functions = unsafe {
            Functions {
                create_cctx: function(library, "blosc2_create_cctx")?,
                create_dctx: function(library, "blosc2_create_dctx")?,
                free_ctx: function(library, "blosc2_free_ctx")?,
                compress_ctx: function(library, "blosc2_compress_ctx")?,
                decompress_ctx: function(library, "blosc2_decompress_ctx")?,
                getitem_ctx: function(library, "blosc2_getitem_ctx")?,
                set_maskout: function(library, "blosc2_set_maskout")?,
                vlcompress_ctx: function(library, "blosc2_vlcompress_ctx")?,
                vldecompress_block_ctx: function(library, "blosc2_vldecompress_block_ctx")?,
                chunk_zeros: function(library, "blosc2_chunk_zeros")?,
                chunk_nans: function(library, "blosc2_chunk_nans")?,
                chunk_uninit: function(library, "blosc2_chunk_uninit")?,
                chunk_repeatval: function(library, "blosc2_chunk_repeatval")?,
                shuffle: function(library, "blosc2_shuffle")?,
                unshuffle: function(library, "blosc2_unshuffle")?,
                bitshuffle: function(library, "blosc2_bitshuffle")?,
                bitunshuffle: function(library, "blosc2_bitunshuffle")?,
                get_version_string: function(library, "blosc2_get_version_string")?,
                error_string: function(library, "blosc2_error_string")?,
                schunk_new: function(library, "blosc2_schunk_new")?,
                schunk_free: function(library, "blosc2_schunk_free")?,
                meta_add: function(library, "blosc2_meta_add")?,
                library,
            }
        };
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

    /// A context that compresses with `params`.
    ///
    /// # Errors
    /// The library refuses the parameters.
    pub fn compressor(&self, params: &CParams) -> Result<Compressor, Code> {
        let context = Context::compress(self, params, null_mut())?;
        Ok(Compressor { context, params: *params, scratch: Vec::new(), _array: None })
    }

    /// A context that compresses blocks of an array, for filters and codecs that need to know its shape.
    ///
    /// # Errors
    /// The library refuses the parameters.
    pub fn compressor_in(&self, params: &CParams, array: &ArrayShape) -> Result<Compressor, Code> {
        let context = Context::compress(self, params, array.0.pointer)?;
        Ok(Compressor { context, params: *params, scratch: Vec::new(), _array: Some(array.clone()) })
    }

    /// A context that decompresses with `threads` threads.
    ///
    /// # Errors
    /// The library cannot allocate it.
    pub fn decompressor(&self, threads: i16) -> Result<Decompressor, Code> {
        Ok(Decompressor {
            context: Context::decompress(self, threads, null_mut())?,
            mask: Vec::new(),
            _array: None,
        })
    }

    /// A context that decompresses chunks of an array.
    ///
    /// # Errors
    /// The library cannot allocate it.
    pub fn decompressor_in(&self, threads: i16, array: &ArrayShape) -> Result<Decompressor, Code> {
        let context = Context::decompress(self, threads, array.0.pointer)?;
        Ok(Decompressor { context, mask: Vec::new(), _array: Some(array.clone()) })
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
// SAFETY: as above.
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

/// A context of either kind.
struct Context {
    lib: Libblosc2,
    pointer: *mut c_void,
}

// SAFETY: a context may be used from any one thread at a time, and `&mut self` everywhere gives that.
unsafe impl Send for Context {}

impl Context {
    fn compress(lib: &Libblosc2, params: &CParams, schunk: *mut c_void) -> Result<Context, Code> {
        // SAFETY: the parameters are passed by value; `schunk` is null or outlives the context.
        Context::checked(lib, unsafe { (lib.0.create_cctx)(params.raw(schunk)) })
    }

    fn decompress(lib: &Libblosc2, nthreads: i16, schunk: *mut c_void) -> Result<Context, Code> {
        let params = RawDParams { nthreads, schunk, postfilter: null(), postparams: null_mut(), typesize: 0 };
        // SAFETY: as above.
        Context::checked(lib, unsafe { (lib.0.create_dctx)(params) })
    }

    fn checked(lib: &Libblosc2, pointer: *mut c_void) -> Result<Context, Code> {
        if pointer.is_null() { Err(Code::REFUSED) } else { Ok(Context { lib: lib.clone(), pointer }) }
    }
}

impl Drop for Context {
    fn drop(&mut self) {
        // SAFETY: made by `create_cctx` or `create_dctx`, freed once.
        unsafe { (self.lib.0.free_ctx)(self.pointer) };
    }
}

/// A reusable compression context.
pub struct Compressor {
    context: Context,
    params: CParams,
    scratch: Vec<u8>,
    _array: Option<ArrayShape>,
}

impl Compressor {
    /// Compresses `src` into `dst`; `src.len() + OVERHEAD` bytes always suffice.
    ///
    /// Pipelines of three or more filters write into their *source* (defect B7 of `docs/formats/chunk.md`), so those
    /// work on a copy here.
    ///
    /// # Errors
    /// The library's code; 0 if the result does not fit.
    pub fn compress(&mut self, src: &[u8], dst: &mut [u8]) -> Result<usize, Code> {
        if self.params.filters.iter().filter(|&&f| f != 0).count() >= 3 {
            let mut copy = std::mem::take(&mut self.scratch);
            copy.clear();
            copy.extend_from_slice(src);
            let result = self.compress_spoiling(&mut copy, dst);
            self.scratch = copy;
            return result;
        }
        self.run(src.as_ptr(), src.len(), dst)
    }

    /// The same without the copy: `src` may be overwritten.
    ///
    /// # Errors
    /// As [`Compressor::compress`].
    pub fn compress_spoiling(&mut self, src: &mut [u8], dst: &mut [u8]) -> Result<usize, Code> {
        self.run(src.as_mut_ptr(), src.len(), dst)
    }

    /// The library writes its table of block starts before it looks at the room for it: up to four bytes per
    /// byte of tiny data run over a buffer without slack (seen with memcheck, data of one and two bytes).
    fn run(&mut self, src: *const u8, len: usize, dst: &mut [u8]) -> Result<usize, Code> {
        if dst.len() >= SLACK {
            return self.run_unguarded(src, len, dst, dst.len());
        }
        let mut guarded = vec![0; dst.len() + SLACK];
        let written = self.run_unguarded(src, len, &mut guarded, dst.len())?;
        dst[..written].copy_from_slice(&guarded[..written]);
        Ok(written)
    }

    fn run_unguarded(
        &mut self,
        src: *const u8,
        len: usize,
        dst: &mut [u8],
        room: usize,
    ) -> Result<usize, Code> {
        let (len, limit) = (c_len(len)?, c_len(room)?);
        let (f, ctx) = (&self.context.lib.0, self.context.pointer);
        // SAFETY: both buffers are valid for the lengths given (the destination for `SLACK` bytes at least), and
        // the source is writable where the library writes to it (three or more filters).
        let returned = unsafe { (f.compress_ctx)(ctx, src.cast(), len, dst.as_mut_ptr().cast(), limit) };
        if returned == 0 { Err(Code(0)) } else { Code::size(returned, room) }
    }

    /// Compresses blocks of different sizes into one VL chunk.
    ///
    /// # Errors
    /// The library's code; refused at level 0 with blosclz, which crashes the library.
    pub fn compress_vl(&mut self, blocks: &[&[u8]], dst: &mut [u8]) -> Result<usize, Code> {
        if self.params.clevel == 0 || blocks.iter().any(|b| b.is_empty()) {
            return Err(Code::REFUSED);
        }
        let mut copies: Vec<Vec<u8>> = blocks.iter().map(|b| b.to_vec()).collect();
        let sources: Vec<Void> = copies.iter_mut().map(|c| c.as_mut_ptr().cast_const().cast()).collect();
        let sizes = blocks.iter().map(|b| c_len(b.len())).collect::<Result<Vec<i32>, Code>>()?;
        let (count, room) = (c_len(blocks.len())?, c_len(dst.len())?);
        let (f, ctx) = (&self.context.lib.0, self.context.pointer);
        // SAFETY: `count` sources, writable copies of the sizes given, live through the call; `dst` is valid.
        let returned = unsafe {
            (f.vlcompress_ctx)(ctx, sources.as_ptr(), sizes.as_ptr(), count, dst.as_mut_ptr().cast(), room)
        };
        if returned == 0 { Err(Code(0)) } else { Code::size(returned, dst.len()) }
    }
}

/// A reusable decompression context.
pub struct Decompressor {
    context: Context,
    /// The library keeps no copy of a mask in every release.
    mask: Vec<bool>,
    _array: Option<ArrayShape>,
}

impl Decompressor {
    /// Decompresses `chunk`; returns the size.
    ///
    /// # Errors
    /// The library's code.
    pub fn decompress(&mut self, chunk: &[u8], dst: &mut [u8]) -> Result<usize, Code> {
        let (len, room) = (c_len(chunk.len())?, c_len(dst.len())?);
        let (f, ctx) = (&self.context.lib.0, self.context.pointer);
        let to = dst.as_mut_ptr().cast();
        // SAFETY: both buffers are valid for the lengths given, by which the library bounds itself.
        let returned = unsafe { (f.decompress_ctx)(ctx, chunk.as_ptr().cast(), len, to, room) };
        Code::size(returned, dst.len())
    }

    /// Items `start..start + count` in units of the header's typesize; returns the bytes copied.
    ///
    /// # Errors
    /// The library's code.
    pub fn getitem(
        &mut self,
        chunk: &[u8],
        start: usize,
        count: usize,
        dst: &mut [u8],
    ) -> Result<usize, Code> {
        let (start, count) = (c_len(start)?, c_len(count)?);
        let (len, room) = (c_len(chunk.len())?, c_len(dst.len())?);
        let (f, ctx) = (&self.context.lib.0, self.context.pointer);
        let to = dst.as_mut_ptr().cast();
        // SAFETY: both buffers are valid for the lengths given, by which the library bounds itself.
        let returned = unsafe { (f.getitem_ctx)(ctx, chunk.as_ptr().cast(), len, start, count, to, room) };
        Code::size(returned, dst.len())
    }

    /// Skips the blocks marked `true` in the next decompression.
    ///
    /// # Errors
    /// The library's code.
    pub fn set_maskout(&mut self, mask: &[bool]) -> Result<(), Code> {
        self.mask = mask.to_vec();
        let count = c_len(mask.len())?;
        let (f, ctx) = (&self.context.lib.0, self.context.pointer);
        // SAFETY: the mask has `count` entries and stays where it is until the next one replaces it.
        let returned = unsafe { (f.set_maskout)(ctx, self.mask.as_mut_ptr(), count) };
        if returned < 0 { Err(Code(returned)) } else { Ok(()) }
    }

    /// Block `index` of a VL chunk.
    ///
    /// # Errors
    /// The library's code.
    pub fn vl_block(&mut self, chunk: &[u8], index: usize) -> Result<Vec<u8>, Code> {
        unsafe extern "C" {
            fn free(pointer: *mut c_void);
        }
        let (len, index) = (c_len(chunk.len())?, c_len(index)?);
        let (mut block, mut size) = (null_mut(), 0);
        let (f, ctx) = (&self.context.lib.0, self.context.pointer);
        // SAFETY: the chunk is valid for its length; the library stores a block of its own and its size.
        let returned = unsafe {
            (f.vldecompress_block_ctx)(ctx, chunk.as_ptr().cast(), len, index, &mut block, &mut size)
        };
        if returned < 0 || block.is_null() {
            return Err(Code(returned));
        }
        let size = usize::try_from(size).unwrap_or(0);
        // SAFETY: `block` holds `size` bytes from malloc, which are ours to free.
        unsafe {
            let bytes = std::slice::from_raw_parts(block, size).to_vec();
            free(block.cast());
            Ok(bytes)
        }
    }
}
