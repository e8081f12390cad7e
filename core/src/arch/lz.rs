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
//! - The next instruction's place is known early. Where one kind of instruction prevails, it follows from a *predicted
//!   branch*, not from bytes just loaded: LZ4 matches without literals, of three bytes, go through code of their own.
//!   Where kinds mix, a wrong guess costs more than the arithmetic, which is kept to few steps: every possible place is
//!   summed up before it is known which one it is.
//! - Of several loops the one runs that suits the last [`BATCH`] instructions.
//! - With a byte shuffle, a match can be made without a branch on its distance, and where many are longer than 16 bytes,
//!   32 bytes of it without one on its length. Where short LZ4 matches are nearly all near or nearly all far, as
//!   between bit planes, these branches are guessed right, and the fewer instructions of a loop that has them win.
//!   Up to [`MEDIUM`] bytes the rest is made 64 bytes at a time.
//! - Bytes just stored are read back by loads that one earlier store holds whole: others wait for the cache. Where most
//!   matches would have to, they are made of a register that holds the end of the output ([`Tail`]). Without a
//!   byte shuffle, distances too short for that repeat a word made without a loop.
//!
//! Branches that depend on data cost little where a benchmark decodes the same 64 KiB again and again: CPUs learn
//! some hundred kilobytes of a stream by heart. These loops were chosen by streams that are longer than that.

// One of the two loops alone needs only part of this.
#![cfg_attr(not(all(feature = "lz4", feature = "blosclz")), allow(dead_code, unused_imports))]

use super::bmi;
use super::copy::{WIDE, Window};
use super::tail::{BEYOND, Tail};
use super::wide::{
    LONG, SLACK, copy_long, copy8, copy32, early, load8, load16, match_beyond32, match16, match16_by_halves,
    match32, repeated_word, settle, store16, wide_match,
};
use crate::codec::room::Input;
use core::hint::select_unpredictable;

/// Bytes of output that an instruction with short lengths may write: 14 literals and a match of 16 bytes, or of
/// none and `SLACK` more.
const WRITE: usize = 14 + SLACK;

/// Longer matches are worth a call. A length that is continued twice is among them, and more than [`LONG`].
const MEDIUM: usize = 160;

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

    /// How many loops there are beside [`TAIL`]. That one, 1 and 3 are only for CPUs with a byte shuffle.
    const KINDS: u8;

    /// Which loop suits a batch that takes `bytes` of input and has counted this, nothing without a byte shuffle.
    fn kind(bytes: usize, seen: &Seen) -> u8;

    /// Carries out the instruction at `place.from`, or answers `None` if its literals do not end, or its match
    /// does not begin, before `bounds.last`. Counts in `seen` what only some streams have; `KIND` is the loop.
    ///
    /// # Safety
    /// `place` at most where a step from before `bounds.last` leads, and not after `bounds.full`; everything
    /// before `place.to` has been written.
    unsafe fn step<const BEST: bool, const KIND: u8>(
        place: Place,
        bounds: &Bounds,
        seen: &mut Seen,
    ) -> Option<Place>;
}

/// Instructions of a batch that only some streams have.
struct Seen {
    /// What the loop [`TAIL`] makes near matches of.
    tail: Tail,
    /// LZ4: matches of a distance from 5 to 16.
    stalling: usize,
    /// LZ4: matches longer than 16 bytes.
    long: usize,
    /// LZ4: short matches of a distance below 8, counted where `long` ones prevail.
    near: usize,
    /// BloscLZ: sum of [`WAITS`].
    waits: u32,
    /// BloscLZ: matches of a distance from [`FAR`] on.
    far: usize,
}

