//! Running XOR of words and running sum of bytes, a register at a time.
//!
//! ```text
//! x = 16 bytes               x = x op (x << W bytes), again with 2W, 4W, 8W: a running result inside
//! out = x op carry           carry = carry op last word of x, in every word
//! ```
//! The carry waits for one operation per register only. (Words of 8 bytes run along as fast in a plain loop.) A register
//! of several lanes does each by itself and then hands the last words of the lower lanes to those above.

use super::registers::{Lanes, Work, combine, split};
use super::token;
use crate::arch::level::Level;
use crate::arch::out::Out;

/// What runs along: `OP` is `^` of words of `W` bytes, or `+` of bytes.
///
/// Works on whole registers from the start of `src` and returns how many bytes those were, and the last
/// word written, for the caller to go on from. Without registers that is nothing.
#[inline]
pub(crate) fn scan<const W: usize, const OP: char>(
    level: Level,
    src: &[u8],
    out: &mut Out<'_>,
) -> (usize, [u8; W]) {
    const { assert!(matches!((W, OP), (1 | 2 | 4, '^') | (1, '+'))) };
    token::run(level, Scan::<'_, W, OP>(src, out.reborrow()))
}

struct Scan<'a, const W: usize, const OP: char>(&'a [u8], Out<'a>);

impl<const W: usize, const OP: char> Work for Scan<'_, W, OP> {
    type Output = (usize, [u8; W]);

    #[inline(always)]
    fn run<const N: usize, L: Lanes<N>>(self, with: L) -> Self::Output {
        let Scan(src, out) = self;
        let count = src.len().min(out.len()) / N;
        let mut carry = with.load([0; N]);
        for (bytes, place) in split(src, count * N).0.as_chunks().0.iter().zip(out.places::<N>(count).0) {
            let mut x = with.load(*bytes);
            if W <= 1 {
                x = combine::<OP, N, L>(with, x, with.up::<1>(x));
            }
            if W <= 2 {
                x = combine::<OP, N, L>(with, x, with.up::<2>(x));
            }
            x = combine::<OP, N, L>(with, x, with.up::<4>(x));
            x = combine::<OP, N, L>(with, x, with.up::<8>(x));
            let (x, last) = with.join::<W, OP>(x);
            place.write(with.store(combine::<OP, N, L>(with, x, carry)));
            carry = combine::<OP, N, L>(with, carry, last);
        }
        let mut word = [0; W];
        word.iter_mut().zip(with.store(carry)).for_each(|(to, from)| *to = from);
        (count * N, word)
    }

    #[inline(always)]
    fn plain(self) -> Self::Output {
        (0, [0; W])
    }
}
