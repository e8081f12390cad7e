//! New super-chunks, and those that are opened: from what the caller asks to the frame and the structure around it.

use super::access::Access;
use super::data::Data;
use super::lock::{Session, is_locking, locked};
use super::owned::{Inner, Owned, Stored, owned};
use crate::abi::{CParams, DParams, Io, Schunk, Storage};
use crate::context::{Context, blosc2_free_ctx};
use crate::error::*;
use crate::memory::{plain_path, text};
use crate::store::{CallerDir, CallerFile, InPlace, empty_dir};
use blosc_core::Params;
use blosc_frame::SuperChunk;
use blosc_frame::io::{Offset, SidecarLock};
use core::ffi::{c_int, c_void};
use core::ptr;
use std::ffi::CString;
use std::fs::File;
use std::path::{Path, PathBuf};

/// Limits of what is opened: any size of chunk that the format allows, otherwise those of `blosc-frame`.
pub fn limits() -> blosc_frame::Limits {
    let chunk = blosc_core::Limits::DEFAULT.output(1 << 31);
    blosc_frame::Limits::DEFAULT.chunk(chunk)
}

/// What the caller asks of a new super-chunk, with defaults where it says nothing.
pub struct Asked {
    pub contiguous: bool,
    pub urlpath: Option<String>,
    pub cparams: CParams,
    pub dparams: DParams,
    pub(super) io: Io,
    pub(super) access: Access,
    pub(super) locking: bool,
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
            asked.locking = is_locking(storage.io.as_ref());
            if let Some(io) = storage.io.as_ref() {
                asked.access = Access::of(io)?;
                asked.io = *io;
            }
        }
        Ok(asked)
    }
}

/// A frame, and how it is kept.
pub(super) struct Kept {
    pub(super) frame: SuperChunk<'static>,
    /// Whether others can see it.
    pub(super) is_stored: bool,
    pub(super) lock: Option<SidecarLock>,
}

/// A super-chunk around `frame`. `cbytes`: sum of its chunks' sizes.
pub(super) fn wrap(kept: Kept, asked: Asked, cbytes: i64) -> Result<*mut Schunk> {
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
        owned.public.cctx = Box::into_raw(Box::new(Context::compressing(c))).cast();
        owned.public.dctx =
            Box::into_raw(Box::new(Context::decompressing(owned.inner.storage.dparams))).cast();
    }
    owned.inner.frame.set_threads(usize::try_from(owned.inner.storage.dparams.nthreads.max(1)).unwrap_or(1));
    owned.sync_meta()?;
    owned.sync();
    owned.sync_data();
    Ok(raw.cast())
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
        empty_dir(&path)?;
    }
    let (frame, lock) = locked(&path, asked.locking, true, || {
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
pub(super) fn plain(mut frame: SuperChunk<'static>) -> SuperChunk<'static> {
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
            blosc2_free_ctx(owned.public.cctx.cast());
            blosc2_free_ctx(owned.public.dctx.cast());
            drop(Box::from_raw(schunk.cast::<Owned>()));
        }
        Ok(0)
    })
}

/// Opens what `path` names, from `offset` on.
pub(super) fn open_frame(path: &str, offset: i64, access: Access) -> Result<Kept> {
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
