//! `blosc1_*` and `blosc2_compress`: the settings of the process, and calls that use them.
//!
//! The environment variables are read as for libblosc.so.1, and `BLOSC_DELTA` for the delta filter.

use crate::abi::CParams;
use crate::chunk::sizes;
use crate::codec;
use crate::context::Context;
use crate::error::*;
use crate::memory::{bytes, bytes_mut, text};
use crate::runner::{THREADS, threads};
use core::ffi::{CStr, c_char, c_int, c_void};
use core::ptr;
use core::sync::atomic::{AtomicBool, AtomicI32, AtomicU8, AtomicUsize, Ordering::Relaxed};
use std::env;

static CODEC: AtomicU8 = AtomicU8::new(0);
static BLOCKSIZE: AtomicUsize = AtomicUsize::new(0);
static SPLIT: AtomicI32 = AtomicI32::new(4);
static DELTA: AtomicBool = AtomicBool::new(false);

/// Name of the codec `id`, built in or registered.
pub fn name(id: c_int) -> Option<&'static CStr> {
    Some(match id {
        0 => c"blosclz",
        1 => c"lz4",
        2 => c"lz4hc",
        4 => c"zlib",
        5 => c"zstd",
        32 => c"ndlz",
        33 => c"zfp_acc",
        34 => c"zfp_prec",
        35 => c"zfp_rate",
        _ => return codec::name_of(u8::try_from(id).ok()?),
    })
}

/// Id of the codec `name`, built in or registered.
pub fn id(name_wanted: &str) -> Option<u8> {
    let built_in = [0u8, 1, 2, 4, 5, 32, 33, 34, 35];
    let found = built_in
        .into_iter()
        .find(|&id| name(id.into()).is_some_and(|n| n.to_bytes() == name_wanted.as_bytes()));
    found.or_else(|| codec::id_of(name_wanted))
}

#[unsafe(no_mangle)]
extern "C" fn blosc1_get_blocksize() -> c_int {
    c_int::try_from(BLOCKSIZE.load(Relaxed)).unwrap_or(c_int::MAX)
}

#[unsafe(no_mangle)]
extern "C" fn blosc1_set_blocksize(blocksize: usize) {
    BLOCKSIZE.store(blocksize, Relaxed);
}

#[unsafe(no_mangle)]
extern "C" fn blosc1_set_splitmode(splitmode: c_int) {
    if (1..=4).contains(&splitmode) {
        SPLIT.store(splitmode, Relaxed);
    }
}

#[unsafe(no_mangle)]
extern "C" fn blosc2_set_delta(dodelta: c_int) {
    DELTA.store(dodelta != 0, Relaxed);
}

#[unsafe(no_mangle)]
extern "C" fn blosc2_get_nthreads() -> i16 {
    threads()
}

#[unsafe(no_mangle)]
extern "C" fn blosc2_set_nthreads(nthreads: i16) -> i16 {
    if nthreads <= 0 { INVALID_PARAM.0 as i16 } else { THREADS.swap(nthreads, Relaxed) }
}

#[unsafe(no_mangle)]
extern "C" fn blosc1_get_compressor() -> *const c_char {
    name(CODEC.load(Relaxed).into()).map_or(ptr::null(), CStr::as_ptr)
}

#[unsafe(no_mangle)]
unsafe extern "C" fn blosc1_set_compressor(compname: *const c_char) -> c_int {
    int(|| {
        // SAFETY: a string, as the interface says.
        let id = id(unsafe { text(compname) }?).ok_or(FAILURE)?;
        CODEC.store(id, Relaxed);
        Ok(id.into())
    })
}

/// What the environment says, and `cparams` as it then is.
fn from_environment(cparams: &mut CParams, shuffle: &mut c_int) -> Result<()> {
    let integer = |name: &str| env::var(name).ok()?.trim().parse::<i32>().ok();
    if let Some(level) = integer("BLOSC_CLEVEL").filter(|&n| n >= 0) {
        cparams.clevel = u8::try_from(level).map_err(|_| CODEC_PARAM)?;
    }
    match env::var("BLOSC_SHUFFLE").as_deref() {
        Ok("NOSHUFFLE") => *shuffle = 0,
        Ok("SHUFFLE") => *shuffle = 1,
        Ok("BITSHUFFLE") => *shuffle = 2,
        _ => {}
    }
    if let Ok(delta) = env::var("BLOSC_DELTA") {
        blosc2_set_delta(c_int::from(delta != "0"));
    }
    if let Some(size) = integer("BLOSC_TYPESIZE").filter(|&n| n > 0) {
        cparams.typesize = size;
    }
    if let Ok(name) = env::var("BLOSC_COMPRESSOR") {
        CODEC.store(id(&name).ok_or(FAILURE)?, Relaxed);
    }
    if let Some(size) = integer("BLOSC_BLOCKSIZE").filter(|&n| n > 0) {
        blosc1_set_blocksize(usize::try_from(size).unwrap_or(0));
    }
    // What is no number of threads is passed over here, and refused by decompression, as in C-Blosc2.
    _ = threads_from_environment();
    if let Ok(name) = env::var("BLOSC_SPLITMODE") {
        blosc1_set_splitmode(match name.as_str() {
            "ALWAYS" => 1,
            "NEVER" => 2,
            "AUTO" => 3,
            "FORWARD_COMPAT" => 4,
            _ => return Err(FAILURE),
        });
    }
    Ok(())
}

