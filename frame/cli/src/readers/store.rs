//! Stores of python-blosc2 and directories of arrays, as the library opens them: what each entry is to the commands.

use crate::args::{Input, Kind as As};
use crate::failure::{Failure, Findings, Result};
use crate::json::{hex, json as json_of};
use crate::open::{Intent, Opened, What, of_frame, open};
use crate::readers::frame;
use crate::writers::choice::Holds;
use blosc_frame::msgpack;
use blosc_frame::store::{Entry, Form, Leaf, META, Place, Store};
use serde_json::{Map, Value, json};
use std::path::PathBuf;

/// A store and how it was asked for.
pub struct StoreReader {
    input: Input,
    pub store: Store,
}

impl StoreReader {
    /// A store whose frames are read as `input` asks for. Columns that it names must be those of a table.
    pub fn new(input: &Input, mut store: Store) -> Result<StoreReader> {
        store.set_threads(input.run.threads);
        store.set_verify(!input.no_verify);
        if !input.column.is_empty() && !store.is_table() {
            return Err(Failure::Usage(format!("--column: {} is no table", store.name().display())));
        }
        Ok(StoreReader { input: input.clone(), store })
    }

    /// How its entries are opened.
    fn whole(&self) -> Input {
        Input { offset: 0, kind: None, column: Vec::new(), ..self.input.clone() }
    }

    /// The answer to reading all of it as one.
    pub fn many(&self) -> Failure {
        let how = "a store of several arrays: `blosc ls` lists them; name one of them as STORE:/KEY, or decompress all \
                   of them to a .npz file";
        Failure::at(&self.path(), how)
    }

    /// What messages call it.
    pub fn path(&self) -> PathBuf {
        self.store.name()
    }

    /// What it holds.
    ///
    /// # Errors
    /// Attributes that are damaged.
    pub fn info(&self) -> Result<Value> {
        let entries: Vec<Value> = self.store.entries().iter().map(|entry| self.said(entry)).collect();
        let mut attributes = Map::new();
        for group in self.store.groups().iter().map(String::as_str).chain([""]) {
            let layers = self.store.attributes(group)?;
            let value = |content: &[u8]| match msgpack::to_value(content) {
                Ok(value) => json_of(&value),
                Err(_) => hex(content).into(),
            };
            let layers: Map<_, _> =
                layers.iter().map(|(name, content)| (name.clone(), value(content))).collect();
            if !layers.is_empty() {
                attributes.insert(if group.is_empty() { "/" } else { group }.into(), layers.into());
            }
        }
        let mut info = json!({"kind": self.store.form().name(), "entries": entries});
        if let (false, Some(info)) = (attributes.is_empty(), info.as_object_mut()) {
            info.insert("attributes".into(), attributes.into());
        }
        Ok(info)
    }

    /// What is said of an entry.
    fn said(&self, entry: &Entry) -> Value {
        let mut about = json!({"key": entry.name(), "kind": entry.leaf().name()});
        let more = match entry.place() {
            Place::Path(path) => json!({"path": path.display().to_string()}),
            Place::Member(member) => json!({"offset": self.store.offset(entry), "size": member.size}),
            Place::Embedded { offset, length } => {
                json!({"inside": "root", "offset": offset, "size": length})
            }
            Place::Elsewhere(target) => json!({"target": target}),
            _ => json!({}),
        };
        if let (Some(about), Value::Object(more)) = (about.as_object_mut(), more) {
            about.extend(more);
        }
        about
    }

    /// Hands every array to `f`, with its name as the member of a `.npz` file.
    pub fn each_array(&self, f: &mut dyn FnMut(&str, &mut Opened) -> Result<()>) -> Result<()> {
        for entry in self.store.entries() {
            if let Some(Ok(mut array)) = self.array(entry) {
                f(entry.key().strip_prefix('/').unwrap_or(entry.key()), &mut array)?;
            }
        }
        Ok(())
    }

    /// An entry as an array; why it is none; `None` for what is no data of its own.
    fn array(&self, entry: &Entry) -> Option<std::result::Result<Opened, String>> {
        if self.store.in_table(entry) || !entry.is_data() {
            return None;
        }
        let name = entry.leaf().name();
        if !matches!(entry.leaf(), Leaf::Array | Leaf::Frame | Leaf::Batches) {
            return Some(Err(name.into()));
        }
        let opened = self.open(entry, Intent::Read).map_err(|failure| failure.to_string());
        Some(opened.and_then(|mut opened| match opened.holds() {
            Holds::Array => Ok(opened),
            _ => Err(name.into()),
        }))
    }

    /// What no `.npz` file of the arrays holds.
    pub fn left_out(&self) -> Vec<String> {
        let tables = self.store.tables().iter().filter(|group| !group.is_empty());
        let mut left_out: Vec<String> = tables.map(|group| format!("{group} (a table)")).collect();
        for entry in self.store.entries() {
            if let Some(Err(why)) = self.array(entry) {
                left_out.push(format!("{} ({why})", entry.key()));
            }
        }
        left_out
    }

