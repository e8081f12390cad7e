//! The middles of deflate blocks, decoded by pointers: far enough from both ends, one comparison of each pointer per
//! turn is all the checking that loads of bits, literals and copies need.
//!
//! ```text
//! input                from ...... from + READ      what the loads of one turn take
//! output   written     to ........ to + WRITE       what one turn may write
//! ```
//! The loop stops at the first code that it may not, or cannot, carry out (near an end, damaged, a match that begins
//! before the output) and leaves all state as it was before that code. The caller's own loop, which checks everything,
//! carries out that one and comes back. Nothing is taken from the tables on trust: a table of any content leads to
//! wrong bytes, or to a stop, at worst.
//!
//! What makes it fast: the entry of the next code is loaded before a match is copied, and each turn refills once for
//! up to three entries of literals or a length and its distance, without a branch.

use super::bmi;
use super::copy::{WIDE, Window};
use super::level::Level;
use super::wide::{SLACK, load8, match16, settle, short_match, vector, wide_pattern};
use crate::codec::zlib::bits::BitReader;
use crate::codec::zlib::huffman::{Entry, Tables};

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
    if !WIDE || src.len() < READ || at > src.len() - READ || len < WRITE || written > len - WRITE {
        return false;
    }
    // SAFETY: `at` and `written` are in their buffers, the second is at most `len`, and so are the two ends, `READ` and
    // `WRITE` bytes before the ends of both.
    let (place, last, full) = unsafe {
        let place = Place { from: src.as_ptr().add(at), to: start.add(written), bits, held };
        (place, src.as_ptr().add(src.len() - READ), start.add(len - WRITE))
    };
    let (place, ended) = bmi::run(level, Middle { place, start, last, full, tables });
    // SAFETY: the loop leaves a place in both buffers and has written all that is before it.
    unsafe { window.set_position(place.to as usize - start as usize) };
    reader.resume((place.from as usize - src.as_ptr() as usize, place.bits, place.held & 63));
    ended
}

/// Where the loop is in its input and output.
#[derive(Clone, Copy)]
struct Place {
    /// Next byte to load.
    from: *const u8,
    /// Next byte of the output.
    to: *mut u8,
    /// As in [`BitReader`]; of `held` the low 6 bits count.
    bits: u64,
    held: u32,
}

impl Place {
    /// Tops up to at least 56 bits and moves `from` by at most 7 bytes.
    ///
    /// # Safety
    /// Eight bytes of input at `from`.
    #[inline(always)]
    unsafe fn refill(&mut self) {
        // SAFETY: see above.
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
        // SAFETY: see above; two bits count the literals.
        unsafe {
            self.to.cast::<u32>().write_unaligned(word.to_le());
            self.to = self.to.add(n);
        }
        self.skip(entry);
    }
}

/// The loop over the codes of a block.
struct Middle<'t, 'w> {
    place: Place,
    /// Start of the output.
    start: *mut u8,
    /// `READ` bytes before the end of the input.
    last: *const u8,
    /// `WRITE` bytes before the end of the output.
    full: *mut u8,
    tables: &'t Tables<'w>,
}

impl bmi::Kernel for Middle<'_, '_> {
    type Output = (Place, bool);

    #[inline(always)]
    fn run<const BEST: bool>(self) -> (Place, bool) {
        let Middle { mut place, start, last, full, tables: Tables { lit, dist, .. } } = self;
        if BEST {
            // SAFETY: the output from `to` to its end.
            unsafe { settle(place.to, full as usize - place.to as usize + WRITE) };
        }
        // SAFETY: each turn begins at most at `last` and `full`, with `READ` and `WRITE` bytes there, or ends the loop.
        unsafe {
            place.refill();
            let mut entry = lit.first(place.bits);
            // Every turn begins with 56 bits, the next of which have led to `entry`.
            while place.from <= last && place.to <= full {
                if entry.is_literal() {
                    place.literals(entry);
                    entry = lit.first(place.bits);
                    if entry.is_literal() {
                        place.literals(entry);
                        entry = lit.first(place.bits);
                        if entry.is_literal() {
                            place.literals(entry);
                            entry = lit.first(place.bits);
                            place.refill();
                            continue;
                        }
                    }
                    place.refill();
                }
                if !entry.is_base() {
                    if entry.is_link() {
                        entry = lit.second(entry, place.bits);
                        if entry.is_literal() {
                            place.literals(entry);
                            place.refill();
                            entry = lit.first(place.bits);
                            continue;
                        }
                    }
                    if entry.is_end() {
                        place.skip(entry);
                        return (place, true);
                    }
                    if !entry.is_base() {
                        break;
                    }
                }
                // A length takes at most 20 bits and a distance 28.
                let before = place;
                let len = entry.value(place.bits);
                place.skip(entry);
                let mut far = dist.first(place.bits);
                if !far.is_base() {
                    if far.is_link() {
                        far = dist.second(far, place.bits);
                    }
                    if !far.is_base() {
                        place = before;
                        break;
                    }
                }
                let distance = far.value(place.bits);
                place.skip(far);
                let written = place.to as usize - start as usize;
                if distance.wrapping_sub(1) >= written || len > MAX_MATCH || (!BEST && written < 16) {
                    place = before;
                    break;
                }
                place.refill();
                entry = lit.first(place.bits);
                if BEST && len <= 16 {
                    match16(place.to.sub(distance), place.to, distance);
                } else if distance == 1 {
                    // One byte is found in an earlier store; 16 from there on would wait for the cache.
                    let word = u64::from_ne_bytes([place.to.sub(1).read(); 8]);
                    wide_pattern(place.to, vector(word, word), 16, len);
                } else {
                    short_match::<BEST>(place.to, distance, len);
                }
                place.to = place.to.add(len);
            }
            (place, false)
        }
    }
}
