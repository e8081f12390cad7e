//! `advise`: how to compress a file.

use crate::args::{Input, Run};
use crate::failure::{Failure, Result, asked, failure};
use crate::open::{self, Intent};
use crate::output::stdout_failed;
use blosc_frame::advise::{Options, Sample, Verb, advise};
use clap::Args as Group;
use std::io::Write;
use std::path::PathBuf;
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
    if let Some(dtype) = &args.dtype {
        blosc_frame::advise::parse_dtype(dtype).map_err(asked)?;
    }
    let path = args.input.as_path();
    let sample = match open::leaf(path) {
        Some(_) => leaf(args)?,
        None if open::is_stream(path)? => {
            let text = "a stream, of which no sample can be taken: put it into a file";
            return Err(Failure::Usage(format!("{}: {text}", path.display())));
        }
        None => Sample::of(path, args.dtype.as_deref(), args.typesize).map_err(failure(path))?,
    };
    let options = Options { time: Duration::from_secs_f64(args.time), disk: args.disk };
    let advice = advise(&sample, &options);
    let text = if args.json { advice.json(&sample) + "\n" } else { advice.text(&sample) };
    std::io::stdout().write_all(text.as_bytes()).map_err(|e| stdout_failed(&e))
}

/// Pieces of a leaf of a store.
fn leaf(args: &Advise) -> Result<Sample> {
    if args.dtype.is_some() || args.typesize.is_some() {
        return Err(Failure::Usage("--dtype, --typesize: a leaf says of which type its items are".into()));
    }
    let path = args.input.as_path();
    let rows = open::open(&Input::whole(path, None, &Run::default()), Intent::Read)?.what.into_any(path)?;
    Sample::of_rows(path, &rows, Verb::Convert, None).map_err(failure(path))
}
