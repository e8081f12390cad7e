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

use super::header::{ChunkSize, FIXED_LEN, FrameType, Header};
use super::index::{self, Entry};
use super::section::Section;
use super::trailer::{self, TAIL_LEN, Tail};
use crate::error::{Error, Structure, destination};
use crate::limits::Limits;
use blosc_core::{Chunk, Decoder, Level, Special};
use core::ops::Range;

/// An opened frame. Opening checks header, metalayers, trailer and the index chunk's header;
/// entries and chunks are checked when they are read.
#[derive(Clone, Copy, Debug)]
pub struct View<'a> {
    frame: &'a [u8],
    header: Header,
    metalayers: Section<'a>,
    vlmetalayers: Section<'a>,
    index: Option<Chunk<'a>>,
    nchunks: u64,
    limits: Limits,
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
    pub fn open(bytes: &'a [u8], limits: &Limits) -> Result<View<'a>, Error> {
        let short = Error::truncated;
        let fixed = bytes.first_chunk::<FIXED_LEN>().ok_or(short(Structure::FrameHeader, "header", 0, 87))?;
        let header = Header::parse(fixed)?;
        if header.frame_type != FrameType::Contiguous {
            return Err(Error::Unsupported {
                structure: Structure::FrameHeader,
                what: "a sparse frame's index",
            });
        }
        let frame = usize::try_from(header.frame_len).ok().and_then(|len| bytes.get(..len));
        let frame = frame.ok_or(short(Structure::FrameHeader, "frame_len", 0x0f, header.frame_len))?;
        let head = frame.get(..header.header_len as usize).unwrap_or(&[]);
        let metalayers = Section::parse(head, FIXED_LEN, Structure::Metalayers)?;
        let tail_at = header.frame_len.saturating_sub(TAIL_LEN as u64);
        let tail = frame.last_chunk().ok_or(short(Structure::Trailer, "tail", tail_at, TAIL_LEN as u64))?;
        let tail = Tail::parse(tail, tail_at, header.header_len)?;
        let (at, trailer_at) = tail.index_and_trailer(&header)?;
        // Both are inside the frame, which lies in memory.
        let (from, to) = (at as usize, trailer_at as usize);
        let vlmetalayers = trailer::parse(frame.get(to..).unwrap_or(&[]))?;
        let mut view =
            View { frame, header, metalayers, vlmetalayers, index: None, nchunks: 0, limits: *limits };
        if header.nbytes > 0 {
            let chunk_limits = limits.chunk.output(u64::MAX);
            let index = Chunk::parse_with(frame.get(from..to).unwrap_or(&[]), &chunk_limits);
            let index = index.map_err(Error::in_chunk(None, at))?;
            view.nchunks = index::check_header(index.header(), header.nchunks(), at)?;
            view.index = Some(index);
        }
        Ok(view)
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
        let chunk = Chunk::parse_with(bytes, &self.limits.chunk).map_err(Error::in_chunk(Some(k), at))?;
        Ok((ViewChunk::Stored(chunk), at))
    }

    fn special_len(&self, k: u64) -> Result<usize, Error> {
        let ChunkSize::Fixed(c) = self.header.chunksize else { return Err(index::SIZE_LOST) };
        let rest = self.header.nbytes.saturating_sub(k.saturating_mul(u64::from(c)));
        let len = u64::from(c).min(rest);
        self.limits.check_chunk(len)?;
        usize::try_from(len).map_err(|_| Error::OutOfMemory)
    }

    /// Decodes all of chunk `k` into the start of `out`; returns its size.
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
