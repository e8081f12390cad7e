//! LZ4 sequences: the steps of the [pointer loops](super).
//!
//! ```text
//! token = *from                            literals << 4 | match length - 4, each continued in bytes where it is 15
//! copy the literals                        16 bytes at once; 15 and more: `literals`, or `many` by a call
//! distance = u16 behind the literals
//! short match, up to 16 bytes              by the loop: byte shuffle, two words, or the tail in a register
//! longer match                             `guessed` by branches, or `long` by a call
//! from, to = behind the sequence
//! ```

use super::step::{
    BATCH, Bounds, Cursor, FAR, FEW_NEAR, GENERAL, Instruction, InstructionCounts, Loop, MEDIUM, NEAR,
    REPETITIVE, SHORT, WRITE,
};
use super::step::{cold_path, distance, extended, far_match, large_match, near_match};
use crate::arch::copy::{LONG, SLACK, STRIDE, copy_library, copy_on, copy8, early, load8, load16, store16};
use crate::arch::lz::matches::{match_beyond32, match16, match16_by_halves, match32};
use crate::arch::lz::tail::{BEYOND, Tail};

/// Sequences of an LZ4 block: token, literals, distance, each length continued where it is 15.
pub(super) struct Lz4;

impl Lz4 {
    /// The match of a sequence: its distance is at `cursor.from`.
    ///
    /// # Safety
    /// From `cursor.to` on, `SLACK` bytes of output are there; everything before it has been written. `cursor.from` is in the
    /// input.
    #[inline(always)]
    unsafe fn finish<const BEST: bool>(cursor: Cursor, bounds: &Bounds, token: u8) -> Option<Cursor> {
        // The last sequence has no match.
        if cursor.from >= bounds.last {
            return None;
        }
        // SAFETY: three bytes are there, the last at most two after `last`: the next step begins there or before.
        let back = usize::from(u16::from_le(unsafe { cursor.from.cast::<u16>().read_unaligned() }));
        // SAFETY: `from < bounds.last`, compared above, and at least two bytes of input lie behind `last`.
        let from = unsafe { cursor.from.add(2) };
        let short = usize::from(token & 15);
        let (len, from) = if short > 12 {
            let (mut len, mut from) = (short + 4, from);
            if short == 15 {
                // SAFETY: `from` is in the input; everything before `cursor.to` has been written.
                (len, from) = unsafe { extended(from, bounds, len) }?;
            }
            // SAFETY: everything before `cursor.to` has been written; `far_match` checks distance and length itself.
            if !unsafe { far_match::<BEST>(bounds, cursor.to, back, len) } {
                return None;
            }
            (len, from)
        } else {
            // SAFETY: there is room for a short match.
            if !unsafe { near_match::<false>(bounds.start, cursor.to, back) } {
                return None;
            }
            (short + 4, from)
        };
        // SAFETY: the match was there and had room.
        Some(Cursor { from, to: unsafe { cursor.to.add(len) } })
    }
}

/// The longest match without a byte of length, and longer ones, by words.
///
/// # Safety
/// 18 bytes that may be read and written, `from` at least 8 before `to`.
#[inline(always)]
unsafe fn copy18(from: *const u8, to: *mut u8) {
    // SAFETY: by the contract 18 bytes may be read and written; a load ends at or before `to`, as `from` lies 8 bytes before
    // it.
    unsafe {
        copy8(from, to);
        copy8(from.add(8), to.add(8));
        core::ptr::copy_nonoverlapping(from.add(16), to.add(16), 2);
    }
}

