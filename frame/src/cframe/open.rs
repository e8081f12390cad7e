//! Opening a frame without doing any input: the caller is told which bytes are needed next
//! (docs/formats/cframe.md §7).
//!
//! ```text
//! 87 bytes at 0                -> Header: magic, markers, version, lengths
//! H - 87 bytes at 87           -> metalayers, checked
//! 23 bytes at F - 23           -> T
//! F - index bytes at index     -> index chunk and trailer, which lie side by side
//! ```
//! Lengths are only what the file says of itself, and one with holes costs nothing to make as long as that: they are
//! held to the limits, and what is long is read in pieces, the first of which tell whether the rest is wanted.

use super::checksums::CHECKSUMS_NAME;
use super::header::{FIXED_LEN, FrameType, Header};
use super::index;
use super::section::Section;
use super::trailer::{self, TAIL_LEN, Tail};
use crate::error::{Error, Structure};
use crate::io::{Pieces, ReadAt};
use crate::limits::{Limits, resize, within};
use alloc::vec::Vec;

/// Most that is asked for at once.
const PIECE: u64 = 1 << 20;
/// What a source that is far is asked for first, of each end: most frames have no more before and after their chunks.
const ENDS: u64 = 64 << 10;
/// And what it is asked for from the index on, if that is not all there: behind it lies nothing but the trailer.
const REST: u64 = 16 << 20;
/// Bytes by which an index chunk may be longer than what it decodes to; writers take 32.
const INDEX_SLACK: u64 = 1 << 16;
/// Bytes that a table of checksums may take beside the checksums themselves.
const TABLE_SLACK: u64 = 1 << 10;

/// What a sans-IO reader asks for, or its result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step<T> {
    /// Call again with these bytes of the frame.
    Need {
        /// Where they start, from the start of the frame.
        offset: u64,
        /// How many.
        len: usize,
    },
    /// The result.
    Done(T),
}

/// Everything about a frame that is not chunks.
#[derive(Clone, Debug)]
pub struct Opened {
    /// The fixed part of the header.
    pub header: Header,
    /// The header's bytes, metalayers included: `header_len` of them.
    pub head: Vec<u8>,
    /// The tail of the trailer.
    pub tail: Tail,
    /// The index chunk's bytes; empty when there are no chunks.
    pub index: Vec<u8>,
    /// The trailer's bytes.
    pub trailer: Vec<u8>,
    /// Number of chunks.
    pub nchunks: u64,
}

/// What has been read so far.
#[derive(Clone, Debug)]
enum State {
    Start,
    /// Bytes of the header that have been read.
    Head(Vec<u8>),
    /// The header.
    Tail(Header, Vec<u8>),
    Rest(Rest),
}

/// What lies between the chunks and the end of the frame, as far as it has been read.
#[derive(Clone, Debug)]
struct Rest {
    opened: Opened,
    /// Where the next piece starts.
    at: u64,
    /// Where the index chunk ends; the trailer's start until its header has been read.
    index_end: u64,
    trailer_at: u64,
}

/// The state machine that opens a frame.
///
/// ```
/// use blosc_frame::cframe::{Opener, Step, header::FrameType};
/// use blosc_frame::Limits;
/// # let mut writer = blosc_frame::SuperChunk::memory(&blosc_core::Params::new(4))?;
/// # writer.append_data(&[1; 400])?;
/// # writer.append_data(&[2; 400])?;
/// # let frame = writer.into_bytes()?;
/// // Any source of bytes will do; here it is a slice.
/// let mut opener = Opener::new(frame.len() as u64, FrameType::Contiguous, Limits::DEFAULT);
/// let mut bytes: &[u8] = &[];
/// let opened = loop {
///     match opener.step(bytes)? {
///         Step::Need { offset, len } => bytes = &frame[offset as usize..][..len],
///         Step::Done(opened) => break opened,
///     }
/// };
/// assert_eq!(opened.nchunks, 2);
/// # Ok::<(), blosc_frame::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Opener {
    size: u64,
    expected: FrameType,
    limits: Limits,
    state: State,
}

impl Opener {
    /// Opens a frame in a source of `size` bytes; bytes after the frame are ignored.
    pub fn new(size: u64, expected: FrameType, limits: Limits) -> Opener {
        Opener { size, expected, limits, state: State::Start }
    }

    /// Takes the bytes last asked for (none at first) and tells what is needed next.
    ///
    /// # Errors
    /// [`Error::Invalid`], [`Error::Truncated`] and [`Error::Checksum`] with structure and offset; [`Error::Limit`].
    pub fn step(&mut self, bytes: &[u8]) -> Result<Step<Opened>, Error> {
        match core::mem::replace(&mut self.state, State::Start) {
            State::Start if self.size < FIXED_LEN as u64 => {
                Err(Error::truncated(Structure::FrameHeader, "header", 0, FIXED_LEN as u64))
            }
            State::Start => {
                self.state = State::Head(Vec::new());
                Ok(Step::Need { offset: 0, len: FIXED_LEN })
            }
            State::Head(head) => self.head(head, bytes),
            State::Tail(header, head) => self.tail(header, head, bytes),
            State::Rest(rest) => self.rest(rest, bytes),
        }
    }

