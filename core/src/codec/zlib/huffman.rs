//! Decoding tables for deflate's canonical codes, in scratch memory.
//!
//! A table has `1 << bits` primary entries, indexed by the next bits of the stream, and behind them the
//! subtables of longer codes. An entry is 32 bits, stored little-endian so that scratch needs no alignment:
//!
//! ```text
//! bits  0-4   bits to drop: the code (in a subtable: its rest) and the extra bits
//! bits  8-11  of these, the code; in a link to a subtable: the subtable's index bits (0 = end of block)
//! bits 12-13  0 no such code, 1 literals, 2 length or distance, 3 link or end of block
//! bits 14-15  number of literals, 1 or 2
//! bits 16-31  literals, first one lowest; base of the length or distance; start of the subtable
//! ```

use crate::codec::CodecErrorKind;

/// Index bits of the literal and length table.
pub(super) const LIT_BITS: u32 = 10;
/// Index bits of the distance table.
pub(super) const DIST_BITS: u32 = 8;
/// Index bits of the table for the code lengths.
pub(super) const LENGTHS_BITS: u32 = 7;
/// Longest code.
const MAX_LEN: usize = 15;

/// Room for subtables. Codes of 288 symbols need at most 310 such entries, of 32 symbols at most 146.
const LIT_SUB: usize = 320;
const DIST_SUB: usize = 160;
const ENTRIES: usize = (1 << LIT_BITS) + LIT_SUB + (1 << DIST_BITS) + DIST_SUB;
/// Bytes of all tables.
pub(super) const TABLES_LEN: usize = 4 * ENTRIES;

pub(super) const LITERAL: u32 = 1 << 12;
pub(super) const BASE: u32 = 2 << 12;
const SPECIAL: u32 = 3 << 12;
const KIND: u32 = 3 << 12;

/// One table entry.
#[derive(Clone, Copy)]
pub(super) struct Entry(pub u32);

impl Entry {
    #[inline(always)]
    pub fn is(self, kind: u32) -> bool {
        self.0 & KIND == kind
    }
    #[inline(always)]
    pub fn is_link(self) -> bool {
        self.is(SPECIAL) && self.code_bits() != 0
    }
    #[inline(always)]
    pub fn is_end(self) -> bool {
        self.is(SPECIAL) && self.code_bits() == 0
    }
    #[inline(always)]
    pub fn drop_bits(self) -> u32 {
        self.0 & 31
    }
    #[inline(always)]
    pub fn code_bits(self) -> u32 {
        self.0 >> 8 & 15
    }
    #[inline(always)]
    pub fn literals(self) -> (u32, usize) {
        (self.0 >> 16, (self.0 >> 14 & 3) as usize)
    }
    /// Base plus the extra bits found in `bits`.
    #[inline(always)]
    pub fn value(self, bits: u64) -> usize {
        let all = bits as u32 & (1u32 << self.drop_bits()).wrapping_sub(1);
        ((self.0 >> 16).wrapping_add(all >> self.code_bits())) as usize
    }
}

type Raw = [u8; 4];

/// The two tables of a block.
pub(super) struct Tables<'w> {
    pub lit: Table<'w, { 1 << LIT_BITS }>,
    pub dist: Table<'w, { 1 << DIST_BITS }>,
}

/// A table of `N` primary entries.
pub(super) struct Table<'w, const N: usize> {
    primary: &'w mut [Raw; N],
    sub: &'w mut [Raw],
}

