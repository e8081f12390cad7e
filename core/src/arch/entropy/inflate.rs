//! The middles of deflate blocks, decoded by pointers: far enough from both ends, one comparison of each pointer per
//! turn is all the checking that loads of bits, literals and copies need.
//!
//! ```text
//! input                from ...... from + READ      what the loads of one turn take
//! output   written     to ........ to + WRITE       what one turn may write
//! ```
//! The loop stops at the first code that it may not, or cannot, carry out (near an end, damaged, a match that begins
//! before the output) and leaves all state as it was before that code. The caller's own loop, which checks everything,
//! carries out that code and calls again. Nothing is taken from the tables on trust: a table of any content leads to
//! wrong bytes, or to a stop, at worst.
//!
//! What makes it fast: the entry of the next code is loaded before a match is copied, and each turn refills once for
//! up to three entries of literals or a length and its distance, without a branch.

use crate::arch::copy::{SLACK, load8, vector};
use crate::arch::entropy::bit_instructions;
use crate::arch::entropy::bits::BitReader;
use crate::arch::entropy::deflate_tables::{Entry, Tables};
use crate::arch::level::Level;
use crate::arch::lz::matches::{mark_initialised, match16, short_match, wide_pattern};
use crate::arch::lz::window::{WIDE_COPIES, Window};

/// Bytes of input that a turn may load: three refills, each at most 7 bytes after the one before.
const READ: usize = 3 * 8;

/// Longest match.
const MAX_MATCH: usize = 258;

/// Bytes of output that a turn may write: two entries of literals, and a match.
const WRITE: usize = 2 * 3 + MAX_MATCH + SLACK;

/// Expands codes of a block; returns whether up to its end. If not, `reader` stands before one that is left to the
/// caller.
#[inline]
pub(crate) fn middle(
    window: &mut Window<'_>,
    reader: &mut BitReader<'_>,
    tables: &Tables<'_>,
    level: Level,
) -> bool {
    let (src, (at, bits, held)) = (reader.src(), reader.place());
    let (start, written, _, len) = window.parts();
    if !WIDE_COPIES || src.len() < READ || at > src.len() - READ || len < WRITE || written > len - WRITE {
        return false;
    }
    // SAFETY: `at` and `written` are in their buffers, the second is at most `len`, and so are the two ends, `READ` and
    // `WRITE` bytes before the ends of both.
    let (cursor, last, full) = unsafe {
        let cursor = Cursor { from: src.as_ptr().add(at), to: start.add(written), bits, held };
        (cursor, src.as_ptr().add(src.len() - READ), start.add(len - WRITE))
    };
    let (cursor, ended) = bit_instructions::run(level, Middle { cursor, start, last, full, tables });
    // SAFETY: the loop leaves a place in both buffers and has written all that is before it.
    unsafe { window.set_position(cursor.to as usize - start as usize) };
    reader.resume((cursor.from as usize - src.as_ptr() as usize, cursor.bits, cursor.held & 63));
    ended
}

/// Where the loop is in its input and output.
#[derive(Clone, Copy)]
struct Cursor {
    /// Next byte to load.
    from: *const u8,
    /// Next byte of the output.
    to: *mut u8,
    /// As in [`BitReader`]; of `held` the low 6 bits count.
    bits: u64,
    held: u32,
}

impl Cursor {
    /// Tops up to at least 56 bits and moves `from` by at most 7 bytes.
    ///
    /// # Safety
    /// Eight bytes of input at `from`.
    #[inline(always)]
    unsafe fn refill(&mut self) {
        // SAFETY: by the contract eight bytes of input lie at `from`, of which at most seven are skipped.
        unsafe {
            self.bits |= load8(self.from).wrapping_shl(self.held);
            self.from = self.from.add((!self.held >> 3 & 7) as usize);
        }
        self.held |= 56;
    }

    /// Drops the bits of `entry`.
    #[inline(always)]
    fn skip(&mut self, entry: Entry) {
        self.bits = self.bits.wrapping_shr(entry.0);
        self.held = self.held.wrapping_sub(entry.0);
    }

