//! [`Array`]: what C sees of an array, and sessions on it.

use crate::abi::{MAX_DIM, Schunk};
use crate::error::*;
use crate::memory::{release, string};
use crate::schunk::{self, Owned, owned};
use crate::shapes;
use blosc_frame::b2nd::Layout;
use core::ffi::{c_char, c_int};
use core::ptr;

/// `struct chunk_cache_s`; nothing is kept there.
#[repr(C)]
pub struct ChunkCache {
    pub data: *mut u8,
    pub nchunk: i64,
}

/// `b2nd_array_t`.
#[repr(C)]
pub struct Array {
    pub sc: *mut Schunk,
    pub shape: [i64; MAX_DIM],
    pub chunkshape: [i32; MAX_DIM],
    pub extshape: [i64; MAX_DIM],
    pub blockshape: [i32; MAX_DIM],
    pub extchunkshape: [i64; MAX_DIM],
    pub nitems: i64,
    pub chunknitems: i32,
    pub extnitems: i64,
    pub blocknitems: i32,
    pub extchunknitems: i64,
    pub ndim: i8,
    pub chunk_cache: ChunkCache,
    pub item_array_strides: [i64; MAX_DIM],
    pub item_chunk_strides: [i64; MAX_DIM],
    pub item_extchunk_strides: [i64; MAX_DIM],
    pub item_block_strides: [i64; MAX_DIM],
    pub block_chunk_strides: [i64; MAX_DIM],
    pub chunk_array_strides: [i64; MAX_DIM],
    pub dtype: *mut c_char,
    pub dtype_format: i8,
    pub last_tick: i64,
}

/// An array as it is allocated: what C sees, its layout, and whether the super-chunk is another array's.
#[repr(C)]
pub struct Whole {
    public: Array,
    /// A view's is not that of the metalayer.
    layout: Layout,
    is_view: bool,
}

impl core::ops::Deref for Whole {
    type Target = Array;
    fn deref(&self) -> &Array {
        &self.public
    }
}

/// # Safety
/// `array` is null or an array of this library that no other call uses now.
pub unsafe fn array<'a>(array: *const Array) -> Result<&'a mut Whole> {
    // SAFETY: as the caller promises; `wrap` makes every array as a `Whole`, whose first field it is.
    unsafe { array.cast_mut().cast::<Whole>().as_mut() }.ok_or(NULL_POINTER)
}

/// Runs `body`, which reads, as one operation on the array.
///
/// # Safety
/// `src` is null or an array of this library that no other call uses now.
pub unsafe fn reading<T>(src: *const Array, body: impl FnOnce(&mut Whole) -> Result<T>) -> Result<T> {
    // SAFETY: as the caller promises.
    unsafe { session(src, false, body) }
}

/// Runs `body`, which changes the array, as one operation.
///
/// # Safety
/// As [`reading`].
pub unsafe fn changing<T>(dst: *mut Array, body: impl FnOnce(&mut Whole) -> Result<T>) -> Result<T> {
    // SAFETY: as the caller promises.
    unsafe { session(dst, true, body) }
}

/// # Safety
/// As [`reading`].
unsafe fn session<T>(
    src: *const Array,
    write: bool,
    body: impl FnOnce(&mut Whole) -> Result<T>,
) -> Result<T> {
    // SAFETY: as the caller promises; within the session there is one reference to the array.
    unsafe {
        let sc = array(src)?.sc;
        schunk::session(sc, write, || {
            let array = array(src)?;
            array.follow()?;
            body(array)
        })
    }
}

impl Array {
    /// Takes over shapes and all that follows from them.
    fn set(&mut self, layout: &Layout) {
        let cut = layout.geometry();
        let n = cut.ndim();
        self.ndim = n as i8;
        (self.shape, self.extshape, self.extchunkshape) = ([1; MAX_DIM], [1; MAX_DIM], [1; MAX_DIM]);
        (self.chunkshape, self.blockshape) = ([1; MAX_DIM], [1; MAX_DIM]);
        for k in 0..n {
            // The metalayer has each of them as a positive number of this type.
            let (s, c, b) = (cut.shape().at(k) as i64, cut.chunks().at(k) as i32, cut.blocks().at(k) as i32);
            let up = |n: i64, unit: i32| match unit {
                0 => 0,
                unit => ((n - 1).div_euclid(unit.into()) + 1).saturating_mul(unit.into()),
            };
            self.shape[k] = s;
            self.chunkshape[k] = c;
            self.blockshape[k] = b;
            self.extshape[k] = up(s, c);
            self.extchunkshape[k] = up(c.into(), b);
        }
        let product = |list: &[i64; MAX_DIM]| list.iter().fold(1i64, |p, n| p.saturating_mul(*n));
        let wide = |list: &[i32; MAX_DIM]| list.map(i64::from);
        self.nitems = product(&self.shape);
        self.extnitems = product(&self.extshape);
        self.extchunknitems = product(&self.extchunkshape);
        self.chunknitems = i32::try_from(product(&wide(&self.chunkshape))).unwrap_or(i32::MAX);
        self.blocknitems = i32::try_from(product(&wide(&self.blockshape))).unwrap_or(i32::MAX);
        let strides = |list: [i64; MAX_DIM]| {
            let mut out = [0; MAX_DIM];
            let mut step = 1i64;
            for k in (0..n).rev() {
                out[k] = step;
                step = step.saturating_mul(list[k]);
            }
            out
        };
        let ratio = |a: [i64; MAX_DIM], b: [i64; MAX_DIM]| {
            core::array::from_fn(|k| a[k].checked_div(b[k]).unwrap_or(0))
        };
        self.item_array_strides = strides(self.shape);
        self.item_chunk_strides = strides(wide(&self.chunkshape));
        self.item_extchunk_strides = strides(self.extchunkshape);
        self.item_block_strides = strides(wide(&self.blockshape));
        self.block_chunk_strides = strides(ratio(self.extchunkshape, wide(&self.blockshape)));
        self.chunk_array_strides = strides(ratio(self.extshape, wide(&self.chunkshape)));
        self.dtype_format = layout.dtype_format().unwrap_or(0) as i8;
    }
}

