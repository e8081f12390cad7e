//! Sizes and pointers that a caller may get wrong.

use super::*;

/// An array of 4 times 6 numbers in chunks of 2 times 3.
///
/// # Safety
/// What is made is freed once.
unsafe fn array() -> (*mut crate::b2nd::NdContext, *mut crate::b2nd::Array) {
    let mut cparams = CParams { typesize: 4, ..CParams::DEFAULT };
    let storage = storage(&mut cparams, true, ptr::null());
    let (shape, chunks, mut array) = ([4i64, 6], [2i32, 3], ptr::null_mut());
    let (s, c) = (shape.as_ptr(), chunks.as_ptr());
    // SAFETY: the structures outlive the calls; the data have the length told.
    unsafe {
        let ctx = b2nd_create_ctx(&raw const storage, 2, s, c, c, c"<i4".as_ptr(), 0, ptr::null(), 0);
        assert_eq!(b2nd_from_cbuffer(ctx, &raw mut array, numbers(24).as_ptr().cast(), 96), 0);
        (ctx, array)
    }
}

#[test]
fn sizes_beyond_memory_are_errors() {
    // SAFETY: numbers for each dimension; nothing is read or written beyond the lengths told.
    unsafe {
        let (ctx, nd) = array();
        let (wide, start) = ([1i64 << 58, 6], [0i64; 2]);
        // More chunks than a frame has, and no end of the process.
        assert_eq!(b2nd_resize(nd, wide.as_ptr(), start.as_ptr()), -12);
        assert_eq!(b2nd_resize(nd, [i64::MIN, 6].as_ptr(), start.as_ptr()), -12);
        let mut back = [0i32; 24];
        let (low, high, part) = ([i64::MIN, 0], [i64::MAX, 6], [4i64, 6]);
        let got = b2nd_get_slice_cbuffer(
            nd,
            low.as_ptr(),
            high.as_ptr(),
            back.as_mut_ptr().cast(),
            part.as_ptr(),
            96,
        );
        assert_eq!(got, -12);
        // More numbers than any memory has.
        let coords = [0i64];
        let out = back.as_mut_ptr().cast();
        assert_eq!(b2nd_get_sparse_cbuffer(nd, i64::MAX, coords.as_ptr(), out, 96), -12);
        // Two negative sides are no area.
        let (negative, zero) = ([-4i64, -6], [0i64, 0]);
        let from = numbers(24);
        let copied = b2nd_copy_buffer2(
            2,
            4,
            from.as_ptr().cast(),
            negative.as_ptr(),
            zero.as_ptr(),
            part.as_ptr(),
            out,
            negative.as_ptr(),
            zero.as_ptr(),
        );
        assert_eq!(copied, -12);
        assert_eq!(b2nd_to_cbuffer(nd, out, 96), 0);
        assert_eq!(back[..], numbers(24));
        assert_eq!((b2nd_free(nd), b2nd_free_ctx(ctx)), (0, 0));
    }
}

#[test]
fn an_array_does_not_grow_by_itself() {
    // SAFETY: what is made is freed once.
    unsafe {
        let (ctx, nd) = array();
        let (mut out, mut view, mut back) = (ptr::null_mut(), ptr::null_mut(), [0i32; 24]);
        let added = [1u8, 0, 0];
        assert_eq!(b2nd_expand_dims(nd, &raw mut view, added.as_ptr(), 3), 0);
        for other in [nd, view] {
            assert_eq!(b2nd_concatenate(ctx, nd, other, 0, false, &raw mut out), -12);
        }
        assert_eq!(b2nd_to_cbuffer(nd, back.as_mut_ptr().cast(), 96), 0);
        assert_eq!(back[..], numbers(24));
        // A copy of both is another matter.
        assert_eq!(b2nd_concatenate(ctx, nd, nd, 0, true, &raw mut out), 0);
        assert_eq!((&(*out).shape)[..2], [8, 6]);
        for array in [view, out, nd] {
            assert_eq!(b2nd_free(array), 0);
        }
        assert_eq!(b2nd_free_ctx(ctx), 0);
    }
}

