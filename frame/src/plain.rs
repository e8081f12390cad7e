//! [`Plain`]: the decoded bytes of a container, read at any position; and [`Content`], new decoded
//! bytes put together from pieces of old and new ones.
//!
//! Bloscpack files, bcolz columns and Blaze datasets are all rows of equal size cut into chunks of equal
//! plain size, so one trait reads them and one description of an edit changes them.
#![deny(clippy::indexing_slicing, clippy::arithmetic_side_effects)]

use crate::error::{Error, IoKind};
use crate::io::ReadAt;
#[cfg(all(feature = "std", feature = "classic"))]
use crate::parallel;
use crate::shape::{Runs, copy_items};
#[cfg(all(feature = "std", feature = "classic"))]
use crate::spare::{Tools, crew};
use alloc::vec::Vec;
#[cfg(all(feature = "std", feature = "classic"))]
use blosc_core::Codec;
use blosc_core::Pool;
#[cfg(feature = "classic")]
use core::cell::RefCell;
use core::ops::Range;

/// Decoded bytes that can be read at any position.
pub trait Plain {
    /// How many there are.
    fn nbytes(&self) -> u64;

    /// Fills `out` with the decoded bytes from `at` on.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] beyond the end; errors of reading and decoding the chunks touched.
    fn read_plain(&self, pool: &mut Pool, at: u64, out: &mut [u8]) -> Result<(), Error>;

    /// A good number of bytes to read at once: the plain size of a chunk.
    fn chunk_nbytes(&self) -> u64 {
        1 << 20
    }

    /// How many bytes cost as much to read as a single one: what lies closer together is read at once.
    fn granule(&self) -> u64 {
        self.chunk_nbytes()
    }

    /// Fills `out` with a box of the array that the bytes are: items of `item` bytes in C order of `shape`.
    ///
    /// # Errors
    /// As [`Plain::read_plain`], and [`Error::Param`] for an `out` of another size than the box.
    fn read_box(
        &self,
        pool: &mut Pool,
        (shape, item): (&[u64], u64),
        ranges: &[Range<u64>],
        out: &mut [u8],
    ) -> Result<(), Error> {
        let runs = Runs::new(shape, ranges);
        let run = usize::try_from(runs.len.saturating_mul(item)).map_err(|_| IoKind::OutOfMemory)?;
        let volume = ranges.iter().fold(item, |n, r| n.saturating_mul(r.end.saturating_sub(r.start)));
        if volume != out.len() as u64 {
            let value = i64::try_from(out.len()).unwrap_or(i64::MAX);
            return Err(Error::Param { name: "bytes", value, allowed: "those of the box" });
        }
        let close = runs.gap().is_some_and(|gap| gap.saturating_mul(item) < self.granule());
        let line = run.saturating_mul(usize::try_from(runs.count).map_err(|_| IoKind::OutOfMemory)?);
        let step = usize::try_from(runs.step.saturating_mul(item)).map_err(|_| IoKind::OutOfMemory)?;
        let (mut window, mut rest) = (Window::new(self.chunk_nbytes()), out);
        runs.each_line(&mut |first| {
            let Some((now, behind)) = core::mem::take(&mut rest).split_at_mut_checked(line) else {
                return Ok(());
            };
            rest = behind;
            let at = first.saturating_mul(item);
            let mut read = |at, out: &mut [u8]| self.read_plain(pool, at, out);
            if close {
                return window.read_runs(self.nbytes(), at, (run, step), now, &mut read);
            }
            let starts = (0..runs.count).map(|k| at.saturating_add(k.saturating_mul(step as u64)));
            now.chunks_mut(run.max(1)).zip(starts).try_for_each(|(out, at)| read(at, out))
        })
    }
}

/// Most bytes that are held at a time.
pub(crate) const MOST_HELD: u64 = 64 << 20;

/// The bytes read last, so that small reads that follow each other decode a chunk once.
pub(crate) struct Window {
    /// Positions that are multiples of this are where it starts.
    step: u64,
    start: u64,
    bytes: Vec<u8>,
}

/// Reads bytes at a position.
pub(crate) type ReadPlain<'f> = dyn FnMut(u64, &mut [u8]) -> Result<(), Error> + 'f;

impl Window {
    /// A window that moves by `step` bytes, 64 MiB at most.
    pub fn new(step: u64) -> Window {
        Window { step: step.clamp(1, MOST_HELD), start: 0, bytes: Vec::new() }
    }

