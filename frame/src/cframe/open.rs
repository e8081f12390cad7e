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

use super::CHECKSUMS_NAME;
use super::header::{FIXED_LEN, FrameType, Header};
use super::index;
use super::section::Section;
use super::trailer::{self, TAIL_LEN, Tail};
use crate::error::{Error, IoKind, Structure};
use crate::io::ReadAt;
use crate::limits::Limits;
use alloc::vec::Vec;
use blosc_core::{Chunk, ChunkContext, Pool, Special};

/// Most that is asked for at once.
const PIECE: u64 = 1 << 20;
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

#[derive(Clone, Debug)]
enum State {
    Start,
    Fixed,
    Metalayers,
    Tail,
    Rest(Rest),
}

/// What lies between the chunks and the end of the frame, as far as it has been read.
#[derive(Clone, Debug)]
struct Rest {
    /// Where the next piece starts.
    at: u64,
    /// Where the index chunk ends; the trailer's start until its header has been read.
    index_end: u64,
    trailer_at: u64,
    nchunks: u64,
    index: Vec<u8>,
    trailer: Vec<u8>,
}

/// The state machine that opens a frame.
///
/// ```
/// use blosc_frame::cframe::{Opener, Step, header::FrameType};
/// use blosc_frame::Limits;
/// # let mut writer = blosc_frame::SuperChunk::memory(&blosc_core::Params::new(4));
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
    header: Option<Header>,
    head: Vec<u8>,
    tail: Option<Tail>,
}

impl Opener {
    /// Opens a frame in a source of `size` bytes; bytes after the frame are ignored.
    pub fn new(size: u64, expected: FrameType, limits: Limits) -> Opener {
        Opener { size, expected, limits, state: State::Start, header: None, head: Vec::new(), tail: None }
    }

    /// Takes the bytes last asked for (none at first) and tells what is needed next.
    pub fn step(&mut self, bytes: &[u8]) -> Result<Step<Opened>, Error> {
        match self.state {
            State::Start => {
                self.state = State::Fixed;
                if self.size < FIXED_LEN as u64 {
                    return Err(truncated(Structure::FrameHeader, "header", 0, FIXED_LEN as u64));
                }
                Ok(Step::Need { offset: 0, len: FIXED_LEN })
            }
            State::Fixed => self.fixed(bytes),
            State::Metalayers => self.metalayers(bytes),
            State::Tail => self.tail(bytes),
            State::Rest(_) => self.rest(bytes),
        }
    }

    fn fixed(&mut self, bytes: &[u8]) -> Result<Step<Opened>, Error> {
        let fixed = bytes.first_chunk().ok_or(truncated(Structure::FrameHeader, "header", 0, 87))?;
        let header = Header::parse(fixed)?;
        let invalid =
            |field, offset, value| Error::Invalid { structure: Structure::FrameHeader, field, offset, value };
        if header.frame_type != self.expected {
            return Err(invalid("frame_type", 0x1a, header.frame_type as i64));
        }
        if header.frame_len > self.size {
            return Err(truncated(Structure::FrameHeader, "frame_len", 0x0f, header.frame_len));
        }
        if header.nchunks().is_some_and(|n| n > self.limits.chunks) {
            let asked = header.nchunks().unwrap_or(0);
            return Err(Error::Limit { what: "chunks", asked, limit: self.limits.chunks });
        }
        let (asked, limit) = (u64::from(header.header_len), self.limits.metalayers);
        if asked > limit.max(FIXED_LEN as u64) {
            return Err(Error::Limit { what: "bytes of the frame's header", asked, limit });
        }
        self.head = fixed.to_vec();
        self.header = Some(header);
        self.state = State::Metalayers;
        Ok(piece(FIXED_LEN as u64, asked))
    }

