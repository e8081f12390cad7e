//! `blosc2_schunk`: a public structure that callers read, and behind it a `SuperChunk`.
//!
//! ```text
//! Owned { public: Schunk   what C sees; `sync` brings its counters up to date after each change
//!         inner: Inner }   the frame, and what the public part points to
//! ```
//! A pointer to the public part is a pointer to the whole. `session.rs` commits every change of a frame in a file at once.

mod access;
mod chunks;
mod data;
mod files;
pub mod lazy;
mod meta;
mod session;
mod slices;
mod vlmeta;

use crate::abi::{CParams, DParams, Io, Metalayer, Schunk, Storage};
use crate::context::{Context, blosc2_free_ctx};
use crate::error::*;
use crate::memory::{copied, release, string, text, zeros};
use crate::store::{self, CallerDir, CallerFile, InPlace};
use blosc_core::Params;
use blosc_frame::SuperChunk;
use blosc_frame::cframe::header::ChunkSize;
use blosc_frame::io::{Offset, SidecarLock};
use blosc_frame::schunk::RawChunk;
use core::ffi::{c_int, c_void};
use core::ptr;
use data::Data;
use session::Session;
use std::ffi::CString;
use std::fs::File;
use std::path::{Path, PathBuf};

use access::Access;
pub use chunks::{append, fill_special, update};
pub use files::{frame_bytes, frame_out, from_buffer, in_memory, open, save, save_append};
pub use session::{blosc2_schunk_refresh as refresh, changing, reading, session};

/// The whole of a super-chunk.
#[repr(C)]
pub struct Owned {
    pub public: Schunk,
    pub inner: Inner,
}

/// What C does not see.
pub struct Inner {
    pub frame: SuperChunk<'static>,
    /// Whether others can see the frame: each change is committed.
    is_stored: bool,
    /// Sum of the chunks' sizes.
    cbytes: i64,
    /// What `public.storage` points to.
    storage: Box<Stored>,
    blockshape: Vec<i64>,
    session: Session,
    data: Data,
}

struct Stored {
    storage: Storage,
    cparams: CParams,
    dparams: DParams,
    io: Io,
    urlpath: Option<CString>,
}

/// Limits of what is opened: any size of chunk that the format allows, otherwise those of `blosc-frame`.
pub fn limits() -> blosc_frame::Limits {
    let chunk = blosc_core::Limits::DEFAULT.output(1 << 31);
    blosc_frame::Limits::DEFAULT.chunk(chunk)
}

/// # Safety
/// `schunk` is null or a super-chunk of this library that no other call uses now.
pub unsafe fn owned<'a>(schunk: *mut Schunk) -> Result<&'a mut Owned> {
    // SAFETY: as the caller promises; every super-chunk is made as an `Owned`, whose first field this is.
    unsafe { schunk.cast::<Owned>().as_mut() }.ok_or(NULL_POINTER)
}

/// What the caller asks of a new super-chunk, with defaults where it says nothing.
pub struct Asked {
    pub contiguous: bool,
    pub urlpath: Option<String>,
    pub cparams: CParams,
    pub dparams: DParams,
    io: Io,
    access: Access,
    locking: bool,
}

impl Asked {
    /// These settings with other compression parameters.
    pub fn with_cparams(self, cparams: CParams) -> Asked {
        Asked { cparams, ..self }
    }

