//! `blosc ls`: what directories and stores hold, a line each. What cannot be read is said, and the list goes on.

use super::info::summary;
use crate::access::Intent;
use crate::args::{Input, Ls};
use crate::failure::{Failure, Result, failure};
use crate::open::open;
use crate::output::notice;
use crate::printable::{printable, printable_json};
use blosc_frame::any::{Found, Kind};
use serde_json::{Value, json};
use std::io::Write;
use std::path::Path;

/// Deepest folders and most entries listed.
const DEPTH: usize = 32;
const MOST: usize = 100_000;

/// Runs it.
pub fn run(args: &Ls) -> Result<()> {
    match folder_kind(&args.input)? {
        Some(_) if !args.input.column.is_empty() || args.input.anywhere || args.input.no_verify => {
            let text =
                "--column, --anywhere, --no-verify: they are for one container, and this is a directory";
            Err(Failure::Usage(format!("{text}: {}", args.input.input.display())))
        }
        Some(_) => List::shown(args.json, "", |list| list.folder(&args.input, "", 0, DEPTH)),
        None => List::shown(args.json, "", |list| list.one(&args.input, "", 0)),
    }
}

/// What `info` says of a directory that is no container: what lies in it, but not in its folders.
pub fn info(input: &Input, json: bool) -> Result<()> {
    List::shown(json, "\n  \"kind\": \"directory\",", |list| {
        list.folder(input, "", 0, 0)?;
        if list.listed == 0 {
            return Err(Failure::at(&input.input, Kind::Directory.advice().unwrap_or_default()));
        }
        let what = "a directory, and no container itself; `blosc ls` lists what lies in its folders, too";
        notice(format_args!("{}: {what}", input.input.display()));
        Ok(())
    })
}

/// One line of the list.
struct Row {
    name: String,
    depth: usize,
    /// What it is.
    text: String,
}

/// The kind of a directory that is no container itself, but may have some in it; `None` for all else.
///
/// # Errors
/// A directory that cannot be read.
pub fn folder_kind(input: &Input) -> Result<Option<Kind>> {
    let path = input.input.as_path();
    if !path.is_dir() || input.kind.is_some() || input.offset != 0 {
        return Ok(None);
    }
    kind_of_folder(path)
}

fn kind_of_folder(path: &Path) -> Result<Option<Kind>> {
    let kind = Kind::of_directory(path).map_err(failure(path))?;
    Ok(Some(kind).filter(|kind| matches!(kind, Kind::Directory | Kind::Arrays)))
}

/// What was found.
#[derive(Default)]
struct List {
    rows: Vec<Row>,
    /// Lines so far.
    listed: usize,
    /// Whether they are printed as JSON, and how that begins.
    json: bool,
    head: String,
    /// Number of folders of which something is missing in the list.
    incomplete: usize,
}

impl List {
    /// Prints what `fill` finds. JSON begins with `head`, and ends where the list does.
    fn shown(json: bool, head: &str, fill: impl FnOnce(&mut List) -> Result<()>) -> Result<()> {
        let mut list = List { json, head: head.into(), ..List::default() };
        fill(&mut list)?;
        match json {
            true if list.listed == 0 => list.write(format_args!("{{{head}\n  \"entries\": []\n}}\n"))?,
            true => list.write(format_args!("\n  ]\n}}\n"))?,
            false => list.print()?,
        }
        list.complete()
    }

    /// What lies in a directory, and in its folders down to the depth `most`. Links are not followed.
    ///
    /// # Errors
    /// A directory that cannot be read. Of a folder in it that is said, and the list goes on.
    fn folder(&mut self, input: &Input, name: &str, depth: usize, most: usize) -> Result<()> {
        let path = input.input.as_path();
        let mut entries: Vec<_> = std::fs::read_dir(path)
            .and_then(|entries| entries.collect::<std::io::Result<Vec<_>>>())
            .map_err(Failure::io(path))?;
        entries.sort_by_key(std::fs::DirEntry::file_name);
        if !name.is_empty() {
            self.note(format!("{name}/"), depth - 1, String::new())?;
        }
        for entry in entries {
            if self.listed >= MOST {
                self.miss(&Failure::at(path, format!("more than {MOST} entries are not listed")));
                break;
            }
            let name = entry.file_name().to_string_lossy().into_owned();
            let input = Input { input: entry.path(), ..input.clone() };
            let kind = entry.file_type().map_err(Failure::io(&input.input))?;
            if kind.is_file() {
                self.one(&input, &name, depth)?;
            } else if kind.is_dir() {
                let listed = kind_of_folder(&input.input).and_then(|kind| match kind {
                    Some(_) if depth < most => self.folder(&input, &name, depth + 1, most),
                    Some(_) => self.note(format!("{name}/"), depth, String::new()),
                    None => self.one(&input, &name, depth),
                });
                if let Err(failure) = listed {
                    self.note(format!("{name}/"), depth, "cannot be read".into())?;
                    self.miss(&failure);
                }
            }
        }
        Ok(())
    }

