//! LZ4 sequences: the steps of the [pointer loops](super).
//!
//! ```text
//! token = *from                            literals << 4 | match length - 4, each continued in bytes where it is 15
//! copy the literals                        16 bytes at once; 15 and more: `literals`
//! distance = u16 behind the literals
//! match                                    in the way of the loop
//! from, to = behind the sequence
//!
//! loop General     up to 16 bytes without a branch on the distance; longer ones by a call
//!      Far         by branches on whether it is short and whether it is far (`guessed`)
//!      Repetitive  a branch on whether there are literals at all; 15 and more, and long matches, by a call
//!      Near        up to 16 bytes of the register that holds the end of the output, longer ones as in Far
//! ```
//! - A wrong guess costs up to twenty cycles, arithmetic two or three: `General` is for streams whose distances vary.
//! - In `Far` nearly every branch is predicted, and the address of the next sequence then waits for no load.
//! - In `Near` items of 4 or 8 bytes repeat parts of the items just before. A load of what two stores have just written waits
//!   for both to reach the cache; without this loop time stamps took 2.2 times as long.
//! - `early` keeps sums apart, so that the address of the next sequence is ready before its literals are copied.
//!
//! Measured in `docs/optimization-notes.md`, "Loops of LZ decoders".

use super::step::{
    BATCH, Bounds, Cursor, FAR, GENERAL, Instruction, InstructionCounts, Loop, MEDIUM, NEAR, REPETITIVE,
    WRITE, cold_path, distance, extended, far_match, large_match, near_match,
};
use crate::arch::copy::{LONG, SLACK, STRIDE, copy_library, copy_on, copy8, early, load8, load16, store16};
use crate::arch::lz::matches::{match_beyond32, match16, match16_by_halves, match32};
use crate::arch::lz::tail::{BEYOND, Tail};

/// Sequences of an LZ4 block: token, literals, distance, each length continued where it is 15.
pub(super) struct Lz4;

/// The longest match without a byte of length, and shorter ones, by words.
///
/// # Safety
/// 18 bytes that may be read and written, `from` at least 8 before `to`.
#[inline(always)]
unsafe fn copy18(from: *const u8, to: *mut u8) {
    // SAFETY: 8, 8 and 2 bytes of the 18; each ends at most where the copy before it has written to.
    unsafe {
        copy8(from, to);
        copy8(from.add(8), to.add(8));
        core::ptr::copy_nonoverlapping(from.add(16), to.add(16), 2);
    }
}

impl Lz4 {
    /// The match of a sequence, of any length: its distance is at `cursor.from`.
    ///
    /// # Safety
    /// As for a step after its literals: `SLACK` bytes of output from `cursor.to` on, everything before it written.
    #[inline(always)]
    unsafe fn finish<const BEST: bool>(cursor: Cursor, bounds: &Bounds, token: u8) -> Option<Cursor> {
        let Cursor { from, to } = cursor;
        // The last sequence has no match.
        if from >= bounds.last {
            return None;
        }
        // SAFETY: three bytes follow `from`, which is before `last`: `READ` bytes may be read from there on. A short match has
        // the `SLACK` bytes of room; `far_match` measures a longer one.
        unsafe {
            let back = usize::from(u16::from_le(from.cast::<u16>().read_unaligned()));
            let from = from.add(2);
            let short = usize::from(token & 15);
            if short <= 12 {
                return near_match::<false>(bounds.start, to, back)
                    .then(|| Cursor { from, to: to.add(short + 4) });
            }
            let (len, from) = if short == 15 { extended(from, bounds, 19)? } else { (short + 4, from) };
            far_match::<BEST>(bounds, to, back, len).then(|| Cursor { from, to: to.add(len) })
        }
    }

    /// 15 literals or more: the first byte that continues their count is at `cursor.from`. They end before `last`.
    ///
    /// # Safety
    /// As for a step.
    #[inline(always)]
    unsafe fn literals(cursor: Cursor, bounds: &Bounds) -> Option<Cursor> {
        let Cursor { from, to } = cursor;
        // SAFETY: there is a byte after the token. The literals end before `last`, and what is read and written behind
        // them by 64 bytes at a time before the ends of input and output: both are compared before the copy.
        unsafe {
            let (count, from) = extended(from, bounds, 15)?;
            if from >= bounds.last
                || count > distance(from, bounds.last).saturating_sub(STRIDE - Self::READ)
                || count + STRIDE > distance(to, bounds.full) + WRITE
            {
                return None;
            }
            // Where sequences have dozens of literals, their number is not predictable: no branch depends on it up to 64.
            if count > LONG {
                copy_library(from, to, count);
            } else {
                copy_on(from, to, count);
            }
            Some(Cursor { from: from.add(count), to: to.add(count) })
        }
    }

