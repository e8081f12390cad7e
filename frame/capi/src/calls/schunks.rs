//! Super-chunks beside a vector of vectors.

use super::api::*;
use super::chunks::{any_number, told};
use super::data::{Folder, LARGE, cparams, damage, is_exact, pattern};
use super::room::{guarded, written};
use crate::abi::{CParams, DParams, Schunk, Storage};
use crate::memory::release;
use arbitrary::{Result, Unstructured};
use core::ffi::{CStr, c_int};
use core::ptr;
use std::ffi::CString;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

/// Names of metalayers.
const NAMES: [&CStr; 5] = [c"a", c"layer", c"", c"0123456789012345678901234567890", c"b2nd"];

/// A super-chunk, what its chunks hold while nothing lossy or damaged has been put in, and how large new ones are.
pub struct Subject {
    schunk: *mut Schunk,
    chunks: Option<Vec<Vec<u8>>>,
    size: usize,
    path: Option<CString>,
}

impl Drop for Subject {
    fn drop(&mut self) {
        // SAFETY: `self.schunk` came from this library and is freed here only.
        assert_eq!(unsafe { blosc2_schunk_free(self.schunk) }, 0);
    }
}

/// A name that no other super-chunk or array has.
pub fn fresh(folder: &mut Folder) -> CString {
    static COUNT: AtomicUsize = AtomicUsize::new(0);
    let path = folder.path().join(format!("{}.b2frame", COUNT.fetch_add(1, Relaxed)));
    CString::new(path.to_str().expect("a path in UTF-8")).expect("no NUL in a path")
}

impl Subject {
    pub fn new(u: &mut Unstructured<'_>, folder: &mut Folder) -> Result<Option<Subject>> {
        let mut cparams = cparams(u)?;
        let exact = is_exact(&cparams);
        let path = if u.ratio(1, 3)? { Some(fresh(folder)) } else { None };
        let storage = Storage {
            contiguous: u.arbitrary()?,
            urlpath: path.as_ref().map_or(ptr::null_mut(), |path| path.as_ptr().cast_mut()),
            cparams: &raw mut cparams,
            dparams: ptr::null_mut(),
            io: ptr::null_mut(),
        };
        // SAFETY: the structures outlive the call.
        let schunk = unsafe { blosc2_schunk_new(&raw const storage) };
        let items = 1 + usize::from(u.arbitrary::<u16>()? % 400);
        let size = usize::try_from(cparams.typesize).unwrap_or(1).min(1000) * items;
        if schunk.is_null() {
            return Ok(None);
        }
        Ok(Some(Subject { schunk, chunks: exact.then(Vec::new), size, path }))
    }

    /// Opens a frame that may be damaged. One that announces much is left alone.
    pub fn of_frame(bytes: &mut [u8], copy: bool) -> Option<Subject> {
        // SAFETY: the bytes have the length told; they are copied whatever `copy` says.
        let schunk = unsafe { blosc2_schunk_from_buffer(bytes.as_mut_ptr(), bytes.len() as i64, copy) };
        if schunk.is_null() {
            return None;
        }
        let found = Subject { schunk, chunks: None, size: 600, path: None };
        found.is_small().then_some(found)
    }

    pub fn nchunks(&self) -> i64 {
        // SAFETY: `self.schunk` lives until `drop`.
        unsafe { (*self.schunk).nchunks }
    }

    fn typesize(&self) -> i64 {
        // SAFETY: `self.schunk` lives until `drop`.
        unsafe { (*self.schunk).typesize.into() }
    }

    fn is_small(&self) -> bool {
        // SAFETY: `self.schunk` lives until `drop`.
        let nbytes = unsafe { (*self.schunk).nbytes };
        let large = |k| {
            let chunk = self.stored(k).unwrap_or_default();
            let nbytes = chunk.get(4..).and_then(|rest| rest.first_chunk());
            nbytes.is_some_and(|n| i64::from(i32::from_le_bytes(*n)) > LARGE)
        };
        self.nchunks() < 40 && nbytes <= LARGE && !(0..self.nchunks()).any(large)
    }

