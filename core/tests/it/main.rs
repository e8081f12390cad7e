//! The integration tests of `blosc-core`, one program: each module is a subject.

mod common;
#[cfg(all(feature = "blosclz", feature = "lz4"))]
mod lz_streams;
mod support;

// It stands in for `malloc`, of which there may be one only under Miri and in a program that is linked statically.
#[cfg(all(
    feature = "std",
    feature = "codecs",
    target_os = "linux",
    target_env = "gnu",
    not(any(miri, target_feature = "crt-static"))
))]
mod allocation;
#[cfg(all(feature = "zstd-c", feature = "codecs"))]
mod c_blosc;
mod chunk;
#[cfg(feature = "zlib")]
mod deflate;
// Under an emulator or Miri pages are another's.
#[cfg(all(feature = "std", feature = "codecs", target_os = "linux", target_arch = "x86_64", not(miri)))]
mod faults;
mod filters;
#[cfg(all(feature = "std", feature = "codecs"))]
mod golden;
mod imports;
mod kernels;
mod left_out;
mod levels;
#[cfg(all(feature = "blosclz", feature = "lz4"))]
mod lz;
#[cfg(all(feature = "blosclz", feature = "lz4"))]
mod lz_damage;
#[cfg(all(feature = "std", feature = "codecs"))]
mod miri;
#[cfg(feature = "plugins")]
mod ndlz;
mod notes;
#[cfg(all(unix, not(miri)))]
mod pages;
#[cfg(feature = "alloc")]
mod pool;
#[cfg(all(feature = "std", feature = "codecs"))]
mod push;
#[cfg(all(feature = "std", feature = "codecs"))]
mod roundtrip;
#[cfg(feature = "snappy")]
mod snappy;
#[cfg(all(feature = "std", feature = "codecs"))]
mod threads;
#[cfg(all(feature = "alloc", feature = "codecs"))]
mod vectors;
#[cfg(feature = "zfp")]
mod zfp;
#[cfg(feature = "zlib")]
mod zlib;
#[cfg(feature = "zstd")]
mod zstd;
#[cfg(feature = "zstd-c")]
mod zstd_host;
#[cfg(feature = "zstd-c")]
mod zstd_predefined;
