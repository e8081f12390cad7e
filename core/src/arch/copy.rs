//! [`Window`]: the output of an LZ codec, which for a decoder is its own history.
//!
//! ```text
//! dictionary (optional)        out[0 .. pos)          out[pos .. len)
//! +----------------------+ +----------------------+ +-----------------+
//! | older history        | | written, may be read | | not yet written |
//! +----------------------+ +----------------------+ +-----------------+
//! ```
//! Each operation checks its lengths at the door and then copies with 16-byte stores that may run
//! up to [`SLACK`] bytes past what was asked for, but never past `len`: near the end copies are
//! exact. Only `out[..pos]` is ever read, so the bytes beyond need not be initialised.
//!
//! A match whose distance is shorter than a vector repeats a pattern. The pattern is read once,
//! from the bytes before `pos`, and stored again and again in steps of a multiple of the distance:
//! no load ever waits for the store before it.
//!
//! ```text
//! distance 1..=8    one word of history, repeated by a multiplication with 0x..0001..0001
//! distance 9..=15   two words of history, shifted together
//! distance 16..=31  two vectors, the second ending where the first repetition ends
//! distance 32..     32 bytes per step, read just before they are written
//! ```
//! Targets without cheap 16-byte copies (32-bit, no SIMD) take one byte per step: small code.

use super::out::Out;
use crate::codec::CodecErrorKind;

/// Wide copies pay where two registers hold 16 bytes.
const WIDE: bool = cfg!(any(
    target_pointer_width = "64",
    target_feature = "sse2",
    target_feature = "neon",
    target_feature = "simd128"
));

/// A wide copy may write this many bytes past the end of what it appends.
const SLACK: usize = 32;

/// Output position and history of an LZ codec. Only `out[..pos]` is ever read.
pub struct Window<'a> {
    out: Out<'a>,
    pos: usize,
    dict: &'a [u8],
}

/// How to repeat the last `d` bytes of history, for `d` in 1..=16.
#[derive(Clone, Copy)]
struct Pattern {
    /// `d < 8`: spreads the `d` low bytes of a word over all eight.
    spread: u64,
    /// Bits to shift the last word down by, so that its part of the pattern comes first.
    down: u8,
    /// Bits to shift the first word up by, to continue the second.
    up: u8,
    /// Bits to shift the first word down by, to start the second (`d < 8`).
    turn: u8,
    /// The largest multiple of `d` that is at most 16.
    step: u8,
}

const PATTERNS: [Pattern; 16] = patterns();

#[allow(clippy::indexing_slicing)]
const fn patterns() -> [Pattern; 16] {
    let mut table = [Pattern { spread: 1, down: 0, up: 0, turn: 0, step: 16 }; 16];
    let mut d = 1;
    while d < 16 {
        let row = &mut table[d];
        row.step = (16 / d * d) as u8;
        if d <= 8 {
            let mut at = d;
            while at < 8 {
                row.spread |= 1 << (8 * at);
                at += d;
            }
            row.down = (64 - 8 * d) as u8;
            row.turn = (8 * (8 % d)) as u8;
            row.up = (8 * (d - 8 % d) % 64) as u8;
        } else {
            row.down = (8 * (16 - d)) as u8;
            row.up = (8 * (d - 8)) as u8;
        }
        d += 1;
    }
    table
}

impl<'a> Window<'a> {
    /// An empty window over `out`, with `dict` as history before its first byte.
    #[inline(always)]
    pub fn new(out: Out<'a>, dict: &'a [u8]) -> Self {
        Window { out, pos: 0, dict }
    }

    /// Bytes written so far.
    #[inline(always)]
    pub fn position(&self) -> usize {
        self.pos
    }

    /// Bytes that can still be written.
    #[inline(always)]
    pub fn remaining(&self) -> usize {
        self.out.len() - self.pos
    }

    /// What has been written.
    #[inline(always)]
    pub fn written(&self) -> &[u8] {
        // SAFETY: `pos <= len`, and every byte before `pos` has been written.
        unsafe {
            let mut me = core::ptr::read(&self.out);
            core::slice::from_raw_parts(me.as_mut_ptr(), self.pos)
        }
    }

    /// Appends one byte.
    #[inline(always)]
    pub fn push(&mut self, byte: u8) -> Result<(), CodecErrorKind> {
        self.push_low(u32::from(byte), 1)
    }

