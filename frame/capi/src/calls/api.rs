//! Functions of the interface as C calls them: by their exported names.

use crate::abi::{CParams, Codec, DParams, Io, Schunk, Storage};
use crate::b2nd::{Array, NdContext};
use crate::context::Context;
use crate::runner::ThreadsCallback;
use core::ffi::{c_char, c_int, c_void};

macro_rules! functions {
    ($($name:ident($($argument:ty),*) $(-> $result:ty)?;)+) => {
        // Contexts and arrays are opaque behind their pointers. Tests use what the sequences do not.
        #[allow(improper_ctypes, dead_code)]
        unsafe extern "C" {
            $(pub(crate) fn $name($(_: $argument),*) $(-> $result)?;)+
        }

        /// The functions of one library: this one, or the C library beside it.
        #[cfg(all(test, target_os = "linux"))]
        #[derive(Clone, Copy)]
        #[allow(dead_code)]
        pub(crate) struct Api {
            $(pub(crate) $name: unsafe extern "C" fn($($argument),*) $(-> $result)?,)+
        }

        #[cfg(all(test, target_os = "linux"))]
        impl Api {
            pub(crate) fn ours() -> Api {
                Api { $($name,)+ }
            }

            /// # Safety
            /// `find` gives the functions of a library with the interface of C-Blosc2 3.3, by their names.
            pub(crate) unsafe fn of(find: impl Fn(&str) -> *mut c_void) -> Api {
                // SAFETY: the function of each name has this type, as the caller promises.
                unsafe { Api { $($name: core::mem::transmute_copy(&find(stringify!($name))),)+ } }
            }
        }
    };
}

