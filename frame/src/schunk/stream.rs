//! The decoded bytes as a stream: [`Reader`] is `Read + Seek`, [`Writer`] appends through `Write`. Both either borrow the
//! super-chunk or own it.
//!
//! ```
//! use blosc_core::{Codec, Params};
//! use blosc_frame::{Limits, SuperChunk};
//! use std::io::{Read, Seek, SeekFrom, Write};
//!
//! let mut writer = SuperChunk::memory(&Params::new(1).codec(Codec::Zstd))?.into_writer();
//! for line in 0..1000 {
//!     writeln!(writer, "line {line:04}")?;
//! }
//! let frame = writer.finish()?.into_bytes()?; // of a frame in a file: `finish()?.commit()?`
//!
//! let mut reader = SuperChunk::from_bytes(frame, &Limits::DEFAULT)?.into_reader();
//! let mut line = [0; 10];
//! reader.seek(SeekFrom::Start(700 * 10))?;
//! reader.read_exact(&mut line)?;
//! assert_eq!(&line, b"line 0700\n");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use super::plan::Ahead;
use super::shared::{Loaded, Shared};
use super::superchunk::SuperChunk;
use crate::cframe::view::fill_special;
use crate::error::Error;
use crate::limits::resize;
use crate::parallel::{self, MAX_AHEAD};
use crate::spare::{Tools, crew, tools};
use alloc::vec::Vec;
use core::borrow::{Borrow, BorrowMut};
use core::marker::PhantomData;
use core::ops::Range;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

/// Bytes that a thread of a [`Writer`] gets between two starts of the threads, at the least.
const BATCH: usize = 2 << 20;

/// Reads the decoded bytes of a super-chunk, one chunk in memory at a time. `S` is the super-chunk or a borrow of it.
pub struct Reader<'a, S = SuperChunk<'a>> {
    chunks: S,
    store: PhantomData<SuperChunk<'a>>,
    at: u64,
    /// The decoded bytes from `start` on.
    buffer: Vec<u8>,
    start: u64,
}

impl<'a> SuperChunk<'a> {
    /// The decoded bytes as `Read + Seek`. There may be several readers at once.
    pub fn reader(&self) -> Reader<'a, &SuperChunk<'a>> {
        Reader::new(self)
    }

