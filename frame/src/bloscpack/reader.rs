//! [`Bloscpack`]: a file opened for reading any part of it.
//!
//! ```text
//! open:  header → metadata → offsets table (or a walk over the chunk headers)
//! read:  chunk numbers from the positions → chunk + digest → check → decode only the blocks asked for
//!        of a source that is far, the chunks of a read are fetched in one round, 16 MiB at a time
//! ```
#![deny(clippy::indexing_slicing, clippy::arithmetic_side_effects)]

use super::checksum::Checksum;
use super::header::{Header, Layout};
use super::index::{CHUNK_HEADER, Index, Sizes, truncated_digest};
use super::metadata::{self, HEADER_LEN, MetaHeader};
use super::numpy::Numpy;
use crate::error::{Error, IoKind, Structure};
use crate::io::{Pieces, ReadAt};
use crate::limits::{Limits, resize, within};
use crate::plain::{Plain, check_range, side_by_side};
use crate::value::{TextLimits, Value};
use alloc::vec::Vec;
use blosc_core::{Chunk, ChunkContext, Pool};
use core::ops::Range;

/// A bloscpack file of any layout.
pub struct Bloscpack<R> {
    pub(super) source: R,
    pub(super) size: u64,
    pub(super) header: Header,
    pub(super) meta_header: Option<MetaHeader>,
    pub(super) metadata: Option<Value>,
    pub(super) table: u64,
    pub(super) index: Index,
    pub(super) limits: Limits,
}

/// A chunk as it lies in the file.
pub(crate) struct Stored {
    pub bytes: Vec<u8>,
    pub offset: u64,
    i: u64,
    checksum: Checksum,
    limits: blosc_core::Limits,
}

impl Stored {
    /// The chunk without its digest.
    pub fn chunk(&self) -> &[u8] {
        self.bytes.get(..self.bytes.len().saturating_sub(self.checksum.digest_len())).unwrap_or(&[])
    }

    /// The chunk, its digest checked.
    pub fn checked(&self) -> Result<Chunk<'_>, Error> {
        self.check()?;
        Chunk::parse_with(self.chunk(), &self.limits).map_err(self.failed())
    }

    fn check(&self) -> Result<(), Error> {
        let digest = self.checksum.digest(self.chunk());
        if self.bytes.get(self.chunk().len()..) == Some(digest.as_ref()) {
            return Ok(());
        }
        let (structure, offset) = (Structure::BloscpackChunk, self.offset);
        Err(Error::Checksum { structure, chunk: Some(self.i), offset })
    }

    /// What is wrong with the chunk, as the codec has it.
    pub fn failed(&self) -> impl Fn(blosc_core::Error) -> Error + use<> {
        Error::in_chunk(Some(self.i), self.offset)
    }

    /// Checks the digest and decodes bytes `range` of the chunk into `out`, which has that length.
    pub fn decode(&self, pool: &mut Pool, range: Range<usize>, out: &mut [u8]) -> Result<(), Error> {
        let (chunk, around) = (self.checked()?, ChunkContext::default());
        match range == (0..chunk.nbytes()) {
            true => pool.decompress_into(&chunk, around, out),
            false => pool.get_bytes(&chunk, around, range, out),
        }
        .map(drop)
        .map_err(self.failed())
    }
}

impl<R: ReadAt> Bloscpack<R> {
    /// Opens a file of any layout, within `limits`.
    ///
    /// # Errors
    /// Everything the header, metadata, offsets and (without a complete table) chunk headers can say
    /// wrong about themselves or the length of the file, before anything of that size is allocated.
    pub fn open(source: R, limits: &Limits) -> Result<Bloscpack<R>, Error> {
        let size = source.size()?;
        let mut head = [0u8; 40];
        let n = usize::try_from(size).unwrap_or(usize::MAX).min(head.len());
        let head = head.get_mut(..n).unwrap_or_default();
        source.read_exact_at(0, head)?;
        let header = Header::detect(head, Some(size))?;
        let (meta_header, metadata, table) = read_metadata(&source, size, &header)?;
        let index = Index::find(&source, size, &header, table, limits)?;
        Ok(Bloscpack {
            source,
            size,
            header,
            meta_header,
            metadata,
            table,
            index,
            limits: limits.for_size(size),
        })
    }

    /// The header.
    pub fn header(&self) -> &Header {
        &self.header
    }

