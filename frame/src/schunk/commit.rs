//! Commit: all changes so far become visible in one step that survives crashes (docs/formats/cframe.md §9.1).
//!
//! ```text
//! contiguous    new chunks were written where the state on disk has nothing; write index and trailer likewise, behind
//!               the last chunk; flush; one write of header bytes 0f..57, inside one 512-byte sector; flush;
//!               what only the state before used is free now (see `contiguous`); cut off what lies behind the frame
//! sparse        chunk files were written; flush them and the directory; write the index file under a
//!               temporary name; flush; rename; flush the directory; remove files no longer used
//! in memory     no state to protect: new chunks move down over the old index
//! ```
//! Where the switch cannot be one small write (the header's length changes, the last chunk is
//! deleted, metalayers beyond the first sector change), and where too much room is free afterwards, the frame is
//! rewritten and renamed into place.

use super::meta::{self, Meta};
use super::place::{INDEX_NAME, Place, chunk_name};
use super::{Change, ChecksumState, SuperChunk, checksum};
use crate::cframe::Entries;
use crate::cframe::header::{FIXED_LEN, FrameType, Header};
use crate::cframe::section;
use crate::cframe::trailer::{self, FINGERPRINT_XXH3};
use crate::error::{Error, IoKind};
use alloc::vec::Vec;
use blosc_core::chunk::special;
use blosc_core::{Params, Pool, Split};

/// A switch must not be torn: it stays inside the first of these.
const SECTOR: u64 = 512;

/// Length of a header with these metalayers.
pub(super) fn header_len(metalayers: &[Meta]) -> Result<u64, Error> {
    let section = section::encode(section::Place::Header, meta::pairs(metalayers))?;
    Ok((FIXED_LEN as u64).saturating_add(section.len() as u64))
}

/// Index chunk and trailer, but for the trailer's fingerprint.
pub(super) struct Rest {
    bytes: Vec<u8>,
    trailer_at: usize,
    /// Whether a table of checksums is in it.
    checksums: bool,
}

impl Rest {
    pub(super) fn len(&self) -> u64 {
        self.bytes.len() as u64
    }
}

/// Everything of a frame but its chunks, as it will be written.
pub(super) struct Assembled {
    pub(super) header: Header,
    /// Header and metalayers.
    pub(super) head: Vec<u8>,
    /// Index chunk and trailer.
    pub(super) rest: Vec<u8>,
    fingerprint: (u8, [u8; 16]),
    checksums: bool,
}

/// The index chunk: entries that are all the same take 40 bytes.
fn encode_index(entries: &Entries, pool: &mut Pool) -> Result<Vec<u8>, Error> {
    let repeated = match entries {
        Entries::Repeated(raw, _) => Some(*raw),
        Entries::List(list) => {
            list.first().copied().filter(|first| *first < 0 && list.iter().all(|raw| raw == first))
        }
    };
    let nbytes = usize::try_from(entries.len().saturating_mul(8)).map_err(|_| IoKind::NoSpace)?;
    if let Some(raw) = repeated {
        let mut chunk = alloc::vec![0; 40];
        special::repeated(&raw.to_le_bytes(), nbytes, &mut chunk).map_err(Error::Codec)?;
        return Ok(chunk);
    }
    let Entries::List(list) = entries else {
        return Err(Error::Internal { what: "entries that are all the same and not" });
    };
    let mut raw = Vec::with_capacity(nbytes);
    list.iter().for_each(|entry| raw.extend(entry.to_le_bytes()));
    let blocksize = u32::try_from(nbytes.min(16 << 10)).ok();
    let params = Params::new(8).split(Split::Never).blocksize(blocksize);
    pool.compress(&params, &raw).map_err(Error::Codec)
}

