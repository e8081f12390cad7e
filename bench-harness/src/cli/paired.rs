//! `diff --paired`: runs two programs by turns.

use super::{files, say};
use blosc_bench::instructions;
use blosc_bench::report::paired::paired;
use blosc_bench::result::Row;
use blosc_bench::result::file::{Results, read};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};

/// What is run in each turn where nothing is said.
const USUAL: &str = "--suite kernels,chunks --isa all --typesize 4,8 --size 64K --data elevation,goes_flux,oil_prices --level 5 --time 8";

/// How the programs are compared.
pub struct Turns<'a> {
    /// How many.
    pub count: u8,
    /// Options of `run`.
    pub run: &'a [String],
    /// Whether instructions are counted too, by valgrind.
    pub instructions: bool,
}

/// Runs OLD and NEW by turns, this program where one is not named; status 1 if a case became slower.
pub fn run(
    programs: [Option<&PathBuf>; 2],
    turns: &Turns<'_>,
    threshold: f64,
    filter: &str,
) -> Result<ExitCode, String> {
    let this = std::env::current_exe().map_err(|e| e.to_string())?;
    let old = programs[0].unwrap_or(&this);
    let programs = [old, programs[1].unwrap_or(old)];
    let usual: Vec<String> = USUAL.split(' ').map(String::from).collect();
    let options = if turns.run.is_empty() { &usual } else { turns.run };
    let out = std::env::temp_dir().join(format!("blosc-bench-paired-{}.jsonl", std::process::id()));
    let mut runs: [Vec<Results>; 2] = [Vec::new(), Vec::new()];
    for turn in 0..turns.count {
        // Whoever is first finds another machine than who is second.
        for which in if turn % 2 == 0 { [0, 1] } else { [1, 0] } {
            let path = out.to_string_lossy();
            said(
                programs[which],
                &[&["run", "--out", &path][..], &options.iter().map(String::as_str).collect::<Vec<_>>()]
                    .concat(),
            )?;
            runs[which].push(read(&out)?);
        }
    }
    let _ = std::fs::remove_file(&out);
    let mut counts = [Vec::new(), Vec::new()];
    for (program, counts) in programs.iter().zip(&mut counts).filter(|_| turns.instructions) {
        *counts = instructions::parse(&said(program, &["instructions"])?)?;
    }
    let counted = |row: &Row| {
        let [old, new] = counts.each_ref().map(|counts| instructions::of(counts, row));
        Some(new? / old?)
    };
    let found = paired([&runs[0], &runs[1]], threshold, filter, counted);
    if found.cases == 0 {
        return Err("the programs have no case in common".into());
    }
    say(&found.text);
    if turns.instructions {
        files::moved(&counts[0], &counts[1], 2.0);
    }
    Ok(ExitCode::from(u8::from(found.slower > 0)))
}

/// What a program prints.
fn said(program: &Path, args: &[&str]) -> Result<String, String> {
    let fail = |why: &dyn std::fmt::Display| format!("{} {}: {why}", program.display(), args.join(" "));
    let done = Command::new(program).args(args).stderr(Stdio::inherit()).output().map_err(|e| fail(&e))?;
    if !done.status.success() {
        return Err(fail(&done.status));
    }
    Ok(String::from_utf8_lossy(&done.stdout).into_owned())
}
