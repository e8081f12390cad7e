//! [`Blocks`]: tokens on their way into blocks, and where blocks end.
//!
//! ```text
//! settled   ========================            tokens that share a code well
//! fresh                             ======      those since: do they suit it too?
//! ```
//! Whether they do is a matter of bits: those of a common code, against those of two and a second description of codes.

use super::bits::BitWriter;
use super::block;
use super::tokens::{
    Contents, END, Histogram, LONGEST, MOST_BYTES, NONE, SHORTEST, TOKENS, Token, distance_symbol, entropy,
    floor_log2, length_symbol, log2, plain_bits,
};
use crate::codec::search::Match;

/// Bits that the codes of a length and a distance take, about (docs/optimization-notes.md#zlib-weighed).
const CODES: usize = 10;
/// Extra bits of a near distance, about (docs/optimization-notes.md#zlib-weighed).
const NEAR: usize = 6;

/// Bits by which two codes must be better than one, because all counts here are estimates
/// (docs/optimization-notes.md#zlib-blocks).
const DOUBT: i64 = 200;
/// Symbols between two looks at whether a block should end, and before the first (docs/optimization-notes.md#zlib-blocks).
const FRESH: u32 = 2048;
const FIRST: u32 = FRESH / 8;
/// Literals that must be counted before their mean length in bits is believed (docs/optimization-notes.md#zlib-weighed).
const FEWEST: u32 = 64;
/// Sixteenths of bits a byte by which literals alone must take less, for matches to be weighed against them
/// (docs/optimization-notes.md#zlib-weighed).
const CLEARLY: usize = 4;

/// Tokens of the block that is being gathered, and the stream so far.
pub(super) struct Blocks<'a> {
    src: &'a [u8],
    out: BitWriter<'a>,
    tokens: &'a mut [Token],
    /// Where in the input the block, the fresh tokens and the next token begin.
    start: usize,
    fresh_from: usize,
    at: usize,
    /// Tokens of the block; of these, settled ones.
    count: usize,
    settled_count: usize,
    /// Symbols since the last look.
    fresh_symbols: u32,
    /// How many there are at the next.
    fresh_most: u32,
    settled: Histogram,
    fresh: Histogram,
    /// What a literal takes, in sixteenths of bits.
    literal_bits: usize,
    /// What a byte of the input takes on average, in sixteenths of bits.
    byte_bits: usize,
    /// Bytes of the shortest match that is looked for: few shorter ones are worth their bits.
    least: usize,
    /// Whether matches are weighed against what literals would take if there were no matches.
    weigh: bool,
}

impl<'a> Blocks<'a> {
    #[inline(always)] // where it is to stay: it is large
    pub(super) fn new(src: &'a [u8], work: &'a mut [u8], out: BitWriter<'a>, weigh: bool) -> Self {
        Blocks {
            src,
            out,
            tokens: work.as_chunks_mut().0,
            start: 0,
            fresh_from: 0,
            at: 0,
            count: 0,
            settled_count: 0,
            fresh_symbols: 0,
            fresh_most: FIRST,
            settled: Histogram::EMPTY,
            fresh: Histogram::EMPTY,
            literal_bits: 16 * 8,
            least: SHORTEST,
            byte_bits: 16 * 4,
            weigh,
        }
    }

    /// Where in the input the next token begins.
    pub(super) fn at(&self) -> usize {
        self.at
    }

    /// Whether a match takes fewer bits than its bytes would as literals, as far as is known.
    #[inline(always)]
    pub(super) fn worth(&self, found: &Match) -> bool {
        found.len * self.literal_bits >= 16 * (CODES + floor_log2(found.distance))
    }

    /// The shortest match that is looked for: it may be worth its bits.
    #[inline(always)]
    pub(super) fn least(&self) -> usize {
        self.least
    }

    /// Whether a literal and `later`, which begins a byte after `taken`, take fewer bits than `taken` and what comes after
    /// it up to the same end.
    #[inline(always)]
    pub(super) fn better(&self, later: &Match, taken: &Match) -> bool {
        let (far, near) = (floor_log2(later.distance), floor_log2(taken.distance));
        let more = later.end() - taken.end();
        let saved = (more * self.byte_bits).min(more.max(SHORTEST) * self.literal_bits);
        saved + 16 * near > self.literal_bits + 16 * far
    }

    /// Appends what lies before a match as literals, and the match. `None`: the stream does not fit.
    #[inline(always)]
    pub(super) fn push(&mut self, found: &Match) -> Option<()> {
        let mut found = *found;
        while found.len > LONGEST {
            // What is left can be a match too.
            let len = LONGEST.min(found.len - SHORTEST);
            self.push_one(&Match { len, ..found })?;
            (found.start, found.len) = (found.start + len, found.len - len);
        }
        self.push_one(&found)
    }