impl Lz4 {
    /// 15 literals or more: the first byte that continues their count is at `cursor.from`. They end before `last`.
    ///
    /// # Safety
    /// As for a step.
    #[inline(always)]
    unsafe fn literals(cursor: Cursor, bounds: &Bounds) -> Option<Cursor> {
        let Cursor { from, to } = cursor;
        // SAFETY: there is a byte after the token. The literals end before `last`, and what is read and written behind
        // them by 64 bytes at a time before the ends of input and output.
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
        // SAFETY: the conditions are those of `literals`, after which `cursor` is where `finish` begins; `target_feature`
        // enables what `BEST` stands for.
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

    /// The match of a sequence, its distance at `cursor.from`, by branches on whether it is short and, but in the loop
    /// [`Loop::Short`], whether it is far. With `AFTER_MANY` 15 literals or more come before it.
    ///
    /// # Safety
    /// As for a step of [`Loop::Far`] after its literals, `cursor.from` before `bounds.last`.
    #[inline(always)]
    unsafe fn guessed<const AFTER_MANY: bool, const LOOP: u8>(
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
                if LOOP == SHORT && short <= 12 {
                    if back == 0 {
                        return None;
                    }
                    match16(source, to, back);
                } else if back >= 8 {
                    // The shortest match by itself: items often repeat the last such match, and a load that takes in the
                    // first literals behind that one would wait for both to reach the cache.
                    if AFTER_MANY {
                        core::ptr::copy_nonoverlapping(source, to, 4);
                        copy8(source.add(4), to.add(4));
                        copy8(source.add(12), to.add(12));
                    } else {
                        copy18(source, to);
                    }
                } else {
                    if back == 0 {
                        return None;
                    }
                    match32(source, to, back);
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
        if counts.close > batch / 4 * 3 {
            Loop::Near
        } else if counts.long + counts.literals > many {
            Loop::Avx512
        } else if counts.long <= 3 * few
            && bytes <= 3 * batch + few + if counts.long > few { counts.long } else { 0 }
        {
            Loop::Repetitive
        } else if counts.long > few {
            if counts.close > few { Loop::Short } else { Loop::Far }
        } else if LOOP != REPETITIVE && counts.close <= few {
            if counts.literals > few { Loop::Far } else { Loop::FewNear }
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
        // distance and a length; more have been measured, and leave as many bytes as those take.
        unsafe {
            let Cursor { mut from, mut to } = cursor;
            let token = *from;
            let mut after = early(from.add(3));
            from = from.add(1);
            if LOOP != REPETITIVE || token >= 16 {
                let count = usize::from(token >> 4);
                if (LOOP == REPETITIVE && BEST || LOOP == FEW_NEAR) && count == 15 {
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
                    if LOOP == FAR || LOOP == SHORT {
                        // They end before `last`.
                        return Lz4::guessed::<true, LOOP>(Cursor { from, to }, bounds, token, counts);
                    }
                    after = from.add(2);
                    if LOOP == NEAR {
                        counts.tail = Tail::before(to);
                    }
                }
            }
            if !BEST {
                return Lz4::finish::<false>(Cursor { from, to }, bounds, token);
            }
            // The last sequence has no match.
            if from >= bounds.last {
                return None;
            }
            if LOOP == FAR || LOOP == SHORT {
                return Lz4::guessed::<false, LOOP>(Cursor { from, to }, bounds, token, counts);
            }
            let word = load8(from);
            let back = word as usize & 0xffff;
            let source = to.wrapping_sub(back);
            if (back == 0 && LOOP != FEW_NEAR) || source < bounds.start {
                return None;
            }
            let short = usize::from(token & 15);
            if LOOP == FEW_NEAR {
                if short == 15 || back < 8 {
                    cold_path();
                    counts.close += usize::from(back < 8);
                    counts.long += usize::from(short == 15);
                    let cursor = Lz4::long(Cursor { from, to }, bounds, token);
                    return (!cursor.from.is_null()).then_some(cursor);
                }
                copy18(source, to);
                return Some(Cursor { from: after, to: to.add(short + 4) });
            }
            if LOOP == NEAR {
                if short > 12 {
                    let cursor = Lz4::guessed::<false, LOOP>(Cursor { from, to }, bounds, token, counts)?;
                    counts.tail = Tail::before(cursor.to);
                    return Some(cursor);
                }
                let bytes = if back < BEYOND { counts.tail.near(back) } else { load16(source) };
                counts.close += usize::from(back < BEYOND);
                store16(to, bytes);
                counts.tail = counts.tail.then(bytes, short + 4);
                return Some(Cursor { from: after, to: to.add(short + 4) });
            }
            if LOOP == REPETITIVE && short > 12 {
                cold_path();
                counts.long += 1;
                let cursor = Lz4::long(Cursor { from, to }, bounds, token);
                return (!cursor.from.is_null()).then_some(cursor);
            }
            if short > 12 {
                counts.long += 1;
                let cursor = Lz4::long(Cursor { from, to }, bounds, token);
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
