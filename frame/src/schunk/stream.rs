//! The decoded bytes as a stream: [`Reader`] is `Read + Seek`, [`Writer`] appends through `Write`.

use super::SuperChunk;
use super::read::around;
use crate::cframe::index::Entry;
use crate::cframe::view::fill_special;
use crate::error::{Error, IoKind};
use alloc::borrow::Cow;
use alloc::vec::Vec;
use blosc_core::{Chunk, Special};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::sync::{Mutex, PoisonError};

/// Larger chunks are decoded one at a time, their blocks in parallel, to bound the memory.
pub(super) const MAX_AHEAD: u32 = 16 << 20;

/// Reads the decoded bytes of a super-chunk, one chunk in memory at a time.
pub struct Reader<'s, 'a> {
    chunks: &'s mut SuperChunk<'a>,
    at: u64,
    /// The decoded bytes from `start` on.
    buffer: Vec<u8>,
    start: u64,
}

impl<'a> SuperChunk<'a> {
    /// The decoded bytes as `Read + Seek`.
    pub fn reader(&mut self) -> Reader<'_, 'a> {
        Reader { chunks: self, at: 0, buffer: Vec::new(), start: 0 }
    }

    /// Appends what is written to it, in whole chunks; the rest at [`Writer::finish`] or on `flush`.
    pub fn writer(&mut self) -> Writer<'_, 'a> {
        Writer { chunks: self, buffer: Vec::new() }
    }

