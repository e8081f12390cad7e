//! Slices and selections, in and out of an array's chunks.

use super::boxes::{select, unsigned};
use super::{Array, changing, reading};
use crate::error::*;
use crate::memory::{bytes, bytes_mut, values};
use crate::schunk::Owned;
use blosc_frame::b2nd::{ChunkAccess, Geometry, Selection, Take, read_flat};
use core::ffi::{c_int, c_void};
use core::ops::Range;

fn item_size(array: &Array) -> Result<usize> {
    usize::try_from(array.schunk()?.public.typesize).ok().filter(|&size| size > 0).ok_or(INVALID_PARAM)
}

/// The chunks of an array, through the contexts of its super-chunk: callers may have codecs and filters of their own.
struct Chunks {
    owned: &'static mut Owned,
    /// They are appended in order.
    new: bool,
}

impl ChunkAccess for Chunks {
    type Error = Code;

    fn read(&mut self, k: u64, range: Range<usize>, out: &mut [u8]) -> Result<()> {
        self.owned.chunk_bytes(k, range, out)
    }

    fn write(&mut self, k: u64, data: &[u8]) -> Result<()> {
        let chunk = self.owned.compressed(data, i64::try_from(k).unwrap_or(-1))?;
        match self.new {
            true => crate::schunk::append(self.owned, &chunk).map(drop),
            false => crate::schunk::update(self.owned, k, &chunk).map(drop),
        }
    }
}

fn parts(array: &Array, new: bool) -> Result<(Geometry, Chunks)> {
    Ok((array.meta()?.geometry(item_size(array)?)?, Chunks { owned: array.schunk()?, new }))
}

/// Items `start` to `stop` of `array` into `out`, which has the shape `shape` and the slice at its beginning.
pub fn get(array: &Array, start: &[i64], stop: &[i64], out: &mut [u8], shape: &[i64]) -> Result<()> {
    let (geometry, mut chunks) = parts(array, false)?;
    select(geometry.shape(), start, stop)?.read(&geometry, &mut chunks, (out, &unsigned(shape)?))
}

/// Writes items `start` to `stop` from `data`, which has the shape `shape` and the slice at its beginning. `fresh`: the
/// array is new and its chunks are appended in order, each whole.
pub fn set(
    array: &mut Array,
    data: &[u8],
    shape: &[i64],
    start: &[i64],
    stop: &[i64],
    fresh: bool,
) -> Result<()> {
    let (geometry, mut chunks) = parts(array, fresh)?;
    select(geometry.shape(), start, stop)?.write(&geometry, &mut chunks, (data, &unsigned(shape)?), fresh)
}

#[unsafe(no_mangle)]
unsafe extern "C" fn b2nd_get_slice_cbuffer(
    src: *const Array,
    start: *const i64,
    stop: *const i64,
    buffer: *mut c_void,
    buffershape: *const i64,
    buffersize: i64,
) -> c_int {
    // SAFETY: null or an array of this library; a number for each dimension; `buffersize` writable bytes.
    int(|| unsafe {
        let out = bytes_mut(buffer, buffersize)?;
        reading(src, |src| {
            let n = i64::from(src.ndim);
            get(src, values(start, n)?, values(stop, n)?, out, values(buffershape, n)?)?;
            Ok(0)
        })
    })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn b2nd_set_slice_cbuffer(
    buffer: *const c_void,
    buffershape: *const i64,
    buffersize: i64,
    start: *const i64,
    stop: *const i64,
    dst: *mut Array,
) -> c_int {
    // SAFETY: null or an array of this library; a number for each dimension; `buffersize` readable bytes.
    int(|| unsafe {
        let data = bytes(buffer, buffersize)?;
        changing(dst, |dst| {
            let n = i64::from(dst.ndim);
            set(dst, data, values(buffershape, n)?, values(start, n)?, values(stop, n)?, false)?;
            Ok(0)
        })
    })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn b2nd_get_sparse_cbuffer(
    src: *const Array,
    ncoords: i64,
    coords: *const i64,
    buffer: *mut c_void,
    buffersize: i64,
) -> c_int {
    // SAFETY: null or an array of this library; `ncoords` numbers; `buffersize` writable bytes.
    int(|| unsafe {
        let (coords, out) = (values(coords, ncoords)?, bytes_mut(buffer, buffersize)?);
        reading(src, |src| get_sparse(src, coords, out).map(|()| 0))
    })
}

fn get_sparse(src: &Array, coords: &[i64], out: &mut [u8]) -> Result<()> {
    let (geometry, mut chunks) = parts(src, false)?;
    let len = coords.len().checked_mul(geometry.typesize() as usize).ok_or(INVALID_PARAM)?;
    if coords.iter().any(|&flat| flat < 0 || flat >= src.nitems) {
        return Err(INVALID_PARAM);
    }
    read_flat(&geometry, &mut chunks, &unsigned(coords)?, out.get_mut(..len).ok_or(INVALID_PARAM)?)
}

/// An orthogonal selection.
///
/// # Safety
/// `ndim` lists at `selection`, as long as `sizes` says.
unsafe fn orthogonal(array: &Array, selection: *const *const i64, sizes: *const i64) -> Result<Selection> {
    let n = i64::from(array.ndim);
    // SAFETY: as the caller promises.
    let (pointers, sizes) = unsafe { (values(selection, n)?, values(sizes, n)?) };
    let mut takes = Vec::new();
    for (&list, &len) in pointers.iter().zip(sizes) {
        // SAFETY: as the caller promises.
        takes.push(Take::List(unsigned(unsafe { values(list, len) }?).map_err(|_| INVALID_INDEX)?));
    }
    Ok(Selection::new(&unsigned(&array.meta()?.shape)?, &takes)?)
}

#[unsafe(no_mangle)]
unsafe extern "C" fn b2nd_get_orthogonal_selection(
    src: *const Array,
    selection: *const *const i64,
    selection_size: *const i64,
    buffer: *mut c_void,
    buffershape: *const i64,
    buffersize: i64,
) -> c_int {
    // SAFETY: null or an array of this library; a list for each dimension; `buffersize` writable bytes.
    int(|| unsafe {
        let out = bytes_mut(buffer, buffersize)?;
        reading(src, |src| {
            let (selection, shape) = (
                orthogonal(src, selection, selection_size)?,
                unsigned(values(buffershape, src.ndim.into())?)?,
            );
            let (geometry, mut chunks) = parts(src, false)?;
            selection.read(&geometry, &mut chunks, (out, &shape)).map(|()| 0)
        })
    })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn b2nd_set_orthogonal_selection(
    dst: *mut Array,
    selection: *const *const i64,
    selection_size: *const i64,
    buffer: *const c_void,
    buffershape: *const i64,
    buffersize: i64,
) -> c_int {
    // SAFETY: null or an array of this library; a list for each dimension; `buffersize` readable bytes.
    int(|| unsafe {
        let data = bytes(buffer, buffersize)?;
        changing(dst, |dst| {
            let (selection, shape) = (
                orthogonal(dst, selection, selection_size)?,
                unsigned(values(buffershape, dst.ndim.into())?)?,
            );
            let (geometry, mut chunks) = parts(dst, false)?;
            selection.write(&geometry, &mut chunks, (data, &shape), false).map(|()| 0)
        })
    })
}
