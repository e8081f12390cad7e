//! Deflate blocks (RFC 1951).

use super::adler::adler32;
use super::bits::BitReader;
use super::huffman::{
    BASE, DIST_BITS, LENGTHS_BITS, LIT_BITS, LITERAL, Tables, dist_symbol, lit_symbol, plain_symbol,
};
use crate::arch::copy::Window;
use crate::arch::out::Out;
use crate::codec::CodecErrorKind;

/// Order in which the lengths of the code-length code are stored.
const ORDER: [u8; 19] = [16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15];
/// Most literal/length and distance codes a block can describe.
const MAX_CODES: usize = 288 + 32;

/// Expands the blocks in `src` into exactly `out` and checks the sum behind them. An error carries the
/// offset in `src` of the block, or sum, that is wrong.
pub(super) fn stream(src: &[u8], out: Out<'_>, work: &mut [u8]) -> Result<(), (CodecErrorKind, usize)> {
    let mut tables = Tables::new(work).ok_or((CodecErrorKind::Work, 0))?;
    let mut bits = BitReader::new(src);
    let mut window = Window::new(out, &[]);
    loop {
        let start = bits.byte_position().unwrap_or(src.len());
        if block(&mut bits, &mut window, &mut tables).map_err(|kind| (kind, start))? {
            break;
        }
    }
    let at = bits.byte_position().map_err(|kind| (kind, src.len()))?;
    if window.remaining() != 0 {
        return Err((CodecErrorKind::TooShort, at));
    }
    let sum = src.get(at..).and_then(|s| s.first_chunk::<4>()).ok_or((CodecErrorKind::Truncated, at))?;
    if u32::from_be_bytes(*sum) == adler32(window.written()) {
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
) -> Result<bool, CodecErrorKind> {
    bits.refill()?;
    let last = bits.take(1) == 1;
    match bits.take(2) {
        0 => stored(bits, window)?,
        1 => {
            fixed(tables)?;
            coded(bits, window, tables)?;
        }
        2 => {
            described(bits, tables)?;
            coded(bits, window, tables)?;
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

fn fixed(tables: &mut Tables<'_>) -> Result<(), CodecErrorKind> {
    let mut lens = [8u8; 288];
    for (sym, len) in lens.iter_mut().enumerate() {
        *len = match sym {
            0..=143 => 8,
            144..=255 => 9,
            256..=279 => 7,
            _ => 8,
        };
    }
    tables.lit.build(LIT_BITS, &lens, lit_symbol)?;
    tables.dist.build(DIST_BITS, &[5; 32], dist_symbol)
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
    // The table of the distances is free until their lengths are known.
    tables.dist.build(LENGTHS_BITS, &lens, plain_symbol)?;

    let mut lens = [0u8; MAX_CODES];
    let total = nlit.wrapping_add(ndist);
    let mut done = 0usize;
    let mut previous = 0u8;
    while done < total {
        bits.refill()?;
        let entry = tables.dist.first(bits.peek() & 0x7f);
        if !entry.is(BASE) {
            return Err(CodecErrorKind::Corrupt);
        }
        bits.skip(entry.code_bits());
        let (value, n) = match entry.0 >> 16 {
            16 if done == 0 => return Err(CodecErrorKind::Corrupt),
            16 => (previous, bits.take(2).wrapping_add(3)),
            17 => (0, bits.take(3).wrapping_add(3)),
            18 => (0, bits.take(7).wrapping_add(11)),
            len => (len as u8, 1),
        };
        let end = done.wrapping_add(n as usize);
        if end > total {
            return Err(CodecErrorKind::Corrupt);
        }
        lens.get_mut(done..end).ok_or(CodecErrorKind::Corrupt)?.fill(value);
        done = end;
        previous = value;
    }
    let (lit, rest) = lens.split_at_checked(nlit).ok_or(CodecErrorKind::Corrupt)?;
    let dist = rest.get(..ndist).ok_or(CodecErrorKind::Corrupt)?;
    if lit.get(256).copied().unwrap_or(0) == 0 {
        return Err(CodecErrorKind::Corrupt);
    }
    tables.lit.build(LIT_BITS, lit, lit_symbol)?;
    tables.lit.pair_literals();
    tables.dist.build(DIST_BITS, dist, dist_symbol)
}

/// Expands the codes of a block up to its end-of-block code.
fn coded(
    reader: &mut BitReader<'_>,
    window: &mut Window<'_>,
    tables: &Tables<'_>,
) -> Result<(), CodecErrorKind> {
    let mut bits = *reader;
    loop {
        bits.refill()?;
        let mut entry = tables.lit.first(bits.peek());
        // Up to three entries of literals: at most 30 bits.
        if entry.is(LITERAL) {
            bits.skip(entry.drop_bits());
            let (word, n) = entry.literals();
            window.push_low(word, n)?;
            entry = tables.lit.first(bits.peek());
            if entry.is(LITERAL) {
                bits.skip(entry.drop_bits());
                let (word, n) = entry.literals();
                window.push_low(word, n)?;
                entry = tables.lit.first(bits.peek());
                if entry.is(LITERAL) {
                    bits.skip(entry.drop_bits());
                    let (word, n) = entry.literals();
                    window.push_low(word, n)?;
                    continue;
                }
            }
            bits.refill()?;
        }
        // A length takes at most 15 + 5 bits and a distance 15 + 13.
        if !entry.is(BASE) {
            if entry.is_end() {
                bits.skip(entry.drop_bits());
                *reader = bits;
                return Ok(());
            }
            if !entry.is_link() {
                return Err(CodecErrorKind::Corrupt);
            }
            bits.skip(entry.drop_bits());
            entry = tables.lit.second(entry, bits.peek());
            if entry.is(LITERAL) {
                bits.skip(entry.drop_bits());
                let (word, n) = entry.literals();
                window.push_low(word, n)?;
                continue;
            }
            if entry.is_end() {
                bits.skip(entry.drop_bits());
                *reader = bits;
                return Ok(());
            }
            if !entry.is(BASE) {
                return Err(CodecErrorKind::Corrupt);
            }
        }
        let len = entry.value(bits.peek());
        bits.skip(entry.drop_bits());
        let mut entry = tables.dist.first(bits.peek());
        if entry.is_link() {
            bits.skip(entry.drop_bits());
            entry = tables.dist.second(entry, bits.peek());
        }
        if !entry.is(BASE) {
            return Err(CodecErrorKind::Corrupt);
        }
        let distance = entry.value(bits.peek());
        bits.skip(entry.drop_bits());
        window.copy_match(distance, len)?;
    }
}
