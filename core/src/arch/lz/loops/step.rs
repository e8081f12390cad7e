//! What the loops of both formats share: places and bounds, the trait of an instruction, matches, continued lengths.

use super::super::tail::Tail;
use crate::arch::copy::{LONG, SLACK, copy8, load8, store16};
use crate::arch::lz::matches::{repeated_word, wide_match};

/// Bytes of output that an instruction with short lengths may write: 14 literals and a match of 16 bytes, or of
/// none and `SLACK` more.
pub(super) const WRITE: usize = 14 + SLACK;

/// Longer matches are worth a call. A length that is continued twice is among them, and more than [`LONG`].
pub(super) const MEDIUM: usize = 160;

/// Where a loop is in its input and output.
#[derive(Clone, Copy)]
pub(super) struct Cursor {
    /// Next byte of the input.
    pub(super) from: *const u8,
    /// Next byte of the output.
    pub(super) to: *mut u8,
}

/// What does not change in a loop.
#[derive(Clone, Copy)]
pub(super) struct Bounds {
    /// Start of the output.
    pub(super) start: *mut u8,
    /// The end of the stream, or [`Instruction::READ`] bytes before the end of what may be read.
    pub(super) last: *const u8,
    /// `WRITE` bytes before the end of the output.
    pub(super) full: *mut u8,
    /// Where the loop ends: `full`, or what is wanted.
    pub(super) enough: *mut u8,
    /// So many long lengths of a batch, and more, are worth [`Loop::Wide`].
    pub(super) many: usize,
}

/// One kind of stream: how an instruction is carried out.
pub(super) trait Instruction {
    /// Bytes from `bounds.last` on that an instruction and its copies may read.
    const READ: usize;

    /// The loop to begin with, and how many instructions come before the first look at which kind there is most of: of
    /// short streams many are carried out by then. Without a byte shuffle it is `General` and a whole [`BATCH`].
    const FIRST: (Loop, usize);

    /// Whether `wide::sequences` carries out these instructions.
    #[cfg(all(feature = "std", target_arch = "x86_64"))]
    const HAS_WIDE: bool;

    /// Which loop suits what comes next, after `LOOP` has carried out `batch` instructions that took `bytes` of input and
    /// counted `counts` (nothing without a byte shuffle); [`Loop::Wide`] where more than `many` lengths are long.
    fn suitable<const LOOP: u8>(batch: usize, bytes: usize, counts: &InstructionCounts, many: usize) -> Loop;

    /// Carries out the instruction at `cursor.from`, or answers `None` if its literals do not end, or its match
    /// does not begin, before `bounds.last`. Counts what only some streams have; `LOOP` is the loop.
    ///
    /// # Safety
    /// `cursor` at most where a step from before `bounds.last` leads, and not after `bounds.full`; everything
    /// before `cursor.to` has been written.
    unsafe fn step<const BEST: bool, const LOOP: u8>(
        cursor: Cursor,
        bounds: &Bounds,
        counts: &mut InstructionCounts,
    ) -> Option<Cursor>;
}

/// Instructions of a batch that only some streams have.
pub(super) struct InstructionCounts {
    /// What the loop [`Loop::Near`] makes near matches of.
    pub(super) tail: Tail,
    /// LZ4: short matches of a distance that a [`Tail`] has, of those below 8 in [`Loop::Plain`].
    pub(super) close: usize,
    /// LZ4: matches longer than 16 bytes. BloscLZ: longer than 8, where a loop suits the others.
    pub(super) long: usize,
    /// LZ4: 15 literals and more.
    pub(super) literals: usize,
    /// BloscLZ: sum of what `blosclz::waits` says of each match.
    pub(super) waits: u32,
    /// BloscLZ: matches whose distance takes two bytes more.
    pub(super) far: usize,
}

/// No distance is longer: taken from a higher address, none wraps around.
pub(super) const REACH: usize = 1 << 17;

/// The loops over the instructions of a stream: which suits the last [`BATCH`] instructions.
///
/// All but `General` and `Repetitive` need a byte shuffle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum Loop {
    /// No kind of instruction prevails.
    General,
    /// LZ4: nearly all matches are far, and some lengths are continued. BloscLZ: some distances take two bytes more.
    Far,
    /// LZ4: most sequences have no literals and take three bytes, a few are longer. BloscLZ: many matches repeat what few
    /// instructions before them have made.
    Repetitive,
    /// LZ4: nearly all matches are far, and few lengths are continued. BloscLZ: few matches are near.
    Plain,
    /// Most matches are short, near, and follow each other: they are made of a [`Tail`].
    Near,
    /// LZ4: some matches are longer than 16 bytes, some near. BloscLZ: few matches are near, and few longer than 8 bytes.
    Special,
    /// LZ4: many lengths are long, and the level has registers of 64 bytes. It is not one of those that `mod.rs` runs by
    /// batches.
    Wide,
}

// The loops as arguments of functions: the compiler takes no enum there.
pub(super) const GENERAL: u8 = Loop::General as u8;
pub(super) const FAR: u8 = Loop::Far as u8;
pub(super) const REPETITIVE: u8 = Loop::Repetitive as u8;
pub(super) const PLAIN: u8 = Loop::Plain as u8;
pub(super) const NEAR: u8 = Loop::Near as u8;
pub(super) const SPECIAL: u8 = Loop::Special as u8;

/// Instructions between two looks at which kind there is most of.
pub(super) const BATCH: usize = 64;

/// Marks a branch as rare. The compiler lays its code out of the way, so that short instructions take no jump but the one back
/// to the next instruction.
#[cold]
#[inline(always)]
pub(super) fn cold_path() {}

/// `b - a` for pointers into one buffer, `a` not after `b`.
#[inline(always)]
pub(super) fn distance(a: *const u8, b: *const u8) -> usize {
    (b as usize).wrapping_sub(a as usize)
}

/// A match of at most 16 bytes, or of at most 8 with `SHORT`. `false`: nothing is done.
///
/// # Safety
/// 16 bytes of output from `to` on; everything from `start` to `to` has been written.
#[inline(always)]
pub(super) unsafe fn near_match<const SHORT: bool>(start: *mut u8, to: *mut u8, back: usize) -> bool {
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
pub(super) unsafe fn far_match<const BEST: bool>(
    bounds: &Bounds,
    to: *mut u8,
    back: usize,
    len: usize,
) -> bool {
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
pub(super) unsafe fn large_match(to: *mut u8, back: usize, len: usize) {
    // SAFETY: the conditions are those of `wide_match`, and `target_feature` enables the byte shuffle.
    unsafe { wide_match::<true>(to, back, len) };
}

/// `len` and the bytes at `from` that continue it, and where they end. `None`: that is too near the input's end.
///
/// # Safety
/// There is a byte at `from`.
#[inline(always)]
pub(super) unsafe fn extended(from: *const u8, bounds: &Bounds, len: usize) -> Option<(usize, *const u8)> {
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
pub(super) unsafe fn much_extended(
    mut from: *const u8,
    last: *const u8,
    mut len: usize,
) -> Option<(usize, *const u8)> {
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
