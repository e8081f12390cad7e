//! LZ4HC: the LZ4 bitstream from an encoder that searches longer.
//!
//! ```text
//! head[hash of four bytes]  the latest position with this hash, modulo 65536
//! prev[p mod 65536]         the position before p with the same hash, modulo 65536
//! ```
//! Every position is entered. The chain from a position is followed for a number of steps that doubles with
//! the level; a match is put off by one byte as long as the next position has a longer one.

use crate::arch::copy::Window;
use crate::arch::out::Out;
use crate::arch::words::Words;
use crate::codec::lz4::emit::{last_literals, sequence};
use crate::codec::lz4::{LAST_LITERALS, LAST_MATCH, REACH};
use crate::codec::matcher::{Table, hash4, nearest};

const BITS: u32 = 15;
/// A match this long is taken as it is.
const ENOUGH: usize = 4096;

/// Bytes of scratch that [`encode`] needs.
pub const fn work_len(_level: u8, src_len: usize) -> usize {
    let window = if src_len < 1 << 16 { src_len } else { 1 << 16 };
    Table::<BITS>::BYTES + 2 * window
}

/// Compresses `src` into one LZ4 block at the start of `dst` and returns its length; `level` is 1 to 9.
///
/// Matches are sought in `src` alone; what needs `dict` is left to [`lz4::encode`](crate::codec::lz4::encode).
/// `None` where the block does not fit `dst`, or `work` is shorter than [`work_len`] or `src` longer than
/// 2 GiB.
pub fn encode(src: &[u8], dst: &mut [u8], level: u8, dict: &[u8], work: &mut [u8]) -> Option<usize> {
    let _ = dict;
    if src.len() > i32::MAX as usize {
        return None;
    }
    let (head, work) = Table::<BITS>::new(work)?;
    let prev = work.get_mut(..2 * src.len().min(1 << 16))?.as_chunks_mut().0;
    let mut out = Window::new(Out::from(dst), &[]);
    let steps = 4 << level.clamp(2, 8);
    let anchor = if src.len() <= LAST_MATCH {
        0
    } else if src.len() <= 1 << 16 {
        let chains = Chains::<false> { words: Words::new(src)?, head, prev, entered: 0, steps };
        matches(src, &mut out, chains)?
    } else {
        let chains = Chains::<true> { words: Words::new(src)?, head, prev, entered: 0, steps };
        matches(src, &mut out, chains)?
    };
    last_literals(&mut out, src, anchor).ok()?;
    Some(out.position())
}

/// A match: where from, and how long. No match is 0 long.
#[derive(Clone, Copy)]
struct Match {
    from: usize,
    len: usize,
}

struct Chains<'a, const WRAP: bool> {
    words: Words<'a>,
    head: Table<'a, BITS>,
    prev: &'a mut [[u8; 2]],
    /// Positions below this are in the tables.
    entered: usize,
    steps: u32,
}

impl<const WRAP: bool> Chains<'_, WRAP> {
    /// Enters every position below `end`.
    #[inline(always)]
    fn enter(&mut self, end: usize) {
        while self.entered < end {
            let p = self.entered;
            let before = self.head.swap(hash4(self.words.load64(p), BITS), p);
            if let Some(cell) = self.prev.get_mut(p & 0xffff) {
                *cell = before.to_le_bytes();
            }
            self.entered += 1;
        }
    }

    /// The longest match at `p` that is longer than `best`, ending at or before `end`.
    fn longest(&mut self, p: usize, mut best: usize, end: usize) -> Match {
        self.enter(p + 1);
        let mut found = Match { from: 0, len: 0 };
        let word = self.words.load32(p);
        best = best.max(3);
        let mut q = p;
        for _ in 0..self.steps {
            let Some(low) = self.prev.get(q & 0xffff) else { break };
            let next = nearest::<WRAP>(u16::from_le_bytes(*low), q);
            if next >= q || p - next > REACH {
                break;
            }
            q = next;
            // What is longer than the best also agrees where the best ends.
            if self.words.load32(q) != word
                || self.words.load32(q + best - 3) != self.words.load32(p + best - 3)
            {
                continue;
            }
            let len = 4 + self.words.common(q + 4, p + 4, end);
            if len > best {
                best = len;
                found = Match { from: q, len };
                if len >= ENOUGH {
                    break;
                }
            }
        }
        found
    }
}

/// Writes every sequence that has a match; returns where the last literals begin.
fn matches<const WRAP: bool>(
    src: &[u8],
    out: &mut Window<'_>,
    mut chains: Chains<'_, WRAP>,
) -> Option<usize> {
    let last_start = src.len() - LAST_MATCH;
    let match_end = src.len() - LAST_LITERALS;
    let (mut anchor, mut p) = (0, 0);
    while p <= last_start {
        let mut taken = chains.longest(p, 3, match_end);
        if taken.len == 0 {
            p += 1;
            continue;
        }
        while taken.len < ENOUGH && p < last_start {
            let later = chains.longest(p + 1, taken.len, match_end);
            if later.len == 0 {
                break;
            }
            (p, taken) = (p + 1, later);
        }
        let back = chains.words.common_before(taken.from, p, p - anchor);
        sequence(out, src, anchor, p - back, p - taken.from, taken.len + back).ok()?;
        p += taken.len;
        anchor = p;
        chains.enter(p.min(last_start));
    }
    Some(anchor)
}