impl<const N: usize> Table<'_, N> {
    /// The entry for the next bits of the stream.
    #[inline(always)]
    pub fn first(&self, bits: u64) -> Entry {
        let index = bits as usize & const { N.wrapping_sub(1) };
        Entry(self.primary.get(index).map_or(0, |e| u32::from_le_bytes(*e)))
    }

    /// Follows `link`, whose own bits have been dropped.
    #[inline(always)]
    pub fn second(&self, link: Entry, bits: u64) -> Entry {
        let mask = (1u32 << link.code_bits()).wrapping_sub(1);
        let index = (link.0 >> 16).wrapping_add(bits as u32 & mask) as usize;
        Entry(self.sub.get(index).map_or(0, |e| u32::from_le_bytes(*e)))
    }

    /// Builds the table for the code lengths `lens`; `symbol` gives the entry of each symbol, without its
    /// code length, or 0 if it may not occur.
    pub fn build(&mut self, bits: u32, lens: &[u8], symbol: fn(usize) -> u32) -> Result<(), CodecErrorKind> {
        let mut count = [0u16; MAX_LEN + 1];
        for &len in lens {
            let slot = count.get_mut(usize::from(len)).ok_or(CodecErrorKind::Corrupt)?;
            *slot = slot.wrapping_add(1);
        }
        check(&count, bits != LENGTHS_BITS)?;
        self.primary.fill([0; 4]);
        let mut used_sub = 0usize;
        // The current code, first bit lowest, and where its subtable is.
        let mut code = 0u32;
        let (mut prefix, mut sub_start) = (u32::MAX, 0usize);
        for len in 1..=MAX_LEN as u32 {
            let mut left = count.get(len as usize).copied().unwrap_or(0);
            if left == 0 {
                continue;
            }
            for (sym, _) in lens.iter().enumerate().filter(|&(_, &l)| u32::from(l) == len) {
                let entry = symbol(sym);
                if len <= bits {
                    let stored = with_length(entry, len);
                    let slots = self.primary.get_mut(..1 << bits).ok_or(CodecErrorKind::Corrupt)?;
                    fill(slots, code, len, stored);
                } else {
                    let low = code & (1u32 << bits).wrapping_sub(1);
                    let rest = len.wrapping_sub(bits);
                    if low != prefix {
                        prefix = low;
                        sub_start = used_sub;
                        let mut sub_bits = rest;
                        let mut room = u32::from(left);
                        while room < 1 << sub_bits && bits.wrapping_add(sub_bits) < MAX_LEN as u32 {
                            sub_bits = sub_bits.wrapping_add(1);
                            let more = count.get(bits.wrapping_add(sub_bits) as usize).copied().unwrap_or(0);
                            room = (room << 1).wrapping_add(more.into());
                        }
                        used_sub = sub_start.wrapping_add(1 << sub_bits);
                        let link = (sub_start as u32) << 16 | SPECIAL | sub_bits << 8 | bits;
                        let slot = self.primary.get_mut(low as usize).ok_or(CodecErrorKind::Corrupt)?;
                        *slot = link.to_le_bytes();
                        self.sub.get_mut(sub_start..used_sub).ok_or(CodecErrorKind::Corrupt)?.fill([0; 4]);
                    }
                    let stored = with_length(entry, rest);
                    let table = self.sub.get_mut(sub_start..used_sub).ok_or(CodecErrorKind::Corrupt)?;
                    fill(table, code >> bits, rest, stored);
                }
                code = next_code(code, len);
                left = left.wrapping_sub(1);
            }
        }
        Ok(())
    }

    /// Joins two literals into one entry wherever both codes fit the index.
    pub fn pair_literals(&mut self) {
        for index in 0..N {
            let one = self.first(index as u64);
            if !one.is(LITERAL) {
                continue;
            }
            let len = one.drop_bits();
            // Entries below `index` may be pairs already; their first literal still stands alone in
            // bits 8-11 (its code length) and 16-23.
            let two = self.first((index >> len) as u64);
            let both = len.wrapping_add(two.code_bits());
            if two.is(LITERAL) && both <= N.trailing_zeros() {
                let entry =
                    (two.0 >> 16 & 0xff) << 24 | one.0 & 0xff_0000 | 2 << 14 | LITERAL | len << 8 | both;
                if let Some(slot) = self.primary.get_mut(index) {
                    *slot = entry.to_le_bytes();
                }
            }
        }
    }
}

