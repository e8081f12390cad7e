//! [`ChunkStore`]: where a super-chunk's chunks lie, behind each other in one store or in files of a directory.

use super::checksum;
use super::draft::Draft;
use super::index::Index;
use crate::cframe::Opened;
use crate::cframe::header::{FIXED_LEN, Header};
use crate::error::{Error, IoError, IoKind, Structure};
use crate::io::{Pieces, ReadAt, WriteAt};
use crate::limits::{Limits, resize};
use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;
use blosc_core::Header as ChunkHeader;
use core::ops::Range;

/// What is read of a chunk before its size is known.
pub(super) const HEAD: u64 = 4096;

/// A frame's chunks, and the state on disk. The state that is being made is the caller's.
pub(crate) trait ChunkStore {
    /// Reads header, index and trailer of the state on disk.
    fn open(&self, limits: &Limits) -> Result<Opened, Error>;
    /// Starts from a state just read, whose chunks `index` names.
    fn opened(&mut self, opened: &Opened, index: &Index);
    /// Finds the chunk of a stored entry.
    fn locate(&self, entry: u64) -> Result<Located<'_>, Error>;

    /// The first chunk of a new frame will follow, whose header takes this many bytes.
    fn start(&mut self, _header_len: u64) {}
    /// The index is about to change for the first time; `_live` is what its stored chunks take, where that is known.
    fn look(&mut self, _index: &Index, _live: Option<u64>) {}
    /// Writes a new chunk; the state on disk is not touched. Returns its raw entry.
    fn add(&mut self, chunk: &[u8]) -> Result<i64, Error>;
    /// An entry of the state being made no longer refers to this chunk.
    fn release(&mut self, entry: u64, cbytes: u64);
    /// Puts the next state in force.
    fn commit(&mut self, draft: &mut Draft<'_>) -> Result<(), Error>;
    /// Drops what the state on disk, which is that of `draft`, has no use for, and makes checksums that are missing.
    fn compact(&mut self, draft: &mut Draft<'_>) -> Result<(), Error>;
    /// Takes back what was written since the last commit, whose header this is.
    fn discard(&mut self, committed: Option<&Header>);

    /// Opens what the path names now.
    fn follow(&mut self) -> Result<(), IoError> {
        Ok(())
    }
    /// What another writer has changed since the state with this header was read or written, if anything: looks at the
    /// first bytes only, which an edit of a sparse frame may leave as they were, or at the `whole` index.
    fn changed(&self, committed: &Header, whole: bool) -> Result<Option<&'static str>, Error>;
    /// Bytes that all of it takes.
    fn size(&self) -> Result<u64, Error>;
    /// Where all of it lies, if that is a source that is far.
    fn far(&self) -> Option<&dyn ReadAt> {
        None
    }
    /// Whether each request takes long.
    fn is_far(&self) -> bool {
        self.far().is_some()
    }
    /// The chunks of these entries, fetched at once, where each is a file of its own.
    fn files(&self, _entries: Vec<u64>, _most: u64) -> Option<Pieces> {
        None
    }
    /// Finds the chunk of a stored entry in what was fetched, if that is what there is.
    fn place<'p>(&'p self, entry: u64, pieces: Option<&'p Pieces>) -> Result<Located<'p>, Error> {
        Ok(self.locate(entry)?.over(pieces))
    }
    /// All bytes, if they lie in memory.
    fn as_slice(&self) -> Option<&[u8]> {
        None
    }
    /// Files that nothing refers to.
    fn strays(&self, _index: &Index) -> Result<Vec<String>, Error> {
        Ok(Vec::new())
    }
    /// Removes them.
    fn remove_strays(&mut self, _index: &Index) -> Result<(), Error> {
        Ok(())
    }
    /// The number of a chunk file for which C-Blosc2 refuses the frame.
    fn number_too_high(&self, _index: &Index) -> Option<u32> {
        None
    }
}

/// Another file has taken the place of the one that was opened.
pub(super) const OTHER_FILE: &str = "the file: another one has its name, or none; refresh, then edit";
/// What is stored is not what was read or written last.
pub(super) const OTHER_STATE: &str = "the frame's header; refresh, then edit";

/// Whether a frame's first bytes are those of this header.
pub(super) fn says(frame: &(impl ReadAt + ?Sized), header: &Header) -> Result<bool, Error> {
    let mut fixed = [0; FIXED_LEN];
    frame.read_exact_at(0, &mut fixed)?;
    Ok(Header::parse(&fixed)? == *header)
}

/// Appends a part of a file to `buf`.
pub(super) fn read_part(
    file: &(impl ReadAt + ?Sized),
    part: Range<u64>,
    buf: &mut Vec<u8>,
) -> Result<(), Error> {
    let (have, more) = (buf.len(), part.end.saturating_sub(part.start));
    resize(
        buf,
        usize::try_from(more).ok().and_then(|more| have.checked_add(more)).ok_or(Error::OutOfMemory)?,
    )?;
    Ok(file.read_exact_at(part.start, buf.get_mut(have..).unwrap_or(&mut []))?)
}

pub(super) enum Source<'p> {
    Shared(&'p dyn ReadAt),
    File(Box<dyn WriteAt + Send + Sync>),
}

/// The bytes of one chunk, not read yet.
pub(crate) struct Located<'p> {
    source: Source<'p>,
    /// Where the chunk starts in the source.
    pub(crate) at: u64,
    /// How many bytes there are at most.
    pub(super) limit: u64,
    structure: Structure,
    /// The checksum that all of its bytes must have.
    sum: Option<u64>,
}

impl<'p> Located<'p> {
    pub(super) fn new(source: Source<'p>, at: u64, limit: u64, structure: Structure) -> Located<'p> {
        Located { source, at, limit, structure, sum: None }
    }

    /// This place in other pieces of the source, if there are any.
    pub(super) fn over(self, pieces: Option<&'p Pieces>) -> Located<'p> {
        match pieces {
            Some(pieces) => Located { source: Source::Shared(pieces), ..self },
            None => self,
        }
    }

    /// This chunk, which must have this checksum if [`Located::whole`] reads it.
    pub(crate) fn held_to(self, sum: Option<u64>) -> Located<'p> {
        Located { sum, ..self }
    }

    /// Reads bytes of the chunk.
    pub(crate) fn read(&self, offset: u64, buf: &mut [u8]) -> Result<(), Error> {
        let end = offset.saturating_add(buf.len() as u64);
        if end > self.limit {
            let at = self.at.saturating_add(offset);
            return Err(Error::truncated(self.structure, "bytes", at, buf.len() as u64));
        }
        let source: &dyn ReadAt = match &self.source {
            Source::Shared(store) => *store,
            Source::File(file) => file,
        };
        Ok(source.read_exact_at(self.at.saturating_add(offset), buf)?)
    }

    /// The chunk and what follows it, if the source lies in memory.
    pub(crate) fn slice(&self) -> Option<&'p [u8]> {
        let Source::Shared(store) = self.source else { return None };
        let start = usize::try_from(self.at).ok()?;
        let end = usize::try_from(self.at.checked_add(self.limit)?).ok()?;
        store.as_slice()?.get(start..end)
    }

