//! [`open`]: what a command reads or changes, opened once, and after its lock is held.
//!
//! ```text
//! lock → directory                       → any::Kind → Opened
//!        file: opened, its first bytes   → any::Kind → Opened
//!        URL                             → any::Kind → Opened, read where it is
//!        stream (-, a FIFO, <(command)): its first bytes → any::Kind; copied to a file without a name → Opened
//! ```
//! What a file is, [`any::Kind`](blosc_frame::any::Kind) alone decides. Whether its items are data or placeholders is
//! checked here and nowhere else.

use crate::access::{self, Intent, Lock};
use crate::args::{Input, Kind as As};
use crate::failure::{Failure, Result, failure};
use crate::limits::{check_output, limits, max_by_size};
use crate::opened::{Contents, Opened};
use crate::output::notice;
use crate::paths::{is_directory, is_stream, is_url, leaf};
use crate::readers::array::ArrayReader;
use crate::readers::bcolz;
use crate::readers::chunk::ChunkReader;
use crate::readers::engines;
use crate::readers::frame::FrameReader;
use crate::readers::rows::RowsReader;
use crate::readers::store::StoreReader;
use crate::signals::remember_replacing;
use crate::streams::{remote, stream, unnamed};
use crate::trailing::Trailing;
use blosc_frame::any::{self, Found, HEAD, Kind, Source};
use blosc_frame::b2nd::{NdArray, carrier};
use blosc_frame::bcolz::Flavour;
use blosc_frame::io::ReadAt;
use blosc_frame::store::{self};
use blosc_frame::store::{Entry, Leaf, Place};
use blosc_frame::{Error, Structure, SuperChunk};
use clap::ValueEnum;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

/// Opens what `input` names.
///
/// # Errors
/// What opening and reading give; a kind that no command opens; placeholders, where `intent` takes items.
pub fn open(input: &Input, intent: Intent) -> Result<Opened> {
    let path = input.input.as_path();
    if let Some((store, key)) = leaf(path) {
        if input.kind.is_some() || input.offset != 0 {
            return Err(Failure::Usage("--as, --offset: a store says where its leaves are and what".into()));
        }
        let whole = Input { input: store.clone(), column: Vec::new(), ..input.clone() };
        return match open(&whole, Intent::Inspect)?.what {
            Contents::Store(store) => store.leaf(&key, intent, !input.column.is_empty()),
            Contents::ForeignStore(tree) if !intent.writes() => {
                Ok(Opened::of(Contents::ForeignArray(tree.leaf(&key, intent)?)))
            }
            _ => Err(Failure::at(&store, format!("is no store, so it has no {key}"))),
        };
    }
    let lock = access::lock(path, input.lock, intent.writes())?;
    open_found(find(input, intent)?, input, intent, lock)
}

