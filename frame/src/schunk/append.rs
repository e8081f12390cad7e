//! Appending: plain bytes, cut into chunks and encoded on all threads, and the chunks of another frame.

use super::once::Once;
use super::put::New;
use super::read::RawChunk;
#[cfg(feature = "std")]
use super::shared::chunk_context;
use super::sizes::Sizes;
use super::superchunk::SuperChunk;
use crate::cframe::header::ChunkSize;
use crate::error::Error;
#[cfg(feature = "std")]
use crate::{parallel, spare};
use blosc_core::Special;

impl SuperChunk<'_> {
    /// Appends data: fills up the last chunk, then adds chunks of the frame's chunk size.
    ///
    /// A last chunk that is short is read, encoded again and written anew, whatever little is added to it: where that
    /// is done often, a small [chunk size](SuperChunk::set_chunksize) or a [`Writer`](super::Writer) keeps it cheap.
    ///
    /// # Errors
    /// As [`SuperChunk::append_data`], and errors of reading the last chunk.
    pub fn append(&mut self, data: &[u8]) -> Result<(), Error> {
        if data.is_empty() {
            return Ok(());
        }
        self.prepare(false)?;
        self.declare(None)?;
        let (now, rest) = data.split_at_checked(self.lacking() as usize).unwrap_or((data, &[]));
        if !now.is_empty() {
            let last = self.nchunks().saturating_sub(1);
            let mut whole = self.read_chunk(last)?;
            whole.extend_from_slice(now);
            self.encode_to(last, true, &whole)?;
        }
        self.append_pieces(rest, self.piece() as usize)
    }

    /// Bytes of a new chunk.
    pub(super) fn piece(&self) -> u32 {
        if let ChunkSize::Fixed(c) = self.header.chunksize { c } else { self.chunksize }
    }

    /// Bytes by which the last chunk is shorter than the others.
    pub(super) fn lacking(&self) -> u32 {
        let Sizes::Regular { chunk, total } = *self.index.sizes() else { return 0 };
        // Both are below 2^32.
        let over = total.checked_rem(chunk.into()).unwrap_or(0) as u32;
        if over == 0 { 0 } else { chunk.saturating_sub(over) }
    }

    /// Encodes `data` in pieces, on all threads, and appends them.
    fn append_pieces(&mut self, data: &[u8], size: usize) -> Result<(), Error> {
        #[cfg(feature = "std")]
        if self.threads > 1 && data.len() > size.max(parallel::HANDED) {
            let params = self.params();
            params.check().map_err(Error::Codec)?;
            let (typesize, blockshape) = (self.header.typesize, self.blockshape.clone());
            let mut team = core::mem::take(self.crew.own());
            team.resize_with(self.threads, || spare::tools(1));
            let done = parallel::ordered(
                &mut team,
                parallel::handed(size),
                data.chunks(size.max(1)),
                |(pool, room), piece: &[u8]| {
                    let (params, context) = (params.fit(piece.len()), chunk_context(typesize, &blockshape));
                    spare::encode((pool, room), &params, context, piece).map(<[u8]>::to_vec)
                },
                |chunk| self.put_chunk(self.nchunks(), false, &chunk.map_err(Error::Codec)?),
            );
            *self.crew.own() = team;
            return done;
        }
        data.chunks(size.max(1)).try_for_each(|piece| self.encode_to(self.nchunks(), false, piece))
    }

    /// Appends all chunks of `other` as they are, without decoding them. Those that share their bytes still share them.
    /// Parameters of new chunks and metalayers stay this frame's own.
    ///
    /// # Errors
    /// [`Error::Param`] for another item size or chunk size, [`Error::Limit`], and errors of reading `other`.
    pub fn append_from(&mut self, other: &SuperChunk<'_>) -> Result<(), Error> {
        if other.typesize() != self.typesize() {
            return Err(Error::param("typesize", i64::from(other.typesize()), "the typesize of this frame"));
        }
        if let (0, ChunkSize::Fixed(c)) = (self.nchunks(), other.header.chunksize) {
            self.declare(Some(c))?;
        }
        let mut copies = Once::new(&other.index)?;
        for k in 0..other.nchunks() {
            let (entry, sum) = (other.entry(k), other.chunk_checksum(k));
            match copies.get(entry) {
                Some((other, copy)) if other == sum => self.append_shared(copy)?,
                _ => {
                    copies.note(entry, (sum, self.nchunks()));
                    self.append_copy(other, k)?;
                }
            }
        }
        Ok(())
    }

    /// Appends an entry that shares the bytes of chunk `k`.
    pub(crate) fn append_shared(&mut self, k: u64) -> Result<(), Error> {
        self.touch()?;
        let len = self.chunk_nbytes(k)?;
        self.put(self.nchunks(), false, New::Shared(k), len)
    }

    /// Appends chunk `k` of `other` as it is.
    pub(crate) fn append_copy(&mut self, other: &SuperChunk<'_>, k: u64) -> Result<(), Error> {
        other.reading(|_, _, buf| match other.raw_chunk(k, buf)? {
            RawChunk::Stored(bytes) => self.append_as_is(bytes),
            RawChunk::Special(kind, len) => self.append_special(kind, len),
        })
    }

    /// Appends one chunk of `len` special bytes, whatever the size of the others.
    pub(crate) fn append_special(&mut self, kind: Special, len: u32) -> Result<(), Error> {
        self.touch()?;
        self.put(self.nchunks(), false, New::Special(kind), len)
    }

    /// Decodes all of `other` and appends it with this frame's parameters, in chunks of the same sizes.
    ///
    /// # Errors
    /// As [`SuperChunk::append_data`], and errors of decoding `other`.
    pub fn recompress_from(&mut self, other: &SuperChunk<'_>) -> Result<(), Error> {
        if let (0, ChunkSize::Fixed(c)) = (self.nchunks(), other.header.chunksize) {
            self.declare(Some(c))?;
        }
        let mut budget = other.limits.budget(other.container_bytes()?);
        for k in 0..other.nchunks() {
            match other.special(k) {
                Some(kind) if other.typesize() == self.typesize() => {
                    self.append_special(kind, other.chunk_nbytes(k)?)?;
                }
                _ => {
                    budget.spend(other.chunk_nbytes(k)?.into())?;
                    let data = other.read_chunk(k)?;
                    self.append_data(&data)?;
                }
            }
        }
        Ok(())
    }
}
