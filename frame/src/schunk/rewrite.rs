//! Rewriting a frame: its chunks in logical order, without garbage, checksummed; then renamed into place.

use super::checksum;
use super::place::{INDEX_NAME, Place, chunk_name, resize};
use super::{Change, SuperChunk};
use crate::cframe::Entries;
use crate::cframe::header::FIXED_LEN;
use crate::error::{Error, IoKind, Structure};
use crate::io::{ReadAt, ReadOnly, Store, WriteAt};
use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;
use blosc_core::Header as ChunkHeader;

/// What a [`SuperChunk::compact`] found to remove.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Compacted {
    /// Bytes of the container before.
    pub before: u64,
    /// Bytes of the container after.
    pub after: u64,
}

impl<'a> SuperChunk<'a> {
    /// Commits, drops everything no chunk refers to, and gives every chunk a checksum if checksums
    /// are on. Atomic like a commit: a contiguous frame is rewritten, of a sparse one unused files
    /// are removed, and chunks get numbers that C-Blosc2 takes.
    pub fn compact(&mut self) -> Result<Compacted, Error> {
        self.commit()?;
        self.check_unchanged()?;
        let before = self.container_bytes()?;
        if self.is_sparse() {
            self.compact_sparse()?
        } else {
            self.rewrite(true)?
        }
        Ok(Compacted { before, after: self.container_bytes()? })
    }

    /// Bytes the frame takes where it is stored: index file and all chunk files of a sparse one.
    pub fn container_bytes(&self) -> Result<u64, Error> {
        match &self.place {
            Place::Contiguous(frame) => Ok(frame.store.size()?),
            Place::Sparse { dir, .. } => {
                let mut sum = 0u64;
                for name in dir.list()? {
                    if name == INDEX_NAME || number_of(&name).is_some() {
                        sum = sum.saturating_add(dir.open(&name, false)?.size()?);
                    }
                }
                Ok(sum)
            }
        }
    }

    /// Writes the frame anew through [`Store::rewrite`]: the chunks in their order, nothing between them. `check`
    /// compares chunks with their checksums and makes missing ones.
    pub(super) fn rewrite(&mut self, check: bool) -> Result<(), Error> {
        let nothing: Box<dyn Store + Send + Sync + 'a> = Box::new(ReadOnly(&[][..]));
        let mut store = core::mem::replace(&mut self.place.contiguous()?.store, nothing);
        let before = self.entries.clone();
        let mut outcome = None;
        let result = store.rewrite(&mut |old, new| {
            outcome = Some(self.write_compact(check, old, new)?);
            Ok(())
        });
        self.place.contiguous()?.store = store;
        // The new file may be in place although an error is reported: then its state is the one to go on with.
        let in_place = match (&result, &outcome) {
            (Ok(()), _) => true,
            (Err(_), Some(written)) => self.is_stored(&written.header).unwrap_or(false),
            (Err(_), None) => false,
        };
        let Some(written) = outcome.filter(|_| in_place) else {
            self.entries = before;
            return result.and(Err(Error::Internal { what: "a store that was replaced by nothing" }));
        };
        let header = written.header;
        let payload = if header.nbytes == 0 { 0 } else { header.cbytes };
        let frame = self.place.contiguous()?;
        frame.opened(header.header_len.into(), payload, header.frame_len, true);
        self.committed(written);
        result
    }

    fn write_compact(
        &mut self,
        check: bool,
        old: &dyn ReadAt,
        new: &mut dyn WriteAt,
    ) -> Result<super::commit::Assembled, Error> {
        let base = self.place.contiguous()?.base;
        let section = self.section()?;
        let start = (FIXED_LEN as u64).saturating_add(section.len() as u64);
        let mut at = start;
        let mut buf = Vec::new();
        if let Entries::Repeated(0.., _) = self.entries {
            // One stored chunk that every entry shares: each gets its own bytes.
            self.entries.list_mut()?;
        }
        if let Entries::List(list) = &mut self.entries {
            let n = list.len();
            for (k, raw) in list.iter_mut().enumerate() {
                let Ok(offset) = u64::try_from(*raw) else { continue };
                read_chunk(old, base.saturating_add(offset), k as u64, &mut buf)?;
                if check {
                    let (from, sum) = (base.saturating_add(offset), checksum::of(&buf));
                    match self.hashes.get(k as u64) {
                        None => self.hashes.set(n, k, sum),
                        Some(known) if known == sum => {}
                        Some(_) => {
                            let (structure, chunk) = (Structure::Chunk, Some(k as u64));
                            return Err(Error::Checksum { structure, chunk, offset: from });
                        }
                    }
                }
                new.write_at(at, &buf)?;
                *raw = at.saturating_sub(start) as i64;
                at = at.saturating_add(buf.len() as u64);
            }
        }
        let cbytes = at.saturating_sub(start);
        let rest = self.rest(&section, cbytes)?;
        let written = self.assemble(&section, rest, cbytes)?;
        new.write_at(at, &written.rest)?;
        new.write_at(0, &written.head)?;
        Ok(written)
    }

