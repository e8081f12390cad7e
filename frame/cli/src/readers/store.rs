//! Tree stores of python-blosc2: `.b2d` directories and `.b2z` zip files. They are listed, what is embedded in their
//! frames too; each array or frame in them is read by its key, as `STORE:/KEY`, by its own path, or at its own
//! `--offset`; all arrays together become a `.npz` file.
//! So do those of a plain directory of arrays, which `compress X.npz` makes. Nothing is unpickled or followed.

use crate::args::{Input, Kind as As};
use crate::failure::{Failure, Findings, Result, failure};
use crate::open::{Intent, Opened, What, is_stream, open, open_found, unnamed};
use blosc_frame::any::{Found, Kind};
use blosc_frame::b2nd::carrier::{self, Carrier};
use blosc_frame::io::PathFile;
use blosc_frame::value::Value as Meta;
use blosc_frame::{Limits, SuperChunk, msgpack};
use serde_json::{Value, json};
use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

/// Most entries looked at and deepest folders listed.
const MOST: usize = 100_000;
const DEPTH: usize = 32;
/// Bytes of the largest frame inside a frame.
const MOST_EMBEDDED: u64 = 1 << 30;

/// A store and what it holds.
pub struct StoreReader {
    input: Input,
    kind: &'static str,
    /// The archive, where it came as a stream, whose name cannot be opened again.
    stream: Option<File>,
    /// What it holds, sorted by key.
    pub entries: Vec<Value>,
}

/// What says which rows of a table live, without its extension.
pub const VALID: &str = "/_valid_rows";
/// What describes a table, without its extension.
pub const META: &str = "/_meta";

/// The kind of the leaves that hold arrays.
const ARRAY: &str = "array";

/// The kind of the frames that hold frames.
const EMBEDDED: &str = "embedded frames";

/// What a store is called whose files are all embedded in one frame.
const FRAME: &str = "frame";

/// The kind of an embedded frame that cannot be read.
const DAMAGED: &str = "damaged frame";

/// The key of an entry.
pub fn key(entry: &Value) -> &str {
    entry["key"].as_str().unwrap_or("")
}

/// The name of an array as the member of a `.npz` file.
fn name(entry: &Value) -> String {
    let key = key(entry);
    let key = key.strip_prefix('/').unwrap_or(key);
    key.strip_suffix(".b2nd").unwrap_or(key).to_string()
}

/// What a frame in memory is.
fn what_is(bytes: &[u8]) -> &'static str {
    let Ok(mut frame) = SuperChunk::from_bytes(bytes.to_vec(), &Limits::default()) else { return DAMAGED };
    match carrier::of(&mut frame) {
        Ok(Some(Carrier::ObjectArray)) => "object array",
        Ok(Some(Carrier::BatchArray)) => "batch array",
        Ok(Some(found)) if found.is_placeholder() => "placeholders",
        _ if frame.metalayer("b2nd").is_some() => ARRAY,
        _ => "frame",
    }
}

/// Bytes `offset..offset + size` of what a frame decodes to.
fn embedded(opened: &mut Opened, offset: u64, size: u64) -> Result<Vec<u8>> {
    let What::Frame(reader) = &mut opened.what else {
        return Err(Failure::Data("frames are embedded in frames only".into()));
    };
    let end = offset.checked_add(size).filter(|end| *end <= reader.frame.nbytes() && size <= MOST_EMBEDDED);
    let end =
        end.ok_or_else(|| Failure::Data(format!("embedded: {size} bytes at {offset} are not there")))?;
    let mut bytes = vec![0; usize::try_from(size).unwrap_or(usize::MAX)];
    reader.frame.read_bytes(offset..end, &mut bytes)?;
    Ok(bytes)
}

