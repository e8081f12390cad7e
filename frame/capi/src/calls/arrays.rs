//! Arrays of two dimensions beside a plain vector, and of any beside none.

use super::api::*;
use super::data::{Folder, LARGE, cparams, is_exact, pattern};
use super::room::guarded;
use super::schunks::fresh;
use crate::abi::Storage;
use crate::b2nd::{Array, NdContext};
use crate::memory::release;
use arbitrary::{Result, Unstructured};
use core::ffi::CStr;
use core::ptr;
use std::ffi::CString;

/// Types of items. Their sizes are not those of the parameters.
const TYPES: [&CStr; 3] = [c"<i4", c"", c"what is this"];

/// An array, the context that made it, and what it holds while nothing lossy has been put in.
pub struct Subject {
    array: *mut Array,
    ctx: *mut NdContext,
    items: Option<Vec<u8>>,
    path: Option<CString>,
}

impl Drop for Subject {
    fn drop(&mut self) {
        // SAFETY: `self.array` came from this library and is freed here only.
        unsafe { assert_eq!((b2nd_free(self.array), b2nd_free_ctx(self.ctx)), (0, 0)) };
    }
}

/// Where a slice starts and ends, its shape, and its length in bytes.
type Slice = ([i64; 16], [i64; 16], [i64; 16], i64);

/// The items of `old`, of the shape `from`, as an array of the shape `to`: `source` tells where an item was. Others are zero.
fn moved(
    old: &[u8],
    size: usize,
    from: [i64; 2],
    to: [i64; 2],
    source: impl Fn([i64; 2]) -> Option<[i64; 2]>,
) -> Vec<u8> {
    let mut new = vec![0; (to[0] * to[1]) as usize * size];
    for (place, at) in
        new.chunks_exact_mut(size).zip((0..to[0]).flat_map(|a| (0..to[1]).map(move |b| [a, b])))
    {
        let Some([a, b]) = source(at).filter(|p| (0..2).all(|k| (0..from[k]).contains(&p[k]))) else {
            continue;
        };
        let first = (a * from[1] + b) as usize * size;
        place.copy_from_slice(&old[first..first + size]);
    }
    new
}

impl Subject {
    pub fn new(u: &mut Unstructured<'_>, folder: &mut Folder) -> Result<Option<Subject>> {
        let mut cparams = cparams(u)?;
        let ndim = if u.ratio(1, 8)? { *u.choose(&[0, 1, 3, 16, 17, -1])? } else { 2 };
        let (mut shape, mut chunks, mut blocks) = ([2i64; 16], [2i32; 16], [1i32; 16]);
        for k in 0..2 {
            shape[k] = u.int_in_range(0..=20)?;
            chunks[k] = u.int_in_range(1..=9)?;
            blocks[k] = u.int_in_range(1..=chunks[k])?;
            if u.ratio(1, 30)? {
                shape[k] = *u.choose(&[-1, i64::MAX, i64::MIN, 1 << 40])?;
            }
            if u.ratio(1, 30)? {
                chunks[k] = *u.choose(&[i32::MAX, i32::MIN, -1, 0, 30])?;
            }
            if u.ratio(1, 30)? {
                blocks[k] = *u.choose(&[i32::MAX, i32::MIN, -1, 0, 30])?;
            }
        }
        let path = if u.ratio(1, 4)? { Some(fresh(folder)) } else { None };
        let storage = Storage {
            contiguous: u.arbitrary()?,
            urlpath: path.as_ref().map_or(ptr::null_mut(), |path| path.as_ptr().cast_mut()),
            cparams: &raw mut cparams,
            dparams: ptr::null_mut(),
            io: ptr::null_mut(),
        };
        let dtype = u.choose(&TYPES)?.as_ptr();
        let (s, c, b) = (shape.as_ptr(), chunks.as_ptr(), blocks.as_ptr());
        // SAFETY: room for as many dimensions as there can be; the structures outlive the call.
        let ctx = unsafe { b2nd_create_ctx(&raw const storage, ndim, s, c, b, dtype, 0, ptr::null(), 0) };
        if ctx.is_null() {
            return Ok(None);
        }
        let mut made = Subject { array: ptr::null_mut(), ctx, items: None, path };
        let dims = &shape[..usize::try_from(ndim).unwrap_or(0).min(shape.len())];
        if cparams.typesize < 0 || dims.iter().any(|&n| n < 0) {
            // SAFETY: `self.array` lives until `drop`; no data are read.
            unsafe { b2nd_zeros(ctx, &raw mut made.array) };
            return Ok(Some(made));
        }
        let len = dims.iter().try_fold(i64::from(cparams.typesize), |n, &k| n.checked_mul(k));
        let Some(len) = len.filter(|len| (0..=LARGE).contains(len)) else { return Ok(Some(made)) };
        let data = pattern(u, len as usize)?;
        let short = i64::from(u.ratio(1, 20)?);
        let (array, src) = (&raw mut made.array, data.as_ptr().cast());
        // SAFETY: the data have the length told; a value of the typesize.
        let (done, expected) = unsafe {
            match u.int_in_range(0..=5)? {
                0 => (b2nd_zeros(ctx, array), vec![0; data.len()]),
                1 if len > 0 => {
                    let value = &data[..cparams.typesize as usize];
                    (b2nd_full(ctx, array, src), value.repeat(data.len() / value.len()))
                }
                _ => (b2nd_from_cbuffer(ctx, array, src, (len - short).max(0)), data),
            }
        };
        if done == 0 && ndim == 2 && is_exact(&cparams) {
            made.items = Some(expected);
            made.check();
        }
        Ok(Some(made))
    }

