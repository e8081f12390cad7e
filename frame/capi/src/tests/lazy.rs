//! Chunks of frames in files, given out without their blocks.

use super::*;
use std::path::Path;

/// The lazy chunk `k`.
///
/// # Safety
/// `schunk` is a super-chunk of this library.
unsafe fn lazy(schunk: *mut Schunk, k: i64) -> Result<Vec<u8>, c_int> {
    let (mut chunk, mut free) = (ptr::null_mut(), false);
    // SAFETY: as the caller promises; the chunk has the length that is returned, and is freed once.
    unsafe {
        let n = blosc2_schunk_get_lazychunk(schunk, k, &raw mut chunk, &raw mut free);
        let len = usize::try_from(n).map_err(|_| n)?;
        let bytes = std::slice::from_raw_parts(chunk, len).to_vec();
        assert!(free);
        release(chunk);
        Ok(bytes)
    }
}

/// A super-chunk of two chunks of five blocks in a file, and its path.
///
/// # Safety
/// It is freed once.
unsafe fn in_a_file(name: &str, contiguous: bool, clevel: u8) -> (*mut Schunk, std::ffi::CString) {
    let path = path(name);
    let mut cparams = CParams { typesize: 4, blocksize: 800, clevel, ..CParams::DEFAULT };
    let data = numbers(1000);
    // SAFETY: the structures outlive the calls; every length is that of its buffer.
    unsafe {
        let schunk = blosc2_schunk_new(&storage(&mut cparams, contiguous, path.as_ptr()));
        for n in 1..=2 {
            assert_eq!(blosc2_schunk_append_buffer(schunk, data.as_ptr().cast(), 4000), n);
        }
        (schunk, path)
    }
}

#[test]
fn they_tell_where_blocks_lie_and_decode_through_the_file() {
    for (contiguous, clevel) in [(true, 5), (false, 5), (true, 0), (false, 0)] {
        // SAFETY: every length is that of its buffer; what is made is freed once.
        unsafe {
            let (schunk, path) = in_a_file("lazy", contiguous, clevel);
            let chunk = lazy(schunk, 1).expect("a chunk in a file");
            let word = |at: usize| i32::from_le_bytes(*chunk[at..].first_chunk().expect("four bytes"));
            assert_eq!((chunk.len(), chunk[31] & 8, word(52)), (32 + 20 + 12 + 20, 8, 1));
            let sizes: i32 = (0..5).map(|k| word(64 + 4 * k)).sum();
            let starts = if clevel > 0 { 20 } else { 0 };
            assert_eq!(32 + starts + sizes, word(12));
            let dctx = blosc2_create_dctx(DParams { schunk: schunk.cast(), ..DParams::DEFAULT });
            let (src, n) = (chunk.as_ptr().cast(), chunk.len() as i32);
            let mut back = vec![0i32; 1000];
            assert_eq!(blosc2_decompress_ctx(dctx, src, n, back.as_mut_ptr().cast(), 4000), 4000);
            assert_eq!(back, numbers(1000));
            assert_eq!(blosc2_getitem_ctx(dctx, src, n, 390, 20, back.as_mut_ptr().cast(), 80), 80);
            assert_eq!(back[..20], numbers(1000)[390..410]);
            // Only the super-chunk knows the file.
            let alone = blosc2_create_dctx(DParams::DEFAULT);
            assert_eq!(blosc2_decompress_ctx(alone, src, n, back.as_mut_ptr().cast(), 4000), -12);
            for ctx in [dctx, alone] {
                blosc2_free_ctx(ctx);
            }
            blosc2_schunk_free(schunk);
            assert_eq!(blosc2_remove_urlpath(path.as_ptr()), 0);
        }
    }
}

