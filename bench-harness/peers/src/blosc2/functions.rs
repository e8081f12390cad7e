//! What is called of `libblosc2`: its functions, and the structures they take, as blosc2.h declares them.

use crate::library::{LoadError, function};
use std::ffi::{c_char, c_int, c_void};

/// `blosc2_cparams` of blosc2.h.
#[repr(C)]
pub(super) struct RawCParams {
    pub compcode: u8,
    pub compcode_meta: u8,
    pub clevel: u8,
    pub use_dict: c_int,
    pub typesize: i32,
    pub nthreads: i16,
    pub blocksize: i32,
    pub splitmode: i32,
    pub schunk: *mut c_void,
    pub filters: [u8; 6],
    pub filters_meta: [u8; 6],
    pub prefilter: *const c_void,
    pub preparams: *mut c_void,
    pub tuner_params: *mut c_void,
    pub tuner_id: c_int,
    pub instr_codec: bool,
    pub codec_params: *mut c_void,
    pub filter_params: [*mut c_void; 6],
}

/// `blosc2_dparams` of blosc2.h.
#[repr(C)]
pub(super) struct RawDParams {
    pub nthreads: i16,
    pub schunk: *mut c_void,
    pub postfilter: *const c_void,
    pub postparams: *mut c_void,
    pub typesize: i32,
}

/// `blosc2_storage` of blosc2.h.
#[repr(C)]
pub(super) struct RawStorage {
    pub contiguous: bool,
    pub urlpath: *mut c_char,
    pub cparams: *mut RawCParams,
    pub dparams: *mut RawDParams,
    pub io: *mut c_void,
}

pub(super) type Void = *const c_void;
type Filter = unsafe extern "C" fn(typesize: i32, blocksize: i32, src: Void, dest: *mut c_void) -> i32;
type Fill = unsafe extern "C" fn(RawCParams, nbytes: i32, dest: *mut c_void, destsize: i32) -> c_int;
type Convert = unsafe extern "C" fn(*mut c_void, src: Void, i32, dest: *mut c_void, i32) -> c_int;
type GetItem =
    unsafe extern "C" fn(*mut c_void, src: Void, i32, start: c_int, count: c_int, *mut c_void, i32) -> c_int;
type MetaAdd = unsafe extern "C" fn(*mut c_void, name: *const c_char, content: *mut u8, i32) -> c_int;

/// The functions used, by their names without the prefix `blosc2_`.
pub(super) struct Functions {
    pub create_cctx: unsafe extern "C" fn(RawCParams) -> *mut c_void,
    pub create_dctx: unsafe extern "C" fn(RawDParams) -> *mut c_void,
    pub free_ctx: unsafe extern "C" fn(*mut c_void),
    pub compress_ctx: Convert,
    pub decompress_ctx: Convert,
    pub getitem_ctx: GetItem,
    pub set_maskout: unsafe extern "C" fn(*mut c_void, *mut bool, c_int) -> c_int,
    pub vlcompress_ctx: unsafe extern "C" fn(
        *mut c_void,
        *const Void,
        sizes: *const i32,
        count: i32,
        *mut c_void,
        i32,
    ) -> c_int,
    pub vldecompress_block_ctx:
        unsafe extern "C" fn(*mut c_void, src: Void, i32, index: i32, *mut *mut u8, *mut i32) -> c_int,
    pub chunk_zeros: Fill,
    pub chunk_nans: Fill,
    pub chunk_uninit: Fill,
    pub(super) chunk_repeatval:
        unsafe extern "C" fn(RawCParams, i32, dest: *mut c_void, i32, value: Void) -> c_int,
    pub shuffle: Filter,
    pub unshuffle: Filter,
    pub bitshuffle: Filter,
    pub bitunshuffle: Filter,
    pub get_version_string: unsafe extern "C" fn() -> *const c_char,
    pub error_string: unsafe extern "C" fn(c_int) -> *const c_char,
    pub schunk_new: unsafe extern "C" fn(*mut RawStorage) -> *mut c_void,
    pub schunk_free: unsafe extern "C" fn(*mut c_void) -> c_int,
    pub meta_add: MetaAdd,
    /// Keeps the functions above callable.
    pub library: &'static libloading::Library,
}

impl Functions {
    /// Finds the functions in a loaded library.
    ///
    /// # Errors
    /// The library lacks one of them.
    pub(super) fn load(library: &'static libloading::Library) -> Result<Functions, LoadError> {
        // SAFETY: the types of the fields are those of blosc2.h 3.3; `library::open` never unloads a library.
        unsafe {
            Ok(Functions {
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
            })
        }
    }
}
