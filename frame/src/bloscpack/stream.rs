//! [`StreamReader`]: a file read front to back, from a pipe.
//!
//! ```text
//! header → metadata → table (to step over gaps, if it is filled in) → chunk, digest, chunk, digest …
//! ```
#![deny(clippy::indexing_slicing, clippy::arithmetic_side_effects)]

use super::header::{Header, Layout};
use super::index::{CHUNK_HEADER, Sizes, truncated_digest};
use super::metadata::{self, HEADER_LEN, MetaHeader};
use crate::error::{Error, IoKind, Structure};
use crate::limits::{Limits, resize, within};
use crate::value::{TextLimits, Value};
use alloc::vec::Vec;
use blosc_core::{Chunk, ChunkContext, Pool};
use std::io::Read;

/// No stream is longer than this. What tells a v0 file from later ones is that the count a later header
/// would have is absurd, and that takes a length.
const LONGEST: u64 = 1 << 44;

/// Decodes a file chunk by chunk from a source that cannot seek.
pub struct StreamReader<I> {
    input: I,
    /// Bytes read ahead while the layout was found out.
    ahead: Vec<u8>,
    at: u64,
    header: Header,
    metadata: Option<Value>,
    starts: Vec<u64>,
    next: u64,
    limits: Limits,
}

impl<I: Read> StreamReader<I> {
    /// Reads header and metadata.
    ///
    /// # Errors
    /// As [`Bloscpack::open`](super::Bloscpack::open), less what only the length of the file can tell.
    pub fn open(mut input: I, limits: &Limits) -> Result<StreamReader<I>, Error> {
        let mut head = Vec::new();
        input.by_ref().take(40).read_to_end(&mut head)?;
        let header = Header::detect(&head, Some(LONGEST))?;
        let used = header.layout.header_len();
        let ahead = head.get(used..).unwrap_or_default().to_vec();
        let mut stream = StreamReader {
            input,
            ahead,
            at: used as u64,
            header,
            metadata: None,
            starts: Vec::new(),
            next: 0,
            limits: *limits,
        };
        stream.read_metadata()?;
        stream.read_table()?;
        Ok(stream)
    }

    /// The header.
    pub fn header(&self) -> &Header {
        &self.header
    }

    /// The user's metadata.
    pub fn metadata(&self) -> Option<&Value> {
        self.metadata.as_ref()
    }

    fn fill(&mut self, out: &mut [u8]) -> Result<(), Error> {
        let n = self.ahead.len().min(out.len());
        let (now, rest) = out.split_at_mut_checked(n).unwrap_or_default();
        for (to, from) in now.iter_mut().zip(self.ahead.drain(..n)) {
            *to = from;
        }
        self.input.read_exact(rest)?;
        self.at = self.at.saturating_add(out.len() as u64);
        Ok(())
    }

    /// Reads `len` bytes, making room as they arrive: an announced length is not believed.
    fn take(&mut self, len: u64) -> Result<Vec<u8>, Error> {
        let mut bytes = Vec::new();
        while (bytes.len() as u64) < len {
            let have = bytes.len();
            let step = len.saturating_sub(have as u64).min((have as u64).max(1 << 16));
            resize(&mut bytes, (have as u64).saturating_add(step))?;
            self.fill(bytes.get_mut(have..).unwrap_or_default())?;
        }
        Ok(bytes)
    }

    fn read_metadata(&mut self) -> Result<(), Error> {
        let limits = TextLimits::JSON;
        let bounded = |n: u32| match usize::try_from(n) {
            Ok(n) if n <= limits.bytes => Ok(n as u64),
            _ => Err(Error::Limit { what: "bytes of metadata", asked: n.into(), limit: limits.bytes as u64 }),
        };
        let start = self.at;
        if self.header.layout == Layout::Mono {
            let text = self.take(bounded(self.header.meta_size)?)?;
            self.metadata = Some(metadata::parse(&text, start, &limits)?);
        } else if self.header.metadata {
            let mut head = [0; HEADER_LEN];
            self.fill(&mut head)?;
            let meta = MetaHeader::parse(&head, start)?;
            let stored = self.take(bounded(meta.comp_size)?)?;
            self.skip(meta.max_size.saturating_sub(meta.comp_size).into())?;
            let digest = self.take(meta.checksum.digest_len() as u64)?;
            let at = start.saturating_add(HEADER_LEN as u64);
            self.metadata = Some(meta.read(&stored, &digest, at, &limits)?);
        }
        Ok(())
    }

