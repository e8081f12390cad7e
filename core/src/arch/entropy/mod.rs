//! Loops over bits, of deflate and zstd's Huffman codes, compiled twice: with and without BMI1, BMI2, LZCNT and SSSE3. And Adler-32.

#[cfg(feature = "zlib")]
pub(crate) mod adler;
pub(crate) mod bit_instructions;
#[cfg(feature = "zlib")]
pub(crate) mod bits;
#[cfg(feature = "zlib")]
pub(crate) mod deflate_tables;
#[cfg(feature = "zstd")]
pub(crate) mod huffman;
#[cfg(feature = "zlib")]
pub(crate) mod inflate;
