//! `blosc-bench`: see the crate's README.
#![forbid(unsafe_code)]

mod cli;

use std::process::ExitCode;

fn main() -> ExitCode {
    match cli::run() {
        Ok(code) => code,
        Err(line) => {
            eprintln!("blosc-bench: {line}");
            ExitCode::from(2)
        }
    }
}