    /// A sequence of 15 literals or more, and its match, by a call: see [`long`](Self::long).
    ///
    /// # Safety
    /// As for [`literals`](Self::literals), and with the instructions that `BEST` stands for.
    #[inline(never)]
    #[cfg_attr(target_arch = "x86_64", target_feature(enable = "bmi1,bmi2,lzcnt,ssse3"))]
    unsafe fn many(cursor: Cursor, bounds: &Bounds, token: u8) -> Cursor {
        let refused = Cursor { from: core::ptr::null(), ..cursor };
        // SAFETY: the conditions are those of `literals`, which leaves `finish` its room; `target_feature` enables what
        // `BEST` stands for.
        unsafe { Lz4::literals(cursor, bounds).and_then(|cursor| Lz4::finish::<true>(cursor, bounds, token)) }
            .unwrap_or(refused)
    }

    /// [`finish`](Self::finish) by a call, so that the loop keeps its registers; `from` is null instead of `None`, so
    /// that they hold the answer.
    ///
    /// # Safety
    /// As for [`finish`](Self::finish), and with the instructions that `BEST` stands for.
    #[inline(never)]
    #[cfg_attr(target_arch = "x86_64", target_feature(enable = "bmi1,bmi2,lzcnt,ssse3"))]
    unsafe fn long(cursor: Cursor, bounds: &Bounds, token: u8) -> Cursor {
        let refused = Cursor { from: core::ptr::null(), ..cursor };
        // SAFETY: the conditions are those of `finish`, and `target_feature` enables what `BEST` stands for.
        unsafe { Lz4::finish::<true>(cursor, bounds, token) }.unwrap_or(refused)
    }

    /// The match of a sequence, its distance at `cursor.from`, by branches on whether it is short and whether it is far.
    /// With `AFTER_MANY` 15 literals or more come before it.
    ///
    /// # Safety
    /// As for a step of [`Loop::Far`] after its literals, `cursor.from` before `bounds.last`.
    #[inline(always)]
    unsafe fn guessed<const AFTER_MANY: bool>(
        cursor: Cursor,
        bounds: &Bounds,
        token: u8,
        counts: &mut InstructionCounts,
    ) -> Option<Cursor> {
        let Cursor { from, to } = cursor;
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
                counts.close += usize::from(back < BEYOND);
                if back < 8 {
                    if back == 0 {
                        return None;
                    }
                    match32(source, to, back);
                } else if AFTER_MANY {
                    // The first four bytes by themselves: items often repeat the last shortest match. A load of that match and of
                    // the literals behind it would wait for both stores to reach the cache.
                    core::ptr::copy_nonoverlapping(source, to, 4);
                    copy8(source.add(4), to.add(4));
                    copy8(source.add(12), to.add(12));
                } else {
                    copy18(source, to);
                }
                return Some(Cursor { from: from.add(2), to: to.add(short + 4) });
            }
            counts.long += 1;
            let len = usize::from(*from.add(2)) + 19;
            let room = distance(to, bounds.full.wrapping_add(WRITE - SLACK));
            if len > MEDIUM || MEDIUM > room || back == 0 {
                if len > LONG || len > room || back == 0 {
                    let cursor = Lz4::long(cursor, bounds, token);
                    return (!cursor.from.is_null()).then_some(cursor);
                }
                large_match(to, back, len);
                return Some(Cursor { from: from.add(3), to: to.add(len) });
            }
            if back >= 32 {
                copy_on(source, to, len);
            } else {
                match32(source, to, back);
                if len > 32 {
                    match_beyond32(to, back, len);
                }
            }
            Some(Cursor { from: from.add(3), to: to.add(len) })
        }
    }

    /// The match of a sequence in the way of the loops `General`, `Repetitive` and `Near`; `after` is two bytes after
    /// `cursor.from`.
    ///
    /// # Safety
    /// As for a step of such a loop with `BEST` after its literals, `cursor.from` before `bounds.last`.
    #[inline(always)]
    unsafe fn matched<const LOOP: u8>(
        cursor: Cursor,
        after: *const u8,
        bounds: &Bounds,
        token: u8,
        counts: &mut InstructionCounts,
    ) -> Option<Cursor> {
        let Cursor { from, to } = cursor;
        // SAFETY: `READ` and `WRITE` bytes are there, for a distance and 16 bytes of match; `guessed` and `long` measure longer
        // ones. A match begins at or after `start` and before `to`, as compared here. `BEST` stands for the byte shuffle.
        unsafe {
            let back = load8(from) as usize & 0xffff;
            let source = to.wrapping_sub(back);
            if back == 0 || source < bounds.start {
                return None;
            }
            let short = usize::from(token & 15);
            if LOOP == NEAR {
                if short > 12 {
                    let cursor = Lz4::guessed::<false>(cursor, bounds, token, counts)?;
                    counts.tail = Tail::before(cursor.to);
                    return Some(cursor);
                }
                let bytes = if back < BEYOND { counts.tail.near(back) } else { load16(source) };
                counts.close += usize::from(back < BEYOND);
                store16(to, bytes);
                counts.tail = counts.tail.then(bytes, short + 4);
                return Some(Cursor { from: after, to: to.add(short + 4) });
            }
            if short > 12 {
                if LOOP == REPETITIVE {
                    cold_path();
                }
                counts.long += 1;
                let cursor = Lz4::long(cursor, bounds, token);
                return (!cursor.from.is_null()).then_some(cursor);
            }
            if LOOP == GENERAL {
                counts.close += usize::from(back < BEYOND);
                match16(source, to, back);
            } else {
                match16_by_halves(source, to, back);
            }
            Some(Cursor { from: after, to: to.add(short + 4) })
        }
    }
}

