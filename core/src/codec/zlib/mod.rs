//! zlib streams (RFC 1950) around deflate (RFC 1951): our own decoder, and our own
//! encoder.
//!
//! ```text
//! CMF FLG   CMF & 15 = 8 (deflate), CMF >> 4 <= 7, (CMF << 8 | FLG) % 31 = 0, FLG & 0x20 = preset dictionary
//! block*    last:1 type:2, then by type: 0 stored, 1 fixed codes, 2 codes described in the block
//! adler32   big-endian, of the decoded bytes
//! ```
//! The output is the history, so no window is kept; the tables lie in the caller's scratch.
#![deny(clippy::indexing_slicing, clippy::arithmetic_side_effects)]

pub mod deflate;
#[cfg(feature = "std")]
pub(in crate::codec) mod encoders;
mod inflate;

use crate::arch::entropy::{adler, deflate_tables};
use crate::arch::input::Input;
use crate::arch::level::Level;
use crate::arch::out::Out;
use crate::codec::destination::Destination;
use crate::codec::error::{CodecError, CodecErrorKind};

/// Order in which the lengths of the code-length code are stored.
const ORDER: [u8; 19] = [16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15];

/// The Adler-32 checksum of `data`.
pub fn adler32(data: &[u8]) -> u32 {
    adler::adler32(data, Level::usual())
}

/// Bytes of scratch memory [`decode`] needs: the two code tables.
pub const DECODE_WORK_LEN: usize = deflate_tables::TABLES_LEN;

/// Expands the zlib stream at the start of `src` into exactly `out`. Bytes after its end are ignored.
///
/// `work` holds at least [`DECODE_WORK_LEN`] bytes of any content and alignment.
///
/// # Errors
/// `Work` where `work` is too short, `Dictionary` where the stream needs one; else what is wrong in `src`, and the offset of
/// the block, header or checksum that is wrong.
pub fn decode(src: &[u8], out: Out<'_>, work: &mut [u8]) -> Result<(), CodecError> {
    expand(src.into(), out.into(), work)
}

/// [`decode`], at the room's level.
#[inline(never)] // its stack is not the other codecs'
pub(crate) fn expand(input: Input<'_>, room: Destination<'_>, work: &mut [u8]) -> Result<(), CodecError> {
    let src = input.exact();
    let Some(([cmf, flg], body)) = src.split_first_chunk::<2>() else {
        return Err(CodecErrorKind::Truncated.at(0));
    };
    let header = u16::from_be_bytes([*cmf, *flg]);
    if cmf & 15 != 8 || cmf >> 4 > 7 || header % 31 != 0 {
        return Err(CodecErrorKind::Corrupt.at(0));
    }
    if flg & 0x20 != 0 {
        return Err(CodecErrorKind::Dictionary.at(1));
    }
    inflate::stream(body, room, work).map_err(|(kind, at)| kind.at(at.saturating_add(2)))
}
