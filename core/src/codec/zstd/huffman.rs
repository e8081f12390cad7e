//! Huffman-coded literals (RFC 8878 §4.2).
//!
//! The table is always indexed by the next 11 bits, shorter codes repeated as often as needed, so that the
//! loops shift by a constant and cannot index out of range. An entry is `bits | symbol << 8`.

use super::bits::BackBits;
use super::fse::{self, Kind};
use crate::arch::entropy::huffman::{ENTRIES, Four, INDEX_BITS, Pairs, Stream, Table};
use crate::arch::level::Level;
use crate::codec::error::CodecErrorKind;

/// Bytes of the table.
pub(super) const TABLE_LEN: usize = 2 * ENTRIES;
/// Bytes of the table of pairs: there is none where registers are too narrow for it to pay.
pub(super) const PAIRS_LEN: usize = if cfg!(target_pointer_width = "64") { 4 * ENTRIES } else { 0 };

/// Symbols decoded between two refills: 5 of at most 11 bits fit 56.
const ROUND: usize = 5;

/// The code in use.
pub(super) struct Decoder<'w> {
    /// Also where the states of the weights are while a code is read.
    codes: &'w mut [u8; TABLE_LEN],
    pairs: &'w mut [u8; PAIRS_LEN],
    state: State,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    /// No code has been read.
    Empty,
    /// `codes` holds a code.
    Codes,
    /// `pairs` does, too.
    Pairs,
}

impl<'w> Decoder<'w> {
    /// A decoder without a code, its tables in `work`.
    pub fn new(work: &'w mut [u8]) -> Option<Self> {
        let (codes, rest) = work.split_first_chunk_mut()?;
        Some(Decoder { codes, pairs: rest.first_chunk_mut()?, state: State::Empty })
    }

    /// Forgets the code.
    pub fn forget(&mut self) {
        self.state = State::Empty;
    }

    /// Reads the description of a code; returns the bytes it takes.
    ///
    /// # Errors
    /// `Truncated` where the description ends early, `Corrupt` where it describes no code.
    pub fn read(&mut self, src: &[u8]) -> Result<usize, CodecErrorKind> {
        self.state = State::Empty;
        let mut weights = [0u8; 256];
        let scratch = self.codes.as_chunks_mut::<8>().0.first_chunk_mut().ok_or(CodecErrorKind::Work)?;
        let (count, taken) = describe(src, &mut weights, scratch)?;
        let table = self.codes.as_chunks_mut::<2>().0.first_chunk_mut().ok_or(CodecErrorKind::Work)?;
        build(&mut weights, count, table)?;
        self.state = State::Codes;
        Ok(taken)
    }

    /// Decodes one stream, or four with their lengths before them, to exactly `out`.
    ///
    /// # Errors
    /// `Corrupt` or `Truncated` where a stream does not decode to exactly its part of `out`, or no code has been read.
    pub fn decode(
        &mut self,
        src: &[u8],
        four: bool,
        out: &mut [u8],
        level: Level,
    ) -> Result<(), CodecErrorKind> {
        let table: &Table = self.codes.as_chunks::<2>().0.first_chunk().ok_or(CodecErrorKind::Work)?;
        if self.state == State::Empty {
            return Err(CodecErrorKind::Corrupt);
        }
        if !four {
            return one_stream(src, out, table);
        }
        if out.len() < 6 {
            return Err(CodecErrorKind::Corrupt);
        }
        // Two symbols per look-up pay where most codes are short and there is much to decode.
        let mut pairs = None;
        if PAIRS_LEN != 0 && out.len() >= 4096 && src.len() / 5 < out.len() / 8 {
            let room: Option<&mut Pairs> = self.pairs.as_chunks_mut::<4>().0.first_chunk_mut();
            if let Some(room) = room {
                if self.state != State::Pairs {
                    join(table, room);
                    self.state = State::Pairs;
                }
                pairs = Some(&*room);
            }
        }
        four_streams(src, out, table, pairs, level)
    }
}

/// Reads a description of a code: fills the weights of all symbols but the last; returns how many, and the bytes it
/// takes.
fn describe(
    src: &[u8],
    weights: &mut [u8; 256],
    scratch: &mut [fse::Raw; 512],
) -> Result<(usize, usize), CodecErrorKind> {
    let (&head, rest) = src.split_first().ok_or(CodecErrorKind::Truncated)?;
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
        (read_weights(coded, weights, scratch)?, coded.len())
    };
    Ok((count, taken.wrapping_add(1)))
}

