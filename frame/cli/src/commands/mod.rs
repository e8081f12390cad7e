//! The commands.

mod array;
mod frame;
mod info;
mod meta;
mod rows;

use crate::args::{Args, Command, Input, Output, Run, Verify};
use crate::failure::{Failure, Result};
use crate::items::{NewItems, open_items};
use crate::open::{Intent, Opened, What, open};
use crate::output::{Sink, stdout_failed};
use crate::readers::Cut;
use crate::{progress, target};
use serde_json::Value;
use std::io::{IsTerminal, Write};
use std::path::Path;

/// Runs the command that was asked for.
pub fn run(args: Args) -> Result<()> {
    match args.command {
        Command::Compress(args) => target::write(args),
        Command::Decompress(args) => {
            let mut opened = open(&args.input, Intent::Read)?;
            let mut sink = Sink::create(&args.output)?;
            let bar = progress::bar("decompressing", opened.nbytes());
            let done = decompress(&mut opened, &args.output, &mut sink, &|n| bar.inc(n));
            sink.filled(done)?;
            sink.finish()
        }
        Command::Slice(args) => {
            let mut opened = open(&args.input, Intent::Read)?;
            let cut = Cut { start: &args.start, stop: &args.stop, step: &args.step };
            let mut sink = Sink::create(&args.output)?;
            let header = match is_npy(&args.output) {
                true => opened.npy_header(&cut)?,
                false => None,
            };
            let headed = header.iter().try_for_each(|header| sink.write_all(header));
            let done =
                headed.map_err(Failure::from).and_then(|()| match (args.superchunks, &mut opened.what) {
                    (None, _) => opened.read(&cut, &mut sink, &|_| {}),
                    (Some((first, last)), What::Rows(rows)) => rows.read_superchunks(first..=last, &mut sink),
                    _ => {
                        Err(Failure::Usage("--superchunks: only Blaze directories have super-chunks".into()))
                    }
                });
            sink.filled(done)?;
            sink.finish()
        }
        Command::Info(args) => print(&open(&args.input, Intent::Inspect)?.info()?, args.json),
        Command::Verify(args) => match verify(&args) {
            Ok(report) => print(&report, args.json),
            Err(failure @ (Failure::Usage(_) | Failure::Closed)) => Err(failure),
            Err(failure) => {
                let (report, text, status) = failure.verified();
                if args.json {
                    print(&report, true)?;
                }
                Err(Failure::Verified(report, text, status))
            }
        },
        Command::Repair(args) => frame::repair(&args),
        Command::Compact(args) => frame::compact(&args),
        Command::Append(args) => {
            let input = args.access.input(&args.frame, &Run { threads: args.threads, isa: None });
            let mut opened = open(&input, Intent::Change)?;
            let new = || new_items(&args.input, &input, args.plain);
            match &mut opened.what {
                What::Rows(rows) => rows::append(&mut rows.opened, new()?, &args),
                What::Array(array) => array::append(&mut array.nd, new()?, &args),
                What::Frame(reader) => frame::append(&mut reader.frame, new()?, &args),
                _ => Err(unchangeable(&args.frame)),
            }
        }
        Command::Set(args) => {
            let input = args.access.input(&args.array, &args.run);
            let mut opened = open(&input, Intent::Change)?;
            let new = || new_items(&args.input, &input, args.plain);
            match &mut opened.what {
                What::Rows(rows) => rows::set(&mut rows.opened, new()?, &args),
                What::Array(array) => array::set(&mut array.nd, new()?, &args),
                _ => Err(no_array(&args.array)),
            }
        }
        Command::Resize(args) => {
            let mut opened = open(&args.access.input(&args.array, &Run::default()), Intent::Change)?;
            match &mut opened.what {
                What::Rows(rows) => rows::resize(&mut rows.opened, &args),
                What::Array(array) => array::resize(&mut array.nd, &args),
                _ => Err(no_array(&args.array)),
            }
        }
        Command::Trim(args) => rows::trim(&args),
        Command::Column(args) => rows::column(&args),
        Command::Insert(args) => {
            let input = args.access.input(&args.array, &args.run);
            let mut opened = open(&input, Intent::Change)?;
            let new = || new_items(&args.input, &input, args.plain);
            match &mut opened.what {
                What::Rows(rows) => rows::insert(&mut rows.opened, new()?, &args),
                What::Array(array) => array::insert(&mut array.nd, new()?, &args),
                _ => Err(no_array(&args.array)),
            }
        }
        Command::Delete(args) => {
            let mut opened = open(&args.access.input(&args.array, &Run::default()), Intent::Change)?;
            match &mut opened.what {
                What::Rows(rows) => rows::delete(&mut rows.opened, &args),
                What::Array(array) => array::delete(&mut array.nd, &args),
                _ => Err(no_array(&args.array)),
            }
        }
        Command::Convert(mut args) => {
            // A copy takes no more memory than a chunk of it: only chunks are limited.
            args.input.max_output = args.input.max_output.or(Some(u64::MAX - 1));
            let opened = open(&args.input, Intent::Read)?;
            let format = target::convert_format(&args, matches!(opened.what, What::Array(_)));
            match (format, opened.what) {
                (None, What::Array(mut array)) => array::convert(&mut array.nd, &args),
                (Some(format), what) => target::containers::run_convert(what, &args, format),
                (None, _) => Err(Failure::Usage(
                    "--format: say what to convert this to; the output's name does not".into(),
                )),
            }
        }
        Command::Edit(args) => frame::edit(&args),
        Command::Meta(args) => meta::run(&args.action),
    }
}

