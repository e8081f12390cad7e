//! Measures, writes and summarises.

use super::progress::Progress;
use super::say;
use blosc_bench::machine::load::Watch;
use blosc_bench::machine::{Machine, linux};
use blosc_bench::measure::Setting;
use blosc_bench::report::console;
use blosc_bench::result::file::Writer;
use blosc_bench::result::round3;
use blosc_bench::suite::choice::Job;
use blosc_bench::suite::passes::{Effort, Passes};
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

/// The command line without `--out FILE`, which changes no figure.
fn command_line() -> String {
    let (mut words, mut args) = (vec!["blosc-bench".to_string()], std::env::args().skip(1));
    while let Some(arg) = args.next() {
        match arg.as_str() {
            "--out" => drop(args.next()),
            a if a.starts_with("--out=") => {}
            _ => words.push(arg),
        }
    }
    words.join(" ")
}

/// What a shell reports for a program that Ctrl-C ended.
const INTERRUPTED: u8 = 130;

/// Visits the jobs until passes or time run out, writes the rows, prints the summary. Status 1 if anything was refused.
pub fn execute(jobs: Vec<Job<'_>>, effort: &Effort, out: &Path) -> Result<ExitCode, String> {
    blosc_bench::data::corpus::check()?;
    let stop = Arc::new(AtomicBool::new(false));
    let handler = Arc::clone(&stop);
    // Without a handler Ctrl-C ends the program at once; rows written so far are on disk either way.
    let _ = ctrlc::set_handler(move || handler.store(true, Ordering::Relaxed));
    let mut machine = Machine::detect_pinned();
    let mut watch = Watch::new(machine.busy_cpus);
    let setting = Setting { arch: pulp::Arch::new(), timing: machine.emulator.is_none() };
    let mut writer = Writer::create(out, &machine, &command_line())?;
    let progress = Progress::new(2 * jobs.len());
    let stopped = || stop.load(Ordering::Relaxed);
    let (mut visits, started) = (Passes::new(jobs), Instant::now());
    for pass in 0..effort.passes {
        let begun = Instant::now();
        let done = |rows: &[_]| {
            if pass == 0 {
                rows.iter().try_for_each(|row| writer.row(row))?;
            }
            progress.done();
            Ok(watch.loaded())
        };
        visits.pass(pass, (&setting, &effort.plan, &stopped), |label| progress.start(label), done)?;
        progress.expect(visits.jobs() * effort.expected(pass + 1, started.elapsed()));
        if stopped() || !effort.fits(pass + 1, started.elapsed(), begun.elapsed()) {
            break;
        }
    }
    progress.finish();
    machine.mhz_after = linux::mhz(machine.pinned.unwrap_or(0));
    machine.busy_cpus_most = Some(round3(watch.most));
    let rows = visits.rows();
    writer.finish(&rows, !stopped(), &machine)?;
    say(&console::summary(&machine, &rows));
    say(&format!("{} rows in {}\n", rows.len(), out.display()));
    if stopped() {
        say("Interrupted: these rows are what was done.\n");
        return Ok(ExitCode::from(INTERRUPTED));
    }
    let refused = rows.iter().any(|r| r.refused.is_some());
    Ok(ExitCode::from(u8::from(refused)))
}
