//! New arrays and copies.

use super::array::{Array, Whole, array, b2nd_free, changing, reading, wrap};
use super::context::{NdContext, context};
use super::edit::resize;
use super::slices::{Chunks, get, set};
use crate::abi::CParams;
use crate::context::parse;
use crate::error::*;
use crate::memory::{bytes, bytes_mut, needed, put, values, zeros};
use crate::schunk::{self, Asked, Owned};
use crate::shapes::{lengths, unsigned};
use blosc_frame::b2nd::{Layout, Selection, copy_between};
use core::ffi::{c_int, c_void};
use core::ptr;

/// What the chunks of a new array hold.
#[derive(Clone, Copy)]
pub enum Fill<'a> {
    Special(c_int),
    Value(&'a [u8]),
    Nothing,
}

/// A new array as the context says, of this layout.
fn create(ctx: &NdContext, layout: Layout, fill: Fill<'_>) -> Result<*mut Array> {
    // SAFETY: the context keeps what its storage points to.
    let asked = unsafe { Asked::of(ctx.b2_storage) }?;
    let geometry = *layout.geometry();
    let cparams = CParams { blocksize: size(geometry.block_bytes() as usize)?, ..asked.cparams };
    let sc = schunk::create(asked.with_cparams(cparams))?;
    // SAFETY: just made.
    let made = unsafe { schunk::changing(sc, |owned| fill_new(owned, ctx, &layout, fill)) };
    let made = made.and_then(|()| wrap(sc, layout, false));
    if made.is_err() {
        // SAFETY: just made, and not handed out.
        unsafe { schunk::blosc2_schunk_free(sc) };
    }
    made
}

/// Gives a new super-chunk its metalayers and chunks.
fn fill_new(owned: &mut Owned, ctx: &NdContext, layout: &Layout, fill: Fill<'_>) -> Result<()> {
    let geometry = layout.geometry();
    let content = layout.to_bytes().map_err(|_| INVALID_PARAM)?;
    owned.inner.frame.set_metalayer(layout.name(), &content)?;
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
            let mut repeated = zeros(32 + item.len())?;
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
            put(out, create(ctx, ctx.layout()?, fill)?);
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
    // SAFETY: null or a context; a value of the typesize, as the caller promises.
    let item = unsafe { context(ctx).and_then(|ctx| bytes(fill_value, ctx.typesize().into())) };
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
        // SAFETY: null or a context; `buffersize` readable bytes; null or writable, as the caller promises.
        unsafe {
            let (ctx, data, out) = (context(ctx)?, bytes(buffer, buffersize)?, needed(out)?);
            let new = create(ctx, ctx.layout()?, Fill::Nothing)?;
            let done = changing(new, |new| set(new, &Selection::all(new.sides()), (data, new.sides()), true));
            put(out, or_free(new, done)?);
        }
        Ok(0)
    })
}