    /// Opens a frame that may be damaged. One that announces much is left alone.
    pub fn of_frame(bytes: &mut [u8]) -> Option<Subject> {
        let mut array = ptr::null_mut();
        // SAFETY: the bytes have the length told.
        let done = unsafe { b2nd_from_cframe(bytes.as_mut_ptr(), bytes.len() as i64, true, &raw mut array) };
        if done < 0 {
            return None;
        }
        let found = Subject { array, ctx: ptr::null_mut(), items: None, path: None };
        // SAFETY: `self.array` lives until `drop`.
        let large = unsafe {
            let (array, sc) = (&*array, &*(*array).sc);
            [array.extchunknitems, array.nitems, array.extnitems]
                .iter()
                .any(|n| n.saturating_mul(sc.typesize.into()) > LARGE)
                || sc.nchunks > 1000
        };
        (!large).then_some(found)
    }

    /// Dimensions, shape and size of an item; `None` without an array.
    fn geometry(&self) -> Option<(usize, [i64; 16], i64)> {
        // SAFETY: null, or freed in `drop` only.
        let array = unsafe { self.array.as_ref() }?;
        // SAFETY: an array has a super-chunk.
        Some((array.ndim as usize, array.shape, unsafe { (*array.sc).typesize }.into()))
    }

    /// All items, of an array of not too many.
    fn all(&self) -> Option<Vec<u8>> {
        let (n, shape, size) = self.geometry()?;
        let len =
            shape[..n].iter().try_fold(size, |len, &k| len.checked_mul(k)).filter(|&len| len <= LARGE)?;
        // SAFETY: `self.array` lives until `drop`; room for all items.
        let (done, bytes) = guarded(len as usize, |dest| unsafe { b2nd_to_cbuffer(self.array, dest, len) });
        (done == 0).then_some(bytes)
    }

    fn check(&self) {
        // An array that has become too large is not looked at.
        if let Some(items) = self.items.as_ref().filter(|items| items.len() as i64 <= LARGE) {
            assert!(self.all().as_ref() == Some(items), "an array is not what was put in");
        }
    }

    /// A slice, most of them within the array: its start, its end, its shape, and its length in bytes.
    fn slice(&self, u: &mut Unstructured<'_>) -> Result<Option<Slice>> {
        let Some((n, shape, size)) = self.geometry() else { return Ok(None) };
        let (mut start, mut stop, mut part, mut len) = ([0; 16], [0; 16], [0i64; 16], Some(size));
        for k in 0..n {
            start[k] = u.int_in_range(0..=shape[k])?;
            stop[k] = u.int_in_range(start[k]..=shape[k])?;
            if u.ratio(1, 40)? {
                stop[k] = *u.choose(&[i64::MAX, i64::MIN, -1, shape[k] + 1])?;
            }
            if u.ratio(1, 40)? {
                start[k] = *u.choose(&[i64::MAX, i64::MIN, -1])?;
            }
            part[k] = stop[k].checked_sub(start[k]).unwrap_or(0);
            len = len.and_then(|len| len.checked_mul(part[k]));
        }
        let len = if u.ratio(1, 20)? { Some(7) } else { len };
        Ok(len.filter(|len| (0..=LARGE).contains(len)).map(|len| (start, stop, part, len)))
    }

    /// One call that changes the array.
    pub fn edit(&mut self, u: &mut Unstructured<'_>) -> Result<()> {
        match u.int_in_range(0..=3)? {
            0 | 1 => self.set_slice(u)?,
            2 => self.resize(u)?,
            _ => self.grow(u)?,
        }
        self.check();
        Ok(())
    }

