//! How a chunk becomes part of the frame: its bytes are stored, its entry, size and checksum noted.
//!
//! A frame is *regular* while every chunk but the last has the declared size. An edit that would break
//! this makes it a frame of variable chunks first (docs/formats/cframe.md §3.4), in which special chunks, whose size
//! would be lost, become ordinary chunks that repeat one value (§5.3).

use super::SuperChunk;
use super::checksum;
use super::fill::{F32_NAN, F64_NAN, repeated};
use super::place::Place;
use super::sizes::Sizes;
use crate::cframe::Entries;
use crate::cframe::header::{ChunkSize, MAX_CHUNKS};
use crate::cframe::index::Entry;
use crate::error::{Error, IoKind};
use alloc::vec::Vec;
use blosc_core::Special;

/// A chunk about to become part of the frame.
pub(super) enum New<'c> {
    Bytes(&'c [u8]),
    Special(Special),
}

impl SuperChunk<'_> {
    /// Adds or replaces an encoded chunk; bare special chunks become what the format wants (§5.3).
    pub(super) fn put_chunk(&mut self, k: u64, replace: bool, chunk: &[u8]) -> Result<(), Error> {
        let header = blosc_core::Header::parse(chunk).map_err(Error::Codec)?;
        let substitute;
        let new = match header.special() {
            // An entry of the index would be read in the frame's items, not in the chunk's.
            Some(Special::Nan) if header.nbytes > 0 && u32::from(header.typesize) != self.typesize() => {
                substitute = match header.typesize {
                    4 => repeated(&F32_NAN, header.nbytes as usize)?,
                    _ => repeated(&F64_NAN, header.nbytes as usize)?,
                };
                New::Bytes(&substitute)
            }
            Some(kind @ (Special::Zeros | Special::Nan | Special::Uninit)) if header.nbytes > 0 => {
                New::Special(kind)
            }
            Some(Special::Zeros | Special::Nan | Special::Uninit) => {
                // Other readers know an empty chunk in its plain form only.
                substitute = self.encode(&[])?;
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
        if !self.fits(k, replace, len) {
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
        let (raw, hash) = match new {
            New::Bytes(bytes) => self.store(bytes)?,
            New::Special(kind) => (Entry::Special(kind).to_raw().unwrap_or(0), checksum::UNKNOWN),
        };
        let at = usize::try_from(k).map_err(|_| IoKind::NoSpace)?;
        if variable {
            self.read_sizes()?;
        }
        if replace {
            self.note_obsolete(k)?;
            self.point(at, raw, hash)?;
        } else {
            let list = self.entries.list_mut()?;
            self.hashes.edit(list.len(), |sums| sums.insert(at, hash));
            list.insert(at, raw);
        }
        self.sizes.put(k, replace, n, len);
        self.dirty = true;
        Ok(())
    }

    /// Lets entry `at` be `raw`, whose bytes have the checksum `sum`.
    fn point(&mut self, at: usize, raw: i64, sum: u64) -> Result<(), Error> {
        let list = self.entries.list_mut()?;
        self.hashes.set(list.len(), at, sum);
        if let Some(slot) = list.get_mut(at) {
            *slot = raw;
        }
        Ok(())
    }

    /// Whether a chunk of `len` bytes at `k` leaves the frame what it is.
    fn fits(&self, k: u64, replace: bool, len: u32) -> bool {
        let Sizes::Regular { chunk, total } = self.sizes else { return true };
        let n = self.nchunks();
        let last = if replace { k.saturating_add(1) == n } else { k == n };
        let full_last = total.checked_rem(u64::from(chunk)) == Some(0);
        match last {
            true if replace => len > 0 && len <= chunk,
            true => len > 0 && len <= chunk && (full_last || n == 0),
            false => len == chunk,
        }
    }

    /// Writes a chunk's bytes; gives its raw entry and checksum.
    fn store(&mut self, bytes: &[u8]) -> Result<(i64, u64), Error> {
        // Behind the committed frame another writer's state may begin by now, whatever was noted in memory before.
        if !self.has_written() {
            self.check_unchanged()?;
        }
        if self.committed.is_none()
            && let Place::Contiguous(frame) = &mut self.place
            && frame.end == 0
        {
            frame.start(super::commit::header_len(&self.metalayers)?);
        }
        let entries = &self.entries;
        let referenced = |raw| match entries {
            Entries::Repeated(same, _) => *same == raw,
            Entries::List(list) => list.contains(&raw),
        };
        let raw = self.place.add_chunk(bytes, referenced)?;
        self.stored_bytes = self.stored_bytes.saturating_add(bytes.len() as u64);
        Ok((raw, checksum::of(bytes)))
    }

    /// Remembers that the bytes of chunk `k` are about to lose a reference.
    pub(super) fn note_obsolete(&mut self, k: u64) -> Result<(), Error> {
        if let Some(Entry::Stored(entry)) = self.entry(k) {
            // One that is missing or damaged can be deleted all the same.
            let header = self.place.locate(entry).and_then(|located| located.header(k));
            let cbytes = header.map_or(0, |header| u64::from(header.cbytes));
            match &mut self.place {
                Place::Contiguous(frame) => frame.release(entry, cbytes),
                Place::Sparse { .. } => {
                    self.stored_bytes = self.stored_bytes.saturating_sub(cbytes);
                    self.obsolete.extend(u32::try_from(entry));
                }
            }
        }
        Ok(())
    }

    /// Before chunks of ordinary or variable-length blocks are added: the two do not mix in a frame.
    pub(super) fn prepare(&mut self, vl_blocks: bool) -> Result<(), Error> {
        self.touch()?;
        if self.nchunks() > 0 {
            let first = match self.vl_blocks {
                Some(known) => known,
                None => self.chunk_header(0)?.is_some_and(|header| header.is_vl()),
            };
            self.vl_blocks = Some(first);
            if first != vl_blocks {
                return Err(Error::Param {
                    name: "kind of blocks",
                    value: i64::from(vl_blocks),
                    allowed: "the kind the frame's chunks have; they do not mix",
                });
            }
        } else {
            self.vl_blocks = Some(vl_blocks);
        }
        Ok(())
    }

    /// Declares the chunk size of a frame that has none yet.
    pub(super) fn declare(&mut self, size: Option<u32>) -> Result<(), Error> {
        if self.header.chunksize == ChunkSize::Unknown {
            let size = match size {
                Some(size) => size,
                None => {
                    self.set_chunksize(self.chunksize)?;
                    self.chunksize
                }
            };
            self.header.chunksize = ChunkSize::Fixed(size);
            self.sizes = Sizes::Regular { chunk: size, total: 0 };
        }
        Ok(())
    }

    /// A frame that declares one size but turned out to hold others becomes one of variable chunks.
    pub(super) fn settle_regularity(&mut self) -> Result<(), Error> {
        if let (ChunkSize::Fixed(_), Sizes::Each { .. }) = (self.header.chunksize, &self.sizes) {
            self.make_variable()?;
        }
        Ok(())
    }

    /// Turns the frame into one of variable chunks.
    pub(super) fn make_variable(&mut self) -> Result<(), Error> {
        self.read_sizes()?;
        let special = (0..self.nchunks()).filter_map(|k| Some((k, self.special(k)?))).collect::<Vec<_>>();
        for (k, kind) in special {
            let Some(len) = self.sizes.len_of(k) else { continue };
            let chunk = self.as_repeated(kind, len)?;
            let (raw, hash) = self.store(&chunk)?;
            self.point(usize::try_from(k).map_err(|_| IoKind::NoSpace)?, raw, hash)?;
        }
        self.header.chunksize = ChunkSize::Variable;
        if self.vl_blocks.is_none() && self.nchunks() > 0 {
            self.vl_blocks = Some(self.chunk_header(0)?.is_some_and(|header| header.is_vl()));
        }
        self.dirty = true;
        Ok(())
    }

    /// The sizes of all chunks, read from their headers where the frame does not tell them.
    pub(super) fn sizes_known(&mut self) -> Result<&Sizes, Error> {
        if matches!(self.sizes, Sizes::Unread { .. }) {
            self.read_sizes()?;
        }
        Ok(&self.sizes)
    }

    pub(super) fn chunk_limits(&self) -> blosc_core::Limits {
        self.limits.chunk.output(u64::MAX)
    }

    /// Refuses more chunks than a frame can have, or than the limits allow.
    pub(super) fn check_count(&self, asked: u64) -> Result<(), Error> {
        let (what, limit) = ("chunks", self.limits.chunks);
        if asked > MAX_CHUNKS {
            return Err(Error::Capacity { what, asked, most: MAX_CHUNKS });
        }
        if asked > limit { Err(Error::Limit { what, asked, limit }) } else { Ok(()) }
    }

    /// Looks, before the first change after a commit, whether the frame is still what was opened.
    pub(super) fn touch(&mut self) -> Result<(), Error> {
        if !self.is_dirty() {
            self.check_unchanged()?;
        }
        self.look_for_room();
        Ok(())
    }

    /// Before the entries change for the first time.
    pub(super) fn look_for_room(&mut self) {
        if let Place::Contiguous(frame) = &mut self.place {
            frame.look(&self.entries, self.hashes.live());
        }
    }
}

/// Why a frame cannot start with an empty chunk.
pub(super) const ZERO_FIRST: Error = Error::Param {
    name: "bytes of the first chunk",
    value: 0,
    allowed: "at least 1: other readers cannot open a frame that starts with an empty chunk",
};