impl SuperChunk<'_> {
    /// Makes every change since the last commit visible, in one atomic and durable step.
    ///
    /// A contiguous frame is then no longer than one and a half times what its parts take (header, chunks, index and
    /// trailer), and two of its largest chunk, and index and trailer once more: beyond that it is rewritten, where the
    /// store can be replaced. Of a frame without checksums that has more than 256 chunks, free room may be overlooked.
    /// [`SuperChunk::compact`] leaves no free room.
    ///
    /// # Errors
    /// [`Error::NotAtomic`] if the change needs the whole frame rewritten and the store cannot be
    /// replaced (a bare file handle); [`Error::Changed`] if another writer was here. The frame is then
    /// what it was.
    pub fn commit(&mut self) -> Result<(), Error> {
        if !self.is_dirty() {
            return Ok(());
        }
        self.check_unchanged()?;
        if self.nbytes() == 0 && self.nchunks() > 0 {
            return Err(Error::Param { name: "bytes of all chunks", value: 0, allowed: "at least 1" });
        }
        if self.was_array && !self.is_array() {
            return Err(Error::Param {
                name: "chunks of an array",
                value: self.nchunks() as i64,
                allowed: "those its shape demands, all of one size, and a b2nd metalayer that says so",
            });
        }
        self.look_for_room();
        match &mut self.place {
            Place::Sparse { .. } => {
                self.commit_sparse()?;
                // The low numbers may have been those of the state before.
                return if self.number_too_high().is_some() { self.commit_sparse() } else { Ok(()) };
            }
            Place::Contiguous(frame) => frame.settle_released(&self.entries),
        }
        let section = self.section()?;
        let start = (FIXED_LEN as u64).saturating_add(section.len() as u64);
        let frame = self.place.contiguous()?;
        let same_start = start == frame.base;
        match self.committed {
            None if self.entries.len() == 0 || frame.end == 0 => {
                frame.start(start);
                self.commit_new(section)
            }
            None if same_start => self.commit_new(section),
            Some(_) if !frame.store.is_shared() && same_start => self.commit_memory(section),
            Some(_) if same_start && self.can_switch(start) => self.commit_durable(section),
            _ => self.rewrite(false),
        }?;
        self.tighten();
        Ok(())
    }

    /// Forgets all changes since the last commit.
    ///
    /// # Errors
    /// Those of reading what is stored.
    pub fn discard(&mut self) -> Result<(), Error> {
        if self.committed.is_none() {
            return Ok(());
        }
        let opened = self.reopen()?;
        self.load(&opened)
    }

    /// Whether commits of the contiguous frame overwrite the state before.
    pub(super) fn is_in_place(&self) -> bool {
        matches!(&self.place, Place::Contiguous(frame) if !frame.store.is_shared())
    }

    /// Whether one small write can put the next state in force.
    fn can_switch(&self, start: u64) -> bool {
        self.entries.len() > 0 && (self.metalayers_changed == Change::No || start <= SECTOR)
    }

    /// Writes the frame anew where too much of it is free room that nothing fits into. The commit is done by then:
    /// where this cannot be, on a bare file handle or a full disk, the frame only stays as large as it is.
    fn tighten(&mut self) {
        if let Place::Contiguous(frame) = &self.place
            && frame.is_loose()
        {
            let _ = self.rewrite(false);
        }
    }

    /// The bytes 57..H of the header.
    pub(super) fn section(&self) -> Result<Vec<u8>, Error> {
        if self.committed.is_some() && self.metalayers_changed == Change::No {
            return Ok(self.section.clone());
        }
        section::encode(section::Place::Header, meta::pairs(&self.metalayers))
    }

    /// Index and trailer behind a header with this section; `live` is what the stored chunks take.
    pub(super) fn rest(&mut self, section: &[u8], live: u64) -> Result<Rest, Error> {
        let (sum, count) = (checksum::of(section), self.vlmetalayers.len());
        let table = self.hashes.encode(&self.entries, sum, live, count, &mut self.pool)?;
        let layers = self.vlmetalayers.iter().chain(&table).map(|meta| (&*meta.name, &*meta.content));
        let trailer = trailer::encode(&section::encode(section::Place::Trailer, layers)?)?;
        let mut bytes = match self.entries.len() {
            0 => Vec::new(),
            _ => encode_index(&self.entries, &mut self.pool)?,
        };
        let trailer_at = bytes.len();
        bytes.extend(trailer);
        Ok(Rest { bytes, trailer_at, checksums: table.is_some() })
    }

    /// Puts together header, index and trailer around `cbytes` payload bytes.
    pub(super) fn assemble(&self, section: &[u8], rest: Rest, cbytes: u64) -> Result<Assembled, Error> {
        let Rest { bytes: mut rest, trailer_at, checksums } = rest;
        let mut header = self.header;
        let header_len = FIXED_LEN.saturating_add(section.len());
        header.header_len = u32::try_from(header_len).ok().filter(|len| i32::try_from(*len).is_ok()).ok_or(
            Error::Capacity { what: "header bytes", asked: header_len as u64, most: i32::MAX as u64 },
        )?;
        header.nbytes = self.nbytes();
        header.cbytes = cbytes;
        header.has_vlmetalayers = checksums || !self.vlmetalayers.is_empty();
        if let Some(vl_blocks) = self.vl_blocks {
            header.set_kind(vl_blocks);
        }
        if checksums {
            // Both 0 says: the header was last written with checksums (see `checksum`).
            header.threads = [0, 0];
        }
        let in_frame = header.frame_type == FrameType::Contiguous && self.entries.len() > 0;
        let payload = if in_frame { cbytes } else { 0 };
        header.frame_len = (header_len as u64).saturating_add(payload).saturating_add(rest.len() as u64);

        let mut head = header.encode().to_vec();
        head.extend(section);
        let foreign = !matches!(self.fingerprint.0, 0 | FINGERPRINT_XXH3)
            || self.hashes.state == ChecksumState::Other(FINGERPRINT_XXH3);
        let mut fingerprint = if foreign { self.fingerprint } else { (0, [0; 16]) };
        let (index, trailer) = rest.split_at_mut(trailer_at);
        if checksums {
            fingerprint.0 = FINGERPRINT_XXH3;
        }
        let kind_at = trailer.len().saturating_sub(17);
        if let Some(kind) = trailer.get_mut(kind_at) {
            *kind = fingerprint.0;
        }
        if checksums {
            fingerprint.1 = checksum::fingerprint(&head, index, trailer);
        }
        if let Some(place) = trailer.last_chunk_mut() {
            *place = fingerprint.1;
        }
        Ok(Assembled { header, head, rest, fingerprint, checksums })
    }

    /// Takes over what has been written.
    pub(super) fn committed(&mut self, written: Assembled) {
        self.header = written.header;
        self.committed = Some(written.header);
        if self.is_sparse() || self.is_in_place() {
            self.index_sum = checksum::of_parts(&[&written.head, &written.rest]);
        }
        self.was_array = self.is_array();
        self.section = written.head.get(FIXED_LEN..).unwrap_or(&[]).to_vec();
        self.fingerprint = written.fingerprint;
        self.hashes.state = match written.fingerprint.0 {
            _ if written.checksums => ChecksumState::Present,
            0 => ChecksumState::None,
            other => ChecksumState::Other(other),
        };
        self.dirty = false;
        self.metalayers_changed = Change::No;
    }

    /// First commit of a new frame: nothing can be opened before the header is there, which comes last.
    fn commit_new(&mut self, section: Vec<u8>) -> Result<(), Error> {
        let live = self.place.contiguous()?.live_next();
        let rest = self.rest(&section, live)?;
        let frame = self.place.contiguous()?;
        let at = frame.allocate_rest(&self.entries, rest.len());
        let cbytes = at.saturating_sub(frame.base);
        let written = self.assemble(&section, rest, cbytes)?;
        let frame = self.place.contiguous()?;
        let (fixed, section) = written.head.split_at(FIXED_LEN);
        frame.write(at, &written.rest)?;
        frame.store.truncate(written.header.frame_len)?;
        frame.store.write_at(FIXED_LEN as u64, section)?;
        frame.switch(0, fixed)?;
        frame.in_force(at, written.header.frame_len);
        self.committed(written);
        Ok(())
    }

    /// The append-then-switch order.
    fn commit_durable(&mut self, section: Vec<u8>) -> Result<(), Error> {
        let live = self.place.contiguous()?.live_next();
        let rest = self.rest(&section, live)?;
        let frame = self.place.contiguous()?;
        let at = frame.allocate_rest(&self.entries, rest.len());
        let cbytes = at.saturating_sub(frame.base);
        let written = self.assemble(&section, rest, cbytes)?;
        let switch = match self.metalayers_changed {
            Change::No => 0x0f..FIXED_LEN,
            _ => 0x0f..written.head.len(),
        };
        let frame = self.place.contiguous()?;
        frame.write(at, &written.rest)?;
        // The new index may be in force even if an error is reported.
        frame.pin(at, written.header.frame_len);
        frame.switch(0x0f, written.head.get(switch).unwrap_or(&[]))?;
        frame.in_force(at, written.header.frame_len);
        self.committed(written);
        Ok(())
    }

    /// In memory: the chunks added since the last commit move down over the old index and trailer.
    fn commit_memory(&mut self, section: Vec<u8>) -> Result<(), Error> {
        let frame = self.place.contiguous()?;
        let (moved, by) = frame.close_up()?;
        let from = moved.saturating_sub(frame.base) as i64;
        if self.entries.len() == 0 {
            frame.start(frame.base);
        } else if let Entries::List(list) = &mut self.entries {
            for raw in list.iter_mut().filter(|raw| **raw >= from) {
                *raw = raw.saturating_sub(by as i64);
            }
        }
        let live = frame.live;
        let rest = self.rest(&section, live)?;
        let frame = self.place.contiguous()?;
        let at = frame.allocate_rest(&self.entries, rest.len());
        let cbytes = at.saturating_sub(frame.base);
        let written = self.assemble(&section, rest, cbytes)?;
        let frame = self.place.contiguous()?;
        frame.store.write_at(at, &written.rest)?;
        frame.store.write_at(0, &written.head)?;
        frame.in_force(at, written.header.frame_len);
        self.committed(written);
        Ok(())
    }

    fn commit_sparse(&mut self) -> Result<(), Error> {
        self.renumber()?;
        let section = self.section()?;
        let rest = self.rest(&section, self.stored_bytes)?;
        let written = self.assemble(&section, rest, self.stored_bytes)?;
        let referenced = self.referenced();
        let Place::Sparse { dir, fresh, .. } = &mut self.place else {
            return Err(Error::Internal { what: "a contiguous frame where a sparse one was" });
        };
        for id in fresh.iter().filter(|id| referenced.binary_search(id).is_ok()) {
            dir.open(&chunk_name(*id), true)?.sync()?;
        }
        dir.sync()?;
        let files = core::mem::take(fresh);
        let replaced = dir.replace(INDEX_NAME, &mut |file| {
            file.write_at(0, &written.head)?;
            Ok(file.write_at(written.head.len() as u64, &written.rest)?)
        });
        if let Err(error) = replaced {
            // What was written for it goes when this is dropped, unless it is in force all the same.
            let old = match dir.read(INDEX_NAME, u64::MAX) {
                Ok(index) => index.strip_prefix(&*written.head) != Some(&*written.rest),
                Err(error) => error == IoKind::NotFound.into(),
            };
            *fresh = files.into_iter().filter(|id| old || referenced.binary_search(id).is_err()).collect();
            return Err(error);
        }
        // The new state is in force; what it does not use goes. A file that stays is only garbage.
        let fresh = files;
        for id in self.obsolete.drain(..).chain(fresh) {
            if referenced.binary_search(&id).is_err() {
                let _ = dir.remove(&chunk_name(id));
            }
        }
        self.committed(written);
        Ok(())
    }

    /// The chunk files in use, in ascending order.
    pub(super) fn referenced(&self) -> Vec<u32> {
        let mut ids: Vec<u32> = match &self.entries {
            Entries::Repeated(raw, _) => u32::try_from(*raw).into_iter().collect(),
            Entries::List(list) => list.iter().filter_map(|raw| u32::try_from(*raw).ok()).collect(),
        };
        ids.sort_unstable();
        ids.dedup();
        ids
    }

    /// The largest number of a chunk file, if it is one for which C-Blosc2 refuses the directory: above `C - 32`
    /// (docs/formats/sframe.md §4).
    pub(crate) fn number_too_high(&self) -> Option<u32> {
        self.referenced().last().copied().filter(|id| u64::from(*id) > self.stored_bytes.saturating_sub(32))
    }

    /// Copies chunks whose numbers are [too high](Self::number_too_high) to the lowest numbers that neither the old nor
    /// the new index uses. Every chunk has 32 bytes, so that where the old one uses none all of them find one.
    fn renumber(&mut self) -> Result<(), Error> {
        let most = self.stored_bytes.saturating_sub(32);
        let mut used = self.referenced();
        let too_high: Vec<u32> = used.iter().copied().filter(|id| u64::from(*id) > most).collect();
        if too_high.is_empty() {
            return Ok(());
        }
        used.extend(&self.obsolete);
        used.sort_unstable();
        let mut free =
            (0u32..).take_while(|id| u64::from(*id) <= most).filter(|id| used.binary_search(id).is_err());
        let Place::Sparse { dir, fresh, .. } = &mut self.place else {
            return Err(Error::Internal { what: "a contiguous frame where a sparse one was" });
        };
        let mut moved = Vec::new();
        for old in too_high {
            let Some(new) = free.next() else { break };
            let content = dir.read(&chunk_name(old), u64::MAX)?;
            let name = chunk_name(new);
            if dir.contains(&name)? {
                dir.remove(&name)?;
            }
            dir.create(&name)?.write_at(0, &content)?;
            fresh.push(new);
            moved.push((i64::from(old), i64::from(new)));
            self.obsolete.push(old);
        }
        if let Entries::List(list) = &mut self.entries {
            for raw in list {
                if let Ok(at) = moved.binary_search_by_key(raw, |(old, _)| *old) {
                    *raw = moved.get(at).map_or(*raw, |(_, new)| *new);
                }
            }
        }
        Ok(())
    }
}
