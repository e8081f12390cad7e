//! Writing a file, from data of known length or as a stream.
//!
//! ```text
//! cs = min(requested, len)    n = ceil(len / cs)    last = len − (n−1)·cs      (one empty chunk for no data)
//! header, metadata, table of −1 → chunk, digest, chunk, digest … → table, header
//! ```
//! A table can only be laid out when the number of chunks is known beforehand; without a length there is
//! none, and the counts in the header are −1 until [`Writer::finish`] puts the real ones there. A sink that
//! cannot go back ([`Options::sequential`]) gets no table, and keeps −1 when no length was known.
#![deny(clippy::indexing_slicing, clippy::arithmetic_side_effects)]

use super::checksum::Checksum;
use super::header::{Header, Layout, MAX_BUFFER};
use super::metadata::{self, MetaOptions};
use super::numpy::Numpy;
use crate::error::{Error, IoKind};
use crate::io::{ReadAt, WriteAt};
use crate::spare;
use crate::value::Value;
use alloc::vec;
use alloc::vec::Vec;
use blosc_core::{ChunkContext, Params, Pool};

/// How many spare entries the offsets table gets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Spare {
    /// Room for this many times the number of chunks; bloscpack's default is 10.
    Times(u32),
    /// Room for this many chunks.
    Chunks(u64),
}

/// How a file is written. The defaults are those of bloscpack 0.16.
#[derive(Clone, Debug)]
pub struct Options {
    /// The layout; [`Layout::V0`] is not written.
    pub layout: Layout,
    /// Plain bytes of a chunk, 1 ..= 2 147 483 631.
    pub chunk_size: u32,
    /// Parameters of the chunks; always written as Blosc1 chunks.
    pub params: Params,
    /// Checksum of the chunks; v1 has none.
    pub checksum: Checksum,
    /// Whether to write a table of chunk positions; v1 has none.
    pub offsets: bool,
    /// Spare entries in the table; v3 only.
    pub spare: Spare,
    /// Metadata; v3 and mono.
    pub metadata: Option<Value>,
    /// How the metadata section is written; v3.
    pub meta: MetaOptions,
    /// Bytes of room at the end of every compressed chunk, for changes in place
    /// (docs/formats/bloscpack.md §7.1, layout A).
    pub reserve: u32,
    /// The sink cannot go back to patch the header.
    pub sequential: bool,
    /// Keep the chunk size even when there is less data than that, as files that are parts of a whole must.
    pub fixed_chunk_size: bool,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            layout: Layout::V3,
            chunk_size: 1 << 20,
            params: Params::new(8).level(7).blosc1(true),
            checksum: Checksum::Adler32,
            offsets: true,
            spare: Spare::Times(10),
            metadata: None,
            meta: MetaOptions::default(),
            reserve: 0,
            sequential: false,
            fixed_chunk_size: false,
        }
    }
}

impl Options {
    /// Writes all of `data` into `sink`, which is empty.
    ///
    /// # Errors
    /// [`Error::Param`] for what the layout cannot hold; errors of the sink and the encoder.
    pub fn write<W: WriteAt>(&self, pool: &mut Pool, data: &dyn ReadAt, sink: W) -> Result<W, Error> {
        let len = data.size()?;
        let mut writer = Writer::new(sink, self, Some(len))?;
        let mut buffer =
            vec![0; usize::try_from(len.min(self.chunk_size.into())).map_err(|_| IoKind::OutOfMemory)?];
        let mut at = 0u64;
        while at < len {
            let n = usize::try_from(len.saturating_sub(at)).unwrap_or(usize::MAX).min(buffer.len());
            let now = buffer.get_mut(..n).unwrap_or_default();
            data.read_exact_at(at, now)?;
            writer.write(pool, now)?;
            at = at.saturating_add(n as u64);
        }
        writer.finish(pool)
    }

