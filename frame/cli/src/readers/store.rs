//! Stores of python-blosc2 and directories of arrays, as the library opens them: what each entry is to the commands.

use crate::args::Input;
use crate::failure::{Failure, Result};
use crate::json::{hex, json as json_of};
use blosc_frame::msgpack;
use blosc_frame::store::{Entry, Form, Leaf, META, Place, Store};
use serde_json::{Map, Value, json};
use std::path::PathBuf;

/// A store and how it was asked for.
pub struct StoreReader {
    /// How it was asked for.
    pub input: Input,
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
    pub fn whole(&self) -> Input {
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
}
