//! The vectors of the codec that `docs/formats/zarr-blosc2` proposes: their codec objects keep to its schema, and their chunks
//! say what these say and decode to what is listed.

use blosc_core::{Chunk, Codec};
use serde_json::Value;

fn json(name: &str) -> Value {
    let path = blosc_fuzz::folder().join("../docs/formats/zarr-blosc2").join(name);
    serde_json::from_slice(&std::fs::read(path).expect(name)).expect(name)
}

/// Whether `value` is what `schema` describes, by the words of it that this schema uses.
fn fits(schema: &Value, value: &Value) -> bool {
    let number = |name: &str| schema[name].as_i64();
    let typed = match schema["type"].as_str() {
        Some("integer") => value.as_i64().is_some_and(|n| {
            number("minimum").is_none_or(|least| n >= least) && number("maximum").is_none_or(|most| n <= most)
        }),
        Some("array") => value.as_array().is_some_and(|list| {
            list.len() as i64 <= number("maxItems").unwrap_or(i64::MAX)
                && list.iter().all(|item| fits(&schema["items"], item))
        }),
        Some("object") => value.as_object().is_some_and(|members| {
            let required = schema["required"].as_array().expect("required members");
            required.iter().all(|name| members.contains_key(name.as_str().expect("a name")))
                && members.iter().all(|(name, member)| {
                    schema["properties"].get(name).is_some_and(|schema| fits(schema, member))
                })
        }),
        _ => true,
    };
    let allowed = schema["enum"].as_array().is_none_or(|all| all.contains(value));
    typed && allowed && schema.get("const").is_none_or(|only| only == value)
}

fn bytes(text: &Value) -> Vec<u8> {
    let text = text.as_str().expect("bytes as hex");
    (0..text.len() / 2).map(|k| u8::from_str_radix(&text[2 * k..][..2], 16).expect("hex")).collect()
}

#[test]
fn vectors_are_what_the_codec_says() {
    let (schema, vectors) = (json("schema.json"), json("vectors.json"));
    let codecs = ["blosclz", "lz4", "lz4hc", "zlib", "zstd"];
    for vector in vectors.as_array().expect("a list") {
        let (title, codec) = (&vector["title"], &vector["codec"]);
        assert!(fits(&schema, codec), "{title}: {codec}");
        let about = &codec["configuration"];
        let encoded = bytes(&vector["encoded"]);
        let chunk = Chunk::parse(&encoded).expect("a chunk");
        let decoded = blosc_core::decompress(&encoded).expect("a chunk that decodes");
        assert_eq!(decoded, bytes(&vector["decoded"]), "{title}");
        let header = chunk.header();
        assert_eq!((header.version, header.cbytes as usize), (5, encoded.len()), "{title}");
        assert_eq!(about["typesize"], header.typesize, "{title}");
        // Where nothing is compressed, the header need not name codec and filters.
        if !header.has_streams() || decoded.is_empty() {
            continue;
        }
        let same = |name: &str| match header.codec {
            Codec::Lz4 | Codec::Lz4Hc => name.starts_with("lz4"),
            codec => codec.name() == name,
        };
        let name = about["cname"].as_str().expect("a codec");
        assert!(codecs.contains(&name) && same(name), "{title}: {:?}", header.codec);
        let filters = about["filters"].as_array().cloned().unwrap_or_default();
        for (slot, filter) in header.filters.iter().rev().zip(filters.iter().rev()) {
            assert_eq!(filter["name"], slot.filter.name(), "{title}");
            assert_eq!(filter["meta"].as_i64().unwrap_or(0), i64::from(slot.meta), "{title}");
        }
    }
    // The schema refuses other configurations.
    let with = |name: &str, value: Value| {
        let mut codec = vectors[0]["codec"].clone();
        codec["configuration"][name] = value;
        fits(&schema, &codec)
    };
    assert!(with("clevel", 9.into()) && !with("clevel", 10.into()) && !with("cname", "snappy".into()));
    assert!(!with("shuffle", 1.into()) && !with("filters", serde_json::json!([{ "meta": 1 }])));
}

/// The example of the text is the first vector.
#[test]
fn the_example_is_a_vector() {
    let text = include_str!("../../../docs/formats/zarr-blosc2/README.md");
    let block = text.split("```text\n").nth(1).and_then(|rest| rest.split("```").next()).expect("an example");
    let is_byte = |word: &&str| word.len() == 2 && word.bytes().all(|b| b.is_ascii_hexdigit());
    let words = block.lines().flat_map(|line| line.split(' ').take_while(is_byte).collect::<Vec<_>>());
    let vectors = json("vectors.json");
    assert_eq!(words.collect::<String>(), vectors[0]["encoded"].as_str().expect("bytes as hex"));
}
