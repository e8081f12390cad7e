//! [`Pieces`]: the bytes of a source as far as they were fetched, by whatever means, and a list of those that a reader missed.
//!
//! ```text
//! read:   what is known is copied; what is not is noted, and the read fails with NotFetched
//! missed: the noted ranges, in order, joined where little lies between them
//! ```
//! So every reader of [`ReadAt`] works without input of its own: it runs, its caller fetches what it missed, and it runs again.

#[cfg(feature = "table")]
use super::traits::{Part, Shared};
use super::traits::{ReadAt, filled};
use crate::error::{Error, IoError, IoKind};
use crate::limits::resize;
use crate::spare::Lock;
use alloc::collections::BTreeMap;
use alloc::vec::Vec;
use bytes::Bytes;
use core::ops::Range;

/// Parts of a source of which nothing else is known but its size.
///
/// ```
/// use blosc_frame::{Limits, SuperChunk, io::Pieces};
/// # let mut writer = SuperChunk::memory(&blosc_core::Params::new(4))?;
/// # writer.append_data(&[1; 400])?;
/// # let frame = writer.into_bytes()?;
/// let mut pieces = Pieces::new(frame.len() as u64);
/// loop {
///     let chunks = SuperChunk::open_read(&pieces, &Limits::DEFAULT).map(|frame| frame.nchunks());
///     let ranges = pieces.missed(Pieces::GAP);
///     if ranges.is_empty() {
///         assert_eq!(chunks?, 1);
///         break;
///     }
///     for range in ranges {
///         // Any way to fetch them will do, one that is awaited as well; here they are in memory.
///         let bytes = frame[range.start as usize..range.end as usize].to_vec();
///         pieces.put(range, bytes)?;
///     }
/// }
/// # Ok::<(), blosc_frame::Error>(())
/// ```
pub struct Pieces {
    size: u64,
    /// By where they start. None lies inside of another, so that which starts later ends later, too.
    known: BTreeMap<u64, Bytes>,
    missed: Lock<Vec<Range<u64>>>,
}

impl Pieces {
    /// Bytes between two ranges that are fetched rather than asked for apart. At 10 ms and 100 MB/s a request costs as much
    /// as a MiB; a sixteenth of that is little where requests run side by side.
    pub const GAP: u64 = 64 << 10;
    /// Bytes that a reader of all of a far source fetches at a time: at 10 ms and 100 MB/s they take sixteen times as long to
    /// arrive as to ask for.
    pub(crate) const AT_ONCE: u64 = 16 << 20;

    /// Bytes that are asked for before any of them has come: who answers may claim more than there is.
    const UNSEEN: u64 = 64 << 20;

    /// Nothing is known of a source of `size` bytes.
    pub fn new(size: u64) -> Pieces {
        Pieces { size, known: BTreeMap::new(), missed: Lock::new(Vec::new()) }
    }

    /// Whole files by their numbers, for [`Pieces::file`] alone.
    pub(crate) fn of_files(files: impl Iterator<Item = (u64, Bytes)>) -> Pieces {
        Pieces { known: files.collect(), ..Pieces::new(0) }
    }

    pub(crate) fn file(&self, number: u64) -> Option<&Bytes> {
        self.known.get(&number)
    }

    /// Adds the bytes of a range.
    ///
    /// # Errors
    /// `Param` for bytes that are not as long as the range, which leaves everything as it was.
    pub fn put(&mut self, range: Range<u64>, bytes: impl Into<Bytes>) -> Result<(), Error> {
        let bytes = bytes.into();
        let len = range.end.saturating_sub(range.start);
        if bytes.len() as u64 != len || range.end > self.size {
            let value = i64::try_from(bytes.len()).unwrap_or(i64::MAX);
            return Err(Error::Param { name: "bytes of a piece", value, allowed: "as long as its range" });
        }
        if self.from(range.start).map_or(0, |known| known.len() as u64) < len {
            let inside = |start: u64, piece: &Bytes| start.saturating_add(piece.len() as u64) <= range.end;
            let covered = self.known.range(range.clone()).filter(|(start, piece)| inside(**start, piece));
            for start in covered.map(|(start, _)| *start).collect::<Vec<_>>() {
                self.known.remove(&start);
            }
            self.known.insert(range.start, bytes);
        }
        Ok(())
    }

