//! Finite state entropy: distributions and decoding tables (RFC 8878 §4.1).
//!
//! A table entry is 64 bits, stored little-endian so that scratch needs no alignment. It holds what the
//! symbol of the state stands for beside the way to the next state:
//!
//! ```text
//! bits 0-31 base value of the symbol   32-39 its extra bits   40-47 bits to the next state   48-63 base of the next state
//! ```

use crate::codec::error::CodecErrorKind;

/// An entry as it lies in scratch.
pub(super) type Raw = [u8; 8];

/// One table entry where it lies: its fields are loaded when they are needed, which keeps registers free.
#[derive(Clone, Copy)]
pub(super) struct Entry<'a>(&'a Raw);

impl Entry<'_> {
    #[inline(always)]
    pub fn base(self) -> u32 {
        let &[a, b, c, d, ..] = self.0;
        u32::from_le_bytes([a, b, c, d])
    }
    #[inline(always)]
    pub fn extra(self) -> u32 {
        let &[_, _, _, _, extra, ..] = self.0;
        extra.into()
    }
    #[inline(always)]
    pub fn bits(self) -> u32 {
        let &[.., bits, _, _] = self.0;
        bits.into()
    }
    #[inline(always)]
    pub fn next(self) -> u32 {
        let &[.., low, high] = self.0;
        u16::from_le_bytes([low, high]).into()
    }
}

/// What the symbols of a table stand for.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// Literal length codes 0 ..= 35.
    LitLen,
    /// Match length codes 0 ..= 52.
    MatchLen,
    /// Offset codes 0 ..= 31.
    Offset,
    /// Huffman weights 0 ..= 12.
    Weight,
}

/// Probabilities by symbol; -1 means "less than one". Padded so that a masked index is in range.
pub(super) type Norm = [i16; 64];

const LITLEN_TAIL: [u32; 32] = tail(16, &[1, 1, 1, 1, 2, 2, 3, 3, 4, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16]);
const MATCHLEN_TAIL: [u32; 32] =
    tail(35, &[1, 1, 1, 1, 2, 2, 3, 3, 4, 4, 5, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16]);

/// Base in the low 24 bits, number of extra bits above, for codes that follow each other without gaps.
#[allow(clippy::indexing_slicing, clippy::arithmetic_side_effects)]
const fn tail(first: u32, extra: &[u8]) -> [u32; 32] {
    let mut table = [0; 32];
    let (mut base, mut i) = (first, 0);
    while i < extra.len() {
        table[i] = base | (extra[i] as u32) << 24;
        base += 1 << extra[i];
        i += 1;
    }
    table
}

impl Kind {
    /// The largest symbol.
    pub const fn max_symbol(self) -> u8 {
        match self {
            Kind::LitLen => 35,
            Kind::MatchLen => 52,
            Kind::Offset => 31,
            Kind::Weight => 12,
        }
    }

    /// Log2 of the largest table.
    pub const fn max_log(self) -> u32 {
        match self {
            Kind::LitLen | Kind::MatchLen => 9,
            Kind::Offset => 8,
            Kind::Weight => 6,
        }
    }

    /// The lower 40 bits of an entry: base and number of extra bits.
    #[allow(clippy::indexing_slicing, clippy::arithmetic_side_effects)]
    const fn symbol(self, sym: u8) -> u64 {
        let packed = match self {
            Kind::LitLen if sym >= 16 => LITLEN_TAIL[(sym - 16) as usize & 31],
            Kind::MatchLen if sym >= 32 => MATCHLEN_TAIL[(sym - 32) as usize & 31],
            Kind::MatchLen => sym as u32 + 3,
            Kind::Offset => return 1 << (sym & 31) | (sym as u64) << 32,
            Kind::LitLen | Kind::Weight => sym as u32,
        };
        (packed & 0xff_ffff) as u64 | (packed as u64 >> 24) << 32
    }
}

/// The entry in `state` of the table of `N` (a power of two) entries that begins at entry `AT` of `all`.
#[inline(always)]
pub(super) fn entry<const AT: usize, const N: usize, const ALL: usize>(
    all: &[Raw; ALL],
    state: u32,
) -> Entry<'_> {
    let index = (state as usize & const { N - 1 }).wrapping_add(AT);
    Entry(all.get(index).unwrap_or(&[0; 8]))
}

/// Reads a distribution and builds its table; returns its log2 and the bytes it takes.
pub(super) fn read(src: &[u8], kind: Kind, table: &mut [Raw; 512]) -> Result<(u32, usize), CodecErrorKind> {
    let mut norm = [0; 64];
    let (log, symbols, taken) = read_norm(src, kind, &mut norm)?;
    build(table, &norm, symbols, log, kind);
    Ok((log, taken))
}

/// A table with one state.
pub(super) fn single(table: &mut [Raw], kind: Kind, sym: u8) {
    if let Some(first) = table.first_mut() {
        *first = kind.symbol(sym).to_le_bytes();
    }
}