/// What a leaf is, from its name; `None` for staging leftovers.
fn leaf(name: &str) -> Option<&'static str> {
    match name.rsplit_once('.')?.1 {
        "b2nd" => Some(ARRAY),
        "b2f" => Some("frame or object array"),
        "b2b" => Some("batch array"),
        "b2e" => Some(EMBEDDED),
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
        let mut seen = 0;
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
                seen += 1;
                if seen > MOST {
                    return Err(Failure::at(path, "has too many entries to list"));
                }
            }
        }
        entries.sort_by_key(|e| e["key"].to_string());
        let store = StoreReader { input: input.clone(), kind: name, stream: None, entries };
        store.listed()
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
        let stream = match is_stream(path)? {
            true => Some(file.file().try_clone().map_err(Failure::io(path))?),
            false => None,
        };
        let store = StoreReader { input: input.clone(), kind: "b2z store", stream, entries };
        store.listed()
    }

    /// A table whose files are all embedded in one frame, if its rows are to be read and `frame` is such a frame.
    pub fn of_frame(input: &Input, frame: &SuperChunk<'_>, intent: Intent) -> Result<Option<StoreReader>> {
        let path = input.input.as_path();
        let no_table = match input.column.is_empty() {
            true => Ok(None),
            false => Err(Failure::Usage(format!("--column: {} is no table", path.display()))),
        };
        if intent != Intent::Read || frame.metalayer("b2embed").is_none() || is_stream(path)? {
            return no_table;
        }
        let root = json!({"key": "/", "kind": EMBEDDED, "path": path.display().to_string()});
        let whole = Input { column: Vec::new(), ..input.clone() };
        let store = StoreReader { input: whole, kind: FRAME, stream: None, entries: vec![root] }.listed()?;
        if store.is_table() { Ok(Some(store)) } else { no_table }
    }

    /// The store, once what is embedded is listed, too.
    fn listed(mut self) -> Result<StoreReader> {
        self.list_embedded();
        match self.input.column.is_empty() || self.is_table() {
            true => Ok(self),
            false => Err(Failure::Usage(format!("--column: {} is no table", self.input.input.display()))),
        }
    }

    /// What names one of the entries.
    fn one(&self, entry: &Value) -> Result<Input> {
        let mut input = Input { column: Vec::new(), ..self.input.clone() };
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

    /// How files of it are opened that stand for themselves.
    pub fn whole(&self) -> Input {
        Input { offset: 0, kind: None, column: Vec::new(), ..self.input.clone() }
    }

    /// The answer to reading all of it as one.
    pub fn many(&self) -> Failure {
        let how = "a store of several arrays: `blosc ls` lists them; name one of them as STORE:/KEY, or decompress all \
                   of them to a .npz file";
        Failure::at(&self.input.input, how)
    }

    /// Where it lies.
    pub fn path(&self) -> &Path {
        &self.input.input
    }

    /// What it holds.
    pub fn info(&self) -> Value {
        json!({"kind": self.kind, "entries": self.entries})
    }

    /// Hands every array to `f`, with its name as the member of a `.npz` file.
    pub fn each_array(&self, f: &mut dyn FnMut(&str, &mut Opened) -> Result<()>) -> Result<()> {
        for entry in self.entries.iter().filter(|entry| self.is_array(entry)) {
            f(&name(entry), &mut self.open(entry, Intent::Read)?)?;
        }
        Ok(())
    }

    /// What no `.npz` file of the arrays holds.
    pub fn left_out(&self) -> Vec<String> {
        let mut left_out: Vec<String> = self.tables().map(|group| format!("{group} (a table)")).collect();
        for entry in self.entries.iter().filter(|entry| !self.is_array(entry) && !self.in_table(entry)) {
            let what = entry["kind"].as_str().unwrap_or("");
            // What is embedded is listed by itself.
            if what != EMBEDDED {
                left_out.push(format!("{} ({what})", key(entry)));
            }
        }
        left_out
    }

    fn is_array(&self, entry: &Value) -> bool {
        entry["kind"] == ARRAY && !self.in_table(entry)
    }

    /// Whether all of it is a table.
    pub fn is_table(&self) -> bool {
        self.has_table("")
    }

    /// Whether the group `prefix` is a table.
    fn has_table(&self, prefix: &str) -> bool {
        self.has(&format!("{prefix}{VALID}"), "b2nd") && self.has(&format!("{prefix}{META}"), "b2f")
    }

    /// Whether the files of the table that all of it is are files, none embedded in a frame.
    pub fn lies_in_files(&self) -> bool {
        let embedded = |entry: &Value| !entry["inside"].is_null() && key(entry).starts_with("/_");
        self.kind != FRAME && !self.entries.iter().any(embedded)
    }

    /// The groups inside that are tables.
    fn tables(&self) -> impl Iterator<Item = &str> {
        let groups = self.entries.iter().filter_map(|entry| {
            let key = key(entry);
            key.strip_suffix(".b2nd").unwrap_or(key).strip_suffix(VALID)
        });
        groups.filter(move |group| !group.is_empty() && self.has_table(group))
    }

    /// The entry at `stem`, a key without its extension. What is embedded has none.
    fn find(&self, stem: &str, extension: &str) -> Option<&Value> {
        self.entries.iter().find(|entry| {
            let rest = key(entry).strip_prefix(stem);
            match entry["inside"].is_null() {
                true => rest.and_then(|rest| rest.strip_prefix('.')) == Some(extension),
                false => rest == Some(""),
            }
        })
    }

    /// Whether there is such an entry.
    pub fn has(&self, stem: &str, extension: &str) -> bool {
        self.find(stem, extension).is_some()
    }

    /// Opens it.
    ///
    /// # Errors
    /// That it is not there, and as [`StoreReader::open`].
    pub fn exact(&self, stem: &str, extension: &str, intent: Intent) -> Result<Opened> {
        let entry = self.find(stem, extension);
        let missing = || Failure::at(&self.input.input, format!("has no {stem}.{extension}"));
        self.open(entry.ok_or_else(missing)?, intent)
    }

    /// The group `prefix` as a store of its own, if it is a table.
    fn table(&self, prefix: &str) -> Result<Option<StoreReader>> {
        if prefix == "/" || !self.has_table(prefix) { Ok(None) } else { self.group(prefix).map(Some) }
    }

    /// The groups that have a description such as tables have, each as a store of its own; `""` is all of it.
    pub fn described(&self) -> Result<Vec<(&str, StoreReader)>> {
        let groups = self.entries.iter().filter_map(|entry| {
            let key = key(entry);
            key.strip_suffix(".b2f").unwrap_or(key).strip_suffix(META)
        });
        groups.map(|group| Ok((group, self.group(group)?))).collect()
    }

    fn group(&self, prefix: &str) -> Result<StoreReader> {
        let inside = |entry: &Value| -> Option<Value> {
            let key = key(entry).strip_prefix(prefix).filter(|rest| rest.starts_with('/'))?;
            let mut entry = entry.clone();
            entry["key"] = key.into();
            Some(entry)
        };
        // What is embedded is found by the frame that it is embedded in.
        let root = |entry: &Value| (entry["kind"] == EMBEDDED).then(|| entry.clone());
        let entries = self.entries.iter().filter_map(|entry| root(entry).or_else(|| inside(entry))).collect();
        let stream = self.stream.as_ref().map(File::try_clone).transpose();
        let stream = stream.map_err(Failure::io(&self.input.input))?;
        Ok(StoreReader { input: self.input.clone(), kind: self.kind, stream, entries })
    }

    fn in_table(&self, entry: &Value) -> bool {
        self.tables().any(|group| key(entry).strip_prefix(group).is_some_and(|rest| rest.starts_with('/')))
    }

    /// The leaf or the table that is called `wanted`, with or without its extension; with `columns` it must be a table.
    pub fn leaf(&self, wanted: &str, intent: Intent, columns: bool) -> Result<Opened> {
        if let Some(table) = self.table(wanted)? {
            return Ok(Opened::of(What::Store(table)));
        }
        if columns {
            let text = format!("--column: {}:{wanted} is no table", self.input.input.display());
            return Err(Failure::Usage(text));
        }
        let found = self.entries.iter().find(|entry| {
            let key = key(entry);
            key == wanted || key.rsplit_once('.').is_some_and(|(stem, _)| stem == wanted)
        });
        let path = &self.input.input;
        let entry =
            found.ok_or_else(|| Failure::at(path, format!("has no leaf {wanted}; `blosc ls` lists them")))?;
        self.open(entry, intent)
    }

    /// Opens one of the entries.
    pub fn open(&self, entry: &Value, intent: Intent) -> Result<Opened> {
        let path = self.input.input.as_path();
        let Some(store) = entry["inside"].as_str() else {
            let input = self.one(entry)?;
            if intent.writes() && entry["offset"].is_u64() {
                let how = "lies in a zip file, which is not changed: unpack it to a directory, a .b2d store";
                return Err(Failure::Usage(format!("{}:{} {how}", path.display(), key(entry))));
            }
            let (Some(stream), Some(size)) = (&self.stream, entry["size"].as_u64()) else {
                if input.offset > crate::limits::size(path) {
                    return Err(Failure::at(
                        path,
                        format!("{} begins behind the end of the file", key(entry)),
                    ));
                }
                return open(&input, intent);
            };
            let mut member = stream;
            member.seek(SeekFrom::Start(input.offset)).map_err(Failure::io(path))?;
            let file = unnamed(&mut member.take(size), path)?;
            return open_found(Found::of(path, file, 0).map_err(failure(path))?, &self.whole(), intent, None);
        };
        if !matches!(intent, Intent::Inspect | Intent::Read) {
            return Err(Failure::at(
                path,
                format!("{} is embedded in {store} and cannot be changed", key(entry)),
            ));
        }
        let (Some(offset), Some(size)) = (entry["offset"].as_u64(), entry["size"].as_u64()) else {
            let what = entry["kind"].as_str().unwrap_or("");
            return Err(Failure::Unable(format!(
                "{}: {}: {what}, is not followed",
                path.display(),
                key(entry)
            )));
        };
        let root = self.entries.iter().find(|entry| key(entry) == store && entry["inside"].is_null());
        let root = root.ok_or_else(|| Failure::at(path, format!("has no {store}")))?;
        let bytes = embedded(&mut self.open(root, Intent::Inspect)?, offset, size)?;
        let file = unnamed(&mut bytes.as_slice(), path)?;
        let found = Found::of(path, file, 0).map_err(failure(path))?;
        open_found(found, &self.whole(), intent, None).map_err(|e| e.about(key(entry)))
    }

    /// Lists the frames that are embedded in others.
    fn list_embedded(&mut self) {
        let stores: Vec<Value> = self.entries.iter().filter(|e| e["kind"] == EMBEDDED).cloned().collect();
        for store in stores {
            // What is damaged is for `verify` to report.
            let Ok(mut opened) = self.open(&store, Intent::Inspect) else { continue };
            let What::Frame(reader) = &mut opened.what else { continue };
            let Ok(Some(content)) = reader.frame.vlmetalayer("estore_metadata") else { continue };
            let Ok(value) = msgpack::to_value(&content) else { continue };
            let map = value.get("embed_map").and_then(Meta::as_object).unwrap_or_default();
            // Frames lie one behind the other: many that overlap would be decoded over and over.
            let mut left = opened.nbytes().unwrap_or(0);
            for (key, place) in map.iter().take(MOST) {
                let number = |name: &str| place.get(name).and_then(Meta::as_u64);
                let (offset, size) = (number("offset"), number("length"));
                let kind = match (offset, size) {
                    (Some(offset), Some(size)) if size <= left => {
                        left -= size;
                        embedded(&mut opened, offset, size).map_or(DAMAGED, |bytes| what_is(&bytes))
                    }
                    (Some(_), Some(_)) => DAMAGED,
                    _ => "reference to what lies elsewhere",
                };
                let inside = store["key"].clone();
                let target = place.get("urlbase").or(place.get("urlpath")).and_then(Meta::as_text);
                self.entries.push(json!({
                    "key": key, "kind": kind, "inside": inside, "offset": offset, "size": size, "target": target,
                }));
            }
        }
        self.entries.sort_by_key(|e| e["key"].to_string());
    }

    /// Verifies every entry by itself.
    pub fn verify(&self, progress: &dyn Fn(u64)) -> Findings {
        let (mut entries, mut all) = (Vec::new(), Findings::default());
        for entry in &self.entries {
            let key = entry["key"].as_str().unwrap_or("");
            let verified = self
                .open(entry, Intent::Inspect)
                .and_then(|mut opened| opened.verify(&self.input.input, false, progress));
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
