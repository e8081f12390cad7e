//! `quick` and `run`: choose, measure, write, summarise.

use super::progress::Progress;
use super::say;
use blosc_bench::data::{self, Data};
use blosc_bench::engine::{self, crates};
use blosc_bench::machine::load::Watch;
use blosc_bench::machine::{Machine, linux};
use blosc_bench::measure::Plan;
use blosc_bench::report::console;
use blosc_bench::result::file::Writer;
use blosc_bench::result::{Row, round3};
use blosc_bench::suite::goals::GOALS;
use blosc_bench::suite::{Choice, Job, SUITES, Setting, Suite, chunks, kernels};
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// More threads than any machine this runs on has CPUs; more would only exhaust it.
const MOST_THREADS: usize = 1024;

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
    data::parse_dtype(&args.dtype).map_err(|e| format!("--dtype {e}"))?;
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
    if let Some(bad) = args.threads.iter().find(|n| !(1..=MOST_THREADS).contains(*n)) {
        return Err(format!("--threads {bad}: must be 1 to {MOST_THREADS}"));
    }
    for name in &args.engine {
        match crates::ALL.iter().find(|c| c.name() == name) {
            Some(c) => choice.crates.push(*c),
            None => choice.engines.push(engine::open(name)?),
        }
    }
    choice.goals = goals_of(args)?;
    let suites = suites_of(&args.suite)?;
    let jobs: Vec<Job<'_>> = suites.into_iter().flat_map(|suite| (suite.jobs)(&choice)).collect();
    if jobs.is_empty() {
        return Err("nothing to measure: no case fits these options".into());
    }
    if !(args.time > 0.0 && args.time < 1e6) {
        return Err(format!("--time {}: must be a positive number of seconds", args.time));
    }
    // A job has about two groups, and set-up and checks take about a third of the time.
    let each = args.time / jobs.len().max(1) as f64 / 3.0;
    execute(jobs, &Plan::careful(Duration::from_secs_f64(each)), &args.out)
}

/// The suites named, each once, in their own order.
fn suites_of(names: &[String]) -> Result<Vec<&'static Suite>, String> {
    let known = |name: &String| name == "all" || SUITES.iter().any(|s| s.name == name);
    if let Some(bad) = names.iter().find(|name| !known(name)) {
        let all: Vec<&str> = SUITES.iter().map(|s| s.name).collect();
        return Err(format!("--suite {bad}: unknown; known are {} all", all.join(" ")));
    }
    let wanted = |s: &&Suite| names.iter().any(|n| n == s.name || (n == "all" && s.in_all));
    Ok(SUITES.iter().filter(wanted).collect())
}

fn goals_of(args: &super::Run) -> Result<Vec<u32>, String> {
    if !args.goal.is_empty() && !args.suite.iter().any(|s| s == "goals") {
        return Err("--goal chooses among the suite goals: add --suite goals".into());
    }
    let known = |number: &u32| GOALS.iter().any(|g| g.number == *number);
    match args.goal.iter().find(|n| !known(n)) {
        Some(bad) => Err(format!("--goal {bad}: no such goal is measured here")),
        None => Ok(args.goal.clone()),
    }
}

/// The array with this name, or in this file.
pub fn find_data(name: &str, dtype: &str) -> Result<Data, String> {
    let known = data::everything();
    if let Some(found) = known.iter().find(|d| d.name == name) {
        return Ok(found.clone());
    }
    Data::from_file(Path::new(name), dtype).map_err(|e| format!("--data {e}"))
}

/// Keeps of `all` what `wanted` names, everything if it is empty.
pub fn pick<T: Copy>(
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

/// What a shell reports for a program that Ctrl-C ended.
const INTERRUPTED: u8 = 130;

/// Runs the jobs, writes each row as it comes, prints the summary. Status 1 if anything was refused.
fn execute(jobs: Vec<Job<'_>>, plan: &Plan, out: &Path) -> Result<ExitCode, String> {
    blosc_bench::data::corpus::check()?;
    let stop = Arc::new(AtomicBool::new(false));
    let handler = Arc::clone(&stop);
    // Without a handler Ctrl-C ends the program at once; rows written so far are on disk either way.
    let _ = ctrlc::set_handler(move || handler.store(true, Ordering::Relaxed));
    let mut machine = Machine::detect_pinned();
    let mut watch = Watch::new(machine.busy_cpus);
    let setting = Setting { arch: pulp::Arch::new(), timing: machine.emulator.is_none(), loaded: false };
    let mut writer = Writer::create(out, &machine, &command_line())?;
    let mut progress = Progress::new(jobs.len());
    let mut rows: Vec<Row> = Vec::new();
    let stopped = || stop.load(Ordering::Relaxed);
    for job in jobs {
        if stopped() {
            break;
        }
        progress.start(&job.label);
        let mut new = (job.run)(&setting, plan, &stopped);
        let loaded = watch.loaded();
        for row in &mut new {
            row.noisy |= loaded && row.median_ns.is_some();
            writer.row(row)?;
        }
        rows.extend(new);
        progress.done();
    }
    progress.finish();
    machine.mhz_after = linux::mhz(machine.pinned.unwrap_or(0));
    machine.busy_cpus_most = Some(round3(watch.most));
    writer.finish(!stopped(), &machine)?;
    say(&console::summary(&machine, &rows));
    say(&format!("{} rows in {}\n", rows.len(), out.display()));
    if stopped() {
        say("Interrupted: these rows are what was done.\n");
        return Ok(ExitCode::from(INTERRUPTED));
    }
    let refused = rows.iter().any(|r| r.refused.is_some());
    Ok(ExitCode::from(u8::from(refused)))
}
