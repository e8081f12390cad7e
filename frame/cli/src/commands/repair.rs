//! `blosc repair`: what is left of a frame, as a new one.

use crate::args::Repair;
use crate::failure::{Failure, Result, asked, copying};
use crate::json::from_hex;
use crate::limits::limits_of;
use crate::open::past_end;
use crate::opened::Holds;
use crate::output::{Destination, Shape};
use crate::paths::is_stream;
use crate::writers;
use crate::writers::choice::{Request, Verb};
use blosc_frame::any::{Found, Kind};
use blosc_frame::io::{FsDir, Offset, PathFile};
use blosc_frame::repair::{self, Options, Order, Repaired, Substitute, repair_dir};
use blosc_frame::{Error, SuperChunk};
use serde_json::{Value, json};
use std::fs::File;
use std::ops::Range;
use std::path::Path;

/// `blosc repair`.
pub fn run(args: &Repair) -> Result<()> {
    let path = args.input.as_path();
    let out = args.output.output.as_path();
    Request { verb: Verb::Repair, holds: Holds::Bytes, name: out, format: None }.format()?;
    let options = Options::from(&limits_of(args.max_output, path)).substitute(substitute(&args.fill)?);
    if path.is_dir() && args.offset != 0 {
        return Err(Failure::Usage(format!("--offset: {} is a directory and has none", path.display())));
    }
    let failed = |error: Error| match error {
        error @ Error::Param { .. } => asked(error).about("--fill"),
        error => copying(path, out)(error),
    };
    let report = if path.is_dir() {
        check_kind(path, 0)?;
        let dir = FsDir::open(path)?;
        writers::frame::new_dir(&args.output, |fresh| {
            let made = repair_dir(&dir, options, |params| SuperChunk::create_dir(fresh, params));
            Ok(made.map_err(failed)?.0)
        })?
    } else {
        if out == Path::new("-") {
            // The report goes there.
            return Err(Failure::Usage("-o: name a file for the repaired frame".into()));
        }
        if is_stream(path)? {
            let text = "a stream, and what is repaired is read back and forth: put it into a file";
            return Err(Failure::Usage(format!("{}: {text}", path.display())));
        }
        let file = File::open(path).map_err(Failure::io(path))?;
        if args.offset > file.metadata().map_err(Failure::io(path))?.len() {
            return Err(past_end(path, args.offset));
        }
        check_kind(path, args.offset)?;
        let file = Offset::new(file, args.offset).map_err(|e| Failure::at(path, e))?;
        // By its path: what is repaired may be written anew.
        Destination::of(&args.output, Shape::File)?.made(|new| {
            let made =
                repair::repair(&file, options, |params| SuperChunk::create(PathFile::create(new)?, params));
            Ok(made.map_err(failed)?.0)
        })?
    };
    super::print(&told(&report, out, args.json), args.json)?;
    match report.is_complete() {
        true => Ok(()),
        false => {
            Err(Failure::at(path, format_args!("repaired in part, as {}: {}", out.display(), lost(&report))))
        }
    }
}

/// What takes the place of lost items.
fn substitute(fill: &str) -> Result<Substitute> {
    match fill {
        "zeros" => Ok(Substitute::Zeros),
        "nan" => Ok(Substitute::Nan),
        value => {
            let item = value.strip_prefix("0x").and_then(from_hex);
            let what =
                || Failure::Usage(format!("--fill {value:?}: zeros, nan, or 0x and the bytes of an item"));
            item.map(Substitute::Item).ok_or_else(what)
        }
    }
}

/// Refuses what is whole enough to be known as something else.
fn check_kind(path: &Path, offset: u64) -> Result<()> {
    let kind = Found::at(path, offset, None).map_err(crate::failure::failure(path))?.kind;
    let what = match kind {
        Kind::Frame | Kind::SparseFrame | Kind::SparseIndex | Kind::Unknown | Kind::Directory => {
            return Ok(());
        }
        Kind::Chunk => "a bare chunk",
        Kind::Bloscpack => "a bloscpack file",
        Kind::Bcolz(_) => "a bcolz directory",
        Kind::Blaze | Kind::Shards => "Blaze data",
        Kind::Store | Kind::Arrays => "a directory of arrays: name one of them",
        Kind::Zip => "a zip file",
        Kind::Npy => "a NumPy file",
        _ => "no Blosc container",
    };
    Err(Failure::at(path, format_args!("{what}; repair mends frames and arrays")))
}

