//! Editing: append, insert, update, delete, reorder, fill. Nothing is visible before a commit.
//!
//! A frame is *regular* while every chunk but the last has the declared size. An edit that would break
//! this makes it a frame of variable chunks first (format §3.4), in which special chunks, whose size
//! would be lost, become ordinary chunks that repeat one value (§5.3).

use super::SuperChunk;
use super::checksum;
use super::place::Place;
use super::read::{RawChunk, around};
use super::sizes::Sizes;
use crate::cframe::Entries;
use crate::cframe::header::{ChunkSize, MAX_CHUNK_NBYTES, MAX_CHUNKS};
use crate::cframe::index::Entry;
use crate::error::{Error, IoKind};
use alloc::vec::Vec;
use blosc_core::chunk::special;
use blosc_core::{Chunk, Special};

/// A chunk about to become part of the frame.
enum New<'c> {
    Bytes(&'c [u8]),
    Special(Special),
}

impl SuperChunk<'_> {
    /// Sets the size of chunks made from appended data, in bytes; it is rounded to whole items.
    ///
    /// # Errors
    /// If the frame has chunks already and declares another size.
    pub fn set_chunksize(&mut self, chunksize: u32) -> Result<(), Error> {
        let typesize = self.typesize();
        let whole = (chunksize - chunksize.checked_rem(typesize).unwrap_or(0)).max(typesize);
        if whole == 0 || whole > MAX_CHUNK_NBYTES {
            return Err(Error::Param {
                name: "chunksize",
                value: i64::from(chunksize),
                allowed: "1 to 2147483615 bytes",
            });
        }
        match self.header.chunksize {
            ChunkSize::Fixed(declared) if self.nchunks() > 0 && declared != whole => {
                return Err(Error::Param {
                    name: "chunksize",
                    value: i64::from(chunksize),
                    allowed: "the size the frame declares",
                });
            }
            ChunkSize::Fixed(_) | ChunkSize::Unknown if self.nchunks() == 0 => {
                self.header.chunksize = ChunkSize::Fixed(whole);
                self.sizes = Sizes::Regular { chunk: whole, total: 0 };
                self.dirty = true;
            }
            _ => {}
        }
        self.chunksize = whole;
        Ok(())
    }

    /// Changes the parameters of chunks written from now on; the typesize must stay.
    pub fn set_params(&mut self, params: &blosc_core::Params) -> Result<(), Error> {
        params.check().map_err(Error::Codec)?;
        if params.typesize != self.typesize() {
            return Err(Error::Param {
                name: "typesize",
                value: i64::from(params.typesize),
                allowed: "the typesize of the frame",
            });
        }
        self.header.set_params(params);
        self.dirty = true;
        Ok(())
    }

    /// Appends data: fills up the last chunk, then adds chunks of the frame's chunk size.
    pub fn append(&mut self, data: &[u8]) -> Result<(), Error> {
        self.append_counted(data, &mut 0)
    }

    /// As [`SuperChunk::append`]; `taken` counts the bytes that have become part of the frame, also where it fails.
    pub(super) fn append_counted(&mut self, data: &[u8], taken: &mut usize) -> Result<(), Error> {
        if data.is_empty() {
            return Ok(());
        }
        self.prepare(false)?;
        self.declare(None)?;
        let chunksize = match self.header.chunksize {
            ChunkSize::Fixed(c) => c,
            _ => self.chunksize,
        };
        let mut data = data;
        if let (Sizes::Regular { chunk, .. }, Some(last)) = (&self.sizes, self.nchunks().checked_sub(1)) {
            let room = chunk.saturating_sub(self.sizes.len_of(last).unwrap_or(*chunk)) as usize;
            if room > 0 {
                let (now, rest) = data.split_at(room.min(data.len()));
                let mut whole = self.read_chunk(last)?;
                whole.extend_from_slice(now);
                self.update(last, &whole)?;
                *taken = taken.saturating_add(now.len());
                data = rest;
            }
        }
        self.append_pieces(data, chunksize as usize, taken)
    }

    /// Encodes `data` in pieces, on all threads, and appends them.
    fn append_pieces(&mut self, data: &[u8], size: usize, taken: &mut usize) -> Result<(), Error> {
        #[cfg(feature = "std")]
        if self.threads > 1 && data.len() > size {
            let params = self.params();
            params.check().map_err(Error::Codec)?;
            let (typesize, blockshape) = (self.header.typesize, self.blockshape.clone());
            return super::parallel::ordered(
                self.threads,
                data.chunks(size.max(1)),
                |(pool, _), piece: &[u8]| {
                    let params = params.fit(piece.len());
                    (pool.compress_in(&params, around(typesize, &blockshape), piece), piece.len())
                },
                |(chunk, len)| {
                    let n = self.nchunks();
                    self.put_chunk(n, false, &chunk.map_err(Error::Codec)?)?;
                    *taken = taken.saturating_add(len);
                    Ok(())
                },
            );
        }
        for piece in data.chunks(size.max(1)) {
            let chunk = self.encode(piece)?;
            self.put_chunk(self.nchunks(), false, &chunk)?;
            *taken = taken.saturating_add(piece.len());
        }
        Ok(())
    }

    fn encode(&mut self, data: &[u8]) -> Result<Vec<u8>, Error> {
        if data.len() > MAX_CHUNK_NBYTES as usize {
            let asked = data.len() as u64;
            return Err(Error::Capacity {
                what: "bytes of a chunk",
                asked,
                most: u64::from(MAX_CHUNK_NBYTES),
            });
        }
        let params = self.params().fit(data.len());
        let around = around(self.header.typesize, &self.blockshape);
        self.pool.compress_in(&params, around, data).map_err(Error::Codec)
    }

    /// Appends one chunk that holds exactly `data`.
    pub fn append_data(&mut self, data: &[u8]) -> Result<(), Error> {
        self.insert(self.nchunks(), data)
    }

    /// Inserts one chunk that holds exactly `data` before chunk `k`.
    pub fn insert(&mut self, k: u64, data: &[u8]) -> Result<(), Error> {
        self.prepare(false)?;
        self.check_position(k, self.nchunks().saturating_add(1))?;
        let chunk = self.encode(data)?;
        self.put_chunk(k, false, &chunk)
    }

    /// Replaces chunk `k` by one that holds exactly `data`.
    pub fn update(&mut self, k: u64, data: &[u8]) -> Result<(), Error> {
        self.prepare(false)?;
        self.check_position(k, self.nchunks())?;
        let chunk = self.encode(data)?;
        self.put_chunk(k, true, &chunk)
    }

    /// Appends a chunk that is encoded already; it is checked first.
    pub fn append_chunk(&mut self, chunk: &[u8]) -> Result<(), Error> {
        self.insert_chunk(self.nchunks(), chunk)
    }

    /// Inserts a chunk that is encoded already before chunk `k`.
    pub fn insert_chunk(&mut self, k: u64, chunk: &[u8]) -> Result<(), Error> {
        let chunk = self.check_chunk(chunk)?;
        self.check_position(k, self.nchunks().saturating_add(1))?;
        self.put_chunk(k, false, chunk.bytes())
    }

    /// Replaces chunk `k` by one that is encoded already.
    pub fn update_chunk(&mut self, k: u64, chunk: &[u8]) -> Result<(), Error> {
        let chunk = self.check_chunk(chunk)?;
        self.check_position(k, self.nchunks())?;
        self.put_chunk(k, true, chunk.bytes())
    }

    /// Removes chunk `k`.
    pub fn delete(&mut self, k: u64) -> Result<(), Error> {
        self.check_position(k, self.nchunks())?;
        self.touch()?;
        self.settle_regularity()?;
        let next = self.sizes_known()?.len_of(1);
        if k == 0 && self.nchunks() > 1 && next == Some(0) {
            return Err(ZERO_FIRST);
        }
        self.note_obsolete(k)?;
        let at = usize::try_from(k).map_err(|_| IoKind::NoSpace)?;
        let limits = self.chunk_limits();
        self.hashes.edit(&self.entries, &mut self.pool, &limits, |list| {
            list.remove(at);
        })?;
        self.entries.list_mut()?.remove(at);
        self.sizes.remove(k);
        self.dirty = true;
        Ok(())
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
            *slot.ok_or(Error::OutOfRange { what: "chunk (each exactly once)", index: *k, len: n })? = true;
        }
        if order.len() as u64 != n {
            return Err(Error::OutOfRange { what: "chunk (all of them)", index: order.len() as u64, len: n });
        }
        if n == 0 {
            return Ok(());
        }
        self.touch()?;
        self.settle_regularity()?;
        if let Sizes::Regular { chunk, total } = self.sizes
            && total.checked_rem(u64::from(chunk)) != Some(0)
            && order.last() != Some(&n.saturating_sub(1))
        {
            self.make_variable()?;
        }
        let first = order.first().copied().unwrap_or(0);
        if self.header.chunksize == ChunkSize::Variable && self.sizes_known()?.len_of(first) == Some(0) {
            return Err(ZERO_FIRST);
        }
        let picked = |list: &[u64]| -> Vec<u64> {
            order.iter().filter_map(|k| list.get(*k as usize).copied()).collect()
        };
        let limits = self.chunk_limits();
        self.hashes.edit(&self.entries, &mut self.pool, &limits, |list| *list = picked(list))?;
        let list = self.entries.list_mut()?;
        *list = order.iter().filter_map(|k| list.get(*k as usize).copied()).collect();
        self.sizes.reorder(order);
        self.dirty = true;
        Ok(())
    }

    /// Appends `nbytes` bytes of zeros, NaNs or "never written", as chunks without stored bytes where
    /// the format allows it.
    ///
    /// # Errors
    /// [`Special::Value`], NaN of a typesize other than 4 or 8, or a part of an item.
    pub fn fill_special(&mut self, kind: Special, nbytes: u64) -> Result<(), Error> {
        let typesize = self.typesize();
        if kind == Special::Value || (kind == Special::Nan && !matches!(typesize, 4 | 8)) {
            return Err(Error::Param {
                name: "special kind",
                value: kind as i64,
                allowed: "zeros, uninit, or NaN of typesize 4 or 8",
            });
        }
        if nbytes.checked_rem(u64::from(typesize)) != Some(0) {
            return Err(Error::Param { name: "bytes to fill", value: nbytes as i64, allowed: "whole items" });
        }
        self.prepare(false)?;
        self.declare(None)?;
        let c = match self.header.chunksize {
            ChunkSize::Fixed(c) => c,
            _ => self.chunksize,
        };
        let count = nbytes.div_ceil(u64::from(c.max(1)));
        self.check_count(count.saturating_add(self.nchunks()))?;
        let mut left = nbytes;
        let full_last = self.nbytes().checked_rem(u64::from(c)) == Some(0);
        if let (Sizes::Regular { .. }, false) = (&self.sizes, full_last) {
            let last = self.nchunks().saturating_sub(1);
            let mut whole = self.read_chunk(last)?;
            let room = (c as usize).saturating_sub(whole.len());
            let add = usize::try_from(left).unwrap_or(room).min(room);
            let old = whole.len();
            let (asked, limit) = (old.saturating_add(add) as u64, self.limits.chunk.output);
            if asked > limit {
                return Err(Error::Limit { what: "bytes of a chunk", asked, limit });
            }
            super::place::resize(&mut whole, old.saturating_add(add))?;
            let tail = whole.get_mut(old..).unwrap_or(&mut []);
            crate::cframe::view::fill_special(kind, typesize, 0, tail)?;
            self.update(last, &whole)?;
            left = left.saturating_sub(add as u64);
        }
        let raw = Entry::Special(kind).to_raw().unwrap_or(0);
        if self.nchunks() == 0
            && matches!(self.header.chunksize, ChunkSize::Fixed(_))
            && c.checked_rem(typesize) == Some(0)
        {
            self.entries = Entries::Repeated(raw, left.div_ceil(u64::from(c)));
            self.hashes.forget();
            self.sizes = Sizes::Regular { chunk: c, total: left };
            self.dirty = true;
            return Ok(());
        }
        while left > 0 {
            let now = left.min(u64::from(c)) as u32;
            self.put(self.nchunks(), false, New::Special(kind), now)?;
            left = left.saturating_sub(u64::from(now));
        }
        Ok(())
    }

    /// Appends `count` items that all have the value `item`, which is `typesize` bytes long.
    pub fn fill_value(&mut self, item: &[u8], count: u64) -> Result<(), Error> {
        let typesize = u64::from(self.typesize());
        if item.len() as u64 != typesize {
            return Err(Error::Param {
                name: "length of the value",
                value: item.len() as i64,
                allowed: "the typesize",
            });
        }
        self.prepare(false)?;
        self.declare(None)?;
        let c = match self.header.chunksize {
            ChunkSize::Fixed(c) => u64::from(c),
            _ => u64::from(self.chunksize),
        };
        let mut left = count.checked_mul(typesize).ok_or(IoKind::NoSpace)?;
        let room = c.saturating_sub(self.nbytes().checked_rem(c).unwrap_or(0));
        if room < c && matches!(self.sizes, Sizes::Regular { .. }) {
            let bytes = room.min(left);
            let filler: Vec<u8> = item.iter().copied().cycle().take(bytes as usize).collect();
            self.append(&filler)?;
            left = left.saturating_sub(bytes);
        }
        while left > 0 {
            let now = left.min(c - c.checked_rem(typesize).unwrap_or(0)).max(typesize);
            let chunk = repeated(item, now as usize)?;
            self.put_chunk(self.nchunks(), false, &chunk)?;
            left = left.saturating_sub(now);
        }
        Ok(())
    }

    /// Appends all chunks of `other` as they are, without decoding them. Parameters of new chunks and
    /// metalayers stay this frame's own.
    pub fn append_from(&mut self, other: &mut SuperChunk<'_>) -> Result<(), Error> {
        if other.typesize() != self.typesize() {
            return Err(Error::Param {
                name: "typesize",
                value: i64::from(other.typesize()),
                allowed: "the typesize of this frame",
            });
        }
        if let (0, ChunkSize::Fixed(c)) = (self.nchunks(), other.header.chunksize) {
            self.declare(Some(c))?;
        }
        for k in 0..other.nchunks() {
            self.append_copy(other, k)?;
        }
        Ok(())
    }

    /// Appends chunk `k` of `other` as it is.
    pub(crate) fn append_copy(&mut self, other: &mut SuperChunk<'_>, k: u64) -> Result<(), Error> {
        self.touch()?;
        match other.raw_chunk(k)? {
            RawChunk::Stored(bytes) => self.append_chunk(bytes),
            RawChunk::Special(kind, len) => self.append_special(kind, len),
        }
    }

    /// Appends one chunk of `len` special bytes, whatever the size of the others.
    pub(crate) fn append_special(&mut self, kind: Special, len: u32) -> Result<(), Error> {
        self.touch()?;
        self.put(self.nchunks(), false, New::Special(kind), len)
    }

    /// Decodes all of `other` and appends it with this frame's parameters, in chunks of the same sizes.
    pub fn recompress_from(&mut self, other: &mut SuperChunk<'_>) -> Result<(), Error> {
        if let (0, ChunkSize::Fixed(c)) = (self.nchunks(), other.header.chunksize) {
            self.declare(Some(c))?;
        }
        for k in 0..other.nchunks() {
            match other.special(k) {
                Some(kind) if other.typesize() == self.typesize() => {
                    self.append_special(kind, other.chunk_nbytes(k)?)?;
                }
                _ => {
                    let data = other.read_chunk(k)?;
                    self.append_data(&data)?;
                }
            }
        }
        Ok(())
    }

    pub(super) fn chunk_limits(&self) -> blosc_core::Limits {
        blosc_core::Limits { output: u64::MAX, ..self.limits.chunk }
    }

    /// Refuses more chunks than a frame can have, or than the limits allow.
    fn check_count(&self, asked: u64) -> Result<(), Error> {
        let (what, limit) = ("chunks", self.limits.chunks);
        if asked > MAX_CHUNKS {
            return Err(Error::Capacity { what, asked, most: MAX_CHUNKS });
        }
        if asked > limit { Err(Error::Limit { what, asked, limit }) } else { Ok(()) }
    }

    fn check_position(&self, k: u64, len: u64) -> Result<(), Error> {
        if k < len { Ok(()) } else { Err(Error::OutOfRange { what: "chunk", index: k, len }) }
    }

    /// Checks a chunk of the caller's before anything is written.
    fn check_chunk<'c>(&mut self, chunk: &'c [u8]) -> Result<Chunk<'c>, Error> {
        let parsed = Chunk::parse_with(chunk, &self.limits.chunk).map_err(Error::Codec)?;
        self.prepare(parsed.header().is_vl())?;
        if parsed.header().cbytes < 32 {
            return Err(Error::Param {
                name: "chunk size",
                value: i64::from(parsed.header().cbytes),
                allowed: "at least 32 bytes; shorter Blosc1 chunks cannot be read in frames",
            });
        }
        Ok(parsed)
    }

    /// Looks, before the first change after a commit, whether the frame is still what was opened.
    pub(super) fn touch(&mut self) -> Result<(), Error> {
        if self.is_dirty() { Ok(()) } else { self.check_unchanged() }
    }

    /// Before chunks of ordinary or variable-length blocks are added: the two do not mix in a frame.
    fn prepare(&mut self, vl_blocks: bool) -> Result<(), Error> {
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
    fn declare(&mut self, size: Option<u32>) -> Result<(), Error> {
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
            Some(Special::Value) | None => New::Bytes(chunk),
        };
        self.put(k, replace, new, header.nbytes)
    }

    fn put(&mut self, k: u64, replace: bool, new: New<'_>, len: u32) -> Result<(), Error> {
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
        let limits = self.chunk_limits();
        if variable {
            self.read_sizes()?;
        }
        if replace {
            self.note_obsolete(k)?;
            self.hashes.edit(&self.entries, &mut self.pool, &limits, |list| {
                if let Some(slot) = list.get_mut(at) {
                    *slot = hash;
                }
            })?;
            if let Some(slot) = self.entries.list_mut()?.get_mut(at) {
                *slot = raw;
            }
        } else {
            self.hashes.edit(&self.entries, &mut self.pool, &limits, |list| list.insert(at, hash))?;
            self.entries.list_mut()?.insert(at, raw);
        }
        self.sizes.put(k, replace, n, len);
        self.dirty = true;
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
        if self.committed.is_none()
            && let Place::Contiguous { base, end: end @ 0, .. } = &mut self.place
        {
            *base = super::commit::header_len(&self.metalayers)?;
            *end = *base;
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
    fn note_obsolete(&mut self, k: u64) -> Result<(), Error> {
        if let (true, Some(Entry::Stored(id))) = (self.is_sparse(), self.entry(k)) {
            // A file that is missing or damaged can be deleted all the same.
            let cbytes = self.place.locate(id).and_then(|located| located.header(k)).map_or(0, |h| h.cbytes);
            self.stored_bytes = self.stored_bytes.saturating_sub(u64::from(cbytes));
            self.obsolete.extend(u32::try_from(id));
        }
        Ok(())
    }

    /// The sizes of all chunks, read from their headers where the frame does not tell them.
    pub(super) fn sizes_known(&mut self) -> Result<&Sizes, Error> {
        if matches!(self.sizes, Sizes::Unread { .. }) {
            self.read_sizes()?;
        }
        Ok(&self.sizes)
    }

    /// A frame that declares one size but turned out to hold others becomes one of variable chunks.
    fn settle_regularity(&mut self) -> Result<(), Error> {
        if let (ChunkSize::Fixed(_), Sizes::Each { .. }) = (self.header.chunksize, &self.sizes) {
            self.make_variable()?;
        }
        Ok(())
    }

    /// Turns the frame into one of variable chunks.
    fn make_variable(&mut self) -> Result<(), Error> {
        self.read_sizes()?;
        let special = (0..self.nchunks()).filter_map(|k| Some((k, self.special(k)?))).collect::<Vec<_>>();
        for (k, kind) in special {
            let Some(len) = self.sizes.len_of(k) else { continue };
            let chunk = self.as_repeated(kind, len)?;
            let (raw, hash) = self.store(&chunk)?;
            let at = usize::try_from(k).map_err(|_| IoKind::NoSpace)?;
            let limits = self.chunk_limits();
            self.hashes.edit(&self.entries, &mut self.pool, &limits, |list| {
                if let Some(slot) = list.get_mut(at) {
                    *slot = hash;
                }
            })?;
            if let Some(slot) = self.entries.list_mut()?.get_mut(at) {
                *slot = raw;
            }
        }
        self.header.chunksize = ChunkSize::Variable;
        if self.vl_blocks.is_none() && self.nchunks() > 0 {
            self.vl_blocks = Some(self.chunk_header(0)?.is_some_and(|header| header.is_vl()));
        }
        self.dirty = true;
        Ok(())
    }

    /// A special chunk as an ordinary one that repeats its value.
    fn as_repeated(&self, kind: Special, len: u32) -> Result<Vec<u8>, Error> {
        let typesize = self.typesize();
        match (kind, typesize) {
            (Special::Nan, 4) => repeated(&F32_NAN, len as usize),
            (Special::Nan, 8) => repeated(&F64_NAN, len as usize),
            (Special::Zeros | Special::Uninit, _) => {
                let width = if len.checked_rem(typesize) == Some(0) { typesize.min(255) } else { 1 };
                let width = if len.checked_rem(width) == Some(0) { width } else { 1 };
                repeated(&alloc::vec![0; width as usize], len as usize)
            }
            _ => Err(Error::Param {
                name: "special kind",
                value: kind as i64,
                allowed: "zeros, uninit, or NaN of typesize 4 or 8",
            }),
        }
    }
}

/// The NaN of special chunks.
const F32_NAN: [u8; 4] = 0x7fc0_0000_u32.to_le_bytes();
const F64_NAN: [u8; 8] = 0x7ff8_0000_0000_0000_u64.to_le_bytes();

const ZERO_FIRST: Error = Error::Param {
    name: "bytes of the first chunk",
    value: 0,
    allowed: "at least 1: other readers cannot open a frame that starts with an empty chunk",
};

fn repeated(value: &[u8], nbytes: usize) -> Result<Vec<u8>, Error> {
    let mut chunk = alloc::vec![0; value.len().saturating_add(32)];
    let len = special::repeated(value, nbytes, &mut chunk).map_err(Error::Codec)?;
    chunk.truncate(len);
    Ok(chunk)
}
