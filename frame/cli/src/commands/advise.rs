//! `advise`: how to compress a file.

use crate::args::{Input, Run};
use crate::failure::{Failure, Result, asked, failure};
use crate::open::{self, Intent, What};
use crate::output::stdout_failed;
use crate::printable::{printable_json, printable_lines};
use blosc_frame::advise::{Options, Sample, Verb, advise};
use blosc_frame::any::{AnyRows, Found, Kind};
use clap::Args as Group;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// `blosc advise`.
#[derive(Debug, Group)]
pub struct Advise {
    /// A file of plain items, a NumPy file, a container, or a leaf of a store as STORE:/KEY
    pub input: PathBuf,
    /// NumPy type of the items of a plain file, such as f4
    #[arg(long, value_name = "DTYPE", conflicts_with = "typesize")]
    pub dtype: Option<String>,
    /// Bytes per item of a plain file; 1 if left out
    #[arg(long, value_name = "BYTES", value_parser = clap::value_parser!(u32).range(1..=255))]
    pub typesize: Option<u32>,
    /// Seconds to try, about
    #[arg(long, default_value_t = 5.0, value_name = "SECONDS", value_parser = positive)]
    pub time: f64,
    /// GB a second of the disk or network that the result goes to and comes from
    #[arg(long, default_value_t = 1.0, value_name = "GBPS", value_parser = positive)]
    pub disk: f64,
    /// As JSON
    #[arg(long)]
    pub json: bool,
}

fn positive(text: &str) -> std::result::Result<f64, String> {
    let number = text.parse().ok().filter(|x: &f64| *x > 0.0 && *x <= 86_400.0);
    number.ok_or_else(|| "a positive number up to 86400".into())
}

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
    let is_leaf = open::leaf(path).is_some();
    if is_leaf && given.is_some() {
        return Err(Failure::Usage("--dtype, --typesize: a leaf says of which type its items are".into()));
    }
    if !is_leaf && open::is_stream(path)? {
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
            Ok(opened) if matches!(opened.what, What::Store(_)) => opened.what.into_any(path).map(Some),
            _ => Ok(None),
        },
        _ => Ok(None),
    }
}