impl Seen {
    /// Counts a match by its distance.
    #[inline(always)]
    fn wait(&mut self, back: usize) {
        self.waits += WAITS.get(back.min(WAITS.len() - 1)).copied().unwrap_or(0);
    }
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
    // Near matches read the last four bytes.
    if !WIDE
        || left == 0
        || written < 4
        || start.addr() < REACH
        || rest.len() <= I::READ
        || len - written <= WRITE
        || wanted <= written
    {
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

/// No distance is longer: taken from a higher address, none wraps around.
const REACH: usize = 1 << 17;

/// The loop for short near matches that follow each other.
const TAIL: u8 = 4;

/// Instructions between two looks at which kind there is most of.
const BATCH: usize = 64;

impl<I: Instruction> bmi::Kernel for Middle<I> {
    type Output = Place;

    #[inline(always)]
    fn run<const BEST: bool>(self) -> Place {
        // Not moved to a place of its own: it has just been written, by halves of what a copy would read at once.
        let (mut place, bounds) = (self.place, &self.bounds);
        if BEST {
            // SAFETY: the output from `place.to` to its end.
            unsafe { settle(place.to, distance(place.to, bounds.full) + WRITE) };
        }
        let mut kind = 0;
        loop {
            // SAFETY: `middle` has made place and bounds of one input and one output.
            let batch = unsafe {
                match kind {
                    1 if BEST => batch::<I, BEST, 1>(&mut place, bounds),
                    2 if I::KINDS > 2 => batch::<I, BEST, 2>(&mut place, bounds),
                    3 if BEST && I::KINDS > 3 => batch::<I, BEST, 3>(&mut place, bounds),
                    TAIL if BEST => batch::<I, BEST, TAIL>(&mut place, bounds),
                    _ => batch::<I, BEST, 0>(&mut place, bounds),
                }
            };
            match batch {
                Some(next) => kind = next,
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
unsafe fn batch<I: Instruction, const BEST: bool, const KIND: u8>(
    place: &mut Place,
    bounds: &Bounds,
) -> Option<u8> {
    let first = place.from;
    // SAFETY: `middle` begins after four bytes, and each batch before this one has written 64 more.
    let tail = unsafe { if KIND == TAIL { Tail::before(place.to) } else { Tail::NONE } };
    let mut seen = Seen { tail, stalling: 0, long: 0, near: 0, waits: 0, far: 0 };
    for _ in 0..BATCH {
        if place.to >= bounds.enough {
            return None;
        }
        // SAFETY: compared just now, or where a step from before `last` has led.
        *place = unsafe { I::step::<BEST, KIND>(*place, bounds, &mut seen) }?;
    }
    Some(I::kind(distance(first, place.from), &seen))
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
unsafe fn near_match<const SHORT: bool>(start: *mut u8, to: *mut u8, back: usize) -> bool {
    let written = distance(start, to);
    // The comparison is for 0 and for what lies before `start`.
    if back.wrapping_sub(1) >= written {
        return false;
    }
    // SAFETY: `1 <= back <= written`; each load ends before the last byte stored, each store at `to + 16`.
    unsafe {
        if back >= 8 {
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

/// Whether a match of this distance may have to wait for what has just been written, and can be made of a [`Tail`].
#[inline(always)]
fn is_stalling(back: usize) -> bool {
    back.wrapping_sub(5) < BEYOND - 5
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

/// A match of more than [`MEDIUM`] bytes by a call, so that the loop keeps its registers.
///
/// # Safety
/// As for [`wide_match`] with a byte shuffle, which the CPU has.
#[inline(never)]
#[cfg_attr(target_arch = "x86_64", target_feature(enable = "bmi1,bmi2,lzcnt,ssse3"))]
unsafe fn large_match(to: *mut u8, back: usize, len: usize) {
    // SAFETY: see above.
    unsafe { wide_match::<true>(to, back, len) };
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
            if !unsafe { near_match::<false>(bounds.start, place.to, back) } {
                return None;
            }
            (short + 4, from)
        };
        // SAFETY: the match was there and had room.
        Some(Place { from, to: unsafe { place.to.add(len) } })
    }
}

impl Lz4 {
    /// [`finish`](Self::finish) by a call, so that the loop keeps its registers; `from` is null instead of `None`, so
    /// that they hold the answer.
    ///
    /// # Safety
    /// As for [`finish`](Self::finish), and with the instructions that `BEST` stands for.
    #[inline(never)]
    #[cfg_attr(target_arch = "x86_64", target_feature(enable = "bmi1,bmi2,lzcnt,ssse3"))]
    unsafe fn long(place: Place, bounds: &Bounds, token: u8) -> Place {
        let refused = Place { from: core::ptr::null(), ..place };
        // SAFETY: see above.
        unsafe { Lz4::finish::<true>(place, bounds, token) }.unwrap_or(refused)
    }

    /// The match of a sequence, its distance at `place.from`, by branches on whether it is short and whether it is far.
    ///
    /// # Safety
    /// As for a step of loop 3 after its literals, `place.from` before `bounds.last`.
    #[inline(always)]
    unsafe fn guessed(place: Place, bounds: &Bounds, token: u8, seen: &mut Seen) -> Option<Place> {
        let Place { from, to } = place;
        // SAFETY: `READ` and `WRITE` bytes are there: for a match of at most 32 bytes and a byte of length. Longer
        // ones are measured. Far matches begin at or after `start`, near ones after it.
        unsafe {
            let back = usize::from(u16::from_le(from.cast::<u16>().read_unaligned()));
            let source = to.wrapping_sub(back);
            if source < bounds.start {
                return None;
            }
            let short = usize::from(token & 15);
            if short < 15 {
                if back >= 8 {
                    copy8(source, to);
                    copy8(source.add(8), to.add(8));
                    core::ptr::copy_nonoverlapping(source.add(16), to.add(16), 2);
                } else {
                    if back == 0 {
                        return None;
                    }
                    seen.near += 1;
                    match32(source, to, back);
                }
                return Some(Place { from: from.add(2), to: to.add(short + 4) });
            }
            seen.long += 1;
            let len = usize::from(*from.add(2)) + 19;
            let room = distance(to, bounds.full.wrapping_add(WRITE - SLACK));
            if len > MEDIUM || MEDIUM > room || back == 0 {
                if len > LONG || len > room || back == 0 {
                    let place = Lz4::long(place, bounds, token);
                    return (!place.from.is_null()).then_some(place);
                }
                large_match(to, back, len);
                return Some(Place { from: from.add(3), to: to.add(len) });
            }
            if back >= 32 {
                copy32(source, to);
            } else {
                match32(source, to, back);
            }
            if len > 32 {
                match_beyond32(to, back, len);
            }
            Some(Place { from: from.add(3), to: to.add(len) })
        }
    }
}

impl Instruction for Lz4 {
    /// A step leads to two bytes after `last` at most: one has a distance and one byte of length. From there a
    /// token and 16 bytes for literals, or two bytes of length.
    const READ: usize = 20;

    const KINDS: u8 = 4;

    /// [`TAIL`]: most matches would wait. 1, 3: some are longer than 16 bytes; 1: near and far ones among the others mix, as nobody can guess.
    /// 2: most are matches without literals, of three bytes. 0: others.
    #[inline(always)]
    fn kind(bytes: usize, seen: &Seen) -> u8 {
        if seen.stalling > BATCH / 4 * 3 {
            TAIL
        } else if seen.long > BATCH / 16 {
            let mixed = (BATCH / 6..BATCH - BATCH / 6).contains(&seen.near);
            if mixed { 1 } else { 3 }
        } else if bytes <= 3 * BATCH + BATCH / 16 {
            2
        } else {
            0
        }
    }

    #[inline(always)]
    unsafe fn step<const BEST: bool, const KIND: u8>(
        place: Place,
        bounds: &Bounds,
        seen: &mut Seen,
    ) -> Option<Place> {
        // SAFETY: `READ` and `WRITE` bytes are there. Up to 14 literals are copied as 16 bytes and followed by a
        // distance and a length; more have been measured, and leave as many bytes as those take.
        unsafe {
            let Place { mut from, mut to } = place;
            let token = *from;
            let mut after = early(from.add(3));
            from = from.add(1);
            if KIND == 0 || KIND == 3 || KIND == TAIL || token >= 16 {
                let mut count = usize::from(token >> 4);
                if count < 15 {
                    let bytes = load16(from);
                    store16(to, bytes);
                    if KIND == TAIL {
                        seen.tail = seen.tail.then(bytes, count);
                    }
                } else {
                    (count, from) = extended(from, bounds, 15)?;
                    // They end before `last`, and so does what a wide copy reads more, before the input's end.
                    if from >= bounds.last
                        || count > distance(from, bounds.last).saturating_sub(SLACK - Self::READ)
                        || count > distance(to, bounds.full)
                    {
                        return None;
                    }
                    copy_long(from, to, count);
                    after = from.add(2);
                    if KIND == TAIL {
                        seen.tail = Tail::before(to.add(count));
                    }
                }
                (from, to, after) = (from.add(count), to.add(count), after.add(count));
            }
            if !BEST {
                return Lz4::finish::<false>(Place { from, to }, bounds, token);
            }
            // The last sequence has no match.
            if from >= bounds.last {
                return None;
            }
            if KIND == 3 {
                return Lz4::guessed(Place { from, to }, bounds, token, seen);
            }
            let word = load8(from);
            let back = word as usize & 0xffff;
            let source = to.wrapping_sub(back);
            if back == 0 || source < bounds.start {
                return None;
            }
            let short = usize::from(token & 15);
            if KIND == TAIL {
                if short > 12 {
                    let place = Lz4::guessed(Place { from, to }, bounds, token, seen)?;
                    seen.tail = Tail::before(place.to);
                    return Some(place);
                }
                let bytes = if back < BEYOND { seen.tail.near(back) } else { load16(source) };
                seen.stalling += usize::from(is_stalling(back));
                store16(to, bytes);
                seen.tail = seen.tail.then(bytes, short + 4);
                return Some(Place { from: after, to: to.add(short + 4) });
            }
            if KIND == 1 {
                let continued = short == 15;
                let len = short + 4 + select_unpredictable(continued, (word >> 16) as usize & 255, 0);
                let next = after.add(usize::from(continued));
                seen.long += usize::from(len > 16);
                seen.near += usize::from(back < 8 && !continued);
                let room = distance(to, bounds.full.wrapping_add(WRITE - SLACK));
                if len > 32 && (len > MEDIUM || MEDIUM > room) {
                    if len > LONG || len > room {
                        let place = Lz4::long(Place { from, to }, bounds, token);
                        return (!place.from.is_null()).then_some(place);
                    }
                    large_match(to, back, len);
                    return Some(Place { from: next, to: to.add(len) });
                }
                match32(source, to, back);
                if len > 32 {
                    match_beyond32(to, back, len);
                }
                Some(Place { from: next, to: to.add(len) })
            } else {
                if short > 12 {
                    seen.long += 1;
                    let place = Lz4::long(Place { from, to }, bounds, token);
                    return (!place.from.is_null()).then_some(place);
                }
                if KIND == 0 {
                    seen.stalling += usize::from(is_stalling(back));
                    match16(source, to, back);
                } else {
                    match16_by_halves(source, to, back);
                }
                Some(Place { from: after, to: to.add(short + 4) })
            }
        }
    }
}

/// Instructions of a BloscLZ stream after the first: literals, or a near or far match.
struct BloscLz;

/// BloscLZ matches of a distance up to this may read what has not reached the cache yet.
const RECENT: usize = 64;

/// What [`Seen::waits`] adds up, by distance: in its lowest byte matches that may have to wait and can be made of a
/// [`Tail`], in the next all that may have to, in the third those that are made of the last four bytes.
static WAITS: [u32; RECENT + 2] = {
    let mut waits = [0; RECENT + 2];
    let mut back = 1;
    while back <= RECENT {
        waits[back] = if back < 5 { 1 << 16 } else { 1 << 8 | (back < BEYOND) as u32 };
        back += 1;
    }
    waits
};

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
                if !near_match::<true>(bounds.start, to, back) {
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
    #[cfg_attr(target_arch = "x86_64", target_feature(enable = "bmi1,bmi2,lzcnt,ssse3"))]
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

    const KINDS: u8 = 3;

    /// [`TAIL`]: most matches would wait (every other instruction is one), or some and none is nearer, as in items of
    /// 8 bytes without a filter. 1: some are far. 2: many repeat what few instructions before have made. 0: others.
    #[inline(always)]
    fn kind(_: usize, seen: &Seen) -> u8 {
        let [stalling, recent, near, _] = seen.waits.to_le_bytes().map(usize::from);
        if stalling > BATCH / 8 * 3 {
            TAIL
        } else if seen.far > BATCH / 16 {
            1
        } else if recent > BATCH / 8 * 3 {
            2
        } else if stalling > BATCH / 12 && near < BATCH / 32 {
            TAIL
        } else {
            0
        }
    }

    #[inline(always)]
    unsafe fn step<const BEST: bool, const KIND: u8>(
        place: Place,
        bounds: &Bounds,
        seen: &mut Seen,
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
                let to_next = to.add(control + 1);
                if KIND == TAIL {
                    if control < 16 {
                        let bytes = load16(from.add(1));
                        store16(to, bytes);
                        seen.tail = seen.tail.then(bytes, control + 1);
                    } else {
                        copy32(from.add(1), to);
                        seen.tail = Tail::before(to_next);
                    }
                } else {
                    copy32(from.add(1), to);
                }
                return Some(Place { from: next, to: to_next });
            }
            if from >= bounds.last {
                return None;
            }
            if !BEST {
                return BloscLz::any::<false>(place, bounds);
            }
            if KIND == TAIL && control < 7 << 5 {
                // A short match, as most are: a guess tells where the next instruction is.
                let raw = ((control & 31) << 8) + usize::from(*from.add(1));
                let source = to.wrapping_sub(raw);
                if raw < FAR - 1 && source > bounds.start {
                    let (back, len) = (raw + 1, (control >> 5) + 2);
                    let bytes = seen.tail.any(source.sub(1), back);
                    seen.wait(back);
                    store16(to, bytes);
                    seen.tail = seen.tail.then(bytes, len);
                    return Some(Place { from: from.add(2), to: to.add(len) });
                }
            }
            // Control, a byte that continues a length of 7, a distance, two bytes that continue one of 8191.
            let word = load8(from);
            let continued = control >= 7 << 5;
            let shift = if continued { 8 } else { 0 };
            let tail = word >> 8;
            let len = (control >> 5) + 2 + (tail & !(u64::MAX << shift)) as usize;
            let rest = tail >> shift;
            // One less than the distance.
            let mut raw = ((control & 31) << 8) + (rest as usize & 255);
            let mut next = from.add(2 + usize::from(continued));
            let extension = usize::from(((rest >> 8) as u16).swap_bytes());
            if KIND == 1 {
                let is_far = raw >= FAR - 1;
                raw += select_unpredictable(is_far, extension, 0);
                // The next instruction waits for this one's size: every sum is made before the choice.
                let [two, three, four, five] = [2, 3, 4, 5].map(|n| early(from.add(n)));
                let near = select_unpredictable(!word & 0xff1f == 0, four, two);
                let longer = select_unpredictable(!word & 0x00ff_001f == 0, five, three);
                next = select_unpredictable(continued, longer, near);
                seen.far += usize::from(is_far);
            } else if raw >= FAR - 1 {
                raw += extension;
                next = next.add(2);
                seen.far += 1;
            }
            let source = to.wrapping_sub(raw);
            if source <= bounds.start {
                return None;
            }
            let (back, room) = (raw + 1, distance(to, bounds.full));
            if KIND == TAIL && len <= 16 {
                let bytes = seen.tail.any(source.sub(1), back);
                seen.wait(back);
                store16(to, bytes);
                seen.tail = seen.tail.then(bytes, len);
                return Some(Place { from: next, to: to.add(len) });
            }
            if len > 32 && (len > MEDIUM || MEDIUM > room) {
                if len > LONG || len > room {
                    let place = BloscLz::long(place, bounds);
                    if place.from.is_null() {
                        return None;
                    }
                    if KIND == TAIL {
                        seen.tail = Tail::before(place.to);
                    }
                    return Some(place);
                }
                large_match(to, back, len);
                if KIND == TAIL {
                    seen.tail = Tail::before(to.add(len));
                }
                return Some(Place { from: next, to: to.add(len) });
            }
            seen.wait(back);
            if KIND == 2 && len <= 16 {
                match16_by_halves(source.sub(1), to, back);
            } else {
                match32(source.sub(1), to, back);
            }
            if len > 32 {
                match_beyond32(to, back, len);
            }
            if KIND == TAIL {
                seen.tail = Tail::before(to.add(len));
            }
            Some(Place { from: next, to: to.add(len) })
        }
    }
}