    /// Decodes all chunks, on all threads, and hands them to `take` in order.
    pub fn for_each_chunk(&mut self, mut take: impl FnMut(&[u8]) -> Result<(), Error>) -> Result<(), Error> {
        self.sizes_known()?;
        let most = self.sizes.largest().unwrap_or(0);
        if self.threads < 2 || self.nchunks() < 2 || most > MAX_AHEAD {
            let mut buffer = Vec::new();
            for k in 0..self.nchunks() {
                let len = self.stored_nbytes(k)?;
                // A buffer of the right size is used again as it is: clearing it costs a pass.
                buffer.truncate(len);
                super::place::resize(&mut buffer, len)?;
                let n = self.read_chunk_into(k, &mut buffer)?;
                take(buffer.get(..n).unwrap_or(&[]))?;
            }
            return Ok(());
        }
        let (typesize, limits) = (self.header.typesize, self.limits.chunk);
        let (threads, blockshape) = (self.threads, self.blockshape.clone());
        // Frames in memory are decoded where they lie; others are read ahead by this thread.
        let mut sizes_ok = true;
        let (spare, read): (Spare, Spare) = Default::default();
        let n = self.nchunks();
        let shared: &SuperChunk<'_> = self;
        let items = (0..n).map(|k| (k, shared.chunk_bytes(k, &read)));
        super::parallel::ordered(
            threads,
            items,
            |pool, (k, bytes)| {
                let bytes: Cow<'_, [u8]> = match bytes? {
                    Ok(bytes) => bytes,
                    Err(_special) => return Ok((k, None)),
                };
                let in_chunk = |error| Error::Chunk { chunk: Some(k), offset: 0, error };
                let chunk = Chunk::parse_with(&bytes, &limits).map_err(in_chunk)?;
                let mut data = spare.lock().unwrap_or_else(PoisonError::into_inner).pop().unwrap_or_default();
                data.truncate(chunk.nbytes());
                super::place::resize(&mut data, chunk.nbytes())?;
                pool.decompress_into(&chunk, around(typesize, &blockshape), &mut data).map_err(in_chunk)?;
                give_back(bytes, &read);
                Ok::<_, Error>((k, Some(data)))
            },
            |result| {
                let (k, data) = result?;
                match data {
                    Some(data) => {
                        let expected = shared.sizes.len_of(k);
                        sizes_ok &= expected.is_none_or(|len| len as usize == data.len());
                        take(&data)?;
                        spare.lock().unwrap_or_else(PoisonError::into_inner).push(data);
                        Ok(())
                    }
                    None => shared.special_bytes(k, &mut take),
                }
            },
        )?;
        if sizes_ok { Ok(()) } else { self.read_sizes() }
    }

    /// Decoded size of chunk `k` as its own header has it, within the limits.
    fn stored_nbytes(&mut self, k: u64) -> Result<usize, Error> {
        let len = match self.chunk_header(k)? {
            Some(header) => header.nbytes,
            None => self.chunk_nbytes(k)?,
        };
        let (asked, limit) = (u64::from(len), self.limits.chunk.output);
        if asked > limit {
            return Err(Error::Limit { what: "bytes of a chunk", asked, limit });
        }
        Ok(len as usize)
    }

    /// The stored bytes of chunk `k`, borrowed where possible, else in one of the buffers in `spare`; the
    /// inner error is a special chunk.
    fn chunk_bytes(&self, k: u64, spare: &Spare) -> Result<Result<Cow<'_, [u8]>, Special>, Error> {
        let len = self.nchunks();
        match self.entry(k).ok_or(Error::OutOfRange { what: "chunk", index: k, len })? {
            Entry::Special(kind) => Ok(Err(kind)),
            Entry::Stored(entry) => {
                let located = self.place.locate(entry)?;
                if let Some(bytes) = located.slice() {
                    return Ok(Ok(Cow::Borrowed(bytes)));
                }
                let mut buf = spare.lock().unwrap_or_else(PoisonError::into_inner).pop().unwrap_or_default();
                // May be longer than the chunk, whose header says where it ends.
                located.whole(k, &self.limits, &mut buf)?;
                Ok(Ok(Cow::Owned(buf)))
            }
        }
    }

    /// Decodes whole chunks of `chunksize` bytes, from chunk `first` on, side by side, each to its place in
    /// `out`. False if there are chunks of another size after all; `out` is then not defined.
    pub(super) fn read_side_by_side(
        &self,
        first: u64,
        chunksize: usize,
        out: &mut [u8],
    ) -> Result<bool, Error> {
        let (typesize, limits, blockshape) = (self.header.typesize, self.limits.chunk, &*self.blockshape);
        let read: Spare = Mutex::new(Vec::new());
        let mut same = true;
        let places = out.chunks_exact_mut(chunksize.max(1)).zip(first..);
        super::parallel::ordered(
            self.threads,
            places.map(|(place, k)| (k, self.chunk_bytes(k, &read), place)),
            |pool, (k, bytes, place)| {
                let bytes = match bytes? {
                    Ok(bytes) => bytes,
                    Err(kind) => return fill_special(kind, typesize, 0, place).map(|()| true),
                };
                let in_chunk = |error| Error::Chunk { chunk: Some(k), offset: 0, error };
                let chunk = Chunk::parse_with(&bytes, &limits).map_err(in_chunk)?;
                if chunk.nbytes() != place.len() {
                    return Ok(false);
                }
                pool.decompress_into(&chunk, around(typesize, blockshape), place).map_err(in_chunk)?;
                give_back(bytes, &read);
                Ok::<_, Error>(true)
            },
            |result| {
                same &= result?;
                Ok(())
            },
        )?;
        Ok(same)
    }

    /// Hands over the bytes of a special chunk in pieces.
    fn special_bytes(&self, k: u64, take: &mut impl FnMut(&[u8]) -> Result<(), Error>) -> Result<(), Error> {
        let (Some(kind), Some(len)) = (self.special(k), self.sizes.len_of(k)) else {
            return Err(Error::Unsupported {
                structure: crate::error::Structure::Index,
                what: "a special chunk in a frame of variable chunks (its size is lost)",
            });
        };
        let mut piece = alloc::vec![0; (len as usize).min(1 << 20)];
        let mut done = 0usize;
        while done < len as usize {
            let n = (len as usize).saturating_sub(done).min(piece.len());
            let part = piece.get_mut(..n).ok_or(IoKind::Other)?;
            fill_special(kind, self.header.typesize, done, part)?;
            take(part)?;
            done = done.saturating_add(n);
        }
        Ok(())
    }
}

