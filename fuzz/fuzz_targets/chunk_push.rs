//! See `blosc_fuzz::TARGETS`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| blosc_fuzz::run("chunk_push", data));
