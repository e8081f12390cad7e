//! The inner loops over four zstd Huffman streams at once.
//!
//! ```text
//! for each round:  for each of 4 streams: refill      at -= bits used / 8; bits = 8 bytes at `at`
//!                  5 times, for each of 4 streams:     entry = table[top 11 bits]; store; bits <<= entry's bits
//! ```
//! How many rounds neither the input nor the output can run out is worked out before each run of rounds;
//! inside it nothing is checked.

use super::bmi;

/// Index bits of the tables: the longest code.
pub(crate) const INDEX_BITS: u32 = 11;
/// Entries of a table.
pub(crate) const ENTRIES: usize = 1 << INDEX_BITS;
/// Look-ups between two refills: 5 of at most 11 bits fit the 56 there are.
const ROUND: usize = 5;

/// One symbol per entry: `[bits of its code, symbol]`.
pub(crate) type Table = [[u8; 2]; ENTRIES];
/// One or two symbols per entry: `[symbol, second or 0, bits of their codes, 128 if there are two]`.
pub(crate) type Pairs = [[u8; 4]; ENTRIES];

/// One of the streams: `src[start..]` up to the 8 bytes at `at`, of which `bits` holds those not read yet,
/// highest first, above a 1 that tells how many have been: as many as there are zeros below it. At most
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

    /// Rounds for which this stream has bytes, if each writes `wide` bytes of `out` at most: a refill moves
    /// `at` down by up to 8 bytes, whatever a table holds.
    #[inline(always)]
    fn rounds(&self, src: &[u8], out: &[u8], wide: usize) -> usize {
        // Also what makes the loops sound, whatever is in `self`: `start <= at <= src.len() - 8`.
        if src.len() < 8 || self.at > src.len() - 8 || self.at < self.start || self.done > out.len() {
            return 0;
        }
        ((self.at - self.start) / 8).min((out.len() - self.done) / wide)
    }

    /// # Safety
    /// `src` must hold 8 bytes at the new `at`, which is up to 8 below the old.
    #[inline(always)]
    unsafe fn refill(&mut self, src: *const u8) {
        let used = self.bits.trailing_zeros();
        self.at = self.at.wrapping_sub(used as usize >> 3);
        // SAFETY: see above; any byte address will do for an unaligned read.
        let word = unsafe { src.add(self.at).cast::<u64>().read_unaligned() };
        self.bits = (u64::from_le(word) | 1) << (used & 7);
    }

    #[inline(always)]
    fn index(&self) -> usize {
        // Below ENTRIES, as 11 bits remain.
        (self.bits >> (64 - INDEX_BITS)) as usize
    }

    /// # Safety
    /// One byte must be writable at `out`.
    #[inline(always)]
    unsafe fn symbol(&mut self, table: &Table, out: *mut u8) {
        // SAFETY: the index is below the length of the table; see above for `out`.
        unsafe {
            let [bits, symbol] = *table.get_unchecked(self.index());
            self.bits = self.bits.wrapping_shl(u32::from(bits));
            *out = symbol;
        }
    }

    /// # Safety
    /// Two bytes must be writable at `out`.
    #[inline(always)]
    unsafe fn pair(&mut self, pairs: &Pairs, out: &mut *mut u8) {
        // SAFETY: the index is below the length of the table; see above for `out`.
        unsafe {
            let entry = u32::from_le_bytes(*pairs.get_unchecked(self.index()));
            self.bits = self.bits.wrapping_shl(entry >> 16);
            out.cast::<u16>().write_unaligned((entry as u16).to_le());
            // One or two, whatever the table says.
            *out = out.add(1 + (entry >> 31) as usize);
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
    /// Where the symbols of each stream go.
    pub out: [&'o mut [u8]; 4],
}

impl Four<'_, '_> {
    /// Decodes as much as possible; returns the streams as they stand then.
    pub fn decode(self) -> [Stream; 4] {
        bmi::run(self)
    }
}

impl bmi::Kernel for Four<'_, '_> {
    type Output = [Stream; 4];

    #[inline(always)]
    fn run<const BEST: bool>(self) -> [Stream; 4] {
        let Four { src, streams: [mut a, mut b, mut c, mut d], table, pairs, out: [oa, ob, oc, od] } = self;
        let wide = if pairs.is_some() { 2 * ROUND } else { ROUND };
        loop {
            let rounds = a.rounds(src, oa, wide).min(b.rounds(src, ob, wide));
            let rounds = rounds.min(c.rounds(src, oc, wide)).min(d.rounds(src, od, wide));
            if rounds == 0 {
                return [a, b, c, d];
            }
            let from = src.as_ptr();
            // SAFETY: `done <= len` for each output, as `rounds` has checked.
            let [mut pa, mut pb, mut pc, mut pd] = unsafe {
                [
                    oa.as_mut_ptr().add(a.done),
                    ob.as_mut_ptr().add(b.done),
                    oc.as_mut_ptr().add(c.done),
                    od.as_mut_ptr().add(d.done),
                ]
            };
            let starts = [pa, pb, pc, pd];
            for _ in 0..rounds {
                // SAFETY: `rounds` refills of at most 8 bytes leave `start <= at`, and `at + 8 <= src.len()`
                // held at first. Each round writes at most `wide` bytes to each output, and there was room
                // for `rounds * wide`.
                unsafe {
                    a.refill(from);
                    b.refill(from);
                    c.refill(from);
                    d.refill(from);
                    if let Some(pairs) = pairs {
                        for _ in 0..ROUND {
                            a.pair(pairs, &mut pa);
                            b.pair(pairs, &mut pb);
                            c.pair(pairs, &mut pc);
                            d.pair(pairs, &mut pd);
                        }
                    } else {
                        for i in 0..ROUND {
                            a.symbol(table, pa.add(i));
                            b.symbol(table, pb.add(i));
                            c.symbol(table, pc.add(i));
                            d.symbol(table, pd.add(i));
                        }
                        pa = pa.add(ROUND);
                        pb = pb.add(ROUND);
                        pc = pc.add(ROUND);
                        pd = pd.add(ROUND);
                    }
                }
            }
            a.done += pa as usize - starts[0] as usize;
            b.done += pb as usize - starts[1] as usize;
            c.done += pc as usize - starts[2] as usize;
            d.done += pd as usize - starts[3] as usize;
        }
    }
}