    /// Chunk `k` as it is stored.
    fn stored(&self, k: i64) -> Option<Vec<u8>> {
        let (mut chunk, mut free) = (ptr::null_mut(), false);
        // SAFETY: `self.schunk` lives until `drop`; the chunk has the length that is returned, and is freed once.
        unsafe {
            let n = blosc2_schunk_get_chunk(self.schunk, k, &raw mut chunk, &raw mut free);
            let bytes = std::slice::from_raw_parts(chunk, usize::try_from(n).ok()?).to_vec();
            if free {
                release(chunk);
            }
            Some(bytes)
        }
    }

    /// Decompresses chunk `k` into `len` bytes.
    fn decompressed(&self, k: i64, len: usize) -> (c_int, Vec<u8>) {
        // SAFETY: `self.schunk` lives until `drop`; the room has the length told.
        written(len, |dest, room| unsafe { blosc2_schunk_decompress_chunk(self.schunk, k, dest, room) })
    }

    /// Counts a change that was made, or forgets what there is.
    fn note(&mut self, done: i64, known: bool, edit: impl FnOnce(&mut Vec<Vec<u8>>)) {
        match &mut self.chunks {
            Some(chunks) if done >= 0 && known => edit(chunks),
            _ if done >= 0 => self.chunks = None,
            _ => {}
        }
    }

    /// The number of a chunk, or one beside all of them.
    fn which(&self, u: &mut Unstructured<'_>) -> Result<i64> {
        u.int_in_range(-1..=self.nchunks() + 1)
    }

    /// One call that changes the super-chunk.
    pub fn edit(&mut self, u: &mut Unstructured<'_>, made: &mut [Vec<u8>]) -> Result<()> {
        let (schunk, k) = (self.schunk, self.which(u)?);
        let at = usize::try_from(k).unwrap_or(usize::MAX);
        match u.int_in_range(0..=9)? {
            0..=2 if self.nchunks() < 40 => {
                let data = pattern(u, self.size)?;
                // SAFETY: `self.schunk` lives until `drop`; the data have the length told.
                let done =
                    unsafe { blosc2_schunk_append_buffer(schunk, data.as_ptr().cast(), data.len() as i32) };
                self.note(done, true, |chunks| chunks.push(data));
            }
            3 => {
                // SAFETY: `self.schunk` lives until `drop`.
                let done = unsafe { blosc2_schunk_delete_chunk(schunk, k) };
                self.note(done, true, |chunks| drop(chunks.remove(at)));
            }
            4 => self.set_slice(u)?,
            5 => {
                let kind = u.int_in_range(0..=5)?;
                let items = i64::from(any_number(u)?);
                if items <= 100_000 && self.nchunks() == 0 && self.typesize() < 1000 {
                    // SAFETY: `self.schunk` lives until `drop`.
                    let done = unsafe { blosc2_schunk_fill_special(schunk, items, kind, self.size as i32) };
                    self.note(done, done == 0, |_| {});
                } else if self.nchunks() < 40 {
                    self.append_value(u)?;
                }
            }
            6 => {
                let n = usize::try_from(self.nchunks()).unwrap_or(0);
                let mut order: Vec<i64> = (0..self.nchunks()).rev().collect();
                if n > 0 && u.arbitrary()? {
                    order[0] = u.int_in_range(-1..=self.nchunks())?;
                }
                // SAFETY: `self.schunk` lives until `drop`; as many numbers as there are chunks.
                let done = unsafe { blosc2_schunk_reorder_offsets(schunk, order.as_ptr()) };
                self.note(done.into(), true, |chunks| {
                    *chunks = order.iter().map(|&k| chunks[k as usize].clone()).collect();
                });
            }
            _ if self.nchunks() < 40 => self.put_chunk(u, made, k)?,
            _ => {}
        }
        Ok(())
    }

