//! Writing chunks.

use crate::memory::{Env, apart, bytes, with_work, zeroed};
use crate::status::{Status, guard};
use blosc_core::chunk::Plan;
use blosc_core::{Codec, Encoder, Filter, FilterSlot, Split, max_encoded_len};
use core::ffi::c_void;

/// How to write a chunk: `blosc_core_params`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Params {
    /// Item size in bytes.
    pub typesize: u32,
    /// Block size in bytes; 0 is automatic.
    pub blocksize: u32,
    /// Codec id.
    pub codec: u8,
    /// Its parameter byte.
    pub codec_meta: u8,
    /// 0 (store) to 9 (smallest).
    pub level: u8,
    /// 1 always, 2 never, 3 where it pays, 4 the default of every writer.
    pub split: u8,
    /// Filter ids in the order they are applied.
    pub filters: [u8; 6],
    /// Their parameter bytes.
    pub filters_meta: [u8; 6],
    /// 1: what Blosc1 reads, with a header of 16 bytes.
    pub blosc1: u8,
    /// 0.
    pub reserved: [u8; 7],
}

impl Params {
    fn to_core(self) -> Result<blosc_core::Params, Status> {
        let mut filters = [FilterSlot::NONE; 6];
        for ((slot, id), meta) in filters.iter_mut().zip(self.filters).zip(self.filters_meta) {
            *slot = FilterSlot::new(Filter::from_id(id), meta);
        }
        let params = blosc_core::Params::new(self.typesize)
            .codec(Codec::from_id(self.codec))
            .codec_meta(self.codec_meta)
            .level(self.level)
            .filters(filters)
            .split(Split::from_mode(self.split).ok_or(Status::Param)?)
            .blocksize((self.blocksize != 0).then_some(self.blocksize))
            .blosc1(self.blosc1 != 0);
        params.check()?;
        Ok(params)
    }
}

/// Sets the defaults for items of `typesize` bytes: BloscLZ, level 5, shuffle, automatic block size.
///
/// # Safety
/// `params` is null or writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc_core_params_init(params: *mut Params, typesize: u32) {
    if params.is_null() {
        return;
    }
    let defaults = Params {
        typesize,
        blocksize: 0,
        codec: Codec::BloscLz.id(),
        codec_meta: 0,
        level: 5,
        split: 4,
        filters: [0, 0, 0, 0, 0, Filter::Shuffle.id()],
        filters_meta: [0; 6],
        blosc1: 0,
        reserved: [0; 7],
    };
    // SAFETY: not null, and writable as the caller promises.
    unsafe { params.write_unaligned(defaults) };
}

/// Most bytes the chunk of `nbytes` bytes can take, or `Param` if no chunk can hold them.
#[unsafe(no_mangle)]
pub extern "C" fn blosc_core_compress_bound(nbytes: usize) -> i64 {
    guard(|| {
        if nbytes > blosc_core::chunk::MAX_NBYTES { Err(Status::Param) } else { Ok(max_encoded_len(nbytes)) }
    })
}

/// Bytes of scratch that compressing `nbytes` bytes with `params` takes.
///
/// # Safety
/// `params` is null or valid.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc_core_compress_work(params: *const Params, nbytes: usize) -> i64 {
    guard(|| {
        // SAFETY: null or valid, as the caller promises.
        let params = unsafe { params.as_ref() }.ok_or(Status::Null)?.to_core()?;
        Ok(Plan::work_len_for(&params, nbytes))
    })
}

/// Compresses `len` bytes at `data` into the start of `out`; returns the size of the chunk.
///
/// # Safety
/// `params` is null or valid, `len` bytes at `data` are readable, `out_len` bytes at `out` are writable, `env` is
/// null or valid.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc_core_compress(
    params: *const Params,
    data: *const c_void,
    len: usize,
    out: *mut c_void,
    out_len: usize,
    env: *const Env,
) -> i64 {
    guard(|| {
        // SAFETY: null or valid, as the caller promises.
        let (params, env) = unsafe { (params.as_ref(), env.as_ref()) };
        let params = params.ok_or(Status::Null)?.to_core()?;
        if !Env::host_codecs(env) && params.level > 0 && matches!(params.codec, Codec::Zlib | Codec::Zstd) {
            return Err(Status::Codec);
        }
        apart(&[(data, len), (out, out_len)])?;
        // SAFETY: as the caller promises; the two do not overlap.
        let (source, room) = unsafe { (bytes(data, len)?, zeroed(out, out_len.min(max_encoded_len(len)))?) };
        let run = |work: &mut [u8]| {
            let mut encoder = Encoder::new(Env::level(env), &params, source.len(), work)?;
            Ok(encoder.encode(source, room)?)
        };
        // SAFETY: `env` is as the caller promises.
        unsafe { with_work(env, Plan::work_len_for(&params, len), [(data, len), (out, out_len)], run) }
    })
}
