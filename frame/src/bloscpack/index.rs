//! Where the chunks of a file lie: from its offsets table, or by walking from chunk to chunk
//! (docs/formats/bloscpack.md §5, §6).
//!
//! ```text
//! chunk: u8 version, u8 versionlz, u8 flags, u8 typesize, u32 nbytes, u32 blocksize, u32 ctbytes
//! next chunk = this chunk + ctbytes + digest length
//! ```
#![deny(clippy::indexing_slicing, clippy::arithmetic_side_effects)]

use super::header::{Header, Layout, MAX_BUFFER};
use crate::error::{Error, Structure};
use crate::io::ReadAt;
use crate::limits::{Limits, within};
use alloc::vec;
use alloc::vec::Vec;

/// Length of a Blosc1 chunk header, the shortest chunk there is.
pub(super) const CHUNK_HEADER: u64 = 16;

/// Plain and stored size of a chunk, from its header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Sizes {
    pub nbytes: u32,
    pub ctbytes: u32,
}

impl Sizes {
    /// Reads the two sizes of the chunk at byte `offset`, with `room` bytes up to the end.
    pub fn parse(head: &[u8; 16], offset: u64, room: u64) -> Result<Sizes, Error> {
        let [_, _, _, _, a, b, c, d, _, _, _, _, e, f, g, h] = *head;
        let (nbytes, ctbytes) = (u32::from_le_bytes([a, b, c, d]), u32::from_le_bytes([e, f, g, h]));
        let invalid = |field, at: u64, value: u32| {
            let offset = offset.saturating_add(at);
            Err(Error::Invalid { structure: Structure::BloscpackChunk, field, offset, value: value.into() })
        };
        if nbytes > MAX_BUFFER {
            return invalid("nbytes", 4, nbytes);
        }
        if u64::from(ctbytes) < CHUNK_HEADER {
            return invalid("ctbytes", 12, ctbytes);
        }
        if u64::from(ctbytes) > room {
            return Err(Error::Truncated {
                structure: Structure::BloscpackChunk,
                field: "chunk",
                offset,
                needed: ctbytes.into(),
            });
        }
        Ok(Sizes { nbytes, ctbytes })
    }
}

/// The sizes of a chunk inside other bytes, for the chunk files of bcolz.
#[cfg(feature = "std")]
pub(crate) struct ChunkSizes;

#[cfg(feature = "std")]
impl ChunkSizes {
    /// Plain and stored size of the chunk at `offset` of `bytes`, with `room` bytes up to the end of its file.
    pub fn at(bytes: &[u8], offset: u64, room: u64) -> Result<(u64, u64), Error> {
        let start = usize::try_from(offset).unwrap_or(usize::MAX);
        let head = bytes.get(start..).and_then(|rest| rest.first_chunk::<16>());
        let (structure, field, needed) = (Structure::BloscpackChunk, "chunk header", CHUNK_HEADER);
        let head = head.ok_or(Error::Truncated { structure, field, offset, needed })?;
        let sizes = Sizes::parse(head, offset, room)?;
        Ok((sizes.nbytes.into(), sizes.ctbytes.into()))
    }
}

/// Positions of all chunks, in the file and in the decoded data.
#[derive(Clone, Debug)]
pub(super) struct Index {
    /// Where each chunk starts in the file.
    pub starts: Vec<u64>,
    /// Where each chunk's decoded bytes start, and where the last one's end; `None` while every chunk
    /// but the last has `chunk_size` bytes.
    pub plains: Option<Vec<u64>>,
    /// Decoded bytes in all.
    pub nbytes: u64,
    /// Whether the positions come from the table; then gaps between chunks are allowed.
    pub from_table: bool,
}

/// Reads small records from a source through one window of memory.
struct Window<'r, R: ReadAt> {
    source: &'r R,
    at: u64,
    bytes: Vec<u8>,
}

