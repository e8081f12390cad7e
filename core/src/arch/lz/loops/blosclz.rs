//! BloscLZ instructions: the steps of the [pointer loops](super).
//!
//! ```text
//! control = *from
//! control < 32                             copy control + 1 literals, 32 bytes at once
//! else length  = (control >> 5) + 2        7: plus bytes up to the first that is not 255
//!      distance = (control & 31) << 8 | byte, + 1; 8192: plus two bytes
//!      match up to 32 bytes                by the loop: byte shuffle, two registers, or the tail in a register
//!      longer match                        64 bytes at a time; more than 160 bytes: by a call
//! from, to = behind the instruction
//! ```

use super::step::{
    BATCH, Bounds, Cursor, FAR, Instruction, InstructionCounts, Loop, MEDIUM, NEAR, PLAIN, REPETITIVE,
    SPECIAL,
};
use super::step::{cold_path, distance, extended, far_match, large_match, near_match};
use crate::arch::copy::{LONG, copy8, copy16, copy32, early, load8, load16, store16};
use crate::arch::lz::matches::{match_beyond32, match16_by_halves, match32};
use crate::arch::lz::tail::{BEYOND, Tail};
use core::hint::select_unpredictable;

/// Instructions of a BloscLZ stream after the first: literals, or a near or far match.
pub(super) struct BloscLz;

/// BloscLZ matches of a distance up to this may read what has not reached the cache yet.
const RECENT: usize = 64;

/// What [`InstructionCounts::waits`] adds up, by distance: in its lowest byte matches that may have to wait and can be made of a
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

/// See [`WAITS`].
#[inline(always)]
fn waits(back: usize) -> u32 {
    WAITS.get(back.min(WAITS.len() - 1)).copied().unwrap_or(0)
}

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
        // SAFETY: `READ` and `WRITE` bytes are there: for a match of at most 8 bytes. Longer ones are measured, and so
        // are the bytes that continue their length.
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
        // SAFETY: see above.
        unsafe { BloscLz::any::<true>(cursor, bounds) }.unwrap_or(refused)
    }
}

impl Instruction for BloscLz {
    /// A step leads to four bytes after `last` at most: a byte before it, one of length, three of distance.
    /// From there up to 32 literals after their count.
    const READ: usize = 40;

    const FIRST: (Loop, usize) = (Loop::General, BATCH);

    #[cfg(all(feature = "std", target_arch = "x86_64"))]
    const HAS_WIDE: bool = false;

    /// `Near` where most matches would wait (every other instruction is a match), or where some would and few are nearer, as
    /// in items of 8 bytes without a filter.
    #[inline(always)]
    fn suitable<const LOOP: u8>(batch: usize, _: usize, counts: &InstructionCounts, _: usize) -> Loop {
        let [stalling, recent, near, _] = counts.waits.to_le_bytes().map(usize::from);
        let again = recent > batch / 8 * 3;
        if stalling > batch / 8 * 3 || (!again && stalling > batch / 12 && near < batch / 32) {
            Loop::Near
        } else if counts.far > batch / 16 {
            Loop::Far
        } else if again {
            Loop::Repetitive
        } else if stalling + near <= batch / 32 {
            if (LOOP == PLAIN || LOOP == SPECIAL) && counts.long <= batch / 16 {
                Loop::Special
            } else {
                Loop::Plain
            }
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
        let Cursor { from, to } = cursor;
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
                if LOOP == NEAR {
                    if control < 16 {
                        let bytes = load16(from.add(1));
                        store16(to, bytes);
                        counts.tail = counts.tail.then(bytes, control + 1);
                    } else {
                        copy32(from.add(1), to);
                        counts.tail = Tail::before(to_next);
                    }
                } else {
                    copy32(from.add(1), to);
                }
                return Some(Cursor { from: next, to: to_next });
            }
            if from >= bounds.last {
                return None;
            }
            if !BEST {
                return BloscLz::any::<false>(cursor, bounds);
            }
            if LOOP == NEAR && control < 7 << 5 {
                // A short match, as most are: a guess tells where the next instruction is.
                let raw = ((control & 31) << 8) + usize::from(*from.add(1));
                let source = to.wrapping_sub(raw);
                if raw < FAR_FORM - 1 && source > bounds.start {
                    let (back, len) = (raw + 1, (control >> 5) + 2);
                    let bytes = counts.tail.any(source.sub(1), back);
                    counts.waits += waits(back);
                    store16(to, bytes);
                    counts.tail = counts.tail.then(bytes, len);
                    return Some(Cursor { from: from.add(2), to: to.add(len) });
                }
            }
            if LOOP == SPECIAL {
                if control < 7 << 5 {
                    let raw = ((control & 31) << 8) + usize::from(*from.add(1));
                    let source = to.wrapping_sub(raw);
                    if (7..FAR_FORM - 1).contains(&raw) && source > bounds.start {
                        copy8(source.sub(1), to);
                        counts.waits += waits(raw + 1);
                        return Some(Cursor { from: from.add(2), to: to.add((control >> 5) + 2) });
                    }
                }
                cold_path();
            }
            // Control, a byte that continues a length of 7, a distance, two bytes that continue one of 8191.
            let word = load8(from);
            let continued = control >= 7 << 5;
            if LOOP == PLAIN || LOOP == SPECIAL {
                counts.long += usize::from(continued);
            }
            let shift = if continued { 8 } else { 0 };
            let tail = word >> 8;
            let len = (control >> 5) + 2 + (tail & !(u64::MAX << shift)) as usize;
            let rest = tail >> shift;
            // One less than the distance.
            let mut raw = ((control & 31) << 8) + (rest as usize & 255);
            let mut next = from.add(2 + usize::from(continued));
            let extension = usize::from(((rest >> 8) as u16).swap_bytes());
            if LOOP == FAR {
                let is_far = raw >= FAR_FORM - 1;
                raw += select_unpredictable(is_far, extension, 0);
                // The next instruction waits for this one's size: every sum is made before the choice.
                let [two, three, four, five] = [2, 3, 4, 5].map(|n| early(from.add(n)));
                let near = select_unpredictable(!word & 0xff1f == 0, four, two);
                let longer = select_unpredictable(!word & 0x00ff_001f == 0, five, three);
                next = select_unpredictable(continued, longer, near);
                counts.far += usize::from(is_far);
            } else if raw >= FAR_FORM - 1 {
                raw += extension;
                next = next.add(2);
                counts.far += 1;
            }
            let source = to.wrapping_sub(raw);
            if source <= bounds.start {
                return None;
            }
            let (back, room) = (raw + 1, distance(to, bounds.full));
            if LOOP == NEAR && len <= 16 {
                let bytes = counts.tail.any(source.sub(1), back);
                counts.waits += waits(back);
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
                if LOOP == NEAR {
                    counts.tail = Tail::before(to.add(len));
                }
                return Some(Cursor { from: next, to: to.add(len) });
            }
            counts.waits += waits(back);
            if LOOP == REPETITIVE && len <= 16 {
                match16_by_halves(source.sub(1), to, back);
            } else if (LOOP == PLAIN || LOOP == SPECIAL || LOOP == FAR) && back >= 16 {
                let source = source.sub(1);
                copy16(source, to);
                copy16(source.add(16), to.add(16));
            } else {
                match32(source.sub(1), to, back);
            }
            if len > 32 {
                match_beyond32(to, back, len);
            }
            if LOOP == NEAR {
                counts.tail = Tail::before(to.add(len));
            }
            Some(Cursor { from: next, to: to.add(len) })
        }
    }
}