/// Fills the first `1 << log` entries of `table` from the distribution of the first `symbols` symbols, which adds up to
/// `1 << log`.
///
/// Every index is masked to its array's length, a power of two, so that nothing here can panic.
#[allow(clippy::indexing_slicing, clippy::arithmetic_side_effects)]
const fn build<const N: usize>(table: &mut [Raw; N], norm: &Norm, symbols: usize, log: u32, kind: Kind) {
    let size = 1usize << (log & 15);
    let mask = (size - 1) & (N - 1);
    // Symbols of probability "less than one" sit at the end, one state each.
    let mut next = [0u16; 64];
    let mut high = mask;
    let mut sym = 0;
    while sym < symbols & 63 {
        if norm[sym] == -1 {
            table[high & (N - 1)][0] = sym as u8;
            high = high.wrapping_sub(1);
            next[sym] = 1;
        } else {
            next[sym] = norm[sym] as u16;
        }
        sym += 1;
    }
    // The others are spread over the rest.
    let step = (size >> 1) + (size >> 3) + 3;
    let mut at = 0usize;
    let mut sym = 0;
    while sym < symbols & 63 {
        let mut left = norm[sym];
        while left > 0 {
            table[at & (N - 1)][0] = sym as u8;
            loop {
                at = (at + step) & mask;
                if at <= high || high > mask {
                    break;
                }
            }
            left -= 1;
        }
        sym += 1;
    }
    let mut state = 0;
    while state <= mask {
        let slot = &mut table[state & (N - 1)];
        let sym = slot[0] & 63;
        let x = next[sym as usize];
        next[sym as usize] = x.wrapping_add(1);
        let top = 31 ^ ((x | 1) as u32).leading_zeros();
        let bits = log.saturating_sub(top);
        let base = ((x as usize) << (bits & 15)).wrapping_sub(size) as u16;
        *slot = (kind.symbol(sym) | (bits as u64) << 40 | (base as u64) << 48).to_le_bytes();
        state += 1;
    }
}

/// Reads a distribution (§4.1.1); returns its log2, how many symbols it has, and the bytes it takes.
fn read_norm(src: &[u8], kind: Kind, norm: &mut Norm) -> Result<(u32, usize, usize), CodecErrorKind> {
    let mut at = 0usize;
    // At most 32 bits from bit `at` on; zeros after the end.
    let peek = |at: usize| {
        let tail = src.get(at >> 3..).unwrap_or(&[]);
        let word = match tail.first_chunk::<4>() {
            Some(word) => u32::from_le_bytes(*word),
            None => tail.iter().rev().fold(0, |word, &byte| (word << 8) | u32::from(byte)),
        };
        word >> (at & 7)
    };
    *norm = [0; 64];
    let log = (peek(at) & 15).wrapping_add(5);
    at = at.wrapping_add(4);
    if log > kind.max_log() {
        return Err(CodecErrorKind::Corrupt);
    }
    let mut left = 1i32 << log;
    let mut sym = 0u8;
    while left > 0 {
        // Values 0 ..= left + 1; the smallest take a bit less.
        let most = left.unsigned_abs().wrapping_add(1);
        let bits = 32u32.wrapping_sub(most.leading_zeros());
        let short_mask = (1u32 << (bits.wrapping_sub(1) & 31)).wrapping_sub(1);
        let shorts = (1u32 << (bits & 31)).wrapping_sub(1).wrapping_sub(most);
        let word = peek(at);
        let mut value = word & short_mask;
        if value < shorts {
            at = at.wrapping_add(bits.wrapping_sub(1) as usize);
        } else {
            value = word & (1u32 << (bits & 31)).wrapping_sub(1);
            if value > short_mask {
                value = value.wrapping_sub(shorts);
            }
            at = at.wrapping_add(bits as usize);
        }
        let probability = (value as i16).wrapping_sub(1);
        left = left.wrapping_sub(i32::from(probability.unsigned_abs()));
        if sym > kind.max_symbol() {
            return Err(CodecErrorKind::Corrupt);
        }
        if let Some(slot) = norm.get_mut(usize::from(sym)) {
            *slot = probability;
        }
        sym = sym.wrapping_add(1);
        if probability == 0 {
            loop {
                let zeros = peek(at) as u8 & 3;
                at = at.wrapping_add(2);
                sym = sym.saturating_add(zeros);
                if zeros != 3 {
                    break;
                }
                if at >> 3 > src.len() {
                    return Err(CodecErrorKind::Truncated);
                }
            }
        }
    }
    let bytes = at.div_ceil(8);
    if left < 0 {
        return Err(CodecErrorKind::Corrupt);
    }
    if bytes > src.len() {
        return Err(CodecErrorKind::Truncated);
    }
    Ok((log, sym.into(), bytes))
}

/// The tables of the predefined distributions (§3.1.1.3.2.2), built when the crate is compiled, and their log2.
pub(super) const LITLEN: (&[Raw], u32) = (&LITLEN_TABLE, 6);
pub(super) const MATCHLEN: (&[Raw], u32) = (&MATCHLEN_TABLE, 6);
pub(super) const OFFSET: (&[Raw], u32) = (&OFFSET_TABLE, 5);

static LITLEN_TABLE: [Raw; 64] = predefined(
    6,
    Kind::LitLen,
    &[
        4, 3, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 1, 1, 1, 2, 2, 2, 2, 2, 2, 2, 2, 2, 3, 2, 1, 1, 1, 1, 1, -1,
        -1, -1, -1,
    ],
);
static MATCHLEN_TABLE: [Raw; 64] = predefined(
    6,
    Kind::MatchLen,
    &[
        1, 4, 3, 2, 2, 2, 2, 2, 2, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1,
        1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, -1, -1, -1, -1, -1, -1, -1,
    ],
);
static OFFSET_TABLE: [Raw; 32] = predefined(
    5,
    Kind::Offset,
    &[1, 1, 1, 1, 1, 1, 2, 2, 2, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, -1, -1, -1, -1, -1],
);

#[allow(clippy::indexing_slicing, clippy::arithmetic_side_effects)]
const fn predefined<const N: usize>(log: u32, kind: Kind, probabilities: &[i16]) -> [Raw; N] {
    let mut norm = [0; 64];
    let mut i = 0;
    while i < probabilities.len() {
        norm[i] = probabilities[i];
        i += 1;
    }
    let mut table = [[0; 8]; N];
    build(&mut table, &norm, probabilities.len(), log, kind);
    table
}
