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
//! - Of several loops the one runs that suits the last [`BATCH`] instructions, the first ones fewer.
//! - With a byte shuffle, a match can be made without a branch on its distance, BloscLZ's up to 32 bytes without one on
//!   its length either. Where LZ4 matches are nearly all far, or some are long, branches on both win all the same: wide
//!   loads are those that wait for stores. Up to [`MEDIUM`] bytes the rest is made 64 bytes at a time.
//! - Where hardly an instruction needs more, the code for it lies [`aside`], and what it does is a call: no jump is taken
//!   but the one back to the next instruction, and the loop has its registers for itself.
//! - With AVX-512 LZ4 sequences of up to 64 literals and 64 bytes of match are made without any branch (`wide`): that
//!   wins where an eighth of the lengths is long, as in most planes of measured data.
//! - Bytes just stored are read back by loads that one earlier store holds whole: others wait for the cache. Where most
//!   matches would have to, they are made of a register that holds the end of the output ([`Tail`]). Without a
//!   byte shuffle, distances too short for that repeat a word made without a loop.
//!
//! Branches that depend on data cost little where a benchmark decodes the same 64 KiB again and again: CPUs learn
//! some hundred kilobytes of a stream by heart. These loops were chosen by streams that are longer than that.

// One of the two loops alone needs only part of this.
#![cfg_attr(not(all(feature = "lz4", feature = "blosclz")), allow(dead_code, unused_imports))]

mod blosclz;
mod lz4;
#[cfg(all(feature = "std", target_arch = "x86_64"))]
mod wide;

use super::bmi;
use super::copy::{WIDE, Window};
#[cfg(all(feature = "std", target_arch = "x86_64"))]
use super::detect::halves;
#[cfg(all(feature = "std", target_arch = "x86_64"))]
use super::level::Isa;
use super::level::Level;
use super::tail::Tail;
use super::wide::{LONG, SLACK, copy8, load8, repeated_word, settle, store16, wide_match};
use crate::codec::room::Input;
use blosclz::BloscLz;
use lz4::Lz4;

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
#[derive(Clone, Copy)]
struct Bounds {
    /// Start of the output.
    start: *mut u8,
    /// The end of the stream, or [`Instruction::READ`] bytes before the end of what may be read.
    last: *const u8,
    /// `WRITE` bytes before the end of the output.
    full: *mut u8,
    /// Where the loop ends: `full`, or what is wanted.
    enough: *mut u8,
    /// So many long lengths of a batch, and more, are worth the [`WIDE_LOOP`].
    many: usize,
}

/// One kind of stream: how an instruction is carried out.
trait Instruction {
    /// Bytes from `bounds.last` on that an instruction and its copies may read.
    const READ: usize;

    /// The loop to begin with, and how many instructions come before the first look at which kind there is most of: of
    /// short streams many are carried out by then. Without a byte shuffle it is 0 and a whole [`BATCH`].
    const FIRST: (u8, usize);

    /// How many loops there are beside [`TAIL`]. That one, all from 3 on and 1 are only for CPUs with a byte shuffle.
    const KINDS: u8;

    /// Whether [`wide::sequences`] carries out these instructions.
    #[cfg(all(feature = "std", target_arch = "x86_64"))]
    const HAS_WIDE: bool;

    /// Which loop suits a batch of so many instructions in loop `KIND`, that takes `bytes` of input and has counted this,
    /// nothing without a byte shuffle; [`WIDE_LOOP`] where more than `many` lengths are long.
    fn kind<const KIND: u8>(batch: usize, bytes: usize, seen: &Seen, many: usize) -> u8;

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
    /// LZ4: short matches of a distance that a [`Tail`] has, of those below 8 in loop 3.
    close: usize,
    /// LZ4: matches longer than 16 bytes. BloscLZ: longer than 8, where a loop suits the others.
    long: usize,
    /// LZ4: 15 literals and more.
    literals: usize,
    /// BloscLZ: sum of [`blosclz::waits`].
    waits: u32,
    /// BloscLZ: matches whose distance takes two bytes more.
    far: usize,
}

impl Seen {
    /// Counts a match by its distance.
    #[inline(always)]
    fn wait(&mut self, back: usize) {
        self.waits += blosclz::waits(back);
    }
}

/// LZ4 sequences from byte `at` on; returns the offset of the first one that is left to the caller.
///
/// `level` decides on the byte shuffle and bit instructions ([`bmi`]) and on registers of 64 bytes.
#[inline]
pub fn lz4(window: &mut Window<'_>, input: &Input<'_>, at: usize, level: Level) -> usize {
    middle::<Lz4>(window, input, at, level)
}

/// BloscLZ instructions from byte `at` on; returns the offset of the first one that is left to the caller.
///
/// `level` decides on the byte shuffle and bit instructions ([`bmi`]).
#[inline]
pub fn blosclz(window: &mut Window<'_>, input: &Input<'_>, at: usize, level: Level) -> usize {
    middle::<BloscLz>(window, input, at, level)
}

#[inline(always)]
fn middle<I: Instruction>(window: &mut Window<'_>, input: &Input<'_>, at: usize, level: Level) -> usize {
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
        let last = place.from.add(left.min(rest.len() - I::READ));
        let bounds = Bounds { start, last, full, enough, many: usize::MAX };
        // Tests in this crate run it wherever it can run.
        #[cfg(all(feature = "std", target_arch = "x86_64"))]
        let wants_wide = I::HAS_WIDE && level.isa() == Isa::Avx512 && (cfg!(test) || !halves());
        #[cfg(all(feature = "std", target_arch = "x86_64"))]
        let place = if wants_wide && rest.len() > wide::READ && len - written > wide::WRITE {
            let (last, full) =
                (place.from.add(left.min(rest.len() - wide::READ)), start.add(len - wide::WRITE));
            by_turns::<I>(
                level,
                place,
                bounds,
                &Bounds { start, last, full, enough: enough.min(full), many: MANY },
            )
        } else {
            bmi::run(level, Middle::<I> { place, bounds, kind: core::marker::PhantomData }).0
        };
        #[cfg(not(all(feature = "std", target_arch = "x86_64")))]
        let place = bmi::run(level, Middle::<I> { place, bounds, kind: core::marker::PhantomData }).0;
        window.set_position(distance(start, place.to));
        at + distance(rest.as_ptr(), place.from)
    }
}

