//! One frame (RFC 8878 §3.1).

use super::block::{self, MAX_BLOCK};
use super::dictionary::Dictionary;
use super::tables::Tables;
use super::xxh64::xxh64;
use crate::arch::lz::window::Window;
use crate::arch::out::Out;
use crate::codec::error::{CodecError, CodecErrorKind};

const MAGIC: u32 = 0xFD2F_B528;
/// The low 4 bits of a skippable frame's magic number are free.
const SKIPPABLE: u32 = 0x184D_2A50;
/// Largest window that C zstd accepts, on every width of pointer.
const MAX_WINDOW_LOG: u32 = 31;

/// Reads little-endian numbers one after the other.
struct Cursor<'a> {
    src: &'a [u8],
    at: usize,
}

impl Cursor<'_> {
    /// The next `n <= 8` bytes.
    fn number(&mut self, n: usize) -> Result<u64, CodecErrorKind> {
        let bytes = self.src.get(self.at..).and_then(|s| s.get(..n)).ok_or(CodecErrorKind::Truncated)?;
        self.at = self.at.wrapping_add(n);
        Ok(bytes.iter().rev().fold(0, |value, &byte| value << 8 | u64::from(byte)))
    }
}

/// What a frame's header says.
struct Header {
    /// Most bytes a block may expand to.
    max_block: usize,
    content: Option<u64>,
    checksum: bool,
    dictionary: u32,
}

fn header(cursor: &mut Cursor<'_>) -> Result<Header, CodecErrorKind> {
    let descriptor = cursor.number(1)?;
    let single_segment = descriptor & 0x20 != 0;
    if descriptor & 8 != 0 {
        return Err(CodecErrorKind::Corrupt);
    }
    let mut window = None;
    if !single_segment {
        let byte = cursor.number(1)?;
        let log = (byte >> 3).wrapping_add(10) as u32;
        if log > MAX_WINDOW_LOG {
            return Err(CodecErrorKind::Corrupt);
        }
        let base = 1u64 << (log & 63);
        window = Some(base.wrapping_add((base >> 3).wrapping_mul(byte & 7)));
    }
    let dictionary = cursor.number(match descriptor & 3 {
        0 => 0,
        1 => 1,
        2 => 2,
        _ => 4,
    })? as u32;
    let content = match descriptor >> 6 {
        0 if !single_segment => None,
        0 => Some(cursor.number(1)?),
        1 => Some(cursor.number(2)?.wrapping_add(256)),
        2 => Some(cursor.number(4)?),
        _ => Some(cursor.number(8)?),
    };
    let window = window.or(content).unwrap_or(0);
    Ok(Header {
        max_block: usize::try_from(window).unwrap_or(MAX_BLOCK).min(MAX_BLOCK),
        content,
        checksum: descriptor & 4 != 0,
        dictionary,
    })
}

/// Expands the frame at `src[at..]` to the start of `out`; returns where the next one begins and how many
/// bytes it made.
pub(super) fn decode(
    src: &[u8],
    at: usize,
    out: Out<'_>,
    dict: &[u8],
    tables: &mut Tables<'_>,
    literals: &mut [u8],
) -> Result<(usize, usize), CodecError> {
    let mut cursor = Cursor { src, at };
    // Where something is wrong: the last block, or the header.
    let mut place = at;
    let made = expand(&mut cursor, &mut place, out, dict, tables, literals).map_err(|kind| kind.at(place))?;
    Ok((cursor.at, made))
}

fn expand(
    cursor: &mut Cursor<'_>,
    place: &mut usize,
    out: Out<'_>,
    dict: &[u8],
    tables: &mut Tables<'_>,
    literals: &mut [u8],
) -> Result<usize, CodecErrorKind> {
    let src = cursor.src;
    let magic = cursor.number(4)? as u32;
    if magic & !15 == SKIPPABLE {
        let len = cursor.number(4)?;
        let left = src.len().wrapping_sub(cursor.at);
        let len = usize::try_from(len).ok().filter(|&len| len <= left).ok_or(CodecErrorKind::Truncated)?;
        cursor.at = cursor.at.wrapping_add(len);
        return Ok(0);
    }
    if magic != MAGIC {
        return Err(if *place == 0 { CodecErrorKind::Corrupt } else { CodecErrorKind::TrailingBytes });
    }
    let header = header(cursor)?;
    if header.content.is_some_and(|n| n > out.len() as u64) {
        return Err(CodecErrorKind::TooLong);
    }
    tables.reset();
    let dict = Dictionary::load(dict, tables)?;
    if header.dictionary != 0 && header.dictionary != dict.id {
        return Err(CodecErrorKind::Dictionary);
    }
    let mut window = Window::new(out, dict.content);
    loop {
        *place = cursor.at;
        let head = cursor.number(3)? as u32;
        let size = (head >> 3) as usize;
        if size > header.max_block {
            return Err(CodecErrorKind::Corrupt);
        }
        let start = cursor.at;
        let stored = if head >> 1 & 3 == 1 { 1 } else { size };
        if stored > src.len().wrapping_sub(start) {
            return Err(CodecErrorKind::Truncated);
        }
        cursor.at = start.wrapping_add(stored);
        match head >> 1 & 3 {
            0 => window.literals(src, start, size)?,
            1 => window.fill(src.get(start).copied().unwrap_or(0), size)?,
            2 => block::compressed(src, start, cursor.at, header.max_block, &mut window, tables, literals)?,
            _ => return Err(CodecErrorKind::Corrupt),
        }
        if head & 1 != 0 {
            break;
        }
    }
    let made = window.position();
    if header.content.is_some_and(|n| n != made as u64) {
        return Err(CodecErrorKind::TooShort);
    }
    if header.checksum {
        *place = cursor.at;
        if cursor.number(4)? as u32 != xxh64(window.written()) as u32 {
            return Err(CodecErrorKind::Checksum);
        }
    }
    Ok(made)
}
