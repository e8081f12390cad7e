//! Every array of the vector collection: contents, slices, metadata; and the malformed ones. A small
//! subset lies in `fixtures/b2nd`; the full set is read where `BLOSC_VECTORS` names it.

use blosc_frame::b2nd::{NdArray, Selection};
use blosc_frame::io::{FsDir, Offset, ReadOnly};
use blosc_frame::{Error, Limits, SuperChunk};
use serde_json::Value;
use sha2::{Digest, Sha256};
use std::path::{Path, PathBuf};

fn sha(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|b| format!("{b:02x}")).collect()
}

/// The folders of vectors there are, each with its records.
fn sets() -> Vec<(PathBuf, Vec<Value>)> {
    let mut folders = vec![Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/b2nd")];
    match std::env::var_os("BLOSC_VECTORS") {
        Some(folder) => folders.push(folder.into()),
        None => eprintln!("skipped: the full set, because BLOSC_VECTORS is not set"),
    }
    let load = |folder: PathBuf| {
        let manifest = std::fs::read_to_string(folder.join("manifest.json")).unwrap();
        (folder, serde_json::from_str(&manifest).unwrap())
    };
    folders.into_iter().map(load).collect()
}

fn numbers(v: &Value) -> Vec<u64> {
    v.as_array().unwrap().iter().map(|n| n.as_u64().unwrap()).collect()
}

fn open(path: &Path, offset: u64, limits: &Limits) -> Result<NdArray<'static>, Error> {
    let frame = if path.is_dir() {
        SuperChunk::open_dir(FsDir::open(path)?, limits)?
    } else {
        SuperChunk::open(ReadOnly(Offset::new(std::fs::File::open(path)?, offset)?), limits)?
    };
    NdArray::open(frame)
}

fn check(folder: &Path, r: &Value, threads: usize) {
    let name = r["file"].as_str().unwrap_or_else(|| r["dir"].as_str().unwrap());
    let mut nd = open(&folder.join(name), r["offset"].as_u64().unwrap_or(0), &Limits::DEFAULT)
        .unwrap_or_else(|e| panic!("{name}: {e}"));
    nd.set_threads(threads);
    assert_eq!(nd.shape()[..], numbers(&r["shape"]), "{name}");
    let sides = |d: &[u32]| d.iter().map(|n| u64::from(*n)).collect::<Vec<u64>>();
    assert_eq!(sides(nd.geometry().chunks()), numbers(&r["chunks"]), "{name}");
    assert_eq!(sides(nd.geometry().blocks()), numbers(&r["blocks"]), "{name}");
    assert_eq!(nd.dtype_text(), r["dtype"].as_str().unwrap(), "{name}");
    if nd.opaque().is_none() {
        assert_eq!(nd.dtype().to_string(), nd.dtype_text(), "{name}: NumPy's form");
    } else {
        assert!(name.starts_with("compat/"), "{name}: {:?}", nd.opaque());
    }
    let filters = r["filters"].as_array().unwrap();
    let all = match nd.get_all() {
        Ok(all) => all,
        // A user's filter, which nobody supplied. (Chunks that did not compress are read all the same.)
        Err(_) if filters.iter().any(|f| f.as_u64() >= Some(160)) => return,
        Err(e) => panic!("{name}: {e}"),
    };
    assert_eq!(all.len() as u64, r["array_nbytes"].as_u64().unwrap(), "{name}");
    let mut pieces: Vec<u8> = Vec::new();
    nd.for_each_piece(500, |piece| {
        pieces.extend(piece);
        Ok(())
    })
    .unwrap();
    assert!(pieces == all, "{name}: in pieces");
    if r["uninit"] == true {
        return;
    }
    assert_eq!(sha(&all), r["decoded_sha256"].as_str().unwrap(), "{name}");
    for slice in r["slices"].as_array().unwrap() {
        let (start, stop) = (numbers(&slice["start"]), numbers(&slice["stop"]));
        let ranges: Vec<_> = start.iter().zip(&stop).map(|(a, b)| *a..*b).collect();
        let selection = Selection::ranges(nd.shape(), &ranges).unwrap();
        let got = nd.get(&selection).unwrap_or_else(|e| panic!("{name} {ranges:?}: {e}"));
        assert_eq!(sha(&got), slice["sha256"].as_str().unwrap(), "{name} {ranges:?}");
        let t = nd.geometry().typesize() as usize;
        if let (Some(want), false) = (got.get(..t), start.is_empty()) {
            let mut item = vec![0; t];
            nd.get_item(&start, &mut item).unwrap();
            assert_eq!(item, want, "{name} {start:?}");
        }
    }
}

#[test]
fn arrays_decode_to_what_went_in() {
    for (folder, records) in sets() {
        let mut count = 0;
        for r in records.iter().filter(|r| r["kind"] == "b2nd" || r["kind"] == "b2nd-sframe") {
            check(&folder, r, 1);
            check(&folder, r, 3);
            count += 1;
        }
        eprintln!("{}: {count} arrays", folder.display());
        assert!(count > 50);
    }
}

#[test]
fn malformed_arrays_are_refused_or_read_right() {
    let limits = Limits::DEFAULT.output(1 << 28);
    for (folder, records) in sets() {
        let (mut refused, mut read) = (0, 0);
        for r in records.iter().filter(|r| r["kind"] == "malformed-b2nd") {
            let name = r["file"].as_str().unwrap();
            let result = open(&folder.join(name), 0, &limits).and_then(|nd| nd.get_all());
            let want = r["c_outcome"].as_str().unwrap();
            match (result, want.strip_prefix("ok:")) {
                (Err(_), _) => refused += 1,
                (Ok(data), Some(hash)) => {
                    assert_eq!(sha(&data), hash, "{name}: {}", r["mutation"]);
                    read += 1;
                }
                (Ok(_), None) => read += 1,
            }
        }
        eprintln!("{}: {refused} refused, {read} read", folder.display());
        assert!(refused > 10);
    }
}
