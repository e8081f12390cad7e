#![doc = include_str!("../README.md")]
//!
//! # Inside
//!
//! ```text
//! failure json printable limits paths cut    what all use: why a command stops, text, bounds, names, which part is asked for
//! args                             the command line, as types
//! access output streams trailing    what is got at and locked, where results go, what is no file
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
mod trailing;
mod writers;

use std::ffi::OsString;
use std::path::Path;
use std::process::ExitCode;

/// Whether the words are for the command line of `blpk`. A first word in front of its name is taken away.
fn is_blpk(words: &mut Vec<OsString>) -> bool {
    let called = words.first().and_then(|path| Path::new(path).file_stem());
    let inner = called.is_none_or(|name| name != "blpk");
    if inner && words.get(1).is_none_or(|word| word != "blpk") {
        return false;
    }
    words.drain(..usize::from(inner));
    true
}

/// Checks a command line, the first word being the program's name, and does nothing.
///
/// # Errors
/// What the program would print before it exits: a mistake, or a text that was asked for.
pub fn check(mut words: Vec<OsString>) -> Result<(), String> {
    let parsed = match is_blpk(&mut words) {
        false => args::Args::read(words).map(drop),
        true => blpk::check(words),
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
pub fn main(mut words: Vec<OsString>) -> ExitCode {
    if is_blpk(&mut words) {
        signals::clean_up();
        return blpk::main(words);
    }
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
