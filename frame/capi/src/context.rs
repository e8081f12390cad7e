//! `blosc2_context`: parameters, scratch memory and threads of compression or decompression.

mod given;

use crate::abi::{CParams, DParams, PostfilterParams, PrefilterParams, Schunk};
use crate::codec::{Plugins, check_filters, is_known};
use crate::error::*;
use crate::memory::{bytes, bytes_mut, values, zeros};
use crate::runner;
use blosc_core::chunk::Plan;
use blosc_core::{Chunk, ChunkContext, Filter, FilterSlot, Params, Pool, Split};
use core::ffi::{c_int, c_void};
use core::ops::Range;
use core::ptr;

use given::check_version;
pub use given::{chunk_at, chunk_of, parse};

/// Most bytes of a chunk's data.
pub const MAX_BUFFERSIZE: i32 = i32::MAX - 32;

/// What `blosc2_context` is behind its pointer.
pub struct Context {
    pub cparams: CParams,
    pub dparams: DParams,
    /// Copies of what the parameters point to: callers may free theirs.
    prefilter: Option<PrefilterParams>,
    postfilter: Option<PostfilterParams>,
    pool: Pool,
    /// Blocks that the next decompression skips.
    mask: Option<Vec<bool>>,
}

impl Context {
    /// # Safety
    /// The pointers of `cparams` are null or valid.
    pub unsafe fn compressing(cparams: CParams) -> Context {
        // SAFETY: null or valid, as the caller promises.
        let prefilter = unsafe { cparams.preparams.as_ref() }.copied();
        Context { prefilter, ..Context::new(cparams, DParams::DEFAULT, cparams.nthreads) }
    }

    /// # Safety
    /// The pointers of `dparams` are null or valid.
    pub unsafe fn decompressing(dparams: DParams) -> Context {
        // SAFETY: null or valid, as the caller promises.
        let postfilter = unsafe { dparams.postparams.as_ref() }.copied();
        Context { postfilter, ..Context::new(CParams::DEFAULT, dparams, dparams.nthreads) }
    }

    fn new(cparams: CParams, dparams: DParams, threads: i16) -> Context {
        let pool = Pool::new(usize::try_from(threads.max(1)).unwrap_or(1)).runner(runner::current());
        Context { cparams, dparams, prefilter: None, postfilter: None, pool, mask: None }
    }

    /// The parameters for `nbytes` bytes, as `blosc-core` takes them.
    pub fn params(&self, nbytes: usize) -> Result<Params> {
        let c = &self.cparams;
        let typesize = u32::try_from(c.typesize).ok().filter(|&size| size > 0).ok_or(INVALID_PARAM)?;
        if c.clevel > 9 || c.instr_codec {
            return Err(CODEC_PARAM);
        }
        // Tuners are libraries of others, which nothing here looks for.
        if c.tuner_id != 0 {
            return Err(TUNER);
        }
        if !is_known(c.compcode) {
            return Err(CODEC_SUPPORT);
        }
        check_filters(&c.filters)?;
        let mut filters = [FilterSlot::NONE; 6];
        for ((slot, id), meta) in filters.iter_mut().zip(c.filters).zip(c.filters_meta) {
            *slot = FilterSlot::new(Filter::from_id(id), meta);
        }
        let codec = blosc_core::Codec::from_id(c.compcode);
        if codec.is_zfp() {
            // Other filters make bytes of the floats that ZFP would change beyond recognition; the default is a shuffle.
            for slot in filters.iter_mut().filter(|slot| slot.filter != Filter::TruncPrec) {
                *slot = FilterSlot::NONE;
            }
        }
        let split = u8::try_from(c.splitmode).ok().and_then(Split::from_mode).unwrap_or_default();
        let blocksize = match u32::try_from(c.blocksize).map_err(|_| INVALID_PARAM)? {
            // Less than an item has blocks of one byte, as in C-Blosc2.
            0 if nbytes < typesize as usize => 1,
            asked => asked,
        };
        let params = Params::new(typesize)
            .codec(codec)
            .codec_meta(c.compcode_meta)
            .level(c.clevel)
            .filters(filters)
            .split(split)
            .blocksize((blocksize > 0).then_some(blocksize))
            .dictionary(c.use_dict != 0 && c.clevel > 0);
        Ok(params.fit(nbytes))
    }

