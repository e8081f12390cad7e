//! One block: its codes, which form it takes, and its bits.

use super::super::ORDER;
use super::bits::BitWriter;
use super::code::{Code, MOST};
use super::tokens::{Contents, DISTANCES, END, Histogram, LITLENS, distance_symbol, length_symbol};
use crate::arch::entropy::bit_instructions;
use crate::arch::entropy::deflate_tables::fixed_len;
use crate::arch::level::Level;

/// Most bits of a code, and of a code for their lengths.
const LONGEST: usize = 15;
const LONGEST_LENGTH: usize = 7;
/// Bytes of a stored block, at most.
const STORED: usize = 65535;

/// About how many bits describing the codes of these symbols takes.
pub(super) fn description(histogram: &Histogram) -> i64 {
    let used = histogram.litlens.iter().chain(&histogram.distances).filter(|n| **n > 0).count();
    60 + 3 * used as i64
}

/// The lengths of both codes, by symbols of the code for them.
struct Lengths {
    /// Symbol, and the value of its extra bits.
    symbols: [(u8, u8); LITLENS + DISTANCES],
    count: usize,
    litlens: usize,
    distances: usize,
}

/// Extra bits of the symbols 16, 17 and 18.
fn repeat_bits(symbol: u8) -> u32 {
    match symbol {
        16 => 2,
        17 => 3,
        18 => 7,
        _ => 0,
    }
}

impl Lengths {
    fn of(litlens: &Code<MOST>, distances: &Code<DISTANCES>) -> Lengths {
        let used = |lens: &[u8], least: usize| {
            lens.iter().rposition(|len| *len > 0).map_or(0, |last| last + 1).max(least)
        };
        let mut lengths = Lengths {
            symbols: [(0, 0); LITLENS + DISTANCES],
            count: 0,
            litlens: used(&litlens.lens, 257),
            distances: used(&distances.lens, 1),
        };
        let mut all =
            litlens.lens.iter().take(lengths.litlens).chain(distances.lens.iter().take(lengths.distances));
        let mut next = all.next();
        while let Some(&len) = next {
            let mut run = 1;
            next = all.next();
            while next == Some(&len) {
                run += 1;
                next = all.next();
            }
            lengths.repeat(len, run);
        }
        lengths
    }

    /// Appends `run` times `len`.
    fn repeat(&mut self, len: u8, mut run: usize) {
        if len == 0 {
            while run >= 3 {
                let part = run.min(138);
                self.push(if part < 11 { (17, part as u8 - 3) } else { (18, part as u8 - 11) });
                run -= part;
            }
        } else {
            self.push((len, 0));
            run -= 1;
            while run >= 3 {
                let part = run.min(6);
                self.push((16, part as u8 - 3));
                run -= part;
            }
        }
        for _ in 0..run {
            self.push((len, 0));
        }
    }

    fn push(&mut self, symbol: (u8, u8)) {
        if let Some(slot) = self.symbols.get_mut(self.count) {
            *slot = symbol;
            self.count += 1;
        }
    }

    fn symbols(&self) -> impl Iterator<Item = (u8, u8)> {
        self.symbols.iter().take(self.count).copied()
    }
}

/// The codes of a block, and the code of their lengths.
struct Codes {
    litlens: Code<MOST>,
    distances: Code<DISTANCES>,
    lengths: Lengths,
    lengths_code: Code<19>,
    /// How many lengths of `lengths_code` are written, in [`ORDER`].
    lengths_count: usize,
    /// Bits that the description of the codes takes.
    described: u64,
}

impl Codes {
    #[inline(always)] // where it is to stay: it is large
    fn of(histogram: &Histogram) -> Codes {
        let litlens = Code::<MOST>::of(&histogram.litlens, LONGEST);
        let distances = Code::<DISTANCES>::of(&histogram.distances, LONGEST);
        let lengths = Lengths::of(&litlens, &distances);
        let mut freq = [0; 19];
        for (symbol, _) in lengths.symbols() {
            if let Some(n) = freq.get_mut(usize::from(symbol)) {
                *n += 1;
            }
        }
        let lengths_code = Code::<19>::of(&freq, LONGEST_LENGTH);
        let last = ORDER.iter().rposition(|s| lengths_code.get(usize::from(*s)).1 > 0);
        let lengths_count = last.map_or(4, |at| (at + 1).max(4));
        let repeats: u64 = lengths.symbols().map(|(symbol, _)| u64::from(repeat_bits(symbol))).sum();
        let described = 14 + 3 * lengths_count as u64 + lengths_code.cost(&freq) + repeats;
        Codes { litlens, distances, lengths, lengths_code, lengths_count, described }
    }

    /// Writes the description.
    fn describe(&self, out: &mut BitWriter<'_>) {
        out.push_bits((self.lengths.litlens - 257) as u32, 5);
        out.push_bits((self.lengths.distances - 1) as u32, 5);
        out.push_bits(self.lengths_count as u32 - 4, 4);
        out.flush();
        for symbol in ORDER.iter().take(self.lengths_count) {
            out.push_bits(self.lengths_code.get(usize::from(*symbol)).1, 3);
            out.flush();
        }
        for (symbol, more) in self.lengths.symbols() {
            let (bits, len) = self.lengths_code.get(usize::from(symbol));
            out.push_bits(bits, len);
            out.push_bits(more.into(), repeat_bits(symbol));
            out.flush();
        }
    }
}

