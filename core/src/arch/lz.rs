//! The middles of LZ4 blocks and BloscLZ streams, decoded by pointers: far enough from both ends, one
//! comparison of each pointer per instruction is all the checking that copies need.
//!
//! ```text
//! input                at ........ at + READ        may run into what follows the stream in memory
//! output   written     pos ....... pos + WRITE      may run into what is free behind the stream's room
//! ```
//! Each loop stops at the first instruction that it may not, or cannot, carry out (near an end, the last one,
//! damaged, reaching into a dictionary) and leaves all state as it was before that instruction. The caller's own loop,
//! which checks everything, carries out that one and comes back.
//!
//! What makes these loops fast on filtered data:
//! - In LZ4 the next instruction's place follows from a *predicted branch* on the kind of this one, not from
//!   arithmetic on bytes just loaded: matches without literals, most of a shuffled stream, go through code of their
//!   own whose length is a constant.
//! - A short match is made by loads of 8 bytes: each is then most likely found whole in one earlier store and need
//!   not wait for the cache. Distances that are too short for that repeat a word made without a loop, and with a
//!   byte shuffle all distances are made alike, without a branch.
//! - BloscLZ matches follow no pattern: with a byte shuffle, one of up to 32 bytes is read and made without a branch
//!   on its length, and where many are far, on its distance. Up to `MEDIUM` bytes a short loop makes the rest.
//!
//! Branches that depend on data cost little where a benchmark decodes the same 64 KiB again and again: CPUs learn
//! some hundred kilobytes of a stream by heart. These loops were chosen by streams that are longer than that.

// One of the two loops alone needs only part of this.
#![cfg_attr(not(all(feature = "lz4", feature = "blosclz")), allow(dead_code, unused_imports))]

use super::bmi;
use super::copy::{WIDE, Window};
use super::wide::{
    LONG, SLACK, copy_long, copy8, copy16, copy32, load8, match_beyond32, match16, match32, repeated_word,
    settle, store16, wide_match,
};
use crate::codec::room::Input;

/// Bytes of output that an instruction with short lengths may write: 14 literals and a match of 16 bytes, or of
/// none and `SLACK` more.
const WRITE: usize = 14 + SLACK;

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
    /// Start of the output.
    start: *mut u8,
    /// The end of the stream, or [`Instruction::READ`] bytes before the end of what may be read.
    last: *const u8,
    /// `WRITE` bytes before the end of the output.
    full: *mut u8,
    /// Where the loop ends: `full`, or what is wanted.
    enough: *mut u8,
}

/// One kind of stream: how an instruction is carried out.
trait Instruction {
    /// Bytes from `bounds.last` on that an instruction and its copies may read.
    const READ: usize;

    /// Whether the loop `EXPECT` suits a batch that takes `bytes` of input and has `far` far matches.
    fn expects(bytes: usize, far: usize) -> bool;

    /// Carries out the instruction at `place.from`, or answers `None` if its literals do not end, or its match
    /// does not begin, before `bounds.last`. Counts in `far` what only some streams have. `EXPECT`: the loop for
    /// streams of the expected kind.
    ///
    /// # Safety
    /// `place` at most where a step from before `bounds.last` leads, and not after `bounds.full`; everything
    /// before `place.to` has been written.
    unsafe fn step<const BEST: bool, const EXPECT: bool>(
        place: Place,
        bounds: &Bounds,
        far: &mut usize,
    ) -> Option<Place>;
}

/// LZ4 sequences from byte `at` on; returns the offset of the first one that is left to the caller.
#[inline]
pub fn lz4(window: &mut Window<'_>, input: &Input<'_>, at: usize) -> usize {
    middle::<Lz4>(window, input, at)
}

/// BloscLZ instructions from byte `at` on; returns the offset of the first one that is left to the caller.
#[inline]
pub fn blosclz(window: &mut Window<'_>, input: &Input<'_>, at: usize) -> usize {
    middle::<BloscLz>(window, input, at)
}

