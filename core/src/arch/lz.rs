//! The middles of LZ4 blocks and BloscLZ streams, decoded by pointers: far enough from both ends, one
//! comparison of each pointer per instruction is all the checking that copies need.
//!
//! ```text
//! input                at ........ at + READ        the loop goes on while both fit;
//! output   written     pos ....... pos + WRITE      what does not, or is damaged, is left to the caller
//! ```
//! Each loop stops at the first instruction that it may not, or cannot, carry out (near an end, damaged,
//! reaching into a dictionary) and leaves all state as it was before that instruction. The caller's own loop,
//! which checks everything, carries out that one and comes back.
//!
//! What makes these loops fast on filtered data:
//! - The next instruction's place follows from a *predicted branch* on the kind of this one, not from arithmetic
//!   on bytes just loaded: matches without literals, most of a shuffled stream, go through code of their own
//!   whose length is a constant.
//! - A short match of a distance of at least 8 is made of 8-byte copies: each load is then most likely found whole
//!   in one earlier store and need not wait for the cache. Distances below 8 repeat a word made without a loop.

use super::bmi;
use super::copy::{WIDE, Window};
use super::wide::{
    SLACK, copy_long, copy8, copy16, copy32, load8, repeated_bytes, repeated_word, settle, store16,
    wide_match,
};

/// Bytes of input that an instruction and its copies may read, length bytes and long literals aside.
const READ: usize = 40;
/// Bytes of output that an instruction with short lengths may write.
const WRITE: usize = 64;

/// Where a loop is in its input and output.
#[derive(Clone, Copy)]
struct Place {
    /// Next byte of the input.
    from: *const u8,
    /// Next byte of the output.
    to: *mut u8,
}

/// What does not change in a loop.
struct Bounds {
    /// End of the input.
    end: *const u8,
    /// Start of the output.
    start: *mut u8,
    /// End of the output.
    limit: *mut u8,
}

/// One kind of stream: how an instruction is carried out.
trait Instruction {
    /// Carries out the instruction at `place.from`, or answers `None`.
    ///
    /// # Safety
    /// `READ` bytes of input from `place.from` on, `WRITE` bytes of output from `place.to` on, and `bounds` of the
    /// same buffers, of which everything before `place.to` has been written.
    unsafe fn step<const BEST: bool>(place: Place, bounds: &Bounds) -> Option<Place>;
}

/// A loop over the instructions of a stream.
struct Middle<'w, 'o, 's, I> {
    window: &'w mut Window<'o>,
    src: &'s [u8],
    at: usize,
    stop: usize,
    kind: core::marker::PhantomData<I>,
}

/// LZ4 sequences from `src[at]` on until more than `stop` bytes are written; returns the offset of the first one
/// that is left to the caller.
#[inline]
pub fn lz4(window: &mut Window<'_>, src: &[u8], at: usize, stop: usize) -> usize {
    middle::<Lz4>(window, src, at, stop)
}

/// BloscLZ instructions from `src[at]` on until more than `stop` bytes are written; returns the offset of the
/// first one that is left to the caller.
#[inline]
pub fn blosclz(window: &mut Window<'_>, src: &[u8], at: usize, stop: usize) -> usize {
    middle::<BloscLz>(window, src, at, stop)
}

#[inline(always)]
fn middle<I: Instruction>(window: &mut Window<'_>, src: &[u8], at: usize, stop: usize) -> usize {
    if !WIDE || src.len().saturating_sub(at) < READ || window.remaining() < WRITE {
        return at;
    }
    bmi::run(Middle::<I> { window, src, at, stop, kind: core::marker::PhantomData })
}

