//! `levels`: which kernels are slower than one that could be taken instead.

use super::say;
use blosc_bench::suite::levels;
use clap::Args;
use std::process::ExitCode;

/// What `levels` can be told.
#[derive(Args, Clone)]
pub struct Options {
    #[command(flatten)]
    choice: levels::Choice,
    /// Print every pair.
    #[arg(short, long)]
    verbose: bool,
}

/// Prints the pairs that break a bound; status 1 if there are any.
pub fn run(options: &Options) -> Result<ExitCode, String> {
    let pairs = levels::run(&options.choice, |pair| {
        if pair.slow || options.verbose {
            say(&format!("{:<60} {:.3}, upper quartile {:.3}\n", pair.label, pair.ratio, pair.upper));
        }
    })?;
    let slow = pairs.iter().filter(|pair| pair.slow).count();
    say(&format!("figure: {} pairs of kernels, {slow} below their bound\n", pairs.len()));
    Ok(if slow > 0 { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}