    /// Appends the `len` low bytes of `word`, lowest first; `len` is at most 4.
    #[inline(always)]
    pub fn push_low(&mut self, word: u32, len: usize) -> Result<(), CodecErrorKind> {
        let room = self.remaining();
        if len > room || len > 4 {
            return Err(CodecErrorKind::TooLong);
        }
        let bytes = word.to_le_bytes();
        let n = if room >= 4 { 4 } else { len };
        // SAFETY: `n` is at most 4, the length of `bytes`, and at most the room from `pos` on.
        unsafe { core::ptr::copy_nonoverlapping(bytes.as_ptr(), self.end(), n) };
        self.pos += len;
        Ok(())
    }

    /// Appends `src[at..at + len]`.
    #[inline(always)]
    pub fn literals(&mut self, src: &[u8], at: usize, len: usize) -> Result<(), CodecErrorKind> {
        if WIDE && len <= 32 && self.remaining() >= 32 && src.len() >= 32 && at <= src.len() - 32 {
            // SAFETY: 32 bytes can be read at `at` and written at `pos`; `src` is a shared borrow and
            // so lies outside the uniquely borrowed `out`.
            unsafe {
                let from = src.as_ptr().add(at);
                copy16(from, self.end());
                copy16(from.add(16), self.end().add(16));
            }
            self.pos += len;
            return Ok(());
        }
        self.exact_literals(src, at, len)
    }

    #[inline(never)]
    fn exact_literals(&mut self, src: &[u8], at: usize, len: usize) -> Result<(), CodecErrorKind> {
        let piece = src.get(at..).and_then(|s| s.get(..len)).ok_or(CodecErrorKind::Truncated)?;
        let mut room = self.out.get(self.pos, len).ok_or(CodecErrorKind::TooLong)?;
        room.copy_from(piece);
        self.pos += len;
        Ok(())
    }

    /// Appends `len` copies of `byte`.
    #[inline(always)]
    pub fn fill(&mut self, byte: u8, len: usize) -> Result<(), CodecErrorKind> {
        let mut room = self.out.get(self.pos, len).ok_or(CodecErrorKind::TooLong)?;
        room.fill(byte);
        self.pos += len;
        Ok(())
    }

    /// Appends `len` bytes that begin `distance` bytes back; the source may overlap what it writes
    /// and may begin in the dictionary.
    #[inline(always)]
    pub fn copy_match(&mut self, distance: usize, len: usize) -> Result<(), CodecErrorKind> {
        // One comparison for 0 and for what lies before `out`.
        if distance.wrapping_sub(1) >= self.pos {
            return self.dictionary_match(distance, len);
        }
        let room = self.remaining();
        if WIDE && room >= SLACK && len <= room - SLACK && self.pos >= 16 {
            // SAFETY: `1 <= distance <= pos`, `len + SLACK <= room`, and `pos >= 16`.
            unsafe { self.wide_match(distance, len) };
            return Ok(());
        }
        self.exact_match(distance, len)
    }

    /// # Safety
    /// `1 <= distance <= pos`, `16 <= pos` and `len + SLACK <= remaining`.
    #[inline(always)]
    unsafe fn wide_match(&mut self, distance: usize, len: usize) {
        let end = self.end();
        // SAFETY: reads stay in `[end - max(distance, 16), end + len)`, of which the part read has
        // been written; the last store starts before `end + len` and so ends before
        // `end + len + SLACK`.
        unsafe {
            if distance >= 32 {
                let from = end.sub(distance);
                copy32(from, end);
                let mut at = 32;
                while at < len {
                    copy32(from.add(at), end.add(at));
                    at += 32;
                }
            } else if distance >= 16 {
                let (head, tail) = (load16(end.sub(distance)), load16(end.sub(16)));
                let mut at = 0;
                loop {
                    store16(end.add(at), head);
                    store16(end.add(at + distance - 16), tail);
                    at += distance;
                    if at >= len {
                        break;
                    }
                }
            } else {
                let (pattern, step) = repeated(end, distance);
                store16(end, pattern);
                store16(end.add(step), pattern);
                let mut at = 2 * step;
                while at < len {
                    store16(end.add(at), pattern);
                    at += step;
                }
            }
        }
        self.pos += len;
    }

