//! Level 1 on hosts: one pass, one look-up a byte, one block by the codes that need no description.
//!
//! ```text
//! while a word lies at p:
//!   q = table[hash of the four bytes at p];  table[hash] = p
//!   if the four bytes at p and q are equal and q is within reach:  write the match;  p = its end
//!   else:  write a literal;  p += 1
//! ```
//! Where matches are many this is the cheapest way to write them: nothing is kept, counted or read twice.

use super::bits::BitWriter;
use super::greedy::bits;
use super::tokens::{END, distance_symbol, length_symbol};
use super::tokens::{LONGEST, REACH};
use crate::arch::entropy::bit_instructions;
use crate::arch::level::Level;
use crate::arch::search::hash::hash4;
use crate::arch::search::words::Words;

/// Bits of the largest table's hashes: it has an entry for each position within reach.
const MOST_BITS: u32 = REACH.ilog2();

/// Bytes of scratch for the table.
pub(super) const fn work_len(src_len: usize) -> usize {
    2 << bits(src_len, MOST_BITS)
}

/// A code, its first bit lowest, with extra bits above it, and above all of them how many they are.
const COUNT: u32 = 24;

/// The code of a literal or the end of the block.
const fn literal(symbol: usize) -> u32 {
    let (code, len) = match symbol as u32 {
        sym @ 0..144 => (0x30 + sym, 8),
        sym @ 144..256 => (0x190 + sym - 144, 9),
        sym @ 256..280 => (sym - 256, 7),
        sym => (0xc0 + sym - 280, 8),
    };
    code.reverse_bits() >> (32 - len) | len << COUNT
}

#[allow(clippy::indexing_slicing)] // a constant: it is checked as it is made
static LITERALS: [u32; 256] = {
    let mut codes = [0; 256];
    let mut symbol = 0;
    while symbol < codes.len() {
        codes[symbol] = literal(symbol);
        symbol += 1;
    }
    codes
};

/// The code of each match length, less three.
#[allow(clippy::indexing_slicing)]
static LENGTHS: [u32; 256] = {
    let mut codes = [0; 256];
    let mut less_three = 0;
    while less_three < codes.len() {
        let (symbol, more) = length_symbol(less_three as u32);
        let code = literal(symbol);
        let (len, code) = (code >> COUNT, code & ((1 << COUNT) - 1));
        let extra = less_three as u32 & ((1 << more) - 1);
        codes[less_three] = code | extra << len | (len + more) << COUNT;
        less_three += 1;
    }
    codes
};

/// The code of each distance symbol.
#[allow(clippy::indexing_slicing)]
static DISTANCES: [u8; 32] = {
    let mut codes = [0; 32];
    let mut symbol = 0;
    while symbol < codes.len() {
        codes[symbol] = (symbol as u8).reverse_bits() >> 3;
        symbol += 1;
    }
    codes
};

/// Writes a block of all of `src`; `None` where it does not fit.
#[inline(never)]
pub(super) fn block(src: &[u8], work: &mut [u8], out: &mut BitWriter<'_>) -> Option<()> {
    let bits = bits(src.len(), MOST_BITS);
    let table = work.get_mut(..work_len(src.len()))?;
    table.fill(0);
    bit_instructions::run(Level::usual(), Quick { src, table: table.as_chunks_mut().0, bits, out })
}

struct Quick<'a, 'o> {
    src: &'a [u8],
    /// Positions modulo 65536.
    table: &'a mut [[u8; 2]],
    bits: u32,
    out: &'a mut BitWriter<'o>,
}

impl bit_instructions::Kernel for Quick<'_, '_> {
    type Output = Option<()>;

    #[inline(always)]
    fn run<const BEST: bool>(self) -> Option<()> {
        let Quick { src, table, bits, out: kept } = self;
        let mut out = kept.take();
        out.push_bits(1 | 1 << 1, 3);
        let mut p = 0;
        if let Some(words) = Words::new(src) {
            while let Some(word) = words.get64(p) {
                let q = match table.get_mut(hash4(word, bits)) {
                    Some(cell) => u16::from_le_bytes(core::mem::replace(cell, (p as u16).to_le_bytes())),
                    None => 0,
                };
                let less_one = (p as u16).wrapping_sub(q).wrapping_sub(1);
                let q = p.wrapping_sub(usize::from(less_one) + 1);
                let differ = words.load64(q) ^ word;
                if differ as u32 == 0 && usize::from(less_one) < REACH.min(p) {
                    let len = words.common_from(differ, q, p, src.len().min(p + LONGEST));
                    let code = LENGTHS.get(len.wrapping_sub(3)).copied().unwrap_or(0);
                    out.push_bits(code & ((1 << COUNT) - 1), code >> COUNT);
                    let (symbol, more) = distance_symbol(less_one.into());
                    let code = DISTANCES.get(symbol).copied().unwrap_or(0);
                    out.push_bits(u32::from(code) | (u32::from(less_one) & ((1 << more) - 1)) << 5, 5 + more);
                    p += len;
                    if !out.fits() {
                        return None;
                    }
                } else {
                    let code = LITERALS.get(word as usize & 0xff).copied().unwrap_or(0);
                    out.push_bits(code & 0xffff, code >> COUNT);
                    p += 1;
                }
                out.flush();
            }
        }
        for &byte in src.get(p..)? {
            let code = LITERALS.get(usize::from(byte)).copied().unwrap_or(0);
            out.push_bits(code & 0xffff, code >> COUNT);
            out.flush();
        }
        let end = const { literal(END) };
        out.push_bits(end & 0xffff, end >> COUNT);
        out.flush();
        let fits = out.fits();
        *kept = out;
        fits.then_some(())
    }
}
