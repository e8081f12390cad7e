#![doc = include_str!("../README.md")]

mod codec;
mod partial;

pub use codec::BloscCodec;

use zarrs::array::codec::api::{
    Codec, CodecRuntimePluginV2, CodecRuntimePluginV3, CodecTraitsV2, CodecTraitsV3, register_codec_v2,
    register_codec_v3,
};

/// Has `zarrs` use [`BloscCodec`] wherever metadata names the codec `blosc`, before any codec that was compiled in.
/// It holds for the process; a second call changes nothing.
///
/// With feature `blosc`, `zarrs` takes its own codec for arrays of Zarr version 2, whatever is registered: leave that
/// feature out.
pub fn register() {
    static ONCE: std::sync::Once = std::sync::Once::new();
    ONCE.call_once(|| {
        let create_v3 = <BloscCodec as CodecTraitsV3>::create;
        let create_v2 = <BloscCodec as CodecTraitsV2>::create;
        register_codec_v3(CodecRuntimePluginV3::new(|name| name == "blosc", create_v3));
        register_codec_v2(CodecRuntimePluginV2::new(|id| id == "blosc", create_v2));
    });
}

/// A codec that `zarrs` takes where it takes any.
impl From<BloscCodec> for Codec {
    fn from(codec: BloscCodec) -> Codec {
        Codec::BytesToBytes(std::sync::Arc::new(codec))
    }
}
