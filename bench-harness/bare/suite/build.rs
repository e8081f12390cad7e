//! Writes `fixtures.rs` and `frames.rs`: the tables of chunks of `core/tests/fixtures` and frames of
//! `frame/tests/fixtures`, with the hashes that the manifests beside them record.

use serde_json::Value;
use std::error::Error;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::{env, fs};

/// Chunks small enough for the flash of a microcontroller: each codec of libblosc2 and Blosc1, each filter.
const SMALL: &[&str] = &[
    "chunks/i0398_blosclz_l5_t8_n2272_IS",
    "chunks/i0388_blosclz_l5_t8_n3792_TB",
    "chunks/f0349_lz4_l5_t4_n3640_S",
    "chunks/i0466_lz4_l1_t2_n4484_BD",
    "chunks/a0012_lz4hc_l5_t2_n1322_DSY",
    "chunks/i0439_lz4hc_l5_t8_n4792_TB",
    "chunks/i0470_zlib_l5_t5_n2523_SSSSSS",
    "chunks/a0098_zlib_l9_t24_n5005_BY",
    "chunks/i0478_zstd_l5_t1_n953_S",
    "chunks/i0424_zstd_l5_t8_n4296_DS",
    "blosc1/zstd_0050_l5_t7_n1288_s1",
    "blosc1/lz4_0019_l9_t2_n1978_s0",
];

/// Frames for a microcontroller: metalayers of both kinds, special chunks, a filter before the shuffle.
const SMALL_FRAMES: &[&str] =
    &["copy_088.b2frame", "special_051.b2frame", "meta_020.b2frame", "basic_006.b2frame"];

/// Most bytes of a frame, and most decoded bytes of its chunks, that the programs have room for.
const MOST: u64 = 60_000;

type Outcome<T> = Result<T, Box<dyn Error>>;

fn main() -> Outcome<()> {
    let here = env::var("CARGO_MANIFEST_DIR")?;
    let root = Path::new(&here).join("../../..").canonicalize()?;
    let out = env::var("OUT_DIR")?;
    let all = env::var_os("CARGO_FEATURE_ALL").is_some();
    fs::write(Path::new(&out).join("fixtures.rs"), chunks(&root.join("core/tests/fixtures"), all)?)?;
    let frames = root.join("frame/tests/fixtures");
    fs::write(
        Path::new(&out).join("frames.rs"),
        tables_of_frames(&[frames.join("frames"), frames.join("b2nd")], all)?,
    )?;
    Ok(())
}

fn manifest(folder: &Path) -> Outcome<Vec<Value>> {
    println!("cargo:rerun-if-changed={}", folder.display());
    Ok(serde_json::from_str(&fs::read_to_string(folder.join("manifest.json"))?)?)
}

/// Digits of a hash, or of any bytes, in hexadecimal.
fn bytes_of(hex: &str) -> Outcome<Vec<u8>> {
    let pair =
        |k| hex.get(k..k + 2).ok_or("an odd number of digits").map(|digits| u8::from_str_radix(digits, 16));
    (0..hex.len()).step_by(2).map(|k| Ok(pair(k)??)).collect()
}

fn tables_of_frames(folders: &[PathBuf], all: bool) -> Outcome<String> {
    let mut table = String::from("pub static FRAMES: &[Frame] = &[\n");
    for folder in folders {
        for record in manifest(folder)? {
            let (Some(name), Some("frame" | "b2nd")) = (record["file"].as_str(), record["kind"].as_str())
            else {
                continue;
            };
            let hash = record["chunk_sha256"].as_array().is_some() && record["decoded_sha256"].is_string();
            let small =
                record["chunksize"].as_u64() <= Some(MOST) && record["nbytes"].as_u64() <= Some(5 * MOST);
            let offset = record["offset"].as_u64().unwrap_or(0);
            // Codecs and filters of users are no business of a kernel; ndcell and the like need the array's shape.
            let plain = !names_id(&record, 32) && record["codec"] != "ndlz";
            if !(hash
                && small
                && plain
                && offset == 0
                && record["lossy"].is_null()
                && record["uninit"].is_null())
            {
                continue;
            }
            if all || SMALL_FRAMES.contains(&name) {
                let path = folder.join(name);
                writeln!(
                    table,
                    "    Frame {{ name: {name:?}, bytes: include_bytes!({path:?}), sha256: {:?}, metalayers: &{}, vlmetalayers: &{} }},",
                    bytes_of(record["decoded_sha256"].as_str().unwrap_or_default())?,
                    pairs(&record["metalayers"])?,
                    pairs(&record["vlmetalayers"])?,
                )?;
            }
        }
    }
    Ok(table + "];\n")
}

/// A table of names and bytes.
fn pairs(object: &Value) -> Outcome<String> {
    let mut table = String::from("[");
    for (name, content) in object.as_object().into_iter().flatten() {
        write!(table, "({name:?}, &{:?}), ", bytes_of(content.as_str().unwrap_or_default())?)?;
    }
    Ok(table + "]")
}

fn chunks(folder: &Path, all: bool) -> Outcome<String> {
    let manifest = manifest(folder)?;

    let mut valid = String::from("pub static VALID: &[Fixture] = &[\n");
    let mut malformed = String::from("pub static MALFORMED: &[&[u8]] = &[\n");
    for record in &manifest {
        let file = record["file"].as_str().ok_or("a record without a file")?;
        let path = folder.join(file);
        match record["kind"].as_str() {
            Some("malformed-chunk") => writeln!(malformed, "    include_bytes!({path:?}),")?,
            Some("chunk" | "blosc1" | "chunk-vl") => {
                let name = file.trim_end_matches(".chunk");
                let Some(hash) = record["decoded_sha256"].as_str().filter(|_| !names_id(record, 160)) else {
                    continue;
                };
                if all || SMALL.contains(&name) {
                    let typesize = record["typesize"].as_u64().unwrap_or(0);
                    let sha256 = bytes_of(hash)?;
                    writeln!(
                        valid,
                        "    Fixture {{ name: {name:?}, bytes: include_bytes!({path:?}), typesize: {typesize}, sha256: {sha256:?} }},"
                    )?;
                }
            }
            _ => {}
        }
    }
    valid.push_str("];\n");
    malformed.push_str("];\n");
    Ok(valid + &malformed)
}

/// Whether a user's codec, or a filter of `id` or above, is needed.
fn names_id(record: &Value, id: u64) -> bool {
    let filters = record["filters"].as_array();
    record["codec"].to_string().contains("user")
        || filters.into_iter().flatten().any(|f| f.as_u64() >= Some(id))
}
