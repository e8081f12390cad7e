//! Compressed blocks: literals, then sequences (RFC 8878 §3.1.1.3).
//!
//! ```text
//! literals   type:2 format:2 sizes..   raw | one byte | Huffman code and 1 or 4 streams | streams alone
//! sequences  count: 1-3 bytes, modes:1, tables for lengths, offsets, match lengths, one backward bit stream
//! ```

use super::bits::BackBits;
use super::fse::{Kind, entry};
use super::tables::{ALL_STATES, LITLEN_AT, MATCHLEN_AT, OFFSET_AT, Tables};
use crate::arch::entropy::bit_instructions;
use crate::arch::lz::window::Window;
use crate::codec::error::CodecErrorKind;

/// Most bytes a block expands to.
pub(super) const MAX_BLOCK: usize = 128 << 10;

/// Where the literals of a block are: `bytes[at..end]`, more bytes being readable behind them.
#[derive(Clone, Copy)]
struct Literals<'a> {
    bytes: &'a [u8],
    at: usize,
    end: usize,
}

/// Expands the block `src[at..end]` behind what `window` holds, to at most `limit` bytes. Literals pass through `buffer`.
pub(super) fn compressed(
    src: &[u8],
    at: usize,
    end: usize,
    limit: usize,
    window: &mut Window<'_>,
    tables: &mut Tables<'_>,
    buffer: &mut [u8],
) -> Result<(), CodecErrorKind> {
    let limit = limit.min(window.remaining());
    let block = src.get(at..end).ok_or(CodecErrorKind::Truncated)?;
    let head = block.first_chunk::<5>();
    // Blocks of fewer than 5 bytes hold raw or single-byte literals; read what is there.
    let head = head.copied().unwrap_or_else(|| {
        let mut head = [0; 5];
        for (to, from) in head.iter_mut().zip(block) {
            *to = *from;
        }
        head
    });
    let [b0, b1, b2, b3, b4] = head;
    let word = u64::from_le_bytes([b0, b1, b2, b3, b4, 0, 0, 0]);
    let format = b0 >> 2 & 3;
    let coded = b0 & 2 != 0;
    let (head_len, size_bits) = match (coded, format) {
        (false, 0 | 2) => (1usize, 5u32),
        (false, 1) => (2, 12),
        (false, _) => (3, 20),
        (true, 0 | 1) => (3, 10),
        (true, 2) => (4, 14),
        (true, _) => (5, 18),
    };
    let shift = if head_len == 1 { 3 } else { 4 };
    let mask = (1u64 << size_bits).wrapping_sub(1);
    let size = (word >> shift & mask) as usize;
    let body = block.get(head_len..).ok_or(CodecErrorKind::Truncated)?;
    if size > limit {
        return Err(CodecErrorKind::TooLong);
    }
    let (literals, used) = match b0 & 3 {
        0 => {
            let start = at.wrapping_add(head_len);
            if size > body.len() {
                return Err(CodecErrorKind::Truncated);
            }
            (Literals { bytes: src, at: start, end: start.wrapping_add(size) }, size)
        }
        1 => {
            let &byte = body.first().ok_or(CodecErrorKind::Truncated)?;
            buffer.get_mut(..size).ok_or(CodecErrorKind::Work)?.fill(byte);
            (Literals { bytes: buffer, at: 0, end: size }, 1)
        }
        kind => {
            let packed = (word >> size_bits.wrapping_add(4) & mask) as usize;
            let mut streams = body.get(..packed).ok_or(CodecErrorKind::Truncated)?;
            if kind == 2 {
                let taken = tables.huffman.read(streams)?;
                streams = streams.get(taken..).ok_or(CodecErrorKind::Truncated)?;
            }
            let out = buffer.get_mut(..size).ok_or(CodecErrorKind::Work)?;
            tables.huffman.decode(streams, format != 0, out, tables.level)?;
            (Literals { bytes: buffer, at: 0, end: size }, packed)
        }
    };
    let rest = body.get(used..).ok_or(CodecErrorKind::Truncated)?;
    let before = window.position();
    sequences(rest, literals, window, tables)?;
    if window.position().wrapping_sub(before) > limit { Err(CodecErrorKind::Corrupt) } else { Ok(()) }
}

