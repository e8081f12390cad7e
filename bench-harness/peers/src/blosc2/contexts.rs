//! Contexts that compress and decompress chunks, made once and used again.

use super::functions::{RawDParams, Void};
use super::{ArrayShape, CParams, Libblosc2};
use crate::library::{Code, c_len};
use std::ffi::c_void;
use std::ptr::{null, null_mut};

/// A destination shorter than this is swapped for one with this much room behind it.
const SLACK: usize = 4096;

impl Libblosc2 {
    /// A context that compresses with `params`.
    ///
    /// # Errors
    /// The library refuses the parameters.
    pub fn compressor(&self, params: &CParams) -> Result<Compressor, Code> {
        let context = Context::compress(self, params, null_mut())?;
        Ok(Compressor { context, params: *params, scratch: Vec::new(), _array: None })
    }

    /// A context that compresses blocks of an array, for filters and codecs that need to know its shape.
    ///
    /// # Errors
    /// The library refuses the parameters.
    pub fn compressor_in(&self, params: &CParams, array: &ArrayShape) -> Result<Compressor, Code> {
        let context = Context::compress(self, params, array.0.pointer)?;
        Ok(Compressor { context, params: *params, scratch: Vec::new(), _array: Some(array.clone()) })
    }

    /// A context that decompresses with `threads` threads.
    ///
    /// # Errors
    /// The library cannot allocate it.
    pub fn decompressor(&self, threads: i16) -> Result<Decompressor, Code> {
        Ok(Decompressor {
            context: Context::decompress(self, threads, null_mut())?,
            mask: Vec::new(),
            _array: None,
        })
    }

    /// A context that decompresses chunks of an array.
    ///
    /// # Errors
    /// The library cannot allocate it.
    pub fn decompressor_in(&self, threads: i16, array: &ArrayShape) -> Result<Decompressor, Code> {
        let context = Context::decompress(self, threads, array.0.pointer)?;
        Ok(Decompressor { context, mask: Vec::new(), _array: Some(array.clone()) })
    }
}

/// A context of either kind.
struct Context {
    lib: Libblosc2,
    pointer: *mut c_void,
}

// SAFETY: a context may be used from any one thread at a time, and `&mut self` everywhere gives that.
unsafe impl Send for Context {}

impl Context {
    fn compress(lib: &Libblosc2, params: &CParams, schunk: *mut c_void) -> Result<Context, Code> {
        // SAFETY: the parameters are passed by value; `schunk` is null or a super-chunk that the `_array` of the
        // `Compressor` keeps alive: a field behind `context`, it is dropped after it.
        Context::checked(lib, unsafe { (lib.0.create_cctx)(params.raw(schunk)) })
    }

    fn decompress(lib: &Libblosc2, nthreads: i16, schunk: *mut c_void) -> Result<Context, Code> {
        let params = RawDParams { nthreads, schunk, postfilter: null(), postparams: null_mut(), typesize: 0 };
        // SAFETY: the parameters are passed by value; `schunk` is null or a super-chunk that the `_array` of the
        // `Decompressor` keeps alive: a field behind `context`, it is dropped after it.
        Context::checked(lib, unsafe { (lib.0.create_dctx)(params) })
    }

    fn checked(lib: &Libblosc2, pointer: *mut c_void) -> Result<Context, Code> {
        if pointer.is_null() { Err(Code::REFUSED) } else { Ok(Context { lib: lib.clone(), pointer }) }
    }
}

impl Drop for Context {
    fn drop(&mut self) {
        // SAFETY: made by `create_cctx` or `create_dctx`, freed once.
        unsafe { (self.lib.0.free_ctx)(self.pointer) };
    }
}

/// A reusable compression context.
pub struct Compressor {
    context: Context,
    params: CParams,
    scratch: Vec<u8>,
    _array: Option<ArrayShape>,
}

impl Compressor {
    /// Compresses `src` into `dst`; `src.len() + OVERHEAD` bytes always suffice.
    ///
    /// Pipelines of three or more filters write into their *source* (defect B7 of `docs/formats/chunk.md`), so those
    /// work on a copy here.
    ///
    /// # Errors
    /// The library's code; 0 if the result does not fit.
    pub fn compress(&mut self, src: &[u8], dst: &mut [u8]) -> Result<usize, Code> {
        if self.params.filters.iter().filter(|&&f| f != 0).count() >= 3 {
            let mut copy = std::mem::take(&mut self.scratch);
            copy.clear();
            copy.extend_from_slice(src);
            let result = self.compress_spoiling(&mut copy, dst);
            self.scratch = copy;
            return result;
        }
        self.run(src.as_ptr(), src.len(), dst)
    }

    /// Compresses without the copy that [`Compressor::compress`] makes: `src` may be overwritten.
    ///
    /// # Errors
    /// As [`Compressor::compress`].
    pub fn compress_spoiling(&mut self, src: &mut [u8], dst: &mut [u8]) -> Result<usize, Code> {
        self.run(src.as_mut_ptr(), src.len(), dst)
    }

    /// The library writes its table of block starts before it looks at the room for it: up to four bytes per
    /// byte of tiny data run over a buffer without slack (seen with memcheck, data of one and two bytes).
    fn run(&mut self, src: *const u8, len: usize, dst: &mut [u8]) -> Result<usize, Code> {
        if dst.len() >= SLACK {
            return self.run_unguarded(src, len, dst, dst.len());
        }
        let mut guarded = vec![0; dst.len() + SLACK];
        let written = self.run_unguarded(src, len, &mut guarded, dst.len())?;
        dst[..written].copy_from_slice(&guarded[..written]);
        Ok(written)
    }

