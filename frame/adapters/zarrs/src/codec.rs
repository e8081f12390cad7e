//! [`BloscCodec`]: configuration, encoding and decoding of whole chunks.
//!
//! `frame/cli/src/readers/engines/zarr/codec.rs` is a smaller one for the command line, which reads stores only. It does not
//! depend on this package, since it is published on crates.io and this one is not.

use crate::partial::Partial;
use blosc_core::{Chunk, Codec as Inner, Limits, Params, Pool};
use std::borrow::Cow;
use std::cell::RefCell;
use std::sync::Arc;
use zarrs::array::codec::api::{
    BytesPartialDecoderTraits, BytesToBytesCodecTraits, Codec, CodecError, CodecMetadataOptions,
    CodecOptions, CodecTraits, CodecTraitsV2, CodecTraitsV3, PartialDecoderCapability,
    PartialEncoderCapability, RecommendedConcurrency,
};
use zarrs::array::{ArrayBytesRaw, BytesRepresentation};
use zarrs::metadata::Configuration;
use zarrs::metadata::v2::MetadataV2;
use zarrs::metadata::v3::MetadataV3;
use zarrs::metadata_ext::codec::blosc::{
    BloscCodecConfigurationNumcodecs, BloscCodecConfigurationV1, BloscCompressor, BloscShuffleMode,
    BloscShuffleModeNumcodecs,
};
use zarrs::plugin::{PluginCreateError, ZarrVersion};

/// Codecs before this one may add something to what the array says, such as a checksum.
const SLACK: u64 = 1 << 20;

thread_local! {
    /// Scratch memory and codec contexts. `zarrs` decodes chunks side by side, so each is decoded on one thread.
    static POOL: RefCell<Pool> = RefCell::new(Pool::new(1));
}

/// Runs `work` with this thread's pool.
pub(crate) fn with_pool<T>(
    work: impl FnOnce(&mut Pool) -> Result<T, blosc_core::Error>,
) -> Result<T, CodecError> {
    POOL.with_borrow_mut(work).map_err(failed)
}

pub(crate) fn failed(error: blosc_core::Error) -> CodecError {
    CodecError::Other(format!("blosc: {error}"))
}

/// The chunk in `bytes`. A header may announce anything: `size` bounds it before memory is reserved.
pub(crate) fn parse<'a>(bytes: &'a [u8], size: &BytesRepresentation) -> Result<Chunk<'a>, CodecError> {
    let output = match size.size() {
        Some(size) => size.saturating_mul(2).saturating_add(SLACK),
        None => Limits::plausible(bytes.len()),
    };
    Chunk::parse_with(bytes, &Limits::DEFAULT.output(output)).map_err(failed)
}

/// The codec `blosc` of Zarr version 3, and of numcodecs in version 2.
#[derive(Clone, Debug)]
pub struct BloscCodec {
    configuration: BloscCodecConfigurationV1,
    params: Params,
}

zarrs::plugin::impl_extension_aliases!(BloscCodec, v3: "blosc", v2: "blosc");

impl BloscCodec {
    /// A codec of this configuration. Without an item size, `shuffle` counts items of one byte.
    ///
    /// # Errors
    /// A codec that this build does not write, or an item or block size that no chunk can have.
    pub fn new(configuration: &BloscCodecConfigurationV1) -> Result<BloscCodec, PluginCreateError> {
        let refused = |why: String| PluginCreateError::from(why);
        let codec = match configuration.cname {
            BloscCompressor::BloscLZ => Inner::BloscLz,
            BloscCompressor::LZ4 => Inner::Lz4,
            BloscCompressor::LZ4HC => Inner::Lz4Hc,
            BloscCompressor::Snappy => Inner::Snappy,
            BloscCompressor::Zlib => Inner::Zlib,
            BloscCompressor::Zstd => Inner::Zstd,
        };
        if configuration.typesize == Some(0) {
            return Err(refused("blosc: typesize must be 1 or more".into()));
        }
        // Blosc1 has one byte for the item size; what is larger is not shuffled.
        let typesize = u32::try_from(configuration.typesize.unwrap_or(1)).unwrap_or(u32::MAX);
        let params = Params::new(if typesize > 255 { 1 } else { typesize });
        let params = params.codec(codec).level(configuration.clevel.into());
        let params = match configuration.shuffle {
            BloscShuffleMode::NoShuffle => params.no_filter(),
            BloscShuffleMode::Shuffle => params.shuffle(),
            BloscShuffleMode::BitShuffle => params.bitshuffle(),
        };
        let blocksize = match configuration.blocksize {
            0 => None,
            size => Some(
                u32::try_from(size).map_err(|_| refused(format!("blosc: blocksize {size} is too large")))?,
            ),
        };
        let params = params.blocksize(blocksize);
        params.blosc1(true).check().map_err(|error| refused(format!("blosc: {error}")))?;
        Ok(BloscCodec { configuration: configuration.clone(), params })
    }
}

