//! Reading chunks: header, validation, decompression, items.

use crate::memory::{Env, apart, bytes, room, with_work};
use crate::status::{Status, guard};
use blosc_core::codec::context::DecodeContext;
use blosc_core::{Chunk, Decoder, Header};
use core::ffi::c_void;

/// What a header says: `blosc_core_info`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Info {
    /// Decoded size in bytes.
    pub nbytes: u64,
    /// Size of the chunk in bytes.
    pub cbytes: u64,
    /// Block size in bytes; of a chunk of variable-length blocks their number.
    pub blocksize: u32,
    /// Number of blocks.
    pub nblocks: u32,
    /// Item size, 1 to 255.
    pub typesize: u8,
    /// Format version, byte 0 of the chunk.
    pub version: u8,
    /// Codec id.
    pub codec: u8,
    /// Byte 2 of the chunk: bit 1 says that the data is stored.
    pub flags: u8,
    /// Filter ids in the order they were applied.
    pub filters: [u8; 6],
    /// Their parameter bytes.
    pub filters_meta: [u8; 6],
    /// 0 ordinary, 1 zeros, 2 NaN, 3 one value, 4 never written.
    pub special: u8,
    /// 1 if blocks have lengths of their own.
    pub variable: u8,
    /// 0.
    pub reserved: [u8; 6],
}

impl From<&Header> for Info {
    fn from(h: &Header) -> Info {
        Info {
            nbytes: u64::from(h.nbytes),
            cbytes: u64::from(h.cbytes),
            blocksize: h.blocksize,
            nblocks: u32::try_from(h.nblocks()).unwrap_or(u32::MAX),
            typesize: h.typesize,
            version: h.version,
            codec: h.codec.id(),
            flags: h.flags,
            filters: h.filters.map(|slot| slot.filter.id()),
            filters_meta: h.filters.map(|slot| slot.meta),
            special: h.flags1 >> 4 & 7,
            variable: u8::from(h.is_vl()),
            reserved: [0; 6],
        }
    }
}

/// What a chunk may cost: `blosc_core_limits`. Null means the defaults of [`blosc_core::Limits`].
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Limits {
    /// Most decoded bytes.
    pub output: u64,
    /// Most decoded bytes per byte of chunk.
    pub expansion: u64,
    /// Most blocks.
    pub blocks: u32,
}

/// The limits, or the defaults.
///
/// # Safety
/// `limits` is null or valid.
pub(crate) unsafe fn limits_of(limits: *const Limits) -> blosc_core::Limits {
    // SAFETY: null or valid, as the caller promises.
    unsafe { limits.as_ref() }.map_or(blosc_core::Limits::DEFAULT, |l| {
        blosc_core::Limits::DEFAULT.output(l.output).blocks(l.blocks).expansion(l.expansion)
    })
}

/// The chunk of `len` bytes at `chunk`, checked under `limits`.
///
/// # Safety
/// `len` bytes at `chunk` are readable for `'a`; `limits` is null or valid.
pub(crate) unsafe fn parse<'a>(
    chunk: *const c_void,
    len: usize,
    limits: *const Limits,
) -> Result<Chunk<'a>, Status> {
    // SAFETY: null or valid, as the caller promises.
    let limits = unsafe { limits_of(limits) };
    // SAFETY: as the caller promises.
    Ok(Chunk::parse_with(unsafe { bytes(chunk, len) }?, &limits)?)
}

/// Stores `header` where `info` points, if anywhere.
///
/// # Safety
/// `info` is null or writable.
unsafe fn tell(header: &Header, info: *mut Info) {
    if !info.is_null() {
        // SAFETY: not null, and writable as the caller promises; perhaps not aligned, as C programs go.
        unsafe { info.write_unaligned(Info::from(header)) };
    }
}