    /// # Safety
    /// `storage` is null or valid, and so are its pointers.
    pub unsafe fn of(storage: *const Storage) -> Result<Asked> {
        let mut asked = Asked {
            contiguous: false,
            urlpath: None,
            cparams: CParams::DEFAULT,
            dparams: DParams::DEFAULT,
            io: Io { id: 0, name: c"filesystem".as_ptr(), params: ptr::null_mut() },
            access: Access::Files,
            locking: false,
        };
        // SAFETY: null or valid, as the caller promises.
        let Some(storage) = (unsafe { storage.as_ref() }) else { return Ok(asked) };
        // SAFETY: `storage` is valid, and so the pointers in it are null or valid.
        unsafe {
            asked.contiguous = storage.contiguous;
            if !storage.urlpath.is_null() {
                asked.urlpath = Some(plain_path(text(storage.urlpath)?).to_owned());
            }
            asked.cparams = storage.cparams.as_ref().copied().unwrap_or(asked.cparams);
            asked.dparams = storage.dparams.as_ref().copied().unwrap_or(asked.dparams);
            asked.locking = session::is_locking(storage.io.as_ref());
            if let Some(io) = storage.io.as_ref() {
                asked.access = Access::of(io)?;
                asked.io = *io;
            }
        }
        Ok(asked)
    }
}

/// What follows `file:///`, or `path` as it is. C-Blosc2 counts the third slash to the prefix: the rest may be relative.
pub fn plain_path(path: &str) -> &str {
    path.strip_prefix("file:///").unwrap_or(path)
}

/// A frame, and how it is kept.
struct Kept {
    frame: SuperChunk<'static>,
    /// Whether others can see it.
    is_stored: bool,
    lock: Option<SidecarLock>,
}

/// A super-chunk around `frame`. `cbytes`: sum of its chunks' sizes.
fn wrap(kept: Kept, asked: Asked, cbytes: i64) -> Result<*mut Schunk> {
    let Kept { frame, is_stored, lock } = kept;
    let urlpath = asked.urlpath.map(CString::new).transpose().map_err(|_| INVALID_PARAM)?;
    let null = ptr::null_mut();
    let stored = Stored {
        storage: Storage {
            contiguous: asked.contiguous,
            urlpath: null,
            cparams: ptr::null_mut(),
            dparams: ptr::null_mut(),
            io: ptr::null_mut(),
        },
        cparams: asked.cparams,
        dparams: asked.dparams,
        io: asked.io,
        urlpath,
    };
    let session = Session { lock, ..Session::default() };
    let data = Data::new(!is_stored && !asked.contiguous);
    let inner =
        Inner { frame, is_stored, cbytes, storage: Box::new(stored), blockshape: Vec::new(), session, data };
    // SAFETY: numbers, pointers, `false` and arrays of these: all zeros are a valid value of each.
    let public: Schunk = unsafe { core::mem::zeroed() };
    let raw = Box::into_raw(Box::new(Owned { public, inner }));
    // SAFETY: it has just been made, and no other pointer to it exists.
    let owned = unsafe { &mut *raw };
    let c = &mut owned.inner.storage.cparams;
    c.schunk = raw.cast();
    owned.inner.storage.dparams.schunk = raw.cast();
    owned.inner.storage.dparams.typesize = c.typesize;
    let c = *c;
    let stored = &mut *owned.inner.storage;
    stored.storage.cparams = &raw mut stored.cparams;
    stored.storage.dparams = &raw mut stored.dparams;
    stored.storage.io = &raw mut stored.io;
    stored.storage.urlpath = stored.urlpath.as_ref().map_or(ptr::null_mut(), |path| path.as_ptr().cast_mut());
    owned.public.storage = &raw mut stored.storage;
    owned.public.frame =
        if stored.storage.contiguous || is_stored { raw.cast::<c_void>() } else { ptr::null_mut() };
    owned.public.version = 0;
    owned.public.compcode = c.compcode;
    owned.public.compcode_meta = c.compcode_meta;
    owned.public.clevel = c.clevel;
    owned.public.splitmode = u8::try_from(c.splitmode).unwrap_or(4);
    owned.public.typesize = c.typesize;
    owned.public.blocksize = c.blocksize;
    owned.public.use_dict = u8::from(c.use_dict != 0);
    owned.public.filters = c.filters;
    owned.public.filters_meta = c.filters_meta;
    owned.public.tuner_params = c.tuner_params;
    owned.public.tuner_id = c.tuner_id;
    // SAFETY: the pointers of the parameters are null or valid, as the interface says of what they were copied from.
    unsafe {
        owned.public.cctx = Box::into_raw(Box::new(Context::compressing(c)));
        owned.public.dctx = Box::into_raw(Box::new(Context::decompressing(owned.inner.storage.dparams)));
    }
    owned.inner.frame.set_threads(usize::try_from(owned.inner.storage.dparams.nthreads.max(1)).unwrap_or(1));
    owned.sync_meta()?;
    owned.sync();
    owned.sync_data();
    Ok(raw.cast())
}