/// Writes a block in the form that takes fewest bits; `None` where it does not fit.
pub(super) fn write(out: &mut BitWriter<'_>, src: &[u8], contents: &Contents<'_>, last: bool) -> Option<()> {
    let histogram = contents.histogram;
    let codes = Codes::of(histogram);
    let extra = 3 + extra_bits(histogram);
    let (litlens, distances) = (&codes.litlens, &codes.distances);
    let coded =
        extra + codes.described + litlens.cost(&histogram.litlens) + distances.cost(&histogram.distances);
    let fixed_litlens = histogram.litlens.iter().zip(fixed_lens());
    let fixed = extra
        + fixed_litlens.map(|(n, len)| u64::from(*n) * u64::from(len)).sum::<u64>()
        + histogram.distances.iter().map(|n| 5 * u64::from(*n)).sum::<u64>();
    let bytes = src.get(contents.start..contents.end)?;
    let pieces = bytes.len().div_ceil(STORED).max(1) as u64;
    let stored = 8 * bytes.len() as u64 + pieces * (3 + 7 + 32);
    if stored.min(fixed).min(coded) > out.room() {
        return None;
    }
    if stored <= fixed.min(coded) {
        store(out, bytes, last);
    } else if fixed <= coded {
        out.push_bits(u32::from(last) | 1 << 1, 3);
        fixed_tokens(out, bytes, contents);
    } else {
        out.push_bits(u32::from(last) | 2 << 1, 3);
        codes.describe(out);
        tokens(out, bytes, contents, litlens, distances);
    }
    Some(())
}

/// Writes stored blocks, one at least.
fn store(out: &mut BitWriter<'_>, bytes: &[u8], last: bool) {
    let mut rest = bytes;
    loop {
        let (piece, next) = rest.split_at(rest.len().min(STORED));
        rest = next;
        out.push_bits(u32::from(last && rest.is_empty()), 3);
        out.align();
        let len = piece.len() as u16;
        out.push_bits(u32::from(len) | u32::from(!len) << 16, 32);
        out.flush();
        out.bytes(piece);
        if rest.is_empty() {
            return;
        }
    }
}

/// The lengths of the literal/length code of blocks without a description.
fn fixed_lens() -> impl Iterator<Item = u8> {
    (0..MOST).map(fixed_len)
}

/// Bits that say how long and how far exactly.
pub(super) fn extra_bits(histogram: &Histogram) -> u64 {
    let lengths = histogram.litlens.iter().skip(257).enumerate();
    let lengths =
        lengths.map(|(i, n)| u64::from(*n) * if i < 28 { (i as u64 / 4).saturating_sub(1) } else { 0 });
    let distances = histogram.distances.iter().enumerate();
    let distances = distances.map(|(i, n)| u64::from(*n) * (i as u64 / 2).saturating_sub(1));
    lengths.sum::<u64>() + distances.sum::<u64>()
}

/// [`tokens`] by the codes of blocks without a description.
#[inline(never)] // its stack is not its caller's
fn fixed_tokens(out: &mut BitWriter<'_>, bytes: &[u8], contents: &Contents<'_>) {
    let distances = Code::with(core::iter::repeat_n(5, DISTANCES));
    tokens(out, bytes, contents, &Code::with(fixed_lens()), &distances);
}

/// Writes tokens and the end of the block.
#[inline(never)]
fn tokens(
    out: &mut BitWriter<'_>,
    bytes: &[u8],
    contents: &Contents<'_>,
    litlens: &Code<MOST>,
    distances: &Code<DISTANCES>,
) {
    bit_instructions::run(Level::usual(), Tokens { out, bytes, contents, litlens, distances });
}

struct Tokens<'a, 'o> {
    out: &'a mut BitWriter<'o>,
    bytes: &'a [u8],
    contents: &'a Contents<'a>,
    litlens: &'a Code<MOST>,
    distances: &'a Code<DISTANCES>,
}

impl bit_instructions::Kernel for Tokens<'_, '_> {
    type Output = ();

    #[inline(always)]
    fn run<const BEST: bool>(self) {
        let Tokens { out: kept, bytes, contents, litlens, distances } = self;
        // In registers.
        let mut out = kept.take();
        let mut at = 0;
        for (run, found) in contents.tokens() {
            let literals = bytes.get(at..at + run).unwrap_or_default();
            let (threes, rest) = literals.as_chunks::<3>();
            for three in threes {
                for &byte in three {
                    let (bits, len) = litlens.get(byte.into());
                    out.push_bits(bits, len);
                }
                out.flush();
            }
            for &byte in rest {
                let (bits, len) = litlens.get(byte.into());
                out.push_bits(bits, len);
            }
            out.flush();
            at += run;
            if let Some((length, distance)) = found {
                let (symbol, more) = length_symbol(length);
                let (bits, len) = litlens.get(symbol);
                out.push_bits(bits, len);
                out.push_bits(length & ((1 << more) - 1), more);
                let (symbol, more) = distance_symbol(distance);
                let (bits, len) = distances.get(symbol);
                out.push_bits(bits, len);
                out.push_bits(distance & ((1 << more) - 1), more);
                out.flush();
                at += length as usize + 3;
            }
        }
        let (bits, len) = litlens.get(END);
        out.push_bits(bits, len);
        out.flush();
        *kept = out;
    }
}
