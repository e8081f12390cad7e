//! Every frame and sparse frame of the vector collection: contents, metalayers, slices, and the
//! malformed ones. Needs `BLOSC_VECTORS`; `fixtures/` holds a small subset for everyday runs.

use blosc_frame::io::{FsDir, Offset, PathFile, ReadOnly};
use blosc_frame::{Error, Limits, SuperChunk};
use sha2::{Digest, Sha256};
use std::path::{Path, PathBuf};

type Record = serde_json::Map<String, serde_json::Value>;

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|b| format!("{b:02x}")).collect()
}

fn sha(bytes: &[u8]) -> String {
    hex(&Sha256::digest(bytes))
}

/// The folder of all vectors and its records of kind `kind`, or `None` (with a line that says so).
fn records(kind: &str) -> Option<(PathBuf, Vec<Record>)> {
    let Some(folder) = std::env::var_os("BLOSC_VECTORS").map(PathBuf::from) else {
        println!("skipped: BLOSC_VECTORS is not set");
        return None;
    };
    Some(records_in(folder, kind))
}

/// The records of kind `kind` in a folder's manifest.
fn records_in(folder: PathBuf, kind: &str) -> (PathBuf, Vec<Record>) {
    let manifest = std::fs::read_to_string(folder.join("manifest.json")).unwrap();
    let all: Vec<Record> = serde_json::from_str(&manifest).unwrap();
    let picked: Vec<Record> = all.into_iter().filter(|r| r["kind"] == kind).collect();
    assert!(!picked.is_empty());
    (folder, picked)
}

fn open(path: &Path, offset: u64) -> Result<SuperChunk<'static>, Error> {
    if path.is_dir() {
        return SuperChunk::open_dir(FsDir::open(path)?, &Limits::DEFAULT);
    }
    let file = std::fs::File::open(path)?;
    SuperChunk::open(ReadOnly(Offset::new(file, offset)?), &Limits::DEFAULT)
}

/// What differs from the record; empty if nothing does.
fn check(path: &Path, r: &Record) -> Vec<String> {
    let mut bad = Vec::new();
    let offset = r.get("offset").and_then(|v| v.as_u64()).unwrap_or(0);
    let sc = match open(path, offset) {
        Ok(sc) => sc,
        Err(e) => return vec![format!("open: {e}")],
    };
    // A user's codec or filter: its chunks must give an error, nothing else can be checked.
    let user = r["filters"].as_array().unwrap().iter().any(|f| f.as_u64() >= Some(160))
        || r["codec"].as_str().unwrap().starts_with("user");
    if r["nchunks"].as_u64() != Some(sc.nchunks()) {
        bad.push(format!("nchunks {}", sc.nchunks()));
    }
    if r["nbytes"].as_u64() != Some(sc.nbytes()) {
        bad.push(format!("nbytes {}", sc.nbytes()));
    }
    let names: Vec<String> = sc.metalayer_names().collect();
    let want = r["metalayers"].as_object().unwrap();
    if names.len() != want.len() {
        bad.push(format!("metalayers {names:?}"));
    }
    for (name, value) in want {
        same(&mut bad, name, value, sc.metalayer(name).map(<[u8]>::to_vec));
    }
    let want = r["vlmetalayers"].as_object().unwrap();
    if sc.vlmetalayer_names().count() != want.len() {
        bad.push("vlmetalayers".into());
    }
    for (name, value) in want {
        same(&mut bad, name, value, sc.vlmetalayer(name).unwrap_or_default());
    }
    let mut hash = Sha256::new();
    let mut all = Vec::new();
    for k in 0..sc.nchunks() {
        match sc.read_chunk(k) {
            Ok(chunk) => {
                if let Some(want) = r.get("chunk_sha256").and_then(|v| v[k as usize].as_str())
                    && sha(&chunk) != want
                {
                    bad.push(format!("chunk {k} differs"));
                }
                hash.update(&chunk);
                all.extend(chunk);
            }
            Err(_) if user => return Vec::new(),
            Err(e) => bad.push(format!("chunk {k}: {e}")),
        }
    }
    if user && sc.nchunks() > 0 {
        return vec!["a user's plugin was decoded without it".into()];
    }
    if let Some(want) = r.get("decoded_sha256").and_then(|v| v.as_str())
        && want != hex(&hash.finalize())
    {
        bad.push("decoded bytes differ".into());
    }
    for slice in r.get("slices").and_then(|v| v.as_array()).into_iter().flatten() {
        let (start, stop) = (slice["start"].as_u64().unwrap(), slice["stop"].as_u64().unwrap());
        // A frame opened afresh, so that nothing is known from the reads above.
        let sc = open(path, offset).unwrap();
        let mut out = vec![0; ((stop - start) * u64::from(sc.typesize())) as usize];
        match sc.read_items(start..stop, &mut out) {
            Ok(_) if r.get("uninit").is_some() => {}
            Ok(_) if Some(sha(&out).as_str()) == slice["sha256"].as_str() => {}
            other => bad.push(format!("slice {start}..{stop}: {other:?}")),
        }
    }
    bad
}

