//! `ratio`: sizes against another library's.

use super::say;
use blosc_bench::engine;
use blosc_bench::report::table::parse_size;
use blosc_bench::suite::choice::Choice;
use blosc_bench::suite::ratio;
use clap::Args;
use std::process::ExitCode;

/// What `ratio` can be told.
#[derive(Args, Clone)]
pub struct Options {
    /// The library to compare with: libblosc2[=PATH] or python:blosc2.
    #[arg(long, value_name = "ENGINE", default_value = "libblosc2")]
    engine: String,
    #[command(flatten)]
    coding: super::Coding,
    /// Block sizes in bytes (K, M allowed); 0 is the automatic one.
    #[arg(long, value_delimiter = ',', value_parser = blocksize)]
    blocksize: Vec<u32>,
    /// Files of yours, or names of arrays, instead of all arrays.
    #[arg(long, value_delimiter = ',', value_name = "FILE|NAME")]
    data: Vec<String>,
    /// Item type of the files: u1 i2 f4 f8 ...
    #[arg(long, default_value = "u1")]
    dtype: String,
    /// Print every chunk, not only each group's worst.
    #[arg(short, long)]
    verbose: bool,
}

fn blocksize(text: &str) -> Result<u32, String> {
    if text == "0" { Ok(0) } else { parse_size(text).map(|n| n as u32) }
}

/// Prints the table; status 1 if a bound is broken.
pub fn run(options: &Options) -> Result<ExitCode, String> {
    blosc_bench::data::corpus::check()?;
    let peer = engine::open(&options.engine)?;
    let (data, filters) = (ratio::sets(), ratio::FILTERS.to_vec());
    let mut choice = Choice { data, filters, ..Choice::default() };
    options.coding.choose(&mut choice.codecs, &mut choice.filters, &mut choice.levels)?;
    let mut blocksizes = ratio::BLOCKSIZES.to_vec();
    if !options.blocksize.is_empty() {
        blocksizes = options.blocksize.iter().map(|&b| (b > 0).then_some(b)).collect();
    }
    if !options.data.is_empty() {
        let find = |name: &String| match choice.data.iter().find(|d| d.name == *name) {
            Some(found) => Ok(found.clone()),
            None => super::bench::find_data(name, &options.dtype),
        };
        choice.data = options.data.iter().map(find).collect::<Result<_, _>>()?;
    }
    let pairs = ratio::compare(&choice, &blocksizes, &*peer, |group| {
        for p in group.iter().filter(|_| options.verbose) {
            let (spec, ratio) = (&p.spec, p.ratio());
            let how = format!("{} {} {}", spec.codec.name(), spec.filter.name(), spec.level);
            say(&format!("{:<22} {how:<22} {:>9} {:>9} {ratio:.4}\n", p.label(), p.ours, p.theirs));
        }
    })?;
    let (table, holds) = ratio::table(&pairs);
    say(&format!("Our sizes as fractions of those of {}.\n{}", peer.name(), table.text()));
    let verdict = if holds { "hold" } else { "are BROKEN" };
    say(&format!("The bounds (no chunk above {}, no mean above 1) {verdict}.\n", ratio::MOST));
    Ok(ExitCode::from(u8::from(!holds)))
}
