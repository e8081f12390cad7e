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

use super::draft::{Draft, Pending, Written};
use super::store::ChunkStore;
use super::superchunk::SuperChunk;
use crate::cframe::header::{FIXED_LEN, Header};
use crate::error::Error;
use crate::shape::tensor::{self, TensorMeta};

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
