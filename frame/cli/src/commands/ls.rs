//! `blosc ls`: what directories and stores hold, a line each.

use super::info::summary;
use crate::args::{Input, Ls};
use crate::failure::{Failure, Result};
use crate::json::printable;
use crate::open::{Intent, What, open};
use crate::readers::store::key;
use blosc_frame::any::{Found, Kind};
use serde_json::{Value, json};
use std::io::Write;
use std::path::Path;

/// Deepest folders and most entries listed.
const DEPTH: usize = 32;
const MOST: usize = 100_000;

/// Runs it.
pub fn run(args: &Ls) -> Result<()> {
    let mut rows = Vec::new();
    match args.input.input.is_dir() && is_folder(&args.input.input)? {
        true => folder(&args.input, &args.input.input, "", 0, &mut rows)?,
        false => one(&args.input, "", 0, &mut rows)?,
    }
    if args.json {
        let entries: Vec<Value> = rows
            .into_iter()
            .map(|row| json!({"name": row.name, "depth": row.depth, "info": row.info}))
            .collect();
        return super::print(&json!({"entries": entries}), true);
    }
    let label = |row: &Row| format!("{:1$}{2}", "", 2 * row.depth, printable(&row.name));
    let width = rows.iter().map(|row| label(row).chars().count()).max().unwrap_or(0);
    let mut out = std::io::stdout().lock();
    for row in &rows {
        let what = match (&row.info, &row.note) {
            (Value::Null, note) => printable(note),
            (info, _) => summary(info),
        };
        writeln!(out, "{:width$}  {what}", label(row)).map_err(|e| crate::output::stdout_failed(&e))?;
    }
    Ok(())
}

/// One line of the list.
struct Row {
    name: String,
    depth: usize,
    /// What `info` says, or null.
    info: Value,
    /// What is said where `info` says nothing.
    note: String,
}

/// Whether a directory is no container itself, but may have some in it.
fn is_folder(path: &Path) -> Result<bool> {
    let kind = Kind::of_directory(path).map_err(crate::failure::failure(path))?;
    Ok(matches!(kind, Kind::Directory | Kind::Arrays))
}

/// What lies in a directory. Links are not followed.
fn folder(input: &Input, path: &Path, name: &str, depth: usize, rows: &mut Vec<Row>) -> Result<()> {
    let mut entries: Vec<_> = std::fs::read_dir(path)
        .and_then(|entries| entries.collect::<std::io::Result<Vec<_>>>())
        .map_err(|e| Failure::at(path, e))?;
    entries.sort_by_key(std::fs::DirEntry::file_name);
    if !name.is_empty() {
        rows.push(Row { name: format!("{name}/"), depth: depth - 1, info: Value::Null, note: String::new() });
    }
    for entry in entries {
        if rows.len() >= MOST {
            return Err(Failure::at(path, "has too many entries to list"));
        }
        let name = entry.file_name().to_string_lossy().into_owned();
        let input = Input { input: entry.path(), ..input.clone() };
        let kind = entry.file_type().map_err(|e| Failure::at(path, e))?;
        match kind.is_dir() {
            true if depth < DEPTH && is_folder(&input.input).unwrap_or(false) => {
                folder(&input, &entry.path(), &name, depth + 1, rows)?;
            }
            _ if kind.is_file() || kind.is_dir() => one(&input, &name, depth, rows)?,
            _ => {}
        }
    }
    Ok(())
}

/// A container, and if it is a store what it holds.
fn one(input: &Input, name: &str, depth: usize, rows: &mut Vec<Row>) -> Result<()> {
    let mut opened = match open(input, Intent::Inspect) {
        Ok(opened) => opened,
        // A file in a directory may be anything.
        Err(failure) if !name.is_empty() => {
            let note = match Found::at(&input.input, 0, None).map(|found| found.kind) {
                Ok(Kind::Unknown) => "no Blosc data".into(),
                Ok(Kind::Foreign(other)) => format!("{other} data"),
                Ok(Kind::Zip) => "zip file".into(),
                _ => failure.to_string(),
            };
            rows.push(Row { name: name.into(), depth, info: Value::Null, note });
            return Ok(());
        }
        Err(failure) => return Err(failure),
    };
    let info = opened.info()?;
    let What::Store(store) = &opened.what else {
        let name = if name.is_empty() { input.input.to_string_lossy().into_owned() } else { name.into() };
        rows.push(Row { name, depth, info, note: String::new() });
        return Ok(());
    };
    let depth = match name.is_empty() {
        true => depth,
        false => {
            let note = info["kind"].as_str().unwrap_or("").into();
            rows.push(Row { name: name.into(), depth, info: Value::Null, note });
            depth + 1
        }
    };
    for entry in &store.entries {
        let kind = entry["kind"].as_str().unwrap_or("");
        let target = entry["target"].as_str().map(|target| format!(" -> {target}")).unwrap_or_default();
        let (info, note) = match store.open(entry, Intent::Inspect).and_then(|mut leaf| leaf.info()) {
            Ok(info) => (info, String::new()),
            Err(failure) => (Value::Null, format!("{kind}{target}: {failure}")),
        };
        rows.push(Row { name: key(entry).into(), depth, info, note });
    }
    Ok(())
}