    /// The options for a NumPy array: its metadata, its item size, and chunks of whole items.
    ///
    /// # Errors
    /// A dtype that has no text in the metadata: fields that overlap or are out of order.
    pub fn numpy(mut self, array: &Numpy) -> Result<Options, Error> {
        let itemsize = array.dtype.itemsize();
        self.metadata = Some(array.to_metadata()?);
        self.params.typesize = if (1..=255).contains(&itemsize) { itemsize } else { 1 };
        let odd = self.chunk_size.checked_rem(itemsize).unwrap_or(0);
        if odd < self.chunk_size {
            self.chunk_size = self.chunk_size.saturating_sub(odd);
        }
        Ok(self)
    }

    /// Refuses what the layout cannot hold, before anything is written.
    fn check(&self) -> Result<(), Error> {
        let refuse = |name, value: i64, allowed| Err(Error::Param { name, value, allowed });
        if self.chunk_size == 0 || self.chunk_size > MAX_BUFFER {
            return refuse("chunk-size", self.chunk_size.into(), "1 to 2147483631 bytes");
        }
        if self.params.typesize == 0 || self.params.typesize > 255 {
            return refuse("typesize", self.params.typesize.into(), "1 to 255");
        }
        if self.metadata.is_some() && !matches!(self.layout, Layout::V3 | Layout::Mono) {
            return refuse("metadata", 1, "only v3 and the Blaze layout hold metadata");
        }
        if self.metadata == Some(Value::Null) {
            return refuse("metadata", 0, "anything but null, which means that there is none");
        }
        if self.layout == Layout::V0 {
            return refuse("layout", 0, "v1, v2, v3 or the Blaze layout");
        }
        Ok(())
    }
}

/// Encodes one chunk as Blosc1 and makes its stored size at least `slot`, or `reserve` more than it takes
/// (docs/formats/bloscpack.md §7.1, layout A). A stored (incompressible) chunk has no room: its size follows from its data.
pub(crate) fn encode_chunk(
    tools: (&mut Pool, &mut Vec<u8>),
    params: &Params,
    data: &[u8],
    reserve: u32,
) -> Result<Vec<u8>, Error> {
    let chunk = spare::encode(tools, &params.blosc1(true), ChunkContext::default(), data);
    let mut chunk = chunk.map_err(Error::Codec)?.to_vec();
    if reserve > 0 {
        let want = (chunk.len() as u64).saturating_add(reserve.into());
        widen(&mut chunk, want.min((data.len() as u64).saturating_add(16)));
    }
    Ok(chunk)
}

/// Raises the stored size of a compressed chunk to `slot` bytes; false when it cannot have that size.
pub(crate) fn widen(chunk: &mut Vec<u8>, slot: u64) -> bool {
    if chunk.len() as u64 == slot {
        return true;
    }
    let stored = chunk.get(2).is_none_or(|flags| flags & 2 != 0);
    let (Ok(len), Ok(word)) = (usize::try_from(slot), u32::try_from(slot)) else { return false };
    if stored || len < chunk.len() {
        return false;
    }
    chunk.resize(len, 0);
    if let Some(field) = chunk.get_mut(12..16) {
        field.copy_from_slice(&word.to_le_bytes());
    }
    true
}

/// Bytes that are written together, as each write is a call of the system.
const HELD: usize = 64 << 10;

/// Writes a file chunk by chunk.
pub struct Writer<W> {
    sink: W,
    options: Options,
    header: Header,
    known: Option<u64>,
    table: u64,
    starts: Vec<u64>,
    at: u64,
    /// What lies before `at` and is written with what follows it.
    held: Vec<u8>,
    pending: Vec<u8>,
    room: Vec<u8>,
    written: u64,
    nchunks: u64,
    last: u32,
}

