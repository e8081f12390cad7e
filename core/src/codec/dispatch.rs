//! One stream in or out, by whichever codec the chunk names.

use super::content::Content;
use super::context::{DecodeContext, EncodeContext};
use crate::arch::input::Input;
use crate::arch::out::Out;
use crate::codec::destination::Destination;
use crate::codec::error::CodecError;
use crate::codec::id::Codec;

/// Why a stream was not expanded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StreamError {
    /// The stream is corrupt.
    Corrupt(CodecError),
    /// This build, or this library, has no decoder for the codec.
    NotBuiltIn,
}

impl From<CodecError> for StreamError {
    fn from(error: CodecError) -> Self {
        StreamError::Corrupt(error)
    }
}

/// Scratch bytes that any built-in codec needs to expand a stream of `len` bytes.
pub const fn decode_work_len(len: usize) -> usize {
    let most = 0;
    #[cfg(feature = "zlib")]
    let most = max(most, super::zlib::DECODE_WORK_LEN);
    #[cfg(feature = "zstd")]
    let most = max(most, super::zstd::decode_work_len(len));
    let _ = len;
    most
}

#[cfg(any(feature = "zlib", feature = "zstd"))]
const fn max(a: usize, b: usize) -> usize {
    if a > b { a } else { b }
}

/// Expands `src` to exactly `out`.
///
/// `meta` is the codec's parameter byte, `dict` the chunk's dictionary,
/// `work` at least [`decode_work_len`] bytes. On hosts `context` makes zstd faster.
///
/// # Errors
/// `NotBuiltIn` where this build has no decoder for `codec`; `Corrupt` with what is wrong in the stream, and where.
pub fn decode_stream(
    codec: Codec,
    meta: u8,
    src: &[u8],
    out: Out<'_>,
    dict: &[u8],
    work: &mut [u8],
    context: &mut DecodeContext,
) -> Result<(), StreamError> {
    expand_stream(codec, meta, src.into(), out.into(), dict, work, context)
}

/// [`decode_stream`], as far as is wanted by codecs that can stop.
pub(crate) fn expand_stream(
    codec: Codec,
    meta: u8,
    input: Input<'_>,
    room: Destination<'_>,
    dict: &[u8],
    work: &mut [u8],
    context: &mut DecodeContext,
) -> Result<(), StreamError> {
    match codec {
        #[cfg(feature = "blosclz")]
        Codec::BloscLz => return Ok(super::blosclz::expand(input, room)?),
        #[cfg(feature = "lz4")]
        Codec::Lz4 | Codec::Lz4Hc => return Ok(super::lz4::expand(input, room, dict)?),
        #[cfg(feature = "zlib")]
        Codec::Zlib => return Ok(super::zlib::expand(input, room, work)?),
        _ => {}
    }
    let (src, level, out) = (input.exact(), room.level, room.exact());
    let _ = (meta, level, &src, &out, dict, &work, &context);
    match codec {
        #[cfg(feature = "snappy")]
        Codec::Snappy => Ok(super::snappy::decode(src, out)?),
        #[cfg(feature = "zstd-c")]
        Codec::Zstd if context.has(codec) => Ok(super::zstd_c::decode(context, src, out, dict)?),
        #[cfg(feature = "zstd")]
        Codec::Zstd => Ok(super::zstd::expand(src, out, dict, work, level)?),
        #[cfg(feature = "plugins")]
        Codec::Ndlz => Ok(super::ndlz::decode(src, out, meta)?),
        _ => Err(StreamError::NotBuiltIn),
    }
}

/// Scratch bytes that encoding streams of `len` bytes takes.
pub const fn encode_work_len(codec: Codec, level: u8, len: usize) -> usize {
    let _ = (level, len);
    match codec {
        #[cfg(feature = "blosclz")]
        Codec::BloscLz => super::blosclz::work_len(level, len),
        #[cfg(feature = "lz4")]
        Codec::Lz4 => super::lz4::work_len(len),
        #[cfg(feature = "lz4")]
        Codec::Lz4Hc => super::lz4hc::work_len(level, len),
        #[cfg(all(feature = "std", feature = "zlib"))]
        Codec::Zlib => super::zlib_host::work_len(level, len),
        #[cfg(all(feature = "zlib", not(feature = "std")))]
        Codec::Zlib => super::zlib::deflate::work_len(level, len),
        #[cfg(feature = "snappy")]
        Codec::Snappy => super::snappy::WORK_LEN,
        #[cfg(feature = "plugins")]
        Codec::Ndlz => super::ndlz::WORK_LEN,
        _ => 0,
    }
}

/// Compresses `src` into the start of `dst` and returns the size.
///
/// `None` when it does not fit, when `context` was made for another codec, or when `work` is shorter
/// than [`encode_work_len`].
pub fn encode_stream(
    codec: Codec,
    level: u8,
    src: &[u8],
    dst: &mut [u8],
    dict: &[u8],
    work: &mut [u8],
    context: &mut EncodeContext,
) -> Option<usize> {
    encode_stream_of(codec, level, src, dst, dict, Content::Any, work, context)
}

/// [`encode_stream`], knowing what `src` is made of.
#[allow(clippy::too_many_arguments)]
pub(crate) fn encode_stream_of(
    codec: Codec,
    level: u8,
    src: &[u8],
    dst: &mut [u8],
    dict: &[u8],
    content: Content,
    work: &mut [u8],
    context: &mut EncodeContext,
) -> Option<usize> {
    let _ = (level, src, &dst, dict, content, &work, &context);
    match codec {
        #[cfg(feature = "blosclz")]
        Codec::BloscLz => super::blosclz::encode(src, dst, level, work),
        #[cfg(feature = "lz4")]
        Codec::Lz4 => {
            super::lz4::encode_content(src, dst, 10 - u32::from(level.clamp(1, 9)), dict, content, work)
        }
        #[cfg(feature = "lz4")]
        Codec::Lz4Hc => super::lz4hc::encode(src, dst, level, dict, work),
        #[cfg(all(feature = "std", feature = "zlib"))]
        Codec::Zlib => super::zlib_host::encode(context, src, dst, level, work),
        #[cfg(all(feature = "zlib", not(feature = "std")))]
        Codec::Zlib => super::zlib::deflate::encode(src, dst, level, work),
        #[cfg(feature = "snappy")]
        Codec::Snappy => super::snappy::encode(src, dst, work),
        #[cfg(feature = "zstd-c")]
        Codec::Zstd => super::zstd_c::encode_content(context, src, dst, dict, content),
        _ => None,
    }
}
