//! Editing: insert, update, delete, reorder chunks. Nothing is visible before a commit. What is appended is in
//! `append` and `fill`; how a chunk becomes part of the frame is in `put`.

use super::index::Index;
use super::put::ZERO_FIRST;
use super::shared::chunk_context;
use super::sizes::Sizes;
use super::superchunk::SuperChunk;
use crate::cframe::header::{ChunkSize, MAX_CHUNK_NBYTES};
use crate::error::Error;
use crate::spare;
use alloc::vec::Vec;
use blosc_core::{Chunk, Error as Core, Header};

impl SuperChunk<'_> {
    /// Sets the size of the blocks of new chunks. No chunk may be there.
    pub(crate) fn set_blocksize(&mut self, bytes: u32) {
        self.header.blocksize = bytes;
        self.pending.frame = true;
    }

    /// Sets the size of chunks made from appended data, in bytes; it is rounded to whole items.
    ///
    /// # Errors
    /// If the frame has chunks already and declares another size.
    pub fn set_chunksize(&mut self, chunksize: u32) -> Result<(), Error> {
        let typesize = self.typesize();
        let whole = (chunksize - chunksize.checked_rem(typesize).unwrap_or(0)).max(typesize);
        if whole == 0 || whole > MAX_CHUNK_NBYTES {
            return Err(Error::param("chunksize", i64::from(chunksize), "1 to 2147483615 bytes"));
        }
        match self.header.chunksize {
            ChunkSize::Fixed(declared) if self.nchunks() > 0 && declared != whole => {
                return Err(Error::param("chunksize", i64::from(chunksize), "the size the frame declares"));
            }
            ChunkSize::Fixed(_) | ChunkSize::Unknown if self.nchunks() == 0 => {
                self.header.chunksize = ChunkSize::Fixed(whole);
                self.index = Index::empty(self.header.chunksize);
                self.pending.frame = true;
            }
            _ => {}
        }
        self.chunksize = whole;
        Ok(())
    }

    /// Changes the parameters of chunks written from now on; the typesize must stay.
    ///
    /// # Errors
    /// [`Error::Param`] for another item size; [`Error::Codec`] for parameters that no chunk can have.
    pub fn set_params(&mut self, params: &blosc_core::Params) -> Result<(), Error> {
        params.check().map_err(Error::Codec)?;
        if params.typesize != self.typesize() {
            return Err(Error::param("typesize", i64::from(params.typesize), "the typesize of the frame"));
        }
        self.header.set_params(params);
        self.pending.frame = true;
        Ok(())
    }

    /// Appends one chunk that holds exactly `data`.
    ///
    /// # Errors
    /// [`Error::Param`] for a size that the frame's chunks cannot have; [`Error::Codec`], [`Error::Limit`],
    /// [`Error::Capacity`]; nothing has changed then.
    pub fn append_data(&mut self, data: &[u8]) -> Result<(), Error> {
        self.insert(self.nchunks(), data)
    }

    /// Inserts one chunk that holds exactly `data` before chunk `k`. Many edits are one commit:
    ///
    /// ```
    /// let mut frame = blosc_frame::SuperChunk::memory(&blosc_core::Params::new(1))?;
    /// frame.append_data(&[1; 100])?;
    /// frame.insert(0, &[2; 100])?;
    /// frame.update(1, &[3; 100])?;
    /// frame.commit()?;
    /// assert_eq!(frame.read_chunk(1)?, [3; 100]);
    /// # Ok::<(), blosc_frame::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`SuperChunk::append_data`], and [`Error::OutOfRange`] for `k`.
    pub fn insert(&mut self, k: u64, data: &[u8]) -> Result<(), Error> {
        self.put_data(k, false, data)
    }

    /// Replaces chunk `k` by one that holds exactly `data`.
    ///
    /// # Errors
    /// As [`SuperChunk::insert`].
    pub fn update(&mut self, k: u64, data: &[u8]) -> Result<(), Error> {
        self.put_data(k, true, data)
    }

    fn put_data(&mut self, k: u64, replace: bool, data: &[u8]) -> Result<(), Error> {
        self.prepare(false)?;
        self.check_position(k, replace)?;
        self.encode_to(k, replace, data)
    }

    /// As [`SuperChunk::insert`] and [`SuperChunk::update`], of a frame that is prepared.
    pub(super) fn encode_to(&mut self, k: u64, replace: bool, data: &[u8]) -> Result<(), Error> {
        let mut room = core::mem::take(&mut self.tools.own().1);
        let done = self.encode(data, &mut room).and_then(|chunk| self.put_chunk(k, replace, chunk));
        self.tools.own().1 = room;
        done
    }

    /// Appends a chunk that is encoded already; it is checked first.
    ///
    /// # Errors
    /// [`Error::Chunk`] for a damaged chunk, [`Error::Param`] for one that does not fit the frame, [`Error::Limit`];
    /// nothing has changed then.
    pub fn append_chunk(&mut self, chunk: &[u8]) -> Result<(), Error> {
        self.insert_chunk(self.nchunks(), chunk)
    }

    /// Appends a chunk that is encoded already; of one that cannot be checked here, its header is.
    pub(crate) fn append_as_is(&mut self, chunk: &[u8]) -> Result<(), Error> {
        match self.append_chunk(chunk) {
            Err(error @ Error::Codec(Core::Limit { .. })) => Err(error),
            Err(error @ Error::Codec(_)) if error.leaves_open() => {
                let header = Header::parse(chunk).map_err(Error::Codec)?;
                self.prepare(header.is_vl())?;
                self.put_chunk(self.nchunks(), false, chunk)
            }
            done => done,
        }
    }

    /// Inserts a chunk that is encoded already before chunk `k`.
    ///
    /// # Errors
    /// As [`SuperChunk::append_chunk`], and [`Error::OutOfRange`] for `k`.
    pub fn insert_chunk(&mut self, k: u64, chunk: &[u8]) -> Result<(), Error> {
        self.put_checked(k, false, chunk)
    }

    /// Replaces chunk `k` by one that is encoded already.
    ///
    /// # Errors
    /// As [`SuperChunk::insert_chunk`].
    pub fn update_chunk(&mut self, k: u64, chunk: &[u8]) -> Result<(), Error> {
        self.put_checked(k, true, chunk)
    }

    fn put_checked(&mut self, k: u64, replace: bool, chunk: &[u8]) -> Result<(), Error> {
        let chunk = Chunk::parse_with(chunk, &self.limits.chunk).map_err(Error::Codec)?;
        self.prepare(chunk.header().is_vl())?;
        if chunk.header().cbytes < 32 {
            return Err(Error::param(
                "chunk size",
                i64::from(chunk.header().cbytes),
                "at least 32 bytes; shorter Blosc1 chunks cannot be read in frames",
            ));
        }
        self.check_position(k, replace)?;
        self.put_chunk(k, replace, chunk.bytes())
    }

    /// Removes chunk `k`.
    ///
    /// # Errors
    /// [`Error::OutOfRange`], and errors of reading the chunk's header.
    pub fn delete(&mut self, k: u64) -> Result<(), Error> {
        self.check_position(k, true)?;
        self.touch()?;
        self.settle_regularity()?;
        let next = self.sizes_known()?.len_of(1);
        if k == 0 && self.nchunks() > 1 && next == Some(0) {
            return Err(ZERO_FIRST);
        }
        self.release(k);
        self.pending.frame = true;
        self.index.edit(k, true, None)
    }

    /// Puts the chunks into a new order: chunk `order[i]` becomes chunk `i`.
    ///
    /// # Errors
    /// If `order` is not a permutation of all chunks.
    pub fn reorder(&mut self, order: &[u64]) -> Result<(), Error> {
        let n = self.nchunks();
        let mut seen = alloc::vec![false; order.len()];
        for k in order {
            let slot = usize::try_from(*k).ok().and_then(|k| seen.get_mut(k)).filter(|seen| !**seen);
            *slot.ok_or(Error::out_of_range("chunk (a new order names each chunk once)", *k, n))? = true;
        }
        if order.len() as u64 != n {
            return Err(Error::out_of_range("chunk (a new order names all of them)", order.len() as u64, n));
        }
        if n == 0 {
            return Ok(());
        }
        self.touch()?;
        self.settle_regularity()?;
        if let Sizes::Regular { chunk, total } = *self.index.sizes()
            && total.checked_rem(u64::from(chunk)) != Some(0)
            && order.last() != Some(&n.saturating_sub(1))
        {
            self.make_variable()?;
        }
        let first = order.first().copied().unwrap_or(0);
        if self.header.chunksize == ChunkSize::Variable && self.sizes_known()?.len_of(first) == Some(0) {
            return Err(ZERO_FIRST);
        }
        self.pending.frame = true;
        self.index.reorder(order)
    }

    pub(super) fn encode<'r>(&mut self, data: &[u8], room: &'r mut Vec<u8>) -> Result<&'r [u8], Error> {
        if data.len() > MAX_CHUNK_NBYTES as usize {
            let (asked, most) = (data.len() as u64, MAX_CHUNK_NBYTES.into());
            return Err(Error::Capacity { what: "bytes of a chunk", asked, most });
        }
        let params = self.params().fit(data.len());
        let context = chunk_context(self.header.typesize, &self.blockshape);
        spare::encode((&mut self.tools.own().0, room), &params, context, data).map_err(Error::Codec)
    }

    /// Refuses a number that no chunk has, or that a new one cannot have.
    fn check_position(&self, k: u64, of_chunk: bool) -> Result<(), Error> {
        let len = self.nchunks().saturating_add(u64::from(!of_chunk));
        if k < len { Ok(()) } else { Err(Error::out_of_range("chunk", k, len)) }
    }
}
