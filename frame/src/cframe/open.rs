//! Opening a frame without doing any input: the caller is told which bytes are needed next (§7).
//!
//! ```text
//! 87 bytes at 0                -> Header: magic, markers, version, lengths
//! H - 87 bytes at 87           -> metalayers, checked
//! 23 bytes at F - 23           -> T
//! F - index bytes at index     -> index chunk and trailer, which lie side by side
//! ```

use super::header::{FIXED_LEN, FrameType, Header};
use super::index;
use super::section::Section;
use super::trailer::{self, TAIL_LEN, Tail};
use crate::error::{Error, IoKind, Structure};
use crate::io::ReadAt;
use crate::limits::Limits;
use alloc::vec::Vec;
use blosc_core::{Chunk, Pool, Special};

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
    Rest,
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
            State::Rest => self.rest(bytes),
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
        self.head = fixed.to_vec();
        self.header = Some(header);
        self.state = State::Metalayers;
        let len = (header.header_len as usize).saturating_sub(FIXED_LEN);
        Ok(Step::Need { offset: FIXED_LEN as u64, len })
    }

    fn metalayers(&mut self, bytes: &[u8]) -> Result<Step<Opened>, Error> {
        let header = self.header.ok_or(IoKind::Other)?;
        self.head.extend_from_slice(bytes);
        if self.head.len() != header.header_len as usize {
            return Err(truncated(Structure::Metalayers, "metalayers", 0x57, u64::from(header.header_len)));
        }
        let section = Section::parse(&self.head, FIXED_LEN, Structure::Metalayers)?;
        check_sizes(&section, &self.limits)?;
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
        self.state = State::Rest;
        let len = header.frame_len.saturating_sub(from);
        let len = usize::try_from(len).map_err(|_| IoKind::NoSpace)?;
        Ok(Step::Need { offset: from, len })
    }

    fn rest(&mut self, bytes: &[u8]) -> Result<Step<Opened>, Error> {
        let (Some(header), Some(tail)) = (self.header, self.tail) else { return Err(IoKind::Other.into()) };
        let trailer_at = header.frame_len.saturating_sub(u64::from(tail.trailer_len));
        let short = truncated(Structure::Trailer, "trailer", trailer_at, u64::from(tail.trailer_len));
        let split = bytes.len().checked_sub(tail.trailer_len as usize).ok_or(short)?;
        let (index, trailer) = bytes.split_at_checked(split).ok_or(short)?;
        check_sizes(&trailer::parse(trailer)?, &self.limits)?;
        let nchunks = match header.nbytes {
            0 => 0,
            _ => self.count_chunks(&header, index)?,
        };
        Ok(Step::Done(Opened {
            header,
            head: core::mem::take(&mut self.head),
            tail,
            index: if nchunks == 0 { Vec::new() } else { index.to_vec() },
            trailer: trailer.to_vec(),
            nchunks,
        }))
    }

    fn count_chunks(&self, header: &Header, index: &[u8]) -> Result<u64, Error> {
        let at = header.index_at()?;
        let in_index = |error| Error::Chunk { chunk: None, offset: at, error };
        let chunk = blosc_core::Header::parse(index).map_err(in_index)?;
        let nchunks = index::check_header(&chunk, header.nchunks(), at)?;
        if u64::from(chunk.cbytes) > index.len() as u64 {
            return Err(truncated(Structure::Index, "cbytes", at, u64::from(chunk.cbytes)));
        }
        if nchunks > self.limits.chunks {
            return Err(Error::Limit { what: "chunks", asked: nchunks, limit: self.limits.chunks });
        }
        // Special chunks are kept as they are and need no memory; others may expand a little.
        let decoded = nchunks.saturating_mul(8);
        let allowed = u64::from(chunk.cbytes).saturating_mul(self.limits.index_expansion).max(1 << 20);
        if chunk.special().is_none() && decoded > allowed {
            return Err(Error::Limit { what: "bytes of the index", asked: decoded, limit: allowed });
        }
        Ok(nchunks)
    }
}

fn truncated(structure: Structure, field: &'static str, offset: u64, needed: u64) -> Error {
    Error::Truncated { structure, field, offset, needed }
}

fn check_sizes(section: &Section<'_>, limits: &Limits) -> Result<(), Error> {
    for entry in section.iter() {
        let asked = entry.content.len() as u64;
        if asked > limits.metalayer {
            return Err(Error::Limit { what: "metalayer bytes", asked, limit: limits.metalayer });
        }
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
                bytes.clear();
                bytes.try_reserve_exact(len).map_err(|_| IoKind::NoSpace)?;
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

impl Opened {
    /// Decodes and checks the index.
    pub(crate) fn entries(&self, pool: &mut Pool, limits: &Limits) -> Result<Entries, Error> {
        if self.nchunks == 0 {
            return Ok(Entries::List(Vec::new()));
        }
        let at = self.header.index_at()?;
        let in_index = |error| Error::Chunk { chunk: None, offset: at, error };
        let cbytes = (self.header.frame_type == FrameType::Contiguous).then_some(self.header.cbytes);
        let chunk_limits = blosc_core::Limits { output: u64::MAX, ..limits.chunk };
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
        let decoded = pool.decompress(&chunk).map_err(in_index)?;
        let mut list = Vec::new();
        list.try_reserve_exact(decoded.len() / 8).map_err(|_| IoKind::NoSpace)?;
        for raw in decoded.as_chunks::<8>().0 {
            let raw = i64::from_le_bytes(*raw);
            index::check_entry(raw, at, cbytes)?;
            list.push(raw);
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

    /// A frame with holes of a terabyte between its index and its trailer, of which nothing is read.
    #[test]
    fn an_index_larger_than_a_chunk_is_not_asked_for() {
        let mut writer = crate::SuperChunk::memory(&Params::new(4));
        writer.append_data(&[1; 400]).unwrap();
        let mut frame = writer.into_bytes().unwrap();
        let (len, huge) = (frame.len() as u64, 1u64 << 40);
        // What frame_len is, after its marker.
        frame[0x10..0x18].copy_from_slice(&huge.to_be_bytes());
        let mut opener = Opener::new(huge, FrameType::Contiguous, Limits::DEFAULT);
        let mut bytes: &[u8] = &[];
        let error = loop {
            match opener.step(bytes) {
                Ok(Step::Need { offset, len: asked }) => {
                    assert!(asked < frame.len());
                    let at = if offset < len { offset } else { offset - (huge - len) };
                    bytes = &frame[at as usize..][..asked];
                }
                Ok(Step::Done(_)) => panic!("opened"),
                Err(error) => break error,
            }
        };
        assert!(matches!(error, Error::Invalid { field: "compressed_size", .. }), "{error}");
    }
}
