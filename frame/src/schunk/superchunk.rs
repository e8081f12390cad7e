//! [`SuperChunk`] itself: what it holds, how it is opened and created, and what it says of itself. The files beside this one
//! read it, change it and write it.

use super::checksum::{self, ChecksumState, Checksums};
use super::contiguous::Contiguous;
use super::draft::Pending;
use super::index::Index;
use super::meta::{Change, Metalayers};
use super::shared::{Shared, chunk_context};
use super::sparse::{INDEX_NAME, Sparse};
use super::store::ChunkStore;
use crate::cframe::Opened;
use crate::cframe::header::{ChunkSize, FrameType, Header};
use crate::cframe::index::Entry;
use crate::cframe::section::MAX_WRITTEN;
#[cfg(feature = "std")]
use crate::error::FileError;
use crate::error::{Error, IoKind, Structure};
use crate::io::{Directory, ReadAt, ReadOnly, Store};
#[cfg(feature = "std")]
use crate::io::{FsDir, PathFile};
use crate::limits::Limits;
use crate::shape::Geometry;
use crate::shape::metalayer::Metalayer;
use crate::spare::{Spare, Tools, tools};
use alloc::boxed::Box;
use alloc::vec::Vec;
use blosc_core::{Params, Pool, Special};
#[cfg(feature = "std")]
use std::path::Path;

/// Size of new chunks, in bytes, where nothing else was chosen.
pub const DEFAULT_CHUNKSIZE: u32 = 4 << 20;

/// A sequence of chunks in a frame. See the [module](crate::schunk) for an example.
///
/// `'a` is the lifetime of the store; it is `'static` for files and owned buffers.
pub struct SuperChunk<'a> {
    pub(super) store: Chunks<'a>,
    /// The header as it will be written; its counters are set by a commit.
    pub(super) header: Header,
    pub(super) index: Index,
    pub(super) metalayers: Metalayers,
    pub(super) checksums: Checksums,
    pub(super) pending: Pending,
    /// Whether the chunks have blocks of variable length, once that matters.
    pub(super) vl_blocks: Option<bool>,
    pub(super) chunksize: u32,
    /// Whether the committed frame is an array whose chunks fit its shape; edits must not break that.
    pub(super) was_array: bool,
    pub(super) blockshape: Vec<u32>,
    pub(super) threads: usize,
    pub(super) limits: Limits,
    pub(super) tools: Spare<Tools>,
    /// The tools of several threads, once they are needed.
    #[cfg_attr(not(feature = "std"), allow(dead_code))]
    pub(super) crew: Spare<Vec<Tools>>,
}

impl SuperChunk<'static> {
    /// A new contiguous frame in memory; see [`SuperChunk::into_bytes`].
    ///
    /// # Errors
    /// Parameters with which no chunk can be written, as of [`Params::check`].
    pub fn memory(params: &Params) -> Result<SuperChunk<'static>, Error> {
        SuperChunk::create(Vec::new(), params)
    }

    /// Opens a frame in a buffer, which must end where the frame ends.
    ///
    /// # Errors
    /// As [`SuperChunk::open`].
    pub fn from_bytes(bytes: Vec<u8>, limits: &Limits) -> Result<SuperChunk<'static>, Error> {
        let len = bytes.len() as u64;
        let sc = SuperChunk::open(bytes, limits)?;
        let (field, found) = ("frame_len (of a frame in a buffer)", sc.header.frame_len);
        let differs = Error::invalid(Structure::FrameHeader, field, 0x0f, found as i64);
        if found == len { Ok(sc) } else { Err(differs) }
    }
}

#[cfg(feature = "std")]
impl SuperChunk<'static> {
    /// Opens the frame in the file or directory `path` for reading, under the default limits.
    ///
    /// ```no_run
    /// use blosc_frame::SuperChunk;
    /// let mut days = SuperChunk::open_path_mut("days.b2frame")?;
    /// days.append(&[0; 800])?;
    /// days.commit()?;
    /// assert_eq!(SuperChunk::open_path("days.b2frame")?.nbytes() % 800, 0);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// What is no frame, or is damaged; errors of the file system. They name the path.
    pub fn open_path(path: impl AsRef<Path>) -> Result<SuperChunk<'static>, FileError> {
        let (path, limits) = (path.as_ref(), &Limits::DEFAULT);
        match path.is_dir() {
            true => FsDir::open(path).map_err(Error::from).and_then(|dir| SuperChunk::open_dir(dir, limits)),
            false => SuperChunk::open_read(PathFile::open(path)?, limits),
        }
        .map_err(FileError::at(path))
    }

    /// As [`SuperChunk::open_path`], to change it, too: other writers are kept out until it is dropped.
    ///
    /// # Errors
    /// As [`SuperChunk::open_path`], and as [`PathFile::open_rw`](crate::io::PathFile::open_rw).
    pub fn open_path_mut(path: impl AsRef<Path>) -> Result<SuperChunk<'static>, FileError> {
        let (path, limits) = (path.as_ref(), &Limits::DEFAULT);
        match path.is_dir() {
            true => {
                FsDir::open_rw(path).map_err(Error::from).and_then(|dir| SuperChunk::open_dir(dir, limits))
            }
            false => SuperChunk::open(PathFile::open_rw(path)?, limits),
        }
        .map_err(FileError::at(path))
    }
}

