//! The header of every bloscpack layout (docs/formats/bloscpack.md §2) and how to tell them apart (§9).
//!
//! ```text
//!        0      4        5        6         7         8           12          16       24
//! v0     blpk   u32 nchunks                           chunks …
//! v1     blpk   1        0        0         0         i64 nchunks             chunks …
//! v2     blpk   2        options  checksum  typesize  i32 chunk   i32 last    i64 n    i64 0
//! mono   blpk   2 or 3   options  checksum  typesize  i32 chunk   i32 last    i64 n    i32 meta, i32 0
//! v3     blpk   3        options  checksum  typesize  i32 chunk   i32 last    i64 n    i64 max-app-chunks
//! ```
//! Options: bit 0 an offsets table, bit 1 metadata. −1 in a size or count means "unknown".
#![deny(clippy::indexing_slicing, clippy::arithmetic_side_effects)]

use super::checksum::Checksum;
use crate::error::{Error, Structure};

/// The first four bytes of every bloscpack file.
pub const MAGIC: [u8; 4] = *b"blpk";

/// Largest plain size of one chunk: 2^31 − 1 − 16.
pub const MAX_BUFFER: u32 = 2_147_483_631;

/// Which of the layouts a file has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Layout {
    /// 0.1.0 release candidates of 2012: 8 bytes, chunks only.
    V0,
    /// 0.1: 16 bytes, chunks only; also the chunk files of bcolz.
    V1,
    /// 0.2: 32 bytes, offsets and checksums.
    V2,
    /// The draft of December 2012 and the Blaze proposal: bare JSON after the header.
    Mono,
    /// 0.3 and later.
    V3,
}

impl Layout {
    /// Length of the header in bytes.
    pub const fn header_len(self) -> usize {
        match self {
            Layout::V0 => 8,
            Layout::V1 => 16,
            Layout::V2 | Layout::Mono | Layout::V3 => 32,
        }
    }

    /// The name used in messages and by `info`.
    pub const fn name(self) -> &'static str {
        match self {
            Layout::V0 => "v0",
            Layout::V1 => "v1",
            Layout::V2 => "v2",
            Layout::Mono => "blaze",
            Layout::V3 => "v3",
        }
    }
}

/// A checked header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    /// The layout.
    pub layout: Layout,
    /// Whether a table of chunk positions is there.
    pub offsets: bool,
    /// Whether metadata is there.
    pub metadata: bool,
    /// Checksum of the chunks.
    pub checksum: Checksum,
    /// Item size handed to Blosc; advisory.
    pub typesize: u8,
    /// Plain bytes of every chunk but the last.
    pub chunk_size: Option<u32>,
    /// Plain bytes of the last chunk.
    pub last_chunk: Option<u32>,
    /// Number of chunks.
    pub nchunks: Option<u64>,
    /// How many further chunks the table has room for (v3).
    pub max_app: u64,
    /// Bytes of bare JSON after the header (mono).
    pub meta_size: u32,
}

/// Little-endian fields of a header that may be cut short.
struct Fields<'a>(&'a [u8]);

impl Fields<'_> {
    fn bytes<const N: usize>(&self, offset: usize, field: &'static str) -> Result<[u8; N], Error> {
        self.0.get(offset..).and_then(|rest| rest.first_chunk::<N>()).copied().ok_or(Error::Truncated {
            structure: Structure::BloscpackHeader,
            field,
            offset: offset as u64,
            needed: N as u64,
        })
    }
    fn u8(&self, offset: usize, field: &'static str) -> Result<u8, Error> {
        Ok(u8::from_le_bytes(self.bytes(offset, field)?))
    }
    fn i32(&self, offset: usize, field: &'static str) -> Result<i32, Error> {
        Ok(i32::from_le_bytes(self.bytes(offset, field)?))
    }
    fn i64(&self, offset: usize, field: &'static str) -> Result<i64, Error> {
        Ok(i64::from_le_bytes(self.bytes(offset, field)?))
    }
    fn size(&self, offset: usize, field: &'static str) -> Result<Option<u32>, Error> {
        let value = self.i32(offset, field)?;
        match u32::try_from(value) {
            Ok(size) if size <= MAX_BUFFER => Ok(Some(size)),
            Err(_) if value == -1 => Ok(None),
            _ => invalid(field, offset, value.into()),
        }
    }
    /// A count of chunks, each of which takes 16 bytes of the `room` bytes after the header.
    fn count(&self, offset: usize, room: Option<u64>) -> Result<Option<u64>, Error> {
        let value = self.i64(offset, "nchunks")?;
        match u64::try_from(value) {
            Ok(n) if room.is_none_or(|room| n <= room / 16) => Ok(Some(n)),
            Err(_) if value == -1 => Ok(None),
            _ => invalid("nchunks", offset, value),
        }
    }
}

