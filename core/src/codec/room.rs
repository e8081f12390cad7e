//! [`Room`] and [`Input`]: where a stream is expanded to, and where it comes from.

use super::CodecErrorKind;
use crate::arch::level::Level;
use crate::arch::out::Out;
use core::cmp::Ordering;

/// Memory for an expanded stream of `len` bytes.
///
/// ```text
/// out  [ wanted ........ | the rest of the stream | may be overwritten ]
///        0          wanted                      len           out.len()
/// ```
/// Wide copies that may run past the stream's end need not stop before it. Who wants only the beginning of a stream
/// need not wait for the rest: decoders that can stop once they have written it.
pub struct Room<'a> {
    /// All of the memory.
    pub(crate) out: Out<'a>,
    /// What the stream must expand to, at most all of it.
    pub(crate) len: usize,
    /// At most `len`.
    #[cfg_attr(not(any(feature = "blosclz", feature = "lz4")), allow(dead_code))]
    pub(crate) wanted: usize,
    /// The kernels that a decoder may choose from.
    #[cfg_attr(
        not(any(feature = "blosclz", feature = "lz4", feature = "zlib", feature = "zstd")),
        allow(dead_code)
    )]
    pub(crate) level: Level,
}

impl<'a> Room<'a> {
    /// Room for a stream of `len` bytes, the first `wanted` of which are wanted. Both are cut to what there is.
    #[inline]
    pub(crate) fn new(out: Out<'a>, len: usize, wanted: usize, level: Level) -> Room<'a> {
        let len = len.min(out.len());
        Room { len, wanted: wanted.min(len), out, level }
    }

    /// Whether a stream that came to `written` bytes has the length it must have.
    #[cfg_attr(not(any(feature = "blosclz", feature = "lz4")), allow(dead_code))]
    pub(crate) fn filled(written: usize, len: usize) -> Result<(), CodecErrorKind> {
        match written.cmp(&len) {
            Ordering::Less => Err(CodecErrorKind::TooShort),
            Ordering::Equal => Ok(()),
            Ordering::Greater => Err(CodecErrorKind::TooLong),
        }
    }

    /// Exactly the stream's bytes, for decoders that neither stop nor overrun.
    pub(crate) fn exact(self) -> Out<'a> {
        self.out.split_at(self.len).0
    }
}

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

impl<'a> From<Out<'a>> for Room<'a> {
    fn from(out: Out<'a>) -> Room<'a> {
        let len = out.len();
        Room { out, len, wanted: len, level: Level::usual() }
    }
}
