//! [`SuperChunk`]: a sequence of chunks that together hold one long array of items, stored as a
//! contiguous or sparse frame, in memory or on disk. One API for all four.
//!
//! ```
//! use blosc_core::Params;
//! use blosc_frame::SuperChunk;
//!
//! let mut sc = SuperChunk::memory(&Params::new(4));
//! sc.set_chunksize(400)?;
//! sc.append(&[1; 1000])?;                     // two chunks of 400 bytes and one of 200
//! sc.set_vlmetalayer("note", b"\xa2hi")?;
//! let frame = sc.into_bytes()?;
//!
//! let mut sc = SuperChunk::from_slice(&frame)?;
//! let mut ten = [0; 40];
//! sc.read_items(95..105, &mut ten)?;          // crosses from chunk 0 to chunk 1
//! assert_eq!((sc.nchunks(), ten), (3, [1; 40]));
//! # Ok::<(), blosc_frame::Error>(())
//! ```
//! Changes gather in memory and behind the end of the frame; [`SuperChunk::commit`] makes all of them
//! visible in one atomic step. Without it the frame on disk stays what it was.

mod append;
mod checksum;
mod commit;
mod contiguous;
mod edit;
mod fill;
mod load;
mod meta;
#[cfg(feature = "std")]
pub(crate) mod parallel;
mod place;
mod put;
mod read;
mod rewrite;
mod shared;
mod sizes;
#[cfg(feature = "std")]
mod stream;

use crate::cframe::header::{ChunkSize, FIXED_LEN, FrameType, Header};
use crate::cframe::index::Entry;
use crate::cframe::{Entries, Opened, open_at};
use crate::error::{Error, IoKind};
use crate::io::{Directory, ReadAt, ReadOnly, Store};
use crate::limits::Limits;
use crate::shape::Geometry;
use crate::shape::metalayer::Metalayer;
use alloc::boxed::Box;
use alloc::vec::Vec;
use blosc_core::{Params, Pool, Special};
pub use checksum::ChecksumState;
use checksum::Hashes;
use contiguous::Contiguous;
pub(crate) use load::{Loaded, Wanted};
use meta::Meta;
use place::Place;
pub(crate) use place::{INDEX_NAME, resize};
pub use read::RawChunk;
pub use rewrite::Compacted;
pub(crate) use shared::Shared;
use sizes::Sizes;
#[cfg(feature = "std")]
pub use stream::{Reader, Writer};

/// Size of new chunks, in bytes, where nothing else was chosen.
pub const DEFAULT_CHUNKSIZE: u32 = 4 << 20;

/// A sequence of chunks in a frame. See the [module](self) for an example.
///
/// `'a` is the lifetime of the store; it is `'static` for files and owned buffers.
pub struct SuperChunk<'a> {
    place: Place<'a>,
    /// The header as it will be written; its counters are set by a commit.
    header: Header,
    /// The header's first bytes as last read or written; `None` before the first commit of a new frame.
    committed: Option<Header>,
    /// Of a sparse frame, and of one that is written in place, the checksum of header, index and trailer as last read or
    /// written: a commit may leave the header as it was.
    index_sum: u64,
    entries: Entries,
    sizes: Sizes,
    metalayers: Vec<Meta>,
    vlmetalayers: Vec<Meta>,
    /// Whether header metalayers differ from what is stored: not at all, in content, or in length.
    metalayers_changed: Change,
    /// Whether anything else differs from what is stored.
    dirty: bool,
    /// The stored header's bytes 57..H.
    section: Vec<u8>,
    /// Whether the chunks have blocks of variable length, once that matters.
    vl_blocks: Option<bool>,
    /// Stored bytes of all chunks of a sparse frame.
    stored_bytes: u64,
    /// Chunk files of a sparse frame that lost their entry since the last commit.
    obsolete: Vec<u32>,
    fingerprint: (u8, [u8; 16]),
    hashes: Hashes,
    chunksize: u32,
    /// Whether the committed frame is an array whose chunks fit its shape; edits must not break that.
    was_array: bool,
    blockshape: Vec<u32>,
    pool: Pool,
    threads: usize,
    limits: Limits,
    scratch: Vec<u8>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Change {
    No,
    Content,
    Length,
}

