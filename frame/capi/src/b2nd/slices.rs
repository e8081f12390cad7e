//! Slices and selections, in and out of an array's chunks; boxes between buffers.

use super::array::{Array, Whole, changing, reading};
use crate::error::*;
use crate::memory::{bytes, bytes_mut, values};
use crate::schunk::{self, Owned};
use crate::shapes::{lengths, select, unsigned};
use blosc_frame::b2nd::{ChunkAccess, Selection, Take, copy_box, read_flat};
use core::ffi::{c_int, c_void};
use core::ops::Range;

/// The chunks of an array, through the contexts of its super-chunk: callers may have codecs and filters of their own.
pub struct Chunks {
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
            true => schunk::append(self.owned, &chunk).map(drop),
            false => schunk::update(self.owned, k, &chunk).map(drop),
        }
    }
}

impl Chunks {
    /// # Errors
    /// Chunks that are too large, see [`layout`](crate::shapes::layout).
    pub fn of(array: &Whole, new: bool) -> Result<Chunks> {
        let owned = array.schunk()?;
        match array.layout().geometry().typesize() == owned.inner.frame.typesize() {
            true => Ok(Chunks { owned, new }),
            false => Err(MAX_BUFSIZE_EXCEEDED),
        }
    }
}

/// The selected items of `array` to the beginning of a buffer of the shape beside it.
pub fn get(array: &Whole, selection: &Selection, buffer: (&mut [u8], &[u64])) -> Result<()> {
    selection.read(array.layout().geometry(), &mut Chunks::of(array, false)?, buffer)
}

/// Sets the selected items to those at the beginning of a buffer of the shape beside it. `new`: the array's chunks are
/// appended in order, each whole.
pub fn set(array: &Whole, selection: &Selection, buffer: (&[u8], &[u64]), new: bool) -> Result<()> {
    selection.write(array.layout().geometry(), &mut Chunks::of(array, new)?, buffer, new)
}