    /// Reads these ranges of the source that the pieces are of, 64 MiB at once.
    ///
    /// # Errors
    /// Errors of the source, and `OutOfMemory`.
    pub fn fetch(&mut self, source: &(impl ReadAt + ?Sized), ranges: &[Range<u64>]) -> Result<(), Error> {
        let len = |range: &Range<u64>| range.end.saturating_sub(range.start);
        let cut = |range: &Range<u64>| {
            let (start, end) = (range.start, range.end);
            let starts = (start..end).step_by(Pieces::UNSEEN as usize);
            starts.map(move |at| at..end.min(at.saturating_add(Pieces::UNSEEN)))
        };
        let mut ranges = ranges.iter().flat_map(cut).peekable();
        while ranges.peek().is_some() {
            let (mut bufs, mut left) = (Vec::new(), Pieces::UNSEEN);
            while let Some(range) = ranges.next_if(|range| len(range) <= left) {
                let mut buf = Vec::new();
                resize(&mut buf, len(&range))?;
                left = left.saturating_sub(len(&range));
                bufs.push((range, buf));
            }
            let mut parts: Vec<_> = bufs.iter_mut().map(|(range, buf)| (range.start, &mut **buf)).collect();
            source.read_ranges(&mut parts)?;
            bufs.into_iter().try_for_each(|(range, buf)| self.put(range, buf))?;
        }
        Ok(())
    }

    /// Notes that a range will be needed.
    pub fn want(&self, range: Range<u64>) {
        let (mut at, end) = (range.start, range.end.min(self.size));
        while at < end {
            let (known, len) = self.from(at).map_or_else(|n| (false, n), |known| (true, known.len() as u64));
            let next = at.saturating_add(len).min(end);
            if !known {
                self.missed.lock().push(at..next);
            }
            at = next;
        }
    }

    /// What was wanted or missed since the last call and was not known then: in order, apart from each other, and joined
    /// where at most `gap` bytes lie between.
    pub fn missed(&self, gap: u64) -> Vec<Range<u64>> {
        let mut missed = core::mem::take(&mut *self.missed.lock());
        missed.sort_unstable_by_key(|range| range.start);
        let mut ranges: Vec<Range<u64>> = Vec::new();
        for range in missed {
            match ranges.last_mut() {
                Some(last) if range.start <= last.end.saturating_add(gap) => {
                    last.end = last.end.max(range.end)
                }
                _ => ranges.push(range),
            }
        }
        ranges
    }

    /// The known bytes from `at` on that lie in one piece, or how many are not known.
    fn from(&self, at: u64) -> Result<&[u8], u64> {
        let before = self.known.range(..=at).next_back().and_then(|(start, piece)| {
            piece.get(usize::try_from(at.saturating_sub(*start)).ok()?..).filter(|rest| !rest.is_empty())
        });
        let next = || self.known.range(at..).next().map_or(self.size, |(start, _)| *start);
        before.ok_or_else(|| next().saturating_sub(at))
    }
}

impl ReadAt for Pieces {
    fn size(&self) -> Result<u64, IoError> {
        Ok(self.size)
    }

    fn read_at(&self, offset: u64, buf: &mut [u8]) -> Result<usize, IoError> {
        let part = filled(buf, self.size, offset);
        self.read_exact_at(offset, part).map(|()| part.len())
    }

