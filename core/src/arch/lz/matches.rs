//! Matches: the last `d` bytes of history, over and over.
//!
//! The first 16 bytes of a match are made without a branch on its distance, because in filtered data
//! distances of 1, 2, 4, 8 and hundreds follow each other at random. Two words of history are read, both
//! from before `pos`, then shifted and multiplied by what `PATTERNS` says for this distance:
//!
//! ```text
//! first  word  (load(pos - max(d, 8)) >> down) * spread
//! second word  (load(pos - max(d - 8, 8)) >> down2) | (the word before the first `*`) * spread2
//! ```
//! Longer matches with `d < 16` store those same 16 bytes again in steps of a multiple of `d`: no load
//! ever waits for the store before it. Distances of 16 to 31 do the same with two vectors; from 32 on
//! bytes are read just before they are written.

// A build with some of the codecs needs only part of this.
#![cfg_attr(
    not(all(feature = "blosclz", feature = "lz4", feature = "zlib", feature = "zstd", feature = "snappy")),
    allow(dead_code, unused_imports)
)]

use crate::arch::copy::{
    LONG, Vector, copy_library, copy16, copy32, load8, load16, rolled, store16, vector, words,
};

/// Bytes that surely stay in the nearest cache.
const NEAREST: usize = 8 << 10;

/// How to repeat the last `d` bytes of history.
#[derive(Clone, Copy)]
struct Pattern {
    spread: u64,
    spread2: u64,
    down: u8,
    down2: u8,
    /// The largest multiple of `d` that is at most 16.
    step: u8,
}

/// Row `d` for a distance `d < 16`, row 16 for all others.
const PATTERNS: [Pattern; 17] = patterns();

#[allow(clippy::indexing_slicing)]
const fn patterns() -> [Pattern; 17] {
    let mut table = [Pattern { spread: 1, spread2: 0, down: 0, down2: 0, step: 16 }; 17];
    let mut d = 1;
    while d < 16 {
        let row = &mut table[d];
        row.step = (16 / d * d) as u8;
        if d < 8 {
            // The last `d` bytes, copied to every multiple of `d` ...
            row.down = (64 - 8 * d) as u8;
            let mut at = d;
            while at < 8 {
                row.spread |= 1 << (8 * at);
                at += d;
            }
            // ... and for the second word turned by what the first holds of an unfinished period.
            let turn = 8 % d;
            row.down2 = row.down + 8 * turn as u8;
            at = d - turn;
            while at < 8 {
                row.spread2 |= 1 << (8 * at);
                at += d;
            }
        } else {
            row.down2 = (8 * (16 - d) % 64) as u8;
            row.spread2 = 1 << (8 * (d - 8));
        }
        d += 1;
    }
    table
}

/// Appends a match; may write up to `end + len + SLACK`.
///
/// # Safety
/// 16 and `distance` bytes of history before `end`, room for `len + SLACK` after it. With `BEST` and at most
/// [`LONG`] bytes, `distance` bytes of history do, and those after `end` may be read ([`mark_initialised`]).
#[inline(always)]
pub(in crate::arch) unsafe fn wide_match<const BEST: bool>(end: *mut u8, distance: usize, len: usize) {
    // SAFETY: every store starts before `end + len` and ends at most `SLACK` bytes after that. Every load
    // ends at or before the last byte stored so far.
    unsafe {
        if len > LONG {
            long_match(end, distance, len);
        } else {
            short_match::<BEST>(end, distance, len);
        }
    }
}

/// [`wide_match`] for lengths that are not worth a call.
///
/// # Safety
/// As for [`wide_match`], with `BEST` for any length.
#[inline(always)]
pub(in crate::arch) unsafe fn short_match<const BEST: bool>(end: *mut u8, distance: usize, len: usize) {
    // SAFETY: the contract of `wide_match`: every store starts before `end + len` and ends at most `SLACK` bytes after
    // that; every load ends at or before the last byte stored so far.
    unsafe {
        if distance >= 32 {
            let from = end.sub(distance);
            copy32(from, end);
            let mut at = 32;
            while at < len {
                rolled();
                copy32(from.add(at), end.add(at));
                at += 32;
            }
        } else if distance >= 16 {
            let (head, tail) = (load16(end.sub(distance)), load16(end.sub(16)));
            let mut at = 0;
            while at < len {
                rolled();
                store16(end.add(at), head);
                store16(end.add(at + distance - 16), tail);
                at += distance;
            }
        } else {
            let (pattern, step) =
                if BEST { repeated_bytes(end.sub(distance), distance) } else { repeated(end, distance) };
            wide_pattern(end, pattern, step, len);
        }
    }
}