    /// Typesize of the items, wider than a chunk's header can tell, and block shape of the array around.
    ///
    /// # Safety
    /// `schunk` is null or a super-chunk of this library.
    unsafe fn around(schunk: *const c_void, typesize: i32) -> (u32, Vec<u32>) {
        // SAFETY: as the caller promises.
        let Some(schunk) = (unsafe { schunk.cast::<Schunk>().as_ref() }) else {
            return (u32::try_from(typesize).unwrap_or(0), Vec::new());
        };
        // SAFETY: the library keeps `ndim` sizes there.
        let shape = unsafe { values(schunk.blockshape, i64::from(schunk.ndim)) }.unwrap_or(&[]);
        let shape = shape.iter().map(|&n| u32::try_from(n).unwrap_or(0)).collect();
        (u32::try_from(schunk.typesize).unwrap_or(0), shape)
    }

    /// Compresses `src` into the start of `dest`; 0 where it does not fit.
    pub fn compress(&mut self, src: &[u8], dest: &mut [u8]) -> Result<usize> {
        if src.len() > MAX_BUFFERSIZE as usize || dest.len() < 32 {
            return Err(MAX_BUFSIZE_EXCEEDED);
        }
        let params = self.params(src.len())?;
        let filtered;
        let src = if self.cparams.prefilter.is_some() {
            filtered = self.prefiltered(&params, src)?;
            &filtered[..]
        } else {
            src
        };
        let chunk = dest.as_ptr().cast();
        self.with_compressing(chunk, |pool, around| match pool.compress_into(&params, around, src, dest) {
            Err(blosc_core::Error::OutputTooSmall { .. }) => Ok(0),
            done => Ok(done?),
        })
    }

    /// What the caller's prefilter makes of `src`, block by block.
    fn prefiltered(&mut self, params: &Params, src: &[u8]) -> Result<Vec<u8>> {
        let function = self.cparams.prefilter.ok_or(FAILURE)?;
        // SAFETY: the pointer of the parameters is null or a super-chunk, as the caller promises.
        let nchunk = unsafe { current(self.cparams.schunk) };
        let blocksize = Plan::new(params, ChunkContext::default(), &[], src)?.blocksize().max(1);
        let mut out = zeros(src.len())?;
        let mut scratch = zeros(3 * blocksize)?;
        let ctx: *mut c_void = ptr::from_mut(self).cast();
        let given = self.prefilter;
        for (k, (from, to)) in src.chunks(blocksize).zip(out.chunks_mut(blocksize)).enumerate() {
            let mut call = PrefilterParams {
                user_data: given.map_or(ptr::null_mut(), |given| given.user_data),
                input: from.as_ptr(),
                output: to.as_mut_ptr(),
                output_size: size(to.len())?,
                output_typesize: self.cparams.typesize,
                output_offset: size(k * blocksize)?,
                nchunk,
                nblock: size(k)?,
                tid: 0,
                ttmp: scratch.as_mut_ptr(),
                ttmp_nbytes: scratch.len(),
                ctx,
                output_is_disposable: false,
            };
            // SAFETY: the caller's function, with the structure it is for; every pointer in it has the length told.
            if unsafe { function(&raw mut call) } != 0 {
                return Err(FAILURE);
            }
        }
        Ok(out)
    }

    /// Decodes `chunk` into the start of `dest`; returns the decoded size.
    pub fn decompress(&mut self, chunk: &[u8], dest: &mut [u8]) -> Result<usize> {
        let mask = self.mask.take();
        let chunk = parse(chunk)?;
        let n = chunk.nbytes();
        let dest = dest.get_mut(..n).ok_or(WRITE_BUFFER)?;
        if let Some(mask) = mask {
            if mask.len() != chunk.nblocks() {
                return Err(DATA);
            }
            for (block, _) in mask.iter().enumerate().filter(|(_, skip)| !**skip) {
                let range = chunk.block_range(block)?;
                self.blocks(&chunk, range, dest)?;
            }
            return Ok(n);
        }
        if self.dparams.postfilter.is_some() {
            self.blocks(&chunk, 0..n, dest)?;
        } else {
            self.with(&chunk, |pool, around| Ok(pool.decompress_into(&chunk, around, dest)?))?;
        }
        Ok(n)
    }

