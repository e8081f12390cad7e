//! [`Window`]: the output of an LZ codec, which for a decoder is its own history.
//!
//! ```text
//! dictionary (optional)        out[0 .. pos)          out[pos .. len)
//! +----------------------+ +----------------------+ +-----------------+
//! | older history        | | written, may be read | | not yet written |
//! +----------------------+ +----------------------+ +-----------------+
//! ```
//! Each operation checks its lengths first and then copies with 16-byte stores that may run
//! up to `SLACK` bytes past what was asked for, but never past `len`: near the end copies are
//! exact. Only `out[..pos]` is ever read, so the bytes beyond need not be initialised.
//!
//! Targets without cheap 16-byte copies (32-bit, no SIMD) take one byte per step: small code.

// A build with some of the codecs needs only part of this.
#![cfg_attr(
    not(all(feature = "blosclz", feature = "lz4", feature = "zlib", feature = "zstd", feature = "snappy")),
    allow(dead_code, unused_imports)
)]

use crate::arch::copy::{LONG, SLACK, copy_long, copy8, copy16, copy32, load8, store16};
use crate::arch::lz::matches::{long_match, long_pattern, repeated, repeated_word, wide_match, wide_pattern};
use crate::arch::out::Out;
use crate::codec::error::CodecErrorKind;

/// Whether copies by 16 bytes pay: where one or two registers hold as many.
pub(crate) const WIDE_COPIES: bool = cfg!(any(
    target_pointer_width = "64",
    target_feature = "sse2",
    target_feature = "neon",
    target_feature = "simd128"
));

/// Output position and history of an LZ codec. Only `out[..pos]` is ever read.
pub struct Window<'a> {
    out: Out<'a>,
    pos: usize,
    dict: &'a [u8],
    wanted: usize,
}

impl<'a> Window<'a> {
    /// An empty window over `out`, with `dict` as history before its first byte.
    #[inline(always)]
    pub fn new(out: Out<'a>, dict: &'a [u8]) -> Self {
        let wanted = out.len();
        Window { out, pos: 0, dict, wanted }
    }

    /// A window whose user may stop once the first `wanted` bytes have been written.
    #[inline(always)]
    pub fn wanting(out: Out<'a>, dict: &'a [u8], wanted: usize) -> Self {
        Window { out, pos: 0, dict, wanted }
    }

    /// Whether all that is wanted has been written.
    #[inline(always)]
    pub fn satisfied(&self) -> bool {
        self.pos >= self.wanted
    }

    /// Bytes written so far.
    #[inline(always)]
    pub fn position(&self) -> usize {
        self.pos
    }

