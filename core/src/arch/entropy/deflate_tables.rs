//! Decoding tables for deflate's canonical codes, in scratch memory.
//!
//! A table has `1 << bits` primary entries, indexed by the next bits of the stream, and behind them the
//! subtables of longer codes. An entry is 32 bits, stored little-endian so that scratch needs no alignment:
//!
//! ```text
//! bits  0-4   bits to drop: the code and the extra bits; bit 5 is 0
//! bits  6-7   number of literals
//! literals:
//! bits  8-31  up to two, first one lowest; then 0
//! all others:
//! bits  8-11  the code's share of the bits to drop; in a link, the subtable's index bits; bits 12-13 are 0
//! bits 14-15  0 length or distance, 1 link to a subtable, 2 end of block, 3 no such code
//! bits 16-31  base of the length or distance; start of the subtable
//! ```
#![deny(clippy::indexing_slicing, clippy::arithmetic_side_effects)]

use crate::arch::lz::window::WIDE_COPIES;
use crate::codec::error::CodecErrorKind;

/// Bits of a literal's or length's code in blocks that do not describe their codes (RFC 1951 section 3.2.6).
pub(crate) fn fixed_len(symbol: usize) -> u8 {
    match symbol {
        144..256 => 9,
        256..280 => 7,
        _ => 8,
    }
}

/// Index bits of the literal and length table: more of them where the nearest cache holds them easily.
pub(crate) const LIT_BITS: u32 = if WIDE_COPIES { 11 } else { 10 };
/// Index bits of the distance table.
pub(crate) const DIST_BITS: u32 = 8;
/// Index bits of the table for the code lengths.
pub(crate) const LENGTHS_BITS: u32 = 7;
/// Longest code.
const MAX_LEN: usize = 15;
/// Most codes of a table.
const MAX_CODES: usize = 288;

/// Room for subtables. Codes of 288 symbols need at most 310 such entries, of 32 symbols at most 146.
const LIT_SUB: usize = 320;
const DIST_SUB: usize = 160;
const ENTRIES: usize = (1 << LIT_BITS) + LIT_SUB + (1 << DIST_BITS) + DIST_SUB + MAX_CODES;
/// Bytes of all tables.
pub(crate) const TABLES_LEN: usize = 4 * ENTRIES;

const LITERAL: u32 = 1 << 6;
const LITERALS: u32 = 3 << 6;
const KIND: u32 = 3 << 14;
const LINK: u32 = 1 << 14;
const END: u32 = 2 << 14;
const NONE: u32 = 3 << 14;

/// One table entry.
#[derive(Clone, Copy)]
pub(crate) struct Entry(pub u32);

impl Entry {
    /// Whether it is one literal or more: what all others ask about, only those that are not may be asked.
    #[inline(always)]
    pub fn is_literal(self) -> bool {
        self.0 & LITERALS != 0
    }
    /// The literals, first one lowest, and their number.
    #[inline(always)]
    pub fn literals(self) -> (u32, usize) {
        (self.0 >> 8, (self.0 >> 6 & 3) as usize)
    }
    /// Whether it is a length or a distance.
    #[inline(always)]
    pub fn is_base(self) -> bool {
        self.0 & KIND == 0
    }
    #[inline(always)]
    pub fn is_link(self) -> bool {
        self.0 & KIND == LINK
    }
    #[inline(always)]
    pub fn is_end(self) -> bool {
        self.0 & KIND == END
    }
    #[inline(always)]
    pub fn drop_bits(self) -> u32 {
        self.0 & 31
    }
    /// Base plus the extra bits found in `bits`. The shifts take what they need of the entry's low bits.
    #[inline(always)]
    pub fn value(self, bits: u64) -> usize {
        let all = bits as u32 & 1u32.wrapping_shl(self.0).wrapping_sub(1);
        (self.0 >> 16).wrapping_add(all.wrapping_shr(self.0 >> 8)) as usize
    }
}