    /// Decodes bytes `range` of `chunk` into the start of `dest`.
    pub fn get_bytes(&mut self, chunk: &[u8], range: Range<usize>, dest: &mut [u8]) -> Result<usize> {
        self.mask = None;
        let chunk = parse(chunk)?;
        if chunk.header().is_vl() || range.end > chunk.nbytes() || range.start > range.end {
            return Err(INVALID_PARAM);
        }
        let dest = dest.get_mut(..range.len()).ok_or(WRITE_BUFFER)?;
        if self.dparams.postfilter.is_none() {
            return self
                .with(&chunk, |pool, around| Ok(pool.get_bytes(&chunk, around, range.clone(), dest)?));
        }
        let whole = &mut zeros(chunk.nbytes())?;
        self.blocks(&chunk, range.clone(), whole)?;
        dest.copy_from_slice(whole.get(range).ok_or(FAILURE)?);
        Ok(dest.len())
    }

    /// Decodes the blocks that bytes `range` cross to their places in `whole`, through the postfilter if there is one.
    fn blocks(&mut self, chunk: &Chunk<'_>, range: Range<usize>, whole: &mut [u8]) -> Result<()> {
        let ctx: *mut c_void = ptr::from_mut(self).cast();
        let given = self.postfilter;
        // SAFETY: the pointer of the parameters is null or a super-chunk, as the caller promises.
        let nchunk = unsafe { current(self.dparams.schunk) };
        let mut scratch = Vec::new();
        for block in 0..chunk.nblocks() {
            let place = chunk.block_range(block)?;
            if place.end <= range.start || place.start >= range.end {
                continue;
            }
            let out = whole.get_mut(place.clone()).ok_or(WRITE_BUFFER)?;
            self.with(chunk, |pool, around| Ok(pool.decode_block(chunk, around, block, out)?))?;
            let Some(function) = self.dparams.postfilter else { continue };
            if scratch.len() != 4 * out.len() {
                scratch = zeros(4 * out.len())?;
            }
            let (input, ttmp) = scratch.split_at_mut(out.len());
            input.copy_from_slice(out);
            let mut call = PostfilterParams {
                user_data: given.map_or(ptr::null_mut(), |given| given.user_data),
                input: input.as_ptr(),
                output: out.as_mut_ptr(),
                size: size(out.len())?,
                typesize: c_int::from(chunk.header().typesize),
                offset: size(place.start)?,
                nchunk,
                nblock: size(block)?,
                tid: 0,
                ttmp: ttmp.as_mut_ptr(),
                ttmp_nbytes: ttmp.len(),
                ctx,
            };
            // SAFETY: the caller's function, with the structure it is for; every pointer in it has the length told.
            if unsafe { function(&raw mut call) } != 0 {
                return Err(POSTFILTER);
            }
        }
        Ok(())
    }