/// Reads the header alone; `len` of 32 is enough for every chunk. Returns the size of the chunk in bytes.
///
/// # Safety
/// `len` bytes at `chunk` are readable; `info` is null or writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc_core_header(chunk: *const c_void, len: usize, info: *mut Info) -> i64 {
    guard(|| {
        // SAFETY: as the caller promises.
        let header = Header::parse(unsafe { bytes(chunk, len) }?)?;
        // SAFETY: likewise.
        unsafe { tell(&header, info) };
        Ok(header.cbytes as usize)
    })
}

/// Checks header, offsets and the place of every stream; returns the decoded size.
///
/// # Safety
/// `len` bytes at `chunk` are readable; `limits` is null or valid, `info` null or writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc_core_validate(
    chunk: *const c_void,
    len: usize,
    limits: *const Limits,
    info: *mut Info,
) -> i64 {
    guard(|| {
        // SAFETY: as the caller promises.
        let chunk = unsafe { parse(chunk, len, limits) }?;
        // SAFETY: likewise.
        unsafe { tell(chunk.header(), info) };
        Ok(chunk.nbytes())
    })
}

/// Bytes of scratch that decoding the chunk, or items of it, takes.
///
/// # Safety
/// As [`blosc_core_validate`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc_core_decompress_work(
    chunk: *const c_void,
    len: usize,
    limits: *const Limits,
) -> i64 {
    // SAFETY: as the caller promises.
    guard(|| Ok(Decoder::work_len(&unsafe { parse(chunk, len, limits) }?)))
}

/// Decodes the chunk to the start of `out`; returns the decoded size.
///
/// # Safety
/// `len` bytes at `chunk` are readable and `out_len` bytes at `out` writable; `limits` and `env` are null or valid.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc_core_decompress(
    chunk: *const c_void,
    len: usize,
    limits: *const Limits,
    out: *mut c_void,
    out_len: usize,
    env: *const Env,
) -> i64 {
    // SAFETY: as the caller promises.
    unsafe { decode(chunk, len, limits, None, out, out_len, env) }
}

/// Decodes `count` items from item `start` on; returns the bytes written. Touches only the blocks they lie in.
///
/// # Safety
/// As [`blosc_core_decompress`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc_core_getitem(
    chunk: *const c_void,
    len: usize,
    limits: *const Limits,
    start: usize,
    count: usize,
    out: *mut c_void,
    out_len: usize,
    env: *const Env,
) -> i64 {
    // SAFETY: as the caller promises.
    unsafe { decode(chunk, len, limits, Some((start, count)), out, out_len, env) }
}

/// All of a chunk, or `count` items from `start`.
///
/// # Safety
/// As [`blosc_core_decompress`].
unsafe fn decode(
    source: *const c_void,
    len: usize,
    limits: *const Limits,
    items: Option<(usize, usize)>,
    out: *mut c_void,
    out_len: usize,
    env: *const Env,
) -> i64 {
    guard(|| {
        apart(&[(source, len), (out, out_len)])?;
        // SAFETY: as the caller promises; the two do not overlap.
        let chunk = unsafe { parse(source, len, limits) }?;
        // SAFETY: likewise.
        let out_room = unsafe { room(out, out_len) }?;
        // SAFETY: null or valid, as the caller promises.
        let env = unsafe { env.as_ref() };
        let codec = chunk.header().codec;
        let run = |work: &mut [u8]| {
            let context =
                if Env::host_codecs(env) { DecodeContext::for_codec(codec) } else { DecodeContext::empty() };
            let mut decoder = Decoder::with_context(Env::level(env), work, context);
            Ok(match items {
                None => decoder.decode(&chunk, out_room)?,
                Some((start, count)) => {
                    let end = start.checked_add(count).ok_or(Status::Range)?;
                    decoder.get_items(&chunk, start..end, out_room)?
                }
            })
        };
        // SAFETY: `env` is as the caller promises.
        unsafe { with_work(env, Decoder::work_len(&chunk), [(source, len), (out, out_len)], run) }
    })
}
