//! The functions as C calls them: by their exported names.

use crate::abi::{CParams, DParams, Schunk, Storage};
use crate::b2nd::{Array, NdContext};
use crate::context::Context;
use crate::memory::release;
use core::ffi::{CStr, c_char, c_int, c_void};
use core::ptr;

// Contexts and arrays are opaque behind their pointers.
#[allow(improper_ctypes)]
unsafe extern "C" {
    fn blosc2_create_cctx(cparams: CParams) -> *mut Context;
    fn blosc2_create_dctx(dparams: DParams) -> *mut Context;
    fn blosc2_free_ctx(ctx: *mut Context);
    fn blosc2_compress_ctx(
        ctx: *mut Context,
        src: *const c_void,
        n: i32,
        dest: *mut c_void,
        room: i32,
    ) -> c_int;
    fn blosc2_decompress_ctx(
        ctx: *mut Context,
        src: *const c_void,
        n: i32,
        dest: *mut c_void,
        room: i32,
    ) -> c_int;
    fn blosc2_set_maskout(ctx: *mut Context, mask: *const u8, nblocks: c_int) -> c_int;
    fn blosc2_schunk_new(storage: *const Storage) -> *mut Schunk;
    fn blosc2_schunk_free(schunk: *mut Schunk) -> c_int;
    fn blosc2_schunk_append_buffer(schunk: *mut Schunk, src: *const c_void, nbytes: i32) -> i64;
    fn blosc2_schunk_decompress_chunk(schunk: *mut Schunk, k: i64, dest: *mut c_void, nbytes: i32) -> c_int;
    fn blosc2_schunk_get_slice_buffer(
        schunk: *mut Schunk,
        start: i64,
        stop: i64,
        buffer: *mut c_void,
    ) -> c_int;
    fn blosc2_schunk_set_slice_buffer(
        schunk: *mut Schunk,
        start: i64,
        stop: i64,
        buffer: *const c_void,
    ) -> c_int;
    fn blosc2_schunk_open(urlpath: *const c_char) -> *mut Schunk;
    fn blosc2_meta_add(schunk: *mut Schunk, name: *const c_char, content: *const u8, len: i32) -> c_int;
    fn blosc2_vlmeta_add(
        s: *mut Schunk,
        name: *const c_char,
        c: *const u8,
        len: i32,
        p: *const CParams,
    ) -> c_int;
    fn blosc2_vlmeta_get(s: *mut Schunk, name: *const c_char, c: *mut *mut u8, len: *mut i32) -> c_int;
    fn b2nd_create_ctx(
        storage: *const Storage,
        ndim: i8,
        shape: *const i64,
        chunkshape: *const i32,
        blockshape: *const i32,
        dtype: *const c_char,
        dtype_format: i8,
        metalayers: *const c_void,
        nmetalayers: i32,
    ) -> *mut NdContext;
    fn b2nd_free_ctx(ctx: *mut NdContext) -> c_int;
    fn b2nd_from_cbuffer(
        ctx: *const NdContext,
        array: *mut *mut Array,
        buffer: *const c_void,
        size: i64,
    ) -> c_int;
    fn b2nd_to_cbuffer(array: *const Array, buffer: *mut c_void, size: i64) -> c_int;
    fn b2nd_resize(array: *mut Array, shape: *const i64, start: *const i64) -> c_int;
    fn b2nd_free(array: *mut Array) -> c_int;
}

fn numbers(n: i32) -> Vec<i32> {
    (0..n).map(|i| i * 3).collect()
}

