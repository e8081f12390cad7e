//! Pointer loops for the middles of LZ4 blocks and BloscLZ streams.
//!
//! ```text
//! input                from ...... from + READ      a step may read what follows the stream in memory
//! output   written     to ........ to + WRITE       a step may write what is free behind the stream's room
//!
//! loop = FIRST
//! repeat
//!     repeat BATCH times
//!         if to >= enough: return                   no room for a step, or all that is wanted has been written
//!         step: the instruction at `from`, as `loop` carries it out; return if it may not, or cannot, be
//!         count what tells kinds of streams apart
//!     loop = the one that suits these counts        `Instruction::suitable`
//! ```
//! A step compares each pointer once. It refuses an instruction near an end, the last one, a damaged one, and one that reaches
//! into a dictionary, and leaves all state as it was before that instruction. The caller's own loop, which checks everything,
//! carries out that instruction and calls again.
//!
//! Why the loops are as they are (`docs/optimization-notes.md` says what was measured, and which loops have been removed):
//! - The address of the next instruction is known early: it follows from predicted branches, not from bytes that have just been
//!   loaded.
//! - With a byte shuffle a match is made without a branch on its distance, BloscLZ's up to 32 bytes without a branch on its
//!   length either. Where LZ4 matches are nearly all far, or some are long, branches on both are faster, because wide loads
//!   wait for stores. Up to [`MEDIUM`](step::MEDIUM) bytes the rest of a match is made 64 bytes at a time.
//! - What few instructions need is a call on a cold path: common instructions jump once, back to the next instruction, and the
//!   loop keeps all registers.
//! - With AVX-512, LZ4 sequences of up to 64 literals and 64 bytes of match are made without any branch (`avx512`). That is
//!   faster where an eighth of the lengths is long, as in most planes of measured data.
//! - A load of bytes that were stored just before is fast only if one store holds all of them. Where most LZ4 matches would load
//!   across two stores, they are made of a register that holds the end of the output ([`Tail`]). Without a byte shuffle,
//!   distances too short for a load repeat a word.
//!
//! A CPU learns the branches of some hundred kilobytes of a stream, so a benchmark that decodes the same 64 KiB again and again
//! favours branches. These loops were chosen on streams that are longer than that.

// One of the two loops alone needs only part of this.
#![cfg_attr(not(all(feature = "lz4", feature = "blosclz")), allow(dead_code, unused_imports))]

#[cfg(all(feature = "std", target_arch = "x86_64"))]
mod avx512;
mod blosclz;
mod lz4;
mod step;

use crate::arch::entropy::bit_instructions;
use crate::arch::input::Input;
#[cfg(all(feature = "std", target_arch = "x86_64"))]
use crate::arch::kernels;
use crate::arch::level::Level;
#[cfg(all(feature = "std", target_arch = "x86_64"))]
use crate::arch::level::detect::executes_512_in_halves;
use crate::arch::lz::matches::mark_initialised;
use crate::arch::lz::tail::Tail;
use crate::arch::lz::window::{WIDE_COPIES, Window};
use blosclz::BloscLz;
use lz4::Lz4;
use step::{
    BATCH, Bounds, Cursor, FAR, FEW_NEAR, GENERAL, Instruction, InstructionCounts, Loop, NEAR, REACH,
    REPETITIVE, SHORT, WRITE, distance,
};

/// LZ4 sequences from byte `at` on; returns the offset of the first one that is left to the caller.
///
/// `level` decides on the byte shuffle and bit instructions ([`bit_instructions`]) and on registers of 64 bytes.
#[inline]
pub fn lz4(window: &mut Window<'_>, input: &Input<'_>, at: usize, level: Level) -> usize {
    middle::<Lz4>(window, input, at, level)
}

/// BloscLZ instructions from byte `at` on; returns the offset of the first one that is left to the caller.
///
/// `level` decides on the byte shuffle and bit instructions ([`bit_instructions`]).
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
    if !WIDE_COPIES
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
        let cursor = Cursor { from: rest.as_ptr(), to: start.add(written) };
        let (full, enough) = (start.add(len - WRITE), start.add(wanted.min(len - WRITE)));
        let last = cursor.from.add(left.min(rest.len() - I::READ));
        let bounds = Bounds { start, last, full, enough, many: usize::MAX };
        // Tests in this crate run it wherever it can run.
        #[cfg(all(feature = "std", target_arch = "x86_64"))]
        let wants_avx512 =
            I::IS_LZ4 && kernels::has_avx512(level) && (cfg!(test) || !executes_512_in_halves());
        #[cfg(all(feature = "std", target_arch = "x86_64"))]
        let cursor = if wants_avx512 && rest.len() > avx512::READ && len - written > avx512::WRITE {
            let (last, full) =
                (cursor.from.add(left.min(rest.len() - avx512::READ)), start.add(len - avx512::WRITE));
            by_turns::<I>(
                level,
                cursor,
                bounds,
                &Bounds { start, last, full, enough: enough.min(full), many: MANY },
            )
        } else {
            bit_instructions::run(level, Middle::<I> { cursor, bounds, kind: core::marker::PhantomData }).0
        };
        #[cfg(not(all(feature = "std", target_arch = "x86_64")))]
        let cursor =
            bit_instructions::run(level, Middle::<I> { cursor, bounds, kind: core::marker::PhantomData }).0;
        window.set_position(distance(start, cursor.to));
        at + distance(rest.as_ptr(), cursor.from)
    }
}

