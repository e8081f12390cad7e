//! What lies in a store: files of a directory, members of a zip file, and what the root says of its own.

use super::embedded::{Embedded, Root, Said, is_root, said};
use super::model::{ATTRIBUTES, Common, Entry, Form, Leaf, META, Place, ROOT, Reading, Store, VALID_ROWS};
use super::zip::{self, Member};
use crate::error::{Error, IoKind, Structure};
use crate::io::{FilePool, Shared};
use crate::limits::{Limits, within};
use crate::schunk::SuperChunk;
use alloc::collections::BTreeSet;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::sync::Arc;
use alloc::vec::Vec;
use std::path::{Path, PathBuf};

/// The root among the files.
const ROOT_NAME: &str = "/embed.b2e";

/// Deepest folders that are listed.
const DEPTH: u32 = 32;

/// Whether a file is a leftover of a writer, or its lock: no part of the store.
fn is_leftover(name: &str) -> bool {
    let name = name.rsplit('/').next().unwrap_or(name);
    let temporary = crate::io::temporary_of(name).is_some();
    name.ends_with(".tmp") || name.ends_with(".b2lock") || name == ".b2lock" || temporary
}

/// Lists a directory. Links are not followed.
pub fn directory(path: &Path, limits: &Limits) -> Result<Store, Error> {
    let root = path.join(ROOT);
    let has_root = std::fs::symlink_metadata(&root).is_ok_and(|root| root.is_file());
    let form = if has_root { Form::B2d } else { Form::Folder };
    let (mut entries, mut groups) = (Vec::new(), Vec::new());
    let mut folders: Vec<(PathBuf, String, u32)> = alloc::vec![(path.to_path_buf(), String::new(), 0)];
    while let Some((folder, key, depth)) = folders.pop() {
        for entry in std::fs::read_dir(&folder)? {
            let entry = entry?;
            let file = entry.file_name().to_string_lossy().into_owned();
            if is_leftover(&file) {
                continue;
            }
            let (name, path, kind) = (format!("{key}/{file}"), entry.path(), entry.file_type()?);
            let sparse = kind.is_dir() && path.join("chunks.b2frame").is_file();
            let leaf = Leaf::of_name(&name);
            if !kind.is_dir() && !kind.is_file() {
                let target = std::fs::read_link(&path).map(|target| target.display().to_string());
                let target = target.unwrap_or_default();
                entries.push(Entry::new(name, Leaf::Link, Place::Elsewhere(target)));
            } else if kind.is_dir() && !(sparse && leaf.is_some()) {
                within("folders in folders of a store", u64::from(depth), u64::from(DEPTH))?;
                groups.push(name.clone());
                folders.push((path, name, depth.saturating_add(1)));
            } else {
                entries.push(Entry::new(name, leaf.unwrap_or(Leaf::Foreign), Place::Path(path)));
            }
            within(
                "entries of a store",
                (entries.len() as u64).saturating_add(groups.len() as u64),
                limits.entries,
            )?;
        }
    }
    let root = match form {
        Form::B2d => Some(SuperChunk::open_read(crate::io::PathFile::open(root)?, limits)),
        _ => None,
    };
    finished(path, form, limits, None, damaged_is_none(root)?, entries, groups)
}

/// A root that cannot be read is for `verify` to report: the files can be read all the same.
fn damaged_is_none(
    root: Option<Result<SuperChunk<'static>, Error>>,
) -> Result<Option<SuperChunk<'static>>, Error> {
    match root {
        Some(Err(error @ (Error::Io(_) | Error::OutOfMemory))) => Err(error),
        Some(root) => Ok(root.ok().filter(is_root)),
        None => Ok(None),
    }
}

/// Lists a zip file.
pub fn zip(path: &Path, file: Shared, limits: &Limits) -> Result<Store, Error> {
    let (mut entries, mut groups) = (Vec::new(), Vec::new());
    for (name, member) in zip::members(&*file, limits)? {
        // A name that begins with a slash has two then, which no file may have.
        let name = format!("/{name}");
        if let Some(group) = name.strip_suffix('/') {
            groups.push(group.to_string());
            continue;
        }
        if !is_leftover(&name) {
            let leaf = Leaf::of_name(&name).unwrap_or(Leaf::Foreign);
            entries.push(Entry::new(name, leaf, Place::Member(member)));
        }
    }
    if entries.iter().all(|entry| entry.leaf == Leaf::Foreign) {
        let what = "a zip file in which no frames are";
        return Err(Error::Unsupported { structure: Structure::Store, what });
    }
    let root = entries.iter().find(|entry| entry.name == ROOT_NAME).map(|entry| match &entry.place {
        Place::Member(member) => open_member(member, &file, limits),
        _ => Err(IoKind::NotFound.into()),
    });
    finished(path, Form::B2z, limits, Some(file), damaged_is_none(root)?, entries, groups)
}

