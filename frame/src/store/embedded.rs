//! Frames embedded in the root of a store: the root decodes to them, one behind the other, and a map in its
//! variable-length metalayer `estore_metadata` says where each is.

use crate::cframe::CHECKSUMS_NAME;
use crate::error::{Error, IoError, IoKind, Structure};
use crate::io::{ReadAt, filled};
use crate::msgpack;
use crate::schunk::SuperChunk;
use crate::value::Value;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;
use std::sync::{Mutex, PoisonError};

/// Metalayers of roots.
pub const ROOTS: [&str; 4] = ["b2embed", "b2dict", "b2tree", "b2remote_store"];
/// Where frames are embedded.
pub const MAP: &str = "estore_metadata";
/// What groups stand for: tables of this store, or stores elsewhere.
pub const REGISTRY: &str = "_object_registry";

/// A map of MessagePack in a variable-length metalayer; empty where there is none.
pub fn map_of(frame: &SuperChunk<'_>, name: &str) -> Result<Vec<(String, Value)>, Error> {
    let Some(content) = frame.vlmetalayer(name)? else { return Ok(Vec::new()) };
    let most = u32::try_from(frame.limits().entries.saturating_mul(8).max(1 << 16)).unwrap_or(u32::MAX);
    match msgpack::to_value_within(&content, most)? {
        Value::Object(pairs) => Ok(pairs),
        _ => {
            Err(Error::Invalid { structure: Structure::Store, field: "map of the root", offset: 0, value: 0 })
        }
    }
}

/// Whether a frame is the root of a store.
pub fn is_root(frame: &SuperChunk<'_>) -> bool {
    ROOTS.iter().any(|name| frame.metalayer(name).is_some())
}

/// The root of a store, read by all leaves that are embedded in it.
pub struct Root {
    frame: Mutex<SuperChunk<'static>>,
    /// Why the last read failed.
    cause: Mutex<Option<Error>>,
}

impl Root {
    pub fn new(frame: SuperChunk<'static>) -> Root {
        Root { frame: Mutex::new(frame), cause: Mutex::new(None) }
    }

    pub fn with<T>(&self, read: impl FnOnce(&mut SuperChunk<'static>) -> T) -> T {
        read(&mut self.frame.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// What the root says of a key.
pub enum Said {
    /// Bytes of what it decodes to.
    Here(u64, u64),
    /// What lies elsewhere, in words.
    Elsewhere(String),
}

/// What the maps of a root say of each key, at most `most` keys of each.
pub fn said(frame: &SuperChunk<'_>) -> Result<Vec<(String, Said)>, Error> {
    let target = |value: &Value| -> String {
        let words = ["urlbase", "urlpath", "path", "dataset"].iter();
        let words: Vec<&str> = words.filter_map(|name| value.get(name).and_then(Value::as_text)).collect();
        words.into_iter().filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ")
    };
    let mut all = Vec::new();
    let embedded = map_of(frame, MAP)?;
    let map = embedded.iter().find(|(name, _)| name == "embed_map");
    for (key, place) in map.and_then(|(_, map)| map.as_object()).unwrap_or_default() {
        let number = |name: &str| place.get(name).and_then(Value::as_u64);
        let said = match (number("offset"), number("length")) {
            (Some(offset), Some(length)) => Said::Here(offset, length),
            _ => Said::Elsewhere(target(place)),
        };
        all.push((key.clone(), said));
    }
    for (key, object) in map_of(frame, REGISTRY)? {
        // A table is a group of this store.
        if !is_table(&object) {
            all.push((key, Said::Elsewhere(object.get("source").map(target).unwrap_or_default())));
        }
    }
    Ok(all)
}

/// Whether an entry of the registry says that its key is a table, which lies in this store.
pub fn is_table(object: &Value) -> bool {
    object.get("kind").and_then(Value::as_text) == Some("ctable")
}

/// The variable-length metalayers that a user or another program set.
pub fn user_layers(frame: &SuperChunk<'_>) -> Result<Vec<(String, Vec<u8>)>, Error> {
    let names: Vec<String> = frame.vlmetalayer_names().filter(|name| name != CHECKSUMS_NAME).collect();
    let mut layers = Vec::new();
    for name in names {
        let content = frame.vlmetalayer(&name)?.unwrap_or_default();
        layers.push((name, content));
    }
    Ok(layers)
}

/// The bytes of an embedded frame. The part of the root that is read is decoded, and no more.
#[derive(Clone)]
pub struct Embedded {
    root: Arc<Root>,
    offset: u64,
    length: u64,
}

impl Embedded {
    pub fn new(root: Arc<Root>, offset: u64, length: u64) -> Embedded {
        Embedded { root, offset, length }
    }

    /// What kept the last read from being done, where that was the root.
    pub fn cause(&self) -> Option<Error> {
        self.root.cause.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

impl ReadAt for Embedded {
    fn size(&self) -> Result<u64, IoError> {
        Ok(self.length)
    }

    fn is_far(&self) -> bool {
        self.root.with(|root| root.is_far())
    }

    fn read_at(&self, at: u64, buf: &mut [u8]) -> Result<usize, IoError> {
        let part = filled(buf, self.length, at);
        let n = part.len() as u64;
        if n == 0 {
            return Ok(0);
        }
        let start = self.offset.saturating_add(at);
        let done = self.root.with(|root| root.read_bytes(start..start.saturating_add(n), part));
        done.map_err(|error| {
            *self.root.cause.lock().unwrap_or_else(PoisonError::into_inner) = Some(error);
            match error {
                Error::Io(error) => error,
                Error::OutOfMemory => IoKind::OutOfMemory.into(),
                Error::Limit { .. }
                | Error::Chunk { error: blosc_core::Error::Limit { .. }, .. }
                | Error::Codec(blosc_core::Error::Limit { .. }) => IoKind::Limit.into(),
                _ => IoKind::Damaged.into(),
            }
        })
    }
}