    fn metalayers(&mut self, bytes: &[u8]) -> Result<Step<Opened>, Error> {
        let header = self.header.ok_or(IoKind::Other)?;
        let left = u64::from(header.header_len).saturating_sub(self.head.len() as u64);
        append(&mut self.head, bytes, left)?;
        let (have, all) = (self.head.len() as u64, u64::from(header.header_len));
        if have < all && !bytes.is_empty() {
            return Ok(piece(have, all));
        }
        if have != all {
            return Err(truncated(Structure::Metalayers, "metalayers", 0x57, all));
        }
        let section = Section::parse(&self.head, FIXED_LEN, Structure::Metalayers)?;
        check_sizes(&section, &self.limits, 0)?;
        self.state = State::Tail;
        // The header check made frame_len at least 132.
        Ok(Step::Need { offset: header.frame_len.saturating_sub(TAIL_LEN as u64), len: TAIL_LEN })
    }

    fn tail(&mut self, bytes: &[u8]) -> Result<Step<Opened>, Error> {
        let header = self.header.ok_or(IoKind::Other)?;
        let at = header.frame_len.saturating_sub(TAIL_LEN as u64);
        let bytes = bytes.first_chunk().ok_or(truncated(Structure::Trailer, "tail", at, TAIL_LEN as u64))?;
        let tail = Tail::parse(bytes, at, header.header_len)?;
        let trailer_at = header.frame_len.saturating_sub(u64::from(tail.trailer_len));
        let from = if header.nbytes == 0 {
            if trailer_at != u64::from(header.header_len) {
                return Err(Error::Invalid {
                    structure: Structure::Trailer,
                    field: "trailer_len of an empty frame",
                    offset: at.saturating_add(1),
                    value: i64::from(tail.trailer_len),
                });
            }
            trailer_at
        } else {
            let index_at = header.index_at()?;
            // The index is a chunk; a file with holes may say it is larger than any.
            let room = trailer_at.checked_sub(index_at);
            if room.is_none_or(|room| !(16..=i32::MAX as u64).contains(&room)) {
                return Err(Error::Invalid {
                    structure: Structure::FrameHeader,
                    field: "compressed_size",
                    offset: 0x26,
                    value: header.cbytes as i64,
                });
            }
            index_at
        };
        self.tail = Some(tail);
        self.state = State::Rest(Rest {
            at: from,
            index_end: trailer_at,
            trailer_at,
            nchunks: 0,
            index: Vec::new(),
            trailer: Vec::new(),
        });
        Ok(piece(from, header.frame_len))
    }

    fn rest(&mut self, bytes: &[u8]) -> Result<Step<Opened>, Error> {
        let State::Rest(mut rest) = core::mem::replace(&mut self.state, State::Start) else {
            return Err(IoKind::Other.into());
        };
        let (Some(header), Some(tail)) = (self.header, self.tail) else { return Err(IoKind::Other.into()) };
        if bytes.is_empty() {
            let needed = u64::from(tail.trailer_len);
            return Err(truncated(Structure::Trailer, "trailer", rest.trailer_at, needed));
        }
        if rest.index.is_empty() && rest.trailer.is_empty() {
            if header.nbytes != 0 {
                let index_at = rest.at;
                let (nchunks, cbytes) = self.check_index(&header, bytes, rest.trailer_at)?;
                (rest.nchunks, rest.index_end) = (nchunks, index_at.saturating_add(cbytes));
            }
            let (asked, table) = (u64::from(tail.trailer_len), table_most(rest.nchunks));
            let limit = self.limits.metalayers.saturating_add(table);
            if asked > limit {
                return Err(Error::Limit { what: "bytes of the frame's trailer", asked, limit });
            }
        }
        let part = |from: u64, to: u64| {
            let place =
                |at: u64| usize::try_from(at.saturating_sub(rest.at)).unwrap_or(usize::MAX).min(bytes.len());
            bytes.get(place(from)..place(to)).unwrap_or(&[])
        };
        let (index, trailer) = (part(rest.at, rest.index_end), part(rest.trailer_at, header.frame_len));
        if rest.trailer.is_empty() && !trailer.is_empty() {
            trailer::check_start(trailer)?;
        }
        append(&mut rest.index, index, rest.index_end.saturating_sub(rest.at))?;
        append(&mut rest.trailer, trailer, header.frame_len.saturating_sub(rest.at.max(rest.trailer_at)))?;
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
        check_sizes(&trailer::parse(&rest.trailer)?, &self.limits, table_most(rest.nchunks))?;
        Ok(Step::Done(Opened {
            header,
            head: core::mem::take(&mut self.head),
            tail,
            index: rest.index,
            trailer: rest.trailer,
            nchunks: rest.nchunks,
        }))
    }

