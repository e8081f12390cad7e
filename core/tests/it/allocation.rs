//! No call allocates once a decoder or encoder exists: neither through Rust's allocator nor, where a C
//! library compresses, through `malloc`. Both are counted, by standing in for `malloc` itself.

use crate::common::encoders;
use blosc_core::chunk::Plan;
use blosc_core::{Chunk, Codec, Decoder, Encoder, Filter, Level, Params, max_encoded_len};
use std::cell::Cell;
use std::ffi::{c_int, c_void};

thread_local! {
    static COUNTING: Cell<bool> = const { Cell::new(false) };
    static CALLS: Cell<u32> = const { Cell::new(0) };
}

fn count() {
    if COUNTING.get() {
        CALLS.set(CALLS.get() + 1);
    }
}

unsafe extern "C" {
    fn __libc_malloc(size: usize) -> *mut c_void;
    fn __libc_calloc(count: usize, size: usize) -> *mut c_void;
    fn __libc_realloc(old: *mut c_void, size: usize) -> *mut c_void;
    fn __libc_memalign(align: usize, size: usize) -> *mut c_void;
}

/// Stands in for the C library's; Rust's own allocator ends here too.
#[unsafe(no_mangle)]
extern "C" fn malloc(size: usize) -> *mut c_void {
    count();
    // SAFETY: the function that the C library's `malloc` is another name of.
    unsafe { __libc_malloc(size) }
}

#[unsafe(no_mangle)]
extern "C" fn calloc(items: usize, size: usize) -> *mut c_void {
    count();
    // SAFETY: as for `malloc`.
    unsafe { __libc_calloc(items, size) }
}

/// # Safety
/// As the C library's.
#[unsafe(no_mangle)]
unsafe extern "C" fn realloc(old: *mut c_void, size: usize) -> *mut c_void {
    count();
    // SAFETY: as for `malloc`; the caller vouches for `old`.
    unsafe { __libc_realloc(old, size) }
}

#[unsafe(no_mangle)]
extern "C" fn memalign(align: usize, size: usize) -> *mut c_void {
    count();
    // SAFETY: as for `malloc`.
    unsafe { __libc_memalign(align, size) }
}

#[unsafe(no_mangle)]
extern "C" fn aligned_alloc(align: usize, size: usize) -> *mut c_void {
    memalign(align, size)
}

/// # Safety
/// `out` must be valid for a write.
#[unsafe(no_mangle)]
unsafe extern "C" fn posix_memalign(out: *mut *mut c_void, align: usize, size: usize) -> c_int {
    let memory = memalign(align, size);
    // SAFETY: by the contract.
    unsafe { out.write(memory) };
    if memory.is_null() { 12 } else { 0 }
}

/// Allocations of this thread while `work` runs.
fn allocations<R>(work: impl FnOnce() -> R) -> (u32, R) {
    CALLS.set(0);
    COUNTING.set(true);
    let result = work();
    COUNTING.set(false);
    (CALLS.get(), result)
}

#[test]
fn nothing_allocates_after_it_has_been_made() {
    assert!(allocations(|| std::hint::black_box(vec![1u8; 100]).len()).0 > 0, "the counter counts");
    let codecs = encoders();
    let data: Vec<u8> = (0..60_000u32).flat_map(|i| (i * 3 + ((i * i) >> 9)).to_le_bytes()).collect();
    let mut calls = 0;
    for (codec, level, dictionary) in codecs
        .iter()
        .flat_map(|&c| [1, 5, 9].map(|l| (c, l, false)))
        .chain([(Codec::Zstd, 5, true), (Codec::Lz4, 5, true)])
    {
        if codec == Codec::Zstd && !codecs.contains(&codec) {
            continue;
        }
        for filters in [
            [Filter::None; 2],
            [Filter::None, Filter::Shuffle],
            [Filter::Delta, Filter::BitShuffle],
            [Filter::Shuffle, Filter::ByteDelta],
        ] {
            let params = Params::new(4).codec(codec).level(level).slot(4, filters[0], 0);
            let params = params.slot(5, filters[1], u8::from(filters[1] == Filter::ByteDelta) * 4);
            let about = format!("{codec} level {level}, {filters:?}");
            let mut work = vec![0; Plan::work_len_for(&params, data.len())];
            let mut chunk = vec![0; max_encoded_len(data.len())];
            let len = if dictionary {
                // A new dictionary to compress with is digested by C zstd, which allocates: not counted.
                chunk = blosc_core::compress(&params.dictionary(true), &data).expect("legal parameters");
                chunk.len()
            } else {
                let mut encoder = Encoder::new(Level::best(), &params, data.len(), &mut work).expect("legal");
                let (n, len) = allocations(|| {
                    encoder.encode(&data[..1000], &mut chunk).and_then(|_| encoder.encode(&data, &mut chunk))
                });
                assert_eq!(n, 0, "encoding {about}");
                calls += 2;
                len.expect("legal parameters")
            };

            let parsed = Chunk::parse(&chunk[..len]).expect("our own chunk");
            let mut scratch = vec![0; Decoder::work_len(&parsed)];
            let mut decoder = Decoder::new(Level::best(), &mut scratch);
            let mut out = vec![0; data.len()];
            let (n, result) = allocations(|| {
                let parsed = Chunk::parse(&chunk[..len])?;
                decoder.decode(&parsed, &mut out[..])?;
                decoder.decode_block(&parsed, parsed.nblocks() - 1, &mut out[..])?;
                decoder.get_items(&parsed, 30_001..30_017, &mut out[..64])?;
                decoder.decode(&parsed, &mut out[..])
            });
            assert_eq!(result, Ok(data.len()), "{about}");
            assert_eq!(n, 0, "decoding {about}, dictionary {dictionary}");
            assert!(out == data, "{about}");
            calls += 5;
        }
    }
    eprintln!("{calls} calls, 0 allocations");
}
