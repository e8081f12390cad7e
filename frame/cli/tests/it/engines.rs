//! Zarr stores and HDF5 files. `tests/engines/make.py` wrote those in `tests/engines/fixtures`; where
//! `BLOSC_ADAPTERS_PYTHON` names a Python that has zarr, h5py, hdf5plugin and tables, it writes many more.

use crate::common::Folder;
use std::path::Path;

fn fixtures() -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/engines/fixtures")
}

/// A zip file of the store `from`, as zarr writes it: members without compression, or with it.
fn zipped(from: &Path, to: &Path, method: zip::CompressionMethod) {
    let mut archive = zip::ZipWriter::new(std::fs::File::create(to).unwrap());
    let mut folders = vec![from.to_path_buf()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            let name = path.strip_prefix(from).unwrap().to_str().unwrap().replace('\\', "/");
            let options = zip::write::SimpleFileOptions::default().compression_method(method);
            archive.start_file(name, options).unwrap();
            std::io::Write::write_all(&mut archive, &std::fs::read(path).unwrap()).unwrap();
        }
    }
    archive.finish().unwrap();
}

/// Without the feature, a zipped store says what it is, too, whatever its name.
#[test]
#[cfg(not(feature = "zarr"))]
fn the_feature_is_named_for_zip_files() {
    let folder = Folder::new("engines_zip_off");
    for store in ["v2.zarr", "v3.zarr"] {
        zipped(&fixtures().join(store), &folder.path("a.zip"), zip::CompressionMethod::Stored);
        for words in [&["info", "a.zip"][..], &["ls", "a.zip"], &["decompress", "a.zip:/lz4", "-o", "x.npy"]]
        {
            let (status, text) = folder.fail(words);
            assert!(
                status == 1 && text.contains("a Zarr store in a zip file") && text.contains("feature zarr"),
                "{text}"
            );
        }
    }
}

/// Without the features, a store says what it is, and what reads it.
#[test]
#[cfg(not(all(feature = "zarr", feature = "hdf5")))]
fn the_feature_is_named() {
    let folder = Folder::new("engines_off");
    let (zarr, hdf5) = (cfg!(feature = "zarr"), cfg!(feature = "hdf5"));
    for (store, says, on) in [
        ("v2.zarr", "feature zarr", zarr),
        ("v3.zarr", "feature zarr", zarr),
        ("h5py.h5", "feature hdf5", hdf5),
    ] {
        let path = fixtures().join(store);
        let (status, text) = match on {
            true => continue,
            false => folder.fail(&["info", path.to_str().unwrap()]),
        };
        assert!(status == 1 && text.contains(says), "{store}: {text}");
    }
}

#[cfg(all(feature = "zarr", feature = "hdf5"))]
mod on {
    use super::*;
    use crate::common::json;
    use serde_json::Value;

