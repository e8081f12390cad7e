//! A whole frame in memory or memory-mapped flash, read without an allocator.
//!
//! ```
//! # use blosc_frame::{SuperChunk, Limits};
//! # let mut writer = SuperChunk::memory(&blosc_core::Params::new(4))?;
//! # writer.set_metalayer("m", &[0x92, 1, 2])?;
//! # writer.append(&[7; 4000])?;
//! # let flash = writer.into_bytes()?;
//! use blosc_core::{Decoder, Level};
//! use blosc_frame::cframe::view::View;
//!
//! let view = View::open(&flash, &Limits::DEFAULT)?;
//! assert_eq!(view.metalayers().get("m"), Some(&[0x92, 1, 2][..]));
//! let mut work = [0; 32768];
//! let mut out = [0; 4000];
//! for k in 0..view.nchunks() {
//!     let n = view.decode_chunk(k, Level::SCALAR, &mut work, &mut out)?;
//!     assert_eq!(out[..n], [7; 4000][..n]);
//! }
//! # Ok::<(), blosc_frame::Error>(())
//! ```
#![deny(clippy::indexing_slicing, clippy::arithmetic_side_effects)]

use super::checksums::{self, CHECKSUMS_NAME, Parsed, Table};
use super::header::{ChunkSize, FIXED_LEN, FrameType, Header};
use super::index::{self, Entry};
use super::section::Section;
use super::trailer::{self, FINGERPRINT_XXH3, TAIL_LEN, Tail};
use crate::error::{Error, Structure, destination};
use crate::limits::Limits;
use blosc_core::{Chunk, Decoder, Level, Special};
use core::ops::Range;

/// An opened frame. Opening checks header, metalayers, trailer and the index chunk's header;
/// entries and chunks are checked when they are read.
#[derive(Clone, Copy, Debug)]
pub struct View<'a> {
    /// The frame, or its header alone.
    frame: &'a [u8],
    head: &'a [u8],
    trailer: &'a [u8],
    tail: Tail,
    header: Header,
    metalayers: Section<'a>,
    vlmetalayers: Section<'a>,
    index: Option<Chunk<'a>>,
    nchunks: u64,
    pub(super) limits: Limits,
    /// Where it is verified.
    table: Option<Table<'a>>,
}

/// A chunk of a [`View`].
#[derive(Clone, Copy, Debug)]
pub enum ViewChunk<'a> {
    /// Stored bytes.
    Stored(Chunk<'a>),
    /// A special chunk of this many bytes, which has no stored bytes.
    Special(Special, usize),
}

impl<'a> View<'a> {
    /// Opens the frame at the start of `bytes`; bytes after it are ignored.
    ///
    /// # Errors
    /// As [`open_at`](super::open_at).
    pub fn open(bytes: &'a [u8], limits: &Limits) -> Result<View<'a>, Error> {
        let header = contiguous(bytes)?;
        let frame = usize::try_from(header.frame_len).ok().and_then(|len| bytes.get(..len));
        let short = Error::truncated(Structure::FrameHeader, "frame_len", 0x0f, header.frame_len);
        let frame = frame.ok_or(short)?;
        let rest = usize::try_from(header.index_at()?).ok().and_then(|at| frame.get(at..));
        View::assemble(header, frame, frame, rest.unwrap_or(&[]), limits)
    }

    /// Opens a frame whose chunks are not at hand: `head` is its header with all metalayers, and `rest` what lies after the
    /// chunks, from [`Header::index_at`] to the frame's end. Its chunks are [pushed](View::push_chunk).
    ///
    /// # Errors
    /// As [`View::open`], and [`Error::Truncated`] where a part is shorter than the header says.
    pub fn open_apart(head: &'a [u8], rest: &'a [u8], limits: &Limits) -> Result<View<'a>, Error> {
        let header = contiguous(head)?;
        let at = header.index_at()?;
        let len = header.frame_len.saturating_sub(at);
        if rest.len() as u64 != len {
            return Err(Error::truncated(Structure::Index, "index and trailer", at, len));
        }
        let head = head.get(..header.header_len as usize).unwrap_or(head);
        View::assemble(header, head, rest, rest, limits)
    }

