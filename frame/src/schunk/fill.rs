//! Appending one value many times: as special chunks, which have no stored bytes, or as chunks that repeat it.

use super::index::Index;
use super::put::{New, raw_special, repeated};
use super::superchunk::SuperChunk;
use crate::cframe::Entries;
use crate::cframe::header::ChunkSize;
use crate::cframe::view::{self, nan};
use crate::error::Error;
use crate::limits::resize;
use alloc::vec::Vec;
use blosc_core::Special;

impl SuperChunk<'_> {
    /// Appends `nbytes` bytes of zeros, NaNs or "never written", as chunks without stored bytes where
    /// the format allows it.
    ///
    /// # Errors
    /// [`Special::Value`], NaN of a typesize other than 4 or 8, or a part of an item; NaN behind a part of an item.
    pub fn fill_special(&mut self, kind: Special, nbytes: u64) -> Result<(), Error> {
        let typesize = self.typesize();
        let is_value = self.check_special(kind)?.is_some();
        if is_value {
            self.check_whole()?;
        }
        if nbytes.checked_rem(u64::from(typesize)) != Some(0) {
            return Err(Error::param("bytes to fill", nbytes as i64, "whole items"));
        }
        self.prepare(false)?;
        self.declare(None)?;
        let c = if is_value { self.items_piece() } else { self.piece() };
        let count = nbytes.div_ceil(u64::from(c.max(1)));
        self.check_count(count.saturating_add(self.nchunks()))?;
        let pattern = |filler: &mut [u8]| view::fill_special(kind, typesize, 0, filler);
        let mut left = self.fill_last(nbytes, pattern)?;
        if self.nchunks() == 0
            && self.header.chunksize == ChunkSize::Fixed(c)
            && c.checked_rem(typesize) == Some(0)
        {
            let entries = Entries::Repeated(raw_special(kind)?, left.div_ceil(u64::from(c)));
            self.index = Index::opened(entries, self.header.chunksize, left);
            self.pending.frame = true;
            return Ok(());
        }
        while left > 0 {
            let now = left.min(u64::from(c)) as u32;
            self.put(self.nchunks(), false, New::Special(kind), now)?;
            left = left.saturating_sub(u64::from(now));
        }
        Ok(())
    }

    /// Bytes of a new chunk of whole items.
    fn items_piece(&self) -> u32 {
        let (piece, typesize) = (self.piece(), self.typesize());
        (piece - piece.checked_rem(typesize).unwrap_or(0)).max(typesize)
    }

    /// Values cannot follow a part of an item.
    fn check_whole(&self) -> Result<(), Error> {
        match self.nbytes().checked_rem(self.typesize().into()) {
            Some(0) => Ok(()),
            _ => Err(Error::param("bytes before a value", self.nbytes() as i64, "whole items")),
        }
    }

    /// Fills up the last chunk with `nbytes` bytes at most, of which `pattern` makes the whole items there is room for.
    /// Gives how many are left.
    fn fill_last(
        &mut self,
        nbytes: u64,
        pattern: impl FnOnce(&mut [u8]) -> Result<(), Error>,
    ) -> Result<u64, Error> {
        let lacking = self.lacking() - self.lacking().checked_rem(self.typesize()).unwrap_or(0);
        let room = nbytes.min(lacking.into());
        if room == 0 {
            return Ok(nbytes);
        }
        let old = self.piece().saturating_sub(self.lacking());
        self.limits.check_chunk(room.saturating_add(old.into()))?;
        let mut filler = Vec::new();
        resize(&mut filler, room)?;
        pattern(&mut filler)?;
        self.append(&filler)?;
        Ok(nbytes.saturating_sub(room))
    }

    /// Appends `count` items that all have the value `item`, which is `typesize` bytes long.
    ///
    /// # Errors
    /// An item of another length; a frame that ends with a part of an item.
    pub fn fill_value(&mut self, item: &[u8], count: u64) -> Result<(), Error> {
        let typesize = u64::from(self.typesize());
        if item.len() as u64 != typesize {
            return Err(Error::param("length of the value", item.len() as i64, "the typesize"));
        }
        self.check_whole()?;
        self.prepare(false)?;
        self.declare(None)?;
        let c = u64::from(self.items_piece());
        let most = u64::MAX / typesize;
        let asked = count.checked_mul(typesize);
        let asked = asked.ok_or(Error::Capacity { what: "items to fill", asked: count, most })?;
        let mut left = self.fill_last(asked, |filler| {
            filler.iter_mut().zip(item.iter().cycle()).for_each(|(to, from)| *to = *from);
            Ok(())
        })?;
        while left > 0 {
            let now = left.min(c);
            let chunk = repeated(item, now as usize)?;
            self.put_chunk(self.nchunks(), false, &chunk)?;
            left = left.saturating_sub(now);
        }
        Ok(())
    }

    /// Appends one chunk of `len` bytes that repeats an item, whatever the size of the others.
    pub(crate) fn append_repeated(&mut self, item: &[u8], len: u32) -> Result<(), Error> {
        self.prepare(false)?;
        self.put_chunk(self.nchunks(), false, &repeated(item, len as usize)?)
    }

    /// A special chunk as an ordinary one that repeats its value.
    pub(super) fn as_repeated(&self, kind: Special, len: u32) -> Result<Vec<u8>, Error> {
        match self.check_special(kind)? {
            Some(nan) => repeated(nan, len as usize),
            None => zeros(len),
        }
    }

    /// Whether all items can be of this kind; gives the value of one that is not 0.
    fn check_special(&self, kind: Special) -> Result<Option<&'static [u8]>, Error> {
        let nan = nan(self.typesize()).filter(|_| kind == Special::Nan);
        match kind {
            Special::Zeros | Special::Uninit => Ok(None),
            _ if nan.is_some() => Ok(nan),
            _ => Err(Error::param("special kind", kind as i64, "zeros, uninit, or NaN of typesize 4 or 8")),
        }
    }
}

/// Bytes of the blocks of [`zeros`]: few enough that a reader of some items decodes little, many enough that the table
/// of 8 bytes for each block of the longest chunk takes 16 KiB.
const ZEROS_BLOCK: u32 = 1 << 20;

/// An ordinary chunk of zeros: each block is one stream that is a run of zeros (docs/formats/chunk.md §2.4). As first chunk
/// of a file C-Blosc2 reads 32 bytes and an item before it looks at the kind: a chunk that repeats a value narrower than
/// an item of more than 255 bytes is too short for that.
fn zeros(len: u32) -> Result<Vec<u8>, Error> {
    if len == 0 {
        return Err(Error::param("bytes to fill", 0, "at least 1"));
    }
    let block = len.min(ZEROS_BLOCK);
    let blocks = len.div_ceil(block);
    let (table_end, cbytes) =
        (blocks.saturating_mul(4).saturating_add(32), blocks.saturating_mul(8).saturating_add(32));
    // Version 5, extended header, streams not split, items of one byte, no filter, BloscLZ.
    let mut chunk = alloc::vec![5, 1, 0x15, 1];
    for field in [len, block, cbytes, 0, 0, 0, 0] {
        chunk.extend(field.to_le_bytes());
    }
    for stream in 0..blocks {
        chunk.extend(table_end.saturating_add(stream.saturating_mul(4)).to_le_bytes());
    }
    chunk.resize(cbytes as usize, 0);
    Ok(chunk)
}
