//! [`Input`]: where a stream is read from.

/// A compressed stream, and bytes after it that may be read but mean nothing.
///
/// Wide copies that may run past the stream's end need not stop before it.
#[derive(Clone, Copy)]
pub struct Input<'a> {
    bytes: &'a [u8],
    len: usize,
}

impl<'a> Input<'a> {
    /// The stream `bytes[..len]`. `len` is cut to what there is.
    pub(crate) fn new(bytes: &'a [u8], len: usize) -> Input<'a> {
        Input { bytes, len: len.min(bytes.len()) }
    }

    /// The stream's own bytes.
    #[inline(always)]
    pub(crate) fn exact(&self) -> &'a [u8] {
        self.bytes.get(..self.len).unwrap_or(self.bytes)
    }

    /// The stream and what may be read after it.
    #[cfg_attr(not(any(feature = "blosclz", feature = "lz4")), allow(dead_code))]
    #[inline(always)]
    pub(crate) fn with_slack(&self) -> &'a [u8] {
        self.bytes
    }
}

impl<'a> From<&'a [u8]> for Input<'a> {
    fn from(bytes: &'a [u8]) -> Input<'a> {
        Input { bytes, len: bytes.len() }
    }
}
