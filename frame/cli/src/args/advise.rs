//! The command line of `advise`.

use clap::Args as Group;
use std::path::PathBuf;

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