impl CodecTraitsV3 for BloscCodec {
    fn create(metadata: &MetadataV3) -> Result<Codec, PluginCreateError> {
        let configuration: BloscCodecConfigurationV1 = metadata.to_typed_configuration()?;
        Ok(BloscCodec::new(&configuration)?.into())
    }
}

impl CodecTraitsV2 for BloscCodec {
    /// Metadata of version 2 need not name the item size, and `zarrs` tells the data type to its own codec only. It is
    /// in the chunks, so reading needs none; writing without it shuffles items of one byte, which changes nothing.
    fn create(metadata: &MetadataV2) -> Result<Codec, PluginCreateError> {
        let configuration: BloscCodecConfigurationNumcodecs = metadata.to_typed_configuration()?;
        let named = metadata.configuration().get("typesize").and_then(|value| value.as_u64());
        let typesize = named.and_then(|size| usize::try_from(size).ok());
        let shuffle = match configuration.shuffle {
            BloscShuffleModeNumcodecs::NoShuffle => BloscShuffleMode::NoShuffle,
            BloscShuffleModeNumcodecs::Shuffle => BloscShuffleMode::Shuffle,
            BloscShuffleModeNumcodecs::BitShuffle => BloscShuffleMode::BitShuffle,
            BloscShuffleModeNumcodecs::AutoShuffle if typesize == Some(1) => BloscShuffleMode::BitShuffle,
            BloscShuffleModeNumcodecs::AutoShuffle => BloscShuffleMode::Shuffle,
        };
        let BloscCodecConfigurationNumcodecs { cname, clevel, blocksize, .. } = configuration;
        Ok(BloscCodec::new(&BloscCodecConfigurationV1 { cname, clevel, shuffle, typesize, blocksize })?
            .into())
    }
}

impl CodecTraits for BloscCodec {
    fn as_any(&self) -> &dyn std::any::Any {
        self
    }

    fn configuration(&self, version: ZarrVersion, _: &CodecMetadataOptions) -> Option<Configuration> {
        let configuration = serde_json::to_value(&self.configuration).ok()?;
        let mut fields = configuration.as_object()?.clone();
        if version == ZarrVersion::V2 {
            let number: i8 = match self.configuration.shuffle {
                BloscShuffleMode::NoShuffle => 0,
                BloscShuffleMode::Shuffle => 1,
                BloscShuffleMode::BitShuffle => 2,
            };
            fields.insert("shuffle".into(), number.into());
        }
        serde_json::from_value(fields.into()).ok()
    }

    /// A part is decoded from the encoded chunk as a whole, which `zarrs` keeps between parts.
    fn partial_decoder_capability(&self) -> PartialDecoderCapability {
        PartialDecoderCapability { partial_read: false, partial_decode: true }
    }

    fn partial_encoder_capability(&self) -> PartialEncoderCapability {
        PartialEncoderCapability { partial_encode: false }
    }
}

impl BytesToBytesCodecTraits for BloscCodec {
    fn into_dyn(self: Arc<Self>) -> Arc<dyn BytesToBytesCodecTraits> {
        self
    }

    fn recommended_concurrency(&self, _: &BytesRepresentation) -> Result<RecommendedConcurrency, CodecError> {
        Ok(RecommendedConcurrency::new_maximum(1))
    }

    fn encoded_representation(&self, decoded: &BytesRepresentation) -> BytesRepresentation {
        let most = |size: u64| {
            let size = usize::try_from(size).unwrap_or(usize::MAX);
            BytesRepresentation::BoundedSize(blosc_core::max_encoded_len(size) as u64)
        };
        decoded.size().map_or(BytesRepresentation::UnboundedSize, most)
    }

    fn encode<'a>(
        &self,
        decoded: ArrayBytesRaw<'a>,
        _: &CodecOptions,
    ) -> Result<ArrayBytesRaw<'a>, CodecError> {
        let params = self.params.c_blosc(decoded.len());
        Ok(Cow::Owned(with_pool(|pool| pool.compress(&params, &decoded))?))
    }

    fn decode<'a>(
        &self,
        encoded: ArrayBytesRaw<'a>,
        size: &BytesRepresentation,
        _: &CodecOptions,
    ) -> Result<ArrayBytesRaw<'a>, CodecError> {
        let chunk = parse(&encoded, size)?;
        Ok(Cow::Owned(with_pool(|pool| pool.decompress(&chunk))?))
    }

    fn partial_decoder(
        self: Arc<Self>,
        input: Arc<dyn BytesPartialDecoderTraits>,
        size: &BytesRepresentation,
        _: &CodecOptions,
    ) -> Result<Arc<dyn BytesPartialDecoderTraits>, CodecError> {
        Ok(Arc::new(Partial::new(input, *size)))
    }
}