pub(super) type Chunks<'a> = Box<dyn ChunkStore + Send + Sync + 'a>;

pub(super) fn contiguous<'a>(store: impl Store + Send + Sync + 'a) -> Chunks<'a> {
    Box::new(Contiguous::new(Box::new(store)))
}

impl<'a> SuperChunk<'a> {
    /// Opens a frame in memory for reading.
    ///
    /// # Errors
    /// As [`SuperChunk::open`], under the [default limits](Limits::DEFAULT).
    pub fn from_slice(frame: &'a [u8]) -> Result<SuperChunk<'a>, Error> {
        SuperChunk::open(ReadOnly(frame), &Limits::DEFAULT)
    }

    /// Opens a contiguous frame for reading only: of a file, a map, an [`Offset`](crate::io::Offset).
    ///
    /// # Errors
    /// As [`SuperChunk::open`].
    pub fn open_read(
        source: impl ReadAt + Send + Sync + 'a,
        limits: &Limits,
    ) -> Result<SuperChunk<'a>, Error> {
        SuperChunk::open(ReadOnly(source), limits)
    }

    /// Opens a contiguous frame. Reads its header, index and trailer, nothing else.
    ///
    /// # Errors
    /// [`Error::Invalid`], [`Error::Truncated`], [`Error::Chunk`] and [`Error::Checksum`] with structure and offset;
    /// [`Error::Limit`]; errors of `store`.
    pub fn open(store: impl Store + Send + Sync + 'a, limits: &Limits) -> Result<SuperChunk<'a>, Error> {
        SuperChunk::open_store(contiguous(store), limits)
    }

    /// Opens a sparse frame: a directory with an index file. Where the directory is locked, what dead writers left in it
    /// is removed.
    ///
    /// # Errors
    /// As [`SuperChunk::open`], and [`Error::Missing`] without an index file.
    pub fn open_dir(
        dir: impl Directory + Send + Sync + 'a,
        limits: &Limits,
    ) -> Result<SuperChunk<'a>, Error> {
        SuperChunk::open_store(Box::new(Sparse::new(Box::new(dir))), limits)
    }

