//! The codecs that `zarrs` reads with ours: `blosc` and `blosc2` of Zarr version 3 and of numcodecs, a chunk or a frame of
//! chunks, and those of numcodecs in [`Numcodec`].
//!
//! `frame/adapters/zarrs` has the same codec with encoding, options and partial decoding. It is not used here because what a
//! package on crates.io depends on must be there too, and the adapter is not: it is a workspace of its own, so that the main one
//! needs no `zarrs`. Reading needs only the few lines below.

use super::numcodecs::Numcodec;
use blosc_core::{Chunk, Limits, Pool};
use blosc_frame::SuperChunk;
use blosc_frame::any::Kind;
use std::borrow::Cow;
use std::cell::RefCell;
use std::sync::{Arc, Once};
use zarrs::array::codec::api::{
    BytesToBytesCodecTraits, Codec, CodecError, CodecMetadataOptions, CodecOptions, CodecRuntimePluginV2,
    CodecRuntimePluginV3, CodecTraits, PartialDecoderCapability, PartialEncoderCapability,
    RecommendedConcurrency, register_codec_v2, register_codec_v3,
};
use zarrs::array::{ArrayBytesRaw, BytesRepresentation};
use zarrs::metadata::Configuration;
use zarrs::metadata::v2::MetadataV2;
use zarrs::metadata::v3::MetadataV3;
use zarrs::plugin::{PluginCreateError, ZarrVersion};

/// Codecs before this one may add something to what the array says, such as a checksum.
const SLACK: u64 = 1 << 20;

thread_local! {
    /// Scratch memory and codec contexts. `zarrs` decodes chunks side by side, so each is decoded on one thread.
    static POOL: RefCell<Pool> = RefCell::new(Pool::new(1));
}

/// Has `zarrs` use these codecs for the rest of the process.
pub fn register() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let new = |name: &str, about: &serde_json::Map<String, serde_json::Value>| match Encoded::new(
            name, about,
        ) {
            Ok(codec) => Ok(Codec::BytesToBytes(Arc::new(codec))),
            Err(why) => Err(PluginCreateError::from(why)),
        };
        register_codec_v3(CodecRuntimePluginV3::new(Encoded::is_named, move |metadata: &MetadataV3| {
            let none = Configuration::default();
            new(metadata.name(), metadata.configuration().unwrap_or(&none))
        }));
        register_codec_v2(CodecRuntimePluginV2::new(Encoded::is_named, move |metadata: &MetadataV2| {
            new(metadata.id(), metadata.configuration())
        }));
    });
}

/// What a chunk is.
#[derive(Clone, Copy, Debug)]
enum Encoded {
    /// It says itself how it is encoded, so no configuration is needed.
    Blosc,
    Numcodecs(Numcodec),
}

impl Encoded {
    /// Version 3 has "numcodecs." before the names of numcodecs.
    fn is_named(name: &str) -> bool {
        let name = name.strip_prefix("numcodecs.").unwrap_or(name);
        ["blosc", "blosc2"].contains(&name) || Numcodec::NAMES.contains(&name)
    }

    fn new(name: &str, about: &serde_json::Map<String, serde_json::Value>) -> Result<Encoded, String> {
        let name = name.strip_prefix("numcodecs.").unwrap_or(name);
        Ok(match Numcodec::NAMES.contains(&name) {
            true => Encoded::Numcodecs(Numcodec::new(name, about)?),
            false => Encoded::Blosc,
        })
    }
}

zarrs::plugin::impl_extension_aliases!(Encoded, v3: "blosc", v2: "blosc");

impl CodecTraits for Encoded {
    fn as_any(&self) -> &dyn std::any::Any {
        self
    }

    fn configuration(&self, _: ZarrVersion, _: &CodecMetadataOptions) -> Option<Configuration> {
        None
    }

    fn partial_decoder_capability(&self) -> PartialDecoderCapability {
        PartialDecoderCapability { partial_read: false, partial_decode: false }
    }

    fn partial_encoder_capability(&self) -> PartialEncoderCapability {
        PartialEncoderCapability { partial_encode: false }
    }
}

fn failed(error: impl std::fmt::Display) -> CodecError {
    CodecError::Other(format!("blosc: {error}"))
}

impl BytesToBytesCodecTraits for Encoded {
    fn into_dyn(self: Arc<Self>) -> Arc<dyn BytesToBytesCodecTraits> {
        self
    }

    fn recommended_concurrency(&self, _: &BytesRepresentation) -> Result<RecommendedConcurrency, CodecError> {
        Ok(RecommendedConcurrency::new_maximum(1))
    }

    fn encoded_representation(&self, _: &BytesRepresentation) -> BytesRepresentation {
        BytesRepresentation::UnboundedSize
    }

    fn encode<'a>(&self, _: ArrayBytesRaw<'a>, _: &CodecOptions) -> Result<ArrayBytesRaw<'a>, CodecError> {
        Err(failed("stores are read here, not written"))
    }

    fn decode<'a>(
        &self,
        encoded: ArrayBytesRaw<'a>,
        size: &BytesRepresentation,
        _: &CodecOptions,
    ) -> Result<ArrayBytesRaw<'a>, CodecError> {
        // A header may announce anything: `size` bounds it before memory is reserved.
        let most = match size.size() {
            Some(size) => size.saturating_mul(2).saturating_add(SLACK),
            None => Limits::plausible(encoded.len()),
        };
        if let Encoded::Numcodecs(codec) = self {
            return codec.decode(&encoded, most).map(Cow::Owned).map_err(failed);
        }
        if Kind::of_head(&encoded, None) == Kind::Frame {
            let limits = blosc_frame::Limits::default().output(most).memory(most);
            let frame = SuperChunk::open_read(encoded.into_owned(), &limits);
            return frame.and_then(|frame| frame.read_all()).map(Cow::Owned).map_err(failed);
        }
        let chunk = Chunk::parse_with(&encoded, &Limits::DEFAULT.output(most)).map_err(failed)?;
        POOL.with_borrow_mut(|pool| pool.decompress(&chunk)).map(Cow::Owned).map_err(failed)
    }
}