    fn compact_sparse(&mut self) -> Result<(), Error> {
        if self.hashes.enabled {
            for k in 0..self.nchunks() {
                if let Some(crate::cframe::index::Entry::Stored(id)) = self.entry(k) {
                    let located = self.place.locate(id)?.held_to(self.hashes.get(k));
                    let sum = checksum::of(located.whole(k, &self.limits, &mut self.scratch)?);
                    if self.hashes.get(k).is_none() {
                        self.dirty = true;
                        self.hashes.set(self.entries.list_mut()?.len(), k as usize, sum);
                    }
                }
            }
        }
        self.dirty |= self.number_too_high().is_some();
        self.commit()?;
        let referenced = self.referenced();
        let Place::Sparse { dir, .. } = &self.place else {
            return Err(Error::Internal { what: "a contiguous frame where a sparse one was" });
        };
        for name in dir.list()? {
            if is_stray(&name, &referenced) {
                dir.remove(&name)?;
            }
        }
        Ok(dir.sync()?)
    }

    /// Removes files that nothing refers to, where no other writer can be at work. One that stays is only garbage.
    pub(super) fn sweep(&self) {
        let Place::Sparse { dir, .. } = &self.place else { return };
        if dir.is_locked() {
            for name in self.strays().unwrap_or_default() {
                let _ = dir.remove(&name);
            }
        }
    }

    /// Files of a sparse frame that nothing refers to: of a writer that died, or is at work.
    ///
    /// # Errors
    /// Those of listing the directory.
    pub fn strays(&self) -> Result<Vec<String>, Error> {
        let Place::Sparse { dir, .. } = &self.place else { return Ok(Vec::new()) };
        let referenced = self.referenced();
        let mut names = dir.list()?;
        names.retain(|name| is_stray(name, &referenced));
        names.sort_unstable();
        Ok(names)
    }

    /// The frame as contiguous bytes, with all changes so far; a sparse frame is packed together.
    pub fn to_bytes(&mut self) -> Result<Vec<u8>, Error> {
        if let Place::Contiguous(frame) = &self.place
            && frame.store.as_slice().is_some()
        {
            self.commit()?;
            if let (Place::Contiguous(frame), Some(header)) = (&self.place, self.committed)
                && let Some(bytes) = frame.store.as_slice()
            {
                let len = usize::try_from(header.frame_len).map_err(|_| IoKind::NoSpace)?;
                return Ok(bytes.get(..len).ok_or(IoKind::UnexpectedEnd)?.to_vec());
            }
        }
        let mut copy = SuperChunk::memory(&self.params());
        copy.copy_from(self)?;
        copy.to_bytes()
    }

    /// [`SuperChunk::to_bytes`], for a frame that is not needed any more.
    pub fn into_bytes(mut self) -> Result<Vec<u8>, Error> {
        self.to_bytes()
    }

    /// Copies everything of `other` into this new, empty frame: parameters, metalayers, chunks as they
    /// are. Works between contiguous and sparse frames.
    pub fn copy_from(&mut self, other: &mut SuperChunk<'_>) -> Result<(), Error> {
        if self.nchunks() > 0 || self.typesize() != other.typesize() {
            return Err(Error::Param {
                name: "chunks of the copy",
                value: self.nchunks() as i64,
                allowed: "none, and the same typesize",
            });
        }
        let (frame_type, from) = (self.header.frame_type, other.header);
        self.header = crate::cframe::header::Header { frame_type, ..from };
        self.header.chunksize = crate::cframe::header::ChunkSize::Unknown;
        self.chunksize = other.chunksize;
        self.metalayers = other.metalayers.clone();
        self.vlmetalayers = other.vlmetalayers.clone();
        self.metalayers_changed = Change::Length;
        self.vl_blocks = None;
        if self.hashes.enabled && !other.hashes.enabled && !self.is_dirty() {
            self.hashes.enabled = false;
        }
        if let Entries::Repeated(raw @ i64::MIN..0, n) = other.entries {
            self.entries = Entries::Repeated(raw, n);
            self.sizes = other.sizes.clone();
            self.header.chunksize = other.header.chunksize;
            self.dirty = true;
            return Ok(());
        }
        if let crate::cframe::header::ChunkSize::Variable = other.header.chunksize {
            self.header.chunksize = other.header.chunksize;
            self.sizes = super::Sizes::each(Vec::new());
        }
        self.append_from(other)?;
        self.dirty = true;
        Ok(())
    }
}

/// The number of a chunk file.
fn number_of(name: &str) -> Option<u32> {
    let id = u32::from_str_radix(name.strip_suffix(".chunk")?, 16).ok()?;
    (chunk_name(id) == *name).then_some(id)
}

/// Whether a file of the directory is a chunk or a temporary index that nothing refers to.
fn is_stray(name: &str, referenced: &[u32]) -> bool {
    let temporary = name.strip_prefix('.').unwrap_or(name).strip_prefix(INDEX_NAME);
    temporary.is_some_and(|rest| rest.starts_with(".tmp"))
        || number_of(name).is_some_and(|id| referenced.binary_search(&id).is_err())
}

/// Reads the chunk at `at` into `buf`.
fn read_chunk(source: &dyn ReadAt, at: u64, k: u64, buf: &mut Vec<u8>) -> Result<(), Error> {
    resize(buf, 32)?;
    buf.truncate(32);
    source.read_exact_at(at, buf)?;
    let header =
        ChunkHeader::parse(buf).map_err(|error| Error::Chunk { chunk: Some(k), offset: at, error })?;
    if at.saturating_add(u64::from(header.cbytes)) > source.size()? {
        return Err(Error::Invalid {
            structure: Structure::Chunk,
            field: "cbytes",
            offset: at.saturating_add(12),
            value: i64::from(header.cbytes),
        });
    }
    resize(buf, header.cbytes as usize)?;
    Ok(source.read_exact_at(at, buf)?)
}
