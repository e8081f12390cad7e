//! The frame without what it does not need, and copies of it.

use super::index::Index;
use super::meta::Change;
use super::superchunk::{SuperChunk, contiguous};
use crate::cframe::header::{ChunkSize, FrameType, Header};
use crate::error::Error;
use alloc::string::String;
use alloc::vec::Vec;

/// What a [`SuperChunk::compact`] found to remove.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Compacted {
    /// Bytes of the container before.
    pub before: u64,
    /// Bytes of the container after.
    pub after: u64,
}

impl SuperChunk<'_> {
    /// Commits, drops everything no chunk refers to, and gives every chunk a checksum if checksums
    /// are on. Atomic like a commit: a contiguous frame is rewritten; chunks of a sparse one get numbers that C-Blosc2
    /// takes, and files that nothing refers to stay ([`SuperChunk::remove_strays`]). Entries that share a chunk still
    /// share it.
    ///
    /// # Errors
    /// As [`SuperChunk::commit`]; [`Error::Checksum`] where a chunk, or the table of checksums, is not what was written.
    pub fn compact(&mut self) -> Result<Compacted, Error> {
        self.checksums.check_table()?;
        self.commit()?;
        self.check_unchanged(true)?;
        let before = self.container_bytes()?;
        self.store_draft(|store, draft| store.compact(draft))?;
        Ok(Compacted { before, after: self.container_bytes()? })
    }

    /// Bytes the frame takes where it is stored: index file and all chunk files of a sparse one.
    ///
    /// # Errors
    /// Errors of the store.
    pub fn container_bytes(&self) -> Result<u64, Error> {
        self.store.size()
    }

    /// Bytes of a contiguous frame that no chunk refers to, as far as its table of checksums tells:
    /// [`SuperChunk::compact`] drops them. None for a sparse frame, and for one whose last writer keeps no such table.
    pub fn free_bytes(&self) -> Option<u64> {
        let live = self.checksums.live.filter(|_| !self.is_sparse())?;
        Some(self.header().cbytes.saturating_sub(live))
    }

    /// Files of a sparse frame that nothing refers to: of another program, or of a writer that died or is at work.
    ///
    /// # Errors
    /// Errors of listing the directory.
    pub fn strays(&self) -> Result<Vec<String>, Error> {
        self.store.strays(&self.index)
    }

    /// Removes them.
    ///
    /// # Errors
    /// Errors of the file system.
    pub fn remove_strays(&mut self) -> Result<(), Error> {
        self.check_unchanged(true)?;
        self.store.remove_strays(&self.index)
    }

    /// The largest number of a chunk file of a sparse frame, if it is one for which C-Blosc2 refuses the directory.
    pub(crate) fn number_too_high(&self) -> Option<u32> {
        self.store.number_too_high(&self.index)
    }

    /// The frame as contiguous bytes, with all changes so far; a sparse frame is packed together.
    ///
    /// # Errors
    /// As [`SuperChunk::commit`], and errors of reading what is packed together.
    pub fn to_bytes(&mut self) -> Result<Vec<u8>, Error> {
        if self.store.as_slice().is_some() {
            self.commit()?;
            let len = self.pending.committed.and_then(|header| usize::try_from(header.frame_len).ok());
            let bytes = self.store.as_slice().zip(len).and_then(|(bytes, len)| bytes.get(..len));
            let shorter = Error::Internal { what: "a frame in memory shorter than it is" };
            return bytes.map(<[u8]>::to_vec).ok_or(shorter);
        }
        // Parameters that are only read may be copied, too.
        let mut copy = SuperChunk::new(FrameType::Contiguous, &self.params(), contiguous(Vec::new()));
        copy.copy_from(self)?;
        copy.to_bytes()
    }

    /// [`SuperChunk::to_bytes`], for a frame that is not needed any more.
    ///
    /// # Errors
    /// As [`SuperChunk::to_bytes`].
    pub fn into_bytes(mut self) -> Result<Vec<u8>, Error> {
        self.to_bytes()
    }

    /// Copies everything of `other` into this new, empty frame: parameters, metalayers, chunks as they
    /// are. Works between contiguous and sparse frames.
    ///
    /// # Errors
    /// [`Error::Param`] where this frame has chunks or items of another size, and errors of reading `other`.
    pub fn copy_from(&mut self, other: &SuperChunk<'_>) -> Result<(), Error> {
        if self.nchunks() > 0 || self.typesize() != other.typesize() {
            return Err(Error::param(
                "chunks of the copy",
                self.nchunks() as i64,
                "none, and the same typesize",
            ));
        }
        let (frame_type, from) = (self.header.frame_type, other.header);
        self.header = Header { frame_type, ..from };
        self.chunksize = other.chunksize;
        self.metalayers = other.metalayers.clone();
        (self.pending.metalayers, self.vl_blocks) = (Change::Length, None);
        self.pending.frame = true;
        if other.index.numbers().is_empty() {
            self.index = other.index.clone();
            return Ok(());
        }
        self.index = Index::empty(from.chunksize);
        self.append_from(other)
    }

    /// Takes over what the header of another frame says of its parameters, whatever codec and filters they name. This one
    /// must be new and empty, and have the same typesize.
    pub(crate) fn set_header(&mut self, from: &Header) {
        let chunksize = ChunkSize::Unknown;
        self.header = Header { frame_type: self.header.frame_type, chunksize, ..*from };
        self.pending.frame = true;
    }
}
