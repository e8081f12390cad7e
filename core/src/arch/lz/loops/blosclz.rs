//! BloscLZ instructions: the steps of the [pointer loops](super).
//!
//! ```text
//! control = *from
//! control < 32                             copy control + 1 literals, 32 bytes at once
//! else length   = (control >> 5) + 2       7: plus bytes up to the first that is not 255
//!      distance = (control & 31) << 8 | byte, + 1; 8192: plus two bytes
//!      match up to 32 bytes                in the way of the loop
//!      longer match                        64 bytes at a time; more than 160 bytes: by a call
//! from, to = behind the instruction
//!
//! loop General     a match of up to 32 bytes is made without a branch on its distance or length
//!      FewNear     a match of a distance from 16 on is copied; the branch on that is predicted
//!      Near        matches of up to 16 bytes and 16 literals are made of and kept in a register ([`Tail`])
//!      Short       a match of up to 8 bytes and a distance from 8 on is copied by one word, others as in FewNear
//! ```
//! Whether a distance takes two bytes more is a branch: arithmetic in its place makes every instruction wait for the bytes of
//! the one before, and took 1.3 times as long in the mean (`docs/optimization-notes.md`, "Loops of LZ decoders").

use super::step::{
    BATCH, Bounds, Cursor, FEW_NEAR, Instruction, InstructionCounts, Loop, MEDIUM, NEAR, SHORT, cold_path,
    distance, extended, far_match, large_match, near_match,
};
use crate::arch::copy::{LONG, copy8, copy16, copy32, load8, load16, store16};
use crate::arch::lz::matches::{match_beyond32, match32};
use crate::arch::lz::tail::{BEYOND, Tail};

/// Instructions of a BloscLZ stream after the first: literals, or a near or far match.
pub(super) struct BloscLz;

/// The first distance of a BloscLZ match that needs the far form.
const FAR_FORM: usize = 8192;