    /// `frame` is what there is from the frame's start on, `end` something with its last bytes, `rest` what lies after the chunks.
    fn assemble(
        header: Header,
        frame: &'a [u8],
        end: &'a [u8],
        rest: &'a [u8],
        limits: &Limits,
    ) -> Result<View<'a>, Error> {
        let head = frame.get(..header.header_len as usize).unwrap_or(frame);
        let metalayers = Section::parse(head, FIXED_LEN, Structure::Metalayers)?;
        let tail_at = header.frame_len.saturating_sub(TAIL_LEN as u64);
        let short = Error::truncated(Structure::Trailer, "tail", tail_at, TAIL_LEN as u64);
        let tail = Tail::parse(end.last_chunk().ok_or(short)?, tail_at, header.header_len)?;
        let (at, trailer_at) = tail.index_and_trailer(&header)?;
        // Both are inside the frame, and `rest` is what it has from `at` on.
        let (index, trailer) =
            rest.split_at_checked(trailer_at.saturating_sub(at) as usize).unwrap_or_default();
        let vlmetalayers = trailer::parse(trailer)?;
        let (index_bytes, limits) = (index, *limits);
        let mut view = View {
            frame,
            head,
            trailer,
            tail,
            header,
            metalayers,
            vlmetalayers,
            index: None,
            nchunks: 0,
            limits,
            table: None,
        };
        if header.nbytes > 0 {
            let chunk_limits = limits.chunk.output(u64::MAX);
            let index = Chunk::parse_with(index_bytes, &chunk_limits);
            let index = index.map_err(Error::in_chunk(None, at))?;
            view.nchunks = index::check_header(index.header(), header.nchunks(), at)?;
            view.index = Some(index);
        }
        Ok(view)
    }

    /// Compares the frame with its fingerprint, and from then on each chunk with its checksum before anything of it is decoded
    /// (pushed ones: before they are done). Takes no memory. Frames written by this library have both, unless another program has changed
    /// them since.
    ///
    /// # Errors
    /// `Unsupported` for a frame without checksums in force, [`Error::Checksum`] with what differs.
    ///
    /// ```
    /// # use blosc_frame::{SuperChunk, Limits, Error};
    /// # let mut writer = SuperChunk::memory(&blosc_core::Params::new(4))?;
    /// # writer.append(&[7; 4000])?;
    /// # let flash = writer.into_bytes()?;
    /// # use blosc_frame::cframe::view::View;
    /// # use blosc_core::Level;
    /// let view = View::open(&flash, &Limits::DEFAULT)?.verified()?;
    /// let (mut work, mut out) = ([0; 32768], [0; 4000]);
    /// view.decode_chunk(0, Level::SCALAR, &mut work, &mut out)?;
    ///
    /// let mut flipped = flash.clone();
    /// flipped[view.header().header_len as usize + 40] ^= 1;         // one bit of the chunk
    /// let view = View::open(&flipped, &Limits::DEFAULT)?.verified()?;
    /// let error = view.decode_chunk(0, Level::SCALAR, &mut work, &mut out).unwrap_err();
    /// assert!(matches!(error, Error::Checksum { chunk: Some(0), .. }));
    /// # Ok::<(), blosc_frame::Error>(())
    /// ```
    pub fn verified(mut self) -> Result<View<'a>, Error> {
        let unsupported = |what| Err(Error::Unsupported { structure: Structure::Checksums, what });
        let trailer_at = self.header.frame_len.saturating_sub(self.trailer.len() as u64);
        let damaged = |structure, offset| Err(Error::Checksum { structure, chunk: None, offset });
        let Some(content) = self.vlmetalayers.get(CHECKSUMS_NAME) else {
            return unsupported("a frame without checksums");
        };
        if self.tail.fingerprint_type != FINGERPRINT_XXH3 {
            return unsupported("a frame that another program has changed since its checksums were written");
        }
        let index = self.index.map_or(&[][..], |index| index.bytes());
        if checksums::fingerprint(self.head, index, self.trailer) != self.tail.fingerprint {
            return damaged(Structure::Trailer, trailer_at);
        }
        let chunk = Chunk::parse(content).map_err(Error::in_chunk(None, trailer_at))?;
        if !chunk.header().is_stored() {
            return unsupported("a table of checksums that is compressed");
        }
        let table = match Table::parse(chunk.bytes().get(chunk.header().header_len()..).unwrap_or(&[])) {
            Some(Parsed::Table(table)) => table,
            Some(Parsed::UnknownForm) => {
                return unsupported("a table of this form (a later version wrote it)");
            }
            None => return damaged(Structure::Checksums, trailer_at),
        };
        // Another program that changes a metalayer writes its thread hints beside it.
        let metalayers = checksums::of(self.head.get(FIXED_LEN..).unwrap_or(&[]));
        if self.header.threads == [0, 0] && table.metalayers != metalayers {
            return damaged(Structure::Metalayers, FIXED_LEN as u64);
        }
        self.table = Some(table);
        Ok(self)
    }

    /// The checksum that stored chunk `k` must have; `None` where nothing is compared. Where the frame has special chunks, counts
    /// those before it.
    pub(super) fn sum(&self, k: u64, level: Level, work: &mut [u8]) -> Result<Option<u64>, Error> {
        let Some(table) = self.table else { return Ok(None) };
        let mut n = k;
        if table.len() != self.nchunks {
            n = 0;
            for before in 0..k {
                n = n.saturating_add(matches!(self.entry(before, level, work)?, Entry::Stored(_)).into());
            }
        }
        let unknown =
            Error::Unsupported { structure: Structure::Checksums, what: "a chunk without a checksum" };
        table.sum(n).map(Some).ok_or(unknown)
    }

    /// The fixed part of the header.
    pub fn header(&self) -> &Header {
        &self.header
    }
    /// Number of chunks.
    pub fn nchunks(&self) -> u64 {
        self.nchunks
    }
    /// The metalayers.
    pub fn metalayers(&self) -> Section<'a> {
        self.metalayers
    }
    /// The variable-length metalayers; each content is a chunk to decode.
    pub fn vlmetalayers(&self) -> Section<'a> {
        self.vlmetalayers
    }

    /// Scratch bytes needed to read the index; each chunk needs its own [`Decoder::work_len`].
    pub fn index_work_len(&self) -> usize {
        self.index.map_or(0, |index| Decoder::work_len(&index))
    }

    /// Entry `k` of the index. Decodes the one block of the index it lies in.
    ///
    /// # Errors
    /// [`Error::OutOfRange`]; [`Error::Chunk`] and [`Error::Invalid`] for a damaged index; [`Error::OutputTooSmall`] for too little scratch.
    pub fn entry(&self, k: u64, level: Level, work: &mut [u8]) -> Result<Entry, Error> {
        let at = self.header.index_at()?;
        let (Some(index), true) = (self.index, k < self.nchunks) else {
            return Err(Error::out_of_range("chunk", k, self.nchunks));
        };
        // Below 2^31: the index has at most 2^28 - 1 entries.
        let start = (k as usize).saturating_mul(8);
        let mut raw = [0; 8];
        Decoder::new(level, work)
            .get_bytes(&index, start..start.saturating_add(8), &mut raw[..])
            .map_err(Error::in_chunk(None, at))?;
        index::check_entry(i64::from_le_bytes(raw), at, Some(self.header.cbytes))
    }

    /// Chunk `k`, checked.
    ///
    /// # Errors
    /// As [`View::entry`], and [`Error::Checksum`], [`Error::Chunk`] or [`Error::Truncated`] for a damaged chunk.
    pub fn chunk(&self, k: u64, level: Level, work: &mut [u8]) -> Result<ViewChunk<'a>, Error> {
        Ok(self.located(k, level, work)?.0)
    }

    /// Chunk `k`, and where it starts in the frame if it is stored.
    fn located(&self, k: u64, level: Level, work: &mut [u8]) -> Result<(ViewChunk<'a>, u64), Error> {
        let offset = match self.entry(k, level, work)? {
            Entry::Stored(offset) => offset,
            Entry::Special(kind) => return Ok((ViewChunk::Special(kind, self.special_len(k)?), 0)),
        };
        let at = offset.saturating_add(u64::from(self.header.header_len));
        let end = self.header.index_at()?;
        let bytes = match (usize::try_from(at), usize::try_from(end)) {
            (Ok(at), Ok(end)) => self.frame.get(at..end).unwrap_or(&[]),
            _ => &[],
        };
        if let Some(sum) = self.sum(k, level, work)? {
            let cbytes = blosc_core::Header::parse(bytes).map_or(0, |header| header.cbytes as usize);
            if bytes.get(..cbytes).is_none_or(|stored| checksums::of(stored) != sum) {
                return Err(Error::Checksum { structure: Structure::Chunk, chunk: Some(k), offset: at });
            }
        }
        let chunk = Chunk::parse_with(bytes, &self.limits.chunk).map_err(Error::in_chunk(Some(k), at))?;
        Ok((ViewChunk::Stored(chunk), at))
    }

    pub(super) fn special_len(&self, k: u64) -> Result<usize, Error> {
        let ChunkSize::Fixed(c) = self.header.chunksize else { return Err(index::SIZE_LOST) };
        let rest = self.header.nbytes.saturating_sub(k.saturating_mul(u64::from(c)));
        let len = u64::from(c).min(rest);
        self.limits.check_chunk(len)?;
        usize::try_from(len).map_err(|_| Error::OutOfMemory)
    }

    /// Decodes all of chunk `k` into the start of `out`; returns its size.
    ///
    /// # Errors
    /// As [`View::chunk`], and [`Error::OutputTooSmall`].
    pub fn decode_chunk(
        &self,
        k: u64,
        level: Level,
        work: &mut [u8],
        out: &mut [u8],
    ) -> Result<usize, Error> {
        match self.located(k, level, work)? {
            (ViewChunk::Stored(chunk), at) => {
                Decoder::new(level, work).decode(&chunk, out).map_err(Error::in_chunk(Some(k), at))
            }
            (ViewChunk::Special(kind, len), _) => {
                fill_special(kind, self.header.typesize, 0, destination(out, len)?)?;
                Ok(len)
            }
        }
    }

    /// Decodes items `range` of chunk `k` (items of the frame's typesize); returns the bytes written.
    ///
    /// # Errors
    /// As [`View::decode_chunk`], and [`Error::OutOfRange`] for items that the chunk has not.
    pub fn decode_items(
        &self,
        k: u64,
        range: Range<usize>,
        level: Level,
        work: &mut [u8],
        out: &mut [u8],
    ) -> Result<usize, Error> {
        let typesize = self.header.typesize as usize;
        // What is above all memory is out of range, too.
        let range = range.start.saturating_mul(typesize)..range.end.saturating_mul(typesize);
        match self.located(k, level, work)? {
            (ViewChunk::Stored(chunk), at) => {
                Decoder::new(level, work).get_bytes(&chunk, range, out).map_err(Error::in_chunk(Some(k), at))
            }
            (ViewChunk::Special(_, len), _) if range.end > len => {
                Err(Error::out_of_range("byte", range.end as u64, len as u64))
            }
            (ViewChunk::Special(kind, _), _) => {
                fill_special(kind, self.header.typesize, range.start, destination(out, range.len())?)?;
                Ok(range.len())
            }
        }
    }
}

