//! [`Window`]: the output of an LZ decoder, which is its own history.
//!
//! ```text
//! dictionary (optional)        out[0 .. pos)          out[pos .. len)
//! +----------------------+ +----------------------+ +-----------------+
//! | older history        | | written, may be read | | not yet written |
//! +----------------------+ +----------------------+ +-----------------+
//! ```
//! Each operation checks its lengths at the door and then copies with wide, possibly overlapping
//! stores; the last bytes before `len` are copied exactly.

use super::out::Out;
use crate::codec::CodecErrorKind;

/// Output position and history of an LZ decoder. Only `out[..pos]` is ever read.
pub struct Window<'a> {
    out: Out<'a>,
    pos: usize,
    dict: &'a [u8],
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
        self.literals(&[byte], 0, 1)
    }

    /// Appends `src[at..at + len]`.
    #[inline(always)]
    pub fn literals(&mut self, src: &[u8], at: usize, len: usize) -> Result<(), CodecErrorKind> {
        let end = at.checked_add(len).ok_or(CodecErrorKind::Truncated)?;
        let piece = src.get(at..end).ok_or(CodecErrorKind::Truncated)?;
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
        if len > self.remaining() {
            return Err(CodecErrorKind::TooLong);
        }
        if distance == 0 || distance > self.pos + self.dict.len() {
            return Err(CodecErrorKind::Distance);
        }
        for _ in 0..len {
            let byte = if distance > self.pos {
                self.dict[self.dict.len() - (distance - self.pos)]
            } else {
                self.written()[self.pos - distance]
            };
            if let Some(mut one) = self.out.get(self.pos, 1) {
                one.fill(byte);
            }
            self.pos += 1;
        }
        Ok(())
    }
}
