//! The commands.

pub mod advise;
pub mod array;
mod change;
mod frame;
pub mod info;
mod ls;
mod manual;
mod meta;
mod repair;
mod rows;
mod table;

use crate::access::Intent;
use crate::args::{Args, Command, Decompress, Format, Head, Input, Output, Slice, Verify};
use crate::cut::Cut;
use crate::failure::{Failure, Result};
use crate::limits::{max_by_size, size};
use crate::open::open;
use crate::opened::{Contents, Holds, Opened};
use crate::output::{Sink, notice, stdout_failed};
use crate::printable::{printable, printable_json};
use crate::readers::table::of_table;
use crate::writers::choice::{Request, Verb, check_partial, nothing_left_out};
use crate::writers::names;
use crate::writers::table::Export;
use crate::writers::text::TextItems;
use crate::{progress, writers};
use blosc_frame::any::Kind;
use blosc_frame::table::Records;
use serde_json::Value;
use std::io::{IsTerminal, Write};

/// Runs the command that was asked for.
pub fn run(args: Args) -> Result<()> {
    match args.command {
        Command::Advise(args) => advise::run(&args),
        Command::Compress(args) => writers::write(args),
        Command::Decompress(args) => decompress(&args),
        Command::Slice(args) => slice(&args),
        Command::Info(args) => {
            let other = !args.input.column.is_empty() || args.input.no_verify || args.input.anywhere;
            if !other && ls::folder_kind(&args.input)? == Some(Kind::Directory) {
                return ls::info(&args.input, args.json);
            }
            let info = open(&args.input, Intent::Inspect)?.info()?;
            match args.json || args.all {
                true => print(&info, args.json),
                false => print_screen(&info),
            }
        }
        Command::Cat(args) => show(&args.input, open(&args.input, Intent::Read)?, args.part.cut()),
        Command::Head(args) => head(&args),
        Command::Ls(args) => ls::run(&args),
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
        Command::Repair(args) => repair::run(&args),
        Command::Compact(args) => frame::compact(&args),
        Command::Append(args) => change::append(&args),
        Command::Set(args) => change::set(&args),
        Command::Resize(args) => change::resize(&args),
        Command::Trim(args) => rows::trim(&args),
        Command::Column(args) => rows::column(&args),
        Command::Insert(args) => change::insert(&args),
        Command::Delete(args) => change::delete(&args),
        Command::Convert(args) => writers::containers::run_convert(open(&args.input, Intent::Read)?, &args),
        Command::Edit(args) => frame::edit(&args),
        Command::Meta(args) => meta::run(&args.action),
        Command::Completions { shell } => manual::completions(shell),
        Command::Man { command, directory } => manual::man(&command, directory.as_deref()),
    }
}

/// What a result is to be, by its name and what there is.
fn plain_format(opened: &mut Opened, output: &Output, format: Option<Format>, plain: bool) -> Result<Format> {
    let holds = opened.holds();
    if plain && holds != Holds::Arrays {
        return Ok(Format::Plain);
    }
    Request { verb: Verb::Decompress, holds, name: &output.output, format }.format()
}

/// `blosc decompress`.
fn decompress(args: &Decompress) -> Result<()> {
    let path = args.input.input.as_path();
    let Decompress { input, named, plain, partial, format } = args;
    let mut opened = open(input, Intent::Read)?;
    let holds = opened.holds();
    let output = &named.output(|| names::decompressed(args, holds))?;
    // Bytes get back the name that they had, which may be that of a NumPy file.
    let plain = *plain || (named.name.is_none() && holds == Holds::Bytes);
    let export =
        Export { verb: Verb::Decompress, input, output, cut: Cut::ALL, format: *format, partial: *partial };
    let Some(mut opened) = export.run(opened, plain)? else { return Ok(()) };
    let format = plain_format(&mut opened, output, *format, plain)?;
    if opened.holds() != Holds::Arrays {
        nothing_left_out(*partial, format)?;
    }
    check_partial(&output.output, &opened.left_out(), args.partial)?;
    if let Contents::Store(store) = &opened.what {
        for key in store.attributes_left_out() {
            notice(format_args!("{}: not kept: {key} (attributes)", path.display()));
        }
    }
    let head = match (format, opened.holds()) {
        (Format::Npy | Format::Npz, Holds::Array) => opened.reader()?.npy_head(&Cut::ALL)?,
        _ => None,
    };
    let bar = progress::bar("decompressing", opened.nbytes());
    let told = |n| bar.inc(n);
    let mut sink = Sink::create(output)?;
    let done = match (opened.holds(), format) {
        (Holds::Arrays, _) => {
            let max = args.input.max_output.unwrap_or_else(|| max_by_size(size(path)));
            writers::npy::write_all(path, &opened, &mut sink, max, *partial, &told)
        }
        (_, Format::Csv) => text(&mut opened, &Cut::ALL, &mut sink),
        (_, Format::Plain) => match &mut opened.what {
            Contents::Rows(rows) => rows.read_stored(&mut sink, &told),
            _ => opened.reader()?.read(&Cut::ALL, &mut sink, &told),
        },
        _ => writers::npy::write(format, head, &mut sink, &mut |out| opened.reader()?.read_npy(out, &told)),
    };
    sink.filled(done)?;
    sink.finish()
}