fn invalid<T>(field: &'static str, offset: usize, value: i64) -> Result<T, Error> {
    Err(Error::Invalid { structure: Structure::BloscpackHeader, field, offset: offset as u64, value })
}

impl Header {
    /// Reads the header at the start of `head`, which needs the first 40 bytes of the file, or all of a
    /// shorter one. `len` is the file's length, where it is known: no count may ask for more than that.
    ///
    /// A [`Layout::Mono`] answer is to be confirmed by its metadata being JSON.
    ///
    /// # Errors
    /// Names the field; for an unknown version byte, that byte.
    pub fn detect(head: &[u8], len: Option<u64>) -> Result<Header, Error> {
        let f = Fields(head);
        if f.bytes::<4>(0, "magic")? != MAGIC {
            return invalid("magic", 0, f.i32(0, "magic")?.into());
        }
        let version = f.u8(4, "version")?;
        let found = match version {
            1 => Header::parse_v1(&f, len),
            2 | 3 => Header::parse_long(&f, version, len),
            _ => invalid("version", 4, version.into()),
        };
        // A v0 file of one to three chunks looks like one of the later versions with an absurd count.
        found.or_else(|error| Header::parse_v0(&f, len).ok_or(error))
    }

    fn plain(layout: Layout, nchunks: Option<u64>) -> Header {
        Header {
            layout,
            offsets: false,
            metadata: false,
            checksum: Checksum::None,
            typesize: 0,
            chunk_size: None,
            last_chunk: None,
            nchunks,
            max_app: 0,
            meta_size: 0,
        }
    }

    fn parse_v0(f: &Fields<'_>, len: Option<u64>) -> Option<Header> {
        let nchunks = u64::from(u32::from_le_bytes(f.bytes(4, "nchunks").ok()?));
        let fits = len.is_none_or(|len| nchunks <= len.saturating_sub(8) / 16);
        let blosc = matches!(f.u8(8, "chunk"), Ok(1 | 2));
        (fits && blosc && nchunks > 0).then(|| Header::plain(Layout::V0, Some(nchunks)))
    }

    fn parse_v1(f: &Fields<'_>, len: Option<u64>) -> Result<Header, Error> {
        let reserved = f.bytes::<3>(5, "reserved")?;
        if reserved != [0; 3] {
            let [a, b, c] = reserved;
            return invalid("reserved", 5, i32::from_le_bytes([a, b, c, 0]).into());
        }
        let nchunks = f.count(8, len.map(|len| len.saturating_sub(16)))?;
        Ok(Header::plain(Layout::V1, nchunks))
    }

