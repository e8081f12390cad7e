//! Any target, named by `BLOSC_FUZZ_TARGET`: see `blosc_fuzz::TARGETS`. `smoke` and `campaign` run this one.
#![no_main]

use std::sync::LazyLock;

static NAME: LazyLock<String> = LazyLock::new(|| {
    std::env::var("BLOSC_FUZZ_TARGET").expect("BLOSC_FUZZ_TARGET must name a target of blosc_fuzz::TARGETS")
});

libfuzzer_sys::fuzz_target!(|data: &[u8]| blosc_fuzz::run(&NAME, data));
