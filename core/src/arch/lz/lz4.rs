//! LZ4 sequences: the steps of the loops in [`lz`](super).

use super::{BATCH, Bounds, Instruction, MEDIUM, OWN, Place, Seen, TAIL, WIDE_LOOP, WRITE};
use super::{aside, distance, extended, far_match, large_match, near_match};
use crate::arch::tail::{BEYOND, Tail};
use crate::arch::wide::{
    LONG, SLACK, STRIDE, copy_library, copy_on, copy8, early, load8, load16, match_beyond32, match16,
    match16_by_halves, match32, store16,
};

/// Sequences of an LZ4 block: token, literals, distance, each length continued where it is 15.
pub(super) struct Lz4;

/// The loop for long and short, near and far matches in no order.
const MIXED: u8 = OWN;

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

/// The longest match without a byte of length, and longer ones, by words.
///
/// # Safety
/// 18 bytes that may be read and written, `from` at least 8 before `to`.
#[inline(always)]
unsafe fn copy18(from: *const u8, to: *mut u8) {
    // SAFETY: see above.
    unsafe {
        copy8(from, to);
        copy8(from.add(8), to.add(8));
        core::ptr::copy_nonoverlapping(from.add(16), to.add(16), 2);
    }
}

impl Lz4 {
    /// 15 literals or more: the first byte that continues their count is at `place.from`. They end before `last`.
    ///
    /// # Safety
    /// As for a step.
    #[inline(always)]
    unsafe fn literals(place: Place, bounds: &Bounds) -> Option<Place> {
        let Place { from, to } = place;
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
            // Where literals come by the dozen, their number is anybody's guess: no branch up to 64.
            if count > LONG {
                copy_library(from, to, count);
            } else {
                copy_on(from, to, count);
            }
            Some(Place { from: from.add(count), to: to.add(count) })
        }
    }

    /// A sequence of 15 literals or more, and its match, by a call: see [`long`](Self::long).
    ///
    /// # Safety
    /// As for [`literals`](Self::literals), and with the instructions that `BEST` stands for.
    #[inline(never)]
    #[cfg_attr(target_arch = "x86_64", target_feature(enable = "bmi1,bmi2,lzcnt,ssse3"))]
    unsafe fn many(place: Place, bounds: &Bounds, token: u8) -> Place {
        let refused = Place { from: core::ptr::null(), ..place };
        // SAFETY: see above.
        unsafe { Lz4::literals(place, bounds).and_then(|place| Lz4::finish::<true>(place, bounds, token)) }
            .unwrap_or(refused)
    }

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

    /// The match of a sequence, its distance at `place.from`, by branches on whether it is short and, but in the loop
    /// [`MIXED`], whether it is far. With `AFTER_MANY` 15 literals or more come before it.
    ///
    /// # Safety
    /// As for a step of loop 1 after its literals, `place.from` before `bounds.last`.
    #[inline(always)]
    unsafe fn guessed<const AFTER_MANY: bool, const KIND: u8>(
        place: Place,
        bounds: &Bounds,
        token: u8,
        seen: &mut Seen,
    ) -> Option<Place> {
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
                seen.close += usize::from(back < BEYOND);
                if KIND == MIXED && short <= 12 {
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
                copy_on(source, to, len);
            } else {
                match32(source, to, back);
                if len > 32 {
                    match_beyond32(to, back, len);
                }
            }
            Some(Place { from: from.add(3), to: to.add(len) })
        }
    }
}

impl Instruction for Lz4 {
    /// A step leads to two bytes after `last` at most: one has a distance and one byte of length. From there a
    /// token and 16 bytes for literals, or two bytes of length.
    const READ: usize = 20;

    const FIRST: (u8, usize) = (1, BATCH / 4);

    const KINDS: u8 = 5;

    #[cfg(all(feature = "std", target_arch = "x86_64"))]
    const HAS_WIDE: bool = true;

