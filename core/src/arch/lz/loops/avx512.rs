//! Batches of LZ4 sequences by registers of 64 bytes, for CPUs with AVX-512 and VBMI.
//!
//! ```text
//! repeat up to `batch` times
//!     literals   up to 64: one load, one store; more: by registers, or by the library's copy
//!     match      up to 64: one load, one permute, one store: next[i] = source[i % distance]; more: the same bytes again
//!     stop before a sequence near an end, or a damaged one
//! ```
//! No branch depends on a length up to 64, nor on a distance. Where long and short sequences mix, as in planes of bytes or bits
//! of measured data, nearly every such branch is mispredicted and costs up to twenty cycles; here each sequence only waits for
//! the address of the one before. Where short sequences prevail the predictions are right, and the other loops are faster.

use super::step::{Bounds, Cursor, distance, much_extended};
use crate::arch::copy::{LONG, copy_library, rolled};
use crate::arch::lz::matches::long_match;
use core::arch::x86_64::{
    __m512i, _mm_cvtsi32_si128, _mm512_load_si512, _mm512_loadu_si512, _mm512_or_si512,
    _mm512_permutexvar_epi8, _mm512_storeu_si512, _mm512_zextsi128_si512,
};
use core::hint::select_unpredictable;

/// Bytes of a register.
const WIDTH: usize = 64;

/// Bytes that a sequence may read from where the input's last byte lies: two before its literals, a register of these,
/// and what begins a match after them.
pub(super) const READ: usize = 2 + 2 * WIDTH;

/// Bytes of output that a sequence with lengths up to [`WIDTH`] may write.
pub(super) const WRITE: usize = 2 * WIDTH;

/// What the next batch finds.
pub(super) enum Next {
    /// More sequences like these.
    Same,
    /// Short sequences.
    Short,
    /// A sequence too near an end, or damaged.
    Edge,
}

/// Matches of a distance up to this are made of the last four bytes: these one earlier store holds whole. A register's
/// load from so near would wait until all that it overlaps have reached the cache.
const NEAR: usize = 4;

/// Row `d`: the first `d` bytes, over and over, of near ones those before byte [`NEAR`]; the last row: as they are.
#[repr(C, align(64))]
struct Periods {
    rows: [[u8; WIDTH]; WIDTH + 1],
    zeros: [u8; WIDTH],
}

static PERIODS: Periods = periods();

#[allow(clippy::indexing_slicing)]
const fn periods() -> Periods {
    let mut rows = [[0; WIDTH]; WIDTH + 1];
    let mut d = 1;
    while d <= WIDTH {
        let mut at = 0;
        while at < WIDTH {
            rows[d][at] = (at % d + NEAR.saturating_sub(d)) as u8;
            at += 1;
        }
        d += 1;
    }
    Periods { rows, zeros: [0; WIDTH] }
}

/// # Safety
/// 64 bytes that may be read.
#[inline]
#[target_feature(enable = "avx512f")]
unsafe fn load(from: *const u8) -> __m512i {
    // SAFETY: by the contract 64 bytes may be read at `from`; the load needs no alignment.
    unsafe { _mm512_loadu_si512(from.cast()) }
}

/// # Safety
/// 64 bytes that may be written.
#[inline]
#[target_feature(enable = "avx512f")]
unsafe fn store(to: *mut u8, bytes: __m512i) {
    // SAFETY: by the contract 64 bytes may be written at `to`; the store needs no alignment.
    unsafe { _mm512_storeu_si512(to.cast(), bytes) }
}

/// Copies `len` bytes by registers, from the first `done` on.
///
/// # Safety
/// `len + WIDTH` bytes that may be read and written; where they overlap, `from` is at least [`WIDTH`] before `to`.
#[inline]
#[target_feature(enable = "avx512f")]
unsafe fn copy(from: *const u8, to: *mut u8, mut done: usize, len: usize) {
    while done < len {
        rolled();
        // SAFETY: a register from before `len` on.
        unsafe { store(to.add(done), load(from.add(done))) };
        done += WIDTH;
    }
}

/// More than [`WIDTH`] literals at `from`: copies them, and answers how many there are and where they begin. `count` includes
/// the first byte that continues the count, which lies just before `from`. `None`: too near an end.
///
/// # Safety
/// As for [`sequences`], `from` at most two bytes after the token.
#[inline]
#[target_feature(enable = "avx512f")]
unsafe fn many_literals(
    mut from: *const u8,
    to: *mut u8,
    mut count: usize,
    bounds: &Bounds,
) -> Option<(usize, *const u8)> {
    let &Bounds { last, full, .. } = bounds;
    // SAFETY: the literals end before `last` and `full`, as compared here; a register behind each has room.
    unsafe {
        if *from.sub(1) == 255 {
            (count, from) = much_extended(from, last, count)?;
        }
        if from >= last || count >= distance(from, last) || count > distance(to, full) {
            return None;
        }
        if count > LONG {
            copy_library(from, to, count);
        } else {
            copy(from, to, 0, count);
        }
    }
    Some((count, from))
}

