//! The partial decoder, range by range, beside the whole chunk.

use blosc_zarrs::BloscCodec;
use std::borrow::Cow;
use std::sync::Arc;
use zarrs::array::BytesRepresentation;
use zarrs::array::codec::api::{BytesToBytesCodecTraits, CodecMetadataOptions, CodecOptions, CodecTraits};
use zarrs::metadata_ext::codec::blosc::BloscCodecConfigurationV1;
use zarrs::plugin::ZarrVersion;
use zarrs::storage::byte_range::ByteRange;

fn codec(text: &str) -> Result<BloscCodec, String> {
    let configuration: BloscCodecConfigurationV1 =
        serde_json::from_str(text).map_err(|error| error.to_string())?;
    BloscCodec::new(&configuration).map_err(|error| error.to_string())
}

fn data() -> Vec<u8> {
    (0..50_000u32).flat_map(|n| (n / 5).to_le_bytes()).collect()
}

#[test]
fn ranges_of_every_kind() {
    let data = data();
    let size = BytesRepresentation::FixedSize(data.len() as u64);
    let options = CodecOptions::default();
    let len = data.len() as u64;
    let lists: [&[ByteRange]; 7] = [
        &[],
        &[ByteRange::FromStart(0, None)],
        &[ByteRange::FromStart(77, Some(0)), ByteRange::FromStart(4095, Some(2)), ByteRange::Suffix(3)],
        &[ByteRange::FromStart(len, None), ByteRange::FromStart(5, Some(20_000))],
        &[
            ByteRange::FromStart(100_000, Some(10)),
            ByteRange::FromStart(7, Some(9)),
            ByteRange::FromStart(8, Some(9)),
        ],
        &[ByteRange::FromStart(1, Some(len - 2)), ByteRange::FromStart(2, Some(5))],
        &[ByteRange::Suffix(len), ByteRange::Suffix(0)],
    ];
    for shuffle in ["noshuffle", "shuffle", "bitshuffle"] {
        for (cname, level) in [("lz4", 5), ("blosclz", 9), ("zlib", 1), ("lz4", 0)] {
            let text = format!(
                r#"{{"cname": "{cname}", "clevel": {level}, "shuffle": "{shuffle}", "typesize": 4, "blocksize": 4096}}"#
            );
            let codec = Arc::new(codec(&text).unwrap());
            let encoded = codec.encode(Cow::Borrowed(&data), &options).unwrap().into_owned();
            assert_eq!(codec.decode(Cow::Borrowed(&encoded), &size, &options).unwrap(), data);
            let input: Arc<Cow<'static, [u8]>> = Arc::new(Cow::Owned(encoded));
            let partial = codec.partial_decoder(input, &size, &options).unwrap();
            for ranges in lists {
                let got =
                    partial.partial_decode_many(Box::new(ranges.iter().copied()), &options).unwrap().unwrap();
                assert_eq!(got.len(), ranges.len());
                for (part, range) in got.iter().zip(ranges) {
                    let range = range.start(len) as usize..range.end(len) as usize;
                    assert_eq!(&part[..], &data[range]);
                }
            }
            for outside in [ByteRange::FromStart(len - 1, Some(2)), ByteRange::Suffix(len + 1)] {
                assert!(partial.partial_decode(outside, &options).is_err());
            }
        }
    }
}

#[test]
fn configurations() {
    let text = r#"{"cname":"lz4","clevel":5,"shuffle":"shuffle","typesize":4,"blocksize":0}"#;
    let written = codec(text).unwrap();
    let options = CodecMetadataOptions::default();
    let json = |version| {
        let configuration = written.configuration(version, &options).unwrap();
        serde_json::from_str::<serde_json::Value>(&serde_json::to_string(&configuration).unwrap()).unwrap()
    };
    assert_eq!(json(ZarrVersion::V3), serde_json::from_str::<serde_json::Value>(text).unwrap());
    assert_eq!(json(ZarrVersion::V2)["shuffle"], 1);
    for (bad, why) in [
        (r#"{"cname":"lz4","clevel":10,"shuffle":"shuffle","typesize":4,"blocksize":0}"#, "clevel"),
        (r#"{"cname":"lz5","clevel":1,"shuffle":"shuffle","typesize":4,"blocksize":0}"#, "lz5"),
        (r#"{"cname":"lz4","clevel":1,"shuffle":"shuffle","typesize":0,"blocksize":0}"#, "typesize"),
        (
            r#"{"cname":"lz4","clevel":1,"shuffle":"shuffle","typesize":4,"blocksize":4294967296}"#,
            "blocksize",
        ),
    ] {
        let error = codec(bad).unwrap_err();
        assert!(error.contains(why), "{error}");
    }
}

/// Announced sizes are bounded before memory is reserved.
#[test]
fn the_size_of_a_representation_is_a_bound() {
    let small = codec(r#"{"cname":"lz4","clevel":5,"shuffle":"noshuffle","blocksize":0}"#).unwrap();
    let options = CodecOptions::default();
    let many = small.encode(Cow::Owned(vec![0; 4 << 20]), &options).unwrap().into_owned();
    assert!(small.decode(Cow::Borrowed(&many), &BytesRepresentation::FixedSize(1000), &options).is_err());
    assert!(small.decode(Cow::Borrowed(&many), &BytesRepresentation::UnboundedSize, &options).is_ok());
}

#[test]
fn chunks_are_cut_as_c_blosc_cuts_them() {
    // Block sizes of numcodecs 0.16.6 for a mebibyte of items of 4 bytes.
    for (cname, level, shuffle, asked, want) in [
        ("lz4", 5, "shuffle", 0, 524_288u32),
        ("lz4", 9, "noshuffle", 0, 1_048_576),
        ("zlib", 1, "shuffle", 0, 131_072),
        ("zlib", 5, "bitshuffle", 0, 1_048_576),
        ("zstd", 9, "shuffle", 0, 1_048_576),
        ("blosclz", 3, "shuffle", 4096, 65_536),
        ("lz4hc", 2, "shuffle", 100, 128),
    ] {
        let text = format!(
            r#"{{"cname":"{cname}","clevel":{level},"shuffle":"{shuffle}","typesize":4,"blocksize":{asked}}}"#
        );
        let data: Vec<u8> = (0..1u32 << 18).flat_map(|n| (n / 4).to_le_bytes()).collect();
        let chunk = codec(&text).unwrap().encode(Cow::Owned(data), &CodecOptions::default()).unwrap();
        assert_eq!(blosc_core::Header::parse(&chunk).unwrap().blocksize, want, "{text}");
    }
}
