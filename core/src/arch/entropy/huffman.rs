//! The inner loops over four zstd Huffman streams at once.
//!
//! ```text
//! for each round:  for each of 4 streams: refill      at -= bits used / 8; bits = 8 bytes at `at`
//!                  5 times, for each of 4 streams:     entry = table[top 11 bits]; store; bits <<= entry's bits
//! ```
//! How many rounds neither the input nor the output can run out is worked out before each run of rounds;
//! inside it nothing is checked.

use crate::arch::entropy::bit_instructions;
use crate::arch::level::Level;

/// Index bits of the tables: the longest code.
pub(crate) const INDEX_BITS: u32 = 11;
/// Entries of a table.
pub(crate) const ENTRIES: usize = 1 << INDEX_BITS;
/// Look-ups between two refills: 5 of at most 11 bits fit the 56 there are.
const ROUND: usize = 5;

/// One symbol per entry: `[bits of its code, symbol]`.
pub(crate) type Table = [[u8; 2]; ENTRIES];
/// One or two symbols per entry: `[bits of their codes, symbol, second or 0, how many there are << 6]`.
pub(crate) type Pairs = [[u8; 4]; ENTRIES];

/// One of the streams: `src[start..]` up to the 8 bytes at `at`, of which `bits` holds those not read yet,
/// highest first, above a 1: there is a zero below it for each bit that has been taken. At most
/// 7 + 55 are before a refill, and so never the lowest bit, which gives way to the 1.
#[derive(Clone, Copy)]
pub(crate) struct Stream {
    start: usize,
    at: usize,
    bits: u64,
    /// Symbols decoded so far.
    pub done: usize,
}

impl Stream {
    /// The stream `src[start..end]`; `None` unless it has 8 bytes or more, and its end mark.
    pub fn new(src: &[u8], start: usize, end: usize) -> Option<Stream> {
        let word = u64::from_le_bytes(*src.get(start..end)?.last_chunk::<8>()?);
        let unused = word.leading_zeros();
        if unused >= 8 {
            return None;
        }
        Some(Stream { start, at: end.wrapping_sub(8), bits: (word | 1) << unused << 1, done: 0 })
    }

    /// The part of `src` not read to its end, and how many bits of its last 8 bytes have been.
    pub fn rest<'a>(&self, src: &'a [u8]) -> (&'a [u8], u32) {
        let end = self.at.wrapping_add(8);
        (src.get(self.start..end).unwrap_or(&[]), self.bits.trailing_zeros())
    }

    /// Rounds for which this stream has bytes: a refill moves `at` down by up to 8 bytes, whatever a table holds.
    #[inline(always)]
    fn rounds(&self, src: &[u8]) -> usize {
        // Also what makes the loops sound, whatever is in `self`: `start <= at <= src.len() - 8`.
        if src.len() < 8 || self.at > src.len() - 8 || self.at < self.start {
            return 0;
        }
        (self.at - self.start) / 8
    }

    /// # Safety
    /// `src` must hold 8 bytes at the new `at`, which is up to 8 below the old.
    #[inline(always)]
    unsafe fn refill(&mut self, src: *const u8) {
        let used = self.bits.trailing_zeros();
        self.at = self.at.wrapping_sub(used as usize >> 3);
        // SAFETY: by the contract eight bytes lie at the new `at`; the read needs no alignment.
        let word = unsafe { src.add(self.at).cast::<u64>().read_unaligned() };
        self.bits = (u64::from_le(word) | 1) << (used & 7);
    }

    #[inline(always)]
    fn index(&self) -> usize {
        // Below ENTRIES, as 11 bits remain.
        (self.bits >> (64 - INDEX_BITS)) as usize
    }

    #[inline(always)]
    fn symbol(&mut self, table: &Table) -> u8 {
        // SAFETY: the index is below the length of the table.
        let entry = u16::from_le_bytes(unsafe { *table.get_unchecked(self.index()) });
        // A shift looks at no more than 6 bits of its count, which are those of the code's length.
        self.bits = self.bits.wrapping_shl(entry.into());
        (entry >> 8) as u8
    }

    /// # Safety
    /// Two bytes must be writable at `out`, which moves on by 3 at most.
    #[inline(always)]
    unsafe fn pair(&mut self, pairs: &Pairs, out: &mut *mut u8) {
        // SAFETY: the index is below the length of the table; see above for `out`.
        unsafe {
            let entry = u32::from_le_bytes(*pairs.get_unchecked(self.index()));
            self.bits = self.bits.wrapping_shl(entry);
            out.cast::<u16>().write_unaligned(((entry >> 8) as u16).to_le());
            *out = out.add((entry >> 30) as usize);
        }
    }
}

/// Runs over four streams while none is near its end; the caller decodes what is left of each.
pub(crate) struct Four<'a, 'o> {
    /// All four streams.
    pub src: &'a [u8],
    pub streams: [Stream; 4],
    pub table: &'a Table,
    /// Used instead of `table` where there is one.
    pub pairs: Option<&'a Pairs>,
    /// Where the symbols go: a part of [`quarter`](Four::quarter) bytes for each stream, fewer for the last.
    pub out: &'o mut [u8],
}