    /// Checks the header of the index chunk, the first bytes of which `index` are; gives the number of chunks and
    /// the length of the index.
    fn check_index(&self, header: &Header, index: &[u8], trailer_at: u64) -> Result<(u64, u64), Error> {
        let at = header.index_at()?;
        let in_index = |error| Error::Chunk { chunk: None, offset: at, error };
        let room = trailer_at.saturating_sub(at);
        let index = index.get(..usize::try_from(room).unwrap_or(usize::MAX)).unwrap_or(index);
        let chunk = blosc_core::Header::parse(index).map_err(in_index)?;
        let nchunks = index::check_header(&chunk, header.nchunks(), at)?;
        let cbytes = u64::from(chunk.cbytes);
        if cbytes > room {
            return Err(truncated(Structure::Index, "cbytes", at, cbytes));
        }
        if cbytes > nchunks.saturating_mul(8).saturating_add(INDEX_SLACK) {
            let (structure, field, offset) = (Structure::Index, "cbytes", at.saturating_add(12));
            return Err(Error::Invalid { structure, field, offset, value: i64::from(chunk.cbytes) });
        }
        if nchunks > self.limits.chunks {
            return Err(Error::Limit { what: "chunks", asked: nchunks, limit: self.limits.chunks });
        }
        // Special chunks are kept as they are and need no memory; others may expand a little.
        let decoded = nchunks.saturating_mul(8);
        let allowed = cbytes.saturating_mul(self.limits.index_expansion).max(1 << 20);
        if chunk.special().is_none() && decoded > allowed {
            return Err(Error::Limit { what: "bytes of the index", asked: decoded, limit: allowed });
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
        let room = usize::try_from(left).map_err(|_| IoKind::NoSpace)?;
        buf.try_reserve_exact(room).map_err(|_| IoKind::NoSpace)?;
    }
    buf.extend_from_slice(bytes);
    Ok(())
}

/// Most bytes of a table of checksums for this many chunks.
fn table_most(nchunks: u64) -> u64 {
    nchunks.saturating_mul(8).saturating_add(TABLE_SLACK)
}

fn truncated(structure: Structure, field: &'static str, offset: u64, needed: u64) -> Error {
    Error::Truncated { structure, field, offset, needed }
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
        if asked > limit {
            return Err(Error::Limit { what: "metalayer bytes", asked, limit });
        }
        all = all.saturating_add(asked);
    }
    if all > most {
        return Err(Error::Limit { what: "bytes of all metalayers", asked: all, limit: most });
    }
    Ok(())
}

/// Runs an [`Opener`] over a source.
pub fn open_at(
    source: &(impl ReadAt + ?Sized),
    expected: FrameType,
    limits: &Limits,
) -> Result<Opened, Error> {
    let mut opener = Opener::new(source.size()?, expected, *limits);
    let mut bytes = Vec::new();
    loop {
        match opener.step(&bytes)? {
            Step::Need { offset, len } => {
                // What is there already is read over.
                bytes.truncate(len);
                bytes.try_reserve_exact(len.saturating_sub(bytes.len())).map_err(|_| IoKind::NoSpace)?;
                bytes.resize(len, 0);
                source.read_exact_at(offset, &mut bytes)?;
            }
            Step::Done(opened) => return Ok(opened),
        }
    }
}

/// The entries of an index.
#[derive(Clone, Debug)]
pub(crate) enum Entries {
    /// All the same, as "fill special" writes them; takes no memory.
    Repeated(i64, u64),
    /// One by one.
    List(Vec<i64>),
}