impl BloscLz {
    /// The match at `cursor.from`, of any length.
    ///
    /// # Safety
    /// As for a step, from before `bounds.last`.
    #[inline(always)]
    unsafe fn any<const BEST: bool>(cursor: Cursor, bounds: &Bounds) -> Option<Cursor> {
        let Cursor { from, to } = cursor;
        // SAFETY: from before `bounds.last` `READ` bytes are there, and `WRITE` bytes from `to` on: enough for a match of at
        // most 8 bytes. `extended` and `far_match` measure the bytes that continue a length, and longer matches.
        unsafe {
            let control = usize::from(*from);
            let high = (control & 31) << 8;
            let back = high + usize::from(*from.add(1)) + 1;
            if control < 7 << 5 && back != FAR_FORM {
                let len = (control >> 5) + 2;
                if !near_match::<true>(bounds.start, to, back) {
                    return None;
                }
                return Some(Cursor { from: from.add(2), to: to.add(len) });
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
            if back == FAR_FORM {
                back += usize::from(u16::from_be(from.cast::<u16>().read_unaligned()));
                from = from.add(2);
            }
            far_match::<BEST>(bounds, to, back, len).then(|| Cursor { from, to: to.add(len) })
        }
    }

    /// [`any`](Self::any) by a call, so that the loop keeps its registers; `from` is null instead of `None`, so that
    /// they hold the answer.
    ///
    /// # Safety
    /// As for [`any`](Self::any), and with the instructions that `BEST` stands for.
    #[inline(never)]
    #[cfg_attr(target_arch = "x86_64", target_feature(enable = "bmi1,bmi2,lzcnt,ssse3"))]
    unsafe fn long(cursor: Cursor, bounds: &Bounds) -> Cursor {
        let refused = Cursor { from: core::ptr::null(), ..cursor };
        // SAFETY: the conditions are those of `any`, and `target_feature` enables what `BEST` stands for.
        unsafe { BloscLz::any::<true>(cursor, bounds) }.unwrap_or(refused)
    }

    /// The match at `cursor.from`, in the way of the loop `LOOP`.
    ///
    /// # Safety
    /// As for a step with `BEST`, from before `bounds.last`.
    #[inline(always)]
    unsafe fn matched<const LOOP: u8>(
        cursor: Cursor,
        bounds: &Bounds,
        counts: &mut InstructionCounts,
    ) -> Option<Cursor> {
        let Cursor { from, to } = cursor;
        // SAFETY: `READ` and `WRITE` bytes are there, for five bytes of input and a match of at most 32 bytes; longer ones
        // are measured against `room`. A match begins after `start`, compared before it is read.
        unsafe {
            let control = usize::from(*from);
            if LOOP == SHORT {
                if control < 7 << 5 {
                    let raw = ((control & 31) << 8) + usize::from(*from.add(1));
                    let source = to.wrapping_sub(raw);
                    if (7..FAR_FORM - 1).contains(&raw) && source > bounds.start {
                        copy8(source.sub(1), to);
                        counts.close += usize::from(raw < 16);
                        return Some(Cursor { from: from.add(2), to: to.add((control >> 5) + 2) });
                    }
                }
                cold_path();
            }
            // Control, a byte that continues a length of 7, a distance, two bytes that continue one of 8191.
            let word = load8(from);
            let continued = control >= 7 << 5;
            if LOOP == FEW_NEAR || LOOP == SHORT {
                counts.long += usize::from(continued);
            }
            let shift = if continued { 8 } else { 0 };
            let tail = word >> 8;
            let len = (control >> 5) + 2 + (tail & !(u64::MAX << shift)) as usize;
            let rest = tail >> shift;
            // One less than the distance.
            let mut raw = ((control & 31) << 8) + (rest as usize & 255);
            let mut next = from.add(2 + usize::from(continued));
            if raw >= FAR_FORM - 1 {
                raw += usize::from(((rest >> 8) as u16).swap_bytes());
                next = next.add(2);
            }
            let source = to.wrapping_sub(raw);
            if source <= bounds.start {
                return None;
            }
            let (back, room) = (raw + 1, distance(to, bounds.full));
            // Nearer ones are mostly runs, which `General` makes as fast.
            counts.waiting += usize::from((5..BEYOND).contains(&back));
            if LOOP == NEAR && len <= 16 {
                counts.close += usize::from(back < BEYOND);
                let bytes = if back < BEYOND { counts.tail.near(back) } else { load16(source.sub(1)) };
                store16(to, bytes);
                counts.tail = counts.tail.then(bytes, len);
                return Some(Cursor { from: next, to: to.add(len) });
            }
            if len > 32 && (len > MEDIUM || MEDIUM > room) {
                if len > LONG || len > room {
                    let cursor = BloscLz::long(cursor, bounds);
                    if cursor.from.is_null() {
                        return None;
                    }
                    if LOOP == NEAR {
                        counts.tail = Tail::before(cursor.to);
                    }
                    return Some(cursor);
                }
                large_match(to, back, len);
            } else {
                counts.close += usize::from(back < BEYOND);
                let source = source.sub(1);
                if (LOOP == FEW_NEAR || LOOP == SHORT) && back >= 16 {
                    copy16(source, to);
                    copy16(source.add(16), to.add(16));
                } else {
                    match32(source, to, back);
                }
                if len > 32 {
                    match_beyond32(to, back, len);
                }
            }
            if LOOP == NEAR {
                counts.tail = Tail::before(to.add(len));
            }
            Some(Cursor { from: next, to: to.add(len) })
        }
    }
}

impl Instruction for BloscLz {
    /// A step leads to four bytes after `last` at most: a byte before it, one of length, three of distance.
    /// From there up to 32 literals after their count.
    const READ: usize = 40;

    const FIRST: (Loop, usize) = (Loop::General, BATCH);

    const IS_LZ4: bool = false;

    #[inline(always)]
    fn suitable<const LOOP: u8>(batch: usize, _: usize, counts: &InstructionCounts, _: usize) -> Loop {
        if counts.waiting > batch / 8 * 3 {
            Loop::Near
        } else if counts.close > batch / 32 {
            Loop::General
        } else if (LOOP == FEW_NEAR || LOOP == SHORT) && counts.long <= batch / 16 {
            Loop::Short
        } else {
            Loop::FewNear
        }
    }

    #[inline(always)]
    unsafe fn step<const BEST: bool, const LOOP: u8>(
        cursor: Cursor,
        bounds: &Bounds,
        counts: &mut InstructionCounts,
    ) -> Option<Cursor> {
        let Cursor { from, to } = cursor;
        // SAFETY: `READ` and `WRITE` bytes are there, for 32 literals and their count. A match begins before `last`, as
        // compared here, and has the other conditions of a step.
        unsafe {
            let control = usize::from(*from);
            if control < 32 {
                let next = from.add(control + 2);
                // The last instruction is one of literals.
                if next >= bounds.last {
                    return None;
                }
                if LOOP == NEAR && control < 16 {
                    let bytes = load16(from.add(1));
                    store16(to, bytes);
                    counts.tail = counts.tail.then(bytes, control + 1);
                } else {
                    copy32(from.add(1), to);
                    if LOOP == NEAR {
                        counts.tail = Tail::before(to.add(control + 1));
                    }
                }
                return Some(Cursor { from: next, to: to.add(control + 1) });
            }
            if from >= bounds.last {
                return None;
            }
            if BEST {
                BloscLz::matched::<LOOP>(cursor, bounds, counts)
            } else {
                BloscLz::any::<false>(cursor, bounds)
            }
        }
    }
}