/// An entry, or in [`Tables::order`] a symbol and its code, as stored.
type Raw = [u8; 4];

/// The two tables of a block.
pub(crate) struct Tables<'w> {
    pub lit: Table<'w, { 1 << LIT_BITS }>,
    pub dist: Table<'w, { 1 << DIST_BITS }>,
    /// For building: the symbols by length of their codes, `symbol | code << 16`, first bit of the code lowest.
    order: &'w mut [Raw; MAX_CODES],
    /// They are those of blocks with fixed codes.
    fixed: bool,
}

/// A table of `N` primary entries.
pub(crate) struct Table<'w, const N: usize> {
    primary: &'w mut [Raw; N],
    sub: &'w mut [Raw],
}

/// What the symbols of a table stand for: literals, then what `others` says, then nothing.
struct Alphabet {
    literals: usize,
    others: &'static [u32],
}

const LIT: Alphabet = Alphabet { literals: 256, others: &LENGTHS };
const DIST: Alphabet = Alphabet { literals: 0, others: &DISTANCES };
const PLAIN: Alphabet = Alphabet { literals: 0, others: &SELVES };

impl Alphabet {
    /// The entry of symbol `sym`, whose code has `len` bits.
    #[inline(always)]
    #[allow(clippy::indexing_slicing)] // compared before: `get` is not for constants
    const fn entry(&self, sym: usize, len: u32) -> u32 {
        match sym.checked_sub(self.literals) {
            None => (sym as u32) << 8 | LITERAL | len,
            Some(n) if n < self.others.len() => self.others[n].wrapping_add(len << 8 | len),
            Some(_) => NONE.wrapping_add(len << 8 | len),
        }
    }
}

impl<const N: usize> Table<'_, N> {
    /// The entry for the next bits of the stream.
    #[inline(always)]
    pub fn first(&self, bits: u64) -> Entry {
        let index = bits as usize & const { N.wrapping_sub(1) };
        Entry(self.primary.get(index).map_or(NONE, |e| u32::from_le_bytes(*e)))
    }

    /// Follows `link`, which [`first`](Self::first) has found for the same bits.
    #[inline(always)]
    pub fn second(&self, link: Entry, bits: u64) -> Entry {
        let mask = (1u32 << (link.0 >> 8 & 15)).wrapping_sub(1);
        let rest = (bits >> const { N.trailing_zeros() }) as u32;
        let index = (link.0 >> 16).wrapping_add(rest & mask) as usize;
        Entry(self.sub.get(index).map_or(NONE, |e| u32::from_le_bytes(*e)))
    }

    /// Builds the table, of which `bits` index bits are used, for the code lengths `lens`.
    fn build(
        &mut self,
        bits: u32,
        lens: &[u8],
        alphabet: &Alphabet,
        order: &mut [Raw; MAX_CODES],
    ) -> Result<(), CodecErrorKind> {
        let mut codes = Codes::new(lens, alphabet.literals, order);
        codes.check(bits != LENGTHS_BITS)?;
        if let Some(slot) = self.primary.first_mut() {
            *slot = NONE.to_le_bytes();
        }
        let mut code = 0u32;
        // The table is made for no bits and doubled for each more: what no code has claimed by then is still NONE.
        for len in 1..=bits {
            let slots = self.primary.get_mut(..1 << len).ok_or(CodecErrorKind::Corrupt)?;
            let (have, more) = slots.split_at_mut(1 << len >> 1);
            more.iter_mut().zip(have).for_each(|(to, from)| *to = *from);
            code = code.wrapping_shl(1);
            for symbol in codes.of_len_mut(len) {
                let (sym, reversed) = (u32::from_le_bytes(*symbol), reverse(code, len));
                *symbol = (sym | reversed << 16).to_le_bytes();
                if let Some(slot) = slots.get_mut(reversed as usize) {
                    *slot = alphabet.entry(sym as usize, len).to_le_bytes();
                }
                code = code.wrapping_add(1);
            }
            codes.join_literals(slots, len);
        }
        // The index bits that the codes of a subtable begin with, and where it is.
        let (mut prefix, mut start, mut end) = (u32::MAX, 0usize, 0usize);
        for len in bits.wrapping_add(1)..=MAX_LEN as u32 {
            code = code.wrapping_shl(1);
            let rest = len.wrapping_sub(bits);
            let mut left = codes.of_len(len).len() as u32;
            for symbol in codes.of_len(len) {
                let reversed = reverse(code, len);
                let low = reversed & (1u32 << bits).wrapping_sub(1);
                if low != prefix {
                    let sub_bits = codes.sub_bits(bits, rest, left);
                    (prefix, start) = (low, end);
                    end = start.wrapping_add(1 << sub_bits);
                    if let Some(slot) = self.primary.get_mut(low as usize) {
                        *slot = ((start as u32) << 16 | LINK | sub_bits << 8).to_le_bytes();
                    }
                }
                let entry = alphabet.entry(u32::from_le_bytes(*symbol) as usize, len);
                let table = self.sub.get_mut(start..end).ok_or(CodecErrorKind::Corrupt)?;
                let (first, step) = ((reversed >> bits) as usize, 1 << (rest & 15));
                table.iter_mut().skip(first).step_by(step).for_each(|slot| *slot = entry.to_le_bytes());
                code = code.wrapping_add(1);
                left = left.wrapping_sub(1);
            }
        }
        Ok(())
    }
}