/// Stores `pattern` every `step` bytes; may write up to `end + len + SLACK`.
///
/// # Safety
/// Room for that, at least `2 * SLACK`; `step` is at most 16.
#[inline(always)]
pub(in crate::arch) unsafe fn wide_pattern(end: *mut u8, pattern: Vector, step: usize, len: usize) {
    // SAFETY: by the contract there is room for the first two stores, at most `2 * SLACK` bytes, and for two more from
    // before `end + len` on: the second starts at most 16 bytes later.
    unsafe {
        store16(end, pattern);
        store16(end.add(step), pattern);
        let mut at = 2 * step;
        while at < len {
            rolled();
            store16(end.add(at), pattern);
            store16(end.add(at + step), pattern);
            at += 2 * step;
        }
    }
}

/// Appends a match of more than [`LONG`] bytes, exactly.
///
/// # Safety
/// 16 and `distance` bytes of history before `end`, room for `len` after it.
#[inline(never)]
pub(in crate::arch) unsafe fn long_match(end: *mut u8, distance: usize, len: usize) {
    // SAFETY: each copy ends before `end + len` and takes what is there before it starts.
    unsafe {
        if distance < 16 {
            let (pattern, step) = repeated(end, distance);
            return long_pattern(end, pattern, step, len);
        }
        // Whole periods; no more than stay in the nearest cache are read again.
        let (from, mut done, mut piece) = (end.sub(distance), 0, distance);
        while done < len {
            let more = piece.min(len - done);
            copy_library(from, end.add(done), more);
            done += more;
            piece = if piece <= NEAREST { distance + done } else { piece };
        }
    }
}

/// Appends `len` bytes, more than [`LONG`], that repeat the first `step` bytes of `pattern`, exactly.
///
/// # Safety
/// Room for `len` bytes; `step` is at most 16.
#[inline(never)]
pub(in crate::arch) unsafe fn long_pattern(end: *mut u8, pattern: Vector, step: usize, len: usize) {
    let [first, second] = words(pattern);
    // SAFETY: the first stores end at or before `len`; each copy after them ends before `end + len` and takes what
    // is there before it starts.
    unsafe {
        if first == second && first == first.rotate_left(8) {
            return core::ptr::write_bytes(end, first as u8, len);
        }
        let mut done = 0;
        while done + 16 <= len.min(2 * LONG) {
            rolled();
            store16(end.add(done), pattern);
            done += step;
        }
        // Whole periods; no more than stay in the nearest cache are read again.
        let mut piece = done;
        while done < len {
            let more = piece.min(len - done);
            copy_library(end, end.add(done), more);
            done += more;
            piece = if done <= NEAREST { done } else { piece };
        }
    }
}

/// [`repeated`] for `d < 8`, with the last `d` bytes on top of `last`.
#[inline(always)]
pub(in crate::arch) fn repeated_word(last: u64, d: usize) -> (Vector, usize) {
    // SAFETY: masked to the first eight rows.
    let row = unsafe { PATTERNS.get_unchecked(d & 7) };
    let low = last >> row.down;
    let second = (last >> row.down2) | low.wrapping_mul(row.spread2);
    (vector(low.wrapping_mul(row.spread), second), usize::from(row.step))
}

/// The next 16 bytes after `end` if the last `d` bytes before it repeat, and the step after which,
/// with `d < 16`, the same 16 bytes come again.
///
/// # Safety
/// `1 <= d`, and at least 16 and at least `d` initialised bytes before `end`.
#[inline(always)]
pub(in crate::arch) unsafe fn repeated(end: *const u8, d: usize) -> (Vector, usize) {
    // SAFETY: the row exists; both words lie in the last `max(d, 16)` bytes before `end`.
    unsafe {
        let row = PATTERNS.get_unchecked(d.min(16));
        let low = load8(end.sub(d.max(8))) >> row.down;
        let high = load8(end.sub(d.saturating_sub(8).max(8))) >> row.down2;
        let first = low.wrapping_mul(row.spread);
        let second = high | low.wrapping_mul(row.spread2);
        (vector(first, second), usize::from(row.step))
    }
}