    /// Creates a contiguous frame in `store`, which is emptied. Nothing can be opened there before
    /// the first [`SuperChunk::commit`].
    ///
    /// # Errors
    /// [`Error::Codec`] for parameters that no chunk can have, and errors of `store`.
    pub fn create(
        mut store: impl Store + Send + Sync + 'a,
        params: &Params,
    ) -> Result<SuperChunk<'a>, Error> {
        params.check().map_err(Error::Codec)?;
        store.truncate(0)?;
        Ok(SuperChunk::new(FrameType::Contiguous, params, contiguous(store)))
    }

    /// Creates a sparse frame in `dir`, which must not hold one.
    ///
    /// # Errors
    /// As [`SuperChunk::create`], and a directory that holds an index file.
    pub fn create_dir(
        dir: impl Directory + Send + Sync + 'a,
        params: &Params,
    ) -> Result<SuperChunk<'a>, Error> {
        params.check().map_err(Error::Codec)?;
        if dir.contains(INDEX_NAME)? {
            return Err(IoKind::AlreadyExists.into());
        }
        Ok(SuperChunk::new(FrameType::Sparse, params, Box::new(Sparse::new(Box::new(dir)))))
    }

    pub(super) fn new(frame_type: FrameType, params: &Params, store: Chunks<'a>) -> SuperChunk<'a> {
        SuperChunk {
            store,
            header: Header::new(frame_type, params),
            index: Index::empty(ChunkSize::Unknown),
            metalayers: Metalayers::default(),
            checksums: Checksums::new(),
            pending: Pending::after(None),
            vl_blocks: None,
            chunksize: DEFAULT_CHUNKSIZE,
            was_array: false,
            blockshape: Vec::new(),
            threads: 1,
            limits: Limits::DEFAULT,
            tools: Spare::new(tools(1)),
            crew: Spare::new(Vec::new()),
        }
    }

    fn open_store(store: Chunks<'a>, limits: &Limits) -> Result<SuperChunk<'a>, Error> {
        let opened = store.open(limits)?;
        let mut sc = SuperChunk::new(opened.header.frame_type, &opened.header.params(), store);
        sc.limits = *limits;
        sc.load(&opened)?;
        sc.limits = limits.for_size(sc.size_for_limits()?);
        Ok(sc)
    }

    /// Bytes that count for [`Limits::expansion`]: of a sparse frame the index alone, unless all chunks are said to be so
    /// large that the limit matters. Looking at every file would take longer than opening the frame. What a server says
    /// that it has does not count.
    fn size_for_limits(&self) -> Result<u64, Error> {
        if self.is_far() {
            return Ok(0);
        }
        let large = matches!(self.header.chunksize, ChunkSize::Fixed(c) if u64::from(c) > self.limits.memory);
        if self.is_sparse() && !large { Ok(self.header.frame_len) } else { self.container_bytes() }
    }

    /// Takes over the state of a frame just opened.
    fn load(&mut self, opened: &Opened) -> Result<(), Error> {
        let (header, limits) = (opened.header, self.limits.chunk.output(u64::MAX));
        let (pool, _) = self.tools.own();
        let mut index = Index::opened(opened.entries(pool, &limits)?, header.chunksize, header.nbytes);
        let (metalayers, table) = Metalayers::opened(opened)?;
        self.checksums.open(opened, table, &mut index, pool, &limits);
        if let ChunkSize::Fixed(chunk) = header.chunksize {
            self.chunksize = chunk;
        }
        self.store.opened(opened, &index);
        (self.header, self.index, self.metalayers) = (header, index, metalayers);
        (self.pending, self.vl_blocks) = (Pending::after(Some(header)), None);
        // Chunks of an array may need the shape of its blocks.
        if let Some(geometry) = self.array_geometry() {
            self.blockshape = geometry.blocks().to_vec();
        }
        self.was_array = self.is_array();
        Ok(())
    }

    /// The geometry that the metalayer `b2nd` tells, if there is a usable one.
    pub(super) fn array_geometry(&self) -> Option<Geometry> {
        let meta = Metalayer::parse(self.metalayer("b2nd")?).ok()?;
        Geometry::of(&meta, self.header.typesize).ok()
    }

    /// Whether the frame is an array and has the chunks its shape demands.
    pub(super) fn is_array(&self) -> bool {
        self.array_geometry().is_some_and(|geometry| {
            let size = ChunkSize::Fixed(geometry.chunk_bytes());
            geometry.nchunks() == self.nchunks() && (self.nchunks() == 0 || self.header.chunksize == size)
        })
    }

    /// How many threads it uses.
    pub fn threads(&self) -> usize {
        self.threads
    }

    /// Uses up to `threads` threads for whole chunks, within the bound of a [`Pool`](blosc_core::Pool) (0: one per core).
    /// Default 1. Changes no byte.
    pub fn set_threads(&mut self, threads: usize) {
        let first = tools(threads);
        self.threads = first.0.threads();
        (self.tools, self.crew) = (Spare::new(first), Spare::new(Vec::new()));
    }

    /// Tells the block shape of the array in the chunks, which the filters ndcell and ndmean and the
    /// codec NDLZ need.
    pub fn set_blockshape(&mut self, blockshape: &[u32]) {
        self.blockshape = blockshape.to_vec();
    }

    pub(crate) fn index(&self) -> &Index {
        &self.index
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
        self.index.len()
    }
    /// Decoded bytes of all chunks.
    pub fn nbytes(&self) -> u64 {
        self.index.nbytes()
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
        self.header.frame_type == FrameType::Sparse
    }
    /// Parameters of new chunks.
    pub fn params(&self) -> Params {
        self.header.params()
    }
    /// Where chunk `k` lies, or what it is filled with.
    pub fn entry(&self, k: u64) -> Option<Entry> {
        self.index.get(k)
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
        self.checksums.fingerprint
    }
    /// Whether there are changes that are not committed.
    pub fn is_dirty(&self) -> bool {
        self.pending.frame || self.pending.metalayers != Change::No
    }

    /// What is known about checksums: whether they are there and still in force.
    pub fn checksum_state(&self) -> ChecksumState {
        self.checksums.state
    }

    /// Whether commits write checksums: on in new frames; in opened ones as they were.
    pub fn checksums(&self) -> bool {
        self.checksums.enabled
    }

    /// Switches checksums on or off for the commits to come. Chunks that were written without one
    /// stay without; a [`compact`](SuperChunk::compact) makes them.
    pub fn set_checksums(&mut self, on: bool) {
        self.checksums.enabled = on;
        self.pending.frame = true;
    }

    /// Whether chunks that are read whole are compared with their checksums, where there are any. The default is yes:
    /// a chunk that differs is refused with [`Error::Checksum`], which names it. The whole of a chunk is read where
    /// all of it is decoded or handed out as it is stored, and where a part of it is wanted from a file and takes the
    /// whole to be read. Other reads of a part check what they decode by the format's own rules only.
    pub fn set_verify(&mut self, on: bool) {
        self.checksums.verify = on;
    }

    /// Does something with [`set_verify`](SuperChunk::set_verify) on or off.
    pub(crate) fn verifying<T>(&mut self, on: bool, work: impl FnOnce(&mut Self) -> T) -> T {
        let before = core::mem::replace(&mut self.checksums.verify, on);
        let result = work(self);
        self.checksums.verify = before;
        result
    }

    /// Why nothing is compared with the checksums that the frame has, where only their form or type is the reason.
    pub fn unchecked(&self) -> Option<Error> {
        self.checksums.state.unknown()
    }

    /// Whether checksums are on but have no room: all 16 vlmetalayers are taken.
    pub fn checksums_left_out(&self) -> bool {
        self.checksums.enabled && self.metalayers.trailer.len() >= MAX_WRITTEN
    }

    /// The stored checksum of chunk `k`, if there is one.
    pub fn chunk_checksum(&self, k: u64) -> Option<u64> {
        self.index.sum(k)
    }

    /// What the table says about the metalayers; `None` if there is no usable table.
    pub(crate) fn metalayers_checksum(&self) -> Option<u64> {
        Some(self.checksums.metalayers).filter(|sum| *sum != checksum::UNKNOWN)
    }

    pub(crate) fn shared(&self) -> Shared<'_> {
        let SuperChunk { store, index, checksums, limits, header, blockshape, .. } = self;
        let context = chunk_context(header.typesize, blockshape);
        Shared { store: &**store, pieces: None, index, verify: checksums.verify, checksums, limits, context }
    }

    /// Reads chunks with tools that no other reader has meanwhile.
    pub(super) fn reading<'s, R>(&'s self, read: impl FnOnce(Shared<'s>, &mut Pool, &mut Vec<u8>) -> R) -> R {
        self.tools.with(|| tools(self.threads), |(pool, buf)| read(self.shared(), pool, buf))
    }

    /// Looks whether another writer changed the frame since it was opened or last refreshed, and takes
    /// over its new state. Tells whether there was anything new. Changes of one's own must be
    /// committed before.
    ///
    /// # Errors
    /// [`Error::Changed`] where there are changes that are not committed; as [`SuperChunk::open`].
    pub fn refresh(&mut self) -> Result<bool, Error> {
        let Some(committed) = self.pending.committed else { return Ok(false) };
        if self.is_dirty() {
            return Err(Error::Changed { what: "there are changes of this handle that are not committed" });
        }
        if self.store.changed(&committed, true)?.is_none() {
            return Ok(false);
        }
        self.store.follow()?;
        self.load(&self.reopen()?).map(|()| true)
    }

    /// Reads header, index and trailer again.
    pub(crate) fn reopen(&self) -> Result<Opened, Error> {
        self.store.open(&self.limits)
    }

    /// Forgets all changes since the last commit. Before the first one, the frame is then as it was created: without
    /// chunks and metalayers.
    ///
    /// # Errors
    /// Errors of reading what is stored.
    pub fn discard(&mut self) -> Result<(), Error> {
        if self.pending.committed.is_some() {
            return self.load(&self.reopen()?);
        }
        self.store.discard(None);
        self.header = Header::new(self.header.frame_type, &self.params());
        (self.index, self.metalayers) = (Index::empty(ChunkSize::Unknown), Metalayers::default());
        (self.pending, self.vl_blocks) = (Pending::after(None), None);
        self.blockshape.clear();
        Ok(())
    }

    /// An error if another writer changed the frame since this handle last read or wrote it; `whole` is that of
    /// [`ChunkStore::changed`].
    pub(super) fn check_unchanged(&self, whole: bool) -> Result<(), Error> {
        let Some(committed) = self.pending.committed else { return Ok(()) };
        self.store.changed(&committed, whole)?.map_or(Ok(()), |what| Err(Error::Changed { what }))
    }
}

impl Drop for SuperChunk<'_> {
    /// What no commit took up goes, chunk files and bytes behind the frame, unless another writer was here: they
    /// may be its own by now.
    fn drop(&mut self) {
        if self.pending.written && self.check_unchanged(true).is_ok() {
            self.store.discard(self.pending.committed.as_ref());
        }
    }
}