/// The new array, or the error; the array is then freed.
fn or_free(new: *mut Array, done: Result<()>) -> Result<*mut Array> {
    done.map(|()| new).inspect_err(|_| {
        // SAFETY: just made, and not handed out.
        unsafe { b2nd_free(new) };
    })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn b2nd_to_cbuffer(src: *const Array, buffer: *mut c_void, buffersize: i64) -> c_int {
    // SAFETY: null or an array of this library; `buffersize` writable bytes, as the caller promises.
    int(|| unsafe {
        let out = bytes_mut(buffer, buffersize)?;
        reading(src, |src| get(src, &Selection::all(src.sides()), (out, src.sides())).map(|()| 0))
    })
}

/// A new array of the items `start` to `stop` of `src`, with chunks as the context says.
fn sliced(ctx: &NdContext, src: &Whole, start: &[u64], stop: &[u64]) -> Result<*mut Array> {
    let shape = lengths(start, stop)?;
    let layout = src.layout().with_geometry(*ctx.layout_of(&shape)?.geometry());
    // What lies beyond the end of the source is zero.
    let left = src.sides().iter().zip(start).map(|(side, at)| side.saturating_sub(*at));
    let inside: Vec<u64> = shape.iter().zip(left).map(|(n, left)| left.min(*n)).collect();
    let whole = inside == shape;
    let new = create(ctx, layout, if whole { Fill::Nothing } else { Fill::Special(1) })?;
    // SAFETY: just made.
    let done =
        unsafe { changing(new, |to| transfer(&inside, (src, start), (to, &vec![0; shape.len()]), whole)) };
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
    // SAFETY: a context; an array of this library with as many numbers as dimensions; null or writable, as the caller promises.
    int(|| unsafe {
        let (ctx, out) = (context(ctx)?, needed(out)?);
        let new = reading(src, |src| {
            let n = i64::from(src.ndim);
            sliced(ctx, src, &unsigned(values(start, n)?)?, &unsigned(values(stop, n)?)?)
        })?;
        put(out, new);
        Ok(0)
    })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn b2nd_copy(ctx: *const NdContext, src: *const Array, out: *mut *mut Array) -> c_int {
    // SAFETY: a context; an array of this library; null or writable, as the caller promises.
    int(|| unsafe {
        let (ctx, out) = (context(ctx)?, needed(out)?);
        let new = reading(src, |src| {
            let new = sliced(ctx, src, &vec![0; src.sides().len()], src.sides())?;
            let from = src.schunk()?;
            or_free(new, changing(new, |new| copy_meta(from, new)))
        })?;
        put(out, new);
        Ok(0)
    })
}

/// Takes over the metalayers of `from` that the new array has not, and its variable-length metalayers.
fn copy_meta(from: &mut Owned, new: &Whole) -> Result<()> {
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
    // SAFETY: a context; arrays of this library; null or writable, and without `copy` an array, as the caller promises.
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
                    let (whole, axis) = both(a, array(src2)?, axis)?;
                    let at = a.sides()[axis];
                    resize(a, &whole)?;
                    append_all(a, src2, at, axis)
                })?;
                src1.cast_mut()
            }
        };
        put(out, new);
        Ok(0)
    })
}

/// The shape of both arrays together, and the axis that grows.
fn both(a: &Whole, b: &Whole, axis: i8) -> Result<(Vec<u64>, usize)> {
    let (mut whole, right) = (a.sides().to_vec(), b.sides());
    let axis = usize::try_from(axis).ok().filter(|&k| k < whole.len()).ok_or(INVALID_PARAM)?;
    let fits = whole.len() == right.len() && (0..whole.len()).all(|k| k == axis || whole[k] == right[k]);
    if !fits || a.layout().geometry().typesize() != b.layout().geometry().typesize() {
        return Err(INVALID_PARAM);
    }
    whole[axis] = whole[axis].checked_add(right[axis]).ok_or(INVALID_PARAM)?;
    Ok((whole, axis))
}

/// A new array of `a` and, behind it, the array at `src2`.
///
/// # Safety
/// `src2` is null or an array of this library.
unsafe fn joined(ctx: &NdContext, a: &Whole, src2: *const Array, axis: i8) -> Result<*mut Array> {
    // SAFETY: as the caller promises.
    let (whole, axis) = both(a, unsafe { array(src2) }?, axis)?;
    let layout = a.layout().with_geometry(*ctx.layout_of(&whole)?.geometry());
    let new = create(ctx, layout, Fill::Special(1))?;
    // SAFETY: `new` has just been made; `src2` as the caller promises.
    let done = unsafe {
        changing(new, |new| {
            let zero = vec![0; whole.len()];
            transfer(a.sides(), (a, &zero), (new, &zero), false)?;
            append_all(new, src2, a.sides()[axis], axis)
        })
    };
    or_free(new, done)
}

/// Writes the array at `src2` to where `at` begins on `axis`.
///
/// # Safety
/// `src2` is null or an array of this library.
unsafe fn append_all(to: &Whole, src2: *const Array, at: u64, axis: usize) -> Result<()> {
    let write = |from: &mut Whole| {
        let zero = vec![0; from.sides().len()];
        let mut place = zero.clone();
        place[axis] = at;
        transfer(from.sides(), (from, &zero), (to, &place), false)
    };
    // SAFETY: as the caller promises; it is not `to`, which is new or has been compared.
    unsafe { reading(src2, write) }
}

/// Copies a box of `shape` items from the place beside one array to that beside the other. `new`: as of [`set`].
fn transfer(
    shape: &[u64],
    (from, start): (&Whole, &[u64]),
    (to, at): (&Whole, &[u64]),
    new: bool,
) -> Result<()> {
    let source = (from.layout().geometry(), &mut Chunks::of(from, false)?, start);
    let target = (to.layout().geometry(), &mut Chunks::of(to, new)?, at);
    copy_between(shape, source, target, new)
}
