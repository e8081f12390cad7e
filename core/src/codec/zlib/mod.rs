//! zlib streams (RFC 1950, RFC 1951).

use super::{CodecError, CodecErrorKind};
use crate::arch::out::Out;

/// Bytes of scratch memory [`decode`] needs.
pub const DECODE_WORK_LEN: usize = 8 << 10;

/// Expands `src` into exactly `out`.
pub fn decode(src: &[u8], out: Out<'_>, work: &mut [u8]) -> Result<(), CodecError> {
    let _ = (src, out, work);
    Err(CodecErrorKind::Corrupt.at(0))
}