    fn head(&mut self, mut head: Vec<u8>, bytes: &[u8]) -> Result<Step<Opened>, Error> {
        head.try_reserve(bytes.len()).map_err(|_| Error::OutOfMemory)?;
        head.extend_from_slice(bytes);
        let fixed = head.first_chunk().ok_or(Error::truncated(Structure::FrameHeader, "header", 0, 87))?;
        let header = Header::parse(fixed)?;
        if header.frame_type != self.expected {
            let found = header.frame_type as i64;
            return Err(Error::invalid(Structure::FrameHeader, "frame_type", 0x1a, found));
        }
        if header.frame_len > self.size {
            return Err(Error::truncated(Structure::FrameHeader, "frame_len", 0x0f, header.frame_len));
        }
        within("chunks", header.nchunks().unwrap_or(0), self.limits.chunks)?;
        let (have, all) = (head.len() as u64, u64::from(header.header_len));
        within("bytes of the frame's header", all, self.limits.metalayers.max(FIXED_LEN as u64))?;
        if have < all && !bytes.is_empty() {
            self.state = State::Head(head);
            return Ok(piece(have, all));
        }
        if have != all {
            return Err(Error::truncated(Structure::Metalayers, "metalayers", 0x57, all));
        }
        check_sizes(&Section::parse(&head, FIXED_LEN, Structure::Metalayers)?, &self.limits, 0)?;
        self.state = State::Tail(header, head);
        // The header check made frame_len at least 132.
        Ok(Step::Need { offset: header.frame_len.saturating_sub(TAIL_LEN as u64), len: TAIL_LEN })
    }

    fn tail(&mut self, header: Header, head: Vec<u8>, bytes: &[u8]) -> Result<Step<Opened>, Error> {
        let at = header.frame_len.saturating_sub(TAIL_LEN as u64);
        let bytes =
            bytes.first_chunk().ok_or(Error::truncated(Structure::Trailer, "tail", at, TAIL_LEN as u64))?;
        let tail = Tail::parse(bytes, at, header.header_len)?;
        let (from, trailer_at) = tail.index_and_trailer(&header)?;
        let opened = Opened { header, head, tail, index: Vec::new(), trailer: Vec::new(), nchunks: 0 };
        self.state = State::Rest(Rest { opened, at: from, index_end: trailer_at, trailer_at });
        Ok(piece(from, header.frame_len))
    }

    fn rest(&mut self, mut rest: Rest, bytes: &[u8]) -> Result<Step<Opened>, Error> {
        let (header, tail) = (rest.opened.header, rest.opened.tail);
        if bytes.is_empty() {
            let needed = u64::from(tail.trailer_len);
            return Err(Error::truncated(Structure::Trailer, "trailer", rest.trailer_at, needed));
        }
        if rest.opened.index.is_empty() && rest.opened.trailer.is_empty() {
            if header.nbytes != 0 {
                let index_at = rest.at;
                let (nchunks, cbytes) = self.check_index(&header, bytes, rest.trailer_at)?;
                (rest.opened.nchunks, rest.index_end) = (nchunks, index_at.saturating_add(cbytes));
            }
            let (asked, table) = (u64::from(tail.trailer_len), table_most(rest.opened.nchunks));
            let limit = self.limits.metalayers.saturating_add(table);
            within("bytes of the frame's trailer", asked, limit)?;
        }
        let part = |from: u64, to: u64| {
            let place =
                |at: u64| usize::try_from(at.saturating_sub(rest.at)).unwrap_or(usize::MAX).min(bytes.len());
            bytes.get(place(from)..place(to)).unwrap_or(&[])
        };
        let (index, trailer) = (part(rest.at, rest.index_end), part(rest.trailer_at, header.frame_len));
        if rest.opened.trailer.is_empty() && !trailer.is_empty() {
            trailer::check_start(trailer)?;
        }
        append(&mut rest.opened.index, index, rest.index_end.saturating_sub(rest.at))?;
        append(
            &mut rest.opened.trailer,
            trailer,
            header.frame_len.saturating_sub(rest.at.max(rest.trailer_at)),
        )?;
        rest.at = rest.at.saturating_add(bytes.len() as u64);
        // Bytes between the two are none of either.
        if rest.at >= rest.index_end {
            rest.at = rest.at.max(rest.trailer_at);
        }
        if rest.at < header.frame_len {
            let side_by_side = rest.index_end == rest.trailer_at || rest.at >= rest.trailer_at;
            let next = piece(rest.at, if side_by_side { header.frame_len } else { rest.index_end });
            self.state = State::Rest(rest);
            return Ok(next);
        }
        check_sizes(&trailer::parse(&rest.opened.trailer)?, &self.limits, table_most(rest.opened.nchunks))?;
        Ok(Step::Done(rest.opened))
    }