    /// Appends a chunk of one repeated item, which announces blocks and stores none.
    fn append_value(&mut self, u: &mut Unstructured<'_>) -> Result<()> {
        let item = pattern(u, usize::try_from(self.typesize()).unwrap_or(0))?;
        let cparams = CParams { typesize: item.len() as i32, blocksize: 64, ..CParams::DEFAULT };
        // SAFETY: room for what is told, and an item of the typesize.
        let (n, mut chunk) = written(32 + item.len(), |dest, room| unsafe {
            blosc2_chunk_repeatval(cparams, self.size as i32, dest, room, item.as_ptr().cast())
        });
        if n > 0 {
            // SAFETY: `self.schunk` lives until `drop`; the chunk is as long as its header says, and copied.
            let done = unsafe { blosc2_schunk_append_chunk(self.schunk, chunk.as_mut_ptr(), true) };
            let data = item.repeat(self.size / item.len());
            self.note(done, true, |chunks| chunks.push(data));
        }
        Ok(())
    }

    /// Puts a chunk that is there already, or one that was made, damaged or not.
    fn put_chunk(&mut self, u: &mut Unstructured<'_>, made: &mut [Vec<u8>], k: i64) -> Result<()> {
        let at = usize::try_from(k).unwrap_or(usize::MAX);
        let from = u.int_in_range(0..=self.nchunks().max(1) - 1)?;
        let own = made.is_empty() || u.arbitrary()?;
        let chunk = if own { self.stored(from) } else { Some(u.choose(made)?.clone()) };
        let Some(mut chunk) = chunk else { return Ok(()) };
        let is_damaged = u.ratio(1, 2)?;
        if is_damaged {
            damage(u, &mut chunk)?;
        }
        // The interface takes a chunk's length from its header: it must not say more than there is.
        if told(&chunk).is_none() || chunk.get(7).is_none_or(|&high| high > 0) || chunk[6] > 4 {
            return Ok(());
        }
        let copy = self.chunks.as_ref().and_then(|chunks| chunks.get(from as usize).cloned());
        let (what, schunk) = (u.int_in_range(0..=2)?, self.schunk);
        // SAFETY: `self.schunk` lives until `drop`; the chunk is as long as its header says, and copied.
        let done = unsafe {
            match what {
                0 => blosc2_schunk_append_chunk(schunk, chunk.as_mut_ptr(), true),
                1 => blosc2_schunk_insert_chunk(schunk, k, chunk.as_mut_ptr(), true),
                _ => blosc2_schunk_update_chunk(schunk, k, chunk.as_mut_ptr(), true),
            }
        };
        self.note(done, own && !is_damaged && copy.is_some(), |chunks| {
            match (what, copy.unwrap_or_default()) {
                (0, copy) => chunks.push(copy),
                (1, copy) => chunks.insert(at, copy),
                (_, copy) => chunks[at] = copy,
            }
        });
        Ok(())
    }

    /// First and last item of a range, most of them within the super-chunk.
    fn range(&self, u: &mut Unstructured<'_>) -> Result<(i64, i64)> {
        // SAFETY: `self.schunk` lives until `drop`.
        let items = unsafe { (*self.schunk).nbytes } / self.typesize().max(1);
        let start = u.int_in_range(0..=items)?;
        let stop = if u.ratio(1, 8)? { i64::from(any_number(u)?) } else { u.int_in_range(start..=items)? };
        Ok((start, stop))
    }

    /// Bytes from one item to another, if they are few.
    fn len(&self, start: i64, stop: i64) -> Option<usize> {
        let len = stop.checked_sub(start)?.checked_mul(self.typesize())?;
        usize::try_from(len.max(0)).ok().filter(|&len| len as i64 <= LARGE)
    }

    fn set_slice(&mut self, u: &mut Unstructured<'_>) -> Result<()> {
        let (start, stop) = self.range(u)?;
        let Some(len) = self.len(start, stop) else { return Ok(()) };
        let data = pattern(u, len)?;
        // SAFETY: `self.schunk` lives until `drop`; the data have the length that the items take.
        let done = unsafe { blosc2_schunk_set_slice_buffer(self.schunk, start, stop, data.as_ptr().cast()) };
        let first = (start * self.typesize()) as usize;
        self.note(done.into(), true, |chunks| {
            let mut places = chunks.iter_mut().flatten().skip(first);
            for byte in data {
                *places.next().expect("an item that was written") = byte;
            }
        });
        if done < 0 {
            // Chunks before the one that failed have been written.
            self.chunks = None;
        }
        Ok(())
    }

