//! `advise`: which codec, filter, level and block size suit a file.

use super::say;
use blosc_bench::machine::linux;
use blosc_bench::machine::load::TOLERATED;
use blosc_bench::report::table::figure;
use blosc_frame::advise::{Options as Wanted, Sample, advise};
use clap::Args;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

/// What `advise` can be told.
#[derive(Args, Clone)]
pub struct Options {
    /// A file of plain items, a NumPy file, or a container.
    file: PathBuf,
    /// NumPy type of the items of a plain file, such as f4.
    #[arg(long, conflicts_with = "typesize")]
    dtype: Option<String>,
    /// Bytes per item of a plain file; 1 if left out.
    #[arg(long, value_name = "BYTES", value_parser = clap::value_parser!(u32).range(1..=255))]
    typesize: Option<u32>,
    /// Seconds to try, about.
    #[arg(long, default_value_t = 5.0, value_name = "SECONDS", value_parser = positive)]
    time: f64,
    /// GB a second of the disk or network that the result goes to and comes from.
    #[arg(long, default_value_t = 1.0, value_name = "GBPS", value_parser = positive)]
    disk: f64,
    /// Print it as JSON.
    #[arg(long)]
    json: bool,
}

fn positive(text: &str) -> Result<f64, String> {
    let number = text.parse().ok().filter(|x: &f64| *x > 0.0 && *x <= 86_400.0);
    number.ok_or_else(|| "a positive number up to 86400".into())
}

/// Tries what there is, and prints what is best.
pub fn run(options: &Options) -> Result<ExitCode, String> {
    let fail = |e| format!("{}: {e}", options.file.display());
    let sample = Sample::of(&options.file, options.dtype.as_deref(), options.typesize).map_err(fail)?;
    let wanted = Wanted { time: Duration::from_secs_f64(options.time), disk: options.disk };
    let advice = advise(&sample, &wanted);
    if let Some(busy) = linux::busy_cpus(Duration::from_millis(200)).filter(|busy| *busy > TOLERATED) {
        let used = figure(busy);
        eprintln!(
            "Other programs use {used} CPUs: the speeds are lower than they could be, and may rank otherwise."
        );
    }
    say(&if options.json { advice.json(&sample) + "\n" } else { advice.text(&sample) });
    Ok(ExitCode::SUCCESS)
}
