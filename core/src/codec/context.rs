//! Contexts of the codecs that need memory of their own on hosts: C zstd, and zlib-rs to encode at levels 2 to 5.
//!
//! A context is allocated when it is made; decoding and encoding with it never allocates again, with
//! one exception that is inherent: a new dictionary to *compress* with is digested by zstd. Without
//! the features `std` and `zstd-c` both types are empty and cost nothing.

use crate::codec::id::Codec;

/// What decoding can reuse from stream to stream. An empty one is always valid: streams are then
/// expanded by this crate's own decoders, in the caller's scratch.
// One word: it is moved into the decoder of every chunk and back.
pub struct DecodeContext {
    #[cfg(feature = "zstd-c")]
    pub(crate) zstd: Option<alloc::boxed::Box<crate::arch::c::zstd::ZstdDecoder>>,
}

impl DecodeContext {
    /// No memory at all: every codec is decoded by the crate's own code.
    pub const fn empty() -> DecodeContext {
        DecodeContext {
            #[cfg(feature = "zstd-c")]
            zstd: None,
        }
    }

    /// A context for every codec of this build.
    pub fn new() -> DecodeContext {
        DecodeContext::for_codec(Codec::Zstd)
    }

    /// The context for streams of `codec`; empty for codecs that need none.
    pub fn for_codec(codec: Codec) -> DecodeContext {
        let mut made = DecodeContext::empty();
        made.prepare(codec);
        made
    }

    /// Whether streams of `codec` are expanded with a context in this build.
    pub const fn serves(codec: Codec) -> bool {
        match codec {
            #[cfg(feature = "zstd-c")]
            Codec::Zstd => true,
            _ => false,
        }
    }

    /// Whether this context serves streams of `codec`.
    pub fn has(&self, codec: Codec) -> bool {
        match codec {
            #[cfg(feature = "zstd-c")]
            Codec::Zstd => self.zstd.is_some(),
            _ => false,
        }
    }

    /// Adds what `codec` needs; allocates the first time for each codec.
    pub fn prepare(&mut self, codec: Codec) {
        match codec {
            #[cfg(feature = "zstd-c")]
            Codec::Zstd if self.zstd.is_none() => {
                self.zstd = crate::arch::c::zstd::ZstdDecoder::new().map(alloc::boxed::Box::new);
            }
            _ => {}
        }
    }
}

impl Default for DecodeContext {
    fn default() -> Self {
        DecodeContext::new()
    }
}

/// What encoding needs beyond scratch memory.
pub struct EncodeContext {
    #[cfg(feature = "zstd-c")]
    pub(crate) zstd: Option<crate::arch::c::zstd::ZstdEncoder>,
    #[cfg(all(feature = "std", feature = "zlib"))]
    pub(crate) zlib: Option<alloc::boxed::Box<zlib_rs::Deflate>>,
}

impl EncodeContext {
    /// No memory at all: enough for BloscLZ, LZ4, LZ4HC and Snappy, and for zlib above level 5 or without `std`.
    pub const fn empty() -> EncodeContext {
        EncodeContext {
            #[cfg(feature = "zstd-c")]
            zstd: None,
            #[cfg(all(feature = "std", feature = "zlib"))]
            zlib: None,
        }
    }

    /// The context for streams of at most `max_len` bytes at chunk level `level` (1 ..= 9). `None` when
    /// this build cannot encode `codec`, or memory is short.
    pub fn for_codec(codec: Codec, level: u8, max_len: usize) -> Option<EncodeContext> {
        let _ = (level, max_len);
        #[allow(unused_mut)]
        let mut made = EncodeContext::empty();
        let built_in = match codec {
            Codec::BloscLz => cfg!(feature = "blosclz"),
            Codec::Lz4 | Codec::Lz4Hc => cfg!(feature = "lz4"),
            #[cfg(all(feature = "std", feature = "zlib"))]
            Codec::Zlib if super::zlib::encoders::needs_library(level) => {
                made.zlib = Some(alloc::boxed::Box::new(super::zlib::encoders::library(level)));
                true
            }
            Codec::Zlib => cfg!(feature = "zlib"),
            Codec::Snappy => cfg!(feature = "snappy"),
            #[cfg(feature = "zstd-c")]
            Codec::Zstd => {
                let level = super::zstd::levels::library_level(level);
                made.zstd = Some(crate::arch::c::zstd::ZstdEncoder::new(level, max_len)?);
                true
            }
            _ => false,
        };
        built_in.then_some(made)
    }

    /// The longest stream this context can encode; `usize::MAX` where it makes no difference.
    pub fn max_len(&self) -> usize {
        #[cfg(feature = "zstd-c")]
        if let Some(zstd) = &self.zstd {
            return zstd.max_len();
        }
        usize::MAX
    }
}
