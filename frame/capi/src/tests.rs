//! The functions as C calls them: by their exported names.

use crate::abi::{CParams, Codec, DParams, Io, Schunk, StdioParams, Storage};
use crate::calls::api::*;
use crate::memory::release;
use blosc_frame::b2nd::{Geometry, Layout};
use core::ffi::{CStr, c_char, c_int, c_void};
use core::ptr;

mod asked;
mod lazy;
mod refused;

fn numbers(n: i32) -> Vec<i32> {
    (0..n).map(|i| i * 3).collect()
}

#[test]
fn chunks_of_less_than_an_item_are_those_of_the_c_library() {
    let (data, mut chunk) = ([7u8, 8, 9, 10], [0u8; 64]);
    // SAFETY: every length is that of its buffer, and the contexts are freed once.
    unsafe {
        for (blocksize, wanted) in [(0, 1), (2, 2), (5, 4)] {
            let cctx = blosc2_create_cctx(CParams { typesize: 8, blocksize, ..CParams::DEFAULT });
            let n = blosc2_compress_ctx(cctx, data.as_ptr().cast(), 4, chunk.as_mut_ptr().cast(), 64);
            blosc2_free_ctx(cctx);
            assert_eq!((n, chunk[8]), (36, wanted), "block size {blocksize}");
            let dctx = blosc2_create_dctx(DParams::DEFAULT);
            let mut back = [0u8; 4];
            let n = blosc2_decompress_ctx(dctx, chunk.as_ptr().cast(), n, back.as_mut_ptr().cast(), 4);
            blosc2_free_ctx(dctx);
            assert_eq!((n, back), (4, data));
        }
    }
}

#[test]
fn chunks_by_contexts() {
    let data = numbers(10_000);
    let (mut chunk, mut back) = (vec![0u8; 50_000], vec![0i32; 10_000]);
    // SAFETY: every length is that of its buffer, and the contexts are freed once.
    unsafe {
        let cctx = blosc2_create_cctx(CParams { typesize: 4, blocksize: 4000, ..CParams::DEFAULT });
        let dctx = blosc2_create_dctx(DParams::DEFAULT);
        let mut compress =
            |room| blosc2_compress_ctx(cctx, data.as_ptr().cast(), 40_000, chunk.as_mut_ptr().cast(), room);
        assert_eq!(compress(31), -35);
        let n = compress(50_000);
        assert!(n > 0 && n < 20_000, "{n}");
        let decompress = |from: &[u8], n, to: &mut [i32], room| {
            blosc2_decompress_ctx(dctx, from.as_ptr().cast(), n, to.as_mut_ptr().cast(), room)
        };
        assert_eq!(decompress(&chunk, n, &mut back, 40_000), 40_000);
        assert_eq!(back, data);
        // Blocks that are masked out stay as they were, for one call.
        back.fill(-1);
        let mask = [0u8, 1, 0, 0, 0, 0, 0, 0, 0, 0];
        assert_eq!(blosc2_set_maskout(dctx, mask.as_ptr(), 10), 0);
        assert_eq!(decompress(&chunk, n, &mut back, 40_000), 40_000);
        assert!(back[1000..2000].iter().all(|&v| v == -1));
        assert!(back[..1000] == data[..1000] && back[2000..] == data[2000..]);
        assert_eq!(decompress(&chunk, n - 1, &mut back, 40_000), -11);
        assert_eq!(decompress(&chunk, n, &mut back, 39_999), -6);
        let mut later = chunk[..n as usize].to_vec();
        (later[0], later[30]) = (7, 2);
        assert_eq!(decompress(&later, n, &mut back, 40_000), -10);
        assert_eq!(blosc2_decompress_ctx(ptr::null_mut(), chunk.as_ptr().cast(), n, ptr::null_mut(), 0), -32);
        blosc2_free_ctx(cctx);
        blosc2_free_ctx(dctx);
    }
}