impl<'r, R: ReadAt> Window<'r, R> {
    fn new(source: &'r R) -> Window<'r, R> {
        Window { source, at: 0, bytes: Vec::new() }
    }

    fn head(&mut self, offset: u64, size: u64) -> Result<[u8; 16], Error> {
        let inside = |w: &Self| {
            let skip = usize::try_from(offset.checked_sub(w.at)?).ok()?;
            w.bytes.get(skip..)?.first_chunk::<16>().copied()
        };
        if let Some(head) = inside(self) {
            return Ok(head);
        }
        let rest = size.saturating_sub(offset);
        if rest < CHUNK_HEADER {
            let (structure, field) = (Structure::BloscpackChunk, "chunk header");
            return Err(Error::Truncated { structure, field, offset, needed: CHUNK_HEADER });
        }
        // Small chunks come many to a window; large ones cost one short read each, which from afar takes as long as a MiB.
        let near = offset.saturating_sub(self.at) < 8192;
        let len = match near {
            _ if self.source.is_far() => rest.min(1 << 20),
            true => rest.min(16384),
            false => CHUNK_HEADER,
        };
        self.bytes.resize(usize::try_from(len).unwrap_or(16), 0);
        self.at = offset;
        self.source.read_exact_at(offset, &mut self.bytes)?;
        inside(self).ok_or(Error::Io(crate::error::IoKind::UnexpectedEnd.into()))
    }
}

pub(super) fn truncated_digest(offset: u64, needed: u64) -> Error {
    Error::Truncated { structure: Structure::BloscpackChunk, field: "checksum", offset, needed }
}

impl Index {
    /// Finds the chunks of a file of `size` bytes whose table, if any, starts at `table`.
    pub fn find<R: ReadAt>(
        source: &R,
        size: u64,
        header: &Header,
        table: u64,
        limits: &Limits,
    ) -> Result<Index, Error> {
        let data = table_end(header, table, size)?;
        within("chunks", header.nchunks.unwrap_or(0), limits.chunks)?;
        let starts = match header.offsets {
            true => read_table(source, header, table, data, size)?,
            false => None,
        };
        let mut w = Window::new(source);
        match (starts, header.chunk_size) {
            (Some(starts), Some(chunk)) => {
                let last = match (header.last_chunk, starts.last()) {
                    (_, None) => 0,
                    (Some(last), _) => last,
                    (None, Some(&at)) => {
                        Sizes::parse(&w.head(at, size)?, at, size.saturating_sub(at))?.nbytes
                    }
                };
                let full = (starts.len() as u64).saturating_sub(1).saturating_mul(chunk.into());
                let nbytes = full.saturating_add(last.into());
                Ok(Index { starts, plains: None, nbytes, from_table: true })
            }
            (Some(starts), None) => {
                let mut plains = vec![0];
                let mut end = 0u64;
                for &at in &starts {
                    let sizes = Sizes::parse(&w.head(at, size)?, at, size.saturating_sub(at))?;
                    end = end.saturating_add(sizes.nbytes.into());
                    plains.push(end);
                }
                Ok(Index { starts, plains: Some(plains), nbytes: end, from_table: true })
            }
            (None, _) => walk(&mut w, header, data, size, limits),
        }
    }

    /// Decoded bytes of chunk `i` as `start..end`.
    pub fn plain(&self, i: u64, chunk_size: u64) -> (u64, u64) {
        match &self.plains {
            Some(plains) => {
                let at = |i: u64| usize::try_from(i).ok().and_then(|i| plains.get(i)).copied();
                (at(i).unwrap_or(self.nbytes), at(i.saturating_add(1)).unwrap_or(self.nbytes))
            }
            None => {
                let start = i.saturating_mul(chunk_size);
                let last = i.saturating_add(1) >= self.starts.len() as u64;
                let end = if last { self.nbytes } else { start.saturating_add(chunk_size) };
                (start, end)
            }
        }
    }

