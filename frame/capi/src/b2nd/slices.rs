//! Slices and selections, in and out of an array's chunks.

use super::boxes::{copy_box, div_up, lengths, positions};
use super::create::chunk_of;
use super::{Array, Meta, changing, reading};
use crate::error::*;
use crate::memory::{bytes, bytes_mut, values, zeros};
use core::ffi::{c_int, c_void};

fn item_size(array: &Array) -> Result<usize> {
    usize::try_from(array.schunk()?.public.typesize).ok().filter(|&size| size > 0).ok_or(INVALID_PARAM)
}

/// Items `start` to `stop` of `array` into `out`, which has the shape `shape` and the slice at its beginning.
pub fn get(array: &Array, start: &[i64], stop: &[i64], out: &mut [u8], shape: &[i64]) -> Result<()> {
    let (meta, size) = (array.meta()?, item_size(array)?);
    let (block_bytes, chunk_bytes) = meta.bytes(size)?;
    check_shape(shape, start, stop, out.len(), size)?;
    let owned = array.schunk()?;
    let blocks = meta.blocks();
    let count = blocks.iter().product::<i64>();
    let wide: Vec<i64> = meta.blockshape.iter().map(|&b| b.into()).collect();
    let mut buffer = Vec::new();
    for position in meta.chunks(start, stop)? {
        let k = meta.number(&position);
        let wanted: Vec<(u64, _)> = wanted_blocks(&meta, &blocks, &position, start, stop);
        let whole = wanted.len() * 2 > count as usize;
        buffer.resize(if whole { chunk_bytes } else { block_bytes }, 0);
        if whole {
            owned.chunk_bytes(k, 0..chunk_bytes, &mut buffer)?;
        }
        for (number, (first, within, len)) in wanted {
            let at = usize::try_from(number).map_err(|_| INVALID_PARAM)? * block_bytes;
            let block = if whole {
                buffer.get(at..at + block_bytes).ok_or(READ_BUFFER)?
            } else {
                owned.chunk_bytes(k, at..at + block_bytes, &mut buffer)?;
                &buffer[..]
            };
            let to: Vec<i64> = first.iter().zip(start).map(|(a, b)| a - b).collect();
            copy_box(size, &len, (block, &wide, &within), (&mut *out, shape, &to))?;
        }
    }
    Ok(())
}

type Part = (Vec<i64>, Vec<i64>, Vec<i64>);

/// The blocks of the chunk at `position` that the slice crosses, with the part of the slice in each.
fn wanted_blocks(
    meta: &Meta,
    blocks: &[i64],
    position: &[i64],
    start: &[i64],
    stop: &[i64],
) -> Vec<(u64, Part)> {
    let (mut low, mut high) = (Vec::new(), Vec::new());
    for k in 0..blocks.len() {
        let (c, b) = (i64::from(meta.chunkshape[k]), meta.blockshape[k]);
        let origin = position[k] * c;
        low.push((start[k] - origin).max(0).checked_div(b.into()).unwrap_or(0));
        high.push(div_up((stop[k] - origin).min(c), b));
    }
    let number = |block: &[i64]| {
        block.iter().zip(blocks).fold(0, |n, (x, count)| n * count.unsigned_abs() + x.unsigned_abs())
    };
    let parts =
        positions(&low, &high).map(|block| (number(&block), meta.part(position, &block, start, stop)));
    parts.filter(|(_, (_, _, len))| len.iter().all(|&n| n > 0)).collect()
}

/// Whether a buffer of `len` bytes holds an array of this shape, in which the slice fits.
fn check_shape(shape: &[i64], start: &[i64], stop: &[i64], len: usize, size: usize) -> Result<()> {
    let items = shape.iter().try_fold(size, |n, &k| n.checked_mul(usize::try_from(k).ok()?));
    if items.is_none_or(|bytes| bytes > len) {
        return Err(INVALID_PARAM);
    }
    let fits = shape.iter().zip(lengths(start, stop)?).all(|(s, n)| n <= *s);
    if fits { Ok(()) } else { Err(INVALID_PARAM) }
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
    let (meta, size) = (array.meta()?, item_size(array)?);
    let (_, chunk_bytes) = meta.bytes(size)?;
    check_shape(shape, start, stop, data.len(), size)?;
    let owned = array.schunk()?;
    for position in meta.chunks(start, stop)? {
        let k = meta.number(&position);
        let covered = (0..position.len()).all(|d| {
            let c = i64::from(meta.chunkshape[d]);
            let (low, high) = (position[d] * c, ((position[d] + 1) * c).min(meta.shape[d]));
            start[d] <= low && high <= stop[d]
        });
        let mut chunk = vec![0; chunk_bytes];
        if !covered && !fresh {
            owned.chunk_bytes(k, 0..chunk_bytes, &mut chunk)?;
        }
        chunk_of(&meta, size, &mut chunk, &position, (data, shape, start, stop))?;
        let chunk = owned.compressed(&chunk, i64::try_from(k).unwrap_or(-1))?;
        if fresh {
            crate::schunk::append(owned, &chunk)?;
        } else {
            crate::schunk::update(owned, k, &chunk)?;
        }
    }
    Ok(())
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

/// The position of the item with row-major number `flat`.
fn position_of(flat: i64, shape: &[i64]) -> Vec<i64> {
    let mut rest = flat;
    let mut at = vec![0; shape.len()];
    for k in (0..shape.len()).rev() {
        at[k] = rest % shape[k].max(1);
        rest /= shape[k].max(1);
    }
    at
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
    let (meta, size) = (src.meta()?, item_size(src)?);
    if coords.iter().any(|&flat| flat < 0 || flat >= src.nitems) || out.len() / size.max(1) < coords.len() {
        return Err(INVALID_PARAM);
    }
    let mut reader = Reader::new(src, &meta, size)?;
    for (&flat, place) in coords.iter().zip(out.chunks_mut(size)) {
        place.copy_from_slice(reader.item(&position_of(flat, &meta.shape))?);
    }
    Ok(())
}

/// Reads single items; keeps the last block.
struct Reader<'a> {
    array: &'a Array,
    meta: &'a Meta,
    size: usize,
    last: Option<(u64, i64)>,
    block: Vec<u8>,
}