    fn set_slice(&mut self, u: &mut Unstructured<'_>) -> Result<()> {
        let Some((start, stop, part, len)) = self.slice(u)? else { return Ok(()) };
        let Some((_, shape, size)) = self.geometry() else { return Ok(()) };
        let data = pattern(u, len as usize)?;
        let (from, to, s) = (data.as_ptr().cast(), part.as_ptr(), start.as_ptr());
        // SAFETY: `self.array` lives until `drop`; as many numbers as an array can have dimensions; the data have the length told.
        let done = unsafe { b2nd_set_slice_cbuffer(from, to, len, s, stop.as_ptr(), self.array) };
        if done < 0 {
            // Chunks before the one that failed have been written.
            self.items = self.items.take().and_then(|_| self.all());
        } else if let Some(items) = &mut self.items {
            let size = size as usize;
            for (k, item) in data.chunks_exact(size).take((part[0] * part[1]) as usize).enumerate() {
                let (a, b) = (start[0] + k as i64 / part[1], start[1] + k as i64 % part[1]);
                let at = (a * shape[1] + b) as usize * size;
                items[at..at + size].copy_from_slice(item);
            }
        }
        Ok(())
    }

    fn resize(&mut self, u: &mut Unstructured<'_>) -> Result<()> {
        let Some((_, shape, size)) = self.geometry() else { return Ok(()) };
        let mut new = shape;
        for side in &mut new[..2] {
            if u.arbitrary()? {
                *side = u.int_in_range(0..=30)?;
            }
            if u.ratio(1, 30)? {
                *side = *u.choose(&[-1, i64::MAX, i64::MIN])?;
            }
        }
        let start = [0i64; 16];
        let at = if u.ratio(1, 4)? { start.as_ptr() } else { ptr::null() };
        // SAFETY: `self.array` lives until `drop`; as many numbers as an array can have dimensions.
        let done = unsafe { b2nd_resize(self.array, new.as_ptr(), at) };
        self.items = match self.items.take() {
            Some(items) if done == 0 && at.is_null() => {
                let sides = |shape: [i64; 16]| [shape[0], shape[1]];
                Some(moved(&items, size as usize, sides(shape), sides(new), Some))
            }
            Some(_) => self.all(),
            None => None,
        };
        Ok(())
    }

    /// Rows come or go.
    fn grow(&mut self, u: &mut Unstructured<'_>) -> Result<()> {
        let Some((n, shape, size)) = self.geometry() else { return Ok(()) };
        let axis = if u.ratio(1, 20)? { *u.choose(&[-1i8, 2, 16, 127])? } else { u.int_in_range(0..=1)? };
        let k = usize::try_from(axis).unwrap_or(0).min(15);
        let (at, rows) = (u.int_in_range(0..=shape[k].min(40) + 1)?, u.int_in_range(0..=12)?);
        let mut others = shape[..n].iter().enumerate().filter(|(other, _)| *other != k);
        let len = others.try_fold(size * rows, |len, (_, &side)| len.checked_mul(side));
        let Some(len) = len.filter(|&len| len <= LARGE) else { return Ok(()) };
        let data = pattern(u, len as usize)?;
        let len = if u.ratio(1, 20)? { len / 2 } else { len };
        let (array, src) = (self.array, data.as_ptr().cast());
        let what = u.int_in_range(0..=2)?;
        // SAFETY: `self.array` lives until `drop`; the data have the length told, or more.
        let done = unsafe {
            match what {
                0 => b2nd_append(array, src, len, axis),
                1 => b2nd_insert(array, src, len, axis, at),
                _ => b2nd_delete(array, axis, at, if u.ratio(1, 30)? { i64::MAX } else { rows }),
            }
        };
        let Some(old) = self.items.take() else { return Ok(()) };
        let Some((_, new, _)) = self.geometry() else { return Ok(()) };
        let (from, to) = ([shape[0], shape[1]], [new[0], new[1]]);
        if done < 0 {
            assert_eq!(from, to, "a call that failed has changed the shape");
            self.items = Some(old);
            return Ok(());
        }
        let gone = from[k] - to[k];
        let begin = if what == 0 { from[k] } else { at };
        let mut items = moved(&old, size as usize, from, to, |mut p| {
            if p[k] >= begin {
                p[k] += gone;
                // Rows that are new come from the data.
                if p[k] < begin {
                    return None;
                }
            }
            Some(p)
        });
        if gone < 0 {
            let mut wide = to;
            wide[k] = -gone;
            let rows = moved(&data, size as usize, wide, to, |mut p| {
                p[k] -= begin;
                Some(p)
            });
            let is_new = |i: usize| {
                let item = (i / size as usize) as i64;
                let at = [item / to[1], item % to[1]][k];
                (begin..begin - gone).contains(&at)
            };
            (0..items.len()).filter(|&i| is_new(i)).for_each(|i| items[i] = rows[i]);
        }
        self.items = Some(items);
        Ok(())
    }