impl Four<'_, '_> {
    /// Bytes of each part of `len` bytes but the last, or `None` if that would have fewer than none.
    pub fn quarter(len: usize) -> Option<usize> {
        let quarter = len.div_ceil(4);
        (3 * quarter <= len).then_some(quarter)
    }

    /// Decodes as much as possible; returns the streams as they stand then.
    pub fn decode(self, level: Level) -> [Stream; 4] {
        bit_instructions::run(level, self)
    }
}

impl bit_instructions::Kernel for Four<'_, '_> {
    type Output = [Stream; 4];

    #[inline(always)]
    fn run<const BEST: bool>(self) -> [Stream; 4] {
        let Four { src, mut streams, table, pairs, out } = self;
        if let Some(quarter) = Self::quarter(out.len()) {
            match pairs {
                Some(pairs) => by_pairs(src, &mut streams, pairs, out, quarter),
                None => by_symbols(src, &mut streams, table, out, quarter),
            }
        }
        streams
    }
}

/// Rounds for which every stream has bytes.
#[inline(always)]
fn rounds_of_all(src: &[u8], [a, b, c, d]: [&Stream; 4]) -> usize {
    a.rounds(src).min(b.rounds(src)).min(c.rounds(src)).min(d.rounds(src))
}

/// Decodes a symbol per look-up: all four streams are equally far, so that one position serves them all.
#[inline(always)]
fn by_symbols(src: &[u8], streams: &mut [Stream; 4], table: &Table, out: &mut [u8], quarter: usize) {
    let [mut a, mut b, mut c, mut d] = *streams;
    let from = src.as_ptr();
    // The last part is the shortest.
    let shortest = out.len() - 3 * quarter;
    let mut done = 0;
    loop {
        let rounds = rounds_of_all(src, [&a, &b, &c, &d]);
        let rounds = rounds.min((shortest - done) / ROUND);
        if rounds == 0 {
            break;
        }
        // SAFETY: `done <= shortest <= quarter`.
        let mut to = unsafe { out.as_mut_ptr().add(done) };
        for _ in 0..rounds {
            // SAFETY: `rounds` refills of at most 8 bytes leave `start <= at`, and `at + 8 <= src.len()` held at first.
            // Each round writes `ROUND` bytes to each part, and all had room for `rounds * ROUND`.
            unsafe {
                a.refill(from);
                b.refill(from);
                c.refill(from);
                d.refill(from);
                for _ in 0..ROUND {
                    *to = a.symbol(table);
                    *to.add(quarter) = b.symbol(table);
                    *to.add(2 * quarter) = c.symbol(table);
                    *to.add(3 * quarter) = d.symbol(table);
                    to = to.add(1);
                }
            }
        }
        done += rounds * ROUND;
    }
    *streams = [a, b, c, d];
    streams.iter_mut().for_each(|stream| stream.done = done);
}

/// Decodes one or two symbols per look-up.
#[inline(always)]
fn by_pairs(src: &[u8], streams: &mut [Stream; 4], pairs: &Pairs, out: &mut [u8], quarter: usize) {
    // A table may say 3 at the most.
    const WIDE: usize = 3 * ROUND;
    let [mut a, mut b, mut c, mut d] = *streams;
    let from = src.as_ptr();
    let shortest = out.len() - 3 * quarter;
    loop {
        let rounds = rounds_of_all(src, [&a, &b, &c, &d]);
        let furthest = a.done.max(b.done).max(c.done).max(d.done);
        // Rounds of any stream may write as much; one that is further than its part is long has no room.
        let rounds = rounds.min(shortest.saturating_sub(furthest) / WIDE);
        if rounds == 0 {
            break;
        }
        let start = out.as_mut_ptr();
        // SAFETY: `done <= furthest < shortest <= quarter` for each part.
        let [mut pa, mut pb, mut pc, mut pd] = unsafe {
            [
                start.add(a.done),
                start.add(quarter + b.done),
                start.add(2 * quarter + c.done),
                start.add(3 * quarter + d.done),
            ]
        };
        let starts = [pa, pb, pc, pd];
        for _ in 0..rounds {
            // SAFETY: as in `by_symbols`; each round writes at most `WIDE` bytes to each part.
            unsafe {
                a.refill(from);
                b.refill(from);
                c.refill(from);
                d.refill(from);
                for _ in 0..ROUND {
                    a.pair(pairs, &mut pa);
                    b.pair(pairs, &mut pb);
                    c.pair(pairs, &mut pc);
                    d.pair(pairs, &mut pd);
                }
            }
        }
        a.done += pa as usize - starts[0] as usize;
        b.done += pb as usize - starts[1] as usize;
        c.done += pc as usize - starts[2] as usize;
        d.done += pd as usize - starts[3] as usize;
    }
    *streams = [a, b, c, d];
}