/// Writes the items that `cut` selects as text.
fn text(opened: &mut Opened, cut: &Cut<'_>, out: &mut dyn Write) -> Result<()> {
    let items = opened.reader()?.items();
    opened.reader()?.read(cut, &mut TextItems::new(&items, cut, out)?, &|_| {})
}

/// `blosc head`: the first rows, as text.
fn head(args: &Head) -> Result<()> {
    let mut opened = open(&args.input, Intent::Read)?;
    let rows = match &opened.what {
        Contents::Store(store) if store.store.is_table() => {
            store.store.table("").map_err(of_table(&args.input.input))?.rows
        }
        Contents::Frame(reader) if Records::are_in(&reader.frame) => {
            match open(&args.input, Intent::Read)?.what {
                Contents::Frame(reader) => {
                    Records::new(&args.input.input.display().to_string(), reader.frame)?.rows()
                }
                _ => 0,
            }
        }
        _ => opened.reader()?.items().rows(),
    };
    let stop = [i64::try_from(rows.min(args.rows)).unwrap_or(i64::MAX)];
    let scalar = matches!(opened.reader(), Ok(reader) if reader.items().shape.is_empty());
    let stop: &[i64] = if scalar { &[] } else { &stop };
    show(&args.input, opened, Cut { start: &[], stop, step: &[] })
}

/// Writes rows or items to standard output, as text.
fn show(input: &Input, opened: Opened, cut: Cut<'_>) -> Result<()> {
    let output = &Output { output: "-".into(), force: false };
    let format = match &opened.what {
        Contents::Frame(reader) if Records::are_in(&reader.frame) => Format::Jsonl,
        _ => Format::Csv,
    };
    let export = Export { verb: Verb::Decompress, input, output, cut, format: Some(format), partial: true };
    let Some(mut opened) = export.run(opened, false)? else { return Ok(()) };
    plain_format(&mut opened, output, Some(format), false)?;
    let mut sink = Sink::create(output)?;
    let done = text(&mut opened, &cut, &mut sink);
    sink.filled(done)?;
    sink.finish()
}

/// `blosc slice`.
fn slice(args: &Slice) -> Result<()> {
    let Slice { input, output, plain, partial, format, .. } = args;
    let cut = args.part.cut();
    let export = Export { verb: Verb::Decompress, input, output, cut, format: *format, partial: *partial };
    let Some(mut opened) = export.run(open(input, Intent::Read)?, *plain)? else { return Ok(()) };
    opened.reader()?;
    let format = plain_format(&mut opened, &args.output, *format, args.plain)?;
    nothing_left_out(*partial, format)?;
    let head = match (format, args.superchunks) {
        (Format::Plain, _) | (Format::Csv, None) => None,
        (_, None) => opened.reader()?.npy_head(&cut)?,
        (_, Some(_)) => {
            let text =
                "--superchunks: the items are written as plain bytes; --plain does that under any name";
            return Err(Failure::Usage(text.into()));
        }
    };
    let mut sink = Sink::create(&args.output)?;
    let mut body = |out: &mut dyn Write| match (args.superchunks, &mut opened.what) {
        (None, _) if format == Format::Csv => text(&mut opened, &cut, out),
        (None, _) => opened.reader()?.read(&cut, out, &|_| {}),
        (Some((first, last)), Contents::Rows(rows)) => rows.read_superchunks(first..=last, out),
        _ => Err(Failure::Usage("--superchunks: only Blaze directories have super-chunks".into())),
    };
    let done = writers::npy::write(format, head, &mut sink, &mut body);
    sink.filled(done)?;
    sink.finish()
}

fn verify(args: &Verify) -> Result<Value> {
    if args.input.no_verify {
        return Err(Failure::Usage("--no-verify: checking the checksums is what verify does".into()));
    }
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

/// Prints what matters to a person of what `info` says.
fn print_screen(info: &Value) -> Result<()> {
    let mut lines = info::screen(info);
    for entry in info["entries"].as_array().into_iter().flatten() {
        let (kind, target) = (entry["kind"].as_str().unwrap_or(""), entry["target"].as_str());
        let target = target.map(|target| format!(" -> {target}")).unwrap_or_default();
        lines.push((printable(entry["key"].as_str().unwrap_or("")), printable(&format!("{kind}{target}"))));
    }
    let mut out = std::io::stdout().lock();
    let terminal = out.is_terminal();
    let colours = terminal && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty());
    let mut write = || -> std::io::Result<()> {
        info::write_screen(&lines, colours, &mut out)?;
        if terminal {
            info::tiles(info).iter().try_for_each(|line| writeln!(out, "{line}"))?;
        }
        Ok(())
    };
    write().map_err(|e| stdout_failed(&e))
}

/// Prints a report as JSON, or as lines for people.
fn print(report: &Value, json: bool) -> Result<()> {
    write_report(report, json, &mut std::io::stdout().lock()).map_err(|e| stdout_failed(&e))
}

fn write_report(report: &Value, json: bool, out: &mut std::io::StdoutLock<'_>) -> std::io::Result<()> {
    if json {
        return writeln!(out, "{}", printable_json(&format!("{report:#}")));
    }
    info::write(report, out)
}