    fn run_unguarded(
        &mut self,
        src: *const u8,
        len: usize,
        dst: &mut [u8],
        room: usize,
    ) -> Result<usize, Code> {
        let (len, limit) = (c_len(len)?, c_len(room)?);
        let (f, ctx) = (&self.context.lib.0, self.context.pointer);
        // SAFETY: both buffers are valid for the lengths given (the destination for `SLACK` bytes at least), and
        // the source is writable where the library writes to it (three or more filters).
        let returned = unsafe { (f.compress_ctx)(ctx, src.cast(), len, dst.as_mut_ptr().cast(), limit) };
        if returned == 0 { Err(Code(0)) } else { Code::size(returned, room) }
    }

    /// Compresses blocks of different sizes into one VL chunk.
    ///
    /// # Errors
    /// The library's code; refused at level 0 with blosclz, which crashes the library.
    pub fn compress_vl(&mut self, blocks: &[&[u8]], dst: &mut [u8]) -> Result<usize, Code> {
        if self.params.clevel == 0 || blocks.iter().any(|b| b.is_empty()) {
            return Err(Code::REFUSED);
        }
        let mut copies: Vec<Vec<u8>> = blocks.iter().map(|b| b.to_vec()).collect();
        let sources: Vec<Void> = copies.iter_mut().map(|c| c.as_mut_ptr().cast_const().cast()).collect();
        let sizes = blocks.iter().map(|b| c_len(b.len())).collect::<Result<Vec<i32>, Code>>()?;
        let (count, room) = (c_len(blocks.len())?, c_len(dst.len())?);
        let (f, ctx) = (&self.context.lib.0, self.context.pointer);
        // SAFETY: `count` sources, writable copies of the sizes given, live through the call; `dst` is valid.
        let returned = unsafe {
            (f.vlcompress_ctx)(ctx, sources.as_ptr(), sizes.as_ptr(), count, dst.as_mut_ptr().cast(), room)
        };
        if returned == 0 { Err(Code(0)) } else { Code::size(returned, dst.len()) }
    }
}

/// A reusable decompression context.
pub struct Decompressor {
    context: Context,
    /// The library keeps no copy of a mask in every release.
    mask: Vec<bool>,
    _array: Option<ArrayShape>,
}

impl Decompressor {
    /// Decompresses `chunk`; returns the size.
    ///
    /// # Errors
    /// The library's code.
    pub fn decompress(&mut self, chunk: &[u8], dst: &mut [u8]) -> Result<usize, Code> {
        let (len, room) = (c_len(chunk.len())?, c_len(dst.len())?);
        let (f, ctx) = (&self.context.lib.0, self.context.pointer);
        let to = dst.as_mut_ptr().cast();
        // SAFETY: both buffers are valid for the lengths given, by which the library bounds itself.
        let returned = unsafe { (f.decompress_ctx)(ctx, chunk.as_ptr().cast(), len, to, room) };
        Code::size(returned, dst.len())
    }

    /// Items `start..start + count` in units of the header's typesize; returns the bytes copied.
    ///
    /// # Errors
    /// The library's code.
    pub fn getitem(
        &mut self,
        chunk: &[u8],
        start: usize,
        count: usize,
        dst: &mut [u8],
    ) -> Result<usize, Code> {
        let (start, count) = (c_len(start)?, c_len(count)?);
        let (len, room) = (c_len(chunk.len())?, c_len(dst.len())?);
        let (f, ctx) = (&self.context.lib.0, self.context.pointer);
        let to = dst.as_mut_ptr().cast();
        // SAFETY: both buffers are valid for the lengths given, by which the library bounds itself.
        let returned = unsafe { (f.getitem_ctx)(ctx, chunk.as_ptr().cast(), len, start, count, to, room) };
        Code::size(returned, dst.len())
    }

    /// Skips the blocks marked `true` in the next decompression.
    ///
    /// # Errors
    /// The library's code.
    pub fn set_maskout(&mut self, mask: &[bool]) -> Result<(), Code> {
        self.mask = mask.to_vec();
        let count = c_len(mask.len())?;
        let (f, ctx) = (&self.context.lib.0, self.context.pointer);
        // SAFETY: the mask has `count` entries and stays where it is until the next one replaces it.
        let returned = unsafe { (f.set_maskout)(ctx, self.mask.as_mut_ptr(), count) };
        if returned < 0 { Err(Code(returned)) } else { Ok(()) }
    }

    /// Block `index` of a VL chunk.
    ///
    /// # Errors
    /// The library's code.
    pub fn vl_block(&mut self, chunk: &[u8], index: usize) -> Result<Vec<u8>, Code> {
        unsafe extern "C" {
            fn free(pointer: *mut c_void);
        }
        let (len, index) = (c_len(chunk.len())?, c_len(index)?);
        let (mut block, mut size) = (null_mut(), 0);
        let (f, ctx) = (&self.context.lib.0, self.context.pointer);
        // SAFETY: the chunk is valid for its length; the library stores a block of its own and its size.
        let returned = unsafe {
            (f.vldecompress_block_ctx)(ctx, chunk.as_ptr().cast(), len, index, &mut block, &mut size)
        };
        if returned < 0 || block.is_null() {
            return Err(Code(returned));
        }
        let size = usize::try_from(size).unwrap_or(0);
        // SAFETY: `block` holds `size` bytes from malloc, which are ours to free.
        unsafe {
            let bytes = std::slice::from_raw_parts(block, size).to_vec();
            free(block.cast());
            Ok(bytes)
        }
    }
}