#[inline(always)]
fn middle<I: Instruction>(window: &mut Window<'_>, input: &Input<'_>, at: usize) -> usize {
    let Some(rest) = input.with_slack().get(at..) else { return at };
    let left = input.exact().len().saturating_sub(at);
    let (start, written, wanted, len) = window.parts();
    if !WIDE || left == 0 || rest.len() <= I::READ || len - written <= WRITE || wanted <= written {
        return at;
    }
    // SAFETY: `written <= len`, the length of the output, and the rests are longer than `I::READ` and `WRITE`, so all
    // pointers lie in their buffers; the loop leaves a place in both, up to which it has written.
    unsafe {
        let place = Place { from: rest.as_ptr(), to: start.add(written) };
        let (full, enough) = (start.add(len - WRITE), start.add(wanted.min(len - WRITE)));
        let bounds = Bounds { start, last: place.from.add(left.min(rest.len() - I::READ)), full, enough };
        let place = bmi::run(Middle::<I> { place, bounds, kind: core::marker::PhantomData });
        window.set_position(distance(start, place.to));
        at + distance(rest.as_ptr(), place.from)
    }
}

/// A loop over the instructions of a stream.
struct Middle<I> {
    /// Before `bounds.last` and `bounds.enough`.
    place: Place,
    bounds: Bounds,
    kind: core::marker::PhantomData<I>,
}

/// Instructions between two looks at which kind there is most of.
const BATCH: usize = 64;

impl<I: Instruction> bmi::Kernel for Middle<I> {
    type Output = Place;

    #[inline(always)]
    fn run<const BEST: bool>(self) -> Place {
        let Middle { mut place, bounds, .. } = self;
        if BEST {
            // SAFETY: the output from `place.to` to its end.
            unsafe { settle(place.to, distance(place.to, bounds.full) + WRITE) };
        }
        let mut expect = false;
        loop {
            // SAFETY: `middle` has made place and bounds of one input and one output.
            let batch = unsafe {
                if expect {
                    batch::<I, BEST, true>(&mut place, &bounds)
                } else {
                    batch::<I, BEST, false>(&mut place, &bounds)
                }
            };
            match batch {
                Some(kind) => expect = kind,
                None => return place,
            }
        }
    }
}

/// Carries out [`BATCH`] instructions and answers which loop suits their kind, or `None` after the last.
///
/// # Safety
/// `place` lies in the input and output of `bounds`; everything before `place.to` has been written.
#[inline(always)]
unsafe fn batch<I: Instruction, const BEST: bool, const EXPECT: bool>(
    place: &mut Place,
    bounds: &Bounds,
) -> Option<bool> {
    let (first, mut far) = (place.from, 0);
    for _ in 0..BATCH {
        if place.to >= bounds.enough {
            return None;
        }
        // SAFETY: compared just now, or where a step from before `last` has led.
        *place = unsafe { I::step::<BEST, EXPECT>(*place, bounds, &mut far) }?;
    }
    Some(I::expects(distance(first, place.from), far))
}

/// `b - a` for pointers into one buffer, `a` not after `b`.
#[inline(always)]
fn distance(a: *const u8, b: *const u8) -> usize {
    (b as usize).wrapping_sub(a as usize)
}

/// A match of at most 16 bytes, or of at most 8 with `SHORT`. `false`: nothing is done.
///
/// # Safety
/// 16 bytes of output from `to` on; everything from `start` to `to` has been written.
#[inline(always)]
unsafe fn near_match<const SHORT: bool, const BEST: bool>(start: *mut u8, to: *mut u8, back: usize) -> bool {
    let written = distance(start, to);
    // The comparison is for 0 and for what lies before `start`.
    if back.wrapping_sub(1) >= written {
        return false;
    }
    // SAFETY: `1 <= back <= written`; each load ends before the last byte stored, each store at `to + 16`.
    unsafe {
        if BEST {
            match16(to, back);
        } else if back >= 8 {
            let from = to.sub(back);
            copy8(from, to);
            if !SHORT {
                copy8(from.add(8), to.add(8));
            }
        } else if written >= 8 {
            store16(to, repeated_word(load8(to.sub(8)), back).0);
        } else {
            return false;
        }
    }
    true
}