    /// The attributes, which no `.npz` file of the arrays holds either.
    pub fn attributes_left_out(&self) -> Vec<&str> {
        let entries = self.store.entries().iter().filter(|entry| entry.leaf() == Leaf::Attributes);
        entries.map(|entry| entry.key()).collect()
    }

    /// Whether the files of the table that all of it is are files, none embedded in a frame.
    pub fn lies_in_files(&self) -> bool {
        let embedded =
            |entry: &Entry| matches!(entry.place(), Place::Embedded { .. }) && entry.key().starts_with("/_");
        self.store.form() != Form::B2e && !self.store.entries().iter().any(embedded)
    }

    /// The groups that have a description such as tables have, each as a store of its own; `""` is all of it.
    pub fn described(&self) -> Vec<(String, StoreReader)> {
        let keys = self.store.entries().iter().filter_map(|entry| entry.key().strip_suffix(META));
        let group = |key: &str| {
            let store = self.store.group(key)?;
            Some((key.to_string(), StoreReader { input: self.input.clone(), store }))
        };
        keys.filter_map(group).collect()
    }

    /// The leaf, group or table of a key, with or without its extension; with `columns` it must be a table.
    pub fn leaf(&self, wanted: &str, intent: Intent, columns: bool) -> Result<Opened> {
        let group = self.store.group(wanted);
        let entry = self.store.get(wanted).filter(|_| !self.store.has_table(wanted.trim_end_matches('/')));
        match (entry, group) {
            (Some(entry), _) if !columns => self.open(entry, intent),
            (_, Some(group)) if !columns || group.is_table() => {
                let input = Input { column: Vec::new(), ..self.input.clone() };
                Ok(Opened::of(What::Store(StoreReader::new(&input, group)?)))
            }
            _ if columns => {
                let text = format!("--column: {}:{wanted} is no table", self.input.input.display());
                Err(Failure::Usage(text))
            }
            _ => Err(Failure::at(&self.path(), format!("has no leaf {wanted}; `blosc ls` lists them"))),
        }
    }

    /// Opens one of the entries.
    pub fn open(&self, entry: &Entry, intent: Intent) -> Result<Opened> {
        let name = PathBuf::from(format!("{}:{}", self.path().display(), entry.key()));
        let kind = (entry.leaf() == Leaf::Root).then_some(As::Frame);
        match entry.place() {
            Place::Path(path) if intent.writes() => {
                return open(&Input { input: path.clone(), kind, ..self.whole() }, intent);
            }
            Place::Member(_) if intent.writes() => {
                let how = "lies in a zip file, which is not changed: unpack it to a directory, a .b2d store";
                return Err(Failure::Usage(format!("{} {how}", name.display())));
            }
            Place::Embedded { .. } if intent.writes() => {
                return Err(Failure::at(&name, "is embedded in the root of its store and cannot be changed"));
            }
            Place::Elsewhere(target) => {
                let what = format!("{} -> {target}, is not followed", entry.leaf().name());
                return Err(Failure::Unable(format!("{}: {what}", name.display())));
            }
            _ if entry.leaf() == Leaf::Foreign => {
                return Err(Failure::Unable(format!("{}: {}", name.display(), entry.leaf().name())));
            }
            _ => {}
        }
        let frame = self.store.frame(entry)?;
        of_frame(frame, &Input { input: name, kind, ..self.whole() }, intent, self.store.limits().output)
            .map(Opened::of)
    }

    /// Verifies every entry by itself.
    pub fn verify(&self, progress: &dyn Fn(u64)) -> Findings {
        let (mut entries, mut all) = (Vec::new(), Findings::default());
        let mut add = |key: &str, verified: Result<Value>| {
            let report = verified.unwrap_or_else(|failure| {
                let (report, text, status) = failure.verified();
                let list = if status == 1 { &mut all.damage } else { &mut all.unchecked };
                list.push(format!("{key}: {text}"));
                report
            });
            entries.push(json!({"key": key, "report": report}));
        };
        let path = self.path();
        if self.store.form() == Form::B2e
            && let Some(root) = self.store.with_root(|root| frame::verify("frame", root, &path, progress))
        {
            add("/", root.and_then(|found| found.verdict(&path)));
        }
        for entry in self.store.entries() {
            let whole = self.store.check(entry).map_err(Failure::from);
            let verified = whole.and_then(|()| match entry.leaf() {
                Leaf::Foreign => Ok(json!({"kind": entry.leaf().name(), "ok": true})),
                _ => self.open(entry, Intent::Inspect)?.verify(&path, false, progress),
            });
            add(entry.name(), verified);
        }
        all.report = json!({"kind": self.store.form().name(), "entries": entries});
        all
    }
}

/// The frame with the attributes of a store or a group, to be read, or changed where it is a file of its own.
pub fn attributes(input: &Input, store: &StoreReader, intent: Intent) -> Result<Opened> {
    let none = || Failure::at(&input.input, "no frame or array, and a store without attributes");
    store.open(store.store.attributes_of("").ok_or_else(none)?, intent)
}