    #[inline(always)]
    fn push_one(&mut self, found: &Match) -> Option<()> {
        let (length, distance) = ((found.len - SHORTEST) as u32, (found.distance - 1) as u32);
        self.literals(found.start);
        self.token(found.start, length << 16 | distance);
        if let Some(n) = self.fresh.litlens.get_mut(length_symbol(length).0) {
            *n += 1;
        }
        if let Some(n) = self.fresh.distances.get_mut(distance_symbol(distance).0) {
            *n += 1;
        }
        self.at = found.end();
        self.look()
    }

    /// No match has been taken before `p`: many literals become a token, so that a block can end between them and counts
    /// stay below their bounds.
    #[inline(always)]
    pub(super) fn pass(&mut self, p: usize) -> Option<()> {
        if p < self.at + FRESH as usize { Some(()) } else { self.push_literals(p.min(self.src.len())) }
    }

    /// Appends literals up to `end`.
    fn push_literals(&mut self, end: usize) -> Option<()> {
        self.literals(end);
        self.token(end, NONE);
        self.at = end;
        self.look()
    }

    #[inline(always)]
    fn literals(&mut self, end: usize) {
        for &byte in self.src.get(self.at..end).unwrap_or_default() {
            if let Some(n) = self.fresh.litlens.get_mut(usize::from(byte)) {
                *n += 1;
            }
        }
        self.fresh_symbols += (end - self.at) as u32 + 1;
    }

    #[inline(always)]
    fn token(&mut self, start: usize, packed: u32) {
        if let Some(slot) = self.tokens.get_mut(self.count) {
            *slot = ((start - self.at) as u64 | u64::from(packed) << 32).to_le_bytes();
        }
        self.count += 1;
    }

    #[inline(always)]
    fn look(&mut self) -> Option<()> {
        if self.fresh_symbols >= self.fresh_most || self.count == self.tokens.len() {
            self.settle_fresh()
        } else {
            Some(())
        }
    }

    /// Ends the block before the fresh tokens if that saves bits, or after them if it is full, and updates what literals and
    /// bytes are believed to take.
    #[inline(never)]
    fn settle_fresh(&mut self) -> Option<()> {
        let alone = self.fresh.entropy();
        if self.settled_count > 0 {
            let apart = self.settled.entropy() + alone + 16 * (block::description(&self.fresh) + DOUBT);
            if apart < self.settled.entropy_with(&self.fresh) {
                self.end_block(false)?;
            }
        }
        let (literals, others) = self.fresh.litlens.split_at_checked(END)?;
        let count: u32 = literals.iter().sum();
        if count > FEWEST {
            // The rarer literals are, the longer are their codes.
            let rare = log2(count + others.iter().sum::<u32>()) - log2(count);
            let bits = entropy(literals.iter().copied()) / i64::from(count) + i64::from(rare / 8);
            self.literal_bits = bits as usize;
        }
        let bytes = (self.at - self.fresh_from).max(1) as i64;
        self.byte_bits = ((alone + 16 * block::extra_bits(&self.fresh) as i64) / bytes) as usize;
        if self.weigh {
            // Where matches take more bits than literals would, few literals are left that tell how little they take.
            let plain = plain_bits(self.src.get(self.fresh_from..self.at).unwrap_or_default());
            if plain + CLEARLY < self.byte_bits {
                self.literal_bits = self.literal_bits.min(plain + 4);
            }
        }
        self.least = (16 * (CODES + NEAR)).div_ceil(self.literal_bits).max(SHORTEST);
        self.settled.add(&self.fresh);
        self.fresh.clear();
        self.fresh_symbols = 0;
        self.fresh_most = FRESH;
        (self.settled_count, self.fresh_from) = (self.count, self.at);
        let full = self.count == self.tokens.len() || self.count + FRESH as usize > TOKENS;
        if full || self.at - self.start >= MOST_BYTES {
            self.end_block(false)?;
        }
        Some(())
    }

    /// Writes the settled tokens as a block, and begins a new one with those that are left.
    fn end_block(&mut self, last: bool) -> Option<()> {
        if let Some(end) = self.settled.litlens.get_mut(END) {
            *end += 1;
        }
        let contents = Contents {
            start: self.start,
            end: self.fresh_from,
            histogram: &self.settled,
            tokens: self.tokens.get(..self.settled_count)?,
        };
        block::write(&mut self.out, self.src, &contents, last)?;
        self.tokens.copy_within(self.settled_count..self.count, 0);
        self.count -= self.settled_count;
        self.settled_count = 0;
        self.start = self.fresh_from;
        self.settled.clear();
        Some(())
    }

    /// Ends the stream with literals up to the end of the input; returns the number of its bytes.
    pub(super) fn finish(&mut self) -> Option<usize> {
        self.push_literals(self.src.len())?;
        self.settle_fresh()?;
        self.end_block(true)?;
        self.out.align();
        Some(self.out.len())
    }
}