/// A match of any length. `false`: nothing is done.
///
/// # Safety
/// `to` is at most `WRITE - SLACK` bytes after `bounds.full`, and everything before it has been written.
#[inline(always)]
unsafe fn far_match<const BEST: bool>(bounds: &Bounds, to: *mut u8, back: usize, len: usize) -> bool {
    let written = distance(bounds.start, to);
    let room = distance(to, bounds.full.wrapping_add(WRITE - SLACK));
    // Only a byte shuffle does with less history than it repeats, and long matches are made without one.
    let enough = written >= 16 || (BEST && len <= LONG);
    if back.wrapping_sub(1) >= written || !enough || len > room {
        return false;
    }
    // SAFETY: `1 <= back <= written`, 16 bytes of history or a short match by `BEST`, `len + SLACK` bytes of room.
    unsafe { wide_match::<BEST>(to, back, len) };
    true
}

/// `len` and the bytes at `from` that continue it, and where they end. `None`: that is too near the input's end.
///
/// # Safety
/// There is a byte at `from`.
#[inline(always)]
unsafe fn extended(from: *const u8, bounds: &Bounds, len: usize) -> Option<(usize, *const u8)> {
    // SAFETY: there is a byte.
    let byte = unsafe { *from };
    let (len, from) = (len + usize::from(byte), from.wrapping_add(1));
    if byte < 255 {
        return Some((len, from));
    }
    // SAFETY: one past a byte of the input that `last` lies in.
    unsafe { much_extended(from, bounds.last, len) }
}

/// The second byte and those after it.
///
/// # Safety
/// `from` and `last` lie in one input, or at its end.
#[cold]
#[inline(never)]
unsafe fn much_extended(mut from: *const u8, last: *const u8, mut len: usize) -> Option<(usize, *const u8)> {
    while from < last {
        // SAFETY: before `last`, and the caller began in the same buffer.
        let byte = unsafe { *from };
        from = from.wrapping_add(1);
        len = len.saturating_add(usize::from(byte));
        if byte != 255 {
            return Some((len, from));
        }
    }
    None
}

/// Sequences of an LZ4 block: token, literals, distance, each length continued where it is 15.
struct Lz4;

impl Lz4 {
    /// The match of a sequence: its distance is at `place.from`.
    ///
    /// # Safety
    /// `SLACK` bytes of output from `place.to` on, and as above.
    #[inline(always)]
    unsafe fn finish<const BEST: bool>(place: Place, bounds: &Bounds, token: u8) -> Option<Place> {
        // The last sequence has no match.
        if place.from >= bounds.last {
            return None;
        }
        // SAFETY: three bytes are there, the last at most two after `last`: the next step begins there or before.
        let back = usize::from(u16::from_le(unsafe { place.from.cast::<u16>().read_unaligned() }));
        // SAFETY: as above.
        let from = unsafe { place.from.add(2) };
        let short = usize::from(token & 15);
        let (len, from) = if short > 12 {
            let (mut len, mut from) = (short + 4, from);
            if short == 15 {
                // SAFETY: `from` is in the input; everything before `place.to` has been written.
                (len, from) = unsafe { extended(from, bounds, len) }?;
            }
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
            (short + 4, from)
        };
        // SAFETY: the match was there and had room.
        Some(Place { from, to: unsafe { place.to.add(len) } })
    }
}

impl Instruction for Lz4 {
    /// A step leads to two bytes after `last` at most: one has a distance and one byte of length. From there a
    /// token and 16 bytes for literals, or two bytes of length.
    const READ: usize = 20;

    /// Most are matches without literals, of three bytes.
    #[inline(always)]
    fn expects(bytes: usize, _: usize) -> bool {
        bytes <= 3 * BATCH + BATCH / 4
    }

