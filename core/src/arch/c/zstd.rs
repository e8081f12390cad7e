//! zstd's C contexts in memory that Rust owns, and its uninitialised destinations.
//!
//! ```text
//! ZstdEncoder { memory: [CCtx + all its tables, sized once for the largest stream] }
//! ZstdDecoder { memory: [DCtx], digest: [DDict + its tables], dict: [copy of the dictionary] }
//! ```
//! `ZSTD_initStatic*` never allocates and never resizes: whatever C needs is reserved when the context
//! is made, so no later call reaches `malloc`. Only a new *compression* dictionary does.

use crate::arch::out::Out;
use alloc::vec::Vec;
use core::mem::MaybeUninit;
use core::ptr::NonNull;
use zstd_safe::zstd_sys as sys;

/// Longest dictionary a chunk can carry.
const MAX_DICT: usize = 32768;
/// Streams longer than this are stored rather than compressed: no chunk holds them.
const MAX_STREAM: usize = 1 << 30;

/// Memory for one context, 8-byte aligned as zstd wants it, never grown.
struct Memory(Vec<MaybeUninit<u64>>);

impl Memory {
    fn new(bytes: usize) -> Option<Memory> {
        let words = bytes.div_ceil(8);
        let mut v = Vec::new();
        v.try_reserve_exact(words).ok()?;
        // SAFETY: `words` elements are reserved, and `MaybeUninit` needs no initialisation.
        unsafe { v.set_len(words) };
        Some(Memory(v))
    }
    fn start(&mut self) -> *mut core::ffi::c_void {
        self.0.as_mut_ptr().cast()
    }
    fn len(&self) -> usize {
        self.0.len() * 8
    }
}

fn count(code: usize) -> Result<usize, sys::ZSTD_ErrorCode> {
    // SAFETY: both functions only look at the number they are given.
    unsafe { if sys::ZSTD_isError(code) == 0 { Ok(code) } else { Err(sys::ZSTD_getErrorCode(code)) } }
}

/// A decompression context and the dictionary it was last used with.
pub(crate) struct ZstdDecoder {
    context: NonNull<sys::ZSTD_DCtx>,
    /// Points into `digest` and `dict`.
    ddict: Option<NonNull<sys::ZSTD_DDict>>,
    dict: Vec<u8>,
    digest: Memory,
    _memory: Memory,
}

// SAFETY: the context and the digest are plain memory owned by this value alone; zstd keeps no
// thread-local state for them.
unsafe impl Send for ZstdDecoder {}

impl ZstdDecoder {
    /// Allocates everything that decoding will ever need; `None` when memory is short.
    pub(crate) fn new() -> Option<ZstdDecoder> {
        // SAFETY: these two only compute sizes.
        let (size, digest) = unsafe {
            (
                sys::ZSTD_estimateDCtxSize(),
                sys::ZSTD_estimateDDictSize(MAX_DICT, sys::ZSTD_dictLoadMethod_e::ZSTD_dlm_byRef),
            )
        };
        let mut memory = Memory::new(size)?;
        let mut dict = Vec::new();
        dict.try_reserve_exact(MAX_DICT).ok()?;
        // SAFETY: `memory` is 8-byte aligned, `len` bytes long, and lives as long as the context,
        // since both are fields of one value and the heap block does not move with it.
        let context = unsafe { sys::ZSTD_initStaticDCtx(memory.start(), memory.len()) };
        Some(ZstdDecoder {
            context: NonNull::new(context)?,
            ddict: None,
            dict,
            digest: Memory::new(digest)?,
            _memory: memory,
        })
    }

    /// Digests `dict` unless it is the one in use.
    fn load(&mut self, dict: &[u8]) -> Option<NonNull<sys::ZSTD_DDict>> {
        if self.ddict.is_some() && self.dict == dict {
            return self.ddict;
        }
        self.ddict = None;
        self.dict.clear();
        if dict.len() > MAX_DICT {
            return None;
        }
        self.dict.extend_from_slice(dict);
        // SAFETY: `digest` is aligned and `len` bytes long; `self.dict` is not touched again before
        // `ddict` is forgotten, and its capacity of MAX_DICT means it never moves.
        let made = unsafe {
            sys::ZSTD_initStaticDDict(
                self.digest.start(),
                self.digest.len(),
                self.dict.as_ptr().cast(),
                self.dict.len(),
                sys::ZSTD_dictLoadMethod_e::ZSTD_dlm_byRef,
                sys::ZSTD_dictContentType_e::ZSTD_dct_auto,
            )
        };
        self.ddict = NonNull::new(made.cast_mut());
        self.ddict
    }