    /// Checks the header of the index chunk, the first bytes of which `index` are; gives the number of chunks and
    /// the length of the index.
    fn check_index(&self, header: &Header, index: &[u8], trailer_at: u64) -> Result<(u64, u64), Error> {
        let at = header.index_at()?;
        let room = trailer_at.saturating_sub(at);
        let index = index.get(..usize::try_from(room).unwrap_or(usize::MAX)).unwrap_or(index);
        let chunk = blosc_core::Header::parse(index).map_err(Error::in_chunk(None, at))?;
        let nchunks = index::check_header(&chunk, header.nchunks(), at)?;
        let cbytes = u64::from(chunk.cbytes);
        if cbytes > room {
            return Err(Error::truncated(Structure::Index, "cbytes", at, cbytes));
        }
        if cbytes > nchunks.saturating_mul(8).saturating_add(INDEX_SLACK) {
            return Err(Error::invalid(Structure::Index, "cbytes", at.saturating_add(12), cbytes as i64));
        }
        within("chunks", nchunks, self.limits.chunks)?;
        // Special chunks are kept as they are and need no memory; others may expand a little.
        let decoded = nchunks.saturating_mul(8);
        let allowed = cbytes.saturating_mul(self.limits.index_expansion).max(1 << 20);
        if chunk.special().is_none() {
            within("bytes of the index", decoded, allowed)?;
        }
        Ok((nchunks, cbytes))
    }
}

/// Asks for what lies from `at` on, `end` at most.
fn piece(at: u64, end: u64) -> Step<Opened> {
    Step::Need { offset: at, len: end.saturating_sub(at).min(PIECE) as usize }
}

/// Appends a piece of what is still `left` to come, which is within the limits; room that is not written to yet takes
/// no memory.
fn append(buf: &mut Vec<u8>, bytes: &[u8], left: u64) -> Result<(), Error> {
    if !bytes.is_empty() {
        let room = usize::try_from(left).map_err(|_| Error::OutOfMemory)?;
        buf.try_reserve_exact(room).map_err(|_| Error::OutOfMemory)?;
    }
    buf.extend_from_slice(bytes);
    Ok(())
}

/// Most bytes of a table of checksums for this many chunks.
fn table_most(nchunks: u64) -> u64 {
    nchunks.saturating_mul(8).saturating_add(TABLE_SLACK)
}

/// Holds the entries of a section to the limits; the table of checksums may take `table` bytes.
fn check_sizes(section: &Section<'_>, limits: &Limits, table: u64) -> Result<(), Error> {
    // Contents may lie over each other, and each becomes a copy of its own.
    let (mut all, most) = (0u64, limits.metalayers.saturating_add(table));
    for entry in section.iter() {
        let asked = entry.content.len() as u64;
        let limit = match entry.name == CHECKSUMS_NAME.as_bytes() {
            true => limits.metalayer.max(table),
            false => limits.metalayer,
        };
        within("metalayer bytes", asked, limit)?;
        all = all.saturating_add(asked);
    }
    within("bytes of all metalayers", all, most)
}

/// Runs an [`Opener`] over a source. One that [is far](ReadAt::is_far) is asked for both ends at once, and again only
/// where more lies there than the first answer holds.
///
/// # Errors
/// As [`Opener::step`], and errors of the source.
pub fn open_at(
    source: &(impl ReadAt + ?Sized),
    expected: FrameType,
    limits: &Limits,
) -> Result<Opened, Error> {
    let (size, far) = (source.size()?, source.is_far());
    let mut ends = Pieces::new(size);
    if far {
        ends.want(0..ENDS);
        ends.want(size.saturating_sub(ENDS)..size);
        let missed = ends.missed(0);
        ends.fetch(source, &missed)?;
    }
    let mut opener = Opener::new(size, expected, *limits);
    let mut bytes = Vec::new();
    loop {
        match opener.step(&bytes)? {
            Step::Need { offset, len } => {
                // What is there already is read over.
                bytes.truncate(len);
                resize(&mut bytes, len)?;
                if !far {
                    source.read_exact_at(offset, &mut bytes)?;
                } else if ends.read_exact_at(offset, &mut bytes).is_err() {
                    let more = if offset < ENDS { 0 } else { REST };
                    ends.want(offset..offset.saturating_add(more.max(len as u64)));
                    let missed = ends.missed(ENDS);
                    ends.fetch(source, &missed)?;
                    ends.read_exact_at(offset, &mut bytes)?;
                }
            }
            Step::Done(opened) => return Ok(opened),
        }
    }
}

impl Opened {
    /// The metalayers.
    ///
    /// # Errors
    /// [`Error::Invalid`] and [`Error::Truncated`] with the offset in the header.
    pub fn metalayers(&self) -> Result<Section<'_>, Error> {
        Section::parse(&self.head, FIXED_LEN, Structure::Metalayers)
    }

    /// The vlmetalayers; their contents are chunks.
    ///
    /// # Errors
    /// [`Error::Invalid`] and [`Error::Truncated`] with the offset in the trailer.
    pub fn vlmetalayers(&self) -> Result<Section<'_>, Error> {
        trailer::parse(&self.trailer)
    }
}
