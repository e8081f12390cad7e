//! [`Destination`]: where a stream is expanded to.

use crate::arch::level::Level;
use crate::arch::out::Out;
use crate::codec::error::CodecErrorKind;
use core::cmp::Ordering;

/// Memory for an expanded stream of `len` bytes.
///
/// ```text
/// out  [ wanted ........ | the rest of the stream | may be overwritten ]
///        0          wanted                      len           out.len()
/// ```
/// Wide copies that may run past the stream's end need not stop before it. A caller that wants only the beginning of a
/// stream need not wait for the rest: decoders that can stop do so once they have written it.
pub struct Destination<'a> {
    /// All of the memory.
    pub(crate) out: Out<'a>,
    /// What the stream must expand to, at most all of it.
    pub(crate) len: usize,
    /// How many bytes are wanted, at most `len`.
    #[cfg_attr(not(any(feature = "blosclz", feature = "lz4")), allow(dead_code))]
    pub(crate) wanted: usize,
    /// The kernels that a decoder may choose from.
    #[cfg_attr(
        not(any(feature = "blosclz", feature = "lz4", feature = "zlib", feature = "zstd")),
        allow(dead_code)
    )]
    pub(crate) level: Level,
}

impl<'a> Destination<'a> {
    /// Destination for a stream of `len` bytes, the first `wanted` of which are wanted. Both are cut to what there is.
    #[inline]
    pub(crate) fn new(out: Out<'a>, len: usize, wanted: usize, level: Level) -> Destination<'a> {
        let len = len.min(out.len());
        Destination { len, wanted: wanted.min(len), out, level }
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

impl<'a> From<Out<'a>> for Destination<'a> {
    fn from(out: Out<'a>) -> Destination<'a> {
        let len = out.len();
        Destination { out, len, wanted: len, level: Level::usual() }
    }
}
