//! Where a super-chunk's chunks lie: behind each other in one store, or in files of a directory.

use super::checksum;
use super::contiguous::Contiguous;
use crate::error::{Error, IoError, IoKind, Structure};
use crate::io::{Directory, ReadAt, Store, WriteAt};
use crate::limits::Limits;
use alloc::boxed::Box;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use blosc_core::Header as ChunkHeader;

/// The index file of a sparse frame.
pub(crate) const INDEX_NAME: &str = "chunks.b2frame";

/// What is read of a chunk before its size is known.
const HEAD: u64 = 4096;

/// The name of chunk file `id`: a number, so nothing read from a file can become a path.
pub(crate) fn chunk_name(id: u32) -> String {
    format!("{id:08X}.chunk")
}

pub(crate) enum Place<'a> {
    /// One store. Entries are offsets from the end of the header.
    Contiguous(Contiguous<'a>),
    /// A directory. Entries are numbers of chunk files.
    Sparse {
        dir: Box<dyn Directory + Send + Sync + 'a>,
        /// Files written since the last commit.
        fresh: Vec<u32>,
        /// The next number to use; never one that this handle has seen in use.
        next_id: u32,
    },
}

pub(super) enum Source<'p> {
    Shared(&'p (dyn Store + Send + Sync)),
    File(Box<dyn WriteAt + Send + Sync>),
}

/// The bytes of one chunk, not read yet.
pub(crate) struct Located<'p> {
    source: Source<'p>,
    /// Where the chunk starts in the source.
    pub(crate) at: u64,
    /// How many bytes there are at most.
    limit: u64,
    structure: Structure,
    /// The checksum that all of its bytes must have.
    sum: Option<u64>,
}

impl<'a> Place<'a> {
    /// The store of a contiguous frame.
    pub(super) fn contiguous(&mut self) -> Result<&mut Contiguous<'a>, Error> {
        match self {
            Place::Contiguous(frame) => Ok(frame),
            Place::Sparse { .. } => {
                Err(Error::Internal { what: "a sparse frame where a contiguous one was" })
            }
        }
    }

    pub(crate) fn is_sparse(&self) -> bool {
        matches!(self, Place::Sparse { .. })
    }

    /// Finds the chunk of a stored entry.
    pub(crate) fn locate(&self, entry: u64) -> Result<Located<'_>, Error> {
        match self {
            Place::Contiguous(frame) => Ok(frame.locate(entry)),
            Place::Sparse { dir, .. } => {
                let id = u32::try_from(entry).map_err(|_| Error::Invalid {
                    structure: Structure::Index,
                    field: "entry (chunk file)",
                    offset: 0,
                    value: entry as i64,
                })?;
                let file = dir.open(&chunk_name(id), false).map_err(|error| match error.kind {
                    IoKind::NotFound => Error::Invalid {
                        structure: Structure::Index,
                        field: "entry (chunk file that does not exist)",
                        offset: 0,
                        value: i64::from(id),
                    },
                    _ => error.into(),
                })?;
                let limit = file.size()?;
                Ok(Located::new(Source::File(file), 0, limit, Structure::ChunkFile))
            }
        }
    }

    /// Writes a new chunk; the committed frame is not touched. Returns its raw entry.
    pub(crate) fn add_chunk(&mut self, chunk: &[u8], referenced: impl Fn(i64) -> bool) -> Result<i64, Error> {
        match self {
            Place::Contiguous(frame) => frame.add(chunk),
            Place::Sparse { dir, fresh, next_id } => {
                let id = *next_id;
                let next = id.checked_add(1).filter(|id| *id < 1 << 31);
                let next = next.ok_or(Error::Capacity {
                    what: "numbers of chunk files",
                    asked: u64::from(id),
                    most: 1 << 31,
                })?;
                let name = chunk_name(id);
                let mut file = match dir.create(&name) {
                    // Left over from a session that was cut off: nothing refers to it.
                    Err(IoError { kind: IoKind::AlreadyExists, .. }) if !referenced(i64::from(id)) => {
                        dir.remove(&name)?;
                        dir.create(&name)?
                    }
                    other => other?,
                };
                let written = file.write_at(0, chunk);
                drop(file);
                if let Err(error) = written {
                    let _ = dir.remove(&name);
                    return Err(error.into());
                }
                fresh.push(id);
                *next_id = next;
                Ok(i64::from(id))
            }
        }
    }
}

impl<'p> Located<'p> {
    pub(super) fn new(source: Source<'p>, at: u64, limit: u64, structure: Structure) -> Located<'p> {
        Located { source, at, limit, structure, sum: None }
    }

    fn get(&self) -> &dyn ReadAt {
        match &self.source {
            Source::Shared(store) => store,
            Source::File(file) => file,
        }
    }

    /// The same chunk, which must have this checksum if [`Located::whole`] reads it.
    pub(crate) fn held_to(self, sum: Option<u64>) -> Located<'p> {
        Located { sum, ..self }
    }

    /// For readers of a part: what lies in memory is not read whole for it.
    pub(crate) fn held_if_read(self, sum: Option<u64>) -> Located<'p> {
        let sum = sum.filter(|_| self.slice().is_none());
        Located { sum, ..self }
    }

    /// Reads bytes of the chunk.
    pub(crate) fn read(&self, offset: u64, buf: &mut [u8]) -> Result<(), Error> {
        let end = offset.saturating_add(buf.len() as u64);
        if end > self.limit {
            return Err(Error::Truncated {
                structure: self.structure,
                field: "bytes",
                offset: self.at.saturating_add(offset),
                needed: buf.len() as u64,
            });
        }
        Ok(self.get().read_exact_at(self.at.saturating_add(offset), buf)?)
    }

    /// The chunk and what follows it, if the source lies in memory.
    pub(crate) fn slice(&self) -> Option<&'p [u8]> {
        let Source::Shared(store) = &self.source else { return None };
        let store: &'p (dyn Store + Send + Sync) = *store;
        let start = usize::try_from(self.at).ok()?;
        let end = usize::try_from(self.at.checked_add(self.limit)?).ok()?;
        store.as_slice()?.get(start..end)
    }

    fn parse_header(&self, k: u64, bytes: &[u8]) -> Result<ChunkHeader, Error> {
        let header = ChunkHeader::parse(bytes).map_err(|error| Error::Chunk {
            chunk: Some(k),
            offset: self.at,
            error,
        })?;
        if u64::from(header.cbytes) > self.limit {
            return Err(Error::Invalid {
                structure: self.structure,
                field: "cbytes",
                offset: self.at.saturating_add(12),
                value: i64::from(header.cbytes),
            });
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
        if u64::from(header.nbytes) > limits.chunk.output {
            let asked = u64::from(header.nbytes);
            return Err(Error::Limit { what: "bytes of a chunk", asked, limit: limits.chunk.output });
        }
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

/// Makes `buf` exactly `len` bytes long, or reports that memory is short.
pub(crate) fn resize(buf: &mut Vec<u8>, len: usize) -> Result<(), Error> {
    buf.try_reserve(len.saturating_sub(buf.len())).map_err(|_| Error::OutOfMemory)?;
    buf.resize(len, 0);
    Ok(())
}
