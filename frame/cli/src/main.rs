//! The `blosc` command: compress, decompress, inspect, verify and slice Blosc data.
//!
//! ```text
//! args      the command line          source/  one file per kind of input: open, info, read, slice, verify
//! commands/ one file per command      target/  one file per kind of output: what `compress` writes
//! blpk/     the command line of bloscpack
//! detect    which kind a path holds   output   files that appear only when complete
//! ```
//! Exit status: 0 fine, 1 the data is bad or unsupported, 2 wrong usage.
#![forbid(unsafe_code)]

mod args;
mod blpk;
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
    let mut words: Vec<std::ffi::OsString> = std::env::args_os().collect();
    let called = words.first().map(std::path::PathBuf::from);
    if called.is_some_and(|path| path.file_stem().is_some_and(|name| name == "blpk")) {
        return blpk::main(words);
    }
    if words.get(1).is_some_and(|word| word == "blpk") {
        words.remove(0);
        return blpk::main(words);
    }
    let args = args::Args::parse_from(words);
    match commands::run(args) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            if !matches!(failure, failure::Failure::Closed) {
                eprintln!("blosc: {failure}");
            }
            ExitCode::from(failure.status())
        }
    }
}