fn sequences(
    src: &[u8],
    mut literals: Literals<'_>,
    window: &mut Window<'_>,
    tables: &mut Tables<'_>,
) -> Result<(), CodecErrorKind> {
    let (&b0, rest) = src.split_first().ok_or(CodecErrorKind::Truncated)?;
    let (count, rest) = match b0 {
        0..=127 => (u32::from(b0), rest),
        128..=254 => {
            let (&b1, rest) = rest.split_first().ok_or(CodecErrorKind::Truncated)?;
            (u32::from(b0 & 127) << 8 | u32::from(b1), rest)
        }
        255 => {
            let (b, rest) = rest.split_first_chunk::<2>().ok_or(CodecErrorKind::Truncated)?;
            (u32::from(u16::from_le_bytes(*b)).wrapping_add(0x7f00), rest)
        }
    };
    if count > 0 {
        let (&modes, mut rest) = rest.split_first().ok_or(CodecErrorKind::Truncated)?;
        if modes & 3 != 0 {
            return Err(CodecErrorKind::Corrupt);
        }
        for (shift, kind) in [(6, Kind::LitLen), (4, Kind::Offset), (2, Kind::MatchLen)] {
            let taken = tables.prepare(modes >> shift, rest, kind)?;
            rest = rest.get(taken..).ok_or(CodecErrorKind::Truncated)?;
        }
        execute(rest, count, &mut literals, window, tables)?;
    } else if !rest.is_empty() {
        return Err(CodecErrorKind::Corrupt);
    }
    window.literals(literals.bytes, literals.at, literals.end.wrapping_sub(literals.at))
}

/// Decodes `count` sequences and carries each out at once.
fn execute<'a>(
    src: &'a [u8],
    count: u32,
    literals: &'a mut Literals<'_>,
    window: &'a mut Window<'_>,
    tables: &'a mut Tables<'_>,
) -> Result<(), CodecErrorKind> {
    bit_instructions::run(
        tables.level,
        Sequences { bits: BackBits::new(src)?, count, literals, window, tables },
    )
}

struct Sequences<'a, 'l, 'w, 't> {
    bits: BackBits<'a>,
    count: u32,
    literals: &'a mut Literals<'l>,
    window: &'a mut Window<'w>,
    tables: &'a mut Tables<'t>,
}

impl bit_instructions::Kernel for Sequences<'_, '_, '_, '_> {
    type Output = Result<(), CodecErrorKind>;

    #[inline(always)]
    fn run<const BEST: bool>(self) -> Self::Output {
        let Sequences { mut bits, count, literals, window, tables } = self;
        bits.refill();
        let mut litlen_state = bits.take::<BEST>(tables.litlen_log.unwrap_or(0));
        let mut offset_state = bits.take::<BEST>(tables.offset_log.unwrap_or(0));
        let mut matchlen_state = bits.take::<BEST>(tables.matchlen_log.unwrap_or(0));
        let [mut recent, mut second, mut third] = tables.recent;
        let Literals { bytes, mut at, end } = *literals;
        let states = &*tables.states;
        let mut left = count;
        window.cold_path(|window| {
            loop {
                let l = entry::<LITLEN_AT, 512, ALL_STATES>(states, litlen_state);
                let o = entry::<OFFSET_AT, 512, ALL_STATES>(states, offset_state);
                let m = entry::<MATCHLEN_AT, 512, ALL_STATES>(states, matchlen_state);
                bits.refill();
                // Extra bits: at most 31 + 16 + 16; the ways to the next states: at most 9 + 9 + 8. Mostly all
                // of it fits the 57 bits there are.
                let many = l.extra().wrapping_add(m.extra()).wrapping_add(o.extra()) > 30;
                let value = o.base().wrapping_add(bits.take::<BEST>(o.extra()));
                if many {
                    bits.refill();
                }
                let match_len = m.base().wrapping_add(bits.take::<BEST>(m.extra())) as usize;
                let literal_len = l.base().wrapping_add(bits.take::<BEST>(l.extra())) as usize;
                left = left.wrapping_sub(1);
                if left > 0 {
                    if many {
                        bits.refill();
                    }
                    litlen_state = l.next().wrapping_add(bits.take::<BEST>(l.bits()));
                    matchlen_state = m.next().wrapping_add(bits.take::<BEST>(m.bits()));
                    offset_state = o.next().wrapping_add(bits.take::<BEST>(o.bits()));
                }
                let offset = if value > 3 {
                    third = second;
                    second = recent;
                    value.wrapping_sub(3)
                } else {
                    // 1, 2, 3 mean the recent offsets, or, without literals, the last two and the latest less 1.
                    match value.wrapping_add(u32::from(literal_len == 0)) {
                        1 => recent,
                        2 => core::mem::replace(&mut second, recent),
                        n => {
                            let old = if n == 3 { third } else { recent.wrapping_sub(1) };
                            third = second;
                            second = recent;
                            old
                        }
                    }
                };
                recent = offset;
                if literal_len > end.wrapping_sub(at) {
                    return Err(CodecErrorKind::Corrupt);
                }
                let head = bytes.get(at..).and_then(|b| b.first_chunk::<32>());
                if !head.is_some_and(|head| window.sequence(head, literal_len, offset as usize, match_len)) {
                    window.literals(bytes, at, literal_len)?;
                    window.copy_match(offset as usize, match_len)?;
                }
                at = at.wrapping_add(literal_len);
                if left == 0 {
                    return Ok(());
                }
            }
        })?;
        literals.at = at;
        tables.recent = [recent, second, third];
        if bits.is_finished() { Ok(()) } else { Err(CodecErrorKind::Corrupt) }
    }
}
