//! `quick` and `run`: choose, measure, write, summarise.

use super::progress::Progress;
use blosc_bench::machine::{Machine, linux, pin};
use blosc_bench::measure::Plan;
use blosc_bench::report::console;
use blosc_bench::result::Row;
use blosc_bench::result::file::Writer;
use blosc_bench::suite::{Choice, Job, Setting, chunks, kernels};
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// The run without arguments.
pub fn quick(out: &Path) -> Result<ExitCode, String> {
    let choice = Choice::default();
    let mut jobs = kernels::jobs("kernels", &choice);
    jobs.extend(chunks::jobs(&choice));
    execute(jobs, &choice.plan, out)
}

/// Runs the jobs, writes each row as it comes, prints the summary. Status 1 if anything was refused.
fn execute(jobs: Vec<Job<'_>>, plan: &Plan, out: &Path) -> Result<ExitCode, String> {
    blosc_bench::data::corpus::check()?;
    let stop = Arc::new(AtomicBool::new(false));
    let handler = Arc::clone(&stop);
    // Without a handler Ctrl-C ends the program at once; rows written so far are on disk either way.
    let _ = ctrlc::set_handler(move || handler.store(true, Ordering::Relaxed));
    let mut machine = Machine::detect();
    machine.pinned = pin();
    let setting =
        Setting { arch: pulp::Arch::new(), timing: machine.emulator.is_none(), loaded: machine.was_loaded() };
    let command = std::env::args().skip(1).collect::<Vec<_>>().join(" ");
    let mut writer = Writer::create(out, &machine, &format!("blosc-bench {command}"))?;
    let mut progress = Progress::new(jobs.len());
    let mut rows: Vec<Row> = Vec::new();
    let stopped = || stop.load(Ordering::Relaxed);
    for job in jobs {
        if stopped() {
            break;
        }
        progress.start(&job.label);
        let new = (job.run)(&setting, plan, &stopped);
        for row in &new {
            writer.row(row)?;
        }
        rows.extend(new);
        progress.done();
    }
    progress.finish();
    writer.finish(!stopped(), linux::mhz(machine.pinned.unwrap_or(0)))?;
    print!("{}", console::summary(&machine, &rows));
    if stopped() {
        println!("Interrupted: the rows above are what was done.");
    }
    println!("{} rows in {}", rows.len(), out.display());
    let refused = rows.iter().any(|r| r.refused.is_some());
    Ok(ExitCode::from(u8::from(refused)))
}
