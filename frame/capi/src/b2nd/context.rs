//! [`NdContext`]: what a new array is to be.

use crate::abi::{CParams, DParams, MAX_DIM, Metalayer, Storage};
use crate::error::*;
use crate::memory::{bytes, release, string, text, values};
use crate::shapes::{self, sides, unsigned};
use blosc_frame::b2nd::Layout;
use core::ffi::{c_char, c_int};
use core::ptr;
use std::ffi::{CStr, CString};

/// `b2nd_context_t`. The C tests read the fields before `metalayers`, in this order.
#[repr(C)]
pub struct NdContext {
    pub ndim: i8,
    pub shape: [i64; MAX_DIM],
    pub chunkshape: [i32; MAX_DIM],
    pub blockshape: [i32; MAX_DIM],
    pub dtype: *mut c_char,
    pub dtype_format: i8,
    pub b2_storage: *mut Storage,
    pub metalayers: Vec<(String, Vec<u8>)>,
    /// Copies of what `b2_storage` points to.
    stored: Box<(Storage, CParams, DParams, Option<CString>)>,
}

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
    /// Layout of a new array of this shape.
    pub fn layout_of(&self, shape: &[u64]) -> Result<Layout> {
        let n = usize::try_from(self.ndim).map_err(|_| INVALID_PARAM)?;
        let (Some(chunks), Some(blocks)) = (self.chunkshape.get(..n), self.blockshape.get(..n)) else {
            return Err(INVALID_PARAM);
        };
        if shape.len() != n {
            return Err(INVALID_PARAM);
        }
        let typesize = u32::try_from(self.typesize().max(1)).map_err(|_| INVALID_PARAM)?;
        let geometry = shapes::geometry(shape, &sides(chunks)?, &sides(blocks)?, typesize)?;
        // SAFETY: a string that the context made.
        let dtype = unsafe { text(self.dtype) }?;
        Ok(Layout::described(geometry, self.dtype_format as u8, dtype.as_bytes()))
    }

    /// Layout of the new array that the context tells.
    pub fn layout(&self) -> Result<Layout> {
        let n = usize::try_from(self.ndim).map_err(|_| INVALID_PARAM)?;
        self.layout_of(&unsigned(self.shape.get(..n).ok_or(INVALID_PARAM)?)?)
    }

    /// Bytes of an item.
    pub fn typesize(&self) -> i32 {
        // SAFETY: the context keeps a storage, with parameters.
        unsafe { (*(*self.b2_storage).cparams).typesize }
    }
}

/// The metalayers of a context.
///
/// # Safety
/// `count` layers at `layers`, each with a name and its content.
unsafe fn layers(layers: *const Metalayer, count: i32) -> Result<Vec<(String, Vec<u8>)>> {
    // SAFETY: as the caller promises.
    let layers = unsafe { values(layers, count.into()) }?;
    let mut list = Vec::with_capacity(layers.len());
    for layer in layers {
        // SAFETY: a layer of the context: its name is a string, and `content_len` bytes lie at `content`.
        let (name, content) = unsafe {
            (text(layer.name)?, bytes(layer.content.cast_const().cast(), layer.content_len.into())?)
        };
        list.push((name.to_owned(), content.to_vec()));
    }
    Ok(list)
}

#[cfg(all(test, target_pointer_width = "64"))]
mod tests {
    use super::*;
    use core::mem::offset_of;

    #[test]
    fn contexts_are_laid_out_as_the_c_tests_read_them() {
        let context = [
            offset_of!(NdContext, ndim),
            offset_of!(NdContext, shape),
            offset_of!(NdContext, chunkshape),
            offset_of!(NdContext, blockshape),
            offset_of!(NdContext, dtype),
            offset_of!(NdContext, dtype_format),
            offset_of!(NdContext, b2_storage),
        ];
        assert_eq!(context, [0, 8, 136, 200, 264, 272, 280]);
    }
}