/// The header at the start of `bytes`, of a frame in one file.
fn contiguous(bytes: &[u8]) -> Result<Header, Error> {
    let short = Error::truncated(Structure::FrameHeader, "header", 0, FIXED_LEN as u64);
    let header = Header::parse(bytes.first_chunk::<FIXED_LEN>().ok_or(short)?)?;
    if header.frame_type != FrameType::Contiguous {
        return Err(Error::Unsupported { structure: Structure::FrameHeader, what: "a sparse frame's index" });
    }
    Ok(header)
}

/// The NaN of special chunks, where items can be one.
pub(crate) const fn nan(typesize: u32) -> Option<&'static [u8]> {
    const NAN4: [u8; 4] = 0x7fc0_0000_u32.to_le_bytes();
    const NAN8: [u8; 8] = 0x7ff8_0000_0000_0000_u64.to_le_bytes();
    match typesize {
        4 => Some(&NAN4),
        8 => Some(&NAN8),
        _ => None,
    }
}

/// Fills `out` with the bytes of a special chunk from byte `start` of it on. Chunks that were never
/// written read as zeros.
pub(crate) fn fill_special(kind: Special, typesize: u32, start: usize, out: &mut [u8]) -> Result<(), Error> {
    if matches!(kind, Special::Zeros | Special::Uninit) {
        out.fill(0);
        return Ok(());
    }
    let pattern = nan(typesize).filter(|_| kind == Special::Nan).ok_or(Error::Unsupported {
        structure: Structure::Index,
        what: "NaN of a typesize other than 4 or 8",
    })?;
    let mut word = [0; 8];
    word.iter_mut().zip(pattern.iter().cycle()).for_each(|(to, from)| *to = *from);
    word.rotate_left(start % 8);
    let (words, rest) = out.as_chunks_mut::<8>();
    words.fill(word);
    rest.iter_mut().zip(word).for_each(|(to, from)| *to = from);
    Ok(())
}
