//! `advise`: how to compress a file.

use crate::access::Intent;
use crate::args::{Advise, Input, Run};
use crate::failure::{Failure, Result, asked, failure};
use crate::open;
use crate::opened::Contents;
use crate::output::stdout_failed;
use crate::paths;
use crate::printable::{printable_json, printable_lines};
use blosc_frame::advise::{Options, Sample, Verb, advise};
use blosc_frame::any::{AnyRows, Found, Kind};
use std::io::Write;
use std::path::Path;
use std::time::Duration;

/// Tries what there is, and prints what is best.
///
/// # Errors
/// A file that cannot be read, a type that is none.
pub fn run(args: &Advise) -> Result<()> {
    let given = match &args.dtype {
        Some(dtype) => Some(blosc_frame::advise::parse_dtype(dtype).map_err(asked)?.itemsize()),
        None => args.typesize,
    };
    let path = args.input.as_path();
    let is_leaf = paths::leaf(path).is_some();
    if is_leaf && given.is_some() {
        return Err(Failure::Usage("--dtype, --typesize: a leaf says of which type its items are".into()));
    }
    if !is_leaf && paths::is_stream(path)? {
        let text = "a stream, of which no sample can be taken: put it into a file";
        return Err(Failure::Usage(format!("{}: {text}", path.display())));
    }
    let sample = match container(path, is_leaf)? {
        Some(rows) => Sample::of_rows(path, &rows, Verb::Convert, given),
        None => Sample::of(path, args.dtype.as_deref(), args.typesize),
    };
    let sample = sample.map_err(failure(path))?;
    let options = Options { time: Duration::from_secs_f64(args.time), disk: args.disk };
    let advice = advise(&sample, &options);
    let text = match args.json {
        true => printable_json(&advice.json(&sample)) + "\n",
        false => printable_lines(&advice.text(&sample)),
    };
    std::io::stdout().write_all(text.as_bytes()).map_err(|e| stdout_failed(&e))
}

/// What is opened as the other commands open it: a leaf, and what may be a store, or a frame without items of its own,
/// for which no advice could be followed.
fn container(path: &Path, is_leaf: bool) -> Result<Option<AnyRows>> {
    let open = || open::open(&Input::whole(path, None, &Run::default()), Intent::Read);
    if is_leaf {
        return open()?.what.into_any(path).map(Some);
    }
    match Found::at(path, 0, None).map_err(failure(path))?.kind {
        Kind::Frame | Kind::SparseFrame | Kind::Store | Kind::Arrays => open()?.what.into_any(path).map(Some),
        Kind::Zip => match open() {
            Ok(opened) if matches!(opened.what, Contents::Store(_)) => opened.what.into_any(path).map(Some),
            _ => Ok(None),
        },
        _ => Ok(None),
    }
}