/// Opens what was found.
///
/// # Errors
/// As [`open`].
pub fn open_found(found: Found, input: &Input, intent: Intent, lock: Option<Lock>) -> Result<Opened> {
    let (path, kind) = (input.input.as_path(), found.kind);
    let stored = match (&found.file, kind) {
        // The data of a manifest lies elsewhere.
        (_, Kind::Shards) => 1 << 40,
        (Some(file), _) => file.size()?,
        (None, _) => crate::limits::size(path),
    };
    let max = input.max_output.unwrap_or_else(|| max_by_size(stored));
    access::check_options_of(input, kind)?;
    let mut trailing = None;
    let what = match kind {
        Kind::Frame | Kind::SparseFrame => {
            let (frame, more) = open_frame(found, path, max)?;
            trailing = more;
            of_frame(frame, input, intent, max)?
        }
        Kind::Chunk => {
            let file = found.file.ok_or_else(|| other_place(path, As::Chunk))?;
            let chunk = ChunkReader::new(path, &file, found.offset, max, &input.run)?;
            trailing = Trailing::of(kind, &file, found.offset, chunk.stored())?;
            Contents::Chunk(chunk)
        }
        Kind::Zip if found.file.as_ref().and_then(Source::file).is_some_and(engines::is_zarr) => {
            engines::open_zip(found, input, intent, max)?.into()
        }
        Kind::Store | Kind::Arrays | Kind::Directory | Kind::Zip => {
            match any::Opened::of(found, &limits(max), false).map_err(no_store(path, kind))? {
                any::Opened::Store(store) | any::Opened::Table(store) => {
                    Contents::Store(StoreReader::new(input, *store)?)
                }
                _ => return Err(unknown(path, kind)),
            }
        }
        Kind::Npy if intent.writes() => {
            return Err(Failure::at(
                path,
                "a NumPy file, not compressed: NumPy changes it; compress makes an array of it",
            ));
        }
        Kind::Bloscpack | Kind::Bcolz(_) | Kind::Blaze | Kind::Shards | Kind::Npy => {
            if let (Some(file), Kind::Npy) = (&found.file, kind) {
                trailing = Trailing::of_npy(file, found.offset)?;
            }
            let opened = match any::open_found(found, &limits(max), input.anywhere) {
                Err(error) if kind == Kind::Bcolz(Flavour::Table) => bcolz::damaged_table(input, max, error)?,
                opened => opened.map_err(failure(path))?,
            };
            if intent == Intent::Change {
                opened.check_limit().map_err(failure(path))?;
            }
            let rows = RowsReader::new(path, opened, input, max)?;
            trailing = trailing.or(rows.trailing()?);
            Contents::Rows(rows)
        }
        kind if engines::reads(kind) => engines::open(found, input, intent, max)?.into(),
        kind => return Err(unknown(path, kind)),
    };
    // In a part of a larger file, which starts at an offset, what follows is no part of what was asked for.
    trailing = trailing.filter(|_| input.offset == 0);
    if let Some(trailing) = &trailing {
        trailing.keep(path, intent)?;
    }
    Ok(Opened { what, trailing, _lock: lock })
}

/// Opens what must be a frame, be it an array or not.
///
/// # Errors
/// As [`open`]; of something else that it is no frame.
pub fn open_as_frame(input: &Input, intent: Intent) -> Result<(SuperChunk<'static>, Option<Lock>)> {
    let path = input.input.as_path();
    if leaf(path).is_some() {
        return into_frame(open(input, intent)?, input, intent);
    }
    let lock = access::lock(path, input.lock, intent.writes())?;
    let found = find(input, intent)?;
    let kind = found.kind;
    if matches!(kind, Kind::Store | Kind::Arrays | Kind::Zip) {
        return into_frame(open_found(found, input, Intent::Inspect, lock)?, input, intent);
    }
    if !matches!(kind, Kind::Frame | Kind::SparseFrame) {
        return Err(Failure::at(path, kind.advice().unwrap_or("no frame or array".into())));
    }
    let max = input.max_output.unwrap_or_else(|| max_by_size(crate::limits::size(path)));
    let (mut frame, trailing) = open_frame(found, path, max)?;
    prepare(&mut frame, input, intent, max)?;
    if let Some(trailing) = trailing.filter(|_| intent.writes()) {
        trailing.keep(path, intent)?;
    }
    Ok((frame, lock))
}

fn into_frame(opened: Opened, input: &Input, intent: Intent) -> Result<(SuperChunk<'static>, Option<Lock>)> {
    match opened.what {
        Contents::Array(array) => Ok((array.nd.into_frame(), opened._lock)),
        Contents::Frame(reader) => Ok((reader.frame, opened._lock)),
        Contents::Store(store) => into_frame(attributes(input, &store, intent)?, input, intent),
        _ => Err(Failure::at(&input.input, "no frame or array")),
    }
}