    /// Reads in several ways.
    pub fn read(&self, u: &mut Unstructured<'_>) -> Result<()> {
        let n = self.nchunks();
        assert!(self.chunks.as_ref().is_none_or(|chunks| chunks.len() as i64 == n), "{n} chunks");
        for k in -1..=n {
            let len = self.size + u.choose_index(3)? * 1000 - u.choose_index(2)?.min(self.size);
            let (got, bytes) = self.decompressed(k, len);
            let known = self.chunks.as_ref().and_then(|chunks| chunks.get(usize::try_from(k).ok()?));
            if let Some(known) = known.filter(|known| known.len() <= len) {
                assert!(bytes == *known, "chunk {k}: {got}");
            }
        }
        let (start, stop) = self.range(u)?;
        let Some(len) = self.len(start, stop) else { return Ok(()) };
        let mut list = ptr::null_mut();
        // SAFETY: `self.schunk` lives until `drop`; room for the items; the list is freed once.
        unsafe {
            let (done, bytes) =
                guarded(len, |dest| blosc2_schunk_get_slice_buffer(self.schunk, start, stop, dest));
            if let (0, Some(chunks)) = (done, &self.chunks) {
                let first = (start * self.typesize()) as usize;
                assert!(chunks.iter().flatten().skip(first).take(len).eq(&bytes), "items {start} to {stop}");
            }
            let coords = [start, stop.saturating_sub(1), start];
            let room = self.len(0, 3).unwrap_or(0);
            if room > 0 {
                guarded(room, |dest| blosc2_schunk_get_sparse_buffer(self.schunk, 3, coords.as_ptr(), dest));
            }
            if blosc2_get_slice_nchunks(self.schunk, &raw const start, &raw const stop, &raw mut list) >= 0 {
                release(list);
            }
            release(blosc2_frame_get_offsets(self.schunk));
        }
        Ok(())
    }

    /// Lazy chunks, as they are and damaged. A chunk that can be decompressed is never refused.
    pub fn lazy(&mut self, u: &mut Unstructured<'_>) -> Result<()> {
        let k = self.which(u)?;
        let (mut chunk, mut free) = (ptr::null_mut(), false);
        // SAFETY: `self.schunk` lives until `drop`; the chunk has the length that is returned, and is freed once; the context, too.
        unsafe {
            let n = blosc2_schunk_get_lazychunk(self.schunk, k, &raw mut chunk, &raw mut free);
            let Ok(len) = usize::try_from(n) else {
                let (whole, _) = self.decompressed(k, LARGE as usize);
                assert!(whole < 0, "chunk {k} has {whole} bytes, and error {n} lazily");
                return Ok(());
            };
            let mut lazy = std::slice::from_raw_parts(chunk, len).to_vec();
            release(chunk);
            let dctx = blosc2_create_dctx(DParams { schunk: self.schunk.cast(), ..DParams::DEFAULT });
            let known = self.chunks.as_ref().and_then(|chunks| chunks.get(usize::try_from(k).ok()?));
            if let Some(known) = known {
                let (src, room) = (lazy.as_ptr().cast(), known.len());
                let (_, back) = written(room, |dest, room| blosc2_decompress_ctx(dctx, src, n, dest, room));
                assert!(back == *known, "chunk {k}, lazily");
            }
            damage(u, &mut lazy)?;
            let lazy = lazy.into_boxed_slice();
            let (src, n) = (lazy.as_ptr().cast(), lazy.len() as i32);
            let (start, count) = (any_number(u)?, any_number(u)?);
            written(self.size, |dest, room| blosc2_decompress_ctx(dctx, src, n, dest, room));
            written(self.size, |dest, room| blosc2_getitem_ctx(dctx, src, n, start, count, dest, room));
            let (mut block, mut size) = (ptr::null_mut(), 0);
            if lazy.get(7).is_some_and(|&high| high == 0)
                && blosc2_vldecompress_block_ctx(dctx, src, n, start, &raw mut block, &raw mut size) >= 0
            {
                release(block);
            }
            blosc2_free_ctx(dctx);
        }
        Ok(())
    }