fn same(bad: &mut Vec<String>, name: &str, want: &serde_json::Value, got: Option<Vec<u8>>) {
    let Some(got) = got else { return bad.push(format!("{name} is missing")) };
    let equal = match want.as_str() {
        Some(text) => text == hex(&got),
        None => want["sha256"] == sha(&got).as_str() && want["nbytes"].as_u64() == Some(got.len() as u64),
    };
    if !equal {
        bad.push(format!("{name} differs"));
    }
}

fn run(kind: &str, (folder, records): (PathBuf, Vec<Record>)) {
    let mut failures = Vec::new();
    for r in &records {
        let file = r["file"].as_str().unwrap();
        let bad = check(&folder.join(file), r);
        if !bad.is_empty() {
            failures.push(format!("{file}: {}", bad.join("; ")));
        }
    }
    println!("{kind}: {} records, {} failed", records.len(), failures.len());
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

#[test]
fn all_frames() {
    for kind in ["frame", "sframe"] {
        let Some(records) = records(kind) else { return };
        run(kind, records);
    }
}

#[test]
fn fixtures() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/frames");
    for kind in ["frame", "sframe"] {
        run(kind, records_in(folder.clone(), kind));
    }
}

/// Opens and decodes everything; an error is always fine.
fn decode_all(path: &Path, offset: u64) -> Result<Vec<u8>, Error> {
    let mut sc = open(path, offset)?;
    // Emulated, frames that claim hundreds of megabytes are refused: making and hashing those takes a minute.
    let emulated = std::env::var_os("BLOSC_EMULATED").is_some();
    sc.set_limits(&Limits::DEFAULT.output(if emulated { 1 << 24 } else { 1 << 28 }));
    let names: Vec<String> = sc.vlmetalayer_names().collect();
    for name in names {
        let _ = sc.vlmetalayer(&name);
    }
    sc.read_all()
}

fn run_malformed(kind: &str) {
    let Some((folder, records)) = records(kind) else { return };
    let (mut failures, mut read) = (Vec::new(), 0);
    for r in &records {
        let file = r["file"].as_str().unwrap();
        let offset = r.get("offset").and_then(|v| v.as_u64()).unwrap_or(0);
        if let Ok(bytes) = decode_all(&folder.join(file), offset) {
            read += 1;
            let want = r["c_outcome"].as_str().unwrap();
            if want.strip_prefix("ok:").is_some_and(|want| want != sha(&bytes)) {
                failures.push(format!("{file}: decoded other bytes than C ({})", r["mutation"]));
            }
        }
    }
    println!("{kind}: {} records, {read} decoded, {} failed", records.len(), failures.len());
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

#[test]
fn malformed_frames() {
    run_malformed("malformed-frame");
}

#[test]
fn malformed_sparse_frames() {
    run_malformed("malformed-sframe");
}

#[test]
fn a_path_can_be_opened_for_reading() {
    let Some((folder, records)) = records("frame") else { return };
    let path = folder.join(records[0]["file"].as_str().unwrap());
    assert!(SuperChunk::open(PathFile::open(path).unwrap(), &Limits::DEFAULT).is_ok());
}
