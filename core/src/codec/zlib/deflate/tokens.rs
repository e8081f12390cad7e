//! Tokens, what a block is made of: how they are kept, which symbols they take, and how many bits.
//!
//! ```text
//! token     literals, as many as a u32 says, then a match: length - 3 << 16 | distance - 1, or none
//! ```

/// No match lies farther back.
pub(super) const REACH: usize = 32768;
/// The longest match.
pub(super) const LONGEST: usize = 258;

/// Symbols of the literal/length and distance codes.
pub(super) const LITLENS: usize = 286;
pub(super) const DISTANCES: usize = 30;
/// Ends a block.
pub(super) const END: usize = 256;
/// A token without a match.
pub(super) const NONE: u32 = u32::MAX;

/// The shortest match of the format.
pub(super) const SHORTEST: usize = 3;

/// Tokens of a block, at most.
pub(super) const TOKENS: usize = 8192;
/// Bytes of a block, at most: [`entropy`] counts them in 32 bits.
pub(super) const MOST_BYTES: usize = 1 << 20;

pub(super) type Token = [u8; 8];

/// Bytes of scratch for the tokens of `src_len` bytes.
pub(super) const fn work_len(src_len: usize) -> usize {
    // A token is four bytes or more on average, but for the last.
    let most = src_len / 4 + 2;
    size_of::<Token>() * if most < TOKENS { most } else { TOKENS }
}

/// How often symbols occur.
pub(super) struct Histogram {
    pub(super) litlens: [u32; LITLENS],
    pub(super) distances: [u32; DISTANCES],
}

impl Histogram {
    pub(super) const EMPTY: Histogram = Histogram { litlens: [0; LITLENS], distances: [0; DISTANCES] };

    pub(super) fn add(&mut self, other: &Histogram) {
        self.litlens.iter_mut().zip(&other.litlens).for_each(|(a, b)| *a += b);
        self.distances.iter_mut().zip(&other.distances).for_each(|(a, b)| *a += b);
    }

    pub(super) fn clear(&mut self) {
        self.litlens.fill(0);
        self.distances.fill(0);
    }

    /// Sixteenths of bits that these symbols take by the best code.
    pub(super) fn entropy(&self) -> i64 {
        entropy(self.litlens.iter().copied()) + entropy(self.distances.iter().copied())
    }

    /// Their entropy by a code that they share with `other`.
    pub(super) fn entropy_with(&self, other: &Histogram) -> i64 {
        entropy(self.litlens.iter().zip(&other.litlens).map(|(a, b)| a + b))
            + entropy(self.distances.iter().zip(&other.distances).map(|(a, b)| a + b))
    }
}

/// Bytes that [`plain_bits`] counts at least, if there are as many (docs/optimization-notes.md#zlib-plain).
const SAMPLE: usize = 1024;

/// Sixteenths of bits that symbols take by the best code which occur so often: a bit each at least.
#[inline(always)]
pub(super) fn entropy(counts: impl Iterator<Item = u32>) -> i64 {
    // At most `MOST_BYTES` symbols and a token's: nothing overflows, and this loop becomes vectors.
    let (mut total, mut bits) = (0, 0);
    for n in counts {
        total += n;
        bits += n * log2(n);
    }
    i64::from((total * log2(total) - bits) / 8).max(16 * i64::from(total))
}

/// Sixteenths of bits that a byte of `bytes` takes if all of them are literals.
#[inline(never)]
pub(super) fn plain_bits(bytes: &[u8]) -> usize {
    // An odd step: else one byte of each item alone would be counted.
    let step = (bytes.len() / SAMPLE) | 1;
    let mut counts = [0u32; END];
    for &byte in bytes.iter().step_by(step) {
        if let Some(n) = counts.get_mut(usize::from(byte)) {
            *n += 1;
        }
    }
    entropy(counts.into_iter()) as usize / bytes.len().div_ceil(step).max(1)
}

/// The binary logarithm of `n < 1 << 21` in units of 1/128; 0 of 0.
#[inline(always)]
pub(super) fn log2(n: u32) -> u32 {
    // Exponent and mantissa of a float: between powers of two the logarithm lies above a line, by a parabola nearly.
    let line = (((n | 1) as f32).to_bits() - 1f32.to_bits()) >> 16;
    let mantissa = line & 127;
    line + ((mantissa * (128 - mantissa) * 44) >> 14)
}

/// The binary logarithm of `n`, rounded down; 0 of 0.
#[inline(always)]
pub(super) fn floor_log2(n: usize) -> usize {
    (n | 1).ilog2() as usize
}

/// Which distance symbol, and how many extra bits.
#[inline(always)]
pub(super) const fn distance_symbol(less_one: u32) -> (usize, u32) {
    // The first four have none.
    let more = (less_one | 3).ilog2() - 1;
    ((2 * more + (less_one >> more)) as usize, more)
}

/// Which length symbol, and how many extra bits.
#[inline(always)]
pub(super) const fn length_symbol(less_three: u32) -> (usize, u32) {
    if less_three == 255 {
        return (285, 0);
    }
    // The first eight have none.
    let more = (less_three | 7).ilog2() - 2;
    ((257 + 4 * more + (less_three >> more)) as usize, more)
}

/// What a block is made of.
pub(super) struct Contents<'t> {
    /// Where in the input it begins and ends.
    pub(super) start: usize,
    pub(super) end: usize,
    pub(super) histogram: &'t Histogram,
    pub(super) tokens: &'t [Token],
}

impl Contents<'_> {
    /// The tokens: how many literals, then length less three and distance less one of a match.
    #[inline(always)]
    pub(super) fn tokens(&self) -> impl Iterator<Item = (usize, Option<(u32, u32)>)> {
        self.tokens.iter().map(|token| {
            let token = u64::from_le_bytes(*token);
            let (run, packed) = (token as u32, (token >> 32) as u32);
            (run as usize, (packed != NONE).then_some((packed >> 16, packed & 0xffff)))
        })
    }
}