    /// Matches that end within `SLACK` of the end, or start within 16 bytes of the beginning: wide as
    /// far as possible, then byte by byte.
    #[inline(never)]
    fn exact_match(&mut self, distance: usize, len: usize) -> Result<(), CodecErrorKind> {
        let room = self.remaining();
        if len > room {
            return Err(CodecErrorKind::TooLong);
        }
        let mut left = len;
        if WIDE {
            while left > 0 && self.pos < 16 {
                self.repeat_byte(distance);
                left -= 1;
            }
            let wide = left.min(self.remaining().saturating_sub(SLACK));
            if wide > 0 {
                // SAFETY: the caller checked `1 <= distance <= pos`; `pos >= 16` since `left > 0`; and
                // `wide + SLACK <= remaining`.
                unsafe { self.wide_match(distance, wide) };
                left -= wide;
            }
        }
        while left > 0 {
            self.repeat_byte(distance);
            left -= 1;
        }
        Ok(())
    }

    /// Appends the byte `distance` back; does nothing where that is not possible.
    #[inline(always)]
    fn repeat_byte(&mut self, distance: usize) {
        if self.pos < self.out.len() && distance.wrapping_sub(1) < self.pos {
            // SAFETY: `pos - distance` has been written, and `pos` is inside `out`.
            unsafe { *self.end() = *self.end().sub(distance) };
            self.pos += 1;
        }
    }

    /// A match that begins before `out`: in the dictionary, or nowhere.
    #[cold]
    #[inline(never)]
    fn dictionary_match(&mut self, distance: usize, len: usize) -> Result<(), CodecErrorKind> {
        let before = distance.wrapping_sub(self.pos);
        if distance == 0 || before > self.dict.len() {
            return Err(CodecErrorKind::Distance);
        }
        let first = len.min(before);
        self.exact_literals(self.dict, self.dict.len() - before, first)?;
        // What is left begins at `out[0]`, `distance` back from the new position.
        if len > first { self.exact_match(distance, len - first) } else { Ok(()) }
    }

    #[inline(always)]
    fn end(&mut self) -> *mut u8 {
        // SAFETY: `pos <= len`.
        unsafe { self.out.as_mut_ptr().add(self.pos) }
    }
}

type Vector = [u64; 2];

/// # Safety
/// 16 initialised bytes at `from`.
#[inline(always)]
unsafe fn load16(from: *const u8) -> Vector {
    // SAFETY: see above; unaligned reads of plain integers.
    unsafe { from.cast::<Vector>().read_unaligned() }
}

/// # Safety
/// 16 writable bytes at `to`.
#[inline(always)]
unsafe fn store16(to: *mut u8, v: Vector) {
    // SAFETY: see above.
    unsafe { to.cast::<Vector>().write_unaligned(v) }
}

/// # Safety
/// 16 bytes readable at `from` and writable at `to`, not overlapping.
#[inline(always)]
unsafe fn copy16(from: *const u8, to: *mut u8) {
    // SAFETY: see above.
    unsafe { core::ptr::copy_nonoverlapping(from, to, 16) }
}

/// # Safety
/// 32 bytes readable at `from` and writable at `to`, at least 32 bytes apart.
#[inline(always)]
unsafe fn copy32(from: *const u8, to: *mut u8) {
    // SAFETY: see above.
    unsafe { core::ptr::copy_nonoverlapping(from, to, 32) }
}

/// The next 16 bytes after `end` if the last `d` bytes before it repeat, and the step after which
/// the same 16 bytes come again.
///
/// # Safety
/// `1 <= d < 16`, and 16 initialised bytes before `end`.
#[inline(always)]
unsafe fn repeated(end: *const u8, d: usize) -> (Vector, usize) {
    // SAFETY: `d < 16`; words are read at `end - 8` and `end - d` with `d >= 8`.
    unsafe {
        let row = PATTERNS.get_unchecked(d);
        let last = u64::from_le(end.sub(8).cast::<u64>().read_unaligned());
        let (low, high) = if d <= 8 {
            let low = (last >> row.down).wrapping_mul(row.spread);
            (low, (low >> row.turn) | (low << row.up))
        } else {
            let low = u64::from_le(end.sub(d).cast::<u64>().read_unaligned());
            (low, (last >> row.down) | (low << row.up))
        };
        ([low.to_le(), high.to_le()], usize::from(row.step))
    }
}
