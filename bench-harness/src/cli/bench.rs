//! `quick` and `run`: choose, measure, write, summarise.

use super::progress::Progress;
use super::say;
use blosc_bench::data::{self, Data};
use blosc_bench::engine::{self, crates};
use blosc_bench::machine::{Machine, linux, pin};
use blosc_bench::measure::Plan;
use blosc_bench::report::console;
use blosc_bench::result::Row;
use blosc_bench::result::file::Writer;
use blosc_bench::suite::{
    Choice, Job, Setting, chunks, codecs, containers, goals, kernels, latency, threads,
};
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// The run without arguments.
pub fn quick(out: &Path) -> Result<ExitCode, String> {
    let choice = Choice::default();
    let mut jobs = kernels::jobs("kernels", &choice);
    jobs.extend(chunks::jobs(&choice));
    execute(jobs, &choice.plan, out)
}

/// The run with arguments.
pub fn run(args: &super::Run) -> Result<ExitCode, String> {
    let mut choice = Choice { isas: engine::levels(&args.isa)?, ..Choice::default() };
    if !args.typesize.is_empty() {
        choice.typesizes.clone_from(&args.typesize);
        if let Some(bad) = args.typesize.iter().find(|t| !(1..=255).contains(*t)) {
            return Err(format!("--typesize {bad}: must be 1 to 255"));
        }
    } else {
        choice.typesizes = kernels::ALL_TYPESIZES.to_vec();
    }
    if !args.size.is_empty() {
        choice.sizes.clone_from(&args.size);
        choice.array_sizes.clone_from(&args.size);
    }
    if !args.data.is_empty() {
        choice.data = args.data.iter().map(|name| find_data(name, &args.dtype)).collect::<Result<_, _>>()?;
    }
    let explicit = !args.isa.iter().all(|i| i == "all");
    if explicit {
        choice.chunk_isas.clone_from(&choice.isas);
    }
    pick(&mut choice.codecs, &args.codec, "--codec", |c| c.name())?;
    pick(&mut choice.filters, &args.filter, "--filter", |f| f.name())?;
    if !args.level.is_empty() {
        choice.levels.clone_from(&args.level);
    }
    choice.blocksize = args.blocksize.and_then(|b| u32::try_from(b).ok());
    choice.threads = if args.threads.is_empty() { doubling() } else { args.threads.clone() };
    if args.threads.contains(&0) {
        return Err("--threads 0: must be at least 1".into());
    }
    for name in &args.engine {
        match crates::ALL.iter().find(|c| c.name() == name) {
            Some(c) => choice.crates.push(*c),
            None => choice.engines.push(engine::open(name)?),
        }
    }
    let known = ["kernels", "split", "codecs", "chunks", "frames", "arrays", "latency", "threads", "goals"];
    let mut jobs = Vec::new();
    for name in &args.suite {
        if name != "all" && !known.contains(&name.as_str()) {
            return Err(format!("--suite {name}: unknown; known are {} all", known.join(" ")));
        }
    }
    let wants = |name: &str| args.suite.iter().any(|s| s == name || (s == "all" && name != "goals"));
    for name in ["kernels", "split"] {
        if wants(name) {
            jobs.extend(kernels::jobs(if name == "split" { "split" } else { "kernels" }, &choice));
        }
    }
    if wants("codecs") {
        jobs.extend(codecs::jobs(&choice));
    }
    if wants("chunks") {
        jobs.extend(chunks::jobs(&choice));
    }
    for name in ["frames", "arrays"] {
        if wants(name) {
            jobs.extend(containers::jobs(if name == "frames" { "frames" } else { "arrays" }, &choice));
        }
    }
    if wants("latency") {
        jobs.extend(latency::jobs(&choice));
    }
    if wants("threads") {
        jobs.extend(threads::jobs(&choice));
    }
    if wants("goals") {
        jobs.extend(goals::jobs(&choice, &args.goal));
    }
    if !(args.time > 0.0 && args.time < 1e6) {
        return Err(format!("--time {}: must be a positive number of seconds", args.time));
    }
    // A job has about two groups, and set-up and checks take about a third of the time.
    let each = args.time / jobs.len().max(1) as f64 / 3.0;
    execute(jobs, &Plan::careful(Duration::from_secs_f64(each)), &args.out)
}

fn find_data(name: &str, dtype: &str) -> Result<Data, String> {
    let known = data::everything();
    if let Some(found) = known.iter().find(|d| d.name == name) {
        return Ok(found.clone());
    }
    Data::from_file(Path::new(name), dtype).map_err(|e| format!("--data {e}"))
}

fn pick<T: Copy>(
    all: &mut Vec<T>,
    wanted: &[String],
    option: &str,
    name: fn(&T) -> &'static str,
) -> Result<(), String> {
    if wanted.is_empty() {
        return Ok(());
    }
    let found = wanted.iter().map(|w| {
        let known: Vec<&str> = all.iter().map(name).collect();
        let hit = all.iter().find(|x| name(x) == w);
        hit.copied().ok_or_else(|| format!("{option} {w}: unknown; known are {}", known.join(" ")))
    });
    *all = found.collect::<Result<_, _>>()?;
    Ok(())
}

/// 1, 2, 4 … and the number of CPUs.
fn doubling() -> Vec<usize> {
    let cpus = std::thread::available_parallelism().map_or(1, usize::from);
    let mut counts: Vec<usize> =
        std::iter::successors(Some(1), |n| Some(n * 2)).take_while(|n| *n < cpus).collect();
    counts.push(cpus);
    counts
}

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
    let mut writer = Writer::create(out, &machine, &command_line())?;
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
    say(&console::summary(&machine, &rows));
    if stopped() {
        say("Interrupted: the rows above are what was done.\n");
    }
    say(&format!("{} rows in {}\n", rows.len(), out.display()));
    let refused = rows.iter().any(|r| r.refused.is_some());
    Ok(ExitCode::from(u8::from(refused)))
}