impl Entries {
    pub(crate) fn len(&self) -> u64 {
        match self {
            Entries::Repeated(_, n) => *n,
            Entries::List(list) => list.len() as u64,
        }
    }
    pub(crate) fn get(&self, k: u64) -> Option<i64> {
        match self {
            Entries::Repeated(raw, n) => (k < *n).then_some(*raw),
            Entries::List(list) => list.get(usize::try_from(k).ok()?).copied(),
        }
    }
    /// The entries as a list that can be edited.
    pub(crate) fn list_mut(&mut self) -> Result<&mut Vec<i64>, Error> {
        if let Entries::Repeated(raw, n) = *self {
            let n = usize::try_from(n).map_err(|_| IoKind::NoSpace)?;
            let mut list = Vec::new();
            list.try_reserve_exact(n).map_err(|_| IoKind::NoSpace)?;
            list.resize(n, raw);
            *self = Entries::List(list);
        }
        match self {
            Entries::List(list) => Ok(list),
            Entries::Repeated(..) => Err(IoKind::Other.into()),
        }
    }
}

/// How many decoded bytes of an index are had at a time: whole blocks and whole entries.
fn window(header: &blosc_core::Header) -> usize {
    const SOME: u32 = 128 << 10;
    let block = header.blocksize.max(1);
    if header.is_vl() || !block.is_multiple_of(8) {
        return header.nbytes as usize;
    }
    (SOME / block).max(1).saturating_mul(block) as usize
}

impl Opened {
    /// Decodes and checks the index.
    pub(crate) fn entries(&self, pool: &mut Pool, limits: &Limits) -> Result<Entries, Error> {
        if self.nchunks == 0 {
            return Ok(Entries::List(Vec::new()));
        }
        let at = self.header.index_at()?;
        let in_index = |error| Error::Chunk { chunk: None, offset: at, error };
        let cbytes = (self.header.frame_type == FrameType::Contiguous).then_some(self.header.cbytes);
        let chunk_limits = limits.chunk.output(u64::MAX);
        let chunk = Chunk::parse_with(&self.index, &chunk_limits).map_err(in_index)?;
        let repeated = match chunk.header().special() {
            Some(Special::Zeros) => Some(0),
            // A value of another width than 8 is legal but nobody writes it: decoded the long way.
            Some(Special::Value) if chunk.header().cbytes == 40 => {
                self.index.get(32..40).and_then(|v| v.first_chunk()).map(|v| i64::from_le_bytes(*v))
            }
            _ => None,
        };
        if let Some(raw) = repeated {
            index::check_entry(raw, at, cbytes)?;
            return Ok(Entries::Repeated(raw, self.nchunks));
        }
        let nbytes = chunk.nbytes();
        let mut list = Vec::new();
        list.try_reserve_exact(nbytes / 8).map_err(|_| IoKind::NoSpace)?;
        // A few blocks at a time, which stay in the cache until they are in the list.
        let step = window(chunk.header()).min(nbytes);
        let mut part = Vec::new();
        part.try_reserve_exact(step).map_err(|_| IoKind::NoSpace)?;
        part.resize(step, 0);
        for start in (0..nbytes).step_by(step.max(8)) {
            let end = start.saturating_add(step).min(nbytes);
            let part = part.get_mut(..end.saturating_sub(start)).unwrap_or(&mut []);
            pool.get_bytes(&chunk, ChunkContext::default(), start..end, part).map_err(in_index)?;
            for raw in part.as_chunks::<8>().0 {
                let raw = i64::from_le_bytes(*raw);
                index::check_entry(raw, at, cbytes)?;
                list.push(raw);
            }
        }
        Ok(Entries::List(list))
    }

    /// The metalayers.
    pub fn metalayers(&self) -> Result<Section<'_>, Error> {
        Section::parse(&self.head, FIXED_LEN, Structure::Metalayers)
    }

    /// The vlmetalayers; their contents are chunks.
    pub fn vlmetalayers(&self) -> Result<Section<'_>, Error> {
        trailer::parse(&self.trailer)
    }
}

#[cfg(all(test, feature = "std"))]
mod tests {
    use super::*;
    use blosc_core::Params;

    const HUGE: u64 = 1 << 40;