    /// Decompresses all frames of `src` into `out`; returns how many bytes came out, or zstd's error.
    /// `None` means that the dictionary is not usable.
    pub(crate) fn decode(
        &mut self,
        src: &[u8],
        out: &mut Out<'_>,
        dict: &[u8],
    ) -> Option<Result<usize, sys::ZSTD_ErrorCode>> {
        let ddict = if dict.is_empty() { None } else { Some(self.load(dict)?) };
        let (dst, room) = (out.as_mut_ptr().cast(), out.len());
        // SAFETY: the context is live; zstd writes at most `room` bytes to `dst`, reads back only what
        // it wrote, and reads `src.len()` bytes of `src`; `ddict` is live and unchanged.
        let code = unsafe {
            match ddict {
                None => {
                    sys::ZSTD_decompressDCtx(self.context.as_ptr(), dst, room, src.as_ptr().cast(), src.len())
                }
                Some(ddict) => sys::ZSTD_decompress_usingDDict(
                    self.context.as_ptr(),
                    dst,
                    room,
                    src.as_ptr().cast(),
                    src.len(),
                    ddict.as_ptr(),
                ),
            }
        };
        Some(count(code))
    }
}

/// Parameters in place of those of the level; 0 is the level's own.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Tuning {
    pub(crate) hash_log: u8,
    pub(crate) search_log: u8,
    pub(crate) target_length: u16,
    pub(crate) strategy: u8,
    /// Bytes of a zstd block at most; each block has Huffman codes of its own.
    pub(crate) max_block: i32,
}

impl Tuning {
    pub(crate) const LAZY2: u8 = sys::ZSTD_strategy::ZSTD_lazy2 as u8;

    fn parameters(self) -> [(sys::ZSTD_cParameter, i32); 5] {
        use sys::ZSTD_cParameter as P;
        [
            (P::ZSTD_c_hashLog, self.hash_log.into()),
            (P::ZSTD_c_searchLog, self.search_log.into()),
            (P::ZSTD_c_targetLength, self.target_length.into()),
            (P::ZSTD_c_strategy, self.strategy.into()),
            // `ZSTD_c_maxBlockSize`, since zstd 1.5.5.
            (P::ZSTD_c_experimentalParam18, self.max_block),
        ]
    }
}

/// A compression context of one level, large enough for streams of `max_len` bytes.
pub(crate) struct ZstdEncoder {
    context: NonNull<sys::ZSTD_CCtx>,
    level: i32,
    tuning: Tuning,
    max_len: usize,
    /// The dictionary last used.
    dict: Option<EncoderDict>,
    memory: Memory,
}

// SAFETY: no C object in it refers to the thread that made it, and `&mut self` keeps others out; the digested
// dictionary is immutable.
unsafe impl Send for ZstdEncoder {}

impl ZstdEncoder {
    /// Allocates everything that streams of up to `max_len` bytes need at zstd level `level`.
    pub(crate) fn new(level: i32, max_len: usize) -> Option<ZstdEncoder> {
        let max_len = max_len.clamp(1, MAX_STREAM);
        // zstd has four parameter sets per level, by stream size: a smaller stream may need more
        // memory than a larger one, so each set's largest is asked about.
        let mut size = 0;
        for bound in [16 << 10, 128 << 10, 256 << 10, max_len] {
            // SAFETY: this only computes.
            let own = unsafe { sys::ZSTD_getCParams(level, bound.min(max_len) as u64, 0) };
            // A `Tuning` has no larger tables, but may have others.
            for strategy in [own.strategy, sys::ZSTD_strategy::ZSTD_lazy2] {
                let params = sys::ZSTD_compressionParameters { strategy, ..own };
                // SAFETY: this only computes.
                size = size.max(unsafe { sys::ZSTD_estimateCCtxSize_usingCParams(params) });
            }
        }
        // Dictionaries are digested at level 1, whatever the level.
        // SAFETY: this only computes.
        size = size.max(unsafe { sys::ZSTD_estimateCCtxSize(1) });
        let mut memory = Memory::new(size)?;
        let context = start(&mut memory, level)?;
        Some(ZstdEncoder { context, level, tuning: Tuning::default(), max_len, dict: None, memory })
    }

    /// zstd's level.
    pub(crate) fn level(&self) -> i32 {
        self.level
    }

    /// The longest stream this context has memory for.
    pub(crate) fn max_len(&self) -> usize {
        self.max_len
    }

