//! Chunks that lie in flash: written by libblosc2 and Blosc1 (`core/tests/fixtures/ORIGIN.md`) with each codec
//! these libraries have built in, and the malformed ones. The hashes are those of `core/tests/fixtures/manifest.json`.

/// A chunk and the SHA-256 of what it decodes to.
pub struct Fixture {
    /// File name, which tells codec, level, typesize, size and filters.
    pub name: &'static str,
    /// The chunk.
    pub bytes: &'static [u8],
    /// SHA-256 of the decoded bytes, in hexadecimal digits.
    pub sha256: &'static str,
}

macro_rules! fixture {
    ($path:literal, $sha256:literal) => {
        Fixture {
            name: $path,
            bytes: include_bytes!(concat!("../../../../core/tests/fixtures/", $path, ".chunk")),
            sha256: $sha256,
        }
    };
}

/// Valid chunks.
pub static VALID: &[Fixture] = &[
    fixture!(
        "chunks/i0398_blosclz_l5_t8_n2272_IS",
        "ddfa3bd8c4cb9aad31732674b6a0368d0a53897b097eb9ddff9e5d26b094bbe0"
    ),
    fixture!(
        "chunks/i0388_blosclz_l5_t8_n3792_TB",
        "903bc2e2d53437784310861783575d6f9a9d2ecfd7ff8d6ffa99bc0636b95a95"
    ),
    fixture!(
        "chunks/f0349_lz4_l5_t4_n3640_S",
        "9aa3a4f037cff0e1ae9da5b5b8e34d6341a4840fbe53c308b87eb5b8c9f7342d"
    ),
    fixture!(
        "chunks/i0466_lz4_l1_t2_n4484_BD",
        "12ad8a272757a639810a82db287a8491006c81c8828eaecd55290a65d9987725"
    ),
    fixture!(
        "chunks/a0012_lz4hc_l5_t2_n1322_DSY",
        "28cb0675ee27811805af1ffb7598272cbc8f003240e18597a2278640b1ab315d"
    ),
    fixture!(
        "chunks/i0439_lz4hc_l5_t8_n4792_TB",
        "ba91a3b23817935e0e7f28e241facfe8c3455f99d3993654896b94f5e9eb48fb"
    ),
    fixture!(
        "chunks/i0470_zlib_l5_t5_n2523_SSSSSS",
        "833b630a134eee8b472c38862508d9777c2461e22ebc5589e0c8d547a0aecf19"
    ),
    fixture!(
        "chunks/a0098_zlib_l9_t24_n5005_BY",
        "98e67b897463e8e1491b357410225c3bad21b5692f300292cf0050efeef7d1a9"
    ),
    fixture!(
        "chunks/i0478_zstd_l5_t1_n953_S",
        "9930133b1bb7adfff0489c6bce906cf1c8e054a587cb787b955d7799f7279f24"
    ),
    fixture!(
        "chunks/i0424_zstd_l5_t8_n4296_DS",
        "74f2112a52674df1f417ece89d6189a605cc8229c13353ab5dbb1fdd3fe969f0"
    ),
    fixture!(
        "blosc1/zstd_0050_l5_t7_n1288_s1",
        "51acf2e3686e1dc8cbb4f15f658ab51e95e163cd94b489b11549132ee7470ec4"
    ),
    fixture!(
        "blosc1/lz4_0019_l9_t2_n1978_s0",
        "2daf1f6de9daf4a6f480ee0bca0e44f9e71068549e1b6fd81090af1d846b6dce"
    ),
];

/// Malformed chunks: valid ones, damaged in each way the test vectors know.
pub static MALFORMED: &[&[u8]] = include!(concat!(env!("OUT_DIR"), "/malformed.rs"));