    /// [`TAIL`]: most matches are near, and many would wait. 2: most are matches without literals, of three bytes, a few
    /// longer. [`MIXED`]: some are longer than 16 bytes, some near. 1, 3: nearly all are far; 3: and hardly a length is
    /// continued. 0: others.
    #[inline(always)]
    fn kind<const KIND: u8>(batch: usize, bytes: usize, seen: &Seen, many: usize) -> u8 {
        let few = batch / 16;
        if seen.close > batch / 4 * 3 {
            TAIL
        } else if seen.long + seen.literals > many {
            WIDE_LOOP
        } else if seen.long <= 3 * few
            && bytes <= 3 * batch + few + if seen.long > few { seen.long } else { 0 }
        {
            2
        } else if seen.long > few {
            if seen.close > few { MIXED } else { 1 }
        } else if KIND != 2 && seen.close <= few {
            if seen.literals > few { 1 } else { 3 }
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
            if KIND != 2 || token >= 16 {
                let count = usize::from(token >> 4);
                if (KIND == 2 && BEST || KIND == 3) && count == 15 {
                    aside();
                    seen.literals += 1;
                    let place = Lz4::many(Place { from, to }, bounds, token);
                    return (!place.from.is_null()).then_some(place);
                }
                if count < 15 {
                    let bytes = load16(from);
                    store16(to, bytes);
                    if KIND == TAIL {
                        seen.tail = seen.tail.then(bytes, count);
                    }
                    (from, to, after) = (from.add(count), to.add(count), after.add(count));
                } else {
                    seen.literals += 1;
                    Place { from, to } = Lz4::literals(Place { from, to }, bounds)?;
                    if KIND == 1 || KIND == MIXED {
                        // They end before `last`.
                        return Lz4::guessed::<true, KIND>(Place { from, to }, bounds, token, seen);
                    }
                    after = from.add(2);
                    if KIND == TAIL {
                        seen.tail = Tail::before(to);
                    }
                }
            }
            if !BEST {
                return Lz4::finish::<false>(Place { from, to }, bounds, token);
            }
            // The last sequence has no match.
            if from >= bounds.last {
                return None;
            }
            if KIND == 1 || KIND == MIXED {
                return Lz4::guessed::<false, KIND>(Place { from, to }, bounds, token, seen);
            }
            let word = load8(from);
            let back = word as usize & 0xffff;
            let source = to.wrapping_sub(back);
            if (back == 0 && KIND != 3) || source < bounds.start {
                return None;
            }
            let short = usize::from(token & 15);
            if KIND == 3 {
                if short == 15 || back < 8 {
                    aside();
                    seen.close += usize::from(back < 8);
                    seen.long += usize::from(short == 15);
                    let place = Lz4::long(Place { from, to }, bounds, token);
                    return (!place.from.is_null()).then_some(place);
                }
                copy18(source, to);
                return Some(Place { from: after, to: to.add(short + 4) });
            }
            if KIND == TAIL {
                if short > 12 {
                    let place = Lz4::guessed::<false, KIND>(Place { from, to }, bounds, token, seen)?;
                    seen.tail = Tail::before(place.to);
                    return Some(place);
                }
                let bytes = if back < BEYOND { seen.tail.near(back) } else { load16(source) };
                seen.close += usize::from(back < BEYOND);
                store16(to, bytes);
                seen.tail = seen.tail.then(bytes, short + 4);
                return Some(Place { from: after, to: to.add(short + 4) });
            }
            if KIND == 2 && short > 12 {
                aside();
                seen.long += 1;
                let place = Lz4::long(Place { from, to }, bounds, token);
                return (!place.from.is_null()).then_some(place);
            }
            if short > 12 {
                seen.long += 1;
                let place = Lz4::long(Place { from, to }, bounds, token);
                return (!place.from.is_null()).then_some(place);
            }
            if KIND == 0 {
                seen.close += usize::from(back < BEYOND);
                match16(source, to, back);
            } else {
                match16_by_halves(source, to, back);
            }
            Some(Place { from: after, to: to.add(short + 4) })
        }
    }
}