#[test]
fn one_that_is_not_as_it_was_given_is_refused() {
    for contiguous in [true, false] {
        // SAFETY: every length is that of its buffer; what is made is freed once.
        unsafe {
            let (schunk, path) = in_a_file("lazy-spoilt", contiguous, 5);
            let dctx = (*schunk).dctx.cast();
            let chunk = lazy(schunk, 0).expect("a chunk in a file");
            let mut back = vec![0u8; 4000];
            let mut decode = |chunk: &[u8]| {
                let (src, n) = (chunk.as_ptr().cast(), chunk.len() as i32);
                blosc2_decompress_ctx(dctx, src, n, back.as_mut_ptr().cast(), 4000)
            };
            assert_eq!(decode(&chunk), 4000);
            for at in 0..chunk.len() {
                let mut spoilt = chunk.clone();
                spoilt[at] ^= 0x40;
                // The number of a chunk in a contiguous frame is not looked at: its offset is.
                let number = contiguous && (52..56).contains(&at);
                assert_eq!(decode(&spoilt) == 4000, number, "byte {at}");
                assert!(decode(&chunk[..at]) < 0, "{at} bytes");
            }
            blosc2_schunk_free(schunk);
            assert_eq!(blosc2_remove_urlpath(path.as_ptr()), 0);
        }
    }
}

#[test]
fn a_chunk_whose_end_is_missing_is_refused() {
    // SAFETY: what is made is freed once.
    unsafe {
        let (schunk, path) = in_a_file("lazy-cut", false, 5);
        let file = Path::new(path.to_str().expect("UTF-8")).join("00000000.chunk");
        let whole = std::fs::read(&file).expect("a chunk");
        for len in [whole.len() - 1, 40, 10, 0] {
            std::fs::write(&file, &whole[..len]).expect("a chunk");
            assert_eq!(lazy(schunk, 0), Err(-13), "{len} bytes");
        }
        // In memory nothing is missing, and nothing is lazy.
        let mut cparams = CParams { typesize: 4, ..CParams::DEFAULT };
        let memory = blosc2_schunk_new(&storage(&mut cparams, true, ptr::null()));
        assert_eq!(blosc2_schunk_append_buffer(memory, numbers(1000).as_ptr().cast(), 4000), 1);
        assert_eq!(lazy(memory, 0).expect("a chunk in memory")[31] & 8, 0);
        for schunk in [schunk, memory] {
            blosc2_schunk_free(schunk);
        }
        assert_eq!(blosc2_remove_urlpath(path.as_ptr()), 0);
    }
}

#[test]
fn chunks_without_block_starts_are_given_whole() {
    let mut cparams = CParams { typesize: 4, blocksize: 800, ..CParams::DEFAULT };
    let (mut value, item) = ([0u8; 36], 7i32);
    // Header of Blosc1 with LZ4, two items of four bytes; where the block starts; its size, which says that it is stored; the block.
    let mut short =
        [2, 1, 0x30, 4, 8, 0, 0, 0, 8, 0, 0, 0, 32, 0, 0, 0, 20, 0, 0, 0, 8, 0, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8];
    for contiguous in [true, false] {
        let path = path("lazy-whole");
        // SAFETY: the structures outlive the calls; every length is that of its buffer.
        unsafe {
            let n = blosc2_chunk_repeatval(
                cparams,
                4000,
                value.as_mut_ptr().cast(),
                36,
                (&raw const item).cast(),
            );
            assert_eq!(n, 36);
            let schunk = blosc2_schunk_new(&storage(&mut cparams, contiguous, path.as_ptr()));
            assert_eq!(blosc2_schunk_append_chunk(schunk, value.as_mut_ptr(), true), 1);
            assert_eq!(blosc2_schunk_append_chunk(schunk, short.as_mut_ptr(), true), 2);
            assert_eq!(lazy(schunk, 0), Ok(value.to_vec()));
            assert_eq!(lazy(schunk, 1), Ok(short.to_vec()));
            blosc2_schunk_free(schunk);
            assert_eq!(blosc2_remove_urlpath(path.as_ptr()), 0);
        }
    }
}