impl<I: Instruction> bmi::Kernel for Middle<'_, '_, '_, I> {
    type Output = usize;

    #[inline(always)]
    fn run<const BEST: bool>(self) -> usize {
        let Middle { window, src, at, stop, .. } = self;
        let (start, written, len) = window.parts();
        let Some(rest) = src.get(at..) else { return at };
        // SAFETY: `at <= src.len()` and `written <= len`, the lengths of the two buffers, so all pointers lie in
        // them or at their ends; distances between pointers into one buffer are their differences.
        unsafe {
            let bounds = Bounds { end: rest.as_ptr().add(rest.len()), start, limit: start.add(len) };
            let mut place = Place { from: rest.as_ptr(), to: start.add(written) };
            if BEST {
                settle(place.to, len - written);
            }
            // The last place where an instruction may write, by room or by what is wanted.
            let last = (start as usize).saturating_add(stop.min(len.saturating_sub(WRITE)));
            while distance(place.from, bounds.end) >= READ && place.to as usize <= last {
                let Some(next) = I::step::<BEST>(place, &bounds) else { break };
                place = next;
            }
            window.set_position(distance(start, place.to));
            at + distance(rest.as_ptr(), place.from)
        }
    }
}

/// `b - a` for pointers into one buffer, `a` not after `b`.
#[inline(always)]
fn distance(a: *const u8, b: *const u8) -> usize {
    (b as usize).wrapping_sub(a as usize)
}

/// A match of at most 18 bytes, or of at most 8 with `SHORT`. `false`: nothing is done.
///
/// # Safety
/// `WRITE / 2` bytes of output from `to` on; everything from `start` to `to` has been written.
#[inline(always)]
unsafe fn near_match<const SHORT: bool, const BEST: bool>(start: *mut u8, to: *mut u8, back: usize) -> bool {
    let written = distance(start, to);
    // The comparison is for 0 and for what lies before `start`.
    if back.wrapping_sub(1) >= written {
        return false;
    }
    // SAFETY: `1 <= back <= written`; each load ends before the last byte stored, each store before `to + 32`.
    unsafe {
        if back >= 8 {
            let from = to.sub(back);
            copy8(from, to);
            if !SHORT {
                copy8(from.add(8), to.add(8));
                core::ptr::copy_nonoverlapping(from.add(16), to.add(16), 2);
            }
        } else {
            let (pattern, step) = if BEST {
                repeated_bytes(to.sub(back), back)
            } else if written >= 8 {
                repeated_word(load8(to.sub(8)), back)
            } else {
                return false;
            };
            store16(to, pattern);
            if !SHORT {
                store16(to.add(step), pattern);
            }
        }
    }
    true
}

/// A match of any length. `false`: nothing is done.
///
/// # Safety
/// `to` lies in the output of `bounds`, everything before it has been written.
#[inline(always)]
unsafe fn far_match<const BEST: bool>(bounds: &Bounds, to: *mut u8, back: usize, len: usize) -> bool {
    let (written, room) = (distance(bounds.start, to), distance(to, bounds.limit));
    if back.wrapping_sub(1) >= written || written < 16 || room < SLACK || len > room - SLACK {
        return false;
    }
    // SAFETY: `1 <= back <= written`, 16 bytes of history, and `len + SLACK` bytes of room.
    unsafe { wide_match::<BEST>(to, back, len) };
    true
}

/// `len` and the bytes at `from` that continue it, and where they end. `None`: the input ends first.
///
/// # Safety
/// `from` lies in the input that `end` ends.
#[inline(always)]
unsafe fn extended(mut from: *const u8, end: *const u8, mut len: usize) -> Option<(usize, *const u8)> {
    loop {
        if distance(from, end) == 0 {
            return None;
        }
        // SAFETY: `from` is before `end`.
        let byte = unsafe { *from };
        // SAFETY: as above; one past the last byte is still a place.
        from = unsafe { from.add(1) };
        len = len.saturating_add(usize::from(byte));
        if byte != 255 {
            return Some((len, from));
        }
    }
}

/// Sequences of an LZ4 block: token, literals, distance, each length continued where it is 15.
struct Lz4;