    /// Back to the beginning.
    #[cfg(feature = "lz4")]
    pub fn rewind(&mut self) {
        self.pos = 0;
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

    /// First byte, bytes written, bytes wanted, and length of the output.
    #[cfg(any(feature = "blosclz", feature = "lz4", feature = "zlib"))]
    #[inline(always)]
    pub(in crate::arch) fn parts(&mut self) -> (*mut u8, usize, usize, usize) {
        (self.out.as_mut_ptr(), self.pos, self.wanted.min(self.out.len()), self.out.len())
    }

    /// # Safety
    /// The first `pos` bytes of the output have been written.
    #[cfg(any(feature = "blosclz", feature = "lz4", feature = "zlib"))]
    #[inline(always)]
    pub(in crate::arch) unsafe fn set_position(&mut self, pos: usize) {
        self.pos = pos;
    }

    /// Appends one byte.
    ///
    /// # Errors
    /// `TooLong` where there is no room.
    #[inline(always)]
    pub fn push(&mut self, byte: u8) -> Result<(), CodecErrorKind> {
        if self.remaining() == 0 {
            return Err(CodecErrorKind::TooLong);
        }
        // SAFETY: there is room for a byte at `pos`.
        unsafe { *self.end() = byte };
        self.pos += 1;
        Ok(())
    }

    /// Appends the `len` low bytes of `word`, lowest first; `len` is at most 8.
    ///
    /// # Errors
    /// `TooLong` where there is no room.
    #[inline(always)]
    pub fn push_low(&mut self, word: u64, len: usize) -> Result<(), CodecErrorKind> {
        if self.push_short(word, len) {
            return Ok(());
        }
        self.cold_path(|window| window.exact_literals(&word.to_le_bytes(), 0, len))
    }

    /// [`push_low`](Self::push_low) where there is room for eight bytes; elsewhere it does nothing and answers `false`.
    #[inline(always)]
    pub fn push_short(&mut self, word: u64, len: usize) -> bool {
        let fits = self.remaining() >= 8 && len <= 8;
        if fits {
            // SAFETY: eight bytes can be written at `pos`.
            unsafe { self.end().cast::<[u8; 8]>().write(word.to_le_bytes()) };
            self.pos += len;
        }
        fits
    }

    /// Appends the `head_len` low bytes of `head`, then `src[at..at + count]`, then the `len` low bytes of `tail`: what
    /// one instruction of an LZ format is made of. `head_len` is at most 4, `len` at most 8.
    ///
    /// # Errors
    /// `TooLong` where there is no room, `Truncated` where `src` has fewer bytes.
    #[inline(always)]
    #[allow(clippy::too_many_arguments)] // all of them in registers
    pub fn emit(
        &mut self,
        head: u32,
        head_len: usize,
        src: &[u8],
        at: usize,
        count: usize,
        tail: u64,
        len: usize,
    ) -> Result<(), CodecErrorKind> {
        if self.emit_short::<32>(head, head_len, src, at, count, tail, len) {
            return Ok(());
        }
        self.push_low(head.into(), head_len)?;
        self.literals(src, at, count)?;
        self.push_low(tail, len)
    }

    /// [`emit`](Self::emit) of at most `MOST` bytes of `src`, 16 or 32. Does nothing and answers `false` where there are
    /// more, and near both ends.
    #[inline(always)]
    #[allow(clippy::too_many_arguments)] // all of them in registers
    pub fn emit_short<const MOST: usize>(
        &mut self,
        head: u32,
        head_len: usize,
        src: &[u8],
        at: usize,
        count: usize,
        tail: u64,
        len: usize,
    ) -> bool {
        let is_short = count <= MOST && head_len <= 4 && len <= 8;
        let fits = WIDE_COPIES
            && is_short
            && self.remaining() >= MOST + 12
            && at < src.len().saturating_sub(MOST - 1);
        if fits {
            // SAFETY: `MOST` bytes can be read at `at`; four, at most `MOST` and eight can be written at `pos`.
            unsafe {
                let (end, from) = (self.end(), src.as_ptr().add(at));
                end.cast::<[u8; 4]>().write(head.to_le_bytes());
                if MOST == 16 {
                    copy16(from, end.add(head_len));
                } else {
                    copy32(from, end.add(head_len));
                }
                end.add(head_len + count).cast::<[u8; 8]>().write(tail.to_le_bytes());
            }
            self.pos += head_len + count + len;
        }
        fits
    }

    /// Appends `src[at..at + len]`.
    ///
    /// # Errors
    /// `TooLong` where there is no room, `Truncated` where `src` has fewer bytes.
    #[inline(always)]
    pub fn literals(&mut self, src: &[u8], at: usize, len: usize) -> Result<(), CodecErrorKind> {
        let (room, left) = (self.remaining(), src.len().saturating_sub(at));
        if WIDE_COPIES && len <= LONG && room.min(left) >= SLACK && len <= room.min(left) - SLACK {
            // SAFETY: `len + SLACK` bytes can be read at `at` and written at `pos`; `src` is a shared
            // borrow and so lies outside the uniquely borrowed `out`.
            unsafe {
                copy_long(src.as_ptr().add(at), self.end(), len);
            }
            self.pos += len;
            return Ok(());
        }
        if WIDE_COPIES && len <= 16 && room.min(left) >= 16 {
            // SAFETY: 16 bytes can be read at `at` and written at `pos`, as just compared; `src` is a shared borrow
            // and so lies outside the uniquely borrowed `out`.
            unsafe { copy16(src.as_ptr().add(at), self.end()) };
            self.pos += len;
            return Ok(());
        }
        self.cold_path(|window| window.exact_literals(src, at, len))
    }

    /// Runs a rare operation on a copy of this window, so that the original need not have an address and
    /// stays in registers.
    ///
    /// # Errors
    /// Errors of `rare`.
    #[inline(always)]
    pub fn cold_path(
        &mut self,
        rare: impl FnOnce(&mut Window<'_>) -> Result<(), CodecErrorKind>,
    ) -> Result<(), CodecErrorKind> {
        let mut window =
            Window { out: self.out.reborrow(), pos: self.pos, dict: self.dict, wanted: self.wanted };
        let result = rare(&mut window);
        self.pos = window.pos;
        result
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
    ///
    /// # Errors
    /// `TooLong` where there is no room.
    #[inline(always)]
    pub fn fill(&mut self, byte: u8, len: usize) -> Result<(), CodecErrorKind> {
        let mut room = self.out.get(self.pos, len).ok_or(CodecErrorKind::TooLong)?;
        room.fill(byte);
        self.pos += len;
        Ok(())
    }

    /// Appends `count` bytes of `head`, at most 16, and then a match. Does nothing and answers `false` where
    /// the general operations are needed: near both ends, into the dictionary.
    #[inline(always)]
    pub fn sequence(&mut self, head: &[u8; 32], count: usize, distance: usize, len: usize) -> bool {
        let (start, room) = (self.pos + count, self.remaining());
        if !WIDE_COPIES
            || count > 16
            || room < 16 + 2 * SLACK
            || len > room - (16 + SLACK)
            || distance.wrapping_sub(1) >= start
        {
            return false;
        }
        // SAFETY: `1 <= distance <= start`; `16 + len + SLACK` and `16 + 2 * SLACK` bytes of room, as just compared. `head` covers
        // eight bytes from `count - distance` on; history before `end` is read only where it has eight, or `distance`, bytes.
        unsafe {
            let end = self.end();
            copy16(head.as_ptr(), end);
            let end = end.add(count);
            if distance >= 8 {
                let from = end.sub(distance);
                copy8(from, end);
                copy8(from.add(8), end.add(8));
                copy8(from.add(16), end.add(16));
                if len > 24 {
                    if start < 16 {
                        return false;
                    }
                    wide_match::<false>(end, distance, len);
                }
            } else {
                // Literals are read from the input: they are not stored yet.
                let last = if count >= distance {
                    load8(head.as_ptr().add(count - distance)) << (64 - 8 * distance)
                } else if start >= 8 {
                    load8(end.sub(8))
                } else {
                    return false;
                };
                let (pattern, step) = repeated_word(last, distance);
                if len > LONG {
                    long_pattern(end, pattern, step, len);
                } else {
                    wide_pattern(end, pattern, step, len);
                }
            }
        }
        self.pos = start + len;
        true
    }

    /// Appends `len` bytes that begin `distance` bytes back; the source may overlap what it writes
    /// and may begin in the dictionary.
    ///
    /// # Errors
    /// `TooLong` where there is no room, `Distance` for a distance of 0 or one that lies before the dictionary.
    #[inline(always)]
    pub fn copy_match(&mut self, distance: usize, len: usize) -> Result<(), CodecErrorKind> {
        let room = self.remaining();
        // The second comparison is for 0 and for what lies before `out`.
        if WIDE_COPIES
            && self.pos >= 16
            && distance.wrapping_sub(1) < self.pos
            && room >= SLACK
            && len <= room - SLACK
        {
            // SAFETY: 16 bytes of history, `1 <= distance <= pos`, and `len + SLACK` bytes of room.
            unsafe {
                wide_match::<false>(self.end(), distance, len);
            }
            self.pos += len;
            return Ok(());
        }
        if WIDE_COPIES && distance >= 8 && distance <= self.pos && len <= 16 && room >= 16 {
            // SAFETY: `distance <= pos`, 16 bytes of room; each load ends at or before the last byte stored.
            unsafe {
                let (end, from) = (self.end(), self.end().sub(distance));
                copy8(from, end);
                copy8(from.add(8), end.add(8));
            }
            self.pos += len;
            return Ok(());
        }
        self.cold_path(|window| window.edge_match(distance, len))
    }

    /// Matches at the beginning, near the end, or out of the dictionary.
    #[inline(never)]
    fn edge_match(&mut self, distance: usize, mut len: usize) -> Result<(), CodecErrorKind> {
        if len > self.remaining() {
            return Err(CodecErrorKind::TooLong);
        }
        if distance.wrapping_sub(1) >= self.pos {
            let before = distance.wrapping_sub(self.pos);
            if distance == 0 || before > self.dict.len() {
                return Err(CodecErrorKind::Distance);
            }
            let first = len.min(before);
            self.exact_literals(self.dict, self.dict.len() - before, first)?;
            // What is left begins at `out[0]`, `distance` back from the new position.
            len -= first;
            if len == 0 {
                return Ok(());
            }
        }
        if WIDE_COPIES {
            // SAFETY: `1 <= distance <= pos` and `len <= remaining`, both checked above.
            unsafe { self.exact_match(distance, len) };
        } else {
            for _ in 0..len {
                // SAFETY: `pos - distance` has been written, and `pos` stays below `len`.
                unsafe { *self.end() = *self.end().sub(distance) };
                self.pos += 1;
            }
        }
        Ok(())
    }

    /// Wide as far as possible, then the last bytes exactly.
    ///
    /// # Safety
    /// `1 <= distance <= pos` and `len <= remaining`.
    unsafe fn exact_match(&mut self, distance: usize, len: usize) {
        // History of 16 bytes, the first of them made up where there are less.
        let mut history = [0u8; 16];
        let known = self.pos.min(16);
        let wide = len.min(self.remaining().saturating_sub(SLACK));
        let end = self.end();
        // SAFETY: `known` bytes precede `pos` and fit `history`. With `distance >= 16` no made-up byte is
        // used, since `pos >= 16`; with less, only the last `distance` bytes are. Wide stores end before
        // `wide + SLACK <= remaining`; the tail is at most `SLACK` bytes long, and so is each piece of it.
        unsafe {
            core::ptr::copy_nonoverlapping(end.sub(known), history.as_mut_ptr().add(16 - known), known);
            if distance >= 16 {
                if len > LONG {
                    long_match(end, distance, len);
                } else {
                    if wide > 0 {
                        wide_match::<false>(end, distance, wide);
                    }
                    let (end, tail) = (end.add(wide), len - wide);
                    let first = tail.min(distance);
                    core::ptr::copy_nonoverlapping(end.sub(distance), end, first);
                    core::ptr::copy_nonoverlapping(end, end.add(first), tail - first);
                }
            } else {
                let (pattern, step) = repeated(history.as_ptr().add(16), distance);
                if len > LONG {
                    long_pattern(end, pattern, step, len);
                } else {
                    let mut at = 0;
                    while at < wide {
                        store16(end.add(at), pattern);
                        at += step;
                    }
                    // What is left begins a period: `at` is a multiple of `distance`.
                    let mut last = [0u8; SLACK + 32];
                    wide_pattern(last.as_mut_ptr(), pattern, step, SLACK);
                    core::ptr::copy_nonoverlapping(
                        last.as_ptr(),
                        end.add(at.min(len)),
                        len.saturating_sub(at),
                    );
                }
            }
        }
        self.pos += len;
    }

    #[inline(always)]
    fn end(&mut self) -> *mut u8 {
        // SAFETY: `pos <= len`.
        unsafe { self.out.as_mut_ptr().add(self.pos) }
    }
}