/// The report, as JSON or for people.
fn told(report: &Repaired, out: &Path, as_json: bool) -> Value {
    let order = match report.order {
        Order::Index => "the frame's index",
        Order::FoundIndex => "an index found in the file; it may be an older state",
        Order::Stored => "the order in which the chunks are stored",
    };
    let chunks = ranges(report.lost.iter().map(|k| *k..k.saturating_add(1)));
    if as_json {
        let pairs =
            |ranges: &[Range<u64>]| ranges.iter().map(|r| json!([r.start, r.end])).collect::<Vec<_>>();
        return json!({
            "output": out.display().to_string(), "complete": report.is_complete(), "order": order,
            "kept": report.kept, "unchecked": report.unchecked, "placed": report.placed, "lost": report.lost.len(),
            "lost_chunks": pairs(&chunks), "lost_rows": pairs(&report.gone), "missing": report.missing,
            "dropped": report.dropped, "leaves_lost": report.leaves_lost, "leaves_in_part": report.leaves_in_part, "index_intact": report.intact, "header_read": report.header, "vlmetalayers_read": report.vlmetalayers,
        });
    }
    let mut told = json!({
        "written": out.display().to_string(), "order of chunks": order,
        "chunks kept": report.kept, "chunks lost": report.lost.len(),
    });
    let mut say = |name: &str, what: Value| {
        if let Value::Object(told) = &mut told {
            told.insert(name.into(), what);
        }
    };
    if !report.lost.is_empty() {
        say("numbers of lost chunks", words(&chunks).into());
        say("lost rows or items", words(&report.gone).into());
    }
    if report.unchecked > 0 {
        say("copied without decoding", report.unchecked.into());
    }
    if report.missing > 0 {
        say("chunks missing", report.missing.into());
    }
    if !report.dropped.is_empty() {
        say("metalayers left out", report.dropped.join(", ").into());
    }
    for (name, keys) in [
        ("frames in it lost", &report.leaves_lost),
        ("frames in it repaired in part", &report.leaves_in_part),
    ] {
        if !keys.is_empty() {
            say(name, keys.join(", ").into());
        }
    }
    told
}

/// Why the new frame is not all of the old one, in a few words.
fn lost(report: &Repaired) -> String {
    let mut what = Vec::new();
    if !report.lost.is_empty() {
        let all = report.lost.len();
        what.push(format!("{all} chunk{} lost (rows or items {})", plural(all as u64), words(&report.gone)));
    }
    if report.placed > 0 {
        what.push(format!("{} put where they lie, as their entries are damaged", report.placed));
    }
    if report.missing > 0 {
        what.push(format!("{} chunk{} missing", report.missing, plural(report.missing)));
    }
    if !report.dropped.is_empty() {
        what.push(format!("metalayers left out: {}", report.dropped.join(", ")));
    }
    if !report.leaves_lost.is_empty() {
        what.push(format!("frames in it lost: {}", report.leaves_lost.join(", ")));
    }
    if !report.leaves_in_part.is_empty() {
        what.push(format!("frames in it repaired in part: {}", report.leaves_in_part.join(", ")));
    }
    if !report.intact {
        what.push("its header, index or trailer are not what was written".into());
    }
    if !report.header {
        what.push("its header cannot be read, so metalayers may be lost".into());
    }
    if !report.vlmetalayers {
        what.push("its trailer cannot be read, so variable-length metalayers may be lost".into());
    }
    match report.order {
        Order::Index => {}
        Order::FoundIndex => what.push("the index found may be of an older state".into()),
        Order::Stored => what.push("without an index, the chunks are in the order they are stored in".into()),
    }
    what.join("; ")
}

fn plural(n: u64) -> &'static str {
    if n == 1 { "" } else { "s" }
}

/// Ranges that touch, joined.
fn ranges(all: impl Iterator<Item = Range<u64>>) -> Vec<Range<u64>> {
    let mut joined: Vec<Range<u64>> = Vec::new();
    for range in all {
        match joined.last_mut() {
            Some(last) if last.end == range.start => last.end = range.end,
            _ => joined.push(range),
        }
    }
    joined
}

/// The numbers in these ranges; of many ranges, the first ones.
fn words(ranges: &[Range<u64>]) -> String {
    const MOST: usize = 20;
    let word = |range: &Range<u64>| match range.end.saturating_sub(range.start) {
        1 => range.start.to_string(),
        _ => format!("{} to {}", range.start, range.end.saturating_sub(1)),
    };
    let mut text = ranges.iter().take(MOST).map(word).collect::<Vec<_>>().join(", ");
    if ranges.len() > MOST {
        text += &format!(", and {} more ranges (--json lists them)", ranges.len() - MOST);
    }
    text
}