    fn parse_header(&self, k: u64, bytes: &[u8]) -> Result<ChunkHeader, Error> {
        let header = ChunkHeader::parse(bytes).map_err(Error::in_chunk(Some(k), self.at))?;
        if u64::from(header.cbytes) > self.limit {
            return Err(Error::invalid(
                self.structure,
                "cbytes",
                self.at.saturating_add(12),
                i64::from(header.cbytes),
            ));
        }
        Ok(header)
    }

    /// Reads the header of chunk `k`, and checks that all of the chunk is there.
    pub(crate) fn header(&self, k: u64) -> Result<ChunkHeader, Error> {
        let mut bytes = [0; 32];
        let len = self.limit.min(32) as usize;
        let bytes = bytes.get_mut(..len).unwrap_or(&mut []);
        self.read(0, bytes)?;
        self.parse_header(k, bytes)
    }

    /// Reads the beginning of chunk `k` to that of `buf`: small chunks take one read, larger ones two. Returns
    /// the header, and how many bytes were read: none where the source lies in memory.
    pub(crate) fn head(&self, k: u64, buf: &mut Vec<u8>) -> Result<(ChunkHeader, usize), Error> {
        if let Some(bytes) = self.slice() {
            return Ok((self.parse_header(k, bytes)?, 0));
        }
        let len = self.limit.min(HEAD) as usize;
        let head = at_least(buf, len)?;
        self.read(0, head)?;
        Ok((self.parse_header(k, head)?, len))
    }

    /// All bytes of chunk `k`, borrowed where possible, else read into `buf`; compared with the checksum the chunk is
    /// held to.
    pub(crate) fn whole<'b>(&self, k: u64, limits: &Limits, buf: &'b mut Vec<u8>) -> Result<&'b [u8], Error>
    where
        'p: 'b,
    {
        if let Some(bytes) = self.slice() {
            let header = self.parse_header(k, bytes)?;
            return self.checked(k, bytes.get(..header.cbytes as usize).ok_or(IoKind::UnexpectedEnd)?);
        }
        let (header, first) = self.head(k, buf)?;
        limits.check_stored(&header)?;
        let cbytes = header.cbytes as usize;
        let all = at_least(buf, cbytes)?;
        if let Some(rest) = all.get_mut(first..).filter(|rest| !rest.is_empty()) {
            self.read(first as u64, rest)?;
        }
        self.checked(k, all)
    }

    fn checked<'b>(&self, k: u64, bytes: &'b [u8]) -> Result<&'b [u8], Error> {
        match self.sum {
            Some(sum) if sum != checksum::of(bytes) => {
                Err(Error::Checksum { structure: self.structure, chunk: Some(k), offset: self.at })
            }
            _ => Ok(bytes),
        }
    }
}

/// The first `len` bytes of `buf`, which grows if it must. What is in them is left over from earlier use:
/// clearing a buffer that is about to be read into costs a pass over memory.
pub(crate) fn at_least(buf: &mut Vec<u8>, len: usize) -> Result<&mut [u8], Error> {
    if buf.len() < len {
        resize(buf, len)?;
    }
    Ok(buf.get_mut(..len).unwrap_or(&mut []))
}
