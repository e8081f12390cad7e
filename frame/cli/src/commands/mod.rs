//! The commands.

mod array;
mod frame;
mod info;
mod meta;
mod rows;

use crate::args::{Args, Command, Output, Verify};
use crate::failure::{Failure, Result};
use crate::output::{Sink, stdout_failed};
use crate::{progress, source, target};
use serde_json::Value;
use std::io::{IsTerminal, Write};

/// Runs the command that was asked for.
pub fn run(args: Args) -> Result<()> {
    match args.command {
        Command::Compress(args) => target::write(args),
        Command::Decompress(args) => {
            let mut lock = args.input.lock()?;
            let _held = lock.hold_shared()?;
            let mut source = source::open(&args.input)?;
            let mut sink = Sink::create(&args.output)?;
            let bar = progress::bar("decompressing", source.nbytes());
            let done = decompress(&mut *source, &args.output, &mut sink, &|n| bar.inc(n));
            sink.filled(done)?;
            sink.finish()
        }
        Command::Slice(args) => {
            let mut lock = args.input.lock()?;
            let _held = lock.hold_shared()?;
            let mut source = source::open(&args.input)?;
            let sides = source.sides();
            let start = source::from_end("start", &args.start, sides.as_deref())?;
            let stop = source::from_end("stop", &args.stop, sides.as_deref())?;
            let mut sink = Sink::create(&args.output)?;
            let header = match is_npy(&args.output) {
                true => source.npy_header(&start, &stop, &args.step)?,
                false => None,
            };
            let headed = header.iter().try_for_each(|header| sink.write_all(header));
            let done =
                headed.map_err(Failure::from).and_then(|()| match (args.superchunks, args.step.is_empty()) {
                    (Some((first, last)), _) => source.slice_superchunks(first..=last, &mut sink),
                    (None, true) => source.slice(&start, &stop, &mut sink),
                    (None, false) => source.slice_steps(&start, &stop, &args.step, &mut sink),
                });
            sink.filled(done)?;
            sink.finish()
        }
        Command::Info(args) => {
            let mut lock = args.input.lock()?;
            let _held = lock.hold_shared()?;
            let info = source::open(&args.input)?.info()?;
            print(&info, args.json)
        }
        Command::Verify(args) => {
            let verified = verify(&args);
            if args.json
                && let Some(report) = verified.as_ref().err().and_then(Failure::report)
            {
                print(&report, true)?;
            }
            print(&verified?, args.json)
        }
        Command::Repair(args) => frame::repair(&args),
        Command::Compact(args) => frame::compact(&args),
        Command::Append(args) => match rows::open(&args.frame, &args.access)? {
            Some(rows) => rows::append(rows, &args),
            None if array::is_array(&args.frame, &args.access)? => array::append(&args),
            None => frame::append(&args),
        },
        Command::Set(args) => match rows::open(&args.array, &args.access)? {
            Some(rows) => rows::set(rows, &args),
            None => array::set(&args),
        },
        Command::Resize(args) => match rows::open(&args.array, &args.access)? {
            Some(rows) => rows::resize(rows, &args),
            None => array::resize(&args),
        },
        Command::Trim(args) => rows::trim(&args),
        Command::Column(args) => rows::column(&args),
        Command::Insert(args) => match rows::open(&args.array, &args.access)? {
            Some(rows) => rows::insert(rows, &args),
            None => array::insert(&args),
        },
        Command::Delete(args) => match rows::open(&args.array, &args.access)? {
            Some(rows) => rows::delete(rows, &args),
            None => array::delete(&args),
        },
        Command::Convert(args) => {
            let mut lock = args.input.lock()?;
            let _held = lock.hold_shared()?;
            match target::convert_format(&args) {
                Some(format) => target::containers::run_convert(&args, format),
                None if rows::is(&args.input.input)? => Err(Failure::Usage(
                    "--format: say what to convert this to; the output's name does not".into(),
                )),
                None => array::convert(&args),
            }
        }
        Command::Edit(args) => frame::edit(&args),
        Command::Meta(args) => meta::run(&args.action),
    }
}

/// Writes all that `source` has, in the format that the output's name says.
fn decompress(
    source: &mut dyn source::Source,
    output: &Output,
    sink: &mut Sink,
    progress: &dyn Fn(u64),
) -> Result<()> {
    if output.output.extension().is_some_and(|e| e == "npz") {
        return target::npz::write(source, sink, progress);
    }
    if is_npy(output) {
        source.npy_header(&[], &[], &[])?.iter().try_for_each(|header| sink.write_all(header))?;
        return source.decompress_npy(sink, progress);
    }
    source.decompress(sink, progress)
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
    let mut lock = args.input.lock()?;
    let _held = lock.hold_shared()?;
    let mut source = source::open(&args.input)?;
    let bar = progress::bar("verifying", source.nbytes());
    let report = match args.quick {
        true => source.verify_stored(&|n| bar.inc(n)),
        false => source.verify(&|n| bar.inc(n)),
    };
    bar.finish_and_clear();
    report
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