impl Owned {
    /// The counters that C reads.
    pub fn sync(&mut self) {
        let frame = &self.inner.frame;
        let long = |n: u64| i64::try_from(n).unwrap_or(i64::MAX);
        self.public.nchunks = long(frame.nchunks());
        self.public.nbytes = long(frame.nbytes());
        self.public.cbytes = self.inner.cbytes;
        self.public.chunksize = match frame.chunksize() {
            ChunkSize::Fixed(size) => i32::try_from(size).unwrap_or(i32::MAX),
            // Callers may set it before the first chunk.
            ChunkSize::Unknown => self.public.chunksize,
            ChunkSize::Variable => 0,
        };
    }

    /// Takes over the size of chunks that the caller set in the structure before the first chunk.
    pub fn declare_chunksize(&mut self) -> Result<()> {
        let size = u32::try_from(self.public.chunksize).ok().filter(|&size| size > 0);
        if let (ChunkSize::Unknown, Some(size)) = (self.inner.frame.chunksize(), size) {
            self.inner.frame.set_chunksize(size)?;
        }
        Ok(())
    }

    /// The metalayers that C reads, with their content as it is stored.
    pub fn sync_meta(&mut self) -> Result<()> {
        self.release_meta();
        self.public.change_tick += 1;
        let names: Vec<String> = self.inner.frame.metalayer_names().collect();
        for (place, name) in self.public.metalayers.iter_mut().zip(&names) {
            let content = self.inner.frame.metalayer(name).unwrap_or(&[]);
            *place = metalayer(name, content)?;
            self.public.nmetalayers += 1;
        }
        let names: Vec<String> = self.inner.frame.vlmetalayer_names().collect();
        for (place, name) in self.public.vlmetalayers.iter_mut().zip(&names) {
            *place = metalayer(name, self.inner.frame.vlmetalayer_chunk(name).unwrap_or(&[]))?;
            self.public.nvlmetalayers += 1;
        }
        self.set_blockshape();
        Ok(())
    }

    /// The block shape of the array in the metalayer `b2nd`, for filters that need it.
    fn set_blockshape(&mut self) {
        let meta =
            self.inner.frame.metalayer("b2nd").and_then(|content| crate::b2nd::Meta::parse(content).ok());
        let Some(meta) = meta else { return };
        self.inner.frame.set_blockshape(
            &meta.blockshape.iter().map(|&n| u32::try_from(n).unwrap_or(0)).collect::<Vec<_>>(),
        );
        self.inner.blockshape = meta.blockshape.iter().map(|&n| i64::from(n)).collect();
        self.public.ndim = i8::try_from(self.inner.blockshape.len()).unwrap_or(0);
        self.public.blockshape = self.inner.blockshape.as_mut_ptr();
    }

    fn release_meta(&mut self) {
        let places = self.public.metalayers.iter_mut().chain(self.public.vlmetalayers.iter_mut());
        for place in places.filter(|place| !place.is_null()) {
            // SAFETY: made by `metalayer`, and released once.
            unsafe {
                release((**place).name);
                release((**place).content);
                release(*place);
            }
            *place = ptr::null_mut();
        }
        self.public.nmetalayers = 0;
        self.public.nvlmetalayers = 0;
    }

    /// Runs `edit` and returns the number of chunks. The session around it commits what has changed.
    pub fn change(&mut self, edit: impl FnOnce(&mut Inner) -> Result<()>) -> Result<i64> {
        self.change_from(0, edit)
    }

