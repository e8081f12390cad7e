//! Measures, writes and summarises.

use super::say;
use blosc_bench::machine::load::Watch;
use blosc_bench::machine::{Machine, linux};
use blosc_bench::measure::Setting;
use blosc_bench::report::console;
use blosc_bench::report::table::paragraph;
use blosc_bench::result::file::Writer;
use blosc_bench::result::round3;
use blosc_bench::suite::choice::Job;
use blosc_bench::suite::passes::{Effort, Passes};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::io::IsTerminal;
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

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
    let progress = Progress::new(effort.time);
    let stopped = || stop.load(Ordering::Relaxed);
    if let Some(told) = effort.floor(&jobs) {
        say(&paragraph(&told));
    }
    let mut visits = Passes::new(jobs);
    let done = |rows: &[_], first: bool| {
        if first {
            rows.iter().try_for_each(|row| writer.row(row))?;
        }
        Ok(watch.loaded())
    };
    visits.run(effort, &setting, &stopped, |label| progress.start(label), done)?;
    progress.finish();
    machine.mhz_after = linux::mhz(machine.pinned.unwrap_or(0));
    machine.busy_cpus_most = Some(round3(watch.most));
    let unreached = visits.unreached();
    let rows = visits.rows();
    writer.finish(&rows, !stopped() && unreached == 0, &machine)?;
    say(&console::summary(&machine, &rows));
    say(&format!("{} rows in {}\n", rows.len(), out.display()));
    if stopped() {
        say("Interrupted: these rows are what was done.\n");
        return Ok(ExitCode::from(INTERRUPTED));
    } else if unreached > 0 {
        say(&format!("{unreached} cases were not reached in this time.\n"));
    }
    say(&console::verdict(&machine, &rows));
    let refused = rows.iter().any(|r| r.refused.is_some());
    Ok(ExitCode::from(u8::from(refused)))
}

/// Progress through the time that a run has.
struct Progress {
    bar: ProgressBar,
    begun: Instant,
}

impl Progress {
    /// Nothing is drawn unless standard error is a terminal.
    fn new(time: Duration) -> Progress {
        let bar = ProgressBar::new(time.as_secs());
        if !std::io::stderr().is_terminal() {
            bar.set_draw_target(ProgressDrawTarget::hidden());
        }
        if let Ok(style) = ProgressStyle::with_template("{bar:24} {pos} of {len} s  {wide_msg}") {
            bar.set_style(style);
        }
        Progress { bar, begun: Instant::now() }
    }

    /// A job begins. The bar is drawn now and not while the job is being timed.
    fn start(&self, label: &str) {
        self.bar.set_position(self.begun.elapsed().as_secs());
        self.bar.set_message(label.to_string());
    }

    /// All are done.
    fn finish(&self) {
        self.bar.finish_and_clear();
    }
}