fn open_member(member: &Member, file: &Shared, limits: &Limits) -> Result<SuperChunk<'static>, Error> {
    SuperChunk::open_read(member.open(file, limits)?, limits)
}

/// A store, once what its root says is listed, too, and its groups and tables are known.
pub fn finished(
    path: &Path,
    form: Form,
    limits: &Limits,
    file: Option<Shared>,
    root: Option<SuperChunk<'static>>,
    mut entries: Vec<Entry>,
    groups: Vec<String>,
) -> Result<Store, Error> {
    let root = root.map(|frame| Arc::new(Root::new(frame)));
    if let Some(root) = &root {
        embedded(root, form, limits, &mut entries)?;
    }
    entries.sort_by(|a, b| (a.key(), a.name()).cmp(&(b.key(), b.name())));
    let mut all: BTreeSet<String> = groups.into_iter().collect();
    for entry in &mut entries {
        if entry.name == ROOT_NAME && entry.leaf == Leaf::Frames {
            entry.leaf = Leaf::Root;
        }
        let (key, mut depth) = (entry.key(), 0);
        for at in key.match_indices('/').map(|(at, _)| at).filter(|at| *at > 0) {
            depth = u64::from(DEPTH).min(depth).saturating_add(1);
            within("folders in folders of a store", depth, DEPTH.into())?;
            all.extend(key.get(..at).map(String::from));
        }
        within("groups of a store", all.len() as u64, limits.entries)?;
    }
    let groups = all.into_iter().collect();
    let (path, pool) = (path.to_path_buf(), FilePool::default());
    let shared = Common { path, form, limits: *limits, file, root, pool };
    let (shared, prefix, tables) = (Arc::new(shared), String::new(), Vec::new());
    let mut store = Store { shared, prefix, entries, groups, tables, reading: Reading::default() };
    let group = |entry: &Entry| {
        let group = entry.key().strip_suffix(VALID_ROWS)?;
        let described = store.find(&format!("{group}{META}"), "b2f").is_some();
        (described && store.find(entry.key(), "b2nd").is_some()).then(|| group.to_string())
    };
    let mut tables: Vec<String> = store.entries.iter().filter_map(group).collect();
    tables.sort();
    tables.dedup();
    store.tables = tables;
    Ok(store)
}

/// Lists what the root says is embedded in it, or lies elsewhere.
fn embedded(root: &Arc<Root>, form: Form, limits: &Limits, entries: &mut Vec<Entry>) -> Result<(), Error> {
    let (all, mut left) = root.with(|frame| (said(frame), frame.nbytes()));
    let all = match all {
        Ok(all) => all,
        // Nothing but the root says what is in a frame of frames; files are listed without it, too.
        Err(error) if form == Form::B2e => return Err(error),
        Err(_) => return Ok(()),
    };
    within("entries of a store", (entries.len() as u64).saturating_add(all.len() as u64), limits.entries)?;
    for (key, said) in all {
        let key = format!("/{}", key.strip_prefix('/').unwrap_or(&key));
        entries.push(match said {
            Said::Elsewhere(target) => Entry::new(key, Leaf::Reference, Place::Elsewhere(target)),
            Said::Here(offset, length) => {
                let end = offset.checked_add(length).filter(|end| *end <= root.with(|frame| frame.nbytes()));
                // Frames lie one behind the other: many that overlap would be decoded over and over.
                let leaf = match (end, left.checked_sub(length)) {
                    (Some(_), Some(rest)) => {
                        left = rest;
                        what_is(&key, Embedded::new(root.clone(), offset, length), limits)?
                    }
                    _ => Leaf::Damaged,
                };
                Entry::new(key, leaf, Place::Embedded { offset, length })
            }
        });
    }
    Ok(())
}

/// What an embedded frame is. What the limits refuse is not damaged.
fn what_is(key: &str, bytes: Embedded, limits: &Limits) -> Result<Leaf, Error> {
    let frame = match SuperChunk::open_read(bytes, limits) {
        Ok(frame) => frame,
        Err(error @ Error::Limit { .. }) => return Err(error),
        Err(error @ Error::Io(crate::error::IoError { kind: crate::error::IoKind::Limit, .. })) => {
            return Err(error);
        }
        Err(_) => return Ok(Leaf::Damaged),
    };
    Ok(match () {
        () if key.ends_with(ATTRIBUTES) => Leaf::Attributes,
        () if frame.metalayer("b2nd").is_some() => Leaf::Array,
        () if frame.metalayer("batcharray").is_some() => Leaf::Batches,
        () if is_root(&frame) => Leaf::Frames,
        () => Leaf::Frame,
    })
}
