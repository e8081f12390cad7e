//! zlib by the `zlib-rs` crate, on hosts: all levels, reused states.
//!
//! Its output does not depend on the SIMD instructions of the machine: they only serve to compare
//! bytes and to compute the checksum.

use super::context::{DecodeContext, EncodeContext};
use super::{Codec, CodecError, CodecErrorKind};
use crate::arch::out::Out;
use zlib_rs::{Deflate, DeflateFlush, Status};

/// The state that encodes at chunk level 1 ..= 9, which is zlib's own level.
pub(crate) fn encoder(level: u8) -> Deflate {
    Deflate::new(level.clamp(1, 9).into(), true, 15)
}

/// Expands one zlib stream into exactly `out`; bytes after its end are ignored. Never allocates,
/// unless `context` was made for other codecs only.
pub fn decode(context: &mut DecodeContext, src: &[u8], mut out: Out<'_>) -> Result<(), CodecError> {
    context.prepare(Codec::Zlib);
    let Some(state) = &mut context.zlib else { return Err(CodecErrorKind::Work.at(0)) };
    state.reset(true);
    let result = crate::arch::ffi::inflate(state, src, &mut out);
    let at = usize::try_from(state.total_in()).unwrap_or(src.len());
    match result {
        Ok((Status::StreamEnd, n)) if n == out.len() as u64 => Ok(()),
        Ok((Status::StreamEnd, _)) => Err(CodecErrorKind::TooShort.at(at)),
        Ok((_, n)) if n == out.len() as u64 && at < src.len() => Err(CodecErrorKind::TooLong.at(at)),
        Ok(_) => Err(CodecErrorKind::Truncated.at(at)),
        Err(zlib_rs::InflateError::NeedDict { .. }) => Err(CodecErrorKind::Dictionary.at(at)),
        Err(_) => Err(CodecErrorKind::Corrupt.at(at)),
    }
}

/// Compresses `src` into the start of `dst`; returns the size.
///
/// `None` when it does not fit, or when the context is not for zlib. Never allocates.
pub fn encode(context: &mut EncodeContext, src: &[u8], dst: &mut [u8]) -> Option<usize> {
    let state = context.zlib.as_mut()?;
    state.reset();
    match state.compress(src, dst, DeflateFlush::Finish) {
        Ok(Status::StreamEnd) => usize::try_from(state.total_out()).ok(),
        _ => None,
    }
}
