//! Deflate blocks (RFC 1951).

use super::ORDER;
use crate::arch::entropy::adler::adler32;
use crate::arch::entropy::bits::BitReader;
use crate::arch::entropy::deflate_tables::{LENGTHS_BITS, Tables};
use crate::arch::entropy::inflate::middle;
use crate::arch::level::Level;
use crate::arch::lz::window::Window;
use crate::codec::destination::Destination;
use crate::codec::error::CodecErrorKind;

/// Most literal/length and distance codes a block can describe.
const MAX_CODES: usize = 288 + 32;
/// Most bits of a length and a distance: two codes of 15 bits, 5 and 13 extra bits.
const LONGEST: u32 = 48;

/// Expands the blocks in `src` to exactly the stream's bytes and checks the sum behind them. An error carries the
/// offset in `src` of the block, or sum, that is wrong.
pub(super) fn stream(
    src: &[u8],
    room: Destination<'_>,
    work: &mut [u8],
) -> Result<(), (CodecErrorKind, usize)> {
    let mut tables = Tables::new(work).ok_or((CodecErrorKind::Work, 0))?;
    let mut bits = BitReader::new(src);
    let level = room.level;
    let mut window = Window::new(room.exact(), &[]);
    loop {
        let start = bits.byte_position().unwrap_or(src.len());
        if block(&mut bits, &mut window, &mut tables, level).map_err(|kind| (kind, start))? {
            break;
        }
    }
    let at = bits.byte_position().map_err(|kind| (kind, src.len()))?;
    if window.remaining() != 0 {
        return Err((CodecErrorKind::TooShort, at));
    }
    let sum = src.get(at..).and_then(|s| s.first_chunk::<4>()).ok_or((CodecErrorKind::Truncated, at))?;
    if u32::from_be_bytes(*sum) == adler32(window.written(), level) {
        Ok(())
    } else {
        Err((CodecErrorKind::Checksum, at))
    }
}

/// Expands one block; returns whether it was the last.
fn block(
    bits: &mut BitReader<'_>,
    window: &mut Window<'_>,
    tables: &mut Tables<'_>,
    level: Level,
) -> Result<bool, CodecErrorKind> {
    bits.refill()?;
    let last = bits.take(1) == 1;
    match bits.take(2) {
        0 => stored(bits, window)?,
        1 => {
            tables.fix()?;
            coded(bits, window, tables, level)?;
        }
        2 => {
            described(bits, tables)?;
            coded(bits, window, tables, level)?;
        }
        _ => return Err(CodecErrorKind::Corrupt),
    }
    Ok(last)
}

fn stored(bits: &mut BitReader<'_>, window: &mut Window<'_>) -> Result<(), CodecErrorKind> {
    let at = bits.byte_position()?;
    let src = bits.src();
    let word = src.get(at..).and_then(|s| s.first_chunk::<4>()).ok_or(CodecErrorKind::Truncated)?;
    let [a, b, c, d] = *word;
    let len = u16::from_le_bytes([a, b]);
    if len != !u16::from_le_bytes([c, d]) {
        return Err(CodecErrorKind::Corrupt);
    }
    let at = at.saturating_add(4);
    window.literals(src, at, len.into())?;
    bits.seek(at.saturating_add(len.into()));
    Ok(())
}

/// Reads the code lengths of a block and builds its tables.
fn described(bits: &mut BitReader<'_>, tables: &mut Tables<'_>) -> Result<(), CodecErrorKind> {
    bits.refill()?;
    let nlit = bits.take(5).wrapping_add(257) as usize;
    let ndist = bits.take(5).wrapping_add(1) as usize;
    let nlens = bits.take(4).wrapping_add(4) as usize;
    if nlit > 286 || ndist > 30 {
        return Err(CodecErrorKind::Corrupt);
    }
    let mut lens = [0u8; 19];
    for &sym in ORDER.iter().take(nlens) {
        bits.refill()?;
        if let Some(len) = lens.get_mut(usize::from(sym)) {
            *len = bits.take(3) as u8;
        }
    }
    tables.describe_lengths(&lens)?;

    // Lengths are stored eight at once; behind those known are zeros.
    let mut lens = [0u8; MAX_CODES + 8];
    let total = nlit.wrapping_add(ndist);
    let mut done = 0usize;
    let mut previous = None;
    while done < total {
        bits.refill()?;
        let entry = tables.dist.first(bits.peek() & const { (1 << LENGTHS_BITS) - 1 });
        if !entry.is_base() {
            return Err(CodecErrorKind::Corrupt);
        }
        let symbol = entry.value(bits.peek());
        bits.skip(entry.drop_bits());
        let (value, n) = match symbol {
            16 => (previous.ok_or(CodecErrorKind::Corrupt)?, bits.take(2).wrapping_add(3)),
            17 => (0, bits.take(3).wrapping_add(3)),
            18 => (0, bits.take(7).wrapping_add(11)),
            len => (len as u8, 1),
        };
        // There may be more than eight zeros.
        let word = u64::from_le_bytes([value; 8]) & !u64::MAX.wrapping_shl(n << 3);
        let room = lens.get_mut(done..).and_then(|rest| rest.first_chunk_mut::<8>());
        *room.ok_or(CodecErrorKind::Corrupt)? = word.to_le_bytes();
        done = done.wrapping_add(n as usize);
        previous = Some(value);
    }
    if done > total {
        return Err(CodecErrorKind::Corrupt);
    }
    let (lit, rest) = lens.split_at_checked(nlit).ok_or(CodecErrorKind::Corrupt)?;
    let dist = rest.get(..ndist).ok_or(CodecErrorKind::Corrupt)?;
    if lit.get(256).copied().unwrap_or(0) == 0 {
        return Err(CodecErrorKind::Corrupt);
    }
    tables.describe(lit, dist)
}

/// Expands the codes of a block up to its end-of-block code.
fn coded(
    reader: &mut BitReader<'_>,
    window: &mut Window<'_>,
    tables: &Tables<'_>,
    level: Level,
) -> Result<(), CodecErrorKind> {
    let mut bits = *reader;
    while !middle(window, &mut bits, tables, level) {
        bits.refill()?;
        let entry = loop {
            let mut entry = tables.lit.first(bits.peek());
            if !entry.is_literal() && entry.is_link() {
                entry = tables.lit.second(entry, bits.peek());
            }
            if !entry.is_literal() {
                break entry;
            }
            bits.skip(entry.drop_bits());
            let (word, n) = entry.literals();
            window.push_low(word.into(), n)?;
            if bits.held() < LONGEST {
                bits.refill()?;
            }
        };
        if entry.is_end() {
            bits.skip(entry.drop_bits());
            break;
        }
        if !entry.is_base() {
            return Err(CodecErrorKind::Corrupt);
        }
        let len = entry.value(bits.peek());
        bits.skip(entry.drop_bits());
        let mut entry = tables.dist.first(bits.peek());
        if entry.is_link() {
            entry = tables.dist.second(entry, bits.peek());
        }
        if !entry.is_base() {
            return Err(CodecErrorKind::Corrupt);
        }
        let distance = entry.value(bits.peek());
        bits.skip(entry.drop_bits());
        window.copy_match(distance, len)?;
    }
    *reader = bits;
    Ok(())
}
