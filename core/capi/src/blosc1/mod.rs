//! Blosc1's own names: a program written for `blosc.h` 1.21 links against this library unchanged.
//!
//! What differs from the C library, on purpose:
//! - nothing is printed, and an environment variable that is to hold an integer and does not is ignored;
//! - a name that [`blosc_set_compressor`] does not know leaves the compressor as it was;
//! - more than 256 threads count as 256, fewer than one as one;
//! - chunks of Blosc2 are decoded too;
//! - type size 0 counts as 1, a negative item count is an error (the C library crashes on both).
//!
//! The settings behind `blosc_set_*` are process-wide, as the interface has it; the `_ctx` functions use none.

mod cbuffer;
mod environment;
mod settings;

pub use cbuffer::*;
pub use settings::*;

use crate::memory::{apart, bytes, room, zeroed};
use crate::status::{Status, guard};
use blosc_core::codec::context::DecodeContext;
use blosc_core::{Chunk, ChunkContext, Codec, Decoder, Level, Limits, Params, Pool, Split};
use core::ffi::{CStr, c_char, c_int, c_void};
use core::ops::Range;

/// Bytes of the header, the most that compression adds.
pub(crate) const OVERHEAD: usize = 16;
const MAX_BUFFER: usize = i32::MAX as usize - OVERHEAD;
/// Most threads.
pub(crate) const MAX_THREADS: c_int = 256;
/// Result for parameters out of their range.
const BAD_PARAMETER: c_int = -10;
/// Result for a compressor that is unknown.
const BAD_COMPRESSOR: c_int = -5;

/// The codec of this name.
pub(crate) fn compressor(name: &CStr) -> Option<Codec> {
    [Codec::BloscLz, Codec::Lz4, Codec::Lz4Hc, Codec::Snappy, Codec::Zlib, Codec::Zstd]
        .into_iter()
        .find(|codec| codec.name().as_bytes() == name.to_bytes())
}

/// How to compress, besides the data.
struct Request {
    level: c_int,
    shuffle: c_int,
    typesize: usize,
    codec: Option<Codec>,
    blocksize: usize,
    split: Split,
    threads: c_int,
}

impl Request {
    /// Parameters for `nbytes` bytes, or the code of what is wrong with them.
    fn params(&self, nbytes: usize) -> Result<Params, c_int> {
        let level = u8::try_from(self.level).ok().filter(|&l| l <= 9).ok_or(BAD_PARAMETER)?;
        let typesize = u32::try_from(self.typesize).ok().filter(|ts| (1..=255).contains(ts)).unwrap_or(1);
        let base = Params::new(typesize).level(level).split(self.split);
        let base = match self.shuffle {
            0 => base.no_filter(),
            1 => base.shuffle(),
            2 => base.bitshuffle(),
            _ => return Err(BAD_PARAMETER),
        };
        let asked = u32::try_from(self.blocksize).unwrap_or(u32::MAX);
        let base = base.codec(self.codec.ok_or(BAD_COMPRESSOR)?).blocksize((asked > 0).then_some(asked));
        Ok(base.c_blosc(nbytes))
    }

    /// Compresses; 0 where the chunk does not fit `destsize` bytes.
    ///
    /// # Safety
    /// `nbytes` bytes at `src` are readable, `destsize` bytes at `dest` writable.
    unsafe fn run(&self, nbytes: usize, src: *const c_void, dest: *mut c_void, destsize: usize) -> c_int {
        let params = match self.params(nbytes) {
            Ok(params) => params,
            Err(code) => return code,
        };
        if nbytes > MAX_BUFFER {
            return 0;
        }
        let result = guard(|| {
            apart(&[(src, nbytes), (dest.cast_const(), destsize)])?;
            // SAFETY: as the caller promises; the two do not overlap.
            let (data, chunk) = unsafe {
                (bytes(src, nbytes)?, zeroed(dest, destsize.min(nbytes.saturating_add(OVERHEAD)))?)
            };
            let mut pool = Pool::new(threads(self.threads));
            let around = ChunkContext::default();
            // The encoder wants room for the longer of the two headers.
            let mut room = [0u8; 2 * OVERHEAD];
            if chunk.len() < room.len() {
                let len = pool.compress_into(&params, around, data, &mut room)?;
                let (Some(to), Some(from)) = (chunk.get_mut(..len), room.get(..len)) else {
                    return Err(Status::Output);
                };
                to.copy_from_slice(from);
                return Ok(len);
            }
            Ok(pool.compress_into(&params, around, data, chunk)?)
        });
        if result == Status::Output as i64 { 0 } else { c_int::try_from(result).unwrap_or(-1) }
    }
}

/// Threads to use; Blosc1 takes any number and means 1 by what is below.
fn threads(asked: c_int) -> usize {
    usize::try_from(asked.clamp(1, MAX_THREADS)).unwrap_or(1)
}

/// Compresses with the settings of the process; see `blosc.h`.
///
/// # Safety
/// `nbytes` bytes at `src` are readable, `destsize` bytes at `dest` writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc_compress(
    mut clevel: c_int,
    mut doshuffle: c_int,
    mut typesize: usize,
    nbytes: usize,
    src: *const c_void,
    dest: *mut c_void,
    destsize: usize,
) -> c_int {
    if let Err(code) = environment::apply(&mut clevel, &mut doshuffle, &mut typesize) {
        return code;
    }
    let request = Request {
        level: clevel,
        shuffle: doshuffle,
        typesize,
        codec: Some(settings::codec()),
        blocksize: settings::blocksize(),
        split: Split::from_mode(settings::split()).unwrap_or_default(),
        threads: blosc_get_nthreads(),
    };
    // SAFETY: as the caller promises.
    unsafe { request.run(nbytes, src, dest, destsize) }
}