/// [`Middle`], and the [`WIDE_LOOP`] where it suits. Of short streams not much may be spent on finding out: they begin
/// with that one, which shows soon whether it does.
///
/// # Safety
/// `bounds` and `wide` are of one input and output, `wide` with the room that [`wide::sequences`] needs; so is `place`,
/// and everything before it has been written. `level` is one with AVX-512.
#[cfg(all(feature = "std", target_arch = "x86_64"))]
unsafe fn by_turns<I: Instruction>(
    level: Level,
    mut place: Place,
    mut bounds: Bounds,
    wide: &Bounds,
) -> Place {
    // SAFETY: the output from `place.to` to its end, which may be written.
    unsafe { settle(place.to, distance(place.to, wide.full) + wide::WRITE) };
    let mut batch = BATCH / 4;
    loop {
        // SAFETY: see above.
        bounds.many = match unsafe { wide::sequences(&mut place, wide, batch) } {
            wide::Next::Same => {
                batch = BATCH;
                continue;
            }
            wide::Next::Short => wide.many,
            wide::Next::Edge => usize::MAX,
        };
        let wants_wide;
        (place, wants_wide) = bmi::run(level, Middle::<I> { place, bounds, kind: core::marker::PhantomData });
        if !wants_wide {
            return place;
        }
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

/// A loop of which each kind of stream has its own.
const OWN: u8 = 5;

/// The loop by registers of 64 bytes, where the level allows them. It is none of [`Middle`]'s.
const WIDE_LOOP: u8 = 6;

/// How many long lengths a batch must have for it.
#[cfg(all(feature = "std", target_arch = "x86_64"))]
const MANY: usize = BATCH / 7;

/// Instructions between two looks at which kind there is most of.
const BATCH: usize = 64;

impl<I: Instruction> bmi::Kernel for Middle<I> {
    /// Where it has come to, and whether there the [`WIDE_LOOP`] should go on.
    type Output = (Place, bool);

    #[inline(always)]
    fn run<const BEST: bool>(self) -> (Place, bool) {
        // Not moved to a place of its own: it has just been written, by halves of what a copy would read at once.
        let (mut place, bounds) = (self.place, &self.bounds);
        if BEST {
            // SAFETY: the output from `place.to` to its end, which a sequence of the wide loop may have come close to.
            unsafe { settle(place.to, distance(place.to, bounds.full.wrapping_add(WRITE))) };
        }
        let (mut kind, mut count) = if BEST && bounds.many == usize::MAX { I::FIRST } else { (0, BATCH) };
        loop {
            // SAFETY: `middle` has made place and bounds of one input and one output.
            let batch = unsafe {
                match kind {
                    1 if BEST => batch::<I, BEST, 1>(&mut place, bounds, count),
                    2 if I::KINDS > 2 => batch::<I, BEST, 2>(&mut place, bounds, count),
                    3 if BEST && I::KINDS > 3 => batch::<I, BEST, 3>(&mut place, bounds, count),
                    OWN if BEST && I::KINDS > 4 => batch::<I, BEST, OWN>(&mut place, bounds, count),
                    TAIL if BEST => batch::<I, BEST, TAIL>(&mut place, bounds, count),
                    _ => batch::<I, BEST, 0>(&mut place, bounds, count),
                }
            };
            count = BATCH;
            match batch {
                Some(WIDE_LOOP) => return (place, true),
                Some(next) => kind = next,
                None => return (place, false),
            }
        }
    }
}

/// Carries out `count` instructions and answers which loop suits their kind, or `None` after the last.
///
/// # Safety
/// `place` lies in the input and output of `bounds`; everything before `place.to` has been written.
#[inline(always)]
unsafe fn batch<I: Instruction, const BEST: bool, const KIND: u8>(
    place: &mut Place,
    bounds: &Bounds,
    count: usize,
) -> Option<u8> {
    let first = place.from;
    // SAFETY: `middle` begins after four bytes, and each batch before this one has written 64 more.
    let tail = unsafe { if KIND == TAIL { Tail::before(place.to) } else { Tail::NONE } };
    let mut seen = Seen { tail, close: 0, long: 0, literals: 0, waits: 0, far: 0 };
    let mut left = count;
    if BEST {
        aligned();
    }
    while left > 0 {
        left -= 1;
        if place.to >= bounds.enough {
            return None;
        }
        // SAFETY: compared just now, or where a step from before `last` has led.
        *place = unsafe { I::step::<BEST, KIND>(*place, bounds, &mut seen) }?;
    }
    Some(I::kind::<KIND>(count, distance(first, place.from), &seen, bounds.many))
}

/// Begins a loop at a line of the instruction cache: where the linker puts it is worth a tenth of the speed of short loops.
#[inline(always)]
fn aligned() {
    // SAFETY: no instruction but some that do nothing. The compiler goes on to the next 16 bytes, with a little before it.
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    unsafe {
        core::arch::asm!(".p2align 6", ".nops 48", options(nomem, nostack, preserves_flags));
    }
}

/// The compiler lays what is reached by a call of this out of the way: of what short instructions take, no jump is taken
/// but the one back to the next.
#[cold]
#[inline(always)]
fn aside() {}

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