impl<W: WriteAt> Writer<W> {
    /// Starts a file in the empty `sink`, for `len` bytes of data where that is known.
    ///
    /// # Errors
    /// [`Error::Param`] for what the layout cannot hold.
    pub fn new(sink: W, options: &Options, len: Option<u64>) -> Result<Writer<W>, Error> {
        options.check()?;
        let mut header = Header {
            layout: options.layout,
            offsets: false,
            metadata: options.metadata.is_some(),
            checksum: if options.layout == Layout::V1 { Checksum::None } else { options.checksum },
            typesize: u8::try_from(options.params.typesize).unwrap_or(1),
            chunk_size: None,
            last_chunk: None,
            nchunks: None,
            max_app: 0,
            meta_size: 0,
        };
        let mut section = Vec::new();
        match (&options.metadata, options.layout) {
            (Some(value), Layout::Mono) => {
                section = value.to_json().into_bytes();
                let asked = section.len() as u64;
                let too_long = Error::Capacity { what: "bytes of metadata", asked, most: i32::MAX as u64 };
                header.meta_size =
                    u32::try_from(asked).ok().filter(|&n| n <= i32::MAX as u32).ok_or(too_long)?;
            }
            (Some(value), _) => section = metadata::build(value, &options.meta)?.1,
            (None, _) => {}
        }
        let cs = match len {
            Some(len) if !options.fixed_chunk_size => len.min(options.chunk_size.into()),
            _ => options.chunk_size.into(),
        };
        header.chunk_size = u32::try_from(cs).ok();
        if let Some(len) = len {
            let n = len.div_ceil(cs.max(1)).max(1);
            let last = len.saturating_sub(n.saturating_sub(1).saturating_mul(cs));
            header.nchunks = Some(n);
            header.last_chunk = u32::try_from(last).ok();
            header.offsets = options.offsets && !options.sequential && options.layout != Layout::V1;
            if header.offsets && options.layout == Layout::V3 {
                header.max_app = match options.spare {
                    Spare::Times(times) => n.saturating_mul(times.into()),
                    Spare::Chunks(chunks) => chunks,
                };
            }
        }
        let table = (options.layout.header_len() as u64).saturating_add(section.len() as u64);
        let mut writer = Writer {
            sink,
            options: options.clone(),
            header,
            known: len,
            table,
            starts: Vec::new(),
            at: 0,
            held: Vec::new(),
            pending: Vec::new(),
            room: Vec::new(),
            written: 0,
            nchunks: 0,
            last: 0,
        };
        let (bytes, n) = header.encode();
        writer.put(bytes.get(..n).unwrap_or_default())?;
        writer.put(&section)?;
        writer.put_empty_table()?;
        writer.put_held()?;
        Ok(writer)
    }

    fn put(&mut self, bytes: &[u8]) -> Result<(), Error> {
        if self.held.len().saturating_add(bytes.len()) > HELD {
            self.put_held()?;
        }
        match bytes.len() > HELD {
            true => self.sink.write_at(self.at, bytes)?,
            false => self.held.extend_from_slice(bytes),
        }
        self.at = self.at.saturating_add(bytes.len() as u64);
        Ok(())
    }

    fn put_held(&mut self) -> Result<(), Error> {
        let start = self.at.saturating_sub(self.held.len() as u64);
        self.sink.write_at(start, &self.held)?;
        self.held.clear();
        Ok(())
    }

    /// −1 everywhere: what an aborted file keeps.
    fn put_empty_table(&mut self) -> Result<(), Error> {
        let mut left = self.header.table_len().checked_mul(8).ok_or(IoKind::OutOfMemory)?;
        while left > 0 {
            let n = usize::try_from(left).unwrap_or(usize::MAX).min(65536);
            self.put(&vec![0xff; n])?;
            left = left.saturating_sub(n as u64);
        }
        Ok(())
    }

    fn chunk_size(&self) -> usize {
        self.header.chunk_size.and_then(|n| usize::try_from(n).ok()).unwrap_or(usize::MAX)
    }