#[test]
fn chunks_by_contexts() {
    let data = numbers(10_000);
    let (mut chunk, mut back) = (vec![0u8; 50_000], vec![0i32; 10_000]);
    // SAFETY: every length is that of its buffer, and the contexts are freed once.
    unsafe {
        let cctx = blosc2_create_cctx(CParams { typesize: 4, blocksize: 4000, ..CParams::DEFAULT });
        let dctx = blosc2_create_dctx(DParams::DEFAULT);
        let n = blosc2_compress_ctx(cctx, data.as_ptr().cast(), 40_000, chunk.as_mut_ptr().cast(), 50_000);
        assert!(n > 0 && n < 20_000, "{n}");
        assert_eq!(
            blosc2_compress_ctx(cctx, data.as_ptr().cast(), 40_000, chunk.as_mut_ptr().cast(), 31),
            -35
        );
        assert_eq!(
            blosc2_decompress_ctx(dctx, chunk.as_ptr().cast(), n, back.as_mut_ptr().cast(), 40_000),
            40_000
        );
        assert_eq!(back, data);
        // Blocks that are masked out stay as they were, for one call.
        back.fill(-1);
        let mask = [0u8, 1, 0, 0, 0, 0, 0, 0, 0, 0];
        assert_eq!(blosc2_set_maskout(dctx, mask.as_ptr(), 10), 0);
        assert_eq!(
            blosc2_decompress_ctx(dctx, chunk.as_ptr().cast(), n, back.as_mut_ptr().cast(), 40_000),
            40_000
        );
        assert!(
            back[1000..2000].iter().all(|&v| v == -1)
                && back[..1000] == data[..1000]
                && back[2000..] == data[2000..]
        );
        assert_eq!(
            blosc2_decompress_ctx(dctx, chunk.as_ptr().cast(), n - 1, back.as_mut_ptr().cast(), 40_000),
            -11
        );
        assert_eq!(
            blosc2_decompress_ctx(dctx, chunk.as_ptr().cast(), n, back.as_mut_ptr().cast(), 39_999),
            -6
        );
        let mut later = chunk[..n as usize].to_vec();
        (later[0], later[30]) = (7, 2);
        assert_eq!(
            blosc2_decompress_ctx(dctx, later.as_ptr().cast(), n, back.as_mut_ptr().cast(), 40_000),
            -10
        );
        assert_eq!(blosc2_decompress_ctx(ptr::null_mut(), chunk.as_ptr().cast(), n, ptr::null_mut(), 0), -32);
        blosc2_free_ctx(cctx);
        blosc2_free_ctx(dctx);
    }
}

/// Appends three chunks, changes a slice across two, and reads all back; `storage`: where.
///
/// # Safety
/// `storage` is valid.
unsafe fn super_chunk(storage: &Storage) -> *mut Schunk {
    let mut data = numbers(3000);
    // SAFETY: every length is that of its buffer.
    unsafe {
        let sc = blosc2_schunk_new(storage);
        assert!(!sc.is_null());
        for (k, part) in data.chunks(1000).enumerate() {
            assert_eq!(blosc2_schunk_append_buffer(sc, part.as_ptr().cast(), 4000), k as i64 + 1);
        }
        assert_eq!(((*sc).nchunks, (*sc).nbytes, (*sc).chunksize), (3, 12_000, 4000));
        assert!((*sc).cbytes > 96);
        data[900..1100].fill(7);
        assert_eq!(blosc2_schunk_set_slice_buffer(sc, 900, 1100, data[900..].as_ptr().cast()), 0);
        let mut back = vec![0i32; 3000];
        assert_eq!(blosc2_schunk_get_slice_buffer(sc, 0, 3000, back.as_mut_ptr().cast()), 0);
        assert_eq!(back, data);
        assert_eq!(blosc2_schunk_get_slice_buffer(sc, 0, 3001, back.as_mut_ptr().cast()), -12);
        assert_eq!(blosc2_schunk_decompress_chunk(sc, 2, back.as_mut_ptr().cast(), 4000), 4000);
        assert_eq!(back[..1000], data[2000..]);
        assert_eq!(blosc2_schunk_decompress_chunk(sc, 3, back.as_mut_ptr().cast(), 4000), -12);
        assert_eq!(blosc2_meta_add(sc, c"fixed".as_ptr(), b"abc".as_ptr(), 3), 0);
        assert_eq!(blosc2_vlmeta_add(sc, c"free".as_ptr(), b"defg".as_ptr(), 4, ptr::null()), 1);
        sc
    }
}