    /// As [`change`](Self::change), where the chunks before `k` stay as they are.
    pub fn change_from(&mut self, k: u64, edit: impl FnOnce(&mut Inner) -> Result<()>) -> Result<i64> {
        self.inner.data.changed_from(k);
        edit(&mut self.inner)?;
        self.sync();
        Ok(self.public.nchunks)
    }

    /// The context that compresses, whatever the caller has put there.
    pub fn cctx(&mut self) -> Result<&mut Context> {
        // SAFETY: null or a context: callers may replace it by one of theirs.
        unsafe { self.public.cctx.as_mut() }.ok_or(NULL_POINTER)
    }

    /// The context that decompresses, whatever the caller has put there.
    pub fn dctx(&mut self) -> Result<&mut Context> {
        // SAFETY: null or a context: callers may replace it by one of theirs.
        unsafe { self.public.dctx.as_mut() }.ok_or(NULL_POINTER)
    }

    /// `data` as a chunk, by the context that compresses; `nchunk`: where it will be.
    pub fn compressed(&mut self, data: &[u8], nchunk: i64) -> Result<Vec<u8>> {
        self.public.current_nchunk = nchunk;
        let ctx = self.cctx()?;
        let mut chunk = zeros(data.len() + 32)?;
        let n = ctx.compress(data, &mut chunk)?;
        if n == 0 {
            return Err(WRITE_BUFFER);
        }
        chunk.truncate(n);
        Ok(chunk)
    }
}

impl Inner {
    /// Chunk `k` as bytes; a special one as its header alone.
    pub fn chunk(&self, k: u64) -> Result<Vec<u8>> {
        if k >= self.frame.nchunks() {
            return Err(INVALID_PARAM);
        }
        let (typesize, blocksize) = (self.frame.typesize(), self.blocksize());
        let mut buf = Vec::new();
        let raw = self.frame.raw_chunk(k, &mut buf).map_err(|error| match error {
            blosc_frame::Error::Truncated { .. }
            | blosc_frame::Error::Chunk { error: blosc_core::Error::Truncated { .. }, .. }
                if self.is_stored =>
            {
                FILE_READ
            }
            error => error.into(),
        });
        match raw? {
            RawChunk::Stored(bytes) => Ok(bytes.to_vec()),
            RawChunk::Special(kind, nbytes) => {
                Ok(data::special_header(kind, typesize, nbytes, blocksize)?.to_vec())
            }
        }
    }

    /// The block size that new chunks are asked to have; 0 for any.
    pub fn blocksize(&self) -> u32 {
        u32::try_from(self.storage.cparams.blocksize).unwrap_or(0)
    }

    /// Counts chunk `k`, which is new.
    pub fn add_size(&mut self, k: u64) {
        self.cbytes += self.stored_size(k);
    }

    /// Counts all chunks again.
    pub fn recount(&mut self) {
        self.cbytes = (0..self.frame.nchunks()).map(|k| self.stored_size(k)).sum();
    }

    /// Size of chunk `k` as it is stored; of a special one that of its header.
    pub fn stored_size(&self, k: u64) -> i64 {
        match self.frame.chunk_header(k) {
            Ok(Some(header)) => header.cbytes.into(),
            _ => 32,
        }
    }
}

