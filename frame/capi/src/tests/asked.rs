//! What callers ask for besides the data: codecs, dictionaries, threads.

use super::*;
use crate::codec::PANICS;
use std::sync::atomic::{AtomicI32, Ordering::Relaxed};

#[test]
fn what_cannot_be_is_refused_where_it_would_be_used() {
    let data = numbers(1000);
    for (contiguous, file) in [(false, false), (true, false), (true, true), (false, true)] {
        let path = path("dict");
        let mut cparams = CParams { typesize: 4, use_dict: 1, compcode: 0, ..CParams::DEFAULT };
        if !contiguous {
            // No bits to cut off: the meta byte is 0.
            (cparams.use_dict, cparams.filters[4]) = (0, 4);
        }
        let mut storage = storage(&mut cparams, contiguous, if file { path.as_ptr() } else { ptr::null() });
        // SAFETY: the structures outlive the calls, and the super-chunk is freed once.
        unsafe {
            let schunk = blosc2_schunk_new(&raw mut storage);
            assert!(!schunk.is_null(), "contiguous {contiguous}, file {file}");
            // BloscLZ has no dictionaries. Special chunks need none, others cannot be written.
            assert_eq!(blosc2_schunk_fill_special(schunk, 1000, 1, 4000), 1);
            let refused = if contiguous { -8 } else { -18 };
            assert_eq!(blosc2_schunk_append_buffer(schunk, data.as_ptr().cast(), 4000), refused);
            assert_eq!(blosc2_schunk_free(schunk), 0);
            assert!(!file || blosc2_remove_urlpath(path.as_ptr()) == 0);
        }
    }
}

#[test]
fn zfp_keeps_numbers_behind_the_default_filter() {
    let items: Vec<f32> = (0..400).map(|i| (i as f32 / 40.0).sin()).collect();
    let mut back = vec![0f32; 400];
    let mut cparams = CParams { typesize: 4, compcode: 33, compcode_meta: -3i8 as u8, ..CParams::DEFAULT };
    assert_eq!(cparams.filters[5], 1, "a shuffle");
    let mut storage = storage(&mut cparams, true, ptr::null());
    let (shape, side) = ([20i64, 20], [20i32, 20]);
    let mut array = ptr::null_mut();
    // SAFETY: every length is that of its buffer, and what is made is freed once.
    unsafe {
        let ctx = b2nd_create_ctx(
            &raw mut storage,
            2,
            shape.as_ptr(),
            side.as_ptr(),
            side.as_ptr(),
            c"<f4".as_ptr(),
            0,
            ptr::null(),
            0,
        );
        assert_eq!(b2nd_from_cbuffer(ctx, &raw mut array, items.as_ptr().cast(), 1600), 0);
        assert!((*(*array).sc).cbytes < 1200);
        assert_eq!(b2nd_to_cbuffer(array, back.as_mut_ptr().cast(), 1600), 0);
        assert_eq!((b2nd_free(array), b2nd_free_ctx(ctx)), (0, 0));
    }
    assert!(back.iter().zip(&items).all(|(a, b)| (a - b).abs() <= 1e-3), "{back:?}");
    assert_ne!(back, items);
}

#[test]
fn bytedelta_of_a_chunk_alone_comes_back() {
    let data = numbers(1000);
    let (mut chunk, mut back) = (vec![0u8; 5000], vec![0i32; 1000]);
    let mut cparams = CParams { typesize: 4, ..CParams::DEFAULT };
    cparams.filters[4..].copy_from_slice(&[1, 35]);
    let (src, len) = ([data.as_ptr().cast::<c_void>()], [4000]);
    // SAFETY: every length is that of its buffer, and the contexts are freed once.
    unsafe {
        let (cctx, dctx) = (blosc2_create_cctx(cparams), blosc2_create_dctx(DParams::DEFAULT));
        for blocks in [false, true] {
            let dest = chunk.as_mut_ptr().cast();
            let n = match blocks {
                true => blosc2_vlcompress_ctx(cctx, src.as_ptr(), len.as_ptr(), 1, dest, 5000),
                false => blosc2_compress_ctx(cctx, src[0], 4000, dest, 5000),
            };
            back.fill(0);
            let got = blosc2_decompress_ctx(dctx, dest, n, back.as_mut_ptr().cast(), 4000);
            assert_eq!((got, &back), (4000, &data), "variable blocks: {blocks}");
        }
        blosc2_free_ctx(cctx);
        blosc2_free_ctx(dctx);
        // Items too wide for the byte that tells their width.
        assert!(blosc2_create_cctx(CParams { typesize: 300, ..cparams }).is_null());
    }
}

static JOBS: AtomicI32 = AtomicI32::new(0);

unsafe extern "C" fn one_by_one(
    data: *mut c_void,
    job: unsafe extern "C" fn(*mut c_void),
    jobs: c_int,
    size: usize,
    first: *mut c_void,
) {
    assert_eq!(data as usize, 5);
    JOBS.fetch_add(jobs, Relaxed);
    for k in 0..jobs as usize {
        // SAFETY: so many structures of so many bytes each lie there.
        unsafe { job(first.cast::<u8>().add(k * size).cast()) };
    }
}