/// Weights compressed with FSE: two states take turns until the bits run out.
fn read_weights(
    src: &[u8],
    weights: &mut [u8; 256],
    table: &mut [fse::Raw; 512],
) -> Result<usize, CodecErrorKind> {
    let (log, taken) = fse::read(src, Kind::Weight, table)?;
    let mut bits = BackBits::new(src.get(taken..).unwrap_or(&[]))?;
    bits.refill();
    let mut this = bits.take::<false>(log);
    let mut other = bits.take::<false>(log);
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
        let entry = fse::entry::<0, 64, 512>(table, this);
        put(entry.base())?;
        this = entry.next().wrapping_add(bits.take::<false>(entry.bits()));
        if bits.is_overdrawn() {
            put(fse::entry::<0, 64, 512>(table, other).base())?;
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
    if bits > INDEX_BITS || !left.is_power_of_two() {
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
    let spare = INDEX_BITS.wrapping_sub(bits);
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

/// Decodes one stream to exactly `out`; it must end there.
fn one_stream(src: &[u8], out: &mut [u8], table: &Table) -> Result<(), CodecErrorKind> {
    finish(BackBits::new(src)?, out, table)
}

/// The entry for 11 bits.
#[inline(always)]
fn lookup(table: &Table, index: usize) -> u16 {
    table.get(index).copied().map_or(0, u16::from_le_bytes)
}

/// Decodes what is left of a stream, near its end or not.
fn finish(mut bits: BackBits<'_>, out: &mut [u8], table: &Table) -> Result<(), CodecErrorKind> {
    for round in out.chunks_mut(ROUND) {
        bits.refill();
        for slot in round {
            let entry = lookup(table, bits.peek::<INDEX_BITS>());
            bits.skip(u32::from(entry & 0xff));
            *slot = (entry >> 8) as u8;
        }
    }
    if bits.is_finished() { Ok(()) } else { Err(CodecErrorKind::Corrupt) }
}

/// Decodes four streams, each to a quarter of `out`.
fn four_streams(
    src: &[u8],
    out: &mut [u8],
    table: &Table,
    pairs: Option<&Pairs>,
    level: Level,
) -> Result<(), CodecErrorKind> {
    let (jump, src) = src.split_first_chunk::<6>().ok_or(CodecErrorKind::Truncated)?;
    let [a, b, c, d, e, f] = *jump;
    let len = |low, high| usize::from(u16::from_le_bytes([low, high]));
    let end0 = len(a, b);
    let end1 = end0.wrapping_add(len(c, d));
    let end2 = end1.wrapping_add(len(e, f));
    let ends = [end0, end1, end2, src.len()];
    if end2 > src.len() {
        return Err(CodecErrorKind::Truncated);
    }
    let quarter = Four::quarter(out.len()).ok_or(CodecErrorKind::Corrupt)?;
    let streams = (
        Stream::new(src, 0, end0),
        Stream::new(src, end0, end1),
        Stream::new(src, end1, end2),
        Stream::new(src, end2, src.len()),
    );
    if let (Some(s0), Some(s1), Some(s2), Some(s3)) = streams {
        let streams = Four { src, streams: [s0, s1, s2, s3], table, pairs, out: &mut *out }.decode(level);
        for (stream, out) in streams.into_iter().zip(parts(out, quarter)) {
            let (src, used) = stream.rest(src);
            finish(BackBits::resume(src, used), out.get_mut(stream.done..).unwrap_or(&mut []), table)?;
        }
        return Ok(());
    }
    let mut start = 0;
    for (end, out) in ends.into_iter().zip(parts(out, quarter)) {
        one_stream(src.get(start..end).unwrap_or(&[]), out, table)?;
        start = end;
    }
    Ok(())
}

/// The parts of `out` that four streams decode to, `quarter` bytes each, of which the last may have fewer, or none.
fn parts(out: &mut [u8], quarter: usize) -> [&mut [u8]; 4] {
    let mut rest = out;
    core::array::from_fn(|_| {
        let all = core::mem::take(&mut rest);
        let part;
        (part, rest) = all.split_at_mut(quarter.min(all.len()));
        part
    })
}

/// Fills a table of pairs.
fn join(table: &Table, pairs: &mut Pairs) {
    for (index, slot) in pairs.iter_mut().enumerate() {
        let one = lookup(table, index);
        let (bits, symbol) = (u32::from(one & 0xff), one >> 8);
        let two = lookup(table, (index << bits) & const { ENTRIES - 1 });
        let both = bits.wrapping_add(u32::from(two & 0xff));
        *slot = if both <= INDEX_BITS {
            [both as u8, symbol as u8, (two >> 8) as u8, 2 << 6]
        } else {
            [bits as u8, symbol as u8, 0, 1 << 6]
        };
    }
}