    /// As [`SuperChunk::reader`], for a reader that is handed on; [`Reader::into_inner`] gives the super-chunk back.
    pub fn into_reader(self) -> Reader<'a> {
        Reader::new(self)
    }

    /// Appends what is written to it, in whole chunks; the rest at [`Writer::finish`] or on `flush`.
    pub fn writer(&mut self) -> Writer<'a, &mut SuperChunk<'a>> {
        Writer::new(self)
    }

    /// As [`SuperChunk::writer`], for a writer that is handed on; [`Writer::finish`] gives the super-chunk back.
    pub fn into_writer(self) -> Writer<'a> {
        Writer::new(self)
    }

    /// Decodes all chunks, on all threads, and hands them to `take` in order.
    ///
    /// # Errors
    /// As [`SuperChunk::read_chunk`], and errors of `take`, after which no chunk is handed out.
    pub fn for_each_chunk(&self, mut take: impl FnMut(&[u8]) -> Result<(), Error>) -> Result<(), Error> {
        let most = self.sizes_known()?.largest().unwrap_or(0);
        let small = self.nbytes() <= parallel::HANDED as u64;
        if self.threads < 2 || self.nchunks() < 2 || most > MAX_AHEAD || small {
            let (mut buffer, mut ahead) = (Vec::new(), Ahead::default());
            return (0..self.nchunks()).try_for_each(|k| {
                let pieces = ahead.to(self, k)?;
                self.read_chunk_to(self.shared().over(pieces.as_deref()), k, &mut buffer)?;
                take(&buffer)
            });
        }
        let (mut sizes_ok, mut special) = (true, Vec::new());
        let spare: Mutex<Vec<Vec<u8>>> = Mutex::default();
        let (shared, n) = (self.shared(), self.nchunks());
        // A chunk, or special chunks that follow each other: there may be millions of these.
        let (mut next, mut ahead) = (0u64, Ahead::default());
        let items = core::iter::from_fn(|| {
            let first = next;
            next = first.saturating_add(1);
            if self.special(first).is_some() {
                next = (next..n).find(|k| self.special(*k).is_none()).unwrap_or(n);
            }
            (first < n).then(|| (first..next, ahead.to(self, first)))
        });
        parallel::ordered(
            &mut crew(self.threads),
            parallel::handed(most as usize),
            items,
            |(pool, buf), (chunks, pieces)| {
                let (k, pieces) = (chunks.start, pieces?);
                let stored = match shared.over(pieces.as_deref()).chunk(k, buf)? {
                    Loaded::Stored(stored) => stored,
                    Loaded::Special(_) => return Ok((chunks, None)),
                };
                // Buffers are used again: fresh memory is slow to touch.
                let mut data = spare.lock().unwrap_or_else(PoisonError::into_inner).pop().unwrap_or_default();
                resize(&mut data, stored.chunk.nbytes())?;
                stored.decode(pool, &mut data, 0)?;
                Ok::<_, Error>((chunks, Some(data)))
            },
            |result| {
                let (mut chunks, data) = result?;
                match data {
                    Some(data) => {
                        let expected = self.index.sizes().len_of(chunks.start);
                        sizes_ok &= expected.is_none_or(|len| len as usize == data.len());
                        take(&data)?;
                        spare.lock().unwrap_or_else(PoisonError::into_inner).push(data);
                        Ok(())
                    }
                    None => chunks.try_for_each(|k| {
                        let Some(kind) = self.special(k) else { return Ok(()) };
                        resize(&mut special, self.index.len_of(k)? as usize)?;
                        fill_special(kind, self.header.typesize, 0, &mut special)?;
                        take(&special)
                    }),
                }
            },
        )?;
        if sizes_ok { Ok(()) } else { self.read_sizes() }
    }

    /// Has `work` use the tools of `threads` threads, which are kept.
    fn with_crew<R>(&self, threads: usize, work: impl FnOnce(&mut [Tools]) -> R) -> R {
        self.crew.with(Vec::new, |crew| {
            crew.resize_with(threads.max(crew.len()), || tools(1));
            work(crew.get_mut(..threads).unwrap_or_default())
        })
    }

    /// Decodes whole chunks of `chunksize` bytes, from chunk `first` on, side by side, each to its place in
    /// `out`. False if there are chunks of another size after all; `out` is then not defined.
    pub(super) fn read_side_by_side(
        &self,
        shared: Shared<'_>,
        first: u64,
        chunksize: usize,
        out: &mut [u8],
    ) -> Result<bool, Error> {
        let same = AtomicBool::new(true);
        let whole = out.len();
        let places = out.chunks_exact_mut(chunksize.max(1));
        let threads = self.threads.min(places.len());
        let decode = |tools: &mut Tools, (place, k)| {
            if !shared.decode(k, tools, place, whole)? {
                same.store(false, Ordering::Relaxed);
            }
            Ok(())
        };
        self.with_crew(threads, |crew| parallel::each(crew, places.zip(first..), decode))?;
        Ok(same.into_inner())
    }
}

impl Shared<'_> {
    /// Decodes all of chunk `k` to `out`, part of an output of `whole` bytes, if it has that size; tells whether it has.
    fn decode(self, k: u64, (pool, buf): &mut Tools, out: &mut [u8], whole: usize) -> Result<bool, Error> {
        match self.chunk(k, buf)? {
            Loaded::Special(kind) => fill_special(kind, self.context.typesize, 0, out).map(|()| true),
            Loaded::Stored(stored) if stored.chunk.nbytes() != out.len() => Ok(false),
            Loaded::Stored(stored) => stored.decode(pool, out, whole).map(|_| true),
        }
    }
}

impl<'a, S: Borrow<SuperChunk<'a>>> Reader<'a, S> {
    fn new(chunks: S) -> Self {
        Reader { chunks, store: PhantomData, at: 0, buffer: Vec::new(), start: 0 }
    }

    /// What it reads.
    pub fn into_inner(self) -> S {
        self.chunks
    }

    /// Decodes the chunk that holds byte `at`.
    fn load(&mut self) -> Result<(), Error> {
        let chunks = self.chunks.borrow();
        let outside = Error::out_of_range("byte", self.at, chunks.nbytes());
        let (_, Range { start, end }) = chunks.sizes_known()?.find(self.at).ok_or(outside)?;
        let len = end.saturating_sub(start);
        chunks.limits.check_chunk(len)?;
        let len = usize::try_from(len).map_err(|_| Error::OutOfMemory)?;
        resize(&mut self.buffer, len)?;
        let read = chunks.read_bytes(start..end, &mut self.buffer);
        if read.is_err() {
            // What is in it now would be taken for data by the next call.
            self.buffer.clear();
        }
        self.start = start;
        read.map(drop)
    }
}