#[test]
fn the_callers_threads_do_the_work() {
    let data = numbers(10_000);
    let (mut chunk, mut back) = (vec![0u8; 50_000], vec![0i32; 10_000]);
    // SAFETY: every length is that of its buffer, and the contexts are freed once.
    unsafe {
        blosc2_set_threads_callback(Some(one_by_one), 5 as *mut c_void);
        let cparams = CParams { typesize: 4, blocksize: 4000, nthreads: 3, ..CParams::DEFAULT };
        let cctx = blosc2_create_cctx(cparams);
        let dctx = blosc2_create_dctx(DParams { nthreads: 2, ..DParams::DEFAULT });
        let n = blosc2_compress_ctx(cctx, data.as_ptr().cast(), 40_000, chunk.as_mut_ptr().cast(), 50_000);
        assert!(n > 0 && JOBS.load(Relaxed) >= 3);
        let n = blosc2_decompress_ctx(dctx, chunk.as_ptr().cast(), n, back.as_mut_ptr().cast(), 40_000);
        assert_eq!(n, 40_000);
        assert!(JOBS.load(Relaxed) >= 5);
        blosc2_set_threads_callback(None, ptr::null_mut());
        blosc2_free_ctx(cctx);
        blosc2_free_ctx(dctx);
    }
    assert_eq!(back, data);
}

/// An encoder that fails as its meta byte says.
unsafe extern "C" fn told(
    _: *const u8,
    _: i32,
    _: *mut u8,
    room: i32,
    meta: u8,
    _: *mut CParams,
    _: *const c_void,
) -> c_int {
    [0, -5, room + 1][usize::from(meta)]
}

/// A panic inside is -1, a failing encoder what it is in C-Blosc2 3.3.5; what does not fit is stored.
#[test]
fn a_failing_encoder_is_an_error() {
    let data = numbers(100_000);
    let mut chunk = vec![0u8; 500_000];
    for (compcode, compcode_meta, error) in [(PANICS, 0, -1), (252, 1, -3), (252, 2, -6), (252, 0, 0)] {
        let compname = if compcode == PANICS { c"panics" } else { c"told" }.as_ptr().cast_mut();
        let codec = Codec { compcode, compname, complib: 1, version: 1, encoder: Some(told), decoder: None };
        // SAFETY: every length is that of its buffer, the structures outlive the calls, and what is made is freed once.
        unsafe {
            assert_eq!(blosc2_register_codec(&raw const codec), 0);
            // So much data is shared among threads, if there may be several.
            for nthreads in [1, 4] {
                let base = CParams { typesize: 4, blocksize: 4000, ..CParams::DEFAULT };
                let mut cparams = CParams { compcode, compcode_meta, nthreads, ..base };
                let cctx = blosc2_create_cctx(cparams);
                let (src, dst) = (data.as_ptr().cast(), chunk.as_mut_ptr().cast());
                let n = blosc2_compress_ctx(cctx, src, 400_000, dst, 500_000);
                assert_eq!(n, if error == 0 { 400_032 } else { error });
                blosc2_free_ctx(cctx);
                let mut storage = storage(&mut cparams, true, ptr::null());
                let schunk = blosc2_schunk_new(&raw mut storage);
                let n = blosc2_schunk_append_buffer(schunk, src, 400_000);
                assert_eq!(n, if error == 0 { 1 } else { error.into() });
                // What was there before an error is as it was.
                assert_eq!((*schunk).nchunks, i64::from(error == 0));
                let filled = blosc2_schunk_fill_special(schunk, 1000, 1, 4000);
                assert_eq!(filled == 1, error != 0, "an empty super-chunk can be filled");
                assert_eq!(blosc2_schunk_free(schunk), 0);
            }
        }
    }
}

#[test]
fn every_codec_has_a_name_and_a_library() {
    let mine = Codec {
        compcode: 250,
        compname: c"mine".as_ptr().cast_mut(),
        complib: 7,
        version: 1,
        encoder: Some(told),
        decoder: None,
    };
    let version = concat!("blosc-core ", env!("CARGO_PKG_VERSION"));
    let known = [
        (0, c"blosclz", 0, c"BloscLZ", version),
        (2, c"lz4hc", 1, c"LZ4", version),
        (4, c"zlib", 3, c"Zlib", version),
        (32, c"ndlz", 32, c"ndlz", version),
        (35, c"zfp_rate", 35, c"zfp_rate", version),
        (250, c"mine", 7, c"mine", "unknown"),
    ];
    // SAFETY: names are strings, and what is handed out is freed once.
    unsafe {
        assert_eq!(blosc2_register_codec(&raw const mine), 0);
        for (id, name, code, library, version) in known {
            let mut found = ptr::null();
            assert_eq!(blosc2_compcode_to_compname(id, &raw mut found), id);
            assert_eq!(CStr::from_ptr(found), name);
            let (mut lib, mut text) = (ptr::null_mut(), ptr::null_mut());
            assert_eq!(blosc2_get_complib_info(name.as_ptr(), &raw mut lib, &raw mut text), code);
            assert_eq!(
                (CStr::from_ptr(lib), CStr::from_ptr(text).to_str()),
                (library, Ok(version)),
                "{name:?}"
            );
            release(lib);
            release(text);
        }
        assert_eq!(blosc2_get_complib_info(c"none".as_ptr(), ptr::null_mut(), ptr::null_mut()), -1);
    }
}