/// # Safety
/// `sc` came from [`super_chunk`].
unsafe fn check_meta(sc: *mut Schunk) {
    // SAFETY: the structure is valid; contents are released once.
    unsafe {
        let layer = &*(*sc).metalayers[0];
        assert_eq!((CStr::from_ptr(layer.name), layer.content_len, *layer.content), (c"fixed", 3, b'a'));
        let (mut content, mut len) = (ptr::null_mut(), 0);
        assert_eq!(blosc2_vlmeta_get(sc, c"free".as_ptr(), &raw mut content, &raw mut len), 0);
        assert_eq!(core::slice::from_raw_parts(content, 4), b"defg");
        release(content);
        assert_eq!(((*sc).nmetalayers, (*sc).nvlmetalayers, len), (1, 1, 4));
        assert_eq!(blosc2_vlmeta_get(sc, c"none".as_ptr(), &raw mut content, &raw mut len), -16);
    }
}

fn storage(cparams: &mut CParams, contiguous: bool, urlpath: *const c_char) -> Storage {
    Storage {
        contiguous,
        urlpath: urlpath.cast_mut(),
        cparams,
        dparams: ptr::null_mut(),
        io: ptr::null_mut(),
    }
}

#[test]
fn super_chunks_in_memory_and_in_files() {
    let mut cparams = CParams { typesize: 4, ..CParams::DEFAULT };
    let folder = std::env::temp_dir().join(format!("blosc2-capi-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a temporary folder");
    // SAFETY: the structures are valid; every super-chunk is freed once.
    unsafe {
        for contiguous in [false, true] {
            let sc = super_chunk(&storage(&mut cparams, contiguous, ptr::null()));
            check_meta(sc);
            assert_eq!(blosc2_schunk_free(sc), 0);
            let path =
                std::ffi::CString::new(folder.join(format!("{contiguous}.b2frame")).to_str().expect("UTF-8"));
            let path = path.expect("no NUL");
            let sc = super_chunk(&storage(&mut cparams, contiguous, path.as_ptr()));
            assert_eq!(blosc2_schunk_free(sc), 0);
            let sc = blosc2_schunk_open(path.as_ptr());
            assert_eq!(((*sc).nchunks, (*sc).typesize, (*(*sc).storage).contiguous), (3, 4, contiguous));
            check_meta(sc);
            assert_eq!(blosc2_schunk_free(sc), 0);
        }
        assert!(blosc2_schunk_open(c"/nowhere/at/all".as_ptr()).is_null());
    }
    std::fs::remove_dir_all(&folder).expect("our own folder");
}

#[test]
fn arrays_in_and_out() {
    let data = numbers(7 * 11);
    let mut cparams = CParams { typesize: 4, ..CParams::DEFAULT };
    // SAFETY: every length is that of its buffer; what is made is freed once.
    unsafe {
        let storage = storage(&mut cparams, false, ptr::null());
        let (shape, chunks, blocks) = ([7i64, 11], [4i32, 5], [2i32, 3]);
        let ctx = b2nd_create_ctx(
            &raw const storage,
            2,
            shape.as_ptr(),
            chunks.as_ptr(),
            blocks.as_ptr(),
            c"<i4".as_ptr(),
            0,
            ptr::null(),
            0,
        );
        let mut array = ptr::null_mut();
        assert_eq!(b2nd_from_cbuffer(ctx, &raw mut array, data.as_ptr().cast(), 308), 0);
        let mut back = vec![0i32; 77];
        assert_eq!(b2nd_to_cbuffer(array, back.as_mut_ptr().cast(), 308), 0);
        assert_eq!(back, data);
        assert_eq!(b2nd_to_cbuffer(array, back.as_mut_ptr().cast(), 307), -12);
        assert_eq!(((*array).nitems, (*(*array).sc).nchunks, (*array).extchunkshape[1]), (77, 6, 6));
        assert_eq!(b2nd_resize(array, [9i64, 4].as_ptr(), ptr::null()), 0);
        let mut back = vec![-1i32; 36];
        assert_eq!(b2nd_to_cbuffer(array, back.as_mut_ptr().cast(), 144), 0);
        let expected = |k: usize| if k < 28 { data[k / 4 * 11 + k % 4] } else { 0 };
        assert_eq!(back, (0..36).map(expected).collect::<Vec<_>>());
        assert_eq!(((*array).shape[0], (*array).shape[1]), (9, 4));
        b2nd_free(array);
        b2nd_free_ctx(ctx);
    }
}