/// Makes `len` bytes from `to` on count as initialised, with whatever they hold, so that the
/// loads of [`match16`], [`match32`] and [`repeated_bytes`] may run past the bytes that they use.
///
/// # Safety
/// They may be written.
#[cfg(any(feature = "blosclz", feature = "lz4", feature = "zlib"))]
#[inline(always)]
pub(in crate::arch) unsafe fn mark_initialised(to: *mut u8, len: usize) {
    // SAFETY: the caller says that they may be written. Miri, which executes no assembly, has them written.
    #[cfg(miri)]
    unsafe {
        to.write_bytes(0xa5, len);
    }
    // SAFETY: no instruction at all. What the compiler must allow for is that these bytes are written, and each with
    // what is there already would be such a write.
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    unsafe {
        core::arch::asm!("/* {0} {1} */", in(reg) to, in(reg) len, options(nostack, preserves_flags));
    }
    let _ = (to, len);
}

/// The 16 bytes of a match without a branch on its distance. Only in code compiled with the byte shuffle.
///
/// # Safety
/// `from + back == to`, `1 <= back`, as many bytes of history, and 16 bytes from `to` on that may be read
/// ([`mark_initialised`]) and written; the caller has the instruction.
#[cfg(any(feature = "blosclz", feature = "lz4", feature = "zlib"))]
#[inline(always)]
pub(in crate::arch) unsafe fn match16(from: *const u8, to: *mut u8, back: usize) {
    // SAFETY: the first half of a row repeats what lies before `to`; of settled bytes it takes none.
    #[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
    unsafe {
        store16(to, shuffled(load16(from), back, 0));
    }
    let _ = (from, to, back);
}

/// [`match16`] for streams with many near matches. A period of at most 8 bytes is read by as many, a longer one in two
/// halves: loads that are found whole in one earlier store more often, and need not wait for the cache.
///
/// # Safety
/// As for [`match16`].
#[cfg(any(feature = "blosclz", feature = "lz4"))]
#[inline(always)]
pub(in crate::arch) unsafe fn match16_by_halves(from: *const u8, to: *mut u8, back: usize) {
    // SAFETY: the contract of `match16` gives both halves; a row for at most 8 bytes takes none of the second.
    #[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
    unsafe {
        use core::arch::x86_64::{_mm_castpd_si128, _mm_castsi128_pd, _mm_loadh_pd, _mm_loadl_epi64};
        let second = core::hint::select_unpredictable(back > 8, from.add(8), from);
        let first = _mm_castsi128_pd(_mm_loadl_epi64(from.cast()));
        // The intrinsic reads through a pointer to an aligned number, so the number is copied from `second` first.
        let high = second.cast::<f64>().read_unaligned();
        store16(to, shuffled(_mm_castpd_si128(_mm_loadh_pd(first, &high)), back, 0));
    }
    let _ = (from, to, back);
}

/// As [`match16`], 32 bytes, for streams with many near matches.
///
/// # Safety
/// As for [`match16`], for 32 bytes, and at least four bytes of history.
#[cfg(any(feature = "blosclz", feature = "lz4"))]
#[inline(always)]
pub(in crate::arch) unsafe fn match32(from: *const u8, to: *mut u8, back: usize) {
    // SAFETY: of a near match the last four bytes are read, of a far one 32 in two halves, the second after the first
    // is written; zeros stand for the other. In between, both halves of a row repeat what the first one reads.
    #[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
    unsafe {
        use core::arch::x86_64::{_mm_cvtsi32_si128, _mm_or_si128, _mm_shuffle_epi8};
        use core::hint::select_unpredictable;
        if (5..16).contains(&back) {
            store16(to, shuffled(load16(from), back, 0));
            store16(to.add(16), shuffled(load16(from), back, 1));
            return;
        }
        let is_near = back < 5;
        let far = select_unpredictable(is_near, NEAR.zeros.as_ptr(), from);
        // A far match must not wait for the bytes just written.
        let near = select_unpredictable(is_near, to.sub(4).cast_const(), NEAR.zeros.as_ptr());
        let row: *const Vector = NEAR.rows.get_unchecked(back & 7).as_ptr().cast();
        let last = _mm_cvtsi32_si128(near.cast::<i32>().read_unaligned());
        store16(to, _mm_or_si128(_mm_shuffle_epi8(last, row.read()), load16(far)));
        store16(to.add(16), _mm_or_si128(_mm_shuffle_epi8(last, row.add(1).read()), load16(far.add(16))));
    }
    let _ = (from, to, back);
}