impl Instruction for Lz4 {
    /// A step leads to two bytes after `last` at most: one has a distance and one byte of length. From there a
    /// token and 16 bytes for literals, or two bytes of length.
    const READ: usize = 20;

    const FIRST: (Loop, usize) = (Loop::Far, BATCH / 4);

    const IS_LZ4: bool = true;

    #[inline(always)]
    fn suitable<const LOOP: u8>(batch: usize, bytes: usize, counts: &InstructionCounts, many: usize) -> Loop {
        let few = batch / 16;
        let is_long = counts.long > few;
        if counts.close > batch / 4 * 3 {
            Loop::Near
        } else if counts.long + counts.literals > many {
            Loop::Avx512
        } else if counts.long <= 3 * few && bytes <= 3 * batch + few + if is_long { counts.long } else { 0 } {
            // Three bytes are a sequence without literals.
            Loop::Repetitive
        } else if is_long || (LOOP != REPETITIVE && counts.close <= few) {
            Loop::Far
        } else {
            Loop::General
        }
    }

    #[inline(always)]
    unsafe fn step<const BEST: bool, const LOOP: u8>(
        cursor: Cursor,
        bounds: &Bounds,
        counts: &mut InstructionCounts,
    ) -> Option<Cursor> {
        // SAFETY: `READ` and `WRITE` bytes are there. Up to 14 literals are copied as 16 bytes and followed by a
        // distance and a length; `literals` measures more, and leaves as many bytes as those take.
        unsafe {
            let Cursor { mut from, mut to } = cursor;
            let token = *from;
            let mut after = early(from.add(3));
            from = from.add(1);
            if LOOP != REPETITIVE || token >= 16 {
                let count = usize::from(token >> 4);
                if LOOP == REPETITIVE && BEST && count == 15 {
                    cold_path();
                    counts.literals += 1;
                    let cursor = Lz4::many(Cursor { from, to }, bounds, token);
                    return (!cursor.from.is_null()).then_some(cursor);
                }
                if count < 15 {
                    let bytes = load16(from);
                    store16(to, bytes);
                    if LOOP == NEAR {
                        counts.tail = counts.tail.then(bytes, count);
                    }
                    (from, to, after) = (from.add(count), to.add(count), after.add(count));
                } else {
                    counts.literals += 1;
                    Cursor { from, to } = Lz4::literals(Cursor { from, to }, bounds)?;
                    if LOOP == FAR {
                        // They end before `last`.
                        return Lz4::guessed::<true>(Cursor { from, to }, bounds, token, counts);
                    }
                    after = from.add(2);
                    if LOOP == NEAR {
                        counts.tail = Tail::before(to);
                    }
                }
            }
            let cursor = Cursor { from, to };
            if !BEST {
                return Lz4::finish::<false>(cursor, bounds, token);
            }
            // The last sequence has no match.
            if from >= bounds.last {
                return None;
            }
            if LOOP == FAR {
                Lz4::guessed::<false>(cursor, bounds, token, counts)
            } else {
                Lz4::matched::<LOOP>(cursor, after, bounds, token, counts)
            }
        }
    }
}