/// The `len` low bits of `code`, `len > 0`, the other way round.
#[inline(always)]
fn reverse(code: u32, len: u32) -> u32 {
    code.reverse_bits().wrapping_shr(32u32.wrapping_sub(len))
}

/// The symbols that have a code, by its length.
struct Codes<'o> {
    order: &'o mut [Raw; MAX_CODES],
    /// Symbols of each length, literals among them, and where in `order` they start. Literals come first.
    count: [u16; MAX_LEN + 1],
    literals: [u16; MAX_LEN + 1],
    start: [u16; MAX_LEN + 1],
}

impl<'o> Codes<'o> {
    /// The symbols with the code lengths `lens`, 0 for none; the first `literals` are literals.
    fn new(lens: &[u8], literals: usize, order: &'o mut [Raw; MAX_CODES]) -> Codes<'o> {
        let (lits, others) = lens.split_at_checked(literals).unwrap_or((lens, &[]));
        let mut count = [0u16; MAX_LEN + 1];
        let mut add = |lens: &[u8]| {
            for &len in lens {
                if let Some(n) = count.get_mut(usize::from(len & 15)) {
                    *n = n.wrapping_add(1);
                }
            }
            count
        };
        let (literals, count) = (add(lits), add(others));
        let (mut start, mut sum) = ([0u16; MAX_LEN + 1], 0u16);
        for (start, count) in start.iter_mut().zip(&count).skip(1) {
            *start = sum;
            sum = sum.wrapping_add(*count);
        }
        // Those without a code come last.
        let mut next = start;
        if let Some(unused) = next.first_mut() {
            *unused = sum;
        }
        for (sym, &len) in lens.iter().enumerate() {
            if let Some(next) = next.get_mut(usize::from(len & 15)) {
                if let Some(slot) = order.get_mut(usize::from(*next)) {
                    *slot = (sym as u32).to_le_bytes();
                }
                *next = next.wrapping_add(1);
            }
        }
        Codes { order, count, literals, start }
    }

    /// Codes must fill the code space exactly; with `lenient` a single code of one bit, or none at all, need not.
    fn check(&self, lenient: bool) -> Result<(), CodecErrorKind> {
        let (mut left, mut codes) = (1i32, 0u16);
        for &n in self.count.iter().skip(1) {
            left = (left << 1).wrapping_sub(n.into());
            codes = codes.wrapping_add(n);
            if left < 0 {
                return Err(CodecErrorKind::Corrupt);
            }
        }
        let one_bit = self.of_len(1).len();
        if left == 0 || lenient && usize::from(codes) == one_bit {
            Ok(())
        } else {
            Err(CodecErrorKind::Corrupt)
        }
    }

    fn range(&self, count: &[u16; MAX_LEN + 1], len: u32) -> core::ops::Range<usize> {
        let at = len as usize & 15;
        let start = usize::from(self.start.get(at).copied().unwrap_or(0));
        start..start.wrapping_add(count.get(at).copied().unwrap_or(0).into())
    }

    /// Those with a code of `len` bits.
    fn of_len(&self, len: u32) -> &[Raw] {
        self.order.get(self.range(&self.count, len)).unwrap_or(&[])
    }

    fn of_len_mut(&mut self, len: u32) -> &mut [Raw] {
        let range = self.range(&self.count, len);
        self.order.get_mut(range).unwrap_or(&mut [])
    }

    fn literals_of_len(&self, len: u32) -> &[Raw] {
        self.order.get(self.range(&self.literals, len)).unwrap_or(&[])
    }

    /// Writes two literals, whose codes have `len` bits together, where the first of them stood alone.
    #[inline(always)]
    fn join_literals(&self, slots: &mut [Raw], len: u32) {
        for one in 1..len {
            let seconds = self.literals_of_len(len.wrapping_sub(one));
            for first in self.literals_of_len(one) {
                let first = u32::from_le_bytes(*first);
                let entry = (first & 0xff) << 8 | LITERAL << 1 | len;
                for second in seconds {
                    let second = u32::from_le_bytes(*second);
                    let index = first >> 16 | second >> 16 << (one & 15);
                    if let Some(slot) = slots.get_mut(index as usize) {
                        *slot = (entry | (second & 0xff) << 16).to_le_bytes();
                    }
                }
            }
        }
    }

    /// Index bits of the subtable, behind `bits`, whose shortest code has `rest` more; there are `left` codes of
    /// this length to come.
    fn sub_bits(&self, bits: u32, rest: u32, left: u32) -> u32 {
        let (mut sub_bits, mut room) = (rest, left);
        while room < 1 << sub_bits && bits.wrapping_add(sub_bits) < MAX_LEN as u32 {
            sub_bits = sub_bits.wrapping_add(1);
            room = (room << 1).wrapping_add(self.of_len(bits.wrapping_add(sub_bits)).len() as u32);
        }
        sub_bits
    }
}

impl<'w> Tables<'w> {
    /// Lays the tables out in `work`.
    pub(crate) fn new(work: &'w mut [u8]) -> Option<Tables<'w>> {
        let (entries, _) = work.as_chunks_mut::<4>();
        let (lit, rest) = entries.split_first_chunk_mut()?;
        let (lit_sub, rest) = rest.split_at_mut_checked(LIT_SUB)?;
        let (dist, rest) = rest.split_first_chunk_mut()?;
        let (dist_sub, rest) = rest.split_at_mut_checked(DIST_SUB)?;
        let (order, _) = rest.split_first_chunk_mut()?;
        Some(Tables {
            lit: Table { primary: lit, sub: lit_sub },
            dist: Table { primary: dist, sub: dist_sub },
            order,
            fixed: false,
        })
    }

    /// The codes that are never described.
    pub(crate) fn fix(&mut self) -> Result<(), CodecErrorKind> {
        if self.fixed {
            return Ok(());
        }
        #[cfg(feature = "std")]
        {
            (*self.lit.primary, *self.dist.primary) = (FIXED.0, FIXED.1);
        }
        #[cfg(not(feature = "std"))]
        self.describe_fixed()?;
        self.fixed = true;
        Ok(())
    }

    /// The codes of these blocks from their lengths.
    #[cfg(any(test, not(feature = "std")))]
    fn describe_fixed(&mut self) -> Result<(), CodecErrorKind> {
        let mut lens = [8u8; MAX_CODES];
        for (sym, len) in lens.iter_mut().enumerate() {
            *len = fixed_len(sym);
        }
        self.describe(&lens, &[5; 32])
    }

    /// The codes of these lengths.
    pub(crate) fn describe(&mut self, lit: &[u8], dist: &[u8]) -> Result<(), CodecErrorKind> {
        self.fixed = false;
        self.lit.build(LIT_BITS, lit, &LIT, self.order)?;
        self.dist.build(DIST_BITS, dist, &DIST, self.order)
    }

    /// The codes of code lengths, in `dist`, which is free until the lengths are known. Look up [`LENGTHS_BITS`] bits.
    pub(crate) fn describe_lengths(&mut self, lens: &[u8; 19]) -> Result<(), CodecErrorKind> {
        self.fixed = false;
        self.dist.build(LENGTHS_BITS, lens, &PLAIN, self.order)
    }
}

/// The tables of the codes that are never described, which have no subtables. On hosts they are made beforehand: short
/// streams are made of such blocks, and building takes longer than all the rest of 16 KiB in runs.
#[cfg(feature = "std")]
static FIXED: ([Raw; 1 << LIT_BITS], [Raw; 1 << DIST_BITS]) = fixed();

#[cfg(feature = "std")]
#[allow(clippy::indexing_slicing, clippy::arithmetic_side_effects)]
const fn fixed() -> ([Raw; 1 << LIT_BITS], [Raw; 1 << DIST_BITS]) {
    let (mut lit, mut dist) = ([[0; 4]; 1 << LIT_BITS], [[0; 4]; 1 << DIST_BITS]);
    let mut i = 0;
    while i < lit.len() {
        // The longest codes have nine bits.
        let code = (i as u32).reverse_bits() >> 23;
        let (sym, len) = match code {
            0..0x60 => (256 + (code >> 2), 7),
            0x60..0x180 => ((code >> 1) - 0x30, 8),
            0x180..0x190 => (280 + (code >> 1) - 0xc0, 8),
            _ => (144 + code - 0x190, 9),
        };
        lit[i] = LIT.entry(sym as usize, len).to_le_bytes();
        i += 1;
    }
    i = 0;
    while i < dist.len() {
        dist[i] = DIST.entry((i as u32).reverse_bits() as usize >> 27, 5).to_le_bytes();
        i += 1;
    }
    (lit, dist)
}

/// The end of a block, then the lengths.
const LENGTHS: [u32; 30] = {
    let mut table = [END; 30];
    let (_, lengths) = table.split_at_mut(1);
    lengths.copy_from_slice(&bases::<29>(3, 4));
    table[29] = 258 << 16;
    table
};
const DISTANCES: [u32; 30] = bases(1, 2);
/// Symbols that stand for themselves.
const SELVES: [u32; 19] = bases(0, 19);

/// Bases from `first` on: `group` symbols without extra bits twice over, then one more bit per group.
#[allow(clippy::indexing_slicing, clippy::arithmetic_side_effects)]
const fn bases<const N: usize>(first: u32, group: usize) -> [u32; N] {
    let mut table = [0; N];
    let (mut base, mut i) = (first, 0);
    while i < N {
        let extra = if i < 2 * group { 0 } else { (i / group - 1) as u32 };
        table[i] = base << 16 | extra;
        base += 1 << extra;
        i += 1;
    }
    table
}

#[cfg(all(test, feature = "std"))]
mod tests {
    use super::*;

    #[test]
    fn tables_made_beforehand_are_those_that_are_built() {
        let mut work = alloc::vec![0x5a; TABLES_LEN];
        let mut tables = Tables::new(&mut work).unwrap();
        tables.describe_fixed().unwrap();
        assert!(*tables.lit.primary == FIXED.0 && *tables.dist.primary == FIXED.1);
    }
}