functions! {
    blosc1_cbuffer_validate(*const c_void, usize, *mut usize) -> c_int;
    blosc1_decompress(*const c_void, *mut c_void, usize) -> c_int;
    blosc1_getitem(*const c_void, c_int, c_int, *mut c_void) -> c_int;
    blosc2_cbuffer_complib(*const c_void) -> *const c_char;
    blosc2_cbuffer_sizes(*const c_void, *mut i32, *mut i32, *mut i32) -> c_int;
    blosc2_chunk_nans(CParams, i32, *mut c_void, i32) -> c_int;
    blosc2_chunk_repeatval(CParams, i32, *mut c_void, i32, *const c_void) -> c_int;
    blosc2_chunk_uninit(CParams, i32, *mut c_void, i32) -> c_int;
    blosc2_chunk_zeros(CParams, i32, *mut c_void, i32) -> c_int;
    blosc2_compcode_to_compname(c_int, *mut *const c_char) -> c_int;
    blosc2_compress_ctx(*mut Context, *const c_void, i32, *mut c_void, i32) -> c_int;
    blosc2_create_cctx(CParams) -> *mut Context;
    blosc2_create_dctx(DParams) -> *mut Context;
    blosc2_decompress(*const c_void, i32, *mut c_void, i32) -> c_int;
    blosc2_decompress_ctx(*mut Context, *const c_void, i32, *mut c_void, i32) -> c_int;
    blosc2_frame_get_offsets(*mut Schunk) -> *mut i64;
    blosc2_free_ctx(*mut Context);
    blosc2_get_complib_info(*const c_char, *mut *mut c_char, *mut *mut c_char) -> c_int;
    blosc2_get_slice_nchunks(*mut Schunk, *const i64, *const i64, *mut *mut i64) -> i64;
    blosc2_getitem(*const c_void, i32, c_int, c_int, *mut c_void, i32) -> c_int;
    blosc2_getitem_bytes_ctx(*mut Context, *const c_void, i32, i32, i32, *mut c_void, i32) -> c_int;
    blosc2_getitem_ctx(*mut Context, *const c_void, i32, c_int, c_int, *mut c_void, i32) -> c_int;
    blosc2_init();
    blosc2_meta_add(*mut Schunk, *const c_char, *const u8, i32) -> c_int;
    blosc2_meta_update(*mut Schunk, *const c_char, *const u8, i32) -> c_int;
    blosc2_register_codec(*const Codec) -> c_int;
    blosc2_register_tuner(*const c_void) -> c_int;
    blosc2_remove_urlpath(*const c_char) -> c_int;
    blosc2_schunk_append_buffer(*mut Schunk, *const c_void, i32) -> i64;
    blosc2_schunk_append_chunk(*mut Schunk, *mut u8, bool) -> i64;
    blosc2_schunk_copy(*mut Schunk, *const Storage) -> *mut Schunk;
    blosc2_schunk_decompress_chunk(*mut Schunk, i64, *mut c_void, i32) -> c_int;
    blosc2_schunk_delete_chunk(*mut Schunk, i64) -> i64;
    blosc2_schunk_fill_special(*mut Schunk, i64, c_int, i32) -> i64;
    blosc2_schunk_frame_len(*mut Schunk) -> i64;
    blosc2_schunk_free(*mut Schunk) -> c_int;
    blosc2_schunk_from_buffer(*mut u8, i64, bool) -> *mut Schunk;
    blosc2_schunk_get_chunk(*mut Schunk, i64, *mut *mut u8, *mut bool) -> c_int;
    blosc2_schunk_get_lazychunk(*mut Schunk, i64, *mut *mut u8, *mut bool) -> c_int;
    blosc2_schunk_get_slice_buffer(*mut Schunk, i64, i64, *mut c_void) -> c_int;
    blosc2_schunk_get_sparse_buffer(*mut Schunk, i64, *const i64, *mut c_void) -> c_int;
    blosc2_schunk_get_vlblock(*mut Schunk, i64, i32, *mut *mut u8, *mut i32) -> c_int;
    blosc2_schunk_insert_chunk(*mut Schunk, i64, *mut u8, bool) -> i64;
    blosc2_schunk_lock(*mut Schunk) -> c_int;
    blosc2_schunk_new(*const Storage) -> *mut Schunk;
    blosc2_schunk_open(*const c_char) -> *mut Schunk;
    blosc2_schunk_open_udio(*const c_char, *const Io) -> *mut Schunk;
    blosc2_schunk_refresh(*mut Schunk) -> c_int;
    blosc2_schunk_reorder_offsets(*mut Schunk, *const i64) -> c_int;
    blosc2_schunk_set_slice_buffer(*mut Schunk, i64, i64, *const c_void) -> c_int;
    blosc2_schunk_to_buffer(*mut Schunk, *mut *mut u8, *mut bool) -> i64;
    blosc2_schunk_unlock(*mut Schunk) -> c_int;
    blosc2_schunk_update_chunk(*mut Schunk, i64, *mut u8, bool) -> i64;
    blosc2_set_maskout(*mut Context, *const u8, c_int) -> c_int;
    blosc2_set_threads_callback(Option<ThreadsCallback>, *mut c_void);
    blosc2_vlchunk_get_nblocks(*const c_void, i32, *mut i32) -> c_int;
    blosc2_vlcompress_ctx(*mut Context, *const *const c_void, *const i32, i32, *mut c_void, i32) -> c_int;
    blosc2_vldecompress_block_ctx(*mut Context, *const c_void, i32, i32, *mut *mut u8, *mut i32) -> c_int;
    blosc2_vldecompress_ctx(*mut Context, *const c_void, i32, *mut *mut c_void, *mut i32, i32) -> c_int;
    blosc2_vlmeta_add(*mut Schunk, *const c_char, *const u8, i32, *const CParams) -> c_int;
    blosc2_vlmeta_delete(*mut Schunk, *const c_char) -> c_int;
    blosc2_vlmeta_exists(*mut Schunk, *const c_char) -> c_int;
    blosc2_vlmeta_get(*mut Schunk, *const c_char, *mut *mut u8, *mut i32) -> c_int;
    blosc2_vlmeta_get_names(*mut Schunk, *mut *mut c_char) -> c_int;
    blosc2_vlmeta_update(*mut Schunk, *const c_char, *const u8, i32, *const CParams) -> c_int;
    b2nd_append(*mut Array, *const c_void, i64, i8) -> c_int;
    b2nd_concatenate(*const NdContext, *const Array, *const Array, i8, bool, *mut *mut Array) -> c_int;
    b2nd_copy(*const NdContext, *const Array, *mut *mut Array) -> c_int;
    b2nd_copy_buffer2(i8, i32, *const c_void, *const i64, *const i64, *const i64, *mut c_void, *const i64, *const i64) -> c_int;
    b2nd_create_ctx(*const Storage, i8, *const i64, *const i32, *const i32, *const c_char, i8, *const c_void, i32) -> *mut NdContext;
    b2nd_delete(*mut Array, i8, i64, i64) -> c_int;
    b2nd_deserialize_meta(*const u8, i32, *mut i8, *mut i64, *mut i32, *mut i32, *mut *mut c_char, *mut i8) -> c_int;
    b2nd_expand_dims(*const Array, *mut *mut Array, *const u8, u8) -> c_int;
    b2nd_free(*mut Array) -> c_int;
    b2nd_free_ctx(*mut NdContext) -> c_int;
    b2nd_from_cbuffer(*const NdContext, *mut *mut Array, *const c_void, i64) -> c_int;
    b2nd_from_cframe(*mut u8, i64, bool, *mut *mut Array) -> c_int;
    b2nd_full(*const NdContext, *mut *mut Array, *const c_void) -> c_int;
    b2nd_get_orthogonal_selection(*const Array, *const *const i64, *const i64, *mut c_void, *const i64, i64) -> c_int;
    b2nd_get_slice(*const NdContext, *mut *mut Array, *const Array, *const i64, *const i64) -> c_int;
    b2nd_get_slice_cbuffer(*const Array, *const i64, *const i64, *mut c_void, *const i64, i64) -> c_int;
    b2nd_get_sparse_cbuffer(*const Array, i64, *const i64, *mut c_void, i64) -> c_int;
    b2nd_insert(*mut Array, *const c_void, i64, i8, i64) -> c_int;
    b2nd_refresh(*mut Array) -> c_int;
    b2nd_resize(*mut Array, *const i64, *const i64) -> c_int;
    b2nd_set_orthogonal_selection(*mut Array, *const *const i64, *const i64, *const c_void, *const i64, i64) -> c_int;
    b2nd_set_slice_cbuffer(*const c_void, *const i64, i64, *const i64, *const i64, *mut Array) -> c_int;
    b2nd_squeeze(*mut Array, *mut *mut Array) -> c_int;
    b2nd_to_cbuffer(*const Array, *mut c_void, i64) -> c_int;
    b2nd_to_cframe(*const Array, *mut *mut u8, *mut i64, *mut bool) -> c_int;
    b2nd_zeros(*const NdContext, *mut *mut Array) -> c_int;
}