    /// Metalayers of both kinds.
    pub fn layers(&mut self, u: &mut Unstructured<'_>) -> Result<()> {
        let name = u.choose(&NAMES)?.as_ptr();
        let len = usize::from(u.arbitrary::<u8>()?);
        let content = pattern(u, len)?;
        let (content, len) = (content.as_ptr(), if u.ratio(1, 10)? { -1 } else { len as i32 });
        let (schunk, mut found, mut size) = (self.schunk, ptr::null_mut(), 0);
        // SAFETY: `self.schunk` lives until `drop`; the content has the length told; what is handed out is freed once.
        unsafe {
            match u.int_in_range(0..=7)? {
                0 => blosc2_meta_add(schunk, name, content, len),
                1 => blosc2_meta_update(schunk, name, content, len),
                2 | 3 => blosc2_vlmeta_add(schunk, name, content, len, ptr::null()),
                4 => blosc2_vlmeta_update(schunk, name, content, len, ptr::null()),
                5 => blosc2_vlmeta_delete(schunk, name),
                6 => blosc2_vlmeta_exists(schunk, ptr::null()),
                _ => {
                    let mut names = vec![ptr::null_mut(); (*schunk).nvlmetalayers as usize];
                    let n = blosc2_vlmeta_get_names(schunk, names.as_mut_ptr());
                    assert!(names.iter().all(|name| !name.is_null()), "{n} names");
                    blosc2_vlmeta_get_names(schunk, ptr::null_mut())
                }
            };
            if blosc2_vlmeta_get(schunk, name, &raw mut found, &raw mut size) >= 0 {
                release(found);
            }
        }
        Ok(())
    }

    /// The frame as bytes, a copy with other parameters, and the file opened again.
    pub fn copies(&mut self, u: &mut Unstructured<'_>, made: &mut Vec<Vec<u8>>) -> Result<()> {
        let (mut frame, mut free) = (ptr::null_mut(), false);
        let mut other = cparams(u)?;
        other.typesize = if u.ratio(1, 8)? { other.typesize } else { self.typesize() as i32 };
        let storage = Storage {
            contiguous: u.arbitrary()?,
            urlpath: ptr::null_mut(),
            cparams: if u.arbitrary()? { &raw mut other } else { ptr::null_mut() },
            dparams: ptr::null_mut(),
            io: ptr::null_mut(),
        };
        let exact = storage.cparams.is_null() || is_exact(&other);
        let same = |schunk: *mut Schunk, exact: bool, path: Option<CString>| {
            if !schunk.is_null() {
                let chunks = self.chunks.clone().filter(|_| exact);
                let copy = Subject { schunk, chunks, size: self.size, path };
                return copy.read(&mut Unstructured::new(&[1; 32]));
            }
            Ok(())
        };
        // SAFETY: `self.schunk` lives until `drop`; the frame has the length that is returned, and is freed once.
        unsafe {
            let len = blosc2_schunk_to_buffer(self.schunk, &raw mut frame, &raw mut free);
            if let Ok(n) = usize::try_from(len) {
                let mut bytes = std::slice::from_raw_parts(frame, n).to_vec();
                release(frame);
                let again = blosc2_schunk_from_buffer(bytes.as_mut_ptr(), len, true);
                assert!(self.chunks.is_none() || !again.is_null(), "a frame just written is not read");
                same(again, true, None)?;
                made.insert(0, bytes);
            }
            same(blosc2_schunk_copy(self.schunk, &raw const storage), exact, None)?;
            if let Some(path) = &self.path {
                same(blosc2_schunk_open(path.as_ptr()), true, Some(path.clone()))?;
                assert!(blosc2_schunk_refresh(self.schunk) >= 0);
            }
            assert_eq!((blosc2_schunk_lock(self.schunk), blosc2_schunk_unlock(self.schunk)), (0, 0));
        }
        Ok(())
    }
}
