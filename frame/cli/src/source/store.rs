//! Tree stores of python-blosc2: `.b2d` directories and `.b2z` zip files. They are listed; each array or
//! frame in them is read by its own path, or at its own `--offset`; all arrays together become a `.npz` file.
//! So do those of a plain directory of arrays, which `compress X.npz` makes. Nothing is unpickled or followed.

use super::{Input, Source};
use crate::args::Kind;
use crate::failure::{Failure, Result};
use serde_json::{Value, json};
use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};

/// Most entries and deepest folders listed.
const MOST: usize = 100_000;
const DEPTH: usize = 32;

/// A store and what it holds.
pub struct StoreSource {
    input: Input,
    kind: &'static str,
    entries: Vec<Value>,
}

/// Whether the directory is a store.
pub fn is_directory(path: &Path) -> bool {
    path.join("embed.b2e").is_file()
}

/// Whether arrays lie in the directory.
pub fn has_arrays(path: &Path) -> bool {
    let Ok(entries) = std::fs::read_dir(path) else { return false };
    entries.flatten().any(|entry| entry.path().extension().is_some_and(|e| e == "b2nd"))
}

/// Whether a file that starts with `head` is a zip file.
pub fn is_zip(head: &[u8]) -> bool {
    head.starts_with(b"PK\x03\x04")
}

/// The kind of the leaves that hold arrays.
const ARRAY: &str = "array";

/// What a leaf is, from its name; `None` for staging leftovers.
fn leaf(name: &str) -> Option<&'static str> {
    match name.rsplit_once('.')?.1 {
        "b2nd" => Some(ARRAY),
        "b2f" => Some("frame or object array"),
        "b2b" => Some("batch array"),
        "b2e" => Some("embedded frames"),
        _ => None,
    }
}

impl StoreSource {
    /// Lists a directory. Links are not followed.
    pub fn directory(kind: &'static str, input: &Input) -> Result<StoreSource> {
        let path = input.input.as_path();
        let mut entries = Vec::new();
        let mut folders = vec![(path.to_path_buf(), String::new(), 0)];
        while let Some((folder, key, depth)) = folders.pop() {
            for entry in std::fs::read_dir(&folder).map_err(|e| Failure::at(&folder, e))? {
                let entry = entry.map_err(|e| Failure::at(&folder, e))?;
                let name = format!("{key}/{}", entry.file_name().to_string_lossy());
                let kind = entry.file_type().map_err(|e| Failure::at(&folder, e))?;
                let sparse = kind.is_dir() && entry.path().join("chunks.b2frame").is_file();
                match leaf(&name) {
                    Some(what) if kind.is_file() || sparse => {
                        entries.push(
                            json!({"key": name, "kind": what, "path": entry.path().display().to_string()}),
                        );
                    }
                    _ if kind.is_dir() && depth < DEPTH => folders.push((entry.path(), name, depth + 1)),
                    _ => {}
                }
                if entries.len() > MOST {
                    return Err(Failure::at(path, "has too many entries to list"));
                }
            }
        }
        entries.sort_by_key(|e| e["key"].to_string());
        Ok(StoreSource { input: input.clone(), kind, entries })
    }

    /// Lists a `.b2z` file.
    pub fn zip(input: &Input, file: File) -> Result<StoreSource> {
        let path = input.input.as_path();
        let mut archive = zip::ZipArchive::new(file).map_err(|e| Failure::at(path, e))?;
        let mut entries = Vec::new();
        for k in 0..archive.len().min(MOST) {
            let member = archive.by_index_raw(k).map_err(|e| Failure::at(path, e))?;
            let name = member.name().map_err(|e| Failure::at(path, e))?.into_owned();
            let Some(what) = leaf(&name) else { continue };
            let stored = member.compression() == zip::CompressionMethod::Stored;
            // A deflated member has no frame at its place.
            let offset = member.data_start().filter(|_| stored);
            entries.push(
                json!({"key": format!("/{name}"), "kind": what, "offset": offset, "size": member.size()}),
            );
        }
        if entries.is_empty() {
            let text = "a zip file, but no python-blosc2 store: it holds no frames (compress makes arrays of .npz files)";
            return Err(Failure::at(path, text));
        }
        Ok(StoreSource { input: input.clone(), kind: "b2z store", entries })
    }

    /// What names one of the entries.
    fn one(&self, entry: &Value) -> Result<Input> {
        let mut input = self.input.clone();
        match (entry["path"].as_str(), entry["offset"].as_u64()) {
            (Some(path), _) => input.input = PathBuf::from(path),
            (None, Some(offset)) => {
                let kind = if entry["kind"] == ARRAY { Kind::B2nd } else { Kind::Frame };
                (input.offset, input.kind) = (offset, Some(kind));
            }
            (None, None) => {
                let text = format!("{} is deflated; unpack it first", entry["key"]);
                return Err(Failure::at(&self.input.input, text));
            }
        }
        Ok(input)
    }

    fn many(&self) -> Failure {
        let how = "a store of several arrays: info lists them; name one of them, with --offset in a .b2z file, or \
                   decompress all of them to a .npz file";
        Failure::at(&self.input.input, how)
    }
}

impl Source for StoreSource {
    fn info(&mut self) -> Result<Value> {
        Ok(json!({"kind": self.kind, "entries": self.entries}))
    }

    fn nbytes(&self) -> Option<u64> {
        None
    }

    fn each_array(&mut self, f: &mut dyn FnMut(&str, &mut dyn Source) -> Result<()>) -> Result<()> {
        for entry in self.entries.iter().filter(|entry| entry["kind"] == ARRAY) {
            let name = entry["key"].as_str().unwrap_or("").trim_start_matches('/');
            let mut array = super::open(&self.one(entry)?)?;
            f(name.strip_suffix(".b2nd").unwrap_or(name), &mut *array)?;
        }
        Ok(())
    }

    fn decompress(&mut self, _: &mut dyn Write, _: &dyn Fn(u64)) -> Result<()> {
        Err(self.many())
    }

    fn slice(&mut self, _: &[u64], _: &[u64], _: &mut dyn Write) -> Result<()> {
        Err(self.many())
    }

    /// Every entry by itself.
    fn verify(&mut self, progress: &dyn Fn(u64)) -> Result<Value> {
        let (mut entries, mut damage) = (Vec::new(), Vec::new());
        for entry in &self.entries {
            let verified = self.one(entry).and_then(|one| super::open(&one)?.verify(progress));
            let report = match &verified {
                Ok(report) => report.clone(),
                Err(failure) => {
                    damage.push(format!("{}: {failure}", entry["key"].as_str().unwrap_or("")));
                    failure.report().unwrap_or_default()
                }
            };
            entries.push(json!({"key": entry["key"], "report": report}));
        }
        let report = json!({"kind": self.kind, "ok": true, "entries": entries});
        Failure::if_damaged(&self.input.input, report, &damage)
    }
}
