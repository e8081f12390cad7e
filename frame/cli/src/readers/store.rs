//! Tree stores of python-blosc2: `.b2d` directories and `.b2z` zip files. They are listed; each array or
//! frame in them is read by its own path, or at its own `--offset`; all arrays together become a `.npz` file.
//! So do those of a plain directory of arrays, which `compress X.npz` makes. Nothing is unpickled or followed.

use crate::args::{Input, Kind as As};
use crate::failure::{Failure, Findings, Result};
use crate::open::{Intent, Opened, open};
use blosc_frame::any::Kind;
use blosc_frame::io::PathFile;
use serde_json::{Value, json};
use std::path::PathBuf;

/// Most entries and deepest folders listed.
const MOST: usize = 100_000;
const DEPTH: usize = 32;

/// A store and what it holds.
pub struct StoreReader {
    input: Input,
    kind: &'static str,
    entries: Vec<Value>,
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

impl StoreReader {
    /// Lists a directory. Links are not followed.
    pub fn directory(kind: Kind, input: &Input) -> Result<StoreReader> {
        let name = if kind == Kind::Store { "b2d store" } else { "directory of arrays" };
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
        Ok(StoreReader { input: input.clone(), kind: name, entries })
    }

    /// Lists a `.b2z` file.
    pub fn zip(input: &Input, file: &PathFile) -> Result<StoreReader> {
        let path = input.input.as_path();
        let mut archive = zip::ZipArchive::new(file.file()).map_err(|e| Failure::at(path, e))?;
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
            return Err(Failure::Unable(format!("{}: {text}", path.display())));
        }
        Ok(StoreReader { input: input.clone(), kind: "b2z store", entries })
    }

    /// What names one of the entries.
    fn one(&self, entry: &Value) -> Result<Input> {
        let mut input = self.input.clone();
        match (entry["path"].as_str(), entry["offset"].as_u64()) {
            (Some(path), _) => input.input = PathBuf::from(path),
            (None, Some(offset)) => {
                let kind = if entry["kind"] == ARRAY { As::B2nd } else { As::Frame };
                (input.offset, input.kind) = (offset, Some(kind));
            }
            (None, None) => {
                let text = format!("{} is deflated; unpack it first", entry["key"]);
                return Err(Failure::Unable(format!("{}: {text}", self.input.input.display())));
            }
        }
        Ok(input)
    }

    /// The answer to reading all of it as one.
    pub fn many(&self) -> Failure {
        let how = "a store of several arrays: info lists them; name one of them, with --offset in a .b2z file, or \
                   decompress all of them to a .npz file";
        Failure::at(&self.input.input, how)
    }

    /// What it holds.
    pub fn info(&self) -> Value {
        json!({"kind": self.kind, "entries": self.entries})
    }

    /// Hands every array to `f`, with its name as the member of a `.npz` file.
    pub fn each_array(&self, f: &mut dyn FnMut(&str, &mut Opened) -> Result<()>) -> Result<()> {
        for entry in self.entries.iter().filter(|entry| entry["kind"] == ARRAY) {
            let name = entry["key"].as_str().unwrap_or("").trim_start_matches('/');
            let mut array = open(&self.one(entry)?, Intent::Read)?;
            f(name.strip_suffix(".b2nd").unwrap_or(name), &mut array)?;
        }
        Ok(())
    }

    /// Verifies every entry by itself.
    pub fn verify(&self, progress: &dyn Fn(u64)) -> Findings {
        let (mut entries, mut all) = (Vec::new(), Findings::default());
        for entry in &self.entries {
            let key = entry["key"].as_str().unwrap_or("");
            let verified = self
                .one(entry)
                .and_then(|one| open(&one, Intent::Inspect)?.verify(&one.input, false, progress));
            let report = verified.unwrap_or_else(|failure| {
                let (report, text, status) = failure.verified();
                let list = if status == 1 { &mut all.damage } else { &mut all.unchecked };
                list.push(format!("{key}: {text}"));
                report
            });
            entries.push(json!({"key": key, "report": report}));
        }
        all.report = json!({"kind": self.kind, "entries": entries});
        all
    }
}
