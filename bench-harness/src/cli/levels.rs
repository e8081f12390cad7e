//! `levels`: which kernels are slower than one that could be taken instead.

use super::{parse_size, say};
use blosc_bench::suite::levels::{self, Choice};
use clap::Args;
use std::process::ExitCode;

/// What `levels` can be told.
#[derive(Args, Clone)]
pub struct Options {
    /// Item sizes instead of 1 to 32.
    #[arg(long, value_delimiter = ',', value_name = "BYTES", value_parser = clap::value_parser!(u16).range(1..=255))]
    typesize: Vec<u16>,
    /// Lengths at which levels are compared (K, M allowed).
    #[arg(long, value_delimiter = ',', value_name = "BYTES", value_parser = parse_size,
        default_value = "8K,248K,256K,4M")]
    size: Vec<usize>,
    /// Powers of two that are compared with 31/32 and 33/32 of them.
    #[arg(long, value_delimiter = ',', value_name = "BYTES", value_parser = parse_size,
        default_value = "32K,64K,128K,256K,1M,4M")]
    power: Vec<usize>,
    /// Least speed of a level against each one that it implies.
    #[arg(long, default_value_t = 0.97)]
    level: f64,
    /// Least speed at a power of two against its neighbours.
    #[arg(long, default_value_t = 0.95)]
    neighbour: f64,
    /// Milliseconds for each pair.
    #[arg(long, default_value_t = 6.0, value_name = "MS")]
    time: f64,
    /// Print every pair.
    #[arg(short, long)]
    verbose: bool,
}

/// Prints the pairs that break a bound; status 1 if there are any.
pub fn run(options: &Options) -> Result<ExitCode, String> {
    let typesizes = if options.typesize.is_empty() {
        (1..=32).collect()
    } else {
        options.typesize.iter().map(|&t| usize::from(t)).collect()
    };
    let choice = Choice {
        typesizes,
        sizes: options.size.clone(),
        powers: options.power.clone(),
        level_bound: options.level,
        power_bound: options.neighbour,
        time: options.time / 1e3,
    };
    let pairs = levels::run(
        &choice,
        |pair| {
            if pair.slow || options.verbose {
                say(&format!("{:<60} {:.3}, upper quartile {:.3}\n", pair.label, pair.ratio, pair.upper));
            }
        },
        &|| false,
    )?;
    let slow = pairs.iter().filter(|pair| pair.slow).count();
    say(&format!("figure: {} pairs of kernels, {slow} below their bound\n", pairs.len()));
    Ok(if slow > 0 { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}
