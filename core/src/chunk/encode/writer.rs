//! [`ChunkWriter`]: blocks in order, then the header.
#![deny(clippy::indexing_slicing, clippy::arithmetic_side_effects)]

use super::plan::{EncodedBlock, Plan};
use crate::arch::out::Out;
use crate::chunk::header::{EXTENDED_HEADER, FLAG_STORED, FLAGS_EXTENDED};
use crate::error::Error;

/// Puts encoded blocks together in order.
pub struct ChunkWriter<'d> {
    plan: Plan<'d>,
    dst: &'d mut [u8],
    limit: usize,
    cursor: usize,
    next: usize,
    zeros: bool,
    abandoned: bool,
}

impl<'a> Plan<'a> {
    /// What puts the blocks of this chunk together in `dst`.
    ///
    /// # Errors
    /// `OutputTooSmall` if `dst` cannot even hold a header.
    pub fn writer<'d>(&self, dst: &'d mut [u8]) -> Result<ChunkWriter<'d>, Error>
    where
        'a: 'd,
    {
        if dst.len() < EXTENDED_HEADER {
            return Err(Error::OutputTooSmall { needed: EXTENDED_HEADER, given: dst.len() });
        }
        let limit = dst.len().min(self.stored_len());
        let cursor = self.prefix_len();
        let abandoned = self.nblocks == 0 || cursor > limit;
        Ok(ChunkWriter::new(*self, dst, limit, cursor, abandoned))
    }
}

impl<'d> ChunkWriter<'d> {
    /// Blocks go to `dst` from `cursor` on, never past `limit`.
    pub(super) fn new(
        plan: Plan<'d>,
        dst: &'d mut [u8],
        limit: usize,
        cursor: usize,
        abandoned: bool,
    ) -> ChunkWriter<'d> {
        ChunkWriter { plan, dst, limit, cursor, next: 0, zeros: true, abandoned }
    }

    /// Where the next block goes, if there are still `needed` bytes.
    pub fn room(&mut self, needed: usize) -> Option<&mut [u8]> {
        let end = self.cursor.checked_add(needed)?;
        if self.abandoned || end > self.limit { None } else { self.dst.get_mut(self.cursor..end) }
    }

    /// Bytes that blocks may still take.
    pub(super) fn left(&self) -> usize {
        self.limit.saturating_sub(self.cursor)
    }

    /// Copies an encoded block to where the next one goes; one that does not fit is dropped, and
    /// [`advance`](Self::advance) then gives the chunk up.
    pub fn copy(&mut self, block: &[u8]) {
        if let Some(room) = self.room(block.len()) {
            Out::from(room).copy_from(block);
        }
    }

    /// Writes the first `count` blocks, which have been passed by [`advance`](Self::advance), as stored ones of one stream.
    pub(super) fn store(&mut self, count: usize) {
        let mut rest = self.dst.get_mut(self.plan.prefix_len()..).unwrap_or_default();
        for block in self.plan.src.chunks(self.plan.blocksize().max(1)).take(count) {
            let len = block.len().saturating_add(4);
            let Some((place, next)) = rest.split_at_mut_checked(len) else { return };
            write_stored(block, place);
            rest = next;
        }
    }

    /// Notes that the next block has been written.
    pub fn advance(&mut self, block: EncodedBlock) {
        let entry = self.plan.header_len().saturating_add(self.next.saturating_mul(4));
        let end = self.cursor.saturating_add(block.len);
        if self.abandoned || end > self.limit {
            self.abandoned = true;
            return;
        }
        if let Some(word) = self.dst.get_mut(entry..).and_then(|d| d.first_chunk_mut::<4>()) {
            *word = (self.cursor as u32).to_le_bytes();
        }
        self.cursor = end;
        self.next = self.next.saturating_add(1);
        self.zeros &= block.zeros;
    }

    /// The place for blocks handed out piece by piece, for threads that copy at the same time.
    /// [`resume`](Self::resume) with what it says in the end.
    #[cfg(feature = "std")]
    pub(crate) fn appender(&mut self) -> Appender<'_> {
        let progress = Progress { cursor: self.cursor, zeros: self.zeros, abandoned: self.abandoned };
        let (table, rest) = self.dst.split_at_mut_checked(self.cursor).unwrap_or_default();
        let table = table.get_mut(self.plan.header_len()..).unwrap_or_default();
        Appender { table, rest, held: 0, limit: self.limit, progress }
    }

    /// Takes over what an [`Appender`] has done.
    #[cfg(feature = "std")]
    pub(crate) fn resume(&mut self, done: Progress) {
        self.cursor = done.cursor;
        self.zeros = done.zeros;
        self.abandoned = done.abandoned;
    }

    /// Whether the chunk will be stored, so that no more blocks are needed.
    pub fn is_abandoned(&self) -> bool {
        self.abandoned
    }

    /// Writes the header; returns the chunk's length.
    ///
    /// # Errors
    /// `OutputTooSmall` if neither the blocks nor the plain data fit.
    pub fn finish(self) -> Result<usize, Error> {
        self.finish_by(|mut out, src| {
            out.copy_from(src);
            Ok(())
        })
    }

    /// [`finish`](Self::finish), where `copy` copies the data of a chunk that is stored.
    pub(crate) fn finish_by(
        self,
        copy: impl FnOnce(Out<'_>, &[u8]) -> Result<(), Error>,
    ) -> Result<usize, Error> {
        let plan = self.plan;
        let mut header = plan.header;
        let header_len = plan.header_len();
        let whole_items = plan.src.len().checked_rem(plan.params.typesize as usize) == Some(0);
        // A filter of the caller may make zeros of other bytes, and those of them again.
        let of_zeros =
            plan.slots().as_slice().iter().all(|(_, s)| plan.chunk_context.filter(s.filter.id()).is_none());
        let len = if self.abandoned {
            let len = plan.stored_len();
            let small = Error::OutputTooSmall { needed: len, given: self.dst.len() };
            let body = self.dst.get_mut(header_len..len).ok_or(small)?;
            copy(Out::from(body), plan.src)?;
            // What both C libraries write: Blosc1 always names the codec, C-Blosc2 only where it has tried it.
            if plan.nblocks == 0 && !plan.params.blosc1 {
                header.flags = FLAGS_EXTENDED;
            }
            header.flags |= FLAG_STORED;
            header.flags1 = 0;
            len
        } else if self.zeros && of_zeros && whole_items && plan.dictionary.is_empty() && !plan.params.blosc1 {
            header.flags1 = 1 << 4;
            header_len
        } else {
            plan.write_dictionary(plan.nblocks, self.dst);
            self.cursor
        };
        header.cbytes = u32::try_from(len).unwrap_or(u32::MAX);
        let given = self.dst.len();
        let head =
            self.dst.get_mut(..header_len).ok_or(Error::OutputTooSmall { needed: header_len, given })?;
        for (to, from) in head.iter_mut().zip(header.write()) {
            *to = from;
        }
        Ok(len)
    }
}