    /// Runs `body` with the pool and what the chunk's codec and filters may ask.
    pub fn with<T>(
        &mut self,
        chunk: &Chunk<'_>,
        body: impl FnOnce(&mut Pool, ChunkContext<'_>) -> Result<T>,
    ) -> Result<T> {
        self.call((self.dparams.schunk, 0), chunk.bytes().as_ptr().cast(), body)
    }

    /// As [`with`](Self::with) for compression into the chunk at `chunk`; what an encoder of the caller's failed with is the error.
    pub fn with_compressing<T>(
        &mut self,
        chunk: *const c_void,
        body: impl FnOnce(&mut Pool, ChunkContext<'_>) -> Result<T>,
    ) -> Result<T> {
        self.call((self.cparams.schunk, self.cparams.typesize), chunk, body)
    }

    fn call<T>(
        &mut self,
        (schunk, typesize): (*mut c_void, i32),
        chunk: *const c_void,
        body: impl FnOnce(&mut Pool, ChunkContext<'_>) -> Result<T>,
    ) -> Result<T> {
        // SAFETY: the pointer of the parameters is null or a super-chunk, as the caller promises.
        let (typesize, blockshape) = unsafe { Context::around(schunk, typesize) };
        let plugins = Plugins::of(&raw mut self.cparams, &raw mut self.dparams, chunk);
        let (codecs, filters) = plugins.as_dyn();
        let none = ChunkContext::default();
        let done = body(
            &mut self.pool,
            ChunkContext { typesize, blockshape: &blockshape, codecs: &codecs, filters: &filters, ..none },
        )?;
        plugins.check()?;
        Ok(done)
    }
}

/// The number of the chunk that is worked on, which callers set in the super-chunk before they compress; -1 without one.
///
/// # Safety
/// `schunk` is null or a super-chunk.
unsafe fn current(schunk: *const c_void) -> i64 {
    // SAFETY: as the caller promises.
    unsafe { schunk.cast::<Schunk>().as_ref() }.map_or(-1, |schunk| schunk.current_nchunk)
}

/// # Safety
/// `context` is null or came from `blosc2_create_cctx` or `_dctx`, and no other call uses it now.
pub unsafe fn context<'a>(context: *mut Context) -> Result<&'a mut Context> {
    // SAFETY: as the caller promises.
    unsafe { context.as_mut() }.ok_or(NULL_POINTER)
}

/// Has the chunk say how wide the items of the filter bytedelta are: without a super-chunk nothing else tells its reader.
fn tell_widths(cparams: &mut CParams) -> Result<()> {
    for (&id, meta) in cparams.filters.iter().zip(&mut cparams.filters_meta) {
        if id == Filter::ByteDelta.id() && *meta == 0 {
            *meta = u8::try_from(cparams.typesize).map_err(|_| FILTER_PIPELINE)?;
        }
    }
    Ok(())
}

#[unsafe(no_mangle)]
unsafe extern "C" fn blosc2_create_cctx(cparams: CParams) -> *mut Context {
    pointer(|| {
        let mut cparams = cparams;
        if cparams.schunk.is_null() {
            tell_widths(&mut cparams)?;
        }
        // SAFETY: the pointers in the structure are null or valid, as the interface says.
        let context = unsafe { Context::compressing(cparams) };
        context.params(0)?;
        Ok(Box::into_raw(Box::new(context)))
    })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn blosc2_create_dctx(dparams: DParams) -> *mut Context {
    // SAFETY: the pointers in the structure are null or valid, as the interface says.
    pointer(|| Ok(Box::into_raw(Box::new(unsafe { Context::decompressing(dparams) }))))
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc2_free_ctx(context: *mut Context) {
    if !context.is_null() {
        // SAFETY: made by `Box::into_raw` and given back once, as the interface says.
        drop(unsafe { Box::from_raw(context) });
    }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn blosc2_ctx_get_cparams(ctx: *mut Context, cparams: *mut CParams) -> c_int {
    int(|| {
        // SAFETY: a context, and null or room for the parameters, as the caller promises.
        unsafe { crate::memory::put(cparams, context(ctx)?.cparams) };
        Ok(0)
    })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn blosc2_ctx_get_dparams(ctx: *mut Context, dparams: *mut DParams) -> c_int {
    int(|| {
        // SAFETY: a context, and null or room for the parameters, as the caller promises.
        unsafe { crate::memory::put(dparams, context(ctx)?.dparams) };
        Ok(0)
    })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn blosc2_set_maskout(ctx: *mut Context, maskout: *const u8, nblocks: c_int) -> c_int {
    int(|| {
        // SAFETY: a context; `nblocks` booleans of C, one byte each, as the caller promises.
        let (ctx, mask) = unsafe { (context(ctx)?, values(maskout, nblocks.into())?) };
        ctx.mask = Some(mask.iter().map(|&skip| skip != 0).collect());
        Ok(0)
    })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn blosc2_compress_ctx(
    ctx: *mut Context,
    src: *const c_void,
    srcsize: i32,
    dest: *mut c_void,
    destsize: i32,
) -> c_int {
    int(|| {
        // SAFETY: a context; `srcsize` readable and `destsize` writable bytes that do not overlap, as the caller promises.
        let (ctx, dest) = unsafe { (context(ctx)?, bytes_mut(dest, destsize.into())?) };
        if src.is_null() && ctx.cparams.prefilter.is_some() {
            // A prefilter may make the data from nothing.
            let nothing = zeros(usize::try_from(srcsize).map_err(|_| INVALID_PARAM)?)?;
            return size(ctx.compress(&nothing, dest)?);
        }
        // SAFETY: `srcsize` bytes at `src` are readable and do not overlap `dest`, as the interface asks.
        size(ctx.compress(unsafe { bytes(src, srcsize.into()) }?, dest)?)
    })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn blosc2_decompress_ctx(
    ctx: *mut Context,
    src: *const c_void,
    srcsize: i32,
    dest: *mut c_void,
    destsize: i32,
) -> c_int {
    int(|| {
        // SAFETY: a context; `srcsize` readable and `destsize` writable bytes that do not overlap, as the caller promises.
        let (ctx, dest) = unsafe { (context(ctx)?, bytes_mut(dest, destsize.into())?) };
        // SAFETY: `srcsize` bytes at `src` are readable and do not overlap `dest`, as the caller promises.
        let src = unsafe { chunk_of(ctx.dparams.schunk, src, srcsize) }?;
        size(ctx.decompress(&src, dest)?)
    })
}

/// Items or bytes of a chunk: `unit` is the typesize of its header for items.
fn get_items(
    ctx: &mut Context,
    src: &[u8],
    (start, count): (i32, i32),
    items: bool,
    dest: &mut [u8],
) -> Result<c_int> {
    check_version(src)?;
    let header = blosc_core::Header::parse(src)?;
    let typesize = i64::from(header.typesize).max(1);
    let (start, count) = (i64::from(start), i64::from(count));
    if !items && (start % typesize != 0 || count % typesize != 0) {
        return Err(INVALID_PARAM);
    }
    let unit = if items { typesize } else { 1 };
    let from = usize::try_from(start * unit).map_err(|_| INVALID_PARAM)?;
    let len = usize::try_from(count * unit).map_err(|_| INVALID_PARAM)?;
    size(ctx.get_bytes(src, from..from.checked_add(len).ok_or(INVALID_PARAM)?, dest)?)
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc2_getitem_ctx(
    ctx: *mut Context,
    src: *const c_void,
    srcsize: i32,
    start: c_int,
    nitems: c_int,
    dest: *mut c_void,
    destsize: i32,
) -> c_int {
    int(|| {
        // SAFETY: a context; `srcsize` readable and `destsize` writable bytes that do not overlap, as the caller promises.
        let (ctx, dest) = unsafe { (context(ctx)?, bytes_mut(dest, destsize.into())?) };
        // SAFETY: `srcsize` bytes at `src` are readable and do not overlap `dest`, as the caller promises.
        let src = unsafe { chunk_of(ctx.dparams.schunk, src, srcsize) }?;
        get_items(ctx, &src, (start, nitems), true, dest)
    })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn blosc2_getitem_bytes_ctx(
    ctx: *mut Context,
    src: *const c_void,
    srcsize: i32,
    start: i32,
    nbytes: i32,
    dest: *mut c_void,
    destsize: i32,
) -> c_int {
    int(|| {
        // SAFETY: a context; `srcsize` readable and `destsize` writable bytes that do not overlap, as the caller promises.
        let (ctx, dest) = unsafe { (context(ctx)?, bytes_mut(dest, destsize.into())?) };
        // SAFETY: `srcsize` bytes at `src` are readable and do not overlap `dest`, as the caller promises.
        let src = unsafe { chunk_of(ctx.dparams.schunk, src, srcsize) }?;
        get_items(ctx, &src, (start, nbytes), false, dest)
    })
}
