//! The `blosc` command: compress, decompress, inspect, verify and slice Blosc data.
//!
//! ```text
//! args      the command line          source/  one file per kind of input: open, info, read, slice, verify
//! commands/ one file per command      target/  one file per kind of output: what `compress` writes
//! detect    which kind a path holds   output   files that appear only when complete
//! ```
//! Exit status: 0 fine, 1 the data is bad or unsupported, 2 wrong usage.
#![forbid(unsafe_code)]

mod args;
mod commands;
mod detect;
mod failure;
mod output;
mod progress;
mod source;
mod target;

use clap::Parser;
use std::process::ExitCode;

fn main() -> ExitCode {
    let args = args::Args::parse();
    match commands::run(args) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            eprintln!("blosc: {failure}");
            ExitCode::from(failure.status())
        }
    }
}