/// How far a chunk has come.
#[cfg(feature = "std")]
#[derive(Clone, Copy)]
pub(crate) struct Progress {
    cursor: usize,
    zeros: bool,
    /// The blocks no longer fit: the chunk will be stored.
    pub abandoned: bool,
}

/// Hands out the places of blocks in order.
#[cfg(feature = "std")]
pub(crate) struct Appender<'d> {
    table: &'d mut [u8],
    rest: &'d mut [u8],
    /// Bytes at the start of `rest` whose blocks have been held.
    held: usize,
    limit: usize,
    /// How far it has come.
    pub progress: Progress,
}

#[cfg(feature = "std")]
impl<'d> Appender<'d> {
    /// Notes where the next block begins. `false` once the blocks no longer fit.
    fn enter(&mut self, block: EncodedBlock) -> bool {
        let end = self.progress.cursor.saturating_add(block.len);
        let table = core::mem::take(&mut self.table).split_first_chunk_mut::<4>();
        let Some((word, table)) = table.filter(|_| !self.progress.abandoned && end <= self.limit) else {
            self.progress.abandoned = true;
            return false;
        };
        *word = (self.progress.cursor as u32).to_le_bytes();
        self.table = table;
        self.progress.cursor = end;
        self.progress.zeros &= block.zeros;
        true
    }

    /// Holds the next block: it has a place, which [`release`](Self::release) gives out.
    pub(crate) fn hold(&mut self, block: EncodedBlock) {
        if self.enter(block) {
            self.held = self.held.saturating_add(block.len);
        }
    }

    /// The places of all blocks held, one after the other.
    pub(crate) fn release(&mut self) -> &'d mut [u8] {
        let held = core::mem::take(&mut self.held);
        let (places, rest) = core::mem::take(&mut self.rest).split_at_mut_checked(held).unwrap_or_default();
        self.rest = rest;
        places
    }

    /// The place of the next block, or `None` once they no longer fit. No block may be held.
    pub(crate) fn take(&mut self, block: EncodedBlock) -> Option<&'d mut [u8]> {
        if !self.enter(block) {
            return None;
        }
        let (place, rest) = core::mem::take(&mut self.rest).split_at_mut_checked(block.len)?;
        self.rest = rest;
        Some(place)
    }
}

/// Writes `src` to `place` as a stored stream.
pub(crate) fn write_stored(src: &[u8], place: &mut [u8]) {
    if let Some((word, body)) = place.split_first_chunk_mut::<4>() {
        *word = (src.len() as u32).to_le_bytes();
        Out::from(body).copy_from(src);
    }
}
