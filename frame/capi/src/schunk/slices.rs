//! Items of a super-chunk, wherever its chunks begin.

use super::chunks;
use super::owned::Owned;
use super::session::{changing, reading};
use crate::abi::Schunk;
use crate::error::*;
use crate::memory::{bytes, bytes_mut, hand_out, values, zeros};
use crate::shapes::{self, select, unsigned};
use core::ffi::{c_int, c_void};
use core::ops::Range;

/// Number of a chunk, bytes in the chunk, and bytes in a range of the super-chunk.
type Part = (u64, Range<usize>, Range<usize>);

/// Bytes `range` of the super-chunk, as parts of chunks: number, bytes in the chunk, and bytes in the range.
fn parts(owned: &mut Owned, range: Range<u64>) -> Result<Vec<Part>> {
    if range.start > range.end || range.end > owned.inner.frame.nbytes() {
        return Err(INVALID_PARAM);
    }
    let mut list = Vec::new();
    let chunksize = u64::try_from(owned.public.chunksize).unwrap_or(0);
    let (mut k, mut at) = match range.start.checked_div(chunksize) {
        Some(k) => (k, k * chunksize),
        None => (0, 0),
    };
    while at < range.end {
        let len = u64::from(owned.inner.frame.chunk_nbytes(k)?);
        let (from, to) = (range.start.max(at), range.end.min(at + len));
        if from < to {
            let index = |n: u64| usize::try_from(n).map_err(|_| MEMORY_ALLOC);
            let within = index(from - at)?..index(to - at)?;
            list.push((k, within, index(from - range.start)?..index(to - range.start)?));
        }
        at += len;
        k += 1;
    }
    Ok(list)
}

impl Owned {
    /// Decodes bytes `range` of chunk `k`.
    pub fn chunk_bytes(&mut self, k: u64, range: Range<usize>, out: &mut [u8]) -> Result<()> {
        self.public.current_nchunk = i64::try_from(k).unwrap_or(-1);
        let plain = self.dctx()?.dparams.postfilter.is_none();
        let own = |id: u8| id >= 160;
        if plain && !own(self.public.compcode) && !self.public.filters.iter().any(|&id| own(id)) {
            // Reads only the blocks it needs.
            self.inner.frame.read_chunk_bytes(k, range, out)?;
            return Ok(());
        }
        let chunk = self.inner.chunk(k)?;
        self.dctx()?.get_bytes(&chunk, range, out)?;
        Ok(())
    }

    /// Items `start` to `stop` into `out`.
    fn get_items(&mut self, start: i64, stop: i64, out: &mut [u8]) -> Result<()> {
        for (k, within, place) in parts(self, self.byte_range(start, stop)?)? {
            let out = out.get_mut(place).ok_or(WRITE_BUFFER)?;
            self.chunk_bytes(k, within, out)?;
        }
        Ok(())
    }

    fn byte_range(&self, start: i64, stop: i64) -> Result<Range<u64>> {
        let size = i64::from(self.public.typesize);
        let at = |n: i64| n.checked_mul(size).and_then(|n| u64::try_from(n).ok()).ok_or(INVALID_PARAM);
        Ok(at(start)?..at(stop)?)
    }
}

/// Bytes that items `start` to `stop` take.
fn buffer_len(owned: &Owned, start: i64, stop: i64) -> Result<i64> {
    let range = owned.byte_range(start, stop)?;
    i64::try_from(range.end.checked_sub(range.start).ok_or(INVALID_PARAM)?).map_err(|_| INVALID_PARAM)
}

