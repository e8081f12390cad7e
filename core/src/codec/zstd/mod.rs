//! zstd frames (RFC 8878).

use super::{CodecError, CodecErrorKind};
use crate::arch::out::Out;

/// Bytes of scratch memory [`decode`] needs for an output of `len` bytes.
pub const fn decode_work_len(len: usize) -> usize {
    let literals = if len < 128 << 10 { len } else { 128 << 10 };
    (32 << 10) + literals
}

/// Expands all frames of `src` into exactly `out`.
pub fn decode(src: &[u8], out: Out<'_>, dict: &[u8], work: &mut [u8]) -> Result<(), CodecError> {
    let _ = (src, out, dict, work);
    Err(CodecErrorKind::Corrupt.at(0))
}