    /// The user's metadata.
    pub fn metadata(&self) -> Option<&Value> {
        self.metadata.as_ref()
    }

    /// The header of the metadata section (v3).
    pub fn meta_header(&self) -> Option<&MetaHeader> {
        self.meta_header.as_ref()
    }

    /// What the metadata says about a NumPy array, if it does.
    ///
    /// # Errors
    /// A dtype, shape or order that is malformed, holds objects, or does not fit the decoded length.
    pub fn numpy(&self) -> Result<Option<Numpy>, Error> {
        let Some(numpy) =
            self.metadata.as_ref().and_then(|m| Numpy::from_metadata(m).transpose()).transpose()?
        else {
            return Ok(None);
        };
        numpy.check_len(self.index.nbytes)?;
        Ok(Some(numpy))
    }

    /// Number of chunks.
    pub fn nchunks(&self) -> u64 {
        self.index.starts.len() as u64
    }

    /// Where chunk `i` starts in the file.
    pub fn chunk_offset(&self, i: u64) -> Option<u64> {
        usize::try_from(i).ok().and_then(|i| self.index.starts.get(i)).copied()
    }

    /// Length of the file in bytes.
    pub fn file_len(&self) -> u64 {
        self.size
    }

    /// The source.
    pub fn source(&self) -> &R {
        &self.source
    }

    /// Where the last chunk, with its digest and the room reserved behind it, ends.
    ///
    /// # Errors
    /// What reading that chunk gives.
    pub fn end(&self) -> Result<u64, Error> {
        match self.nchunks().checked_sub(1) {
            Some(last) => {
                let stored = self.view().read(last)?;
                Ok(stored.offset.saturating_add(stored.bytes.len() as u64))
            }
            None => super::index::table_end(&self.header, self.table, self.size),
        }
    }

    /// The source underneath.
    pub fn into_inner(self) -> R {
        self.source
    }

    pub(super) fn view(&self) -> View<'_> {
        let Bloscpack { source, size, header, index, limits, .. } = self;
        View { source, size: *size, header, index, limits }
    }

    /// Reads chunk `i` as it is stored; its checksum is not checked yet.
    #[cfg(feature = "std")]
    pub(crate) fn read_stored(&self, i: u64) -> Result<Stored, Error> {
        self.view().read(i)
    }

    /// The decoded bytes that chunk `i` holds.
    pub fn chunk_range(&self, i: u64) -> Range<u64> {
        self.view().plain(i)
    }

    /// Chunk `i` as stored, its checksum checked.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] for a chunk that is not there; [`Error::Checksum`]; errors of the source.
    pub fn chunk_bytes(&self, i: u64) -> Result<Vec<u8>, Error> {
        let mut stored = self.view().stored(i)?;
        stored.bytes.truncate(stored.chunk().len());
        Ok(stored.bytes)
    }

    /// All decoded bytes.
    ///
    /// # Errors
    /// [`Error::Limit`] above [`Limits::output`].
    pub fn read_all(&self, pool: &mut Pool) -> Result<Vec<u8>, Error> {
        within("bytes of output", self.index.nbytes, self.limits.output)?;
        let mut out = Vec::new();
        let (view, mut ahead) = (self.view(), Ahead::new());
        for i in 0..self.nchunks() {
            let have = out.len();
            let plain = view.plain(i);
            // Each chunk is checked before room for its data is made.
            let stored = view.read_with(&mut ahead, i, self.nchunks())?;
            let chunk = stored.checked()?;
            resize(&mut out, (have as u64).saturating_add(plain.end.saturating_sub(plain.start)))?;
            if let Some(room) = out.get_mut(have..) {
                pool.decompress_into(&chunk, ChunkContext::default(), room).map_err(stored.failed())?;
            }
        }
        Ok(out)
    }
}

impl<R: ReadAt> Plain for Bloscpack<R> {
    fn nbytes(&self) -> u64 {
        self.index.nbytes
    }
    fn read_plain(&self, pool: &mut Pool, at: u64, out: &mut [u8]) -> Result<(), Error> {
        self.view().read_plain(pool, at, out)
    }
    fn chunk_nbytes(&self) -> u64 {
        self.view().chunk_nbytes()
    }
}

/// Chunks that follow each other, and what was fetched of them; nothing where the source is not far.
pub(super) struct Ahead {
    chunks: Range<u64>,
    pieces: Pieces,
}