/// The entry of a symbol whose code has `len` bits (in this table).
#[inline(always)]
fn with_length(entry: u32, len: u32) -> u32 {
    match entry & KIND {
        0 => 0,
        SPECIAL => entry | len,
        _ => entry.wrapping_add(len << 8 | len),
    }
}

/// Writes `entry` wherever the low `len` bits of the index are `code`.
#[inline(always)]
fn fill(table: &mut [Raw], code: u32, len: u32, entry: u32) {
    for slot in table.iter_mut().skip(code as usize).step_by(1 << (len & 15)) {
        *slot = entry.to_le_bytes();
    }
}

/// The code after `code` among those of `len` bits, counting from the first bit, which is the lowest.
#[inline(always)]
fn next_code(code: u32, len: u32) -> u32 {
    let zeros = !code & (1u32 << (len & 31)).wrapping_sub(1);
    match zeros.checked_ilog2() {
        None => 0,
        Some(top) => code & (1u32 << top).wrapping_sub(1) | 1 << top,
    }
}

/// Codes must fill the code space exactly; with `lenient` a single code of one bit, or none at all, need not.
fn check(count: &[u16; MAX_LEN + 1], lenient: bool) -> Result<(), CodecErrorKind> {
    let mut left = 1i32;
    let mut codes = 0u16;
    for (len, &n) in count.iter().enumerate().skip(1) {
        left = (left << 1).wrapping_sub(n.into());
        codes = codes.wrapping_add(n);
        if left < 0 {
            return Err(CodecErrorKind::Corrupt);
        }
        if lenient && len == 1 && codes == 1 && count.iter().skip(2).all(|&n| n == 0) {
            return Ok(());
        }
    }
    if left == 0 || lenient && codes == 0 { Ok(()) } else { Err(CodecErrorKind::Corrupt) }
}

impl<'w> Tables<'w> {
    /// Lays the tables out in `work`.
    pub fn new(work: &'w mut [u8]) -> Option<Tables<'w>> {
        let (entries, _) = work.as_chunks_mut::<4>();
        let (lit, rest) = entries.split_first_chunk_mut()?;
        let (lit_sub, rest) = rest.split_at_mut_checked(LIT_SUB)?;
        let (dist, rest) = rest.split_first_chunk_mut()?;
        let (dist_sub, _) = rest.split_at_mut_checked(DIST_SUB)?;
        Some(Tables {
            lit: Table { primary: lit, sub: lit_sub },
            dist: Table { primary: dist, sub: dist_sub },
        })
    }
}

/// Entry of a literal, length or end-of-block symbol.
pub(super) fn lit_symbol(sym: usize) -> u32 {
    match sym {
        0..=255 => (sym as u32) << 16 | 1 << 14 | LITERAL,
        256 => SPECIAL,
        _ => LENGTHS.get(sym.wrapping_sub(257)).copied().unwrap_or(0),
    }
}

/// Entry of a distance symbol.
pub(super) fn dist_symbol(sym: usize) -> u32 {
    DISTANCES.get(sym).copied().unwrap_or(0)
}

/// Entry of a symbol that stands for itself.
pub(super) fn plain_symbol(sym: usize) -> u32 {
    (sym as u32) << 16 | BASE
}

const LENGTHS: [u32; 29] = {
    let mut table = bases::<29>(3, 4);
    table[28] = 258 << 16 | BASE;
    table
};
const DISTANCES: [u32; 30] = bases(1, 2);

/// Bases from `first` on: `group` symbols without extra bits twice over, then one more bit per group.
#[allow(clippy::indexing_slicing, clippy::arithmetic_side_effects)]
const fn bases<const N: usize>(first: u32, group: usize) -> [u32; N] {
    let mut table = [0; N];
    let (mut base, mut i) = (first, 0);
    while i < N {
        let extra = if i < 2 * group { 0 } else { (i / group - 1) as u32 };
        table[i] = base << 16 | BASE | extra;
        base += 1 << extra;
        i += 1;
    }
    table
}