    /// Notes all that is missing, not only the first of it.
    fn read_exact_at(&self, offset: u64, buf: &mut [u8]) -> Result<(), IoError> {
        let end = offset.checked_add(buf.len() as u64).filter(|end| *end <= self.size);
        let end = end.ok_or(IoKind::UnexpectedEnd)?;
        let (mut at, mut rest, mut complete) = (offset, buf, true);
        while !rest.is_empty() {
            let n = match self.from(at) {
                Ok(known) => {
                    let n = known.len().min(rest.len());
                    if let (Some(to), Some(from)) = (rest.get_mut(..n), known.get(..n)) {
                        to.copy_from_slice(from);
                    }
                    n
                }
                Err(unknown) => {
                    self.want(at..at.saturating_add(unknown).min(end));
                    complete = false;
                    usize::try_from(unknown).unwrap_or(usize::MAX).min(rest.len())
                }
            };
            rest = core::mem::take(&mut rest).get_mut(n..).unwrap_or_default();
            at = at.saturating_add(n as u64);
        }
        if complete { Ok(()) } else { Err(IoKind::NotFetched.into()) }
    }
}

/// A far source that several readers share: what all of them miss is fetched in one round. Up to [`Pieces::AT_ONCE`] bytes
/// of that stay for later reads.
///
/// ```text
/// run:  every reader runs, and fails where something is missing -> one round fetches all of that -> they run again
/// ```
#[cfg(feature = "table")]
pub(crate) struct Together {
    source: Shared,
    size: u64,
    /// What was fetched, and whether readers run to tell what they miss.
    state: Lock<(Pieces, bool)>,
}

#[cfg(feature = "table")]
impl Together {
    /// Rounds after which readers fetch for themselves: what is longer than that is no file of a writer.
    const MOST: usize = 32;

    pub(crate) fn new(source: Shared) -> Result<Together, IoError> {
        let size = source.size()?;
        Ok(Together { source, size, state: Lock::new((Pieces::new(size), false)) })
    }

    /// Runs `read` until nothing is missing, and gives what it gave then. No other thread may read meanwhile.
    pub(crate) fn run<T>(&self, mut read: impl FnMut() -> T) -> Result<T, Error> {
        for _ in 0..Together::MOST {
            self.state.lock().1 = true;
            let result = read();
            let mut state = self.state.lock();
            state.1 = false;
            let missed = state.0.missed(Pieces::GAP);
            if missed.is_empty() {
                return Ok(result);
            }
            state.0.fetch(&*self.source, &missed)?;
        }
        Ok(read())
    }

    /// Forgets what was fetched, where that is much.
    pub(crate) fn trim(&self) {
        let mut state = self.state.lock();
        let known = state.0.known.values().fold(0u64, |sum, piece| sum.saturating_add(piece.len() as u64));
        if known > Pieces::AT_ONCE {
            state.0 = Pieces::new(self.size);
        }
    }
}

#[cfg(feature = "table")]
impl ReadAt for Together {
    fn size(&self) -> Result<u64, IoError> {
        Ok(self.size)
    }

    fn read_at(&self, offset: u64, buf: &mut [u8]) -> Result<usize, IoError> {
        let part = filled(buf, self.size, offset);
        self.read_ranges(&mut [(offset, part)]).map(|()| part.len())
    }

    fn read_ranges(&self, parts: &mut [Part<'_>]) -> Result<(), IoError> {
        let mut missing = Vec::new();
        let state = self.state.lock();
        for (offset, buf) in parts.iter_mut() {
            match state.0.read_exact_at(*offset, buf) {
                Err(error) if error.kind == IoKind::NotFetched => missing.push((*offset, &mut **buf)),
                read => read?,
            }
        }
        if state.1 && !missing.is_empty() {
            return Err(IoKind::NotFetched.into());
        }
        if !state.1 {
            state.0.missed(0);
        }
        drop(state);
        if missing.is_empty() { Ok(()) } else { self.source.read_ranges(&mut missing) }
    }

    fn is_far(&self) -> bool {
        true
    }
}
