//! Multiplicative hashes of the first bytes of a word.

// A build with some of the codecs needs only part of this.
#![cfg_attr(
    not(all(feature = "blosclz", feature = "lz4", feature = "zlib", feature = "zstd", feature = "snappy")),
    allow(dead_code, unused_imports)
)]

/// Multiplicative hash of the low four bytes, to `bits` bits.
#[inline(always)]
pub(crate) fn hash4(word: u64, bits: u32) -> usize {
    ((word as u32).wrapping_mul(2_654_435_761) >> (32 - bits)) as usize
}

/// Multiplicative hash of the low five bytes, to `bits` bits.
#[cfg(feature = "lz4")]
#[inline(always)]
pub(crate) fn hash5(word: u64, bits: u32) -> usize {
    ((word << 24).wrapping_mul(889_523_592_379) >> (64 - bits)) as usize
}

/// Multiplicative hash of all eight bytes, to `bits` bits.
#[cfg(any(feature = "lz4", feature = "zlib"))]
#[inline(always)]
pub(crate) fn hash8(word: u64, bits: u32) -> usize {
    (word.wrapping_mul(0x9e37_79b1_85eb_ca87) >> (64 - bits)) as usize
}

/// Multiplicative hash of the low seven bytes, to `bits` bits.
#[cfg(feature = "lz4")]
#[inline(always)]
pub(crate) fn hash7(word: u64, bits: u32) -> usize {
    hash8(word << 8, bits)
}

/// Multiplicative hash of the low `bytes` bytes, to `bits` bits.
#[inline(always)]
pub(crate) fn hash_low(word: u64, bytes: usize, bits: u32) -> usize {
    ((word << (64 - 8 * bytes)).wrapping_mul(0x9e37_79b1_85eb_ca87) >> (64 - bits)) as usize
}