#[test]
fn an_edit_of_a_frame_that_is_no_array_leaves_the_frame() {
    // SAFETY: what is made is freed once.
    unsafe {
        let (ctx, nd) = array();
        let sc = (*nd).sc;
        // The metalayer asks for four chunks.
        assert_eq!(blosc2_schunk_delete_chunk(sc, 3), 3);
        let rows = numbers(6);
        assert!(b2nd_append(nd, rows.as_ptr().cast(), 24, 0) < 0);
        let mut back = [0i32; 6];
        assert_eq!(blosc2_schunk_decompress_chunk(sc, 0, back.as_mut_ptr().cast(), 24), 24);
        assert_eq!(back, [0, 3, 6, 18, 21, 24]);
        assert_eq!((b2nd_free(nd), b2nd_free_ctx(ctx)), (0, 0));
    }
}

#[test]
fn results_without_a_place_are_not_made_and_names_not_written() {
    let mut cparams = CParams { typesize: 4, ..CParams::DEFAULT };
    // SAFETY: null pointers where the interface has results.
    unsafe {
        let (ctx, nd) = array();
        let none = ptr::null_mut();
        assert_eq!(b2nd_zeros(ctx, none), -32);
        assert_eq!((b2nd_copy(ctx, nd, none), b2nd_squeeze(nd, none)), (-32, -32));
        assert_eq!((b2nd_free(nd), b2nd_free_ctx(ctx)), (0, 0));
        let sc = blosc2_schunk_new(&storage(&mut cparams, true, ptr::null()));
        assert_eq!(blosc2_vlmeta_get_names(sc, ptr::null_mut()), 0);
        assert_eq!(blosc2_vlmeta_add(sc, c"a".as_ptr(), b"b".as_ptr(), 1, ptr::null()), 0);
        assert_eq!(blosc2_vlmeta_get_names(sc, ptr::null_mut()), -32);
        blosc2_schunk_free(sc);
    }
}

#[test]
fn only_as_many_names_are_written_as_the_caller_saw() {
    let mut cparams = CParams { typesize: 4, ..CParams::DEFAULT };
    let path = path("names");
    // SAFETY: what is made is freed once; room for as many names as the handle shows, and a guard behind them.
    unsafe {
        let writer = blosc2_schunk_new(&storage(&mut cparams, true, path.as_ptr()));
        assert_eq!(blosc2_schunk_append_buffer(writer, numbers(10).as_ptr().cast(), 40), 1);
        assert_eq!(blosc2_vlmeta_add(writer, c"a".as_ptr(), b"b".as_ptr(), 1, ptr::null()), 0);
        let reader = blosc2_schunk_open(path.as_ptr());
        assert_eq!(((*reader).nvlmetalayers, (*reader).nchunks), (1, 1));
        // Meanwhile another handle adds a layer and a chunk.
        assert_eq!(blosc2_vlmeta_add(writer, c"b".as_ptr(), b"b".as_ptr(), 1, ptr::null()), 1);
        assert_eq!(blosc2_schunk_append_buffer(writer, numbers(10).as_ptr().cast(), 40), 2);
        let guard = ptr::dangling_mut::<c_char>();
        let mut names = [ptr::null_mut(), guard];
        assert_eq!(blosc2_vlmeta_get_names(reader, names.as_mut_ptr()), 1);
        assert_eq!((CStr::from_ptr(names[0]), names[1]), (c"a", guard));
        let third = blosc2_schunk_open(path.as_ptr());
        assert_eq!(blosc2_schunk_append_buffer(writer, numbers(10).as_ptr().cast(), 40), 3);
        assert_eq!(blosc2_schunk_reorder_offsets(third, [1i64, 0].as_ptr()), -12);
        for schunk in [writer, reader, third] {
            blosc2_schunk_free(schunk);
        }
        assert_eq!(blosc2_remove_urlpath(path.as_ptr()), 0);
    }
}
