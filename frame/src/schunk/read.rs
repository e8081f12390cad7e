//! Reading: whole chunks, ranges of bytes or items, single blocks. Only what is needed is read.

#[cfg(all(feature = "std", feature = "classic"))]
use super::index::Index;
use super::load::Wanted;
use super::plan::{Ahead, Part, Wish};
use super::shared::{Loaded, Shared};
use super::sizes::Sizes;
use super::superchunk::SuperChunk;
use crate::cframe::header::ChunkSize;
use crate::cframe::index::Entry;
use crate::cframe::view::fill_special;
use crate::error::{Error, IoKind, destination};
use crate::limits::{resize, within};
use alloc::vec::Vec;
use blosc_core::{Chunk, Header as ChunkHeader, Special};
use core::ops::Range;

/// A chunk as it is stored.
#[derive(Clone, Copy, Debug)]
pub enum RawChunk<'s> {
    /// Its bytes.
    Stored(&'s [u8]),
    /// A special chunk of this many bytes.
    Special(Special, u32),
}

impl SuperChunk<'_> {
    /// Where chunk `k` starts in the frame, or in its file, for errors.
    pub(crate) fn stored_at(&self, k: u64) -> u64 {
        match self.entry(k) {
            Some(Entry::Stored(entry)) => self.store.locate(entry).map_or(0, |located| located.at),
            _ => 0,
        }
    }

    /// Decoded size of chunk `k`, in bytes. Reads the chunk's header where the frame does not tell.
    ///
    /// # Errors
    /// As [`SuperChunk::chunk_header`].
    pub fn chunk_nbytes(&self, k: u64) -> Result<u32, Error> {
        if matches!(self.index.sizes(), Sizes::Unread { .. }) {
            if let Some(header) = self.chunk_header(k)? {
                return Ok(header.nbytes);
            }
            self.read_sizes()?;
        }
        self.index.len_of(k)
    }

    /// Decoded bytes of the chunks that are stored: those of special values cost nothing to decode.
    pub fn stored_nbytes(&self) -> u64 {
        let (stored, all) = (self.index.stored_len(), self.nbytes());
        match self.chunksize() {
            ChunkSize::Fixed(c) => stored.saturating_mul(c.into()).min(all),
            _ => all,
        }
    }

    /// The header of chunk `k`; `None` if it is a special chunk without bytes.
    ///
    /// # Errors
    /// [`Error::OutOfRange`]; [`Error::Chunk`], [`Error::Truncated`] or [`Error::Missing`] for a damaged chunk;
    /// errors of the store.
    pub fn chunk_header(&self, k: u64) -> Result<Option<ChunkHeader>, Error> {
        self.shared().head(k)
    }

    /// Reads every chunk's header, to know its size.
    pub(super) fn read_sizes(&self) -> Result<(), Error> {
        let pieces = self.fetched(|| Ok(self.heads()))?;
        self.sizes_of(self.shared().over(pieces.as_ref()))
    }

    pub(super) fn sizes_of(&self, shared: Shared<'_>) -> Result<(), Error> {
        self.index.read_sizes(|k, entry| Ok(shared.place(entry)?.header(k)?.nbytes))
    }

    /// The sizes of all chunks, read from their headers where the frame does not tell them.
    pub(super) fn sizes_known(&self) -> Result<&Sizes, Error> {
        if matches!(self.index.sizes(), Sizes::Unread { .. }) {
            self.read_sizes()?;
        }
        Ok(self.index.sizes())
    }

    /// Chunk `k` as it is stored: borrowed where the frame lies in memory, else read into `buf`.
    ///
    /// # Errors
    /// As [`SuperChunk::chunk_header`], and [`Error::Checksum`].
    pub fn raw_chunk<'s>(&'s self, k: u64, buf: &'s mut Vec<u8>) -> Result<RawChunk<'s>, Error> {
        match self.index.entry(k)? {
            Entry::Special(kind) => Ok(RawChunk::Special(kind, self.chunk_nbytes(k)?)),
            Entry::Stored(entry) => {
                Ok(RawChunk::Stored(self.shared().locate(k, entry)?.whole(k, &self.limits, buf)?))
            }
        }
    }

    /// The entry that a chunk has which follows the one of `entry` where it is stored.
    pub(crate) fn entry_behind(&self, entry: u64) -> Result<u64, Error> {
        let by = match self.is_sparse() {
            true => 1,
            false => self.store.locate(entry)?.header(0)?.cbytes.into(),
        };
        Ok(entry.saturating_add(by))
    }

    /// The chunk that lies where this entry says, if it has `nbytes` bytes, decodes, and has this checksum.
    pub(crate) fn chunk_at(&self, entry: u64, nbytes: u32, sum: Option<u64>) -> Option<Vec<u8>> {
        let located = self.store.locate(entry).ok()?.held_to(sum);
        located.header(0).ok().filter(|header| header.nbytes == nbytes)?;
        let mut buf = Vec::new();
        let bytes = located.whole(0, &self.limits, &mut buf).ok()?.to_vec();
        let chunk = Chunk::parse_with(&bytes, &self.limits.chunk).ok()?;
        self.reading(|_, pool, _| pool.decompress(&chunk)).ok()?;
        Some(bytes)
    }

    /// Decodes chunk `k`, if it is stored, and compares it with its checksum, whatever the frame's header says of sizes.
    pub(crate) fn check_chunk(&self, k: u64) -> Result<(), Error> {
        self.reading(|shared, pool, buf| {
            let Loaded::Stored(stored) = shared.chunk(k, buf)? else { return Ok(()) };
            let (mut out, len) = (Vec::new(), stored.chunk.nbytes());
            self.limits.check_chunk(len as u64)?;
            resize(&mut out, len)?;
            stored.decode(pool, &mut out, 0).map(drop)
        })
    }

    /// Decodes chunk `k` into a new vector.
    ///
    /// # Errors
    /// As [`SuperChunk::raw_chunk`], and [`Error::Limit`].
    pub fn read_chunk(&self, k: u64) -> Result<Vec<u8>, Error> {
        let mut out = Vec::new();
        self.read_chunk_to(self.shared(), k, &mut out)?;
        Ok(out)
    }

    /// Decodes chunk `k` to `out`, which becomes as long as the chunk is.
    pub(crate) fn read_chunk_to(&self, shared: Shared<'_>, k: u64, out: &mut Vec<u8>) -> Result<(), Error> {
        self.decode_chunk(shared, k, 0, move |n| {
            self.limits.check_chunk(n as u64)?;
            resize(out, n)?;
            Ok(out)
        })
        .map(drop)
    }

    /// Decodes chunk `k` into the start of `out`; returns its size.
    ///
    /// # Errors
    /// As [`SuperChunk::read_chunk`], and [`Error::OutputTooSmall`].
    pub fn read_chunk_into(&self, k: u64, out: &mut [u8]) -> Result<usize, Error> {
        self.decode_chunk(self.shared(), k, 0, |_| Ok(out))
    }

    /// Decodes chunk `k` into the start of what `room` gives for a chunk of its size, part of an output of `whole` bytes;
    /// returns its size.
    pub(super) fn decode_chunk<'o>(
        &self,
        shared: Shared<'_>,
        k: u64,
        whole: usize,
        room: impl FnOnce(usize) -> Result<&'o mut [u8], Error>,
    ) -> Result<usize, Error> {
        // A chunk's own header may disagree with the frame's; the chunk is right (docs/formats/cframe.md §3.4).
        self.reading(|_, pool, buf| match shared.chunk(k, buf)? {
            Loaded::Stored(stored) => {
                let n = stored.chunk.nbytes();
                let done = stored.decode(pool, room(n)?, whole);
                self.note_len(k, n)?;
                done
            }
            Loaded::Special(kind) => {
                let len = self.chunk_nbytes(k)? as usize;
                fill_special(kind, self.header.typesize, 0, destination(room(len)?, len)?)?;
                Ok(len)
            }
        })
    }

    /// A chunk whose size differs from the declared one makes the frame one of variable chunks, if the
    /// sum is still right (a reorder in the C library leaves such frames).
    fn note_len(&self, k: u64, len: usize) -> Result<(), Error> {
        match self.index.sizes().len_of(k) {
            Some(expected) if expected as usize != len => self.read_sizes(),
            _ => Ok(()),
        }
    }

    /// Decodes bytes `range` of chunk `k` into the start of `out`. Reads only the blocks it crosses.
    ///
    /// # Errors
    /// As [`SuperChunk::read_chunk_into`], and [`Error::OutOfRange`] for `range`.
    pub fn read_chunk_bytes(&self, k: u64, range: Range<usize>, out: &mut [u8]) -> Result<usize, Error> {
        if self.special(k).is_some() {
            let (len, index) = (u64::from(self.chunk_nbytes(k)?), range.end as u64);
            if range.start > range.end || index > len {
                return Err(Error::out_of_range("byte", index, len));
            }
        }
        let (n, len) = self.read_chunk_part(k, range, out)?;
        if let Some(len) = len {
            self.note_len(k, len)?;
        }
        Ok(n)
    }

    /// [`Self::read_chunk_bytes`] for callers who know what the chunks' sizes should be, whatever the frame's header
    /// says of their sum. Gives the bytes written, and the size of a chunk that is stored.
    pub(crate) fn read_chunk_part(
        &self,
        k: u64,
        range: Range<usize>,
        out: &mut [u8],
    ) -> Result<(usize, Option<usize>), Error> {
        let pieces = self.fetched(|| Ok([Wish { chunk: k, part: Part::Bytes(range.clone()) }].into()))?;
        self.part_of(self.shared().over(pieces.as_ref()), k, range, out)
    }

    /// As [`Self::read_chunk_part`].
    pub(crate) fn part_of(
        &self,
        shared: Shared<'_>,
        k: u64,
        range: Range<usize>,
        out: &mut [u8],
    ) -> Result<(usize, Option<usize>), Error> {
        let needed = range.len();
        let out = destination(out, needed)?;
        let wanted = |header: &ChunkHeader| {
            let size = (header.blocksize as usize).max(1);
            let (first, end) = (range.start / size, range.end.div_ceil(size));
            let part = move |block: usize| {
                let start = block.saturating_mul(size);
                range.start.saturating_sub(start)..range.end.saturating_sub(start).min(size)
            };
            let blocks = (first..end).map(move |block| Wanted { block, part: part(block) });
            (blocks, end.saturating_sub(first) as u64)
        };
        self.reading(|_, pool, buf| match shared.for_parts().load(k, wanted, buf)? {
            Loaded::Special(kind) => {
                fill_special(kind, self.header.typesize, range.start, out)?;
                Ok((needed, None))
            }
            Loaded::Stored(stored) => {
                Ok((stored.bytes(pool, range.clone(), out)?, Some(stored.chunk.nbytes())))
            }
        })
    }

    /// Decodes some blocks of chunk `k` and hands each to `take` with its number, in the order given.
    /// Reads only those blocks. A special chunk has one block: all of it. Blocks are as long as the chunk's streams are,
    /// which in some files of C-Blosc2 is another size than the header's (docs/formats/chunk.md, appendix B1).
    ///
    /// # Errors
    /// As [`SuperChunk::read_chunk`], [`Error::OutOfRange`] for a block, and errors of `take`.
    pub fn read_blocks(
        &self,
        k: u64,
        blocks: &[usize],
        mut take: impl FnMut(usize, &[u8]) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let wanted = blocks.iter().map(|block| Wanted { block: *block, part: 0..usize::MAX });
        self.reading(|shared, pool, buf| {
            let Loaded::Stored(stored) =
                shared.for_parts().load(k, |_| (wanted, blocks.len() as u64), buf)?
            else {
                let whole = self.read_chunk(k)?;
                return blocks.iter().try_for_each(|block| match block {
                    0 => take(0, &whole),
                    n => Err(Error::out_of_range("block", *n as u64, 1)),
                });
            };
            let mut out = Vec::new();
            for block in blocks.iter().copied() {
                resize(&mut out, stored.block_len(block)?)?;
                let n = stored.block(pool, block, &mut out)?;
                take(block, out.get(..n).unwrap_or(&[]))?;
            }
            Ok(())
        })
    }

    /// Decodes bytes `range` of the whole super-chunk into the start of `out`; returns how many.
    ///
    /// # Errors
    /// As [`SuperChunk::read_chunk_bytes`].
    pub fn read_bytes(&self, range: Range<u64>, out: &mut [u8]) -> Result<usize, Error> {
        let out = self.room(&range, out)?;
        if !range.is_empty() {
            self.sizes_known()?;
        }
        let read = |out: &mut [u8]| {
            let pieces = self.fetched(|| self.wishes(range.clone()))?;
            self.bytes_of(self.shared().over(pieces.as_ref()), range.clone(), out)
        };
        match read(out) {
            // The chunks have other sizes than the header declares, which are known now.
            Err(error) if error == IoKind::NotFetched.into() && self.is_far() => read(out),
            done => done,
        }
    }

    /// Checks a range of bytes, and gives that part of `out` that they fill.
    pub(super) fn room<'o>(&self, range: &Range<u64>, out: &'o mut [u8]) -> Result<&'o mut [u8], Error> {
        let (total, given) = (self.nbytes(), out.len() as u64);
        if range.start > range.end || range.end > total {
            return Err(Error::out_of_range("byte", range.end, total));
        }
        let needed = range.end.saturating_sub(range.start);
        destination(out, usize::try_from(needed).map_err(|_| Error::OutputTooSmall { needed, given })?)
    }

    /// As [`SuperChunk::read_bytes`], where the sizes are known and `out` is as long as the range.
    pub(super) fn bytes_of(
        &self,
        shared: Shared<'_>,
        range: Range<u64>,
        mut out: &mut [u8],
    ) -> Result<usize, Error> {
        let needed = out.len();
        let mut at = range.start;
        while !out.is_empty() {
            let n = self.read_some(shared, at, out, needed)?;
            out = core::mem::take(&mut out).get_mut(n..).unwrap_or(&mut []);
            at = at.saturating_add(n as u64);
        }
        Ok(needed)
    }

    /// Decodes bytes from `at` on to the start of `out`, part of an output of `whole` bytes: those of a chunk, or of
    /// several side by side. Gives how many; none where sizes turned out to differ from what the header declares.
    fn read_some(&self, shared: Shared<'_>, at: u64, out: &mut [u8], whole: usize) -> Result<usize, Error> {
        #[cfg(feature = "std")]
        if let Some((len, size)) = self.whole_chunks(at, out.len()) {
            let now = out.get_mut(..len).unwrap_or(&mut []);
            if !self.read_side_by_side(shared, at.checked_div(size as u64).unwrap_or(0), size, now)? {
                return self.read_sizes().map(|()| 0);
            }
            return Ok(len);
        }
        let regular = matches!(self.index.sizes(), Sizes::Regular { .. });
        let outside = Error::out_of_range("byte", at, self.nbytes());
        let (k, span) = self.index.sizes().find(at).ok_or(outside)?;
        let [start, size] = [at, span.end].map(|at| at.saturating_sub(span.start) as usize);
        let within = start..start.saturating_add(out.len()).min(size);
        let out = out.get_mut(..within.len()).unwrap_or(&mut []);
        let done = match within == (0..size) {
            true => self.decode_chunk(shared, k, whole, |_| Ok(out)),
            false => self
                .part_of(shared, k, within, out)
                .and_then(|(n, len)| len.map_or(Ok(()), |len| self.note_len(k, len)).map(|()| n)),
        };
        match self.index.sizes() {
            Sizes::Each { .. } if regular => Ok(0),
            _ if done == Ok(out.len()) => done,
            _ => done.and(Err(Error::Changed { what: "the size of a chunk" })),
        }
    }

    /// The chunks as they are committed, which stay where they are until the next commit, whatever is changed
    /// meanwhile; what is changed already is committed first.
    ///
    /// # Errors
    /// [`Error::Changed`] if another writer was here, which may have removed them; as [`SuperChunk::commit`].
    #[cfg(all(feature = "std", feature = "classic"))]
    pub(crate) fn committed(&mut self) -> Result<Index, Error> {
        self.commit()?;
        self.check_unchanged(true)?;
        Ok(self.index.clone())
    }

    /// As [`SuperChunk::read_bytes`], from the chunks of the last commit.
    #[cfg(all(feature = "std", feature = "classic"))]
    pub(crate) fn read_committed(
        &mut self,
        committed: &mut Index,
        range: Range<u64>,
        out: &mut [u8],
    ) -> Result<usize, Error> {
        core::mem::swap(&mut self.index, committed);
        let read = self.read_bytes(range, out);
        core::mem::swap(&mut self.index, committed);
        read
    }

    /// How many of `len` bytes from `at` on are whole chunks worth several threads, and their size.
    #[cfg(feature = "std")]
    fn whole_chunks(&self, at: u64, len: usize) -> Option<(usize, usize)> {
        let Sizes::Regular { chunk, .. } = *self.index.sizes() else { return None };
        let size = chunk as usize;
        let whole = len.checked_sub(len.checked_rem(size)?)?;
        let codec = self.params().codec;
        let many = self.threads > 1 && whole > size && crate::parallel::worth(codec, whole as u64);
        (many && chunk <= crate::parallel::MAX_AHEAD && at.is_multiple_of(chunk.into()))
            .then_some((whole, size))
    }

    /// Decodes items `range` of the whole super-chunk (items of the frame's typesize) into the start
    /// of `out`; returns the bytes written. Reads only the blocks the range crosses.
    ///
    /// # Errors
    /// As [`SuperChunk::read_bytes`].
    pub fn read_items(&self, range: Range<u64>, out: &mut [u8]) -> Result<usize, Error> {
        self.read_bytes(self.bytes_of_items(range)?, out)
    }

    /// The bytes that items `range` are.
    pub(super) fn bytes_of_items(&self, range: Range<u64>) -> Result<Range<u64>, Error> {
        let (len, typesize) = (self.nitems(), u64::from(self.typesize()));
        if range.start > range.end || range.end > len {
            return Err(Error::out_of_range("item", range.end, len));
        }
        Ok(range.start.saturating_mul(typesize)..range.end.saturating_mul(typesize))
    }

    /// Decodes everything into a new vector, within the limits.
    ///
    /// # Errors
    /// As [`SuperChunk::read_chunk`]; [`Error::Limit`] where all of it is too much.
    pub fn read_all(&self) -> Result<Vec<u8>, Error> {
        let (mut out, mut ahead) = (Vec::new(), Ahead::default());
        for k in 0..self.nchunks() {
            let (at, pieces) = (out.len(), ahead.to(self, k)?);
            self.decode_chunk(self.shared().over(pieces.as_deref()), k, 0, |len| {
                let end = at.saturating_add(len);
                within("bytes of output", end as u64, self.limits.output)?;
                self.limits.check_chunk(len as u64)?;
                resize(&mut out, end)?;
                Ok(out.get_mut(at..).unwrap_or(&mut []))
            })?;
        }
        Ok(out)
    }

    /// Decodes the chunks one after the other.
    pub fn chunks(&self) -> impl Iterator<Item = Result<Vec<u8>, Error>> {
        let mut ahead = Ahead::default();
        (0..self.nchunks()).map(move |k| {
            let (mut out, pieces) = (Vec::new(), ahead.to(self, k)?);
            self.read_chunk_to(self.shared().over(pieces.as_deref()), k, &mut out)?;
            Ok(out)
        })
    }
}
