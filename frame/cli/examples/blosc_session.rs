//! Runs command lines of `blosc` one after another in one process, for scripts that check many.
//!
//! ```text
//! standard input    one command a line, its words (without the program's name) parted by tabs
//! standard output   one line for each: "ok" or "failed"; so `-o` must not be `-`
//! standard error    what the program says
//! ```
use std::io::{self, BufRead, Write};
use std::process::ExitCode;

fn run(line: &str) -> bool {
    let words = || std::iter::once("blosc").chain(line.split('\t')).map(Into::into).collect();
    match blosc_cli::check(words()) {
        Ok(()) => blosc_cli::main(words()) == ExitCode::SUCCESS,
        Err(text) => {
            eprintln!("{text}");
            false
        }
    }
}

fn main() -> io::Result<()> {
    for line in io::stdin().lock().lines() {
        let answer = if run(&line?) { "ok" } else { "failed" };
        let mut out = io::stdout();
        writeln!(out, "{answer}")?;
        out.flush()?;
    }
    Ok(())
}