/// The items in `path` that go into what `into` names.
fn new_items(path: &Path, into: &Input, plain: bool) -> Result<NewItems> {
    open_items(&Input::whole(path, into.max_output, &into.run), plain)
}

/// The answer to a change of what cannot be changed.
fn unchangeable(path: &Path) -> Failure {
    Failure::at(path, "a chunk or a store cannot be changed: only frames, arrays and containers of rows can")
}

/// The answer to a change of items of what has none.
fn no_array(path: &Path) -> Failure {
    Failure::at(
        path,
        "no array: only append and edit change a plain frame, and nothing changes a chunk or a store",
    )
}

/// Writes all that `opened` has, in the format that the output's name says.
fn decompress(opened: &mut Opened, output: &Output, sink: &mut Sink, progress: &dyn Fn(u64)) -> Result<()> {
    if output.output.extension().is_some_and(|e| e == "npz") {
        return target::npz::write(opened, sink, progress);
    }
    if is_npy(output) {
        opened.npy_header(&Cut::ALL)?.iter().try_for_each(|header| sink.write_all(header))?;
        return opened.read_npy(sink, progress);
    }
    opened.read(&Cut::ALL, sink, progress)
}

/// Refuses a range that ends before it starts.
fn forward(start: u64, stop: u64) -> Result<()> {
    match start > stop {
        true => Err(Failure::Usage(format!("--start {start} lies behind --stop {stop}"))),
        false => Ok(()),
    }
}

/// Whether the result shall be a NumPy file.
fn is_npy(output: &Output) -> bool {
    output.output.extension().is_some_and(|e| e == "npy")
}

fn verify(args: &Verify) -> Result<Value> {
    let mut opened = open(&args.input, Intent::Inspect)?;
    let bar = progress::bar("verifying", opened.nbytes());
    let report = opened.verify(&args.input.input, args.quick, &|n| bar.inc(n));
    bar.finish_and_clear();
    let (mut report, strays) = (report?, crate::access::strays(&args.input.input));
    if let (Some(report), false) = (report.as_object_mut(), strays.is_empty()) {
        report.insert("strays".into(), strays.into());
    }
    Ok(report)
}

/// Prints a report as JSON, or as lines for people.
fn print(report: &Value, json: bool) -> Result<()> {
    write_report(report, json, &mut std::io::stdout().lock()).map_err(|e| stdout_failed(&e))
}

fn write_report(report: &Value, json: bool, out: &mut std::io::StdoutLock<'_>) -> std::io::Result<()> {
    if json {
        return writeln!(out, "{report:#}");
    }
    info::write(report, out)?;
    if out.is_terminal() {
        info::tiles(report).iter().try_for_each(|line| writeln!(out, "{line}"))?;
    }
    Ok(())
}