/// What follows the first [`WIDTH`] bytes of a match, which are in `bytes` and have been stored; answers its length and where
/// the next sequence begins. `len` includes the first byte that continues the length, just before `from`. `None`: too near an
/// end.
///
/// # Safety
/// As for [`sequences`], after the first register of a match at `to` of the distance `back`.
#[inline]
#[target_feature(enable = "avx512f")]
unsafe fn long_rest(
    mut from: *const u8,
    to: *mut u8,
    back: usize,
    mut len: usize,
    bytes: __m512i,
    bounds: &Bounds,
) -> Option<(usize, *const u8)> {
    // SAFETY: the match ends at most a register after `full`, as compared here, and a register behind it has room. Its source
    // begins at or after `start`.
    unsafe {
        if *from.sub(1) == 255 {
            (len, from) = much_extended(from, bounds.last, len)?;
        }
        if len > distance(to, bounds.full.add(WIDTH)) {
            return None;
        }
        if back >= WIDTH {
            copy(to.sub(back), to, WIDTH, len);
        } else if len <= LONG || distance(bounds.start, to) < 16 {
            let period = WIDTH - WIDTH % back;
            let mut done = period;
            while done < len {
                rolled();
                store(to.add(done), bytes);
                done += period;
            }
        } else {
            long_match(to, back, len);
        }
    }
    Some((len, from))
}

/// Carries out up to `batch` sequences from `cursor` on.
///
/// # Safety
/// `cursor` lies in the input and output of `bounds`, [`READ`] bytes may be read from `bounds.last` on, and
/// [`WRITE`] bytes written from `bounds.full` on. Everything before `cursor.to` has been written, and what follows
/// may be read (`mark_initialised`). The CPU has these instructions.
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,bmi1,bmi2,lzcnt")]
#[inline(never)]
pub(super) unsafe fn sequences(cursor: &mut Cursor, bounds: &Bounds, batch: usize) -> Next {
    let Cursor { mut from, mut to } = *cursor;
    let last = bounds.last;
    let mut long = 0;
    for _ in 0..batch {
        *cursor = Cursor { from, to };
        if to >= bounds.enough || from >= last {
            return Next::Edge;
        }
        // SAFETY: `READ` and `WRITE` bytes are there: for a token, a byte that continues it and 64 literals, then, where
        // these end before `last`, for a distance and a byte. Longer literals and matches are measured, with room for
        // a register behind them. A match begins at or after `start`.
        unsafe {
            let token = usize::from(*from);
            let more = usize::from(*from.add(1));
            let is_continued = token >= 15 << 4;
            let mut count = (token >> 4) + select_unpredictable(is_continued, more, 0);
            let mut literals = from.add(1 + usize::from(is_continued));
            if count <= WIDTH {
                store(to, load(literals));
            } else {
                let Some(much) = many_literals(literals, to, count, bounds) else { return Next::Edge };
                (count, literals) = much;
            }
            let at = literals.add(count);
            // The last sequence has no match.
            if at >= last {
                return Next::Edge;
            }
            to = to.add(count);
            let word = u32::from_le(at.cast::<u32>().read_unaligned()) as usize;
            let (back, more) = (word & 0xffff, word >> 16 & 255);
            let goes_on = token & 15 == 15;
            let mut len = (token & 15) + 4 + select_unpredictable(goes_on, more, 0);
            from = at.add(2 + usize::from(goes_on));
            long += usize::from(is_continued) + usize::from(goes_on);
            let source = to.wrapping_sub(back);
            if source < bounds.start || back == 0 {
                return Next::Edge;
            }
            let is_near = back <= NEAR;
            let zeros = PERIODS.zeros.as_ptr();
            let far = load(select_unpredictable(is_near, zeros, source));
            let near = select_unpredictable(is_near, to.sub(NEAR).cast_const(), zeros)
                .cast::<i32>()
                .read_unaligned();
            let order = PERIODS.rows.get_unchecked(back.min(WIDTH)).as_ptr();
            let bytes = _mm512_or_si512(far, _mm512_zextsi128_si512(_mm_cvtsi32_si128(near)));
            let bytes = _mm512_permutexvar_epi8(_mm512_load_si512(order.cast()), bytes);
            store(to, bytes);
            if len > WIDTH {
                let Some(much) = long_rest(from, to, back, len, bytes, bounds) else { return Next::Edge };
                (len, from) = much;
            }
            to = to.add(len);
        }
    }
    *cursor = Cursor { from, to };
    if 10 * long > batch { Next::Same } else { Next::Short }
}
