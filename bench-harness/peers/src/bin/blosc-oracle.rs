//! libblosc2 behind a pipe; see `blosc_peers::child`.

use blosc_peers::{Libblosc2, child};
use std::io;
use std::process::ExitCode;

fn main() -> ExitCode {
    let Some(Ok(lib)) = Libblosc2::from_env() else {
        eprintln!("BLOSC_LIBBLOSC2 does not name libblosc2.so");
        return ExitCode::from(2);
    };
    match child::serve(&lib, io::stdin().lock(), io::stdout().lock()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}
