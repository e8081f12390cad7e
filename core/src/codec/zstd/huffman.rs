//! Huffman-coded literals (RFC 8878 §4.2).
//!
//! The table is always indexed by the next 11 bits, shorter codes repeated as often as needed, so that the
//! loops shift by a constant and cannot index out of range. An entry is `bits | symbol << 8`.

use super::bits::BackBits;
use super::fse::{self, Kind};
use crate::codec::CodecErrorKind;

/// Longest code.
pub(super) const MAX_BITS: u32 = 11;
/// Entries of the table.
pub(super) const ENTRIES: usize = 1 << MAX_BITS;

/// A table as it lies in scratch.
pub(super) type Table = [[u8; 2]; ENTRIES];

/// Symbols decoded between two refills: 5 of at most 11 bits fit 56.
const ROUND: usize = 5;

/// Reads a description of a code and builds its table; returns the bytes it takes. The states of the weights are kept
/// in `scratch`.
pub(super) fn read_table(
    src: &[u8],
    table: &mut Table,
    scratch: &mut [fse::Raw; 64],
) -> Result<usize, CodecErrorKind> {
    let (&head, rest) = src.split_first().ok_or(CodecErrorKind::Truncated)?;
    let mut weights = [0u8; 256];
    let (count, taken) = if head >= 128 {
        // Half a byte per weight.
        let count = usize::from(head).wrapping_sub(127);
        let bytes = rest.get(..count.div_ceil(2)).ok_or(CodecErrorKind::Truncated)?;
        for (pair, byte) in weights.as_chunks_mut::<2>().0.iter_mut().zip(bytes) {
            *pair = [byte >> 4, byte & 15];
        }
        if let Some(beyond) = weights.get_mut(count) {
            *beyond = 0;
        }
        (count, bytes.len())
    } else {
        let coded = rest.get(..usize::from(head)).ok_or(CodecErrorKind::Truncated)?;
        (read_weights(coded, &mut weights, scratch)?, coded.len())
    };
    build(&mut weights, count, table)?;
    Ok(taken.wrapping_add(1))
}

/// Weights compressed with FSE: two states take turns until the bits run out.
fn read_weights(
    src: &[u8],
    weights: &mut [u8; 256],
    table: &mut [fse::Raw; 64],
) -> Result<usize, CodecErrorKind> {
    let mut norm = [0; 64];
    let (log, taken) = fse::read_norm(src, Kind::Weight, &mut norm)?;
    fse::build(table, &norm, log, Kind::Weight);
    let mut bits = BackBits::new(src.get(taken..).unwrap_or(&[]))?;
    bits.refill();
    let mut this = bits.take(log);
    let mut other = bits.take(log);
    if bits.is_overdrawn() {
        return Err(CodecErrorKind::Corrupt);
    }
    let mut count = 0usize;
    let mut put = |value: u32| {
        // The last symbol's weight is not stored, so 255 are the most.
        let slot = weights.get_mut(..255).and_then(|w| w.get_mut(count)).ok_or(CodecErrorKind::Corrupt)?;
        *slot = value as u8;
        count = count.wrapping_add(1);
        Ok(())
    };
    loop {
        bits.refill();
        let entry = fse::entry(table, this);
        put(entry.base())?;
        this = entry.next().wrapping_add(bits.take(entry.bits()));
        if bits.is_overdrawn() {
            put(fse::entry(table, other).base())?;
            return Ok(count);
        }
        core::mem::swap(&mut this, &mut other);
    }
}

/// Derives the weight of symbol `count` and fills the table.
fn build(weights: &mut [u8; 256], count: usize, table: &mut Table) -> Result<(), CodecErrorKind> {
    // How many symbols have each weight, then where in the table each weight begins.
    let mut ranks = [0u16; 16];
    let mut sum = 0u32;
    for &weight in weights.iter().take(count) {
        let rank = ranks.get_mut(usize::from(weight)).ok_or(CodecErrorKind::Corrupt)?;
        *rank = rank.wrapping_add(1);
        sum = sum.wrapping_add((1u32 << weight) >> 1);
    }
    if sum == 0 {
        return Err(CodecErrorKind::Corrupt);
    }
    let bits = 32u32.wrapping_sub(sum.leading_zeros());
    let left = (1u32 << bits).wrapping_sub(sum);
    if bits > MAX_BITS || !left.is_power_of_two() {
        return Err(CodecErrorKind::Corrupt);
    }
    let last = 32u32.wrapping_sub(left.leading_zeros());
    *weights.get_mut(count).ok_or(CodecErrorKind::Corrupt)? = last as u8;
    if let Some(rank) = ranks.get_mut(last as usize) {
        *rank = rank.wrapping_add(1);
    }
    // Some code must be as long as the longest: the tree is not deeper than its leaves.
    if ranks.get(1).copied().unwrap_or(0) < 2 {
        return Err(CodecErrorKind::Corrupt);
    }
    let spare = MAX_BITS.wrapping_sub(bits);
    let mut start = 0usize;
    for (weight, rank) in ranks.iter_mut().enumerate().skip(1) {
        let symbols = usize::from(*rank);
        *rank = start as u16;
        start = start.wrapping_add(symbols << (weight.wrapping_sub(1) & 15) << spare);
    }
    for (symbol, &weight) in weights.iter().enumerate().take(count.wrapping_add(1)) {
        if weight == 0 {
            continue;
        }
        let Some(rank) = ranks.get_mut(usize::from(weight)) else { continue };
        let from = usize::from(*rank);
        let len = 1usize << (u32::from(weight).wrapping_sub(1).wrapping_add(spare) & 15);
        *rank = rank.wrapping_add(len as u16);
        let entry = [bits.wrapping_add(1).wrapping_sub(weight.into()) as u8, symbol as u8];
        if let Some(slots) = table.get_mut(from..).and_then(|t| t.get_mut(..len)) {
            slots.fill(entry);
        }
    }
    Ok(())
}

