//! Contexts, new arrays and copies.

use super::boxes::{lengths, select, unsigned};
use super::{Array, Meta, NdContext, array, changing, layers, reading, slices, wrap};
use crate::abi::{CParams, DParams, MAX_DIM, Metalayer, Storage};
use crate::context::parse;
use crate::error::*;
use crate::memory::{bytes, bytes_mut, needed, put, release, string, text, values, zeros};
use crate::schunk::{self, Asked, Owned};
use blosc_frame::b2nd::Geometry;
use core::ffi::{c_char, c_int, c_void};
use core::ptr;
use std::ffi::{CStr, CString};

#[unsafe(no_mangle)]
unsafe extern "C" fn b2nd_create_ctx(
    b2_storage: *const Storage,
    ndim: i8,
    shape: *const i64,
    chunkshape: *const i32,
    blockshape: *const i32,
    dtype: *const c_char,
    dtype_format: i8,
    metalayers: *const Metalayer,
    nmetalayers: i32,
) -> *mut NdContext {
    pointer(|| {
        let n = usize::try_from(ndim).ok().filter(|&n| n <= MAX_DIM).ok_or(INVALID_PARAM)?;
        // SAFETY: `ndim` numbers at each; null or a string; null or a valid structure; `nmetalayers` layers.
        unsafe {
            let mut ctx = Box::new(NdContext {
                ndim,
                shape: [1; MAX_DIM],
                chunkshape: [1; MAX_DIM],
                blockshape: [1; MAX_DIM],
                dtype: ptr::null_mut(),
                dtype_format,
                b2_storage: ptr::null_mut(),
                metalayers: layers(metalayers, nmetalayers)?,
                stored: Box::new((
                    b2_storage.as_ref().copied().unwrap_or(Storage {
                        contiguous: false,
                        urlpath: ptr::null_mut(),
                        cparams: ptr::null_mut(),
                        dparams: ptr::null_mut(),
                        io: ptr::null_mut(),
                    }),
                    CParams::DEFAULT,
                    DParams::DEFAULT,
                    None,
                )),
            });
            ctx.shape[..n].copy_from_slice(values(shape, ndim.into())?);
            ctx.chunkshape[..n].copy_from_slice(values(chunkshape, ndim.into())?);
            ctx.blockshape[..n].copy_from_slice(values(blockshape, ndim.into())?);
            let (storage, cparams, dparams, path) = &mut *ctx.stored;
            *cparams = storage.cparams.as_ref().copied().unwrap_or(*cparams);
            *dparams = storage.dparams.as_ref().copied().unwrap_or(*dparams);
            let items = ctx.blockshape[..n].iter().try_fold(cparams.typesize, |p, &b| p.checked_mul(b));
            cparams.blocksize = items.ok_or(INVALID_PARAM)?;
            if !storage.urlpath.is_null() {
                let copy = path.insert(CString::from(CStr::from_ptr(storage.urlpath)));
                storage.urlpath = copy.as_ptr().cast_mut();
            }
            storage.cparams = cparams;
            storage.dparams = dparams;
            ctx.dtype = if dtype.is_null() {
                string(&format!("|S{}", cparams.typesize))?
            } else {
                string(text(dtype)?)?
            };
            ctx.b2_storage = storage;
            Ok(Box::into_raw(ctx))
        }
    })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn b2nd_free_ctx(ctx: *mut NdContext) -> c_int {
    int(|| {
        if !ctx.is_null() {
            // SAFETY: a context of this library, given back once, as the interface says.
            unsafe { release(Box::from_raw(ctx).dtype) };
        }
        Ok(0)
    })
}

/// # Safety
/// `ctx` is null or a context of this library.
pub unsafe fn context<'a>(ctx: *const NdContext) -> Result<&'a NdContext> {
    // SAFETY: as the caller promises.
    unsafe { ctx.as_ref() }.ok_or(NULL_POINTER)
}

impl NdContext {
    /// The geometry of an array of this shape, checked.
    pub fn meta_of(&self, shape: &[i64]) -> Result<Meta> {
        if usize::try_from(self.ndim) != Ok(shape.len()) {
            return Err(INVALID_PARAM);
        }
        let meta = Meta { shape: shape.to_vec(), ..self.unchecked()? };
        // Checked as a reader would.
        Meta::parse(&meta.content()?).map_err(|_| INVALID_PARAM)
    }

    /// The geometry that the context tells, checked.
    pub fn meta(&self) -> Result<Meta> {
        let n = usize::try_from(self.ndim).map_err(|_| INVALID_PARAM)?;
        self.meta_of(self.shape.get(..n).ok_or(INVALID_PARAM)?)
    }

    fn unchecked(&self) -> Result<Meta> {
        let n = usize::try_from(self.ndim).map_err(|_| INVALID_PARAM)?;
        // SAFETY: a string that the context made.
        let dtype = unsafe { text(self.dtype) }?.to_owned();
        Ok(Meta {
            shape: self.shape[..n].to_vec(),
            chunkshape: self.chunkshape[..n].to_vec(),
            blockshape: self.blockshape[..n].to_vec(),
            dtype,
            dtype_format: self.dtype_format,
        })
    }
}

/// What the chunks of a new array hold.
#[derive(Clone, Copy)]
pub enum Fill<'a> {
    Special(c_int),
    Value(&'a [u8]),
    Nothing,
}

/// A new array as the context says, of geometry `meta`.
pub fn create(ctx: &NdContext, meta: &Meta, fill: Fill<'_>) -> Result<*mut Array> {
    // SAFETY: the context keeps what its storage points to.
    let asked = unsafe { Asked::of(ctx.b2_storage) }?;
    let typesize = usize::try_from(asked.cparams.typesize).map_err(|_| INVALID_PARAM)?;
    let geometry = meta.geometry(typesize.max(1))?;
    let cparams = CParams { blocksize: size(geometry.block_bytes() as usize)?, ..asked.cparams };
    let sc = schunk::create(asked.with_cparams(cparams))?;
    // SAFETY: just made.
    let made = unsafe { schunk::changing(sc, |owned| fill_new(owned, ctx, meta, &geometry, fill)) };
    let made = made.and_then(|()| wrap(sc, meta, false));
    if made.is_err() {
        // SAFETY: just made, and not handed out.
        unsafe { schunk::blosc2_schunk_free(sc) };
    }
    made
}

/// Gives a new super-chunk its metalayers and chunks.
fn fill_new(
    owned: &mut Owned,
    ctx: &NdContext,
    meta: &Meta,
    geometry: &Geometry,
    fill: Fill<'_>,
) -> Result<()> {
    owned.inner.frame.set_metalayer("b2nd", &meta.content()?)?;
    for (name, content) in &ctx.metalayers {
        owned.inner.frame.set_metalayer(name, content)?;
    }
    owned.sync_meta()?;
    let (chunk, nchunks) = (geometry.chunk_bytes() as usize, geometry.nchunks());
    if chunk > 0 {
        owned.change(|inner| Ok(inner.frame.set_chunksize(geometry.chunk_bytes())?))?;
    }
    if nchunks == 0 || chunk == 0 {
        return Ok(());
    }
    match fill {
        Fill::Special(kind) => {
            let items = u64::from(geometry.chunk_bytes() / geometry.typesize()).checked_mul(nchunks);
            let items = items.and_then(|n| i64::try_from(n).ok()).ok_or(INVALID_PARAM)?;
            schunk::fill_special(owned, items, kind, size(chunk)?)?;
        }
        Fill::Value(item) => {
            let mut repeated = vec![0; 32 + item.len()];
            let n = blosc_core::chunk::special::repeated(item, chunk, &mut repeated)?;
            // The block size of the array, as the other chunks have it.
            repeated[8..12].copy_from_slice(&geometry.block_bytes().to_le_bytes());
            parse(&repeated[..n])?;
            owned.change(|inner| {
                for k in 0..nchunks {
                    inner.frame.append_chunk(&repeated[..n])?;
                    inner.add_size(k);
                }
                Ok(())
            })?;
        }
        Fill::Nothing => {}
    }
    Ok(())
}

fn new_array(ctx: *const NdContext, out: *mut *mut Array, fill: Fill<'_>) -> c_int {
    int(|| {
        // SAFETY: null or a context; null or writable: every caller passes its own arguments.
        unsafe {
            let (ctx, out) = (context(ctx)?, needed(out)?);
            put(out, create(ctx, &ctx.meta()?, fill)?);
        }
        Ok(0)
    })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn b2nd_uninit(ctx: *const NdContext, array: *mut *mut Array) -> c_int {
    new_array(ctx, array, Fill::Special(4))
}

#[unsafe(no_mangle)]
unsafe extern "C" fn b2nd_empty(ctx: *const NdContext, array: *mut *mut Array) -> c_int {
    new_array(ctx, array, Fill::Special(1))
}

#[unsafe(no_mangle)]
unsafe extern "C" fn b2nd_zeros(ctx: *const NdContext, array: *mut *mut Array) -> c_int {
    new_array(ctx, array, Fill::Special(1))
}

#[unsafe(no_mangle)]
unsafe extern "C" fn b2nd_nans(ctx: *const NdContext, array: *mut *mut Array) -> c_int {
    new_array(ctx, array, Fill::Special(2))
}

#[unsafe(no_mangle)]
unsafe extern "C" fn b2nd_full(
    ctx: *const NdContext,
    array: *mut *mut Array,
    fill_value: *const c_void,
) -> c_int {
    // SAFETY: null or a context, whose storage has parameters; a value of the typesize.
    let item = unsafe {
        context(ctx).and_then(|ctx| bytes(fill_value, (*(*ctx.b2_storage).cparams).typesize.into()))
    };
    match item {
        Ok(item) => new_array(ctx, array, Fill::Value(item)),
        Err(code) => code.0,
    }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn b2nd_from_cbuffer(
    ctx: *const NdContext,
    out: *mut *mut Array,
    buffer: *const c_void,
    buffersize: i64,
) -> c_int {
    int(|| {
        // SAFETY: null or a context; `buffersize` readable bytes; null or writable.
        unsafe {
            let (ctx, data, out) = (context(ctx)?, bytes(buffer, buffersize)?, needed(out)?);
            let meta = ctx.meta()?;
            let new = create(ctx, &meta, Fill::Nothing)?;
            let start = vec![0; meta.shape.len()];
            let done = changing(new, |new| slices::set(new, data, &meta.shape, &start, &meta.shape, true));
            put(out, or_free(new, done)?);
        }
        Ok(0)
    })
}

/// The new array, or the error; the array is then freed.
fn or_free(new: *mut Array, done: Result<()>) -> Result<*mut Array> {
    done.map(|()| new).inspect_err(|_| {
        // SAFETY: just made, and not handed out.
        unsafe { super::b2nd_free(new) };
    })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn b2nd_to_cbuffer(src: *const Array, buffer: *mut c_void, buffersize: i64) -> c_int {
    // SAFETY: null or an array of this library; `buffersize` writable bytes.
    int(|| unsafe {
        let out = bytes_mut(buffer, buffersize)?;
        reading(src, |src| {
            let meta = src.meta()?;
            let start = vec![0; meta.shape.len()];
            slices::get(src, &start, &meta.shape, out, &meta.shape)?;
            Ok(0)
        })
    })
}

/// A new array of the items `start` to `stop` of `src`, with chunks as the context says.
fn sliced(ctx: &NdContext, src: &Array, start: &[i64], stop: &[i64]) -> Result<*mut Array> {
    let shape = lengths(start, stop)?;
    let own = ctx.meta_of(&shape)?;
    let meta = Meta { dtype: src.meta()?.dtype, dtype_format: src.dtype_format, ..own };
    // What lies beyond the end of the source is zero.
    let inside: Vec<i64> =
        (0..shape.len()).map(|k| shape[k].min(src.shape[k].saturating_sub(start[k])).max(0)).collect();
    let whole = inside == shape;
    let new = create(ctx, &meta, if whole { Fill::Nothing } else { Fill::Special(1) })?;
    // SAFETY: just made.
    let done = unsafe { changing(new, |to| transfer(src, start, to, &vec![0; shape.len()], &inside, whole)) };
    or_free(new, done)
}

#[unsafe(no_mangle)]
unsafe extern "C" fn b2nd_get_slice(
    ctx: *const NdContext,
    out: *mut *mut Array,
    src: *const Array,
    start: *const i64,
    stop: *const i64,
) -> c_int {
    // SAFETY: a context; an array of this library with as many numbers as dimensions; null or writable.
    int(|| unsafe {
        let (ctx, out) = (context(ctx)?, needed(out)?);
        let new = reading(src, |src| {
            let n = i64::from(src.ndim);
            sliced(ctx, src, values(start, n)?, values(stop, n)?)
        })?;
        put(out, new);
        Ok(0)
    })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn b2nd_copy(ctx: *const NdContext, src: *const Array, out: *mut *mut Array) -> c_int {
    // SAFETY: a context; an array of this library; null or writable.
    int(|| unsafe {
        let (ctx, out) = (context(ctx)?, needed(out)?);
        let new = reading(src, |src| {
            let meta = src.meta()?;
            let new = sliced(ctx, src, &vec![0; meta.shape.len()], &meta.shape)?;
            let from = src.schunk()?;
            or_free(new, changing(new, |new| copy_meta(from, new)))
        })?;
        put(out, new);
        Ok(0)
    })
}

/// Takes over the metalayers of `from` that the new array has not, and its variable-length metalayers.
fn copy_meta(from: &mut Owned, new: &mut Array) -> Result<()> {
    let to = new.schunk()?;
    let names: Vec<String> = from.inner.frame.metalayer_names().collect();
    for name in names.iter().filter(|name| !matches!(name.as_str(), "b2nd" | "caterva")) {
        let content = from.inner.frame.metalayer(name).unwrap_or(&[]).to_vec();
        if to.inner.frame.metalayer(name).is_none() {
            to.inner.frame.set_metalayer(name, &content)?;
        }
    }
    to.copy_vlmeta(from)
}

#[unsafe(no_mangle)]
unsafe extern "C" fn b2nd_concatenate(
    ctx: *const NdContext,
    src1: *const Array,
    src2: *const Array,
    axis: i8,
    copy: bool,
    out: *mut *mut Array,
) -> c_int {
    // SAFETY: a context; arrays of this library; null or writable, and without `copy` an array.
    int(|| unsafe {
        let (ctx, out) = (context(ctx)?, needed(out)?);
        // An array cannot grow by itself: its own chunks would move while they are read.
        if !copy && ptr::eq(array(src1)?.sc, array(src2)?.sc) {
            return Err(INVALID_PARAM);
        }
        let new = match copy {
            true => reading(src1, |a| joined(ctx, a, src2, axis))?,
            false => {
                changing(src1.cast_mut(), |a| {
                    let (left, whole, axis) = shapes(a, array(src2)?, axis)?;
                    super::edit::resize(a, &whole)?;
                    append_all(a, src2, left.shape[axis], axis)
                })?;
                src1.cast_mut()
            }
        };
        put(out, new);
        Ok(0)
    })
}

/// The geometry of `a`, the shape of both arrays together, and the axis that grows.
fn shapes(a: &Array, b: &Array, axis: i8) -> Result<(Meta, Vec<i64>, usize)> {
    let (left, right) = (a.meta()?, b.meta()?);
    let axis = usize::try_from(axis).ok().filter(|&k| k < left.shape.len()).ok_or(INVALID_PARAM)?;
    let fits = left.shape.len() == right.shape.len()
        && (0..left.shape.len()).all(|k| k == axis || left.shape[k] == right.shape[k]);
    if !fits || a.schunk()?.public.typesize != b.schunk()?.public.typesize {
        return Err(INVALID_PARAM);
    }
    let mut whole = left.shape.clone();
    whole[axis] = whole[axis].checked_add(right.shape[axis]).ok_or(INVALID_PARAM)?;
    Ok((left, whole, axis))
}

/// A new array of `a` and, behind it, the array at `src2`.
///
/// # Safety
/// `src2` is null or an array of this library.
unsafe fn joined(ctx: &NdContext, a: &Array, src2: *const Array, axis: i8) -> Result<*mut Array> {
    // SAFETY: as the caller promises.
    let (left, whole, axis) = shapes(a, unsafe { array(src2) }?, axis)?;
    let meta = Meta { dtype: left.dtype.clone(), ..ctx.meta_of(&whole)? };
    let new = create(ctx, &meta, Fill::Special(1))?;
    // SAFETY: `new` has just been made; `src2` as the caller promises.
    let done = unsafe {
        changing(new, |new| {
            let zero = vec![0; left.shape.len()];
            transfer(a, &zero, new, &zero, &left.shape, false)?;
            append_all(new, src2, left.shape[axis], axis)
        })
    };
    or_free(new, done)
}

/// Writes the array at `src2` to where `at` begins on `axis`.
///
/// # Safety
/// `src2` is null or an array of this library.
unsafe fn append_all(to: &mut Array, src2: *const Array, at: i64, axis: usize) -> Result<()> {
    let mut write = |from: &Array, shape: &[i64]| {
        let zero = vec![0; shape.len()];
        let mut place = zero.clone();
        place[axis] = at;
        transfer(from, &zero, to, &place, shape, false)
    };
    // SAFETY: as the caller promises; it is not `to`, which is new or has been compared.
    unsafe { reading(src2, |from| write(from, &from.meta()?.shape)) }
}

/// Copies a box of the shape `shape`, which is at `start` in `from` and at `at` in `to`; chunk by chunk of `to`, so that
/// memory for one is enough. `fresh`: as of [`slices::set`].
fn transfer(
    from: &Array,
    start: &[i64],
    to: &mut Array,
    at: &[i64],
    shape: &[i64],
    fresh: bool,
) -> Result<()> {
    let size = usize::try_from(from.schunk()?.public.typesize).map_err(|_| INVALID_PARAM)?;
    let geometry = to.meta()?.geometry(size)?;
    let end: Vec<i64> = at.iter().zip(shape).map(|(a, n)| a + n).collect();
    for k in select(geometry.shape(), at, &end)?.chunks(&geometry) {
        let (first, count) = geometry.chunk_region(k);
        // Numbers of items of an array of C, which are below 2^63.
        let first: Vec<i64> = first.iter().map(|&n| n as i64).collect();
        let low: Vec<i64> = at.iter().zip(&first).map(|(a, f)| *a.max(f)).collect();
        let ends = first.iter().zip(count.iter()).map(|(f, &n)| f + n as i64);
        let high: Vec<i64> = end.iter().zip(ends).map(|(e, f)| *e.min(&f)).collect();
        let part = lengths(&low, &high)?;
        let bytes = unsigned(&part)?.iter().fold(size, |n, &side| n.saturating_mul(side as usize));
        let mut data = zeros(bytes)?;
        let source =
            |list: &[i64]| -> Vec<i64> { (0..at.len()).map(|k| list[k] - at[k] + start[k]).collect() };
        slices::get(from, &source(&low), &source(&high), &mut data, &part)?;
        slices::set(to, &data, &part, &low, &high, fresh)?;
    }
    Ok(())
}