/// Compresses without settings of the process; see `blosc.h`.
///
/// # Safety
/// As [`blosc_compress`]; `compressor` is null or a string.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc_compress_ctx(
    clevel: c_int,
    doshuffle: c_int,
    typesize: usize,
    nbytes: usize,
    src: *const c_void,
    dest: *mut c_void,
    destsize: usize,
    compressor: *const c_char,
    blocksize: usize,
    numinternalthreads: c_int,
) -> c_int {
    let codec = if compressor.is_null() {
        None
    } else {
        // SAFETY: a string, as the caller promises.
        self::compressor(unsafe { CStr::from_ptr(compressor) })
    };
    let split = Split::ForwardCompat;
    let request = Request {
        level: clevel,
        shuffle: doshuffle,
        typesize,
        codec,
        blocksize,
        split,
        threads: numinternalthreads,
    };
    // SAFETY: as the caller promises.
    unsafe { request.run(nbytes, src, dest, destsize) }
}

/// The chunk at `src`, as long as its header says.
///
/// # Safety
/// `src` is null or the start of a chunk that is readable as far as its header says.
unsafe fn chunk<'a>(src: *const c_void) -> Result<Chunk<'a>, Status> {
    // SAFETY: a chunk has a header.
    let header = unsafe { bytes(src, OVERHEAD) }?;
    let Some(&[a, b, c, d]) = header.last_chunk::<4>() else { return Err(Status::Truncated) };
    let len = usize::try_from(i32::from_le_bytes([a, b, c, d])).map_err(|_| Status::Invalid)?;
    // SAFETY: readable as far as the header says. A chunk of fewer bytes than a header is refused by `parse_with`.
    Ok(Chunk::parse_with(unsafe { bytes(src, len) }?, &Limits::NONE)?)
}

/// Decompresses with the settings of the process; see `blosc.h`.
///
/// # Safety
/// `src` is the start of a chunk that is readable as far as its header says; `destsize` bytes at `dest` are writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc_decompress(src: *const c_void, dest: *mut c_void, destsize: usize) -> c_int {
    environment::threads();
    // SAFETY: as the caller promises.
    unsafe { blosc_decompress_ctx(src, dest, destsize, blosc_get_nthreads()) }
}

/// Decompresses without settings of the process; see `blosc.h`.
///
/// # Safety
/// As [`blosc_decompress`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc_decompress_ctx(
    src: *const c_void,
    dest: *mut c_void,
    destsize: usize,
    numinternalthreads: c_int,
) -> c_int {
    let result = guard(|| {
        // SAFETY: as the caller promises.
        let chunk = unsafe { chunk(src) }?;
        let len = chunk.nbytes();
        if len > destsize {
            return Err(Status::Output);
        }
        let threads = threads(numinternalthreads);
        if threads == 1 || chunk.nblocks() == 1 {
            // SAFETY: `destsize` bytes, as the caller promises.
            return unsafe { decode(&chunk, 0..len, dest) };
        }
        apart(&[(src, chunk.bytes().len()), (dest.cast_const(), len)])?;
        // SAFETY: at most `destsize` bytes, apart from the chunk.
        let out = unsafe { zeroed(dest, len) }?;
        Ok(Pool::new(threads).decompress_into(&chunk, ChunkContext::default(), out)?)
    });
    c_int::try_from(result).unwrap_or(-1).max(-1)
}

/// Decoded bytes `range` of `chunk`, on this thread.
///
/// # Safety
/// `range.len()` bytes at `dest` are writable.
unsafe fn decode(chunk: &Chunk<'_>, range: Range<usize>, dest: *mut c_void) -> Result<usize, Status> {
    let source = (chunk.bytes().as_ptr().cast::<c_void>(), chunk.bytes().len());
    apart(&[source, (dest.cast_const(), range.len())])?;
    // SAFETY: writable as the caller promises, apart from the chunk.
    let out = unsafe { room(dest, range.len()) }?;
    let context = DecodeContext::for_codec(chunk.header().codec);
    let mut work = std::vec![0; Decoder::work_len(chunk)];
    Ok(Decoder::with_context(Level::best(), &mut work, context).get_bytes(chunk, range, out)?)
}

/// Decodes items `start` to `start + nitems`; returns the bytes written.
///
/// # Safety
/// `src` as for [`blosc_decompress`]; `dest` has room for the items.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc_getitem(
    src: *const c_void,
    start: c_int,
    nitems: c_int,
    dest: *mut c_void,
) -> c_int {
    let result = guard(|| {
        // SAFETY: as the caller promises.
        let chunk = unsafe { chunk(src) }?;
        let size = usize::from(chunk.header().typesize);
        let bytes = |items: c_int| usize::try_from(items).ok()?.checked_mul(size);
        let (from, len) = bytes(start).zip(bytes(nitems)).ok_or(Status::Range)?;
        let end = from.checked_add(len).filter(|&end| end <= chunk.nbytes()).ok_or(Status::Range)?;
        // SAFETY: room for the items, as the caller promises.
        unsafe { decode(&chunk, from..end, dest) }
    });
    c_int::try_from(result).unwrap_or(-1).max(-1)
}