    fn skip(&mut self, len: u64) -> Result<(), Error> {
        let mut left = len;
        let mut buffer = [0u8; 4096];
        while left > 0 {
            let n = usize::try_from(left).unwrap_or(usize::MAX).min(buffer.len());
            self.fill(buffer.get_mut(..n).unwrap_or_default())?;
            left = left.saturating_sub(n as u64);
        }
        Ok(())
    }

    fn read_table(&mut self) -> Result<(), Error> {
        let used = self.header.nchunks.unwrap_or(0);
        let entries = self.header.table_len();
        within("chunks", used, self.limits.chunks)?;
        for i in 0..entries {
            let mut entry = [0; 8];
            self.fill(&mut entry)?;
            if i < used {
                self.starts.push(u64::from_le_bytes(entry));
            }
        }
        Ok(())
    }

    /// Decodes the next chunk into `out`; false at the end.
    ///
    /// # Errors
    /// As reading from a file; the end of the input inside a chunk is [`IoKind::UnexpectedEnd`].
    pub fn next_chunk(&mut self, pool: &mut Pool, out: &mut Vec<u8>) -> Result<bool, Error> {
        out.clear();
        let i = self.next;
        let mut head = [0u8; 16];
        match self.header.nchunks {
            Some(n) if i >= n => return Ok(false),
            Some(_) => {
                let start = usize::try_from(i).ok().and_then(|i| self.starts.get(i)).copied();
                // −1, "unknown", is u64::MAX here.
                match start.filter(|&start| start != u64::MAX) {
                    Some(start) if start < self.at => {
                        let (structure, value) =
                            (Structure::BloscpackOffsets, i64::try_from(start).unwrap_or(-2));
                        return Err(Error::Invalid { structure, field: "offset", offset: i, value });
                    }
                    Some(start) => self.skip(start.saturating_sub(self.at))?,
                    None => {}
                }
                self.fill(&mut head)?;
            }
            // The number of chunks is unknown: the input ends between two of them.
            None => {
                let mut first = [0u8; 1];
                match self.fill(&mut first) {
                    Err(Error::Io(e)) if e.kind == IoKind::UnexpectedEnd => return Ok(false),
                    other => other?,
                }
                let mut rest = [0u8; 15];
                self.fill(&mut rest)?;
                for (to, from) in head.iter_mut().zip(first.iter().chain(&rest)) {
                    *to = *from;
                }
            }
        }
        let offset = self.at.saturating_sub(CHUNK_HEADER);
        let sizes = Sizes::parse(&head, offset, u64::MAX)?;
        self.check_size(i, offset, sizes.nbytes)?;
        let rest = self.take(u64::from(sizes.ctbytes).saturating_sub(CHUNK_HEADER))?;
        let bytes: Vec<u8> = head.iter().copied().chain(rest).collect();
        let digest_len = self.header.checksum.digest_len() as u64;
        let digest_at = self.at;
        let digest = self.take(digest_len).map_err(|_| truncated_digest(digest_at, digest_len))?;
        if self.header.checksum.digest(&bytes).as_ref() != digest {
            return Err(Error::Checksum { structure: Structure::BloscpackChunk, chunk: Some(i), offset });
        }
        let name = |error| Error::Chunk { chunk: Some(i), offset, error };
        let chunk = Chunk::parse_with(&bytes, &self.limits.chunk).map_err(name)?;
        resize(out, chunk.nbytes())?;
        pool.decompress_into(&chunk, ChunkContext::default(), out).map_err(name)?;
        self.next = i.saturating_add(1);
        Ok(true)
    }

    fn check_size(&self, i: u64, offset: u64, nbytes: u32) -> Result<(), Error> {
        let last = self.header.nchunks.map(|n| i.saturating_add(1) == n);
        let ok = match (last, self.header.chunk_size, self.header.last_chunk) {
            (Some(true), _, Some(want)) | (Some(false), Some(want), _) => nbytes == want,
            (_, Some(most), _) => nbytes <= most,
            _ => true,
        };
        if ok {
            return Ok(());
        }
        let (structure, offset) = (Structure::BloscpackChunk, offset.saturating_add(4));
        Err(Error::Invalid { structure, field: "nbytes", offset, value: nbytes.into() })
    }
}
