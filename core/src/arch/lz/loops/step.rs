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
    /// Long lengths in a batch from which on [`Loop::Avx512`] is faster.
    pub(super) many: usize,
}

/// One kind of stream: how an instruction is carried out.
pub(super) trait Instruction {
    /// Bytes from `bounds.last` on that an instruction and its copies may read.
    const READ: usize;

    /// The loop to begin with, and how many instructions come before the first choice: of short streams many are carried out
    /// by then. Without a byte shuffle it is `General` and a whole [`BATCH`].
    const FIRST: (Loop, usize);

    /// Whether these are LZ4 sequences: which of the loops there are hangs on it, and builds need not contain the others.
    const IS_LZ4: bool;

    /// Which loop suits what comes next, after `LOOP` has carried out `batch` instructions that took `bytes` of input and
    /// counted `counts` (nothing without a byte shuffle); [`Loop::Avx512`] where more than `many` lengths are long.
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

/// What a loop counts in a batch, to tell which loop suits the next one.
pub(super) struct InstructionCounts {
    /// The end of the output, of which [`Loop::Near`] makes matches.
    pub(super) tail: Tail,
    /// Matches of a distance up to 16, the longest that a [`Tail`] has. Of LZ4 only those up to 18 bytes, and not in
    /// [`Loop::Repetitive`].
    pub(super) close: usize,
    /// LZ4: matches longer than 16 bytes. BloscLZ: longer than 8, in [`Loop::FewNear`] and [`Loop::Short`].
    pub(super) long: usize,
    /// LZ4: 15 literals and more.
    pub(super) literals: usize,
    /// BloscLZ: matches of a distance from 5 to 16, which load what has just been stored in pieces.
    pub(super) waiting: usize,
}

/// No distance is longer: taken from a higher address, none wraps around.
pub(super) const REACH: usize = 1 << 17;

/// The loops over the instructions of a stream. [`Instruction::suitable`] chooses one by the last [`BATCH`] instructions.
///
/// All but `General` and `Repetitive` need a byte shuffle, and `Avx512` needs registers of 64 bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum Loop {
    /// Distances vary.
    General,
    /// LZ4: nearly all matches are far, or some are longer than 16 bytes.
    Far,
    /// LZ4: most sequences have no literals and take three bytes.
    Repetitive,
    /// LZ4: three of four matches are short and near. BloscLZ: three of eight instructions are matches of a distance from 5 to
    /// 16, as in items of 8 bytes without a filter.
    Near,
    /// BloscLZ: at most one match in 32 instructions is near. LZ4: nearly all matches are far, and few lengths are continued.
    FewNear,
    /// BloscLZ: likewise, and at most one in 16 is longer than 8 bytes. LZ4: some matches are near, some longer than 16 bytes.
    Short,
    /// LZ4: one length in seven is long. `mod.rs` does not run it by batches like the others.
    Avx512,
}

// The loops as arguments of functions: the compiler takes no enum there.
pub(super) const GENERAL: u8 = Loop::General as u8;
pub(super) const FAR: u8 = Loop::Far as u8;
pub(super) const REPETITIVE: u8 = Loop::Repetitive as u8;
pub(super) const NEAR: u8 = Loop::Near as u8;
pub(super) const FEW_NEAR: u8 = Loop::FewNear as u8;
pub(super) const SHORT: u8 = Loop::Short as u8;

/// Instructions between two choices of a loop.
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
        // SAFETY: `from` is before `last`, and by the contract both lie in one input.
        let byte = unsafe { *from };
        from = from.wrapping_add(1);
        len = len.saturating_add(usize::from(byte));
        if byte != 255 {
            return Some((len, from));
        }
    }
    None
}
