//! Super-chunks spread over several directories, opened as one dataset.
//!
//! ```text
//! {"meta": "node0/x", "shards": [{"path": "node0/x", "first": 1, "last": 4}, {"path": "node1/x", "first": 5, "last": 9}]}
//! ```
//! Paths are relative to the manifest; each leads to a directory with `data/`, and that of `meta` to one
//! with `meta/` as well. First and last are numbers of super-chunk files.
#![deny(clippy::indexing_slicing, clippy::arithmetic_side_effects)]

use super::column::Part;
use super::dataset::{Blaze, descend};
use super::storage::invalid;
use crate::error::{Error, IoError, IoKind, Structure};
use crate::io::{FsDir, Locking};
use crate::limits::Limits;
use crate::value::{TextLimits, Value};
use alloc::string::String;
use alloc::vec::Vec;
use std::path::{Component, Path, PathBuf};

/// One directory and the super-chunks it holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shard {
    /// Path, relative to the manifest.
    pub path: PathBuf,
    /// Number of the first super-chunk file.
    pub first: u64,
    /// Number of the last one.
    pub last: u64,
}

/// A manifest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shards {
    /// The directory that has `meta/`.
    pub meta: PathBuf,
    /// Where the super-chunks are.
    pub shards: Vec<Shard>,
}

impl Shards {
    /// Reads a manifest.
    ///
    /// # Errors
    /// Paths that lead out of the manifest's directory, unless `anywhere` allows them; ranges that overlap.
    pub fn parse(text: &[u8], anywhere: bool) -> Result<Shards, Error> {
        let value = Value::parse_json(text, &TextLimits::JSON).map_err(|error| Error::Text {
            structure: Structure::Blaze,
            field: "shards",
            offset: 0,
            error,
        })?;
        let path = |value: Option<&Value>| {
            let path = PathBuf::from(value.and_then(Value::as_text).unwrap_or(""));
            let inside = path.components().all(|c| matches!(c, Component::Normal(_) | Component::CurDir));
            if path.as_os_str().is_empty() || !(inside || anywhere) {
                return Err(Error::from(IoKind::Name));
            }
            Ok(path)
        };
        let meta = path(value.get("meta"))?;
        let mut shards = Vec::new();
        for shard in value.get("shards").and_then(Value::as_list).unwrap_or_default() {
            let number = |name| shard.get(name).and_then(Value::as_u64).unwrap_or(0);
            let shard =
                Shard { path: path(shard.get("path"))?, first: number("first"), last: number("last") };
            if shard.first == 0 || shard.last < shard.first {
                return invalid("first and last of a shard", i64::try_from(shard.first).unwrap_or(i64::MAX));
            }
            shards.push(shard);
        }
        let mut order: Vec<&Shard> = shards.iter().collect();
        order.sort_by_key(|s| s.first);
        if order.windows(2).any(|w| matches!(w, [a, b] if b.first <= a.last)) {
            return invalid("shards (overlapping)", 0);
        }
        Ok(Shards { meta, shards })
    }

    /// The manifest's text.
    pub fn to_json(&self) -> String {
        let text = |path: &Path| Value::text(path.to_string_lossy());
        let shard = |s: &Shard| {
            Value::object([
                ("path", text(&s.path)),
                ("first", Value::int(s.first)),
                ("last", Value::int(s.last)),
            ])
        };
        let shards = Value::List(self.shards.iter().map(shard).collect());
        alloc::format!("{}\n", Value::object([("meta", text(&self.meta)), ("shards", shards)]).to_json())
    }

    /// Opens the dataset for reading; `base` is the manifest's directory. Shards that are not there fail when read.
    ///
    /// # Errors
    /// A directory that is missing or leads outside; malformed descriptors; shards that overlap or leave gaps.
    pub fn open(&self, base: &Path, limits: &Limits) -> Result<Blaze<FsDir>, Error> {
        self.open_as(base, limits, None)
    }

    /// As [`Shards::open`], to change it. The lock is on the directory of the descriptors, for all shards.
    ///
    /// # Errors
    /// As [`Shards::open`], and those of locking.
    pub fn open_rw(&self, base: &Path, limits: &Limits, locking: Locking) -> Result<Blaze<FsDir>, Error> {
        self.open_as(base, limits, Some(locking))
    }

    fn open_as(&self, base: &Path, limits: &Limits, write: Option<Locking>) -> Result<Blaze<FsDir>, Error> {
        let place = |path: &Path, locking: Option<Locking>| {
            let dir = inside(base, path)?;
            locking.map_or(Ok(dir.clone()), |locking| FsDir::open_rw_with(dir.path(), locking))
        };
        let root = place(&self.meta, write)?;
        Blaze::open_parts(&root, limits, &mut |path| {
            let mut parts = Vec::new();
            for shard in &self.shards {
                // A shard on a node that is away is not an error until something of it is wanted.
                let dir = place(&shard.path, write.map(|_| Locking::None));
                let Ok(dir) = dir.and_then(|dir| dir.subdirectory("data")) else {
                    continue;
                };
                let dir = match descend(&dir, path) {
                    Ok(inner) => inner.unwrap_or(dir),
                    Err(_) => continue,
                };
                parts.push(Part { files: shard.first..=shard.last, dir });
            }
            Ok(parts)
        })
    }
}

/// Opens `path` from `base`: one that stays inside without following links, any other as it is, since only
/// who allowed such paths has them.
fn inside(base: &Path, path: &Path) -> Result<FsDir, IoError> {
    if path.components().any(|c| !matches!(c, Component::Normal(_) | Component::CurDir)) {
        return FsDir::open(base.join(path));
    }
    let mut dir = FsDir::open(base)?;
    for component in path.components() {
        if let Component::Normal(name) = component {
            dir = dir.subdirectory(name.to_str().ok_or(IoKind::Name)?)?;
        }
    }
    Ok(dir)
}