/// [`Middle`], and the [`Loop::Avx512`] where it suits. Of short streams not much may be spent on finding out: they begin
/// with that loop, which shows soon whether it suits.
///
/// # Safety
/// `bounds` and `wider` are of one input and output, `wider` with the room that [`avx512::sequences`] needs; so is `cursor`,
/// and everything before it has been written. `level` is one with AVX-512.
#[cfg(all(feature = "std", target_arch = "x86_64"))]
unsafe fn by_turns<I: Instruction>(
    level: Level,
    mut cursor: Cursor,
    mut bounds: Bounds,
    wider: &Bounds,
) -> Cursor {
    // SAFETY: the output from `cursor.to` to its end, which may be written.
    unsafe { mark_initialised(cursor.to, distance(cursor.to, wider.full) + avx512::WRITE) };
    let mut batch = BATCH / 4;
    loop {
        // SAFETY: `level` has AVX-512, and the output is marked as initialised by the line before the loop.
        bounds.many = match unsafe { avx512::sequences(&mut cursor, wider, batch) } {
            avx512::Next::Same => {
                batch = BATCH;
                continue;
            }
            avx512::Next::Short => wider.many,
            avx512::Next::Edge => usize::MAX,
        };
        let wants_avx512;
        (cursor, wants_avx512) =
            bit_instructions::run(level, Middle::<I> { cursor, bounds, kind: core::marker::PhantomData });
        if !wants_avx512 {
            return cursor;
        }
    }
}

/// A loop over the instructions of a stream.
struct Middle<I> {
    /// Before `bounds.last` and `bounds.enough`.
    cursor: Cursor,
    bounds: Bounds,
    kind: core::marker::PhantomData<I>,
}

/// How many long lengths a batch must have for it.
#[cfg(all(feature = "std", target_arch = "x86_64"))]
const MANY: usize = BATCH / 7;

impl<I: Instruction> bit_instructions::Kernel for Middle<I> {
    /// Where it has come to, and whether there the [`Loop::Avx512`] should go on.
    type Output = (Cursor, bool);

    #[inline(always)]
    fn run<const BEST: bool>(self) -> (Cursor, bool) {
        // Not moved to a place of its own: it has just been written, by halves of what a copy would read at once.
        let (mut cursor, bounds) = (self.cursor, &self.bounds);
        if BEST {
            // SAFETY: the output from `cursor.to` to its end, which a sequence of the loop `Avx512` may have come close to.
            unsafe { mark_initialised(cursor.to, distance(cursor.to, bounds.full.wrapping_add(WRITE))) };
        }
        let (mut next, mut count) =
            if BEST && bounds.many == usize::MAX { I::FIRST } else { (Loop::General, BATCH) };
        loop {
            // SAFETY: `middle` has made place and bounds of one input and one output.
            let batch = unsafe {
                match next {
                    Loop::Far if BEST && I::IS_LZ4 => batch::<I, BEST, FAR>(&mut cursor, bounds, count),
                    Loop::Repetitive if I::IS_LZ4 => batch::<I, BEST, REPETITIVE>(&mut cursor, bounds, count),
                    Loop::Near if BEST => batch::<I, BEST, NEAR>(&mut cursor, bounds, count),
                    Loop::FewNear if BEST => batch::<I, BEST, FEW_NEAR>(&mut cursor, bounds, count),
                    Loop::Short if BEST => batch::<I, BEST, SHORT>(&mut cursor, bounds, count),
                    _ => batch::<I, BEST, GENERAL>(&mut cursor, bounds, count),
                }
            };
            count = BATCH;
            match batch {
                Some(Loop::Avx512) => return (cursor, true),
                Some(suitable) => next = suitable,
                None => return (cursor, false),
            }
        }
    }
}

/// Carries out `count` instructions and answers which loop suits what comes next, or `None` after the last.
///
/// # Safety
/// `cursor` lies in the input and output of `bounds`; everything before `cursor.to` has been written.
#[inline(always)]
unsafe fn batch<I: Instruction, const BEST: bool, const LOOP: u8>(
    cursor: &mut Cursor,
    bounds: &Bounds,
    count: usize,
) -> Option<Loop> {
    let first = cursor.from;
    // SAFETY: `middle` begins after four bytes, and each batch before this one has written 64 more.
    let tail = unsafe { if LOOP == NEAR { Tail::before(cursor.to) } else { Tail::NONE } };
    let mut counts = InstructionCounts { tail, close: 0, long: 0, literals: 0, waiting: 0 };
    let mut left = count;
    if BEST {
        aligned();
    }
    while left > 0 {
        left -= 1;
        if cursor.to >= bounds.enough {
            return None;
        }
        // SAFETY: compared just now, or where a step from before `last` has led.
        *cursor = unsafe { I::step::<BEST, LOOP>(*cursor, bounds, &mut counts) }?;
    }
    Some(I::suitable::<LOOP>(count, distance(first, cursor.from), &counts, bounds.many))
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
