//! The records of the container vectors: those kept beside the tests, or all where `BLOSC_VECTORS` says.
#![allow(dead_code)]

pub mod model;

use blosc_frame::value::{TextLimits, Value};
pub use blosc_testkit::{long, sha256};
use std::path::PathBuf;

pub struct Record {
    pub name: String,
    pub path: PathBuf,
    fields: Value,
}

impl Record {
    pub fn text(&self, field: &str) -> &str {
        self.fields.get(field).and_then(Value::as_text).unwrap_or("")
    }
    pub fn number(&self, field: &str) -> Option<u64> {
        self.fields.get(field).and_then(Value::as_u64)
    }
    pub fn get(&self, field: &str) -> Option<&Value> {
        self.fields.get(field)
    }
    pub fn has(&self, field: &str) -> bool {
        self.fields.get(field).is_some_and(|v| *v != Value::Null)
    }
    pub fn metadata(&self) -> Option<Value> {
        self.fields.get("metadata").filter(|v| **v != Value::Null).map(sorted)
    }
}

/// The manifest has its keys in alphabetical order.
pub fn sorted(value: &Value) -> Value {
    match value {
        Value::Object(pairs) => {
            let mut pairs: Vec<_> = pairs.iter().map(|(k, v)| (k.clone(), sorted(v))).collect();
            pairs.sort_by(|a, b| a.0.cmp(&b.0));
            Value::Object(pairs)
        }
        Value::List(items) => Value::List(items.iter().map(sorted).collect()),
        other => other.clone(),
    }
}

pub fn folder() -> PathBuf {
    match std::env::var_os("BLOSC_VECTORS") {
        Some(vectors) => PathBuf::from(vectors).join("containers"),
        None => {
            println!("BLOSC_VECTORS is not set: reading the records kept beside the tests");
            PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/containers")
        }
    }
}

pub fn records(kind: &str) -> Vec<Record> {
    let folder = folder();
    let manifest = std::fs::read(folder.join("manifest.json")).unwrap();
    let manifest = Value::parse_json(&manifest, &TextLimits::JSON).unwrap();
    let records =
        manifest.as_list().unwrap().iter().filter(|r| r.get("kind").and_then(Value::as_text) == Some(kind));
    let record = |fields: &Value| {
        let name =
            fields.get("file").or_else(|| fields.get("dir")).and_then(Value::as_text).unwrap().to_string();
        Record { path: folder.join(&name), name, fields: fields.clone() }
    };
    records.map(record).filter(|r| r.path.exists()).collect()
}