    /// Fills `out` from `at` on, of `nbytes` bytes that `read` reads.
    ///
    /// # Errors
    /// What `read` returns; [`IoKind::UnexpectedEnd`] beyond the end.
    pub fn read(
        &mut self,
        nbytes: u64,
        mut at: u64,
        mut out: &mut [u8],
        read: &mut ReadPlain<'_>,
    ) -> Result<(), Error> {
        if out.len() as u64 >= self.step {
            return read(at, out);
        }
        while !out.is_empty() {
            let have = self.load(nbytes, at, read)?;
            let n = have.len().min(out.len());
            let (Some(from), Some((now, rest))) =
                (have.get(..n), core::mem::take(&mut out).split_at_mut_checked(n))
            else {
                break;
            };
            if n == 0 {
                return Err(IoKind::UnexpectedEnd.into());
            }
            now.copy_from_slice(from);
            out = rest;
            at = at.saturating_add(n as u64);
        }
        Ok(())
    }

    /// Fills `out` with runs of `run` bytes that start `step` bytes apart, the first of them at `at`.
    ///
    /// # Errors
    /// As [`Window::read`].
    fn read_runs(
        &mut self,
        nbytes: u64,
        mut at: u64,
        (run, step): (usize, usize),
        mut out: &mut [u8],
        read: &mut ReadPlain<'_>,
    ) -> Result<(), Error> {
        while !out.is_empty() {
            let have = match run as u64 >= self.step {
                true => &[],
                false => self.load(nbytes, at, read)?,
            };
            let more = have.len().checked_sub(run).and_then(|behind| behind.checked_div(step));
            // A run that crosses the end of the window is read by itself.
            let whole = more.map_or(0, |more| more.saturating_add(1)).min(out.len().div_ceil(run.max(1)));
            let n = run.saturating_mul(whole.max(1));
            let Some((now, rest)) = core::mem::take(&mut out).split_at_mut_checked(n) else { break };
            match whole {
                0 => self.read(nbytes, at, now, read)?,
                _ => copy_items(run, (now, run), (have, step), whole),
            }
            out = rest;
            at = at.saturating_add((step as u64).saturating_mul(whole.max(1) as u64));
        }
        Ok(())
    }

    /// The bytes from `at` to the end of the window that `at` lies in.
    fn load(&mut self, nbytes: u64, at: u64, read: &mut ReadPlain<'_>) -> Result<&[u8], Error> {
        let start = at.saturating_sub(at.checked_rem(self.step).unwrap_or(0));
        if self.start != start || self.bytes.is_empty() {
            let n = nbytes.saturating_sub(start).min(self.step);
            self.bytes.resize(usize::try_from(n).map_err(|_| IoKind::OutOfMemory)?, 0);
            self.start = start;
            read(start, &mut self.bytes).inspect_err(|_| self.bytes.clear())?;
        }
        let skip = usize::try_from(at.saturating_sub(start)).unwrap_or(usize::MAX);
        Ok(self.bytes.get(skip..).unwrap_or_default())
    }
}

/// Decoded bytes read by way of a [`Window`].
#[cfg(feature = "classic")]
pub(crate) struct Held<P> {
    source: P,
    window: RefCell<Window>,
}

#[cfg(feature = "classic")]
impl<P: Plain> Held<P> {
    /// Reads `source` in pieces of its own choice.
    pub fn new(source: P) -> Held<P> {
        let window = RefCell::new(Window::new(source.chunk_nbytes()));
        Held { source, window }
    }
}

#[cfg(feature = "classic")]
impl<P: Plain> Plain for Held<P> {
    fn nbytes(&self) -> u64 {
        self.source.nbytes()
    }
    fn read_plain(&self, pool: &mut Pool, at: u64, out: &mut [u8]) -> Result<(), Error> {
        check_range(at, out.len(), self.nbytes())?;
        let read = &mut |at, out: &mut [u8]| self.source.read_plain(pool, at, out);
        self.window.borrow_mut().read(self.nbytes(), at, out, read)
    }
    fn chunk_nbytes(&self) -> u64 {
        self.source.chunk_nbytes()
    }
}

/// The bytes of a file that are not compressed.
pub struct Uncompressed<R> {
    source: R,
    offset: u64,
    len: u64,
}

impl<R: ReadAt> Uncompressed<R> {
    /// `len` bytes from `offset` on.
    pub fn new(source: R, offset: u64, len: u64) -> Uncompressed<R> {
        Uncompressed { source, offset, len }
    }
}

impl<R: ReadAt> Plain for Uncompressed<R> {
    fn nbytes(&self) -> u64 {
        self.len
    }
    fn read_plain(&self, _: &mut Pool, at: u64, out: &mut [u8]) -> Result<(), Error> {
        check_range(at, out.len(), self.len)?;
        Ok(self.source.read_exact_at(self.offset.saturating_add(at), out)?)
    }
    /// A page: a read of one byte costs a call, and one of its neighbours no more.
    fn granule(&self) -> u64 {
        4096
    }
}

