//! [`Plain`]: the decoded bytes of a container, read at any position; and [`Content`], new decoded
//! bytes put together from pieces of old and new ones.
//!
//! Bloscpack files, bcolz columns and Blaze datasets are all rows of equal size cut into chunks of equal
//! plain size, so one trait reads them and one description of an edit changes them.
#![deny(clippy::indexing_slicing, clippy::arithmetic_side_effects)]

use crate::error::Error;
use crate::io::ReadAt;
use alloc::vec::Vec;
use blosc_core::Pool;
use core::ops::Range;

/// Decoded bytes that can be read at any position.
pub trait Plain {
    /// How many there are.
    fn nbytes(&self) -> u64;

    /// Fills `out` with the decoded bytes from `at` on.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] beyond the end; whatever reading and decoding the chunks touched gives.
    fn read_plain(&self, pool: &mut Pool, at: u64, out: &mut [u8]) -> Result<(), Error>;

    /// A good number of bytes to read at once: the plain size of a chunk.
    fn chunk_nbytes(&self) -> u64 {
        1 << 20
    }
}

impl<P: Plain + ?Sized> Plain for &P {
    fn nbytes(&self) -> u64 {
        (**self).nbytes()
    }
    fn read_plain(&self, pool: &mut Pool, at: u64, out: &mut [u8]) -> Result<(), Error> {
        (**self).read_plain(pool, at, out)
    }
    fn chunk_nbytes(&self) -> u64 {
        (**self).chunk_nbytes()
    }
}

impl<P: Plain + ?Sized> Plain for alloc::boxed::Box<P> {
    fn nbytes(&self) -> u64 {
        (**self).nbytes()
    }
    fn read_plain(&self, pool: &mut Pool, at: u64, out: &mut [u8]) -> Result<(), Error> {
        (**self).read_plain(pool, at, out)
    }
    fn chunk_nbytes(&self) -> u64 {
        (**self).chunk_nbytes()
    }
}

/// Checks that `at .. at + len` lies inside `nbytes`; returns the end.
pub fn check_range(at: u64, len: usize, nbytes: u64) -> Result<u64, Error> {
    match at.checked_add(len as u64) {
        Some(end) if end <= nbytes => Ok(end),
        end => Err(Error::OutOfRange { what: "byte", index: end.unwrap_or(u64::MAX), len: nbytes }),
    }
}

/// Reads a part of chunk `i`, its decoded bytes `range`, into `out`.
#[cfg(feature = "std")]
pub(crate) type ReadPart<'f> = dyn FnMut(u64, Range<usize>, &mut [u8]) -> Result<(), Error> + 'f;

/// Splits a read of `out` at `at` over chunks of `chunk` decoded bytes each.
#[cfg(feature = "std")]
pub(crate) fn over_chunks(
    chunk: u64,
    mut at: u64,
    mut out: &mut [u8],
    read: &mut ReadPart<'_>,
) -> Result<(), Error> {
    while !out.is_empty() {
        let (Some(index), Some(skip)) = (at.checked_div(chunk), at.checked_rem(chunk)) else {
            return Err(Error::OutOfRange { what: "byte", index: at, len: 0 });
        };
        let room = usize::try_from(chunk.saturating_sub(skip)).unwrap_or(usize::MAX);
        let n = room.min(out.len());
        let start = usize::try_from(skip).unwrap_or(usize::MAX);
        let Some((now, rest)) = core::mem::take(&mut out).split_at_mut_checked(n) else { break };
        read(index, start..start.saturating_add(n), now)?;
        out = rest;
        at = at.saturating_add(n as u64);
    }
    Ok(())
}

/// One piece of new content.
pub enum Piece<'a> {
    /// Decoded bytes `range` of what was there before.
    Old(Range<u64>),
    /// Bytes `range` of a source.
    New(&'a dyn ReadAt, Range<u64>),
    /// A pattern repeated from its start over so many bytes.
    Fill(&'a [u8], u64),
}

impl Piece<'_> {
    pub(crate) fn len(&self) -> u64 {
        match self {
            Piece::Old(r) | Piece::New(_, r) => r.end.saturating_sub(r.start),
            Piece::Fill(_, n) => *n,
        }
    }
}

/// New decoded content, piece after piece. Bytes before the change are the old ones in
/// their old places, and so are those after it, moved as a whole.
pub struct Content<'a> {
    pieces: Vec<Piece<'a>>,
    nbytes: u64,
    changed: Range<u64>,
}