    /// Appends the literals of `entry`, at most three, and drops its bits.
    ///
    /// # Safety
    /// Four bytes of output from `to` on.
    #[inline(always)]
    unsafe fn literals(&mut self, entry: Entry) {
        let (word, n) = entry.literals();
        // SAFETY: by the contract four bytes of output lie at `to`; `n` is at most three, as two bits count the
        // literals.
        unsafe {
            self.to.cast::<u32>().write_unaligned(word.to_le());
            self.to = self.to.add(n);
        }
        self.skip(entry);
    }

    /// Appends a match.
    ///
    /// # Safety
    /// `1 <= distance`; as many bytes before `to` have been written, or 16 and as many without `BEST`; `len` is at most
    /// [`MAX_MATCH`], and from `to` on there is room for the longest match and what a copy may write behind it.
    #[inline(always)]
    unsafe fn copy_match<const BEST: bool>(&mut self, distance: usize, len: usize) {
        // SAFETY: the conditions of the three are those of this function; with `BEST` the CPU has the byte shuffle, and the
        // output has been marked as initialised.
        unsafe {
            if BEST && len <= 16 {
                match16(self.to.sub(distance), self.to, distance);
            } else if distance == 1 {
                // One byte is found in an earlier store; 16 from there on would wait for the cache.
                let word = u64::from_ne_bytes([self.to.sub(1).read(); 8]);
                wide_pattern(self.to, vector(word, word), 16, len);
            } else {
                short_match::<BEST>(self.to, distance, len);
            }
            self.to = self.to.add(len);
        }
    }
}

/// The loop over the codes of a block.
struct Middle<'t, 'w> {
    cursor: Cursor,
    /// Start of the output.
    start: *mut u8,
    /// `READ` bytes before the end of the input.
    last: *const u8,
    /// `WRITE` bytes before the end of the output.
    full: *mut u8,
    tables: &'t Tables<'w>,
}

impl bit_instructions::Kernel for Middle<'_, '_> {
    type Output = (Cursor, bool);

    #[inline(always)]
    fn run<const BEST: bool>(self) -> (Cursor, bool) {
        let Middle { mut cursor, start, last, full, tables: Tables { lit, dist, .. } } = self;
        if BEST {
            // SAFETY: the output from `to` to its end.
            unsafe { mark_initialised(cursor.to, full as usize - cursor.to as usize + WRITE) };
        }
        // SAFETY: each turn begins at most at `last` and `full`, with `READ` and `WRITE` bytes there, or ends the loop.
        unsafe {
            cursor.refill();
            let mut entry = lit.first(cursor.bits);
            // Every turn begins with 56 bits, the next of which have led to `entry`.
            while cursor.from <= last && cursor.to <= full {
                if entry.is_literal() {
                    cursor.literals(entry);
                    entry = lit.first(cursor.bits);
                    if entry.is_literal() {
                        cursor.literals(entry);
                        entry = lit.first(cursor.bits);
                        if entry.is_literal() {
                            cursor.literals(entry);
                            entry = lit.first(cursor.bits);
                            cursor.refill();
                            continue;
                        }
                    }
                    cursor.refill();
                }
                if !entry.is_base() {
                    if entry.is_link() {
                        entry = lit.second(entry, cursor.bits);
                        if entry.is_literal() {
                            cursor.literals(entry);
                            cursor.refill();
                            entry = lit.first(cursor.bits);
                            continue;
                        }
                    }
                    if entry.is_end() {
                        cursor.skip(entry);
                        return (cursor, true);
                    }
                    if !entry.is_base() {
                        break;
                    }
                }
                // A length takes at most 20 bits and a distance 28.
                let before = cursor;
                let len = entry.value(cursor.bits);
                cursor.skip(entry);
                let mut far = dist.first(cursor.bits);
                if !far.is_base() {
                    if far.is_link() {
                        far = dist.second(far, cursor.bits);
                    }
                    if !far.is_base() {
                        cursor = before;
                        break;
                    }
                }
                let distance = far.value(cursor.bits);
                cursor.skip(far);
                let written = cursor.to as usize - start as usize;
                if distance.wrapping_sub(1) >= written || len > MAX_MATCH || (!BEST && written < 16) {
                    cursor = before;
                    break;
                }
                cursor.refill();
                entry = lit.first(cursor.bits);
                cursor.copy_match::<BEST>(distance, len);
            }
            (cursor, false)
        }
    }
}