    /// A line of which `info` has nothing to say.
    fn note(&mut self, name: String, depth: usize, note: String) -> Result<()> {
        self.row(name, depth, &Value::Null, note)
    }

    /// A line: what `info` says, or `note` where it says nothing. JSON is printed at once: it may be long.
    fn row(&mut self, name: String, depth: usize, info: &Value, note: String) -> Result<()> {
        self.listed += 1;
        if !self.json {
            let text = if info.is_null() { printable(&note) } else { summary(info) };
            self.rows.push(Row { name, depth, text });
            return Ok(());
        }
        let entry = format!("{:#}", json!({"name": name, "depth": depth, "info": info}));
        let before = match self.listed {
            1 => format!("{{{}\n  \"entries\": [", self.head),
            _ => ",".to_string(),
        };
        self.write(format_args!("{before}\n    {}", printable_json(&entry).replace('\n', "\n    ")))
    }

    fn write(&self, text: std::fmt::Arguments<'_>) -> Result<()> {
        std::io::stdout().lock().write_fmt(text).map_err(|e| crate::output::stdout_failed(&e))
    }

    /// Says what is missing in the list.
    fn miss(&mut self, failure: &Failure) {
        notice(failure);
        self.incomplete += 1;
    }

    /// Whether all is in the list.
    ///
    /// # Errors
    /// [`Failure::Unable`] otherwise.
    fn complete(self) -> Result<()> {
        match self.incomplete {
            0 => Ok(()),
            n => Err(Failure::Unable(format!("the list lacks what lies in {n} of the folders"))),
        }
    }

    fn print(&self) -> Result<()> {
        let label = |row: &Row| format!("{:1$}{2}", "", 2 * row.depth, printable(&row.name));
        let width = self.rows.iter().map(|row| label(row).chars().count()).max().unwrap_or(0);
        let mut out = std::io::stdout().lock();
        for row in &self.rows {
            writeln!(out, "{:width$}  {}", label(row), row.text)
                .map_err(|e| crate::output::stdout_failed(&e))?;
        }
        Ok(())
    }

    /// A container, and if it is a store what it holds.
    fn one(&mut self, input: &Input, name: &str, depth: usize) -> Result<()> {
        let opened =
            open(input, Intent::Inspect).and_then(|mut opened| opened.info().map(|info| (opened, info)));
        let (opened, info) = match opened {
            Ok(found) => found,
            // A file in a directory may be anything.
            Err(failure) if !name.is_empty() => {
                let note = match Found::at(&input.input, 0, None).map(|found| found.kind) {
                    Ok(Kind::Unknown) => "no Blosc data".into(),
                    Ok(Kind::Foreign(other)) => format!("{other} data"),
                    Ok(Kind::Hdf5) if cfg!(not(feature = "hdf5")) => "HDF5 data".into(),
                    Ok(Kind::Zarr) if cfg!(not(feature = "zarr")) => "Zarr data".into(),
                    Ok(Kind::Zip) => "zip file".into(),
                    _ => failure.to_string(),
                };
                return self.note(name.into(), depth, note);
            }
            Err(failure) => return Err(failure),
        };
        let Some(entries) = opened.entries() else {
            let name = if name.is_empty() { input.input.to_string_lossy().into_owned() } else { name.into() };
            return self.row(name, depth, &info, String::new());
        };
        let depth = match name.is_empty() {
            true => depth,
            false => {
                let note = info["kind"].as_str().unwrap_or("").into();
                self.note(name.into(), depth, note)?;
                depth + 1
            }
        };
        for n in 0..entries {
            let (name, kind, leaf) = opened.entry(n);
            let info = leaf.and_then(|leaf| leaf.map(|mut leaf| leaf.info()).transpose());
            let (info, note) = match info {
                Ok(Some(info)) => (info, String::new()),
                Ok(None) => (Value::Null, kind),
                Err(failure) => (Value::Null, format!("{kind}: {failure}")),
            };
            self.row(name, depth, &info, note)?;
        }
        Ok(())
    }
}