    /// Number of the chunk that holds decoded byte `at`.
    pub fn holding(&self, at: u64, chunk_size: u64) -> u64 {
        match &self.plains {
            Some(plains) => (plains.partition_point(|&start| start <= at) as u64).saturating_sub(1),
            None => at.checked_div(chunk_size).unwrap_or(0),
        }
    }
}

/// Where the table ends and the chunks start.
pub(super) fn table_end(header: &Header, table: u64, size: u64) -> Result<u64, Error> {
    let len = header.table_len().checked_mul(8);
    match len.and_then(|len| table.checked_add(len)) {
        Some(end) if end <= size => Ok(end),
        _ => Err(Error::Truncated {
            structure: Structure::BloscpackOffsets,
            field: "offsets",
            offset: table,
            needed: len.unwrap_or(u64::MAX),
        }),
    }
}

/// The positions in the table; `None` where one of them was never filled in.
fn read_table<R: ReadAt>(
    source: &R,
    header: &Header,
    table: u64,
    data: u64,
    size: u64,
) -> Result<Option<Vec<u64>>, Error> {
    let used = header.nchunks.unwrap_or(0);
    let digest = header.checksum.digest_len() as u64;
    let shortest = CHUNK_HEADER.saturating_add(digest);
    let mut starts = Vec::new();
    let mut known = true;
    let mut floor = data;
    let mut entries = vec![0u8; 8192];
    let mut number = 0u64;
    let total = header.table_len();
    while number < total {
        let at = table.saturating_add(number.saturating_mul(8));
        let n = total.saturating_sub(number).min(1024);
        let Some(block) = entries.get_mut(..usize::try_from(n.saturating_mul(8)).unwrap_or(0)) else { break };
        source.read_exact_at(at, block)?;
        for (i, entry) in (0u64..).zip(block.as_chunks::<8>().0) {
            let value = i64::from_le_bytes(*entry);
            let entry_at = at.saturating_add(i.saturating_mul(8));
            let bad = Error::Invalid {
                structure: Structure::BloscpackOffsets,
                field: "offset",
                offset: entry_at,
                value,
            };
            match u64::try_from(value) {
                _ if number.saturating_add(i) >= used => {
                    // Spare entries hold nothing.
                    if value != -1 {
                        return Err(bad);
                    }
                }
                Err(_) if value == -1 => known = false,
                Ok(start) => {
                    let first = number.saturating_add(i) == 0;
                    let fits = start.checked_add(shortest).is_some_and(|end| end <= size);
                    // Chunks start right behind the table; anything else means a damaged count.
                    if start < floor || !fits || (first && start != data) {
                        return Err(bad);
                    }
                    floor = start.saturating_add(shortest);
                    starts.push(start);
                }
                Err(_) => return Err(bad),
            }
        }
        number = number.saturating_add(n);
    }
    Ok(known.then_some(starts))
}

/// Steps from chunk to chunk, to the announced number of them or to the end of the file.
fn walk<R: ReadAt>(
    w: &mut Window<'_, R>,
    header: &Header,
    data: u64,
    size: u64,
    limits: &Limits,
) -> Result<Index, Error> {
    let digest = header.checksum.digest_len() as u64;
    let (mut starts, mut plains) = (Vec::new(), vec![0]);
    let (mut at, mut end, mut number) = (data, 0u64, 0u64);
    while header.nchunks.map_or(at < size, |n| number < n) {
        within("chunks", number.saturating_add(1), limits.chunks)?;
        let sizes = Sizes::parse(&w.head(at, size)?, at, size.saturating_sub(at))?;
        starts.push(at);
        end = end.saturating_add(sizes.nbytes.into());
        plains.push(end);
        let digest_at = at.saturating_add(sizes.ctbytes.into());
        at = digest_at.saturating_add(digest);
        if at > size {
            return Err(truncated_digest(digest_at, digest));
        }
        number = number.saturating_add(1);
    }
    if header.layout == Layout::V1 && header.nchunks.is_none() && number == 0 && size > data {
        return Err(truncated_digest(data, CHUNK_HEADER));
    }
    Ok(Index { starts, plains: Some(plains), nbytes: end, from_table: false })
}