impl Ahead {
    /// Nothing was fetched.
    pub fn new() -> Ahead {
        Ahead { chunks: 0..0, pieces: Pieces::new(0) }
    }
}

/// Chunks of a source whose header and index are known.
#[derive(Clone, Copy)]
pub(super) struct View<'a> {
    pub source: &'a dyn ReadAt,
    pub size: u64,
    pub header: &'a Header,
    pub index: &'a Index,
    pub limits: &'a Limits,
}

impl View<'_> {
    fn chunk_size(&self) -> u64 {
        self.header.chunk_size.unwrap_or(0).into()
    }

    fn nchunks(&self) -> u64 {
        self.index.starts.len() as u64
    }

    fn start(&self, i: u64) -> Option<u64> {
        usize::try_from(i).ok().and_then(|i| self.index.starts.get(i)).copied()
    }

    /// The decoded bytes that chunk `i` holds.
    pub fn plain(&self, i: u64) -> Range<u64> {
        let (start, end) = self.index.plain(i, self.chunk_size());
        start..end
    }

    /// Reads chunk `i` with its digest and checks the latter.
    pub fn stored(&self, i: u64) -> Result<Stored, Error> {
        self.read(i).and_then(|stored| stored.check().map(|()| stored))
    }

    /// As [`View::read`]: where the source is far from what was fetched, with the chunks that follow it before `end`.
    pub fn read_with(&self, ahead: &mut Ahead, i: u64, end: u64) -> Result<Stored, Error> {
        if !self.source.is_far() {
            return self.read(i);
        }
        if !ahead.chunks.contains(&i) {
            let (mut pieces, mut bytes, mut at) = (Pieces::new(self.size), 0u64, i);
            while at < end && bytes < Pieces::AT_ONCE {
                let (offset, len) = self.extent(at)?;
                pieces.want(offset..offset.saturating_add(len));
                bytes = bytes.saturating_add(len);
                at = at.saturating_add(1);
            }
            let ranges = pieces.missed(Pieces::GAP);
            pieces.fetch(self.source, &ranges)?;
            *ahead = Ahead { chunks: i..at, pieces };
        }
        match (View { source: &ahead.pieces, ..*self }).read(i) {
            // A chunk that is longer than its data.
            Err(error) if error == IoKind::NotFetched.into() => self.read(i),
            stored => stored,
        }
    }

    /// Where chunk `i` starts, and how many bytes are read of it first. A regular chunk never takes more than its data and
    /// headers: one read fetches all of it, or shows that it is something else.
    fn extent(&self, i: u64) -> Result<(u64, u64), Error> {
        let offset =
            self.start(i).ok_or(Error::OutOfRange { what: "chunk", index: i, len: self.nchunks() })?;
        let (plain, digest) = (self.plain(i), self.header.checksum.digest_len() as u64);
        let most = plain.end.saturating_sub(plain.start).saturating_add(CHUNK_HEADER).saturating_add(digest);
        Ok((offset, self.room(i, offset).min(most).max(CHUNK_HEADER)))
    }

    /// Bytes up to the next chunk.
    fn room(&self, i: u64, offset: u64) -> u64 {
        self.start(i.saturating_add(1)).unwrap_or(self.size).saturating_sub(offset)
    }

    /// Reads chunk `i` with its digest, which is not checked yet.
    pub fn read(&self, i: u64) -> Result<Stored, Error> {
        let (offset, len) = self.extent(i)?;
        let (room, checksum) = (self.room(i, offset), self.header.checksum);
        let digest_len = checksum.digest_len();
        let plain = self.plain(i);
        let plain = plain.end.saturating_sub(plain.start);
        let mut bytes = Vec::new();
        resize(&mut bytes, len)?;
        self.source.read_exact_at(offset, &mut bytes)?;
        let head = bytes.first_chunk::<16>().ok_or(IoKind::UnexpectedEnd)?;
        let sizes = Sizes::parse(head, offset, room)?;
        if u64::from(sizes.nbytes) != plain {
            return Err(Error::Invalid {
                structure: Structure::BloscpackChunk,
                field: "nbytes",
                offset: offset.saturating_add(4),
                value: sizes.nbytes.into(),
            });
        }
        let total = u64::from(sizes.ctbytes).saturating_add(digest_len as u64);
        if total > room {
            return Err(truncated_digest(offset.saturating_add(sizes.ctbytes.into()), digest_len as u64));
        }
        let have = bytes.len();
        resize(&mut bytes, total)?;
        if let Some(rest) = bytes.get_mut(have..) {
            self.source.read_exact_at(offset.saturating_add(have as u64), rest)?;
        }
        Ok(Stored { bytes, offset, i, checksum, limits: self.limits.chunk })
    }
}

