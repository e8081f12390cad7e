//! See the library `blosc_cli`, which is the whole program.
#![forbid(unsafe_code)]

use std::process::ExitCode;

fn main() -> ExitCode {
    blosc_cli::main(std::env::args_os().collect())
}