    #[inline(always)]
    unsafe fn step<const BEST: bool, const EXPECT: bool>(
        place: Place,
        bounds: &Bounds,
        _: &mut usize,
    ) -> Option<Place> {
        // SAFETY: `READ` and `WRITE` bytes are there. Up to 14 literals are copied as 16 bytes and followed by a
        // distance and a length; more have been measured, and leave as many bytes as those take.
        unsafe {
            let token = *place.from;
            let mut literals = place.from.add(1);
            if EXPECT && token < 16 {
                return Lz4::finish::<BEST>(Place { from: literals, to: place.to }, bounds, token);
            }
            let mut count = usize::from(token >> 4);
            if count < 15 {
                copy16(literals, place.to);
            } else {
                (count, literals) = extended(literals, bounds, 15)?;
                // They end before `last`, and so does what a wide copy reads more, before the input's end.
                if literals >= bounds.last
                    || count > distance(literals, bounds.last).saturating_sub(SLACK - Self::READ)
                    || count > distance(place.to, bounds.full)
                {
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

/// Longer matches of a BloscLZ stream are worth a call; those whose length is continued twice are among them.
const MEDIUM: usize = 160;

/// The first distance of a BloscLZ match that needs the far form.
const FAR: usize = 8192;

impl BloscLz {
    /// The match at `place.from`, of any length.
    ///
    /// # Safety
    /// As for a step, from before `bounds.last`.
    #[inline(always)]
    unsafe fn any<const BEST: bool>(place: Place, bounds: &Bounds) -> Option<Place> {
        let Place { from, to } = place;
        // SAFETY: `READ` and `WRITE` bytes are there: for a match of at most 8 bytes. Longer ones are measured, and so
        // are the bytes that continue their length.
        unsafe {
            let control = usize::from(*from);
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
                (len, from) = extended(from, bounds, len)?;
            }
            if from >= bounds.last {
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

    /// [`any`](Self::any) by a call, so that the loop keeps its registers; `from` is null instead of `None`, so that
    /// they hold the answer.
    ///
    /// # Safety
    /// As for [`any`](Self::any), and with the instructions that `BEST` stands for.
    #[inline(never)]
    unsafe fn long(place: Place, bounds: &Bounds) -> Place {
        let refused = Place { from: core::ptr::null(), ..place };
        // SAFETY: see above.
        unsafe { BloscLz::any::<true>(place, bounds) }.unwrap_or(refused)
    }
}

impl Instruction for BloscLz {
    /// A step leads to four bytes after `last` at most: a byte before it, one of length, three of distance.
    /// From there up to 32 literals after their count.
    const READ: usize = 40;

    /// Many are far matches, and many are not.
    #[inline(always)]
    fn expects(_: usize, far: usize) -> bool {
        far > BATCH / 16
    }

    #[inline(always)]
    unsafe fn step<const BEST: bool, const EXPECT: bool>(
        place: Place,
        bounds: &Bounds,
        far: &mut usize,
    ) -> Option<Place> {
        let Place { from, to } = place;
        // SAFETY: `READ` and `WRITE` bytes are there: for 32 literals and their count, and for a match of at most 32
        // bytes, five of input. Others are measured.
        unsafe {
            let control = usize::from(*from);
            if control < 32 {
                let next = from.add(control + 2);
                // The last instruction is one of literals.
                if next >= bounds.last {
                    return None;
                }
                copy32(from.add(1), to);
                return Some(Place { from: next, to: to.add(control + 1) });
            }
            if from >= bounds.last {
                return None;
            }
            if !BEST {
                return BloscLz::any::<false>(place, bounds);
            }
            // Control, a byte that continues a length of 7, a distance, two bytes that continue one of 8191.
            let word = load8(from);
            let continued = control >= 7 << 5;
            let more = if continued { (word >> 8) as usize & 255 } else { 0 };
            let len = (control >> 5) + 2 + more;
            let rest = word >> if continued { 16 } else { 8 };
            let (mut back, mut size) =
                (((control & 31) << 8) + (rest & 255) as usize + 1, 2 + usize::from(continued));
            let extension = usize::from(((rest >> 8) as u16).swap_bytes());
            if EXPECT {
                let is_far = back == FAR;
                back += if is_far { extension } else { 0 };
                // The next instruction waits for the size: found by two comparisons at once, not one after the other.
                let near_size = 2 + 2 * usize::from(word & 0xff1f == 0xff1f);
                let continued_size = 3 + 2 * usize::from(word & 0x00ff_001f == 0x00ff_001f);
                size = if continued { continued_size } else { near_size };
                *far += usize::from(is_far);
            } else if back == FAR {
                back += extension;
                size += 2;
                *far += 1;
            }
            if back > distance(bounds.start, to) {
                return None;
            }
            if len > 32 && (len > MEDIUM || len > distance(to, bounds.full)) {
                let place = BloscLz::long(place, bounds);
                return (!place.from.is_null()).then_some(place);
            }
            match32(to, back);
            if len > 32 {
                match_beyond32(to, back, len);
            }
            Some(Place { from: from.add(size), to: to.add(len) })
        }
    }
}