impl Lz4 {
    /// The match of a sequence: its distance is at `place.from`.
    ///
    /// # Safety
    /// Two bytes of input from `place.from` on, `WRITE / 2` bytes of output from `place.to` on, and as above.
    #[inline(always)]
    unsafe fn finish<const BEST: bool>(place: Place, bounds: &Bounds, token: u8) -> Option<Place> {
        // SAFETY: two bytes are there.
        let back = usize::from(u16::from_le(unsafe { place.from.cast::<u16>().read_unaligned() }));
        // SAFETY: as above.
        let from = unsafe { place.from.add(2) };
        let (len, from) = if token & 15 == 15 {
            // SAFETY: `from` is in the input; everything before `place.to` has been written.
            let (len, from) = unsafe { extended(from, bounds.end, 19) }?;
            // SAFETY: as above.
            if !unsafe { far_match::<BEST>(bounds, place.to, back, len) } {
                return None;
            }
            (len, from)
        } else {
            // SAFETY: there is room for a short match.
            if !unsafe { near_match::<false, BEST>(bounds.start, place.to, back) } {
                return None;
            }
            (usize::from(token & 15) + 4, from)
        };
        // SAFETY: the match was there and had room.
        Some(Place { from, to: unsafe { place.to.add(len) } })
    }
}

impl Instruction for Lz4 {
    #[inline(always)]
    unsafe fn step<const BEST: bool>(place: Place, bounds: &Bounds) -> Option<Place> {
        // SAFETY: `READ` and `WRITE` bytes are there. Up to 14 literals are copied as 16 bytes and followed by a
        // distance; more have been measured, and leave `WRITE` bytes of output and two of input.
        unsafe {
            let token = *place.from;
            let from = place.from.add(1);
            if token < 16 {
                return Lz4::finish::<BEST>(Place { from, to: place.to }, bounds, token);
            }
            let mut count = usize::from(token >> 4);
            let mut literals = from;
            if count < 15 {
                copy16(literals, place.to);
            } else {
                (count, literals) = extended(from, bounds.end, 15)?;
                let (left, room) = (distance(literals, bounds.end), distance(place.to, bounds.limit));
                if left < READ || count > left - READ || count > room - WRITE {
                    return None;
                }
                copy_long(literals, place.to, count);
            }
            Lz4::finish::<BEST>(Place { from: literals.add(count), to: place.to.add(count) }, bounds, token)
        }
    }
}

/// Instructions of a BloscLZ stream after the first: literals, or a near or far match.
struct BloscLz;

/// The first distance of a BloscLZ match that needs the far form.
const FAR: usize = 8192;

impl Instruction for BloscLz {
    #[inline(always)]
    unsafe fn step<const BEST: bool>(place: Place, bounds: &Bounds) -> Option<Place> {
        let Place { from, to } = place;
        // SAFETY: `READ` and `WRITE` bytes are there: for 32 literals and their count, and for a match of at most
        // 8 bytes. Longer ones are measured, and so are the bytes that continue their length.
        unsafe {
            let control = usize::from(*from);
            if control < 32 {
                copy32(from.add(1), to);
                return Some(Place { from: from.add(control + 2), to: to.add(control + 1) });
            }
            let high = (control & 31) << 8;
            let back = high + usize::from(*from.add(1)) + 1;
            if control < 7 << 5 && back != FAR {
                let len = (control >> 5) + 2;
                if !near_match::<true, BEST>(bounds.start, to, back) {
                    return None;
                }
                return Some(Place { from: from.add(2), to: to.add(len) });
            }
            let (mut len, mut from) = ((control >> 5) + 2, from.add(1));
            if control >= 7 << 5 {
                (len, from) = extended(from, bounds.end, len)?;
            }
            if distance(from, bounds.end) < 3 {
                return None;
            }
            let mut back = high + usize::from(*from) + 1;
            from = from.add(1);
            if back == FAR {
                back += usize::from(u16::from_be(from.cast::<u16>().read_unaligned()));
                from = from.add(2);
            }
            far_match::<BEST>(bounds, to, back, len).then(|| Place { from, to: to.add(len) })
        }
    }
}
