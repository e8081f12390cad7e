//! Builds with some of the features: each chunk of the C libraries is read as it was written, or refused by the name of
//! something that the build leaves out. Which features a chunk needs is taken from the manifest of the vectors.

use crate::support::{Vectors, chunk_context, decode, sha256, text};
use blosc_core::{Chunk, Error, Level};
use serde_json::Value;

/// Whether this build has all that a chunk may need.
fn complete(record: &Value) -> bool {
    let codec = match text(record, "codec") {
        "blosclz" => cfg!(feature = "blosclz"),
        "lz4" | "lz4hc" => cfg!(feature = "lz4"),
        "zlib" => cfg!(feature = "zlib"),
        "zstd" => cfg!(feature = "zstd"),
        // The manifest does not tell.
        "" => cfg!(feature = "codecs"),
        // The program's own.
        "user160" => cfg!(feature = "formats"),
        other => panic!("codec {other}"),
    };
    let filters = record["filters"].as_array().into_iter().flatten().map(|id| id.as_u64().unwrap());
    let filter = |id| match id {
        0 | 1 | 4 => true,
        32..=36 => cfg!(feature = "plugins"),
        _ => cfg!(feature = "formats"),
    };
    let [block, item] = ["blocksize", "header_typesize"].map(|field| record[field].as_u64().unwrap());
    // Defect B1 of docs/formats/chunk.md among them.
    let form = record["kind"] == "chunk-vl"
        || record["use_dict"] == true
        || record["doshuffle"] == 2
        // Delta, where the manifest has no filters.
        || record["flags"].as_u64().unwrap() & 8 != 0
        || !block.is_multiple_of(item);
    codec && filters.into_iter().all(filter) && (!form || cfg!(feature = "formats"))
}

#[test]
fn chunks_are_read_or_refused_by_the_name_of_what_is_left_out() {
    for set in Vectors::all() {
        let (mut read, mut refused) = (0, 0);
        for record in set.of_kind(&["chunk", "blosc1", "chunk-vl"]) {
            let (name, bytes) = (text(record, "file"), set.read(record));
            let data =
                Chunk::parse(&bytes).and_then(|chunk| decode(Level::best(), &chunk, chunk_context(record)));
            match data {
                Ok(data) => {
                    assert!(
                        record["uninit"] == true || sha256(&data) == text(record, "decoded_sha256"),
                        "{name}"
                    );
                    read += 1;
                }
                Err(Error::Unsupported(_) | Error::CodecNotBuiltIn(_) | Error::FilterUnknown { .. })
                    if !complete(record) =>
                {
                    refused += 1;
                }
                Err(e) => panic!("{name}: {e}"),
            }
        }
        eprintln!("{}: {read} chunks read, {refused} refused", set.root.display());
        // Some have no stream, whatever made them.
        assert!(read > 10 && (refused > 0) != cfg!(feature = "codecs"));
    }
}
