//! A super-chunk: what C sees of it, and the frame behind.

use super::data::{Data, special_header};
use super::lock::Session;
use crate::abi::{CParams, DParams, Io, Metalayer, Schunk, Storage};
use crate::context::Context;
use crate::error::*;
use crate::memory::{allocate, copied, release, string, zeros};
use blosc_frame::SuperChunk;
use blosc_frame::b2nd::metalayer::Metalayer as ArrayMeta;
use blosc_frame::cframe::header::ChunkSize;
use blosc_frame::schunk::RawChunk;
use core::ptr;
use std::ffi::CString;

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
    pub(super) is_stored: bool,
    /// Sum of the chunks' sizes.
    pub(super) cbytes: i64,
    /// What `public.storage` points to.
    pub(super) storage: Box<Stored>,
    pub(super) blockshape: Vec<i64>,
    pub(super) session: Session,
    pub(super) data: Data,
}

pub(super) struct Stored {
    pub(super) storage: Storage,
    pub(super) cparams: CParams,
    pub(super) dparams: DParams,
    pub(super) io: Io,
    pub(super) urlpath: Option<CString>,
}

/// # Safety
/// `schunk` is null or a super-chunk of this library that no other call uses now.
pub unsafe fn owned<'a>(schunk: *mut Schunk) -> Result<&'a mut Owned> {
    // SAFETY: as the caller promises; every super-chunk is made as an `Owned`, whose first field this is.
    unsafe { schunk.cast::<Owned>().as_mut() }.ok_or(NULL_POINTER)
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
        let meta = self.inner.frame.metalayer("b2nd").and_then(|content| ArrayMeta::parse(content).ok());
        let Some(blocks) = meta.map(|meta| meta.blocks) else { return };
        self.inner.frame.set_blockshape(&blocks);
        self.inner.blockshape = blocks.iter().map(|&n| n.into()).collect();
        self.public.ndim = i8::try_from(self.inner.blockshape.len()).unwrap_or(0);
        self.public.blockshape = self.inner.blockshape.as_mut_ptr();
    }

    pub(super) fn release_meta(&mut self) {
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
        // SAFETY: null or a context; a caller who replaces it promises one of this library.
        unsafe { self.public.cctx.cast::<Context>().as_mut() }.ok_or(NULL_POINTER)
    }

    /// The context that decompresses, whatever the caller has put there.
    pub fn dctx(&mut self) -> Result<&mut Context> {
        // SAFETY: null or a context; a caller who replaces it promises one of this library.
        unsafe { self.public.dctx.cast::<Context>().as_mut() }.ok_or(NULL_POINTER)
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
                Ok(special_header(kind, typesize, nbytes, blocksize)?.to_vec())
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
    let place = allocate(size_of::<Metalayer>())?.cast::<Metalayer>();
    // SAFETY: fresh memory of malloc, which suits any alignment.
    unsafe { place.write(new) };
    Ok(place)
}