/// Finds what `input` names, or takes it for what `--as` says.
fn find(input: &Input, intent: Intent) -> Result<Found> {
    let path = input.input.as_path();
    let offset = input.offset;
    if offset != 0 && intent.writes() {
        // It would overwrite what follows, and be cut off after its end (`docs/formats/cframe.md` §10).
        let why = "a frame inside a larger file cannot be changed; copy it out with repair --offset";
        return Err(Failure::Usage(format!("{}: --offset: {why}", path.display())));
    }
    let failed = |error| match error {
        Error::Param { .. } => past_end(path, offset),
        error => failure(path)(error),
    };
    let far = is_url(path);
    let mut found = match far || is_stream(path)? {
        true if intent.writes() => {
            let what = if far { "what lies behind a URL" } else { "a stream" };
            return Err(Failure::Usage(format!("{}: {what} cannot be changed", path.display())));
        }
        _ if is_directory(path) && offset != 0 => {
            return Err(Failure::Usage(format!("--offset: {} is a directory and has none", path.display())));
        }
        true if far => remote(path, offset, failed)?,
        true => spool(stream(path)?, input)?,
        false => {
            if intent.writes() {
                remember_replacing(path);
            }
            Found::at(path, offset, intent.writes().then(|| input.locking())).map_err(failed)?
        }
    };
    found.kind = match (input.kind, found.file.is_some()) {
        (None, _) => found.kind,
        (Some(As::Chunk), true) => Kind::Chunk,
        (Some(As::Frame | As::B2nd), true) => Kind::Frame,
        (Some(As::Bloscpack), true) => Kind::Bloscpack,
        (Some(As::Blaze), true) => Kind::Shards,
        (Some(As::Sframe | As::B2nd), false) => Kind::SparseFrame,
        (Some(As::Bcolz), false) if found.kind == Kind::Bcolz(Flavour::Table) => found.kind,
        (Some(As::Bcolz), false) => Kind::Bcolz(Flavour::Column),
        (Some(As::Blaze), false) => Kind::Blaze,
        (Some(kind), _) => return Err(other_place(path, kind)),
    };
    Ok(found)
}

/// The answer to an `--offset` behind the end.
pub fn past_end(path: &Path, offset: u64) -> Failure {
    Failure::Usage(format!("--offset {offset} is past the end of {}", path.display()))
}

/// What cannot be opened, and what to do with it.
fn unknown(path: &Path, kind: Kind) -> Failure {
    let text = format!("{}: {}", path.display(), kind.advice().unwrap_or_default());
    match kind {
        Kind::Foreign(_) | Kind::Hdf5 | Kind::Zarr => Failure::Unable(text),
        _ => Failure::Data(text),
    }
}

/// The answer to `--as` a kind that lies in files where there is a directory, or the other way round.
fn other_place(path: &Path, kind: As) -> Failure {
    let name = kind.to_possible_value().map(|value| value.get_name().to_string()).unwrap_or_default();
    let what =
        if is_directory(path) { "no directory, and this is one" } else { "a directory, and this is none" };
    Failure::Usage(format!("--as {name}: {}: that is {what}", path.display()))
}

/// Copies a stream, from the data's start on, to a file without a name. One that begins like nothing known is not
/// copied: it may have no end.
fn spool(mut stream: Box<dyn Read>, input: &Input) -> Result<Found> {
    let path = input.input.as_path();
    let skipped =
        io::copy(&mut (&mut stream).take(input.offset), &mut io::sink()).map_err(Failure::io(path))?;
    if skipped != input.offset {
        return Err(past_end(path, input.offset));
    }
    let mut head = Vec::new();
    (&mut stream).take(HEAD as u64).read_to_end(&mut head).map_err(Failure::io(path))?;
    let kind = Kind::of_head(&head, None);
    if input.kind.is_none() && kind.advice().is_some() && !engines::reads(kind) {
        return Err(unknown(path, kind));
    }
    Found::of(path, unnamed(&mut head.chain(stream), path)?, 0).map_err(failure(path))
}

/// Why a directory or a zip file is no store.
fn no_store(path: &Path, kind: Kind) -> impl Fn(Error) -> Failure + '_ {
    move |error| match (error, kind) {
        (Error::Unsupported { structure: Structure::Directory, .. }, _) => unknown(path, Kind::Directory),
        (Error::Unsupported { structure: Structure::Store, .. }, Kind::Zip) => {
            let text = "a zip file, but no python-blosc2 store: it holds no frames (compress makes arrays of .npz files)";
            Failure::Unable(format!("{}: {text}", path.display()))
        }
        (error, _) => failure(path)(error),
    }
}