/// The metalayer of a super-chunk, also under its name of old.
pub fn stored(owned: &Owned) -> Result<Layout> {
    let frame = &owned.inner.frame;
    let content = frame.metalayer("b2nd").or_else(|| frame.metalayer("caterva"));
    shapes::layout(content.ok_or(METALAYER_NOT_FOUND)?, frame.typesize())
}

impl Whole {
    /// The array's super-chunk.
    pub fn schunk(&self) -> Result<&'static mut Owned> {
        // SAFETY: every array points to a super-chunk of this library.
        unsafe { owned(self.public.sc) }
    }

    /// How it is cut and what its items are.
    pub fn layout(&self) -> &Layout {
        &self.layout
    }

    /// Items per dimension.
    pub fn sides(&self) -> &[u64] {
        self.layout().geometry().shape()
    }

    /// Whether the super-chunk is another array's.
    pub fn is_view(&self) -> bool {
        self.is_view
    }

    /// Shapes from the metalayer of the super-chunk, if that may have changed; tells whether it has.
    pub fn follow(&mut self) -> Result<bool> {
        let owned = self.schunk()?;
        if self.is_view() || self.public.last_tick == owned.public.change_tick {
            return Ok(false);
        }
        let new = stored(owned)?;
        let (old, cut) = (self.layout().geometry(), new.geometry());
        if (old.chunks(), old.blocks()) != (cut.chunks(), cut.blocks()) {
            return Err(DATA);
        }
        let differs = old.shape() != cut.shape();
        self.public.set(&new);
        self.layout = new;
        self.public.last_tick = owned.public.change_tick;
        Ok(differs)
    }
}

/// An array around a super-chunk that has the metalayer, or, as a view, around one of another array.
pub fn wrap(sc: *mut Schunk, layout: Layout, is_view: bool) -> Result<*mut Array> {
    // SAFETY: numbers, pointers, `false` and arrays of these: all zeros are a valid value of each.
    let mut public: Array = unsafe { core::mem::zeroed() };
    public.sc = sc;
    public.set(&layout);
    // SAFETY: a super-chunk of this library, as every caller passes.
    public.last_tick = unsafe { owned(sc) }?.public.change_tick;
    public.chunk_cache = ChunkCache { data: ptr::null_mut(), nchunk: -1 };
    public.dtype = string(&layout.dtype_text())?;
    Ok(Box::into_raw(Box::new(Whole { public, layout, is_view })).cast())
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn b2nd_free(array: *mut Array) -> c_int {
    int(|| {
        if array.is_null() {
            return Ok(0);
        }
        // SAFETY: an array of this library, given back once, as the interface says.
        unsafe {
            let whole = Box::from_raw(array.cast::<Whole>());
            release(whole.public.dtype);
            if !whole.is_view && !whole.public.sc.is_null() {
                crate::schunk::blosc2_schunk_free(whole.public.sc);
            }
        }
        Ok(0)
    })
}

#[cfg(all(test, target_pointer_width = "64"))]
mod tests {
    use super::*;
    use core::mem::{offset_of, size_of};

    #[test]
    fn arrays_are_laid_out_as_in_c() {
        assert_eq!(size_of::<Array>(), 1376);
        let offsets = [
            offset_of!(Array, sc),
            offset_of!(Array, shape),
            offset_of!(Array, chunkshape),
            offset_of!(Array, extshape),
            offset_of!(Array, blockshape),
            offset_of!(Array, extchunkshape),
            offset_of!(Array, nitems),
            offset_of!(Array, chunknitems),
            offset_of!(Array, extnitems),
            offset_of!(Array, blocknitems),
            offset_of!(Array, extchunknitems),
            offset_of!(Array, ndim),
            offset_of!(Array, chunk_cache),
            offset_of!(Array, item_array_strides),
            offset_of!(Array, item_chunk_strides),
            offset_of!(Array, item_extchunk_strides),
            offset_of!(Array, item_block_strides),
            offset_of!(Array, block_chunk_strides),
            offset_of!(Array, chunk_array_strides),
            offset_of!(Array, dtype),
            offset_of!(Array, dtype_format),
            offset_of!(Array, last_tick),
        ];
        assert_eq!(
            offsets,
            [
                0, 8, 136, 200, 328, 392, 520, 528, 536, 544, 552, 560, 568, 584, 712, 840, 968, 1096, 1224,
                1352, 1360, 1368,
            ]
        );
    }
}