#[unsafe(no_mangle)]
unsafe extern "C" fn blosc2_schunk_get_slice_buffer(
    schunk: *mut Schunk,
    start: i64,
    stop: i64,
    buffer: *mut c_void,
) -> c_int {
    let read = |owned: &mut Owned| {
        // SAFETY: room for the items, as the interface says.
        let out = unsafe { bytes_mut(buffer, buffer_len(owned, start, stop)?) }?;
        owned.get_items(start, stop, out)?;
        Ok(0)
    };
    // SAFETY: null or a super-chunk of this library, as the caller promises.
    int(|| unsafe { reading(schunk, read) })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn blosc2_schunk_get_sparse_buffer(
    schunk: *mut Schunk,
    ncoords: i64,
    coords: *const i64,
    buffer: *mut c_void,
) -> c_int {
    let read = |owned: &mut Owned| {
        let item_size =
            usize::try_from(owned.public.typesize).ok().filter(|&n| n > 0).ok_or(INVALID_PARAM)?;
        let len = ncoords.checked_mul(owned.public.typesize.into()).ok_or(INVALID_PARAM)?;
        // SAFETY: `ncoords` numbers, and room for as many items, as the interface says.
        let (coords, out) = unsafe { (values(coords, ncoords)?, bytes_mut(buffer, len)?) };
        for (&item, place) in coords.iter().zip(out.chunks_mut(item_size)) {
            owned.get_items(item, item.checked_add(1).ok_or(INVALID_PARAM)?, place)?;
        }
        Ok(0)
    };
    // SAFETY: null or a super-chunk of this library, as the caller promises.
    int(|| unsafe { reading(schunk, read) })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn blosc2_schunk_set_slice_buffer(
    schunk: *mut Schunk,
    start: i64,
    stop: i64,
    buffer: *const c_void,
) -> c_int {
    let edit = |owned: &mut Owned| {
        // SAFETY: as many bytes as the items take, as the caller promises.
        let data = unsafe { bytes(buffer, buffer_len(owned, start, stop)?) }?;
        for (k, within, place) in parts(owned, owned.byte_range(start, stop)?)? {
            let new = data.get(place).ok_or(READ_BUFFER)?;
            let len = owned.inner.frame.chunk_nbytes(k)? as usize;
            let chunk = if new.len() == len {
                owned.compressed(new, i64::try_from(k).unwrap_or(-1))?
            } else {
                let mut whole = zeros(len)?;
                owned.chunk_bytes(k, 0..len, &mut whole)?;
                whole.get_mut(within).ok_or(FAILURE)?.copy_from_slice(new);
                owned.compressed(&whole, i64::try_from(k).unwrap_or(-1))?
            };
            chunks::update(owned, k, &chunk)?;
        }
        Ok(0)
    };
    // SAFETY: null or a super-chunk of this library, as the caller promises.
    int(|| unsafe { changing(schunk, edit) })
}

/// The numbers of the chunks that items `start` to `stop` lie in; of an array, those of the slice.
///
/// # Safety
/// As many numbers at `start` and `stop` as the array has dimensions; one each of what is no array.
unsafe fn chunks_of(owned: &mut Owned, start: *const i64, stop: *const i64) -> Result<Vec<i64>> {
    if let Some(content) = owned.inner.frame.metalayer("b2nd") {
        let layout = shapes::layout(content, owned.inner.frame.typesize())?;
        let (cut, n) = (layout.geometry(), layout.geometry().ndim() as i64);
        // SAFETY: as the caller promises.
        let (start, stop) = unsafe { (unsigned(values(start, n)?)?, unsigned(values(stop, n)?)?) };
        let list = select(cut.shape(), &start, &stop)?.chunks(cut);
        return Ok(list.into_iter().map(|k| i64::try_from(k).unwrap_or(-1)).collect());
    }
    // SAFETY: as the caller promises.
    let (start, stop) = unsafe { (values(start, 1)?, values(stop, 1)?) };
    // What lies beyond the end is in no chunk.
    let range = owned.byte_range(start[0], stop[0])?;
    let end = range.end.min(owned.inner.frame.nbytes());
    let range = range.start.min(end)..end;
    Ok(parts(owned, range)?.into_iter().map(|(k, _, _)| i64::try_from(k).unwrap_or(-1)).collect())
}

#[unsafe(no_mangle)]
unsafe extern "C" fn blosc2_get_slice_nchunks(
    schunk: *mut Schunk,
    start: *const i64,
    stop: *const i64,
    chunks_idx: *mut *mut i64,
) -> i64 {
    // SAFETY: null or a super-chunk of this library; its numbers; null or writable, as the caller promises.
    long(|| unsafe {
        let list = reading(schunk, |owned| chunks_of(owned, start, stop))?;
        let bytes: Vec<u8> = list.iter().flat_map(|k| k.to_ne_bytes()).collect();
        hand_out(chunks_idx, &bytes)?;
        i64::try_from(list.len()).map_err(|_| INVALID_PARAM)
    })
}