fn threads_from_environment() -> Result<()> {
    if let Ok(asked) = env::var("BLOSC_NTHREADS") {
        let asked = asked.trim().parse::<i16>().ok().filter(|&n| n > 0);
        blosc2_set_nthreads(asked.ok_or(INVALID_PARAM)?);
    }
    Ok(())
}

#[unsafe(no_mangle)]
unsafe extern "C" fn blosc2_compress(
    clevel: c_int,
    doshuffle: c_int,
    typesize: i32,
    src: *const c_void,
    srcsize: i32,
    dest: *mut c_void,
    destsize: i32,
) -> c_int {
    int(|| {
        let mut shuffle = doshuffle;
        let mut cparams = CParams { typesize, ..CParams::DEFAULT };
        cparams.clevel = u8::try_from(clevel).ok().filter(|&level| level <= 9).ok_or(CODEC_PARAM)?;
        from_environment(&mut cparams, &mut shuffle)?;
        // Any other number means no filter, as in the C library.
        let shuffle = u8::try_from(shuffle).ok().filter(|&id| id <= 2).unwrap_or(0);
        cparams.filters = [0, 0, 0, 0, if DELTA.load(Relaxed) { 3 } else { 0 }, shuffle];
        cparams.compcode = CODEC.load(Relaxed);
        cparams.nthreads = threads();
        cparams.blocksize = i32::try_from(BLOCKSIZE.load(Relaxed)).unwrap_or(i32::MAX - 32).min(0x1FFF_F000);
        cparams.splitmode = SPLIT.load(Relaxed);
        // SAFETY: no pointer in the parameters; `srcsize` readable and `destsize` writable bytes that do not overlap, as the caller promises.
        let (mut ctx, src, dest) = unsafe {
            (Context::compressing(cparams), bytes(src, srcsize.into())?, bytes_mut(dest, destsize.into())?)
        };
        size(ctx.compress(src, dest)?)
    })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn blosc1_compress(
    clevel: c_int,
    doshuffle: c_int,
    typesize: usize,
    nbytes: usize,
    src: *const c_void,
    dest: *mut c_void,
    destsize: usize,
) -> c_int {
    let most = |n: usize| i32::try_from(n).unwrap_or(i32::MAX);
    // SAFETY: as this function's own arguments, or shorter.
    unsafe { blosc2_compress(clevel, doshuffle, most(typesize), src, most(nbytes), dest, most(destsize)) }
}

/// The chunk at `src`, as long as its header says.
///
/// # Safety
/// `src` is the start of a chunk that is readable as far as its header says.
unsafe fn unbounded<'a>(src: *const c_void) -> Result<&'a [u8]> {
    // SAFETY: the caller promises a chunk, which has 16 bytes.
    let [_, cbytes, _] = sizes(unsafe { bytes(src, 16) }?)?;
    // SAFETY: readable as far as its header says, as the caller promises.
    unsafe { bytes(src, cbytes.into()) }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn blosc1_decompress(src: *const c_void, dest: *mut c_void, destsize: usize) -> c_int {
    int(|| {
        threads_from_environment()?;
        let dparams = crate::abi::DParams { nthreads: threads(), ..crate::abi::DParams::DEFAULT };
        // SAFETY: no pointer in the parameters; a chunk, and `destsize` writable bytes, as the caller promises.
        let (mut ctx, src, dest) = unsafe {
            let most = i64::try_from(destsize).unwrap_or(i64::MAX).min(i32::MAX.into());
            (Context::decompressing(dparams), unbounded(src)?, bytes_mut(dest, most)?)
        };
        size(ctx.decompress(src, dest)?)
    })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn blosc1_getitem(
    src: *const c_void,
    start: c_int,
    nitems: c_int,
    dest: *mut c_void,
) -> c_int {
    int(|| {
        // SAFETY: a chunk, as this function's own argument.
        let chunk = unsafe { unbounded(src) }?;
        let typesize = i64::from(chunk.get(3).copied().unwrap_or(1));
        // SAFETY: no pointer in the parameters; room for the items, as the caller promises.
        let (mut ctx, dest) = unsafe {
            let len = i64::from(nitems).checked_mul(typesize).filter(|&n| n >= 0).ok_or(INVALID_PARAM)?;
            (Context::decompressing(crate::abi::DParams::DEFAULT), bytes_mut(dest, len)?)
        };
        let from = usize::try_from(i64::from(start) * typesize).map_err(|_| INVALID_PARAM)?;
        let end = from.checked_add(dest.len()).ok_or(INVALID_PARAM)?;
        size(ctx.get_bytes(chunk, from..end, dest)?)
    })
}