/// Implements [`Plain`] for a type by what is inside.
macro_rules! plain_by {
    ([$($of:tt)*] $type:ty, $this:ident => $inside:expr) => {
        impl<$($of)*> $crate::plain::Plain for $type {
            fn nbytes(&self) -> u64 {
                let $this = self;
                $inside.nbytes()
            }
            fn read_plain(&self, pool: &mut Pool, at: u64, out: &mut [u8]) -> Result<(), Error> {
                let $this = self;
                $inside.read_plain(pool, at, out)
            }
            fn chunk_nbytes(&self) -> u64 {
                let $this = self;
                $inside.chunk_nbytes()
            }
            fn granule(&self) -> u64 {
                let $this = self;
                $inside.granule()
            }
            fn read_box(
                &self,
                pool: &mut Pool,
                array: (&[u64], u64),
                ranges: &[Range<u64>],
                out: &mut [u8],
            ) -> Result<(), Error> {
                let $this = self;
                $inside.read_box(pool, array, ranges, out)
            }
        }
    };
}
#[cfg(all(feature = "std", feature = "classic"))]
pub(crate) use plain_by;

plain_by!([P: Plain + ?Sized] &P, this => (**this));
plain_by!([P: Plain + ?Sized] alloc::boxed::Box<P>, this => (**this));

/// Checks that `at .. at + len` lies inside `nbytes`; returns the end.
///
/// # Errors
/// [`Error::OutOfRange`] otherwise.
pub fn check_range(at: u64, len: usize, nbytes: u64) -> Result<u64, Error> {
    match at.checked_add(len as u64) {
        Some(end) if end <= nbytes => Ok(end),
        end => Err(Error::OutOfRange { what: "byte", index: end.unwrap_or(u64::MAX), len: nbytes }),
    }
}

/// Cuts a read of `out` at `at` into parts of chunks of `chunk` decoded bytes each: their numbers, which bytes of them, and
/// where those go.
#[cfg(all(feature = "std", feature = "classic"))]
pub(crate) fn over_chunks(
    chunk: u64,
    mut at: u64,
    mut out: &mut [u8],
) -> impl Iterator<Item = (u64, Range<usize>, &mut [u8])> {
    let chunk = chunk.max(1);
    core::iter::from_fn(move || {
        let (index, skip) = (at.checked_div(chunk)?, at.checked_rem(chunk)?);
        let room = usize::try_from(chunk.saturating_sub(skip)).unwrap_or(usize::MAX);
        let n = room.min(out.len());
        let start = usize::try_from(skip).unwrap_or(usize::MAX);
        let (now, rest) = core::mem::take(&mut out).split_at_mut_checked(n).filter(|_| n > 0)?;
        (out, at) = (rest, at.saturating_add(n as u64));
        Some((index, start..start.saturating_add(n), now))
    })
}

/// Decodes parts of chunks of about `chunk` bytes, `bytes` in all: `parts` reads them on the calling thread, one after the
/// other up to the first that fails, and `decode` runs on the threads of `pool` where that is worth it.
#[cfg(feature = "classic")]
#[cfg_attr(not(feature = "std"), allow(unused_variables, reason = "without threads there is one way"))]
pub(crate) fn side_by_side<P: Send>(
    pool: &mut Pool,
    (bytes, chunk): (usize, u64),
    mut parts: impl Iterator<Item = Result<P, Error>>,
    decode: impl Fn(&mut Pool, P) -> Result<(), Error> + Sync,
) -> Result<(), Error> {
    #[cfg(feature = "std")]
    let several = parallel::worth(Codec::Lz4, bytes as u64) && bytes as u64 > chunk;
    #[cfg(feature = "std")]
    if pool.threads() > 1 && several && chunk <= parallel::MAX_AHEAD.into() {
        let decode = |tools: &mut Tools, part: Result<P, Error>| decode(&mut tools.0, part?);
        let together = parallel::handed(usize::try_from(chunk).unwrap_or(usize::MAX));
        let mut failed = false;
        let parts = core::iter::from_fn(|| {
            let part = if failed { None } else { parts.next() };
            part.inspect(|part| failed = part.is_err())
        });
        return parallel::ordered(&mut crew(pool.threads()), together, parts, decode, |done| done);
    }
    parts.try_for_each(|part| decode(pool, part?))
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
    ///
    /// # Errors
    /// [`Error::OutOfRange`] beyond the end; errors of `old` and of the sources.
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