impl<'a> Content<'a> {
    /// `old` bytes of content with `range` of them replaced by `pieces`.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] when `range` is not part of the old content.
    pub fn splice(old: u64, range: Range<u64>, pieces: Vec<Piece<'a>>) -> Result<Content<'a>, Error> {
        if range.start > range.end || range.end > old {
            return Err(Error::OutOfRange { what: "byte", index: range.end.max(range.start), len: old });
        }
        let added = pieces.iter().fold(0u64, |sum, p| sum.saturating_add(p.len()));
        let tail = old.saturating_sub(range.end);
        let nbytes = range.start.saturating_add(added).saturating_add(tail);
        let moved = added != range.end.saturating_sub(range.start);
        let end = if moved { nbytes.max(old) } else { range.end };
        let mut all = alloc::vec![Piece::Old(0..range.start)];
        all.extend(pieces);
        all.push(Piece::Old(range.end..old));
        Ok(Content { pieces: all, nbytes, changed: range.start..end })
    }

    /// How many bytes there will be.
    pub fn nbytes(&self) -> u64 {
        self.nbytes
    }

    /// The bytes that differ from, or lie elsewhere than, the old ones.
    pub fn changed(&self) -> Range<u64> {
        self.changed.clone()
    }

    /// Fills `out` with the new content from `at` on, reading old bytes from `old`.
    pub fn read(
        &self,
        pool: &mut Pool,
        old: &dyn Plain,
        mut at: u64,
        mut out: &mut [u8],
    ) -> Result<(), Error> {
        check_range(at, out.len(), self.nbytes)?;
        let mut start = 0u64;
        for piece in &self.pieces {
            let end = start.saturating_add(piece.len());
            if at < end && !out.is_empty() {
                let skip = at.saturating_sub(start);
                let n = usize::try_from(end.saturating_sub(at)).unwrap_or(usize::MAX).min(out.len());
                let Some((now, rest)) = core::mem::take(&mut out).split_at_mut_checked(n) else { break };
                match piece {
                    Piece::Old(r) => old.read_plain(pool, r.start.saturating_add(skip), now)?,
                    Piece::New(source, r) => source.read_exact_at(r.start.saturating_add(skip), now)?,
                    Piece::Fill(pattern, _) => fill(pattern, skip, now),
                }
                out = rest;
                at = at.saturating_add(n as u64);
            }
            start = end;
        }
        Ok(())
    }
}

/// Repeats `pattern`, from its byte `skip` on, over `out`.
fn fill(pattern: &[u8], skip: u64, out: &mut [u8]) {
    let phase = skip.checked_rem(pattern.len() as u64).unwrap_or(0);
    let phase = usize::try_from(phase).unwrap_or(0);
    for (to, from) in out.iter_mut().zip(pattern.iter().cycle().skip(phase)) {
        *to = *from;
    }
}

#[cfg(test)]
#[allow(clippy::indexing_slicing, clippy::arithmetic_side_effects)]
mod tests {
    use super::*;

    struct Bytes(Vec<u8>);
    impl Plain for Bytes {
        fn nbytes(&self) -> u64 {
            self.0.len() as u64
        }
        fn read_plain(&self, _: &mut Pool, at: u64, out: &mut [u8]) -> Result<(), Error> {
            Ok(self.0.read_exact_at(at, out)?)
        }
    }

    #[test]
    fn pieces_come_in_order_from_any_position() {
        let old = Bytes((0..20).collect());
        let new: &[u8] = &[100, 101, 102];
        let pieces = alloc::vec![Piece::New(&new, 1..3), Piece::Fill(&[7, 8], 5)];
        let content = Content::splice(20, 4..10, pieces).unwrap();
        let want = [0, 1, 2, 3, 101, 102, 7, 8, 7, 8, 7, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19];
        assert_eq!((content.nbytes(), content.changed()), (21, 4..21));
        for at in 0..want.len() {
            for end in at..want.len() {
                let mut out = alloc::vec![0; end - at];
                content.read(&mut Pool::new(1), &old, at as u64, &mut out).unwrap();
                assert_eq!(out, want[at..end]);
            }
        }
        assert!(content.read(&mut Pool::new(1), &old, 20, &mut [0; 2]).is_err());
        assert!(Content::splice(20, 4..21, Vec::new()).is_err());
    }
}
