//! The commands.

mod frame;
mod info;
mod meta;

use crate::args::{Args, Command, Input};
use crate::failure::Result;
use crate::output::Sink;
use crate::{progress, source, target};
use serde_json::Value;
use std::io::Write;

/// Runs the command that was asked for.
pub fn run(args: Args) -> Result<()> {
    match args.command {
        Command::Compress(args) => target::write(&args),
        Command::Decompress(args) => {
            let mut source = source::open(&args.input)?;
            let mut sink = Sink::create(&args.output)?;
            let bar = progress::bar("decompressing", source.nbytes());
            source.decompress(&mut sink, &|n| bar.inc(n))?;
            sink.finish()
        }
        Command::Slice(args) => {
            let mut source = source::open(&args.input)?;
            let mut sink = Sink::create(&args.output)?;
            source.slice(&args.start, &args.stop, &mut sink)?;
            sink.finish()
        }
        Command::Info(args) => {
            let info = source::open(&args.input)?.info()?;
            print(&info, args.json)
        }
        Command::Verify(args) => {
            let report = verify(&args.input)?;
            print(&report, args.json)
        }
        Command::Repair(args) => frame::repair(&args),
        Command::Compact(args) => frame::compact(&args),
        Command::Append(args) => frame::append(&args),
        Command::Edit(args) => frame::edit(&args),
        Command::Meta(args) => meta::run(&args.action),
    }
}

fn verify(input: &Input) -> Result<Value> {
    let mut source = source::open(input)?;
    let bar = progress::bar("verifying", source.nbytes());
    let report = source.verify(&|n| bar.inc(n));
    bar.finish_and_clear();
    report
}

/// Prints a report as JSON, or as lines for people.
fn print(report: &Value, json: bool) -> Result<()> {
    let mut out = std::io::stdout().lock();
    if json {
        writeln!(out, "{report:#}")?
    } else {
        info::write(report, &mut out)?
    }
    Ok(())
}