    /// Compresses `src` into one frame, digesting `dict` first if it is a new one. `None` when the
    /// frame does not fit. A dictionary is used with its own parameters, whatever `tuning` says.
    pub(crate) fn encode(
        &mut self,
        src: &[u8],
        dst: &mut [u8],
        dict: &[u8],
        tuning: Tuning,
    ) -> Option<usize> {
        if src.len() > self.max_len {
            return None;
        }
        self.tune(tuning)?;
        if !dict.is_empty() && self.dict.as_ref().is_none_or(|d| d.bytes != dict) {
            self.dict = None;
            self.dict = Some(EncoderDict::new(dict)?);
        }
        match self.run(src, dst, !dict.is_empty()) {
            Ok(n) => Some(n),
            // After many small streams zstd wants to give memory back, which a context in memory of
            // ours cannot: begin anew in the same memory.
            Err(sys::ZSTD_ErrorCode::ZSTD_error_memory_allocation) => {
                self.context = start(&mut self.memory, self.level)?;
                self.tuning = Tuning::default();
                self.tune(tuning)?;
                self.run(src, dst, !dict.is_empty()).ok()
            }
            Err(_) => None,
        }
    }

    /// Sets what differs from the stream before.
    fn tune(&mut self, tuning: Tuning) -> Option<()> {
        if tuning == self.tuning {
            return Some(());
        }
        let session = sys::ZSTD_ResetDirective::ZSTD_reset_session_only;
        // A frame that did not fit is not ended yet, and some parameters are only taken between frames.
        // SAFETY: the context is live.
        count(unsafe { sys::ZSTD_CCtx_reset(self.context.as_ptr(), session) }).ok()?;
        for ((name, value), (_, before)) in tuning.parameters().into_iter().zip(self.tuning.parameters()) {
            if value != before {
                // SAFETY: the context is live, and not within a frame.
                count(unsafe { sys::ZSTD_CCtx_setParameter(self.context.as_ptr(), name, value) }).ok()?;
            }
        }
        self.tuning = tuning;
        Some(())
    }

    fn run(&mut self, src: &[u8], dst: &mut [u8], dict: bool) -> Result<usize, sys::ZSTD_ErrorCode> {
        let (to, room) = (dst.as_mut_ptr().cast(), dst.len());
        let (from, len) = (src.as_ptr().cast(), src.len());
        let context = self.context.as_ptr();
        // SAFETY: the context is live and the only user of its memory; `room` bytes are writable at
        // `to`, `len` readable at `from`, and a unique borrow overlaps no other; the digest is live.
        count(unsafe {
            match &self.dict {
                Some(d) if dict => {
                    sys::ZSTD_compress_usingCDict(context, to, room, from, len, d.digest.as_ptr())
                }
                _ => sys::ZSTD_compress2(context, to, room, from, len),
            }
        })
    }
}

/// A context at the start of `memory`, its level set.
fn start(memory: &mut Memory, level: i32) -> Option<NonNull<sys::ZSTD_CCtx>> {
    use sys::ZSTD_cParameter as P;
    // SAFETY: `memory` is 8-byte aligned, `len` bytes long and owned by the encoder, as is the context;
    // its heap block does not move with the encoder.
    let context = unsafe { sys::ZSTD_initStaticCCtx(memory.start(), memory.len()) };
    let context = NonNull::new(context)?;
    // Long-distance matching would start by itself above 64 MiB and is not in the size estimate;
    // 2 is `ZSTD_ps_disable`.
    for (name, value) in [(P::ZSTD_c_compressionLevel, level), (P::ZSTD_c_enableLongDistanceMatching, 2)] {
        // SAFETY: the context was just made.
        count(unsafe { sys::ZSTD_CCtx_setParameter(context.as_ptr(), name, value) }).ok()?;
    }
    Some(context)
}

/// A digested dictionary beside the bytes it was made from.
struct EncoderDict {
    digest: NonNull<sys::ZSTD_CDict>,
    bytes: Vec<u8>,
}

impl EncoderDict {
    /// Digests `dict` at level 1, as every writer does (docs/formats/chunk.md §6.3). Allocates.
    fn new(dict: &[u8]) -> Option<EncoderDict> {
        // SAFETY: zstd copies the `len` readable bytes of `dict`.
        let digest = unsafe { sys::ZSTD_createCDict(dict.as_ptr().cast(), dict.len(), 1) };
        Some(EncoderDict { digest: NonNull::new(digest)?, bytes: dict.to_vec() })
    }
}

impl Drop for EncoderDict {
    fn drop(&mut self) {
        // SAFETY: made by `ZSTD_createCDict`, freed once.
        unsafe { sys::ZSTD_freeCDict(self.digest.as_ptr()) };
    }
}