/// Decodes the next symbol.
#[inline(always)]
fn symbol(table: &Table, bits: &mut BackBits<'_>) -> u8 {
    let entry = table.get(bits.peek::<MAX_BITS>()).copied().map_or(0, u16::from_le_bytes);
    bits.skip(u32::from(entry));
    (entry >> 8) as u8
}

/// Decodes one stream to exactly `out`; it must end there.
pub(super) fn one_stream(src: &[u8], out: &mut [u8], table: &Table) -> Result<(), CodecErrorKind> {
    finish(BackBits::new(src)?, out, table)
}

fn finish(mut bits: BackBits<'_>, out: &mut [u8], table: &Table) -> Result<(), CodecErrorKind> {
    let (rounds, rest) = out.as_chunks_mut::<ROUND>();
    for round in rounds {
        bits.refill();
        for slot in round {
            *slot = symbol(table, &mut bits);
        }
    }
    bits.refill();
    for slot in rest {
        *slot = symbol(table, &mut bits);
    }
    if bits.is_finished() { Ok(()) } else { Err(CodecErrorKind::Corrupt) }
}

/// Decodes four streams, each to a quarter of `out`.
pub(super) fn four_streams(src: &[u8], out: &mut [u8], table: &Table) -> Result<(), CodecErrorKind> {
    let (jump, src) = src.split_first_chunk::<6>().ok_or(CodecErrorKind::Truncated)?;
    let [a, b, c, d, e, f] = *jump;
    let len = |low, high| usize::from(u16::from_le_bytes([low, high]));
    let (s0, src) = src.split_at_checked(len(a, b)).ok_or(CodecErrorKind::Truncated)?;
    let (s1, src) = src.split_at_checked(len(c, d)).ok_or(CodecErrorKind::Truncated)?;
    let (s2, s3) = src.split_at_checked(len(e, f)).ok_or(CodecErrorKind::Truncated)?;
    let quarter = out.len().div_ceil(4);
    let (o0, out) = out.split_at_mut_checked(quarter).ok_or(CodecErrorKind::Corrupt)?;
    let (o1, out) = out.split_at_mut_checked(quarter).ok_or(CodecErrorKind::Corrupt)?;
    let (o2, o3) = out.split_at_mut_checked(quarter).ok_or(CodecErrorKind::Corrupt)?;
    let (mut b0, mut b1) = (BackBits::new(s0)?, BackBits::new(s1)?);
    let (mut b2, mut b3) = (BackBits::new(s2)?, BackBits::new(s3)?);
    // Round by round through all four, for as long as none is near its end: the chains of dependent
    // look-ups overlap.
    let mut done = 0usize;
    let rounds = o0.as_chunks_mut::<ROUND>().0.iter_mut();
    let rounds = rounds.zip(o1.as_chunks_mut::<ROUND>().0);
    let rounds = rounds.zip(o2.as_chunks_mut::<ROUND>().0);
    let rounds = rounds.zip(o3.as_chunks_mut::<ROUND>().0);
    for (((r0, r1), r2), r3) in rounds {
        if !(b0.is_far() && b1.is_far() && b2.is_far() && b3.is_far()) {
            break;
        }
        b0.refill();
        b1.refill();
        b2.refill();
        b3.refill();
        for (((x0, x1), x2), x3) in r0.iter_mut().zip(r1).zip(r2).zip(r3) {
            *x0 = symbol(table, &mut b0);
            *x1 = symbol(table, &mut b1);
            *x2 = symbol(table, &mut b2);
            *x3 = symbol(table, &mut b3);
        }
        done = done.wrapping_add(ROUND);
    }
    for (bits, out) in [(b0, o0), (b1, o1), (b2, o2), (b3, o3)] {
        finish(bits, out.get_mut(done..).unwrap_or(&mut []), table)?;
    }
    Ok(())
}