impl SuperChunk<'static> {
    /// A new contiguous frame in memory; see [`SuperChunk::into_bytes`].
    pub fn memory(params: &Params) -> SuperChunk<'static> {
        SuperChunk::new(FrameType::Contiguous, params, contiguous(Box::new(Vec::new())))
    }

    /// Opens a frame in a buffer, which must end where the frame ends.
    pub fn from_bytes(bytes: Vec<u8>, limits: &Limits) -> Result<SuperChunk<'static>, Error> {
        let len = bytes.len() as u64;
        let sc = SuperChunk::open(bytes, limits)?;
        if sc.header.frame_len != len {
            return Err(Error::Invalid {
                structure: crate::error::Structure::FrameHeader,
                field: "frame_len (of a frame in a buffer)",
                offset: 0x0f,
                value: sc.header.frame_len as i64,
            });
        }
        Ok(sc)
    }
}

fn contiguous<'a>(store: Box<dyn Store + Send + Sync + 'a>) -> Place<'a> {
    Place::Contiguous(Contiguous::new(store))
}

impl<'a> SuperChunk<'a> {
    /// Opens a frame in memory for reading.
    pub fn from_slice(frame: &'a [u8]) -> Result<SuperChunk<'a>, Error> {
        SuperChunk::open(ReadOnly(frame), &Limits::DEFAULT)
    }

    /// Opens a contiguous frame for reading only: of a file, a map, an [`Offset`](crate::io::Offset).
    pub fn open_read(
        source: impl ReadAt + Send + Sync + 'a,
        limits: &Limits,
    ) -> Result<SuperChunk<'a>, Error> {
        SuperChunk::open(ReadOnly(source), limits)
    }

    /// Opens a contiguous frame. Reads its header, index and trailer, nothing else.
    pub fn open(store: impl Store + Send + Sync + 'a, limits: &Limits) -> Result<SuperChunk<'a>, Error> {
        let opened = open_at(&store, FrameType::Contiguous, limits)?;
        SuperChunk::from_opened(opened, contiguous(Box::new(store)), limits)
    }

    /// Opens a sparse frame: a directory with an index file. Where the directory is locked, what dead writers left in it
    /// is removed.
    pub fn open_dir(
        dir: impl Directory + Send + Sync + 'a,
        limits: &Limits,
    ) -> Result<SuperChunk<'a>, Error> {
        let opened = open_at(&dir.open(INDEX_NAME, false)?, FrameType::Sparse, limits)?;
        let place = Place::Sparse { dir: Box::new(dir), fresh: Vec::new(), next_id: 0 };
        let sc = SuperChunk::from_opened(opened, place, limits)?;
        sc.sweep();
        Ok(sc)
    }