fn metalayer(name: &str, content: &[u8]) -> Result<*mut Metalayer> {
    let new = Metalayer {
        name: string(name)?,
        content: copied(content)?,
        content_len: i32::try_from(content.len()).map_err(|_| INVALID_PARAM)?,
    };
    let place = crate::memory::allocate(size_of::<Metalayer>())?.cast::<Metalayer>();
    // SAFETY: fresh memory of malloc, which suits any alignment.
    unsafe { place.write(new) };
    Ok(place)
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc2_schunk_new(storage: *const Storage) -> *mut Schunk {
    // SAFETY: null or valid, as the interface says.
    pointer(|| create(unsafe { Asked::of(storage) }?))
}

/// A new, empty super-chunk.
pub fn create(asked: Asked) -> Result<*mut Schunk> {
    // SAFETY: the pointers of the parameters are null or valid, as the interface says.
    let mut params = unsafe { Context::compressing(asked.cparams) }.params(usize::MAX)?;
    // Special chunks need no codec and no filter: what cannot be is refused when a chunk is compressed, not before.
    if params.check().is_err() {
        params = Params::new(params.typesize);
    }
    let path = match (&asked.urlpath, asked.access) {
        (Some(path), access) if !access.is_in_memory() => path.clone(),
        _ => {
            let frame = plain(SuperChunk::memory(&params)?);
            return wrap(Kept { frame, is_stored: false, lock: None }, asked, 0);
        }
    };
    if !asked.contiguous {
        store::empty_dir(&path)?;
    }
    let (frame, lock) = session::locked(&path, asked.locking, true, || {
        let frame = match (asked.access, asked.contiguous) {
            (Access::Caller(back_end), true) => {
                SuperChunk::create(InPlace(CallerFile::create(PathBuf::from(&path), back_end)?), &params)
            }
            (Access::Caller(back_end), false) => {
                SuperChunk::create_dir(CallerDir { path: PathBuf::from(&path), back_end }, &params)
            }
            (_, true) => SuperChunk::create(InPlace::create(&path)?, &params),
            (_, false) => SuperChunk::create_dir(InPlace::open_dir(&path)?, &params),
        };
        let mut frame = plain(frame?);
        frame.commit()?;
        Ok(frame)
    })?;
    asked.access.announce(&path);
    wrap(Kept { frame, is_stored: true, lock }, asked, 0)
}

/// The frame without checksums: the C library keeps none, and shows their table as a metalayer.
fn plain(mut frame: SuperChunk<'static>) -> SuperChunk<'static> {
    frame.set_limits(&limits());
    frame.set_checksums(false);
    frame
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc2_schunk_free(schunk: *mut Schunk) -> c_int {
    int(|| {
        // SAFETY: a super-chunk of this library, given back once, as the interface says.
        unsafe {
            let owned = owned(schunk)?;
            // What is left to do at the end of the file is done under the lock, which ends with the handle.
            owned.hold_to_the_end();
            owned.release_meta();
            blosc2_free_ctx(owned.public.cctx);
            blosc2_free_ctx(owned.public.dctx);
            drop(Box::from_raw(schunk.cast::<Owned>()));
        }
        Ok(0)
    })
}

/// Opens what `path` names, from `offset` on.
fn open_frame(path: &str, offset: i64, access: Access) -> Result<Kept> {
    let limits = limits();
    let offset = u64::try_from(offset).map_err(|_| INVALID_PARAM)?;
    let io = blosc_frame::Error::from;
    let is_dir = Path::new(path).is_dir();
    let frame = match access {
        Access::Caller(back_end) if is_dir => {
            SuperChunk::open_dir(CallerDir { path: PathBuf::from(path), back_end }, &limits)
        }
        Access::Caller(back_end) => {
            let file = CallerFile { path: PathBuf::from(path), back_end };
            match offset {
                0 => SuperChunk::open(InPlace(file), &limits),
                _ => SuperChunk::open_read(Offset::new(file, offset).map_err(io)?, &limits),
            }
        }
        _ if is_dir => SuperChunk::open_dir(InPlace::open_dir(path)?, &limits),
        _ if access.is_in_memory() && offset == 0 => {
            SuperChunk::from_bytes(std::fs::read(path).map_err(|_| FILE_OPEN)?, &limits)
        }
        _ if offset > 0 => {
            let file = File::open(path).map_err(|_| FILE_OPEN)?;
            SuperChunk::open_read(Offset::new(file, offset).map_err(io)?, &limits)
        }
        Access::Map { mode: "r", .. } => SuperChunk::open(InPlace::open(path, false)?, &limits),
        _ => SuperChunk::open(InPlace::open(path, true)?, &limits),
    }?;
    access.announce(path);
    Ok(Kept { frame, is_stored: !access.is_in_memory() && offset == 0, lock: None })
}