    /// What each array beside a store holds, and a part of it. Gives the number of arrays compared.
    fn compare(folder: &Folder, root: &Path) -> usize {
        let mut compared = 0;
        for entry in std::fs::read_dir(root).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().to_str().unwrap();
            let Some(stem) = name.strip_suffix(".npy") else { continue };
            let (leaves, part) = stem.strip_suffix(".part").map_or((stem, false), |leaves| (leaves, true));
            let want = std::fs::read(&path).unwrap();
            for leaf in leaves.split(',') {
                let (store, key) = leaf.split_once('@').unwrap();
                let leaf = format!("{}:/{}", root.join(store).display(), key.replace('+', "/"));
                let words = match part {
                    true => vec!["slice", &leaf, "--start", "3,2", "--stop=-1,-1", "--step=-2,3"],
                    false => vec!["decompress", &leaf],
                };
                folder.run(&[&words[..], &["-o", "out.npy", "--force"]].concat());
                assert!(folder.read("out.npy") == want, "{leaf}: {name}");
                let report = json(&folder.run(&["info", &leaf, "--json"]));
                assert!(report["shape"].is_array() && report.get("problem").is_none(), "{report}");
                if !part {
                    folder.run(&["verify", &leaf]);
                }
                compared += 1;
            }
        }
        compared
    }

    #[test]
    fn items_are_those_that_were_written() {
        assert_eq!(compare(&Folder::new("engines_items"), &fixtures()), 18);
    }

    /// Versions, codecs, data types, chunk indexes and filters that the small stores have not.
    #[test]
    fn python_writes_and_this_reads() {
        let Some(python) = std::env::var_os("BLOSC_ADAPTERS_PYTHON") else {
            eprintln!("SKIPPED python_writes_and_this_reads: BLOSC_ADAPTERS_PYTHON is not set");
            return;
        };
        let folder = Folder::new("engines_python");
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/engines/make.py");
        let made = std::process::Command::new(python).arg(script).arg(folder.path("all")).status().unwrap();
        assert!(made.success());
        let compared = compare(&folder, &folder.path("all"));
        assert!(compared > 80, "{compared}");
        for store in ["v2.zarr", "v3.zarr", "h5py.h5", "newer.h5", "tables.h5"] {
            let path = folder.path("all").join(store);
            let entries = json(&folder.run(&["ls", path.to_str().unwrap(), "--json"]));
            let entries = entries["entries"].as_array().unwrap();
            assert!(
                entries.len() > 5 && entries.iter().all(|entry| entry["info"].is_object()),
                "{entries:?}"
            );
        }
    }

    /// A zip file of a store gives what its directory gives.
    #[test]
    fn zip_files_are_read_as_directories_are() {
        let folder = Folder::new("engines_zip");
        for store in ["v2.zarr", "v3.zarr"] {
            let directory = fixtures().join(store);
            zipped(&directory, &folder.path("a.zarr.zip"), zip::CompressionMethod::Stored);
            let listed = |path: &str| json(&folder.run(&["ls", path, "--json"]))["entries"].clone();
            assert_eq!(listed("a.zarr.zip"), listed(directory.to_str().unwrap()));
            let leaf = if store == "v2.zarr" { ":/g/lz4" } else { ":/g/sharded" };
            for words in [&["decompress"][..], &["slice", "--start", "3,2", "--stop=-1,-1", "--step=-2,3"]] {
                let read = |path: &str| {
                    let name = format!("{path}{leaf}");
                    folder.run(&[&[words[0], &name, "-o", "-"], &words[1..]].concat())
                };
                assert!(read("a.zarr.zip") == read(directory.to_str().unwrap()), "{store} {words:?}");
            }
            folder.run(&["verify", &format!("a.zarr.zip{leaf}")]);
            let (status, text) = folder.fail(&["info", "a.zarr.zip:/none"]);
            assert!(status == 1 && text.contains("has no array /none"), "{text}");
            zipped(&directory, &folder.path("a.zip"), zip::CompressionMethod::Deflated);
            let (status, text) = folder.fail(&["ls", "a.zip"]);
            assert!(status == 1 && text.contains("is deflated"), "{text}");
        }
        // An array alone, and damage.
        zipped(&fixtures().join("v3.zarr/lz4"), &folder.path("one.zip"), zip::CompressionMethod::Stored);
        folder.run(&["decompress", "one.zip", "-o", "one.npy"]);
        let want = std::fs::read(fixtures().join("h5py.h5@lz4,v2.zarr@g+lz4,v3.zarr@lz4.npy")).unwrap();
        assert!(folder.read("one.npy") == want);
        let whole = folder.read("one.zip");
        for at in (0..whole.len()).step_by(13) {
            let mut damaged = whole.clone();
            damaged[at] ^= 0x55;
            folder.write("damaged.zip", &damaged);
            let (status, _, text) = folder.status(&["verify", "damaged.zip"], &[]);
            assert!((0..=3).contains(&status) && !text.contains("panicked"), "byte {at}: {status} {text}");
        }
    }

    fn report(folder: &Folder, leaf: &str) -> Value {
        let path = fixtures().join(leaf);
        json(&folder.run(&["info", path.to_str().unwrap(), "--json"]))
    }

    /// Codec, level, shuffle and block size are told, as each format stores them.
    #[test]
    fn settings_are_told() {
        let folder = Folder::new("engines_settings");
        let all = ["codec", "level", "shuffle", "blocksize", "chunks", "nbytes"];
        for store in ["v3.zarr:/lz4", "v2.zarr:/g/lz4"] {
            let report = report(&folder, store);
            let found: Vec<String> = all.iter().map(|name| report[name].to_string()).collect();
            assert_eq!(found, ["\"lz4\"", "5", "1", "128", "[9,6]", "1120"], "{store}");
            assert!(report["cbytes"].as_u64().is_some_and(|size| size > 500), "{report}");
        }
        let sharded = report(&folder, "v3.zarr:/g/sharded");
        assert_eq!(sharded["shards"].to_string() + &sharded["chunks"].to_string(), "[10,7][5,7]");
        assert_eq!((sharded["codec"].as_str(), sharded["shuffle"].as_u64()), (Some("zstd"), Some(2)));
        let one = report(&folder, "h5py.h5:/lz4");
        assert_eq!(one["hdf5_filters"][0]["id"], 32001);
        assert_eq!((one["codec"].as_str(), one["level"].as_u64()), (Some("lz4"), Some(5)));
        assert_eq!(one["filters"][0]["name"], "shuffle");
        let two = report(&folder, "h5py.h5:/g/two");
        assert_eq!(two["hdf5_filters"][0]["id"], 32026);
        assert_eq!((two["codec"].as_str(), two["level"].as_u64()), (Some("zstd"), Some(4)));
        assert_eq!(two["filters"][0]["name"], "bitshuffle");
        assert_eq!((two["dtype"].as_str(), two["nchunks"].as_u64()), (Some("<u2"), Some(9)));
    }

    /// Codecs and filters under the names of numcodecs, and a fill value that is none.
    #[test]
    fn names_of_numcodecs_are_known() {
        let folder = Folder::new("engines_numcodecs");
        let items: Vec<u8> = (0..50u32).flat_map(|i| (i as f32).to_le_bytes()).collect();
        let params = blosc_core::Params::new(4);
        let chunk = blosc_core::compress(&params, &items).unwrap();
        let mut frame = blosc_frame::SuperChunk::memory(&params).unwrap();
        frame.append(&items).unwrap();
        let frame = frame.into_bytes().unwrap();
        // One LZ4 sequence: 200 literals.
        let block = [&200u32.to_le_bytes()[..], &[0xf0, 185], &items].concat();
        for (compressor, filters, v3, bytes) in [
            (r#"{"id": "blosc"}"#, "null", "blosc", &chunk),
            (r#"{"id": "blosc2", "level": 1}"#, "null", "numcodecs.blosc", &chunk),
            (r#"{"id": "blosc2"}"#, r#"[{"id": "bitround", "keepbits": 5}]"#, "numcodecs.blosc2", &frame),
            (r#"{"id": "lz4", "acceleration": 1}"#, "null", "numcodecs.lz4", &block),
            ("null", r#"[{"id": "quantize", "digits": 3, "dtype": "<f4", "astype": "<f4"}]"#, "", &items),
        ] {
            let v2 = format!(
                r#"{{"zarr_format": 2, "shape": [50], "chunks": [50], "dtype": "<f4", "fill_value": null, "order": "C",
                    "filters": {filters}, "compressor": {compressor}}}"#
            );
            let codec = match v3 {
                "" => r#", {"name": "numcodecs.bitround", "configuration": {"keepbits": 3}}"#.to_string(),
                name => format!(r#", {{"name": "{name}", "configuration": {{}}}}"#),
            };
            let (before, after) = if v3.is_empty() { (&codec[1..], "") } else { ("", codec.as_str()) };
            let comma = if before.is_empty() { "" } else { "," };
            let v3 = format!(
                r#"{{"zarr_format": 3, "node_type": "array", "shape": [50], "data_type": "float32", "fill_value": 0.0,
                    "chunk_grid": {{"name": "regular", "configuration": {{"chunk_shape": [50]}}}},
                    "chunk_key_encoding": {{"name": "default", "configuration": {{"separator": "/"}}}},
                    "codecs": [{before}{comma} {{"name": "bytes", "configuration": {{"endian": "little"}}}}{after}]}}"#
            );
            std::fs::create_dir_all(folder.path("v2")).unwrap();
            std::fs::create_dir_all(folder.path("v3/c")).unwrap();
            folder.write("v2/.zarray", v2.as_bytes());
            folder.write("v2/0", bytes);
            folder.write("v3/zarr.json", v3.as_bytes());
            folder.write("v3/c/0", bytes);
            for store in ["v2", "v3"] {
                let read = folder.run(&["decompress", store, "-o", "-", "--plain"]);
                assert_eq!(read, items, "{store}: {v2} {v3}");
            }
        }
    }

    /// What cannot be read is listed and named, and refused before anything is written.
    #[test]
    fn what_cannot_be_read_is_named() {
        let folder = Folder::new("engines_refused");
        for (store, key, why) in [
            ("v3.zarr", "/strings", "data type string"),
            ("v2.zarr", "/raw", "lzma without a header"),
            ("h5py.h5", "/texts", "variable-length strings"),
            ("h5py.h5", "/zfp", "32013"),
        ] {
            let path = fixtures().join(store);
            let path = path.to_str().unwrap();
            let list = String::from_utf8(folder.run(&["ls", path])).unwrap();
            let line = list.lines().find(|line| line.starts_with(key)).unwrap();
            assert!(line.contains("cannot be read") && line.contains(why), "{line}");
            for (verb, out) in [("decompress", "out.npy"), ("slice", "out.bin")] {
                let (status, text) = folder.fail(&[verb, &format!("{path}:{key}"), "-o", out]);
                assert!(status == 1 && text.contains(why) && text.contains(key), "{text}");
                assert!(!folder.path(out).exists());
            }
            // The whole store as .npz: an error that lists it, or without it.
            let (status, text) = folder.fail(&["decompress", path, "-o", "all.npz"]);
            assert!(status == 1 && text.contains(key), "{text}");
            folder.run(&["decompress", path, "-o", "all.npz", "--partial", "--force"]);
            assert_eq!(folder.status(&["verify", path], &[]).0, 3);
        }
        let path = fixtures().join("h5py.h5");
        let path = path.to_str().unwrap();
        let leaf = format!("{path}:/lz4");
        for (words, says) in [
            (vec!["slice", path, "-o", "out"], "several arrays"),
            (vec!["slice", &leaf, "-o", "out", "--stop", "3,3,3"], "--stop has 3 numbers"),
            (vec!["decompress", &leaf, "-o", "out.npy", "--max-output", "100"], "--max-output"),
            (vec!["append", &leaf, path], "no store"),
            (vec!["convert", &leaf, "-o", "out.b2nd"], ".npy"),
            (vec!["info", &format!("{path}:/none")], "has no array /none"),
        ] {
            let (status, text) = folder.fail(&words);
            assert!((1..=2).contains(&status) && text.contains(says), "{words:?}: {text}");
        }
    }

    /// Layouts of HDF5 1.4 and before are not read: what says so also says how such a file is read all the same.
    #[test]
    fn old_layouts_are_named_with_what_makes_new_ones_of_them() {
        let folder = Folder::new("engines_old");
        let whole = std::fs::read(fixtures().join("earliest.h5")).unwrap();
        // The message of the layout: its number, its length, four more bytes, then version and class.
        let at = whole.windows(4).position(|w| w == [8, 0, 24, 0]).unwrap() + 8;
        assert_eq!(whole[at..at + 2], [3, 1]);
        for (place, value, says, old) in [(at, 2, "version: 2", true), (at + 1, 9, "class: 9", false)] {
            let mut bytes = whole.clone();
            bytes[place] = value;
            folder.write("old.h5", &bytes);
            let (status, text) = folder.fail(&["decompress", "old.h5:/x", "-o", "x.npy"]);
            assert!(status == 1 && text.contains(says) && text.contains("h5repack") == old, "{text}");
        }
    }

    /// A file in any state gives items or an error in words.
    #[test]
    fn damage_is_an_error() {
        let folder = Folder::new("engines_damage");
        let check = |words: &[&str], what: &str| {
            let (status, _, text) = folder.status(words, &[]);
            assert!((0..=3).contains(&status) && !text.contains("panicked"), "{what}: {status} {text}");
        };
        let whole = std::fs::read(fixtures().join("h5py.h5")).unwrap();
        let positions = (0..whole.len()).step_by(67).chain(0..200);
        for at in positions {
            let mut damaged = whole.clone();
            damaged[at] ^= 0xff;
            folder.write("damaged.h5", &damaged);
            check(&["verify", "damaged.h5"], &format!("byte {at}"));
            if at % 10 == 0 {
                folder.write("cut.h5", &whole[..at]);
                check(&["ls", "cut.h5"], &format!("cut at {at}"));
            }
        }
        for (store, names) in [("v3.zarr/lz4", ["zarr.json", "c/0/0"]), ("v2.zarr/g/lz4", [".zarray", "0.0"])]
        {
            for name in names {
                let whole = std::fs::read(fixtures().join(store).join(name)).unwrap();
                for at in (0..whole.len()).step_by(9) {
                    std::fs::create_dir_all(folder.path("damaged/c/0")).unwrap();
                    for part in names {
                        let bytes = std::fs::read(fixtures().join(store).join(part)).unwrap();
                        folder.write(&format!("damaged/{part}"), &bytes);
                    }
                    let mut damaged = whole.clone();
                    damaged[at] ^= 0x15;
                    folder.write(&format!("damaged/{name}"), &damaged);
                    check(&["verify", "damaged"], &format!("{store} {name} byte {at}"));
                    std::fs::remove_dir_all(folder.path("damaged")).unwrap();
                }
            }
        }
        // Metadata that ask for more than there is.
        let metadata = std::fs::read_to_string(fixtures().join("v2.zarr/g/lz4/.zarray")).unwrap();
        std::fs::create_dir_all(folder.path("huge")).unwrap();
        let squeezed: String = metadata.split_whitespace().collect();
        let huge =
            squeezed.replace("[20,14]", "[4000000000000,4000000]").replace("[9,6]", "[4000000000,4000000]");
        assert_ne!(huge, squeezed);
        folder.write("huge/.zarray", huge.as_bytes());
        for words in [&["verify", "huge"][..], &["slice", "huge", "-o", "out", "--stop", "1,1"]] {
            let (_, text) = folder.fail(words);
            assert!(text.contains("limit"), "{text}");
        }
    }
}