impl Reader<'_, '_> {
    /// Decodes the chunk that holds byte `at`.
    fn load(&mut self) -> Result<(), Error> {
        let total = self.chunks.nbytes();
        let window = 64u64 << 10;
        let stop = self.at.saturating_add(window).min(total);
        let (start, end) = match self.chunks.sizes.find(self.at) {
            Some((_, span)) => (span.start, span.end),
            None => (self.at, stop),
        };
        let len = usize::try_from(end.saturating_sub(start)).map_err(|_| IoKind::NoSpace)?;
        super::place::resize(&mut self.buffer, len)?;
        self.buffer.truncate(len);
        self.chunks.read_bytes(start..end, &mut self.buffer)?;
        self.start = start;
        Ok(())
    }
}

/// Buffers to be used again: fresh memory is slow to touch.
type Spare = Mutex<Vec<Vec<u8>>>;

fn give_back(bytes: Cow<'_, [u8]>, spare: &Spare) {
    if let Cow::Owned(buf) = bytes {
        spare.lock().unwrap_or_else(PoisonError::into_inner).push(buf);
    }
}

impl Read for Reader<'_, '_> {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        if self.at >= self.chunks.nbytes() || buf.is_empty() {
            return Ok(0);
        }
        let end = self.start.saturating_add(self.buffer.len() as u64);
        if self.at < self.start || self.at >= end {
            self.buffer.clear();
            self.load()?;
        }
        let from = usize::try_from(self.at.saturating_sub(self.start)).map_err(io::Error::other)?;
        let rest = self.buffer.get(from..).unwrap_or(&[]);
        let n = rest.len().min(buf.len());
        if let (Some(to), Some(from)) = (buf.get_mut(..n), rest.get(..n)) {
            to.copy_from_slice(from);
        }
        self.at = self.at.saturating_add(n as u64);
        Ok(n)
    }
}

impl Seek for Reader<'_, '_> {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        let target = match to {
            SeekFrom::Start(at) => Some(at),
            SeekFrom::End(by) => self.chunks.nbytes().checked_add_signed(by),
            SeekFrom::Current(by) => self.at.checked_add_signed(by),
        };
        self.at = target.ok_or(io::Error::from(io::ErrorKind::InvalidInput))?;
        Ok(self.at)
    }
}

/// Appends decoded bytes to a super-chunk. Dropping it without [`Writer::finish`] loses the bytes
/// that do not fill a chunk.
pub struct Writer<'s, 'a> {
    chunks: &'s mut SuperChunk<'a>,
    buffer: Vec<u8>,
}

impl Writer<'_, '_> {
    /// Appends what is left. Nothing is committed.
    pub fn finish(mut self) -> Result<(), Error> {
        self.chunks.append(&core::mem::take(&mut self.buffer))
    }

    /// How much is gathered before it is encoded: a few chunks per thread.
    fn batch(&self) -> usize {
        let per_thread = if self.chunks.threads > 1 { self.chunks.threads.saturating_mul(2) } else { 1 };
        (self.chunks.chunksize as usize).saturating_mul(per_thread)
    }
}

impl Write for Writer<'_, '_> {
    fn write(&mut self, data: &[u8]) -> io::Result<usize> {
        let chunk = (self.chunks.chunksize as usize).max(1);
        let batch = self.batch();
        let room = batch.saturating_sub(self.buffer.len());
        let n = data.len().min(room);
        self.buffer.extend_from_slice(data.get(..n).unwrap_or(&[]));
        if self.buffer.len() >= batch {
            let whole = self.buffer.len() - self.buffer.len() % chunk;
            self.chunks.append(self.buffer.get(..whole).unwrap_or(&[]))?;
            self.buffer.drain(..whole);
        }
        Ok(n)
    }
    /// Appends everything written so far; a chunk that is not full is filled up later.
    fn flush(&mut self) -> io::Result<()> {
        let data = core::mem::take(&mut self.buffer);
        Ok(self.chunks.append(&data)?)
    }
}