    /// A file with holes: bytes at some places, zeros elsewhere. Notes how much of it is read, and keeps what is
    /// asked for at once small.
    struct Holes {
        size: u64,
        parts: Vec<(u64, Vec<u8>)>,
        read: core::sync::atomic::AtomicU64,
    }

    impl Holes {
        fn new(size: u64, parts: Vec<(u64, Vec<u8>)>) -> Holes {
            Holes { size, parts, read: 0.into() }
        }
        fn read(&self) -> u64 {
            self.read.load(core::sync::atomic::Ordering::Relaxed)
        }
    }

    impl ReadAt for Holes {
        fn size(&self) -> Result<u64, crate::error::IoError> {
            Ok(self.size)
        }
        fn read_at(&self, offset: u64, buf: &mut [u8]) -> Result<usize, crate::error::IoError> {
            assert!(buf.len() as u64 <= PIECE, "{} bytes at once", buf.len());
            self.read.fetch_add(buf.len() as u64, core::sync::atomic::Ordering::Relaxed);
            buf.fill(0);
            for (start, bytes) in &self.parts {
                for (at, byte) in (*start..).zip(bytes) {
                    if let Some(to) = at.checked_sub(offset).and_then(|at| buf.get_mut(at as usize)) {
                        *to = *byte;
                    }
                }
            }
            Ok(buf.len())
        }
    }

    /// A frame of two chunks in pieces: header, chunks, index, trailer.
    fn pieces() -> [Vec<u8>; 4] {
        let mut writer = crate::SuperChunk::memory(&Params::new(4));
        writer.append_data(&[1; 400]).unwrap();
        writer.append_data(&[2; 400]).unwrap();
        let frame = writer.into_bytes().unwrap();
        let opened = open_at(&frame, FrameType::Contiguous, &Limits::DEFAULT).unwrap();
        let index_at = opened.header.index_at().unwrap() as usize;
        let head = opened.head.len();
        [opened.head, frame[head..index_at].to_vec(), opened.index, opened.trailer]
    }

    fn open(source: &Holes) -> Result<Opened, Error> {
        open_at(source, FrameType::Contiguous, &Limits::DEFAULT)
    }

    /// The pieces with holes of these lengths between index and trailer, and inside the trailer before its tail.
    fn spread(gap: u64, inside: u64) -> Holes {
        let [mut head, payload, index, mut trailer] = pieces();
        let at = [head.len() as u64, (head.len() + payload.len()) as u64];
        let trailer_at = at[1] + index.len() as u64 + gap;
        let size = trailer_at + trailer.len() as u64 + inside;
        head[0x10..0x18].copy_from_slice(&size.to_be_bytes());
        let mut tail = trailer.split_off(trailer.len() - TAIL_LEN);
        tail[1..5].copy_from_slice(&((size - trailer_at) as u32).to_be_bytes());
        let (trailer, tail) = ((trailer_at, trailer), (size - TAIL_LEN as u64, tail));
        Holes::new(size, Vec::from([(0, head), (at[0], payload), (at[1], index), trailer, tail]))
    }

    #[test]
    fn a_hole_between_index_and_trailer_is_not_read() {
        let source = spread(1 << 30, 0);
        let opened = open(&source).unwrap();
        assert_eq!(opened.nchunks, 2);
        assert!(source.read() <= 3 * PIECE, "{}", source.read());
        // One larger than any chunk can be.
        let error = open(&spread(HUGE, 0)).unwrap_err();
        assert!(matches!(error, Error::Invalid { field: "compressed_size", .. }), "{error}");
    }

    #[test]
    fn a_trailer_of_gigabytes_is_refused_by_the_limit() {
        let source = spread(0, 4_000_000_000);
        let error = open(&source).unwrap_err();
        assert!(matches!(error, Error::Limit { what: "bytes of the frame's trailer", .. }), "{error}");
        assert!(source.read() <= 2 * PIECE, "{}", source.read());
        // Within the limit it is read, and in pieces.
        assert_eq!(open(&spread(0, 20_000_000)).unwrap().nchunks, 2);
    }

