//! What LZ decoders write to: the output window, and the pointer loops for the middles of streams.

#[cfg(any(feature = "blosclz", feature = "lz4"))]
pub(crate) mod loops;
pub(in crate::arch) mod matches;
#[cfg(any(feature = "blosclz", feature = "lz4"))]
mod tail;
pub(crate) mod window;