impl<'a, S: Borrow<SuperChunk<'a>>> Read for Reader<'a, S> {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        if self.at >= self.chunks.borrow().nbytes() || buf.is_empty() {
            return Ok(0);
        }
        let end = self.start.saturating_add(self.buffer.len() as u64);
        if self.at < self.start || self.at >= end {
            self.buffer.clear();
            self.load()?;
        }
        let from = usize::try_from(self.at.saturating_sub(self.start)).map_err(io::Error::other)?;
        let n = self.buffer.get(from..).unwrap_or(&[]).read(buf)?;
        self.at = self.at.saturating_add(n as u64);
        Ok(n)
    }
}

impl<'a, S: Borrow<SuperChunk<'a>>> Seek for Reader<'a, S> {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        let target = match to {
            SeekFrom::Start(at) => Some(at),
            SeekFrom::End(by) => self.chunks.borrow().nbytes().checked_add_signed(by),
            SeekFrom::Current(by) => self.at.checked_add_signed(by),
        };
        self.at = target.ok_or(io::Error::from(io::ErrorKind::InvalidInput))?;
        Ok(self.at)
    }
}

/// Appends decoded bytes to a super-chunk, some chunks at a time. Dropping it without [`Writer::finish`] loses those
/// that it has gathered for the next time.
///
/// Where appending fails, what was appended before stays, and what was not is kept: writing on, a `flush` or
/// [`Writer::finish`] tries it again first, so nothing is left out between what comes before and after.
///
/// `S` is the super-chunk or a borrow of it.
pub struct Writer<'a, S = SuperChunk<'a>> {
    chunks: S,
    store: PhantomData<SuperChunk<'a>>,
    buffer: Vec<u8>,
}

impl<'a, S: BorrowMut<SuperChunk<'a>>> Writer<'a, S> {
    fn new(chunks: S) -> Self {
        Writer { chunks, store: PhantomData, buffer: Vec::new() }
    }

    /// Appends what is left and returns the super-chunk. Nothing is committed.
    ///
    /// # Errors
    /// As [`SuperChunk::append`]; what could not be appended is lost, where a `flush` would have kept it.
    pub fn finish(mut self) -> Result<S, Error> {
        self.append(self.buffer.len())?;
        Ok(self.chunks)
    }

    /// How much is gathered before it is encoded: whole chunks, and for threads, which are started each time, so many that
    /// starting them costs little.
    fn batch(&self) -> usize {
        let chunks = self.chunks.borrow();
        let chunk = (chunks.chunksize as usize).max(1);
        let many = if chunks.threads > 1 { chunks.threads.saturating_mul(2) } else { return chunk };
        let together = (BATCH / chunk).max(1);
        chunk.saturating_mul(together).saturating_mul(many)
    }

    /// Appends the first `len` bytes of the buffer and takes out of it what has been appended.
    fn append(&mut self, len: usize) -> Result<(), Error> {
        let chunks = self.chunks.borrow_mut();
        let before = chunks.nbytes();
        let done = chunks.append(self.buffer.get(..len).unwrap_or(&[]));
        let taken = chunks.nbytes().saturating_sub(before);
        self.buffer.drain(..(taken as usize).min(len));
        done
    }
}

impl<'a, S: BorrowMut<SuperChunk<'a>>> Write for Writer<'a, S> {
    fn write(&mut self, data: &[u8]) -> io::Result<usize> {
        let batch = self.batch();
        if self.buffer.len() >= batch {
            let chunk = (self.chunks.borrow().chunksize as usize).max(1);
            self.append(self.buffer.len() - self.buffer.len() % chunk)?;
        }
        let n = data.len().min(batch.saturating_sub(self.buffer.len()));
        self.buffer.extend_from_slice(data.get(..n).unwrap_or(&[]));
        Ok(n)
    }
    /// Appends everything written so far; a chunk that is not full is filled up later.
    fn flush(&mut self) -> io::Result<()> {
        Ok(self.append(self.buffer.len())?)
    }
}
