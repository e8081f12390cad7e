#![doc = include_str!("../README.md")]
//!
//! # Inside
//!
//! ```text
//! failure json printable limits paths cut    what all use: why a command stops, text, bounds, names, which part is asked for
//! args                             the command line, as types
//! access output streams behind     what is got at and locked, where results go, what is no file
//! readers/                         one file for each kind of input
//! opened open leaves               what a path holds, opened once; what a store holds, leaf by leaf
//! items                            what goes into a container
//! writers/                         one file for each kind of output, and the choice
//! commands/ blpk/                  one file for each command; the command line of bloscpack
//! ```
//! A file imports from its own line and those above it: a test of `blosc-core` holds that.
#![forbid(unsafe_code)]

mod access;
mod args;
mod behind;
mod blpk;
mod commands;
mod cut;
mod failure;
mod items;
mod json;
mod leaves;
mod limits;
mod open;
mod opened;
mod output;
mod paths;
mod printable;
mod progress;
mod readers;
mod replaced;
mod signals;
mod streams;
mod writers;

use std::ffi::OsString;
use std::path::Path;
use std::process::ExitCode;

/// Whose command line it is: of `blosc`, or of `blpk` with the words that are for it.
enum Words {
    Blosc(Vec<OsString>),
    Blpk(Vec<OsString>),
}

fn sort(mut words: Vec<OsString>) -> Words {
    let called = words.first().and_then(|path| Path::new(path).file_stem());
    if called.is_some_and(|name| name == "blpk") {
        return Words::Blpk(words);
    }
    if words.get(1).is_some_and(|word| word == "blpk") {
        words.remove(0);
        return Words::Blpk(words);
    }
    Words::Blosc(words)
}

/// Checks a command line, the first word being the program's name, and does nothing.
///
/// # Errors
/// What the program would print before it exits: a mistake, or a text that was asked for.
pub fn check(words: Vec<OsString>) -> Result<(), String> {
    let parsed = match sort(words) {
        Words::Blosc(words) => args::Args::read(words).map(drop),
        Words::Blpk(words) => blpk::check(words),
    };
    parsed.map_err(|error| error.render().to_string())
}

/// Runs a command line that is no `blpk`, the first word being the program's name, within this process.
///
/// # Errors
/// The exit status, and what the program would print before it exits.
pub fn run(words: Vec<OsString>) -> Result<(), (u8, String)> {
    let args = args::Args::read(words).map_err(|error| (2, error.render().to_string()))?;
    commands::run(args).map_err(|failure| (failure.status(), failure.to_string()))
}

/// Runs a command line, the first word being the program's name.
pub fn main(words: Vec<OsString>) -> ExitCode {
    let words = match sort(words) {
        Words::Blosc(words) => words,
        Words::Blpk(words) => {
            signals::clean_up();
            return blpk::main(words);
        }
    };
    let args = match args::Args::read(words) {
        Ok(args) => args,
        Err(error) => return output::say(&error, 2),
    };
    signals::clean_up();
    match commands::run(args).and_then(|()| output::flush_stdout()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            if !matches!(failure, failure::Failure::Closed) {
                output::notice(&failure);
            }
            ExitCode::from(failure.status())
        }
    }
}