    /// Slices and selections.
    pub fn read(&self, u: &mut Unstructured<'_>) -> Result<()> {
        self.check();
        let Some((n, shape, size)) = self.geometry() else { return Ok(()) };
        if let Some((start, stop, part, len)) = self.slice(u)? {
            let (s, e, p) = (start.as_ptr(), stop.as_ptr(), part.as_ptr());
            // SAFETY: `self.array` lives until `drop`; as many numbers as an array can have dimensions; room for the length told.
            let (done, bytes) = guarded(len as usize, |dest| unsafe {
                b2nd_get_slice_cbuffer(self.array, s, e, dest, p, len)
            });
            if let (0, Some(items)) = (done, &self.items) {
                let (from, to) = ([shape[0], shape[1]], [part[0], part[1]]);
                let expected =
                    moved(items, size as usize, from, to, |[a, b]| Some([a + start[0], b + start[1]]));
                assert!(bytes.starts_with(&expected), "a slice");
            }
        }
        let mut lists = [[0i64; 3]; 16];
        for (list, &side) in lists.iter_mut().zip(&shape[..n]) {
            for x in list.iter_mut() {
                *x = if u.ratio(1, 40)? { -1 } else { u.int_in_range(0..=side.max(1) - 1)? };
            }
        }
        let (pointers, counts) = (lists.each_ref().map(|list| list.as_ptr()), [3i64; 16]);
        let len =
            3i64.checked_pow(n as u32).and_then(|items| items.checked_mul(size)).filter(|&n| n <= LARGE);
        let (array, p, c) = (self.array, pointers.as_ptr(), counts.as_ptr());
        // SAFETY: `self.array` lives until `drop`; `counts` numbers in each list; room for the length told.
        unsafe {
            if let Some(len) = len {
                guarded(len as usize, |dest| b2nd_get_orthogonal_selection(array, p, c, dest, c, len));
            }
            let room = 3 * size;
            guarded(room as usize, |dest| b2nd_get_sparse_cbuffer(array, 3, lists[0].as_ptr(), dest, room));
            assert!(b2nd_refresh(array) >= 0);
        }
        Ok(())
    }

    /// Frames, copies, slices as arrays, arrays joined and views.
    pub fn derive(&mut self, u: &mut Unstructured<'_>) -> Result<()> {
        let slice = self.slice(u)?;
        let Some((n, ..)) = self.geometry() else { return Ok(()) };
        // A context with a path would put the new array over this one.
        let ctx = if self.path.is_some() { ptr::null_mut() } else { self.ctx };
        let (array, mut out) = (self.array, ptr::null_mut());
        let (mut frame, mut len, mut free) = (ptr::null_mut(), 0, false);
        let added = [1u8, 0, 0, 0];
        let axis = u.int_in_range(-1..=2)?;
        // SAFETY: `self.array` lives until `drop`; what is made is freed once, views before their array.
        unsafe {
            let done = match (u.int_in_range(0..=5)?, slice) {
                (0, _) => b2nd_copy(ctx, array, &raw mut out),
                (1, Some((start, stop, ..))) => {
                    b2nd_get_slice(ctx, &raw mut out, array, start.as_ptr(), stop.as_ptr())
                }
                (2, _) => b2nd_concatenate(ctx, array, array, axis, true, &raw mut out),
                (3, _) => b2nd_squeeze(array, &raw mut out),
                (4, _) if n < 4 => b2nd_expand_dims(array, &raw mut out, added.as_ptr(), n as u8 + 1),
                _ => {
                    // An array does not grow by itself.
                    assert!(b2nd_concatenate(ctx, array, array, axis, false, &raw mut out) < 0);
                    if b2nd_to_cframe(array, &raw mut frame, &raw mut len, &raw mut free) == 0 {
                        let done = b2nd_from_cframe(frame, len, true, &raw mut out);
                        release(frame);
                        done
                    } else {
                        -1
                    }
                }
            };
            if done == 0 {
                let copy = Subject { array: out, ctx: ptr::null_mut(), items: None, path: None };
                copy.read(u)?;
            }
        }
        self.check();
        Ok(())
    }
}
