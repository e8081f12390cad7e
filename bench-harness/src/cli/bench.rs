//! `quick` and `run`: what to measure.

use super::execute::execute;
use blosc_bench::data::{self, Data};
use blosc_bench::engine::{self, crates};
use blosc_bench::report::goals::GOALS;
use blosc_bench::suite::choice::{Choice, Job};
use blosc_bench::suite::passes::Effort;
use blosc_bench::suite::{SUITES, Suite, kernels, quick};
use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

/// More threads than any machine this runs on has CPUs; more would only exhaust it.
const MOST_THREADS: usize = 1024;

/// The run without arguments: against the libblosc2 of this machine, if there is one and no other opponent was named.
pub fn quick(args: &super::Quick) -> Result<ExitCode, String> {
    let mut choice = Choice::default();
    engines(&mut choice, &args.engine)?;
    if args.engine.is_empty() {
        choice.engines.extend(engine::peers::found());
    }
    execute(quick::jobs(&choice), &Effort::QUICK, &args.out)
}

/// Opponents by their names.
fn engines(choice: &mut Choice, names: &[String]) -> Result<(), String> {
    for name in names {
        match crates::ALL.iter().find(|c| c.name() == name) {
            Some(c) => choice.crates.push(*c),
            None if name == "none" => {}
            None => choice.engines.push(engine::open(name)?),
        }
    }
    Ok(())
}

/// The run with arguments.
pub fn run(args: &super::Run) -> Result<ExitCode, String> {
    let mut choice = Choice { isas: engine::levels(&args.isa)?, ..Choice::default() };
    choice.typesizes = kernels::ALL_TYPESIZES.to_vec();
    given(&mut choice.typesizes, "--typesize", &args.typesize, 255)?;
    given(&mut choice.threads, "--threads", &args.threads, MOST_THREADS)?;
    given(&mut choice.sizes, "--size", &args.size, usize::MAX)?;
    choice.array_sizes.clone_from(&args.size);
    data::parse_dtype(&args.dtype).map_err(|e| format!("--dtype {e}"))?;
    if !args.data.is_empty() {
        choice.data = args.data.iter().map(|name| find_data(name, &args.dtype)).collect::<Result<_, _>>()?;
    }
    let explicit = !args.isa.iter().all(|i| i == "all");
    if explicit {
        choice.chunk_isas.clone_from(&choice.isas);
    }
    args.coding.choose(&mut choice.codecs, &mut choice.filters, &mut choice.levels)?;
    choice.blocksize = args.blocksize.and_then(|b| u32::try_from(b).ok());
    engines(&mut choice, &args.engine)?;
    choice.goals = goals_of(args)?;
    choice.once = args.once;
    let suites = suites_of(&args.suite)?;
    let jobs: Vec<Job<'_>> = suites.into_iter().flat_map(|suite| (suite.jobs)(&choice)).collect();
    if jobs.is_empty() {
        return Err("nothing to measure: no case fits these options".into());
    }
    if !(args.time > 0.0 && args.time < 1e6) {
        return Err(format!("--time {}: must be a positive number of seconds", args.time));
    }
    let effort = Effort::within(Duration::from_secs_f64(args.time), jobs.len());
    execute(jobs, &effort, &args.out)
}

/// Numbers of an option instead of the usual ones, where it was given.
fn given(usual: &mut Vec<usize>, option: &str, told: &[usize], most: usize) -> Result<(), String> {
    if let Some(bad) = told.iter().find(|n| !(1..=most).contains(*n)) {
        return Err(format!("{option} {bad}: must be 1 to {most}"));
    }
    if !told.is_empty() {
        *usual = told.to_vec();
    }
    Ok(())
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