/// What follows the 32 bytes of [`match32`], 64 bytes at a time: most often once.
///
/// # Safety
/// [`match32`] has been called with the same `to` and `back`; `32 < len`, and room for all that is written.
#[cfg(any(feature = "blosclz", feature = "lz4"))]
#[inline(always)]
pub(in crate::arch) unsafe fn match_beyond32(to: *mut u8, back: usize, len: usize) {
    // SAFETY: the period is a multiple of `back` from 16 to 32, or `back`: each load ends before the store.
    unsafe {
        let step = usize::from(PATTERNS.get_unchecked(back & 15).step);
        let period = if back < 16 { 2 * step } else { back };
        let (mut at, end) = (to.add(32), to.add(len));
        while at < end {
            rolled();
            for n in [0, 16, 32, 48] {
                copy16(at.add(n).sub(period), at.add(n));
            }
            at = at.add(64);
        }
    }
}

/// 16 bytes in the order of half a row. Only in code compiled with the byte shuffle.
///
/// # Safety
/// `1 <= back`; the caller has the instruction.
#[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
#[inline(always)]
unsafe fn shuffled(bytes: Vector, back: usize, half: usize) -> Vector {
    // SAFETY: a row of two halves for every distance up to 16.
    unsafe {
        let row: *const Vector = ROWS.0.get_unchecked(back.min(16) - 1).as_ptr().cast();
        core::arch::x86_64::_mm_shuffle_epi8(bytes, row.add(half).read())
    }
}

/// The next 16 bytes if the `d < 16` bytes from `from` on repeat, and the step as for [`repeated`], by a byte
/// shuffle: only in code compiled with it.
///
/// # Safety
/// `1 <= d < 16`; 16 bytes at `from` that may be read, those after the first `d` perhaps only
/// [`mark_initialised`]d.
#[inline(always)]
unsafe fn repeated_bytes(from: *const u8, d: usize) -> (Vector, usize) {
    #[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
    // SAFETY: a row for each such `d`; the caller has the instruction.
    unsafe {
        (shuffled(load16(from), d, 0), usize::from(PATTERNS.get_unchecked(d & 15).step))
    }
    #[cfg(not(all(target_arch = "x86_64", target_feature = "sse2")))]
    // SAFETY: without vectors no code is compiled for the byte shuffle, so nothing calls this; `repeated` checks
    // nothing else.
    unsafe {
        repeated(from.add(d), d)
    }
}

/// What [`match32`] makes near matches of.
#[cfg(all(target_arch = "x86_64", target_feature = "sse2", any(feature = "blosclz", feature = "lz4")))]
#[repr(C, align(32))]
struct Near {
    zeros: [u8; 32],
    /// Row `d`: which of four bytes comes where if the last `d` repeat.
    rows: [[u8; 32]; 8],
}

#[cfg(all(target_arch = "x86_64", target_feature = "sse2", any(feature = "blosclz", feature = "lz4")))]
static NEAR: Near = near();

#[cfg(all(target_arch = "x86_64", target_feature = "sse2", any(feature = "blosclz", feature = "lz4")))]
#[allow(clippy::indexing_slicing)]
const fn near() -> Near {
    let mut rows = [[0; 32]; 8];
    let mut d = 1;
    while d <= 4 {
        let mut at = 0;
        while at < 32 {
            rows[d][at] = (4 - d + at % d) as u8;
            at += 1;
        }
        d += 1;
    }
    Near { zeros: [0; 32], rows }
}

/// Row `d - 1`: which of `d` bytes comes where if they repeat. The last takes 32 bytes as they are, 16 at a time.
#[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
#[repr(align(32))]
struct PeriodTable([[u8; 32]; 16]);

#[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
static ROWS: PeriodTable = rows();

#[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
#[allow(clippy::indexing_slicing)]
const fn rows() -> PeriodTable {
    let mut rows = [[0; 32]; 16];
    let mut d = 1;
    while d <= 16 {
        let mut at = 0;
        while at < 32 {
            rows[d - 1][at] = (at % d) as u8;
            at += 1;
        }
        d += 1;
    }
    PeriodTable(rows)
}
