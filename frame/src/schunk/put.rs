//! How a chunk becomes part of the frame: its bytes are stored, its entry, size and checksum noted.
//!
//! A frame is *regular* while every chunk but the last has the declared size. An edit that would break
//! this makes it a frame of variable chunks first (docs/formats/cframe.md §3.4), in which special chunks, whose size
//! would be lost, become ordinary chunks that repeat one value (§5.3).

use super::checksum;
use super::index::Index;
use super::meta::Change;
use super::sizes::Sizes;
use super::superchunk::SuperChunk;
use crate::cframe::header::{ChunkSize, FIXED_LEN, MAX_CHUNKS};
use crate::cframe::index::Entry;
use crate::cframe::view::nan;
use crate::error::Error;
use crate::limits::within;
use alloc::vec::Vec;
use blosc_core::Special;
use blosc_core::chunk::special;

/// A chunk about to become part of the frame.
pub(super) enum New<'c> {
    Bytes(&'c [u8]),
    Special(Special),
    /// The bytes of the chunk with this number.
    Shared(u64),
}

impl SuperChunk<'_> {
    /// Adds or replaces an encoded chunk; bare special chunks become what the format wants (§5.3).
    pub(super) fn put_chunk(&mut self, k: u64, replace: bool, chunk: &[u8]) -> Result<(), Error> {
        let header = blosc_core::Header::parse(chunk).map_err(Error::Codec)?;
        let substitute;
        let new = match header.special() {
            // An entry of the index would be read in the frame's items, not in the chunk's.
            Some(Special::Nan) if header.nbytes > 0 && u32::from(header.typesize) != self.typesize() => {
                let nan = nan(if header.typesize == 4 { 4 } else { 8 }).unwrap_or(&[]);
                substitute = repeated(nan, header.nbytes as usize)?;
                New::Bytes(&substitute)
            }
            Some(kind @ (Special::Zeros | Special::Nan | Special::Uninit)) if header.nbytes > 0 => {
                New::Special(kind)
            }
            Some(Special::Zeros | Special::Nan | Special::Uninit) => {
                // Other readers know an empty chunk in its plain form only.
                substitute = self.encode(&[], &mut Vec::new())?.to_vec();
                New::Bytes(&substitute)
            }
            _ => New::Bytes(chunk),
        };
        self.put(k, replace, new, header.nbytes)
    }

    pub(super) fn put(&mut self, k: u64, replace: bool, new: New<'_>, len: u32) -> Result<(), Error> {
        let n = self.nchunks();
        if !replace {
            self.check_count(n.saturating_add(1))?;
        }
        if len == 0 && k == 0 {
            return Err(ZERO_FIRST);
        }
        self.declare(Some(len))?;
        self.settle_regularity()?;
        if !self.index.sizes().fits(k, replace, n, len) {
            self.make_variable()?;
        }
        let variable = self.header.chunksize == ChunkSize::Variable;
        let whole_items = len.checked_rem(self.typesize()) == Some(0);
        let substitute;
        let new = match new {
            New::Special(kind) if variable || !whole_items => {
                substitute = self.as_repeated(kind, len)?;
                New::Bytes(&substitute)
            }
            other => other,
        };
        let (raw, sum) = match new {
            New::Bytes(bytes) => self.write(bytes)?,
            New::Special(kind) => (raw_special(kind)?, checksum::UNKNOWN),
            New::Shared(k) => {
                let raw = self.index.entry(k)?.to_raw();
                (raw.unwrap_or(0), self.index.sum(k).unwrap_or(checksum::UNKNOWN))
            }
        };
        if variable {
            self.read_sizes()?;
        }
        if replace {
            self.release(k);
        }
        self.pending.frame = true;
        self.index.edit(k, replace, Some((raw, sum, len)))
    }

    /// Writes a chunk's bytes; gives its raw entry and checksum.
    fn write(&mut self, bytes: &[u8]) -> Result<(i64, u64), Error> {
        if !self.pending.written {
            // Changes noted in memory may be old: behind the committed frame another writer's state may begin by now.
            if self.is_dirty() {
                self.check_unchanged(false)?;
            }
            if self.pending.committed.is_none() {
                let section = self.metalayers.section(Change::Length)?;
                self.store.start((FIXED_LEN as u64).saturating_add(section.len() as u64));
            }
            self.pending.written = true;
        }
        Ok((self.store.add(bytes)?, self.checksums.of_chunk(bytes)))
    }

    /// The bytes of chunk `k` are about to lose a reference.
    pub(super) fn release(&mut self, k: u64) {
        if let Some(Entry::Stored(entry)) = self.index.get(k) {
            // One that is missing or damaged can be deleted all the same.
            let header = self.store.locate(entry).and_then(|located| located.header(k));
            self.store.release(entry, header.map_or(0, |header| u64::from(header.cbytes)));
        }
    }

    /// Before chunks of ordinary or variable-length blocks are added: the two do not mix in a frame.
    pub(super) fn prepare(&mut self, vl_blocks: bool) -> Result<(), Error> {
        self.touch()?;
        if self.nchunks() > 0 {
            self.learn_blocks()?;
        } else {
            self.vl_blocks = Some(vl_blocks);
        }
        if self.vl_blocks == Some(vl_blocks) {
            return Ok(());
        }
        Err(Error::param(
            "kind of blocks",
            i64::from(vl_blocks),
            "the kind the frame's chunks have; they do not mix",
        ))
    }

    /// Learns from the first chunk which kind of blocks the chunks have.
    fn learn_blocks(&mut self) -> Result<(), Error> {
        if self.vl_blocks.is_none() && self.nchunks() > 0 {
            self.vl_blocks = Some(self.chunk_header(0)?.is_some_and(|header| header.is_vl()));
        }
        Ok(())
    }

    /// Declares the chunk size of a frame that has none yet.
    pub(super) fn declare(&mut self, size: Option<u32>) -> Result<(), Error> {
        if self.header.chunksize == ChunkSize::Unknown {
            let Some(size) = size else { return self.set_chunksize(self.chunksize) };
            self.header.chunksize = ChunkSize::Fixed(size);
            self.index = Index::empty(self.header.chunksize);
        }
        Ok(())
    }

    /// A frame that declares one size but turned out to hold others becomes one of variable chunks.
    pub(super) fn settle_regularity(&mut self) -> Result<(), Error> {
        if let (ChunkSize::Fixed(_), Sizes::Each { .. }) = (self.header.chunksize, self.index.sizes()) {
            self.make_variable()?;
        }
        Ok(())
    }

    /// Turns the frame into one of variable chunks.
    pub(super) fn make_variable(&mut self) -> Result<(), Error> {
        self.read_sizes()?;
        let special = (0..self.nchunks()).filter_map(|k| Some((k, self.special(k)?))).collect::<Vec<_>>();
        for (k, kind) in special {
            let Some(len) = self.index.sizes().len_of(k) else { continue };
            let (raw, sum) = self.write(&self.as_repeated(kind, len)?)?;
            self.index.point(k, raw, Some(sum))?;
        }
        self.header.chunksize = ChunkSize::Variable;
        self.pending.frame = true;
        self.learn_blocks()
    }

    /// Refuses more chunks than a frame can have, or than the limits allow.
    pub(super) fn check_count(&self, asked: u64) -> Result<(), Error> {
        if asked > MAX_CHUNKS {
            return Err(Error::Capacity { what: "chunks", asked, most: MAX_CHUNKS });
        }
        within("chunks", asked, self.limits.chunks)
    }

    /// Looks, before the first change after a commit, whether the frame is still what was opened.
    pub(super) fn touch(&mut self) -> Result<(), Error> {
        if !self.is_dirty() {
            self.check_unchanged(false)?;
            self.checksums.check_table()?;
        }
        self.store.look(&self.index, self.checksums.live);
        Ok(())
    }
}

/// The entry of a chunk without stored bytes.
pub(super) fn raw_special(kind: Special) -> Result<i64, Error> {
    Entry::Special(kind).to_raw().ok_or(Error::Internal { what: "an entry for a repeated value" })
}

/// A chunk of `nbytes` bytes that repeats `value`.
pub(super) fn repeated(value: &[u8], nbytes: usize) -> Result<Vec<u8>, Error> {
    let mut chunk = alloc::vec![0; value.len().saturating_add(32)];
    let len = special::repeated(value, nbytes, &mut chunk).map_err(Error::Codec)?;
    chunk.truncate(len);
    Ok(chunk)
}

/// Why a frame cannot start with an empty chunk.
pub(super) const ZERO_FIRST: Error = Error::param(
    "bytes of the first chunk",
    0,
    "at least 1: other readers cannot open a frame that starts with an empty chunk",
);