impl<'a> Reader<'a> {
    fn new(array: &'a Array, meta: &'a Meta, size: usize) -> Result<Reader<'a>> {
        Ok(Reader { array, meta, size, last: None, block: vec![0; meta.bytes(size)?.0] })
    }

    fn item(&mut self, at: &[i64]) -> Result<&[u8]> {
        let meta = self.meta;
        let blocks = meta.blocks();
        let (mut chunk, mut block, mut item) = (Vec::new(), 0i64, 0i64);
        for (k, &x) in at.iter().enumerate() {
            let (c, b) = (i64::from(meta.chunkshape[k]), i64::from(meta.blockshape[k]));
            chunk.push(x / c);
            block = block * blocks[k] + x % c / b;
            item = item * b + x % c % b;
        }
        let k = meta.number(&chunk);
        if self.last != Some((k, block)) {
            let at = usize::try_from(block).map_err(|_| INVALID_PARAM)? * self.block.len();
            self.last = None;
            self.array.schunk()?.chunk_bytes(k, at..at + self.block.len(), &mut self.block)?;
            self.last = Some((k, block));
        }
        let at = usize::try_from(item).map_err(|_| INVALID_PARAM)? * self.size;
        self.block.get(at..at + self.size).ok_or(READ_BUFFER)
    }
}

/// The lists of an orthogonal selection, checked.
///
/// # Safety
/// `ndim` lists at `selection`, as long as `sizes` says.
unsafe fn lists<'a>(meta: &Meta, selection: *const *const i64, sizes: *const i64) -> Result<Vec<&'a [i64]>> {
    let n = i64::try_from(meta.shape.len()).unwrap_or(0);
    // SAFETY: as the caller promises.
    let (pointers, sizes) = unsafe { (values(selection, n)?, values(sizes, n)?) };
    let mut out = Vec::new();
    for ((&list, &len), &s) in pointers.iter().zip(sizes).zip(&meta.shape) {
        // SAFETY: as the caller promises.
        let list = unsafe { values(list, len) }?;
        if list.iter().any(|&x| x < 0 || x >= s) {
            return Err(INVALID_INDEX);
        }
        out.push(list);
    }
    Ok(out)
}

/// The lengths of the lists.
fn list_lengths(lists: &[&[i64]]) -> Vec<i64> {
    lists.iter().map(|list| i64::try_from(list.len()).unwrap_or(0)).collect()
}

fn get_selection(src: &Array, lists: &[&[i64]], out: &mut [u8], shape: &[i64]) -> Result<()> {
    let (meta, size, counts) = (src.meta()?, item_size(src)?, list_lengths(lists));
    let (zero, one) = (vec![0; counts.len()], vec![1; counts.len()]);
    check_shape(shape, &zero, &counts, out.len(), size)?;
    let mut reader = Reader::new(src, &meta, size)?;
    for at in positions(&zero, &counts) {
        let item: Vec<i64> = lists.iter().zip(&at).map(|(list, &k)| list[k as usize]).collect();
        copy_box(size, &one, (reader.item(&item)?, &one, &zero), (&mut *out, shape, &at))?;
    }
    Ok(())
}

/// The smallest slice that holds the selection is read, changed and written.
fn set_selection(dst: &mut Array, lists: &[&[i64]], data: &[u8], shape: &[i64]) -> Result<()> {
    let (size, counts) = (item_size(dst)?, list_lengths(lists));
    let (zero, one) = (vec![0; counts.len()], vec![1; counts.len()]);
    check_shape(shape, &zero, &counts, data.len(), size)?;
    if counts.contains(&0) {
        return Ok(());
    }
    let low: Vec<i64> = lists.iter().map(|list| list.iter().min().copied().unwrap_or(0)).collect();
    let high: Vec<i64> = lists.iter().map(|list| list.iter().max().map_or(0, |&x| x + 1)).collect();
    let part: Vec<i64> = low.iter().zip(&high).map(|(a, b)| b - a).collect();
    let total = part.iter().try_fold(size, |n, &k| n.checked_mul(usize::try_from(k).ok()?));
    let mut slice = zeros(total.ok_or(INVALID_PARAM)?)?;
    get(dst, &low, &high, &mut slice, &part)?;
    for at in positions(&zero, &counts) {
        let to: Vec<i64> =
            lists.iter().zip(&at).zip(&low).map(|((list, &k), l)| list[k as usize] - l).collect();
        copy_box(size, &one, (data, shape, &at), (&mut slice, &part, &to))?;
    }
    set(dst, &slice, &part, &low, &high, false)
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
            let (lists, shape) =
                (lists(&src.meta()?, selection, selection_size)?, values(buffershape, src.ndim.into())?);
            get_selection(src, &lists, out, shape).map(|()| 0)
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
            let (lists, shape) =
                (lists(&dst.meta()?, selection, selection_size)?, values(buffershape, dst.ndim.into())?);
            set_selection(dst, &lists, data, shape).map(|()| 0)
        })
    })
}