    /// Takes more data.
    ///
    /// # Errors
    /// [`Error::Changed`] for more than the announced length.
    pub fn write(&mut self, pool: &mut Pool, mut data: &[u8]) -> Result<(), Error> {
        self.written = self.written.saturating_add(data.len() as u64);
        if self.known.is_some_and(|len| self.written > len) {
            return Err(Error::Changed { what: "there is more data than was announced" });
        }
        let size = self.chunk_size();
        while !data.is_empty() {
            let room = size.saturating_sub(self.pending.len());
            let (now, rest) = data.split_at_checked(room).unwrap_or((data, &[]));
            data = rest;
            if self.pending.is_empty() && now.len() == size {
                self.put_chunk(pool, now)?;
            } else {
                self.pending.extend_from_slice(now);
                if self.pending.len() == size {
                    let full = core::mem::take(&mut self.pending);
                    self.put_chunk(pool, &full)?;
                    self.pending = full;
                    self.pending.clear();
                }
            }
        }
        Ok(())
    }

    fn put_chunk(&mut self, pool: &mut Pool, data: &[u8]) -> Result<(), Error> {
        let tools = (pool, &mut self.room);
        let chunk = encode_chunk(tools, &self.options.params, data, self.options.reserve)?;
        self.put_encoded(&chunk, u32::try_from(data.len()).unwrap_or(u32::MAX))
    }

    fn put_encoded(&mut self, chunk: &[u8], nbytes: u32) -> Result<(), Error> {
        if self.header.offsets {
            self.starts.push(self.at);
        }
        self.put(chunk)?;
        let digest = self.header.checksum.digest(chunk);
        self.put(digest.as_ref())?;
        self.nchunks = self.nchunks.saturating_add(1);
        self.last = nbytes;
        Ok(())
    }

    /// Takes a whole chunk that is encoded already and holds `nbytes` bytes.
    ///
    /// # Errors
    /// [`Error::Changed`] for more than the announced length.
    pub fn write_encoded(&mut self, chunk: &[u8], nbytes: u32) -> Result<(), Error> {
        self.written = self.written.saturating_add(nbytes.into());
        if !self.pending.is_empty() || self.known.is_some_and(|len| self.written > len) {
            return Err(Error::Changed { what: "there is more data than was announced" });
        }
        self.put_encoded(chunk, nbytes)
    }

    /// Writes the last chunk, the table and the final header; returns the sink.
    ///
    /// # Errors
    /// [`Error::Changed`] for less data than announced.
    pub fn finish(mut self, pool: &mut Pool) -> Result<W, Error> {
        if self.known.is_some_and(|len| self.written < len) {
            return Err(Error::Changed { what: "there is less data than was announced" });
        }
        if !self.pending.is_empty() || self.nchunks == 0 {
            let rest = core::mem::take(&mut self.pending);
            self.put_chunk(pool, &rest)?;
        }
        self.put_held()?;
        if self.header.offsets {
            write_table(&mut self.sink, self.table, &self.starts)?;
        }
        if self.known.is_none() && !self.options.sequential {
            // A single short chunk is as large as the data, as when the length is known.
            if self.nchunks == 1 && !self.options.fixed_chunk_size {
                self.header.chunk_size = Some(self.last);
            }
            self.header.nchunks = Some(self.nchunks);
            self.header.last_chunk = Some(self.last);
            let (bytes, n) = self.header.encode();
            self.sink.write_at(0, bytes.get(..n).unwrap_or_default())?;
        }
        Ok(self.sink)
    }
}

/// Writes positions into the table that starts at `table`.
pub(super) fn write_table<W: WriteAt + ?Sized>(
    sink: &mut W,
    table: u64,
    starts: &[u64],
) -> Result<(), Error> {
    let mut at = table;
    for starts in starts.chunks(1024) {
        let bytes: Vec<u8> = starts.iter().flat_map(|start| start.to_le_bytes()).collect();
        sink.write_at(at, &bytes)?;
        at = at.saturating_add(bytes.len() as u64);
    }
    Ok(())
}