/// Items `start` to `stop`.
///
/// # Safety
/// A number for each dimension of the array at each pointer.
unsafe fn slice(array: &Whole, start: *const i64, stop: *const i64) -> Result<Selection> {
    let n = i64::from(array.ndim);
    // SAFETY: as the caller promises.
    let (start, stop) = unsafe { (unsigned(values(start, n)?)?, unsigned(values(stop, n)?)?) };
    select(array.sides(), &start, &stop)
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
    // SAFETY: null or an array of this library; a number for each dimension; `buffersize` writable bytes, as the caller promises.
    int(|| unsafe {
        let out = bytes_mut(buffer, buffersize)?;
        reading(src, |src| {
            let shape = unsigned(values(buffershape, src.ndim.into())?)?;
            get(src, &slice(src, start, stop)?, (out, &shape)).map(|()| 0)
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
    // SAFETY: null or an array of this library; a number for each dimension; `buffersize` readable bytes, as the caller promises.
    int(|| unsafe {
        let data = bytes(buffer, buffersize)?;
        changing(dst, |dst| {
            let shape = unsigned(values(buffershape, dst.ndim.into())?)?;
            set(dst, &slice(dst, start, stop)?, (data, &shape), false).map(|()| 0)
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
    // SAFETY: null or an array of this library; `ncoords` numbers; `buffersize` writable bytes, as the caller promises.
    int(|| unsafe {
        let (coords, out) = (values(coords, ncoords)?, bytes_mut(buffer, buffersize)?);
        reading(src, |src| get_sparse(src, coords, out).map(|()| 0))
    })
}

fn get_sparse(src: &Whole, coords: &[i64], out: &mut [u8]) -> Result<()> {
    let geometry = src.layout().geometry();
    let len = coords.len().checked_mul(geometry.typesize() as usize).ok_or(INVALID_PARAM)?;
    if coords.iter().any(|&flat| flat < 0 || flat >= src.nitems) {
        return Err(INVALID_PARAM);
    }
    read_flat(
        geometry,
        &mut Chunks::of(src, false)?,
        &unsigned(coords)?,
        out.get_mut(..len).ok_or(INVALID_PARAM)?,
    )
}

/// An orthogonal selection.
///
/// # Safety
/// `ndim` lists at `selection`, as long as `sizes` says.
unsafe fn orthogonal(array: &Whole, selection: *const *const i64, sizes: *const i64) -> Result<Selection> {
    let n = i64::from(array.ndim);
    // SAFETY: as the caller promises.
    let (pointers, sizes) = unsafe { (values(selection, n)?, values(sizes, n)?) };
    let mut takes = Vec::new();
    for (&list, &len) in pointers.iter().zip(sizes) {
        // SAFETY: as the caller promises.
        takes.push(Take::List(unsigned(unsafe { values(list, len) }?).map_err(|_| INVALID_INDEX)?));
    }
    Ok(Selection::new(array.sides(), &takes)?)
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
    // SAFETY: null or an array of this library; a list for each dimension; `buffersize` writable bytes, as the caller promises.
    int(|| unsafe {
        let out = bytes_mut(buffer, buffersize)?;
        reading(src, |src| {
            let (selection, shape) = (
                orthogonal(src, selection, selection_size)?,
                unsigned(values(buffershape, src.ndim.into())?)?,
            );
            get(src, &selection, (out, &shape)).map(|()| 0)
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
    // SAFETY: null or an array of this library; a list for each dimension; `buffersize` readable bytes, as the caller promises.
    int(|| unsafe {
        let data = bytes(buffer, buffersize)?;
        changing(dst, |dst| {
            let (selection, shape) = (
                orthogonal(dst, selection, selection_size)?,
                unsigned(values(buffershape, dst.ndim.into())?)?,
            );
            set(dst, &selection, (data, &shape), false).map(|()| 0)
        })
    })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn b2nd_copy_buffer2(
    ndim: i8,
    itemsize: i32,
    src: *const c_void,
    src_pad_shape: *const i64,
    src_start: *const i64,
    src_stop: *const i64,
    dst: *mut c_void,
    dst_pad_shape: *const i64,
    dst_start: *const i64,
) -> c_int {
    int(|| {
        // SAFETY: `ndim` numbers at each; buffers as large as their shapes say, which do not overlap.
        unsafe {
            let n = i64::from(ndim);
            let (from_shape, from_at) = (values(src_pad_shape, n)?, values(src_start, n)?);
            let (to_shape, to_at) = (values(dst_pad_shape, n)?, values(dst_start, n)?);
            let stop = values(src_stop, n)?;
            let total = |shape: &[i64]| {
                let product = |p: i64, &k: &i64| if k < 0 { None } else { p.checked_mul(k) };
                shape.iter().try_fold(i64::from(itemsize), product).ok_or(INVALID_PARAM)
            };
            let from = bytes(src, total(from_shape)?)?;
            let to = bytes_mut(dst, total(to_shape)?)?;
            if from_at.iter().zip(stop).any(|(start, stop)| start >= stop) {
                return Ok(0);
            }
            let item = u32::try_from(itemsize).map_err(|_| INVALID_PARAM)?;
            let (from_shape, from_at) = (unsigned(from_shape)?, unsigned(from_at)?);
            let (to_shape, to_at) = (unsigned(to_shape)?, unsigned(to_at)?);
            let len = lengths(&from_at, &unsigned(stop)?)?;
            copy_box(item, &len, (from, &from_shape, &from_at), (to, &to_shape, &to_at))?;
        }
        Ok(0)
    })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn b2nd_copy_buffer(
    ndim: i8,
    itemsize: u8,
    src: *const c_void,
    src_pad_shape: *const i64,
    src_start: *const i64,
    src_stop: *const i64,
    dst: *mut c_void,
    dst_pad_shape: *const i64,
    dst_start: *const i64,
) -> c_int {
    // SAFETY: as this function's own arguments.
    unsafe {
        b2nd_copy_buffer2(
            ndim,
            itemsize.into(),
            src,
            src_pad_shape,
            src_start,
            src_stop,
            dst,
            dst_pad_shape,
            dst_start,
        )
    }
}
