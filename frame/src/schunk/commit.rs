//! Commit: all changes so far become visible in one step that survives crashes (docs/formats/cframe.md §9.1).
//!
//! ```text
//! contiguous    new chunks were written where the state on disk has nothing; write index and trailer likewise, behind
//!               the last chunk; flush; one write of header bytes from 0f on, inside one 512-byte sector; flush;
//!               what only the state before used is free now (see `contiguous`); cut off what lies behind the frame
//! sparse        chunk files were written; flush them and the directory; write the index file under a
//!               temporary name; flush; rename; flush the directory; remove files no longer used
//! ```
//! Where the switch cannot be one small write (the header's length changes, the last chunk is
//! deleted, metalayers beyond the first sector change), and where too much room is free afterwards, the frame is
//! rewritten and renamed into place. A [`Draft`] is what all of these write; each store writes it in its own order.

use super::SuperChunk;
use super::checksum::{self, Checksums};
use super::copy::Once;
use super::index::Index;
use super::metalayers::{Meta, Metalayers};
use super::store::{ChunkStore, Located, Source};
use crate::cframe::header::{FIXED_LEN, FrameType, Header};
use crate::cframe::index::Entry;
use crate::cframe::section;
use crate::cframe::trailer::{self, FINGERPRINT_XXH3};
use crate::error::{Error, Structure};
use crate::io::{ReadAt, WriteAt};
use crate::limits::Limits;
use crate::shape::tensor::{self, TensorMeta};
use alloc::vec::Vec;
use blosc_core::Pool;
use core::ops::Range;

/// How the header's metalayers differ from those on disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Change {
    No,
    /// In content, each as long as it was.
    Content,
    /// In length: everything behind the header would move.
    Length,
}

/// What the next commit has to write, and over which state.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pending {
    /// The header's first bytes as last read or written; `None` before the first commit of a new frame.
    pub(super) committed: Option<Header>,
    /// The header's metalayers.
    pub(super) metalayers: Change,
    /// Anything else.
    pub(super) frame: bool,
    /// Whether something may have been written for it, which goes if it is given up.
    pub(super) written: bool,
}

impl Pending {
    /// Nothing, where a state with this header is on disk; all of a new frame.
    pub(super) fn after(committed: Option<Header>) -> Pending {
        Pending { committed, metalayers: Change::No, frame: committed.is_none(), written: false }
    }
}

/// The next state of a frame: everything but the bytes of its chunks.
pub(crate) struct Draft<'s> {
    /// The header; lengths are not in it yet.
    header: Header,
    /// The bytes 57..H of the header.
    section: Vec<u8>,
    pub(super) index: &'s mut Index,
    metalayers: &'s Metalayers,
    pub(super) checksums: &'s mut Checksums,
    pool: &'s mut Pool,
    pub(super) pending: Pending,
    /// What a store put in force.
    pub(super) in_force: Option<Written>,
}

/// Everything of a frame but its chunks, as it is written.
pub(super) struct Written {
    pub(super) header: Header,
    /// Header and metalayers.
    pub(super) head: Vec<u8>,
    /// Index chunk and trailer.
    pub(super) rest: Vec<u8>,
    fingerprint: (u8, [u8; 16]),
    /// Whether a table of checksums is in it.
    table: bool,
}