    fn parse_long(f: &Fields<'_>, version: u8, len: Option<u64>) -> Result<Header, Error> {
        let options = f.u8(5, "options")?;
        if options > 3 {
            return invalid("options", 5, options.into());
        }
        let id = f.u8(6, "checksum")?;
        let Some(checksum) = Checksum::from_id(id) else { return invalid("checksum", 6, id.into()) };
        let typesize = f.u8(7, "typesize")?;
        let chunk_size = f.size(8, "chunk-size")?;
        let last_chunk = f.size(12, "last-chunk")?;
        if let (Some(chunk), Some(last)) = (chunk_size, last_chunk)
            && last > chunk
        {
            return invalid("last-chunk", 12, last.into());
        }
        let room = len.map(|len| len.saturating_sub(32));
        let nchunks = f.count(16, room)?;
        let (offsets, metadata) = (options & 1 != 0, options & 2 != 0);
        let end = f.i64(24, if version == 2 { "reserved" } else { "max-app-chunks" })?;
        let layout = Header::long_layout(f, version, metadata, room)?;
        let (mut max_app, mut meta_size) = (0, 0);
        match layout {
            Layout::V2 if end != 0 => return invalid("reserved", 24, end),
            Layout::Mono => meta_size = f.i32(24, "meta-size")?.unsigned_abs(),
            Layout::V3 => match (u64::try_from(end), nchunks) {
                // The two together must stay countable, and their table must fit into the file.
                (Ok(app), Some(n)) if n.checked_add(app).is_some_and(|all| all <= i64::MAX as u64) => {
                    max_app = app;
                    let table = n.saturating_add(app).saturating_mul(8);
                    if offsets && room.is_some_and(|room| table > room) {
                        return invalid("max-app-chunks", 24, end);
                    }
                }
                (Ok(0), None) => {}
                _ => return invalid("max-app-chunks", 24, end),
            },
            _ => {}
        }
        if nchunks.is_none() && offsets {
            return invalid("nchunks (with an offsets table)", 16, -1);
        }
        Ok(Header {
            layout,
            offsets,
            metadata,
            checksum,
            typesize,
            chunk_size,
            last_chunk,
            nchunks,
            max_app,
            meta_size,
        })
    }

    fn long_layout(f: &Fields<'_>, version: u8, metadata: bool, room: Option<u64>) -> Result<Layout, Error> {
        if !metadata {
            return Ok(if version == 2 { Layout::V2 } else { Layout::V3 });
        }
        if version == 3 && f.bytes::<8>(32, "magic-format").is_ok_and(super::metadata::is_json) {
            return Ok(Layout::V3);
        }
        let size = f.i32(24, "meta-size")?;
        let fits = u64::try_from(size).is_ok_and(|size| size > 0 && room.is_none_or(|room| size <= room));
        match (f.i32(28, "reserved")? == 0 && fits, version) {
            (true, _) => Ok(Layout::Mono),
            (false, 3) => Ok(Layout::V3),
            (false, _) => invalid("meta-size", 24, size.into()),
        }
    }

    /// The header's bytes and how many of them count. A mono header with metadata gets version byte 2,
    /// which bloscpack 0.16 refuses cleanly (§10); one without is a v3 header.
    pub fn encode(&self) -> ([u8; 32], usize) {
        let count = |n: Option<u64>| n.and_then(|n| i64::try_from(n).ok()).unwrap_or(-1);
        let size = |n: Option<u32>| n.and_then(|n| i32::try_from(n).ok()).unwrap_or(-1).to_le_bytes();
        let mut out = [0u8; 32];
        let mut put = |offset: usize, bytes: &[u8]| {
            for (to, from) in out.iter_mut().skip(offset).zip(bytes) {
                *to = *from;
            }
        };
        put(0, &MAGIC);
        match self.layout {
            Layout::V0 => {
                put(4, &u32::try_from(self.nchunks.unwrap_or(0)).unwrap_or(u32::MAX).to_le_bytes());
            }
            Layout::V1 => {
                put(4, &[1]);
                put(8, &count(self.nchunks).to_le_bytes());
            }
            Layout::V2 | Layout::Mono | Layout::V3 => {
                let version = match self.layout {
                    Layout::V2 => 2,
                    Layout::Mono if self.metadata => 2,
                    _ => 3,
                };
                let options = u8::from(self.offsets) | u8::from(self.metadata) << 1;
                put(4, &[version, options, self.checksum.id(), self.typesize]);
                put(8, &size(self.chunk_size));
                put(12, &size(self.last_chunk));
                put(16, &count(self.nchunks).to_le_bytes());
                match self.layout {
                    Layout::Mono => put(24, &size(Some(self.meta_size))),
                    Layout::V3 => put(24, &count(Some(self.max_app)).to_le_bytes()),
                    _ => {}
                }
            }
        }
        (out, self.layout.header_len())
    }

    /// Entries of the offsets table: 0 without one.
    pub fn table_len(&self) -> u64 {
        if self.offsets { self.nchunks.unwrap_or(0).saturating_add(self.max_app) } else { 0 }
    }
}