impl Plain for View<'_> {
    fn nbytes(&self) -> u64 {
        self.index.nbytes
    }

    fn read_plain(&self, pool: &mut Pool, mut at: u64, mut out: &mut [u8]) -> Result<(), Error> {
        check_range(at, out.len(), self.index.nbytes)?;
        let (mut next, mut ahead) = (self.index.holding(at, self.chunk_size()), Ahead::new());
        let (all, last) = (out.len(), at.saturating_add((out.len() as u64).saturating_sub(1)));
        let end = self.index.holding(last, self.chunk_size()).saturating_add(1);
        let parts = core::iter::from_fn(|| {
            while !out.is_empty() {
                let (i, plain) = (next, self.plain(next));
                let skip = usize::try_from(at.saturating_sub(plain.start)).unwrap_or(usize::MAX);
                let n = usize::try_from(plain.end.saturating_sub(at)).unwrap_or(usize::MAX).min(out.len());
                let (now, rest) = core::mem::take(&mut out).split_at_mut_checked(n)?;
                (out, at, next) = (rest, at.saturating_add(n as u64), i.saturating_add(1));
                // A chunk may be empty, but the last is not followed by another.
                if n > 0 || i >= self.nchunks() {
                    let stored = self.read_with(&mut ahead, i, end);
                    return Some(stored.map(|stored| (stored, skip..skip.saturating_add(n), now)));
                }
            }
            None
        });
        // Chunks of any size may be large: they come one at a time.
        let chunk = self.header.chunk_size.map_or(u64::MAX, u64::from);
        side_by_side(pool, (all, chunk), parts, |pool, (stored, range, now)| stored.decode(pool, range, now))
    }

    fn chunk_nbytes(&self) -> u64 {
        match self.chunk_size() {
            0 => 1 << 20,
            n => n,
        }
    }
}

type Meta = (Option<MetaHeader>, Option<Value>, u64);

/// Reads the metadata of either kind; returns where the offsets table starts too.
fn read_metadata<R: ReadAt>(source: &R, size: u64, header: &Header) -> Result<Meta, Error> {
    let limits = TextLimits::JSON;
    let start = header.layout.header_len() as u64;
    if header.layout == Layout::Mono {
        let mut text = Vec::new();
        check_text(header.meta_size.into(), &limits)?;
        resize(&mut text, header.meta_size)?;
        source.read_exact_at(start, &mut text)?;
        let value = metadata::parse(&text, start, &limits)?;
        return Ok((None, Some(value), start.saturating_add(header.meta_size.into())));
    }
    if !header.metadata {
        return Ok((None, None, start));
    }
    let truncated = |field, offset, needed| Error::Truncated {
        structure: Structure::BloscpackMetadata,
        field,
        offset,
        needed,
    };
    let mut head = [0u8; HEADER_LEN];
    let text_at = start.saturating_add(HEADER_LEN as u64);
    if text_at > size {
        return Err(truncated("metadata header", start, HEADER_LEN as u64));
    }
    source.read_exact_at(start, &mut head)?;
    let meta = MetaHeader::parse(&head, start)?;
    let end = start.saturating_add(meta.section_len());
    if end > size {
        return Err(truncated("metadata", text_at, meta.section_len()));
    }
    check_text(meta.comp_size.into(), &limits)?;
    let mut stored = Vec::new();
    resize(&mut stored, meta.comp_size)?;
    source.read_exact_at(text_at, &mut stored)?;
    let mut digest = [0u8; 64];
    let digest = digest.get_mut(..meta.checksum.digest_len()).unwrap_or_default();
    source.read_exact_at(text_at.saturating_add(meta.max_size.into()), digest)?;
    let value = meta.read(&stored, digest, text_at, &limits)?;
    Ok((Some(meta), Some(value), end))
}

fn check_text(len: u64, limits: &TextLimits) -> Result<(), Error> {
    within("bytes of metadata", len, limits.bytes as u64)
}