impl Draft<'_> {
    /// Length of the header.
    pub(super) fn header_len(&self) -> u64 {
        (FIXED_LEN as u64).saturating_add(self.section.len() as u64)
    }

    /// Puts together header, index and trailer. `live` is what the stored chunks take; `payload` is told how long index
    /// and trailer are, and gives the payload bytes before them.
    pub(super) fn assemble(
        &mut self,
        live: u64,
        payload: impl FnOnce(&Index, u64) -> Result<u64, Error>,
    ) -> Result<Written, Error> {
        let Draft { section, index, metalayers, checksums, pool, .. } = self;
        let table = checksums.encode(index, checksum::of(section), live, metalayers.trailer.len(), pool)?;
        let layers = metalayers.trailer.iter().chain(&table).map(Meta::pair);
        let mut trailer = trailer::encode(&section::encode(Structure::VlMetalayers, layers)?)?;
        let table = table.is_some();
        let mut rest = index.entries.encode(pool)?;
        let rest_len = (rest.len() as u64).saturating_add(trailer.len() as u64);

        let mut header = self.header;
        // `section::encode` makes none of 2^31 bytes.
        header.header_len = FIXED_LEN.saturating_add(section.len()) as u32;
        header.cbytes = payload(index, rest_len)?;
        header.has_vlmetalayers = table || !metalayers.trailer.is_empty();
        if table {
            // Both 0 says: the header was last written with checksums (see `checksum`).
            header.threads = [0, 0];
        }
        let in_frame = header.frame_type == FrameType::Contiguous && index.len() > 0;
        let payload = if in_frame { header.cbytes } else { 0 };
        header.frame_len = u64::from(header.header_len).saturating_add(payload).saturating_add(rest_len);

        let mut head = header.encode().to_vec();
        head.extend(section.iter());
        let mut fingerprint = checksums.foreign();
        if table {
            fingerprint.0 = FINGERPRINT_XXH3;
        }
        if let Some([kind, ..]) = trailer.last_chunk_mut::<17>() {
            *kind = fingerprint.0;
        }
        if table {
            fingerprint.1 = checksum::fingerprint(&head, &rest, &trailer);
        }
        if let Some(place) = trailer.last_chunk_mut() {
            *place = fingerprint.1;
        }
        rest.extend(trailer);
        Ok(Written { header, head, rest, fingerprint, table })
    }
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
        self.check_unchanged(true)?;
        if self.nbytes() == 0 && self.nchunks() > 0 {
            return Err(Error::param("bytes of all chunks", 0, "at least 1"));
        }
        if self.was_array && !self.is_array() {
            return Err(Error::param(
                "chunks of an array",
                self.nchunks() as i64,
                "those its shape demands, all of one size, and a b2nd metalayer that says so",
            ));
        }
        self.check_tensor()?;
        self.store.look(&self.index, self.checksums.live);
        self.pending.written = true;
        self.store_draft(|store, draft| store.commit(draft))
    }

    /// Refuses to leave a packed tensor with another number of bytes than its description tells.
    fn check_tensor(&mut self) -> Result<(), Error> {
        let committed = self.pending.committed.map(|header| header.nbytes);
        if committed.is_none_or(|nbytes| nbytes == self.nbytes()) {
            return Ok(());
        }
        match self.vlmetalayer(tensor::NAME)? {
            Some(content) if TensorMeta::parse(&content)?.nbytes() != Some(self.nbytes()) => {
                Err(Error::param(
                    "bytes of a packed tensor",
                    self.nbytes() as i64,
                    "those its shape demands: change its rows, and the shape follows",
                ))
            }
            _ => Ok(()),
        }
    }

    /// Lets the store do something with the next state, and takes over what it puts in force, also where it fails.
    pub(super) fn store_draft(
        &mut self,
        work: impl FnOnce(&mut dyn ChunkStore, &mut Draft<'_>) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let mut header = Header { nbytes: self.nbytes(), ..self.header };
        if let Some(vl_blocks) = self.vl_blocks {
            header.set_kind(vl_blocks);
        }
        let mut draft = Draft {
            header,
            section: self.metalayers.section(self.pending.metalayers)?,
            index: &mut self.index,
            metalayers: &self.metalayers,
            checksums: &mut self.checksums,
            pool: &mut self.tools.own().0,
            pending: self.pending,
            in_force: None,
        };
        let done = work(&mut *self.store, &mut draft);
        if let Some(Written { header, head, fingerprint, table, .. }) = draft.in_force {
            self.header = header;
            self.metalayers.stored = head.get(FIXED_LEN..).unwrap_or(&[]).to_vec();
            self.checksums.written(fingerprint, table);
            self.pending = Pending::after(Some(header));
            self.was_array = self.is_array();
        }
        done
    }
}

/// Moves bytes down to `to`.
pub(super) fn copy_down<S: ReadAt + WriteAt + ?Sized>(
    store: &mut S,
    mut from: Range<u64>,
    mut to: u64,
) -> Result<(), Error> {
    let mut buf = Vec::new();
    while from.start < from.end {
        let n = from.end.saturating_sub(from.start).min(1 << 20);
        buf.resize(n as usize, 0);
        store.read_exact_at(from.start, &mut buf)?;
        store.write_at(to, &buf)?;
        (from.start, to) = (from.start.saturating_add(n), to.saturating_add(n));
    }
    Ok(())
}

/// Writes a frame's header, its chunks in their order, index and trailer.
pub(super) fn write_anew(
    draft: &mut Draft<'_>,
    base: u64,
    check: bool,
    old: &dyn ReadAt,
    new: &mut dyn WriteAt,
) -> Result<Written, Error> {
    let start = draft.header_len();
    let (size, mut at, mut buf) = (old.size()?, start, Vec::new());
    let mut written = Once::new(draft.index)?;
    for k in draft.index.numbers() {
        let entry = draft.index.entry(k)?;
        let Entry::Stored(offset) = entry else { continue };
        // An entry that shares the bytes of one before it.
        if let Some((raw, sum)) = written.get(Some(entry))
            && (!check || draft.index.sum(k).is_none_or(|known| Some(known) == sum))
        {
            draft.index.point(k, raw, sum)?;
            continue;
        }
        let from = base.saturating_add(offset);
        let located = Located::new(Source::Shared(old), from, size.saturating_sub(from), Structure::Chunk);
        let known = draft.index.sum(k).filter(|_| check);
        let chunk = located.held_to(known).whole(k, &Limits::NONE, &mut buf)?;
        new.write_at(at, chunk)?;
        let missing = (check && known.is_none()).then(|| draft.checksums.of_chunk(chunk));
        let raw = at.saturating_sub(start) as i64;
        draft.index.point(k, raw, missing)?;
        written.note(Some(entry), (raw, draft.index.sum(k)));
        at = at.saturating_add(chunk.len() as u64);
    }
    let cbytes = at.saturating_sub(start);
    let written = draft.assemble(cbytes, |_, _| Ok(cbytes))?;
    new.write_at(at, &written.rest)?;
    new.write_at(0, &written.head)?;
    Ok(written)
}
