//! [`Committed`]: the bytes of a frame as they were committed, for who needs them while the chunks are being changed.

use super::SuperChunk;
use super::index::Index;
use crate::error::Error;
use core::ops::Range;

/// The chunks of the last commit. They stay where they are until the next one, whatever is changed meanwhile.
pub(crate) struct Committed(Index);

impl Committed {
    /// Decoded size of all, in bytes.
    pub(crate) fn nbytes(&self) -> u64 {
        self.0.sizes().total()
    }
}

impl SuperChunk<'_> {
    /// The chunks as they are committed; what is changed already is committed first.
    ///
    /// # Errors
    /// [`Error::Changed`] if another writer was here, which may have removed them; as [`SuperChunk::commit`].
    pub(crate) fn committed(&mut self) -> Result<Committed, Error> {
        if self.is_dirty() {
            self.commit()?;
        }
        self.check_unchanged()?;
        Ok(Committed(self.index.clone()))
    }

    /// As [`SuperChunk::read_bytes`], from the chunks of the last commit.
    pub(crate) fn read_committed(
        &mut self,
        committed: &mut Committed,
        range: Range<u64>,
        out: &mut [u8],
    ) -> Result<usize, Error> {
        core::mem::swap(&mut self.index, &mut committed.0);
        let read = self.read_bytes(range, out);
        core::mem::swap(&mut self.index, &mut committed.0);
        read
    }
}