/// What a frame is: an array, the root of a store, or a frame and no more.
///
/// # Errors
/// Placeholders, where `intent` takes items; records of others, where it changes them.
pub fn of_frame(mut frame: SuperChunk<'static>, input: &Input, intent: Intent, max: u64) -> Result<Contents> {
    let path = input.input.as_path();
    prepare(&mut frame, input, intent, max)?;
    let array = |mut nd: NdArray<'static>| {
        nd.set_threads(input.run.threads);
        Ok(Contents::Array(Box::new(ArrayReader::new(path, nd, max))))
    };
    let frame_only = |frame| Ok(Contents::Frame(FrameReader::new(path, frame, max)));
    match input.kind {
        Some(As::B2nd) => return array(NdArray::open(frame).map_err(failure(path))?),
        None if !intent.writes() && store::is_root(&frame) => {
            let store = store::Store::of_frame(path, frame).map_err(failure(path))?;
            return Ok(Contents::Store(StoreReader::new(input, store)?));
        }
        None => {}
        Some(_) => return frame_only(frame),
    }
    match any::Opened::of_frame(frame).map_err(failure(path))? {
        any::Opened::Array(nd) => array(*nd),
        _ if !input.column.is_empty() => {
            Err(Failure::Usage(format!("--column: {} is no table", path.display())))
        }
        any::Opened::Frame(frame) => frame_only(*frame),
        // What lies around the items of a tensor is that of a frame.
        any::Opened::Tensor(tensor) if !intent.takes_items() => frame_only(tensor.into_frame()),
        other => {
            let rows = other.into_rows().map_err(failure(path))?;
            Ok(Contents::Rows(RowsReader::new(path, rows, input, max)?))
        }
    }
}

/// Tells a frame what was asked for, and checks that it holds the items that `intent` takes.
fn prepare(frame: &mut SuperChunk<'static>, input: &Input, intent: Intent, max: u64) -> Result<()> {
    let path = input.input.as_path();
    frame.set_threads(input.run.threads);
    frame.set_verify(!input.no_verify);
    if let (true, false, Some(why)) = (intent.takes_items(), input.no_verify, frame.unchecked()) {
        notice(format_args!("{}: read without comparing it with its checksums: {why}", path.display()));
    }
    if intent == Intent::Change {
        check_output(path, frame.stored_nbytes(), max)?;
    }
    if intent.takes_items()
        && let Some(found) = carrier::of(frame).map_err(failure(path))?
    {
        if found.is_placeholder() {
            return Err(Failure::at(path, found));
        }
        if intent == Intent::Change && found.has_records() {
            return Err(Failure::at(path, format!("{found}; items changed by themselves would break it")));
        }
    }
    Ok(())
}

/// Opens the frame that was found.
fn open_frame(found: Found, path: &Path, max: u64) -> Result<(SuperChunk<'static>, Option<Trailing>)> {
    // Another handle of the same open file, to look behind the frame with.
    let file = found.file.as_ref().map(Source::reader).transpose()?;
    let offset = found.offset;
    let frame = found.frame(&limits(max)).map_err(failure(path))?;
    let trailing = match &file {
        Some(file) => Trailing::of(Kind::Frame, file, offset, frame.header().frame_len)?,
        None => None,
    };
    Ok((frame, trailing))
}

impl StoreReader {
    /// The leaf, group or table of a key, with or without its extension; with `columns` it must be a table.
    fn leaf(&self, wanted: &str, intent: Intent, columns: bool) -> Result<Opened> {
        let group = self.store.group(wanted);
        let entry = self.store.get(wanted).filter(|_| !self.store.has_table(wanted.trim_end_matches('/')));
        match (entry, group) {
            (Some(entry), _) if !columns => self.open(entry, intent),
            (_, Some(group)) if !columns || group.is_table() => {
                let input = Input { column: Vec::new(), ..self.input.clone() };
                Ok(Opened::of(Contents::Store(StoreReader::new(&input, group)?)))
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
}

/// The frame with the attributes of a store or a group, to be read, or changed where it is a file of its own.
fn attributes(input: &Input, store: &StoreReader, intent: Intent) -> Result<Opened> {
    let none = || Failure::at(&input.input, "no frame or array, and a store without attributes");
    store.open(store.store.attributes_of("").ok_or_else(none)?, intent)
}