    #[test]
    fn a_trailer_that_begins_in_a_hole_is_not_read_to_its_end() {
        let mut source = spread(0, 100_000_000);
        source.parts.retain(|(_, bytes)| !bytes.starts_with(&[0x94]));
        let error = open(&source).unwrap_err();
        assert!(matches!(error, Error::Invalid { field: "array of 4", .. }), "{error}");
        assert!(source.read() <= 2 * PIECE, "{}", source.read());
    }

    #[test]
    fn an_index_longer_than_its_entries_is_not_read() {
        // Two entries in a chunk of a gigabyte.
        let mut source = spread(1 << 30, 0);
        source.parts[2].1[12..16].copy_from_slice(&(1u32 << 30).to_le_bytes());
        let at = source.parts[2].0 + 12;
        let error = open(&source).unwrap_err();
        assert!(matches!(error, Error::Invalid { field: "cbytes", offset, .. } if offset == at), "{error}");
        assert!(source.read() <= 2 * PIECE, "{}", source.read());
    }

    #[test]
    fn a_header_of_gigabytes_is_refused_by_the_limit() {
        let [mut head, ..] = pieces();
        head[0x0b..0x0f].copy_from_slice(&0x7fff_ffffu32.to_be_bytes());
        head[0x10..0x18].copy_from_slice(&HUGE.to_be_bytes());
        let source = Holes::new(HUGE, Vec::from([(0, head)]));
        let error = open(&source).unwrap_err();
        assert!(matches!(error, Error::Limit { what: "bytes of the frame's header", .. }), "{error}");
        assert!(source.read() < PIECE);
    }

    #[test]
    fn contents_that_lie_over_each_other_are_counted_each() {
        let mut writer = crate::SuperChunk::memory(&Params::new(4));
        for name in ["a", "b", "c"] {
            writer.set_metalayer(name, &[7; 1000]).unwrap();
        }
        let frame = writer.into_bytes().unwrap();
        let open = |metalayers| {
            let limits = Limits::DEFAULT.metalayers(metalayers);
            open_at(&frame, FrameType::Contiguous, &limits).map(drop)
        };
        assert_eq!(open(4000), Ok(()));
        assert!(matches!(open(2000), Err(Error::Limit { what: "bytes of the frame's header", .. })));
        // All three are now the first.
        let mut head = frame.get(..).unwrap().to_vec();
        let offset = |head: &[u8], name| {
            head.windows(3).position(|w| w == [0xa1, name, 0xd2]).map(|at| at + 3..at + 7).unwrap()
        };
        let first = offset(&head, b'a');
        for name in [b'b', b'c'] {
            let place = offset(&head, name);
            head.copy_within(first.clone(), place.start);
        }
        let section = Section::parse(&head, FIXED_LEN, Structure::Metalayers).unwrap();
        let limits = Limits::DEFAULT.metalayers(2500);
        let error = check_sizes(&section, &limits, 0).unwrap_err();
        assert!(
            matches!(error, Error::Limit { what: "bytes of all metalayers", asked: 3000, .. }),
            "{error}"
        );
    }

    /// An index, a header and a trailer that all take several pieces.
    #[test]
    fn what_takes_several_pieces_is_put_together() {
        let mut writer = crate::SuperChunk::memory(&Params::new(1));
        let noise = |seed: u32, n: usize| {
            let mut x = seed;
            let next = core::iter::repeat_with(move || {
                x = x.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                (x >> 24) as u8
            });
            next.take(n).collect::<Vec<u8>>()
        };
        writer.set_metalayer("m", &noise(1, 9_000_000)).unwrap();
        writer.set_vlmetalayer("v", &noise(2, 9_000_000)).unwrap();
        writer.set_chunksize(400).unwrap();
        writer.append(&[5; 4_000]).unwrap();
        let frame = writer.into_bytes().unwrap();
        let opened = open_at(&frame, FrameType::Contiguous, &Limits::DEFAULT).unwrap();
        let index_at = opened.header.index_at().unwrap() as usize;
        assert_eq!(opened.head, frame[..opened.head.len()]);
        assert_eq!([opened.index, opened.trailer].concat(), frame[index_at..]);
    }
}
