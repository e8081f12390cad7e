//! [`Room`]: where a stream is expanded to.

use super::CodecErrorKind;
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
    pub(crate) wanted: usize,
}

impl<'a> Room<'a> {
    /// Room for a stream of `len` bytes, the first `wanted` of which are wanted. Both are cut to what there is.
    pub(crate) fn new(out: Out<'a>, len: usize, wanted: usize) -> Room<'a> {
        let len = len.min(out.len());
        Room { len, wanted: wanted.min(len), out }
    }

    /// Whether a stream that came to `written` bytes has the length it must have.
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

impl<'a> From<Out<'a>> for Room<'a> {
    fn from(out: Out<'a>) -> Room<'a> {
        let len = out.len();
        Room { out, len, wanted: len }
    }
}
