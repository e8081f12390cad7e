//! zstd frames (RFC 8878): our own decoder, for builds without an allocator.
//!
//! ```text
//! stream := (frame | skippable frame)*
//! frame  := FD2FB528 (little-endian), descriptor, [window], [dictionary id], [content size], block*, [XXH64's low half]
//! block  := last:1 type:2 size:21, raw bytes | one byte | literals and sequences
//! ```
//! The output is the window, so the frame's window size only bounds its blocks. Tables and literals lie in
//! the caller's scratch; nothing else needs memory.
#![deny(clippy::indexing_slicing, clippy::arithmetic_side_effects)]

mod bits;
mod block;
mod dictionary;
mod frame;
mod fse;
mod huffman;
#[cfg(feature = "zstd-c")]
#[allow(clippy::indexing_slicing, clippy::arithmetic_side_effects)]
// it reads what is to be encoded, which no stranger wrote
pub(in crate::codec) mod levels;
mod tables;
mod xxh64;

use crate::arch::copy::SLACK;
use crate::arch::level::Level;
use crate::arch::out::Out;
use crate::codec::error::{CodecError, CodecErrorKind};
use block::MAX_BLOCK;

/// Bytes of scratch memory [`decode`] needs for an output of `len` bytes: the tables (16 KiB, and 8 KiB more on
/// 64-bit machines), and the literals of one block, which are copied wide.
pub const fn decode_work_len(len: usize) -> usize {
    let literals = if len < MAX_BLOCK { len } else { MAX_BLOCK };
    tables::TABLES_LEN.saturating_add(SLACK).saturating_add(literals)
}

/// Expands all frames of `src` into exactly `out`.
///
/// `dict` is a dictionary, formatted (starting with 37 A4 30 EC) or plain content, or empty. `work` holds at
/// least [`decode_work_len`]`(out.len())` bytes of any content and alignment.
///
/// # Errors
/// `Work` where `work` is too short; else what is wrong in `src`, and the offset of the block or header that is wrong.
pub fn decode(src: &[u8], out: Out<'_>, dict: &[u8], work: &mut [u8]) -> Result<(), CodecError> {
    expand(src, out, dict, work, Level::usual())
}

/// [`decode`], with the kernels of `level`.
#[inline(never)] // its stack is not the other codecs'
pub(crate) fn expand(
    src: &[u8],
    mut out: Out<'_>,
    dict: &[u8],
    work: &mut [u8],
    level: Level,
) -> Result<(), CodecError> {
    if work.len() < decode_work_len(out.len()) {
        return Err(CodecErrorKind::Work.at(0));
    }
    let (mut tables, literals) = tables::Tables::new(work, level).ok_or(CodecErrorKind::Work.at(0))?;
    let (mut at, mut done) = (0usize, 0usize);
    while at < src.len() {
        let room = out.len().wrapping_sub(done);
        let room = out.get(done, room).ok_or(CodecErrorKind::TooLong.at(at))?;
        let (next, made) = frame::decode(src, at, room, dict, &mut tables, literals)?;
        at = next;
        done = done.wrapping_add(made);
    }
    if done == out.len() { Ok(()) } else { Err(CodecErrorKind::TooShort.at(at)) }
}
