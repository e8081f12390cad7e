//! `repeat`: the quick run several times, each in a process of its own, and how well they agree.

use super::say;
use blosc_bench::machine::Machine;
use blosc_bench::report::agreement::{GOAL, agreement};
use blosc_bench::result::file::{Results, read};
use clap::Args;
use std::io::IsTerminal;
use std::path::PathBuf;
use std::process::{Command, ExitCode, Stdio};

/// What `repeat` can be told.
#[derive(Args, Clone)]
pub struct Options {
    /// How many runs, each of a minute.
    #[arg(value_parser = clap::value_parser!(u8).range(2..=100))]
    times: u8,
    /// Where the runs are kept; those of this build that are there already count.
    #[arg(long, value_name = "FOLDER", default_value = "target/blosc-bench/repeat")]
    folder: PathBuf,
    /// Print the agreement as JSON.
    #[arg(long)]
    json: bool,
}

/// A complete run of this build.
fn kept(path: &std::path::Path) -> Option<Results> {
    read(path).ok().filter(|r| r.complete && r.machine.commit == Machine::own_commit())
}

/// Makes the runs that are missing, then compares all.
pub fn run(options: &Options) -> Result<ExitCode, String> {
    let program = std::env::current_exe().map_err(|e| e.to_string())?;
    let mut runs = Vec::new();
    for number in 1..=options.times {
        let path = options.folder.join(format!("{number}.jsonl"));
        if let Some(run) = kept(&path) {
            runs.push(run);
            continue;
        }
        if std::io::stderr().is_terminal() {
            eprintln!("run {number} of {}", options.times);
        }
        let status =
            Command::new(&program).arg("quick").arg("--out").arg(&path).stdout(Stdio::null()).status();
        match status.map_err(|e| format!("{}: {e}", program.display()))?.code() {
            Some(0) => runs.push(read(&path)?),
            code => return Ok(ExitCode::from(code.and_then(|c| u8::try_from(c).ok()).unwrap_or(130))),
        }
    }
    let found = agreement(&runs);
    if options.json {
        let text = serde_json::to_string_pretty(&found).map_err(|e| e.to_string())?;
        say(&format!("{text}\n"));
    } else {
        say(&found.text());
        let verdict = if found.good() { "is met" } else { "is NOT met" };
        say(&format!("The goal, {:.0} % of all pairs, {verdict}.\n", 100.0 * GOAL));
    }
    Ok(ExitCode::SUCCESS)
}