#[test]
fn instrumented_codecs_and_tuners_are_refused() {
    // SAFETY: the structures are valid, and nothing is made; no tuner is looked at.
    unsafe {
        for (instr_codec, tuner_id) in [(true, 0), (false, 32), (false, -1)] {
            let mut cparams = CParams { instr_codec, tuner_id, ..CParams::DEFAULT };
            assert!(blosc2_create_cctx(cparams).is_null());
            assert!(blosc2_schunk_new(&storage(&mut cparams, true, ptr::null())).is_null());
        }
        assert_eq!(blosc2_register_tuner(ptr::null()), -36);
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
        assert_eq!(blosc2_vlmeta_add(sc, c"free".as_ptr(), b"defg".as_ptr(), 4, ptr::null()), 0);
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

/// A path in the folder of temporary files.
fn path(name: &str) -> std::ffi::CString {
    let path = std::env::temp_dir().join(format!("blosc2-capi-{name}-{}", std::process::id()));
    std::ffi::CString::new(path.to_str().expect("UTF-8")).expect("no NUL")
}

#[test]
fn handles_see_what_others_write() {
    let data = numbers(1000);
    for contiguous in [true, false] {
        let path = path(if contiguous { "follow-c" } else { "follow-s" });
        let mut cparams = CParams { typesize: 4, ..CParams::DEFAULT };
        // SAFETY: the structures are valid; every super-chunk is freed once.
        unsafe {
            let writer = blosc2_schunk_new(&storage(&mut cparams, contiguous, path.as_ptr()));
            let reader = blosc2_schunk_open(path.as_ptr());
            assert_eq!(blosc2_schunk_append_buffer(writer, data.as_ptr().cast(), 4000), 1);
            assert_eq!((*reader).nchunks, 0);
            assert_eq!((blosc2_schunk_refresh(reader), blosc2_schunk_refresh(reader)), (1, 0));
            assert_eq!((*reader).nchunks, 1);
            // A handle that is behind catches up before it writes.
            assert_eq!(blosc2_schunk_append_buffer(writer, data.as_ptr().cast(), 4000), 2);
            assert_eq!(blosc2_schunk_append_buffer(reader, data.as_ptr().cast(), 4000), 3);
            let mut back = vec![0i32; 1000];
            assert_eq!(blosc2_schunk_decompress_chunk(writer, 2, back.as_mut_ptr().cast(), 4000), 4000);
            assert_eq!(back, data);
            blosc2_schunk_free(writer);
            blosc2_schunk_free(reader);
            assert_eq!(blosc2_remove_urlpath(path.as_ptr()), 0);
        }
    }
}

#[test]
fn a_handle_that_locks_has_a_lock_file_and_writes_when_it_lets_go() {
    let (data, path) = (numbers(1000), path("locked"));
    let lock = std::path::PathBuf::from(format!("{}.b2lock", path.to_str().expect("UTF-8")));
    let mut params = StdioParams { locking: true };
    let mut io = Io { id: 0, name: c"filesystem".as_ptr(), params: (&raw mut params).cast() };
    let mut cparams = CParams { typesize: 4, ..CParams::DEFAULT };
    // SAFETY: the structures are valid; every super-chunk is freed once.
    unsafe {
        let storage = Storage { io: &raw mut io, ..storage(&mut cparams, true, path.as_ptr()) };
        let writer = blosc2_schunk_new(&raw const storage);
        let other = blosc2_schunk_open(path.as_ptr());
        assert_eq!(blosc2_schunk_lock(writer), 0);
        assert_eq!(blosc2_schunk_append_buffer(writer, data.as_ptr().cast(), 4000), 1);
        assert_eq!((blosc2_schunk_refresh(other), lock.exists()), (0, true));
        assert_eq!(blosc2_schunk_unlock(writer), 0);
        assert_eq!((blosc2_schunk_refresh(other), (*other).nchunks), (1, 1));
        let third = blosc2_schunk_open_udio(path.as_ptr(), &raw const io);
        assert_eq!((*third).nchunks, 1);
        for schunk in [writer, other, third] {
            blosc2_schunk_free(schunk);
        }
        assert_eq!(blosc2_remove_urlpath(path.as_ptr()), 0);
    }
    assert!(!lock.exists());
}

#[test]
fn chunk_pointers_are_kept_in_step() {
    let mut cparams = CParams { typesize: 4, ..CParams::DEFAULT };
    // SAFETY: the structures are valid; each pointer is to a whole chunk.
    unsafe {
        let sc = blosc2_schunk_new(&storage(&mut cparams, false, ptr::null()));
        for k in 0..40i64 {
            let data = vec![k as i32; 1000];
            assert_eq!(blosc2_schunk_append_buffer(sc, data.as_ptr().cast(), 4000), k + 1);
            for j in 0..=k {
                let (mut chunk, mut free) = (ptr::null_mut(), false);
                let len = blosc2_schunk_get_chunk(sc, j, &raw mut chunk, &raw mut free) as usize;
                let shown = core::slice::from_raw_parts(*(*sc).data.add(j as usize), len);
                assert_eq!(shown, core::slice::from_raw_parts(chunk, len));
                release(chunk);
            }
        }
        blosc2_schunk_free(sc);
    }
}

#[test]
fn the_size_of_chunks_that_the_caller_sets_holds() {
    let mut cparams = CParams { typesize: 4, ..CParams::DEFAULT };
    // SAFETY: the structures are valid.
    unsafe {
        let sc = blosc2_schunk_new(&storage(&mut cparams, true, ptr::null()));
        (*sc).chunksize = 4000;
        assert_eq!(blosc2_schunk_append_buffer(sc, numbers(10).as_ptr().cast(), 40), 1);
        assert_eq!(((*sc).chunksize, (*sc).blocksize), (4000, 0));
        blosc2_schunk_free(sc);
    }
}

#[test]
fn only_as_many_numbers_as_dimensions_are_written() {
    let cut = Geometry::new(&[10], &[5], &[2], 4).unwrap();
    let content = Layout::described(cut, 0, b"<i4").to_bytes().unwrap();
    let (mut shape, mut chunks, mut blocks) = ([7i64; 2], [7i32; 2], [7i32; 2]);
    let (mut ndim, mut format) = (0, 0);
    // SAFETY: as much room as the metalayer has dimensions, and more.
    let len = unsafe {
        b2nd_deserialize_meta(
            content.as_ptr(),
            content.len() as i32,
            &raw mut ndim,
            shape.as_mut_ptr(),
            chunks.as_mut_ptr(),
            blocks.as_mut_ptr(),
            ptr::null_mut(),
            &raw mut format,
        )
    };
    assert_eq!((len > 0, ndim, shape, chunks, blocks), (true, 1, [10, 7], [5, 7], [2, 7]));
}

#[test]
fn null_is_refused() {
    let (null, room) = (ptr::null_mut::<Schunk>(), &mut [0u8; 8]);
    // SAFETY: null pointers, and one buffer with its length.
    unsafe {
        assert_eq!(blosc2_schunk_append_buffer(null, room.as_ptr().cast(), 8), -32);
        assert_eq!(blosc2_schunk_decompress_chunk(null, 0, room.as_mut_ptr().cast(), 8), -32);
        assert_eq!(blosc2_schunk_get_slice_buffer(null, 0, 1, room.as_mut_ptr().cast()), -32);
        assert_eq!(
            (blosc2_schunk_refresh(null), blosc2_schunk_lock(null), blosc2_schunk_free(null)),
            (-32, -32, -32)
        );
        assert_eq!(blosc2_meta_add(null, c"a".as_ptr(), room.as_ptr(), 8), -32);
        assert_eq!(b2nd_to_cbuffer(ptr::null(), room.as_mut_ptr().cast(), 8), -32);
        assert_eq!(b2nd_resize(ptr::null_mut(), ptr::null(), ptr::null()), -32);
        assert!(blosc2_schunk_open(ptr::null()).is_null());
        assert_eq!(b2nd_free(ptr::null_mut()), 0);
    }
}