    /// Creates a contiguous frame in `store`, which is emptied. Nothing can be opened there before
    /// the first [`SuperChunk::commit`].
    pub fn create(
        mut store: impl Store + Send + Sync + 'a,
        params: &Params,
    ) -> Result<SuperChunk<'a>, Error> {
        store.truncate(0)?;
        Ok(SuperChunk::new(FrameType::Contiguous, params, contiguous(Box::new(store))))
    }

    /// Creates a sparse frame in `dir`, which must not hold one.
    pub fn create_dir(
        dir: impl Directory + Send + Sync + 'a,
        params: &Params,
    ) -> Result<SuperChunk<'a>, Error> {
        if dir.contains(INDEX_NAME)? {
            return Err(IoKind::AlreadyExists.into());
        }
        let place = Place::Sparse { dir: Box::new(dir), fresh: Vec::new(), next_id: 0 };
        Ok(SuperChunk::new(FrameType::Sparse, params, place))
    }

    fn new(frame_type: FrameType, params: &Params, place: Place<'a>) -> SuperChunk<'a> {
        SuperChunk {
            place,
            header: Header::new(frame_type, params),
            committed: None,
            index_sum: 0,
            entries: Entries::List(Vec::new()),
            sizes: Sizes::Regular { chunk: 0, total: 0 },
            metalayers: Vec::new(),
            vlmetalayers: Vec::new(),
            metalayers_changed: Change::No,
            dirty: true,
            section: Vec::new(),
            vl_blocks: None,
            stored_bytes: 0,
            obsolete: Vec::new(),
            fingerprint: (0, [0; 16]),
            hashes: Hashes::new(),
            chunksize: DEFAULT_CHUNKSIZE,
            was_array: false,
            blockshape: Vec::new(),
            pool: Pool::new(1),
            threads: 1,
            limits: Limits::DEFAULT,
            scratch: Vec::new(),
        }
    }

    fn from_opened(opened: Opened, place: Place<'a>, limits: &Limits) -> Result<SuperChunk<'a>, Error> {
        let mut sc = SuperChunk::new(opened.header.frame_type, &opened.header.params(), place);
        sc.limits = *limits;
        sc.load(&opened)?;
        sc.limits = limits.for_size(sc.size_for_limits()?);
        Ok(sc)
    }

    /// Bytes that count for [`Limits::expansion`]: of a sparse frame the index alone, unless all chunks are said to be so
    /// large that the limit matters. Looking at every file would take longer than opening the frame.
    fn size_for_limits(&self) -> Result<u64, Error> {
        let large = matches!(self.header.chunksize, ChunkSize::Fixed(c) if u64::from(c) > Limits::ALWAYS);
        if self.is_sparse() && !large { Ok(self.header.frame_len) } else { self.container_bytes() }
    }

    /// Takes over the state of a frame just opened.
    fn load(&mut self, opened: &Opened) -> Result<(), Error> {
        let header = opened.header;
        self.entries = opened.entries(&mut self.pool, &self.limits)?;
        self.metalayers = meta::list(&opened.metalayers()?);
        self.vlmetalayers = meta::list(&opened.vlmetalayers()?);
        let limits = self.chunk_limits();
        self.hashes.open(
            opened.tail.fingerprint_type,
            &mut self.vlmetalayers,
            &self.entries,
            &mut self.pool,
            &limits,
        );
        self.fingerprint = (opened.tail.fingerprint_type, opened.tail.fingerprint);
        self.sizes = match header.chunksize {
            ChunkSize::Fixed(chunk) => Sizes::Regular { chunk, total: header.nbytes },
            ChunkSize::Variable if self.entries.len() > 0 => Sizes::Unread { total: header.nbytes },
            ChunkSize::Variable => Sizes::each(Vec::new()),
            ChunkSize::Unknown => Sizes::Regular { chunk: 0, total: 0 },
        };
        if let ChunkSize::Fixed(chunk) = header.chunksize {
            self.chunksize = chunk;
        }
        match &mut self.place {
            Place::Contiguous(frame) => {
                let payload = if header.nbytes == 0 { 0 } else { header.cbytes };
                frame.opened(u64::from(header.header_len), payload, header.frame_len, false);
            }
            Place::Sparse { fresh, next_id, .. } => {
                fresh.clear();
                let max = match &self.entries {
                    Entries::Repeated(raw, _) => *raw,
                    Entries::List(list) => list.iter().copied().max().unwrap_or(-1),
                };
                *next_id = (*next_id).max(u32::try_from(max.saturating_add(1)).unwrap_or(0));
            }
        }
        self.section = opened.head.get(FIXED_LEN..).unwrap_or(&[]).to_vec();
        self.vl_blocks = None;
        self.stored_bytes = header.cbytes;
        self.obsolete.clear();
        self.header = header;
        // Chunks of an array may need the shape of its blocks.
        if let Some(geometry) = self.array_geometry() {
            self.blockshape = geometry.blocks().to_vec();
        }
        self.was_array = self.is_array();
        self.committed = Some(header);
        if self.is_sparse() || self.is_in_place() {
            self.index_sum = checksum::of_parts(&[&opened.head, &opened.index, &opened.trailer]);
        }
        self.dirty = false;
        self.metalayers_changed = Change::No;
        Ok(())
    }

    /// The geometry that the metalayer `b2nd` tells, if there is a usable one.
    fn array_geometry(&self) -> Option<Geometry> {
        let meta = Metalayer::parse(self.metalayer("b2nd")?).ok()?;
        Geometry::of(&meta, self.header.typesize).ok()
    }

    /// Whether the frame is an array and has the chunks its shape demands.
    fn is_array(&self) -> bool {
        self.array_geometry().is_some_and(|geometry| {
            let size = ChunkSize::Fixed(geometry.chunk_bytes());
            geometry.nchunks() == self.nchunks() && (self.nchunks() == 0 || self.header.chunksize == size)
        })
    }

    /// Uses up to `threads` threads for whole chunks (0: one per core). Default 1. Changes no byte.
    pub fn set_threads(&mut self, threads: usize) {
        #[cfg(feature = "std")]
        let threads = match threads {
            0 => std::thread::available_parallelism().map_or(1, core::num::NonZero::get),
            n => n,
        };
        self.threads = threads.max(1);
        self.pool = Pool::new(self.threads);
    }

    /// Tells the block shape of the array in the chunks, which the filters ndcell and ndmean and the
    /// codec NDLZ need.
    pub fn set_blockshape(&mut self, blockshape: &[u32]) {
        self.blockshape = blockshape.to_vec();
    }

    /// The limits it was opened with.
    pub fn limits(&self) -> &Limits {
        &self.limits
    }
    /// Changes the limits for what is read from now on.
    pub fn set_limits(&mut self, limits: &Limits) {
        self.limits = *limits;
    }
    /// The fixed part of the header; its counters are those of the last commit.
    pub fn header(&self) -> &Header {
        &self.header
    }
    /// Number of chunks.
    pub fn nchunks(&self) -> u64 {
        self.entries.len()
    }
    /// Decoded bytes of all chunks.
    pub fn nbytes(&self) -> u64 {
        self.sizes.total()
    }
    /// Item size in bytes.
    pub fn typesize(&self) -> u32 {
        self.header.typesize
    }
    /// Number of whole items.
    pub fn nitems(&self) -> u64 {
        self.nbytes().checked_div(u64::from(self.typesize())).unwrap_or(0)
    }
    /// How chunk sizes are declared.
    pub fn chunksize(&self) -> ChunkSize {
        self.header.chunksize
    }
    /// Whether the chunks lie in files of their own.
    pub fn is_sparse(&self) -> bool {
        self.place.is_sparse()
    }
    /// Parameters of new chunks.
    pub fn params(&self) -> Params {
        self.header.params()
    }
    /// Where chunk `k` lies, or what it is filled with.
    pub fn entry(&self, k: u64) -> Option<Entry> {
        Entry::from_raw(self.entries.get(k)?)
    }
    /// The kind of chunk `k`, if it is a special one without stored bytes.
    pub fn special(&self, k: u64) -> Option<Special> {
        match self.entry(k)? {
            Entry::Special(kind) => Some(kind),
            Entry::Stored(_) => None,
        }
    }
    /// The fingerprint's type and bytes, as last read or written.
    pub fn fingerprint(&self) -> (u8, [u8; 16]) {
        self.fingerprint
    }
    /// Whether there are changes that are not committed.
    pub fn is_dirty(&self) -> bool {
        self.dirty || self.metalayers_changed != Change::No
    }

    /// Looks whether another writer changed the frame since it was opened or last refreshed, and takes
    /// over its new state. Tells whether there was anything new. Changes of one's own must be
    /// committed before.
    pub fn refresh(&mut self) -> Result<bool, Error> {
        let Some(committed) = self.committed else { return Ok(false) };
        if self.is_dirty() {
            return Err(Error::Changed { what: "there are changes of this handle that are not committed" });
        }
        if self.is_current()? && self.is_stored(&committed)? {
            return Ok(false);
        }
        if let Place::Contiguous(frame) = &mut self.place {
            frame.store.follow()?;
        }
        let opened = self.reopen()?;
        self.load(&opened)?;
        Ok(true)
    }

    /// Reads header, index and trailer again.
    pub(crate) fn reopen(&self) -> Result<Opened, Error> {
        match &self.place {
            Place::Contiguous(frame) => open_at(&*frame.store, FrameType::Contiguous, &self.limits),
            Place::Sparse { dir, .. } => {
                open_at(&dir.open(INDEX_NAME, false)?, FrameType::Sparse, &self.limits)
            }
        }
    }

    /// Whether the path still names the file that was opened.
    fn is_current(&self) -> Result<bool, Error> {
        match &self.place {
            Place::Contiguous(frame) => Ok(frame.store.is_current()?),
            Place::Sparse { dir, .. } => Ok(dir.is_current()?),
        }
    }

    /// Whether chunks have been written since the last commit.
    fn has_written(&self) -> bool {
        match &self.place {
            Place::Contiguous(frame) => self.committed.is_some_and(|header| frame.end > header.frame_len),
            Place::Sparse { fresh, .. } => !fresh.is_empty(),
        }
    }

    /// An error if another writer changed the frame since this handle last read or wrote it.
    fn check_unchanged(&self) -> Result<(), Error> {
        let Some(committed) = self.committed else { return Ok(()) };
        if !self.is_current()? {
            return Err(Error::Changed {
                what: "the file: another one has its name, or none; refresh, then edit",
            });
        }
        if !self.is_stored(&committed)? {
            return Err(Error::Changed { what: "the frame's header; refresh, then edit" });
        }
        Ok(())
    }

    /// Whether what was committed is what is stored. Every commit of a contiguous frame shows in its header, unless it is
    /// written in place.
    fn is_stored(&self, committed: &Header) -> Result<bool, Error> {
        match &self.place {
            Place::Contiguous(frame) => {
                let mut fixed = [0; FIXED_LEN];
                frame.store.read_exact_at(0, &mut fixed)?;
                if Header::parse(&fixed)? != *committed {
                    return Ok(false);
                }
                let head = u64::from(committed.header_len);
                let payload = if committed.nbytes == 0 { 0 } else { committed.cbytes };
                let parts = [0..head, head.saturating_add(payload)..committed.frame_len];
                Ok(!self.is_in_place() || checksum::of_ranges(&*frame.store, parts)? == self.index_sum)
            }
            Place::Sparse { dir, .. } => {
                let index = dir.open(INDEX_NAME, false)?;
                Ok(checksum::of_ranges(&*index, core::iter::once(0..committed.frame_len))? == self.index_sum)
            }
        }
    }
}

impl Drop for SuperChunk<'_> {
    /// What no commit took up goes, chunk files and bytes behind the frame, unless another writer was here: they
    /// may be its own by now.
    fn drop(&mut self) {
        if !self.has_written() || self.check_unchanged().is_err() {
            return;
        }
        let len = self.committed.map_or(u64::MAX, |header| header.frame_len);
        match &mut self.place {
            Place::Contiguous(frame) => {
                let _ = frame.store.truncate(len);
            }
            Place::Sparse { dir, fresh, .. } => {
                if self.committed.is_some() || dir.contains(INDEX_NAME).is_ok_and(|there| !there) {
                    for id in fresh {
                        let _ = dir.remove(&place::chunk_name(*id));
                    }
                }
            }
        }
    }
}
